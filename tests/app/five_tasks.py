"""The five tasks of a newcomer as keys, on a small real repository with beliefs, an edit and a question of an agent.

Who calls: ``test_tui_five_tasks.py``, and ``tests/helpers/pictures.py`` for the pictures of the guide.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from reason_story import edit, told
from textual.pilot import Pilot

from mog.app.tui.options import Options
from mog.app.tui.screens.home import Home
from mog.app.tui.workbench import Workbench
from mog.engine.traffic import Call
from mog.engine.workspace import Workspace

ENV = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
CODE = '''"""What a parcel costs."""


def round_cents(amount: float) -> int:
    """Half up, in cents."""
    return int(amount * 100 + 0.5)


def quote(weight: float) -> int:
    """Price of a parcel in cents."""
    return round_cents(4.2 + 0.3 * weight)


def invoice(weights: list[float]) -> int:
    """Price of a month of parcels in cents."""
    return round_cents(sum(quote(weight) for weight in weights) / 100)
'''


@dataclass(frozen=True, slots=True)
class Task:
    """A task: keys as the toolkit spells them and as a person writes them, and words that are on the screen afterwards."""

    name: str
    keys: tuple[str, ...]
    seen: tuple[str, ...]
    edited: bool = False

    @property
    def shown(self) -> tuple[str, ...]:
        """Keys as a person writes them."""
        return tuple({"slash": "/"}.get(key, key) for key in self.keys)


TASKS = (
    Task("callers", ("slash", "r", "o", "u", "n", "enter"), ("Graph", "round_cents", "quote", "invoice", "←──")),
    Task("stale", ("4", "w"), ("Walk  why", "The client gives up on the carrier", "1 drifted"), edited=True),
    Task("told", ("9", "enter"), ("where is the price of a", "walked", "[f] quote", "told    2 of 2 found")),
    Task("break", ("4", "b", "a", "enter", "enter", "u"), ("taken back", "Break"), edited=True),
    Task("drill", ("d", "h", "space", "l", "enter"), ("DRILL", "revealed")),
)


def world(root: Path) -> Workspace:
    """The repository of the story, indexed, with one question of an agent on record."""
    workspace = told(root)
    (root / "prices.py").write_text(CODE, encoding="utf-8")
    person = ["-c", "user.name=A Person", "-c", "user.email=person@example.invalid"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*person, "commit", "-q", "-m", "start"]):
        subprocess.run(["git", *command], cwd=root, check=True, stdin=subprocess.DEVNULL, timeout=60)
    workspace.close()
    workspace = Workspace.open(root)
    workspace.index()
    walked = ("sym:prices.py::round_cents", "sym:prices.py::quote")
    workspace.traffic.record(
        Call(
            "2026-11-30T12:41:07.000+00:00", "claude-code 2.1.0", "4f2a19c0", "search_context",
            {"query": "where is the price of a parcel rounded", "budget": 1_000}, tokens=212, ms=11.0, path=walked,
            marks=workspace.marks(walked), generation=1,
            told={"said": "2 of 2 found, 212 of 1,000 tokens", "shown": 2, "total": 2, "states": {"fresh": 2}},
        )
    )  # fmt: skip
    return workspace


async def settled(pilot: Pilot[None]) -> None:
    """Until no job runs and nothing waits to be drawn; at most twenty seconds."""
    until = time.monotonic() + 20
    quiet = 0
    while quiet < 3 and time.monotonic() < until:
        await pilot.pause(0.05)
        home = pilot.app.screen_stack[0]
        assert isinstance(home, Home)
        busy = home.jobs._running - {"watch", "agents"} or home.opening or home._later
        quiet = 0 if busy else quiet + 1


@asynccontextmanager
async def played(task: Task, root: Path, theme: str = "dark") -> AsyncIterator[Home]:
    """The home screen after the keys of a task, from a cold start."""
    workspace = await asyncio.to_thread(world, root)
    try:
        if task.edited:
            edit(root)
        app = Workbench(workspace, environ=ENV, theme=theme, motion=False, options=Options(tour=False))
        async with app.run_test(size=(120, 36)) as pilot:
            await settled(pilot)
            for key in task.keys:
                await pilot.press(key)
                await settled(pilot)
            home = app.screen_stack[0]
            assert isinstance(home, Home)
            yield home
    finally:
        workspace.stop_watch()
        workspace.close()


def screen_text(home: Home) -> str:
    """What stands on the screen."""
    lines = home.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line) for line in lines)
