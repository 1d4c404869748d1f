"""What a pane of the workbench is: a content that asks, keeps and draws, and a host that shows it.

Who calls: every module of ``panes/`` derives a ``Content``; the home screen and the plain-text twins are its hosts.
What may not come in: the toolkit, colours, another pane's state.

A content lives on the screen's thread. It hands questions to ``host.start``, which runs them elsewhere and brings the answer back;
it keeps the answer, and turns it into rows (``sheet``) for a width whenever it is drawn. A key of the table in ``keys.py`` that acts on
rows is ``act_<action>`` of the pane in use; a pane without that method says why not (``why_not``, else the table's own words).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from mog.app.tui.port import Agents, Desk
from mog.app.tui.rows import Reason, Sheet, Thing, teach
from mog.engine import model as m
from mog.widgets.view import Cell, Row


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question on the foot line: its label, a hint, and who takes the answer."""

    label: str
    hint: str
    done: Callable[[str], None]


class Host(Protocol):
    """Where a content lives: the home screen, or the maker of plain text. Called on the screen's thread alone."""

    @property
    def desk(self) -> Desk: ...
    @property
    def agents(self) -> Agents | None:
        """Serving agents from here, ``None`` where nobody does."""
        ...

    def start(
        self,
        job: str,
        call: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[BaseException], bool] | None = None,
    ) -> None:
        """Run ``call`` on a thread and give its answer to ``then``.

        One question of a job runs at a time; a newer one replaces the one that waits. ``failed`` returns whether it dealt
        with the error; else the pane of that job says it.
        """

    def busy(self, job: str) -> bool:
        """Whether a question of that job is under way."""
        ...

    def draw(self, *names: str, cursor: str | None = None, flash: bool = False) -> None:
        """Draw panes again. ``cursor``: put it on that row ("" the first); ``flash``: changed rows are bold for a moment."""

    def tell(self, name: str, call: Callable[[], None]) -> None:
        """Have ``call`` run on the screen's thread, for pane ``name``. The one method that any thread may call."""

    def draw_top(self) -> None:
        """Draw the top line again."""

    def draw_foot(self) -> None:
        """Draw the foot line again, for a pane that came into another mode."""

    def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard, and say that ``what`` was copied."""

    def say(self, text: str) -> None:
        """A sentence on the foot line until the next key."""

    def prompt(self, prompt: Prompt) -> None:
        """Ask for a line of text."""

    def show(self, name: str, *, centre: bool = False) -> None:
        """Make a pane the one in use; ``centre``: in the middle of the screen, wherever it stood."""

    def content(self, name: str) -> Any:
        """The content of another pane, made when it is first wanted."""

    def focus_on(self, target: str) -> None:
        """Bring a node of the code (id or locator) into the graph and show it."""

    def aside(self, step: int, section: str, why_not: str) -> None:
        """Move the cursor to the column on the left (-1) or right (1), else to the first row whose key begins with ``section``."""

    def ask_index(self) -> None:
        """Build the index, with progress on the top line."""

    @property
    def thing(self) -> Thing | None:
        """What the row under the cursor of the pane in use stands for."""

    @property
    def row(self) -> Row | None:
        """The row under that cursor."""


class Content:
    """One pane.

    Attributes:
        name: its word in code, in ``:`` and in ``--plain``. digit: its key. title: its heading.
        foot: what the foot line offers, most useful first: (key, word).
        wakes: kinds of the change feed after which it asks again.
        calm: asking costs the engine a look at everything; it waits for a pause in the edits.
        words_from: least height at which the foot of the pane repeats the row at the cursor in words.
        steady: lines it has in the stack whatever it shows, 0 for as many as it fills. A pane that follows the cursor must not move
            the others at each step.
        why_not: action → why that key cannot act here.
        mode: name of the mode it is in (``keys.MODES``), "" for none.
    """

    name: ClassVar[str] = ""
    digit: ClassVar[str] = ""
    title: str = ""
    foot: ClassVar[tuple[tuple[str, str], ...]] = ()
    wakes: ClassVar[frozenset[str]] = frozenset()
    calm: ClassVar[bool] = False
    words_from: ClassVar[int] = 12
    steady: ClassVar[int] = 0
    why_not: ClassVar[Mapping[str, str]] = {}

    def __init__(self, host: Host) -> None:
        self.host = host

    @property
    def mode(self) -> str:
        return ""

    def ask(self) -> None:
        """Ask for what the pane shows; called when it is first shown and after each event it wakes for."""

    def sheet(self, width: int, lines: int) -> Sheet:
        """Its rows for a width. ``lines``: what its place has room for; 0 in plain text: everything."""
        raise NotImplementedError

    def room(self, width: int, lines: int) -> tuple[int, int]:
        """What the rows depend on; they are made again when it changes."""
        return width, int(lines >= 12)

    def glance(self, step: int) -> list[Cell]:
        """Its part of the top line in four widths, 0 the widest; empty where it has none."""
        return []

    def fills(self) -> bool:
        """Whether there is something to show: of panes that share a place the first that fills gets it."""
        return True

    def opened(self, thing: Thing | None, key: str) -> None:
        """Enter on a row: a node comes into the graph, a belief into the pane that explains it."""
        if isinstance(thing, m.Node) and not thing.id:
            self.host.say("enter: this file is not a node of the graph; o opens it")
        elif isinstance(thing, m.Node):
            self.host.focus_on(thing.id)
        elif isinstance(thing, m.PinState):
            self.host.focus_on(thing.now_at or thing.pin.anchor.locator)
        elif isinstance(thing, Reason):
            self.host.content("walk").why(thing.id)
        else:
            self.host.say("enter: nothing more is known of this row")

    def moved(self, thing: Thing | None, key: str) -> None:
        """The cursor came to another row of this pane."""

    def followed(self, thing: Thing | None, target: str) -> bool:
        """The cursor of another pane came to a row about ``target`` ("" for nothing): whether to ask again, if in view.

        Only panes of ``FOLLOWERS`` are told.
        """
        return False

    def elsewhere(self, action: str, thing: Thing | None, target: str) -> bool:
        """A key of ``ELSEWHERE`` was pressed on a row of a pane that does not act on it itself: whether this one does."""
        return False

    def cancel(self) -> bool:
        """ctrl+c: whether something that this pane runs was asked to stop."""
        return False

    def close(self) -> None:
        """The workbench ends; what runs is asked to stop."""

    def narrow(self, text: str) -> bool:
        """``: <pane> <text>``: show what the words ask for; whether this pane knows such words.

        Where it does not, ``>`` goes to the first row that holds them.
        """
        return False

    def beyond(self, step: int) -> bool:
        """The cursor is at the last row (``step`` above 0) or the first: whether the pane had more there and shows it now."""
        return False

    def back(self) -> bool:
        """Esc: whether there was a step to take back inside this pane."""
        return False

    def file_at(self, thing: Thing | None) -> tuple[str, int]:
        """Path below the root and line that ``o`` opens, ("", 0) for none."""
        return (thing.path, thing.line) if isinstance(thing, m.Node) else ("", 0)

    def target_at(self, thing: Thing | None) -> str:
        """Id or locator of what ``b``, ``w`` and ``p`` are about, "" for a row that is about nothing."""
        if isinstance(thing, Reason):
            return thing.id
        return thing.locator if isinstance(thing, m.Node) and thing.id else ""


def waiting(text: str, width: int) -> Sheet:
    """The rows of a pane whose answer is not here yet."""
    return Sheet(teach(text, width=width - 4), title_right="?")
