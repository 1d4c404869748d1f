"""What a person or an agent can say to the mesh, one commit each. Called by ``workspace`` for every surface.

What lives here: the checks that a surface would otherwise repeat (credentials, who may judge, dependants of what is
replaced). What may not come in: logic of standing, files, auditors that run something, text for people.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mog.engine.errors import UsageError
from mog.engine.model import Anchor, Node
from mog.engine.reason import ops
from mog.engine.reason.mesh import Effect, Mesh
from mog.engine.reason.radius import Radius
from mog.engine.reason.writer import Writer

PERSON = "person"
Anchors = Sequence[tuple[Anchor, Node | None]]
"""Code as it is now, with the index's node of it where that is known."""


def assume(mesh: Mesh, statement: str, *, kind: str = "ground", anchors: Anchors = (), by: str = PERSON) -> Effect:
    """Take something as true. Found again when it stands; a new version when it was rejected before."""
    mesh.refuse_secret(statement)

    def change(w: Writer) -> str:
        return _anchored(w, w.assume(statement, kind=kind), anchors)

    return mesh.apply("assumed", change, by=by)


def claim(
    mesh: Mesh, statement: str, *, source: str = "", kind: str = "statement", grounds: Sequence[Collection[str]] = (),
    anchors: Anchors = (), by: str = PERSON,
) -> Effect:  # fmt: skip
    """State something. Each of ``grounds`` is a reason; without any, that the source, or whoever says it, says so is one."""
    mesh.refuse_secret(statement)

    def change(w: Writer) -> str:
        grounded = bool(source) or not any(grounds)
        id = w.claim(statement, source=source or said_by(w, by), kind=kind, extractor=by, grounded=grounded)
        for premises in grounds:
            w.ground(id, premises, origin=by)
        return _anchored(w, id, anchors)

    return mesh.apply("claimed", change, by=by)


def decide(
    mesh: Mesh, title: str, rationale: str, *, source: str = "", key: str = "", claims: Collection[str] = (),
    assumptions: Collection[str] = (), decisions: Collection[str] = (), produces: Collection[str] = (),
    supersedes: str = "", move: Collection[str] = (), anchors: Anchors = (), by: str = PERSON,
) -> Effect:  # fmt: skip
    """Record a decision with what it rests on. Replacing another retires it; ``move`` names dependants that follow."""
    mesh.refuse_secret(title, rationale)

    def change(w: Writer) -> str:
        id = w.decide(
            title, rationale, source=source or said_by(w, by), key=key, claims=claims, assumptions=assumptions,
            decisions=decisions, produces=produces,
        )  # fmt: skip
        if supersedes and not w.mesh.retired(supersedes):
            w.supersede(supersedes, id, move=move, by=by)
        return _anchored(w, id, anchors)

    return mesh.apply("decided", change, by=by)


def evidence(
    mesh: Mesh, text: str, *, kind: str = "observation", source: str = "", key: str = "", contradicts: Collection[str] = (),
    supports: Collection[str] = (), anchors: Anchors = (), attrs: Mapping[str, Any] | None = None, by: str = PERSON,
) -> Effect:  # fmt: skip
    """Record an observation. To say what it contradicts is no verdict: that is an auditor's (GRAPH.md rule 7)."""
    mesh.refuse_secret(text, key)

    def change(w: Writer) -> str:
        id = w.evidence(text, kind=kind, source=source, key=key, attrs={**(attrs or {}), "by": by})
        for target in sorted(set(contradicts)):
            w.edge("contradicts", id, target)
        for target in sorted(set(supports)):
            w.edge("supports", id, target)
        return _anchored(w, id, anchors)

    return mesh.apply("observed", change, by=by)


def ground(
    mesh: Mesh,
    conclusion: str,
    all_of: Collection[str],
    none_of: Collection[str] = (),
    *,
    note: str = "",
    by: str = PERSON,
) -> Effect:
    """Give one more reason for a conclusion."""
    mesh.refuse_secret(note)
    return mesh.apply("grounded", lambda w: w.ground(conclusion, all_of, none_of, note=note, origin=by), by=by)


def judge(mesh: Mesh, evidence_id: str, target: str, verdict: str, *, auditor: str, reason: str) -> Effect:
    """Record what an auditor found. A verdict needs a reason.

    Raises: UsageError: no reason, or evidence that does not count. And as ``Mesh.writing``.
    """
    _check_reason(reason)
    return mesh.apply(
        "judged", lambda w: w.judge(evidence_id, target, verdict, auditor=auditor, reason=reason), auditor=auditor
    )


def reject(mesh: Mesh, target: str, *, evidence: str, auditor: str, reason: str) -> Effect:
    """Judge that evidence contradicts a belief; ``evidence`` is the id of a record, or words to record in the same commit."""
    _check_reason(reason)
    mesh.refuse_secret(evidence, reason)

    def change(w: Writer) -> str:
        found = evidence if evidence in w.mesh.tables.nodes else w.evidence(evidence, attrs={"by": auditor})
        w.judge(found, target, "contradicts", auditor=auditor, reason=reason)
        return found

    return mesh.apply("judged", change, auditor=auditor)


def reject_preview(mesh: Mesh, target: str) -> Radius:
    """What would fall if ``target`` were contradicted, as ``judge`` would do it; nothing is recorded."""
    return mesh.preview(lambda w: contradict(w, (target,)))


def contradict(w: Writer, targets: Collection[str]) -> None:
    """Have ``targets`` contradicted together in an open commit that is taken back: a preview. Raises NotFound."""
    seen = ""
    for target in targets:
        if w.mesh.graph.node(target).type in ("source", "decision", "evidence", "entity"):
            w.retire(target, "retracted", reason="preview")
        else:
            seen = seen or w.evidence("preview")
            w.judge(seen, target, "contradicts", auditor=PERSON, reason="preview")


def retract(mesh: Mesh, id: str, *, reason: str, by: str = PERSON) -> Effect:
    """Take back a claim, source, decision or entity that should not have been recorded. It stays in the history."""
    _check_reason(reason)
    mesh.refuse_secret(reason)
    if mesh.graph.node(id).type == "assumption":
        way_out = "give evidence and judge it, or supersede it (GRAPH.md rule 7)"
        raise UsageError("an assumption is rejected by evidence, not by decree", where=id, way_out=way_out)
    return mesh.apply("retracted", lambda w: w.retire(id, "retracted", reason=reason, by=by), by=by)


def withdraw(mesh: Mesh, id: str, *, reason: str, by: str = PERSON) -> Effect:
    """Take back evidence, or undo a retraction or retirement: labels return to what they would have been."""
    _check_reason(reason)
    mesh.refuse_secret(reason)
    retired = mesh.retired(id)
    if retired is None and mesh.graph.node(id).type != "evidence":
        way_out = "withdraw evidence, or retract a claim, source or decision"
        raise UsageError("only evidence and retirements are withdrawn", where=id, way_out=way_out)

    def change(w: Writer) -> str:
        if retired is None:
            w.retire(id, "withdrawn", reason=reason, by=by)
        else:
            w.restore(id)
        return id

    return mesh.apply("withdrawn", change, by=by, reason=reason)


def supersede(
    mesh: Mesh, old: str, new: str, *, move: Collection[str] = (), drop: Collection[str] = (), everything: str = "",
    reason: str = "", by: str = PERSON,
) -> Effect:  # fmt: skip
    """Replace ``old`` by ``new``: the id of a record, or the words of an assumption or claim to make.

    Every node that rests on ``old`` has to be named in ``move`` (it rests on ``new`` from now on) or in ``drop`` (it keeps
    dead ground and falls); ``everything`` is ``move`` or ``drop`` for all that are not named.

    Raises: UsageError: a dependant is not named; the message lists them. And as ``Mesh.writing``.
    """
    mesh.refuse_secret(new, reason)
    node = mesh.graph.node(old)

    def change(w: Writer) -> str:
        resting = {d.node for d in w.dependants(old)}
        unnamed = sorted(resting - set(move) - set(drop))
        if unnamed and everything not in ("move", "drop"):
            way_out = f"move or drop each: {', '.join(unnamed[:8])}{' …' if len(unnamed) > 8 else ''}"
            resting_on = "1 node rests" if len(unnamed) == 1 else f"{len(unnamed)} nodes rest"
            raise UsageError(f"{resting_on} on what is replaced", where=old, way_out=way_out)
        moving = set(move) | (set(unnamed) if everything == "move" else set())
        id = new if new in w.mesh.tables.nodes else _successor(w, node.type, node.kind, new, by)
        w.supersede(old, id, move=moving, reason=reason, by=by)
        return id

    return mesh.apply("superseded", change, by=by, reason=reason)


def _successor(w: Writer, type: str, kind: str, words: str, by: str) -> str:
    if type == "assumption":
        return w.assume(words, kind=kind)
    if type == "claim":
        return w.claim(words, source=said_by(w, by), kind=kind, extractor=by)
    what = f"a {type} is superseded by a record that exists"
    raise UsageError(what, where=words[:60], way_out="record it first, then name its id")


def said_by(w: Writer, who: str) -> str:
    """The source for what somebody says directly: one for each of person, agent, auditor."""
    return w.source(f"said by {who}", origin=f"said:{who}", kind="episode")


def _anchored(w: Writer, id: str, anchors: Anchors) -> str:
    for anchor, code in anchors:
        w.about(id, anchor, code)
    return id


def _check_reason(reason: str) -> None:
    if not ops.text(reason).strip():
        raise UsageError("a reason is missing", way_out="say why: --reason TEXT")
