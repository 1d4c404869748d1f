"""Records: what the events add up to, kept as the rows of their tree (``state_root``). Called by the log.

What may not come in: the meaning of records (a table is a name, a key a text, a body bytes), events, transactions: the
caller has one open. Everything here is derived and can be made anew from the events.

A row of ``nodes`` is a node, with the hashes of its children, or a bucket, with its records. Its number says where it
stands: table, then a 1 and the digits of the prefix, so that in a table nodes come before what is below them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import apsw

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.ledgers import state_root as tree

SCHEMA = {
    "tables": (
        "CREATE TABLE tables(id INTEGER PRIMARY KEY, name TEXT NOT NULL, count INTEGER NOT NULL, root BLOB NOT NULL) STRICT"
    ),
    "nodes": "CREATE TABLE nodes(id INTEGER PRIMARY KEY, count INTEGER NOT NULL, data BLOB NOT NULL) STRICT",
}
WAY_OUT = "run `mog doctor --repair`: records are made anew from the events"
MAX_KEY_BYTES = 2048
MAX_RECORD_BYTES = 1024 * 1024
_MAX_BUCKET = 32 * MAX_RECORD_BYTES
_MAX_TABLES = 1000
_SHIFT = 4 * (tree.DIGITS + 1)
_TABLE = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PLAIN, _DEFLATED = b"\0", b"\1"

Row = tuple[str, str, bytes]
Change = tuple[str, bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class Put:
    """One change of one record: ``body`` from now on, or None to take it away.

    Attributes:
        table: small letters, digits and ``_``, at most 32.
        key: any valid Unicode of at most 2,048 bytes.
        body: at most 1 MiB.
    """

    table: str
    key: str
    body: bytes | None


def checked(puts: Iterable[Put]) -> dict[str, list[Change]]:
    """The puts by table as (path, key, body) in order of their paths, the last of each key.

    Raises:
        UsageError: a table, key or body that cannot be stored.
    """
    found: dict[str, dict[bytes, bytes | None]] = {}
    for put in puts:
        if put.table not in found and not _TABLE.fullmatch(put.table):
            raise UsageError(f"no table name: {put.table!r}", way_out="use small letters, digits and _")
        if put.body is not None and len(put.body) > MAX_RECORD_BYTES:
            raise UsageError("a record beyond 1 MiB", where=put.key, way_out="keep the text in a file")
        found.setdefault(put.table, {})[_key(put.key)] = put.body
    return {table: sorted((tree.path_of(key), key, body) for key, body in found[table].items()) for table in sorted(found)}


def _key(key: str) -> bytes:
    try:
        raw = key.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("a key that is not valid Unicode", where=ascii(key), way_out="rename it") from error
    if len(raw) > MAX_KEY_BYTES:
        raise UsageError(f"a key beyond {MAX_KEY_BYTES:,} bytes", where=key[:80], way_out="shorten it")
    return raw


def _squeezed(text: bytes) -> bytes:
    """The stored form of a bucket's text."""
    packer = zlib.compressobj(3, zlib.DEFLATED, -12, 4)
    small = packer.compress(text) + packer.flush()
    return _DEFLATED + small if len(small) < len(text) else _PLAIN + text


def _restored(data: bytes) -> bytes:
    """The text of a stored bucket. Raises ValueError when it cannot be had."""
    if data[:1] == _PLAIN:
        return data[1:]
    unpacker = zlib.decompressobj(-15)
    try:
        text = unpacker.decompress(data[1:], _MAX_BUCKET)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if data[:1] != _DEFLATED or not unpacker.eof or unpacker.unused_data:
        raise ValueError("not a deflated text")
    return text


class Records:
    """The records in one open transaction, or in several of one connection between which nobody else writes."""

    def __init__(self, db: apsw.Connection, where: str) -> None:
        self._db = db
        self._where = where
        self._unwritten: dict[int, tuple[int, bytes | dict[bytes, bytes]] | None] = {}
        self._ids: dict[str, int] = {}
        self._tops: dict[str, tuple[int, bytes]] = {}
        for number, name, count, root in db.execute("SELECT id, name, count, root FROM tables"):
            sound = isinstance(name, str) and _TABLE.fullmatch(name) and isinstance(count, int) and count >= 0
            if not (sound and isinstance(root, bytes) and 0 < number <= _MAX_TABLES) or name in self._ids:
                raise StoreDamaged(f"row {number} of the tables is not what was recorded", where=where, way_out=WAY_OUT)
            self._ids[name] = number
            self._tops[name] = (count, root)

    @property
    def counts(self) -> dict[str, int]:
        """How many records each table has, by name."""
        return {name: self._tops[name][0] for name in sorted(self._tops)}

    def state(self) -> bytes:
        """The state root as the tops of the tables give it."""
        return tree.state_of((name, count, root) for name, (count, root) in self._tops.items())

    # -- changing

    def apply(self, puts: Mapping[str, list[Change]]) -> bytes:
        """Change records and the tree above them; the state root afterwards. ``write`` has to follow. Raises StoreDamaged."""
        for table, changes in puts.items():
            root, grown = self._update(table, "", changes)
            count = self._tops[table][0] + grown if table in self._tops else grown
            self._number(table)
            self._tops[table] = (count, root)
        return self.state()

    def write(self) -> None:
        """Write the rows that changed, each once, however many events changed it."""
        rows = [(self._number(table), table, count, root) for table, (count, root) in self._tops.items()]
        self._db.executemany("INSERT OR REPLACE INTO tables VALUES(?, ?, ?, ?)", rows)
        gone = [(at,) for at, row in self._unwritten.items() if row is None]
        self._db.executemany("DELETE FROM nodes WHERE id = ?", gone)
        kept = ((at, *row) for at, row in sorted(self._unwritten.items()) if row is not None)
        stored = ((at, count, data if isinstance(data, bytes) else _squeezed(tree.bucket_text(data))) for at, count, data in kept)
        self._db.executemany("INSERT OR REPLACE INTO nodes VALUES(?, ?, ?)", stored)
        self._unwritten = {}

    def _number(self, table: str) -> int:
        if table not in self._ids:
            if len(self._ids) >= _MAX_TABLES:
                raise UsageError("no more tables", where=table, way_out="use one of those there are")
            self._ids[table] = max(self._ids.values(), default=0) + 1
        return self._ids[table]

    def _update(self, table: str, prefix: str, changes: list[Change]) -> tuple[bytes, int]:
        """Change what stands below ``prefix``; its hash afterwards, and by how many records it grew."""
        count, data = self._row(table, prefix)
        if _is_bucket(prefix, count):
            bucket = dict(self._bucket(table, prefix, count, data))
            _change(bucket, changes)
            return self._build(table, prefix, _rows(bucket), len(data) > 0), len(bucket) - count
        assert isinstance(data, bytes)
        children, grown = bytearray(data), 0
        for digit, group in groupby(changes, key=lambda change: change[0][len(prefix)]):
            at = int(digit, 16) * 32
            children[at : at + 32], more = self._update(table, prefix + digit, list(group))
            grown += more
        if count + grown <= tree.BUCKET:
            bucket = self._collapse(table, prefix, bytes(children))
            return self._build(table, prefix, _rows(bucket), True), grown
        self._unwritten[self._at(table, prefix)] = (count + grown, bytes(children))
        return tree.node_hash(count + grown, bytes(children)), grown

    def _build(self, table: str, prefix: str, rows: list[tuple[str, bytes, bytes]], stored: bool) -> bytes:
        """Store records as one bucket or as nodes over several, where there was a row or none; the hash."""
        if len(rows) <= tree.BUCKET or len(prefix) == tree.DIGITS:
            bucket = {key: body for _, key, body in rows}
            if rows:
                self._unwritten[self._at(table, prefix)] = (len(rows), bucket)
            elif stored:
                self._unwritten[self._at(table, prefix)] = None
            return tree.bucket_hash(table, tree.bucket_text(bucket))
        children = bytearray(16 * 32)
        for digit, group in groupby(rows, key=lambda row: row[0][len(prefix)]):
            at = int(digit, 16) * 32
            children[at : at + 32] = self._build(table, prefix + digit, list(group), False)
        self._unwritten[self._at(table, prefix)] = (len(rows), bytes(children))
        return tree.node_hash(len(rows), bytes(children))

    def _collapse(self, table: str, prefix: str, children: bytes) -> dict[bytes, bytes]:
        """Take away what stands below a node; the records that were there."""
        found: dict[bytes, bytes] = {}
        for digit in "0123456789abcdef":
            at = int(digit, 16) * 32
            if children[at : at + 32] != tree.NOTHING:
                count, data = self._row(table, prefix + digit)
                found |= self._bucket(table, prefix + digit, count, data)
                self._unwritten[self._at(table, prefix + digit)] = None
        return found

    # -- rows

    def _at(self, table: str, prefix: str) -> int:
        return self._number(table) << _SHIFT | int("1" + prefix, 16)

    def _row(self, table: str, prefix: str) -> tuple[int, bytes | dict[bytes, bytes]]:
        at = self._at(table, prefix)
        if at in self._unwritten:
            return self._unwritten[at] or (0, b"")
        row = self._db.execute("SELECT count, data FROM nodes WHERE id = ?", (at,)).fetchone()
        if row is not None and not _sound(*row):
            raise self._damaged(table, prefix)
        return (0, b"") if row is None else (row[0], row[1])

    def _scan(self, table: str) -> Iterator[tuple[int, str, int, bytes]]:
        """Every row of a table as (number, prefix, count, data), from the top down. Raises StoreDamaged."""
        low = self._ids.get(table, 0) << _SHIFT
        query = "SELECT id, count, data FROM nodes WHERE id BETWEEN ? AND ? ORDER BY id"
        for at, count, data in self._db.execute(query, (low, low | (1 << _SHIFT) - 1)):
            prefix = f"{at - low:x}"[1:]
            if not _sound(count, data):
                raise self._damaged(table, prefix)
            yield at, prefix, count, data

    def _bucket(self, table: str, prefix: str, count: int, data: bytes | dict[bytes, bytes]) -> dict[bytes, bytes]:
        if isinstance(data, dict):
            return data
        try:
            found = tree.bucket_of(_restored(data)) if data else {}
        except ValueError:
            found = {}
        if len(found) != count:
            raise self._damaged(table, prefix)
        return found

    def _damaged(self, table: str, prefix: str) -> StoreDamaged:
        what = f"the records of table {table} under {prefix or 'its root'} are not what was recorded"
        return StoreDamaged(what, where=self._where, way_out=WAY_OUT)

    # -- reading

    def get(self, table: str, key: str) -> bytes | None:
        """The body of one record, or None. Raises StoreDamaged."""
        raw = _key(key)
        path, prefix = tree.path_of(raw), ""
        expected = self._tops[table][1] if table in self._ids else tree.NOTHING
        while expected != tree.NOTHING:
            count, data = self._row(table, prefix)
            assert isinstance(data, bytes), "read from a transaction that writes"
            found = self._opened(table, prefix, count, data, expected)
            if isinstance(found, dict):
                return found.get(raw)
            expected, prefix = found[int(path[len(prefix)], 16)], path[: len(prefix) + 1]
        return None

    def rows(self) -> Iterator[Row]:
        """Every record as (table, key, body), tables by name, each bucket compared with the tree before it is given out.

        Raises:
            StoreDamaged: at a node or bucket that is not what the hash above it says, or at the end of a table that
                lacks some.
        """
        for table in sorted(self._ids):
            for bucket in self.buckets(table):
                for key, body in bucket.items():
                    yield table, key.decode("utf-8"), body

    def buckets(self, table: str) -> Iterator[dict[bytes, bytes]]:
        """The buckets of one table, each compared with the tree. Raises StoreDamaged as ``rows``."""
        low, (count, root) = self._ids[table] << _SHIFT, self._tops[table]
        expected = {} if root == tree.NOTHING else {low | 1: root}
        for at, prefix, size, data in self._scan(table):
            found = self._opened(table, prefix, size, data, expected.pop(at, tree.NOTHING))
            if isinstance(found, dict):
                count -= len(found)
                yield found
            else:
                first = low | at - low << 4
                expected |= {first | digit: child for digit, child in enumerate(found) if child != tree.NOTHING}
        if expected or count:
            prefix = f"{min(expected, default=low | 1) - low:x}"[1:]
            raise self._damaged(table, prefix)

    def _opened(
        self, table: str, prefix: str, count: int, data: bytes, expected: bytes
    ) -> dict[bytes, bytes] | list[bytes]:
        """The records of a bucket, or the child hashes of a node. Raises StoreDamaged when it has not the hash expected."""
        if not _is_bucket(prefix, count):
            if tree.node_hash(count, data) == expected:
                return [data[at : at + 32] for at in range(0, 16 * 32, 32)]
        else:
            bucket = _checked(table, data, expected)
            if bucket is not None and len(bucket) == count:
                return bucket
        raise self._damaged(table, prefix)

    # -- looking for damage

    def strays(self) -> list[int]:
        """Numbers of rows that belong to no table, at most ten."""
        tables = {number for number in self._ids.values() if 0 < number <= _MAX_TABLES}
        found = self._db.execute("SELECT DISTINCT id >> ? FROM nodes", (_SHIFT,))
        return [at << _SHIFT for (at,) in found if at not in tables][:10]

    def flaws(self, table: str) -> Iterator[tuple[str, str]]:
        """What does not hold in one table, as (where, what)."""
        try:
            for _ in self.buckets(table):
                pass
        except StoreDamaged as error:
            suspects = list(self._suspects(table))
            yield from ((f"{table} {key}", "its bucket has not the hash that the tree says") for key in suspects[:20])
            if not suspects:
                yield f"table {table}", error.what

    def _suspects(self, table: str) -> Iterator[str]:
        """Keys of the buckets that have not the hash their node says, as far as they can be read."""
        low = self._ids[table] << _SHIFT
        expected = {low | 1: self._tops[table][1]}
        for at, prefix, count, data in self._scan(table):
            if not _is_bucket(prefix, count):
                expected |= {(low | at - low << 4 | d): data[d * 32 : d * 32 + 32] for d in range(16)}
            elif _hash(table, data) != expected.get(at):
                yield from (key.decode("utf-8", "replace") for key in _read(data))

    def beside(self, other: Records, table: str) -> Iterator[tuple[str, str]]:
        """Where this table is not that of ``other``, which holds, as (where, what)."""
        ours, theirs = dict(self._salvaged(table)), dict(other._salvaged(table))
        for key in sorted(ours.keys() | theirs.keys()):
            if ours.get(key) != theirs.get(key):
                what = "it is gone" if key not in ours else "it is in no event" if key not in theirs else "it was changed"
                yield f"{table} {key.decode('utf-8', 'replace')}", what

    def _salvaged(self, table: str) -> Iterator[tuple[bytes, bytes]]:
        """Every record that can still be read, whether it holds or not."""
        try:
            for _, prefix, count, data in self._scan(table):
                if _is_bucket(prefix, count):
                    yield from _read(data).items()
        except StoreDamaged:
            return


def _sound(count: object, data: object) -> bool:
    return isinstance(count, int) and 0 < count < 1 << 48 and isinstance(data, bytes)


def _is_bucket(prefix: str, count: int) -> bool:
    return count <= tree.BUCKET or len(prefix) == tree.DIGITS


def _read(data: bytes) -> dict[bytes, bytes]:
    """The records of a stored bucket, none when it cannot be read."""
    try:
        return tree.bucket_of(_restored(data))
    except ValueError:
        return {}


def _checked(table: str, data: bytes, expected: bytes) -> dict[bytes, bytes] | None:
    """The records of a stored bucket that has the hash expected, else None."""
    try:
        text = _restored(data)
        return tree.bucket_of(text) if text and tree.bucket_hash(table, text) == expected else None
    except ValueError:
        return None


def _hash(table: str, data: bytes) -> bytes:
    """Hash of a stored bucket, 32 zero bytes when it cannot be read."""
    try:
        return tree.bucket_hash(table, _restored(data))
    except ValueError:
        return tree.NOTHING


def _change(bucket: dict[bytes, bytes], changes: list[Change]) -> None:
    for _, key, body in changes:
        if body is None:
            bucket.pop(key, None)
        else:
            bucket[key] = body


def _rows(bucket: dict[bytes, bytes]) -> list[tuple[str, bytes, bytes]]:
    """The records of a bucket as (path, key, body), in order; paths are only needed where it may be split."""
    if len(bucket) <= tree.BUCKET:
        return [("", key, body) for key, body in bucket.items()]
    return sorted((tree.path_of(key), key, body) for key, body in bucket.items())
