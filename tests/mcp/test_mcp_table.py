"""The tools as data: what they cost, what their arguments may be, how an answer is cut to its cap."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.app.mcp import answers, arguments, options
from mog.app.mcp.answers import Answer, Row
from mog.app.mcp.server import _listed, _result
from mog.app.mcp.table import BY_NAME, TOOLS, WRITES, cap_of, of_sets
from mog.app.present import Block
from mog.engine.errors import AmbiguousTarget, NotFound, UsageError
from mog.engine.retrieval.estimator import tokens

STAMP = {"generation": 7, "ref": "main@4f2a19c", "dirty": True, "state": "ready", "watch": "live"}
TEXTS = st.text(max_size=300)


def listed(*sets: str) -> str:
    """``tools/list`` of some sets as it goes over the wire."""
    rows = [_listed(tool).model_dump(by_alias=True, mode="json", exclude_none=True) for tool in of_sets(sets)]
    return json.dumps({"tools": rows})


def cost(sent: answers.Sent) -> int:
    """Tokens of a whole result as it goes over the wire."""
    return tokens(_result(sent).model_dump_json(by_alias=True, exclude_none=True))


def test_the_default_list_costs_at_most_2500_tokens_and_all_sets_6500() -> None:
    assert tokens(listed("core")) <= 2_500
    assert tokens(listed(*options.SETS)) <= 6_500


def test_every_tool_of_the_design_is_there_in_its_set() -> None:
    by_set = {name: {tool.name for tool in TOOLS if tool.set == name} for name in options.SETS}
    assert by_set["core"] == {
        "search_context", "expand", "impact", "why", "remember", "recall", "pin", "unpin", "verify",
    }  # fmt: skip
    assert by_set["write"] == {"mesh_submit_evidence", "mesh_recheck", "mesh_repair", "mesh_resume"}
    assert len(by_set["mesh"]) == 8
    assert len(by_set["context"]) == 4


def test_every_controlled_write_needs_an_approval_and_every_write_is_known_to_the_bridge() -> None:
    assert {tool.name for tool in TOOLS if tool.approved} == {tool.name for tool in TOOLS if tool.set == "write"}
    assert {tool.name for tool in TOOLS if tool.writes} == WRITES


def test_a_server_that_only_reads_lists_no_tool_that_writes() -> None:
    assert not any(tool.writes for tool in of_sets(options.SETS, read_only=True))


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("impact", {"tarjet": "x"}, "nearest is target"),
        ("why", {}, "target is missing"),
        ("impact", {"target": "x", "depth": 65}, "out of range"),
        ("impact", {"target": "x", "depth": True}, "no integer"),
        ("impact", {"target": ["x"]}, "no string"),
        ("impact", {"target": "x" * 70_000}, "up to 65536"),
        ("impact", {"target": "\ud800"}, "up to 65536"),
        ("search_context", {"query": "x", "zoom": "L9"}, "none of them"),
        ("search_context", {"query": "x", "kinds": [1]}, "texts"),
        ("mesh_submit_evidence", {"text": "x", "source_id": "s", "metadata": {"a": "b" * 70_000}}, "plain JSON"),
    ],
)
def test_a_wrong_argument_is_refused_with_what_would_do(tool: str, given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        arguments.checked(BY_NAME[tool], given)
    assert caught.value.way_out


def test_defaults_are_filled_in() -> None:
    assert arguments.checked(BY_NAME["search_context"], {"query": "x"}) == {"query": "x", "budget": 2_000, "zoom": "auto"}


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(TEXTS, st.dictionaries(st.sampled_from(["id", "text", "at"]), TEXTS)), max_size=30),
    told=st.lists(TEXTS, max_size=3), notes=st.lists(TEXTS, max_size=6), cap=st.integers(300, 2_000),
)  # fmt: skip
def test_no_answer_passes_its_cap_and_counts_stay_exact(
    rows: list[tuple[str, dict[str, str]]], told: list[str], notes: list[str], cap: int
) -> None:
    made = [Row(Block(text), data) for text, data in rows]
    sent = answers.fit(Answer(["head"], {"known": 1}, told, made, len(made), notes=notes), STAMP, cap)
    assert cost(sent) <= cap
    assert sent.tokens <= cap
    assert sent.data["total"] == len(rows)
    shown = len(sent.data["items"])
    assert (sent.data["next"] == str(shown)) == (0 < shown < len(rows))


@settings(deadline=None)
@given(count=st.integers(0, 200), cap=st.integers(300, 900))
def test_pages_together_hold_every_row_once(count: int, cap: int) -> None:
    every = [Row(f"row {n} " + "x" * (n % 50), {"n": n}) for n in range(count)]
    seen: list[int] = []
    page, turns = "", 0
    while turns <= count:
        first, left = answers.paged(every, page)
        sent = answers.fit(Answer(["head"], rows=left, total=count, first=first), STAMP, cap)
        seen += [item["n"] for item in sent.data["items"]]
        page, turns = sent.data["next"], turns + 1
        if not page:
            break
    assert seen == list(range(count))


@settings(deadline=None)
@given(TEXTS)
def test_a_text_cannot_end_its_own_frame(text: str) -> None:
    sent = answers.fit(Answer(["head"], rows=[Row(Block(text + "\n</data>"), {})], total=1), STAMP, 2_000)
    opening, closing = sent.text.split("\n")[1], sent.text.split("\n")[-2]
    mark = closing.removeprefix("</data ").removesuffix(">")
    assert opening.startswith(f"<data {mark}:")
    assert sent.text.count(f"</data {mark}>") == 1


def test_what_could_steer_a_terminal_leaves_as_visible_escapes() -> None:
    sent = answers.fit(Answer(["head"], {"x\x1b": "\u202e"}, rows=[Row("\x1b[2J", {"t": "\x07"})], total=1), STAMP, 900)
    assert not any(char in sent.text + json.dumps(sent.data, ensure_ascii=False) for char in "\x1b\u202e\x07")


def test_a_failure_says_the_way_out_and_the_candidates() -> None:
    sent = answers.failure(AmbiguousTarget("several", ["a", "b"], way_out="name one"), STAMP)
    assert sent.failed
    assert sent.data["candidates"] == ["a", "b"]
    assert "way out: name one" in sent.text


@pytest.mark.parametrize(("said", "told"), [
    ("`mog search` finds names by their parts", "`search_context` finds names by their parts"),
    ("make one with `mog context create`", "make one with `create_context`"),
    ("run `mog index --full`", "run `mog index --full`"),
])  # fmt: skip
def test_an_agent_is_pointed_to_tools_and_a_person_to_commands(said: str, told: str) -> None:
    assert f"way out: {told}" in answers.failure(NotFound("nothing", way_out=said), STAMP).text



@pytest.mark.parametrize("page", ["x", "-1", "1e3", "9" * 12, "١"])
def test_a_page_that_no_answer_gave_is_refused(page: str) -> None:
    with pytest.raises(UsageError):
        answers.offset(page)


def test_the_cap_of_a_pack_follows_from_its_budget() -> None:
    tool = BY_NAME["search_context"]
    assert cap_of(tool, {"budget": 500}) == 2_325
    assert cap_of(tool, {"budget": 16_000}) <= tool.cap
    assert cap_of(BY_NAME["expand"], {"budget": 64, "target": "ws_0123"}) == BY_NAME["expand"].cap
    assert cap_of(BY_NAME["mesh_blast_radius"], {}) == 1_500
    assert cap_of(BY_NAME["impact"], {}) == 2_000


def test_options_are_read_from_words_and_refused_with_the_nearest_way() -> None:
    found = options.parse(["--mcp", "--tools", "mesh,core", "--allow-writes", "--checkpoint", "on-exit"])
    assert (found.sets, found.allow_writes, found.checkpoint) == (("core", "mesh"), True, "on-exit")
    assert options.heard(found.said(), found) == found
    for words in (["--tools", "kore"], ["--port", "99999"], ["--port", "80"], ["--checkpoint", "no"], ["--nope"], ["--tools", ","]):
        with pytest.raises(UsageError):
            options.parse(words)
