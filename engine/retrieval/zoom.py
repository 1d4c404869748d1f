"""Zoom: one node as text at L0, L1, L2 or L3 (DESIGN §10), from the disk, with what is gated left out.

Who calls: ``pack`` through ``context``. What may not come in: budgets, queries. A node whose bytes are gated, or that holds
something whose bytes are, has its name and place at every zoom and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mog.engine.code.facts import SIGNATURE_LIMIT
from mog.engine.code.view import CodeView
from mog.engine.errors import GitRefused
from mog.engine.model import Edge, Freshness, Neighborhood, Node, Tier
from mog.engine.retrieval.blame import blame
from mog.engine.retrieval.cuts import CLASSES
from mog.engine.retrieval.model import Rendered, Zoom
from mog.engine.retrieval.skeleton import GATED, Outline, Outlines
from mog.engine.store.schema import FileRow, NodeRow

NEIGHBOURS = 8
NAMES = 40
TEXT_LINES = 40
FILE_BYTES = 200_000
_CALLS = ("calls",)


class Zoomer:
    """Renders nodes of one view; each file is looked at once in its life, so that one answer shows one state of it.

    Args:
        view: the generation. outlines: files on disk. root: of the work tree, for blame.
    """

    def __init__(self, view: CodeView, outlines: Outlines, root: Path) -> None:
        self.view = view
        self.outlines = outlines
        self.root = root
        self._outlines: dict[str, Outline | None] = {}
        self._states: dict[str, Freshness] = {}
        self._rows: dict[str, list[NodeRow]] = {}

    def render(self, node: Node, zoom: Zoom) -> Rendered:
        """One node; a node that is no longer on disk has an empty text and says so."""
        if node.gated or node.kind == "gated":
            return self._gated(node, zoom)
        if zoom is Zoom.L0 or not node.path:
            return Rendered(self._line(node), Zoom.L0, self._freshness(node.path))
        outline = self._outline(node.path)
        if outline is None:
            return Rendered("", zoom, Freshness.missing, False, ("the file cannot be read now",))
        if outline.gated:
            return self._gated(node, zoom)
        drifted = outline.freshness is Freshness.drifted
        warnings = ("the file changed since it was indexed; this is the text on disk",) if drifted else ()
        if zoom is Zoom.L3 or node.type == "file":
            return self._file(outline, zoom, warnings)
        return self._symbol(outline, node, zoom, warnings)

    def least(self, node: Node, zoom: Zoom) -> int:
        """UTF-8 bytes that a node's text has at a zoom at least, found without making it; 0 where that is not known."""
        outline = self._outline(node.path) if node.path and not node.gated and zoom in (Zoom.L1, Zoom.L2) else None
        if outline is None or outline.gated:
            return 0
        if node.type == "file":
            return outline.least(-1) if zoom is Zoom.L1 else 0
        ord_ = outline.find(node.qual)
        if ord_ is None or outline.withheld(ord_):
            return 0
        return outline.least(ord_) if zoom is Zoom.L1 else len(outline.body(ord_).rstrip("\n"))

    def _gated(self, node: Node, zoom: Zoom) -> Rendered:
        """The name where that is all that was asked for, else nothing."""
        text = f"{node.path}: {node.qual or node.name}" if zoom is Zoom.L0 else ""
        return Rendered(text, zoom, Freshness.gated, True, (GATED,))

    def _symbol(self, outline: Outline, node: Node, zoom: Zoom, warnings: tuple[str, ...]) -> Rendered:
        ord_ = outline.find(node.qual)
        if ord_ is None:
            return Rendered("", zoom, Freshness.missing, False, ("the symbol is no longer in the file",))
        if outline.withheld(ord_):
            return self._gated(node, zoom)
        text = outline.skeleton(ord_) if zoom is Zoom.L1 else outline.body(ord_) + self._around(node)
        return Rendered(text, zoom, outline.freshness, False, warnings)

    def _file(self, outline: Outline, zoom: Zoom, warnings: tuple[str, ...]) -> Rendered:
        if zoom is Zoom.L1 or (zoom is Zoom.L2 and outline.syms):
            text = outline.contents() if outline.syms else _beginning(outline.clean)
            return Rendered(text, Zoom.L1, outline.freshness, False, warnings)
        text = outline.clean[:FILE_BYTES].decode("utf-8", "replace").replace("\r\n", "\n")
        if len(outline.clean) > FILE_BYTES:
            warnings = (*warnings, f"cut after {FILE_BYTES} of {len(outline.clean)} bytes")
        if outline.blanked:
            warnings = (*warnings, f"{outline.blanked} gated values are blanked")
        if zoom is Zoom.L3:
            text, why = self._blamed(outline.path, text)
            warnings = (*warnings, why) if why else warnings
        return Rendered(text, zoom, outline.freshness, False, warnings)

    # L0

    def _line(self, node: Node) -> str:
        """Path and names: all of L0. Of a file what stands at module level, of a class its members."""
        if node.type == "file":
            names = [one.name for one in self._rows_of(node.path) if one.type == "symbol" and "." not in one.qual]
            return f"{node.path}: {_names(names)}" if names else node.path
        if node.kind not in CLASSES:
            return f"{node.path}: {node.qual or node.name}"
        depth = node.qual.count(".") + 1
        inner = [one for one in self._rows_of(node.path) if one.type == "symbol" and one.qual.startswith(node.qual + ".")]
        names = [one.name for one in inner if one.qual.count(".") == depth]
        return f"{node.path}: {node.qual}" + (f": {_names(names)}" if names else "")

    def _rows_of(self, path: str) -> list[NodeRow]:
        if path not in self._rows:
            row = self.view.file_at(path)
            self._rows[path] = self.view.db.nodes_of_file(row.id) if row is not None else []
        return self._rows[path]

    # files, looked at once

    def _outline(self, path: str) -> Outline | None:
        if path not in self._outlines:
            self._outlines[path] = self.outlines.of(self.view, path)
        return self._outlines[path]

    def _freshness(self, path: str) -> Freshness:
        known = self._outlines.get(path)
        if known is not None:
            return known.freshness
        return self._fresh(self.view.file_at(path) if path else None)

    def _fresh(self, row: FileRow | None) -> Freshness:
        path = os.fsdecode(row.path) if row is not None else ""
        if path not in self._states:
            self._states[path] = self.outlines.disk.file_freshness(row)
        return self._states[path]

    # neighbours

    def _around(self, node: Node) -> str:
        """Callers and callees as signatures, certain ones; the others as counts."""
        hood = self.view.neighborhood(node, _CALLS, "both", (Tier.certain,), 2 * NEIGHBOURS, self._fresh)
        callers = _listed("called by", hood.edges_in, hood, incoming=True)
        return callers + _listed("calls", hood.edges_out, hood, incoming=False)

    def _blamed(self, path: str, text: str) -> tuple[str, str]:
        """Each line with the commit and day that wrote it last; the text alone, and why, where git cannot say."""
        try:
            marks = blame(self.root, path)
        except GitRefused as error:
            return text, f"without blame: {error.what}"
        if not marks:
            return text, "without blame: this folder is not kept in git"
        blank = " " * len(marks[0])
        lines = text.removesuffix("\n").split("\n")
        return "\n".join(f"{marks[n] if n < len(marks) else blank} {line}" for n, line in enumerate(lines)), ""


def _names(names: Sequence[str]) -> str:
    each = list(dict.fromkeys(names))
    return ", ".join(each[:NAMES]) + (f" … {len(each) - NAMES} more" if len(each) > NAMES else "")


def _beginning(data: bytes) -> str:
    lines = data[:20_000].decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return "\n".join(lines[:TEXT_LINES]) + ("\n…" if len(lines) > TEXT_LINES else "")


def _listed(title: str, edges: Sequence[Edge], hood: Neighborhood, *, incoming: bool) -> str:
    nodes = {edge.other.key: edge for edge in edges if edge.other.path}
    lines = [_neighbour(edge) for edge in list(nodes.values())[:NEIGHBOURS]]
    totals = hood.totals_in if incoming else hood.totals_out
    rest = totals.get(("calls", Tier.certain), 0) - sum(edge.count for edge in list(nodes.values())[:NEIGHBOURS])
    tail = "; ".join(part for part in (f"{rest} more" if rest > 0 else "", _more(hood, incoming=incoming)) if part)
    if not lines and not tail:
        return ""
    return "\n".join(["", f"# {title}:", *lines, *([f"    ({tail})"] if tail else [])])


def _neighbour(edge: Edge) -> str:
    """Place and signature of a neighbour, and whether its file changed since the signature was read."""
    node = edge.other
    place = f"{node.path}::{node.qual}" if node.qual else node.path
    signature = "" if node.gated else node.signature or node.name
    cut = "…" if len(signature) >= SIGNATURE_LIMIT else ""
    state = f"  ({edge.freshness.value})" if edge.freshness not in (Freshness.fresh, Freshness.unknown) else ""
    return f"    {place}  {signature}{cut}{state}".rstrip()


def _more(hood: Neighborhood, *, incoming: bool) -> str:
    """What the certain edges leave out, in numbers: never silent."""
    totals = hood.totals_in if incoming else hood.totals_out
    maybe = sum(count for (kind, tier), count in totals.items() if kind == "calls" and tier in (Tier.hierarchy, Tier.candidate))
    unknown = hood.boundary.unknown + hood.boundary.capped if incoming else totals.get(("calls", Tier.unknown), 0)
    words = [f"{maybe} maybe" if maybe else "", f"{unknown} unknown" if unknown else ""]
    return ", ".join(word for word in words if word)
