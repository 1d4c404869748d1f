"""Commands of a plan as workers and auditors of a registry: read what is declared, run under trust and guard, hash what came out.

Who calls: ``engine/work.py`` builds the registry. What may not come in: a shell, a command that nobody allowed, what a result
does to beliefs. A task has the key ``command:plan/task``; its version covers what is run and what it is declared to read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mog.engine.errors import MogError
from mog.engine.executor.context import AuditContext, RunContext
from mog.engine.executor.model import Verdict
from mog.engine.executor.plan_file import PlanFile, PlanTask
from mog.engine.executor.plan_process import Ended, Limits, run
from mog.engine.executor.plan_reads import APART, BUNDLE, COMMAND, CONTENT, FILES, OUTPUTS, VARIABLE
from mog.engine.executor.registry import TaskRegistry
from mog.engine.executor.traces import canonical
from mog.engine.ids import escape
from mog.engine.policy.trust import TrustStore
from mog.engine.reason import auditors
from mog.engine.reason.auditors import Auditor, AuditRequest
from mog.engine.reason.records import thaw

PREFIX = "command:"
SAID_BYTES = 900
LISTED = 500
"""Output files up to this number are listed one by one in a task's output."""


def key_of(plan: str, task: str) -> str:
    """Key of a task's command in the registry."""
    return f"{PREFIX}{plan}/{task}"


def version_of(task: PlanTask) -> str:
    """A digest of what is run and what it is declared to read and write."""
    command, inputs = task.command, task.inputs
    said = {
        "argv": command.argv, "cwd": command.cwd, "env": task.env, "outputs": task.outputs, "files": inputs.files,
        "queries": inputs.queries, "tasks": inputs.tasks, "covers": command.covers,
    }  # fmt: skip
    return hashlib.sha256(canonical(said)).hexdigest()


@dataclass(frozen=True, slots=True)
class Gone:
    """Worker of a task that its plan no longer declares: it never runs, because the task is removed before."""

    key: str

    def __call__(self, ctx: RunContext) -> dict[str, Any]:
        raise MogError("the plan file no longer declares this task", way_out="run the plan again")


def registry(
    root: Path, plans: Iterable[PlanFile], trust: TrustStore, paths: Callable[[PlanTask], list[str]], stored: Iterable[str] = ()
) -> TaskRegistry:
    """Every command of the plans under its key.

    Args:
        paths: which files a task's inputs name now. stored: keys of recorded tasks, so that one whose plan file is gone
            can still be shown and removed.
    """
    made = TaskRegistry()
    for plan in plans:
        for task in plan.tasks:
            key = key_of(plan.name, task.name)
            made.register_worker(key, CommandWorker(root, task, trust, paths), pure=task.pure, version=version_of(task))
            if task.auditors:
                made.register_auditor(key, CommandAuditor(root, task, trust), version=version_of(task))
    for key in sorted(set(stored)):
        if key.startswith(PREFIX) and not made.has_worker(key):
            made.register_worker(key, Gone(key), version="gone")
        if key.startswith(PREFIX) and not made.has_auditor(key):
            made.register_auditor(key, _nobody, version="gone")
    return made


def _nobody(ctx: AuditContext) -> Verdict:
    raise MogError("the plan file no longer declares an auditor for this task", way_out="run the plan again")


# -- running


@dataclass(frozen=True, slots=True)
class CommandWorker:
    """Runs the command of one task. Its output: exit code, digests of the files it is declared to write."""

    root: Path
    task: PlanTask
    trust: TrustStore
    paths: Callable[[PlanTask], list[str]]

    def __call__(self, ctx: RunContext) -> dict[str, Any]:
        """Raises PolicyDenied: nobody allowed the command as it is now. MogError: what went wrong."""
        task = self.task
        self.trust.require(task.command)
        self._read(ctx)
        limits = Limits(task.timeout, task.largest)
        command = task.command
        ended = run(
            command.argv, root=self.root, cwd=command.cwd, names=task.env, limits=limits, stopping=lambda: ctx.stopping
        )
        if ended.trouble or ended.code:
            raise MogError(_why(ended))
        found = {pattern: self._outputs(ctx, pattern) for pattern in task.outputs}
        output: dict[str, Any] = {"code": 0, "outputs": found}
        return output | ({"left": ended.left} if ended.left else {})

    def _read(self, ctx: RunContext) -> None:
        """Note everything that the task is declared to read, before it runs."""
        inputs = self.task.inputs
        ctx.read(COMMAND, self.task.command.name)
        named = [*((FILES, pattern) for pattern in inputs.files), *inputs.queries]
        for kind, target in named:
            ctx.read(kind, target)
        paths = self.paths(self.task)
        if len(paths) <= APART:
            for path in paths:
                ctx.read(CONTENT, escape(path))
        else:
            for kind, target in named:
                ctx.read(BUNDLE, kind, target)
        for name in self.task.env:
            ctx.read(VARIABLE, name)
        for need in inputs.tasks:
            _ = ctx.inputs[need]

    def _outputs(self, ctx: RunContext, pattern: str) -> Any:
        found: list[list[str]] = ctx.read(OUTPUTS, pattern)
        if not found:
            raise MogError(f"it wrote nothing that matches {pattern!r}", way_out="correct the command or `outputs`")
        for path, digest in found:
            if digest.startswith(("link ", "special")):
                raise MogError(f"its output {path} is no plain file", way_out="write plain files")
        if len(found) > LISTED:
            return {"files": len(found), "digest": hashlib.sha256(canonical(found)).hexdigest()}
        return dict(found)


def _why(ended: Ended) -> str:
    """What went wrong, with the end of what the command said."""
    why = ended.trouble or (f"exit code {ended.code}" if ended.code and ended.code > 0 else _signal(ended.code or 0))
    said = "\n".join(part for part in (_last(ended.out), _last(ended.err)) if part)
    return f"{why}\n{said}" if said else why


def _signal(code: int) -> str:
    import signal

    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    more = ": a file it wrote reached the limit `max_file_mb`" if name == "SIGXFSZ" else ""
    return f"it was ended by the signal {name}{more}"


def _last(data: bytes) -> str:
    """The last lines, at most 900 bytes of them."""
    text = data[-SAID_BYTES:].decode("utf-8", "replace").strip()
    return text.partition("\n")[2] if len(data) > SAID_BYTES and "\n" in text else text


# -- auditing


@dataclass(frozen=True, slots=True)
class CommandAuditor:
    """Asks the auditors of one task, in order, until one does not say that the output holds.

    Each is asked as auditors of beliefs are (``reason/auditors``): the belief is the first assumption of the task, the
    evidence its output. ``contradicts`` says that the assumption is false; an auditor that fails or does not know makes the
    task fail, and nothing else.
    """

    root: Path
    task: PlanTask
    trust: TrustStore

    def __call__(self, ctx: AuditContext) -> Verdict:
        """Raises PolicyDenied: nobody allowed an auditor as it is now."""
        reasons = []
        for auditor in self.task.auditors:
            verdict = self._ask(auditor, ctx)
            if not verdict.ok:
                return verdict
            reasons.append(verdict.reason)
        return ctx.ok("; ".join(reason for reason in reasons if reason) or "its audit holds")

    def _ask(self, auditor: Auditor, ctx: AuditContext) -> Verdict:
        found = auditors.ask(auditor, _request(self.task, ctx), self.root, self.trust)
        if found.verdict == "holds":
            return ctx.ok(found.reason)
        if found.verdict == "contradicts" and ctx.assumption is not None:
            return ctx.disproved(found.reason)
        return ctx.fail(f"{auditor.name}: {found.reason or found.verdict}")


def _request(task: PlanTask, ctx: AuditContext) -> AuditRequest:
    node = ctx.graph.get(ctx.assumption.id) if ctx.assumption else None
    target: dict[str, Any] = {}
    if node is not None:
        target = {"id": node.id, "type": node.type, "kind": node.kind, "label": node.label, "attrs": thaw(node.attrs)}
    attrs = {"plan": ctx.task.plan, "task": task.name, "attempt": ctx.task.attempt, "output": thaw(ctx.output)}
    evidence = {"id": "", "type": "evidence", "kind": "audit", "label": f"output of {task.name}", "attrs": attrs}
    return AuditRequest(target, evidence, {})

