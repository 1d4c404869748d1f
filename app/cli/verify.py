"""``mog verify``: how much of what is pinned, and of what beliefs are anchored to, is still as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mog.app import present
from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.options import COMMON, Common

if TYPE_CHECKING:
    from mog.app.present_beliefs import Anchors
    from mog.engine.model import VerifyReport
    from mog.engine.workspace import Workspace


def verify(
    *,
    fix: Annotated[bool, Parameter(negative="", show_default=False, help="Re-anchor notes whose code moved.")] = False,
    strict: Annotated[
        bool, Parameter(negative="", show_default=False, help="Exit 4 when anything drifted or is missing.")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Compare every pinned note and every anchored belief with the disk: fresh, drifted, moved or missing."""
    with door.opened(common) as workspace:
        report = workspace.verify(fix=fix)
        anchors = _anchors(workspace)
        _show(workspace, report, anchors, common)
    off = report.drifted + report.missing + (anchors.off if anchors else 0)
    return exit_codes.STALE if strict and off else exit_codes.OK


def _anchors(workspace: Workspace) -> Anchors | None:
    """Anchors of beliefs as the disk is now, None where nothing is anchored. Nothing is recorded by looking."""
    if not workspace.ledger_path.exists() or not workspace.beliefs.mesh.anchors():
        return None
    from mog.app.present_beliefs import Anchors

    return Anchors(workspace.beliefs.bridge.look())


def _show(workspace: Workspace, report: VerifyReport, anchors: Anchors | None, common: Common) -> None:
    if anchors is None:
        if common.json:
            output.document({**present.as_json(report), "beliefs": None})
        else:
            output.record(report, common)
        return
    from mog.app import plain_beliefs, present_beliefs

    names = beliefs.Named(workspace.beliefs)
    if common.json:
        output.document({**present.as_json(report), "beliefs": present_beliefs.as_json(anchors, names)})
    else:
        beliefs.folded(plain_beliefs.as_lines(anchors, output.glyphs(), names), common)
        output.record(report, common)
