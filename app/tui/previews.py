"""Questions of pane 6 to the engine and what their answers stand for: a preview of a row, evidence on offer, preview against effect.

Who calls: ``panes/blast.py``, the questions on threads. What may not come in: the toolkit, state of a pane, a write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING

from mog.app.tui.blast_rows import Aim, Told
from mog.app.tui.rows import Reason, Thing
from mog.engine import model as m

if TYPE_CHECKING:
    from mog.app.tui.port import Desk
    from mog.engine.breaks import Done, Judge, Offer

_NAMED = ("aim", "falls", "weakens", "survives", "about")


class Things(Mapping[str, Thing]):
    """What a row stands for, by its key: made when it is asked for, 50,000 rows need no table."""

    def __init__(self, told: Told) -> None:
        self._told = told

    def __getitem__(self, key: str) -> Thing:
        kind, _, id = key.partition(":")
        told = self._told
        if key == "aim" and told.aim.code is not None:
            return told.aim.code
        found = _reason(told, told.aim.target if key == "aim" else id) if kind in _NAMED else None
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(("aim",))

    def __len__(self) -> int:
        return 1


def _reason(told: Told, id: str) -> Reason | None:
    node = told.outlook.nodes.get(id)
    return Reason(node.id, node.type, node.label) if node else None


def aim_of(thing: Thing | None, target: str) -> Aim | None:
    """What a row is about, for a preview; ``None`` for a row that is about no record and no code."""
    if isinstance(thing, Reason):
        return Aim(thing.id, reason=thing)
    if isinstance(thing, m.Node):
        return Aim(thing.locator, code=thing) if thing.id and thing.type in ("symbol", "file") else None
    return Aim(target) if target.startswith(("sym:", "file:")) else None


def look(desk: Desk, aim: Aim) -> Told:
    """Ask the engine for a preview: of a record, or of everything that is believed about code.

    Raises: NotFound: no such record or code.
    """
    began = perf_counter()
    breaks = desk.breaks
    about: tuple[str, ...] = ()
    if aim.reason is None:
        code = aim.code or desk.find(aim.target)
        aim, about = Aim(aim.target, code=code), breaks.about(code)
        preview = breaks.preview(*about)
    else:
        preview = breaks.preview(aim.target)
        about = breaks.places(aim.target)
    labels = breaks.labels(about if aim.code is not None else (aim.target,))
    return Told(aim, preview, about, labels, (perf_counter() - began) * 1000)


def offers(desk: Desk, target: str) -> tuple[tuple[Offer, ...], tuple[Judge, ...]]:
    """Evidence on offer against a record, and who would judge an observation."""
    breaks = desk.breaks
    return breaks.offers(target), breaks.judges(target)


def same(told: Told, done: Done) -> bool:
    """Whether an effect is what the preview said: who falls and weakens, at which hop, and which tasks are stale."""
    before, after = told.outlook.radius, done.radius
    if after is None or (before.counts, before.falls.ids()) != (after.counts, after.falls.ids()):
        return False
    tasks = [{(one.plan, one.name) for one in cost.reruns} for cost in (told.preview.cost, done.cost)]
    return [row.id for row in before.weakens] == [row.id for row in after.weakens] and tasks[0] == tasks[1]
