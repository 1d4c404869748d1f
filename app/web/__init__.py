"""The workbench in a browser of this machine: a server on loopback, and a child process for each page that is open."""
