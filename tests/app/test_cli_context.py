"""``mog search`` with text, ``mog expand`` and ``mog context`` over a real repository: what is printed, how it exits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from context_kit import HUNTER, repository

from mog.app.cli import exit_codes
from mog.app.cli.main import main


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    repository(tmp_path).close()
    monkeypatch.chdir(tmp_path)

    def runs(*arguments: str) -> tuple[int, str]:
        code = main(list(arguments))
        return code, capfd.readouterr().out

    return runs


def test_a_search_with_a_budget_gives_text_and_its_cost(run: Any) -> None:
    code, out = run("search", "refresh token", "--budget", "600")
    assert code == exit_codes.OK
    assert "sym:shop/tokens.py::TokenStore" in out and ", fresh]" in out and "of 600 tokens (utf8-bytes/4)" in out
    document = json.loads(run("search", "refresh token", "--budget", "600", "--json")[1])
    assert document["tokens"] <= 600 and document["estimator"] == "utf8-bytes/4"
    assert {"id", "zoom", "freshness", "tier", "label", "provenance", "text", "parts", "path"} <= document["items"][0].keys()


def test_explain_prints_parts_and_paths(run: Any) -> None:
    out = run("search", "half even", "--explain", "--zoom", "L1", "--no-rerank")[1]
    assert "score" in out and "words" in out
    assert "from sym:shop/money.py::round_cents by calls of" in out


def test_the_next_page_is_a_command_away(run: Any) -> None:
    out = run("search", "token", "--budget", "512", "--zoom", "L2")[1]
    page = out.split("more: mog search ")[1].split()[0]
    code, more = run("search", page, "--budget", "512", "--zoom", "L2")
    assert code == exit_codes.OK and more.splitlines()[0] not in out.splitlines()


def test_what_a_session_is_shown_is_accounted_for_and_comes_back(run: Any, tmp_path: Path) -> None:
    (tmp_path / "mog.yaml").write_text("working_set:\n  window: 1000\n")
    for target in ("TokenStore.validate#3", "rotate", "round_cents", "CartView", "TokenStore", "file:docs/tokens.md"):
        code, out = run("expand", target, "--session", "agent", "--budget", "400")
        assert code == exit_codes.OK and "tokens held" in out.splitlines()[-1]
    state = json.loads(run("ws", "--json")[1])
    assert state["session"] == "agent" and state["used"] <= state["budget"] == 600
    assert state["stubs"] and all(len(stub["line"]) <= 4 * 40 for stub in state["stubs"])
    stub = state["stubs"][-1]
    shown = json.loads(run("expand", stub["id"], "--budget", "400", "--json")[1])["items"][0]["text"]
    assert json.loads(run("ws", "recall", stub["ref"], "--json")[1])["text"] == shown
    assert json.loads(run("search", "token", "--session", "agent", "--json")[1])["served"]["session"] == "agent"


def test_expand_exits_6_for_gated_content(run: Any) -> None:
    code, out = run("expand", "shop/keys.py::PASSWORD")
    assert code == exit_codes.POLICY and HUNTER not in out
    code, out = run("expand", "rotate", "--zoom", "l1")
    assert (code, out.splitlines()[1]) == (exit_codes.OK, "def rotate(store: TokenStore, token: str) -> str:")
    assert run("expand", "rotate", "--zoom", "L9")[0] == exit_codes.USAGE
    assert run("expand", "nothing_like_it")[0] == exit_codes.NOTHING


def test_the_section_for_a_prompt_stands_between_its_marks(run: Any) -> None:
    code, out = run("context", "pack", "refresh", "token")
    lines = out.splitlines()
    assert code == exit_codes.OK and (lines[0], lines[-1]) == ("[CONTEXT GRAPH]", "[/CONTEXT GRAPH]")
    assert "  shop/tokens.py" in lines


def test_a_scope_without_a_path_that_is_there_exits_1(run: Any) -> None:
    code, out = run("context", "scope", "shop/tokns.py")
    assert code == exit_codes.NOTHING and "which file is meant?" in out and "    shop/tokens.py" in out
    assert json.loads(run("context", "scope", "shop/tokens.py", "--json")[1])["grants_edit"] is False


def test_a_handle_made_here_is_loaded_here(run: Any) -> None:
    name = run("context", "create", "half even", "--pin", "rotate")[1].strip()
    code, out = run("context", "load", name)
    assert code == exit_codes.OK and out.startswith("sym:shop/tokens.py::rotate") and "pinned" in out.splitlines()[0]
    assert run("search", name)[1] == out
    assert run("context", "load", "ctx://nowhere")[0] == exit_codes.USAGE
    assert run("context", "load", "ctx://" + "0" * 32)[0] == exit_codes.NOTHING


def test_a_handle_with_pins_keeps_within_its_budget(run: Any) -> None:
    name = run("context", "create", "half even token", "--pin", "rotate", "--pin", "round_cents")[1].strip()
    for budget in ("64", "90", "150", "512"):
        out = run("context", "load", name, "--budget", budget)[1]
        items = out[: out.rindex("\n", 0, out.index(" tokens (utf8-bytes/4)")) + 1]
        assert len(items.encode()) <= 4 * int(budget)


def test_tabs_of_source_stay_tabs(run: Any, tmp_path: Path) -> None:
    (tmp_path / "tabs.js").write_text("function tabbed(a) {\n\treturn a;\n}\n")
    assert run("index", "-q")[0] == exit_codes.OK
    assert "\n\treturn a;\n" in run("expand", "tabbed")[1]


def test_a_prompt_is_printed_with_the_section_in_its_place(run: Any, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Do it.\n[CONTEXT GRAPH]\nold\n[/CONTEXT GRAPH]\nThanks.\n")
    code, out = run("context", "pack", "refresh", "token", "--into", str(prompt))
    lines = out.splitlines()
    assert code == exit_codes.OK and (lines[0], lines[-1]) == ("Do it.", "Thanks.")
    assert lines.count("[CONTEXT GRAPH]") == 1 and "old" not in lines and "  shop/tokens.py" in lines
    assert prompt.read_text().count("old") == 1
    assert run("context", "pack", "token", "--into", str(tmp_path / "none"))[0] == exit_codes.USAGE


def test_a_kind_narrows_what_is_packed(run: Any) -> None:
    document = json.loads(run("search", "token", "--kind", "class", "--budget", "2000", "--json")[1])
    assert {item["kind"] for item in document["items"]} == {"class"}
    assert run("search", "token", "--budget", "100")[0] == exit_codes.USAGE


def test_without_an_index_the_catalog_exits_4_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    repository(tmp_path, index=False).close()
    monkeypatch.chdir(tmp_path)
    assert main(["context", "catalog", "x", "--json"]) == exit_codes.STALE
    document = json.loads(capfd.readouterr().out)
    assert (document["present"], document["status"]) == (False, "unavailable") and document["reason"]


def test_without_an_index_the_pack_exits_4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    repository(tmp_path, index=False).close()
    monkeypatch.chdir(tmp_path)
    assert main(["context", "pack", "x"]) == exit_codes.STALE
    assert "unavailable: there is no index yet" in capfd.readouterr().out
