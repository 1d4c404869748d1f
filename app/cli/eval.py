"""``mog eval``: run a suite that measures mog beside baselines, list the suites, render saved results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter, validators

from mog.app.cli import exit_codes, output
from mog.app.cli.diagnostics import ProgressBar, note
from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError

if TYPE_CHECKING:
    from mog.engine.evals.suites import Options

HELP = "Measure mog beside baselines on tasks of your choice; nothing leaves the machine."
eval_ = App(name="eval", help=HELP, result_action="return_value")
Folder = Annotated[Path | None, Parameter(show_default=False, help="Folder of saved results (default: the user's cache).")]


@eval_.default
def listed(*, common: Common = COMMON) -> int:
    """List the suites."""
    from mog.app import plain_evals, present_evals
    from mog.engine.evals.suites import SUITES

    if common.json:
        output.document(present_evals.suites(SUITES))
    else:
        output.lines(plain_evals.suites(SUITES), common)
    return exit_codes.OK


@eval_.command
def run(
    suite: Annotated[str, Parameter(help="localization, tokens, impact, staleness, memory or outcome.")],
    /,
    *,
    repos: Annotated[Path | None, Parameter(show_default=False, help="Folder of clones, or the repository of the suite.")] = None,
    tasks: Annotated[Path | None, Parameter(show_default=False, help="File of tasks (JSON Lines, .gz or not).")] = None,
    cache: Annotated[Path | None, Parameter(show_default=False, help="Folder for what is costly to make again.")] = None,
    baseline: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Baseline to run: b0, b1, …; may be repeated (default: all; none)."),
    ] = (),
    limit: Annotated[
        int, Parameter(name=["--limit", "-n"], validator=validators.Number(gte=0), help="Tasks at most, spread evenly; 0: all.")
    ] = 0,
    seed: Annotated[int, Parameter(validator=validators.Number(gte=0), help="Seed of every random choice.")] = 5,
    jobs: Annotated[
        int, Parameter(name=["--jobs", "-j"], validator=validators.Number(gte=0, lte=64), help="Processes; 0: one a core.")
    ] = 0,
    rerank: Annotated[bool, Parameter(negative="--no-rerank", show_default=False, help="With the learned reranker.")] = True,
    set_: Annotated[
        tuple[str, ...], Parameter(name="--set", negative="", show_default=False, help="NAME=VALUE: a setting of this suite.")
    ] = (),
    out: Folder = None,
    common: Common = COMMON,
) -> int:
    """Run one suite, save its result and print it."""
    from mog.app import plain_evals, present_evals
    from mog.engine.evals import report, suites

    options = suites.Options(repos, tasks, cache, baseline, limit, seed, jobs, rerank, _settings(set_))
    with ProgressBar(quiet=common.quiet) as bar:
        result = suites.run(suite, options, bar)
    path = report.save(result, _results(out, options))
    note(f"saved as {path.name}; `mog eval report` renders what is saved", quiet=common.quiet)
    if common.json:
        output.document(present_evals.result(result))
    else:
        output.lines(plain_evals.result(result), common)
    return exit_codes.OK


@eval_.command(name="report")
def report_(
    suite: Annotated[str, Parameter(show_default=False, help="One suite (default: all that were run).")] = "",
    /,
    *,
    results: Folder = None,
    write: Annotated[
        Path | None, Parameter(show_default=False, help="Write one Markdown file a suite into this folder instead of printing.")
    ] = None,
    common: Common = COMMON,
) -> int:
    """Render saved results as Markdown."""
    from mog.app import plain_evals, present_evals
    from mog.engine.evals import report, suites

    if suite:
        suites.find(suite)
    folder = _results(results, suites.Options())
    found = [one for one in report.saved(folder) if suite in ("", one.suite)]
    if write is not None:
        for one in found:
            (write / f"{one.suite}.md").write_text(report.markdown(one), encoding="utf-8")
    elif common.json:
        output.document({"items": [present_evals.result(one) for one in found]})
    else:
        for one in found:
            output.lines(plain_evals.page(report.markdown(one)), common)
    return exit_codes.OK if found else exit_codes.NOTHING


def _settings(written: tuple[str, ...]) -> dict[str, str]:
    pairs = [one.partition("=") for one in written]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise UsageError(f"no setting: {name!r:.60}", where="--set", way_out="write --set NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _results(folder: Path | None, options: Options) -> Path:
    if folder is not None:
        return folder
    import platformdirs

    return (options.cache or Path(platformdirs.user_cache_dir("mog")) / "evals") / "results"
