"""Edits of one table in TOML: every byte outside of that table stays what it was.

Who calls: ``configs.py``. What may not come in: files, names of clients.

The standard library's reader judges the file before and after; here are only statements and their spans. A round trip through a
document model (tomlkit 0.15) was tried first: of eight small files it gave back four byte for byte, and put bare line feeds into a
file with CRLF.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mog.engine.errors import ConfigError

_TOKEN = re.compile(
    r'"""(?>(?:\\.|(?!""")[^\\])*)"{3,5}' r"|'''(?>(?:(?!''').)*)'{3,5}" r'|"(?>(?:\\.|[^"\\\n])*)"' r"|'[^'\n]*'"
    r"|\#[^\n]*|\r?\n|[ \t]+|.",
    re.S,
)  # fmt: skip
_PLACE = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


class Statement(NamedTuple):
    """One statement with its line break: ``kind`` is "header", "pair" or "" (blank or comment).

    ``stop`` is where its last token ends, before a comment; ``path`` are the keys that it names, without those of its header.
    """

    kind: str
    start: int
    stop: int
    end: int
    path: tuple[str, ...]


def read(raw: str, where: str) -> dict[str, Any]:
    """The document as data. Raises ConfigError with the line."""
    try:
        return _loads(raw)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = place[1] if place and place[1] else str(raw.count("\n") + 1)
        what = _PLACE.sub("", str(error)).strip()
        raise _refused(f"this is not TOML: {what}", where, line) from error
    except RecursionError as error:
        raise _refused("nested too deeply", where, "1") from error


def find(raw: str, path: tuple[str, str], where: str) -> Any:
    """The table ``path`` as data, None without one. Raises ConfigError: no TOML, or no tables in that place."""
    data = read(raw, where)
    _holder(data, path, where)
    return data.get(path[0], {}).get(path[1])


def put(raw: str, path: tuple[str, str], entry: Mapping[str, Any], where: str) -> str:
    """``raw`` with the table ``path``, appended at the end; of a table that is there, only the keys of ``entry`` are changed.

    Values are strings or lists of strings.

    Raises:
        ConfigError: no TOML, or the place is taken by something that cannot be edited line by line.
    """
    data = read(raw, where)
    _holder(data, path, where)
    held = data.get(path[0], {}).get(path[1])
    after = _append(raw, path, entry) if held is None else _update(raw, path, entry, held, where)
    expected = {**data, path[0]: {**data.get(path[0], {}), path[1]: {**(held or {}), **entry}}}
    return _judged(after, expected, path, where)


def drop(raw: str, path: tuple[str, str], where: str) -> str:
    """``raw`` without that table, its sub-tables, and the blank line in front. Raises ConfigError as ``put`` does."""
    data = read(raw, where)
    _holder(data, path, where)
    if path[1] not in data.get(path[0], {}):
        return raw
    statements = list(_statements(raw))
    after = raw
    for start, end in reversed(list(_regions(statements, path))):
        after = after[:start] + after[end:]
    rest = {key: value for key, value in data[path[0]].items() if key != path[1]}
    expected = {**data, path[0]: rest}
    return _judged(after, expected, path, where)


def _regions(statements: list[Statement], path: tuple[str, str]) -> Iterator[tuple[int, int]]:
    """Spans to take away: a table from its header to its last pair, single pairs elsewhere; overlaps with none."""
    table: tuple[str, ...] = ()
    opened: list[int] | None = None
    for index, one in enumerate(statements):
        if one.kind == "header":
            if opened:
                yield opened[0], opened[1]
            table, opened = one.path, None
            if table[:2] == path:
                opened = [_from(statements, index), one.end]
        elif one.kind == "pair" and opened:
            opened[1] = one.end
        elif one.kind == "pair" and (table + one.path)[:2] == path:
            yield one.start, one.end
    if opened:
        yield opened[0], opened[1]


def _from(statements: list[Statement], index: int) -> int:
    before = statements[index - 1] if index else None
    return before.start if before and not before.kind and before.stop == before.start else statements[index].start


def _append(raw: str, path: tuple[str, str], entry: Mapping[str, Any]) -> str:
    newline = _newline(raw)
    gap = "" if not raw else newline if raw.endswith("\n") else newline * 2
    lines = [f"[{'.'.join(map(_key, path))}]", *(f"{_key(key)} = {_value(value)}" for key, value in entry.items())]
    return raw + gap + newline.join(lines) + newline


def _update(raw: str, path: tuple[str, str], entry: Mapping[str, Any], held: Any, where: str) -> str:
    statements, newline = list(_statements(raw)), _newline(raw)
    heads = [index for index, one in enumerate(statements) if one.kind == "header" and one.path == path]
    if len(heads) != 1:
        raise ConfigError(
            f"{'.'.join(path)} is not written as a table of its own",
            where=where,
            way_out=f"write it as [{'.'.join(path)}], or take it away by hand and run this again; nothing was written",
        )
    edits: list[tuple[int, int, str]] = []
    own = list(_pairs_below(statements, heads[0]))
    for key, value in entry.items():
        if held.get(key) == value:
            continue
        text = f"{_key(key)} = {_value(value)}"
        old = [one for one in own if one.path == (key,)]
        head = statements[heads[0]]
        glued = "" if raw[: head.end].endswith("\n") else newline
        edits.append((old[0].start, old[0].stop, text) if old else (head.end, head.end, glued + text + newline))
    for start, end, text in sorted(edits, key=lambda edit: edit[0], reverse=True):
        raw = raw[:start] + text + raw[end:]
    return raw


def _pairs_below(statements: list[Statement], head: int) -> Iterator[Statement]:
    for one in statements[head + 1 :]:
        if one.kind == "header":
            return
        if one.kind == "pair":
            yield one


def _statements(raw: str) -> Iterator[Statement]:
    """Statements of a valid document, in order, without gaps."""
    start = stop = begin = depth = 0
    first = ""
    for token in _TOKEN.finditer(raw):
        text = token[0]
        if text.strip(" \t\r\n") and not text.startswith("#"):
            if not first:
                first, begin = text, token.start()
            stop = token.end()
            depth += (text in "[{") - (text in "]}")
        if (text.endswith("\n") and text.strip("\r\n") == "" and depth == 0) or token.end() == len(raw):
            yield _made(raw, first, start, begin, stop, token)
            start, first = token.end(), ""


def _made(raw: str, first: str, start: int, begin: int, stop: int, last: re.Match[str]) -> Statement:
    if not first:
        empty = not raw[start : last.end()].strip()
        return Statement("", start, start if empty else last.end(), last.end(), ())
    if first == "[":
        return Statement("header", start, stop, last.end(), _keys(tomllib.loads(raw[start:stop])))
    return Statement("pair", start, stop, last.end(), _keys(tomllib.loads(_left(raw[begin:stop]) + "= 0")))


def _left(text: str) -> str:
    """The key of a pair: all before the first ``=`` that is not in quotes."""
    for token in _TOKEN.finditer(text):
        if token[0] == "=":
            return text[: token.start()]
    return text


def _keys(nested: Any) -> tuple[str, ...]:
    keys: list[str] = []
    while isinstance(nested, dict) and nested:
        key, nested = next(iter(nested.items()))
        keys.append(key)
    return tuple(keys)


def _holder(data: Mapping[str, Any], path: tuple[str, str], where: str) -> None:
    holder = data.get(path[0], {})
    own = holder.get(path[1], {}) if isinstance(holder, dict) else {}
    for value, name in ((holder, path[0]), (own, ".".join(path))):
        if not isinstance(value, dict):
            raise ConfigError(f"{name} is no table", where=where, way_out="repair it by hand; nothing was written")


def _judged(after: str, expected: Mapping[str, Any], path: tuple[str, str], where: str) -> str:
    """``after`` when it says exactly what is expected; the one check that no edit escapes."""
    try:
        same = _bare(_loads(after), path[0]) == _bare(expected, path[0])
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise ConfigError(
            f"{path[0]} is written in a form that cannot be edited in place (an inline table?)",
            where=where,
            way_out=f"write each server as a table, [{path[0]}.NAME]; nothing was written",
        )
    return after


def _loads(raw: str) -> dict[str, Any]:
    """Data for comparison: floats stay text, because ``nan`` equals nothing, itself included."""
    return tomllib.loads(raw, parse_float=str)


def _bare(data: Mapping[str, Any], holder: str) -> dict[str, Any]:
    """Without an empty holder: a header of it may or may not be left."""
    return {key: value for key, value in data.items() if key != holder or value}


def _newline(raw: str) -> str:
    return "\r\n" if "\r\n" in raw else "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "[" + ", ".join(_value(one) for one in value) + "]"


def _refused(what: str, where: str, line: str) -> ConfigError:
    return ConfigError(what, where=f"{where}:{line}", way_out="repair that line by hand; nothing was written")
