"""The Merkle tree over the events of a log: roots, inclusion and consistency proofs (RFC 9162, section 2.1).

Called by the log and its reports. What may not come in: SQL, events, keys. A tree is asked for its subtrees through
``Subtree``: the hash of the perfect subtree at a level (0 is the leaves) and an index in that level.

    leaf(data) = SHA-256(0x00 ‖ data)        node(left, right) = SHA-256(0x01 ‖ left ‖ right)        empty = SHA-256("")
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from mog.engine.errors import UsageError

EMPTY = hashlib.sha256(b"").digest()
Subtree = Callable[[int, int], bytes]


def leaf_hash(data: bytes) -> bytes:
    """Hash of a leaf, 32 bytes."""
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node, 32 bytes."""
    return hashlib.sha256(b"\1" + left + right).digest()


def subtree_of(leaves: Sequence[bytes]) -> Subtree:
    """A tree over leaf hashes in memory; computes, keeps nothing."""

    def subtree(level: int, index: int) -> bytes:
        row = list(leaves[index << level : (index + 1) << level])
        while len(row) > 1:
            row = [node_hash(row[i], row[i + 1]) for i in range(0, len(row), 2)]
        return row[0]

    return subtree


def root(size: int, subtree: Subtree) -> bytes:
    """Root of the first ``size`` leaves."""
    return _range_hash(0, size, subtree) if size else EMPTY


def _range_hash(start: int, end: int, subtree: Subtree) -> bytes:
    """Hash of leaves [start, end), where ``start`` is a multiple of the power of two at or above the length."""
    size, found = end - start, b""
    while size:  # the perfect subtrees, smallest last; joined from the right
        level = (size & -size).bit_length() - 1
        peak = subtree(level, (start + size - (1 << level)) >> level)
        found = node_hash(peak, found) if found else peak
        size -= 1 << level
    return found


class Frontier:
    """The perfect subtrees at the right edge of a growing tree, which is all that its root and its next leaves need."""

    def __init__(self, size: int, subtree: Subtree) -> None:
        """Of the first ``size`` leaves of a tree that can be asked."""
        self.size = size
        levels = [level for level in range(size.bit_length() - 1, -1, -1) if size >> level & 1]
        self._peaks = [subtree(level, (size >> level) - 1) for level in levels]

    def add(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """One more leaf, given by its hash; the inner nodes it completes as (level, index, hash), lowest first."""
        self.size += 1
        made: list[tuple[int, int, bytes]] = []
        level, found = 0, leaf
        while not self.size >> level & 1:
            level += 1
            found = node_hash(self._peaks.pop(), found)
            made.append((level, (self.size >> level) - 1, found))
        self._peaks.append(found)
        return made

    def root(self) -> bytes:
        """Root over all leaves so far."""
        if not self._peaks:
            return EMPTY
        found = self._peaks[-1]
        for peak in self._peaks[-2::-1]:
            found = node_hash(peak, found)
        return found


def inclusion(index: int, size: int, subtree: Subtree) -> list[bytes]:
    """Inclusion proof of leaf ``index`` (from 0) in the tree of ``size`` leaves (2.1.3.1), lowest sibling first.

    Raises:
        UsageError: there is no such leaf.
    """
    if not 0 <= index < size:
        raise UsageError(f"no leaf {index} in a tree of {size}", way_out="ask for one that was recorded")
    path, start, end = [], 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(_range_hash(middle, end, subtree))
            end = middle
        else:
            path.append(_range_hash(start, middle, subtree))
            start = middle
    return path[::-1]


def consistency(old: int, size: int, subtree: Subtree) -> list[bytes]:
    """Consistency proof between the trees of the first ``old`` and the first ``size`` leaves (2.1.4.1).

    Raises:
        UsageError: not 0 < old ≤ size; of an empty tree there is nothing to prove.
    """
    if not 0 < old <= size:
        raise UsageError(f"no proof from {old} to {size} leaves", way_out="name an earlier size that is not 0")
    path, start, end, whole = [], 0, size, True
    while end != old:
        middle = start + _split(end - start)
        if old <= middle:
            path.append(_range_hash(middle, end, subtree))
            end = middle
        else:
            path.append(_range_hash(start, middle, subtree))
            start, whole = middle, False
    return ([] if whole else [_range_hash(start, end, subtree)]) + path[::-1]


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1


def _hashes(*values: bytes) -> bool:
    return all(len(value) == 32 for value in values)


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether ``path`` shows the leaf hash at ``index`` in the tree of ``size`` leaves with ``root`` (2.1.3.2)."""
    if not 0 <= index < size or not _hashes(leaf, *path):
        return False
    at, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node_hash(sibling, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(old: int, size: int, path: Sequence[bytes], old_root: bytes, root: bytes) -> bool:
    """Whether ``path`` shows that the tree of ``old`` leaves is a prefix of that of ``size`` (2.1.4.2).

    Size 0 is refused: every tree begins with the empty one, so nothing would be shown.
    """
    if not 0 < old <= size or not _hashes(*path):
        return False
    if old == size:
        return not path and old_root == root
    hashes = list(path) if old & (old - 1) else [old_root, *path]
    if not hashes:
        return False
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node_hash(after, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and before == old_root and after == root
