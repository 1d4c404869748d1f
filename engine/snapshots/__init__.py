"""Snapshots of the code graph for planners: documents, versions, verdicts, impact queries, advisory annotations.

Reached as ``workspace.context_graph``. What may not come in: ranking, parsing, rules of standing, text for one surface.
"""
