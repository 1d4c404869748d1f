"""What would turn a dead end into an answer: an alias, an edge, something brought back, or words of a person. Called by ``beliefs``.

What may not come in: guesses that are recorded unasked. A proposal is shown first and recorded when somebody says so; each is
one commit that ``undo`` takes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mog.engine.errors import UsageError
from mog.engine.reason.dead_ends import Reason

if TYPE_CHECKING:  # what only shows proposals loads no mesh
    from mog.engine.reason.mesh import Effect, Mesh
    from mog.engine.reason.walker import Walker
    from mog.engine.reason.walks import Walk
    from mog.engine.reason.writer import Writer

ALIAS, EDGE, RESTORE, ANSWER = "alias", "edge", "restore", "answer"
MAX_ALIASES = 2
MAX_EDGES = 3
_LINKS = {"claim": "mentions", "decision": "about"}
_BACK = ("pruned", "retracted")


@dataclass(frozen=True, slots=True)
class Mend:
    """One proposal.

    Attributes:
        kind: ``alias`` (``name`` means ``target``), ``edge`` (``source`` says something about ``target``, an edge of the type
            ``edge``), ``restore`` (``target`` counts again), ``answer`` (a claim in the words of whoever is asked).
        target: an entity, or what is to be brought back; "" for an answer to a question that names nothing known.
        name: the name as it was asked. score: how like it is to the entity's, 0..1.
    """

    kind: str
    target: str = ""
    name: str = ""
    source: str = ""
    edge: str = ""
    score: float = 0.0


def proposals(mesh: Mesh, walker: Walker, walk: Walk) -> tuple[Mend, ...]:
    """What might be missing, most likely first; nothing for a walk that was answered. An answer in words can always be given."""
    if walk.dead_end is None:
        return ()
    with mesh.locked():
        found: list[Mend] = []
        if walk.dead_end is Reason.entity_unresolved:
            found += _aliases(walk)
        if walk.dead_end is Reason.no_typed_edge:
            found += _edges(mesh, walker, walk)
        if walk.dead_end is Reason.pruned_too_early and walk.blocker:
            retired = mesh.retired(walk.blocker)
            found += [Mend(RESTORE, walk.blocker)] if retired is not None and retired.how in _BACK else []
        about = next((seed.node for seed in walk.seeds if seed.type == "entity"), "")
        named = next((one.mention for one in walk.resolutions if one.entity is None), "")
        return (*found, Mend(ANSWER, about, "" if about else named))


def _aliases(walk: Walk) -> list[Mend]:
    missed = [one for one in walk.resolutions if one.entity is None and one.near]
    return [Mend(ALIAS, one.near[0].entity, one.mention, score=one.near[0].score) for one in missed[:MAX_ALIASES]]


def _edges(mesh: Mesh, walker: Walker, walk: Walk) -> list[Mend]:
    """From the claims and decisions that share most words with the question to the first entity it names."""
    entity = next((seed.node for seed in walk.seeds if seed.type == "entity"), "")
    if not entity:
        return []
    found = []
    for id in walker.alike(walk.question):
        node = mesh.graph.node(id)
        edge = _LINKS[node.type]
        if not any(one.dst == entity for one in mesh.graph.out_edges(id, tuple(_LINKS.values()))):
            found.append(Mend(EDGE, entity, source=id, edge=edge))
    return found[:MAX_EDGES]


def mend(mesh: Mesh, proposal: Mend, words: str = "", *, by: str) -> Effect:
    """Record a proposal.

    Args:
        words: of the claim of an ``answer``; for ``restore`` the reason, if there is one to give.

    Raises:
        UsageError: an answer without words. PolicyDenied: words shaped like a credential. And as ``Mesh.writing``.
    """
    mesh.refuse_secret(words)
    if proposal.kind == ALIAS:
        from mog.engine.reason import terms

        normal = terms.normal(proposal.name)
        return mesh.apply("aliased", lambda w: w.alias(normal, proposal.target), by=by, name=proposal.name)
    if proposal.kind == EDGE:
        return mesh.apply("linked", lambda w: w.edge(proposal.edge, proposal.source, proposal.target), by=by)
    if proposal.kind == RESTORE:
        return mesh.apply("withdrawn", lambda w: w.restore(proposal.target), by=by, reason=words)
    if not words.strip():
        raise UsageError("an answer needs words", way_out="say what answers the question")
    return mesh.apply("claimed", lambda w: _answer(w, proposal, words, by), by=by)


def _answer(w: Writer, proposal: Mend, words: str, by: str) -> str:
    from mog.engine.reason.commands import said_by

    claim = w.claim(words, source=said_by(w, by), extractor=by)
    entity = proposal.target or (w.entity(proposal.name) if proposal.name else "")
    if entity:
        w.edge("mentions", claim, entity)
    return claim
