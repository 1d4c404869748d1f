"""Scripted agents: the same work done with ripgrep and whole files, with a summary note kept over resets, and with mog.

Who calls: ``outcome``. What may not come in: the truth, the choice of edits, a model. An agent does only what its script says:
it looks up what it needs and does not know, believes what it was told, and loses its window at a reset. What it pays for is
what it is shown, in tokens of ``retrieval/estimator``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from mog.engine.errors import MogError
from mog.engine.evals.edits import Function, functions, is_source
from mog.engine.memory.working_set import WorkingSet
from mog.engine.model import Freshness
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Item, Zoom
from mog.engine.workspace import Workspace

Place = tuple[str, str]
NOTE_TOKENS = 2_000
ASK_TOKENS = 2_000
WINDOW = 64_000


class Agent(Protocol):
    """One way of working. ``tokens`` is what it was shown so far, ``reads`` whole-file reads by path."""

    name: str
    tokens: int
    reads: Counter[str]
    unchanged_reads: int

    def begin(self) -> None:
        """A hard reset: everything in the window is lost."""
        ...

    def arrive(self) -> None:
        """A new task begins; the tree may have changed meanwhile."""
        ...

    def body(self, place: Place) -> str | None:
        """Read a function to edit it: its signature as read, None when it was not found."""
        ...

    def signature(self, place: Place) -> str | None:
        """The signature of a function that the edit calls, as the agent believes it; None when it found none."""
        ...

    def code(self, place: Place) -> str | None:
        """What a function does, as the agent believes it: its code in the parser's normal form; None when it found none."""
        ...

    def knows_failure(self, place: Place) -> bool:
        """Is it told that the obvious approach failed here before?"""
        ...

    def failed(self, place: Place, text: str) -> None:
        """The obvious approach was tried and failed."""
        ...

    def edited(self, places: Iterable[Place]) -> None:
        """Its own edit is on disk: it knows what it wrote."""
        ...


class Ripgrep:
    """Search by name, read the file whole, trust the window until it is lost."""

    name = "ripgrep + whole files"

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tokens = 0
        self.reads: Counter[str] = Counter()
        self.unchanged_reads = 0
        self._seen: dict[str, str] = {}
        self._window: dict[Place, str] = {}
        self._code: dict[Place, str] = {}
        self._held: dict[str, str] = {}
        self._failures: set[Place] = set()

    def begin(self) -> None:
        """Nothing outlives the window."""
        self._window, self._code, self._held, self._failures = {}, {}, {}, set()

    def arrive(self) -> None:
        """It is not told what changed."""

    def body(self, place: Place) -> str | None:
        """An editor refuses a file that changed since it was read, so the file is as on disk."""
        if self._held.get(place[0]) != self._text(place[0]):
            self._read(place[0])
        return self._window.get(place)

    def signature(self, place: Place) -> str | None:
        """From the window when it is there; else grep for the definition and read the file."""
        if place not in self._window:
            self._find(place)
        return self._window.get(place)

    def code(self, place: Place) -> str | None:
        """The same of its code; a note holds none."""
        if place not in self._code:
            self._find(place)
        return self._code.get(place)

    def knows_failure(self, place: Place) -> bool:
        """Only what happened since the last reset."""
        return place in self._failures

    def failed(self, place: Place, text: str) -> None:
        """It stands in the window."""
        self.tokens += estimator.tokens(text)
        self._failures.add(place)

    def edited(self, places: Iterable[Place]) -> None:
        """The edited files are known as they are now; writing them was paid for by everybody alike."""
        for path in {path for path, _ in places}:
            self._know(path)

    def _read(self, path: str) -> None:
        text = self._know(path)
        self.tokens += estimator.tokens(text)
        self.reads[path] += 1
        self.unchanged_reads += self._seen.get(path) == text
        self._seen[path] = text

    def _know(self, path: str) -> str:
        text = self._held[path] = self._text(path)
        known = functions(text)
        self._window |= {(path, qual): one.signature for qual, one in known.items()}
        self._code |= {(path, qual): one.body for qual, one in known.items()}
        return text

    def _text(self, path: str) -> str:
        try:
            return (self.root / path).read_text("utf-8", "replace")
        except OSError:
            return ""

    def _find(self, place: Place) -> None:
        name = place[1].rpartition(".")[2]
        found = re.compile(rf"\bdef {re.escape(name)}\b.*")
        for path in sources(self.root):
            lines = found.findall(self._text(path))
            self.tokens += sum(estimator.tokens(f"{path}:1234:{line}\n") for line in lines)
        self._read(place[0])


class Summary(Ripgrep):
    """The same, but at a reset it carries a note: what failed, then the signatures it knew, newest first, 2,000 tokens."""

    name = "ripgrep + summary note"

    def begin(self) -> None:
        """The note is written and read back; what did not fit is lost."""
        room = NOTE_TOKENS
        failures, window = self._failures, self._window
        super().begin()
        for place in sorted(failures):
            room -= estimator.tokens(f"- the obvious approach failed at {place[0]}::{place[1]}\n")
            if room >= 0:
                self._failures.add(place)
        for place, text in reversed(window.items()):
            room -= estimator.tokens(f"- {place[0]}::{place[1]}: {text}\n")
            if room < 0:
                break
            self._window[place] = text
        self.tokens += 2 * (NOTE_TOKENS - max(0, room))  # written once, read once


class Mog:
    """Ask for the smallest piece that answers, keep it only while it is fresh, leave notes where they belong."""

    name = "mog"

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.tokens = 0
        self.reads: Counter[str] = Counter()
        self.unchanged_reads = 0
        self._starts = 0
        self._window: dict[Place, str] = {}
        self._code: dict[Place, str] = {}
        self._told: set[Place] = set()

    def begin(self) -> None:
        """A new client with an empty window; what was remembered is in the ledger."""
        self._starts += 1
        self._window, self._code, self._told = {}, {}, set()

    def arrive(self) -> None:
        """The index follows the disk; what was served and has changed since is named, and so forgotten."""
        self.workspace.index(workers=1)
        for held in self._set().state().items:
            if held.now.freshness is not Freshness.fresh or held.now.changed:
                self.tokens += estimator.tokens(f"{held.entry.id} {held.now.changed}\n")
                self._window.pop(place_of(held.entry.id), None)
                self._code.pop(place_of(held.entry.id), None)

    def body(self, place: Place) -> str | None:
        """Zoom L2: the body, and its callers and callees as signatures."""
        self._ask(place, Zoom.L2)
        return self._window.get(place)

    def signature(self, place: Place) -> str | None:
        """Zoom L1, unless it was served and nothing said that it changed."""
        if place not in self._window:
            self._ask(place, Zoom.L1)
        return self._window.get(place)

    def code(self, place: Place) -> str | None:
        """Zoom L2, unless it was served and nothing said that it changed."""
        if place not in self._code:
            self._ask(place, Zoom.L2)
        return self._code.get(place)

    def knows_failure(self, place: Place) -> bool:
        """Whether a note about the place was served with it, at any start."""
        return place in self._told

    def failed(self, place: Place, text: str) -> None:
        """Remembered where it happened."""
        self.tokens += estimator.tokens(text)
        self.workspace.memory.remember("failure", text, anchors=[locator_of(place)], origin="agent")
        self._told.add(place)

    def edited(self, places: Iterable[Place]) -> None:
        """It knows what it wrote."""
        wanted = set(places)
        for path in sorted({path for path, _ in wanted}):
            known = functions((self.workspace.root / path).read_text("utf-8", "replace"))
            mine = {(path, qual): known[qual] for p, qual in wanted if p == path and qual in known}
            self._window |= {place: one.signature for place, one in mine.items()}
            self._code |= {place: one.body for place, one in mine.items()}

    def _ask(self, place: Place, zoom: Zoom) -> None:
        try:
            pack = self.workspace.context.expand(locator_of(place), zoom=zoom, budget=ASK_TOKENS)
        except MogError:
            return
        self.tokens += pack.tokens
        self._set().serve(pack.items)
        for item in pack.items:
            self._learn(item, place)

    def _learn(self, item: Item, asked: Place) -> None:
        if item.node is None:
            self._told |= {asked} if item.kind == "failure" else set()
        elif item.freshness is Freshness.fresh:
            read = served_function(item)
            if read is not None:
                self._window[item.node.path, item.node.qual] = read.signature
                if item.zoom >= Zoom.L2:
                    self._code[item.node.path, item.node.qual] = read.body

    def _set(self) -> WorkingSet:
        return self.workspace.working_set(f"outcome-{self._starts}", WINDOW)


def sources(root: Path) -> Iterator[str]:
    """Python files of a tree that are no tests, sorted."""
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root).as_posix()
        if is_source(relative) and not relative.startswith(".git/"):
            yield relative


def locator_of(place: Place) -> str:
    """``sym:path::qualified.name``."""
    return f"sym:{place[0]}::{place[1]}"


def place_of(locator: str) -> Place:
    """The place a locator names."""
    path, _, qual = locator.removeprefix("sym:").partition("::")
    return path, qual


def served_function(item: Item) -> Function | None:
    """The function that a served text is, as CPython's parser sees it; of a skeleton, with an empty body."""
    if item.node is None:
        return None
    body = item.text.partition("\n# called by:\n")[0].partition("\n# calls:\n")[0]
    if body[:1].isspace():
        body = "class _:\n" + body
    for text in (body, body + "\n    ...", body + " ..."):
        found = functions(text)
        if found:
            return next(iter(found.values()))
    return None
