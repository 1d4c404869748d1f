"""Paths that somebody proposed, checked against the index: the file that is meant, or a question with the nearest names.

Who calls: ``shapes``. What may not come in: the disk (whether a file is there is what the index says), guesses, rights. A path that
is not there is never replaced by another one; it is asked about.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

NEAREST = 5
_CUTOFF = 0.6
_PLACE = re.compile(r"(?:::.*|:\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)\Z", re.S)
_SCHEME = re.compile(r"\A(?:file|sym):(?://)?")
_LONGEST = 4_096


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
    chosen: dict[str, None] = {}
    questions: dict[str, Clarification] = {}
    for raw in proposed:
        path = next((one for one in _readings(raw, root) if one in known), "")
        if path:
            chosen[path] = None
        else:
            asked = normal_path(raw, root)
            questions.setdefault(asked, _question(asked, every))
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


def _question(path: str, every: Sequence[str]) -> Clarification:
    inside = [one for one in every if one.startswith(path + "/")] if path else []
    if inside:
        return Clarification(path, f"{path} is a folder of {len(inside)} files; which of them?", tuple(inside[:NEAREST]))
    return Clarification(path, f"{path or '(empty)'} is not in the index; which file is meant?", nearest(path, every))


def nearest(path: str, every: Sequence[str]) -> tuple[str, ...]:
    """Paths that a wrong one may mean: it in another case, its end or what it is the end of, its name elsewhere, names like it."""
    folded, name = path.casefold(), path.rpartition("/")[2].casefold()
    if not name:
        return ()
    by_name: dict[str, list[str]] = {}
    for one in every:
        by_name.setdefault(one.rpartition("/")[2].casefold(), []).append(one)
    likely = list(by_name.get(name, ()))
    if len(likely) < NEAREST:
        names = difflib.get_close_matches(name, list(by_name), n=2 * NEAREST, cutoff=_CUTOFF)
        likely += [one for close in names if close != name for one in by_name[close][:50]]
    near = [(_likeness(folded, one.casefold(), name), one) for one in likely]
    return tuple(one for likeness, one in sorted(near, key=lambda pair: (-pair[0], pair[1])) if likeness >= _CUTOFF)[:NEAREST]


def _likeness(path: str, other: str, name: str) -> float:
    """1 and more for the same path in another case or one that ends the other; below it by shared characters."""
    if path == other or other.endswith("/" + path) or path.endswith("/" + other):
        return 2.0 if path == other else 1.5
    ratio = difflib.SequenceMatcher(None, path, other, autojunk=False).ratio()
    return max(ratio, _CUTOFF) if other.rpartition("/")[2] == name else ratio
