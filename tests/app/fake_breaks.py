"""What would fall, and the plans, of the made-up repository: the real engine over the story of the drawings, made once a process.

Who calls: ``fake_workspace.py`` (previews alone; nobody writes to the shared story), tests of the panes that break and run, which
make a repository of their own with ``believed``.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mog.engine import model as m
from mog.engine.breaks import Breaks
from mog.engine.code.changed import Changed
from mog.engine.work import Work
from mog.engine.workspace import Workspace

CODE = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        return round_cents(sum(self.lines))\n",
    "shop/money.py": "def round_cents(amount):\n    return int(amount)\n",
}
PLAN = """\
version: 1
plan: checks
tasks:
  - {name: cart, inputs: {files: [shop/cart.py]}, argv: [pytest, tests/test_cart.py], assumes: [totals round once]}
  - {name: invoice, title: test invoices, argv: [pytest, tests/test_invoice.py], inputs: {files: [shop/money.py]}, needs: [cart]}
"""
ROUNDS = "totals round once, last"


@dataclass(frozen=True)
class Story:
    """A workspace in which something is believed; words → id."""

    workspace: Workspace
    ids: dict[str, str]


def believed(workspace: Workspace) -> dict[str, str]:
    """The story of the drawings: ``ROUNDS`` fells four, weakens one, and three survive."""
    b = workspace.beliefs
    made: dict[str, str] = {}

    def say(words: str, effect: Any) -> str:
        made[words] = str(effect.result)
        return made[words]

    rounds = say(ROUNDS, b.assume(ROUNDS, about=["sym:shop/cart.py::Cart.total"]))
    minor = say("prices in minor units", b.assume("prices in minor units"))
    march, notes = say("March audit", b.evidence("March audit")), say("vat-notes.md", b.evidence("vat-notes.md"))
    equal = say("invoice equals cart", b.claim("invoice equals cart", rests_on=[[rounds]]))
    drop = say("drop line rounding", b.decide("drop line rounding", "one place to round", rests_on=[rounds]))
    say("VAT report is exact", b.claim("VAT report is exact", rests_on=[[drop]]))
    say("no cents column", b.decide("no cents column", "it equals the cart", rests_on=[equal]))
    refunds = say("refunds match receipts", b.claim("refunds match receipts", rests_on=[[rounds], [march]]))
    steps = say("VAT steps are yearly", b.claim("VAT steps are yearly", rests_on=[[refunds], [notes]]))
    say("freeze-vat", b.decide("freeze-vat", "a change of law is a release", rests_on=[steps]))
    say("refunds are whole cents", b.claim("refunds are whole cents", rests_on=[[refunds]]))
    say("keep Decimal out of API", b.decide("keep Decimal out of API", "cents are integers", rests_on=[minor]))
    return made


@cache
def story() -> Story:
    """The shared story, in a folder that goes with the process."""
    root = Path(tempfile.mkdtemp(prefix="mog-story-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for name, text in {**CODE, "plan.yaml": PLAN, "mog.yaml": ""}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    workspace = Workspace.open(root)
    return Story(workspace, believed(workspace))


class FakeBreaks:
    """The part of a workspace that panes 6, 0 and I ask."""

    @property
    def breaks(self) -> Breaks:
        self._asked("breaks", index=False)  # type: ignore[attr-defined]
        return story().workspace.breaks

    @property
    def work(self) -> Work:
        self._asked("work", index=False)  # type: ignore[attr-defined]
        return story().workspace.work

    def changed(self) -> Sequence[Changed]:
        self._asked("changed", index=False)  # type: ignore[attr-defined]
        return (Changed("shop/cart.py", "modified", "", (41,)), Changed("shop/new.py", "added", "", None))

    def impact(
        self, *targets: str, limit: int = 200, tests: bool = False, changed: str = "", history: bool = False
    ) -> m.ImpactAnswer:
        self._asked("impact")  # type: ignore[attr-defined]
        nodes = self.nodes  # type: ignore[attr-defined]
        seeds = [nodes[one] for one in targets] or [n for n in nodes.values() if n.qual == "Cart.total"]
        paths = {seed.path for seed in seeds}
        rows = []
        for src, dst, kind, tier, _ in self.edges:  # type: ignore[attr-defined]
            if dst.path in paths and src.path not in paths and tier is m.Tier.certain:
                rows.append(m.Reached(src, 1, dst, kind, tier, m.Freshness.fresh))
        found = [row.node for row in rows if row.node.kind == "test"]
        files = len({row.node.path for row in rows})
        stamp = m.IndexStamp(7, "main", True)
        return m.ImpactAnswer(
            seeds[0], tuple(rows), len(rows), (len(rows),), tuple(found), len(found), files, m.Boundary(), stamp,
            seeds=tuple(seeds), maybe_total=2, test_files=tuple({n.path for n in found}), test_files_total=len({n.path for n in found}),
        )  # fmt: skip


__all__ = ["FakeBreaks", "Story", "believed", "story"]
