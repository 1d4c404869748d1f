"""`.mogignore` and configured excludes with the meaning git gives to its ignore files.

Who calls: ``scan.py``. What may not come in: walking, git, the built-in excludes (they depend on what git tracks).
pathspec turns a pattern into a regular expression and is imported only when there is a pattern; the order of rules,
the depth of files and "a file in an excluded folder cannot be included again" are decided here, as in gitignore(5).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mog.engine.errors import ConfigError

if TYPE_CHECKING:
    import re

FILE_NAME = ".mogignore"
MAX_BYTES = 1 << 20
"""An ignore file beyond this many bytes is refused."""
MAX_DOUBLE_STARS = 3
"""A pattern with more ``**`` is refused: each one multiplies the work by the depth of the tree."""


class Rules:
    """Patterns from several places: each ``add`` is stronger than those before it, and deeper folders are added later.

    ``match`` takes paths relative to the root with ``/`` separators and answers the reason they were added under, or
    "".
    """

    def __init__(self) -> None:
        self._levels: list[tuple[str, list[tuple[bool, re.Pattern[str], str]]]] = []
        self._folders: dict[str, str] = {"": ""}

    def __bool__(self) -> bool:
        return bool(self._levels)

    def add(self, lines: Iterable[str], reason: str, *, folder: str = "", where: str = "") -> None:
        """Add gitignore lines that apply below ``folder`` ("" or "a/b/").

        Raises:
            ConfigError: a line is not a gitignore pattern; ``where`` and the line number are named.
        """
        level: list[tuple[bool, re.Pattern[str], str]] = []
        for number, line in enumerate(lines, start=1):
            try:
                compiled = _compile(line)
            except ValueError as error:
                raise ConfigError(
                    f"this is not an ignore pattern: {line!r}",
                    where=f"{where or reason}:{number}",
                    way_out="write it as in gitignore(5)",
                ) from error
            if compiled is not None:
                level.append((*compiled, reason))
        if level:
            self._levels.append((folder, level))
            self._folders = {"": ""}

    def match(self, path: str, *, is_dir: bool = False) -> str:
        """Reason why ``path`` is excluded, "" when it is not."""
        if not self._levels:
            return ""
        head = path.rpartition("/")[0]
        return self.folder(head) or (self.folder(path) if is_dir else self._decide(path))

    def folder(self, path: str) -> str:
        """Reason why this folder, or one above it, is excluded; "" when none is."""
        known = self._folders.get(path)
        if known is None:
            known = self.folder(path.rpartition("/")[0]) or self._decide(path + "/")
            self._folders[path] = known
        return known

    def _decide(self, path: str) -> str:
        for folder, level in reversed(self._levels):
            if not path.startswith(folder) or path == folder:
                continue
            below = path[len(folder) :]
            for include, regex, reason in reversed(level):
                if _names(regex, below):
                    return reason if include else ""
        return ""


_TAIL = "(?:(?P<ps_d>/)|$)"
_STAR = "[^/]*"
_SHORT = {".": ".+" + _TAIL, "(?P<ps_d>/)": ".+(?P<ps_d>/)", "/": "[^/]+/"}
"""What pathspec abbreviates because it searches anywhere: everything, every folder, everything in a folder."""


def _compile(line: str) -> tuple[bool, re.Pattern[str]] | None:
    """(excludes?, expression) of a gitignore line, None for blanks and comments; ValueError for what is no pattern."""
    import re

    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    if line.count("**") > MAX_DOUBLE_STARS:
        raise ValueError("too many **")
    pattern = GitIgnoreSpecPattern(line)
    if pattern.include is None or pattern.regex is None:
        return None
    source = str(pattern.regex.pattern)
    text = _SHORT.get(source, source)
    if text.endswith(_TAIL):
        text = text.removesuffix(_TAIL) + r"(?:(?P<ps_d>/)|\Z)"
    elif "(?P<ps_d>" not in text:
        text += "."  # a/** names what is in the folder, never the folder
    return pattern.include, re.compile(_linear(text), re.DOTALL)


def _linear(text: str) -> str:
    """The same expression with ``*x*y`` matched as a glob does it, without trying every split of a long name."""
    head, *pieces = text.split(_STAR)
    parts = [head]
    for position, piece in enumerate(pieces, start=1):
        inside = piece.replace("[^/]", "")
        atomic = position < len(pieces) and "/" not in inside and "(" not in inside.replace("\\(", "")
        parts.append(f"(?>[^/]*?{piece})" if atomic else _STAR + piece)
    return "".join(parts)


def _names(regex: re.Pattern[str], path: str) -> bool:
    """Does the pattern name this very path, and not merely a folder above it? Folders were asked before."""
    found = regex.match(path)
    if found is None:
        return False
    return "ps_d" not in regex.groupindex or found["ps_d"] is None or found.end("ps_d") == len(path)


def read(path: str) -> list[str] | None:
    """Lines of an ignore file; None when there is none. Links and special files are not followed or read.

    Raises:
        ConfigError: it cannot be read, or is larger than ``MAX_BYTES``.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"it cannot be read: {error.strerror}", where=path, way_out="make it readable or remove it"
        ) from error
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(MAX_BYTES + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    if len(data) > MAX_BYTES:
        raise ConfigError(
            f"it is larger than {MAX_BYTES} bytes",
            where=path,
            way_out="shorten it, or exclude folders instead of files",
        )
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").splitlines()


def load(root: str, *, exclude: Sequence[str] = (), nested: Iterable[str] = ()) -> Rules:
    """Rules of a root: every ``.mogignore`` (reason ``mogignore``), then the configured ``exclude`` patterns (reason
    ``config``).

    ``nested`` are paths of further ignore files found below the root. Raises ConfigError as ``read`` and
    ``Rules.add`` do.
    """
    rules = Rules()
    for path in sorted({FILE_NAME, *nested}, key=lambda p: (p.count("/"), p)):
        if (lines := read(os.path.join(root, path))) is not None:
            rules.add(lines, "mogignore", folder=path[: -len(FILE_NAME)], where=path)
    if exclude:
        rules.add(exclude, "config", where="exclude")
    return rules
