"""Graphs to drill on: a shop with every outcome in it, and stars and chains of any size.

Who calls: tests/drills. What may not come in: assertions.
"""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

from mog.engine.errors import UsageError
from mog.engine.ledgers.events import EventLog
from mog.engine.ontology import load
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.overlay import Overlay
from mog.engine.reason.reach import reach
from mog.engine.workspace import Workspace

PRICES = "prices are in minor units"


def mesh_at(folder: Path) -> Mesh:
    """A mesh with a ledger of its own."""
    return Mesh(EventLog(folder / ".mog" / "ledger.db"), load(), "repo", clock=lambda: "2026-01-31T12:00:00Z")


def shop(mesh: Mesh) -> dict[str, str]:
    """One assumption whose fall fells, weakens and spares; words → id."""
    with mesh.writing("made") as w:
        prices, audit = w.assume(PRICES), w.assume("the audit of March is right")
        note = w.source("vat-notes.md", origin="file")
        gateway = w.claim("the gateway never sees fractions", source=note, grounded=False)
        w.ground(gateway, [prices])
        refunds = w.claim("refunds match receipts", source=note, grounded=False)
        w.ground(refunds, [prices])
        w.ground(refunds, [audit], note="March audit")
        both = w.claim("a receipt has no fraction", source=note, grounded=False)
        w.ground(both, [prices])
        w.ground(both, [prices, audit])
        cents = w.decide("store cents as integers", "floats lose cents", source=note, assumptions=[prices])
        column = w.decide("no cents column", "one form is enough", source=note, decisions=[cents])
        freeze = w.decide("freeze the VAT table", "a change of law is a release", source=note, claims=[refunds])
        spare = w.claim("a spare table is kept", source=note, grounded=False)
        w.ground(spare, [audit], [gateway])
        w.ground(spare, [prices], [gateway])
    names = {
        PRICES: prices, "audit": audit, "gateway": gateway, "refunds": refunds, "both": both, "cents": cents,
        "column": column, "freeze": freeze, "spare": spare,
    }  # fmt: skip
    return names


def star(mesh: Mesh, count: int, second: int = 0, spared: int = 0) -> str:
    """An assumption with so many claims on it; ``second`` of them have another ground, ``spared`` rest on these."""
    with mesh.writing("made") as w:
        hub, other = w.assume("the hub holds"), w.assume("the other holds")
        note = w.source("notes", origin="notes")
        claims = [w.claim(f"claim {at}", source=note, grounded=False) for at in range(count)]
        for at, claim in enumerate(claims):
            w.ground(claim, [hub])
            if at < second:
                w.ground(claim, [other])
        for at in range(spared):
            w.ground(w.claim(f"further {at}", source=note, grounded=False), [claims[at % max(1, second)]])
    return hub


def tangle(mesh: Mesh, rng: random.Random, size: int = 24) -> str:
    """A random graph: several grounds each, defeaters, edges bound to assumptions, some of it fallen; its busiest assumption."""
    with mesh.writing("made") as w:
        note = w.source("notes", origin="notes")
        firm = [w.assume(f"assumption {at}") for at in range(4)]
        known = list(firm)
        for at in range(size):
            rests = rng.sample(known, rng.randint(1, 2))
            if rng.random() < 0.3:
                of = {
                    kind: [id for id in rests if w.mesh.graph.node(id).type == kind]
                    for kind in ("assumption", "decision")
                }
                id = w.decide(
                    f"decision {at}", "so", source=note, assumptions=of["assumption"], decisions=of["decision"]
                )
            else:
                id = w.claim(f"claim {at}", source=note, grounded=False)
                w.ground(id, rests)
            for _ in range(rng.choice((0, 0, 1, 2))):
                barred = [rng.choice(known)] if rng.random() < 0.5 else []
                with contextlib.suppress(UsageError):
                    w.ground(id, rng.sample(known, rng.randint(0 if barred else 1, 2)), barred)
            known.append(id)
        edges = [e for e in w.mesh.graph.edges() if e.kind == "depends_on" and e.dst not in firm]
        for edge in edges[::2]:
            w.bind(edge.id, firm[0])
        for target in rng.sample(known[4:], 3):
            with contextlib.suppress(UsageError):
                w.judge(w.evidence(f"against {target}"), target, "contradicts", auditor="person", reason="seen")
        for target in rng.sample(known[4:], 2):
            w.retire(target, "retracted", reason="a slip")
    standing = [id for id in firm if mesh.stands(id)]
    return max(standing, key=lambda id: len(reach(Overlay(mesh).standing, id).steps))


def opened(root: Path) -> Workspace:
    """A workspace of a folder that nothing else is in."""
    (root / ".mog").mkdir(parents=True, exist_ok=True)
    return Workspace.open(root)
