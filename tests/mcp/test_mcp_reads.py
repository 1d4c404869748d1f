"""What reads may not do: every reading tool and resource leaves the ledger, byte for byte, and what stands, as they were."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_kit import Raw, served

from mog.app.mcp import resources
from mog.app.mcp.table import TOOLS
from mog.engine.workspace import Workspace

GROUND = "Tokens have two parts"
EVERY = ("--tools", "core,mesh,context,write")
READS: list[tuple[str, dict[str, Any]]] = [
    ("search_context", {"query": "where are tokens checked?"}), ("search_context", {"query": "gate.py verify_token", "budget": 64}),
    ("expand", {"target": "verify_token"}), ("expand", {"target": "gate.py", "zoom": "L3"}), ("expand", {"target": "nothing"}),
    ("impact", {"target": "parse", "maybe": True}), ("why", {"target": "parse"}), ("why", {"target": "nothing"}),
    ("recall", {}), ("recall", {"query": "tokens"}), ("verify", {}),
    ("mesh_ask", {"question": "What does the Token Rule cover?"}), ("mesh_ask", {"question": "Why is the moon round?"}),
    ("mesh_get_node", {"node_id": GROUND}), ("mesh_get_node", {"node_id": "nothing"}), ("mesh_find", {}),
    ("mesh_find", {"type": "task"}), ("mesh_find", {"type": "key"}), ("mesh_health", {}), ("mesh_lineage", {"assumption_id": GROUND}),
    ("mesh_blast_radius", {"assumption_id": GROUND}), ("mesh_blast_radius", {"assumption_id": "nothing"}),
    ("mesh_explain_as_of", {"question": "What does the Token Rule cover?", "as_of": "2026-01-01"}),
    ("mesh_reconstruct_decision", {"decision_id": "Keep no parser"}),
    ("get_context_graph_catalog", {"query": "token"}), ("get_context_graph_scope", {"paths": ["gate.py", "nowhere.py"]}),
    ("load_context", {"handle": "ctx://0000000000000000"}),
]  # fmt: skip
FAILING: list[tuple[str, dict[str, Any]]] = [
    ("pin", {"target": "nothing", "note": "x"}), ("pin", {"target": "parse", "note": "x" * 70_000}), ("unpin", {"id": "pin_nothing"}),
    ("remember", {"kind": "convention", "text": "x"}), ("remember", {"kind": "fact", "text": "x", "about": ["nothing"]}),
    ("mesh_submit_evidence", {"text": "x", "source_id": "nothing"}),
    ("mesh_submit_evidence", {"text": "x", "source_id": GROUND, "metadata": {"a": [[[[[[[[[1]]]]]]]]]}}),
    ("mesh_repair", {"task": "nothing", "assumes": "x"}), ("create_context", {"pinned": ["nothing"]}),
]  # fmt: skip


def believed(root: Path) -> dict[str, Any]:
    """Head with its digest and state root, the ontology, every record with its standing, its versions, and every pin."""
    with Workspace.open(root) as workspace:
        mesh = workspace.beliefs.mesh
        return {
            "head": workspace.beliefs.log.head(),
            "state": workspace.beliefs.log.head().state,
            "ontology": workspace.ontology.digest,
            "records": {id: (node, str(mesh.label(id)), mesh.retired(id)) for id, node in mesh.tables.nodes.items()},
            "edges": sorted(map(repr, mesh.tables.edges)),
            "pins": [one.pin for one in workspace.pins()],
        }


def bytes_of(root: Path) -> str:
    """Digest of the ledger's file."""
    return hashlib.sha256((root / ".mog" / "ledger.db").read_bytes()).hexdigest()


def files_of(root: Path) -> dict[str, str]:
    """Every file below a folder with a digest, but what the database keeps for readers."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }


def read_everything(server: Raw) -> None:
    """Every reading tool, also with what is not there; every resource; every prompt."""
    for name, arguments in READS:
        server.call(name, **arguments)
    id = server.call("mesh_find", type="assumption")["structuredContent"]["items"]
    named = [one.uri.replace("{id}", id[0]["id"] if id else "0" * 32) for one in resources.TEMPLATES]
    for uri in [*(one.uri for one in resources.LISTED), *named, "mog://node/nothing"]:
        server.answer(server.begin("resources/read", {"uri": uri}))
        server.answer(server.begin("resources/subscribe", {"uri": uri}))
    for prompt in server.ask("prompts/list", {})["prompts"]:
        given = {one["name"]: "parse" for one in prompt["arguments"]}
        assert server.ask("prompts/get", {"name": prompt["name"], "arguments": given})["messages"]


def test_the_reads_below_are_every_reading_tool() -> None:
    assert {name for name, _ in READS} == {tool.name for tool in TOOLS if not tool.writes}


@pytest.mark.parametrize("checkpoint", ["every-ask", "never"])
def test_no_read_changes_what_is_recorded_or_what_stands_and_never_changes_no_file(repo: Path, checkpoint: str) -> None:
    before, bytes_before, files_before = believed(repo), bytes_of(repo), files_of(repo)
    with served(repo, *EVERY, "--checkpoint", checkpoint) as server:
        read_everything(server)
        for name, arguments in FAILING if checkpoint == "never" else ():
            assert server.call(name, **arguments)["isError"]
        assert server.close() == 0
    assert bytes_of(repo) == bytes_before
    if checkpoint == "never":
        assert files_of(repo) == files_before
    assert believed(repo) == before


@pytest.mark.parametrize("checkpoint", ["every-ask", "never"])
def test_reads_of_a_repository_without_records_make_no_ledger(make_repo: Any, checkpoint: str) -> None:
    root = make_repo({"gate.py": "def parse(token):\n    return token\n"})
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
    with served(root, *EVERY, "--checkpoint", checkpoint) as server:
        read_everything(server)
        assert server.call("mesh_get_node", node_id="nothing")["isError"]
        assert server.close() == 0
    assert not (root / ".mog" / "ledger.db").exists()


def test_a_failed_write_leaves_what_is_served_and_what_is_recorded(repo: Path) -> None:
    before, bytes_before = believed(repo), bytes_of(repo)
    with served(repo, *EVERY, "--allow-writes") as server:
        seen = state_served(server)
        for name, arguments in FAILING:
            result = server.call(name, **arguments)
            assert result["isError"], name
            assert "way out" in result["content"][0]["text"], name
        assert state_served(server) == seen
        assert server.close() == 0
    assert bytes_of(repo) == bytes_before
    assert believed(repo) == before


def state_served(server: Raw) -> Any:
    """What the server says of its records."""
    found = [server.call(name)["structuredContent"] for name in ("mesh_find", "mesh_health", "recall", "verify")]
    ledger = server.ask("resources/read", {"uri": "mog://session"})["contents"][0]["text"]
    return [{key: value for key, value in one.items() if key != "index"} for one in found], ledger.partition('"index"')[0]


def test_a_write_that_the_disk_refuses_leaves_what_is_served(repo: Path) -> None:
    before = believed(repo)
    with limited(36_000), served(repo, *EVERY, "--allow-writes") as server:
        seen = state_served(server)
        refused = server.call("remember", kind="observation", text="too much for this disk " * 1_500)
        assert refused["isError"], refused
        assert "a fault in mog" not in str(refused)
        assert not server.call("impact", target="parse")["isError"]
        assert state_served(server) == seen
        assert server.close() == 0
    assert believed(repo) == before


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Processes started inside may write no file beyond this size, which is what a reader of the database needs; nor may we."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
