"""``contextmesh.execution v1`` as records: the strict reader, what must hold between it and its graph, the exact writer.

Called by ``session_dir`` and ``store``. Whatever the format forbids is refused with the task and the field. A file carries
names of workers and never code: ``missing_keys`` says which of them a registry lacks. What may not come in: the mesh.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from mog.engine.errors import ConfigError
from mog.engine.executor.v1.records import EXECUTION_SCHEMA, STATES, ExecutionV1, TaskV1, plan_source
from mog.engine.reason.v1 import fields
from mog.engine.reason.v1.fields import damaged
from mog.engine.reason.v1.records import AssumptionV1, GraphV1, NodeV1

_EXECUTION = ("plan", "round", "tasks")
_TASK = (
    "name", "title", "rationale", "state", "attempt", "assumes", "needs", "produces", "worker_key", "auditor_key", "node_id",
    "assumption_id", "output", "artefacts",
)  # fmt: skip


class Keys(Protocol):
    """What a registry says of itself: whether it has a worker or an auditor of a name."""

    def has_worker(self, key: str) -> bool: ...

    def has_auditor(self, key: str) -> bool: ...


class Coded(Protocol):
    """A task as far as its code goes: the names of it."""

    @property
    def worker_key(self) -> str: ...

    @property
    def auditor_key(self) -> str | None: ...


def read_execution(data: bytes, where: str = "execution") -> ExecutionV1:
    """The plan of a ``contextmesh.execution v1`` text; ``where`` is the file's name for errors.

    Raises:
        UsageError: another format or version.
        StoreDamaged: anything the format forbids inside the file; the error names the task and the field.
    """
    top = fields.schema(fields.load(data, where), EXECUTION_SCHEMA, _EXECUTION, where)
    plan = _filled(top["plan"], f"{where}: plan")
    round = fields.count(top["round"], f"{where}: round")
    rows = enumerate(fields.rows(top["tasks"], f"{where}: tasks"))
    tasks = tuple(_task(row, f"{where}: tasks[{i}]") for i, row in rows)
    _check_names(tasks, where)
    _check_cycles(tasks, where)
    return ExecutionV1(plan, round, tasks)


def _filled(value: Any, where: str) -> str:
    text = fields.text(value, where)
    if not text:
        raise damaged("an empty text", where)
    return text


def _task(value: Any, where: str) -> TaskV1:
    row = fields.record(value, _TASK, where)
    auditor, node = row["auditor_key"], row["node_id"]
    task = TaskV1(
        _filled(row["name"], f"{where}.name"),
        fields.text(row["title"], f"{where}.title"),
        fields.text(row["rationale"], f"{where}.rationale"),
        fields.text(row["state"], f"{where}.state"),
        fields.count(row["attempt"], f"{where}.attempt"),
        fields.text(row["assumes"], f"{where}.assumes"),
        fields.texts(row["needs"], f"{where}.needs"),
        fields.texts(row["produces"], f"{where}.produces"),
        _key(row["worker_key"], f"{where}.worker_key"),
        None if auditor is None else _key(auditor, f"{where}.auditor_key"),
        None if node is None else _filled(node, f"{where}.node_id"),
        _filled(row["assumption_id"], f"{where}.assumption_id"),
        fields.free(row["output"], f"{where}.output"),
        fields.texts(row["artefacts"], f"{where}.artefacts"),
    )
    if task.state not in STATES:
        raise damaged(f"no state {task.state!r:.80}", f"{where}.state")
    return task


def _key(value: Any, where: str) -> str:
    if value is None:
        raise damaged("a task without a worker key: code that has no name cannot be found again", where)
    text = fields.text(value, where)
    if not is_key(text):
        raise damaged(f"not a key: {text!r:.80}", where)
    return text


def is_key(text: str) -> bool:
    """Whether a text can name code: not empty, printable, and without any space."""
    return bool(text) and text.isprintable() and not any(map(str.isspace, text))


def _check_names(tasks: Sequence[TaskV1], where: str) -> None:
    known: set[str] = set()
    for i, task in enumerate(tasks):
        if task.name in known:
            raise damaged(f"the task {task.name!r:.80} stands twice", f"{where}: tasks[{i}].name")
        known.add(task.name)
    for i, task in enumerate(tasks):
        for k, need in enumerate(task.needs):
            at = f"{where}: tasks[{i}].needs[{k}]"
            if need == task.name:
                raise damaged(f"the task {need!r:.80} needs itself", at)
            if need not in known:
                raise damaged(f"needs {need!r:.80}, which is no task of this file", at)


def _check_cycles(tasks: Sequence[TaskV1], where: str) -> None:
    left = {task.name: set(task.needs) for task in tasks}
    users: dict[str, list[str]] = {task.name: [] for task in tasks}
    for task in tasks:
        for need in left[task.name]:
            users[need].append(task.name)
    ready = [name for name, needs in left.items() if not needs]
    while ready:
        done = ready.pop()
        del left[done]
        for user in users[done]:
            left[user].discard(done)
            if not left[user]:
                ready.append(user)
    if left:
        i = next(i for i, task in enumerate(tasks) if task.name in left)
        listed = ", ".join(repr(name) for name in sorted(left)[:8])
        raise damaged(f"tasks that wait for each other in a circle: {listed}", f"{where}: tasks[{i}].needs")


# -- what only holds between a plan and its graph


def check_execution(execution: ExecutionV1, graph: GraphV1, where: str = "execution") -> None:
    """Hold a plan against the graph it belongs to.

    Raises:
        StoreDamaged: an id that is not there or of another type, a ground that says something else, a task that is done
            without a decision that stands, or a decision of another plan.
    """
    nodes = {node.id: node for node in graph.nodes}
    records = {record.id: record for record in graph.assumptions}
    for i, task in enumerate(execution.tasks):
        at = f"{where}: tasks[{i}]"
        _check_ground(task, records, at)
        _check_decision(task, nodes, at)
        if task.state == "done":
            _check_done(task, records[task.assumption_id], at)
        for k, id in enumerate(task.artefacts):
            _typed(nodes, id, "entity", f"{at}.artefacts[{k}]")
    _check_plan(execution, nodes, graph, where)


def _typed(nodes: Mapping[str, NodeV1], id: str, type: str, where: str) -> NodeV1:
    node = nodes.get(id)
    if node is None:
        raise damaged(f"{id!r:.80} is no node of the graph", where)
    if node.type != type:
        raise damaged(f"{id!r:.80} is a node of type {node.type}, not {type}", where)
    return node


def _check_ground(task: TaskV1, records: Mapping[str, AssumptionV1], where: str) -> None:
    ground = records.get(task.assumption_id)
    if ground is None:
        raise damaged(f"{task.assumption_id!r:.80} is no assumption of the graph", f"{where}.assumption_id")
    if ground.statement != task.assumes:
        what = f"the task {task.name!r:.40} says it assumes {task.assumes!r:.80}, its assumption {ground.statement!r:.80}"
        raise damaged(what, f"{where}.assumes")


def _check_decision(task: TaskV1, nodes: Mapping[str, NodeV1], where: str) -> None:
    if task.node_id is None:
        return
    node = _typed(nodes, task.node_id, "decision", f"{where}.node_id")
    if task.state == "done" and node.invalidated:
        raise damaged(f"the task {task.name!r:.40} is done and its decision has fallen", f"{where}.state")


def _check_done(task: TaskV1, ground: AssumptionV1, where: str) -> None:
    if task.node_id is None:
        raise damaged(f"the task {task.name!r:.40} is done and names no decision", f"{where}.node_id")
    if task.attempt < 1:
        raise damaged(f"the task {task.name!r:.40} is done and never ran", f"{where}.attempt")
    if ground.status == "rejected":
        raise damaged(f"the task {task.name!r:.40} is done on ground that was rejected", f"{where}.state")


def _check_plan(execution: ExecutionV1, nodes: Mapping[str, NodeV1], graph: GraphV1, where: str) -> None:
    source = plan_source(execution.plan)
    _typed(nodes, source, "source", f"{where}: plan")
    citing = {edge.src for edge in graph.edges if edge.type == "cites" and edge.dst == source}
    for i, task in enumerate(execution.tasks):
        if task.node_id is not None and task.node_id not in citing:
            what = f"the decision {task.node_id!r:.80} does not cite the plan {execution.plan!r:.40}"
            raise damaged(what, f"{where}: tasks[{i}].node_id")


# -- code, by name


def missing_keys(tasks: Iterable[Coded], registry: Keys | None) -> tuple[str, ...]:
    """What a registry lacks to run these tasks, as ``worker NAME`` and ``auditor NAME``, sorted; all of it without one."""
    wanted = set()
    for task in tasks:
        wanted.add(("worker", task.worker_key))
        if task.auditor_key:
            wanted.add(("auditor", task.auditor_key))
    known = {"worker": registry.has_worker, "auditor": registry.has_auditor} if registry is not None else {}
    return tuple(f"{kind} {key}" for kind, key in sorted(wanted) if not (known and known[kind](key)))


def require_keys(tasks: Collection[Coded], registry: Keys | None, where: str = "execution") -> None:
    """Fail before anything is served when a task names code that nobody brought.

    Raises:
        ConfigError: naming what is missing. Without a registry at all, any plan is refused, an empty one too.
    """
    missing = missing_keys(tasks, registry)
    if missing or registry is None:
        listed = ", ".join(missing[:12]) + (f" and {len(missing) - 12} more" if len(missing) > 12 else "")
        what = f"a plan whose code nobody brought: {listed or 'it has no task, and there is no registry'}"
        raise ConfigError(what, where=where, way_out="bring the registry that knows these keys, or leave the plan out")


def write_execution(execution: ExecutionV1) -> bytes:
    """The text of a plan, byte for byte as the format has it (``fields.pretty``)."""
    rows = [{name: getattr(task, name) for name in _TASK} for task in execution.tasks]
    top = {"schema": EXECUTION_SCHEMA, "version": 1, "plan": execution.plan, "round": execution.round, "tasks": rows}
    return fields.pretty(top)
