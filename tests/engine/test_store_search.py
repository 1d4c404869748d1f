"""Search: the right node first, any query survives, kinds filter, common words stay bounded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_kit import create, node

from mog.engine.store import fts
from mog.engine.store.fts import FtsRow, split_identifier
from mog.engine.store.index_db import IndexDB

ROWS = [
    (
        node(1, "verify_token"),
        FtsRow(1, "verify_token", "", "src/auth/mw.py", "def verify_token(raw)", "Check it.", ""),
    ),
    (node(2, "TokenStore", kind="class"), FtsRow(2, "TokenStore", "", "src/auth/store.py", "class TokenStore", "", "")),
    (
        node(3, "save", kind="method"),
        FtsRow(3, "save", "TokenStore", "src/auth/store.py", "def save(self)", "", "token"),
    ),
    (node(4, "save", kind="method"), FtsRow(4, "save", "Draft", "src/draft.py", "def save(self)", "", "")),
    (node(5, "other"), FtsRow(5, "other", "", "src/x.py", "", "Mentions verify and token far apart.", "café")),
    (node(6, "HTTPServer", kind="class"), FtsRow(6, "HTTPServer", "", "src/net.py", "", "", "")),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexDB]:
    with create(tmp_path_factory.mktemp("search")) as db:
        with db.transaction():
            db.nodes_insert([row for row, _ in ROWS])
            db.fts_put(text for _, text in ROWS)
        yield db


def keys(db: IndexDB, query: str, limit: int = 20, kinds: tuple[str, ...] = ()) -> list[int]:
    return [key for key, _ in db.search(query, limit, kinds)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("verify_token", 1),
        ("verify token", 1),
        ("verifyToken", 1),
        ("TokenStore", 2),
        ("tokenstore", 2),
        ("token store", 2),
        ("TokenStore.save", 3),
        ("Draft.save", 4),
        ("http server", 6),
        ("cafe", 5),
        ("veri", 1),
    ],
)
def test_what_is_meant_comes_first(index: IndexDB, query: str, first: int) -> None:
    assert keys(index, query)[0] == first


def test_kinds_and_limit_are_kept(index: IndexDB) -> None:
    assert set(keys(index, "token")) == {1, 2, 3, 5}
    assert keys(index, "token", kinds=("class",)) == [2]
    assert keys(index, "token", kinds=("no such kind",)) == []
    assert len(keys(index, "token", limit=2)) == 2
    assert keys(index, "token", limit=0) == []
    assert index.search_total("token") == 4


def test_scores_fall_and_ties_go_by_key(index: IndexDB) -> None:
    found = index.search("token")
    assert found == sorted(found, key=lambda hit: (-hit[1], hit[0]))


def test_replaced_and_deleted_rows_are_not_found(tmp_path: Path) -> None:
    with create(tmp_path) as db:
        with db.transaction():
            db.nodes_insert([node(1), node(2)])
            db.fts_put([FtsRow(1, "n1", body="zebra"), FtsRow(2, "n2", body="zebra")])
            db.fts_put([FtsRow(1, "n1", body="okapi")])
            db.fts_delete([2, 99])
            db.fts_optimize()
        assert keys(db, "zebra") == []
        assert keys(db, "okapi") == [1]


def test_words_more_common_than_can_be_ranked_still_find_names_first(tmp_path: Path) -> None:
    count = fts.RANKED + 300
    with create(tmp_path) as db:
        with db.transaction():
            db.nodes_insert([node(key) for key in range(1, count + 1)])
            db.nodes_update([node(count, "common"), node(count - 1, "common_part")])
            db.fts_put(FtsRow(key, db.node(key).name, body="common text") for key in range(1, count + 1))  # type: ignore[union-attr]
        found = keys(db, "common", limit=10)
        assert found[:2] == [count, count - 1]
        assert len(found) == 10
        assert len(keys(db, "common text", limit=10)) == 10
        assert db.search_total("common") == count


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60) | st.text(alphabet="\"'*^:(){}-+ \x00ANDORNEAT_t.", max_size=30))
def test_no_query_breaks_the_search(index: IndexDB, query: str) -> None:
    hits = index.search(query, 5)
    assert len(hits) <= 5
    assert all(1 <= key <= len(ROWS) for key, _ in hits)
    assert index.search_total(query) <= len(ROWS)


@pytest.mark.parametrize(
    "query", ["name:token", "token NOT save", "NEAR(token save)", '"token', "token*", "^token", "-token"]
)
def test_operators_are_words(index: IndexDB, query: str) -> None:
    assert keys(index, query)


def test_very_long_queries_are_cut(index: IndexDB) -> None:
    assert index.search("token " * 10_000)
    assert index.search("x" * 100_000) == []


def test_identifiers_split_as_people_read_them() -> None:
    assert split_identifier("HTTPServer2_run") == ["http", "server", "2", "run"]
    assert split_identifier("getÄpfelHTTPGröße2") == ["get", "äpfel", "http", "größe", "2"]
    assert split_identifier("日本語") == ["日本語"]
    assert split_identifier("__init__") == ["init"]
    assert split_identifier("___") == []
