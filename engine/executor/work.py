"""One try at a task on whatever thread: the worker, then its auditor. Called by ``rounds`` through the pool.

What may not come in: writes, retries, what a verdict does. Whatever a worker or auditor raises is an answer here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mog.engine.errors import MogError, UsageError
from mog.engine.executor.context import AuditContext, RunContext
from mog.engine.executor.model import Verdict
from mog.engine.executor.registry import Implementation
from mog.engine.executor.traces import Read, check_reads, digest, settle_output
from mog.engine.values import freeze

WORKER, AUDITOR, OUTPUT, TIME = "worker", "auditor", "output", "time"


@dataclass(frozen=True, slots=True)
class Tried:
    """How one try ended.

    Attributes:
        broke: where it went wrong (worker, auditor, output, time), "" when the auditor could be heard.
        reason: what went wrong. finished: the worker came to an end.
        output, output_digest, reads: what the worker gave and read.
        verdict: what the auditor said, None when it said nothing.
        seconds: what worker and auditor took; no part of any record.
    """

    broke: str = ""
    reason: str = ""
    finished: bool = False
    output: Mapping[str, Any] = field(default_factory=dict)
    output_digest: str = ""
    reads: tuple[Read, ...] = ()
    verdict: Verdict | None = None
    seconds: float = field(default=0.0, compare=False)


def timed(call: Callable[[], Tried]) -> Tried:
    """A try with what it took."""
    began = time.monotonic()
    tried = call()
    return replace(tried, seconds=time.monotonic() - began)


def attempt(
    context: RunContext, worker: Implementation, auditor: Implementation | None, reads: Callable[[], tuple[Read, ...]]
) -> Tried:
    """Run the worker and have its output audited."""
    try:
        given = worker.function(context)
    except (Exception, SystemExit) as error:  # a stranger's code: this task fails, the others go on
        return Tried(WORKER, raised(error), reads=reads())
    try:
        output = settle_output(given)
        check_reads(reads())
    except UsageError as error:
        return Tried(OUTPUT, str(error))
    done = Tried("", "", True, output, digest(output), reads())
    if auditor is None:
        return _with(done, Verdict(True, "nobody audits it"))
    audit = AuditContext(context.task, freeze(output), context.assumptions, context.graph)
    return _with(done, heard(auditor, audit))


def heard(auditor: Implementation, context: AuditContext) -> Verdict | Tried:
    """The verdict of an auditor, or how it broke. A bare False says that the work is wrong, never that its ground is."""
    try:
        said = auditor.function(context)
    except (Exception, SystemExit) as error:
        return Tried(AUDITOR, f"its auditor broke: {raised(error)}")
    if isinstance(said, Verdict):
        known = isinstance(said.reason, str) and isinstance(said.evidence, str) and isinstance(said.assumption, str)
        return said if known else Tried(AUDITOR, "its auditor gave a verdict whose reason is no text")
    if isinstance(said, bool):
        return Verdict(said, "its audit holds" if said else "its audit does not hold")
    return Tried(AUDITOR, f"its auditor answered with a {type(said).__name__}, not with a verdict")


def _with(done: Tried, said: Verdict | Tried) -> Tried:
    if isinstance(said, Verdict):
        return Tried("", said.reason, True, done.output, done.output_digest, done.reads, said)
    return Tried(said.broke, said.reason, True, done.output, done.output_digest, done.reads)


def raised(error: BaseException) -> str:
    """What an exception says, in one line."""
    try:
        text = str(error)
    except Exception:  # a stranger's exception may not even be shown
        text = ""
    if isinstance(error, MogError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
