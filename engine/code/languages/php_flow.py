"""PHP: what variables and properties hold as the text goes on. Called by ``php.py``, whose walk builds upon it.

What may not come in: definitions, other files. A branch may not run: what it assigns is joined with what was there before, unless it
ends by returning; ``instanceof`` says what a variable is inside of its branch, and behind one that returns where it is not.
"""

from __future__ import annotations

from tree_sitter import Node

from mog.engine.code.languages import php_docs
from mog.engine.code.languages.declared_flow import Branches, Held
from mog.engine.code.languages.declared_tables import ALTERNATIVES, NOTHING, Captures, Chains
from mog.engine.code.languages.php_expr import NAMES, Expressions

_LAYERS = 8


class Flow(Expressions, Branches):
    """Variables of one PHP file."""

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.documented: Held = {}
        self.announced: tuple[int, str, Chains] = (-1, "", ())
        self.settled: dict[tuple[int, str], Chains] = {}
        self.yields: dict[int, dict[str, None]] = {}

    def comment_of(self, node: Node) -> str:
        """The documentation comment right before a node, "" for none."""
        before = node.prev_sibling
        if before is None or before.type != "comment" or before.end_byte - before.start_byte > 20 * php_docs.LIMIT:
            return ""
        return self.text(before) if self.data.startswith(b"/**", before.start_byte) else ""

    def on_yield(self, node: Node, captured: Captures) -> None:
        owner = self.home()
        value = node.named_child(0) if node.named_child_count else None
        if owner.kind != "function" or owner.sym < 0 or value is None:
            return
        delegated = self.data.startswith(b"from", node.start_byte + 6)
        value = value.named_children[-1] if value.type == "array_element_initializer" else value
        for chain in self.chains(value):
            if chain[0] != "?":
                self.yields.setdefault(owner.sym, {})[f"{chain}{{}}" if delegated else chain] = None

    def on_narrowed(self, node: Node, captured: Captures) -> None:
        """``if ($x instanceof A)``."""
        if b"instanceof" not in self.data[node.start_byte : min(node.end_byte, node.start_byte + 2000)]:
            return
        body = node.parent.child_by_field_name("body") if node.parent is not None else None
        if body is not None:
            self.inside[body.start_byte] = self.told(node, 0)

    def told(self, node: Node | None, layer: int) -> tuple[Held, Held]:
        """What variables are where a condition holds, and where it does not."""
        while node is not None and node.type == "parenthesized_expression":
            node = node.named_child(0)
        if node is None or layer > _LAYERS:
            return {}, {}
        if node.type == "unary_op_expression" and self.data.startswith(b"!", node.start_byte):
            yes, no = self.told(node.child_by_field_name("argument"), layer + 1)
            return no, yes
        if node.type != "binary_expression":
            return {}, {}
        sign = self.text(node.child_by_field_name("operator")).lower()
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if sign == "instanceof":
            if left is not None and left.type == "variable_name" and right is not None and right.type in NAMES:
                return {self.text(left): (f"{self.class_named(self.text(right))}()",)}, {}
            return {}, {}
        if sign in ("&&", "and"):
            return {**self.told(left, layer + 1)[0], **self.told(right, layer + 1)[0]}, {}
        if sign in ("||", "or"):
            return {}, {**self.told(left, layer + 1)[1], **self.told(right, layer + 1)[1]}
        return {}, {}

    # ── variables ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_param(self, node: Node, captured: Captures) -> Chains:  # type: ignore[override]
        """A parameter: its type, else what the documentation says."""
        name = self.text(captured["name"][0])
        chains = self.kinds(node.child_by_field_name("type"))
        if not chains or all(chain[0] == "#" for chain in chains):
            chains = self.documented.get(name) or chains
        several = node.type == "variadic_parameter"
        chains = tuple(f"{chain}*" for chain in chains if chain[0] not in "?#") if several else chains
        chains = tuple(chain for chain in chains if chain != "#None") or chains
        self.scope.names[name] = chains if 0 < len(chains) <= ALTERNATIVES else NOTHING
        return chains

    def assign(self, name: str, chains: Chains, line: int) -> None:
        """An assignment to a variable; one that a comment right above has typed keeps that type."""
        told_on, told, said = self.announced
        if told_on >= 0 and line - 1 <= told_on <= line and told in (name, "") and said:
            chains = said
            self.announced = (-1, "", ())
        self.bind(name, self.given(self.scope, name, chains))

    def on_local(self, node: Node, captured: Captures) -> None:
        left = node.child_by_field_name("left") or node.child_by_field_name("name")
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        if left is None or (
            node.type.startswith("augmented") and self.text(node.child_by_field_name("operator")) != "??="
        ):
            return
        chains = self.chains(node if node.type.startswith("augmented") and left.type == "variable_name" else right)
        if left.type == "variable_name":
            self.assign(self.text(left), chains, node.start_point[0])
        elif left.type == "list_literal":
            self.spread(left, chains, node.start_point[0])
        else:
            self.stored(left, chains)

    def stored(self, left: Node, chains: Chains) -> None:
        """``$this->name = …`` and ``self::$name = …``: what a property of the class holds."""
        kind = left.type
        if kind == "subscript_expression":
            first = left.named_child(0)
            if first is not None and first.type in ("member_access_expression", "scoped_property_access_expression"):
                self.stored(first, tuple(f"{chain}*" for chain in chains if chain[0] not in "?#"))
            return
        whole = (
            self.chains(left)[0] if kind in ("member_access_expression", "scoped_property_access_expression") else "?"
        )
        head, _, name = whole.rpartition(".")
        owner = self.enclosing()
        if owner >= 0 and name[:1] == "$" and head in ("self", "cls", f"@{owner}"):
            for chain in chains:
                self.attr(owner, name, chain if chain[0] != "?" else "?")

    def spread(self, left: Node, chains: Chains, line: int) -> None:
        """``[$a, $b] = …``: items of what stands right, where that is known to have such."""
        for one in left.named_children:
            if one.type == "variable_name":
                self.assign(
                    self.text(one), tuple(f"{chain}[]" for chain in chains if chain[0] not in "?#") or NOTHING, line
                )

    def on_foreach(self, node: Node, captured: Captures) -> None:
        parts = [one for one in node.named_children if one.type != "comment"]
        if len(parts) < 2:
            return
        what = parts[1]
        key = what.named_child(0) if what.type == "pair" else None
        what = what.named_children[-1] if what.type in ("pair", "by_ref") else what
        items = tuple(f"{chain}{{}}" for chain in self.chains(parts[0]) if chain[0] not in "?#") or NOTHING
        if key is not None and key.type == "variable_name":
            self.bind(self.text(key), NOTHING)
        if what.type == "variable_name":
            self.assign(self.text(what), items, node.start_point[0])
        elif what.type == "list_literal":
            self.spread(what, items, node.start_point[0])

    def on_caught(self, node: Node, captured: Captures) -> None:
        """``catch (A | B $e)``."""
        self.bind(self.text(captured["name"][0]), self.kinds(node.child_by_field_name("type")) or NOTHING)

    def on_comment(self, node: Node, captured: Captures) -> None:
        """``/** @var A $x */`` inside of code."""
        if b"@var" not in self.data[node.start_byte : min(node.end_byte, node.start_byte + php_docs.LIMIT)]:
            return
        if self.home().kind == "class":
            return
        for tag, written, name in php_docs.tags(self.text(node)):
            said = self.said(written) if tag == "var" else ()
            if said:
                self.announced = (node.end_point[0], name, said)
                if name:
                    self.bind(name, said)

    def property_is(self, owner: int, name: str, declared: Chains, said: Chains) -> None:
        """What a property is by its declaration; nothing is settled by one that says nothing."""
        told = tuple(chain for chain in declared if chain != "#None")
        if said and all(chain[0] == "#" for chain in told):
            told = said
        if told:
            self.settled[owner, name] = told
