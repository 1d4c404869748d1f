"""The second pass over a JavaScript or TypeScript file: calls, values and bases become chains. Called by ``javascript.py``.

What may not come in: events, new symbols, other files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.javascript_expr import Scope, known, tail, text_of
from mog.engine.code.languages.javascript_state import State, flat
from mog.engine.code.languages.javascript_symbols import CLASSES

_HEAD = re.compile(r"[.(\[{*]")


class Finish:
    """Facts from what the first pass left."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.symbols = state.symbols
        self.modules = state.modules
        self.resolver = state.resolver
        self.data = state.data
        self.refs: dict[int, dict[str, None]] = {}
        self.known: set[str] = set()  # names of the module that a reference may mean

    def facts(self, lang: str) -> Facts:
        found = schema.empty(lang)
        rows = self.symbols.rows
        self.reassign()
        self.known = {row[schema.NAME] for row in rows if row[schema.PARENT] < 0}
        self.known.update(entry[1] for entry in self.modules.imports if entry[0] < 0)
        self.known.update(("self", "cls"))
        calls: dict[int, dict[str, None]] = {}
        refs = self.refs
        bases: dict[int, dict[str, None]] = {}
        for use, sym, node, scope in self.state.uses:
            if use == "call":
                chain = self.call_chain(node, scope)
                if chain != "?":
                    calls.setdefault(sym, {})[chain] = None
            elif use == "super":
                calls.setdefault(sym, {})["super().constructor"] = None
            elif use == "deco":
                self.decorate(sym, node, scope)
            elif use == "base":
                bases.setdefault(sym, {}).update(dict.fromkeys(self.base_chain(node, scope)))
            else:
                refs.setdefault(sym, {}).update(dict.fromkeys(self.ref_chains(use, sym, node, scope)))
        for index, row in enumerate(rows):
            self.meta(index, row[schema.META], bases.get(index))
        schema.unique_quals(rows)
        found["syms"], found["imports"] = rows, self.modules.imports
        found["binds"] = self.binds()
        found["exports"], found["all"] = self.modules.exports, self.modules.names()
        found["calls"] = [[sym, " ".join(held)] for sym, held in calls.items()]
        found["refs"] = self.known_refs(refs)
        return found

    def decorate(self, sym: int, node: Node, scope: Scope) -> None:
        meta = self.symbols.rows[sym][schema.META]
        chains = [chain for chain in self.resolver.chains(node, scope) if " " not in chain]
        meta["d"] = " ".join([*meta.get("d", "").split(), *chains])
        self.refs.setdefault(sym, {}).update(dict.fromkeys(c for c in chains if c[0] not in "?#"))

    def reassign(self) -> None:
        for scope, name, node in self.state.later:
            held = scope.find(name)
            if held is not None and not held[1].typed and len(held[1].sources) < 8:
                held[1].sources.append(("e", node, scope, ""))

    def call_chain(self, node: Node, scope: Scope) -> str:
        """One call site: alternatives joined, under the name as written where they are called otherwise."""
        text = text_of(node, self.data) if node.type == "identifier" else ""
        held = self.resolver.chains(node, scope)
        # what an item or a result would do when called cannot be said, only by the name it was written under
        better = [
            chain for chain in held if chain[0] != "?" and chain[-1] not in ")]}*" and not chain.startswith("#None")
        ]
        if not better:
            return self.unknown(node, text)
        if len(better) < len(held):
            better.append("?")
        joined = "|".join(better)
        if text and (len(better) > 1 or (joined != text and not joined.endswith("." + text))):
            joined = f"{text}={joined}"
        return joined if len(joined) <= 320 and " " not in joined else "?"

    def unknown(self, node: Node, text: str) -> str:
        """A call nothing is known of: ``?name``, or ``?receiver.name`` (what else is asked of that receiver may tell)."""
        if text or node.type != "member_expression":
            return "?" + text
        thing = node.child_by_field_name("object")
        if thing is not None and thing.type == "member_expression":
            thing = thing.child_by_field_name("property")
        name = text_of(thing, self.data) if thing is not None and thing.type.endswith("identifier") else ""
        return f"?{name}.{flat(text_of(node.child_by_field_name('property'), self.data))}"

    def base_chain(self, node: Node, scope: Scope) -> list[str]:
        if node.type in ("type_identifier", "nested_type_identifier", "generic_type"):
            name = node.child_by_field_name("name") if node.type == "generic_type" else node
            text = flat(text_of(name, self.data))
            head, dot, rest = text.partition(".")
            return [tail(chain, "." + rest) if dot else chain for chain in self.resolver.name(head, scope)]
        return [chain for chain in self.resolver.chains(node, scope) if " " not in chain]

    def ref_chains(self, use: str, sym: int, node: Node, scope: Scope) -> Sequence[str]:
        """What a name used as a value (or type) stands for, as far as it is something of a module."""
        if use == "type" or node.type != "member_expression":
            name = text_of(node, self.data)
            found = scope.find(name)
            if found is None or found[0].kind == "module":
                return (name,) if name in self.known else ()
            held = self.resolver.decl(found[1])
        else:
            held = self.resolver.chains(node, scope)
        return [
            c
            for c in held
            if c[0] not in "?#" and c[-1] not in ")*}]" and c != f"@{sym}" and " " not in c and c not in ("self", "cls")
        ]

    def known_refs(self, refs: dict[int, dict[str, None]]) -> list[list[Any]]:
        found = []
        for sym, held in refs.items():
            kept = [c for c in held if c[0] in "@%" or _HEAD.split(c, maxsplit=1)[0] in self.known]
            if kept:
                found.append([sym, " ".join(kept)])
        return found

    def binds(self) -> dict[str, str]:
        """Module-level names that are values, and the names under which things are exported."""
        found: dict[str, str] = {}
        tops = {
            row[schema.NAME]: row
            for row in self.symbols.rows
            if row[schema.PARENT] < 0 and row[schema.KIND] not in ("const", "field")
        }
        for name, decl in self.state.module.names.items():
            if decl.sources and name not in tops:
                held = self.resolver.decl(decl)
                if held != (f"{name}",):
                    found[name] = " ".join(c for c in held if " " not in c) or "?"
        for name, index in self.symbols.object_tops():
            found[name] = f"@{index}"
        for exported, chain in self.modules.bindings(self.state.module).items():
            found.setdefault(exported, chain)
        return found

    def meta(self, index: int, meta: dict[str, Any], bases: dict[str, None] | None) -> None:
        if bases:
            meta["b"] = " ".join(bases)
        if index in self.state.attrs:
            meta["a"] = {
                name: " ".join(c for c in self.resolver.decl(decl) if " " not in c) or "?"
                for name, decl in self.state.attrs[index].items()
            }
        if index in self.state.callbacks:
            meta["cb"] = {at: [" ".join(self.resolver.types(node, scope)) if node is not None else "?" for node, scope in parts]
                          for at, parts in self.state.callbacks[index].items()}  # fmt: skip
        held = self.state.returns.get(index)
        if held and self.symbols.rows[index][schema.KIND] not in CLASSES:
            found: dict[str, None] = {}
            written = [part for part in held if part[0] == "t"] or held
            for tag, node, scope in written:
                found.update(
                    dict.fromkeys(self.resolver.types(node, scope) if tag == "t" else self.resolver.chains(node, scope))
                )
            chains = [chain for chain in known(found) if " " not in chain]
            if chains:
                meta["r"] = " ".join(chains)
