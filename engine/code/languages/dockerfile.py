"""Dockerfiles: build stages, what they are built from and copy from, and their ARG and ENV keys. Called by ``extract.py``.

What may not come in: values, other files, recursion. A stage is a symbol of kind ``class`` (others are built from it) that holds
its keys; a stage without a name is called ``stage`` and its number from 0, as ``--from`` calls it. ``imports`` holds ``[stage,
alias, from what, "", "from"]`` and ``refs`` what is copied from: ``@n`` for a stage of this file, else the name of an image.
"""

from __future__ import annotations

import re
from typing import Any

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts

VERSION = 1
MOST = 400

_FROM = re.compile(
    rb"FROM\s+(?:--[\w-]+=\S+\s+){0,8}(?:\\\r?\n\s*)?(?P<image>[^\s\\]{1,300})(?:\s+AS\s+(?P<alias>[\w.-]{1,100}))?",
    re.I,
)
_COPIED = re.compile(
    rb"--from=([\w./:@${}-]{1,300})|(?:--mount=|,)(?:[^\s,]{1,200},){0,20}?from=([\w./:@${}-]{1,300})", re.I
)
_KEYED = {"arg_instruction": "arg_pair", "env_instruction": "env_pair"}


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one Dockerfile; never raises for odd input."""
    found = schema.empty(lang)
    stages = _Stages(data, found)
    for node in tree.root_node.named_children:
        if node.type == "from_instruction":
            stages.opens(node)
        elif node.type in _KEYED:
            stages.keys(node)
        elif node.type in ("copy_instruction", "run_instruction", "add_instruction"):
            stages.copies(node)
        stages.last = node if node.type != "comment" else stages.last
    stages.close()
    schema.unique_quals(found["syms"])
    return found


class _Stages:
    """The stages met so far."""

    def __init__(self, data: bytes, found: Facts) -> None:
        self.data = data
        self.rows: list[list[Any]] = found["syms"]
        self.found = found
        self.order: list[int] = []  # number of a stage → its row
        self.named: dict[str, int] = {}
        self.stage = -1
        self.last: Node | None = None

    def opens(self, node: Node) -> None:
        said = _FROM.match(self.data, node.start_byte, node.end_byte)
        if said is None or len(self.rows) >= MOST:
            return
        self.close()
        image = said["image"].decode("utf-8", "replace")
        alias = (said["alias"] or b"").decode()
        name = alias or f"stage{len(self.order)}"
        base = self.named.get(image.lower())
        signature = schema.one_line(self.data[node.start_byte : node.end_byte].decode("utf-8", "replace"))
        self.stage = self.row(name, "class", -1, node, signature)
        self.found["imports"].append(
            [self.stage, name, f"@{base}" if base is not None else image_name(image), "", "from"]
        )
        self.order.append(self.stage)
        if alias:
            self.named[alias.lower()] = self.stage

    def row(self, name: str, kind: str, parent: int, node: Node, signature: str) -> int:
        qual = f"{self.rows[parent][schema.QUAL]}.{name}" if parent >= 0 else name
        self.rows.append([name, qual, kind, parent, node.start_point[0] + 1, node.end_point[0] + 1, node.start_byte, node.end_byte,
                          node.start_byte, "", "", signature, "", {}])  # fmt: skip
        return len(self.rows) - 1

    def close(self) -> None:
        """The stage ends with the last instruction before the next one."""
        if self.stage >= 0 and self.last is not None:
            end = len(self.data[: self.last.end_byte].rstrip())
            self.rows[self.stage][schema.STOP] = end
            self.rows[self.stage][schema.END] = self.data.count(b"\n", 0, end) + 1

    def keys(self, node: Node) -> None:
        for pair in node.named_children:
            held = pair.child_by_field_name("name") if pair.type == _KEYED[node.type] else None
            name = self.data[held.start_byte : held.end_byte].decode("utf-8", "replace") if held is not None else ""
            if re.fullmatch(r"[\w.-]{1,120}", name) and len(self.rows) < MOST:
                self.row(name, "config_key", self.stage, pair, f"{node.type[:3].upper()} {name}")

    def copies(self, node: Node) -> None:
        for held in _COPIED.findall(self.data[node.start_byte : min(node.end_byte, node.start_byte + 4_000)]):
            name = (held[0] or held[1]).decode()
            at = self.named.get(name.lower())
            if at is None and name.isdigit() and int(name) < len(self.order):
                at = self.order[int(name)]
            if self.stage >= 0 and at != self.stage and "$" not in name:
                self.found["refs"].append([self.stage, f"@{at}" if at is not None else image_name(name)])


def image_name(image: str) -> str:
    """An image without its tag and digest: which version is a value, which image a name."""
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}"[:200]
