"""Suite ``outcome``: a scripted agent works through real edits over several starts with hard resets; no model takes part.

Who calls: ``mog eval run outcome``. What may not come in: anything that only one of the methods is measured by.

Every second qualifying commit of a real project is the agent's own edit, the ones between are made by others behind its back.
For each edit it reads the functions it changes and needs the signatures of the functions they call, and of some what they
do; at functions edited
more than once the obvious approach fails, and trying it again is counted. The truth is CPython's own parse of the tree.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mog.engine.errors import UsageError
from mog.engine.evals import repos
from mog.engine.evals.edits import Clone, Copy, Edit, Function, functions
from mog.engine.evals.scripted import Agent, Mog, Place, Ripgrep, Summary, sources
from mog.engine.evals.suites import Column, Gate, Measure, Options, Row, SuiteResult, Table, Telling
from mog.engine.model import Progress
from mog.engine.workspace import Workspace

EDITS, STARTS = 40, 3
TARGETS, NEEDED, STUDIED = 4, 12, 4

COLUMNS = (
    Column("tokens", "tokens shown", "tokens", 0),
    Column("wrong", "facts taken as true that are not", "", 0),
    Column("facts", "facts used", "", 0),
    Column("missing", "facts not found", "", 0),
    Column("again", "rejected approaches tried again", "", 0),
    Column("forks", "returns to such a place", "", 0),
    Column("reread", "files read again", "", 0),
    Column("unchanged", "of them unchanged", "", 0),
)


@dataclass(slots=True)
class Score:
    """What one agent's run came to."""

    facts: int = 0
    wrong: int = 0
    missing: int = 0
    again: int = 0
    forks: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Task:
    """One edit of the agent's: the functions it reads to change, the ones whose signatures it needs, the forks it meets."""

    edit: Edit
    targets: tuple[Place, ...]
    needed: tuple[Place, ...]
    forks: tuple[Place, ...]


def run(options: Options, progress: Telling | None = None) -> SuiteResult:
    """Replay the edits once for each agent.

    Raises:
        UsageError: ``options.repos`` names no clone, or its history has too few edits.
    """
    if options.repos is None:
        raise UsageError(
            "the suite works on a clone with history", where="mog eval run outcome", way_out="--repos FOLDER"
        )
    clone = Clone(options.repos)
    count = options.limit or EDITS
    edits = clone.edits(2 * count)
    if len(edits) < 2 * count:
        raise UsageError(f"the history has {len(edits)} fit edits, {2 * count} are needed", where=str(options.repos))
    rows, notes = [], []
    for number, agent_type in enumerate((Ripgrep, Summary, Mog)):
        with tempfile.TemporaryDirectory(prefix="mog-outcome-") as folder:
            copy = Copy(clone, Path(folder) / "repo", edits[0].parent)
            if progress:
                progress(Progress("replaying", number, 3))
            row, examples = _run_one(agent_type, copy, edits, count)
        rows.append(row)
        notes += examples
    return _result(options, rows, notes, len(edits), count)


def _run_one(agent_type: type, copy: Copy, edits: Sequence[Edit], count: int) -> tuple[Row, list[str]]:
    if agent_type is Mog:
        with Workspace.open(copy.folder) as workspace:
            return _replay(Mog(workspace), copy, edits, count)
    return _replay(agent_type(copy.folder), copy, edits, count)


def _replay(agent: Agent, copy: Copy, edits: Sequence[Edit], count: int) -> tuple[Row, list[str]]:
    score = Score()
    returning = _returning(edits[1::2])
    met: set[Place] = set()
    resets = {count * start // STARTS for start in range(STARTS)}
    for number, (_, own) in enumerate(zip(edits[::2], edits[1::2], strict=True)):
        copy.move(own.parent)
        if number in resets:
            agent.begin()
        truth = Tree(copy.folder)
        _work(agent, truth.task(own, returning), truth, met, score)
        copy.move(own.commit)
        agent.edited(own.changed)
    again = sum(times - 1 for times in agent.reads.values())
    values = {
        "tokens": agent.tokens, "wrong": score.wrong, "facts": score.facts, "missing": score.missing,
        "again": score.again, "forks": score.forks, "reread": again, "unchanged": agent.unchanged_reads,
    }  # fmt: skip
    return Row(agent.name, {key: Measure(float(value)) for key, value in values.items()}), score.examples[:3]


def _work(agent: Agent, task: Task, truth: Tree, met: set[Place], score: Score) -> None:
    agent.arrive()
    for place in task.targets:
        _judge(agent, place, agent.body(place), truth.functions[place].signature, score)
    for place in task.needed:
        _judge(agent, place, agent.signature(place), truth.functions[place].signature, score)
    for place in task.needed[:STUDIED]:
        _judge(agent, place, agent.code(place), truth.functions[place].body, score)
    for place in task.forks:
        if place in met:
            score.forks += 1
            score.again += not agent.knows_failure(place)
        if place not in met or not agent.knows_failure(place):
            agent.failed(place, f"The obvious approach to {place[1]} was tried here and failed its tests.")
        met.add(place)


def _judge(agent: Agent, place: Place, believed: str | None, actual: str, score: Score) -> None:
    score.facts += believed is not None
    score.missing += believed is None
    if believed is not None and believed != actual:
        score.wrong += 1
        score.examples.append(f"{agent.name} held an outdated version of {place[0]}::{place[1]} for true.")


def _returning(own: Sequence[Edit]) -> set[Place]:
    """Functions that the agent edits more than once."""
    times = Counter(place for edit in own for place in edit.changed)
    return {place for place, count in times.items() if count > 1}


class Tree:
    """The truth about the tree on disk: functions of its sources as CPython parses them."""

    def __init__(self, root: Path) -> None:
        self.functions: dict[Place, Function] = {
            (path, qual): one
            for path in sources(root)
            for qual, one in functions((root / path).read_text("utf-8", "replace")).items()
        }
        self._by_name: dict[str, list[Place]] = {}
        for place in self.functions:
            self._by_name.setdefault(place[1].rpartition(".")[2], []).append(place)

    def task(self, edit: Edit, returning: set[Place]) -> Task:
        """What an edit asks for: at most 4 functions to change and 12 they call whose name only one function has."""
        targets = [place for place in edit.changed if place in self.functions][:TARGETS]
        names = {name for place in targets for name in self.functions[place].calls}
        needed = sorted(self._by_name[name][0] for name in names if len(self._by_name.get(name, ())) == 1)
        forks = [place for place in targets if place in returning]
        return Task(
            edit, tuple(targets), tuple(place for place in needed if place not in targets)[:NEEDED], tuple(forks)
        )


def _result(options: Options, rows: Sequence[Row], notes: Sequence[str], edits: int, count: int) -> SuiteResult:
    by_name = {row.name: row.measures for row in rows}
    mog, plain = by_name[Mog.name], by_name[Ripgrep.name]
    gates = (
        Gate("facts mog serves as fresh that are not", "0", f"{mog['wrong'].value:.0f}", mog["wrong"].value == 0),
        Gate("rejected approaches tried again with mog", "0", f"{mog['again'].value:.0f}", mog["again"].value == 0),
        Gate("tokens of mog beside ripgrep", "fewer", f"{mog['tokens'].value / max(1, plain['tokens'].value):.2f} of them",
             mog["tokens"].value < plain["tokens"].value),
    )  # fmt: skip
    about = (
        f"{count} real edits of one project, each after a commit made by others, over {STARTS} starts with a hard reset"
        " between them. No model takes part: each agent follows its script, so the figures say what each way of working"
        " is shown and what it would believe, not how well a model would use it."
    )
    setup = {"project": repos.named(options.repos) if options.repos else "", "commits replayed": str(edits)}
    return SuiteResult("outcome", "A scripted agent over real edits", about, (Table("Outcome", COLUMNS, tuple(rows)),),
                       gates, tuple(notes), setup)  # fmt: skip
