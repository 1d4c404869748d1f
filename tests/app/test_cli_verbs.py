"""Every verb over a workspace of hostile names: what it asks, what it prints, how it exits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import hostile_answers as fake
import pytest

from mog.app.cli import exit_codes
from mog.app.cli.commands import VERBS
from mog.app.cli.main import main
from mog.engine import errors
from mog.engine import model as m

UNSAFE_BYTES = [byte for byte in range(32) if byte not in (9, 10)] + [127]

ANSWERING = {
    "init": [],
    "index": [],
    "status": [],
    "verify": [],
    "map": [],
    "contracts": [],
    "search": ["total"],
    "expand": ["total"],
    "context": ["pack", "total"],
    "show": ["total"],
    "impact": ["total"],
    "neighbors": ["total"],
    "pin": ["total", "--note", "rounds"],
    "unpin": ["p1"],
    "pins": [],
    "export": ["edges"],
    "doctor": [],
    "grammars": [],
}
OPENING = [verb for verb in ANSWERING if verb != "init"]
SILENT = {"tui", "completion"}
# tried over a real workspace, where there is something to believe: tests/app/test_cli_beliefs*.py, test_demo.py
BELIEFS = {
    "allow", "ask", "assume", "claim", "decide", "demo", "evidence", "explain", "health", "ingest", "invalidate", "ledger",
    "lineage", "recheck", "retract", "supersede", "why", "withdraw",
}  # fmt: skip
NOTES = {"remember", "recall", "forget", "promote", "ws"}  # tried in tests/memory
EVALS = {"eval"}  # tried in tests/evals
CLIENTS = {"mcp", "hook"}  # tried in tests/clients
SERVED = {"serve", "traffic"}  # tried in tests/mcp
DRILLS = {"drill"}  # tried in tests/drills
WORK = {"plan", "repair", "resume", "session"}  # tried in test_cli_plan.py


@pytest.fixture(autouse=True)
def workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The fake in place of the engine's façade; yields its table of answers."""
    monkeypatch.setitem(sys.modules, "mog.engine.workspace", fake)
    monkeypatch.chdir(tmp_path)
    fake.Workspace.behaviour.clear()
    fake.Workspace.calls.clear()
    yield fake.Workspace.behaviour
    fake.Workspace.behaviour.clear()


class Run:
    """One run of the command line: exit code and both streams as bytes."""

    def __init__(self, capfd: pytest.CaptureFixture[bytes], *arguments: str) -> None:
        capfd.readouterr()
        self.code = main(list(arguments))
        self.out, self.err = capfd.readouterr()

    @property
    def text(self) -> str:
        """Stdout as text."""
        return self.out.decode()

    @property
    def json(self) -> Any:
        """Stdout as one JSON document."""
        return json.loads(self.out)


def asked(name: str) -> dict[str, Any]:
    """Arguments of the last call of ``name``."""
    return next(arguments for call, arguments in reversed(fake.Workspace.calls) if call == name)


def assert_safe(data: bytes) -> None:
    """No control byte, no bidirectional or invisible character, valid UTF-8."""
    assert [byte for byte in UNSAFE_BYTES if byte in data] == []
    text = data.decode("utf-8")
    assert [c for c in text if c in "\u202e\u2066\u200b\x9b\u2028"] == []


def test_every_verb_is_tried_here() -> None:
    tried = ANSWERING.keys() | SILENT | BELIEFS | DRILLS | WORK | NOTES | EVALS | CLIENTS | SERVED
    assert {verb.name for verb in VERBS} == tried


@pytest.mark.parametrize("verb", ANSWERING)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_no_unsafe_byte_leaves_a_verb(capfdbinary: Any, verb: str, form: list[str]) -> None:
    run = Run(capfdbinary, verb, *ANSWERING[verb], *form)
    assert run.code == exit_codes.OK
    assert run.out
    assert_safe(run.out)
    assert_safe(run.err)


@pytest.mark.parametrize("verb", ANSWERING)
def test_every_verb_answers_in_one_json_document(capfdbinary: Any, verb: str) -> None:
    assert isinstance(Run(capfdbinary, verb, *ANSWERING[verb], "--json").json, dict)


@pytest.mark.parametrize("verb", OPENING)
def test_every_verb_closes_the_workspace(capfdbinary: Any, verb: str) -> None:
    Run(capfdbinary, verb, *ANSWERING[verb])
    assert fake.Workspace.calls[-1][0] == "close"


@pytest.mark.parametrize("verb", OPENING)
@pytest.mark.parametrize(
    "error",
    [
        errors.NoWorkspace(f"no repository {fake.EVIL}", where=fake.EVIL, way_out="run git init"),
        errors.GitRefused("dubious ownership", way_out="git config --global --add safe.directory …"),
        errors.ConfigError("bad", where="mog.yaml:3", way_out="mend it"),
        errors.StoreDamaged("index.db is damaged", way_out="mog doctor --repair"),
        fake.HELD,
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_names_what_where_and_the_way_out(
    capfdbinary: Any, workspace: dict[str, Any], verb: str, error: errors.MogError
) -> None:
    workspace["open"] = error
    run = Run(capfdbinary, verb, *ANSWERING[verb])
    assert run.code == error.exit_code
    assert run.out == b""
    assert_safe(run.err)
    assert "way out: " + error.way_out in run.err.decode()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search"], exit_codes.USAGE),
        (["search", "--limit", "0", "x"], exit_codes.USAGE),
        (["search", "--limt", "3", "x"], exit_codes.USAGE),
        (["show"], exit_codes.USAGE),
        (["pin", "total"], exit_codes.USAGE),
        (["neighbors", "total", "--direction", "up"], exit_codes.USAGE),
        (["status", "--repo", "does/not/exist"], exit_codes.USAGE),
        (["serch", "x"], exit_codes.USAGE),
        (["--nonsense"], exit_codes.USAGE),
        (["show", "many"], exit_codes.USAGE),
        (["unpin", "nobody"], exit_codes.NOTHING),
        (["impact", "early"], exit_codes.STALE),
    ],
)
def test_what_cannot_be_meant_exits_with_its_code_and_a_way_out(
    capfdbinary: Any, arguments: list[str], code: int
) -> None:
    run = Run(capfdbinary, *arguments)
    assert run.code == code
    assert run.out == b""
    assert b"way out: " in run.err


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["serch", "x"], "mog search"),
        (["search", "--jsn", "x"], "--json"),
        (["neighbours", "x"], "mog neighbors"),
        (["neighbors", "x", "--kind", "cals"], "the nearest is calls"),
        (["export", "edges", "--kind", "import"], "the nearest is imports"),
        (["search", "x", "--kind", "fnction"], "the nearest is function"),
    ],
)
def test_a_slip_is_answered_with_the_nearest_name(capfdbinary: Any, arguments: list[str], nearest: str) -> None:
    run = Run(capfdbinary, *arguments)
    assert run.code == exit_codes.USAGE
    assert nearest in run.err.decode()


def test_an_ambiguous_name_lists_its_candidates(capfdbinary: Any) -> None:
    run = Run(capfdbinary, "impact", "many")
    assert run.err.count(b"could be: ") == 2


def test_search_passes_on_what_was_typed(capfdbinary: Any) -> None:
    Run(capfdbinary, "search", "where", "are", "tokens", "--kind", "method", "-n", "7")
    assert asked("search") == {"query": "where are tokens", "limit": 7, "kinds": ("method",), "rerank": True}


def test_a_query_may_begin_with_a_dash_after_two(capfdbinary: Any) -> None:
    Run(capfdbinary, "search", "--", "--json")
    assert asked("search")["query"] == "--json"


def test_a_search_without_hits_exits_1_and_still_says_its_limits(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    workspace["search"] = replace(fake.SEARCH, hits=(), total=0)
    run = Run(capfdbinary, "search", "zzz")
    assert run.code == exit_codes.NOTHING
    assert "not shown" in run.text


def test_shared_options_may_stand_before_the_verb(capfdbinary: Any, tmp_path: Path) -> None:
    assert Run(capfdbinary, "--json", "--repo", str(tmp_path), "status").json["files"] == 9


def test_a_name_copied_from_our_own_output_is_found_again(capfdbinary: Any) -> None:
    Run(capfdbinary, "show", "sym:a\\x1b[31m.py::f")
    assert asked("neighbors")["target"] == "sym:a\x1b[31m.py::f"


def test_a_target_spelled_wrong_is_answered_with_the_nearest_node(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    workspace["impact"] = errors.NotFound("nothing is called Cart.bil")
    workspace["search"] = replace(fake.SEARCH, hits=(m.Hit(fake.CALLER, 1.0, m.Freshness.fresh),))
    run = Run(capfdbinary, "impact", "bil")
    assert run.code == exit_codes.NOTHING
    assert b"the nearest is sym:jobs/invoice.py::bill" in run.err


def test_neighbors_passes_kinds_direction_and_tiers(capfdbinary: Any) -> None:
    Run(capfdbinary, "neighbors", "x", "--kind", "calls", "--kind", "imports", "--direction", "in", "--tier", "certain")
    call = asked("neighbors")
    assert (call["kinds"], call["direction"], call["tiers"]) == (("calls", "imports"), "in", ("certain",))


def test_index_flags_reach_the_engine_and_the_configuration(capfdbinary: Any) -> None:
    assert Run(capfdbinary, "index", "--full", "--workers", "3", "--json").code == exit_codes.OK
    assert asked("index") == {"full": True, "workers": 3}


def test_a_configuration_error_exits_3_with_file_and_line(capfdbinary: Any, tmp_path: Path) -> None:
    (tmp_path / "mog.yaml").write_text("index:\n  worker: 3\n")
    run = Run(capfdbinary, "status")
    assert run.code == exit_codes.CONFIG
    assert b"mog.yaml:2" in run.err
    assert b"index.workers" in run.err


def test_strict_verify_exits_4_on_drift_only(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    assert Run(capfdbinary, "verify").code == exit_codes.OK
    assert Run(capfdbinary, "verify", "--strict").code == exit_codes.STALE
    workspace["verify"] = m.VerifyReport((), 2, 1, 0, 1, 0, 0, 0, fake.STAMP)
    assert Run(capfdbinary, "verify", "--strict").code == exit_codes.OK


def test_status_without_an_index_exits_4(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    workspace["status"] = replace(fake.STATUS, indexed=False)
    run = Run(capfdbinary, "status")
    assert run.code == exit_codes.STALE
    assert "mog index" in run.text


def test_a_damaged_store_exits_9_and_still_lists_the_checks(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    workspace["doctor"] = (m.Check("ledger", "damaged", "event 4", "restore it"),)
    run = Run(capfdbinary, "doctor")
    assert run.code == exit_codes.DAMAGED
    assert "event 4" in run.text


def test_doctor_shows_where_each_setting_comes_from(capfdbinary: Any, tmp_path: Path) -> None:
    (tmp_path / "mog.yaml").write_text("project: shop\npolicy: {}\n")
    run = Run(capfdbinary, "doctor", "--json")
    assert {"name": "project", "value": "shop", "origin": "mog.yaml:1"} in run.json["settings"]
    assert "policy" in run.json["notes"][0]


def test_show_withholds_gated_source_and_says_gated(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    workspace["source"] = fake.DENIED
    workspace["neighbors"] = replace(fake.HOOD, node=fake.GATED)
    run = Run(capfdbinary, "show", "KEY")
    assert run.code == exit_codes.OK
    assert "gated" in run.text
    assert Run(capfdbinary, "show", "KEY", "--json").json["source"] == ""


def test_show_numbers_the_lines_of_the_source_and_counts_the_rest(capfdbinary: Any) -> None:
    text = Run(capfdbinary, "show", "total", "--lines", "2").text
    assert "    41  def total(self):" in text
    assert "    42      x = '\\x1b[2J\\u202e'" in text
    assert "1 more lines" in text


def test_export_writes_one_object_a_line(capfdbinary: Any) -> None:
    rows = [
        json.loads(line) for line in Run(capfdbinary, "export", "edges", "--kind", "calls", "--jsonl").text.splitlines()
    ]
    assert [set(row) for row in rows] == [{"caller", "callee", "name", "tier"}]
    assert asked("export_edges") == {"kind": "calls"}


def test_quiet_leaves_only_what_was_asked_for(capfdbinary: Any) -> None:
    assert Run(capfdbinary, "index", "-q").out == b""
    assert Run(capfdbinary, "pin", "x", "--note", "n", "-q").out == b""
    assert Run(capfdbinary, "search", "x", "-q").out != b""


def test_alone_without_a_terminal_it_reports_and_exits_0(capfdbinary: Any) -> None:
    run = Run(capfdbinary)
    assert run.code == exit_codes.OK
    assert "9 files, 40 symbols" in run.text
    assert "skipped" in run.text
    assert_safe(run.out)
    assert asked("index") == {"full": False, "workers": None}


def test_alone_while_another_writes_it_shows_the_index_that_is_there(
    capfdbinary: Any, workspace: dict[str, Any]
) -> None:
    workspace["index"] = fake.HELD
    run = Run(capfdbinary)
    assert run.code == exit_codes.OK
    assert b"4242" in run.err
    workspace["has_index"] = False
    assert Run(capfdbinary).code == exit_codes.HELD


def test_a_fault_of_ours_has_its_own_code_and_a_safe_traceback(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    workspace["status"] = RuntimeError(f"boom {fake.EVIL}")
    run = Run(capfdbinary, "status")
    assert run.code == exit_codes.FAULT
    assert b"RuntimeError" in run.err
    assert_safe(run.err)


def test_an_interrupt_exits_130(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    workspace["index"] = KeyboardInterrupt()
    assert Run(capfdbinary, "index").code == exit_codes.CANCELLED


def test_a_file_that_cannot_be_read_is_no_fault(capfdbinary: Any, workspace: dict[str, Any]) -> None:
    workspace["status"] = PermissionError(13, "Permission denied", f".mog/{fake.EVIL}")
    run = Run(capfdbinary, "status")
    assert run.code == exit_codes.USAGE
    assert b"Permission denied" in run.err
    assert_safe(run.err)


def test_every_error_class_has_an_exit_code_of_the_table() -> None:
    classes = [item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, errors.MogError)]
    assert {item.exit_code for item in classes} <= exit_codes.MEANINGS.keys()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_verb(capfdbinary: Any, shell: str) -> None:
    text = Run(capfdbinary, "completion", shell).text
    assert [verb.name for verb in VERBS if verb.name not in text] == []


def test_help_lists_every_verb_and_every_verb_has_help(capfdbinary: Any) -> None:
    text = Run(capfdbinary, "--help").text
    assert [verb.name for verb in VERBS if f"{verb.name}: " not in text] == []
    for verb in VERBS:
        run = Run(capfdbinary, verb.name, "--help")
        assert run.code == exit_codes.OK
        assert f"Usage: mog {verb.name}" in run.text


def test_init_writes_a_configuration_that_loads_and_overwrites_nothing(capfdbinary: Any, tmp_path: Path) -> None:
    assert "mog.yaml" in Run(capfdbinary, "init", "--json").json["written"]
    written = (tmp_path / "mog.yaml").read_bytes()
    assert Run(capfdbinary, "status").code == exit_codes.OK
    assert "mog.yaml" not in Run(capfdbinary, "init", "--json").json["written"]
    assert (tmp_path / "mog.yaml").read_bytes() == written


@pytest.mark.parametrize("pane", ["health", "drift", "all"])
def test_a_pane_can_be_printed(capfdbinary: Any, pane: str) -> None:
    run = Run(capfdbinary, "tui", "--plain", pane)
    assert run.code == exit_codes.OK, run.err
    assert_safe(run.out)
