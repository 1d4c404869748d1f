"""The working set: what counts, what is a hit, what leaves and in which order, and that it comes back byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from set_kit import Changing, config, item, one_set, sized

from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.memory.set_records import Now
from mog.engine.memory.working_set import WorkingSet, WorkingSets
from mog.engine.model import Freshness
from mog.engine.retrieval.model import Zoom


@pytest.fixture
def changing() -> Changing:
    return Changing()


@pytest.fixture
def agent(tmp_path: Path, changing: Changing) -> WorkingSet:
    """A set with budget 600 and low mark 450."""
    return WorkingSets(tmp_path / ".mog", config(), changing).session("agent")


def held(of: WorkingSet) -> list[str]:
    return sorted(row.entry.id for row in of.state().items)


def idle(of: WorkingSet, turns: int = 3) -> None:
    """Turns in which nothing that is held is named."""
    for _ in range(turns):
        of.name_again(())


def test_what_is_served_is_counted_once(agent: WorkingSet) -> None:
    first = agent.serve([sized("a", 100), sized("b", 50)])
    again = agent.serve([sized("a", 100)])
    assert (first.used, again.used) == (150, 150)
    assert again.hits == (first.refs[0],) and again.taken == ()
    assert agent.state().totals.saved == 100


def test_the_same_thing_at_a_lower_zoom_is_a_hit_and_at_a_higher_takes_its_place(agent: WorkingSet) -> None:
    low, high = sized("a", 20, zoom=Zoom.L1), sized("a", 90, zoom=Zoom.L2)
    agent.serve([low])
    up = agent.serve([high])
    down = agent.serve([low])
    assert up.used == down.used == 90
    assert down.refs == up.refs and down.hits == up.refs


def test_other_bytes_at_the_same_zoom_take_the_place_of_what_was_held(agent: WorkingSet) -> None:
    before = agent.serve([item("a", "x = 1\n" * 20)])
    after = agent.serve([item("a", "x = 2\n" * 30)])
    assert after.refs != before.refs
    assert [row.entry.ref for row in agent.state().items] == list(after.refs)
    assert agent.recall(before.refs[0]).item.text == "x = 1\n" * 20


def test_a_lower_zoom_is_no_hit_when_the_bytes_held_are_no_longer_so(agent: WorkingSet, changing: Changing) -> None:
    agent.serve([sized("a", 90, zoom=Zoom.L2)])
    changing.told["a"] = Now(Freshness.drifted, "it changed")
    assert agent.serve([sized("a", 20, zoom=Zoom.L1)]).used == 20


def test_nothing_leaves_until_the_budget_is_passed_and_then_down_to_the_low_mark(agent: WorkingSet) -> None:
    for at in range(6):
        assert agent.serve([sized(f"a{at}", 100)]).evicted == ()
    turned = agent.serve([sized("one-more", 1)])
    assert len(turned.evicted) == 2 and turned.used == 401


def test_the_lowest_score_per_token_goes_first(agent: WorkingSet) -> None:
    agent.serve([sized("large", 300, score=0.1), sized("small", 50, score=0.1), sized("good", 50, score=1.0)])
    idle(agent)
    turned = agent.serve([sized("new", 250)])
    assert [stub.id for stub in turned.evicted] == ["large"]


def test_what_turns_out_to_fit_beside_the_rest_stays(tmp_path: Path) -> None:
    agent = one_set(tmp_path / ".mog")
    agent.serve([sized("tiny", 2, score=0.0001), sized("mid", 300, score=1.0), sized("top", 200, score=1.0)])
    for _ in range(200):
        agent.name_again(["mid", "top"])
    agent.serve([sized("huge", 90)])
    idle(agent)
    turned = agent.serve([sized("new", 20)])
    assert "tiny" not in [stub.id for stub in turned.evicted]


def test_what_was_just_served_or_named_stays_whatever_it_costs(agent: WorkingSet) -> None:
    agent.serve([sized("old", 100)])
    idle(agent)
    agent.serve([sized("named", 300)])
    idle(agent, 2)
    agent.name_again(["named"])
    idle(agent, 1)
    turned = agent.serve([sized("new", 250)])
    assert [stub.id for stub in turned.evicted] == ["old"]
    assert held(agent) == ["named", "new"]


@pytest.mark.parametrize("kind", ["correction", "constraint", "task"])
def test_corrections_constraints_and_active_tasks_are_never_evicted(agent: WorkingSet, kind: str) -> None:
    agent.serve([sized("note:1", 300, kind=kind, label="user", score=0.001)])
    agent.serve([sized("code", 200, score=1.0)])
    idle(agent)
    assert [stub.id for stub in agent.serve([sized("new", 150)]).evicted] == ["code"]


def test_a_task_that_is_done_may_go(agent: WorkingSet, changing: Changing) -> None:
    agent.serve([sized("note:1", 500, kind="task", label="user")])
    changing.told["note:1"] = Now(Freshness.fresh, active=False)
    idle(agent)
    assert [stub.id for stub in agent.serve([sized("new", 150)]).evicted] == ["note:1"]


def test_over_the_budget_only_through_what_is_never_evicted_and_it_is_said(agent: WorkingSet) -> None:
    agent.serve([sized("a", 400, pinned=True)])
    idle(agent)
    turned = agent.serve([sized("b", 300)])
    assert turned.used == 700 and turned.evicted == ()
    assert turned.warnings == ("over the budget by 100 tokens: what is never evicted takes them (1 pinned, 1 recent)",)
    assert agent.state().over == 100


def test_a_thing_larger_than_the_budget_is_refused_and_changes_nothing(agent: WorkingSet) -> None:
    turned = agent.serve([sized("big", 601), sized("small", 10)])
    assert turned.refs[0] == "" and [one.id for one in turned.refused] == ["big"]
    assert "more than the whole budget of 600" in turned.warnings[0]
    assert held(agent) == ["small"]


def test_room_is_what_a_pack_may_cost_without_passing_the_budget(agent: WorkingSet) -> None:
    agent.serve([sized("pinned", 100, pinned=True), sized("old", 150)])
    idle(agent)
    agent.serve([sized("recent", 200)])
    assert agent.room() == agent.state().room == 300
    assert agent.serve([sized("pack", 300)]).used <= 600


def test_a_pin_by_hand_survives_another_serving_and_one_from_a_pack_follows_the_pack(agent: WorkingSet) -> None:
    agent.serve([sized("a", 10), sized("b", 10, pinned=True)])
    agent.pin("a")
    agent.serve([sized("a", 20), sized("b", 10)])
    assert {row.entry.id: row.kept for row in agent.state().items} == {"a": "pinned", "b": "recent"}
    agent.unpin("a")
    assert {row.entry.id: row.kept for row in agent.state().items} == {"a": "recent", "b": "recent"}


def test_a_pin_is_of_the_thing_in_all_its_servings(agent: WorkingSet) -> None:
    def kept() -> list[str]:
        return [row.kept for row in agent.state().items]

    older = agent.serve([sized("a", 10)]).refs[0]
    newer = agent.serve([sized("a", 20)]).refs[0]
    agent.pin(newer)
    agent.recall(older)
    assert kept() == ["pinned", "pinned"]
    agent.unpin(older)
    assert kept() == ["recent", "recent"]
    agent.evict(0)
    agent.pin("a")
    agent.serve([sized("a", 30)])
    agent.unpin("a")
    assert not agent.recall(older).item.pinned  # it was pinned when another took its place


def test_what_was_evicted_comes_back_byte_for_byte_and_is_held_again(agent: WorkingSet) -> None:
    text = "def é(): return '\udcff\ud83d\ude00\x00'\r\n\t#[ws_"
    served = agent.serve([item("a", text * 20)])
    agent.evict(0)
    idle(agent)
    assert held(agent) == ["a"]  # just served: recent
    agent.evict(0)
    assert held(agent) == []
    back = agent.recall(agent.stubs()[0].ref)
    assert back.item.text == text * 20
    assert back.entry.ref == served.refs[0] and held(agent) == ["a"]


def test_a_recalled_thing_says_what_changed_since(agent: WorkingSet, changing: Changing) -> None:
    ref = agent.serve([item("a")]).refs[0]
    changing.told["a"] = Now(Freshness.drifted, "it changed (1 lines went, 2 came)")
    back = agent.recall(ref)
    assert back.item.freshness is Freshness.drifted
    assert back.item.warnings == ("as served in turn 1; since then it changed (1 lines went, 2 came)",)


def test_what_is_gated_by_now_is_not_recalled_and_its_bytes_are_erased(agent: WorkingSet, changing: Changing, tmp_path: Path) -> None:
    secret = "ghp_" + "FAKE" * 9
    ref = agent.serve([item("a", secret)]).refs[0]
    changing.told["a"] = Now(Freshness.gated, "it is gated")
    with pytest.raises(PolicyDenied):
        agent.recall(ref)
    changing.told.clear()
    with pytest.raises(NotFound, match="given up"):
        agent.recall(ref)
    assert held(agent) == []


def test_a_thing_without_text_is_left_out(agent: WorkingSet) -> None:
    assert agent.serve([item("gated", "")]).refs == ("",)
    assert held(agent) == []


def test_a_recalled_thing_larger_than_the_budget_is_shown_and_not_held(tmp_path: Path) -> None:
    mog = tmp_path / ".mog"
    ref = WorkingSets(mog, config(2_000)).session("agent").serve([sized("big", 1_000)]).refs[0]
    small = WorkingSets(mog, config(1_000)).session("agent")
    idle(small)
    assert [stub.ref for stub in small.stubs()] == [ref]
    back = small.recall(ref)
    assert len(back.item.text) == 4_000 and back.turned.refused and held(small) == []


def test_the_client_may_say_its_window_and_it_is_kept(tmp_path: Path) -> None:
    sets = WorkingSets(tmp_path / ".mog", config(1_000))
    sets.session("agent", window=10_000).serve([sized("a", 5_000)])
    assert sets.session("agent").state().budget.tokens == 6_000
    assert sets.session("other").state().budget.tokens == 600


def test_turns_never_go_back(agent: WorkingSet) -> None:
    assert agent.serve([item("a")], turn=7).turn == 7
    assert agent.serve([item("a")], turn=3).turn == 7
    assert agent.serve([item("a")]).turn == 8


def test_scores_are_sums_of_their_parts_and_never_negative(agent: WorkingSet, changing: Changing) -> None:
    odd = [float("inf"), float("nan"), -5.0, 0.0, 1e308]
    agent.serve([sized(f"a{at}", 10, score=score) for at, score in enumerate(odd)])
    changing.told["a1"] = Now(Freshness.missing)
    idle(agent, 300)
    for row in agent.state().items:
        assert row.score == sum(row.parts.values()) > 0
        assert set(row.parts) == {"relevance", "recency", "use", "freshness"} and min(row.parts.values()) >= 0


def test_each_reason_to_stay_raises_the_score(agent: WorkingSet, changing: Changing) -> None:
    names = ["poor", "relevant", "used", "fresh"]
    agent.serve([sized(name, 10, score=1.0 if name == "relevant" else 0.2) for name in names])
    agent.name_again(["used"], turn=1)
    changing.told |= {name: Now(Freshness.drifted) for name in names if name != "fresh"}
    rows = {row.entry.id: row.score for row in agent.state().items}
    assert min(rows["relevant"], rows["used"], rows["fresh"]) > rows["poor"]
    idle(agent, 40)
    assert {row.entry.id: row.score for row in agent.state().items}["poor"] == pytest.approx(rows["poor"] - 1)


def test_the_judge_is_asked_only_where_it_can_matter(agent: WorkingSet, changing: Changing) -> None:
    for at in range(5):
        agent.serve([sized(f"a{at}", 100)])
    assert changing.asked == 0
    agent.serve([sized(f"a{at}", 100) for at in range(5)])  # held already: the set does not grow
    agent.serve([sized("a0", 200)])  # in the place of what is held
    assert changing.asked == 0 and agent.state().used == 600
    changing.asked = 0
    agent.serve([sized("b", 200)])
    assert changing.asked == 1


def test_evicting_by_hand_goes_to_the_mark_asked_for_and_spares_what_is_never_evicted(agent: WorkingSet) -> None:
    agent.serve([sized("a", 100), sized("b", 100), sized("p", 100, pinned=True)])
    idle(agent)
    assert agent.evict(250).used == 200
    assert agent.evict(0).used == 100
    assert held(agent) == ["p"]


def test_sessions_do_not_see_each_other_and_can_be_cleared(tmp_path: Path) -> None:
    sets = WorkingSets(tmp_path / ".mog", config())
    one, two = sets.session("one"), sets.session("two")
    a, b = one.serve([item("a")]).refs[0], two.serve([item("a")]).refs[0]
    assert a != b and [row.name for row in sets.sessions()] == ["two", "one"]
    assert sets.owner(a) == sets.owner(a[:9]) == "one"
    one.clear()
    with pytest.raises(NotFound):
        one.recall(a)
    assert two.recall(b).item.text == item("a").text
    with pytest.raises(NotFound):
        sets.clear("one")


def test_asking_about_a_set_that_was_never_used_makes_no_file(tmp_path: Path) -> None:
    sets = WorkingSets(tmp_path / ".mog", config())
    state = sets.session("agent").state()
    assert (state.used, state.items, state.stubs, state.room) == (0, (), (), 600)
    assert sets.sessions() == () and sets.latest() == "" and not (tmp_path / ".mog").exists()


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "\ud800"])
def test_a_session_name_that_cannot_be_meant_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        WorkingSets(tmp_path / ".mog", config()).session(name)


def test_an_unknown_or_unclear_target_is_refused(agent: WorkingSet) -> None:
    agent.serve([item("a"), item("b")])
    for missing in ("c", "ws_nothing", ""):
        with pytest.raises(NotFound):
            agent.recall(missing)
    with pytest.raises(UsageError, match="several"):
        agent.recall("ws_")
    with pytest.raises(NotFound, match="recall it first"):
        agent.pin("c")
