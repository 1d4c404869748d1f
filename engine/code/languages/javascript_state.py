"""What the passes over a JavaScript or TypeScript file share: scopes, symbols, bindings. Called by ``javascript*.py``.

What may not come in: events, chains, other files.
"""

from __future__ import annotations

from typing import Any

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.languages.javascript_expr import NOTHING, Decl, Resolver, Scope, text_of
from mog.engine.code.languages.javascript_modules import Modules
from mog.engine.code.languages.javascript_paths import is_test_path
from mog.engine.code.languages.javascript_symbols import Symbols

Source = tuple[str, Any, Scope | None, str]
Named = tuple[str, str, int, int, int, int]


class State:
    """Open frames, the current scope, and what waits for the second pass."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.test_file = is_test_path(path)
        self.resolver = Resolver(data)
        self.symbols = Symbols(data, self.resolver)
        self.module = Scope("module", -1, None)
        self.scope = self.module
        self.modules = Modules(data, self.resolver, self.symbols)
        self.frames: list[tuple[int, Scope]] = [(len(data) + 2, self.module)]
        self.titles: list[tuple[int, str]] = []
        self.uses: list[tuple[str, int, Node, Scope]] = []
        self.later: list[tuple[Scope, str, Node]] = []
        self.returns: dict[int, list[tuple[str, Node, Scope]]] = {}
        self.attrs: dict[int, dict[str, Decl]] = {}
        self.hints: dict[int, dict[int, list[Source]]] = {}
        self.callbacks: dict[int, dict[str, list[tuple[Node | None, Scope]]]] = {}
        self.spans: dict[int, tuple[int, int]] = {}
        self.bodies: set[int] = set()  # of namespaces: they are no scope of their own
        self.named: dict[int, Named] = {}  # node id → (kind, name, parent, full, stop, line)
        self.objects: dict[int, int] = {}  # object literal → its symbol
        self.owners: dict[int, int] = {}  # function whose scope it is → symbol

    def push(self, node: Node, scope: Scope) -> None:
        self.frames.append((node.end_byte, self.scope))
        self.scope = scope

    def declare(
        self, scope: Scope, name: str, tag: str = "c", what: Any = NOTHING, rest: str = "", typed: bool = False
    ) -> None:
        decl = scope.names.get(name)
        if decl is None:
            decl = scope.names[name] = Decl()
        decl.typed = decl.typed or typed
        decl.sources.append((tag, what, self.scope, rest))

    def pattern(self, node: Node, value: Node | None, typed: Node | None, scope: Scope, rest: str) -> None:
        """Declare every name of a (destructuring) pattern."""
        tag, source = ("t", typed) if typed is not None else ("e", value) if value is not None else ("c", NOTHING)
        work: list[tuple[Node, str]] = [(node, rest)]
        while work:
            at, steps = work.pop()
            kind = at.type
            if kind in ("identifier", "shorthand_property_identifier_pattern"):
                name = text_of(at, self.data)
                step = f".{name}" if kind[0] == "s" else ""
                if typed is not None and value is not None and at is node:
                    self.declare(scope, name, "t", typed, steps, typed=True)
                else:
                    self.declare(scope, name, tag, source, steps + step, typed=typed is not None)
            elif kind in ("object_pattern", "rest_pattern", "array_pattern"):
                inner = "[]" if kind == "array_pattern" else ""
                work += [(child, steps + inner) for child in at.named_children]
            elif kind == "pair_pattern":
                key, held = at.child_by_field_name("key"), at.child_by_field_name("value")
                if held is not None:
                    work.append((held, f"{steps}.{text_of(key, self.data)}"))
            elif kind in ("assignment_pattern", "object_assignment_pattern"):
                left = at.child_by_field_name("left")
                if left is not None:
                    work.append((left, steps))

    def object(self, value: Node, index: int) -> None:
        self.objects[value.id] = index
        self.symbols.flag(index, "object")
        for child in value.named_children:
            if child.type in ("pair", "method_definition"):
                self.owners[child.id] = index
            elif child.type == "shorthand_property_identifier":
                self.attr(index, text_of(child, self.data)).sources.append(("e", child, self.scope, ""))

    def attr(self, owner: int, name: str) -> Decl:
        return self.attrs.setdefault(owner, {}).setdefault(name, Decl())


def line_of(node: Node) -> int:
    """1-based line on which a node starts."""
    return node.start_point[0] + 1


def flat(text: str) -> str:
    """Text in one line, as long as a signature may be."""
    return schema.one_line(text)
