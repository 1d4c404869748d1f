"""The home screen beside agents: it says that it is there, hears what they ask, follows them, and shows what waits for a word.

Who calls: ``screens/home.py`` builds on it. What may not come in: how calls and requests are drawn (``panes/``), serving (``app/mcp``,
which a verb hands over as ``agents``).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual.timer import Timer

from mog.app.present import clean
from mog.app.tui.acts import Acts
from mog.app.tui.keys import KEYS
from mog.app.tui.messages import Fed
from mog.app.tui.outside import Outside
from mog.engine import model as m
from mog.engine.errors import MogError

if TYPE_CHECKING:
    from mog.engine.traffic import Call

BEAT = 2.0  # seconds between two signs of life
ENDS_FOLLOWING = frozenset(
    name for key in KEYS if key.group in ("move", "go") and key.action != "follow" for name in key.keys.split(",")
)
_STEPS = ((10.0, 1.0), (60.0, 5.0), (3_600.0, 60.0))


class AgentActs(Acts):
    """Agents beside the person."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._outside: Outside | None = None
        self._mark = f"{os.getpid()}.{secrets.token_hex(4)}"
        self._beaten = float("-inf")
        self._aging: Timer | None = None

    # -- beginning and ending ------------------------------------------------------------------------------------------

    def begin(self, *, index_first: bool) -> None:
        """As before, and listen to other processes: at once while an index is built, else when the graph stands."""
        super().begin(index_first=index_first)
        if index_first:
            self._listen()

    def _ask_rest(self) -> None:
        super()._ask_rest()
        self._listen()

    def _listen(self) -> None:
        if self._outside is not None or self.jobs.stopped.is_set():
            return
        self._outside = Outside(self._look, self._hear)
        self._outside.start()
        if self.agents is not None:
            self.start("agents", self.agents.begin, lambda _: self.draw("health"))

    def end(self) -> None:
        """Stop listening, and say that nobody is here to answer any more."""
        if self._outside is not None:
            self._outside.stop()
            self.desk.approvals.leave(self._mark)
        super().end()

    # -- on the thread that looks --------------------------------------------------------------------------------------

    def _look(self) -> Mapping[str, object]:
        """What others wrote; and, every other second, a sign that somebody is here."""
        now = time.monotonic()
        if now - self._beaten >= BEAT and self._outside is not None and not self.jobs.stopped.is_set():
            self._beaten = now
            with contextlib.suppress(
                OSError, MogError
            ):  # a folder that takes no word: agents are refused as without a workbench
                self.desk.approvals.beat(self._mark)
        with contextlib.suppress(OSError, MogError):
            self.desk.notice()
        with contextlib.suppress(OSError, MogError):
            found = dict(self.desk.written())
            if self.content("approvals").requests:  # those whose client is gone leave without a word
                found["waiting"] = (found.get("waiting"), int(now // BEAT))
            if self.agents is not None:
                found["agents"] = self.agents.state()
            return found
        return {}

    def _hear(self, kind: str) -> None:
        if kind == "agents":
            self.call_later(self.draw, "health")
        else:
            self.post_message(Fed(m.Change(kind, 0)))

    # -- the age of the last call --------------------------------------------------------------------------------------

    def draw_top(self) -> None:
        """The top line; again when the age it tells is another one."""
        super().draw_top()
        if self._aging is not None:
            self._aging.stop()
            self._aging = None
        seconds = None if self.opening else self.content("traffic").seconds_ago()
        if seconds is not None:
            step = next((step for below, step in _STEPS if seconds < below), 3_600.0)
            self._aging = self.set_timer(step, self.draw_top)

    # -- following -----------------------------------------------------------------------------------------------------

    def action_follow(self) -> None:
        """The graph follows what the agent walks, until a movement key."""
        traffic = self.content("traffic")
        if traffic.led is not None:
            self._end_following()
            self.say("F: the graph is held by you again")
        elif not traffic.fills():
            self.say("F: no agent to follow, none has asked yet")
        else:
            traffic.led = self._lead
            newest = traffic.newest()
            self.content("graph").led_by = clean(newest.client if newest else "")[:24] or "the agent"
            if newest is not None:
                self._lead(newest)
            self.draw("graph", "traffic")
            self.say("the graph follows the agent; the first movement key ends it")

    def _lead(self, call: Call) -> None:
        """Bring the first code that a call walked into the graph; the person keeps the pane they are in."""
        target = next((one for one in call.path if one.startswith(("sym:", "file:"))), "")
        if target:
            self.content("graph").led_by = clean(call.client)[:24] or "the agent"
            self.content("graph").focus(target)

    def key_came(self, key: str) -> None:
        """A key is about to act: one that moves ends following."""
        if key in ENDS_FOLLOWING and self.content("traffic").led is not None:
            self._end_following()

    def _end_following(self) -> None:
        self.content("traffic").led = None
        self.content("graph").led_by = ""
        self.draw("graph", "traffic")

    # -- approvals -----------------------------------------------------------------------------------------------------

    def action_approvals(self) -> None:
        """What agents want written and a person has to allow."""
        content = self.content("approvals")
        if not content.requests:
            self.say("A: no request waits")
            return
        from mog.app.tui.screens.approval import Approval

        self.app.push_screen(Approval(content))
