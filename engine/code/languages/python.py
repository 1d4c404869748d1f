"""Python: from a tree to facts, by one query and one pass over its matches in order. Called by ``engine/code/extract.py``.

What may not come in: recursion, other files, regular expressions over whole files. Local names are resolved while walking
(flow of the text, joined where a block may not run), so the linker sees module-level names, ``self`` and pointers only.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tree_sitter import Node, Query, Tree

from mog.engine.code import grammars
from mog.engine.code.facts import Facts
from mog.engine.code.languages.python_walk import HANDLERS, Event, Handler, Walk

VERSION = 5

_CAPTURE = re.compile(r"@(\w+)")
_BYTES_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
# order of events at one byte; those of the last rank come with the last byte of their node (what they bind holds from then on)
_HERE, _BEHIND = 4, 5
_RANK = {"deco": 1, "enter": 2, "block": 3} | dict.fromkeys(
    ("set", "lost", "walrus", "for", "with", "except", "end", "import", "from", "global", "return"), _BEHIND
)
# events whose handler needs all captures of the match, not its own node only
_WHOLE = {"class", "def", "enter", "set", "typing"}


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one Python file (schema in ``facts.py``). Never raises for odd input; broken parts are left out."""
    walk = Walk(data, path)
    query = grammars.query("python")
    assert query is not None
    walk.run(*_events(query, tree.root_node, data))
    return walk.finish(lang)


@cache
def _plan(query: Query) -> list[tuple[str, Handler | None, int]]:
    """What each pattern of the query stands for: the capture that names its event, the handler (None: a call), the rank."""
    source = (Path(__file__).parent / "python.scm").read_bytes()
    found: list[tuple[str, Handler | None, int]] = []
    for at in range(query.pattern_count):
        text = source[query.start_byte_for_pattern(at) : query.end_byte_for_pattern(at)].decode()
        name = next(name for name in _CAPTURE.findall(text) if name == "call" or name in HANDLERS)
        found.append((name, HANDLERS.get(name), _RANK.get(name, _HERE)))
    return found


def _events(query: Query, root: Node, data: bytes) -> tuple[list[int], list[Event]]:
    """Matches in the order in which the walk must see them: sorted keys, and (handler, what it gets) by number.

    A key packs position, rank and number. Names used as values count only where the file defines or imports such a name.
    """
    keys: list[int] = []
    events: list[Event] = []
    refs: list[Node] = []
    known = {b"self", b"cls"}
    plan = _plan(query)
    for pattern, captured in grammars.matches(query, root):
        name, handler, rank = plan[pattern]
        (node,) = captured[name]
        if handler is None:
            keys.append((node.start_byte << 3 | _HERE) << 24 | len(events))
            events.append((None, node))
            continue
        if name == "ref":
            refs.append(node)
            continue
        if rank == _BEHIND:
            last = node.child_by_field_name("right") if name == "for" else node
            keys.append(((last or node).end_byte - 1 << 3 | rank) << 24 | len(events))
        else:
            keys.append((node.start_byte << 3 | rank) << 24 | len(events))
        events.append((handler, captured if name in _WHOLE else node))
        if name == "class" or name == "def":
            known.add(_raw(captured["name"][0], data))
            keys.append((captured["body"][0].start_byte << 3 | _RANK["enter"]) << 24 | len(events))
            events.append((HANDLERS["enter"], captured))
        elif name == "import" or name == "from":
            known.update(_BYTES_WORD.findall(data, node.start_byte, node.end_byte))
    for node in refs:
        raw = _raw(node, data)
        if raw.partition(b".")[0] in known:
            keys.append((node.start_byte << 3 | _HERE) << 24 | len(events))
            events.append((HANDLERS["ref"], raw))
    keys.sort()
    return keys, events


def _raw(node: Node, data: bytes) -> bytes:
    return data[node.start_byte : node.end_byte]
