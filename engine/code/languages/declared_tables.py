"""What a language of the shared walk declares: how its nodes are read, and scopes. Called by ``declared`` and the languages.

What may not come in: the walk, a rule of one language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

Chains = tuple[str, ...]
Captures = dict[str, list[Node]]

NOTHING: Chains = ("?",)
LIMIT = 200
ALTERNATIVES = 4
STEPS = 60


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the nodes of one grammar are read. Kinds of nodes → names of fields; as a field "" means the first named child, "-1" the
    last.

    Attributes:
        names: kinds that are a plain name.
        members: ``a.b`` → (field of a, field of b). calls: ``f(x)`` → (field of f, field of the arguments).
        invocations: ``a.f(x)`` as one node → (field of a, field of f, field of the arguments).
        news: ``new T(x)`` → (field of the type, field of the arguments). items: ``a[i]`` → field of a.
        through: what stands for the expression inside. casts: → field of the type.
        literals: → the builtin type's instance (``#str``). selfs: kind or name → ``self``, ``cls`` or ``super()``.
        type_names: kinds that are a plain name of a type. type_members: qualified names of types → (field of the space, of the name).
        type_through: pointers and the like → field of the type meant. many: collections → field of the item; keyed: → of the value.
        generics: ``T<U>`` → (field of T, field of the arguments); same, several, mapped: names of such T that stand for their
        first argument, for a collection of it, for a mapping to their last.
        builtins: names of builtin types → the builtin type's instance.
        comments: kinds of comments. separators: between the parts of a written path, longest first.
    """

    names: frozenset[str] = frozenset(("identifier",))
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    calls: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    invocations: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    news: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    through: Mapping[str, str] = field(default_factory=dict)
    casts: Mapping[str, str] = field(default_factory=dict)
    literals: Mapping[str, str] = field(default_factory=dict)
    selfs: Mapping[str, str] = field(default_factory=dict)
    type_names: frozenset[str] = frozenset(("type_identifier",))
    type_members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    type_through: Mapping[str, str] = field(default_factory=dict)
    many: Mapping[str, str] = field(default_factory=dict)
    keyed: Mapping[str, str] = field(default_factory=dict)
    generics: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    same: frozenset[str] = frozenset()
    several: frozenset[str] = frozenset()
    mapped: frozenset[str] = frozenset()
    builtins: Mapping[str, str] = field(default_factory=dict)
    comments: frozenset[str] = frozenset(("comment", "line_comment", "block_comment"))
    separators: tuple[str, ...] = (".",)


class Scope:
    """A lexical scope of kind ``module``, ``class``, ``function`` or ``block``; ``sym`` is the symbol it belongs to, -1 for none.

    ``names`` holds what is bound in it; ``calls`` and ``refs`` are kept where a symbol's own scope begins.
    """

    __slots__ = ("kind", "sym", "above", "names", "typed", "calls", "refs")

    def __init__(self, kind: str, sym: int, above: Scope | None) -> None:
        self.kind = kind
        self.sym = sym
        self.above = above
        self.names: dict[str, Chains] = {}
        self.typed: set[str] = set()
        own = above is None or above.sym != sym
        self.calls: dict[str, None] = {} if own or above is None else above.calls
        self.refs: dict[str, None] = {} if own or above is None else above.refs

    def find(self, name: str) -> Scope | None:
        """The innermost scope that binds a name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.above
        return scope


def child(node: Node, name: str) -> Node | None:
    """A field of a node, or its first named child where the field is "", its last where it is "-1"."""
    if name and name != "-1":
        return node.child_by_field_name(name)
    return node.named_child(-1 % node.named_child_count if name else 0) if node.named_child_count else None


def without_arguments(text: str) -> str:
    """A name without what stands in angle or square brackets."""
    if "<" not in text and "[" not in text:
        return text
    depth, out = 0, []
    for char in text:
        depth += char in "<["
        if depth <= 0:
            out.append(char)
        depth -= char in ">]"
    return "".join(out)
