"""``mog drill`` through the real entry point, over a repository whose names are hostile."""

from __future__ import annotations

import io
import json
import re
import sys

import believing
import pytest
from believing import CENTS, COLUMN, GATEWAY, PRICES, Said

from mog.app.cli import drill_input, exit_codes
from mog.app.plain_cards import card
from mog.app.plain_drill_words import because
from mog.engine.drills.records import Because, Named, Outcome, Why
from mog.engine.workspace import Workspace

HOSTILE = "Totals \x1b[2J *round* <b>\u202eecno\u202c,\nonce\u200b | [x](javascript:y) `z`"
UNSAFE = [byte for byte in range(32) if byte not in (9, 10)] + [127]


@pytest.fixture
def root(make_repo, monkeypatch, tmp_path):
    made = make_repo(believing.FILES)
    monkeypatch.chdir(made)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("TRUST", "KEYS", "WITNESS"):
        monkeypatch.setenv(f"MOG_{name}_DIR", str(tmp_path / name.lower()))
    return made


@pytest.fixture
def ids(root, capfdbinary):
    """The small story: two decisions fall with the prices, a claim of a note weakens."""
    return believing.believe(capfdbinary)


def assert_safe(data):
    assert [byte for byte in UNSAFE if byte in data] == []
    assert [char for char in data.decode() if char in "\u202e\u202c\u2066\u200b\x9b"] == []


def answers(tmp_path, text):
    path = tmp_path / "answers.txt"
    path.write_text(text)
    return str(path)


def right(capture, *more):
    """The right answers in the order of asking."""
    solved = Said(capture, "drill", "export", "--solved", *more, "--json").json["items"]
    return [row["outcome"] for row in solved[0]["questions"]]


def test_drills_are_listed_with_their_reasons(ids, capfdbinary):
    told = Said(capfdbinary, "drill")
    assert told.code == exit_codes.OK
    assert f"(A) {PRICES}  {ids[PRICES][:10]}" in told.text
    assert (
        "3 records rest on it; 2 of them stand on one ground only; " in told.text
        and "it was never drilled" in told.text
    )
    first = Said(capfdbinary, "drill", "list", "--json").json["items"][0]
    assert (first["id"], first["dependants"], first["single"], first["played"]) == (ids[PRICES], 3, 2, 0)


def test_a_perfect_game_is_a_hundred_and_is_in_the_history(ids, capfdbinary, tmp_path):
    words = right(capfdbinary)
    assert sorted(words) == ["falls", "falls", "weakens"]
    told = Said(capfdbinary, "drill", "play", PRICES, "--answers", answers(tmp_path, "\n".join(words)))
    assert told.code == exit_codes.OK
    assert "score 100" in told.text and f"hop 2: rests on (D) {CENTS}" in told.text
    assert f"repair: give (D) {CENTS} a second ground" in told.text
    kept = Said(capfdbinary, "drill", "history", "--json").json
    assert (kept["total"], kept["mean"], kept["items"][0]["assumption"]["text"]) == (1, 100.0, PRICES)
    assert Said(capfdbinary, "drill", "weak").code == exit_codes.NOTHING


def test_wrong_answers_become_weak_spots_and_peeks_cost_half(ids, capfdbinary, tmp_path):
    turned = [f"?{word}" if word == "weakens" else "survives" for word in right(capfdbinary)]
    told = Said(
        capfdbinary, "drill", "play", "--answers", answers(tmp_path, " ".join(turned) + " # a remark"), "--json"
    ).json
    drill = told["drills"][0]
    assert drill["recalls"]["weakens"] == {"right": 0.5, "asked": 1} and drill["recalls"]["falls"]["right"] == 0
    assert told["score"] == drill["score"] == 25.0
    weak = Said(capfdbinary, "drill", "weak", "--json").json
    assert {one["text"] for one in weak["items"]} == {CENTS, COLUMN}
    assert [(one["outcome"], one["said"], one["count"]) for one in weak["habits"]] == [("falls", "survives", 2)]
    assert GATEWAY not in Said(capfdbinary, "drill", "weak").text


def test_answers_from_a_pipe_and_blanks(ids, capfdbinary, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("falls\n-\n"))
    told = Said(capfdbinary, "drill", "play", "--forget", "--json").json["drills"][0]
    assert [row["said"] for row in told["questions"]] == ["falls", "", ""]
    assert Said(capfdbinary, "drill", "history").code == exit_codes.NOTHING


@pytest.mark.parametrize(
    ("text", "what"),
    [("falls maybe falls", "is no answer"), ("falls " * 9, "6 answers more than questions"), (" # none", "no answers")],
)
def test_answers_that_cannot_be_meant_are_usage_and_keep_nothing(ids, capfdbinary, tmp_path, text, what):
    told = Said(capfdbinary, "drill", "play", "--answers", answers(tmp_path, text))
    assert told.code == exit_codes.USAGE
    assert what in told.err.decode() and "way out" in told.err.decode()
    assert Said(capfdbinary, "drill", "history").code == exit_codes.NOTHING


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["play", "nobody", "--answers", "-"], exit_codes.NOTHING), (["play", "--answers", "not/there"], exit_codes.NOTHING),
        (["play", "--questions", "0"], exit_codes.USAGE), (["play", "--drills", "0"], exit_codes.USAGE),
        (["export", COLUMN], exit_codes.USAGE), (["export", "--format", "xml"], exit_codes.USAGE), (["weak"], exit_codes.NOTHING),
        (["history"], exit_codes.NOTHING), (["export", "--played"], exit_codes.NOTHING), (["lose"], exit_codes.USAGE),
    ],
)  # fmt: skip
def test_exit_codes(ids, capfdbinary, monkeypatch, arguments, code):
    monkeypatch.setattr(sys, "stdin", io.StringIO("falls\n"))
    told = Said(capfdbinary, "drill", *arguments)
    assert told.code == code
    assert code == exit_codes.NOTHING or b"way out: " in told.err


def test_a_repository_without_assumptions_has_nothing_to_drill(root, capfdbinary):
    told = Said(capfdbinary, "drill")
    assert told.code == exit_codes.NOTHING and "nothing to drill" in told.text
    assert Said(capfdbinary, "drill", "export").code == exit_codes.NOTHING


def test_a_history_that_cannot_be_used_is_damage_and_is_left(ids, root, capfdbinary, tmp_path):
    path = root / ".mog" / "drills.jsonl"
    path.mkdir()
    told = Said(capfdbinary, "drill", "history")
    assert told.code == exit_codes.DAMAGED and str(path).encode() in told.err
    assert "weighed without the history" in Said(capfdbinary, "drill").text
    played = Said(capfdbinary, "drill", "play", "--answers", answers(tmp_path, "falls"))
    assert played.code == exit_codes.OK and "not kept in the history" in played.text
    path.rmdir()
    path.write_text("garbage\n")
    Said(capfdbinary, "drill", "play", "--answers", answers(tmp_path, "falls"))
    told = Said(capfdbinary, "drill", "history")
    assert told.code == exit_codes.OK and "1 line cannot be read" in told.text
    assert path.read_text().startswith("garbage\n")


# -- export


def test_an_export_asks_and_tells_only_when_it_is_told_to(ids, capfdbinary):
    lines = Said(capfdbinary, "drill", "export").text.splitlines()
    asked = [json.loads(line) for line in lines]
    assert asked[0]["assumption"]["text"] == PRICES and len(asked[0]["questions"]) == 3
    assert "outcome" not in json.dumps(asked) and "falls" not in json.dumps(asked)
    cards = Said(capfdbinary, "drill", "export", "--format", "markdown").text
    assert cards.count("☐") == 9 and "because" not in cards
    solved = Said(capfdbinary, "drill", "export", "--format", "markdown", "--solved").text
    assert f"| \\(D\\) {COLUMN} | falls | 2 | rests on \\(D\\) {CENTS} |" in solved
    assert Said(capfdbinary, "drill", "export").text.splitlines() == lines


def test_the_history_is_exported_with_what_was_said(ids, capfdbinary, tmp_path):
    Said(capfdbinary, "drill", "play", "--answers", answers(tmp_path, "survives survives survives"))
    row = json.loads(Said(capfdbinary, "drill", "export", "--played").text)
    assert [one["said"] for one in row["rows"]] == ["survives"] * 3
    assert (
        "| survives | falls | missed |" in Said(capfdbinary, "drill", "export", "--played", "--format", "markdown").text
    )


# -- hostile names


@pytest.fixture
def hostile(root, capfdbinary):
    """Every text of the drill is hostile."""
    with Workspace.open(root) as workspace:
        known = workspace.beliefs
        base = known.assume(HOSTILE).result
        top = known.decide(f"D {HOSTILE}", f"because {HOSTILE}", rests_on=[base]).result
        claim = known.claim(f"C {HOSTILE}", rests_on=[[top]]).result
        known.ground(claim, [known.assume(f"B {HOSTILE}").result], note=HOSTILE)
        known.claim("long " + "n" * 10_000, rests_on=[[base]])
    return base


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize(
    "verb", [["list"], ["play"], ["history"], ["weak"], ["export", "--solved"], ["export", "--solved", "--format", "markdown"],
             ["export", "--played", "--format", "markdown"]],
    ids=" ".join,
)  # fmt: skip
def test_no_unsafe_byte_leaves_a_drill(hostile, capfdbinary, monkeypatch, verb, form):
    monkeypatch.setattr(sys, "stdin", io.StringIO("?falls ?survives weakens"))
    Said(capfdbinary, "drill", "play", hostile)
    monkeypatch.setattr(sys, "stdin", io.StringIO("?falls ?survives weakens"))
    told = Said(capfdbinary, "drill", *verb, *([hostile] if verb[0] in ("play",) else []), *form)
    assert told.code == exit_codes.OK and told.out
    assert_safe(told.out)
    assert_safe(told.err)


def test_no_name_is_markup_in_a_card(hostile, root):
    with Workspace.open(root) as workspace:
        series = workspace.drills.series(hostile, keep=False)
        lines = list(card(series.game.drill, answers=True))
    text = "\n".join(lines)
    assert "<b>" not in text and "](javascript" not in text and "\\*round\\*" in text
    for line in lines:
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) == 5, "a name made a column of its own"


# -- at a terminal


class Terminal(io.StringIO):
    """Standard input of a person who types so."""

    def isatty(self):
        return True


def typed(capture, monkeypatch, text, *more):
    monkeypatch.setattr(sys, "stdin", Terminal(text))
    return Said(capture, "drill", "play", PRICES, *more)


def test_a_person_is_asked_line_by_line_on_stderr(ids, capfdbinary, monkeypatch):
    told = typed(capfdbinary, monkeypatch, "f\nnonsense\nw\nk\ns\n?\n\n", "--json")
    asked = told.err.decode()
    assert "Suppose this turns out false:" in asked and f"(A) {PRICES}" in asked
    assert "1/3" in asked and "3/3" in asked and "'nonsense' is no answer" in asked
    rows = told.json["drills"][0]["questions"]
    assert [(row["said"], row["peeked"]) for row in rows] == [("falls", False), ("survives", False), ("", True)]


@pytest.mark.parametrize("text", ["q\n", "", "f\nq\n", "f\nf\n"], ids=["quit", "closed", "quit later", "closed later"])
def test_a_drill_that_is_stopped_is_not_counted(ids, capfdbinary, monkeypatch, text):
    told = typed(capfdbinary, monkeypatch, text)
    assert told.code == exit_codes.CANCELLED and told.out == b""
    assert Said(capfdbinary, "drill", "history").code == exit_codes.NOTHING


def test_every_word_for_an_answer_means_an_outcome():
    assert set(drill_input.WORDS.values()) == set(Outcome)


@pytest.mark.parametrize("kind", Because)
def test_every_reason_has_words_of_its_own(kind):
    told = because(Why(kind, Named("x", "claim", "", "the other"), grounds=2))
    assert told and "{" not in told
