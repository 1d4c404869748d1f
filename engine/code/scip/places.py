"""Where calls and imports stand in a file, and which symbol of its facts each belongs to. Called by ``overlay`` and ``export``.

Facts hold no places of calls, so the file is parsed again; this costs only repositories that read or write SCIP. What may not
come in: SCIP, other files, what a call means. One table says for each grammar which nodes call and which field holds the callee;
a grammar that lacks one of them simply has fewer patterns. No recursion over the tree.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tree_sitter import Node, Query, QueryError, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars
from mog.engine.code.link_view import is_plain

# (node, field that holds what is called), for whatever grammar knows them
_CALLS = (
    ("call", "function"), ("call", "method"), ("call_expression", "function"), ("new_expression", "constructor"),
    ("new_expression", "type"), ("jsx_opening_element", "name"), ("jsx_self_closing_element", "name"),
    ("macro_invocation", "macro"), ("method_invocation", "name"), ("object_creation_expression", "type"),
    ("invocation_expression", "function"), ("function_call_expression", "function"), ("member_call_expression", "name"),
    ("nullsafe_member_call_expression", "name"), ("scoped_call_expression", "name"),
)  # fmt: skip
_IMPORTS = (
    "import_statement", "import_from_statement", "future_import_statement", "import_declaration", "use_declaration",
    "using_directive", "namespace_use_declaration", "preproc_include", "import_spec",
)  # fmt: skip
# fields that lead from a callee to the name that is called, in the order they are tried
_TOWARDS_NAME = ("attribute", "property", "field", "name", "function", "type")
_WRAPPED = frozenset(
    {"parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression", "await"}
)
_DEPTH = 64
_WORD = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")


class Site(NamedTuple):
    """One call: bytes of the name as written, and the symbols it may belong to, the likeliest first (-1: the file)."""

    start: int
    stop: int
    scopes: tuple[int, ...]


class Places:
    """Calls, imports and scopes of one file.

    Args:
        syms: symbol rows of its facts.
    """

    def __init__(self, lang: str, data: bytes, syms: Sequence[Sequence[Any]]) -> None:
        self.data = data
        self.syms = syms
        parser = grammars.parser(lang)
        self.tree: Tree | None = grammars.parse(parser, data) if parser is not None else None
        found = _captured(lang, self.tree)
        self.imports = sorted((node.start_byte, node.end_byte) for node in found.get("import", ()))
        self._python = lang == "python"
        self.spans = _spans(syms)
        self._bodies: dict[int, int] = {}
        names = sorted({(leaf.start_byte, leaf.end_byte) for node in found.get("callee", ()) if (leaf := _leaf(node))})
        self.sites = [Site(start, stop, self.scopes(start, stop)) for start, stop in names]

    def scopes(self, start: int, stop: int) -> tuple[int, ...]:
        """Symbols that hold a place, innermost first, -1 last. In Python what stands before a body belongs to what is around it."""
        line = self._around(start, stop)
        if self._python and line and start < self.body(line[0]):
            line = [*line[1:2], line[0], *line[2:]]
            if len(line) == 1:
                return (-1, line[0])
        return (*line, -1)

    def _around(self, start: int, stop: int) -> list[int]:
        """Symbols around a place, innermost first."""
        at = self.spans.innermost(start)
        found = []
        while at >= 0:
            if self.syms[at][schema.STOP] >= stop:
                found.append(at)
            at = self.spans.above[at]
        return found

    def body(self, ord: int) -> int:
        """Where the body of a symbol begins."""
        if ord not in self._bodies:
            row = self.syms[ord]
            node = self.node(ord)
            body = node.child_by_field_name("body") if node is not None else None
            self._bodies[ord] = body.start_byte if body is not None else row[schema.START]
        return self._bodies[ord]

    def node(self, ord: int) -> Node | None:
        """The node of a symbol's definition, where one spans exactly it."""
        if self.tree is None:
            return None
        row = self.syms[ord]
        return self.tree.root_node.descendant_for_byte_range(row[schema.START], row[schema.STOP])

    def name(self, ord: int) -> tuple[int, int] | None:
        """Where the name of a symbol stands in its definition; None when it is not written there."""
        row = self.syms[ord]
        name = str(row[schema.NAME]).encode("utf-8", "surrogatepass")
        start, stop = row[schema.START], row[schema.STOP]
        if stop <= start or not name:
            return None
        node = self.node(ord)
        for _ in range(4):
            if node is None:
                break
            for field in ("name", "declarator", "left", "key", "property"):
                held = node.child_by_field_name(field)
                if held is not None and self.data[held.start_byte : held.end_byte] == name:
                    return held.start_byte, held.end_byte
            node = node.child_by_field_name("declarator") or node.child_by_field_name("left")
        for match in _WORD.finditer(self.data, start, min(stop, start + 4_096)):
            if match.group() == name:
                return match.span()
        return None

    def in_import(self, start: int) -> bool:
        """Whether a place lies in an import."""
        at = bisect_right(self.imports, (start, len(self.data) + 1)) - 1
        return at >= 0 and start < self.imports[at][1]


class _Spans:
    """Symbols by where they are: for an offset the innermost one, from there outwards by ``above``."""

    def __init__(self, starts: list[int], tops: list[int], above: dict[int, int]) -> None:
        self._starts = starts
        self._tops = tops
        self.above = above

    def innermost(self, offset: int) -> int:
        """The symbol that was opened last at or before an offset and holds it, or one around it that may; -1 for none."""
        at = bisect_right(self._starts, offset) - 1
        return self._tops[at] if at >= 0 else -1


def _spans(syms: Sequence[Sequence[Any]]) -> _Spans:
    """Lay the spans of what can hold calls over each other; they nest as the text does."""
    rows = sorted(
        (row[schema.START], -row[schema.STOP], ord)
        for ord, row in enumerate(syms)
        if row[schema.STOP] > row[schema.START] and not is_plain(row)  # type: ignore[arg-type]
    )
    starts: list[int] = []
    tops: list[int] = []
    above: dict[int, int] = {}
    open_: list[tuple[int, int]] = []
    for start, minus, ord in rows:
        while open_ and open_[-1][0] <= start:
            ended = open_.pop()
            starts.append(ended[0])
            tops.append(open_[-1][1] if open_ else -1)
        above[ord] = open_[-1][1] if open_ else -1
        open_.append((-minus, ord))
        starts.append(start)
        tops.append(ord)
    while open_:
        ended = open_.pop()
        starts.append(ended[0])
        tops.append(open_[-1][1] if open_ else -1)
    return _Spans(starts, tops, above)


def _captured(lang: str, tree: Tree | None) -> dict[str, list[Node]]:
    query = _query(lang)
    return grammars.captures(query, tree.root_node) if tree is not None and query is not None else {}


@lru_cache(maxsize=32)
def _query(lang: str) -> Query | None:
    """One query of all patterns that a grammar understands."""
    language = grammars.language(lang)
    if language is None:
        return None
    kept = [pattern for pattern in _patterns() if _understood(language, pattern)]
    return Query(language, "\n".join(kept)) if kept else None


def _patterns() -> Iterator[str]:
    for node, field in _CALLS:
        yield f"({node} {field}: (_) @callee)"
    for node in _IMPORTS:
        yield f"({node}) @import"


def _understood(language: Any, pattern: str) -> bool:
    try:
        Query(language, pattern)
    except QueryError:
        return False
    return True


def _leaf(node: Node) -> Node | None:
    """The name that a callee ends in; None when it ends in no name (a call of what a call gave, a subscript)."""
    for _ in range(_DEPTH):
        if node.named_child_count == 0:
            return node
        inner: Node | None
        if node.type in _WRAPPED:
            inner = node.named_child(0)
        else:
            inner = next((held for field in _TOWARDS_NAME if (held := node.child_by_field_name(field))), None)
            if node.type in ("call", "call_expression", "subscript", "subscript_expression"):
                return None
        if inner is None:
            return None
        node = inner
    return None
