"""Types in PHP's documentation comments: ``@param``, ``@return``, ``@var``, ``@property``. Called by ``php.py``.

What may not come in: the tree, names resolved (a callback does that), recursion. Types follow the PHPDoc standard (PSR-5 draft) as
far as they say a class: unions, ``X[]``, ``array<K, X>``, ``Collection<X>``; what is no class is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

LIMIT = 4000
TYPE_LIMIT = 300
TAGS = 60
_TAG = re.compile(r"@(?:phpstan-|psalm-)?(param|return|var|property(?:-read|-write)?|test)\b[ \t]*")
_NAME = re.compile(r"\s*(?:&|\.\.\.)*(\$\w+)")
_CLASS = re.compile(r"\\?[A-Za-z_\x80-\uffff][\w\x80-\uffff]*(?:\\[A-Za-z_\x80-\uffff][\w\x80-\uffff]*)*\Z")
_SIGNS = re.compile(r"^[ \t]*(?:/\*\*?|\*+/|\*)[ \t]?|\*/\s*$", re.M)
_OPENING, _CLOSING = "<({[", ">)}]"

PLAIN = frozenset(
    "int integer string bool boolean float double array object mixed null void never callable iterable resource true false"
    " numeric scalar number list positive-int negative-int non-empty-string class-string literal-string non-empty-array".split()
)
COLLECTIONS = frozenset(
    "array list iterable non-empty-array non-empty-list traversable iterator iteratoraggregate generator arrayiterator arrayobject"
    " splobjectstorage \\traversable \\iterator \\generator \\iteratoraggregate \\arrayiterator"
    " \\arrayobject".split()
)


def tags(comment: str) -> Iterator[tuple[str, str, str]]:
    """(tag, type, ``$name`` or "") of every tag that says a type; ``test`` comes without one."""
    text = comment[:LIMIT]
    for number, found in enumerate(_TAG.finditer(text)):
        if number >= TAGS:
            return
        kind = found[1].partition("-")[0]
        if kind == "test":
            yield kind, "", ""
            continue
        written, end = _written(text, found.end())
        name = _NAME.match(text, end)
        if written.startswith("$") and written != "$this":
            yield kind, "", written
        else:
            yield kind, written, name[1] if name else ""


def _written(text: str, at: int) -> tuple[str, int]:
    """The type that begins at a place, up to the first blank outside of brackets."""
    depth, end = 0, at
    while end < len(text) and end - at < TYPE_LIMIT:
        char = text[end]
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char == "\n" or (depth <= 0 and char in " \t*"):
            break
        end += 1
    return text[at:end], end


def chains(written: str, name: Callable[[str], str]) -> list[str]:
    """Chains of instances of a written type; empty where it says no class. ``name`` gives the chain of an instance of a class."""
    found: list[str] = []
    for part in split(written, "|&"):
        chain = _one(part.strip(), name)
        if chain and chain not in found:
            found.append(chain)
    return found


def _one(part: str, name: Callable[[str], str]) -> str:
    """The chain of one alternative: a class, or a collection of one; "" for anything else."""
    tail = ""
    for _ in range(4):
        part = part.strip().removeprefix("?")
        if part.startswith("(") and part.endswith(")"):
            part = part[1:-1]
        elif part.endswith("[]"):
            part, tail = part[:-2], f"*{tail}"
        elif part.endswith(">") and "<" in part:
            base, _, inside = part[:-1].partition("<")
            given = split(inside, ",")
            if base.lower().rpartition("\\")[2] not in COLLECTIONS:
                part = base
            else:
                # a generator's items stand second of four, everything else's last
                item = given[1] if base.lower().endswith("generator") and len(given) > 1 else given[-1]
                part, tail = item, f"*{tail}"
        else:
            break
    part = next(
        (one for one in (alternative.strip() for alternative in split(part, "|&")) if one.lower() not in PLAIN), ""
    )
    if part == "$this":
        return f"cls(){tail}"
    if part.lower() in PLAIN or not _CLASS.match(part):
        return ""
    chain = name(part)
    return f"{chain}{tail}" if chain and chain != "?" else ""


def split(text: str, signs: str) -> list[str]:
    """Parts between signs that stand outside of brackets."""
    parts, depth, at = [], 0, 0
    for end, char in enumerate(text):
        depth += (char in _OPENING) - (char in _CLOSING)
        if depth == 0 and char in signs:
            parts.append(text[at:end])
            at = end + 1
    return [*parts, text[at:]]


def summary(comment: str, limit: int) -> str:
    """The first paragraph of a documentation comment in one line, without its tags."""
    lines: list[str] = []
    for line in _SIGNS.sub("", comment[:LIMIT]).splitlines():
        line = line.strip()
        if line.startswith("@") or (not line and lines):
            break
        if line:
            lines.append(line)
    return " ".join(" ".join(lines).split())[:limit]
