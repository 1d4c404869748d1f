"""Catalog, prompt pack and scope: Mozaiks' fields, bounded, the same every time, never aliases, and no right to edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from context_kit import HUNTER, SECRET, repository

from mog.app import plain_context, present_context
from mog.engine.retrieval import shapes
from mog.engine.workspace import Workspace

CATALOG = (
    "present graph_id app_id stale_status graph_hash node_counts edge_counts file_count file_tree request_keywords"
    " candidate_files matched_nodes matched_edges semantic_annotation_candidates scan_health warnings"
)
PACK = (
    "pack_kind present status reason source graph_id app_id stale_status graph_hash summary relevant_paths matched_nodes"
    " matched_edges semantic_annotation_targets warnings"
)
SCOPE = (
    "present graph_id app_id stale_status selected_file_paths selected_scope related_file_paths related_nodes related_edges"
    " semantic_annotation_request request_keywords"
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with repository(tmp_path_factory.mktemp("shapes")) as workspace:
        yield workspace


@pytest.mark.parametrize(("made", "wanted"), [(shapes.Catalog, CATALOG), (shapes.PromptPack, PACK), (shapes.Scope, SCOPE)])
def test_the_fields_are_those_of_mozaiks_and_a_few_more(made: type, wanted: str) -> None:
    assert set(wanted.split()) <= {one.name for one in fields(made)}


def test_a_catalog_says_what_there_is_and_why_a_file_is_a_candidate(shop: Workspace) -> None:
    made = shop.context.catalog("validate a refresh token")
    assert made.present and made.stale_status == "current" and made.file_count == 8
    assert made.request_keywords == tuple(dict.fromkeys(made.request_keywords)) and made.node_counts["symbol"] > 10
    best = made.candidate_files[0]
    assert best.path in ("shop/tokens.py", "docs/tokens.md") and "token" in best.matched_terms and best.reasons
    assert {"shop/tokens.py"} <= {one.path for one in made.candidate_files}
    known = {one.node_id for one in made.matched_nodes}
    assert any(edge.source_node_id in known for edge in made.matched_edges)


def test_an_empty_request_gets_what_the_rest_leans_on(shop: Workspace) -> None:
    made = shop.context.catalog()
    assert made.present and made.request_keywords == () and made.file_tree
    assert shop.context.prompt_pack().status == "loaded"


def test_the_three_are_bounded_and_the_same_every_time(tmp_path: Path) -> None:
    files = {f"pkg/mod{n}.py": f"from pkg.mod{(n + 1) % 400} import f as g\n\n\ndef f():\n    return g()\n" for n in range(400)}
    with repository(tmp_path, files) as workspace:
        made = workspace.context.catalog("f g mod pkg " * 30)
        assert len(made.file_tree) == 160 and made.omitted["file_tree"] == made.file_count - 160
        assert len(made.request_keywords) <= 16 and len(made.candidate_files) == 12
        assert len(made.matched_nodes) == 20 and len(made.matched_edges) <= 30
        pack = workspace.context.prompt_pack("f g mod pkg")
        assert len(pack.relevant_paths) == 12 and len(pack.matched_nodes) == 12 and len(pack.matched_edges) <= 16
        assert len(pack.semantic_annotation_targets) <= 8 and len(pack.warnings) <= 8
        lines = plain_context.prompt(pack)
        assert len(lines) <= 2 + 1 + 5 + 12 + 12 + 8 + 8 + 6
        scope = workspace.context.scope([f"pkg/mod{n}.py" for n in range(100)])
        assert len(scope.selected_file_paths) == 64 and scope.warnings == ("36 more paths were not looked at",)
        assert len(scope.related_file_paths) <= 12 and len(scope.related_nodes) <= 40 and len(scope.related_edges) <= 60
    with Workspace.open(tmp_path) as again:
        assert again.context.catalog("f g mod pkg " * 30) == made
        assert again.context.prompt_pack("f g mod pkg") == pack
        assert again.context.scope([f"pkg/mod{n}.py" for n in range(100)]) == scope


def test_they_are_never_aliases(shop: Workspace) -> None:
    catalog, pack = shop.context.catalog("token"), shop.context.prompt_pack("token")
    keys = present_context.shape(catalog).keys(), present_context.shape(pack).keys()
    assert "file_tree" in keys[0] and "file_tree" not in keys[1] and "pack_kind" not in keys[0]


def test_a_proposed_path_that_is_not_there_becomes_a_question(shop: Workspace) -> None:
    made = shop.context.scope(["./shop//tokens.py", "shop/token.py", "../../etc/passwd", "shop", "money.py"])
    assert made.selected_file_paths == ("shop/tokens.py",) and not made.grants_edit
    questions = {one.path: one for one in made.clarifications}
    assert questions["shop/token.py"].nearest[0] == "shop/tokens.py"
    assert questions["etc/passwd"].nearest == ()
    assert "folder of" in questions["shop"].question and "shop/money.py" in questions["shop"].nearest
    assert questions["money.py"].nearest[0] == "shop/money.py"
    chosen = made.selected_scope["shop/tokens.py"]
    assert "TokenStore.known" in chosen.symbols and len(chosen.excerpt) <= 900
    assert "shop/money.py" in made.related_file_paths and "tests/test_tokens.py" in made.related_file_paths


def test_nothing_gated_enters_any_of_them(shop: Workspace) -> None:
    made = shop.context.scope([".env", "shop/keys.py"], "password")
    assert made.selected_scope[".env"].excerpt == "" and "def plain" in made.selected_scope["shop/keys.py"].excerpt
    for one in (made, shop.context.catalog("password token"), shop.context.prompt_pack("password token")):
        text = str(present_context.shape(one))
        assert SECRET not in text and HUNTER not in text


def test_status_follows_the_disk(tmp_path: Path) -> None:
    with repository(tmp_path) as workspace:
        (tmp_path / "shop/tokens.py").write_text("x = 1\n")
        assert workspace.context.scope(["shop/tokens.py"]).stale_status == "stale"
        assert workspace.context.scope(["shop/tokens.py", "shop/money.py"]).stale_status == "partially_stale"


def test_without_an_index_the_prompt_pack_says_so(tmp_path: Path) -> None:
    with repository(tmp_path, index=False) as workspace:
        made = workspace.context.prompt_pack("token")
        assert (made.present, made.status) == (False, "unavailable") and made.reason
