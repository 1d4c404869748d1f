"""A home, a project and a PATH of their own for tests about other programs' files.

Who calls: the tests of this folder. What may not come in: files of the person who runs them.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from client_world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Nothing of a client is there, mog and git are."""
    made = World(tmp_path / "home", tmp_path / "project", tmp_path / "bin")
    for folder in (*made, made.project / ".git"):
        folder.mkdir()
    (made.programs / "mog").write_text(f'#!/bin/sh\nexec {sys.executable} -m mog "$@"\n')
    (made.programs / "mog").chmod(0o755)
    git = shutil.which("git")
    assert git is not None
    (made.programs / "git").symlink_to(git)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("USERPROFILE", str(made.home))
    monkeypatch.setenv("PATH", str(made.programs))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(made.project)
    return made
