"""GRAPH.md is the schema; this module reads it and checks writes against it. Called by every writer of nodes and edges.

What may not come in: lists of node types or edge types (they are data, a project adds its own), a Markdown library
(this runs at every start), text that was not checked (a project's file comes from a repository nobody vouched for).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from mog.engine.errors import OntologyError

MAX_FILE_BYTES = 256 * 1024
MAX_NODE_TYPES = 256
MAX_EDGE_TYPES = 64  # an edge code is six bits of a byte in the arrays of the code layer

INVALIDATIONS = ("backward", "forward", "none")
IMPACTS = ("forward", "reverse", "both", "none")
NODE_LAYERS = ("reason", "code")
EDGE_LAYERS = ("reason", "code", "bridge")

_NODE_COLUMNS = {"type", "symbol", "means", "must carry", "layer", "kinds", "letter"}
_EDGE_COLUMNS = {"edge", "legal pairs", "invalidation", "means", "impact", "weight", "layer", "alternatives"}
_TABLES = {"node types": ("type", "symbol"), "edge types": ("edge", "legal pairs")}

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_CARRIED = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_PAIR = re.compile(r"`?([a-z][a-z0-9_]*)\s*(?:→|->)\s*([a-z][a-z0-9_]*)`?")
_WEIGHT = re.compile(r"0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?")
_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+:?")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_HEADING = re.compile(r" {0,3}#{1,2}\s+(.*?)\s*#*\s*$")
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class NodeType:
    """One row of the node table.

    Attributes:
        code: small integer, position of the row; stable while rows are only appended.
        symbol: name in data.
        kinds: closed list of kinds, the first is the default; empty when the file states none (then any kind will do).
        must_carry: names that have to be present on a node.
        layer: ``reason`` or ``code``.
        letter: the one letter it has on a narrow screen.
        means: prose, never interpreted.
        origin: ``file:line`` of the row.
    """

    code: int
    symbol: str
    kinds: tuple[str, ...] = ()
    must_carry: tuple[str, ...] = ()
    layer: str = "reason"
    letter: str = ""
    means: str = field(default="", compare=False)
    origin: str = field(default="", compare=False)

    @property
    def default_kind(self) -> str:
        return self.kinds[0] if self.kinds else ""


@dataclass(frozen=True, slots=True)
class EdgeType:
    """One row of the edge table.

    Attributes:
        code: small integer, position of the row, below 64.
        symbol: name in data.
        pairs: legal (source type, target type) pairs.
        invalidation: ``backward``, ``forward`` or ``none``.
        impact: ``forward``, ``reverse``, ``both`` or ``none``.
        weight: relevance that crosses the edge in one hop, 0..1.
        layer: ``reason``, ``code`` or ``bridge``.
        alternatives: legal pairs of which each edge is a ground of its own; edges of the others join one ground.
        means: prose, never interpreted.
        origin: ``file:line`` of the row.
    """

    code: int
    symbol: str
    pairs: frozenset[tuple[str, str]]
    invalidation: str = "none"
    impact: str = "none"
    weight: float = 0.5
    layer: str = "reason"
    alternatives: frozenset[tuple[str, str]] = frozenset()
    means: str = field(default="", compare=False)
    origin: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Ontology:
    """All rows of the files that were read, merged and checked.

    Attributes:
        node_types: symbol → row, in order of their codes.
        edge_types: symbol → row, in order of their codes.
        digest: 64 hex digits over all but prose and line numbers; equal digests mean equal codes and equal checks.
        sources: the files read, in order.
    """

    node_types: Mapping[str, NodeType]
    edge_types: Mapping[str, EdgeType]
    digest: str
    sources: tuple[str, ...]

    def node(self, symbol: str) -> NodeType:
        """The row of a node type. Raises OntologyError with the nearest name when there is none."""
        found = self.node_types.get(symbol)
        if found is None:
            raise _unknown("node type", symbol, self.node_types, ", ".join(self.sources))
        return found

    def edge(self, kind: str) -> EdgeType:
        """The row of an edge type. Raises OntologyError with the nearest name when there is none."""
        found = self.edge_types.get(kind)
        if found is None:
            raise _unknown("edge type", kind, self.edge_types, ", ".join(self.sources))
        return found

    def node_at(self, code: int) -> NodeType:
        """The node type with this code. Raises OntologyError when no row has it."""
        return _at(self.node_types, code, "node")

    def edge_at(self, code: int) -> EdgeType:
        """The edge type with this code. Raises OntologyError when no row has it."""
        return _at(self.edge_types, code, "edge")

    def impact(self, kind: str) -> str:
        return self.edge(kind).impact

    def weight(self, kind: str) -> float:
        return self.edge(kind).weight

    def layer(self, kind: str) -> str:
        return self.edge(kind).layer

    def invalidation(self, kind: str) -> str:
        return self.edge(kind).invalidation

    @property
    def propagating(self) -> tuple[str, ...]:
        """Edge types along which a fall travels, either way (rule 2)."""
        return tuple(e.symbol for e in self.edge_types.values() if e.invalidation != "none")

    def check_node(self, type: str, kind: str, carried: Collection[str]) -> NodeType:
        """Check a node before it is written; the row it is checked against.

        ``carried`` holds the names the node carries (its attributes will do); ``kind`` is carried when it is not "".

        Raises:
            OntologyError: no such type, a kind outside the closed list, or a name of *Must carry* that is absent.
        """
        row = self.node(type)
        if row.kinds and kind not in row.kinds:
            raise _unknown(f"kind of {type}", kind, row.kinds, row.origin)
        missing = [n for n in row.must_carry if n not in carried and not (n == "kind" and kind)]
        if missing:
            what = f"a {type} must carry {', '.join(missing)}"
            raise OntologyError(what, where=row.origin, way_out="give it, even if only to say that it is unknown")
        return row

    def legal(self, kind: str, src_type: str, dst_type: str) -> bool:
        """Whether this edge may join these types; an unknown edge type joins nothing."""
        row = self.edge_types.get(kind)
        return row is not None and (src_type, dst_type) in row.pairs

    def check_edge(self, kind: str, src_type: str, dst_type: str) -> EdgeType:
        """Check an edge before it is written; the row it is checked against.

        Raises:
            OntologyError: no such edge type, no such node type, or a pair outside its row.
        """
        row = self.edge(kind)
        if (src_type, dst_type) not in row.pairs:
            for type in (src_type, dst_type):
                self.node(type)
            legal = ", ".join(f"{a}→{b}" for a, b in sorted(row.pairs))
            what = f"{src_type}-[{kind}]→{dst_type} is not a legal pair"
            raise OntologyError(what, where=row.origin, way_out=f"{kind} may join {legal}")
        return row


def packaged_path() -> Path:
    """The GRAPH.md that came with mog: beside the package in a wheel, at the repository root in a checkout."""
    return Path(__file__).resolve().parents[1] / "GRAPH.md"


def load(paths: Iterable[Path] | None = None) -> Ontology:
    """Read and merge ontology files, by default the packaged one; later ones may only add rows to the first.

    Raises:
        OntologyError: unreadable file, or a row that cannot be meant; ``where`` is ``file:line:column``.
    """
    builder = _Builder()
    ours = packaged_path()
    for path in (ours,) if paths is None else paths:
        name = ours.name if path == ours else str(path)
        builder.add(name, _read(path.resolve() if path == ours else path, name))
    return builder.build()


def load_project(mog_dir: Path | None) -> Ontology:
    """The packaged ontology with the rows of ``mog_dir``/GRAPH.md, when a project has one. Raises as ``load``."""
    own = mog_dir / "GRAPH.md" if mog_dir is not None else None
    if own is None or not os.path.lexists(own):
        return load()
    return load((packaged_path(), own))


def _read(path: Path, name: str) -> str:
    """Text of one file, bounded; no link is followed out of a project and no pipe is waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if path.is_symlink():
            raise OntologyError("the file is a link", where=name, way_out="put the file itself there")
        fd = os.open(path, flags)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OntologyError("not a regular file", where=name, way_out="put a Markdown file there")
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise OntologyError(what, where=name, way_out="check that it exists and that you may read it") from error
    return _decode(data, name)


def _decode(data: bytes, where: str) -> str:
    if len(data) > MAX_FILE_BYTES:
        raise _bad(f"larger than {MAX_FILE_BYTES // 1024} KiB", where, "move the prose elsewhere")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise _bad("not UTF-8 text", _spot(where, before), "save the file as UTF-8") from error
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    bad = _FORBIDDEN.search(text)
    if bad:
        what = f"control character U+{ord(bad.group()):04X}"
        raise _bad(what, _spot(where, text[: bad.start()]), "remove it")
    return text


def _spot(where: str, before: str) -> str:
    return f"{where}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def _bad(what: str, where: str, way_out: str) -> OntologyError:
    return OntologyError(what, where=where, way_out=way_out)


def _nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    import difflib  # only an error pays for it

    found = difflib.get_close_matches(name, list(known), 1, cutoff)
    return found[0] if found else ""


def _unknown(what: str, name: str, known: Collection[str], where: str) -> OntologyError:
    near = _nearest(name, known)
    way_out = f"did you mean {near!r}?" if near else f"one of: {', '.join(known)}"
    return OntologyError(f"no {what} {name!r}" if name else f"no {what} given", where=where, way_out=way_out)


_T = TypeVar("_T", NodeType, EdgeType)


def _at(rows: Mapping[str, _T], code: int, what: str) -> _T:
    found = next((row for row in rows.values() if row.code == code), None)
    if found is None:
        way_out = "index again: it was made under another GRAPH.md"
        raise OntologyError(f"no {what} type has code {code}", way_out=way_out)
    return found


class _Cell:
    """Text of one cell and where it begins, as ``file:line:column``."""

    __slots__ = ("text", "where")

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where = text, where

    def one_of(self, legal: tuple[str, ...], default: str) -> str:
        value = self.text.strip("`").strip().lower()
        if value and value not in legal:
            raise _unknown("such word", value, legal, self.where)
        return value or default

    def names(self, shape: re.Pattern[str]) -> tuple[str, ...]:
        """Names of a comma list, back-ticks off, each of them once."""
        names = tuple(part.strip().strip("`").strip() for part in self.text.split(",")) if self.text else ()
        for i, name in enumerate(names):
            if not shape.fullmatch(name):
                way_out = "use small letters, digits and _, with commas between"
                raise _bad(f"{name!r} is not a name", self.where, way_out)
            if name in names[:i]:
                raise _bad(f"{name!r} stands twice", self.where, "keep one")
        return names


_Row = dict[str, _Cell]


def _rows(name: str, text: str) -> Iterator[tuple[str, str, _Row]]:
    """Rows of the two tables as (section, ``file:line``, column → cell)."""
    section, header, fenced, comment = "", None, False, False
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{name}:{number}"
        if comment or line.lstrip().startswith("<!--"):
            comment = "-->" not in line
        elif _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _HEADING.match(line)):
            section, header = heading.group(1).casefold(), None
        elif fenced or section not in _TABLES or not line.lstrip().startswith("|"):
            header = None
        elif header is None:
            header = _header(section, _cells(line, where), where)
        elif not _is_rule(cells := _cells(line, where)):
            if len(cells) > len(header):
                raise _bad("more cells than the header has", cells[len(header)].where, "write a | inside a cell as \\|")
            row = dict(zip(header, cells, strict=False))
            for column in _TABLES[section]:
                if column not in row:
                    raise _bad(f"a row without a cell for {column!r}", f"{where}:1", "write a cell for each column of the header")
            yield section, where, row


def _cells(line: str, where: str) -> list[_Cell]:
    pipes = [m.start() for m in _PIPE.finditer(line)]
    ends = pipes[1:] + ([len(line)] if line[pipes[-1] + 1 :].strip() else [])
    cells = []
    for start, end in zip(pipes, ends, strict=False):
        raw = line[start + 1 : end]
        column = start + 2 + len(raw) - len(raw.lstrip())
        cells.append(_Cell(raw.strip().replace("\\|", "|"), f"{where}:{column}"))
    return cells


def _is_rule(cells: list[_Cell]) -> bool:
    return bool(cells) and all(_RULE.fullmatch(cell.text) for cell in cells)


def _header(section: str, cells: list[_Cell], where: str) -> list[str]:
    known = _NODE_COLUMNS if section == "node types" else _EDGE_COLUMNS
    names = [" ".join(cell.text.casefold().split()) for cell in cells]
    for name, cell in zip(names, cells, strict=True):
        near = "" if name in known else _nearest(name, known, 0.75)
        if near:
            raise _bad(f"no column {cell.text!r}", cell.where, f"did you mean {near!r}?")
        if name and names.count(name) > 1:
            raise _bad(f"column {cell.text!r} stands twice", cell.where, "keep one")
    for name in _TABLES[section]:
        if name not in names:
            raise _bad(f"the table has no column {name!r}", f"{where}:1", "its first row names the columns")
    return names


class _Builder:
    """Collects rows file by file; what a later file says of a known row may only add to it."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeType] = {}
        self.edges: dict[str, EdgeType] = {}
        self.sources: list[str] = []
        self._pair_cells: list[tuple[str, str]] = []

    def add(self, name: str, text: str) -> None:
        """Take in the rows of one file. Raises OntologyError naming line and column."""
        self.sources.append(name)
        seen: dict[tuple[str, str], str] = {}
        for section, where, row in _rows(name, text):
            symbol = self._node(row, where) if section == "node types" else self._edge(row, where)
            if (section, symbol) in seen:
                raise _bad(f"a second row for {symbol!r}", f"{where}:1", f"the first is {seen[section, symbol]}")
            seen[section, symbol] = where

    def _node(self, row: _Row, where: str) -> str:
        symbol = _symbol(row["symbol"], "Symbol")
        title = row["type"]
        if re.sub(r"[\s-]+", "_", title.text.strip("`").strip().lower()) != symbol:
            what = f"Type {title.text!r} and Symbol {symbol!r} differ"
            raise _bad(what, title.where, "the symbol is the type in small letters")
        old = self.nodes.get(symbol)
        kinds, carries = _cell(row, "kinds").names(_NAME), _cell(row, "must carry").names(_CARRIED)
        if old is None:
            self.nodes[symbol] = NodeType(
                self._next(self.nodes, MAX_NODE_TYPES, where), symbol, kinds, carries,
                _cell(row, "layer").one_of(NODE_LAYERS, "reason"), self._letter(_cell(row, "letter"), symbol),
                _cell(row, "means").text, where,
            )  # fmt: skip
            return symbol
        _same(row, "layer", old.layer, symbol)
        _same(row, "letter", old.letter, symbol)
        if extra := set(carries) - set(old.must_carry):
            raise _bad(f"{symbol} would have to carry {min(extra)} too", row["must carry"].where, _ONLY_ADD)
        if old.kinds or not kinds:
            self.nodes[symbol] = replace(old, kinds=old.kinds + tuple(k for k in kinds if k not in old.kinds))
        return symbol

    def _edge(self, row: _Row, where: str) -> str:
        symbol = _symbol(row["edge"], "Edge")
        pairs = self._pairs(_cell(row, "legal pairs"))
        old = self.edges.get(symbol)
        if old is None:
            self.edges[symbol] = EdgeType(
                self._next(self.edges, MAX_EDGE_TYPES, where), symbol, pairs, _invalidation(row, where),
                _cell(row, "impact").one_of(IMPACTS, "none"), _weight(_cell(row, "weight"), 0.5),
                _cell(row, "layer").one_of(EDGE_LAYERS, "reason"), self._alternatives(row, pairs),
                _cell(row, "means").text, where,
            )  # fmt: skip
            return symbol
        for column in ("invalidation", "impact", "layer"):
            _same(row, column, getattr(old, column), symbol)
        if _weight(_cell(row, "weight"), old.weight) != old.weight:
            raise _bad(f"the weight of {symbol} is {old.weight:g}", row["weight"].where, _ONLY_ADD)
        alternatives = old.alternatives | self._alternatives(row, pairs - old.pairs)
        self.edges[symbol] = replace(old, pairs=old.pairs | pairs, alternatives=alternatives)
        return symbol

    def _alternatives(self, row: _Row, legal: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        cell = _cell(row, "alternatives")
        pairs = self._pairs(cell) if cell.text else frozenset()
        for pair in sorted(pairs - legal):
            what = f"{pair[0]}→{pair[1]} is not among the pairs that this row brings"
            raise _bad(what, cell.where, "name only pairs of its Legal pairs")
        return pairs

    def _pairs(self, cell: _Cell) -> frozenset[tuple[str, str]]:
        pairs = set()
        for part in cell.text.split(","):
            match = _PAIR.fullmatch(part.strip())
            if match is None:
                raise _bad(f"{part.strip()!r} is not a pair", cell.where, "write source→target, with commas between")
            pairs.add((match.group(1), match.group(2)))
            self._pair_cells += [(match.group(1), cell.where), (match.group(2), cell.where)]
        return frozenset(pairs)

    def _letter(self, cell: _Cell, symbol: str) -> str:
        taken = {n.letter: n.symbol for n in self.nodes.values()}
        if not cell.text:
            letters = symbol.upper() + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + symbol
            return next((c for c in letters if c.isalpha() and c not in taken), "")
        if len(cell.text) != 1 or not cell.text.isprintable():
            raise _bad(f"{cell.text!r} is not one letter", cell.where, "give one letter, or none")
        if cell.text in taken:
            raise _bad(f"the letter {cell.text} is taken by {taken[cell.text]}", cell.where, "choose a free one")
        return cell.text

    def _next(self, rows: Mapping[str, object], limit: int, where: str) -> int:
        if len(rows) == limit:
            raise _bad(f"more than {limit} types", f"{where}:1", "use kinds of a type, or a role on an edge")
        return len(rows)

    def build(self) -> Ontology:
        """The checked ontology. Raises OntologyError: no usable rows, or a pair of types nobody declared."""
        if not self.nodes or not self.edges:
            what = "no node types" if not self.nodes else "no edge types"
            raise _bad(f"the file declares {what}", ", ".join(self.sources), "it needs a table under that heading")
        for name, where in self._pair_cells:
            if name not in self.nodes:
                raise _unknown("node type", name, self.nodes, where)
        digest = _digest(self.nodes.values(), self.edges.values())
        return Ontology(MappingProxyType(self.nodes), MappingProxyType(self.edges), digest, tuple(self.sources))


_ONLY_ADD = "a later file may add kinds, pairs and rows, not change one"


def _cell(row: _Row, column: str) -> _Cell:
    return row.get(column) or _Cell("", "")


def _symbol(cell: _Cell, column: str) -> str:
    name = cell.text.strip("`").strip()
    if not _NAME.fullmatch(name):
        what = f"{name!r} is not a name" if name else f"the {column} cell is empty"
        raise _bad(what, cell.where, "use small letters, digits and _, beginning with a letter")
    return name


def _same(row: _Row, column: str, old: str, symbol: str) -> None:
    cell = _cell(row, column)
    value = cell.text.strip("`").strip()
    if value and value not in (old, old.capitalize()):
        raise _bad(f"the {column} of {symbol} is {old}, not {value}", cell.where, _ONLY_ADD)


def _invalidation(row: _Row, where: str) -> str:
    cell = _cell(row, "invalidation")
    value = cell.one_of(INVALIDATIONS, "")
    if not value:
        raise _bad("the edge states no Invalidation", cell.where or f"{where}:1", f"one of: {', '.join(INVALIDATIONS)}")
    return value


def _weight(cell: _Cell, default: float) -> float:
    if not cell.text:
        return default
    if not _WEIGHT.fullmatch(cell.text):
        raise _bad(f"{cell.text!r} is not a weight", cell.where, "give a number from 0 to 1, such as 0.8")
    return float(cell.text)


def _digest(nodes: Iterable[NodeType], edges: Iterable[EdgeType]) -> str:
    lines = [repr(("node", n.code, n.symbol, n.kinds, n.must_carry, n.layer, n.letter)) for n in nodes]
    for e in edges:
        row = (e.code, e.symbol, sorted(e.pairs), e.invalidation, e.impact, e.weight, e.layer, sorted(e.alternatives))
        lines.append(repr(("edge", *row)))
    return hashlib.sha256("\n".join(lines).encode("ascii", "backslashreplace")).hexdigest()
