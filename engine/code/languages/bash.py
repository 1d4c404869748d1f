"""Shell scripts: functions, calls to them, sourced files, settings that others see. Called by ``extract.py``.

What may not come in: other files, recursion. A function is known by name in the whole file, wherever it is defined. Commands are
kept as ``calls``; which of them are functions the linker says (``link_plain.py``); a command that is an expansion is ``?`` and
its name. Sourced files are star imports: the text after the last expansion of the path, with ``?/`` before it where a folder is
only known at run time.
"""

from __future__ import annotations

import re
from typing import Any

from tree_sitter import Node, Query, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars
from mog.engine.code.facts import Facts

VERSION = 1
MOST_CALLS = 20_000

Span = tuple[int, int, int]  # start, end, row

_WORD = re.compile(r"[^\s|=\\\"'`$(){}<>;&*?~#\[\]]{1,120}")
_SETTING = re.compile(rb"\s*(export|readonly|declare|typeset)\b")
#: What the shell itself does: never a function of somebody's, in a script that means it.
BUILTIN = frozenset(
    "true false exit return break continue shift set unset export readonly declare local typeset eval exec echo printf read test cd"
    " pwd trap wait kill getopts source . : [ [[ let umask ulimit alias unalias command builtin type hash jobs bg fg shopt".split()
)


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one shell script; never raises for odd input."""
    found = schema.empty(lang)
    query = grammars.query("bash")
    assert query is not None
    captured = _captures(query, tree)
    rows, spans = _functions(captured.get("function", []), data)
    _settings(captured.get("setting", []), _Around(spans), rows, data)
    calls: dict[int, dict[str, None]] = {}
    around = _Around(spans)
    for node in captured.get("command", [])[:MOST_CALLS]:
        _command(node, around.row(node.start_byte), data, calls, found["imports"])
    schema.unique_quals(rows)
    found["syms"] = rows
    found["calls"] = [[scope, " ".join(names)] for scope, names in sorted(calls.items())]
    found["all"] = None
    return found


def _captures(query: Query, tree: Tree) -> dict[str, list[Node]]:
    captured = grammars.captures(query, tree.root_node)
    return {name: sorted(nodes, key=lambda node: node.start_byte) for name, nodes in captured.items()}


class _Around:
    """Which function a byte lies in; asked in the order of the bytes."""

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self.next = 0
        self.open: list[Span] = []

    def row(self, at: int) -> int:
        """Row of the innermost function around a byte, -1 for none."""
        while self.next < len(self.spans) and self.spans[self.next][0] <= at:
            self.open.append(self.spans[self.next])
            self.next += 1
        while self.open and self.open[-1][1] <= at:
            self.open.pop()
        return self.open[-1][2] if self.open else -1


def _functions(nodes: list[Node], data: bytes) -> tuple[list[list[Any]], list[Span]]:
    """Rows of the functions, and (start, end, row) of each."""
    rows: list[list[Any]] = []
    spans: list[Span] = []
    around = _Around(spans)
    for node in nodes:
        name = _text(node.child_by_field_name("name"), data)
        if not _WORD.fullmatch(name):
            continue
        owner = around.row(node.start_byte)
        qual = f"{rows[owner][schema.QUAL]}.{name}" if owner >= 0 else name
        spans.append((node.start_byte, node.end_byte, len(rows)))
        rows.append([name, qual, "function", owner, node.start_point[0] + 1, node.end_point[0] + 1, node.start_byte, node.end_byte,
                     node.start_byte, "", "", f"{name}()", _doc(data, node.start_byte), {}])  # fmt: skip
    return rows, spans


def _settings(nodes: list[Node], around: _Around, rows: list[list[Any]], data: bytes) -> None:
    """Variables that a script exports or fixes at its top level: the keys others see."""
    seen: set[str] = set()
    for node in nodes:
        name = _text(node.child_by_field_name("name"), data)
        above = node.parent
        if (
            above is None
            or not _SETTING.match(data, above.start_byte)
            or around.row(node.start_byte) >= 0
            or name in seen
        ):
            continue
        if name and len(seen) < 400:
            seen.add(name)
            rows.append([name, name, "config_key", -1, node.start_point[0] + 1, node.end_point[0] + 1, node.start_byte,
                         node.end_byte, node.start_byte, "", "", name, "", {}])  # fmt: skip


def _command(node: Node, scope: int, data: bytes, calls: dict[int, dict[str, None]], imports: list[list[Any]]) -> None:
    head = node.child_by_field_name("name")
    name = _text(head, data)
    if name in ("source", "."):
        argument = node.child_by_field_name("argument")
        module = sourced(_text(argument, data)) if argument is not None else ""
        if module:
            imports.append([-1, "*", module, "*", ""])
        return
    if name[:1] in ("$", '"') and "$" in name[:2]:
        spelled = re.sub(r"[^\w]", "", name)[:60]
        calls.setdefault(scope, {})[f"?${spelled}"] = None
    elif _WORD.fullmatch(name) and name not in BUILTIN:
        calls.setdefault(scope, {})[name] = None
    if name in ("trap", "command", "time", "exec"):
        first = node.child_by_field_name("argument")
        text = _text(first, data).strip("\"'")
        if name in ("trap", "time") and _WORD.fullmatch(text) and text not in BUILTIN:
            calls.setdefault(scope, {})[text] = None


def sourced(text: str) -> str:
    """The path of a ``source`` as far as it can be read: literal, or ``?/`` and what follows the last expansion; "" for neither."""
    text = text.strip().strip("\"'")
    if "$" not in text and "`" not in text:
        return text if re.fullmatch(r"[\w./@+-]{1,300}", text) else ""
    tail = re.search(r"[}\w)\"'`]/([\w./@+-]{1,300})$", text)
    rest = re.split(r"[})\"'`]|\$\w+", text)[-1].lstrip("/")
    return f"?/{rest}" if tail and re.fullmatch(r"[\w./@+-]{1,300}", rest) else ""


def _doc(data: bytes, start: int) -> str:
    """First line of the comment that stands right above a function."""
    lines: list[bytes] = []
    at = data.rfind(b"\n", 0, start)
    if data[at + 1 : start].strip():
        return ""
    while at > 0 and len(lines) < 20:
        before = data.rfind(b"\n", 0, at)
        line = data[before + 1 : at].strip()
        if not line.startswith(b"#") or line.startswith(b"#!"):
            break
        lines.append(line.lstrip(b"# "))
        at = before
    return next((line for line in reversed(lines) if line), b"")[: schema.DOC_LIMIT].decode("utf-8", "replace")


def _text(node: Node | None, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""
