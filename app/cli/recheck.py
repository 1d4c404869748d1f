"""``mog recheck``: what drifted under beliefs, who judged it, what fell, which work went stale, what waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common, Reason
from mog.engine.errors import NotFound, UsageError

if TYPE_CHECKING:
    from mog.app.present_beliefs import Checked, Names
    from mog.engine.beliefs import Beliefs
    from mog.engine.reason.bridge import Receipt, RecheckReport
    from mog.engine.work import Rechecked

VERDICTS = ("contradicts", "holds")


def recheck(
    *,
    judge: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="EVIDENCE=contradicts or EVIDENCE=holds: your own verdict."),
    ] = (),
    reason: Reason = "",
    strict: Annotated[
        bool,
        Parameter(
            negative="", show_default=False, help="Exit 6 when a command waits for a word, 4 on open questions and stale tasks."
        ),
    ] = False,
    common: Common = COMMON,
) -> int:
    """Compare what beliefs are anchored to with the disk, have auditors judge what drifted, and say which tasks went stale.

    Drift alone fells nothing, and no task runs.
    """
    verdicts = [_verdict(written) for written in judge]
    if verdicts and not reason.strip():
        raise UsageError("a verdict needs a reason", where="--reason", way_out="say why: --reason TEXT")
    from mog.app.present_beliefs import Checked

    with door.opened(common) as workspace:
        known = workspace.beliefs
        own = [receipt for evidence, verdict in verdicts for receipt in _judged(known, evidence, verdict, reason)]
        with ProgressBar(quiet=common.quiet) as bar:
            report = known.recheck(progress=bar)
            plans = workspace.work.recheck(progress=bar)
        _show(Checked(report, tuple(own)), plans, common, beliefs.Named(known))
    return _code(report, plans) if strict else exit_codes.OK


def _show(checked: Checked, plans: Sequence[Rechecked], common: Common, names: Names) -> None:
    from mog.app import plain_plan, present_plan
    from mog.app.present_beliefs import as_json

    if common.json:
        told = as_json(checked, names) | {"plans": [present_plan.rechecked(one) for one in plans]}
        output.document(told)
    else:
        beliefs.show(checked, common, names)
        beliefs.folded((line for one in plans for line in plain_plan.rechecked(one, output.glyphs())), common)


def _verdict(written: str) -> tuple[str, str]:
    evidence, _, verdict = written.rpartition("=")
    if not evidence or verdict not in VERDICTS:
        what = f"no verdict: {written!r:.80}"
        raise UsageError(what, where="--judge", way_out="write EVIDENCE=contradicts or EVIDENCE=holds")
    return evidence, verdict


def _judged(known: Beliefs, evidence: str, verdict: str, reason: str) -> Iterator[Receipt]:
    """The person's verdict on every belief that this evidence bears on and that is not judged yet."""
    found = beliefs.one(known, evidence)
    targets = [pending.target for pending in known.bridge.pending() if pending.evidence == found]
    if not targets:
        way_out = "`mog recheck` lists what is open"
        raise NotFound("nothing is open about that evidence", where=evidence, way_out=way_out)
    for target in targets:
        yield known.judge(found, target, verdict, reason)


def _code(report: RecheckReport, plans: Sequence[Rechecked]) -> int:
    if report.waiting or any(one.waiting for one in plans):
        return exit_codes.POLICY
    stale = any(one.problem or one.because or (one.report and (one.report.stale or one.report.failed)) for one in plans)
    return exit_codes.STALE if report.open or stale else exit_codes.OK
