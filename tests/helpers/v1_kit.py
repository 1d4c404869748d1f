"""Graphs of the earlier package (contextmesh-graph), made with its own API, and meshes to take them into."""

from __future__ import annotations

import datetime
import functools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

WHY = "the earlier package is not installed (pip install 'contextmesh-graph>=0.1.1,<0.2')"


def earlier() -> SimpleNamespace:
    """The parts of the earlier package that tests use; skips when it is not installed."""
    pytest.importorskip("contextmesh", reason=WHY)
    from contextmesh import assumptions, corpus, decisions, demo, graph, model, pipeline, resolve, traverse

    return SimpleNamespace(
        Graph=graph.ContextGraph, Ledger=assumptions.AssumptionLedger, Decisions=decisions.DecisionLog,
        Resolver=resolve.Resolver, Walker=traverse.Walker, Pipeline=pipeline.Pipeline, N=model.NodeType, E=model.EdgeType,
        Provenance=model.Provenance, documents=corpus.documents, demo=demo,
    )  # fmt: skip


@functools.cache
def demo(rounds: int = 8, reject: bool = True) -> Any:
    """The earlier package's demo, run once: its graph, resolver, walker and ledger."""
    return earlier().demo.run(rounds=rounds, reject=reject)


def mesh(folder: Path, *, seed_rule: bool = False, **more: Any) -> Any:
    """An empty mesh on a ledger in ``folder``."""
    from mog.engine import ontology
    from mog.engine.ledgers.events import EventLog
    from mog.engine.reason.mesh import Mesh

    return Mesh(EventLog(folder / "ledger.db"), ontology.load(), "repo", seed_rule=seed_rule, **more)


def tangle(folder: Path, seed: int, **more: Any) -> Any:
    """A random mesh made here, all of it dated: alternatives, bound edges, judgements, retirements."""
    rng, m = random.Random(seed), mesh(folder, **more)
    day = datetime.date(2026, 1, 1)
    with m.writing("tangled") as w:
        sources = [w.source(f"S{i}", origin="o", retrieved_at=str(day + datetime.timedelta(i))) for i in range(4)]
        claims = [w.claim(f"C{i}", source=rng.choice(sources)) for i in range(8)]
        grounds = [w.assume(f"A{i}") for i in range(4)]
        things = [w.entity(f"E{i}") for i in range(3)]
        choices: list[str] = []
        for i in range(6):
            before = rng.sample(choices, min(1, len(choices)))
            new = w.decide(
                f"D{i}", "r", source=rng.choice(sources), claims=rng.sample(claims, 2), assumptions=rng.sample(grounds, 2),
                decisions=before, produces=rng.sample(things, 1),
            )  # fmt: skip
            choices.append(new)
        for claim in rng.sample(claims, 3):
            w.claim(m.graph.node(claim).label, source=rng.choice(sources))
            w.edge("depends_on", claim, rng.choice(grounds))
        for _ in range(3):
            w.ground(rng.choice(things), rng.sample(claims, 2))
        for a, b in [rng.sample(claims, 2) for _ in range(2)]:
            w.edge("contradicts", a, b)
        for edge in rng.sample(sorted(m.tables.edges), 4):
            w.bind(edge, rng.choice(grounds))
        for i in range(3):
            proof = w.evidence(f"V{i}", source=rng.choice(sources))
            w.judge(proof, rng.choice([*grounds, *claims]), rng.choice(["contradicts", "dismissed"]), auditor="person")
        w.retire(rng.choice(claims), "pruned")
        w.retire(rng.choice([*choices, *grounds]), "withdrawn")
    return m


class RandomV1:
    """A random small graph, made with the earlier package's API only.

    Args:
        tangled: also supersede, reject, prune, close positive loops and bind edges that a fall travels along.
    """

    def __init__(self, seed: int, tangled: bool = True) -> None:
        self.cm = earlier()
        self.rng = random.Random(seed)
        self.graph = self.cm.Graph()
        self.ledger = self.cm.Ledger(self.graph)
        self.log = self.cm.Decisions(self.graph)
        self.tangled = tangled
        self.travelled = (self.cm.E.DEPENDS_ON, self.cm.E.DERIVED_FROM, self.cm.E.PRODUCES)
        self._sources()
        self._claims()
        self._entities()
        self._assumptions()
        self._decisions()
        self._depend()
        self._bind()
        if tangled:
            self._upset()

    def some(self, ids: list[str], most: int) -> list[str]:
        return self.rng.sample(ids, min(len(ids), self.rng.randint(0, most)))

    def _sources(self) -> None:
        self.sources = [
            self.graph.add_node(
                self.cm.N.SOURCE, f"Paper {i}", attrs={"origin": f"p{i}.md", "retrieved_at": self._day()}
            ).id
            for i in range(self.rng.randint(1, 4))
        ]

    def _day(self) -> str:
        return self.rng.choice(["2026-01-08", "2026-03-01", "2026-07-31", "at plan time"])

    def _claims(self) -> None:
        self.claims = []
        for i in range(self.rng.randint(1, 6)):
            lifted = self.cm.Provenance(self.rng.choice(self.sources), (0, i), recorded_at_build=i)
            node = self.graph.add_node(self.cm.N.CLAIM, f"Claim {i} holds", provenance=lifted)
            self.claims.append(node.id)
            for source in self.some(self.sources, 2):
                self.graph.add_edge(node.id, self.cm.E.DERIVED_FROM, source, weight=self.rng.choice([1.0, 2.5, 3.0]))

    def _entities(self) -> None:
        self.entities = []
        for i in range(self.rng.randint(1, 4)):
            attrs = {"canonical": f"Thing {i}", "aliases": [], "size": self.rng.choice([1, 1.0, -0.0, 2**60, 0.5])}
            node = self.graph.add_node(self.cm.N.ENTITY, f"Thing {i}", attrs=attrs)
            self.entities.append(node.id)
            for source in self.some(self.sources, 2):
                self.graph.add_edge(node.id, self.cm.E.DERIVED_FROM, source)

    def _assumptions(self) -> None:
        made = [self.ledger.assume(f"Ground {i} is firm", created_by="team") for i in range(self.rng.randint(1, 4))]
        self.assumptions = [one.id for one in made]

    def _decisions(self) -> None:
        self.decisions: list[str] = []
        for i in range(self.rng.randint(1, 5)):
            node = self.log.decide(
                f"Choice {i}", "for good reason", source_id=self.rng.choice(self.sources),
                id=self.rng.choice([None, f"decision:keyed-{i}"]), supported_by=self.some(self.claims, 2),
                assumptions=self.some(self.assumptions, 2), produces=self.some(self.entities, 2),
                supersedes=self.rng.choice([None, *self.decisions]),
            )  # fmt: skip
            self.decisions.append(node.id)

    def _depend(self) -> None:
        for claim in self.some(self.claims, 2):
            self.ledger.depends(claim, self.rng.choice(self.assumptions))
        for _ in range(self.rng.randint(0, 3)):
            a, b = self.rng.choice(self.decisions), self.rng.choice(self.decisions)
            if a != b and (self.tangled or self.decisions.index(a) > self.decisions.index(b)):
                self.graph.add_edge(a, self.cm.E.DEPENDS_ON, b)

    def _bind(self) -> None:
        quiet = [id for id, e in sorted(self.graph.edges.items()) if e.type not in self.travelled or self.tangled]
        for edge in self.some(quiet, 2):
            self.ledger.justifies(self.rng.choice(self.assumptions), edge)

    def _upset(self) -> None:
        for i in range(self.rng.randint(0, 2)):
            active = [a.id for a in self.ledger.active()]
            if not active:
                return
            if self.rng.random() < 0.4:
                self.ledger.supersede(self.rng.choice(active), f"Better ground {i}")
                continue
            evidence = self.graph.add_node(self.cm.N.EVIDENCE, f"Finding {i}", attrs={"kind": "audit"})
            replacement = self.rng.choice([None, f"Other ground {i}"])
            self.ledger.reject(self.rng.choice(active), evidence_id=evidence.id, replacement=replacement)
        for id in self.some([*self.claims, *self.entities], 1):
            self.graph.nodes[id].pruned = True
        self.graph.build = self.rng.randint(0, 9)
