"""A round tells whoever watches it, ends when it is told to, and remembers what tasks took; what cannot be read decides nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from planning import JOIN, task, working, write_plan

from mog.engine.executor import durations
from mog.engine.executor.model import Beat


def test_every_task_is_heard_as_it_begins_and_as_it_is_recorded(make_repo: Callable[..., Path]) -> None:
    root = make_repo({"tools/join.py": JOIN, "in/one": "1"})
    write_plan(
        root,
        task("a", "tools/join.py", "a", "one", inputs={"files": ["in/one"]}, outputs=["out/a"]),
        task("b", "tools/join.py", "b", "x", inputs={"tasks": ["a"]}, outputs=["out/b"], pure=True),
        task("c", "-c", "raise SystemExit(2)", needs=["b"]),
    )
    heard: list[Beat] = []
    with working(root) as work:
        work.run(beat=heard.append)
        assert [(beat.task, beat.what) for beat in heard] == [
            ("a", "begun"), ("a", "executed"), ("b", "begun"), ("b", "executed"), ("c", "begun"), ("c", "failed"),
        ]  # fmt: skip
        assert [beat.unchanged for beat in heard if beat.what == "executed"] == [False, False]
        assert all(beat.total == 3 for beat in heard) and heard[-1].done == 2 and "exit code 2" in heard[-1].why
        took = work.seconds()
        assert set(took) == {"plan/a", "plan/b", "plan/c"} and all(seconds > 0 for seconds in took.values())
        heard.clear()
        (root / "in/one").write_text("1\n")
        work.run(beat=heard.append)
    assert [(beat.task, beat.what, beat.unchanged) for beat in heard[:3]] == [
        ("a", "begun", False), ("a", "executed", True), ("b", "keep", False),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": "x", "b": true, "c": NaN, "d": -1, "e": Infinity}', "[" * 90_000])
def test_a_file_of_durations_that_says_nothing_is_no_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run" / "durations.json"
    path.parent.mkdir()
    path.write_text(text)
    assert durations.load(path) == {}
    durations.save(path, {"p/a": 1.5})
    assert durations.load(path) == {"p/a": 1.5}
    assert os.name == "nt" or stat.S_IMODE(path.stat().st_mode) == 0o600


def test_durations_are_bounded_and_a_link_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    durations.save(path, {f"p/{number}": 1.0 for number in range(durations.KEPT)})
    durations.save(path, {"p/new": 2.0})
    found = durations.load(path)
    assert len(found) == durations.KEPT and found["p/new"] == 2.0 and "p/0" not in found
    secret = tmp_path / "elsewhere"
    secret.write_text('{"p/x": 3}')
    link = tmp_path / "link.json"
    link.symlink_to(secret)
    assert durations.load(link) == {}
