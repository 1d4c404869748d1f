"""The view edge: nothing unsafe leaves it, names come back through it, every record has both forms."""

from __future__ import annotations

import dataclasses
import inspect
import json
import unicodedata

import hostile_answers as fake
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.app import plain, present
from mog.engine import model as m

UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
anything = st.text(st.characters(exclude_categories=()), max_size=60)


def unsafe(text: str, keep: str = "") -> list[str]:
    """Characters of ``text`` that could steer or deceive a terminal."""
    return [c for c in text if unicodedata.category(c) in UNSAFE_CATEGORIES and c not in keep]


@given(anything)
def test_nothing_unsafe_leaves_clean(text: str) -> None:
    assert unsafe(present.clean(text)) == []
    assert unsafe(present.clean(text, keep="\n\t"), keep="\n\t") == []


@given(anything)
def test_clean_is_idempotent(text: str) -> None:
    assert present.clean(present.clean(text)) == present.clean(text)


@given(anything.filter(lambda text: "\\" not in text))
def test_a_name_typed_back_means_the_same(text: str) -> None:
    assert present.restore(present.clean(text)) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb", "a\\nb"),
        ("\u202eevil", "\\u202eevil"),
        ("x\u200by", "x\\u200by"),
        ("\udcff", "\\xff"),
        ("\x9b31m", "\\u009b31m"),
        ("\U000e0041", "\\U000e0041"),
        ("\u3164", "\\u3164"),
        ("naïve Ω 名前", "naïve Ω 名前"),
        ("a\u00a0b", "a\u00a0b"),
    ],
)
def test_escapes_are_the_documented_ones(raw: str, shown: str) -> None:
    assert present.clean(raw) == shown


def test_a_block_keeps_its_line_breaks_and_nothing_else() -> None:
    assert present.clean_tree({"k": present.Block("a\n\tb\r\x1b")}) == {"k": "a\n\tb\\r\\x1b"}


RECORD_TYPES = [item for _, item in inspect.getmembers(m, inspect.isclass) if dataclasses.is_dataclass(item)]


@pytest.mark.parametrize("kind", RECORD_TYPES, ids=lambda kind: kind.__name__)
def test_every_record_of_the_engine_has_a_sample_and_both_forms(kind: type) -> None:
    samples = [record for record in fake.RECORDS if type(record) is kind]
    assert samples, "add a sample with hostile names to tests/helpers/hostile_answers.py"
    assert present.as_json(samples[0])
    assert plain.as_lines(samples[0])


@pytest.mark.parametrize("record", fake.RECORDS, ids=lambda record: type(record).__name__)
def test_no_form_of_a_record_carries_an_unsafe_character(record: object) -> None:
    for glyphs in (plain.UNICODE, plain.ASCII):
        for line in plain.as_lines(record, glyphs):
            assert unsafe(plain.text_of(line)) == []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                assert unsafe(key) == []
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, str):
            assert unsafe(value) == []

    document = present.as_json(record)
    walk(document)
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize("record", fake.RECORDS, ids=lambda record: type(record).__name__)
def test_ascii_glyphs_leave_only_ascii(record: object) -> None:
    assert all(plain.text_of(line).isascii() for line in plain.as_lines(record, plain.ASCII))


def test_an_unknown_thing_is_refused() -> None:
    with pytest.raises(TypeError, match="no JSON form for object"):
        present.as_json(object())
    with pytest.raises(TypeError, match="no plain form for object"):
        plain.as_lines(object())


def test_index_json_is_the_contract() -> None:
    document = present.as_json(fake.REPORT)
    contract = {"files", "symbols", "edges", "calls_by_tier", "skipped", "gated", "languages", "facts_hash"}
    assert contract | {"generation", "seconds", "cpu_seconds"} <= document.keys()
    assert document["calls_by_tier"] == {"certain": 5, "hierarchy": 1, "candidate": 2}
    assert document["skipped"] == {"fifo": 2, "too_large": 1}


def test_verify_json_is_the_contract() -> None:
    document = present.as_json(fake.VERIFY)
    assert {"checked", "fresh", "drifted", "moved", "missing", "drift_rate", "items"} <= document.keys()
    assert all({"id", "locator", "reason"} <= item.keys() for item in document["items"])
    assert "fresh" not in {item["freshness"] for item in document["items"]}
    assert document["drift_rate"] == pytest.approx(2 / 6, abs=1e-6)


@pytest.mark.parametrize("record", [fake.SEARCH, fake.IMPACT, fake.HOOD], ids=["search", "impact", "show"])
def test_answers_carry_index_items_and_limits(record: object) -> None:
    document = present.as_json(record)
    assert document["index"] == {"generation": 7, "ref": "main 4f2a19c", "dirty": True, "unread": 0}
    assert (document["omitted"], document["gated"], document["unknown"]) == (3, 1, 2)
    assert document["items"]
    assert all({"locator", "freshness", "tier"} <= item.keys() for item in document["items"])


def test_bytes_of_a_name_that_had_to_be_escaped_are_given_in_hex() -> None:
    document = present.as_json(fake.NODE)
    assert bytes.fromhex(document["path_hex"]) == fake.EVIL.encode("utf-8", "surrogateescape")
    assert "path_hex" not in present.as_json(fake.CALLER)


def test_an_answer_that_was_cut_says_so() -> None:
    text = "\n".join(plain.text_of(line) for line in plain.as_lines(fake.SEARCH))
    assert "3 omitted" in text
    assert "2 sites with a receiver that is not known" in text
    whole = dataclasses.replace(fake.SEARCH, boundary=m.Boundary())
    assert "not shown" not in "\n".join(plain.text_of(line) for line in plain.as_lines(whole))


def test_a_block_keeps_its_lines_however_often_its_tree_is_cleaned() -> None:
    """Verbs clean what they show, and the one writer cleans again: source has to leave with its own line breaks."""
    once = present.clean_tree({"text": present.Block("def f():\n\treturn 1\x1b[31m"), "name": "a\nb"})
    assert present.clean_tree(once) == once == {"text": "def f():\n\treturn 1\\x1b[31m", "name": "a\\nb"}
