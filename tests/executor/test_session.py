"""Sessions: the one ledger saved and loaded, folders of the earlier package taken in and given out, nothing without its code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from session_kit import (
    AUDITORS,
    WORKERS,
    World,
    demo_session,
    earlier_sessions,
    lay,
    small_texts,
    small_world,
    states,
    texts,
)
from v1_kit import RandomV1, mesh

from mog.engine.errors import ConfigError, HeldByOther, MogError, NotFound, StoreDamaged, UsageError
from mog.engine.executor import Runner, TaskRegistry, session
from mog.engine.executor.session import Settings
from mog.engine.executor.v1.records import WalkerV1, plan_source
from mog.engine.executor.v1.renamed import renamed
from mog.engine.ledgers.events import EventLog
from mog.engine.reason.records import Label
from mog.engine.reason.v1.graph import read_graph, write_graph


def registry(world: World | None = None) -> Any:
    return (world or small_world()[0]).fill(TaskRegistry())


def small(folder: Path) -> Path:
    return lay(folder, small_texts())


def taken_in(tmp_path: Path) -> Any:
    """A mesh that holds the small session."""
    m = mesh(tmp_path / "m")
    session.import_(m, small(tmp_path / "in"), registry())
    return m


def planned(folder: Path, plan: str = "build") -> tuple[World, Any, Any]:
    """A plan made here: hash and schema, routes that need both; hash is disproved and repaired."""
    world, m = World(), mesh(folder)
    runner = Runner(m, registry(world), plan)
    runner.task("schema", assumes="the store is empty", worker_key=WORKERS[0], auditor_key=AUDITORS[0], produces=["Schema"])
    runner.task("hash", assumes="argon2 is sound", worker_key=WORKERS[0], auditor_key=AUDITORS[0], produces=["Hasher"])
    runner.task("routes", assumes="interfaces are stable", worker_key=WORKERS[2], needs=["hash", "schema"])
    runner.run()
    world.false.add("argon2 is sound")
    runner.recheck()
    runner.repair("hash", assumes="bcrypt is sound", worker_key=WORKERS[1])
    return world, m, runner


def now(runner: Any) -> dict[str, tuple[str, int]]:
    return {task.name: (runner.state(task.name).value, task.attempt) for task in runner.tasks}


def earlier(folder: Path, world: World) -> Any:
    em = earlier_sessions()
    return em.Session.load(folder, registry=world.fill(em.Registry()))


# -- folders of the earlier package


def test_a_folder_comes_out_as_it_went_in(tmp_path: Path) -> None:
    m = taken_in(tmp_path)
    out = session.export(m, tmp_path / "out")
    assert texts(tmp_path / "out") == small_texts()
    assert out.plan == "small plan" and out.written.generation == 1


def test_the_demo_with_its_plan_comes_out_as_it_went_in_and_goes_on_there(tmp_path: Path) -> None:
    built = demo_session()
    built.save(tmp_path / "in")
    world = World(false={"argon2 has no advisory"})
    m = mesh(tmp_path / "m")
    done = session.import_(m, tmp_path / "in", registry(world))
    assert done.plan == "demo plan" and done.graph.nodes > 140 and done.resolver.dropped == 0
    session.export(m, tmp_path / "out")
    assert texts(tmp_path / "out") == texts(tmp_path / "in")
    theirs, mine = earlier(tmp_path / "out", world).runner, Runner(m, registry(world), "demo plan")
    assert theirs.run().executed == ["hash", "routes"] == mine.resume().executed
    assert {name: state[:2] for name, state in states(theirs).items()} == now(mine)


def test_a_session_taken_in_stands_where_it_stood(tmp_path: Path) -> None:
    m = taken_in(tmp_path)
    runner = Runner(m, registry(), "small plan")
    assert {name: state[:2] for name, state in states(small_world()[1].runner).items()} == now(runner)
    assert session.settings(m) == Settings(WalkerV1(hop_budget=3), 2)
    head = json.loads(small_texts()["session.json"])["ledger_head"]
    assert runner.ledger.verify(head) == len(runner.ledger) == 19 and runner.round == 2


def test_the_same_session_again_changes_nothing(tmp_path: Path) -> None:
    m = taken_in(tmp_path)
    head = m.head
    assert not session.import_(m, tmp_path / "in", registry()).changed and m.head == head


def test_taken_in_it_is_one_commit_or_none(tmp_path: Path) -> None:
    m = mesh(tmp_path / "m")
    m.apply("noted", lambda w: w.entity("Hasher", id="decision:small-plan-hash-v1-50e665"))
    head = m.head
    with pytest.raises(UsageError, match="stands for something else"):
        session.import_(m, small(tmp_path / "in"), registry())
    assert m.head == head and session.settings(m) == Settings()


def test_a_plan_of_that_name_that_went_another_way_is_not_mixed_with_it(tmp_path: Path) -> None:
    m = taken_in(tmp_path)
    Runner(m, registry(), "small plan").resume()
    with pytest.raises(UsageError, match="stands here already"):
        session.import_(m, tmp_path / "in", registry())


def test_an_older_generation_is_taken_and_said(tmp_path: Path) -> None:
    m = taken_in(tmp_path)
    session.export(m, tmp_path / "out")
    session.configure(m, Settings(WalkerV1(hop_budget=9), 5))
    session.export(m, tmp_path / "out")
    (tmp_path / "out" / "graph-000002.json").unlink()
    done = session.import_(mesh(tmp_path / "m2"), tmp_path / "out", registry())
    assert done.generation == 1 and "graph-000002.json" in done.fell_back
    assert "graph-000002.json" in session.inspect(tmp_path / "out").fell_back


# -- without its code nothing is served


def test_a_plan_without_its_registry_is_refused_before_anything_is_taken_in(tmp_path: Path) -> None:
    m = mesh(tmp_path / "m")
    for given in (None, TaskRegistry()):
        with pytest.raises(ConfigError, match=r"work\.sum\.v1"):
            session.import_(m, small(tmp_path / "in"), given)
    partly = TaskRegistry()
    for key in WORKERS:
        partly.register_worker(key, small_world()[0].worker(key))
    with pytest.raises(ConfigError, match=r"brought: auditor audit\.ground\.v1"):
        session.import_(m, tmp_path / "in", partly)
    assert m.head.seq == 0


def test_the_graph_alone_needs_no_registry(tmp_path: Path) -> None:
    m = mesh(tmp_path / "m")
    done = session.import_(m, small(tmp_path / "in"), plan=False)
    assert done.plan == "" and done.graph.nodes and not m.tables.rows["task"]
    session.export(m, tmp_path / "out")
    assert texts(tmp_path / "out")["graph-000001.json"] == small_texts()["graph-000001.json"]
    assert earlier_sessions().Session.load(tmp_path / "out").runner is None


def test_a_saved_session_without_its_registry_is_not_loaded(tmp_path: Path) -> None:
    _, m, _ = planned(tmp_path / "a")
    session.save(m.log, tmp_path / "saved")
    log = EventLog(tmp_path / "b" / "ledger.db")
    for given in (None, TaskRegistry()):
        with pytest.raises(ConfigError, match=r"work\.sum\.v2"):
            session.load(tmp_path / "saved", log, given)
    assert log.head().seq == 0 and not (tmp_path / "b").exists()
    with pytest.raises(ConfigError, match=r"work\.words\.v1"):
        session.require_registry(m, TaskRegistry())
    session.require_registry(m, registry())


# -- plans made here, for the earlier package


def test_the_earlier_package_loads_a_plan_made_here_and_comes_to_the_same(tmp_path: Path) -> None:
    world, m, runner = planned(tmp_path / "m")
    session.export(m, tmp_path / "out")
    theirs = earlier(tmp_path / "out", world).runner
    assert {name: state[:2] for name, state in states(theirs).items()} == now(runner)
    assert now(runner) == {"schema": ("done", 1), "hash": ("stale", 1), "routes": ("stale", 1)}
    assert theirs.ledger.verify() and theirs.ledger.head == runner.ledger.head
    assert theirs.run().executed == ["hash", "routes"] == runner.resume().executed
    assert {name: state[:2] for name, state in states(theirs).items()} == now(runner)
    assert theirs.output("routes") == {**runner.output("routes"), "words": list(runner.output("routes")["words"])}


def test_a_plan_made_here_is_exported_taken_in_and_exported_to_the_same_bytes(tmp_path: Path) -> None:
    world, m, _ = planned(tmp_path / "m")
    session.export(m, tmp_path / "one")
    other = mesh(tmp_path / "n")
    session.import_(other, tmp_path / "one", registry(world))
    session.export(other, tmp_path / "two")
    one, two = texts(tmp_path / "one"), texts(tmp_path / "two")
    assert {name for name in one if one[name] != two[name]} <= {"graph-000001.json"}  # the counter of builds may differ
    assert json.loads(one["graph-000001.json"])["nodes"] and one["runledger-000001.json"] == two["runledger-000001.json"]


def test_an_export_goes_on_in_its_own_folder_and_not_in_another_session(tmp_path: Path) -> None:
    _, m, runner = planned(tmp_path / "m")
    session.export(m, tmp_path / "out")
    runner.resume()
    assert session.export(m, tmp_path / "out").written.generation == 2
    assert not session.export(m, tmp_path / "out").written.written
    other = taken_in(tmp_path / "x")
    with pytest.raises(UsageError, match="another session"):
        session.export(other, tmp_path / "out")
    assert session.export(other, tmp_path / "out", expected=2).written.generation == 3
    with pytest.raises(HeldByOther):
        session.export(other, tmp_path / "out", expected=2)


def test_two_plans_want_a_name(tmp_path: Path) -> None:
    _, m, _ = planned(tmp_path / "m")
    Runner(m, registry(), "other").task("one", assumes="it holds", worker_key=WORKERS[0])
    with pytest.raises(UsageError, match="2 plans"):
        session.export(m, tmp_path / "out")
    with pytest.raises(NotFound):
        session.export(m, tmp_path / "out", plan="nobody's")
    out = session.export(m, tmp_path / "out", plan="other")
    assert out.left_out["plan"] == 1 and session.inspect(tmp_path / "out").plans[0].states == {"pending": 1}


def test_what_the_format_cannot_hold_is_refused_with_every_task_named(tmp_path: Path) -> None:
    m = mesh(tmp_path / "m")
    runner = Runner(m, registry(), "loose")
    runner.task("plain", lambda ctx: {}, assumes="it holds")
    runner.task("groundless", worker_key=WORKERS[0])
    with pytest.raises(UsageError, match=r"'plain'.*'groundless'"):
        session.export(m, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_several_grounds_of_one_task_are_said_to_be_left_out(tmp_path: Path) -> None:
    m = mesh(tmp_path / "m")
    runner = Runner(m, registry(), "broad")
    runner.task("one", assumes=["it holds", "so does that"], worker_key=WORKERS[0], retries=1)
    runner.run()
    notes = session.export(m, tmp_path / "out").notes
    assert any("2 assumptions" in note for note in notes) and any("retries" in note for note in notes)
    assert earlier(tmp_path / "out", World()).runner["one"].assumes == "it holds"


def test_numbers_that_the_store_writes_otherwise_come_out_as_they_were(tmp_path: Path) -> None:
    t = small_texts()
    plan = json.loads(t["execution-000001.json"])
    plan["tasks"][0]["output"] = {"whole": 1.0, "small": -0.0, "half": 0.5, "n": 7}
    text = json.dumps(plan, sort_keys=True, indent=2, ensure_ascii=False).encode() + b"\n"
    where = lay(tmp_path / "in", {**t, "execution-000001.json": text})
    m = mesh(tmp_path / "m")
    session.import_(m, where, registry())
    session.export(m, tmp_path / "out")
    assert texts(tmp_path / "out")["execution-000001.json"] == text
    assert Runner(m, registry(), "small plan").output("schema")["whole"] == 1


# -- the session that bricked itself


def two_repairs(runner: Any, world: World, name: str = "other") -> None:
    """Two tasks on one ground; it falls, and each is put on ground of its own."""
    for task in ("one", name):
        runner.task(task, assumes="the common ground", worker_key=WORKERS[0], auditor_key=AUDITORS[0])
    runner.run()
    world.false.add("the common ground")
    runner.recheck()
    runner.repair("one", assumes="ground of the first")
    runner.repair(name, assumes="ground of the second")


def test_b2_1_two_repairs_of_one_ground_leave_a_session_that_loads(tmp_path: Path) -> None:
    """The earlier package acknowledges both repairs and then never loads the session again."""
    em, world = earlier_sessions(), World()
    theirs = em.Runner("brick", registry=world.fill(em.Registry()))
    two_repairs(theirs, world)
    em.Session(
        graph=theirs.graph, resolver=em.Resolver(), walker=em.Walker(theirs.graph, em.Resolver()),
        ledger=theirs.assumptions, runner=theirs,
    ).save(tmp_path / "bricked")  # fmt: skip
    with pytest.raises(em.SessionError):
        earlier(tmp_path / "bricked", world)
    with pytest.raises(StoreDamaged, match="assumptions"):
        session.inspect(tmp_path / "bricked")

    m, world = mesh(tmp_path / "m"), World()
    mine = Runner(m, registry(world), "brick")
    two_repairs(mine, world)
    session.save(m.log, tmp_path / "saved")
    back = mesh(tmp_path / "back")
    session.load(tmp_path / "saved", back.log, registry(world))
    again = Runner(back, registry(world), "brick")
    assert now(again) == now(mine) == {"one": ("stale", 1), "other": ("stale", 1)}
    out = session.export(back, tmp_path / "out")
    assert any("one successor" in note for note in out.notes)
    loaded = earlier(tmp_path / "out", world)
    assert again.resume().executed == ["one", "other"] == loaded.runner.run().executed
    assert again.complete
    loaded.save(tmp_path / "theirs")
    assert session.inspect(tmp_path / "theirs").plans[0].states == {"done": 2}


# -- saved and loaded


def test_everything_comes_back_identical(tmp_path: Path) -> None:
    world, m, runner = planned(tmp_path / "m")
    m.apply("noted", lambda w: w.alias("password hasher", next(n.id for n in m.graph.nodes("entity") if n.label == "Hasher")))
    session.configure(m, Settings(WalkerV1(4, ("cites", "mentions"), 7, 99), 12))
    saved = session.save(m.log, tmp_path / "saved")
    back = mesh(tmp_path / "back")
    loaded = session.load(tmp_path / "saved", back.log, registry(world))
    assert saved.head == loaded.head == back.head == m.head and loaded.ledger == m.log.id == back.log.id
    assert back.tables.rows == m.tables.rows and session.settings(back) == session.settings(m)
    assert {n.id: back.label(n.id) for n in back.graph.nodes()} == {n.id: m.label(n.id) for n in m.graph.nodes()}
    again = Runner(back, registry(world), "build", expect_head=runner.ledger.head)
    assert now(again) == now(runner) and again.resume().executed == ["hash", "routes"]
    assert back.log.verify().ok


def test_a_save_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    _, m, runner = planned(tmp_path / "m")
    first = session.save(m.log, tmp_path / "saved")
    assert first.before.seq == 0
    runner.resume()
    second = session.save(m.log, tmp_path / "saved")
    assert second.before == first.head and second.head == m.head
    assert session.save(m.log, tmp_path / "saved").before == m.head
    copy = EventLog(tmp_path / "saved" / "ledger.db")
    assert copy.verify().ok and [e.digest for e in copy.events()] == [e.digest for e in m.log.events()]


def test_another_ledger_is_never_written_over(tmp_path: Path) -> None:
    _, m, _ = planned(tmp_path / "m")
    _, other, _ = planned(tmp_path / "n")
    session.save(other.log, tmp_path / "saved")
    before = EventLog(tmp_path / "saved" / "ledger.db").head()
    with pytest.raises(UsageError, match="another ledger"):
        session.save(m.log, tmp_path / "saved")
    with pytest.raises(UsageError, match="another ledger"):
        session.load(tmp_path / "saved", m.log, registry())
    assert EventLog(tmp_path / "saved" / "ledger.db").head() == before


def test_neither_a_newer_state_nor_one_that_went_another_way_is_written_over(tmp_path: Path) -> None:
    world, m, _ = planned(tmp_path / "m")
    session.save(m.log, tmp_path / "saved")
    copy = mesh(tmp_path / "copy")
    session.load(tmp_path / "saved", copy.log, registry(world))
    Runner(copy, registry(world), "build").resume()
    session.save(copy.log, tmp_path / "saved")
    with pytest.raises(UsageError, match="newer"):
        session.save(m.log, tmp_path / "saved")
    for i in range(copy.head.seq):
        m.apply("noted", lambda w, i=i: w.entity(f"Other {i}"))
    with pytest.raises(UsageError, match="another way"):
        session.save(m.log, tmp_path / "saved")
    assert session.load(tmp_path / "saved", copy.log, registry(world)).before == copy.head


def test_nothing_to_save_nothing_to_load_and_itself(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        session.save(EventLog(tmp_path / "none" / "ledger.db"), tmp_path / "saved")
    with pytest.raises(UsageError):
        session.load(tmp_path / "none", EventLog(tmp_path / "l" / "ledger.db"), None)
    _, m, _ = planned(tmp_path / "m")
    with pytest.raises(UsageError, match="itself"):
        session.save(m.log, tmp_path / "m")


def test_a_target_that_is_written_to_is_not_waited_for(tmp_path: Path) -> None:
    _, m, runner = planned(tmp_path / "m")
    session.save(m.log, tmp_path / "saved")
    runner.resume()
    program = (
        "import apsw, sys; db = apsw.Connection(sys.argv[1]); db.execute('BEGIN IMMEDIATE'); print('held', flush=True)\n"
        "sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "saved" / "ledger.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        with pytest.raises(HeldByOther):
            session.save(m.log, tmp_path / "saved")
        other.communicate(timeout=60)
    assert session.save(m.log, tmp_path / "saved").head == m.head


def test_a_copy_that_does_not_hold_is_neither_saved_nor_loaded(tmp_path: Path) -> None:
    import apsw

    world, m, _ = planned(tmp_path / "m")
    session.save(m.log, tmp_path / "saved")
    for table, sql in {
        "event": "UPDATE events SET body = zeroblob(length(body)) WHERE seq = 2",
        "record": "UPDATE nodes SET data = zeroblob(length(data)) WHERE id = (SELECT max(id) FROM nodes)",
        "state": "UPDATE states SET root = zeroblob(32) WHERE seq = 1",
        "head": "UPDATE head SET root = zeroblob(32)",
        "tree": "UPDATE subtrees SET hash = zeroblob(32)",
        "event lost": "DELETE FROM events WHERE seq = 3",
    }.items():
        harmed = tmp_path / f"harmed {table}"
        session.save(m.log, harmed)
        db = apsw.Connection(str(harmed / "ledger.db"))
        db.execute(sql)
        db.close()
        target = EventLog(tmp_path / f"target {table}" / "ledger.db")
        with pytest.raises(StoreDamaged) as caught:
            session.load(harmed, target, registry(world))
        assert caught.value.where and target.head().seq == 0, table


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_save_that_is_killed_leaves_the_old_copy_or_the_new_one(tmp_path: Path) -> None:
    world, m, runner = planned(tmp_path / "m")
    session.save(m.log, tmp_path / "saved")
    old = EventLog(tmp_path / "saved" / "ledger.db").head()
    runner.resume()
    program = (
        "import os, sys; from pathlib import Path; from mog.engine.executor import session\n"
        "from mog.engine.ledgers import report; from mog.engine.ledgers.events import EventLog\n"
        "if sys.argv[3] == 'before': report.check = lambda *a: os._exit(9)\n"
        "session.save(EventLog(Path(sys.argv[1])), Path(sys.argv[2])); os._exit(9)"
    )
    for when, expected in (("before", old), ("after", m.head)):
        command = [sys.executable, "-c", program, str(m.log.path), str(tmp_path / "saved"), when]
        assert subprocess.run(command, stdin=subprocess.DEVNULL, timeout=120).returncode == 9
        assert EventLog(tmp_path / "saved" / "ledger.db").head() == expected
    back = mesh(tmp_path / "back")
    session.load(tmp_path / "saved", back.log, registry(world))
    assert back.head == m.head


# -- looking


def test_what_is_in_a_folder_is_said_without_any_code(tmp_path: Path) -> None:
    _, m, runner = planned(tmp_path / "m")
    session.save(m.log, tmp_path / "saved")
    found = session.inspect(tmp_path / "saved")
    assert (found.form, found.position, found.head) == ("mog ledger", m.head.seq, m.head.digest)
    (plan,) = found.plans
    assert (plan.name, plan.states, plan.entries) == ("build", {"done": 1, "stale": 2}, len(runner.ledger))
    assert plan.keys == ("auditor audit.ground.v1", "worker work.sum.v1", "worker work.sum.v2", "worker work.words.v1")
    theirs = session.inspect(small(tmp_path / "in"))
    assert theirs.form == "contextmesh.session v2" and theirs.settings.walker.hop_budget == 3
    assert theirs.plans[0].states == {"done": 1, "failed": 1, "stale": 3} and theirs.nodes["decision"] == 5
    with pytest.raises(UsageError, match="no session"):
        session.inspect(tmp_path)


@pytest.mark.parametrize("bad", [{}, {"walker": {}, "rounds": 1}, {"walker": None, "rounds": 0}, {"rounds": True}, [], 1])
def test_settings_of_no_known_form_are_damage(bad: Any, tmp_path: Path) -> None:
    m = mesh(tmp_path / "m")
    m.apply("harmed", lambda w: w.record("run", "@session", bad))
    with pytest.raises(StoreDamaged, match="@session"):
        session.settings(m)


@pytest.mark.parametrize("walker", [WalkerV1(hop_budget=0), WalkerV1(policy=("leads_to",)), WalkerV1(policy=("cites", "cites"))])
def test_settings_that_could_not_be_read_back_are_not_recorded(walker: WalkerV1, tmp_path: Path) -> None:
    m = mesh(tmp_path / "m")
    with pytest.raises(MogError):
        session.configure(m, Settings(walker))
    assert m.head.seq == 0


def test_a_fallen_decision_is_stale_in_the_export_whatever_was_recorded(tmp_path: Path) -> None:
    world, m = World(), mesh(tmp_path / "m")
    runner = Runner(m, registry(world), "p")
    task = runner.task("one", assumes="it holds", worker_key=WORKERS[0])
    runner.run()
    m.apply("found", lambda w: w.judge(w.evidence("it does not"), task.assumption_ids[0], "contradicts", auditor="person"))
    assert m.label(runner["one"].node_id) is Label.fallen
    out = session.export(m, tmp_path / "out")
    assert any(note.startswith("one: done when") for note in out.notes)
    assert earlier(tmp_path / "out", world).runner["one"].state.value == "stale"


# -- a source under another id


@pytest.mark.parametrize("seed", range(12))
def test_a_graph_with_a_source_under_another_id_is_one_the_earlier_package_loads(seed: int) -> None:
    made = RandomV1(seed)
    graph = read_graph((json.dumps(made.graph.to_dict()) + "\n").encode())
    old, new = made.sources[0], plan_source("elsewhere")
    moved = renamed(graph, old, new)
    loaded = made.cm.Graph.from_dict(json.loads(write_graph(moved)))
    assert new in loaded.nodes and old not in loaded.nodes
    assert write_graph(renamed(moved, new, old)) == write_graph(graph)
    with pytest.raises(UsageError, match="another node"):
        renamed(graph, old, made.claims[0])
