"""``python -m benchmarks.mcp_latency`` in small: ten clients at once lose nothing, and what a bridge does not load."""

from __future__ import annotations

from pathlib import Path

from mcp_kit import served

from benchmarks.mcp_latency import CLIENTS, EACH, at_once
from benchmarks.mcp_world import apart, made


def test_ten_clients_that_ask_and_write_at_once_lose_nothing() -> None:
    with apart() as folder:
        root = made(folder / "repo")
        right, late, of, _ = at_once(root, [f"sym:m{number}.py::f{number}" for number in range(12)])
    assert (right, late, of) == (CLIENTS * (EACH + 1), 0, CLIENTS * (EACH + 1))


def test_a_bridge_to_a_living_owner_answers_without_the_protocol_package_and_the_engine(repo: Path) -> None:
    with served(repo) as owner, served(repo) as bridge:
        assert bridge.call("impact", target="parse")["structuredContent"]["reached"] >= 1
        maps = Path(f"/proc/{bridge.process.pid}/maps")
        loaded = maps.read_text(encoding="utf-8") if maps.exists() else ""
        assert "pydantic_core" not in loaded or (repo / ".mog" / "run" / "heir.lock").read_text(encoding="utf-8").strip()
        assert owner.close() == 0
