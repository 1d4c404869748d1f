"""The pattern language of packs: globs on names and paths, line patterns, name templates. All of it runs in linear time.

Called by ``packs`` (which compiles) and ``collect``. What may not come in: regular expressions written by a pack; a pack writes
literals, ``*``, ``**`` and captures in braces, so that no file and no pack can make a match expensive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_PATTERN = 200
MAX_STARS = 6
#: Longest text a pattern is held against; what is longer matches nothing.
MAX_TEXT = 2_000

_CAPTURE = re.compile(r"\{([a-z_]+)(?::([^{}]*))?\}")


class BadPattern(ValueError):
    """A pattern that the language does not allow; the text says why."""


@lru_cache(maxsize=1 << 12)
def glob(pattern: str, text: str) -> bool:
    """Whether ``text`` is as ``pattern`` says; ``*`` stands for any run of characters, ``?`` for one. O(len(pattern) * len(text))."""
    return wild(pattern, text) is not None


def allowed(globs: Sequence[str], text: str) -> bool:
    """Whether one of the globs fits (where there are any without ``!``) and none of those with ``!``."""
    wanted = [one for one in globs if not one.startswith("!")]
    barred = [one[1:] for one in globs if one.startswith("!")]
    return (not wanted or any(glob(one, text) for one in wanted)) and not any(glob(one, text) for one in barred)


def wild(pattern: str, text: str) -> list[str] | None:
    """What each ``*`` of a pattern stands for (shortest first), or None. Goes back to the last star only, never further."""
    if len(text) > MAX_TEXT:
        return None
    if "*" not in pattern and "?" not in pattern:
        return [] if pattern == text else None
    at = star = mark = 0
    taken: list[list[int]] = []
    place, found = 0, False
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            found, star, mark = True, place, at
            taken.append([at, at])
            place += 1
        elif place < len(pattern) and pattern[place] in (text[at], "?"):
            place, at = place + 1, at + 1
        elif found:
            mark += 1
            taken[-1][1] = mark
            place, at = star + 1, mark
        else:
            return None
    while place < len(pattern) and pattern[place] == "*":
        taken.append([at, at])
        place += 1
    if place < len(pattern):
        return None
    return [text[start:end] for start, end in taken]


@dataclass(frozen=True, slots=True)
class _Segment:
    """One folder or file name of a path pattern: its glob and the names of what its stars stand for ("" for none)."""

    pattern: str
    names: tuple[str, ...]
    choices: tuple[frozenset[str] | None, ...]

    def match(self, text: str, found: dict[str, str]) -> bool:
        taken = wild(self.pattern, text)
        if taken is None or any(
            choice is not None and one not in choice for one, choice in zip(taken, self.choices, strict=True)
        ):
            return False
        found.update({name: one for name, one in zip(self.names, taken, strict=True) if name})
        return True


class PathPattern:
    """A path pattern: segments with ``*`` and ``{name}``, at most two ``**`` or ``{name:**}`` for any number of folders.

    ``{ext:js,ts}`` takes one of the words it lists. A pattern that starts with a slash is meant from the root of the
    repository, any other from any folder.

    Raises:
        BadPattern: too long, too many stars, a capture that cannot be read.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > MAX_PATTERN:
            raise BadPattern(f"longer than {MAX_PATTERN} characters")
        parts = [part for part in text.split("/") if part]
        if not parts:
            raise BadPattern("an empty pattern")
        self._parts = [*([] if text.startswith("/") else ["**"]), *map(_segment, parts)]
        if sum(not isinstance(part, _Segment) for part in self._parts) > 3:
            raise BadPattern("more than two `**`")
        self._key = self.key

    def match(self, path: str) -> dict[str, str] | None:
        """What the captures stand for, or None."""
        if len(path) > MAX_TEXT or self._key not in path:
            return None
        segments, last = path.split("/"), self._parts[-1]
        if isinstance(last, _Segment) and wild(last.pattern, segments[-1]) is None:
            return None
        return _walk(self._parts, segments)

    @property
    def key(self) -> str:
        """A folder or file name, or an ending such as ``.proto``, that every path it matches has; "" where there is none."""
        segments = [part.pattern for part in self._parts if isinstance(part, _Segment)]
        plain = next((text for text in reversed(segments) if "*" not in text), "")
        _, dot, ending = segments[-1].rpartition(".") if segments else ("", "", "")
        return plain or (f".{ending}" if dot and "*" not in ending else "")


def _segment(text: str) -> _Segment | str:
    whole = _CAPTURE.fullmatch(text)
    if text == "**" or (whole and whole.group(2) == "**"):
        return whole.group(1) if whole else "**"
    names: list[str] = []
    choices: list[frozenset[str] | None] = []
    out, at = "", 0
    for piece in re.finditer(r"\*|\{[^{}]*\}", text):
        capture = _CAPTURE.fullmatch(piece.group())
        if piece.group() != "*" and capture is None:
            raise BadPattern(f"{piece.group()} is no capture: write {{name}}, {{name:**}} or {{name:one,two}}")
        out += text[at : piece.start()] + "*"
        names.append(capture.group(1) if capture else "")
        choices.append(frozenset(capture.group(2).split(",")) if capture and capture.group(2) else None)
        at = piece.end()
    if len(names) > MAX_STARS:
        raise BadPattern(f"more than {MAX_STARS} stars in one segment")
    return _Segment(out + text[at:], tuple(names), tuple(choices))


def _walk(parts: Sequence[_Segment | str], segments: Sequence[str]) -> dict[str, str] | None:
    """Match folders against a pattern; like ``wild`` it goes back to the last ``**`` only."""
    found: dict[str, str] = {}
    place = at = begin = mark = 0
    star = -1
    while at < len(segments):
        part = parts[place] if place < len(parts) else None
        if isinstance(part, str):
            star, begin, mark, place = place, at, at, place + 1
            found[part] = ""
        elif part is not None and part.match(segments[at], found):
            place, at = place + 1, at + 1
        elif star >= 0:
            mark += 1
            place, at = star + 1, mark
            found[str(parts[star])] = "/".join(segments[begin:mark])
        else:
            return None
    rest = parts[place:]
    found.update({part: "" for part in rest if isinstance(part, str)})
    return found if all(isinstance(part, str) for part in rest) else None


# -- lines

_KINDS = {
    "word": r"[A-Za-z_]\w{{0,199}}",
    "dotted": r"[A-Za-z_.][\w.]{{0,299}}",
    "string": r"(?:\"[^\"\\\n]{{0,300}}\"|'[^'\\\n]{{0,300}}')",
}


class LinePattern:
    """A pattern held against the start of a line: words and signs in order, blanks between them free, captures by kind.

    ``rpc {name:word} (`` reads ``rpc GetUser(``. Kinds: word, dotted, string.

    Raises:
        BadPattern: an unknown kind, a name twice, too long.
    """

    def __init__(self, text: str) -> None:
        if not text.strip() or len(text) > MAX_PATTERN:
            raise BadPattern(f"empty, or longer than {MAX_PATTERN} characters")
        self.text = text
        self._regex = re.compile(r"[ \t]*" + "".join(_pieces(text)))

    def match(self, line: str) -> dict[str, str] | None:
        """What the captures stand for (quotes off), or None."""
        found = self._regex.match(line[:MAX_TEXT])
        return {name: text.strip("\"'") for name, text in found.groupdict().items()} if found else None


def _pieces(text: str) -> Iterable[str]:
    seen: set[str] = set()
    before = ""
    for piece in re.findall(r"\{[^{}]*\}|\w+|[^\w\s]", text):
        capture = re.fullmatch(r"\{([a-z_]+):([a-z]+)\}", piece)
        if piece[0] == "{" and len(piece) > 1:
            if capture is None or capture.group(2) not in _KINDS or capture.group(1) in seen:
                raise BadPattern(
                    f"{piece} is no capture of a line: write {{name:word}}, {{name:dotted}} or {{name:string}}"
                )
            seen.add(capture.group(1))
            now, out = "w", f"(?P<{capture.group(1)}>{_KINDS[capture.group(2)].replace('{{', '{').replace('}}', '}')})"
        else:
            now, out = ("w" if piece[0].isalnum() or piece[0] == "_" else "s"), re.escape(piece)
        yield (r"[ \t]+" if before == now == "w" else r"[ \t]*" if before else "") + out
        before = now
    if before == "w" and text.rstrip()[-1:].isalnum():
        yield r"\b"


# -- names

#: What a template asks: the texts that a reference stands for, none when it says nothing.
Lookup = Callable[[str], list[str]]

_PLACE = re.compile(r"\{([^{}]*)\}")
_OPTION = re.compile(r"(?:(?P<ref>[a-z]+(?:\.[A-Za-z0-9_]+)*)|'(?P<text>[^']*)')(?P<filters>(?::[a-z]+)*)")
FILTERS = frozenset(("upper", "lower", "route", "camel", "snake", "class", "last", "slash", "kebab", "part", "dir", "before", "behind"))
REFS = frozenset(
    ("arg", "kw", "method", "callee", "receiver", "symbol", "prefix", "path", "line", "key", "scope", "owner")
)
MAX_NAMES = 16
NAME_CHARS = 300


@dataclass(frozen=True, slots=True)
class Option:
    """One way to fill a place: a reference or a text, and filters on it."""

    ref: str
    text: str
    filters: tuple[str, ...]


class Template:
    """``{kw.methods|'GET':upper} {prefix}{arg.0}``: text with places, each with alternatives; the first that says something counts.

    Raises:
        BadPattern: an unknown reference or filter.
    """

    def __init__(self, text: str) -> None:
        if len(text) > MAX_PATTERN:
            raise BadPattern(f"longer than {MAX_PATTERN} characters")
        self.text = text
        self.parts: list[str | tuple[Option, ...]] = []
        at = 0
        for place in _PLACE.finditer(text):
            self.parts += [text[at : place.start()], tuple(map(_option, place.group(1).split("|")))]
            at = place.end()
        self.parts.append(text[at:])

    def fill(self, values: Lookup) -> list[str]:
        """Every name the template gives (several where a value is a list, at most ``MAX_NAMES``); none where a place stays empty."""
        names = [""]
        for part in self.parts:
            given = [part] if isinstance(part, str) else _first(part, values)
            names = [name + one for name in names for one in given][:MAX_NAMES]
        return [" ".join(name.split())[:NAME_CHARS] for name in names if name.strip()]


def _first(options: Iterable[Option], values: Lookup) -> list[str]:
    for option in options:
        found = values(option.ref) if option.ref else [option.text]
        if found:
            return [_filtered(one, option.filters) for one in found]
    return []


def _option(text: str) -> Option:
    found = _OPTION.fullmatch(text.strip())
    if found is None:
        raise BadPattern(f"{{{text}}} cannot be read: write {{arg.0|kw.path|'text':upper}}")
    ref, filters = found.group("ref") or "", tuple(filter(None, found.group("filters").split(":")))
    if ref and ref.partition(".")[0] not in REFS:
        raise BadPattern(f"nothing is called {ref}: {', '.join(sorted(REFS))}")
    if not FILTERS.issuperset(filters):
        raise BadPattern(f"unknown filter in {{{text}}}: {', '.join(sorted(FILTERS))}")
    return Option(ref, found.group("text") or "", filters)


def _filtered(text: str, filters: Iterable[str]) -> str:
    for name in filters:
        text = _FILTER[name](text)
    return text


def _route(path: str) -> str:
    """Folders of a file-based router as a route: ``(shop)/[id]/index`` becomes ``/{id}``."""
    out = []
    for part in path.split("/"):
        if not part or part == "index" or part[0] == "@" or (part[0] == "(" and part[-1] == ")"):
            continue
        bare = part.strip("[]")
        out.append(f"{{{bare}}}" if part[0] == "[" else part)
    return "/" + "/".join(out)


def _snake(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


def _slash(text: str) -> str:
    """A path piece with one slash before it and none behind it; nothing stays nothing."""
    return "/" + text.strip("/") if text.strip("/") else ""


_FILTER: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "route": _route,
    "camel": lambda text: "".join(part[:1].upper() + part[1:] for part in re.split(r"[_\-/]", text)),
    "snake": _snake,
    "class": lambda text: text[:1].upper() + text[1:],
    "last": lambda text: re.split(r"[.:/\\]", text)[-1],
    "slash": _slash,
    "kebab": lambda text: text.replace("_", "-").lower(),
    "dir": lambda text: text.strip("/") + "/" if text.strip("/") else "",
    "before": lambda text: text.partition("#")[0] if "#" in text else "",
    "behind": lambda text: text.partition("#")[2],
    "part": lambda text: _route(text).removesuffix("/"),
}
