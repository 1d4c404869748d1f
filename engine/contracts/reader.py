"""Calls and decorators with their literal arguments, read from the bytes of a file of any curly or indented language.

Called by ``collect``, on files that a pack's marker chose and around the names that its rules mention. What may not come in:
grammars, rules, other files. One linear pass finds strings and comments; the rest reads a bounded number of tokens a call.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_TOKENS = 4_000
MAX_SITES = 5_000
MAX_DEPTH = 6
LITERAL_CHARS = 300

_STRING = (
    rb'[rRbBuUfF]{0,2}(?:"""(?:[^"\\]|\\.|"(?!""))*"""'
    rb"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    rb'|"(?:[^"\\\n]|\\.)*"'
    rb"|'(?:[^'\\\n]|\\.)*')|`(?:[^`\\]|\\.)*`"
)
_COMMENT = {
    "hash": rb"\#[^\n]*",
    "ruby": rb"\#[^\n]*",
    "slash": rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/",
    "both": rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|\#[^\n]*",
}
_STYLE = {"python": "hash", "ruby": "ruby", "php": "both"}
_QUIET = {name: re.compile(_STRING + b"|" + text, re.S) for name, text in _COMMENT.items()}
_TOKEN = {
    name: re.compile(
        rb"(?P<c>" + text + rb")|(?P<s>" + _STRING + rb")|(?P<o>[(\[{])|(?P<e>[)\]}])|(?P<k>,)"
        + (rb"|(?P<y>:[A-Za-z_]\w*)" if name == "ruby" else b"")
        + rb"|(?P<n>[A-Za-z_$@][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*)|(?P<q>=>|==|=|:)|(?P<x>[^\s\w]|\w+)",
        re.S,
    )
    for name, text in _COMMENT.items()
}  # fmt: skip
_JOINTS = re.compile(r"::|->|\?\.")
# what a call is made on, backwards from its last name
_BEFORE = re.compile(rb"(?:[A-Za-z_$@][\w$]*\s{0,80}(?:\.|::|->|\?\.)\s{0,80})+\Z")
_GIVEN = re.compile(rb"([A-Za-z_$][\w$]*)\s*(?::\s*[\w.\[\]<>\s]{1,80})?(?::=|=)\s*(?:await\s+|new\s+)?\Z")
_CHAINED = re.compile(rb"\)\s*(?:\.|->|\?\.)\s*\Z")


class Arg(NamedTuple):
    """One argument: kind ``s`` literal, ``n`` name, ``c`` call, ``l`` list, ``o`` object or ``?``; its text; what lies inside.

    ``text`` is the literal, the dotted name, or what is called. ``items`` are arguments of the call, items of the list, entries of
    the object. ``name`` is the keyword ("" for none).
    """

    kind: str
    text: str = ""
    items: tuple[Arg, ...] = ()
    name: str = ""


@dataclass(slots=True)
class Site:
    """One call or decorator as written.

    Attributes:
        chain: dotted, joints of any language written as dots. decorator: whether a decorator or annotation.
        start, end: bytes from the chain to behind the closing bracket (or to the end of the block it opens).
        line: 1-based. given: name it is assigned to ("" for none). args: its arguments.
    """

    chain: str
    decorator: bool
    start: int
    end: int
    line: int
    args: tuple[Arg, ...] = ()
    given: str = ""
    owner: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def last(self) -> str:
        """The method's or function's own name."""
        return self.chain.rpartition(".")[2]

    @property
    def receiver(self) -> str:
        """What it is called on, "" for a plain function."""
        return self.chain.rpartition(".")[0]


class Text:
    """The bytes of one file with what is needed to read around a place.

    Args:
        data: UTF-8 bytes with gated spans blanked out. language: decides what a comment is.
    """

    def __init__(self, data: bytes, language: str) -> None:
        self.data = data
        self.language = language
        self.style = _STYLE.get(language, "slash")
        self._spans: tuple[list[int], list[int]] | None = None
        self._lines: list[int] | None = None

    def quiet(self, at: int) -> bool:
        """Whether a place lies inside a string or comment."""
        if self._spans is None:
            found = [match.span() for match in _QUIET[self.style].finditer(self.data)]
            self._spans = [start for start, _ in found], [end for _, end in found]
        starts, ends = self._spans
        place = bisect_right(starts, at) - 1
        return place >= 0 and at < ends[place]

    def line(self, at: int) -> int:
        """1-based line of a byte."""
        if self._lines is None:
            self._lines = [match.start() for match in re.finditer(rb"\n", self.data)]
        return bisect_right(self._lines, at - 1) + 1

    def calls(self, names: Collection[str]) -> Iterator[Site]:
        """Every call whose own name is one of ``names``, in the order of the file."""
        starts = sorted(at for name in names for at in _found(self.data, name.encode() + b"("))
        for at in starts[:MAX_SITES]:
            site = None if self.quiet(at) else self._site(at, self.data.index(b"(", at))
            if site is not None and self.data[site.start - 1 : site.start] != b"@":
                yield site

    def decorators(self, wanted: Callable[[str], bool]) -> Iterator[Site]:
        """Every decorator or annotation that starts a line and whose name is wanted."""
        pattern = rb"^[ \t]*@([A-Za-z_][\w.]*)" if self.language != "php" else rb"^[ \t]*#\[\s*([A-Za-z_\\][\w\\]*)"
        for number, match in enumerate(re.finditer(pattern, self.data, re.M)):
            if number >= MAX_SITES:
                return
            at, end = match.span(1)
            if wanted(_dotted(match[1])) and not self.quiet(at):
                yield from self._stacked(at, end)

    def _stacked(self, at: int, end: int) -> Iterator[Site]:
        opened = self.data[end : end + 1] == b"("
        args, end = self.arguments(end + 1) if opened else ((), end)
        yield Site(_dotted(self.data[at : at + _name_end(self.data, at)]), True, at, end, self.line(at), args)

    def bare(self, names: Collection[str]) -> Iterator[Site]:
        """Calls without brackets that start a line, as Ruby writes them, and the blocks they open."""
        words = b"|".join(re.escape(name.encode()) for name in sorted(names))
        for match in re.finditer(rb"^([ \t]*)(" + words + rb")\b(?![=.:]|\s*=[^>~])", self.data, re.M) if words else ():
            at, end = match.span(2)
            if self.quiet(at):
                continue
            opened = self.data[end : end + 1] == b"("
            args, stop = self.arguments(end + opened, line=not opened)
            rest = self.data[stop : self._line_end(stop)]
            block = re.search(rb"\bdo\b", self.data[end : max(stop, self._line_end(end))]) or rest.strip().startswith(
                b"do"
            )
            stop = self._block_end(stop, match.group(1)) if block else stop
            yield Site(match.group(2).decode(), False, at, stop, self.line(at), args)

    def _line_end(self, at: int) -> int:
        end = self.data.find(b"\n", at)
        return len(self.data) if end < 0 else end

    def _block_end(self, at: int, indent: bytes) -> int:
        end = re.compile(rb"^" + re.escape(indent) + rb"end\b", re.M).search(self.data, at)
        return end.end() if end else len(self.data)

    def _site(self, at: int, opening: int) -> Site:
        begin = max(0, at - 200)
        before = _BEFORE.search(self.data, begin, at)
        start = before.start() if before else at
        args, end = self.arguments(opening + 1)
        given = _GIVEN.search(self.data, max(0, start - 160), start) if before or start == at else None
        chain = _dotted(self.data[start:opening])
        owner = self._owner(start) if before is None else ""
        name = given.group(1).decode("utf-8", "replace") if given else ""
        return Site(chain, False, start, end, self.line(start), args, name, owner)

    def _owner(self, at: int) -> str:
        """Callee of the call that this one is chained to (``a.b('x').c(…)``), "" for none."""
        tail = _CHAINED.search(self.data, max(0, at - 60), at)
        return "chained" if tail else ""

    def arguments(self, at: int, *, line: bool = False) -> tuple[tuple[Arg, ...], int]:
        """Arguments from behind an opening bracket (or, with ``line``, to the end of the line), and where they end."""
        builder = _Builder()
        stop = self._line_end(at) if line else len(self.data)
        for count, token in enumerate(_TOKEN[self.style].finditer(self.data, at)):
            if line and token.start() >= stop and not builder.open:
                break
            if line and token.group() == b"do" and not builder.open:
                return builder.close(), token.start()
            if count > MAX_TOKENS:
                return (), at
            if builder.take(token.lastgroup or "", token.group()):
                return builder.close(), token.end()
        return (builder.close(), stop) if line else ((), at)


class _Builder:
    """Tokens of one pair of brackets → arguments. Iterative; what lies deeper than ``MAX_DEPTH`` is not told apart."""

    def __init__(self) -> None:
        self.frames: list[_Frame] = [_Frame("(", "")]

    @property
    def open(self) -> int:
        return len(self.frames) - 1

    def take(self, kind: str, raw: bytes) -> bool:
        """One token; True when it closes the outermost bracket."""
        top = self.frames[-1]
        if kind == "o":
            self.frames.append(_Frame(raw.decode(), top.callee()))
        elif kind == "e":
            if len(self.frames) == 1:
                return True
            done = self.frames.pop()
            self.frames[-1].inner(done.made(), len(self.frames) > MAX_DEPTH)
        elif kind == "k":
            top.next()
        elif kind != "c":
            top.say(kind, raw)
        return False

    def close(self) -> tuple[Arg, ...]:
        while len(self.frames) > 1:
            done = self.frames.pop()
            self.frames[-1].inner(done.made(), False)
        return self.frames[0].finished()


class _Frame:
    """One bracket in the making: its arguments so far, and the pieces of the one being read."""

    def __init__(self, bracket: str, called: str) -> None:
        self.bracket = bracket
        self.called = called
        self.args: list[Arg] = []
        self.pieces: list[Arg] = []
        self.key = ""

    def callee(self) -> str:
        """Name that a round bracket opened now would call."""
        return self.pieces[-1].text if self.pieces and self.pieces[-1].kind == "n" else ""

    def say(self, kind: str, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace")
        last = self.pieces[-1] if self.pieces else None
        if (
            kind == "q"
            and last is not None
            and len(self.pieces) == 1
            and last.kind in "ns"
            and not self.key
            and text != "=="
        ):
            self.key = last.text.strip(":")
            self.pieces.clear()
        elif kind == "q" and text == "=>":
            self.pieces.append(Arg("?", text))
        elif kind == "s":
            self._literal(text)
        elif kind == "y":  # a symbol of Ruby
            self.pieces.append(Arg("s", text[1:]))
        elif kind == "n" and text not in ("new", "await", "async"):
            self.pieces.append(Arg("n", _dotted(raw)))
        elif text not in ("new", "await"):
            self.pieces.append(Arg("?", text))

    def _literal(self, text: str) -> None:
        found = literal(text)
        last = self.pieces[-1] if self.pieces else None
        if found is None:
            self.pieces.append(Arg("?", text[:1]))
        elif last is not None and last.kind == "s":  # neighbours make one literal
            self.pieces[-1] = Arg("s", (last.text + found)[:LITERAL_CHARS])
        else:
            self.pieces.append(Arg("s", found))

    def inner(self, arg: Arg, deep: bool) -> None:
        """A bracket that closed: a call of what stands before it, or a value of its own."""
        last = self.pieces[-1] if self.pieces else None
        made = Arg("?") if deep else arg
        if arg.kind == "c" and last is not None and last.kind == "n":
            self.pieces[-1] = made
        elif last is not None and last.kind in "nc" and arg.kind in "lo":
            self.pieces.append(Arg("?"))
        else:
            self.pieces.append(made)

    def next(self) -> None:
        if self.pieces or self.key:
            self.args.append(self._one())
        self.pieces, self.key = [], ""

    def _one(self) -> Arg:
        pieces = self.pieces
        if len(pieces) == 1:
            return pieces[0]._replace(name=self.key)
        handler = len(pieces) == 2 and pieces[0].kind == "c" and pieces[1].kind == "?" and pieces[1].text == "."
        return Arg("c" if handler else "?", pieces[0].text if handler else "", (), self.key)

    def finished(self) -> tuple[Arg, ...]:
        self.next()
        return tuple(self.args)

    def made(self) -> Arg:
        items = self.finished()
        if self.bracket == "(":
            if self.called:
                return Arg("c", self.called, items)
            return items[0] if len(items) == 1 and not items[0].name else Arg("l", "", items)
        named = bool(items) and all(one.name for one in items)
        return Arg("o" if self.bracket == "{" and named else "l", "", items)


def literal(text: str) -> str | None:
    """The value of a string as written, None for one that is put together at run time."""
    body = text.lstrip("rRbBuUfF")
    head = text[: len(text) - len(body)].lower()
    if "f" in head and "{" in body:
        return None
    if body[0] == "`" and "${" in body:
        return None
    cut = 3 if body[:3] in ('"""', "'''") else 1
    inner = body[cut:-cut]
    if "\\" in inner and "r" not in head:
        inner = re.sub(r"\\(.)", r"\1", inner)
    return inner[:LITERAL_CHARS]


def _found(data: bytes, needle: bytes) -> Iterable[int]:
    """Places of a name followed by a bracket that no longer name ends with."""
    at = data.find(needle)
    while at >= 0:
        before = data[at - 1 : at]
        if not (before.isalnum() or before in (b"_", b"$")) or not before:
            yield at
        at = data.find(needle, at + 1)


def _name_end(data: bytes, at: int) -> int:
    found = re.compile(rb"[\w.\\]+").match(data, at)
    return found.end() - at if found else 0


def _dotted(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return "".join(_JOINTS.sub(".", text).split()).replace("\\", ".").lstrip("@.")
