"""C#: what is its own in the walk over a file. Called by ``engine/code/extract.py``; the walk itself is ``declared.py``.

What may not come in: other files, rules of namespaces (``link_csharp.py``). Properties are methods that reading runs; a generic type
is named with the number of its parameters behind it (``Box`1``), since ``Box`` is another type.
"""

from __future__ import annotations

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.csharp_tables import GLOBAL, INTERFACE_NAME, SUMMARY, TAG, TESTS, TYPES
from mog.engine.code.languages.csharp_uses import Uses
from mog.engine.code.languages.declared_events import facts_by
from mog.engine.code.languages.declared_tables import Captures, child

VERSION = 2


class CSharpWalk(Uses):
    """One pass over a C# file."""

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.blocks = False  # whether namespaces are blocks in this file
        self.loose: list[int] = []  # types outside of such blocks
        self.inner: dict[int, dict[str, int]] = {}  # function → its local functions

    # ── namespaces and types ──────────────────────────────────────────────────────────────────────────────────────────

    def on_space(self, node: Node, captured: Captures) -> None:
        super().on_space(node, captured)
        self.blocks = self.blocks or "body" in captured
        if not self.space and self.spaces:
            self.space = self.spaces[-1]

    def on_import(self, node: Node, captured: Captures) -> None:
        """``using``: of a namespace (a star), of the static members of a type (flag ``s``), or an alias; flag ``g`` for global."""
        words = {one.type for one in node.children if not one.is_named}
        alias = node.child_by_field_name("name")
        held = [one for one in node.named_children if one != alias]
        name = self.dotted(held[-1]).removeprefix("global.") if held else ""
        if not name:
            return
        flags = "s" * ("static" in words) + "g" * ("global" in words)
        if alias is None:
            self.imported("*", name, "*", flags)
        elif "(" not in name:
            module, _, last = name.rpartition(".")
            self.imported(self.text(alias), module, last, flags)

    def type_parameters(self, node: Node) -> None:
        """A type parameter stands for its first constraint that is a type, or for nothing that is known."""
        held = next((one for one in node.named_children if one.type == "type_parameter_list"), None)
        if held is None:
            return
        bounds = {}
        for clause in node.named_children:
            if clause.type == "type_parameter_constraints_clause" and clause.named_child_count:
                kinds = [one.child_by_field_name("type") for one in clause.named_children]
                chains = [self.typed(kind) for kind in kinds if kind is not None]
                bounds[self.text(clause.named_child(0))] = next((one for one in chains if one[0] not in "?#"), "?")
        for one in held.named_children:
            name = self.text(one.child_by_field_name("name") or child(one, "-1"))
            self.scope.names[name] = (bounds.get(name, "?").removesuffix("()"),)

    def on_tref(self, node: Node, captured: Captures) -> None:
        if node.type in TYPES:
            self.refer(self.typed(node))

    def on_attribute(self, node: Node, captured: Captures) -> None:
        name = self.dotted(node)
        self.refer(f"{name}()")
        if not name.endswith("Attribute"):
            self.refer(f"{name}Attribute()")

    # ── definitions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def on_class(self, node: Node, captured: Captures) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        body = node.child_by_field_name("body")
        index = self.row(node, "class", {"name": [name], **({"body": [body]} if body is not None else {})})
        self.push(node, "class", index)
        self.type_parameters(node)
        modifiers = self.modifiers(node)
        for flag, holds in (("partial", "partial" in modifiers), ("interface", node.type == "interface_declaration"),
                            ("enum", node.type == "enum_declaration")):  # fmt: skip
            if holds:
                self.flag(index, flag)
        held = next((one for one in node.named_children if one.type == "type_parameter_list"), None)
        if held is not None:
            self.flag(index, "generic")
            self.counted(index, held.named_child_count, held.named_child_count)
        if node.type != "enum_declaration":
            self.inherit(node, index)
        self.primary(node, index)

    def inherit(self, node: Node, index: int) -> None:
        held = next((one for one in node.named_children if one.type == "base_list"), None)
        for at, kind in enumerate(held.named_children if held is not None else ()):
            if kind.type == "primary_constructor_base_type":
                kind = kind.child_by_field_name("type") or kind
            if kind.type not in TYPES:
                continue
            chain = self.base_chain(kind)
            self.base(index, chain)
            if (
                at == 0
                and chain
                and not INTERFACE_NAME.match(chain.rpartition(".")[2])
                and node.type != "interface_declaration"
            ):
                self.above[index] = self.kind(f"{chain}()")

    def base_chain(self, kind: Node) -> str:
        """The chain of a class that is inherited from; a holder of the library is itself here, not what it holds."""
        if kind.type == "generic_name":
            name, held = child(kind, ""), child(kind, "-1")
            count = held.named_child_count if held is not None else 0
            chain = self.instance(self.text(name), "")
            return f"{chain[:-2]}`{count}" if chain[0] not in "?#@%" else ""
        chain = self.typed(kind)
        return chain.removesuffix("()") if chain[0] not in "?#" else ""

    def primary(self, node: Node, index: int) -> None:
        """The parameters behind the name of a type: properties of a record, names in the body of a class."""
        held = next((one for one in node.named_children if one.type == "parameter_list"), None)
        for one in held.named_children if held is not None else ():
            name, kind = one.child_by_field_name("name"), self.typed(one.child_by_field_name("type"))
            if name is not None and node.type == "record_declaration":
                at = self.row(one, "method", {"name": [name]})
                self.meta(at)["r"] = kind
                self.flag(at, "property")
                self.counted(at, 0, 0)
            elif name is not None:
                self.scope.names[self.text(name)] = (kind,)

    def on_delegate(self, node: Node, captured: Captures) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            index = self.row(node, "class", {"name": [name]})
            self.flag(index, "delegate")
            self.push(node, "class", index)
            self.type_parameters(node)

    def on_function(self, node: Node, captured: Captures) -> None:
        own, name = self.named(node)
        if own is None:
            return
        body = node.child_by_field_name("body")
        local = node.type == "local_function_statement"
        found = {"name": [own], **({"body": [body]} if body is not None else {})}
        above = self.home()
        index = self.row(node, "function" if local else self.kind_of(node, found, "method"), found, name=name)
        if local and above.sym >= 0:
            self.inner.setdefault(above.sym, {})[name] = index
        self.marks(node, index, body is not None)
        self.push(node, "function", index)
        self.type_parameters(node)
        kind = node.child_by_field_name("returns") or node.child_by_field_name("type")
        if kind is not None:
            self.meta(index)["r"] = self.typed(kind)
        self.take(node, index)

    on_method = on_function

    def marks(self, node: Node, index: int, has_body: bool) -> None:
        """Flags of a method or property."""
        modifiers, owner = self.modifiers(node), self.home().sym
        in_interface = owner >= 0 and "interface" in self.meta(owner).get("x", ())
        bare = in_interface and not has_body and node.type not in ("constructor_declaration", "operator_declaration")
        for flag, holds in (("static", "static" in modifiers), ("constructor", node.type == "constructor_declaration"),
                            ("abstract", "abstract" in modifiers or bare),
                            ("declared", "partial" in modifiers and not has_body)):  # fmt: skip
            if holds:
                self.flag(index, flag)

    def named(self, node: Node) -> tuple[Node | None, str]:
        """Where the name of a member stands, and the name it gets."""
        own = node.child_by_field_name("name")
        if node.type == "operator_declaration":
            sign = next((at for at, one in enumerate(node.children) if one.type == "operator"), -2)
            at = sign + 1 + (sign + 2 < len(node.children) and node.children[sign + 1].type == "checked")
            own = node.children[at] if 0 < at < len(node.children) else None
            return own, f"operator{self.text(own)}"
        if node.type == "conversion_operator_declaration":
            word = next((one for one in node.children if one.type in ("implicit", "explicit")), None)
            return word, f"op_{self.text(word).capitalize()}"
        if node.type == "indexer_declaration":
            return next((one for one in node.children if one.type == "this"), None), "this"
        name = self.text(own)
        if node.type == "destructor_declaration":
            return own, f"~{name}"
        if node.type == "constructor_declaration" and "static" in self.modifiers(node):
            return own, "cctor"
        return own, name

    def take(self, node: Node, index: int) -> None:
        """Count parameters and note their types; the first of an extension method is what it extends."""
        held = node.child_by_field_name("parameters")
        kinds, least, most, rest = [], 0, 0, False
        for one in held.children if held is not None else ():
            if one.type == "parameter":
                kinds.append(self.typed(one.child_by_field_name("type")))
                optional = any(part.type == "=" for part in one.children)
                least, most = least + (not optional), most + 1
            elif one.type == "params":
                rest = True
        if rest and held is not None:
            kinds.append(self.typed(held.child_by_field_name("type")).removesuffix("*"))
        self.taken(index, kinds, least, -1 if rest else most)
        first = child(held, "") if held is not None else None
        if first is not None and any(one.type == "modifier" and self.text(one) == "this" for one in first.children):
            self.flag(index, "extension")
            self.meta(index)["t"] = self.kind(kinds[0]) if kinds and kinds[0][0] != "?" else ""

    def may_have_namesakes(self, index: int) -> bool:
        owner = self.rows[index][schema.PARENT]
        return "extension" in self.meta(index).get("x", ()) or (
            owner >= 0 and "partial" in self.meta(owner).get("x", ())
        )

    def on_property(self, node: Node, captured: Captures) -> None:
        """A property or indexer: a method that reading runs; the code of its accessors is its code."""
        own, name = self.named(node)
        owner = self.home()
        if own is None or owner.kind != "class":
            return
        body = node.child_by_field_name("accessors") or node.child_by_field_name("value")
        index = self.row(node, "method", {"name": [own], **({"body": [body]} if body is not None else {})}, name=name)
        held = node.child_by_field_name("accessors")
        code = held is None or any(one.child_by_field_name("body") is not None for one in held.named_children)
        self.marks(node, index, code)
        if node.type != "indexer_declaration":
            self.flag(index, "property")
        self.meta(index)["r"] = self.typed(node.child_by_field_name("type"))
        self.counted(index, 0, -1)
        self.push(node, "function", index)

    def on_field(self, node: Node, captured: Captures) -> None:
        """Fields and events of one declaration; constants where they are ``const`` or ``static readonly``."""
        owner, modifiers = self.home(), self.modifiers(node)
        held = next((one for one in node.named_children if one.type == "variable_declaration"), None)
        if owner.kind != "class" or held is None:
            return
        constant = "const" in modifiers or {"static", "readonly"} <= modifiers
        written, kind = held.child_by_field_name("type"), self.typed(held.child_by_field_name("type"))
        for one in held.named_children:
            name = one.child_by_field_name("name") if one.type == "variable_declarator" else None
            if name is not None:
                index = self.row(node, "const" if constant else "field", {"name": [name], "body": [one]})
                row = self.rows[index]
                words = [self.text(part) for part in node.named_children if part.type == "modifier"]
                row[schema.SIG] = schema.one_line(" ".join([*words, self.text(written), self.text(name)]))
                self.attr(owner.sym, self.text(name), kind if node.type == "field_declaration" else "#delegate")

    def on_const(self, node: Node, captured: Captures) -> None:
        owner = self.home()
        if owner.kind == "class":
            index = self.row(node, "const", captured)
            self.rows[index][schema.SIG] = self.text(captured["name"][0])
            self.attr(owner.sym, self.text(captured["name"][0]), f"@{owner.sym}()")

    def kind_of(self, node: Node, captured: Captures, kind: str) -> str:
        return "test" if any(self.attribute_name(one) in TESTS for one in self.attributes(node)) else kind

    def modifiers(self, node: Node) -> set[str]:
        return {self.text(one) for one in node.children if one.type == "modifier"}

    def attributes(self, node: Node) -> list[Node]:
        lists = [one for one in node.named_children if one.type == "attribute_list"]
        return [one for held in lists for one in held.named_children if one.type == "attribute"]

    def attribute_name(self, node: Node) -> str:
        """Simple name of an attribute, without the ending that may be left out."""
        return self.dotted(node.child_by_field_name("name") or node).rpartition(".")[2].removesuffix("Attribute")

    def row(self, node: Node, kind: str, captured: Captures, *, name: str = "") -> int:
        index = super().row(node, kind, captured, name=name)
        if self.rows[index][schema.PARENT] < 0 and not self.spaces:
            self.loose.append(index)
        noise = [one for one in node.named_children if one.type in ("attribute_list", "comment")]
        start = captured["body"][0].start_byte if "body" in captured else node.end_byte
        head = bytearray(self.data[node.start_byte : start])
        for one in reversed(noise):
            if one.end_byte <= start:
                del head[one.start_byte - node.start_byte : one.end_byte - node.start_byte]
        self.rows[index][schema.SIG] = self.signature(bytes(head).strip().removesuffix(b"=>"))
        marks = self.attributes(node)
        if marks:
            self.meta(index)["d"] = " ".join(
                self.dotted(one.child_by_field_name("name") or one) + "()" * (one.named_child_count > 1)
                for one in marks
            )
        return index

    def doc(self, node: Node) -> str:
        """The summary of a documentation comment."""
        text = super().doc(node)
        match = SUMMARY.search(text)
        return " ".join(TAG.sub(lambda tag: tag.group(1) or " ", match.group(1) if match else text).split())

    # ── result ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self, lang: str) -> Facts:
        for index in self.loose if self.blocks else ():
            self.meta(index)["ns"] = GLOBAL
        if self.inner:
            self.local_calls()
        return super().finish(lang)

    def local_calls(self) -> None:
        """Calls of local functions, wherever in their method they stand."""
        for scope in self.own():
            known: dict[str, int] = {}
            at = scope.sym
            while at >= 0:
                known = self.inner.get(at, {}) | known
                at = self.rows[at][schema.PARENT]
            if known:
                held = [self.local_head(text, known) for text in scope.calls]
                scope.calls.clear()  # in place: blocks share it
                scope.calls.update(dict.fromkeys(held))

    def local_head(self, text: str, known: dict[str, int]) -> str:
        head, mark, rest = text.partition("^")
        return f"@{known[head]}{mark}{rest}" if head in known else text


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one C# file (schema in ``facts.py``)."""
    return facts_by(CSharpWalk, lang, tree, data, path)
