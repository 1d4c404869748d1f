"""Handles ``ctx://…``: a query and pinned locators kept under a name, so that a second agent starts warm.

Who calls: ``context``. What may not come in: what a handle means now; that is asked anew each time. A handle is a convenience,
not a fact: it lives in a small file of its own below ``.mog/handles/``, is bounded in number, and can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mog.engine.code.secrets import contains_secret
from mog.engine.errors import NotFound, PolicyDenied, StoreDamaged, UsageError
from mog.engine.retrieval.model import Zoom

SCHEME = "ctx://"
PINNED = 32
QUERY_BYTES = 16_000
KEPT = 1_000
_ODD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
_NAME = re.compile(r"ctx://([0-9a-f]{32})\Z")


class Way(NamedTuple):
    """How a question was asked, so that its next page is asked the same way: zoom (None: chosen), kinds, reranker, spread."""

    zoom: Zoom | None = None
    kinds: tuple[str, ...] = ()
    rerank: bool = True
    spread: str = "hops"


USUAL = Way()


class Handle(NamedTuple):
    """``name`` is ``ctx://`` and 32 hex digits; the same query, pins and way always have the same name."""

    name: str
    query: str
    pinned: tuple[str, ...]
    way: Way = USUAL


def is_handle(text: str) -> bool:
    """Whether a text is a handle or a page of one (``ctx://…#12``)."""
    return bool(_NAME.match(text.partition("#")[0]))


class Handles:
    """The handles of a worktree, below ``.mog/handles``. Without ``keep`` new ones are known to this object alone."""

    def __init__(self, mog_dir: Path, *, keep: bool = True) -> None:
        self._folder = mog_dir / "handles"
        self._held: dict[str, bytes] | None = None if keep else {}

    def create(self, query: str, pinned: Sequence[str] = (), way: Way = USUAL) -> Handle:
        """Keep a query, locators, and how it was asked.

        Raises:
            UsageError: neither is given, more than 32 locators, or a query of more than 16,000 bytes.
            PolicyDenied: the query is shaped like a credential; a handle is a file.
            StoreDamaged: ``.mog/handles`` is a link or cannot be written.
        """
        if len(pinned) > PINNED or not (query.strip() or pinned):
            raise UsageError(
                f"a handle takes a query and at most {PINNED} places", where="create", way_out="name fewer places"
            )
        body = json.dumps({"query": query, "pinned": list(pinned), **_changed(way)}, sort_keys=True).encode()
        if len(body) > QUERY_BYTES:
            raise UsageError(
                "the query is too long for a handle", where="create", way_out=f"at most {QUERY_BYTES} bytes"
            )
        if contains_secret(query):
            raise PolicyDenied("the query holds what looks like a credential", where="create", way_out="leave it out")
        digest = hashlib.blake2b(body, digest_size=16, person=b"mog.handle").hexdigest()
        self._write(digest, body)
        return Handle(SCHEME + digest, query, tuple(pinned), way)

    def load(self, name: str) -> Handle:
        """The handle of that name.

        Raises:
            UsageError: it is none. NotFound: it was not made here, or was dropped. StoreDamaged: its file is damaged.
        """
        match = _NAME.match(name)
        if match is None:
            raise UsageError(
                f"this is no handle: {name!r:.60}", where="handle", way_out="handles look like ctx://<32 hex digits>"
            )
        path, body = self._folder / match[1], (self._held or {}).get(match[1])
        if body is None:
            body = self._body(name, path)
        if hashlib.blake2b(body, digest_size=16, person=b"mog.handle").hexdigest() != match[1]:
            raise _damaged(path)
        try:
            return _read(name, json.loads(body))
        except _ODD as error:  # the digest fits, and it is not what ``create`` writes
            raise _damaged(path) from error

    def _body(self, name: str, path: Path) -> bytes:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(path, flags), "rb") as handle:
                return handle.read(QUERY_BYTES + 1)
        except OSError as error:
            raise NotFound(f"there is no handle {name}", where="handle", way_out="make one with `mog context create`") from error

    def _write(self, digest: str, body: bytes) -> None:
        if self._held is not None:
            self._held[digest] = self._held.pop(digest, body)
            while len(self._held) > KEPT:
                del self._held[next(iter(self._held))]
            return
        temporary, path = self._folder / f".{digest}.{os.getpid()}", self._folder / digest
        try:
            if self._holds(path, body):
                os.utime(path)
                return
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._folder.is_symlink():
                raise StoreDamaged(".mog/handles is a link", where=str(self._folder), way_out="remove it and try again")
            flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            with open(os.open(temporary, flags, 0o600), "wb") as out:
                out.write(body)
            os.replace(temporary, path)
            self._tidy()
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            what = f"a handle cannot be kept: {error.strerror or error}"
            raise StoreDamaged(what, where=str(self._folder), way_out="check rights and free space") from error

    def _holds(self, path: Path, body: bytes) -> bool:
        """Whether the file is there already, as a file of its own and of that size."""
        if self._folder.is_symlink() or path.is_symlink() or not path.is_file():
            return False
        return path.stat().st_size == len(body) and path.read_bytes() == body

    def _tidy(self) -> None:
        """Drop the oldest beyond ``KEPT``."""
        held = list(self._folder.glob("[0-9a-f]*"))
        if len(held) > KEPT:
            held.sort(key=lambda path: (path.lstat().st_mtime_ns, path.name))
        for old in held[: max(0, len(held) - KEPT)]:
            with contextlib.suppress(OSError):
                old.unlink()


def _changed(way: Way) -> dict[str, object]:
    """What of a way differs from the usual, for the file: most handles have nothing of it."""
    usual = USUAL._asdict()
    return {key: value for key, value in way._asdict().items() if value != usual[key]}


def _read(name: str, found: dict[str, Any]) -> Handle:
    query, pinned, kinds = found.pop("query"), tuple(found.pop("pinned")), tuple(found.pop("kinds", ()))
    zoom = found.pop("zoom", None)
    way = Way(None if zoom is None else Zoom(zoom), kinds, **found)
    if not all(isinstance(text, str) for text in (query, way.spread, *pinned, *kinds)):
        raise ValueError("texts are expected")
    return Handle(name, query, pinned, way)


def _damaged(path: Path) -> StoreDamaged:
    return StoreDamaged("the handle is damaged", where=str(path), way_out="delete the file and make the handle anew")
