"""SCIP indexes of a repository: read so that their edges outrank ours, and written so that others can use our graph."""
