"""A standing and a plain model driven by the same operations, random operations, and what must hold after each.

Who calls: tests of the belief engine and ``benchmarks/standing.py``. An operation is a tuple: ("add", node),
("remove", node), ("ground", id, conclusion, all_of, none_of), ("unground", id), ("defeat", node, by),
("undefeat", node, by), ("out", node, bool).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import clingo_oracle
import networkx
from clingo_oracle import Model

from mog.engine.reason.standing import DefeatLoop, Standing

Op = tuple[Any, ...]


class Twin:
    """The engine and the model; ``apply`` changes both and says how to take it back."""

    def __init__(self, nodes: Iterable[str] = ()) -> None:
        self.standing, self.model, self.refused, self.serial = Standing(), Model(), 0, 0
        for node in nodes:
            self.apply(("add", node))

    def apply(self, op: Op) -> Op:
        """Do one operation; the operation that takes it back."""
        inverse = _inverse(self.model, op)
        _tell(self.standing, op)
        _write(self.model, op)
        return inverse

    def attempt(self, op: Op) -> Op | None:
        """As ``apply``, but None when the write closes a loop; fails when the engine and networkx disagree about that."""
        if op[0] not in ("ground", "defeat"):
            return self.apply(op)
        inverse = _inverse(self.model, op)
        _write(self.model, op)
        looped = defeat_loop(self.model)
        try:
            _tell(self.standing, op)
        except DefeatLoop as refusal:
            assert looped, f"refused without a loop: {op}"
            assert_loop(self.model, refusal)
            _write(self.model, inverse)
            self.refused += 1
            return None
        assert not looped, f"a loop was let in: {op}"
        return inverse

    def labels(self) -> set[str]:
        """What stands, says the engine."""
        return {node for node in self.model.nodes if self.standing.stands(node)}

    def check(self) -> None:
        """Fails unless the engine agrees with the solver about every node and every ground."""
        want = clingo_oracle.standing(self.model)
        assert self.labels() == want
        for gid, (_, all_of, none_of) in self.model.grounds.items():
            assert self.standing.met(gid) == (want.issuperset(all_of) and want.isdisjoint(none_of))

    def random_change(self, rng: random.Random) -> list[Op]:
        """One change as a person makes it: mostly one operation, several for superseding."""
        nodes, model = self.model.nodes, self.model
        kind = rng.choice(
            ("ground",) * 5 + ("unground", "unground", "defeat", "undefeat", "out", "in", "supersede", "add")
        )
        defeats = sorted(pair for pair, times in model.defeats.items() if times)
        if kind == "unground" and model.grounds:
            return [("unground", rng.choice(sorted(model.grounds)))]
        if kind == "defeat":
            return [("defeat", rng.choice(nodes), rng.choice(nodes))]
        if kind == "undefeat" and defeats:
            return [("undefeat", *rng.choice(defeats))]
        if kind == "out":
            return [("out", rng.choice(nodes), True)]
        if kind == "in":
            return [("out", rng.choice(sorted(model.out) or nodes), False)]
        if kind == "supersede":
            return self.superseding(rng.choice(nodes), rng)
        if kind == "add" and len(nodes) < 40:
            return [("add", f"n{len(nodes):02}")]
        return [self.random_ground(rng)]

    def random_ground(self, rng: random.Random) -> Op:
        """A ground over any nodes, so that cycles, alternatives and barriers all come up."""
        self.serial += 1
        all_of = rng.choices(self.model.nodes, k=rng.choice((0, 1, 1, 2, 2, 3)))
        none_of = rng.choices(self.model.nodes, k=rng.choice((0, 0, 0, 0, 1, 2)))
        conclusion = rng.choice(self.model.nodes)
        return ("ground", f"g{self.serial:06}", conclusion, tuple(sorted(set(all_of))), tuple(sorted(set(none_of))))

    def superseding(self, old: str, rng: random.Random) -> list[Op]:
        """Another node takes its place: the old one is out, some of what rests on it is moved, the rest left to fall."""
        new = rng.choice(self.model.nodes)
        ops: list[Op] = [("out", old, True)]
        for gid, (head, all_of, none_of) in sorted(self.model.grounds.items()):
            if old in all_of and rng.random() < 0.7:
                moved = tuple(sorted({new if premise == old else premise for premise in all_of}))
                ops += [("unground", gid), ("ground", gid, head, moved, none_of)]
        return ops


def _inverse(model: Model, op: Op) -> Op:
    verb, subject = op[0], op[1]
    if verb == "unground":
        return ("ground", subject, *model.grounds[subject])
    if verb == "out":
        return ("out", subject, subject in model.out)
    opposite = {"add": "remove", "remove": "add", "ground": "unground", "defeat": "undefeat", "undefeat": "defeat"}
    return (opposite[verb], *(op[1:] if "defeat" in verb else op[1:2]))


def _tell(standing: Standing, op: Op) -> None:
    verb = {"out": "force_out"}.get(op[0], op[0])
    getattr(standing, verb)(*op[1:])


def _write(model: Model, op: Op) -> None:
    verb, subject = op[0], op[1]
    if verb in ("add", "remove"):
        (model.nodes.append if verb == "add" else model.nodes.remove)(subject)
    elif verb == "ground":
        model.grounds[subject] = (op[2], tuple(op[3]), tuple(op[4]))
    elif verb == "unground":
        del model.grounds[subject]
    elif verb == "out":
        (model.out.add if op[2] else model.out.discard)(subject)
    else:
        model.defeats[op[1:]] = model.defeats.get(op[1:], 0) + (1 if verb == "defeat" else -1)


def defeat_loop(model: Model) -> bool:
    """Whether a negative link lies inside a strongly connected component, says networkx."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(model.nodes)
    negative = list(model.negative_links())
    graph.add_edges_from([*model.positive_links(), *negative])
    part = {node: at for at, nodes in enumerate(networkx.strongly_connected_components(graph)) for node in nodes}
    return any(part[src] == part[dst] for src, dst in negative)


def assert_loop(model: Model, refusal: DefeatLoop) -> None:
    """Fails unless the loop that a refusal names is there, link by link, with a defeater in it."""
    kinds = {True: set(model.negative_links()), False: set(model.positive_links())}
    following = (*refusal.loop[1:], refusal.loop[0])
    assert any(refusal.defeats)
    for src, dst, defeats in zip(refusal.loop, following, refusal.defeats, strict=True):
        assert (src, dst) in kinds[defeats]
        assert src in str(refusal)


def long_run(seed: int, changes: int, *, nodes: int, check_all: bool = True) -> tuple[int, int]:
    """Random changes, checked against the solver after every operation: (operations, refusals)."""
    rng = random.Random(seed)
    twin = Twin(f"n{at:02}" for at in range(nodes))
    done = 0
    for _ in range(changes):
        for op in twin.random_change(rng):
            before = twin.labels()
            twin.standing.begin()
            twin.attempt(op)
            assert twin.standing.changed() == before ^ twin.labels()
            twin.standing.end()
            twin.check()
            done += 1
    return done, twin.refused


def rebuilt(model: Model, order: Sequence[Op] = (), *, bulk: bool = False) -> Standing:
    """A standing written from nothing out of the model."""
    standing = Standing()
    for node in sorted(model.nodes, reverse=bulk):
        standing.add(node)
    ops: list[Op] = [("ground", gid, *ground) for gid, ground in sorted(model.grounds.items(), reverse=bulk)]
    ops += [("defeat", *pair) for pair, times in sorted(model.defeats.items()) for _ in range(times)]
    ops += [("out", node, True) for node in sorted(model.out)]
    if bulk:
        with standing.bulk():
            for op in ops:
                _tell(standing, op)
    else:
        for op in order or ops:
            _tell(standing, op)
    return standing
