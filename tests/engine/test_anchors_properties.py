"""Anchors over generated programs: one program in two layouts has one hash, two programs have two.

Programs are small trees; a layout is a stream of choices (indentation, redundant parentheses, quotes, commas, comments, line
ends). The same trees are written as Python and as TypeScript.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tree_sitter import Parser

from mog.engine.code import grammars
from mog.engine.code.anchors import hash_span, hash_symbols

NAMES = st.sampled_from(["a", "b", "value", "items", "total"])
TEXTS = st.sampled_from(
    ["", " ", "it's", 'a "b"', "x  y", ",", "# no comment", "// no", "(", "{a}", "\\", "tab\t", "\u00e9"]
)
OPERATORS = {"or": 1, "and": 2, "==": 3, "+": 4, "-": 4, "*": 5}
ATOM = 9

Tree = Any


def expressions() -> st.SearchStrategy[Tree]:
    """Trees of expressions: ("name", x), ("number", n), ("text", s), ("not", e), ("bin", op, l, r), ("call", f, args), …"""
    leaves = st.one_of(
        st.tuples(st.just("name"), NAMES),
        st.tuples(st.just("number"), st.integers(0, 99)),
        st.tuples(st.just("text"), TEXTS),
    )

    def grow(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        several = st.lists(inner, max_size=3).map(tuple)
        return st.one_of(
            st.tuples(st.just("not"), inner),
            st.tuples(st.just("bin"), st.sampled_from(sorted(OPERATORS)), inner, inner),
            st.tuples(st.just("call"), st.tuples(st.just("name"), NAMES), several),
            st.tuples(st.just("list"), several),
            st.tuples(st.just("attr"), st.tuples(st.just("name"), NAMES), NAMES),
        )

    return st.recursive(leaves, grow, max_leaves=6)


def statements() -> st.SearchStrategy[Tree]:
    """Blocks: tuples of ("set", name, e), ("return", e or None), ("do", e), ("if", e, block, block), ("for", name, e, block)."""
    simple = st.one_of(
        st.tuples(st.just("set"), NAMES, expressions()),
        st.tuples(st.just("return"), st.none() | expressions()),
        st.tuples(
            st.just("do"),
            st.tuples(
                st.just("call"), st.tuples(st.just("name"), NAMES), st.lists(expressions(), max_size=2).map(tuple)
            ),
        ),
    )
    block = st.lists(simple, min_size=1, max_size=3).map(tuple)

    def grow(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        one = st.one_of(
            simple,
            st.tuples(st.just("if"), expressions(), inner, st.just(()) | inner),
            st.tuples(st.just("for"), NAMES, expressions(), inner),
        )
        return st.lists(one, min_size=1, max_size=3).map(tuple)

    return st.recursive(block, grow, max_leaves=5)


class Layout:
    """Choices of one layout, drawn from a seed."""

    def __init__(self, seed: int, script: bool) -> None:
        self.random = random.Random(seed)
        self.script = script
        self.indent = self.random.choice(["  ", "    ", "\t"])
        self.end = self.random.choice(["\n", "\r\n"])
        self.comment = "// why" if script else "# why"

    def maybe(self, share: float = 0.3) -> bool:
        return self.random.random() < share

    def break_(self, inside: bool) -> str:
        """Blank, or (inside brackets) a line end with or without a comment before it."""
        if inside and self.maybe(0.15):
            return (" " + self.comment if self.maybe() else "") + self.end + " " * self.random.randrange(40, 50)
        return " " if self.maybe() else ""

    def expression(self, tree: Tree, least: int = 0, inside: bool = False) -> str:
        """Source of an expression, in parentheses where its strength is below ``least`` and sometimes where it is not."""
        if self.maybe(0.1):
            return f"({self.break_(True)}{self.expression(tree, 0, True)}{self.break_(True)})"
        kind = tree[0]
        if kind == "name":
            return str(tree[1])
        if kind == "number":
            return str(tree[1])
        if kind == "text":
            return self.text(tree[1])
        if kind == "attr":
            return f"{tree[1][1]}.{tree[2]}"
        if kind == "list":
            return "[" + self.several(tree[1]) + "]"
        if kind == "call":
            return f"{tree[1][1]}(" + self.several(tree[2]) + ")"
        strength, source = self.operator(tree, inside)
        return source if strength >= least else f"({source})"

    def operator(self, tree: Tree, inside: bool) -> tuple[int, str]:
        if tree[0] == "not":
            # not binds loosely in Python and tightly in scripts
            strength = 8 if self.script else 2
            return (
                (8, "!" + self.expression(tree[1], 8, inside))
                if self.script
                else (strength, "not " + self.expression(tree[1], 2.5, inside))
            )  # type: ignore[arg-type]
        _, sign, left, right = tree
        strength = OPERATORS[sign]
        chained = sign == "==" and not self.script
        spelled = {"or": "||", "and": "&&", "==": "==="}.get(sign, sign) if self.script else sign
        space = " " if spelled.isalpha() or self.maybe(0.7) else ""
        after = self.break_(inside) or space
        parts = self.expression(left, strength + chained, inside), self.expression(right, strength + 1, inside)
        return strength, f"{parts[0]}{space}{spelled}{after or ' '}{parts[1]}"

    def several(self, trees: tuple[Tree, ...]) -> str:
        parts = [self.break_(True) + self.expression(tree, 0, True) for tree in trees]
        comma = "," if parts and self.maybe() else ""
        return ",".join(parts) + self.break_(True) + comma + self.break_(True)

    def text(self, content: str) -> str:
        quote = self.random.choice("'\"")
        escaped = content.replace("\\", "\\\\").replace(quote, "\\" + quote).replace("\t", "\t")
        other = "'" if quote == '"' else '"'
        if self.maybe():
            escaped = escaped.replace(other, "\\" + other)
        prefix = "" if self.script else self.random.choice(["", "", "u", "U"])
        return f"{prefix}{quote}{escaped}{quote}"

    def between(self) -> str:
        """What may stand between two statements."""
        lines = ""
        while self.maybe(0.2):
            lines += self.random.choice(["", "   " + self.comment, self.comment]) + self.end
        return lines

    # ── Python ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def python(self, block: Tree, depth: int) -> str:
        out = ""
        pad = self.indent * depth
        for tree in block:
            out += self.between()
            kind = tree[0]
            tail = ("; " if self.maybe(0.1) else "") + ("  " + self.comment if self.maybe(0.1) else "") + self.end
            if kind == "set":
                out += f"{pad}{tree[1]} = {self.expression(tree[2])}{tail}"
            elif kind == "return":
                out += f"{pad}return {self.expression(tree[1])}{tail}" if tree[1] is not None else f"{pad}return{tail}"
            elif kind == "do":
                out += f"{pad}{self.expression(tree[1])}{tail}"
            elif kind == "for":
                out += f"{pad}for {tree[1]} in {self.expression(tree[2])}:{self.end}" + self.python(tree[3], depth + 1)
            else:
                out += f"{pad}if {self.expression(tree[1])}:{self.end}" + self.python(tree[2], depth + 1)
                if tree[3]:
                    out += f"{pad}else:{self.end}" + self.python(tree[3], depth + 1)
        return out

    def python_function(self, block: Tree) -> str:
        doc = (
            self.indent + self.random.choice(['"""Does it."""', "'does'", '"""\n  Long.\n"""']) + self.end
            if self.maybe()
            else ""
        )
        return (
            f"def f({'a, b' if self.maybe() else 'a,b,'}):{self.end}{doc}{self.python(block, 1)}".rstrip()
            + self.random.choice(["", "\n"])
        )

    # ── TypeScript ────────────────────────────────────────────────────────────────────────────────────────────────────

    def scripted(self, block: Tree, depth: int) -> str:
        parts = [self.statement(tree, depth) for tree in block]
        out = ""
        for at, part in enumerate(parts):
            following = parts[at + 1] if at + 1 < len(parts) else "}"
            open_end = (
                not part.endswith("}")
                or part.startswith(("return", "a =", "b ="))
                or block[at][0] in ("set", "do", "return")
            )
            free = following[0].isalpha() or following[0] == "}"
            mark = ";" if open_end and (not free or self.maybe()) else ""
            out += self.between() + self.indent * depth + part + mark + self.end
        return out

    def statement(self, tree: Tree, depth: int) -> str:
        kind = tree[0]
        if kind == "set":
            return f"{tree[1]} = {self.expression(tree[2])}"
        if kind == "return":
            return f"return {self.expression(tree[1])}" if tree[1] is not None else "return"
        if kind == "do":
            return self.expression(tree[1])
        close = self.indent * depth + "}"
        if kind == "for":
            return f"for (const {tree[1]} of {self.expression(tree[2])}) {{{self.end}{self.scripted(tree[3], depth + 1)}{close}"
        out = f"if ({self.expression(tree[1])}) {{{self.end}{self.scripted(tree[2], depth + 1)}{close}"
        return out + (f" else {{{self.end}{self.scripted(tree[3], depth + 1)}{close}" if tree[3] else "")

    def script_function(self, block: Tree) -> str:
        return (
            f"function f({'a, b' if self.maybe() else 'a,b,'}) {{{self.end}{self.scripted(block, 1)}}}"
            + self.random.choice(["", "\n"])
        )


@lru_cache(maxsize=4)
def parser(lang: str) -> Parser:
    found = grammars.parser(lang)
    assert found is not None
    return found


def anchor(lang: str, source: str) -> tuple[str, str]:
    data = source.encode()
    tree = parser(lang).parse(data)
    assert not tree.root_node.has_error, source
    return hash_span(lang, tree, data, 0, len(data), "f")


def write(lang: str) -> Callable[[Tree, int], str]:
    if lang == "python":
        return lambda block, seed: Layout(seed, False).python_function(block)
    return lambda block, seed: Layout(seed, True).script_function(block)


LANGUAGES = ["python", "typescript", "javascript", "tsx"]
MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("lang", LANGUAGES)
@MANY
@given(block=statements(), one=st.integers(0, 2**32), two=st.integers(0, 2**32))
def test_one_program_in_two_layouts_has_one_hash(lang: str, block: Tree, one: int, two: int) -> None:
    first, second = write(lang)(block, one), write(lang)(block, two)
    assert anchor(lang, first) == anchor(lang, second), f"{first}\n-----\n{second}"


@pytest.mark.parametrize("lang", LANGUAGES)
@MANY
@given(first=statements(), second=statements(), seed=st.integers(0, 2**32))
def test_two_programs_have_two_hashes(lang: str, first: Tree, second: Tree, seed: int) -> None:
    one, two = anchor(lang, write(lang)(first, seed)), anchor(lang, write(lang)(second, seed + 1))
    assert (one == two) == (first == second)


def changes(block: Tree) -> list[Tree]:
    """Programs one small step away: a statement dropped, doubled, moved out of its block, two swapped, an operand changed."""
    found: list[Tree] = []
    for at, tree in enumerate(block):
        before, after = block[:at], block[at + 1 :]
        if before or after:
            found.append(before + after)
        found.append((*before, tree, tree, *after))
        if after and after[0] != tree:
            found.append((*before, after[0], tree, *after[1:]))
        if tree[0] in ("if", "for"):
            body = tree[2] if tree[0] == "if" else tree[3]
            if len(body) > 1:
                short = (*tree[:2], body[:-1], *tree[3:]) if tree[0] == "if" else (*tree[:3], body[:-1])
                found.append((*before, short, body[-1], *after))
        if tree[0] == "return" and tree[1] is not None:
            found.append((*before, ("return", None), ("do", ("call", ("name", "a"), (tree[1],))), *after))
            found.append((*before, ("return", ("not", tree[1])), *after))
        if tree[0] == "set":
            found.append((*before, ("set", tree[1], ("text", " ")), *after))
            found.append((*before, ("set", tree[1], ("text", "")), *after))
    return [change for change in found if change != block]


@pytest.mark.parametrize("lang", ["python", "typescript"])
@MANY
@given(block=statements(), seed=st.integers(0, 2**32))
def test_a_small_semantic_step_changes_the_hash_whatever_the_layout(lang: str, block: Tree, seed: int) -> None:
    original = anchor(lang, write(lang)(block, seed))
    for at, change in enumerate(changes(block)):
        changed = write(lang)(change, seed + at)
        assert anchor(lang, changed) != original, changed


@pytest.mark.parametrize("lang", ["python", "typescript", "go"])
@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=200), spans=st.lists(st.tuples(st.integers(0, 220), st.integers(0, 220)), max_size=4))
def test_any_bytes_and_any_spans_give_hashes(lang: str, data: bytes, spans: list[tuple[int, int]]) -> None:
    tree = parser(lang).parse(data)
    found = hash_symbols(lang, tree, data, [(min(span), max(span), "f") for span in spans])
    assert [(len(span), len(body)) for span, body in found] == [(32, 32)] * len(spans)
