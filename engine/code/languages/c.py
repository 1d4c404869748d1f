"""C: from a tree to facts, by one query and no walk: what stands in a file of C stands in a row. Called by ``engine/code/extract.py``.

What may not come in: recursion, other files, import rules (``link_c.py``). A header that holds C++ is parsed as C++ (:func:`dialect`).
The text between ``#if`` and ``#else`` and that behind it both count, so a name may have several definitions. What a macro expands
to is not known: ``MACRO(name) { … }`` becomes a symbol flagged ``made``, which no call is led to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars
from mog.engine.code.facts import Facts
from mog.engine.code.languages.c_text import (
    calls_in,
    declared,
    doc_before,
    hidden_spans,
    is_cpp,
    keyword,
    lost_functions,
    lost_macros,
    of_attribute,
    without_cpp,
)
from mog.engine.code.languages.paths import is_test_path

VERSION = 2
DIALECTS = ("cpp",)
PROBLEMS = 20
_HEAD = 4 * schema.SIGNATURE_LIMIT
_LOST = 200
_TEST_MACRO = re.compile(r"(?:^|_)TEST(?:_|$|S$)|^Test$|^Ensure$")
_NAME = re.compile(r"[A-Za-z_]\w*")
_STATIC = re.compile(rb"\bstatic\b|\b__always_inline\b")
_HELD = frozenset(("class", "field", "const"))
_OWNERS = frozenset(("function", "test", "const"))


def dialect(lang: str, data: bytes, path: str) -> str:
    """The language a file is to be parsed as: a header of C that holds C++ is C++."""
    return "cpp" if path.endswith(".h") and is_cpp(data) else lang


def prepared(data: bytes) -> bytes:
    """The text that is parsed: as long as the file's, with blanks for what only a C++ compiler sees."""
    return without_cpp(data) if b"__cplusplus" in data else data


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one C file (schema in ``facts.py``). Never raises for odd input; broken parts are left out and counted."""
    query = grammars.query("c")
    assert query is not None
    captured = grammars.captures(query, tree.root_node)
    return _File(data, path, captured).facts(lang, broken=tree.root_node.has_error)


class _File:
    """The facts of one file in the making; ``found`` are the captures of the query by name."""

    def __init__(self, data: bytes, path: str, found: dict[str, list[Node]]) -> None:
        self.data = data
        self.found = found
        self.test_file = is_test_path(path)
        self.rows: list[list[Any]] = []
        self.functions: set[str] = set()
        self.variables: set[str] = set()
        self.typedefs: set[int] = set()
        self.aliases: dict[int, str] = {}
        self.names: dict[int, int] = {}
        self.found_again: list[tuple[int, int, int]] = []
        self.problems: list[list[Any]] = []

    def facts(self, lang: str, *, broken: bool) -> Facts:
        self.definitions(broken)
        self.order()
        facts = schema.empty(lang)
        self.uses(facts)
        schema.unique_quals(self.rows)
        facts["syms"], facts["imports"], facts["problems"] = self.rows, self.includes(), self.problems
        for node in self.found.get("error", ()):
            if node.end_byte - node.start_byte > _LOST and len(self.problems) < PROBLEMS:
                self.problems.append(["unparsed_text", node.start_point[0] + 1])
        return facts

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def includes(self) -> list[list[Any]]:
        """Import rows: ``a.h`` as it is written, ``<a.h>`` with its angles; a name that a macro stands for is counted."""
        rows: dict[str, list[Any]] = {}
        for node in self.found.get("include", ()):
            name = self.text(node)
            if name[:1] in '"<':
                name = name.strip('"')
                rows[name] = [-1, name, name, "", "#"]
            elif len(self.problems) < PROBLEMS:
                self.problems.append(["computed_include", node.start_point[0] + 1])
        return list(rows.values())

    # ── definitions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def definitions(self, broken: bool) -> None:
        found = self.found
        for node in found.get("function", ()):
            self.function(node)
        for node in found.get("made", ()):
            self.made(node)
        self.spans()
        if broken:
            self.lost()
            self.spans()
        for node in found.get("global", ()):
            self.variable(node)
        for node in found.get("typedef", ()):
            self.typedef(node)
        for node in found.get("class", ()):
            name = node.child_by_field_name("name")
            if name is not None and node.start_byte not in self.typedefs:
                self.row(node, "class", name, node.child_by_field_name("body"))
        for node in found.get("field", ()):
            for own in node.children_by_field_name("declarator"):
                self.member(node, "field", declared(own))
        for node in found.get("value", ()):
            self.member(node, "const", node.child_by_field_name("name"))
        for node in found.get("macro", ()):
            self.macro(node)
        for node in found.get("constant", ()):
            self.constant(node)

    def row(self, node: Node, kind: str, own: Node, body: Node | None = None, *, name: str = "") -> list[Any]:
        """Add the symbol of a definition; its parent is found when all are there."""
        data, start = self.data, node.start_byte
        stop = body.start_byte if body is not None else node.end_byte
        name, end = name or self.text(own), node.end_byte
        while end > start and data[end - 1 : end] in (b"\n", b"\r"):  # a directive ends with its line
            end -= 1
        signature = data[start : min(stop, start + _HEAD)].rstrip(b" \t\r\n\f{;=\\").decode("utf-8", "replace")
        last = node.end_point[0] + (1 if end == node.end_byte else 0)
        row = [name, name, kind, -1, own.start_point[0] + 1, last, start, end, start, "", "",
               schema.one_line(signature), doc_before(data, start), {}]  # fmt: skip
        self.rows.append(row)
        return row

    def member(self, node: Node, kind: str, own: Node | None) -> None:
        """A field or an enumerator."""
        if own is not None:
            name, start = self.text(own), node.start_byte
            signature = self.data[start : min(node.end_byte, start + schema.SIGNATURE_LIMIT)].decode("utf-8", "replace")
            self.rows.append([name, name, kind, -2, own.start_point[0] + 1, node.end_point[0] + 1, start, node.end_byte, start,
                              "", "", schema.one_line(signature.rstrip(" ;,")), "", {}])  # fmt: skip

    def function(self, node: Node) -> None:
        """A function with its body; what only looks like one to the grammar (``else MACRO(x) {``) is left out."""
        own, body = declared(node.child_by_field_name("declarator")), node.child_by_field_name("body")
        if own is None or body is None:
            return
        name, kind = self.text(own), node.child_by_field_name("type")
        if keyword(name):
            return
        outer = node.child_by_field_name("declarator")
        if outer is not None and outer.type == "parenthesized_declarator" and kind is not None:
            self.generated(node, self.text(kind), [name], own, body)  # MACRO(name) { … } as the grammar reads it
            return
        row = self.row(node, "test" if self.test_file and name.startswith("test") else "function", own, body)
        self.functions.add(name)
        self.names[row[schema.START]] = own.start_byte
        if _STATIC.search(self.data, node.start_byte, own.start_byte):
            row[schema.META]["x"] = ["static"]

    def made(self, node: Node) -> None:
        """``MACRO(name, …) { … }`` outside of functions."""
        statement, macro, given = (
            node.parent,
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        )
        body = statement.next_named_sibling if statement is not None else None
        if body is None or body.type != "compound_statement" or macro is None or given is None:
            return
        names = [self.text(child) for child in given.named_children if child.type == "identifier"]
        if names and body.start_byte - node.end_byte < _LOST:
            self.generated(node, self.text(macro), names, given, body)

    def generated(self, node: Node, macro: str, names: list[str], own: Node, body: Node) -> None:
        """The symbol of a definition that a macro makes: a test by the macro's name, else something called like its argument."""
        test = _TEST_MACRO.search(macro) is not None
        row = self.row(node, "test" if test else "function", own, body, name=names[0])
        row[schema.QUAL] = ".".join(names[:2]) if test and len(names) > 1 else names[0]
        row[schema.NAME] = names[1] if test and len(names) > 1 else names[0]
        row[schema.END], row[schema.STOP] = body.end_point[0] + 1, body.end_byte
        row[schema.META]["x"] = ["made"]

    def spans(self) -> None:
        """Where functions are, in order; what stands in one is nothing of the file's."""
        rows = sorted(self.rows, key=lambda row: (row[schema.START], -row[schema.STOP]))
        kept: list[list[Any]] = []
        macros = [row for row in rows if "macro" in row[schema.META].get("x", ())]
        for row in rows if not macros else [row for row in rows if "macro" not in row[schema.META].get("x", ())]:
            if not kept or row[schema.START] >= kept[-1][schema.STOP]:
                kept.append(row)
            elif "x" not in row[schema.META] and len(self.problems) < PROBLEMS:
                self.problems.append(["nested_function", row[schema.LINE]])
        self.rows = kept + macros
        self.starts, self.stops = [row[schema.START] for row in kept], [row[schema.STOP] for row in kept]

    def inside(self, node: Node) -> int:
        """Number of the function a node stands in, -1 for none."""
        at = bisect_right(self.starts, node.start_byte) - 1
        return at if at >= 0 and node.start_byte < self.stops[at] else -1

    def lost(self) -> None:
        """Functions and macros that stand in text the grammar gave up on, where they are written in the usual way."""
        data = self.data
        starts, stops = hidden_spans(data)
        written = list(lost_functions(data))
        self.apart(written)
        for start, own, end, body, stop in written:
            at, hidden = bisect_right(self.starts, body) - 1, bisect_right(starts, body) - 1
            if (at < 0 or body >= self.stops[at]) and (hidden < 0 or body >= stops[hidden]):
                row = self.lost_row(start, own, end, body, stop)
                self.found_again.append((start, body, stop))
                if _STATIC.search(data, start, own):
                    row[schema.META]["x"] = ["static"]
        known = {node.start_byte for node in self.found.get("macro", ())}
        for start, own, end, body, stop in lost_macros(data):
            at = bisect_right(starts, own) - 1
            if (at < 0 or own >= stops[at]) and data.find(b"#", start, own) not in known:
                self.lost_row(start, own, end, body, stop)[schema.META]["x"] = ["macro"]

    def apart(self, written: list[tuple[int, int, int, int, int]]) -> None:
        """Cut off what the grammar took to be the head of a function and is another one before it."""
        begins = {own: (start, body) for start, own, _, body, _ in written}
        for row in self.rows:
            start, body = begins.get(self.names.get(row[schema.START], -1), (-1, -1))
            if start > row[schema.START]:
                row[schema.START] = row[schema.FULL] = start
                row[schema.SIG] = schema.one_line(self.data[start:body].strip().decode("utf-8", "replace"))
                row[schema.DOC] = doc_before(self.data, start)
        self.spans()

    def lost_row(self, start: int, own: int, end: int, body: int, stop: int) -> list[Any]:
        """The symbol of a function, or macro, known by its text."""
        data = self.data
        name = data[own:end].decode("utf-8", "replace")
        signature = schema.one_line(data[start : min(body, start + _HEAD)].strip().decode("utf-8", "replace"))
        row = [name, name, "function", -1, data.count(b"\n", 0, own) + 1, data.count(b"\n", 0, stop) + 1, start, stop, start, "", "",
               signature, doc_before(data, start), {}]  # fmt: skip
        self.rows.append(row)
        self.functions.add(name)
        return row

    def variable(self, node: Node) -> None:
        """A declaration outside of functions: variables become symbols, prototypes only names that are known here."""
        if self.inside(node) >= 0:
            return
        external = self.data.startswith(b"extern", node.start_byte)
        for own in node.children_by_field_name("declarator"):
            name = declared(own)
            if name is None:
                continue
            if _is_prototype(own):
                self.functions.add(self.text(name))
                continue
            self.variables.add(self.text(name))
            if not external or own.type == "init_declarator":
                self.row(node, "const", name, own.child_by_field_name("value"))

    def typedef(self, node: Node) -> None:
        """A name for a type; ``typedef struct S { … } S`` is one symbol, under another name they are two."""
        kind = node.child_by_field_name("type")
        body = kind.child_by_field_name("body") if kind is not None else None
        tag = kind.child_by_field_name("name") if kind is not None and body is not None else None
        for own in node.children_by_field_name("declarator"):
            name = declared(own)
            if name is None:
                continue
            row = self.row(node, "class", name, body)
            if body is None or (tag is not None and self.text(tag) != row[schema.NAME]):
                row[schema.META]["x"] = ["typedef"]
            elif kind is not None:
                self.typedefs.add(kind.start_byte)

    def constant(self, node: Node) -> None:
        """``#define NAME …``; that of an include guard names nothing."""
        own, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if own is None:
            return
        if value is None and re.search(rb"#[ \t]*ifndef[ \t]+%b\s*\Z" % re.escape(self.data[own.start_byte : own.end_byte]),
                                       self.data[max(0, node.start_byte - _LOST) : node.start_byte]):  # fmt: skip
            return
        alias = self.text(value).strip() if value is not None else ""
        row = self.row(node, "function" if alias in self.functions else "const", own)
        row[schema.META]["x"] = ["macro"]
        if alias in self.functions:
            self.functions.add(row[schema.NAME])
            self.aliases[row[schema.START]] = alias

    def macro(self, node: Node) -> None:
        own = node.child_by_field_name("name")
        if own is not None:
            row = self.row(node, "function", own, node.child_by_field_name("value"))
            row[schema.META]["x"] = ["macro"]
            self.functions.add(row[schema.NAME])

    # ── their order ───────────────────────────────────────────────────────────────────────────────────────────────────

    def order(self) -> None:
        """Put symbols in the order of the text and members below what holds them; types and macros have no scope in C but that of
        a function."""
        rows = self.rows
        rows.sort(key=lambda row: (row[schema.START], -row[schema.STOP]))
        open_: list[int] = []
        for at, row in enumerate(rows):
            while open_ and rows[open_[-1]][schema.STOP] <= row[schema.START]:
                open_.pop()
            above = self.above(row, open_)
            row[schema.PARENT] = above
            if above >= 0:
                row[schema.QUAL] = f"{rows[above][schema.QUAL]}.{row[schema.NAME]}"
            if row[schema.STOP] - row[schema.START] > 2:
                open_.append(at)

    def above(self, row: list[Any], open_: list[int]) -> int:
        rows = self.rows
        if row[schema.PARENT] == -2:
            held = (
                at
                for at in reversed(open_)
                if rows[at][schema.KIND] in _HELD and rows[at][schema.STOP] > row[schema.STOP]
            )
            return next((at for at in held if "typedef" not in rows[at][schema.META].get("x", ())), -1)
        if row[schema.KIND] == "class":
            return next((at for at in reversed(open_) if rows[at][schema.KIND] in ("function", "test")), -1)
        return -1

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def uses(self, facts: Facts) -> None:
        owners = [at for at, row in enumerate(self.rows) if _holds_uses(row)]
        self.owners = owners
        self.starts = [self.rows[at][schema.START] for at in owners]
        self.stops = [self.rows[at][schema.STOP] for at in owners]
        hidden: dict[int, set[str]] = {}
        for node in self.found.get("local", ()):
            hidden.setdefault(self.scope(node), set()).add(self.text(node))
        calls: dict[int, dict[str, None]] = {}
        for node in self.found.get("call", ()):
            scope, name = self.scope(node), self.text(node)
            if name in self.variables or name in hidden.get(scope, ()):
                calls.setdefault(scope, {})[f"?{name}"] = None
            elif not keyword(name) and not of_attribute(name, node) and (scope >= 0 or _is_statement(node)):
                calls.setdefault(scope, {})[name] = None
        for node in self.found.get("through", ()):
            name = self.through(node)
            if name:
                calls.setdefault(self.scope(node), {})[name] = None
        self.expanded(calls)
        self.written(calls, hidden)
        facts["calls"] = [[scope, " ".join(held)] for scope, held in sorted(calls.items())]
        facts["refs"] = [[scope, " ".join(held)] for scope, held in sorted(self.values(hidden).items())]

    def through(self, node: Node) -> str:
        """What is called through a pointer, under its last name; ``(name)(x)`` calls a function of that name, or is a cast."""
        text = self.text(node)[: schema.SIGNATURE_LIMIT].partition("[")[0]
        names = _NAME.findall(text)
        if node.type == "parenthesized_expression" and len(names) == 1 and "*" not in text:
            return names[0] if names[0] in self.functions else ""
        return f"?{names[-1]}" if names else ""

    def scope(self, node: Node) -> int:
        at = self.inside(node)
        return self.owners[at] if at >= 0 else -1

    def expanded(self, calls: dict[int, dict[str, None]]) -> None:
        """What the text of macros calls."""
        at = {
            row[schema.START]: index for index, row in enumerate(self.rows) if "macro" in row[schema.META].get("x", ())
        }
        for start, alias in self.aliases.items():
            calls.setdefault(at[start], {})[alias] = None
        for node in self.found.get("macro", ()):
            value, given = node.child_by_field_name("value"), node.child_by_field_name("parameters")
            if value is None or node.start_byte not in at:
                continue
            index = at[node.start_byte]
            own = {self.text(child) for child in given.named_children} if given is not None else set()
            names = calls_in(self.data[value.start_byte : value.end_byte])
            held = {name: None for name in names if name not in own and name != self.rows[index][schema.NAME]}
            if held:
                calls.setdefault(index, {}).update(held)

    def written(self, calls: dict[int, dict[str, None]], hidden: dict[int, set[str]]) -> None:
        """What functions call that are known by their text: the grammar may have read their calls as something else."""
        for start, body, stop in self.found_again:
            at = bisect_right(self.starts, start) - 1
            scope = self.owners[at] if at >= 0 and start < self.stops[at] else -1
            own = hidden.get(scope, set()) | self.variables
            for name in calls_in(self.data[body:stop]):
                if name not in own:
                    calls.setdefault(scope, {})[name] = None

    def values(self, hidden: dict[int, set[str]]) -> dict[int, dict[str, None]]:
        """Functions used as values: those this file knows, and in the initial values of its variables whatever may be one."""
        refs: dict[int, dict[str, None]] = {}
        for kind in ("value_of", "passed"):
            for node in self.found.get(kind, ()):
                name = self.text(node)
                if name not in self.functions:
                    if kind == "passed" or name.isupper() or name in self.variables:
                        continue
                    scope = self.scope(node)
                    if scope < 0 or self.rows[scope][schema.KIND] != "const":
                        continue
                else:
                    scope = self.scope(node)
                if name not in hidden.get(scope, ()):
                    refs.setdefault(scope, {})[name] = None
        return refs


def _is_prototype(own: Node) -> bool:
    """Whether a declarator declares a function, not a pointer to one."""
    while own.type == "pointer_declarator":
        inner = own.child_by_field_name("declarator")
        if inner is None:
            return False
        own = inner
    inner = own.child_by_field_name("declarator") if own.type == "function_declarator" else None
    return inner is not None and inner.type != "parenthesized_declarator"


def _holds_uses(row: list[Any]) -> bool:
    """Whether what stands inside a symbol is said to be of it: functions and variables, no two of which overlap."""
    return row[schema.PARENT] < 0 and row[schema.KIND] in _OWNERS and "macro" not in row[schema.META].get("x", ())


def _is_statement(node: Node) -> bool:
    """Whether a call outside of functions stands for itself, as calls of macros do; a prototype behind a macro looks like one."""
    call = node.parent
    above = call.parent if call is not None else None
    around = above.parent if above is not None else None
    return above is not None and above.type == "expression_statement" and around is not None and around.type != "ERROR"
