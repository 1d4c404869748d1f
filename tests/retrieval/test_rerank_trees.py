"""The reranker: walking its trees, reading and refusing its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.retrieval import rerank
from mog.engine.retrieval.rerank import Reranker, Tree

NAMES = ("a", "b", "c")


@st.composite
def grown(draw: st.DrawFn) -> tuple[Tree, Any]:
    """A tree as masks, and the same as nested tuples (feature, threshold, left, right) with floats as leaves."""
    counter = [0]

    def node(depth: int) -> Any:
        counter[0] += 1
        if depth == 0 or counter[0] > 20 or draw(st.integers(0, 3)) == 0:
            return float(draw(st.integers(-9, 9)))
        return (draw(st.integers(0, 2)), float(draw(st.integers(-3, 3))), node(depth - 1), node(depth - 1))

    nested = node(4)
    features: list[int] = []
    thresholds: list[float] = []
    masks: list[int] = []
    values: list[float] = []

    def flatten(one: Any) -> tuple[int, int]:
        if isinstance(one, float):
            values.append(one)
            return len(values) - 1, len(values)
        at = len(features)
        features.append(one[0])
        thresholds.append(one[1])
        masks.append(0)
        first, middle = flatten(one[2])
        _, last = flatten(one[3])
        masks[at] = 0xFFFFFFFF ^ ((1 << middle) - (1 << first))
        return first, last

    flatten(nested)
    return Tree(tuple(features), tuple(thresholds), tuple(masks), tuple(values)), nested


def walked(nested: Any, row: np.ndarray) -> float:
    while not isinstance(nested, float):
        feature, threshold, left, right = nested
        nested = left if row[feature] <= threshold else right
    return nested


@settings(max_examples=60, deadline=None)
@given(st.lists(grown(), min_size=1, max_size=6), st.integers(0, 30), st.integers(0, 99))
def test_masks_find_the_leaf_that_walking_finds(trees: list[tuple[Tree, Any]], rows: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).integers(-4, 5, (rows, 3)).astype(np.float32)
    model = Reranker(NAMES, [tree for tree, _ in trees])
    expected = [sum(walked(nested, row) for _, nested in trees) for row in matrix]
    assert model.score(matrix).tolist() == pytest.approx(expected)


TREE = Tree((1,), (0.5,), (0xFFFFFFFE,), (1.0, 2.0))


def test_a_value_at_the_threshold_passes_the_test() -> None:
    model = Reranker(NAMES, [TREE])
    assert model.score(np.array([[0, 0.5, 0], [0, 0.5001, 0]], np.float32)).tolist() == [1.0, 2.0]


def test_a_model_that_is_written_reads_back_and_answers_the_same(tmp_path: Path) -> None:
    model = Reranker(NAMES, [TREE, Tree((), (), (), (0.1,))], {"trained": "by hand"})
    path = tmp_path / "model.json"
    path.write_text(rerank.dumped(model), encoding="utf-8")
    again = Reranker.load(path)
    assert again is not None
    assert (again.names, again.trees, again.about) == (model.names, model.trees, model.about)
    matrix = np.zeros((2, 3), np.float32)
    assert again.score(matrix).tolist() == model.score(matrix).tolist()
    assert Reranker.load(tmp_path / "none.json") is None


def test_other_features_are_refused_by_name_and_by_number() -> None:
    model = Reranker(NAMES, [TREE])
    model.check(NAMES)
    with pytest.raises(UsageError, match="other features"):
        model.check(("a", "b", "d"))
    with pytest.raises(UsageError, match="another order"):
        model.score(np.zeros((1, 3), np.float32), ("b", "a", "c"))
    with pytest.raises(UsageError, match="candidates x 3"):
        model.score(np.zeros((1, 4), np.float32))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda read: read.update(format="pickle"),
        lambda read: read.update(version=2),
        lambda read: read.update(digest="0" * 16),
        lambda read: read.pop("features"),
        lambda read: read["trees"][0][0].append(9),
        lambda read: read["trees"][0].__setitem__(0, [7]),
        lambda read: read["trees"][0].__setitem__(2, [0]),
        lambda read: read["trees"][0].__setitem__(3, [1.0, float("nan")]),
        lambda read: read.update(trees=[1, 2]),
    ],
)
def test_a_file_that_cannot_be_walked_is_refused(tmp_path: Path, spoil: Any) -> None:
    read = json.loads(rerank.dumped(Reranker(NAMES, [TREE])))
    spoil(read)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(read), encoding="utf-8")
    with pytest.raises(StoreDamaged) as refused:
        Reranker.load(path)
    assert "rerank: false" in refused.value.way_out


def test_what_is_no_json_or_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(StoreDamaged):
        Reranker.load(path)
    path.write_bytes(b" " * (rerank.MAX_BYTES + 1))
    with pytest.raises(StoreDamaged, match="too large"):
        Reranker.load(path)


def test_the_one_that_ships_fits_the_ranker_of_this_version() -> None:
    from mog.engine.retrieval.rank import FEATURES

    model = Reranker.load()
    assert model is not None
    model.check(FEATURES)
    assert len(rerank.dumped(model)) < rerank.MAX_BYTES
