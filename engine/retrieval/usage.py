"""Uses by name that no link stands for: where fields and constants are read and written, found by the words themselves.

Who calls: ``reach``. What may not come in: links, ranking, the text of what was found; names, places and counts only.

Links are drawn for calls and for names handed on, not for every attribute that is read. So of a field the index knows nothing,
and "nothing" would be wrong: the files are read instead, and every ``.name`` in them counts as a use whose receiver is not known.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from mog.engine.code.view import CodeView
from mog.engine.model import Node

Read = Callable[[str, bytes], "bytes | None"]
#: Kinds whose uses are not linked.
BY_NAME = frozenset({"field", "const", "config_key"})
_ATTRIBUTES = frozenset({"field"})


class Usage(NamedTuple):
    """Sites at which a name stands, in how many files, and the symbols (or files) that hold them with their counts."""

    sites: int
    files: int
    holders: tuple[tuple[Node, int], ...]


def of(view: CodeView, node: Node, read: Read, limit: int) -> Usage:
    """Where the name of a symbol is used, its own definition aside.

    Of a field ``.name`` counts, of anything else the whole word. Gated files are left out: nothing in them is looked at.

    Args:
        read: path, name → bytes as they are on disk, None when there are none or the name is not in them.
        limit: holders named at most; sites and files are exact.
    """
    name = node.name.encode("utf-8", "surrogateescape")
    pattern = _pattern(node, name)
    own = range(node.line, node.end_line + 1)
    found: list[tuple[str, list[int]]] = []
    for path in _paths(view, node.path):
        lines = _lines(read(path, name), pattern)
        lines = [line for line in lines if not (path == node.path and line in own)] if lines else []
        if lines:
            found.append((path, lines))
    sites = sum(len(lines) for _, lines in found)
    return Usage(sites, len(found), tuple(_holders(view, found, limit)))


def _pattern(node: Node, name: bytes) -> re.Pattern[bytes]:
    name = re.escape(name)
    if node.kind in _ATTRIBUTES:
        return re.compile(rb"\.\s*" + name + rb"(?![\w])")
    return re.compile(rb"(?<![\w])" + name + rb"(?![\w])")


def _paths(view: CodeView, first: str) -> list[str]:
    """Source files of the index: the one the name is defined in, those that import it, the rest; each part by path."""
    own = [node.key for node in view.nodes_at([(first, -1)]).values()]
    near = {node.path for node in view.nodes(importers(view, own)).values()}
    rows = view.db.rows("SELECT path FROM files WHERE status = 'source'")
    paths = (os.fsdecode(path) for (path,) in rows)
    return sorted(paths, key=lambda path: (path != first, path not in near, path))


def importers(view: CodeView, files: Iterable[int]) -> list[int]:
    """Keys of the files that import any of these (by key), by certain links; they themselves are not among them."""
    own = set(files)
    mask = view.graph.mask(("imports",), (0,))
    return sorted({end for key in own for end, _, _ in view.graph.in_(key, mask)} - own)


def _lines(data: bytes | None, pattern: re.Pattern[bytes]) -> list[int]:
    """Line of each match, counted from 1; one line may come several times."""
    if data is None:
        return []
    at = [match.start() for match in pattern.finditer(data)]
    if not at:
        return []
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    return [bisect_right(starts, start) for start in at]


def _holders(view: CodeView, found: Iterable[tuple[str, list[int]]], limit: int) -> list[tuple[Node, int]]:
    holders: list[tuple[Node, int]] = []
    for path, lines in found:
        if len(holders) >= limit:
            break
        nodes = view.nodes_in(path)
        counts = Counter(innermost(nodes, line) for line in lines)
        holders += [(nodes[ord_], count) for ord_, count in sorted(counts.items()) if ord_ in nodes]
    return holders[:limit]


def innermost(nodes: dict[int, Node], line: int) -> int:
    """``ord`` of the innermost symbol that covers a line, -1 (the file itself) when none does."""
    covering = [(one.end_line - one.line, ord_) for ord_, one in nodes.items() if ord_ >= 0 and one.line <= line <= one.end_line]
    return min(covering)[1] if covering else -1
