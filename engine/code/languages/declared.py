"""The walk over a file of a language that declares what it names: Go, Rust, Java, C, C++, C#, Ruby, PHP. Called by their modules.

A language gives a query file whose captures name events, a :class:`Dialect` of tables, and a subclass of :class:`Walk` with what
is its own. What may not come in: recursion over the tree, other files, a rule of one language.

Events are the first capture of a pattern. ``@class @function @method @const @field @space @block @scope`` open or add something
and have a ``@name`` (``@block`` and ``@scope`` need none); ``@local @param @typeparam @import @call @return @ref`` say something
inside. A local holds from the end of its declaration on, everything else from its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.declared_tables import (
    ALTERNATIVES,
    LIMIT,
    NOTHING,
    STEPS,
    Captures,
    Chains,
    Dialect,
    Scope,
    child,
    without_arguments,
)  # fmt: skip
from mog.engine.code.languages.paths import is_test_path

# first byte, order at that byte, handler, node, captures of the match
Event = tuple[int, tuple[int, int, int], Callable[..., None], Node, Captures]

MARKED = re.compile(r"(?:\^\d+)?\(\)$")
_AROUND = 4  # nodes that begin on the line of a definition and hold it: modifiers, exports, templates
_HEAD = 4 * schema.SIGNATURE_LIMIT
_AT = re.compile(r"@(\d+)")
_COMMENT_SIGNS = re.compile(r"^\s*(?:///?!?|//|/\*\*?|\*/|\*|#+|--)?\s?|\s*\*/\s*$")


class Walk:
    """One pass over the events of a file; a language subclasses it.

    Attributes:
        rows, imports: symbol and import rows in the making. scope: the innermost scope now.
        space: namespace or package that the file declares, "" for none.
        owners: symbol → chain of the class it belongs to, where that is not the scope it stands in.
    """

    dialect: ClassVar[Dialect] = Dialect()
    overloads: ClassVar[bool] = False
    attached: ClassVar[frozenset[str]] = frozenset()
    """Kinds of nodes before a definition that belong to it (attributes)."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.path = path
        self.test_file = is_test_path(path)
        self.rows: list[list[Any]] = []
        self.imports: list[list[Any]] = []
        self.binds: dict[str, dict[str, None]] = {}
        self.module = Scope("module", -1, None)
        self.scope = self.module
        self.scopes: list[Scope] = [self.module]
        self.frames: list[tuple[int, Scope, str]] = [(len(data) + 2, self.module, "")]
        self.space = ""
        self.spaces: list[str] = []
        self.attrs: dict[int, dict[str, dict[str, None]]] = {}
        self.bases: dict[int, dict[str, None]] = {}
        self.returns: dict[int, dict[str, None]] = {}
        self.owners: dict[int, str] = {}
        self.problems: list[list[Any]] = []

    # ── the pass ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, events: list[Event]) -> None:
        """Handle all events in order; a frame ends before the first event at or behind its end."""
        for start, _, handler, node, captured in events:
            while start >= self.frames[-1][0]:
                self.pop()
            handler(self, node, captured)
        while len(self.frames) > 1:
            self.pop()

    def push(self, node: Node, kind: str, sym: int, space: str = "") -> Scope:
        """Open a scope until the end of a node."""
        self.frames.append((node.end_byte, self.scope, space))
        self.scope = Scope(kind, sym, self.scope)
        self.scopes.append(self.scope)
        if space:
            self.spaces.append(space)
        return self.scope

    def pop(self) -> None:
        _, self.scope, space = self.frames.pop()
        if space:
            self.spaces.pop()

    def text(self, node: Node | None) -> str:
        """Source text of a node, "" for none."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""

    def home(self) -> Scope:
        """The scope of the symbol that is being defined; blocks are left out."""
        scope = self.scope
        while scope.kind == "block" and scope.above is not None:
            scope = scope.above
        return scope

    # ── definitions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def on_class(self, node: Node, captured: Captures) -> None:
        index = self.row(node, "class", captured)
        self.push(node, "class", index)

    def on_function(self, node: Node, captured: Captures) -> None:
        inside = self.home().kind == "class"
        index = self.row(node, self.kind_of(node, captured, "method" if inside else "function"), captured)
        self.returned(node, index)
        self.push(node, "function", index)

    on_method = on_function

    def on_const(self, node: Node, captured: Captures) -> None:
        if self.home().kind != "function":
            self.row(node, "const", captured)

    def on_field(self, node: Node, captured: Captures) -> None:
        """A field: a symbol, and what its declared type makes of the attribute."""
        owner = self.home()
        if owner.kind != "class":
            return
        kind = node.child_by_field_name("type")
        for name in captured["name"]:
            self.row(node, "field", {"name": [name]})
            self.attr(owner.sym, self.text(name), self.typed(kind) if kind is not None else "?")

    def on_space(self, node: Node, captured: Captures) -> None:
        """A namespace: its block is a scope of its own, one without a block is the file's."""
        name = self.dotted(captured["name"][0]) if "name" in captured else ""
        above = self.spaces[-1] if self.spaces else ""
        whole = ".".join(part for part in (above, name) if part)
        if "body" in captured:
            self.push(node, "block", self.scope.sym, whole)
        else:
            self.space = whole

    def on_block(self, node: Node, captured: Captures) -> None:
        self.push(node, "block", self.scope.sym)

    def kind_of(self, node: Node, captured: Captures, kind: str) -> str:
        """``function``, ``method`` or ``test``."""
        return kind

    def row(self, node: Node, kind: str, captured: Captures, *, name: str = "") -> int:
        """Add the symbol of a definition; ``name`` where it is not what is written."""
        own = captured["name"][0]
        name = name or self.text(own)
        owner = self.home().sym
        qual = f"{self.rows[owner][schema.QUAL]}.{name}" if owner >= 0 else name
        full = self.first_of(node)
        stop = captured["body"][0].start_byte if "body" in captured else min(node.end_byte, node.start_byte + _HEAD)
        index = len(self.rows)
        self.rows.append([name, qual, kind, owner, own.start_point[0] + 1, node.end_point[0] + 1, node.start_byte, node.end_byte,
                          full.start_byte, "", "", self.signature(self.data[node.start_byte : stop]), self.doc(full), {}])  # fmt: skip
        if self.spaces and owner < 0 and self.spaces[-1] != self.space:
            self.meta(index)["ns"] = self.spaces[-1]
        if kind in ("class", "function", "test") and self.scope.kind != "module" and self.home().kind != "class":
            self.scope.names[name] = (f"@{index}",)
        return index

    def first_of(self, node: Node) -> Node:
        """Where a definition begins: at the attributes before it."""
        while self.attached and node.prev_sibling is not None and node.prev_sibling.type in self.attached:
            node = node.prev_sibling
        return node

    def signature(self, head: bytes) -> str:
        return schema.one_line(head.rstrip(b" \t\r\n\f{;=:").decode("utf-8", "replace"))

    def doc(self, node: Node) -> str:
        """The comment that ends on the line before a definition, without its signs, in one line."""
        found: list[str] = []
        for _ in range(_AROUND):
            above = node.parent
            if above is None or above.parent is None or above.start_point[0] != node.start_point[0]:
                break
            node = above
        line, at = node.start_point[0], node.prev_sibling
        while at is not None and at.type in self.dialect.comments and line - 1 <= at.end_point[0] <= line and len(found) < 40:
            text = self.text(at)[: 4 * schema.DOC_LIMIT]
            found.insert(0, "\n".join(_COMMENT_SIGNS.sub("", part) for part in text.splitlines()))
            line, at = at.start_point[0], at.prev_sibling
        words = "\n".join(found).strip().partition("\n\n")[0]
        return " ".join(words.split())[: schema.DOC_LIMIT]

    def meta(self, index: int) -> dict[str, Any]:
        return self.rows[index][schema.META]  # type: ignore[no-any-return]

    def flag(self, index: int, *flags: str) -> None:
        """Add to the flags of a symbol."""
        held = self.meta(index).setdefault("x", [])
        held += [one for one in flags if one not in held]

    def attr(self, index: int, name: str, chain: str) -> None:
        """What an attribute of a class is."""
        self.attrs.setdefault(index, {}).setdefault(name, {})[chain] = None

    def base(self, index: int, chain: str) -> None:
        """A base of a class."""
        if chain and chain[0] != "?":
            self.bases.setdefault(index, {})[chain] = None

    def returned(self, node: Node, index: int) -> None:
        """What a function is declared to hand back; a language without such declarations leaves it to ``@return``."""

    def counted(self, index: int, least: int, most: int) -> None:
        """How many arguments a function takes; ``most`` -1 for any."""
        self.meta(index)["n"] = [least, most]

    # ── bindings ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def bind(self, name: str, chains: Chains, *, typed: bool = False) -> None:
        """Bind a local name; one that is bound again without a type may be either."""
        scope = self.scope
        if not name or name == "_":
            return
        if scope.kind == "module":
            self.binds.setdefault(name, {}).update(dict.fromkeys(chains))
            return
        if typed:
            scope.names[name] = chains
            scope.typed.add(name)
            return
        scope.names[name] = chains

    def rebind(self, name: str, chains: Chains) -> None:
        """An assignment to a name that may be bound already: where it has no type it may be either."""
        scope = self.scope.find(name)
        if scope is None or scope.kind == "class":
            self.bind(name, chains)
        elif name not in scope.typed:
            held = dict.fromkeys((*scope.names[name], *chains))
            scope.names[name] = tuple(held) if len(held) <= ALTERNATIVES else NOTHING

    def on_param(self, node: Node, captured: Captures) -> None:
        """Parameters with a declared type; every ``@name`` of the match is one."""
        kind = node.child_by_field_name("type")
        chains = (self.typed(kind),) if kind is not None else NOTHING
        for name in captured.get("name", ()):
            self.bind(self.text(name), chains, typed=True)

    def on_local(self, node: Node, captured: Captures) -> None:
        """A declaration with a type, or with a value whose chains it takes."""
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        chains = (self.typed(kind),) if kind is not None else self.chains(value) if value is not None else NOTHING
        for name in captured.get("name", ()):
            self.bind(self.text(name), chains, typed=kind is not None)

    def on_typeparam(self, node: Node, captured: Captures) -> None:
        """A type parameter hides a type of that name."""
        for name in captured.get("name", ()):
            self.scope.names[self.text(name)] = NOTHING

    def on_import(self, node: Node, captured: Captures) -> None:
        raise NotImplementedError

    def imported(self, local: str, module: str, attr: str = "", flags: str = "") -> None:
        """Add an import: of a whole module (``attr`` ""), of a name of it, or of all its names (``local`` and ``attr`` ``*``)."""
        scope = self.home().sym
        self.imports.append([scope, local, module, attr, flags])
        if scope >= 0 and local != "*":
            self.home().names[local] = (f"%{len(self.imports) - 1}",)

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_call(self, node: Node, captured: Captures) -> None:
        called = [MARKED.sub("", chain) for chain in self.chains(node)]
        known = [chain for chain in called if chain != "?"]
        if known:
            self.scope.calls["|".join(known[:ALTERNATIVES]) + self.mark(node)] = None

    def mark(self, node: Node) -> str:
        """What stands behind the name of what a call calls, in a language with overloads: the number of its arguments."""
        return f"^{self.arguments(node)}" if self.overloads else ""

    def called(self, name: str) -> Chains:
        """Chains of a bare name that is called; a language in which locals and functions are apart says so."""
        return self.name(name)

    def arguments(self, node: Node) -> int:
        """How many arguments a call passes."""
        dialect = self.dialect
        fields = dialect.calls.get(node.type) or dialect.invocations.get(node.type) or dialect.news.get(node.type)
        held = node.child_by_field_name(fields[-1]) if fields and fields[-1] else None
        return sum(child.type not in dialect.comments for child in held.named_children) if held is not None else 0

    def on_return(self, node: Node, captured: Captures) -> None:
        """What a function without a declared type hands back."""
        owner = self.home()
        value = node.named_child(0) if node.named_child_count else None
        if owner.kind == "function" and owner.sym >= 0 and value is not None:
            self.returns.setdefault(owner.sym, {}).update(dict.fromkeys(self.chains(value)))

    def on_ref(self, node: Node, captured: Captures) -> None:
        for chain in self.chains(node):
            if chain[0] not in "?#":
                self.scope.refs[chain] = None

    # ── chains ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def name(self, name: str) -> Chains:
        """Chains of a name: what it is bound to, ``?name`` where that is unknown, else itself."""
        if name in self.dialect.selfs:
            return (self.dialect.selfs[name],)
        scope = self.scope.find(name)
        if scope is None:
            return (name,) if name else NOTHING
        return tuple(f"?{name}" if chain == "?" else chain for chain in scope.names[name])

    def member_tail(self, node: Node, own: str) -> str:
        """What ``a.b`` asks of ``a``."""
        return f".{self.text(child(node, own))}"

    def special(self, node: Node) -> Chains | None:
        """Chains of a kind of expression that the tables do not know; None for unknown."""
        return None

    def step(self, node: Node) -> tuple[Node | None, str] | None:
        """For a kind of expression that the tables do not know: the expression it rests on, and what is done to that."""
        return None

    def chains(self, node: Node | None) -> Chains:
        """What an expression evaluates to."""
        dialect, steps, tail = self.dialect, 0, ""
        while node is not None and steps < STEPS and len(tail) < LIMIT:
            steps += 1
            kind = node.type
            if kind in dialect.names:
                return self.with_tail(self.name(self.text(node)), tail)
            if kind in dialect.members:
                at, own = dialect.members[kind]
                tail = f"{self.member_tail(node, own)}{tail}"
                node = child(node, at)
            elif kind in dialect.calls:
                tail = f"{self.mark(node)}(){tail}"
                node = child(node, dialect.calls[kind][0])
            elif kind in dialect.invocations:
                at, own, _ = dialect.invocations[kind]
                name, tail = self.text(node.child_by_field_name(own)), f"{self.mark(node)}(){tail}"
                node = node.child_by_field_name(at)
                if node is None:
                    return self.with_tail(self.called(name), tail)
                tail = f".{name}{tail}"
            elif kind in dialect.through:
                node = child(node, dialect.through[kind])
            elif kind in dialect.items:
                tail = f"[]{tail}"
                node = child(node, dialect.items[kind])
            elif kind in dialect.news:
                return self.with_tail((self.typed(child(node, dialect.news[kind][0])),), tail)
            elif kind in dialect.casts:
                return self.with_tail((self.typed(child(node, dialect.casts[kind])),), tail)
            elif kind in dialect.literals:
                return self.with_tail((dialect.literals[kind],), tail)
            elif kind in dialect.selfs:
                return self.with_tail((dialect.selfs[kind],), tail)
            else:
                found = self.special(node)
                onward = self.step(node) if found is None else None
                if onward is None:
                    return self.with_tail(found or NOTHING, tail)
                node, tail = onward[0], f"{onward[1]}{tail}"
        return NOTHING

    def with_tail(self, heads: Chains, tail: str) -> Chains:
        return tuple(f"{head}{tail}" if len(head) + len(tail) <= LIMIT else "?" for head in heads)

    def typed(self, node: Node | None) -> str:
        """The chain of an instance of a written type; "?" for unknown."""
        dialect, steps, tail = self.dialect, 0, ""
        while node is not None and steps < STEPS:
            steps += 1
            kind = node.type
            if kind in dialect.type_names:
                return self.instance(self.text(node), tail)
            if kind in dialect.type_members:
                return self.instance(self.dotted(node), tail)
            if kind in dialect.type_through:
                node = child(node, dialect.type_through[kind])
            elif kind in dialect.many:
                tail, node = f"*{tail}", child(node, dialect.many[kind])
            elif kind in dialect.keyed:
                tail, node = f"*{tail}", child(node, dialect.keyed[kind])
            elif kind in dialect.generics:
                at, inside = dialect.generics[kind]
                base, held = child(node, at), child(node, inside)
                name = self.dotted(base).rpartition(".")[2] if base is not None else ""
                given = [one for one in held.named_children if one.type not in dialect.comments] if held is not None else []
                if given and not self.holds(name):
                    node = base
                elif given and name in dialect.same:
                    node = given[0]
                elif given and name in dialect.several:
                    tail, node = f"*{tail}", given[0]
                elif given and name in dialect.mapped:
                    tail, node = f"*{tail}", given[-1]
                else:
                    node = base
            else:
                found = self.special_type(node)
                return f"{found}{tail}" if found != "?" else "?"
        return "?"

    def holds(self, name: str) -> bool:
        """Whether the tables' name of a type that holds others is the library's in this file."""
        return True

    def special_type(self, node: Node) -> str:
        """Chain of an instance of a kind of type that the tables do not know; "?" for unknown."""
        return "?"

    def instance(self, name: str, tail: str) -> str:
        """The chain of an instance of the type of that (dotted) name."""
        builtin = self.dialect.builtins.get(name)
        if builtin:
            return f"{builtin}{tail}"
        head, dot, rest = name.partition(".")
        (chain, *_) = self.name(head)
        if chain[0] == "?" or chain == "self":
            return "?"
        return f"{chain}{dot}{rest}(){tail}" if len(chain) + len(name) <= LIMIT else "?"

    def dotted(self, node: Node) -> str:
        """A written path with dots between its parts and without type arguments."""
        text = "".join(self.text(node).split())
        for sign in self.dialect.separators:
            text = text.replace(sign, ".")
        return without_arguments(text).strip(".")

    # ── result ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self, lang: str) -> Facts:
        """The facts of what was walked."""
        for index, held in self.bases.items():
            self.meta(index)["b"] = " ".join(held)
        for index, attrs in self.attrs.items():
            self.meta(index)["a"] = {name: known(chains) for name, chains in attrs.items()}
        for index, held in self.returns.items():
            self.meta(index).setdefault("r", known(held))
        self.adopt()
        found = schema.empty(lang)
        found["syms"], found["imports"], found["problems"] = self.rows, self.imports, self.problems
        found["binds"] = {name: known(held) for name, held in self.binds.items()}
        found["calls"] = [[scope.sym, " ".join(scope.calls)] for scope in self.own() if scope.calls]
        found["refs"] = [[scope.sym, " ".join(scope.refs)] for scope in self.own() if scope.refs]
        if self.space:
            found["space"] = self.space
        parents_first(found)
        schema.unique_quals(found["syms"])
        return found

    def own(self) -> list[Scope]:
        """Scopes that keep uses of their own."""
        return [scope for scope in self.scopes if scope.above is None or scope.above.calls is not scope.calls]

    def adopt(self) -> None:
        """Methods defined apart from their class: below it where it is of this file, else told apart by ``of``."""
        classes = {row[schema.QUAL]: at for at, row in enumerate(self.rows) if row[schema.KIND] == "class"}
        for index, chain in self.owners.items():
            row, name = self.rows[index], chain.rpartition("@")[2] if chain[0] == "@" else chain
            at = int(name) if chain[0] == "@" and name.isdigit() else classes.get(chain, -1)
            if at >= 0:
                row[schema.PARENT], row[schema.QUAL] = at, f"{self.rows[at][schema.QUAL]}.{row[schema.NAME]}"
                row[schema.META].pop("ns", None)
            else:
                row[schema.QUAL] = f"{chain.lstrip('@%')}.{row[schema.NAME]}"
                row[schema.META]["of"] = chain
            if row[schema.KIND] == "function":
                row[schema.KIND] = "method"


def known(held: Mapping[str, None]) -> str:
    """Chains in one string, without "unknown" and "nothing" where there are better ones; "?" when there are too many."""
    kept = [chain for chain in held if chain[0] != "?" and chain != "#None"]
    if not kept:
        return "#None" if held and all(chain == "#None" for chain in held) else "?"
    return " ".join(kept) if len(kept) <= ALTERNATIVES else "?"


def parents_first(found: Facts) -> None:
    """Order symbols so that none stands before the one it is defined in; pointers follow."""
    rows = found["syms"]
    if all(row[schema.PARENT] < at for at, row in enumerate(rows)):
        return
    order: list[int] = []
    placed: set[int] = set()
    for at in range(len(rows)):
        line = []
        while at >= 0 and at not in placed and at not in line:
            line.append(at)
            at = rows[at][schema.PARENT]
        placed.update(line)
        order += reversed(line)
    new = {old: at for at, old in enumerate(order)} | {-1: -1}

    def moved(text: str) -> str:
        return _AT.sub(lambda match: f"@{new.get(int(match.group(1)), -1)}", text) if "@" in text else text

    found["syms"] = [rows[old] for old in order]
    for row in found["syms"]:
        row[schema.PARENT] = new[row[schema.PARENT]]
        meta = row[schema.META]
        for key in meta.keys() & {"b", "r", "d", "y", "m", "of"}:
            meta[key] = moved(meta[key])
        if "a" in meta:
            meta["a"] = {name: moved(held) for name, held in meta["a"].items()}
    found["binds"] = {name: moved(held) for name, held in found["binds"].items()}
    for key in ("calls", "refs"):
        found[key] = [[new[scope], moved(held)] for scope, held in found[key]]
    found["imports"] = [[new[scope], *rest] for scope, *rest in found["imports"]]
