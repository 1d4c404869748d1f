"""Where the owner of a workspace can be found: its lock, its socket, the small file that says where the socket is.

Who calls: ``owner`` and ``bridge``. What may not come in: the protocol, waiting, the engine beyond its lock.

Everything lies in ``.mog/run/``, a folder of this person alone. A repository can bring files with it; nothing in that folder is
believed unless it is a regular file of this person that nobody else may read, which no checkout makes. Where the socket's path
would be longer than 100 bytes, or the file system has no sockets, the socket goes to the platform's runtime folder under the
digest of the workspace's path; where there are no such sockets at all it is TCP on loopback, behind a token.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mog.engine.errors import StoreDamaged
from mog.engine.store.lock import WriterLock
from mog.engine.store.private import private_folder as private_folder
from mog.engine.store.private import read_private as read_private
from mog.engine.store.private import write_private as write_private

LONGEST = 100  # bytes of a socket's path; the system's own limit is 104 to 108
OWNER, REGENT, HEIR = "owner", "regent", "heir"
TOKEN = "http.token"
HAS_UNIX = hasattr(socket, "AF_UNIX") and os.name != "nt"
_NO_SOCKETS = (errno.EOPNOTSUPP, errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOSYS, errno.EROFS)
_MAX_NOTE = 4_096


@dataclass(frozen=True, slots=True)
class Address:
    """Where an owner listens: the path of a socket, or a port of loopback; what a client has to show; who it is."""

    path: str = ""
    port: int = 0
    token: str = ""
    pid: int = 0


class Place:
    """The run folder of one workspace. Nothing is made before it is asked for.

    ``role``: whose lock and address are meant: the owner's, or the regent's, who serves bridges while the owner does not run.
    """

    def __init__(self, root: Path, role: str = OWNER, *, unix: bool = HAS_UNIX) -> None:
        self.root = root
        self.role = role
        self.folder = root / ".mog" / "run"
        self._unix = unix

    def prepare(self) -> Path:
        """Make ``.mog/run`` so that only this person can look into it. Raises StoreDamaged when it is a link or foreign."""
        for folder in (self.folder.parent, self.folder):
            private_folder(folder, tighten=folder == self.folder)
        return self.folder

    def lock(self) -> WriterLock:
        """The lock that says who has the role."""
        return WriterLock(self.folder / f"{self.role}.lock", f"mog serve, {self.role}")

    # the owner's side

    def bind(self) -> tuple[socket.socket, Address]:
        """A listening socket and its address. Only the holder of the lock may call this: what it finds there is stale."""
        for path in self._paths() if self._unix else ():
            bound = _bind_unix(path)
            if bound is not None:
                return bound, Address(path=str(path), token=secrets.token_hex(16), pid=os.getpid())
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        bound.bind(("127.0.0.1", 0))
        return bound, Address(port=bound.getsockname()[1], token=secrets.token_hex(16), pid=os.getpid())

    def publish(self, address: Address) -> None:
        """Say where the owner listens."""
        note = {"path": address.path, "port": address.port, "token": address.token, "pid": address.pid}
        write_private(self._note, json.dumps(note).encode())

    def withdraw(self, address: Address) -> None:
        """Take the address back, as far as it is still this one."""
        if self.address() == address:
            with contextlib.suppress(OSError):
                self._note.unlink()
        if address.path:
            with contextlib.suppress(OSError):
                os.unlink(address.path)

    # the client's side

    def address(self) -> Address | None:
        """Where the owner says it listens; None when nothing is there that can be believed."""
        try:
            note = json.loads(read_private(self._note))
            return Address(str(note["path"]), int(note["port"]), str(note["token"]), int(note["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def _note(self) -> Path:
        return self.folder / f"{self.role}.address"

    def _paths(self) -> Iterator[Path]:
        """Where the socket may go, the first that works counts; the second is looked for only when the first does not do."""
        own = self.folder / f"{self.role}.sock"
        if len(os.fsencode(own)) <= LONGEST:
            yield own
        with contextlib.suppress(StoreDamaged, OSError):
            digest = hashlib.blake2b(os.fsencode(self.root.resolve()), digest_size=16, person=b"mog.socket").hexdigest()
            there = private_folder(_runtime_folder(), tighten=True) / f"{digest}.{self.role}.sock"
            if len(os.fsencode(there)) <= LONGEST:
                yield there


def runs(pid: int) -> bool | None:
    """Whether a process runs at all, however slowly; None where the system does not tell. A stopped one does not, nor a dead one."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as handle:
            state = handle.read(_MAX_NOTE).rpartition(b")")[2].split()[:1]
    except OSError:
        return None
    return not state or state[0] not in (b"T", b"t", b"Z", b"X")


def _runtime_folder() -> Path:
    """The folder of this person for sockets; below the temporary folder where no session manager made one."""
    import warnings

    import platformdirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = platformdirs.user_runtime_path("mog", appauthor=False)
    if os.environ.get("XDG_RUNTIME_DIR") or sys.platform == "darwin":
        return folder
    return Path(tempfile.gettempdir()) / f"mog-{os.getuid()}"


def _bind_unix(path: Path) -> socket.socket | None:
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            os.unlink(path)
    try:
        old = os.umask(0o177)
        try:
            bound.bind(os.fspath(path))
        finally:
            os.umask(old)
    except OSError as error:
        bound.close()
        if error.errno in (*_NO_SOCKETS, errno.EADDRINUSE):
            return None
        raise StoreDamaged(
            f"no socket can be made: {error.strerror}", where=str(path), way_out="check the folder"
        ) from error
    return bound
