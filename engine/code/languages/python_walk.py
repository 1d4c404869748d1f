"""The walk over a Python file's events: definitions, calls, references, flow. Called by ``python.py``.

What may not come in: queries, recursion, other files. Every handler ``on_<event>`` gets what is said at ``Event``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tree_sitter import Node

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.python_binds import COMMENT, Binds, Captures
from mog.engine.code.languages.python_expr import (
    ALTERNATIVES,
    LIMIT,
    NOTHING,
    SELF,
    Scope,
    alternatives,
    annotation,
    dotted,
    expand,
    split_name,
)

_DOC = re.compile(rb"""[rRuU]?(\"\"\"|'''|"|')""")
_OPENERS = frozenset((b"\"", b"'", b"r", b"R", b"u", b"U"))
_PARAGRAPH = re.compile(r"\n\s*\n")
_ABSTRACT = re.compile(rb"\s*raise\s+NotImplementedError\b")
PROPERTIES = {"property", "cached_property", "abstractproperty", "lazyproperty", "lazy_property", "classproperty",
              "cached_classproperty", "reify"}  # fmt: skip
_FLAGS = {"staticmethod": "static", "classmethod": "class", "abstractmethod": "abstract", "overload": "overload",
          "contextmanager": "context", "asynccontextmanager": "context", "abstractproperty": "abstract",
          "dataclass": "dataclass", "abstractclassmethod": "class"}  # fmt: skip


class Walk(Binds):
    """One pass: :meth:`run` over the events, then :meth:`finish`."""

    def run(self, keys: list[int], events: list[Event]) -> None:
        """Handle all events; a frame ends before the first event at or behind its end."""
        data, frames = self.data, self.frames
        limit = frames[-1][0] << 27
        for key in keys:
            if key >= limit:
                while key >> 27 >= frames[-1][0]:
                    self.pop()
                limit = frames[-1][0] << 27
            handler, node = events[key & 0xFFFFFF]
            if handler is not None:
                handler(self, node)
                limit = frames[-1][0] << 27
                continue
            scope = self.scope
            start, stop = node.start_byte, node.end_byte
            text, head = split_name(data[start:stop]) if stop - start <= LIMIT else ("", "")
            if text:
                held = scope.env.get(head)
                if (held is SELF and text[:5] == "self.") or (held is None and scope.above is None):
                    scope.calls[text] = None
                    continue
            scope.calls[self.callee(node, text, scope)] = None
        while len(frames) > 1:
            self.pop()

    def callee(self, node: Node, text: str, scope: Scope) -> str:
        """The chains of what is called, joined; a name that stands for something else keeps the name it was written under."""
        chains = expand(text, scope) if text else alternatives(node, self.data, scope)
        if len(chains) > 1:
            chain = _join(chains, text)
        else:
            chain = next(iter(chains))
            if text and chain != text and "." not in text and not chain.endswith("." + text):
                chain = f"{text}={chain}" if chain[0] != "?" else "?" + text
        return chain if len(chain) <= 2 * LIMIT else "?"

    def pop(self) -> None:
        _, kind, saved = self.frames.pop()
        if kind == "block":
            owner, before = saved
            ended = self.ended.pop()
            owner.env = _merge(before, owner.env, ended)
        elif kind == "scope":
            self.scope = saved
            self.ended.pop()
        elif kind == "typing":
            self.typing -= 1
        else:
            self.scope = saved

    # ── definitions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def on_deco(self, node: Node) -> None:
        target = node.child_by_field_name("definition")
        if target is None:
            return
        marks: list[str] = []
        for child in node.named_children:
            inner = child.named_child(0) if child.type == "decorator" else None
            if inner is not None:
                marks.append("|".join(alternatives(inner, self.data, self.scope)))
        self.decorated[target.start_byte] = (node.start_byte, marks)

    def on_class(self, captured: Captures) -> None:
        (node,) = captured["class"]
        index = self.row(node, "class", captured)
        meta = self.rows[index][schema.META]
        bases: list[str] = []
        above = node.child_by_field_name("superclasses")
        for child in above.named_children if above is not None else ():
            if child.type == "keyword_argument":
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                if name is not None and value is not None and self.data[name.start_byte : name.end_byte] == b"metaclass":
                    meta["m"] = " ".join(alternatives(value, self.data, self.scope))
            elif child.type == "subscript":
                value = child.child_by_field_name("value")
                bases += alternatives(value, self.data, self.scope) if value is not None else ()
            elif child.type != "comment":
                bases += alternatives(child, self.data, self.scope)
        if bases:
            meta["b"] = " ".join(bases)

    def on_def(self, captured: Captures) -> None:
        (node,), (name,), (body,) = captured["def"], captured["name"], captured["body"]
        inside = self.scope.owner.kind
        kind = "method" if inside == "class" else "function"
        if self.test_file and inside != "function" and self.data.startswith(b"test", name.start_byte):
            kind = "test"
        index = self.row(node, kind, captured)
        meta = self.rows[index][schema.META]
        if self.is_abstract(body):
            meta.setdefault("x", []).append("abstract")
        if self.data.startswith(b"async", node.start_byte):
            meta.setdefault("x", []).append("async")
        if self.data.find(b"->", captured["parameters"][0].end_byte, body.start_byte) >= 0:
            returned = node.child_by_field_name("return_type")
            if returned is not None:
                meta["r"] = " ".join(annotation(self.data[returned.start_byte : returned.end_byte], self.scope))

    def is_abstract(self, body: Node) -> bool:
        """Whether the body does nothing but say that it is not implemented."""
        start = body.start_byte
        if self.data[start : start + 1] not in _OPENERS:
            return self.data.startswith(b"raise NotImplementedError", start)
        opened = _DOC.match(self.data, start, body.end_byte)
        if opened is not None:
            start = self.data.find(opened.group(1), opened.end(), body.end_byte) + len(opened.group(1))
        return _ABSTRACT.match(self.data, start, body.end_byte) is not None

    def row(self, node: Node, kind: str, captured: Captures) -> int:
        """Add the symbol of a definition."""
        (at,), (body,) = captured["name"], captured["body"]
        data, start, opens = self.data, node.start_byte, body.start_byte
        name = data[at.start_byte : at.end_byte].decode("utf-8", "replace")
        full, marks = self.decorated.pop(start, None) or (start, None)
        owner = self.scope.owner
        qual = f"{self.rows[owner.sym][schema.QUAL]}.{name}" if owner.sym >= 0 else name
        index = len(self.rows)
        doc = _doc(data, opens, body.end_byte) if data[opens : opens + 1] in _OPENERS else ""
        self.rows.append([name, qual, kind, owner.sym, at.start_point[0] + 1, node.end_point[0] + 1, start, node.end_byte,
                          full, "", "", _signature(data[start:opens]), doc, {}])  # fmt: skip
        if self.typing:
            self.rows[index][schema.META]["x"] = ["typing"]
        if marks:
            self.mark(index, marks)
        if owner.kind != "module":
            owner.env[name] = (f"@{index}",)
        self.pending[opens] = index
        return index

    def mark(self, index: int, marks: list[str]) -> None:
        row = self.rows[index]
        meta = row[schema.META]
        meta["d"] = " ".join(marks)
        flags = meta.setdefault("x", [])
        for chain in marks:
            last = chain.removesuffix("()").rpartition(".")[2]
            if last in PROPERTIES:
                flags.append("property")
            if last in _FLAGS:
                flags.append(_FLAGS[last])
            if last in ("setter", "getter", "deleter"):
                flags.append(last)
                row[schema.QUAL] += f"@{last}"
            self.marked.append((index, chain.removesuffix("()")))
        if not flags:
            del meta["x"]

    def on_enter(self, captured: Captures) -> None:
        (body,) = captured["body"]
        index = self.pending.pop(body.start_byte, -1)
        if index < 0:
            return
        scope = Scope("class" if "class" in captured else "function", index, self.scope)
        self.scopes.append(scope)
        if "parameters" in captured:
            self.parameters(captured["parameters"][0], index, scope)
        self.frames.append((body.end_byte, "scope", self.scope))
        self.ended.append(False)
        self.scope = scope

    # ── flow ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_block(self, node: Node) -> None:
        owner = self.scope.owner
        before = owner.env
        owner.env = dict(before)
        self.frames.append((node.end_byte, "block", (owner, before)))
        self.ended.append(False)
        narrowed = self.narrowed.pop(node.start_byte, None)
        if narrowed:
            inner = Scope("inner", self.scope.sym, self.scope)
            inner.env.update(narrowed)
            self.frames.append((node.end_byte, "inner", self.scope))
            self.scope = inner

    def on_typing(self, captured: Captures) -> None:
        """``if TYPE_CHECKING:`` — definitions inside are never run."""
        (condition,), (body,) = captured["typing"], captured["body"]
        if self.data[condition.start_byte : condition.end_byte].endswith(b"TYPE_CHECKING"):
            self.typing += 1
            self.frames.append((body.end_byte, "typing", None))

    def on_end(self, node: Node) -> None:
        self.ended[-1] = True

    def on_isa(self, node: Node) -> None:
        """``if isinstance(x, Foo):`` — inside, x is a Foo."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or arguments.named_child_count != 2:
            return
        if self.data[function.start_byte : function.end_byte] != b"isinstance":
            return
        what, types = arguments.named_child(0), arguments.named_child(1)
        holder = node.parent
        if holder is not None and holder.type == "boolean_operator":
            sign = holder.child_by_field_name("operator")
            holder = holder.parent if sign is not None and sign.type == "and" else None
        body = holder.child_by_field_name("consequence") if holder is not None else None
        if what is None or types is None or body is None or what.type != "identifier":
            return
        parts = types.named_children if types.type == "tuple" else [types]
        chains = tuple(f"{c}()" for part in parts for c in alternatives(part, self.data, self.scope) if c[0] not in "?#")
        if 0 < len(chains) <= ALTERNATIVES and len(chains) >= len(parts):
            name = self.data[what.start_byte : what.end_byte].decode("utf-8", "replace")
            self.narrowed.setdefault(body.start_byte, []).append((name, chains))

    def on_return(self, node: Node) -> None:
        self.ended[-1] = True
        owner = self.scope.owner
        if owner.kind == "function" and node.named_child_count:
            value = node.named_child(0)
            assert value is not None
            self.returns.setdefault(owner.sym, {}).update(dict.fromkeys(alternatives(value, self.data, self.scope)))

    def on_yield(self, node: Node) -> None:
        owner = self.scope.owner
        if owner.kind == "function":
            value = node.named_child(0) if node.named_child_count else None
            held = alternatives(value, self.data, self.scope) if value is not None else ("#None",)
            self.yields.setdefault(owner.sym, {}).update(dict.fromkeys(held))

    def on_ref(self, raw: bytes) -> None:
        text = dotted(raw) if len(raw) <= LIMIT else ""
        if not text:
            return
        scope = self.scope
        held = scope.env.get(text.partition(".")[0])
        if held is SELF and text[:5] == "self.":
            scope.refs[text] = None
            return
        for chain in expand(text, scope):
            if chain[0] not in "?#":
                scope.refs[chain] = None

    # ── result ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self, lang: str) -> Facts:
        found = schema.empty(lang)
        self.metas()
        schema.unique_quals(self.rows)
        found["syms"], found["imports"] = self.rows, self.imports
        found["binds"] = {name: " ".join(_known(held, 6)) for name, held in self.binds.items()}
        found["all"] = None if self.all_open else self.all
        found["calls"] = [[scope.sym, " ".join(scope.calls)] for scope in self.scopes if scope.calls]
        found["refs"] = [[scope.sym, " ".join(scope.refs)] for scope in self.scopes if scope.refs]
        found["refs"] += [[index, chain] for index, chain in self.marked]
        return found

    def metas(self) -> None:
        """Put what was collected by symbol into the symbols' meta."""
        rows = self.rows
        for index, attrs in self.attrs.items():
            rows[index][schema.META]["a"] = {name: " ".join(_known(held, 6)) for name, held in attrs.items()}
        for index, held in self.yields.items():
            rows[index][schema.META]["y"] = " ".join(_known(held, 3))
        for index, held in self.returns.items():
            meta = rows[index][schema.META]
            if meta.get("r", "?")[0] in "?#":
                meta["r"] = " ".join(_known(held, ALTERNATIVES))


# what handles an event (None: a call) and what it gets: the node, the captures of the match, or the bytes of a name
Handler = Callable[[Walk, Any], None]
Event = tuple[Handler | None, Any]
HANDLERS: dict[str, Handler] = {name[3:]: getattr(Walk, name) for name in dir(Walk) if name.startswith("on_")}


def _known(held: dict[str, None], most: int) -> list[str]:
    """Chains without "nothing" and "unknown" when there are better ones; "?" when there are too many."""
    if len(held) == 1:
        (only,) = held
        return ["?"] if only[0] == "?" else [only]
    kept = [chain for chain in held if chain[0] != "?" and chain != "#None"]
    if len(kept) > most:
        return ["?"]
    if kept:
        return [*kept, "?"] if len(kept) < sum(chain != "#None" for chain in held) else kept
    return ["#None"] if held and all(chain == "#None" for chain in held) else ["?"]


def _merge(before: dict[str, tuple[str, ...]], after: dict[str, tuple[str, ...]], ended: bool) -> dict[str, tuple[str, ...]]:
    """Environment after a block that may not have run; one that returned or raised leaves only its names behind."""
    for name, held in after.items():
        old = before.get(name)
        if old is held:
            continue
        if old is None:
            before[name] = NOTHING if ended else held
        elif not ended:
            joined = dict.fromkeys((old or ("?",)) + (held or ("?",)))
            before[name] = tuple(joined) if len(joined) <= ALTERNATIVES else NOTHING
    return before


def _join(chains: tuple[str, ...], text: str) -> str:
    """Alternatives of one call site, unknown and None ones left out when there are others."""
    kept = [c for c in chains if not c.startswith(("#None", "?"))]
    if not kept:
        return "?" + text if text else "?"
    if len(kept) < len(chains) and any(c[0] == "?" for c in chains):
        kept.append("?")
    joined = "|".join(kept)
    return f"{text}={joined}" if text and "." not in text else joined


def _doc(data: bytes, start: int, stop: int) -> str:
    """First paragraph of the documentation string that opens a body, in one line."""
    opened = _DOC.match(data, start, start + 5)
    if opened is None:
        return ""
    end = data.find(opened.group(1), opened.end(), stop)
    if end < 0:
        return ""
    text = data[opened.end() : min(end, opened.end() + 4 * schema.DOC_LIMIT)].decode("utf-8", "ignore").strip()
    if "\n" not in text:
        return text[: schema.DOC_LIMIT]
    return " ".join(_PARAGRAPH.split(text, maxsplit=1)[0].split())[: schema.DOC_LIMIT]


def _signature(head: bytes) -> str:
    """The text before a body in one line, without comments and the colon."""
    if b"#" in head:
        head = COMMENT.sub(b"", head)
    return schema.one_line(head.rstrip(b": \t\r\n\f").decode("utf-8", "replace"))
