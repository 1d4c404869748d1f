"""Where one was: a small file of this person in ``.mog/run/``, read at the next start of the workbench.

Who calls: the app reads it before the first picture and writes it at the end. What may not come in: the toolkit, anything that would
be missed: a file that cannot be believed is left aside with a word.

A repository can bring files with it. The file counts only when it is a regular file of this person that nobody else may read,
in folders that are no links; node ids in it are questions to the index, nothing more.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from dataclasses import asdict, dataclass, fields
from pathlib import Path

NAME = "workbench.json"
MOST_BYTES = 64_000
MOST_IDS, LONGEST = 50, 400


@dataclass(frozen=True, slots=True)
class Kept:
    """What is remembered.

    Attributes:
        theme: chosen inside the workbench, "" for none. theme_over: what the configuration said then; another word of it wins again.
        centre, current: panes. focus: node in the graph. history: nodes before and after it, ``at`` the one in focus.
        level: tiers that are shown. sides: whether the graph stands beside the node. full: one pane fills the screen.
        toured: whether the tour was seen or refused.
    """

    theme: str = ""
    theme_over: str = ""
    centre: str = ""
    current: str = ""
    focus: str = ""
    history: tuple[str, ...] = ()
    at: int = -1
    level: int = 1
    sides: bool = True
    full: bool = False
    toured: bool = False


def file_of(root: Path) -> Path:
    """Where the file of a workspace lies."""
    return root / ".mog" / "run" / NAME


def load(path: Path) -> tuple[Kept | None, str]:
    """What was kept, ``None`` where there is nothing to go by; and a sentence when a file was left aside."""
    try:
        return _read(json.loads(_bytes(path))), ""
    except FileNotFoundError:
        return None, ""
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not what mog wrote"
        return None, f"where you were is forgotten: .mog/run/{NAME} was left aside ({why.lower()})"


def save(path: Path, kept: Kept) -> bool:
    """Put the file in place at once, mode 0600; False where that cannot be done, which costs nothing but the memory."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _folders(path, make=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(temporary, flags, 0o600), "w", encoding="utf-8") as out:
            json.dump(asdict(kept), out)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        return False
    return True


def _bytes(path: Path) -> bytes:
    _folders(path, make=False)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as handle:
        found = os.fstat(handle.fileno())
        others = os.name != "nt" and (found.st_uid != os.geteuid() or found.st_mode & 0o077)
        if not stat.S_ISREG(found.st_mode) or others:
            raise PermissionError(0, "others could have written it")
        return handle.read(MOST_BYTES)


def _folders(path: Path, *, make: bool) -> None:
    """Both folders above the file are folders of this person and no links; made where they are missing."""
    for folder in (path.parent.parent, path.parent):
        if make:
            folder.mkdir(mode=0o700, exist_ok=True)
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode) or (os.name != "nt" and found.st_uid != os.geteuid()):
            raise NotADirectoryError(0, "its folder is a link, or somebody else's")


def _read(found: object) -> Kept:
    """A record from JSON. Raises ValueError for a value of another kind."""
    if not isinstance(found, dict):
        raise ValueError(found)
    known = {field.name: found[field.name] for field in fields(Kept) if field.name in found}
    history = known.pop("history", [])
    if not isinstance(history, list):
        raise ValueError(history)
    blank = Kept()
    for name, value in known.items():
        if type(value) is not type(getattr(blank, name)) or (isinstance(value, str) and len(value) > LONGEST):
            raise ValueError(name)
    ids = tuple(one for one in history[-MOST_IDS:] if isinstance(one, str) and len(one) <= LONGEST)
    return Kept(**known, history=ids)
