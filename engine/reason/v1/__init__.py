"""The formats of the earlier package, contextmesh-graph: read strictly, written exactly, taken into and out of a mesh.

``into_mesh.import_graph`` and ``from_mesh.export_graph`` for graphs, ``names.import_resolver`` and ``export_resolver`` for
resolvers, ``seed.seed_radius`` for the earlier radius. What may not come in: code that needs the earlier package.
"""
