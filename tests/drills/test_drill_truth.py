"""What a drill says is so, against what a rejection does to a clone of the store; and that the store is left alone."""

from __future__ import annotations

import random
import shutil

import drill_world
import pytest

from mog.engine.drills import truth
from mog.engine.drills.records import Because, Outcome, Repair
from mog.engine.drills.repair import change
from mog.engine.errors import MogError, UsageError
from mog.engine.reason import commands
from mog.engine.reason.overlay import Overlay

FALLS, WEAKENS, SURVIVES = Outcome


def outcomes(found):
    return {id: found.outcome(id) for id in found.dependants()}


def labels(mesh):
    return {node.id: mesh.stands(node.id) for node in mesh.graph.nodes()}


def test_each_outcome_has_its_reason(tmp_path):
    mesh = drill_world.mesh_at(tmp_path)
    shop = drill_world.shop(mesh)
    copy = Overlay(mesh)
    found = truth.fallout(copy, shop[drill_world.PRICES])
    told = {name: truth.truth(copy, found, shop[name]) for name in ("gateway", "both", "column", "refunds", "freeze")}
    assert {name: (one.outcome, one.hop, one.why.because) for name, one in told.items()} == {
        "gateway": (FALLS, 1, Because.only_ground),
        "both": (FALLS, 1, Because.every_ground),
        "column": (FALLS, 2, Because.rests_on),
        "refunds": (WEAKENS, 1, Because.held_by),
        "freeze": (SURVIVES, 2, Because.through),
    }
    assert told["column"].why.by.text == "store cents as integers"
    assert [one.text for one in told["refunds"].why.support.all_of] == ["the audit of March is right"]
    assert told["freeze"].why.by.text == "refunds match receipts"
    assert [one.id for one in told["column"].why.chain] == [shop[drill_world.PRICES], shop["cents"], shop["column"]]
    mesh.log.close()


@pytest.fixture
def tangled(tmp_path):
    """Makes a random graph, and hands out a clone of its folder."""

    def make(seed):
        mesh = drill_world.mesh_at(tmp_path / "here")
        root = drill_world.tangle(mesh, random.Random(seed))
        copy = Overlay(mesh)
        mesh.log.close()
        shutil.copytree(tmp_path / "here", tmp_path / "there")
        return copy, root, drill_world.mesh_at(tmp_path / "there")

    return make


@pytest.mark.parametrize("seed", range(12))
def test_the_truth_is_what_a_real_rejection_does(tangled, seed):
    """Random graphs with defeaters, bound edges and several grounds: nothing falls, weakens or survives otherwise."""
    copy, root, clone = tangled(seed)
    found = truth.fallout(copy, root)
    told = outcomes(found)
    assert found.falls.keys() | found.weakens.keys() <= found.reached.steps.keys(), (
        "something moved that was not reached"
    )
    before = labels(clone)
    done = commands.reject(clone, root, evidence="it is not so", auditor="person", reason="seen")
    after = labels(clone)
    lost = {row.id for row in done.radius.weakens}
    assert {id for id, one in told.items() if one is FALLS} == {id for id in before if before[id] > after[id]} - {root}
    assert {id for id, one in told.items() if one is WEAKENS} == lost
    kept = {id for id, one in told.items() if one is SURVIVES}
    assert kept.isdisjoint(lost) and all(before[id] and after[id] for id in kept)
    assert {id: truth.truth(copy, found, id).outcome for id in told} == told
    clone.log.close()


def test_the_random_graphs_hold_every_outcome(tangled):
    copy, root, clone = tangled(10)
    clone.log.close()
    assert set(outcomes(truth.fallout(copy, root)).values()) == set(Outcome)


@pytest.mark.parametrize("seed", range(6))
def test_what_a_repair_is_said_to_save_is_what_it_saves(tangled, seed):
    copy, root, clone = tangled(seed)
    before = truth.fallout(copy, root)
    repair = Repair("evidence", min(before.falls), "measured again")
    supposed = truth.fallout(copy, root, [change(copy, root, repair)])
    was = labels(clone)
    clone.apply("repaired", lambda w: w.ground(repair.node, [w.evidence(repair.words)]))
    commands.reject(clone, root, evidence="it is not so", auditor="person", reason="seen")
    now = labels(clone)
    assert set(supposed.falls) == {id for id in was if was[id] and not now[id]} - {root}
    assert supposed.falls.keys() < before.falls.keys()
    clone.log.close()


def test_nothing_can_be_recorded_on_the_copy(tmp_path):
    mesh = drill_world.mesh_at(tmp_path)
    shop = drill_world.shop(mesh)
    copy = Overlay(mesh)
    with pytest.raises(UsageError, match="takes no commit"):
        commands.assume(copy, "another thing")
    with pytest.raises(UsageError, match="takes no commit"):
        commands.reject(copy, shop["gateway"], evidence="no", auditor="person", reason="no")
    assert copy.stands(shop["gateway"]), "a refused commit left something behind"
    mesh.log.close()


def test_the_copy_stays_as_it_was_taken_while_the_store_goes_on(tmp_path):
    mesh = drill_world.mesh_at(tmp_path)
    shop = drill_world.shop(mesh)
    copy = Overlay(mesh)
    commands.reject(mesh, shop["audit"], evidence="it is not", auditor="person", reason="seen")
    commands.assume(mesh, "a later thing")
    assert copy.stands(shop["audit"]) and not mesh.stands(shop["audit"])
    with pytest.raises(MogError):
        copy.find("a later thing")
    assert truth.fallout(copy, shop[drill_world.PRICES]).outcome(shop["refunds"]) is WEAKENS
    assert truth.fallout(Overlay(mesh), shop[drill_world.PRICES]).outcome(shop["refunds"]) is FALLS
    mesh.log.close()


def test_a_copy_of_nothing_is_empty(tmp_path):
    mesh = drill_world.mesh_at(tmp_path)
    assert Overlay(mesh).graph.nodes() == ()
    assert not (tmp_path / ".mog").exists()
