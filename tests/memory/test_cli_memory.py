"""``mog remember``, ``recall``, ``forget``, ``promote`` through the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import believing
import pytest
from believing import Said

from mog.app.cli import exit_codes

CART = "sym:shop/cart.py::total"
ROUND = "Sum first, then round"


@pytest.fixture
def root(make_repo: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    made: Path = make_repo(believing.FILES)
    monkeypatch.chdir(made)
    monkeypatch.delenv("COLUMNS", raising=False)
    return made


def test_a_note_is_kept_found_promoted_and_forgotten(root: Path, capfdbinary: Any) -> None:
    kept = Said(capfdbinary, "remember", "decision", ROUND, "--anchor", CART, "--origin", "agent", "--by", "claude", "--json")
    assert kept.code == exit_codes.OK
    note = kept.json["note"]
    assert (note["record"], note["proposed"], note["origin"], note["freshness"]) == ("proposal", True, "agent", "fresh")
    found = Said(capfdbinary, "recall", "rounding", "--json").json
    assert [one["ref"] for one in found["items"]] == [note["ref"]]
    assert "an agent's word" in Said(capfdbinary, "recall", note["ref"]).text
    mine = Said(capfdbinary, "promote", note["id"][:10], "--json").json["note"]
    assert (mine["type"], mine["origin"]) == ("decision", "user")
    assert Said(capfdbinary, "forget", mine["ref"], "--reason", "no longer").code == exit_codes.OK
    assert Said(capfdbinary, "recall", "rounding").code == exit_codes.NOTHING
    assert "retracted" in Said(capfdbinary, "recall", "rounding", "--gone").text


def test_what_changed_and_when_is_told(root: Path, capfdbinary: Any) -> None:
    Said(capfdbinary, "remember", "fact", ROUND, "--anchor", CART)
    (root / "shop" / "cart.py").write_text("def total(lines):\n    return 0\n")
    run = Said(capfdbinary, "recall", "round", "--json").json
    assert run["items"][0]["anchors"][0]["changed"]["since"] == "working_tree"
    assert "in the working tree" in Said(capfdbinary, "recall").text


def test_refusals_have_their_codes_and_write_nothing(root: Path, capfdbinary: Any) -> None:
    secret = "the key is ghp_" + "FAKE" * 9
    refused = Said(capfdbinary, "remember", "constraint", "no network", "--origin", "agent")
    assert refused.code == exit_codes.POLICY
    assert b"mog promote ID --as constraint" in refused.err
    assert Said(capfdbinary, "remember", "fact", secret).code == exit_codes.POLICY
    assert Said(capfdbinary, "remember", "fact", ROUND, "--anchor", "sym:shop/cart.py::gone").code == exit_codes.NOTHING
    assert Said(capfdbinary, "remember", "rumour", "x").code == exit_codes.USAGE
    assert Said(capfdbinary, "forget", "note:0123456789", "--reason", "x").code == exit_codes.NOTHING
    assert Said(capfdbinary, "forget", "note:0123456789").code == exit_codes.USAGE
    assert Said(capfdbinary, "recall", "note:0123456789").code == exit_codes.NOTHING
    assert not (root / ".mog" / "ledger.db").exists()


def test_a_replaced_note_names_its_successor(root: Path, capfdbinary: Any) -> None:
    old = Said(capfdbinary, "remember", "correction", "use tabs, not spaces", "--json").json["note"]
    new = Said(capfdbinary, "remember", "correction", "use tabs in Makefiles", "--replaces", old["ref"], "--json").json["note"]
    assert new["replaces"] == old["id"]
    assert Said(capfdbinary, "recall", old["ref"], "--json").json["items"][0]["replaced_by"] == new["id"]


def test_hostile_text_is_shown_with_visible_escapes(root: Path, capfdbinary: Any) -> None:
    Said(capfdbinary, "remember", "fact", "red \x1b[31m\u202e alert\nsecond line")
    shown = Said(capfdbinary, "recall", "alert")
    assert b"\x1b" not in shown.out
    assert "\u202e" not in shown.text
    assert "second line" in shown.text


def test_the_newest_are_listed_without_words(root: Path, capfdbinary: Any) -> None:
    for number in range(3):
        Said(capfdbinary, "remember", "task" if number else "risk", f"thing {number}")
    assert [one["text"] for one in Said(capfdbinary, "recall", "--json").json["items"]] == ["thing 2", "thing 1", "thing 0"]
    told = Said(capfdbinary, "recall", "--kind", "task", "-n", "1")
    assert "1 more" in told.text
