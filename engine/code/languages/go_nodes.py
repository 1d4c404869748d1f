"""Questions about single nodes of a Go tree, and names by import path. Called by ``go.py``; what may not come in: scopes,
other files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from mog.engine.code.languages.declared_tables import child

_VERSION = re.compile(r"v[0-9]+")
_NAMES = frozenset(("identifier", "package_identifier", "type_identifier", "field_identifier"))


def package_names(path: str) -> list[str]:
    """Names a package may have by its import path, the most likely first: the last part without versions, ``go-`` and ``-go``."""
    parts = [part for part in path.split("/") if part] or [path]
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    last = parts[-1]
    stem = re.sub(r"\.v[0-9]+$", "", last)
    bare = stem.removeprefix("go-").removeprefix("go.").removesuffix(".go").removesuffix("-go")
    return list(dict.fromkeys((stem, bare, bare.replace("-", ""), bare.replace("-", "_"), bare.rpartition("-")[2])))


def alone(node: Node) -> Node:
    """The whole declaration of what is declared alone, else its part of a group."""
    above = node.parent
    if above is not None and above.type.endswith("_declaration") and above.named_child_count == 1 and above.child(1) == node:
        return above
    return node


def body_of(kind: Node | None) -> Node | None:
    """Where the members of a type begin."""
    while kind is not None and kind.type == "parenthesized_type":
        kind = kind.named_child(0)
    if kind is None or kind.type not in ("struct_type", "interface_type"):
        return None
    return next((part for part in kind.children if part.type in ("field_declaration_list", "{")), None)


def leaves(node: Node | None) -> Iterator[Node]:
    """Names of the type arguments of a receiver."""
    for part in node.named_children if node is not None else ():
        held = part.named_child(0) if part.type == "type_elem" else part
        if held is not None and held.type in _NAMES:
            yield held


def is_generic_call(node: Node) -> bool:
    """Whether what reads as a conversion may call a generic function."""
    return node.type == "type_conversion_expression" and (child(node, "type") or node).type == "generic_type"


def is_receiver(node: Node) -> bool:
    """Whether a list of parameters is the receiver of a method."""
    above = node.parent
    return above is not None and above.type == "method_declaration" and above.child_by_field_name("receiver") == node


def written_type(value: Node) -> Node | None:
    """The type that a value says it has: of a literal, of ``make(T)``."""
    if value.type == "composite_literal":
        return value.child_by_field_name("type")
    arguments = value.child_by_field_name("arguments") if value.type == "call_expression" else None
    return arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
