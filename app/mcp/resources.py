"""Resources: the same answers as the mesh tools, by URI, and which of them a change concerns.

Who calls: ``server``. What may not come in: the protocol's package. Every address exists under ``mog://`` and, for clients of the
earlier package, under ``contextmesh://``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from mog.app.mcp import answers, tools_mesh
from mog.app.mcp.answers import Answer, Row, Sent
from mog.app.mcp.names import of_node, record, short
from mog.app.mcp.table import Tool
from mog.engine.errors import NotFound

if TYPE_CHECKING:
    from mog.app.mcp.desk import Ask, Client, Desk
    from mog.engine.model import Change

MIME = "application/json"
SCHEMES = ("mog", "contextmesh")
MOST_WATCHED = 256
HEALTH = "mog://health"
CAP = 4_000
LISTED_ASSUMPTIONS = 200
_URI = re.compile(r"(mog|contextmesh)://([a-z]+)(?:/([^/?#]+))?")


class Address(NamedTuple):
    """One resource or template: its URI, a name, what it is."""

    uri: str
    name: str
    help: str


_TOUCHED = {
    "index": ("session",), "watch": ("session",), "pins": ("session", "health"), "beliefs": ("session", "health", "assumptions"),
}  # fmt: skip
_WHOLE = (
    ("schema", "Node and edge types, their legal pairs, and where invalidation travels."),
    ("health", "What is thin or wrong in the records, counted."),
    ("session", "Which index and ledger answer, how far they are, what this server may do."),
    ("assumptions", "Every assumption with its standing."),
)
_ONE = (
    ("node", "One record with its edges."),
    ("assumption", "One assumption: standing, lineage, and its blast radius."),
)
_REST = {
    "health": "mesh_health", "assumptions": "mesh_find of type assumption", "node": "mesh_get_node", "assumption": "mesh_blast_radius",
}  # fmt: skip
LISTED = tuple(Address(f"{scheme}://{name}", f"{scheme}-{name}", help) for scheme in SCHEMES for name, help in _WHOLE)
TEMPLATES = tuple(
    Address(f"{scheme}://{name}/{{id}}", f"{scheme}-{name}-by-id", help) for scheme in SCHEMES for name, help in _ONE
)


def known(uri: str) -> bool:
    """Whether there can be something behind a URI."""
    match = _URI.fullmatch(uri)
    return match is not None and match[2] in _BODIES and bool(match[3]) == (match[2] in ("node", "assumption"))


def touched(change: Change) -> tuple[str, ...]:
    """Addresses that a change concerns; those by id follow ``health`` (``concerned``)."""
    found = _TOUCHED.get(change.kind, ())
    return tuple(f"{scheme}://{name}" for name in found for scheme in SCHEMES)


def concerned(uris: Collection[str], watched: Iterable[str]) -> set[str]:
    """Of what is watched, what a change at these addresses concerns."""
    by_id = HEALTH in uris
    return {uri for uri in watched if uri in uris or (by_id and uri.partition("://")[2].startswith(("node/", "assumption/")))}


async def read(desk: Desk, uri: str, client: Client) -> Sent:
    """What is behind a URI, as JSON text; a failure for what is not there."""
    match = _URI.fullmatch(uri)
    tool = tool_of(f"read {match[1]}://{match[2]}") if match is not None and known(uri) else None
    if match is None or tool is None:
        return answers.failure(NotFound(f"there is no resource {uri[:80]!r}", way_out="list them: resources/list"), {})
    id = unquote(match[3] or "")
    sent = await desk.call(tool, {"id": id} if id else {}, client)
    if sent.failed:
        return sent
    data = sent.data
    if data["next"]:  # an address has no pages; the tool with the same rows has
        data = {**data, "notes": [*data["notes"], f"the rest: {_REST.get(match[2], '')} with this page"]}
    return replace(sent, text=json.dumps(data, ensure_ascii=False), data=data)


def tool_of(name: str) -> Tool | None:
    """``read mog://health`` as the desk runs it; None for what is no resource."""
    match = _URI.fullmatch(name.removeprefix("read "))
    if match is None or match[3] or match[2] not in _BODIES:
        return None
    return Tool(name, "resource", "", f"resources:{match[2]}", {"id": {"type": "string"}}, cap=CAP)


def schema(ask: Ask) -> Answer:
    """The ontology that every write is held against."""
    ontology = ask.workspace.ontology
    rows = [
        Row("", {"type": name, "layer": row.layer, "kinds": list(row.kinds)})
        for name, row in ontology.node_types.items()
    ]
    rows += [
        Row(
            "",
            {
                "edge": name,
                "pairs": sorted(f"{a} -> {b}" for a, b in row.pairs)[:24],
                "invalidation": str(row.invalidation),
            },
        )
        for name, row in ontology.edge_types.items()
    ]
    return Answer([], {"digest": ontology.digest}, (), rows, len(rows))


def health(ask: Ask) -> Answer:
    """The signals."""
    return tools_mesh.health(ask)


def session(ask: Ask) -> Answer:
    """State of this server."""
    workspace = ask.workspace
    data: dict[str, Any] = {
        "root": workspace.root.name,
        "tools": list(ask.client.options.sets),
        "client": ask.client.name,
    }
    data |= {"writes": not ask.client.options.read_only, "controlled_writes": ask.client.options.allow_writes}
    data |= {"demo": ask.desk.options.demo, "checkpoint": ask.client.options.checkpoint, "owner": ask.desk.owns}
    if workspace.ledger_path.exists():
        head = workspace.beliefs.log.head()
        data |= {"ledger": {"events": head.seq, "digest": head.digest}}
    return Answer([], data, rows=(), total=0)


def assumptions(ask: Ask) -> Answer:
    """Every assumption, those that stand first, in the order of ``mesh_find``."""
    if not ask.workspace.ledger_path.exists():
        return Answer([], {}, rows=(), total=0)
    mesh = ask.workspace.beliefs.mesh
    with mesh.locked():
        found = [one for one in mesh.tables.nodes.values() if one.type == "assumption"]
        found.sort(key=lambda one: (not mesh.stands(one.id), -one.at, one.id))
        rows = [Row("", {**of_node(one, str(mesh.label(one.id)))}) for one in found[:LISTED_ASSUMPTIONS]]
    return Answer([], {}, (), rows, len(found))


def node(ask: Ask) -> Answer:
    """One record."""
    mesh = ask.workspace.beliefs.mesh
    return tools_mesh.node(mesh, mesh.find(ask.given["id"]))


def assumption(ask: Ask) -> Answer:
    """One assumption, its versions, and what would fall with it."""
    beliefs = ask.workspace.beliefs
    mesh, id = beliefs.mesh, beliefs.mesh.find(ask.given["id"])
    with mesh.locked():
        if mesh.graph.node(id).type != "assumption":
            raise NotFound(f"{short(id)} is no assumption", where="assumption", way_out="read it as node")
        made = tools_mesh.radius(mesh, beliefs.invalidate(id), id)
        versions = [record(mesh, one.node.id) for one in beliefs.lineage(id).versions[:16]]
        return Answer([], {**made.data, "lineage": versions}, (), list(made.rows), made.total)


_BODIES: Mapping[str, Callable[[Any], Answer]] = {
    "schema": schema, "health": health, "session": session, "assumptions": assumptions, "node": node, "assumption": assumption,
}  # fmt: skip
