"""Bytes of the layered view and the outline in a real terminal: 240 nodes around the one in focus, page by page."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

if os.name == "nt":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)
sys.path.insert(0, str(Path(__file__).parent))

from pty_terminal import workbench

pytestmark = pytest.mark.pty

KEYS = ("z", "l", "j", "h", "L", "H", "\x1b[6~", "z", "h")


@pytest.mark.parametrize(
    ("first", "limit"), [((), 8_000), (("m",), 10_000)], ids=["beside the others", "on the whole screen"]
)
def test_layers_and_outline_move_and_page_within_their_bytes(
    first: tuple[str, ...], limit: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with workbench("--dense", "240", size=(160, 45)) as terminal:
        for key in first:
            terminal.latencies(key, 1, quiet=0.25)
        sizes = [terminal.latencies(key, 1, quiet=0.25)[0][1] for key in KEYS]
        shown = terminal.screen()
    told = list(zip(KEYS, sizes, strict=True))
    assert "unfolded" in shown and all(size <= limit for size in sizes), told
    with capsys.disabled():
        print(f"\n  bytes per key, layers and outline 160x45: at most {max(sizes):,}")
