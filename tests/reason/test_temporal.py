"""Two clocks: what was known on a day is walked on that day, hindsight stands apart, and undated stays undated."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from v1_kit import RandomV1, demo, earlier, mesh, tangle

from mog.engine.errors import NotFound, UsageError
from mog.engine.reason.as_of import AsOf
from mog.engine.reason.records import Label
from mog.engine.reason.temporal import explain_as_of, reconstruct_decision
from mog.engine.reason.timeline import Horizon, Timeline, day_of, parse_day
from mog.engine.reason.v1.into_mesh import import_graph
from mog.engine.reason.v1.names import import_resolver
from mog.engine.reason.v1.state import HOLDERS
from mog.engine.reason.walker import Walker

NO_DAYS = ["2026-1-08", "2026-02-30", " 2026-01-08", "2026-01-08T00:00", "today", "", None, 20260108, "２０２６-01-08"]


@pytest.mark.parametrize("bad", NO_DAYS)
def test_only_a_real_day_is_a_day(bad: Any) -> None:
    assert day_of(bad) is None
    with pytest.raises(UsageError):
        parse_day(bad)


def test_a_day_is_a_day() -> None:
    assert parse_day("2026-01-08") == parse_day(date(2026, 1, 8)) == date(2026, 1, 8)


def story(tmp_path: Path, **more: Any) -> tuple[Any, dict[str, str]]:
    """January: a decision on an assumption. March: it is superseded. July: the evidence."""
    m = mesh(tmp_path, **more)
    ids: dict[str, str] = {}
    with m.writing("told") as w:
        jan = ids["jan"] = w.source("January note", origin="a.md", retrieved_at="2026-01-10")
        mar = ids["mar"] = w.source("March note", origin="b.md", retrieved_at="2026-03-10")
        jul = ids["jul"] = w.source("July report", origin="c.md", retrieved_at="2026-07-10")
        unknown = ids["unknown"] = w.source("Loose sheet", origin="d.md")
        gateway = ids["gateway"] = w.entity("Payment Gateway")
        w.edge("derived_from", gateway, jan)
        ids["claim"] = w.claim("The Payment Gateway retries three times", source=jan)
        ids["late"] = w.claim("The Payment Gateway retries for ever", source=jul)
        ids["loose"] = w.claim("The Payment Gateway never retries", source=unknown)
        for claim in (ids["claim"], ids["late"], ids["loose"]):
            w.edge("mentions", claim, gateway)
        ids["ground"] = w.assume("The network loses few packets")
        ids["choice"] = w.decide(
            "Keep three retries in the Payment Gateway", "enough", source=jan, claims=[ids["claim"]],
            assumptions=[ids["ground"]], cites=[mar],
        )  # fmt: skip
        ids["proof"] = w.evidence("a third of the packets were lost", source=jul)
        ids["hunch"] = w.evidence("somebody felt it was slow")
        w.judge(ids["proof"], ids["ground"], "contradicts", auditor="person")
        w.edge("contradicts", ids["late"], ids["claim"])
        w.edge("contradicts", ids["loose"], ids["claim"])
    return m, ids


def test_standing_is_that_of_the_day(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    assert not m.stands(ids["choice"])
    with m.locked():
        june, august = AsOf(m, date(2026, 6, 1)), AsOf(m, date(2026, 8, 1))
        assert june.stands(ids["choice"]) and june.stands(ids["ground"]) and june.label(ids["claim"]) is Label.standing
        assert not august.stands(ids["choice"]) and not august.stands(ids["ground"])
        assert august.label(ids["claim"]) is Label.contested
        assert not AsOf(m, date(2026, 1, 9)).holds(ids["choice"])
        assert AsOf(m, date(2026, 1, 10)).holds(ids["choice"]), "the day itself counts"
        assert not august.holds(ids["loose"]) and not august.holds(ids["hunch"]), "without a date it is on no day"


def test_evidence_without_a_date_fells_nothing_in_the_past(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    m.apply("judged", lambda w: w.judge(ids["hunch"], ids["claim"], "contradicts", auditor="person"))
    assert not m.stands(ids["claim"])
    with m.locked():
        assert AsOf(m, date(2026, 8, 1)).stands(ids["claim"])


def test_a_successor_replaces_from_its_own_day_on(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    with m.writing("superseded") as w:
        new = w.claim("The Payment Gateway retries five times", source=ids["mar"])
        w.supersede(ids["claim"], new)
    with m.locked():
        assert AsOf(m, date(2026, 2, 1)).stands(ids["claim"])
        assert not AsOf(m, date(2026, 4, 1)).stands(ids["claim"])


def test_what_was_withdrawn_counts_on_no_day_and_what_was_retracted_without_a_date_did(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    m.apply("withdrawn", lambda w: w.retire(ids["proof"], "withdrawn"))
    m.apply("retracted", lambda w: w.retire(ids["claim"], "retracted"))
    with m.locked():
        august = AsOf(m, date(2026, 8, 1))
        assert august.stands(ids["ground"]) and august.stands(ids["claim"])


def test_a_second_source_dates_a_claim_by_the_earlier_one(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    with m.writing("repeated") as w:
        w.claim("The Payment Gateway retries for ever", source=ids["mar"])
    with m.locked():
        assert Timeline(m).dated(ids["late"]).when == date(2026, 3, 10)


def test_an_entity_is_as_old_as_the_first_decision_that_made_it(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    with m.writing("made") as w:
        made = w.entity("Retry Budget")
        w.edge("produces", ids["choice"], made)
    with m.locked():
        dated = Timeline(m).dated(made)
        assert (dated.when, dated.via, dated.source) == (date(2026, 1, 10), "produces", ids["jan"])


def test_an_answer_of_the_past_is_walked_in_the_past(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    question = "Does the Payment Gateway retry for ever or three times?"
    walker = Walker(m)
    then = explain_as_of(m, question, "2026-06-01", walker=walker)
    assert then.walk.answer_id in (ids["claim"], ids["choice"])
    passed = {p.node for p in (*then.then, *then.decision)}
    assert ids["late"] not in passed and ids["loose"] not in passed
    assert all(p.horizon is not Horizon.later for p in (*then.then, *then.decision))
    found = {(p.node, p.relation, p.through) for p in then.later}
    assert (ids["late"], "contradicts", ids["claim"]) in found
    assert (ids["loose"], "contradicts", ids["claim"]) in {(p.node, p.relation, p.through) for p in then.undated}
    again = explain_as_of(m, walker.ask(question), "2026-06-01")
    assert again.then == then.then and m.head == mesh(tmp_path).head


def test_what_the_question_names_and_was_not_known_is_said_so(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    then = explain_as_of(m, "What does the Payment Gateway do?", "2025-12-31")
    assert [p.node for p in then.not_yet_known] == [ids["gateway"]] and not then.then
    assert then.walk.dead_end == "entity_unresolved"


def test_todays_path_lists_what_was_not_known_then(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    today = Walker(m).ask("Does the Payment Gateway retry for ever?")
    assert today.answer_id == ids["late"]
    then = explain_as_of(m, today, "2026-06-01")
    assert ids["late"] in {p.node for p in then.not_yet_known}


def test_a_decision_stood_on_what_was_there_when_it_was_made(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    for as_of in (None, "2026-01-10", "2027-01-01"):
        h = reconstruct_decision(m, ids["choice"], as_of)
        assert {p.node for p in h.stood_on} == {ids["jan"], ids["claim"]}
        assert {(p.node, p.relation) for p in h.later} == {
            (ids["mar"], "cites"), (ids["late"], "contradicts"), (ids["proof"], "contradicts"),
        }  # fmt: skip
        assert {p.node for p in h.undated} == {ids["ground"], ids["loose"]}
    early = reconstruct_decision(m, ids["choice"], "2026-05-01")
    assert {p.node: p.horizon for p in early.later}[ids["proof"]] is Horizon.later
    assert {p.node: p.standing for p in early.undated}[ids["ground"]] is Label.standing
    assert {p.node: p.standing for p in h.undated}[ids["ground"]] is Label.fallen


def test_a_decision_without_a_date_stood_on_nothing_that_can_be_shown(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    with m.writing("decided") as w:
        loose = w.decide("Ship it", "why not", source=ids["unknown"], claims=[ids["claim"]])
    h = reconstruct_decision(m, loose)
    assert not h.stood_on and ids["claim"] in {p.node for p in h.later}


def test_recorded_grounds_and_judgements_are_reasons_and_aftermath_too(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    with m.writing("more") as w:
        w.ground(ids["choice"], [ids["late"]])
        w.judge(ids["proof"], ids["choice"], "contradicts", auditor="person")
    h = reconstruct_decision(m, ids["choice"])
    assert (ids["late"], "ground") in {(p.node, p.relation) for p in h.later}
    assert ids["proof"] in {p.node for p in h.later}


def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    m, ids = story(tmp_path)
    with pytest.raises(UsageError, match="not a decision"):
        reconstruct_decision(m, ids["claim"])
    with pytest.raises(NotFound):
        reconstruct_decision(m, "nobody")
    for depth in (0, 17):
        with pytest.raises(UsageError):
            reconstruct_decision(m, ids["choice"], depth=depth)
    with pytest.raises(UsageError):
        explain_as_of(m, "why?", "yesterday")


# -- against other judges


@pytest.mark.parametrize("seed", range(60))
def test_long_after_everything_the_past_is_the_present(seed: int, tmp_path: Path) -> None:
    """Where everything has a date, standing worked out for what is asked equals standing kept up with every write."""
    m, rng = tangle(tmp_path, seed, seed_rule=bool(seed % 2)), random.Random(seed)
    with m.locked():
        view = AsOf(m, date.max)
        held = [n.id for n in m.graph.nodes() if view.holds(n.id)]
        rng.shuffle(held)
        assert len(held) > 10
        assert {id: view.label(id) for id in held} == {id: m.label(id) for id in held}
        assert all(view.live(e) == m.live(e) for id in held for e in view.out_edges(id))


DAYS = ["2026-01-07", "2026-01-08", "2026-02-03", "2026-03-14", "2026-04-28", "2026-07-02", "2026-12-31"]


@pytest.mark.parametrize("day", DAYS)
def test_the_demo_as_of_a_day_is_what_the_earlier_package_projects(day: str, tmp_path: Path) -> None:
    earlier()
    from contextmesh.temporal import as_of_graph

    m = mesh(tmp_path, seed_rule=True)
    import_graph(m, demo().graph.to_json().encode())
    past = as_of_graph(demo().graph, day)
    with m.locked():
        view = AsOf(m, parse_day(day))
        held = {n.id for n in view.nodes()} - set(HOLDERS)
        assert held >= set(past.nodes)
        for id in held - set(past.nodes):  # older than the first source that was named for it
            sources = [demo().graph.nodes[e.dst] for e in demo().graph.out_edges(id, live_only=False)]
            assert min(s.attrs["retrieved_at"] for s in sources) <= day
        assert {id for id in past.nodes if not view.stands(id)} == {n.id for n in past.nodes.values() if n.invalidated}


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_are_dated_no_later_than_the_earlier_package_dates_them(seed: int, tmp_path: Path) -> None:
    """Earlier only where a claim or an entity has an older source than the first one named."""
    made = RandomV1(seed)
    from contextmesh.temporal import Timeline as Theirs

    m, theirs = mesh(tmp_path), Theirs(made.graph)
    import_graph(m, made.graph.to_json().encode())
    with m.locked():
        ours = Timeline(m)
        for id, node in made.graph.nodes.items():
            when = theirs.when(id)
            assert when is None or (ours.dated(id).when or date.max) <= when
            if node.type.value in ("source", "decision", "assumption"):
                assert ours.dated(id).when == when


def test_the_demo_is_explained_without_touching_the_ledger(tmp_path: Path) -> None:
    m = mesh(tmp_path)
    import_graph(m, demo().graph.to_json().encode())
    import_resolver(m, demo().resolver.to_json().encode())
    head = m.head
    then = explain_as_of(m, "Why did the Index Builder run out of memory?", "2026-03-01")
    assert then.walk.resolved and any(p.relation == "contradicts" for p in then.later)
    assert m.head == head
