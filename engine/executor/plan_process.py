"""Runs one command of a plan under its guard: bounded in time, output and size of files, stopped when nobody waits.

Who calls: ``plan_worker``. What may not come in: whether it may run (``policy/trust`` said so before), what its end means.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mog.engine.errors import PolicyDenied, UsageError
from mog.engine.policy import named
from mog.engine.policy.commands import environment

GUARD = Path(__file__).with_name("plan_guard.py")
FLOOD = 64_000_000
"""Bytes a command may write to its output before it is stopped."""
KEEP = 8_000
"""Bytes of each output that are kept: the last ones."""
_LATE = 15.0  # seconds after which a guard that should have answered is given up
_TICK = 0.1
_MAX_ANSWER = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds one run: seconds, bytes of one file, bytes of output."""

    timeout: float
    largest: int
    flood: int = FLOOD


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
        code: exit code, negative for a signal; None when it did not start or was stopped.
        out, err: the ends of its outputs. trouble: "" or why it was stopped or never ran.
        left: processes that it left behind and that were ended.
    """

    code: int | None
    out: bytes = b""
    err: bytes = b""
    trouble: str = ""
    left: int = 0


def run(
    argv: Sequence[str], *, root: Path, cwd: str = "", names: Iterable[str] = (), limits: Limits,
    stopping: Callable[[], bool] = lambda: False,
) -> Ended:  # fmt: skip
    """Run ``argv`` in ``root / cwd`` and wait for all of it to end; never raises for what the command does.

    Args:
        names: variables it may see, besides the few that a program needs. stopping: asked every tenth of a second.

    Raises:
        PolicyDenied: the folder lies outside of the root. UsageError: this process knows no Python to start.
    """
    folder = _folder(root, cwd)
    env = environment(names)
    program = named.program(argv[0], root, cwd, env.get("PATH", os.defpath))
    if program is None:
        return Ended(None, trouble=f"there is no program {argv[0]!r}")
    if program.suffix.lower() in (".bat", ".cmd"):
        return Ended(None, trouble="a batch file needs a shell, and none is used")
    if not sys.executable:
        raise UsageError("this process does not know its Python, which guards commands", way_out="run mog from an installation")
    spec = {"argv": [os.path.abspath(program), *argv[1:]], "timeout": limits.timeout, "largest": limits.largest}
    spec |= {"flood": limits.flood, "keep": KEEP}
    try:
        guard = _start(folder, env)
    except (OSError, ValueError) as error:
        return Ended(None, trouble=f"it could not be started: {getattr(error, 'strerror', None) or error}")
    return _Guarded(guard).finish(json.dumps(spec).encode("utf-8") + b"\n", limits.timeout, stopping)


def _folder(root: Path, cwd: str) -> str:
    folder, home = os.path.realpath(root / cwd), os.path.realpath(root)
    if not Path(folder).is_relative_to(home):
        raise PolicyDenied("the working folder lies outside the repository", where=cwd, way_out="correct `cwd`")
    return folder


def _start(folder: str, env: dict[str, str]) -> subprocess.Popen[bytes]:
    flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(GUARD)], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, bufsize=0, start_new_session=os.name != "nt", creationflags=flags,
    )  # fmt: skip


class _Guarded:
    """One guard and what it says."""

    def __init__(self, guard: subprocess.Popen[bytes]) -> None:
        self._guard = guard
        self._answer: dict[str, Any] = {}
        self._pid = 0
        self._reader = threading.Thread(target=self._read, daemon=True)

    def finish(self, spec: bytes, timeout: float, stopping: Callable[[], bool]) -> Ended:
        """Hand over what is to run, wait, and leave nothing running whatever happens."""
        self._reader.start()
        try:
            with contextlib.suppress(OSError):
                _write(self._guard.stdin, spec)
            self._wait(time.monotonic() + timeout + _LATE, stopping)
        finally:
            self._end()
        return self._ended()

    def _wait(self, deadline: float, stopping: Callable[[], bool]) -> None:
        while self._reader.is_alive() and time.monotonic() < deadline and not stopping():
            self._reader.join(_TICK)

    def _end(self) -> None:
        """Cut the lifeline and collect the guard; what does not obey is killed."""
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError):
            self._guard.stdin.close()
        self._reader.join(_LATE)
        if self._reader.is_alive() or not self._answer:
            _kill_group(self._pid)
            self._guard.kill()
        self._guard.wait()
        self._reader.join(_LATE)

    def _read(self) -> None:
        pipe = self._guard.stdout
        assert pipe is not None
        held = b""
        with contextlib.suppress(OSError, ValueError), pipe:
            while (chunk := pipe.read(65_536)) and len(held) < _MAX_ANSWER:
                held += chunk
                *lines, held = held.split(b"\n")
                for line in lines:
                    self._hear(json.loads(line))

    def _hear(self, said: Any) -> None:
        if isinstance(said, dict) and isinstance(said.get("pid"), int):
            self._pid = said["pid"]
        if isinstance(said, dict) and isinstance(said.get("trouble"), str):
            self._answer = said

    def _ended(self) -> Ended:
        said = self._answer
        if not said:
            return Ended(None, trouble="its guard was killed, and so was what ran")
        out, err = (base64.b64decode(said.get(name, "")) for name in ("out", "err"))
        return Ended(said["code"], out, err, said["trouble"], said.get("left", 0))


def _write(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    while data:
        data = data[pipe.write(data) or 0 :]


def _kill_group(pid: int) -> None:
    if pid and os.name != "nt":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
