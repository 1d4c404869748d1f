"""Stands between mog and one command of a plan, as a process of its own: limits, last words, nothing left behind.

Who calls: ``plan_process`` starts it as a script (``python -I -S plan_guard.py``). What may not come in: imports of mog; heavy
ones. It reads one line of JSON on stdin, ``{argv, timeout, largest, flood, keep}``, runs the command, and answers with lines
of JSON on stdout: ``{"pid": …}`` when it runs, ``{"code", "trouble", "out", "err", "left"}`` when all of it has ended.

The open stdin is its lifeline: when it ends, because whoever started this gave up or was killed, the command is killed too.
On Linux it takes in what the command leaves behind, daemons that left their group included, and ends that too; elsewhere it
reaches the process group only.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

CHUNK = 65_536
LINGER = 0.5
SWEEP = 5.0
PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    """Run what stdin says."""
    spec = json.loads(sys.stdin.buffer.readline())
    _limit(spec["largest"])
    reaps = _adopt()
    try:
        child = _start(spec["argv"])
    except (OSError, ValueError) as error:
        _say({"code": None, "trouble": f"it could not be started: {getattr(error, 'strerror', None) or error}"})
        return 0
    _say({"pid": child.pid})
    watch = _Watch(child, spec["keep"], spec["flood"])
    trouble = watch.wait(spec["timeout"])
    _kill(child.pid)
    left = _sweep(child.pid) if reaps else 0
    code = child.wait()
    out, err = watch.words()
    _say({"code": None if trouble else code, "trouble": trouble, "out": out, "err": err, "left": left})
    return 0


def _say(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _limit(largest: int) -> None:
    """No file beyond so many bytes, no core dumps; of what is started from here on."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    for what, value in ((resource.RLIMIT_FSIZE, largest), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (value, value))


def _adopt() -> bool:
    """Become the parent of whatever descendants lose theirs; whether that works here."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError, ImportError):
        return False


def _start(argv: list[str]) -> subprocess.Popen[bytes]:
    flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
    return subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        start_new_session=os.name != "nt", creationflags=flags,
    )  # fmt: skip


class _Watch:
    """Drains a child on threads and waits for whichever comes first: its end, too much said, the time, a cut lifeline."""

    def __init__(self, child: subprocess.Popen[bytes], keep: int, flood: int) -> None:
        self._child, self._keep, self._flood = child, keep, flood
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._tails = {"out": bytearray(), "err": bytearray()}
        self._total = 0
        for job in (self._exit, self._lifeline, lambda: self._drain("out"), lambda: self._drain("err")):
            threading.Thread(target=job, daemon=True).start()

    def wait(self, timeout: float) -> str:
        """Why it counts as failed, "" when it came to its own end."""
        deadline, missing = time.monotonic() + timeout, {"exit", "out", "err"}
        while missing:
            try:
                said = self._said.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return "" if "exit" not in missing else f"it took longer than {timeout:g} seconds"
            if said == "flood":
                return f"it wrote more than {self._flood:,} bytes to its output"
            if said == "lifeline":
                return "it was stopped"
            missing.discard(said)
            if said == "exit":  # others may hold its output open
                deadline = min(deadline, time.monotonic() + LINGER)
        return ""

    def words(self) -> tuple[str, str]:
        """The ends of what it said, as base64."""
        out, err = (base64.b64encode(bytes(self._tails[name])).decode("ascii") for name in ("out", "err"))
        return out, err

    def _exit(self) -> None:
        """Tell of the exit without collecting the child, so that its group id cannot be given away before the kill."""
        if hasattr(os, "waitid"):
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._child.wait()
        self._said.put("exit")

    def _lifeline(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while os.read(0, CHUNK):
                pass
        self._said.put("lifeline")

    def _drain(self, name: str) -> None:
        pipe = self._child.stdout if name == "out" else self._child.stderr
        assert pipe is not None
        tail = self._tails[name]
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(pipe.fileno(), CHUNK):
                tail += chunk
                del tail[: max(0, len(tail) - self._keep)]
                self._total += len(chunk)
                if self._total > self._flood:
                    self._said.put("flood")
                    return
        self._said.put(name)


def _kill(pid: int) -> None:
    """Kill a process group; on Windows a process tree."""
    if os.name == "nt":
        tool = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            argv = [tool, "/PID", str(pid), "/T", "/F"]
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _sweep(child: int) -> int:
    """Kill what the command left behind, until nothing of it runs; how many processes that were."""
    gone: set[int] = set()
    until = time.monotonic() + SWEEP
    while time.monotonic() < until:
        mine = _children()
        for pid in mine - {child}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                if os.waitpid(pid, os.WNOHANG)[0] == pid:
                    gone.add(pid)
        if mine <= {child}:
            break
        time.sleep(0.01)
    return len(gone)


def _children() -> set[int]:
    """Processes whose parent this is, read from the table of processes."""
    mine, found = str(os.getpid()), set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    stat = file.read().rpartition(b")")[2].split()
                if stat[1].decode("ascii") == mine:
                    found.add(int(name))
    return found


if __name__ == "__main__":
    sys.exit(main())
