"""``mog ledger`` and the ledger's part of ``mog doctor``: lists, proofs that others can check, damage that is found."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import believing
import pytest
from believing import PRICES, Said

from mog.app.cli import exit_codes


@pytest.fixture
def root(make_repo: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary: Any) -> Path:
    """A repository in which a few events were recorded; the current folder."""
    made: Path = make_repo(believing.FILES)
    monkeypatch.chdir(made)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("TRUST", "KEYS", "WITNESS"):
        monkeypatch.setenv(f"MOG_{name}_DIR", str(tmp_path / name.lower()))
    believing.believe(capfdbinary)
    return made


def damage(root: Path, statement: str) -> None:
    """Change the ledger behind its back."""
    with sqlite3.connect(root / ".mog" / "ledger.db", isolation_level=None) as db:
        assert db.execute(statement).rowcount
    db.close()


def test_events_are_listed_in_pages_that_say_what_they_leave_out(root: Path, capfdbinary: Any) -> None:
    whole = Said(capfdbinary, "ledger", "--json").json
    count = whole["head"]["seq"]
    assert [row["seq"] for row in whole["items"]] == list(range(1, count + 1))
    assert PRICES in whole["items"][0]["summary"]
    page = Said(capfdbinary, "ledger", "list", "--after", "1", "--limit", "2", "--json").json
    assert ([row["seq"] for row in page["items"]], page["omitted"]) == ([2, 3], count - 2)
    assert f"{count - 3} later event" in Said(capfdbinary, "ledger", "list", "--after", "1", "--limit", "2").text


def test_one_event_is_shown_in_full(root: Path, capfdbinary: Any) -> None:
    told = Said(capfdbinary, "ledger", "show", "1", "--json").json
    assert told["type"] == "assumed"
    assert told["data"]["ops"][0][4] == PRICES
    assert PRICES in Said(capfdbinary, "ledger", "show", "1").text
    assert Said(capfdbinary, "ledger", "show", "9999").code == exit_codes.NOTHING


def verifier(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The script that ``mog ledger verifier`` printed, run without mog on the path."""
    vector = [sys.executable, "-I", "-S", "check.py", *arguments]
    return subprocess.run(vector, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def test_a_stranger_checks_an_event_and_a_prefix_with_the_printed_script_alone(
    root: Path, tmp_path: Path, capfdbinary: Any
) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "check.py").write_bytes(Said(capfdbinary, "ledger", "verifier").out)
    first = Said(capfdbinary, "ledger", "checkpoint", "--json").json
    (away / "old.txt").write_bytes(Said(capfdbinary, "ledger", "checkpoint").out)
    Said(capfdbinary, "assume", "It never rains")
    (away / "new.txt").write_bytes(Said(capfdbinary, "ledger", "checkpoint").out)
    (away / "proof.json").write_bytes(Said(capfdbinary, "ledger", "prove", "2").out)
    (away / "prefix.json").write_bytes(Said(capfdbinary, "ledger", "prove", "--since", str(first["size"])).out)
    key = ("--key", first["key"])
    assert verifier(away, "inclusion", "proof.json", "new.txt", *key).returncode == 0
    assert verifier(away, "consistency", "prefix.json", "old.txt", "new.txt", *key).returncode == 0
    forged = json.loads((away / "proof.json").read_text())
    forged["event"] = forged["event"].replace("cents", "euros")
    (away / "forged.json").write_text(json.dumps(forged))
    assert verifier(away, "inclusion", "forged.json", "new.txt", *key).returncode == 1


@pytest.mark.parametrize("given", [[], ["1", "--since", "1"]])
def test_a_proof_is_of_one_thing(root: Path, capfdbinary: Any, given: list[str]) -> None:
    assert Said(capfdbinary, "ledger", "prove", *given).code == exit_codes.USAGE


def test_an_event_that_is_not_there_is_not_proved(root: Path, capfdbinary: Any) -> None:
    run = Said(capfdbinary, "ledger", "prove", "9999")
    assert (run.code, run.out) == (exit_codes.NOTHING, b"")


def test_a_proof_is_ascii_whatever_the_words_were(root: Path, capfdbinary: Any) -> None:
    Said(capfdbinary, "assume", "Totals \x1b[2J round \u202eonce")
    proof = Said(capfdbinary, "ledger", "prove", str(believing.head(root)[0]))
    assert proof.out.isascii()
    assert b"\x1b" not in proof.out
    assert "\u202e" in proof.json["event"]


def test_a_sound_ledger_is_replayed_and_says_so(root: Path, capfdbinary: Any) -> None:
    run = Said(capfdbinary, "ledger", "verify", "--json")
    assert run.code == exit_codes.OK
    assert (run.json["ok"], run.json["replayed"], run.json["events"]) == (True, True, believing.head(root)[0])
    Said(capfdbinary, "ledger", "checkpoint")
    told = Said(capfdbinary, "ledger", "verify", "--json").json
    assert told["checkpoint"]["known"]
    assert "the same" in told["witness"]


def test_a_changed_event_is_found_by_verify_and_doctor_and_exits_9(root: Path, capfdbinary: Any) -> None:
    damage(root, "UPDATE events SET digest = zeroblob(32) WHERE seq = 1")
    run = Said(capfdbinary, "ledger", "verify", "--json")
    assert (run.code, run.json["ok"], run.json["damaged_at"]) == (exit_codes.DAMAGED, False, 1)
    assert Said(capfdbinary, "doctor").code == exit_codes.DAMAGED
    run = Said(capfdbinary, "doctor", "--repair", "--json")
    assert run.code == exit_codes.DAMAGED
    check = next(check for check in run.json["checks"] if check["name"] == "ledger")
    assert "copy" in check["way_out"]


def test_a_changed_record_is_found_and_made_anew_from_the_events(root: Path, capfdbinary: Any) -> None:
    before = believing.head(root)
    damage(root, "UPDATE nodes SET data = zeroblob(length(data)) WHERE id = (SELECT max(id) FROM nodes)")
    assert Said(capfdbinary, "ledger", "verify").code == exit_codes.DAMAGED
    run = Said(capfdbinary, "doctor", "--json")
    assert run.code == exit_codes.DAMAGED
    check = next(check for check in run.json["checks"] if check["name"] == "ledger")
    assert "--repair" in check["way_out"]
    assert Said(capfdbinary, "doctor", "--repair").code == exit_codes.OK
    assert Said(capfdbinary, "ledger", "verify").code == exit_codes.OK
    assert believing.head(root) == before
    assert Said(capfdbinary, "explain", PRICES).code == exit_codes.OK


def test_a_past_that_was_rolled_back_is_refused(root: Path, capfdbinary: Any) -> None:
    copy = (root / ".mog" / "ledger.db").read_bytes()
    Said(capfdbinary, "assume", "It never rains")
    Said(capfdbinary, "ledger", "checkpoint")
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (root / ".mog" / name).unlink(missing_ok=True)
    (root / ".mog" / "ledger.db").write_bytes(copy)
    run = Said(capfdbinary, "ledger", "verify")
    assert run.code == exit_codes.DAMAGED
    assert "rolled back" in run.text + run.err.decode()


@pytest.mark.parametrize("given", [["1"], ["9999", "--reason", "x"]])
def test_undo_needs_an_event_and_a_reason(root: Path, capfdbinary: Any, given: list[str]) -> None:
    before = believing.head(root)
    run = Said(capfdbinary, "ledger", "undo", *given)
    assert run.code in (exit_codes.USAGE, exit_codes.NOTHING)
    assert believing.head(root) == before


def test_an_empty_ledger_has_nothing_to_list_and_nothing_to_sign(
    make_repo: Any, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    (empty / ".mog").mkdir(parents=True)
    assert Said(capfdbinary, "ledger", "--repo", str(empty)).code == exit_codes.NOTHING
    assert Said(capfdbinary, "ledger", "checkpoint", "--repo", str(empty)).code == exit_codes.USAGE
    assert Said(capfdbinary, "ledger", "verify", "--repo", str(empty)).code == exit_codes.OK
