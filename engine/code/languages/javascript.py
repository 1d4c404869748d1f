"""JavaScript, TypeScript and TSX: from a tree to facts, by one query and two passes over its matches. Called by ``extract.py``.

What may not come in: recursion over the tree, other files, module resolution. The first pass builds scopes, symbols and what
every name is bound to; the second turns call sites and values into chains (functions are hoisted, so one pass would not do).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tree_sitter import Node, Query, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars
from mog.engine.code.facts import Facts
from mog.engine.code.languages.javascript_chains import Finish
from mog.engine.code.languages.javascript_definitions import Definitions
from mog.engine.code.languages.javascript_expr import FUNCTIONS, Scope, text_of, unwrapped
from mog.engine.code.languages.javascript_state import flat, line_of
from mog.engine.code.languages.javascript_symbols import title_of

VERSION = 2

_EACH = frozenset("forEach map filter some every find findIndex findLast flatMap".split())
_THEN = frozenset(("then",))
_WRAPPERS = frozenset("memo forwardRef observer lazy".split())
_TESTS = frozenset("describe it test suite context specify fdescribe fit xdescribe xit".split())
_GROUPS = frozenset("describe suite context fdescribe xdescribe".split())
_QUERIES = {"javascript": ("javascript", "jsx"), "typescript": ("typescript",), "tsx": ("typescript", "jsx")}
# events at one node come in this order
_RANKS = {
    name: rank
    for rank, name in enumerate(
        "import export vars var function class field pair block forin assign call jsx return alias_import alias enum namespace"
        " ref tref".split()
    )
}


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one file (schema in ``facts.py``). Never raises for odd input; broken parts are left out."""
    query = _query(lang)
    assert query is not None
    walk = _Walk(data, path)
    walk.run(_events(grammars.captures(query, tree.root_node)))
    return Finish(walk).facts(lang)


@lru_cache(maxsize=8)
def _query(lang: str) -> Query | None:
    """The query files of a language in one, so that the tree is walked once."""
    language = grammars.language(lang)
    if language is None:
        return None
    here = Path(__file__).parent
    return Query(language, "".join((here / f"{name}.scm").read_text(encoding="utf-8") for name in _QUERIES[lang]))


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


class _Walk(Definitions):
    """The first pass: one handler an event."""

    def run(self, events: list[tuple[int, int, int, int, str, Node]]) -> None:
        handlers = {name: getattr(self, f"on_{name}") for name in _RANKS}
        frames = self.frames
        for start, _, _, _, name, node in events:
            while start >= frames[-1][0]:
                self.scope = frames.pop()[1]
            handlers[name](node)

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
            self.named[held.id] = ("default", "default", self.scope.sym, node.start_byte, node.end_byte, line_of(held))
            inner = unwrapped(held)
            if inner is not None and inner.type == "object":
                self.on_default_object(inner, node)

    def on_default_object(self, value: Node, node: Node) -> None:
        index = self.symbols.add(
            "default", "const", -1, value, node.start_byte, node.start_byte, node.end_byte, "export default"
        )
        self.object(value, index)

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
            self.named[value.id] = ("function", name, scope.sym, full, stop, line_of(node))
            return
        if scope.kind not in ("module", "namespace"):
            return
        note = flat(text_of(typed, self.data)) if typed is not None else ""
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
                    self.named[right.id] = (
                        "method",
                        name,
                        self.scope.cls,
                        node.start_byte,
                        node.end_byte,
                        line_of(node),
                    )
                else:
                    self.attr(self.scope.cls, name).sources.append(("e", right, self.scope, ""))
            return
        target = text_of(thing, self.data)
        if self.scope.home().kind == "module" and self.modules.assigned(target, name, right):
            if right.type in FUNCTIONS or right.type == "class":
                label = "default" if name == "exports" else name
                self.named[right.id] = ("function", label, -1, node.start_byte, node.end_byte, line_of(node))
            elif right.type == "object" and name == "exports":
                self.exported_object(node, right)
            return
        owner = self.symbols.top.get(target.removesuffix(".prototype"), -1)
        if owner >= 0 and (right.type in FUNCTIONS) and self.scope.home().kind == "module":
            # a function with methods on its prototype is a class, a constant with functions an object
            if target.endswith(".prototype") or self.symbols.rows[owner][schema.KIND] == "const":
                self.symbols.flag(owner, "object")
            self.named[right.id] = ("method", name, owner, node.start_byte, node.end_byte, line_of(node))

    def exported_object(self, node: Node, value: Node) -> None:
        index = self.symbols.add(
            "exports", "const", -1, node, node.start_byte, node.start_byte, node.end_byte, "module.exports"
        )
        self.object(value, index)
        self.resolver.symbols[value.id] = index
        self.modules.export_object(value, index)

    def on_call(self, node: Node) -> None:
        function = node.child_by_field_name("constructor" if node.type == "new_expression" else "function")
        arguments = node.child_by_field_name("arguments")
        if function is None or self.modules.call(node, function, arguments, self.scope):
            return
        if self.test_file and self.test_block(node, function, arguments):
            return
        if function.type == "super":
            self.uses.append(("super", self.scope.sym, function, self.scope))
        elif (inner := unwrapped(function)) is not None and inner.type not in FUNCTIONS:
            self.uses.append(("call", self.scope.sym, function, self.scope))
        if arguments is not None and function.type in ("member_expression", "identifier"):
            self.callback(function, arguments)

    def callback(self, function: Node, arguments: Node) -> None:
        """What the parameters of a function hold that is passed: items in ``xs.forEach(x => …)``, the value in
        ``promise.then(x => …)``, else what the called function declares (``f.$argument$parameter``)."""
        method = (
            text_of(function.child_by_field_name("property"), self.data) if function.type == "member_expression" else ""
        )
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
        self.named[body.id] = ("test", above + label, -1, node.start_byte, node.end_byte, line_of(node))
        if word in _GROUPS:
            self.symbols.groups.add(above + label)
        return True

    def on_jsx(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None and (
            name.type == "member_expression" or self.data[name.start_byte : name.start_byte + 1].isupper()
        ):
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
