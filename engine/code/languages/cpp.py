"""C++: what is its own in the walk over a file. Called by ``engine/code/extract.py``; the walk itself is ``declared.py``.

What may not come in: other files, include rules (``link_cpp.py``). A name before ``::`` is written with that sign (``a::.b.f``), so
that it is looked for among namespaces and types only. ``A::f`` belongs to ``A`` wherever that stands; what has no body is flagged
``declared``. Smart pointers stand for what they point to. Argument-dependent lookup is not guessed.
"""

from __future__ import annotations

import re

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.c_text import calls_in, keyword
from mog.engine.code.languages.cpp_expr import CppExpressions
from mog.engine.code.languages.cpp_names import Declared, declared, has_word, slug
from mog.engine.code.languages.cpp_prepared import prepared
from mog.engine.code.languages.declared_events import facts_by
from mog.engine.code.languages.declared_tables import NOTHING, Captures, Chains

VERSION = 2
_TEST_MACRO = re.compile(
    r"^(?:TYPED_)?TEST(?:_[FP])?(?:_SUITE)?$|(?:^|_)TEST_CASE|^BOOST_AUTO_TEST_CASE|^SCENARIO$|^DOCTEST_TEST"
)
_FIXTURE = re.compile(r"^(?:TYPED_)?TEST_[FP]$|^TEST_CASE_METHOD$|^TYPED_TEST$")


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one C++ file (schema in ``facts.py``)."""
    return facts_by(CppWalk, lang, tree, data, path)


class CppWalk(CppExpressions):
    """One pass over a C++ file."""

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.template: set[str] = set()

    # ── files and namespaces ──────────────────────────────────────────────────────────────────────────────────────────

    def on_import(self, node: Node, captured: Captures) -> None:
        name = self.text(captured["name"][0])
        if name[:1] in '"<':
            name = name.strip('"')
            self.imports.append([-1, name, name, "", "#"])
        else:
            self.problems.append(["computed_include", node.start_point[0] + 1])

    def on_space(self, node: Node, captured: Captures) -> None:
        """A namespace; an inline one is part of that around it, one without a name belongs to the file."""
        own = captured["name"][0] if "name" in captured else None
        above = self.spaces[-1] if self.spaces else ""
        inline = self.data.startswith(b"inline", node.start_byte)
        name = self.dotted(own) if own is not None and not inline else ""
        self.push(node, "block", self.scope.sym, ".".join(part for part in (above, name) if part))
        self.scope.names["" if own is None else " "] = NOTHING

    def on_using(self, node: Node, captured: Captures) -> None:
        """``using namespace a`` and ``using a::X``."""
        own = node.named_child(0) if node.named_child_count else None
        name = self.dotted(own) if own is not None else ""
        if not name or self.home().kind == "class":
            return
        if b"namespace" in self.data[node.start_byte : own.start_byte if own is not None else node.start_byte]:
            self.imports.append([-1, f"using {name}", f"{name}", "", "u"])
        elif "." in name:
            head, _, rest = name.partition(".")
            self.bind(name.rpartition(".")[2], (f"{head}::.{rest}",))

    def on_macro(self, node: Node, captured: Captures) -> None:
        own, value = captured["name"][0], node.child_by_field_name("value")
        function = node.type == "preproc_function_def"
        text = self.data[value.start_byte : value.end_byte] if value is not None else b""
        if (
            not function
            and not text
            and self.data[max(0, node.start_byte - 200) : node.start_byte]
            .rstrip()
            .endswith(b"#ifndef " + self.data[own.start_byte : own.end_byte])
        ):
            return
        scope, self.scope, spaces, self.spaces = self.scope, self.module, self.spaces, []
        index = self.row(node, "function" if function else "const", captured)
        self.scope, self.spaces = scope, spaces
        self.flag(index, "macro")
        if function:
            self.functions.add(self.text(own))
            given = node.child_by_field_name("parameters")
            names = {self.text(one) for one in given.named_children} if given is not None else set()
            called = [name for name in calls_in(text) if name not in names and name != self.text(own)]
            if called:
                self.push(node, "function", index).calls.update(dict.fromkeys(called))

    # ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_class(self, node: Node, captured: Captures) -> None:
        own = captured["name"][0]
        name = self.dotted(own)
        index = self.row(node, "class", captured, name=name.rpartition(".")[2])
        if "." in name:
            self.owners[index] = name.rpartition(".")[0]
        for one in node.named_children:
            if one.type == "base_class_clause":
                for base in one.named_children:
                    if base.type in ("type_identifier", "qualified_identifier", "template_type"):
                        self.base(index, self.plain(base).removesuffix("()"))
        self.push(node, "class", index)

    def on_alias(self, node: Node, captured: Captures) -> None:
        """``using A = B`` and ``typedef B A``: A is a class with all that B has."""
        name, kind = declared(captured["name"][0], self.data), node.child_by_field_name("type")
        if name is None or self.home().kind == "function":
            return
        index = self.row(node, "class", {"name": [name.node]})
        self.flag(index, "alias")
        tag = child_of(kind, ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier"))
        if tag is not None and tag.child_by_field_name("body") is not None:
            if tag.child_by_field_name("name") is None:
                self.meta(index)["x"].remove("alias")
                self.push(node, "class", index)
            elif self.text(tag.child_by_field_name("name")) == name.name:
                self.rows.pop()
            return
        chain = self.typed(kind)
        if chain.endswith("()") and chain[0] not in "?#@":
            self.base(index, chain.removesuffix("()"))

    def on_value(self, node: Node, captured: Captures) -> None:
        self.row(node, "const", captured)

    def on_typeparam(self, node: Node, captured: Captures) -> None:
        """A parameter of a template hides a type of that name in what follows the list of them."""
        self.template |= {self.text(name) for name in captured["name"]}

    # ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_function(self, node: Node, captured: Captures) -> None:
        found, body = declared(captured["name"][0], self.data), node.child_by_field_name("body")
        if found is None or keyword(found.name) or self.home().kind == "function":
            self.push(node, "block", self.scope.sym)
            return
        if node.child_by_field_name("type") is None and _TEST_MACRO.search(found.name) and found.parameters is not None:
            self.tested(node, found.name, found.parameters, body or node)
            return
        index = self.defined(node, found, body)
        self.push(node, "function", index)
        self.hide()

    def defined(self, node: Node, found: Declared, body: Node | None) -> int:
        """The symbol of a function or method with what it takes and gives."""
        inside = self.home().kind == "class"
        name = {"name": [found.node]} | ({"body": [body]} if body is not None else {})
        kind = "method" if inside or found.scope else "function"
        if kind == "function" and self.test_file and found.name.startswith("test"):
            kind = "test"
        index = self.row(node, kind, name, name=found.name)
        if found.scope:
            self.owners[index] = ".".join(found.scope)
        elif not inside:
            self.functions.add(found.name)
            if has_word(self.data, b"static", node.start_byte, found.node.start_byte) or self.in_nameless():
                self.flag(index, "static")
        if has_word(self.data, b"virtual", node.start_byte, found.node.start_byte):
            self.flag(index, "virtual")
        self.counted(index, *self.takes(found.parameters))
        self.gives(index, node, found)
        return index

    def in_nameless(self) -> bool:
        """Whether a nameless namespace is around."""
        scope = self.scope.find("")
        return scope is not None

    def takes(self, parameters: Node | None) -> tuple[int, int]:
        """Least and most arguments, most -1 for any."""
        least = most = 0
        for one in parameters.children if parameters is not None else ():
            if one.type == "parameter_declaration":
                if self.text(one) != "void":
                    least, most = least + 1, most + 1
            elif one.type == "optional_parameter_declaration":
                most += 1
            elif one.type in ("variadic_parameter_declaration", "variadic_parameter", "..."):
                return least, -1
        return least, most

    def gives(self, index: int, node: Node, found: Declared) -> None:
        kind = node.child_by_field_name("type")
        if found.trailing is not None:
            kind = found.trailing
        if kind is not None and kind.type != "placeholder_type_specifier":
            chain = self.typed(kind)
            if chain != "?":
                self.meta(index)["r"] = chain

    def hide(self) -> None:
        """Names of template parameters are no types of the project."""
        for name in self.template:
            self.scope.names[name] = NOTHING
        self.template = set()

    def tested(self, node: Node, macro: str, given: Node, body: Node) -> None:
        """``TEST_F(Fixture, Name) { … }``: a test, whose body is a method of the fixture."""
        names = [self.text(one).strip('"') for one in given.named_children if one.type != "comment"]
        if not names:
            self.push(node, "block", self.scope.sym)
            return
        words = [
            slug(name)
            for name in (names[:2] if macro.startswith(("TEST", "TYPED_TEST")) and "CASE" not in macro else names[:1])
        ]
        if macro == "TEST_CASE_METHOD":
            words = [slug(name) for name in names[:2]]
        index = self.row(node, "test", {"name": [given], "body": [body]}, name=words[-1])
        self.rows[index][schema.QUAL] = ".".join(words)
        self.rows[index][schema.STOP], self.rows[index][schema.END] = body.end_byte, body.end_point[0] + 1
        self.flag(index, "made")
        self.push(body, "function", index)
        self.scope.calls[f"{macro}^{len(names)}"] = None
        if _FIXTURE.search(macro):
            self.owners[index] = names[0]

    def on_made(self, node: Node, captured: Captures) -> None:
        """``TEST_CASE("…") { … }`` outside of functions."""
        call, body = captured["name"][0].parent, node.next_named_sibling
        macro = self.text(call.child_by_field_name("function")) if call is not None else ""
        if (
            self.home().kind == "module"
            and body is not None
            and body.type == "compound_statement"
            and _TEST_MACRO.search(macro)
        ):
            self.tested(node, macro, captured["name"][0], body)

    # ── members and variables ─────────────────────────────────────────────────────────────────────────────────────────

    def on_field(self, node: Node, captured: Captures) -> None:
        found = declared(captured["name"][0], self.data)
        if found is None or self.home().kind != "class":
            return
        if found.parameters is not None:
            self.declaration(node, found)
            return
        self.row(node, "field", {"name": [found.node]})
        kind = node.child_by_field_name("type")
        self.attr(self.home().sym, found.name, self.many(self.typed(kind), found) if kind is not None else "?")

    def declaration(self, node: Node, found: Declared) -> None:
        """A member function without its body."""
        index = self.row(node, "method", {"name": [found.node]}, name=found.name)
        self.flag(index, "declared")
        value = node.child_by_field_name("default_value")
        if value is not None and self.text(value) == "0":
            self.flag(index, "abstract")
        if has_word(self.data, b"virtual", node.start_byte, found.node.start_byte):
            self.flag(index, "virtual")
        self.counted(index, *self.takes(found.parameters))
        self.gives(index, node, found)

    def on_local(self, node: Node, captured: Captures) -> None:
        """Variables of functions and files; in a class the declaration of a constructor; a prototype is only known by name."""
        own = captured["name"][0]
        found, home, kind = declared(own, self.data), self.home(), node.child_by_field_name("type")
        if found is None:
            return
        value = own.child_by_field_name("value") if own.type == "init_declarator" else None
        if found.parameters is not None and value is None:
            if home.kind == "class":
                self.declaration(node, found)
            elif home.kind != "function":
                self.functions.add(found.name)
                return
            elif found.scope:
                return
        chain = self.typed(kind) if kind is not None else "?"
        if kind is not None and kind.type == "placeholder_type_specifier":
            chains = self.chains(value or node.child_by_field_name("value"))
        else:
            chains = (self.many(chain, found),)
            self.constructed(chain, own, value, found)
        if home.kind == "function":
            self.bind(found.name, chains, typed=True)
        elif home.kind == "module" and not found.scope:
            self.variable(node, own, found, value, chains)

    def constructed(self, chain: str, own: Node, value: Node | None, found: Declared) -> None:
        """``A a(1)`` and ``A a{1}`` call a constructor."""
        if value is None or value.type not in ("argument_list", "initializer_list") or found.pointer:
            return
        if chain.endswith("()") and chain[0] not in "?#":
            self.scope.calls[f"{chain.removesuffix('()')}^{self.many_in(value)}"] = None

    def variable(self, node: Node, own: Node, found: Declared, value: Node | None, chains: Chains) -> None:
        """A variable of a file or namespace."""
        if not self.data.startswith(b"extern", node.start_byte) or value is not None:
            self.row(node, "const", {"name": [found.node]} | ({"body": [value]} if value is not None else {}))
        self.binds.setdefault(found.name, {}).update(dict.fromkeys(chains))

    def many(self, chain: str, found: Declared) -> str:
        if found.called:
            return "?"
        return f"{chain}*" if found.array and chain[0] != "?" else chain

    def on_param(self, node: Node, captured: Captures) -> None:
        found, kind = declared(captured["name"][0], self.data), node.child_by_field_name("type")
        if found is not None and self.home().kind == "function":
            chain = "?" if found.parameters is not None or kind is None else self.many(self.typed(kind), found)
            self.bind(found.name, (chain,), typed=True)

    def on_range(self, node: Node, captured: Captures) -> None:
        """``for (T x : xs)``: x is an item."""
        found, kind = declared(captured["name"][0], self.data), node.child_by_field_name("type")
        if found is None:
            return
        if kind is not None and kind.type != "placeholder_type_specifier":
            chains: Chains = (self.typed(kind),)
        else:
            held = self.chains(node.child_by_field_name("right"))
            chains = tuple(f"{chain}{{}}" if chain[0] != "?" else "?" for chain in held)
        self.bind(found.name, chains, typed=True)

    # ── result ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def adopt(self) -> None:
        """Methods defined apart: below their class where it is of this file, however much of its name is written."""
        classes = {row[schema.QUAL]: at for at, row in enumerate(self.rows) if row[schema.KIND] == "class"}
        for index, chain in list(self.owners.items()):
            parts = chain.split(".")
            written = next(
                (f"@{classes[name]}" for at in range(len(parts)) if (name := ".".join(parts[at:])) in classes), ""
            )
            self.owners[index] = written or (f"{parts[0]}::.{'.'.join(parts[1:])}" if len(parts) > 1 else chain)
        super().adopt()
        for index in self.owners:
            row = self.rows[index]
            row[schema.QUAL] = row[schema.QUAL].replace("::", "")
        moved = set(self.owners)
        for index, row in enumerate(self.rows):
            if row[schema.PARENT] in moved and index not in self.owners:
                row[schema.QUAL] = f"{self.rows[row[schema.PARENT]][schema.QUAL]}.{row[schema.NAME]}"
                moved.add(index)


def child_of(node: Node | None, kinds: tuple[str, ...]) -> Node | None:
    """The node where it is of some kinds."""
    return node if node is not None and node.type in kinds else None


__all__ = ["CppWalk", "facts_of", "prepared"]
