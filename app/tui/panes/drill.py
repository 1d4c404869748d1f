"""Pane d: drills. Predict what falls, reveal it, repair it; a mode with keys of its own while one is played.

Who calls: the registry of ``panes``; ``d`` on any row begins one. What may not come in: the toolkit, what is so (the game knows,
and this pane draws it only once it is revealed).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from mog.app.plain_drill_words import saved
from mog.app.tui import drill_rows
from mog.app.tui.panes.base import Content, Host, Prompt
from mog.app.tui.rows import Sheet, Thing
from mog.engine.errors import MogError, StoreDamaged

if TYPE_CHECKING:
    from mog.engine.drills.play import Game, Series
    from mog.engine.drills.records import Choices, History, Named, Rerun, Revealed, WeakSpots
    from mog.engine.drills.repair import Suggestion

LISTED = 40
LIST_FOOT = (("enter", "drill it"), ("d", "drill the riskiest"), ("r", "weigh again"), ("m", "full"))
ASKED_FOOT = (
    ("h", "falls"), ("space", "weakens"), ("l", "survives"), ("enter", "reveal"), ("w", "peek"), ("n", "skip"), ("esc", "leave"),
)  # fmt: skip
REVEALED_FOOT = (
    ("r", "repair"), ("e", "evidence"), ("n", "next drill"), ("w", "why"), ("y", "copy the card"), ("esc", "leave"),
)  # fmt: skip
Account = tuple["Choices", "History | None", "WeakSpots | None", str]


class Drill(Content):
    """What its rows are about is kept from the panes that follow the cursor: they would tell what falls.

    Attributes:
        series: the drills being played, ``None`` for the list of them. looked: rows unfolded after the reveal.
    """

    name, digit = "drill", "d"
    wakes = frozenset({"beliefs"})
    calm = True
    why_not: ClassVar[dict[str, str]] = {
        "left": "h answers while a drill is asked",
        "right": "l answers while a drill is asked",
        "break_it": "that would tell what falls; drill it first, 6 shows it any time",
        "sort": "drills are ordered by risk",
        "export": "mog drill export writes cards; y copies the one that is revealed",
        "evidence": "reveal the drill first",
        "undo": "no repair to take back",
        "why": "enter drills it, then w looks at grounds",
    }

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.account: Account | None = None
        self.series: Series | None = None
        self.done: Revealed | None = None
        self.best: Suggestion | None = None
        self.repaired: Rerun | None = None
        self.was: float | None = None
        self.looked: set[int] = set()

    # -- what it is in ---------------------------------------------------------------------------------------------------

    @property
    def mode(self) -> str:
        """ "" for the list, ``drill`` while it is asked, ``revealed`` after that."""
        return "" if self.series is None else "revealed" if self.done else "drill"

    @property
    def title(self) -> str:  # type: ignore[override]
        """In capitals while it owns the keyboard."""
        return "DRILL" if self.series is not None else "Drill"

    @property
    def foot(self) -> tuple[tuple[str, str], ...]:  # type: ignore[override]
        return {"": LIST_FOOT, "drill": ASKED_FOOT, "revealed": REVEALED_FOOT}[self.mode]

    @property
    def game(self) -> Game | None:
        """The drill at hand."""
        return self.series.game if self.series is not None else None

    @property
    def place(self) -> str:
        """``3 of 10``, "" for one alone."""
        return f"{self.series.place} of {len(self.series)}" if self.series is not None and len(self.series) > 1 else ""

    # -- asking ----------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        if self.series is None:
            self.host.start("drill list", self._weigh, self._weighed)

    def _weigh(self) -> Account:
        room = self.host.desk.drills
        choices = room.choices(LISTED)
        try:
            return choices, room.history(), room.weak(), ""
        except StoreDamaged as error:
            return choices, None, None, "" if choices.problems else str(error)

    def _weighed(self, account: Account) -> None:
        self.account = account
        if self.series is None:
            self.host.draw("drill")

    def elsewhere(self, action: str, thing: Thing | None, target: str) -> bool:
        """``d``: drill the belief of the row, else the riskiest assumptions; a drill that is being played goes on."""
        self.begin("" if ":" in target else target)
        self.host.show("drill")
        return True

    def begin(self, target: str = "") -> None:
        """Begin a series: of one record, or of the riskiest assumptions. A series that is being played goes on."""
        if self.series is None and not self.host.busy("drill"):
            self.host.start("drill", partial(self._series, target), self._begun, self._refused)

    def _series(self, target: str) -> Series:
        series = self.host.desk.drills.series(target)
        series.game  # noqa: B018  made here, because it takes its time
        return series

    def _begun(self, series: Series) -> None:
        self.series = series
        self._fresh()

    def _fresh(self) -> None:
        self.done, self.best, self.repaired, self.looked = None, None, None, set()
        self.was = self.series.score if self.series is not None else None
        self._drawn(cursor="q:0")

    def _refused(self, error: BaseException) -> bool:
        if not isinstance(error, MogError) or isinstance(error, StoreDamaged):
            return False
        self.host.say(f"d: {error.what}; {error.way_out}")
        self.ask()
        return True

    def _drawn(self, cursor: str | None = None) -> None:
        self.host.draw("drill", cursor=cursor)
        self.host.draw_foot()

    # -- drawing ---------------------------------------------------------------------------------------------------------

    def sheet(self, width: int, lines: int) -> Sheet:
        game = self.game
        if game is None or self.series is None:
            choices, history, weak, problem = self.account or (None, None, None, "")
            return drill_rows.list_sheet(choices, history, weak, problem, width)
        if self.done is None:
            return drill_rows.asked_sheet(game, self.place, self.series.score, width)
        notes = [f"not kept in the history: {game.unkept}"] if game.unkept else []
        scores = (self.was, self.series.score)
        return drill_rows.revealed_sheet(
            self.done, self.place, scores, self.best, self.repaired, self._nodes(game), self.looked, notes, width
        )

    def _nodes(self, game: Game) -> dict[str, Named]:
        best = {self.best.repair.node: self.best.rerun.node} if self.best else {}
        return best | {one.node.id: one.node for one in game.drill.questions} | self._known

    @property
    def _known(self) -> dict[str, Named]:
        return {one.node: self.repaired.node for one in self.repaired.repairs[-1:]} if self.repaired else {}

    # -- keys ------------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        from mog.engine.drills.records import Choice

        game = self.game
        if game is None:
            self.begin(thing.node.id if isinstance(thing, Choice) else "")
        elif self.done is not None:
            self.host.say("enter: it is revealed; n goes on, w shows why, r repairs")
        elif not self._held():
            self.host.start("drill", game.reveal, self._revealed)

    def _held(self) -> bool:
        """Whether a question is under way, said on the foot line."""
        if busy := self.host.busy("drill"):
            self.host.say("one moment: still working on the last key")
        return busy

    def _revealed(self, done: Revealed) -> None:
        self.done = done
        wrong = next((at for at, row in enumerate(done.rows) if not row.right), 0)
        self._drawn(cursor=f"q:{wrong}")
        self._look_for_repair()

    def _look_for_repair(self) -> None:
        if (game := self.game) is not None:
            self.host.start("drill", game.suggest, self._suggested)

    def _suggested(self, best: Suggestion | None) -> None:
        self.best = best
        self._drawn()

    def _say(self, outcome: str) -> None:
        from mog.engine.drills.records import Outcome

        game, at = self.game, self.host.thing
        if game is None or not isinstance(at, int):
            self.host.say("no question on this row")
            return
        game.answer(at, Outcome(outcome))
        last = at + 1 == len(game.drill.questions)
        self._drawn(cursor=f"q:{at if last else at + 1}")
        if not game.blanks:
            self.host.say("all are answered: enter reveals")

    def act_falls(self) -> None:
        """It falls."""
        self._say("falls")

    def act_weakens(self) -> None:
        """It weakens."""
        self._say("weakens")

    def act_survives(self) -> None:
        """It survives."""
        self._say("survives")

    def act_why(self) -> None:
        """Before the reveal its grounds, for half its point; after it the way the fall takes."""
        game, at = self.game, self.host.thing
        if game is None or not isinstance(at, int):
            self.host.say(f"w: {self.why_not['why']}")
        elif self.done is not None:
            self.looked ^= {at}
            self._drawn()
        else:
            game.peek(at)
            self._drawn()

    def act_skip(self) -> None:
        """The next drill, whether or not this one is revealed."""
        if self.series is not None and not self._held():
            self.host.start("drill", self.series.next, self._next)

    def _next(self, game: Game | None) -> None:
        if game is not None:
            self._fresh()
            return
        score = self.series.score if self.series is not None else None
        self.back()
        self.host.say("that was the last one" + (f": score {score:.0f}" if score is not None else ""))

    def act_redo(self) -> None:
        """Suppose the repair that saves most; on the list, weigh it again."""
        if self.series is None:
            self.ask()
        elif self.done is None:
            self.host.say("r: reveal it first, enter does")
        elif self.best is None:
            self.host.say(
                "r: nothing falls that a second ground would save" if not self.host.busy("drill") else "r: one moment"
            )
        elif (game := self.game) is not None and not self._held():
            self.host.start("drill", partial(game.repair, self.best.repair), self._repaired)

    def _repaired(self, done: Rerun) -> None:
        self.repaired = done if done.repairs else None
        self.best = None
        self._drawn()
        self.host.say(saved(done) if done.repairs else "taken back: nothing is supposed any more")
        self._look_for_repair()

    def act_evidence(self) -> None:
        """Suppose an observation that the row rests on besides."""
        from mog.engine.drills.records import Repair

        game, at = self.game, self.host.thing
        if game is None or self.done is None or not isinstance(at, int):
            self.host.say(f"e: {self.why_not['evidence']}")
            return
        node = game.drill.questions[at].node

        def supposed(words: str) -> None:
            if not words:
                self.host.say("e: nothing supposed, the words were empty")
            elif not self._held():
                repair = Repair("evidence", node.id, words)
                self.host.start("drill", partial(game.repair, repair), self._repaired, self._refused)

        self.host.prompt(
            Prompt("suppose it was seen that:", "what else carries this row; enter runs it again", supposed)
        )

    def act_undo(self) -> None:
        """Take the last repair back."""
        game = self.game
        if game is None or not game.repairs:
            self.host.say("u: no repair to take back")
        elif not self._held():
            self.host.start("drill", game.undo_repair, self._repaired)

    def act_copy_card(self) -> None:
        """The drill as a card in Markdown."""
        from mog.app.plain_cards import revealed_card

        if self.done is not None:
            self.host.copy("\n".join(revealed_card(self.done, self.best)), "the card")

    def act_drill(self) -> None:
        """Begin with the riskiest; a drill that is played goes on."""
        if self.series is None:
            self.begin()
        else:
            self.host.say("d: a drill is being played; esc leaves it")

    def back(self) -> bool:
        if self.series is None:
            return False
        left = self.done is None and self.game is not None and bool(self.game.answers)
        self.series = self.done = None
        self._drawn(cursor="")
        self.ask()
        if left:
            self.host.say("left: this drill is not counted")
        return True
