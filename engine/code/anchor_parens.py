"""Which parentheses and commas of Python carry no meaning; blanks them in a copy of the source. Called by ``anchor_python.py``.

What may not come in: strings and comments (already blanked), symbols, recursion. Parentheses go only where the grammar gives the
same tree without them (Language Reference, 6.17 for the order of operators); where that is not known they stay.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from tree_sitter import Node, TreeCursor

_WORDS = b"and assert await case del elif else except for if import in is match not or raise return while with yield exec".split()
_BY_LETTER = b"|".join(
    rb"(?<=%b\()(?:%b)" % (bytes([last]), b"|".join(rb"(?<=\b%b\()" % word for word in _WORDS if word[-1] == last))
    for last in sorted({word[-1] for word in _WORDS})
)
# an opening parenthesis that calls nothing: after a sign, or after a keyword without a blank
_GROUP = re.compile(rb"\((?:(?<![\w)\]}\x07\x80-\xff]\()|(?<=[cdefhlnrst]\()(?:" + _BY_LETTER + rb"))")
_INDEX = re.compile(rb",(?=\s*\])")

LAMBDA, TERNARY, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT, SUM, PRODUCT, UNARY, POWER, AWAIT, PRIMARY = (
    range(1, 17)
)
_NEVER = 0
_BINARY = {"|": BITOR, "^": BITXOR, "&": BITAND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT,
           "//": PRODUCT, "%": PRODUCT, "@": PRODUCT, "**": POWER}  # fmt: skip
_LEVELS = {"lambda": LAMBDA, "conditional_expression": TERNARY, "not_operator": NOT, "comparison_operator": COMPARE,
           "unary_operator": UNARY, "await": AWAIT}  # fmt: skip
_PRIMARIES = frozenset(
    "identifier attribute call subscript string concatenated_string list dictionary set list_comprehension"
    " dictionary_comprehension set_comprehension generator_expression tuple true false none ellipsis integer float".split()
)
_NUMBERS = ("integer", "float")
_DISPLAYS = ("dictionary", "set", "dictionary_comprehension", "set_comprehension")
# parents in which any expression may stand bare
_OPEN = frozenset(
    "expression_statement return_statement augmented_assignment argument_list list tuple set expression_list"
    " parenthesized_expression if_statement elif_clause while_statement assert_statement raise_statement for_statement"
    " keyword_argument default_parameter typed_default_parameter list_comprehension generator_expression set_comprehension"
    " decorator lambda yield with_item as_pattern type match_statement except_clause delete_statement".split()
)
# parents in which an expression from this level on may stand bare
_FROM = {"if_clause": OR, "for_in_clause": OR, "list_splat": BITOR, "dictionary_splat": BITOR, "pair": OR, "slice": OR,
         "interpolation": OR, "named_expression": OR, "not_operator": NOT, "unary_operator": UNARY,
         "comparison_operator": COMPARE + 1, "await": PRIMARY}  # fmt: skip
_EXTRAS = ("comment", "line_continuation")
_PATTERNS = ("pattern_list", "tuple_pattern", "list_pattern")
# statements in which a tuple needs no parentheses
_BARE_TUPLE = frozenset(
    "expression_statement return_statement delete_statement for_statement augmented_assignment yield".split()
)


class Parens:
    """Blanks redundant parentheses in ``code``, a copy of the source with strings and comments already blanked.

    Args:
        starts, nodes: every statement, by its start.
    """

    COMMA = b"\x10"
    """A comma that makes a tuple of one element: no trailing comma, whatever follows."""

    def __init__(self, starts: list[int], nodes: list[Node], code: bytearray) -> None:
        self.starts = starts
        self.nodes = nodes
        self.code = code
        self.cursor: TreeCursor | None = None
        self.path: list[Node] = []
        self.which = self.last = -1
        self.inner: dict[int, Node | None] = {}

    def blank(self) -> None:
        text = bytes(self.code)
        for match in _GROUP.finditer(text):
            self._group(match.start())
        for match in _INDEX.finditer(text):
            self._index(match.start())

    def _owner(self, at: int) -> tuple[Node | None, Node | None]:
        """The node whose own token lies at ``at``, and its parent.

        Found from the statement down, going on from the last answer: ``Node.parent`` starts at the root every time, and a table
        of thousands of tuples must not cost a search each.
        """
        which = bisect_right(self.starts, at) - 1
        if which < 0:
            return None, None
        path = self.path
        if which != self.which or at < self.last:
            self.cursor = self.nodes[which].walk()
            path[:] = [self.nodes[which]]
            self.which = which
        self.last = at
        cursor = self.cursor
        assert cursor is not None
        while path[-1].end_byte <= at:
            if cursor.goto_next_sibling():
                path[-1] = _here(cursor)
            elif cursor.goto_parent():
                path.pop()
            else:
                return None, None
        while cursor.goto_first_child_for_byte(at) is not None:
            path.append(_here(cursor))
        if path[-1].start_byte > at or len(path) < 2:
            return None, None
        return path[-2], path[-3] if len(path) > 2 else None

    def _group(self, at: int) -> None:
        node, parent = self._owner(at)
        if node is None:
            return
        kind = node.type
        if kind == "parenthesized_expression":
            if parent is not None and self._redundant(node, parent):
                self._drop(node.start_byte, node.end_byte)
        elif kind == "tuple" or kind == "tuple_pattern":
            self._tuple(node, parent, kind)
        elif kind in ("with_clause", "import_from_statement", "future_import_statement"):
            self._clause(node, at)

    def _drop(self, start: int, end: int) -> None:
        if self.code[end - 1] == 41:
            self.code[start] = self.code[end - 1] = 32

    def _clause(self, node: Node, at: int) -> None:
        """``with (a, b):`` and ``from m import (a, b)``: the brackets and a comma before the closing one."""
        end = next((child.start_byte for child in node.children if child.type == ")"), -1)
        if end < 0:
            return
        self.code[at] = self.code[end] = 32
        self._last_comma(at + 1, end, 32)

    def _last_comma(self, start: int, end: int, byte: int) -> None:
        inside = bytes(self.code[start:end]).rstrip(b" \t\r\n\f\\")
        if inside.endswith(b","):
            self.code[start + len(inside) - 1] = byte

    def _tuple(self, node: Node, parent: Node | None, kind: str) -> None:
        start, end = node.start_byte, node.end_byte
        commas = sum(1 for child in node.children if child.type == ",")
        if commas == 1 and node.named_child_count - _extras(node) == 1:
            self._last_comma(start + 1, end - 1, self.COMMA[0])
        above = len(self.path) - 3
        while parent is not None and parent.type == "parenthesized_expression":
            above -= 1
            parent = self.path[above] if above >= 0 else None
        if parent is None or (commas == 0 and kind == "tuple"):
            return
        if kind == "tuple_pattern":
            typed = parent.type == "assignment" and parent.child_by_field_name("type") is not None
            bare = (parent.type in ("for_statement", "for_in_clause", "assignment") and not typed) or (
                commas == 0 and parent.type in _PATTERNS
            )
        else:
            bare = parent.type in _BARE_TUPLE or self._bare_place(node, parent)
            bare = bare and not any(child.type in ("named_expression", "yield") for child in node.children)
        if bare:
            if commas > 1 or node.named_child_count - _extras(node) > 1:
                self._last_comma(start + 1, end - 1, 32)
            self._drop(start, end)

    def _bare_place(self, node: Node, parent: Node) -> bool:
        if parent.type == "assignment":
            return parent.start_byte != node.start_byte
        if parent.type == "subscript":
            return parent.start_byte != node.start_byte and parent.named_child_count - _extras(parent) == 2
        return False

    def _index(self, at: int) -> None:
        """``a[1,]`` is indexed by a tuple; in ``a[1, 2,]`` the last comma may go."""
        node, _ = self._owner(at)
        if node is None or node.type not in ("subscript", "type_parameter"):
            return
        if sum(1 for child in node.children if child.type == ",") == 1:
            self.code[at] = self.COMMA[0]

    def _inner(self, node: Node) -> Node | None:
        """What a pair of parentheses holds, through further pairs; found once for a whole nest of them."""
        at: Node | None = node
        nest = []
        while at is not None and at.type == "parenthesized_expression":
            if at.id in self.inner:
                at = self.inner[at.id]
                break
            nest.append(at.id)
            at = next((child for child in at.named_children if child.type not in _EXTRAS), None)
        self.inner.update(dict.fromkeys(nest, at))
        return at

    def _redundant(self, node: Node, parent: Node) -> bool:
        child = self._inner(node)
        if child is None:
            return False
        kind, above = child.type, parent.type
        if above == "assignment":
            if parent.start_byte == node.start_byte:
                return kind in _PRIMARIES and parent.child_by_field_name("type") is None
            return kind != "named_expression"
        if kind in _PRIMARIES:
            return not (above == "attribute" and kind in _NUMBERS) and not (
                above == "interpolation" and kind in _DISPLAYS
            )
        level = _level(child)
        if level == _NEVER:
            return above == "parenthesized_expression"
        if above in _OPEN:
            return True
        if above in _FROM:
            return level >= _FROM[above]
        first, last = parent.start_byte == node.start_byte, parent.end_byte == node.end_byte
        if above == "subscript":
            return not first and level >= TERNARY
        if above == "conditional_expression":
            return last or level > TERNARY
        if above == "boolean_operator" or above == "binary_operator":
            own = _level(parent)
            if own == POWER:
                return level > POWER if first else level >= UNARY
            return level >= own if first else level > own
        return False


def _extras(node: Node) -> int:
    return sum(1 for child in node.named_children if child.type in _EXTRAS)


def _level(node: Node) -> int:
    kind = node.type
    if kind == "binary_operator" or kind == "boolean_operator":
        sign = node.child_by_field_name("operator")
        operator = sign.type if sign is not None else ""
        return {"or": OR, "and": AND}.get(operator, _BINARY.get(operator, _NEVER))
    return _LEVELS.get(kind, _NEVER)


def _here(cursor: TreeCursor) -> Node:
    node = cursor.node
    assert node is not None  # a cursor made from a node always stands on one
    return node
