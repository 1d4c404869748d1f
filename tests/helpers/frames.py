"""The frames of the README: its console blocks, run for real over a copy of examples/shopkit.

Who calls: ``tests/docs/test_frames.py`` to compare; a person to rewrite them: ``python tests/helpers/frames.py``.
What may not come in: frames written by hand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tree import ROOT

README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
# what differs between two runs that are alike: commits, ids of pins, ages, sizes, places, the width of an id
CHANGING = [
    (re.compile(r"\b(main@)[0-9a-f]{7,}"), r"\g<1>4f2a19c"),
    (re.compile(r"\bpin_[0-9a-f]+"), "pin_7c1d90a4e2b8"),
    (re.compile(r"\bid [0-9a-f]{32}"), "id dff63323397cc05e68e7706f94a8721e"),
    (re.compile(r"\b\d+ (?:s|min) old"), "0 s old"),
    (re.compile(r"[\d.]+ [kM]?B on disk"), "128.2 kB on disk"),
    (re.compile(r"^/\S*/shopkit$", re.M), "~/shopkit"),
]


def settled(text: str) -> str:
    """Output with everything that differs from run to run replaced."""
    for pattern, shown in CHANGING:
        text = pattern.sub(shown, text)
    return text


def example(folder: Path) -> Path:
    """A copy of the example as a repository of its own."""
    root = folder / "shopkit"
    shutil.copytree(ROOT / "examples" / "shopkit", root, ignore=shutil.ignore_patterns("__pycache__", ".mog"))
    person = ["-c", "user.name=A Person", "-c", "user.email=person@example.invalid"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*person, "commit", "-q", "-m", "start"]):
        subprocess.run(["git", *command], cwd=root, check=True, stdin=subprocess.DEVNULL, timeout=60)
    return root


def shell(root: Path, line: str) -> str:
    """Both streams of one command line in ``root``, with this environment's mog."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", line], cwd=root, env=environ, stdin=subprocess.DEVNULL, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout.decode()


def render(folder: Path) -> str:
    """The README with every console block as its commands print it today, one repository for all of them."""
    root = example(folder)

    def run(match: re.Match[str]) -> str:
        lines = [line for line in match.group(1).splitlines() if line.startswith("$ ")]
        shown = "".join(f"{line}\n{settled(shell(root, line[2:]))}" for line in lines)
        return f"```console\n{shown}```"

    return BLOCK.sub(run, README.read_text(encoding="utf-8"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        README.write_text(render(Path(name)), encoding="utf-8")
