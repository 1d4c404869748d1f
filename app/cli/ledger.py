"""``mog ledger``: the events themselves: list, show, prove, verify, checkpoint, undo, and the stand-alone verifier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter, validators

from mog.app.cli import beliefs, diagnostics, door, exit_codes, output
from mog.app.cli.options import COMMON, After, Common, Limit, Reason
from mog.engine.errors import NotFound, UsageError

if TYPE_CHECKING:
    from mog.engine.ledgers.events import EventLog

HELP = "List, show, prove, verify and undo the events that everything believed is made of."
ledger = App(name="ledger", help=HELP, result_action="return_value")
Seq = Annotated[int, Parameter(validator=validators.Number(gte=1), help="Number of the event.")]


@ledger.default
def listed(*, after: After = 0, limit: Limit = 50, common: Common = COMMON) -> int:
    """List events, oldest first."""
    from mog.app import plain_ledger, present_ledger

    with door.opened(common) as workspace:
        log = workspace.beliefs.log
        head = log.head()
        events = list(log.events(after, limit)) if after < head.seq else []
    left = max(0, head.seq - (events[-1].seq if events else min(after, head.seq)))
    items = [present_ledger.row(event) for event in events]
    document = {"items": items, "head": present_ledger.head(head), "omitted": min(after, head.seq) + left}
    beliefs.document(document, plain_ledger.rows(events, head, left, output.glyphs()), common)
    return exit_codes.OK if events else exit_codes.NOTHING


ledger.command(listed, name="list")


@ledger.command
def show(seq: Seq, /, *, common: Common = COMMON) -> int:
    """Show one event in full, as it was recorded."""
    from mog.app import plain_ledger, present_ledger

    with door.opened(common) as workspace:
        log = workspace.beliefs.log
        _known(log, seq)
        event = next(log.events(seq - 1, 1))
    beliefs.document(present_ledger.event(event), plain_ledger.event(event), common)
    return exit_codes.OK


@ledger.command
def prove(
    seq: Annotated[int, Parameter(show_default=False, help="Number of the event.")] = 0,
    /,
    *,
    since: Annotated[
        int, Parameter(show_default=False, help="Prove instead that the first so many events are unchanged.")
    ] = 0,
    common: Common = COMMON,
) -> int:
    """Print the proof that an event is in the ledger, as the JSON document that the verifier reads."""
    if (seq > 0) == (since > 0):
        raise UsageError("what is to be proved?", way_out="mog ledger prove SEQ, or mog ledger prove --since SIZE")
    with door.opened(common) as workspace:
        log = workspace.beliefs.log
        proof = log.prove(seq) if seq else log.consistency(since)
    output.proof(proof)
    return exit_codes.OK


@ledger.command
def verify(*, common: Common = COMMON) -> int:
    """Check every event, the records made from them, checkpoint and witness. Exits 9 when something does not hold."""
    from mog.app import plain_ledger, present_ledger
    from mog.engine import attest
    from mog.engine.reason.mesh import folder

    with door.opened(common) as workspace:
        ontology = workspace.ontology
        report = attest.report(workspace.beliefs.log, lambda: folder(ontology))
    beliefs.document(present_ledger.report(report), plain_ledger.report(report, output.glyphs()), common)
    return exit_codes.OK if report.ok else exit_codes.DAMAGED


@ledger.command
def checkpoint(*, common: Common = COMMON) -> int:
    """Sign the state of the ledger, and remember it outside of this folder, so that a rewritten past is noticed."""
    from mog.app import present_ledger
    from mog.engine import attest

    with door.opened(common) as workspace:
        made = attest.checkpoint(workspace.beliefs.log)
    if common.json:
        output.document(present_ledger.checkpoint(made))
    else:
        output.verbatim(made.note)
        diagnostics.note(f"signed with the key {made.key}", quiet=common.quiet)
    return exit_codes.OK


@ledger.command
def undo(seq: Seq, /, *, reason: Reason = "", common: Common = COMMON) -> int:
    """Take one event back by recording its inverse: labels return to what they were. Nothing is deleted."""
    if not reason.strip():
        raise UsageError("a reason is missing", where="--reason", way_out=f"mog ledger undo {seq} --reason TEXT")
    with door.opened(common) as workspace:
        _known(workspace.beliefs.log, seq)
        effect = workspace.beliefs.undo(seq, reason=reason)
        beliefs.recorded(workspace.beliefs, effect, common)
    return exit_codes.OK


@ledger.command
def salvage(to: Annotated[Path, Parameter(help="A new file.")], /, *, common: Common = COMMON) -> int:
    """Copy every event that is sound into a new file, when the old one is beyond repair in its place."""
    from mog.engine.reason.mesh import folder

    with door.opened(common) as workspace:
        head = workspace.beliefs.log.salvage(to, folder(workspace.ontology))
    beliefs.document({"events": head.seq, "digest": head.digest}, [((f"{head.seq} events copied", ""),)], common)
    return exit_codes.OK


def _known(log: EventLog, seq: int) -> None:
    count = log.head().seq
    if seq > count:
        raise NotFound(f"no event {seq}", way_out=f"the ledger has {count} events; `mog ledger` lists them")


@ledger.command
def verifier() -> int:
    """Print the stand-alone verifier: one Python file that checks proofs and checkpoints without mog."""
    from mog.engine.ledgers import verifier as script

    output.script(script.text())
    return exit_codes.OK
