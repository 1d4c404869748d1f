"""Keys of YAML, JSON and TOML documents that a rule selects. Called by ``collect``. What may not come in: rules of a framework.

Nothing is built from a document: YAML gives nodes, aliases count as values of their own and are not followed, depth, size and the
number of matches are bounded.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_BYTES = 2_000_000
MAX_NESTING = 100
MAX_FOUND = 5_000

Found = tuple[dict[str, str], int]


class Unreadable(ValueError):
    """A document that is no document of its kind; the text says why."""


class Value:
    """One value: ``plain`` (mapping of Values, list of Values, or text), the line it starts on (0: not known)."""

    __slots__ = ("line", "plain")

    def __init__(self, plain: Any, line: int) -> None:
        self.plain = plain
        self.line = line


def parse(data: bytes, language: str) -> list[Value]:
    """The documents of a file.

    Raises:
        Unreadable: too large, too deep, or broken.
    """
    if len(data) > MAX_BYTES:
        raise Unreadable("document_too_large")
    if _deep(data):
        raise Unreadable("document_too_deep")
    try:
        text = data.decode("utf-8-sig")
        if language == "toml":
            return [_plain(tomllib.loads(text), 0)]
        if language == "json":
            return [_plain(json.loads(text), 0)]
        return _yaml(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("document_broken") from error


def _deep(data: bytes) -> bool:
    """Whether brackets or blanks nest deeper than any document of a project does."""
    depth = most = 0
    for sign in re.findall(rb"[\[{\]}]", data):
        depth += 1 if sign in b"[{" else -1
        most = max(most, depth)
    return most > MAX_NESTING or re.search(rb"^[ -]{400}", data, re.M) is not None


def _yaml(text: str) -> list[Value]:
    import yaml

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return [_node(node, frozenset()) for node in yaml.compose_all(text, Loader=loader) if node is not None]
    except yaml.YAMLError as error:
        raise Unreadable("document_broken") from error


def _node(node: Any, above: frozenset[int]) -> Value:
    line = node.start_mark.line + 1
    if id(node) in above or len(above) > MAX_NESTING:
        return Value("", line)
    if node.id == "mapping":
        return Value(
            _Lazy([(str(key.value), key.start_mark.line + 1, value) for key, value in node.value], above | {id(node)}),
            line,
        )
    if node.id == "sequence":
        return Value(_Lazy([("", one.start_mark.line + 1, one) for one in node.value], above | {id(node)}), line)
    return Value(str(node.value), line)


class _Lazy:
    """Entries of a YAML node, made into values when a selection comes by: what is not selected costs nothing."""

    __slots__ = ("above", "entries")

    def __init__(self, entries: list[tuple[str, int, Any]], above: frozenset[int]) -> None:
        self.entries = entries
        self.above = above

    def items(self) -> Iterator[tuple[str, int, Value]]:
        for name, line, node in self.entries:
            yield name, line, _node(node, self.above)


def _plain(value: Any, depth: int) -> Value:
    if isinstance(value, Mapping) and depth < MAX_NESTING:
        return Value({str(key): _plain(held, depth + 1) for key, held in value.items()}, 0)
    if isinstance(value, list) and depth < MAX_NESTING:
        return Value([_plain(one, depth + 1) for one in value], 0)
    return Value(str(value), 0)


def _entries(value: Value) -> Iterator[tuple[str, int, Value]]:
    plain = value.plain
    if isinstance(plain, _Lazy):
        yield from plain.items()
    elif isinstance(plain, Mapping):
        yield from ((name, 0, held) for name, held in plain.items())
    elif isinstance(plain, list):
        yield from (("", 0, one) for one in plain)


def select(documents: Sequence[Value], steps: Sequence[str]) -> Iterator[Found]:
    """What the steps lead to: captures and line of each.

    A step is a key, ``*`` (any key or item), ``{name}`` (any key, captured), and at the end ``{name=}`` (the value, captured).
    """
    work: list[tuple[Value, int, dict[str, str], int]] = [(one, 0, {}, one.line) for one in reversed(documents)]
    found = 0
    while work and found < MAX_FOUND:
        value, at, captures, line = work.pop()
        if at == len(steps):
            found += 1
            yield captures, line
            continue
        step = steps[at]
        if step.endswith("=}"):
            if isinstance(value.plain, str):
                work.append((value, at + 1, {**captures, step[1:-2]: value.plain}, value.line or line))
            continue
        onward = [
            (one, at + 1, {**captures, **_captured(step, name)}, here or line)
            for name, here, one in _entries(value)
            if _fits(step, name)
        ]
        work.extend(reversed(onward[:MAX_FOUND]))


def _fits(step: str, name: str) -> bool:
    return step == "*" or (step[0] == "{" and name != "") or step == name


def _captured(step: str, name: str) -> dict[str, str]:
    return {step[1:-1]: name} if step[0] == "{" else {}
