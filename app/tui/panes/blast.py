"""Pane 6: the blast radius of the row at >, and breaking it: pick, preview, evidence, verdict, done.

Who calls: the registry of ``panes``; keys of other panes reach it through ``elsewhere``. What may not come in: the toolkit, rows
(``blast_rows``, ``break_rows``), a write before Apply.

It follows the cursor of the other panes while it is in view. ``b`` holds it and brings it into the middle. A newer question
replaces one that waits; an answer to an older one is dropped, and the numbers before it stay, marked ``…``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from mog.app.tui import blast_rows, break_rows
from mog.app.tui.blast_rows import Aim, Told, View
from mog.app.tui.break_rows import Breaking
from mog.app.tui.panes.base import Content, Host, Prompt
from mog.app.tui.previews import Things, aim_of, look, offers, same
from mog.app.tui.rows import Reason, Sheet, Thing, teach
from mog.engine.errors import IndexMissing, NotFound
from mog.widgets.view import BLANK

if TYPE_CHECKING:
    from mog.engine.breaks import Done, Judge, Offer

JUDGED = ("assumption", "claim", "decision")
"""Types that evidence is judged against; others are withdrawn or retracted."""


class Blast(Content):
    """Attributes: told: the last answer. aim: what is asked about now. held: it does not follow. breaking: the break at hand.

    marked: the preview to compare with. before: what was looked at before enter went further.
    """

    name, digit, title = "blast", "6", "Blast radius"
    steady = 11
    foot = (("a", "apply"), ("c", "compare"), ("enter", "go on"), ("e", "reason"), ("u", "undo"), ("esc", "back"))
    wakes = frozenset({"beliefs", "index"})
    why_not: ClassVar[dict[str, str]] = {
        "undo": "nothing was applied here; a goes on to evidence",
        "undo_undo": "nothing was taken back",
        "evidence": "no break at hand; b begins one",
        "go_ahead": "nothing is picked; b on a belief begins",
    }

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.told: Told | None = None
        self.aim: Aim | None = None
        self.held = False
        self.breaking: Breaking | None = None
        self.marked: Told | None = None
        self.before: list[Aim] = []
        self.opened_sections: frozenset[str] = frozenset()
        self.cursor = ""
        self.width = 0
        self.lost = ""
        self.impatient = False

    # -- asking --------------------------------------------------------------------------------------------------------

    def followed(self, thing: Thing | None, target: str) -> bool:
        aim = aim_of(thing, target)
        if self.held or aim is None or (self.aim is not None and aim.target == self.aim.target):
            return False
        self.aim, self.opened_sections, self.lost = aim, frozenset(), ""
        return True

    def ask(self) -> None:
        aim, breaking = self.aim, self.breaking
        if aim is None or (breaking is not None and breaking.done is not None and breaking.undone is None):
            return
        call = partial(look, self.host.desk, aim)
        self.host.start("blast", call, partial(self.got, aim.target), partial(self._lost, aim.target))
        self.host.draw("blast")

    def got(self, target: str, told: Told) -> None:
        """An answer; one to a question that was replaced is dropped."""
        if self.aim is None or self.aim.target != target:
            return
        self.told, self.lost = told, ""
        self.host.draw("blast", cursor="aim" if self.held and self.cursor == "" else None)
        if self.impatient:
            self.impatient = False
            self.act_go_ahead()

    def _lost(self, target: str, error: BaseException) -> bool:
        if not isinstance(error, NotFound | IndexMissing):
            return False
        if self.aim is not None and self.aim.target == target:
            self.lost = "it is not recorded, or no longer in the index"
            self.host.draw("blast")
        return True

    @property
    def late(self) -> bool:
        """Whether what is shown is about another row than the one in question."""
        aim, told = self.aim, self.told
        return aim is not None and not self.lost and (told is None or told.aim.target != aim.target)

    # -- drawing -------------------------------------------------------------------------------------------------------

    def room(self, width: int, lines: int) -> tuple[int, int]:
        return width, lines

    def sheet(self, width: int, lines: int) -> Sheet:
        self.width = width
        view = View(width, lines, self.opened_sections, self.cursor, self.late)
        self.title = "Would fall" if view.stacked else "Break" if self.breaking else "Blast radius"
        if self.told is None:
            return Sheet(teach(*self._empty_words(), width=min(64, width - 4)), title_right="…" if self.late else "")
        source = blast_rows.radius_source(self.told, view, self._extra(width))
        note = "" if view.stacked or self.breaking else "preview, nothing is written"
        return Sheet(source, Things(self.told), note, self._right(view))

    def _right(self, view: View) -> str:
        if self.late:
            return "…"
        if self.lost:
            return "gone"
        if view.stacked:
            return "held, esc in 6" if self.held else "if > broke"
        took = self.told.took_ms if self.told else 0.0
        return f"{took:.0f} ms" if took >= 1 else ""

    def _empty_words(self) -> tuple[str, ...]:
        if self.late:
            return ("Working out what would fall.", "It follows the row at >.")
        how = "Put > on any node and press b. A belief shows what would fall with it, code what is believed about it."
        return ("Nothing picked.", how)

    def _extra(self, width: int) -> list[Any]:
        rows: list[Any] = []
        breaking, told = self.breaking, self.told
        if breaking is not None and told is not None:
            rows += [break_rows.strip(breaking, width)]
            rows += break_rows.evidence_rows(breaking) if breaking.step == "evidence" else []
            rows += break_rows.verdict_rows(breaking, told) if breaking.step == "verdict" else []
            rows += break_rows.done_rows(breaking, told, width)
            rows += [break_rows.dry(breaking), BLANK]
        if self.marked is not None and told is not None and self.marked.aim.target != told.aim.target:
            rows += blast_rows.compare_rows(self.marked, told)
        return rows

    # -- rows ----------------------------------------------------------------------------------------------------------

    def moved(self, thing: Thing | None, key: str) -> None:
        self.cursor = key
        if self.width >= blast_rows.WIDE:
            self.host.draw("blast")

    def opened(self, thing: Thing | None, key: str) -> None:
        kind, _, rest = key.partition(":")
        if kind == "more":
            self._open(rest, True)
        elif kind == "head":
            self._open(rest, rest not in self.opened_sections)
        elif kind == "offer" and self.breaking and self.breaking.offers:
            self._choose(self.breaking.offers[int(rest)])
        elif kind in ("new", "back", "verdict", "reason", "task", "aim"):
            self._enter(kind, rest)
        elif isinstance(thing, Reason) and not self.breaking_now:
            self._further(thing)
        else:
            self.host.say("enter: a break is under way; esc steps back, then enter goes on from here")

    @property
    def breaking_now(self) -> bool:
        """Whether a step past the preview is at hand."""
        return self.breaking is not None and self.breaking.step != "preview"

    def _enter(self, kind: str, rest: str) -> None:
        if kind == "new":
            self.host.prompt(
                Prompt("what was seen:", "in your words; it is recorded when you apply, esc leaves", self._write)
            )
        elif kind == "verdict":
            self._apply(rest)
        elif kind == "reason":
            self.act_evidence()
        elif kind == "task":
            self.host.show("work")
        elif kind == "back":
            self.back()
        elif self.breaking_now:
            self.host.say("enter: this is what the break is about")
        elif self.aim is not None and self.aim.code is not None:
            self.host.focus_on(self.aim.code.id)
        else:
            self.act_go_ahead()

    def _open(self, section: str, wanted: bool) -> None:
        self.opened_sections = self.opened_sections | {section} if wanted else self.opened_sections - {section}
        self.host.draw("blast")

    def _further(self, thing: Reason) -> None:
        """What would fall if this one broke, instead."""
        if self.aim is not None:
            self.before.append(self.aim)
        self.held, self.cursor = True, ""
        self._aim_at(Aim(thing.id, reason=thing))

    def _aim_at(self, aim: Aim) -> None:
        self.aim, self.opened_sections, self.lost = aim, frozenset(), ""
        self.ask()

    def back(self) -> bool:
        breaking = self.breaking
        if breaking is not None and breaking.step == "verdict":
            breaking.step, breaking.reason = "evidence", ""
        elif breaking is not None and breaking.step in ("evidence", "done"):
            self._end_step()
        elif self.before:
            self._aim_at(self.before.pop())
            return True
        elif self.marked is not None:
            self.marked = None
        else:
            self.breaking, self.held = None, False
            return False
        self.host.draw("blast")
        return True

    def _end_step(self) -> None:
        self.breaking = Breaking()
        self.ask()

    def file_at(self, thing: Thing | None) -> tuple[str, int]:
        return super().file_at(self.aim.code if thing is None and self.aim else thing)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def elsewhere(self, action: str, thing: Thing | None, target: str) -> bool:
        aim = aim_of(thing, target)
        if action in ("undo", "undo_undo"):
            self._back_or_on(action)
        elif aim is None:
            return False
        elif action == "compare":
            self._compare_with(aim)
        else:
            self._begin(aim)
        return True

    def act_break_it(self) -> None:
        """Hold what is shown, or take the row at > in its place, and bring it into the middle."""
        aim = aim_of(self.host.thing, self.target_at(self.host.thing)) or self.aim
        if aim is None:
            self.host.say("b: nothing is picked; put > on a belief or on code")
        else:
            self._begin(aim)

    def _begin(self, aim: Aim) -> None:
        if self.breaking is None or self.breaking.done is None:
            self.marked = None
        self.held, self.breaking, self.before, self.cursor = True, Breaking(), [], ""
        self.host.show("blast", centre=True)
        self._aim_at(aim)

    def act_compare(self) -> None:
        """Mark what is shown, to compare the next with; on another row: compare with that."""
        thing = self.host.thing
        aim = aim_of(thing, self.target_at(thing))
        if aim is not None and self.told is not None and aim.target != self.told.aim.target:
            self._compare_with(aim)
        elif self.told is None:
            self.host.say("c: nothing is shown to compare with; b on a belief begins")
        else:
            self.marked = self.told
            self.host.say("c: marked as A; c on another row compares that with it")

    def _compare_with(self, aim: Aim) -> None:
        first = self.marked or self.told
        if first is None or not self.held:
            self.host.say("c: no break to compare with; b on a belief begins one")
            return
        if self.breaking_now:
            self.host.say("c: a break is under way; esc steps back to its preview")
            return
        self.marked, self.cursor = first, ""
        self.host.show("blast", centre=True)
        self._aim_at(aim)

    def act_go_ahead(self) -> None:
        """From the preview to evidence; from a verdict to Apply."""
        breaking = self.breaking
        if breaking is not None and breaking.step == "verdict":
            key = self.host.row.key if self.host.row else ""
            self._apply(key.partition(":")[2] if key.startswith("verdict:") else "contradicts")
        elif breaking is not None and breaking.step == "evidence":
            self.host.say("a: choose evidence first; enter takes the row at >, “new” writes some")
        elif breaking is not None and breaking.step == "done":
            self.host.say("a: it is recorded; u takes it back, esc leaves")
        else:
            self._to_evidence()

    def _to_evidence(self) -> None:
        told = self.told
        if told is None or self.late:
            # typed ahead of the preview: it goes on when that is here
            self.impatient = self.late
            self.host.say("a: the preview is not here yet" if self.late else f"a: {self.why_not['go_ahead']}")
            return
        if told.aim.code is not None and len(told.about) == 1:
            self._narrow(told)
        elif told.aim.code is not None:
            self.host.say("a: a verdict is about one belief; enter on one of them picks it")
        elif (node := told.outlook.nodes.get(told.aim.target)) is not None and node.type not in JUDGED:
            self.host.say(f"a: {node.type} is taken back by its id, not judged: mog withdraw or mog retract")
        elif told.outlook.fallen:
            self.host.say("a: it has fallen already; w says why")
        else:
            self._ask_for_evidence(told)

    def _narrow(self, told: Told) -> None:
        node = told.outlook.nodes[told.about[0]]
        self.held = self.impatient = True
        self._aim_at(Aim(node.id, reason=Reason(node.id, node.type, node.label)))
        self.host.say("a: picked the one belief about it")

    def _ask_for_evidence(self, told: Told) -> None:
        self.held, self.breaking = True, Breaking("evidence")
        self.host.show("blast", centre=True)
        self.host.start(
            "evidence",
            partial(offers, self.host.desk, told.aim.target),
            partial(self._offered, told.aim.target),
            self._failed,
        )
        self.host.draw("blast")

    def _offered(self, target: str, found: tuple[tuple[Offer, ...], tuple[Judge, ...]]) -> None:
        breaking = self.breaking
        if breaking is None or breaking.step != "evidence" or self.aim is None or self.aim.target != target:
            return
        breaking.offers, breaking.judges = found
        self.host.draw("blast", cursor="offer:0" if found[0] else "new")

    def _choose(self, offer: Offer) -> None:
        assert self.breaking is not None
        self.breaking.offer, self.breaking.words, self.breaking.step = offer, "", "verdict"
        self.host.draw("blast", cursor="verdict:contradicts")

    def _write(self, words: str) -> None:
        if self.breaking is None:
            return
        if not words.strip():
            self.host.say("new: nothing was written, so there is no evidence")
            return
        self.breaking.offer, self.breaking.words, self.breaking.step = None, words, "verdict"
        self.host.draw("blast", cursor="verdict:contradicts")

    def act_evidence(self) -> None:
        """Write the reason of the verdict; before that, go to the evidence."""
        if self.breaking is not None and self.breaking.step == "verdict":
            self.host.prompt(
                Prompt("why:", "in your words; it is recorded with the verdict, esc leaves it as it is", self._because)
            )
        else:
            self.act_go_ahead()

    def _because(self, text: str) -> None:
        if self.breaking is not None and text.strip():
            self.breaking.reason = text.strip()
            self.host.draw("blast")

    def _apply(self, how: str) -> None:
        from mog.engine.breaks import AUDITORS, Verdict

        breaking, told = self.breaking, self.told
        if breaking is None or told is None or self.host.busy("apply"):
            return
        waits = [one.name for one in breaking.asked if one.waits]
        if how == AUDITORS and waits:
            self.host.say(f"a: {waits[0]} waits for your word: mog allow {waits[0]}")
            return
        by, verdict = (AUDITORS, "contradicts") if how == AUDITORS else ("person", how)
        said = Verdict(told.aim.target, breaking.offer, breaking.words, verdict, by, breaking.said)
        self.host.start("apply", partial(self.host.desk.breaks.apply, said), partial(self._applied, told), self._failed)

    def _applied(self, told: Told, done: Done) -> None:
        breaking = self.breaking or Breaking()
        self.breaking = breaking
        breaking.step, breaking.done, breaking.undone = "done", done, None
        if done.verdict == "contradicts" and done.radius is not None:
            breaking.matches = same(told, done)
        self.host.draw("blast", cursor="done")
        self.host.draw_top()

    def _failed(self, error: BaseException) -> bool:
        self.host.say(str(error))
        return True

    def act_zoom(self) -> None:
        """The radius in the layers of the graph, hop by hop."""
        if self.aim is None or self.aim.code is not None:
            self.host.say("z: a belief has a radius to draw in the graph; none is picked")
        else:
            self.host.content("graph").see_radius(self.aim.target)

    def act_undo(self) -> None:
        """Take the verdict back exactly."""
        self._back_or_on("undo")

    def act_undo_undo(self) -> None:
        """Say it again."""
        self._back_or_on("undo_undo")

    def _back_or_on(self, action: str) -> None:
        breaking = self.breaking
        done = breaking.done if breaking else None
        if breaking is None or done is None or not done.back:
            self.host.say("u: nothing to take back" if action == "undo" else "U: nothing was taken back")
        elif action == "undo" and breaking.undone is not None:
            self.host.say("u: it is taken back already; U says it again")
        elif action == "undo_undo" and breaking.undone is None:
            self.host.say("U: nothing was taken back")
        elif not self.host.busy("apply"):
            which, then = (breaking.undone, self._redone) if breaking.undone is not None else (done, self._undone)
            self.host.start("apply", partial(self.host.desk.breaks.undo, which), then, self._failed)

    def _undone(self, undone: Done) -> None:
        if self.breaking is not None:
            self.breaking.undone = undone
            self.host.draw("blast", cursor="undone")
            self.host.say("taken back: every label is what it was")
            self.ask()

    def _redone(self, done: Done) -> None:
        if self.breaking is not None and self.breaking.done is not None:
            self.breaking.done = replace(self.breaking.done, events=done.events, back=done.back, receipt=done.receipt)
            self.breaking.undone = None
            self.host.draw("blast", cursor="recorded")
            self.host.say("said again: it stands as it was applied")

    def act_redo(self) -> None:
        """Look again."""
        self.ask()

    def act_left(self) -> None:
        """Fold the section."""
        self._fold(False)

    def act_right(self) -> None:
        """Open the section."""
        self._fold(True)

    def _fold(self, wanted: bool) -> None:
        row = self.host.row
        name, _, rest = row.key.partition(":") if row else ("", "", "")
        section = rest if name in ("head", "more") else name
        if section in ("falls", "weakens", "survives"):
            self._open(section, wanted)
        else:
            self.host.say("nothing folds on this row")
