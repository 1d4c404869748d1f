"""The tools as data: name, set, what it is for, what it takes and gives, its cap. The one place that lists them.

Who calls: ``server`` lists them, ``desk`` runs their bodies, ``bridge`` asks which of them write. What may not come in: the bodies
(each is loaded when first called), the protocol's package. Every word here is paid for by every client in every conversation; a
test holds the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

Schema = Mapping[str, Any]
PER_BUDGET = 1_200  # tokens of an answer with a pack beside its texts, which stand in it twice
READ_SECONDS, WRITE_SECONDS, LONG_SECONDS = 30.0, 30.0, 600.0

#: Kinds of notes that a program may remember; the others need a person's hand.
REMEMBERED = ("decision", "failure", "task", "episode", "risk", "observation", "fact")
ZOOMS = ("auto", "L0", "L1", "L2", "L3")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name, set: as clients and ``--tools`` know it. help: what it is for, in as few words as will do.
        takes: argument → JSON schema, in order; needs: those that have to be there.
        gives: what its structure holds besides items, total, next, notes and index.
        cap: tokens of a whole result, text and structure together; ``None``: the budget of the call decides.
        writes: it records something. approved: only with an approval. again: the same call once more changes nothing.
        body: ``module:function`` below ``app/mcp``. seconds: after that it is answered without it.
    """

    name: str
    set: str
    help: str
    body: str
    takes: Schema = field(default_factory=dict)
    needs: Sequence[str] = ()
    gives: Schema = field(default_factory=dict)
    cap: int = 2_000
    writes: bool = False
    approved: bool = False
    again: bool = True
    destroys: bool = False
    seconds: float = READ_SECONDS

    @property
    def input_schema(self) -> dict[str, Any]:
        """Its arguments as JSON Schema."""
        return {
            "type": "object", "properties": {name: dict(schema) for name, schema in self.takes.items()},
            "required": list(self.needs), "additionalProperties": False,
        }  # fmt: skip

    @property
    def output_schema(self) -> dict[str, Any]:
        """Its structure as JSON Schema."""
        return {
            "type": "object", "properties": {**self.gives, "items": _LIST, "total": _COUNT, "next": _TEXT, "index": _OBJECT},
            "required": ["index"],  # a failure has no items, and some clients hold its structure against this too
        }  # fmt: skip


_TEXT, _COUNT, _OBJECT, _FLAG = {"type": "string"}, {"type": "integer"}, {"type": "object"}, {"type": "boolean"}
_LIST = {"type": "array", "items": {"type": "object"}}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_PAGE = {"type": "string", "description": "next of the last answer"}


def _said(text: str, schema: Schema = _TEXT, **more: Any) -> dict[str, Any]:
    return {**schema, **more, "description": text}


def _whole(least: int, most: int, default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


_CODE = _said("name, path, path::name, path:line or id")
_BELIEF = _said("id, its first 8+ digits, or exact words")

TOOLS = (
    Tool(
        "search_context", "core",
        "Find the code and notes that answer a question, packed into a token budget. Takes words, names, tracebacks, or a"
        " ctx:// handle. Start here.",
        "packs:search_context",
        {
            "query": _TEXT, "budget": _whole(64, 16_000, 2_000), "zoom": {"type": "string", "enum": list(ZOOMS), "default": "auto"},
            "kinds": _said("only these, e.g. function, class, file", _TEXTS),
        },
        ("query",), {"found": _COUNT, "tokens": _COUNT, "omitted": _OBJECT}, cap=38_000,
    ),
    Tool(
        "expand", "core",
        "Show one symbol, file or note at a zoom: L1 signature, L2 body with callers and callees, L3 whole file with blame.",
        "packs:expand",
        {
            "target": _said("code, note:id, or ws_ ref of something evicted"),
            "zoom": {"type": "string", "enum": list(ZOOMS[1:]), "default": "L2"}, "budget": _whole(64, 16_000, 2_000),
        },
        ("target",), {"tokens": _COUNT, "omitted": _OBJECT}, cap=38_000,
    ),
    Tool(
        "impact", "core",
        "What deserves a look when this changes: callers, heirs, importers, tests. Certain links; maybe adds weaker ones.",
        "core:impact",
        {
            "target": _CODE, "changed": _said("instead: what git says is changed now", {"type": "string", "enum": ["files", "lines"]}),
            "depth": _whole(1, 64, 8), "maybe": _FLAG, "tests": _said("only tests", _FLAG),
            "history": _said("also what changed in the same commits", _FLAG), "page": _PAGE,
        },
        (), {"files": _COUNT, "tests": _COUNT, "per_depth": {"type": "array"}, "unknown": _COUNT, "maybe": _COUNT},
    ),
    Tool(
        "why", "core", "What is believed about code or a record, whether it stands, and on what grounds.", "core:why",
        {"target": _said("code, or id or words of a record"), "page": _PAGE}, ("target",),
    ),
    Tool(
        "remember", "core",
        "Keep something for later sessions. Yours is stored as evidence or a proposal until a person promotes it.",
        "core:remember",
        {
            "kind": {"type": "string", "enum": list(REMEMBERED)}, "text": _TEXT, "about": _said("code it is about", _TEXTS),
            "because": _said("reason of a decision"), "key": _said("same key: recorded once"),
        },
        ("kind", "text"), {"id": _TEXT, "events": {"type": "array"}}, writes=True, again=False,
    ),
    Tool(
        "recall", "core", "Find notes of earlier sessions, with standing and what became of the code they are about.",
        "core:recall", {"query": _said("words, or note:id; empty lists the newest"), "page": _PAGE}, (), {"hidden": _COUNT},
    ),
    Tool(
        "pin", "core", "Anchor a note to code; verify says when that code changes.", "core:pin",
        {"target": _CODE, "note": _TEXT}, ("target", "note"), {"id": _TEXT}, cap=800, writes=True, again=False,
    ),
    Tool(
        "unpin", "core", "Take a pin away.", "core:unpin", {"id": _TEXT}, ("id",), {"id": _TEXT}, cap=800, writes=True,
        destroys=True, again=False,
    ),
    Tool(
        "verify", "core", "Compare pins and anchored beliefs with the disk: drifted, moved, missing.", "core:verify",
        {"page": _PAGE}, (), {"checked": _COUNT, "drifted": _COUNT, "missing": _COUNT},
    ),
    Tool(
        "mesh_ask", "mesh", "Answer a question from recorded claims and decisions, with the path walked or the dead end met.",
        "mesh:ask", {"question": _TEXT}, ("question",), {"resolved": _FLAG, "answer": _OBJECT, "dead_end": _TEXT}, cap=1_500,
    ),
    Tool(
        "mesh_get_node", "mesh", "One record: words, standing, attributes, edges.", "mesh:get_node",
        {"node_id": _BELIEF, "page": _PAGE}, ("node_id",), {"node": _OBJECT}, cap=1_500,
    ),
    Tool(
        "mesh_find", "mesh", "List or search records by words, type and standing; also task (plan work) and key (what may run).",
        "mesh:find",
        {
            "query": _TEXT,
            "type": {
                "type": "string",
                "enum": ["claim", "decision", "assumption", "evidence", "source", "entity", "task", "key"],
            },
            "standing": {"type": "string", "enum": ["standing", "weakened", "contested", "unverified", "fallen"]},
            "page": _PAGE,
        },
        (), cap=1_500,
    ),
    Tool("mesh_health", "mesh", "What is thin or wrong in the records, counted.", "mesh:health", {"page": _PAGE}, (),
         {"status": _TEXT}, cap=1_500),
    Tool(
        "mesh_lineage", "mesh", "What a record replaced and what replaced it.", "mesh:lineage",
        {"assumption_id": _BELIEF, "page": _PAGE}, ("assumption_id",), cap=1_500,
    ),
    Tool(
        "mesh_blast_radius", "mesh", "What would fall, weaken or survive if this were false. Changes nothing.",
        "mesh:blast_radius", {"assumption_id": _BELIEF, "page": _PAGE}, ("assumption_id",),
        {"falls": _COUNT, "weakens": _COUNT, "preserved": _COUNT}, cap=1_500,
    ),
    Tool(
        "mesh_explain_as_of", "mesh", "The answer as of a day, and what came later.", "mesh:explain_as_of",
        {"question": _TEXT, "as_of": _said("YYYY-MM-DD"), "page": _PAGE}, ("question", "as_of"), {"resolved": _FLAG}, cap=1_500,
    ),
    Tool(
        "mesh_reconstruct_decision", "mesh", "What a decision stood on when it was made, and what came later.",
        "mesh:reconstruct_decision",
        {"decision_id": _BELIEF, "as_of": _said("YYYY-MM-DD"), "depth": _whole(1, 16, 3), "page": _PAGE}, ("decision_id",),
        cap=1_500,
    ),
    Tool(
        "get_context_graph_catalog", "context", "Counts, main files and symbols, and which may answer a request.",
        "context:catalog", {"query": _TEXT, "page": _PAGE}, (), {"counts": _OBJECT}, cap=3_000,
    ),
    Tool(
        "get_context_graph_scope", "context", "Check proposed paths against the index; a missing one becomes a question.",
        "context:scope", {"paths": _TEXTS, "query": _TEXT}, ("paths",), {"scope": _OBJECT}, cap=3_000,
    ),
    Tool(
        "load_context", "context", "What a ctx:// handle means now.", "context:load",
        {"handle": _TEXT, "budget": _whole(64, 16_000, 2_000)}, ("handle",), {"found": _COUNT, "tokens": _COUNT}, cap=38_000,
    ),
    Tool(
        "create_context", "context", "Keep a query and places under a handle, so that another agent starts warm.",
        "context:create", {"query": _TEXT, "pinned": _said("code to keep in it", _TEXTS)}, (), {"handle": _TEXT}, cap=800,
        writes=True,
    ),
    Tool(
        "mesh_submit_evidence", "write", "Record an observation from a known source. It carries no verdict; an auditor judges.",
        "write:submit_evidence",
        {
            "text": _TEXT, "source_id": _BELIEF, "external_id": _said("same id: recorded once"), "metadata": _OBJECT,
        },
        ("text", "source_id"), {"id": _TEXT, "events": {"type": "array"}}, cap=1_000, writes=True, approved=True, again=False,
    ),
    Tool(
        "mesh_recheck", "write", "Have auditors that may run judge what changed; says what fell and what waits.",
        "write:recheck", {"page": _PAGE}, (), {"waiting": _COUNT}, writes=True, approved=True, destroys=True, again=False,
        seconds=LONG_SECONDS,
    ),
    Tool(
        "mesh_repair", "write", "Put other ground or registered code under a task, so that resume runs it again.",
        "write:repair",
        {
            "task": _said("task or plan/task"), "worker_key": _TEXT, "assumes": _TEXT, "auditor_key": _TEXT, "produces": _TEXTS,
            "rationale": _TEXT,
        },
        ("task", "assumes"), {"task": _OBJECT, "events": {"type": "array"}}, cap=1_000, writes=True, approved=True, again=False,
    ),
    Tool(
        "mesh_resume", "write", "Run what is pending or stale in the plans, and nothing else.", "write:resume", {"page": _PAGE}, (),
        {"complete": _FLAG}, writes=True, approved=True, again=False, seconds=LONG_SECONDS,
    ),
)  # fmt: skip
BY_NAME: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in TOOLS})
WRITES = frozenset(tool.name for tool in TOOLS if tool.writes)


def cap_of(tool: Tool, given: Mapping[str, Any]) -> int:
    """The cap of one call: of a pack it follows from the budget asked for, and what was evicted comes back whole."""
    whole = str(given.get("target", "")).startswith("ws_")
    return tool.cap if whole or "budget" not in given else min(tool.cap, 9 * int(given["budget"]) // 4 + PER_BUDGET)


def of_sets(sets: Sequence[str], *, read_only: bool = False) -> tuple[Tool, ...]:
    """The tools of some sets, in order; of a server that may not write those that only read."""
    return tuple(tool for tool in TOOLS if tool.set in sets and not (read_only and tool.writes))
