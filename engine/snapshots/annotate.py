"""A bounded request for descriptions of symbols: which ones, and what the graph knows of each. No byte of a body goes out.

Who calls: ``room``. What may not come in: a model, the network, what an answer has to say (``wording``), the ledger. Gated symbols are
never sent. The order says what matters first: symbols behind a surface, then by layer and place, then what is leaned on most.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import islice

from mog.engine.code import freshness
from mog.engine.code.view import CodeView
from mog.engine.errors import NotFound, UsageError
from mog.engine.model import Freshness, Node, Tier
from mog.engine.retrieval.shapes import priority
from mog.engine.snapshots import wording
from mog.engine.snapshots.model import ANNOTATIONS, REQUEST, AnnotationRequest, Relation, RequestItem
from mog.engine.snapshots.surfaces import Surfaces, layer_of

MOST, USUAL = 40, 40
INBOUND, OUTBOUND = 8, 12
TARGETS = 64
SIGNATURE = 300
#: Files whose symbols are looked at when nobody named any, and symbols that are ranked at most.
FILES, RANKED = 400, 20_000
EDGES = 2_000  # of one symbol that are looked at before the best are chosen
LATE = 70  # path priority from which tests, prose and scripts begin
DESCRIBED = frozenset({"function", "class", "method"})
_LEANING = ("calls", "inherits", "references", "implements", "touches")


@dataclass(frozen=True, slots=True)
class Ask:
    """What is to be described.

    Attributes:
        targets: names, locators, paths, or folders with a slash at the end. query: or what a search finds.
        limit: 1..40. again: symbols with fresh advice too.
    """

    targets: Sequence[str] = ()
    query: str = ""
    limit: int = USUAL
    again: bool = False


@dataclass(frozen=True, slots=True)
class Doors:
    """What a request asks of other rooms: a search, the disk, locators whose advice is fresh."""

    search: Callable[[str], Iterable[Node]]
    disk: freshness.Disk
    advised: Callable[[], Collection[str]]


def request(view: CodeView, app: str, stale_status: str, ask: Ask, doors: Doors) -> AnnotationRequest:
    """The request for one generation.

    Raises:
        UsageError: a limit outside of 1..40, too many targets. NotFound, AmbiguousTarget: a target.
    """
    if not 1 <= ask.limit <= MOST:
        raise UsageError(f"{ask.limit} items", where="--limit", way_out=f"a request has 1 to {MOST} items")
    surfaces = Surfaces(view)
    omitted: Counter[str] = Counter()
    nodes = _ordered(view, surfaces, _meant(view, ask, surfaces, doors, omitted))
    if not ask.again and nodes:
        nodes = _without(nodes, frozenset(doors.advised()), omitted)
    made = _Items(view, surfaces, doors.disk, omitted)
    items = tuple(islice(filter(None, map(made.item, nodes)), ask.limit))
    omitted["limit"] += max(0, len(nodes) - made.looked_at)
    asked = AnnotationRequest(
        REQUEST, app, f"graph_{app}_{view.stamp.generation}", str(view.meta.get("facts_hash", "")), view.stamp.generation,
        str(view.db.meta_get("ref", "")), stale_status, _limits(), _answer(view), items, dict(sorted((+omitted).items())),
    )  # fmt: skip
    return replace(asked, request_digest=_digest(asked))


def _digest(asked: AnnotationRequest) -> str:
    whole = asdict(asked) | {"request_digest": ""}
    return sha256(json.dumps(whole, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _limits() -> dict[str, object]:
    return {
        "items": MOST, "purpose_characters": wording.PURPOSE, "list_entries": wording.ENTRIES,
        "entry_characters": wording.ENTRY, "risk_level": list(wording.RISKS), "confidence": [0, 1], "lists": list(wording.LISTS),
    }  # fmt: skip


def _answer(view: CodeView) -> dict[str, object]:
    """The file that comes back, without its annotations: what to fill in."""
    return {
        "schema": ANNOTATIONS, "graph_hash": str(view.meta.get("facts_hash", "")), "generation": view.stamp.generation,
        "annotator": "", "annotations": [],
    }  # fmt: skip


# which


def _meant(view: CodeView, ask: Ask, surfaces: Surfaces, doors: Doors, omitted: Counter[str]) -> list[Node]:
    """Symbols that may be described, each once; gated ones are counted and left out."""
    if len(ask.targets) > TARGETS:
        raise UsageError(
            f"{len(ask.targets)} targets", where="annotate", way_out=f"name at most {TARGETS}, or a folder"
        )
    found: dict[int, Node] = {}
    if ask.targets:
        rows = [node for target in ask.targets for node in _named(view, target)]
    elif ask.query:
        rows = list(doors.search(ask.query))
    else:
        rows = _likely(view, surfaces)
    for node in rows[:RANKED]:
        if node.type != "symbol":
            omitted["no_symbol"] += 1
        elif node.gated:
            omitted["gated"] += node.key not in found
        else:
            found[node.key] = node
    omitted["limit"] += max(0, len(rows) - RANKED)
    return list(found.values())


def _named(view: CodeView, target: str) -> list[Node]:
    """Symbols of one target: itself, those of a file, or those of the files of a folder."""
    if target.endswith("/"):
        prefix = target.removeprefix("./")
        paths = [path for path in view.paths() if prefix == "/" or path.startswith(prefix)]
        if not paths:
            raise NotFound(
                "no indexed file lies there", where=target, way_out="`mog map` names folders that are indexed"
            )
        return [node for path in sorted(paths, key=priority)[: 4 * FILES] for node in _symbols(view, path)]
    node = view.find(target)
    return _symbols(view, node.path) if node.type == "file" else [node]


def _symbols(view: CodeView, path: str) -> list[Node]:
    return [node for ord_, node in sorted(view.nodes_in(path).items()) if ord_ >= 0 and node.kind in DESCRIBED]


def _likely(view: CodeView, surfaces: Surfaces) -> list[Node]:
    """Symbols behind surfaces, then those of the files that others lean on most; tests last."""
    behind = list(view.nodes(list(islice(surfaces.symbols(), RANKED))).values())
    ranks = {int(number): count for number, count in view.meta.get("ranks", {}).items()}
    rows = view.db.rows("SELECT path, id FROM files WHERE status = 'source'")
    files = sorted((priority(path := os.fsdecode(raw)) >= LATE, -ranks.get(number, 0), path) for raw, number in rows)
    return behind + [node for _, _, path in files[:FILES] for node in _symbols(view, path)]


def _ordered(view: CodeView, surfaces: Surfaces, nodes: Sequence[Node]) -> list[Node]:
    mask = view.graph.mask(_LEANING, (Tier.certain,))

    def order(node: Node) -> tuple[object, ...]:
        late = priority(node.path) >= LATE
        leaned = view.graph.degree(node.key, mask)[0]
        return late, surfaces.rank(node), priority(node.path), -leaned, node.path, node.line, node.qual

    return sorted(nodes, key=order)


def _without(nodes: Sequence[Node], advised: Collection[str], omitted: Counter[str]) -> list[Node]:
    left = [node for node in nodes if node.locator not in advised]
    omitted["annotated"] += len(nodes) - len(left)
    return left


# what of each


class _Items:
    """Items in the order they are asked for; ``looked_at`` counts the nodes, those that gave none too."""

    def __init__(self, view: CodeView, surfaces: Surfaces, disk: freshness.Disk, omitted: Counter[str]) -> None:
        self._view, self._surfaces, self._disk, self._omitted = view, surfaces, disk, omitted
        self.looked_at = 0

    def item(self, node: Node) -> RequestItem | None:
        """What goes out of one symbol; None where the disk no longer holds what the index describes, or withholds it."""
        self.looked_at += 1
        span = (self._disk.spans(node.path) or {}).get(node.qual)
        if self._disk.file_freshness(self._view.file_at(node.path)) is not Freshness.fresh or span is None:
            self._omitted["changed"] += 1
            return None
        if span.gated:
            self._omitted["gated"] += 1
            return None
        of, key = self._surfaces, node.key
        return RequestItem(
            node.id, node.locator, node.path, node.qual, node.kind, node.line, node.end_line, node.signature[:SIGNATURE],
            span.span_hash, of.role(key), layer_of(node.path), of.named(key, "module"),
            of.named(key, "action", "route", "endpoint", "api_endpoint"), of.named(key, "page", "component"), of.effects(key),
            self._relations(key, INBOUND, incoming=True), self._relations(key, OUTBOUND, incoming=False),
        )  # fmt: skip

    def _relations(self, key: int, most: int, *, incoming: bool) -> tuple[Relation, ...]:
        """Edges on one side, the sure ones first; structure last, since names say it already."""
        ends = self._view.graph.in_(key) if incoming else self._view.graph.out(key)
        rows = sorted(
            {
                (tier, kind in ("defines", "contains"), kind, other)
                for other, kind, tier in ends
                if tier is not Tier.unknown
            }
        )
        nodes = self._view.nodes({row[3] for row in rows[:EDGES]})
        shown = [(row, nodes[row[3]]) for row in rows[:EDGES] if row[3] in nodes]
        shown.sort(key=lambda pair: (*pair[0][:3], pair[1].locator))
        return tuple(Relation(row[2], row[0].name, node.id, node.locator) for row, node in shown[:most])
