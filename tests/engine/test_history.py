"""Co-change: counted as git tells it, under the names of today, bounded, kept by commit, and honest about its reach."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from context_kit import git
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mog.engine.code import history

NAMES = ("a.py", "b.py", "c.py", "d.py")


def commit(root: Path, files: dict[str, str], message: str = "x") -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", message, "--allow-empty")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", ".")
    (tmp_path / ".mog").mkdir()
    (tmp_path / ".gitignore").write_text(".mog/\n")
    commit(tmp_path, dict.fromkeys(NAMES, "0\n"))
    return tmp_path


def load(root: Path, **more: object) -> history.History:
    return history.load(root, root / ".mog", **more)  # type: ignore[arg-type]


def test_files_that_change_together_are_partners_by_how_often(root: Path) -> None:
    for number in range(4):
        commit(root, {"a.py": f"{number}", "b.py": f"{number}"})
    commit(root, {"a.py": "alone"})
    commit(root, {"a.py": "z", "c.py": "z"})
    (best,) = load(root).partners("a.py")
    assert (best.path, best.together, best.own, best.other) == ("b.py", 4, 6, 4)
    assert best.confidence == pytest.approx(4 / 6)
    assert [one.path for one in load(root).partners("a.py", 1)] == ["b.py", "c.py"]


def test_a_rename_is_followed_and_what_is_gone_keeps_its_own_name(root: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    commit(root, {"a.py": text})
    for number in range(3):
        commit(root, {"a.py": text + str(number), "b.py": f"{number}"})
    (root / "a.py").rename(root / "moved.py")
    commit(root, {})
    assert [(one.path, one.together) for one in load(root).partners("b.py")] == [("moved.py", 3)]
    assert load(root).touched("a.py") == 0


def test_commits_that_say_nothing_are_left_out_and_counted(root: Path) -> None:
    for number in range(3):
        commit(root, {f"many/{n}.py": str(number) for n in range(history.MOST_FILES + 1)})
    said = load(root).coverage
    assert (said.commits, said.huge, said.roots, said.whole) == (0, 3, 1, True)
    assert load(root).partners("many/0.py", 1) == []


def test_a_cache_is_continued_and_equals_a_new_reading(root: Path) -> None:
    for number in range(5):
        commit(root, {"a.py": f"{number}", "b.py": f"{number}"})
    first = load(root)
    (root / "b.py").rename(root / "e.py")
    commit(root, {"a.py": "more"})
    continued = load(root)
    (root / ".mog" / "history.json").unlink()
    assert continued == load(root) != first
    git(root, "checkout", "-q", "HEAD~3")
    assert load(root).coverage.commits == continued.coverage.commits - 3


def test_a_damaged_or_linked_cache_is_made_anew(root: Path, tmp_path: Path) -> None:
    commit(root, {"a.py": "1", "b.py": "1"})
    wanted = load(root)
    cache = root / ".mog" / "history.json"
    for damage in (b"", b"{", b'{"key": 1}', b"[" * 100_000):
        cache.write_bytes(damage)
        assert load(root) == wanted
    cache.unlink()
    aim = tmp_path / "aim"
    aim.write_text("kept")
    cache.symlink_to(aim)
    assert load(root) == wanted and aim.read_text() == "kept"
    assert os.stat(cache).st_mode & 0o077 == 0


def test_what_cannot_be_known_is_said(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    plain = tmp_path_factory.mktemp("plain")
    assert "no git" in history.load(plain, plain).coverage.why_not
    assert "switched off" in load(root, window=0).coverage.why_not
    commit(root, {"a.py": "1"})
    clone = tmp_path_factory.mktemp("clones") / "shallow"
    source = f"file://{root}"
    subprocess.run(["git", "clone", "-q", "--depth=1", source, str(clone)], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    said = history.load(clone, clone).coverage
    assert said.shallow and not said.whole


steps = st.lists(st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=4), min_size=1, max_size=8)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps)
def test_counts_are_those_of_the_commits(tmp_path_factory: pytest.TempPathFactory, steps: list[frozenset[str]]) -> None:
    root = tmp_path_factory.mktemp("steps")
    git(root, "init", "-q", ".")
    commit(root, dict.fromkeys(NAMES, "start"))
    for number, names in enumerate(steps):
        commit(root, {name: str(number) for name in sorted(names)})
    wanted = Counter(pair for names in steps for pair in combinations(sorted(names), 2))
    found = history.load(root, root)
    for name in NAMES:
        met = {tuple(sorted((name, one.path))): one.together for one in found.partners(name, 1)}
        assert met == {pair: count for pair, count in wanted.items() if name in pair}
