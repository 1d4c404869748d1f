"""What a task read, as digests, so that a later run can tell whether it would read the same. Used by context and runner.

What lives here: settled values, digests, the verifying trace (Mokhov, Mitchell and Peyton Jones, "Build systems à la
carte", 2018) as it is stored. What may not come in: how to read again (``context`` knows), when to run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.values import MAX_INT, plain

MAX_OUTPUT_BYTES = 256 * 1024
MAX_READS = 4_000
MAX_READ_BYTES = 512 * 1024
INPUT, GRAPH, FILE = "input", "graph", "file"
ABSENT = "absent"
"""Digest of what was asked for and is not there."""


@dataclass(frozen=True, slots=True)
class Read:
    """One thing that was read: its kind, what was asked for, and the digest of the answer."""

    kind: str
    key: tuple[str, ...]
    digest: str

    def __str__(self) -> str:
        return f"{self.kind} {' '.join(self.key)}"[:200]


@dataclass(frozen=True, slots=True)
class Trace:
    """What one execution read and gave.

    Attributes:
        node_id: the decision it led to; "" when it led to none, and then it verifies nothing.
        worker: which code ran, see ``registry.code_digest``.
        reads: by kind and key. output: what the worker returned, plain JSON. output_digest: of it.
    """

    node_id: str
    worker: str
    reads: tuple[Read, ...]
    output: Mapping[str, Any]
    output_digest: str

    def digest_of(self, kind: str, *key: str) -> str:
        """Digest of one read; "" when it was not read."""
        return next((r.digest for r in self.reads if (r.kind, r.key) == (kind, key)), "")


def settle(value: object, where: str = "output") -> Any:
    """``value`` as plain JSON in the one form in which it is stored and replayed: whole floats are integers.

    Raises: UsageError: a value that JSON cannot hold.
    """
    return _whole(plain(value, where))


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_INT:
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(one) for key, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list) else value


def settle_output(value: object) -> dict[str, Any]:
    """A worker's result as it is stored: a mapping; None is an empty one.

    Raises: UsageError: no mapping, not JSON, or larger than 256 KiB.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        what = f"a worker returns a mapping, not a {type(value).__name__}"
        raise UsageError(what, where="output", way_out="return a dict, or nothing")
    found: dict[str, Any] = settle(value)
    if len(canonical(found)) > MAX_OUTPUT_BYTES:
        what = f"an output beyond {MAX_OUTPUT_BYTES:,} bytes"
        raise UsageError(what, where="output", way_out="write a file and return its digest")
    return found


def canonical(value: Any) -> bytes:
    """JSON of a settled value with sorted keys and no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def digest(value: object) -> str:
    """SHA-256 of a settled value, or of bytes, in hex; ``ABSENT`` of None."""
    if value is None:
        return ABSENT
    return hashlib.sha256(value if isinstance(value, bytes) else canonical(value)).hexdigest()


def check_reads(reads: tuple[Read, ...]) -> None:
    """Raise UsageError when the reads of one execution are too much for a record."""
    size = sum(len(r.kind) + len(r.digest) + sum(len(word.encode("utf-8")) + 4 for word in r.key) + 12 for r in reads)
    if len(reads) > MAX_READS or size > MAX_READ_BYTES:
        what = f"it read {len(reads):,} things, which is too much to remember"
        raise UsageError(what, where="reads", way_out="read fewer, larger things")


def trace_json(trace: Trace) -> dict[str, Any]:
    """Plain JSON of a trace."""
    reads = sorted([r.kind, list(r.key), r.digest] for r in trace.reads)
    found = {"node_id": trace.node_id, "worker": trace.worker, "reads": reads}
    return {**found, "output": dict(trace.output), "output_digest": trace.output_digest}


def trace_of(row: Mapping[str, Any], where: str = "") -> Trace:
    """The trace of its JSON, its output read-only. Raises StoreDamaged when it is of no known form."""
    try:
        reads = tuple(Read(kind, tuple(key), seen) for kind, key, seen in row["reads"])
        return Trace(row["node_id"], row["worker"], reads, row["output"], row["output_digest"])
    except (KeyError, TypeError, ValueError) as error:
        raise StoreDamaged("a trace record is of no known form", where=where, way_out="run `mog doctor`") from error
