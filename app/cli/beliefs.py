"""What verbs about beliefs share: how a record is meant, how an answer is shown. No verb lives here.

Who calls: the verbs of beliefs. What may not come in: rules of standing, text about one verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from mog.app import plain
from mog.app.cli import fold, output
from mog.app.present import meant
from mog.engine.errors import NotFound

if TYPE_CHECKING:
    from mog.app.cli.options import Common
    from mog.app.present_beliefs import Names
    from mog.engine.beliefs import Beliefs
    from mog.engine.reason.mesh import Effect
    from mog.engine.reason.minimal import Strength
    from mog.engine.reason.radius import Radius
    from mog.engine.reason.records import GraphNode, Ground, Label

Answer = TypeVar("Answer")
FIRM = 10
_ID = re.compile(r"[0-9a-f]{8,32}")


@dataclass(frozen=True, slots=True)
class Page:
    """Which rows of a change are listed: at most ``limit`` of each sort, and of what is preserved those after an id."""

    preserved: bool = False
    after: str = ""
    limit: int = 100


def one(beliefs: Beliefs, target: str) -> str:
    """The id of the record a person means. Raises NotFound, UsageError."""
    return meant(beliefs.find, target)


def several(beliefs: Beliefs, targets: Iterable[str]) -> tuple[str, ...]:
    """Ids of the records meant, in the order given, each once. Raises as ``one``."""
    return tuple(dict.fromkeys(one(beliefs, target) for target in targets))


def together(beliefs: Beliefs, written: str) -> tuple[str, ...]:
    """The premises of one ground: one record, or several with commas between. Raises as ``one``.

    The words of a record may hold commas themselves, so the whole is tried first.
    """
    try:
        return (one(beliefs, written),)
    except NotFound:
        parts = [part.strip() for part in written.split(",") if part.strip()]
        if len(parts) < 2:
            raise
        return several(beliefs, parts)


def one_or_words(beliefs: Beliefs, written: str) -> str:
    """The id of a record, or, when no record answers, the words of one to make.

    Raises:
        NotFound: it has the form of an id, and is none. UsageError: several records answer.
    """
    try:
        return one(beliefs, written)
    except NotFound:
        if _ID.fullmatch(written):
            raise
        return written


class Named:
    """Names of records for the view edge, asked of the mesh while its workspace is open."""

    def __init__(self, beliefs: Beliefs) -> None:
        self._mesh = beliefs.mesh
        self._graph = self._mesh.graph

    def node(self, id: str) -> GraphNode | None:
        """The record, None when there is none."""
        return self._graph.get(id)

    def label(self, id: str) -> Label | None:
        """Its label of standing."""
        return self._mesh.label(id) if self.node(id) is not None else None

    def ground(self, conclusion: str, id: str) -> Ground | None:
        """One ground of a record."""
        known = self._mesh.grounds(conclusion) if self.node(conclusion) is not None else ()
        return next((ground for ground in known if ground.id == id), None)


def show(answer: object, common: Common, names: Names) -> None:
    """An answer about beliefs, as JSON or as lines that fit the terminal."""
    from mog.app import plain_beliefs, present_beliefs

    if common.json:
        output.document(present_beliefs.as_json(answer, names))
    else:
        folded(plain_beliefs.as_lines(answer, output.glyphs(), names), common)


def listed(name: str, answers: Iterable[object], common: Common, names: Names) -> None:
    """Several answers as ``{name: […]}`` or as lines, one after the other."""
    from mog.app import plain_beliefs, present_beliefs

    if common.json:
        output.document({name: [present_beliefs.as_json(answer, names) for answer in answers]})
    else:
        folded((line for one in answers for line in plain_beliefs.as_lines(one, output.glyphs(), names)), common)


def recorded(
    beliefs: Beliefs, effect: Effect, common: Common, *, target: str = "", result: str = "", **known: Any
) -> None:
    """What a commit did; ``--quiet`` leaves only JSON. ``result``: the record it is about, where the commit does not say."""
    if common.json or not common.quiet:
        result = result or (effect.result if isinstance(effect.result, str) else "")
        moved(beliefs, effect.radius, common, target=target, result=result, events=effect.events, written=True, **known)


def firm(beliefs: Beliefs, radius: Radius) -> dict[str, Strength]:
    """What it takes now to fell the first nodes that a preview weakens."""
    return {row.id: beliefs.mesh.strength(row.id) for row in radius.weakens[:FIRM]}


def moved(
    beliefs: Beliefs, radius: Radius, common: Common, *, target: str = "", page: Page | None = None, **known: Any
) -> None:
    """A radius, of a preview or of a commit: the same form for both."""
    from mog.app.present_beliefs import Change

    page = page or Page()
    kept = radius.preserved(page.after, page.limit) if page.preserved else None
    strength = beliefs.mesh.strength(target) if target and not known.get("written") else None
    change = Change(radius, target, limit=page.limit, strength=strength, preserved=kept, **known)
    show(change, common, Named(beliefs))


def folded(rows: Iterable[plain.Line], common: Common) -> None:
    """Lines, folded at words where the terminal is too narrow for them; into a pipe they go as they are."""
    width = fold.columns()
    output.lines((part for row in rows for part in fold.fold(plain.safe(row), width)), common)


def document(value: Mapping[str, Any], rows: Iterable[plain.Line], common: Common) -> None:
    """A JSON object or the lines that say the same."""
    if common.json:
        output.document(value)
    else:
        folded(rows, common)
