"""Ranges of lines as anchors: known by their text, never by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.code.freshness import Disk
from mog.engine.config import EngineConfig
from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.model import Anchor, Freshness
from mog.engine.reason import lines
from mog.engine.reason.lines import Found, Range

TEXT = "one = 1\ntwo = 2\nthreshold = 3\nfourth = 4\nfive = 5\nsix = 6\n"


class Files:
    """A folder, its files listed, and an anchor in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.disk = Disk(root, lambda: b"k" * 32, EngineConfig())

    def write(self, text: str, name: str = "a.py") -> None:
        (self.root / name).write_text(text, encoding="utf-8", newline="")

    def listed(self) -> list[str]:
        return sorted(path.name for path in self.root.iterdir())

    def make(self, place: str) -> Anchor:
        found = lines.parse(place)
        assert found is not None
        return lines.make(self.disk, found, self.listed)

    def judge(self, anchor: Anchor) -> Found:
        return lines.judge(self.disk, anchor, self.listed)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    made = Files(tmp_path)
    made.write(TEXT)
    yield made
    made.disk.close()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("src/a.py:10-20", Range("src/a.py", 10, 20)),
        ("src/a.py:10", Range("src/a.py", 10, 10)),
        ("lines:src/a.py:10-20", Range("src/a.py", 10, 20)),
        ("lines:a%FFb:1-2", Range("a\udcffb", 1, 2)),
        ("a:b:3-4", Range("a:b", 3, 4)),
        ("sym:a.py::f", None),
        ("file:a.py", None),
        ("file:a:3", None),
        ("a.py", None),
        ("a.py:0-3", None),
    ],
)
def test_what_a_person_types(typed: str, meant: Range | None) -> None:
    assert lines.parse(typed) == meant
    if meant is not None:
        assert lines.parse(str(meant)) == meant


@pytest.mark.parametrize("typed", ["a.py:4-3", "a.py:1-401"])
def test_a_range_that_cannot_be_meant(typed: str) -> None:
    with pytest.raises(UsageError):
        lines.parse(typed)


def test_what_is_not_there_cannot_be_anchored(files: Files) -> None:
    with pytest.raises(NotFound):
        files.make("a.py:6-7")
    with pytest.raises(NotFound):
        files.make("b.py:1")
    assert files.make("a.py:6").kind == "lines"


def test_the_same_text_is_fresh_wherever_it_shifted(files: Files) -> None:
    anchor = files.make("a.py:3-4")
    assert files.judge(anchor).freshness is Freshness.fresh
    files.write("# a\n# b\n" + TEXT)
    found = files.judge(anchor)
    assert (found.freshness, found.lines, found.now_at) == (Freshness.fresh, (5, 6), "lines:a.py:5-6")
    files.write(TEXT.replace("\n", "\r\n"))
    assert files.judge(anchor).freshness is Freshness.fresh


def test_an_edit_inside_drifts_and_a_revert_is_fresh_again(files: Files) -> None:
    anchor = files.make("a.py:3-4")
    files.write(TEXT.replace("fourth = 4", "fourth = 44"))
    first = files.judge(anchor)
    assert (first.freshness, first.lines) == (Freshness.drifted, (3, 4))
    files.write("# above\n" + TEXT.replace("fourth = 4", "fourth = 44").replace("six", "seven"))
    again = files.judge(anchor)
    assert again.new == first.new and again.lines == (4, 5)  # an edit elsewhere is not another drift
    files.write(TEXT.replace("fourth = 4", "fourth = 45"))
    assert files.judge(anchor).new not in ("", first.new)
    files.write(TEXT)
    assert files.judge(anchor).freshness is Freshness.fresh


def test_an_edit_beside_the_range_is_no_drift(files: Files) -> None:
    anchor = files.make("a.py:3-4")
    files.write(TEXT.replace("two = 2", "two = 22").replace("five = 5", "five = 55"))
    assert files.judge(anchor).freshness is Freshness.fresh


def test_a_single_line_is_found_between_its_neighbours(files: Files) -> None:
    anchor = files.make("a.py:3")
    files.write(TEXT.replace("threshold = 3", "limit = 30\nother = 31"))
    found = files.judge(anchor)
    assert (found.freshness, found.lines) == (Freshness.drifted, (3, 4))


@pytest.mark.parametrize(("place", "edited"), [("a.py:1", (1, 1)), ("a.py:6", (6, 6)), ("a.py:1-6", (1, 6))])
def test_the_edges_of_the_file_are_neighbours_too(files: Files, place: str, edited: tuple[int, int]) -> None:
    anchor = files.make(place)
    files.write(TEXT.replace("one = 1", "uno = 1").replace("six = 6", "sei = 6"))
    found = files.judge(anchor)
    assert (found.freshness, found.lines) == (Freshness.drifted, edited)


def test_what_was_deleted_is_missing(files: Files) -> None:
    anchor = files.make("a.py:3-4")
    files.write(TEXT.replace("threshold = 3\nfourth = 4\n", ""))
    assert files.judge(anchor).freshness is Freshness.missing
    (files.root / "a.py").unlink()
    assert (files.judge(anchor).freshness, files.judge(anchor).reason) == (Freshness.missing, "the file is gone")


def test_text_is_followed_to_the_one_other_file_it_moved_to(files: Files) -> None:
    anchor = files.make("a.py:3-4")
    files.write(TEXT.replace("threshold = 3\nfourth = 4\n", ""))
    files.write("x = 0\nthreshold = 3\nfourth = 4\n", "b.py")
    assert (files.judge(anchor).freshness, files.judge(anchor).now_at) == (Freshness.moved, "lines:b.py:2-3")
    files.write("threshold = 3\nfourth = 4\n", "c.py")
    assert files.judge(anchor).freshness is Freshness.missing  # two places: neither is surely it


def test_a_copy_that_was_there_before_is_not_where_it_moved_to(files: Files) -> None:
    files.write("threshold = 3\nfourth = 4\n", "b.py")
    anchor = files.make("a.py:3-4")
    files.write(TEXT.replace("fourth = 4", "fourth = 5"))
    assert files.judge(anchor).freshness is Freshness.drifted


def test_a_copy_in_the_same_file_does_not_hide_an_edit(files: Files) -> None:
    files.write("{\n}\n" + TEXT + "{\n}\n")
    anchor = files.make("a.py:9-10")
    files.write("{\n}\n" + TEXT + "{\nx\n}\n")
    assert files.judge(anchor).freshness is Freshness.drifted
    files.write("{\n}\n" + TEXT + "# more\n{\n}\n")
    assert files.judge(anchor).freshness is Freshness.fresh  # both copies are there


def test_gated_lines_leave_no_trace(files: Files) -> None:
    made_up = "FAKE".join(("Zq8vR2mX7", "pL4wT9kB3"))
    files.write(f'one = 1\npassword = "{made_up}"\ntwo = 2\nthree = 3\n')
    with pytest.raises(PolicyDenied):
        files.make("a.py:1-2")
    anchor = files.make("a.py:3")
    files.write(f'one = 1\npassword = "{made_up[::-1]}"\ntwo = 2\nthree = 3\n')
    assert files.judge(anchor).freshness is Freshness.fresh


def test_an_anchor_of_a_form_not_known_is_unknown(files: Files) -> None:
    anchor = files.make("a.py:3-4")
    other = Anchor(anchor.locator, anchor.kind, anchor.span_hash, "", "lines h9", anchor.terms)
    assert files.judge(other).freshness is Freshness.unknown


def test_an_anchor_holds_no_text(files: Files) -> None:
    anchor = files.make("a.py:3-4")
    assert not any("= 3" in term for term in anchor.terms)


def test_an_edit_among_copies_that_all_look_alike_is_not_fresh(files: Files) -> None:
    files.write("a\n" * 5)
    anchor = files.make("a.py:2")
    files.write("a\na!\na\na\na\n")
    assert files.judge(anchor).freshness is not Freshness.fresh


@settings(max_examples=60, deadline=None)
@given(
    before=st.lists(st.sampled_from("abcdefgh"), max_size=5), span=st.lists(st.sampled_from("abcxyz"), min_size=1, max_size=5),
    after=st.lists(st.sampled_from("abcdefgh"), max_size=5), more=st.lists(st.sampled_from("mno"), max_size=3),
)  # fmt: skip
def test_text_that_is_still_whole_is_never_called_changed(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], span: list[str], after: list[str], more: list[str]
) -> None:
    made = Files(tmp_path_factory.mktemp("files"))
    made.write("".join(f"{line}\n" for line in [*before, *span, *after]))
    anchor = made.make(f"a.py:{len(before) + 1}-{len(before) + len(span)}")
    assert made.judge(anchor).freshness is Freshness.fresh
    made.write("".join(f"{line}\n" for line in [*more, *before, *span, *after, *more]))
    assert made.judge(anchor).freshness is Freshness.fresh
    made.write("".join(f"{line}\n" for line in [*before, *(f"{line}!" for line in span), *after]))
    assert made.judge(anchor).freshness in (Freshness.drifted, Freshness.missing)
    made.disk.close()
