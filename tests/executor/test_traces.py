"""Recorded reads: what a task read decides whether it runs again; what it may read; what is handed out cannot be changed."""

from __future__ import annotations

import pytest
from executor_kit import Shop

from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.executor import Event, TaskState
from mog.engine.executor.traces import ABSENT, Read, check_reads, digest, settle, settle_output
from mog.engine.ledgers.events import EventLog
from mog.engine.reason import commands
from mog.engine.reason.mesh import folder


@pytest.fixture
def shop(tmp_path):
    found = Shop(tmp_path)
    yield found
    found.log.close()


def reader(shop, work, root=None, *, pure=True, **more):
    shop.registry.register_worker("read", work, pure=pure, version="1")
    runner = shop.runner(root=root, **more)
    runner.task("t", worker_key="read", assumes="it may")
    return runner


# -- files


def test_a_file_that_changes_runs_its_reader_again(shop, tmp_path):
    place = tmp_path / "src" / "a.py"
    place.parent.mkdir()
    place.write_bytes(b"one")
    runner = reader(shop, lambda ctx: {"size": len(ctx.file("src/a.py"))}, tmp_path)
    assert runner.run().executed == ["t"] and runner.run().cached == ["t"]
    place.write_bytes(b"three")
    assert [(p.action, p.why) for p in runner.dry_run()] == [("run", "file src/a.py changed")]
    report = runner.run()
    assert report.why == {"t": "file src/a.py changed"} and runner.output("t") == {"size": 5}
    place.unlink()
    assert "src/a.py" in runner.run().failed["t"] and not runner.complete
    place.write_bytes(b"three")
    assert runner.run().complete


def test_a_recheck_finds_what_changed_and_runs_nothing(shop, tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    ran = []
    runner = reader(shop, lambda ctx: ran.append(1) or {"n": len(ctx.file("a"))}, tmp_path)
    runner.run()
    (tmp_path / "a").write_bytes(b"22")
    assert runner.recheck().stale == {"t": "file a changed"} and len(ran) == 1
    assert runner.state("t") is TaskState.stale
    (tmp_path / "a").write_bytes(b"1")
    assert runner.run().cut_off == ["t"] and len(ran) == 1  # it is as it was read


def test_what_is_not_there_is_a_read_too(shop, tmp_path):
    def work(ctx):
        return {"found": ctx.read("file", "later.txt") is not None}

    runner = reader(shop, work, tmp_path)
    runner.run()
    (tmp_path / "later.txt").write_bytes(b"")
    assert runner.run().executed == ["t"] and runner.output("t") == {"found": True}


@pytest.mark.parametrize("path", ["../outside", "/etc/hostname", "link"])
def test_no_path_leads_out_of_the_root(shop, tmp_path, path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "outside")
    seen = []

    def work(ctx):
        with pytest.raises(PolicyDenied):
            ctx.file(path)
        seen.append(path)
        return {}

    assert reader(shop, work, root).run().complete and seen == [path]


def test_a_file_that_changes_while_it_is_read_leaves_the_task_stale(shop, tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    turns = iter([True, False])

    def work(ctx):
        seen = ctx.file("a")
        if next(turns):
            (tmp_path / "a").write_bytes(b"22")
        return {"n": len(seen)}

    runner = reader(shop, work, tmp_path)
    report = runner.run()
    assert not report.complete and report.stale == {"t": "file a changed while it ran"} and not report.executed
    assert runner.run().complete and runner.output("t") == {"n": 2}


def test_sources_of_the_runner(shop):
    world = {"a": 1}
    runner = reader(
        shop, lambda ctx: {"n": ctx.read("cell", "a"), "no": ctx.read("cell", "b")}, sources={"cell": world.get}
    )
    runner.run()
    assert runner.output("t") == {"n": 1, "no": None}
    world["b"] = 2
    assert runner.run().executed == ["t"]
    shop.registry.register_worker("odd", lambda ctx: ctx.read("unknown", "x"))
    runner.task("odd", worker_key="odd", assumes="b")
    assert "nothing reads a 'unknown'" in runner.run().failed["odd"]


# -- the graph


def test_every_question_to_the_graph_is_a_read(shop):
    known = commands.assume(shop.mesh, "cents are whole").result
    decided = commands.decide(shop.mesh, "store cents", "because", assumptions=[known]).result

    def work(ctx):
        graph = ctx.graph
        with pytest.raises(NotFound):
            graph.node("0" * 32)
        return {
            "label": graph.label(known).value, "stands": graph.stands(decided), "found": graph.find("cents are whole"),
            "in": [e.src for e in graph.in_edges(known, ["depends_on"])], "out": len(graph.out_edges(decided)),
            "decisions": sorted(n.label for n in graph.nodes("decision")), "edges": len(graph.edges("depends_on")),
            "none": [graph.label("no"), graph.stands("no"), graph.find("no"), len(graph.out_edges("no"))],
        }  # fmt: skip

    runner = reader(shop, work)
    assert runner.run().complete
    out = runner.output("t")
    assert out["in"] == (decided,) and out["found"] == known and out["none"] == (None, False, "", 0)
    assert out["decisions"] == ("store cents",)  # the plan's own decision is not among them
    assert runner.run().cached == ["t"]
    commands.decide(shop.mesh, "round up", "because", assumptions=[known])
    assert runner.run().executed == ["t"] and runner.output("t")["decisions"] == ("round up", "store cents")
    assert runner.run().cached == ["t"]


def test_another_plan_is_part_of_the_graph(shop):
    shop.registry.register_worker("count", lambda ctx: {"n": len(ctx.graph.nodes("decision"))}, pure=True)
    one, other = shop.runner("one"), shop.runner("other")
    one.task("t", worker_key="count", assumes="a")
    other.task("t", worker_key="value", assumes="b")
    one.run()
    other.run()
    assert one.run().executed == ["t"] and one.output("t") == {"n": 1}


# -- inputs


def test_only_inputs_that_were_read_count(shop):
    shop.registry.register_worker("deaf", lambda ctx: {"names": sorted(ctx.inputs)}, pure=True)
    runner = shop.runner()
    runner.task("up", worker_key="value", assumes="a")
    runner.task("deaf", worker_key="deaf", assumes="b", needs=["up"])
    runner.run()
    shop.values["up"] = 5
    runner.repair("up", worker_key="value.2")
    report = runner.run()
    assert report.executed == ["up"] and report.cached == ["deaf"] and report.complete
    edge = shop.mesh.graph.out_edges(runner["deaf"].node_id, ["depends_on"])
    assert runner["up"].node_id in {e.dst for e in edge}


def test_what_people_decided_on_a_result_stays_with_the_same_result_and_falls_with_another(shop):
    runner = shop.runner()
    shop.chain(runner, "up")
    runner.run()
    theirs = commands.decide(shop.mesh, "ship it", "because", decisions=[runner["up"].node_id]).result
    runner.repair("up", assumes="other ground")
    shop.wrong["up"] = "not this time"
    assert not runner.run().complete
    shop.wrong.clear()
    runner.run()
    assert shop.mesh.stands(theirs)
    shop.values["up"] = 2
    runner.repair("up", worker_key="value.2")
    runner.run()
    assert not shop.mesh.stands(theirs)


# -- values


def test_values_are_settled_as_they_are_replayed(shop):
    shop.values["up"] = {"whole": 2.0, "half": 0.5, "zero": -0.0, "large": 1e20}
    runner = shop.runner()
    shop.chain(runner, "up")
    runner.run()
    assert runner.output("up")["n"] == {"whole": 2, "half": 0.5, "zero": 0, "large": 1e20}
    assert not shop.log.verify(folder(shop.mesh.ontology)).flaws
    assert isinstance(shop.reopened().output("up")["n"]["whole"], int)


@pytest.mark.parametrize(
    "value", [[1], "text", {"x": {1, 2}}, {"x": float("nan")}, {"x": "a" * 300_000}, {1: 2}, {"x": 2**60}]
)
def test_an_output_that_cannot_be_kept_fails_its_task_once(shop, value):
    ran = []
    shop.registry.register_worker("odd", lambda ctx: ran.append(1) or value)
    runner = shop.runner()
    runner.task("odd", worker_key="odd", assumes="a", retries=3)
    runner.task("even", worker_key="value", assumes="b")
    report = runner.run()
    assert set(report.failed) == {"odd"} and report.executed == ["even"] and len(ran) == 1


def test_digests_and_limits():
    assert digest({"b": 1, "a": [True, None]}) == digest({"a": [True, None], "b": 1}) != digest({"a": [True], "b": 1})
    assert digest(None) == ABSENT and digest(b"x") != digest("x") and settle_output(None) == {}
    assert settle({"a": (1.0, 2.5)}) == {"a": [1, 2.5]}
    with pytest.raises(UsageError, match="too much"):
        check_reads(tuple(Read("k", (str(i),), "d") for i in range(4_001)))
    with pytest.raises(UsageError, match="too much"):
        check_reads((Read("k", ("x" * 600_000,), "d"),))


def test_a_result_shaped_like_a_credential_is_not_kept(tmp_path):
    from mog.engine.code import secrets
    from mog.engine.reason.mesh import Mesh

    shop = Shop(tmp_path)
    looks = lambda text: secrets.contains_secret(text) is not None  # noqa: E731
    shop.mesh = Mesh(shop.log, shop.mesh.ontology, "repo", looks_secret=looks)
    shop.values["up"] = "ghp_" + "FAKE" * 9
    runner = shop.runner()
    shop.chain(runner, "up")
    assert "credential" in runner.run().failed["up"]
    assert isinstance(shop.log, EventLog) and "ghp_" not in str([dict(e.data) for e in shop.log.events()])
    assert runner.ledger.count(Event.failed) == 1
