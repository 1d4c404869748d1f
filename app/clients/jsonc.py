"""Edits of one member in JSON with comments and trailing commas: every byte outside of that member stays what it was.

Who calls: ``configs.py``. What may not come in: files, names of clients.

The decoder of the standard library gives the spans (``raw_decode`` says where a value ends), after comments and trailing commas were
overwritten by as many spaces. So it is as strict as RFC 8259 about everything else, needs no dependency, and its errors have the line
of the file. A syntax tree was the other way: the grammar for JSON is not among those that come with the installation, and it takes a
trailing comma for an error.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from mog.engine.errors import ConfigError

_STRING = r'"(?>(?:[^"\\\r\n]|\\.)*)"'
_COMMENT = re.compile(_STRING + r"|//[^\r\n]*|/\*(?>(?:[^*]|\*(?!/))*)\*/", re.S)
_COMMA = re.compile(_STRING + r"|[\[{]\s*,|,(?=\s*[}\]])", re.S)
_INDENT = re.compile(r'^([ \t]+)"', re.M)
_SPACE = " \t\r\n"


class Pair(NamedTuple):
    """One member: its key and the offsets where the key begins, the value begins, the value ends."""

    key: str
    at: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spot:
    """One object: offsets of its braces (``close`` is that of ``}``), its members, offset of a trailing comma or -1."""

    open: int
    close: int
    pairs: tuple[Pair, ...]
    comma: int


class Text:
    """A document: ``raw`` as it is, ``plain`` of the same length without comments and trailing commas, ``value`` as data."""

    def __init__(self, raw: str, where: str) -> None:
        self.raw, self.where = raw, where
        self.commas: list[int] = []
        bare = _COMMENT.sub(_blank, raw)
        self.plain = _COMMA.sub(self._trailing, bare)
        self.newline = "\r\n" if "\r\n" in raw else "\n"
        found = _INDENT.search(raw)
        self.unit = found[1] if found else "  "
        self.tight = '":' in raw and '": ' not in raw
        self.value = self._loaded()

    def _trailing(self, match: re.Match[str]) -> str:
        if match[0] != ",":
            return match[0]
        self.commas.append(match.start())
        return " "

    def _loaded(self) -> Any:
        if not self.plain.strip(_SPACE):
            return {}
        try:
            return json.loads(self.plain, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            self.refuse(f"this is not JSON: {error.msg}", error.pos)
        except (ValueError, RecursionError) as error:
            self.refuse(f"this is not JSON: {error}" if isinstance(error, ValueError) else "nested too deeply", 0)

    def refuse(self, what: str, at: int) -> NoReturn:
        """Raise ConfigError that names file and line."""
        line = self.raw.count("\n", 0, at) + 1
        raise ConfigError(what, where=f"{self.where}:{line}", way_out="repair that line by hand; nothing was written")

    def skip(self, at: int) -> int:
        """Offset of the next token at or after ``at``."""
        while at < len(self.plain) and self.plain[at] in _SPACE:
            at += 1
        return at

    def spot(self, at: int) -> Spot:
        """The object that begins at offset ``at`` (or at the next token)."""
        start = at = self.skip(at)
        if self.plain[at : at + 1] != "{":
            self.refuse("an object is expected here", at)
        pairs, at = [], self.skip(at + 1)
        while self.plain[at] != "}":
            key, after = _DECODER.raw_decode(self.plain, at)
            value = self.skip(self.skip(after) + 1)
            end = _DECODER.raw_decode(self.plain, value)[1]
            pairs.append(Pair(key, at, value, end))
            at = self.skip(end)
            at = self.skip(at + 1) if self.plain[at] == "," else at
        index = bisect_left(self.commas, pairs[-1].end if pairs else at)
        comma = self.commas[index] if index < len(self.commas) and self.commas[index] < at else -1
        return Spot(start, at, tuple(pairs), comma)

    def member(self, spot: Spot, key: str) -> Pair | None:
        """The member of that name. Raises ConfigError when there are two: readers disagree about which one counts."""
        found = [pair for pair in spot.pairs if pair.key == key]
        if len(found) > 1:
            self.refuse(f"{json.dumps(key)} stands here a second time", found[1].at)
        return found[0] if found else None

    def margin(self, at: int) -> str:
        """White space at the beginning of the line that holds offset ``at``."""
        line = self.raw[self.raw.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def written(self, value: Any, margin: str, flat: bool) -> str:
        """A value as text: over lines with this document's indentation, or on one line with its spacing."""
        if flat:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":") if self.tight else (", ", ": "))
        text = json.dumps(value, ensure_ascii=False, indent=self.unit)
        return text.replace("\n", self.newline + margin)


_DECODER = json.JSONDecoder()


def read(raw: str, where: str) -> Any:
    """The document as data; nothing but white space and comments is an empty object. Raises ConfigError with the line."""
    return Text(raw, where).value


def find(raw: str, path: tuple[str, str], where: str) -> Any:
    """The value of member ``path[1]`` of the object ``path[0]``, None without one. Raises ConfigError as ``put`` does."""
    text = Text(raw, where)
    if not text.plain.strip(_SPACE):
        return None
    holder = text.member(text.spot(0), path[0])
    own = text.member(text.spot(holder.start), path[1]) if holder else None
    return _DECODER.raw_decode(text.plain, own.start)[0] if own else None


def put(raw: str, path: tuple[str, str], entry: Mapping[str, Any], where: str) -> str:
    """``raw`` with ``entry`` as member ``path[1]`` of the object ``path[0]``, which is made if need be.

    Of a member that is there, only the keys that ``entry`` has are changed, unless it is no command at all.

    Raises:
        ConfigError: no JSON, a key twice, or something else than an object in that place; ``where`` gets the line.
    """
    text = Text(raw, where)
    if not text.plain.strip(_SPACE):
        head = raw + ("" if not raw or raw.endswith("\n") else text.newline)
        return head + text.written({path[0]: {path[1]: dict(entry)}}, "", False) + text.newline
    root = text.spot(0)
    holder = text.member(root, path[0])
    if holder is None:
        return _insert(text, root, path[0], {path[1]: dict(entry)})
    inner = text.spot(holder.start)
    own = text.member(inner, path[1])
    return _insert(text, inner, path[1], dict(entry)) if own is None else _update(text, own, entry, path)


def drop(raw: str, path: tuple[str, str], where: str, *, keep: bool = True) -> str:
    """``raw`` without that member; ``keep=False`` takes the object around it away too when nothing else is in it.

    Raises ConfigError as ``put`` does.
    """
    text = Text(raw, where)
    if not text.plain.strip(_SPACE):
        return raw
    root = text.spot(0)
    holder = text.member(root, path[0])
    inner = text.spot(holder.start) if holder else None
    own = text.member(inner, path[1]) if inner else None
    if holder is None or inner is None or own is None:
        return raw
    commented = "/" in raw[inner.open : own.at] + raw[own.end : inner.close]
    alone = len(inner.pairs) == 1 and not commented and not keep
    return _cut(text, root, holder) if alone else _cut(text, inner, own)


def _insert(text: Text, spot: Spot, key: str, value: Any) -> str:
    raw, flat, outer = text.raw, _is_flat(text, spot), text.margin(spot.open)
    tail = len(raw[: spot.close].rstrip(_SPACE))
    margin = text.margin(spot.pairs[-1].at) if spot.pairs else outer + text.unit
    gap = "" if text.tight else " "
    lead = (gap if spot.pairs else "") if flat else text.newline + margin
    pair = f"{lead}{json.dumps(key, ensure_ascii=False)}:{gap if flat else ' '}{text.written(value, margin, flat)}"
    rest = raw[tail:]
    if not flat and not spot.pairs and "\n" not in raw[tail : spot.close]:
        rest = text.newline + outer + raw[spot.close :]
    if spot.pairs and spot.comma < 0:
        end = spot.pairs[-1].end
        return raw[:end] + "," + raw[end:tail] + pair + rest
    return raw[:tail] + pair + ("," if spot.comma >= 0 else "") + rest


def _is_flat(text: Text, spot: Spot) -> bool:
    """Whether the object is written on one line; an empty one is opened up, unless the whole file is one line."""
    if spot.pairs:
        return "\n" not in text.raw[spot.open : spot.close]
    return "\n" not in text.raw.strip() and spot.open > 0


def _update(text: Text, own: Pair, entry: Mapping[str, Any], path: tuple[str, str]) -> str:
    held = _DECODER.raw_decode(text.plain, own.start)[0]
    if not isinstance(held, dict) or not isinstance(held.get("command"), str) or held.keys() & {"url", "httpUrl"}:
        flat = "\n" not in text.raw[own.start : own.end]
        return text.raw[: own.start] + text.written(dict(entry), text.margin(own.at), flat) + text.raw[own.end :]
    for key, value in entry.items():
        text = Text(_with(text, _own(text, path), key, value), text.where)
    return text.raw


def _own(text: Text, path: tuple[str, str]) -> Spot:
    spot = text.spot(0)
    for key in path:
        found = text.member(spot, key)
        if found is None:
            raise KeyError(key)
        spot = text.spot(found.start)
    return spot


def _with(text: Text, spot: Spot, key: str, value: Any) -> str:
    found = text.member(spot, key)
    if found is None:
        return _insert(text, spot, key, value)
    if _DECODER.raw_decode(text.plain, found.start)[0] == value:
        return text.raw
    flat = "\n" not in text.raw[found.start : found.end]
    return text.raw[: found.start] + text.written(value, text.margin(found.at), flat) + text.raw[found.end :]


def _cut(text: Text, spot: Spot, pair: Pair) -> str:
    """The document without one member: its white space in front, one comma, and nothing else."""
    raw, index = text.raw, spot.pairs.index(pair)
    before = len(raw[: pair.at].rstrip(_SPACE))
    comma = text.skip(pair.end) if index + 1 < len(spot.pairs) else spot.comma
    if comma < 0 and index:
        comma = text.skip(spot.pairs[index - 1].end)
    end = pair.end
    if len(spot.pairs) == 1 and "/" not in raw[spot.open : pair.at] + raw[pair.end : spot.close]:
        before, end, comma = spot.open + 1, spot.close, -1
    cuts = sorted([(before, end), (comma, comma + 1)] if comma >= 0 else [(before, end)], reverse=True)
    for start, stop in cuts:
        raw = raw[:start] + raw[stop:]
    return raw


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == '"' else re.sub(r"[^\r\n]", " ", match[0])


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
