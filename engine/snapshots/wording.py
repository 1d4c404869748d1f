"""Advice as it may be kept: plain, short, of known shape. From the bytes of a file to checked records, and nothing else.

Who calls: ``advice`` before anything is recorded. What may not come in: the index, the ledger, the disk. Whatever stands in the
file was written by a model that read a repository of strangers, so no text of it is believed to be anything but text: one line,
no control or invisible character, no mark that a prompt or page could take for its own.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.snapshots.model import ANNOTATIONS, MOZAIKS_ANNOTATIONS
from mog.engine.values import parse

MAX_FILE = 1_000_000  # bytes
MAX_ITEMS = 40
PURPOSE, ENTRY, ENTRIES = 240, 120, 8
MAX_NAME = 80
RISKS = ("low", "medium", "high", "unknown")
LISTS = ("domain_concepts", "side_effects", "invariants", "test_targets")
FIELDS = frozenset({"node_id", "span_hash", "purpose", "risk_level", "confidence", *LISTS})
_RAW = 20_000  # characters of one text that are looked at at all
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_ESCAPES = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x9b[0-?]*[ -/]*[@-~]")
_SPACE = re.compile(r"\s+")
_MARKS = ((re.compile("`{3,}|~{3,}"), "'"), (re.compile(r"<\s*\|"), "( "), (re.compile(r"\|\s*>"), " )"))
_SECTION = re.compile(r"\[(/?\s*CONTEXT GRAPH\s*)\]", re.IGNORECASE)
_TAG = re.compile(
    r"<(/?\s*(?:system|assistant|user|human|instructions?|tool\w*|script|style|iframe|img|svg)\b[^<>]*)>", re.IGNORECASE
)
_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instruction|prompt|rule|above|previous)|\bsystem prompt\b|\byou (?:must|are) now\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Advice:
    """One item of the file, made plain. ``span_hash``: of the code it was said of, "" when it does not say."""

    node_id: str
    span_hash: str
    purpose: str
    domain_concepts: tuple[str, ...]
    side_effects: tuple[str, ...]
    invariants: tuple[str, ...]
    test_targets: tuple[str, ...]
    risk_level: str
    confidence: float

    @property
    def said(self) -> dict[str, Any]:
        """What is kept of it, as plain JSON."""
        lists = {name: list(getattr(self, name)) for name in LISTS}
        return {"purpose": self.purpose, **lists, "risk_level": self.risk_level, "confidence": self.confidence}

    @property
    def empty(self) -> bool:
        """It says nothing."""
        return not self.purpose and not any(getattr(self, name) for name in LISTS)


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole file. ``ignored``: reason → items that have no known shape; ``cut``: what was done to texts."""

    graph_hash: str
    generation: int
    annotator: str
    items: tuple[Advice, ...]
    ignored: Mapping[str, int]
    cut: Mapping[str, int]


def read(data: bytes) -> Answer:
    """The advice in a file.

    Raises:
        UsageError: larger than 1 MB, not JSON, another schema, no list of annotations.
    """
    document = _parsed(data)
    schema = document.get("schema")
    if schema not in (ANNOTATIONS, MOZAIKS_ANNOTATIONS):
        what = f"its schema is {plain(str(schema), MAX_NAME)!r}" if schema is not None else "it names no schema"
        raise _refused(what, f'start it with "schema": "{ANNOTATIONS}"')
    rows = document.get("annotations")
    if not isinstance(rows, list):
        raise _refused("it has no list `annotations`", "give a list of objects with a node_id each")
    ignored: Counter[str] = Counter(too_many=max(0, len(rows) - MAX_ITEMS))
    cut: Counter[str] = Counter()
    items = tuple(one for row in rows[:MAX_ITEMS] if (one := _item(row, ignored, cut)) is not None)
    generation = document.get("generation")
    if not isinstance(generation, int) or isinstance(generation, bool) or not 0 <= generation < 2**53:
        generation = 0
    return Answer(
        _word(document.get("graph_hash")), generation, annotator_of(document.get("annotator")), items,
        +ignored, +cut,
    )  # fmt: skip


def annotator_of(name: object) -> str:
    """Who says it, as far as it says; ``unnamed`` where it does not."""
    return plain(name, MAX_NAME) or "unnamed" if isinstance(name, str) else "unnamed"


def plain(text: str, most: int) -> str:
    """A text as one line of visible characters, at most ``most`` of them."""
    text = unicodedata.normalize("NFC", _ESCAPES.sub(" ", text[:_RAW]))
    text = "".join(" " if unicodedata.category(char) in _HIDDEN else char for char in _BLANK.sub("", text))
    for mark, instead in _MARKS:
        text = mark.sub(instead, text)
    text = _TAG.sub(r"(\1)", _SECTION.sub(r"(\1)", text))
    return _SPACE.sub(" ", text).strip()[:most].rstrip()


def gives_orders(item: Advice) -> bool:
    """Whether a text reads like an order to who reads it: a sign for people, never a gate."""
    texts = (item.purpose, *(text for name in LISTS for text in getattr(item, name)))
    return any(_ORDERS.search(text) for text in texts)


def _parsed(data: bytes) -> Mapping[str, Any]:
    if len(data) > MAX_FILE:
        raise _refused(f"it has {len(data):,} bytes, {MAX_FILE:,} is the limit", "answer at most 40 items in a file")
    try:
        document = parse(data)
    except StoreDamaged as error:
        what = "it is nested too deep" if "nested" in error.what else "it is not JSON (or a key stands twice)"
        raise _refused(what, "write one JSON object in UTF-8") from error
    if not isinstance(document, dict):
        raise _refused("it is no JSON object", "write one JSON object in UTF-8")
    return document


def _item(row: object, ignored: Counter[str], cut: Counter[str]) -> Advice | None:
    if not isinstance(row, dict) or not isinstance(row.get("node_id"), str):
        ignored["no_node_id"] += 1
        return None
    cut["unknown_fields"] += len(row.keys() - FIELDS)
    risk = row.get("risk_level")
    known = risk if isinstance(risk, str) and risk in RISKS else "unknown"
    cut["risk_unknown"] += risk is not None and known != risk
    made = Advice(
        _word(row["node_id"]), _word(row.get("span_hash")), _text(row.get("purpose"), PURPOSE, cut),
        _list(row, "domain_concepts", cut), _list(row, "side_effects", cut), _list(row, "invariants", cut),
        _list(row, "test_targets", cut), known, _confidence(row.get("confidence"), cut),
    )  # fmt: skip
    if made.empty:
        ignored["says_nothing"] += 1
        return None
    return made


def _text(value: object, most: int, cut: Counter[str]) -> str:
    if not isinstance(value, str):
        cut["not_text"] += value is not None
        return ""
    whole = plain(value, _RAW)
    cut["made_plain"] += whole != value.strip()
    cut["shortened"] += len(whole) > most
    return whole[:most].rstrip()


def _list(row: Mapping[str, Any], name: str, cut: Counter[str]) -> tuple[str, ...]:
    value = row.get(name)
    if not isinstance(value, list):
        cut["not_a_list"] += value is not None
        return ()
    texts = [_text(one, ENTRY, cut) for one in value[: 8 * ENTRIES]]
    every = list(dict.fromkeys(text for text in texts if text))
    cut["dropped_entries"] += max(0, len(value) - 8 * ENTRIES) + max(0, len(every) - ENTRIES)
    return tuple(every[:ENTRIES])


def _confidence(value: object, cut: Counter[str]) -> float:
    """Between 0 and 1, three digits of it; what is no number is worth nothing."""
    number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    inside = 0.0 if math.isnan(number) else min(1.0, max(0.0, number))
    cut["confidence_clamped"] += value is not None and inside != number
    return round(inside, 3)


def _word(value: object) -> str:
    """A digest or id: at most 64 letters and digits; anything else is nothing."""
    return value if isinstance(value, str) and len(value) <= 64 and value.isascii() and value.isalnum() else ""


def _refused(what: str, way_out: str) -> UsageError:
    return UsageError(f"these annotations cannot be read: {what}", where="annotations", way_out=way_out)
