"""What agents want written and a person has to allow first: requests that wait, and the words they are answered with.

Who calls: a server of agents asks and waits, the workbench lists and answers; they may be one process or two. What may not come
in: the write itself, what a request means, waiting. Everything lies in ``.mog/run/asking``, a folder of this person alone, each
request and each answer in a file of its own that is believed only when nobody else could have written it (``store/private``).

A request is taken out of the folder by one ``rename``: whoever succeeds, the server that gives it up or the workbench that answers
it, has decided. So no request is answered twice, and none that was given up is allowed. Both sides touch a file while they are
there: a workbench that does not run, or a server that is gone, is told by the age of its file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mog.engine.errors import HeldByOther, NotFound
from mog.engine.store.private import private_folder, read_private, write_private

FOLDER = "asking"
MOST = 32  # requests that wait at a time
MAX_BYTES, MAX_TEXT, MAX_TEXTS = 32_768, 8_000, 24
BEAT, LOST = 2.0, 8.0  # seconds between two signs of life, and without one after which a side counts as gone
KEPT = 600.0  # seconds until what was left behind is swept away
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Request:
    """One write that waits.

    Attributes:
        id: 32 hex digits. at: wall time it was asked, seconds. client, session: who asks, as it says. tool, help: what it wants to run.
        arguments: as given; long ones are cut, and ``left_out`` says how many characters of which.
    """

    id: str
    at: float
    client: str
    session: str
    tool: str
    help: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: whether it is allowed, once; who said so; why not."""

    allowed: bool
    by: str
    why: str = ""


class Approvals:
    """The requests of one worktree. Cheap to make; safe from any thread. ``clock``: wall time in seconds."""

    def __init__(self, mog_dir: Path, clock: Any = time.time) -> None:
        self.folder = mog_dir / "run" / FOLDER
        self._clock = clock

    # the server's side

    def present(self) -> bool:
        """Whether a workbench is there that could answer."""
        return any(self._age(path) < LOST for path in self._files("workbench."))

    def ask(self, request: Request) -> None:
        """Put a request where the workbench sees it. Raises HeldByOther when too many wait, StoreDamaged, OSError."""
        self._prepare()
        if sum(1 for _ in self._files(".ask")) >= MOST:
            raise HeldByOther(
                f"{MOST} requests wait already", where=FOLDER, way_out="the person answers them at the workbench"
            )
        write_private(self._at(request.id, "ask"), json.dumps(asdict(request)).encode("utf-8", "surrogatepass"))
        self.keep(request.id)

    def keep(self, id: str) -> None:
        """Say that somebody still waits for the answer."""
        self._touch(self._at(id, "ask"))

    def said(self, id: str) -> Said | None:
        """The answer to a request, None while there is none."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(read_private(self._at(id, "said"), MAX_BYTES))
            return Said(found["allowed"] is True, str(found["by"])[:200], str(found["why"])[:2_000])
        return None

    def withdraw(self, id: str) -> bool:
        """Give a request up; False when it was answered in the same moment, and the answer counts."""
        return self._take(id, "gone")

    def forget(self, id: str) -> None:
        """Remove what is left of a request that was settled."""
        for ending in ("ask", "said", "gone", "taken"):
            with contextlib.suppress(OSError):
                self._at(id, ending).unlink()

    # the workbench's side

    def beat(self, mark: str) -> None:
        """Say that a workbench is there; ``mark`` tells it from others. Raises StoreDamaged, OSError."""
        self._prepare()
        path = self.folder / f"workbench.{mark}"
        if not self._touch(path):
            write_private(path, b"")
            self._touch(path)
            self.sweep()

    def leave(self, mark: str) -> None:
        """Say that it is there no more."""
        with contextlib.suppress(OSError):
            (self.folder / f"workbench.{mark}").unlink()

    def waiting(self) -> tuple[Request, ...]:
        """Requests that somebody still waits for, the oldest first."""
        found = [self._request(path) for path in self._files(".ask") if self._age(path) < LOST]
        return tuple(sorted((one for one in found if one is not None), key=lambda one: (one.at, one.id)))

    def answer(self, id: str, said: Said) -> None:
        """Settle a request, once.

        Raises:
            NotFound: it waits no longer: it was given up, or somebody else answered it.
        """
        path = self._at(id, "ask")
        if self._age(path) >= LOST or not self._take(id, "taken"):
            raise NotFound(
                "this request waits no longer", where=id[:8], way_out="its client gave up, or it was answered elsewhere"
            )
        write_private(self._at(id, "said"), json.dumps(asdict(said)).encode("utf-8", "surrogatepass"))

    def sweep(self) -> None:
        """Remove what servers and workbenches that are gone have left."""
        for path in self._files(""):
            if self._age(path) > KEPT:
                with contextlib.suppress(OSError):
                    path.unlink()

    # inside

    def _prepare(self) -> None:
        for folder in (self.folder.parent.parent, self.folder.parent, self.folder):
            private_folder(folder, tighten=folder != self.folder.parent.parent)

    def _at(self, id: str, ending: str) -> Path:
        if not _ID.fullmatch(id):
            raise NotFound("a request is named by 32 hex digits", where=id[:40])
        return self.folder / f"{id}.{ending}"

    def _files(self, part: str) -> list[Path]:
        """Regular files of the folder whose name begins or ends so; nothing where the folder is a link or is not there."""
        if self.folder.is_symlink() or self.folder.parent.is_symlink():
            return []
        try:
            with os.scandir(self.folder) as entries:
                names = [one.name for one in entries if one.is_file(follow_symlinks=False)]
        except OSError:
            return []
        return [self.folder / name for name in names if name.startswith(part) or name.endswith(part)]

    def _age(self, path: Path) -> float:
        try:
            return abs(float(self._clock()) - os.lstat(path).st_mtime)
        except OSError:
            return float("inf")

    def _touch(self, path: Path) -> bool:
        try:
            now = self._clock()
            os.utime(path, (now, now), follow_symlinks=os.utime not in os.supports_follow_symlinks)
        except OSError:
            return False
        return True

    def _take(self, id: str, ending: str) -> bool:
        try:
            os.rename(self._at(id, "ask"), self._at(id, ending))
        except OSError:
            return False
        return True

    def _request(self, path: Path) -> Request | None:
        try:
            found = json.loads(read_private(path, MAX_BYTES))
            made = Request(**{name: found[name] for name in Request.__dataclass_fields__})
            known = (
                isinstance(made.arguments, dict) and isinstance(made.left_out, dict) and f"{made.id}.ask" == path.name
            )
            return made if known and isinstance(made.at, float | int) else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None


def made(
    client: str, session: str, tool: str, help: str, arguments: Mapping[str, Any], *, at: float | None = None
) -> Request:
    """A new request. Texts are cut so that a file of it stays small; what was cut is counted."""
    kept: dict[str, Any] = {}
    left_out: dict[str, int] = {}
    for name, value in list(arguments.items())[:MAX_TEXTS]:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        room = MAX_TEXT if len(arguments) < 4 else MAX_TEXT // 4
        kept[name[:80]] = text[:room]
        if len(text) > room:
            left_out[name[:80]] = len(text) - room
    if len(arguments) > MAX_TEXTS:
        left_out["further arguments"] = len(arguments) - MAX_TEXTS
    when = time.time() if at is None else at
    return Request(
        secrets.token_hex(16),
        when,
        client[:200],
        session[:200],
        tool[:80],
        help[:400],
        _bounded(kept, left_out),
        left_out,
    )


def _bounded(kept: dict[str, Any], left_out: dict[str, int]) -> dict[str, Any]:
    """Arguments whose JSON, escapes included, fits into the file."""
    while len(json.dumps(kept)) > MAX_BYTES // 2:
        longest = max(kept, key=lambda name: len(json.dumps(kept[name])))
        half = len(kept[longest]) // 2
        left_out[longest] = left_out.get(longest, 0) + len(kept[longest]) - half
        kept[longest] = kept[longest][:half]
    return kept
