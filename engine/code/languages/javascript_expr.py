"""JavaScript and TypeScript expressions and types as chains (``facts.py`` has their grammar). Called by ``javascript*.py``.

What may not come in: recursion over the tree, other files, values. A name that is local to a function is replaced by the chains
of what it is bound to; module-level names stay names, which the linker resolves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tree_sitter import Node

LIMIT = 160
ALTERNATIVES = 4
DEPTH = 12
Chains = tuple[str, ...]
NOTHING: Chains = ("?",)

_BLANK = re.compile(r"\s+")
_WORD = re.compile(r"[A-Za-z_$\x80-\uffff][\w$\x80-\uffff]*")
_KEY = re.compile(rb"[A-Za-z_$][\w$]*")

LITERALS = {
    "string": "#str", "template_string": "#str", "number": "#int", "true": "#bool", "false": "#bool", "regex": "#regex",
    "null": "#None", "undefined": "#None", "object": "#dict", "array": "#list", "unary_expression": "#int",
    "update_expression": "#int", "jsx_element": "#jsx", "jsx_self_closing_element": "#jsx",
}  # fmt: skip
PREDEFINED = {
    "string": "#str",
    "number": "#int",
    "boolean": "#bool",
    "void": "#None",
    "never": "#None",
    "symbol": "#symbol",
}
SAME = frozenset(
    "Promise PromiseLike Awaited Readonly Partial Required NonNullable Omit Pick Ref RefObject Writable".split()
)
MANY = frozenset(
    "Array ReadonlyArray Set ReadonlySet Iterable Iterator IterableIterator Generator AsyncGenerator AsyncIterable AsyncIterator"
    " AsyncIterableIterator ArrayLike QueryList".split()
)
KEYED = frozenset("Map ReadonlyMap Record WeakMap".split())
FUNCTIONS = frozenset("function_expression arrow_function generator_function function".split())
_THROUGH = frozenset("parenthesized_expression await_expression non_null_expression satisfies_expression".split())


class Scope:
    """One lexical scope, of kind ``module``, ``class``, ``function``, ``block`` or ``namespace``; ``this`` as a chain."""

    __slots__ = ("kind", "sym", "outer", "names", "this", "cls")

    def __init__(self, kind: str, sym: int, outer: Scope | None, this: str = "?", cls: int = -1) -> None:
        self.kind = kind
        self.sym = sym
        self.outer = outer
        self.names: dict[str, Decl] = {}
        self.this = this
        self.cls = cls

    def home(self) -> Scope:
        """The scope in which ``var`` declares."""
        scope = self
        while scope.kind in ("block", "class") and scope.outer is not None:
            scope = scope.outer
        return scope

    def find(self, name: str) -> tuple[Scope, Decl] | None:
        scope: Scope | None = self
        while scope is not None:
            held = scope.names.get(name)
            if held is not None:
                return scope, held
            scope = scope.outer
        return None


class Decl:
    """What a name is bound to: sources are (tag, node or chains, scope, operators to add); ``e`` expression, ``t`` type,
    ``b`` bound of a type parameter, ``c`` chains."""

    __slots__ = ("sources", "chains", "busy", "typed")

    def __init__(self) -> None:
        self.sources: list[tuple[str, Any, Scope | None, str]] = []
        self.chains: Chains | None = None
        self.busy = False
        self.typed = False


def text_of(node: Node | None, data: bytes) -> str:
    """Source text of a node, "" for none."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""


def string_of(node: Node | None, data: bytes) -> str | None:
    """Content of a plain string literal without escapes, or None."""
    if node is None or node.type != "string":
        return None
    inner = data[node.start_byte + 1 : node.end_byte - 1]
    return None if b"\\" in inner else inner.decode("utf-8", "replace")


def unwrapped(node: Node | None) -> Node | None:
    """The expression inside parentheses, casts and ``!``."""
    steps = 0
    while node is not None and steps < 8:
        kind = node.type
        if kind in ("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"):
            node = node.named_child(0) if node.named_child_count else None
        elif kind == "type_assertion":
            node = node.named_child(node.named_child_count - 1) if node.named_child_count else None
        else:
            return node
        steps += 1
    return node


class Resolver:
    """Chains of expressions and types of one file.

    Attributes:
        symbols: node id → symbol index, for functions, classes and objects that became symbols.
        imports: node id → import index, for ``require`` and ``import()`` calls.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.symbols: dict[int, int] = {}
        self.imports: dict[int, int] = {}
        self.depth = 0

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def name(self, name: str, scope: Scope) -> Chains:
        """Chains of a name: itself where it is of the module or nobody's, else what it is bound to."""
        found = scope.find(name)
        if found is None or found[0].kind == "module":
            return (name,)
        return self.decl(found[1])

    def decl(self, decl: Decl) -> Chains:
        if decl.chains is not None:
            return decl.chains
        if decl.busy or self.depth > DEPTH:
            return NOTHING
        decl.busy = True
        self.depth += 1
        found: dict[str, None] = {}
        for tag, what, scope, rest in decl.sources:
            held: Chains = what
            if tag != "c":
                assert scope is not None
                held = (
                    self.types(what, scope)
                    if tag == "t"
                    else self.bound(what, scope)
                    if tag == "b"
                    else self.chains(what, scope)
                )
            for chain in held:
                found[tail(chain, rest)] = None
        self.depth -= 1
        decl.busy = False
        answer = known(found)
        if self.depth == 0 or NOTHING[0] not in answer:
            decl.chains = answer
        return answer

    # ── expressions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def chains(self, node: Node | None, scope: Scope) -> Chains:
        """The chains an expression may evaluate to, at most four; ``("?",)`` when nothing can be said."""
        found: dict[str, None] = {}
        work: list[tuple[Node | None, str]] = [(node, "")]
        steps = 0
        while work and len(found) <= ALTERNATIVES:
            at, rest = work.pop()
            steps += 1
            if at is None or len(rest) > LIMIT or steps > 80:
                found["?"] = None
                continue
            index = self.symbols.get(at.id)
            if index is not None:
                found[f"@{index}{rest}"] = None
                continue
            self._step(at, at.type, rest, scope, work, found)
        return known(found)

    def _step(
        self, at: Node, kind: str, rest: str, scope: Scope, work: list[tuple[Node | None, str]], found: dict[str, None]
    ) -> None:
        if kind in ("identifier", "shorthand_property_identifier", "type_identifier"):
            for chain in self.name(text_of(at, self.data), scope):
                found[tail(chain, rest)] = None
        elif kind == "member_expression":
            label = _BLANK.sub("", text_of(at.child_by_field_name("property"), self.data))
            work.append((at.child_by_field_name("object"), f".{label}{rest}"))
        elif kind in ("call_expression", "new_expression"):
            self._call(at, kind, rest, scope, work, found)
        elif kind == "this":
            found[tail(scope.this, rest)] = None
        elif kind == "super":
            found["super()" + rest] = None
        elif kind == "subscript_expression":
            key = string_of(at.child_by_field_name("index"), self.data)
            step = f".{key}" if key and _WORD.fullmatch(key) else "[]"
            work.append((at.child_by_field_name("object"), step + rest))
        elif kind in _THROUGH:
            work.append((at.named_child(0) if at.named_child_count else None, rest))
        elif kind in ("as_expression", "type_assertion"):
            self._cast(at, kind, rest, scope, work, found)
        elif kind == "ternary_expression":
            work += [(at.child_by_field_name("alternative"), rest), (at.child_by_field_name("consequence"), rest)]
        elif kind == "binary_expression":
            self._binary(at, rest, work, found)
        elif kind == "assignment_expression":
            work.append((at.child_by_field_name("right"), rest))
        elif kind == "sequence_expression":
            work.append((at.named_child(at.named_child_count - 1) if at.named_child_count else None, rest))
        elif kind == "array":
            found[tail(self._array(at, scope), rest)] = None
        elif kind in LITERALS:
            found[LITERALS[kind] + rest] = None
        else:
            found[tail("?", rest)] = None

    def _call(self, at: Node, kind: str, rest: str, scope: Scope, work: list[Any], found: dict[str, None]) -> None:
        index = self.imports.get(at.id)
        if index is not None:
            found[tail(f"%{index}", rest)] = None
            return
        function = at.child_by_field_name("constructor" if kind == "new_expression" else "function")
        if function is None:
            found["?"] = None
        elif function.type == "member_expression":
            method = text_of(function.child_by_field_name("property"), self.data)
            inner = function.child_by_field_name("object")
            if method == "bind":
                work.append((inner, rest))
            elif method in ("call", "apply"):
                work.append((inner, "()" + rest))
            else:
                work.append((inner, f".{_BLANK.sub('', method)}(){rest}"))
        else:
            work.append((function, "()" + rest))

    def _cast(self, at: Node, kind: str, rest: str, scope: Scope, work: list[Any], found: dict[str, None]) -> None:
        last = at.named_child(at.named_child_count - 1) if at.named_child_count > 1 else None
        first = at.named_child(0) if at.named_child_count else None
        typed, value = (last, first) if kind == "as_expression" else (first, last)
        held = self.types(typed, scope) if typed is not None else NOTHING
        if held == NOTHING:
            work.append((value if kind == "as_expression" or value is not None else first, rest))
            return
        for chain in held:
            found[tail(chain, rest)] = None

    def _binary(self, at: Node, rest: str, work: list[Any], found: dict[str, None]) -> None:
        sign = at.child_by_field_name("operator")
        operator = sign.type if sign is not None else ""
        if operator in ("||", "??"):
            work += [(at.child_by_field_name("right"), rest), (at.child_by_field_name("left"), rest)]
        elif operator == "&&":
            work.append((at.child_by_field_name("right"), rest))
        else:
            found[
                tail(
                    "#int" if operator in ("-", "*", "/", "%", "**") else "#bool" if operator[:1] in "=!<>" else "?",
                    rest,
                )
            ] = None

    def _array(self, at: Node, scope: Scope) -> str:
        """``Foo()*`` for an array literal of one kind of items."""
        items = at.named_children if 0 < at.named_child_count <= 8 else []
        held = {
            self.chains(item, scope)
            for item in items
            if item.type in ("new_expression", "call_expression", "identifier")
        }
        if len(held) != 1 or len(items) == 0:
            return "#list"
        chains = held.pop()
        return chains[0] + "*" if len(chains) == 1 and chains[0][0] not in "?#" else "#list"

    # ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def types(self, node: Node | None, scope: Scope | None) -> Chains:
        """The chains of values that have a type: ``Foo`` is an instance of Foo, ``Foo[]`` a collection of them."""
        found: dict[str, None] = {}
        work: list[tuple[Node | None, str]] = [(node, "")]
        steps = 0
        assert scope is not None
        while work and len(found) <= ALTERNATIVES:
            at, rest = work.pop()
            steps += 1
            if at is None or steps > 40:
                found["?"] = None
                continue
            kind = at.type
            if kind in (
                "type_annotation",
                "parenthesized_type",
                "readonly_type",
                "optional_type",
                "adding_type_annotation",
            ):
                work.append((at.named_child(0) if at.named_child_count else None, rest))
            elif kind in ("union_type", "intersection_type"):
                parts = at.named_children
                work += [(part, rest) for part in reversed(parts if kind == "union_type" else parts[:1])]
            elif kind == "generic_type":
                self._generic(at, rest, scope, work, found)
            elif kind == "array_type":
                work.append((at.named_child(0), "*" + rest))
            else:
                self._type(at, kind, rest, scope, found)
        found.pop("#None", None)
        return known(found)

    def _type(self, at: Node, kind: str, rest: str, scope: Scope, found: dict[str, None]) -> None:
        raw = text_of(at, self.data)
        if kind == "predefined_type":
            found[tail(PREDEFINED.get(raw, "?"), rest)] = None
        elif kind in ("type_identifier", "nested_type_identifier", "identifier", "nested_identifier"):
            for chain in self._type_name(raw, scope):
                found[tail(chain, "()" + rest)] = None
        elif kind == "this_type":
            found[tail("self", rest)] = None
        elif kind == "literal_type":
            inner = at.named_child(0) if at.named_child_count else None
            found[tail(LITERALS.get(inner.type if inner is not None else "", "?"), rest)] = None
        elif kind == "template_literal_type":
            found["#str" + rest] = None
        elif kind == "type_query":
            for chain in self.chains(at.named_child(0) if at.named_child_count else None, scope):
                found[tail(chain, rest)] = None
        elif kind in ("type_predicate", "type_predicate_annotation"):
            found["#bool"] = None
        elif kind == "tuple_type":
            found["#list"] = None
        else:
            found["?"] = None

    def _type_name(self, raw: str, scope: Scope) -> Chains:
        head, dot, rest = _BLANK.sub("", raw).partition(".")
        return tuple(tail(chain, "." + rest) for chain in self.name(head, scope)) if dot else self.name(head, scope)

    def bound(self, node: Node, scope: Scope) -> Chains:
        """What a type parameter that extends ``node`` stands for."""
        name = node.child_by_field_name("name") if node.type == "generic_type" else node
        label = text_of(name, self.data)
        return NOTHING if label in MANY or label in KEYED or label in SAME else self._type_name(label, scope)

    def _generic(self, at: Node, rest: str, scope: Scope, work: list[Any], found: dict[str, None]) -> None:
        name = at.child_by_field_name("name")
        label = text_of(name, self.data)
        arguments = at.child_by_field_name("type_arguments")
        parts = arguments.named_children if arguments is not None else []
        if parts and label in SAME:
            work.append((parts[0], rest))
        elif parts and label in MANY:
            work.append((parts[0], "*" + rest))
        elif parts and label in KEYED:
            work.append((parts[-1], "**" + rest))
        elif name is not None:
            self._type(name, "type_identifier", rest, scope, found)
        else:
            found["?"] = None


def tail(chain: str, rest: str) -> str:
    """Add operators to a chain; an unknown head forgets what it was, a collection of unknown things is just a collection."""
    if not rest:
        return chain
    if chain[0] == "?":
        return "?" + rest if rest[0] == "." and len(rest) < LIMIT else "?"
    if rest[0] == "*" and chain[0] == "#":
        return "#list" if len(rest) == 1 else "#dict"
    return chain + rest if len(chain) + len(rest) <= LIMIT else "?"


def known(found: Sequence[str] | dict[str, None]) -> Chains:
    """At most four chains; null and undefined only where there is nothing else."""
    kept = [chain for chain in dict.fromkeys(found) if chain != "#None"]
    if len(kept) > ALTERNATIVES:
        return NOTHING
    return tuple(kept) or (("#None",) if found else NOTHING)
