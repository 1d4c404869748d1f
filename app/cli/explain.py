"""``mog why``, ``explain``, ``lineage``: why something is believed, and what came before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.options import COMMON, Common, Target
from mog.app.present import meant

if TYPE_CHECKING:
    from mog.engine.reason.explain import Explanation
    from mog.engine.snapshots.model import Annotation


def why(
    target: Annotated[str, Parameter(help="A record, or code: name, path, path::name, locator.")],
    /,
    *,
    common: Common = COMMON,
) -> int:
    """Show what is believed about a piece of code, or why one record stands. Exits 1 when nothing is."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        names = beliefs.Named(known)
        found = meant(known.why, target)
        from mog.engine.reason.records import ADVISORY

        records = {one.node.id for one in found if one.node.kind == ADVISORY}
        advice = [one for one in workspace.context_graph.annotations() if one.record in records] if records else []
        shown = {one.record for one in advice}
        _why([one for one in found if one.node.id not in shown], advice, common, names)
    return exit_codes.OK


def _why(found: Sequence[Explanation], advice: Sequence[Annotation], common: Common, names: beliefs.Named) -> None:
    """Beliefs first; advice, which is none, behind them and said to be what it is."""
    from mog.app import plain_beliefs, plain_snapshots, present_beliefs, present_context

    if not advice:
        beliefs.listed("items", found, common, names)
    elif common.json:
        items = [present_beliefs.as_json(one, names) for one in found]
        output.document({"items": items, "annotations": [present_context.record(one) for one in advice]})
    else:
        glyphs = output.glyphs()
        rows = [line for one in found for line in plain_beliefs.as_lines(one, glyphs, names)]
        beliefs.folded([*rows, *plain_snapshots.advised(advice)], common)


def explain(target: Target, /, *, common: Common = COMMON) -> int:
    """Show why one record stands or has fallen: its grounds, what defeats it, what it falls with."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        beliefs.show(meant(known.explain, target), common, beliefs.Named(known))
    return exit_codes.OK


def lineage(target: Target, /, *, common: Common = COMMON) -> int:
    """Show the versions of a record: what it replaced and what replaced it, oldest first."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        beliefs.show(meant(known.lineage, target), common, beliefs.Named(known))
    return exit_codes.OK
