"""Repositories with a plan, for tests of plan files, their commands and their verbs.

Who calls: tests/executor/test_plan_*.py, tests/app/test_cli_plan*.py. What may not come in: assertions.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mog.engine.policy.trust import TrustStore
from mog.engine.work import Work
from mog.engine.workspace import Workspace

PYTHON = sys.executable

#: Joins words and the files it is told to read into one file: join.py TARGET WORDS… (a word that is a file stands for its text).
JOIN = """\
import pathlib, sys
target, *words = sys.argv[1:]
path = pathlib.Path("out", target)
path.parent.mkdir(exist_ok=True)
with open("ran.log", "a") as log:
    log.write(target + "\\n")
parts = [pathlib.Path("in", word).read_text() if pathlib.Path("in", word).is_file() else word for word in words]
path.write_text(" ".join(part.strip() for part in parts) + "\\n")
"""


def task(name: str, *argv: str, **fields: Any) -> dict[str, Any]:
    """A task of a plan file."""
    return {"name": name, "argv": [PYTHON, *argv], **fields}


def write_plan(root: Path, *tasks: Mapping[str, Any], file: str = "plan.yaml", name: str = "") -> None:
    """Write a plan file."""
    import yaml

    value = {"version": 1, **({"plan": name} if name else {}), "tasks": [dict(one) for one in tasks]}
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")


@contextlib.contextmanager
def working(root: Path, *, allow: bool = True) -> Iterator[Work]:
    """The plans of a repository, opened as another process would; every command allowed first, unless told not to."""
    with Workspace.open(root) as workspace:
        if allow:
            allow_all(workspace)
        yield workspace.work


def allow_all(workspace: Workspace) -> None:
    """Give the word for every command that waits."""
    for one in workspace.beliefs.waiting():
        workspace.beliefs.allow(one.name, one.digest)


def trust_of(root: Path, folder: Path) -> TrustStore:
    """An empty trust store."""
    return TrustStore(root, root, lambda: b"k" * 32, folder)


def ran(root: Path) -> list[str]:
    """What join.py was run for since the last look, in order."""
    log = root / "ran.log"
    names = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return names


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return not Path("/proc").is_dir()
    return stat.rpartition(")")[2].split()[0] != "Z"


def gone(pid: int, seconds: float = 20.0) -> bool:
    """Whether a process ends within some seconds."""
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(pid)
