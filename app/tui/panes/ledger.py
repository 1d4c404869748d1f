"""Pane 7: the events that everything believed is made of, newest first, read as they come into view.

Who calls: the registry of ``panes``. What may not come in: the toolkit.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from mog.app.tui import ledger_asks
from mog.app.tui.ledger_asks import Kinds
from mog.app.tui.panes.base import Content, Host, waiting
from mog.app.tui.rows import Sheet, Thing
from mog.engine.errors import NotFound

if TYPE_CHECKING:
    from mog.app.tui.ledger_asks import Entry, Whole
    from mog.engine.attest import LedgerReport

PAGE = 64
KEPT = 4_096


class Ledger(Content):
    """Attributes: head: number of the last event, None until somebody has looked. kind: events of that kind alone, "" for all. one: the
    event that is shown whole, None for the list. report: what the last check found."""

    name, digit, title = "ledger", "7", "Ledger"
    foot = (("enter", "whole"), ("r", "verify"), ("v", "kind"), ("w", "why"), ("y", "copy"), ("m", "full"))
    wakes = frozenset({"beliefs", "pins"})
    why_not: ClassVar[Mapping[str, str]] = {"undo": "mog ledger undo takes an event back, with a reason"}

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.head: int | None = None
        self.kind = ""
        self.one: Whole | None = None
        self.report: LedgerReport | None = None
        self._kinds = Kinds()
        self._seqs: dict[str, array[int]] = {}
        self._entries: dict[int, Entry] = {}
        self._missing: set[int] = set()

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        self.host.start("ledger", partial(ledger_asks.head, self.host.desk), self.got)
        if self.kind:
            self._ask_kinds()

    def got(self, head: int) -> None:
        if self.head is not None and head < self.head:
            self._entries.clear()  # another ledger stands there now
        self.head = head
        self.host.draw("ledger")

    def _entry(self, seq: int, index: int) -> Entry | None:
        """An event that was read, else None: then those around it are read too, and drawn when they are here."""
        if seq not in self._entries:
            self._missing |= set(self._around(index))
            self.host.start("ledger-page", self._read, self._got_page)
        return self._entries.get(seq)

    def _around(self, index: int) -> Sequence[int]:
        """Numbers of the events near a line of the list, newest first."""
        seqs = self._shown()
        end = len(seqs) - max(0, index - PAGE // 2)
        return [seq for seq in seqs[max(0, end - PAGE) : end] if seq not in self._entries]

    def _read(self) -> tuple[Entry, ...]:
        """Everything that is wanted by now, the latest wishes first where there are many (on a worker thread)."""
        wanted, self._missing = self._missing, set()
        return ledger_asks.entries(self.host.desk, wanted if len(wanted) <= KEPT // 2 else sorted(wanted)[-KEPT // 2 :])

    def _got_page(self, entries: tuple[Entry, ...]) -> None:
        for entry in entries:
            self._entries[entry.seq] = entry
        while len(self._entries) > KEPT:
            del self._entries[next(iter(self._entries))]
        self.host.draw("ledger")

    def _shown(self) -> Sequence[int]:
        """Numbers of the events in the list, oldest first."""
        return self._seqs.get(self.kind, array("q")) if self.kind else range(1, (self.head or 0) + 1)

    # -- drawing -------------------------------------------------------------------------------------------------------

    def sheet(self, width: int, lines: int) -> Sheet:
        if self.head is None:
            return waiting("Looking at the ledger.", width)
        from mog.app.tui import ledger_rows

        if self.one is not None:
            return ledger_rows.whole_sheet(self.one, width)
        source = ledger_rows.Events(self._shown(), self._entry, width)
        verdict = ledger_rows.verdict_cells(self.report, self.head)
        return ledger_rows.ledger_sheet(source, width, self.kind, self.head, verdict, everything=not lines)

    def room(self, width: int, lines: int) -> tuple[int, int]:
        return width, 1

    # -- keys ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        if isinstance(thing, int) and self.one is None:
            self._open(thing)
        else:
            self.host.say("enter: this event is shown whole; esc goes back to the list")

    def back(self) -> bool:
        if self.one is not None:
            seq, self.one = self.one.entry.seq, None
            self.host.draw("ledger", cursor=f"event:{seq}")
            return True
        if self.kind:
            self.kind = ""
            self.host.draw("ledger")
            return True
        return False

    def narrow(self, text: str) -> bool:
        number = text.replace(",", "")
        if not (number.isascii() and number.isdecimal()) or len(number) > 18:
            return False
        if self.head is not None and not 0 < int(number) <= self.head:
            self.host.say(f"ledger: no event {int(number):,}; it has {self.head:,}")
        else:
            self._to(int(number))
        return True

    def _to(self, seq: int) -> None:
        def there(head: int) -> None:
            self.got(head)
            self.one, self.kind = None, ""
            self.host.draw("ledger", cursor=f"event:{seq}")
            if not 0 < seq <= head:
                self.host.say(f"ledger: no event {seq:,}; it has {head:,}")

        self.host.start("ledger", partial(ledger_asks.head, self.host.desk), there)

    def act_inspect(self) -> None:
        """The event whole, its hash and its proof."""
        thing = self.host.thing
        if isinstance(thing, int):
            self._open(thing)
        else:
            self.host.say("i: no event on this row")

    def _open(self, seq: int) -> None:
        def found(one: Whole) -> None:
            self.one = one
            self.host.draw("ledger", cursor="")

        def failed(error: BaseException) -> bool:
            if isinstance(error, NotFound):
                self.host.say(f"enter: {error}")
                return True
            return False

        self.host.start("ledger-event", partial(ledger_asks.whole, self.host.desk, seq), found, failed)

    def act_filter(self) -> None:
        """Events of the next kind alone."""
        if self.one is not None:
            self.host.say("v: esc goes back to the list first")
        elif self.host.busy("ledger-kinds"):
            self.host.say("v: reading every event once for its kind, go on meanwhile")
        else:
            if not self._seqs and (self.head or 0) > KEPT:
                self.host.say("v: reading every event once for its kind, go on meanwhile")
            self._ask_kinds(step=1)

    def _ask_kinds(self, step: int = 0) -> None:
        def known(seqs: dict[str, array[int]]) -> None:
            self._seqs = seqs
            order = ["", *seqs]
            at = order.index(self.kind) if self.kind in order else 0
            self.kind = order[(at + step) % len(order)]
            self.host.draw("ledger", cursor="" if step else None)
            if step:
                count = len(seqs[self.kind]) if self.kind else self.head or 0
                self.host.say(f"{self.kind or 'every kind'}: {count:,} events; v goes on, esc shows all")

        self.host.start("ledger-kinds", partial(self._kinds.look, self.host.desk), known)

    def act_redo(self) -> None:
        """Hold the whole ledger against itself, its checkpoint and its witness."""
        if self.host.busy("ledger-verify"):
            self.host.say("r: verifying already")
            return

        def checked(report: LedgerReport | None) -> None:
            from mog.app.tui import ledger_rows

            self.report = report
            self.host.draw("ledger")
            self.host.say(ledger_rows.report_words(report) if report else "r: nothing is recorded, nothing to verify")

        self.host.say("verifying every event")
        self.host.start("ledger-verify", partial(ledger_asks.verify, self.host.desk), checked)

    def target_at(self, thing: Thing | None) -> str:
        entry = self._entries.get(thing) if isinstance(thing, int) else None
        return entry.about.id if entry is not None and entry.about is not None else ""
