"""Languages in which definitions of one name are told apart by their arguments: Java and C#. A layer between ``declared.py`` and
their own walks.

What may not come in: other files, a rule of one language. A call says how many arguments it passes, and their types where these are
written; a definition that shares its name says what it takes. Types are spelled as ``link_overloads.py`` reads them.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.declared import MARKED, Walk
from mog.engine.code.languages.declared_tables import ALTERNATIVES, NOTHING, STEPS, Captures, Chains

_SPELLED = re.compile(r"(?:@(\d+)|%(\d+)|((?:\w+\.)*)([^\W\d]\w*))(?:\(\))?(\**)")
_MOST = 8
_ENDINGS_HEX = (("ul", "#ulong"), ("lu", "#ulong"), ("l", "#long"), ("u", "#uint"))
_ENDINGS = (*_ENDINGS_HEX, ("f", "#float"), ("d", "#double"), ("m", "#decimal"))
_DEEP = 12
_TRUTHS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&", "||"))


class Overloaded(Walk):
    """A walk that tells overloads apart. ``rest`` are kinds of parameters that take any number of arguments."""

    overloads = True
    parameter_kinds: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.takes: dict[int, list[str]] = {}
        self.depth = 0

    def chains(self, node: Node | None) -> Chains:
        """As in every language; expressions that are made of several are followed to a depth."""
        if self.depth >= _DEEP:
            return NOTHING
        self.depth += 1
        try:
            return super().chains(node)
        finally:
            self.depth -= 1

    def mark(self, node: Node) -> str:
        return f"^{self.arguments(node)}"

    def on_call(self, node: Node, captured: Captures) -> None:
        called = [MARKED.sub("", chain) for chain in self.chains(node)]
        known = [chain for chain in called if chain != "?" and chain[-1] != "*"]
        if known:
            self.say_call("|".join(known[:ALTERNATIVES]), node)

    def say_call(self, chain: str, node: Node) -> None:
        """Note a call in the scope at hand."""
        self.scope.calls[f"{chain}{self.mark(node)}{self.given(node)}"] = None

    def given(self, node: Node) -> str:
        """Types of the arguments of a call, ``:`` before them; "" when none is known or there are many."""
        held = [self.value_of(one) for one in self.passed(node)]
        if not held or len(held) > _MOST:
            return ""
        kinds = [self.spelled(one) for one in held]
        return f":{','.join(kinds)}" if any(kinds) else ""

    def passed(self, node: Node) -> list[Node]:
        """Arguments of a call."""
        held = node.child_by_field_name("arguments")
        return [one for one in held.named_children if one.type not in self.dialect.comments] if held is not None else []

    def arguments(self, node: Node) -> int:
        return len(self.passed(node))

    def value_of(self, node: Node) -> Node:
        """The expression of an argument."""
        return node

    def spelled(self, node: Node) -> str:
        """The type of an expression, where that is written."""
        chains = self.chains(node)
        if len(chains) == 1 and node.type in self.dialect.names and chains[0] == self.text(node):
            held = self.attrs.get(self.class_around(), {}).get(chains[0], ())
            chains = tuple(held)
        return self.kind(chains[0]) if len(chains) == 1 else ""

    def class_around(self) -> int:
        """The class in whose body we are, -1 for none."""
        at = self.home().sym
        while at >= 0 and self.rows[at][schema.KIND] != "class":
            at = self.rows[at][schema.PARENT]
        return at

    def number(self, node: Node) -> tuple[str, ...]:
        """The type of a number by its ending: ``1L``, ``1.5f``, ``2m``."""
        text = self.text(node).lower()
        endings = _ENDINGS_HEX if text.startswith(("0x", "0b")) else _ENDINGS
        kind = next((kind for ending, kind in endings if text.endswith(ending)), "")
        return (kind or ("#double" if "." in text or ("e" in text and not text.startswith("0x")) else "#int"),)

    def operation(self, node: Node) -> tuple[str, ...] | None:
        """What an operation of two gives: a truth, a text where a text is among what is added, else the number on its right."""
        sign = self.text(node.child_by_field_name("operator"))
        if sign in _TRUTHS:
            return ("#bool",)
        at: Node | None = node
        right, steps = node.child_by_field_name("right"), 0
        kind = self.spelled(right) if right is not None and right.type != node.type else ""
        while sign == "+" and at is not None and at.type == node.type and steps < STEPS:
            steps += 1
            other = at.child_by_field_name("right")
            if other is not None and other.type.endswith("string_literal"):
                return ("#str",)
            left = at.child_by_field_name("left")
            if left is None or left.type == node.type:
                at = left
                continue
            first = self.spelled(left)
            return ("#str",) if "#str" in (first, kind) else (first,) if first and first == kind else None
        return None

    def kind(self, chain: str) -> str:
        """A chain of an instance as the name of its type; "" where it is anything else."""
        if chain[0] == "#":
            return chain if chain.rstrip("*?")[1:].isalpha() else ""
        match = _SPELLED.fullmatch(chain)
        if match is None or not chain.rstrip("*").endswith("()"):
            return ""
        symbol, imported, _, name, many = match.groups()
        if symbol is not None:
            name = self.rows[int(symbol)][schema.NAME]
        elif imported is not None:
            name = self.imports[int(imported)][1]
        return f"{name}{many}" if name[:1].isupper() else ""

    def taken(self, index: int, kinds: list[str], least: int, most: int) -> None:
        """What a definition takes: chains of its parameters' types, and how many arguments."""
        self.counted(index, least, most)
        self.takes[index] = kinds

    def finish(self, lang: str) -> Facts:
        self._say_types()
        return super().finish(lang)

    def _say_types(self) -> None:
        """Types of parameters, of those that share their name and class."""
        groups: dict[tuple[Any, ...], list[int]] = {}
        for index in self.takes:
            row = self.rows[index]
            groups.setdefault((row[schema.PARENT], row[schema.NAME], self.meta(index).get("ns")), []).append(index)
        for held in groups.values():
            for index in held if len(held) > 1 or self.may_have_namesakes(held[0]) else ():
                kinds = [self.kind(chain) if chain[0] != "?" else "" for chain in self.takes[index][:_MOST]]
                if any(kinds):
                    self.meta(index)["t"] = ",".join(kinds)

    def may_have_namesakes(self, index: int) -> bool:
        """Whether a definition of the same name and class may stand in another file."""
        return False
