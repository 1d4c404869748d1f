"""``mog ws``: what an agent session was served, what it costs, what was evicted, and how it comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.options import COMMON, Common, Limit
from mog.app.plain import Line
from mog.app.present import meant, restore
from mog.engine.errors import NotFound, UsageError

if TYPE_CHECKING:
    from mog.engine.memory.working_set import WorkingSet, WorkingSets

HELP = "Show and change the working set of an agent session: what it was served, what was evicted, how it comes back."
ws = App(name="ws", help=HELP, result_action="return_value")

Session = Annotated[str, Parameter(name=["--session", "-s"], show_default=False, help="Session (default: the one used last).")]
Thing = Annotated[str, Parameter(help="ws_…, its beginning, or the id of what was served.")]
_MARK = re.compile(r"(\d{1,9})\s*(%?)")


@ws.default
def default(*, session: Session = "", explain: bool = False, limit: Limit = 40, common: Common = COMMON) -> int:
    """Show what is held, as `mog ws show`."""
    return show(session=session, explain=explain, limit=limit, common=common)


@ws.command
def show(
    *,
    session: Session = "",
    explain: Annotated[bool, Parameter(negative="", show_default=False, help="With the parts of each score.")] = False,
    limit: Limit = 40,
    common: Common = COMMON,
) -> int:
    """Show what is held: a gauge, each thing with its cost, its score and why it stays, the latest stubs."""
    from mog.app import plain_ws, present_ws

    with _set(common, session) as found:
        state = found.state()
    _told(present_ws.state(state), plain_ws.state(state, output.glyphs(), explain=explain, limit=limit), common)
    return exit_codes.OK if state.turn else exit_codes.NOTHING


@ws.command
def sessions(*, common: Common = COMMON) -> int:
    """List the sessions, the last used first."""
    from mog.app import plain_ws, present_ws

    with _sets(common) as sets:
        found = sets.sessions()
    beliefs.document(present_ws.sessions(found), plain_ws.sessions(found), common)
    return exit_codes.OK if found else exit_codes.NOTHING


@ws.command
def stubs(*, session: Session = "", common: Common = COMMON) -> int:
    """List what stands for the evicted, the latest first."""
    from mog.app import plain_ws, present_ws

    with _set(common, session) as found:
        listed = found.stubs()
    _told(present_ws.stubs(found.name, listed), plain_ws.stubs(listed), common)
    return exit_codes.OK if listed else exit_codes.NOTHING


@ws.command
def recall(thing: Thing, /, *, session: Session = "", common: Common = COMMON) -> int:
    """Print a thing as it was served, also after its file changed, and hold it again. Exits 6 when it is gated by now."""
    from mog.app import plain_ws, present_ws

    with _set(common, session, thing) as found:
        back = meant(found.recall, thing)
    if common.json:
        output.document(present_ws.recalled(back))
    else:
        output.lines(plain_ws.recalled(back), common)
    return exit_codes.OK


@ws.command
def evict(
    *,
    to: Annotated[str, Parameter(show_default=False, help="Down to so many tokens, or a share of the window (45%).")] = "",
    session: Session = "",
    common: Common = COMMON,
) -> int:
    """Evict now, the lowest score per token first; what is never evicted stays."""
    from mog.app import plain_ws, present_ws

    with _set(common, session) as found:
        done = found.evict(_mark(to, found.state().budget.window))
    _told(present_ws.turned(done), plain_ws.turned(done), common)
    return exit_codes.OK


@ws.command
def pin(thing: Thing, /, *, session: Session = "", common: Common = COMMON) -> int:
    """Keep a held thing in the set, whatever its score."""
    return _pinned(thing, session, common, on=True)


@ws.command
def unpin(thing: Thing, /, *, session: Session = "", common: Common = COMMON) -> int:
    """Let the score of a thing decide again."""
    return _pinned(thing, session, common, on=False)


@ws.command
def clear(
    session: Annotated[str, Parameter(show_default=False, help="Session to forget.")] = "",
    /,
    *,
    all_: Annotated[bool, Parameter(name="--all", negative="", show_default=False, help="Forget every session.")] = False,
    common: Common = COMMON,
) -> int:
    """Forget a session and the bytes kept for its stubs."""
    if bool(session) is all_:
        raise UsageError("name one session, or say --all", where="mog ws clear", way_out="`mog ws sessions` lists them")
    with _sets(common) as sets:
        names = [row.name for row in sets.sessions()] if all_ else [session]
        for name in names:
            meant(sets.clear, name)
    if common.json:
        output.document({"cleared": names})
    elif not common.quiet:
        output.lines((((f"forgotten: {name}", ""),) for name in names), common)
    return exit_codes.OK


def _pinned(thing: str, session: str, common: Common, *, on: bool) -> int:
    from mog.app import plain_ws, present_ws

    with _set(common, session, thing) as found:
        entry = meant(found.pin if on else found.unpin, thing)
    if common.json:
        output.document(present_ws.entry(entry))
    elif not common.quiet:
        output.lines(plain_ws.pinned(entry), common)
    return exit_codes.OK


@contextmanager
def _sets(common: Common) -> Iterator[WorkingSets]:
    with door.opened(common) as workspace:
        yield workspace.working_sets


@contextmanager
def _set(common: Common, session: str, thing: str = "") -> Iterator[WorkingSet]:
    """The set that is meant: by name, by a ref that only it has, or the one used last. Raises NotFound."""
    with _sets(common) as sets:
        name = restore(session) or (sets.owner(thing) if thing.startswith("ws_") else sets.latest())
        if not name:
            way_out = "`mog search WORDS --session NAME` begins one"
            raise NotFound("nothing was served to any session yet", way_out=way_out)
        yield sets.session(name)


def _mark(written: str, window: int) -> int | None:
    """Tokens of ``45%`` (of the window) or ``3000``; None for nothing. Raises UsageError."""
    if not written:
        return None
    found = _MARK.fullmatch(written.strip())
    if found is None or (found[2] and int(found[1]) > 100):
        raise UsageError(f"no mark: {written!r:.40}", where="--to", way_out="write tokens, or a share of the window: --to 45%")
    return window * int(found[1]) // 100 if found[2] else int(found[1])


def _told(value: Mapping[str, Any], rows: Iterable[Line], common: Common) -> None:
    """A JSON object or lines, none of them folded: a stub is one line wherever it is shown."""
    if common.json:
        output.document(value)
    else:
        output.lines(rows, common)
