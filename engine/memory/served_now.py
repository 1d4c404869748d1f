"""What became of served things since: the same thing rendered now, at the same zoom, held against the bytes that were served.

Who calls: ``workspace`` makes a judge for ``WorkingSets``. What may not come in: the store of served things, verdicts about
beliefs. Exact and one-sided: a thing is said to be fresh only when what would be served now is what was served, but for which
commits wrote the lines of a whole file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Protocol

from mog.engine.errors import IndexMissing, MogError, NotFound, UsageError
from mog.engine.ids import locator, parse_locator
from mog.engine.memory.records import Note
from mog.engine.memory.set_records import Judge, Now, Served
from mog.engine.model import Freshness
from mog.engine.reason.records import Label
from mog.engine.retrieval.model import Rendered, Zoom

NOTE, ADVICE = "note:", "annotation:"
_MARK = re.compile(r"^(?:[0-9a-f]{8} [0-9-]{10}| {19}) ", re.MULTILINE)
_AROUND = re.compile(r"\n# (?:called by|calls):\n")
_DIFFED = 4_000  # lines; a longer text is said to differ and not by how much


class Advised(Protocol):
    """What is asked of an annotation here."""

    @property
    def freshness(self) -> Freshness: ...
    @property
    def reason(self) -> str: ...
    @property
    def stale(self) -> bool: ...


def judge(
    render: Callable[[str, Zoom], Rendered], notes: Callable[[str], Note] | None = None,
    advice: Callable[[str], Advised | None] | None = None,
) -> Judge:  # fmt: skip
    """A judge for a workspace.

    Args:
        render: one thing as it would be served now (``Context.text``). notes: a note by its id (``Notes.recall``).
        advice: an annotation by its id, None when it no longer counts.
    """

    def one(served: Served) -> Now:
        if served.entry.id.startswith(ADVICE):
            return _advice(served, advice)
        return _note(served, notes) if served.entry.id.startswith(NOTE) else _code(served, render)

    def judged(served: Sequence[Served]) -> Mapping[str, Now]:
        return {each.entry.ref: one(each) for each in served}

    return judged


def _advice(served: Served, advice: Callable[[str], Advised | None] | None) -> Now:
    if advice is None:
        return Now()
    found = advice(served.entry.id)
    if found is None:
        return Now(Freshness.missing, "it was replaced or taken back")
    return Now(found.freshness, found.reason) if found.stale else Now(Freshness.fresh)


def _code(served: Served, render: Callable[[str, Zoom], Rendered]) -> Now:
    entry = served.entry
    try:
        found = render(entry.id, entry.zoom)
    except NotFound:
        return _missing(entry.id, render)
    except UsageError:
        return Now(Freshness.unknown, "its name now means several things")
    except IndexMissing:
        return Now()
    except MogError as error:
        return Now(Freshness.unknown, f"it could not be looked at ({error.what})")
    if found.gated:
        return Now(Freshness.gated, "it is gated")
    if found.freshness is Freshness.missing:
        return Now(Freshness.missing, "; ".join(found.warnings) or "it is gone")
    return compared(served.text, found.text, entry.zoom)


def _missing(id: str, render: Callable[[str, Zoom], Rendered]) -> Now:
    """Of what is no longer there: a file that is gated as a whole keeps no symbols, and its bytes are withheld all the same."""
    try:
        gated = render(locator("file", parse_locator(id).path, ""), Zoom.L0).gated
    except MogError:
        gated = False
    return Now(Freshness.gated, "it is gated") if gated else Now(Freshness.missing, "it is no longer in the index")


def compared(then: str, now: str, zoom: Zoom) -> Now:
    """Two renderings at one zoom: fresh, or drifted and by how much."""
    if then == now or (zoom is Zoom.L3 and _MARK.sub("", then) == _MARK.sub("", now)):
        return Now(Freshness.fresh)
    if zoom is Zoom.L2 and _AROUND.split(then, maxsplit=1)[0] == _AROUND.split(now, maxsplit=1)[0]:
        return Now(Freshness.drifted, "what is listed with it (callers, callees) changed")
    return Now(Freshness.drifted, f"it changed ({_difference(then, now)})")


def _difference(then: str, now: str) -> str:
    old, new = then.splitlines(), now.splitlines()
    if len(old) + len(new) > _DIFFED:
        return f"{_lines(len(old))} then, {_lines(len(new))} now"
    same = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
    gone, come = len(old) - same, len(new) - same
    return f"{_lines(gone)} went, {_lines(come)} came" if gone + come else "in how lines end"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _note(served: Served, notes: Callable[[str], Note] | None) -> Now:
    if notes is None:
        return Now()
    try:
        found = notes(served.entry.id)
    except (NotFound, UsageError):
        return Now(Freshness.missing, "it is no longer remembered", active=False)
    if found.gone:
        return Now(Freshness.missing, f"it was {found.gone}" + (f": {found.why}" if found.why else ""), active=False)
    told = [f"it is {found.standing.value}"] if found.standing in (Label.fallen, Label.contested) else []
    told += ["the code it is about changed"] if found.stale else []
    return Now(found.freshness, ", ".join(told), active=found.standing is not Label.fallen)
