"""Pane 9: what agents asked and were told, newest first; a replay says what differs now.

Who calls: the registry of ``panes``; the home screen for ``F``. What may not come in: the toolkit, how a call is drawn
(``traffic_rows.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from mog.app import plain_traffic as told
from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui.panes.base import Content, Host, waiting
from mog.app.tui.rows import Reason, Sheet, Thing, teach
from mog.app.tui.traffic_rows import Known, Replayed, Story, Things, client_rows, number_in
from mog.engine import model as m
from mog.engine.errors import MogError
from mog.widgets.view import Cell

if TYPE_CHECKING:
    from mog.app.tui.port import Desk, Record
    from mog.engine.traffic import Call, Total

PAGE, LOOKED_AT, HELD = 60, 80, 300
ROOMY = 20
RECENT = 60.0  # seconds in which an agent counts as at work
TEACHES = (
    "No agent has asked yet.",
    "In a project of yours, once:  claude mcp add mog -- mog serve --mcp",
    "mog mcp install does it for Claude Code, Codex, Cursor, VS Code, Zed and Gemini CLI. Each question stands here as it is asked.",
)


@dataclass(frozen=True, slots=True)
class Read:
    """One look at the record: numbers, the calls that were wanted, sums, and how what they walked is now."""

    numbers: Sequence[int]
    calls: Sequence[Call]
    totals: Sequence[Total]
    now: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, Any] = field(default_factory=dict)
    trouble: str = ""
    span: tuple[int, int] = (0, 0)


class Traffic(Content):
    """Attributes: known: what the rows are made of, ``None`` until it is here. client: whose calls are shown, "" for everybody's.

    led: told each new call while somebody follows the agent. clock: wall time in seconds.
    """

    name, digit, title = "traffic", "9", "Asked"
    foot = (("enter", "unfold"), ("r", "replay"), ("w", "graph"), ("v", "client"), ("F", "follow"), ("m", "full"))
    wakes = frozenset({"traffic", "index", "beliefs"})
    words_from = 9

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.known: Known | None = None
        self.client = ""
        self.trouble = ""
        self.led: Callable[[Call], None] | None = None
        self.clock: Callable[[], float] = time.time
        self._wanted: set[int] = set()
        self._story: Story | None = None

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        known, seen = self.known or Known(), self._in_view()
        asked = partial(_read, self.host.desk, self.client, known, seen)
        self.host.start("traffic", asked, partial(self._got, self.client))

    def _in_view(self) -> tuple[int, ...]:
        """Numbers of the calls that were drawn last: what became of them is looked at again."""
        seen = sorted(self._story.seen, reverse=True)[:LOOKED_AT] if self._story else ()
        return tuple(seen)

    def _missing(self, number: int) -> None:
        """A call came into view that is not here."""
        self._wanted.add(number)
        if not self.host.busy("traffic.page"):
            self._turn_page()

    def _turn_page(self) -> None:
        wanted, self._wanted = tuple(sorted(self._wanted, reverse=True)[: 4 * PAGE]), set()
        known = self.known
        if known is None or not wanted:
            return
        around = _around(known.numbers, wanted)
        fresh = tuple(number for number in around if number not in known.calls)
        self.host.start("traffic.page", partial(_page, self.host.desk, fresh), self._got_page)

    def _got(self, client: str, read: Read) -> None:
        if client != self.client:
            return
        before = self.known.numbers[:1] if self.known else ()
        new = [number for number in read.numbers if not before or number > before[0]] if self.known else []
        self._take(read)
        assert self.known is not None
        self.known = replace(self.known, numbers=read.numbers, totals=read.totals, client=self.client, span=read.span)
        self.trouble = read.trouble
        self._draw()
        if self.led is not None and new and new[0] in self.known.calls:
            self.led(self.known.calls[new[0]])

    def _got_page(self, read: Read) -> None:
        self._take(read)
        self._draw()

    def _take(self, read: Read) -> None:
        known = self.known or Known()
        calls = _kept(
            {**known.calls, **{call.seq: call for call in read.calls}}, known, [call.seq for call in read.calls]
        )
        self.known = replace(known, calls=calls, now={**known.now, **read.now}, named={**known.named, **read.named})

    def _draw(self) -> None:
        self.host.draw("traffic")
        self.host.draw_top()

    # -- drawing -------------------------------------------------------------------------------------------------------

    def fills(self) -> bool:
        return bool(self.known and self.known.numbers)

    def room(self, width: int, lines: int) -> tuple[int, int]:
        return width, int(lines >= ROOMY)

    def sheet(self, width: int, lines: int) -> Sheet:
        known = self.known
        if known is None:
            return waiting("Reading what agents asked.", width)
        if not known.numbers:
            words = (clean(self.trouble), *TEACHES[1:]) if self.trouble else TEACHES
            return Sheet(teach(*words, width=width - 4), title_right="none yet")
        if not lines:  # as text: what is here, and how many more there are
            known = replace(known, numbers=[number for number in known.numbers if number in known.calls])
        head = client_rows(known.totals, width) if (lines >= ROOMY or not lines) and width >= 50 else ()
        self._story = Story(known, width, self._missing, head=head)
        return Sheet(self._story, Things(known), self._note(width), self._sums(width))

    def _note(self, width: int) -> str:
        whose = f"of {clean(self.client)}" if self.client else ""
        return "  ".join(
            part for part in (whose, "followed" if self.led else "", self.trouble and "not all can be read") if part
        )

    def _sums(self, width: int) -> str:
        assert self.known is not None
        totals = [one for one in self.known.totals if not self.client or one.client == self.client]
        calls = plural(len(self.known.numbers), "call")
        if width < 50:
            return calls
        return f"{calls}  {sum(one.failed for one in totals):,} failed  {sum(one.tokens for one in totals):,} tok"

    def glance(self, step: int) -> list[Cell]:
        if not self.known or not self.known.numbers:
            return []
        seconds = self.seconds_ago()
        recent = seconds is not None and seconds < RECENT
        ago = "?" if seconds is None else told.age(seconds)
        word = f"{ago}{' ago' if ago not in ('now', '?') and step < 1 else ''}"
        return [Cell("agent "), Cell("● " if recent else "· ", "standing" if recent else "muted", True), Cell(word)]

    def newest(self) -> Call | None:
        """The last call, as far as it is here."""
        return self.known.calls.get(self.known.numbers[0]) if self.known and self.known.numbers else None

    def seconds_ago(self) -> float | None:
        """How long ago the last call was, ``None`` where that is not known."""
        newest = self.newest()
        if newest is None:
            return None
        try:
            return max(0.0, self.clock() - datetime.fromisoformat(newest.at).timestamp())
        except (ValueError, OverflowError, OSError):
            return None

    # -- rows ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        if key.startswith("call:"):
            self._turn(number_in(key))
        elif thing is None:
            self.host.say("enter: it is no longer there, nor in the index")
        else:
            super().opened(thing, key)

    def _turn(self, number: int) -> None:
        if self.known is None or number not in self.known.calls:
            self.host.say("enter: this call is being read")
            return
        self.known = replace(self.known, open=self.known.open ^ {number})
        self._draw()

    def back(self) -> bool:
        if self.known is None or not self.known.open:
            return False
        self.known = replace(self.known, open=frozenset())
        self._draw()
        return True

    def _call(self) -> Call | None:
        row = self.host.row
        return self.known.calls.get(number_in(row.key)) if self.known and row is not None else None

    # -- keys ----------------------------------------------------------------------------------------------------------

    def act_left(self) -> None:
        """Fold."""
        self._fold(False)

    def act_right(self) -> None:
        """Unfold."""
        self._fold(True)

    def _fold(self, wanted: bool) -> None:
        call = self._call()
        if call is None or self.known is None:
            self.host.say("no call on this row")
        elif (call.seq in self.known.open) != wanted:
            self._turn(call.seq)

    def act_redo(self) -> None:
        """Ask it again, now, and show what differs."""
        call, agents = self._call(), self.host.agents
        if call is None:
            self.host.say("r: no call on this row")
        elif agents is None:
            self.host.say("r: a replay needs the workbench that serves agents")
        elif self.host.busy("replay"):
            self.host.say("r: a replay is under way")
        else:
            self.host.say("asking again …")
            asked = partial(_replay, self.host.desk, agents.replay, call)
            self.host.start("replay", asked, partial(self._replayed, call.seq), partial(self._not_replayed, call.seq))

    def _replayed(self, number: int, found: tuple[Call, Read]) -> None:
        call, read = found
        self._take(read)
        self._keep(number, Replayed(call))
        self.host.say("asked again: what differs stands below the call")

    def _not_replayed(self, number: int, error: BaseException) -> bool:
        if not isinstance(error, MogError):
            return False
        self._keep(number, Replayed(None, str(error)))
        self.host.say(f"r: {error}")
        return True

    def _keep(self, number: int, replayed: Replayed) -> None:
        known = self.known
        if known is not None:
            self.known = replace(known, replays={**known.replays, number: replayed}, open=known.open | {number})
            self._draw()

    def act_zoom(self) -> None:
        """What this call walked, in order, in the layers of the graph."""
        call = self._call()
        if call is None or not call.path:
            self.host.say("z: nothing was walked on this row")
        else:
            self.host.content("graph").see_path(call.path)

    def act_why(self) -> None:
        """The first thing this call walked, in the graph or where beliefs are explained."""
        call, known = self._call(), self.known
        named = [known.named[target] for target in call.path if target in known.named] if call and known else []
        if not named:
            self.host.say("w: nothing that it walked is there any more" if call else "w: no call on this row")
            return
        node = next((one for one in named if isinstance(one, m.Node)), None)
        first = named[0]
        super().opened(node if node is not None else Reason(first.id, first.type, first.label), "")

    def act_filter(self) -> None:
        """The calls of one client after the other, then of all again."""
        clients = ["", *sorted({one.client for one in self.known.totals} - {""})] if self.known else [""]
        if len(clients) < 3:
            self.host.say("v: one client asked all of it")
            return
        at = clients.index(self.client) if self.client in clients else 0
        self.client = clients[(at + 1) % len(clients)]
        self.host.say(f"calls of {self.client or 'everybody'}")
        self.ask()


def _kept(calls: dict[int, Call], known: Known, new: Sequence[int]) -> dict[int, Call]:
    """Not more calls than a few screens: those that are unfolded, the newest, and those nearest to what just came."""
    if len(calls) <= HELD:
        return calls
    middle = new[len(new) // 2] if new else max(calls)
    near = sorted(calls, key=lambda number: (number not in known.open, abs(number - middle)))[: HELD - PAGE]
    return {number: calls[number] for number in {*near, *sorted(calls, reverse=True)[:PAGE]}}


# -- on a thread


def _read(desk: Desk, client: str, known: Known, seen: Sequence[int]) -> Read:
    """What is new in the record, and how what is in view stands now."""
    record = desk.traffic
    span, numbers, totals = _counted(record, client, known)
    first = numbers[:PAGE]
    calls = record.calls([number for number in first if number not in known.calls])
    looked = record.calls(list(dict.fromkeys([*first, *seen]))[: PAGE + LOOKED_AT])
    read = _looked_up(desk, looked)
    return replace(read, numbers=numbers, calls=calls, totals=totals, trouble=record.trouble, span=span)


def _counted(record: Record, client: str, known: Known) -> tuple[tuple[int, int], Sequence[int], Sequence[Total]]:
    """Numbers and sums. Where only new calls came since the last look, only those are counted."""
    span = record.span()
    if span[0] != known.span[0] or client != known.client or span[1] < known.span[1]:
        numbers = record.numbers(client)
        return span, [one for one in numbers if one <= span[1]], record.totals(upto=span[1])
    new = [one for one in record.numbers(client, after=known.span[1]) if one <= span[1]]
    return span, [*new, *known.numbers], _added(known.totals, record.totals(after=known.span[1], upto=span[1]))


def _added(totals: Sequence[Total], more: Sequence[Total]) -> Sequence[Total]:
    sums = {(one.client, one.tool): one for one in totals}
    for one in more:
        old = sums.get((one.client, one.tool))
        if old is not None:
            calls, failed = old.calls + one.calls, old.failed + one.failed
            one = replace(one, calls=calls, failed=failed, tokens=old.tokens + one.tokens, ms=old.ms + one.ms)
        sums[one.client, one.tool] = one
    return tuple(sums.values())


def _page(desk: Desk, numbers: Sequence[int]) -> Read:
    return _looked_up(desk, desk.traffic.calls(numbers))


def _replay(desk: Desk, replay: Callable[[Call], Call], call: Call) -> tuple[Call, Read]:
    again = replay(call)
    return again, replace(_looked_up(desk, (again, call)), calls=())


def _looked_up(desk: Desk, calls: Sequence[Call]) -> Read:
    targets = tuple(dict.fromkeys(target for call in calls for target in call.path))
    return Read((), calls, (), dict(zip(targets, desk.marks(targets), strict=True)), desk.named(targets))


def _around(numbers: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...]:
    """The wanted calls and their neighbours, so that a step down needs no other look."""
    low, high = min(wanted) - PAGE // 2, max(wanted) + PAGE // 2
    return tuple(number for number in numbers if low <= number <= high)[: 6 * PAGE]
