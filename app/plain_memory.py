"""What is remembered as lines a person reads.

Who calls: ``app/cli/memory.py``; later a pane's text twin. What may not come in: escape sequences, widths of a terminal,
questions to the workspace. Lines are cleaned by whoever prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mog.app.plain import Glyphs, Line, plural
from mog.app.plain_radius import marks_of, quoted, shorten
from mog.engine.memory.items import changed, provenance
from mog.engine.model import Freshness

if TYPE_CHECKING:
    from mog.engine.memory.records import Alike, Held, Note, Recalled, Remembered

_WHOSE = {"user": "", "agent": "an agent's word", "tool": "a tool's word"}


def recalled(found: Recalled, glyphs: Glyphs) -> Iterator[Line]:
    """Notes that answer, best first, and what is not shown."""
    for one in found.notes:
        yield from note(one, glyphs)
    left = [f"{found.total - len(found.notes):,} more"] if found.total > len(found.notes) else []
    left += [f"{found.hidden:,} that no longer count: --gone shows them"] if found.hidden else []
    if left:
        yield (("not shown: " + "; ".join(left), "muted"),)
    elif not found.notes:
        yield (("nothing is remembered that answers", "muted"),)


def remembered(done: Remembered, glyphs: Glyphs) -> Iterator[Line]:
    """What a call that writes did: the note, what resembles it, warnings, what fell."""
    yield from note(done.note, glyphs)
    for one in done.alike:
        yield from _alike(one, glyphs)
    for warning in done.warnings:
        yield (("  note: " + warning, "attn"),)
    fell = [id for id in done.radius.falls.ids() if id not in (done.note.id, done.note.replaces)]
    if fell:
        yield ((f"  {plural(len(fell), 'record')} fell with it: {', '.join(map(shorten, fell[:8]))}", "attn"),)


def note(found: Note, glyphs: Glyphs) -> Iterator[Line]:
    """One note: its words, who said it and when, the code it is about and what became of that."""
    marks = marks_of(glyphs)
    first, *rest = found.text.splitlines() or [""]
    mark = marks.standing[found.standing.value]
    yield (found.kind, "chip"), (f" {mark} ", "state"), (first, "name"), (f"  {shorten(found.id)}", "muted")
    for line in rest:
        yield (("    " + line, "name"),)
    if found.because:
        yield (("  because ", "muted"), (found.because, ""))
    yield (("  " + " · ".join(_told(found)), "muted"), *_standing(found))
    for held in found.anchors:
        yield _anchor(held, glyphs)


def _told(found: Note) -> list[str]:
    whose = [_WHOSE[found.origin]] if _WHOSE[found.origin] else []
    proposed = ["a proposal: `mog promote` makes it yours"] if found.proposed and not found.gone else []
    return [f"said by {found.by}", *whose, *proposed, *(["pinned"] if found.pinned else []), provenance(found)]


def _standing(found: Note) -> Line:
    if found.gone:
        by = f" by {shorten(found.replaced_by)}" if found.replaced_by else ""
        return ((f"  {found.gone}{by}{': ' + found.why if found.why else ''}", "attn"),)
    if found.contradicted_by:
        return (("  contested by " + ", ".join(map(shorten, found.contradicted_by)), "attn"),)
    return () if found.standing == "standing" else ((f"  {found.standing.value}", "attn"),)


def _anchor(held: Held, glyphs: Glyphs) -> Line:
    if held.freshness is Freshness.fresh:
        return ((f"  about {held.locator}", "muted"),)
    subject = f" {quoted(held.changed.subject, marks_of(glyphs))}" if held.changed and held.changed.subject else ""
    mark = glyphs.states[held.freshness.value]
    return (f"  about {held.locator}  ", "muted"), (f"{mark} {changed(held)}", "state"), (subject, "muted")


def _alike(one: Alike, glyphs: Glyphs) -> Iterator[Line]:
    said = "seems to say the opposite" if one.against else "says nearly the same"
    words = (one.note.text.splitlines() or [""])[0]
    yield (f"  {said} ({one.share:.0%} of the words): ", "attn"), (words, ""), (f"  {shorten(one.note.id)}", "muted")
