"""The bars: what each figure has to reach, where it should stand, and what the best peer showed.

Who calls: ``benchmarks.index``. What may not come in: measuring. Peer figures were measured on one shared 2-core
machine; a peer beside ours in the same run is had with ``--peer``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """One row: what, unit, the most it may be, where it should be, and the best peer's published or measured figure."""

    what: str
    unit: str
    target: float
    aim: float
    peer: str = ""

    def verdict(self, value: float) -> str:
        """``aim met``, ``target met`` or ``**short**``; lower is better throughout."""
        return "aim met" if value <= self.aim else "target met" if value <= self.target else "**short**"


BARS = {
    "full": Bar(
        "full index, processor time",
        "CPU-s",
        10,
        5,
        "24.5 codegraph; 57 codebase-memory; 220 scip-python; 33.7 mog 0.1.2",
    ),
    "rss": Bar("peak memory of the full index", "MB", 350, 250, "258 jcodemunch; 888 codegraph; 5,839 codebase-memory"),
    "disk": Bar("index on disk", "MB", 80, 50, "68 jcodemunch; 164 codegraph; 223 codebase-memory; 120 mog 0.1.2"),
    "none": Bar("no-change run", "CPU-s", 0.5, 0.2, "0.8 mog 0.1.2"),
    "edit": Bar(
        "one edited file, cold command", "CPU-s", 0.5, 0.3, "0.81 codegraph; 57.9 codebase-memory; 20.5 mog 0.1.2"
    ),
    "live": Bar("one edited file, live process, save → graph fresh, p50", "ms", 150, 50, "2,000 debounce of codegraph"),
    "idle": Bar("idle processor share of the live process on a dirty tree", "%", 1, 1, "60 codedb; 70 codebase-memory"),
    "search": Bar("search, warm, in process, median", "ms", 10, 3, "7–41 over MCP"),
    "callers": Bar("callers of one symbol, warm, in process, median", "ms", 5, 2, "3.8 codegraph over MCP"),
    "closure": Bar("reverse closure of a symbol (< 5,000 nodes), median", "ms", 5, 2),
    "clean": Bar("no-change run over 100,000 clean files", "CPU-s", 1, 0.3, "git alone 0.2"),
    "million": Bar("reverse closure of 1M nodes / 4M edges", "s", 0.5, 0.3, "0.14 scipy; 16.5 networkx"),
    "node": Bar("memory per node with four edges, 1M nodes", "B", 120, 60, "2,802 networkx; 130 rustworkx"),
}
SYMPY_PEERS = {
    "full": "36.9 codegraph; 14.8 optave (few calls); 95 codebase-memory",
    "rss": "1,022 codegraph; 537 optave; 4,352 codebase-memory",
    "disk": "250 codegraph; 120 optave; 251 codebase-memory",
}
