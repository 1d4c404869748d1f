"""Items and sets for tests of the working set. What may not come in: assertions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mog.engine.config import EngineConfig
from mog.engine.memory.set_records import Now, Served
from mog.engine.memory.working_set import WorkingSet, WorkingSets
from mog.engine.model import Freshness, Node
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Item, Zoom


def item(
    name: str = "f", text: str = "def f(): ...\n", *, zoom: Zoom = Zoom.L1, kind: str = "function", score: float = 1.0,
    pinned: bool = False, label: str = "repo",
) -> Item:  # fmt: skip
    """One item of a pack; code has a node, a note (any other label) has none."""
    node = Node(1, "0" * 32, "symbol", kind, name, name, "a.py") if label == "repo" else None
    return Item(
        name, kind, text, zoom, estimator.tokens(text), estimator.size(text), Freshness.fresh, label, score=score, node=node,
        pinned=pinned,
    )  # fmt: skip


def sized(name: str, tokens: int, **more: object) -> Item:
    """An item that costs exactly ``tokens``."""
    return item(name, (name + " ").ljust(4 * tokens, "x")[: 4 * tokens], **more)  # type: ignore[arg-type]


def config(window: int = 1_000, **more: object) -> EngineConfig:
    """Settings with a small window: budget 600, low mark 450."""
    return EngineConfig(ws_window=window, **more)  # type: ignore[arg-type]


class Changing:
    """A judge that a test tells what became of things, by id."""

    def __init__(self) -> None:
        self.told: dict[str, Now] = {}
        self.asked = 0

    def __call__(self, served: Sequence[Served]) -> Mapping[str, Now]:
        self.asked += 1
        return {one.entry.ref: self.told.get(one.entry.id, Now(Freshness.fresh)) for one in served}


def one_set(mog_dir: Path, name: str = "agent", **more: object) -> WorkingSet:
    """The set of one session in a folder of its own."""
    return WorkingSets(mog_dir, config(**more)).session(name)
