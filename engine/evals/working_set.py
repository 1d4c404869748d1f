"""Suite ``working_set``: a scripted session of 300 turns over a real repository, with every promise of the working set checked
from outside at every turn.

Who calls: ``mog eval run working_set``. What may not come in: the set's own word for what it promises; the suite keeps its own
book of what was served, byte for byte, and of what may not go. No model takes part.

The agent works on one topic for some turns, searches, expands, recalls and edits, and now and then returns to an earlier
topic. What it asked for is then replayed against simpler ways to choose what goes: the longest unused, the oldest, the
largest.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from mog.engine.config import EngineConfig
from mog.engine.errors import MogError
from mog.engine.evals.set_replay import ORDERS, Asked, replayed
from mog.engine.evals.set_script import TOPICS, Topic, copied, topics, with_line
from mog.engine.evals.suites import Column, Gate, Measure, Options, Row, SuiteResult, Table, Telling
from mog.engine.memory.set_records import Turned
from mog.engine.memory.set_scores import WORKING_SET, relevances
from mog.engine.memory.working_set import WorkingSet
from mog.engine.model import Progress
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Item, Zoom
from mog.engine.workspace import Workspace

TURNS, BUDGET, PACK = 300, 8_000, 1_500
TOPIC_TURNS, RETURNS = 5, 0.3
AGAIN = 10  # turns after its eviction within which a thing that is asked for again counts as missed soon
_NEVER = ("constraint", "correction", "task")


@dataclass
class Book:
    """What the suite knows by itself, and what it counted.

    Attributes:
        bytes: ref → text as served. ids, cost: its thing, its tokens. last: ref → turn that named it last.
        stays, pinned: refs that may not go, by kind or by hand. held: refs. gone, back: id → turn it was last evicted, or came back.
        trace: everything asked for, in order. entered: tokens taken in since the last eviction. peak: most held after a call.
    """

    bytes: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    cost: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    stays: set[str] = field(default_factory=set)
    pinned: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    gone: dict[str, int] = field(default_factory=dict)
    back: dict[str, int] = field(default_factory=dict)
    trace: list[Asked] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    entered: int = 0
    peak: int = 0
    stub: int = 0


def run(options: Options, progress: Telling | None = None) -> SuiteResult:
    """Run the session on the repository ``options.repos`` names: a folder of source, or a clone (its HEAD).

    ``options.limit`` is the number of turns (default 300); settings: ``budget`` in tokens, ``seeds`` how many sessions.

    Raises:
        UsageError: there is no such folder, or it has no documented functions.
    """
    seeds = int(options.extra.get("seeds", "1"))
    budget = int(options.extra.get("budget", str(BUDGET)))
    rows, books = [], []
    with tempfile.TemporaryDirectory(prefix="mog-working-set-") as folder:
        for number in range(seeds):
            root = Path(folder) / str(number)
            name = copied(options.repos, root)
            told = None if progress is None else lambda at, number=number: progress(Progress("turns", at, _turns(options)))
            book = session(root, _turns(options), budget, Random(options.seed + number), told)
            books.append(book)
            rows.append(_row(f"{name}, session {number + 1}", book, budget))
    return _result(rows, books, options, budget, name)


def _turns(options: Options) -> int:
    return options.limit or TURNS


def session(root: Path, turns: int, budget: int, random: Random, told: Callable[[int], None] | None = None) -> Book:
    """One scripted session over the tree at ``root``, which it edits; what was counted."""
    window = -(-budget * 100 // 60)
    config = EngineConfig(project=root.name, ws_window=window)
    book = Book()
    with Workspace.open(_made(root), config=config) as space:
        space.index()
        agent = Agent(space, book, random)
        for at in range(turns):
            if told is not None and at % 10 == 0:
                told(at)
            agent.turn()
        agent.recall_all()
    return book


def _made(root: Path) -> Path:
    Workspace.init(root)
    return root


class Agent:
    """The script. Each turn is one act; each act is checked against the book."""

    def __init__(self, space: Workspace, book: Book, random: Random) -> None:
        self.space, self.book, self.random = space, book, random
        self.topics = topics(space.root, random)
        self.name = "scripted"
        self.edits = 0
        self.seen: list[int] = []
        for kind, topic in zip(("constraint", "correction", "task", "constraint"), self.topics, strict=False):
            self.space.memory.remember(kind, f"Mind this: {topic.about}", anchors=[topic.locator])

    @property
    def working(self) -> WorkingSet:
        """A set opened anew each time, as a process of its own would."""
        return self.space.working_set(self.name)

    @property
    def topic(self) -> Topic:
        """What is worked on now."""
        return self.topics[self.seen[-1]]

    def turn(self) -> None:
        """One act of the agent."""
        if not self.seen or self.random.random() < 1 / TOPIC_TURNS:
            self._move()
        act = self.random.choices((self.search, self.expand, self.recall, self.edit, self.pin), (4, 5, 2, 1, 0.5))[0]
        self.book.counts["turns"] += 1
        act()

    def _move(self) -> None:
        """To an earlier topic or to another one."""
        if self.seen and self.random.random() < RETURNS:
            self.seen.append(self.random.choice(self.seen))
        else:
            self.seen.append(self.random.randrange(len(self.topics)))
        self.book.counts["topics"] += 1

    def search(self) -> None:
        """A question in the words of the documentation, within the room there is."""
        room = min(PACK, self.working.room())
        if room >= 64:
            self.served(self.space.context.search(self.topic.about, budget=room).items)

    def expand(self) -> None:
        """The function of the topic, or another of its file, as a body."""
        same = [one for one in self.topics if one.path == self.topic.path]
        room = min(PACK, self.working.room())
        if room >= 64:
            self._expand(self.random.choice([self.topic, *same]).locator, room)

    def _expand(self, locator: str, room: int) -> None:
        try:
            made = self.space.context.expand(locator, zoom=Zoom.L2, budget=room)
        except MogError:
            self.book.counts["not there any more"] += 1
            return
        self.served(made.items)

    def recall(self) -> None:
        """A stub: one of the file in work where there is one, else any of the latest."""
        stubs = self.working.stubs()
        near = [one for one in stubs if self.topic.path in one.id] or list(stubs[:8])
        if not near:
            return self.search()
        stub = self.random.choice(near)
        if stub.tokens <= self.working.room():
            self._recalled(stub.ref)
        return None

    def _recalled(self, ref: str) -> None:
        back, book = self.working.recall(ref), self.book
        book.counts["recalls"] += 1
        book.counts["recalls after a change"] += bool(back.now.changed)
        book.counts["recalls that differ"] += back.item.text != book.bytes[ref]
        self._named([back.item], (ref,), back.turned, recalled=True)

    def edit(self) -> None:
        """A line goes into the function in work, and the index follows."""
        path = self.space.root / self.topic.path
        text = path.read_text("utf-8")
        qual = self.topic.locator.rpartition("::")[2]
        edited = with_line(text, qual, f"_touched = {self.edits}")
        if edited is None:
            return self.search()
        self.edits += 1
        path.write_text(edited, "utf-8")
        self.space.index()
        self.book.counts["edits"] += 1
        return self.expand()

    def pin(self) -> None:
        """Pin something small that is held; or let an earlier pin go."""
        rows = self.working.state().items
        pinned = sorted(self.book.pinned & self.book.held)
        if len(pinned) > 2:
            self.book.pinned.discard(self.working.unpin(pinned[0]).ref)
        elif small := [row.entry.ref for row in rows if row.entry.tokens < 300]:
            self.book.pinned.add(self.working.pin(self.random.choice(small)).ref)
            self.book.counts["pins"] += 1

    # the book

    def served(self, items: Sequence[Item]) -> None:
        """Count what was shown, and check what the set made of it."""
        turned = self.working.serve(items)
        self._named(items, turned.refs, turned)

    def _named(self, items: Sequence[Item], refs: Sequence[str], turned: Turned, *, recalled: bool = False) -> None:
        book = self.book
        for item, ref, share in zip(items, refs, relevances(items), strict=True):
            if ref:
                self._shown(item, ref, turned, recalled=recalled)
                book.trace.append(
                    Asked(turned.turn, item.id, item.zoom, book.cost[ref], ref in book.stays, item.text, 0.0 if recalled else share)
                )
        recent = {ref for ref in book.held if turned.turn - book.last[ref] < WORKING_SET.recent}
        kept = recent | book.held & (book.stays | book.pinned)
        gone = {stub.ref for stub in turned.evicted}
        self._evicted(gone, kept, turned)
        book.held -= gone
        book.peak = max(book.peak, turned.used)
        book.counts["over the budget"] += turned.used > turned.budget
        book.counts["sums that differ"] += turned.used != sum(book.cost[ref] for ref in book.held)
        book.stub = max([book.stub, *(estimator.tokens(stub.line) for stub in turned.evicted)])

    def _shown(self, item: Item, ref: str, turned: Turned, *, recalled: bool) -> None:
        book = self.book
        if ref in turned.taken and ref not in book.held:
            self._taken(item, ref, turned.turn, recalled=recalled)
        book.last[ref] = turned.turn

    def _taken(self, item: Item, ref: str, turn: int, *, recalled: bool) -> None:
        """A serving takes the place of what was held of the same thing; a recalled version stands beside it."""
        book = self.book
        others = set() if recalled else {one for one in book.held if book.ids[one] == item.id}
        book.held -= others
        if others & book.pinned:
            book.pinned.add(ref)
        book.bytes[ref], book.ids[ref] = item.text, item.id
        book.cost[ref] = max(item.tokens, estimator.tokens(item.text))
        book.entered += book.cost[ref]
        book.stays |= {ref} if item.kind in _NEVER else set()
        book.held.add(ref)
        if item.id in book.gone:
            book.counts["asked for again soon"] += turn - book.gone[item.id] <= AGAIN
            book.back[item.id] = turn

    def _evicted(self, gone: set[str], kept: set[str], turned: Turned) -> None:
        book, counts = self.book, self.book.counts
        counts["evicted"] += len(gone)
        counts["never-evict evicted"] += len(gone & kept)
        if gone:
            counts["evictions"] += 1
            counts["evicted too early"] += turned.used + sum(book.cost[ref] for ref in gone) <= turned.budget
            counts["not down to the low mark"] += turned.used > turned.budget * 45 // 60 and book.held - gone - kept != set()
            if counts["evictions"] > 1:
                counts["within the hysteresis"] += book.entered < turned.budget - turned.budget * 45 // 60
            book.entered = 0
        for ref in gone:
            counts["back and evicted again soon"] += turned.turn - book.back.get(book.ids[ref], -AGAIN - 1) <= AGAIN
            book.gone[book.ids[ref]] = turned.turn

    def recall_all(self) -> None:
        """At the end, after all edits: every stub there is, and everything that was ever served, byte for byte."""
        for stub in self.working.stubs():
            self.book.counts["stubs at the end"] += 1
            self.book.stub = max(self.book.stub, estimator.tokens(stub.line))
        for ref, text in self.book.bytes.items():
            back = self.working.recall(ref)
            self.book.counts["recalled at the end"] += 1
            self.book.counts["changed since"] += bool(back.now.changed)
            self.book.counts["recalls that differ"] += back.item.text != text


# the report

COLUMNS = (
    Column("turns", "turns", "", 0),
    Column("shown", "things shown", "", 0),
    Column("evictions", "evictions", "", 0),
    Column("evicted", "things evicted", "", 0),
    Column("recalls", "recalls", "", 0),
    Column("edits", "edits", "", 0),
    Column("peak", "most held", "tokens", 0),
    Column("stub", "largest stub", "tokens", 0),
)
PROMISES = (
    ("over the budget", "over the budget after a call"),
    ("never-evict evicted", "things evicted that are never evicted"),
    ("evicted too early", "evictions below the budget"),
    ("not down to the low mark", "evictions that stop above the low mark"),
    ("within the hysteresis", "evictions within the hysteresis (thrash)"),
    ("sums that differ", "turns whose sum differs from the suite's own"),
    ("recalls that differ", "recalls that are not byte for byte what was served"),
)


def _row(name: str, book: Book, budget: int) -> Row:
    counts = book.counts
    values = {
        "turns": counts["turns"], "shown": len(book.trace), "evictions": counts["evictions"], "evicted": counts["evicted"],
        "recalls": counts["recalls"], "edits": counts["edits"], "peak": book.peak, "stub": book.stub,
    }  # fmt: skip
    return Row(name, {key: Measure(float(value)) for key, value in values.items()})


def _result(rows: list[Row], books: list[Book], options: Options, budget: int, name: str) -> SuiteResult:
    counts = sum((book.counts for book in books), Counter())
    gates = [Gate(said, "0", str(counts[key]), counts[key] == 0) for key, said in PROMISES]
    stub = max(book.stub for book in books)
    gates.append(Gate("largest stub, in tokens", "≤ 40", str(stub), stub <= 40))
    again, twice = counts["asked for again soon"], counts["back and evicted again soon"]
    told = (
        f"After the last turn all {counts['recalled at the end']:,} servings were recalled once more; {counts['changed since']:,} of"
        f" them were of things that had changed. So were {counts['recalls after a change']:,} of the {counts['recalls']:,} recalls"
        " on the way.",
        f"Within {AGAIN} turns of its eviction a thing was asked for again {again:,} times; within {AGAIN} turns of coming back one"
        f" was evicted again {twice:,} times.",
    )
    return SuiteResult(
        "working_set",
        "The working set: a scripted session over a real repository",
        "An agent that follows a script works on one topic after another: it searches, expands, recalls, edits, pins, and returns to"
        " earlier topics. Packs are cut to the room there is. Every promise is checked after every call by a book of the suite's own.",
        (
            Table("What happened", COLUMNS, tuple(rows)),
            _orders(books, budget),
        ),
        tuple(gates),
        told,
        {
            "repository": name, "turns": str(_turns(options)), "budget": f"{budget} tokens ({estimator.NAME})",
            "pack": f"{PACK} tokens", "seed": str(options.seed), "topics": str(TOPICS),
        },
    )  # fmt: skip


def _orders(books: list[Book], budget: int) -> Table:
    """What was asked for, replayed with other orders of eviction."""
    columns = (Column("paid", "tokens paid", "tokens", 0), Column("missed", "asked for again and gone", "", 0))
    rows = []
    for name, order in ORDERS.items():
        sums = [replayed(book.trace, budget, order) for book in books]
        rows.append(Row(name, {"paid": Measure(float(sum(s[0] for s in sums))), "missed": Measure(float(sum(s[1] for s in sums)))}))
    note = "Fewer are better. The requests are those of the session above, whose packs and recalls followed from what mog held."
    return Table("The same requests with other orders of eviction", columns, tuple(rows), note)
