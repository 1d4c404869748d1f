"""Serving on loopback: the socket, and who may ask. Called by ``mcp/web`` and ``web/server``.

What may not come in: a protocol, any address but loopback. A page of any site can send requests to loopback, and a name
that was rebound to it reads the answers: so Host and Origin are looked at before anything else, and a secret decides.
"""

from __future__ import annotations

import hmac
import socket
import sys
from collections.abc import Sequence

from mog.engine.errors import UsageError

HOST = "127.0.0.1"
NAMES = (HOST, "localhost", "[::1]")


class Gate:
    """Host and Origin of requests to one port. Both are compared byte for byte; a browser sends them as they are here."""

    def __init__(self, port: int) -> None:
        self.hosts = tuple(f"{name}:{port}" for name in NAMES)
        self.origins = tuple(f"http://{name}:{port}" for name in NAMES)

    def refused(self, hosts: Sequence[str], origins: Sequence[str]) -> tuple[int, str] | None:
        """Status and words for a request that is turned away, None for one that may go on; all values of both headers."""
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, "this server has no such host"
        if any(origin not in self.origins for origin in origins):
            return 403, "this origin is not served"
        return None


def same(given: str, wanted: str) -> bool:
    """Whether a secret is the one that is wanted, in a time that says nothing of how much of it was right."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())


def listening(port: int, waiting: int) -> socket.socket:
    """A socket that listens; port 0 lets the system choose. ``waiting``: connections that may wait to be taken.

    Raises:
        UsageError: the port cannot be had.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
        bound.listen(waiting)  # who reads the address below and connects at once waits, and is not refused
    except OSError as error:
        bound.close()
        way_out = "name another, or 0"
        raise UsageError(f"port {port} cannot be had: {error.strerror}", where="--port", way_out=way_out) from error
    return bound
