"""Verbs about beliefs through the real entry point: what they record, what they show, how they exit."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import believing
import pytest
import tree
from believing import AUDIT, CENTS, COLUMN, GATEWAY, PRICES, Said

from mog.app import plain_beliefs, present_beliefs
from mog.app.cli import exit_codes, fold

HOSTILE = "Totals \x1b[2J round \u202eecno\u202c,\nonce\u200b"
UNSAFE = [byte for byte in range(32) if byte not in (9, 10)] + [127]


@pytest.fixture
def root(make_repo: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A repository that is the current folder; keys, words and witness of the person are kept beside it."""
    made: Path = make_repo(believing.FILES)
    monkeypatch.chdir(made)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("TRUST", "KEYS", "WITNESS"):
        monkeypatch.setenv(f"MOG_{name}_DIR", str(tmp_path / name.lower()))
    return made


@pytest.fixture
def ids(root: Path, capfdbinary: Any) -> dict[str, str]:
    """The small story, recorded."""
    return believing.believe(capfdbinary)


def assert_safe(data: bytes) -> None:
    """No control byte, no bidirectional or invisible character."""
    assert [byte for byte in UNSAFE if byte in data] == []
    assert [char for char in data.decode() if char in "\u202e\u202c\u2066\u200b\x9b"] == []


# -- recording


def test_what_is_said_again_is_not_recorded_again(ids: dict[str, str], root: Path, capfdbinary: Any) -> None:
    before = believing.head(root)
    said = Said(capfdbinary, "assume", PRICES, "--json").json
    assert (said["result"]["id"], said["events"]) == (ids[PRICES], [])
    assert believing.head(root) == before


def test_one_more_reason_for_a_claim_by_its_words(ids: dict[str, str], capfdbinary: Any) -> None:
    told = Said(capfdbinary, "explain", GATEWAY, "--json").json
    assert [ground["origin"] for ground in told["grounds"]].count("person") == 1
    assert len(told["grounds"]) == 3
    assert told["standing"] == "standing"


@pytest.mark.parametrize("target", ["words", "id", "prefix"])
def test_a_record_is_meant_by_words_id_or_the_beginning_of_an_id(
    ids: dict[str, str], capfdbinary: Any, target: str
) -> None:
    meant = {"words": CENTS, "id": ids[CENTS], "prefix": ids[CENTS][:10]}[target]
    assert Said(capfdbinary, "explain", meant, "--json").json["id"] == ids[CENTS]


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "Nobody said this"],
        ["lineage", "ffffffffff"],
        ["invalidate", "Nobody said this"],
        ["why", "nothing.py"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_target_nobody_answers_to_exits_1(ids: dict[str, str], capfdbinary: Any, arguments: list[str]) -> None:
    run = Said(capfdbinary, *arguments)
    assert (run.code, run.out) == (exit_codes.NOTHING, b"")
    assert b"way out" in run.err


def test_a_text_shaped_like_a_credential_exits_6_and_records_nothing(
    ids: dict[str, str], root: Path, capfdbinary: Any
) -> None:
    before = believing.head(root)
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    run = Said(capfdbinary, "assume", f"The token is {token}")
    assert run.code == exit_codes.POLICY
    assert token.encode() not in run.err
    assert believing.head(root) == before


def test_while_another_process_writes_a_write_exits_8_and_a_question_is_answered(
    ids: dict[str, str], root: Path, capfdbinary: Any
) -> None:
    holder = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); db.execute('BEGIN IMMEDIATE');"
        "print('held', flush=True); sys.stdin.read()"
    )
    vector = [sys.executable, "-c", holder, str(root / ".mog" / "ledger.db")]
    with subprocess.Popen(vector, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert Said(capfdbinary, "assume", "It never rains").code == exit_codes.HELD
        assert Said(capfdbinary, "explain", PRICES).code == exit_codes.OK
        other.communicate(b"", timeout=30)
    assert Said(capfdbinary, "assume", "It never rains").code == exit_codes.OK


# -- what would fall, and what falls


def rows(document: dict[str, Any]) -> Any:
    """What a preview and an effect have to agree on; the evidence has no id before it is recorded."""
    moved = {name: [row["id"] for row in document[name]] for name in ("falls", "weakens", "rises")}
    chains = [row["chain"] for row in document["falls"]]
    because = [row["because"] for row in document["weakens"]]
    return moved, chains, because, document["per_hop"], document["untouched_total"]


def test_a_preview_tells_falls_weakens_and_survives_and_writes_nothing(
    ids: dict[str, str], root: Path, capfdbinary: Any
) -> None:
    before = believing.head(root)
    told = Said(capfdbinary, "invalidate", PRICES, "--json").json
    assert [row["id"] for row in told["falls"]] == [ids[PRICES], ids[CENTS], ids[COLUMN]]
    assert told["falls"][2]["chain"] == [ids[PRICES], ids[CENTS], ids[COLUMN]]
    assert [row["id"] for row in told["weakens"]] == [ids[GATEWAY]]
    saved_by = {node["text"] for node in told["weakens"][0]["because"]["all_of"]}
    assert len(saved_by & {"notes/gateway.md", "notes/audit.md"}) == 1
    assert told["per_hop"] == [{"hop": hop, "falls": 1} for hop in range(3)]
    assert (told["written"], told["events"]) == (False, [])
    assert believing.head(root) == before


def test_an_effect_is_told_as_its_preview_was(ids: dict[str, str], capfdbinary: Any) -> None:
    preview = Said(capfdbinary, "invalidate", PRICES, "--json").json
    rejection = ("--evidence", "They arrive in euros", "--judge", "contradicts", "--reason", "seen in the log")
    run = Said(capfdbinary, "invalidate", PRICES, *rejection, "--json")
    assert run.code == exit_codes.OK
    assert run.json["written"]
    assert len(run.json["events"]) == 1
    assert rows(run.json) == rows(preview)
    told = Said(capfdbinary, "explain", PRICES, "--json").json
    assert told["standing"] == "fallen"
    assert [(j["auditor"], j["reason"]) for j in told["defeated_by"]] == [("person", "seen in the log")]


def test_the_lines_of_effect_and_preview_differ_in_their_head_alone(ids: dict[str, str], capfdbinary: Any) -> None:
    said = Said(capfdbinary, "evidence", "They arrive in euros", "--contradicts", PRICES, "--json")
    preview = Said(capfdbinary, "invalidate", PRICES).text
    rejection = ("--evidence", said.json["result"]["id"], "--judge", "contradicts", "--reason", "seen in the log")
    effect = Said(capfdbinary, "invalidate", PRICES, *rejection).text
    told = preview[preview.index("  × 3 fall") :].splitlines()
    assert len(told) > 8
    assert [line for line in told if line.partition("contradicted by")[0] not in effect] == []
    assert ("nothing was written" in preview, "nothing was written" in effect) == (True, False)


@pytest.mark.parametrize(
    "given", [["--evidence", "x"], ["--judge", "contradicts"], ["--reason", "y"], ["--evidence", "x", "--reason", "y"]]
)
def test_a_part_of_a_rejection_is_a_slip_and_writes_nothing(
    ids: dict[str, str], root: Path, capfdbinary: Any, given: list[str]
) -> None:
    before = believing.head(root)
    run = Said(capfdbinary, "invalidate", PRICES, *given)
    assert run.code == exit_codes.USAGE
    assert b"where: --" in run.err
    assert believing.head(root) == before


def test_a_mistyped_id_does_not_become_evidence(ids: dict[str, str], root: Path, capfdbinary: Any) -> None:
    before = believing.head(root)
    rejection = ("--evidence", "0123456789ab", "--judge", "contradicts", "--reason", "seen")
    assert Said(capfdbinary, "invalidate", PRICES, *rejection).code == exit_codes.NOTHING
    assert believing.head(root) == before


def test_what_is_not_touched_is_listed_in_pages(ids: dict[str, str], capfdbinary: Any) -> None:
    seen: list[str] = []
    after = ""
    while True:
        page = Said(capfdbinary, "invalidate", PRICES, "--preserved", "--limit", "3", "--after", after, "--json").json
        if not page["preserved"]:
            break
        seen += [row["id"] for row in page["preserved"]]
        after = page["next_after"]
    assert len(seen) == len(set(seen)) == page["preserved_total"]
    assert not {ids[PRICES], ids[CENTS], ids[COLUMN]} & set(seen)
    assert ids[GATEWAY] in seen


def test_evidence_alone_fells_nothing_and_is_open_until_judged(ids: dict[str, str], capfdbinary: Any) -> None:
    run = Said(capfdbinary, "evidence", "They arrive in euros", "--contradicts", PRICES, "--json")
    assert run.json["falls"] == []
    told = Said(capfdbinary, "explain", PRICES, "--json").json
    assert (told["standing"], [node["text"] for node in told["contradicted_by"]]) == (
        "contested",
        ["They arrive in euros"],
    )
    assert "≠" in Said(capfdbinary, "explain", PRICES).text


def test_undo_takes_an_event_back_and_everything_stands_again(ids: dict[str, str], capfdbinary: Any) -> None:
    rejection = ("--evidence", "They arrive in euros", "--judge", "contradicts", "--reason", "seen")
    event = Said(capfdbinary, "invalidate", PRICES, *rejection, "--json").json["events"][0]
    told = Said(capfdbinary, "ledger", "undo", str(event), "--reason", "misread", "--json").json
    assert {row["id"] for row in told["rises"]} == {ids[PRICES], ids[CENTS], ids[COLUMN]}
    for words in (PRICES, CENTS, COLUMN, GATEWAY):
        assert Said(capfdbinary, "explain", ids[words], "--json").json["standing"] == "standing"


def test_withdrawing_the_evidence_is_as_if_it_had_never_been_said(ids: dict[str, str], capfdbinary: Any) -> None:
    rejection = ("--evidence", "They arrive in euros", "--judge", "contradicts", "--reason", "seen")
    Said(capfdbinary, "invalidate", PRICES, *rejection)
    run = Said(capfdbinary, "withdraw", "They arrive in euros", "--reason", "another shop")
    assert run.code == exit_codes.OK
    assert Said(capfdbinary, "explain", COLUMN, "--json").json["standing"] == "standing"


# -- what becomes of a record


def test_a_record_is_not_replaced_while_somebody_rests_on_it_unnamed(
    ids: dict[str, str], root: Path, capfdbinary: Any
) -> None:
    before = believing.head(root)
    run = Said(capfdbinary, "supersede", PRICES, "Prices arrive in euros")
    assert run.code == exit_codes.USAGE
    assert ids[CENTS].encode() in run.err
    assert believing.head(root) == before


@pytest.mark.parametrize(("how", "standing"), [("move", "standing"), ("drop", "fallen")])
def test_replacing_moves_or_drops_what_rests_on_it(
    ids: dict[str, str], capfdbinary: Any, how: str, standing: str
) -> None:
    run = Said(
        capfdbinary, "supersede", PRICES, "Prices arrive in tenths", "--all", how, "--reason", "new gateway", "--json"
    )
    assert run.code == exit_codes.OK
    assert Said(capfdbinary, "explain", CENTS, "--json").json["standing"] == standing
    told = Said(capfdbinary, "lineage", "Prices arrive in tenths", "--json").json
    assert [row["text"] for row in told["items"]] == [PRICES, "Prices arrive in tenths"]
    assert told["items"][0]["retired"]["how"] == "superseded"


def test_an_assumption_is_not_retracted_by_decree(ids: dict[str, str], capfdbinary: Any) -> None:
    run = Said(capfdbinary, "retract", PRICES, "--reason", "I say so")
    assert run.code == exit_codes.USAGE
    assert b"evidence" in run.err


@pytest.mark.parametrize("verb", ["retract", "withdraw"])
def test_taking_back_needs_a_reason(ids: dict[str, str], capfdbinary: Any, verb: str) -> None:
    run = Said(capfdbinary, verb, GATEWAY)
    assert run.code == exit_codes.USAGE
    assert b"--reason" in run.err


def test_a_claim_survives_the_loss_of_one_source_and_says_which_one_saved_it(
    ids: dict[str, str], capfdbinary: Any
) -> None:
    told = Said(capfdbinary, "retract", "notes/audit.md", "--reason", "a draft", "--json").json
    saved = next(row for row in told["weakens"] if row["id"] == ids[GATEWAY])
    assert [node["text"] for node in saved["lost"]["all_of"]] == ["notes/audit.md"]
    assert "notes/audit.md" not in {node["text"] for node in saved["because"]["all_of"]}
    assert AUDIT in {row["text"] for row in told["falls"]}


# -- asking


def test_an_answer_comes_with_its_path_sources_and_cost(ids: dict[str, str], capfdbinary: Any) -> None:
    run = Said(capfdbinary, "ask", "Why are cents stored as integers?", "--json")
    assert run.code == exit_codes.OK
    assert run.json["answer"]["id"] == ids[CENTS]
    assert run.json["path"][-1]["id"] == ids[CENTS]
    assert ids[PRICES] in {step["id"] for step in run.json["tail"]}
    assert run.json["tokens_walked"] > 0
    assert "depends_on" in Said(capfdbinary, "ask", "Why are cents stored as integers?").text


def test_a_dead_end_is_named_with_what_to_do_and_exits_1(ids: dict[str, str], capfdbinary: Any) -> None:
    run = Said(capfdbinary, "ask", "Who feeds the lighthouse cat?", "--json")
    assert run.code == exit_codes.NOTHING
    assert (run.json["resolved"], run.json["answer"], run.json["dead_end"]) == (False, None, "entity_unresolved")
    assert run.json["remedy"]
    assert "what to do" in Said(capfdbinary, "ask", "Who feeds the lighthouse cat?").text


def test_a_question_writes_no_event(ids: dict[str, str], root: Path, capfdbinary: Any) -> None:
    before = believing.head(root)
    for arguments in (["ask", "cents"], ["explain", CENTS], ["health"], ["why", CENTS], ["lineage", CENTS], ["ledger"]):
        Said(capfdbinary, *arguments)
    assert believing.head(root) == before


def test_ingesting_again_changes_nothing_and_says_so(ids: dict[str, str], root: Path, capfdbinary: Any) -> None:
    before = believing.head(root)
    run = Said(capfdbinary, "ingest", "notes", "--json")
    assert (run.code, run.json["changed"], run.json["documents"]["unchanged"]) == (exit_codes.OK, False, 2)
    assert believing.head(root) == before


def test_health_counts_and_names_what_deserves_a_look(ids: dict[str, str], capfdbinary: Any) -> None:
    Said(capfdbinary, "evidence", "They arrive in euros", "--contradicts", PRICES)
    told = Said(capfdbinary, "health", "--json").json
    assert told["status"] in ("warn", "error")
    assert {signal["kind"] for signal in told["items"]} >= {"untyped_edges", "open_contradictions"}
    assert next(s for s in told["items"] if s["kind"] == "untyped_edges")["count"] == 0


# -- text of strangers, narrow terminals


EVERY = (
    ["explain", "{id}"], ["why", "{id}"], ["lineage", "{id}"], ["invalidate", "{id}"], ["ask", "totals round once"],
    ["health"], ["ledger"], ["ledger", "show", "1"], ["recheck"], ["evidence", HOSTILE, "--contradicts", "{id}"],
)  # fmt: skip


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_no_unsafe_byte_of_a_record_reaches_the_terminal(root: Path, capfdbinary: Any, form: list[str]) -> None:
    made = Said(capfdbinary, "assume", HOSTILE, *form)
    assert_safe(made.out)
    id = Said(capfdbinary, "assume", HOSTILE, "--json").json["result"]["id"]
    for arguments in EVERY:
        run = Said(capfdbinary, *(word.format(id=id) for word in arguments), *form)
        assert run.code in (exit_codes.OK, exit_codes.NOTHING), run.err
        assert run.out
        assert_safe(run.out)
        assert_safe(run.err)


def test_words_copied_from_our_own_output_mean_the_record(root: Path, capfdbinary: Any) -> None:
    shown = Said(capfdbinary, "assume", HOSTILE, "--json").json["result"]
    assert shown["text"] != HOSTILE
    assert Said(capfdbinary, "explain", shown["text"], "--json").json["id"] == shown["id"]


@pytest.mark.parametrize("width", [30, 48, 80])
def test_lines_fit_the_terminal(
    ids: dict[str, str], monkeypatch: pytest.MonkeyPatch, capfdbinary: Any, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in (
        ["explain", CENTS],
        ["invalidate", PRICES],
        ["ask", "Why are cents stored?"],
        ["health"],
        ["ledger"],
    ):
        text = Said(capfdbinary, *arguments).text
        assert [line for line in text.splitlines() if fold.cells(line) > width] == []


def test_folding_loses_no_word_and_hangs_below_the_text() -> None:
    line = (
        ("  ", ""),
        ("(A) ", "chip"),
        ("every word of this sentence stays where it is", "name"),
        ("  4f2a", "muted"),
    )
    pieces = fold.fold(line, 24)
    assert len(pieces) > 2
    whole = " ".join("".join(text for text, _ in piece).strip() for piece in pieces)
    assert whole.split() == "".join(text for text, _ in line).split()
    assert all("".join(text for text, _ in piece).startswith("      ") for piece in pieces[1:])
    assert {role for piece in pieces for _, role in piece if role} == {"chip", "name", "muted"}


def test_a_word_wider_than_the_terminal_is_cut_and_wide_characters_count_twice() -> None:
    assert fold.cells("日本") == 4
    pieces = fold.fold((("日" * 40, ""),), 20)
    assert all(fold.cells("".join(text for text, _ in piece)) <= 20 for piece in pieces)
    assert "".join(text for piece in pieces for text, _ in piece).replace(" ", "") == "日" * 40
    assert fold.fold((("short", ""),), 0) == [(("short", ""),)]


# -- the forms themselves


SHAPES = (
    ["explain", CENTS], ["lineage", CENTS], ["why", CENTS], ["invalidate", PRICES, "--preserved"], ["ask", "cents stored"],
    ["health"], ["recheck"], ["allow"], ["ledger"], ["ledger", "show", "1"], ["ledger", "verify"], ["verify"],
    ["ingest", "notes"], ["ledger", "checkpoint"], ["ledger", "prove", "1"], ["evidence", "seen", "--contradicts", PRICES],
)  # fmt: skip


@pytest.mark.parametrize("arguments", SHAPES, ids=" ".join)
def test_every_key_is_in_the_manual(ids: dict[str, str], capfdbinary: Any, arguments: list[str]) -> None:
    manual = set(re.findall(r"[a-z_]+", (tree.ROOT / "docs" / "json.md").read_text(encoding="utf-8")))
    document = Said(capfdbinary, *arguments, "--json").json
    proof = {"event", "prev", "state_before", "state_after"} if "prove" in arguments else set()
    assert document.keys() - manual - proof == set()


def test_commit_messages_are_read_when_asked_for(root: Path, capfdbinary: Any) -> None:
    message = "The cart keeps its lines in the order they were added."
    git = ["git", "commit", "-q", "--allow-empty", "-m", message]
    subprocess.run(git, cwd=root, check=True, stdin=subprocess.DEVNULL, timeout=60)
    told = Said(capfdbinary, "ingest", "--commits", "5", "--json").json
    assert told["documents"]["new"] == 2
    assert Said(capfdbinary, "explain", message).code == exit_codes.OK
    assert Said(capfdbinary, "ingest").code == exit_codes.USAGE
    assert Said(capfdbinary, "ingest", "nowhere").code == exit_codes.NOTHING


def test_every_answer_has_both_forms() -> None:
    assert present_beliefs._JSON.keys() == plain_beliefs._LINES.keys()
    with pytest.raises(TypeError, match="no JSON form"):
        present_beliefs.as_json(object(), None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "verb", [["assume", "It never rains"], ["ask", "rain"], ["health"], ["ledger"], ["recheck"]], ids=lambda v: v[0]
)
def test_a_verb_about_beliefs_pays_for_no_screen_and_no_arrays(root: Path, verb: list[str]) -> None:
    code = f"from mog.app.cli.main import main; main({verb!r})\nimport sys; sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stderr.decode().split()}
    assert loaded & {"textual", "rich", "mcp", "starlette", "networkx", "numpy", "cryptography"} == set()
