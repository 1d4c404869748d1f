"""The general stream behind anchors: every node and every leaf, for any grammar.

Who calls: ``engine/code/anchors.py``. What may not come in: symbols, file access.

One pass with a cursor writes a token per leaf (length and exact bytes) and a mark per named inner node (kind, and field where it
has one). Blanks between leaves do not count, except inside strings; what lies between leaves and is not blank always counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from tree_sitter import Language, Node, Tree

from mog.engine.code.anchor_rules import WALK_RULES, WalkRules

_PLAIN = WalkRules()
_TEXTUAL = ("string", "template", "heredoc", "regex", "quoted", "char", "text", "literal_content")
_COMMA = b"t1:,"
_BEFORE_COMMA = frozenset((b"t1:(", b"t1:[", b"t1:{", b"t1:<", _COMMA))
_CLOSERS = frozenset((b"t1:)", b"t1:]", b"t1:}", b"t1:>"))

_COMMENT, _TEXTUAL_KIND, _PARENS = 1, 2, 4


@lru_cache(maxsize=64)
def _tables(language: Language, parens: str) -> tuple[list[str], list[int], list[bytes]]:
    """Per kind id: name and flags; per field id: its mark."""
    names = [language.node_kind_for_id(i) or "" for i in range(language.node_kind_count)]
    flags = []
    for i, name in enumerate(names):
        named = language.node_kind_is_named(i)
        textual = any(part in name for part in _TEXTUAL) and "interpol" not in name and "substitution" not in name
        flags.append(
            (_COMMENT if named and "comment" in name else 0)
            | (_TEXTUAL_KIND if named and textual else 0)
            | (_PARENS if named and parens and name == parens else 0)
        )
    fields = [b""] + [b"." + (language.field_name_for_id(i) or "").encode() for i in range(1, language.field_count + 1)]
    return names, flags, fields


@dataclass(slots=True)
class _Open:
    """One inner node on the way down: range, kind, what its closing writes, and what its children inherit."""

    start: int
    end: int
    kind: str
    mark: bytes
    textual: bool
    bare: bool
    commas: int = 0


def walk_hashes(lang: str, tree: Tree, data: bytes, spans: Sequence[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """Both hashes of every span, in the order given; see :func:`mog.engine.code.anchors.hash_symbols`."""
    walk = _Walk(WALK_RULES.get(lang, _PLAIN), tree, data, spans)
    walk.run()
    return [_digests(walk.tokens[f0:f1], spans[i][2]) for i, (f0, f1) in enumerate(walk.slices)]


def _digests(tokens: list[bytes], name: str) -> tuple[str, str]:
    own = name.encode("utf-8", "surrogateescape")
    token = b"i%d:%b" % (len(own), own)
    body = b"".join([b"i*" if t == token else t for t in tokens])
    return blake2b(b"".join(tokens), digest_size=16).hexdigest(), blake2b(body, digest_size=16).hexdigest()


class _Walk:
    """One pass over the tree of one file. ``run`` fills ``tokens`` and ``slices``."""

    def __init__(self, rules: WalkRules, tree: Tree, data: bytes, spans: Sequence[tuple[int, int, str]]) -> None:
        self.rules = rules
        self.tree = tree
        self.data = data
        self.order = sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1]))
        self.ranges = [(spans[i][0], spans[i][1]) for i in self.order]
        self.slices: list[tuple[int, int]] = [(0, 0)] * len(spans)
        self.tokens: list[bytes] = []
        self.path: list[_Open] = []
        self.open_spans: list[tuple[int, int]] = []  # (index into ranges, first token)
        self.next_span = 0
        self.seen = 0  # bytes before this are accounted for

    def run(self) -> None:
        cursor = self.tree.walk()
        names, flags, fields = _tables(self.tree.language, self.rules.parens)
        while True:
            node = cursor.node
            assert node is not None
            kind = node.kind_id
            flag = flags[kind] if kind < len(flags) else 0
            start, end = node.start_byte, node.end_byte
            self._spans_before(start, end)
            descended = False
            if flag & _COMMENT:
                self._gap(start)
                self.seen = max(self.seen, end)
            else:
                field = fields[cursor.field_id or 0]
                if field:
                    self.tokens.append(field)
                descended = cursor.goto_first_child()
                if descended:
                    self._enter(node, node.type if kind >= len(names) else names[kind], flag, field[1:].decode())
                else:
                    self._leaf(node, start, end, flag)
            if descended:
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    self._finish()
                    return
                self._leave()

    def _enter(self, node: Node, kind: str, flag: int, field: str) -> None:
        above = self.path[-1] if self.path else None
        bare = bool(flag & _PARENS) and not self._parens_matter(node, above, field)
        textual = bool(flag & _TEXTUAL_KIND)
        self.path.append(_Open(node.start_byte, node.end_byte, kind, b"" if bare else b")", textual, bare))
        if not bare and node.is_named:
            self.tokens.append(b"(" + kind.encode())
        if node.is_error:
            exact = self.data[node.start_byte : node.end_byte]
            self.tokens.append(b"e%d:%b" % (len(exact), exact))

    def _parens_matter(self, node: Node, above: _Open | None, field: str) -> bool:
        if node.named_child_count != 1 or above is None:
            return True
        keep = self.rules.keep_parens
        return (above.kind, field) in keep or (above.kind, "") in keep

    def _leave(self) -> None:
        node = self.path.pop()
        self._spans_inside(node.start, node.end)
        if node.textual:
            self._gap(node.end, exact=True)
        if node.mark:
            self.tokens.append(node.mark)

    def _gap(self, upto: int, exact: bool = False) -> None:
        """Account for bytes that belong to no leaf."""
        if upto > self.seen:
            gap = self.data[self.seen : upto]
            if exact or gap.strip():
                gap = gap.replace(b"\r\n", b"\n") if exact else gap.strip()
                self.tokens.append(b"g%d:%b" % (len(gap), gap))
            self.seen = upto

    def _leaf(self, node: Node, start: int, end: int, flag: int) -> None:
        above = self.path[-1] if self.path else None
        textual = above is not None and above.textual
        self._gap(start, exact=textual and above is not None and self.seen >= above.start)
        self.seen = max(self.seen, end)
        text = self.data[start:end]
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        if node.is_named:
            if not textual and not flag & _TEXTUAL_KIND:
                text = text.strip()
            self.tokens.append((b"t%d:%b" if textual or flag & _TEXTUAL_KIND else b"i%d:%b") % (len(text), text))
            return
        if not textual and (not text.strip() or (text == b";" and self.rules.semicolons)):
            return
        token = b"t%d:%b" % (len(text), text)
        if above is not None:
            if above.bare and token in (b"t1:(", b"t1:)"):
                return
            above.commas += token == _COMMA
            if token in _CLOSERS:
                self._drop_comma(above, token)
        self.tokens.append(token)

    def _drop_comma(self, above: _Open, closer: bytes) -> None:
        tokens = self.tokens
        if not self.rules.commas or len(tokens) < 2 or tokens[-1] != _COMMA or tokens[-2] in _BEFORE_COMMA:
            return
        if above.kind in self.rules.keep_commas and (above.commas < 2 or above.kind not in self.rules.tuples):
            return
        tokens.pop()

    def _spans_before(self, start: int, end: int) -> None:
        while self.open_spans and self.ranges[self.open_spans[-1][0]][1] <= start:
            self._close_span()
        while self.next_span < len(self.ranges):
            first, last = self.ranges[self.next_span]
            if start < first or (end > last and start < last):
                return
            self.open_spans.append((self.next_span, len(self.tokens)))
            self.next_span += 1

    def _spans_inside(self, start: int, end: int) -> None:
        while self.open_spans:
            first, last = self.ranges[self.open_spans[-1][0]]
            if start >= first and end <= last:
                return
            self._close_span()

    def _close_span(self) -> None:
        which, first = self.open_spans.pop()
        self.slices[self.order[which]] = (first, len(self.tokens))

    def _finish(self) -> None:
        while self.open_spans:
            self._close_span()
