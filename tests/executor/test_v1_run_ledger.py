"""``contextmesh.runledger v1``: the chain, the exact bytes, and every kind of JSON that is none. The earlier package as judge."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session_kit import earlier_sessions, small_texts

from mog.engine.errors import MogError, StoreDamaged, UsageError
from mog.engine.executor.v1.execution import is_key, read_execution, write_execution
from mog.engine.executor.v1.records import EVENTS, GENESIS, RunLedgerV1, plan_source, slug
from mog.engine.executor.v1.runledger import appended, entry_digest, read_runledger, write_runledger

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.lists(
    st.tuples(st.sampled_from(EVENTS), TEXT, TEXT, st.none() | TEXT, st.none() | TEXT, st.dictionaries(TEXT, VALUE, max_size=3)),
    max_size=6,
)


def made(rows: list[Any]) -> RunLedgerV1:
    ledger = RunLedgerV1()
    for i, (event, task, detail, node, ground, data) in enumerate(rows):
        ledger = appended(ledger, i // 2, event, task, detail, node_id=node, assumption_id=ground, data=data)
    return ledger


def theirs(rows: list[Any]) -> Any:
    em = earlier_sessions()
    ledger = em.RunLedger()
    for i, (event, task, detail, node, ground, data) in enumerate(rows):
        ledger.record(i // 2, em.Event(event), task, detail, node_id=node, assumption_id=ground, data=data)
    return ledger


@settings(max_examples=150, deadline=None)
@given(ENTRIES)
def test_chain_and_bytes_are_those_of_the_earlier_package(rows: list[Any]) -> None:
    mine, other = made(rows), theirs(rows)
    text = other.to_json().encode()
    assert mine.head == other.head and write_runledger(mine) == text
    assert read_runledger(text, expect_head=other.head) == mine and write_runledger(read_runledger(text)) == text


@settings(max_examples=60, deadline=None)
@given(ENTRIES.filter(bool), st.randoms(use_true_random=False))
def test_what_is_changed_dropped_or_moved_is_found(rows: list[Any], rng: random.Random) -> None:
    top = json.loads(write_runledger(made(rows)))
    how, i = rng.choice(["drop", "swap", "edit", "double"]), rng.randrange(len(rows))
    entries = top["entries"]
    if how == "drop":
        del entries[i]
    elif how == "double":
        entries.insert(i, entries[i])
    elif how == "edit":
        entries[i]["detail"] += "."
    elif len(entries) < 2:
        return
    else:
        entries[i - 1], entries[i] = entries[i], entries[i - 1]
    with pytest.raises(StoreDamaged):
        read_runledger(json.dumps(top).encode())


def test_a_history_made_anew_is_found_by_the_head_alone() -> None:
    honest, forged = made([("executed", "t", "paid", None, None, {})]), made([("executed", "t", "kept", None, None, {})])
    assert read_runledger(write_runledger(forged)).head != honest.head
    with pytest.raises(StoreDamaged, match="another history"):
        read_runledger(write_runledger(forged), expect_head=honest.head)
    longer = appended(honest, 1, "failed", "t", "later")
    with pytest.raises(StoreDamaged, match="another history"):
        read_runledger(write_runledger(longer), expect_head=honest.head)


def test_an_empty_ledger() -> None:
    text = write_runledger(RunLedgerV1())
    assert read_runledger(text, expect_head=GENESIS) == RunLedgerV1()
    assert text == earlier_sessions().RunLedger().to_json().encode()


DEEP: Any = {}
for _ in range(3000):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize("data", [{"x": "\ud800"}, {"\udfff": 1}, {"x": float("nan")}, {"x": {1, 2}}, {"x": b"a"}, {1: 2}, DEEP])
def test_what_has_no_json_form_is_not_recorded(data: Any) -> None:
    with pytest.raises(UsageError):
        appended(RunLedgerV1(), 1, "executed", "t", "d", data=data)


def test_a_name_that_is_no_unicode_and_an_event_that_is_none() -> None:
    for wrong in ({"task": "\udc80"}, {"detail": "\udc80"}, {"node_id": "\udc80"}, {"event": "done"}):
        said = {"event": "executed", "task": "t", "detail": "d", **wrong}
        with pytest.raises(UsageError):
            appended(RunLedgerV1(), 1, **said)


# -- JSON, in the kinds of the suites that test parsers: what must be taken, what must not, what may go either way

TAKEN = [
    '""', '"\\u0041\\uD834\\uDD1E"', '"\\\\\\/\\b\\f\\n\\r\\t\\""', '"\u20ac\U0001d11e"', '"\\u0000"', '"\x7f"', '"\u2028\u2029"',
    "0", "-0", "-0.0", "1E22", "1e-2", "123.456", "-1", "1E+2", "0e1", "true", "false", "null", "[]", "[[]]", "[null,1]", "{}",
    '{"":0}', '{"a":{"b":[]}}', " [ 1 ,\t2\r\n] ", "1e-400", "123123123123", '{"\\u00e9":1,"e\\u0301":2}', "9007199254740993",
    "-123456789012345678901234567890",
]  # fmt: skip
REFUSED = [
    "", "nul", "True", "NaN", "Infinity", "-Infinity", "-NaN", "+1", "01", "-01", "1.", ".5", "-.5", "1e", "1e+", "0x1", "1_000",
    "- 1", "1 2", "[1,]", "[,1]", "[1", "1]", "[1 2]", "[[]", "{", "}", '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", "{'a':1}",
    '{1:1}',
    '{"a":1 "b":2}', '{"a":1,"a":1}', '{"a":{"b":1,"b":2}}', '"', '"a', "'a'", '"\t"', '"\n"', '"\x00"', '"\\x"', '"\\u12"',
    '"\\uD8"', '"\\', '"\\ud800"', '"\\uDC00\\uD800"', '{"\\ud83d":1}', "// a\n1", "/**/1", "1#", "\ufeff1", "\u00a01", "\x0c1",
    "[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500, "1e999", "-1e999", "9" * 5000, "1" + "0" * 400, "\u0661", "\uff11",
    '["a"', '[1,\n1\n,1', "]", "[\"\": 1]", '["a",', "*", '{"a":"b"}#', '{"a":/*x*/1}', "\\u000a1", '"\\a"', '"\\u00A"', "[1,,2]",
]  # fmt: skip
RAW = [
    b"\xff", b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\xaf"', b'"\xf4\xbf\xbf\xbf"', b'"\x81"', b'"\xe9"', b"\xef\xbb\xbf1", b"\x00",
    b"1\x00", "1".encode("utf-16"), "1".encode("utf-16-be"), "1".encode("utf-32"), b'{"\xb9":1}', b'"\xc3',
]  # fmt: skip


def holding(value: bytes, place: str) -> bytes:
    """A ledger of one entry that has a JSON text somewhere: in its data, or in the place of the whole file."""
    if place == "file":
        return value
    text = write_runledger(made([("executed", "t", "d", None, None, {"x": "PLACE"})]))
    return text.replace(b'"PLACE"', value)


@pytest.mark.parametrize("value", TAKEN)
def test_json_that_is_taken_fails_by_its_digest_alone_and_holds_with_its_own(value: str) -> None:
    text = holding(value.encode(), "data")
    if json.loads(value) != "PLACE":
        with pytest.raises(StoreDamaged, match="digest"):
            read_runledger(text)
    try:
        mine = made([("executed", "t", "d", None, None, {"x": json.loads(value)})])
    except UsageError:  # an integer beyond 2^53: never recorded here, read where the earlier package wrote it
        assert abs(json.loads(value)) > 2**53
        return
    assert write_runledger(read_runledger(write_runledger(mine))) == theirs(
        [("executed", "t", "d", None, None, {"x": json.loads(value)})]
    ).to_json().encode()


@pytest.mark.parametrize("place", ["data", "file"])
@pytest.mark.parametrize("value", [*(text.encode("utf-8") for text in REFUSED), *RAW], ids=lambda raw: ascii(raw[:24]))
def test_json_that_is_none_is_damage_and_nothing_else(value: bytes, place: str) -> None:
    with pytest.raises(MogError) as caught:
        read_runledger(holding(value, place), "runs.json")
    assert caught.value.where.startswith("runs.json") and "digest is not that" not in str(caught.value)


def test_big_integers_of_the_earlier_package_are_read_exactly() -> None:
    rows = [("executed", "t", "d", None, None, {"n": 2**80, "m": -(2**64)})]
    text = theirs(rows).to_json().encode()
    ledger = read_runledger(text)
    assert ledger.entries[0].data["n"] == 2**80 and write_runledger(ledger) == text
    assert entry_digest(ledger.entries[0], GENESIS) == ledger.head


# -- what plans share with it


@settings(max_examples=200, deadline=None)
@given(TEXT)
def test_ids_are_those_the_earlier_package_derives(text: str) -> None:
    from contextmesh.model import slug as expected

    assert slug(text, "source") == expected(text, "source")
    assert plan_source(text) == expected(f"execution plan: {text}", "source")


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
def test_keys_are_those_the_earlier_registry_takes(key: str) -> None:
    em = earlier_sessions()
    try:
        em.Registry().register_worker(key, lambda ctx: {})
        taken = True
    except em.ExecutionError:
        taken = False
    assert is_key(key) == taken


def test_a_plan_comes_out_as_it_went_in(tmp_path: Path) -> None:
    text = small_texts()["execution-000001.json"]
    assert write_execution(read_execution(text)) == text
