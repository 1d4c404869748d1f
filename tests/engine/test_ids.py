"""Ids do not collide over adversarial parts, and locators come back as they were."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.errors import IndexMissing, OntologyError, UsageError
from mog.engine.ids import (
    Locator,
    UidTable,
    digest,
    edge_uid,
    escape,
    locator,
    node_uid,
    parse_locator,
    parse_without_index,
    readings,
    unescape,
)
from mog.engine.workspace import Workspace

# Few letters, among them all that a locator gives meaning to: near misses are what collides.
tricky = st.text(st.sampled_from("a/:%.@#23A5\udc80\udcff\n é"), max_size=12)
file_names = st.one_of(tricky, st.binary(max_size=12).map(os.fsdecode), st.text(max_size=12)).filter(
    lambda s: not any(0xD800 <= ord(c) < 0xDC80 or 0xDD00 <= ord(c) < 0xE000 for c in s)
)
parts = st.tuples(tricky, st.sampled_from(("symbol", "file", "sym")), tricky, file_names, tricky, st.integers(0, 3))


def test_an_id_is_the_same_for_ever():
    assert node_uid("r", "symbol", "function", "src/a.py", "C.f", 0).hex() == "1e2f7e54b8caa8038f5fc1508820bba9"


def test_an_id_has_128_bits():
    assert len(node_uid("", "", "", "", "")) == 16
    assert len(edge_uid("about", "a", "b")) == 16


@settings(max_examples=200, deadline=None)
@given(st.lists(parts, unique=True, max_size=20))
def test_different_things_have_different_ids(things):
    assert len({node_uid(*thing) for thing in things}) == len(things)


@given(parts, st.integers(0, 4), st.integers(1, 11))
def test_moving_a_letter_to_the_next_part_changes_the_id(thing, part, cut):
    moved = list(thing)
    if part == 4 or not thing[part]:
        return
    cut = min(cut, len(thing[part]))
    moved[part], moved[part + 1] = thing[part][:-cut], thing[part][-cut:] + thing[part + 1]
    assert node_uid(*moved) != node_uid(*thing)


def test_parts_of_different_kinds_differ():
    one = (1).to_bytes(8, "big")
    assert len({digest(b"t", "1"), digest(b"t", b"1"), digest(b"t", 1), digest(b"t", one), digest(b"t", "1", "")}) == 5
    assert digest(b"t", "") != digest(b"t")
    assert digest(b"t", "a") != digest(b"u", "a")


def test_a_path_counts_by_its_bytes():
    raw = b"src/\xff\xc3\xa9.py"
    assert node_uid("r", "file", "source", raw, "") == node_uid("r", "file", "source", os.fsdecode(raw), "")


@pytest.mark.skipif(os.name != "posix", reason="one encoding elsewhere")
def test_an_id_does_not_depend_on_locale_or_hash_seed():
    code = (
        "import os; from mog.engine.ids import node_uid; "
        "print(node_uid('r', 'file', 'source', os.fsdecode(b'\\xc3\\xa9\\xff'), '\\xe9').hex())"
    )
    seen = set()
    for locale, seed in (("C", "1"), ("C.UTF-8", "2"), ("POSIX", "3")):
        env = {**os.environ, "LC_ALL": locale, "PYTHONHASHSEED": seed, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        args = [sys.executable, "-c", code]
        seen.add(subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=60).stdout)
    assert len(seen) == 1 and len(seen.pop().strip()) == 32


def test_a_collision_is_refused_and_never_merged():
    table = UidTable()
    assert table.claim(b"1", "file", "a.py") is True
    assert table.claim(b"1", "file", "a.py") is False
    with pytest.raises(OntologyError, match=r"a\.py.*b\.py") as caught:
        table.claim(b"1", "file", "b.py")
    assert "rule 8" in caught.value.where
    assert table.claim(b"1", "file", "a.py") is False
    assert len(table) == 1


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (("symbol", "src/auth/mw.py", "verify_token"), "sym:src/auth/mw.py::verify_token"),
        (("symbol", "a.py", "C.x@setter"), "sym:a.py::C.x@setter"),
        (("symbol", "a::b.py", "ns::f"), "sym:a%3A%3Ab.py::ns::f"),
        (("symbol", "a:", ":f"), "sym:a%3A:::f"),
        (("file", "odd::name 100%.py"), "file:odd::name 100%.py"),
        (("file", "100%25.py"), "file:100%2525.py"),
        (("file", "\udcff.py"), "file:%FF.py"),
        (("unresolved", "", "requests.get"), "unresolved:requests.get"),
        (("container", "", "django"), "container:django"),
    ],
)
def test_a_locator_reads_as_people_expect(node, text):
    assert locator(*node) == text
    assert parse_locator(text) == Locator(*node)


@settings(max_examples=300)
@given(file_names.filter(bool), file_names.filter(bool))
def test_a_locator_comes_back_as_it_was(path, name):
    for made in (Locator("symbol", path, name), Locator("file", path), Locator("unresolved", "", name)):
        text = str(made)
        text.encode("utf-8")
        assert parse_locator(text) == made


@settings(max_examples=300)
@given(st.tuples(file_names, file_names), st.tuples(file_names, file_names))
def test_two_symbols_never_share_a_locator(one, other):
    assert (locator("symbol", *one) == locator("symbol", *other)) is (one == other)


@given(file_names)
def test_escaping_is_undone_exactly(text):
    for colon in (False, True):
        assert unescape(escape(text, colon)) == text


def test_a_surrogate_that_is_no_byte_is_refused():
    with pytest.raises(UsageError):
        escape("a\ud800")


@pytest.mark.parametrize("text", ["", "a", "sym:", "sym:a.py", "sym:a.py::", "sym:::f", "file:", "Sym:a::b", "1:2"])
def test_what_is_no_locator_is_refused(text):
    with pytest.raises(UsageError) as caught:
        parse_locator(text)
    assert caught.value.way_out


@settings(max_examples=200)
@given(file_names.filter(bool), file_names.filter(bool))
def test_what_a_person_types_is_among_the_readings(path, name):
    assert Locator("symbol", path, name) in readings(f"sym:{path}::{name}")
    assert Locator("symbol", path, name) in readings(locator("symbol", path, name))
    assert Locator("file", path) in readings(f"file:{path}")


def test_readings_without_a_scheme():
    assert readings("src/a.py::C.f") == (Locator("symbol", "src/a.py", "C.f"),)
    assert readings("src/a.py") == ()
    assert Locator("unresolved", "", "get") in readings("unresolved:get")


@given(st.text(max_size=30))
def test_no_text_breaks_the_parser(text):
    readings(text)
    try:
        parse_locator(text)
    except UsageError as error:
        assert error.way_out


def test_a_name_without_an_index_is_told_apart_from_a_broken_locator() -> None:
    assert parse_without_index("sym:a.py::f") == Locator("symbol", "a.py", "f")
    for name in ("f", "a.py::f", "src/a.py", ""):
        with pytest.raises(IndexMissing, match="there is none yet"):
            parse_without_index(name)
    with pytest.raises(UsageError):
        parse_without_index("sym:a.py")


def test_what_is_tied_to_a_name_before_there_is_an_index_says_so(make_repo: Any) -> None:
    with Workspace.open(make_repo({"a.py": "def f():\n    return 1\n"})) as workspace:
        for tie in (lambda: workspace.beliefs.assume("x", about=["a.py::f"]), lambda: workspace.pin("f", "x")):
            with pytest.raises(IndexMissing, match="mog index"):
                tie()
        assert workspace.beliefs.assume("x", about=["sym:a.py::f"]).events and workspace.pin("sym:a.py::f", "x")
