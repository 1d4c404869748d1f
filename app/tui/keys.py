"""Every key of the workbench in one table: what it does, where, and why it cannot do it yet.

Who calls: the home screen makes its bindings from it, help, palette, foot line and ``docs/keys.md`` list it; ``keymap.py`` moves keys.
What may not come in: actions themselves, the toolkit at import. One meaning a letter in every pane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mog.app.tui.panes import BY_ACTION, REGISTRY

if TYPE_CHECKING:
    from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Key:
    """One action and its keys.

    Attributes:
        keys: names as the toolkit spells them, separated by commas.
        action: method ``action_<name>`` of the home screen.
        says: what it does, in a few words.
        shown: how a person writes the keys.
        group: heading in the help.
    """

    keys: str
    action: str
    says: str
    shown: str
    group: str

    @property
    def id(self) -> str:
        """Identity for a keymap: the action's name."""
        return self.action.replace("('", ".").replace("')", "")

    @property
    def name(self) -> str:
        """The action's name in ``tui.keys``: ``why``, ``down``, ``pane.drift``."""
        return self.id.removeprefix("act.")


KEYS: tuple[Key, ...] = (
    Key("j,down", "down", "next row", "j ↓", "move"),
    Key("k,up", "up", "previous row", "k ↑", "move"),
    Key("h,left", "act('left')", "to what points in; fold", "h ←", "move"),
    Key("l,right", "act('right')", "to what it points at; unfold", "l →", "move"),
    Key("g,home", "first", "first row", "g home", "move"),
    Key("G,end", "last", "last row", "G end", "move"),
    Key("ctrl+d,pagedown", "half_down", "half a page down", "pgdn ctrl+d", "move"),
    Key("ctrl+u,pageup", "half_up", "half a page up", "pgup ctrl+u", "move"),
    Key("H", "act('page_left')", "a page to the left", "H", "move"),
    Key("L", "act('page_right')", "a page to the right", "L", "move"),
    Key("comma,backspace", "history_back", "the node before", ", backspace", "go"),
    Key("full_stop", "history_on", "the node after", ".", "go"),
    Key("slash", "search", "search as you type", "/", "go"),
    Key("n", "next_hit", "next search result", "n", "go"),
    Key("N", "previous_hit", "previous search result", "N", "go"),
    Key("colon", "jump", "jump to a name or locator, or run a command", ":", "go"),
    Key("f", "labels", "labels on what can be reached; type one", "f", "go"),
    Key("F", "follow", "follow the agent", "F", "go"),
    Key("tab", "next_pane", "next pane", "tab", "panes"),
    Key("shift+tab", "previous_pane", "previous pane", "shift+tab", "panes"),
    *(
        Key(entry.digit, f"pane('{name}')", entry.title.lower(), entry.digit, "panes")
        for name, entry in REGISTRY.items()
        if name not in BY_ACTION
    ),
    Key("m", "full", "this pane fills the screen", "m", "panes"),
    Key("z", "act('zoom')", "detail: focus, layers, outline", "z", "panes"),
    Key("enter", "open", "open the row at >", "enter", "act"),
    Key("escape", "back", "one step back", "esc", "act"),
    Key("a", "act('go_ahead')", "go ahead: apply, audit, propose, run", "a", "act"),
    Key("b", "act('break_it')", "break: what falls if this is false", "b", "act"),
    Key("c", "act('compare')", "compare with the marked row", "c", "act"),
    Key("d", "act('drill')", "drill: predict what falls", "d", "act"),
    Key("e", "act('evidence')", "evidence: show, add", "e", "act"),
    Key("i", "act('inspect')", "inspect: record, provenance, taint", "i", "act"),
    Key("o", "editor", "open in $EDITOR", "o", "act"),
    Key("p", "act('pin')", "pin a note, or take a pin out", "p", "act"),
    Key("r", "act('redo')", "again: verify, replay, recall, run", "r", "act"),
    Key("s", "act('sort')", "sort and score parts", "s", "act"),
    Key("t", "act('tiers')", "tiers: + hierarchy, + maybe", "t", "act"),
    Key("T", "act('co_change')", "co-change", "T", "act"),
    Key("u", "act('undo')", "undo", "u", "act"),
    Key("U", "act('undo_undo')", "undo the undo", "U", "act"),
    Key("v", "act('filter')", "next filter; in layers: hops", "v", "act"),
    Key("w", "act('why')", "why does it stand", "w", "act"),
    Key("x", "act('take_out')", "take out: evict, cancel, refuse", "x", "act"),
    Key("A", "approvals", "what waits for a word of yours", "A", "act"),
    Key("E", "act('export')", "export", "E", "act"),
    Key("y", "copy_row", "copy the row", "y", "act"),
    Key("Y", "copy_pane", "copy the pane as text", "Y", "act"),
    Key("question_mark,f1", "help", "keys here", "? f1", "mog"),
    Key("ctrl+p", "palette", "command palette", "ctrl+p", "mog"),
    Key("ctrl+l", "redraw", "draw the screen again", "ctrl+l", "mog"),
    Key("ctrl+z", "suspend", "suspend to the shell", "ctrl+z", "mog"),
    Key("ctrl+c", "cancel", "cancel what runs; twice: quit", "ctrl+c", "mog"),
    Key("q", "quit", "quit", "q", "mog"),
)

MODES: dict[str, tuple[Key, ...]] = {
    "drill": (
        Key("h,left", "act('falls')", "it falls", "h ←", "drill"),
        Key("space", "act('weakens')", "it weakens", "space", "drill"),
        Key("l,right", "act('survives')", "it survives", "l →", "drill"),
        Key("n", "act('skip')", "skip to the next drill", "n", "drill"),
    ),
    "revealed": (
        Key("n", "act('skip')", "next drill", "n", "drill"),
        Key("y", "act('copy_card')", "copy the card", "y", "drill"),
    ),
}
"""Keys of a mode that a pane is in; they come before all others, and the pane says in its title that it is in one."""


def in_mode(mode: str, key: str) -> str:
    """What a key does in a mode, as ``action_act`` takes it; "" for a key that is as always."""
    found = next((one for one in MODES.get(mode, ()) if key in one.keys.split(",")), None)
    return found.action.removeprefix("act('").removesuffix("')") if found else ""


WHY_NOT = {
    "left": "nothing folds here; tab goes to the next pane",
    "right": "nothing folds here; tab goes to the next pane",
    "page_left": "nothing lies to the left",
    "page_right": "nothing lies to the right",
    "zoom": "this pane has one level of detail",
    "go_ahead": "nothing here waits for a word of yours",
    "break_it": "no assumption on this row",
    "compare": "no break to compare with",
    "evidence": "no belief on this row that evidence could bear on",
    "inspect": "the words at the foot of the pane are all that is recorded",
    "redo": "nothing here is done again",
    "sort": "these rows have one order",
    "tiers": "tiers belong to the graph: 1",
    "co_change": "co-change belongs to the graph: 1",
    "undo": "nothing to take back",
    "undo_undo": "nothing was taken back",
    "filter": "these rows have no filter",
    "why": "the words at the foot of the pane say it",
    "take_out": "nothing to take out here",
    "export": "mog export writes files; Y copies the pane",
}
"""Why the key of an action cannot act, where the pane in use has nothing better to say."""


def shown(action: str) -> str:
    """How the table writes the key of ``act('<action>')``; the screen respells what it says where a person moved that key."""
    return next((key.shown.split()[0] for key in KEYS if key.action == f"act('{action}')"), action)


HELP_FOOT = (("type", "to filter"), ("enter", "run"), ("esc", "back"))

PRIORITY = ("cancel", "palette")
"""Actions whose keys count even while a line of text is typed."""


def bindings() -> list[Binding]:
    """The table as bindings of the home screen: each has an id, so a keymap can move it."""
    from textual.binding import Binding

    return [Binding(k.keys, k.action, k.says, show=False, id=k.id, priority=k.action in PRIORITY) for k in KEYS]
