"""One task, every method: what each ranks and reads, and what that is worth. Runs in worker processes.

Who calls: ``field`` with batches of tasks of one clone. What may not come in: averages, intervals, text for people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mog.engine.evals import baselines, gold
from mog.engine.evals.cards import Card, Symbol
from mog.engine.retrieval import estimator

NEVER = math.inf


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes ``start`` to ``stop`` of file number ``file``."""

    file: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Read:
    """One step of a reader: what it costs in estimated tokens, and the bytes that have then been seen."""

    tokens: int
    seen: Span


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method says about a task.

    Attributes:
        files: paths, best first, without repetition. functions: ``path:name``, best first, repetition allowed.
        reads: how a reader spends tokens when following the ranking.
    """

    files: tuple[str, ...]
    functions: tuple[str, ...]
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """What an answer is worth: the rank (from 1, 0 = not there) of each gold file, module and function, and the tokens until
    all gold functions were read, by way of reading; ``NEVER`` when they were not."""

    files: tuple[int, ...]
    modules: tuple[int, ...]
    functions: tuple[int, ...]
    tokens: Mapping[str, float] = field(default_factory=dict)


class Scene:
    """The candidates of one task: paths and cards in one order.

    Args:
        paths, cards: one of each per candidate file.
    """

    def __init__(self, paths: Sequence[str], cards: Sequence[Card]) -> None:
        self.paths = tuple(paths)
        self.cards = tuple(cards)
        self.number = {path: at for at, path in enumerate(paths)}

    def name(self, file: int, symbol: Symbol) -> str:
        """``path:name`` of a function."""
        return f"{self.paths[file]}:{symbol.name}"

    def functions(self, file: int) -> Iterator[Symbol]:
        """Functions and methods of a file, in its order."""
        return (symbol for symbol in self.cards[file].symbols if symbol.kind in gold.FUNCTIONS)

    def spans(self, function: str) -> list[Span]:
        """Where a gold function is: one span for each definition that goes by its name, outermost only."""
        path, _, name = function.partition(":")
        file = self.number.get(path)
        if file is None:
            return []
        found: list[Span] = []
        for symbol in self.functions(file):
            inside = found and found[-1].start <= symbol.start and symbol.stop <= found[-1].stop
            if symbol.name == name and not inside:
                found.append(Span(file, symbol.start, symbol.stop))
        return found

    def within(self, chunk: baselines.Chunk) -> Iterator[Symbol]:
        """Functions whose definition starts in a chunk, or that fill it."""
        for symbol in self.functions(chunk.file):
            if symbol.start < chunk.end and chunk.start < symbol.stop:
                yield symbol


def body(symbol: Symbol, file: int) -> Read:
    """Reading one function whole."""
    return Read(estimator.of_bytes(symbol.stop - symbol.start), Span(file, symbol.start, symbol.stop))


def from_files(scene: Scene, ranked: Iterable[int]) -> Answer:
    """The answer of a method that ranks files and reads them whole."""
    order = list(ranked)
    reads = (Read(estimator.of_bytes(scene.cards[at].size), Span(at, 0, scene.cards[at].size)) for at in order)
    functions = (scene.name(at, symbol) for at in order[:10] for symbol in scene.functions(at))
    return Answer(tuple(scene.paths[at] for at in order), tuple(functions), tuple(reads))


def from_chunks(scene: Scene, ranked: Sequence[baselines.Chunk]) -> Answer:
    """The answer of a method that ranks chunks and reads the first ten."""
    reads = (Read(estimator.of_bytes(c.end - c.start), Span(c.file, c.start, c.end)) for c in ranked[: baselines.CHUNKS])
    functions = (scene.name(c.file, symbol) for c in ranked[:100] for symbol in scene.within(c))
    files = dict.fromkeys(scene.paths[c.file] for c in ranked)
    return Answer(tuple(files), tuple(functions), tuple(reads))


def from_functions(scene: Scene, files: Iterable[int], ranked: Iterable[tuple[int, Symbol]]) -> Answer:
    """The answer of a method that ranks files and functions apart, and reads functions."""
    order = list(ranked)
    functions = tuple(scene.name(file, symbol) for file, symbol in order)
    return Answer(tuple(scene.paths[at] for at in files), functions, tuple(body(symbol, file) for file, symbol in order))


def score(scene: Scene, task: gold.Task, answer: Answer) -> Score:
    """Ranks of the gold, and the tokens of reading ``whole`` functions (every byte), or until each was ``touched``."""
    modules = [gold.module_of(name) for name in answer.functions]
    wanted = [scene.spans(name) for name in task.functions]
    return Score(
        tuple(gold.first_ranks(answer.files, task.files)),
        tuple(gold.first_ranks(modules, dict.fromkeys(map(gold.module_of, task.functions)))),
        tuple(gold.first_ranks(answer.functions, task.functions)),
        {"whole": spent(answer.reads, wanted, whole=True), "touched": spent(answer.reads, wanted, whole=False)},
    )


def spent(reads: Iterable[Read], wanted: Sequence[Sequence[Span]], *, whole: bool) -> float:
    """Tokens until one definition of each wanted function was read; ``NEVER`` when the reader stops before.

    Args:
        wanted: spans of each function. whole: every byte must have been seen; else its first.
    """
    cost = 0
    open_ = [[_Rest(span) for span in spans] for spans in wanted]
    if any(not rests for rests in open_):
        return NEVER
    for read in reads:
        cost += read.tokens
        for rest in (rest for rests in open_ for rest in rests):
            rest.see(read.seen)
        open_ = [rests for rests in open_ if not any(rest.read(whole) for rest in rests)]
        if not open_:
            return float(cost)
    return NEVER


class _Rest:
    """The bytes of one span that were not seen yet, as intervals."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.left = [(span.start, span.stop)]

    def see(self, by: Span) -> None:
        """Take away what was just seen."""
        if by.file == self.span.file:
            cut = [piece for a, b in self.left for piece in ((a, min(b, by.start)), (max(a, by.stop), b))]
            self.left = [(a, b) for a, b in cut if a < b]

    def read(self, whole: bool) -> bool:
        """Whether the span counts as read: all of it, or its first byte."""
        return not self.left if whole else not self.left or self.left[0][0] > self.span.start


def signatures_first(scene: Scene, task: gold.Task, ranked: Sequence[tuple[int, Symbol]]) -> float:
    """Tokens of a reader who is given locators and signatures in order until the last gold one, and then opens the gold bodies.

    Optimistic: it takes a reader who knows the right function by its signature.
    """
    names = [scene.name(file, symbol) for file, symbol in ranked]
    ranks = gold.first_ranks(names, task.functions)
    if not all(ranks):
        return NEVER
    # ranks count distinct names; the list is read line by line, repetitions included
    lines = [names.index(name) for name in task.functions]
    listed = sum(len(names[at].encode("utf-8", "surrogatepass")) + ranked[at][1].signature + 2 for at in range(max(lines) + 1))
    return float(estimator.of_bytes(listed) + sum(body(ranked[at][1], ranked[at][0]).tokens for at in lines))
