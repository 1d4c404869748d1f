"""A snapshot as one JSON document, written as it is read: what it is first, then nodes, edges, advice, and the digest of the graph.

Who calls: ``room``. What may not come in: a whole graph in memory, raw control characters (JSON's own ASCII escapes are used), the
clock inside of what is hashed. Each node and each edge stands on a line of its own, so that two documents can be compared
line by line (``versions``).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from mog.engine.snapshots.stream import GraphStream

NODES, EDGES, ADVICE = '"nodes":[', '"edges":[', '"annotations":['
_ENCODE: Callable[[object], str] = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_AT_ONCE = 2_000  # lines handed on at once


@dataclass
class Written:
    """What went into the document. ``graph_digest``: SHA-256 over the lines of nodes, then of edges."""

    graph_digest: str = ""
    nodes: int = 0
    edges: int = 0
    size: int = 0
    node_counts: Counter[str] = field(default_factory=Counter)
    edge_counts: Counter[str] = field(default_factory=Counter)


def line_of(value: object) -> str:
    """A JSON value as one line of ASCII without a raw control character."""
    return _ENCODE(value).replace("\x7f", "\\u007f")


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """``line_of`` each; nearly all are ASCII, for which a faster encoder does."""
    from msgspec import json as fast

    encode = fast.Encoder().encode
    for row in rows:
        try:
            line = encode(row)
        except UnicodeEncodeError:
            line = b"\x7f"
        yield line.decode() if line.isascii() and b"\x7f" not in line else line_of(row)


def chunks(
    head: Mapping[str, Any], stream: GraphStream, annotations: Iterable[Mapping[str, Any]], written: Written
) -> Iterator[bytes]:
    """The document piece by piece; ``written`` is whole when the last piece was taken."""
    digest = hashlib.sha256()
    yield from _counted([line_of(head)[:-1], ",\n", NODES], written)
    nodes = _tallied(stream.nodes(), written.node_counts)
    yield from _array(_lines(nodes), written, digest.update)
    yield from _counted(["\n],\n", EDGES], written)
    yield from _array(_edges(stream, written.edge_counts), written, digest.update)
    yield from _counted(["\n],\n", ADVICE], written)
    yield from _array(map(line_of, annotations), written, None)
    written.graph_digest = digest.hexdigest()
    written.nodes, written.edges = sum(written.node_counts.values()), sum(written.edge_counts.values())
    tail = {"nodes": written.nodes, "edges": written.edges, "graph_digest": written.graph_digest}
    yield from _counted([f'\n],\n"totals":{line_of(tail)}}}\n'], written)


def _tallied(rows: Iterable[dict[str, Any]], counts: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        counts[row["node_type"]] += 1
        yield row


def _edges(stream: GraphStream, counts: Counter[str]) -> Iterator[str]:
    for kind, line in stream.edges():
        counts[kind] += 1
        yield line


def _array(lines: Iterator[str], written: Written, hashed: Callable[[bytes], None] | None) -> Iterator[bytes]:
    first = True
    while some := list(islice(lines, _AT_ONCE)):
        if hashed is not None:
            hashed(("\n".join(some) + "\n").encode("ascii"))
        yield from _counted(["\n" if first else ",\n", ",\n".join(some)], written)
        first = False


def _counted(parts: Iterable[str], written: Written) -> Iterator[bytes]:
    data = "".join(parts).encode("ascii")
    written.size += len(data)
    yield data
