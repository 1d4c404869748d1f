"""A small learned reranker: an ensemble of regression trees shipped as plain numbers, and the code that walks them.

Who calls: ``retrieval/rank.py`` with the features of one query's candidates; ``benchmarks/train_reranker.py`` to write the file.
What may not come in: training, lightgbm, pickle; features of its own that need more than the rows it is given.

The file is JSON: the names of the features it was trained on, their digest, and per tree its tests and leaf values. Names or
digest that differ from what the ranker makes are refused: a model on other features would answer, and wrongly.

Walking follows QuickScorer (Lucchese et al., SIGIR 2015): each inner node has a mask of the leaves that stay possible once its
test fails; the masks of the failed tests are and-ed, and the lowest bit left names the leaf. All candidates and trees go at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mog.engine.errors import StoreDamaged, UsageError

FORMAT = "mog.reranker"
VERSION = 1
MAX_LEAVES = 32
MAX_TREES = 2_000
MAX_BYTES = 600_000
_FILE = Path(__file__).with_name("reranker.json")
_ALL = 0xFFFFFFFF
#: Bits of a mask by the leaves that the largest tree has: narrow ones are read in a fraction of the time.
_WIDTHS = ((8, np.uint8), (16, np.uint16), (MAX_LEAVES, np.uint32))

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tree:
    """One tree.

    Attributes:
        features: number of the feature that each inner node tests. thresholds: a test fails when the value is above.
        masks: leaves still possible after that test failed (bit i = leaf i, leaves numbered from the left).
        values: what each leaf adds to the score.
    """

    features: tuple[int, ...]
    thresholds: tuple[float, ...]
    masks: tuple[int, ...]
    values: tuple[float, ...]


class Reranker:
    """Scores candidates of one query by their features; higher is better, comparable within that query only.

    Args:
        names: features in the order of the columns. trees: the ensemble. about: how it was trained, as plain words.
    """

    def __init__(self, names: Sequence[str], trees: Sequence[Tree], about: Mapping[str, str] | None = None) -> None:
        self.names = tuple(names)
        self.trees = tuple(trees)
        self.about = dict(about or {})
        self.digest = digest(self.names)
        _check(self.names, self.trees)
        grown = [tree for tree in trees if tree.features]
        self._flat = sum(tree.values[0] for tree in trees if not tree.features)
        self._features = np.array([f for tree in grown for f in tree.features], dtype=np.intp)
        self._thresholds = _not_above([t for tree in grown for t in tree.thresholds])[:, None]
        leaves = max((len(tree.values) for tree in grown), default=0)
        self._width = next(width for most, width in _WIDTHS if leaves <= most)
        self._masks = np.array([m for tree in grown for m in tree.masks], np.uint32).astype(self._width)[:, None]
        self._starts = np.cumsum([0, *(len(tree.features) for tree in grown)])[:-1]
        self._first = (np.arange(len(grown)) * MAX_LEAVES)[:, None]
        self._values = np.zeros((len(grown), MAX_LEAVES), dtype=np.float64)
        for at, tree in enumerate(grown):
            self._values[at, : len(tree.values)] = tree.values

    @classmethod
    def load(cls, path: Path | None = None) -> Reranker | None:
        """The one that ships with mog (read once), or that of a file; None when there is no such file.

        Raises:
            StoreDamaged: the file is not what ``dumped`` writes.
        """
        return _shipped() if path is None else _read(path)

    def check(self, names: Sequence[str]) -> None:
        """Raises UsageError when a ranker makes other features than those this was trained on."""
        if tuple(names) != self.names:
            odd = sorted(set(names) ^ set(self.names))
            what = f"the reranker was trained on other features ({', '.join(odd[:5]) or 'in another order'})"
            raise UsageError(what, where=_FILE.name, way_out="set rerank: false, or run python -m benchmarks.train_reranker")

    def score(self, matrix: NDArray[np.floating[Any]], names: Sequence[str] | None = None) -> Floats:
        """Score of each row.

        Args:
            matrix: candidates x features, finite, read as single floats. names: its columns; checked when given.

        Raises:
            UsageError: other features, by name or by number.
        """
        if names is not None:
            self.check(names)
        if matrix.ndim != 2 or matrix.shape[1] != len(self.names):
            what = f"{matrix.shape} is not candidates x {len(self.names)} features"
            raise UsageError(what, where="reranker", way_out="pass what Ranker.features() made")
        if not len(self._starts) or not len(matrix):
            return np.full(len(matrix), self._flat)
        failed = np.ascontiguousarray(matrix.T, np.float32)[self._features] > self._thresholds
        masks = np.where(failed, self._masks, np.iinfo(self._width).max).astype(self._width, copy=False)
        left = np.bitwise_and.reduceat(masks, self._starts, axis=0)
        lowest = left & (~left + self._width(1))
        leaf = np.frexp(lowest.astype(np.float32))[1] - 1  # a power of two, which any float holds exactly
        return np.asarray(self._values.take(leaf + self._first).sum(axis=0) + self._flat)


def _not_above(thresholds: Sequence[float]) -> NDArray[np.float32]:
    """Each as the largest single float that is not above it: for single floats, to be above one is to be above the other."""
    exact = np.array(thresholds, np.float64)
    near = exact.astype(np.float32)
    return np.where(near > exact, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float32)


def digest(names: Sequence[str]) -> str:
    """Digest of feature names in order (16 hex digits)."""
    return hashlib.blake2b("\0".join(names).encode(), digest_size=8).hexdigest()


def dumped(model: Reranker) -> str:
    """The file of a model: JSON, one line a tree; numbers shortest that read back to themselves."""
    head = {
        "format": FORMAT, "version": VERSION, "features": list(model.names), "digest": model.digest, "about": model.about,
    }  # fmt: skip
    rows = [json.dumps([tree.features, tree.thresholds, tree.masks, tree.values], separators=(",", ":")) for tree in model.trees]
    return json.dumps(head, indent=1)[:-2] + ',\n "trees": [\n' + ",\n".join(rows) + "\n]}\n"


@cache
def _shipped() -> Reranker | None:
    return _read(_FILE)


def _read(path: Path) -> Reranker | None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    way_out = "install mog again, or set rerank: false"
    if len(data) > MAX_BYTES:
        raise StoreDamaged("the reranker's file is too large", where=str(path), way_out=way_out)
    try:
        return _model(json.loads(data))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise StoreDamaged(f"no reranker: {error}", where=str(path), way_out=way_out) from error


def _model(read: Mapping[str, Any]) -> Reranker:
    if read["format"] != FORMAT or read["version"] != VERSION:
        raise ValueError(f"format {read['format']} {read['version']}")
    if len(read["trees"]) > MAX_TREES:
        raise ValueError("too many trees")
    trees = [Tree(tuple(f), tuple(map(float, t)), tuple(m), tuple(map(float, v))) for f, t, m, v in read["trees"]]
    model = Reranker(read["features"], trees, read["about"])
    if model.digest != read["digest"]:
        raise ValueError("the digest is not that of the features")
    return model


def _check(names: Sequence[str], trees: Sequence[Tree]) -> None:
    """Raises ValueError for trees that cannot be walked: every leaf reachable by masks, features that exist, finite numbers."""
    for tree in trees:
        nodes = len(tree.features)
        if not (nodes == len(tree.thresholds) == len(tree.masks) == len(tree.values) - 1 < MAX_LEAVES):
            raise ValueError("a tree with the wrong number of leaves")
        if any(not 0 <= feature < len(names) for feature in tree.features):
            raise ValueError("a tree that tests a feature which does not exist")
        # the last leaf is what remains when every test failed, so no mask may take it away
        if any(not 0 <= mask <= _ALL or not mask >> nodes & 1 for mask in tree.masks):
            raise ValueError("a tree whose masks leave no leaf")
        if not np.isfinite(np.array([*tree.thresholds, *tree.values])).all():
            raise ValueError("a tree with a number that is none")
