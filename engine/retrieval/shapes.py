"""Three bounded shapes of one graph, with the fields of the Mozaiks Context Graph: catalog, prompt pack, scope. Never aliases.

Who calls: ``context``. What may not come in: ranking, text of bodies (a scope shows short excerpts), rights: no shape grants one.
The catalog is for a person or tool that browses; prompts and hooks are fed the prompt pack and nothing else; a scope checks paths
that somebody proposed, and answers with a question where one is not there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mog.engine.code.languages.paths import is_test_path
from mog.engine.code.view import CodeView
from mog.engine.model import Freshness, Node, ScanHealth, Tier
from mog.engine.retrieval import words
from mog.engine.retrieval.model import Advice, Found
from mog.engine.retrieval.scope import Clarification, check
from mog.engine.store.schema import FileRow

TREE, KEYWORDS, FILES, NODES, EDGES, CANDIDATES = 160, 16, 12, 20, 30, 12
PACK_PATHS, PACK_NODES, PACK_EDGES, PACK_TARGETS, PACK_WARNINGS = 12, 12, 16, 8, 8
SCOPE_FILES, SCOPE_NODES, SCOPE_EDGES, SCOPE_TARGETS, EXCERPT = 12, 40, 60, 20, 900
SCOPE_PATHS = 64
#: Edges looked at before the best are chosen: a hub has more than anybody needs to see.
LOOKED_AT = 2_000
#: Edge types in the order in which they are shown.
_EDGE_ORDER = ("imports", "calls", "defines", "declares", "contains")
#: Path priority (lower comes first): manifests, services, interface, configuration, source, the rest, prose, tests, scripts.
_PRIORITIES = (
    (0, re.compile(r"(^|/)(package\.json|pyproject\.toml|setup\.(py|cfg)|requirements[^/]*\.txt|go\.mod|module\.yaml)$")),
    (1, re.compile(r"(^|/)(services?|modules)/")), (2, re.compile(r"(^|/)(ui|components|pages)/")),
    (3, re.compile(r"(^|/)config/")), (4, re.compile(r"(^|/)workflows/")), (70, re.compile(r"(^|/)docs?/|\.(md|rst|txt)$")),
    (90, re.compile(r"(^|/)scripts?/")), (20, re.compile(r"(^|/)(src|lib)/")),
)  # fmt: skip
_OTHER, _TESTS = 50, 80


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may matter, and why: the words it matched, its priority by path, its best symbols."""

    path: str
    score: float
    matched_terms: tuple[str, ...]
    node_id: str
    path_priority: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node without its text."""

    node_id: str
    locator: str
    node_type: str
    kind: str
    label: str
    path: str
    line: int
    stale_status: str


@dataclass(frozen=True, slots=True)
class EdgeRef:
    """An edge between two shown nodes."""

    edge_type: str
    source_node_id: str
    target_node_id: str
    tier: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """What there is and what of it may answer a request. Every list is bounded; ``omitted`` says what was left out of which.

    ``status`` is ``loaded`` or ``unavailable`` with a reason.
    """

    present: bool
    graph_id: str
    app_id: str
    stale_status: str
    graph_hash: str
    node_counts: Mapping[str, int]
    edge_counts: Mapping[str, int]
    file_count: int
    file_tree: tuple[str, ...]
    request_keywords: tuple[str, ...]
    candidate_files: tuple[Candidate, ...]
    matched_nodes: tuple[NodeRef, ...]
    matched_edges: tuple[EdgeRef, ...]
    semantic_annotation_candidates: tuple[NodeRef, ...]
    scan_health: ScanHealth
    warnings: tuple[str, ...] = ()
    omitted: Mapping[str, int] = field(default_factory=dict)
    status: str = "loaded"
    reason: str = ""
    semantic_annotations: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptPack:
    """What a prompt or hook is given: short, bounded, no file tree. ``status`` is ``loaded`` or ``unavailable`` with a reason."""

    status: str
    reason: str
    app_id: str
    graph_id: str = ""
    stale_status: str = "unknown"
    graph_hash: str = ""
    summary: Mapping[str, object] = field(default_factory=dict)
    relevant_paths: tuple[str, ...] = ()
    matched_nodes: tuple[NodeRef, ...] = ()
    matched_edges: tuple[EdgeRef, ...] = ()
    semantic_annotation_targets: tuple[NodeRef, ...] = ()
    warnings: tuple[str, ...] = ()
    pack_kind: str = "context_graph_prompt_pack"
    source: str = "index"
    present: bool = True
    semantic_annotations: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class Selected:
    """One proposed path that is there: its node, the beginning of its text, its symbols."""

    present: bool
    node_id: str
    excerpt: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """What proposed paths mean. It informs; it grants no right to edit."""

    present: bool
    graph_id: str
    app_id: str
    stale_status: str
    selected_file_paths: tuple[str, ...]
    selected_scope: Mapping[str, Selected]
    related_file_paths: tuple[str, ...]
    related_nodes: tuple[NodeRef, ...]
    related_edges: tuple[EdgeRef, ...]
    semantic_annotation_request: tuple[NodeRef, ...]
    request_keywords: tuple[str, ...]
    clarifications: tuple[Clarification, ...]
    warnings: tuple[str, ...] = ()
    grants_edit: bool = False
    semantic_annotations: tuple[Advice, ...] = ()


Fresh = Callable[[FileRow | None], Freshness]
Excerpt = Callable[[str], str]


class Shaper:
    """Makes the three shapes from one view.

    Args:
        app: name of the project. fresh: freshness of a file's row. excerpt: text of a file that may be shown, "" when gated.
    """

    def __init__(self, view: CodeView, app: str, fresh: Fresh, excerpt: Excerpt) -> None:
        self.view = view
        self.app = app
        self.graph_id = f"graph_{app}_{view.stamp.generation}"
        self._fresh = fresh
        self._excerpt = excerpt

    def catalog(self, query: str, found: Sequence[Found]) -> Catalog:
        """The catalog for a request; without words, of the whole."""
        report = self.view.report()
        paths = self.view.paths()
        nodes = [one.node for one in found[:NODES]]
        edges = self._edges([one.node for one in found[: 2 * NODES]], EDGES)
        candidates = self._candidates(query, found)
        return Catalog(
            True, self.graph_id, self.app, self._status([one.path for one in candidates]), self._hash(), self._node_counts(),
            dict(report["edges"]), len(paths), tuple(sorted(paths, key=_by_priority)[:TREE]), keywords(query), candidates,
            tuple(map(self._ref, nodes)), edges, self._targets(found, CANDIDATES), report["health"], _warnings(report["health"]),
            {"file_tree": max(0, len(paths) - TREE), "matched_nodes": max(0, len(found) - NODES)},
        )  # fmt: skip

    def prompt_pack(self, query: str, found: Sequence[Found]) -> PromptPack:
        """The pack for a prompt."""
        report = self.view.report()
        files = list(dict.fromkeys(one.node.path for one in found if one.node.path))[:PACK_PATHS]
        health: ScanHealth = report["health"]
        summary: dict[str, object] = {
            "nodes": sum(self._node_counts().values()), "edges": sum(report["edges"].values()),
            "request_keywords": list(keywords(query)),
            "scan": {"indexed": health.indexed, "skipped": sum(health.skipped.values()), "gated": health.gated},
        }  # fmt: skip
        return PromptPack(
            "loaded", "", self.app, self.graph_id, self._status(files), self._hash(), summary, tuple(files),
            tuple(self._ref(one.node) for one in found[:PACK_NODES]),
            self._edges([one.node for one in found[:PACK_NODES]], PACK_EDGES),
            self._targets(found, PACK_TARGETS), _warnings(health)[:PACK_WARNINGS],
        )  # fmt: skip

    def scope(self, proposed: Sequence[str], query: str) -> Scope:
        """Proposed paths, normalised and checked against the index."""
        chosen, questions = check(proposed[:SCOPE_PATHS], self.view.paths(), self.view.db.path.parent.parent)
        selected = {path: self._selected(path) for path in chosen}
        nodes, files, edges = self._around(list(selected))
        more = len(proposed) - SCOPE_PATHS
        warnings = (f"{more} more paths were not looked at",) if more > 0 else ()
        return Scope(
            bool(selected), self.graph_id, self.app, self._status(list(selected)), tuple(selected), selected, files,
            tuple(map(self._ref, nodes)), edges, self._annotate(list(selected)), keywords(query), questions, warnings,
        )  # fmt: skip

    # parts

    def _selected(self, path: str) -> Selected:
        nodes = self.view.nodes_in(path)
        symbols = tuple(node.qual for ord_, node in sorted(nodes.items()) if ord_ >= 0)[:100]
        return Selected(True, nodes[-1].id, self._excerpt(path)[:EXCERPT], symbols)

    def _around(self, paths: Sequence[str]) -> tuple[list[Node], tuple[str, ...], tuple[EdgeRef, ...]]:
        """One hop around the files and their symbols: nodes, their files, edges; certain ones first, code before tests."""
        inner = {node.key: node for path in paths for node in self.view.nodes_in(path).values()}
        rows = [
            (tier, kind, other, key, outgoing)
            for key in inner
            for outgoing, ends in ((True, self.view.graph.out(key)), (False, self.view.graph.in_(key)))
            for other, kind, tier in ends
            if other not in inner and tier is not Tier.unknown and kind != "contains"
        ]
        rows = sorted(rows)[:LOOKED_AT]
        every = self.view.nodes({row[2] for row in rows}) | inner
        shown = [row for row in dict.fromkeys(rows) if row[2] in every and every[row[2]].path]
        last = {row[2]: priority(every[row[2]].path) >= _TESTS for row in shown}
        shown.sort(key=lambda row: (row[0], last[row[2]], row[1], _place(every[row[2]]), _place(every[row[3]]), row[4]))
        nodes = sorted({row[2]: every[row[2]] for row in shown}.values(), key=lambda node: (last[node.key], _place(node)))
        count = Counter(every[row[2]].path for row in shown)
        files = sorted(count, key=lambda path: (priority(path) >= _TESTS, -count[path], path))[:SCOPE_FILES]
        edges = tuple(_edge(row[1], every[row[3]], every[row[2]], row[0], row[4]) for row in shown[:SCOPE_EDGES])
        return nodes[:SCOPE_NODES], tuple(files), edges

    def _edges(self, nodes: Sequence[Node], limit: int) -> tuple[EdgeRef, ...]:
        """Edges among these nodes and what they touch next: those among them first, then by type."""
        known = {node.key: node for node in nodes}
        order = {kind: at for at, kind in enumerate(_EDGE_ORDER)}
        rows = {
            (other not in known, order.get(kind, len(order)), tier, kind, key, other)
            for key in known
            for other, kind, tier in self.view.graph.out(key)
            if tier is not Tier.unknown
        }
        likely = sorted(rows)[:LOOKED_AT]
        every = self.view.nodes({row[5] for row in likely}) | known
        shown = [row for row in likely if row[5] in every]
        shown.sort(key=lambda row: (*row[:4], _place(every[row[4]]), _place(every[row[5]])))
        return tuple(_edge(row[3], every[row[4]], every[row[5]], row[2], True) for row in shown[:limit])

    def _candidates(self, query: str, found: Sequence[Found]) -> tuple[Candidate, ...]:
        """Files by their best results; the reasons are the names of what matched there."""
        by_path: dict[str, list[Found]] = {}
        for one in found:
            if one.node.path:
                by_path.setdefault(one.node.path, []).append(one)
        asked = set(words.tokens(query))
        best = sorted(by_path.items(), key=lambda item: (-item[1][0].score, item[0]))[:FILES]
        return tuple(self._candidate(path, results, asked) for path, results in best)

    def _candidate(self, path: str, results: Sequence[Found], asked: set[str]) -> Candidate:
        matched = sorted(
            asked & {t for one in results for t in words.tokens(f"{one.node.qual} {one.node.signature} {path}")}
        )
        names = tuple(f"{one.node.qual or one.node.name}: {', '.join(sorted(one.parts))}" for one in results[:3])
        node = self.view.nodes_in(path)[-1]
        return Candidate(path, round(results[0].score, 3), tuple(matched), node.id, priority(path), names)

    def _targets(self, found: Sequence[Found], limit: int) -> tuple[NodeRef, ...]:
        """Symbols whose annotation would help this request most: its best results that are not gated."""
        nodes = [one.node for one in found if one.node.type == "symbol" and not one.node.gated]
        return tuple(map(self._ref, nodes[:limit]))

    def _annotate(self, paths: Sequence[str]) -> tuple[NodeRef, ...]:
        nodes = [node for path in paths for _, node in sorted(self.view.nodes_in(path).items())]
        return tuple(self._ref(node) for node in nodes if node.type == "symbol" and not node.gated)[:SCOPE_TARGETS]

    def _ref(self, node: Node) -> NodeRef:
        state = self._fresh(self.view.file_at(node.path) if node.path else None)
        status = "current" if state is Freshness.fresh else "unknown" if state is Freshness.unknown else "stale"
        return NodeRef(
            node.id, node.locator, node.type, node.kind, node.qual or node.name, node.path, node.line, status
        )

    def _status(self, paths: Sequence[str]) -> str:
        """``current``, ``partially_stale`` or ``stale`` by the files named; ``unknown`` when there are none."""
        states = [self._fresh(self.view.file_at(path)) for path in paths]
        if not states:
            return "unknown"
        moved = sum(state in (Freshness.drifted, Freshness.missing) for state in states)
        return "current" if not moved else "stale" if moved == len(states) else "partially_stale"

    def _hash(self) -> str:
        return str(self.view.meta.get("facts_hash", ""))

    def _node_counts(self) -> dict[str, int]:
        from mog.engine.store.schema import SPACE_TYPE

        names = self.view.db.codes(SPACE_TYPE)
        rows = self.view.db.rows("SELECT type, count(*) FROM nodes GROUP BY type")
        return dict(sorted((names.get(number, ""), int(count)) for number, count in rows))


def unavailable(app: str, reason: str) -> PromptPack:
    """The pack of a repository whose graph cannot be read."""
    return PromptPack("unavailable", reason, app, present=False)


def no_catalog(app: str, reason: str) -> Catalog:
    """The catalog of a repository whose graph cannot be read."""
    nothing: Mapping[str, int] = {}
    return Catalog(
        False, "", app, "unknown", "", nothing, nothing, 0, (), (), (), (), (), (), ScanHealth(), status="unavailable", reason=reason
    )


def keywords(query: str) -> tuple[str, ...]:
    """Words of a request that a search goes by, each once."""
    return tuple(dict.fromkeys(words.tokens(query)))[:KEYWORDS]


def priority(path: str) -> int:
    """How early a path comes in a listing; lower is earlier."""
    if is_test_path(path):
        return _TESTS
    return next((number for number, rule in _PRIORITIES if rule.search(path)), _OTHER)


def _by_priority(path: str) -> tuple[int, int, str]:
    return priority(path), path.count("/"), path


def _place(node: Node) -> tuple[str, int, str]:
    return node.path, node.line, node.qual or node.name


def _edge(kind: str, near: Node, far: Node, tier: Tier, outgoing: bool) -> EdgeRef:
    source, target = (near, far) if outgoing else (far, near)
    return EdgeRef(kind, source.id, target.id, Tier(tier).name)


def _warnings(health: ScanHealth) -> tuple[str, ...]:
    """What the index does not hold, in Mozaiks' words where it has some."""
    found = [f"context_graph_{reason}_skipped:{count}" for reason, count in sorted(health.skipped.items()) if count]
    found += [f"context_graph_sensitive_files_gated:{health.gated}"] if health.gated else []
    found += [f"context_graph_no_symbols_{reason}:{count}" for reason, count in sorted(health.no_symbols.items())]
    return (*health.warnings, *found)[:20]
