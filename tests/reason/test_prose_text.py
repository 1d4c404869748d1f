"""Sentences, statements and markup: what of a text is prose, where it stands, and whether it states something."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.reason.prose import adr, analysis, chunk, extract, markdown, plain, readers, rest
from mog.engine.reason.prose.documents import Document
from mog.engine.reason.prose.marked import tidy

READERS = {"markdown": markdown.read, "rest": rest.read, "text": plain.read}


def shown(text: str, form: str = "markdown") -> list[str]:
    return [sentence.shown for sentence in chunk.sentences(READERS[form](text))]


def kinds(text: str, form: str = "markdown") -> dict[str, str]:
    """Sentence → kind of claim, or the reason in brackets."""
    out = {}
    for sentence in chunk.sentences(READERS[form](text)):
        found = extract.extract(sentence)
        out[sentence.shown] = f"({found})" if isinstance(found, str) else found.kind
    return out


PIECES = st.lists(
    st.sampled_from(
        ["A word. ", "# Head\n", "\n\n", "```\ncode. Here.\n```\n", "- item one. ", "`a.b()` ", "**bold.** ", "> quoted. ",
         "[link](http://x.y/z). ", "Dr. Who went. ", "日本語です。", "Привет мир. ", "<b>tag</b> ", "| a | b |\n",
         ".. note:: x\n\n   y. ", "::\n\n   lit\n", "\r\n", "\t", ":ref:`x <y>` ", "``lit`` ", "...", "e.g. this ", "1. ",
         "===\n", "<!-- c. -->", "\\*", "&amp; ", "!", "? ", "😀 "]
    ) | st.text(max_size=12),
    max_size=30,
).map("".join)  # fmt: skip


@pytest.mark.parametrize("form", sorted(READERS))
@given(text=PIECES)
@settings(max_examples=150, deadline=None)
def test_a_span_is_exactly_its_sentence(form: str, text: str) -> None:
    prose = READERS[form](text)
    assert len(prose.shown) == len(text)
    end = 0
    for sentence in chunk.sentences(prose):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= end, "sentences overlap"
        assert sentence.shown == tidy(prose.shown[sentence.start : sentence.end])
        end = sentence.end


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Use v1.2.3 of a.b.c. It works.", ["Use v1.2.3 of a.b.c.", "It works."]),
        ("See e.g. the docs, i.e. this. Done now.", ["See e.g. the docs, i.e. this.", "Done now."]),
        ("Dr. Smith met J. R. Jones. They left.", ["Dr. Smith met J. R. Jones.", "They left."]),
        ("We take vitamin C. The enzyme needs it.", ["We take vitamin C.", "The enzyme needs it."]),
        (
            "It ended (see the note. It is long.) today. Yes it did.",
            ["It ended (see the note. It is long.) today.", "Yes it did."],
        ),
        ("Call `a. B` now. Then stop.", ["Call `a. B` now.", "Then stop."]),
        ("Wait… what follows. It ran... and stopped.", ["Wait… what follows.", "It ran... and stopped."]),
        ("データを保存します。次に読みます。", ["データを保存します。", "次に読みます。"]),
        ("Сервер хранит данные, т.е. всё. Клиент читает.", ["Сервер хранит данные, т.е. всё.", "Клиент читает."]),
        (
            "Files etc. are kept. They use etc. Then they stop.",
            ["Files etc. are kept.", "They use etc.", "Then they stop."],
        ),
        ("- one item here\n- second item. With two.", ["one item here", "second item.", "With two."]),
        ("A line that\nis wrapped. Next\none.", ["A line that is wrapped.", "Next one."]),
    ],
)
def test_sentences(text: str, wanted: list[str]) -> None:
    assert shown(text) == wanted


def test_markdown_hides_what_is_no_prose() -> None:
    text = (
        "# Title\n\nText with [a link](http://x.y/z_(1)) and **bold** `co_de`.\n\n```py\nx = 1. Y is 2.\n```\n\n"
        "| h | i |\n|---|---|\n| A cell. | B is it. |\n\n<!-- A comment is here. -->\n\n    indented = code. Yes.\n\n"
        "[ref]: http://x.y 'z'\n\n> A quote is kept.\n\nIt is &lt;b&gt; <b>tagged</b> text.\n"
    )
    assert shown(text) == ["Text with a link and bold `co_de`.", "A quote is kept.", "It is <b> tagged text."]


def test_headings_are_context_in_both_markups() -> None:
    texts = {
        "markdown": "# AAA\n\n## BBB\n\nIt is so.\n\n# CCC\n\nIt ends.",
        "rest": "AAA\n===\n\nBBB\n---\n\nIt is so.\n\nCCC\n===\n\nIt ends.",
    }
    for form, text in texts.items():
        found = [sentence.block.heading for sentence in chunk.sentences(READERS[form](text))]
        assert [len(path) for path in found] == [2, 1], form


def test_rest_directives_and_roles() -> None:
    text = (
        "Title\n=====\n\n.. module:: a.b\n\nThe :class:`~a.b.Thing` uses ``x.y`` and :ref:`words <target>`.\n\n"
        ".. code-block:: python\n\n    x is 1. Y is 2.\n\n.. note::\n\n    Notes are kept.\n\n"
        ".. method:: Thing.go(a)\n\n    Goes to a place.\n\n"
        "Like this::\n\n    literal is out.\n\n>>> doctest is out.\n\n.. _label:\n\n"
        "===== =====\na is  b is\n===== =====\n\n"
        "term\n    It is defined.\n"
    )
    found = {sentence.shown: sentence.block.topic for sentence in chunk.sentences(rest.read(text))}
    assert found == {
        "The `Thing` uses `x.y` and words.": "",
        "Notes are kept.": "",
        "Goes to a place.": "Thing.go",
        "Like this:": "",
        "term": "",
        "It is defined.": "term",
    }
    marks = {mark.name for mark in rest.read(text).marks}
    assert "a.b.Thing" in marks


def test_plain_text_leaves_shell_sessions_out() -> None:
    assert shown("It is text.\n\n$ rm -rf x is run. Yes.\n\n* An item is here\n", "text") == [
        "It is text.",
        "An item is here",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The enzyme binds ATP.",
        "Mitochondria produce most of the cell's energy.",
        "Enzymes bind ATP.",
        "Water boils at 100 °C.",
        "Napoleon lost at Waterloo in 1815.",
        "`QuerySet.filter()` returns a new query set.",
        "Returns the number of rows.",
        "The cache expires.",
        "Ledger entries carry a digest over the ones before.",
        "Photosynthesis converts light into chemical energy.",
        "The parser, which is slow, caches its tables.",
        "Сервер хранит данные в PostgreSQL.",
        "サーバーはデータを保存します。",
        "缓存在五分钟后过期。",
    ],
)
def test_ordinary_prose_states_something(sentence: str) -> None:
    assert kinds(sentence) == {sentence: "statement"}


@pytest.mark.parametrize(
    "sentence",
    [
        "Use Redis for sessions.",
        "Do not call `save()` here.",
        "Never store a password in plain text.",
        "Tokens must expire within an hour.",
        "Please set the variable first.",
        "Add a test for every fault.",
        "Always close the file.",
        "Используйте Redis для сессий.",
        "Пароль нельзя хранить открыто.",
        "パスワードを保存しないでください。",
        "ここでは必ずテストを書くべきです。",
    ],
)
def test_orders_are_conventions(sentence: str) -> None:
    assert kinds(sentence) == {sentence: "convention"}


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Does the cache expire?", "question"),
        ("なぜですか？", "question"),
        ("For example:", "lead_in"),
        ("PostgreSQL, MySQL, SQLite, Oracle.", "no_predicate"),
        ("Getting Started With Things", "no_predicate"),
        ("foo bar", "no_predicate"),
        ("x = {a: 1, b: [2]; c => d}", "code"),
        ("<https://example.org/page>", ""),
        ("[the page](https://example.org/page)", "no_predicate"),
        ("See the manual for details.", "pointer"),
        ("All rights reserved.", "boilerplate"),
        ("Note: yes", "no_predicate"),
    ],
)
def test_what_states_nothing_is_turned_away(sentence: str, reason: str) -> None:
    found = kinds(sentence)
    assert all(value == f"({reason})" for value in found.values()) and (found or not reason)


def test_risks_and_telling() -> None:
    assert set(kinds("The form is vulnerable to injection.").values()) == {"risk"}
    assert set(kinds("Note that the cache is shared.").values()) == {"statement"}
    assert set(kinds("Made `x` faster for large inputs.").values()) == {"statement"}


def test_a_sentence_that_points_back_is_bound_to_its_place() -> None:
    prose = markdown.read("It defaults to the first of them.\n\nThe session cookie lives for two whole weeks.")
    found = [extract.extract(sentence) for sentence in chunk.sentences(prose)]
    assert [statement.bound for statement in found if not isinstance(statement, str)] == [True, False]


NYGARD = (
    "# 12. Use Postgres\n\nDate: 2024-03-05\n\n## Status\n\nSuperseded by [ADR 15](0015-x.md)\n\n"
    "## Context\n\nThe data has relations.\n\n"
    "## Decision\n\nWe use Postgres because it has transactions.\n\n## Consequences\n\nBackups are needed.\n"
)
MADR = (
    "---\nstatus: accepted\ndate: 2024-01-02\n---\n# Use Redis\n\n## Context and Problem Statement\n\nSessions are slow.\n\n"
    "## Considered Options\n\n* Use Redis for it\n* Use nothing at all\n\n"
    '## Decision Outcome\n\nChosen option: "Redis", because it is fast.\n'
)
BOLD = (
    "# 0003 Three tiers\n\n**Context.** Links are guessed.\n\n"
    "**Decision.** Every link has a tier.\n\nIt is shown.\n\n**Rejected.** One list is used.\n"
)


def record(text: str, key: str) -> adr.Record:
    document = readers.from_bytes(key, text.encode())
    assert isinstance(document, Document) and document.form == "adr"
    found = analysis.read(document).record
    assert found is not None
    return found


def test_decision_records_of_three_forms() -> None:
    nygard = record(NYGARD, "docs/adr/0012-use-postgres.md")
    assert (nygard.title, nygard.number, nygard.status, nygard.date) == (
        "Use Postgres",
        "12",
        "superseded",
        "2024-03-05",
    )
    assert nygard.replaced_by == ("15",) and nygard.decision == "We use Postgres because it has transactions."
    madr = record(MADR, "decisions/0001-redis.md")
    assert (madr.title, madr.number, madr.status, madr.date, madr.made) == (
        "Use Redis",
        "1",
        "accepted",
        "2024-01-02",
        True,
    )
    bold = record(BOLD, "docs/adr/0003-three-tiers.md")
    assert (bold.title, bold.number, bold.decision) == ("Three tiers", "3", "Every link has a tier. It is shown.")
    assert not record(MADR.replace("accepted", "proposed"), "decisions/0001-redis.md").made


def test_options_that_were_not_taken_are_no_claims() -> None:
    document = readers.from_bytes("decisions/0001-redis.md", MADR.encode())
    assert isinstance(document, Document)
    labels = [said.statement.label for said in analysis.read(document).said]
    assert labels == ["Sessions are slow.", 'Chosen option: "Redis", because it is fast.']


HOSTILE = [
    "[" * 20_000,
    "*" * 20_000,
    "`" * 20_001,
    "_a" * 20_000,
    "(" * 20_000,
    "|a" * 20_000,
    "<a " * 20_000,
    "a." * 20_000,
    ":r:`" * 10_000,
    "![" * 20_000,
    "&a" * 20_000,
    "..a::\n" * 10_000,
    "see " * 20_000,
    "the " * 20_000,
]


@pytest.mark.parametrize("form", sorted(READERS))
@pytest.mark.parametrize("text", HOSTILE, ids=[text[:4].strip() for text in HOSTILE])
def test_hostile_text_takes_linear_time(form: str, text: str) -> None:
    """Four times the text costs some four times the work; a quadratic rule costs sixteen times as much and more."""
    import time

    def cost(size: int) -> float:
        best = 9e9
        for _ in range(3):
            start = time.process_time()
            for sentence in chunk.sentences(READERS[form](text[:size])):
                extract.extract(sentence)
            best = min(best, time.process_time() - start)
        return best

    small, large = cost(len(text) // 4), cost(len(text))
    assert large < 10 * max(small, 0.02), (small, large)  # below 0.02 s the clock says little
