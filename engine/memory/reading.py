"""Notes as they are read: which records are notes, what the ledger and the disk say of them now.

Who calls: ``notes``. What may not come in: writes, ranking, text for one surface. A note is a record somebody said: remembered,
or said with ``assume``, ``claim``, ``decide`` or ``evidence``. What an ingest lifted from documents is none, nor is drift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mog.engine.errors import IndexMissing, NotFound
from mog.engine.ids import parse_locator
from mog.engine.memory import wording
from mog.engine.memory.limits import KINDS, ORIGINS, USER
from mog.engine.memory.records import Changed, Held, Note
from mog.engine.memory.writing import NOTE, PINNED
from mog.engine.model import Freshness
from mog.engine.reason import drift
from mog.engine.reason.commands import PERSON
from mog.engine.reason.drift import Drift

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs
    from mog.engine.memory.anchoring import Sight
    from mog.engine.memory.changes import Changes
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.records import Anchored, GraphNode

IN_PLACE, NEAR, EVERYWHERE = "in_place", "near", "everywhere"
_SAID_BY_PERSON = f"said:{PERSON}"
_KIND_OF = {form: kind for kind, form in KINDS.items()}
_WORST = (Freshness.missing, Freshness.drifted, Freshness.unknown, Freshness.gated, Freshness.moved, Freshness.fresh)


@dataclass(frozen=True, slots=True)
class Told:
    """What a record says of itself as a note; fields as of ``records.Note``."""

    kind: str
    origin: str = USER
    by: str = PERSON
    session: str = ""
    commit: str = ""
    replaces: str = ""


class Reading:
    """Notes of one clone, seen from one worktree. The caller holds the lock of memory."""

    def __init__(self, beliefs: Beliefs, changes: Changes, sight: Sight) -> None:
        self._beliefs = beliefs
        self._changes = changes
        self._sight = sight
        self._revision = -1
        self._known: dict[str, Told] = {}
        self._spoken: dict[str, bool] = {}
        self._words: dict[str, tuple[tuple[str, ...], wording.Said]] = {}
        self._counting: dict[bool, list[str]] = {}
        self._indexes: dict[bool, wording.Index] = {}
        self._listed: tuple[str, ...] | None = None

    def anew(self) -> Reading:
        """Forget what the disk and git were asked for: what holds for one question only. Itself, for the next one."""
        self._listed = None
        self._changes.anew()
        return self

    @property
    def mesh(self) -> Mesh:
        """The reason layer."""
        return self._beliefs.mesh

    def known(self) -> Mapping[str, Told]:
        """Every note there ever was, by id, in the order they were said."""
        with self.mesh.locked():
            if self.mesh.revision != self._revision:
                self._known = self._grown()
                self._revision = self.mesh.revision
                self._counting, self._indexes = {}, {}
            return self._known

    def _grown(self) -> dict[str, Told]:
        """What is known, brought up to the mesh: only records that changed since are looked at again."""
        nodes, known = self.mesh.tables.nodes, dict(self._known)
        changed = self.mesh.changed_since(self._revision)
        if changed is None:
            known.clear()
        for id in nodes if changed is None else changed:
            told = self._told(nodes[id]) if id in nodes else None
            known.pop(id, None)
            if told is not None:
                known[id] = told
        return {id: known[id] for id in sorted(known, key=lambda id: (nodes[id].at, id))}

    def counting(self, gone: bool = False) -> list[str]:
        """Notes that count, or with ``gone`` those that do not, in the order they were said."""
        known = self.known()
        if gone not in self._counting:
            self._counting[gone] = [id for id in known if self.counts(id) is not gone]
        return self._counting[gone]

    def index(self, gone: bool) -> wording.Index:
        """The words of the same."""
        ids = self.counting(gone)
        if gone not in self._indexes:
            self._indexes[gone] = wording.Index([self.words(id) for id in ids])
        return self._indexes[gone]

    def counts(self, id: str) -> bool:
        """Does it stand, and was not replaced or taken back?"""
        gone = self.mesh.retired(id)
        return self.mesh.stands(id) and (gone is None or gone.how == "pruned")

    def words(self, id: str) -> wording.Said:
        """Its words and those of its anchors."""
        node = self.mesh.graph.node(id)
        places = tuple(anchored.anchor.locator for anchored in self.mesh.anchors(id))
        held = self._words.get(id)
        if held is None or held[0] != places:
            told = self.known()[id]
            thread = f"{told.by}/{told.session}" if told.session else ""
            held = self._words[id] = (places, wording.said(id, node.at, thread, node.label, places))
        return held[1]

    def note(self, id: str) -> Note:
        """One note as it is now, its freshness from the disk. Raises NotFound: it is no note."""
        return self.notes([id], look=EVERYWHERE)[0]

    def notes(self, ids: Sequence[str], *, look: str = IN_PLACE) -> list[Note]:
        """Notes as they are now. The disk is looked at after the ledger was let go.

        Args:
            look: where to look for code that is not in its place: nowhere else (``IN_PLACE``), in files that have its name
                (``NEAR``), or ``EVERYWHERE``, which takes as long as there are files.

        Raises: NotFound: one is no note.
        """
        with self.mesh.locked():
            found = [(self._recorded(id), self.mesh.anchors(id)) for id in ids]
        return [self._against_disk(note, anchored, look) for note, anchored in found]

    def _recorded(self, id: str) -> Note:
        told = self.known().get(id)
        if told is None:
            raise NotFound("this record is no note", where=id, way_out="`mog explain` shows records of every sort")
        node, gone = self.mesh.graph.node(id), self.mesh.retired(id)
        because = node.attrs.get("rationale", node.attrs.get("because", ""))
        note = Note(
            id, told.kind, node.label, told.origin, told.by, node.type, node.kind, self.mesh.label(id), node.at,
            pinned=self._pinned(node), contradicted_by=self.mesh.contradicting(id), session=told.session,
            commit=told.commit, because=str(because) if because != node.label else "", replaces=told.replaces,
            replaced_by=self._successor(id),
        )  # fmt: skip
        if gone is not None and gone.how != "pruned":
            return replace(note, gone=gone.how, why=gone.reason)
        return note

    def explained(self, note: Note, *, look: str = NEAR) -> Note:
        """The same note with what changed under its anchors, and when. ``look`` as of ``notes``."""
        if note.freshness in (Freshness.fresh, Freshness.unknown):
            return note
        states = self._judged(self.mesh.anchors(note.id), look)
        held = tuple(replace(_held(one), changed=self._changed(one, note.commit)) for one in states)
        return replace(note, anchors=held, freshness=_worst(held))

    # inside

    def _told(self, node: GraphNode) -> Told | None:
        said = node.attrs.get(NOTE)
        if isinstance(said, Mapping):
            texts = {name: str(said.get(name, "")) for name in ("kind", "origin", "by", "session", "commit", "replaces")}
            return Told(**texts) if texts["kind"] in KINDS and texts["origin"] in ORIGINS else None
        kind = _KIND_OF.get((node.type, node.kind), "assumption" if node.type == "assumption" else "")  # type: ignore[call-overload]
        return Told(kind) if kind and node.type != "source" and self._by_person(node) else None

    def _by_person(self, node: GraphNode) -> bool:
        if node.type == "evidence":
            return node.attrs.get("by") == PERSON
        if node.provenance is not None:
            source = self.mesh.tables.nodes.get(node.provenance.source_id)
            return source is not None and source.attrs.get("origin") == _SAID_BY_PERSON
        if node.id not in self._spoken:  # an assumption has no source; the event says who took it as true
            event = next(self.mesh.log.events(node.at - 1, 1), None) if node.at else None
            spoken = event is not None and event.type == "assumed" and event.data.get("by") == PERSON
            self._spoken[node.id] = spoken
        return self._spoken[node.id]

    def _pinned(self, node: GraphNode) -> bool:
        if node.type != "decision":
            return node.attrs.get(PINNED) is True
        return any(edge.attrs.get(PINNED) is True for edge in self.mesh.graph.out_edges(node.id, ("cites",)))

    def _successor(self, id: str) -> str:
        for edge in self.mesh.graph.in_edges(id, ("supersedes",)):
            return edge.src
        for node in self.mesh.tables.nodes.values() if self.mesh.retired(id) is not None else ():
            said = node.attrs.get(NOTE)
            if isinstance(said, Mapping) and id in (said.get("replaces"), said.get("promotes")):
                return node.id
        return ""

    def _against_disk(self, note: Note, anchored: tuple[Anchored, ...], look: str) -> Note:
        held = tuple(map(_held, self._judged(anchored, look)))
        return replace(note, anchors=held, freshness=_worst(held))

    def _judged(self, anchored: tuple[Anchored, ...], look: str) -> list[Drift]:
        if not anchored:
            return []
        with self._beliefs.looking() as disk:
            return [drift.judge(disk, one, partial(self._files, one, look)) for one in anchored]

    def _files(self, anchored: Anchored, look: str) -> tuple[str, ...]:
        if look == IN_PLACE:
            return ()
        locator = anchored.anchor.locator
        if look == NEAR and locator.startswith(("sym:", "file:")):
            try:
                return self._sight.likely(parse_locator(locator))
            except IndexMissing:
                pass  # then everywhere
        return self._paths()

    def _paths(self) -> tuple[str, ...]:
        if self._listed is None:
            self._listed = tuple(self._beliefs.place.paths())
        return self._listed

    def _changed(self, state: Drift, commit: str) -> Changed | None:
        if state.freshness in (Freshness.fresh, Freshness.unknown, Freshness.gated):
            return None
        return self._changes.of(state, commit)


def _held(state: Drift) -> Held:
    anchor = state.anchor.anchor
    return Held(anchor.locator, state.freshness, state.reason, state.now_at, anchor.span_hash)


def _worst(held: tuple[Held, ...]) -> Freshness:
    states = {one.freshness for one in held}
    return next((state for state in _WORST if state in states), Freshness.unknown)
