"""Which bytes of a definition a skeleton leaves out: bodies of functions, comments, long values, all but the first paragraph of
documentation.

Who calls: ``skeleton``. What may not come in: other files, budgets, rules of one language. What a body is the grammar says (the
field ``body``, which every grammar has), what a function or class is the facts say; signatures are never touched.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mog.engine.code import facts as schema

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

RUNS = frozenset({"function", "method", "test"})
CLASSES = frozenset({"class", "interface", "enum", "type", "struct", "trait", "module", "namespace"})
#: Bytes of a value, of documentation and of a function without a name that are shown whole.
VALUE_BYTES, DOC_BYTES, UNNAMED_BYTES = 300, 400, 120
MORE = b" \xe2\x80\xa6"

_CONTENT = re.compile(rb"[0-9A-Za-z_\x80-\xff]")
_BLANK_LINE = re.compile(rb"\r?\n[ \t]*(?:\*+|/{2,3}!?|#+|--|;+|%+)?[ \t]*\r?\n")
_TAG = re.compile(rb"\r?\n[ \t]*\*?[ \t]*@\w")
_CLOSING = re.compile(rb"[ \t\r\n]*(?:\"\"\"|'''|\"|'|\*+/)\s*\Z")
_STRING = re.compile(rb"\s*[rRbBuU]{0,2}(\"\"\"|'''|\"|')")
_LINE_COMMENT = re.compile(rb"[ \t]*(/{2,3}!?|#(?![!\[])|--|;+|%+)")
_MARKS = re.compile(rb"\s+")


class Cut(NamedTuple):
    """Bytes [start, end) left out, and what stands in their place."""

    start: int
    end: int
    instead: bytes = b""


class Shown:
    """Symbols whose signatures are shown within one definition.

    Attributes:
        syms: rows of facts in the order of the file. runs: those of them that have a body to leave out.
    """

    def __init__(self, syms: Sequence[Sequence[Any]]) -> None:
        self.syms = sorted(syms, key=lambda sym: (sym[schema.FULL], -sym[schema.STOP]))
        self.runs = [sym for sym in self.syms if sym[schema.KIND] in RUNS]
        self.classes = {at for sym in self.syms if sym[schema.KIND] in CLASSES for at in (sym[schema.FULL], sym[schema.START])}
        self._starts = sorted(sym[schema.START] for sym in self.syms)
        self._fulls = [sym[schema.FULL] for sym in self.runs]

    def within(self, start: int, end: int) -> bool:
        """Whether one of them begins between two offsets."""
        return bisect_left(self._starts, start) < bisect_right(self._starts, end - 1)

    def run_at(self, at: int) -> Sequence[Any] | None:
        """The function that covers an offset."""
        number = bisect_right(self._fulls, at) - 1
        return self.runs[number] if number >= 0 and at < self.runs[number][schema.STOP] else None


def without(data: bytes, start: int, stop: int, cuts: Sequence[Cut]) -> bytes:
    """Bytes [start, stop) less the cuts; of cuts that overlap, the outer or first one counts."""
    parts = []
    for cut in sorted(cuts, key=lambda one: (one.start, -one.end)):
        if cut.start >= start and cut.end <= stop:
            parts += [data[start : cut.start], cut.instead]
            start = cut.end
    return b"".join([*parts, data[start:stop]])


def head_end(data: bytes, sym: Sequence[Any]) -> int | None:
    """Where the signature of a function ends, found by its one-line form in the bytes; None when that does not say it."""
    start, sig = sym[schema.START], sym[schema.SIG].encode("utf-8", "surrogateescape")
    if not sig or len(sym[schema.SIG]) >= schema.SIGNATURE_LIMIT:
        return None
    end = start + len(sig) if data.startswith(sig, start) else _spelled(data, start, sym[schema.STOP], sig)
    if end is None:
        return None
    colon = re.compile(rb"\s*:").match(data, end)  # opens a body where indentation closes it
    return colon.end() if colon else end


def _spelled(data: bytes, at: int, stop: int, sig: bytes) -> int | None:
    """Where ``sig`` ends in the bytes when white space, and the comma before a closing bracket, do not count."""
    for char in _MARKS.sub(b"", sig):
        while at < stop and data[at] in b" \t\r\n\f\\":
            at += 1
        if at < stop and data[at] == 0x2C and char in b")]}":
            at += 1
            while at < stop and data[at] in b" \t\r\n\f\\":
                at += 1
        if at >= stop or data[at] != char:
            return None
        at += 1
    return at


def doc_after(data: bytes, at: int, stop: int) -> tuple[int, int] | None:
    """The string that begins a body, when nothing but white space stands before it."""
    opened = _STRING.match(data, at, stop)
    if opened is None:
        return None
    end = data.find(opened[1], opened.end(), stop)
    while end > 0 and data[end - 1] == 0x5C:
        end = data.find(opened[1], end + 1, stop)
    return (opened.start() + _leading(opened[0]), end + len(opened[1])) if end >= 0 else None


def _leading(text: bytes) -> int:
    return len(text) - len(text.lstrip())


def doc_before(data: bytes, at: int) -> tuple[int, int] | None:
    """The comment that ends right before an offset: a block, or lines that begin alike."""
    head = data[max(0, at - 8_000) : at]
    text = head.rstrip()
    base = at - len(head)
    if text.endswith(b"*/"):
        opened = text.rfind(b"/*")
        return (base + opened, base + len(text)) if opened >= 0 else None
    if head[len(text):].count(b"\n") > 1:
        return None
    lines = text.split(b"\n")
    mark = _LINE_COMMENT.match(lines[-1])
    count = 0
    while mark and count < len(lines) and lines[-1 - count].lstrip().startswith(mark[1]):
        count += 1
    if not count:
        return None
    length = len(b"\n".join(lines[-count:]))
    return (base + len(text) - length + _leading(lines[-count]), base + len(text))


def doc_cuts(data: bytes, span: tuple[int, int], whole: int) -> Iterator[Cut]:
    """What is left out of documentation that is longer than ``whole`` bytes: all behind its first paragraph."""
    start, end = span
    if end - start <= whole:
        return
    text = data[start:end]
    closing = _CLOSING.search(text)
    last = closing.start() if closing else len(text)
    first = _CONTENT.search(text)
    begin = first.start() if first else 0
    ends = [found.start() for found in (rule.search(text, begin, last) for rule in (_BLANK_LINE, _TAG)) if found]
    stop = min([*ends, last])
    if stop - begin > DOC_BYTES + 200:
        stop = text.rfind(b" ", begin, begin + DOC_BYTES) if b" " in text[begin : begin + DOC_BYTES] else begin + DOC_BYTES
        while 0x80 <= text[stop] < 0xC0:
            stop -= 1
    if stop < last:
        yield Cut(start + stop, start + last, MORE)


def value_cut(data: bytes, sym: Sequence[Any]) -> Iterator[Cut]:
    """What is left out of a long value: all behind the line that names it."""
    start, stop = sym[schema.START], sym[schema.STOP]
    if stop - sym[schema.FULL] <= VALUE_BYTES:
        return
    line = data.find(b"\n", start, stop)
    end = min(line if line >= 0 else stop, start + VALUE_BYTES)
    while end > start and 0x80 <= data[end] < 0xC0:
        end -= 1
    yield Cut(end, stop, MORE)


def run_cuts(data: bytes, sym: Sequence[Any], head: int, stop: int, whole: int) -> Iterator[Cut]:
    """What a function loses: its body, less the documentation that the body begins with.

    Args:
        head: where the signature ends. stop: where the body ends. whole: bytes of documentation that stay as they are.
    """
    doc = doc_after(data, head, stop) if sym[schema.DOC] else None
    if doc is not None:
        yield from doc_cuts(data, doc, whole)
    yield Cut(doc[1] if doc else head, stop)


def class_cuts(
    root: Syntax, base: int, data: bytes, shown: Shown, span: tuple[int, int], docs: Sequence[tuple[int, int]]
) -> Iterator[Cut]:
    """What a class, or anything else that holds definitions, loses: bodies of functions and comments.

    Args:
        root: a tree that covers ``span``. base: offset of its first byte. docs: comments that stay.
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        start, end = node.start_byte + base, node.end_byte + base
        if end <= span[0] or start >= span[1]:
            continue
        if "comment" in node.type:
            run = shown.run_at(start)
            if run is not None and start < run[schema.START]:  # between the overloads and what implements them
                yield from doc_cuts(data, (start, end), 0)
            elif not any(doc[0] <= start < doc[1] for doc in docs):
                yield Cut(start, end)
            continue
        body = node.child_by_field_name("body")
        if body is not None and start not in shown.classes and not shown.within(body.start_byte + base, body.end_byte + base):
            run = shown.run_at(start)
            if run is not None:
                yield from run_cuts(data, run, _before(body) + base, body.end_byte + base, 0)
                continue
            if body.end_byte - body.start_byte > UNNAMED_BYTES:
                yield Cut(body.start_byte + base, body.end_byte + base, MORE)
                continue
        waiting += node.named_children


def body_start(node: Syntax | None, start: int, stop: int) -> int | None:
    """Where the first body of the definition at these bytes begins, less what stands before it; None when it has none."""
    while node is not None and node.parent is not None and node.parent.start_byte >= start and node.parent.end_byte <= stop:
        node = node.parent
    waiting = [node] if node is not None else []
    for _ in range(64):
        if not waiting:
            return None
        one = waiting.pop(0)
        body = one.child_by_field_name("body")
        if body is not None and start < body.start_byte < stop:
            return _before(body)
        waiting += [child for child in one.named_children if child.end_byte > start and child.start_byte < stop]
    return None


def _before(body: Syntax) -> int:
    """Where what stands before a body ends, comments between them left out."""
    before = body.prev_sibling
    while before is not None and "comment" in before.type:
        before = before.prev_sibling
    return int(body.start_byte if before is None else before.end_byte)
