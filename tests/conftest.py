"""Fixtures for every room: the developer's own settings stay out, and a git repository is one call away.

Who calls: pytest. What may not come in: helpers of one room (they go to tests/helpers/ or beside the test).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import hypothesis
import pytest

# The suite tries the same examples at every run, so that a change is judged by what it did; `.ci/run explore` looks for new ones.
hypothesis.settings.register_profile("same", derandomize=True)
hypothesis.settings.register_profile("explore", print_blob=True)
hypothesis.settings.load_profile("same")

# A shell starts what it puts in the background with interrupts ignored, which all children take over
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Where bytecode is not to be written, programs that tests start would compile themselves each time: give it a folder that goes."""
    if hasattr(config, "workerinput") or not os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        return
    folder = os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="mog-compiled-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


MakeRepo = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Neither MOG_ variables nor git settings of the person who runs the tests reach them."""
    for name in [name for name in os.environ if name.startswith(("MOG_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path_factory.getbasetemp() / "no-gitconfig"))
    for name in ("KEYS", "WITNESS", "TRUST"):
        monkeypatch.setenv(f"MOG_{name}_DIR", str(tmp_path_factory.getbasetemp() / f"mog-{name.lower()}"))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "person@example.invalid")


@pytest.fixture
def make_repo(tmp_path: Path) -> MakeRepo:
    """Function that writes files (path → text or bytes) into a new git repository below tmp_path and commits them."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / "repo"
        root.mkdir()
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "start"]):
            subprocess.run(["git", *command], cwd=root, check=True, stdin=subprocess.DEVNULL, timeout=60)
        return root

    return make
