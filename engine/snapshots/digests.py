"""What a snapshot is, as digests. Called by ``room``, ``document`` and ``impact``.

What may not come in: a clock, advice inside of the identity, order of rows, paths of a machine. The digest of all facts is the
index's own (a sum over files, kept up by each publication); what is added here says apart which half of it changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from mog.engine.code import toolchain
from mog.engine.code.view import CodeView
from mog.engine.snapshots.model import SNAPSHOT, Annotation, Identity
from mog.engine.snapshots.staleness import read_at
from mog.engine.store.schema import text

_PAGE = 5_000


def identity(view: CodeView, app: str, annotations: Iterable[Annotation] = ()) -> Identity:
    """The identity of the generation of a view. One pass over the rows of files, none over nodes."""
    db = view.db
    found = Identity(
        SNAPSHOT, app, read_at(view), str(view.meta.get("facts_hash", "")), _lines(_sources(view)),
        _lines(f"{lang}={version}" for lang, version in sorted(toolchain.versions(db.fact_languages()).items())),
        _lines([json.dumps(_scan(view), sort_keys=True)]), str(view.ontology.digest), "", advisory_hash(annotations),
    )  # fmt: skip
    parts = [
        found.schema, found.app_id, found.ref, found.facts_hash, found.source_manifest_digest, found.parser_manifest_digest,
        found.scan_health_digest, found.ontology_digest,
    ]  # fmt: skip
    return replace(found, identity_digest=_lines(json.dumps(part) for part in parts))


def advisory_hash(annotations: Iterable[Annotation]) -> str:
    """Digest of what was said of which code, whoever said it when; "" of nothing."""
    rows = sorted(json.dumps(_advice(one), sort_keys=True) for one in annotations)
    return _lines(rows) if rows else ""


def _advice(one: Annotation) -> list[Any]:
    lists = [list(one.domain_concepts), list(one.side_effects), list(one.invariants), list(one.test_targets)]
    return [one.node_id, one.span_hash, one.purpose, *lists, one.risk_level, one.confidence]


def checksum(row: tuple[Any, ...]) -> str:
    """Digest of a file's content as the index knows it (hex); "" for a gated file, whose bytes leave no trace."""
    status, facts, digest = row
    return "" if status == "gated" else (facts or digest or b"").hex()


def _sources(view: CodeView) -> Iterator[str]:
    """``path`` and content of every file, by path; a page at a time."""
    last = b""
    sql = "SELECT path, status, facts, digest FROM files WHERE node <> 0 AND path > ? ORDER BY path LIMIT ?"
    while rows := view.db.rows(sql, (last, _PAGE)):
        last = rows[-1][0]
        yield from (f"{row[0].hex()} {row[1]} {checksum(row[1:])}" for row in rows)


def _scan(view: CodeView) -> dict[str, Any]:
    scan = dict(view.db.meta_get("scan", {}))
    rows = view.db.rows("SELECT status, reason, count(*) FROM files GROUP BY status, reason ORDER BY status, reason")
    listed = {name: scan.get(name) for name in ("seen", "skipped", "git")}
    return {**listed, "rows": [[status, text(str(reason or "")), count] for status, reason, count in rows]}


def _lines(rows: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for row in rows:
        whole.update(row.encode("utf-8", "surrogatepass") + b"\n")
    return whole.hexdigest()
