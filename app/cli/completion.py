"""``mog completion``: a script that teaches a shell the verbs and options."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from mog.app.cli import exit_codes, output
from mog.app.cli.commands import build


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="Which shell.")], /) -> int:
    """Print a completion script, for example `eval "$(mog completion bash)"`."""
    output.script(build().generate_completion(prog_name="mog", shell=shell))
    return exit_codes.OK
