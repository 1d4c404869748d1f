"""Annotations as claims of the ledger: how they are recorded, and what they are now, held against the disk.

Who calls: ``room``. What may not come in: reading of files that come back (``wording``), the request, text for one surface.

An annotation is a claim of kind ``annotation`` with an anchor on the symbol it was said of. It is advice: no walk answers with it, its
drift is nobody's evidence, it is in no digest of facts. What somebody says of a symbol again, in other words, replaces what was said
before; the same words at the same code are recorded once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mog.engine import ids
from mog.engine.code import freshness
from mog.engine.errors import NotFound, PolicyDenied
from mog.engine.ids import Locator, parse_locator
from mog.engine.model import Anchor, Freshness, Node
from mog.engine.reason import drift
from mog.engine.reason.records import ADVISORY, Anchored, GraphNode, thaw
from mog.engine.snapshots.model import Annotation
from mog.engine.snapshots.seen import VERB
from mog.engine.snapshots.wording import LISTS, RISKS, Advice

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs
    from mog.engine.code.view import CodeView
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.writer import Writer

ORIGIN = "annotation:"
SAID = "annotation"
EXTRACTOR = "llm_advisory"


@dataclass(frozen=True, slots=True)
class Placed:
    """One item with the symbol it is about and the anchor on its code."""

    advice: Advice
    node: Node
    anchor: Anchor


@dataclass
class Done:
    """What one commit did: locators by what became of their item."""

    applied: list[str]
    unchanged: list[str]
    replaced: int = 0


class Advised:
    """Annotations of one clone, seen from one worktree."""

    def __init__(self, beliefs: Beliefs, reading: Callable[[], AbstractContextManager[CodeView]]) -> None:
        self._beliefs = beliefs
        self._view = reading

    # recording

    def place(self, items: Sequence[Advice], as_indexed: bool, ignored: Counter[str]) -> list[Placed]:
        """Items with their symbols as these are on disk now; what has none is counted.

        Args:
            as_indexed: the file was made for the facts of today's index, so an item without a ``span_hash`` means today's code.
        """
        placed: dict[str, Placed] = {}
        for item in items:
            found = self._placed(item, as_indexed)
            if isinstance(found, str):
                ignored[found] += 1
            elif found.node.id in placed:
                ignored["repeated"] += 1
            else:
                placed[found.node.id] = found
        return list(placed.values())

    def _placed(self, item: Advice, as_indexed: bool) -> Placed | str:
        """An item with its symbol, or why it has none."""
        with self._view() as view:
            node = view.named(item.node_id)
            row = view.file_at(node.path) if node is not None and node.path else None
        if node is None:
            return "unknown_node"
        if node.type != "symbol":
            return "no_symbol"
        if node.gated:
            return "gated"
        with self._beliefs.looking() as disk:
            try:
                anchor = freshness.make_anchor(disk, Locator("symbol", node.path, node.qual), _nowhere)
            except NotFound:
                return "gone"
            except PolicyDenied:
                return "gated"
            as_read = disk.file_freshness(row) is Freshness.fresh
        if not item.span_hash:
            return Placed(item, node, anchor) if as_indexed and as_read else "unknown_code"
        return Placed(item, node, anchor) if item.span_hash == anchor.span_hash else "changed"

    def record(
        self, placed: Sequence[Placed], annotator: str, ignored: Counter[str], **context: Any
    ) -> tuple[Done, tuple[int, ...]]:
        """Record what is placed, in one commit, or in none when all of it is known. Raises as ``Mesh.writing``."""
        fit = [one for one in placed if self._may_be_kept(one.advice, ignored)]
        done = Done([], [])

        def change(w: Writer) -> Done:
            for one in fit:
                self._one(w, one, annotator, done)
            return done

        if not fit:
            return done, ()
        self._beliefs.mesh.refuse_secret(annotator)
        effect = self._beliefs.mesh.apply(VERB, change, by=f"{EXTRACTOR}:{annotator}", **context)
        return done, effect.events

    def _may_be_kept(self, advice: Advice, ignored: Counter[str]) -> bool:
        texts = (advice.purpose, *(text for name in LISTS for text in getattr(advice, name)))
        try:
            self._beliefs.mesh.refuse_secret(*texts)
        except PolicyDenied:
            ignored["credential"] += 1
            return False
        return True

    def _one(self, w: Writer, one: Placed, annotator: str, done: Done) -> None:
        versions = _versions(w.mesh, one.node.locator)
        said = {**one.advice.said, "locator": one.node.locator, "annotator": annotator}
        last = versions[-1] if versions else ""
        if last and _counts(w.mesh, last) and _same(w.mesh, last, said, one.anchor):
            done.unchanged.append(one.node.locator)
            return
        id = _id(w.mesh, one.node.locator, len(versions))
        source = w.source(f"semantic annotations by {annotator}", origin=f"{ORIGIN}{annotator}", kind="run")
        label = one.advice.purpose or "; ".join(text for name in LISTS for text in getattr(one.advice, name))
        w.claim(
            label, source=source, kind=ADVISORY, extractor=EXTRACTOR, attrs={SAID: said, "trust": "advisory"}, id=id
        )
        w.about(id, one.anchor, one.node)
        done.applied.append(one.node.locator)
        if last and w.mesh.retired(last) is None:
            w.supersede(last, id, reason="annotated again", by=f"{EXTRACTOR}:{annotator}")
            done.replaced += 1

    # reading

    def of(self, locators: Collection[str] = ()) -> tuple[Annotation, ...]:
        """Annotations that count, of these symbols or of all, by locator; each held against the disk."""
        mesh, wanted = self._beliefs.mesh, frozenset(locators)
        with mesh.locked():
            rows = [row for row in _recorded(mesh) if not wanted or row[1].anchor.locator in wanted]
        with self._beliefs.looking() as disk:
            made = [_annotation(mesh.repo, node, anchored, disk) for node, anchored in rows]
        return tuple(sorted(made, key=lambda one: (one.locator, one.record)))

    def all_recorded(self) -> Iterator[Annotation]:
        """Every annotation that counts, by node and record, as recorded: nothing is looked up on the disk."""
        mesh = self._beliefs.mesh
        with mesh.locked():
            rows = list(_recorded(mesh))
        yield from sorted(
            (_annotation(mesh.repo, *row, None) for row in rows), key=lambda one: (one.node_id, one.record)
        )


def _id(mesh: Mesh, locator: str, ordinal: int) -> str:
    return ids.node_uid(mesh.repo, "claim", ADVISORY, "", locator, ordinal).hex()


def _versions(mesh: Mesh, locator: str) -> list[str]:
    """Ids of what was said of a symbol, oldest first."""
    found: list[str] = []
    while (id := _id(mesh, locator, len(found))) in mesh.tables.nodes:
        found.append(id)
    return found


def _counts(mesh: Mesh, id: str) -> bool:
    return mesh.stands(id) and mesh.retired(id) is None


def _same(mesh: Mesh, id: str, said: Mapping[str, Any], anchor: Anchor) -> bool:
    old = mesh.tables.nodes[id].attrs.get(SAID)
    anchors = mesh.tables.anchored.get(id, {}).values()
    return thaw(old) == said and any(one.anchor.span_hash == anchor.span_hash for one in anchors)


def _recorded(mesh: Mesh) -> Iterator[tuple[GraphNode, Anchored]]:
    for anchored in mesh.anchors():
        node = mesh.tables.nodes.get(anchored.node)
        if (
            node is not None
            and node.kind == ADVISORY
            and isinstance(node.attrs.get(SAID), Mapping)
            and _counts(mesh, node.id)
        ):
            yield node, anchored


def _annotation(repo: str, node: GraphNode, anchored: Anchored, disk: freshness.Disk | None) -> Annotation:
    """A record as it is served. What stands in it was checked when it was written; a ledger from elsewhere may hold anything."""
    said: Mapping[str, Any] = node.attrs[SAID]
    state = drift.judge(disk, anchored, _nowhere) if disk is not None else None
    risk, confidence = said.get("risk_level"), said.get("confidence")
    return Annotation(
        _code_id(repo, anchored.anchor), anchored.anchor.locator, node.id, str(said.get("purpose", "")),
        _texts(said.get("domain_concepts")), _texts(said.get("side_effects")), _texts(said.get("invariants")),
        risk if isinstance(risk, str) and risk in RISKS else "unknown", _texts(said.get("test_targets")),
        float(confidence) if isinstance(confidence, (int, float)) and 0 <= confidence <= 1 else 0.0,
        str(said.get("annotator", "")), state.freshness if state else Freshness.unknown, state.reason if state else "",
        anchored.anchor.span_hash,
    )  # fmt: skip


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value[:8]) if isinstance(value, (list, tuple)) else ()


def _code_id(repo: str, anchor: Anchor) -> str:
    """The id that a symbol has in an index of this repository; it needs none."""
    place = parse_locator(anchor.locator)
    return ids.node_uid(repo, "symbol", anchor.kind, place.path, place.name).hex()


def _nowhere() -> tuple[str, ...]:
    """Where code that is not in its place is looked for: advice does not follow code that moves."""
    return ()
