"""Whatever is written, in whatever order: labels are a solver's, previews are true, replay gives the same state."""

from __future__ import annotations

import random

import belief_world
import pytest

from mog.engine.errors import MogError
from mog.engine.ledgers.events import EventLog
from mog.engine.ontology import load
from mog.engine.reason.mesh import Mesh, folder

OURS = load()


def mesh_at(path, **more) -> Mesh:
    return Mesh(EventLog(path / ".mog" / "ledger.db"), OURS, "repo", clock=lambda: "2026-01-31T12:00:00Z", **more)


def standing(mesh: Mesh) -> set[str]:
    return {node.id for node in mesh.graph.nodes() if mesh.stands(node.id)}


@pytest.mark.parametrize("seed", range(6))
def test_labels_are_those_of_clingo_after_every_write(tmp_path, seed):
    mesh = mesh_at(tmp_path)
    chance = belief_world.Chance(mesh, random.Random(seed))
    made = 0
    for _ in range(150):
        made += chance.step()
        assert standing(mesh) == belief_world.standing(mesh)
    assert made > 40
    again = mesh_at(tmp_path)
    assert again.tables.rows == mesh.tables.rows and standing(again) == standing(mesh)
    assert mesh.log.verify(folder(OURS)).ok
    mesh.log.close()
    again.log.close()


@pytest.mark.parametrize("seed", range(4))
def test_undo_gives_back_every_label(tmp_path, seed):
    mesh = mesh_at(tmp_path)
    chance = belief_world.Chance(mesh, random.Random(100 + seed))
    for _ in range(60):
        chance.step()
    for _ in range(40):
        before, head = chance.labels(), mesh.head.seq
        if chance.step() and mesh.head.seq > head:
            mesh.undo(mesh.head.seq)
            after = chance.labels()
            assert {id: after[id] for id in before} == before
            assert all(after[id] == "fallen" for id in after.keys() - before.keys())
    assert standing(mesh) == belief_world.standing(mesh)
    mesh.log.close()


def test_another_process_sees_what_was_written(tmp_path):
    one, other = mesh_at(tmp_path), mesh_at(tmp_path)
    chances = [belief_world.Chance(mesh, random.Random(n)) for n, mesh in enumerate((one, other))]
    for turn in range(120):
        chances[turn % 2].step()
        assert one.tables is not other.tables
        assert standing(one) == standing(other)
    assert one.tables.rows == other.tables.rows
    one.log.close()
    other.log.close()


def test_independent_writes_commute(tmp_path):
    changes = [
        lambda w: w.assume("a"),
        lambda w: w.claim("c", source=w.source("s", origin="s")),
        lambda w: w.judge(w.evidence("e"), w.assume("b"), "contradicts", auditor="person", reason="r"),
        lambda w: w.retire(w.claim("d", source=w.source("t", origin="t")), "retracted", reason="r"),
        lambda w: w.ground(w.entity("E"), [w.assume("a2")]),
    ]
    seen = []
    for n, order in enumerate((range(5), reversed(range(5)), (2, 0, 4, 1, 3))):
        mesh = mesh_at(tmp_path / str(n))
        for i in order:
            mesh.apply("changed", changes[i])
        seen.append({node.id: mesh.label(node.id) for node in mesh.graph.nodes()})
        mesh.log.close()
    assert seen[0] == seen[1] == seen[2]


def test_a_commit_of_many_events_is_one_commit(tmp_path):
    mesh = mesh_at(tmp_path)
    with mesh.writing("ingested") as w:
        source = w.source("s", origin="s")
        for i in range(4000):
            w.claim(f"claim number {i} " + "x" * 200, source=source)
    assert mesh.head.seq > 1
    again = mesh_at(tmp_path)
    assert again.tables.rows == mesh.tables.rows
    assert mesh.log.verify(folder(OURS)).ok
    before = mesh.head
    with pytest.raises(MogError), mesh.writing("ingested") as w:
        for i in range(4000):
            w.claim(f"another {i} " + "x" * 200, source=source)
        w.edge("depends_on", source, source)
    assert mesh.head == before and len(mesh.graph) == 4001
    mesh.log.close()
    again.log.close()


def test_evidence_of_another_worktree_fells_nothing_here(tmp_path):
    here, there = mesh_at(tmp_path, worktree="main"), mesh_at(tmp_path, worktree="other")
    ground = here.apply("assumed", lambda w: w.assume("a")).result

    def drift(w) -> None:
        w.judge(w.evidence("the body changed", attrs={"worktree": "other"}), ground, "contradicts", auditor="tests", reason="r")

    there.apply("judged", drift)
    assert here.stands(ground) and not there.stands(ground)
    here.log.close()
    there.log.close()


def test_a_loop_through_a_defeater_is_refused_and_named(tmp_path):
    mesh = mesh_at(tmp_path)
    a, b = (mesh.apply("assumed", lambda w, n=n: w.assume(n)).result for n in "ab")
    mesh.apply("grounded", lambda w: w.ground(b, [a]))
    head = mesh.head
    with pytest.raises(MogError, match="loop through a defeater"):
        mesh.apply("grounded", lambda w: w.ground(a, [], [b]))
    assert mesh.head == head and mesh.stands(a) and mesh.stands(b)
    assert standing(mesh) == belief_world.standing(mesh)
    mesh.log.close()


def test_the_order_of_writes_makes_no_loop_that_is_not_there_at_the_end(tmp_path):
    mesh = mesh_at(tmp_path)
    a, b, c = (mesh.apply("assumed", lambda w, n=n: w.assume(n)).result for n in "abc")
    first = mesh.apply("grounded", lambda w: w.ground(a, [c])).result
    mesh.apply("grounded", lambda w: w.ground(c, [b]))

    def swap(w) -> None:
        w.drop_ground(first)
        w.ground(b, [], [a])
        w.mark(a, "failed")

    head = mesh.head
    mesh.preview(swap)
    assert mesh.head == head and all(mesh.stands(id) for id in (a, b, c))
    mesh.apply("grounded", swap)
    assert standing(mesh) == belief_world.standing(mesh)
    with pytest.raises(MogError, match="loop through a defeater"):
        mesh.apply("grounded", lambda w: w.ground(a, [c]))
    assert standing(mesh) == belief_world.standing(mesh)
    mesh.log.close()


def test_a_ground_that_moves_to_the_successor_weakens_nothing(tmp_path):
    mesh = mesh_at(tmp_path)
    old, new = (mesh.apply("assumed", lambda w, n=n: w.assume(n)).result for n in ("old", "new"))
    claim = mesh.apply("claimed", lambda w: w.claim("c", source=w.source("s", origin="s"), grounded=False)).result
    mesh.apply("grounded", lambda w: w.ground(claim, [old]))
    seen = mesh.preview(lambda w: w.supersede(old, new, move=[claim]))
    assert seen.weakens == () and seen.falls.ids() == (old,)
    mesh.log.close()


def test_answers_do_not_depend_on_the_order_records_came_in(tmp_path):
    from mog.engine.reason.walker import Walker

    mesh = mesh_at(tmp_path)
    with mesh.writing("ingested") as w:
        things = [w.entity(f"Store {name}") for name in ("Alpha", "Beta", "Gamma")]
        for i in range(40):
            source = w.source(f"notes {i}", origin=f"n{i}")
            claim = w.claim(f"Store number {i % 7} keeps letters in drawer {i}", source=source)
            for thing in things[: i % 3 + 1]:
                w.edge("mentions", claim, thing)
                w.edge("derived_from", thing, source)
    again = mesh_at(tmp_path)
    questions = ["Where does Store Alpha keep letters?", "What keeps letters in drawer 9?"]
    questions += ["Who feeds the cat?", "What is Store Beta?"]
    ours, theirs = Walker(mesh), Walker(again)
    assert [ours.ask(q) for q in questions] == [theirs.ask(q) for q in questions]
    mesh.log.close()
    again.log.close()


@pytest.mark.parametrize("value", [1.0, -0.0, 1e20, 0.1, [2.0, {"deep": 3.0}]])
def test_numbers_give_the_same_records_when_events_are_replayed(tmp_path, value):
    mesh = mesh_at(tmp_path)
    mesh.apply("noted", lambda w: w.source("s", origin="s", attrs={"value": value}))
    mesh.apply("noted", lambda w: w.record("task", "t", {"value": value}))
    check = mesh.log.verify(folder(OURS))
    assert check.ok, check
    assert mesh_at(tmp_path).graph.nodes()[0].attrs["value"] == mesh.graph.nodes()[0].attrs["value"]
    mesh.log.close()


def test_what_was_learned_about_names_survives_replay(tmp_path):
    from mog.engine.reason.resolver import Resolver

    mesh = mesh_at(tmp_path)
    with mesh.writing("ingested") as w:
        source = w.source("notes", origin="notes")
        gateway, other = w.entity("Payment Gateway"), w.entity("Order Router")
        claim = w.claim("The till is slow", source=source)
        for thing in (gateway, other):
            w.edge("derived_from", thing, source)
    mesh.apply("aliased", lambda w: w.alias("pg", gateway))
    mesh.apply("split", lambda w: w.split("order router", other))
    mesh.apply("pruned", lambda w: w.retire(claim, "pruned"))
    assert mesh.log.verify(folder(OURS)).ok
    mesh.log.rebuild(folder(OURS))
    again = mesh_at(tmp_path)
    resolver = Resolver(again)
    assert resolver.resolve("PG").entity == gateway and resolver.resolve("Order Router").entity is None
    assert again.stands(claim) and not again.walkable(claim)
    again.log.close()
    mesh.log.close()
