"""The shape of ``.mog/index.db``: tables, versions, row records, and how errors of SQLite become ours.

Who calls: the modules of ``engine/store`` only; other rooms see the records through ``index_db``.
What may not come in: an open connection, queries, rules of the graph.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from mog.engine.errors import HeldByOther, IndexMissing, MogError, StoreDamaged

#: "mogI" in ASCII: an index.db of ours, as ``file(1)`` would tell it.
APPLICATION_ID = 0x6D6F6749

WAY_OUT = "delete .mog/index.db and run `mog index`: all of it can be rebuilt, so it can be deleted at any time"

#: Code spaces: small integers stand for these words in rows (table ``codes``).
SPACE_EDGE, SPACE_TYPE, SPACE_KIND = 0, 1, 2
#: An edge code must fit six bits beside the tier in a CSR byte.
MAX_EDGE_KINDS = 64

TABLES: dict[str, str] = {
    "meta": "CREATE TABLE meta(k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID",
    "codes": "CREATE TABLE codes(space INT, id INT, name TEXT NOT NULL, PRIMARY KEY(space, id)) WITHOUT ROWID",
    "files": (
        "CREATE TABLE files(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, node INT, lang TEXT, status TEXT,"
        " reason TEXT, size INT, mtime_ns INT, ctime_ns INT, inode INT, oid BLOB, facts BLOB, digest BLOB, links BLOB)"
    ),
    "names": "CREATE TABLE names(id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "nodes": (
        "CREATE TABLE nodes(id INTEGER PRIMARY KEY, type INT, file INT, ord INT, name INT NOT NULL, qual TEXT,"
        " kind INT, line INT, end INT, uid BLOB, flags INT, sig TEXT)"
    ),
    "edges": "CREATE TABLE edges(file INTEGER PRIMARY KEY, blob BLOB NOT NULL)",
    "reads": "CREATE TABLE reads(file INTEGER PRIMARY KEY, blob BLOB NOT NULL)",
    "heirs": "CREATE TABLE heirs(file INT, ord INT, name INT, PRIMARY KEY(file, ord, name)) WITHOUT ROWID",
    "facts": "CREATE TABLE facts(key BLOB NOT NULL UNIQUE, blob BLOB NOT NULL, gen INT NOT NULL)",
    "overlay": "CREATE TABLE overlay(file INTEGER PRIMARY KEY, blob BLOB NOT NULL)",
    "dead": "CREATE TABLE dead(id INTEGER PRIMARY KEY)",
    "scip_docs": (
        "CREATE TABLE scip_docs(id INTEGER PRIMARY KEY, path BLOB NOT NULL, source INT, at INT, size INT, texted INT,"
        " late INT, state TEXT, edges INT, dropped INT, unplaced INT)"
    ),
    "scip_defs": "CREATE TABLE scip_defs(hash INT, doc INT, PRIMARY KEY(hash, doc)) WITHOUT ROWID",
    "fts": (
        "CREATE VIRTUAL TABLE fts USING fts5(name, parts, path, sig, doc, body, content='', contentless_delete=1,"
        ' tokenize="unicode61 remove_diacritics 2")'
    ),
}
INDEXES: dict[str, str] = {
    "names_text": "CREATE INDEX names_text ON names(text COLLATE NOCASE)",
    "nodes_name": "CREATE INDEX nodes_name ON nodes(name)",
    "nodes_file": "CREATE INDEX nodes_file ON nodes(file)",
    "nodes_uid": "CREATE INDEX nodes_uid ON nodes(uid)",
    "heirs_name": "CREATE INDEX heirs_name ON heirs(name)",
    "scip_docs_path": "CREATE INDEX scip_docs_path ON scip_docs(path)",
}
#: The format of an index is its schema: any change of it asks for a rebuild, without a number to remember.
USER_VERSION = zlib.crc32("\n".join([*TABLES.values(), *INDEXES.values()]).encode()) & 0x7FFF_FFFF
_FTS_SHADOWS = {"fts_data", "fts_idx", "fts_docsize", "fts_config"}
_KNOWN = {("table", name) for name in (*TABLES, *_FTS_SHADOWS)} | {("index", name) for name in INDEXES}


class FileRow(NamedTuple):
    """One row of ``files``. ``path`` is ``os.fsencode`` of the path relative to the root; digests are raw bytes.

    Attributes:
        id: file number, stable while the file exists.
        node: key of the file's node.
        status: source | data | gated.
        oid: git blob id for a clean file, else None.
        facts: content key of its facts, None when it has none.
        digest: digest of what the file shows to others; links: digest of its edges (both opaque here).
    """

    id: int
    path: bytes
    node: int
    lang: str
    status: str
    reason: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    oid: bytes | None
    facts: bytes | None
    digest: bytes | None
    links: bytes | None


class NodeRow(NamedTuple):
    """One row of ``nodes``, names and kinds as text.

    Attributes:
        key: the integer key; never given to another node until the index is rebuilt as a whole.
        file: number of the file it stands in (0 for unresolved nodes).
        ord: position among the file's symbols in its facts (-1 for the file itself).
        qual: "" for files and unresolved nodes.
        uid: 16 bytes of the node's id. flags: free bits of the indexer.
        sig: whole signature of a symbol in one line; "" when gated or when there is none.
    """

    key: int
    type: str
    file: int
    ord: int
    name: str
    qual: str
    kind: str
    line: int
    end: int
    uid: bytes
    flags: int
    sig: str = ""


def text(value: str) -> str:
    """``value`` as SQLite can hold it: lone surrogates become visible escapes (``\\udc80``), the rest stays."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def damaged(what: str, where: str | Path) -> StoreDamaged:
    """A ``StoreDamaged`` with the one way out there is for a rebuildable file."""
    return StoreDamaged(what, where=str(where), way_out=WAY_OUT)


def translate(error: apsw.Error | UnicodeDecodeError, where: str) -> MogError:
    """The error of ours that says what an error of SQLite means to the person."""
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        way_out = "wait for it or stop it, then try again"
        return HeldByOther("another process is writing the index", where=where, way_out=way_out)
    if isinstance(error, apsw.FullError):
        way_out = "free some space and run the command again"
        return StoreDamaged("no space is left on the disk", where=where, way_out=way_out)
    if isinstance(error, apsw.CantOpenError):
        return damaged("the index cannot be opened (a link, a special file or missing rights)", where)
    if isinstance(error, (apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError)):
        what = f"the index cannot be read or written: {error}"
        return StoreDamaged(what, where=where, way_out="check the rights of .mog")
    return damaged(f"the index is damaged: {error}", where)


@contextmanager
def mapped(where: str) -> Iterator[None]:
    """Turn errors of SQLite raised inside into ``StoreDamaged`` or ``HeldByOther``; bytes that are no text as well."""
    try:
        yield
    except (apsw.Error, UnicodeDecodeError) as error:
        raise translate(error, where) from error


def safe_path(path: Path) -> Path:
    """Resolve the folder that holds ``.mog`` and refuse a link or special file from there on.

    Raises:
        StoreDamaged: ``.mog`` is a link or no folder, or the file itself is a link or no regular file.
    """
    folder = path.parent.parent.resolve() / path.parent.name
    _refuse_unless(folder, stat.S_ISDIR, "is not a folder of its own (a link or a special file)")
    safe = folder / path.name
    _refuse_unless(safe, stat.S_ISREG, "is not a regular file (a link or a special file)")
    return safe


def _refuse_unless(path: Path, wanted: Any, complaint: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not wanted(mode):
        raise StoreDamaged(f"{path.name} {complaint}", where=str(path), way_out="remove it and run the command again")


def create(db: apsw.Connection) -> None:
    """Write the empty schema into a new database."""
    db.pragma("auto_vacuum", 0)
    db.pragma("application_id", APPLICATION_ID)
    for statement in (*TABLES.values(), *INDEXES.values()):
        db.execute(statement)
    db.pragma("user_version", USER_VERSION)


def is_empty(db: apsw.Connection) -> bool:
    """A database without an owner and without a table: a file just made, or one whose making was cut short."""
    return not db.pragma("application_id") and not db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()


def check(db: apsw.Connection, where: str) -> None:
    """Is this our index in our version, and nothing besides? A planted trigger, view or table is refused.

    Raises:
        StoreDamaged: a foreign database, or a schema that is not exactly ours.
        IndexMissing: ours, of another version of mog: rebuild it.
    """
    if is_empty(db):
        raise IndexMissing("there is no index yet", where=where, way_out="run `mog index`")
    if db.pragma("application_id") != APPLICATION_ID:
        raise damaged("index.db is not an index of mog", where)
    version = db.pragma("user_version")
    if version != USER_VERSION:
        what = f"the index has format {version}, this mog reads {USER_VERSION}"
        raise IndexMissing(what, where=where, way_out=WAY_OUT)
    rows = list(db.execute("SELECT type, name, sql FROM sqlite_schema"))
    found = {(kind, name) for kind, name, _ in rows if not name.startswith("sqlite_autoindex_")}
    wrong = {name for _, name, sql in rows if name in TABLES and sql != TABLES[name]}
    wrong |= {name for _, name, sql in rows if name in INDEXES and sql != INDEXES[name]}
    if found != _KNOWN or wrong:
        raise damaged("the schema of index.db is not the one mog writes", where)
