"""Drills as Markdown cards, to print or paste into a note.

Who calls: ``app/cli/drill.py`` and the drill screen. What may not come in: asking the workspace, writing to a stream. Text of
the store is cleaned, and nothing in it is markup: a record is written by strangers, a card is rendered elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mog.app.plain_drill_words import because, letter, plain_repair
from mog.app.present import clean

if TYPE_CHECKING:
    from mog.engine.drills.records import Drill, Named, Played, Revealed
    from mog.engine.drills.repair import Suggestion

CARD_TEXT = 400
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~:@-])|(www)\.")


def card(drill: Drill, *, answers: bool) -> Iterator[str]:
    """A drill to print or paste: what is asked with boxes to tick, and, folded in behind, the answers."""
    yield f"## Suppose this turns out false: {_words(drill.node.text)}"
    yield ""
    yield "; ".join(_words(reason.text) for reason in drill.choice.reasons) + "."
    yield _counted(drill)
    yield from ("", "| record | falls | weakens | survives |", "|---|:-:|:-:|:-:|")
    yield from (f"| {_chip(one.node)} | ☐ | ☐ | ☐ |" for one in drill.questions)
    yield ""
    if answers:
        yield from ("| record | it | step | because |", "|---|---|--:|---|")
        for one, truth in zip(drill.questions, drill.truths, strict=True):
            yield f"| {_chip(one.node)} | {truth.outcome} | {truth.hop} | {_words(because(truth.why))} |"
        yield ""


def played_card(found: Played) -> Iterator[str]:
    """A drill of the history as Markdown."""
    yield f"## {_words(found.text)}"
    yield from (
        "",
        f"{_words(found.at[:10])}, score {found.score:.0f}, {len(found.rows)} of {found.dependants:,} dependants",
        "",
    )
    yield from ("| record | you | it | |", "|---|---|---|---|")
    for one in found.rows:
        mark = "" if one.right else "missed"
        yield f"| {_words(one.text[:CARD_TEXT])} | {one.said or 'blank'} | {one.truth} | {mark} |"
    yield ""


def revealed_card(done: Revealed, suggestion: Suggestion | None = None) -> Iterator[str]:
    """A drill that was just played as Markdown."""
    yield f"## {_words(done.drill.node.text)}"
    yield from ("", f"Score {done.score.rounded}. {_counted(done.drill)}", "")
    yield from ("| record | you | it | step | because |", "|---|---|---|--:|---|")
    for row in done.rows:
        peeked = " (peeked)" if row.peeked else ""
        said = f"{row.said or 'blank'}{peeked}" if row.right else f"**{row.said or 'blank'}**{peeked}"
        truth = row.truth
        yield f"| {_chip(row.question.node)} | {said} | {truth.outcome} | {truth.hop} | {_words(because(truth.why))} |"
    yield ""
    if suggestion is not None:
        yield from (f"Repair: {_words(plain_repair(suggestion))}", "")


def _counted(drill: Drill) -> str:
    asked_, every = len(drill.questions), drill.counts.dependants
    return (
        f"{asked_:,} of {every:,} dependants are asked about."
        if drill.sampled
        else f"All {every:,} dependants are asked about."
    )


def _chip(found: Named) -> str:
    return f"{_words(letter(found))} {_words(found.text[:CARD_TEXT])}"


def _words(text: str) -> str:
    """Strangers' text inside Markdown: cleaned, and with no character that Markdown or HTML would obey."""
    safe = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(lambda found: f"\\{found.group(1)}" if found.group(1) else "www\\.", safe)
