"""The table of verbs: name, module to load, one sentence. Loading one verb loads no other.

Who calls: ``run.py`` and ``completion.py``. What may not come in: imports of verb modules.
"""

from __future__ import annotations

from typing import NamedTuple

from cyclopts import App

from mog.app.cli.options import COMMON, Common


class Verb(NamedTuple):
    """One command: its name, ``module:function`` and a sentence for ``--help``."""

    name: str
    target: str
    help: str


VERBS = (
    Verb("init", "mog.app.cli.init:init", "Write mog.yaml, .mogignore and .mog/ for this repository."),
    Verb("index", "mog.app.cli.index:index", "Read what changed and publish a new generation of the index."),
    Verb("status", "mog.app.cli.status:status", "Say what is indexed, what is not and why, and how old it is."),
    Verb("verify", "mog.app.cli.verify:verify", "Compare every pinned note with the disk."),
    Verb("map", "mog.app.cli.map:map_", "Show the files that the rest leans on, with their main symbols."),
    Verb("search", "mog.app.cli.search:search", "Find symbols, files and text."),
    Verb("expand", "mog.app.cli.expand:expand", "Show one symbol or file at a zoom, within a budget."),
    Verb(
        "context",
        "mog.app.cli.context:context",
        "Give prompts, agents and planners the graph: catalog, pack, scope, snapshots, …",
    ),
    Verb("show", "mog.app.cli.show:show", "Show one symbol or file: source, links in and out, pins."),
    Verb("impact", "mog.app.cli.impact:impact", "Show what may deserve a look when a symbol changes."),
    Verb("contracts", "mog.app.cli.contracts:contracts", "List routes, pages, models, jobs, commands and the code behind them."),
    Verb("neighbors", "mog.app.cli.neighbors:neighbors", "List the links of a node by type, direction and tier."),
    Verb("pin", "mog.app.cli.pin:pin", "Anchor a note to a symbol or file."),
    Verb("unpin", "mog.app.cli.pin:unpin", "Withdraw a pinned note."),
    Verb("pins", "mog.app.cli.pin:pins", "List pinned notes and their freshness."),
    Verb("remember", "mog.app.cli.memory:remember", "Keep a decision, failure, constraint, convention, task, fact, …"),
    Verb("recall", "mog.app.cli.memory:recall", "Find what was remembered, and what became of the code it is about."),
    Verb("forget", "mog.app.cli.memory:forget", "Take back what was remembered, with a reason."),
    Verb("promote", "mog.app.cli.memory:promote", "Make yours what an agent said."),
    Verb("ws", "mog.app.cli.ws:ws", "Show what an agent session was served, and bring back what was evicted."),
    Verb("ingest", "mog.app.cli.ingest:ingest", "Read prose into sources, claims and entities."),
    Verb("ask", "mog.app.cli.ask:ask", "Answer a question with the path that leads to the answer."),
    Verb("why", "mog.app.cli.explain:why", "Show what is believed about a piece of code or a record, and why."),
    Verb("explain", "mog.app.cli.explain:explain", "Show why one record stands or has fallen."),
    Verb("lineage", "mog.app.cli.explain:lineage", "Show what a record replaced and what replaced it."),
    Verb("assume", "mog.app.cli.believe:assume", "Take something as true."),
    Verb("claim", "mog.app.cli.believe:claim", "State something, with its source and grounds."),
    Verb("decide", "mog.app.cli.believe:decide", "Record a decision, its reason and what it rests on."),
    Verb("evidence", "mog.app.cli.believe:evidence", "Record an observation."),
    Verb("invalidate", "mog.app.cli.invalidate:invalidate", "Show what would fall if something were not so."),
    Verb("drill", "mog.app.cli.drill:drill", "Predict what falls with an assumption, on a copy, and see what does."),
    Verb("supersede", "mog.app.cli.retire:supersede", "Replace a record, and say what becomes of what rests on it."),
    Verb("retract", "mog.app.cli.retire:retract", "Take back a record that should not have been made."),
    Verb("withdraw", "mog.app.cli.retire:withdraw", "Take back evidence or a retraction."),
    Verb("recheck", "mog.app.cli.recheck:recheck", "Judge what drifted under beliefs."),
    Verb("plan", "mog.app.cli.plan:plan", "Check, show and run the plans that this repository declares."),
    Verb("repair", "mog.app.cli.repair:repair", "Give a task of a plan other ground, so that it runs again."),
    Verb("resume", "mog.app.cli.resume:resume", "Run what is pending or stale in the plans, and nothing else."),
    Verb("session", "mog.app.cli.session:session", "Save, load and exchange everything known and being done."),
    Verb("allow", "mog.app.cli.allow:allow", "List commands of this repository that wait for your word, or give it."),
    Verb("health", "mog.app.cli.health:health", "Show what is believed in numbers, and what deserves a look."),
    Verb("ledger", "mog.app.cli.ledger:ledger", "List, show, prove, verify and undo events."),
    Verb("demo", "mog.app.cli.demo:demo", "Play a story of beliefs in a folder of its own."),
    Verb("eval", "mog.app.cli.eval:eval_", "Measure mog beside baselines on tasks of your choice."),
    Verb("export", "mog.app.cli.export:export", "Write edges as JSON Lines, or one page with everything."),
    Verb("doctor", "mog.app.cli.doctor:doctor", "Check the store, the tools and the configuration."),
    Verb("grammars", "mog.app.cli.grammars:grammars", "List the languages and where their grammars come from."),
    Verb("tui", "mog.app.cli.tui:tui", "Open the workbench, here or in a browser, or print one of its panes."),
    Verb("serve", "mog.app.cli.serve:serve", "Serve agents over the Model Context Protocol, planners over HTTP."),
    Verb("traffic", "mog.app.cli.traffic:traffic", "Show what agents asked, and what it cost them."),
    Verb("mcp", "mog.app.cli.mcp:mcp", "Enter mog in the configuration of agent clients, or take it away."),
    Verb("hook", "mog.app.cli.hook:hook", "Install the git hook, and tell agent sessions what changed."),
    Verb("completion", "mog.app.cli.completion:completion", "Print a completion script for a shell."),
)

HELP = """A terminal workbench beside your coding session: one graph of code and of what is believed about it.

Without a command: index if needed and open the workbench; without a terminal, print a report.
`mog --version` prints the version. Exit codes: docs/exit-codes.md."""


def build(*, helping: bool = False) -> App:
    """The command line as a cyclopts app that returns exit codes and raises its errors.

    ``helping`` loads the plain help writer, which the other runs need not pay for.
    """
    app = App(
        name="mog",
        help=HELP,
        help_formatter="plain" if helping else None,
        help_flags=["--help", "-h"],
        version_flags=[],
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for verb in VERBS:
        app.command(verb.target, name=verb.name, help=verb.help)
    app.default(home)
    return app


def home(*, common: Common = COMMON) -> int:
    """Index if needed and open the workbench; without a terminal, print a report."""
    from mog.app.cli.home import home as run_home

    return run_home(common)
