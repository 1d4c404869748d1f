"""``mog show``: one node with its source, its links and what is pinned on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from mog.app import plain, present
from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common, Limit
from mog.engine.errors import NotFound, PolicyDenied

if TYPE_CHECKING:
    from mog.engine.snapshots.model import Annotation

Lines = Annotated[int, Parameter(validator=validators.Number(gte=0), help="Source lines to print; 0 prints none.")]
TIERS = ("certain", "hierarchy", "candidate", "unknown")


def show(
    target: Annotated[str, Parameter(help="id, locator, name, path, path::name or path:line.")],
    /,
    *,
    lines: Lines = 80,
    limit: Limit = 40,
    history: Annotated[bool, Parameter(negative="", help="How often it changed, when, what changed along.")] = False,
    common: Common = COMMON,
) -> int:
    """Show one symbol or file: source, links in and out, pins."""
    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        answer = names.aimed(workspace, lambda name: workspace.neighbors(name, tiers=TIERS, limit=limit), target)
        advice = workspace.context_graph.annotations(answer.node.locator) if answer.node.type == "symbol" else ()
        try:
            text = workspace.source(answer.node.id)[0] if lines and answer.node.path else ""
        except (PolicyDenied, NotFound):
            text = ""
        past = workspace.past(answer.node.id, progress=bar) if history and answer.node.path else None
    shown, hidden, first = _head(text, lines, answer.node.end_line)
    if common.json:
        document = present.as_json(answer) | _advised(advice)
        told = {"past": present.as_json(past)} if past is not None else {}
        output.document({**document, **told, "source": present.Block("\n".join(shown)), "source_lines_omitted": hidden})
        return exit_codes.OK
    rows = plain.as_lines(answer, output.glyphs())
    rows += plain.as_lines(past, output.glyphs()) if past is not None else []
    if advice:
        from mog.app import plain_snapshots

        rows += plain_snapshots.advised(advice)
    numbered = enumerate(shown, start=first)
    rows += [((f"{number:>6}  ", "muted"), (line.expandtabs(4), "")) for number, line in numbered]
    output.lines(rows + ([((f"        {hidden:,} more lines", "muted"),)] if hidden else []), common)
    return exit_codes.OK


def _advised(advice: Sequence[Annotation]) -> dict[str, object]:
    """What somebody's model said of the symbol, where anything was said."""
    if not advice:
        return {}
    from mog.app import present_context

    return {"annotations": [present_context.record(one) for one in advice]}


def _head(text: str, limit: int, end_line: int) -> tuple[list[str], int, int]:
    """The first ``limit`` lines, how many were left out, and the number of the first (a span may begin at a decorator).

    Only ``\\n`` ends a line, as in editors.
    """
    rows = text.removesuffix("\n").replace("\r\n", "\n").split("\n") if text else []
    return rows[:limit], max(0, len(rows) - limit), max(1, end_line - len(rows) + 1)
