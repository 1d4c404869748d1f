"""What agents want written and a person has to allow: how many wait, each in full, and the answers.

Who calls: the top line ("A 1 waits") and ``screens/approval.py``. What may not come in: the toolkit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mog.app import plain_traffic
from mog.app.present import clean
from mog.app.tui import approval_rows
from mog.app.tui.panes.base import Content, Host
from mog.app.tui.rows import Sheet, teach
from mog.widgets.view import Cell

if TYPE_CHECKING:
    from mog.engine.approvals import Request

BY = "person, at the workbench"
NONE = (
    "No request waits.",
    "Writes of agents that need a word of yours stand here while their client waits, five minutes at most.",
)


class Approvals(Content):
    """Attributes: requests: those that wait, oldest first. at: the one that is looked at. changed: told when there are others."""

    name, digit, title = "approvals", "A", "Approval"
    foot = (("← →", "choose"), ("enter", "do it"), ("i", "whole"), ("n", "next"), ("esc", "later"))
    wakes = frozenset({"waiting"})

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.requests: tuple[Request, ...] = ()
        self.at = ""
        self.whole = False
        self.near: dict[str, Sequence[tuple[Any, float]]] = {}
        self.changed: Callable[[], None] = lambda: None
        self.clock: Callable[[], float] = time.time

    def ask(self) -> None:
        self.host.start("approvals", lambda: self.host.desk.approvals.waiting(), self.got)

    def got(self, requests: Sequence[Request]) -> None:
        self.requests = tuple(requests)
        known = {one.id for one in requests}
        self.near = {id: found for id, found in self.near.items() if id in known}
        self.host.draw_top()
        self.changed()

    def glance(self, step: int) -> list[Cell]:
        count = len(self.requests)
        return [Cell(f"A {count} wait{'s' if count == 1 else ''}", "attn", True)] if count else []

    # -- the request that is looked at ---------------------------------------------------------------------------------

    @property
    def request(self) -> Request | None:
        """The one that is looked at; ``None`` when it waits no longer."""
        return next((one for one in self.requests if one.id == self.at), None)

    def look_at(self, step: int = 0) -> None:
        """Look at the first that waits, or ``step`` further from the one that is looked at."""
        ids = [one.id for one in self.requests]
        place = ids.index(self.at) + step if self.at in ids else 0
        self.at, self.whole = (ids[place % len(ids)] if ids else ""), False
        request = self.request
        if request is not None and request.id not in self.near:
            text = " ".join(
                value
                for name, value in request.arguments.items()
                if name in approval_rows.TEXTS and isinstance(value, str)
            )
            self.host.start("alike", partial(self.host.desk.alike, text), partial(self._got_near, request.id))

    def _got_near(self, id: str, near: Sequence[tuple[Any, float]]) -> None:
        self.near[id] = near
        self.changed()

    def sheet(self, width: int, lines: int) -> Sheet:
        if not self.at and self.requests:
            self.look_at()
        request = self.request
        if request is None:
            words = (
                ("This request waits no longer.", "Its client gave up, or it was answered elsewhere.")
                if self.at
                else NONE
            )
            return Sheet(teach(*words, width=width - 4), title_right="gone" if self.at else "none")
        place = [one.id for one in self.requests].index(request.id) + 1
        waited = plain_traffic.age(max(0.0, self.clock() - request.at))
        found = approval_rows.request_lines(request, self.near.get(request.id), width, whole=self.whole or not lines)
        note = f"{place} of {len(self.requests)}"
        return Sheet(found, title_note=note, title_right=f"“{clean(request.client)[:40]}” has waited {waited}")

    def answer(self, id: str, allowed: bool, why: str = "", then: Callable[[], None] = lambda: None) -> None:
        """Settle a request; ``then`` when it is settled, or turned out to wait no longer."""
        from mog.engine.approvals import Said

        said = Said(allowed, BY, why)

        def settled(_: object) -> None:
            self.host.say(
                "allowed, once: its event says that you did"
                if allowed
                else "refused" + (f": {clean(why)}" if why else "")
            )
            self._forget(id)
            then()

        def failed(error: BaseException) -> bool:
            self.host.say(f"A: {error}")
            self._forget(id)
            then()
            return True

        self.host.start("answer", partial(self.host.desk.approvals.answer, id, said), settled, failed)

    def _forget(self, id: str) -> None:
        self.requests = tuple(one for one in self.requests if one.id != id)
        self.at = "" if self.at == id else self.at
        self.host.draw_top()
        self.ask()
