"""Functions, classes, types and members of a JavaScript or TypeScript file: symbols and scopes. Called by ``javascript.py`` only.

What may not come in: calls, imports, chains, other files.
"""

from __future__ import annotations

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.languages.javascript_expr import FUNCTIONS, NOTHING, Decl, Scope, string_of, text_of, unwrapped
from mog.engine.code.languages.javascript_state import Source, State, flat, line_of


class Definitions(State):
    """Events at definitions: each opens a scope, most make a symbol."""

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
        if (
            kind in ("function_expression", "generator_function")
            and (own := node.child_by_field_name("name")) is not None
        ):
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
                scope.names[text_of(child.child_by_field_name("name"), self.data)].sources[:] = [
                    ("b", inner, scope, "")
                ]

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
            inner = next(
                (part for part in inner.named_children if part.type in ("function_type", "parenthesized_type")), None
            )
        parameters = (
            inner.child_by_field_name("parameters") if inner is not None and inner.type == "function_type" else None
        )
        if parameters is None:
            return
        parts = [
            part for part in parameters.named_children if part.type in ("required_parameter", "optional_parameter")
        ]
        parts = [part for part in parts if (held := part.child_by_field_name("pattern")) is None or held.type != "this"]
        self.callbacks.setdefault(sym, {}).setdefault(
            str(number), [(part.child_by_field_name("type"), scope) for part in parts]
        )

    def parameter(self, child: Node, scope: Scope, hint: list[Source] | None, sym: int) -> None:
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
        marks = [
            part.type
            for part in child.children
            if part.type in ("accessibility_modifier", "readonly", "override_modifier")
        ]
        if not marks or scope.cls < 0:
            return
        source = (
            ("t", typed, scope, "") if typed is not None else ("e", value, scope, "") if value is not None else None
        )
        if source is not None:
            self.attr(scope.cls, name).sources.append(source)
        note = flat(text_of(typed, self.data)) if typed is not None else ""
        self.symbols.add(
            name, "field", scope.cls, child, child.start_byte, child.start_byte, child.end_byte, name + note
        )

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
            if name == "default" and own is not None:
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
        index = self.symbols.classed(
            node, name if held is None or held[1] == "default" else held[1], self.scope.sym, full, stop
        )
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
            self.named[value.id] = ("method", name, owner, full, node.end_byte, line_of(key or node))
        else:
            note = flat(text_of(typed, self.data)) if typed is not None else ""
            index = self.symbols.add(
                name, "field", owner, key or node, node.start_byte, full, node.end_byte, name + note, node
            )
            if static:
                self.symbols.flag(index, "static")
            self.symbols.decorators(node, index, self.uses, self.scope)
        source = (
            ("t", typed, self.scope, "")
            if typed is not None
            else ("e", value, self.scope, "")
            if value is not None
            else None
        )
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
            self.named[value.id] = ("method", name, owner, node.start_byte, node.end_byte, line_of(node))
        elif value.type == "object" and any(
            child.type in ("pair", "method_definition") for child in value.named_children
        ):
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
