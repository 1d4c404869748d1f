"""Recording a proposal that might turn a dead end into an answer: the same from the panes of walks and of dead ends.

Who calls: those two panes. What may not come in: rows, the toolkit.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mog.app.tui.panes.base import Host, Prompt
from mog.app.tui.reason_asks import Known
from mog.engine.reason.mend import ANSWER, Mend

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Effect


def record(host: Host, proposal: Mend, known: Known, question: str) -> None:
    """Ask for a word, record the proposal, and ask the question again."""
    from mog.app.tui.walk_rows import mend_words

    def recorded(effect: Effect) -> None:
        if effect.events:
            host.content("walk").question(question)
            host.say(f"recorded as event {effect.events[-1]:,}; mog ledger undo {effect.events[-1]} takes it back")
        else:
            host.say("a: that was recorded already")

    def done(text: str) -> None:
        if proposal.kind == ANSWER and not text:
            host.say("a: nothing recorded, there were no words")
        elif proposal.kind != ANSWER and text not in ("", "y", "yes"):
            host.say("a: nothing recorded")
        else:
            words = text if proposal.kind == ANSWER else ""
            host.start("mend", partial(host.desk.beliefs.mend, proposal, words), recorded)

    said = mend_words(proposal, known)
    if proposal.kind == ANSWER:
        host.prompt(Prompt("what answers it:", f"in your words: {said}; esc leaves", done))
    else:
        host.prompt(Prompt(f"{said[:60]}{'…' if len(said) > 60 else ''}?", "enter records it, esc leaves", done))
