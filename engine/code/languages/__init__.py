"""One query file (``*.scm``) and one small module per language. Nothing here opens a file or a database."""
