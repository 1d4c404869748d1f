"""``mog assume``, ``claim``, ``decide``, ``evidence``: what a person records, one commit each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.options import COMMON, About, Common
from mog.engine.errors import NotFound

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs

Records = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
ClaimKind = Literal["statement", "convention", "task", "risk", "annotation", "proposal"]
EvidenceKind = Literal["observation", "failure", "correction", "audit"]
Words = Annotated[str, Parameter(help="One sentence.")]
From = Annotated[str, Parameter(name="--source", show_default=False, help="The source it comes from (default: you).")]
Key = Annotated[
    str, Parameter(show_default=False, help="Its name in the system it came from; the same key is recorded once.")
]


def assume(
    statement: Words,
    /,
    *,
    kind: Annotated[Literal["ground", "constraint"], Parameter(help="What sort of assumption.")] = "ground",
    about: About = (),
    common: Common = COMMON,
) -> int:
    """Take something as true, so that what rests on it falls when it turns out false."""
    with door.opened(common) as workspace:
        effect = workspace.beliefs.assume(statement, kind=kind, about=about)
        beliefs.recorded(workspace.beliefs, effect, common)
    return exit_codes.OK


def claim(
    statement: Words,
    /,
    *,
    source: From = "",
    kind: Annotated[ClaimKind, Parameter(help="What sort of claim.")] = "statement",
    rests_on: Annotated[
        Records, Parameter(help="A ground: records that must all stand, with commas between. Again for another ground.")
    ] = (),
    about: About = (),
    common: Common = COMMON,
) -> int:
    """State something, or give one more reason for what was stated before: by its id or words, with --rests-on."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        grounds = [beliefs.together(known, ground) for ground in rests_on]
        before = _stated(known, statement)
        if before and len(grounds) == 1 and not (source or about):
            effect = known.ground(before, grounds[0])
        else:
            said = beliefs.one(known, source) if source else ""
            effect = known.claim(statement, source=said, kind=kind, rests_on=grounds, about=about)
        beliefs.recorded(known, effect, common, result=before)
    return exit_codes.OK


def _stated(known: Beliefs, statement: str) -> str:
    """The claim or decision that is meant by its id or words, "" when there is none yet."""
    try:
        found = beliefs.one(known, statement)
    except NotFound:
        return ""
    return found if known.mesh.graph.node(found).type in ("claim", "decision") else ""


def decide(
    title: Words,
    /,
    *,
    because: Annotated[str, Parameter(name=["--because", "--rationale"], help="Why it was decided so.")],
    source: From = "",
    key: Key = "",
    rests_on: Annotated[Records, Parameter(help="Claims, assumptions and decisions it rests on; all must stand.")] = (),
    produces: Annotated[Records, Parameter(help="Entities and sources it brings into being.")] = (),
    supersedes: Annotated[str, Parameter(show_default=False, help="The decision it replaces.")] = "",
    move: Annotated[Records, Parameter(help="What rests on the old one and rests on this one from now on.")] = (),
    about: About = (),
    common: Common = COMMON,
) -> int:
    """Record a decision, with its reason and what it rests on."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        effect = known.decide(
            title,
            because,
            source=beliefs.one(known, source) if source else "",
            key=key,
            rests_on=beliefs.several(known, rests_on),
            produces=beliefs.several(known, produces),
            supersedes=beliefs.one(known, supersedes) if supersedes else "",
            move=beliefs.several(known, move),
            about=about,
        )
        beliefs.recorded(known, effect, common)
    return exit_codes.OK


def evidence(
    text: Words,
    /,
    *,
    kind: Annotated[EvidenceKind, Parameter(help="What sort of evidence.")] = "observation",
    source: From = "",
    key: Key = "",
    contradicts: Annotated[Records, Parameter(help="Claims and assumptions it speaks against.")] = (),
    supports: Annotated[Records, Parameter(help="Claims and decisions it speaks for.")] = (),
    about: About = (),
    common: Common = COMMON,
) -> int:
    """Record an observation. What it contradicts is contested until an auditor judges it; nothing falls by this."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        effect = known.evidence(
            text,
            kind=kind,
            source=beliefs.one(known, source) if source else "",
            key=key,
            contradicts=beliefs.several(known, contradicts),
            supports=beliefs.several(known, supports),
            about=about,
        )
        beliefs.recorded(known, effect, common)
    return exit_codes.OK
