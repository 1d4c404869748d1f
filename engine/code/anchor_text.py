"""The fast stream behind anchors: source text with marks, for languages whose grammar we know well.

Who calls: ``engine/code/anchors.py``. What may not come in: symbols, hashing, file access.

A query (run in C) names the few nodes where text alone would not determine the tree: statements, blocks, operators, tuples,
strings, comments, redundant parentheses. One pass over these in source order writes the text with marks and takes string
contents out into a second stream; a handful of regular expressions then drop every blank that separates nothing. Two sources get
the same streams if and only if they differ in cosmetics only, and a symbol is a slice of both streams.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tree_sitter import Language, Node, Query, Tree

from mog.engine.code import grammars
from mog.engine.code.anchor_rules import (
    A_BARE_PARAM,
    A_CHAIN,
    A_COMMENT,
    A_END,
    A_ERROR,
    A_EXACT,
    A_GROUP,
    A_HOLE,
    A_JSX_TEXT,
    A_KEEP,
    A_PAREN,
    A_PLAIN_STRING,
    A_SPAN,
    A_STMT,
    A_STRING,
    A_TEMPLATE,
    A_UNION,
    ACTION_OF_CAPTURE,
    TextRules,
)  # fmt: skip
from mog.engine.code.anchor_streams import CLOSE, OPEN, SPAN, STMT, TEXT, Slice, Streams, newlines, unmarked, unquoted

# A key sorts captures by (start, longest first, action): start << 40 | (LAST - end) << 8 | action.
_LAST = (1 << 32) - 1

# Each begins with a literal, which lets the regular expression engine skip to candidates.
_BLANK = re.compile(rb" (?:(?![\w$\x80-\xff])|(?<=[^\w$\x80-\xff] ))")
_SEMICOLON = re.compile(rb";(?=[\x02}\x0e]|\Z)")
_COMMA = re.compile(rb",(?=[)\]}>])(?<![\[({,<],)")


def text_streams(
    rules: TextRules,
    tree: Tree,
    data: bytes,
    spans: Sequence[tuple[int, int]],
    marks: Mapping[str, Sequence[Node]] | None = None,
) -> Streams:
    """Both streams of ``data``, cut at ``spans`` (byte ranges of nodes or of runs of sibling nodes)."""
    if marks is None:
        marks = grammars.captures(_query(rules, tree.language), tree.root_node)
    writer = _Writer(marks, data, spans)
    writer.run()
    contents = [b"%d:%b" % (len(content), content) for content in writer.contents]
    return Streams(_squeeze(b"".join(writer.out)).split(SPAN), contents, writer.slices, b"")


def _squeeze(text: bytes) -> bytes:
    """Drop blanks that separate nothing, separators the marks repeat, and commas before a closing bracket."""
    text = _BLANK.sub(b"", b" ".join(text.split()))
    text = _SEMICOLON.sub(b"", text).replace(b"," + STMT, STMT)
    return _COMMA.sub(b"", text).replace(OPEN + b"|", OPEN).replace(OPEN + b"&", OPEN)


@lru_cache(maxsize=32)
def _query(rules: TextRules, language: Language) -> Query:
    return Query(language, rules.query)


def _keys(marks: Mapping[str, Sequence[Node]], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Sorted keys of all captures and spans."""
    keys: list[int] = []
    for name, nodes in marks.items():
        action = ACTION_OF_CAPTURE[name]
        if action == A_STMT:
            keys += [node.start_byte << 40 | A_STMT for node in nodes]
        else:
            base = (_LAST << 8) + action
            keys += [(node.start_byte << 40) + base - (node.end_byte << 8) for node in nodes]
    keys += [start << 40 | (_LAST - end) << 8 | A_SPAN for start, end in spans]
    keys.sort()
    keys.append(_LAST << 40 | A_END)
    return keys


class _Writer:
    """One pass over the captures of one file. ``run`` fills ``out``, ``contents`` and ``slices``."""

    def __init__(self, marks: Mapping[str, Sequence[Node]], data: bytes, spans: Sequence[tuple[int, int]]) -> None:
        self.data = data
        self.code = unmarked(data)
        self.keys = _keys(marks, spans)
        self.order = sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1]))
        self.slices = [Slice(0, 0, 0, 0)] * len(spans)
        self.out: list[bytes] = []
        self.contents: list[bytes] = []
        # Open regions: where each ends, what to do there, and one value of its own.
        self.ends = [1 << 62]
        self.todo = [A_END]
        self.extra: list[Any] = [None]
        self.pos = 0
        self.marks = 0
        self.opened = 0

    def run(self) -> None:
        code, ends, todo, extra = self.code, self.ends, self.todo, self.extra
        put = self.out.append
        pos, top = 0, ends[0]
        for key in self.keys:
            start = key >> 40
            if top <= start:
                self.pos = pos
                self._close(start)
                pos, top = self.pos, ends[-1]
            action = key & 255
            if start < pos:
                if action > A_ERROR:
                    continue
            elif action == A_STMT:
                put(code[pos:start])
                put(STMT)
                pos = start
                continue
            elif action == A_GROUP:
                put(code[pos:start])
                put(OPEN)
                pos = start
                top = _LAST - (key >> 8 & _LAST)
                ends.append(top)
                todo.append(A_GROUP)
                extra.append(None)
                continue
            elif action == A_COMMENT:
                put(code[pos:start])
                put(b" ")
                pos = _LAST - (key >> 8 & _LAST)
                continue
            if action == A_END:
                break
            self.pos = pos
            self._open(action, start, _LAST - (key >> 8 & _LAST))
            pos, top = self.pos, ends[-1]
        put(code[pos:])

    def _push(self, end: int, action: int, extra: Any = None) -> None:
        self.ends.append(end)
        self.todo.append(action)
        self.extra.append(extra)

    def _flush(self, upto: int) -> None:
        if upto > self.pos:
            self.out.append(self.code[self.pos : upto])
            self.pos = upto

    def _open(self, action: int, start: int, end: int) -> None:
        """Begin what lies at ``start``; rare kinds only, ``run`` handles the frequent ones itself."""
        if action == A_STRING:
            self._take(start, end, b"'" + unquoted(self.data[start + 1 : end - 1]))
        elif action == A_SPAN:
            self._flush(start)
            self.out.append(SPAN)
            self.marks += 1
            self._push(end, A_SPAN, (self.order[self.opened], self.marks, len(self.contents)))
            self.opened += 1
        elif action == A_PAREN:
            self._flush(start)
            self.out.append(b" ")
            self.pos = start + 1
            self._push(end, A_PAREN)
        elif action == A_UNION:
            if not (self.todo[-1] == A_UNION and self.pos == start and self.out[-1] is OPEN):
                self._flush(start)
                self.out.append(OPEN)
                self._push(end, A_UNION)
        elif action in (A_KEEP, A_CHAIN):
            if action == A_KEEP or b"?." in self.data[start:end]:
                self._flush(start + 1)
        elif action == A_BARE_PARAM:
            self._flush(start)
            self.out.append(b"(")
            self._push(end, A_BARE_PARAM)
        elif action == A_ERROR:
            self.contents.append(b"\0" + self.data[start:end])
        else:
            self._open_content(action, start, end)

    def _open_content(self, action: int, start: int, end: int) -> None:
        """Begin a region whose bytes go to the second stream, or code inside one."""
        data = self.data
        if action == A_EXACT:
            self._take(start, end, newlines(data[start:end]))
        elif action == A_PLAIN_STRING:
            self._take(start, end, b"'" + newlines(data[start + 1 : end - 1]))
        elif action == A_JSX_TEXT:
            content = _jsx_text(data, start, end)
            self._flush(start)
            if content:
                self._take(start, end, content)
            self.pos = end
        elif action == A_TEMPLATE:
            self._take(start, start + 1, b"`")
            self._push(end, A_TEMPLATE)
        elif action == A_HOLE:
            if self.todo[-1] == A_TEMPLATE:
                self._keep_chunk(start)
            else:
                self._flush(start)
            self._push(end, A_HOLE)

    def _take(self, start: int, end: int, content: bytes) -> None:
        self._flush(start)
        self.out.append(TEXT)
        self.contents.append(content)
        self.pos = end

    def _keep_chunk(self, upto: int) -> None:
        """Put template text up to ``upto`` into the second stream."""
        upto = max(upto, self.pos)
        self.contents.append(newlines(self.data[self.pos : upto]))
        self.pos = upto

    def _close(self, start: int) -> None:
        """End every open region that ends at or before ``start``."""
        out, ends, todo = self.out, self.ends, self.todo
        while ends[-1] <= start:
            action = todo[-1]
            end = ends[-1]
            if action in (A_GROUP, A_UNION):
                self._flush(end)
                out.append(CLOSE)
            elif action == A_SPAN:
                self._close_span(end)
            elif action == A_PAREN:
                self._flush(end - 1 if self.data[end - 1 : end] == b")" else end)
                out.append(b" ")
                self.pos = max(self.pos, end)
            elif action == A_HOLE:
                self._flush(end)
            elif action == A_BARE_PARAM:
                self._flush(end)
                out.append(b")")
            else:
                self._keep_chunk(end - 1)
                self.pos = max(self.pos, end)
            ends.pop()
            todo.pop()
            self.extra.pop()

    def _close_span(self, end: int) -> None:
        self._flush(end)
        self.out.append(SPAN)
        self.marks += 1
        where, f0, s0 = self.extra[-1]
        self.slices[where] = Slice(f0, self.marks, s0, len(self.contents))


def _jsx_text(data: bytes, start: int, end: int) -> bytes:
    """JSX text as React reads it: lines trimmed and joined by one space; exact beside a character reference."""
    raw = newlines(data[start:end])
    if data[start - 1 : start] == b";" or data[end : end + 1] == b"&" or b"\n" not in raw:
        return raw
    lines = raw.replace(b"\t", b" ").split(b"\n")
    last = len(lines) - 1
    kept = [line if i == 0 else line.lstrip(b" ") for i, line in enumerate(lines)]
    kept = [line if i == last else line.rstrip(b" ") for i, line in enumerate(kept)]
    return b" ".join(line for line in kept if line)
