"""Go: what is its own in the walk over a file. Called by ``engine/code/extract.py``; the walk itself is ``declared.py``.

What may not come in: other files, import rules (``link_go.py``). A method belongs to the type of its receiver wherever that stands;
embedded types are bases, whose methods are promoted (Go specification, "Struct types"). Of a function with several results the
first is what it returns; all of them stand in ``cb["r"]``, so that ``f.$r$1`` is the second (``facts.py``, "cb").
"""

from __future__ import annotations

import re

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.declared import Walk
from mog.engine.code.languages.declared_events import facts_by
from mog.engine.code.languages.declared_tables import NOTHING, Captures, Chains, Dialect, child
from mog.engine.code.languages.go_nodes import (
    alone,
    body_of,
    is_generic_call,
    is_receiver,
    leaves,
    package_names,
    written_type,
)

VERSION = 2

_TYPES = dict.fromkeys(
    "int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune".split(), "#int"
) | {"string": "#str", "bool": "#bool", "float32": "#float", "float64": "#float", "complex64": "#float", "complex128": "#float",
     "error": "#error", "any": "?", "comparable": "?"}  # fmt: skip
# what follows the word is no small letter (go help testfunc)
_TEST = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z\u00df-\uffff])")
_IGNORED = re.compile(rb"^//go:build\s+ignore\b|^// \+build\s+ignore\b", re.M)

DIALECT = Dialect(
    names=frozenset(("identifier", "package_identifier", "type_identifier")),
    members={"selector_expression": ("operand", "field")},
    through={"parenthesized_expression": "", "type_instantiation_expression": "type", "slice_expression": "operand"},
    items={"index_expression": "operand"},
    casts={"type_assertion_expression": "type", "type_conversion_expression": "type", "composite_literal": "type"},
    literals={
        "interpreted_string_literal": "#str", "raw_string_literal": "#str", "int_literal": "#int", "float_literal": "#float",
        "rune_literal": "#int", "true": "#bool", "false": "#bool", "nil": "#None",
    },
    type_members={"qualified_type": ("package", "name")},
    type_through={"pointer_type": "", "parenthesized_type": "", "negated_type": "", "parenthesized_expression": "",
                  "unary_expression": "operand"},
    many={"slice_type": "element", "array_type": "element", "channel_type": "value", "implicit_length_array_type": "element"},
    keyed={"map_type": "value"},
    generics={"generic_type": ("type", "type_arguments")},
    builtins=_TYPES,
)  # fmt: skip


class GoWalk(Walk):
    """One pass over a Go file.

    Attributes:
        keys: (scope, name) → chain of what a loop with one variable goes over: what a channel gives, the keys of a map.
    """

    dialect = DIALECT

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.keys: dict[tuple[int, str], str] = {}
        self.unnamed: list[tuple[int, str]] = []
        self.qualifiers: set[str] = set()

    # ── file ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_space(self, node: Node, captured: Captures) -> None:
        self.space = self.text(captured["name"][0])
        if _IGNORED.search(self.data[: node.start_byte]):
            self.space = f"{self.space} ignored"

    def on_import(self, node: Node, captured: Captures) -> None:
        path = self.text(node.child_by_field_name("path")).strip('"`')
        name = self.text(node.child_by_field_name("name"))
        if name == ".":
            self.imported("*", path, "*")
        else:
            self.imported(name or package_names(path)[0], path, "", "" if name else "g")
            if not name:
                self.unnamed.append((len(self.imports) - 1, path))

    def finish(self, lang: str) -> Facts:
        for at, path in self.unnamed:
            self.imports[at][1] = next((name for name in package_names(path) if name in self.qualifiers), self.imports[at][1])
        return super().finish(lang)

    def signature(self, head: bytes) -> str:
        return super().signature(head).replace(",)", ")")

    # ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_class(self, node: Node, captured: Captures) -> None:
        kind = node.child_by_field_name("type")
        body = body_of(kind)
        index = self.row(alone(node), "class", {**captured, "body": [body]} if body is not None else captured)
        if kind is not None and kind.type == "interface_type":
            self.flag(index, "interface")
        elif kind is not None and kind.type in ("slice_type", "array_type", "channel_type", "map_type"):
            made = self.typed(kind)
            self.attr(index, "__iter__", made)
            self.attr(index, "__getitem__", made)
        self.push(node, "class", index)

    def on_alias(self, node: Node, captured: Captures) -> None:
        """Another name of a type."""
        chain = self.typed(node.child_by_field_name("type"))
        if self.scope.kind == "module":
            self.row(alone(node), "const", captured)
        self.bind(self.text(captured["name"][0]), (chain.removesuffix("()") if chain.endswith("()") else "?",), typed=True)

    def on_field(self, node: Node, captured: Captures) -> None:
        """A field of a type that has a name; one without a name of its own is embedded."""
        owner, kind = self.home(), node.child_by_field_name("type")
        if owner.kind != "class" or not self._own(node, owner.sym):
            return
        names = node.children_by_field_name("name")
        for name in names:
            self.row(node if len(names) == 1 else name, "field", {"name": [name]})
            self.attr(owner.sym, self.text(name), self.typed(kind))
        if not names:
            self.embed(owner.sym, kind)

    def on_embedded(self, node: Node, captured: Captures) -> None:
        """An interface in another; a union of types is no interface."""
        owner = self.home()
        if owner.kind == "class" and self._own(node, owner.sym) and node.named_child_count == 1:
            self.embed(owner.sym, node.named_child(0))

    def embed(self, index: int, kind: Node | None) -> None:
        chain = self.typed(kind)
        if chain[0] not in "?#" and chain.endswith("()"):
            self.base(index, chain[:-2])
            self.attr(index, chain[:-2].rpartition(".")[2], chain)

    def on_declared(self, node: Node, captured: Captures) -> None:
        """A method of an interface."""
        owner = self.home()
        if owner.kind == "class" and self._own(node, owner.sym):
            index = self.row(node, "method", captured)
            self.flag(index, "abstract")
            self.returned(node, index)

    def _own(self, node: Node, index: int) -> bool:
        """Whether a part of a type belongs to the declared type itself, not to one without a name inside."""
        at = node.parent
        while at is not None and at.type in ("field_declaration_list", "struct_type", "interface_type", "parenthesized_type"):
            at = at.parent
        return at is not None and at.type == "type_spec" and at.end_byte == self.rows[index][schema.STOP]

    def on_typeparam(self, node: Node, captured: Captures) -> None:
        """A type parameter has what its constraint has."""
        kind = node.child_by_field_name("type")
        inner = kind.named_child(0) if kind is not None and kind.named_child_count == 1 else None
        chain = self.typed(inner)
        for name in captured["name"]:
            self.scope.names[self.text(name)] = (chain[:-2],) if chain.endswith("()") else NOTHING

    # ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_function(self, node: Node, captured: Captures) -> None:
        if self.text(captured["name"][0]) == "_":
            self.push(node, "function", self.scope.sym)
            return
        receiver = node.child_by_field_name("receiver")
        held = receiver.named_child(0) if receiver is not None and receiver.named_child_count else None
        index = self.row(node, self.kind_of(node, captured, "method" if receiver is not None else "function"), captured)
        self.push(node, "function", index)
        if held is not None:
            self.received(held, index)
        self.named_types(node)
        self.returned(node, index)

    on_method = on_function

    def received(self, receiver: Node, index: int) -> None:
        """Whose method it is, and the name the receiver has in it."""
        kind = receiver.child_by_field_name("type")
        while kind is not None and kind.type in ("pointer_type", "parenthesized_type"):
            kind = kind.named_child(0)
        if kind is not None and kind.type == "generic_type":
            for one in leaves(kind.child_by_field_name("type_arguments")):
                self.scope.names[self.text(one)] = NOTHING
            kind = kind.child_by_field_name("type")
        if kind is not None and kind.type == "type_identifier":
            self.owners[index] = self.text(kind)
            self.bind(self.text(receiver.child_by_field_name("name")), (f"{self.text(kind)}()",), typed=True)

    def named_types(self, node: Node) -> None:
        """Type parameters count in the signature, which is read before they are met."""
        held = node.child_by_field_name("type_parameters")
        for part in held.named_children if held is not None else ():
            if part.type == "type_parameter_declaration":
                self.on_typeparam(part, {"name": part.children_by_field_name("name")})

    def kind_of(self, node: Node, captured: Captures, kind: str) -> str:
        name = self.text(captured["name"][0])
        is_test = self.test_file and _TEST.match(name) is not None and not (kind == "function" and name == "TestMain")
        return "test" if is_test else kind

    def returned(self, node: Node, index: int) -> None:
        held = self.results(node.child_by_field_name("result"))
        if held and held[0] != "?":
            self.meta(index)["r"] = held[0]
        if len(held) > 1 and any(chain[0] not in "?#" for chain in held[1:]):
            self.meta(index)["cb"] = {"r": held}

    def results(self, node: Node | None) -> list[str]:
        """Chains of what a function gives back, one a result."""
        if node is None:
            return []
        if node.type != "parameter_list":
            return [self.typed(node)]
        found: list[str] = []
        for part in node.named_children:
            if part.type == "parameter_declaration":
                found += [self.typed(part.child_by_field_name("type"))] * max(1, len(part.children_by_field_name("name")))
        return found

    def on_param(self, node: Node, captured: Captures) -> None:
        kind = node.child_by_field_name("type")
        chain = self.typed(kind)
        if node.type == "variadic_parameter_declaration":
            chain = f"{chain}*" if chain != "?" else chain
        for name in node.children_by_field_name("name"):
            self.bind(self.text(name), (chain,), typed=True)
            self.keyed(self.text(name), kind)

    def on_block(self, node: Node, captured: Captures) -> None:
        self.push(node, "block", self.scope.sym)
        above = node.parent
        if node.type == "type_case" and above is not None:
            kinds = node.children_by_field_name("type")
            name = above.child_by_field_name("alias")
            if name is not None:
                chain = (self.typed(kinds[0]),) if len(kinds) == 1 else self.chains(above.child_by_field_name("value"))
                self.bind(self.text(name), chain, typed=True)

    # ── variables ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_local(self, node: Node, captured: Captures) -> None:
        if node.type in ("var_spec", "const_spec"):
            self.declared(node)
        elif node.type == "range_clause":
            self.ranged(node)
        elif any(one.type == ":=" for one in node.children):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None:
                values = right.named_children if right.type == "expression_list" else [right]
                self.assigned([self.text(name) for name in left.named_children], values)

    def declared(self, node: Node) -> None:
        """``var a, b T = x, y``: symbols at package level."""
        names, kind, value = (node.children_by_field_name("name"), node.child_by_field_name("type"),
                              node.child_by_field_name("value"))  # fmt: skip
        names = [name for name in names if name.type == "identifier"]
        if self.scope.kind == "module":
            for name in names:
                if self.text(name) != "_":
                    self.row(alone(node) if len(names) == 1 else name, "const", {"name": [name]})
        texts = [self.text(name) for name in names]
        if kind is not None:
            for text in texts:
                self.bind(text, (self.typed(kind),), typed=True)
                self.keyed(text, kind)
        else:
            self.assigned(texts, value.named_children if value is not None else [])

    def assigned(self, names: list[str], values: list[Node]) -> None:
        """Bind names to values: one to one, or all to the results of the one call."""
        values = [value for value in values if value.type != "comment"]
        if len(values) == 1 and len(names) > 1:
            for at, name in enumerate(names):
                self.fresh(name, self.result(values[0], at))
        else:
            for at, name in enumerate(names):
                self.fresh(name, self.chains(values[at]) if at < len(values) else NOTHING)
                if at < len(values):
                    self.keyed(name, written_type(values[at]))

    def fresh(self, name: str, chains: Chains) -> None:
        """Bind a name, but not one that this very scope gave a type (``a, err := …`` where ``err`` is known)."""
        if name not in self.scope.typed:
            self.bind(name, chains)

    def result(self, value: Node, at: int) -> Chains:
        """What the name number ``at`` gets of one value for several names."""
        if at == 0:
            return self.chains(value)
        while value.type == "parenthesized_expression" and value.named_child_count:
            value = value.named_children[0]
        if value.type != "call_expression" and not is_generic_call(value):
            return ("#bool",)
        return tuple(f"{chain[:-2]}.$r${at}" if chain.endswith("()") else "?" for chain in self.chains(value))

    def keyed(self, name: str, kind: Node | None) -> None:
        """Remember what a loop with one variable over a name gives."""
        if kind is not None and kind.type == "channel_type":
            self.keys[id(self.scope), name] = self.typed(kind.child_by_field_name("value"))
        elif kind is not None and kind.type == "map_type":
            self.keys[id(self.scope), name] = self.typed(kind.child_by_field_name("key"))

    def ranged(self, node: Node) -> None:
        """``for k, v := range x``: the second name is an item, the first one a key, or what a channel gives."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or not any(one.type == ":=" for one in node.children):
            return
        names = [self.text(name) for name in left.named_children]
        text = self.plain(right)
        scope = self.scope.find(text)
        self.bind(names[0], (self.keys.get((id(scope), text), "?"),))
        if len(names) > 1:
            self.bind(names[1], tuple(f"{chain}{{}}" if chain[0] != "?" else "?" for chain in self.chains(right)))

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_call(self, node: Node, captured: Captures) -> None:
        if node.type == "type_conversion_expression":  # ``f[T, U](x)`` is read as a conversion
            kind = child(node, "type")
            chains: Chains = self.chains(child(kind, "type")) if kind is not None else NOTHING
        else:
            function = node.child_by_field_name("function")
            chains = self.called_by(function) if function is not None else NOTHING
        known = [chain for chain in chains if chain != "?" and chain[0] != "#"]
        if known:
            self.scope.calls["|".join(known)] = None

    def called_by(self, function: Node) -> Chains:
        """Chains of what is called; a generic function with some of its types looks like an item of something."""
        if function.type == "index_expression" and self._names_types(function):
            function = function.child_by_field_name("operand") or function
        return self.chains(function)

    def _names_types(self, node: Node) -> bool:
        """Whether ``f[x]`` names a type in its brackets, as far as the file can tell."""
        index = node.child_by_field_name("index")
        if index is None or index.type in ("int_literal", "interpreted_string_literal", "binary_expression", "call_expression"):
            return False
        operand = node.child_by_field_name("operand")
        held = self.scope.find(self.plain(operand))
        return held is None and (index.type != "identifier" or self.scope.find(self.text(index)) is None)

    def on_ref(self, node: Node, captured: Captures) -> None:
        if node.type == "identifier" and self.scope.find(self.text(node)) is not None:
            return
        for chain in self.chains(node):
            if chain[0] not in "?#" and chain[-1] not in ")]}*":
                self.scope.refs[chain] = None

    def on_type(self, node: Node, captured: Captures) -> None:
        """A type that is named anywhere but where it is declared, embedded, or receives."""
        above = node.parent
        if above is None or (above.type in ("qualified_type", "type_alias") and node.type == "type_identifier"):
            return
        if above.type == "type_spec" and above.child_by_field_name("name") == node:
            return
        while above is not None and above.type in ("pointer_type", "generic_type", "parameter_declaration"):
            above = above.parent
        if above is not None and above.type == "parameter_list" and is_receiver(above):
            return
        chain = self.typed(node)
        if chain[0] not in "?#" and chain.endswith("()"):
            self.scope.refs[chain[:-2]] = None

    def plain(self, node: Node | None) -> str:
        """The text of a name, "" of anything longer: reading that again at each of its links would take its length squared."""
        return self.text(node) if node is not None and node.type == "identifier" else ""

    # ── expressions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def name(self, name: str) -> Chains:
        found = super().name(name)
        if found == (name,):
            self.qualifiers.add(name)
        return found

    def step(self, node: Node) -> tuple[Node | None, str] | None:
        if node.type == "unary_expression":
            sign = node.child_by_field_name("operator")
            if sign is None or sign.type in ("&", "*"):
                return node.child_by_field_name("operand"), ""
            return (node.child_by_field_name("operand"), "{}") if sign.type == "<-" else None
        if node.type != "call_expression":
            return None
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if self.plain(function) == "append" and arguments is not None and arguments.named_child_count:
            return arguments.named_child(0), ""
        if function is not None and function.type == "index_expression" and self._names_types(function):
            return function.child_by_field_name("operand"), "()"
        return function, "()"

    def special(self, node: Node) -> Chains | None:
        """``new(T)`` and ``make(T, …)`` give a T; a comparison gives a truth."""
        if node.type == "call_expression" and self.plain(node.child_by_field_name("function")) in ("new", "make"):
            arguments = node.child_by_field_name("arguments")
            kind = arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
            return (self.typed(kind),)
        return None

    def special_type(self, node: Node) -> str:
        """A type among arguments is written like a name."""
        if node.type == "identifier":
            return self.instance(self.text(node), "")
        if node.type == "selector_expression":
            return self.instance(self.dotted(node), "")
        return "?"


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one Go file (schema in ``facts.py``)."""
    return facts_by(GoWalk, lang, tree, data, path)
