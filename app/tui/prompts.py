"""The one-line prompts at the foot: a place to jump to, a note to pin, a pin to take out.

Who calls: keys ask, ``Entry`` answers. What may not come in: searching (it has a line of its own), drawing of panes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.cells import cell_len
from textual import on
from textual.containers import Horizontal
from textual.widgets import Input

from mog.app.present import clean, restore
from mog.app.tui.asks import Asks
from mog.engine import model as m
from mog.styles.themes import NAMES
from mog.widgets.bars import Bar
from mog.widgets.entry import Entry
from mog.widgets.view import Cell, Row


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question on the foot line: its label, a hint, and who takes the answer."""

    label: str
    hint: str
    done: Callable[[str], None]


class Prompts(Asks):
    """Prompts of the home screen."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prompt: Prompt | None = None
        self.quit_asked = ""

    async def ask_line(self, prompt: Prompt) -> None:
        """Show a prompt in place of the foot line."""
        self.prompt = prompt
        if not self.query("#prompt-line"):
            line = Horizontal(Bar(id="prompt-label"), Entry(id="prompt"), id="prompt-line")
            await self.mount(line, after="#foot")
        label, entry = self.query_one("#prompt-label", Bar), self.query_one("#prompt", Entry)
        label.styles.width = cell_len(prompt.label) + 3
        label.show(Row("", (Cell(prompt.label, "key", True),)))
        entry.value, entry.placeholder = "", prompt.hint
        self.set_class(True, "-prompting")
        self.give_focus(entry)

    def close_prompt(self) -> None:
        """Back to the pane in use."""
        self.prompt = None
        self.set_class(False, "-prompting")
        self.set_current(self.current)

    @on(Input.Submitted, "#prompt")
    def _prompted(self, event: Input.Submitted) -> None:
        event.stop()
        prompt, text = self.prompt, event.value.strip()
        self.close_prompt()
        if prompt:
            prompt.done(text)

    @on(Entry.Left, "#prompt")
    def _left_prompt(self, event: Entry.Left) -> None:
        event.stop()
        self.close_prompt()

    # -- jump ----------------------------------------------------------------------------------------------------------

    async def action_jump(self) -> None:
        hint = "path::name, path:line, a name; or graph, map, drift, health, theme light, quit"
        await self.ask_line(Prompt(":", hint, self.jump))

    def jump(self, text: str) -> None:
        """A command of the ``:`` line, or a node by locator, name, path or ``path:line``."""
        word, _, rest = text.partition(" ")
        if not text:
            return
        if word in ("graph", "map", "drift", "health"):
            self.set_current(word)
        elif word == "theme":
            self._theme(rest.strip())
        elif word in ("q", "quit"):
            self.run_action_by_name("quit")
        else:
            target = restore(text)
            self.jobs.start("jump", text, partial(self.workspace.find, target))

    def run_action_by_name(self, name: str) -> None:
        """Run ``action_<name>`` of this screen."""
        self.call_later(getattr(self, f"action_{name}"))

    def _theme(self, name: str) -> None:
        if name in NAMES:
            self.app.theme = name
        else:
            self.say(f"theme: {clean(name) or 'which one'}? there are {', '.join(NAMES)}")

    # -- pins ----------------------------------------------------------------------------------------------------------

    async def ask_for_note(self, locator: str, name: str) -> None:
        """A note to pin to ``locator``."""

        def done(note: str) -> None:
            if note:
                self.jobs.start("pin", locator, partial(self.workspace.pin, locator, note))
            else:
                self.say("p: nothing pinned, the note was empty")

        await self.ask_line(
            Prompt(f"note on {_short(name)}:", "what is true of it, in your words; enter pins, esc leaves", done)
        )

    async def ask_to_unpin(self, state: m.PinState) -> None:
        """Take a pin out, after a word of the person."""

        def done(text: str) -> None:
            if text in ("", "y", "yes"):
                self.jobs.start("unpin", state.pin.id, partial(self.workspace.unpin, state.pin.id))
            else:
                self.say("p: the pin stays")

        await self.ask_line(Prompt(f"take out “{_short(state.pin.note)}”?", "enter takes it out, esc keeps it", done))


def _short(text: str) -> str:
    safe = clean(text)
    return safe if len(safe) <= 30 else f"{safe[:29]}…"
