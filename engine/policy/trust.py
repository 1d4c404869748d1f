"""Workspace trust: which commands of a repository a person allowed, recorded outside of that repository.

Who calls: whoever is about to run what a repository declares (auditors; plan tasks and packs with code), ``mog allow``.
What may not come in: running anything, reading declarations, a record that lies inside the repository it speaks about.

A word is given for a digest. It covers the declaration and the bytes of every file of the repository that the command line
names, so a changed script needs a new word. It does not cover what those files load in turn; a declaration can name such
files under ``covers``. The record is bound to the clone's own secret as well as to its path: another clone at the same
path starts with nothing allowed.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mog.engine import ids, values
from mog.engine.errors import PolicyDenied, StoreDamaged, UsageError
from mog.engine.policy import named
from mog.engine.store.lock import WriterLock

MAX_RECORD_BYTES = 4_000_000
MAX_WORDS = 64
"""Digests remembered for one command, newest last: branches and worktrees each have their own."""
VARIABLE = "MOG_TRUST_DIR"
_SCHEMA = "mog.trust"
_WAY_OUT = "look at it, then run `mog allow`"


@dataclass(frozen=True, slots=True)
class Command:
    """A command as a file of the repository declares it.

    Attributes:
        kind: what it serves as, e.g. ``auditor``; a word for one kind is none for another.
        name: its name in the declaring file.
        file: the declaring file, relative to the root, ``/`` separators.
        argv: program and arguments.
        cwd: folder it runs in, relative to the root ("" = the root).
        covers: further files of the repository whose bytes the word covers.
        spec: the whole declaration as plain JSON.
    """

    kind: str
    name: str
    file: str
    argv: tuple[str, ...]
    cwd: str = ""
    covers: tuple[str, ...] = ()
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What the record files it under."""
        return json.dumps([self.kind, self.file, self.name], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Seen:
    """A command as it stands on disk now: its digest, the digest of its declaration, digests of the files it names."""

    digest: str
    declaration: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A command that may not run yet.

    Attributes:
        why: ``new``, or ``changed`` when another form of it was allowed.
        digest: what a word would be given for.
        changed: what differs from the form allowed last: ``the declaration`` and paths.
    """

    name: str
    kind: str
    file: str
    argv: tuple[str, ...]
    why: str
    digest: str
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Word:
    """One word that was given: the command's kind, file, name and the digest it was given for."""

    kind: str
    file: str
    name: str
    digest: str


def inspect(root: Path, command: Command) -> Seen:
    """What a command is at this moment.

    Raises:
        PolicyDenied: a file it names cannot be vouched for (too large, not a plain file, cannot be read).
        UsageError: its declaration is not plain JSON.
    """
    shape = {"kind": command.kind, "name": command.name, "file": command.file, "spec": command.spec}
    shape |= {"argv": command.argv, "cwd": command.cwd, "covers": command.covers}
    declaration = _digest(values.canonical(shape))
    files = named.digests(root, command.argv, command.cwd, command.covers)
    return Seen(_digest(values.canonical({"declaration": declaration, "files": files})), declaration, files)


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=32, person=b"mog.trust.1").hexdigest()


def default_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where words are kept: ``MOG_TRUST_DIR``, else the person's own data folder."""
    chosen = (os.environ if environ is None else environ).get(VARIABLE, "")
    if chosen:
        return Path(chosen).absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("mog", appauthor=False)) / "trust"


class TrustStore:
    """The words given for one clone. Reading writes nothing.

    Args:
        root: the worktree whose files commands name.
        common: what identifies the clone: the git folder its worktrees share, or the root without git.
        key: gives the clone's secret; asked for only when there is, or is about to be, a record.
        folder: where records are kept (``default_folder``).
    """

    def __init__(self, root: Path, common: Path, key: Callable[[], bytes], folder: Path | None = None) -> None:
        self.root = root
        self.folder = folder or default_folder()
        self._key = key
        self._identity = os.path.realpath(common)
        self._file = blake2b(os.fsencode(self._identity), digest_size=16, person=b"mog.clone.1").hexdigest() + ".json"

    def is_allowed(self, command: Command) -> bool:
        """Was a word given for exactly this command as it is on disk now? Raises StoreDamaged, PolicyDenied."""
        return inspect(self.root, command).digest in self._digests(command)

    def require(self, command: Command) -> Seen:
        """The command as it stands, when it may run.

        Raises:
            PolicyDenied: no word was given for it as it is now. StoreDamaged: the record cannot be believed.
        """
        seen = inspect(self.root, command)
        known = self._digests(command)
        if seen.digest not in known:
            what = "changed since it was allowed" if known else "is not allowed to run"
            raise PolicyDenied(f"the {command.kind} {command.name!r} {what}", where=command.file, way_out=_WAY_OUT)
        return seen

    def waiting(self, commands: Iterable[Command]) -> list[Waiting]:
        """Those of ``commands`` that may not run, in their order, with why.

        One that cannot be vouched for at all is listed with an empty digest. Raises StoreDamaged.
        """
        words = self._words()
        found = (self._waiting(command, words.get(command.key, [])) for command in commands)
        return [one for one in found if one is not None]

    def _waiting(self, command: Command, known: list[Mapping[str, Any]]) -> Waiting | None:
        why = "changed" if known else "new"
        try:
            seen = inspect(self.root, command)
        except PolicyDenied as error:
            return Waiting(command.name, command.kind, command.file, command.argv, why, "", (str(error),))
        if any(word["digest"] == seen.digest for word in known):
            return None
        changed = tuple(_differences(known[-1], seen)) if known else ()
        return Waiting(command.name, command.kind, command.file, command.argv, why, seen.digest, changed)

    def allow(self, command: Command, digest: str = "") -> Waiting | None:
        """Give the word for a command; what waited until now, or None when it was allowed already.

        Args:
            digest: what the person was shown; when given, the command must still be that.

        Raises:
            PolicyDenied: it is no longer what was shown, cannot be vouched for, or the record would lie inside the
                repository. HeldByOther: another process gives a word. StoreDamaged: the record cannot be used.
        """
        self._check_outside()
        with self._writing() as words:
            seen = inspect(self.root, command)
            if digest and seen.digest != digest:
                what = f"the {command.kind} {command.name!r} changed since it was shown"
                raise PolicyDenied(what, where=command.file, way_out="look at it again, then run `mog allow`")
            waited = self._waiting(command, words.get(command.key, []))
            if waited is not None:
                word = {"digest": seen.digest, "declaration": seen.declaration, "files": dict(seen.files)}
                words[command.key] = [*words.get(command.key, []), word][-MAX_WORDS:]
        return waited

    def revoke(self, name: str, kind: str = "") -> int:
        """Take every word for a name back; how many there were. Raises HeldByOther, StoreDamaged."""
        if not self._words():
            return 0
        with self._writing() as words:
            gone = [key for key in words if _called(key, name, kind)]
            return sum(len(words.pop(key)) for key in gone)

    def words(self) -> tuple[Word, ...]:
        """Every word that was given. Raises StoreDamaged."""
        listed = ((json.loads(key), word) for key, known in sorted(self._words().items()) for word in known)
        return tuple(Word(kind, file, name, str(word["digest"])) for (kind, file, name), word in listed)

    def _digests(self, command: Command) -> set[str]:
        return {str(word["digest"]) for word in self._words().get(command.key, [])}

    # the record

    def _inside(self) -> bool:
        here = Path(os.path.realpath(self.folder))
        common = Path(self._identity)
        homes = (os.path.realpath(self.root), common.parent if common.name == ".git" else common)
        return any(here.is_relative_to(home) for home in homes)

    def _check_outside(self) -> None:
        if self._inside():
            what = "the record of what is allowed would lie inside the repository it speaks about"
            raise PolicyDenied(what, where=str(self.folder), way_out=f"set {VARIABLE} to a folder outside of it")

    def _words(self) -> dict[str, list[Mapping[str, Any]]]:
        """Key of a command → words given for it. A record inside the repository counts as none."""
        if self._inside():
            return {}
        data = _read_private(self.folder, self._file)
        if data is None:
            return {}
        record = _parsed(data, self.folder / self._file)
        if record["repository"] != ids.escape(self._identity) or record["clone"] != self._clone():
            return {}
        allowed: dict[str, list[Mapping[str, Any]]] = record["allowed"]
        return allowed

    def _clone(self) -> str:
        return blake2b(self._key(), digest_size=16, person=b"mog.clone.1").hexdigest()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[dict[str, list[Mapping[str, Any]]]]:
        """The words, to be changed in place; written when the block ends well."""
        _make_private(self.folder)
        with WriterLock(self.folder / f"{self._file}.lock", "allow"):
            words = self._words()
            yield words
            record = {"schema": _SCHEMA, "version": 1, "repository": ids.escape(self._identity)}
            _replace(self.folder, self._file, values.canonical(record | {"clone": self._clone(), "allowed": words}))


def _differences(word: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    if word["declaration"] != seen.declaration:
        yield "the declaration"
    before: Mapping[str, str] = word["files"]
    yield from (path for path in sorted({*before, *seen.files}) if before.get(path) != seen.files.get(path))


def _called(key: str, name: str, kind: str) -> bool:
    known_kind, _, known_name = json.loads(key)
    return bool(known_name == name and kind in ("", known_kind))


def _parsed(data: bytes, path: Path) -> dict[str, Any]:
    try:
        record = values.parse(data, str(path))
        if (record["schema"], record["version"]) != (_SCHEMA, 1):
            raise KeyError("schema")
        for key, known in record["allowed"].items():
            _, _, _ = json.loads(key)
            for word in known:
                _ = (str(word["digest"]), str(word["declaration"]), dict(word["files"]))
        _ = (record["repository"], record["clone"])
    except (StoreDamaged, KeyError, TypeError, ValueError, AttributeError) as error:
        what = "the record of what is allowed cannot be read"
        raise StoreDamaged(what, where=str(path), way_out="delete it and run `mog allow` again") from error
    return dict(record)


# files of our own


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error.strerror or "cannot be made") from error
    _check_own(os.lstat(folder), folder, stat.S_ISDIR)


def _check_own(info: os.stat_result, path: Path, is_kind: Callable[[int], bool]) -> None:
    """Refuse a link, another kind of file, and what others own or may write."""
    if not is_kind(info.st_mode):
        raise _unusable(path, "it is a link or of the wrong kind")
    if hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or info.st_mode & 0o022):
        raise _unusable(path, "others may write it")


def _unusable(path: Path, why: str) -> StoreDamaged:
    what = f"the record of what is allowed cannot be used: {why}"
    return StoreDamaged(what, where=str(path), way_out=f"put it right, or set {VARIABLE} to another folder")


def _read_private(folder: Path, name: str) -> bytes | None:
    path = folder / name
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        _check_own(os.lstat(folder), folder, stat.S_ISDIR)
        if stat.S_ISLNK(os.lstat(path).st_mode):
            raise _unusable(path, "it is a link")
        handle = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unusable(path, error.strerror or "cannot be opened") from error
    with open(handle, "rb") as file:
        _check_own(os.fstat(handle), path, stat.S_ISREG)
        data = file.read(MAX_RECORD_BYTES + 1)
    if len(data) > MAX_RECORD_BYTES:
        raise _unusable(path, f"it is larger than {MAX_RECORD_BYTES} bytes")
    return data


def _replace(folder: Path, name: str, data: bytes) -> None:
    """Write a file whole or not at all. The lock of the record is held, so the temporary name has one user."""
    if len(data) > MAX_RECORD_BYTES:
        raise UsageError("too many commands are allowed here", where=str(folder / name), way_out="revoke some of them")
    temporary = folder / f"{name}.new"
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        temporary.unlink(missing_ok=True)
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, folder / name)
        _sync_folder(folder)
    except OSError as error:
        raise _unusable(folder / name, error.strerror or "cannot be written") from error


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
