"""What is in a folder: a saved ledger, or a session of the earlier package. Called by ``session`` and the command line.

What may not come in: writes, a registry: this looks and runs nothing, so it can be asked before anything is trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.executor import keys
from mog.engine.executor.model import Task, task_of
from mog.engine.executor.v1.execution import missing_keys
from mog.engine.executor.v1.manifest import POINTER, generation_of, walker_of
from mog.engine.executor.v1.records import WalkerV1
from mog.engine.executor.v1.session_dir import SessionV1, read_session
from mog.engine.ledgers.events import EventLog, Head
from mog.engine.reason.records import decode, thaw

LEDGER = "ledger.db"
SETTINGS = "@session"
"""Key of the settings in the table ``run``; the key of a plan never begins so."""
Rows = list[tuple[str, str, Any]]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of walks, and how many rounds of questions a session was built with."""

    walker: WalkerV1 = field(default_factory=WalkerV1)
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """A plan without its code.

    Attributes:
        states: state as recorded → how many tasks. entries, head: of its run ledger.
        keys: what a registry has to bring. unbindable: why single tasks cannot come back at all.
    """

    name: str
    round: int
    states: Mapping[str, int]
    entries: int
    head: str
    keys: tuple[str, ...]
    unbindable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """What a folder holds.

    Attributes:
        form: ``mog ledger``, ``contextmesh.session v1`` or ``v2``.
        position: number of the last event, or of the generation. head: digest of the last event, "" for a generation.
        nodes: type → how many. kept: other records by table.
        fell_back: why a newer generation was passed over.
    """

    form: str
    position: int
    head: str
    nodes: Mapping[str, int]
    kept: Mapping[str, int]
    plans: tuple[PlanSummary, ...]
    settings: Settings
    fell_back: str = ""


def inspect(folder: Path) -> Summary:
    """Look at a folder.

    Raises:
        UsageError: neither a ledger nor a session is there. StoreDamaged: it does not hold.
    """
    if (folder / LEDGER).exists():
        return _of_ledger(folder / LEDGER)
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    if POINTER in names or any(map(generation_of, names)):
        return _of_session(read_session(folder))
    raise UsageError("no session in this folder", where=str(folder), way_out=f"name one with {LEDGER} or {POINTER}")


def ledger_rows(path: Path) -> tuple[Head, Rows]:
    """Head and every record of a ledger, of one state, each compared with its root. Raises UsageError, StoreDamaged."""
    with EventLog(path) as log:
        head, found = log.load()
        rows = [(table, key, decode(table, key, body)) for table, key, body in found]
    if not head.seq:
        raise UsageError("nothing is recorded there", where=str(path), way_out="name a folder that `mog session save` wrote")
    return head, rows


def tasks_in(rows: Iterable[tuple[str, str, Any]]) -> list[Task]:
    """Tasks of all plans among records. Raises StoreDamaged."""
    found = [task_of(row, f"task {key}") for table, key, row in rows if table == "task" and "/" in key]
    return sorted(found, key=lambda task: (task.plan, task.at, task.name))


def settings_of(row: Any) -> Settings:
    """Settings of their record, or of None. Raises StoreDamaged when they are of no known form."""
    if row is None:
        return Settings()
    value, where = thaw(row), f"run {SETTINGS}"
    known = isinstance(value, dict) and set(value) == {"walker", "rounds"} and type(value["rounds"]) is int
    if not known or value["rounds"] < 0:
        raise StoreDamaged("settings of no known form", where=where, way_out="run `mog doctor`")
    return Settings(walker_of(value["walker"], f"{where}: walker"), value["rounds"])


def _of_ledger(path: Path) -> Summary:
    head, rows = ledger_rows(path)
    found = tasks_in(rows)
    heads = sorted((key, row) for table, key, row in rows if table == "task" and "/" not in key)
    plans = tuple(_plan(row, [task for task in found if keys.plan(task.plan) == key]) for key, row in heads)
    nodes = _counts(record.type for table, _, record in rows if table == "node")
    kept = _counts(table for table, key, _ in rows if table != "node" and key != SETTINGS)
    held = next((row for table, key, row in rows if (table, key) == ("run", SETTINGS)), None)
    return Summary("mog ledger", head.seq, head.digest, nodes, kept, plans, settings_of(held))


def _plan(row: Mapping[str, Any], found: list[Task]) -> PlanSummary:
    coded = missing_keys([task for task in found if task.worker_key], None)
    states = _counts(task.state.value for task in found)
    lost = tuple(task.unbindable for task in found if task.unbindable)
    return PlanSummary(str(row["plan"]), int(row["round"]), states, int(row["entries"]), str(row["head"]), coded, lost)


def _of_session(session: SessionV1) -> Summary:
    names, graph = session.manifest, session.graph
    plans: tuple[PlanSummary, ...] = ()
    if session.execution is not None and session.ledger is not None:
        plan, ledger = session.execution, session.ledger
        states, coded = _counts(task.state for task in plan.tasks), missing_keys(plan.tasks, None)
        plans = (PlanSummary(plan.plan, plan.round, states, len(ledger.entries), ledger.head, coded),)
    kept = {"edge": len(graph.edges), "assumption": len(graph.assumptions), "name": len(session.resolver.canonical)}
    return Summary(
        f"contextmesh.session v{names.version}", names.generation, "", _counts(node.type for node in graph.nodes), kept, plans,
        Settings(names.walker, names.rounds), session.fell_back,
    )  # fmt: skip


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))
