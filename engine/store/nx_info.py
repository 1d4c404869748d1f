"""What networkx is told about the backend ``mog`` when networkx is imported: a plain dictionary.

Who calls: networkx, through the entry point ``networkx.backend_info``, in every process that imports networkx.
What may not come in: any import. This file decides what ``import networkx`` costs where mog is installed.
"""

from __future__ import annotations

from typing import Any

#: Functions the backend runs on its own arrays, with what it does not take.
FUNCTIONS: dict[str, str] = {
    "ancestors": "",
    "bfs_edges": "`sort_neighbors` is refused",
    "bfs_layers": "",
    "descendants": "",
    "descendants_at_distance": "",
    "has_path": "",
    "is_directed_acyclic_graph": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "`weight` and `dangling` are refused; converges to `tol`, not to `tol` times the nodes",
    "shortest_path": "`weight` is refused",
    "shortest_path_length": "`weight` is refused",
    "single_source_shortest_path_length": "",
    "strongly_connected_components": "",
    "topological_generations": "",
    "topological_sort": "",
    "weakly_connected_components": "",
}


def info() -> dict[str, Any]:
    """Describe the backend in the shape networkx expects (networkx docs, "Backends", ``get_info``)."""
    return {
        "backend_name": "mog",
        "project": "mog-workbench",
        "package": "mog.engine.store.nx_backend",
        "short_summary": "Read-only code graphs on memory-mapped arrays.",
        "description": "Runs reachability, components, orders and pagerank on mog's frozen snapshots, without copies.",
        "default_config": {},
        "functions": {name: {"additional_docs": docs and f"Limits: {docs}."} for name, docs in FUNCTIONS.items()},
    }
