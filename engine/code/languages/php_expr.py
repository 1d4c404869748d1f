"""PHP: what names, types and expressions are, as chains. Called by ``php.py``, whose walk builds upon it.

What may not come in: definitions, imports, other files. Names of classes are settled here, as PHP does at compile time: by the
``use`` table, else in the current namespace. A class is written ``\\Space\\Of\\It.Name`` (``\\.Name`` in the global space), a function
that falls back to the global space ``~Space.name``, a property ``.$name`` behind its object.
"""

from __future__ import annotations

from tree_sitter import Node

from mog.engine.code.languages import php_docs
from mog.engine.code.languages.declared import Walk
from mog.engine.code.languages.declared_tables import ALTERNATIVES, LIMIT, NOTHING, STEPS, Chains, Dialect

NAMES = frozenset(("name", "qualified_name", "relative_name", "namespace_name"))
_SCALARS = {
    "int": "#int", "float": "#float", "string": "#str", "bool": "#bool", "true": "#bool", "false": "#bool", "null": "#None",
    "void": "#None", "never": "#None",
}  # fmt: skip
_LITERALS = {
    "string": "#str", "encapsed_string": "#str", "heredoc": "#str", "nowdoc": "#str", "shell_command_expression": "#str",
    "integer": "#int", "float": "#float", "boolean": "#bool", "null": "#None", "array_creation_expression": "#list",
}  # fmt: skip
_THROUGH = frozenset(
    ("parenthesized_expression", "clone_expression", "error_suppression_expression", "by_ref", "argument")
)
_CASTS = {"string": "#str", "int": "#int", "integer": "#int", "float": "#float", "double": "#float", "bool": "#bool",
          "boolean": "#bool", "array": "#list"}  # fmt: skip
_CALLS = frozenset(("member_call_expression", "nullsafe_member_call_expression"))
_READS = frozenset(("member_access_expression", "nullsafe_member_access_expression"))
_LAYERS = 12


class Expressions(Walk):
    """Names, types and expressions of one PHP file."""

    dialect = Dialect(names=frozenset(("variable_name",)), comments=frozenset(("comment",)), separators=("\\",))

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.uses: dict[str, str] = {}
        self.functions: dict[str, str] = {}
        self.as_space: set[str] = set()
        self.closures: dict[int, int] = {}
        self.parents: dict[int, str] = {}
        self.roles: dict[int, str] = {}
        self.layers = 0

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def here(self) -> str:
        """The current namespace."""
        return self.spaces[-1] if self.spaces else self.space

    def full(self, written: str) -> str:
        """The full name of a class as it is written somewhere in the file."""
        if written[0] == "\\":
            return written[1:]
        head, sign, rest = written.partition("\\")
        if head.lower() == "namespace" and sign:
            return _joined(self.here(), rest)
        used = self.uses.get(head.lower())
        if used is None:
            return _joined(self.here(), written)
        if sign:
            self.as_space.add(head.lower())
        return f"{used}{sign}{rest}"

    def class_named(self, written: str) -> str:
        """The chain of a class by its written name; "?" for none."""
        written = "".join(written.split())
        low = written.lower()
        if low == "static" or (low == "self" and self.roles.get(self.enclosing()) == "trait"):
            return "cls"
        if low in ("self", "parent"):
            at = self.enclosing()
            return "?" if at < 0 else f"@{at}" if low == "self" else self.parents.get(at, "?")
        return spelled(self.full(written)) if written else "?"

    def function_named(self, written: str) -> Chains:
        """The chain of a function by its written name."""
        written = "".join(written.split())
        if "\\" in written:
            return (spelled(self.full(written)),)
        scope = self.scope.find(written)
        if scope is not None:
            return scope.names[written]
        used = self.functions.get(written.lower())
        if used is not None:
            return (spelled(used),)
        space = self.here()
        return (f"~{space}.{written}" if space else f"\\.{written}",)

    def enclosing(self) -> int:
        """The symbol of the class around, -1 for none."""
        scope = self.scope
        while scope.kind != "class" and scope.above is not None:
            scope = scope.above
        return scope.sym if scope.kind == "class" else -1

    def variable(self, name: str) -> Chains:
        """What a variable holds; functions do not see those of the file."""
        if name == "$this":
            return ("self",)
        scope = self.scope.find(name)
        if scope is not None:
            return tuple(f"?{name}" if chain == "?" else chain for chain in scope.names[name])
        return (name,) if self.home().kind == "module" else (f"?{name}",)

    # ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def kinds(self, node: Node | None) -> Chains:
        """Chains of the instances of a declared type; none where it says nothing (``array``, ``mixed``, ``object``)."""
        found: dict[str, None] = {}
        work = [node] if node is not None else []
        while work and len(found) <= ALTERNATIVES:
            one = work.pop()
            if one.type in NAMES:
                found[_instance(self.class_named(self.text(one)))] = None
            elif one.type == "primitive_type":
                scalar = _SCALARS.get(self.text(one).lower())
                if scalar is not None:
                    found[scalar] = None
            else:
                work += reversed(one.named_children)
        return tuple(found)

    def said(self, written: str) -> Chains:
        """Chains of the instances of a type written in a documentation comment."""
        return tuple(php_docs.chains(written, lambda name: _instance(self.class_named(name))))[:ALTERNATIVES]

    # ── expressions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def chains(self, node: Node | None) -> Chains:
        """What an expression evaluates to."""
        tail = ""
        for _ in range(STEPS):
            if node is None or len(tail) > LIMIT:
                break
            kind = node.type
            if kind == "variable_name":
                return self.with_tail(self.variable(self.text(node)), tail)
            if kind in _CALLS or kind in _READS:
                name = node.child_by_field_name("name")
                own = self.text(name)
                if name is None or name.type != "name":
                    return (f"?{_plain(own)}{'()' if kind in _CALLS else ''}{tail}",)
                tail = f".{own}(){tail}" if kind in _CALLS else f".${own}{tail}"
                node = node.child_by_field_name("object")
            elif kind in _THROUGH:
                node = node.named_child(0)
            elif kind == "subscript_expression":
                tail, node = f"[]{tail}", node.named_child(0)
            elif kind == "function_call_expression":
                function = node.child_by_field_name("function")
                if function is not None and function.type in NAMES:
                    return self.with_tail(self.function_named(self.text(function)), f"(){tail}")
                tail, node = f"(){tail}", function
            elif kind in ("assignment_expression", "reference_assignment_expression"):
                node = node.child_by_field_name("right")
            else:
                return self.with_tail(self.other(node), tail)
        return NOTHING

    def other(self, node: Node) -> Chains:
        """Expressions that name a class, or have several values."""
        kind = node.type
        if kind in _LITERALS:
            return (_LITERALS[kind],)
        if kind == "object_creation_expression":
            return tuple(_instance(chain) for chain in self.created(node))
        if kind.startswith("scoped_") or kind == "class_constant_access_expression":
            return self.scoped(node)
        if kind == "cast_expression":
            return (_CASTS.get(self.text(node.child_by_field_name("type")).lower(), "?"),)
        if kind in ("anonymous_function", "arrow_function"):
            at = self.closures.get(node.start_byte)
            return (f"@{at}",) if at is not None else NOTHING
        return self.several(self.alternatives(node))

    def created(self, node: Node) -> Chains:
        """The class that ``new`` makes an instance of."""
        what = next((one for one in node.named_children if one.type not in ("comment", "arguments")), None)
        if what is None:
            return NOTHING
        if what.type == "anonymous_class":
            at = self.closures.get(what.start_byte)
            return (f"@{at}",) if at is not None else NOTHING
        return (self.class_named(self.text(what)),) if what.type in NAMES else (f"?{_plain(self.text(what))}",)

    def scoped(self, node: Node) -> Chains:
        """``X::m()``, ``X::$p``, ``X::C``; ``static::m()`` is asked of the instance, whose class may be a subclass."""
        parts = [one for one in node.named_children if one.type not in ("comment", "arguments")]
        if len(parts) < 2:
            return NOTHING
        name, called = self.text(parts[1]), "()" if node.type == "scoped_call_expression" else ""
        if parts[1].type not in ("name", "variable_name") or (called and name[0] == "$"):
            return (f"?{_plain(name)}{called}",)
        if not called and name == "class":
            return NOTHING
        return self.with_tail(self.scope_of(parts[0]), f".{name}{called}")

    def scope_of(self, node: Node) -> Chains:
        """What stands before ``::``."""
        text = self.text(node)
        if node.type == "relative_scope":
            return {"static": ("self",), "parent": ("super()",)}.get(text.lower()) or (self.class_named("self"),)
        if node.type in NAMES:
            return (self.class_named(text),)
        self.layers += 1
        found = self.chains(node) if self.layers < _LAYERS else NOTHING
        self.layers -= 1
        return found

    def alternatives(self, node: Node) -> list[Node | None]:
        """The expressions one of which an expression gives."""
        kind, field = node.type, node.child_by_field_name
        if kind == "conditional_expression":
            return [field("body") or field("condition"), field("alternative")]
        if kind == "binary_expression" and self.text(field("operator")) == "??":
            return [field("left"), field("right")]
        if kind == "augmented_assignment_expression" and self.text(field("operator")) == "??=":
            return [field("left"), field("right")]
        body = field("body") if kind == "match_expression" else None
        return [arm.child_by_field_name("return_expression") for arm in body.named_children] if body is not None else []

    def several(self, nodes: list[Node | None]) -> Chains:
        """The chains of any of some expressions; unknown when they are too many."""
        self.layers += 1
        found: dict[str, None] = {}
        for node in nodes if self.layers < _LAYERS else ():
            found.update(dict.fromkeys(self.chains(node)) if node is not None else {})
        self.layers -= 1
        if len(found) > 1:
            found.pop("#None", None)
        return tuple(found) if 0 < len(found) <= ALTERNATIVES else NOTHING


def spelled(full: str) -> str:
    """The chain of a class or function by its full name."""
    space, _, name = full.rpartition("\\")
    return f"\\{space}.{name}"


def _joined(space: str, name: str) -> str:
    return f"{space}\\{name}" if space else name


def _instance(chain: str) -> str:
    return chain if chain[0] == "?" else f"{chain}()"


def _plain(text: str) -> str:
    """A computed name as it can stand in a chain."""
    return text if text.replace("$", "").replace("_", "").isalnum() and len(text) <= 60 else "…"
