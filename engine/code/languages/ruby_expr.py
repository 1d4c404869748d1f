"""Ruby: what names and expressions are, as chains. Called by ``ruby.py``, whose walk builds upon it.

What may not come in: definitions, requires, other files. Every name that is no local is a message to ``self``, so ``a.b.c`` is
``a.b().c()``. A constant keeps where it is written: ``::A/B>A:X.Y`` is ``X::Y`` inside of ``A::B`` inside of ``A``; the linker looks
there from the inside out. An instance variable is ``self.@name``, one of a class ``cls.@name``; ``~`` is the object of a script.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from mog.engine.code.languages.declared_flow import Branches
from mog.engine.code.languages.declared_tables import ALTERNATIVES, LIMIT, NOTHING, STEPS, Chains, Dialect, Scope

METHOD = re.compile(r"[A-Za-z_\x80-\uffff][\w\x80-\uffff]*[?!]?\Z")
#: methods of every object that hand back the object itself
SAME = frozenset("freeze dup clone tap itself".split())
_LITERALS = {
    "string": "#str", "chained_string": "#str", "heredoc_beginning": "#str", "simple_symbol": "#sym", "delimited_symbol": "#sym",
    "integer": "#int", "float": "#float", "true": "#bool", "false": "#bool", "nil": "#None", "array": "#list", "hash": "#dict",
    "regex": "#re", "string_array": "#list", "symbol_array": "#list", "range": "#range", "subshell": "#str", "unary": "#bool",
    "character": "#str", "rational": "#float", "complex": "#float",
}  # fmt: skip
_LAST = frozenset(("parenthesized_statements", "begin", "then", "else", "body_statement", "block_body", "program"))
_VARIABLES = frozenset(("instance_variable", "class_variable"))
_LAYERS = 12


class Expressions(Branches):
    """Names and expressions of one Ruby file."""

    dialect = Dialect(comments=frozenset(("comment",)), separators=("::",))

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.selves: dict[int, str] = {id(self.module): "~"}
        self.paths: dict[int, str] = {}
        self.barriers: set[int] = set()
        self.methods: dict[int, str] = {}
        self.layers = 0

    # ── where one stands ──────────────────────────────────────────────────────────────────────────────────────────────

    def me(self) -> str:
        """What ``self`` is here: ``self`` in an instance method, ``cls`` in a class, ``~`` in a script."""
        scope: Scope | None = self.scope
        while scope is not None:
            held = self.selves.get(id(scope))
            if held is not None:
                return held
            scope = scope.above
        return "~"

    def nesting(self) -> str:
        """Full paths of the classes around, the innermost first."""
        found: list[str] = []
        scope: Scope | None = self.scope
        while scope is not None and len(found) < _LAYERS:
            path = self.paths.get(id(scope))
            if path and path not in found:
                found.append(path)
            scope = scope.above
        return ">".join(found)

    def local(self, name: str) -> Chains | None:
        """What a local variable holds, None when there is none of that name; methods and classes see none from outside."""
        scope: Scope | None = self.scope
        while scope is not None:
            held = scope.names.get(name)
            if held is not None:
                return tuple(f"?{name}" if chain == "?" else chain for chain in held)
            if id(scope) in self.barriers:
                return None
            scope = scope.above
        return None

    def owner(self) -> int:
        """The symbol of the class around, -1 for none."""
        scope: Scope | None = self.scope
        while scope is not None and scope.kind != "class":
            scope = scope.above
        return scope.sym if scope is not None else -1

    # ── expressions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def constant(self, node: Node, *, base: bool = False) -> str:
        """The chain of a constant, "?" for a computed scope; a base (``::!…``) is not looked for among the ancestors it makes."""
        text = "".join(self.text(node).split())
        if not all(part.replace("_", "").isalnum() for part in text.removeprefix("::").split("::")):
            return "?"
        absolute = text.startswith("::")
        prefix, _, last = text.removeprefix("::").rpartition("::")
        nest = "" if absolute else self.nesting()
        return f"::{'!' if base else ''}{nest}:{prefix.replace('::', '/')}.{last}"

    def chains(self, node: Node | None) -> Chains:
        """What an expression evaluates to."""
        tail = ""
        for _ in range(STEPS):
            if node is None or len(tail) > LIMIT:
                break
            kind = node.type
            if kind == "call":
                step = self.sent(node)
                receiver = node.child_by_field_name("receiver")
                if receiver is None or not step:
                    return self.with_tail(self.unsent(node, step), tail)
                tail, node = f"{step}{tail}", receiver
            elif kind == "identifier":
                name = self.text(node)
                return self.with_tail(self.local(name) or self.bare(name), tail)
            elif kind in ("constant", "scope_resolution"):
                return self.with_tail((self.constant(node),), tail)
            elif kind in _VARIABLES:
                me = self.me()
                return self.with_tail((f"{me}.{self.text(node)}" if me != "~" else f"?{self.text(node)}",), tail)
            elif kind == "self":
                me = self.me()
                return self.with_tail((me if me != "~" else "?self",), tail)
            elif kind == "element_reference":
                tail, node = f"[]{tail}", node.child_by_field_name("object")
            elif kind in _LAST:
                node = node.named_children[-1] if node.named_child_count else None
            elif kind == "argument_list":
                node = node.named_child(0) if node.named_child_count == 1 else None
            elif kind == "assignment":
                node = node.child_by_field_name("right")
            elif kind in _LITERALS:
                return self.with_tail((_LITERALS[kind],), tail)
            elif kind == "super":
                return self.with_tail(self.above(), f"(){tail}")
            else:
                return self.with_tail(self.several(self.alternatives(node)), tail)
        return NOTHING

    def bare(self, name: str) -> Chains:
        """A message to ``self``."""
        me = self.me()
        return ("cls()",) if name == "new" and me == "cls" else (f"{me}.{name}()",)

    def sent(self, node: Node) -> str:
        """What a call adds to the chain of its receiver; "" where that is not a message by name."""
        method = node.child_by_field_name("method")
        name = self.text(method) if method is not None else "call"
        if name == "new":
            return "()"
        if name == "class":
            return ".__class__"
        if name in SAME:
            return "" if node.child_by_field_name("receiver") is None else "\n"
        return f".{name}()" if METHOD.match(name) and (method is None or method.type != "super") else ""

    def unsent(self, node: Node, step: str) -> Chains:
        """A call without a receiver: a message to ``self``, ``new`` of the class, ``super``."""
        method = node.child_by_field_name("method")
        if method is not None and method.type == "super":
            return tuple(f"{chain}()" for chain in self.above())
        if not step or method is None or node.child_by_field_name("receiver") is not None:
            return NOTHING
        me = self.me()
        if step == "()":
            return ("cls()",) if me == "cls" else NOTHING
        return (f"{me}{step}",)

    def above(self) -> Chains:
        """The method that ``super`` runs: the one of the same name above."""
        scope: Scope | None = self.scope
        while scope is not None and id(scope) not in self.methods:
            scope = scope.above
        name = self.methods[id(scope)] if scope is not None else ""
        return (f"super().{name}",) if name else NOTHING

    def with_tail(self, heads: Chains, tail: str) -> Chains:
        return super().with_tail(heads, tail.replace("\n", ""))

    def alternatives(self, node: Node) -> list[Node | None]:
        """The expressions one of which an expression gives."""
        kind, field = node.type, node.child_by_field_name
        if kind in ("if", "unless", "conditional", "elsif"):
            return [field("consequence"), field("alternative")]
        if kind in ("if_modifier", "unless_modifier", "rescue_modifier"):
            return [field("body")]
        if kind == "binary":
            sign = self.text(field("operator"))
            return (
                [field("left"), field("right")]
                if sign in ("||", "or")
                else [field("right")]
                if sign in ("&&", "and")
                else []
            )
        if kind == "operator_assignment":
            return [field("left"), field("right")] if self.text(field("operator")) == "||=" else []
        if kind == "case":
            arms = [one for one in node.named_children if one.type in ("when", "else")]
            return [arm.child_by_field_name("body") if arm.type == "when" else arm for arm in arms]
        return []

    def several(self, nodes: list[Node | None]) -> Chains:
        """The chains of any of some expressions; unknown when they are too many."""
        self.layers += 1
        found: dict[str, None] = {}
        for node in nodes if self.layers < _LAYERS else ():
            found.update(dict.fromkeys(self.chains(node)) if node is not None else {})
        self.layers -= 1
        if len(found) > 1:
            found.pop("#None", None)
        return tuple(found) if 0 < len(found) <= ALTERNATIVES else NOTHING
