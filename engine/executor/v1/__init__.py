"""The formats in which the earlier package, contextmesh-graph, keeps plans and sessions: read strictly, written exactly.

``execution`` and ``runledger`` for the two files, ``manifest`` and ``session_dir`` for the folder that joins them with a graph
and a resolver, ``store`` for the way into and out of a mesh. What may not come in: code that needs the earlier package.
"""
