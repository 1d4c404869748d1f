"""How right a call graph is, judged against calls recorded at run time. Pure: values in, values out.

Who calls: ``benchmarks.calls`` and its tests. What may not come in: files, processes, mog itself.

Rules (those of the truth file): an edge is judged only at a site that ran. A site is a caller and the name written
there; an edge is right when its callee is one of those that were entered, wrong otherwise, and always wrong at a site
that only ever entered code outside the package. Precision counts edges, site recall sites with at least one right edge.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class CallEdge(NamedTuple):
    """One exported edge: ``path:line`` of both definitions, the name as written, the tier."""

    caller: str
    callee: str
    name: str
    tier: str


Site = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Truth:
    """Calls seen at run time.

    Attributes:
        sites: (caller, name as written) → callees that were entered.
        kinds: (caller, name) → how the call is written: name, self, attr, super.
        external: sites that only entered code outside the package.
        names: ``path:line`` → qualified name.
        targets: definitions whose callers make the small caller-list set.
        corpus: what was run.
    """

    sites: Mapping[Site, frozenset[str]]
    kinds: Mapping[Site, str]
    external: frozenset[Site]
    names: Mapping[str, str]
    targets: tuple[str, ...]
    corpus: str = ""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Truth:
        """Read the decoded truth file. Raises KeyError when a field is missing."""
        sites = {(s["caller"], s["callee_name"]): s for s in data["sites"]}
        return cls(
            {key: frozenset(site["callees"]) for key, site in sites.items()},
            {key: site["kind"] for key, site in sites.items()},
            frozenset((s["caller"], s["callee_name"]) for s in data["external_sites"]),
            data["names"],
            tuple(data["callers_of_30"]),
            str(data.get("corpus", "")),
        )


@dataclass(frozen=True, slots=True)
class Score:
    """What a set of edges is worth: edges judged, by verdict, and sites and truth edges found."""

    right: int
    wrong: int
    external: int
    sites_hit: int
    sites: int
    edges_hit: int
    edges: int

    @property
    def precision(self) -> float:
        """Strict precision: right / (right + wrong target + edge at an external site); 0 when nothing is judged."""
        return ratio(self.right, self.right + self.wrong + self.external)

    @property
    def site_recall(self) -> float:
        return ratio(self.sites_hit, self.sites)

    @property
    def edge_recall(self) -> float:
        return ratio(self.edges_hit, self.edges)


def ratio(part: int, whole: int) -> float:
    """``part / whole``; 0 of nothing is 0."""
    return part / whole if whole else 0.0


def of_tiers(edges: Iterable[CallEdge], tiers: Iterable[str]) -> list[CallEdge]:
    """The edges in any of ``tiers``."""
    wanted = frozenset(tiers)
    return [edge for edge in edges if edge.tier in wanted]


def score(edges: Iterable[CallEdge], truth: Truth, kind: str | None = None) -> Score:
    """Judge ``edges``; with ``kind``, only at sites written that way (external sites have no kind and are left out)."""
    drawn: dict[Site, set[str]] = defaultdict(set)
    for edge in edges:
        drawn[edge.caller, edge.name].add(edge.callee)
    sites = {key: callees for key, callees in truth.sites.items() if kind in (None, truth.kinds[key])}
    hits = {key: drawn[key] & callees for key, callees in sites.items() if key in drawn}
    external = truth.external if kind is None else frozenset()
    return Score(
        right=sum(len(hit) for hit in hits.values()),
        wrong=sum(len(drawn[key] - sites[key]) for key in hits),
        external=sum(len(drawn[key]) for key in external if key in drawn),
        sites_hit=sum(1 for hit in hits.values() if hit),
        sites=len(sites),
        edges_hit=sum(len(hit) for hit in hits.values()),
        edges=sum(len(callees) for callees in sites.values()),
    )


@dataclass(frozen=True, slots=True)
class CallerLists:
    """How complete and how clean the caller lists of the small target set are."""

    right: int
    drawn: int
    true: int

    @property
    def recall(self) -> float:
        return ratio(self.right, self.true)

    @property
    def precision(self) -> float:
        return ratio(self.right, self.drawn)


def caller_lists(edges: Iterable[CallEdge], truth: Truth) -> CallerLists:
    """Callers of the truth's targets: recall over all true callers, precision over drawn callers whose site ran."""
    targets = frozenset(truth.targets)
    true = {(caller, c) for (caller, _), callees in truth.sites.items() for c in callees & targets}
    ran = truth.sites.keys() | truth.external
    drawn = {(e.caller, e.callee) for e in edges if e.callee in targets and (e.caller, e.name) in ran}
    return CallerLists(len(drawn & true), len(drawn), len(true))


def worst_names(edges: Iterable[CallEdge], truth: Truth, limit: int = 15) -> list[tuple[str, int]]:
    """Names written at judged sites with the most wrong edges, for whoever wants to mend them."""
    wrong: dict[str, int] = defaultdict(int)
    for caller, callee, name, _ in set(edges):
        site = (caller, name)
        if site in truth.external or (site in truth.sites and callee not in truth.sites[site]):
            wrong[name] += 1
    return sorted(wrong.items(), key=lambda item: (-item[1], item[0]))[:limit]
