"""``mog invalidate``: what would fall if something were not so; with evidence and a judgement, what falls."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.options import COMMON, Common, Limit, Reason, Target
from mog.engine.errors import UsageError


def invalidate(
    target: Target,
    /,
    *,
    evidence: Annotated[
        str, Parameter(show_default=False, help="Evidence against it: an id, or words that are recorded as evidence.")
    ] = "",
    judge: Annotated[
        Literal["", "contradicts"], Parameter(show_default=False, help="Your verdict: the evidence contradicts it.")
    ] = "",
    reason: Reason = "",
    preserved: Annotated[
        bool, Parameter(negative="", show_default=False, help="List what is not touched, too.")
    ] = False,
    after: Annotated[
        str, Parameter(show_default=False, help="Begin the list of what is not touched after this id.")
    ] = "",
    limit: Limit = 100,
    common: Common = COMMON,
) -> int:
    """Show what would fall, weaken or survive if this were not so. Writes only with --evidence, --judge and --reason."""
    _whole(evidence, judge, reason)
    with door.opened(common) as workspace:
        known = workspace.beliefs
        found = beliefs.one(known, target)
        page = beliefs.Page(preserved or bool(after), after, limit)
        preview = known.invalidate(found)
        told: dict[str, Any] = {"target": found, "page": page, "firm": beliefs.firm(known, preview)}
        if judge:
            effect = known.reject(found, evidence=beliefs.one_or_words(known, evidence), reason=reason)
            beliefs.recorded(known, effect, common, **told)
        else:
            beliefs.moved(known, preview, common, **told)
    return exit_codes.OK


def _whole(evidence: str, judge: str, reason: str) -> None:
    """A rejection needs all three; a part of it is a slip, not a preview."""
    given = {"--evidence": evidence, "--judge": judge, "--reason": reason.strip()}
    missing = [name for name, value in given.items() if not value]
    if 0 < len(missing) < len(given):
        way_out = "a verdict needs --evidence TEXT --judge contradicts --reason TEXT; without all three it is a preview"
        raise UsageError(f"{' and '.join(missing)} missing", where=missing[0], way_out=way_out)
