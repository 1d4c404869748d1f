"""Anchors on a range of lines, known by their text. Called by ``bridge``; symbols and whole files are ``code/freshness``'s.

What may not come in: line numbers as identity (the locator says where the lines stood, nothing is decided by it), text of the
repository kept in an anchor, gated content.

An anchor of lines keeps a digest of the whole text, a short digest of each line and of the line before and after. So text that
merely shifted is the same text, and an edited range is found again between the lines that did not change.

    lines:src/auth/mw.py:10-20
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from mog.engine import ids
from mog.engine.code import anchors, secrets
from mog.engine.code.freshness import Disk
from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.model import Anchor, Freshness

KIND = "lines"
ALIKE = "alike"  # in place of a body hash: another copy had the same lines around it
GRAMMAR = "lines h1"
MAX_LINES = 400
_TYPED = re.compile(r"(?P<path>.+):(?P<first>[1-9]\d{0,8})(?:-(?P<last>[1-9]\d{0,8}))?", re.DOTALL)
_EDGE = "-"


@dataclass(frozen=True, slots=True)
class Range:
    """Lines ``first`` to ``last`` of a file, both included, counted from 1."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{KIND}:{ids.escape(self.path)}:{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Found:
    """What the disk says about an anchor: its freshness, why, the hash of what stands there ("": nothing), where it is now."""

    freshness: Freshness
    reason: str
    new: str = ""
    now_at: str = ""
    lines: tuple[int, int] | None = None


def parse(text: str) -> Range | None:
    """The range that ``lines:path:10-20``, ``path:10-20`` or ``path:10`` means; None when it is no such thing.

    Raises:
        UsageError: the last line lies before the first, or the range has more than 400 lines.
    """
    own = text.startswith(f"{KIND}:")
    match = _TYPED.fullmatch(text.removeprefix(f"{KIND}:"))
    if match is None or (not own and text.startswith(("sym:", "file:"))):
        return None
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if not first <= last < first + MAX_LINES:
        raise UsageError("no range of lines", where=text, way_out=f"write path:10-20, at most {MAX_LINES} lines")
    return Range(ids.unescape(match["path"]) if own else match["path"], first, last)


def make(disk: Disk, place: Range, files: Callable[[], Iterable[str]]) -> Anchor:
    """Anchor of a range as it is on disk at this moment; ``files`` lists where copies of its text may stand.

    Raises:
        NotFound: the file cannot be read or has no such lines. PolicyDenied: the range holds gated content.
    """
    loaded = disk.load(place.path)
    if loaded is None:
        raise NotFound(
            "this file cannot be read", where=place.path, way_out="check the path, relative to the repository"
        )
    data, gate = loaded
    if gate.file or any(_touches(data, span, place) for span in gate.spans):
        raise PolicyDenied("these lines are gated", where=str(place), way_out="anchor the file: its digest is keyed")
    text = _split(secrets.redact(data, gate.spans))
    if place.last > len(text):
        raise NotFound("the file has fewer lines", where=str(place), way_out="name lines that are there")
    span = text[place.first - 1 : place.last]
    near = _near(text, place.first - 1, place.last)
    words = (f"w{word}" for word in anchors.rare_terms(b"\n".join(span)))
    terms = (f"b{near[0]}", f"a{near[1]}", *(f"l{digest}" for digest in _digests(span)), *words)
    bare = Anchor(str(place), KIND, _hash(span), "", GRAMMAR, terms)
    alike = sum(_near(text, at, at + len(span)) == near for at in _runs(text, bare)) > 1
    copies = tuple(_copies(disk, bare, place, files))
    return Anchor(bare.locator, KIND, bare.span_hash, ALIKE if alike else "", GRAMMAR, terms, copies)


def judge(disk: Disk, anchor: Anchor, files: Callable[[], Iterable[str]]) -> Found:
    """What the disk says about an anchor of lines. ``files`` is only called when the text is not in its file any more."""
    place = parse(anchor.locator)
    if place is None or anchor.grammar != GRAMMAR:
        return Found(Freshness.unknown, "recorded in a form this version does not know")
    loaded = disk.load(place.path)
    if loaded is not None and loaded[1].file:
        return Found(Freshness.gated, "it is gated now, so it cannot be compared", now_at=anchor.locator)
    text = _text(disk, place.path)
    runs = _runs(text, anchor)
    copies = 1 + sum(twin.startswith(f"{KIND}:{ids.escape(place.path)}:") for twin in anchor.twins)
    ours = [at for at in runs if _near(text, at, at + _size(anchor)) == _recorded_near(anchor)]
    if (ours and anchor.body_hash != ALIKE) or len(runs) >= copies:
        return _at(Freshness.fresh, "same text", place.path, (ours or runs)[0], anchor)
    # from here on at least one copy is gone, and whether it was this one cannot be told: what is in doubt is not fresh
    moved = None if runs else _elsewhere(disk, anchor, place, files)
    return moved or _changed(text, anchor, place, loaded is None, not runs)


def _elsewhere(disk: Disk, anchor: Anchor, place: Range, files: Callable[[], Iterable[str]]) -> Found | None:
    """The one place in another file that the text moved to; None when there is none, or more than one."""
    known = {found.path for found in map(parse, anchor.twins) if found is not None}
    moved = [(path, at) for path, at in _occurrences(disk, anchor, files) if path != place.path and path not in known]
    if len(moved) != 1:
        return None
    return _at(Freshness.moved, "same text in another file", *moved[0], anchor)


def _changed(text: Sequence[bytes], anchor: Anchor, place: Range, gone: bool, by_own: bool) -> Found:
    region = _region(text, anchor, by_own)
    if region is None:
        return Found(Freshness.missing, "the file is gone" if gone else "the text is gone")
    start, end = region
    new = _hash(text[start:end])
    return Found(Freshness.drifted, "text changed", new, str(Range(place.path, start + 1, end)), (start + 1, end))


def _at(freshness: Freshness, reason: str, path: str, at: int, anchor: Anchor) -> Found:
    lines = (at + 1, at + _size(anchor))
    return Found(freshness, reason, anchor.span_hash, str(Range(path, *lines)), lines)


def _region(text: Sequence[bytes], anchor: Anchor, by_own: bool) -> tuple[int, int] | None:
    """Where an edited range stands now: between the lines around it, and over its own lines that are still there once.

    Without ``by_own`` its own lines do not count: a copy of the text is still there, and they would lead to that.
    """
    now = _digests(text)
    once = _once(now)
    counts = Counter(_lines(anchor))
    kept = [once[digest] for digest in counts if by_own and counts[digest] == 1 and digest in once]
    before, after = _recorded_near(anchor)
    head = -1 if before == _EDGE else once.get(before)
    tail = len(now) if after == _EDGE else once.get(after)
    if not kept and (head is None or tail is None):
        return None
    start = head + 1 if head is not None and (not kept or head < min(kept)) else min(kept, default=0)
    end = tail if tail is not None and (not kept or tail > max(kept)) else max(kept, default=0) + 1
    return (start, end) if start < end <= start + 4 * _size(anchor) + 20 else None


def _once(now: Sequence[str]) -> dict[str, int]:
    counts = Counter(now)
    return {digest: at for at, digest in enumerate(now) if counts[digest] == 1}


def _copies(disk: Disk, anchor: Anchor, place: Range, files: Callable[[], Iterable[str]]) -> Iterator[str]:
    """Where else the text stands at this moment; in its own file it is looked for even when it has no rare word."""
    own = ((place.path, at) for at in _runs(_text(disk, place.path), anchor) if at != place.first - 1)
    others = ((path, at) for path, at in _occurrences(disk, anchor, files) if path != place.path)
    yield from (str(Range(path, at + 1, at + _size(anchor))) for path, at in (*own, *others))


def _occurrences(disk: Disk, anchor: Anchor, files: Callable[[], Iterable[str]]) -> Iterator[tuple[str, int]]:
    words = tuple(term[1:] for term in anchor.terms if term.startswith("w"))
    if not words:  # a few brackets stand everywhere and are nowhere to be followed to
        return
    for path in files():
        if disk.holds(path, words):
            yield from ((path, at) for at in _runs(_text(disk, path), anchor))


def _text(disk: Disk, path: str) -> list[bytes]:
    loaded = disk.load(path)
    if loaded is None or loaded[1].file:
        return []
    return _split(secrets.redact(loaded[0], loaded[1].spans))


def _split(data: bytes) -> list[bytes]:
    """Lines as editors count them: a final line break opens no further line."""
    text = data.split(b"\n")
    return text if text[-1] else text[:-1]


def _runs(text: Sequence[bytes], anchor: Anchor) -> list[int]:
    """Indices at which exactly the recorded text starts."""
    size, first = _size(anchor), _lines(anchor)[0]
    return [
        at for at in range(len(text) - size + 1)
        if _digest(text[at]) == first and _hash(text[at : at + size]) == anchor.span_hash
    ]  # fmt: skip


def _touches(data: bytes, span: tuple[int, int, str], place: Range) -> bool:
    first = data.count(b"\n", 0, span[0]) + 1
    last = data.count(b"\n", 0, max(span[0], span[1] - 1)) + 1
    return first <= place.last and last >= place.first


def _size(anchor: Anchor) -> int:
    return len(_lines(anchor))


def _lines(anchor: Anchor) -> list[str]:
    return [term[1:] for term in anchor.terms if term.startswith("l")]


def _recorded_near(anchor: Anchor) -> tuple[str, str]:
    return anchor.terms[0][1:], anchor.terms[1][1:]


def _near(text: Sequence[bytes], start: int, end: int) -> tuple[str, str]:
    """Digests of the line before and after; the edge of the file has a mark of its own."""
    return _digest(text[start - 1]) if start else _EDGE, _digest(text[end]) if end < len(text) else _EDGE


def _digests(text: Iterable[bytes]) -> list[str]:
    return [_digest(line) for line in text]


def _digest(line: bytes) -> str:
    return blake2b(line.rstrip(b"\r"), digest_size=4).hexdigest()


def _hash(span: Iterable[bytes]) -> str:
    """Hash of a text (hex, 128 bits); line ends of Windows count as those of others."""
    return blake2b(b"\n".join(line.rstrip(b"\r") for line in span), digest_size=16, person=b"mog.lines.1").hexdigest()
