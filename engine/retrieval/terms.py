"""What one file can be found by: its documents (each symbol, and the file itself) and how often each term stands in which field.

Who calls: ``shelf`` for the files of an index, the evaluation for those of a commit. What may not come in: weights, other files,
the disk. A word belongs to the innermost symbol around it; what lies inside a function counts for that function too, and a field
for its class. Gated symbols give their name and place only, and the bytes handed in are redacted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mog.engine.code import facts as schema
from mog.engine.retrieval import words

#: Any change of what is stored of a file asks for another number.
VERSION = f"2.{words.VERSION}"

FIELDS = ("exact", "name", "owner", "sig", "doc", "body", "path")
EXACT, NAME, OWNER, SIG, DOC, BODY, PATH = range(len(FIELDS))
KINDS = ("file", "function", "method", "class", "other", "text")
FILE, FUNCTION, METHOD, CLASS, OTHER, TEXT = range(len(KINDS))
#: Bits of ``FileTerms.flags``.
IS_TEST, IS_GATED, IS_PRIVATE, IS_SPECIAL, IS_DOCUMENTED = 1, 2, 4, 8, 16
_CODE_KINDS = {"function": FUNCTION, "method": METHOD, "test": FUNCTION, "class": CLASS, "interface": CLASS, "enum": CLASS}
_RUNS = {FUNCTION, METHOD}
TEXT_LIMIT = 200_000
_MOST = 255

#: ``key`` is ``words.number(term) | field``.
POSTING = np.dtype([("key", "<u8"), ("doc", "<u4"), ("count", "u1")])
FIELD_MASK = 7
Symbol = Sequence[Any]


class FileTerms(NamedTuple):
    """One file unpacked: postings by (key, document), and by document its kind, flags, parent, lines and words in each field.

    Document 0 is the file, document ``ord + 1`` its symbol ``ord``; the parent of a top-level symbol is 0, that of the file -1.
    ``lines`` holds first and last line of a symbol, ``lengths`` has the shape (documents, fields).
    """

    postings: NDArray[Any]
    kinds: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    parents: NDArray[np.int32]
    lines: NDArray[np.int32]
    lengths: NDArray[np.uint16]


def file_terms(path: str, facts: schema.Facts | None, clean: bytes, *, text: bool = False) -> bytes:
    """Everything one file is found by, packed.

    Args:
        path: relative to the root. facts: None for a file without symbols. clean: bytes with gated spans blanked; empty when
            the file is gated. text: its words count as documentation (Markdown, configuration), not as code.
    """
    syms = facts["syms"] if facts else []
    bag = _Bag()
    bag.add(0, PATH, words.packed(os.path.splitext(path)[0]))
    bag.add(0, EXACT, _exactly(path, os.path.basename(path)))
    for doc, sym in enumerate(syms, 1):
        _describe(bag, doc, sym, syms)
    if facts is None:
        bag.add(0, BODY, words.packed_code(clean[:TEXT_LIMIT]))
    else:
        for doc, body in enumerate(_bodies(syms, clean)):
            bag.add(doc, BODY, body)
    kinds = [TEXT if text or facts is None else FILE, *map(_kind, syms)]
    parents = [-1, *(sym[schema.PARENT] + 1 for sym in syms)]
    lines = [(0, 0), *((sym[schema.LINE], sym[schema.END]) for sym in syms)]
    return _pack(bag, kinds, [0, *map(_flags, syms)], parents, lines)


class _Bag:
    """Term numbers, packed, of each field of each document while a file is put together."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.docs: list[int] = []
        self.fields: list[int] = []

    def add(self, doc: int, field: int, packed: bytes) -> None:
        """Add numbers (``words.packed``) to a field of a document."""
        if packed:
            self.chunks.append(packed)
            self.docs.append(doc)
            self.fields.append(field)


def _kind(sym: Symbol) -> int:
    return _CODE_KINDS.get(str(sym[schema.KIND]), OTHER)


def _flags(sym: Symbol) -> int:
    name = sym[schema.NAME]
    special = name.startswith("__") and name.endswith("__")
    private = name.startswith(("_", "#")) and not special
    flags = (
        (IS_TEST, sym[schema.KIND] == "test"), (IS_GATED, _gated(sym)), (IS_PRIVATE, private), (IS_SPECIAL, special),
        (IS_DOCUMENTED, sym[schema.DOC]),
    )  # fmt: skip
    return sum(bit for bit, holds in flags if holds)


def _gated(sym: Symbol) -> bool:
    return bool(sym[schema.META].get("g"))


def _exactly(*names: str) -> bytes:
    return b"".join(words.exact(name).to_bytes(8, "little") for name in names)


def _describe(bag: _Bag, doc: int, sym: Symbol, syms: Sequence[Symbol]) -> None:
    name = sym[schema.NAME]
    bag.add(doc, EXACT, _exactly(name, *_tails(sym[schema.QUAL])))
    bag.add(doc, NAME, words.packed(name))
    if sym[schema.PARENT] >= 0:
        bag.add(doc, OWNER, words.packed(syms[sym[schema.PARENT]][schema.NAME]))
    bag.add(doc, SIG, words.packed(sym[schema.SIG]))
    bag.add(doc, DOC, words.packed(sym[schema.DOC]))


def _tails(qual: str) -> Iterator[str]:
    """``A.B.c`` → ``A.B.c``, ``B.c``; nothing for a bare name."""
    parts = qual.split(".")
    for at in range(len(parts) - 1):
        yield ".".join(parts[at:])


def _bodies(syms: Sequence[Symbol], clean: bytes) -> list[bytes]:
    """Packed terms of the code of each document."""
    found: list[list[bytes]] = [[] for _ in range(len(syms) + 1)]
    for owner, start, stop in _segments(_spans(syms, clean), len(clean)):
        if start < stop and (owner < 0 or not _gated(syms[owner])):
            found[owner + 1].append(words.packed_code(clean[start:stop]))
    bodies = [b"".join(chunks) for chunks in found]
    for ord_ in range(len(syms) - 1, -1, -1):  # a symbol stands after the one around it
        sym, parent = syms[ord_], syms[ord_][schema.PARENT]
        if parent >= 0 and not _gated(syms[parent]) and (_kind(syms[parent]) in _RUNS or _kind(sym) == OTHER):
            bodies[parent + 1] += bodies[ord_ + 1]
    return bodies


def _spans(syms: Sequence[Symbol], clean: bytes) -> list[tuple[int, int, int]]:
    """(start, stop, ord) of the symbols; a gated one has lost its offsets, and its lines stand for them."""
    spans = [(sym[schema.FULL], sym[schema.STOP], ord_) for ord_, sym in enumerate(syms) if sym[schema.STOP] > sym[schema.FULL]]
    gated = [ord_ for ord_, sym in enumerate(syms) if _gated(sym) and sym[schema.END]]
    if gated:
        lines = [0, *(at + 1 for at, byte in enumerate(clean) if byte == 10), len(clean)]
        last = len(lines) - 1
        spans += [(lines[min(syms[o][schema.LINE] - 1, last)], lines[min(syms[o][schema.END], last)], o) for o in gated]
    return spans


def _segments(spans: Iterable[tuple[int, int, int]], size: int) -> Iterator[tuple[int, int, int]]:
    """(innermost symbol or -1, start, stop) over all bytes, in order."""
    ordered = sorted((start, -stop, ord_) for start, stop, ord_ in spans)
    open_: list[tuple[int, int]] = []
    at = 0
    for start, minus_stop, ord_ in [*ordered, (size, -size, -1)]:
        while open_ and open_[-1][0] <= start:
            stop, owner = open_.pop()
            yield owner, at, stop
            at = max(at, stop)
        yield (open_[-1][1] if open_ else -1), at, start
        at = max(at, start)
        if ord_ >= 0:
            open_.append((-minus_stop, ord_))


def _pack(
    bag: _Bag, kinds: Sequence[int], flags: Sequence[int], parents: Sequence[int], lines: Sequence[tuple[int, int]]
) -> bytes:
    sizes = np.array([len(chunk) >> 3 for chunk in bag.chunks], dtype=np.int64)
    fields, docs = np.array(bag.fields, dtype=np.uint64), np.array(bag.docs, dtype=np.uint32)
    keys = np.bitwise_or(np.frombuffer(b"".join(bag.chunks), "<u8"), np.repeat(fields, sizes), dtype=np.uint64)
    postings = _counted(keys, np.repeat(docs, sizes))
    lengths = np.zeros((len(kinds), len(FIELDS)), dtype=np.int64)
    lengths[docs, fields.astype(np.int64)] = sizes
    lengths[:, EXACT] = 0
    columns = (
        np.array([len(kinds), len(postings)], "<u4"), np.array(kinds, "u1"), np.array(flags, "u1"), np.array(parents, "<i4"),
        np.array(lines, "<i4"), np.minimum(lengths, 65_535).astype("<u2"), postings,
    )  # fmt: skip
    return b"".join(column.tobytes() for column in columns)


def _counted(keys: NDArray[np.uint64], docs: NDArray[np.uint32]) -> NDArray[Any]:
    """Postings in the order of key and document."""
    order = np.lexsort((docs, keys))
    keys, docs = keys[order], docs[order]
    first = np.ones(len(keys), bool)
    first[1:] = (keys[1:] != keys[:-1]) | (docs[1:] != docs[:-1])
    begins = np.flatnonzero(first)
    postings = np.empty(len(begins), POSTING)
    postings["key"], postings["doc"] = keys[begins], docs[begins]
    postings["count"] = np.minimum(np.diff(np.append(begins, len(keys))), _MOST)
    return postings


def unpack(data: bytes) -> FileTerms:
    """The inverse of ``file_terms``. Raises ValueError for bytes that are none of it."""
    documents, rows = (int(n) for n in np.frombuffer(data, "<u4", 2))
    kinds, flags = np.frombuffer(data, np.uint8, 2 * documents, 8).reshape(2, documents)
    at = 8 + 2 * documents
    parents = np.frombuffer(data, "<i4", documents, at)
    lines = np.frombuffer(data, "<i4", 2 * documents, at + 4 * documents).reshape(documents, 2)
    at += 12 * documents
    lengths = np.frombuffer(data, "<u2", documents * len(FIELDS), at).reshape(documents, len(FIELDS))
    return FileTerms(np.frombuffer(data, POSTING, rows, at + lengths.nbytes), kinds, flags, parents, lines, lengths)
