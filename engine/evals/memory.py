"""Suite ``memory``: is what was said found again? Recall of the turns that answer questions about long conversations.

Who calls: ``mog eval run memory``. What may not come in: the data, which is not ours to pass on; a model that answers.

``--tasks`` takes ``locomo10.json`` of LoCoMo (Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents",
ACL 2024; CC BY-NC 4.0). Without it a set is made up, which shows that the suite works and nothing about memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from mog.engine.errors import UsageError
from mog.engine.evals import stats
from mog.engine.evals.suites import Column, Gate, Options, Row, SuiteResult, Table, Telling
from mog.engine.memory import wording
from mog.engine.memory.limits import NOTES, NoteWeights
from mog.engine.model import Progress

CUTS = (5, 10, 25, 50)
MAX_BYTES = 64 << 20
COLUMNS = tuple(Column(str(cut), f"recall@{cut}", "%") for cut in CUTS)
METHODS: Mapping[str, NoteWeights] = {
    "words and neighbours (mog)": NOTES,
    "words alone": replace(NOTES, near=0.0),
}
PUBLISHED = "DRAGON, a dense retriever, published in the LoCoMo paper: 56.7, 66.2, 76.7, 82.7 at the same cuts."
LIMITS = (
    "The share that neighbours get (0.25) was taken over from an earlier measurement on the same data; no other value was tried.",
    "Only words and neighbours are measured: age, pins and staleness, which a search of notes weighs too, say nothing here.",
    "Conversations are not notes about code: a note is longer, rarer, and tied to a place by which it is found as well.",
)
_WAY_OUT = "--tasks locomo10.json, from the repository snap-research/LoCoMo"


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns as (id, session, text) in the order they were said; questions with the ids of the turns that answer them."""

    turns: tuple[tuple[str, str, str], ...]
    questions: tuple[tuple[str, frozenset[str]], ...]


def run(options: Options, progress: Telling | None = None) -> SuiteResult:
    """Run the suite. ``options.limit``: conversations at most. Raises UsageError: the file is not what it should be."""
    found = list(read(options.tasks) if options.tasks else made(options.seed))
    found = found[: options.limit or None]
    scores: dict[str, dict[int, list[float]]] = {name: {cut: [] for cut in CUTS} for name in METHODS}
    for number, conversation in enumerate(found):
        if progress is not None:
            progress(Progress("asking", number, len(found)))
        for name, weights in METHODS.items():
            for shares in recalls(conversation, weights):
                for cut, share in zip(CUTS, shares, strict=True):
                    scores[name][cut].append(share)
    return _result(scores, found, options)


def recalls(conversation: Conversation, weights: NoteWeights) -> Iterator[tuple[float, ...]]:
    """Of each question the share of its turns among the first 5, 10, 25 and 50 found."""
    said = [wording.said(id, at, session, text) for at, (id, session, text) in enumerate(conversation.turns)]
    index, place = wording.Index(said, weights), {one.id: one.seq for one in said}
    for question, wanted in conversation.questions:
        scores = index.scores(question)
        order = sorted(scores, key=lambda id: (-scores[id].words - scores[id].near, -place[id]))
        yield tuple(len(wanted.intersection(order[:cut])) / len(wanted) for cut in CUTS)


def read(path: Path) -> Iterator[Conversation]:
    """Conversations of a LoCoMo file; questions whose turns are not there are left out. Raises UsageError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError("the file is too large", where=path.name, way_out=_WAY_OUT)
        rows = json.loads(path.read_bytes())
        yield from [_conversation(row) for row in rows]
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", where=path.name, way_out=_WAY_OUT) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError("the file is no LoCoMo data", where=path.name, way_out=_WAY_OUT) from error


def _conversation(row: Mapping[str, Any]) -> Conversation:
    sessions = row["conversation"]
    names = sorted((name for name in sessions if name.startswith("session_") and name[8:].isdigit()), key=lambda n: int(n[8:]))
    turns = tuple((turn["dia_id"], name, _spoken(turn)) for name in names for turn in sessions[name])
    known = {id for id, _, _ in turns}
    asked = ((str(one["question"]), frozenset(one["evidence"]) & known) for one in row["qa"])
    return Conversation(turns, tuple((question, wanted) for question, wanted in asked if wanted))


def _spoken(turn: Mapping[str, Any]) -> str:
    return f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption', '')}".rstrip()


def made(seed: int) -> Iterator[Conversation]:
    """Made-up conversations: somebody asks about a thing by name, and the answer that follows does not name it."""
    things = "cache queue parser gateway ledger printer index router scheduler importer mailer crawler".split()
    acts = "slow broken flaky noisy stuck late wrong empty".split()
    remedies = "raised limit|bigger batch|another thread|older release|shorter timeout|second retry|smaller page".split("|")
    for number in range(3):
        random = Random(f"{seed} {number}")
        turns: list[tuple[str, str, str]] = []
        questions: list[tuple[str, frozenset[str]]] = []
        for session in range(12):
            for thing in random.sample(things, 4):
                act, remedy, code = random.choice(acts), random.choice(remedies), random.randint(100, 999)
                at = len(turns)
                turns += [
                    (f"{at}", f"s{session}", f"The {thing} was {act} again, case {code}. What did you do?"),
                    (f"{at + 1}", f"s{session}", f"It took a {remedy}, and since then all is well."),
                    (f"{at + 2}", f"s{session}", f"Good. Lunch at {random.randint(11, 14)}?"),
                ]
                questions.append((f"What helped when the {thing} was {act} in case {code}?", frozenset((f"{at + 1}",))))
        yield Conversation(tuple(turns), tuple(questions))


def _result(scores: Mapping[str, Mapping[int, Sequence[float]]], found: Sequence[Conversation], options: Options) -> SuiteResult:
    rows = tuple(
        Row(name, {str(cut): stats.mean_interval(shares, options.seed, scale=100.0) for cut, shares in cuts.items()})
        for name, cuts in scores.items()
    )
    with_near, without = (scores[name][10] for name in METHODS)
    gain = stats.paired(with_near, without, options.seed, scale=100.0)
    shown = f"{gain.value:+.1f} [{gain.low or 0:.1f}, {gain.high or 0:.1f}]"
    real = options.tasks is not None
    about = (
        "Every turn of a conversation is a note; each question asks for the turns that answer it. No model, no vectors."
        if real
        else "A made-up set in which the answer follows the turn that names the thing: it shows the mechanism and nothing else."
    )
    return SuiteResult(
        "memory", "Finding what was said", about,
        (Table("Recall of the turns that answer", COLUMNS, rows, PUBLISHED if real else "Made up."),),
        (Gate("what was said beside an answer helps to find it (recall@10, points)", "> 0", shown, (gain.low or 0) > 0),),
        LIMITS if real else (),
        {"data": "LoCoMo, 10 conversations" if real else "made up", "conversations": str(len(found)),
         "turns": str(sum(len(one.turns) for one in found)), "questions": str(sum(len(one.questions) for one in found)),
         "seed": str(options.seed)},
    )  # fmt: skip
