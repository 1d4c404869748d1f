"""``python -m benchmarks.mcp_caps`` on a small repository with a hub: no answer passes its cap, and pages hold everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import mcp_caps
from mog.app.mcp.desk import Ask, Client, Desk
from mog.app.mcp.options import SETS, Options
from mog.app.mcp.table import BY_NAME, TOOLS

USERS = 60
CLIENT = Client("caps 1", Options(sets=SETS, allow_writes=True), "caps", "--allow-writes")


@pytest.fixture
def hub(make_repo) -> Path:  # type: ignore[no-untyped-def]
    """One function that everybody calls, in files with long lines and odd characters."""
    files = {"hub.py": 'def hub(x):\n    """The \\"hub\\".\n\n    ' + "word " * 400 + '"""\n    return x\n'}
    for number in range(USERS):
        text = f"from hub import hub\n\n\ndef user_{number}(x):\n    '''Uses \t\u202e the hub.'''\n    return hub(x)\n"
        files[f"deep/package_{number % 7}/user_{number}.py"] = text
        files[f"test_{number}.py"] = f"from hub import hub\n\n\ndef test_{number}():\n    assert hub({number})\n"
    root: Path = make_repo(files)
    return root


@pytest.fixture
def desk(hub: Path) -> Iterator[Desk]:
    """A desk whose index is there."""
    from mog.engine.workspace import Workspace

    Workspace.init(hub)
    with Workspace.open(hub) as workspace:
        workspace.index(workers=1)
    desk = Desk(hub, Options(sets=SETS, allow_writes=True))
    yield desk
    desk.close()


def call(desk: Desk, name: str, **given: object) -> dict:  # type: ignore[type-arg]
    """Structure of an answer that is none of failure."""
    sent = desk._answered(BY_NAME[name], given, Ask(desk, CLIENT, given), False)
    assert not sent.failed, sent.text
    return sent.data


def test_no_tool_passes_its_cap_however_large_the_hub(desk: Desk, hub: Path) -> None:
    records = mcp_caps.record(hub, ["hub.py::hub"])
    targets = ["hub.py::hub", "nowhere"]
    sizes, _ = mcp_caps.measured(desk, mcp_caps.variants(targets, ["who uses the hub"], records))
    assert mcp_caps.over(sizes) == 0
    asked = {tool.name for tool in TOOLS} - {"unpin", "load_context", "mesh_repair"}
    assert asked <= sizes.keys()


def test_pages_of_an_impact_hold_every_reached_symbol_once(desk: Desk) -> None:
    seen: list[str] = []
    page = ""
    while True:
        answer = call(desk, "impact", target="hub.py::hub", depth=1, page=page)
        seen += [item["at"] for item in answer["items"]]
        page = answer["next"]
        if not page:
            break
    assert len(seen) == len(set(seen)) == answer["total"] == answer["reached"]
    assert answer["reached"] >= 2 * USERS


def test_pages_of_a_search_lose_nothing_that_was_packed(desk: Desk) -> None:
    seen: set[str] = set()
    query, turns = "user hub", 0
    first = call(desk, "search_context", query=query, budget=400)
    answer = first
    while answer["next"] and turns < 60:
        seen |= {item["id"] for item in answer["items"]}
        answer = call(desk, "search_context", query=answer["next"], budget=400)
        turns += 1
    seen |= {item["id"] for item in answer["items"]}
    assert first["next"].startswith("ctx://")
    assert not answer["next"]
    assert len(seen) + sum(count for why, count in answer["omitted"].items() if why in ("duplicate", "gated")) > 40


def test_an_impact_takes_a_target_or_what_git_says_is_changed(desk: Desk, hub: Path) -> None:
    (hub / "hub.py").write_text("def hub(x):\n    return x + 1\n", encoding="utf-8")
    assert call(desk, "impact", changed="files")["reached"] >= 2 * USERS
    for given in ({}, {"target": "hub", "changed": "files"}):
        sent = desk._answered(BY_NAME["impact"], given, Ask(desk, CLIENT, given), False)
        assert sent.failed
        assert "a target, or changed" in sent.text
