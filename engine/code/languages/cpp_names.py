"""How names are declared in C++, and the tables by which its expressions and types are read. Called by ``cpp.py``.

What may not come in: facts, scopes, other files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from mog.engine.code.languages.declared_tables import Dialect, without_arguments

_STEPS = 24
_WRAPS = frozenset(("reference_declarator", "parenthesized_declarator", "attributed_declarator", "variadic_declarator"))
_BLANKS = re.compile(r"\W+")

DIALECT = Dialect(
    literals={
        "string_literal": "#str", "raw_string_literal": "#str", "concatenated_string": "#str", "number_literal": "#int",
        "char_literal": "#int", "true": "#bool", "false": "#bool", "nullptr": "#None", "null": "#None",
    },
    selfs={"this": "self"},
    type_names=frozenset(("type_identifier", "namespace_identifier", "primitive_type", "sized_type_specifier")),
    type_members={"qualified_identifier": ("scope", "name")},
    type_through={
        "type_descriptor": "type", "struct_specifier": "name", "class_specifier": "name", "enum_specifier": "name",
        "union_specifier": "name", "dependent_type": "", "trailing_return_type": "",
    },
    generics={"template_type": ("name", "arguments")},
    same=frozenset(
        "unique_ptr shared_ptr weak_ptr optional reference_wrapper atomic scoped_refptr intrusive_ptr RefPtr not_null".split()
    ),
    several=frozenset("vector list deque set unordered_set multiset forward_list array span initializer_list stack queue".split()),
    mapped=frozenset("map unordered_map multimap unordered_multimap flat_map".split()),
    builtins=dict.fromkeys("int char short long unsigned signed size_t ssize_t wchar_t int8_t int16_t int32_t int64_t uint8_t"
                           " uint16_t uint32_t uint64_t ptrdiff_t intptr_t uintptr_t char8_t char16_t char32_t".split(), "#int")
    | {"float": "#float", "double": "#float", "bool": "#bool", "void": "#None", "std.string": "#str", "std.string_view": "#str",
       "string_view": "#str"},
    separators=("::",),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Declared:
    """What a declarator says.

    Attributes:
        node: node of the name. name: the name, ``~A`` for a destructor, ``operator==`` for an operator.
        scope: what stands before it (``A::B::f``). parameters: those of a function, None for a variable.
        trailing: type behind ``->``. pointer, array: whether it is one, or a reference. called: whether it points to
        a function.
    """

    node: Node
    name: str
    scope: tuple[str, ...] = ()
    parameters: Node | None = None
    trailing: Node | None = None
    pointer: bool = False
    array: bool = False
    called: bool = False


def declared(node: Node | None, data: bytes) -> Declared | None:
    """Read a declarator; None where it declares no name."""
    scope: list[str] = []
    parameters = trailing = None
    pointer = array = called = False
    for _ in range(_STEPS):
        if node is None:
            return None
        kind = node.type
        if kind in ("identifier", "field_identifier", "type_identifier", "namespace_identifier"):
            return Declared(node, _text(node, data), tuple(scope), parameters, trailing, pointer, array, called)
        if kind in ("destructor_name", "operator_name"):
            name = "".join(_text(node, data).split()) if kind == "destructor_name" else _operator(_text(node, data))
            return Declared(node, name, tuple(scope), parameters, trailing, pointer, array, called)
        if kind == "operator_cast":
            own, inner = node.child_by_field_name("type"), node.child_by_field_name("declarator")
            parameters = inner.child_by_field_name("parameters") if inner is not None else None
            return Declared(
                node, f"operator({''.join(_text(own, data).split())})", tuple(scope), parameters or node, trailing
            )
        if kind in ("template_function", "template_method", "template_type"):
            node = node.child_by_field_name("name")
        elif kind == "qualified_identifier":
            above = node.child_by_field_name("scope")
            if above is not None:
                scope.append(without_arguments("".join(_text(above, data).split())))
            node = node.child_by_field_name("name")
        else:
            if kind == "function_declarator":
                inner = node.child_by_field_name("declarator")
                called = called or (inner is not None and inner.type == "parenthesized_declarator")
                if not called:
                    parameters = node.child_by_field_name("parameters")
                trailing = next((one for one in node.named_children if one.type == "trailing_return_type"), trailing)
            pointer = pointer or kind in ("pointer_declarator", "reference_declarator")
            array = array or kind == "array_declarator"
            node = node.child_by_field_name("declarator") or _last(node)
    return None


def _last(node: Node) -> Node | None:
    """The last named child of what wraps a declarator without saying so."""
    if node.type not in _WRAPS or not node.named_child_count:
        return None
    return node.named_children[0 if node.type == "attributed_declarator" else -1]


def _operator(text: str) -> str:
    """``operator ==`` without its blank, ``operator new`` with a line instead."""
    rest = text.removeprefix("operator").strip()
    return f"operator_{rest}" if rest[:1].isalpha() else f"operator{''.join(rest.split())}"


def _text(node: Node | None, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""


def has_word(data: bytes, word: bytes, start: int, stop: int) -> bool:
    """Whether a word stands before the name of a definition."""
    return word in data[start:stop].split()


def slug(text: str) -> str:
    """The name of a test as a name: ``two words`` gives ``two_words``."""
    return _BLANKS.sub("_", text).strip("_")[:80] or "test"
