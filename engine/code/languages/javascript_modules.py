"""Imports and exports of JavaScript and TypeScript files, ECMAScript and CommonJS. Called by ``javascript.py`` only.

What may not come in: resolution of module names, the disk. The linker reads three special names of a module: ``default`` (default
export), ``=`` (what ``require`` gives when ``module.exports`` was assigned) and ``*`` (star re-exports, in ``imports``).
"""

from __future__ import annotations

from typing import Any

from tree_sitter import Node

from mog.engine.code.languages.javascript_expr import FUNCTIONS, Resolver, Scope, string_of, text_of, unwrapped
from mog.engine.code.languages.javascript_symbols import Symbols

VALUE = "="
DEFAULT = "default"
Local = tuple[str, str, Any]


class Modules:
    """What one file imports and exports."""

    def __init__(self, data: bytes, resolver: Resolver, symbols: Symbols) -> None:
        self.data = data
        self.resolver = resolver
        self.symbols = symbols
        self.imports: list[list[Any]] = []
        self.exports: dict[str, str] = {}
        self.locals: list[Local] = []
        self.nodes: dict[str, Node] = {}
        self.chains: dict[str, str] = {}
        self.spans: dict[int, tuple[int, int, bool]] = {}
        self.common = False
        self.starred = False

    def add(self, scope: Scope, local: str, module: str, attr: str, flags: str = "") -> list[Local]:
        """Record an import; what it declares in a scope that is not the module's."""
        self.imports.append([scope.sym, local, module, attr, flags])
        if scope.kind == "module" or not local or local == "*":
            return []
        return [(local, "c", (f"%{len(self.imports) - 1}",))]

    # ── import ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def statement(self, node: Node, scope: Scope) -> list[Local]:
        """Record an import statement; returns the declarations it makes in an inner scope."""
        children = node.named_children
        source = node.child_by_field_name("source")
        only_types = "t" if any(child.type == "type" for child in node.children) else ""
        clause = next((child for child in children if child.type in ("import_clause", "import_require_clause")), None)
        if clause is not None and clause.type == "import_require_clause":
            module = string_of(clause.child_by_field_name("source"), self.data)
            local = text_of(clause.named_child(0), self.data)
            return self.add(scope, local, module, VALUE, only_types) if module else []
        module = string_of(source, self.data)
        if not module:
            return []
        if clause is None:
            return self.add(scope, "", module, "", "")
        found: list[Local] = []
        for child in clause.named_children:
            if child.type == "identifier":
                found += self.add(scope, text_of(child, self.data), module, DEFAULT, only_types)
            elif child.type == "namespace_import":
                found += self.add(scope, text_of(child.named_child(0), self.data), module, "", only_types)
            elif child.type == "named_imports":
                for imported, local, typed in self.specifiers(child):
                    found += self.add(scope, local, module, imported, only_types or typed)
        return found

    def specifiers(self, node: Node) -> list[tuple[str, str, str]]:
        """(name, local or exported name, "t" when only a type) of every specifier of an import or export clause."""
        found = []
        for child in node.named_children:
            name = child.child_by_field_name("name")
            if name is None:
                continue
            label = self.label(name)
            alias = child.child_by_field_name("alias")
            typed = "t" if any(part.type == "type" for part in child.children) else ""
            found.append((label, self.label(alias) if alias is not None else label, typed))
        return found

    def label(self, node: Node) -> str:
        return string_of(node, self.data) or text_of(node, self.data)

    def required(self, value: Node, name: Node, scope: Scope) -> bool:
        """``const x = require("m")`` and ``const {a, b: c} = require("m")`` as imports; what to declare is left in ``locals``."""
        self.locals = []
        module = self.require_of(value)
        if module is None or name.type not in ("identifier", "object_pattern"):
            return False
        self.resolver.imports[value.id] = len(self.imports)
        if name.type == "identifier":
            self.locals += self.add(scope, text_of(name, self.data), module, VALUE, "r")
            return True
        for child in name.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                label = text_of(child, self.data)
                self.locals += self.add(scope, label, module, label, "r")
            elif child.type == "pair_pattern":
                held = child.child_by_field_name("value")
                if held is not None and held.type == "identifier":
                    key = self.label(child.child_by_field_name("key") or held)
                    self.locals += self.add(scope, text_of(held, self.data), module, key, "r")
        return True

    def require_of(self, node: Node) -> str | None:
        """Module of ``require("m")`` or of ``await import("m")``."""
        if node.type == "await_expression" and node.named_child_count:
            node = node.named_child(0) or node
        if node.type != "call_expression":
            return None
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or arguments.named_child_count < 1:
            return None
        if function.type == "import" or (function.type == "identifier" and text_of(function, self.data) == "require"):
            return string_of(arguments.named_child(0), self.data)
        return None

    def call(self, node: Node, function: Node, arguments: Node | None, scope: Scope) -> bool:
        """Whether a call imports; records it unless the variable it initialises already did."""
        if function.type != "import" and not (
            function.type == "identifier" and text_of(function, self.data) == "require"
        ):
            return False
        if node.id in self.resolver.imports or (scope.find("require") is not None and function.type != "import"):
            return True
        module = self.require_of(node)
        if module:
            self.resolver.imports[node.id] = len(self.imports)
            self.add(scope, "", module, VALUE if function.type != "import" else "", "d")
        return True

    # ── export ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def export(self, node: Node, scope: Scope) -> Node | None:
        """Record an export statement; the anonymous function, class or object it exports as default, for naming."""
        module = string_of(node.child_by_field_name("source"), self.data)
        declaration, value = node.child_by_field_name("declaration"), node.child_by_field_name("value")
        default = any(child.type == "default" for child in node.children)
        if declaration is not None:
            self.spans[declaration.id] = (node.start_byte, node.end_byte, default)
            if declaration.type == "ambient_declaration" and declaration.named_child_count:
                inner = declaration.named_child(0)
                if inner is not None:
                    self.spans[inner.id] = (node.start_byte, node.end_byte, default)
            return None
        if value is not None:
            inner = unwrapped(value) or value
            if inner.type in FUNCTIONS or inner.type in ("class", "object"):
                self.nodes[DEFAULT] = inner
                return inner
            self.nodes[DEFAULT] = value
            return None
        if module:
            self.reexport(node, module, scope)
            return None
        clause = next((child for child in node.named_children if child.type == "export_clause"), None)
        if clause is not None:
            for name, exported, _ in self.specifiers(clause):
                self.exports[exported] = name
        elif any(child.type == "=" for child in node.children) and node.named_child_count:
            held = node.named_child(node.named_child_count - 1)
            if held is not None:
                self.nodes[VALUE] = self.nodes[DEFAULT] = held
        return None

    def reexport(self, node: Node, module: str, scope: Scope) -> None:
        only_types = "xt" if any(child.type == "type" for child in node.children) else "x"
        for child in node.named_children:
            if child.type == "export_clause":
                for name, exported, typed in self.specifiers(child):
                    self.add(scope, exported, module, name, only_types + typed)
                    self.exports[exported] = exported
                return
            if child.type == "namespace_export":
                name = self.label(child.named_child(0) or child)
                self.add(scope, name, module, "", only_types)
                self.exports[name] = name
                return
        self.starred = True
        self.imports.append([scope.sym, "*", module, "*", "s" + only_types])

    def exported_span(self, node: Node) -> tuple[int, int]:
        """Range of a declaration with the ``export`` and the decorators before it."""
        start, stop, _ = self.spans.get(node.id, (node.start_byte, node.end_byte, False))
        return start, stop

    def is_exported(self, full: int, start: int) -> bool:
        return full < start and self.data.startswith(b"export", full)

    def mark(self, node: Node, index: int) -> None:
        """Flag the symbol of an exported declaration."""
        held = self.spans.get(node.id)
        if held is None:
            return
        self.symbols.flag(index, "export", *(["default"] if held[2] else []))
        if held[2]:
            self.chains[DEFAULT] = f"@{index}"

    def default(self, name: str, index: int) -> None:
        self.symbols.flag(index, "export", "default")
        self.chains[DEFAULT] = f"@{index}"

    def assigned(self, target: str, name: str, right: Node) -> bool:
        """``module.exports = …`` and ``exports.name = …``."""
        if target == "module" and name == "exports":
            self.common = True
            self.nodes[VALUE] = self.nodes[DEFAULT] = right
            return True
        if target in ("exports", "module.exports"):
            self.common = True
            self.nodes[name] = right
            return True
        return False

    def export_object(self, value: Node, index: int) -> None:
        """Every key of ``module.exports = {…}`` is an export."""
        for child in value.named_children:
            key = child.child_by_field_name("key") or child.child_by_field_name("name")
            if child.type == "shorthand_property_identifier":
                self.exports[text_of(child, self.data)] = text_of(child, self.data)
            elif key is not None:
                self.chains[self.label(key)] = f"@{index}.{self.label(key)}"

    # ── result ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def bindings(self, scope: Scope) -> dict[str, str]:
        """Exported name → chain, for names that are not what the module calls the thing itself."""
        found = {exported: local for exported, local in self.exports.items() if exported != local}
        for name, node in self.nodes.items():
            held = [chain for chain in self.resolver.chains(node, scope) if " " not in chain and chain != name]
            if held and held != ["?"]:
                found[name] = " ".join(held)
        found.update(self.chains)
        self.exports.update({name: chain for name, chain in found.items() if name not in self.exports})
        return found

    def names(self) -> list[str] | None:
        """Names a star re-export of this module passes on; None when that cannot be said here."""
        if self.common or self.starred or VALUE in self.nodes:
            return None
        listed = {name for name in self.exports if name not in (DEFAULT, VALUE)}
        listed.update(
            row[0] for row in self.symbols.rows if row[3] < 0 and "export" in row[13].get("x", ()) and row[0] != DEFAULT
        )
        return sorted(listed) if listed or self.nodes or self.chains else []
