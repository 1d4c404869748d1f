"""Random writes to a mesh, and what should stand after each by rules written down from GRAPH.md, solved by clingo.

Who calls: tests/reason/test_mesh_machine.py and ``benchmarks/beliefs.py``. The rules are made from the records alone; what
the engine compiled is never looked at.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import clingo

from mog.engine.errors import MogError
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.writer import Writer

BACKWARD = ("derived_from", "depends_on")
ALTERNATIVE = {("claim", "source"), ("entity", "source")}


def program(mesh: Mesh) -> tuple[str, dict[str, int]]:
    """Rule 2 of GRAPH.md as a logic program over the records; numbers of the nodes."""
    rows = mesh.tables.rows
    at = {id: i for i, id in enumerate(rows["node"])}
    lines = ["out(-1). hit(-1) :- in(-1). in(-1) :- hit(-2). hit(-2) :- hit(-1)."]
    for id, record in rows["retired"].items():
        if record.how != "pruned":
            lines.append(f"out({at[id]}).")
    lines += [f"out({at[id]})." for id, marks in rows["mark"].items() if "ungrounded" in marks]
    lines += [f"hit({at[j.target]}) :- in({at[j.evidence]})." for j in rows["judgement"].values() if j.verdict == "contradicts"]
    auxiliary = len(at)
    bodies: dict[str, list[list[str]]] = {id: [] for id in at}
    for id, node in rows["node"].items():
        joint, alternatives = [], []
        for edge in rows["edge"].values():
            backward = edge.kind in BACKWARD and edge.src == id
            if not backward and not (edge.kind == "produces" and edge.dst == id):
                continue
            premise = at[edge.dst if backward else edge.src]
            bound = edge.attrs.get("assumption")
            if bound:
                lines += [f"in({auxiliary}) :- in({premise}).", f"in({auxiliary}) :- not in({at[bound]})."]
                premise, auxiliary = auxiliary, auxiliary + 1
            if not backward:
                bodies[id].append([f"in({premise})"])
            elif (node.type, rows["node"][edge.dst].type) in ALTERNATIVE and edge.kind == "derived_from":
                alternatives.append(premise)
            else:
                joint.append(f"in({premise})")
        bodies[id] += [[*joint, f"in({p})"] for p in alternatives]
        if joint and not alternatives:
            bodies[id].append(joint)
    for g in rows["ground"].values():
        bodies[g.conclusion].append([f"in({at[p]})" for p in g.all_of] + [f"not in({at[p]})" for p in g.none_of])
    for id, number in at.items():
        free = f"not out({number}), not hit({number})"
        lines += [f"in({number}) :- {', '.join([*body, free])}." for body in bodies[id] or [[]]]
    return "\n".join([*lines, "#show in/1."]), at


def standing(mesh: Mesh) -> set[str]:
    """Ids that stand, by clingo. AssertionError when there is not exactly one stable model."""
    rules, at = program(mesh)
    control = clingo.Control(["0", "--warn=none"])
    control.add("base", [], rules)
    control.ground([("base", [])])
    with control.solve(yield_=True) as answers:
        models = [{a.arguments[0].number for a in m.symbols(shown=True)} for m in answers]
    assert len(models) == 1, f"{len(models)} stable models"
    return {id for id, number in at.items() if number in models[0]}


class Chance:
    """Random writes. ``pick`` chooses from a sequence; give it a seeded generator, or hypothesis's own."""

    def __init__(self, mesh: Mesh, rng: random.Random, size: int = 24) -> None:
        self.mesh, self.rng, self.size, self.count = mesh, rng, size, 0

    def ids(self, *types: str) -> list[str]:
        return [n.id for n in self.mesh.graph.nodes() if n.type in types]

    def some(self, ids: list[str], most: int) -> list[str]:
        return self.rng.sample(ids, min(len(ids), self.rng.randint(0, most)))

    def change(self) -> Callable[[Writer], Any]:
        """One random change, as a function of a writer."""
        full = len(self.mesh.graph) >= self.size
        makes = [] if full else [self._assume, self._claim, self._decide, self._evidence, self._entity]
        acts = [self._ground, self._judge, self._judge, self._flip, self._flip, self._drop, self._supersede, self._bind]
        self.count += 1
        return self.rng.choice([*makes, *acts])()

    def _assume(self) -> Callable[[Writer], Any]:
        words = f"assumption {self.rng.randrange(8)}"
        return lambda w: w.assume(words)

    def _claim(self) -> Callable[[Writer], Any]:
        words = f"claim {self.rng.randrange(8)}"
        sources = [f"source {self.rng.randrange(4)}" for _ in range(self.rng.randint(1, 2))]
        rests = self.some(self.ids("assumption"), 2)

        def change(w: Writer) -> None:
            for name in sources:
                id = w.claim(words, source=w.source(name, origin=name))
            for ground in rests:
                w.edge("depends_on", id, ground)

        return change

    def _decide(self) -> Callable[[Writer], Any]:
        title = f"decision {self.count}"
        a, c, d = self.some(self.ids("assumption"), 2), self.some(self.ids("claim"), 1), self.some(self.ids("decision"), 1)
        made = self.some(self.ids("entity", "source"), 1)
        return lambda w: w.decide(
            title, "because", source=w.source("notes", origin="notes"), assumptions=a, claims=c, decisions=d, produces=made
        )

    def _evidence(self) -> Callable[[Writer], Any]:
        words, against = f"evidence {self.count}", self.some(self.ids("claim", "assumption"), 1)

        def change(w: Writer) -> None:
            id = w.evidence(words)
            for target in against:
                w.edge("contradicts", id, target)

        return change

    def _entity(self) -> Callable[[Writer], Any]:
        name, sources = f"entity {self.rng.randrange(4)}", self.some(self.ids("source"), 2)

        def change(w: Writer) -> None:
            id = w.entity(name)
            for source in sources:
                w.edge("derived_from", id, source)

        return change

    def _ground(self) -> Callable[[Writer], Any]:
        every = self.ids("claim", "assumption", "decision", "entity", "evidence", "source")
        conclusion, premises = self.rng.choice(every or [""]), self.some(every, 3)
        barred = self.some(every, 1) if self.rng.random() < 0.4 else []
        return lambda w: w.ground(conclusion, premises, barred)

    def _judge(self) -> Callable[[Writer], Any]:
        found, target = self.ids("evidence"), self.ids("claim", "assumption", "decision", "entity", "source", "evidence")
        one, other = self.rng.choice(found or [""]), self.rng.choice(target or [""])
        verdict, auditor = self.rng.choice(["contradicts", "contradicts", "dismissed"]), self.rng.choice(["person", "machine"])
        return lambda w: w.judge(one, other, verdict, auditor=auditor, reason="r")

    def _flip(self) -> Callable[[Writer], Any]:
        id = self.rng.choice(self.ids("claim", "assumption", "decision", "entity", "evidence", "source") or [""])
        how = self.rng.choice(["retracted", "withdrawn", "pruned"])
        return lambda w: w.restore(id) if w.mesh.retired(id) else w.retire(id, how)

    def _drop(self) -> Callable[[Writer], Any]:
        edges = [e for e in self.mesh.graph.edges() if e.kind in (*BACKWARD, "produces")]
        grounds, judged = sorted(self.mesh.tables.rows["ground"]), sorted(self.mesh.tables.rows["judgement"])
        kind = self.rng.choice([k for k, found in (("e", edges), ("g", grounds), ("j", judged)) if found] or ["none"])
        if kind == "e":
            edge = self.rng.choice(edges)
            return lambda w: w.drop_edge(edge.kind, edge.src, edge.dst, edge.role)
        if kind == "g":
            gid = self.rng.choice(grounds)
            return lambda w: w.drop_ground(gid)
        jid = self.rng.choice(judged or [""])
        return lambda w: w.unjudge(jid)

    def _supersede(self) -> Callable[[Writer], Any]:
        type = self.rng.choice(["assumption", "claim", "decision"])
        found = self.ids(type)
        old, new = self.rng.choice(found or [""]), self.rng.choice(found or [""])
        everyone = self.ids("claim", "decision", "entity", "assumption")
        move = self.some(everyone, len(everyone))
        return lambda w: w.supersede(old, new, move=move)

    def _bind(self) -> Callable[[Writer], Any]:
        edges, grounds = self.mesh.graph.edges(), self.ids("assumption")
        edge, ground = (self.rng.choice(edges).id if edges else ""), self.rng.choice(grounds or [""])
        return lambda w: w.bind(edge, ground)

    def step(self) -> bool:
        """Try one random change after previewing it; whether it was made. AssertionError when preview and effect differ."""
        change = self.change()
        before = self.labels()
        try:
            seen = self.mesh.preview(change)
        except MogError:
            assert self.labels() == before, "a refused preview left something behind"
            return False
        assert self.labels() == before, "a preview left something behind"
        effect = self.mesh.apply("changed", change)
        after = self.labels()
        fell = {id for id in after if after[id] == "fallen" and before.get(id, "new") not in ("fallen", "new")}
        rose = {id for id in after if after[id] != "fallen" and before.get(id) == "fallen"}
        assert seen == effect.radius, "preview and effect differ"
        assert set(seen.falls.ids()) == fell and set(seen.rises.ids()) == rose
        assert set(seen.added.ids()) == {id for id in after.keys() - before.keys() if after[id] != "fallen"}
        return True

    def labels(self) -> dict[str, str]:
        return {node.id: self.mesh.label(node.id).value for node in self.mesh.graph.nodes()}

