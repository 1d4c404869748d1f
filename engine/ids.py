"""Deterministic ids and readable locators. Called by the indexer, the graph, pins and every lookup by name.

What may not come in: clocks, counters, random numbers, files. An id says what a thing is; where two things would get
the same id, the second is refused, never merged (GRAPH.md rule 8).

A locator is text for people that parses back without loss:

    sym:src/auth/mw.py::verify_token     file:src/auth/mw.py     unresolved:requests.get     container:django

Bytes that are not UTF-8 are written %80 … %FF, a ``%`` that two hex digits follow is written %25, and a colon in the
path of a ``sym:`` is written %3A. So the first ``::`` always ends the path, and a locator is always valid Unicode.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from dataclasses import dataclass

from mog.engine.errors import IndexMissing, OntologyError, UsageError

UID_BYTES = 16
_NODE = b"mog.node.1"
_EDGE = b"mog.edge.1"

_SCHEME = re.compile(r"([a-z][a-z0-9_]{0,63}):(.*)", re.DOTALL)
_LOOSE = re.compile("%(?=[0-9A-Fa-f]{2})|[\udc80-\udcff]")
_LOOSE_OR_COLON = re.compile("%(?=[0-9A-Fa-f]{2})|[\udc80-\udcff:]")
_ESCAPED = re.compile(r"%(25|3[Aa]|[89A-Fa-f][0-9A-Fa-f])")


def digest(person: bytes, *parts: str | bytes | int) -> bytes:
    """BLAKE2b (RFC 7693) of 16 bytes; each part goes in with its kind and length, so no two lists share an input."""
    return hashlib.blake2b(_framed(*parts), digest_size=UID_BYTES, person=person).digest()


def _framed(*parts: str | bytes | int) -> bytes:
    """Each part as kind, length and bytes: a text that parses back in one way only."""
    out = b""
    for part in parts:
        if isinstance(part, str):
            raw = part.encode("utf-8", "surrogatepass")
            out += b"s%d:" % len(raw) + raw
        else:
            out += b"b%d:" % len(part) + part if isinstance(part, bytes) else b"i%d;" % part
    return out


# Symbols come file by file, so all but the last parts are nearly always those of the id before.
_framed_once = functools.lru_cache(maxsize=64)(_framed)


def node_uid(repo: str, type: str, kind: str, path: str | bytes, qual: str, ordinal: int = 0) -> bytes:
    """The id of a node, 16 bytes.

    The path counts by its bytes on disk (``os.fsencode``), so the id is the same under every locale.

    Args:
        repo: identity of the repository, the same in every worktree of a clone.
        type, kind: symbols of GRAPH.md.
        path: relative to the root; "" for nodes without a file.
        qual: qualified name inside the file, or the name of a node without a file.
        ordinal: tells apart what has the same name in the same place.
    """
    framed = _framed_once(repo, type, kind, _path_bytes(path)) + _framed(qual, ordinal)
    return hashlib.blake2b(framed, digest_size=UID_BYTES, person=_NODE).digest()


def edge_uid(kind: str, src: str, dst: str, role: str = "") -> bytes:
    """The id of an edge of the reason layer, 16 bytes, over its type, its ends and its role."""
    return digest(_EDGE, kind, src, dst, role)


def _path_bytes(path: str | bytes) -> str | bytes:
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:  # a name that no file on this platform can have
        return path


class UidTable:
    """Remembers what each id stands for and refuses a second meaning."""

    __slots__ = ("_meaning",)

    def __init__(self) -> None:
        self._meaning: dict[bytes, tuple[object, ...]] = {}

    def __len__(self) -> int:
        return len(self._meaning)

    def claim(self, uid: bytes, *identity: object) -> bool:
        """True when the id is new, False when it already stands for exactly this.

        Raises:
            OntologyError: it stands for something else.
        """
        known = self._meaning.setdefault(uid, identity)
        if known is identity:
            return True
        if known != identity:
            raise collision(uid.hex(), known, identity)
        return False


def collision(id: str, known: object, other: object) -> OntologyError:
    """The error for an id that would name two things."""
    what = f"the id {id} is {known!r} already and will not name {other!r} too"
    return OntologyError(what, where="GRAPH.md rule 8", way_out="give the second thing a name or ordinal of its own")


def escape(text: str, colon: bool = False) -> str:
    """Valid Unicode for text that may hold undecodable bytes (surrogate escapes); ``unescape`` gives it back exactly.

    Raises:
        UsageError: a surrogate that stands for no byte.
    """
    out = (_LOOSE_OR_COLON if colon else _LOOSE).sub(_escaped, text)
    try:
        out.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("a lone surrogate that stands for no byte", where=ascii(text), way_out="rename it") from error
    return out


def _escaped(match: re.Match[str]) -> str:
    return f"%{ord(match.group()) & 0xFF:02X}"


def unescape(text: str) -> str:
    """The inverse of ``escape``; anything else is left as it stands."""
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    code = int(match.group(1), 16)
    return chr(code if code < 0x80 else 0xDC00 | code)


@dataclass(frozen=True, slots=True)
class Locator:
    """A locator taken apart.

    Attributes:
        type: symbol of the node type.
        path: path in ``os.fsdecode`` form; "" for nodes without a file.
        name: qualified name of a symbol, name of a node without a file; "" for a file.
    """

    type: str
    path: str = ""
    name: str = ""

    def __str__(self) -> str:
        return locator(self.type, self.path, self.name)


def locator(type: str, path: str = "", name: str = "") -> str:
    """The readable locator of a node (see the module's text)."""
    if type == "symbol":
        return f"sym:{escape(path, colon=True)}::{escape(name)}"
    return f"{type}:{escape(path if type == 'file' else name)}"


def parse_locator(text: str) -> Locator:
    """Take a locator apart.

    Raises:
        UsageError: it has no scheme, or a ``sym:`` has no ``::``.
    """
    match = _SCHEME.fullmatch(text)
    if match is None or not match.group(2):
        raise UsageError("not a locator", where=text, way_out="write sym:path::name, file:path or unresolved:name")
    scheme, rest = match.groups()
    if scheme == "sym":
        path, found, name = rest.partition("::")
        if not (path and found and name):
            raise UsageError("a sym: locator names no symbol", where=text, way_out="write sym:path::name")
        return Locator("symbol", unescape(path), unescape(name))
    return Locator("file", unescape(rest)) if scheme == "file" else Locator(scheme, "", unescape(rest))


def parse_without_index(text: str) -> Locator:
    """A locator taken apart where no index can say what a name means.

    Raises:
        IndexMissing: it is a name and no locator. UsageError: it is a locator that is not whole.
    """
    if _SCHEME.fullmatch(text) is None:
        way_out = "run `mog index`, or write sym:path::name or file:path"
        raise IndexMissing("a name is looked up in the index, and there is none yet", where=text, way_out=way_out)
    return parse_locator(text)


def readings(text: str) -> tuple[Locator, ...]:
    """Every way to read what a person typed as a locator or as ``path::name``, likeliest first; maybe none.

    Paths may hold ``::`` themselves and people do not escape, so each ``::`` is tried as the one that ends the path.
    """
    match = _SCHEME.fullmatch(text)
    scheme, body = match.groups() if match else ("", text)
    if scheme == "file":
        found = [Locator("file", unescape(body)), Locator("file", body)] if body else []
    elif scheme == "sym":
        found = _splits(body)
    else:
        found = _splits(text) + ([parse_locator(text)] if body and scheme else [])
    return tuple(dict.fromkeys(found))


def _splits(body: str) -> list[Locator]:
    spots = [i for i in range(1, len(body) - 2) if body.startswith("::", i)]
    plain = [Locator("symbol", body[:i], body[i + 2 :]) for i in spots]
    return [Locator("symbol", unescape(p.path), unescape(p.name)) for p in plain[:1]] + plain
