"""Rows of the reason layer: chips, marks of standing, trust and taint, names in quotes, the words at the foot of a pane.

Who calls: every pane that shows assumptions, claims, decisions, evidence, sources or entities, the graph among them.
What may not come in: the toolkit, questions to the workspace, the engine at import (panes load before it is needed).

A letter says what it is, a mark how it stands, and a word says it again. Words of people and agents stand in “quotes”,
cleaned and clipped; ``y`` copies them whole. All text that goes in is as recorded, and may hold anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from mog.app.present import clean
from mog.app.tui.rows import Reason, mark_cells, quoted
from mog.engine.model import Freshness
from mog.widgets.view import Cell, Row

if TYPE_CHECKING:
    from mog.engine.reason.records import GraphNode

LETTERS: Mapping[str, str] = {
    "assumption": "A", "claim": "C", "decision": "D", "evidence": "V", "source": "S", "entity": "E",
}  # fmt: skip
"""Type of a node of the reason layer → its letter; a type of the project has the first letter of its name."""

STANDING: Mapping[str, tuple[str, str]] = {
    "standing": ("●", "standing"),
    "weakened": ("▼", "weakened"),
    "fallen": ("×", "fallen"),
    "contested": ("≠", "contested"),
    "unverified": ("?", "unverified"),
}
"""Label → mark and role. ``records.Label`` is a string, so a label is looked up as it is."""

SENTENCES: Mapping[str, str] = {
    "standing": "standing: nothing that counts speaks against it",
    "weakened": "weakened: it stands, though not all of its grounds hold",
    "fallen": "fallen: it is no longer believed",
    "contested": "contested: what contradicts it was not judged yet",
    "unverified": "unverified: it rests on work that failed",
}
"""Label → what it means, in a sentence without its full stop."""

TRUST: Mapping[str, tuple[str, str]] = {
    "user": ("§", "a person said it"),
    "verified": ("√", "verified"),
    "repo": ("", "first-party: from the repository"),
    "tool": ("†", "a tool said it"),
    "agent": ("†", "an agent said it"),
    "web": ("†", "from the web"),
    "advisory": ("†", "advice by a model, not verified"),
}
"""Trust label → mark ("" for first-party, which goes without one) and words. One that is not known counts as an agent's."""

GLANCED = ("fallen", "contested", "unverified")
"""Labels that have a place on the top line."""

SAID = 160
"""Characters of a text in a sentence, so that what the sentence goes on with has room."""

CLIP = 400
"""Characters of a text that one row keeps: more than any screen shows of a row, few enough to lay out at every draw."""


# -- what it is and how it stands


def chip_of(type: str) -> str:
    """``(A)``: the type of a node of the reason layer in three cells."""
    letter = LETTERS.get(type) or clean(type)[:1].upper()
    return f"({letter if letter.isascii() and letter.isalnum() else '?'})"


def chip_cell(type: str) -> Cell:
    """The chip with its role."""
    return Cell(chip_of(type), "reason")


def reason_chip(node: GraphNode) -> Cell:
    """The chip of a record."""
    return chip_cell(node.type)


def mark_of(label: str) -> str:
    """The mark of a label, ``?`` for one that is not known, "" for none."""
    return STANDING.get(label, ("?", ""))[0] if label else ""


def standing_cells(label: str | None) -> tuple[Cell, ...]:
    """``● ``; nothing where nobody asked how it stands (``label`` "")."""
    if not label:
        return ()
    glyph, role = STANDING.get(label, ("?", "unverified"))
    return (Cell(f"{glyph} ", role, True),)


def count_cells(
    counts: Mapping[str, int], *, labels: Sequence[str] = tuple(STANDING), words: bool = True
) -> list[Cell]:
    """``× 4 fallen  ▼ 1 weakened``: zero is printed, so each number keeps its place."""
    cells: list[Cell] = []
    for label in labels:
        glyph, role = STANDING[label]
        number = f"{counts.get(label, 0):,}"
        cells += [Cell(f"{glyph} ", role, True), Cell(f"{number} {label}" if words else number), Cell("  ")]
    return cells[:-1]


def glance_cells(counts: Mapping[str, int] | None, step: int) -> list[Cell]:
    """``× 0 fallen  ≠ 1 contested  ? 2`` for the top line: zero is printed, not asked yet (None) is ``?``."""
    cells: list[Cell] = []
    for label in GLANCED:
        glyph, role = STANDING[label]
        count = "?" if counts is None else f"{counts.get(label, 0):,}"
        word = f" {label}" if step < 2 and label != "unverified" else ""
        cells += [Cell(f"{glyph} ", role, True), Cell(f"{count}{word}"), Cell("  " if step < 2 else " ")]
    return cells[:-1]


def type_counts(types: Mapping[str, int]) -> str:
    """``(A) 1 (C) 12``: how many of each type, in the order of the letters above."""
    order = [*LETTERS, *sorted(set(types) - set(LETTERS))]
    return " ".join(f"{chip_of(type)} {types[type]:,}" for type in order if types.get(type))


# -- where it comes from


def trust_of(node: GraphNode) -> str:
    """The trust label recorded with a node: its own, or that of the note it was remembered as; "" when none was."""
    said = node.attrs.get("note")
    origin = said.get("origin") if isinstance(said, Mapping) else None
    found = node.attrs.get("trust", origin)
    return found if isinstance(found, str) else ""


def trust_cells(trust: str) -> tuple[Cell, ...]:
    """``† `` for what an agent, a tool or the web said, ``§ `` a person; first-party and not recorded go without."""
    glyph = TRUST.get(trust, ("†", ""))[0] if trust else ""
    return (Cell(f"{glyph} ", "attn" if glyph == "†" else "muted", True),) if glyph else ()


def trust_words(trust: str) -> str:
    """A trust label in words, "" when none was recorded."""
    return TRUST[trust][1] if trust in TRUST else f"said by {clean(trust)}" if trust else ""


def taint_of(node: GraphNode) -> tuple[str, ...]:
    """The taint labels recorded with a node (``secret``, ``private``, ``web``, ``pii``), in order."""
    found = node.attrs.get("taint", ())
    known = [found] if isinstance(found, str) else found if isinstance(found, Collection) else ()
    return tuple(sorted({label for label in known if isinstance(label, str)}))


def taint_cells(labels: Collection[str]) -> tuple[Cell, ...]:
    """``¤ SECRET WEB ``, nothing for a node without taint."""
    said = " ".join(clip(label, 20).upper() for label in labels)
    return (Cell("¤ ", "attn", True), Cell(f"{said} ", "attn")) if said else ()


# -- what it says


def clip(text: str, limit: int = CLIP) -> str:
    """The beginning of a text, cleaned, with ``…`` where something was left out."""
    kept = clean(text[:limit])  # an escape is longer than what it stands for
    return kept if len(text) <= limit and len(kept) <= limit else kept[: limit - 1].rstrip() + "…"


def name_cells(
    type: str,
    text: str,
    label: str = "",
    freshness: Freshness = Freshness.unknown,
    *,
    trust: str = "",
    taint: Collection[str] = (),
    quote: bool = False,
) -> tuple[Cell, ...]:
    """``(A) ● ± † ¤ PII totals round once``: the text gives way first, a mark never.

    Args:
        label: how it stands, "" where nobody asked. freshness: of the code it is anchored to.
        quote: put the words in quotes, for a row that holds words of mog's own beside them.
    """
    cells = (chip_cell(type), Cell(" "), *standing_cells(label), *mark_cells(freshness))
    said = quoted(clip(text)) if quote else (Cell(clip(text), "text", False, "tail"),)
    return (*cells, *trust_cells(trust), *taint_cells(taint), *said)


def reason_cells(
    node: GraphNode, label: str | None = "", freshness: Freshness = Freshness.unknown, *, quote: bool = False
) -> tuple[Cell, ...]:
    """``name_cells`` of a record, with the trust and taint recorded with it."""
    trust, taint = trust_of(node), taint_of(node)
    return name_cells(node.type, node.label, label or "", freshness, trust=trust, taint=taint, quote=quote)


def sentence(type: str, text: str, label: str = "", freshness: Freshness = Freshness.unknown) -> str:
    """``(A) ± drifted: “totals round once, last”``: a row in words, quotes closed however long the text is."""
    glyphs = "".join(f" {cell.text.strip()}" for cell in (*standing_cells(label), *mark_cells(freshness)))
    off = freshness not in (Freshness.fresh, Freshness.unknown)
    states = [word for word in (label, freshness.value if off else "") if word] or [clean(type)]
    return f"{chip_of(type)}{glyphs} {', '.join(states)}: “{clip(text, SAID)}”"


def reason_words(node: GraphNode, label: str | None = "", freshness: Freshness = Freshness.unknown) -> str:
    """``sentence`` of a record."""
    return sentence(node.type, node.label, label or "", freshness)


def words_of(
    node: GraphNode, label: str = "", freshness: Freshness = Freshness.unknown, also: str = ""
) -> tuple[str, ...]:
    """The words at the foot of a pane for a row of a record: what it says, then ``also`` or whose word it is."""
    second = also or ", ".join(part for part in (trust_words(trust_of(node)), SENTENCES.get(label, "")) if part)
    first = reason_words(node, label, freshness)
    return (first, second) if second else (first,)


def thing(node: GraphNode) -> Reason:
    """What a row of a record stands for."""
    return Reason(node.id, node.type, node.label)


def row(
    key: str,
    node: GraphNode,
    label: str = "",
    freshness: Freshness = Freshness.unknown,
    *,
    lead: tuple[Cell, ...] = (),
    right: tuple[Cell, ...] = (),
    also: str = "",
) -> Row:
    """A record as a row: ``lead`` stands before its chip (an edge, an indent), ``right`` at the right edge, ``also`` in its words."""
    cells = (*lead, *reason_cells(node, label, freshness))
    return Row(key, cells, right, words=words_of(node, label, freshness, also), copy=clean(node.label))
