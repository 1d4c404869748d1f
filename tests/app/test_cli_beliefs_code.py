"""Beliefs about code through the command line: drift, verdicts, words for commands of a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import auditing
import believing
import pytest
from believing import Said

from mog.app.cli import exit_codes

CART = "sym:shop/cart.py::total"
ROUND = "Totals are summed before they are rounded"
EDITED = 'def total(lines):\n    """Sum in cents."""\n    return round(sum(lines))\n'
SAYS_NO = 'import json\nprint(json.dumps({"verdict": "contradicts", "reason": "it rounds now"}))\n'


@pytest.fixture
def root(make_repo: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary: Any) -> Path:
    """A repository with an assumption about a function; the current folder."""
    made: Path = make_repo(believing.FILES)
    monkeypatch.chdir(made)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("TRUST", "KEYS", "WITNESS"):
        monkeypatch.setenv(f"MOG_{name}_DIR", str(tmp_path / name.lower()))
    assert Said(capfdbinary, "assume", ROUND, "--about", CART).code == exit_codes.OK
    return made


def edit(root: Path, text: str = EDITED) -> None:
    """Save the function anew."""
    (root / "shop" / "cart.py").write_text(text, encoding="utf-8")


def standing(capture: Any) -> str:
    """Label of the assumption."""
    label: str = Said(capture, "explain", ROUND, "--json").json["standing"]
    return label


def test_what_is_believed_about_code_is_found_by_its_name(root: Path, capfdbinary: Any) -> None:
    Said(capfdbinary, "index", "-q")
    for target in (CART, "total", "shop/cart.py::total"):
        told = Said(capfdbinary, "why", target, "--json").json
        assert [item["text"] for item in told["items"]] == [ROUND]
    assert CART in Said(capfdbinary, "why", "total").text


def test_an_anchor_needs_a_place_that_is_there(root: Path, capfdbinary: Any) -> None:
    before = believing.head(root)
    run = Said(capfdbinary, "assume", "Nothing else", "--about", "sym:shop/cart.py::gone")
    assert run.code == exit_codes.NOTHING
    assert believing.head(root) == before


def test_a_name_of_several_things_is_answered_with_all_of_them(root: Path, capfdbinary: Any) -> None:
    (root / "shop" / "other.py").write_text("def total():\n    return 0\n", encoding="utf-8")
    assert Said(capfdbinary, "index").code == exit_codes.OK
    said = Said(capfdbinary, "assume", "Something about it", "--about", "total")
    assert said.code == exit_codes.USAGE
    assert b"could be: sym:shop/cart.py::total" in said.err and b"could be: sym:shop/other.py::total" in said.err


def test_verify_counts_anchors_of_beliefs_and_records_nothing(root: Path, capfdbinary: Any) -> None:
    assert Said(capfdbinary, "verify", "--json").json["beliefs"]["fresh"] == 1
    edit(root)
    before = believing.head(root)
    run = Said(capfdbinary, "verify", "--strict", "--json")
    assert run.code == exit_codes.STALE
    assert [item["target"]["text"] for item in run.json["beliefs"]["items"]] == [ROUND]
    assert "mog recheck" in Said(capfdbinary, "verify").text
    assert believing.head(root) == before


def test_drift_alone_fells_nothing_a_verdict_does_and_a_revert_heals(root: Path, capfdbinary: Any) -> None:
    edit(root)
    told = Said(capfdbinary, "recheck", "--json").json
    assert [drift["change"] for drift in told["drifts"]] == ["minted"]
    assert (told["receipts"], len(told["open"])) == ([], 1)
    assert standing(capfdbinary) == "standing"
    evidence = told["open"][0]["evidence"]["id"]
    run = Said(capfdbinary, "recheck", "--judge", f"{evidence[:10]}=contradicts", "--reason", "it rounds now", "--json")
    assert [(receipt["auditor"], receipt["verdict"]) for receipt in run.json["receipts"]] == [("person", "contradicts")]
    assert [row["text"] for row in run.json["receipts"][0]["effect"]["falls"]] == [ROUND]
    assert standing(capfdbinary) == "fallen"
    edit(root, believing.FILES["shop/cart.py"])
    assert Said(capfdbinary, "recheck", "--json").json["drifts"][0]["change"] == "withdrawn"
    assert standing(capfdbinary) == "standing"


def test_a_verdict_that_it_holds_closes_the_question(root: Path, capfdbinary: Any) -> None:
    edit(root)
    assert Said(capfdbinary, "recheck", "--strict").code == exit_codes.STALE
    evidence = Said(capfdbinary, "recheck", "--json").json["open"][0]["evidence"]["id"]
    run = Said(capfdbinary, "recheck", "--judge", f"{evidence}=holds", "--reason", "only a name", "--strict")
    assert run.code == exit_codes.OK
    assert standing(capfdbinary) == "standing"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (["--judge", "0123456789=contradicts"], exit_codes.USAGE),
        (["--judge", "0123456789=perhaps", "--reason", "x"], exit_codes.USAGE),
        (["--judge", "0123456789", "--reason", "x"], exit_codes.USAGE),
        (["--judge", "0123456789=holds", "--reason", "x"], exit_codes.NOTHING),
        (["--judge", f"{ROUND}=holds", "--reason", "x"], exit_codes.NOTHING),
    ],
)
def test_a_verdict_needs_evidence_a_word_and_a_reason(
    root: Path, capfdbinary: Any, given: list[str], code: int
) -> None:
    before = believing.head(root)
    run = Said(capfdbinary, "recheck", *given)
    assert run.code == code
    assert b"way out" in run.err
    assert believing.head(root) == before


def test_a_command_of_the_repository_waits_until_it_is_allowed_and_again_when_it_changed(
    root: Path, capfdbinary: Any
) -> None:
    trace = root / "ran.txt"
    body = f"open({str(trace)!r}, 'a').write('x')\n" + SAYS_NO
    auditing.script(root, body)
    auditing.write_auditors(root, [auditing.declared()])
    edit(root)
    run = Said(capfdbinary, "recheck", "--strict", "--json")
    assert (run.code, [one["name"] for one in run.json["waiting"]]) == (exit_codes.POLICY, ["hashing"])
    listed = Said(capfdbinary, "allow", "--json").json
    assert ([one["why"] for one in listed["waiting"]], listed["allowed"]) == (["new"], [])
    assert "tools/audit.py" in Said(capfdbinary, "allow").text
    assert not trace.exists()

    assert [one["name"] for one in Said(capfdbinary, "allow", "hashing", "--json").json["allowed"]] == ["hashing"]
    assert Said(capfdbinary, "allow", "--json").json["waiting"] == []
    auditing.script(root, "# other bytes\n" + body)
    assert [one["why"] for one in Said(capfdbinary, "allow", "--json").json["waiting"]] == ["changed"]
    assert Said(capfdbinary, "recheck", "--strict").code == exit_codes.POLICY
    assert not trace.exists()

    Said(capfdbinary, "allow", "--all")
    run = Said(capfdbinary, "recheck", "--json")
    assert [(receipt["auditor"], receipt["reason"]) for receipt in run.json["receipts"]] == [
        ("hashing", "it rounds now")
    ]
    assert trace.read_text() == "x"
    assert standing(capfdbinary) == "fallen"


def test_a_word_is_taken_back(root: Path, capfdbinary: Any) -> None:
    auditing.script(root, SAYS_NO)
    auditing.write_auditors(root, [auditing.declared()])
    Said(capfdbinary, "allow", "hashing")
    assert Said(capfdbinary, "allow", "hashing", "--revoke", "--json").json == {"revoked": "hashing", "words": 1}
    assert [one["name"] for one in Said(capfdbinary, "allow", "--json").json["waiting"]] == ["hashing"]


@pytest.mark.parametrize(
    ("given", "code"),
    [(["nobody"], exit_codes.NOTHING), (["--revoke"], exit_codes.USAGE), (["x", "--all"], exit_codes.USAGE)],
)
def test_a_word_names_a_command(root: Path, capfdbinary: Any, given: list[str], code: int) -> None:
    assert Said(capfdbinary, "allow", *given).code == code


def test_nothing_waits_where_nothing_is_declared(root: Path, capfdbinary: Any) -> None:
    run = Said(capfdbinary, "allow")
    assert (run.code, run.text) == (exit_codes.OK, "nothing waits for a word\n")
