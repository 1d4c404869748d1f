"""What agents do in the made-up repository: calls, a working set, requests that wait; in memory, answered as the engine would.

Who calls: ``fake_workspace.FakeWorkspace`` has it as a base; tests put calls, items and requests in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mog.engine import model as m
from mog.engine.approvals import Request, Said
from mog.engine.errors import NotFound, PolicyDenied
from mog.engine.memory.set_records import (
    Budget,
    Entry,
    Now,
    Pinned,
    Place,
    Recalled,
    SessionRow,
    State,
    Stub,
    Totals,
    Turned,
    Weighed,
)
from mog.engine.retrieval.model import Item, Zoom
from mog.engine.traffic import Call, Total


class FakeRecord:
    """As ``engine.traffic.Traffic``; ``looks`` counts how many calls were read."""

    def __init__(self) -> None:
        self.trouble = ""
        self.kept: list[Call] = []
        self.looks = 0

    def add(self, *calls: Call) -> None:
        """Calls, oldest first; each gets the next number."""
        for call in calls:
            self.kept.append(replace(call, seq=len(self.kept) + 1))

    def span(self) -> tuple[int, int]:
        return (1, len(self.kept)) if self.kept else (0, 0)

    def numbers(self, client: str = "", *, after: int = 0) -> tuple[int, ...]:
        found = (call for call in reversed(self.kept) if not client or call.client == client)
        return tuple(call.seq for call in found if call.seq > after)

    def calls(self, numbers: Sequence[int]) -> tuple[Call, ...]:
        self.looks += len(numbers)
        return tuple(self.kept[number - 1] for number in sorted(numbers, reverse=True))

    def totals(self, *, after: int = 0, upto: int = 2**62) -> tuple[Total, ...]:
        sums: dict[tuple[str, str], Total] = {}
        for call in (one for one in self.kept if after < one.seq <= upto):
            key = (call.client, call.tool)
            old = sums.get(key, Total(*key, 0, 0, 0, 0.0))
            failed = old.failed + (call.outcome != "ok")
            sums[key] = Total(*key, old.calls + 1, failed, old.tokens + call.tokens, old.ms + call.ms)
        return tuple(sums.values())


def entry(ref: str, title: str, tokens: int, **more: Any) -> Entry:
    """A served thing of the made-up repository."""
    id = more.pop("id", f"sym:shop/{ref}.py::{title}")
    made = Entry(
        ref, id, Place.held, Zoom.L2, tokens, tokens * 4, "function", title, "repo", "", m.Freshness.fresh, 0.4, 1, 3, 5, 0,
        Pinned.no, b"x",
    )  # fmt: skip
    return replace(made, **more)


class FakeSet:
    """One session's set."""

    def __init__(self, name: str, window: int = 8_000) -> None:
        self.name, self.window = name, window
        self.held: list[Entry] = []
        self.gone: list[Entry] = []
        self.texts: dict[str, str] = {}
        self.now: dict[str, Now] = {}

    def state(self) -> State:
        rows = []
        for one in self.held:
            parts = {"relevance": one.relevance, "recency": 0.2, "use": float(one.hits), "freshness": 0.5}
            score = sum(parts.values())
            kept = "pinned" if one.pinned else ""
            rows.append(Weighed(one, score, 1_000 * score / one.tokens, parts, kept, self.now.get(one.ref, Now(m.Freshness.fresh))))
        used = sum(one.tokens for one in self.held)
        stubs = tuple(Stub(one.ref, one.id, one.title, one.zoom, one.tokens, one.out, "[evicted]") for one in self.gone)
        return State(self.name, 6, Budget(self.window), used, 0, 900, tuple(rows), stubs, Totals(), "bpe")

    def _named(self, target: str, among: list[Entry]) -> Entry:
        found = next((one for one in among if one.ref == target), None)
        if found is None:
            raise NotFound(f"{target}: it is not held", way_out="recall it first")
        return found

    def put_out(self, target: str) -> Turned:
        found = self._named(target, self.held)
        if found.pinned:
            raise PolicyDenied("it is pinned", way_out="unpin it first")
        self.held.remove(found)
        self.gone.insert(0, replace(found, place=Place.evicted, out=6))
        return self._turned()

    def pin(self, target: str) -> Entry:
        return self._pinned(target, Pinned.hand)

    def unpin(self, target: str) -> Entry:
        return self._pinned(target, Pinned.no)

    def _pinned(self, target: str, how: Pinned) -> Entry:
        found = self._named(target, self.held)
        made = replace(found, pinned=how)
        self.held[self.held.index(found)] = made
        return made

    def recall(self, target: str, turn: int = 0) -> Recalled:
        found = self._named(target, [*self.held, *self.gone])
        if found in self.gone:
            self.gone.remove(found)
            found = replace(found, place=Place.held, out=0)
            self.held.append(found)
        text = self.texts.get(found.ref, f"def {found.title}():\n    return 1\n")
        item = Item(found.id, found.kind, text, found.zoom, found.tokens, found.size, m.Freshness.fresh, found.label)
        return Recalled(item, found, self.now.get(found.ref, Now(m.Freshness.fresh)), self._turned())

    def _turned(self) -> Turned:
        return Turned(self.name, 6, (), (), (), (), (), sum(one.tokens for one in self.held), 4_800)


class FakeSets:
    """As ``engine.memory.working_set.WorkingSets``: the last added is the last used."""

    def __init__(self) -> None:
        self.all: dict[str, FakeSet] = {}

    def sessions(self) -> tuple[SessionRow, ...]:
        found = reversed(self.all.values())
        return tuple(SessionRow(one.name, 6, one.state().used, len(one.held), len(one.gone), 4_800) for one in found)

    def session(self, name: str) -> FakeSet:
        return self.all[name]


class FakeApprovals:
    """As ``engine.approvals.Approvals``; ``said`` holds the answers, by request."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.said: dict[str, Said] = {}
        self.beats = 0

    def beat(self, mark: str) -> None:
        self.beats += 1

    def leave(self, mark: str) -> None:
        self.beats = 0

    def waiting(self) -> tuple[Request, ...]:
        return tuple(self.requests)

    def answer(self, id: str, said: Said) -> None:
        found = next((one for one in self.requests if one.id == id), None)
        if found is None:
            raise NotFound("this request waits no longer", way_out="its client gave up")
        self.requests.remove(found)
        self.said[id] = said


class AgentWorld:
    """The part of a workspace that agents leave their traces in. Its subclass has ``nodes``."""

    nodes: dict[str, m.Node]

    def __init__(self) -> None:
        self.traffic = FakeRecord()
        self.working_sets = FakeSets()
        self.approvals = FakeApprovals()
        self.marked: dict[str, str] = {}
        self.records: dict[str, Any] = {}
        self.like: list[tuple[Any, float]] = []

    def marks(self, targets: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.marked.get(target, "same") for target in targets)

    def named(self, targets: Sequence[str]) -> Mapping[str, Any]:
        known: dict[str, Any] = {node.locator: node for node in self.nodes.values()}
        return {target: one for target in targets if (one := self.records.get(target) or known.get(target))}

    def alike(self, text: str, limit: int = 3) -> Sequence[tuple[Any, float]]:
        return self.like

    def notice(self) -> None:
        """Nobody else publishes here."""

    def written(self) -> Mapping[str, object]:
        """What changes when a test put something in: no file is looked at."""
        served = [(name, len(one.held), len(one.gone)) for name, one in self.working_sets.all.items()]
        waiting = [one.id for one in self.approvals.requests]
        return {"traffic": len(self.traffic.kept), "served": tuple(served), "waiting": tuple(waiting)}
