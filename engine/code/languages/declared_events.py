"""From a tree to the facts of its file: the matches of a query file, in the order in which a walk must see them.

Called by the modules of languages on the shared walk. What may not come in: what an event means (``declared`` and the languages know).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tree_sitter import Query, Tree

from mog.engine.code import grammars
from mog.engine.code.facts import Facts
from mog.engine.code.languages.declared import Event, Walk

_CAPTURE = re.compile(r"@(\w+)")
_BEHIND = frozenset(("local", "return", "import"))
_OPENS = frozenset(("class", "function", "method", "space", "block", "scope"))


@cache
def _plan(query: Query, file: str, walk: Any) -> list[tuple[str, Callable[..., None]]]:
    """Event and handler of every pattern of a query file."""
    source = (Path(__file__).parent / f"{file}.scm").read_bytes()
    found = []
    for at in range(query.pattern_count):
        text = source[query.start_byte_for_pattern(at) : query.end_byte_for_pattern(at)].decode()
        event = next(name for name in _CAPTURE.findall(text) if hasattr(walk, f"on_{name}"))
        found.append((event, getattr(walk, f"on_{event}")))
    return found


def facts_by(walk: type[Walk], lang: str, tree: Tree, data: bytes, path: str, file: str = "") -> Facts:
    """Facts of one file (schema in ``facts.py``) by a language's walk. Never raises for odd input; broken parts are left out."""
    query = grammars.query(lang, file)
    assert query is not None
    plan = _plan(query, file or lang, walk)  # type: ignore[arg-type]
    events: list[Event] = []
    for number, (pattern, captured) in enumerate(grammars.matches(query, tree.root_node)):
        event, handler = plan[pattern]
        node = captured[event][0]
        start = node.end_byte - 1 if event in _BEHIND else node.start_byte
        # at one byte: what opens (the larger first), then what is said inside, then what holds from here on
        late = 0 if event in _OPENS else 2 if event in _BEHIND else 1
        events.append((start, (late, node.start_byte - node.end_byte, number), handler, node, captured))
    events.sort(key=lambda event: event[:2])
    made = walk(data, path)
    made.run(events)
    return made.finish(lang)
