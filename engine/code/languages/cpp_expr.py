"""What C++ expressions and types mean, and the calls and references in them: the part of ``cpp.py``'s walk that defines nothing.

What may not come in: symbols, declarations, other files.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from mog.engine.code.languages.c_text import keyword
from mog.engine.code.languages.cpp_names import DIALECT
from mog.engine.code.languages.declared import Walk
from mog.engine.code.languages.declared_tables import LIMIT, NOTHING, STEPS, Captures, Chains, child

_SMART = frozenset("get value lock release reset swap has_value value_or use_count expired".split())
_CASTS = frozenset(
    "static_cast dynamic_cast reinterpret_cast const_cast make_unique make_shared down_cast polymorphic_downcast".split()
)
_MAKERS = frozenset(("make_unique", "make_shared"))
_PLAIN = re.compile(r"[\w~]+(?:\.[\w~]+)*\Z")


class CppExpressions(Walk):
    """Calls, references, chains of expressions and types. ``functions`` are those the file defines or declares."""

    dialect = DIALECT
    overloads = True
    values = "; functions used as values"

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.functions: set[str] = set()

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_call(self, node: Node, captured: Captures) -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type in ("identifier", "template_function"):
            name = self.text(function.child_by_field_name("name") or function)
            if keyword(name) or name in _CASTS - _MAKERS:
                return
            held = self.scope.find(name)
            if held is not None and held.names[name][0][:1] != "@":
                self.scope.calls[f"?{name}^{self.arguments(node)}"] = None
                return
        super().on_call(node, captured)

    def arguments(self, node: Node) -> int:
        given = node.child_by_field_name("arguments")
        return self.many_in(given) if given is not None else 0

    def many_in(self, given: Node) -> int:
        return sum(one.type not in self.dialect.comments for one in given.named_children)

    def on_ref(self, node: Node, captured: Captures) -> None:
        at = node.child_by_field_name("argument") if node.type == "pointer_expression" else node
        if at is None or at.type not in ("identifier", "qualified_identifier"):
            return
        if at.type == "identifier" and self.text(at) not in self.functions:
            return
        for chain in self.chains(at):
            if chain[0] not in "?#":
                self.scope.refs[chain] = None

    # ── chains ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def chains(self, node: Node | None) -> Chains:
        """What an expression evaluates to."""
        steps, tail = 0, ""
        while node is not None and steps < STEPS and len(tail) < LIMIT:
            steps += 1
            kind = node.type
            if kind == "identifier":
                return self.with_tail(self.name(self.text(node)), tail)
            if kind == "this":
                return self.with_tail(("self",), tail)
            if kind == "field_expression":
                own = node.child_by_field_name("field")
                name = self.dotted(own).rpartition(".")[2] if own is not None else ""
                if _PLAIN.match(name) is None:
                    return NOTHING
                if name in _SMART and b"->" not in self.data[node.start_byte : node.end_byte][-len(name) - 4 :]:
                    return self.with_tail((f"?{name}",), tail)
                tail, node = f".{name}{tail}", node.child_by_field_name("argument")
            elif kind == "call_expression":
                function = node.child_by_field_name("function")
                short = self.shortened(node, function)
                if short is not None:
                    return self.with_tail(short, tail)
                tail, node = f"(){tail}", function
            elif kind in ("qualified_identifier", "template_function"):
                return self.with_tail(self.qualified(node), tail)
            elif kind == "new_expression":
                return self.with_tail((self.typed(node.child_by_field_name("type")),), tail)
            elif kind == "subscript_expression":
                tail, node = f"[]{tail}", node.child_by_field_name("argument")
            elif kind in ("parenthesized_expression", "pointer_expression"):
                node = node.child_by_field_name("argument") or child(node, "")
            elif kind in ("cast_expression", "compound_literal_expression"):
                return self.with_tail((self.typed(node.child_by_field_name("type")),), tail)
            else:
                return self.with_tail((self.dialect.literals.get(kind, "?"),), tail)
        return NOTHING

    def shortened(self, node: Node, function: Node | None) -> Chains | None:
        """Casts and what makes or hands on a pointer: their value is that of a type or of an argument."""
        if function is None:
            return NOTHING
        name = self.dotted(function).rpartition(".")[2]
        if name in _CASTS:
            at: Node | None = function
            while at is not None and at.type == "qualified_identifier":
                at = at.child_by_field_name("name")
            given = at.child_by_field_name("arguments") if at is not None else None
            return (self.typed(given.named_child(0)),) if given is not None and given.named_child_count else NOTHING
        return None

    def qualified(self, node: Node) -> Chains:
        """``a::b`` with the sign behind its first name; ``::b`` is looked for outside of everything; ``f<T>`` is ``f``."""
        name = self.dotted(node)
        if _PLAIN.match(name) is None:
            return NOTHING
        head, dot, rest = name.partition(".")
        if not dot:
            return self.name(head) if node.type == "template_function" else (head,)
        (chain, *_) = self.name(head)
        return (f"{chain}.{rest}",) if chain[0] == "@" else ("?",) if chain[0] == "?" else (f"{head}::.{rest}",)

    def typed(self, node: Node | None) -> str:
        """The chain of an instance of a written type; "?" for unknown. Namespaces before a container are left out."""
        at = node
        for _ in range(STEPS):
            if (
                at is not None
                and at.type in ("type_descriptor", "sized_type_specifier")
                and at.child_by_field_name("type") is not None
            ):
                at = at.child_by_field_name("type")
            elif at is not None and at.type == "qualified_identifier":
                inner = at.child_by_field_name("name")
                if inner is None or (inner.type != "qualified_identifier" and not self.contains(inner)):
                    break
                at = inner
            else:
                break
        return super().typed(at if at is not None and self.contains(at) else node)

    def contains(self, node: Node) -> bool:
        """Whether a type is a smart pointer or a container."""
        own = node.child_by_field_name("name") if node.type == "template_type" else None
        name = self.text(own)
        return name in self.dialect.same or name in self.dialect.several or name in self.dialect.mapped

    def plain(self, node: Node) -> str:
        """The chain of an instance of a class by its name, whatever its arguments."""
        return self.instance(self.dotted(node), "")

    def instance(self, name: str, tail: str) -> str:
        if _PLAIN.match(name) is None:
            return "?"
        head, dot, rest = name.partition(".")
        if not dot:
            return super().instance(name, tail)
        (chain, *_) = self.name(head)
        if chain[0] == "?" or len(name) > LIMIT:
            return "?"
        return f"{chain}.{rest}(){tail}" if chain[0] == "@" else f"{head}::.{rest}(){tail}"
