"""Health signals: each fires on its condition, not on what was judged or decided, and counts exactly."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from v1_kit import demo, mesh

from mog.engine.reason.health import MAX_ITEMS, Signal, check
from mog.engine.reason.resolver import Resolver
from mog.engine.reason.telemetry import Telemetry
from mog.engine.reason.v1.into_mesh import import_graph
from mog.engine.reason.walker import Walker


def healthy(tmp_path: Path) -> tuple[Any, SimpleNamespace]:
    m = mesh(tmp_path)
    with m.writing("told") as w:
        source = w.source("Report", origin="r.md", retrieved_at="2026-02-01")
        claim = w.claim("The gateway is fast", source=source)
        entity = w.entity("Gateway")
        w.edge("mentions", claim, entity)
        ground = w.assume("The network is up")
        choice = w.decide("Go", "because", source=source, claims=[claim], assumptions=[ground])
    return m, SimpleNamespace(source=source, claim=claim, entity=entity, ground=ground, choice=choice)


def signal(m: Any, kind: str, **more: Any) -> Signal | None:
    return next((s for s in check(m, **more).signals if s.kind == kind), None)


def items(m: Any, kind: str, **more: Any) -> tuple[str, ...]:
    found = signal(m, kind, **more)
    return found.items if found else ()


def test_a_graph_with_nothing_wrong_says_so(tmp_path: Path) -> None:
    m, _ = healthy(tmp_path)
    report = check(m)
    assert report.status == "ok" and [s.kind for s in report.signals] == ["untyped_edges"]
    assert report.signals[0].count == 0 and report.signals[0].severity == "info"
    assert (report.nodes_live, report.nodes_total) == (5, 5)
    assert report.edges_live == len(m.graph.edges()) and report.edge_types_used == len({e.kind for e in m.graph.edges()})


def test_an_empty_graph_is_ok(tmp_path: Path) -> None:
    assert check(mesh(tmp_path)).status == "ok"


def test_orphans_are_what_nothing_speaks_of(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    with m.writing("more") as w:
        alone = w.assume("Nobody needs this")
        grounded = w.assume("This is in a ground")
        w.ground(ids.entity, [grounded])
        proof = w.evidence("heard")
        w.judge(proof, ids.choice, "dismissed", auditor="person")
    assert items(m, "orphans") == (alone,)


def test_a_claim_whose_source_is_gone_has_a_gap(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    with m.writing("retired") as w:
        other = w.source("Copy", origin="c.md")
        kept = w.claim("It is said twice", source=ids.source)
        w.claim("It is said twice", source=other)
        w.retire(ids.source, "pruned")
    assert ids.claim in items(m, "provenance_gap") and kept not in items(m, "provenance_gap")
    assert check(m).status == "error"


def test_an_entity_without_a_claim_is_mute(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    m.apply("named", lambda w: w.edge("mentions", ids.source, w.entity("Router")))
    found = signal(m, "missing_relationships")
    assert found is not None and found.count == 1 and ids.entity not in found.items


def test_an_assumption_is_stale_until_something_is_said_about_it(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    for i in range(5):
        m.apply("noted", lambda w, i=i: w.evidence(f"note {i}"))
    assert items(m, "stale_assumptions", stale_after=4) == (ids.ground,)
    assert items(m, "stale_assumptions", stale_after=6) == ()
    proof = m.graph.nodes("evidence")[-1].id
    m.apply("judged", lambda w: w.judge(proof, ids.ground, "dismissed", auditor="person"))
    assert items(m, "stale_assumptions", stale_after=4) == ()


def test_contradictions_close_when_they_are_judged_decided_or_superseded(tmp_path: Path) -> None:
    """B2 14 of the earlier package: it counted judged ones and never looked for a decision."""
    m, ids = healthy(tmp_path)
    with m.writing("more") as w:
        slow = w.claim("The gateway is slow", source=ids.source)
        medium = w.claim("The gateway is all right", source=ids.source)
        proof = w.evidence("it was down")
        w.edge("contradicts", slow, ids.claim)
        w.edge("contradicts", medium, slow)
        w.edge("contradicts", proof, ids.ground)
    every = (f"{medium} contradicts {slow}", f"{proof} contradicts {ids.ground}", f"{slow} contradicts {ids.claim}")
    assert set(items(m, "open_contradictions")) == set(every)
    assert set(items(m, "contested")) == {slow, ids.claim, ids.ground, medium}
    m.apply("judged", lambda w: w.judge(proof, ids.ground, "dismissed", auditor="person"))
    assert set(items(m, "open_contradictions")) == {every[0], every[2]}
    m.apply("decided", lambda w: w.decide("It is fast", "measured", source=ids.source, claims=[slow, ids.claim]))
    assert items(m, "open_contradictions") == (every[0],)
    m.apply("superseded", lambda w: w.edge("supersedes", medium, slow))
    assert items(m, "open_contradictions") == ()


def test_evidence_against_a_rejected_assumption_is_no_open_contradiction(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    with m.writing("judged") as w:
        w.judge(w.evidence("it was down"), ids.ground, "contradicts", auditor="person")
    assert signal(m, "open_contradictions") is None
    fallen = signal(m, "fallen")
    assert fallen is not None and set(fallen.items) == {ids.ground, ids.choice} and fallen.severity == "info"


def test_a_decision_weighs_evidence_too(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    with m.writing("more") as w:
        proof = w.evidence("it was slow once")
        w.edge("contradicts", proof, ids.claim)
        w.edge("justified_by", ids.choice, proof)
    assert signal(m, "open_contradictions") is None


def test_what_is_retired_is_not_called_fallen(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    m.apply("retired", lambda w: w.retire(ids.choice, "retracted"))
    assert signal(m, "fallen") is None


def test_failed_work_makes_unverified(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    with m.writing("failed") as w:
        after = w.decide("Next", "then", source=ids.source, decisions=[ids.choice])
        w.mark(ids.choice, "failed")
    assert after in items(m, "unverified") and ids.claim not in items(m, "unverified")


def test_drift_is_pending_until_it_is_judged(tmp_path: Path) -> None:
    m, ids = healthy(tmp_path)
    proof = m.apply("drifted", lambda w: w.evidence("the body moved", kind="drift")).result
    assert items(m, "drift_pending") == (proof,)
    m.apply("judged", lambda w: w.judge(proof, ids.ground, "dismissed", auditor="person"))
    assert items(m, "drift_pending") == ()


def test_near_misses_are_counted_once_each_best_first(tmp_path: Path) -> None:
    m, _ = healthy(tmp_path)
    with m.writing("named") as w:
        w.entity("Payment Gateway")
    resolver = Resolver(m)
    for mention in ("Payment Gateway Tests", "Payment Router", "Payment Gateway Tests", "Nothing At All"):
        resolver.resolve(mention)
    found = signal(m, "unresolved_entities", near_misses=resolver.near_misses)
    assert found is not None and found.count == 2 and found.items[0].startswith("Payment Gateway Tests")


def test_dead_ends_come_from_what_was_asked(tmp_path: Path) -> None:
    m, _ = healthy(tmp_path)
    counts, walker = Telemetry(), Walker(m)
    for question in ("Who signed the lease?", "Is the gateway fast?", "Where is the canteen?"):
        counts.record(walker.ask(question))
    assert signal(m, "dead_ends") is None
    found = signal(m, "dead_ends", telemetry=counts.report())
    assert found is not None and found.count == 2 and "entity_unresolved 2" in found.detail
    assert found.items == ("Where is the canteen?", "Who signed the lease?")


def test_twelve_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    m, _ = healthy(tmp_path)
    with m.writing("assumed") as w:
        for i in range(40):
            w.assume(f"loose {i}")
    found = signal(m, "orphans")
    assert found is not None and found.count == 40 and len(found.items) == MAX_ITEMS == 12
    assert found.items == tuple(sorted(found.items))


@pytest.mark.parametrize("kind,most", [("missing_relationships", 10), ("open_contradictions", 3)])
def test_the_demo_has_no_more_than_the_earlier_package_counts(kind: str, most: int, tmp_path: Path) -> None:
    """Of its four contradictions one was against an assumption that had been rejected already."""
    m = mesh(tmp_path)
    import_graph(m, demo().graph.to_json().encode())
    found = signal(m, kind)
    assert found is not None and found.count == most
