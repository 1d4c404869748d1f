"""An index of facts in memory, kept up to date edit by edit, beside a fresh one: for tests that both have the same edges.

Who calls: tests of the linker. What may not come in: a language, a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mog.engine.code.facts import Facts
from mog.engine.code.link import Linker, Links
from mog.engine.code.link_view import MemoryView, surface

FactsOf = Callable[[str, int], Facts]


def edges(view: MemoryView, links: Links) -> set[tuple[object, ...]]:
    """Edges with the qualified name of what they point to: an index keeps a symbol's number while it keeps its name."""

    def qual(path: str, at: int | str) -> object:
        found = view.facts(path)
        return found["syms"][at][1] if found is not None and isinstance(at, int) and at >= 0 else at

    return {(source, path, qual(path, at), *rest) for source, path, at, *rest in links.edges}


class Index:
    """An index kept up to date. ``facts_of``: facts of a variant of a file; ``held``: path → the variant that is there."""

    def __init__(self, facts_of: FactsOf, held: Mapping[str, int]) -> None:
        self.facts_of = facts_of
        self.held = dict(held)
        self.view = MemoryView({path: facts_of(path, at) for path, at in held.items()})
        linker = Linker(self.view)
        self.links: dict[str, Links] = {path: linker.link_file(path) for path in held}
        self.edges = {path: edges(self.view, links) for path, links in self.links.items()}

    def edit(self, path: str, at: int) -> None:
        """Put variant ``at`` of a file, or delete it (-1); then link again what the change can have touched."""
        before = surface(self.facts_of(path, self.held[path]), path) if path in self.held else {}
        after = surface(self.facts_of(path, at), path) if at >= 0 else {}
        if at >= 0:
            self.held[path] = at
            self.view.put(path, self.facts_of(path, at))
        else:
            self.held.pop(path, None)
            self.view.drop(path)
            self.links.pop(path, None)
            self.edges.pop(path, None)
        dirty = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        linker = Linker(self.view)
        for other in sorted(self.held):
            if other == path or other not in self.links or not dirty.isdisjoint(self.links[other].reads):
                self.links[other] = linker.link_file(other)
                self.edges[other] = edges(self.view, self.links[other])


def follow(facts_of: FactsOf, held: Mapping[str, int], steps: Iterable[tuple[str, int]]) -> None:
    """Make edits one by one and compare with a fresh index after each."""
    index = Index(facts_of, held)
    for path, at in steps:
        index.edit(path, at)
        assert index.edges == Index(facts_of, index.held).edges, (path, at)
