"""Keys of YAML files, by their indentation. Called by ``extract.py``.

What may not come in: values, a parse of the whole language: a scan of the lines, since a grammar of YAML reads two megabytes a
second and gives up on templates such as Helm's. Read are block mappings; the inside of block scalars, quoted strings, flow
collections and lists is passed over. Each document of a file begins anew. Anchors are hashes of the lines with their depth: how
wide an indentation is, comments and blank lines do not count, the text of block scalars counts exactly.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.keys import DEEP, Keys, Lines, hashed

VERSION = 1

_LINE = re.compile(
    rb"^(?P<pad> *)(?:(?P<quote>[\"'])(?P<quoted>[^\"'\n\\]{1,120}+)(?P=quote)|"
    rb"(?P<plain>[\w.$/+@*~<][^\s:#][^:\n#]{0,118}|[\w.$/+@*~<][^:\n#]?|[\w*~<]))"
    rb"[ \t]{0,40}+:(?=[ \t\r]|$)(?P<rest>[^\n]{0,400}+)|^(?P<mark>---|\.\.\.)(?=\s|$)|^(?P<at> *)(?P<other>\S)",
    re.M,
)
_SCALAR = re.compile(rb"^[ \t]*(?:[&!][^\s]{0,100}[ \t]+){0,3}[|>][+\-0-9]{0,3}[ \t]*(?:#.*)?\r?$")
_HEADER = re.compile(rb"[|>][+\-0-9]{0,3}")
_PIECE = re.compile(rb"\"(?:[^\"\\]++|\\.)*+\"|'[^']*+'|[ \t]#", re.S)
_QUOTE = re.compile(rb"^[ \t]*([\"'])")


class _Open(NamedTuple):
    indent: int
    key: int
    deep: int


def facts_of(lang: str, tree: object, data: bytes, path: str) -> Facts:
    """Facts of one YAML file; never raises for odd input."""
    keys = Keys()
    _Scan(data, keys).run()
    return keys.facts(lang)


class _Scan:
    """One pass over the lines; open keys form a stack by indentation."""

    def __init__(self, data: bytes, keys: Keys) -> None:
        self.data = data
        self.keys = keys
        self.open: list[_Open] = []
        self.line_at = Lines(data).at
        self.last = 0  # beginning of the last line that holds anything
        self.inside = -1  # lines deeper than this belong to a scalar
        self.scalar = False  # is that a block scalar, or an item of a list?
        self.until = 0  # lines before this byte belong to a quoted string

    def run(self) -> None:
        for found in _LINE.finditer(self.data):
            pad, at = found.span("pad")
            if pad < 0:
                pad, at = found.span("at")
            indent = at - pad
            if pad < self.until or (indent > self.inside >= 0):
                if pad >= 0 and (self.scalar or found["other"] != b"#"):
                    self.last = pad
            elif found["other"] != b"#":
                self.take(found, indent, found.start())
        self.shut(-1)

    def take(self, found: re.Match[bytes], indent: int, begin: int) -> None:
        """A line outside of scalars and lists."""
        if found["mark"] is not None:
            self.shut(-1)
            self.inside = -1
            return
        if found["other"] == b"{" and self.data.startswith(b"{{", found.start("other")):
            return  # a line of a template, at whatever indentation
        self.inside, self.scalar = -1, False
        dash = found["other"] == b"-"
        self.shut(indent + dash)  # an item may stand at the indentation of its key
        self.last = begin
        if found["rest"] is not None:
            self.key(found, indent, begin)
        elif dash:
            self.inside = indent  # what is deeper than an item belongs to it

    def key(self, found: re.Match[bytes], indent: int, begin: int) -> None:
        above = self.open[-1] if self.open else _Open(-1, -1, 0)
        name = (found["quoted"] or found["plain"]).rstrip().decode("utf-8", "replace")
        index, rest = -1, found["rest"]
        if above.deep < DEEP and (above.key >= 0 or above.deep == 0) and name != "<<":
            line = self.line_at(begin)
            index = self.keys.add(name, above.key, line, line, begin + indent, begin + indent)
        self.open.append(_Open(indent, index, above.deep + 1))
        if _SCALAR.match(rest):
            self.inside, self.scalar = indent, True
        elif quote := _QUOTE.match(rest):
            self.until = self.quoted(quote[1], found.start("rest") + quote.end())

    def quoted(self, quote: bytes, start: int) -> int:
        """Where a quoted value ends."""
        at = start
        while (at := self.data.find(quote, at)) >= 0:
            before = self.data[max(start, at - 64) : at]
            if quote == b'"' and (len(before) - len(before.rstrip(b"\\"))) % 2:
                at += 1
            elif quote == b"'" and self.data[at + 1 : at + 2] == b"'":
                at += 2
            else:
                return at
        return 0

    def shut(self, indent: int) -> None:
        """Close every key that stands at this indentation or deeper."""
        if not self.open or self.open[-1].indent < indent:
            return
        end = self.data.find(b"\n", self.last)
        end = len(self.data) if end < 0 else end
        line = self.line_at(self.last)
        while self.open and self.open[-1].indent >= indent:
            self.keys.close(self.open.pop().key, line, end)


def hash_rows(data: bytes, rows: list[list[Any]]) -> None:
    """Fill the hashes of symbol rows in place."""
    for row in rows:
        start = data.rfind(b"\n", 0, row[schema.FULL]) + 1
        lines = data[start : row[schema.STOP]].replace(b"\r\n", b"\n").split(b"\n")
        name, colon, rest = lines[0].strip().partition(b":")
        row[schema.SPAN], row[schema.BODY] = hashed([name.strip(b"\"'"), *_leaves(lines, rest if colon else lines[0])])


def _leaves(lines: list[bytes], first: bytes) -> list[bytes]:
    """What the lines say, each with its depth; of the first line only what follows its key."""
    found = [_without_remark(first.strip())]
    depths = [len(lines[0]) - len(lines[0].lstrip(b" "))]
    scalar, margin = (depths[0] if _opens_scalar(lines[0]) else -1), -1
    for line in lines[1:]:
        indent = len(line) - len(line.lstrip(b" "))
        if scalar >= 0 and (indent > scalar or not line.strip()):
            margin = indent if margin < 0 and line.strip() else margin
            found.append(b"|" + line[max(margin, 0) :] if line.strip() else b"|")
            continue
        scalar = margin = -1
        text = line.strip()
        if not text or text.startswith(b"#"):
            continue
        while len(depths) > 1 and depths[-1] > indent:
            depths.pop()
        if indent > depths[-1]:
            depths.append(indent)
        found.append(b"%d " % len(depths) + _without_remark(text))
        scalar = indent if _opens_scalar(text) else -1
    while found and found[-1] == b"|":
        found.pop()
    return found


def _opens_scalar(text: bytes) -> bool:
    """Whether a line ends with the sign of a block scalar."""
    words = _without_remark(text).split()
    if len(words) < 2 or _HEADER.fullmatch(words[-1]) is None:
        return False
    return words[-2][-1:] in (b":", b"-") or words[-2][:1] in (b"&", b"!")


def _without_remark(text: bytes) -> bytes:
    if b"#" not in text:
        return text
    remark = next((piece for piece in _PIECE.finditer(text) if piece[0][-1:] == b"#" and len(piece[0]) == 2), None)
    return text[: remark.start()].rstrip() if remark else text
