"""Stores: SQLite files and memory-mapped arrays. Only this folder talks to apsw; no rule of the graph lives here."""
