"""Is the index what was written? The checks of ``mog doctor`` over ``index.db`` and its arrays.

Who calls: ``engine/workspace.py`` for ``doctor``.
What may not come in: repair (the way out is always to rebuild), freshness of files.
"""

from __future__ import annotations

from collections.abc import Callable

import apsw

from mog.engine.errors import MogError
from mog.engine.model import Check
from mog.engine.store import blobs, csr, schema
from mog.engine.store.index_db import IndexDB

#: Two connections that checkpoint at once could corrupt a database before this version (sqlite.org, "WAL-reset bug").
_SOUND_SQLITE = (3, 51, 3)
_SHOWN = 3


def integrity(db: IndexDB) -> tuple[Check, ...]:
    """Check one snapshot of the index: pages, search rows, references between rows, arrays.

    A check that fails says so and the others go on. The search index can only be checked by a writer.
    """
    with db.read():
        checks = (_sqlite, _pages, _search, _references, _edges, _arrays)
        return tuple(_run(check, db) for check in checks)


def _run(check: Callable[[IndexDB], Check], db: IndexDB) -> Check:
    try:
        return check(db)
    except MogError as error:
        return Check(check.__name__.strip("_"), "damaged", str(error.what), schema.WAY_OUT)
    except ValueError as error:
        return Check(check.__name__.strip("_"), "damaged", str(error), schema.WAY_OUT)


def _verdict(name: str, faults: list[str], fine: str) -> Check:
    if not faults:
        return Check(name, "ok", fine)
    more = f" and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
    return Check(name, "damaged", "; ".join(faults[:_SHOWN]) + more, schema.WAY_OUT)


def _sqlite(db: IndexDB) -> Check:
    version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split(".")))[:3] < _SOUND_SQLITE:
        return Check("sqlite", "warning", f"SQLite {version} has the WAL-reset fault", "upgrade the package apsw")
    return Check("sqlite", "ok", f"SQLite {version}")


def _pages(db: IndexDB) -> Check:
    rows = [str(row[0]) for row in db.rows("PRAGMA integrity_check(20)")]
    return _verdict("pages", [row for row in rows if row != "ok"], "every page of index.db can be read")


def _search(db: IndexDB) -> Check:
    found = db.rows("SELECT count(*) FROM fts_docsize WHERE id NOT IN (SELECT id FROM nodes)")[0][0]
    faults = [f"{found} search rows belong to no node"] if found else []
    return _verdict("search", faults, "search rows belong to nodes")


def _references(db: IndexDB) -> Check:
    questions = {
        "nodes without a name": "SELECT count(*) FROM nodes WHERE name NOT IN (SELECT id FROM names)",
        "nodes without a file": "SELECT count(*) FROM nodes WHERE file <> 0 AND file NOT IN (SELECT id FROM files)",
        "edges without a file": "SELECT count(*) FROM edges WHERE file NOT IN (SELECT id FROM files)",
        "files without facts": "SELECT count(*) FROM files WHERE facts IS NOT NULL AND facts NOT IN"
        " (SELECT key FROM facts)",
    }
    counts = {what: int(db.rows(sql)[0][0]) for what, sql in questions.items()}
    faults = [f"{count} {what}" for what, count in counts.items() if count]
    return _verdict("rows", faults, "rows refer to each other")


def _edges(db: IndexDB) -> Check:
    known = set(db.node_keys())
    loose = 0
    for _, blob in db.edges_all():
        loose += sum(src not in known or dst not in known for src, dst, _, _ in blobs.unpack_edges(blob))
    faults = [f"{loose} edges without a node at one end"] if loose else []
    return _verdict("edges", faults, "every edge joins two nodes")


def _arrays(db: IndexDB) -> Check:
    stamp = db.csr_stamp()
    if stamp is None:
        return Check("arrays", "warning", "nothing was published yet", "run `mog index`")
    arrays = csr.open_csr(csr.path_of(db.directory, stamp.generation), stamp)
    arrays.verify()
    before = dict(db.edges_all()) | {file: blob for file, blob, _ in db.overlay()}
    stored = b"".join(before[file] for file in sorted(before))
    same = csr.equals(arrays, stored)
    return _verdict("arrays", [] if same else ["the arrays hold other edges than the rows"], "arrays and rows agree")
