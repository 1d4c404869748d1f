"""How something remembered becomes records of the ledger: one commit each, through the writer of the mesh.

Who calls: ``notes``. What may not come in: the disk, ranking, text for one surface; another store. Who said it, in which
conversation and at which commit goes with the record (attribute ``note``); its source is ``said by`` whoever said it.

The same words from the same speaker are one note. What a person took back an agent cannot say again; a person can, and it is
another record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mog.engine import ids
from mog.engine.errors import OntologyError, PolicyDenied, UsageError
from mog.engine.memory.limits import USER, Form, form_of
from mog.engine.model import Anchor, Node
from mog.engine.reason.commands import PERSON, said_by
from mog.engine.reason.records import GraphNode, Retirement
from mog.engine.reason.writer import Writer

NOTE = "note"
PINNED = "pinned"
_SAID = b"mog.note.1"


@dataclass(frozen=True, slots=True)
class Saying:
    """Something to be remembered; texts were checked.

    Attributes:
        kind, text, origin, by: as of a note. anchors: code as it is now, with the index's node of it where there is one.
        contradicts: ids. key: its name with whoever says it: the same key again must say the same. commit: checked out now.
        replaces, promotes: id of the note in whose place it comes, "" for none.
    """

    kind: str
    text: str
    origin: str = USER
    by: str = PERSON
    session: str = ""
    key: str = ""
    because: str = ""
    commit: str = ""
    anchors: Sequence[tuple[Anchor, Node | None]] = ()
    contradicts: Sequence[str] = ()
    replaces: str = ""
    promotes: str = ""

    @property
    def form(self) -> Form:
        """Type and kind of its record. Raises as ``limits.form_of``."""
        return form_of(self.kind, self.origin)

    @property
    def rationale(self) -> str:
        """Why, in words; its own when no others were given."""
        return self.because or self.text

    @property
    def attrs(self) -> dict[str, Any]:
        """What the record carries as a note."""
        told = {"kind": self.kind, "origin": self.origin, "by": self.by, "session": self.session, "key": self.key}
        told |= {"commit": self.commit, "replaces": self.replaces, "promotes": self.promotes}
        return {name: value for name, value in told.items() if value}


def speaker(origin: str, name: str) -> str:
    """Who says it, as recorded: ``person``, ``agent``, ``agent:claude``. A program never speaks as the person."""
    return PERSON if origin == USER else f"{origin}:{name}" if name else origin


def record(w: Writer, saying: Saying) -> str:
    """Record a note, or find the one there is; its id.

    Raises:
        UsageError: its key names another note; it contradicts what it cannot. PolicyDenied: an agent says again what a person
            took back. And as the writer.
    """
    id = _by_key(w, saying) or _standing_one(w, saying) or _made(w, saying)
    if saying.origin == USER or is_agents(w.mesh.tables.nodes[id]):  # what a person promoted is no longer the agent's
        _anchor(w, id, saying.anchors)
        for target in dict.fromkeys(saying.contradicts):
            _contradict(w, id, target)
    return id


def supersede(w: Writer, old: str, saying: Saying, *, everything: str = "", reason: str = "") -> str:
    """Record a note in the place of another; what rests on the old one is moved or dropped (``everything``).

    Evidence has no successor in GRAPH.md: it is withdrawn, and the new record names it.

    Raises: UsageError: something rests on it and nobody said what becomes of it. And as ``record``.
    """
    new = record(w, replace(saying, replaces=old))
    if new == old:
        raise UsageError("the new words are the old ones", where=old, way_out="say what is different")
    _take_place(w, old, new, everything=everything, reason=reason, by=saying.by)
    return new


def promote(w: Writer, old: str, saying: Saying) -> str:
    """Record in a person's name what an agent said; its note gives way to the new one. Raises as ``record``."""
    new = record(w, replace(saying, promotes=old))
    _take_place(w, old, new, everything="move", reason="promoted", by=saying.by)
    return new


def pin(w: Writer, id: str, on: bool) -> str:
    """Mark a note as to be kept in sight, or no longer. A decision is never changed, so its mark is on the edge to its source."""
    node = w.mesh.graph.node(id)
    if node.type != "decision":
        if bool(node.attrs.get(PINNED)) != on:
            w.attrs(id, {PINNED: on})
        return id
    for edge in w.mesh.graph.out_edges(id, ("cites",)):
        if node.provenance is not None and edge.dst == node.provenance.source_id:
            kept = {name: value for name, value in edge.attrs.items() if name != PINNED}
            w.edge_attrs(edge.id, {**kept, PINNED: True} if on else kept)
    return id


# -- inside


def _by_key(w: Writer, saying: Saying) -> str:
    if not saying.key:
        return ""
    for id, told in noted(w):
        if (told.get("key"), told.get("by")) == (saying.key, saying.by):
            if (told.get("kind"), w.mesh.tables.nodes[id].label) != (saying.kind, saying.text):
                raise UsageError(f"the key {saying.key!r} already names another note", where=id, way_out="use a key of its own")
            return id
    return ""


def noted(w: Writer) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every record that was made by remembering, with what it carries as a note."""
    for id, node in w.mesh.tables.nodes.items():
        told = node.attrs.get(NOTE)
        if isinstance(told, Mapping):
            yield id, told


def _standing_one(w: Writer, saying: Saying) -> str:
    """The note that says the same already and counts, "" when there is none. Raises PolicyDenied."""
    for id in _same_words(w, saying):
        gone = w.mesh.tables.rows["retired"].get(id)
        if gone is None or gone.how == "pruned":
            if saying.form.type == "decision" and w.mesh.tables.nodes[id].attrs.get("rationale") != saying.rationale:
                continue
            _carry(w, id, saying)
            return id
        if saying.origin != USER and gone.by == PERSON:
            return _promoted(w, id) or _refuse_again(id, gone)
    return ""


def _promoted(w: Writer, id: str) -> str:
    """The note that a person made of a proposal and that counts, "" when there is none."""
    found = (new for new, told in noted(w) if told.get("promotes") == id and new not in w.mesh.tables.rows["retired"])
    return next(found, "")


def _refuse_again(id: str, gone: Retirement) -> str:
    what = f"a person took this back: {gone.reason or gone.how}"
    raise PolicyDenied(what, where=id, way_out=f"ask the person; `mog withdraw {id[:12]}` brings it back")


def _carry(w: Writer, id: str, saying: Saying) -> None:
    """A record that somebody made otherwise becomes a note too when it is remembered."""
    node = w.mesh.tables.nodes[id]
    if NOTE in node.attrs or node.type == "decision":
        return
    w.attrs(id, {NOTE: saying.attrs})
    if node.type == "claim":
        w.edge("derived_from", id, said_by(w, saying.by))


def _same_words(w: Writer, saying: Saying) -> list[str]:
    """Ids of the records of these words by this speaker, oldest first; of an assumption the version that stands."""
    if saying.form.type == "assumption":
        return [id for id in w.versions(saying.text, saying.form.kind)[-1:] if w.mesh.stands(id)]
    found: list[str] = []
    while (id := _id(w, saying, len(found))) in w.mesh.tables.nodes:
        found.append(id)
    return found


def _id(w: Writer, saying: Saying, ordinal: int) -> str:
    """A person's words are the record itself, as with the other verbs; an agent's are told apart by who said them as what."""
    type, kind = saying.form
    words = saying.text
    if saying.origin != USER:
        words = ids.digest(_SAID, saying.kind, saying.by, saying.text).hex()
    return ids.node_uid(w.mesh.repo, type, kind, "", words, ordinal).hex()


def _made(w: Writer, saying: Saying) -> str:
    type, kind = saying.form
    source = said_by(w, saying.by)
    attrs = {NOTE: saying.attrs}
    if type == "assumption":
        return w.assume(saying.text, kind=kind, attrs=attrs)
    id = _id(w, saying, len(_same_words(w, saying)))
    if type == "decision":
        return w.decide(saying.text, saying.rationale, source=source, attrs=attrs)
    if type == "evidence":
        return w.evidence(saying.text, kind=kind, source=source, attrs={**attrs, "by": saying.by}, id=id)
    if type == "source":
        return w.source(saying.text, origin=f"said:{saying.by}", kind=kind, attrs=attrs, id=id)
    extra = {"because": saying.because} if saying.because else {}
    return w.claim(saying.text, source=source, kind=kind, extractor=saying.by, attrs={**attrs, **extra}, id=id)


def _anchor(w: Writer, id: str, anchors: Sequence[tuple[Anchor, Node | None]]) -> None:
    """Tie a note to code as it is now; what it was tied to at the same place before is what was said again."""
    about = w.mesh.tables.nodes[id].type != "source"  # GRAPH.md has no edge from a source to code
    for anchor, code in anchors:
        for old in list(w.mesh.tables.anchored.get(id, {}).values()):
            if old.anchor.locator == anchor.locator and old.anchor.span_hash != anchor.span_hash:
                w.unanchor(old.id)
        w.about(id, anchor, code if about else None)


def _contradict(w: Writer, id: str, target: str) -> None:
    try:
        w.edge("contradicts", id, target)
    except OntologyError as error:
        way_out = "a fact, convention or risk contradicts a claim; an observation or failure also an assumption"
        raise UsageError(f"it cannot contradict that: {error.what}", where=target, way_out=way_out) from error


def _take_place(w: Writer, old: str, new: str, *, everything: str, reason: str, by: str) -> None:
    before, after = w.mesh.tables.nodes[old], w.mesh.tables.nodes[new]
    if before.type != after.type or before.type not in ("claim", "decision", "assumption"):
        w.retire(old, "withdrawn" if before.type == "evidence" else "superseded", reason=reason, by=by)
        return
    resting = sorted({found.node for found in w.dependants(old)} - {new})
    if resting and everything not in ("move", "drop"):
        listed = ", ".join(id[:12] for id in resting[:8])
        what = f"{len(resting)} records rest on what is replaced"
        raise UsageError(what, where=old, way_out=f"say whether they move or drop: {listed}")
    w.supersede(old, new, move=resting if everything == "move" else (), reason=reason, by=by)


def is_agents(node: GraphNode) -> bool:
    """Whether a record was made by a program's note."""
    told = node.attrs.get(NOTE)
    return isinstance(told, Mapping) and told.get("origin") != USER
