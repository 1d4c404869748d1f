"""``python -m benchmarks.mcp_latency`` in small: ten clients at once lose nothing."""

from __future__ import annotations

from benchmarks.mcp_latency import CLIENTS, EACH, at_once
from benchmarks.mcp_world import apart, made


def test_ten_clients_that_ask_and_write_at_once_lose_nothing() -> None:
    with apart() as folder:
        root = made(folder / "repo")
        right, late, of, _ = at_once(root, [f"sym:m{number}.py::f{number}" for number in range(12)])
    assert (right, late, of) == (CLIENTS * (EACH + 1), 0, CLIENTS * (EACH + 1))
