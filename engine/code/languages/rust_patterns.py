"""Patterns of Rust: what the names in them are. Called by ``rust.py``. What may not come in: recursion, other files.

An option or result is what it holds, so ``Some(x)`` and ``Ok(x)`` pass on what they are matched with; ``T { a }`` and ``T(a)``
read fields.
"""

from __future__ import annotations

from tree_sitter import Node

from mog.engine.code.languages.declared_tables import NOTHING, Captures, Chains
from mog.engine.code.languages.rust_paths import PathWalk

PARTS = 200
_SAME = frozenset(("mut_pattern", "ref_pattern", "reference_pattern", "captured_pattern", "or_pattern", "match_pattern"))
_ITEMS = frozenset(
    "map for_each filter any all find find_map position filter_map flat_map inspect take_while skip_while map_while partition and_then"
    " max_by_key min_by_key sort_by_key sort_unstable_by_key retain is_some_and is_none_or try_for_each dedup_by_key then_with".split()
)
_BOTH = frozenset("sort_by sort_unstable_by max_by min_by is_sorted_by reduce".split())
_SECOND = frozenset(("fold", "try_fold", "scan"))


class PatternWalk(PathWalk):
    """Bindings of ``let``, parameters, loops, arms and closures."""

    def on_param(self, node: Node, captured: Captures) -> None:
        pattern, kind = node.child_by_field_name("pattern"), node.child_by_field_name("type")
        if pattern is not None and pattern.type != "self":
            self.pattern(pattern, (self.typed(kind),) if kind is not None else NOTHING, self.tuple_types(kind))

    def on_local(self, node: Node, captured: Captures) -> None:
        pattern, kind, value = (node.child_by_field_name(part) for part in ("pattern", "type", "value"))
        if pattern is None:
            return
        if kind is not None:
            self.pattern(pattern, (self.typed(kind),), self.tuple_types(kind))
        else:
            self.pattern(pattern, self.chains(value), [], value)

    def on_loop(self, node: Node, captured: Captures) -> None:
        """The body of ``for``: its pattern is an item; of a pair the second is (numbers and keys come first)."""
        above = node.parent
        value = above.child_by_field_name("value") if above is not None else None
        pattern = above.child_by_field_name("pattern") if above is not None else None
        items: Chains = tuple(f"{chain}{{}}" if chain[0] != "?" else "?" for chain in self.chains(value))
        self.push(node, "block", self.scope.sym)
        if pattern is not None:
            self.item(pattern, items)

    def item(self, pattern: Node, items: Chains) -> None:
        while pattern.type in ("reference_pattern", "ref_pattern", "mut_pattern") and pattern.named_child_count:
            pattern = pattern.named_children[-1]
        if pattern.type == "tuple_pattern" and pattern.named_child_count == 2:
            self.pattern(pattern.named_children[0], NOTHING)
            self.pattern(pattern.named_children[1], items)
        else:
            self.pattern(pattern, items)

    def on_then(self, node: Node, captured: Captures) -> None:
        """What follows ``if let`` and ``while let``."""
        above = node.parent
        condition = above.child_by_field_name("condition") if above is not None else None
        self.push(node, "block", self.scope.sym)
        parts = [] if condition is None else condition.named_children if condition.type == "let_chain" else [condition]
        for part in parts:
            pattern, value = part.child_by_field_name("pattern"), part.child_by_field_name("value")
            if part.type == "let_condition" and pattern is not None:
                self.pattern(pattern, self.chains(value), [], value)

    def on_arm(self, node: Node, captured: Captures) -> None:
        above = node.parent.parent if node.parent is not None else None
        value = above.child_by_field_name("value") if above is not None else None
        chains = self.chains(value)
        self.push(node, "block", self.scope.sym)
        pattern = node.child_by_field_name("pattern")
        if pattern is not None:
            self.pattern(pattern, chains, [], value)

    def on_closure(self, node: Node, captured: Captures) -> None:
        """A closure: its parameters are items of what its caller goes over, where that is a method known for it."""
        hints = self.hints(node)
        self.push(node, "block", self.scope.sym)
        held = node.child_by_field_name("parameters")
        for at, part in enumerate(held.named_children if held is not None else ()):
            if part.type == "parameter":
                self.on_param(part, captured)
            else:
                self.item(part, hints.get(at, NOTHING))

    def hints(self, node: Node) -> dict[int, Chains]:
        """Number of a parameter → what it is, by the method a closure is passed to."""
        call = node.parent.parent if node.parent is not None and node.parent.type == "arguments" else None
        function = call.child_by_field_name("function") if call is not None else None
        if function is None or function.type != "field_expression":
            return {}
        name = self.text(function.child_by_field_name("field"))
        if name not in _ITEMS and name not in _BOTH and name not in _SECOND:
            return {}
        over = self.chains(function.child_by_field_name("value"))
        items = tuple(one for chain in over if chain[0] != "?" for one in (f"{chain}{{}}", chain)) or NOTHING
        return {0: items, 1: items} if name in _BOTH else {1: items} if name in _SECOND else {0: items}

    def pattern(self, node: Node, chains: Chains, parts: list[str] | None = None, value: Node | None = None) -> None:
        """Bind the names of a pattern matched with a value of these chains.

        Args:
            parts: chains of the parts, where the value is a tuple whose type is written.
            value: the expression matched, of which a tuple's parts can be read.
        """
        work: list[tuple[Node, Chains]] = [(node, chains)]
        for _ in range(PARTS):
            if not work:
                return
            at, held = work.pop()
            if at.type in ("identifier", "shorthand_field_identifier"):
                if not self.text(at)[:1].isupper():
                    self.bind(self.text(at), held, typed=True)
            elif at.type in _SAME:
                work += [(part, held) for part in at.named_children if part.type != "mutable_specifier" and _binds(at, part)]
            elif at.type == "tuple_pattern":
                work += self.tuple_parts(at, held, parts or [], value if at.id == node.id else None)
            elif at.type == "tuple_struct_pattern":
                work += self.struct_parts(at, held)
            elif at.type == "struct_pattern":
                work += self.field_parts(at)
            elif at.type == "slice_pattern":
                items = tuple(f"{chain}{{}}" if chain[0] != "?" else "?" for chain in held)
                work += [(part, items) for part in at.named_children]

    def tuple_parts(self, node: Node, held: Chains, parts: list[str], value: Node | None) -> list[tuple[Node, Chains]]:
        names = node.named_children
        while value is not None and value.type in ("try_expression", "await_expression", "parenthesized_expression"):
            value = value.named_child(0)
        if value is not None and value.type == "tuple_expression":
            return [(name, self.chains(one)) for name, one in zip(names, value.named_children, strict=False)]
        if parts:
            return [(name, (one,)) for name, one in zip(names, parts, strict=False)]
        called = [chain[:-2] for chain in held if chain.endswith("()")]
        if not called:
            return [(name, NOTHING) for name in names]
        return [(name, tuple(f"{chain}.$r${at}" for chain in called)) for at, name in enumerate(names)]

    def struct_parts(self, node: Node, held: Chains) -> list[tuple[Node, Chains]]:
        kind = node.child_by_field_name("type")
        names = self.names_of(kind)
        inside = [part for part in node.named_children if part != kind]
        if names and names[-1] in ("Some", "Ok", "Ready"):
            return [(part, held) for part in inside]
        chain = self.joined(names)
        if not names or chain[0] == "?":
            return [(part, NOTHING) for part in inside]
        join = variant_join(names)
        return [(part, (f"{chain}{join}{at}",)) for at, part in enumerate(inside)]

    def field_parts(self, node: Node) -> list[tuple[Node, Chains]]:
        names = self.names_of(node.child_by_field_name("type"))
        chain = self.joined(names)
        join = variant_join(names) if names else "."
        found: list[tuple[Node, Chains]] = []
        for part in node.named_children:
            name, inner = part.child_by_field_name("name"), part.child_by_field_name("pattern")
            if part.type == "field_pattern" and name is not None:
                held: Chains = (f"{chain}{join}{self.text(name)}",) if chain[0] != "?" else NOTHING
                found.append((inner if inner is not None else name, held))
        return found


def variant_join(names: list[str]) -> str:
    """What stands between a path and a field of it: ``T::V`` is a variant, whose fields are attributes ``V$name`` of T."""
    return "$" if len(names) > 1 and names[-2][:1].isupper() else "()."


def _binds(node: Node, part: Node) -> bool:
    """Whether a part of a pattern may bind: the guard of an arm does not."""
    return node.type != "match_pattern" or node.child_by_field_name("condition") != part
