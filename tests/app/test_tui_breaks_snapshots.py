"""Pictures of panes 6, 0 and I, and of a break step by step, on the made-up repository and its story.

Renew them with ``pytest tests/app/test_tui_breaks_snapshots.py --snapshot-update`` and look at each before committing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_tui_snapshots import Compare, pressing, still_clock, workbench

__all__ = ["still_clock"]  # a fixture of every picture


@pytest.mark.parametrize(
    ("size", "theme", "keys"),
    [
        pytest.param((120, 36), "dark", ("b", "a"), id="blast-120-dark"),
        pytest.param((120, 36), "dark", ("b", "a", "m", "G"), id="blast-full-120-dark"),
        pytest.param((80, 24), "light", ("b", "a"), id="blast-80-light"),
        pytest.param((60, 18), "dark", ("b", "a"), id="blast-60-dark"),
        pytest.param((80, 24), "dark", ("b",), id="blast-code-80-dark"),
        pytest.param((80, 24), "dark", ("b", "a", "a"), id="break-evidence-80-dark"),
        pytest.param((120, 36), "light", ("b", "a", "a", "enter", *"seen", "enter"), id="break-verdict-120-light"),
        pytest.param((60, 18), "mono", ("b", "a", "a", "enter", *"seen", "enter"), id="break-verdict-60-mono"),
        pytest.param((120, 36), "dark", ("0",), id="work-120-dark"),
        pytest.param((80, 24), "light", ("0",), id="work-80-light"),
        pytest.param((60, 18), "dark", ("0",), id="work-60-dark"),
        pytest.param((120, 36), "dark", ("I",), id="impact-120-dark"),
        pytest.param((80, 24), "light", ("I",), id="impact-80-light"),
        pytest.param((60, 18), "dark", ("I",), id="impact-60-dark"),
    ],
)
def test_picture(snap_compare: Compare, size: tuple[int, int], theme: str, keys: tuple[str, ...]) -> None:
    assert snap_compare(workbench(theme), terminal_size=size, run_before=spaced(*keys))


def spaced(*keys: str) -> Callable[..., object]:
    """Every key after the answer to the one before."""

    async def before(pilot: object) -> None:
        for key in keys:
            await pressing(key)(pilot)  # type: ignore[arg-type]

    return before
