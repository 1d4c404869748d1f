"""Calls of agents as words and lines a person reads: the question first, then what was told, what it cost, what changed since.

Who calls: ``app/cli/traffic.py``, pane 9. What may not come in: escape sequences, questions to the workspace.
Words are cleaned by whoever shows them: a question is an agent's, and may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from mog.app.plain import Line, plural

if TYPE_CHECKING:
    from mog.engine.traffic import Call, Total

CUT = 400  # characters of one argument
ENDS = {
    "no_typed_edge": "no typed edge", "entity_unresolved": "no name it knows", "wrong_node_type": "wrong type",
    "pruned_too_early": "pruned too early",
}  # fmt: skip
"""Dead ends in words."""
_VERBS = {
    "search_context": "", "mesh_ask": "", "recall": "recall", "expand": "expand", "why": "why", "impact": "impact of",
    "verify": "verify", "remember": "remember", "pin": "pin", "unpin": "unpin", "mesh_find": "find", "mesh_get_node": "record",
    "mesh_blast_radius": "what falls with", "mesh_lineage": "lineage of", "mesh_explain_as_of": "", "mesh_health": "health",
    "mesh_reconstruct_decision": "what stood under", "get_context_graph_catalog": "catalog", "get_context_graph_scope": "scope of",
    "load_context": "load", "create_context": "keep", "mesh_submit_evidence": "evidence", "mesh_recheck": "recheck",
    "mesh_repair": "repair", "mesh_resume": "resume",
}  # fmt: skip
_SUBJECTS = (
    "query",
    "question",
    "text",
    "note",
    "target",
    "node_id",
    "assumption_id",
    "decision_id",
    "task",
    "handle",
    "id",
    "paths",
)


def question(call: Call) -> str:
    """What was asked, as a person would say it: the words themselves, or a verb and what it is about."""
    verb = _VERBS.get(call.tool, call.tool)
    subject = next((said(call.arguments[name]) for name in _SUBJECTS if call.arguments.get(name)), "")
    if call.tool == "impact" and not subject:
        subject = f"what git says is changed, by {said(call.arguments.get('changed', 'files'))}"
    if call.tool in ("remember", "pin", "mesh_submit_evidence"):
        subject = f"“{subject}”"
    if "withheld" in call.arguments:
        subject = "(withheld: shaped like a credential)"
    day = f" as of {said(call.arguments['as_of'])}" if call.arguments.get("as_of") else ""
    return f"{verb} {subject}".strip() + day or call.tool


def said(value: object) -> str:
    """A value of an argument as words, cut."""
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    text = ", ".join(map(str, value)) if listed else str(value)  # type: ignore[call-overload]
    return text if len(text) <= CUT else f"{text[: CUT - 1]}…"


def outcome(call: Call) -> str:
    """What came back, in our own words and numbers: how many, which dead end, which failure."""
    end = call.told.get("dead_end")
    if call.outcome != "ok":
        return f"{call.outcome}: {call.told['said']}" if call.told.get("said") else call.outcome
    if end:
        return f"dead end, {ENDS.get(str(end), str(end))}"
    return str(call.told.get("said") or plural(len(call.path), "thing") + " walked")


def states(call: Call) -> str:
    """``3 fresh, 1 unknown``: how what was shown stood at the time; "" where nobody said."""
    found = call.told.get("states")
    counts = found.items() if isinstance(found, Mapping) else ()
    return ", ".join(f"{count} {state}" for state, count in counts)


def since(call: Call, now: Mapping[str, str]) -> int:
    """How many of what was walked are no longer as they were. ``now``: marks of targets."""
    then = zip(call.path, call.marks, strict=False)
    return sum(1 for target, mark in then if mark and now.get(target) and now[target] != mark)


def clock(call: Call, form: str = "%H:%M") -> str:
    """The time of day where this program runs; the raw text of a record that has no time."""
    try:
        return datetime.fromisoformat(call.at).astimezone().strftime(form)
    except (ValueError, OverflowError):
        return call.at[11:16]


def age(seconds: float) -> str:
    """``now``, ``8 s``, ``5 min``, ``3 h``, ``2 d``."""
    for step, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (2, "s")):
        if seconds >= step:
            return f"{int(seconds // (step if unit != 's' else 1)):,} {unit}"
    return "now"


# -- lines of ``mog traffic``


def lines(found: tuple[Call, ...] | tuple[Total, ...], trouble: str) -> Iterator[Line]:
    """Calls or totals, one a line; how agents get to know mog where there is none."""
    from mog.engine.traffic import Call

    if trouble:
        yield (("! " + trouble, "attn"),)
    elif not found:
        yield (("no agent has asked anything yet: `mog mcp install` makes mog known to yours", "muted"),)
    for one in found:
        yield _call(one) if isinstance(one, Call) else _total(one)


def _call(one: Call) -> Line:
    state = ("", "muted") if one.outcome == "ok" else (f" {one.outcome}", "attn")
    cost = f"  {one.tokens:,} tokens {one.ms:,.0f} ms" + ("" if one.warm else ", first")
    who = (f"{one.at[11:19]} {one.client:<16} ", "muted")
    return who, (one.tool, "name"), state, (cost, ""), (f"  {question(one)}"[:200], "muted")


def _total(one: Total) -> Line:
    failed = f", {one.failed:,} failed" if one.failed else ""
    mean = f"  {one.tokens:,} tokens, {one.ms / max(1, one.calls):,.0f} ms each"
    return (f"{one.client:<16} ", "muted"), (one.tool, "name"), (f"  {one.calls:,} calls{failed}", ""), (mean, "muted")
