"""Why a record stands says that the code under it is another one, why, and since which commit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import projects
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import reason_story as story

from mog.app.tui.acts import Acts
from mog.app.tui.keys import WHY_NOT
from mog.app.tui.panes import ELSEWHERE, REGISTRY
from mog.app.tui.plain import Still
from mog.engine.reason import demo
from mog.engine.workspace import Workspace
from mog.widgets.fit import plain as plain_line

COMMIT = ("-c", "user.name=A Person", "-c", "user.email=person@example.invalid", "commit", "-qm")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Workspace]:
    with story.told(tmp_path / "parcel-desk") as workspace:
        projects.git(workspace.root, "init", "-q")
        _commit(workspace.root, "as it was recorded")
        yield workspace


def _commit(root: Path, subject: str) -> None:
    projects.git(root, "add", "-A")
    projects.git(root, *COMMIT, subject)


def why(desk: Workspace, target: str, width: int = 90) -> str:
    """The page as text, its rows folded together."""
    host = Still(desk)  # type: ignore[arg-type]
    host.content("walk").why(target)
    sheet = host.content("walk").sheet(width, 40)
    lines = [plain_line(sheet.lines.line(i), width) for i in range(len(sheet.lines))]
    assert all(len(line) <= width for line in lines)
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("width", [32, 60, 120])
def test_code_that_changed_is_said_with_its_reason_and_its_commit(desk: Workspace, width: int) -> None:
    assert "anchor is" not in why(desk, demo.LIMIT, width)
    story.edit(desk.root)
    said = why(desk, demo.LIMIT, width)
    drift = next(one for one in desk.beliefs.bridge.look() if one.reason)
    assert drift.lines is not None
    where = f"now lines {drift.lines[0]} to {drift.lines[1]}"
    assert f"its anchor is drifted: {drift.reason}, {where}, not committed" in said
    _commit(desk.root, "refund more")
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=desk.root, text=True)[:7]
    assert f"since {commit}" in why(desk, demo.LIMIT, width) and "“refund more”" in why(desk, demo.LIMIT, width)
    story.revert(desk.root)
    assert "anchor is" not in why(desk, demo.LIMIT, width)


def test_code_that_is_gone_is_said(desk: Workspace) -> None:
    (desk.root / demo.CODE).unlink()
    assert "its anchor is missing: " in why(desk, demo.LIMIT)


def test_code_asked_about_by_its_place_says_it_too(desk: Workspace) -> None:
    story.edit(desk.root)
    assert "its anchor is drifted: " in why(desk, demo.PLACE)


class Said(Still):
    """A host that keeps what was said."""

    def __init__(self) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self.words: list[str] = []

    def say(self, text: str) -> None:
        self.words.append(text)


@pytest.mark.parametrize("action", sorted({*ELSEWHERE, *WHY_NOT}))
def test_a_key_that_finds_nothing_always_has_a_word(action: str) -> None:
    for name in REGISTRY:
        host = Said()
        Acts._cannot(host, action, host.content(name))  # type: ignore[arg-type]
        assert host.words[0].partition(": ")[2].strip()
