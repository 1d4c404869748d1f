"""A question in, a bounded pack out: what is found, what it costs, what never enters, how the rest is had."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from context_kit import FILES, HUNTER, SECRET, repository
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.errors import NotFound, PolicyDenied, StoreDamaged, UsageError
from mog.engine.model import Freshness
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Zoom
from mog.engine.retrieval.pack import printed
from mog.engine.workspace import Workspace


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with repository(tmp_path_factory.mktemp("shop")) as workspace:
        yield workspace


def test_a_question_finds_the_function_that_answers_it(shop: Workspace) -> None:
    made = shop.context.search("how are refresh tokens validated", budget=1_000)
    ids = [item.id for item in made.items]
    assert "sym:shop/tokens.py::TokenStore" in ids[:3] or any("validate" in one for one in ids[:3])
    assert all(item.freshness is Freshness.fresh and item.label == "repo" and item.provenance for item in made.items)


@pytest.mark.parametrize(
    "name", ["TokenStore.validate#3", "round_cents", "shop/money.py", "sym:shop/tokens.py::rotate"]
)
def test_a_name_puts_what_it_names_first(shop: Workspace, name: str) -> None:
    wanted = shop.find(name).locator
    assert shop.context.ranked(name).hits[0].node.locator == wanted


def test_code_outranks_the_tests_of_it_until_tests_are_asked_for(shop: Workspace) -> None:
    def place(query: str) -> int:
        hits = [hit.node.path for hit in shop.context.ranked(query).hits]
        return hits.index("tests/test_tokens.py")

    assert place("rotate a token") > 0
    assert place("test that rotates a token") == 0


def test_what_only_edges_found_comes_with_its_path(shop: Workspace) -> None:
    made = shop.context.search("half even", budget=4_000, zoom=Zoom.L1)
    led = {item.id: item.path for item in made.items if item.path}
    assert "sym:shop/tokens.py::TokenStore.validate#3" in led
    hop = led["sym:shop/tokens.py::TokenStore.validate#3"][-1]
    assert (hop.node.locator, hop.kind, hop.outgoing) == ("sym:shop/money.py::round_cents", "calls", False)
    alone = shop.context.search("half even", budget=4_000, zoom=Zoom.L1, spread="off")
    assert not any(item.path for item in alone.items)


def test_the_parts_of_a_score_add_up_to_it(shop: Workspace) -> None:
    made = shop.context.search("refresh token", budget=4_000, rerank=False)
    assert made.items and all(sum(item.parts.values()) == pytest.approx(item.score) for item in made.items)


@settings(max_examples=60, deadline=None)
@given(
    query=st.one_of(
        st.text(min_size=1, max_size=40), st.sampled_from(["token", "round cents draw", "Свет", "x" * 5_000])
    ),
    budget=st.integers(64, 3_000),
    zoom=st.sampled_from([None, *Zoom]),
)
def test_no_pack_exceeds_its_budget_and_everything_found_is_accounted_for(
    shop: Workspace, query: str, budget: int, zoom: Zoom | None
) -> None:
    if not any(char.isalnum() for char in query):
        with pytest.raises(UsageError):
            shop.context.search(query, budget=budget, zoom=zoom)
        return
    made = shop.context.search(query, budget=budget, zoom=zoom)
    text = "".join(map(printed, made.items))
    assert estimator.tokens(text) == made.tokens <= budget
    assert estimator.size(text) == made.size
    assert len(made.items) + sum(made.omitted.values()) == made.found
    assert SECRET not in text and HUNTER not in text


def test_a_gated_file_and_symbol_give_their_name_and_nothing_else(shop: Workspace) -> None:
    for target in (".env", "shop/keys.py::PASSWORD", "shop/keys.py::Keys"):
        for zoom in (Zoom.L1, Zoom.L2, Zoom.L3):
            made = shop.context.expand(target, zoom=zoom)
            assert not made.items and made.omitted == {"gated": 1}
    whole = shop.context.expand("file:shop/keys.py", zoom=Zoom.L3)
    assert HUNTER not in "".join(map(printed, whole.items)) and "def plain" in whole.items[0].text
    stored = b"".join(path.read_bytes() for path in (shop.mog_dir / "terms").iterdir())
    assert SECRET.encode() not in stored and HUNTER.encode() not in stored
    made = shop.context.search(f"password plain {HUNTER}", budget=4_000, zoom=Zoom.L2)
    assert HUNTER not in "".join(map(printed, made.items)) and made.omitted["gated"] >= 2


def test_pages_show_every_result_once(shop: Workspace) -> None:
    seen: list[str] = []
    made = shop.context.search("token store draw round", budget=120, zoom=Zoom.L1)
    first = made.found
    for _ in range(60):
        seen += [item.id for item in made.items]
        if not made.page:
            break
        made = shop.context.search(made.page, budget=120, zoom=Zoom.L1)
    assert not made.page
    assert len(seen) == len(set(seen)) > 5
    assert len(seen) <= first


def test_a_handle_keeps_a_query_and_places_and_asks_anew(shop: Workspace, tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as workspace:
        handle = workspace.context.create("round cents", ["rotate"])
        assert handle == workspace.context.create("round cents", ["rotate"])
        made = workspace.context.search(handle.name, budget=2_000)
        assert made.items[0].id == "sym:shop/tokens.py::rotate" and made.items[0].pinned
        (workspace.root / "shop/tokens.py").unlink()
        workspace.index(workers=1)
        later = workspace.context.load(handle.name)
        assert "sym:shop/tokens.py::rotate" not in [item.id for item in later.items]
        assert any("no longer in the index" in warning for warning in later.warnings)
        with pytest.raises(NotFound):
            workspace.context.load("ctx://" + "0" * 32)
        with pytest.raises(UsageError):
            workspace.context.load("ctx://../../etc/passwd")
        with pytest.raises(UsageError):
            workspace.context.create("x", ["round_cents"] * 33)


@pytest.mark.parametrize("begun", ["token", "handle"])
def test_the_next_page_is_asked_the_way_the_first_one_was(shop: Workspace, begun: str) -> None:
    query = "token" if begun == "token" else shop.context.create("token").name
    made = shop.context.search(query, budget=64, zoom=Zoom.L1, kinds=("function", "method"), rerank=False, spread="off")
    pages = [made]
    while pages[-1].page and len(pages) < 50:
        pages.append(shop.context.search(pages[-1].page, budget=64))
    shown = [item for page in pages for item in page.items]
    assert len(pages) > 1 and {item.kind for item in shown} == {"function", "method"}
    assert {item.zoom for item in shown} <= {Zoom.L0, Zoom.L1}
    assert len({item.id for item in shown}) == len(shown)


@pytest.mark.parametrize("body", [
    '{"query": 1, "pinned": []}', "[]", "5", "[" * 9_000, '{"query": "a", "pinned": [], "zoom": 9}', "\xff",
    '{"query": "a", "pinned": [], "way": 1}',
])
def test_a_handle_that_somebody_else_wrote_is_refused(shop: Workspace, body: str) -> None:
    data = body.encode("latin-1")
    name = hashlib.blake2b(data, digest_size=16, person=b"mog.handle").hexdigest()
    shop.context.create("token")
    (shop.mog_dir / "handles" / name).write_bytes(data)
    with pytest.raises(StoreDamaged, match="damaged"):
        shop.context.search(f"ctx://{name}")


def test_a_query_with_a_credential_is_answered_and_kept_in_no_file(shop: Workspace) -> None:
    made = shop.context.search(f"token store draw round {SECRET}", budget=120, zoom=Zoom.L1)
    assert made.items and not made.page and "no handle for a next page" in made.warnings[-1]
    with pytest.raises(PolicyDenied):
        shop.context.create(f"why does {SECRET} fail")
    kept = b"".join(path.read_bytes() for path in shop.mog_dir.rglob("*") if path.is_file())
    assert SECRET.encode() not in kept


def test_an_answer_does_not_depend_on_a_disk_that_takes_nothing(tmp_path: Path) -> None:
    """Search terms and handles are kept for the next question; this one is answered without."""
    with repository(tmp_path) as workspace:
        for name in ("handles", "terms"):
            (workspace.mog_dir / name).write_text("in the way")
        made = workspace.context.search("token store draw round", budget=120, zoom=Zoom.L1)
        assert made.items and not made.page and "cannot be kept" in made.warnings[-1]
        with pytest.raises(StoreDamaged, match="cannot be kept"):
            workspace.context.create("token")


def test_the_total_counts_everything_that_answers_to_a_word(shop: Workspace) -> None:
    made = shop.context.ranked("token", limit=2)
    every = shop.context.ranked("token", limit=500)
    assert len(made.hits) == 2 and made.total == every.total == len(every.hits) > 5
    assert made.boundary.omitted == made.total - 2 and every.boundary.omitted == 0
    assert {hit.node.kind for hit in shop.context.ranked("token", kinds=("class",)).hits} == {"class"}


def test_edits_are_found_after_the_next_index_and_text_comes_from_the_disk(tmp_path: Path) -> None:
    with repository(tmp_path) as workspace:
        workspace.context.ranked("token")
        path = workspace.root / "shop/money.py"
        path.write_text(path.read_text() + "\n\ndef zebra_crossing():\n    return 2\n")
        stale = workspace.context.expand("round_cents")
        assert stale.items[0].freshness is Freshness.drifted and "changed since" in stale.warnings[0]
        workspace.index(workers=1)
        assert workspace.context.ranked("zebra").hits[0].node.qual == "zebra_crossing"


def test_an_expanded_function_shows_its_callers_and_callees(shop: Workspace) -> None:
    text = shop.context.expand("TokenStore.validate#3").items[0].text
    assert "Longer words that do not belong to the summary." in text
    assert "# called by:" in text and "def rotate(store: TokenStore, token: str) -> str" in text
    assert "# calls:" in text and "def round_cents(amount: int, *, places: int = 2) -> int" in text


def test_blame_names_commits_and_days_and_no_people(shop: Workspace) -> None:
    text = shop.context.expand("file:shop/money.py", zoom=Zoom.L3).items[0].text
    first = text.splitlines()[0]
    assert first[8:10] == " 2" and '"""Money."""' in first and "localhost" not in text


def test_a_process_that_may_write_nothing_finds_and_pages_all_the_same(tmp_path: Path) -> None:
    """Words and handles are then its own: nothing appears below ``.mog``, and a second process knows none of them."""
    repository(tmp_path).close()

    def below() -> set[Path]:
        return set((tmp_path / ".mog").rglob("*"))

    before = below()
    with Workspace.open(tmp_path, caches=False) as workspace:
        made = workspace.context.search("token store draw round", budget=120, zoom=Zoom.L1)
        assert made.page and workspace.context.search(made.page, budget=120).items
        handle = workspace.context.create("token").name
        assert workspace.context.load(handle).items
        with Workspace.open(tmp_path) as other, pytest.raises(NotFound):
            other.context.load(handle)
        assert not {path for path in below() - before if path.parts[-2] in ("terms", "handles")}
