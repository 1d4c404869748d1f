"""``mog search``: find by words, names, paths or a question; a list, or a pack of text within a budget."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter, validators

from mog.app.cli import door, exit_codes, names, output, packs
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common, Limit
from mog.app.cli.packs import DEFAULT_BUDGET, Session, ZoomName
from mog.engine.errors import UsageError


def search(
    *words: Annotated[
        str, Parameter(help="What to look for: a question, words, a name or a part of one, a path, a handle.")
    ],
    kind: Annotated[
        str, Parameter(show_default=False, help="Only nodes of this kind: function, class, method, file, …")
    ] = "",
    limit: Limit = 20,
    budget: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=512, lte=100_000), help="Give text too, in at most so many tokens (4000)."
        ),
    ] = None,
    zoom: ZoomName = "auto",
    explain: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="With text: what each score is made of, and the path to it."),
    ] = False,
    rerank: Annotated[bool, Parameter(show_default=False, help="Let the learned reranker order the best 200.")] = True,
    ppr: Annotated[bool, Parameter(negative="", show_default=False, help="Spread by personalised PageRank.")] = False,
    session: Session = "",
    common: Common = COMMON,
) -> int:
    """Find symbols, files and text. Exits 1 when nothing is found."""
    query = " ".join(words).strip()
    if not query:
        raise UsageError("a search needs a word", way_out="mog search WORDS")
    level = packs.zoom_of(zoom)
    with_text = budget is not None or level is not None or explain or ppr or bool(session) or query.startswith("ctx://")
    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        names.node_kind(workspace, kind)
        kinds = (kind,) if kind else ()
        if not with_text:
            answer = workspace.context.ranked(query, limit=limit, kinds=kinds, rerank=rerank, progress=bar)
        else:
            made = workspace.context.search(
                query, budget=budget or DEFAULT_BUDGET, zoom=level, kinds=kinds, limit=limit, rerank=rerank,
                spread="ppr" if ppr else "hops", progress=bar,
            )  # fmt: skip
            turned = packs.served(workspace, made, session)
    if with_text:
        packs.show(made, common, explain=explain, turned=turned)
        return exit_codes.OK if made.items else exit_codes.NOTHING
    output.record(answer, common)
    return exit_codes.OK if answer.hits else exit_codes.NOTHING
