"""Words and chunks of one file, for the baselines. Called by ``cards`` in worker processes and by ``baselines``.

What may not come in: anything mog's own ranker uses; a baseline that borrows it measures mog.

Words are what ``rg --word-regexp --ignore-case`` matches: maximal runs of letters, digits and ``_``. Chunks are whole lines up to
2,048 bytes (512 tokens by the estimator of ``retrieval/estimator.py``); one line that is longer is cut.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VERSION = 1
CHUNK_BYTES = 2_048
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

Ints = NDArray[np.uint32]


class Words(NamedTuple):
    """One file.

    Attributes:
        hashes, counts: its distinct words (sorted hashes) and how often each occurs.
        starts: first byte of each chunk, and the end of the last: one more than there are chunks.
        at: first entry of each chunk in ``terms`` and ``freqs``, and their length. terms, freqs: words and parts of words of
            a chunk, and how often each occurs there.
    """

    hashes: Ints
    counts: Ints
    starts: Ints
    at: Ints
    terms: Ints
    freqs: Ints


def hashed(word: str) -> int:
    """32-bit hash of a lower-cased word (crc32: stable over processes and versions)."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def words(text: str) -> list[str]:
    """Lower-cased words, in order."""
    return [match.lower() for match in _WORD.findall(text)]


def parts(text: str) -> list[str]:
    """Lower-cased words and, of compound ones, their parts too: a chunk index that splits identifiers."""
    found = []
    for word in _WORD.findall(text):
        pieces = _PART.findall(word)
        found.append(word.lower())
        if len(pieces) > 1:
            found.extend(piece.lower() for piece in pieces)
    return found


def pack(clean: bytes) -> bytes:
    """Words and chunks of a file's bytes, packed: six arrays behind their lengths."""
    text = clean.decode("utf-8", "replace")
    hashes, counts = _counted(map(hashed, words(text)))
    bounds = list(bounds_of(clean))
    chunks = [_counted(map(hashed, parts(clean[a:b].decode("utf-8", "replace")))) for a, b in bounds]
    starts = [a for a, _ in bounds] + [len(clean)]
    at = np.cumsum([0, *(len(terms) for terms, _ in chunks)])
    flat = [np.concatenate([_EMPTY, *(chunk[side] for chunk in chunks)]) for side in (0, 1)]
    arrays = [np.asarray(one, dtype="<u4") for one in (hashes, counts, starts, at, *flat)]
    head = np.array([len(one) for one in arrays], dtype="<u4")
    return b"".join(one.tobytes() for one in (head, *arrays))


def unpack(data: bytes) -> Words:
    """The arrays that ``pack`` wrote; views into ``data``."""
    flat = np.frombuffer(data, dtype="<u4")
    ends = np.cumsum(flat[:6]) + 6
    return Words(*(flat[end - size : end] for end, size in zip(ends, flat[:6], strict=True)))


def bounds_of(clean: bytes) -> Iterator[tuple[int, int]]:
    """First and last+1 byte of each chunk, in order, without gaps."""
    start = end = 0
    for line in clean.splitlines(keepends=True):
        if end > start and end - start + len(line) > CHUNK_BYTES:
            yield start, end
            start = end
        end += len(line)
        while end - start > CHUNK_BYTES:
            yield start, start + CHUNK_BYTES
            start += CHUNK_BYTES
    if end > start:
        yield start, end


_EMPTY = np.empty(0, dtype=np.uint32)


def _counted(hashes: Iterable[int]) -> tuple[Ints, Ints]:
    counts = sorted(Counter(hashes).items())
    flat = np.array(counts, dtype=np.uint32).reshape(-1, 2)
    return flat[:, 0], flat[:, 1]
