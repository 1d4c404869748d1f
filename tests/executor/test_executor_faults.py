"""The faults of earlier executors, each by its name in docs/adr: none of them is here.

``u``: falls too little. ``o``: falls too much. ``b``: other breakage of the earlier package. Those of beliefs alone are in
tests/reason/test_earlier_faults.py.
"""

from __future__ import annotations

import pytest
from executor_kit import Shop

from mog.engine.executor import Event, TaskState
from mog.engine.reason import commands
from mog.engine.reason.records import Label


@pytest.fixture
def shop(tmp_path):
    found = Shop(tmp_path)
    yield found
    found.log.close()


def label_of(shop: Shop, name: str, type: str) -> Label:
    return shop.mesh.label(next(n.id for n in shop.mesh.graph.nodes(type) if n.label == name))


# -- too little falls


def test_u1_other_code_under_the_same_ground_reaches_what_read_its_result(shop):
    runner = shop.runner()
    shop.chain(runner, "up", "down")
    runner.run()
    assert runner.output("down")["n"] == 2
    shop.values["up"] = 2
    runner.repair("up", worker_key="value.2")
    assert runner.run().executed == ["up", "down"]
    assert runner.output("down")["n"] == 3


def test_u2_a_dependant_rests_on_the_version_it_read(shop):
    runner = shop.runner()
    shop.chain(runner, "up", "down")
    runner.run()
    runner.repair("up", assumes="up may, on other ground")
    runner.run()  # the same result, so the dependant was not run; it must rest on the new version all the same
    assert shop.ran == {"up": 2, "down": 1}
    shop.false["up may, on other ground"] = "no longer"
    found = runner.recheck()
    assert set(found.stale) == {"up", "down"} and found.receipts[0].fell >= 3
    assert runner.state("down") is TaskState.stale


@pytest.mark.parametrize("key", ["sum", "impure"])
def test_u3_wrong_work_leaves_what_rests_on_it_unverified(shop, key):
    runner = shop.runner()
    shop.chain(runner, "up", "middle", "down", key=key)
    runner.run()
    shop.wrong["up"] = "it is wrong"
    assert runner.recheck().failed == {"up": "it is wrong"}
    assert label_of(shop, "Down", "decision") is Label.unverified
    for report in (runner.resume(), shop.reopened().resume()):
        assert report.failed == {"up": "it is wrong"} and report.unverified == ("middle", "down")
        assert not report.complete and not report.executed and not report.cached
    assert not runner.complete


def test_u8_what_a_task_reads_of_the_graph_is_recorded(shop):
    known = commands.assume(shop.mesh, "the port is 80").result
    shop.registry.register_worker("port", lambda ctx: {"stands": ctx.graph.stands(known)}, pure=True)
    runner = shop.runner()
    runner.task("listen", worker_key="port", assumes="somebody listens")
    assert runner.run().executed == ["listen"] and runner.run().cached == ["listen"]
    commands.reject(shop.mesh, known, evidence="it is 8080", auditor="person", reason="measured")
    assert runner.dry_run()[0].action == "run" and "graph stands" in runner.dry_run()[0].why
    assert runner.run().executed == ["listen"] and runner.output("listen") == {"stands": False}


def test_u8_no_task_changes_what_another_gave(shop):
    def spoil(ctx):
        with pytest.raises((TypeError, AttributeError)):
            ctx.inputs["up"]["list"].append(99)
        with pytest.raises(TypeError):
            ctx.inputs["up"]["table"]["x"] = 1
        with pytest.raises(TypeError):
            ctx.inputs["up"] = {}
        return {"copy": [*ctx.inputs["up"]["list"], 99]}

    runner = shop.runner()
    given = {"list": [1], "table": {}}
    runner.task("up", lambda ctx: given, assumes="a")
    runner.task("down", spoil, assumes="b", needs=["up"])
    assert runner.run().complete
    given["list"].append(7)
    assert runner.output("up")["list"] == (1,) and runner.output("down")["copy"] == (1, 99)


# -- too much falls


def test_o2_what_a_second_task_makes_too_stands(shop):
    runner = shop.runner()
    for name in ("one", "other"):
        runner.task(name, worker_key="value", assumes=f"{name} may", produces=["Shared"], auditor_key="judge")
    runner.run()
    shop.false["one may"] = "it may not"
    runner.recheck()
    assert label_of(shop, "Shared", "entity") is Label.weakened
    runner.repair("one", assumes="one may again", produces=["Own"])
    assert runner.run().executed == ["one"]
    assert shop.mesh.stands(next(n.id for n in shop.mesh.graph.nodes("entity") if n.label == "Shared"))


def test_o3_a_chain_of_six_with_the_same_first_result_runs_one(shop):
    names = ("a", "b", "c", "d", "e", "f")
    runner = shop.runner()
    shop.chain(runner, *names)
    runner.run()
    shop.false["a may"] = "a may not"
    assert set(runner.recheck().stale) == set(names)
    runner = shop.reopened()
    runner.repair("a", assumes="a may after all")
    shop.ran.clear()
    report = runner.run()
    assert report.executed == ["a"] and report.cut_off == list(names[1:]) and shop.ran == {"a": 1}
    assert report.complete and all(shop.mesh.label(t.node_id) is Label.standing for t in runner.tasks)
    assert runner.ledger.count(Event.cut_off) == 5


def test_o3_work_that_is_not_declared_pure_is_never_spared(shop):
    runner = shop.runner()
    shop.chain(runner, "a", "b", "c", key="impure")
    runner.run()
    shop.false["a may"] = "a may not"
    runner.recheck()
    runner.repair("a", assumes="a may after all")
    assert runner.run().executed == ["a", "b", "c"]


# -- other breakage of the earlier package


def test_b1_two_tasks_move_from_one_ground_to_two(shop):
    """The sequence that left a session of the earlier package unloadable for ever."""
    runner = shop.runner()
    for name in ("t", "u"):
        runner.task(name, worker_key="value", assumes="G", auditor_key="judge")
    runner.run()
    shop.false["G"] = "it is false"
    runner.recheck()
    runner.repair("t", assumes="G2")
    runner = shop.reopened()
    runner.repair("u", assumes="G3")
    runner = shop.reopened()
    assert runner.resume().executed == ["t", "u"] and shop.reopened().complete
    assert {t.assumes for t in runner.tasks} == {("G2",), ("G3",)}


def test_b3_complete_is_false_while_anything_failed_and_run_tries_again(shop):
    runner = shop.runner()
    runner.task("t", worker_key="broken", assumes="a")
    first = runner.run()
    assert first.failed == {"t": "RuntimeError: out of order"} and not first.complete
    again = shop.reopened().run()
    assert again.failed == first.failed and not again.complete and shop.ran["t"] == 2
    assert not runner.resume().complete and shop.ran["t"] == 2  # resume leaves failed work alone
    runner.repair("t", worker_key="value")
    assert runner.run().complete


def test_b4_a_plain_failure_at_a_recheck_reaches_dependants_and_a_repair_clears_it(shop):
    runner = shop.runner()
    shop.chain(runner, "up", "down")
    runner.run()
    shop.wrong["up"] = "it is wrong"
    runner.recheck()
    assert runner.resume().cached == [] and label_of(shop, "Up", "decision") is Label.unverified
    shop.wrong.clear()
    report = runner.run()
    assert report.executed == ["up"] and report.cached == ["down"] and report.complete
    assert shop.mesh.label(runner["down"].node_id) is Label.standing


def test_b5_a_rejected_statement_can_stand_again_as_a_new_version(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    runner.run()
    shop.false["a may"] = "an advisory"
    runner.recheck()
    shop.false.clear()
    assert "rejected" in runner.run().blocked["a"]
    runner.repair("a", assumes="a may")
    assert runner.run().complete and len(shop.mesh.graph.nodes("assumption")) == 2
    assert shop.mesh.graph.node(runner["a"].assumption_ids[0]).attrs["version"] == 2


def test_b5_declaring_again_what_was_rejected_revives_nothing(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    runner.run()
    shop.false["a may"] = "an advisory"
    runner.recheck()
    runner = shop.reopened()
    runner.task("late", worker_key="value", assumes="a may", auditor_key="judge")
    assert set(runner.run().blocked) == {"a", "late"}


def test_b6_a_ground_is_never_replaced_by_itself(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    runner.run()
    runner.repair("a", assumes="a may")
    runner.repair("a", assumes="b may")
    runner.repair("a", assumes="a may")
    assert runner.run().complete
    assert [e.dst for e in shop.mesh.graph.edges("supersedes") if e.src == e.dst] == []


def test_b13_a_product_keeps_the_aliases_it_has(shop):
    with shop.mesh.writing("noted") as w:
        id = w.entity("Rate Limiter", aliases=["throttle"])
    runner = shop.runner()
    runner.task("t", worker_key="value", assumes="a", produces=["Rate Limiter"])
    runner.run()
    assert shop.mesh.graph.node(id).attrs["aliases"] == ("throttle",) and runner["t"].artefacts == (id,)
