"""Verbs about plans through the real entry point: what they show, how they exit, what they leave."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import mog_process
import planning
import pytest
from believing import Said
from planning import JOIN, task, write_plan

from mog.app.cli import exit_codes

HOSTILE = "x\x1b[2J \u202eecno\u202c\u200b"
UNSAFE = [byte for byte in range(32) if byte not in (9, 10)] + [127]
LAST = "import sys; print('the last words'); sys.exit(int(open('in/code').read()))"


@pytest.fixture
def root(make_repo: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A repository with a plan of four tasks, as the current folder; words are kept beside it."""
    made: Path = make_repo({"tools/join.py": JOIN, "in/one": "1", "in/code": "0"})
    monkeypatch.chdir(made)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("TRUST", "KEYS", "WITNESS"):
        monkeypatch.setenv(f"MOG_{name}_DIR", str(tmp_path / name.lower()))
    write_plan(
        made,
        task("a", "tools/join.py", "a", "one", inputs={"files": ["in/one"]}, outputs=["out/a"], assumes=["it is dry"]),
        task("b", "tools/join.py", "b", "x", inputs={"tasks": ["a"]}, outputs=["out/b"]),
        task("c", "-c", LAST, inputs={"files": ["in/code"]}),
        task("d", "tools/join.py", "d", needs=["c"]),
        name="checks",
    )
    return made


@pytest.fixture
def allowed(root: Path, capfdbinary: Any) -> Path:
    """The same, every command allowed."""
    assert Said(capfdbinary, "allow", "--all").code == exit_codes.OK
    return root


def test_a_plan_is_checked_listed_shown_and_drawn(root: Path, capfdbinary: Any) -> None:
    checked = Said(capfdbinary, "plan", "check", "--json").json
    assert checked["plans"] == [{"plan": "checks", "file": "plan.yaml", "tasks": 4}]
    assert [note["task"] for note in checked["notes"]] == ["d"]
    (listed,) = Said(capfdbinary, "plan", "--json").json["items"]
    assert (listed["plan"], listed["states"], listed["complete"]) == ("checks", {"pending": 4}, False)
    drawn = Said(capfdbinary, "plan", "graph", "--json").json
    assert {node["name"]: node["layer"] for node in drawn["nodes"]} == {"a": 1, "b": 2, "c": 1, "d": 2}
    assert drawn["edges"] == [{"from": "a", "to": "b"}, {"from": "c", "to": "d"}]
    shown = Said(capfdbinary, "plan", "show", "--json").json
    assert [(one["name"], one["state"], one["action"]) for one in shown["tasks"]] == [
        (name, "pending", "run") for name in "abcd"
    ]
    assert len(shown["waiting"]) == 4
    assert not (root / ".mog" / "ledger.db").exists()


def test_a_run_without_a_word_exits_6_and_runs_nothing(root: Path, capfdbinary: Any) -> None:
    for arguments in (["plan", "run"], ["resume"]):
        run = Said(capfdbinary, *arguments)
        assert run.code == exit_codes.POLICY
        assert "mog allow" in run.text
    assert planning.ran(root) == []


def test_a_run_exits_0_when_complete_and_a_second_one_runs_nothing(allowed: Path, capfdbinary: Any) -> None:
    first = Said(capfdbinary, "plan", "run", "--json")
    assert (first.code, first.json["executed"], first.json["complete"]) == (exit_codes.OK, ["a", "c", "b", "d"], True)
    second = Said(capfdbinary, "plan", "run", "checks", "--jobs", "3", "--json")
    assert (second.code, second.json["executed"]) == (exit_codes.OK, [])
    assert "complete" in Said(capfdbinary, "plan", "run").text


def test_a_dry_run_says_what_would_run_and_why_and_runs_nothing(allowed: Path, capfdbinary: Any) -> None:
    Said(capfdbinary, "plan", "run")
    planning.ran(allowed)
    (allowed / "in/one").write_text("11")
    run = Said(capfdbinary, "plan", "run", "--dry-run", "--json")
    assert run.code == exit_codes.OK
    assert {one["name"]: one["action"] for one in run.json["tasks"]} == {"a": "run", "b": "run", "c": "keep", "d": "keep"}
    assert run.json["tasks"][0]["because"] == [
        {"kind": "content", "key": ["in/one"], "change": "changed", "by": "files in/one", "chain": []}
    ]
    assert "because in/one changed" in Said(capfdbinary, "plan", "run", "--dry-run").text
    assert planning.ran(allowed) == []
    assert Said(capfdbinary, "plan", "run", "--json").json["executed"] == ["a", "b"]


def test_a_failure_exits_1_with_the_last_words_and_resume_leaves_it(allowed: Path, capfdbinary: Any) -> None:
    (allowed / "in/code").write_text("4")
    run = Said(capfdbinary, "plan", "run")
    assert run.code == exit_codes.NOTHING
    assert "exit code 4" in run.text
    assert "| the last words" in run.text
    assert "blocked    d  it waits for c" in run.text
    again = Said(capfdbinary, "resume", "--json")
    assert (again.code, again.json["items"][0]["executed"]) == (exit_codes.NOTHING, [])
    (allowed / "in/code").write_text("0")
    assert Said(capfdbinary, "plan", "run", "--json").json["executed"] == ["c", "d"]


def test_what_an_assumption_fells_is_shown_by_recheck_repaired_and_resumed(allowed: Path, capfdbinary: Any) -> None:
    Said(capfdbinary, "plan", "run")
    planning.ran(allowed)
    Said(capfdbinary, "invalidate", "it is dry", "--evidence", "rain", "--judge", "contradicts", "--reason", "seen")
    told = Said(capfdbinary, "recheck", "--json").json["plans"]
    assert [(one["plan"], list(one["stale"])) for one in told] == [("checks", ["a", "b"])]
    assert Said(capfdbinary, "resume").code == exit_codes.NOTHING
    repaired = Said(capfdbinary, "repair", "a", "--assumes", "it rains", "--json")
    assert (repaired.code, repaired.json["assumes"]) == (exit_codes.OK, ["it rains"])
    assert Said(capfdbinary, "resume").code == exit_codes.OK
    assert planning.ran(allowed) == ["a", "b"]
    kinds = [row["event"] for row in Said(capfdbinary, "plan", "log", "--limit", "100", "--json").json["items"]]
    assert ("repaired" in kinds, kinds.count("invalidated")) == (True, 2)


def test_recheck_tells_stale_tasks_and_strict_exits_4(allowed: Path, capfdbinary: Any) -> None:
    Said(capfdbinary, "plan", "run")
    assert Said(capfdbinary, "recheck", "--strict").code == exit_codes.OK
    (allowed / "in/one").write_text("11")
    run = Said(capfdbinary, "recheck", "--strict")
    assert run.code == exit_codes.STALE
    assert "stale      checks/a" in run.text
    assert "because in/one changed" in run.text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["plan", "run", "nightly"], exit_codes.NOTHING),
        (["plan", "check", "nightly"], exit_codes.NOTHING),
        (["plan", "log"], exit_codes.NOTHING),
        (["repair", "zzz", "--assumes", "x"], exit_codes.NOTHING),
        (["repair", "a"], exit_codes.USAGE),
        (["plan", "run", "--jobs", "0"], exit_codes.USAGE),
        (["plan", "fly"], exit_codes.USAGE),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_slips_are_answered_with_their_code(root: Path, capfdbinary: Any, arguments: list[str], code: int) -> None:
    run = Said(capfdbinary, *arguments)
    assert (run.code, run.out) == (code, b"")
    assert b"way out" in run.err


def test_a_broken_plan_file_exits_3_and_names_file_and_field(root: Path, capfdbinary: Any) -> None:
    (root / "plan.yaml").write_text("version: 1\ntasks:\n  - {name: a, argv: [x], shel: y}\n")
    for verb in (["plan", "check"], ["plan", "run"], ["resume"], ["allow"]):
        run = Said(capfdbinary, *verb)
        assert run.code == exit_codes.CONFIG
        assert b"plan.yaml: tasks[0].shel" in run.err
    assert Said(capfdbinary, "recheck").code == exit_codes.OK


def test_a_repository_without_plans_says_so(make_repo: Any, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> None:
    monkeypatch.chdir(make_repo({"a.py": ""}))
    for arguments in (["plan"], ["plan", "run"], ["resume"]):
        assert Said(capfdbinary, *arguments).code == exit_codes.NOTHING


def test_hostile_names_and_words_reach_no_screen_raw(root: Path, capfdbinary: Any) -> None:
    (root / f"in/{HOSTILE}").write_text("1")
    loud = f"import sys; print({HOSTILE!r}); sys.exit(1)"
    write_plan(
        root,
        task("a", "tools/join.py", "a", "\u202eecno", inputs={"files": ["in/*"]}, title="\u202eecno", assumes=["\u200bdry"]),
        task("b", "-c", loud),
    )
    Said(capfdbinary, "allow", "--all")
    Said(capfdbinary, "plan", "run")
    (root / f"in/{HOSTILE}").write_text("2")
    for arguments in (["allow"], ["plan"], ["plan", "show"], ["plan", "graph"], ["plan", "log"], ["recheck"], ["plan", "run"]):
        for flag in ([], ["--json"]):
            run = Said(capfdbinary, *arguments, *flag)
            data = run.out + run.err
            assert [byte for byte in UNSAFE if byte in data] == []
            assert [char for char in data.decode() if char in "\u202e\u202c\u200b"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="no kill of that kind there")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_leaves_nothing_running_and_goes_on_later(allowed: Path, how: signal.Signals) -> None:
    slow = (
        "import os, time\nif not os.path.exists('slow-pid'):\n"
        " open('slow-pid.new', 'w').write(str(os.getpid())); os.rename('slow-pid.new', 'slow-pid'); time.sleep(300)"
    )
    write_plan(allowed, task("a", "tools/join.py", "a", "x"), task("slow", "-c", slow, needs=["a"]))
    assert mog_process.run(allowed, "allow", "--all").returncode == 0
    with mog_process.start(allowed, "plan", "run") as process:
        until = 600
        while not (allowed / "slow-pid").exists() and until and process.poll() is None:
            until -= 1
            import time

            time.sleep(0.05)
        process.send_signal(how)
        process.communicate(timeout=60)
    assert process.returncode == (exit_codes.CANCELLED if how is signal.SIGINT else -how)
    assert planning.gone(int((allowed / "slow-pid").read_text()))
    done = mog_process.run_json(allowed, "resume")["items"][0]
    assert (done["executed"], done["cached"], done["complete"]) == (["slow"], ["a"], True)
    assert mog_process.run(allowed, "ledger", "verify").returncode == 0


# -- sessions


def test_a_session_is_saved_looked_at_and_loaded_elsewhere(allowed: Path, tmp_path: Path, capfdbinary: Any) -> None:
    Said(capfdbinary, "plan", "run")
    kept = tmp_path / "kept"
    saved = Said(capfdbinary, "session", "save", str(kept), "--json")
    assert (saved.code, saved.json["changed"]) == (exit_codes.OK, True)
    assert Said(capfdbinary, "session", "save", str(kept), "--json").json["changed"] is False
    seen = Said(capfdbinary, "session", "inspect", str(kept), "--json").json
    assert (seen["form"], seen["plans"][0]["plan"], seen["plans"][0]["states"]) == ("mog ledger", "checks", {"done": 4})

    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=other, check=True, stdin=subprocess.DEVNULL)
    refused = Said(capfdbinary, "session", "load", str(kept), "--repo", str(other))
    assert refused.code == exit_codes.CONFIG
    assert b"command:checks/a" in refused.err
    (other / "plan.yaml").write_bytes((allowed / "plan.yaml").read_bytes())
    assert Said(capfdbinary, "session", "load", str(kept), "--repo", str(other)).code == exit_codes.OK
    shown = Said(capfdbinary, "plan", "show", "--repo", str(other), "--json").json
    assert [one["attempt"] for one in shown["tasks"]] == [1, 1, 1, 1]


def test_a_session_goes_to_the_earlier_package_and_comes_back(allowed: Path, tmp_path: Path, capfdbinary: Any) -> None:
    write_plan(
        allowed,
        task("a", "tools/join.py", "a", assumes=["it is dry"]),
        task("b", "tools/join.py", "b", assumes=["it is warm"], inputs={"tasks": ["a"]}),
        name="checks",
    )
    Said(capfdbinary, "allow", "--all")
    assert Said(capfdbinary, "plan", "run").code == exit_codes.OK
    folder = tmp_path / "v2"
    out = Said(capfdbinary, "session", "export", str(folder), "--json")
    assert (out.code, out.json["plan"], out.json["generation"]) == (exit_codes.OK, "checks", 1)
    seen = Said(capfdbinary, "session", "inspect", str(folder), "--json").json
    assert (seen["form"], seen["plans"][0]["states"]) == ("contextmesh.session v2", {"done": 2})
    other = tmp_path / "other"
    other.mkdir()
    (other / "mog.yaml").write_text("version: 1\n")
    assert Said(capfdbinary, "session", "import", str(folder), "--repo", str(other)).code == exit_codes.CONFIG
    assert Said(capfdbinary, "session", "import", str(folder), "--no-plan", "--repo", str(other)).code == exit_codes.OK
    assert json.loads((folder / "session.json").read_text())


def test_a_folder_without_a_session_is_refused(root: Path, tmp_path: Path, capfdbinary: Any) -> None:
    assert Said(capfdbinary, "session", "inspect", str(tmp_path / "nowhere")).code == exit_codes.USAGE
    assert Said(capfdbinary, "session", "load", str(tmp_path)).code == exit_codes.USAGE
