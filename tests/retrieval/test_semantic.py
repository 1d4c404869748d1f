"""Embeddings as a tie-breaker: off unless asked for, light, said, and never across two spaces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from context_kit import repository
from hypothesis import given
from hypothesis import strategies as st

from mog.engine.config import EngineConfig
from mog.engine.errors import ProviderError, UsageError
from mog.engine.retrieval import embed, semantic
from mog.engine.retrieval.embed import Embedder, Space, Vectors
from mog.engine.retrieval.semantic import TieBreaker, text_of
from mog.engine.workspace import Workspace

WORDS = ("token", "rotate", "draw", "round", "store", "shape")


class Coded:
    def __init__(self, ids: list[int]) -> None:
        self.ids = ids


class Tokenizer:
    """Known words by number."""

    def encode_batch(self, texts: list[str], add_special_tokens: bool) -> list[Coded]:
        return [Coded([WORDS.index(word) for word in text.split() if word in WORDS]) for text in texts]


def embedder(model: str = "made up", digest: str = "0" * 16) -> Embedder:
    return Embedder(Space(model, len(WORDS), digest), np.eye(len(WORDS), dtype=np.float32), Tokenizer())


def test_of_equal_scores_the_name_that_is_nearer_in_meaning_comes_first() -> None:
    added = TieBreaker(embedder()).added("rotate the token", ["drawRound", "rotate_token"], [3.0, 2.99])
    assert 3.0 + added[0] > 2.99 + added[1] - 0.01 and added[1] > 0 > added[0]


@given(st.lists(st.tuples(st.sampled_from(["token", "draw_round", "Shape.draw", ""]), st.floats(0, 1e6)), max_size=30))
def test_it_stays_light_whatever_the_weight_asked_for(found: list[tuple[str, float]]) -> None:
    scores = [score for _, score in found]
    added = TieBreaker(embedder(), weight=50.0).added("draw a round shape", [name for name, _ in found], scores)
    assert len(added) == len(found)
    if found:
        bound = embed.MAX_WEIGHT * float(np.std(scores)) * len(found) ** 0.5
        assert max(map(abs, added)) <= bound + 1e-6


def test_vectors_of_two_models_or_two_files_are_never_compared() -> None:
    one = embedder().encode(["token"])
    for other in (embedder("another"), embedder(digest="1" * 16)):
        with pytest.raises(UsageError, match="cannot be compared"):
            one.similarity(other.encode(["token"]))
    assert one.similarity(Vectors(one.space, one.rows)).shape == (1, 1)


def test_words_of_a_name_are_compared_not_its_spelling() -> None:
    assert text_of("HTTPServer.parse_request2") == "http server parse request 2"


def test_a_search_says_that_embeddings_took_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "load", embedder)
    with repository(tmp_path, config=EngineConfig(embeddings="on")) as workspace:
        answer = workspace.context.ranked("token store")
        pack = workspace.context.search("token store", budget=400)
    note = "ties broken by made up, 6 dimensions"
    assert note in answer.boundary.notes and note in pack.boundary.notes
    assert all("meaning" in hit.parts for hit in answer.hits)
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)


def test_without_the_extra_the_way_out_is_named_and_nothing_else_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "load", lambda: None)
    with repository(tmp_path, config=EngineConfig(embeddings="on")) as workspace, pytest.raises(UsageError, match="not installed"):
        workspace.context.ranked("token")
    with Workspace.open(tmp_path) as workspace:
        assert not workspace.context.ranked("token").boundary.notes


@pytest.mark.parametrize("data", [b"", b"\0" * 8, (20).to_bytes(8, "little") + b'{"x": {"dtype": 1}}  '])
def test_damaged_weights_are_a_fault_of_the_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    package = tmp_path / "wordllama"
    (package / "weights").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / embed._WEIGHTS).write_bytes(data)
    spec = type("Spec", (), {"origin": str(package / "__init__.py")})
    monkeypatch.setattr(embed.importlib.util, "find_spec", lambda name: spec)
    embed.load.cache_clear()
    with pytest.raises(ProviderError, match="cannot be read"):
        embed.load()
    embed.load.cache_clear()
    assert semantic.WAY_OUT
