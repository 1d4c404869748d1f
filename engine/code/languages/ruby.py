"""Ruby: what is its own in the walk over a file. Called by ``engine/code/extract.py``; the walk itself is ``declared.py``.

What may not come in: other files, load paths (``link_ruby.py``), how an expression reads (``ruby_expr.py``). Modules are classes;
``include`` and ``prepend`` are bases, ``extend`` gives a class the methods of a module. A method of the class itself is flagged
``singleton``; an attribute declared with ``attr_*`` is a field, flagged ``accessor`` where reading it is a call.
"""

from __future__ import annotations

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.declared_events import facts_by
from mog.engine.code.languages.declared_tables import ALTERNATIVES, NOTHING, Captures, Chains, Scope
from mog.engine.code.languages.ruby_expr import METHOD, SAME
from mog.engine.code.languages.ruby_macros import Macros

VERSION = 2

_SIDED = frozenset(("pair", "assignment", "binary"))  # a constant on the left is no value here
_HOLDERS = _SIDED | {"argument_list", "array", "exceptions", "pattern"}
_MAKERS = {"Class": "class", "Module": "module", "Struct": "struct", "Data": "struct"}


class RubyWalk(Macros):
    """One pass over a Ruby file."""

    # ── classes ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_class(self, node: Node, captured: Captures) -> None:
        index = self.opened(node, captured["name"][0])
        if node.type == "module":
            self.flag(index, "module")
        above = node.child_by_field_name("superclass")
        what = above.named_child(0) if above is not None else None
        if what is not None:
            self.derived(what, index)
        self.enter_class(node, index)

    def opened(self, node: Node, name: Node) -> int:
        """The row of a class; its qualified name is its full path."""
        written = "".join(self.text(name).split())
        around = self.nesting().partition(">")[0] if not written.startswith("::") else ""
        path = "/".join(part for part in (around, written.removeprefix("::").replace("::", "/")) if part)
        index = self.row(node, "class", {"name": [name]}, name=path.rpartition("/")[2])
        row = self.rows[index]
        row[schema.QUAL], row[schema.PARENT] = path.replace("/", "."), self.owner() if around else -1
        row[schema.SIG] = self.signature(
            self.data[node.start_byte : node.start_byte + schema.SIGNATURE_LIMIT].partition(b"\n")[0]
        )
        return index

    def derived(self, what: Node, index: int) -> None:
        """The superclass, which may be a ``Struct`` made on the spot."""
        if what.type in ("constant", "scope_resolution"):
            self.above_of[index] = self.constant(what, base=True)
        elif what.type == "call":
            receiver = what.child_by_field_name("receiver")
            if receiver is not None and self.text(receiver) in ("Struct", "Data"):
                self.above_of[index] = self.constant(receiver, base=True)
                self.fields(what, index)

    def enter_class(self, node: Node, index: int, *, path: str = "") -> Scope:
        scope = self.push(node, "class", index)
        self.selves[id(scope)] = "cls"
        self.barriers.add(id(scope))
        self.paths[id(scope)] = path or self.rows[index][schema.QUAL].replace(".", "/")
        self.visibility.pop(id(scope), None)
        return scope

    def on_meta(self, node: Node, captured: Captures) -> None:
        """``class << self``: what is defined inside is the class's own."""
        owner = self.owner()
        scope = self.push(node, "class" if owner >= 0 else "block", owner)
        self.selves[id(scope)] = "cls"
        self.barriers.add(id(scope))
        self.metas.add(id(scope))

    def on_constant(self, node: Node, captured: Captures) -> None:
        """``X = …``: a constant; a class where it is made by ``Class.new``, ``Struct.new`` and the like."""
        name, value = captured["name"][0], captured["value"][0]
        receiver = value.child_by_field_name("receiver") if value.type == "call" else None
        made = _MAKERS.get(self.text(receiver)) if receiver is not None else None
        if made and self.text(value.child_by_field_name("method")) in ("new", "define"):
            index = self.opened(node, name)
            if made == "module":
                self.flag(index, "module")
            elif made == "struct" and receiver is not None:
                self.above_of[index] = self.constant(receiver, base=True)
                self.fields(value, index)
            else:
                held = value.child_by_field_name("arguments")
                first = held.named_child(0) if held is not None else None
                if first is not None:
                    self.derived(first, index)
            block = value.child_by_field_name("block")
            if block is not None:
                self.blocks[block.start_byte] = ("class", index)
            return
        if self.home().kind in ("class", "module"):
            own = self.text(name).rpartition("::")[2]
            index = self.row(node, "const", {"name": [name]}, name=own)
            self.rows[index][schema.SIG] = self.text(name)
            for chain in self.chains(value):
                if self.home().kind == "class":
                    self.attr(self.home().sym, f"::{own}", chain)
                else:
                    self.binds.setdefault(own, {})[chain] = None

    # ── methods ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_method(self, node: Node, captured: Captures) -> None:
        name = self.text(captured["name"][0])
        target = node.child_by_field_name("object")
        inside = self.home().kind == "class"
        own = inside and (target is not None or self.in_meta())
        kind = "method" if inside else "function"
        if self.test_file and inside and not own and name.startswith("test_"):
            kind = "test"
        index = self.row(node, kind, captured)
        self.rows[index][schema.SIG] = self.head_of(node)
        if own:
            self.flag(index, "singleton")
        elif inside and id(self.scope) in self.module_functions:
            self.flag(index, "both")
        self.enter_method(node, index, name, own)
        self.parameters(node.child_by_field_name("parameters"))
        body = node.child_by_field_name("body")
        if body is not None:
            self.bodies[id(self.scope)] = body

    def enter_method(self, node: Node, index: int, name: str, own: bool) -> None:
        inside = self.home().kind == "class"
        scope = self.push(node, "function", index)
        self.selves[id(scope)] = "cls" if own else "self" if inside else "~"
        self.barriers.add(id(scope))
        if METHOD.match(name):
            self.methods[id(scope)] = f"::{name}" if own else name

    def pop(self) -> None:
        """A method hands back its last expression, read where its locals still hold."""
        body = (
            self.bodies.pop(id(self.scope), None)
            if not (self.branches and self.branches[-1][0] == len(self.frames))
            else None
        )
        if body is not None and self.scope.sym >= 0:
            self.returns.setdefault(self.scope.sym, {}).update(dict.fromkeys(self.chains(body)))
        super().pop()

    def parameters(self, node: Node | None) -> None:
        """Bind parameters, which say nothing of their types."""
        for one in node.named_children if node is not None else ():
            name = one if one.type == "identifier" else one.child_by_field_name("name")
            if name is not None:
                self.scope.names[self.text(name)] = NOTHING
            elif one.type == "destructured_parameter":
                self.scope.names.update(
                    (self.text(inner), NOTHING) for inner in one.named_children if inner.type == "identifier"
                )

    def head_of(self, node: Node) -> str:
        """The first line of a method with all of its parameters."""
        held = node.child_by_field_name("parameters") or node.child_by_field_name("name")
        stop = held.end_byte if held is not None else node.end_byte
        return self.signature(self.data[node.start_byte : stop])

    def on_alias(self, node: Node, captured: Captures) -> None:
        """``alias new old``."""
        new, old = node.child_by_field_name("name"), node.child_by_field_name("alias")
        self.aliased(self.text(new).lstrip(":"), self.text(old).lstrip(":"))

    # ── blocks and locals ─────────────────────────────────────────────────────────────────────────────────────────────

    def on_block(self, node: Node, captured: Captures) -> None:
        """A block sees the locals around it; some calls give theirs another meaning."""
        what, index = self.blocks.pop(node.start_byte, ("", -1))
        if what == "class":
            self.enter_class(node, index)
        elif what == "method":
            name = self.rows[index][schema.NAME]
            self.enter_method(node, index, name, self.in_meta())
            self.barriers.discard(id(self.scope))
        else:
            self.push(node, "block", self.scope.sym)
        self.parameters(node.child_by_field_name("parameters"))
        yielded = self.yielded.pop(node.start_byte, None)
        held = node.child_by_field_name("parameters")
        if yielded and held is not None and held.named_child_count and held.named_children[0].type == "identifier":
            self.scope.names[self.text(held.named_children[0])] = yielded

    def on_local(self, node: Node, captured: Captures) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if node.type == "operator_assignment" and self.text(node.child_by_field_name("operator")) not in ("||=", "&&="):
            return
        kind = left.type
        if kind == "identifier":
            name = self.text(left)
            held = (self.local(name) or ()) if node.type == "operator_assignment" else ()
            self.assign(name, tuple(dict.fromkeys((*held, *self.chains(right)))))
        elif kind == "left_assignment_list":
            values = right.named_children if right.type == "right_assignment_list" else []
            for at, one in enumerate(left.named_children):
                if one.type == "identifier":
                    self.assign(self.text(one), self.chains(values[at]) if at < len(values) else NOTHING)
        elif kind in ("instance_variable", "class_variable"):
            self.stored(self.text(left), self.chains(right))

    def assign(self, name: str, chains: Chains) -> None:
        """An assignment: to the local of the scope that has one, else here."""
        scope: Scope | None = self.scope
        while scope is not None and name not in scope.names and id(scope) not in self.barriers:
            scope = scope.above
        home = scope if scope is not None and name in scope.names else self.scope
        known = tuple(chain for chain in chains if not chain.startswith("?")) or chains
        home.names[name] = self.given(home, name, known) if 0 < len(known) <= ALTERNATIVES else NOTHING

    def stored(self, name: str, chains: Chains) -> None:
        """What an instance variable holds."""
        owner, me = self.owner(), self.me()
        if owner >= 0:
            key = name if me == "self" else f"::{name}"
            for chain in chains:
                self.attr(owner, key, chain if chain[0] != "?" else "?")

    def on_caught(self, node: Node, captured: Captures) -> None:
        """``rescue A => e``."""
        rescue = node.parent
        held = rescue.child_by_field_name("exceptions") if rescue is not None else None
        names = (
            [one for one in held.named_children if one.type in ("constant", "scope_resolution")]
            if held is not None
            else []
        )
        chains = tuple(f"{self.constant(one)}()" for one in names[:ALTERNATIVES]) or NOTHING
        what = node.named_child(0)
        if what is not None and what.type == "identifier":
            self.scope.names[self.text(what)] = chains

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_bare(self, node: Node, captured: Captures) -> None:
        """A name without arguments: a local, else a message to ``self``."""
        name = self.text(node)
        if self.local(name) is not None or not self.is_value(node):
            return
        if not self.marked(name):
            self.record(self.bare(name), made=name == "new")

    def is_value(self, node: Node) -> bool:
        """Whether an identifier is read here (not assigned, declared, or the name of what is called)."""
        parent = node.parent
        if parent is None:
            return True
        kind = parent.type
        if kind in ("call", "method", "singleton_method", "keyword_parameter", "optional_parameter"):
            own = parent.child_by_field_name("method" if kind == "call" else "name")
            return own is None or own.start_byte != node.start_byte
        if kind in ("assignment", "operator_assignment"):
            return parent.start_byte != node.start_byte
        return kind not in ("left_assignment_list", "exception_variable", "alias", "undef", "for", "rest_assignment", "block_argument",
                            "destructured_left_assignment", "hash_splat_parameter", "splat_parameter", "block_parameter")  # fmt: skip

    def on_above(self, node: Node, captured: Captures) -> None:
        """A bare ``super``."""
        if node.parent is None or node.parent.type != "call" or node.parent.child_by_field_name("method") != node:
            self.record(tuple(f"{chain}()" for chain in self.above()))

    def on_call(self, node: Node, captured: Captures) -> None:
        method, receiver = node.child_by_field_name("method"), node.child_by_field_name("receiver")
        name = self.text(method) if method is not None else "call"
        if node.parent is not None and node.parent.type == "assignment" and node.parent.start_byte == node.start_byte:
            return  # a setter
        if self.macro(node, name, receiver):
            return
        block = node.child_by_field_name("block")
        if block is not None and receiver is not None and name in ("tap", "then", "yield_self"):
            self.yielded[block.start_byte] = self.chains(receiver)
        if name in SAME or name == "class":
            return
        self.record(self.chains(node), made=name == "new")

    def record(self, chains: Chains, *, made: bool = False) -> None:
        """Record a call; ``made`` one of ``new``, which is written so where no class is named."""
        known = [
            chain.removesuffix("()")
            for chain in chains
            if chain not in ("?", "\n") and chain[0] != "#" and chain.endswith("()")
        ]
        if not known:
            return
        text = "|".join(known[:ALTERNATIVES])
        self.scope.calls[f"new={text}" if made and not text.startswith("::") else text] = None

    def on_ref(self, node: Node, captured: Captures) -> None:
        """A constant used as a value: passed, assigned, compared, rescued, put into a collection."""
        parent = node.parent
        if parent is None or parent.type not in _HOLDERS or parent.start_byte in self.mixed_in:
            return
        if parent.type not in _SIDED or parent.start_byte != node.start_byte:
            chain = self.constant(node)
            if chain[0] != "?":
                self.scope.refs[chain] = None

    def row(self, node: Node, kind: str, captured: Captures, *, name: str = "") -> int:
        index = super().row(node, kind, captured, name=name)
        self.scope.names.pop(name or self.text(captured["name"][0]), None)  # definitions are no locals
        return index

    def finish(self, lang: str) -> Facts:
        self.helpers()
        for index in self.above_of.keys() | self.included_in.keys():
            for chain in (*reversed(self.included_in.get(index, ())), self.above_of.get(index, "")):
                self.base(index, chain)
        for index, held in self.extended.items():
            self.meta(index)["m"] = " ".join(held)
        return super().finish(lang)


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one Ruby file (schema in ``facts.py``). Never raises for odd input; broken parts are left out."""
    return facts_by(RubyWalk, lang, tree, data, path)
