"""``mog ask``: a question, answered by a path through what is known, or by the reason why there is none."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError


def ask(
    *question: Annotated[str, Parameter(help="A question in words.")],
    common: Common = COMMON,
) -> int:
    """Answer a question with the path that leads to the answer. Exits 1 at a dead end, which is named."""
    words = " ".join(question).strip()
    if not words:
        raise UsageError("a question needs words", way_out="mog ask WORDS")
    with door.opened(common) as workspace:
        walk = workspace.beliefs.ask(words)
        beliefs.show(walk, common, beliefs.Named(workspace.beliefs))
    return exit_codes.OK if walk.resolved else exit_codes.NOTHING
