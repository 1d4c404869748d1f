"""The grammar of SCIP symbols: read into descriptors, and written from names. Called by ``overlay`` and ``export``.

What may not come in: messages, our graph. Grammar: the comment at ``Symbol`` in scip.proto. No recursion, one pass, each symbol
bounded by the caller; a text that is no symbol is None, never an exception.
"""

from __future__ import annotations

import re
from typing import NamedTuple

NAMESPACE, TYPE, TERM, METHOD, TYPE_PARAMETER, PARAMETER, META, MACRO = "/", "#", ".", "().", "[]", "()", ":", "!"
_SIMPLE = re.compile(r"[A-Za-z0-9_+$-]+\Z")
_NAME = re.compile(r"[A-Za-z0-9_+$-]+|`(?:[^`]|``)+`")
_ENDS = {"/": NAMESPACE, "#": TYPE, ".": TERM, ":": META, "!": MACRO}


class Descriptor(NamedTuple):
    """One step of a symbol's path; ``suffix`` is one of this module's constants."""

    name: str
    suffix: str
    disambiguator: str = ""


class Symbol(NamedTuple):
    """A global symbol; empty parts of the package are ""."""

    scheme: str
    manager: str
    package: str
    version: str
    descriptors: tuple[Descriptor, ...]


def is_local(symbol: str) -> bool:
    """Whether a symbol means something only inside its document."""
    return symbol.startswith("local ")


def may_be_ours(symbol: str) -> bool:
    """Whether a symbol names what our graph may have a symbol for: nothing local, no parameter, no module."""
    return symbol.endswith(("#", ".", "!")) and not is_local(symbol)


def parse(symbol: str) -> Symbol | None:
    """A global symbol in parts; None for a local one and for what does not follow the grammar."""
    if is_local(symbol):
        return None
    head: list[str] = []
    at = 0
    while len(head) < 4:
        end = _space(symbol, at)
        if end < 0:
            return None
        part = symbol[at:end].replace("  ", " ")
        head.append("" if part == "." and head else part)
        at = end + 1
    steps = _descriptors(symbol, at)
    return Symbol(head[0], head[1], head[2], head[3], steps) if steps and head[0] else None


def _space(symbol: str, at: int) -> int:
    """Where the next blank stands that is not doubled."""
    while (at := symbol.find(" ", at)) >= 0:
        if symbol[at + 1 : at + 2] != " ":
            return at
        at += 2
    return -1


def _descriptors(symbol: str, at: int) -> tuple[Descriptor, ...] | None:
    found: list[Descriptor] = []
    while at < len(symbol):
        opened = symbol[at] if symbol[at] in "[(" else ""
        name = _NAME.match(symbol, at + len(opened))
        if name is None:
            return None
        at = name.end()
        step = (
            _closed(symbol, at, opened, _bare(name.group())) if opened else _suffixed(symbol, at, _bare(name.group()))
        )
        if step is None:
            return None
        found.append(step[0])
        at = step[1]
    return tuple(found)


def _closed(symbol: str, at: int, opened: str, name: str) -> tuple[Descriptor, int] | None:
    """The end of ``[name]`` or ``(name)``."""
    if not symbol.startswith("]" if opened == "[" else ")", at):
        return None
    return Descriptor(name, TYPE_PARAMETER if opened == "[" else PARAMETER), at + 1


def _suffixed(symbol: str, at: int, name: str) -> tuple[Descriptor, int] | None:
    """The suffix of a name: one character, or ``(disambiguator).``"""
    suffix = _ENDS.get(symbol[at : at + 1])
    if suffix is not None:
        return Descriptor(name, suffix), at + 1
    end = symbol.find(").", at) if symbol.startswith("(", at) else -1
    if end < 0 or (end > at + 1 and _SIMPLE.match(symbol[at + 1 : end]) is None):
        return None
    return Descriptor(name, METHOD, symbol[at + 1 : end]), end + 2


def _bare(name: str) -> str:
    return name[1:-1].replace("``", "`") if name[0] == "`" else name


def dotted(symbol: Symbol) -> str:
    """The name people would write: namespaces and members joined by dots (``os.path.join``), without what only marks a module."""
    names = [step.name for step in symbol.descriptors if step.suffix not in (META, PARAMETER, TYPE_PARAMETER)]
    return ".".join(names) or symbol.package


def written(symbol: Symbol) -> str:
    """A symbol as SCIP spells it."""
    head = (symbol.scheme, symbol.manager or ".", symbol.package or ".", symbol.version or ".")
    return " ".join(part.replace(" ", "  ") for part in head) + " " + "".join(map(_step, symbol.descriptors))


def path_steps(path: str) -> list[Descriptor]:
    """A path as namespaces, one a folder."""
    return [Descriptor(part, NAMESPACE) for part in path.split("/") if part]


def _step(step: Descriptor) -> str:
    name = quoted(step.name)
    if step.suffix == METHOD:
        return f"{name}({step.disambiguator})."
    if step.suffix in (PARAMETER, TYPE_PARAMETER):
        return step.suffix[0] + name + step.suffix[1]
    return name + step.suffix


def quoted(name: str) -> str:
    """A name as an identifier of the grammar: as it is, or between backticks."""
    return name if _SIMPLE.match(name) else "`" + name.replace("`", "``") + "`"
