"""The networkx backend ``mog``: ``nx.ancestors(view(snapshot), n)`` runs on the arrays, without a networkx graph.

Who calls: networkx, through the entry point ``networkx.backends``; ``view`` is for panes, plug-ins and tests.
What may not come in: silent conversion of a whole graph. Past 20,000 nodes ``convert_to_nx`` refuses with a typed
error.

Functions have the names and signatures networkx dispatches to (networkx docs, "Backends"); ``nx_info.FUNCTIONS`` says
what each does not take. Where networkx leaves an order open, ours is by key.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import networkx as nx

from mog.engine.errors import UsageError
from mog.engine.store import closure
from mog.engine.store.nx_info import FUNCTIONS
from mog.engine.store.nx_snap import MemoryGraph, Snap
from mog.engine.store.snapshot import NETWORKX_LIMIT, CodeSnapshot

#: pagerank goes on past networkx's ``max_iter`` up to this, because it converges to ``tol`` itself.
_PAGERANK_ROUNDS = 1_000


def view(snapshot: CodeSnapshot, *, kinds: Iterable[str] | None = None, tiers: Iterable[int] | None = None) -> Snap:
    """A snapshot as networkx takes it: nodes are integer keys, edges those of the given kinds and tiers (None: all)."""
    return Snap(snapshot, snapshot.mask(kinds, tiers))


# conversion and choice


def convert_from_nx(graph: Any, *_: Any, **__: Any) -> Snap:
    """Arrays of a directed networkx graph, adjacency order kept; attributes are left behind."""
    labels = list(graph)
    index = {label: key for key, label in enumerate(labels)}
    forward = [[index[other] for other in graph.successors(label)] for label in labels]
    backward = [[index[other] for other in graph.predecessors(label)] for label in labels]
    return Snap(MemoryGraph(forward, backward), labels=labels)


def convert_to_nx(result: Any, *_: Any, **__: Any) -> Any:
    """A bounded ``nx.DiGraph`` of a ``Snap``; anything else as it is.

    Raises:
        UsageError: the graph has more than 20,000 nodes.
    """
    if not isinstance(result, Snap):
        return result
    if len(result) > NETWORKX_LIMIT:
        raise UsageError(
            f"{len(result)} nodes are more than the {NETWORKX_LIMIT} a networkx graph may have",
            way_out="convert a neighbourhood with CodeSnapshot.to_networkx, or use a function the backend runs itself",
        )
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(result)
    graph.add_edges_from(result.edges)
    return graph


def can_run(name: str, args: Any, kwargs: Mapping[str, Any]) -> bool | str:
    """True, or the reason why not."""
    graph = _argument(args, kwargs, 0, "G")
    if not isinstance(graph, Snap) and not graph.is_directed():
        return "only directed graphs"
    if name == "bfs_edges" and _argument(args, kwargs, 4, "sort_neighbors") is not None:
        return "sort_neighbors is not supported"
    if name in ("shortest_path", "shortest_path_length") and _argument(args, kwargs, 3, "weight") is not None:
        return "weights are not supported"
    return _can_rank(graph, args, kwargs) if name == "pagerank" else True


def _argument(args: Any, kwargs: Mapping[str, Any], at: int, name: str, default: Any = None) -> Any:
    return args[at] if len(args) > at else kwargs.get(name, default)


def _can_rank(graph: Any, args: Any, kwargs: Mapping[str, Any]) -> bool | str:
    if _argument(args, kwargs, 7, "dangling") is not None:
        return "dangling is not supported"
    if isinstance(graph, Snap):
        return True
    if graph.is_multigraph():
        return "parallel edges would weigh as one"
    weight = _argument(args, kwargs, 6, "weight", "weight")
    weighted = weight is not None and any(weight in data for _, _, data in graph.edges(data=True))
    return "weights are not supported" if weighted else True


def should_run(name: str, args: Any, kwargs: Mapping[str, Any]) -> bool | str:
    """Worth it for what lies in arrays already; converting a networkx graph for one call is not."""
    return True if isinstance(_argument(args, kwargs, 0, "G"), Snap) else "converting costs more than the call"


# reachability


def ancestors(G: Snap, source: Any) -> set[Any]:
    """Nodes from which ``source`` is reached."""
    return _reached(G, source, incoming=True)


def descendants(G: Snap, source: Any) -> set[Any]:
    """Nodes reached from ``source``."""
    return _reached(G, source, incoming=False)


def _reached(G: Snap, source: Any, *, incoming: bool) -> set[Any]:
    layers = _layers(G, [_key(G, source, nx.NetworkXError)], incoming=incoming)
    next(layers)
    return {node for layer in layers for node in G.labels(layer)}


def _layers(G: Snap, seeds: Iterable[int], *, incoming: bool = False) -> Iterator[list[int]]:
    """Keys at distance 0, 1, 2, … from the seeds, each layer ascending, none empty."""
    out_mask, in_mask = (closure.NONE, G.mask) if incoming else (G.mask, closure.NONE)
    return closure.layers(G.source, seeds, out_mask=out_mask, in_mask=in_mask)


def _key(G: Snap, node: Any, error: type[nx.NetworkXException]) -> int:
    key = G.key(node)
    if key is None:
        raise error(f"The node {node} is not in the digraph.")
    return key


def bfs_layers(G: Snap, sources: Any) -> Iterator[list[Any]]:
    """Nodes at distance 0, 1, 2, … from the sources."""
    nodes = [sources] if sources in G else sources
    seeds = [_key(G, node, nx.NetworkXError) for node in nodes]
    return (G.labels(layer) for layer in _layers(G, seeds))


def descendants_at_distance(G: Snap, source: Any, distance: int) -> set[Any]:
    """Nodes whose shortest path from ``source`` has that many edges."""
    for depth, layer in enumerate(_layers(G, [_key(G, source, nx.NetworkXError)])):
        if depth == distance:
            return set(G.labels(layer))
    return set()


def bfs_edges(
    G: Snap, source: Any, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Edges of a breadth-first tree, in the order they are found."""
    start = _key(G, source, nx.NetworkXError)
    return ((G.label(near), G.label(far)) for near, far in _tree(G, start, reverse, depth_limit))


def _tree(G: Snap, start: int, reverse: bool, depth_limit: int | None) -> Iterator[tuple[int, int]]:
    """Tree edges of a breadth-first search in networkx's order: a queue, neighbours in the order of their row."""
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        near, depth = queue.popleft()
        if depth_limit is not None and depth >= depth_limit:
            return
        for far in G.row(near, incoming=reverse):
            if far not in seen:
                seen.add(far)
                queue.append((far, depth + 1))
                yield near, far


# shortest paths


def has_path(G: Snap, source: Any, target: Any) -> bool:
    """Is ``target`` reached from ``source``?"""
    return _distance(G, source, target) is not None


def _distance(G: Snap, source: Any, target: Any) -> int | None:
    start, end = _key(G, source, nx.NodeNotFound), _key(G, target, nx.NodeNotFound)
    for depth, layer in enumerate(_layers(G, [start])):
        if _holds(layer, end):
            return depth
    return None


def _holds(ordered: list[int], key: int) -> bool:
    from bisect import bisect_left

    at = bisect_left(ordered, key)
    return at < len(ordered) and ordered[at] == key


def single_source_shortest_path_length(G: Snap, source: Any, cutoff: int | None = None) -> dict[Any, int]:
    """node → hops from ``source``, by distance."""
    return _lengths(G, source, cutoff, incoming=False)


def _lengths(G: Snap, source: Any, cutoff: int | None, *, incoming: bool) -> dict[Any, int]:
    lengths: dict[Any, int] = {}
    for depth, layer in enumerate(_layers(G, [_key(G, source, nx.NodeNotFound)], incoming=incoming)):
        if cutoff is not None and depth > cutoff:
            break
        lengths.update(dict.fromkeys(G.labels(layer), depth))
    return lengths


def shortest_path_length(
    G: Snap, source: Any = None, target: Any = None, weight: None = None, method: str = "dijkstra"
) -> Any:
    """Hops between two nodes, or from or to one of all others."""
    _known_method(method)
    if source is None and target is None:
        return ((node, _lengths(G, node, None, incoming=False)) for node in G)
    if target is None:
        return _lengths(G, source, None, incoming=False)
    if source is None:
        return _lengths(G, target, None, incoming=True)
    distance = _distance(G, source, target)
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return distance


def _known_method(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


def shortest_path(
    G: Snap, source: Any = None, target: Any = None, weight: None = None, method: str = "dijkstra"
) -> Any:
    """One shortest path between two nodes, or from or to one of all others."""
    _known_method(method)
    if source is None and target is None:
        return ((node, _paths(G, node, incoming=False)) for node in G)
    if target is None:
        return _paths(G, source, incoming=False)
    if source is None:
        return _paths(G, target, incoming=True)
    _key(G, target, nx.NodeNotFound)
    paths = _paths(G, source, incoming=False, only=target)
    if target not in paths:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return paths[target]


_NOBODY = object()


def _paths(G: Snap, source: Any, *, incoming: bool, only: Any = _NOBODY) -> dict[Any, list[Any]]:
    """A shortest path to every node reached, or only to one; towards ``source`` when ``incoming``."""
    start = _key(G, source, nx.NodeNotFound)
    goal = G.key(only) if only is not _NOBODY else None
    parent = {start: start}
    for near, far in _tree(G, start, incoming, None):
        if goal == start:
            break
        parent[far] = near
        if far == goal:
            break
    ends = parent if only is _NOBODY else [goal] if goal in parent else []
    return {G.label(end): _traced(G, parent, end, start, incoming) for end in ends if end is not None}


def _traced(G: Snap, parent: dict[int, int], end: int, start: int, incoming: bool) -> list[Any]:
    chain = [end]
    while chain[-1] != start:
        chain.append(parent[chain[-1]])
    return G.labels(chain if incoming else reversed(chain))


# components and orders


def weakly_connected_components(G: Snap) -> Iterator[set[Any]]:
    """Sets of nodes joined by edges of any direction, by smallest key."""
    return (set(G.labels(part)) for part in _weak_parts(G))


def _weak_parts(G: Snap) -> list[list[int]]:
    """Keys of each weak component, ascending, by smallest key: labels shrink along edges until no edge joins two."""
    import numpy as np

    tails, heads = G.dense()
    labels = np.arange(G.source.size, dtype=np.int32)
    while True:
        lowest = np.minimum(labels[tails], labels[heads])
        if not ((labels[tails] != lowest) | (labels[heads] != lowest)).any():
            break
        for ends in (labels[tails], labels[heads]):
            np.minimum.at(labels, ends, lowest)
        while (labels != labels[labels]).any():
            labels = labels[labels]
    return _grouped(G.keys(), labels)


def _grouped(keys: list[int], labels: Any) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for key, label in zip(keys, labels[keys].tolist() if keys else (), strict=True):
        groups.setdefault(label, []).append(key)
    return list(groups.values())


def number_weakly_connected_components(G: Snap) -> int:
    """How many weak components there are."""
    return len(_weak_parts(G))


def is_weakly_connected(G: Snap) -> bool:
    """Is there one weak component?"""
    _not_empty(G)
    return number_weakly_connected_components(G) == 1


def _not_empty(G: Snap) -> None:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")


def strongly_connected_components(G: Snap) -> Iterator[set[Any]]:
    """Sets of nodes that reach each other; a set comes after those it leads to."""
    return (set(G.labels(part)) for part in _strong_parts(G))


def _strong_parts(G: Snap) -> Iterator[list[int]]:
    """Tarjan's algorithm (SIAM J. Comput. 1972) without recursion; a component comes after those it leads to."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    held: dict[int, None] = {}
    for root in G.keys():  # noqa: SIM118
        if root in order:
            continue
        order[root] = low[root] = len(order)
        held[root] = None
        path = [(root, iter(G.row(root)))]
        while path:
            node, rest = path[-1]
            far = next(rest, None)
            if far is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    yield _popped(held, node)
            elif far not in order:
                order[far] = low[far] = len(order)
                held[far] = None
                path.append((far, iter(G.row(far))))
            elif far in held:
                low[node] = min(low[node], order[far])


def _popped(held: dict[int, None], node: int) -> list[int]:
    part: list[int] = []
    while not part or part[-1] != node:
        part.append(held.popitem()[0])
    return part


def number_strongly_connected_components(G: Snap) -> int:
    """How many strong components there are."""
    return sum(1 for _ in _strong_parts(G))


def is_strongly_connected(G: Snap) -> bool:
    """Does every node reach every other?"""
    _not_empty(G)
    return len(next(_strong_parts(G))) == len(G)


def topological_generations(G: Snap) -> Iterator[list[Any]]:
    """Nodes without predecessors, then those left without, and so on."""
    return (G.labels(layer) for layer in _generations(G))


def _generations(G: Snap) -> Iterator[list[int]]:
    """Kahn's algorithm, a generation at a time, each ascending."""
    import numpy as np

    tails, heads = G.dense()
    first = np.searchsorted(tails, np.arange(G.source.size + 1))
    missing = np.bincount(heads, minlength=G.source.size)
    keys = np.array(G.keys(), dtype=np.int64)
    layer = keys[missing[keys] == 0] if len(keys) else keys
    placed = 0
    while len(layer):
        placed += len(layer)
        yield layer.tolist()
        followers = np.concatenate([heads[first[key] : first[key + 1]] for key in layer])
        np.subtract.at(missing, followers, 1)
        candidates = np.unique(followers)
        layer = candidates[missing[candidates] == 0]
    if placed < len(keys):
        raise nx.NetworkXUnfeasible("Graph contains a cycle.")


def topological_sort(G: Snap) -> Iterator[Any]:
    """Nodes, every tail before its head."""
    return (node for layer in topological_generations(G) for node in layer)


def is_directed_acyclic_graph(G: Snap) -> bool:
    """Is there no cycle?"""
    try:
        for _ in _generations(G):
            pass
    except nx.NetworkXUnfeasible:
        return False
    return True


# rank


def pagerank(
    G: Snap,
    alpha: float = 0.85,
    personalization: Mapping[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Mapping[Any, float] | None = None,
    weight: str | None = "weight",
    dangling: None = None,
) -> dict[Any, float]:
    """Power iteration until ranks change by less than ``tol`` in sum (networkx stops at ``tol`` times the nodes)."""
    import numpy as np

    keys = np.array(G.keys(), dtype=np.int64)
    if not len(keys):
        return {}
    tails, heads = (np.searchsorted(keys, ends) for ends in G.dense())
    share = 1.0 / np.maximum(np.bincount(tails, minlength=len(keys)), 1)
    loose = np.bincount(tails, minlength=len(keys)) == 0
    jump = _distribution(G, personalization, len(keys), "personalization")
    rank = _distribution(G, nstart, len(keys), "nstart")
    for _ in range(max(max_iter, _PAGERANK_ROUNDS) if max_iter >= 100 else max_iter):
        before = rank
        flow = np.bincount(heads, weights=(before * share)[tails], minlength=len(keys))
        rank = alpha * (flow + before[loose].sum() * jump) + (1.0 - alpha) * jump
        if np.abs(rank - before).sum() < tol:
            return dict(zip(G.labels(keys.tolist()), rank.tolist(), strict=True))
    raise nx.PowerIterationFailedConvergence(max_iter)


def _distribution(G: Snap, given: Mapping[Any, float] | None, size: int, name: str) -> Any:
    import numpy as np

    if given is None:
        return np.full(size, 1.0 / size)
    weights = np.array([given.get(node, 0.0) for node in G], dtype=float)
    if not weights.sum():
        raise ZeroDivisionError(f"{name} gives no node any weight")
    return weights / weights.sum()


class Backend:
    """What networkx loads: conversion, choice, and one attribute for each function in ``nx_info.FUNCTIONS``."""

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)
    can_run = staticmethod(can_run)
    should_run = staticmethod(should_run)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in FUNCTIONS:
            raise AttributeError(name)
        function: Callable[..., Any] = globals()[name]
        return function


backend = Backend()
