"""Pane 4: drift, what is pinned or believed about code that is no longer as it was, and who judged what that means.

Who calls: the registry of ``panes``. What may not come in: the toolkit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from mog.app.tui import drift_asks
from mog.app.tui.drift_asks import Account, Audited, Held, Place
from mog.app.tui.panes.base import Content, Prompt
from mog.app.tui.rows import Reason, Sheet, Thing, place_in
from mog.engine import model as m
from mog.widgets.view import Cell

if TYPE_CHECKING:
    from mog.engine.reason.bridge import Receipt

MARKED = ((m.Freshness.drifted, "±", "stale"), (m.Freshness.moved, "→", "stale"), (m.Freshness.missing, "¬", "fallen"))
VERDICTS = {"holds": "holds", "hold": "holds", "refuted": "contradicts", "contradicts": "contradicts"}


class Drift(Content):
    """Attributes: account: pins and anchored beliefs and how they stand, ``None`` until somebody has looked."""

    name, digit, title = "drift", "4", "Drift"
    foot = (("enter", "open"), ("a", "audit"), ("r", "verify"), ("w", "why"), ("p", "unpin"), ("o", "editor"))
    wakes = frozenset({"index", "pins", "beliefs"})
    why_not: ClassVar[Mapping[str, str]] = {
        "take_out": "p takes a pin out; evidence goes by itself when the code is as it was"
    }
    account: Account | None = None

    def ask(self) -> None:
        self.host.start("drift", self.host.desk.pins, self._got_pins)

    def _got_pins(self, pins: tuple[m.PinState, ...]) -> None:
        """Pins are here at once; what is believed may have to be loaded first."""
        self.got(Account(pins, self._places()))
        self.host.start("held", partial(drift_asks.places, self.host.desk), self._got_places)

    def _got_places(self, places: tuple[Place, ...]) -> None:
        account = Account(self.account.pins if self.account else (), places)
        if account != self.account:
            self.got(account)

    def got(self, account: Account) -> None:
        self.account = account
        self.host.draw("drift", flash=True)
        self.host.draw_top()

    def sheet(self, width: int, lines: int) -> Sheet:
        from mog.app.tui import drift_rows

        return drift_rows.drift_sheet(self.account, width, roomy=lines >= 12 or not lines)

    def glance(self, step: int) -> list[Cell]:
        cells: list[Cell] = []
        for freshness, glyph, role in MARKED:
            count = "?" if self.account is None else f"{self.account.count(freshness):,}"
            word = " drifted" if step < 2 and freshness is m.Freshness.drifted else ""
            cells += [Cell(f"{glyph} ", role, True), Cell(f"{count}{word}"), Cell("  " if step < 2 else " ")]
        return cells[:-1]

    def file_at(self, thing: Thing | None) -> tuple[str, int]:
        if isinstance(thing, Reason):
            thing = next((place for place in self._places() for one in place.held if one.node.id == thing.id), None)
        if isinstance(thing, Place):
            return place_in(thing.now_at or thing.locator).path, thing.line
        if not isinstance(thing, m.PinState):
            return super().file_at(thing)
        place = place_in(thing.now_at or thing.pin.anchor.locator)
        return place.path, thing.lines[0] if thing.lines else 0

    def target_at(self, thing: Thing | None) -> str:
        if isinstance(thing, Place):
            return thing.locator
        return thing.pin.anchor.locator if isinstance(thing, m.PinState) else super().target_at(thing)

    def _places(self) -> tuple[Place, ...]:
        return self.account.places if self.account else ()

    # -- keys ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        if isinstance(thing, Place):
            self.host.focus_on(thing.now_at or thing.locator)
        else:
            super().opened(thing, key)

    def act_redo(self) -> None:
        """Compare everything with the disk again, and record what that means for drift evidence."""
        if self.host.busy("verify"):
            self.host.say("r: comparing already")
        else:
            self.host.start("verify", partial(drift_asks.verified, self.host.desk), self._verified)

    def _verified(self, answer: tuple[Account, m.VerifyReport]) -> None:
        self.got(answer[0])
        self.host.content("graph").ask()
        fresh, total = answer[0].count(m.Freshness.fresh), answer[0].total
        self.host.say(f"{total:,} compared with the disk: {fresh:,} fresh, {total - fresh:,} not")

    def act_go_ahead(self) -> None:
        """Audit: have auditors that may run judge what drifted here; what stays open is the person's to judge."""
        wanted = [one for one in self._here() if one.open]
        if not wanted:
            self.host.say("a: nothing on this row drifted and waits for a verdict")
        elif self.host.busy("audit"):
            self.host.say("a: auditing already")
        else:
            targets = {one.node.id for one in wanted}
            call = partial(drift_asks.audit, self.host.desk, sorted(targets))
            self.host.start("audit", call, partial(self._audited, targets))

    def _here(self) -> Sequence[Held]:
        """The beliefs that the row at the cursor is about."""
        from mog.app.tui import drift_rows

        thing, row = self.host.thing, self.host.row
        if isinstance(thing, Place):
            return thing.held
        one = drift_rows.held_at(self.account).get(row.key) if row else None
        return (one,) if one else ()

    def _audited(self, targets: set[str], audited: Audited) -> None:
        self.got(audited.account)
        report = audited.report
        said = [f"{receipt.auditor}: {_verdict(receipt)}" for receipt in report.receipts if receipt.target in targets]
        said += [f"{waiting.name} waits: mog allow {waiting.name}" for waiting in report.waiting]
        left = [one for one in self._open(audited.account) if one.node.id in targets]
        if left:
            self._ask_person(left[0], "; ".join(said))
        else:
            self.host.say("; ".join(said) or "a: nothing is open any more, the code is as it was recorded")

    def _open(self, account: Account) -> Sequence[Held]:
        return [one for place in account.places for one in place.held if one.open and one.evidence]

    def _ask_person(self, held: Held, said: str) -> None:
        """Nobody else judged it: the person at the keyboard is an auditor too."""
        from mog.app.tui import reason_rows

        def done(text: str) -> None:
            word, _, reason = text.strip().partition(" ")
            verdict = VERDICTS.get(word.strip(":,").lower())
            if verdict is None or not reason.strip():
                self.host.say("a: left open; a verdict is “holds WHY” or “refuted WHY”")
                return
            call = partial(drift_asks.judge, self.host.desk, held, verdict, reason.strip())
            self.host.start("judge", call, self._judged)

        name = f"{reason_rows.chip_of(held.node.type)} {reason_rows.clip(held.node.label, 36)}"
        hint = "holds WHY, or refuted WHY; esc leaves it open" + (f"  ({said})" if said else "")
        self.host.prompt(Prompt(f"{name}:", hint, done))

    def _judged(self, receipt: Receipt) -> None:
        self.ask()
        self.host.say(f"{_verdict(receipt)}; mog ledger undo {receipt.events[-1]} takes it back")


def _verdict(receipt: Receipt) -> str:
    """``refuted, × 4 ▼ 1``."""
    if receipt.verdict != "contradicts":
        return "holds"
    falls, weakens = len(receipt.radius.falls), len(receipt.radius.weakens)
    return f"refuted: × {falls:,} {'falls' if falls == 1 else 'fall'}  ▼ {weakens:,} {'weakens' if weakens == 1 else 'weaken'}"
