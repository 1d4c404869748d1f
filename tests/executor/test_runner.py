"""The runner: states, verdicts, what is recorded, what is refused; other writers, other processes, and a person in between."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from executor_kit import Shop

from mog.engine.errors import ConfigError, NotFound, StoreDamaged, UsageError
from mog.engine.executor import Event, Runner, TaskRegistry, TaskState, Verdict
from mog.engine.executor.receipts import set_digest
from mog.engine.reason import commands
from mog.engine.reason.records import Label, thaw

HELPERS = Path(__file__).parent.parent / "helpers"


@pytest.fixture
def shop(tmp_path):
    found = Shop(tmp_path)
    yield found
    found.log.close()


def auditing(shop, *said):
    """A task whose auditor says each of these in turn."""
    answers = iter(said)
    shop.registry.register_auditor("said", lambda ctx: next(answers))
    runner = shop.runner()
    runner.task("t", worker_key="value", assumes="it may", auditor_key="said")
    return runner


def kinds(runner, task=""):
    return [str(e.kind) for e in runner.ledger.entries() if not task or e.task == task]


# -- verdicts


def test_a_failure_fells_nothing_and_a_disproof_fells_the_ground(shop):
    runner = auditing(shop, Verdict(False, "wrong"), Verdict(False, "false", True))
    shop.chain(runner, "other")
    report = runner.run()
    assert report.failed == {"t": "wrong"} and shop.mesh.stands(runner["t"].assumption_ids[0])
    report = runner.run()
    assert not shop.mesh.stands(runner["t"].assumption_ids[0]) and report.blocked["t"].startswith(
        "its ground was rejected"
    )
    assert runner["t"].state is TaskState.stale and report.receipts[0].disproved_by == "t" and not report.failed
    assert kinds(runner, "t") == ["audited", "failed", "audited", "disproved", "invalidated", "blocked"]


def test_a_bare_false_is_never_a_disproof(shop):
    runner = auditing(shop, True, False)
    assert runner.run().complete
    assert runner.recheck().failed == {"t": "its audit does not hold"} and shop.mesh.stands(
        runner["t"].assumption_ids[0]
    )


@pytest.mark.parametrize("odd", [None, "ok", 1, (True, "x"), Verdict(True, 7)])
def test_an_auditor_that_answers_with_something_else_fails_its_task_alone(shop, odd):
    runner = auditing(shop, odd)
    shop.chain(runner, "other")
    report = runner.run()
    assert "auditor" in report.failed["t"] and report.executed == ["other"]


def test_an_auditor_that_breaks_at_a_recheck_fails_its_task_alone(shop):
    def judge(ctx):
        if shop.wrong:
            raise OSError("no network")
        return True

    shop.registry.register_auditor("frail", judge)
    runner = shop.runner()
    runner.task("t", worker_key="value", assumes="a", auditor_key="frail")
    shop.chain(runner, "other")
    runner.run()
    shop.wrong["t"] = "x"
    report = runner.recheck()
    assert report.failed == {"t": "its auditor broke: OSError: no network"} and report.held == ["other"]
    assert shop.mesh.stands(runner["t"].assumption_ids[0]) and not runner.complete


def test_a_disproof_names_the_assumption_and_the_evidence(shop):
    seen = commands.evidence(shop.mesh, "an advisory").result
    runner = auditing(shop, True, Verdict(False, "see there", True, evidence=seen, assumption="b"))
    runner.task("two", lambda ctx: {}, assumes=["a", "b"], audit=lambda ctx: True)
    runner.repair("t", assumes=["a", "b"])
    runner.run()
    receipt = runner.recheck(require_evidence=True).receipts[0]
    assert (receipt.evidence_id, receipt.assumption) == (seen, "b")
    assert shop.mesh.stands(runner["t"].assumption_ids[0]) and not shop.mesh.stands(runner["t"].assumption_ids[1])
    assert runner.state("two") is TaskState.stale


@pytest.mark.parametrize(
    "verdict, why",
    [
        (Verdict(False, "because", True), "no recorded evidence"),
        (Verdict(False, "because", True, evidence="f" * 32), "not recorded"),
        (Verdict(False, "because", True, assumption="another"), "not its ground"),
    ],
)
def test_a_disproof_that_cannot_be_recorded_only_fails_its_task(shop, verdict, why):
    runner = auditing(shop, True, verdict)
    runner.run()
    report = runner.recheck(require_evidence=True)
    assert why in report.failed["t"] and not report.receipts and shop.mesh.stands(runner["t"].assumption_ids[0])


def test_work_without_ground_cannot_lose_it(shop):
    runner = shop.runner()
    runner.task("t", lambda ctx: {}, audit=lambda ctx: ctx.disproved("false"))
    assert "it has none" in runner.run().failed["t"]


# -- what is recorded


def test_one_commit_a_task_with_everything_it_rests_on(shop):
    runner = shop.runner()
    shop.chain(runner, "up", "down")
    before = shop.mesh.head.seq
    runner.run()
    ran = [e for e in shop.log.events(before) if e.type == "ran"]
    assert [e.data["task"] for e in ran] == ["up", "down"]
    graph, task = shop.mesh.graph, runner["down"]
    out = {(e.kind, e.dst) for e in graph.out_edges(task.node_id)}
    assert {("depends_on", runner["up"].node_id), ("depends_on", task.assumption_ids[0])} <= out
    assert {("justified_by", task.evidence_id), ("produces", task.artefacts[0])} <= out
    assert graph.node(task.evidence_id).label == "audit of down: as it should be"
    assert graph.node(task.node_id).provenance.source_id in {n.id for n in graph.nodes("source")}


def test_a_rerun_supersedes_and_what_is_not_made_any_more_stays_fallen(shop):
    runner = shop.runner()
    runner.task("t", worker_key="value", assumes="a", produces=["Kept", "Old"], auditor_key="judge")
    runner.run()
    first = runner["t"].node_id
    shop.false["a"] = "no"
    runner.recheck()
    entities = {n.label: n.id for n in shop.mesh.graph.nodes("entity")}
    assert not any(shop.mesh.stands(id) for id in entities.values())
    runner.repair("t", assumes="b", produces=["Kept", "New"])
    runner.run()
    entities = {n.label: n.id for n in shop.mesh.graph.nodes("entity")}
    assert {label: shop.mesh.label(id) for label, id in entities.items()} == {
        "Kept": Label.standing, "Old": Label.fallen, "New": Label.standing,
    }  # fmt: skip
    assert shop.mesh.retired(first).how == "superseded"
    assert [e.dst for e in shop.mesh.graph.out_edges(runner["t"].node_id, ["supersedes"])] == [first]


def test_the_run_ledger_is_the_earlier_packages_to_the_byte(shop):
    execute = pytest.importorskip("contextmesh.execute")
    shop.values["a"] = "zürich \U0001f600 \x7f"
    runner = shop.runner(workers=2)
    shop.chain(runner, "a", "b")
    runner.task("frail", worker_key="broken", assumes="f", retries=1)
    runner.run()
    shop.false["a may"] = 'an advisory: 1 < 2 & "quoted" \\ \u2028'
    runner.recheck()
    runner.repair("a", assumes="a may now")
    shop.values["a"] = 2
    runner.run()
    rows = [entry.row() for entry in runner.ledger.entries()]
    text = {"schema": "contextmesh.runledger", "version": 1, "head": runner.ledger.head, "entries": rows}
    theirs = execute.RunLedger.from_snapshot(json.loads(json.dumps(text)))
    assert theirs.verify() and theirs.head == runner.ledger.head and len(theirs) == runner.ledger.verify() == len(rows)
    assert {"retried", "cut_off"} & {str(e.kind) for e in runner.ledger.entries()}
    again = execute.RunLedger()
    for row in rows:
        more = {name: row[name] for name in ("node_id", "assumption_id", "data")}
        again.record(row["round"], execute.Event(row["event"]), row["task"], row["detail"], **more)
    assert again.head == runner.ledger.head


def test_a_receipt_counts_and_keeps_digests_not_lists(shop):
    runner = shop.runner()
    shop.chain(runner, "a", "b", "c")
    shop.chain(runner, "other")
    runner.run()
    before = {n.id for n in shop.mesh.graph.nodes() if shop.mesh.stands(n.id)}
    shop.false["b may"] = "no"
    receipt = runner.recheck().receipts[0]
    after = {n.id for n in shop.mesh.graph.nodes() if shop.mesh.stands(n.id)}
    assert receipt == runner.ledger.receipts()[0]
    assert (receipt.fell, receipt.preserved) == (len(before - after), len(before & after))
    assert (receipt.fell_digest, receipt.preserved_digest) == (set_digest(before - after), set_digest(before & after))
    assert sum(n for _, n in receipt.hops) == receipt.fell
    entry = next(e for e in runner.ledger.entries() if e.event == "disproved")
    assert len(json.dumps(thaw(entry.data))) < 1_000
    assert (
        hashlib.sha256("".join(f"{id}\n" for id in sorted(before & after)).encode()).hexdigest()
        == receipt.preserved_digest
    )


def test_a_round_in_which_nothing_happens_writes_nothing(shop):
    runner = shop.runner()
    shop.chain(runner, "a", "b")
    assert runner.run().round == 1
    head = shop.mesh.head
    for again in (runner, shop.reopened()):
        report = again.run()
        assert report.round == 1 and report.cached == ["a", "b"] and report.complete
        again.dry_run(), again.standing(), again.resume()
    assert shop.mesh.head == head


def test_an_expected_head_is_held_to(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    runner.run()
    assert shop.reopened(expect_head=runner.ledger.head).complete
    with pytest.raises(StoreDamaged, match="ends at"):
        shop.reopened(expect_head="0" * 64)


def test_an_entry_that_was_changed_is_found(shop):
    runner = shop.runner()
    shop.chain(runner, "a", "b")
    runner.run()
    with shop.mesh.writing("forged") as w:
        row = thaw(shop.mesh.tables.rows["run"]["plan/00000002"])
        w.record("run", "plan/00000002", {**row, "detail": "attempt 7"})
    with pytest.raises(StoreDamaged, match="entry 2"):
        runner.ledger.verify()
    with shop.mesh.writing("forged") as w:
        w.record("run", "plan/00000002", None)
    with pytest.raises(StoreDamaged, match="missing"):
        runner.ledger.verify()


# -- what is refused


def test_definitions_that_cannot_be_meant(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    for refused in (
        {"name": "a", "worker_key": "value"}, {"name": "x"}, {"name": "x", "worker_key": "value", "run": print},
        {"name": "x", "worker_key": "value", "audit": print, "auditor_key": "judge"}, {"name": "", "worker_key": "value"},
        {"name": "x\ny", "worker_key": "value"}, {"name": "x", "worker_key": "value", "retries": 11},
        {"name": "x", "worker_key": "value", "timeout": 0}, {"name": "x", "worker_key": "value", "needs": ["x"]},
        {"name": "x", "worker_key": "value", "assumes": " "}, {"name": "n" * 201, "worker_key": "value"},
        {"name": "x", "worker_key": "value", "produces": [""]}, {"name": "x", "worker_key": "value", "needs": ["a", "a"]},
    ):  # fmt: skip
        with pytest.raises(UsageError):
            runner.task(**refused)
    with pytest.raises(ConfigError, match="absent"):
        runner.task("x", worker_key="absent")
    for broken in (0, 65):
        with pytest.raises(UsageError):
            shop.runner(workers=broken)
    assert [t.name for t in runner.tasks] == ["a"] and runner.run().complete


def test_unknown_needs_and_circles_stop_before_anything_runs(shop):
    runner = shop.runner()
    runner.task("a", worker_key="sum", needs=["b"])
    with pytest.raises(UsageError, match="which is not there"):
        runner.run()
    runner.task("b", worker_key="sum", needs=["a"])
    with pytest.raises(UsageError, match="circle: a, b"):
        runner.dry_run()
    assert not shop.ran


def test_many_tasks_are_declared_together_or_not_at_all(shop):
    runner = shop.runner()
    with pytest.raises(UsageError), runner.declaring():
        runner.task("a", worker_key="value")
        runner.task("a", worker_key="value")
    assert runner.tasks == () and shop.mesh.head.seq == 0
    head = shop.mesh.head.seq
    with runner.declaring():
        shop.chain(runner, "a", "b", "c")
    assert shop.mesh.head.seq == head + 1 and runner.run().complete


def test_a_session_whose_key_nobody_brought_serves_nothing(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    poor = TaskRegistry()
    for registry in (None, poor):
        with pytest.raises(ConfigError, match="worker value"):
            Runner(shop.fresh(), registry, "plan")
    poor.register_worker("value", lambda ctx: {})
    with pytest.raises(ConfigError, match="auditor judge"):
        Runner(shop.fresh(), poor, "plan")


def test_rebind_takes_all_or_nothing(shop):
    runner = shop.runner()
    shop.chain(runner, "a", "b")
    runner.run()
    half = TaskRegistry()
    half.register_worker("value", lambda ctx: {"n": 9}, pure=True)
    half.register_auditor("judge", lambda ctx: True)
    with pytest.raises(ConfigError):
        runner.rebind(half)
    assert runner.registry is shop.registry and runner.run().cached == ["a", "b"]
    half.register_worker("sum", lambda ctx: {"n": 10}, pure=True)
    assert runner.rebind(half).registry is half
    assert runner.dry_run()[0].why == "its worker is other code than the one that ran"
    assert runner.run().executed == ["a", "b"] and runner.output("a")["n"] == 9


def test_a_plain_function_runs_and_is_said_to_be_lost_to_others(shop):
    runner = shop.runner()
    runner.task("plain", lambda ctx: {"n": 1}, assumes="a")
    runner.task("half", worker_key="value", assumes="b", audit=lambda ctx: True)
    assert runner.run().complete and not runner.checkpointable
    assert [why.split("'")[1] for why in runner.unbindable()] == ["plain", "half"]
    with pytest.raises(UsageError, match="no key"):
        runner.rebind()
    other = shop.reopened()
    report = other.run()
    assert report.blocked == {} and report.cached == ["plain", "half"]  # nothing has to run, so nothing is missing
    other.task("plain", lambda ctx: {"n": 2}, assumes="a")
    assert other.run().executed == ["plain"]
    other = shop.reopened()
    other.repair("half", assumes="c")
    assert "no code is bound" in other.run().blocked["half"]
    other.task("half", worker_key="value", assumes="c", audit=lambda ctx: True)
    assert other.run().complete


def test_a_repair_cannot_leave_a_key_naming_other_code(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    head = shop.mesh.head
    for wrong in ({"run": print}, {"audit": print}, {"run": print, "worker_key": "sum"}):
        with pytest.raises(UsageError):
            runner.repair("a", **wrong)
    with pytest.raises(ConfigError):
        runner.repair("a", worker_key="absent", assumes="b")
    with pytest.raises(NotFound):
        runner.repair("nobody")
    assert shop.mesh.head == head


def test_declaring_a_task_otherwise_makes_it_stale(shop):
    runner = shop.runner()
    shop.chain(runner, "a", "b")
    runner.run()
    other = shop.reopened()
    other.task("a", worker_key="value", assumes="a may", auditor_key="judge", produces=["a thing"])
    assert other.run().cached == ["a", "b"]
    other = shop.reopened()
    more = {"assumes": "b may", "auditor_key": "judge", "needs": ["a"], "title": "Another title"}
    other.task("b", worker_key="sum", produces=["other"], **more)
    assert "produces" in other["b"].detail and other.run().executed == ["b"]


def test_a_task_that_is_removed_takes_its_result_along(shop):
    runner = shop.runner()
    shop.chain(runner, "a", "b")
    runner.run()
    with pytest.raises(UsageError, match="needs"):
        runner.remove("a")
    gone = runner["b"].node_id
    runner.remove("b")
    assert not shop.mesh.stands(gone) and [t.name for t in shop.reopened().tasks] == ["a"]
    runner.ledger.verify()


# -- a person, and other processes, in between


def test_what_a_person_rejects_is_noticed_and_what_they_withdraw_stands_again(shop):
    runner = shop.runner()
    shop.chain(runner, "a", "b")
    runner.run()
    seen = commands.reject(
        shop.mesh, runner["a"].assumption_ids[0], evidence="seen", auditor="person", reason="r"
    ).result
    assert runner.state("a") is runner.state("b") is TaskState.stale and runner["a"].state is TaskState.done
    report = runner.run()
    assert set(report.blocked) == {"a", "b"} and runner["b"].state is TaskState.stale
    assert kinds(runner)[-4:] == ["invalidated", "invalidated", "blocked", "blocked"]
    commands.withdraw(shop.mesh, seen, reason="it was another machine")
    report = shop.reopened().run()
    assert report.cut_off == ["a", "b"] and report.complete and shop.ran == {"a": 1, "b": 1}


def test_a_ground_that_falls_while_work_runs_makes_its_result_void(shop):
    def work(ctx):
        if len(ran) == 0:
            commands.reject(shop.fresh(), ctx.assumption.id, evidence="seen", auditor="person", reason="r")
        ran.append(1)
        return {}

    ran = []
    shop.registry.register_worker("slow", work)
    runner = shop.runner()
    runner.task("t", worker_key="slow", assumes="a", produces=["T"])
    report = runner.run()
    assert (
        not report.executed and "ground was rejected" in report.blocked["t"] and not shop.mesh.graph.nodes("decision")
    )
    assert runner["t"].state is TaskState.pending and runner["t"].node_id == ""
    runner.repair("t", assumes="a")
    assert runner.run().complete


def test_a_task_that_another_process_changes_meanwhile_is_not_overwritten(shop):
    def work(ctx):
        ran.append(ctx.task.assumes)
        if len(ran) == 1:
            Runner(shop.fresh(), shop.registry, "plan").repair("t", assumes="b")
        return {}

    ran = []
    shop.registry.register_worker("slow", work)
    runner = shop.runner()
    runner.task("t", worker_key="slow", assumes="a")
    report = runner.run()
    assert report.stale == {"t": "the task was changed while it ran"} and not report.complete
    assert runner["t"].assumes == ("b",) and runner.run().complete and ran == [("a",), ("b",)]


def test_a_task_that_another_process_declares_is_seen(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    runner.run()
    other = Runner(shop.fresh(), shop.registry, "plan")
    other.task("b", worker_key="sum", assumes="b", needs=["a"])
    assert [t.name for t in runner.tasks] == ["a", "b"] and runner.run().executed == ["b"]
    other.remove("b")
    assert [t.name for t in runner.tasks] == ["a"] and runner.run().complete


def test_plans_do_not_mix(shop):
    for plan, name in (("a", "b/c"), ("a/b", "c"), ("a%2Fb", "c")):
        runner = shop.runner(plan)
        runner.task(name, worker_key="value", assumes="x")
        runner.run()
    assert [len(shop.runner(plan).tasks) for plan in ("a", "a/b", "a%2Fb")] == [1, 1, 1]
    assert len(shop.mesh.graph.nodes("decision")) == 3


def test_the_last_execution_can_be_undone_and_is_done_again(shop):
    runner = shop.runner()
    shop.chain(runner, "a")
    runner.run()
    seq = max(e.seq for e in shop.log.events() if e.type in ("ran", "rested"))
    for event in range(seq, 0, -1):
        done = next(shop.log.events(event - 1, 1))
        if done.type in ("ran", "rested"):
            shop.mesh.undo(event)
    assert runner["a"].state is TaskState.pending and len(runner.ledger) == 0
    assert runner.run().complete and runner["a"].attempt == 2 and shop.mesh.stands(runner["a"].node_id)
    assert shop.mesh.label(runner["a"].artefacts[0]) is Label.standing
    runner.ledger.verify()


KILLED = """
import os, signal, sys
sys.path.append({helpers!r})
from pathlib import Path
from executor_kit import Shop

shop = Shop(Path({folder!r}))
step = {step!r}

def work(ctx):
    with open({count!r}, "a") as file:
        file.write(ctx.task.name + chr(10))
    if ctx.task.name == step:
        os.kill(os.getpid(), signal.SIGKILL)
    return {{"n": sum(given["n"] for given in ctx.inputs.values()) + 1}}

shop.registry.register_worker("work", work, pure=True, version="1")
runner = shop.runner()
if not runner.tasks:
    for i in range(6):
        needs = ["t%d" % (i - 1)] if i else []
        runner.task("t%d" % i, worker_key="work", assumes="ground %d" % i, needs=needs, auditor_key="judge")
if step == "repair":
    shop.false["ground 3"] = "no"
    runner.recheck()
    runner.repair("t3", assumes="ground 3 again")
    os.kill(os.getpid(), signal.SIGKILL)
print(runner.run().complete, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    count = tmp_path / "count"

    def child(step):
        code = KILLED.format(helpers=str(HELPERS), folder=str(tmp_path), step=step, count=str(count))
        return subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)

    assert child("t2").returncode == -signal.SIGKILL and child("t4").returncode == -signal.SIGKILL
    assert child("").stdout == b"True" + os.linesep.encode()
    assert count.read_text().split() == ["t0", "t1", "t2", "t2", "t3", "t4", "t4", "t5"]
    assert child("repair").returncode == -signal.SIGKILL  # between repair and run
    count.unlink()
    assert child("").stdout.strip() == b"True"
    assert count.read_text().split() == ["t3"]  # the same result, so nothing else
    shop = Shop(tmp_path)
    assert shop.log.verify().events and Runner(shop.mesh, None, "other").tasks == ()
    shop.log.close()


# -- threads


def test_threads_do_not_change_the_ledger(tmp_path):
    heads = []
    for workers in (1, 4):
        shop = Shop(tmp_path / str(workers))
        late = threading.Event()

        def first(ctx, late=late, workers=workers):
            if workers > 1:
                late.wait(10)  # the others are done before
            return {"n": 1}

        def last(ctx, late=late):
            late.set()
            return {"n": 2}

        shop.registry.register_worker("first", first, pure=True, version="1")
        shop.registry.register_worker("last", last, pure=True, version="1")
        runner = shop.runner(workers=workers)
        for name, key in (("a", "first"), ("b", "value"), ("c", "broken"), ("d", "last")):
            runner.task(name, worker_key=key, assumes=name, auditor_key="judge", retries=1)
        runner.task("e", worker_key="sum", needs=["a", "d"], assumes="e")
        report = runner.run()
        assert report.executed == ["a", "b", "d", "e"] and set(report.failed) == {"c"}
        heads.append((runner.ledger.head, shop.mesh.head.state))
        shop.log.close()
    assert heads[0] == heads[1]


def test_no_more_than_the_pool_allows(shop):
    now, most, lock = [0], [0], threading.Lock()
    full = threading.Barrier(3, timeout=20)

    def work(ctx):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        full.wait()  # three are at work at once
        with lock:
            now[0] -= 1
        return {}

    shop.registry.register_worker("busy", work)
    runner = shop.runner(workers=3)
    for i in range(9):
        runner.task(f"t{i}", worker_key="busy", assumes=f"a{i}")
    assert runner.run().complete and most[0] == 3


def test_a_try_that_takes_too_long_is_given_up_and_tried_again(shop):
    release, seen = threading.Event(), []

    def work(ctx):
        seen.append(ctx.retry)
        if ctx.retry == 0:
            release.wait(20)
            seen.append("stopping" if ctx.stopping else "wanted")
        return {"n": ctx.retry}

    shop.registry.register_worker("slow", work)
    runner = shop.runner()
    runner.task("t", worker_key="slow", assumes="a", timeout=0.2, retries=1)
    runner.task("u", worker_key="slow", assumes="b", timeout=0.2)
    report = runner.run()
    assert report.executed == ["t"] and report.failed == {"u": "it took longer than 0.2 seconds"}
    assert runner.output("t") == {"n": 1}
    assert [e.detail for e in runner.ledger.entries() if e.kind is Event.retried] == [
        "try 1 of 2: it took longer than 0.2 seconds"
    ]
    release.set()
    assert runner.output("u") == {}


def test_retries_are_counted_and_each_reason_is_kept(shop):
    turns = iter([ValueError("one"), OSError("two"), None])

    def work(ctx):
        error = next(turns)
        if error:
            raise error
        return {"retry": ctx.retry, "attempt": ctx.attempt}

    shop.registry.register_worker("frail", work)
    runner = shop.runner()
    runner.task("t", worker_key="frail", assumes="a", retries=5)
    assert runner.run().complete and runner.output("t") == {"retry": 2, "attempt": 1}
    assert [(str(e.kind), e.event, e.detail) for e in runner.ledger.entries()][:2] == [
        ("retried", "failed", "try 1 of 6: ValueError: one"), ("retried", "failed", "try 2 of 6: OSError: two"),
    ]  # fmt: skip


def test_a_stopped_run_leaves_what_was_recorded_and_nothing_else(shop):
    runner = shop.runner(workers=2, grace=0.1)
    release = threading.Event()

    def work(ctx):
        if ctx.task.name == "t1":
            runner.cancel()
            release.wait(20)
        return {}

    shop.registry.register_worker("work", work, pure=True)
    for i in range(4):
        runner.task(f"t{i}", worker_key="work", assumes=f"a{i}")
    report = runner.run()
    assert report.cancelled == ["t1"] and not report.complete and "t3" in report.blocked
    assert runner["t1"].state is TaskState.pending and Event.cancelled in {e.kind for e in runner.ledger.entries()}
    release.set()
    shop.registry = shop.brought()
    shop.registry.register_worker("work", lambda ctx: {}, pure=True)
    shop.mesh = shop.fresh()
    assert shop.runner().run().complete


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_leaves_a_consistent_state(shop, workers):
    def work(ctx):
        if ctx.task.name == "b" and not ran:
            ran.append(1)
            if workers == 1:
                raise KeyboardInterrupt
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(1)
        return {}

    ran = []
    shop.registry.register_worker("work", work)
    runner = shop.runner(workers=workers, grace=0)
    for name in "abc":
        runner.task(name, worker_key="work", assumes=name)
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    assert runner["b"].state is TaskState.pending and (workers > 1 or runner["a"].state is TaskState.done)
    runner.ledger.verify()
    assert runner.run().complete


def test_a_worker_may_leave_the_interpreter_and_only_its_task_fails(shop):
    shop.registry.register_worker("quit", lambda ctx: sys.exit(3))
    runner = shop.runner()
    runner.task("t", worker_key="quit", assumes="a")
    shop.chain(runner, "other")
    assert runner.run().failed == {"t": "SystemExit: 3"} and runner["other"].state is TaskState.done


def test_deep_plans_need_no_deep_stack(shop):
    runner = shop.runner()
    with runner.declaring():
        for i in range(1_200):
            runner.task(f"t{i}", worker_key="sum", needs=[f"t{i - 1}"] if i else [])
    assert [p.action for p in runner.dry_run()][:3] == ["run", "run", "run"]


def test_a_recheck_writes_the_same_whatever_the_threads(tmp_path):
    heads = []
    for workers in (1, 4):
        shop = Shop(tmp_path / str(workers))
        runner = shop.runner(workers=workers)
        shop.chain(runner, "a", "b", "c")
        shop.chain(runner, "d", "e")
        shop.chain(runner, "f")
        runner.run()
        shop.false["a may"] = "no"
        shop.wrong["e"] = "it is wrong"
        report = runner.recheck()
        assert set(report.stale) == {"a", "b", "c"} and report.held == ["d", "f"] and set(report.failed) == {"e"}
        heads.append((runner.ledger.head, shop.mesh.head.state))
        shop.log.close()
    assert heads[0] == heads[1]


HASHED = """
import sys
sys.path.append({helpers!r})
from pathlib import Path
from executor_kit import Shop

shop = Shop(Path({folder!r}))
odd = {{"x", "yy", "zzz"}}
shop.registry.register_worker("odd", lambda ctx: {{"n": 1 if "yy" in {{"x", "yy", "zzz"}} else 2}}, pure=True)
runner = shop.runner()
runner.task("odd", worker_key="odd", assumes="o", produces=["p", "q"], auditor_key="judge")
shop.chain(runner, "a", "b", "c")
runner.run()
shop.false["a may"] = "no"
runner.recheck()
runner.repair("a", assumes="a may again")
runner.run()
print(runner.ledger.head, shop.mesh.head.state)
"""


def test_nothing_depends_on_the_order_of_hashes(tmp_path):
    said = set()
    for seed in ("0", "1", "77"):
        code = HASHED.format(helpers=str(HELPERS), folder=str(tmp_path / seed))
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, env=env
        )
        assert done.returncode == 0, done.stderr.decode()
        said.add(done.stdout)
    assert len(said) == 1


def test_readers_go_on_while_a_round_writes(shop):
    runner = shop.runner(workers=2)
    shop.chain(runner, *(f"t{i}" for i in range(12)))
    over, wrong = threading.Event(), []

    def look():
        while not over.is_set():
            try:
                assert len(runner.standing()) == 12
                sum(1 for _ in runner.ledger.entries())
                shop.mesh.graph.nodes("decision")
            except Exception as error:
                wrong.append(error)

    reader = threading.Thread(target=look)
    reader.start()
    runner.run()
    over.set()
    reader.join(20)
    assert not wrong and runner.complete
