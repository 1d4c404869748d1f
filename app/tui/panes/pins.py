"""Pinning a note to a node, and taking a pin out: the same from every pane.

Who calls: the home screen (``p`` on a row) and the panes that show pins. What may not come in: rows, the toolkit.
"""

from __future__ import annotations

from functools import partial

from mog.app.present import clean
from mog.app.tui.panes.base import Host, Prompt
from mog.app.tui.rows import Thing, name_of
from mog.engine import model as m
from mog.engine.ids import locator


def pin_row(host: Host, thing: Thing | None) -> None:
    """``p`` on a row: pin a note to its node, or take its pin out; says why where neither can be."""
    if isinstance(thing, m.PinState):
        ask_to_unpin(host, thing)
    elif isinstance(thing, m.MapRow):
        ask_for_note(host, locator("file", thing.path), thing.path)
    elif not isinstance(thing, m.Node) or not thing.id:
        host.say("p: no node on this row; put > on a symbol, a file or a pin")
    elif thing.type == "unresolved":
        host.say("p: this name is not bound to code here, there are no bytes to watch")
    elif thing.gated:
        host.say("p: gated, its bytes are withheld and cannot be watched")
    else:
        ask_for_note(host, thing.locator, name_of(thing))


def ask_for_note(host: Host, locator: str, name: str) -> None:
    """A note to pin to ``locator``; ``name`` is what a person calls it."""

    def pinned(state: m.PinState) -> None:
        _look_again(host)
        host.say(f"pinned “{state.pin.note}”")

    def done(note: str) -> None:
        if note:
            host.start("pin", partial(host.desk.pin, locator, note), pinned)
        else:
            host.say("p: nothing pinned, the note was empty")

    host.prompt(Prompt(f"note on {_short(name)}:", "what is true of it, in your words; enter pins, esc leaves", done))


def ask_to_unpin(host: Host, state: m.PinState) -> None:
    """Take a pin out, after a word of the person."""

    def taken(pin: m.Pin) -> None:
        _look_again(host)
        host.say(f"taken out: “{pin.note}”")

    def done(text: str) -> None:
        if text in ("", "y", "yes"):
            host.start("unpin", partial(host.desk.unpin, state.pin.id), taken)
        else:
            host.say("p: the pin stays")

    host.prompt(Prompt(f"take out “{_short(state.pin.note)}”?", "enter takes it out, esc keeps it", done))


def _look_again(host: Host) -> None:
    host.content("drift").ask()
    host.content("graph").ask()


def _short(text: str) -> str:
    safe = clean(text)
    return safe if len(safe) <= 30 else f"{safe[:29]}…"
