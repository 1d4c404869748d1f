"""Options that several verbs share, declared once: names, help, limits.

Who calls: every verb. What may not come in: defaults of one verb, reading the environment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Common:
    """What every verb takes.

    Attributes:
        repo: folder to start from; the workspace is the nearest repository at or above it.
        json: one JSON document on stdout instead of text.
        quiet: no narration on stderr and no confirmation on stdout.
        no_color: no colour, also without NO_COLOR.
    """

    repo: Annotated[Path | None, Parameter(name="--repo", help="Folder to start from (default: this one).")] = None
    json: Annotated[
        bool, Parameter(name="--json", negative="", show_default=False, help="One JSON document on stdout.")
    ] = False
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", show_default=False, help="No narration.")] = (
        False
    )
    no_color: Annotated[bool, Parameter(name="--no-color", negative="", show_default=False, help="No colour.")] = False


COMMON = Common()
FLAGS = {"--repo": 1, "--json": 0, "--quiet": 0, "-q": 0, "--no-color": 0}

Limit = Annotated[
    int,
    Parameter(name=["--limit", "-n"], validator=validators.Number(gte=1, lte=1_000_000), help="Rows to show at most."),
]

After = Annotated[
    int, Parameter(validator=validators.Number(gte=0), help="Leave out this many rows (or events) first.")
]
Target = Annotated[str, Parameter(help="id, beginning of an id, or the words of a record.")]
Reason = Annotated[str, Parameter(name=["--reason", "-r"], help="Why, in your words.")]
About = Annotated[
    tuple[str, ...],
    Parameter(negative="", show_default=False, help="Code it is about: name, path, path::name; may be repeated."),
]


def verb_first(arguments: list[str]) -> list[str]:
    """``--json status`` as ``status --json``: shared options may stand before the verb."""
    at = 0
    while at < len(arguments) and arguments[at].partition("=")[0] in FLAGS:
        name, attached, _ = arguments[at].partition("=")
        at += 1 if attached else 1 + FLAGS[name]
    if at == 0 or at >= len(arguments):
        return arguments
    return [arguments[at], *arguments[:at], *arguments[at + 1 :]]
