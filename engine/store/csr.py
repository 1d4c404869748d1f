"""The arrays of one generation: every edge in both directions, in one memory-mapped file ``.mog/csr/<generation>.csr``.

Who calls: ``snapshot`` (build, open), ``nx_backend`` (arrays), ``mog doctor`` (verify).
What may not come in: names, kinds as words, SQL beyond reading blobs; numpy at import (one node is looked up without).

A node costs 48 bytes with four edges: two row pointers, and for each edge and direction the other end (int32) and one
byte ``edge kind | tier << 6``. Rows are sorted by (other end, byte), so equal edges stand together. Layout, in native
byte order, each section on a 64-byte border: header, out pointers, out ends, in pointers, in ends, out bytes, in
bytes, alive bits.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import stat
import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.engine.errors import StoreDamaged
from mog.engine.store import blobs
from mog.engine.store.index_db import CsrStamp, IndexDB
from mog.engine.store.schema import damaged

if TYPE_CHECKING:
    import numpy as np

_MAGIC = b"MOGCSR1" + (b"<" if sys.byteorder == "little" else b">")
#: magic, version, reserved, generation, nodes, edges, digest of everything behind the header; then the header's own.
_HEADER = struct.Struct("=8sIIQQQ32s")
_VERSION, _DIGEST, _BORDER = 1, 16, 64
_HEADER_BYTES = 128
#: Node numbers must fit 27 bits: an edge is sorted as one 62-bit integer.
MAX_NODES = 1 << 27
#: Up to this many edges plain Python builds faster than numpy is imported.
_SMALL = 30_000


def csr_byte(edge_code: int) -> int:
    """The byte of an edge record's third field: kind in six bits, tier in two."""
    return edge_code & 0x3F | (edge_code >> 8 & 3) << 6


class Csr:
    """One opened CSR file. Immutable, shared by threads; the mapping lives as long as the object or a view of it."""

    def __init__(self, path: Path, mapping: Any, generation: int, nodes: int, edges: int, digest: str) -> None:
        self.path = path
        self.generation = generation
        self.nodes = nodes
        self.edges = edges
        self.digest = digest
        self._map = mapping
        self._arrays: tuple[Rows, Rows] | None = None
        view = memoryview(mapping)
        at = dict(zip(_SECTIONS, _offsets(nodes, edges), strict=True))
        sizes = dict(zip(_SECTIONS, _sizes(nodes, edges), strict=True))
        part = {name: view[at[name] : at[name] + sizes[name]] for name in _SECTIONS}
        self.outgoing = Rows(part["out_ptr"].cast("i"), part["out_end"].cast("i"), part["out_byte"])
        self.incoming = Rows(part["in_ptr"].cast("i"), part["in_end"].cast("i"), part["in_byte"])
        self.alive_bits = part["alive"]

    def alive(self, node: int) -> bool:
        """Was there a node of that key when the arrays were built?"""
        return 0 <= node < self.nodes and bool(self.alive_bits[node >> 3] >> (node & 7) & 1)

    def row(self, node: int, *, incoming: bool = False) -> tuple[memoryview, memoryview]:
        """Other ends and bytes of one node's edges; empty for a node the arrays do not know.

        Raises:
            StoreDamaged: the row lies outside of the arrays or names a node outside of them.
        """
        rows = self.incoming if incoming else self.outgoing
        start, stop = (rows.ptr[node], rows.ptr[node + 1]) if 0 <= node < self.nodes else (0, 0)
        if not 0 <= start <= stop <= self.edges:
            raise damaged("a row of the arrays lies outside of them", self.path)
        ends = rows.end[start:stop]
        if start < stop and not (min(ends) >= 0 and max(ends) < self.nodes):
            raise damaged("an edge of the arrays leads outside of them", self.path)
        return ends, rows.byte[start:stop]

    def arrays(self) -> tuple[Rows, Rows]:
        """(outgoing, incoming) as numpy views, all bounds checked once.

        Raises:
            StoreDamaged: as ``row``, for any row.
        """
        if self._arrays is None:
            self._arrays = (self._checked(self.outgoing), self._checked(self.incoming))
        return self._arrays

    def _checked(self, rows: Rows) -> Rows:
        import numpy as np

        ptr = np.frombuffer(rows.ptr, dtype=np.int32)
        end = np.frombuffer(rows.end, dtype=np.int32)
        sound = ptr[0] == 0 and ptr[-1] == self.edges and bool((ptr[1:] >= ptr[:-1]).all())
        if not sound or (self.edges and not (end.min() >= 0 and end.max() < self.nodes)):
            raise damaged("the arrays point outside of themselves", self.path)
        return Rows(ptr, end, np.frombuffer(rows.byte, dtype=np.uint8))

    def verify(self) -> None:
        """Compare everything behind the header with the digest in it (for ``mog doctor``).

        Raises:
            StoreDamaged: a bit differs.
        """
        body = memoryview(self._map)[_HEADER_BYTES:]
        if hashlib.blake2b(body, digest_size=32).digest() != bytes(self._map[40:72]):
            raise damaged("the arrays are not what was written", self.path)


class Rows:
    """Pointers, other ends and bytes of one direction; memoryviews, or numpy arrays from ``Csr.arrays``."""

    __slots__ = ("byte", "end", "ptr")

    def __init__(self, ptr: Any, end: Any, byte: Any) -> None:
        self.ptr = ptr
        self.end = end
        self.byte = byte


_SECTIONS = ("out_ptr", "out_end", "in_ptr", "in_end", "out_byte", "in_byte", "alive")


def _sizes(nodes: int, edges: int) -> tuple[int, ...]:
    pointers, ends = 4 * (nodes + 1), 4 * edges
    return pointers, ends, pointers, ends, edges, edges, (nodes + 7) // 8


def _offsets(nodes: int, edges: int) -> list[int]:
    """Where each section starts; one more than there are sections would be the size of the file."""
    offsets, at = [], _HEADER_BYTES
    for size in _sizes(nodes, edges):
        offsets.append(at)
        at += -(-size // _BORDER) * _BORDER
    return offsets


def _file_size(nodes: int, edges: int) -> int:
    last = _sizes(nodes, edges)[-1]
    return _offsets(nodes, edges)[-1] + -(-last // _BORDER) * _BORDER


def path_of(directory: Path, generation: int) -> Path:
    """The CSR file of a generation below the ``.mog`` folder."""
    return directory / "csr" / f"{generation}.csr"


def open_csr(path: Path, stamp: CsrStamp | None = None) -> Csr:
    """Map a CSR file. No section is read: 0.1 ms at any size.

    Args:
        stamp: what ``index.db`` says about it; a file that is not that one is refused.

    Raises:
        StoreDamaged: missing, a link, no regular file, cut short, of another byte order, or not the one of ``stamp``.
    """
    mapping = _map(path)
    head = bytes(mapping[:_HEADER_BYTES])
    magic, version, _, generation, nodes, edges, _ = _HEADER.unpack_from(head)
    if magic != _MAGIC or version != _VERSION or head[-_DIGEST:] != _header_digest(head):
        raise damaged("the header of the arrays cannot be believed", path)
    if nodes > MAX_NODES or edges >= 1 << 31 or _file_size(nodes, edges) != len(mapping):
        raise damaged("the arrays do not have the size their header says", path)
    csr = Csr(path, mapping, generation, nodes, edges, head[-_DIGEST:].hex())
    if stamp is not None and (csr.generation, csr.digest, csr.nodes, csr.edges) != tuple(stamp):
        raise damaged("the arrays are not those the index was published with", path)
    return csr


def _map(path: Path) -> mmap.mmap:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if path.parent.is_symlink():
            raise OSError("its folder is a link")
        handle = os.open(path, flags)
    except OSError as error:
        raise damaged(f"the arrays cannot be opened: {error.strerror or error}", path) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size < _HEADER_BYTES:
            raise damaged("the arrays are no regular file or cut short", path)
        return mmap.mmap(handle, found.st_size, access=mmap.ACCESS_READ)
    finally:
        os.close(handle)


def _header_digest(head: bytes) -> bytes:
    return hashlib.blake2b(head[: _HEADER_BYTES - _DIGEST], digest_size=_DIGEST).digest()


def build(db: IndexDB, generation: int) -> CsrStamp:
    """Write the CSR file of all edges ``db`` holds now (also inside its open transaction) and say how to find it.

    The file appears under its name whole or not at all: temporary file, fsync, rename, fsync of the folder.

    Raises:
        StoreDamaged: an edge without an end inside the index, or more than 2^27 nodes or 2^31 edges.
    """
    nodes = db.next_node()
    stored = b"".join(blob for _, blob in db.edges_all())
    edges = len(stored) // blobs.EDGE_BYTES
    if nodes > MAX_NODES or edges >= 1 << 31 or len(stored) % blobs.EDGE_BYTES:
        raise damaged("more nodes or edges than the arrays can hold, or a torn record", db.path)
    try:
        out, into = (_sorted_small if edges <= _SMALL else _sorted_large)(stored, nodes)
    except (IndexError, ValueError, OverflowError) as error:
        raise damaged("an edge leads outside of the index", db.path) from error
    parts = (out.ptr, out.end, into.ptr, into.end, out.byte, into.byte, _alive(db.node_keys(), nodes))
    digest = _write(path_of(db.directory, generation), generation, nodes, edges, parts)
    return CsrStamp(generation, digest, nodes, edges)


def equals(arrays: Csr, stored: bytes) -> bool:
    """Do the arrays hold exactly the edges of these records?"""
    if len(stored) != arrays.edges * blobs.EDGE_BYTES:
        return False
    try:
        sides = (_sorted_small if arrays.edges <= _SMALL else _sorted_large)(stored, arrays.nodes)
    except ValueError:
        return False
    mine = (arrays.outgoing, arrays.incoming)
    return all(
        bytes(getattr(rows, part)) == bytes(getattr(side, part))
        for rows, side in zip(mine, sides, strict=True)
        for part in ("ptr", "end", "byte")
    )


def _sorted_small(stored: bytes, nodes: int) -> tuple[Rows, Rows]:
    records = [(src, dst, csr_byte(code)) for src, dst, code, _ in blobs.unpack_edges(stored)]
    if any(not (0 <= src < nodes and 0 <= dst < nodes) for src, dst, _ in records):
        raise ValueError("out of bounds")
    reversed_ = sorted((dst, src, code) for src, dst, code in records)
    return _rows_small(sorted(records), nodes), _rows_small(reversed_, nodes)


def _rows_small(ordered: Sequence[tuple[int, int, int]], nodes: int) -> Rows:
    pointers = array("i", bytes(4 * (nodes + 1)))
    for near, _, _ in ordered:
        pointers[near + 1] += 1
    for node in range(nodes):
        pointers[node + 1] += pointers[node]
    ends = array("i", [far for _, far, _ in ordered])
    return Rows(pointers.tobytes(), ends.tobytes(), bytes(code for _, _, code in ordered))


def _sorted_large(stored: bytes, nodes: int) -> tuple[Rows, Rows]:
    import numpy as np

    table = np.frombuffer(stored, dtype="<i4").reshape(-1, 4)
    src, dst = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    code = (table[:, 2] & 0x3F | (table[:, 2] >> 8 & 3) << 6).astype(np.int64)
    for end in (src, dst):
        if end.min() < 0 or end.max() >= nodes:
            raise ValueError("out of bounds")
    return _rows_large(src, dst, code, nodes), _rows_large(dst, src, code, nodes)


def _rows_large(near: Any, far: Any, code: Any, nodes: int) -> Rows:
    import numpy as np

    packed = near << 35
    packed |= far << 8
    packed |= code
    packed.sort()
    pointers: np.ndarray = np.zeros(nodes + 1, dtype=np.int32)
    np.cumsum(np.bincount(near, minlength=nodes), out=pointers[1:])
    ends = (packed >> 8 & (1 << 27) - 1).astype(np.int32)
    return Rows(pointers.data, ends.data, (packed & 0xFF).astype(np.uint8).data)


def _alive(keys: Iterable[int], nodes: int) -> bytes:
    bits = bytearray((nodes + 7) // 8)
    for key in keys:
        bits[key >> 3] |= 1 << (key & 7)
    return bytes(bits)


def _write(path: Path, generation: int, nodes: int, edges: int, parts: Sequence[Any]) -> str:
    body = b"".join(_padded(part) for part in parts)
    head = _HEADER.pack(_MAGIC, _VERSION, 0, generation, nodes, edges, hashlib.blake2b(body, digest_size=32).digest())
    head = head.ljust(_HEADER_BYTES, b"\0")
    head = head[:-_DIGEST] + _header_digest(head)
    _folder(path.parent)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(head)
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        way_out = "free some space, check the rights of .mog/csr, and run the command again"
        raise StoreDamaged(f"the arrays cannot be written: {error}", where=str(path), way_out=way_out) from error
    _sync_folder(path.parent)
    return head[-_DIGEST:].hex()


def _padded(part: Any) -> bytes:
    data = bytes(part)
    return data + bytes(-len(data) % _BORDER)


def _folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or not folder.is_dir():
        way_out = "remove it and run the command again"
        raise StoreDamaged("the folder of the arrays is a link", where=str(folder), way_out=way_out)


def _sync_folder(folder: Path) -> None:
    """Make the rename last; folders cannot be opened on Windows, where the rename alone has to do."""
    if os.name != "nt":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def cleanup(directory: Path, keep: int) -> None:
    """Delete CSR files of other generations than ``keep``, and temporary files; only the writer does this.

    A file that Windows refuses to delete while a reader maps it stays for the next time.
    """
    folder = directory / "csr"
    if folder.is_symlink():
        return
    for old in folder.glob("*.csr*"):
        if old.name != f"{keep}.csr":
            with contextlib.suppress(OSError):
                old.unlink()
