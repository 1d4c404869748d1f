"""Lines of a change: what falls, weakens, rises and stays, each with one line of why; and how a record is named in a line.

Who calls: ``plain_beliefs``. What may not come in: escape sequences, widths of a terminal, questions to the workspace. Text
is not cleaned here; ``plain_beliefs.as_lines`` cleans every line once.

A preview and an effect are told by the same lines; only their head says which of the two it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mog.app.plain import UNICODE, Glyphs, Line
from mog.app.present_beliefs import Change, Names
from mog.engine.reason.minimal import Strength
from mog.engine.reason.moves import Move
from mog.engine.reason.radius import Radius
from mog.engine.reason.records import GraphNode, Label

LETTERS = {"entity": "E", "claim": "C", "source": "S", "decision": "D", "assumption": "A", "evidence": "V"}
BRIEF = 60
SHOWN_DIGITS = 10
CHAIN = 4
SETS = 8
_UID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks of one character set for standing, freshness, direction and quotes."""

    standing: Mapping[str, str]
    states: Mapping[str, str]
    on: str
    back: str
    quote: tuple[str, str]
    ellipsis: str
    focus: str


_STANDING = {"standing": "●", "weakened": "▼", "fallen": "×", "contested": "≠", "unverified": "?", "": "·"}
_ASCII_STANDING = {"standing": "*", "weakened": "-", "fallen": "x", "contested": "!", "unverified": "?", "": "."}


def marks_of(glyphs: Glyphs) -> Marks:
    """The marks that go with a set of glyphs."""
    standing = _STANDING if glyphs is UNICODE else _ASCII_STANDING
    bar = glyphs.tiers["certain"]
    back, on = f"{glyphs.into}{bar}", f"{bar}{glyphs.out}"
    return Marks(standing, glyphs.states, on, back, glyphs.quote, glyphs.ellipsis, glyphs.focus)


# -- a record in a line


def shorten(id: str) -> str:
    """The first digits of an id, enough to type; an id that came from elsewhere in full."""
    return id[:SHOWN_DIGITS] if _UID.fullmatch(id) else id


def quoted(text: str, marks: Marks) -> str:
    """Words of somebody, in quotes."""
    return f"{marks.quote[0]}{text}{marks.quote[1]}"


def cut(text: str, marks: Marks, width: int = BRIEF) -> str:
    """The beginning of a text."""
    return text if len(text) <= width else text[: width - len(marks.ellipsis)].rstrip() + marks.ellipsis


def named(node: GraphNode, label: Label | None, marks: Marks, *, brief: bool = False) -> Line:
    """``(A) ● words  4f2a19c0de``; ``brief`` cuts long words."""
    letter = LETTERS.get(node.type, node.type[:1].upper())
    mark = f"{marks.standing[label.value if label else '']} " if label else ""
    words = cut(node.label, marks) if brief else node.label
    word = f"  {label.value}" if label and label not in (Label.standing, Label.fallen) else ""
    return (
        (f"({letter}) ", "chip"), (mark, "state"), (words, "name"), (word, "state"), (f"  {shorten(node.id)}", "muted"),
    )  # fmt: skip


def spoken(id: str, names: Names, marks: Marks, words: str = "") -> Line:
    """A record of which only the id is known; ``words`` where even the record is gone."""
    node = names.node(id)
    if node is None:
        return ((words or "evidence given with this", "name"),)
    return named(node, names.label(id), marks)


def called(id: str, names: Names, marks: Marks) -> str:
    """A record inside a sentence: chip and the beginning of its words."""
    node = names.node(id)
    if node is None:
        return "the evidence"
    letter = LETTERS.get(node.type, node.type[:1].upper())
    return f"({letter}) {cut(node.label, marks)}"


def _ground(conclusion: str, id: str, names: Names, marks: Marks) -> str:
    """A ground in a sentence: its note, or its premises."""
    found = names.ground(conclusion, id)
    if found is None:
        return "a ground that was taken away"
    held = " and ".join(called(one, names, marks) for one in found.all_of) or "no premise"
    unless = " or ".join(called(one, names, marks) for one in found.none_of)
    note = f" {quoted(found.note, marks)}" if found.note else ""
    return held + (f", unless {unless}" if unless else "") + note


def strength(found: Strength, marks: Marks, names: Names) -> list[Line]:
    """What it takes to fell a record: one of these, or both of those."""
    if not found.stands:
        return []
    if found.needs == 0:
        return [(("  nothing that could be lost holds it up", "muted"),)]
    if found.needs == 3:
        return [(("  no one loss and no two fell it", "muted"),)]
    lines: list[Line] = []
    ones = [id for id in found.ones if id != found.node]
    if ones:
        lines.append((("  falls with any one of", "muted"),))
        lines += [(("    ", ""), (called(id, names, marks), "")) for id in ones[:SETS]]
    if found.pairs:
        lines.append((("  falls with two of these together", "muted"),))
        lines += [
            (("    ", ""), (" and ".join(called(id, names, marks) for id in pair), "")) for pair in found.pairs[:SETS]
        ]
    left = max(0, len(ones) - SETS) + max(0, len(found.pairs) - SETS)
    return lines + ([((f"    {left:,} more: --json", "muted"),)] if left else [])


# -- the change


def change(change: Change, marks: Marks, names: Names) -> list[Line]:
    """A preview or an effect: head, counts, and each moved node with its reason."""
    radius = change.radius
    moved = any((radius.falls, radius.weakens, radius.rises))
    lines = _head(change, marks, names)
    if moved or change.target or not change.written:
        lines += _counts(radius, marks)
    lines += _moves("falls", radius.falls, radius, change.limit, Label.fallen, marks, names)
    lines += _weakenings(change, marks, names)
    lines += _moves("stands again", radius.rises, radius, change.limit, Label.standing, marks, names)
    if change.strength is not None:
        lines += strength(change.strength, marks, names)
    return [*lines, *_preserved(change, marks, names)]


def _head(change: Change, marks: Marks, names: Names) -> list[Line]:
    lines: list[Line] = []
    if change.target:
        lines.append(((f"{marks.focus} ", "name"), *spoken(change.target, names, marks)))
    elif change.result and names.node(change.result) is not None:
        lines.append(spoken(change.result, names, marks))
    if not change.written:
        said = "preview: nothing was written"
    elif change.events:
        said = f"recorded as event {', '.join(str(seq) for seq in change.events)}"
    else:
        said = "it was recorded before; nothing changed"
    return [*lines, ((f"  {said}", "muted"),)]


def _counts(radius: Radius, marks: Marks) -> list[Line]:
    stays = radius.preserved_count - len(radius.weakens)
    counts = [("fallen", len(radius.falls), "fall" + "s" * (len(radius.falls) == 1))]
    counts += [("weakened", len(radius.weakens), "weaken" + "s" * (len(radius.weakens) == 1))]
    counts += [("standing", len(radius.rises), "stand" + "s" * (len(radius.rises) == 1) + " again")]
    parts = "   ".join(f"{marks.standing[key]} {count:,} {word}" for key, count, word in counts if count)
    if not parts:
        return [((f"  nothing falls, {stays:,} untouched", ""),)]
    hops = "   ".join(f"hop {hop}: {count:,}" for hop, count in radius.counts)
    line: Line = ((f"  {parts}", "name"), (f"   {stays:,} untouched", "muted"))
    return [line, *([((f"  {hops}", "muted"),)] if len(radius.counts) > 1 else [])]


def _moves(
    word: str, moves: Sequence[Move], radius: Radius, limit: int, label: Label, marks: Marks, names: Names
) -> list[Line]:
    if not moves:
        return []
    lines: list[Line] = [((f"{word} {len(moves):,}", "name"),)]
    for move in moves[:limit]:
        node = names.node(move.id)
        row = named(node, label, marks) if node else ((move.id, "name"),)
        lines.append((("  ", ""), *row))
        lines.append(((f"      {_why(move, radius, marks, names)}", "muted"),))
    return lines + _more(len(moves), limit)


def _why(move: Move, radius: Radius, marks: Marks, names: Names) -> str:
    """One line: where it began and how it came here."""
    if move.hop == 0:
        return _began(move, label_of(move, radius), names, marks)
    steps = [step.id for step in radius.chain(move.id)][:-1]
    shown = [called(id, names, marks) for id in steps]
    if len(shown) > CHAIN:
        shown = [shown[0], f"{len(shown) - 2} more", shown[-1]]
    return f"hop {move.hop}: " + f" {marks.on} ".join(shown)


def label_of(move: Move, radius: Radius) -> Label:
    """Whether a moved node fell or rose."""
    return Label.fallen if radius.falls.find(move.id) is not None else Label.standing


def _began(move: Move, label: Label, names: Names, marks: Marks) -> str:
    if move.parent:
        by = called(move.parent, names, marks)
        return f"contradicted by {by}" if label is Label.fallen else f"no longer contradicted by {by}"
    if move.via:
        return "a ground of it was taken away" if label is Label.fallen else "it was given a ground"
    retired = label is Label.fallen
    return "taken out by this" if retired else "counts again"


def _weakenings(change: Change, marks: Marks, names: Names) -> list[Line]:
    rows, limit = change.radius.weakens, change.limit
    if not rows:
        return []
    lines: list[Line] = [((f"weakens {len(rows):,}", "name"),)]
    for row in rows[:limit]:
        node = names.node(row.id)
        label = (names.label(row.id) if change.written else None) or Label.weakened
        words = named(node, label, marks)[:3] if node else ((row.id, "name"),)
        lines.append((("  ", ""), *words, (f"  {shorten(row.id)}", "muted")))
        lines.append(((f"      loses {_ground(row.id, row.lost, names, marks)}", "muted"),))
        because = _ground(row.id, row.because, names, marks) if row.because else "it needs no ground any more"
        lines.append(((f"      survives because of {because}", ""),))
        firm = change.firm.get(row.id)
        lines += [((f"      {_firm(firm, marks, names)}", "muted"),)] if firm is not None else []
    return lines + _more(len(rows), limit)


def _firm(found: Strength, marks: Marks, names: Names) -> str:
    """What it took to fell a node before the change, in one line."""
    if found.ones:
        return f"before: fell with {called(found.ones[0], names, marks)} alone"
    if found.pairs:
        more = f", or {len(found.pairs) - 1:,} other pairs" if len(found.pairs) > 1 else ""
        one, other = (called(id, names, marks) for id in next(iter(found.pairs)))
        return f"before: needed two, {one} and {other}{more}"
    return "before: needed more than two losses" if found.needs == 3 else "before: it was not searched through"


def _more(count: int, limit: int) -> list[Line]:
    return [((f"  {count - limit:,} more: --limit", "attn"),)] if count > limit else []


def _preserved(change: Change, marks: Marks, names: Names) -> Iterable[Line]:
    if change.preserved is None:
        return []
    lines: list[Line] = [((f"preserved {change.radius.preserved_count:,}", "name"),)]
    lines += [(("  ", ""), *spoken(id, names, marks)) for id in change.preserved]
    if len(change.preserved) >= change.limit:
        lines.append(((f"  more: --after {change.preserved[-1]}", "attn"),))
    return lines
