"""``mog supersede``, ``retract``, ``withdraw``: what becomes of a record that no longer counts. Nothing is deleted."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.options import COMMON, Common, Reason, Target
from mog.engine.errors import UsageError

Records = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]


def supersede(
    old: Target,
    new: Annotated[str, Parameter(help="The record that replaces it, or the words of a new assumption or claim.")],
    /,
    *,
    move: Annotated[Records, Parameter(help="What rests on the old one and rests on the new one from now on.")] = (),
    drop: Annotated[Records, Parameter(help="What rests on the old one and shall fall with it.")] = (),
    rest: Annotated[
        Literal["", "move", "drop"],
        Parameter(name="--all", show_default=False, help="What becomes of all that are not named: move or drop."),
    ] = "",
    reason: Reason = "",
    common: Common = COMMON,
) -> int:
    """Replace a record by another. Each record that rests on the old one is moved or dropped; none is left over."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        found = beliefs.one(known, old)
        effect = known.supersede(
            found,
            beliefs.one_or_words(known, new),
            move=beliefs.several(known, move),
            drop=beliefs.several(known, drop),
            everything=rest,
            reason=reason,
        )
        beliefs.recorded(known, effect, common, target=found)
    return exit_codes.OK


def retract(target: Target, /, *, reason: Reason = "", common: Common = COMMON) -> int:
    """Take back a claim, source, decision or entity that should not have been recorded. It stays in the history."""
    return _gone("retract", target, reason, common)


def withdraw(target: Target, /, *, reason: Reason = "", common: Common = COMMON) -> int:
    """Take back evidence, or a retraction: everything stands again as if it had never been said."""
    return _gone("withdraw", target, reason, common)


def _gone(verb: str, target: str, reason: str, common: Common) -> int:
    if not reason.strip():
        raise UsageError("a reason is missing", where="--reason", way_out=f"mog {verb} TARGET --reason TEXT")
    with door.opened(common) as workspace:
        known = workspace.beliefs
        found = beliefs.one(known, target)
        effect = getattr(known, verb)(found, reason=reason)
        beliefs.recorded(known, effect, common, target=found)
    return exit_codes.OK
