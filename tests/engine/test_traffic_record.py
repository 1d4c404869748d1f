"""The record of calls: what is new is counted by itself, and a record of an earlier mog makes room."""

from __future__ import annotations

from pathlib import Path

import apsw

from mog.engine import traffic as records
from mog.engine.traffic import Call, Traffic


def call(number: int, **more: object) -> Call:
    """A call of a tool."""
    given = {"arguments": {"target": f"f{number}"}} | more
    return Call("2026-11-30T10:00:00+00:00", f"c {number % 2}", "s", "impact", tokens=10, **given)  # type: ignore[arg-type]


def test_numbers_and_sums_of_new_calls_complete_those_of_before(tmp_path: Path) -> None:
    record = Traffic(tmp_path)
    assert record.span() == (0, 0) and record.numbers() == ()
    for number in range(10):
        record.record(call(number))
    first = record.span()
    before = record.totals(upto=first[1])
    record.record(call(10, outcome="NotFound"))
    record.record(call(11))
    assert (first, record.span()) == ((1, 10), (1, 12))
    assert record.numbers(after=10) == (12, 11) and record.numbers("c 1", after=9) == (12, 10)
    assert {(one.client, one.calls, one.failed) for one in record.totals(after=10)} == {("c 0", 1, 1), ("c 1", 1, 0)}
    assert sum(one.tokens for one in before) + sum(one.tokens for one in record.totals(after=10)) == 120
    assert [one.seq for one in record.calls([3, 99, 7])] == [7, 3]
    record.close()


def test_a_call_keeps_how_much_was_told_and_whether_it_can_be_asked_again(tmp_path: Path) -> None:
    record = Traffic(tmp_path)
    told = {"said": "7 reached", "states": {"fresh": 3}}
    record.record(call(1, told=told, path=("sym:a.py::f",), marks=("ab12",)))
    record.record(call(2, arguments={"target": "x" * 5_000}))
    record.record(call(3, arguments={"query": "token " + "ghp_" + "FAKE" * 9}))
    record.record(call(4, told={"said": "y" * 5_000}))
    fourth, secret, long, first = record.last(4)
    assert first.told == told and first.marks == ("ab12",) and first.whole
    assert not long.whole and not secret.whole and "FAKE" not in str(secret.arguments)
    assert fourth.told == {}
    record.close()


def test_a_record_of_an_earlier_format_makes_room_and_another_file_does_not(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / records.NAME
    db = apsw.Connection(str(path))
    db.execute(records._TABLE_1)
    db.execute("INSERT INTO calls VALUES(1, 'at', 'c', 's', 't', '{}', 'ok', 1, 1.0, '[]', 1, 1)")
    db.close()
    record = Traffic(tmp_path)
    record.record(call(1))
    assert [one.tool for one in record.last()] == ["impact"] and record.trouble == ""
    record.close()
    path.unlink()
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE diary(words TEXT)")
    db.close()
    record.record(call(2))
    assert "no record of traffic" in record.trouble
