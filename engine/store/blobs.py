"""How edges, recorded reads and facts lie in their blobs: fixed little-endian integers, MessagePack in zlib.

Who calls: the indexer and its worker processes, ``index_db``, ``csr``, ``snapshot``.
What may not come in: SQLite, numpy, file access, msgspec at import (only facts need it). Workers import this alone.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

_EDGE_RECORD = struct.Struct("<4i")
#: Bytes of one edge record.
EDGE_BYTES = _EDGE_RECORD.size
_FACTS_LIMIT = 256 << 20
#: Above this many sought keys one pass over all integers is cheaper than a search of the bytes for each.
FEW_NEEDLES = 6


#: Added to a tier: the edge was read from a SCIP index, not inferred by us. Arrays drop it, records keep it.
FROM_SCIP = 4


def edge_code(kind: int, tier: int) -> int:
    """The third field of an edge record: edge kind number (``IndexDB.code``) and tier (0..3, and ``FROM_SCIP``) in one integer."""
    return kind | tier << 8


def tier_of(code: int) -> int:
    """The tier (0..3) of an edge record's third field."""
    return code >> 8 & 3


def is_from_scip(code: int) -> bool:
    """Whether an edge record's third field says that a SCIP index knew it."""
    return bool(code >> 8 & FROM_SCIP)


def pack_edges(records: Iterable[tuple[int, int, int, int]]) -> bytes:
    """Records ``(src, dst, edge_code, name_id)`` as little-endian int32, 16 bytes each, in the order given."""
    return _packed(array("i", list(chain.from_iterable(records))))


def unpack_edges(blob: bytes) -> Iterator[tuple[int, int, int, int]]:
    """The records of one file's blob; ``ValueError`` when its size is no multiple of 16."""
    if len(blob) % EDGE_BYTES:
        raise ValueError("an edge blob ends inside a record")
    return _EDGE_RECORD.iter_unpack(blob)


def edge_codes(blob: bytes) -> array[int]:
    """The third field of every record of one file's blob."""
    return _integers(blob)[2::4]


def edge_targets(blob: bytes) -> array[int]:
    """The second field of every record of one file's blob."""
    return _integers(blob)[1::4]


def _integers(blob: bytes) -> array[int]:
    flat = array("i", blob)
    if sys.byteorder == "big":
        flat.byteswap()
    return flat


def read_key(key: str) -> int:
    """A recorded read's key as it is stored: crc32, so a false hit costs one needless relink and never a missed one."""
    return zlib.crc32(key.encode("utf-8", "surrogatepass"))


def pack_reads(keys: Iterable[str]) -> bytes:
    """The recorded reads of one file: sorted distinct little-endian uint32."""
    return pack_numbers(sorted({read_key(key) for key in keys}))


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Read keys that are numbers already, ascending and each once, as ``pack_reads`` stores them."""
    return _packed(array("I", numbers))


def touches(blob: bytes, dirty: frozenset[int], needles: Sequence[bytes]) -> bool:
    """Does a blob of recorded reads hold one of the dirty keys? ``needles``: the same keys from ``needles()``."""
    if len(needles) > FEW_NEEDLES:
        keys = array("I", blob)
        if sys.byteorder == "big":
            keys.byteswap()
        return not dirty.isdisjoint(keys)
    return any(_holds(blob, needle) for needle in needles)


def needles(dirty: Iterable[int]) -> list[bytes]:
    """Dirty keys in the shape ``touches`` searches for."""
    return [key.to_bytes(4, "little") for key in dirty]


def _holds(blob: bytes, needle: bytes) -> bool:
    at = blob.find(needle)
    while at % 4 and at >= 0:
        at = blob.find(needle, at + 1)
    return at >= 0


def encode_facts(facts: Mapping[str, Any]) -> bytes:
    """File facts as MessagePack; the same facts always give the same bytes. Lone surrogates become ``?``."""
    from msgspec import msgpack

    try:
        return msgpack.encode(facts)
    except UnicodeEncodeError:
        return msgpack.encode(_valid(facts))


def _valid(value: Any) -> Any:
    """Facts whose text is valid Unicode (an escape in a configuration file can name half a character)."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_valid(key): _valid(held) for key, held in value.items()}
    return [_valid(one) for one in value] if isinstance(value, (list, tuple)) else value


def squeeze(encoded: bytes) -> bytes:
    """Encoded facts as stored: zlib level 1 (higher levels cost CPU-seconds on a large index)."""
    return zlib.compress(encoded, 1)


def pack_facts(facts: Mapping[str, Any]) -> bytes:
    """``squeeze(encode_facts(facts))``; ``unpack_facts`` gives the facts back."""
    return squeeze(encode_facts(facts))


def unpack_facts(blob: bytes) -> dict[str, Any]:
    """Undo ``pack_facts``; a blob that does not decode, or unpacks to more than 256 MB, raises ``ValueError``."""
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(blob, _FACTS_LIMIT)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not unpacker.eof:
        raise ValueError("facts do not end where they should")
    from msgspec import msgpack

    facts = msgpack.decode(data)
    if not isinstance(facts, dict):
        raise ValueError("facts are not an object")
    return facts


def _packed(values: array[int]) -> bytes:
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()
