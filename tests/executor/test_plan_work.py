"""Plans of a repository, run for real: what runs, what stays, why, and under whose word."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import planning
import pytest
from planning import JOIN, task, working, write_plan

from mog.engine.errors import ConfigError, NotFound, PolicyDenied, UsageError
from mog.engine.workspace import Workspace

FILES = {"tools/join.py": JOIN, "in/one": "1", "in/two": "2"}


@pytest.fixture
def root(make_repo: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A repository with the tool of the tests; words of the person are kept beside it."""
    for name in ("TRUST", "KEYS", "WITNESS"):
        monkeypatch.setenv(f"MOG_{name}_DIR", str(tmp_path / name.lower()))
    made: Path = make_repo(FILES)
    return made


def join(name: str, *words: str, **fields: Any) -> dict[str, Any]:
    """A task that joins words and files of in/ into out/NAME."""
    made = {"outputs": [f"out/{name}"], **fields}
    return task(name, "tools/join.py", name, *words, **made)


def chained(root: Path, **fields: Any) -> None:
    """Three tasks in a chain, each reading a file; and one apart."""
    write_plan(
        root,
        join("a", "one", inputs={"files": ["in/one"]}, **fields),
        join("b", "two", inputs={"files": ["in/two", "out/a"], "tasks": ["a"]}, **fields),
        join("c", "x", inputs={"files": ["out/b"], "tasks": ["b"]}, **fields),
        join("d", "y", assumes=["it is dry"], **fields),
    )


def round_of(root: Path, **more: Any) -> Any:
    """The report of a run by a process of its own."""
    with working(root) as work:
        done = work.run(**more)
    assert done.report is not None
    return done


def test_the_first_run_runs_all_and_the_second_none(root: Path) -> None:
    chained(root)
    assert round_of(root).report.executed == ["a", "d", "b", "c"]
    assert sorted(planning.ran(root)) == ["a", "b", "c", "d"]
    done = round_of(root).report
    assert (done.executed, sorted(done.cached), done.complete) == ([], ["a", "b", "c", "d"], True)
    assert planning.ran(root) == []


def test_an_edit_runs_what_read_the_file_and_what_read_its_result(root: Path) -> None:
    chained(root)
    round_of(root)
    planning.ran(root)
    (root / "in/two").write_text("22")
    done = round_of(root)
    assert planning.ran(root) == ["b", "c"]
    assert [one.key for one in done.because["b"]] == [("in/two",)]
    assert (root / "out/c").read_text() == "x\n"


def test_work_that_gives_the_same_spares_what_is_declared_pure(root: Path) -> None:
    chained(root, pure=True)
    round_of(root)
    planning.ran(root)
    (root / "in/two").write_text("2\n\n")  # join.py strips it
    done = round_of(root).report
    assert planning.ran(root) == ["b"]
    assert done.complete


def test_a_revert_before_the_next_run_runs_nothing(root: Path) -> None:
    chained(root)
    round_of(root)
    planning.ran(root)
    (root / "in/two").write_text("22")
    (root / "in/two").write_text("2")
    assert round_of(root).report.executed == []


def test_an_output_that_was_deleted_or_changed_is_made_again(root: Path) -> None:
    chained(root)
    round_of(root)
    planning.ran(root)
    (root / "out/d").write_text("somebody else's")
    done = round_of(root)
    assert planning.ran(root) == ["d"]
    assert done.because["d"][0].kind == "outputs"
    assert (root / "out/d").read_text() == "y\n"


def test_a_new_file_under_a_pattern_and_a_variable_count_as_reads(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_plan(root, join("a", inputs={"files": ["in/*"]}, env=["COLOUR"]))
    monkeypatch.setenv("COLOUR", "red")
    round_of(root)
    (root / "in/three").write_text("3")
    done = round_of(root)
    assert {(one.key[-1], one.change) for one in done.because["a"]} == {("in/*", "changed"), ("in/three", "new")}
    monkeypatch.setenv("COLOUR", "blue")
    assert [one.kind for one in round_of(root).because["a"]] == ["variable"]
    ledger = (root / ".mog" / "ledger.db").read_bytes()
    assert b"blue" not in ledger


@pytest.mark.parametrize("fields", [{"argv": [planning.PYTHON, "tools/join.py", "a", "z"]}, {"env": ["X"]}])
def test_another_command_is_other_work(root: Path, fields: dict[str, Any]) -> None:
    write_plan(root, join("a"))
    round_of(root)
    planning.ran(root)
    write_plan(root, join("a") | fields)
    assert round_of(root).report.executed == ["a"]


def test_a_longer_timeout_is_the_same_work(root: Path) -> None:
    write_plan(root, join("a"))
    round_of(root)
    write_plan(root, join("a", timeout=99, retries=1, title="A"))
    assert round_of(root).report.executed == []


# -- trust


def test_nothing_runs_before_its_word_and_what_waits_is_named(root: Path) -> None:
    chained(root)
    with working(root, allow=False) as work:
        done = work.run()
        assert (done.report, [one.name for one in done.waiting]) == (None, ["plan/a", "plan/b", "plan/c", "plan/d"])
        assert [one.report for one in work.resume()] == [None]
        assert not work.show().complete
    assert planning.ran(root) == []
    assert not (root / ".mog" / "ledger.db").exists()


def test_a_changed_script_waits_again_and_what_needs_no_run_asks_for_no_word(root: Path) -> None:
    chained(root)
    round_of(root)
    planning.ran(root)
    with working(root, allow=False) as work:
        assert work.run().report.executed == []  # type: ignore[union-attr]
    (root / "tools/join.py").write_text(JOIN + "# more\n")
    with working(root, allow=False) as work:
        done = work.run()
    assert done.report is None
    assert {one.why for one in done.waiting} == {"changed"}
    assert planning.ran(root) == []


def test_a_command_that_changes_between_look_and_run_does_not_run(root: Path) -> None:
    write_plan(root, task("a", "-c", "open('tools/join.py', 'a').write('# more')"), join("b", needs=["a"]))
    done = round_of(root).report
    assert (done.executed, planning.ran(root)) == (["a"], [])
    assert "changed since it was allowed" in done.failed["b"]


# -- failing


def test_a_failing_command_says_its_code_and_last_words_and_its_users_wait(root: Path) -> None:
    write_plan(root, task("a", "-c", "print('the last words'); raise SystemExit(3)"), join("b", needs=["a"]))
    done = round_of(root).report
    assert "exit code 3\nthe last words" in done.failed["a"]
    assert done.blocked == {"b": "it waits for a"}
    assert not done.complete
    with working(root) as work:
        (resumed,) = work.resume()
    assert resumed.report is not None
    assert resumed.report.failed.keys() == {"a"}


def test_a_failure_after_success_leaves_dependants_unverified(root: Path) -> None:
    code = "raise SystemExit(len(open('in/one').read()) > 1)"
    write_plan(root, task("a", "-c", code, inputs={"files": ["in/one"]}), join("b", needs=["a"]), join("c"))
    round_of(root)
    (root / "in/one").write_text("11")
    done = round_of(root).report
    assert (list(done.failed), done.unverified, done.cached) == (["a"], ("b",), ["c"])
    assert not done.complete


def test_an_output_that_is_missing_or_leads_out_fails(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("x")
    link = f"import os; os.symlink({str(tmp_path / 'outside')!r}, 'made')"
    write_plan(root, task("a", "-c", "", outputs=["nothing/*"]), task("b", "-c", link, outputs=["made"]))
    done = round_of(root).report
    assert "nothing that matches 'nothing/*'" in done.failed["a"]
    assert "no plain file" in done.failed["b"]


def test_retries_are_used_and_told(root: Path) -> None:
    code = "import os, sys; n = os.path.exists('again'); open('again', 'w'); sys.exit(0 if n else 1)"
    write_plan(root, task("a", "-c", code, retries=1))
    assert round_of(root).report.executed == ["a"]
    with working(root) as work:
        assert [entry.kind.value for entry in work.ledger().entries()][:1] == ["retried"]


def test_hostile_work_is_bounded_and_the_store_stays_whole(root: Path) -> None:
    write_plan(
        root,
        task("hangs", "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)", timeout=1),
        task("floods", "-c", "while True: print('x' * 100_000)"),
        task("fills", "-c", "open('big', 'wb').write(b'x' * 5_000_000)", max_file_mb=1),
        task("forks", "-c", "import os, time\nif os.fork() == 0:\n os.setsid(); os.close(1); os.close(2); time.sleep(300)"),
        task("lies", "-c", "print('\\x1b]0;owned\\x07 \\u202e ' + 'y' * 5000); raise SystemExit(1)"),
        join("fine"),
    )
    done = round_of(root, jobs=3)
    assert set(done.report.failed) == {"hangs", "floods", "fills", "lies"}
    assert "fine" in done.report.executed
    assert "longer than 1 second" in done.report.failed["hangs"]
    assert "bytes to its output" in done.report.failed["floods"]
    assert "File too large" in done.report.failed["fills"]
    with Workspace.open(root) as workspace:
        assert workspace.beliefs.log.verify().ok
    assert (root / "big").stat().st_size <= 1_000_000


# -- the file and the store


def test_a_look_writes_nothing_and_says_what_a_run_would_do(root: Path) -> None:
    chained(root)
    round_of(root)
    (root / "in/two").write_text("22")
    write_plan(root, *_again(), join("e"))
    with working(root) as work:
        before = work.ledger().head
        view = work.show()
        assert [(one.name, one.planned.action) for one in view.tasks] == [
            ("a", "keep"), ("b", "run"), ("c", "run"), ("d", "keep"), ("e", "run"),
        ]  # fmt: skip
        assert work.ledger().head == before
    assert [one.name for one in _recorded(root)] == ["a", "b", "c", "d"]


def _again() -> list[dict[str, Any]]:
    return [
        join("a", "one", inputs={"files": ["in/one"]}),
        join("b", "two", inputs={"files": ["in/two", "out/a"], "tasks": ["a"]}),
        join("c", "x", inputs={"files": ["out/b"], "tasks": ["b"]}),
        join("d", "y", assumes=["it is dry"]),
    ]


def _recorded(root: Path) -> list[Any]:
    from mog.engine.executor.runner import Runner

    with working(root) as work:
        runner: Runner = work.runner("plan")
        return list(runner.tasks)


def test_a_task_that_left_the_file_leaves_the_plan_and_its_result_is_retracted(root: Path) -> None:
    chained(root)
    round_of(root)
    decision = next(one.node_id for one in _recorded(root) if one.name == "c")
    write_plan(root, *_again()[:2])
    done = round_of(root).report
    assert (done.executed, sorted(done.cached)) == ([], ["a", "b"])
    with Workspace.open(root) as workspace:
        assert not workspace.beliefs.mesh.stands(decision)
    (root / "plan.yaml").unlink()
    with working(root) as work:
        assert work.names() == ("plan",)
        assert [one.planned.why for one in work.show().tasks] == ["its worker is other code than the one that ran"] * 2


def test_a_repair_outlives_the_file_until_the_file_says_something_else(root: Path) -> None:
    write_plan(root, join("a", assumes=["argon2 is sound"]), join("b", inputs={"tasks": ["a"]}))
    round_of(root)
    planning.ran(root)
    with Workspace.open(root) as workspace:
        workspace.beliefs.reject("argon2 is sound", evidence="a CVE", reason="read it")
    assert round_of(root).report.blocked.keys() == {"a", "b"}
    with working(root) as work:
        plan, done = work.repair("a", assumes=["bcrypt is sound"])
        assert (plan, done.assumes) == ("plan", ("bcrypt is sound",))
        (resumed,) = work.resume()
    assert resumed.report is not None
    assert (resumed.report.executed, resumed.complete) == (["a", "b"], True)
    assert round_of(root).report.executed == []
    write_plan(root, join("a", assumes=["scrypt is sound"]), join("b", inputs={"tasks": ["a"]}))
    assert round_of(root).report.executed == ["a", "b"]
    assert [one.assumes for one in _recorded(root)] == [("scrypt is sound",), ()]


def test_an_assumption_that_falls_by_any_hand_makes_its_tasks_run_again_and_no_other(root: Path) -> None:
    write_plan(root, join("a", assumes=["it is dry"]), join("b", needs=["a"]), join("c", assumes=["it is warm"]))
    round_of(root)
    planning.ran(root)
    with Workspace.open(root) as workspace:
        workspace.beliefs.reject("it is dry", evidence="rain", reason="seen")
    with working(root) as work:
        (found,) = work.recheck()
        assert found.report is not None
        assert set(found.report.stale) == {"a", "b"}
        work.repair("plan/a", assumes=["it rains"])
        work.resume()
    assert planning.ran(root) == ["a", "b"]


def test_a_constraint_is_recorded_as_one(root: Path) -> None:
    write_plan(root, join("a", assumes=[{"statement": "no network", "kind": "constraint"}]))
    round_of(root)
    with Workspace.open(root) as workspace:
        kinds = [n.kind for n in workspace.beliefs.mesh.graph.nodes("assumption")]
    assert kinds == ["constraint"]


def test_plans_and_tasks_are_meant_by_name_and_slips_are_answered(root: Path) -> None:
    write_plan(root, join("a"), join("b"), name="one")
    write_plan(root, join("a"), file=".mog/plans/two.yaml")
    with working(root) as work:
        assert work.names() == ("one", "two")
        with pytest.raises(UsageError, match="2 plans"):
            work.run()
        with pytest.raises(NotFound, match="no plan 'three'"):
            work.run("three")
        with pytest.raises(UsageError, match="2 plans have a task"):
            work.repair("a", assumes=["x"])
        with pytest.raises(NotFound, match="no plan has a task"):
            work.repair("zzz", assumes=["x"])
        with pytest.raises(UsageError, match="nothing to repair"):
            work.repair("b")
        assert work.repair("b", assumes=["x"])[0] == "one"


def test_a_broken_file_stops_plans_and_not_the_recheck_of_beliefs(root: Path) -> None:
    chained(root)
    round_of(root)
    (root / "plan.yaml").write_text("version: 7\n")
    with Workspace.open(root) as workspace:

        work = workspace.work
        with pytest.raises(ConfigError):
            work.run()
        (found,) = work.recheck()
    assert "not known" in found.problem


def test_a_secret_in_a_declaration_is_refused_and_nothing_recorded(root: Path) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    write_plan(root, join("a", assumes=[f"the token is {token}"]))
    with working(root) as work, pytest.raises(PolicyDenied):
        work.run()
    assert not any(token.encode() in path.read_bytes() for path in (root / ".mog").glob("ledger.db*"))


# -- auditors


AUDIT = "import sys\nbad = open('in/feed').read().strip()\nprint(bad or 'nothing known')\nsys.exit(1 if bad else 0)\n"


def audited(root: Path, **fields: Any) -> None:
    """A task on a ground that an auditor can find false; and one that needs it."""
    (root / "in/feed").write_text("")
    (root / "tools/audit.py").write_text(AUDIT)
    auditor = {"argv": [planning.PYTHON, "tools/audit.py"], "verdict": "exit", **fields}
    write_plan(root, join("a", assumes=["argon2 is sound"], auditors=[auditor]), join("b", inputs={"tasks": ["a"]}), join("c"))


def test_an_auditor_finds_a_ground_false_at_a_recheck_which_runs_nothing(root: Path) -> None:
    audited(root)
    assert round_of(root).report.complete
    planning.ran(root)
    (root / "in/feed").write_text("CVE-2026-9999")
    with working(root) as work:
        (found,) = work.recheck()
    assert found.report is not None
    assert set(found.report.stale) == {"a", "b"}
    (receipt,) = found.report.receipts
    assert (receipt.assumption, receipt.reason, receipt.disproved_by) == ("argon2 is sound", "CVE-2026-9999", "a")
    assert planning.ran(root) == []
    with Workspace.open(root) as workspace:
        assert not workspace.beliefs.mesh.stands(receipt.assumption_id)


def test_an_auditor_that_breaks_or_says_the_work_is_wrong_fells_nothing(root: Path) -> None:
    audited(root)
    round_of(root)
    (root / "tools/audit.py").write_text("import sys; print('the work is wrong'); sys.exit(2)")
    with working(root) as work:
        (found,) = work.recheck()
    assert found.report is not None
    assert (found.report.stale, list(found.report.failed)) == ({}, ["a"])
    with Workspace.open(root) as workspace:
        assert all(workspace.beliefs.mesh.stands(n.id) for n in workspace.beliefs.mesh.graph.nodes("assumption"))


def test_an_auditor_without_a_word_is_not_asked_and_said_to_wait(root: Path) -> None:
    audited(root)
    round_of(root)
    (root / "in/feed").write_text("CVE-2026-9999")
    (root / "tools/audit.py").write_text(AUDIT + "\n")
    with working(root, allow=False) as work:
        (found,) = work.recheck()
    assert (found.report, [one.name for one in found.waiting]) == (None, ["plan/a/audit"])


def test_an_auditor_of_the_repository_serves_a_task_by_name(root: Path) -> None:
    (root / "in/feed").write_text("")
    (root / "tools/audit.py").write_text(AUDIT)
    (root / ".mog/plans").mkdir(parents=True)
    argv = f"[{planning.PYTHON}, tools/audit.py]"
    (root / ".mog/plans/auditors.yaml").write_text(
        f"version: 1\nauditors:\n  - {{name: feed, argv: {argv}, verdict: exit, judges: {{targets: [x]}}}}\n"
    )
    write_plan(root, join("a", assumes=["x"], auditors=["feed"]))
    assert round_of(root).report.complete
    with working(root) as work:
        assert [e.detail for e in work.ledger().entries() if e.kind.value == "audited"] == ["holds: nothing known"]


# -- the code graph

CODE = {
    "lib/__init__.py": "",
    "lib/low.py": "def low():\n    return 1\n",
    "lib/mid.py": "from lib.low import low\n\n\ndef mid():\n    return low() + 1\n",
    "lib/other.py": "def other():\n    return 0\n",
    "tests/conftest.py": "KNOWN = 1\n",
    "tests/test_mid.py": "from lib.mid import mid\n\n\ndef test_mid():\n    assert mid() == 2\n",
    "tests/test_other.py": "from lib.other import other\n\n\ndef test_other():\n    assert other() == 0\n",
}


def coded(root: Path) -> None:
    """Tests of a small package as tasks; each reads what it uses."""
    for path, text in CODE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    import subprocess

    subprocess.run(["git", "add", "-A"], cwd=root, check=True, stdin=subprocess.DEVNULL)
    run = "import sys; sys.path[:0] = ['.']; exec(open(sys.argv[1]).read())\n"
    run += "for n in list(globals()): n[:5] == 'test_' and globals()[n]()"
    tests = ("test_mid", "test_other")
    write_plan(root, *(task(n, "-B", "-c", run, f"tests/{n}.py", inputs={"uses": [f"tests/{n}.py"]}) for n in tests))


@pytest.mark.parametrize(
    ("path", "runs", "chain"),
    [
        ("lib/low.py", ["test_mid"], ("tests/test_mid.py", "lib/mid.py", "lib/low.py")),
        ("lib/other.py", ["test_other"], ("tests/test_other.py", "lib/other.py")),
        ("lib/__init__.py", ["test_mid", "test_other"], ("tests/test_mid.py", "lib/mid.py", "lib/__init__.py")),
        ("tests/conftest.py", ["test_mid", "test_other"], ("tests/test_mid.py", "tests/conftest.py")),
        ("tools/join.py", [], ()),
    ],
)
def test_an_edited_source_file_runs_exactly_the_tests_that_lean_on_it(
    root: Path, path: str, runs: list[str], chain: tuple[str, ...]
) -> None:
    coded(root)
    assert round_of(root).report.executed == ["test_mid", "test_other"]
    with (root / path).open("a") as file:
        file.write("\n# edited\n")
    done = round_of(root)
    assert done.report.executed == runs
    if runs:
        (why,) = done.because[runs[0]]
        assert (why.key, why.change, why.chain) == ((path,), "changed", chain)


def test_a_new_import_is_followed(root: Path) -> None:
    coded(root)
    round_of(root)
    (root / "lib/mid.py").write_text(CODE["lib/mid.py"] + "\n\nimport lib.other\n")
    done = round_of(root)
    assert done.report.executed == ["test_mid"]
    assert {(one.key[-1], one.change) for one in done.because["test_mid"]} == {
        ("lib/mid.py", "changed"), ("tests/test_mid.py", "changed"), ("lib/other.py", "new"),
    }  # fmt: skip
    (root / "lib/other.py").write_text(CODE["lib/other.py"] + "# more\n")
    assert round_of(root).report.executed == ["test_mid", "test_other"]


def test_affected_and_tests_are_files_of_the_graph_and_a_name_nobody_knows_is_told(root: Path) -> None:
    coded(root)
    write_plan(
        root,
        join("a", inputs={"affected": ["sym:lib/low.py::low"]}),
        join("b", inputs={"tests": ["lib/low.py"]}),
        join("c", inputs={"uses": ["lib/nowhere.py"]}),
    )
    with working(root) as work:
        _, notes = work.check()
        assert [(note.task, "nowhere" in note.text) for note in notes] == [("c", True)]
        done = work.run()
    assert done.report is not None
    assert (done.report.executed, list(done.report.failed)) == (["a", "b"], ["c"])
    (root / "tests/test_mid.py").write_text(CODE["tests/test_mid.py"] + "# more\n")
    assert set(round_of(root).report.executed) == {"a", "b"}
    (root / "lib/other.py").write_text(CODE["lib/other.py"] + "# more\n")
    assert round_of(root).report.executed == []


def test_digests_of_files_with_credentials_are_keyed(root: Path) -> None:
    (root / ".env").write_text("PASSWORD=hunter2\n")
    write_plan(root, join("a", inputs={"files": [".env"]}))
    round_of(root)
    import hashlib

    from mog.engine.executor import plan_why

    with Workspace.open(root) as workspace:
        trace = plan_why.trace(workspace.beliefs.mesh, "plan", "a")
    assert trace is not None
    plain = hashlib.sha256(b"PASSWORD=hunter2\n").hexdigest()
    guess = hashlib.sha256(f'{{"is":"{plain}"}}'.encode()).hexdigest()
    assert guess not in {read.digest for read in trace.reads}
    assert os.path.exists(root / ".mog" / "key")


def test_a_program_that_embeds_mog_brings_its_own_workers(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mog.app.cli.main import main
    from mog.engine.executor.registry import TaskRegistry
    from mog.engine.executor.runner import Runner

    registry, ran = TaskRegistry(), []
    registry.register_worker("shop.build", lambda ctx: ran.append(ctx.task.name) or {"built": True})
    with Workspace.open(root, registry=registry) as workspace:
        runner = Runner(workspace.beliefs.mesh, registry, "shop")
        runner.task("build", worker_key="shop.build", assumes="it is dry", title="build", rationale="because")
    assert main(["resume", "shop", "--repo", str(root)]) != 0  # nobody brings the key: nothing is served
    assert ran == []
    assert main(["resume", "shop", "--repo", str(root)], registry=registry) == 0
    assert ran == ["build"]
    capsys.readouterr()
