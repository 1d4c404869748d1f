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
    Verb("show", "mog.app.cli.show:show", "Show one symbol or file: source, links in and out, pins."),
    Verb("impact", "mog.app.cli.impact:impact", "Show what may deserve a look when a symbol changes."),
    Verb("neighbors", "mog.app.cli.neighbors:neighbors", "List the links of a node by type, direction and tier."),
    Verb("pin", "mog.app.cli.pin:pin", "Anchor a note to a symbol or file."),
    Verb("unpin", "mog.app.cli.pin:unpin", "Withdraw a pinned note."),
    Verb("pins", "mog.app.cli.pin:pins", "List pinned notes and their freshness."),
    Verb("export", "mog.app.cli.export:export", "Write edges as JSON Lines."),
    Verb("doctor", "mog.app.cli.doctor:doctor", "Check the store, the tools and the configuration."),
    Verb("grammars", "mog.app.cli.grammars:grammars", "List the languages and where their grammars come from."),
    Verb("tui", "mog.app.cli.tui:tui", "Open the workbench, or print one of its panes."),
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
