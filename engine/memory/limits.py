"""What may be remembered, by whom, as which record, and how large; and every weight of finding it again.

Who calls: ``writing`` before anything is recorded, ``ranking``, surfaces for their help. What may not come in: the ledger, the
disk. A kind is what a note is called by those who say it; which type and kind of GRAPH.md it becomes is decided here alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mog.engine.errors import PolicyDenied, UsageError

MAX_TEXT_BYTES = 16_000
MAX_ANCHORS = 16
MAX_NAME_BYTES = 200  # of a key, a session, a speaker
USER, AGENT, TOOL = "user", "agent", "tool"
ORIGINS = (USER, AGENT, TOOL)


class Form(NamedTuple):
    """Type and kind of a record, as GRAPH.md names them."""

    type: str
    kind: str


KINDS = {
    "decision": Form("decision", "decision"),
    "failure": Form("evidence", "failure"),
    "constraint": Form("assumption", "constraint"),
    "convention": Form("claim", "convention"),
    "correction": Form("evidence", "correction"),
    "task": Form("claim", "task"),
    "episode": Form("source", "episode"),
    "risk": Form("claim", "risk"),
    "observation": Form("evidence", "observation"),
    "fact": Form("claim", "statement"),
}
"""What a person's note of each kind becomes (DESIGN §5)."""

PROPOSAL = Form("claim", "proposal")
USER_ONLY = frozenset({"constraint", "convention", "correction"})
_OF_AGENTS = {"failure": Form("evidence", "failure"), "observation": Form("evidence", "observation")}
# what an agent did is something it reports, not a source that others may rest on
_OF_AGENTS["episode"] = _OF_AGENTS["observation"]


@dataclass(frozen=True, slots=True)
class NoteWeights:
    """Finding notes again.

    Attributes:
        k1, b: of BM25 over the words of notes. place: what a word of an anchor's path or name counts beside one of the text.
        near: share of a note's score that the notes said just before and just after it in one conversation get. It is worth 6
            points of recall@10 on LoCoMo (reference/retrieval.md; docs/results/memory.md).
        pinned, stale: what the score is multiplied with when a note is pinned, or when the code under it drifted or is gone.
        here: what a note gains that is anchored to code the question is about, in parts of the best score by words.
        oldest: what is left of the score of the oldest note; half: notes said since, after which half of the loss is reached.
    """

    k1: float = 1.2
    b: float = 0.75
    place: float = 0.5
    near: float = 0.25
    pinned: float = 1.25
    stale: float = 0.8
    here: float = 0.5
    oldest: float = 0.85
    half: int = 200


NOTES = NoteWeights()


def form_of(kind: str, origin: str) -> Form:
    """Type and kind of the record that a note becomes.

    Raises:
        UsageError: no such kind or origin. PolicyDenied: a kind that needs a person's hand.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no kind of note {kind!r:.60}", where="remember", way_out="one of: " + ", ".join(KINDS))
    if origin not in ORIGINS:
        raise UsageError(f"there is no origin {origin!r:.60}", where="remember", way_out="one of: " + ", ".join(ORIGINS))
    if origin == USER:
        return KINDS[kind]
    if kind in USER_ONLY:
        what = f"a {kind} needs a person's hand"
        way_out = f"remember it as a decision or fact; a person then runs `mog promote ID --as {kind}`"
        raise PolicyDenied(what, where=f"remember {kind}", way_out=way_out)
    return _OF_AGENTS.get(kind, PROPOSAL)


def check_text(text: str) -> None:
    """Raise UsageError unless ``text`` is valid Unicode, says something, and has at most 16,000 bytes of UTF-8."""
    size = _size(text, "the note")
    if not text.strip():
        raise UsageError("an empty note", where="remember", way_out="say what should be remembered")
    if size > MAX_TEXT_BYTES:
        way_out = "shorten it, or keep the long text in a file and remember what it says"
        raise UsageError(f"the note has {size:,} bytes, {MAX_TEXT_BYTES:,} is the limit", where="remember", way_out=way_out)


def check_name(text: str, what: str) -> None:
    """Raise UsageError when a key, session or speaker is not one line of printable text of at most 200 bytes."""
    size = _size(text, f"the {what}")
    if not text.isprintable():
        raise UsageError(f"the {what} holds a control character", where="remember", way_out="write it in plain characters")
    if size > MAX_NAME_BYTES:
        raise UsageError(f"the {what} has {size:,} bytes, {MAX_NAME_BYTES} is the limit", way_out="use a shorter one")


def _size(text: str, what: str) -> int:
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not valid Unicode", way_out="write it again in UTF-8") from error


def person_only(origin: str, act: str) -> None:
    """Raise PolicyDenied unless a person asks."""
    if origin != USER:
        raise PolicyDenied(f"only a person may {act}", where=act, way_out="ask the person at the keyboard")
