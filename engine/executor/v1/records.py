"""The records of ``contextmesh.execution``, ``contextmesh.runledger`` and ``contextmesh.session``, and the ids they derive.

Called by the readers, the writers and the way into the store. What may not come in: files, the mesh, our own rules: here
stands only what the formats say, so that a file is judged by them and not by the executor of today.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

EXECUTION_SCHEMA = "contextmesh.execution"
RUNLEDGER_SCHEMA = "contextmesh.runledger"
SESSION_SCHEMA = "contextmesh.session"
SESSION_VERSION = 2
STATES = ("pending", "done", "stale", "failed")
EVENTS = ("executed", "audited", "disproved", "invalidated", "repaired", "cached", "blocked", "failed")
GENESIS = "0" * 64
DIGEST = re.compile("[0-9a-f]{64}")
POLICY = (
    "mentions", "derived_from", "supports", "cites", "contradicts", "depends_on", "produces", "supersedes", "justified_by",
)  # fmt: skip
_NOT_WORD = re.compile("[^a-z0-9]+")
_STEM = 40


@dataclass(frozen=True, slots=True)
class TaskV1:
    """One task of a plan.

    Attributes:
        state: one of ``STATES``. attempt: how often it ran.
        assumes: statement of its ground; ``assumption_id`` the assumption in the graph.
        worker_key, auditor_key: names a registry knows; None for a task without an auditor.
        node_id: the decision its last good run made; None before there is one.
        output: what that run gave, any JSON. artefacts: the entities it made.
    """

    name: str
    title: str
    rationale: str
    state: str
    attempt: int
    assumes: str
    needs: tuple[str, ...]
    produces: tuple[str, ...]
    worker_key: str
    auditor_key: str | None
    node_id: str | None
    assumption_id: str
    output: Mapping[str, Any]
    artefacts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExecutionV1:
    """A plan and how far it got; the order of the tasks decides which of two ready ones runs first."""

    plan: str
    round: int
    tasks: tuple[TaskV1, ...]


@dataclass(frozen=True, slots=True)
class EntryV1:
    """One line of a run ledger; ``digest`` is SHA-256 over the others and the digest of the line before."""

    seq: int
    round: int
    event: str
    task: str
    detail: str
    node_id: str | None = None
    assumption_id: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class RunLedgerV1:
    """A whole run ledger, oldest line first."""

    entries: tuple[EntryV1, ...] = ()

    @property
    def head(self) -> str:
        """Digest of the last line; 64 zeroes when there is none."""
        return self.entries[-1].digest if self.entries else GENESIS


@dataclass(frozen=True, slots=True)
class WalkerV1:
    """Settings of walks: edges a path may have, edge types in order of preference, baseline size, nodes looked at."""

    hop_budget: int = 6
    policy: tuple[str, ...] = POLICY
    flat_k: int = 40
    max_expand: int = 260


@dataclass(frozen=True, slots=True)
class ManifestV1:
    """What joins the files of one generation of a session; ``version`` 1 or 2, names None where there is no such file."""

    version: int
    generation: int
    rounds: int
    walker: WalkerV1
    graph: str
    resolver: str
    execution: str | None = None
    ledger: str | None = None
    ledger_head: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The files beside the manifest."""
        return tuple(name for name in (self.graph, self.resolver, self.execution, self.ledger) if name is not None)


def slug(text: str, prefix: str) -> str:
    """The id a format derives from words: forty characters of them and 24 bits of a SHA-1 digest; two texts can share one."""
    words = _NOT_WORD.sub("-", text.lower()).strip("-")[:_STEM]
    short = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:6]
    return f"{prefix}:" + "-".join(filter(None, (words, short)))


def plan_label(plan: str) -> str:
    """Label of the source node that all decisions of a plan cite."""
    return f"execution plan: {plan}"


def plan_source(plan: str) -> str:
    """Id of that node."""
    return slug(plan_label(plan), "source")
