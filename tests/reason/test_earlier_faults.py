"""The faults of earlier systems, each by its name in docs/results/earlier-faults.md: none of them is here.

``u``: falls too little. ``o``: falls too much. ``b``: other breakage of the earlier package. Those of the store are in
``tests/ledgers``, those of the walker and resolver beside their tests.
"""

from __future__ import annotations

import threading

import pytest

from mog.engine.errors import MogError, OntologyError, UsageError
from mog.engine.ledgers.events import EventLog
from mog.engine.ontology import load
from mog.engine.reason import commands
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import Label

OURS = load()


@pytest.fixture
def mesh(tmp_path):
    with EventLog(tmp_path / ".mog" / "ledger.db") as log:
        yield Mesh(log, OURS, "repo", clock=lambda: "2026-01-31T12:00:00Z")


def reopened(mesh: Mesh) -> Mesh:
    return Mesh(mesh.log, OURS, "repo")


def assume(mesh: Mesh, words: str) -> str:
    return commands.assume(mesh, words).result


def decide(mesh: Mesh, title: str, *grounds: str, **more: object) -> str:
    return commands.decide(mesh, title, "because", assumptions=[g for g in grounds if g], **more).result


def reject(mesh: Mesh, target: str, words: str = "seen otherwise") -> str:
    found = commands.evidence(mesh, words, contradicts=[target]).result
    commands.judge(mesh, found, target, "contradicts", auditor="person", reason="it is plain")
    return found


# -- too little falls


def test_u4_what_is_superseded_carries_nothing_any_more(mesh):
    old = assume(mesh, "tokens live an hour")
    moved, left = decide(mesh, "cache them", old), decide(mesh, "log them", old)
    new = commands.supersede(mesh, old, "tokens live a day", move=[moved], drop=[left]).result
    assert mesh.stands(moved) and not mesh.stands(left)
    reject(mesh, new)
    assert not mesh.stands(moved)


def test_u4_a_dependant_that_nobody_named_stops_the_replacement(mesh):
    old = assume(mesh, "tokens live an hour")
    resting = decide(mesh, "cache them", old)
    head = mesh.head
    with pytest.raises(UsageError, match="1 node rests on what is replaced") as refused:
        commands.supersede(mesh, old, "tokens live a day")
    assert resting in refused.value.way_out
    assert mesh.head == head and mesh.stands(old) and len(mesh.graph.nodes("assumption")) == 1


def test_u5_claims_sources_and_decisions_can_fall_too(mesh):
    with mesh.writing("ingested") as w:
        source = w.source("notes", origin="notes.md")
        claim = w.claim("the queue is ordered", source=source)
    made = decide(mesh, "no sequence numbers", claims=[claim])
    for target, undo in ((source, source), (made, made)):
        commands.retract(mesh, target, reason="not so")
        assert not mesh.stands(made)
        commands.withdraw(mesh, undo, reason="it was")
        assert mesh.stands(made)
    found = reject(mesh, claim)
    assert not mesh.stands(made)
    commands.withdraw(mesh, found, reason="measured wrongly")
    assert mesh.label(made) is Label.standing


def test_u6_a_rejected_statement_can_stand_again(mesh):
    first = assume(mesh, "the library is safe")
    reject(mesh, first)
    second = assume(mesh, "the library is safe")
    assert second != first and mesh.stands(second) and not mesh.stands(first)
    assert mesh.graph.node(second).attrs["version"] == 2
    assert assume(mesh, "the library is safe") == second


def test_u7_chains_of_reasoning_can_be_written(mesh):
    a, b = assume(mesh, "a"), assume(mesh, "b")
    with mesh.writing("ingested") as w:
        source = w.source("notes", origin="notes.md")
        one, two = w.claim("one", source=source), w.claim("two", source=source)
        w.drop_edge("derived_from", two, source)
        w.ground(two, [one, b])
        w.ground(b, [a])
    reject(mesh, a)
    assert [mesh.stands(id) for id in (a, b, one, two)] == [False, False, True, False]


def test_u7_a_claim_falls_with_the_grounds_it_was_given(mesh):
    a = assume(mesh, "a")
    claim = commands.claim(mesh, "so b", grounds=[[a]]).result
    reject(mesh, a)
    assert mesh.label(claim) is Label.fallen and mesh.graph.node(claim).provenance is not None


def test_u9_a_loop_does_not_hold_itself_up(mesh):
    base = assume(mesh, "base")
    one = decide(mesh, "one", base)
    two = decide(mesh, "two", decisions=[one])
    with mesh.writing("grounded") as w:
        w.ground(one, [two])
    reject(mesh, base)
    assert not mesh.stands(one) and not mesh.stands(two)


# -- too much falls


def test_o1_one_of_two_independent_grounds_is_enough(mesh):
    a, b = assume(mesh, "a"), assume(mesh, "b")
    made = decide(mesh, "d", a)
    commands.ground(mesh, made, [b])
    reject(mesh, a)
    assert mesh.label(made) is Label.weakened
    reject(mesh, b)
    assert mesh.label(made) is Label.fallen


def test_o2_a_thing_with_a_second_producer_stands(mesh):
    a, b = assume(mesh, "a"), assume(mesh, "b")
    with mesh.writing("ingested") as w:
        thing = w.entity("Cache")
    decide(mesh, "one", a, produces=[thing])
    decide(mesh, "two", b, produces=[thing])
    reject(mesh, a)
    assert mesh.label(thing) is Label.weakened
    reject(mesh, b)
    assert not mesh.stands(thing)


# -- other breakage


def test_b1_several_successors_of_one_record_are_written_and_read(mesh):
    ground = assume(mesh, "g")
    t, u = decide(mesh, "t", ground), decide(mesh, "u", ground)
    reject(mesh, ground)
    with mesh.writing("repaired") as w:
        for dependant, words in ((t, "g for t"), (u, "g for u")):
            w.supersede(ground, w.assume(words), move=[dependant])
    assert mesh.stands(t) and mesh.stands(u)
    again = reopened(mesh)
    assert again.tables.rows == mesh.tables.rows and again.head == mesh.head
    commands.supersede(again, ground, "a third")
    assert len(reopened(mesh).graph.in_edges(ground, ("supersedes",))) == 3


def test_b2_ids_do_not_collide_on_a_hub_or_under_one_prefix():
    from mog.engine import ids

    table = ids.UidTable()
    for i in range(30_000):
        assert table.claim(ids.node_uid("r", "claim", "statement", "", "x" * 60 + str(i)), i)
        assert table.claim(ids.edge_uid("mentions", "hub", str(i)), "edge", i)


def test_b5_evidence_can_be_withdrawn_and_given_again(mesh):
    a = assume(mesh, "a")
    found = reject(mesh, a)
    commands.withdraw(mesh, found, reason="a mistake")
    assert mesh.label(a) is Label.standing
    commands.withdraw(mesh, found, reason="no mistake")
    assert mesh.label(a) is Label.fallen


def test_b6_a_refused_write_leaves_nothing_behind(mesh):
    a = assume(mesh, "a")
    before, rows = mesh.head, {t: dict(r) for t, r in mesh.tables.rows.items()}
    with pytest.raises(MogError), mesh.writing("replaced") as w:
        w.supersede(a, a)
    with pytest.raises(RuntimeError), mesh.writing("claimed") as w:
        w.source("notes", origin="n")
        raise RuntimeError("the caller fails")
    assert mesh.head == before and mesh.tables.rows == rows and mesh.stands(a)


def test_b7_a_second_source_saves_a_claim(mesh):
    with mesh.writing("ingested") as w:
        sources = [w.source(name, origin=name) for name in ("one", "two")]
        claims = [w.claim("the cache is local", source=source) for source in sources]
    claim = claims[0]
    commands.retract(mesh, sources[0], reason="a draft")
    assert mesh.label(claim) is Label.weakened
    commands.retract(mesh, sources[1], reason="a draft too")
    assert mesh.label(claim) is Label.fallen


def test_b8_evidence_that_does_not_count_rejects_nothing(mesh):
    a = assume(mesh, "a")
    gone = commands.evidence(mesh, "seen", contradicts=[a]).result
    commands.withdraw(mesh, gone, reason="not so")
    with pytest.raises(UsageError, match="no longer counts"):
        commands.judge(mesh, gone, a, "contradicts", auditor="person", reason="x")
    with pytest.raises(OntologyError, match="only evidence"):
        commands.judge(mesh, decide(mesh, "d", a), a, "contradicts", auditor="person", reason="x")
    with pytest.raises(UsageError, match="reason"):
        commands.judge(mesh, commands.evidence(mesh, "again").result, a, "contradicts", auditor="person", reason=" ")
    with pytest.raises(UsageError, match="not by decree"):
        commands.retract(mesh, a, reason="I say so")
    assert mesh.stands(a)


def test_b11_the_same_write_again_changes_no_byte(mesh):
    def write() -> None:
        with mesh.writing("ingested") as w:
            source = w.source("notes", origin="notes.md", retrieved_at="2026-01-31")
            w.edge("mentions", w.claim("the cache is local", source=source), w.entity("Cache", aliases=["caches"]))

    write()
    head = mesh.head
    write()
    assert mesh.head == head


def test_b11_a_new_title_of_a_source_is_an_update(mesh):
    with mesh.writing("ingested") as w:
        source = w.source("notes", origin="notes.md", attrs={"title": "Old"})
        w.attrs(source, {"title": "New"})
    assert reopened(mesh).graph.node(source).attrs["title"] == "New"


def test_b12_what_was_pruned_counts_again_when_it_is_said_again(mesh):
    with mesh.writing("ingested") as w:
        source = w.source("notes", origin="notes.md")
        claim = w.claim("the cache is local", source=source)
        w.retire(claim, "pruned")
    assert mesh.stands(claim) and not mesh.walkable(claim)
    with mesh.writing("ingested") as w:
        w.claim("the cache is local", source=w.source("more", origin="more.md"))
    assert mesh.walkable(claim)


def test_b12_evidence_and_code_are_never_pruned(mesh):
    found = commands.evidence(mesh, "seen").result
    with pytest.raises(OntologyError, match="never pruned"), mesh.writing("pruned") as w:
        w.retire(found, "pruned")


def test_b13_an_entity_made_again_keeps_its_aliases(mesh):
    with mesh.writing("ingested") as w:
        w.entity("Rate Limiter", aliases=["limiter"])
        again = w.entity("Rate Limiter")
    assert mesh.graph.node(again).attrs["aliases"] == ("limiter",)


def test_b14_a_judged_contradiction_is_not_open(mesh):
    a = assume(mesh, "a")
    found = commands.evidence(mesh, "seen", contradicts=[a]).result
    assert mesh.label(a) is Label.contested
    commands.judge(mesh, found, a, "dismissed", auditor="person", reason="another machine")
    assert mesh.label(a) is Label.standing


def test_b16_readers_and_writers_on_threads_meet_no_error(mesh):
    ground, errors, done = assume(mesh, "a"), [], threading.Event()
    other = reopened(mesh)

    def read(seen: Mesh) -> None:
        while not done.is_set():
            try:
                with seen.locked():
                    labels = {node.id: seen.label(node.id) for node in seen.graph.nodes()}
                    assert all(seen.stands(id) == (label is not Label.fallen) for id, label in labels.items())
                seen.preview(lambda w: w.retire(ground, "retracted", reason="r"))
            except Exception as error:
                errors.append(error)
                return

    readers = [threading.Thread(target=read, args=(seen,)) for seen in (mesh, mesh, other, other)]
    for thread in readers:
        thread.start()
    for i in range(40):
        made = decide(mesh, f"d{i}", ground)
        if i % 4 == 0:
            commands.withdraw(mesh, reject(mesh, ground, f"seen {i}"), reason="not so")
    done.set()
    for thread in readers:
        thread.join(60)
    assert errors == [] and mesh.stands(made) and len(other.graph.nodes("decision")) == 40


@pytest.mark.parametrize("bad", [{1, 2}, float("nan"), "\ud800", 2**60])
def test_b18_what_cannot_be_stored_is_refused_at_once(mesh, bad):
    with pytest.raises(UsageError), mesh.writing("ingested") as w:
        w.source("notes", origin="n", attrs={"extra": bad})
    with pytest.raises(UsageError):
        assume(mesh, "x" * 4_000_000)
    with pytest.raises(OntologyError, match="no source"), mesh.writing("ingested") as w:
        w.claim("hangs in the air", source="nowhere")
    assert mesh.head.seq == 0
