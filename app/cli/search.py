"""``mog search``: find by words, parts of names, paths."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.options import COMMON, Common, Limit
from mog.engine.errors import UsageError


def search(
    *words: Annotated[str, Parameter(help="What to look for: words, a name or a part of one, a path.")],
    kind: Annotated[
        str, Parameter(show_default=False, help="Only nodes of this kind: function, class, method, file, …")
    ] = "",
    limit: Limit = 20,
    common: Common = COMMON,
) -> int:
    """Find symbols, files and text. Exits 1 when nothing is found."""
    query = " ".join(words).strip()
    if not query:
        raise UsageError("a search needs a word", way_out="mog search WORDS")
    with door.opened(common) as workspace:
        names.node_kind(workspace, kind)
        answer = workspace.search(query, limit=limit, kind=kind)
    output.record(answer, common)
    return exit_codes.OK if answer.hits else exit_codes.NOTHING
