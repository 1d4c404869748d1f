"""What stands first: names, mentions, fields, kinds; the same each time; and what a reranker may change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from ranking_kit import corpus_of, names, packed

from mog.engine.retrieval import terms
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.mentions import KINDS
from mog.engine.retrieval.rank import FEATURES, SHORT, Ranker
from mog.engine.retrieval.weights import RANK

FILES = {
    "shop/__init__.py": "",
    "shop/tokens.py": '''"""Refresh tokens."""


class TokenStore:
    """Keeps refresh tokens."""

    def save(self, token):
        """Write a token down."""
        return self.disk.write(token)

    def verify_token(self, token):
        """Whether a refresh token is valid."""
        return token in self.known
''',
    "shop/models.py": '''"""Models."""


class Model:
    def save(self):
        """Save the row."""
        return insert(self)

    def clean(self):
        return self


def verify_token_of_model(model):
    return model
''',
    "shop/util/paths.py": """def join_parts(parts):
    return '/'.join(parts)


def проверка_токена(токен):
    return токен
""",
    "shop/util/__init__.py": "",
    "lib/paths.py": "def join_parts(parts):\n    return parts\n",
    "tests/test_tokens.py": "def test_verify_token():\n    assert verify_token(refresh_token)\n",
    "docs/tokens.md": "Refresh tokens are validated by verify_token. 認証トークンの検証",
}


@pytest.fixture(scope="module")
def ranker() -> Ranker:
    return Ranker(corpus_of(FILES))


def first(ranker: Ranker, query: str, count: int = 1) -> list[str]:
    return names(ranker.corpus, FILES, ranker.rank(query, limit=count))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("verify_token", "shop/tokens.py::TokenStore.verify_token"), ("Model.save", "shop/models.py::Model.save"),
        ("TokenStore", "shop/tokens.py::TokenStore"), ("TokenStore.save", "shop/tokens.py::TokenStore.save"),
        ("shop/util/paths.py", "shop/util/paths.py"), ("paths.py", "lib/paths.py"), ("`Model`", "shop/models.py::Model"),
        ("sym:shop/models.py::Model.clean", "shop/models.py::Model.clean"), ("Model::clean", "shop/models.py::Model.clean"),
        ("sym:shop/util/paths.py::join_parts", "shop/util/paths.py::join_parts"), ("save()", "shop/models.py::Model.save"),
        ("docs/tokens.md", "docs/tokens.md"), ("проверка_токена", "shop/util/paths.py::проверка_токена"),
    ],
)  # fmt: skip
def test_a_name_puts_the_thing_itself_first(ranker: Ranker, query: str, expected: str) -> None:
    assert first(ranker, query) == [expected]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how are refresh tokens validated", "shop/tokens.py::TokenStore.verify_token"),
        ("join the parts of a path", "shop/util/paths.py::join_parts"),
        ("where does TokenStore.save write", "shop/tokens.py::TokenStore.save"),
        ("токен проверка", "shop/util/paths.py::проверка_токена"), ("検証", "docs/tokens.md"),
        ("parts broken\nsee shop/util/paths.py", "shop/util/paths.py::join_parts"),
        ("parts broken\nfrom lib.paths import join_parts", "lib/paths.py::join_parts"),
        ('save fails\n  File "/srv/app/shop/models.py", line 5, in save\n', "shop/models.py::Model.save"),
        ("it breaks at shop/models.py:9 each time", "shop/models.py::Model.clean"),
    ],
)  # fmt: skip
def test_words_and_mentions_find_what_is_meant(ranker: Ranker, query: str, expected: str) -> None:
    assert first(ranker, query) == [expected]


def test_tests_stand_below_unless_they_are_asked_for(ranker: Ranker) -> None:
    plain = names(ranker.corpus, FILES, ranker.rank("verify refresh token"))
    asked = names(ranker.corpus, FILES, ranker.rank("test for verify refresh token"))
    assert asked[0] == "tests/test_tokens.py::test_verify_token"
    assert plain.index("tests/test_tokens.py::test_verify_token") > 0


def test_scores_fall_and_parts_add_up(ranker: Ranker) -> None:
    for query in ("verify refresh token", "Model.save", "parts in shop/util/paths.py"):
        ranked = ranker.rank(query)
        assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
        for one in ranked:
            assert sum(one.parts.values()) == pytest.approx(one.score, rel=1e-4)
            assert set(one.parts) <= {"words", "file", "owner", *KINDS}


def test_files_are_ranked_by_their_words_and_best_document(ranker: Ranker) -> None:
    files = ranker.files("how are refresh tokens verified by the store")
    assert ranker.corpus.paths[files[0][0]] == "shop/tokens.py"
    assert [score for _, score in files] == sorted((score for _, score in files), reverse=True)


def test_accept_leaves_out_everything_else(ranker: Ranker) -> None:
    functions = np.isin(ranker.corpus.kinds, (terms.FUNCTION, terms.METHOD))
    docs = [one.doc for one in ranker.rank("refresh tokens", accept=functions)]
    assert docs
    assert functions[docs].all()
    assert ranker.rank("refresh tokens", accept=np.zeros(ranker.corpus.size, bool)) == []


def test_equal_documents_stand_in_the_order_of_their_paths() -> None:
    files = dict.fromkeys(("c.py", "a.py", "b.py"), "def same(a):\n    return a\n")
    ranker = Ranker(Corpus.build((path, packed(path, text)) for path, text in files.items()))
    expected = ["a.py::same", "b.py::same", "c.py::same"]
    assert [name for name in names(ranker.corpus, files, ranker.rank("same a")) if "::" in name] == expected


MENTIONED = ("save", "Model.save", "`token`", "shop/", "paths.py:3", "\0", "from shop.models import Model")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200) | st.lists(st.sampled_from(MENTIONED)).map(" ".join))
def test_any_question_is_answered_and_the_same_twice(ranker: Ranker, query: str) -> None:
    assert ranker.rank(query) == Ranker(ranker.corpus).rank(query)
    assert ranker.files(query) == ranker.files(query)
    assert np.isfinite(ranker.features(query)[1]).all()


@pytest.mark.parametrize("query", ["a" * 100_000, "\0" * 1_000, "\ud800 token", "token " * 20_000, "::", "/", ".", "", "`"])
def test_hostile_questions_are_answered(ranker: Ranker, query: str) -> None:
    assert len(ranker.rank(query, limit=5)) <= 5


def test_of_too_many_terms_the_rarest_are_looked_up(ranker: Ranker) -> None:
    many = " ".join(f"word{at}" for at in range(2_000))
    assert first(ranker, f"{many} verify_token")[0].endswith("verify_token")


def test_features_are_named_and_belong_to_the_documents_ranked(ranker: Ranker) -> None:
    query = "how are refresh tokens validated by `verify_token`"
    docs, matrix, columns = ranker.features(query)
    assert columns == FEATURES
    assert len(set(columns)) == len(columns)
    assert matrix.shape == (len(docs), len(columns))
    assert matrix.dtype == np.float32
    assert docs.tolist() == [one.doc for one in ranker.rank(query, limit=len(docs))]
    row = dict(zip(columns, matrix[0].tolist(), strict=True))
    assert row["says_name"] > 0
    assert row["is_method"] == 1
    assert row["rank"] == 0


def test_features_do_not_depend_on_the_order_or_company_of_the_documents(ranker: Ranker) -> None:
    docs, matrix, columns = ranker.features("refresh token save", limit=20)
    fewer, part, _ = ranker.features("refresh token save", limit=4)
    alone = [at for at, name in enumerate(columns) if name not in ("rank", "rank_in_file", "best_in_file", "file_best")]
    assert fewer.tolist() == docs[:4].tolist()
    assert np.allclose(part[:, alone], matrix[:4, alone], atol=1e-4)


class Backwards:
    """A reranker that turns the order round."""

    def score(self, matrix: NDArray[Any]) -> NDArray[Any]:
        return np.arange(len(matrix), dtype=float)


def _kinds(ranker: Ranker, docs: Sequence[int]) -> list[bool]:
    return [bool(kind in (terms.FUNCTION, terms.METHOD)) for kind in ranker.corpus.kinds[list(docs)]]


def test_a_reranker_orders_functions_among_their_own_places(ranker: Ranker) -> None:
    query = "refresh token save of models" + " and again" * (SHORT // 2)
    plain, turned = ranker.rank(query), ranker.with_reranker(Backwards()).rank(query)
    before, after = [one.doc for one in plain], [one.doc for one in turned]
    runs = _kinds(ranker, before)
    assert runs == _kinds(ranker, after)
    functions = [doc for doc, run in zip(before, runs, strict=True) if run]
    assert [doc for doc in after if doc not in functions] == [doc for doc in before if doc not in functions]
    assert [doc for doc in after if doc in functions] == functions[::-1]
    assert [one.score for one in turned] == [one.score for one in plain]
    assert all(one.parts["rerank"] == one.score for one, run in zip(turned, runs, strict=True) if run)


@pytest.mark.parametrize("query", ["verify_token", "refresh token save of models", "token " * (SHORT - 1)])
def test_a_question_that_is_a_name_or_short_is_not_reranked(ranker: Ranker, query: str) -> None:
    assert ranker.with_reranker(Backwards()).rank(query) == ranker.rank(query)


def test_every_kind_of_document_and_mention_has_a_weight() -> None:
    assert set(RANK.kinds) == set(terms.KINDS)
    assert set(RANK.mentions) == set(KINDS)
    assert set(RANK.fields) == set(RANK.b) == {terms.FIELDS[field] for field in range(1, len(terms.FIELDS))}
