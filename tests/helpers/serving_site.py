"""``mog tui --serve`` in a process of its own, requests to it as no browser would send them, and a look at its children.

Who calls: tests/web/. What may not come in: assertions about one answer.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

WAIT = 60.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}")


@dataclass
class Site:
    """One server: the address it printed, its process."""

    address: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def socket(self, token: str | None = None) -> str:
        """Address of the socket of a page."""
        return f"ws://127.0.0.1:{self.port}/ws/{self.token if token is None else token}/dark?width=100&height=30"

    def send(
        self, path: str, head: Mapping[str, str] | None = None, method: str = "GET"
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of one request with exactly these headers; Host is right unless given."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in ({"Host": f"127.0.0.1:{self.port}"} | dict(head or {})).items():
                link.putheader(name, value)
            link.endheaders()
            answer = link.getresponse()
            return (
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read().decode(errors="replace"),
            )
        finally:
            link.close()

    def children(self) -> list[int]:
        """Processes that it started."""
        said = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, timeout=WAIT
        )
        me = subprocess.run(
            ["ps", "-o", "args=", "-p", str(self.process.pid)], capture_output=True, text=True, timeout=WAIT
        )
        assert "--serve" in me.stdout or self.process.poll() is not None
        return [int(pid) for pid in said.stdout.split()]


def running(pid: int) -> bool:
    """Whether a process is there, and not only waiting to be buried."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def until(true: object, what: str) -> None:
    """Wait until ``true()``."""
    end = time.monotonic() + WAIT
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)


@contextlib.contextmanager
def serving(root: Path, *options: str, cwd: Path | None = None) -> Iterator[Site]:
    """A server of the workbench; ends with the block."""
    vector = [sys.executable, "-P", "-m", "mog", "tui", "--serve", "--repo", str(root), *options]
    process = subprocess.Popen(
        vector, cwd=cwd or root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().strip()
        assert _ADDRESS.fullmatch(address), (address, process.stderr.read() if process.poll() is not None else "")
        yield Site(address, process)
    finally:
        if process.poll() is None:
            process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=WAIT)
        if process.poll() is None:
            process.kill()
            process.communicate()
