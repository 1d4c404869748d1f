"""Paths that somebody proposed, checked against the index: the file that is meant, or a question with the nearest names.

Who calls: ``shapes``. What may not come in: the disk (whether a file is there is what the index says), guesses, rights. A
path that is not there is never replaced by another one; it is asked about.
"""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

NEAREST = 5
_CUTOFF = 0.6
_PLACE = re.compile(r"(?:::.*|:\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)\Z", re.S)
_SCHEME = re.compile(r"\A(?:file|sym):(?://)?")
_LONGEST = 4_096
_LOOKED_AT = 60


@dataclass(frozen=True, slots=True)
class Clarification:
    """A proposed path that is not there: what was asked, and paths it may mean. Never a guess."""

    path: str
    question: str
    nearest: tuple[str, ...]


def check(
    proposed: Iterable[str], every: Sequence[str], root: Path | None = None
) -> tuple[tuple[str, ...], tuple[Clarification, ...]]:
    """Files of the index that were proposed, and questions about the rest; each path once, in the order given.

    Args:
        proposed: paths as agents and people write them: relative or absolute, with a line or a symbol behind, or locators.
        every: all paths of the index. root: what absolute paths are taken relative to.
    """
    known = set(every)
    names = Names(every)
    chosen: dict[str, None] = {}
    questions: dict[str, Clarification] = {}
    for raw in proposed:
        path = next((one for one in _readings(raw, root) if one in known), "")
        if path:
            chosen[path] = None
        else:
            asked = normal_path(raw, root)
            if asked not in questions:
                questions[asked] = _question(asked, every, names)
    return tuple(chosen), tuple(questions.values())


def normal_path(path: str, root: Path | None = None) -> str:
    """A proposed path as the index spells it: relative, forward slashes, no ``./``, no way out of the root."""
    path = path.strip()[:_LONGEST]
    if root is not None and os.path.isabs(path) and path.startswith(os.path.join(root, "")):
        path = os.path.relpath(path, root)
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _readings(raw: str, root: Path | None) -> Iterable[str]:
    """What a proposed text may spell: as it is, without a scheme, without a line or symbol behind it. The same file each time."""
    yield raw
    for text in dict.fromkeys((raw.strip(), _SCHEME.sub("", raw.strip()))):
        yield normal_path(text, root)
        yield normal_path(_PLACE.sub("", text), root)


def _question(path: str, every: Sequence[str], names: Names) -> Clarification:
    inside = [one for one in every if one.startswith(path + "/")] if path else []
    if inside:
        return Clarification(path, f"{path} is a folder of {len(inside)} files; which of them?", tuple(inside[:NEAREST]))
    return Clarification(path, f"{path or '(empty)'} is not in the index; which file is meant?", names.nearest(path))


class Names:
    """Paths by the names of their files, for finding what a wrong path may mean."""

    def __init__(self, every: Sequence[str]) -> None:
        self._paths: dict[str, list[str]] = {}
        for one in every:
            self._paths.setdefault(one.rpartition("/")[2].casefold(), []).append(one)
        self._by_letters: dict[str, set[str]] = {}
        for name in self._paths:
            for pair in _pairs(name):
                self._by_letters.setdefault(pair, set()).add(name)

    def nearest(self, path: str) -> tuple[str, ...]:
        """The path in another case, its end or what it is the end of, its name in other folders, names like it; nearest first."""
        folded, name = path.casefold(), path.rpartition("/")[2].casefold()
        likely = [*self._paths.get(name, ()), *(one for close in self._like(name) for one in self._paths[close][:50])]
        near = [(_likeness(folded, one.casefold()), one) for one in likely]
        best = sorted((pair for pair in near if pair[0] >= _CUTOFF), key=lambda pair: (-pair[0], pair[1]))
        return tuple(one for _, one in best)[:NEAREST]

    def _like(self, name: str) -> list[str]:
        """Names that are spelled like one, among those that share most of its pairs of letters."""
        pairs = _pairs(name)
        shared = Counter(other for pair in pairs for other in self._by_letters.get(pair, ()))
        likely = sorted(shared, key=lambda other: (-shared[other] / (len(other) + len(name)), other))[:_LOOKED_AT]
        close = difflib.get_close_matches(name, likely, n=2 * NEAREST, cutoff=_CUTOFF)
        return [other for other in close if other != name]


def _pairs(name: str) -> set[str]:
    return {name[at : at + 2] for at in range(len(name) - 1)} or {name}


def _likeness(path: str, other: str) -> float:
    """2 for the same path, 1.5 where one ends the other; else the share of characters in common, of names where no folder
    is said.
    """
    if path == other:
        return 2.0
    if other.endswith("/" + path) or path.endswith("/" + other):
        return 1.5
    name = other.rpartition("/")[2]
    ratio = difflib.SequenceMatcher(None, path, other if "/" in path else name, autojunk=False).ratio()
    return max(ratio, _CUTOFF) if name == path.rpartition("/")[2] else ratio
