"""Java: what is its own in the walk over a file. Called by ``engine/code/extract.py``; the walk itself is ``declared.py``.

What may not come in: other files, import rules (``link_java.py``). Names of fields and of methods are apart (JLS 6.5): in a chain a
method has the number of its arguments behind it (``price^0()``), a field has not.
"""

from __future__ import annotations

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.declared_events import facts_by
from mog.engine.code.languages.declared_overloads import Overloaded
from mog.engine.code.languages.declared_tables import NOTHING, Captures, Chains, child
from mog.engine.code.languages.java_tables import (
    ALWAYS,
    ANNOTATIONS,
    DIALECT,
    HANDS_OUT,
    HERITAGE,
    NUMBERS,
    PRIMITIVES,
    TAGS,
    TESTS,
)

VERSION = 2


class JavaWalk(Overloaded):
    """One pass over a Java file."""

    dialect = DIALECT

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.platform: set[str] = set()  # types that are imported from the platform; "*" for all of a package
        self.foreign: set[str] = set()
        self.above: dict[int, str] = {}  # class → simple name of the class it extends

    # ── imports and types ─────────────────────────────────────────────────────────────────────────────────────────────

    def on_import(self, node: Node, captured: Captures) -> None:
        """Single and on-demand imports of types, and of static members (flag ``s``)."""
        path = next((one for one in node.named_children if one.type in ("scoped_identifier", "identifier")), None)
        name = self.dotted(path) if path is not None else ""
        flags = "s" if any(one.type == "static" for one in node.children) else ""
        module, _, last = name.rpartition(".")
        if any(one.type == "asterisk" for one in node.named_children):
            module, last = name, "*"
        if module:
            self.imported(last, module, last, flags)
            (self.platform if module.startswith(("java.", "javax.")) else self.foreign).add(last)

    def holds(self, name: str) -> bool:
        if name in self.foreign:
            return False
        return (
            name in self.platform
            or "*" in self.platform
            or name in ALWAYS
            or (name == "Entry" and "Map" in self.platform)
        )

    def type_parameters(self, node: Node) -> None:
        """A type parameter stands for its first bound, or for nothing that is known."""
        held = node.child_by_field_name("type_parameters")
        for one in held.named_children if held is not None else ():
            name = next((part for part in one.named_children if part.type == "type_identifier"), None)
            bound = next((part for part in one.named_children if part.type == "type_bound"), None)
            chain = self.typed(child(bound, "")) if bound is not None else "?"
            self.scope.names[self.text(name)] = (chain.removesuffix("()"),)

    def special_type(self, node: Node) -> str:
        if node.type in ("integral_type", "floating_point_type", "boolean_type", "void_type"):
            return PRIMITIVES.get(self.text(node), "?")
        if node.type == "wildcard" and node.named_child_count:
            return self.bounded(node.named_children[-1])
        return "?"

    def bounded(self, kind: Node) -> str:
        """The bound of a wildcard."""
        self.depth += 1
        chain = self.typed(kind) if self.depth < 12 else "?"
        self.depth -= 1
        return chain

    def on_tref(self, node: Node, captured: Captures) -> None:
        """A type that is named: referred to, unless it is inherited from or made (those are edges of their own)."""
        above = node.parent
        if above is not None and above.type == "generic_type" and above.named_child(0) == node:
            above = above.parent
        if above is None or above.type in HERITAGE or (above.type == "type_parameter" and above.named_child(0) == node):
            return
        if above.type != "scoped_type_identifier" and self.text(node) not in PRIMITIVES:
            self.refer(self.text(node))

    def refer(self, name: str) -> None:
        chain = self.instance(name, "").removesuffix("()")
        if chain[0] not in "?#":
            self.scope.refs[chain] = None

    # ── definitions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def on_class(self, node: Node, captured: Captures) -> None:
        super().on_class(node, captured)
        index = self.scope.sym
        self.type_parameters(node)
        self.inherit(node, index)
        if node.type in ("interface_declaration", "annotation_type_declaration"):
            self.flag(index, "interface")
        elif node.type == "enum_declaration":
            self.flag(index, "enum")
        elif node.type == "record_declaration":
            self.components(node, index)

    def inherit(self, node: Node, index: int) -> None:
        """Bases: the class that is extended before the interfaces."""
        for one in node.named_children:
            if one.type == "superclass":
                self.extend(child(one, ""), index)
            elif one.type in ("super_interfaces", "extends_interfaces"):
                held = child(one, "")
                for kind in held.named_children if held is not None else ():
                    self.base(index, self.base_chain(kind))

    def extend(self, kind: Node | None, index: int) -> None:
        """The class above: constructors of it are called by its simple name."""
        chain = self.base_chain(kind)
        if chain:
            self.base(index, chain)
            self.above[index] = self.kind(f"{chain}()")

    def base_chain(self, kind: Node | None) -> str:
        """The chain of a class that is inherited from; a holder of the platform is itself here, not what it holds."""
        if kind is not None and kind.type == "generic_type":
            kind = child(kind, "")
        chain = self.typed(kind)
        return chain.removesuffix("()") if chain[0] not in "?#" else ""

    def components(self, node: Node, index: int) -> None:
        """The components of a record: a field and, unless it is written out, an accessor each."""
        own, held = self.accessors(node), node.child_by_field_name("parameters")
        for one in held.named_children if held is not None else ():
            name, kind = one.child_by_field_name("name"), self.typed(one.child_by_field_name("type"))
            if name is None:
                continue
            self.attr(index, self.text(name), kind)
            if self.text(name) not in own:
                accessor = self.row(one, "method", {"name": [name]})
                self.meta(accessor)["r"] = kind
                self.taken(accessor, [], 0, 0)

    def accessors(self, node: Node) -> set[str]:
        """Names of the methods without parameters in the body of a class."""
        body = node.child_by_field_name("body")
        methods = [one for one in body.named_children if one.type == "method_declaration"] if body is not None else []
        return {self.text(one.child_by_field_name("name")) for one in methods if not self.parameters(one)}

    def on_anonymous(self, node: Node, captured: Captures) -> None:
        """The class of an expression or an enum constant with a body; it is named after what it extends."""
        made, above = node.parent, self.home().sym
        if made is None:
            return
        if made.type == "enum_constant":
            name, chain = made.child_by_field_name("name"), f"@{above}"
        else:
            name = made.child_by_field_name("type")
            chain = self.base_chain(name)
        if name is None:
            return
        short = self.dotted(name).rpartition(".")[2]
        index = self.row(made, "class", {"name": [name], "body": [node]}, name=f"${short}")
        if chain and chain != "@-1":
            self.base(index, chain)
        self.push(node, "class", index)

    def on_method(self, node: Node, captured: Captures) -> None:
        index = self.row(node, self.kind_of(node, captured, "method"), captured)
        modifiers = self.modifiers(node)
        if "static" in modifiers:
            self.flag(index, "static")
        if node.type.endswith("constructor_declaration"):
            self.flag(index, "constructor")
        owner = self.home().sym
        in_interface = owner >= 0 and "interface" in self.meta(owner).get("x", ())
        if "abstract" in modifiers or (in_interface and "body" not in captured):
            self.flag(index, "abstract")
        self.push(node, "function", index)
        self.type_parameters(node)
        kind = node.child_by_field_name("type")
        if kind is not None:
            self.meta(index)["r"] = self.typed(kind)
        self.take(node, index, self.compact(node))
        above = self.above.get(self.rows[index][schema.PARENT], "")
        if node.type == "constructor_declaration" and above and not self.delegates(node):
            self.scope.calls[f"super().{above}^0"] = None

    def delegates(self, node: Node) -> bool:
        """Whether a constructor begins with a call of another; one that does not calls that of the class above (JLS 8.8.7)."""
        body = node.child_by_field_name("body")
        return body is not None and any(
            one.type == "explicit_constructor_invocation" for one in body.named_children[:3]
        )

    def spelled(self, node: Node) -> str:
        if (
            node.type == "method_invocation"
            and not self.passed(node)
            and self.text(node.child_by_field_name("name")) == "getClass"
        ):
            return "#class"
        return super().spelled(node)

    def compact(self, node: Node) -> Node:
        """Where the parameters of a method stand: those of a compact constructor at its record."""
        above = (
            node.parent.parent if node.type == "compact_constructor_declaration" and node.parent is not None else None
        )
        return above if above is not None else node

    def take(self, node: Node, index: int, held: Node) -> None:
        """Count parameters and note their types, in the scope of the method (its type parameters are known there)."""
        kinds, most = [], 0
        for one in self.parameters(held):
            rest = one.type == "spread_parameter"
            kinds.append(self.typed(self.type_of(one)))
            most = -1 if rest else most + 1
        self.taken(index, kinds, len(kinds) - (most < 0), most)

    def parameters(self, node: Node) -> list[Node]:
        held = node.child_by_field_name("parameters")
        return (
            [one for one in held.named_children if one.type in ("formal_parameter", "spread_parameter")]
            if held is not None
            else []
        )

    def type_of(self, node: Node) -> Node | None:
        """The written type of a parameter or variable."""
        if node.type == "spread_parameter":
            return next(
                (one for one in node.named_children if one.type not in ("modifiers", "variable_declarator")), None
            )
        return node.child_by_field_name("type")

    def kind_of(self, node: Node, captured: Captures, kind: str) -> str:
        if any(self.annotation(one) in TESTS for one in self.annotations(node)):
            return "test"
        owner = self.home().sym
        old = self.text(captured["name"][0]).startswith("test") and self.above.get(owner, "").endswith("TestCase")
        return "test" if old and not self.parameters(node) else kind

    def modifiers(self, node: Node) -> set[str]:
        """Keywords before a declaration."""
        first = child(node, "")
        return {one.type for one in first.children} if first is not None and first.type == "modifiers" else set()

    def annotations(self, node: Node) -> list[Node]:
        first = child(node, "")
        held = first.named_children if first is not None and first.type == "modifiers" else []
        return [one for one in held if one.type in ANNOTATIONS]

    def annotation(self, node: Node) -> str:
        """Simple name of an annotation."""
        return self.text(node.child_by_field_name("name")).rpartition(".")[2]

    def on_field(self, node: Node, captured: Captures) -> None:
        """Fields of one declaration: constants where they are static and final, or those of an interface."""
        owner = self.home()
        if owner.kind != "class":
            return
        modifiers = self.modifiers(node)
        constant = node.type == "constant_declaration" or {"static", "final"} <= modifiers
        kind = self.typed(node.child_by_field_name("type"))
        for one in node.children_by_field_name("declarator"):
            name = one.child_by_field_name("name")
            if name is not None:
                index = self.row(node, "const" if constant else "field", {"name": [name], "body": [one]})
                row = self.rows[index]
                row[schema.SIG] = schema.one_line(f"{row[schema.SIG]} {self.text(name)}")
                self.attr(owner.sym, self.text(name), kind + "*" * (one.child_by_field_name("dimensions") is not None))

    def on_const(self, node: Node, captured: Captures) -> None:
        owner = self.home()
        if owner.kind == "class":
            index = self.row(node, "const", captured)
            self.rows[index][schema.SIG] = self.text(captured["name"][0])
            self.attr(owner.sym, self.text(captured["name"][0]), f"@{owner.sym}()")

    def row(self, node: Node, kind: str, captured: Captures, *, name: str = "") -> int:
        index = super().row(node, kind, captured, name=name)
        marks = self.annotations(node)
        noise = [*marks, *self.remarks(node)]
        if noise:
            stop = captured["body"][0].start_byte if "body" in captured else node.end_byte
            head = bytearray(self.data[node.start_byte : stop])
            for one in sorted(noise, key=lambda one: -one.start_byte):
                del head[one.start_byte - node.start_byte : one.end_byte - node.start_byte]
            self.rows[index][schema.SIG] = self.signature(bytes(head).strip())
        if marks:
            self.meta(index)["d"] = " ".join(self.mark_of(one) for one in marks)
        return index

    def remarks(self, node: Node) -> list[Node]:
        """Comments between the modifiers."""
        first = child(node, "")
        held = first.children if first is not None and first.type == "modifiers" else []
        return [one for one in held if one.type in self.dialect.comments]

    def mark_of(self, node: Node) -> str:
        """An annotation as a decorator."""
        return self.dotted_name(node.child_by_field_name("name")) + ("()" if node.type == "annotation" else "")

    def dotted_name(self, node: Node | None) -> str:
        return "".join(self.text(node).split()) or "?"

    def doc(self, node: Node) -> str:
        return TAGS.sub("", super().doc(node))

    # ── locals ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_param(self, node: Node, captured: Captures) -> None:
        names = captured.get("name") or [
            name
            for one in node.named_children
            if one.type == "variable_declarator" and (name := one.child_by_field_name("name"))
        ]
        many = "*" if node.type == "spread_parameter" else ""
        chain = self.typed(self.type_of(node))
        for name in names:
            self.bind(self.text(name), (f"{chain}{many}" if chain != "?" else chain,), typed=True)

    def on_local(self, node: Node, captured: Captures) -> None:
        """Local variables and resources."""
        kind = node.child_by_field_name("type")
        for one in [node] if node.type == "resource" else node.children_by_field_name("declarator"):
            self.declare(one.child_by_field_name("name"), kind, self.chains(one.child_by_field_name("value")),
                         "*" * (one.child_by_field_name("dimensions") is not None))  # fmt: skip

    def declare(self, name: Node | None, kind: Node | None, values: Chains, many: str = "") -> None:
        """Bind a local to its written type, or where that is ``var`` to what it is given."""
        if kind is None or self.text(kind) == "var":
            self.bind(self.text(name), values)
        else:
            chain = self.typed(kind)
            self.bind(self.text(name), (f"{chain}{many}" if chain != "?" else chain,), typed=True)

    def on_each(self, node: Node, captured: Captures) -> None:
        values = self.chains(node.child_by_field_name("value"))
        self.declare(captured["name"][0], node.child_by_field_name("type"), items(values))

    def on_caught(self, node: Node, captured: Captures) -> None:
        held = next((one for one in node.named_children if one.type == "catch_type"), None)
        kinds = tuple(self.typed(one) for one in held.named_children[:3]) if held is not None else NOTHING
        self.bind(self.text(captured["name"][0]), kinds or NOTHING, typed=True)

    def on_pattern(self, node: Node, captured: Captures) -> None:
        """``x instanceof T name``, and the patterns of a switch."""
        if "name" in captured:
            kind, name = node.child_by_field_name("right"), captured["name"][0]
        else:
            held = [one for one in node.named_children if one.type != "modifiers"]
            if len(held) != 2 or held[1].type != "identifier":
                return
            kind, name = held
        self.declare(name, kind, NOTHING)

    def on_lambda(self, node: Node, captured: Captures) -> None:
        """A lambda: its parameters hide what is outside; a holder of the platform hands it what it holds."""
        self.push(node, "block", self.scope.sym)
        held = node.child_by_field_name("parameters")
        if held is None or held.type == "formal_parameters":
            return
        names = (
            [held] if held.type == "identifier" else [one for one in held.named_children if one.type == "identifier"]
        )
        given = self.handed(node)
        for at, name in enumerate(names):
            self.bind(self.text(name), given if at == len(names) - 1 else NOTHING, typed=True)

    def handed(self, node: Node) -> Chains:
        """What a lambda that is an argument is called with."""
        call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
        receiver = call.child_by_field_name("object") if call is not None else None
        if call is None or receiver is None or self.text(call.child_by_field_name("name")) not in HANDS_OUT:
            return NOTHING
        return items(self.chains(receiver))

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def called(self, name: str) -> Chains:
        return (name,)

    def special(self, node: Node) -> Chains | None:
        if node.type in NUMBERS:
            return self.number(node)
        if node.type == "array_creation_expression":
            chain = self.typed(node.child_by_field_name("type"))
            return (f"{chain}*",) if chain != "?" else None
        if node.type == "ternary_expression":
            both = [self.chains(node.child_by_field_name(name)) for name in ("consequence", "alternative")]
            return tuple(dict.fromkeys(one for held in both for one in held if one not in ("?", "#None"))) or None
        if node.type == "binary_expression":
            return self.operation(node)
        return ("#bool",) if node.type == "instanceof_expression" else None

    def with_tail(self, heads: Chains, tail: str) -> Chains:
        if tail.startswith(".this") and tail[5:6] in ("", "."):
            return super().with_tail(tuple(f"{head}()" for head in heads), tail[5:])
        return super().with_tail(heads, tail)

    def on_call(self, node: Node, captured: Captures) -> None:
        owner = self.class_around()
        if node.type == "enum_constant":
            if owner >= 0:
                self.say_call(f"cls.{self.rows[owner][schema.NAME]}", node)
        elif node.type == "explicit_constructor_invocation":
            own = self.text(node.child_by_field_name("constructor")) == "this"
            name = self.rows[owner][schema.NAME] if own and owner >= 0 else self.above.get(owner, "")
            if name:
                self.say_call(f"{'self' if own else 'super()'}.{name}", node)
        elif node.type == "object_creation_expression" and node.children[0].type != "new":
            for chain in self.chains(child(node, "")):
                self.say_call(f"{chain}.{self.dotted(node.child_by_field_name('type') or node)}", node)
        else:
            super().on_call(node, captured)

    def on_ref(self, node: Node, captured: Captures) -> None:
        """Method references, annotations, and classes whose members are named."""
        if node.type == "method_reference":
            return self.method_reference(node)
        name = self.dotted(node)
        if name.rpartition(".")[2][:1].isupper():
            self.refer(name)
        return None

    def method_reference(self, node: Node) -> None:
        """``Item::show``, ``this::show``, ``Item::new``."""
        held = node.named_children
        if not held:
            return
        names = (
            [self.dotted(held[0])]
            if held[0].type in ("generic_type", "array_type", "scoped_type_identifier")
            else self.chains(held[0])
        )
        if self.text(node.children[-1]) == "new":
            self.refer(self.dotted(held[0]))
        elif len(held) == 2 and names[0][0] not in "?#":
            self.scope.refs[f"{names[0]}.{self.text(held[1])}"] = None
            if names[0][:1].isupper():
                self.refer(names[0].partition(".")[0])


def items(chains: Chains) -> Chains:
    """What one item of each is."""
    return tuple(f"{chain}{{}}" if chain[0] != "?" else "?" for chain in chains)


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one Java file (schema in ``facts.py``)."""
    return facts_by(JavaWalk, lang, tree, data, path)
