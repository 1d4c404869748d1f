"""Bodies of the mesh tools that only read: ask, look up, find, health, lineage, blast radius, the past.

Who calls: ``desk``, on a thread; ``resources`` for the same answers by URI. What may not come in: writes, rules of standing, caps.
Rows are made as they are taken, so that an answer costs what it shows and not what there is; counts are of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from mog.app.mcp.answers import Answer, Row, brief, offset, paged
from mog.app.mcp.names import count, of_node, record, short, spoken, standing
from mog.app.present import meant
from mog.engine.reason.records import thaw

if TYPE_CHECKING:
    from mog.app.mcp.desk import Ask
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.radius import Radius
    from mog.engine.reason.records import GraphNode
    from mog.engine.reason.temporal import Placed
    from mog.engine.reason.walks import Step, Walk

HOPS_SHOWN = 10
TASK_STATES = ("pending", "stale", "done", "failed")


def _empty(ask: Ask) -> bool:
    """Whether nothing was ever recorded here, so that no file need be made to say so."""
    return not ask.workspace.ledger_path.exists()


NOTHING = "nothing is recorded here yet; `mog ingest`, remember or `mog assume` begin it"


# -- asking


def ask(ask: Ask) -> Answer:
    """A question answered from the records, or the dead end."""
    if _empty(ask):
        return Answer(
            [f"no answer: {NOTHING}"], {"resolved": False, "answer": {}, "dead_end": "entity_unresolved"}, total=0
        )
    beliefs, question = ask.workspace.beliefs, ask.given["question"]
    if ask.client.options.checkpoint == "every-ask" and not ask.desk.options.read_only:
        walk = beliefs.ask(question)
    else:
        walk = beliefs.walker.ask(question)
        beliefs.telemetry.record(walk)
    return walked(beliefs.mesh, walk)


def walked(mesh: Mesh, walk: Walk) -> Answer:
    """A walk: the answer with its standing, then the path that led to it and the tail that justifies it."""
    from mog.engine.reason.dead_ends import REMEDIES

    rows = [_step(mesh, step, "path") for step in walk.path] + [_step(mesh, step, "tail") for step in walk.tail]
    data: dict[str, Any] = {"resolved": walk.resolved, "dead_end": str(walk.dead_end or ""), "hops": walk.hops}
    data |= {"answer": record(mesh, walk.answer_id, words=400) if walk.answer_id else {}, "expanded": walk.expanded}
    data |= {"tokens": {"walked": walk.tokens_walked, "read": walk.tokens_read, "read_from": walk.read_from}}
    limits, notes = [note.text for note in walk.notes], []  # limits quote records
    if limits:
        data["limits"] = limits
    if walk.resolved:
        data |= {"score": round(walk.score, 3), "evidence": [short(id) for id in walk.evidence[:8]]}
        data |= {"evidence_total": len(walk.evidence)} if len(walk.evidence) > 8 else {}
        if walk.against:
            data["contradicted_by"] = [short(id) for id in walk.against[:8]]
            notes.append(f"contested: {len(walk.against)} standing records contradict it")
        said = [f"answered in {walk.hops} hops, score {walk.score:.2f}"]
        told = [f"answer: {spoken(data['answer'])}"]
    else:
        said = [f"no answer: {walk.dead_end}"]
        told = [walk.detail]
        notes.append(REMEDIES[walk.dead_end] if walk.dead_end else "")
        data["detail"] = walk.detail
    path = [step.node for step in (*walk.path, *walk.tail)]
    return Answer(said, data, [*told, *limits], rows, len(rows), notes=[note for note in notes if note], path=path)


def _step(mesh: Mesh, step: Step, part: str) -> Row:
    row: dict[str, Any] = {"id": short(step.node), "type": step.type, "standing": standing(mesh, step.node)}
    row |= {"text": brief(step.label), "part": part}
    arrow = f"<-{step.kind}- " if step.reverse else f"-{step.kind}-> " if step.kind else ""
    if step.kind:
        row |= {"edge": step.kind, "against": step.reverse}
    return Row(f"{part}: {arrow}{spoken(row)}", row)


# -- records


def get_node(ask: Ask) -> Answer:
    """One record with its edges."""
    mesh = ask.workspace.beliefs.mesh
    return node(mesh, meant(mesh.find, ask.given["node_id"]), ask.given.get("page", ""))


def node(mesh: Mesh, id: str, page: str = "") -> Answer:
    """A record: words, attributes, provenance, and its edges with the other ends."""
    with mesh.locked():
        found = mesh.graph.node(id)
        edges = [*mesh.graph.out_edges(id), *mesh.graph.in_edges(id)]
        first, left = paged(edges, page)
        head = of_node(found, str(mesh.label(id)), words=1_000)
        told = spoken(head)
        head |= {"id": found.id, "event": found.at, "attrs": thaw(found.attrs), "marks": list(mesh.marks(id))}
        if found.provenance is not None:
            head["source"] = short(found.provenance.source_id)
        retired = mesh.retired(id)
        if retired is not None:
            head["retired"] = {"how": retired.how, "reason": brief(retired.reason), "by": retired.by}
        anchors = mesh.anchors(id)
        if anchors:
            head["at"] = [one.anchor.locator for one in anchors[:8]]
        rows = [_edge(mesh, id, edge) for edge in left[:200]]
    return Answer([count(len(edges), "edge")], {"node": head}, [told], rows, len(edges), first, path=[id])


def _edge(mesh: Mesh, id: str, edge: Any) -> Row:
    out = edge.src == id
    other = edge.dst if out else edge.src
    row = {"edge": edge.kind, "direction": "out" if out else "in", **record(mesh, other, words=80)}
    if edge.role:
        row["role"] = edge.role
    return Row(f"{'-' if out else '<-'}{edge.kind}{'->' if out else '-'} {spoken(row)}", row)


def find(ask: Ask) -> Answer:
    """Records by words, type and standing; tasks of plans; keys of the registry."""
    wanted, page = ask.given.get("type", ""), ask.given.get("page", "")
    words = [word for word in ask.given.get("query", "").casefold().split() if word]
    if wanted == "key":
        return _listed(list(_keys(ask, words)), page)
    if wanted == "task":
        return _listed(list(_tasks(ask, words)), page)
    if _empty(ask):
        return Answer([NOTHING], {}, rows=(), total=0)
    mesh, state = ask.workspace.beliefs.mesh, ask.given.get("standing", "")
    with mesh.locked():
        found = [one for one in mesh.tables.nodes.values() if (not wanted or one.type == wanted) and _has(one, words)]
        if state:
            found = [one for one in found if str(mesh.label(one.id)) == state]
        found.sort(key=lambda one: (not mesh.stands(one.id), -one.at, one.id))
        first, left = paged(found, page)
        rows = [_found(mesh, one) for one in left[:200]]
    counts: dict[str, int] = {}
    for one in found:
        counts[one.type] = counts.get(one.type, 0) + 1
    return Answer([count(len(found), "record")], {"counts": counts}, (), rows, len(found), first)


def _has(node: GraphNode, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = " ".join([node.label, *map(str, node.attrs.get("aliases", ()))]).casefold()
    return all(word in text or node.id.startswith(word) for word in words)


def _found(mesh: Mesh, node: GraphNode) -> Row:
    row = of_node(node, str(mesh.label(node.id)))
    return Row(spoken(row), row)


def _listed(rows: list[Row], page: str) -> Answer:
    first, left = paged(rows, page)
    return Answer([f"{len(rows)} found"], {}, (), left, len(rows), first)


def _keys(ask: Ask, words: Sequence[str]) -> Iterator[Row]:
    """Names that ``worker_key`` and ``auditor_key`` may be."""
    work = ask.workspace.work
    for kind, names in work._registry(work.files()).describe().items():
        for name in names:
            if all(word in name.casefold() for word in words):
                yield Row(f"{kind[:-1]} {name}", {"kind": kind[:-1], "key": name})


def _tasks(ask: Ask, words: Sequence[str]) -> Iterator[Row]:
    work = ask.workspace.work
    for plan in work.names():
        for one in work.show(plan, progress=ask.going_on).tasks:
            task = one.standing.task
            name = f"{plan}/{task.name}"
            if not all(word in name.casefold() for word in words):
                continue
            row: dict[str, Any] = {"task": name, "state": task.state.value, "would": one.planned.action}
            row |= {"assumes": [brief(text, 80) for text in task.assumes[:4]], "worker_key": task.worker_key}
            if one.waits:
                row["waits"] = [waiting.name for waiting in one.waits]
            if task.detail:
                row["detail"] = brief(task.detail)
            yield Row(
                f"{name} [{task.state.value}] {row['would']}; stands on {'; '.join(row['assumes']) or 'nothing'}", row
            )


def health(ask: Ask) -> Answer:
    """Signals that count something, worst first."""
    if _empty(ask):
        return Answer([NOTHING], {"status": "ok"}, rows=(), total=0)
    report = ask.workspace.beliefs.health()
    order = {"error": 0, "warn": 1, "info": 2}
    counted = sorted((one for one in report.signals if one.count), key=lambda one: (order[one.severity], one.kind))
    first, left = paged(counted, ask.given.get("page", ""))
    data = {
        "status": report.status,
        "nodes_live": report.nodes_live,
        "nodes": report.nodes_total,
        "edges_live": report.edges_live,
    }
    said = [f"{report.status}: {report.nodes_live} of {report.nodes_total} records stand, {report.edges_live} edges"]
    return Answer(said, data, (), (_signal(one) for one in left), len(counted), first)


def _signal(one: Any) -> Row:
    items = [short(item) if len(item) == 32 else brief(item, 60) for item in one.items[:6]]
    row = {
        "kind": one.kind,
        "severity": one.severity,
        "count": one.count,
        "detail": brief(one.detail, 200),
        "items": items,
    }
    row["remedy"] = brief(one.remedy, 160)
    return Row(f"{one.severity} {one.kind} {one.count}: {row['detail']} {row['remedy']}", row)


def lineage(ask: Ask) -> Answer:
    """Versions of a record, oldest first."""
    beliefs = ask.workspace.beliefs
    found = meant(beliefs.lineage, ask.given["assumption_id"])
    first, left = paged(found.versions, ask.given.get("page", ""))
    rows = (_version(beliefs.mesh, one) for one in left)
    return Answer(
        [count(len(found.versions), "version")],
        {"of": short(found.of)},
        (),
        rows,
        len(found.versions),
        first,
        path=[found.of],
    )


def _version(mesh: Mesh, one: Any) -> Row:
    row = {**of_node(one.node, str(one.label)), "depth": one.depth, "event": one.node.at}
    if one.supersedes:
        row["supersedes"] = [short(id) for id in one.supersedes[:8]]
    if one.retired is not None:
        row["retired"] = f"{one.retired.how}: {brief(one.retired.reason, 80)}"
    judged = [f"{j.verdict} by {j.auditor}: {brief(j.reason, 80)}" for j in one.judgements[:4]]
    if judged:
        row["judged"] = judged
    return Row("; ".join([spoken(row), *judged, *([row["retired"]] if "retired" in row else [])]), row)


# -- what if


def blast_radius(ask: Ask) -> Answer:
    """What would fall, weaken, and stand again: exact counts, then rows in order of hop."""
    beliefs = ask.workspace.beliefs
    target = meant(beliefs.find, ask.given["assumption_id"])
    first = offset(ask.given.get("page", ""))
    mesh = beliefs.mesh
    with mesh.locked():
        found = beliefs.invalidate(target)
        return radius(mesh, found, target, first)


def radius(mesh: Mesh, found: Radius, target: str, first: int = 0) -> Answer:
    """A radius, of a preview or of what happened. ``target`` is what it is about, "" for none."""
    falls, weakens, rises = len(found.falls), len(found.weakens), len(found.rises)
    hops = list(found.counts)
    data: dict[str, Any] = {"falls": falls, "weakens": weakens, "rises": rises, "preserved": found.preserved_count}
    data["per_hop"] = [count for _, count in hops[:HOPS_SHOWN]]
    if len(hops) > HOPS_SHOWN:
        data["beyond"] = {"hops": len(hops) - HOPS_SHOWN, "falls": sum(count for _, count in hops[HOPS_SHOWN:])}
    told = []
    if target:
        data["target"] = record(mesh, target, words=200)
        told = [f"if false: {spoken(data['target'])}"]
    said = [f"{falls} fall, {weakens} weaken and stand, {found.preserved_count} preserved; per hop {data['per_hop']}"]
    total = falls + weakens + rises
    return Answer(
        said,
        data,
        told,
        islice(_moves(mesh, found, first), 400),
        total,
        min(first, total),
        path=[target] if target else [],
    )


def _moves(mesh: Mesh, found: Radius, first: int) -> Iterator[Row]:
    falls, weakens, rises = found.falls, found.weakens, found.rises
    for at in range(first, len(falls)):
        yield _move(mesh, falls[at], "falls")
    for at in range(max(0, first - len(falls)), len(weakens)):
        yield _weakening(mesh, weakens[at])
    for at in range(max(0, first - len(falls) - len(weakens)), len(rises)):
        yield _move(mesh, rises[at], "stands again")


def _move(mesh: Mesh, move: Any, what: str) -> Row:
    one = record(mesh, move.id, words=80)
    by = record(mesh, move.parent, words=50) if move.parent else None
    row = {"what": what, "id": one["id"], "type": one["type"], "text": one["text"], "hop": move.hop}
    if by is not None and by["text"]:
        row["by"] = by["id"]
    because = f" <- {by['text']}" if by is not None and by["text"] else ""
    return Row(f"{what} hop {move.hop}: {one['type']} {one['id']} {one['text']}{because}", row)


def _weakening(mesh: Mesh, one: Any) -> Row:
    row = {"what": "weakens", **record(mesh, one.id, words=80)}
    row.pop("standing", None)
    row["because"] = _ground(mesh, one.id, one.because)
    return Row(f"weakens: {row['type']} {row['id']} {row['text']}; survives because {row['because']}", row)


def _ground(mesh: Mesh, conclusion: str, id: str) -> str:
    if not id:
        return "it needs no ground any more"
    found = next((ground for ground in mesh.grounds(conclusion) if ground.id == id), None)
    if found is None:
        return "of a ground that was taken away"
    return (
        " and ".join(record(mesh, one, words=50)["text"] for one in found.all_of[:4]) or "of a ground without premises"
    )


# -- the past


def explain_as_of(ask: Ask) -> Answer:
    """The answer as somebody could have had it on a day."""
    beliefs = ask.workspace.beliefs
    found = beliefs.as_of(ask.given["question"], ask.given["as_of"])
    walk, mesh = found.walk, beliefs.mesh
    parts = (
        ("then", found.then), ("decision", found.decision), ("later", found.later), ("undated", found.undated),
        ("not_yet_known", found.not_yet_known),
    )  # fmt: skip
    data: dict[str, Any] = {
        "resolved": walk.resolved,
        "as_of": found.as_of.isoformat(),
        "dead_end": str(walk.dead_end or ""),
    }
    data["answer"] = record(mesh, walk.answer_id, words=300) if walk.answer_id else {}
    data["counts"] = {name: len(placed) for name, placed in parts}
    told = [f"answer then: {spoken(data['answer'])}"] if walk.answer_id else [walk.detail]
    said = [
        f"as of {data['as_of']}: "
        + (f"answered in {walk.hops} hops" if walk.resolved else f"no answer, {walk.dead_end}")
    ]
    return _placed_answer(said, data, told, parts, ask.given.get("page", ""))


def reconstruct_decision(ask: Ask) -> Answer:
    """What a decision stood on, and what came afterwards."""
    beliefs = ask.workspace.beliefs
    date, depth = ask.given.get("as_of") or None, ask.given["depth"]
    found = meant(lambda target: beliefs.reconstruct(target, date, depth=depth), ask.given["decision_id"])
    parts = (("stood_on", found.stood_on), ("later", found.later), ("undated", found.undated))
    data: dict[str, Any] = {"decision": record(beliefs.mesh, found.decision.node, words=300)}
    data |= {"as_of": found.as_of.isoformat() if found.as_of else "", "counts": {name: len(one) for name, one in parts}}
    said = [", ".join(f"{len(one)} {name.replace('_', ' ')}" for name, one in parts)]
    return _placed_answer(said, data, [spoken(data["decision"])], parts, ask.given.get("page", ""))


def _placed_answer(
    said: list[str], data: dict[str, Any], told: list[str], parts: Iterable[tuple[str, Sequence[Placed]]], page: str
) -> Answer:
    every = [(name, one) for name, placed in parts for one in placed]
    first, left = paged(every, page)
    rows = (_placed(name, one) for name, one in left)
    return Answer(said, data, told, rows, len(every), first, path=[one.node for _, one in every[:16]])


def _placed(part: str, one: Placed) -> Row:
    row: dict[str, Any] = {"part": part, "id": short(one.node), "type": one.type, "text": brief(one.text)}
    row["date"] = one.dated.when.isoformat() if one.dated.when else "undated"
    if one.standing is not None:
        row["standing"] = one.standing.value
    if one.relation:
        row |= {"relation": one.relation, "through": short(one.through)}
    if one.hops:
        row["hops"] = one.hops
    via = f" ({one.relation} {short(one.through)})" if one.relation else ""
    return Row(f"{part} {row['date']}: {one.type} {row['id']} {row['text']}{via}", row)
