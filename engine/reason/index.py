"""Inverted index over short texts: token → postings. Called by the resolver (names) and the walker (labels).

What may not come in: what a token is (``terms.py``), what an answer is (``walker.py``), anything that is stored. Both
indexes are made again from the mesh whenever a process needs them, and follow it by ``changed_since``.

A posting is four bytes. Texts leave by a tombstone; when half of all places are tombstones, the index is built anew.
"""

from __future__ import annotations

import bisect
import math
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from mog.engine.graph import GraphEdge, GraphNode
from mog.engine.ontology import Ontology
from mog.engine.reason import terms
from mog.engine.reason.records import ADVISORY, Label, Retirement

COMMON_SHARE = 8  # a token in more than a eighth of the texts …
COMMON_LEAST = 5_000  # … and in more than this many says nothing and is left out
REBUILD_LEAST = 1_000


class GraphView(Protocol):
    """What is read of the graph."""

    def get(self, id: str) -> GraphNode | None: ...
    def nodes(self, type: str = "") -> tuple[GraphNode, ...]: ...
    def out_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]: ...
    def in_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]: ...


class MeshView(Protocol):
    """What the resolver and the walker read of a mesh."""

    @property
    def graph(self) -> GraphView: ...
    @property
    def ontology(self) -> Ontology: ...
    @property
    def aliases(self) -> Mapping[str, str]: ...
    @property
    def splits(self) -> Collection[tuple[str, str]]: ...
    @property
    def revision(self) -> int: ...
    def locked(self) -> AbstractContextManager[object]: ...
    def changed_since(self, revision: int) -> Collection[str] | None: ...
    def walkable(self, id: str) -> bool: ...
    def stands(self, id: str) -> bool: ...
    def live(self, edge: GraphEdge) -> bool: ...
    def label(self, id: str) -> Label: ...
    def retired(self, id: str) -> Retirement | None: ...
    def contradicting(self, id: str) -> tuple[str, ...]: ...


class Postings:
    """Texts under string keys, found by their tokens. One text has one place; places grow, keys may come back."""

    __slots__ = ("_gone", "_keys", "_lengths", "_place", "_postings")

    def __init__(self) -> None:
        self._postings: dict[str, array[int]] = {}
        self._keys: list[str | None] = []
        self._lengths = array("H")
        self._place: dict[str, int] = {}
        self._gone = 0

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, key: object) -> bool:
        return key in self._place

    @property
    def worn(self) -> bool:
        """Whether so many texts have left that building anew pays."""
        return self._gone > max(REBUILD_LEAST, len(self._place))

    def add(self, key: str, tokens: Sequence[str]) -> None:
        """Add a text, or replace the one that has this key."""
        self.discard(key)
        place = len(self._keys)
        self._keys.append(key)
        self._lengths.append(min(len(tokens), 65_535))
        self._place[key] = place
        postings = self._postings
        for token in dict.fromkeys(tokens):
            if token in postings:
                postings[token].append(place)
            else:
                postings[token] = array("I", (place,))

    def discard(self, key: str) -> None:
        """Take a text out; nothing happens when there is none."""
        place = self._place.pop(key, None)
        if place is not None:
            self._keys[place] = None
            self._gone += 1

    def key(self, place: int) -> str | None:
        """The key of the text at a place; None when it has left."""
        return self._keys[place]

    def length(self, place: int) -> int:
        """Number of tokens of the text at a place, at most 65,535."""
        return self._lengths[place]

    def place(self, key: str) -> int:
        """The place of a text, or -1."""
        return self._place.get(key, -1)

    def count(self, token: str) -> int:
        """In how many texts the token is, tombstones included."""
        found = self._postings.get(token)
        return len(found) if found is not None else 0

    def places(self, token: str) -> Sequence[int]:
        """Places of the texts with this token, oldest first, tombstones included."""
        return self._postings.get(token, ())

    def weight(self, token: str) -> float:
        """Inverse document frequency as in BM25 (Robertson and Zaragoza 2009, eq. 3.3), never below 0."""
        total, holding = len(self._keys), self.count(token)
        return math.log1p((total - holding + 0.5) / (holding + 0.5))

    def common(self, token: str) -> bool:
        """Whether the token is in so many texts that it tells none apart."""
        return self.count(token) > max(COMMON_LEAST, len(self._keys) // COMMON_SHARE)

    def masks(self, tokens: Sequence[str]) -> dict[int, int]:
        """Place → bit set of the tokens (by position) that its text holds. Common tokens are not looked at."""
        found: dict[int, int] = {}
        for position, token in enumerate(tokens):
            if not self.common(token):
                bit = 1 << position
                for place in self.places(token):
                    found[place] = found.get(place, 0) | bit
        return found

    def nearest(self, tokens: Iterable[str], budget: int, keep: int) -> list[tuple[int, int]]:
        """At most ``keep`` of (place, number of the tokens in it), most first, equals in the order of rarity and age.

        Candidates come from the rarest tokens, as far as ``budget`` postings reach; commoner tokens only tell apart what
        a rarer one brought up. Places in a posting ascend, so that is a binary search.
        """
        ranked = sorted(dict.fromkeys(tokens), key=lambda t: (self.count(t), t))
        hits: Counter[int] = Counter()
        for token in ranked:
            places = self.places(token)
            if budget > 0 and (len(places) <= budget or not hits):
                hits.update(places[:budget])
                budget -= len(places)
            else:
                hits.update(p for p in _best(hits)[: 2 * keep] if _holds(places, p))
        return [(p, hits[p]) for p in _best(hits)[: 2 * keep] if self._keys[p] is not None][:keep]


def _best(hits: Counter[int]) -> list[int]:
    """Most hits first; the sort is stable, so equals stay in the order that postings brought them up."""
    return sorted(hits, key=hits.__getitem__, reverse=True)


def _holds(places: Sequence[int], place: int) -> bool:
    at = bisect.bisect_left(places, place)
    return at < len(places) and places[at] == place


class Follower:
    """Keeps something in step with a mesh: ``refresh`` builds it, then only touches what changed."""

    def __init__(self, mesh: MeshView, rebuild: Callable[[], None], touch: Callable[[str], None]) -> None:
        self._mesh = mesh
        self._rebuild = rebuild
        self._touch = touch
        self._revision = -1
        self.lock = threading.RLock()

    def refresh(self, worn: bool = False) -> bool:
        """Come up to the mesh's revision. True when anything was done. The lock is taken."""
        with self.lock:
            revision = self._mesh.revision
            if revision == self._revision and not worn:
                return False
            changed = self._mesh.changed_since(self._revision) if self._revision >= 0 and not worn else None
            if changed is None:
                self._rebuild()
            else:
                for id in sorted(changed):
                    self._touch(id)
            self._revision = revision
            return True


class LabelIndex:
    """Stems of the labels of all nodes of a mesh, a decision's rationale and an entity's aliases included."""

    def __init__(self, mesh: MeshView) -> None:
        self._mesh = mesh
        self._postings = Postings()
        self._follower = Follower(mesh, self._rebuild, self._touch)

    def refresh(self) -> Postings:
        """The postings, in step with the mesh."""
        self._follower.refresh(self._postings.worn)
        return self._postings

    def _rebuild(self) -> None:
        fresh = Postings()
        for node in self._mesh.graph.nodes():
            fresh.add(node.id, terms.tokens(text_of(node)))
        self._postings = fresh

    def _touch(self, id: str) -> None:
        node = self._mesh.graph.get(id)
        if node is None:
            self._postings.discard(id)
        else:
            self._postings.add(id, terms.tokens(text_of(node)))


def text_of(node: GraphNode) -> str:
    """What of a node is searched: its label, why a decision was made, what else an entity is called. Of advice nothing."""
    if node.kind == ADVISORY and node.type == "claim":
        return ""
    if node.type == "decision":
        return f"{node.label} {node.attrs.get('rationale') or ''}"
    if node.type == "entity":
        return " ".join([node.label, *alias_texts(node)])
    return node.label


def alias_texts(node: GraphNode) -> Iterator[str]:
    """The other names that an entity declares."""
    for alias in node.attrs.get("aliases") or ():
        if isinstance(alias, str):
            yield alias
