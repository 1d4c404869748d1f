"""Context: a question in, a bounded pack out. Where ranking, spread, zoom and packs are put together.

Who calls: ``workspace.context``. What may not come in: rules of ranking, rendering, beliefs (notes arrive as ready items).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mog.engine.code.freshness import Disk
from mog.engine.code.nodes import SURFACE
from mog.engine.code.view import CodeView
from mog.engine.config import EngineConfig
from mog.engine.errors import IndexMissing, NotFound, PolicyDenied, StoreDamaged, UsageError
from mog.engine.model import Boundary, Freshness, Hit, Node, Progress, SearchAnswer
from mog.engine.retrieval import pack, shapes, spread
from mog.engine.retrieval.handles import USUAL, Handle, Handles, Way, is_handle
from mog.engine.retrieval.model import Advice, Found, Hop, Item, Pack, Rendered, Zoom
from mog.engine.retrieval.shapes import Catalog, NodeRef, PromptPack, Scope, Shaper
from mog.engine.retrieval.shelf import Shelf
from mog.engine.retrieval.skeleton import Outlines
from mog.engine.retrieval.weights import SPREAD
from mog.engine.retrieval.zoom import Zoomer

if TYPE_CHECKING:
    from mog.engine.retrieval.rank import Ranked, Ranker
    from mog.engine.retrieval.semantic import TieBreaker

Reading = Callable[[], AbstractContextManager[CodeView]]
Notes = Callable[[str, Sequence[str], int], tuple[Item, ...]]
Advising = Callable[[Sequence[str]], tuple[Advice, ...]]
Telling = Callable[[Progress], None]

#: Results that a pack is made from; places whose notes are asked for; results among which a kind is chosen; ties are broken in.
FOUND, NOTED, KINDS_AMONG, TIED = 80, 8, 2_000, 200
#: Surfaces shown behind what a search ranked.
SURFACES = 3
SPREADS = ("hops", "ppr", "off")
#: Share of a budget that notes may take before code.
NOTES_SHARE = 0.25


def no_advice(locators: Sequence[str]) -> tuple[Advice, ...]:
    """Nobody's model said anything."""
    return ()


def no_notes(query: str, locators: Sequence[str], budget: int) -> tuple[Item, ...]:
    """Nothing remembered."""
    return ()


class Context:
    """Answers of one worktree. Safe from any thread; a call works on one generation.

    Args:
        reading: gives this thread's view of the newest generation. disk: files as they are. mog_dir: the worktree's ``.mog``.
        notes: remembered items for a query and the locators found, within a budget of tokens. caches: keep words and handles on disk.
        advice: what was said of symbols by somebody's model.
    """

    def __init__(
        self, root: Path, mog_dir: Path, reading: Reading, disk: Disk, config: EngineConfig, notes: Notes = no_notes, *,
        caches: bool = True, advice: Advising = no_advice,
    ) -> None:
        self.root = root
        self._app = config.project or root.name
        self.handles = Handles(mog_dir, keep=caches)
        self._reading = reading
        self._disk = disk
        self._shelf = Shelf(mog_dir, config, keep=caches)
        self._outlines = Outlines(disk)
        self._notes = notes
        self._advice = advice
        self._ranker: Ranker | None = None
        self._semantic = config.embeddings == "on"
        self._tie_breaker: TieBreaker | None = None

    # questions

    def ranked(
        self, query: str, *, limit: int = 20, kinds: Collection[str] = (), rerank: bool = True, progress: Telling | None = None
    ) -> SearchAnswer:
        """The ranked list alone, without text: what ``mog search`` prints. ``total`` counts everything that answers to a word.

        Raises:
            UsageError: the query has no word.
        """
        with self._reading() as view:
            found, total = self._find(view, _words(query), kinds, rerank, limit, progress)
            fresh = {path: self._fresh(view, path) for path in {one.node.path for one in found}}
            notes = (self._tie_breaker.note,) if self._tie_breaker else ()
            hits = tuple(Hit(one.node, one.score, fresh[one.node.path], one.parts) for one in found)
            hits, more = _with_surfaces(view, query, kinds, hits, limit)
            total += more
            gated = sum(1 for hit in hits if hit.node.gated)
            return SearchAnswer(query, hits, total, Boundary(omitted=total - len(hits), gated=gated, notes=notes), view.stamp)

    def prepare(self, progress: Telling | None = None) -> None:
        """Read the words of all files that no earlier search of this generation read, so that the next one does not wait for it."""
        with self._reading() as view:
            self._shelf.corpus(view, progress)

    def search(
        self, query: str, *, budget: int = 4_000, zoom: Zoom | None = None, kinds: Collection[str] = (), limit: int = 50,
        rerank: bool = True, spread: str = "hops", progress: Telling | None = None,
    ) -> Pack:  # fmt: skip
        """The smallest sufficient context for a query or a handle (``ctx://…``, with ``#n`` its n-th page).

        Args:
            budget: tokens by ``estimator``; clamped to 64..100,000. zoom: None chooses. spread: ``hops``, ``ppr`` or ``off``. A
                handle says how it was asked; of a page nothing else counts.

        Raises:
            UsageError: no word, or no such spread. NotFound: an unknown handle.
        """
        if spread not in SPREADS:
            way_out = "one of: " + ", ".join(SPREADS)
            raise UsageError(f"there is no spread {spread!r:.40}", where="spread", way_out=way_out)
        handle, skip = self._asked(query, Way(zoom, tuple(kinds), rerank, spread))
        with self._reading() as view:
            found, limits = self._answering(view, handle.query, handle.way, progress)
            pinned, lost = self._pinned(view, handle.pinned)
            seen = {one.node.key for one in pinned}
            rest = [*pinned, *(one for one in found if one.node.key not in seen)][skip:]
            places = [one.node.locator for one in rest[:NOTED]]
            notes = () if skip else self._notes(handle.query, places, int(budget * NOTES_SHARE))
            zoomer = self._zoomer(view)
            made = pack.fill(
                handle.query, rest, zoomer.render, budget, view.stamp, zoom=handle.way.zoom, first=notes, limit=limit,
                boundary=limits, least=zoomer.least,
            )  # fmt: skip
        return self._paged(replace(made, warnings=(*lost, *made.warnings)), handle, skip)

    def expand(self, target: str, *, zoom: Zoom = Zoom.L2, budget: int = 4_000) -> Pack:
        """One node at a zoom, with the notes about it. A zoom too large for the budget is lowered, and the pack says so.

        Raises:
            NotFound, AmbiguousTarget: as ``Workspace.find``. PolicyDenied never: a gated node comes without bytes, counted.
        """
        with self._reading() as view:
            node = view.find(target)
            notes = self._notes("", [node.locator], int(budget * NOTES_SHARE))
            made = pack.fill(target, [Found(node, 1.0)], self._zoomer(view).render, budget, view.stamp, zoom=zoom, first=notes)
        shown = next((item for item in made.items if item.node is not None), None)
        if shown is not None and shown.zoom < zoom and shown.kind != "file":
            made = replace(
                made,
                warnings=(*made.warnings, f"{zoom.name} needs more than {budget} tokens; shown as {shown.zoom.name}"),
            )
        return made

    def create(self, query: str, pinned: Sequence[str] = ()) -> Handle:
        """A handle for a query and up to 32 locators; loading it asks anew.

        Raises:
            UsageError: neither is given, or more than 32. NotFound: a locator is not in the index.
        """
        with self._reading() as view:
            places = tuple(view.find(target).locator for target in pinned)
        return self.handles.create(query, places)

    def load(self, handle: str, *, budget: int = 4_000) -> Pack:
        """What a handle means now. Raises NotFound for an unknown one."""
        if not is_handle(handle):
            raise UsageError(
                f"this is no handle: {handle!r:.60}", where="handle", way_out="handles look like ctx://<32 hex digits>"
            )
        return self.search(handle, budget=budget)

    # the three shapes

    def catalog(self, query: str = "", *, progress: Telling | None = None) -> Catalog:
        """What there is, and what of it may answer a request; not ``present``, with the reason, when there is no index."""
        try:
            with self._reading() as view:
                made = self._shaper(view).catalog(query, self._found(view, query, progress))
            return replace(made, semantic_annotations=self._advised(made.matched_nodes, shapes.CANDIDATES))
        except IndexMissing as error:
            return shapes.no_catalog(self._app, error.what)

    def prompt_pack(self, query: str = "", *, progress: Telling | None = None) -> PromptPack:
        """The bounded pack for a prompt; ``unavailable`` with the reason when there is no index."""
        try:
            with self._reading() as view:
                made = self._shaper(view).prompt_pack(query, self._found(view, query, progress))
            return replace(made, semantic_annotations=self._advised(made.matched_nodes, shapes.PACK_TARGETS))
        except (IndexMissing, StoreDamaged) as error:  # a prompt goes on without the section
            return shapes.unavailable(self._app, error.what)

    def scope(self, paths: Sequence[str], query: str = "") -> Scope:
        """Proposed paths checked against the index; what is not there becomes a clarification. Raises IndexMissing."""
        with self._reading() as view:
            made = self._shaper(view).scope(paths, query)
        nodes = (*made.semantic_annotation_request, *made.related_nodes)
        return replace(made, semantic_annotations=self._advised(nodes, shapes.SCOPE_TARGETS))

    def _advised(self, nodes: Sequence[NodeRef], most: int) -> tuple[Advice, ...]:
        """What is advised of symbols that are shown, as it is now."""
        places = [node.locator for node in nodes if node.node_type == "symbol"]
        return self._advice(places)[:most] if places else ()

    def _found(self, view: CodeView, query: str, progress: Telling | None) -> list[Found]:
        """Best results for a request; of an empty one the files that others lean on most."""
        if any(char.isalnum() for char in query[:40_000]):
            return self._answering(view, query, USUAL, progress)[0]
        rows = view.map(FOUND).rows
        return [Found(node, row.rank, {"rank": row.rank}) for row in rows for node in row.top[:1]]

    def _shaper(self, view: CodeView) -> Shaper:
        def excerpt(path: str) -> str:
            outline = self._outlines.of(view, path)
            return "" if outline is None else outline.clean[: 4 * shapes.EXCERPT].decode("utf-8", "replace")

        return Shaper(view, self._app, self._disk.file_freshness, excerpt)

    def text(self, target: str, zoom: Zoom) -> Rendered:
        """One node rendered, unbounded: what a served item is held against to see whether it is still so."""
        with self._reading() as view:
            return self._zoomer(view).render(view.find(target), zoom)

    # inside

    def _asked(self, query: str, way: Way) -> tuple[Handle, int]:
        """What is asked, and how many results earlier pages looked at."""
        if not is_handle(query):
            return Handle("", _words(query), (), way), 0
        name, _, page = query.partition("#")
        handle, skip = self.handles.load(name), int(page) if page.isdecimal() and len(page) < 9 else 0
        return (handle if skip or handle.way != USUAL else handle._replace(way=way)), skip

    def _answering(
        self, view: CodeView, query: str, way: Way, progress: Telling | None
    ) -> tuple[list[Found], Boundary]:
        """What answers a query with what lies near it, and what is not among it. A handle may have no query."""
        if not query:
            return [], Boundary()
        found, total = self._find(view, query, way.kinds, way.rerank, FOUND, progress)
        omitted = Boundary(omitted=total - len(found), notes=(self._tie_breaker.note,) if self._tie_breaker else ())
        if way.spread not in ("hops", "ppr") or not found:
            return found, omitted
        found, notes = self._spread(view, found, way.kinds, way.spread)
        return found, replace(omitted, notes=(*omitted.notes, *notes))

    def _find(
        self, view: CodeView, query: str, kinds: Collection[str], rerank: bool, limit: int, progress: Telling | None
    ) -> tuple[list[Found], int]:
        """The best ``limit`` results, and how many there are. Kinds are finer than the corpus knows, so they are chosen here."""
        ranker = self._ranking(view, rerank, progress)
        scores = ranker.score(query)
        if not kinds:
            found = self._nodes(view, ranker, ranker.best(scores, limit=max(limit, TIED if self._semantic else 0)))
            return self._untied(query, found)[:limit], ranker.matching(scores)
        looked_at = self._nodes(view, ranker, ranker.best(scores, limit=KINDS_AMONG))
        found = [one for one in looked_at if one.node.kind in kinds]
        return self._untied(query, found)[:limit], len(found)

    def _untied(self, query: str, found: list[Found]) -> list[Found]:
        """In order of meaning where words say nearly the same; only if the configuration wants it."""
        if not self._semantic:
            return found
        from mog.engine.retrieval.semantic import TieBreaker

        self._tie_breaker = self._tie_breaker or TieBreaker()
        names = [one.node.qual or one.node.path for one in found]
        added = self._tie_breaker.added(query, names, [one.score for one in found])
        moved = [
            replace(one, score=one.score + more, parts={**one.parts, "meaning": more})
            for one, more in zip(found, added, strict=True)
        ]
        return sorted(moved, key=lambda one: -one.score)

    def _ranking(self, view: CodeView, rerank: bool, progress: Telling | None) -> Ranker:
        from mog.engine.retrieval.rank import Ranker
        from mog.engine.retrieval.rerank import Reranker

        corpus = self._shelf.corpus(view, progress)
        if self._ranker is None or self._ranker.corpus is not corpus:
            self._ranker = Ranker(corpus)
        return self._ranker if not rerank else self._ranker.with_reranker(Reranker.load())

    def _nodes(self, view: CodeView, ranker: Ranker, ranked: Sequence[Ranked]) -> list[Found]:
        """Ranked documents as nodes; a document whose file is gone meanwhile is left out."""
        corpus = ranker.corpus
        places = [(corpus.paths[corpus.file_of[one.doc]], int(corpus.ord_of[one.doc])) for one in ranked]
        nodes = view.nodes_at(places)
        rows = [(nodes.get(place), one) for place, one in zip(places, ranked, strict=True)]
        return [Found(node, one.score, one.parts) for node, one in rows if node is not None]

    def _spread(
        self, view: CodeView, found: list[Found], kinds: Collection[str], way: str
    ) -> tuple[list[Found], tuple[str, ...]]:
        """Results with their neighbourhood: what both found is raised, what only the edges found comes with its path."""
        seeds = [(one.node.key, one.score) for one in found[: SPREAD.seeds]]
        weights = {
            kind: row.weight
            for kind, row in view.ontology.edge_types.items()
            if row.layer == "code" and kind != "contains"
        }
        top = found[0].score
        notes: tuple[str, ...] = ()
        if way == "ppr":
            ranks = spread.ppr(view.graph, seeds, weights, limit=FOUND)
            best = ranks[0][1] if ranks else 1.0
            near = [spread.Near(key, share / best, ()) for key, share in ranks]
        else:
            spreading = spread.spread(view.graph, seeds, weights)
            near = list(spreading.near[:FOUND])
            notes = (f"{spreading.capped} neighbours were not followed",) if spreading.capped else ()
        by_key = {one.node.key: one for one in found}
        steps = {key for one in near for step in one.path for key in (step.source,)}
        nodes = view.nodes(
            [one.key for one in near if one.key not in by_key] + [key for key in steps if key not in by_key]
        )
        known = nodes | {key: one.node for key, one in by_key.items()}
        for one in near:
            share = SPREAD.share * one.score * top
            held = by_key.get(one.key)
            if held is not None:
                by_key[one.key] = replace(held, score=held.score + share, parts={**held.parts, "spread": share})
            elif one.key in known and _worth(known[one.key], kinds):
                path = tuple(Hop(known[s.source], s.kind, s.tier, s.outgoing) for s in one.path if s.source in known)
                by_key[one.key] = Found(known[one.key], share, {"spread": share}, path)
        return sorted(by_key.values(), key=lambda one: (-one.score, one.node.path, one.node.line, one.node.qual)), notes

    def _pinned(self, view: CodeView, pinned: Sequence[str]) -> tuple[list[Found], tuple[str, ...]]:
        found, lost = [], []
        for locator in pinned:
            try:
                found.append(Found(view.find(locator), pack.PINNED))
            except (NotFound, UsageError):
                lost.append(f"{locator} is pinned and no longer in the index")
        return found, tuple(lost)

    def _paged(self, made: Pack, handle: Handle, skip: int) -> Pack:
        """With the handle of the next page, when something was left out that a next page can show."""
        looked_at = _looked_at(made)
        if not looked_at or not (made.omitted.get("budget") or made.omitted.get("limit")):
            return made
        try:
            name = self.handles.create(handle.query, handle.pinned, handle.way).name
        except (PolicyDenied, UsageError, StoreDamaged) as error:  # what cannot be kept on disk has one page
            return replace(made, warnings=(*made.warnings, f"there is no handle for a next page: {error.what}"))
        return replace(made, page=f"{name}#{skip + looked_at}")

    def _zoomer(self, view: CodeView) -> Zoomer:
        return Zoomer(view, self._outlines, self.root)

    def _fresh(self, view: CodeView, path: str) -> Freshness:
        return self._disk.file_freshness(view.file_at(path) if path else None)


def _words(query: str) -> str:
    if not any(char.isalnum() for char in query[:40_000]):
        raise UsageError(
            "a search needs a word", where="query", way_out="name what you look for, as words or as a symbol"
        )
    return query


def _worth(node: Node, kinds: Collection[str]) -> bool:
    return node.type in ("symbol", "file") and bool(node.path) and (not kinds or node.kind in kinds)


def _looked_at(made: Pack) -> int:
    """How many of the found things were looked at before the budget or the limit ended it."""
    shown = sum(1 for item in made.items if item.node is not None)
    return shown + sum(made.omitted.get(why, 0) for why in ("gated", "duplicate", "missing"))


def _with_surfaces(
    view: CodeView, query: str, kinds: Collection[str], hits: tuple[Hit, ...], limit: int
) -> tuple[tuple[Hit, ...], int]:
    """Hits with the surfaces (routes, jobs, …) that hold every word, behind what the ranking found, and how many they are.

    A surface has no text to be ranked by, so it takes no place from what has some, unless only surfaces were asked for.
    """
    only = tuple(kinds) == (SURFACE,)
    if kinds and not only:
        return hits, 0
    total = view.db.search_total(query, (SURFACE,))
    found = view.search(query, min(total, limit if only else SURFACES), (SURFACE,), lambda row: Freshness.unknown).hits if total else ()
    return (*hits[: max(0, limit - len(found))], *found), total
