"""A workspace of plain values for tests of surfaces: same doors as ``mog.engine.workspace.Workspace``, no disk.

Every name in it is hostile: escape sequences, a bidirectional override, an undecodable byte, a line break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from mog.engine import model as m
from mog.engine.config import EngineConfig
from mog.engine.errors import AmbiguousTarget, HeldByOther, IndexMissing, NotFound, PolicyDenied
from mog.engine.ontology import load
from mog.engine.retrieval import model as r
from mog.engine.retrieval import pack, shapes
from mog.engine.snapshots.model import Annotation

EVIL = "a\x1b[31m\u202eb\udcff\nc\u200b.py"
STAMP = m.IndexStamp(7, "main 4f2a19c", True)
NODE = m.Node(
    key=1,
    id="0" * 32,
    type="symbol",
    kind="method",
    name="total",
    qual="Cart.to\x07tal",
    path=EVIL,
    line=41,
    end_line=43,
    signature="def total(self, \u2066x) -> int",
    doc="Sum \x9b of lines.",
)
CALLER = m.Node(2, "1" * 32, "symbol", "function", "bill", "bill", "jobs/invoice.py", 3, 9, "def bill(cart)")
GATED = m.Node(3, "2" * 32, "symbol", "const", "KEY", "KEY", "conf.py", 1, 1, gated=True)
LOOSE = m.Node(4, "3" * 32, "unresolved", "receiver", "send\x1b]0;", "", "")
LIMITS = m.Boundary(omitted=3, gated=1, unknown=2, maybe=4, capped=5, notes=("one\x1b[0m note",))
ANCHOR = m.Anchor(f"sym:{EVIL}::Cart.total", "method", "ab" * 16, "cd" * 16, "python 0.25")
PIN = m.Pin("p1", "totals round \u202e once", ANCHOR, 4, "2026-01-02T03:04:05Z")
STATES = tuple(
    m.PinState(PIN, freshness, "" if freshness is m.Freshness.fresh else "body \x1b changed", f"sym:{EVIL}::x", (4, 9))
    for freshness in m.Freshness
)
SCIP = m.ScipHealth(
    (f"{EVIL}.scip (tool \x1b)",), {"used": 3, "written_later": 2, "other_bytes": 1}, {"other_bytes": (EVIL,)}, 9, 2, 1,
    {f"{EVIL}.scip: documents: truncated": 1},
)  # fmt: skip
HEALTH = m.ScanHealth(
    seen=12,
    indexed=9,
    text_only=2,
    skipped={"too_large": 1, "fifo": 2},
    examples={"fifo": (EVIL,)},
    gated=1,
    gated_symbols=2,
    languages={"python": 7, "text": 2},
    problems={EVIL: "parse \x1b error"},
    problem_count=1,
    warnings=("odd \x08 thing",),
)
TIERS = {"certain": 5, "hierarchy": 1, "candidate": 2, "unknown": 9}
REPORT = m.IndexReport(9, 40, {"calls": 17, "defines": 40}, TIERS, HEALTH, "f" * 64, 7, 3, 2, True, 1.25, 0.75)
STATUS = m.Status(
    f"/r/{EVIL}", True, 9, 40, {"calls": 17}, TIERS, 2, 1, 123_456, 3_700.0, "f" * 64, HEALTH, "off \x1b", STAMP
)
HITS = tuple(m.Hit(node, 1.5, m.Freshness.drifted) for node in (NODE, CALLER, GATED, LOOSE))
SEARCH = m.SearchAnswer(f"to\x1btal {EVIL}", HITS, 7, LIMITS, STAMP)
EDGE_IN = m.Edge("calls", m.Tier.certain, CALLER, False, "total")
EDGE_OUT = m.Edge("calls", m.Tier.unknown, LOOSE, True, "send\x1b", 12)
HOOD = m.Neighborhood(
    NODE,
    m.Freshness.drifted,
    (EDGE_IN,),
    (EDGE_OUT,),
    {("calls", m.Tier.certain): 1},
    {("calls", m.Tier.unknown): 12},
    STATES,
    LIMITS,
    STAMP,
    (m.CoChanged(EVIL, 3, 4),),
    "co-change from 9 commits \x1b",
)
REACHED = (
    m.Reached(CALLER, 1, NODE, "calls", m.Tier.certain, m.Freshness.fresh),
    m.Reached(NODE, 2, CALLER, "calls", m.Tier.hierarchy, m.Freshness.moved),
)
IMPACT = m.ImpactAnswer(
    NODE, REACHED, 2, (1, 1), (CALLER,), 3, 2, LIMITS, STAMP,
    seeds=(NODE, GATED), maybe_total=5, test_files=(EVIL,), test_files_total=1, importers=(CALLER,), importers_total=1,
    importers_all=4, named=(m.Named(NODE, 2),), named_total=2, co_changed=HOOD.co_changed, history=HOOD.history, next=2,
)  # fmt: skip
VERIFY = m.VerifyReport(STATES, 6, 1, 1, 1, 1, 2, 0, STAMP)
MAP = m.MapAnswer((m.MapRow(EVIL, "python", 12, 0.5, (NODE, CALLER)),), LIMITS, STAMP)
PAST = m.Past(EVIL, 9, 2, "2026-01-02", "2026-11-03", 4, EVIL, 3, 1, "2026-11-03", (m.Along(EVIL, "to\x1btal", 2, 3),), (EVIL,))
SURFACE = m.Surface(NODE, (EVIL,), (CALLER,), 3, {"read": 2})
CONTRACTS = m.ContractsAnswer(
    "ro\x1bute", (SURFACE,), 4, {"ro\x1bute": 4}, (m.PackState("dj\x1bango", EVIL, 3, 9, 1, EVIL, EVIL),), LIMITS, STAMP, next=1
)
CHECKS = (m.Check("store", "ok", "whole"), m.Check("gram\x1bmars", "warning", "no zig", "mog grammars add zig"))
GRAMMAR = m.GrammarInfo("py\x1bthon", "tree-sitter-python", "0.25.0", "ab" * 32, True, True, 7)
ROWS = ({"caller": f"{EVIL}:41", "callee": "b.py:2", "name": "to\x1btal", "tier": "certain"},)
SOURCE = "def total(self):\n\tx = '\x1b[2J\u202e'\n    return x\n"

RECORDS: tuple[object, ...] = (
    NODE,
    EDGE_IN,
    EDGE_OUT,
    LIMITS,
    HITS[0],
    SEARCH,
    HOOD,
    HOOD.co_changed[0],
    REACHED[0],
    IMPACT.named[0],
    IMPACT,
    ANCHOR,
    PIN,
    STATES[1],
    VERIFY,
    HEALTH,
    SCIP,
    m.ScipExport(2, 9, 1, 8, 7, 6, 5),
    REPORT,
    STATUS,
    MAP.rows[0],
    MAP,
    PAST,
    PAST.along[0],
    CONTRACTS,
    SURFACE,
    CONTRACTS.packs[0],
    CHECKS[1],
    GRAMMAR,
    STAMP,
    m.Progress("par\x1bse", 3, 9),
    m.Change("index", 7, (EVIL,), "x\x1b"),
)


class Context:
    """Packs and shapes of hostile text; a list of hits goes by the name ``search``."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def ranked(self, query: str, *, limit: int, kinds: tuple[str, ...], rerank: bool, progress: Any) -> Any:
        """Canned hits."""
        return self.workspace._answer("search", SEARCH, query=query, limit=limit, kinds=kinds, rerank=rerank)

    def search(self, query: str, **arguments: Any) -> Any:
        """Canned pack."""
        return self.workspace._answer("pack", pack_of(query), query=query, **arguments)

    def expand(self, target: str, **arguments: Any) -> Any:
        """Canned pack of one node."""
        self.workspace._find(target)
        return self.workspace._answer("expand", pack_of(target), target=target, **arguments)

    def prompt_pack(self, query: str, *, progress: Any) -> Any:
        """Canned section of a prompt."""
        made = shapes.PromptPack("loaded", "", EVIL, relevant_paths=(EVIL,), matched_nodes=(REF,), warnings=(EVIL,))
        return self.workspace._answer("prompt_pack", made, query=query)


def pack_of(query: str) -> Any:
    """One item whose every text is hostile."""
    hop = r.Hop(CALLER, "calls", m.Tier.candidate, False)
    item = pack.costed(
        r.Item(EVIL, "method", f"def f():\n\t{EVIL}", r.Zoom.L2, 0, 0, m.Freshness.drifted, path=(hop,), parts={EVIL: 1.0},
               provenance=EVIL, warnings=(EVIL,))
    )  # fmt: skip
    return r.Pack(query, (item,), 4_000, item.tokens, item.size, "bytes", 2, {"budget": 1}, m.Boundary(notes=(EVIL,)), STAMP,
                  page=f"ctx://{EVIL}", needed=7, warnings=(EVIL,))  # fmt: skip


REF = shapes.NodeRef(EVIL, EVIL, "symbol", "method", EVIL, EVIL, 1, "current")


class Advised:
    """A description as nobody could have recorded it: a ledger from elsewhere may hold anything."""

    def annotations(self, *locators: str) -> tuple[Annotation, ...]:
        said = (EVIL, "one\x1b[0m more")
        return (
            Annotation(
                "0" * 32, ANCHOR.locator, "4" * 32, f"Sums {EVIL}", said, said, said, "low", said, 0.5, "model \x9b 1",
                m.Freshness.drifted, "span \x1b changed", "ab" * 16,
            ),
        )  # fmt: skip


class Workspace:
    """The façade with canned answers; ``behaviour`` holds errors or answers by method name."""

    behaviour: ClassVar[dict[str, Any]] = {}
    calls: ClassVar[list[tuple[str, dict[str, Any]]]] = []

    @classmethod
    def open(
        cls, start: Path | None = None, *, configure: Callable[[Path], EngineConfig] | None = None, registry: object = None
    ) -> Workspace:
        """Open the fake; configuration is really loaded from ``start``."""
        cls._answer("open", None)
        if configure and start:
            configure(start)
        return cls()

    @classmethod
    def init(cls, root: Path) -> list[str]:
        """Files that would have been written."""
        return list(cls._answer("init", [".mogignore", EVIL]))

    @classmethod
    def _answer(cls, name: str, answer: Any, **arguments: Any) -> Any:
        cls.calls.append((name, arguments))
        answer = cls.behaviour.get(name, answer)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    root = Path(f"/r/{EVIL}")
    ledger_path = root / ".mog" / "ledger.db"
    ontology = load()
    watcher = "off \x1b"

    def find(self, target: str) -> Any:
        """Canned node."""
        self._find(target)
        return self._answer("find", NODE, target=target)

    def index(self, *, full: bool = False, workers: int | None = None, progress: Any = None) -> Any:
        """Report two steps of progress and the canned report."""
        for done in (1, 2):
            if progress:
                progress(m.Progress("parse", done, 2))
        return self._answer("index", REPORT, full=full, workers=workers)

    def has_index(self) -> Any:
        """Whether an index is there."""
        return self._answer("has_index", True)

    def status(self) -> Any:
        """Canned status."""
        return self._answer("status", STATUS)

    def search(self, query: str, *, limit: int = 20, kind: str = "") -> Any:
        """Canned hits."""
        return self._answer("search", SEARCH, query=query, limit=limit, kind=kind)

    @property
    def context(self) -> Context:
        """What agents are given."""
        return Context(self)

    @property
    def context_graph(self) -> Advised:
        """What a model said of the symbol."""
        return Advised()

    def believed(self, target: str) -> tuple[Any, ...]:
        return ()

    def neighbors(self, target: str, **arguments: Any) -> Any:
        """Canned neighbourhood; ``nobody`` is not found, ``many`` is ambiguous, ``early`` has no index."""
        self._find(target)
        return self._answer("neighbors", HOOD, target=target, **arguments)

    def impact(self, *targets: str, **arguments: Any) -> Any:
        """Canned impact."""
        for target in targets:
            self._find(target)
        return self._answer("impact", IMPACT, targets=targets, **arguments)

    def _find(self, target: str) -> None:
        if target == "nobody":
            raise NotFound("nothing is called nobody", way_out="the nearest is anybody")
        if target == "many":
            raise AmbiguousTarget(
                "many is the name of 2 nodes", [f"sym:{EVIL}::many", "sym:b.py::many"], way_out="give one of these"
            )
        if target == "early":
            raise IndexMissing("there is no index yet", way_out="run mog index")
        if "\\x1b" in target:
            raise NotFound("nothing is called that")

    def map(self, *, limit: int = 25, **arguments: Any) -> Any:
        """Canned map."""
        return self._answer("map", MAP, limit=limit, **arguments)

    def contracts(self, **arguments: Any) -> Any:
        """Canned surfaces."""
        return self._answer("contracts", CONTRACTS, **arguments)

    def source(self, target: str) -> Any:
        """Canned source."""
        return self._answer("source", (SOURCE, m.Freshness.fresh), target=target)

    def export_edges(self, kind: str) -> Iterator[dict[str, object]]:
        """Canned edges."""
        return iter(self._answer("export_edges", ROWS, kind=kind))

    def pin(self, locator: str, note: str) -> Any:
        """Canned pin."""
        self._find(locator)
        return self._answer("pin", STATES[0], locator=locator, note=note)

    def unpin(self, pin_id: str) -> Any:
        """Canned withdrawn pin."""
        self._find(pin_id)
        return self._answer("unpin", PIN, pin_id=pin_id)

    def pins(self) -> Any:
        """Canned pins."""
        return self._answer("pins", STATES)

    def verify(self, *, fix: bool = False) -> Any:
        """Canned report."""
        return self._answer("verify", VERIFY, fix=fix)

    def doctor(self, *, repair: bool = False) -> Any:
        """Canned checks."""
        return self._answer("doctor", CHECKS, repair=repair)

    def grammars(self) -> Any:
        """Canned grammars."""
        return self._answer("grammars", (GRAMMAR,))

    def add_grammar(self, lang: str) -> Any:
        """Canned grammar."""
        return self._answer("add_grammar", GRAMMAR, lang=lang)

    def close(self) -> None:
        """Count closings."""
        self._answer("close", None)


def find_root(start: Path) -> Path:
    """The start itself."""
    return start


HELD = HeldByOther("another mog (process 4242) writes", where=".mog/lock", way_out="wait for it or stop it")
DENIED = PolicyDenied("the span is gated", way_out="look at the file yourself")
