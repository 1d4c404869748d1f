"""``mog export``: edges for scripts, one page for people, a SCIP index for other tools."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from mog.app import plain, present
from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError
from mog.engine.model import ScipExport

PAGE = "mog.html"
INDEX = "mog.scip"


def export(
    what: Annotated[
        Literal["edges", "html", "scip"],
        Parameter(help="edges: JSON Lines. html: one page with everything. scip: an index for other tools."),
    ] = "edges",
    /,
    *,
    kind: Annotated[str, Parameter(help="Edge type.")] = "calls",
    jsonl: Annotated[
        bool, Parameter(negative="", show_default=False, help="One JSON object a line (the default form).")
    ] = False,
    out: Annotated[
        Path | None, Parameter(show_default=False, help=f"File to write (default: {PAGE} or {INDEX} in this folder).")
    ] = None,
    common: Common = COMMON,
) -> int:
    """Write edges as JSON Lines (caller and callee as path:line, name as written, tier), a page of everything, or a SCIP index."""
    if what == "html":
        return _page(out or Path(PAGE), common)
    if what == "scip":
        return _scip(out or Path(INDEX), common)
    if out is not None:
        raise UsageError("edges go to standard output", where="--out", way_out="mog export edges > FILE")
    with door.opened(common) as workspace:
        names.edge_types(workspace, [kind])
        rows = workspace.export_edges(kind)
        if common.json and not jsonl:
            output.document({"kind": kind, what: list(rows)})
        else:
            output.json_lines(rows)
    return exit_codes.OK


def _page(path: Path, common: Common) -> int:
    """One file that asks for nothing else. Written whole or not at all, readable by its owner alone."""
    from mog.app.page import facts, file, render

    with door.opened(common) as workspace:
        found = facts.gather(workspace, datetime.now(UTC).isoformat(timespec="seconds"))
    body = render.page(found).encode("utf-8", "backslashreplace")
    file.write(path, body)
    if common.json:
        output.document({"path": str(path), "bytes": len(body), "generation": found.status.index.generation})
    elif not common.quiet:
        output.lines([((str(path), "name"), (f"  {len(body):,} bytes", "muted"))], common)
    return exit_codes.OK


def _scip(path: Path, common: Common) -> int:
    """Our graph as a SCIP index. Written whole or not at all; an index that another tool wrote is never replaced."""
    from mog.app.page import file
    from mog.engine.code.scip.export import MARK

    made = ScipExport()
    with door.opened(common) as workspace:
        file.write(path, workspace.export_scip(made), MARK, "SCIP index")
    if common.json:
        output.document({"path": str(path), "bytes": path.stat().st_size, **present.as_json(made)})
    elif not common.quiet:
        output.lines([((str(path), "name"), (f"  {path.stat().st_size:,} bytes", "muted")), *plain.as_lines(made)], common)
    return exit_codes.OK
