"""The records that rooms hand each other and surfaces render: small, frozen, plain.

Who calls: every module of the engine returns these, ``app`` turns them into text, JSON and widget rows.
What may not come in: behaviour, I/O, JSON. Paths are ``str`` in ``os.fsdecode`` form (surrogates possible); nothing here is
sanitised, that happens once at the store→view edge (``app/present.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum

from mog.engine import ids


class Tier(IntEnum):
    """How sure a link is. ``unknown`` marks an edge to an unresolved node."""

    certain = 0
    hierarchy = 1
    candidate = 2
    unknown = 3


class Freshness(StrEnum):
    """Have the bytes moved since the anchor was recorded? Recomputed both ways; never stored as truth."""

    fresh = "fresh"
    drifted = "drifted"
    moved = "moved"
    missing = "missing"
    gated = "gated"
    unknown = "unknown"


@dataclass(frozen=True, slots=True)
class IndexStamp:
    """Which index answered.

    Attributes:
        ref: the git ref it was built on. dirty: the tree differs from that ref.
        unread: files that it does not know yet, as it is the first of this repository and being built.
    """

    generation: int
    ref: str
    dirty: bool
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the code layer.

    Attributes:
        key: integer key inside this index (not stable across a rebuild).
        id: 32 hex digits, deterministic (see ``engine/ids.py``).
        type: ontology symbol of the node type, e.g. ``symbol``.
        kind: one of the type's kinds, e.g. ``method``.
        name: last part of the qualified name.
        qual: qualified name inside the file, with role or ordinal (``C.x@setter``, ``f#2``); "" for files.
        path: file path relative to the root; "" for unresolved nodes.
        line, end_line: 1-based definition lines (``def``, not its decorator); 0 when there are none.
        signature: whole signature in one line; "" when gated.
        doc: first paragraph of the documentation, at most 300 characters.
        gated: the node keeps its name and has lost its bytes.
    """

    key: int
    id: str
    type: str
    kind: str
    name: str
    qual: str
    path: str
    line: int = 0
    end_line: int = 0
    signature: str = ""
    doc: str = ""
    gated: bool = False

    @property
    def locator(self) -> str:
        """Readable locator: ``sym:path::qual``, ``file:path``, ``unresolved:name``, ``entity:role:name``."""
        name = self.qual if self.type == "symbol" else f"{self.signature}:{self.name}" if self.type == "entity" else self.name
        return ids.locator(self.type, self.path, name)


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge seen from a node: the other end, the edge type, the tier, the name as written; ``known_by`` is ``scip`` for one that
    an index of the repository told, else "" (our own links)."""

    kind: str
    tier: Tier
    other: Node
    outgoing: bool
    name: str = ""
    count: int = 1
    freshness: Freshness = Freshness.unknown
    known_by: str = ""


@dataclass(frozen=True, slots=True)
class Boundary:
    """What an answer does not show. Unknown is never none.

    Attributes:
        omitted: results cut by a limit.
        gated: results withheld because they are gated.
        unknown: sites at which this name is called, or for a field used, on a receiver that is not known.
        maybe: edges in tiers below the one asked for.
        capped: call sites whose candidates were more than the cap and so were not drawn.
        notes: sentences for people.
    """

    omitted: int = 0
    gated: int = 0
    unknown: int = 0
    maybe: int = 0
    capped: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: node, score (higher is better), freshness of its file against the disk, what the score is made of."""

    node: Node
    score: float
    freshness: Freshness
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    query: str
    hits: tuple[Hit, ...]
    total: int
    boundary: Boundary
    index: IndexStamp


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """A node, its edges in and out (capped), exact totals per (direction, edge type, tier), and what is pinned on it.

    ``co_changed``: files that changed in the same commits, the strongest of ``co_changed_total``; ``history``: how far back
    that was looked ("" when it was not asked).
    """

    node: Node
    freshness: Freshness
    edges_in: tuple[Edge, ...]
    edges_out: tuple[Edge, ...]
    totals_in: Mapping[tuple[str, Tier], int]
    totals_out: Mapping[tuple[str, Tier], int]
    pins: tuple[PinState, ...]
    boundary: Boundary
    index: IndexStamp
    co_changed: tuple[CoChanged, ...] = ()
    history: str = ""
    co_changed_total: int = 0


@dataclass(frozen=True, slots=True)
class CoChanged:
    """A file that changed in the same commits: ``together`` of the ``commits`` that touched what was asked about."""

    path: str
    together: int
    commits: int

    @property
    def confidence(self) -> float:
        """Share of those commits that touched this file too (0..1)."""
        return self.together / self.commits


@dataclass(frozen=True, slots=True)
class Along:
    """A symbol with lines that were written by ``together`` of the ``commits`` that wrote the lines of the symbol asked about."""

    path: str
    qual: str
    together: int
    commits: int


@dataclass(frozen=True, slots=True)
class Past:
    """What the history says of a file, and of one symbol in it as far as its lines still stand. Nobody is named.

    Attributes:
        commits, authors: commits that touched the file, by how many people. first, last: days of the first and the last ("" unknown).
        lately: of these commits those of the 90 days before the newest commit. said: how far the history reaches, or why it is unknown.
        line_commits, line_authors, line_last: of the lines that the symbol has now (0 and "" of a file).
        along: symbols that have lines of the same commits. notes: what cannot be seen.
    """

    path: str
    commits: int = 0
    authors: int = 0
    first: str = ""
    last: str = ""
    lately: int = 0
    said: str = ""
    line_commits: int = 0
    line_authors: int = 0
    line_last: str = ""
    along: tuple[Along, ...] = ()
    notes: tuple[str, ...] = ()

    def noting(self, note: str) -> Past:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))

    def with_lines(self, commits: int, authors: int, last: str, along: tuple[Along, ...], note: str) -> Past:
        """The same with what the lines of a symbol say."""
        notes = (*self.notes, note) if note else self.notes
        return replace(self, line_commits=commits, line_authors=authors, line_last=last, along=along, notes=notes)


@dataclass(frozen=True, slots=True)
class Named:
    """A symbol or file in which a name is used ``count`` times in ways that no link stands for."""

    node: Node
    count: int


@dataclass(frozen=True, slots=True)
class Reached:
    """One node of an impact answer: its distance in hops and the node it was reached from (``via``)."""

    node: Node
    depth: int
    via: Node | None
    kind: str
    tier: Tier
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """Structural reachability over certain edges: what deserves a look, not what stops being true. Counts are exact at any size.

    Attributes:
        seed: the first of ``seeds``. What lies inside a seed (members of a class, symbols of a file) changes with it and is not
            among what is reached.
        reached: one page, nearest first, within a hop by path; ``total``, ``per_depth`` and ``files`` count all pages.
        tests, test_files: tests reached, and the files they are in.
        maybe_total: nodes that only links of the lower tiers reach.
        importers: files that import a file of a seed; ``importers_total`` of them directly, ``importers_all`` through others too,
            as deep as asked.
        named: for fields, constants and what no link leads to: who uses the name, at ``named_total`` sites.
        co_changed, history: files that changed in the same commits, and how far the history reaches ("" when it was not asked).
        after, next: rows left out before this page, and where the next page starts (0: this is the last).
        surfaces, surfaces_by_role: routes, pages, jobs, models, … among what changes or is reached, and how many of each role.
    """

    seed: Node
    reached: tuple[Reached, ...]
    total: int
    per_depth: tuple[int, ...]
    tests: tuple[Node, ...]
    tests_total: int
    files: int
    boundary: Boundary
    index: IndexStamp
    seeds: tuple[Node, ...] = ()
    maybe_total: int = 0
    test_files: tuple[str, ...] = ()
    test_files_total: int = 0
    importers: tuple[Node, ...] = ()
    importers_total: int = 0
    importers_all: int = 0
    named: tuple[Named, ...] = ()
    named_total: int = 0
    co_changed: tuple[CoChanged, ...] = ()
    history: str = ""
    after: int = 0
    next: int = 0
    surfaces: tuple[Node, ...] = ()
    surfaces_by_role: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Surface:
    """A route, model, job, command, page, …: what code of the repository offers to the outside or to a framework.

    ``node.signature`` is its role. ``files`` announce it, ``behind`` is the code that implements it (the first few of
    ``behind_total``), ``used`` counts who touches it by op (read, write, emit, consume, render).
    """

    node: Node
    files: tuple[str, ...]
    behind: tuple[Node, ...]
    behind_total: int
    used: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PackState:
    """A rule pack that found something or that a manifest asks for.

    ``files`` it said something about, ``found`` entries, ``unread`` places whose name is put together at run time,
    ``manifest`` that names the framework ("" for none), ``source`` the file the pack came from.
    """

    name: str
    title: str
    files: int
    found: int
    unread: int
    manifest: str
    source: str


@dataclass(frozen=True, slots=True)
class ContractsAnswer:
    """Surfaces of one role (or of all), a page of them, by role and name; ``by_role`` counts all, ``packs`` say why."""

    role: str
    rows: tuple[Surface, ...]
    total: int
    by_role: Mapping[str, int]
    packs: tuple[PackState, ...]
    boundary: Boundary
    index: IndexStamp
    after: int = 0
    next: int = 0


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a fact was recorded against. Hashes are hex; an anchor never holds a line number.

    Attributes:
        locator: readable locator at the moment of recording.
        kind: node kind.
        span_hash: hash of the whole span (``engine/code/anchors.py``), or of the bytes for a file.
        body_hash: the same with the declaration's own name masked ("" for a file).
        grammar: grammar and version the hash was made with ("" for a file).
        terms: a few rare words of the body, to find it again after a move.
        twins: locators that had the same body at that moment; none of them can be where it moved to.
    """

    locator: str
    kind: str
    span_hash: str
    body_hash: str
    grammar: str
    terms: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pin:
    """A note anchored to a node, as recorded in the ledger."""

    id: str
    note: str
    anchor: Anchor
    seq: int
    recorded_at: str


@dataclass(frozen=True, slots=True)
class PinState:
    """A pin and what the disk says about its anchor now."""

    pin: Pin
    freshness: Freshness
    reason: str
    now_at: str = ""
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class VerifyReport:
    states: tuple[PinState, ...]
    checked: int
    fresh: int
    drifted: int
    moved: int
    missing: int
    unknown: int
    fixed: int
    index: IndexStamp

    @property
    def drift_rate(self) -> float:
        """Share of checked anchors that no longer hold where they were recorded (0..1)."""
        return (self.drifted + self.missing) / self.checked if self.checked else 0.0


@dataclass(slots=True)
class ScipExport:
    """What a written SCIP index holds; counted while it is written.

    Attributes:
        documents, symbols: messages. changed: files whose bytes are no longer those that were indexed: symbols without places.
        definitions, calls, references: occurrences of each kind. unplaced: calls and references that may stand in several places.
    """

    documents: int = 0
    symbols: int = 0
    changed: int = 0
    definitions: int = 0
    calls: int = 0
    references: int = 0
    unplaced: int = 0


@dataclass(frozen=True, slots=True)
class ScipHealth:
    """What SCIP indexes of the repository give, and what of them is not used.

    Attributes:
        indexes: path of each index, with the tool that wrote it where it says so.
        documents: state → documents: ``used``, ``written_later`` (the file changed after the index), ``other_bytes``,
            ``not_indexed`` (no such source file here), ``unreadable``.
        examples: state → up to three paths, ``used`` left out.
        edges: edges of the graph that an index told. dropped: edges of ours it replaced.
        unplaced: occurrences whose symbol has no node here or is defined in a file that changed.
        problems: ``index: field: reason`` → count, for what could not be read.
    """

    indexes: tuple[str, ...] = ()
    documents: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    edges: int = 0
    dropped: int = 0
    unplaced: int = 0
    problems: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScanHealth:
    """An honest account of what was not indexed.

    Attributes:
        seen: paths listed under the root.
        indexed: files with a row in the index.
        text_only: files indexed as text, no symbols.
        no_symbols: of those, files that a person would expect symbols of: reason (``no_extractor``, ``unsupported_grammar``,
            ``machine_made``, ``large_data``) → count.
        skipped: reason → count.
        examples: reason → up to five paths.
        gated: files whose bytes are withheld.
        gated_symbols: symbols whose bytes are withheld.
        languages: language → files.
        problems: path → reason, for files whose parse was partial or failed (first 200).
        problem_count: how many such files there are.
        warnings: sentences for people.
        git: whether git listed the files (False: the folder was walked).
        scip: what SCIP indexes give; None where there are none.
    """

    seen: int = 0
    indexed: int = 0
    text_only: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gated: int = 0
    gated_symbols: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    problem_count: int = 0
    warnings: tuple[str, ...] = ()
    git: bool = True
    no_symbols: Mapping[str, int] = field(default_factory=dict)
    scip: ScipHealth | None = None


@dataclass(frozen=True, slots=True)
class IndexReport:
    files: int
    symbols: int
    edges: Mapping[str, int]
    calls_by_tier: Mapping[str, int]
    health: ScanHealth
    facts_hash: str
    generation: int
    parsed: int
    relinked: int
    changed: bool
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a long call: what is being done, how much of how much (``total`` 0 = not known)."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Status:
    root: str
    indexed: bool
    files: int
    symbols: int
    edges: Mapping[str, int]
    calls_by_tier: Mapping[str, int]
    pending: int
    pins: int
    bytes_on_disk: int
    age_seconds: float
    facts_hash: str
    health: ScanHealth
    watcher: str
    index: IndexStamp


@dataclass(frozen=True, slots=True)
class MapRow:
    """One file of the repository map: path, language, symbols, references into it, its top-level symbols, and its history if asked."""

    path: str
    language: str
    symbols: int
    rank: float
    top: tuple[Node, ...]
    past: Past | None = None


@dataclass(frozen=True, slots=True)
class MapAnswer:
    rows: tuple[MapRow, ...]
    boundary: Boundary
    index: IndexStamp


@dataclass(frozen=True, slots=True)
class Check:
    """One line of ``mog doctor``: name, state (ok, warning, damaged, repaired), sentence, way out."""

    name: str
    state: str
    detail: str
    way_out: str = ""


@dataclass(frozen=True, slots=True)
class GrammarInfo:
    """One language: what reads it (``wheel``, ``pack``, ``scanner``: mog's own, ``none``), its version, whether it loads, and
    files of it in the index.
    """

    language: str
    provider: str
    version: str
    digest: str
    loads: bool
    symbols: bool
    files: int


@dataclass(frozen=True, slots=True)
class Change:
    """One event of the change feed.

    Attributes:
        kind: ``index`` (a new generation is served), ``pins`` (pins or their freshness changed), ``beliefs`` (drift was
            recorded or judged), ``watch`` (the watcher's state changed), ``progress`` (indexing goes on), ``traffic`` (an
            agent asked), ``served`` (a working set changed), ``waiting`` (a request waits, or no longer does).
        generation: generation served after the change.
        paths: files concerned (may be empty).
        detail: a sentence, or the watcher's state.
    """

    kind: str
    generation: int
    paths: tuple[str, ...] = ()
    detail: str = ""
