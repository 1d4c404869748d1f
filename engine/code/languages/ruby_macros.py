"""Ruby: calls that define something, as they stand in class bodies and tests. Called by ``ruby.py``, whose walk builds upon it.

What may not come in: other files, ``def`` and ``class``. A macro counts without a receiver only, with literal names only; whatever is
computed stays an ordinary call.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.languages.declared_tables import Chains
from mog.engine.code.languages.ruby_expr import METHOD, Expressions

_GROUPS = frozenset(("describe", "context", "feature", "shared_examples", "shared_context", "xdescribe", "fdescribe"))
_EXAMPLES = frozenset(("it", "specify", "example", "scenario", "test", "should", "xit", "fit"))
_LETS = frozenset(("let", "let!", "subject", "subject!"))
_TESTS = _GROUPS | _EXAMPLES | _LETS
_SENDS = frozenset(("send", "public_send", "__send__", "method", "try"))
_HOOKS = ("before_", "after_", "around_", "skip_", "prepend_", "append_")
_HOOK_NAMES = frozenset(("validate", "helper_method", "rescue_from", "set_callback"))
_TITLE = 120
_BARE = re.compile(r"~\.([A-Za-z_]\w*[?!]?)")


class Macros(Expressions):
    """What calls define in one Ruby file."""

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.blocks: dict[int, tuple[str, int]] = {}
        self.yielded: dict[int, Chains] = {}
        self.bodies: dict[int, Node] = {}
        self.metas: set[int] = set()
        self.module_functions: set[int] = set()
        self.visibility: dict[int, str] = {}
        self.extended: dict[int, list[str]] = {}
        self.above_of: dict[int, str] = {}
        self.included_in: dict[int, list[str]] = {}
        self.mixed_in: set[int] = set()
        self.groups: dict[int, int] = {}
        self.titles: list[tuple[int, str]] = []

    def in_meta(self) -> bool:
        """Whether one stands directly in ``class << self``."""
        return id(self.home()) in self.metas

    def marked(self, name: str) -> bool:
        """A bare word that changes how what follows is defined."""
        if name == "module_function" and self.scope.kind == "class":
            self.module_functions.add(id(self.scope))
        return name in ("private", "public", "protected", "module_function") and self.scope.kind == "class"

    def macro(self, node: Node, name: str, receiver: Node | None) -> bool:
        """Handle a call that defines something; True when nothing else is to be said of it."""
        held = node.child_by_field_name("arguments")
        words = held.named_children if held is not None else []
        alone = receiver is None or receiver.type == "self"
        if self.test_file and name in _TESTS and (alone or self.text(receiver) == "RSpec") and self.tested(node, name, words):
            return True
        if not alone:
            return name in _SENDS and self.sent_by_name(node, words, receiver)
        if name in ("require", "require_relative", "load", "autoload"):
            return self.required(name, words)
        if name in _SENDS:
            return self.sent_by_name(node, words, None)
        if self.home().kind != "class":
            return False
        if name in (
            "attr_accessor",
            "attr_reader",
            "attr_writer",
            "cattr_accessor",
            "mattr_accessor",
            "class_attribute",
        ):
            for word in words:
                self.attribute(word, name)
            return True
        if name in ("include", "prepend", "extend") and words:
            return self.included(name, words, words[0].parent)
        return self.defined(node, name, words)

    def defined(self, node: Node, name: str, words: list[Node]) -> bool:
        """Macros of class bodies that define methods."""
        block = node.child_by_field_name("block")
        if name in ("define_method", "define_singleton_method") and words and (own := self.literal(words[0])):
            index = self.row(node, "method", {"name": [words[0]]}, name=own)
            self.rows[index][schema.SIG] = f"define_method(:{own})"
            if name != "define_method" or self.in_meta():
                self.flag(index, "singleton")
            if block is not None:
                self.blocks[block.start_byte] = ("method", index)
            return True
        if name == "class_methods" and block is not None:
            index = self.row(node, "class", {"name": [node]}, name="ClassMethods")
            self.flag(index, "module")
            self.rows[index][schema.SIG] = "class_methods"
            self.blocks[block.start_byte] = ("class", index)
            return True
        if name in ("alias_method", "alias_attribute") and len(words) > 1:
            self.aliased(self.literal(words[0]), self.literal(words[1]))
            return True
        if name in ("delegate", "def_delegators", "def_delegator"):
            self.delegated(name, words)
        if name.startswith(_HOOKS) or name in _HOOK_NAMES:
            names = [self.literal(word) for word in words if word.type == "simple_symbol"]
            self.scope.refs.update((f"cls().{own}", None) for own in names if METHOD.match(own))
        return False

    def literal(self, node: Node | None) -> str:
        """The name in a symbol or string without holes, "" for anything else."""
        if node is None:
            return ""
        if node.type == "simple_symbol":
            return self.text(node)[1:]
        parts = node.named_children
        return (
            self.text(parts[0])
            if node.type == "string" and len(parts) == 1 and parts[0].type == "string_content"
            else ""
        )

    def attribute(self, word: Node, macro: str) -> None:
        """An attribute: a field, read by a call of its name."""
        name = self.literal(word)
        if not METHOD.match(name):
            return
        index = self.row(word, "field", {"name": [word]}, name=name)
        self.rows[index][schema.SIG] = f"{macro} :{name}"
        if macro == "attr_writer":
            return
        own = self.in_meta() or macro[0] in "cm"
        self.flag(index, "accessor", *(("singleton",) if own else ()))
        self.meta(index)["r"] = f"cls.@{name}" if own else f"self.@{name}"

    def fields(self, made: Node, owner: int) -> None:
        """The fields of ``Struct.new(:a, :b)`` and ``Data.define(:a)``."""
        held = made.child_by_field_name("arguments")
        for word in held.named_children if held is not None else ():
            name = self.literal(word) if word.type == "simple_symbol" else ""
            if METHOD.match(name):
                index = self.row(word, "field", {"name": [word]}, name=name)
                row = self.rows[index]
                row[schema.PARENT], row[schema.QUAL] = owner, f"{self.rows[owner][schema.QUAL]}.{name}"
                row[schema.SIG], row[schema.DOC] = f":{name}", ""
                self.flag(index, "accessor")

    def included(self, name: str, words: list[Node], whole: Node | None) -> bool:
        """``include``, ``prepend``, ``extend``: constants become bases, or modules whose methods the class itself has."""
        owner = self.home().sym
        if whole is not None:
            self.mixed_in.add(whole.start_byte)
        for word in words:
            chain = self.constant(word, base=True) if word.type in ("constant", "scope_resolution") else ""
            if word.type == "self" and name == "extend":
                chain = self.itself(owner)
            if chain and chain[0] != "?":
                if name == "extend" or self.in_meta():
                    self.extended.setdefault(owner, []).append(chain)
                else:
                    self.included_in.setdefault(owner, []).append(chain)
        return True

    def itself(self, owner: int) -> str:
        """The chain of the class one stands in."""
        space, _, last = self.rows[owner][schema.QUAL].rpartition(".")
        return f"::!:{space.replace('.', '/')}.{last}"

    def aliased(self, new: str, old: str) -> None:
        owner = self.owner()
        if owner >= 0 and METHOD.match(new) and METHOD.match(old):
            self.attr(owner, f"::{new}" if self.in_meta() else new, f"cls.{old}" if self.in_meta() else f"self.{old}")

    def delegated(self, macro: str, words: list[Node]) -> None:
        """``delegate :a, to: :b`` and ``def_delegators :b, :a``: the methods of another object under their names."""
        names = [self.literal(word) for word in words if word.type in ("simple_symbol", "string")]
        target = names.pop(0) if macro != "delegate" and names else ""
        for word in words if macro == "delegate" else ():
            key = word.child_by_field_name("key") if word.type == "pair" else None
            if key is not None and self.text(key).strip(":") == "to":
                target = self.literal(word.child_by_field_name("value"))
        owner = self.owner()
        if not target or owner < 0:
            return
        head = (
            f"self.{target}"
            if target[0] == "@"
            else f"self.{target}()"
            if METHOD.match(target) and target != "class"
            else ""
        )
        if macro == "def_delegator":
            names = names[:1]
        for name in names if head else ():
            if METHOD.match(name):
                self.attr(owner, name, f"{head}.{name}")

    def sent_by_name(self, node: Node, words: list[Node], receiver: Node | None) -> bool:
        """``send(:name)`` calls it, ``method(:name)`` names it; a computed name is an ordinary call."""
        name, sender = self.literal(words[0]) if words else "", self.text(node.child_by_field_name("method"))
        if not METHOD.match(name):
            if receiver is None and sender not in ("method", "try"):
                self.scope.calls[f"?{sender}"] = None
            return False
        heads = self.chains(receiver) if receiver is not None else (self.me(),)
        held = self.scope.refs if sender == "method" else self.scope.calls
        held.update((f"{head}.{name}", None) for head in heads if head[0] != "#" and head != "?")
        return True

    # ── requires ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def required(self, name: str, words: list[Node]) -> bool:
        """A feature by its literal name: ``./x`` where it counts from the file's own folder."""
        path = self.literal(words[-1]) if words else ""
        if name == "autoload" and len(words) == 1:
            path = snake("/".join(part for part in (self.nesting().partition(">")[0], path) if part))
        if path:
            path = f"./{path}" if name == "require_relative" else path
            self.imports.append([-1, path.rpartition("/")[2], path, "", ""])
        return bool(path)

    # ── tests ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def tested(self, node: Node, word: str, words: list[Node]) -> bool:
        """``describe``, ``it`` and ``test`` with a block are tests; ``let`` names a value."""
        block = node.child_by_field_name("block")
        if block is None:
            return False
        if word in _LETS:
            name = self.literal(words[0]) if words else "subject"
            body = block.child_by_field_name("body")
            self.scope.names[name] = self.chains(body) if body is not None else ("?",)
            return True
        title = self.title(words)
        if not title and word not in _EXAMPLES:
            return False
        while self.titles and node.start_byte >= self.titles[-1][0]:
            self.titles.pop()
        inside = self.owner()
        above = f"{self.titles[-1][1][: 4 * _TITLE]} > " if self.titles else ""
        name = f"{above}{word.lstrip('xf') if word[0] in 'xf' and word not in ('feature',) else word} {title}".rstrip()
        self.titles.append((node.end_byte, name))
        index = self.row(node, "test", {"name": [node]}, name=name)
        row = self.rows[index]
        around = self.home().sym
        row[schema.PARENT], row[schema.QUAL] = (
            inside,
            f"{self.rows[inside][schema.QUAL]}.{name}" if inside >= 0 else name,
        )
        row[schema.SIG] = name
        self.groups[index] = around
        if word in _GROUPS:
            self.flag(index, "group")
        scope = self.push(node, "function", index)
        self.selves[id(scope)] = "~" if inside < 0 else "cls" if word in _GROUPS else "self"
        if words and words[0].type in ("constant", "scope_resolution") and word in _GROUPS:
            chain = self.constant(words[0])
            scope.names["described_class"] = (chain,)
            scope.names.setdefault("subject", (f"{chain}()",))
            scope.refs[chain] = None
        return True

    def helpers(self) -> None:
        """Calls of methods that a group of tests around defines: these are found by the group, before or behind."""
        own: dict[int, dict[str, int]] = {}
        for index, row in enumerate(self.rows):
            if row[schema.PARENT] in self.groups and row[schema.KIND] == "function":
                own.setdefault(row[schema.PARENT], {})[row[schema.NAME]] = index
        for scope in self.scopes if own else ():
            at = scope.sym
            seen: dict[str, int] = {}
            while at >= 0:
                for name, index in own.get(at, {}).items():
                    seen.setdefault(name, index)
                at = self.groups[at] if at in self.groups else int(self.rows[at][schema.PARENT])
            if seen:
                calls = [_pointed(text, seen) for text in scope.calls]
                scope.calls.clear()
                scope.calls.update(dict.fromkeys(calls))

    def title(self, words: list[Node]) -> str:
        """What a test is called: strings and constants, as they can stand in a name."""
        parts = [self.literal(word) if word.type == "string" else self.text(word) for word in words[:2]
                 if word.type in ("string", "constant", "scope_resolution", "simple_symbol")]  # fmt: skip
        text = " ".join(part for part in parts if part).replace("::", ":")
        return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:_TITLE]


def _pointed(text: str, known: dict[str, int]) -> str:
    """Chains whose bare calls of known names are pointers to these."""
    return (
        _BARE.sub(lambda found: f"@{known[found[1]]}" if found[1] in known else found[0], text)
        if "~." in text
        else text
    )


def snake(path: str) -> str:
    """The path a constant is loaded from: ``Admin/UserMailer`` → ``admin/user_mailer``."""
    out: list[str] = []
    for at, char in enumerate(path):
        before, behind = path[at - 1 : at], path[at + 1 : at + 2]
        if (
            char.isupper()
            and before
            and before != "/"
            and (not before.isupper() or (behind.islower() and before.isalnum()))
        ):
            out.append("_")
        out.append(char.lower())
    return "".join(out)
