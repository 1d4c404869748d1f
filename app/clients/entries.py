"""The entry of mog in a client's configuration: what is there, what would be written, and writing it.

Who calls: ``app/cli/mcp.py``. What may not come in: the environment, text for people.

An uninstall gives back the bytes of before: when the file is what an install makes of a backup that lies beside it (or of nothing), the
backup is put back. Otherwise the entry is cut out, and the object around it goes too if the latest backup had none.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import os
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mog.app.clients import disk, jsonc, tomltext
from mog.app.clients.known import SERVER, Client, Place
from mog.engine.code import secrets
from mog.engine.errors import ConfigError, MogError

LINE = 200


@dataclass(frozen=True, slots=True)
class State:
    """What one file says about mog.

    Attributes:
        state: "no file", "not installed", "installed", "another command", "damaged".
        command: program and arguments of the entry, () when it names none. found: whether that program is there to be run.
        problem: why it is damaged.
    """

    client: Client
    scope: str
    path: Path
    state: str
    command: tuple[str, ...] = ()
    found: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One file, before and after.

    Attributes:
        seen: the file as it is. after: its bytes to be, None to take it away. spent: backup that is put back, and goes with it.
    """

    client: Client
    scope: str
    seen: disk.Seen
    after: bytes | None
    spent: Path | None = None

    @property
    def changes(self) -> bool:
        """Whether anything is to be written."""
        return self.after != self.seen.data


@dataclass(frozen=True, slots=True)
class _File:
    """Text of a configuration file and how it lies in bytes."""

    client: Client
    where: str
    text: str
    mark: bytes = b""

    @classmethod
    def of(cls, client: Client, where: str, data: bytes | None) -> _File:
        data = data or b""
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        try:
            return cls(client, where, data[len(mark) :].decode("utf-8"), mark)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, len(mark) + error.start) + 1
            raise ConfigError(
                "this is not UTF-8", where=f"{where}:{line}", way_out="save it as UTF-8; nothing was written"
            ) from error

    def encoded(self) -> bytes:
        return self.mark + self.text.encode("utf-8")

    def read(self) -> dict[str, Any]:
        data = jsonc.read(self.text, self.where) if self.client.form == "json" else tomltext.read(self.text, self.where)
        if not isinstance(data, dict):
            raise ConfigError("an object is expected", where=f"{self.where}:1", way_out="repair it by hand")
        return data

    def entry(self) -> Any:
        """Our entry, or None. Raises ConfigError when the file or the object around it cannot be read."""
        if self.client.form == "json":
            return jsonc.find(self.text, (self.client.holder, SERVER), self.where)
        return tomltext.find(self.text, (self.client.holder, SERVER), self.where)

    def put(self, entry: Mapping[str, Any]) -> _File:
        room = jsonc if self.client.form == "json" else tomltext
        return self._checked(room.put(self.text, (self.client.holder, SERVER), entry, self.where))

    def drop(self, *, keep: bool) -> _File:
        path = (self.client.holder, SERVER)
        if self.client.form == "toml":
            return self._checked(tomltext.drop(self.text, path, self.where))
        return self._checked(jsonc.drop(self.text, path, self.where, keep=keep))

    def _checked(self, text: str) -> _File:
        """The file with another text. What is not ours is the same data as before, or nothing is written."""
        after = replace(self, text=text)
        if after._foreign() != self._foreign():
            way_out = "make the change by hand; nothing was written"
            raise ConfigError(
                "this file cannot be edited without touching what is not ours", where=self.where, way_out=way_out
            )
        return after

    def _foreign(self) -> dict[str, Any]:
        data = self.read()
        holder = data.pop(self.client.holder, {})
        rest = {key: value for key, value in holder.items() if key != SERVER}
        return {**data, self.client.holder: rest}


def state(client: Client, place: Place, scope: str, command: str) -> State:
    """What the client's file says now. A file that cannot be used is an answer, not an error."""
    path = client.file(place, scope)[0]
    try:
        seen = disk.look(*client.file(place, scope))
        entry = _File.of(client, str(path), seen.data).entry()
    except (MogError, OSError) as problem:
        return State(client, scope, path, "damaged", problem=str(problem))
    if entry is None:
        return State(client, scope, path, "no file" if seen.data is None else "not installed")
    words = _words(entry)
    ours = _is_ours(words, command, place.env.get("PATH"))
    found = bool(words) and shutil.which(words[0], path=place.env.get("PATH")) is not None
    return State(client, scope, path, "installed" if ours else "another command", words, found)


def install(client: Client, place: Place, scope: str, command: str, arguments: tuple[str, ...]) -> Change:
    """The change that enters mog.

    Raises:
        ConfigError: the file is damaged; file and line are named. PolicyDenied: a link leads out of home or project.
        UsageError: no project. OSError.
    """
    path, inside = client.file(place, scope)
    seen = disk.look(path, inside)
    file = _File.of(client, str(path), seen.data)
    file.entry()
    return Change(client, scope, seen, file.put(client.entry(command, arguments, scope)).encoded())


def uninstall(client: Client, place: Place, scope: str) -> Change:
    """The change that takes mog away again. Raises as ``install`` does."""
    path, inside = client.file(place, scope)
    seen = disk.look(path, inside)
    file = _File.of(client, str(path), seen.data)
    entry = file.entry()
    if entry is None:
        return Change(client, scope, seen, seen.data)
    fresh = True
    for backup in disk.backups(seen.target):
        with contextlib.suppress(ConfigError):
            old = _File.of(client, str(backup), backup.read_bytes())
            if old.entry() is None and isinstance(entry, dict):
                if old.put(entry).encoded() == seen.data:
                    return Change(client, scope, seen, old.encoded(), backup)
                return Change(client, scope, seen, file.drop(keep=client.holder in old.read()).encoded())
            fresh = False
    empty = _File.of(client, str(path), None)
    if fresh and isinstance(entry, dict) and empty.put(entry).encoded() == seen.data:
        return Change(client, scope, seen, None)
    return Change(client, scope, seen, file.drop(keep=True).encoded())


def apply(change: Change) -> Path | None:
    """Write a change; the backup that was made, or None.

    Raises:
        HeldByOther: the file was written since. OSError.
    """
    if not change.changes:
        return None
    kept = None if change.spent or change.after is None else disk.keep(change.seen)
    disk.replace(change.seen, change.after, private=change.scope == "user")
    if change.spent:
        change.spent.unlink()
    if change.after is None and change.scope == "project" and "/" in change.client.project:
        with contextlib.suppress(OSError):  # it holds something else: then it is not ours to take away
            change.seen.target.parent.rmdir()
    return kept


def difference(change: Change) -> list[str]:
    """A unified diff with one line around each change. Credentials are blanked, long lines are cut; it is for reading."""
    before, after = (_lines(change.client, data) for data in (change.seen.data, change.after))
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    first, last = max(head - 1, 0), max(tail - 1, 0)
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    rows = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    name = str(change.seen.path)
    top = [f"--- {name if before else os.devnull}", f"+++ {name if change.after is not None else os.devnull}"]
    hidden = {line.strip().rstrip(",") for line in before if len(line.strip()) > 1} if _is_gated(change) else set()
    return [*top, *(_short(row, hidden) for row in rows if not row.startswith("@@"))]


def _is_gated(change: Change) -> bool:
    """Whether the file holds a credential of the kind that closes a whole file: then nothing of it is shown but what is new."""
    return change.seen.data is not None and secrets.classify(change.client.project, change.seen.data).file


def _lines(client: Client, data: bytes | None) -> list[str]:
    if data is None:
        return []
    return secrets.redact(data, secrets.classify(client.project, data).spans).decode("utf-8", "replace").splitlines()


def _short(line: str, hidden: Collection[str]) -> str:
    if line[1:].strip().rstrip(",") in hidden:
        return f"{line[0]} (not shown: this file holds a credential)"
    return line if len(line) <= LINE else f"{line[: LINE // 2]} …{len(line) - LINE} characters… {line[-LINE // 2 :]}"


def _words(entry: Any) -> tuple[str, ...]:
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str):
        return ()
    arguments = entry.get("args")
    return (entry["command"], *(str(one) for one in arguments)) if isinstance(arguments, list) else (entry["command"],)


def _is_ours(words: tuple[str, ...], command: str, search: str | None) -> bool:
    """A program called mog, or the one that runs now, asked to serve the protocol."""
    if not {"serve", "--mcp"} <= set(words[1:]):
        return False
    if Path(words[0]).stem == "mog" or words[0] == command:
        return True
    one, other = (shutil.which(word, path=search) for word in (words[0], command))
    return bool(one and other) and os.path.realpath(str(one)) == os.path.realpath(str(other))
