"""One belief graph of a given size in a process of its own: what it costs to load, preview, write and keep. Prints JSON.

``python -m benchmarks.belief_costs build FOLDER NODES`` writes a ledger; ``… ask FOLDER`` measures on a fresh process;
``… earlier NODES`` lays out the same shape in contextmesh-graph. Called by ``beliefs.py``, which makes tables of it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mog.engine.ledgers.events import EventLog
from mog.engine.ontology import load
from mog.engine.reason import commands
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.writer import Writer

SEED = 20_260_101
WHEN = "2026-01-31T12:00:00Z"
PREVIEWS, REJECTS, COMMITS, ASKS, WARM = 200, 30, 200, 40, 12


def mesh_at(folder: Path) -> Mesh:
    """The mesh of a ledger in a folder."""
    return Mesh(EventLog(folder / "ledger.db"), load(), "repo", clock=lambda: WHEN)


def shape(nodes: int) -> dict[str, int]:
    """How many of each type: a tenth sources, a fifth entities, a twentieth assumptions and decisions each, the rest claims."""
    counts = {"source": nodes // 10, "entity": nodes // 5, "assumption": nodes // 20, "decision": nodes // 20}
    return {**counts, "claim": nodes - sum(counts.values())}


def lay_out(w: Writer, nodes: int) -> None:
    """About four edges a node, most of them mentions and provenance."""
    rng, counts = random.Random(SEED), shape(nodes)
    sources = [w.source(f"document {i}", origin=f"docs/{i}.md", retrieved_at="2026-01-01") for i in range(counts["source"])]
    entities = [w.entity(f"Service {i} Store") for i in range(counts["entity"])]
    grounds = [w.assume(f"assumption {i} holds for the whole deployment") for i in range(counts["assumption"])]
    claims: list[str] = []
    for i in range(counts["claim"]):
        words = f"The service {i} keeps its state in store {i % 97} and never writes it twice"
        claims.append(w.claim(words, source=rng.choice(sources), span=(i, i + len(words))))
        for entity in rng.sample(entities, min(4, len(entities))):
            w.edge("mentions", claims[-1], entity)
        if rng.random() < 0.5:
            w.edge("depends_on", claims[-1], rng.choice(grounds))
        if i and rng.random() < 0.5:
            w.edge("cites", claims[-1], claims[rng.randrange(i)])
    for i in range(counts["decision"]):
        w.decide(
            f"decision {i}", "it is the simplest thing that works", source=rng.choice(sources),
            assumptions=[rng.choice(grounds)], claims=rng.sample(claims, 2),
        )  # fmt: skip


def build(folder: Path, nodes: int) -> dict[str, Any]:
    """Write a graph and say what it took."""
    mesh, began = mesh_at(folder), time.perf_counter()
    with mesh.writing("ingested") as w:
        lay_out(w, nodes)
    seconds = time.perf_counter() - began
    edges = len(mesh.graph.edges())
    mesh.log.close()
    disk = sum(file.stat().st_size for file in folder.iterdir())
    return {"nodes": nodes, "edges": edges, "build_s": seconds, "disk_per_node": disk / nodes}


def ask(folder: Path) -> dict[str, Any]:
    """Open it as a command would and measure reads and writes."""
    ontology = load()
    gc.collect()
    before, began = resident(), time.process_time()
    mesh = Mesh(EventLog(folder / "ledger.db"), ontology, "repo", clock=lambda: WHEN)
    nodes = mesh.graph.nodes()
    loaded = time.process_time()
    mesh.stands(nodes[0].id)
    labelled = time.process_time()
    count = len(nodes)
    del nodes
    gc.collect()
    memory = (resident() - before) / count
    grounds = [node.id for node in mesh.graph.nodes("assumption")]
    rng = random.Random(SEED)
    previews = timed(lambda: commands.reject_preview(mesh, rng.choice(grounds)), PREVIEWS)
    rejects, withdraws = [], []
    for i in range(REJECTS):
        found = commands.evidence(mesh, f"seen {i}").result
        target = rng.choice(grounds)
        rejects += timed(lambda f=found, t=target: commands.judge(mesh, f, t, "contradicts", auditor="person", reason="r"), 1)  # type: ignore[misc]
        withdraws += timed(lambda f=found: commands.withdraw(mesh, f, reason="r"), 1)  # type: ignore[misc]
    size, seq = ledger_size(folder), mesh.head.seq
    commits = beside_the_disk(lambda: commands.evidence(mesh, f"noted {rng.random()}"), folder)
    grown = (ledger_size(folder) - size) / (mesh.head.seq - seq)
    return {
        "load_s": loaded - began, "labels_s": labelled - loaded, "memory_per_node": memory,
        "preview_ms": spread(previews), "reject_ms": spread(rejects), "withdraw_ms": spread(withdraws),
        **commits, "bytes_per_commit": grown,
        "persist_ask_ms": spread(asked(mesh, folder)),
    }  # fmt: skip


def asked(mesh: Mesh, folder: Path) -> list[float]:
    """Milliseconds to persist what one question leaves behind: its counts, outside of the ledger."""
    from mog.engine.reason.telemetry import Telemetry
    from mog.engine.reason.walker import Walker

    walker, telemetry = Walker(mesh), Telemetry(folder / "run" / "telemetry.json")
    walks = [walker.ask(f"where does the service {i * 7} keep its state?") for i in range(ASKS)]

    left = iter(walks)

    def persist() -> None:
        telemetry.record(next(left))
        telemetry.save()

    return timed(persist, ASKS)


def earlier(nodes: int) -> dict[str, Any]:
    """The same shape in contextmesh-graph: radius, reject, snapshot, memory. Empty when it is not installed."""
    from benchmarks.boards import EarlierBoard

    try:
        board = EarlierBoard()
    except ImportError:
        return {}
    gc.collect()
    before = resident()
    grounds = _lay_out_earlier(board, nodes)
    gc.collect()
    memory, rng = (resident() - before) / nodes, random.Random(SEED)
    ledger = board._assumptions
    previews = timed(lambda: ledger.blast_radius(rng.choice(grounds)), PREVIEWS)
    size: list[int] = []
    snapshots = timed(lambda: size.append(len(board.graph.to_json())), 2)
    seen = [board._add("evidence", f"seen {i}", attrs={"kind": "observation"}) for i in range(5)]
    rejects = timed(lambda: ledger.reject(grounds.pop(), evidence_id=seen.pop()), 5)
    return {
        "memory_per_node": memory, "preview_ms": spread(previews), "reject_ms": spread(rejects),
        "persist_ask_ms": spread(snapshots), "disk_per_node": size[-1] / nodes,
    }  # fmt: skip


def _lay_out_earlier(board: Any, nodes: int) -> list[str]:
    rng, counts = random.Random(SEED), shape(nodes)
    sources = [board.source(f"document {i}") for i in range(counts["source"])]
    entities = [board.entity(f"Service {i} Store") for i in range(counts["entity"])]
    grounds = [board.assumption(f"assumption {i} holds for the whole deployment") for i in range(counts["assumption"])]
    claims: list[str] = []
    for i in range(counts["claim"]):
        words = f"The service {i} keeps its state in store {i % 97} and never writes it twice"
        source = rng.choice(sources)
        claims.append(board._add("claim", words, provenance=board._provenance(source_id=source)))
        board.edge("derived_from", claims[-1], source)
        for entity in rng.sample(entities, min(4, len(entities))):
            board.edge("mentions", claims[-1], entity)
        if rng.random() < 0.5:
            board.edge("depends_on", claims[-1], rng.choice(grounds))
    for i in range(counts["decision"]):
        chosen = rng.sample(claims, 2)
        board.decision(f"decision {i}", "it is simple", rng.choice(sources), *chosen, assumption=rng.choice(grounds))
    return grounds


def timed(act: Callable[[], Any], times: int) -> list[float]:
    """Milliseconds of each run."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        found.append((time.perf_counter() - began) * 1000)
    return found


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    ordered = sorted(values)
    return {"p50": statistics.median(ordered), "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]}


def beside_the_disk(commit: Callable[[], Any], folder: Path) -> dict[str, Any]:
    """Commits, each followed by what the disk asks for as much: both kinds of least write, on the same file system.

    The bare fsync appends as many bytes as a commit writes to its log, in one write, to a file of its own. SQLite's least
    commit updates one row of a database of its own, with the same settings (WAL, ``synchronous = FULL``).
    """
    size = int(statistics.median(logged(commit, folder / "ledger.db") for _ in range(WARM)))
    fd, db = os.open(folder / "bare", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600), least_database(folder / "least.db")
    rows: list[tuple[float, float, float, float]] = []
    try:
        for _ in range(COMMITS):
            began = time.process_time()
            took = timed(commit, 1)[0]
            used = (time.process_time() - began) * 1000
            bare = timed(lambda: (os.write(fd, b"x" * size), os.fsync(fd)), 1)[0]
            rows.append((took, used, bare, timed(lambda: db.execute("UPDATE t SET n = n + 1"), 1)[0]))
    finally:
        os.close(fd)
        db.close()
    commits, processor, bares, least = ([row[i] for row in rows] for i in range(4))
    return {
        "commit_ms": spread(commits), "commit_cpu_ms": spread(processor), "fsync_ms": spread(bares),
        "least_ms": spread(least), "written_per_commit": size,
        "to_fsync": statistics.median(row[0] / row[2] for row in rows),
        "to_least": statistics.median(row[0] / row[3] for row in rows),
    }  # fmt: skip


def logged(commit: Callable[[], Any], path: Path) -> int:
    """Bytes that one commit wrote to the write-ahead log, which may begin anew when everything in it was copied."""
    import apsw

    with contextlib.closing(apsw.Connection(str(path))) as db:
        before, after = ((commit(), db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone())[1][1] for _ in range(2))
    frames = after - before if after > before else after
    return int(frames) * (24 + 4096)  # header and page (SQLite file format, section 4.1)


def least_database(path: Path) -> Any:
    """A database of one row that is synced at every commit as the ledger is."""
    import apsw

    db = apsw.Connection(str(path))
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE t(n)", "INSERT INTO t VALUES(0)"):
        db.execute(statement)
    return db


def ledger_size(folder: Path) -> int:
    """Bytes of the database, its log checkpointed."""
    import apsw

    db = apsw.Connection(str(folder / "ledger.db"))
    try:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return int(db.pragma("page_count")) * int(db.pragma("page_size"))
    finally:
        db.close()


def resident() -> int:
    """Bytes of memory this process holds now (Linux; elsewhere the peak)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    done = {
        "build": lambda: build(Path(rest[0]), int(rest[1])),
        "ask": lambda: ask(Path(rest[0])),
        "earlier": lambda: earlier(int(rest[0])),
    }[verb]()
    print(json.dumps(done))
