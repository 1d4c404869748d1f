"""Zoom: one node as text at L0, L1, L2 or L3 (DESIGN §10), from the disk, with what is gated left out.

Who calls: ``pack`` through ``context``. What may not come in: budgets, queries. A node whose bytes are gated has its name
and place at every zoom and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from mog.engine.code import git
from mog.engine.code.view import CodeView
from mog.engine.errors import GitRefused
from mog.engine.model import Edge, Freshness, Neighborhood, Node, Tier
from mog.engine.retrieval.model import Rendered, Zoom
from mog.engine.retrieval.skeleton import Outline, Outlines

NEIGHBOURS = 8
TEXT_LINES = 40
FILE_BYTES = 200_000
_CALLS = ("calls",)


class Zoomer:
    """Renders nodes of one view.

    Args:
        view: the generation. outlines: files on disk. root: of the work tree, for blame.
    """

    def __init__(self, view: CodeView, outlines: Outlines, root: Path) -> None:
        self.view = view
        self.outlines = outlines
        self.root = root

    def render(self, node: Node, zoom: Zoom) -> Rendered:
        """One node; a node that is no longer on disk has an empty text and says so."""
        if node.gated or node.kind == "gated":
            return Rendered("", zoom, Freshness.gated, True, ("gated: its name and place are all that is shown",))
        if zoom is Zoom.L0 or not node.path:
            return Rendered(self._line(node), Zoom.L0, self._freshness(node))
        outline = self.outlines.of(self.view, node.path)
        if outline is None:
            return Rendered("", zoom, Freshness.missing, False, ("the file cannot be read now",))
        if outline.gated:
            return Rendered("", zoom, Freshness.gated, True, ("gated: its name and place are all that is shown",))
        warnings = (
            ("the file changed since it was indexed; this is the text on disk",)
            if outline.freshness is Freshness.drifted
            else ()
        )
        if zoom is Zoom.L3 or node.type == "file":
            return self._file(outline, zoom, warnings)
        return self._symbol(outline, node, zoom, warnings)

    def _symbol(self, outline: Outline, node: Node, zoom: Zoom, warnings: tuple[str, ...]) -> Rendered:
        ord_ = outline.find(node.qual)
        if ord_ is None:
            return Rendered("", zoom, Freshness.missing, False, ("the symbol is no longer in the file",))
        if outline.withheld(ord_):
            return Rendered("", zoom, Freshness.gated, True, ("gated: its name and place are all that is shown",))
        if zoom is Zoom.L1:
            return Rendered(outline.skeleton(ord_), zoom, outline.freshness, False, warnings)
        return Rendered(outline.body(ord_) + self._around(node), zoom, outline.freshness, False, warnings)

    def _file(self, outline: Outline, zoom: Zoom, warnings: tuple[str, ...]) -> Rendered:
        if zoom is Zoom.L1 or (zoom is Zoom.L2 and outline.syms):
            text = outline.contents() if outline.syms else _beginning(outline.clean)
            return Rendered(text, Zoom.L1, outline.freshness, False, warnings)
        text = outline.clean[:FILE_BYTES].decode("utf-8", "replace").replace("\r\n", "\n")
        if len(outline.clean) > FILE_BYTES:
            warnings = (*warnings, f"cut after {FILE_BYTES} of {len(outline.clean)} bytes")
        if zoom is Zoom.L3:
            text = self._blamed(outline.path, text)
        return Rendered(text, zoom, outline.freshness, False, warnings)

    def _line(self, node: Node) -> str:
        """Path and names: all of L0."""
        if node.type != "file":
            return f"{node.path}: {node.qual or node.name}"
        row = self.view.db.file_by_path(os.fsencode(node.path))
        rows = self.view.db.nodes_of_file(row.id) if row is not None else []
        names = [one.name for one in rows if one.type == "symbol" and "." not in one.qual]
        return f"{node.path}: {', '.join(names[:40])}" + (f" … {len(names) - 40} more" if len(names) > 40 else "")

    def _freshness(self, node: Node) -> Freshness:
        row = self.view.db.file_by_path(os.fsencode(node.path)) if node.path else None
        return self.outlines.disk.file_freshness(row)

    def _around(self, node: Node) -> str:
        """Callers and callees as signatures, certain ones; the others as counts."""
        fresh: Callable[[object], Freshness] = lambda _row: Freshness.unknown  # noqa: E731
        hood = self.view.neighborhood(node, _CALLS, "both", (Tier.certain,), 4 * NEIGHBOURS, fresh)
        return "".join((_listed("called by", hood.edges_in, _more(hood, incoming=True)),
                        _listed("calls", hood.edges_out, _more(hood, incoming=False))))  # fmt: skip

    def _blamed(self, path: str, text: str) -> str:
        """Each line with the commit and day that wrote it last; the text alone where git cannot say."""
        try:
            marks = blame(self.root, path)
        except GitRefused:
            return text
        lines = text.split("\n")
        return "\n".join(
            f"{mark} {line}" for mark, line in zip([*marks, *[" " * 19] * len(lines)], lines, strict=False)
        )


def blame(root: Path, path: str) -> list[str]:
    """``commit date`` of each line, without names of people (git blame --porcelain).

    Raises:
        GitRefused: no repository, or the file is not tracked.
    """
    out = git.run(root, "blame", "--porcelain", "--", path)
    dates: dict[bytes, str] = {}
    marks: list[str] = []
    commit = b""
    for line in out.split(b"\n"):
        if line[:1] == b"\t":
            marks.append(f"{commit[:8].decode()} {dates.get(commit, ''):10}")
        elif line.startswith(b"committer-time "):
            dates[commit] = _day(int(line.split()[1]))
        elif len(line.split(b" ")[0]) in (40, 64):
            commit = line.split(b" ")[0]
    return marks


def _day(seconds: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _beginning(data: bytes) -> str:
    lines = data[:20_000].decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return "\n".join(lines[:TEXT_LINES]) + ("\n…" if len(lines) > TEXT_LINES else "")


def _listed(title: str, edges: Sequence[Edge], more: str) -> str:
    nodes = list({edge.other.key: edge.other for edge in edges if edge.other.path}.values())
    if not nodes and not more:
        return ""
    lines = [
        f"    {_place(node)}  {'' if node.gated else node.signature or node.name}".rstrip()
        for node in nodes[:NEIGHBOURS]
    ]
    rest = len(nodes) - NEIGHBOURS
    tail = "; ".join(part for part in (f"{rest} more" if rest > 0 else "", more) if part)
    return "\n".join(["", f"# {title}:", *lines, *([f"    ({tail})"] if tail else [])])


def _place(node: Node) -> str:
    return f"{node.path}::{node.qual}" if node.qual else node.path


def _more(hood: Neighborhood, *, incoming: bool) -> str:
    """What the certain edges leave out, in numbers: never silent."""
    totals = hood.totals_in if incoming else hood.totals_out
    maybe = sum(
        count for (kind, tier), count in totals.items() if kind == "calls" and tier in (Tier.hierarchy, Tier.candidate)
    )
    unknown = hood.boundary.unknown + hood.boundary.capped if incoming else sum(
        count for (kind, tier), count in totals.items() if kind == "calls" and tier is Tier.unknown)  # fmt: skip
    words = [f"{maybe} maybe" if maybe else "", f"{unknown} unknown" if unknown else ""]
    return ", ".join(word for word in words if word)
