"""The code graph over HTTP on loopback, for planners and studios: snapshots, impact queries, annotations. ``mog serve --http``."""
