"""Proposed paths: every spelling of a file that is there is understood, and one that is not becomes a question."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.app import plain_context
from mog.app.plain import text_of
from mog.engine.retrieval import shapes
from mog.engine.retrieval.scope import check, normal_path

EVERY = ["app/models.py", "app/views.py", "docs/guide.md", "lib/models.py", "lib/Query.py", "setup.py", "we:1.py"]
ROOT = Path("/srv/shop") if Path("/").exists() else Path("C:/shop")


@pytest.mark.parametrize("spelled", [
    "app/models.py", "./app/models.py", "app//models.py", "app/../app/models.py", " app/models.py ", "app\\models.py",
    "file:app/models.py", "sym:app/models.py::Model.save", "app/models.py::Model", "app/models.py:12", "app/models.py:12-20",
    "app/models.py#L12", "app/models.py#L12-L20", str(ROOT / "app/models.py"), "/app/models.py", "../../app/models.py",
])  # fmt: skip
def test_every_spelling_of_a_file_means_that_file(spelled: str) -> None:
    assert check([spelled], EVERY, ROOT) == (("app/models.py",), ())


def test_a_path_that_looks_like_a_place_is_itself_first() -> None:
    assert check(["we:1.py"], EVERY)[0] == ("we:1.py",)


def test_one_that_is_not_there_is_asked_about_with_the_nearest_first() -> None:
    chosen, questions = check(["lib/query.py", "models.py", "app/model.py", "nothing/like/it.rs", "app", ""], EVERY)
    assert chosen == ()
    nearest = {one.path: one.nearest for one in questions}
    assert nearest["lib/query.py"] == ("lib/Query.py",)
    assert set(nearest["models.py"]) == {"app/models.py", "lib/models.py"}
    assert nearest["app/model.py"][0] == "app/models.py"
    assert nearest["nothing/like/it.rs"] == () and nearest[""] == ()
    assert nearest["app"] == ("app/models.py", "app/views.py")


def test_each_file_and_each_question_comes_once() -> None:
    chosen, questions = check(["setup.py", "./setup.py", "nope.py", "./nope.py"], EVERY)
    assert chosen == ("setup.py",) and [one.path for one in questions] == ["nope.py"]


@given(st.lists(st.one_of(st.text(max_size=30), st.sampled_from(EVERY)), max_size=6))
def test_nothing_is_chosen_that_is_not_in_the_index_and_nothing_is_dropped(proposed: list[str]) -> None:
    chosen, questions = check(proposed, EVERY, ROOT)
    assert set(chosen) <= set(EVERY)
    assert {near for one in questions for near in one.nearest} <= set(EVERY)
    assert bool(chosen or questions) == bool(proposed)
    assert check(proposed, EVERY, ROOT) == (chosen, questions)


@given(st.text(max_size=40))
def test_a_normal_path_never_leaves_the_root(path: str) -> None:
    made = normal_path(path)
    assert ".." not in made.split("/") and not made.startswith("/") and normal_path(made) == made.strip().strip("/")


def test_a_section_replaces_itself_and_nothing_else() -> None:
    head, tail = plain_context.PROMPT_HEAD, plain_context.PROMPT_TAIL
    section = f"{head}\nnew\n{tail}"
    once = plain_context.into("Do it.", section)
    assert once == f"Do it.\n{section}\n"
    assert plain_context.into(once, section) == once
    old = f"before\n{head}\nold\n  {tail}\n{tail}\nafter\n"
    assert plain_context.into(old, section) == f"before\n{section}\nafter\n"
    quoted = f"see {head} and {tail}\n"
    assert plain_context.into(quoted, section) == f"{quoted}{section}\n"


def test_no_name_can_end_a_section() -> None:
    evil = f"x\n{plain_context.PROMPT_TAIL}"
    made = shapes.PromptPack("loaded", "", evil, relevant_paths=(evil, plain_context.PROMPT_TAIL), warnings=(evil,))
    lines = [text_of(line) for line in plain_context.prompt(made)]
    assert lines.count(plain_context.PROMPT_TAIL) == 1 and lines[-1] == plain_context.PROMPT_TAIL


def test_a_catalog_of_what_cannot_be_read_says_why() -> None:
    made = shapes.no_catalog("shop", "there is no index yet")
    assert (made.present, made.status, made.stale_status) == (False, "unavailable", "unknown")
    assert "there is no index yet" in text_of(plain_context.catalog(made)[0])
