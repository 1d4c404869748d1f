"""Patterns of plan files: what they match, checked against pathlib, and that none leads out."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.errors import UsageError
from mog.engine.executor import plan_globs

NAMES = st.sampled_from(["a", "b", "ab", "a.py", "b.py", "x.txt"])
PARTS = st.sampled_from(["a", "b", "*", "**", "*.py", "?", "[ab]", "a*", "x.txt"])


def below(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")


@settings(max_examples=150, deadline=None)
@given(
    paths=st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=12),
    parts=st.lists(PARTS, min_size=1, max_size=5),
)
def test_what_is_found_is_what_pathlib_finds(
    tmp_path_factory: pytest.TempPathFactory, paths: set[str], parts: list[str]
) -> None:
    pattern = "/".join(parts)
    if plan_globs.fault(pattern):
        return
    root = tmp_path_factory.mktemp("globs")
    for path in sorted(paths):
        place = root / path
        if not any(parent.is_file() for parent in place.parents) and not place.is_dir():
            below(root, path)
    theirs = {path.relative_to(root).as_posix() for path in root.glob(pattern) if path.is_file()}
    ours = plan_globs.find(root, pattern)
    assert ours == sorted(theirs)
    every = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {path for path in every if plan_globs.matches(pattern, path)} == theirs


def test_a_pattern_leads_neither_through_a_link_nor_into_what_is_nobodys_source(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    below(outside, "x.py")
    below(root, "in/x.py", ".git/x.py", ".mog/x.py", "__pycache__/x.py", "in/__pycache__/y.py")
    (root / "link").symlink_to(outside)
    (root / "file.py").symlink_to(outside / "x.py")
    assert plan_globs.find(root, "**/*.py") == ["file.py", "in/x.py"]
    assert plan_globs.find(root, "link/*.py") == []
    assert plan_globs.find(root, ".mog/*.py") == [".mog/x.py"]


def test_names_that_are_no_text_are_found_and_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n.txt")).write_text("")
    assert plan_globs.find(tmp_path, "*.txt") == ["\udcff\n.txt"]
    monkeypatch.setattr(plan_globs, "MAX_FOUND", 3)
    below(tmp_path, "1", "2", "3", "4")
    with pytest.raises(UsageError, match="more than 3"):
        plan_globs.find(tmp_path, "*")


@pytest.mark.parametrize("pattern", ["a/../b", "/a", "..", "a/..", "~root/x", "d:x", "a\\..\\b", "./a", "a/", "a/**/"])
def test_what_could_lead_out_is_no_pattern(pattern: str) -> None:
    assert plan_globs.fault(pattern)


@given(st.lists(st.sampled_from(["a", "..", ".", "", "**", "*", "/", "\\"]), max_size=6).map("/".join))
def test_a_pattern_without_fault_stays_below(pattern: str) -> None:
    if not plan_globs.fault(pattern):
        assert ".." not in PurePosixPath(pattern).parts
        assert not PurePosixPath(pattern).is_absolute()
