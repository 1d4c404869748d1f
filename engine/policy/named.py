"""The files of a repository that a command line names, and digests of their bytes.

Who calls: ``trust`` for digests, ``commands`` for the program to start. What may not come in: records, running, guesses about
what a program would load by itself.

A word of the command line names a file when it is one as it stands, after ``=`` (``--config=x``), after ``@`` (response
files), before ``::`` (one test of a file), or as ``-m pkg.mod``. It is looked for from the working folder and from the root.
A link is followed and where it leads is part of the digest, so a link that is bent to another file is a change.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from mog.engine import ids
from mog.engine.errors import PolicyDenied

MAX_BYTES = 64_000_000
_CHUNK = 1 << 20


def digests(root: Path, argv: Sequence[str], cwd: str, covers: Sequence[str] = ()) -> dict[str, str]:
    """Path relative to the root (escaped, ``/`` separators) → hex digest of every file of the repository that is named.

    Raises:
        PolicyDenied: a named path is a pipe or device, is larger than 64 MB, or cannot be read; a file under ``covers`` is
            not there.
    """
    found = {}
    for path in [*_named(root, argv, cwd), *_covered(root, covers)]:
        found[_shown(root, path)] = _digest(root, path)
    return dict(sorted(found.items()))


def program(argv0: str, root: Path, cwd: str, search: str) -> Path | None:
    """What would be started: a path as written, relative to the working folder, or a bare name from ``search``.

    Only absolute entries of ``search`` count, so a program of the current folder is never found by its bare name.
    """
    if os.sep in argv0 or (os.altsep and os.altsep in argv0):
        path = root / cwd / argv0
        return path if path.is_file() else None
    for folder in search.split(os.pathsep):
        if os.path.isabs(folder) and (found := shutil.which(os.path.join(folder, argv0))):
            return Path(found)
    return None


def _named(root: Path, argv: Sequence[str], cwd: str) -> Iterator[Path]:
    for at, word in enumerate(argv):
        module = word if at and argv[at - 1] == "-m" else ""
        for text in _readings(word, module):
            yield from _inside(root, (root / cwd, root), text)
    started = program(argv[0], root, cwd, os.environ.get("PATH", os.defpath)) if argv else None
    if started is not None:
        yield from _inside(root, (root,), str(started))


def _readings(word: str, module: str) -> Iterator[str]:
    yield word
    yield from (
        part for part in (word.partition("=")[2], word.lstrip("@"), word.partition("::")[0]) if part not in ("", word)
    )
    if module:
        below = module.replace(".", "/")
        yield from (f"{below}.py", f"{below}/__main__.py", f"{below}/__init__.py")
    else:
        yield os.path.join(word, "__main__.py")


def _inside(root: Path, bases: Sequence[Path], text: str) -> Iterator[Path]:
    for base in dict.fromkeys(bases):
        path = Path(os.path.abspath(os.path.join(base, text)))
        if _exists(path) and (path.is_relative_to(root) or _real(path).is_relative_to(_real(root))):
            yield path


def _exists(path: Path) -> bool:
    """Is something there that is no folder? Pipes and devices are, so that they are refused and not passed over."""
    try:
        return not stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _covered(root: Path, covers: Sequence[str]) -> Iterator[Path]:
    for text in covers:
        found = list(_inside(root, (root,), text))
        if not found:
            raise PolicyDenied("a file it covers is not in the repository", where=text, way_out="correct `covers`")
        yield from found


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _shown(root: Path, path: Path) -> str:
    home, at = (root, path) if path.is_relative_to(root) else (_real(root), _real(path))
    return ids.escape(at.relative_to(home).as_posix())


def _digest(root: Path, path: Path) -> str:
    real, home = _real(path), _real(root)
    leads = real.relative_to(home).as_posix() if real.is_relative_to(home) else str(real)
    hasher = blake2b(digest_size=32, person=b"mog.named.1")
    hasher.update(os.fsencode(leads) + b"\0")
    if not path.is_file():
        raise _refused(path, "is no plain file")
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(handle, "rb") as file:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_BYTES:
                raise _refused(path, "is no plain file" if info.st_size <= MAX_BYTES else "is too large")
            while chunk := file.read(_CHUNK):
                hasher.update(chunk)
    except OSError as error:
        raise _refused(path, error.strerror or "cannot be read") from error
    return hasher.hexdigest()


def _refused(path: Path, why: str) -> PolicyDenied:
    what = f"a file the command names cannot be vouched for: {why}"
    return PolicyDenied(what, where=str(path), way_out="name a plain file of the repository")
