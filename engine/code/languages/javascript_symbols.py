"""Symbol rows of JavaScript and TypeScript files: names, signatures, documentation, flags. Called by ``javascript.py`` only.

What may not come in: scopes' contents, chains, other files.
"""

from __future__ import annotations

import re
from typing import Any

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.languages.javascript_expr import Resolver, Scope, string_of, text_of

CLASSES = ("class",)
TITLE_LIMIT = 120

_COMMENTS = re.compile(rb"/\*.*?\*/|//[^\n]*", re.S)
_HOLE = re.compile(r"\$\{[^}]*\}")
_STAR = re.compile(r"^\s*\*+ ?", re.M)
_ROLE_OF = {"interface_declaration": "interface", "abstract_class_declaration": ""}


def title_of(node: Node, data: bytes) -> str:
    """Title of a test block as it can stand in a name: one line, no ``::``, holes as ``…``; "" when it is computed."""
    if node.type == "template_string":
        text = _HOLE.sub("…", text_of(node, data)[1:-1])
    else:
        text = string_of(node, data) or (text_of(node, data)[1:-1] if node.type == "string" else "")
    text = "".join(char if char.isprintable() else " " for char in text).replace("::", ":")
    return " ".join(text.split())[:TITLE_LIMIT]


class Symbols:
    """The rows of one file, in source order, parents before children."""

    def __init__(self, data: bytes, resolver: Resolver) -> None:
        self.data = data
        self.resolver = resolver
        self.rows: list[list[Any]] = []
        self.top: dict[str, int] = {}
        self.groups: set[str] = set()
        self.overloads: dict[tuple[int, str, bool], int] = {}
        self.last: dict[int, int] = {}

    def add(self, name: str, kind: str, parent: int, at: Node, start: int, full: int, stop: int, signature: str,
            whole: Node | None = None) -> int:  # fmt: skip
        """Append a row; ``at`` gives the line, ``whole`` (or ``at``) the last line."""
        index = len(self.rows)
        qual = f"{self.rows[parent][schema.QUAL]}.{name}" if parent >= 0 else name
        end = (whole or at).end_point[0] + 1
        doc = self.doc(full)
        self.rows.append([name, qual, kind, parent, at.start_point[0] + 1, end, start, stop, full, "", "",
                          signature[: schema.SIGNATURE_LIMIT], doc, {}])  # fmt: skip
        self.last[parent] = index
        if parent < 0:
            self.top.setdefault(name, index)
        return index

    def flag(self, index: int, *flags: str) -> None:
        held = self.rows[index][schema.META].setdefault("x", [])
        held += [flag for flag in flags if flag not in held]

    def object_tops(self) -> list[tuple[str, int]]:
        """Constants of the module that are objects with members."""
        return [
            (row[schema.NAME], at)
            for at, row in enumerate(self.rows)
            if row[schema.PARENT] < 0 and row[schema.KIND] == "const" and "object" in row[schema.META].get("x", ())
        ]

    # ── kinds ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def function(self, node: Node, name: str, kind: str, parent: int, full: int, stop: int, line: int = 0) -> int:
        """A function expression or arrow that got its name from where it stands."""
        head = self.head(full if kind != "test" else node.start_byte, node)
        signature = name if kind == "test" else head
        index = self.add(name, kind, parent, node, full, full, stop, signature)
        row = self.rows[index]
        if line:
            row[schema.LINE] = line
        self.resolver.symbols[node.id] = index
        if self.data.startswith(b"async", node.start_byte):
            self.flag(index, "async")
        if kind == "test" and name in self.groups:
            self.flag(index, "group")
        return index

    def declared(self, node: Node, scope: Scope, full: int, stop: int) -> int:
        """A function declaration; signatures of overloads and the implementation after them are one symbol."""
        name = text_of(node.child_by_field_name("name"), self.data)
        if not name:
            return -1
        index = self.overload(node, scope.sym, name, False, stop)
        if index < 0:
            index = self.add(name, "function", scope.sym, node.child_by_field_name("name") or node, node.start_byte, full, stop,
                             self.head(full, node), node)  # fmt: skip
            if node.type == "function_signature":
                self.overloads[(scope.sym, name, False)] = index
                self.flag(index, "overload")
        self.resolver.symbols[node.id] = index
        if self.data.startswith(b"async", node.start_byte):
            self.flag(index, "async")
        return index

    def overload(self, node: Node, parent: int, name: str, static: bool, stop: int) -> int:
        """The symbol that earlier signatures of the same name opened, extended to ``node``; -1 when there is none."""
        index = self.overloads.get((parent, name, static), -1)
        if index < 0 or self.last.get(parent) != index:
            return -1
        row = self.rows[index]
        row[schema.STOP], row[schema.END] = stop, node.end_point[0] + 1
        if node.type in ("function_declaration", "generator_function_declaration", "method_definition"):
            own = node.child_by_field_name("name") or node
            row[schema.LINE], row[schema.START] = own.start_point[0] + 1, node.start_byte
            del self.overloads[(parent, name, static)]
        return index

    def method(self, node: Node, owner: int) -> int:
        key = node.child_by_field_name("name")
        name = string_of(key, self.data) or " ".join(text_of(key, self.data).split())
        if not name or key is None:
            return -1
        marks = {
            child.type
            for child in node.children
            if not child.is_named or child.type in ("accessibility_modifier", "override_modifier")
        }
        static = "static" in marks or "static get" in marks
        index = -1 if marks & {"get", "set", "static get"} else self.overload(node, owner, name, static, node.end_byte)
        if index < 0:
            full = self.decorated(node)
            index = self.add(
                name, "method", owner, key, node.start_byte, full, node.end_byte, self.head(node.start_byte, node), node
            )
            if node.type != "method_definition":
                self.overloads[(owner, name, static)] = index
        self.resolver.symbols[node.id] = index
        flags = ["static"] * static + ["async"] * ("async" in marks) + ["generator"] * ("*" in marks)
        if node.type != "method_definition":
            flags.append("abstract" if node.type == "abstract_method_signature" else "signature")
        if "get" in marks or "static get" in marks:
            flags.append("property")
        if "set" in marks:
            flags.append("setter")
            self.rows[index][schema.QUAL] += "@setter"
        if flags:
            self.flag(index, *flags)
        return index

    def classed(self, node: Node, name: str, parent: int, full: int, stop: int, role: str = "") -> int:
        """A class or what counts as one: interface, type alias, enum, namespace (``meta["role"]``)."""
        at = node.child_by_field_name("name") or node
        index = self.add(name, "class", parent, at, node.start_byte, full, stop, self.head(full, node), node)
        role = role or _ROLE_OF.get(node.type, "")
        if role:
            self.rows[index][schema.META]["role"] = role
        if node.type == "abstract_class_declaration":
            self.flag(index, "abstract")
        self.resolver.symbols[node.id] = index
        return index

    # ── text ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def head(self, start: int, node: Node) -> str:
        """What stands before the body, in one line."""
        body = node.child_by_field_name("body") or node.child_by_field_name("value")
        arrow = node.type == "arrow_function"
        end = (
            body.start_byte
            if body is not None and body.start_byte > start
            else min(node.end_byte, start + 4 * schema.SIGNATURE_LIMIT)
        )
        if arrow and body is not None and body.type != "statement_block":
            end = body.start_byte
        raw = self.data[min(start, end) : end]
        raw = _COMMENTS.sub(b" ", raw) if b"//" in raw or b"/*" in raw else raw
        return " ".join(raw.decode("utf-8", "replace").split()).rstrip(" {=;")

    def doc(self, full: int) -> str:
        """First paragraph of the ``/** … */`` comment that ends right before ``full``."""
        before = self.data[max(0, full - 4000) : full].rstrip()
        if not before.endswith(b"*/"):
            return ""
        opened = before.rfind(b"/**")
        if opened < 0 or before.find(b"*/", opened) != len(before) - 2:
            return ""
        text = _STAR.sub("", before[opened + 3 : -2].decode("utf-8", "replace")).strip()
        first = re.split(r"\n\s*\n|(?:^|\n)\s*@", text, maxsplit=1)[0]
        return " ".join(first.split())[: schema.DOC_LIMIT]

    # ── decorators ────────────────────────────────────────────────────────────────────────────────────────────────────

    def decorated(self, node: Node) -> int:
        """Start of a class member with the decorators before it (in TypeScript they are its siblings)."""
        start = node.start_byte
        if b"@" not in self.data[max(0, start - 2000) : start]:
            return start
        at = node.prev_named_sibling
        while at is not None and at.type in ("decorator", "comment"):
            if at.type == "decorator":
                start = at.start_byte
            at = at.prev_named_sibling
        return start

    def decorators(self, node: Node, index: int, uses: list[tuple[str, int, Node, Scope]], scope: Scope) -> None:
        """Record what decorates a node as used by its symbol."""
        found = [child for child in node.children if child.type == "decorator"]
        if self.rows[index][schema.FULL] < node.start_byte:
            at = node.prev_named_sibling
            while at is not None and at.type in ("decorator", "comment"):
                if at.type == "decorator":
                    found.insert(0, at)
                at = at.prev_named_sibling
        for mark in found:
            inner = mark.named_child(0) if mark.named_child_count else None
            if inner is not None and inner.type == "call_expression":
                inner = inner.child_by_field_name("function")
            if inner is not None:
                uses.append(("deco", index, inner, scope))
