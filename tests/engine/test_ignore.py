"""ignore.py: `.mogignore` means what the same lines mean to git, which is the oracle here."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mog.engine.code import ignore, scan
from mog.engine.errors import ConfigError

NAMES = ("a", "b", "ab", "gen", "x.py", "x.o", "a b", "[c]", "keep", "b.txt")


def _by_git(root: Path, paths: Iterable[str]) -> set[str]:
    """Which paths git ignores by the .gitignore files below ``root``."""
    asked = b"\0".join(os.fsencode(path) for path in paths) + b"\0"
    command = ["git", "check-ignore", "--no-index", "-z", "--stdin"]
    done = subprocess.run(command, cwd=root, input=asked, capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    return {os.fsdecode(path) for path in done.stdout.split(b"\0") if path}


def _rules(*lines: str, folder: str = "") -> ignore.Rules:
    rules = ignore.Rules()
    rules.add(lines, "mogignore", folder=folder)
    return rules


segment = st.sampled_from(
    ("a", "b", "ab", "gen", "*", "?", "*.o", "x.*", "[ab]", "[!a]", "a*", "*b", "keep", r"\[c]", "a b", "*a*")
)
pattern = st.builds(
    lambda bang, lead, parts, tail: bang + lead + "/".join(parts) + tail,
    st.sampled_from(("", "", "!")),
    st.sampled_from(("", "", "/", "**/")),
    st.lists(segment, min_size=1, max_size=3),
    st.sampled_from(("", "", "/", "/**", "/*", " ", "  ")),
)
trees = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(pattern, min_size=1, max_size=5), deep=st.lists(pattern, max_size=2), paths=trees)
def test_equals_git_on_random_patterns_and_trees(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], deep: list[str], paths: list[str]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    files: list[str] = []
    for path in paths:
        parents = [path.rsplit("/", n)[0] for n in range(1, path.count("/") + 1)]
        if not (root / path).exists() and not any((root / parent).is_file() for parent in parents):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("")
            files.append(path)
    (root / ".gitignore").write_text("\n".join(lines) + "\n")
    rules = _rules(*lines)
    if (root / "a").is_dir() and deep:
        (root / "a" / ".gitignore").write_text("\n".join(deep) + "\n")
        rules.add(deep, "mogignore", folder="a/")
    assert {path for path in files if rules.match(path)} == _by_git(root, files)


@pytest.mark.parametrize(
    ("lines", "ignored", "kept"),
    [
        (["gen/"], ["gen/x.py", "a/gen/y"], ["gen.py", "general"]),
        (["/gen"], ["gen", "gen/x"], ["a/gen"]),
        (["*.log", "!keep.log"], ["a.log", "b/c.log"], ["keep.log", "b/keep.log"]),
        (["build/", "!build/keep.py"], ["build/keep.py"], []),
        (["build/*", "!build/keep.py"], ["build/x"], ["build/keep.py"]),
        (["a/**/z"], ["a/z", "a/b/c/z"], ["z", "b/a/y"]),
        (["**/x/**"], ["x/a", "b/x/c"], ["x", "b/x"]),
        (["#no", r"\#yes", "", "  "], ["#yes"], ["#no", "no"]),
        (["n?me"], ["name", "n\nme"], ["n/me"]),
        (["*.py"], ["line\nbreak.py"], ["x.py\n"]),
    ],
)
def test_examples_of_the_manual(lines: list[str], ignored: list[str], kept: list[str]) -> None:
    rules = _rules(*lines)
    assert [path for path in ignored if not rules.match(path)] == []
    assert [path for path in kept if rules.match(path)] == []


def test_the_reason_tells_where_a_rule_came_from(tmp_path: Path) -> None:
    (tmp_path / ".mogignore").write_text("gen/\n")
    rules = ignore.load(str(tmp_path), exclude=["*.tmp"])
    assert (rules.match("gen/a"), rules.match("a.tmp"), rules.match("a.py")) == ("mogignore", "config", "")


def test_what_is_no_pattern_is_an_error_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / ".mogignore").write_text("ok\n\\\n")
    with pytest.raises(ConfigError) as caught:
        scan.list_files(tmp_path)
    assert caught.value.where == ".mogignore:2" and caught.value.way_out


def test_hostile_patterns_do_not_take_forever() -> None:
    rules = _rules("*a*a*a*a*a*a*a*a*a*b", "?*" * 20 + "b")
    start = time.process_time()
    assert rules.match("a" * 250) == ""
    assert time.process_time() - start < 5
    with pytest.raises(ConfigError):
        _rules("**/" * 9 + "x")


@pytest.mark.skipif(os.name == "nt", reason="no pipes in the file system")
def test_an_ignore_file_that_is_a_pipe_or_a_link_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    assert ignore.read(str(tmp_path / "pipe")) is None
    assert ignore.read(str(tmp_path / "link")) is None


def test_a_huge_ignore_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".mogignore").write_text("x\n" * ignore.MAX_BYTES)
    with pytest.raises(ConfigError, match="larger"):
        ignore.load(str(tmp_path))
