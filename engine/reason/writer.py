"""The writer of one commit: words people use, turned into operations. Made by ``Mesh.writing``, used by every room that writes.

What may not come in: the ledger, labels, files, clocks. Each call is applied at once to the tables of the mesh, so the
next one sees it; the mesh records all of them in one commit, or takes all of them back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mog.engine import ids
from mog.engine.errors import NotFound, UsageError
from mog.engine.model import Anchor, Node
from mog.engine.reason import ops
from mog.engine.reason.ops import Op
from mog.engine.reason.records import WORK, GraphEdge, GraphNode, Provenance, anchor_json, node_json, thaw
from mog.engine.values import canonical, plain

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh

_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_GROUND = b"mog.ground.1"
_JUDGEMENT = b"mog.judge.1"
_ANCHOR = b"mog.anchor.1"
_PAYLOAD = b"mog.payload.1"


@dataclass(frozen=True, slots=True)
class Dependant:
    """A node that rests on another: by an edge (``edge``) or by a recorded ground (``ground``)."""

    node: str
    edge: GraphEdge | None = None
    ground: str = ""


@dataclass
class Writer:
    """Writes of one commit. Every method raises OntologyError, NotFound or UsageError as ``ops.apply`` does."""

    mesh: Mesh
    ops: list[Op] = field(default_factory=list)

    # -- records

    def source(
        self, label: str, *, origin: str, retrieved_at: str | None = None, kind: str = "document",
        attrs: Mapping[str, Any] | None = None, id: str = "",
    ) -> str:  # fmt: skip
        """A document, run, commit or artefact; ``retrieved_at`` is YYYY-MM-DD, or None when nobody knows."""
        if retrieved_at is not None and not _DATE.fullmatch(retrieved_at):
            raise UsageError(f"{retrieved_at!r} is not a date", where=label[:60], way_out="write YYYY-MM-DD, or leave it out")
        carried = {"origin": origin, "retrieved_at": retrieved_at}
        return self.node("source", label, kind=kind, id=id, attrs={**carried, **(attrs or {})})

    def claim(
        self, label: str, *, source: str, span: tuple[int, int] | None = None, extractor: str = "rule",
        kind: str = "statement", attrs: Mapping[str, Any] | None = None, id: str = "", grounded: bool = True,
    ) -> str:  # fmt: skip
        """A statement of a source. The same words from another source are another ground of the same claim.

        ``grounded``: that the source says it is a reason to believe it; else it only says where the words come from.
        """
        lifted = Provenance(source, span, extractor)
        claim = self.node("claim", label, kind=kind, id=id, attrs=attrs, provenance=lifted)
        self._said_again(claim)
        if not grounded:
            return claim
        first = self.mesh.tables.nodes[claim].provenance == lifted  # then the span stands there already
        self.edge("derived_from", claim, source, attrs=None if first or span is None else {"span": list(span)})
        return claim

    def entity(
        self, name: str, *, aliases: Iterable[str] = (), kind: str = "thing", attrs: Mapping[str, Any] | None = None, id: str = ""
    ) -> str:
        """A thing by its name; further aliases are added to those it has."""
        id = id or self._derive("entity", kind, name)
        old = self.mesh.tables.nodes.get(id)
        known = old.attrs.get("aliases", ()) if old else ()
        every = sorted({*known, *aliases} - {name})
        return self.node("entity", name, kind=kind, id=id, attrs={"canonical": name, "aliases": every, **(attrs or {})})

    def evidence(
        self, text: str, *, kind: str = "observation", source: str = "", key: str = "",
        attrs: Mapping[str, Any] | None = None, id: str = "",
    ) -> str:  # fmt: skip
        """An observation. ``key`` names it in the system it came from: the same key again must say the same thing."""
        more = {**(attrs or {}), **({"key": key} if key else {}), **({"source": source} if source else {})}
        if source and ops.existing(self.mesh.tables, source).type != "source":
            raise UsageError("evidence names a source that is none", where=source, way_out="name a source")
        if key:
            id = id or ids.node_uid(self.mesh.repo, "evidence", "", "key", key).hex()
            old = self.mesh.tables.nodes.get(id)
            if old is not None and (old.kind, old.label, old.attrs) != (kind, text, self._frozen(more)):
                raise UsageError(f"the key {key!r} already names other evidence", where=id, way_out="use a key of its own")
        return self.node("evidence", text, kind=kind, id=id, attrs=more)

    def assume(
        self, statement: str, *, kind: str = "ground", about: str = "", attrs: Mapping[str, Any] | None = None
    ) -> str:
        """Something taken as true. One that stands is found again; one that was rejected or retired stands anew as a version."""
        versions = self.versions(statement, kind)
        last = versions[-1] if versions else ""
        if last and self.mesh.stands(last):
            return last
        id = self._derive("assumption", kind, statement, len(versions))
        more = {"status": "active", "version": len(versions) + 1, **(attrs or {})}
        self.node("assumption", statement, kind=kind, id=id, attrs=more)
        if last:
            self.edge("supersedes", id, last)
        return id

    def versions(self, statement: str, kind: str = "ground") -> tuple[str, ...]:
        """Ids of the versions of an assumption, oldest first."""
        found: list[str] = []
        while (id := self._derive("assumption", kind, statement, len(found))) in self.mesh.tables.nodes:
            found.append(id)
        return tuple(found)

    def decide(
        self, title: str, rationale: str, *, source: str, key: str = "", claims: Collection[str] = (),
        assumptions: Collection[str] = (), decisions: Collection[str] = (), cites: Collection[str] = (),
        produces: Collection[str] = (), supersedes: Collection[str] = (), attrs: Mapping[str, Any] | None = None,
    ) -> str:  # fmt: skip
        """A choice that was made, with what it rests on. With a ``key`` the same decision again is found, another refused."""
        if isinstance(supersedes, str):
            supersedes = (supersedes,) if supersedes else ()
        rests = {"claims": claims, "assumptions": assumptions, "decisions": decisions, "cites": cites, "produces": produces}
        payload: dict[str, Any] = {name: sorted(set(found)) for name, found in rests.items()}
        payload |= {"title": title, "rationale": rationale, "source": source, "supersedes": sorted(set(supersedes))}
        more = {**(attrs or {}), "rationale": rationale}
        id = ""
        if key:
            id = ids.node_uid(self.mesh.repo, "decision", "decision", "key", key).hex()
            more |= {"key": key, "payload": ids.digest(_PAYLOAD, canonical(payload)).hex()}
            old = self.mesh.tables.nodes.get(id)
            if old is not None:
                if old.attrs.get("payload") != more["payload"]:
                    raise UsageError(f"the key {key!r} already names another decision", where=id, way_out="use a key of its own")
                return id
        id = self.node("decision", title, id=id, attrs=more, provenance=Provenance(source))
        self._rest(id, source, claims, [*assumptions, *decisions], cites, produces)
        for old_id in sorted(set(supersedes)):
            self.edge("supersedes", id, old_id)
        return id

    def _rest(
        self, id: str, source: str, claims: Iterable[str], grounds: Iterable[str], cites: Iterable[str], produces: Iterable[str]
    ) -> None:
        self.edge("cites", id, source)
        for claim in sorted(set(claims)):
            self.edge("supports", claim, id)
            self.edge("derived_from", id, claim)
        for ground in sorted(set(grounds)):
            self.edge("depends_on", id, ground)
        for cited in sorted(set(cites)):
            self.edge("cites", id, cited)
        for made in sorted(set(produces)):
            self.edge("produces", id, made)

    def node(
        self, type: str, label: str, *, kind: str = "", id: str = "", attrs: Mapping[str, Any] | None = None,
        provenance: Provenance | None = None,
    ) -> str:  # fmt: skip
        """A node of any type of GRAPH.md, or the one there is, its attributes merged in; its id."""
        kind = kind or self.mesh.ontology.node(type).default_kind
        id = id or self._derive(type, kind, label)
        new = GraphNode(id, type, kind, label, attrs or {}, provenance)
        old = self.mesh.tables.nodes.get(id)
        if old is None or old.type == ops.EVENT_TYPE or (old.type, old.kind, old.label) != (type, kind, label):
            self._do(["node", *node_json(new)[:-1]])
        else:
            self.attrs(id, new.attrs)
        return id

    def attrs(self, id: str, new: Mapping[str, Any]) -> None:
        """Set attributes of a node; those it has already are left. A decision is never changed."""
        node = ops.existing(self.mesh.tables, id)
        frozen = self._frozen(new)
        changed = {name: thaw(value) for name, value in frozen.items() if name not in node.attrs or node.attrs[name] != value}
        if changed:
            self._do(["attrs", id, changed, {name: thaw(node.attrs[name]) for name in changed if name in node.attrs}])

    # -- edges and grounds

    def edge(self, kind: str, src: str, dst: str, *, role: str = "", attrs: Mapping[str, Any] | None = None) -> str:
        """An edge of any type of GRAPH.md, or the one there is; its id."""
        self._do(["edge", kind, src, dst, role, plain(attrs, "attrs") if attrs else {}])
        self._grounded(self._concluded(kind, src, dst), True)
        return ids.edge_uid(kind, src, dst, role).hex()

    def drop_edge(self, kind: str, src: str, dst: str, role: str = "") -> None:
        """Take an edge away. A node that loses its last ground so has fallen."""
        id = ids.edge_uid(kind, src, dst, role).hex()
        edge = self.mesh.tables.edges.get(id)
        self._do(["unedge", kind, src, dst, role, thaw(edge.attrs) if edge else {}])
        self._grounded(self._concluded(kind, src, dst))

    def edge_attrs(self, edge_id: str, attrs: Mapping[str, Any]) -> None:
        """Set the attributes of an edge; what it is bound to stays."""
        edge = self._edge(edge_id)
        bound = {"assumption": edge.assumption} if edge.assumption else {}
        new = {**plain(attrs, "attrs"), **bound}
        if thaw(edge.attrs) != new:
            self._do(["edge_attrs", edge_id, new, thaw(edge.attrs)])

    def bind(self, edge_id: str, assumption: str) -> None:
        """Bind an edge to an assumption that stands: the edge dies with it. An edge is bound once."""
        edge = self._edge(edge_id)
        if not self.mesh.stands(assumption):
            raise UsageError("the assumption does not stand", where=assumption, way_out="bind to one that stands")
        if edge.assumption not in ("", assumption):
            raise UsageError("the edge is bound already", where=edge_id, way_out="an edge is bound to one assumption")
        if not edge.assumption:
            self._do(["edge_attrs", edge_id, {**thaw(edge.attrs), "assumption": assumption}, thaw(edge.attrs)])

    def _edge(self, edge_id: str) -> GraphEdge:
        edge = self.mesh.tables.edges.get(edge_id)
        if edge is None:
            raise NotFound(f"no edge {edge_id!r}", way_out="name an edge that stands")
        return edge

    def ground(
        self, conclusion: str, all_of: Collection[str], none_of: Collection[str] = (), *, note: str = "", origin: str = "person"
    ) -> str:
        """One more reason for ``conclusion``: all of these stand, none of those does; its id."""
        all_of, none_of = sorted(set(all_of)), sorted(set(none_of))
        gid = ids.digest(_GROUND, conclusion, origin, len(all_of), *all_of, *none_of).hex()
        if gid not in self.mesh.tables.rows["ground"]:
            self._do(["ground", gid, conclusion, all_of, none_of, origin, note])
            self._grounded(conclusion, True)
        return gid

    def drop_ground(self, gid: str) -> None:
        """Take a recorded ground away. A node that loses its last ground so has fallen."""
        g = self.mesh.tables.rows["ground"].get(gid)
        if g is None:
            raise NotFound(f"no ground {gid!r}", way_out="see `mog explain`; those of edges go with their edge")
        self._do(["unground", gid, g.conclusion, list(g.all_of), list(g.none_of), g.origin, g.note])
        self._grounded(g.conclusion)

    def dependants(self, id: str) -> tuple[Dependant, ...]:
        """What rests on a node directly, by edges and by recorded grounds, in order of ids."""
        tables, ontology = self.mesh.tables, self.mesh.ontology
        into = (Dependant(e.src, e) for e in tables.into.get(id, ()) if ontology.edge(e.kind).invalidation == "backward")
        out = (Dependant(e.dst, e) for e in tables.out.get(id, ()) if ontology.edge(e.kind).invalidation == "forward")
        named = (Dependant(g.conclusion, None, g.id) for g in tables.rows["ground"].values() if id in g.all_of)
        return tuple(sorted((*into, *out, *named), key=lambda d: (d.node, d.ground, d.edge.id if d.edge else "")))

    # -- what becomes of a record

    def supersede(self, old: str, new: str, *, move: Collection[str] = (), reason: str = "", by: str = "") -> tuple[str, ...]:
        """Replace ``old`` by ``new``. Dependants in ``move`` rest on ``new`` from now on; the others keep dead ground and fall.

        Returns the ids of those that were not moved.
        """
        tables = self.mesh.tables
        self.edge("supersedes", new, old)
        left = []
        for dependant in self.dependants(old):
            if dependant.node == new:
                continue
            if dependant.node in move:
                self._move(dependant, old, new)
            else:
                left.append(dependant.node)
        if tables.rows["retired"].get(old) is None:
            self.retire(old, "superseded", reason=reason, by=by or new)
        return tuple(dict.fromkeys(left))

    def _move(self, dependant: Dependant, old: str, new: str) -> None:
        edge = dependant.edge
        if edge is not None:
            src, dst = (new if edge.src == old else edge.src), (new if edge.dst == old else edge.dst)
            self.edge(edge.kind, src, dst, role=edge.role, attrs=thaw(edge.attrs))
            self.drop_edge(edge.kind, edge.src, edge.dst, edge.role)
            return
        g = self.mesh.tables.rows["ground"][dependant.ground]
        self.ground(g.conclusion, [new if p == old else p for p in g.all_of], g.none_of, note=g.note, origin=g.origin)
        self.drop_ground(g.id)

    def judge(self, evidence: str, target: str, verdict: str, *, auditor: str, reason: str = "") -> str:
        """What an auditor found: the evidence ``contradicts`` its target, or is ``dismissed``; the id of the judgement."""
        tables = self.mesh.tables
        types = (ops.existing(tables, evidence).type, ops.existing(tables, target).type)
        if self.mesh.ontology.legal("contradicts", *types):
            self.edge("contradicts", evidence, target)
        turn = sum(j.evidence == evidence for j in tables.judged.get(target, {}).values())
        id = ids.digest(_JUDGEMENT, evidence, target, auditor, turn).hex()
        for old in [j for j in tables.judged.get(target, {}).values() if j.evidence == evidence and j.auditor == auditor]:
            if (old.verdict, old.reason) == (verdict, reason):
                return old.id
            self.unjudge(old.id)
        self._do(["judge", id, evidence, target, verdict, auditor, reason])
        return id

    def unjudge(self, id: str) -> None:
        """Take a judgement back: labels return to what they would have been without it."""
        j = self.mesh.tables.rows["judgement"].get(id)
        if j is None:
            raise NotFound(f"no judgement {id!r}", way_out="see `mog explain`")
        self._do(["unjudge", id, j.evidence, j.target, j.verdict, j.auditor, j.reason])

    def retire(self, id: str, how: str, *, reason: str = "", by: str = "") -> None:
        """Say that a node no longer counts: superseded, retracted, withdrawn; or, still counting, pruned."""
        old = self.mesh.tables.rows["retired"].get(id)
        if old is not None and old.how == "pruned" and how != "pruned":
            self.restore(id)
        self._do(["retire", id, how, reason, by])

    def restore(self, id: str) -> None:
        """Take a retirement back."""
        r = self.mesh.tables.rows["retired"].get(id)
        if r is None:
            raise UsageError("it is not retired", where=id, way_out="nothing to restore")
        self._do(["restore", id, r.how, r.reason, r.by])

    def mark(self, id: str, mark: str = "failed", on: bool = True) -> None:
        """Mark a node whose work failed, or take the mark away."""
        has = mark in self.mesh.tables.rows["mark"].get(id, ())
        if has != on:
            self._do(["mark", id, mark if on else "", "" if on else mark])

    # -- side records

    def anchor(self, node: str, anchor: Anchor) -> str:
        """Bind a node to code as it is now; the id of the anchor. The same anchor again is the one there is."""
        id = ids.digest(_ANCHOR, node, anchor.locator, anchor.span_hash).hex()
        if id not in self.mesh.tables.rows["anchor"]:
            self._do(["anchor", id, node, anchor_json(anchor)])
        return id

    def about(self, node: str, anchor: Anchor, code: Node | None = None) -> str:
        """Anchor a node, with an ``about`` edge to the index's node of that code where it is known; the id of the anchor."""
        if code is not None:
            if code.id not in self.mesh.tables.nodes:
                self._do(["node", *node_json(ops.code_node(self.mesh.ontology, code, anchor))[:-1]])
            self.edge("about", node, code.id)
        return self.anchor(node, anchor)

    def unanchor(self, id: str) -> None:
        """Take an anchor away."""
        a = self.mesh.tables.rows["anchor"].get(id)
        if a is None:
            raise NotFound(f"no anchor {id!r}", way_out="it was taken away already")
        self._do(["unanchor", id, a.node, anchor_json(a.anchor)])

    def alias(self, normal: str, entity: str) -> None:
        """Learn that a name (in the resolver's normal form) means an entity; "" forgets it."""
        old = self.mesh.tables.rows["alias"].get(normal, "")
        if old != entity:
            self._do(["alias", normal, entity, old])

    def split(self, normal: str, entity: str, on: bool = True) -> None:
        """Say that a name (in the resolver's normal form) does not mean an entity, or take that back."""
        if (f"{entity} {normal}" in self.mesh.tables.rows["split"]) != on:
            self._do(["split", normal, entity, on])

    def record(self, table: str, key: str, value: Any) -> None:
        """Set a record of the executor (``task``, ``trace``, ``run``): plain JSON, or None to take it away."""
        old = self.mesh.tables.rows[table].get(key) if table in WORK else None
        new = None if value is None else plain(value, table)
        if thaw(old) != new:
            self._do(["record", table, key, new, thaw(old)])

    # -- inside

    def _do(self, op: Op) -> None:
        self.mesh.do(self, op)

    def _concluded(self, kind: str, src: str, dst: str) -> str:
        return {"backward": src, "forward": dst}.get(self.mesh.ontology.edge(kind).invalidation, "")

    def _grounded(self, node: str, has: bool = False) -> None:
        """A node that lost its last ground stands on nothing; one that never had any is given (GRAPH.md rule 2)."""
        if node:
            has = has or ops.has_ground(self.mesh.tables, self.mesh.ontology, node)
            self.mark(node, "ungrounded", not has)

    def _said_again(self, id: str) -> None:
        """What was only withdrawn or pruned counts again when a source says it; what a person retracted does not."""
        retired = self.mesh.tables.rows["retired"].get(id)
        if retired is not None and retired.how in ("withdrawn", "pruned"):
            self.restore(id)

    def _derive(self, type: str, kind: str, label: str, ordinal: int | None = None) -> str:
        if ordinal is not None:
            return ids.node_uid(self.mesh.repo, type, kind, "", ops.text(label), ordinal).hex()
        return ops.derive_id(self.mesh.tables, self.mesh.ontology, self.mesh.repo, type, kind, label)

    @staticmethod
    def _frozen(attrs: Mapping[str, Any]) -> Mapping[str, Any]:
        return ops.frozen_attrs(attrs)
