"""Bodies of the tools that answer with packs: search and expand; what they show is counted in the conversation's working set.

Who calls: ``desk``, on a thread; ``tools_context`` for handles. What may not come in: ranking, choosing what is evicted.

A pack is bounded by its budget as one text. An answer holds its text twice, so that it may have fewer items than the pack; only what
is shown counts as served, and the next page begins after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mog.app.mcp import answers
from mog.app.mcp.answers import Answer, Row
from mog.app.mcp.table import BY_NAME, cap_of
from mog.app.present import Block, meant
from mog.engine.errors import MogError, NotFound, PolicyDenied
from mog.engine.memory.set_stubs import RECALL
from mog.engine.retrieval.estimator import tokens
from mog.engine.retrieval.handles import is_handle
from mog.engine.retrieval.pack import printed

if TYPE_CHECKING:
    from mog.app.mcp.desk import Ask
    from mog.engine.retrieval.model import Item, Pack

STUBS = 8
LEAST = 512  # tokens of a pack, however full the working set is
FOR_HEAD = 500  # tokens of a pack's answer beside its rows and notes


def search_context(ask: Ask) -> Answer:
    """A question, a budget, the smallest sufficient context."""
    from mog.engine.retrieval.model import Zoom

    ask.desk.need_index()
    zoom = None if ask.given["zoom"] == "auto" else Zoom[ask.given["zoom"]]
    kinds, budget = ask.given.get("kinds", ()), _budget(ask)
    made = ask.workspace.context.search(ask.given["query"], budget=budget, zoom=zoom, kinds=kinds, progress=ask.going_on)
    return packed(ask, made)


def expand(ask: Ask) -> Answer:
    """One thing at a zoom; what was evicted from the working set comes back byte for byte."""
    from mog.app.mcp.tools_core import notes_answer
    from mog.engine.retrieval.model import Zoom

    target = ask.given["target"]
    if target.startswith("ws_"):
        return _evicted(ask, target)
    if target.startswith("note:"):
        return notes_answer("note", (ask.workspace.memory.recall(target),), 1, 0, "")
    ask.desk.need_index()
    zoom, budget = Zoom[ask.given["zoom"]], _budget(ask)
    made = meant(lambda name: ask.workspace.context.expand(name, zoom=zoom, budget=budget), target)
    return packed(ask, made)


def packed(ask: Ask, made: Pack) -> Answer:
    """A pack as an answer; what it shows is counted in the working set of the conversation, and nothing else."""
    left, warned = _news(ask)
    notes = [*made.warnings, *made.boundary.notes, *warned]
    if made.needed:
        notes.append(f"the next one needs {made.needed} tokens")
    room = cap_of(BY_NAME["search_context"], ask.given) - FOR_HEAD - 2 * tokens("".join([*notes, *left]))
    rows = [_item(item) for item in made.items]
    fitting = answers.fitting(rows, room)
    shown = made.items[:fitting]
    if not _writes_nothing(ask):
        ask.desk.account.shown(session_of(ask), shown)
    page = made.page if fitting == len(rows) else _page_at(ask, made, shown)
    path = [item.id for item in shown]
    head = _head(made) | ({"evicted": left} if left else {})
    return Answer([_said(made, fitting)], head, left, rows[:fitting], len(rows), notes=notes, path=path, page=page)


def _head(made: Pack) -> dict[str, Any]:
    omitted = {why: count for why, count in made.omitted.items() if count}
    return {
        "found": made.found, "tokens": made.tokens, "budget": made.budget, "omitted": omitted, "estimator": made.estimator,
    }  # fmt: skip


def _said(made: Pack, shown: int) -> str:
    left = ", ".join(f"{count} {why}" for why, count in made.omitted.items() if count)
    return f"{shown} of {made.found} found, {made.tokens} of {made.budget} tokens" + (f"; left out: {left}" if left else "")


def _page_at(ask: Ask, made: Pack, shown: Sequence[Item]) -> str:
    """Where the next page begins when fewer were shown than were packed; it may repeat something and loses nothing."""
    asked = ask.given.get("query", ask.given.get("handle", ""))
    name, _, skipped = asked.partition("#")
    with contextlib.suppress(MogError):  # what may not be kept on disk has one page
        if asked and not is_handle(asked):
            name, skipped = ask.workspace.context.handles.create(asked).name, ""
        at = int(skipped) if skipped.isdecimal() and len(skipped) < 9 else 0
        return f"{name}#{at + sum(item.node is not None for item in shown)}" if asked else ""
    return ""


def _item(item: Item, ref: str = "") -> Row:
    data: dict[str, Any] = {"id": item.id, "kind": item.kind, "zoom": item.zoom.name, "label": item.label}
    data |= {"freshness": item.freshness.value, "tokens": item.tokens, "text": Block(item.text)}
    if ref:
        data["ref"] = ref
    if item.path:
        data["via"] = f"{item.path[-1].kind} {item.path[-1].node.locator} ({item.path[-1].tier.name})"
    if item.provenance:
        data["from"] = item.provenance
    if item.warnings:
        data["warnings"] = list(item.warnings)
    return Row(Block(printed(item).rstrip("\n")), data)


def _budget(ask: Ask) -> int:
    """Tokens a pack may cost: what was asked for, as far as the conversation's working set has room for it."""
    wanted = int(ask.given["budget"])
    return wanted if _writes_nothing(ask) else max(min(wanted, LEAST), ask.desk.account.room(session_of(ask), wanted))


def _writes_nothing(ask: Ask) -> bool:
    return ask.client.options.read_only or ask.desk.options.read_only


def session_of(ask: Ask) -> str:
    """Name of the conversation, as the working set knows it."""
    return ask.client.session or ask.client.name or "mcp"


def _news(ask: Ask) -> tuple[list[str], list[str]]:
    """What left the set since the last answer, a line for each by which it comes back; and what the set has to say."""
    stubs, warnings = ask.desk.account.news(session_of(ask))
    lines = [stub.line.replace(RECALL, "expand") for stub in stubs[:STUBS]]
    more = len(stubs) - STUBS
    return lines, [*warnings, *([f"{more} more were evicted; `mog ws stubs` lists them"] if more > 0 else [])]


def _evicted(ask: Ask, ref: str) -> Answer:
    """What was served under a ref, in this conversation or another one, as it was; held again."""
    if _writes_nothing(ask):
        raise PolicyDenied("this server keeps no working set", where=ref, way_out="ask for it anew")
    sets, account = ask.workspace.working_sets, ask.desk.account
    account.settle(session_of(ask))
    try:
        found = sets.session(session_of(ask)).recall(ref)
    except NotFound:
        found = sets.session(sets.owner(ref)).recall(ref)
    account.heard(found.turned)
    changed = [f"since then: {found.now.changed}"] if found.now.changed else []
    row, data = _item(found.item, found.entry.ref), {"tokens": found.item.tokens, "omitted": {}}
    if not answers.fitting([row], BY_NAME["expand"].cap - FOR_HEAD):
        changed.append(f"too large for one answer: `mog ws recall {found.entry.ref}` prints it whole")
    left, warned = _news(ask)
    data |= {"evicted": left} if left else {}
    notes = [*changed, *warned]
    return Answer(["as it was served, byte for byte"], data, left, [row], 1, notes=notes, path=[ref])
