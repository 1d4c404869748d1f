"""The working set of an agent session: what it was served, what that costs, what leaves when it grows, and how it comes back.

Who calls: ``workspace.working_set`` and, through it, every surface that serves text to an agent. What may not come in:
ranking, rendering, the ledger. Serving is counted here, never done here: a surface packs within ``room()``, hands over the
items it shows, and shows the stubs of what was evicted.

The rules (DESIGN §10). A turn is one call that serves, names or recalls something. A thing served again at the same or a lower
zoom is a hit and costs nothing; with other bytes, or at a higher zoom, it takes the place of what was held. Above the budget
(60 % of the window) the lowest score per token goes first, down to the low mark (45 %); below the budget nothing ever goes.
What is pinned, a correction, a constraint, an active task, or was served or named in the last three turns is never evicted,
and where that alone is more than the budget, the answer says so. A thing larger than the whole budget is refused: show it at a
lower zoom. An evicted thing leaves a stub, and comes back byte for byte, also after its file changed, with a word about what
changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mog.engine.config import EngineConfig
from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.memory import limits, set_stubs
from mog.engine.memory.served import Book, Session, Store
from mog.engine.memory.set_change import Change, tokens_of
from mog.engine.memory.set_records import (
    Budget,
    Entry,
    Judge,
    Now,
    Pinned,
    Place,
    Recalled,
    Served,
    SessionRow,
    State,
    Stub,
    Turned,
)
from mog.engine.memory.set_scores import PINNED, WORKING_SET, Rules, relevances, room, staying_kinds, told, weighed
from mog.engine.model import Freshness
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Item

LISTED = "`mog ws show` and `mog ws stubs` list what was"
GONE = "the bytes were given up for space"


def unknown(served: Sequence[Served]) -> Mapping[str, Now]:
    """Nothing is known of what became of them."""
    return {}


class WorkingSets:
    """The working sets of one worktree. Safe from any thread, and several processes may share them.

    Args:
        mog_dir: the worktree's ``.mog``; ``served.db`` is made there at the first serving.
        config: budget shares, half-life, classes never evicted, length of stubs, window of clients that do not say theirs.
        judge: what became of served things since (``served_now.judge`` for a workspace).

    Every call raises StoreDamaged when ``served.db`` cannot be believed or written (deleting it is the way out), HeldByOther when
    another process writes to it without end, and UsageError for a session name that is empty, too long or no Unicode.
    """

    def __init__(self, mog_dir: Path, config: EngineConfig, judge: Judge = unknown) -> None:
        self.config = config
        self.judge = judge
        self.store = Store(mog_dir)

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        self.store.close()

    def session(self, name: str, window: int = 0) -> WorkingSet:
        """The set of one session. ``window``: the client's context window in tokens, kept from then on; 0 when it says none."""
        limits.check_name(name, "session")
        if not name.strip():
            raise UsageError("a session needs a name", where="working set", way_out="give the name the client goes by")
        return WorkingSet(self, name, max(0, window))

    def sessions(self) -> tuple[SessionRow, ...]:
        """Every session, the last used first."""
        with self.store.reading() as book:
            return tuple(self._row(book, session) for session in book.sessions()) if book else ()

    def latest(self) -> str:
        """Name of the session used last, "" when there is none."""
        with self.store.reading() as book:
            found = book.sessions() if book else []
        return found[0].name if found else ""

    def owner(self, ref: str) -> str:
        """Name of the session that a ref, or its beginning, belongs to. Raises NotFound."""
        with self.store.reading() as book:
            found = book.owner(ref) if book else None
        if found is None:
            raise NotFound(f"nothing was served as {ref!r:.60}", way_out=LISTED)
        return found[0]

    def clear(self, name: str) -> None:
        """Forget a session and its bytes. Raises NotFound."""
        with self.store.writing() as book:
            found = book.session(name)
            if found is None:
                raise NotFound(f"there is no session {name!r:.60}", way_out="`mog ws sessions` lists them")
            book.drop(found.row)

    def budget(self, window: int) -> Budget:
        """The budget of a client with that window (0: the configured one)."""
        config = self.config
        return Budget(window or config.ws_window, config.ws_budget_pct, config.ws_evict_to_pct)

    @property
    def rules(self) -> Rules:
        """What the configuration says of scores and stubs."""
        config = self.config
        return Rules(config.ws_recency_halflife, config.ws_never_evict, config.ws_stub_tokens)

    def _row(self, book: Book, session: Session) -> SessionRow:
        held = book.entries(session.row, (Place.held,))
        stubs = len(book.entries(session.row, (Place.evicted,)))
        used = sum(entry.tokens for entry in held)
        return SessionRow(session.name, session.turn, used, len(held), stubs, self.budget(session.window).tokens)


class WorkingSet:
    """One session's set; made by ``WorkingSets.session``. Every call reads what is on disk, so objects may be short-lived."""

    def __init__(self, sets: WorkingSets, name: str, window: int) -> None:
        self.name = name
        self._sets = sets
        self._store = sets.store
        self._window = window

    # what is served

    def serve(self, items: Sequence[Item], turn: int = 0) -> Turned:
        """Count what was shown to the agent.

        Args:
            items: as packed; their tokens are what they cost. Items without text (gated, gone) are left out.
            turn: number of the turn, for callers that count; never goes back. 0: the next one.
        """
        known = self._look(items)
        with self._changing(known, turn, {item.id for item in items}) as change:
            return change.finish(tuple(change.take(item, share) for item, share in zip(items, relevances(items), strict=True)))

    def name_again(self, targets: Sequence[str], turn: int = 0) -> Turned:
        """Count things that the agent named without being shown them again: what is held is a hit. ``targets``: refs or ids."""
        known = self._look(())
        with self._changing(known, turn, targets) as change:
            found = [change.held_as(target) for target in targets]
            refs = tuple(change.hit(entry) if entry else "" for entry in found)
            return change.finish(refs)

    def recall(self, target: str, turn: int = 0) -> Recalled:
        """What was served, byte for byte; it is held again, unless it is larger than the whole budget.

        Args:
            target: ref, beginning of one, or the id of a thing that was served (its last serving).

        Raises:
            NotFound: never served here, or its bytes were given up for space.
            PolicyDenied: it is gated by now; the bytes are erased.
        """
        entry, text = self._find(target)
        now = self._judged([Served(entry, text)]).get(entry.ref, Now())
        if now.freshness is Freshness.gated:
            self._erase(entry)
            raise PolicyDenied("it is gated by now", where=entry.id, way_out="its name and place are all that is shown")
        known = self._look((), extra=entry.tokens)
        with self._changing(known, turn, (entry.ref, entry.id)) as change:
            entry = change.back(entry, text)
            turned = change.finish((entry.ref,))
        item = Item(
            entry.id, entry.kind, text, entry.zoom, entry.tokens, entry.size, now.freshness, entry.label,
            pinned=bool(entry.pinned), provenance=entry.provenance, warnings=_warned(entry, now),
        )  # fmt: skip
        return Recalled(item, entry, now, turned)

    # what goes and stays

    def evict(self, to: int | None = None) -> Turned:
        """Evict down to ``to`` tokens (None: the low mark), whether or not the set is above its budget. It is no turn."""
        known = self._look((), always=True)
        with self._changing(known, -1) as change:
            return change.finish((), change.budget.low if to is None else max(0, to))

    def put_out(self, target: str) -> Turned:
        """Evict one thing by hand, whatever its score; its stub brings it back. It is no turn.

        Raises:
            NotFound: it is not held. PolicyDenied: it is pinned; unpin it first.
        """
        known = self._look((), always=True)
        with self._changing(known, -1, (target,)) as change:
            entry = _named(list(change.held.values()), target, "it is not held")
            if entry.pinned:
                raise PolicyDenied("it is pinned", where=entry.ref, way_out="unpin it first")
            change.put_out(entry)
            return change.finish(())

    def pin(self, target: str) -> Entry:
        """Keep a held thing, in every serving of it, whatever its score. Raises NotFound for what is not held; recall it first."""
        return self._pinned(target, True)

    def unpin(self, target: str) -> Entry:
        """Let its score decide again. Raises NotFound."""
        return self._pinned(target, False)

    def clear(self) -> None:
        """Forget the session and its bytes. Raises NotFound."""
        self._sets.clear(self.name)

    # what there is

    def state(self) -> State:
        """The set as it stands, judged now. A session that was never served anything has an empty one."""
        with self._store.reading() as book:
            session = book.session(self.name) if book else None
            entries = book.entries(session.row) if book and session else []
            served = _with_text(book, entries) if book else []
        session = session or Session(0, self.name)
        budget = self._budget(session)
        held = [one for one in entries if one.place is Place.held]
        rows = weighed(held, self._judged(served), session.turn, self._sets.rules)
        rows.sort(key=lambda row: (not row.kept, -row.value, row.entry.ref))
        used = sum(row.entry.tokens for row in rows)
        over = max(0, used - budget.tokens)
        stubs = set_stubs.stubs(entries, self._sets.rules.stub_tokens)
        left = room(rows, session.turn, budget.tokens, WORKING_SET.recent)
        return State(
            self.name, session.turn, budget, used, over, left, tuple(rows), stubs, session.totals, estimator.NAME,
            told(rows, over),
        )  # fmt: skip

    def stubs(self) -> tuple[Stub, ...]:
        """What stands for the evicted, the latest first."""
        with self._store.reading() as book:
            session = book.session(self.name) if book else None
            entries = book.entries(session.row, (Place.evicted,)) if book and session else []
        return set_stubs.stubs(entries, self._sets.rules.stub_tokens)

    def room(self) -> int:
        """Tokens a pack may cost now so that the set stays within its budget after it, whatever the pack holds."""
        with self._store.reading() as book:
            session = (book.session(self.name) if book else None) or Session(0, self.name)
            never, soon = self._sets.rules.never, session.turn + 2 - WORKING_SET.recent
            stays = book.staying(session.row, staying_kinds(never), soon, pinned=PINNED in never) if book else 0
        return max(0, self._budget(session).tokens - stays)

    # inside

    def _budget(self, session: Session) -> Budget:
        return self._sets.budget(self._window or session.window)

    @contextmanager
    def _changing(self, known: Mapping[str, Now], turn: int, names: Collection[str] = ()) -> Iterator[Change]:
        """A change of what is held under these names, in a turn: the one given, 0 the next, -1 the one that is."""
        with self._store.writing() as book:
            session = book.begin(self.name)
            step = session.turn if turn < 0 else max(session.turn, turn or session.turn + 1)
            session = replace(session, turn=step, window=self._window or session.window)
            yield Change(book, session, self._budget(session), self._sets.rules, known, names)

    def _judged(self, served: Sequence[Served]) -> Mapping[str, Now]:
        return self._sets.judge(served) if served else {}

    def _look(self, items: Sequence[Item], *, extra: int = 0, always: bool = False) -> Mapping[str, Now]:
        """What became of what is held, asked before the change begins and only where it can matter to it.

        That is when the set will grow above its budget, and for what is served again at a lower zoom than it is held at.
        """
        with self._store.reading() as book:
            session = book.session(self.name) if book else None
            if book is None or session is None:
                return {}
            lowest = {item.id: item.zoom for item in sorted(items, key=lambda one: -one.zoom)}
            held = book.held_as(session.row, lowest)
            grown = book.used(session.row) + extra + _growth(items, held)
            if always or grown > self._budget(session).tokens:
                entries = book.entries(session.row, (Place.held,))
            else:
                entries = [one for one in held if one.zoom > lowest.get(one.id, one.zoom)]
            served = _with_text(book, entries)
        return self._judged(served)

    def _find(self, target: str) -> tuple[Entry, str]:
        with self._store.reading() as book:
            session = book.session(self.name) if book else None
            entries = book.entries(session.row) if book and session else []
            entry = _named(entries, target)
            text = book.text(entry) if book else None
        if text is None:
            raise NotFound(f"{entry.ref}: {GONE}", where=entry.id, way_out="ask for it anew")
        return entry, text

    def _erase(self, entry: Entry) -> None:
        with self._store.writing() as book:
            session = book.begin(self.name)
            same = [one for one in book.entries(session.row) if one.id == entry.id and one.text]
            out = [replace(one, place=Place.evicted, out=session.turn) if one.place is Place.held else one for one in same]
            lost = sum(one.tokens for one in same if one.place is Place.held)
            book.give_up(session.row, out)
            book.save(replace(session, totals=replace(session.totals, evicted=session.totals.evicted + lost)))

    def _pinned(self, target: str, on: bool) -> Entry:
        with self._store.writing() as book:
            session = book.begin(self.name)
            held = book.entries(session.row, (Place.held,))
            named, pinned = _named(held, target, "it is not held; recall it first"), Pinned.hand if on else Pinned.no
            for entry in held:
                if entry.id == named.id:
                    book.put(session.row, replace(entry, pinned=pinned))
            book.save(session)
            return replace(named, pinned=pinned)


def _named(entries: Sequence[Entry], target: str, missing: str = "nothing was served under that name") -> Entry:
    """The one entry with that ref, with a ref that begins so, or the last serving of that id. Raises NotFound, UsageError."""
    exact = [one for one in entries if one.ref == target]
    begun = exact or [one for one in entries if target.startswith("ws_") and one.ref.startswith(target)]
    if len(begun) > 1:
        raise UsageError(f"several refs begin with {target!r:.60}", where="working set", way_out="type more of it")
    last = sorted((one for one in entries if one.id == target), key=lambda one: (one.place is Place.held, one.last, one.ref))
    found = begun or last[-1:]
    if not found:
        raise NotFound(f"{target!r:.80}: {missing}", where="working set", way_out=LISTED)
    return found[0]


def _growth(items: Sequence[Item], held: Iterable[Entry]) -> int:
    """Tokens by which a set grows at most when these are served: a thing takes the place of its other servings."""
    most: dict[str, int] = {}
    for item in items:
        most[item.id] = max(most.get(item.id, 0), tokens_of(item))
    for one in held:
        if one.id in most:
            most[one.id] -= one.tokens
    return sum(max(0, tokens) for tokens in most.values())


def _with_text(book: Book, entries: Iterable[Entry]) -> list[Served]:
    found = ((one, book.text(one)) for one in entries if one.place is Place.held)
    return [Served(one, text) for one, text in found if text is not None]


def _warned(entry: Entry, now: Now) -> tuple[str, ...]:
    return (f"as served in turn {entry.first}; since then {now.changed}",) if now.changed else ()
