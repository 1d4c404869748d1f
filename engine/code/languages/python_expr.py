"""Python expressions and annotations as chains. Called by ``python.py`` only; the grammar of chains is in ``facts.py``.

What may not come in: recursion over the tree, names of other files, values. A local name is replaced by the chains it is
bound to at that point (``Scope.lookup``), so a chain says where a value comes from, not what it is called.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from tree_sitter import Node

DOTTED = re.compile(rb"[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*")
_WORDS = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_NOTE = re.compile(r"#[^\n]*")
LIMIT = 160
ALTERNATIVES = 4
NOTHING: tuple[str, ...] = ()
GLOBAL = ("%global",)
SELF = ("self",)
CLS = ("cls",)

LITERALS = {
    "string": "#str", "concatenated_string": "#str", "integer": "#int", "float": "#float", "true": "#bool",
    "false": "#bool", "none": "#None", "list": "#list", "list_comprehension": "#list", "dictionary": "#dict",
    "dictionary_comprehension": "#dict", "set": "#set", "set_comprehension": "#set", "tuple": "#tuple",
    "expression_list": "#tuple", "generator_expression": "#gen", "comparison_operator": "#bool", "not_operator": "#bool",
}  # fmt: skip
OPERATORS = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
    "|": "__or__", "&": "__and__", "^": "__xor__", "**": "__pow__", "@": "__matmul__", "<<": "__lshift__",
    ">>": "__rshift__",
}  # fmt: skip
# functions that hand back (something of the type of) their argument: name → position
SAME = {"copy.copy": 0, "copy.deepcopy": 0, "copy": 0, "deepcopy": 0, "cast": 1, "typing.cast": 1}
SPECIAL = {"super", "type", *SAME}
PLAIN_LITERALS = {kind: (mark,) for kind, mark in LITERALS.items() if kind not in ("string", "list", "set", "tuple")}
CONTAINERS = {
    "list": "*", "List": "*", "Sequence": "*", "Iterable": "*", "Iterator": "*", "Collection": "*", "Generator": "*",
    "set": "*", "Set": "*", "frozenset": "*", "FrozenSet": "*", "MutableSequence": "*", "AbstractSet": "*", "deque": "*",
    "dict": "**", "Dict": "**", "Mapping": "**", "MutableMapping": "**", "defaultdict": "**", "DefaultDict": "**",
    "OrderedDict": "**",
}  # fmt: skip
TRANSPARENT = {"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Awaitable",
               "Coroutine"}  # fmt: skip
PLAIN = {"str": "#str", "int": "#int", "float": "#float", "bool": "#bool", "bytes": "#bytes", "dict": "#dict",
         "list": "#list", "set": "#set", "tuple": "#tuple", "None": "#None", "Any": "?", "object": "?"}  # fmt: skip


class Scope:
    """One lexical scope while walking: kind ``module``, ``class``, ``function`` or ``inner`` (comprehension, lambda).

    ``env`` maps a local name to the chains it may hold now; an empty tuple is a local nothing is known of.
    """

    __slots__ = ("kind", "sym", "env", "outer", "owner", "above", "crossed", "calls", "refs")

    def __init__(self, kind: str, sym: int, outer: Scope | None) -> None:
        self.kind = kind
        self.sym = sym
        self.env: dict[str, tuple[str, ...]] = {}
        self.outer = outer
        self.calls: dict[str, None] = outer.calls if kind == "inner" and outer is not None else {}
        self.refs: dict[str, None] = outer.refs if kind == "inner" and outer is not None else {}
        self.owner: Scope = outer.owner if kind == "inner" and outer is not None else self
        # the next scope whose names are seen from here, and whether a class body lies between
        self.above = outer
        self.crossed = False
        while self.above is not None and self.above.kind == "class" and kind != "inner":
            self.above = self.above.outer
            self.crossed = True
        if self.above is not None and self.above.kind == "module":
            self.above = None

    def lookup(self, name: str) -> tuple[str, ...] | None:
        """What a name holds here, or None when it is not local (module level, builtin)."""
        held = self.env.get(name)
        if held is not None:
            return held if held != GLOBAL else None
        scope, crossed = self.above, self.crossed
        while scope is not None:
            held = scope.env.get(name)
            if held is not None:
                if held == GLOBAL:
                    return None
                return tuple(map(_foreign, held)) if crossed else held
            crossed = crossed or scope.crossed
            scope = scope.above
        return None


def _foreign(chain: str) -> str:
    """A chain seen from inside another class: its ``self`` is not ours."""
    head = re.split(r"[.(\[{*]", chain, maxsplit=1)[0]
    return "?" + chain[len(head) :] if head in ("self", "cls", "super") else chain


def expand(text: str, scope: Scope) -> tuple[str, ...]:
    """A dotted name as chains, its head replaced when it is local; an unknown local keeps its name behind ``?``."""
    head, dot, _ = text.partition(".")
    held = scope.lookup(head)
    if held is None:
        return (text,)
    if not held:
        return ("?" + text,)
    if not dot:
        return held
    rest = text[len(head) :]
    return tuple([chain + rest for chain in held])


@lru_cache(maxsize=1 << 16)
def dotted(raw: bytes) -> str:
    """Text of a dotted name, blanks removed; "" when the bytes are something else."""
    if DOTTED.fullmatch(raw) is not None:
        return raw.decode() if b" " not in raw and b"\n" not in raw else "".join(raw.decode().split())
    if raw.isascii():
        return ""
    parts = [part.strip() for part in raw.decode("utf-8", "replace").split(".")]
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""


@lru_cache(maxsize=1 << 16)
def split_name(raw: bytes) -> tuple[str, str]:
    """A dotted name and its head; ("", "") for something else."""
    text = dotted(raw)
    return text, text.partition(".")[0]


def name_of(node: Node, data: bytes) -> str:
    """Text of a node that is a dotted name; "" when it is something else, or too long to be one."""
    start, stop = node.start_byte, node.end_byte
    return dotted(data[start:stop]) if stop - start <= LIMIT else ""


def alternatives(node: Node, data: bytes, scope: Scope) -> tuple[str, ...]:
    """The chains an expression may evaluate to, at most four; ``("?",)`` when nothing can be said."""
    first = node.type
    if first == "call":
        function = node.child(0)
        text = name_of(function, data) if function is not None else ""
        if text and text not in SPECIAL:
            held = expand(text, scope)
            return (held[0] + "()",) if len(held) == 1 else tuple([chain + "()" for chain in held])
    elif first == "identifier":
        return expand(data[node.start_byte : node.end_byte].decode("utf-8", "replace"), scope)
    elif first == "attribute":
        text = name_of(node, data)
        if text:
            return expand(text, scope)
    elif first in PLAIN_LITERALS:
        return PLAIN_LITERALS[first]
    elif first == "string":
        return (_string(node, data),)
    return _search(node, data, scope)


def _search(node: Node, data: bytes, scope: Scope) -> tuple[str, ...]:
    found: dict[str, None] = {}
    work: list[tuple[Node | None, str]] = [(node, "")]
    steps = 0
    while work and len(found) <= ALTERNATIVES:
        at, rest = work.pop()
        steps += 1
        if at is None or len(rest) > LIMIT or steps > 64:
            found["?"] = None
            continue
        kind = at.type
        if kind in ("identifier", "attribute"):
            text = name_of(at, data)
            if text:
                for chain in expand(text, scope):
                    found[_tail(chain, rest)] = None
                continue
        if kind in LITERALS:
            found[_literal(at, data, scope, kind) + rest] = None
        else:
            _step(at, kind, rest, data, scope, work, found)
    if len(found) > ALTERNATIVES:
        return ("?",)
    return tuple(found)


def _tail(chain: str, rest: str) -> str:
    """Add operators to a chain, or give up when it grows too long."""
    return chain + rest if len(chain) + len(rest) <= LIMIT else "?"


def _literal(node: Node, data: bytes, scope: Scope, kind: str) -> str:
    if kind == "string":
        return _string(node, data)
    if kind in ("list", "set", "tuple") and 0 < node.named_child_count <= 8:
        return _collection(node, data, scope) or LITERALS[kind]
    return LITERALS[kind]


def _string(node: Node, data: bytes) -> str:
    return "#bytes" if data[node.start_byte] in b"bB" else "#str"


def _collection(node: Node, data: bytes, scope: Scope) -> str:
    """``Foo()*`` for a display whose items are all one call of the same name or the same name."""
    kinds = {child.type for child in node.named_children}
    if not kinds <= {"call", "identifier"}:
        return ""
    items = {alternatives(child, data, scope) for child in node.named_children}
    first = items.pop()
    if items or len(first) != 1 or first[0].startswith(("?", "#")):
        return ""
    return first[0] + "*"


def _step(at: Node, kind: str, rest: str, data: bytes, scope: Scope, work: Any, found: dict[str, None]) -> None:
    """One node of an expression that is no name and no literal: push what it may evaluate to."""
    if kind == "call":
        _call(at, rest, data, scope, work, found)
    elif kind == "attribute":
        thing = at.child(0)
        label = data[thing.end_byte : at.end_byte].decode("utf-8", "replace") if thing is not None else "."
        if not label[1:].isidentifier():
            label = "." + (_WORDS.findall(_NOTE.sub("", label)) or ["?"])[-1]
        work.append((thing, label + rest))
    elif kind == "subscript":
        work.append((at.child(0), "[]" + rest))
    elif kind in ("parenthesized_expression", "await"):
        work.append((at.named_child(0) if at.named_child_count else None, rest))
    elif kind == "conditional_expression":
        parts = at.named_children
        work += [(parts[-1], rest), (parts[0], rest)]
    elif kind == "boolean_operator":
        work += [(at.child_by_field_name("right"), rest), (at.child_by_field_name("left"), rest)]
    elif kind == "named_expression":
        work.append((at.child_by_field_name("value"), rest))
    elif kind == "binary_operator":
        sign = at.child_by_field_name("operator")
        method = OPERATORS.get(sign.type, "?") if sign else "?"
        work.append((at.child_by_field_name("left"), f".{method}(){rest}"))
    elif kind == "assignment":
        work.append((at.child_by_field_name("right"), rest))
    else:
        found["?" + rest if rest.startswith(".") else "?"] = None


def _call(at: Node, rest: str, data: bytes, scope: Scope, work: Any, found: dict[str, None]) -> None:
    function = at.child(0)
    if function is None:
        found["?"] = None
        return
    name = data[function.start_byte : function.end_byte] if function.end_byte - function.start_byte < 16 else b""
    if name == b"super":
        found["super()" + rest] = None
    elif name == b"type" and _argument(at, 0, 1) is not None:
        work.append((_argument(at, 0, 1), ".__class__" + rest))
    elif name.decode("ascii", "replace") in SAME and _argument(at, SAME[name.decode()]) is not None:
        at_type = SAME[name.decode()]
        work.append((_argument(at, at_type), ("()" if at_type else "") + rest))
    else:
        work.append((function, "()" + rest))


def _argument(call: Node, position: int, exactly: int = 0) -> Node | None:
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.type != "argument_list" or arguments.named_child_count <= position:
        return None
    if exactly and arguments.named_child_count != exactly:
        return None
    return arguments.named_child(position)


def annotation(raw: bytes, scope: Scope) -> tuple[str, ...]:
    """The chains an annotation stands for: ``Foo | None`` is an instance of Foo, ``list[Foo]`` a collection of them."""
    text = "".join(raw.decode("utf-8", "replace").split()).replace('"', "").replace("'", "")
    if len(text) > 400:
        return ("?",)
    found: dict[str, None] = {}
    for part in _split(text, "|"):
        for chain in _one(part, scope, 0):
            found[chain] = None
    found.pop("#None", None)
    return tuple(found) if 0 < len(found) <= ALTERNATIVES else ("?",)


def _one(text: str, scope: Scope, depth: int) -> list[str]:
    if depth > 6:
        return ["?"]
    name, bracket, inside = text.partition("[")
    if not _WORDS.fullmatch(name):
        return ["?"]
    last = name.rpartition(".")[2]
    parts = _split(inside[:-1], ",") if bracket else []
    if last in PLAIN and not parts:
        return [PLAIN[last]]
    if last == "Self":
        return ["self"]
    if parts and (last in TRANSPARENT or last == "Union"):
        return [c for p in (parts if last == "Union" else parts[-1:] if last == "Coroutine" else parts[:1])
                for q in _split(p, "|") for c in _one(q, scope, depth + 1)]  # fmt: skip
    if parts and last in ("type", "Type"):
        return [c.removesuffix("()") if c.endswith("()") else "?" for c in _one(parts[0], scope, depth + 1)]
    if parts and last in ("tuple", "Tuple"):
        same = len(parts) == 2 and parts[1] == "..."
        return [c + "*" for c in _one(parts[0], scope, depth + 1) if c[0] not in "?#"] or ["#tuple"] if same else ["#tuple"]
    if parts and last in CONTAINERS and CONTAINERS[last]:
        mark = CONTAINERS[last]
        inner = [c for q in _split(parts[-1 if mark == "**" else 0], "|") for c in _one(q, scope, depth + 1)]
        kept = [c + mark for c in inner if c[0] not in "?#"]
        return kept or ["#dict" if mark == "**" else "#list"]
    if last in ("Callable", "Literal", "TypeVar"):
        return ["?"]
    return [_tail(chain, "()") for chain in expand(name, scope)]


def _split(text: str, sign: str) -> list[str]:
    """Split at a sign outside of brackets."""
    if sign not in text:
        return [text] if text else []
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
        elif char == sign and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part for part in parts if part]
