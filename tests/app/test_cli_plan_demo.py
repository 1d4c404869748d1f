"""``mog demo execute`` and the examples: the story ends well, and what the examples say happens."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tree

from mog.engine.executor.demo import STEPS


def child(cwd: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """A Python process with a home of its own."""
    inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    env = {**inherited, "HOME": str(cwd), "XDG_DATA_HOME": str(cwd / "data"), **environ}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=240, env=env
    )


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the demo tells a script."""
    done = child(tmp_path_factory.mktemp("story"), "-m", "mog", "demo", "execute", "--json", PYTHONHASHSEED="1")
    assert done.returncode == 0, done.stderr.decode()
    scenes: list[dict[str, Any]] = json.loads(done.stdout)["scenes"]
    return scenes


def answers(story: list[dict[str, Any]], *verb: str) -> list[dict[str, Any]]:
    """Answers of one verb, in order."""
    return [scene["answer"] for scene in story if tuple(scene["command"][1 : 1 + len(verb)]) == verb]


def test_nothing_runs_without_a_word_then_all_then_nothing(story: list[dict[str, Any]]) -> None:
    waits, first, again, dead = answers(story, "plan", "run")
    assert len(waits["waiting"]) == 6
    assert (first["executed"], first["layers"][-1]) == (["schema", "hashing", "tokens", "routes", "rate_limit"], ["rate_limit"])
    assert (again["executed"], again["complete"]) == ([], True)
    assert set(dead["blocked"]) == {"hashing", "routes", "rate_limit"}


def test_the_advisory_is_found_and_fells_only_what_stood_on_argon2(story: list[dict[str, Any]]) -> None:
    (found,) = answers(story, "recheck")
    (plan,) = found["plans"]
    assert set(plan["stale"]) == {"hashing", "routes", "rate_limit"}
    assert "CVE-2026-9999" in plan["receipts"][0]["reason"]
    assert plan["receipts"][0]["preserved"] > 0


def test_killed_between_repair_and_run_another_process_runs_the_rest(story: list[dict[str, Any]]) -> None:
    killed, resumed = answers(story, "resume")
    assert killed == {"killed": True}
    states = {task["name"]: task["state"] for task in answers(story, "plan", "show")[0]["tasks"]}
    assert states == {"schema": "done", "tokens": "done", "hashing": "stale", "routes": "stale", "rate_limit": "stale"}
    (done,) = resumed["items"]
    assert (done["executed"], sorted(done["cached"])) == (["hashing", "routes", "rate_limit"], ["schema", "tokens"])
    assert done["complete"]
    assert answers(story, "explain")[0]["standing"] == "fallen"
    assert answers(story, "ledger", "verify")[0]["ok"]
    assert len(story) == len(STEPS)


@pytest.mark.slow
def test_the_story_is_the_same_in_every_place(tmp_path: Path, story: list[dict[str, Any]]) -> None:
    done = child(
        tmp_path, "-m", "mog", "demo", "execute", "--json", PYTHONHASHSEED="7", LC_ALL="C", TZ="Asia/Tokyo"
    )
    assert json.loads(done.stdout)["scenes"] == story
    assert sorted(path.name for path in tmp_path.iterdir()) == []


def test_the_example_that_imports_the_engine_tells_the_same_story(tmp_path: Path) -> None:
    path = tree.ROOT / "examples" / "argon2_to_bcrypt.py"
    done = child(tmp_path, str(path))
    assert done.returncode == 0, done.stderr.decode()
    assert "second run   ['hashing', 'routes'] kept ['schema']" in done.stdout.decode()
    assert len(path.read_text().splitlines()) <= 70


def test_the_example_that_imports_nothing_fits_a_screen_and_does_what_its_page_says(tmp_path: Path) -> None:
    folder = tree.ROOT / "examples" / "hashing"
    assert sum(len(path.read_text().splitlines()) for path in folder.iterdir()) <= 45
    assert not [path for path in folder.glob("*.py") if "mog" in path.read_text()]
    page = (tree.ROOT / "examples" / "README.md").read_text()
    lines = re.search(r"`hashing/`[^\n]*\n\n((?:    [^\n]*\n)+)", page)
    assert lines is not None
    script = "set -e\n" + lines[1]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mog").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mog "$@"\n')
    (tmp_path / "bin/mog").chmod(0o755)
    root = tmp_path / "copy"
    shutil.copytree(folder, root)
    (root / "mog.yaml").write_text("version: 1\n")
    shell = shutil.which("sh")
    if shell is None:
        pytest.skip("no shell to follow the page with")
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "MOG_TRUST_DIR": str(tmp_path / "t")}
    env.pop("COLUMNS", None)
    env |= {"MOG_KEYS_DIR": str(tmp_path / "k"), "MOG_WITNESS_DIR": str(tmp_path / "w")}
    done = subprocess.run(
        [shell, "-c", script], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=240, env=env
    )
    text = done.stdout.decode()
    assert done.returncode == 0, text + done.stderr.decode()
    assert "plan login: 2 tasks stale" in text
    assert text.rstrip().splitlines()[-1].endswith("2 ran, 1 kept")
    assert "bcrypt" in (root / "hashing.txt").read_text()


STORY = ("$ mog recheck", "$ mog resume")


def test_the_frames_of_the_guide_are_what_the_story_prints(tmp_path: Path) -> None:
    guide = (tree.ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"^```text\n(.*?)^```$", guide, re.M | re.S) if block.startswith(STORY)]
    text = child(tmp_path, "-m", "mog", "demo", "execute", "--fast", LC_ALL="C.UTF-8").stdout.decode()
    assert len(blocks) == 2
    assert [block.splitlines()[0] for block in blocks if block not in text] == []
