"""Suite ``staleness``: remember facts about code, change it in every way, and hold what is served against CPython's own parse.

Who calls: ``mog eval run staleness``. What may not come in: mog's own notion of "same" on the side of the truth (``mutations``).

A fact served as fresh whose code changed is the one error memory must not make; one called stale whose code did not change costs
trust. Beside mog stand the two cheap rules: the file's hash, and the text of the lines.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from mog.engine.errors import MogError, UsageError
from mog.engine.evals import mutations, repos
from mog.engine.evals.mutations import STEPS, Place, Project
from mog.engine.evals.suites import Column, Gate, Measure, Options, Row, SuiteResult, Table, Telling
from mog.engine.memory.notes import Notes
from mog.engine.memory.records import Changed, Note, Since
from mog.engine.model import Freshness, Progress
from mog.engine.workspace import Workspace

DEFAULT = ("psf/requests", "pallets/flask", "pallets/click")
STEPS_OF, NOTES_OF, NAMED_A_STEP, HISTORY = 150, 40, 6, 200
EXAMPLES = 5
LIMITS = (
    "Python only: the truth is CPython's parse, and other languages have no oracle here.",
    "Both cheap rules err on one side: whatever changes a byte makes a fact stale, so a comment costs it its trust.",
    "On a branch that does not hold the commit a fact was recorded at, at most 200 commits of its file are looked at.",
)
_WEIGHTS = {
    "edit": 5, "cosmetic": 5, "rename": 2, "delete": 2, "copy": 2, "carry": 2, "move file": 2, "delete file": 1, "edit beside": 3,
    "undo": 3, "revert": 6, "commit": 6, "switch": 3, "merge": 2, "worktree": 2,
}  # fmt: skip

COLUMNS = (
    Column("judged", "facts served", "", 0),
    Column("changed", "of them changed", "", 0),
    Column("false_fresh", "fresh that are not", "", 0),
    Column("false_stale", "stale that are fresh", "", 0),
)
NAMING = (
    Column("named", "drifts named", "", 0),
    Column("wrong", "named wrongly", "", 0),
    Column("commit", "to a commit", "", 0),
    Column("working_tree", "to the working tree", "", 0),
    Column("elsewhere", "not on this branch", "", 0),
    Column("moved", "said to have moved", "", 0),
    Column("misled", "to a place that is not it", "", 0),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A note and what stood at its place when it was recorded, as the oracle and the cheap rules see it."""

    id: str
    place: Place
    version: str
    masked: str
    lines: str
    file: str
    commit: str


@dataclass
class Score:
    """Counts of one project; ``rules`` maps a method to (fresh that are not, stale that are fresh)."""

    judged: int = 0
    changed: int = 0
    rules: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in ("mog", "lines", "file")})
    naming: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def run(options: Options, progress: Telling | None = None) -> SuiteResult:
    """Run the suite on clones below ``options.repos`` (else on a made-up project).

    ``options.limit`` is the number of steps a project (default 150); settings: ``repo`` names projects, ``notes`` says how many
    facts.

    Raises: UsageError: no such clone, or git refuses.
    """
    count = options.limit or STEPS_OF
    names = _names(options)
    scores: dict[str, Score] = {}
    for number, name in enumerate(names):
        with tempfile.TemporaryDirectory(prefix="mog-staleness-") as folder:
            project = _project(options, name, Path(folder) / "tree", Random(f"{options.seed} {name}"))
            told = _part(progress, number, len(names))
            scores[name] = measure(project, count, int(options.extra.get("notes", NOTES_OF)), told)
    return _result(scores, options, count)


def measure(project: Project, steps: int, notes: int, progress: Telling | None = None) -> Score:
    """Remember facts about a project, change it ``steps`` times, and score what is served after each."""
    with Workspace.open(project.root) as workspace:
        trial = _Trial(project, workspace.memory, Score())
        trial.remember(notes)
        for number in range(steps):
            if progress is not None:
                progress(Progress("changing the project", number, steps))
            trial.step()
        return trial.score


@dataclass
class _Trial:
    """One project under change."""

    project: Project
    memory: Notes
    score: Score
    facts: list[Fact] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)

    def remember(self, count: int) -> None:
        """Facts about definitions and files, drawn at random; what is gated is passed over."""
        project, commit = self.project, self.project.head()
        places = [Place(path, qual) for path in project.sources() for qual in mutations.definitions(project.read(path) or b"")]
        files = [Place(path) for path in project.sources() if project.read(path)]
        project.random.shuffle(places)
        project.random.shuffle(files)
        for place in [*files[: count // 8], *places]:
            if len(self.facts) == count:
                break
            try:
                done = self.memory.remember("fact", f"something about {place.locator}", anchors=[place.locator])
            except MogError:
                continue
            self.facts.append(_fact(done.note.id, place, project.read(place.path), commit))
        project.git("branch", "start")
        self.branches.append(project.git("rev-parse", "--abbrev-ref", "HEAD").decode().strip())

    def step(self) -> None:
        """One change, then every fact held against the oracle."""
        project = self.project
        project.before.append({})
        name = project.random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        place = project.random.choice(self.facts).place
        act = STEPS.get(name)
        if not place.qual and name not in ("move file", "delete file", "undo"):
            place = project.random.choice([fact.place for fact in self.facts if fact.place.qual])
        done = act(project, place) if act else self._git(name, place)
        self.score.steps[name] += bool(done)
        notes = {note.id: note for note in self.memory.all()}
        self._judge(notes, project)
        self._name(notes)

    # -- what git does

    def _git(self, name: str, place: Place) -> bool:
        return {
            "revert": self._revert, "commit": self._commit, "switch": self._switch, "merge": self._merge,
            "worktree": self._worktree,
        }[name](place)  # fmt: skip

    def _revert(self, place: Place) -> bool:
        data = self.project.at(self.facts[0].commit, place.path)
        if self.project.read(place.path) == data:
            return False
        self.project.write(place.path, data)
        return True

    def _commit(self, place: Place) -> bool:
        self.project.commit(f"step {self.project.number()}")
        return True

    def _switch(self, place: Place) -> bool:
        project = self.project
        self._commit(place)
        if len(self.branches) < 4 and project.random.random() < 0.6:
            name = f"side{project.number()}"
            project.git("checkout", "-q", "-b", name, project.random.choice(["start", "HEAD", *self.branches]))
            self.branches.append(name)
        else:
            project.git("checkout", "-q", project.random.choice(["start~3", *self.branches]))
            if project.random.random() < 0.5:
                project.git("checkout", "-q", project.random.choice(self.branches))
        return True

    def _merge(self, place: Place) -> bool:
        self._commit(place)
        try:
            self.project.git("merge", "-q", "--no-edit", self.project.random.choice(self.branches))
        except UsageError:
            self.project.git("reset", "-q", "--hard")  # a conflict: given up
            return False
        return True

    def _worktree(self, place: Place) -> bool:
        """Another worktree of the clone at some commit: the same facts, judged against its own files."""
        other = self.project.root.parent / f"beside{self.project.number()}"
        commit = self.project.random.choice(["start", *self.branches])
        self.project.git("worktree", "add", "-q", "--detach", str(other), commit)
        with Workspace.open(other) as workspace:
            self._judge({note.id: note for note in workspace.memory.all()}, Project(other, self.project.random))
        self.project.git("worktree", "remove", "--force", str(other))
        return True

    # -- scoring

    def _judge(self, notes: dict[str, Note], tree: Project) -> None:
        for fact in self.facts:
            data = tree.read(fact.place.path)
            same = mutations.version(fact.place, data) == fact.version
            note = notes[fact.id]
            self.score.judged += 1
            self.score.changed += not same
            claims = {
                "mog": note.freshness is Freshness.fresh,
                "lines": mutations.raw_span(fact.place, data) == fact.lines,
                "file": _digest(data) == fact.file,
            }
            for name, fresh in claims.items():
                self.score.rules[name]["fresh"] += fresh and not same
                self.score.rules[name]["stale"] += same and not fresh
            if claims["mog"] != same:
                self._example(f"{fact.place.locator} was served as {note.freshness.value} ({note.anchors[0].reason})")
            if note.freshness is Freshness.moved:
                self._followed(fact, note, tree)

    def _followed(self, fact: Fact, note: Note, tree: Project) -> None:
        path, _, qual = note.anchors[0].now_at.partition(":")[2].partition("::")
        there = Place(path, qual)
        self.score.naming["moved"] += 1
        if mutations.masked(there, tree.read(path)) != fact.masked:
            self.score.naming["misled"] += 1
            self._example(f"{fact.place.locator} was said to be at {note.anchors[0].now_at}")

    def _name(self, notes: dict[str, Note]) -> None:
        off = [fact for fact in self.facts if notes[fact.id].freshness in (Freshness.drifted, Freshness.missing, Freshness.moved)]
        for fact in self.project.random.sample(off, min(len(off), NAMED_A_STEP)):
            found = self.memory.recall(fact.id).anchors[0].changed
            if found is None:
                continue
            self.score.naming["named"] += 1
            self.score.naming[found.since.value] += 1
            if not _right(self.project, fact, found):
                self.score.naming["wrong"] += 1
                self._example(f"{fact.place.locator} was said to have changed {found}")

    def _example(self, text: str) -> None:
        if len(self.score.examples) < EXAMPLES:
            self.score.examples.append(text)


# -- which commit did it, by walking them all


def _right(project: Project, fact: Fact, found: Changed) -> bool:
    head = project.head()
    if found.since is Since.unknown:
        return False
    at_head = _version_at(project, head, fact) == fact.version
    if found.since is Since.working_tree:
        return at_head
    parents = _parents(project, head, fact)
    if found.since is Since.elsewhere:
        return not at_head and all(_version_at(project, commit, fact) != fact.version for commit in parents)
    return not at_head and found.commit in _culprits(project, fact, parents, head)


def _culprits(project: Project, fact: Fact, parents: dict[str, list[str]], head: str) -> set[str]:
    """Commits that made the span another one, on a way from ``head`` along which it stays another one."""
    found, seen, left = set(), {head}, [head]
    while left:
        commit = left.pop()
        mine = _version_at(project, commit, fact)
        versions = {one: _version_at(project, one, fact) for one in parents.get(commit, ())}
        same = [one for one, version in versions.items() if version == mine]
        if not same and fact.version in versions.values():
            found.add(commit)
        follow = same or [one for one, version in versions.items() if version != fact.version]
        left += [one for one in follow if one not in seen]
        seen.update(follow)
    return found


def _version_at(project: Project, commit: str, fact: Fact) -> str | None:
    return mutations.version(fact.place, project.at(commit, fact.place.path))


def _parents(project: Project, head: str, fact: Fact) -> dict[str, list[str]]:
    """Every commit since the recording with its parents; where the recording lies on another branch, the last ones of this."""
    bounds = [head, f"^{fact.commit}"] if _contains(project, head, fact) else [f"--max-count={HISTORY}", head]
    rows = (line.split() for line in project.git("rev-list", "--topo-order", "--parents", *bounds).decode().splitlines())
    return {row[0]: row[1:] for row in rows if row}


def _contains(project: Project, head: str, fact: Fact) -> bool:
    return project.git("merge-base", head, fact.commit).decode().strip() == fact.commit


# -- setting up, and the report


def _names(options: Options) -> tuple[str, ...]:
    wanted = options.extra.get("repo", "")
    if options.repos is None:
        return ("made up",)
    if wanted:
        return tuple(name for name in wanted.split(",") if name)
    found = tuple(name for name in DEFAULT if _is_there(options.repos, name))
    if not found:
        raise UsageError("none of the projects of this suite is there", where=str(options.repos), way_out="--set repo=owner/name")
    return found


def _is_there(folder: Path, name: str) -> bool:
    try:
        repos.locate(folder, name)
    except UsageError:
        return False
    return True


def _project(options: Options, name: str, to: Path, random: Random) -> Project:
    if options.repos is None:
        project = mutations.made(to, random)
        for _ in range(3):  # something that a switch can go back to
            project.before.append({})
            mutations.edit(project, Place("pkg/part0.py", "load_0"))
            project.commit("before")
        return project
    return mutations.cloned(repos.locate(options.repos, name), to, random)


def _fact(id: str, place: Place, data: bytes | None, commit: str) -> Fact:
    version, masked = mutations.version(place, data), mutations.masked(place, data)
    return Fact(id, place, version or "", masked or "", mutations.raw_span(place, data) or "", _digest(data), commit)


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _part(progress: Telling | None, number: int, count: int) -> Telling | None:
    if progress is None:
        return None
    return lambda one: progress(Progress(one.stage, number * one.total + one.done, count * one.total))


def _result(scores: dict[str, Score], options: Options, steps: int) -> SuiteResult:
    rows = list(_served(scores))
    names = [Row(name, {c.key: Measure(float(score.naming[c.key])) for c in NAMING}) for name, score in scores.items()]
    bad = sum(score.rules["mog"].total() for score in scores.values())
    wrong = sum(score.naming["wrong"] for score in scores.values())
    misled = sum(score.naming["misled"] for score in scores.values())
    done: Counter[str] = sum((score.steps for score in scores.values()), Counter())
    about = (
        "Facts are remembered about definitions and whole files of a project, which is then changed in steps drawn at random;"
        " after each step every fact is asked for and held against ast.dump of the definition, or the bytes of the file, as they"
        " are then."
    )
    return SuiteResult(
        "staleness", "Facts served as fresh that are not", about,
        (
            Table("What is served after each step", COLUMNS, tuple(rows), "mog beside two cheap rules over the same facts."),
            Table("Since when", NAMING, tuple(names), "A drift is named to the commit since which the code is another."),
        ),
        (
            Gate("no fact is served as fresh that is not, none as stale that is fresh", "0", str(bad), bad == 0),
            Gate("every drift is named to the right commit", "0 wrong", str(wrong), wrong == 0),
            Gate("what moved is found where it is", "0 wrong", str(misled), misled == 0),
        ),
        (*LIMITS, *(example for score in scores.values() for example in score.examples)),
        {"projects": ", ".join(scores), "steps": str(steps), "facts": str(options.extra.get("notes", NOTES_OF)),
         "seed": str(options.seed),
         "changes": ", ".join(f"{name} {count}" for name, count in sorted(done.items()))},
    )  # fmt: skip


def _served(scores: dict[str, Score]) -> Iterator[Row]:
    titles = {"mog": "mog", "lines": "text of the lines", "file": "hash of the file"}
    for name, score in scores.items():
        for rule, title in titles.items():
            figures = {"judged": score.judged, "changed": score.changed}
            figures |= {"false_fresh": score.rules[rule]["fresh"], "false_stale": score.rules[rule]["stale"]}
            yield Row(f"{name}, {title}", {key: Measure(float(value)) for key, value in figures.items()})
