"""Python: from a tree to facts, by one query and one pass over its matches in order. Called by ``engine/code/extract.py``.

What may not come in: recursion, other files, regular expressions over whole files. Local names are resolved here (flow of
the text, joined where a block may not run), so the linker sees module-level names, ``self`` and pointers only.
"""

from __future__ import annotations

import re
from typing import Any

from tree_sitter import Node, Query, QueryCursor, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars
from mog.engine.code.anchors import hash_symbols
from mog.engine.code.facts import Facts
from mog.engine.code.languages.python_expr import (
    ALTERNATIVES,
    GLOBAL,
    LIMIT,
    CLS,
    NOTHING,
    SELF,
    Scope,
    alternatives,
    annotation,
    dotted,
    expand,
)
from mog.engine.code.languages.python_paths import is_test_path

VERSION = 1

_BLANKS = re.compile(rb"\s+")
_DOC = re.compile(rb"""[rRuU]?(\"\"\"|'''|"|')""")
_OPENERS = frozenset(b"\"'rRuU")
_NAMES_ONLY = re.compile(rb"\([\w\s,*=.\-]*\)")
_WORD = re.compile(r"\w+")
_BYTES_WORD = re.compile(rb"[^\W\d]\w*")
_QUOTED = re.compile(rb"""["']([A-Za-z_]\w*)["']""")
_PURE_LIST = re.compile(rb"""[\[(](\s*(["'])\w+\2\s*,?|\s*#[^\n]*\n)*\s*[\])]""")
_ABSTRACT = re.compile(rb"\s*raise\s+NotImplementedError\b")
_COMMENT = re.compile(rb"#[^\n]*|\\\r?\n")
PROPERTIES = {"property", "cached_property", "abstractproperty", "lazyproperty", "lazy_property", "classproperty",
              "cached_classproperty", "reify"}  # fmt: skip
_FLAGS = {"staticmethod": "static", "classmethod": "class", "abstractmethod": "abstract", "overload": "overload",
          "contextmanager": "context", "asynccontextmanager": "context", "abstractproperty": "abstract",
          "dataclass": "dataclass", "abstractclassmethod": "class"}  # fmt: skip
# position of an event: at the start of its node, or with its last byte (what it binds holds from then on)
_AT_END = {"set", "lost", "walrus", "with", "except", "end", "import", "from", "global", "return"}
_RANK = {"enter": 2, "deco": 1, "block": 3}


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one Python file (schema in ``facts.py``). Never raises for odd input; broken parts are left out."""
    walk = _Walk(data, path)
    query = grammars.query("python")
    assert query is not None
    walk.run(*_events(query, tree.root_node, data))
    found = walk.finish(lang)
    rows = found["syms"]
    hashes = hash_symbols(lang, tree, data, [(row[schema.FULL], row[schema.STOP], row[schema.NAME]) for row in rows])
    for row, (span, body) in zip(rows, hashes, strict=True):
        row[schema.SPAN], row[schema.BODY] = span, body
    return found


Captures = dict[str, list[Node]]


def _events(query: Query, root: Node, data: bytes) -> tuple[list[int], list[str], list[Captures]]:
    """Matches in the order in which the walk must see them: sorted keys, and event name and captures by number.

    A key packs position, rank and number. Names used as values count only where the file defines or imports such a name.
    """
    keys, names, nodes = [], [], []
    matches = QueryCursor(query).matches(root)
    known = _names_known(matches, data)
    number = 0
    for _, captured in matches:
        name = next(iter(captured))
        node = captured[name][0]
        if name == "call":
            keys.append((node.start_byte << 3 | 4) << 24 | number)
        elif name == "ref":
            start = node.start_byte
            if data[start : node.end_byte].partition(b".")[0] not in known:
                continue
            keys.append((start << 3 | 4) << 24 | number)
        elif name in _AT_END:
            keys.append((node.end_byte - 1 << 3 | 5) << 24 | number)
        elif name == "for":
            right = node.child_by_field_name("right")
            keys.append(((right or node).end_byte - 1 << 3 | 5) << 24 | number)
        else:
            keys.append((node.start_byte << 3 | _RANK.get(name, 4)) << 24 | number)
            if name == "class" or name == "def":
                names.append(name)
                nodes.append(captured)
                number += 1
                name = "enter"
                keys.append((captured["body"][0].start_byte << 3 | 2) << 24 | number)
        names.append(name)
        nodes.append(captured)
        number += 1
    keys.sort()
    return keys, names, nodes


def _names_known(matches: list[tuple[int, Captures]], data: bytes) -> set[bytes]:
    """Names this file defines or imports, at any depth."""
    known = {b"self", b"cls"}
    for _, captured in matches:
        if "name" in captured:
            at = captured["name"][0]
            known.add(data[at.start_byte : at.end_byte])
        elif "from" in captured or "import" in captured:
            at = next(iter(captured.values()))[0]
            known.update(_BYTES_WORD.findall(data, at.start_byte, at.end_byte))
    return known


class _Walk:
    """State of one pass: open frames, the current scope, and what was found so far."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.test_file = is_test_path(path)
        self.rows: list[list[Any]] = []
        self.imports: list[list[Any]] = []
        self.binds: dict[str, dict[str, None]] = {}
        self.all: list[str] | None = None
        self.all_open = False
        self.marked: list[tuple[int, str]] = []
        self.attrs: dict[int, dict[str, dict[str, None]]] = {}
        self.returns: dict[int, dict[str, None]] = {}
        self.yields: dict[int, dict[str, None]] = {}
        self.module = Scope("module", -1, None)
        self.scope = self.module
        self.scopes = [self.module]
        self.frames: list[tuple[int, str, Any]] = [(len(data) + 2, "module", None)]
        self.ended = [False]
        self.typing = 0
        self.pending: dict[int, int] = {}
        self.decorated: dict[int, tuple[int, list[str]]] = {}
        self.narrowed: dict[int, list[tuple[str, tuple[str, ...]]]] = {}
        self.names: dict[tuple[int, str], int] = {}

    def run(self, keys: list[int], names: list[str], captures: list[Captures]) -> None:
        data, frames = self.data, self.frames
        handlers = {name: getattr(self, f"on_{name}") for name in (
            "class", "def", "deco", "set", "lost", "walrus", "for", "comp", "lambda", "with", "except", "import", "from",
            "return", "yield", "end", "global", "block", "isa", "ref", "enter", "typing")}  # fmt: skip
        for key in keys:
            number = key & 0xFFFFFF
            name = names[number]
            while key >> 27 >= frames[-1][0]:
                self.pop()
            if name != "call":
                handlers[name](captures[number])
                continue
            node = captures[number]["call"][0]
            scope = self.scope
            text = dotted(data[node.start_byte : node.end_byte])
            if text:
                held = scope.env.get(text.partition(".")[0])
                if held is SELF and text[:5] == "self." or held is None and scope.above is None:
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
            chain = chains[0]
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

    def on_deco(self, captured: Captures) -> None:
        (node,) = captured["deco"]
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
        bases = []
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
        if self.data[start] not in _OPENERS:
            return self.data.startswith(b"raise NotImplementedError", start)
        opened = _DOC.match(self.data, start, body.end_byte)
        if opened is not None:
            start = self.data.find(opened.group(1), opened.end(), body.end_byte) + len(opened.group(1))
        return _ABSTRACT.match(self.data, start, body.end_byte) is not None

    def row(self, node: Node, kind: str, captured: Captures) -> int:
        """Add the symbol of a definition."""
        (name_node,), (body,) = captured["name"], captured["body"]
        data, start, stop = self.data, node.start_byte, node.end_byte
        name = data[name_node.start_byte : name_node.end_byte].decode("utf-8", "replace")
        full, marks = self.decorated.pop(start, (start, []))
        owner = self.scope.owner.sym
        qual = f"{self.rows[owner][schema.QUAL]}.{name}" if owner >= 0 else name
        index = len(self.rows)
        self.rows.append([name, qual, kind, owner, name_node.start_point[0] + 1, node.end_point[0] + 1, start, stop, full,
                          "", "", _signature(data[start : body.start_byte]), _doc(data, body), {}])  # fmt: skip
        if self.typing:
            self.rows[index][schema.META]["x"] = ["typing"]
        if marks:
            self.mark(index, marks)
        self.bind(name, (f"@{index}",))
        self.pending[body.start_byte] = index
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
        index = self.pending.pop(body.start_byte)
        scope = Scope("class" if "class" in captured else "function", index, self.scope)
        self.scopes.append(scope)
        if "parameters" in captured:
            self.parameters(captured["parameters"][0], index, scope)
        self.frames.append((body.end_byte, "scope", self.scope))
        self.ended.append(False)
        self.scope = scope

    def parameters(self, node: Node, index: int, scope: Scope) -> None:
        """Bind the parameters; the first one of a method is ``self`` or ``cls`` however it is written."""
        env = scope.env
        raw = self.data[node.start_byte : node.end_byte]
        if raw == b"(self)":
            env["self"] = NOTHING
        elif _NAMES_ONLY.fullmatch(raw):
            for part in raw[1:-1].decode("utf-8", "replace").split(","):
                found = _WORD.search(part)
                if found is not None:
                    env[found.group()] = NOTHING
        else:
            for child in node.named_children:
                self.parameter(child, env)
        row = self.rows[index]
        if row[schema.PARENT] >= 0 and self.rows[row[schema.PARENT]][schema.KIND] == "class":
            flags = row[schema.META].get("x", ())
            first = next(iter(env), "")
            if first and "static" not in flags:
                of_class = "class" in flags or row[schema.NAME] in ("__new__", "__init_subclass__", "__class_getitem__")
                env[first] = CLS if of_class else SELF

    def parameter(self, child: Node, env: dict[str, tuple[str, ...]]) -> None:
        data, held = self.data, NOTHING
        name: Node | None = child
        star = ""
        if child.type == "typed_parameter":
            name = child.named_child(0)
        elif child.type in ("default_parameter", "typed_default_parameter"):
            name = child.child_by_field_name("name")
        typed = child.child_by_field_name("type") if child.type.startswith("typed") else None
        if name is not None and name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            star = "*" if name.type == "list_splat_pattern" else "**"
            name = name.named_child(0)
        if name is None or name.type != "identifier":
            return
        if typed is not None:
            held = annotation(data[typed.start_byte : typed.end_byte], self.scope)
            if star:
                held = tuple(chain + star for chain in held if chain[0] not in "?#")
        env[data[name.start_byte : name.end_byte].decode("utf-8", "replace")] = NOTHING if held == ("?",) else held

    # ── bindings ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def bind(self, name: str, chains: tuple[str, ...]) -> None:
        """A name holds ``chains`` from here on; at module level it is recorded instead."""
        scope = self.scope
        while scope.kind == "inner":
            scope.env.pop(name, None)
            assert scope.outer is not None
            scope = scope.outer
        if scope.kind == "module":
            if not (len(chains) == 1 and chains[0][0] == "@"):
                self.binds.setdefault(name, {}).update(dict.fromkeys(chains or ("?",)))
            return
        if scope.env.get(name) == GLOBAL:
            self.binds.setdefault(name, {}).update(dict.fromkeys(chains or ("?",)))
            return
        scope.env[name] = NOTHING if chains == ("?",) else chains
        if scope.kind == "class":
            self.attr(scope.sym, name, chains)

    def attr(self, owner: int, name: str, chains: tuple[str, ...]) -> None:
        self.attrs.setdefault(owner, {}).setdefault(name, {}).update(dict.fromkeys(chains or ("?",)))

    def target(self, node: Node | None, chains: tuple[str, ...]) -> None:
        """Bind whatever is on the left of an assignment; parts of a pattern are items of the value."""
        work = [(node, chains)]
        while work:
            at, held = work.pop()
            if at is None:
                continue
            kind = at.type
            if kind == "identifier":
                self.bind(self.data[at.start_byte : at.end_byte].decode("utf-8", "replace"), held)
            elif kind == "attribute":
                self.self_attribute(at, held)
            elif kind in ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "list_splat_pattern",
                          "as_pattern_target", "parenthesized_expression"):  # fmt: skip
                through = kind in ("as_pattern_target", "parenthesized_expression")
                inner = held if through else NOTHING
                work += [(child, inner) for child in at.named_children]

    def self_attribute(self, at: Node, chains: tuple[str, ...]) -> None:
        thing = at.child_by_field_name("object")
        name = at.child_by_field_name("attribute")
        if thing is None or name is None or thing.type != "identifier":
            return
        held = self.scope.lookup(self.data[thing.start_byte : thing.end_byte].decode("utf-8", "replace"))
        if held != SELF and held != CLS:
            return
        owner = self.class_of(self.scope)
        if owner >= 0:
            self.attr(owner, self.data[name.start_byte : name.end_byte].decode("utf-8", "replace"), chains)

    def class_of(self, scope: Scope | None) -> int:
        while scope is not None and scope.kind != "class":
            scope = scope.outer
        return scope.sym if scope is not None else -1

    def on_set(self, captured: Captures) -> None:
        (node,), (left,) = captured["set"], captured["left"]
        data = self.data
        right = captured["right"][0] if "right" in captured else None
        typed = None
        if right is None or data.find(b":", left.end_byte, right.start_byte) >= 0:
            typed = node.child_by_field_name("type")
        chains: tuple[str, ...] = ("?",)
        if typed is not None:
            chains = annotation(data[typed.start_byte : typed.end_byte], self.scope)
        if right is not None and (chains == ("?",) or chains[0][0] == "#"):
            chains = alternatives(right, data, self.scope)
        if left.type == "identifier":
            name = data[left.start_byte : left.end_byte].decode("utf-8", "replace")
            if self.scope.kind != "function":
                self.symbol(node, left, name, right, typed)
            self.bind(name, chains)
        else:
            self.target(left, chains)

    def symbol(self, node: Node, left: Node, name: str, right: Node | None, typed: Node | None) -> None:
        """A name assigned at module level is a const, in a class body a field; the first time only."""
        scope = self.scope
        if name == "__all__" and scope.kind == "module":
            self.exported(right)
        if scope.kind == "inner" or (scope.sym, name) in self.names or scope.env.get(name) is not None:
            return
        self.names[(scope.sym, name)] = 1
        signature = name
        if typed is not None:
            note = _BLANKS.sub(b" ", self.data[typed.start_byte : typed.end_byte]).decode("utf-8", "replace")
            signature = f"{name}: {note}"[: schema.SIGNATURE_LIMIT]
        owner, start = scope.sym, node.start_byte
        kind, qual = ("field", f"{self.rows[owner][schema.QUAL]}.{name}") if owner >= 0 else ("const", name)
        self.rows.append([name, qual, kind, owner, left.start_point[0] + 1, node.end_point[0] + 1, start, node.end_byte,
                          start, "", "", signature, "", {}])  # fmt: skip

    def exported(self, right: Node | None) -> None:
        raw = self.data[right.start_byte : right.end_byte] if right is not None else b""
        if not _PURE_LIST.fullmatch(raw):
            self.all_open = True
        self.all = (self.all or []) + [name.decode("utf-8", "replace") for name in _QUOTED.findall(raw)]

    def on_lost(self, captured: Captures) -> None:
        (node,) = captured["lost"]
        name = self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if name == "__all__" and self.scope is self.module:
            self.all_open = True
        elif self.scope.owner.kind == "function" and self.scope.lookup(name) in (None, NOTHING):
            self.bind(name, NOTHING)

    def on_walrus(self, captured: Captures) -> None:
        (node,) = captured["walrus"]
        value = node.child_by_field_name("value")
        if value is not None:
            self.target(node.child_by_field_name("name"), alternatives(value, self.data, self.scope))

    def on_for(self, captured: Captures) -> None:
        (node,) = captured["for"]
        right = node.child_by_field_name("right")
        self.target(node.child_by_field_name("left"), self.items(right, self.scope))

    def items(self, node: Node | None, scope: Scope) -> tuple[str, ...]:
        if node is None:
            return NOTHING
        return tuple(_item(chain) for chain in alternatives(node, self.data, scope))

    def on_comp(self, captured: Captures) -> None:
        (node,) = captured["comp"]
        inner = Scope("inner", self.scope.sym, self.scope)
        for clause in node.named_children:
            if clause.type == "for_in_clause":
                held = self.items(clause.child_by_field_name("right"), inner)
                left = clause.child_by_field_name("left")
                if left is not None and left.type == "identifier":
                    inner.env[self.data[left.start_byte : left.end_byte].decode("utf-8", "replace")] = (
                        NOTHING if held == ("?",) else held
                    )
                elif left is not None:
                    for name in _WORD.findall(self.data[left.start_byte : left.end_byte].decode("utf-8", "replace")):
                        inner.env[name] = NOTHING
        self.frames.append((node.end_byte, "inner", self.scope))
        self.scope = inner

    def on_lambda(self, captured: Captures) -> None:
        (node,) = captured["lambda"]
        inner = Scope("inner", self.scope.sym, self.scope)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            for child in parameters.named_children:
                self.parameter(child, inner.env)
        self.frames.append((node.end_byte, "inner", self.scope))
        self.scope = inner

    def on_with(self, captured: Captures) -> None:
        (node,) = captured["with"]
        value = node.named_child(0)
        if value is not None:
            held = tuple(f"{c}.__enter__()" if c[0] not in "?#" else "?" for c in
                         alternatives(value, self.data, self.scope))  # fmt: skip
            self.target(node.child_by_field_name("alias"), held if held != ("?",) else NOTHING)

    def on_except(self, captured: Captures) -> None:
        (node,) = captured["except"]
        value = node.named_child(0)
        held: tuple[str, ...] = NOTHING
        if value is not None and value.type in ("identifier", "attribute"):
            held = tuple(f"{c}()" if c[0] != "?" else "?" for c in alternatives(value, self.data, self.scope))
        self.target(node.child_by_field_name("alias"), held)

    def on_global(self, captured: Captures) -> None:
        (node,) = captured["global"]
        is_global = node.type == "global_statement"
        scope = self.scope.owner
        for child in node.named_children:
            name = self.data[child.start_byte : child.end_byte].decode("utf-8", "replace")
            if is_global and scope.kind == "function":
                scope.env[name] = GLOBAL

    # ── imports ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_import(self, captured: Captures) -> None:
        (node,) = captured["import"]
        text = _flat(self.data[node.start_byte : node.end_byte])[len("import ") :]
        for part in text.split(","):
            module, _, local = (word.strip() for word in part.partition(" as "))
            if not module:
                continue
            if local:
                self.imported(local, module, "", "")
            else:
                top = module.partition(".")[0]
                self.imported(top, top, "", module if module != top else "")

    def on_from(self, captured: Captures) -> None:
        (node,) = captured["from"]
        text = _flat(self.data[node.start_byte : node.end_byte])
        head, found, names = text[len("from") :].partition(" import")
        if not found:
            return
        module = head.replace(" ", "")
        for part in names.strip().strip("()").split(","):
            attr, _, local = (word.strip() for word in part.strip().partition(" as "))
            if attr == "*":
                self.imports.append([self.scope.owner.sym, "*", module, "*", "s"])
            elif attr:
                self.imported(local or attr, module, attr, "")

    def imported(self, local: str, module: str, attr: str, full: str) -> None:
        """Record one import; ``full`` is the dotted module of ``import a.b.c``, whose local name is only ``a``."""
        scope = self.scope.owner
        index = len(self.imports)
        self.imports.append([scope.sym, local, full or module, attr, ("f" if full else "") + ("t" if self.typing else "")])
        if scope.kind != "module":
            scope.env[local] = (f"%{index}",)
            if scope.kind == "class":
                self.attr(scope.sym, local, (f"%{index}",))

    # ── flow ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_block(self, captured: Captures) -> None:
        (node,) = captured["block"]
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

    def on_end(self, captured: Captures) -> None:
        self.ended[-1] = True

    def on_isa(self, captured: Captures) -> None:
        """``if isinstance(x, Foo):`` — inside, x is a Foo."""
        (node,) = captured["isa"]
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

    def on_return(self, captured: Captures) -> None:
        (node,) = captured["return"]
        self.ended[-1] = True
        owner = self.scope.owner
        if owner.kind == "function" and node.named_child_count:
            value = node.named_child(0)
            assert value is not None
            self.returns.setdefault(owner.sym, {}).update(dict.fromkeys(alternatives(value, self.data, self.scope)))

    def on_yield(self, captured: Captures) -> None:
        (node,) = captured["yield"]
        owner = self.scope.owner
        if owner.kind == "function":
            value = node.named_child(0) if node.named_child_count else None
            held = alternatives(value, self.data, self.scope) if value is not None else ("#None",)
            self.yields.setdefault(owner.sym, {}).update(dict.fromkeys(held))

    def on_ref(self, captured: Captures) -> None:
        (node,) = captured["ref"]
        text = dotted(self.data[node.start_byte : node.end_byte])
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


def _known(held: dict[str, None], most: int) -> list[str]:
    """Chains without "nothing" and "unknown" when there are better ones; "?" when there are too many."""
    if len(held) == 1:
        (only,) = held
        return ["?"] if only[0] == "?" else [only]
    kept = [chain for chain in held if chain[0] != "?" and chain != "#None"]
    if len(kept) > most:
        return ["?"]
    if kept:
        return kept + ["?"] if len(kept) < sum(chain != "#None" for chain in held) else kept
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
    name = text.rpartition(".")[2]
    kept = [c for c in chains if not c.startswith(("#None", "?"))]
    if not kept:
        return "?" + text if text else "?"
    if len(kept) < len(chains) and any(c[0] == "?" for c in chains):
        kept.append("?")
    joined = "|".join(kept)
    return f"{text}={joined}" if text and "." not in text else joined


def _item(chain: str) -> str:
    if chain[0] in "?#":
        return "?"
    if chain.endswith("*") and not chain.endswith("**"):
        return chain[:-1]
    return chain + "{}"


def _doc(data: bytes, body: Node) -> str:
    """First paragraph of the documentation string that opens a body, in one line."""
    start = body.start_byte
    if data[start] not in _OPENERS:
        return ""
    opened = _DOC.match(data, start, start + 5)
    if opened is None:
        return ""
    end = data.find(opened.group(1), opened.end(), body.end_byte)
    if end < 0:
        return ""
    text = data[opened.end() : min(end, opened.end() + 4 * schema.DOC_LIMIT)].decode("utf-8", "ignore").strip()
    return " ".join(re.split(r"\n\s*\n", text, maxsplit=1)[0].split())[: schema.DOC_LIMIT]


def _signature(head: bytes) -> str:
    """The text before a body in one line, without comments and the colon."""
    if b"#" in head:
        head = _COMMENT.sub(b"", head)
    if b"\n" in head.rstrip():
        head = _BLANKS.sub(b" ", head)
    return head.strip().removesuffix(b":").decode("utf-8", "replace")[: schema.SIGNATURE_LIMIT]


def _flat(raw: bytes) -> str:
    if b"#" in raw or b"\\" in raw:
        raw = _COMMENT.sub(b"", raw)
    return " ".join(raw.decode("utf-8", "replace").split())
