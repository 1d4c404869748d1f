"""A file that is there as a whole or not at all: written beside its place, put in place at once, or dropped.

Who calls: ``room`` for documents, ``versions`` for kept graphs. What may not come in: what is written.
"""

from __future__ import annotations

import gzip
import os
import secrets
from pathlib import Path
from typing import IO

from mog.engine.errors import UsageError

_FLAGS = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class Part:
    """A file of this person alone (0600) on its way to ``place``. ``packed``: as gzip, the same bytes for the same content.

    Raises:
        UsageError: it cannot be written there.
    """

    def __init__(self, place: Path, *, packed: bool = False) -> None:
        self._place = place
        self._temporary = place.with_name(f".{place.name[:80]}.{os.getpid()}.{secrets.token_hex(4)}.part")
        try:
            self._raw: IO[bytes] = open(os.open(self._temporary, _FLAGS, 0o600), "wb")  # noqa: SIM115 - closed below
        except OSError as error:
            raise self._refused(error) from error
        self._out: IO[bytes] = self._raw
        if packed:
            self._out = gzip.GzipFile(fileobj=self._raw, mode="wb", compresslevel=1, mtime=0, filename="")  # type: ignore[assignment]

    def write(self, data: bytes) -> None:
        """One more piece."""
        try:
            self._out.write(data)
        except OSError as error:
            raise self._refused(error) from error

    def settle(self, place: Path | None = None) -> None:
        """Put it in place; ``place``: another one in the same folder, known only now."""
        try:
            self._close()
            os.replace(self._temporary, place or self._place)
        except OSError as error:
            raise self._refused(error) from error

    def drop(self) -> None:
        """Forget it. After ``settle`` there is nothing to forget."""
        try:
            self._close()
        finally:
            self._temporary.unlink(missing_ok=True)

    def _close(self) -> None:
        self._out.close()
        self._raw.close()

    def _refused(self, error: OSError) -> UsageError:
        what = f"it cannot be written: {error.strerror or error}"
        return UsageError(what, where=str(self._place), way_out="name a file in a folder that can be written")


class Passed:
    """The same for a stream that somebody else owns: written and left alone."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """One more piece."""
        if self._stream is not None:
            self._stream.write(data)

    def settle(self) -> None:
        """Nothing to do."""

    def drop(self) -> None:
        """Nothing to do."""
