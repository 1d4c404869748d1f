"""Running one command line: no shell, nothing of ours inherited, bounded in time and output.

Who calls: ``reason/auditors.py``; plan tasks later. What may not come in: whether it may run (``trust`` says so before), what
its output means.

The child gets a process group of its own, a pipe for stdin that is closed after one document, and only those
variables of the environment that are named. When its time is over the whole group is killed. A descendant that left the
group is out of reach.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from mog.engine.errors import PolicyDenied
from mog.engine.policy import named

OUT_BYTES = 64_000
ERR_BYTES = 8_000
_LINGER = 0.5
_CHUNK = 16_384
_PASSED = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
)  # fmt: skip
"""What every child is given of the environment, where it is set."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    Attributes:
        code: exit code; negative for a signal, None when it never started or was stopped by us.
        out: standard output, at most 64,000 bytes. err: the last 8,000 bytes of standard error.
        trouble: "" or why it counts as failed: it did not start, took too long, or wrote too much.
    """

    code: int | None
    out: bytes
    err: bytes
    trouble: str = ""


def environment(names: Iterable[str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The child's environment: a fixed handful and ``names``; of PATH only the absolute entries."""
    ours = os.environ if environ is None else environ
    kept = {name: ours[name] for name in dict.fromkeys((*_PASSED, *names)) if name in ours}
    if "PATH" in kept:
        kept["PATH"] = os.pathsep.join(part for part in kept["PATH"].split(os.pathsep) if os.path.isabs(part))
    return kept


def run(
    argv: Sequence[str],
    *,
    root: Path,
    cwd: str = "",
    stdin: bytes = b"",
    names: Iterable[str] = (),
    timeout: float = 60.0,
) -> Finished:
    """Run ``argv`` in ``root / cwd`` and wait; never raises for what the command does.

    Args:
        stdin: one document, after which the pipe is closed. names: further variables to pass. timeout: seconds.

    Raises:
        PolicyDenied: the folder lies outside the root.
    """
    folder = _folder(root, cwd)
    env = environment(names)
    program = named.program(argv[0], root, cwd, env.get("PATH", os.defpath))
    if program is None:
        return Finished(None, b"", b"", f"there is no program {argv[0]!r}")
    if program.suffix.lower() in (".bat", ".cmd"):
        return Finished(None, b"", b"", "a batch file needs a shell, and none is used")
    try:
        process = _start(program, argv, folder, env)
    except (OSError, ValueError) as error:
        return Finished(None, b"", b"", f"it could not be started: {getattr(error, 'strerror', None) or error}")
    return _Watch(process, stdin).finish(time.monotonic() + timeout, timeout)


def _folder(root: Path, cwd: str) -> str:
    folder, home = os.path.realpath(root / cwd), os.path.realpath(root)
    if not Path(folder).is_relative_to(home):
        raise PolicyDenied("the working folder lies outside the repository", where=cwd, way_out="correct `cwd`")
    return folder


def _start(program: Path, argv: Sequence[str], folder: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [str(program), *argv[1:]], cwd=folder, env=dict(env), stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0,
        start_new_session=sys.platform != "win32", creationflags=flags,
    )  # fmt: skip


class _Watch:
    """Feeds and drains one child on threads; whichever comes first of exit, time and too much output ends it."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes) -> None:
        self._process = process
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._out, self._err = bytearray(), bytearray()
        out, err = partial(self._drain, process.stdout, True), partial(self._drain, process.stderr, False)
        jobs = (partial(self._feed, stdin), self._exit, out, err)
        self._threads = [threading.Thread(target=job, daemon=True) for job in jobs]
        for thread in self._threads:
            thread.start()

    def finish(self, deadline: float, allowed: float) -> Finished:
        trouble = ""
        try:
            trouble = self._wait(deadline, allowed)
        finally:
            _kill_group(self._process)
            code = self._process.wait()
            for thread in self._threads:
                thread.join(_LINGER)
            self._close()
        return Finished(None if trouble else code, bytes(self._out[:OUT_BYTES]), bytes(self._err[-ERR_BYTES:]), trouble)

    def _wait(self, deadline: float, allowed: float) -> str:
        """Until exit and the end of output; a child that left its output open to others is given a moment."""
        missing = {"exit", "out", "err"}
        while missing:
            try:
                said = self._said.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return "" if "exit" not in missing else f"it took longer than {allowed:g} seconds"
            if said == "flood":
                return f"it wrote more than {OUT_BYTES} bytes"
            missing.discard(said)
            if said == "exit":
                deadline = min(deadline, time.monotonic() + _LINGER)
        return ""

    def _feed(self, data: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):  # a child that does not read is free not to
            while data:
                data = data[pipe.write(data) or 0 :]
        with contextlib.suppress(OSError):
            pipe.close()

    def _exit(self) -> None:
        """Tell of the exit without collecting the child, so that its group id cannot be given away before the kill."""
        if hasattr(os, "waitid"):
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        self._said.put("exit")

    def _drain(self, pipe: IO[bytes] | None, is_out: bool) -> None:
        assert pipe is not None
        held, limit = (self._out, OUT_BYTES) if is_out else (self._err, ERR_BYTES)
        with contextlib.suppress(OSError, ValueError):
            while chunk := pipe.read(_CHUNK):
                held += chunk
                if is_out and len(held) > limit:
                    self._said.put("flood")
                    return
                del held[: max(0, len(held) - limit)]
        self._said.put("out" if is_out else "err")

    def _close(self) -> None:
        for pipe, thread in zip((self._process.stdout, self._process.stderr), self._threads[2:], strict=True):
            if pipe is not None and not thread.is_alive():
                pipe.close()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        if process.poll() is None:
            tool = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                subprocess.run(
                    [tool, "/PID", str(process.pid), "/T", "/F"],
                    stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False,
                )  # fmt: skip
            process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
