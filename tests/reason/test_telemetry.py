"""Telemetry: sums of what walks reported, bounded whatever is asked, and a file that can be lost or planted without harm."""

from __future__ import annotations

import json
import os
import random
import stat
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.engine.errors import StoreDamaged
from mog.engine.reason.dead_ends import Reason
from mog.engine.reason.telemetry import KEPT_WALKS, MAX_BYTES, MAX_HOPS, SpaceSaving, Telemetry
from mog.engine.reason.walks import Step, Walk


def walk(
    hops: int = 1, *, dead_end: Reason | None = None, question: str = "why?", tag: str = "", read: int = 100
) -> Walk:
    path = tuple(
        Step(f"n{tag}{i}", "claim", "l", "mentions" if i else "", f"e{tag}{i}" if i else "") for i in range(hops + 1)
    )
    answer = None if dead_end else path[-1].node
    tail = () if dead_end else (Step("s", "source", "S", "derived_from", "es"),)
    return Walk(
        question,
        answer_id=answer,
        path=path,
        tail=tail,
        hops=hops,
        dead_end=dead_end,
        tokens_walked=10,
        tokens_read=read,
    )


def test_numbers_are_sums_of_what_was_reported() -> None:
    t = Telemetry()
    for one in (walk(1), walk(1), walk(3), walk(0, dead_end=Reason.entity_unresolved, read=0), walk(2, read=0)):
        t.record(one)
    r = t.report()
    assert (r.walks, r.resolved, r.resolved_rate) == (5, 4, 0.8)
    assert r.hop_histogram == {1: 2, 2: 1, 3: 1} and r.median_hops == 2
    assert r.dead_ends == {"entity_unresolved": 1}
    assert r.traversals == {"mentions": 7, "derived_from": 4}
    assert (r.tokens_walked, r.tokens_read) == (30, 300), "a walk that knows one of the two counts for neither"
    assert r.costs == ((10, 100),) * 3
    assert (r.busiest_edges[0].id, r.busiest_edges[0].count) == ("e1", 4) and t.walked("n0") == 5 and t.walked("x") == 0


def test_nothing_asked_is_no_rate() -> None:
    r = Telemetry().report()
    assert r.resolved_rate is None and r.median_hops is None and r.walks == 0


@given(st.lists(st.sampled_from("abcdefghij"), max_size=200), st.integers(1, 6))
def test_counts_bound_the_truth_and_miss_nothing_frequent(keys: list[str], room: int) -> None:
    """Space-Saving: count - over <= truth <= count, and whatever makes more than 1/room of the stream is kept."""
    kept, truth = SpaceSaving(room), Counter(keys)
    for key in keys:
        kept.add(key)
    most = {b.id: b for b in kept.most(room)}
    assert len(most) <= room
    for id, b in most.items():
        assert b.count - b.over <= truth[id] <= b.count
    assert all(key in most for key, n in truth.items() if n > len(keys) / room)


def test_the_file_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "run" / "telemetry.json"
    t = Telemetry(path)
    assert t.lost == "" and not path.exists()
    t.record(walk(2, question="\ud800 odd"))
    t.save()
    again = Telemetry(path)
    assert again.report() == t.report() and again.lost == ""
    again.record(walk(2))
    assert again.report().walks == 2


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run" / "telemetry.json"
    Telemetry(path).save()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_it_is_bounded_whatever_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.json"
    t, rng = Telemetry(path), random.Random(1)
    for i in range(3_000):
        t.record(walk(rng.randint(0, 80), question="\u2603" * 5_000, tag=f"{'x' * 60}{i}-"))
    t.save()
    assert path.stat().st_size <= MAX_BYTES
    r = Telemetry(path).report()
    assert r.walks == 3_000 and len(r.recent) == KEPT_WALKS and max(r.hop_histogram) == MAX_HOPS


DAMAGE = {
    "empty": b"", "not json": b"{", "a list": b"[]", "null": b"null", "utf-8": b"\xff", "deep": b"[" * 100_000,
    "other format": b'{"format":2}', "negative": None, "text for a count": None, "too large": b" " * (MAX_BYTES + 1),
}  # fmt: skip


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_file_costs_counts_and_nothing_else(how: str, tmp_path: Path) -> None:
    path = tmp_path / "telemetry.json"
    t = Telemetry(path)
    t.record(walk())
    t.save()
    body = DAMAGE[how]
    if body is None:
        data = json.loads(path.read_bytes())
        data["walks"] = -1 if how == "negative" else "many"
        body = json.dumps(data).encode()
    path.write_bytes(body)
    fresh = Telemetry(path)
    assert fresh.lost and fresh.report() == Telemetry().report()
    fresh.save()
    assert Telemetry(path).lost == ""


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("plant", ["link", "pipe", "folder"])
def test_a_planted_file_is_not_followed(plant: str, tmp_path: Path) -> None:
    path, victim = tmp_path / "telemetry.json", tmp_path / "victim"
    victim.write_bytes(b'{"format":1}')
    if plant == "link":
        path.symlink_to(victim)
    elif plant == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    t = Telemetry(path)
    assert t.lost and t.report().walks == 0
    if plant == "folder":
        with pytest.raises(StoreDamaged):
            t.save()
    else:
        t.save()
        assert not path.is_symlink()
    assert victim.read_bytes() == b'{"format":1}'


def test_without_a_path_nothing_is_written(tmp_path: Path) -> None:
    t = Telemetry()
    t.record(walk())
    t.save()
    assert not list(tmp_path.iterdir())


def test_two_processes_that_count_in_one_file_lose_none_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.json"
    one, two = Telemetry(path), Telemetry(path)
    for number in range(6):
        teller = (one, two)[number % 2]
        teller.record(Walk(f"question {number}", dead_end=Reason.no_typed_edge))
        teller.save()
    for told in (two.report(), Telemetry(path).report()):
        assert (told.walks, dict(told.dead_ends)) == (6, {"no_typed_edge": 6})
        assert [question for question, *_ in told.recent] == [f"question {number}" for number in range(6)]


def test_walks_that_were_not_saved_yet_are_counted_on_top_of_what_others_saved(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.json"
    one, two = Telemetry(path), Telemetry(path)
    for number in range(3):
        one.record(Walk(f"mine {number}"))
    two.record(Walk("theirs"))
    two.save()
    one.save()
    assert Telemetry(path).report().walks == 4
