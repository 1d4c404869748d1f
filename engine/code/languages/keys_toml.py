"""Keys of TOML files: tables, and the keys in them. Called by ``extract.py``.

What may not come in: values, other files, recursion. A dotted name is one symbol below the table it is written in. In
``pyproject.toml`` the scripts and entry points say which code they start: those references (``package.module:function``), and no
other value, are kept.
"""

from __future__ import annotations

import re

from tree_sitter import Node, Tree

from mog.engine.code.facts import Facts
from mog.engine.code.languages.keys import Keys

VERSION = 1

_TARGET = re.compile(r"[A-Za-z_][\w.]*(?::[A-Za-z_][\w.]*)?(?:\s*\[[\w, -]*\])?")
_SCRIPTS = ("project.scripts", "project.gui-scripts", "tool.poetry.scripts", "tool.poetry.plugins.", "project.entry-points.",
            "tool.pdm.entry-points.", "tool.flit.scripts")  # fmt: skip
_TABLES = ("table", "table_array_element")


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one TOML file; never raises for odd input."""
    keys = Keys()
    refs: list[list[object]] = []
    pyproject = path.rpartition("/")[2] == "pyproject.toml"
    for node in tree.root_node.named_children:
        if node.type == "pair":
            _pair(keys, node, -1, data)
        elif node.type in _TABLES:
            _table(keys, node, data, refs if pyproject else None)
    found = keys.facts(lang)
    found["refs"] = refs
    return found


def _table(keys: Keys, node: Node, data: bytes, refs: list[list[object]] | None) -> None:
    held = node.named_children
    name = _name(held[0], data) if held else ""
    end = _last(node, data)
    table = keys.add(name, -1, node.start_point[0] + 1, data.count(b"\n", 0, end) + 1, node.start_byte, end)
    if table < 0:
        return
    for child in held[1:]:
        if child.type == "pair":
            key = _pair(keys, child, table, data)
            if refs is not None and key >= 0 and name.startswith(_SCRIPTS):
                target = _string(child, data)
                if _TARGET.fullmatch(target):
                    refs.append([key, target.partition("[")[0].strip()])


def _pair(keys: Keys, node: Node, parent: int, data: bytes) -> int:
    name = node.named_child(0)
    if name is None:
        return -1
    return keys.add(
        _name(name, data), parent, node.start_point[0] + 1, node.end_point[0] + 1, node.start_byte, node.end_byte
    )


def _name(node: Node, data: bytes) -> str:
    """A key as written, without blanks around dots and without quotes."""
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    return ".".join(part.strip().strip("\"'") for part in text.split("."))


def _string(pair: Node, data: bytes) -> str:
    value = pair.named_child(1)
    if value is None or value.type != "string":
        return ""
    return data[value.start_byte : value.end_byte].decode("utf-8", "replace").strip("\"'")


def _last(node: Node, data: bytes) -> int:
    """End of a table without the blanks and comments that follow its last key."""
    kept = [child for child in node.named_children if child.type != "comment"]
    return kept[-1].end_byte if len(kept) > 1 else data.find(b"]", node.start_byte, node.end_byte) + 1 or node.end_byte
