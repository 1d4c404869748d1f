"""The one-line prompts at the foot: a place to jump to, with what it could be as one types, and what a pane wants to know.

Who calls: keys ask, ``Entry`` answers. What may not come in: searching (it has a line of its own), drawing of panes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from rich.cells import cell_len
from textual import on
from textual.containers import Horizontal
from textual.widgets import Input

from mog.app.present import clean, restore
from mog.app.tui.labels import Labels
from mog.app.tui.panes import TABS
from mog.app.tui.panes.base import Prompt
from mog.engine import model as m
from mog.engine.ids import locator
from mog.styles.themes import NAMES
from mog.widgets.bars import Bar
from mog.widgets.entry import Entry
from mog.widgets.fit import plain
from mog.widgets.view import Cell, Row

if TYPE_CHECKING:
    from mog.app.tui.workbench import Workbench

WORDS = ("theme", "ledger", "tour", "quit")
"""Words of the ``:`` line besides the names of panes."""
HINTS, LOOKED = 4, 2_000


class Prompts(Labels):
    """Prompts of the home screen."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._prompt: Prompt | None = None
        self._hints: list[str] = []
        self._turned_from = ""
        self._sought: tuple[str, str] | None = None
        self.quit_asked = ""

    @property
    def theme_names(self) -> tuple[str, ...]:
        """Themes that can be chosen: ours and the person's own."""
        return (*NAMES, *(one.name for one in cast("Workbench", self.app).options.own))

    def prompt(self, prompt: Prompt) -> None:
        """Ask for a line of text, after the key that asks for it is dealt with."""
        self.call_later(self.ask_line, prompt)

    async def ask_line(self, prompt: Prompt) -> None:
        """Show a prompt in place of the foot line."""
        self._prompt = prompt
        if not self.query("#prompt-line"):
            line = Horizontal(Bar(id="prompt-label"), Entry(id="prompt"), Bar(id="prompt-hint"), id="prompt-line")
            await self.mount(line, after="#foot")
        label, entry = self.query_one("#prompt-label", Bar), self.query_one("#prompt", Entry)
        label.styles.width = cell_len(prompt.label) + 3
        label.show(Row("", (Cell(prompt.label, "key", True),)))
        entry.value, entry.placeholder = "", prompt.hint
        self._show_hints([])
        self.set_class(True, "-prompting")
        self.give_focus(entry)

    def close_prompt(self) -> None:
        """Back to the pane in use."""
        self._prompt = None
        self.set_class(False, "-prompting")
        self.set_current(self.current)

    @on(Input.Submitted, "#prompt")
    def _prompted(self, event: Input.Submitted) -> None:
        event.stop()
        prompt, text = self._prompt, event.value.strip()
        self.close_prompt()
        if prompt:
            prompt.done(text)

    @on(Entry.Left, "#prompt")
    def _left_prompt(self, event: Entry.Left) -> None:
        event.stop()
        self.close_prompt()

    # -- hints ---------------------------------------------------------------------------------------------------------

    @on(Input.Changed, "#prompt")
    def _prompt_typed(self, event: Input.Changed) -> None:
        event.stop()
        text = event.value
        if not self._jumping or text == self._turned_from:
            return
        self._show_hints(said(text, self.theme_names))
        if len(text.strip()) > 1 and text[0] != "@" and " " not in text.strip():
            self.start(
                "hints",
                partial(self.desk.search, restore(text.strip()), limit=HINTS),
                partial(self._hinted, text),
                _quiet,
            )

    @property
    def _jumping(self) -> bool:
        return self._prompt is not None and self._prompt.label == ":"

    def _hinted(self, text: str, answer: m.SearchAnswer) -> None:
        if self._jumping and self.query_one("#prompt", Entry).value == text:
            names = [
                clean(f"{hit.node.path}::{hit.node.qual}" if hit.node.qual else hit.node.path) for hit in answer.hits
            ]
            self._show_hints([*said(text, self.theme_names), *names][:HINTS])

    def _show_hints(self, hints: Sequence[str]) -> None:
        self._hints, self._turned_from = list(hints), ""
        bar = self.query_one("#prompt-hint", Bar)
        row = (
            Row("", (Cell("tab ", "key", True), Cell("  ".join(hints), "muted", False, "tail")))
            if hints
            else Row("", ())
        )
        bar.styles.width = min(cell_len(row.text) + 3, self.size.width * 3 // 5) if hints else 0
        bar.show(row)

    @on(Entry.Turned, "#prompt")
    def _turned(self, event: Entry.Turned) -> None:
        """Tab takes the next thing it could be."""
        event.stop()
        if self._jumping and self._hints:
            entry = event.entry
            at = self._hints.index(entry.value) + event.step if entry.value in self._hints else 0
            # the hints stay those of what was typed, so that tab goes around them
            self._turned_from = entry.value = self._hints[at % len(self._hints)]
            entry.cursor_position = len(entry.value)

    # -- jump ----------------------------------------------------------------------------------------------------------

    async def action_jump(self) -> None:
        hint = "path::name, path:line, a name, @commit, a pane and what in it, ledger 9214, theme light, quit"
        await self.ask_line(Prompt(":", hint, self.jump))

    def jump(self, text: str) -> None:
        """A command of the ``:`` line, or a node by locator, name, path or ``path:line``."""
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        if word in TABS:
            self.set_current(word)
            if rest:
                self._seek(word, rest)
        elif word == "theme":
            self.change_theme(rest)
        elif word in ("q", "quit") and not rest:
            self.run_action_by_name("quit")
        elif word == "tour" and not rest:
            self.run_action_by_name("tour")
        elif text.startswith("@") and not rest:
            self._jump_to_commit(text[1:])
        elif text:
            self.jump_to(restore(text))

    def run_action_by_name(self, name: str) -> None:
        """Run ``action_<name>`` of this screen."""
        self.call_later(getattr(self, f"action_{name}"))

    def change_theme(self, name: str) -> None:
        """Another theme, and a word of it: a screen that looks the same is not an answer."""
        if name in self.theme_names:
            self.app.theme = name
            self.say(f"theme: {name}")
        else:
            self.say(f"theme: {clean(name) or 'which one'}? there are {', '.join(self.theme_names)}")

    def _jump_to_commit(self, commit: str) -> None:
        def touched(paths: Sequence[str]) -> None:
            if paths:
                self.call_later(self.offer, f"commit {commit}", [locator("file", path) for path in paths])
            else:
                self.say(f"@{commit} touched no file here")

        self.start("jump", partial(self.desk.touched, commit), touched)

    def _seek(self, name: str, text: str) -> None:
        """Show what the words ask for in a pane, now or when its answer is here."""
        self._sought = (name, text) if self.busy(name) else None
        if self._sought or self.content(name).narrow(text):
            return
        pane, words, key = self.pane(name), text.lower().split(), ""
        for index in range(min(len(pane.source), LOOKED)):
            line = pane.source.line(index)
            shown = plain(line, 400).lower()
            # a line of prose belongs to the row above it
            key = next((row.key for row in line if row.key), key)
            if key and all(word in shown for word in words):
                pane.go(key)
                return
        self.say(f"{name}: no row with “{text}”")

    def _opened(self, job: str) -> None:
        super()._opened(job)
        if self._sought and self._sought[0] == job:
            # the answer is drawn, and its job is over, when what it brought is dealt with
            self.call_later(self._seek, *self._sought)


def said(text: str, themes: Sequence[str]) -> list[str]:
    """What a beginning of the ``:`` line could become, nodes aside."""
    word, blank, rest = text.partition(" ")
    if word == "theme" and blank:
        return [f"theme {name}" for name in themes if name.startswith(rest.strip())]
    if blank or not text:
        return []
    return [one for one in (*TABS, *WORDS) if one.startswith(word) and one != word][:HINTS]


def _quiet(error: BaseException) -> bool:
    """A hint that cannot be had is no news."""
    return True
