"""Python: from a tree to facts, by one query and one pass over its matches in order. Called by ``engine/code/extract.py``.

What may not come in: recursion, other files, regular expressions over whole files. Local names are resolved while walking
(flow of the text, joined where a block may not run), so the linker sees module-level names, ``self`` and pointers only.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from tree_sitter import Node, Query, QueryCursor, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars
from mog.engine.code.anchors import hash_symbols
from mog.engine.code.facts import Facts
from mog.engine.code.languages.python_binds import Captures
from mog.engine.code.languages.python_walk import HANDLERS, Walk

VERSION = 4

_VALUES = "; names used as values"
_NO_BRACKET = bytes(set(range(256)) - set(b"()[]{}"))
_DEEP = 1000
_CAPTURE = re.compile(r"@(\w+)")
_BYTES_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
# position of an event: at the start of its node, or with its last byte (what it binds holds from then on)
_AT_END = {"set", "lost", "walrus", "with", "except", "end", "import", "from", "global", "return"}
_RANK = {"enter": 2, "deco": 1, "block": 3}
# events whose handler needs all captures of the match, not its own node only
_WHOLE = {"class", "def", "enter", "set", "typing"}


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one Python file (schema in ``facts.py``). Never raises for odd input; broken parts are left out."""
    walk = Walk(data, path)
    deep = _nests_deeply(data)
    query = grammars.query("python", until=_VALUES if deep else "")
    assert query is not None
    walk.run(*_events(query, tree.root_node, data))
    found = walk.finish(lang)
    if deep:
        found["problems"].append(["deep_nesting", 0])
    rows = found["syms"]
    hashes = hash_symbols(lang, tree, data, [(row[schema.FULL], row[schema.STOP], row[schema.NAME]) for row in rows])
    for row, (span, body) in zip(rows, hashes, strict=True):
        row[schema.SPAN], row[schema.BODY] = span, body
    return found


def _nests_deeply(data: bytes) -> bool:
    """Whether brackets may nest so deeply that patterns of the form (parent child) would take quadratic time."""
    signs = data.translate(None, _NO_BRACKET)
    depth = 0
    for at in range(0, len(signs), 256):
        part = signs[at : at + 256]
        opened = part.count(b"(") + part.count(b"[") + part.count(b"{")
        if depth + opened > _DEEP:
            return True
        depth = max(0, depth + 2 * opened - len(part))
    return False


@cache
def _kinds(query: Query) -> list[str]:
    """Event name of every pattern: the capture that has a handler."""
    source = (Path(__file__).parent / "python.scm").read_bytes()
    found = []
    for at in range(query.pattern_count):
        text = source[query.start_byte_for_pattern(at) : query.end_byte_for_pattern(at)].decode()
        found.append(next(name for name in _CAPTURE.findall(text) if name == "call" or name in HANDLERS))
    return found


def _events(query: Query, root: Node, data: bytes) -> tuple[list[int], list[tuple[str, Any]]]:
    """Matches in the order in which the walk must see them: sorted keys, and (event, node or captures) by number.

    A key packs position, rank and number. Names used as values count only where the file defines or imports such a name.
    """
    keys: list[int] = []
    events: list[tuple[str, Any]] = []
    kinds = _kinds(query)
    matches = QueryCursor(query).matches(root)
    known = _names_known(matches, kinds, data)
    number = 0
    for pattern, captured in matches:
        name = kinds[pattern]
        (node,) = captured[name]
        if name == "call":
            keys.append((node.start_byte << 3 | 4) << 24 | number)
        elif name == "ref":
            start = node.start_byte
            if data[start : node.end_byte].partition(b".")[0] not in known:
                continue
            keys.append((start << 3 | 4) << 24 | number)
        elif name in _AT_END:
            keys.append((node.end_byte - 1 << 3 | 5) << 24 | number)
        elif name == "for":
            right = node.child_by_field_name("right")
            keys.append(((right or node).end_byte - 1 << 3 | 5) << 24 | number)
        else:
            keys.append((node.start_byte << 3 | _RANK.get(name, 4)) << 24 | number)
            if name == "class" or name == "def":
                events.append((name, captured))
                number += 1
                name = "enter"
                keys.append((captured["body"][0].start_byte << 3 | 2) << 24 | number)
        events.append((name, captured if name in _WHOLE else node))
        number += 1
    keys.sort()
    return keys, events


def _names_known(matches: list[tuple[int, Captures]], kinds: list[str], data: bytes) -> set[bytes]:
    """Names this file defines or imports, at any depth."""
    known = {b"self", b"cls"}
    telling = {at for at, name in enumerate(kinds) if name in ("class", "def", "import", "from")}
    for pattern, captured in matches:
        if pattern in telling:
            if "name" in captured:
                (at,) = captured["name"]
                known.add(data[at.start_byte : at.end_byte])
            else:
                (at,) = captured[kinds[pattern]]
                known.update(_BYTES_WORD.findall(data, at.start_byte, at.end_byte))
    return known
