"""The state root: one hash for all records, the same whatever order they came in. Called by the records of a log.

What may not come in: SQL, events, the meaning of records. Each table is a radix-16 tree over the paths of its keys, the
first 12 hex digits of SHA-256("mog.path.1" ‖ key). Where at most 32 records share the beginning of their paths they form
one bucket, else a node with 16 children; so the shape follows from the records alone (a tree independent of history:
Naor and Teague 2001), and a change touches one bucket and the nodes above it.

    bucket = SHA-256("mog.bucket.1" ‖ table ‖ 0x00 ‖ its records by key: key length, 2 bytes ‖ body length, 4 bytes ‖ key ‖ body)
    node   = SHA-256("mog.node.1" ‖ number of records, 8 bytes ‖ hashes of the 16 children)
    state  = SHA-256("mog.state.1" ‖ for each table that has records, by name: name ‖ 0x00 ‖ count, 8 bytes ‖ root)

A child without records is 32 zero bytes. Below 12 digits nothing is left to tell apart, and a bucket may hold more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import groupby

BUCKET = 32
DIGITS = 12
NOTHING = bytes(32)
EMPTY = hashlib.sha256(b"mog.state.1").digest()

Bucket = Mapping[bytes, bytes]
"""Records by key (UTF-8)."""


def path_of(key: bytes) -> str:
    """Where a key (UTF-8) stands in its table's tree, 12 hex digits."""
    return hashlib.sha256(b"mog.path.1" + key).hexdigest()[:DIGITS]


def state_of(tables: Iterable[tuple[str, int, bytes]]) -> bytes:
    """The state root of (name, number of records, root) of every table."""
    parts = [b"mog.state.1"]
    for name, count, root in sorted(tables):
        if count:
            parts.append(b"%b\0%b%b" % (name.encode("ascii"), count.to_bytes(8, "big"), root))
    return hashlib.sha256(b"".join(parts)).digest()


def bucket_text(bucket: Bucket) -> bytes:
    """The records of a bucket as one text, by key."""
    parts: list[bytes] = []
    for key in sorted(bucket):
        body = bucket[key]
        parts += (len(key).to_bytes(2, "big"), len(body).to_bytes(4, "big"), key, body)
    return b"".join(parts)


def bucket_of(text: bytes) -> dict[bytes, bytes]:
    """The records of a bucket's text. Raises ValueError when it is none."""
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(text):
        middle = at + 6 + int.from_bytes(text[at : at + 2], "big")
        end = middle + int.from_bytes(text[at + 2 : at + 6], "big")
        found[text[at + 6 : middle]] = text[middle:end]
        at = end
    if at != len(text):
        raise ValueError("cut short")
    return found


def bucket_hash(table: str, text: bytes) -> bytes:
    """Hash of a bucket of one table over its text."""
    return hashlib.sha256(b"mog.bucket.1%b\0%b" % (table.encode("ascii"), text)).digest() if text else NOTHING


def node_hash(count: int, children: bytes) -> bytes:
    """Hash of a node over the number of records below it and its 16 children."""
    return hashlib.sha256(b"mog.node.1" + count.to_bytes(8, "big") + children).digest()


def root_of(table: str, records: Bucket) -> bytes:
    """Root of a table from all its records: the definition that a stored tree must agree with."""
    return _root_of(table, sorted((path_of(key), key, body) for key, body in records.items()), 0)


def _root_of(table: str, rows: list[tuple[str, bytes, bytes]], depth: int) -> bytes:
    if len(rows) <= BUCKET or depth == DIGITS:
        return bucket_hash(table, bucket_text({key: body for _, key, body in rows}))
    children = bytearray(16 * 32)
    for digit, group in groupby(rows, key=lambda row: row[0][depth]):
        at = int(digit, 16) * 32
        children[at : at + 32] = _root_of(table, list(group), depth + 1)
    return node_hash(len(rows), bytes(children))
