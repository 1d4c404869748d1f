"""``mog allow``: the word without which no command of a repository runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError

if TYPE_CHECKING:
    from mog.engine.policy.trust import Waiting


def allow(
    name: Annotated[str, Parameter(show_default=False, help="The command to allow, as the list names it.")] = "",
    /,
    *,
    every: Annotated[
        bool, Parameter(name="--all", negative="", show_default=False, help="Allow all that wait, as they are now.")
    ] = False,
    revoke: Annotated[bool, Parameter(negative="", show_default=False, help="Take the word for NAME back.")] = False,
    common: Common = COMMON,
) -> int:
    """List the commands of this repository that wait for your word, or give it. A changed command waits again."""
    if every and (name or revoke):
        raise UsageError("--all stands alone", where="--all", way_out="mog allow --all, or mog allow NAME")
    if revoke and not name:
        raise UsageError("which word is taken back?", where="--revoke", way_out="mog allow NAME --revoke")
    with door.opened(common) as workspace:
        known = workspace.beliefs
        if revoke:
            count = known.revoke(name)
            beliefs.document({"revoked": name, "words": count}, [((_revoked(name, count), ""),)], common)
            return exit_codes.OK
        waiting = known.waiting()
        wanted = [one for one in waiting if every or one.name == name]
        # what was listed is what is allowed: a file that changed in between is refused
        given = [known.allow(one.name, one.digest) for one in wanted]
        if name and not wanted:
            known.allow(name)
    _shown([one for one in given if one], [one for one in waiting if one not in wanted], common)
    return exit_codes.OK


def _revoked(name: str, count: int) -> str:
    return f"taken back: {name} waits again" if count else f"no word was given for {name}"


def _shown(given: list[Waiting], left: list[Waiting], common: Common) -> None:
    from mog.app import plain_beliefs, present_beliefs

    document = {"allowed": [present_beliefs.waiting(one) for one in given]}
    document |= {"waiting": [present_beliefs.waiting(one) for one in left]}
    beliefs.document(document, plain_beliefs.words_given(given, left, output.glyphs()), common)
