"""``mog remember``, ``recall``, ``forget``, ``promote``: what people and agents want kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.options import COMMON, Common, Limit, Reason
from mog.app.present import meant, restore
from mog.engine.errors import NotFound, UsageError

if TYPE_CHECKING:
    from mog.engine.memory.notes import Notes
    from mog.engine.memory.records import Recalled, Remembered

Kind = Literal[
    "decision", "failure", "constraint", "convention", "correction", "task", "episode", "risk", "observation", "fact"
]
Origin = Annotated[Literal["user", "agent", "tool"], Parameter(help="Who says it; a program says agent or tool.")]
By = Annotated[str, Parameter(show_default=False, help="Name of the agent or tool.")]
Words = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Told = Annotated[str, Parameter(help="The note: note:ID, an id, its beginning, or its words.")]
_ID = re.compile(r"note:\S+|[0-9a-f]{8,32}")


def remember(
    kind: Annotated[Kind, Parameter(help="What sort of thing it is.")],
    text: Annotated[str, Parameter(help="What should be remembered, at most 16,000 bytes.")],
    /,
    *,
    anchor: Annotated[
        Words, Parameter(help="Code it is about: name, path, path::name, path:10-20; may be repeated.")
    ] = (),
    because: Annotated[str, Parameter(help="Why; of a decision its reason.")] = "",
    replaces: Annotated[str, Parameter(show_default=False, help="The note in whose place it comes.")] = "",
    contradicts: Annotated[Words, Parameter(help="Records it speaks against.")] = (),
    key: Annotated[str, Parameter(show_default=False, help="A name of its own: the same key is recorded once.")] = "",
    reason: Reason = "",
    rest: Annotated[
        Literal["", "move", "drop"],
        Parameter(name="--all", show_default=False, help="With --replaces: what becomes of what rests on the old note."),
    ] = "",
    origin: Origin = "user",
    by: By = "",
    common: Common = COMMON,
) -> int:
    """Keep a decision, failure, constraint, convention, correction, task, episode, risk, observation or fact."""
    if replaces and (key or contradicts):
        raise UsageError("--replaces goes with neither --key nor --contradicts", way_out="remember first, then replace")
    places = tuple(map(restore, anchor))
    with _memory(common) as notes:
        if replaces:
            done = notes.supersede(
                replaces, text, kind=kind, reason=reason, because=because, anchors=places or None, everything=rest,
                origin=origin, by=by,
            )  # fmt: skip
        else:
            done = notes.remember(
                kind, text, anchors=places, because=because, key=key, contradicts=contradicts, origin=origin, by=by
            )
        _show(done, common)
    return exit_codes.OK


def recall(
    words: Annotated[
        tuple[str, ...], Parameter(help="Words to look for, or one note by note:ID or id; none lists the newest.")
    ] = (),
    /,
    *,
    kind: Annotated[tuple[Kind, ...], Parameter(negative="", show_default=False, help="Only these kinds.")] = (),
    gone: Annotated[
        bool, Parameter(negative="", show_default=False, help="Also what was replaced, taken back or has fallen.")
    ] = False,
    limit: Limit = 10,
    common: Common = COMMON,
) -> int:
    """Find what was remembered: each note with its standing, who said it, and what became of the code it is about."""
    with _memory(common) as notes:
        found = _found(notes, " ".join(words), kind, gone, limit)
    if common.json:
        from mog.app import present_memory

        output.document(present_memory.recalled(found))
    else:
        from mog.app import plain_memory

        beliefs.folded(plain_memory.recalled(found, output.glyphs()), common)
    return exit_codes.OK if found.notes else exit_codes.NOTHING


def forget(note: Told, /, *, reason: Reason = "", origin: Origin = "user", by: By = "", common: Common = COMMON) -> int:
    """Take a note back. It stays in the history, with the reason, and is not served any more."""
    if not reason.strip():
        raise UsageError("a reason is missing", where="--reason", way_out="mog forget NOTE --reason TEXT")
    with _memory(common) as notes:
        _show(meant(lambda target: notes.forget(target, reason=reason, origin=origin, by=by), note), common)
    return exit_codes.OK


def promote(
    note: Told,
    /,
    *,
    kind: Annotated[
        Kind | None, Parameter(name="--as", show_default=False, help="As this kind (default: what it was said to be).")
    ] = None,
    common: Common = COMMON,
) -> int:
    """Make yours what an agent said. The proposal gives way to a record in your name."""
    with _memory(common) as notes:
        _show(meant(lambda target: notes.promote(target, kind=kind or ""), note), common)
    return exit_codes.OK


@contextmanager
def _memory(common: Common) -> Iterator[Notes]:
    """The memory of the workspace."""
    with door.opened(common) as workspace:
        yield workspace.memory


def _found(notes: Notes, words: str, kinds: tuple[str, ...], gone: bool, limit: int) -> Recalled:
    from mog.engine.memory.records import Recalled

    if _ID.fullmatch(words):
        try:
            return Recalled("", (notes.recall(words),), 1, 0)
        except NotFound:
            if words.startswith("note:"):
                raise
    if words:
        return notes.search(restore(words), limit=limit, kinds=kinds, gone=gone)
    return notes.newest(limit=limit, kinds=kinds, gone=gone)


def _show(done: Remembered, common: Common) -> None:
    if common.json:
        from mog.app import present_memory

        output.document(present_memory.remembered(done))
    elif not common.quiet:
        from mog.app import plain_memory

        beliefs.folded(plain_memory.remembered(done, output.glyphs()), common)
