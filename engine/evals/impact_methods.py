"""Ways to name what a change of some functions will touch: mog's impact, a search for the name, and programs of others.

Who calls: suite ``impact``. What may not come in: the truth. A method gets the parent's tree and the seeds, and names files and
functions, best first.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mog.engine.errors import MogError
from mog.engine.evals.edits import functions
from mog.engine.evals.refactorings import Case, Place
from mog.engine.model import ImpactAnswer
from mog.engine.workspace import Workspace

MANY = 100_000
TIMEOUT = 900


class Found(NamedTuple):
    """What a method names, best first."""

    files: tuple[str, ...]
    symbols: tuple[Place, ...]


Answers = Mapping[str, Found]


def mog(workspace: Workspace, case: Case) -> Answers:
    """mog by hops and tiers, with and beside what changed in the same commits (history up to the parent commit)."""
    sure, wide = _ask(workspace, case, maybe=False), _ask(workspace, case, maybe=True)
    along = () if sure is None else tuple(one.path for one in sure.co_changed)
    near = _found(sure, 1)
    return {
        "mog, certain, 1 hop": near,
        "mog, certain, 2 hops": _found(sure, 2),
        "mog, all tiers, 1 hop": _found(wide, 1),
        "mog, 1 hop and changed together": Found(tuple(dict.fromkeys((*near.files, *along))), near.symbols),
        "changed together alone": Found(along, ()),
        "importers alone": Found(() if sure is None else tuple(node.path for node in sure.importers), ()),
    }


def _ask(workspace: Workspace, case: Case, *, maybe: bool) -> ImpactAnswer | None:
    known = []
    for path, qual in case.seeds:
        try:
            known.append(workspace.find(f"sym:{path}::{qual}").id)
        except MogError:
            continue  # a name of the other parser's that the index does not have counts as nothing named
    return workspace.impact(*known, depth=2, limit=MANY, maybe=maybe, history=not maybe) if known else None


def _found(answer: ImpactAnswer | None, hops: int) -> Found:
    """Files by their nearest node, then by how many nodes, then by path; symbols by hop."""
    if answer is None:
        return Found((), ())
    reached = [one for one in answer.reached if one.depth <= hops and one.node.path.endswith(".py")]
    nearest: dict[str, int] = {}
    for one in reached:
        nearest.setdefault(one.node.path, one.depth)
    counts = Counter(one.node.path for one in reached)
    files = sorted(nearest, key=lambda path: (nearest[path], -counts[path], path))
    return Found(tuple(files), tuple((one.node.path, one.node.qual) for one in reached if one.node.type == "symbol"))


def ripgrep(root: Path, case: Case) -> Answers:
    """Files and functions in which the name of a seed stands as a word (``rg -w``), most often first; special methods aside."""
    names = {qual.rpartition(".")[2] for _, qual in case.seeds}
    wanted = [re.escape(name) for name in sorted(names) if not name.startswith("__")]
    if not wanted:
        return {"ripgrep": Found((), ())}
    pattern = re.compile(rb"\b(?:" + "|".join(wanted).encode() + rb")\b")
    counts: Counter[str] = Counter()
    symbols: list[Place] = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        data = path.read_bytes() if path.is_file() and ".mog" not in path.parts else b""
        lines = [data.count(b"\n", 0, match.start()) + 1 for match in pattern.finditer(data)]
        if lines:
            counts[name] = len(lines)
            symbols += ((name, qual) for qual in _holding(data.decode("utf-8", "replace"), lines))
    files = sorted(counts, key=lambda name: (-counts[name], name))
    return {"ripgrep": Found(tuple(files), tuple(place for place in symbols if place not in case.seeds))}


def _holding(text: str, lines: Iterable[int]) -> list[str]:
    """Functions with one of these lines in them."""
    spans = functions(text)
    return sorted({qual for qual, one in spans.items() for line in lines if one.lines[0] <= line <= one.lines[1]})


class Peer(NamedTuple):
    """A program of others: how it makes its index, brings it up to the tree, and is asked about (name, path, qualified name)."""

    label: str
    first: tuple[tuple[str, ...], ...]
    again: tuple[str, ...]
    ask: Callable[[str, str], tuple[str, ...]]
    read: Callable[[Any], Found]


def _of_codegraph(said: Any) -> Found:
    rows = [row for one in said.get("definitions", []) for row in one["affected"] if row["id"] not in one["roots"]]
    files = Counter(row["filePath"] for row in rows if row["filePath"].endswith(".py"))
    symbols = tuple((row["filePath"], str(row["name"])) for row in rows)
    return Found(tuple(sorted(files, key=lambda path: (-files[path], path))), symbols)


def _of_mogestrator(said: Any) -> Found:
    places = [tuple(str(row["location"]).partition("::")[::2]) for row in said.get("items", [])]
    return Found(tuple(dict.fromkeys(path for path, _ in places if path.endswith(".py"))), tuple(places))  # type: ignore[arg-type]


PEERS = {
    "codegraph": Peer(
        "codegraph", (("init",),), ("sync",),
        lambda path, qual: ("impact", qual.rpartition(".")[2], "--file", path, "--depth", "1", "--json"), _of_codegraph,
    ),
    "mogestrator": Peer(
        "mogestrator", (("init",), ("index", "--full")), ("index",),
        lambda path, qual: ("impact", f"{path}::{qual}", "--depth", "1", "--budget", "100000", "--json"), _of_mogestrator,
    ),
}  # fmt: skip


class Other:
    """One peer at work in a tree of its own. ``program`` is its command; its home folder is ``home``."""

    def __init__(self, peer: Peer, program: str, root: Path, home: Path) -> None:
        self.peer, self._program, self._root, self._home = peer, program, root, home
        self._made = False

    def answer(self, case: Case) -> Answers:
        """Bring its index up and ask about each seed; what it cannot answer counts as nothing named."""
        for command in (self.peer.again,) if self._made else self.peer.first:
            self._run(*command)
        self._made = True
        found = [self._one(path, qual) for path, qual in case.seeds]
        files = tuple(dict.fromkeys(path for one in found for path in one.files))
        return {self.peer.label: Found(files, tuple(dict.fromkeys(place for one in found for place in one.symbols)))}

    def _one(self, path: str, qual: str) -> Found:
        try:
            return self.peer.read(json.loads(self._run(*self.peer.ask(path, qual)) or "{}"))
        except (ValueError, KeyError, TypeError):
            return Found((), ())

    def _run(self, *arguments: str) -> str:
        self._home.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, "HOME": str(self._home), "DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0", "NO_COLOR": "1"}
        done = subprocess.run(
            [self._program, *arguments], cwd=self._root, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT
        )
        return done.stdout.decode("utf-8", "replace")


def merged(parts: Sequence[Answers]) -> dict[str, Found]:
    """The answers of several methods in one."""
    return {name: found for part in parts for name, found in part.items()}
