"""What might turn a dead end into an answer is proposed, recorded when somebody says so, and taken back like any event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mog.engine.beliefs import Beliefs
from mog.engine.errors import PolicyDenied, UsageError
from mog.engine.reason import mend
from mog.engine.reason.dead_ends import Reason
from mog.engine.reason.mend import Mend
from mog.engine.workspace import Workspace

CRANE = "How high is the Harbour Crane?"
TALL = "The crane is forty metres high above the harbour."


@pytest.fixture
def beliefs(tmp_path: Path) -> Iterator[Beliefs]:
    Workspace.init(tmp_path)
    with Workspace.open(tmp_path) as workspace:
        workspace.beliefs.mesh.apply("made", lambda w: w.entity("Harbour Crane"))
        yield workspace.beliefs


def test_nothing_is_missing_where_there_is_an_answer(beliefs: Beliefs) -> None:
    claim = beliefs.claim(TALL).result
    crane = beliefs.find("Harbour Crane")
    beliefs.mesh.apply("linked", lambda w: w.edge("mentions", claim, crane))
    walk = beliefs.ask(CRANE)
    assert walk.resolved and beliefs.missing(walk) == ()


def test_an_edge_is_proposed_from_a_claim_that_shares_words_and_makes_the_answer(beliefs: Beliefs) -> None:
    claim = beliefs.claim(TALL).result
    walk = beliefs.ask(CRANE)
    assert walk.dead_end is Reason.no_typed_edge
    first, *_, last = beliefs.missing(walk)
    assert first == Mend(mend.EDGE, beliefs.find("Harbour Crane"), source=claim, edge="mentions")
    assert last.kind == mend.ANSWER and last.target == first.target
    effect = beliefs.mend(first)
    assert beliefs.ask(CRANE).answer_id == claim
    beliefs.undo(effect.events[0])
    assert beliefs.ask(CRANE).dead_end is Reason.no_typed_edge


def test_an_edge_that_is_there_is_not_proposed_again(beliefs: Beliefs) -> None:
    claim, crane = beliefs.claim("Nobody may stand below the crane.").result, beliefs.find("Harbour Crane")
    beliefs.mesh.apply("linked", lambda w: w.edge("mentions", claim, crane))
    walk = beliefs.ask("Which colour has the Harbour Crane?")
    assert walk.dead_end is Reason.wrong_node_type
    assert [one.kind for one in beliefs.missing(walk)] == [mend.ANSWER]


def test_a_near_name_is_proposed_as_an_alias(beliefs: Beliefs) -> None:
    walk = beliefs.ask("How high is the Harbor Crane Tower?")
    kinds = {one.kind: one for one in beliefs.missing(walk)}
    assert walk.dead_end is Reason.entity_unresolved and kinds[mend.ALIAS].target == beliefs.find("Harbour Crane")
    beliefs.mend(kinds[mend.ALIAS])
    again = beliefs.ask("How high is the Harbor Crane Tower?")
    assert again.dead_end is Reason.no_typed_edge and again.seeds[0].node == beliefs.find("Harbour Crane")


def test_what_was_retracted_is_proposed_to_count_again(beliefs: Beliefs) -> None:
    claim, crane = beliefs.claim(TALL).result, beliefs.find("Harbour Crane")
    beliefs.mesh.apply("linked", lambda w: w.edge("mentions", claim, crane))
    beliefs.retract(claim, reason="not measured")
    walk = beliefs.ask(CRANE)
    assert walk.dead_end is Reason.pruned_too_early
    first = beliefs.missing(walk)[0]
    assert first == Mend(mend.RESTORE, claim)
    beliefs.mend(first)
    assert beliefs.ask(CRANE).answer_id == claim


def test_words_become_a_claim_of_whoever_is_asked(beliefs: Beliefs) -> None:
    walk = beliefs.ask(CRANE)
    answer = beliefs.missing(walk)[-1]
    with pytest.raises(UsageError, match="needs words"):
        beliefs.mend(answer, "  ")
    with pytest.raises(PolicyDenied):
        beliefs.mend(answer, "the token is ghp_" + "FAKE" * 9)
    assert beliefs.ask(CRANE).dead_end is not None
    beliefs.mend(answer, "It is forty metres high.")
    assert beliefs.ask(CRANE).answer == "It is forty metres high."


def test_an_answer_to_an_unknown_name_makes_the_name_known(beliefs: Beliefs) -> None:
    question = "Who feeds the Lighthouse Cat?"
    answer = beliefs.missing(beliefs.ask(question))[-1]
    assert (answer.target, answer.name) == ("", "Lighthouse Cat")
    beliefs.mend(answer, "The keeper feeds the Lighthouse Cat.")
    walk = beliefs.ask(question)
    assert walk.resolved and walk.seeds[0].label == "Lighthouse Cat"


def test_a_look_counts_nothing_and_keeps_nothing(beliefs: Beliefs) -> None:
    walk = beliefs.walker.look(CRANE)
    assert walk.dead_end is Reason.no_typed_edge and walk.budget == 260
    assert not beliefs.walker.walks and not any(beliefs.walker.dead_ends.counts().values())
    with pytest.raises(UsageError):
        beliefs.walker.look(" ")
