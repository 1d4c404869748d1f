"""Prose into the mesh: readers, sentences, statements, entities, and the pipeline that writes the difference.

Called by the command line, the workbench and tests. What may not come in: code indexing, surfaces, network, models.
"""
