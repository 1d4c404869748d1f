"""C#: what a file does with names: locals, lambdas, expressions, calls. The lower half of the walk; called by ``csharp.py``.

What may not come in: definitions, other files.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.languages.csharp_tables import DIALECT, HANDS_OUT, PLAIN
from mog.engine.code.languages.declared_overloads import Overloaded
from mog.engine.code.languages.declared_tables import NOTHING, Captures, Chains, child


class Uses(Overloaded):
    """Types, locals and uses of names in a C# file."""

    dialect = DIALECT

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.above: dict[int, str] = {}  # class → simple name of the class it extends

    def text(self, node: Node | None) -> str:
        """As in every language; ``@class`` is a name too, and means ``class``."""
        return super().text(node).removeprefix("@")

    def special_type(self, node: Node) -> str:
        return PLAIN.get(self.text(node), "?") if node.type == "predefined_type" else "?"

    def typed(self, node: Node | None) -> str:
        """As in every language, with the arity of a generic type behind its name."""
        if node is not None and node.type == "nullable_type":
            plain = child(node, "")
            if (
                plain is not None
                and plain.type == "predefined_type"
                and self.text(plain) not in ("string", "object", "dynamic")
            ):
                return f"{PLAIN.get(self.text(plain), '#any')}?"
        chain = super().typed(node)
        if node is not None and node.type == "generic_name" and chain.endswith("()") and chain[0] not in "@%#?":
            held = node.named_children[-1]
            count = len([one for one in held.named_children if one.type != "comment"]) or self.text(held).count(",") + 1
            if "`" not in chain and "." not in chain and chain[:-2] == self.text(node.named_child(0)):
                return f"{chain[:-2]}`{count}()"
        return chain.replace("global.", "", 1) if chain.startswith("global.") else chain

    def kind(self, chain: str) -> str:
        return super().kind(re.sub(r"`\d+", "", chain) if "`" in chain else chain)

    def refer(self, chain: str) -> None:
        chain = chain.rstrip("*").removesuffix("()")
        if chain[0] not in "?#" and chain != "var":
            self.scope.refs[chain] = None

    # ── locals ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_param(self, node: Node, captured: Captures) -> None:
        kind = node.child_by_field_name("type")
        above = node.parent.parent if node.parent is not None else None
        if kind is None and above is not None and above.type == "lambda_expression":
            return
        self.bind(self.text(captured["name"][0]), (self.typed(kind),) if kind is not None else NOTHING, typed=True)

    def on_local(self, node: Node, captured: Captures) -> None:
        kind = node.child_by_field_name("type")
        for one in node.named_children:
            if one.type == "variable_declarator":
                value = one.named_children[-1] if one.named_child_count > 1 else None
                self.declare(one.child_by_field_name("name"), kind, self.chains(value))

    def declare(self, name: Node | None, kind: Node | None, values: Chains) -> None:
        """Bind a local to its written type, or where that is ``var`` to what it is given."""
        if kind is None or kind.type == "implicit_type":
            self.bind(self.text(name), values)
        else:
            self.bind(self.text(name), (self.typed(kind),), typed=True)

    def on_each(self, node: Node, captured: Captures) -> None:
        value = node.child_by_field_name("right") if node.type == "foreach_statement" else child(node, "-1")
        self.declare(captured["name"][0], node.child_by_field_name("type"), items(self.chains(value)))

    def on_pattern(self, node: Node, captured: Captures) -> None:
        name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is not None:
            self.declare(name, kind, NOTHING)

    def on_lambda(self, node: Node, captured: Captures) -> None:
        self.push(node, "block", self.scope.sym)
        held = node.child_by_field_name("parameters")
        if held is None or node.type != "lambda_expression":
            return
        parts = [held] if held.type == "implicit_parameter" else held.named_children
        names = [one.child_by_field_name("name") or one for one in parts if one.child_by_field_name("type") is None]
        given = self.handed(node)
        for name in names:
            self.bind(self.text(name), given if len(names) == 1 else NOTHING, typed=True)

    def handed(self, node: Node) -> Chains:
        """What a lambda that is an argument is called with."""
        held = node.parent.parent if node.parent is not None and node.parent.type == "argument" else None
        call = held.parent if held is not None and held.type == "argument_list" else None
        function = call.child_by_field_name("function") if call is not None else None
        if function is None or function.type not in self.dialect.members:
            return NOTHING
        at, own = self.dialect.members[function.type]
        if self.member_tail(function, own).lstrip(".") not in HANDS_OUT:
            return NOTHING
        return items(self.chains(child(function, at)))

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def member_tail(self, node: Node, own: str) -> str:
        name = child(node, own)
        if name is not None and name.type == "element_binding_expression":
            return "[]"
        if name is not None and name.type == "member_binding_expression":
            name = name.child_by_field_name("name")
        if name is not None and name.type == "generic_name":
            name = child(name, "")
        return f".{self.text(name)}"

    def value_of(self, node: Node) -> Node:
        return child(node, "-1") or node

    def passed(self, node: Node) -> list[Node]:
        held = node.child_by_field_name("arguments") or next(
            (one for one in node.named_children if one.type == "argument_list"), None
        )
        return [one for one in held.named_children if one.type == "argument"] if held is not None else []

    def special(self, node: Node) -> Chains | None:
        kind = node.type
        if kind == "predefined_type":
            return (PLAIN.get(self.text(node), "#object"),)
        if kind in ("integer_literal", "real_literal"):
            return self.number(node)
        if kind == "generic_name":
            return self.name(self.text(child(node, "")))
        if kind == "alias_qualified_name":
            return (self.text(node.child_by_field_name("name")),)
        if kind == "await_expression" and node.named_child_count:
            return items(self.chains(node.named_child(0)))
        if kind == "implicit_object_creation_expression":
            return (self.wanted(node),)
        if kind == "array_creation_expression":
            return (self.typed(node.child_by_field_name("type")),)
        if kind == "conditional_expression":
            both = [self.chains(node.child_by_field_name(name)) for name in ("consequence", "alternative")]
            return tuple(dict.fromkeys(one for held in both for one in held if one not in ("?", "#None"))) or None
        return self.operation(node) if kind == "binary_expression" else None

    def wanted(self, node: Node) -> str:
        """The type a ``new(…)`` makes: that of what it is given to."""
        above = node.parent
        while above is not None and above.type in (
            "parenthesized_expression",
            "variable_declarator",
            "equals_value_clause",
        ):
            above = above.parent
        if above is None or above.type not in ("variable_declaration", "property_declaration"):
            return "?"
        return self.typed(above.child_by_field_name("type"))

    def on_call(self, node: Node, captured: Captures) -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type == "identifier" and self.text(function) == "nameof":
            return
        if function is not None:
            super().on_call(node, captured)
            return
        for chain in self.chains(node):
            if chain.endswith("()"):  # what is made is told from what is called by its name before it
                name = chain[:-2].rpartition(".")[2].partition("`")[0]
                self.say_call(f"{name}={chain[:-2]}" if name[0] not in "@%" else chain[:-2], node)

    def on_initializer(self, node: Node, captured: Captures) -> None:
        """``: base(…)`` and ``: this(…)``, and the arguments a primary constructor hands to its base."""
        owner = self.class_around()
        own = any(one.type == "this" for one in node.children)
        name = self.rows[owner][schema.NAME] if own and owner >= 0 else self.above.get(owner, "")
        if name:
            self.say_call(f"{'self' if own else 'super()'}.{name}", node)

    def on_ref(self, node: Node, captured: Captures) -> None:
        """A type whose member is named, unless that is a call."""
        name, above = self.text(node), node.parent.parent if node.parent is not None else None
        if name[:1].isupper() and not (above is not None and above.type == "invocation_expression"):
            self.refer(self.instance(name, ""))

    def on_value(self, node: Node, captured: Captures) -> None:
        """A name that is handed over: a method group, where it is one."""
        for chain in self.chains(node):
            if chain[0] not in "?#" and not chain.endswith(("()", "]", "}", "*")) and "^" not in chain:
                self.scope.refs[chain] = None


def items(chains: Chains) -> Chains:
    """What one item of each is."""
    return tuple(f"{chain}{{}}" if chain[0] != "?" else "?" for chain in chains)
