"""Pane 5: the working set of an agent's session: how full it is, what it holds and why, what goes next; evict, pin, recall.

Who calls: the registry of ``panes``. What may not come in: the toolkit, scores and eviction (the engine's), how it is drawn
(``ws_rows.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mog.app.present import clean
from mog.app.tui.panes.base import Content, Host, waiting
from mog.app.tui.rows import Sheet, Thing, teach
from mog.app.tui.ws_rows import path_of, recalled_sheet, set_sheet, share_of
from mog.engine.errors import MogError
from mog.widgets.view import Cell

if TYPE_CHECKING:
    from mog.app.tui.port import Desk
    from mog.engine.memory.set_records import Recalled, SessionRow, State

TEACHES = (
    "Nothing was served to an agent yet.",
    "What an agent is shown is counted here against its context window, and evicted by score above the mark.",
    "r on its stub brings a thing back verbatim.",
    "An agent connects with:  claude mcp add mog -- mog serve --mcp",
)


@dataclass(frozen=True, slots=True)
class Read:
    """The sessions, the last used first, and the state of one of them; ``None`` when there is none."""

    sessions: Sequence[SessionRow]
    state: State | None


class WorkingSet(Content):
    """Attributes: read: what is shown, ``None`` until it is here. session: the one looked at, "" the last used.

    parts: what each score is made of is shown. back_from: recalled bytes that are shown instead of the set.
    """

    name, digit, title = "ws", "5", "Set"
    foot = (
        ("x", "evict"),
        ("p", "pin"),
        ("r", "recall"),
        ("s", "scores"),
        ("v", "session"),
        ("enter", "open"),
        ("m", "full"),
    )
    wakes = frozenset({"served", "index"})
    calm = True

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.read: Read | None = None
        self.session = ""
        self.parts = False
        self.recalled: Recalled | None = None

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        self.host.start("ws", partial(_read, self.host.desk, self.session), self.got)

    def got(self, read: Read) -> None:
        self.read = read
        self.host.draw("ws")
        self.host.draw_top()

    # -- drawing -------------------------------------------------------------------------------------------------------

    def sheet(self, width: int, lines: int) -> Sheet:
        if self.recalled is not None:
            return recalled_sheet(self.recalled, width)
        if self.read is None:
            return waiting("Reading what agents were served.", width)
        if self.read.state is None:
            return Sheet(teach(*(TEACHES if width >= 44 else TEACHES[:1]), width=width - 4), title_right="0 sessions")
        return set_sheet(self.read.state, len(self.read.sessions), width, parts=self.parts, whole=not lines)

    def glance(self, step: int) -> list[Cell]:
        state = self.read.state if self.read else None
        return [Cell(f"set {share_of(state)}%", "attn" if state.over else "text", bool(state.over))] if state else []

    # -- rows ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        id = _id_of(thing)
        if self.recalled is not None:
            self.host.say("enter: these are the bytes as served; esc goes back to the set")
        elif id.startswith(("sym:", "file:")):
            self.host.focus_on(id)
        elif id:
            self.host.say("enter: a note; r shows it as it was served")
        else:
            self.host.say("enter: nothing of the set is on this row")

    def back(self) -> bool:
        if self.recalled is None:
            return False
        self.recalled = None
        self.host.draw("ws", cursor="")
        return True

    def file_at(self, thing: Thing | None) -> tuple[str, int]:
        return path_of(thing), 0

    def target_at(self, thing: Thing | None) -> str:
        return _id_of(thing)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def act_take_out(self) -> None:
        """Evict what is on the row; a stub stays and brings it back."""
        ref = self._ref("x", "item:", "only what is held can be evicted")
        if ref:
            self._change(
                "x", partial(_put_out, self.host.desk, self._name, ref), "evicted; its stub brings it back with r"
            )

    def act_pin(self) -> None:
        """Keep it in the set whatever its score, or let its score decide again."""
        ref = self._ref("p", "item:", "only what is held can be pinned; r recalls a stub")
        thing = self.host.thing
        if ref:
            pinned = bool(thing.entry.pinned) if thing is not None else False
            said = "its score decides again" if pinned else "pinned: never evicted"
            self._change("p", partial(_pin, self.host.desk, self._name, ref, not pinned), said)

    def act_redo(self) -> None:
        """Recall: the bytes as they were served."""
        row = self.host.row
        ref = row.key.partition(":")[2] if row is not None and row.key.startswith(("item:", "stub:")) else ""
        if not ref:
            self.host.say("r: nothing on this row was served")
            return
        self.host.start(
            "ws.recall", partial(_recall, self.host.desk, self._name, ref), self._got_back, partial(self._failed, "r")
        )

    def _got_back(self, found: Recalled) -> None:
        self.recalled = found
        if found.turned.refused:
            self.host.say("larger than the whole budget: shown, and not held")
        self.host.draw("ws", cursor="")
        self.ask()

    def act_sort(self) -> None:
        """What each score is made of, in a line of its own."""
        self.parts = not self.parts
        self.host.draw("ws")

    def act_filter(self) -> None:
        """The next session."""
        names = [row.name for row in self.read.sessions] if self.read else []
        if len(names) < 2:
            self.host.say("v: one session was served anything" if names else "v: no session yet")
            return
        at = names.index(self._name) if self._name in names else -1
        self.session = names[(at + 1) % len(names)]
        self.recalled = None
        self.host.say(f"session {clean(self.session)}")
        self.ask()

    # -- inside --------------------------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return self.read.state.session if self.read and self.read.state else self.session

    def _ref(self, key: str, part: str, why_not: str) -> str:
        row = self.host.row
        if self.recalled is None and row is not None and row.key.startswith(part):
            return row.key.removeprefix(part)
        self.host.say(f"{key}: {why_not}")
        return ""

    def _change(self, key: str, call: Any, said: str) -> None:
        def done(_: object) -> None:
            self.host.say(said)
            self.ask()

        self.host.start("ws.change", call, done, partial(self._failed, key))

    def _failed(self, key: str, error: BaseException) -> bool:
        if isinstance(error, MogError):
            self.host.say(f"{key}: {error}")
            self.ask()
            return True
        return False


def _id_of(thing: Any) -> str:
    found = getattr(thing, "entry", thing)
    return str(getattr(found, "id", "")) if thing is not None else ""


# -- on a thread


def _read(desk: Desk, session: str) -> Read:
    """Sessions and the state of one. Where nothing was ever served nothing is opened."""
    served = desk.written().get("served")
    if isinstance(served, tuple) and not any(served):
        return Read((), None)
    sessions = desk.working_sets.sessions()
    names = [row.name for row in sessions]
    name = session if session in names else names[0] if names else ""
    return Read(sessions, desk.working_sets.session(name).state() if name else None)


def _put_out(desk: Desk, session: str, ref: str) -> object:
    return desk.working_sets.session(session).put_out(ref)


def _pin(desk: Desk, session: str, ref: str, on: bool) -> object:
    found = desk.working_sets.session(session)
    return found.pin(ref) if on else found.unpin(ref)


def _recall(desk: Desk, session: str, ref: str) -> Recalled:
    return desk.working_sets.session(session).recall(ref)
