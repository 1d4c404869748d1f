"""``mog show``: one node with its source, its links and what is pinned on it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter, validators

from mog.app import plain, present
from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.options import COMMON, Common, Limit
from mog.engine.errors import NotFound, PolicyDenied

Lines = Annotated[int, Parameter(validator=validators.Number(gte=0), help="Source lines to print; 0 prints none.")]
TIERS = ("certain", "hierarchy", "candidate", "unknown")


def show(
    target: Annotated[str, Parameter(help="id, locator, name, path, path::name or path:line.")],
    /,
    *,
    lines: Lines = 80,
    limit: Limit = 40,
    common: Common = COMMON,
) -> int:
    """Show one symbol or file: source, links in and out, pins."""
    with door.opened(common) as workspace:
        answer = names.aimed(workspace, lambda name: workspace.neighbors(name, tiers=TIERS, limit=limit), target)
        try:
            text = workspace.source(answer.node.id)[0] if lines and answer.node.path else ""
        except (PolicyDenied, NotFound):
            text = ""
    shown, hidden, first = _head(text, lines, answer.node.end_line)
    if common.json:
        document = present.as_json(answer)
        output.document({**document, "source": present.Block("\n".join(shown)), "source_lines_omitted": hidden})
        return exit_codes.OK
    rows = plain.as_lines(answer, output.glyphs())
    numbered = enumerate(shown, start=first)
    rows += [((f"{number:>6}  ", "muted"), (line.expandtabs(4), "")) for number, line in numbered]
    output.lines(rows + ([((f"        {hidden:,} more lines", "muted"),)] if hidden else []), common)
    return exit_codes.OK


def _head(text: str, limit: int, end_line: int) -> tuple[list[str], int, int]:
    """The first ``limit`` lines, how many were left out, and the number of the first (a span may begin at a decorator).

    Only ``\\n`` ends a line, as in editors.
    """
    rows = text.removesuffix("\n").replace("\r\n", "\n").split("\n") if text else []
    return rows[:limit], max(0, len(rows) - limit), max(1, end_line - len(rows) + 1)
