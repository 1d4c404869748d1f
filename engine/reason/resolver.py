"""Which entity a name means. Called by the walker for what a question mentions, by the prose pipeline, by health.

What may not come in: durable writes. Resolving changes nothing that a later answer depends on; what is worth keeping
comes back as a ``Proposal``, and the caller commits it as an alias (``Mesh`` event). Names are never merged because one
contains the other, nor because one abbreviates the other: a wrong merge spoils every walk that crosses the entity, a
missed one costs a mention and is logged with its reason.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from mog.engine.graph import GraphNode
from mog.engine.reason import terms
from mog.engine.reason.index import Follower, MeshView, Postings, alias_texts
from mog.engine.reason.terms import Name

ACCEPT = 0.85  # a likeness from here on is the same name
NEAR = 0.25  # a likeness from here on is worth logging
SAME, LETTERS, WORDS, ORDER = 1.0, 0.95, 0.92, 0.88
OVERLAP_MOST = 0.8  # names that merely share words stay below ACCEPT, whatever they share
INITIALS = 0.5
LOG_SIZE = 512  # near misses kept, oldest dropped
MAX_NEAR = 5
_BUDGET = 400  # postings looked at for near misses
_CANDIDATES = 12  # names compared word by word
_MAX_FOLDS = 16
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Near:
    """An entity that was not taken, how like the mention it is (0..1), and why it was not taken."""

    entity: str
    label: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a mention means.

    Attributes:
        mention: as it was written.
        entity: id, or None.
        label: the entity's label, "" when there is none.
        score: likeness of the mention and the name it was found by, 0..1; of the nearest one when there is no entity.
        reason: why, in a few words for people.
        near: other entities it could have meant, likeliest first, at most 5.
        ambiguous: several entities answer to exactly this name; they lead ``near``.
    """

    mention: str
    entity: str | None
    label: str
    score: float
    reason: str
    near: tuple[Near, ...] = ()
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """A name worth learning: ``normal`` (a normal form) means ``entity``. To be committed with ``Writer.alias``."""

    normal: str
    entity: str
    reason: str


def likeness(a: Name, b: Name) -> tuple[float, str]:
    """How like two names are, 0..1, and why. At ``ACCEPT`` or above they are two spellings of one name."""
    if a.normal == b.normal:
        return SAME, "the same name"
    if a.numbers != b.numbers and sorted(a.numbers) != sorted(b.numbers):
        return _overlap(a, b, "the numbers differ" if a.numbers and b.numbers else "")
    forms = [(x, y) for x in {a.plain, a.german} for y in {b.plain, b.german}]
    if a.numbers == b.numbers:
        if any(x == y for x, y in forms):
            return WORDS, "the same words in another form"
        if any("".join(x) == "".join(y) for x, y in forms):
            return LETTERS, "the same letters, spaced otherwise"
    loose = not (a.code or b.code) and len(set(a.numbers)) < 2  # in "Rack 1 Slot 2" the order says which is which
    if loose and any(sorted(x) == sorted(y) for x, y in forms):
        return ORDER, "the same words in another order"
    return _overlap(a, b, "")


def _overlap(a: Name, b: Name, why: str) -> tuple[float, str]:
    shared = a.parts & b.parts
    score = min(OVERLAP_MOST, len(shared) / len(a.parts | b.parts)) if shared else 0.0
    if not score and _abbreviates(a, b):
        return INITIALS, "only the first letters agree"
    return score, why or _difference(a, b, shared)


def _abbreviates(a: Name, b: Name) -> bool:
    return "".join(a.words) == terms.first_letters(b.words) or "".join(b.words) == terms.first_letters(a.words)


def _difference(a: Name, b: Name, shared: frozenset[str]) -> str:
    ours = [w for w, k in zip(a.words, a.keys, strict=True) if k not in shared and shared.isdisjoint(terms.pairs(k))]
    theirs = [w for w, k in zip(b.words, b.keys, strict=True) if k not in shared and shared.isdisjoint(terms.pairs(k))]
    if ours and theirs:
        return f"says {' '.join(ours)!r:.60}, not {' '.join(theirs)!r:.60}"
    if ours or theirs:
        return f"says {' '.join(ours)!r:.60} besides" if ours else f"does not say {' '.join(theirs)!r:.60}"
    return "shares part of the name"


class Resolver:
    """Resolves mentions against the entities of one mesh. Every method may be called from any thread."""

    def __init__(self, mesh: MeshView) -> None:
        self._mesh = mesh
        self._names = Postings()
        self._spelled: dict[str, tuple[str, str]] = {}  # key of a name that is no label → (entity, as written)
        self._of: dict[str, tuple[str, ...]] = {}  # entity → keys of its names that are no label
        self._aliases: dict[str, str] = {}
        self._learned: dict[str, list[str]] = {}
        self._splits: frozenset[tuple[str, str]] = frozenset()
        self._follower = Follower(mesh, self._rebuild, self._touch)
        self._log: deque[Resolution] = deque(maxlen=LOG_SIZE)
        self._logging = threading.Lock()

    # -- asking

    def resolve(self, mention: str) -> Resolution:
        """What a mention means. Writes nothing; a miss that came near goes to ``near_misses``."""
        with self._mesh.locked(), self._follower.lock:
            self._refresh()
            found = self._resolve(mention)
        if found.entity is None and found.near:
            with self._logging:
                self._log.append(found)
        return found

    def knows(self, squeezed: str) -> bool:
        """Whether words written together (``Name.squeezed``) are the name of an entity; for ``terms.mentions``."""
        with self._mesh.locked(), self._follower.lock:
            self._refresh()
            return any(terms.name(text).squeezed == squeezed for _, text in self._spellings(_exact(squeezed)))

    def __len__(self) -> int:
        """How many names are known, aliases included."""
        with self._mesh.locked(), self._follower.lock:
            self._refresh()
            return len(self._names)

    @property
    def near_misses(self) -> tuple[Resolution, ...]:
        """The last 512 mentions that nearly meant something, oldest first."""
        with self._logging:
            return tuple(self._log)

    # -- learning

    def learn(self, found: Resolution) -> tuple[Proposal, ...]:
        """The alias worth keeping from a resolution: the spelling, when it was found by likeness and not by name."""
        if found.entity is None or found.score >= SAME:
            return ()
        return (Proposal(terms.normal(found.mention), found.entity, found.reason),)

    def learn_from(self, text: str) -> tuple[Proposal, ...]:
        """Acronyms that a text spells out beside a known name, as in "Payment Gateway (PG)".

        Not proposed: one that already means an entity, or that the text spells out in two ways.
        """
        pairs = terms.spelled_out(text)
        often = [short for _, short in pairs]
        proposals = []
        for long, short in pairs:
            found, taken = self.resolve(long), self.resolve(short)
            split = (terms.normal(short), found.entity) in self._splits
            if found.entity and not taken.entity and not taken.ambiguous and often.count(short) == 1 and not split:
                proposals.append(Proposal(terms.normal(short), found.entity, f"spelled out as {long!r:.80}"))
        return tuple(proposals)

    # -- inside

    def _resolve(self, mention: str) -> Resolution:
        asked = terms.name(mention)
        if not asked.normal:
            return Resolution(mention, None, "", 0.0, "there is no word in it")
        best: dict[str, Near] = {}
        for entity, score, reason in self._scored(asked):
            root = self._root(entity)
            if score >= NEAR and root is not None and (root.id not in best or best[root.id].score < score):
                best[root.id] = self._unless_split(asked.normal, entity, Near(root.id, root.label, score, reason))
        ranked = sorted(best.values(), key=lambda near: (-near.score, near.entity))
        return self._decided(mention, asked, ranked)

    def _decided(self, mention: str, asked: Name, ranked: list[Near]) -> Resolution:
        top = [n for n in ranked if n.score == ranked[0].score >= ACCEPT]
        chosen = top[0] if len(top) == 1 else self._told_apart(mention, asked, top)
        if chosen is not None:
            others = tuple(n for n in ranked if n is not chosen)[:MAX_NEAR]
            return Resolution(mention, chosen.entity, chosen.label, chosen.score, chosen.reason, others)
        score = ranked[0].score if ranked else 0.0
        if top:
            reason = f"{len(top)} entities answer to this name"
        elif ranked:
            reason = f"nearest is {ranked[0].label!r:.80}: {ranked[0].reason}"
        else:
            reason = "no name shares a word with it"
        return Resolution(mention, None, "", score, reason, tuple(ranked[:MAX_NEAR]), bool(top))

    def _told_apart(self, mention: str, asked: Name, top: list[Near]) -> Near | None:
        """Of several that match equally: the only one that is walkable, or the only one written exactly so."""
        walkable = [n for n in top if self._mesh.walkable(n.entity)]
        if len(walkable) == 1:
            return walkable[0]
        spelled = self._spellings(_exact(asked.squeezed))
        exactly = {self._root_id(entity) for entity, text in spelled if _verbatim(text) == _verbatim(mention)}
        same = [n for n in walkable or top if n.entity in exactly]
        return same[0] if len(same) == 1 else None

    def _scored(self, asked: Name) -> Iterator[tuple[str, float, str]]:
        """Every entity worth a look with its likeness: those of the same letters, and when there is none, those near."""
        learned = self._aliases.get(asked.normal)
        if learned is not None:
            yield learned, SAME, "a learned name"
        found = learned is not None
        for entity, text in self._spellings(_exact(asked.squeezed)):
            score, reason = likeness(asked, terms.name(text))
            found = found or score >= ACCEPT
            yield entity, score, reason
        if not found:
            for place, _ in self._names.nearest(_blocks(asked), _BUDGET, _CANDIDATES):
                entity, text = self._spelling(self._names.key(place) or "")
                score, reason = likeness(asked, terms.name(text))
                yield entity, score, reason

    def _spellings(self, token: str) -> Iterator[tuple[str, str]]:
        for place in self._names.places(token):
            key = self._names.key(place)
            if key is not None:
                yield self._spelling(key)

    def _spelling(self, key: str) -> tuple[str, str]:
        found = self._spelled.get(key)
        if found is not None:
            return found
        node = self._mesh.graph.get(key)
        return key, node.label if node is not None else ""

    def _unless_split(self, normal: str, entity: str, near: Near) -> Near:
        if (normal, entity) in self._splits or (normal, near.entity) in self._splits:
            return Near(near.entity, near.label, min(near.score, OVERLAP_MOST), "said not to be the same")
        return near

    def _root(self, entity: str) -> GraphNode | None:
        """The entity that this one was folded into, itself when into none."""
        graph, seen = self._mesh.graph, {entity}
        node = graph.get(entity)
        while node is not None and len(seen) <= _MAX_FOLDS:
            into = sorted(e.dst for e in graph.out_edges(node.id, ("resolves_to",)) if e.dst not in seen)
            if not into:
                break
            seen.add(into[0])
            node = graph.get(into[0])
        return node

    def _root_id(self, entity: str) -> str:
        root = self._root(entity)
        return root.id if root is not None else ""

    # -- following the mesh

    def _refresh(self) -> None:
        if self._follower.refresh(self._names.worn):
            self._splits = frozenset(self._mesh.splits)
            self._follow_aliases()

    def _follow_aliases(self) -> None:
        aliases = dict(self._mesh.aliases)
        if aliases != self._aliases:
            changed = set(aliases.items()) ^ set(self._aliases.items())
            self._aliases, self._learned = aliases, _by_entity(aliases)
            for entity in sorted({entity for _, entity in changed}):
                self._touch(entity)

    def _rebuild(self) -> None:
        self._names, self._spelled, self._of = Postings(), {}, {}
        self._aliases = dict(self._mesh.aliases)
        self._learned = _by_entity(self._aliases)
        for node in self._mesh.graph.nodes("entity"):
            self._add(node)

    def _touch(self, id: str) -> None:
        for key in (id, *self._of.pop(id, ())):
            self._names.discard(key)
            self._spelled.pop(key, None)
        node = self._mesh.graph.get(id)
        if node is not None and node.type == "entity":
            self._add(node)

    def _add(self, node: GraphNode) -> None:
        self._file(node.id, node.label)
        keys = []
        for text in dict.fromkeys([*alias_texts(node), *self._learned.get(node.id, ())]):
            key = f"{node.id}\0{text}"
            self._spelled[key] = (node.id, text)
            self._file(key, text)
            keys.append(key)
        if keys:
            self._of[node.id] = tuple(keys)

    def _file(self, key: str, text: str) -> None:
        name = terms.name(text)
        self._names.add(key, [_exact(name.squeezed), *_blocks(name)])


def _exact(squeezed: str) -> str:
    """One token for all names of the same letters and numbers, in whatever order the words are."""
    return "=" + "".join(sorted(_DIGITS.sub("", squeezed))) + " ".join(sorted(_DIGITS.findall(squeezed)))


def _blocks(name: Name) -> tuple[str, ...]:
    found = tuple(sorted(name.parts.union(name.keys)))
    short = terms.first_letters(name.words) or "".join(name.words)
    return (*found, f"~{short}") if 1 < len(short) < 7 else found


def _by_entity(aliases: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for normal, entity in sorted(aliases.items()):
        found.setdefault(entity, []).append(normal)
    return found


def _verbatim(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())
