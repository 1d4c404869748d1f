"""Bytes of one SCIP document or metadata message → records. Called by ``table`` and ``loaded``.

What may not come in: files, our graph. Broken parts are left out and counted under the field they stand in, never raised.
"""

from __future__ import annotations

from collections import Counter

from mog.engine.code.scip import schema
from mog.engine.code.scip.schema import Document, Metadata, Occurrence
from mog.engine.code.scip.wire import DELIMITED, VARINT, Malformed, fields, numbers, signed, varint

MAX_SYMBOL = 4_096
MAX_PATH = 4_096
MAX_OCCURRENCES = 2_000_000
MAX_RELATED = 1_000
_RANGE, _SYMBOL, _ROLES = schema.RANGE << 3 | DELIMITED, schema.SYMBOL << 3 | DELIMITED, schema.ROLES << 3 | VARINT


def metadata(data: bytes, at: int, end: int) -> Metadata:
    """The metadata message in ``data[at:end]``. Raises Malformed."""
    found = Metadata()
    for number, wire, start, stop in fields(data, at, end):
        if number == schema.PROJECT_ROOT and wire == DELIMITED:
            found.project_root = _text(data, start, min(stop, start + MAX_PATH))
        elif number == schema.TOOL_INFO and wire == DELIMITED:
            for inner, kind, first, last in fields(data, start, stop):
                if kind == DELIMITED and inner == schema.TOOL_NAME:
                    found.tool = _text(data, first, min(last, first + 200))
                elif kind == DELIMITED and inner == schema.TOOL_VERSION:
                    found.version = _text(data, first, min(last, first + 200))
    return found


def document(data: bytes) -> Document:
    """The document message in ``data``. What cannot be read is in its ``problems``; what can is kept."""
    found = Document()
    symbols: dict[bytes, str] = {}
    try:
        for number, wire, start, stop in fields(data, 0, len(data)):
            if wire == DELIMITED:
                _delimited(found, data, number, start, stop, symbols)
            elif number == schema.ENCODING and wire == VARINT:
                found.encoding = start
    except Malformed as error:
        found.problems["documents", str(error)] += 1
    if found.encoding > schema.UTF32:
        found.problems["documents.position_encoding", "unknown_value"] += 1
        found.encoding = schema.UNSAID
    return found


def _delimited(found: Document, data: bytes, number: int, start: int, stop: int, symbols: dict[bytes, str]) -> None:
    if number == schema.OCCURRENCES:
        if len(found.occurrences) >= MAX_OCCURRENCES:
            found.problems["documents.occurrences", "too_many"] += 1
            return
        one = occurrence(data, start, stop, symbols, found.problems)
        if one is not None:
            found.occurrences.append(one)
    elif number == schema.SYMBOLS:
        _information(found, data, start, stop)
    elif number == schema.PATH:
        if stop - start > MAX_PATH:
            found.problems["documents.relative_path", "too_long"] += 1
        found.path = _text(data, start, min(stop, start + MAX_PATH + 1))
    elif number == schema.LANGUAGE:
        found.language = _text(data, start, min(stop, start + 200))
    elif number == schema.TEXT:
        found.text = data[start:stop]


def occurrence(
    data: bytes, at: int, end: int, symbols: dict[bytes, str], problems: Counter[tuple[str, str]]
) -> Occurrence | None:
    """One occurrence, or None for one without a symbol (highlighting only) or with something wrong, which is counted.

    Args:
        symbols: texts of symbols met before, so that each is decoded and held once.
    """
    symbol, roles = "", 0
    place: list[int] = []
    try:
        while at < end:
            key = data[at]
            at += 1
            if key in (_RANGE, _SYMBOL):
                size = data[at] if at < end else 0x80
                size, at = (size, at + 1) if size < 0x80 else varint(data, at, end)
                stop = at + size
                if stop > end:
                    raise Malformed("truncated", at)
                raw = data[at:stop]
                at = stop
                if key == _RANGE:
                    place = list(raw) if raw.isascii() else numbers(raw, 0, size)
                elif size > MAX_SYMBOL:
                    problems["documents.occurrences.symbol", "too_long"] += 1
                    return None
                else:
                    symbol = symbols.get(raw) or symbols.setdefault(raw, raw.decode("utf-8", "replace"))
            elif key == _ROLES and at < end and data[at] < 0x80:
                roles = data[at]
                at += 1
            else:
                number, wire, value, at = next(fields(data, at - 1, end))
                if wire == VARINT and number == schema.RANGE:  # a list that was not packed
                    place.append(signed(value))
                elif wire == VARINT and number == schema.ROLES:
                    roles = value & 0x7FFF_FFFF
    except Malformed as error:
        problems["documents.occurrences", str(error)] += 1
        return None
    if not symbol:
        return None
    return _placed(place, symbol, roles, problems)


def _placed(place: list[int], symbol: str, roles: int, problems: Counter[tuple[str, str]]) -> Occurrence | None:
    if len(place) == 3:
        line, first, behind = place
        if line >= 0 and 0 <= first <= behind:
            return (line, first, line, behind, symbol, roles)
    elif len(place) == 4 and min(place) >= 0 and (place[0], place[1]) <= (place[2], place[3]):
        return (place[0], place[1], place[2], place[3], symbol, roles)
    problems["documents.occurrences.range", "not_a_range"] += 1
    return None


def _information(found: Document, data: bytes, at: int, end: int) -> None:
    """Keep of a symbol what it implements."""
    symbol = ""
    above: list[str] = []
    try:
        for number, wire, start, stop in fields(data, at, end):
            if wire != DELIMITED or number not in (schema.INFO_SYMBOL, schema.RELATIONSHIPS):
                continue
            if number == schema.INFO_SYMBOL:
                symbol = _text(data, start, stop) if stop - start <= MAX_SYMBOL else ""
            elif len(above) < MAX_RELATED:
                above += _implemented(data, start, stop)
            else:
                found.problems["documents.symbols.relationships", "too_many"] += 1
    except Malformed as error:
        found.problems["documents.symbols", str(error)] += 1
        return
    if symbol and above:
        found.implements.setdefault(symbol, []).extend(above)


def _implemented(data: bytes, at: int, end: int) -> list[str]:
    symbol, implements = "", False
    for number, wire, start, stop in fields(data, at, end):
        if number == schema.REL_SYMBOL and wire == DELIMITED and stop - start <= MAX_SYMBOL:
            symbol = _text(data, start, stop)
        elif number == schema.IS_IMPLEMENTATION and wire == VARINT:
            implements = bool(start)
    return [symbol] if symbol and implements else []


def _text(data: bytes, start: int, stop: int) -> str:
    return data[start:stop].decode("utf-8", "replace")
