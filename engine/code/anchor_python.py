"""The stream behind anchors of Python: logical lines of the source, without what only looks.

Who calls: ``engine/code/anchors.py``. What may not come in: symbols, hashing, file access, recursion.

Python's meaning is its token sequence with NEWLINE, INDENT and DEDENT (Language Reference, 2.1). The tree gives where statements
and blocks begin; one regular expression finds strings and comments; the rest is text. Strings go to a second stream with quotes,
prefixes and escaped quotes normalised; documentation, comments, redundant parentheses and trailing commas are blanked in place
(so that offsets stay true), and blanks that separate nothing are dropped at the end. A symbol is a slice of both streams.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

from tree_sitter import Language, Node, Tree

from mog.engine.code.anchor_parens import Parens
from mog.engine.code.anchor_streams import DEDENT, INDENT, STMT, TEXT, Slice, Streams, newlines, unmarked, unquoted

_SIMPLE, _COMPOUND, _BODIED, _BLOCK = 1, 2, 3, 4

_STATEMENTS = """
expression_statement return_statement assert_statement raise_statement import_statement import_from_statement delete_statement
future_import_statement pass_statement break_statement continue_statement global_statement nonlocal_statement exec_statement
print_statement type_alias_statement decorator
"""
_COMPOUNDS = """
if_statement for_statement while_statement with_statement try_statement match_statement case_clause elif_clause else_clause
except_clause finally_clause decorated_definition ERROR
"""

# a comment, or a string with its content as the last group
_TOKEN = re.compile(
    rb"#[^\n]*"
    rb'|"""([^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*)"""'
    rb"|'''([^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*)'''"
    rb'|"([^"\\\n]*(?:\\.[^"\\\n]*)*)"'
    rb"|'([^'\\\n]*(?:\\.[^'\\\n]*)*)'",
    re.S,
)
_PREFIX = re.compile(rb"(?<![\w\x80-\xff])([A-Za-z]{1,2})\Z")
_PREFIXES = frozenset(b"r u b br rb f fr rf t tr rt".split())
_EQUALS = re.compile(rb"=\s*")
_DOC_START = frozenset(b"\"'rRuU")
_LETTERS = re.compile(rb"[A-Za-z]*")
_BYTES_OR_HOLES = frozenset(b"bBfFtT")
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

# Each begins with a literal, which lets the regular expression engine skip to candidates.
_BLANK = re.compile(rb" (?:(?![\w\x80-\xff])|(?<=[^\w\x80-\xff] ))")
_COMMA = re.compile(rb",(?=[)\]}])(?<![\[({,],)")
_EMPTY_BASES = re.compile(rb"class (?<![\w\x80-\xff]class )([\w\x80-\xff]+)\(\):")
_BLANKS = b" " * 4096
_TEXT_FILL = TEXT + b" " * 4095
_DEDENTS = [STMT + DEDENT * n for n in range(100)]


def python_streams(tree: Tree, data: bytes, spans: Sequence[tuple[int, int]]) -> Streams:
    """Both streams of a Python file, cut at ``spans`` (byte ranges of statements, decorators included)."""
    lines = _Lines(tree, data)
    contents = _Contents(tree, data, lines.docs)
    Parens(lines.starts, lines.nodes, contents.code).blank()
    fragments = _squeeze(_marked(bytes(contents.code), lines)).split(STMT)
    starts, places = lines.starts, contents.places
    slices = []
    for start, end in spans:
        first = bisect_right(starts, start) or 1
        slices.append(
            Slice(
                first,
                max(bisect_left(starts, end) + 1, first + 1),
                bisect_left(places, start),
                bisect_left(places, end),
            )
        )
    return Streams(fragments, contents.contents, slices, STMT)


def _marked(text: bytes, lines: _Lines) -> bytes:
    """The text with a mark before every statement that says how many blocks ended or that one began."""
    starts = lines.starts
    if not starts:
        return text
    parts = [b""] * (2 * len(starts) + 1)
    parts[0] = text[: starts[0]]
    parts[1::2] = lines.marks
    parts[2::2] = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return b"".join(parts)


def _squeeze(text: bytes) -> bytes:
    """Drop blanks that separate nothing and commas before a closing bracket."""
    if b"\\" in text:
        text = text.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
    if b";" in text:
        text = text.replace(b";", b" ")
    text = b" ".join(text.split())
    text = _COMMA.sub(b"", _BLANK.sub(b"", text))
    return _EMPTY_BASES.sub(rb"class \1:", text).replace(Parens.COMMA, b",")


@lru_cache(maxsize=8)
def _kinds(language: Language) -> tuple[bytes, int]:
    """Role of every node kind, and the id of the field ``body``."""
    roles = bytearray(language.node_kind_count + 1)
    wanted = {**dict.fromkeys(_STATEMENTS.split(), _SIMPLE), **dict.fromkeys(_COMPOUNDS.split(), _COMPOUND),
              "function_definition": _BODIED, "class_definition": _BODIED, "block": _BLOCK}  # fmt: skip
    for kind in range(language.node_kind_count):
        if language.node_kind_is_named(kind):
            roles[kind] = wanted.get(language.node_kind_for_id(kind) or "", 0)
    return bytes(roles), language.field_id_for_name("body") or 0


class _Lines:
    """Where statements begin, the mark and node of each, and documentation (its end by its start)."""

    def __init__(self, tree: Tree, data: bytes) -> None:
        self.data = data
        self.starts: list[int] = []
        self.marks: list[bytes] = []
        self.nodes: list[Node] = []
        self.docs: dict[int, int] = {}
        self._walk(tree)

    def _walk(self, tree: Tree) -> None:
        roles, body_field = _kinds(tree.language)
        size = len(roles)
        starts, marks, docs, nodes_of = self.starts, self.marks, self.docs, self.nodes
        indented = INDENT + STMT
        depth = level = 0
        last = -1
        children = tree.root_node.children
        self._documentation(children)
        # (nodes still to do, depth of their block), innermost last
        stack = [(iter(children), 0)]
        while stack:
            nodes, depth = stack[-1]
            for node in nodes:
                kind = node.kind_id
                role = roles[kind] if kind < size else _COMPOUND
                if not role:
                    continue
                if role == _BLOCK:
                    stack.append((iter(node.children), depth + 1))
                    break
                start = node.start_byte
                if start in docs:
                    continue
                if start != last:
                    starts.append(start)
                    nodes_of.append(node)
                    ended = level - depth
                    marks.append(indented if ended < 0 else _DEDENTS[ended] if ended < 100 else STMT + DEDENT * ended)
                    level, last = depth, start
                if role == _SIMPLE:
                    continue
                if role == _BODIED:
                    body = node.child_by_field_id(body_field)
                    if body is None:
                        continue
                    inner = body.children
                    self._documentation(inner)
                    stack.append((iter(inner), depth + 1))
                else:
                    stack.append((iter(node.children), depth))
                break
            else:
                stack.pop()

    def _documentation(self, children: list[Node]) -> None:
        """Remember the string that opens a module, class or function."""
        data = self.data
        for node in children:
            start = node.start_byte
            first = data[start] if start < len(data) else 0
            if first == 35 and node.type == "comment":
                continue
            if first in _DOC_START and node.type == "expression_statement" and node.child_count == 1:
                child = node.child(0)
                if child is not None and child.type in ("string", "concatenated_string"):
                    opened = _LETTERS.match(data, start)
                    if opened is not None and not _BYTES_OR_HOLES.intersection(opened[0]):
                        self.docs[start] = node.end_byte
            return


class _Contents:
    """The source with strings and comments blanked, and what was in the strings.

    Attributes:
        code: as long as the source; every string is a mark and blanks.
        places, contents: start byte and content (its length first) of what was taken out, in source order.
    """

    def __init__(self, tree: Tree, data: bytes, docs: dict[int, int]) -> None:
        self.tree = tree
        self.data = data
        self.code = bytearray()
        self.places: list[int] = []
        self.contents: list[bytes] = []
        self.docs = docs
        self.sorted = True
        self._lex()
        if tree.root_node.has_error:
            self._errors()
        if not self.sorted:
            both = sorted((place, at) for at, place in enumerate(self.places))
            self.places, self.contents = [at for at, _ in both], [self.contents[i] for _, i in both]

    def _lex(self) -> None:
        """Blank strings and comments in one substitution; what needs the tree (strings with holes) comes after."""
        data, docs = self.data, self.docs
        place, keep = self.places.append, self.contents.append
        text = unmarked(data)
        exact = text is data
        prefixes: list[tuple[int, int]] = []
        holed: list[tuple[int, int, bytes, int]] = []
        until = 0

        def blanked(match: re.Match[bytes]) -> bytes:
            nonlocal until
            start, end = match.span()
            kind = match.lastindex
            if kind is None or start < until:
                return _filler(b" ", end - start)
            begin, content = start, match[kind] if exact else data[match.start(kind) : match.end(kind)]
            held = _PREFIX.search(data, max(0, start - 3), start) if start and data[start - 1] in _WORD else None
            if held is not None or start in docs:
                prefix = held[1].lower() if held is not None else b""
                if prefix in _PREFIXES:
                    begin = start - len(prefix)
                    prefixes.append((begin, start))
                if begin in docs:
                    until = docs[begin]
                    return _filler(b" ", end - start)
                if begin != start and (b"f" in prefix or b"t" in prefix) and b"{" in content:
                    holed.append((begin, end, prefix, 3 if kind <= 2 else 1))
                    return match[0]
                content = _prefixed(prefix, content) if begin != start else unquoted(content)
            elif b"\\" in content or b"\r" in content:
                content = unquoted(content)
            place(begin)
            keep(b"%d:%b" % (len(content), content))
            size = end - start
            return _TEXT_FILL[:size] if size <= 4096 else _filler(TEXT, size)

        self.code = bytearray(_TOKEN.sub(blanked, text))
        for begin, start in prefixes:
            self.code[begin:start] = _filler(b" ", start - begin)
        self._holed(holed)

    def _holed(self, strings: list[tuple[int, int, bytes, int]]) -> None:
        """Strings with holes, which are code; where the tree sees another end than the expression, lex the file again."""
        for begin, end, prefix, quotes in strings:
            whole = self._formatted(begin, prefix, quotes)
            if whole is None or whole[0] != end:
                self.code[:] = unmarked(self.data)
                self.places.clear()
                self.contents.clear()
                self._scan([(0, len(self.data))])
                return
            self._scan(whole[1][::-1])

    def _scan(self, work: list[tuple[int, int]]) -> None:
        """Blank strings and comments in ranges, going on behind a string with holes where the tree says it ends."""
        data, docs, view = self.data, self.docs, memoryview(self.code)
        place, keep = self.places.append, self.contents.append
        while work:
            pos, limit = work.pop()
            for match in _TOKEN.finditer(data, pos, limit):
                start, end = match.span()
                if start < pos:
                    continue
                kind = match.lastindex
                if kind is None:
                    view[start:end] = _filler(b" ", end - start)
                    continue
                held = _PREFIX.search(data, max(0, start - 3), start) if start and data[start - 1] in _WORD else None
                prefix = held[1].lower() if held is not None and held[1].lower() in _PREFIXES else b""
                begin, content = start - len(prefix), match[kind]
                if begin in docs:
                    pos = docs[begin]
                    view[begin:pos] = _filler(b" ", pos - begin)
                    continue
                if (b"f" in prefix or b"t" in prefix) and b"{" in content:
                    whole = self._formatted(begin, prefix, 3 if kind <= 2 else 1)
                    if whole is not None:
                        work.append((whole[0], limit))
                        work += whole[1][::-1]
                        break
                content = _prefixed(prefix, content) if prefix else unquoted(content)
                place(begin)
                keep(b"%d:%b" % (len(content), content))
                view[begin:end] = _filler(TEXT, end - begin)
        view.release()

    def _formatted(self, begin: int, prefix: bytes, quotes: int) -> tuple[int, list[tuple[int, int]]] | None:
        """Take the text parts of a formatted string; its end and its holes in order. None when the tree knows no string here."""
        node = self.tree.root_node.descendant_for_byte_range(begin, begin + 1)
        node = node.parent if node is not None and node.type == "string_start" else node
        if node is None or node.type != "string" or node.start_byte != begin:
            return None
        self.sorted = False
        raw = b"r" in prefix
        kept = prefix if b"\\" in self.data[begin : node.end_byte] else prefix.replace(b"r", b"")
        self._keep(begin, bytes(sorted(kept)))
        return node.end_byte, self._parts(node, begin + len(prefix) + quotes, node.end_byte - quotes, begin, raw)

    def _parts(self, node: Node, start: int, end: int, begin: int, raw: bool) -> list[tuple[int, int]]:
        """Take what lies between the holes of ``node`` in ``[start, end)``, blanking from ``begin``; the holes with code."""
        holes: list[tuple[int, int]] = []
        for child in node.children:
            if child.type not in ("interpolation", "format_expression"):
                continue
            self._text(begin, start, child.start_byte, raw)
            holes.append((child.start_byte, child.end_byte))
            begin = start = child.end_byte
            for part in child.children:
                if part.type == "format_specifier":
                    holes += self._parts(part, part.start_byte, part.end_byte, part.start_byte, True)
                elif part.type == "=":
                    tail = _EQUALS.match(self.data, part.start_byte)
                    shown = self.data[child.start_byte : tail.end() if tail else part.end_byte]
                    self._keep(child.start_byte, b"=" + shown)
        self._text(begin, start, end, raw)
        self.code[end : node.end_byte] = _filler(b" ", node.end_byte - end)
        return holes

    def _text(self, begin: int, start: int, end: int, raw: bool) -> None:
        content = self.data[start : max(start, end)]
        self._keep(start, newlines(content) if raw else unquoted(content))
        stop = max(end, begin)
        if stop > begin:
            self.code[begin:stop] = _filler(TEXT, stop - begin)

    def _keep(self, at: int, content: bytes) -> None:
        self.places.append(at)
        self.contents.append(b"%d:%b" % (len(content), content))

    def _errors(self) -> None:
        """What could not be parsed counts byte by byte."""
        self.sorted = False
        work = [self.tree.root_node]
        while work:
            node = work.pop()
            if node.is_error or node.is_missing:
                self._keep(node.start_byte, b"\0" + self.data[node.start_byte : node.end_byte])
            work += [child for child in node.children if child.has_error]


def _filler(first: bytes, size: int) -> bytes:
    """``first`` and blanks, ``size`` bytes in all."""
    return first[:size] + (_BLANKS[: size - 1] if size <= 4096 else b" " * (size - 1)) if size > 0 else b""


def _prefixed(prefix: bytes, content: bytes) -> bytes:
    raw = b"r" in prefix
    if raw and b"\\" not in content:
        prefix = prefix.replace(b"r", b"")
    kept = bytes(sorted(prefix.replace(b"u", b"")))
    content = newlines(content) if raw else unquoted(content)
    return b"\0" + kept + b":" + content if kept else content
