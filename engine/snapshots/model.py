"""The records of snapshots: annotations and their requests, identity, verdicts, versions, impact reports. Small, frozen, plain.

Who calls: the rooms of ``snapshots`` make them, ``app`` writes them as JSON and lines. What may not come in: behaviour beyond a
property, I/O. Field names are those of the Mozaiks contract where it has a name; a document says its ``schema``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mog.engine.model import Freshness, ScanHealth

REQUEST = "mog.context.annotation_request.v1"
ANNOTATIONS = "mog.context.annotations.v1"
MOZAIKS_ANNOTATIONS = "mozaiks.context_graph.semantic_annotations.v1"
SNAPSHOT = "mog.context.snapshot.v1"
IMPACT_QUERY = "mog.context.impact_query.v1"
IMPACT_REPORT = "mog.context.impact_report.v1"

HEALTHY, WARNING, BLOCKED = "healthy", "warning", "blocked"
CURRENT, PARTIALLY_STALE, STALE, UNSAFE, UNKNOWN = "current", "partially_stale", "stale", "unsafe", "unknown"


# annotations


@dataclass(frozen=True, slots=True)
class Relation:
    """One edge of an item: its type and tier, and the other end."""

    edge_type: str
    tier: str
    node_id: str
    locator: str


@dataclass(frozen=True, slots=True)
class RequestItem:
    """One symbol to be described, as the graph has it: no body, no byte of a file.

    Attributes:
        span_hash: what the symbol is now; an answer that brings it back is held against the symbol as it is then.
        contract_role, contract_layer: of the surface it implements, and of its place in the tree; "" when it has none.
        module_id, action_id, page_id: surfaces of that role it implements. side_effect_surface: what it touches, in words.
    """

    node_id: str
    locator: str
    path: str
    qualified_name: str
    kind: str
    line: int
    end_line: int
    signature: str
    span_hash: str
    contract_role: str
    contract_layer: str
    module_id: str
    action_id: str
    page_id: str
    side_effect_surface: str
    inbound: tuple[Relation, ...]
    outbound: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class AnnotationRequest:
    """A bounded request: what to describe and how the answer has to look.

    Attributes:
        omitted: reason → symbols that were meant and are not items (``limit``, ``gated``, ``annotated``, ``changed``, ``no_symbol``).
        request_digest: over everything else; an answer may name it.
    """

    schema: str
    app_id: str
    graph_id: str
    graph_hash: str
    generation: int
    ref: str
    stale_status: str
    limits: Mapping[str, object]
    answer: Mapping[str, object]
    items: tuple[RequestItem, ...]
    omitted: Mapping[str, int]
    request_digest: str = ""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What somebody's model said of a symbol: advice, never a fact.

    Attributes:
        node_id, locator: of the symbol. record: id of the claim that holds it.
        annotator: who said it, in its own words. freshness, reason: of the code under it, against the disk.
        trust: always ``advisory``. counts: False when what it came from was retracted or contradicted.
    """

    node_id: str
    locator: str
    record: str
    purpose: str
    domain_concepts: tuple[str, ...]
    side_effects: tuple[str, ...]
    invariants: tuple[str, ...]
    risk_level: str
    test_targets: tuple[str, ...]
    confidence: float
    annotator: str
    freshness: Freshness
    reason: str
    span_hash: str
    trust: str = "advisory"
    source: str = "llm_advisory"

    @property
    def stale(self) -> bool:
        """The code under it is not the code it was said of."""
        return self.freshness is not Freshness.fresh


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a file did.

    Attributes:
        applied: locators whose annotation was recorded; unchanged: those that said so already.
        replaced: annotations that gave way to a newer one.
        ignored: reason → items that were not recorded. cut: texts that were shortened, made plain or dropped.
        events: numbers of what was recorded. warnings: sentences for people.
    """

    applied: tuple[str, ...]
    unchanged: tuple[str, ...]
    replaced: int
    ignored: Mapping[str, int]
    cut: Mapping[str, int]
    request_generation: int
    generation: int
    events: tuple[int, ...]
    advisory_hash: str
    warnings: tuple[str, ...] = ()


# snapshots


@dataclass(frozen=True, slots=True)
class Identity:
    """What a snapshot is, as digests: equal trees, rules and tools give equal ones. No clock, no advice, no path of a machine.

    Attributes:
        facts_hash: of files, links, extractors, grammars and GRAPH.md. sources, parsers, scan, ontology: of each apart.
        app_id, ref: whose graph, and the commit it was read at. identity_digest: over all of these.
        advisory_hash: over annotations that count; outside of ``identity_digest``.
    """

    schema: str
    app_id: str
    ref: str
    facts_hash: str
    source_manifest_digest: str
    parser_manifest_digest: str
    scan_health_digest: str
    ontology_digest: str
    identity_digest: str
    advisory_hash: str


@dataclass(frozen=True, slots=True)
class Stale:
    """Whether a graph can be trusted for planning, and why not. ``changed``: files that differ, at most a few of them named."""

    status: str
    reasons: tuple[str, ...] = ()
    changed_total: int = 0


@dataclass(frozen=True, slots=True)
class Reason:
    """One line of a verdict: a code to go by, a sentence, how many, and what to do."""

    code: str
    detail: str
    count: int = 0
    way_out: str = ""


@dataclass(frozen=True, slots=True)
class HealthReport:
    """``blocked`` when a blocker is there, ``warning`` when a warning is, else ``healthy``. ``notes`` change no verdict."""

    status: str
    blockers: tuple[Reason, ...]
    warnings: tuple[Reason, ...]
    notes: tuple[Reason, ...]
    coverage: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Version:
    """One recorded state of the graph.

    Attributes:
        commit: full id, the abbreviated one where git no longer knows it, "" without git. dirty: files differed from it.
        kept: whether its nodes and edges are kept, so that it can be compared.
        recorded_at: wall time, ISO 8601; outside of every digest.
    """

    commit: str
    ref: str
    dirty: bool
    facts_hash: str
    graph_digest: str
    identity_digest: str
    generation: int
    nodes: int
    edges: int
    files: int
    symbols: int
    status: str
    recorded_at: str
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot as it is answered; the document itself is written to a file.

    Attributes:
        path: where the document is, "" when none was asked for. size: its bytes.
        graph_digest: SHA-256 over its lines of nodes and edges.
    """

    schema: str
    graph_id: str
    app_id: str
    indexed_at: float
    generation: int
    identity: Identity
    stale: Stale
    health: HealthReport
    scan_health: ScanHealth
    node_counts: Mapping[str, int]
    edge_counts: Mapping[str, int]
    files: int
    symbols: int
    nodes: int
    edges: int
    annotations: int
    graph_digest: str
    path: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions held against each other: exact counts, and a few of each sort.

    ``examples``: ``added``, ``removed``, ``changed`` of ``nodes`` and ``edges`` as ``nodes.added`` → lines.
    """

    before: Version
    after: Version
    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """No node and no edge differs."""
        return not any(self.nodes.values()) and not any(self.edges.values())


# impact queries


@dataclass(frozen=True, slots=True)
class ImpactQuery:
    """What may be followed, from where, how far. ``direction``: ``inbound`` asks who leans on the seeds."""

    snapshot_digest: str
    seeds: tuple[str, ...]
    allowed_edge_types: tuple[str, ...]
    direction: str = "inbound"
    max_depth: int = 2
    allowed_node_kinds: tuple[str, ...] = ()
    max_results: int = 100
    scope_path: str = ""


@dataclass(frozen=True, slots=True)
class Affected:
    """One node that was reached, with its evidence.

    Attributes:
        seed: locator of the seed it is credited to, the nearest. path: locators from the seed to it.
        relationship_types: edge type of each step. distance: steps.
        authority: ``exact``, ``scoped``, ``heuristic`` or ``unresolved``: the least sure step. degradation_reason: "" when exact.
    """

    node_id: str
    locator: str
    node_type: str
    kind: str
    seed: str
    path: tuple[str, ...]
    relationship_types: tuple[str, ...]
    distance: int
    authority: str
    freshness: Freshness
    degradation_reason: str = ""


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """Answer to an impact query. Counts are of everything reached within the bounds; ``affected`` holds the first of them.

    Attributes:
        truncated: there is more than ``affected`` shows. capped: the search itself ended at its bound, so counts are a floor.
        files, contracts, boundaries: of what was reached: paths, surfaces, and files by top folder.
        ambiguity: nodes reached by links that are not certain. unresolved: names nobody could bind, beside what was reached.
        degraded: files reached whose parse was partial, with why.
        report_digest: SHA-256 over the canonical report without freshness, stale status and itself.
    """

    schema: str
    snapshot_digest: str
    query: ImpactQuery
    seeds: tuple[str, ...]
    affected: tuple[Affected, ...]
    total: int
    per_depth: tuple[int, ...]
    by_authority: Mapping[str, int]
    files: tuple[str, ...]
    files_total: int
    symbols_total: int
    contracts: tuple[str, ...]
    boundaries: Mapping[str, int]
    ambiguity: int
    unresolved: int
    degraded: Mapping[str, str]
    truncated: bool
    capped: bool
    stale_status: str
    report_digest: str = ""
