"""Rust: what is its own in the walk over a file. Called by ``engine/code/extract.py``; the walk itself is ``declared.py``.

What may not come in: other files, import rules (``link_rust.py``). A path is written with dots; ``crate``, ``$self`` (the file's
module) and ``$super`` (the one above it) are its heads. A module that stands in a file is a class flagged ``module``; what it
declares is known by its qualified name. Options, results and smart pointers are what they hold (``typed``), and the methods that hand
it on are the linker's business. Patterns are in ``rust_patterns.py``, the arguments of macros in ``rust_tokens.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.declared_events import facts_by
from mog.engine.code.languages.declared_tables import NOTHING, Captures, Dialect, child
from mog.engine.code.languages.rust_paths import PathWalk, head_of, strip_arguments
from mog.engine.code.languages.rust_patterns import PatternWalk
from mog.engine.code.languages.rust_tokens import EXPRESSIONS, SILENT, TEMPLATES, TokenWalk

VERSION = 2

_ITEMS = frozenset(
    "function_item function_signature_item struct_item union_item enum_item trait_item type_item const_item static_item"
    " mod_item".split()
)
_TYPES = dict.fromkeys("u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize char".split(), "#int") | {
    "str": "#str", "String": "#str", "bool": "#bool", "f32": "#float", "f64": "#float",
}  # fmt: skip
_TESTS = frozenset("test rstest test_case quickcheck wasm_bindgen_test test_log bench proptest".split())
# bounds that give nothing the repository defines
_PLAIN_BOUNDS = frozenset(
    "Clone Copy Send Sync Sized Unpin Debug Display Default Hash Eq PartialEq Ord PartialOrd Into From AsRef AsMut Borrow ToString"
    " Fn FnMut FnOnce Any Error ToOwned TryFrom TryInto Write Read".split()
)

DIALECT = Dialect(
    names=frozenset(("identifier", "type_identifier", "shorthand_field_identifier")),
    members={"field_expression": ("value", "field")},
    through={"parenthesized_expression": "", "reference_expression": "value", "try_expression": "", "await_expression": "",
             "generic_function": "function"},
    items={"index_expression": ""},
    casts={"type_cast_expression": "type", "struct_expression": "name"},
    literals={
        "string_literal": "#str", "raw_string_literal": "#str", "char_literal": "#int", "integer_literal": "#int",
        "float_literal": "#float", "boolean_literal": "#bool", "unit_expression": "#None",
    },
    selfs={"self": "self", "Self": "cls"},
    type_names=frozenset(("type_identifier", "identifier", "primitive_type", "self")),
    type_through={"reference_type": "type", "pointer_type": "type", "abstract_type": "trait", "dynamic_type": "trait",
                  "bounded_type": "", "parenthesized_type": ""},
    many={"array_type": "element"},
    generics={"generic_type": ("type", "type_arguments"), "generic_type_with_turbofish": ("type", "type_arguments")},
    same=frozenset("Box Rc Arc Weak RefCell Cell Mutex RwLock OnceCell OnceLock LazyLock Lazy UnsafeCell Cow Option Result Pin Ref"
                   " RefMut MutexGuard RwLockReadGuard RwLockWriteGuard ManuallyDrop NonNull Reverse Saturating Wrapping Poll Future"
                   " BoxFuture LocalBoxFuture IoResult".split()),
    several=frozenset("Vec VecDeque HashSet BTreeSet BinaryHeap LinkedList SmallVec ArrayVec IndexSet FxHashSet Iterator IntoIterator"
                      " DoubleEndedIterator ExactSizeIterator Stream Receiver Peekable IntoIter Drain".split()),
    mapped=frozenset("HashMap BTreeMap IndexMap FxHashMap AHashMap DashMap".split()),
    builtins=_TYPES,
    comments=frozenset(("line_comment", "block_comment", "lifetime")),
    separators=("::",),
)  # fmt: skip


class RustWalk(PatternWalk, TokenWalk, PathWalk):
    """One pass over a Rust file.

    Attributes:
        impls: scope of an ``impl`` → (chain of the type, its text, chain of the trait or "").
        given: what ``impl`` blocks say of types: (chain of the type, name of an attribute or "" for a base, chain).
    """

    dialect = DIALECT
    overloads = True
    attached = frozenset(("attribute_item",))

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.impls: dict[int, tuple[str, str, str]] = {}
        self.given: list[tuple[str, str, str]] = []
        self.owner_names: dict[int, str] = {}
        self.impl_bounds: dict[tuple[str, str], Node] | None = None

    # ── modules and imports ───────────────────────────────────────────────────────────────────────────────────────────

    def on_module(self, node: Node, captured: Captures) -> None:
        """A module that stands in the file: its items are known by their qualified names, before and behind their place."""
        index = self.row(node, "class", captured)
        self.flag(index, "module")
        scope = self.push(node, "class", index)
        qual = self.rows[index][schema.QUAL]
        self.modules[id(scope)] = qual
        for item in captured["body"][0].named_children:
            name = item.child_by_field_name("name")
            if item.type in _ITEMS and name is not None:
                scope.names.setdefault(self.text(name), (f"{qual}.{self.text(name)}",))

    def on_import(self, node: Node, captured: Captures) -> None:
        if node.type == "mod_item":
            name = self.text(captured["name"][0])
            where = self.attribute_value(node, "path")
            self.used(name, f"mod {name}|{where}" if where else f"mod {name}", "", "m")
        elif node.type == "extern_crate_declaration":
            name = self.text(node.child_by_field_name("name"))
            self.used(self.text(node.child_by_field_name("alias")) or name, name, "", "")
        else:
            public = "p" if any(part.type == "visibility_modifier" for part in node.named_children) else ""
            for local, module, attr in self.use_tree(node.child_by_field_name("argument")):
                self.used(local, module, attr, public)

    def used(self, local: str, module: str, attr: str, flags: str) -> None:
        """Add an import; what a glob inside of something brings counts for the file."""
        if local == "*":
            if module not in ("$self", ""):
                self.imports.append([-1, "*", module, "*", flags])
        else:
            self.imported(local, module, attr, flags)

    # ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_class(self, node: Node, captured: Captures) -> None:
        body = node.child_by_field_name("body")
        index = self.row(node, "class", {**captured, "body": [body]} if body is not None else captured)
        derived = [name for part in self.attributes(node) for name in self.derived(part)]
        self.push(node, "class", index)
        self.generics(node)
        for chain in derived:
            self.base(index, chain)
        if node.type == "trait_item":
            self.flag(index, "interface")
            for part in _bounds(node.child_by_field_name("bounds")):
                self.base(index, strip_arguments(self.typed(part)))
        elif body is not None and body.type == "ordered_field_declaration_list":
            for at, part in enumerate(body.children_by_field_name("type")):
                self.attr(index, str(at), self.typed(part))

    def derived(self, attribute: Node) -> list[str]:
        """Names in ``#[derive(…)]``."""
        inner = attribute.named_child(0)
        if inner is None or self.text(inner.named_child(0)) != "derive":
            return []
        held = inner.child_by_field_name("arguments")
        return [self.head(self.text(part)) for part in held.named_children if part.type == "identifier"] if held is not None else []

    def on_impl(self, node: Node, captured: Captures) -> None:
        """Methods and attributes of a type; the trait, if there is one, is a base of it."""
        scope = self.push(node, "class", -1)
        self.generics(node)
        kind, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
        plain = head_of(kind)
        text = self.text(plain)
        chain = self.path_chain(plain) if plain is not None else "?"
        above = strip_arguments(self.path_chain(head_of(trait))) if trait is not None else ""
        self.impls[id(scope)] = chain, text, above
        if above and chain[0] not in "?#":
            self.given.append((chain, "", above))

    def on_variant(self, node: Node, captured: Captures) -> None:
        owner = self.home()
        if owner.kind == "class" and owner.sym >= 0:
            name = self.text(captured["name"][0])
            self.row(node, "field", captured)
            self.attr(owner.sym, name, "cls()")
            for field, kind in _payload(node.child_by_field_name("body")):
                self.attr(owner.sym, f"{name}${field if isinstance(field, int) else self.text(field)}", self.typed(kind))

    def on_field(self, node: Node, captured: Captures) -> None:
        above = node.parent.parent if node.parent is not None else None
        if above is not None and above.type in ("struct_item", "union_item"):
            super().on_field(node, captured)

    def on_const(self, node: Node, captured: Captures) -> None:
        name, kind, value = self.text(captured["name"][0]), *(node.child_by_field_name(part) for part in ("type", "value"))
        chain = self.typed(kind) if kind is not None else "?"
        owner, impl = self.home(), self.impl()
        if owner.kind == "function":
            owner.names[name] = (chain,)
            return
        if name == "_":
            return
        index = self.row(node, "const", {**captured, "body": [value]} if value is not None else captured)
        if impl is not None:
            self.owned_by(index, impl)
            self.given.append((impl[0], name, chain))
        elif owner.kind == "class":
            self.attr(owner.sym, name, chain)
        else:
            self.binds.setdefault(name, {})[chain] = None

    def on_alias(self, node: Node, captured: Captures) -> None:
        """Another name of a type; in an ``impl`` an associated one."""
        name, owner, impl = self.text(captured["name"][0]), self.home(), self.impl()
        chain = self.typed(node.child_by_field_name("type"))
        kind = chain[:-2] if chain.endswith("()") else "?"
        if impl is not None:
            self.given.append((impl[0], name, kind))
            if name == "Item" and impl[2].rpartition(".")[2] in ("Iterator", "IntoIterator"):
                self.given.append((impl[0], "__iter__", f"{chain}*" if chain != "?" else "?"))
        elif owner.kind == "module":
            self.row(node, "const", captured)
            self.binds.setdefault(name, {})[kind] = None
        elif owner.kind == "class" and owner.sym >= 0:
            self.row(node, "const", captured)
            self.attr(owner.sym, name, kind)
        else:
            owner.names[name] = (kind,)

    def on_macrodef(self, node: Node, captured: Captures) -> None:
        """A macro is a function whose name ends with ``!``."""
        name = self.text(captured["name"][0])
        body = next((part for part in node.children if part.type in ("{", "(", "[")), None)
        index = self.row(node, "function", {**captured, "body": [body]} if body is not None else captured, name=f"{name}!")
        self.flag(index, "macro")

    def generics(self, node: Node) -> None:
        """Type parameters have what their first bound of the repository has; those of a type that says none, what an ``impl`` of
        it asks of the parameter of that name."""
        held = node.child_by_field_name("type_parameters")
        for part in held.named_children if held is not None else ():
            if part.type == "type_parameter":
                name, bounds = part.child_by_field_name("name"), part.child_by_field_name("bounds")
                if bounds is None and node.type in ("struct_item", "enum_item"):
                    bounds = self.asked(node).get((self.text(node.child_by_field_name("name")), self.text(name)))
                self.bounded(name, bounds)
        where = next((part for part in node.named_children if part.type == "where_clause"), None)
        for part in where.named_children if where is not None else ():
            left = part.child_by_field_name("left")
            if left is not None and left.type == "type_identifier":
                self.bounded(left, part.child_by_field_name("bounds"))

    def asked(self, node: Node) -> dict[tuple[str, str], Node]:
        """(type, type parameter) → bounds, by the ``impl`` blocks beside a definition that stands outside of modules."""
        if self.impl_bounds is None:
            self.impl_bounds = {}
            for item in node.parent.named_children if node.parent is not None else ():
                held = item.child_by_field_name("type_parameters") if item.type == "impl_item" else None
                kind = self.text(head_of(item.child_by_field_name("type"))) if held is not None else ""
                for part in held.named_children if held is not None else ():
                    name, bounds = part.child_by_field_name("name"), part.child_by_field_name("bounds")
                    if part.type == "type_parameter" and name is not None and bounds is not None:
                        self.impl_bounds.setdefault((kind, self.text(name)), bounds)
        return self.impl_bounds

    def bounded(self, name: Node | None, bounds: Node | None) -> None:
        scope, text = self.scope, self.text(name)
        known = scope.names.get(text)
        for part in _bounds(bounds):
            chain = strip_arguments(self.typed(part))
            if chain[0] not in "?#" and chain.rpartition(".")[2] not in _PLAIN_BOUNDS and not chain.endswith("*"):
                scope.names[text] = (chain,)
                return
        if known is None:
            scope.names[text] = NOTHING

    # ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_function(self, node: Node, captured: Captures) -> None:
        owner, impl = self.home(), self.impl()
        inside = owner.kind == "class" and id(owner) not in self.modules
        kind = "test" if any(self.is_test(part) for part in self.attributes(node)) else "method" if inside else "function"
        index = self.row(node, kind, captured)
        if impl is not None:
            self.owned_by(index, impl)
        if node.type == "function_signature_item":
            self.flag(index, "abstract" if inside else "declared")
        self.push(node, "function", index)
        self.generics(node)
        self.returned(node, index)

    def owned_by(self, index: int, impl: tuple[str, str, str]) -> None:
        chain, text, trait = impl
        self.owners[index] = chain if chain[0] not in "?#" else text
        self.owner_names[index] = text.rpartition("::")[2] or "impl"
        if not trait:
            self.flag(index, "inherent")

    def impl(self) -> tuple[str, str, str] | None:
        """The ``impl`` whose item this is."""
        return self.impls.get(id(self.home()))

    def returned(self, node: Node, index: int) -> None:
        kind = node.child_by_field_name("return_type")
        if kind is None:
            return
        chain = self.typed(kind)
        if chain != "?":
            self.meta(index)["r"] = chain
        parts = self.tuple_types(kind)
        if any(part[0] not in "?#" for part in parts):
            self.meta(index)["cb"] = {"r": parts}

    def is_test(self, attribute: Node) -> bool:
        inner = attribute.named_child(0)
        return inner is not None and self.text(inner.named_child(0)).rpartition("::")[2] in _TESTS

    def attributes(self, node: Node) -> list[Node]:
        found = []
        while node.prev_named_sibling is not None and node.prev_named_sibling.type in ("attribute_item", "line_comment"):
            node = node.prev_named_sibling
            if node.type == "attribute_item":
                found.append(node)
        return found

    def attribute_value(self, node: Node, name: str) -> str:
        """The string an attribute before an item sets."""
        for part in self.attributes(node):
            inner = part.named_child(0)
            value = inner.child_by_field_name("value") if inner is not None else None
            if inner is not None and value is not None and self.text(inner.named_child(0)) == name:
                return self.text(value).strip('"')
        return ""

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_call(self, node: Node, captured: Captures) -> None:
        function = node.child_by_field_name("function")
        while function is not None and function.type in ("generic_function", "parenthesized_expression"):
            function = child(function, "function" if function.type == "generic_function" else "")
        if function is None:
            return
        if function.type in ("identifier", "scoped_identifier") and self.made(function):
            return
        known = [chain for chain in self.chains(function) if chain != "?" and chain[0] != "#"]
        if known:
            self.scope.calls["|".join(known) + "^0"] = None

    def made(self, function: Node) -> bool:
        """Whether a call makes a tuple struct or a variant, which is a use of its type."""
        name = function if function.type == "identifier" else function.child_by_field_name("name")
        if not self.text(name)[:1].isupper():
            return False
        if function.type == "identifier":
            chain = self.head(self.text(function))
        else:
            chain = self.path_chain(function)
            before, _, _ = chain.rpartition(".")
            chain = before if before.rpartition(".")[2][:1].isupper() else chain
        self.ref(chain)
        return True

    def ref(self, chain: str) -> None:
        if chain[0] not in "?#" and chain not in ("self", "cls") and chain[-1] not in ")]}*" and chain not in SILENT:
            self.scope.refs[chain] = None

    def on_ref(self, node: Node, captured: Captures) -> None:
        if node.type == "identifier":
            held = self.scope.find(self.text(node))
            if held is not None and (id(held), self.text(node)) in self.variables:
                return
        for chain in self.chains(node):
            self.ref(chain)
            before = chain.rpartition(".")[0]
            if node.type == "scoped_identifier" and before.rpartition(".")[2][:1].isupper():
                self.ref(before)

    def on_type(self, node: Node, captured: Captures) -> None:
        """A type that is named anywhere but where it is defined or implemented."""
        above = node.parent
        if above is None or above.type in ("scoped_type_identifier", "scoped_identifier", "type_parameter", "impl_item"):
            return
        if above.child_by_field_name("name") == node and above.type != "struct_expression":
            return
        if above.type == "generic_type" and above.parent is not None and above.parent.type == "impl_item":
            return
        if above.type == "trait_bounds" and above.parent is not None and above.parent.type == "trait_item":
            return
        self.ref(self.path_chain(node))

    def on_macro(self, node: Node, captured: Captures) -> None:
        """A macro is called. Those of the standard library take expressions, as do most that are written with parentheses; their
        calls are read from their tokens."""
        name = self.text(node.child_by_field_name("macro")).rpartition("::")[2]
        held = next((part for part in node.named_children if part.type == "token_tree"), None)
        if name not in EXPRESSIONS:
            self.scope.calls[f"{name}!"] = None
        if held is not None and (name in EXPRESSIONS or (name not in TEMPLATES and self.text(held.child(0)) == "(")):
            self.token_calls(held)

    # ── result ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def adopt(self) -> None:
        """Besides methods: what ``impl`` blocks say of types of this file."""
        super().adopt()
        for index, name in self.owner_names.items():
            row = self.rows[index]
            if row[schema.PARENT] < 0:
                row[schema.QUAL] = f"{name}.{row[schema.NAME]}"
                if row[schema.KIND] == "const":
                    row[schema.META].pop("of", None)
        run = {row[schema.QUAL] for row in self.rows if row[schema.KIND] in ("method", "function", "test")}
        for row in self.rows:  # the plain name is the getter's, not the field's
            if row[schema.KIND] == "field" and row[schema.QUAL] in run:
                row[schema.QUAL] += "#2"

    def finish(self, lang: str) -> Facts:
        classes = {row[schema.QUAL]: at for at, row in enumerate(self.rows) if row[schema.KIND] == "class"}
        for chain, name, value in self.given:
            at = classes.get(chain, -1)
            if at >= 0 and not name and value != chain:
                self.base(at, value)
            elif at >= 0 and name:
                self.attr(at, name, value)
        return super().finish(lang)


def _payload(body: Node | None) -> Iterator[tuple[int | Node, Node | None]]:
    """Number or name, and type, of the fields of a variant."""
    if body is not None and body.type == "ordered_field_declaration_list":
        yield from enumerate(body.children_by_field_name("type"))
    for part in body.named_children if body is not None and body.type == "field_declaration_list" else ():
        name = part.child_by_field_name("name")
        if part.type == "field_declaration" and name is not None:
            yield name, part.child_by_field_name("type")


def _bounds(node: Node | None) -> list[Node]:
    """Traits among bounds."""
    kinds = ("type_identifier", "scoped_type_identifier", "generic_type", "higher_ranked_trait_bound")
    return [part for part in node.named_children if part.type in kinds] if node is not None else []


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one Rust file (schema in ``facts.py``)."""
    return facts_by(RustWalk, lang, tree, data, path)

