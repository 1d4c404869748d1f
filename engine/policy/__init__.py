"""The policy room: what may run, and under whose word. Called by the belief engine and ``workspace.py``.

What may not come in: beliefs, the index, surfaces. Today: trust in commands a repository brings (``trust``), how they
run (``commands``), and the strict reading of the files that declare them (``declared``).
"""
