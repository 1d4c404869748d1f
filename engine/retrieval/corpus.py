"""All documents of a worktree or commit as arrays: which term stands in which document and field, how often.

Who calls: ``shelf`` and the evaluation build it, ``rank`` reads it. What may not come in: weights, queries, node keys. A document
is (file, ord): symbol ``ord`` of a file's facts, or -1 for the file itself, so that it outlives a rebuild of the index.

A corpus is a few segments: a big one, usually a mapped file, and small ones for what changed since. Documents of files that
changed or went are dead in the segment that had them. Answers do not depend on how many segments there are.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mog.engine.errors import StoreDamaged
from mog.engine.retrieval import terms
from mog.engine.retrieval.terms import FIELDS, POSTING

Array = NDArray[Any]
MAGIC = b"mogTERM1"
_ALIGN = 64
_NONE = np.zeros(0, np.int64)
#: Compact when the small segments hold more than this share of all postings.
COMPACT_AT = 0.1


class Segment(NamedTuple):
    """Documents of some files. ``first[i]`` is the first document of ``paths[i]``; the last entry is the number of documents."""

    paths: tuple[str, ...]
    first: Array
    kinds: Array
    flags: Array
    parents: Array
    lines: Array
    lengths: Array
    keys: Array
    starts: Array
    docs: Array
    counts: Array

    def rows(self, key: int) -> slice:
        """Where the postings of a key lie."""
        at = int(np.searchsorted(self.keys, np.uint64(key)))
        if at == len(self.keys) or int(self.keys[at]) != key:
            return slice(0, 0)
        return slice(int(self.starts[at]), int(self.starts[at + 1]))

    def spans(self, keys: Array) -> list[tuple[int, int, int]]:
        """(number of the key, start, stop) of the keys that are there."""
        if not len(self.keys):
            return []
        at = np.minimum(self.keys.searchsorted(keys), len(self.keys) - 1)
        there = np.flatnonzero(self.keys[at] == keys)
        return list(zip(there.tolist(), self.starts[at[there]].tolist(), self.starts[at[there] + 1].tolist(), strict=True))


class Corpus:
    """Documents to rank. Made by ``build``, ``load`` and ``with_changes``; never changed.

    Attributes:
        paths: paths by file number. file_of, ord_of, kinds, flags: by document. parents: document around it, -1 for a file.
        lines: (documents, 2) first and last line of a symbol.
        lengths: (documents, fields) words.
        alive: False for documents of files that were replaced or went. rank_of: position by (path, ord), which breaks ties.
    """

    def __init__(self, segments: Sequence[Segment], dead: frozenset[int] = frozenset()) -> None:
        self.segments = tuple(segments)
        self.dead = dead
        self.paths = tuple(path for segment in segments for path in segment.paths)
        self._bases = np.cumsum([0, *(int(segment.first[-1]) for segment in segments)])
        self.size = int(self._bases[-1])
        self.first = np.concatenate([segment.first[:-1] + base for segment, base in zip(segments, self._bases, strict=False)]
                                    + [[self.size]]).astype(np.int64)  # fmt: skip
        self.file_of = np.repeat(np.arange(len(self.paths), dtype=np.int32), np.diff(self.first))
        self.ord_of = (np.arange(self.size) - self.first[:-1][self.file_of] - 1).astype(np.int32)
        self.kinds = np.concatenate([np.zeros(0, np.uint8), *(segment.kinds for segment in segments)])
        self.flags = np.concatenate([np.zeros(0, np.uint8), *(segment.flags for segment in segments)])
        inside = np.concatenate([np.zeros(0, np.int32), *(segment.parents for segment in segments)])
        self.parents = np.where(inside < 0, -1, inside + self.first[:-1][self.file_of]).astype(np.int32) if self.size else inside
        self.alive = ~np.isin(self.file_of, sorted(dead)) if dead else np.ones(self.size, bool)
        self.lines = np.concatenate([np.zeros((0, 2), np.int32), *(segment.lines for segment in segments)])
        self.lengths = np.concatenate([np.zeros((0, len(FIELDS)), "<u2"), *(one.lengths for one in segments)]).astype(np.float32)
        self.file_lengths = np.add.reduceat(self.lengths, self.first[:-1]) if self.paths else self.lengths
        self.file_alive = np.array([number not in dead for number in range(len(self.paths))], bool)
        order = sorted(range(len(self.paths)), key=self.paths.__getitem__)
        self.path_rank = np.empty(len(self.paths), np.int64)
        self.path_rank[order] = np.arange(len(order))
        self._names: dict[str, list[int]] | None = None
        self._folders: dict[str, list[int]] | None = None

    # making

    @classmethod
    def build(cls, files: Iterable[tuple[str, bytes]]) -> Corpus:
        """A corpus of packed files (``terms.file_terms``), in one segment."""
        return cls([_segment(files)])

    def with_changes(self, removed: Iterable[str], added: Iterable[tuple[str, bytes]]) -> Corpus:
        """This corpus without some files and with others; a path that is added again replaces the one there was."""
        fresh = _segment(added)
        gone = {*removed, *fresh.paths}
        numbers = {number for number, path in enumerate(self.paths) if path in gone and number not in self.dead}
        segments = (*self.segments, fresh) if fresh.paths else self.segments
        changed = Corpus(segments, self.dead | numbers)
        sizes = [len(segment.docs) for segment in segments]
        crowded = len(sizes) > 8 or sum(sizes[1:]) > max(50_000, COMPACT_AT * sum(sizes))
        return changed.compact() if crowded else changed

    def compact(self) -> Corpus:
        """The same documents in one segment."""
        return Corpus([_merge(self)]) if len(self.segments) != 1 or self.dead else self

    # asking

    def postings(self, number: int, field: int) -> tuple[Array, Array]:
        """(documents ascending, counts) of a term (``words.number``) in a field; living ones only."""
        found = []
        for segment, base in zip(self.segments, self._bases[:-1], strict=True):
            rows = segment.rows(number | field)
            if rows.start != rows.stop:
                found.append((segment.docs[rows].astype(np.int64) + base, segment.counts[rows]))
        if not found:
            return _NONE, _NONE
        docs, counts = found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
        if self.dead:
            keep = self.alive[docs]
            docs, counts = docs[keep], counts[keep]
        return docs, counts

    def counts_at(self, numbers: Sequence[int], field: int, docs: Array) -> Array:
        """(terms, documents): how often terms stand in a field of some living documents (ascending); looks at no others."""
        found = np.zeros((len(numbers), len(docs)), np.float32)
        keys = np.array(numbers, np.uint64) | np.uint64(field)
        for segment, base in zip(self.segments, self._bases[:-1], strict=True):
            wanted = np.where(docs >= base, docs - base, len(segment.kinds)).astype(np.uint32)
            for term, start, stop in segment.spans(keys):
                where = segment.docs[start:stop]
                at = np.minimum(where.searchsorted(wanted), stop - start - 1)
                found[term] += np.where(where[at] == wanted, segment.counts[start:stop][at], np.float32(0))
        return found

    def frequency(self, number: int, fields: Iterable[int]) -> int:
        """How many postings a term has in some fields, dead ones too: what it costs to look at them."""
        rows = (segment.rows(number | field) for segment in self.segments for field in fields)
        return sum(row.stop - row.start for row in rows)

    def named(self, number: int) -> Array:
        """Living documents that are called exactly so (``words.exact``)."""
        return self.postings(number, terms.EXACT)[0]

    def files_ending(self, path: str) -> list[int]:
        """Living files whose path ends with ``path`` at a folder's border, by number."""
        tail = "/" + path.strip("/")
        return [number for number in self._called(tail.rpartition("/")[2]) if ("/" + self.paths[number]).endswith(tail)]

    def _called(self, name: str) -> list[int]:
        """Living files by the last part of their path."""
        if self._names is None:
            self._names = {}
            for number, one in enumerate(self.paths):
                if number not in self.dead:
                    self._names.setdefault(one.rpartition("/")[2], []).append(number)
        return self._names.get(name, [])

    def files_below(self, folder: str) -> list[int]:
        """Living files in a folder given by the end of its path (``forms``, ``django/forms``), whatever lies above it."""
        if self._folders is None:
            self._folders = {}
            for number, one in enumerate(self.paths):
                if number not in self.dead:
                    for part in set(one.split("/")[:-1]):
                        self._folders.setdefault(part, []).append(number)
        inside = "/" + folder.strip("/") + "/"
        near = self._folders.get(inside.rstrip("/").rpartition("/")[2], [])
        return [number for number in near if inside in "/" + self.paths[number]]

    def tie(self, docs: Array) -> Array:
        """A number for each document by which equal scores are ordered: path, then ord."""
        return self.path_rank[self.file_of[docs]] * (1 << 24) + self.ord_of[docs] + 1

    # on disk

    def save(self, path: Path, notes: Any = None) -> None:
        """Write it as one file, in place of what is there, mode 0600. ``notes``: a JSON value that ``load`` gives back."""
        whole = self.compact()
        segment = whole.segments[0] if whole.segments else _segment(())
        arrays = {name: getattr(segment, name) for name in Segment._fields if name != "paths"}
        plan, at = {}, 0
        for name, array in arrays.items():
            plan[name] = (at, array.dtype.str, list(array.shape))
            at += -(-array.nbytes // _ALIGN) * _ALIGN
        about = {"version": terms.VERSION, "paths": segment.paths, "arrays": plan, "size": at, "notes": notes}
        head = json.dumps(about).encode()
        temporary = path.with_name(path.name + f".{os.getpid()}.tmp")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        temporary.unlink(missing_ok=True)
        try:
            with open(os.open(temporary, flags, 0o600), "wb") as out:
                out.write(MAGIC + len(head).to_bytes(8, "little") + head)
                out.write(bytes(_padding(out.tell())))
                for array in arrays.values():
                    out.write(np.ascontiguousarray(array).tobytes())
                    out.write(bytes(-array.nbytes % _ALIGN))
            os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: Path) -> tuple[Corpus, Any]:
        """Map a saved corpus; it and its notes.

        Raises:
            StoreDamaged: it is none, of another version, cut short or a link.
        """
        try:
            fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
            with open(fd, "rb") as handle:
                view = memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))
            segment, notes = _mapped(view)
            return cls([segment]), notes
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> StoreDamaged:
    return StoreDamaged(f"the search terms cannot be read: {why}", where=str(path), way_out="delete the file; it is made anew")


def _padding(at: int) -> int:
    return -at % _ALIGN


def _mapped(view: memoryview) -> tuple[Segment, Any]:
    if bytes(view[:8]) != MAGIC:
        raise ValueError("it is another kind of file")
    length = int.from_bytes(view[8:16], "little")
    head = json.loads(bytes(view[16 : 16 + length]))
    if head["version"] != terms.VERSION:
        raise ValueError("it is of another version")
    start = 16 + length + _padding(16 + length)
    if len(view) < start + head["size"]:
        raise ValueError("it is cut short")
    arrays = {
        name: np.frombuffer(view, dtype, int(np.prod(shape, dtype=np.int64)), start + at).reshape(shape)
        for name, (at, dtype, shape) in head["arrays"].items()
    }
    return _checked(Segment(tuple(head["paths"]), **arrays)), head["notes"]


def _checked(segment: Segment) -> Segment:
    """The segment, if its numbers point at what is there. Raises ValueError."""
    first, starts, size = segment.first, segment.starts, len(segment.kinds)
    sound = (
        len(first) == len(segment.paths) + 1 and int(first[-1]) == size and len(starts) == len(segment.keys) + 1
        and int(starts[-1]) == len(segment.docs) == len(segment.counts) and segment.lengths.shape == (size, len(FIELDS))
        and segment.lines.shape == (size, 2)
        and len(segment.flags) == len(segment.parents) == size and int(starts[0]) == int(first[0]) == 0
        and bool((np.diff(first) > 0).all() and (np.diff(starts) > 0).all() and (segment.keys[1:] > segment.keys[:-1]).all())
        and int(segment.docs.max(initial=0)) <= max(0, size - 1) and int(segment.kinds.max(initial=0)) < len(terms.KINDS)
        and bool((segment.parents < np.repeat(np.diff(first), np.diff(first))).all())
    )  # fmt: skip
    if not sound:
        raise ValueError("its numbers do not fit")
    return segment


def _segment(files: Iterable[tuple[str, bytes]]) -> Segment:
    ordered = sorted(files)
    unpacked = [terms.unpack(data) for _, data in ordered]
    first = np.cumsum([0, *(len(one.kinds) for one in unpacked)])
    postings, kinds, flags, parents, lines, lengths = (
        np.concatenate(rows) for rows in zip(_NOTHING, *unpacked, strict=True)
    )  # fmt: skip
    docs = postings["doc"] + np.repeat(first[:-1].astype("<u4"), [len(one.postings) for one in unpacked])
    grouped = _grouped(postings["key"], docs, postings["count"])
    return Segment(tuple(path for path, _ in ordered), first, kinds, flags, parents, lines, lengths, *grouped)


#: No files, in the columns of ``FileTerms``.
_NOTHING = (
    np.zeros(0, POSTING), np.zeros(0, "u1"), np.zeros(0, "u1"), np.zeros(0, "<i4"), np.zeros((0, 2), "<i4"),
    np.zeros((0, len(FIELDS)), "<u2"),
)  # fmt: skip


def _grouped(keys: Array, docs: Array, counts: Array) -> tuple[Array, Array, Array, Array]:
    """(distinct keys, starts, documents, counts) of postings that come in the order of their documents."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.zeros(0, np.int64)
    return keys[begins], np.append(begins, len(keys)), docs[order].astype("<u4"), counts[order].astype(np.uint8)


def _merge(corpus: Corpus) -> Segment:
    """All living documents as one segment, in the order of their paths."""
    files = sorted((path, number) for number, path in enumerate(corpus.paths) if number not in corpus.dead)
    sizes = [int(corpus.first[number + 1] - corpus.first[number]) for _, number in files]
    first = np.cumsum([0, *sizes])
    old = np.concatenate([np.arange(corpus.first[n], corpus.first[n + 1]) for _, n in files] or [np.zeros(0, np.int64)])
    moved = np.full(corpus.size, -1, np.int64)
    moved[old] = np.arange(len(old))
    keys = np.concatenate([np.repeat(s.keys, np.diff(s.starts)) for s in corpus.segments])
    bases = corpus._bases[:-1]
    docs = np.concatenate([moved[s.docs.astype(np.int64) + base] for s, base in zip(corpus.segments, bases, strict=True)])
    counts = np.concatenate([s.counts for s in corpus.segments])
    keep = docs >= 0
    order = np.argsort(docs[keep], kind="stable")
    around = corpus.parents[old]
    parents = np.where(around < 0, -1, around - corpus.first[corpus.file_of[old]]).astype("<i4")
    columns = (corpus.kinds[old], corpus.flags[old], parents, corpus.lines[old], corpus.lengths[old].astype("<u2"))
    grouped = _grouped(keys[keep][order], docs[keep][order], counts[keep][order])
    return Segment(tuple(path for path, _ in files), first, *columns, *grouped)
