"""The panes of the workbench by name: which there are, in which order, and where they stand. Modules load when a pane is wanted.

Who calls: the home screen, help, and the plain-text twins. What may not come in: the toolkit, what a pane shows (``base.py`` says how
one works; each has a module of its own).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mog.app.tui.panes.base import Content, Host


@dataclass(frozen=True, slots=True)
class Entry:
    """A pane of the registry: ``module:Class`` of its content, its key, its heading, and that as a tab."""

    place: str
    digit: str
    title: str
    tab: str


REGISTRY: dict[str, Entry] = {
    "graph": Entry("graph:Graph", "1", "Graph", "Graph"),
    "walk": Entry("walk:Walk", "2", "Walk", "Walk"),
    "dead": Entry("dead:Dead", "3", "Dead ends", "Dead"),
    "drift": Entry("drift:Drift", "4", "Drift", "Drift"),
    "ws": Entry("ws:WorkingSet", "5", "Set", "Set"),
    "blast": Entry("blast:Blast", "6", "Blast radius", "Fall"),
    "ledger": Entry("ledger:Ledger", "7", "Ledger", "Log"),
    "health": Entry("health:Health", "8", "Health", "Ok"),
    "traffic": Entry("traffic:Traffic", "9", "Asked", "MCP"),
    "work": Entry("work:Tasks", "0", "Work", "Work"),
    "map": Entry("map:Map", "M", "Map", "Map"),
    "impact": Entry("impact:Impact", "I", "Impact", "Impact"),
    "drill": Entry("drill:Drill", "d", "Drill", "Drill"),
    "find": Entry("find:Find", "/", "Search", "Find"),
    "approvals": Entry("approvals:Approvals", "A", "Approval", "Approval"),
}
"""Every pane, in the order in which tab goes through them."""

LEFT = ("traffic", "map")
"""What stands left of the centre at 120 cells and more: the first of them that has something to show, else the last."""
STACK = ("drift", "blast", "ws", "dead", "work", "health")
"""What stands on the right, most wanted first; what does not fit is left out."""
GLANCES = ("traffic", "drift", "ws", "health", "approvals")
"""Panes that have a part of the top line, in its order."""
FOLLOWERS = ("blast",)
"""Panes that follow the cursor of the others."""
ELSEWHERE = {
    "break_it": "blast", "compare": "blast", "undo": "blast", "undo_undo": "blast", "why": "walk", "inspect": "walk",
    "drill": "drill",
}  # fmt: skip
"""Action of a key → the pane that acts on a row of any other pane, where that one does not."""
BY_ACTION = ("find", "drill", "approvals")
"""Panes whose key is no digit of a pane: what it does is an action of its own."""
TABS = tuple(name for name in REGISTRY if name not in ("find", "approvals"))


def make(name: str, host: Host) -> Content:
    """The content of a pane.

    Raises:
        KeyError: there is no pane of that name.
    """
    module, _, kind = REGISTRY[name].place.partition(":")
    made: Content = getattr(import_module(f"mog.app.tui.panes.{module}"), kind)(host)
    return made
