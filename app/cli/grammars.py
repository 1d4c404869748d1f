"""``mog grammars``: languages, and adding one (the only command that may download, and only when typed)."""

from __future__ import annotations

from cyclopts import App

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common

HELP = "List the languages and where their grammars come from."
grammars = App(name="grammars", help=HELP, result_action="return_value")


@grammars.default
def listed(*, common: Common = COMMON) -> int:
    """List the languages and where their grammars come from."""
    with door.opened(common) as workspace:
        infos = workspace.grammars()
    output.records("items", infos, common, "no grammar is known")
    return exit_codes.OK


grammars.command(listed, name="list")


@grammars.command
def add(language: str, /, *, common: Common = COMMON) -> int:
    """Make the grammar of one language available; may download it.

    Parameters
    ----------
    language
        Name of the language, as `mog grammars` lists it.
    """
    with door.opened(common) as workspace:
        info = workspace.add_grammar(language)
    output.confirm(info, common)
    return exit_codes.OK
