"""The real ``mog`` command as a child process, for tests of the engine's promises across processes.

Who calls: tests/engine/. What may not come in: assertions, the fake workspace.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Control bytes and bidirectional controls that may reach no screen; line feed and tab in text mode are fine.
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\ud800-\udfff]")


def argv(*arguments: str) -> list[str]:
    """Argument vector of ``mog ARGUMENTS`` with this Python."""
    return [sys.executable, "-m", "mog", *arguments]


def start(root: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start it in ``root``, its outputs piped."""
    pipe = subprocess.PIPE
    environ = os.environ | dict(env or {})
    return subprocess.Popen(argv(*arguments), cwd=root, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environ)


def run(
    root: Path, *arguments: str, env: Mapping[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[bytes]:
    """Run it to the end in ``root``; the caller looks at the exit code."""
    environ = os.environ | dict(env or {})
    return subprocess.run(
        argv(*arguments),
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout,
        env=environ,
        check=False,
    )


_MANY = """
import json, sys
from mog.app.cli.main import main
for command in json.load(sys.stdin):
    main(command)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        stream.buffer.write(b"\\0")
        stream.flush()
"""


def run_many(root: Path, commands: Sequence[Sequence[str]], timeout: float = 300) -> list[bytes]:
    """What each command printed, on both streams, one after the other in one process: for tests that look at what is said."""
    done = subprocess.run(
        [sys.executable, "-c", _MANY], cwd=root, input=json.dumps(commands).encode(), capture_output=True, timeout=timeout, check=True
    )
    said = zip(done.stdout.split(b"\0"), done.stderr.split(b"\0"), strict=True)
    return [out + err for out, err in said][: len(commands)]


def run_json(root: Path, *arguments: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run it with ``--json``, expect success, decode the document."""
    done = run(root, *arguments, "--json", env=env)
    if done.returncode:
        raise AssertionError(
            f"mog {' '.join(arguments)} exited {done.returncode}: {done.stderr.decode(errors='replace')}"
        )
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def raw_controls(output: bytes) -> list[str]:
    """Control characters that stand raw in what a process printed; undecodable bytes count too."""
    return RAW.findall(output.decode(errors="surrogateescape"))
