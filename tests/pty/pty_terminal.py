"""A terminal of our own around a program: sends keys, sizes and signals, keeps every byte that comes back.

Who calls: tests in this folder. The screen is read with a small emulator of the sequences the workbench sends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

HOST = Path(__file__).with_name("pty_host.py")
_TOKENS = re.compile(
    r"\x1b\[(?P<args>[0-9;?<>=]*)(?P<final>[@A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[()*+]."
    r"|\x1b.|(?P<nl>[\b\r\n])|(?P<text>[^\x1b\b\r\n]+)",
    re.DOTALL,
)


class Terminal:
    """A child on a pseudo-terminal of a given size."""

    def __init__(self, argv: list[str], size: tuple[int, int], env: Mapping[str, str], cwd: Path | None = None) -> None:
        self.master, slave = pty.openpty()
        self.size = size
        self._set_size(size)
        self.process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, env=dict(env), start_new_session=True, close_fds=True, cwd=cwd
        )
        os.close(slave)
        self.raw = b""

    def _set_size(self, size: tuple[int, int]) -> None:
        self.size = size
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size and tell the child."""
        self._set_size((width, height))
        os.kill(self.process.pid, signal.SIGWINCH)

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self.master, keys.encode())

    def read(self, quiet: float = 0.05, limit: float = 5.0) -> bytes:
        """Bytes until nothing came for ``quiet`` seconds (at most ``limit``)."""
        got, began = b"", time.monotonic()
        while time.monotonic() - began < limit:
            ready, _, _ = select.select([self.master], [], [], quiet)
            if not ready:
                break
            try:
                chunk = os.read(self.master, 65536)
            except OSError:
                break
            if not chunk:
                break
            got += chunk
        self.raw += got
        return got

    def wait_for(self, text: str, limit: float = 20.0) -> str:
        """Read until the screen shows ``text``; the screen as it is then."""
        return self.wait_until(lambda shown: text in shown, limit, text)

    def wait_until(self, test: Callable[[str], bool], limit: float = 20.0, what: str = "the screen wanted") -> str:
        """Read until ``test`` holds of the screen."""
        began, shown = time.monotonic(), ""
        while time.monotonic() - began < limit:
            self.read(quiet=0.1)
            shown = self.screen()
            if test(shown):
                return shown
            if self.process.poll() is not None:
                break
        raise AssertionError(f"never saw {what!r}; the screen was:\n{shown}\n{self.raw[-600:]!r}")

    def screen(self) -> str:
        """What a person sees now, line by line."""
        return render(self.raw.decode("utf-8", "replace"), self.size)

    def latencies(self, key: str, times: int, quiet: float = 0.03) -> list[tuple[float, int]]:
        """(milliseconds from key to last byte, bytes) for a key pressed ``times`` times after quiet moments."""
        out = []
        for _ in range(times):
            self.read(quiet=0.15)
            began, last, count = time.perf_counter(), 0.0, 0
            self.send(key)
            while time.perf_counter() - began < 2.0:
                ready, _, _ = select.select([self.master], [], [], 0.5 if not count else quiet)
                if not ready:
                    break
                chunk = os.read(self.master, 65536)
                self.raw += chunk
                count += len(chunk)
                last = time.perf_counter()
            out.append(((last - began) * 1000 if count else 0.0, count))
        return out

    def end(self, limit: float = 10.0) -> int:
        """Wait for the child's end, reading what it still writes; its exit code."""
        began = time.monotonic()
        while self.process.poll() is None and time.monotonic() - began < limit:
            self.read(quiet=0.05, limit=0.5)
        self.read(quiet=0.05, limit=0.5)
        if self.process.poll() is None:
            self.process.kill()
            raise AssertionError(f"still running after {limit} s")
        return self.process.returncode


def environment(**more: str) -> dict[str, str]:
    """The environment of a plain terminal, nothing of the developer's own settings in it."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "SYSTEMROOT", "VIRTUAL_ENV", "PYTHONPATH")}
    return {**keep, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", **more}


@contextlib.contextmanager
def workbench(
    *args: str, size: tuple[int, int] = (120, 36), env: Mapping[str, str] | None = None, wait: str = "Cart.total"
) -> Iterator[Terminal]:
    """The workbench on the made-up repository, in a terminal; killed in the end if it still runs."""
    terminal = Terminal([sys.executable, str(HOST), *args], size, env or environment())
    try:
        if wait:
            terminal.wait_for(wait)
            terminal.read(quiet=0.4)
        yield terminal
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()
        os.close(terminal.master)


def render(text: str, size: tuple[int, int]) -> str:
    """Lines of the screen after ``text``: cursor moves, erasing and characters as ECMA-48 has them; styles are ignored."""
    width, height = size
    grid = [[" "] * width for _ in range(height)]
    x = y = 0
    for token in _TOKENS.finditer(text):
        final, args = token["final"], token["args"] or ""
        if token["text"]:
            for char in token["text"]:
                if x < width and y < height:
                    grid[y][x] = char
                x += 1
        elif token["nl"]:
            x, y = {"\r": (0, y), "\n": (x, min(y + 1, height - 1)), "\b": (max(0, x - 1), y)}[token["nl"]]
        elif final == "h" and args == "?1049":
            grid = [[" "] * width for _ in range(height)]
        elif final and not args.strip("0123456789;"):
            first, _, second = args.partition(";")
            count = max(1, int(first or 1))
            if final in "Hf":
                y, x = count - 1, max(1, int(second or 1)) - 1
            elif final in "ABCDGd":
                x = {"C": x + count, "D": max(0, x - count), "G": count - 1}.get(final, x)
                y = {"A": max(0, y - count), "B": min(height - 1, y + count), "d": count - 1}.get(final, y)
            elif final in "JKX":
                _erase(grid, x, y, final, int(first or 0))
    return "\n".join("".join(line).rstrip() for line in grid)


def _erase(grid: list[list[str]], x: int, y: int, final: str, what: int) -> None:
    """Blanks for ``what`` cells (X), or for what lies behind (0), before (1) or around (2) the cursor in its line (K) or screen (J)."""
    width = len(grid[0])
    here = y * width + min(x, width - 1)
    start, stop = (y * width, (y + 1) * width) if final == "K" else (0, width * len(grid))
    if final == "X":
        start, stop = here, min(here + max(1, what), (y + 1) * width)
    else:
        start, stop = (here, stop) if what == 0 else (start, here + 1) if what == 1 else (start, stop)
    for at in range(start, min(stop, width * len(grid))):
        grid[at // width][at % width] = " "
