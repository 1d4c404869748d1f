"""The command line: one file a verb, each parses, asks the workspace once and renders. No rule of the graph lives here.

Who calls: ``main.py`` from the ``mog`` command and ``python -m mog``. What may not come in: imports.
"""
