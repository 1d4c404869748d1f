"""What a Python file binds where: parameters, assignments, loops, imports. Base of the walk in ``python_walk.py``.

What may not come in: definitions, calls, recursion, other files.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.languages.python_expr import (
    CLS,
    GLOBAL,
    NOTHING,
    SELF,
    Scope,
    alternatives,
    annotation,
    name_of,
)
from mog.engine.code.languages.python_paths import is_test_path

Captures = dict[str, list[Node]]

BLANKS = re.compile(rb"\s+")
COMMENT = re.compile(rb"#[^\n]*|\\\r?\n")
_NAMES_ONLY = re.compile(rb"\([\w\s,*=.\-]*\)")
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(rb"""["']([A-Za-z_]\w*)["']""")
_PURE_LIST = re.compile(rb"""[\[(](\s*(["'])\w+\2\s*,?|\s*#[^\n]*\n)*\s*[\])]""")


class Binds:
    """State of one pass over a file, and everything that gives names a meaning."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.test_file = is_test_path(path)
        self.rows: list[list[Any]] = []
        self.imports: list[list[Any]] = []
        self.binds: dict[str, dict[str, None]] = {}
        self.all: list[str] | None = None
        self.all_open = False
        self.marked: list[tuple[int, str]] = []
        self.attrs: dict[int, dict[str, dict[str, None]]] = {}
        self.returns: dict[int, dict[str, None]] = {}
        self.yields: dict[int, dict[str, None]] = {}
        self.module = Scope("module", -1, None)
        self.scope = self.module
        self.scopes = [self.module]
        self.frames: list[tuple[int, str, Any]] = [(len(data) + 2, "module", None)]
        self.ended = [False]
        self.typing = 0
        self.pending: dict[int, int] = {}
        self.decorated: dict[int, tuple[int, list[str]]] = {}
        self.narrowed: dict[int, list[tuple[str, tuple[str, ...]]]] = {}
        self.names: dict[tuple[int, str], int] = {}

    def parameters(self, node: Node, index: int, scope: Scope) -> None:
        """Bind the parameters; the first one of a method is ``self`` or ``cls`` however it is written."""
        names = _plain_names(self.data[node.start_byte : node.end_byte])
        if names is None:
            for child in node.named_children:
                self.parameter(child, scope.env)
        else:
            scope.env = dict.fromkeys(names, NOTHING)
        env = scope.env
        row = self.rows[index]
        if row[schema.PARENT] >= 0 and self.rows[row[schema.PARENT]][schema.KIND] == "class":
            flags = row[schema.META].get("x", ())
            first = next(iter(env), "")
            if first and "static" not in flags:
                of_class = "class" in flags or row[schema.NAME] in ("__new__", "__init_subclass__", "__class_getitem__")
                env[first] = CLS if of_class else SELF

    def parameter(self, child: Node, env: dict[str, tuple[str, ...]]) -> None:
        data, held = self.data, NOTHING
        name: Node | None = child
        star = ""
        if child.type == "typed_parameter":
            name = child.named_child(0)
        elif child.type in ("default_parameter", "typed_default_parameter"):
            name = child.child_by_field_name("name")
        typed = child.child_by_field_name("type") if child.type.startswith("typed") else None
        if name is not None and name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            star = "*" if name.type == "list_splat_pattern" else "**"
            name = name.named_child(0)
        if name is None or name.type != "identifier":
            return
        if typed is not None:
            held = annotation(data[typed.start_byte : typed.end_byte], self.scope)
            if star:
                held = tuple(chain + star for chain in held if chain[0] not in "?#")
        env[data[name.start_byte : name.end_byte].decode("utf-8", "replace")] = NOTHING if held == ("?",) else held

    # ── bindings ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def bind(self, name: str, chains: tuple[str, ...]) -> None:
        """A name holds ``chains`` from here on; at module level it is recorded instead."""
        scope = self.scope
        while scope.kind == "inner":
            scope.env.pop(name, None)
            assert scope.outer is not None
            scope = scope.outer
        if scope.kind == "module":
            if not (len(chains) == 1 and chains[0][0] == "@"):
                self.binds.setdefault(name, {}).update(dict.fromkeys(chains or ("?",)))
            return
        if scope.env.get(name) == GLOBAL:
            self.binds.setdefault(name, {}).update(dict.fromkeys(chains or ("?",)))
            return
        scope.env[name] = NOTHING if chains == ("?",) else chains
        if scope.kind == "class":
            self.attr(scope.sym, name, chains)

    def attr(self, owner: int, name: str, chains: tuple[str, ...]) -> None:
        self.attrs.setdefault(owner, {}).setdefault(name, {}).update(dict.fromkeys(chains or ("?",)))

    def target(self, node: Node | None, chains: tuple[str, ...]) -> None:
        """Bind whatever is on the left of an assignment; parts of a pattern are items of the value."""
        work = [(node, chains)]
        while work:
            at, held = work.pop()
            if at is None:
                continue
            kind = at.type
            if kind == "identifier":
                self.bind(self.data[at.start_byte : at.end_byte].decode("utf-8", "replace"), held)
            elif kind == "attribute":
                self.self_attribute(at, held)
            elif kind in ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "list_splat_pattern",
                          "as_pattern_target", "parenthesized_expression"):  # fmt: skip
                through = kind in ("as_pattern_target", "parenthesized_expression")
                inner = held if through else NOTHING
                work += [(child, inner) for child in at.named_children]

    def self_attribute(self, at: Node, chains: tuple[str, ...]) -> None:
        thing = at.child_by_field_name("object")
        name = at.child_by_field_name("attribute")
        if thing is None or name is None or thing.type != "identifier":
            return
        held = self.scope.lookup(self.data[thing.start_byte : thing.end_byte].decode("utf-8", "replace"))
        if held != SELF and held != CLS:
            return
        owner = self.class_of(self.scope)
        if owner >= 0:
            self.attr(owner, self.data[name.start_byte : name.end_byte].decode("utf-8", "replace"), chains)

    def class_of(self, scope: Scope | None) -> int:
        while scope is not None and scope.kind != "class":
            scope = scope.outer
        return scope.sym if scope is not None else -1

    def on_set(self, captured: Captures) -> None:
        (node,), (left,) = captured["set"], captured["left"]
        data = self.data
        right = captured["right"][0] if "right" in captured else None
        typed = None
        if right is None or data.find(b":", left.end_byte, right.start_byte) >= 0:
            typed = node.child_by_field_name("type")
        chains: tuple[str, ...] = ("?",)
        if typed is not None:
            chains = annotation(data[typed.start_byte : typed.end_byte], self.scope)
        if right is not None and (chains == ("?",) or chains[0][0] == "#"):
            chains = alternatives(right, data, self.scope)
        written = name_of(left, data)
        if written and "." not in written:
            name = written
            if self.scope.kind != "function":
                self.symbol(node, left, name, right, typed)
            self.bind(name, chains)
        elif written[:5] == "self." and written.count(".") == 1 and self.scope.lookup("self") is SELF:
            self.attr(self.class_of(self.scope), written[5:], chains)
        else:
            self.target(left, chains)

    def symbol(self, node: Node, left: Node, name: str, right: Node | None, typed: Node | None) -> None:
        """A name assigned at module level is a const, in a class body a field; the first time only."""
        scope = self.scope
        if name == "__all__" and scope.kind == "module":
            self.exported(right)
        if scope.kind == "inner" or (scope.sym, name) in self.names or scope.env.get(name) is not None:
            return
        self.names[(scope.sym, name)] = 1
        signature = name
        if typed is not None:
            note = BLANKS.sub(b" ", self.data[typed.start_byte : typed.end_byte]).decode("utf-8", "replace")
            signature = f"{name}: {note}"[: schema.SIGNATURE_LIMIT]
        owner, start = scope.sym, node.start_byte
        kind, qual = ("field", f"{self.rows[owner][schema.QUAL]}.{name}") if owner >= 0 else ("const", name)
        self.rows.append([name, qual, kind, owner, left.start_point[0] + 1, node.end_point[0] + 1, start, node.end_byte,
                          start, "", "", signature, "", {}])  # fmt: skip

    def exported(self, right: Node | None) -> None:
        raw = self.data[right.start_byte : right.end_byte] if right is not None else b""
        if not _PURE_LIST.fullmatch(raw):
            self.all_open = True
        self.all = (self.all or []) + [name.decode("utf-8", "replace") for name in _QUOTED.findall(raw)]

    def on_lost(self, node: Node) -> None:
        name = self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if name == "__all__" and self.scope is self.module:
            self.all_open = True
        elif self.scope.owner.kind == "function" and self.scope.lookup(name) in (None, NOTHING):
            self.bind(name, NOTHING)

    def on_walrus(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        if value is not None:
            self.target(node.child_by_field_name("name"), alternatives(value, self.data, self.scope))

    def on_for(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        self.target(node.child_by_field_name("left"), self.items(right, self.scope))

    def items(self, node: Node | None, scope: Scope) -> tuple[str, ...]:
        if node is None:
            return NOTHING
        return tuple(item(chain) for chain in alternatives(node, self.data, scope))

    def on_comp(self, node: Node) -> None:
        inner = Scope("inner", self.scope.sym, self.scope)
        for clause in node.named_children:
            if clause.type == "for_in_clause":
                held = self.items(clause.child_by_field_name("right"), inner)
                left = clause.child_by_field_name("left")
                if left is not None and left.type == "identifier":
                    inner.env[self.data[left.start_byte : left.end_byte].decode("utf-8", "replace")] = (
                        NOTHING if held == ("?",) else held
                    )
                elif left is not None:
                    for name in _WORD.findall(self.data[left.start_byte : left.end_byte].decode("utf-8", "replace")):
                        inner.env[name] = NOTHING
        self.frames.append((node.end_byte, "inner", self.scope))
        self.scope = inner

    def on_lambda(self, node: Node) -> None:
        inner = Scope("inner", self.scope.sym, self.scope)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            for child in parameters.named_children:
                self.parameter(child, inner.env)
        self.frames.append((node.end_byte, "inner", self.scope))
        self.scope = inner

    def on_with(self, node: Node) -> None:
        value = node.named_child(0)
        if value is not None:
            held = tuple(f"{c}.__enter__()" if c[0] not in "?#" else "?" for c in
                         alternatives(value, self.data, self.scope))  # fmt: skip
            self.target(node.child_by_field_name("alias"), held if held != ("?",) else NOTHING)

    def on_except(self, node: Node) -> None:
        value = node.named_child(0)
        held: tuple[str, ...] = NOTHING
        if value is not None and value.type in ("identifier", "attribute"):
            held = tuple(f"{c}()" if c[0] != "?" else "?" for c in alternatives(value, self.data, self.scope))
        self.target(node.child_by_field_name("alias"), held)

    def on_global(self, node: Node) -> None:
        is_global = node.type == "global_statement"
        scope = self.scope.owner
        for child in node.named_children:
            name = self.data[child.start_byte : child.end_byte].decode("utf-8", "replace")
            if is_global and scope.kind == "function":
                scope.env[name] = GLOBAL

    # ── imports ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_import(self, node: Node) -> None:
        text = _flat(self.data[node.start_byte : node.end_byte])[len("import ") :]
        for part in text.split(","):
            module, _, local = (word.strip() for word in part.partition(" as "))
            if not module:
                continue
            if local:
                self.imported(local, module, "", "")
            else:
                top = module.partition(".")[0]
                self.imported(top, top, "", module if module != top else "")

    def on_from(self, node: Node) -> None:
        text = _flat(self.data[node.start_byte : node.end_byte])
        head, found, names = text[len("from") :].partition(" import")
        if not found:
            return
        module = head.replace(" ", "")
        for part in names.strip().strip("()").split(","):
            attr, _, local = (word.strip() for word in part.strip().partition(" as "))
            if attr == "*":
                self.imports.append([self.scope.owner.sym, "*", module, "*", "s"])
            elif attr:
                self.imported(local or attr, module, attr, "")

    def imported(self, local: str, module: str, attr: str, full: str) -> None:
        """Record one import; ``full`` is the dotted module of ``import a.b.c``, whose local name is only ``a``."""
        scope = self.scope.owner
        index = len(self.imports)
        self.imports.append([scope.sym, local, full or module, attr, ("f" if full else "") + ("t" if self.typing else "")])
        if scope.kind != "module":
            scope.env[local] = (f"%{index}",)
            if scope.kind == "class":
                self.attr(scope.sym, local, (f"%{index}",))


@lru_cache(maxsize=4096)
def _plain_names(raw: bytes) -> tuple[str, ...] | None:
    """Names of parameters without annotations and without defaults that are more than a name or number."""
    if not _NAMES_ONLY.fullmatch(raw):
        return None
    found = (_WORD.search(part) for part in raw[1:-1].decode("utf-8", "replace").split(","))
    return tuple(match.group() for match in found if match is not None)


def item(chain: str) -> str:
    """One item of an iteration over what a chain stands for."""
    if chain[0] in "?#":
        return "?"
    if chain.endswith("*") and not chain.endswith("**"):
        return chain[:-1]
    return chain + "{}"


def _flat(raw: bytes) -> str:
    if b"#" in raw or b"\\" in raw:
        raw = COMMENT.sub(b"", raw)
    return " ".join(raw.decode("utf-8", "replace").split())
