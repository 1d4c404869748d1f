"""Plan files: what is read, and what is refused with file and field."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import planning
import pytest

from mog.engine.errors import ConfigError
from mog.engine.executor import plan_file
from mog.engine.executor.plan_file import Assumes


def task(**fields: Any) -> dict[str, Any]:
    return {"name": "a", "argv": ["true"], **fields}


def write(root: Path, value: Any, file: str = "plan.yaml") -> None:
    """A file as JSON, which is YAML."""
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def refused(root: Path, value: Any, file: str = "plan.yaml") -> ConfigError:
    write(root, value, file)
    with pytest.raises(ConfigError) as caught:
        plan_file.load(root)
    return caught.value


def test_everything_that_a_file_may_say(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "version": 1,
            "plan": "checks",
            "tasks": [
                {"name": "build", "argv": ["make", "x; rm -rf /", "$HOME", "`id`", "a|b", "*"], "outputs": ["dist/**/*.whl"]},
                {
                    "name": "test", "argv": ["./run"], "title": "Tests", "because": "they are cheap", "cwd": "sub/folder",
                    "env": ["CI"], "covers": ["conftest.py"], "timeout": 12.5, "retries": 2, "max_file_mb": 1,
                    "needs": ["build"], "pure": True, "produces": ["report"], "outputs": ["out/*.xml"],
                    "inputs": {"files": ["*.ini"], "uses": ["t.py"], "affected": ["f"], "tests": ["g"], "tasks": ["build"]},
                    "assumes": ["it is dry", {"statement": "no network", "kind": "constraint"}],
                    "auditors": [{"argv": ["./audit"], "verdict": "exit", "timeout": 3}],
                },
            ],
        },
    )  # fmt: skip
    (plan,) = plan_file.load(tmp_path)
    build, test = plan.tasks
    assert (plan.name, plan.file) == ("checks", "plan.yaml")
    assert build.command.argv == ("make", "x; rm -rf /", "$HOME", "`id`", "a|b", "*")
    assert (build.command.name, build.command.kind, build.timeout) == ("checks/build", "task", 600.0)
    assert (test.command.cwd, test.env, test.command.covers) == ("sub/folder", ("CI",), ("conftest.py",))
    assert (test.timeout, test.retries, test.largest, test.pure) == (12.5, 2, 1_000_000, True)
    assert test.needs == ("build",)
    assert test.inputs.queries == (("uses", "t.py"), ("affected", "f"), ("tests", "g"))
    assert test.assumes == (Assumes("it is dry"), Assumes("no network", "constraint"))
    assert [one.name for one in plan.commands()] == ["checks/build", "checks/test", "checks/test/audit"]


def test_plans_are_found_at_the_root_and_among_the_plans_and_auditors_are_none(tmp_path: Path) -> None:
    write(tmp_path, {"version": 1, "tasks": [task()]})
    write(tmp_path, {"version": 1, "tasks": [task()]}, ".mog/plans/nightly.yaml")
    write(tmp_path, {"version": 1, "auditors": []}, ".mog/plans/auditors.yaml")
    write(tmp_path, "not a plan", ".mog/plans/notes.txt")
    assert [(one.name, one.file) for one in plan_file.load(tmp_path)] == [
        ("nightly", ".mog/plans/nightly.yaml"),
        ("plan", "plan.yaml"),
    ]


def test_a_repository_without_a_file_has_no_plan(tmp_path: Path) -> None:
    assert plan_file.load(tmp_path) == ()


def test_two_plans_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"version": 1, "plan": "x", "tasks": [task()]})
    error = refused(tmp_path, {"version": 1, "tasks": [task()]}, ".mog/plans/x.yaml")
    assert (error.where, "declared in" in error.what) == (".mog/plans/x.yaml", True)


def test_an_edited_file_is_read_again_and_a_named_auditor_too(tmp_path: Path) -> None:
    write(tmp_path, {"version": 1, "tasks": [task(auditors=["look"])]})
    for program in ("x", "y"):
        auditor = {"name": "look", "argv": [program], "judges": {"locators": ["*"]}}
        write(tmp_path, {"version": 1, "auditors": [auditor]}, ".mog/plans/auditors.yaml")
        (named,) = plan_file.load(tmp_path)[0].tasks[0].auditors
        assert named.command is not None
        assert named.command.argv == (program,)
    assert [one.kind for one in plan_file.commands_of(tmp_path)] == ["task"]


def with_tasks(*tasks: Any) -> dict[str, Any]:
    return {"version": 1, "tasks": list(tasks)}


OUTSIDE = ["/etc/passwd", "../x", "a/../../x", "~/x", "C:/x", "a\\b", "", ".", "a//b", "**", "a/**b", "**/**/**/**/x"]


@pytest.mark.parametrize(
    ("value", "where", "what"),
    [
        ({"tasks": [task()]}, "version", "not known"),
        ({"version": 2, "tasks": [task()]}, "version", "2"),
        ({"version": True, "tasks": [task()]}, "version", "True"),
        ({"version": 1}, "tasks", "no task"),
        ({"version": 1, "tasks": {}}, "tasks", "no list"),
        ({"version": 1, "task": [task()]}, "task", "nearest is tasks"),
        (with_tasks(task(args=["x"])), "tasks[0].args", "nearest is"),
        (with_tasks(task(shell="rm")), "tasks[0].shell", "unknown field"),
        (with_tasks({"argv": ["x"]}), "tasks[0].name", "no text"),
        (with_tasks(task(name="a b")), "tasks[0].name", "cannot be a name"),
        (with_tasks(task(name="a/b")), "tasks[0].name", "cannot be a name"),
        (with_tasks(task(name="-rf")), "tasks[0].name", "cannot be a name"),
        (with_tasks(task(name="x" * 81)), "tasks[0].name", "cannot be a name"),
        (with_tasks(task(name="é" * 41)), "tasks[0].name", "cannot be a name"),
        (with_tasks(task(), task()), "tasks[1].name", "twice"),
        (with_tasks(task(argv="rm -rf /")), "tasks[0].argv", "no list of texts"),
        (with_tasks(task(argv=[])), "tasks[0].argv", "no list of texts"),
        (with_tasks(task(argv=[" "])), "tasks[0].argv", "no program"),
        (with_tasks(task(argv=["x", 1])), "tasks[0].argv", "no list of texts"),
        (with_tasks(task(argv=["x\x00y"])), "tasks[0].argv", "no list of texts"),
        (with_tasks(task(argv=["x\x1b[2J"])), "tasks[0].argv", "no list of texts"),
        (with_tasks(task(cwd="/tmp")), "tasks[0].cwd", "outside"),
        (with_tasks(task(cwd="a/../..")), "tasks[0].cwd", "outside"),
        (with_tasks(task(env=["A=b"])), "tasks[0].env", "names no variable"),
        (with_tasks(task(env=["A", "A"])), "tasks[0].env", "one twice"),
        (with_tasks(task(timeout=0)), "tasks[0].timeout", "0"),
        (with_tasks(task(timeout=1e9)), "tasks[0].timeout", "1"),
        (with_tasks(task(timeout="60")), "tasks[0].timeout", "60"),
        (with_tasks(task(retries=1.5)), "tasks[0].retries", "1.5"),
        (with_tasks(task(retries=11)), "tasks[0].retries", "11"),
        (with_tasks(task(pure="yes")), "tasks[0].pure", "yes"),
        (with_tasks(task(needs=["b"])), "tasks[0].needs", "no task 'b'"),
        (with_tasks(task(needs=["aa"]), task(name="ab")), "tasks[0].needs", "nearest is"),
        (with_tasks(task(inputs={"tasks": ["b"]})), "tasks[0].needs", "no task 'b'"),
        (with_tasks(task(inputs={"file": ["x"]})), "tasks[0].inputs.file", "nearest is files"),
        (with_tasks(task(inputs=["x"])), "tasks[0].inputs", "no mapping"),
        (with_tasks(task(assumes=[""])), "tasks[0].assumes[0].statement", "empty"),
        (with_tasks(task(assumes=["x", "x"])), "tasks[0].assumes", "twice"),
        (with_tasks(task(assumes=[{"statement": "x", "kind": "hope"}])), "tasks[0].assumes[0].kind", "hope"),
        (with_tasks(task(auditors=["nobody"])), "tasks[0].auditors[0]", "no auditor"),
        (with_tasks(task(auditors=[{"argv": ["x"]}, {"argv": ["y"]}])), "tasks[0].auditors", "twice"),
        (with_tasks(task(auditors=[{"argv": ["x"], "judges": {}}])), "tasks[0].auditors[0].judges", "unknown field"),
        (with_tasks(task(needs=["a"])), "tasks[0].needs", "a → a"),
        (with_tasks(task(needs=["b"]), task(name="b", needs=["c"]), task(name="c", needs=["b"])), "tasks[1].needs", "b → c → b"),
        *[(with_tasks(task(outputs=[path])), "tasks[0].outputs", "") for path in OUTSIDE],
        *[(with_tasks(task(inputs={"files": [path]})), "tasks[0].inputs.files", "") for path in OUTSIDE],
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value)[:40],
)  # fmt: skip
def test_a_mistake_is_refused_with_file_and_field(tmp_path: Path, value: Any, where: str, what: str) -> None:
    error = refused(tmp_path, value)
    assert error.where == f"plan.yaml: {where}"
    assert what in error.what
    assert error.way_out


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("version: 1\nx: &a [1]\ntasks: *a\n", "aliases"),
        ("version: 1\nversion: 1\n", "twice"),
        ("version: 1\ntasks: [\n", ""),
        ("[" * 40, ""),
        ("version: !!python/object/apply:os.system ['x']", ""),
        ("\x00", ""),
        ("- just\n- a list\n", "no mapping"),
        ("", "no mapping"),
    ],
)
def test_yaml_that_is_no_plain_mapping_is_refused(tmp_path: Path, text: str, what: str) -> None:
    error = refused(tmp_path, text)
    assert error.where.startswith("plan.yaml")
    assert what in error.what


def test_a_link_a_pipe_and_a_huge_file_are_refused_and_nothing_hangs(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text(json.dumps(with_tasks(task())))
    (tmp_path / "plan.yaml").symlink_to("elsewhere.yaml")
    with pytest.raises(ConfigError, match="symlink"):
        plan_file.load(tmp_path)
    (tmp_path / "plan.yaml").unlink()
    os.mkfifo(tmp_path / "plan.yaml")
    with pytest.raises(ConfigError, match="special"):
        plan_file.load(tmp_path)
    (tmp_path / "plan.yaml").unlink()
    (tmp_path / "plan.yaml").write_text("# " + "x" * 300_000)
    with pytest.raises(ConfigError, match="too_large"):
        plan_file.load(tmp_path)


def test_a_chain_of_a_thousand_needs_is_no_circle_and_one_more_edge_is(tmp_path: Path) -> None:
    chain = [task(name=f"t{i}", needs=[f"t{i + 1}"]) for i in range(999)]
    write(tmp_path, with_tasks(*chain, task(name="t999")))
    assert len(plan_file.load(tmp_path)[0].tasks) == 1000
    error = refused(tmp_path, with_tasks(*chain, task(name="t999", needs=["t0"])))
    assert error.where == "plan.yaml: tasks[0].needs"
    assert "circle" in error.what
    assert len(error.what) < 500


def test_the_word_covers_the_whole_declaration(tmp_path: Path) -> None:
    root, trust = tmp_path / "r", None
    root.mkdir()
    trust = planning.trust_of(root, tmp_path / "trust")
    write(root, with_tasks(task(timeout=5)))
    trust.allow(plan_file.commands_of(root)[0])
    assert trust.is_allowed(plan_file.commands_of(root)[0])
    for other in (task(timeout=6), task(timeout=5, env=["SECRET"]), task(timeout=5, outputs=["x"])):
        write(root, with_tasks(other))
        assert not trust.is_allowed(plan_file.commands_of(root)[0])
