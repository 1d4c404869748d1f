"""Tying a note to code as it is on disk, and saying what its words name beyond that.

Who calls: ``notes`` before a write. What may not come in: the ledger, ranking. The index only finds places by name; what is
anchored is what the disk holds. Code that changed since the index saw it is refused: whoever speaks of it has not seen it.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from mog.engine.errors import AmbiguousTarget, GitRefused, IndexMissing, NotFound, UsageError
from mog.engine.ids import Locator, parse_locator
from mog.engine.memory.limits import MAX_ANCHORS
from mog.engine.memory.records import STALE, Note
from mog.engine.model import Anchor, Freshness, Node
from mog.engine.retrieval import query

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs
    from mog.engine.code.view import CodeView
    from mog.engine.memory.changes import Changes

MAX_NAMES, MAX_OUTSIDE = 24, 6
FEW_FILES = 1_000
# a word that nobody writes in prose: with an underscore inside, or a capital after a small letter
_NAME = re.compile(r"[A-Za-z]\w*_\w+|_\w{2,}|[A-Za-z]*[a-z]\w*[A-Z]\w*")
_AGAIN = "`mog index`, look at it again, then remember"


class Sight:
    """The code of one worktree, as far as a note can be tied to it."""

    def __init__(self, beliefs: Beliefs, reading: Callable[[], AbstractContextManager[CodeView]]) -> None:
        self._beliefs = beliefs
        self._view = reading
        self._counted = (-1, 0)

    def anchors(self, places: Sequence[str], changes: Changes) -> tuple[tuple[Anchor, Node | None], ...]:
        """Anchors of places as they are on disk, each with the index's node where there is one.

        Raises:
            NotFound: nothing is there. AmbiguousTarget: several things are. PolicyDenied: it is gated.
            UsageError: too many, no place, or it changed since the index saw it.
        """
        if len(places) > MAX_ANCHORS:
            what = f"{len(places)} anchors, {MAX_ANCHORS} is the limit"
            raise UsageError(what, where="remember", way_out="name what it is about")
        return tuple(self._one(place, changes) for place in dict.fromkeys(places))

    def _one(self, place: str, changes: Changes) -> tuple[Anchor, Node | None]:
        node, missing = self._find(place)
        made = self._made(node.locator if node else place, missing)
        if node is not None and not self._as_indexed(node, made, changes):
            raise UsageError("it changed since the index saw it", where=node.locator, way_out=_AGAIN)
        return made, node

    def _made(self, place: str, missing: NotFound | None) -> Anchor:
        """The anchor of a place; of a name that is neither in the index nor a place, the nearest names are told."""
        try:
            return self._beliefs.bridge.make_anchor(place)
        except UsageError as error:
            if missing is not None:
                raise missing from error
            raise

    def _find(self, place: str) -> tuple[Node | None, NotFound | None]:
        """The index's node of a place, or why it has none. Raises AmbiguousTarget."""
        try:
            with self._view() as view:
                return view.find(place), None
        except NotFound as error:
            return None, error
        except IndexMissing:
            return None, None

    def _as_indexed(self, node: Node, made: Anchor, changes: Changes) -> bool:
        """Is the span on disk the one the index has? Where only the bytes around it changed, git says what it was."""
        with self._view() as view:
            row = view.db.file_by_path(os.fsencode(node.path))
        with self._beliefs.looking() as disk:
            if row is None or disk.file_freshness(row) in (Freshness.fresh, Freshness.unknown, Freshness.gated):
                return True
        if row.oid is None or node.type != "symbol":
            return False
        try:
            spans = changes.blob(row.oid.hex(), node.path) or {}
        except GitRefused:
            return False
        return node.qual in spans and spans[node.qual].span_hash == made.span_hash

    def likely(self, place: Locator) -> tuple[str, ...]:
        """Files in which something of that name stands, as the index has it.

        Raises: IndexMissing: there is no index, or one so small that all files are looked at as well.
        """
        name = place.name.rpartition(".")[2] or posixpath.basename(place.path)
        with self._view() as view:
            if self._small(view):
                raise IndexMissing("a small index", way_out="look at every file")
            rows = view.db.nodes_by_name(name)
            files = (view.file_row(row.file) for row in rows if row.file)
            return tuple(dict.fromkeys([place.path, *(os.fsdecode(file.path) for file in files if file is not None)]))

    def _small(self, view: CodeView) -> bool:
        if view.stamp.generation != self._counted[0]:
            self._counted = (view.stamp.generation, len(view.paths()))
        return self._counted[1] < FEW_FILES

    @staticmethod
    def still(note: Note) -> None:
        """Raise UsageError when the code under a note changed or is gone."""
        for held in note.anchors:
            if held.freshness in STALE:
                what = f"the code it is about {'is gone' if held.freshness is Freshness.missing else 'changed'}: {held.reason}"
                raise UsageError(what, where=held.locator, way_out="remember it in your own words about the code as it is now")

    def outside(self, text: str, anchors: Sequence[tuple[Anchor, Node | None]]) -> Iterator[str]:
        """A sentence for each name in the text that the index knows and that lies outside of the anchors."""
        within = [parse_locator(made.locator) for made, _ in anchors if made.locator.startswith(("sym:", "file:"))]
        told = 0
        for name in _names(text):
            found = self._meant(name)
            if not found or any(_inside(parse_locator(place), within) for place in found):
                continue
            told += 1
            if told > MAX_OUTSIDE:
                yield "it names more code outside of its anchors"
                return
            yield _sentence(name, found, bool(anchors))

    def _meant(self, name: str) -> list[str]:
        """Locators of what a name means in this repository; none for what is not defined here."""
        try:
            with self._view() as view:
                node = view.find(name)
        except AmbiguousTarget as several:
            return [place for place in several.candidates if place.startswith(("sym:", "file:"))]
        except (NotFound, IndexMissing, UsageError):
            return []
        return [node.locator] if node.type in ("symbol", "file") else []


def _names(text: str) -> list[str]:
    parsed = query.parse(text)
    shaped = [name for name in (*parsed.names, *parsed.called) if _NAME.fullmatch(name)]
    return list(dict.fromkeys([*parsed.ticked, *parsed.paths, *parsed.dotted, *parsed.called, *shaped]))[:MAX_NAMES]


def _inside(place: Locator, within: Sequence[Locator]) -> bool:
    for anchor in within:
        if place.path == anchor.path and (not anchor.name or place.name == anchor.name):
            return True
        if place.path == anchor.path and place.name.startswith(f"{anchor.name}."):
            return True
    return False


def _sentence(name: str, found: Sequence[str], anchored: bool) -> str:
    where = found[0] if len(found) == 1 else f"{len(found)} places, {found[0]} among them"
    if anchored:
        return f"{name} is {where}, outside of the anchor: whether that changes will not be noticed"
    return f"{name} is {where}: name it as an anchor, so that a change is noticed"
