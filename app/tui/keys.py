"""Every key of the workbench in one table: what it does, where, and why it cannot do it yet.

Who calls: the home screen makes its bindings from it, help and the command palette list it, the foot line quotes it.
What may not come in: actions themselves. One meaning a letter in every pane.
"""

from __future__ import annotations

from dataclasses import dataclass

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


KEYS: tuple[Key, ...] = (
    Key("j,down", "down", "next row", "j ↓", "move"),
    Key("k,up", "up", "previous row", "k ↑", "move"),
    Key("h,left", "left", "to what points in; fold", "h ←", "move"),
    Key("l,right", "right", "to what it points at; unfold", "l →", "move"),
    Key("g,home", "first", "first row", "g home", "move"),
    Key("G,end", "last", "last row", "G end", "move"),
    Key("ctrl+d,pagedown", "half_down", "half a page down", "pgdn ctrl+d", "move"),
    Key("ctrl+u,pageup", "half_up", "half a page up", "pgup ctrl+u", "move"),
    Key("enter", "open", "open the row at >", "enter", "act"),
    Key("escape", "back", "one step back", "esc", "act"),
    Key("comma,backspace", "history_back", "the node before", ",", "go"),
    Key("full_stop", "history_on", "the node after", ".", "go"),
    Key("slash", "search", "search as you type", "/", "go"),
    Key("n", "next_hit", "next search result", "n", "go"),
    Key("N", "previous_hit", "previous search result", "N", "go"),
    Key("colon", "jump", "jump to a name or locator, or run a command", ":", "go"),
    Key("tab", "next_pane", "next pane", "tab", "panes"),
    Key("shift+tab", "previous_pane", "previous pane", "shift+tab", "panes"),
    Key("1", "pane('graph')", "graph", "1", "panes"),
    Key("4", "pane('drift')", "drift", "4", "panes"),
    Key("8", "pane('health')", "health", "8", "panes"),
    Key("m", "full", "this pane fills the screen", "m", "panes"),
    Key("z", "zoom", "sides beside the node, or below each other", "z", "panes"),
    Key("t", "tiers", "tiers: + hierarchy, + maybe", "t", "act"),
    Key("p", "pin", "pin a note, or take a pin out", "p", "act"),
    Key("r", "redo", "verify the pins again; in health: index again", "r", "act"),
    Key("o", "editor", "open in $EDITOR", "o", "act"),
    Key("y", "copy_row", "copy the row", "y", "act"),
    Key("Y", "copy_pane", "copy the pane as text", "Y", "act"),
    Key("question_mark,f1", "help", "keys here", "?", "mog"),
    Key("ctrl+p", "palette", "command palette", "ctrl+p", "mog"),
    Key("ctrl+l", "redraw", "draw the screen again", "ctrl+l", "mog"),
    Key("ctrl+z", "suspend", "suspend to the shell", "ctrl+z", "mog"),
    Key("ctrl+c", "cancel", "cancel what runs; twice: quit", "ctrl+c", "mog"),
    Key("q", "quit", "quit", "q", "mog"),
)

NOT_YET: dict[str, tuple[str, str]] = {
    "a": ("go ahead", "nothing here waits for a word of yours"),
    "b": ("break", "no assumption is recorded that could fall; pins with p are watched for drift"),
    "c": ("compare", "no break to compare with"),
    "d": ("drill", "no assumption is recorded to drill on"),
    "e": ("evidence", "no assumption is recorded that evidence could bear on"),
    "f": ("labels", "rows are reached with j, k and /"),
    "i": ("inspect", "the words at the foot of the pane are all that is recorded"),
    "s": ("sort", "rows are ordered by tier, then type"),
    "u": ("undo", "nothing to take back; p on a pin takes that pin out"),
    "v": ("filter", "t changes the tiers, tab in / the kind"),
    "w": ("why", "the words at the foot of the pane say it"),
    "x": ("take out", "p takes a pin out"),
    "A": ("approvals", "no request waits"),
    "E": ("export", "mog export writes the edges; Y copies the pane"),
    "F": ("follow", "no agent to follow"),
    "H": ("page left", "nothing lies to the left"),
    "L": ("page right", "nothing lies to the right"),
    "T": ("co-change", "no history is indexed"),
    "U": ("redo", "nothing was taken back"),
}
"""Letters that mean something in every version, and why they cannot act in this one."""

NO_PANE = {
    "0": "work",
    "2": "walk",
    "3": "dead ends",
    "5": "working set",
    "6": "blast radius",
    "7": "ledger",
    "9": "traffic",
}

FORBIDDEN = frozenset(
    {
        f"ctrl+{key}"
        for key in ("left_square_bracket", "i", "m", "at", "h", "j", "a", "b", "s", "q", "backslash", "space")
    }
)
"""Keys that are another key's byte, or belong to terminals and multiplexers."""

FEET: dict[str, tuple[tuple[str, str], ...]] = {
    "graph": (("enter", "open"), ("p", "pin"), ("t", "tiers"), (",", "back"), ("o", "editor"), ("m", "full")),
    "map": (("enter", "open"), ("p", "pin"), ("o", "editor"), ("m", "full")),
    "drift": (("enter", "open"), ("r", "verify"), ("p", "unpin"), ("o", "editor"), ("m", "full")),
    "health": (("enter", "unfold"), ("r", "index again"), ("o", "editor"), ("m", "full")),
    "find": (("enter", "open"), ("↑ ↓", "choose"), ("tab", "kind"), ("esc", "back")),
    "help": (("type", "to filter"), ("enter", "run"), ("esc", "back")),
}
"""What the foot line offers in each pane, most useful first."""


def bindings() -> list[Binding]:
    """The table as bindings of the home screen: each has an id, so a keymap can move it."""
    made = [
        Binding(k.keys, k.action, k.says, show=False, id=k.id, priority=k.action in ("cancel", "palette")) for k in KEYS
    ]
    made += [
        Binding(key, f"not_yet('{key}')", says, show=False, id=f"not_yet.{key}") for key, (says, _) in NOT_YET.items()
    ]
    return made + [
        Binding(key, f"no_pane('{key}')", name, show=False, id=f"no_pane.{key}") for key, name in NO_PANE.items()
    ]
