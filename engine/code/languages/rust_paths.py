"""Paths of Rust in the walk over a file: heads, ``use`` trees, types by path. Called by ``rust.py``.

What may not come in: other files. A path is a chain with dots; its head is ``crate``, ``$self``, ``$super``, ``cls``, the qualified
name of a module or item of this file, or a name for the linker.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from mog.engine.code.languages.declared import Walk
from mog.engine.code.languages.declared_tables import LIMIT, Chains, Scope, child

STEPS = 40
USES = 400
_WRAPPERS = frozenset("Box Rc Arc RefCell Cell Mutex RwLock Cow Some Ok Pin OnceCell OnceLock ManuallyDrop Reverse Wrapping".split())
_WRAPS = frozenset("new clone from pin Owned Borrowed".split())


class PathWalk(Walk):
    """Paths and the expressions that rest on them.

    Attributes:
        modules: scope of a module in the file → its qualified name.
        variables: (scope, name) of what is bound by a pattern: a path never begins with one.
    """

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.modules: dict[int, str] = {}
        self.variables: set[tuple[int, str]] = set()

    def bind(self, name: str, chains: Chains, *, typed: bool = False) -> None:
        if self.scope.kind != "module":
            super().bind(name, chains, typed=typed)
            self.variables.add((id(self.scope), name))

    def depth(self) -> list[str]:
        """Qualified names of the modules in this file around here, the outermost first."""
        found: list[str] = []
        scope: Scope | None = self.scope
        while scope is not None:
            if id(scope) in self.modules:
                found.insert(0, self.modules[id(scope)])
            scope = scope.above
        return found

    def head(self, name: str) -> str:
        """The chain that a path's first name stands for."""
        if name == "Self":
            return "cls"
        scope = self.scope.find(name)
        while scope is not None and (id(scope), name) in self.variables:
            scope = scope.above.find(name) if scope.above is not None else None
        held = scope.names[name][0] if scope is not None else name
        return f"?{name}" if held == "?" else held

    def joined(self, names: list[str]) -> str:
        """A path's names as a chain; where it is not known "?"."""
        if not names:
            return "?"
        around = self.depth()
        if names[0] == "self":
            names = [around[-1] if around else "$self", *names[1:]]
        elif names[0] == "super":
            count = next((at for at, name in enumerate(names) if name != "super"), len(names))
            over = count - len(around)
            head = ["$super"] * over if over > 0 else [around[len(around) - count - 1] if over < 0 else "$self"]
            names = [*head, *names[count:]]
        elif names[0] != "crate":
            names = [self.head(names[0]), *names[1:]]
        text = ".".join(names)
        return text if len(text) <= LIMIT else "?"

    def names_of(self, node: Node | None) -> list[str]:
        """The names of a written path, type arguments left out; none where it begins with something else."""
        found: list[str] = []
        for _ in range(STEPS):
            if node is None:
                return found
            if node.type in ("scoped_identifier", "scoped_type_identifier", "scoped_use_list"):
                name = node.child_by_field_name("name")
                if name is not None:
                    found.insert(0, self.text(name))
                node = node.child_by_field_name("path")
            elif node.type in ("generic_type", "generic_type_with_turbofish", "qualified_type"):
                node = node.child_by_field_name("type")
            elif node.type in ("bracketed_type", "reference_type"):
                node = node.named_child(node.named_child_count - 1) if node.named_child_count else None
            elif node.type in ("identifier", "type_identifier", "self", "super", "crate", "primitive_type", "metavariable"):
                return [self.text(node), *found]
            else:
                return []
        return []

    def path_chain(self, node: Node | None) -> str:
        """The chain of a written path."""
        return self.joined(self.names_of(node))

    def use_tree(self, node: Node | None) -> Iterator[tuple[str, str, str]]:
        """(local name, module, name in it) of everything a ``use`` brings; a glob has ``*`` for both names."""
        work: list[tuple[Node, list[str]]] = [(node, [])] if node is not None else []
        for _ in range(USES):
            if not work:
                return
            at, before = work.pop()
            if at.type == "use_list":
                work += [(part, before) for part in reversed(at.named_children)]
            elif at.type == "scoped_use_list":
                held = at.child_by_field_name("list")
                if held is not None:
                    work.append((held, before + self.names_of(at.child_by_field_name("path"))))
            elif at.type == "use_wildcard":
                yield "*", self.module_path(before + self.names_of(at.named_child(0))), "*"
            elif at.type == "use_as_clause":
                yield self.brought(before + self.names_of(at.child_by_field_name("path")), self.text(at.child_by_field_name("alias")))
            elif at.type in ("identifier", "scoped_identifier", "self", "crate", "super"):
                yield self.brought(before + self.names_of(at), "")

    def brought(self, names: list[str], alias: str) -> tuple[str, str, str]:
        if len(names) > 1 and names[-1] == "self":
            names = names[:-1]
        local = alias or (names[-1] if names else "")
        if len(names) == 1:
            return local, self.module_path(names), ""
        return local, self.module_path(names[:-1]), names[-1]

    def module_path(self, names: list[str]) -> str:
        """A path in an import: from the file's module, whatever is bound around it."""
        if not names or names[0] in ("self", "super"):
            return self.joined(names or ["self"])
        around = self.depth()
        if around and names[0] != "crate":
            held = self.scope.find(names[0])
            if held is not None and held.names[names[0]][0][:1] not in "?%":
                return ".".join([held.names[names[0]][0], *names[1:]])
        return ".".join(names)

    # ── expressions and types ─────────────────────────────────────────────────────────────────────────────────────────

    def special(self, node: Node) -> Chains | None:
        return (self.path_chain(node),) if node.type == "scoped_identifier" else None

    def step(self, node: Node) -> tuple[Node | None, str] | None:
        """What an expression rests on: dereferences, calls, and what a wrapper is made of."""
        if node.type == "unary_expression":
            sign = node.child(0)
            return (node.named_child(0), "") if sign is not None and sign.type == "*" else None
        if node.type == "array_expression" and node.named_child_count:
            return node.named_child(0), "*"
        if node.type != "call_expression":
            return None
        function = node.child_by_field_name("function")
        while function is not None and function.type in ("generic_function", "parenthesized_expression"):
            function = child(function, "function" if function.type == "generic_function" else "")
        arguments = node.child_by_field_name("arguments")
        held = [one for one in arguments.named_children if one.type not in self.dialect.comments] if arguments is not None else []
        if function is not None and len(held) == 1 and self.wraps(function):
            return held[0], ""
        return function, "()"

    def wraps(self, function: Node) -> bool:
        """Whether a call makes a wrapper of its argument: ``Box::new``, ``Rc::clone``, ``Some``."""
        names = self.names_of(function) if function.type in ("identifier", "scoped_identifier") else []
        if len(names) == 1:
            return names[0] in ("Some", "Ok") and self.scope.find(names[0]) is None
        return len(names) > 1 and names[-1] in _WRAPS and names[-2] in _WRAPPERS

    def special_type(self, node: Node) -> str:
        if node.type == "scoped_type_identifier":
            chain = self.path_chain(node)
            return f"{chain}()" if chain[0] != "?" else "?"
        if node.type == "type_binding":
            return self.typed(node.child_by_field_name("type"))
        if node.type == "higher_ranked_trait_bound":
            return self.typed(node.child_by_field_name("type"))
        return "?"

    def instance(self, name: str, tail: str) -> str:
        if name == "Self":
            return f"cls(){tail}"
        return super().instance(name, tail)

    def tuple_types(self, node: Node | None) -> list[str]:
        """Chains of the parts of a tuple type, also inside of an option or result; none where it is no tuple."""
        for _ in range(STEPS):
            if node is None or node.type == "tuple_type":
                break
            if node.type == "reference_type":
                node = node.child_by_field_name("type")
                continue
            held = node.child_by_field_name("type_arguments") if node.type == "generic_type" else None
            name = self.dotted(node.child_by_field_name("type") or node).rpartition(".")[2]
            if held is None or name not in self.dialect.same or not held.named_child_count:
                return []
            node = held.named_child(0)
        return [self.typed(part) for part in node.named_children] if node is not None else []


def head_of(node: Node | None) -> Node | None:
    """The named type that an ``impl`` is for, references and type arguments left out."""
    for _ in range(STEPS):
        if node is None or node.type not in ("reference_type", "generic_type", "pointer_type", "dynamic_type", "bracketed_type"):
            break
        node = node.child_by_field_name("type") or node.child_by_field_name("trait") or node.named_child(0)
    return node


def strip_arguments(chain: str) -> str:
    """The chain of a class from that of its instance."""
    return chain[:-2] if chain.endswith("()") else chain

