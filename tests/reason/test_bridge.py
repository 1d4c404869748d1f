"""The bridge: drift becomes evidence, an auditor judges it, a belief falls exactly then, and stands again after a revert."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bridged import CODE, PLACE, Clone, run_git

from mog.engine.errors import NotFound, UsageError
from mog.engine.ids import Locator
from mog.engine.model import Freshness, Node
from mog.engine.reason.auditors import AuditRequest, AuditVerdict
from mog.engine.reason.records import Label

ARGON = CODE["src/auth.py"]
MD5 = ARGON.replace("argon2", "md5")
SHA = ARGON.replace("argon2", "sha1")


@pytest.fixture
def clone(make_repo: Callable[..., Path]) -> Iterator[Clone]:
    made = Clone(make_repo(CODE))
    yield made
    made.close()


def drifts(clone: Clone) -> list[str]:
    """Drift evidence that counts in this worktree."""
    return sorted(n.id for n in clone.mesh.graph.nodes("evidence") if n.kind == "drift" and clone.mesh.stands(n.id))


# evidence


def test_an_edit_of_the_body_makes_evidence_and_rejects_nothing(clone: Clone) -> None:
    belief = clone.belief()
    assert clone.bridge.observe() == ()
    clone.edit(MD5)
    (drift,) = clone.bridge.observe()
    assert (drift.target, drift.freshness, drift.change) == (belief, Freshness.drifted, "minted")
    evidence = clone.mesh.graph.node(drift.evidence)
    assert evidence.kind == "drift" and evidence.attrs["bears_on"] == (belief,)
    assert evidence.attrs["old"] == drift.anchor.anchor.span_hash != evidence.attrs["new"]
    assert clone.mesh.label(belief) is Label.standing


def test_the_same_drift_is_recorded_once(clone: Clone) -> None:
    clone.belief()
    clone.edit(MD5)
    clone.bridge.observe()
    events = clone.mesh.head.seq
    clone.edit(MD5 + "\n\n# a comment elsewhere\n")
    assert clone.bridge.observe()[0].change == ""
    assert clone.mesh.head.seq == events and len(drifts(clone)) == 1


def test_a_cosmetic_edit_is_no_drift(clone: Clone) -> None:
    clone.belief()
    clone.edit("# a heading\n" + ARGON.replace("    return argon2(word)", "    # why\n    return argon2( word )"))
    assert clone.bridge.observe() == () and drifts(clone) == []


def test_a_revert_withdraws_it_and_the_same_drift_comes_back_as_the_same_evidence(clone: Clone) -> None:
    clone.belief()
    clone.edit(MD5)
    first = clone.bridge.observe()[0].evidence
    clone.edit(ARGON)
    assert [d.change for d in clone.bridge.observe()] == ["withdrawn"] and drifts(clone) == []
    clone.edit(MD5)
    assert [(d.change, d.evidence) for d in clone.bridge.observe()] == [("restored", first)]
    assert drifts(clone) == [first]


def test_another_edit_takes_the_place_of_the_first(clone: Clone) -> None:
    clone.belief()
    clone.edit(MD5)
    first = clone.bridge.observe()[0].evidence
    clone.edit(SHA)
    second = clone.bridge.observe()[0].evidence
    assert first != second and drifts(clone) == [second]


def test_what_is_gone_makes_evidence_too(clone: Clone) -> None:
    clone.belief()
    clone.edit("def other():\n    return 1\n")
    assert clone.bridge.observe()[0].freshness is Freshness.missing
    assert len(drifts(clone)) == 1
    clone.edit(ARGON)
    clone.bridge.observe()
    assert drifts(clone) == []


def test_what_moved_makes_none(clone: Clone) -> None:
    clone.belief()
    clone.edit("def other():\n    return 1\n")
    clone.edit("def hash_it(word):\n    return argon2(word)\n", "src/hashing.py")
    (seen,) = clone.bridge.observe()
    assert (seen.freshness, seen.now_at) == (Freshness.moved, "sym:src/hashing.py::hash_it") and drifts(clone) == []
    clone.edit("def hash_it(word):\n    return md5(word)\n", "src/hashing.py")
    assert clone.bridge.observe()[0].freshness is Freshness.missing


def test_what_cannot_be_judged_changes_nothing(clone: Clone) -> None:
    clone.belief()
    clone.edit(MD5)
    clone.bridge.observe()
    clone.edit(f'TOKEN = "{"AKIA" + "ABCDEFGHIJKLMNOP"}"\n' + ARGON)
    assert clone.bridge.observe()[0].freshness is Freshness.gated
    assert len(drifts(clone)) == 1


@pytest.mark.parametrize("place", ["file:src/auth.py", "src/auth.py:1-2", "lines:src/auth.py:2-2", PLACE])
def test_every_kind_of_place_can_carry_a_belief(clone: Clone, place: str) -> None:
    belief = clone.belief(place=place)
    asked = clone.says("contradicts")
    clone.edit(MD5)
    clone.bridge.recheck()
    assert len(asked) == 1 and clone.mesh.label(belief) is Label.fallen
    clone.edit(ARGON)
    clone.bridge.observe()
    assert clone.mesh.label(belief) is Label.standing


def test_claims_and_decisions_are_anchored_as_assumptions_are(clone: Clone) -> None:
    decision = clone.decision("use argon2")
    with clone.mesh.writing("claimed") as writer:
        claim = writer.claim("we hash", source=writer.source("doc", origin="doc.md"))
    for id in (decision, claim):
        clone.bridge.anchor(id, PLACE)
    clone.says("contradicts")
    clone.edit(MD5)
    report = clone.bridge.recheck()
    assert {r.target for r in report.receipts} == {decision, claim}
    assert clone.mesh.label(decision) is clone.mesh.label(claim) is Label.fallen


def test_only_beliefs_are_anchored_and_only_to_code_that_is_there(clone: Clone) -> None:
    with clone.mesh.writing("observed") as writer:
        source = writer.source("doc", origin="doc.md")
    with pytest.raises(UsageError, match="not anchored"):
        clone.bridge.anchor(source, PLACE)
    belief = clone.belief()
    for place, error in (("sym:src/auth.py::nothing", NotFound), ("entity:x", UsageError), ("nothing", UsageError)):
        with pytest.raises(error):
            clone.bridge.anchor(belief, place)


def test_a_belief_and_its_drift_are_about_the_code_where_that_is_known(clone: Clone) -> None:
    with clone.mesh.writing("assumed") as writer:
        belief = writer.assume("argon2 is safe")
    code = Node(1, "ab" * 16, "symbol", "function", "hash_it", "hash_it", "src/auth.py")
    assert code.locator == str(Locator("symbol", "src/auth.py", "hash_it"))
    clone.bridge.anchor(belief, PLACE, code)
    clone.edit(MD5)
    (drift,) = clone.bridge.observe()
    about = [edge.dst for id in (belief, drift.evidence) for edge in clone.mesh.graph.out_edges(id, ("about",))]
    assert about == [code.id, code.id]


def test_a_belief_that_is_no_longer_on_record_is_not_watched(clone: Clone) -> None:
    belief = clone.belief()
    with clone.mesh.writing("superseded") as writer:
        writer.supersede(belief, writer.assume("bcrypt is safe"))
    clone.edit(MD5)
    assert clone.bridge.observe() == () and clone.bridge.pending() == ()


def test_taking_the_anchor_away_withdraws_its_drift(clone: Clone) -> None:
    belief = clone.belief()
    clone.edit(MD5)
    clone.bridge.observe()
    (anchored,) = clone.mesh.anchors(belief)
    with clone.mesh.writing("unanchored") as writer:
        writer.unanchor(anchored.id)
    clone.bridge.observe()
    assert drifts(clone) == []


def test_what_a_person_withdrew_is_not_brought_back(clone: Clone) -> None:
    clone.belief()
    clone.edit(MD5)
    evidence = clone.bridge.observe()[0].evidence
    with clone.mesh.writing("withdrawn") as writer:
        writer.retire(evidence, "withdrawn", reason="known and fine", by="person")
    assert clone.bridge.observe()[0].evidence == "" and drifts(clone) == [] and clone.bridge.pending() == ()


# judging


def test_recheck_lets_the_auditor_judge_and_shows_the_radius(clone: Clone) -> None:
    belief = clone.belief()
    hashing = clone.decision("hash with argon2", belief)
    login = clone.decision("log in with a password", hashing)
    apart = clone.decision("use postgres")
    asked = clone.says("contradicts", reason="md5 is no argon2")
    clone.edit(MD5)
    report = clone.bridge.recheck()
    (receipt,) = report.receipts
    assert (receipt.auditor, receipt.verdict, receipt.reason) == ("auditor", "contradicts", "md5 is no argon2")
    assert (receipt.target, receipt.command, len(asked)) == (belief, "", 1) and receipt.events
    assert {move.id for move in receipt.radius.falls} == {belief, hashing, login}
    assert [clone.mesh.stands(id) for id in (belief, hashing, login, apart)] == [False, False, False, True]
    assert report.open == report.failed == report.waiting == ()
    event = next(clone.log.events(receipt.events[0] - 1, 1))
    assert event.data["auditor"] == "auditor" and event.data["evidence"] == receipt.evidence


def test_after_a_revert_everything_stands_again(clone: Clone) -> None:
    belief = clone.belief()
    login = clone.decision("log in with a password", belief)
    before = {node.id: clone.mesh.label(node.id) for node in clone.mesh.graph.nodes()}
    clone.says("contradicts")
    clone.edit(MD5)
    clone.bridge.recheck()
    assert not clone.mesh.stands(login)
    clone.edit(ARGON)
    clone.bridge.observe()
    assert {id: clone.mesh.label(id) for id in before} == before
    clone.edit(MD5)
    clone.bridge.observe()
    assert not clone.mesh.stands(login)  # the judgement stands with its evidence, nobody is asked again
    assert clone.bridge.pending() == ()


def test_an_auditor_that_finds_it_holds_dismisses_the_drift(clone: Clone) -> None:
    belief = clone.belief()
    asked = clone.says("holds")
    clone.edit(MD5)
    assert clone.bridge.recheck().receipts[0].verdict == "holds"
    assert clone.mesh.label(belief) is Label.standing and clone.bridge.recheck().receipts == ()
    assert len(asked) == 1
    clone.edit(SHA)
    clone.bridge.recheck()
    assert len(asked) == 2  # other bytes, another question


def test_a_further_edit_is_no_acquittal(clone: Clone) -> None:
    belief = clone.belief()
    verdicts = {"md5": "contradicts", "sha1": "holds"}

    def auditor(request: AuditRequest) -> AuditVerdict:
        text = (clone.root / request.anchor["path"]).read_text()
        return AuditVerdict(next(verdict for word, verdict in verdicts.items() if word in text))

    clone.registry.register("auditor", auditor)
    clone.edit(MD5)
    clone.bridge.recheck()
    clone.edit(SHA)
    clone.bridge.observe()
    assert clone.mesh.label(belief) is Label.fallen and len(clone.bridge.pending()) == 1
    clone.bridge.recheck()
    assert clone.mesh.label(belief) is Label.standing and len(drifts(clone)) == 1
    clone.edit(MD5)
    clone.bridge.observe()
    assert clone.mesh.label(belief) is Label.fallen


@pytest.mark.parametrize("verdict", ["unknown", "failed"])
def test_an_auditor_that_does_not_know_or_fails_changes_nothing(clone: Clone, verdict: str) -> None:
    belief = clone.belief()
    clone.says(verdict)  # `failed` is no verdict an auditor may give
    clone.edit(MD5)
    report = clone.bridge.recheck()
    assert report.receipts == () and len(report.open) == 1 and len(report.failed) == (verdict == "failed")
    assert clone.mesh.label(belief) is Label.standing and clone.mesh.judgements(belief) == ()


def test_an_auditor_that_raises_spoils_nothing_but_its_own_answer(clone: Clone) -> None:
    beliefs = [clone.belief(), clone.belief("one is enough", "sym:src/auth.py::other")]

    def auditor(request: AuditRequest) -> AuditVerdict:
        if request.target["id"] == beliefs[0]:
            raise RuntimeError("no feed")
        return AuditVerdict("contradicts", "it is two")

    clone.registry.register("auditor", auditor)
    clone.edit(MD5.replace("return 1", "return 2"))
    report = clone.bridge.recheck()
    assert [r.target for r in report.receipts] == beliefs[1:] and "no feed" in report.failed[0].reason
    assert [clone.mesh.stands(id) for id in beliefs] == [True, False]


def test_a_contradiction_outweighs_and_one_who_fails_keeps_the_question_open(clone: Clone) -> None:
    belief = clone.belief()
    clone.says("holds", "a")
    odd = clone.says("nonsense", "b")
    clone.edit(MD5)
    report = clone.bridge.recheck()
    assert report.receipts == () and len(report.failed) == len(odd) == 1
    clone.says("contradicts", "c")
    (receipt,) = clone.bridge.recheck().receipts
    assert receipt.auditor == "c" and not clone.mesh.stands(belief)


def test_without_an_auditor_the_question_stays_open(clone: Clone) -> None:
    belief = clone.belief()
    clone.edit(MD5)
    (open_,) = clone.bridge.recheck().open
    assert (open_.pending.target, open_.why) == (belief, ("no auditor judges it",))


def test_code_that_changes_while_it_is_judged_gets_no_verdict(clone: Clone) -> None:
    belief = clone.belief()

    def auditor(_: AuditRequest) -> AuditVerdict:
        clone.edit(SHA)
        return AuditVerdict("contradicts", "md5 is broken")

    clone.registry.register("auditor", auditor)
    clone.edit(MD5)
    report = clone.bridge.recheck()
    assert report.receipts == () and "changed while" in report.open[0].why[0]
    assert clone.mesh.stands(belief)


def test_only_the_beliefs_asked_about_are_judged(clone: Clone) -> None:
    first, second = clone.belief(), clone.belief("one is enough", "sym:src/auth.py::other")
    clone.says("contradicts")
    clone.edit(MD5.replace("return 1", "return 2"))
    clone.bridge.recheck(targets=[second])
    assert [clone.mesh.stands(id) for id in (first, second)] == [True, False]


def test_evidence_that_was_submitted_against_a_belief_is_judged_too(clone: Clone) -> None:
    belief = clone.belief()
    with clone.mesh.writing("observed") as writer:
        advisory = writer.evidence("argon2 has a hole", kind="failure")
        writer.edge("contradicts", advisory, belief)
    assert clone.mesh.label(belief) is Label.contested
    clone.says("contradicts")
    (receipt,) = clone.bridge.recheck().receipts
    assert (receipt.evidence, receipt.target) == (advisory, belief) and not clone.mesh.stands(belief)
    with clone.mesh.writing("withdrawn") as writer:
        writer.retire(advisory, "withdrawn", by="person", reason="a mistake")
    assert clone.mesh.label(belief) is Label.standing


def test_the_person_judges_with_a_reason_only(clone: Clone) -> None:
    belief = clone.belief()
    clone.edit(MD5)
    evidence = clone.bridge.observe()[0].evidence
    for verdict, reason in (("contradicts", " "), ("rejected", "no"), ("dismissed", "no")):
        with pytest.raises(UsageError):
            clone.bridge.judge_as_person(evidence, belief, verdict, reason)
    assert clone.mesh.stands(belief)
    receipt = clone.bridge.judge_as_person(evidence, belief, "contradicts", "md5 is broken")
    assert receipt.auditor == "person" and not clone.mesh.stands(belief)
    (judgement,) = clone.judged(belief)
    assert (judgement.auditor, judgement.reason) == ("person", "md5 is broken")
    clone.edit(ARGON)
    clone.bridge.observe()
    with pytest.raises(UsageError, match="no longer counts"):
        clone.bridge.judge_as_person(evidence, belief, "contradicts", "still")
    assert clone.mesh.stands(belief)


def test_the_preview_is_the_effect(clone: Clone) -> None:
    belief = clone.belief()
    clone.decision("hash with argon2", belief)
    clone.edit(MD5)
    evidence = clone.bridge.observe()[0].evidence
    preview = clone.mesh.preview(lambda w: w.judge(evidence, belief, "contradicts", auditor="person", reason="x"))
    assert preview == clone.bridge.judge_as_person(evidence, belief, "contradicts", "x").radius


def test_what_was_recorded_is_read_back_the_same(clone: Clone) -> None:
    belief = clone.belief()
    clone.decision("hash with argon2", belief)
    clone.says("contradicts")
    clone.edit(MD5)
    clone.bridge.recheck()
    again = Clone(clone.root)
    labels = [{n.id: c.mesh.label(n.id) for n in c.mesh.graph.nodes()} for c in (clone, again)]
    assert labels[0] == labels[1] and again.bridge.pending() == ()
    again.close()


# the watcher


def test_a_change_makes_evidence_and_judges_at_once_only_where_that_is_wanted(clone: Clone) -> None:
    belief = clone.belief()
    clone.says("contradicts")
    clone.edit(MD5)
    report = clone.bridge.on_change(git_dir=clone.git_dir)
    assert report.recheck is None and report.drifts[0].change == "minted" and clone.mesh.stands(belief)
    report = clone.bridge.on_change(at_once=True, git_dir=clone.git_dir)
    assert report.recheck is not None and not clone.mesh.stands(belief)


def test_a_branch_switch_is_judged_once_after_it_settled(clone: Clone) -> None:
    clone.belief()
    run_git(clone.root, "switch", "-q", "-c", "topic")
    clone.edit(MD5)
    run_git(clone.root, "commit", "-qam", "md5")
    run_git(clone.root, "switch", "-q", "main")
    assert clone.bridge.on_change(git_dir=clone.git_dir).drifts == ()
    lock = clone.git_dir / "index.lock"
    lock.touch()
    clone.edit(MD5)
    assert clone.bridge.on_change(git_dir=clone.git_dir).postponed and drifts(clone) == []
    clone.edit(ARGON)
    lock.unlink()
    events = clone.mesh.head.seq
    run_git(clone.root, "switch", "-q", "topic")
    assert clone.bridge.on_change(git_dir=clone.git_dir).drifts[0].change == "minted"
    assert clone.bridge.on_change(git_dir=clone.git_dir).drifts[0].change == ""
    assert clone.mesh.head.seq == events + 1
    run_git(clone.root, "switch", "-q", "main")
    clone.bridge.on_change(git_dir=clone.git_dir)
    assert drifts(clone) == []


# worktrees


@pytest.fixture
def pair(clone: Clone) -> Iterator[tuple[Clone, Clone]]:
    """The main worktree and a linked one of the same clone, over one ledger."""
    linked = clone.root.parent / "linked"
    run_git(clone.root, "worktree", "add", "-q", "-b", "topic", str(linked))
    second = Clone(linked, clone.root / ".mog" / "ledger.db")
    yield clone, second
    second.close()


def test_drift_in_one_worktree_fells_nothing_in_another(pair: tuple[Clone, Clone]) -> None:
    main, linked = pair
    assert main.mesh.worktree == "main" and linked.mesh.worktree == "worktree:linked"
    belief = main.belief()
    login = main.decision("log in", belief)
    linked.says("contradicts")
    linked.edit(MD5)
    assert {r.target for r in linked.bridge.recheck().receipts} == {belief}
    assert [linked.mesh.stands(id) for id in (belief, login)] == [False, False]
    assert [main.mesh.label(id) for id in (belief, login)] == [Label.standing, Label.standing]
    assert main.bridge.observe() == () and main.bridge.pending() == ()
    assert not linked.mesh.stands(login)  # nor does the look of one take the evidence of the other away


def test_the_same_drift_in_two_worktrees_is_judged_in_each(pair: tuple[Clone, Clone]) -> None:
    main, linked = pair
    belief = main.belief()
    for one in pair:
        one.edit(MD5)
        one.bridge.observe()
    assert len({*drifts(main), *drifts(linked)}) == 2
    main.says("contradicts")
    main.bridge.recheck()
    assert [one.mesh.stands(belief) for one in pair] == [False, True]
    assert len(linked.bridge.pending()) == 1
    main.edit(ARGON)
    main.bridge.observe()
    assert [one.mesh.stands(belief) for one in pair] == [True, True] and len(drifts(linked)) == 1
