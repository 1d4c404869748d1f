"""``mog context annotate|snapshot|versions|health|impact`` over a real repository: what is printed, how it exits."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from snapshot_kit import FILES

from mog.app.cli import exit_codes
from mog.app.cli.main import main


@pytest.fixture
def run(make_repo: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(make_repo(FILES))
    assert main(["index", "--quiet"]) == exit_codes.OK
    capfd.readouterr()

    def runs(*arguments: str) -> tuple[int, str]:
        code = main(list(arguments))
        return code, capfd.readouterr().out

    return runs


def test_a_request_goes_out_as_a_file_and_comes_back(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "request.json"
    code, said = run("context", "annotate", "request", "archive", "--out", str(out))
    assert code == exit_codes.OK and "1 symbol to describe" in said
    document = json.loads(out.read_text())
    (item,) = document["items"]
    answer = {
        **document["answer"],
        "annotations": [{"node_id": item["node_id"], "span_hash": item["span_hash"], "purpose": "Archives."}],
    }
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    code, said = run("context", "annotate", "apply", str(tmp_path / "answer.json"), "--by", "model-1")
    assert code == exit_codes.OK and "1 annotation recorded" in said
    code, said = run("context", "annotate", "apply", str(tmp_path / "answer.json"), "--by", "model-1")
    assert code == exit_codes.OK and "0 annotations recorded, 1 known already" in said
    assert "advice by model-1, not verified; current" in run("show", "archive", "--lines", "0")[1]
    assert "advice by model-1, not verified; current" in run("why", "archive")[1]
    assert json.loads(run("why", "archive", "--json")[1])["annotations"][0]["purpose"] == "Archives."
    assert json.loads(run("show", "archive", "--json")[1])["annotations"][0]["trust"] == "advisory"
    assert "advice, not verified:" in run("context", "pack", "archive")[1]
    file = Path("app/services/tasks.py")
    file.write_text(file.read_text().replace("tasks.complete(1)", "tasks.complete(2)"))
    for verb in (("show", "archive", "--lines", "0"), ("why", "archive"), ("context", "annotate", "list", "--stale")):
        assert "not verified; stale: span changed" in " ".join(run(*verb)[1].split())


def test_a_file_that_is_none_exits_2_and_one_without_use_1(run: Any, tmp_path: Path) -> None:
    assert run("context", "annotate", "apply", str(tmp_path / "nothing.json"))[0] == exit_codes.USAGE
    (tmp_path / "x.json").write_text("[]")
    assert run("context", "annotate", "apply", str(tmp_path / "x.json"))[0] == exit_codes.USAGE
    (tmp_path / "y.json").write_text('{"schema": "mog.context.annotations.v1", "annotations": []}')
    assert run("context", "annotate", "apply", str(tmp_path / "y.json"))[0] == exit_codes.NOTHING
    assert run("context", "annotate", "list")[0] == exit_codes.NOTHING


def test_a_snapshot_says_what_it_registered_and_writes_it(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "s.json"
    code, said = run("context", "snapshot", "--out", str(out), "--quiet")
    assert code == exit_codes.OK and "healthy  current" in said and str(out) in "".join(said.split())
    document = json.loads(run("context", "snapshot", "--json", "--quiet")[1])
    assert document["identity"] == json.loads(out.read_text())["identity"] and document["health"]["status"] == "healthy"
    assert json.loads(run("context", "snapshot", "--out", "-", "--quiet")[1])["totals"]["nodes"] == document["nodes"]


def test_a_blocked_graph_exits_1(run: Any) -> None:
    Path("app/core.py").write_text("def f():\n    return 1\n" + "# " + "x" * 4_000 + "\n")
    Path("mog.yaml").write_text("version: 1\nindex:\n  max_file_bytes: 2000\n")
    code, said = run("context", "snapshot", "--quiet")
    assert code == exit_codes.NOTHING and "blocked" in said and "app/core.py" in said
    assert run("context", "health")[0] == exit_codes.NOTHING


def test_health_is_for_people_and_programs(run: Any) -> None:
    code, said = run("context", "health")
    assert code == exit_codes.OK and said.startswith("healthy  current")
    document = json.loads(run("context", "health", "--json")[1])
    assert document["health_report"]["status"] == "healthy" and document["stale"]["status"] == "current"


def test_versions_are_listed_and_compared(run: Any) -> None:
    assert run("context", "versions")[0] == exit_codes.NOTHING
    run("context", "snapshot", "--quiet")
    Path("app/db.py").write_text("def save(row):\n    return 1\n\n\ndef load():\n    return 2\n")
    run("context", "snapshot", "--quiet")
    known = json.loads(run("context", "versions", "--json")[1])["versions"]
    assert len(known) == 2 and run("context", "versions")[1].count("facts ") == 2
    code, said = run("context", "versions", known[0]["facts_hash"][:12])
    assert code == exit_codes.OK and "nodes: 1 added, 0 removed" in said and "+ sym:app/db.py::load" in said


def test_an_impact_query_comes_from_a_file_or_from_stdin(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = json.loads(run("context", "snapshot", "--json", "--quiet")[1])["identity"]["identity_digest"]
    query = {"snapshot_digest": digest, "seeds": ["app/db.py::save"], "allowed_edge_types": ["calls"]}
    (tmp_path / "q.json").write_text(json.dumps(query))
    code, said = run("context", "impact", "--query", str(tmp_path / "q.json"))
    assert code == exit_codes.OK and "may deserve a look" in said and "calls of sym:app/db.py::save" in said

    class Stdin:
        buffer = io.BytesIO(json.dumps({**query, "snapshot_digest": "0" * 64}).encode())

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert run("context", "impact", "--query", "-")[0] == exit_codes.STALE


def test_serving_asks_for_one_protocol(run: Any) -> None:
    assert (
        run("serve")[0]
        == run("serve", "--mcp", "--http")[0]
        == run("serve", "--mcp", "--root", ".")[0]
        == exit_codes.USAGE
    )
    assert run("serve", "--http", "--demo")[0] == exit_codes.USAGE


def test_explaining_the_record_of_an_annotation_says_what_it_is(run: Any, tmp_path: Path) -> None:
    document = json.loads(run("context", "annotate", "request", "archive", "--json")[1])
    item = document["items"][0]
    answer = {
        **document["answer"],
        "annotations": [{"node_id": item["node_id"], "span_hash": item["span_hash"], "purpose": "Archives."}],
    }
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    run("context", "annotate", "apply", str(tmp_path / "answer.json"))
    record = json.loads(run("context", "annotate", "list", "--json")[1])["annotations"][0]["record"]
    code, said = run("explain", record)
    assert code == exit_codes.OK and "advice by a model: not verified" in said and "unnamed" not in said.splitlines()[0]
