"""Which files of the code graph a file leans on, and which lean on it, each with the path that leads there. For ``plan_reads``.

What lives here: the graph of one index at the level of files, over certain links. What may not come in: what files hold now,
the store of beliefs. Two things are known here that no link says: importing a module of a Python package runs the
``__init__.py`` of every folder above, and pytest loads the ``conftest.py`` beside and above a test.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mog.engine.code.nodes import TEST
from mog.engine.errors import NotFound, UsageError
from mog.engine.model import Node, Tier

if TYPE_CHECKING:
    from mog.engine.code.view import CodeView

KINDS = ("imports", "inherits", "calls", "references")
_PACKAGE, _FIXTURES = "__init__.py", "conftest.py"
Chains = Mapping[str, str]
"""Path → the path it was reached from, "" for where it began; in the order reached."""


@dataclass(frozen=True, slots=True)
class Found:
    """The files that a query means, and how each file on the way to them was reached."""

    paths: tuple[str, ...]
    chains: Chains

    def chain(self, path: str) -> tuple[str, ...]:
        """Files from where the query began to one that it means; empty when it does not mean it."""
        if path not in self.paths:
            return ()
        steps = [path]
        while (via := self.chains.get(steps[-1], "")) and via not in steps:
            steps.append(via)
        return tuple(reversed(steps))


class FileLinks:
    """Answers over one generation of the index; what was asked once is kept. For one thread at a time.

    Args:
        reading: opens a view of the index that is held while a question is answered.
    """

    def __init__(self, reading: Callable[[], AbstractContextManager[CodeView]]) -> None:
        self._reading = reading
        self._leans: dict[int, tuple[int, ...]] = {}
        self._carries: dict[int, tuple[int, ...]] = {}
        self._answers: dict[tuple[str, str], Found] = {}

    def ask(self, query: str, target: str) -> Found:
        """Files of a query of a plan (``uses``, ``affected``, ``tests``).

        Raises:
            NotFound, AmbiguousTarget: the index does not know the target. UsageError: it stands in no file.
            IndexMissing: there is no index.
        """
        known = self._answers.get((query, target))
        if known is None:
            with self._reading() as view:
                known = self._answers[query, target] = self._ask(view, query, target)
        return known

    def _ask(self, view: CodeView, query: str, target: str) -> Found:
        node = view.find(target)
        if not node.path:
            what = f"{target!r:.80} stands in no file"
            raise UsageError(what, way_out="name a file or a symbol")
        row = view.file_at(node.path)
        if row is None:
            raise NotFound(f"{target!r:.80} is in no indexed file", way_out="run `mog index`")
        if query == "uses":
            chains = self._paths(view, _reach(row.id, lambda file: self._used(view, file)))
        elif node.type == "symbol":
            chains = _affected(view, node)
        else:
            chains = self._paths(view, _reach(row.id, lambda file: self._using(view, file)))
        return Found(tuple(path for path in chains if query != "tests" or _holds_tests(view, path)), chains)

    def _paths(self, view: CodeView, found: Mapping[int, int]) -> Chains:
        names = {file: _path(view, file) for file in found}
        return {names[file]: names.get(via, "") for file, via in found.items() if names[file]}

    def _used(self, view: CodeView, file: int) -> tuple[int, ...]:
        """Files that a file leans on."""
        known = self._leans.get(file)
        if known is None:
            ends = _ends(view, file, incoming=False)
            known = self._leans[file] = tuple(dict.fromkeys((*sorted(ends), *_implied(view, file))))
        return known

    def _using(self, view: CodeView, file: int) -> tuple[int, ...]:
        """Files that lean on a file."""
        known = self._carries.get(file)
        if known is None:
            ends = _ends(view, file, incoming=True)
            known = self._carries[file] = tuple(dict.fromkeys((*sorted(ends), *_implying(view, file))))
        return known


def _reach(start: int, following: Callable[[int], tuple[int, ...]]) -> dict[int, int]:
    """Breadth first: file → the file it was reached from; 0 for the start."""
    found, rim = {start: 0}, [start]
    for file in rim:
        for other in following(file):
            if other not in found:
                found[other] = file
                rim.append(other)
    return found


def _ends(view: CodeView, file: int, *, incoming: bool) -> set[int]:
    graph, mask = view.graph, view.graph.mask(KINDS, (Tier.certain,))
    keys = [row.key for row in view.db.nodes_of_file(file)]
    edges = graph.in_ if incoming else graph.out
    others = {other for key in keys for other, _, _ in edges(key, mask)}
    return {place for _, place, _ in view.db.node_places(others) if place and place != file}


def _path(view: CodeView, file: int) -> str:
    row = view.file_row(file)
    return os.fsdecode(row.path) if row else ""


def _implied(view: CodeView, file: int) -> Iterator[int]:
    """Files that run before a Python file without being named in it."""
    path = _path(view, file)
    for folder in _above(path) if path.endswith(".py") else ():
        for name in _PACKAGE, _FIXTURES:
            row = view.db.file_by_path(os.fsencode(folder + name))
            if row is not None and row.id != file and (name == _PACKAGE or _is_test(path)):
                yield row.id


def _implying(view: CodeView, file: int) -> Iterator[int]:
    """Files before which this one runs without being named in them: the inverse of ``_implied``."""
    folder, _, name = _path(view, file).rpartition("/")
    if name not in (_PACKAGE, _FIXTURES):
        return
    below = os.fsencode(f"{folder}/" if folder else "")
    for number, path, *_ in view.db.file_rows():
        inside = path.startswith(below) and path.endswith(b".py") and number != file
        if inside and (name == _PACKAGE or _is_test(os.fsdecode(path))):
            yield number


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name == _FIXTURES or name.startswith("test_") or name.endswith("_test.py")


def _above(path: str) -> Iterator[str]:
    """Folders of a path, the nearest first, each with its slash; "" for the root."""
    while path:
        path = path.rpartition("/")[0]
        yield f"{path}/" if path else ""


def _affected(view: CodeView, node: Node) -> Chains:
    """Files of everything that a change of a symbol may affect."""
    ways = {kind: row.impact for kind, row in view.ontology.edge_types.items() if row.layer == "code" and kind != "contains"}
    found = view.graph.closure([node.key], direction_by_kind=ways, tiers=(Tier.certain,))
    nodes = view.nodes({*found.nodes, *found.via, node.key})
    chains = {node.path: ""}
    for key, via in zip(found.nodes, found.via, strict=True):
        path, parent = (nodes[one].path if one in nodes else "" for one in (key, via))
        if path and path not in chains:
            chains[path] = parent if parent != path else node.path
    return chains


def _holds_tests(view: CodeView, path: str) -> bool:
    row = view.file_at(path)
    return row is not None and any(one.flags & TEST for one in view.db.nodes_of_file(row.id))

