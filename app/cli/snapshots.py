"""``mog context annotate|snapshot|versions|health|impact``: the graph as documents for planners."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Annotated

from cyclopts import App, Parameter, validators

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError

LARGEST = 2_000_000  # bytes that are read of a file: more than any of these documents may have

annotate = App(
    name="annotate",
    help="Have symbols described by a model of your choice: a file goes out and comes back.",
    result_action="return_value",
)
Out = Annotated[Path | None, Parameter(show_default=False, help="Write it to this file.")]
File = Annotated[str, Parameter(help="A file, or - for stdin.", allow_leading_hyphen=True)]


@annotate.command
def request(
    *targets: Annotated[
        str, Parameter(help="Names, locators, paths, or folders that end in a slash; none: what matters most.")
    ],
    out: Out = None,
    query: Annotated[
        str, Parameter(show_default=False, help="In place of targets: what a search for these words finds.")
    ] = "",
    limit: Annotated[
        int, Parameter(name=["--limit", "-n"], validator=validators.Number(gte=1, lte=40), help="Symbols at most.")
    ] = 40,
    again: Annotated[
        bool, Parameter(negative="", show_default=False, help="Symbols whose advice is fresh too.")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Write a bounded request: symbols and their relations, no body, nothing that is gated. No model is asked."""
    from json import dumps

    from mog.app import plain_snapshots, present_context
    from mog.engine.snapshots.parts import Part

    with door.opened(common) as workspace:
        asked = workspace.context_graph.annotation_request(targets, query=query, limit=limit, again=again)
    document = present_context.record(asked)
    if out is not None:
        part = Part(out)
        part.write((dumps(document, indent=2) + "\n").encode("ascii"))
        part.settle()
    if common.json or out is None:
        output.document(document)
    else:
        output.lines(plain_snapshots.request(asked, str(out)), common)
    return exit_codes.OK if asked.items else exit_codes.NOTHING


@annotate.command
def apply(
    file: File,
    /,
    *,
    by: Annotated[str, Parameter(show_default=False, help="Which model said it; default: what the file says.")] = "",
    common: Common = COMMON,
) -> int:
    """Record what came back as advice: checked, cut to size, tied to the code it was said of. Exits 1 when nothing was recorded."""
    from mog.app import plain_snapshots, present_context

    data = _read(file)
    with door.opened(common) as workspace:
        done = workspace.context_graph.apply_annotations(data, annotator=by)
    beliefs.document(present_context.record(done), plain_snapshots.applied(done), common)
    return exit_codes.OK if done.applied or done.unchanged else exit_codes.NOTHING


@annotate.command(name="list")
def list_(
    *targets: Annotated[str, Parameter(help="Symbols; none: all that were annotated.")],
    stale: Annotated[bool, Parameter(negative="", show_default=False, help="Only advice whose code changed.")] = False,
    common: Common = COMMON,
) -> int:
    """Show what was said of symbols, and whether their code is still the one it was said of. Exits 1 when nothing was."""
    from mog.app import plain_snapshots, present_context

    with door.opened(common) as workspace:
        places = [workspace.find(target).locator for target in targets]
        found = [one for one in workspace.context_graph.annotations(*places) if one.stale or not stale]
    rows = plain_snapshots.advised(found) or [(("nothing was annotated", "muted"),)]
    beliefs.document({"annotations": [present_context.record(one) for one in found]}, rows, common)
    return exit_codes.OK if found else exit_codes.NOTHING


def snapshot(
    *,
    out: Annotated[
        str,
        Parameter(
            show_default=False,
            allow_leading_hyphen=True,
            help="Write the whole document to this file, or - for stdout.",
        ),
    ] = "",
    index: Annotated[
        bool, Parameter(negative="--as-is", show_default=False, help="Bring the index up to the disk first.")
    ] = True,
    common: Common = COMMON,
) -> int:
    """Register the graph as it is: digests, counts, verdict; with --out every node and edge. Exits 1 when the verdict is `blocked`."""
    from mog.app import plain_snapshots, present_context

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        made = workspace.context_graph.snapshot(_target(out), index=index, progress=bar)
    if out != "-":
        beliefs.document(present_context.record(made), plain_snapshots.snapshot(made), common)
    return exit_codes.NOTHING if made.health.status == "blocked" else exit_codes.OK


def health(*, common: Common = COMMON) -> int:
    """Say whether a planner may rely on the index: `healthy`, `warning` or `blocked`, with reasons. Exits 1 when it is `blocked`."""
    from mog.app import plain_snapshots, present_context

    with door.opened(common) as workspace:
        report, stale = workspace.context_graph.health(), workspace.context_graph.stale(checks=True)
    document = {"health_report": present_context.record(report), "stale": present_context.record(stale)}
    beliefs.document(document, plain_snapshots.health(report, stale), common)
    return exit_codes.NOTHING if report.status == "blocked" else exit_codes.OK


def versions(
    before: Annotated[str, Parameter(help="A version to compare: commit, digest, or latest.")] = "",
    after: Annotated[str, Parameter(help="The other one.")] = "latest",
    /,
    *,
    common: Common = COMMON,
) -> int:
    """List recorded versions of the graph, or say what differs between two. Exits 1 when none is recorded."""
    from mog.app import plain_snapshots, present_context

    with door.opened(common) as workspace:
        if before:
            found = workspace.context_graph.compare(before, after)
            beliefs.document(present_context.record(found), plain_snapshots.difference(found), common)
            return exit_codes.OK
        known = workspace.context_graph.versions()
    document = {"versions": [present_context.record(one) for one in known]}
    beliefs.document(document, plain_snapshots.versions(known), common)
    return exit_codes.OK if known else exit_codes.NOTHING


def impact(
    *,
    query: Annotated[str, Parameter(allow_leading_hyphen=True, help="The query: a JSON file, or - for stdin.")],
    common: Common = COMMON,
) -> int:
    """Answer an impact query: what is reached along allowed edges, each with its evidence. Exits 4 for another snapshot's."""
    from mog.app import plain_snapshots, present_context

    data = _read(query)
    with door.opened(common) as workspace:
        report = workspace.context_graph.impact(data)
    beliefs.document(present_context.record(report), plain_snapshots.impact(report), common)
    return exit_codes.OK if report.total else exit_codes.NOTHING


def _read(name: str) -> bytes:
    """The beginning of a file or of stdin, one byte more than any document may have. Raises UsageError."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(LARGEST)
        with Path(name).open("rb") as file:
            return file.read(LARGEST)
    except OSError as error:
        raise UsageError(
            f"it cannot be read: {error.strerror or error}", where=name, way_out="name a file, or -"
        ) from error


def _target(out: str) -> Path | IO[bytes] | None:
    if out == "-":
        sys.stdout.flush()
        return sys.stdout.buffer
    return Path(out) if out else None
