"""One change of one working set, inside one transaction: what comes in, what is a hit, what leaves, and the sums of it.

Who calls: ``working_set``. What may not come in: opening the store, judging freshness (what is known is handed in), rendering.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from mog.engine.memory import set_stubs
from mog.engine.memory.served import Book, Session
from mog.engine.memory.set_records import Budget, Entry, Now, Pinned, Place, Refused, Stub, Turned, Weighed
from mog.engine.memory.set_scores import Rules, told, victims, weighed
from mog.engine.model import Freshness
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Item


class Change:
    """One change of one set, inside one transaction: rows written as they change, closed by ``finish``.

    Args:
        names: refs and ids that the change is about. Only these are read at its beginning; all of a large set is read only where
            something has to leave it.
    """

    def __init__(
        self, book: Book, session: Session, budget: Budget, rules: Rules, known: Mapping[str, Now], names: Collection[str] = ()
    ) -> None:  # fmt: skip
        self._book, self._known, self._rules = book, known, rules
        self.session, self.budget = session, budget
        self.used = book.used(session.row)  # tokens held
        self.held: dict[str, Entry] = {}
        self._servings: dict[str, dict[str, None]] = {}  # id → refs of what is held of it
        self._hold(book.held_as(session.row, names))
        self._whole = False
        self._counts: Counter[str] = Counter()
        self._taken: list[str] = []
        self._hits: list[str] = []
        self._refused: list[Refused] = []
        self._stubs: list[Stub] = []

    def take(self, item: Item, share: float) -> str:
        """One item: a hit, a new entry, one in the place of another, or refused. Its ref, "" for no entry."""
        if not item.text:
            return ""
        tokens = tokens_of(item)
        if tokens > self.budget.tokens:
            self._refused.append(Refused(item.id, tokens, self.budget.tokens))
            self._count(refusals=1)
            return ""
        text = self._book.keep(item.text)
        others = self._held_of(item.id)
        same = next((one for one in others if one.text == text or self._covers(one, item)), None)
        if same is not None:
            return self.hit(replace(same, pinned=_pinned(item, [same])), share)
        for one in others:
            self._leave(one, Place.replaced)
        ref = self._book.free_ref(self.session.row, self.session.name, item.id, item.zoom, text)
        before = self._book.entry(ref)
        hits = max((one.hits + 1 for one in (before, *others) if one), default=0)
        first = before.first if before else self.session.turn
        self._enter(
            Entry(
                ref, item.id, Place.held, item.zoom, tokens, estimator.size(item.text), item.kind, set_stubs.title(item),
                item.label, item.provenance, item.freshness, share, hits, first, self.session.turn, 0, _pinned(item, others),
                text,
            )
        )  # fmt: skip
        self._count(servings=1)
        return ref

    def _covers(self, held: Entry, item: Item) -> bool:
        """Whether what is held says all the item says: a higher zoom of bytes that are still so."""
        now = self._known.get(held.ref, Now()).freshness
        return held.zoom > item.zoom and now not in (Freshness.drifted, Freshness.missing, Freshness.gated)

    def hit(self, entry: Entry, share: float = 0.0) -> str:
        """A held thing was asked for again."""
        self._write(replace(entry, hits=entry.hits + 1, last=self.session.turn, relevance=max(entry.relevance, share)))
        self._hits.append(entry.ref)
        self._count(hits=1, saved=entry.tokens)
        return entry.ref

    def back(self, entry: Entry, text: str) -> Entry:
        """A recalled thing is held again, pinned where another serving of it is; one larger than the budget stays where it is."""
        self._count(recalls=1)
        if entry.ref in self.held:
            self.hit(self.held[entry.ref])
            return self.held[entry.ref]
        if entry.tokens > self.budget.tokens:
            self._refused.append(Refused(entry.id, entry.tokens, self.budget.tokens))
            return entry
        pinned = max((one.pinned for one in self._held_of(entry.id)), default=Pinned.no)
        again = replace(entry, place=Place.held, out=0, last=self.session.turn, hits=entry.hits + 1, pinned=pinned)
        self._enter(replace(again, text=self._book.keep(text)))
        return self.held[entry.ref]

    def held_as(self, target: str) -> Entry | None:
        """What is held under a ref or an id, None for nothing."""
        return self.held.get(target) or next(iter(self._held_of(target)), None)

    def evict(self, goal: int) -> None:
        """Evict the lowest values until at most ``goal`` tokens are held, as far as what may go allows."""
        for row in victims(self._rows(), goal):
            gone = self._leave(row.entry, Place.evicted)
            if row.now.freshness is Freshness.gated:
                self._book.give_up(self.session.row, [gone])
                gone = replace(gone, text=b"")
            self._stubs.append(set_stubs.stub(gone, self._rules.stub_tokens))

    def put_out(self, entry: Entry) -> None:
        """Evict one held thing, whatever its score."""
        gone = self._leave(entry, Place.evicted)
        if self._known.get(entry.ref, Now()).freshness is Freshness.gated:
            self._book.give_up(self.session.row, [gone])
            gone = replace(gone, text=b"")
        self._stubs.append(set_stubs.stub(gone, self._rules.stub_tokens))

    def finish(self, refs: tuple[str, ...], goal: int | None = None) -> Turned:
        """Evict down to ``goal``, or to the low mark where the set is above its budget; keep the session; say what was done."""
        if goal is not None or self.used > self.budget.tokens:
            self.evict(self.budget.low if goal is None else goal)
        self.session = self._counted()
        self._book.save(self.session)
        if self._taken:
            self._book.bound(self.session.row)
        over = self.used - (self.budget.tokens if goal is None else min(goal, self.budget.tokens))
        rows = self._rows() if over > 0 else []
        large = "{0.id} costs {0.tokens} tokens, more than the whole budget of {0.budget}: it is not held"
        warnings = told(rows, self.used - self.budget.tokens) + tuple(large.format(one) for one in self._refused)
        warnings = warnings or told(rows, 0 if goal is None else self.used - goal, "the mark")
        return Turned(
            self.session.name, self.session.turn, refs, tuple(self._taken), tuple(self._hits), tuple(self._refused),
            tuple(self._stubs), self.used, self.budget.tokens, warnings,
        )  # fmt: skip

    def _rows(self) -> list[Weighed]:
        if not self._whole:
            self._hold(self._book.entries(self.session.row, (Place.held,)))
            self._whole = True
        return weighed(self.held.values(), self._known, self.session.turn, self._rules)

    def _hold(self, entries: Iterable[Entry]) -> None:
        """What is held, as far as it was read, is this."""
        self.held, self._servings = {one.ref: one for one in entries}, {}
        for one in self.held.values():
            self._servings.setdefault(one.id, {})[one.ref] = None

    def _held_of(self, id: str) -> list[Entry]:
        return [self.held[ref] for ref in self._servings.get(id, ())]

    def _enter(self, entry: Entry) -> None:
        self._write(entry)
        self._taken.append(entry.ref)
        self._count(taken=entry.tokens)

    def _leave(self, entry: Entry, place: Place) -> Entry:
        gone = replace(entry, place=place, out=self.session.turn)
        self.used -= self.held.pop(entry.ref).tokens
        del self._servings[entry.id][entry.ref]
        self._book.put(self.session.row, gone)
        if place is Place.evicted:
            self._count(evicted=entry.tokens, evictions=1)
        else:
            self._count(replaced=entry.tokens)
        return gone

    def _write(self, entry: Entry) -> None:
        before = self.held.get(entry.ref)
        self.used += entry.tokens - (before.tokens if before else 0)
        self.held[entry.ref] = entry
        self._servings.setdefault(entry.id, {})[entry.ref] = None
        self._book.put(self.session.row, entry)

    def _count(self, **more: int) -> None:
        self._counts.update(more)

    def _counted(self) -> Session:
        """The session with what was counted in this change added to its sums."""
        totals = self.session.totals
        changed = {name: getattr(totals, name) + by for name, by in self._counts.items()}
        self._counts.clear()
        return replace(self.session, totals=replace(totals, **changed))


def tokens_of(item: Item) -> int:
    """What an item takes of a set."""
    return max(item.tokens, estimator.tokens(item.text))


def _pinned(item: Item, others: Sequence[Entry]) -> Pinned:
    """A pin by hand stays until it is taken away; one that came with a pack is as the last pack says."""
    if any(one.pinned is Pinned.hand for one in others):
        return Pinned.hand
    return Pinned.pack if item.pinned else Pinned.no
