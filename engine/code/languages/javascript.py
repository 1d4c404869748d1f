"""JavaScript, TypeScript and TSX: from a tree to facts, by one query and two passes over its matches. Called by ``extract.py``.

What may not come in: recursion over the tree, other files, module resolution. The first pass builds scopes, symbols and what every
name is bound to; the second turns call sites and values into chains (functions are hoisted, so one pass would not do).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tree_sitter import Node, Query, QueryCursor, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars
from mog.engine.code.anchor_rules import TEXT_RULES
from mog.engine.code.anchors import hash_symbols
from mog.engine.code.facts import Facts
from mog.engine.code.languages.javascript_expr import (
    FUNCTIONS, NOTHING, Decl, Resolver, Scope, known, string_of, tail, text_of, unwrapped,
)  # fmt: skip
from mog.engine.code.languages.javascript_modules import Modules
from mog.engine.code.languages.javascript_paths import is_test_path
from mog.engine.code.languages.javascript_symbols import CLASSES, Symbols, title_of

VERSION = 1

_EACH = frozenset("forEach map filter some every find findIndex findLast flatMap".split())
_THEN = frozenset(("then",))
_WRAPPERS = frozenset("memo forwardRef observer lazy".split())
_TESTS = frozenset("describe it test suite context specify fdescribe fit xdescribe xit".split())
_GROUPS = frozenset("describe suite context fdescribe xdescribe".split())
_MARK = "anchor."
# events at one node come in this order
_RANKS = {name: rank for rank, name in enumerate(
    "import export vars var function class field pair block forin assign call jsx return alias_import alias enum namespace ref tref".split()
)}  # fmt: skip
_HEAD = re.compile(r"[.(\[{*]")


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one file (schema in ``facts.py``). Never raises for odd input; broken parts are left out."""
    query = _query(lang)
    assert query is not None
    walk = _Walk(data, path)
    captured = QueryCursor(query).captures(tree.root_node)
    walk.run(_events(captured))
    found = walk.finish(lang)
    rows = found["syms"]
    spans = [(row[schema.FULL], row[schema.STOP], row[schema.NAME]) for row in rows]
    marks = {name[len(_MARK) :]: nodes for name, nodes in captured.items() if name.startswith(_MARK)}
    for row, (span, body) in zip(rows, hash_symbols(lang, tree, data, spans, marks), strict=True):
        row[schema.SPAN], row[schema.BODY] = span, body
    return found


@lru_cache(maxsize=8)
def _query(lang: str) -> Query | None:
    """The query file of a language and the marks of its anchors in one, so that the tree is walked once."""
    language = grammars.language(lang)
    if language is None:
        return None
    source = (Path(__file__).parent / f"{lang}.scm").read_text(encoding="utf-8")
    marks = re.sub(r"@(?=\w)", f"@{_MARK}", TEXT_RULES[lang].query)
    return Query(language, source + marks)


def _events(captured: dict[str, list[Node]]) -> list[tuple[int, int, int, int, str, Node]]:
    """Captures in source order, outer nodes first: (start, minus end, rank of the event, number, event, node)."""
    events = []
    number = 0
    for name, nodes in captured.items():
        rank = _RANKS.get(name)
        if rank is None:
            continue
        for node in nodes:
            number += 1
            events.append((node.start_byte, -node.end_byte, rank, number, name, node))
    events.sort()
    return events


class _Walk:
    """State of the first pass: open frames, the current scope, and what waits for the second."""

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
        self.uses_of: dict[int, dict[str, None]] = {}
        self.attrs: dict[int, dict[str, Decl]] = {}
        self.hints: dict[int, dict[int, list[tuple[str, Any, Scope | None, str]]]] = {}
        self.callbacks: dict[int, dict[str, list[tuple[Node | None, Scope]]]] = {}
        self.spans: dict[int, tuple[int, int]] = {}
        self.known: set[str] = set()  # names of the module that a reference may mean
        self.bodies: set[int] = set()  # of namespaces: they are no scope of their own
        self.named: dict[int, tuple[str, str, int, int, int, int]] = {}  # node id → (kind, name, parent, full, stop, line)
        self.objects: dict[int, int] = {}  # object literal → its symbol
        self.owners: dict[int, int] = {}  # function whose scope it is → symbol

    def run(self, events: list[tuple[int, int, int, int, str, Node]]) -> None:
        handlers = {name: getattr(self, f"on_{name}") for name in _RANKS}
        frames = self.frames
        for start, _, _, _, name, node in events:
            while start >= frames[-1][0]:
                self.scope = frames.pop()[1]
            handlers[name](node)

    def push(self, node: Node, scope: Scope) -> None:
        self.frames.append((node.end_byte, self.scope))
        self.scope = scope

    def declare(self, scope: Scope, name: str, tag: str = "c", what: Any = NOTHING, rest: str = "", typed: bool = False) -> None:
        decl = scope.names.get(name)
        if decl is None:
            decl = scope.names[name] = Decl()
        decl.typed = decl.typed or typed
        decl.sources.append((tag, what, self.scope, rest))

    # ── modules ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_import(self, node: Node) -> None:
        for local in self.modules.statement(node, self.scope):
            self.declare(self.scope, *local)

    def on_alias_import(self, node: Node) -> None:
        parts = node.named_children
        if len(parts) == 2:
            self.declare(self.scope, text_of(parts[0], self.data), "e", parts[1])

    def on_export(self, node: Node) -> None:
        held = self.modules.export(node, self.scope)
        if held is not None:
            self.named[held.id] = ("default", "default", self.scope.sym, node.start_byte, node.end_byte, _line(held))
            inner = unwrapped(held)
            if inner is not None and inner.type == "object":
                self.on_default_object(inner, node)

    def on_default_object(self, value: Node, node: Node) -> None:
        index = self.symbols.add("default", "const", -1, value, node.start_byte, node.start_byte, node.end_byte, "export default")
        self.object(value, index)

    # ── variables ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_vars(self, node: Node) -> None:
        start, stop = self.modules.exported_span(node)
        declarators = [child for child in node.named_children if child.type == "variable_declarator"]
        for child in declarators:
            self.spans[child.id] = (start, stop) if len(declarators) == 1 else (child.start_byte, child.end_byte)

    def on_var(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        typed = node.child_by_field_name("type")
        if name is None:
            return
        is_var = self.data.startswith(b"var", self.spans.get(node.id, (0, 0))[0])
        scope = self.scope.home() if is_var else self.scope
        inner = unwrapped(value)
        if inner is not None and self.modules.required(inner, name, scope):
            for local in self.modules.locals:
                self.declare(scope, *local)
            return
        if name.type == "identifier":
            self.variable(node, text_of(name, self.data), inner, scope, typed)
        self.pattern(name, value, typed, scope, "")

    def variable(self, node: Node, name: str, value: Node | None, scope: Scope, typed: Node | None) -> None:
        """A variable that is a symbol: a function or class anywhere, a constant at module level or in a namespace."""
        full, stop = self.spans.get(node.id, (node.start_byte, node.end_byte))
        value = self.wrapped(value)
        if value is not None and (value.type in FUNCTIONS or value.type == "class"):
            self.named[value.id] = ("function", name, scope.sym, full, stop, _line(node))
            return
        if scope.kind not in ("module", "namespace"):
            return
        note = _flat(text_of(typed, self.data)) if typed is not None else ""
        index = self.symbols.add(name, "const", scope.sym, node, node.start_byte, full, stop, name + note)
        if self.modules.is_exported(full, node.start_byte):
            self.symbols.flag(index, "export")
        if value is not None and value.type == "object":
            self.object(value, index)
            self.resolver.symbols[value.id] = index
        if scope.kind == "namespace" and value is not None:
            self.attr(scope.sym, name).sources.append(("e", value, scope, ""))

    def wrapped(self, value: Node | None) -> Node | None:
        """The function inside ``memo(function …)`` and the like."""
        if value is None or value.type != "call_expression":
            return value
        function, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
        last = text_of(function, self.data).rpartition(".")[2] if function is not None else ""
        if last not in _WRAPPERS or arguments is None or arguments.named_child_count == 0:
            return value
        inner = arguments.named_child(0)
        if inner is None or inner.type not in FUNCTIONS:
            return value
        return inner

    def object(self, value: Node, index: int) -> None:
        self.objects[value.id] = index
        self.symbols.flag(index, "object")
        for child in value.named_children:
            if child.type in ("pair", "method_definition"):
                self.owners[child.id] = index
            elif child.type == "shorthand_property_identifier":
                self.attr(index, text_of(child, self.data)).sources.append(("e", child, self.scope, ""))

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

    def on_forin(self, node: Node) -> None:
        scope = Scope("block", self.scope.sym, self.scope, self.scope.this, self.scope.cls)
        self.push(node, scope)
        left, right, sign = (node.child_by_field_name(n) for n in ("left", "right", "operator"))
        if left is not None and node.child_by_field_name("kind") is not None:
            if sign is not None and sign.type == "of":
                self.pattern(left, right, None, scope, "{}")
            else:
                self.pattern(left, None, None, scope, "")

    def on_block(self, node: Node) -> None:
        if node.id in self.bodies:
            return
        scope = Scope("block", self.scope.sym, self.scope, self.scope.this, self.scope.cls)
        self.push(node, scope)
        if node.type == "catch_clause":
            parameter = node.child_by_field_name("parameter")
            if parameter is not None:
                self.pattern(parameter, None, node.child_by_field_name("type"), scope, "")

    def on_assign(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), unwrapped(node.child_by_field_name("right"))
        if left is None or right is None:
            return
        if left.type == "identifier":
            self.later.append((self.scope, text_of(left, self.data), right))
        elif left.type == "member_expression":
            self.assign_member(node, left, right)

    def assign_member(self, node: Node, left: Node, right: Node) -> None:
        thing, name = left.child_by_field_name("object"), text_of(left.child_by_field_name("property"), self.data)
        if thing is None:
            return
        if thing.type == "this":
            if self.scope.cls >= 0:
                if right.type in FUNCTIONS:
                    self.named[right.id] = ("method", name, self.scope.cls, node.start_byte, node.end_byte, _line(node))
                else:
                    self.attr(self.scope.cls, name).sources.append(("e", right, self.scope, ""))
            return
        target = text_of(thing, self.data)
        if self.scope.home().kind == "module" and self.modules.assigned(target, name, right):
            if right.type in FUNCTIONS or right.type == "class":
                label = "default" if name == "exports" else name
                self.named[right.id] = ("function", label, -1, node.start_byte, node.end_byte, _line(node))
            elif right.type == "object" and name == "exports":
                self.exported_object(node, right)
            return
        owner = self.symbols.top.get(target.removesuffix(".prototype"), -1)
        if owner >= 0 and (right.type in FUNCTIONS) and self.scope.home().kind == "module":
            self.named[right.id] = ("method", name, owner, node.start_byte, node.end_byte, _line(node))

    def exported_object(self, node: Node, value: Node) -> None:
        index = self.symbols.add("exports", "const", -1, node, node.start_byte, node.start_byte, node.end_byte, "module.exports")
        self.object(value, index)
        self.resolver.symbols[value.id] = index
        self.modules.export_object(value, index)

    # ── functions and classes ─────────────────────────────────────────────────────────────────────────────────────────

    def on_function(self, node: Node) -> None:
        kind = node.type
        arrow = kind == "arrow_function"
        sym, outer = self.function_symbol(node, kind), self.scope
        this, cls = (outer.this, outer.cls) if arrow else ("?", -1)
        if sym >= 0 and self.symbols.rows[sym][schema.KIND] == "method":
            cls = self.symbols.rows[sym][schema.PARENT]
            this = "cls" if "static" in self.symbols.rows[sym][schema.META].get("x", ()) else "self"
        scope = Scope("function", sym if sym >= 0 else outer.sym, outer, this, cls)
        self.owners[node.id] = sym
        self.push(node, scope)
        self.type_parameters(node, scope)
        if kind in ("function_expression", "generator_function") and (own := node.child_by_field_name("name")) is not None:
            self.declare(scope, text_of(own, self.data), "c", (f"@{sym}",) if sym >= 0 else NOTHING)
        single = node.child_by_field_name("parameter")
        parameters = node.child_by_field_name("parameters")
        hint = self.hints.get(node.id)
        number = 0
        for child in [single] if single is not None else parameters.named_children if parameters is not None else ():
            if child.type == "comment":
                continue
            if self.this_parameter(child, scope):
                continue
            self.parameter(child, scope, (hint or {}).get(number), sym)
            if sym >= 0:
                self.callback_type(child, sym, number, scope)
            number += 1
        if sym < 0:
            return
        returned = node.child_by_field_name("return_type")
        if returned is not None:
            self.returns.setdefault(sym, []).append(("t", returned, scope))
        elif arrow and (body := node.child_by_field_name("body")) is not None and body.type != "statement_block":
            self.returns.setdefault(sym, []).append(("e", body, scope))

    def type_parameters(self, node: Node, scope: Scope) -> None:
        held = node.child_by_field_name("type_parameters")
        for child in held.named_children if held is not None else ():
            bound = child.child_by_field_name("constraint")
            inner = bound.named_child(0) if bound is not None and bound.named_child_count else None
            self.declare(scope, text_of(child.child_by_field_name("name"), self.data), "c", NOTHING)
            if inner is not None and inner.type in ("type_identifier", "generic_type"):
                scope.names[text_of(child.child_by_field_name("name"), self.data)].sources[:] = [("b", inner, scope, "")]

    def this_parameter(self, child: Node, scope: Scope) -> bool:
        """``function (this: Foo)`` says what ``this`` is."""
        pattern = child.child_by_field_name("pattern")
        if pattern is None or pattern.type != "this":
            return False
        held = self.resolver.types(child.child_by_field_name("type"), scope)
        scope.this = held[0] if len(held) == 1 else "?"
        return True

    def callback_type(self, child: Node, sym: int, number: int, scope: Scope) -> None:
        """Keep the types of the parameters of a function that is itself a parameter."""
        typed = child.child_by_field_name("type")
        inner = typed.named_child(0) if typed is not None and typed.named_child_count else None
        while inner is not None and inner.type in ("parenthesized_type", "union_type"):
            inner = next((part for part in inner.named_children if part.type in ("function_type", "parenthesized_type")), None)
        parameters = inner.child_by_field_name("parameters") if inner is not None and inner.type == "function_type" else None
        if parameters is None:
            return
        parts = [part for part in parameters.named_children if part.type in ("required_parameter", "optional_parameter")]
        parts = [part for part in parts if (held := part.child_by_field_name("pattern")) is None or held.type != "this"]
        self.callbacks.setdefault(sym, {}).setdefault(str(number), [(part.child_by_field_name("type"), scope) for part in parts])

    def parameter(self, child: Node, scope: Scope, hint: list[tuple[str, Any, Scope | None, str]] | None, sym: int) -> None:
        pattern, typed, value = child, None, None
        if child.type in ("required_parameter", "optional_parameter"):
            pattern = child.child_by_field_name("pattern") or child
            typed, value = child.child_by_field_name("type"), child.child_by_field_name("value")
        elif child.type == "assignment_pattern":
            pattern = child.child_by_field_name("left") or child
            value = child.child_by_field_name("right")
        if typed is None and hint is not None and pattern.type == "identifier":
            decl = scope.names[text_of(pattern, self.data)] = Decl()
            decl.sources += hint
            return
        self.pattern(pattern, value, typed, scope, "")
        if pattern.type == "identifier" and sym >= 0 and self.symbols.rows[sym][schema.NAME] == "constructor":
            self.property_parameter(child, text_of(pattern, self.data), typed, value, scope)

    def property_parameter(self, child: Node, name: str, typed: Node | None, value: Node | None, scope: Scope) -> None:
        """``constructor(private readonly svc: Service)`` declares an attribute."""
        marks = [part.type for part in child.children if part.type in ("accessibility_modifier", "readonly", "override_modifier")]
        if not marks or scope.cls < 0:
            return
        source = ("t", typed, scope, "") if typed is not None else ("e", value, scope, "") if value is not None else None
        if source is not None:
            self.attr(scope.cls, name).sources.append(source)
        note = _flat(text_of(typed, self.data)) if typed is not None else ""
        self.symbols.add(name, "field", scope.cls, child, child.start_byte, child.start_byte, child.end_byte, name + note)

    def function_symbol(self, node: Node, kind: str) -> int:
        """Symbol of a function, -1 for one without a name."""
        held = self.named.pop(node.id, None)
        if kind in ("method_definition", "method_signature", "abstract_method_signature"):
            owner = self.owners.get(node.id, self.scope.sym if self.scope.kind == "class" else -1)
            index = self.symbols.method(node, owner) if owner >= 0 else -1
            if index >= 0:
                self.symbols.decorators(node, index, self.uses, self.scope)
            return index
        if held is not None:
            what, name, parent, full, stop, line = held
            own = node.child_by_field_name("name")
            if what == "default" and own is not None:
                name = text_of(own, self.data)
            index = self.symbols.function(node, name, "method" if what == "method" else "test" if what == "test" else "function",
                                          parent, full, stop, line)  # fmt: skip
            if what == "default":
                self.modules.default(name, index)
            if self.modules.is_exported(full, node.start_byte):
                self.symbols.flag(index, "export")
            return index
        if kind not in ("function_declaration", "generator_function_declaration", "function_signature"):
            return -1
        full, stop = self.modules.exported_span(node)
        index = self.symbols.declared(node, self.scope, full, stop)
        if index >= 0:
            self.modules.mark(node, index)
            self.declare_symbol(text_of(node.child_by_field_name("name"), self.data), index)
        return index

    def declare_symbol(self, name: str, index: int) -> None:
        scope = self.scope
        if scope.kind == "module":
            scope.names.setdefault(name, Decl())
        elif scope.names.get(name) is None or not scope.names[name].sources:
            self.declare(scope, name, "c", (f"@{index}",))

    def on_class(self, node: Node) -> None:
        held = self.named.pop(node.id, None)
        own = node.child_by_field_name("name")
        name = text_of(own, self.data) if own is not None else held[1] if held is not None else "class"
        full, stop = (held[3], held[4]) if held is not None else self.modules.exported_span(node)
        index = self.symbols.classed(node, name if held is None or held[0] == "default" else held[1], self.scope.sym, full, stop)
        if held is not None and held[0] == "default":
            self.modules.default(name, index)
        self.modules.mark(node, index)
        self.symbols.decorators(node, index, self.uses, self.scope)
        if own is not None and node.type != "class":
            self.declare_symbol(name, index)
        scope = Scope("class", index, self.scope, "cls", index)
        self.push(node, scope)
        self.type_parameters(node, scope)
        if own is not None and node.type == "class":
            self.declare(scope, name, "c", (f"@{index}",))
        self.heritage(node, index)

    def heritage(self, node: Node, index: int) -> None:
        """Record what a class extends and implements, and what an interface extends."""
        work = [child for child in node.named_children if child.type in ("class_heritage", "extends_type_clause")]
        while work:
            at = work.pop(0)
            if at.type in ("extends_clause", "implements_clause"):
                work[:0] = [child for child in at.named_children if child.type != "type_arguments"]
            elif at.type in ("class_heritage", "extends_type_clause"):
                work[:0] = [child for child in at.named_children if child.type != "type_arguments"]
            else:
                self.uses.append(("base", index, at, self.scope.outer or self.scope))

    def on_field(self, node: Node) -> None:
        if self.scope.kind != "class":
            return
        key = node.child_by_field_name("name") or node.child_by_field_name("property")
        value, typed = unwrapped(node.child_by_field_name("value")), node.child_by_field_name("type")
        name, owner = text_of(key, self.data), self.scope.sym
        if not name:
            return
        full = self.symbols.decorated(node)
        static = any(child.type == "static" for child in node.children)
        if value is not None and value.type in FUNCTIONS:
            self.named[value.id] = ("method", name, owner, full, node.end_byte, _line(key or node))
        else:
            note = _flat(text_of(typed, self.data)) if typed is not None else ""
            index = self.symbols.add(name, "field", owner, key or node, node.start_byte, full, node.end_byte, name + note, node)
            if static:
                self.symbols.flag(index, "static")
            self.symbols.decorators(node, index, self.uses, self.scope)
        source = ("t", typed, self.scope, "") if typed is not None else ("e", value, self.scope, "") if value is not None else None
        if source is not None and not (value is not None and value.type in FUNCTIONS):
            self.attr(owner, name).sources.append(source)
        # `this` in an initialiser is the instance
        if value is not None and not static:
            self.push(node, Scope("block", owner, self.scope, "self", owner))

    def on_pair(self, node: Node) -> None:
        owner = self.owners.get(node.id, -1)
        key, value = node.child_by_field_name("key"), unwrapped(node.child_by_field_name("value"))
        if owner < 0 or value is None or key is None:
            return
        name = string_of(key, self.data) or text_of(key, self.data)
        if value.type in FUNCTIONS:
            self.named[value.id] = ("method", name, owner, node.start_byte, node.end_byte, _line(node))
        elif value.type == "object" and any(child.type in ("pair", "method_definition") for child in value.named_children):
            index = self.symbols.add(name, "const", owner, node, node.start_byte, node.start_byte, node.end_byte, name)
            self.object(value, index)
            self.resolver.symbols[value.id] = index
            self.attr(owner, name).sources.append(("c", (f"@{index}",), None, ""))
        else:
            self.attr(owner, name).sources.append(("e", value, self.scope, ""))

    def on_alias(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        full, stop = self.modules.exported_span(node)
        index = self.symbols.classed(node, text_of(name, self.data), self.scope.sym, full, stop, "type")
        self.modules.mark(node, index)
        self.declare_symbol(text_of(name, self.data), index)
        scope = Scope("class", index, self.scope, "?", index)
        self.push(node, scope)
        self.type_parameters(node, scope)
        parts = value.named_children if value is not None and value.type == "intersection_type" else [value]
        for part in parts:
            if part is not None and part.type in ("type_identifier", "generic_type", "nested_type_identifier"):
                self.uses.append(("base", index, part, scope))

    def on_enum(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return
        full, stop = self.modules.exported_span(node)
        index = self.symbols.classed(node, text_of(name, self.data), self.scope.sym, full, stop, "enum")
        self.modules.mark(node, index)
        self.declare_symbol(text_of(name, self.data), index)
        for child in body.named_children if body is not None else ():
            key = child.child_by_field_name("name") if child.type == "enum_assignment" else child
            if key is not None and child.type != "comment":
                label = text_of(key, self.data).strip("\"'")
                self.symbols.add(label, "field", index, key, child.start_byte, child.start_byte, child.end_byte, label)

    def on_namespace(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        full, stop = self.modules.exported_span(node)
        label = string_of(name, self.data) or text_of(name, self.data)
        index = self.symbols.classed(node, label, self.scope.sym, full, stop, "namespace")
        self.modules.mark(node, index)
        self.declare_symbol(label, index)
        body = node.child_by_field_name("body")
        self.push(node, Scope("namespace", index, self.scope, "?", -1))
        if body is not None:
            self.bodies.add(body.id)

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_call(self, node: Node) -> None:
        function = node.child_by_field_name("constructor" if node.type == "new_expression" else "function")
        arguments = node.child_by_field_name("arguments")
        if function is None or self.modules.call(node, function, arguments, self.scope):
            return
        if self.test_file and self.test_block(node, function, arguments):
            return
        if function.type == "super":
            self.uses.append(("super", self.scope.sym, function, self.scope))
        elif function.type not in FUNCTIONS:
            self.uses.append(("call", self.scope.sym, function, self.scope))
        if arguments is not None and function.type in ("member_expression", "identifier"):
            self.callback(function, arguments)

    def callback(self, function: Node, arguments: Node) -> None:
        """What the parameters of a function hold that is passed: items in ``xs.forEach(x => …)``, the value in
        ``promise.then(x => …)``, else what the called function declares (``f.$argument$parameter``)."""
        method = text_of(function.child_by_field_name("property"), self.data) if function.type == "member_expression" else ""
        step = "{}" if method in _EACH else "" if method in _THEN else None
        number = -1
        for child in arguments.named_children:
            if child.type == "comment":
                continue
            number += 1
            if child.type not in FUNCTIONS:
                continue
            if step is not None and number == 0:
                self.hints[child.id] = {0: [("e", function.child_by_field_name("object"), self.scope, step)]}
            elif step is None:
                self.hints[child.id] = {at: [("e", function, self.scope, f".${number}${at}")] for at in range(4)}

    def test_block(self, node: Node, function: Node, arguments: Node | None) -> bool:
        """``describe("title", () => …)`` and ``it("title", …)`` are test symbols."""
        word = text_of(function, self.data).partition(".")[0].partition("(")[0]
        if word not in _TESTS or arguments is None or arguments.named_child_count < 2:
            return False
        parts = arguments.named_children
        title = title_of(parts[0], self.data)
        body = next((part for part in parts[1:] if part.type in FUNCTIONS), None)
        if not title or body is None:
            return False
        while self.titles and node.start_byte >= self.titles[-1][0]:
            self.titles.pop()
        above = self.titles[-1][1] + " > " if self.titles else ""
        label = f"{word.removeprefix('f').removeprefix('x') if word[0] in 'fx' else word} {title}"
        self.titles.append((node.end_byte, above + label))
        self.named[body.id] = ("test", above + label, -1, node.start_byte, node.end_byte, _line(node))
        if word in _GROUPS:
            self.symbols.groups.add(above + label)
        return True

    def on_jsx(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None and (name.type == "member_expression" or self.data[name.start_byte : name.start_byte + 1].isupper()):
            self.uses.append(("call", self.scope.sym, name, self.scope))

    def on_return(self, node: Node) -> None:
        scope: Scope | None = self.scope
        while scope is not None and scope.kind == "block":
            scope = scope.outer
        # only returns of a function that is a symbol itself, not of a callback inside it
        if scope is not None and scope.kind == "function" and scope.outer is not None and scope.sym != scope.outer.sym:
            self.returns.setdefault(scope.sym, []).append(("e", node, self.scope))

    def on_ref(self, node: Node) -> None:
        self.uses.append(("ref", self.scope.sym, node, self.scope))

    def on_tref(self, node: Node) -> None:
        self.uses.append(("type", self.scope.sym, node, self.scope))

    def attr(self, owner: int, name: str) -> Decl:
        return self.attrs.setdefault(owner, {}).setdefault(name, Decl())

    # ── second pass ───────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self, lang: str) -> Facts:
        found = schema.empty(lang)
        rows = self.symbols.rows
        self.reassign()
        self.known = {row[schema.NAME] for row in rows if row[schema.PARENT] < 0}
        self.known.update(entry[1] for entry in self.modules.imports if entry[0] < 0)
        self.known.update(("self", "cls"))
        calls: dict[int, dict[str, None]] = {}
        refs = self.uses_of
        bases: dict[int, dict[str, None]] = {}
        for use, sym, node, scope in self.uses:
            if use == "call":
                calls.setdefault(sym, {})[self.call_chain(node, scope)] = None
            elif use == "super":
                calls.setdefault(sym, {})["super().constructor"] = None
            elif use == "deco":
                self.decorate(sym, node, scope)
            elif use == "base":
                bases.setdefault(sym, {}).update(dict.fromkeys(self.base_chain(node, scope)))
            else:
                refs.setdefault(sym, {}).update(dict.fromkeys(self.ref_chains(use, sym, node, scope)))
        for index, row in enumerate(rows):
            self.meta(index, row[schema.META], bases.get(index))
        schema.unique_quals(rows)
        found["syms"], found["imports"] = rows, self.modules.imports
        found["binds"] = self.binds()
        found["exports"], found["all"] = self.modules.exports, self.modules.names()
        found["calls"] = [[sym, " ".join(held)] for sym, held in calls.items()]
        found["refs"] = self.known_refs(refs)
        return found

    def decorate(self, sym: int, node: Node, scope: Scope) -> None:
        meta = self.symbols.rows[sym][schema.META]
        chains = [chain for chain in self.resolver.chains(node, scope) if " " not in chain]
        meta["d"] = " ".join([*meta.get("d", "").split(), *chains])
        self.uses_of.setdefault(sym, {}).update(dict.fromkeys(c for c in chains if c[0] not in "?#"))

    def reassign(self) -> None:
        for scope, name, node in self.later:
            held = scope.find(name)
            if held is not None and not held[1].typed and len(held[1].sources) < 8:
                held[1].sources.append(("e", node, scope, ""))

    def call_chain(self, node: Node, scope: Scope) -> str:
        """One call site: alternatives joined, under the name as written where they are called otherwise."""
        text = text_of(node, self.data) if node.type == "identifier" else ""
        held = self.resolver.chains(node, scope)
        better = [chain for chain in held if chain[0] != "?" and not chain.startswith("#None")]
        if not better:
            last = text or text_of(node.child_by_field_name("property"), self.data)
            return "?" + last if text else f"?.{_flat(last)}" if last and node.type == "member_expression" else "?"
        if len(better) < len(held):
            better.append("?")
        joined = "|".join(better)
        if text and (len(better) > 1 or (joined != text and not joined.endswith("." + text))):
            joined = f"{text}={joined}"
        return joined if len(joined) <= 320 and " " not in joined else "?"

    def base_chain(self, node: Node, scope: Scope) -> list[str]:
        if node.type in ("type_identifier", "nested_type_identifier", "generic_type"):
            name = node.child_by_field_name("name") if node.type == "generic_type" else node
            text = _flat(text_of(name, self.data))
            head, dot, rest = text.partition(".")
            return [tail(chain, "." + rest) if dot else chain for chain in self.resolver.name(head, scope)]
        return [chain for chain in self.resolver.chains(node, scope) if " " not in chain]

    def ref_chains(self, use: str, sym: int, node: Node, scope: Scope) -> Sequence[str]:
        """What a name used as a value (or type) stands for, as far as it is something of a module."""
        if use == "type" or node.type != "member_expression":
            name = text_of(node, self.data)
            found = scope.find(name)
            if found is None or found[0].kind == "module":
                return (name,) if name in self.known else ()
            held = self.resolver.decl(found[1])
        else:
            held = self.resolver.chains(node, scope)
        return [c for c in held if c[0] not in "?#" and c[-1] not in ")*}]" and c != f"@{sym}" and " " not in c and c not in ("self", "cls")]

    def known_refs(self, refs: dict[int, dict[str, None]]) -> list[list[Any]]:
        found = []
        for sym, held in refs.items():
            kept = [c for c in held if c[0] in "@%" or _HEAD.split(c, maxsplit=1)[0] in self.known]
            if kept:
                found.append([sym, " ".join(kept)])
        return found

    def binds(self) -> dict[str, str]:
        """Module-level names that are values, and the names under which things are exported."""
        found: dict[str, str] = {}
        tops = {row[schema.NAME]: row for row in self.symbols.rows if row[schema.PARENT] < 0 and row[schema.KIND] not in ("const", "field")}
        for name, decl in self.module.names.items():
            if decl.sources and name not in tops:
                held = self.resolver.decl(decl)
                if held != (f"{name}",):
                    found[name] = " ".join(c for c in held if " " not in c) or "?"
        for name, index in self.symbols.object_tops():
            found[name] = f"@{index}"
        for exported, chain in self.modules.bindings(self.module).items():
            found.setdefault(exported, chain)
        return found

    def meta(self, index: int, meta: dict[str, Any], bases: dict[str, None] | None) -> None:
        if bases:
            meta["b"] = " ".join(bases)
        if index in self.attrs:
            meta["a"] = {name: " ".join(c for c in self.resolver.decl(decl) if " " not in c) or "?" for name, decl in self.attrs[index].items()}
        if index in self.callbacks:
            meta["cb"] = {at: [" ".join(self.resolver.types(node, scope)) if node is not None else "?" for node, scope in parts]
                          for at, parts in self.callbacks[index].items()}  # fmt: skip
        held = self.returns.get(index)
        if held and self.symbols.rows[index][schema.KIND] not in CLASSES:
            found: dict[str, None] = {}
            written = [part for part in held if part[0] == "t"] or held
            for tag, node, scope in written:
                found.update(dict.fromkeys(self.resolver.types(node, scope) if tag == "t" else self.resolver.chains(node, scope)))
            chains = [chain for chain in known(found) if " " not in chain]
            if chains:
                meta["r"] = " ".join(chains)


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _flat(text: str) -> str:
    return " ".join(text.split())[: schema.SIGNATURE_LIMIT]
