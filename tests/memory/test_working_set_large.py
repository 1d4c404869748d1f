"""A set of a thousand things costs what a call names of it, not what it holds; sums where the rows are equal sums of the rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from set_kit import config, item, sized

from mog.engine.errors import StoreDamaged
from mog.engine.memory.served import Book
from mog.engine.memory.set_records import Entry, Place
from mog.engine.memory.set_scores import WORKING_SET, room, weighed
from mog.engine.memory.working_set import WorkingSets, _growth
from mog.engine.retrieval.model import Zoom


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """Every entry that is read from here on."""
    seen: list[Entry] = []
    made = Book._entry

    def counted(self: Book, row: object) -> Entry:
        seen.append(made(self, row))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(Book, "_entry", counted)
    return seen


def test_a_call_reads_what_it_names_and_not_what_is_held(tmp_path: Path, read: list[Entry]) -> None:
    agent = WorkingSets(tmp_path / ".mog", config()).session("agent", window=1_000_000)
    agent.serve([sized(f"a{at}", 3) for at in range(1_000)])
    read.clear()
    again = agent.serve([sized("a7", 3), sized("new", 3)])
    assert again.hits and again.taken and again.used == 3_003 and len(read) < 10
    read.clear()
    assert agent.name_again([again.refs[0], "a8"]).refs[1] and len(read) < 10
    read.clear()
    assert agent.room() == 600_000 - 9 and not read  # what was named in these turns stays


def test_sums_stay_right_when_something_is_replaced_recalled_or_leaves(tmp_path: Path) -> None:
    agent = WorkingSets(tmp_path / ".mog", config()).session("agent")
    for at in range(40):
        turned = agent.serve([item(f"t{at % 7}", f"x = {at}\n" * (5 + at % 3)), sized(f"a{at}", 40)])
        assert turned.used == agent.state().used == agent.state().totals.taken - _left(agent.state().totals)
    gone = agent.stubs()[-1]
    assert agent.recall(gone.ref).turned.used == agent.state().used


def _left(totals: object) -> int:
    return totals.evicted + totals.replaced  # type: ignore[attr-defined, no-any-return]


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from(("function", "task", "correction", "pinned", "odd ä")), st.booleans()), max_size=8),
    idle=st.integers(0, 4),
    never=st.sets(st.sampled_from(("pinned", "task", "active_task", "correction", "odd ä"))),
)
def test_room_is_the_budget_less_what_stays(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, bool]], idle: int, never: set[str]
) -> None:
    sets = WorkingSets(tmp_path_factory.mktemp("room") / ".mog", config(ws_never_evict=tuple(sorted(never))))
    agent = sets.session("agent", window=10_000)
    for at, (kind, pinned) in enumerate(rows):
        agent.serve([sized(f"a{at}", 10 + at, kind=kind, pinned=pinned)])
    for _ in range(idle):
        agent.name_again(())
    with sets.store.reading() as book:
        session = book.session("agent") if book else None
        held = book.entries(session.row, (Place.held,)) if book and session else []
    turn = session.turn if session else 0
    assert agent.room() == room(weighed(held, {}, turn, sets.rules), turn, 6_000, WORKING_SET.recent)
    sets.close()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 300), st.sampled_from(list(Zoom)), st.booleans()), max_size=5),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_a_set_grows_by_no_more_than_is_said_before(
    tmp_path_factory: pytest.TempPathFactory, servings: list[list[tuple[str, int, Zoom, bool]]]
) -> None:
    """What is said decides whether anybody is asked about what is held; were it too little, things would leave unjudged."""
    sets = WorkingSets(tmp_path_factory.mktemp("growth") / ".mog", config())
    agent = sets.session("agent", window=1_000_000)
    for serving in servings:
        items = [sized(name, tokens, zoom=zoom, pinned=pinned) for name, tokens, zoom, pinned in serving]
        before = [row.entry for row in agent.state().items]
        most = sum(one.tokens for one in before) + _growth(items, before)
        assert agent.serve(items).used <= most
    sets.close()


def test_an_entry_that_costs_less_than_nothing_is_not_summed(tmp_path: Path) -> None:
    sets = WorkingSets(tmp_path / ".mog", config())
    sets.session("agent").serve([sized("a", 10)])
    with sets.store.writing() as book:
        book._db.execute("UPDATE entries SET tokens = -5")
    with pytest.raises(StoreDamaged, match="less than nothing"):
        sets.session("agent").room()
