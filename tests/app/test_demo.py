"""``mog demo``: the story ends well, is the same everywhere, and touches nothing but its own folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tree

from mog.app.cli import fold
from mog.engine.reason.demo import SCENES


def played(cwd: Path, *flags: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """The demo as a process of its own."""
    inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    env = {**inherited, "HOME": str(cwd), "XDG_CONFIG_HOME": str(cwd / "xdg"), **environ}
    vector = [sys.executable, "-m", "mog", "demo", *flags]
    return subprocess.run(vector, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=240, env=env)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the demo tells a script."""
    done = played(tmp_path_factory.mktemp("story"), "--json", PYTHONHASHSEED="1")
    assert done.returncode == 0, done.stderr.decode()
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def answers(story: dict[str, Any], verb: str) -> list[dict[str, Any]]:
    """Answers of one verb, in order."""
    return [scene["answer"] for scene in story["scenes"] if scene["command"][1] == verb]


def test_all_four_dead_ends_are_met(story: dict[str, Any]) -> None:
    met = [answer["dead_end"] for answer in answers(story, "ask") if answer["dead_end"]]
    assert met == ["entity_unresolved", "no_typed_edge", "wrong_node_type", "pruned_too_early"]


def test_the_break_falls_weakens_and_spares_as_the_preview_said(story: dict[str, Any]) -> None:
    preview, effect = answers(story, "invalidate")
    assert (preview["written"], effect["written"]) == (False, True)
    for name in ("falls", "weakens"):
        assert [row["id"] for row in preview[name]] == [row["id"] for row in effect[name]]
        assert preview[name]
    assert effect["weakens"][0]["because"]["all_of"][0]["type"] == "source"


def test_one_of_two_sources_saves_a_claim(story: dict[str, Any]) -> None:
    (retracted,) = answers(story, "retract")
    claim = next(row for row in retracted["weakens"] if row["type"] == "claim")
    assert [node["text"] for node in claim["because"]["all_of"]] == ["notes/march-audit.md"]


def test_undo_and_revert_bring_everything_back(story: dict[str, Any]) -> None:
    undone = next(scene["answer"] for scene in story["scenes"] if scene["command"][1:3] == ["ledger", "undo"])
    fallen = {row["id"] for row in answers(story, "invalidate")[1]["falls"]}
    assert {row["id"] for row in undone["rises"]} == fallen
    minted, judged, reverted = answers(story, "recheck")
    assert minted["open"]
    assert judged["receipts"][0]["effect"]["falls_total"] == 1
    assert reverted["drifts"][0]["target"]["standing"] == "standing"


def test_the_last_event_is_proved_by_the_script_that_knows_no_mog(story: dict[str, Any]) -> None:
    assert story["scenes"][-1]["answer"] == {"verifier": "holds"}
    assert len(story["scenes"]) == len(SCENES) + 1


@pytest.mark.slow
@pytest.mark.parametrize("environ", [{"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}])
def test_the_story_is_the_same_in_every_place(tmp_path: Path, story: dict[str, Any], environ: dict[str, str]) -> None:
    done = played(tmp_path, "--json", **environ)
    assert json.loads(done.stdout) == story


def test_it_fits_a_narrow_terminal_and_leaves_the_folder_and_the_person_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("untouched")
    done = played(tmp_path, "--fast", COLUMNS="50")
    assert done.returncode == 0, done.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.md"]
    lines = done.stdout.decode().splitlines()
    assert [line for line in lines if fold.cells(line) > 50] == []
    assert b"\x1b" not in done.stdout
    assert "survives because of" in done.stdout.decode()


def test_the_examples_of_the_guide_are_what_the_story_prints(tmp_path: Path) -> None:
    guide = (tree.ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"^```console\n(.*?)^```$", guide, re.M | re.S) if "\n" in block.strip()]
    blocks = [block for block in blocks if not block.splitlines()[1].startswith("$ ")]
    text = played(tmp_path, "--fast", LC_ALL="C.UTF-8").stdout.decode()
    assert len(blocks) > 3
    assert [block.splitlines()[0] for block in blocks if block not in text] == []
