"""``python -m benchmarks.mcp_caps``: every tool asked about the hubs of Django in every size, and what each answer costs as it is sent.

The most used symbols and the files that others lean on most are put to every tool that takes code, questions made of them to those that
take words, records made beside them to the mesh tools; with the smallest and the largest budget, depth and page. An answer is measured
whole, as the protocol sends it. What may not come in: what an answer says. ``--repo`` takes an indexed checkout; it is copied.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora, report
from benchmarks.mcp_latency import questions, symbols_of
from benchmarks.mcp_world import apart, copied
from mog.app.mcp.desk import Ask, Client, Desk
from mog.app.mcp.options import SETS, Options
from mog.app.mcp.server import _result
from mog.app.mcp.table import BY_NAME, cap_of
from mog.engine.retrieval.estimator import tokens
from mog.engine.workspace import Workspace

Sizes = dict[str, list[tuple[int, int]]]
PAGES = 3
HOT = ("QuerySet", "Model", "HttpRequest", "HttpResponse", "get", "save", "setUp", "filter", "as_sql", "Field")


def hubs(root: Path, most: int) -> list[str]:
    """Locators of much used symbols, their files, and names that many answer to."""
    symbols = symbols_of(root)[: most // 2]
    files = sorted({one.partition("::")[0].replace("sym:", "file:") for one in symbols})[: most // 4]
    return [*symbols, *files, *HOT[: most - len(symbols) - len(files)]]


def record(root: Path, targets: Sequence[str]) -> list[str]:
    """An assumption that half of the targets' claims rest on; words of records to ask for."""
    with Workspace.open(root) as workspace:
        beliefs = workspace.beliefs
        beliefs.assume("Everything is called")
        for number in range(150):
            words = f"The Hub Rule number {number} holds for {targets[number % len(targets)]}"
            beliefs.claim(words, rests_on=[["Everything is called"]])
        beliefs.decide("Keep the hubs", "They are used", rests_on=["Everything is called"])
    return ["Everything is called", "Keep the hubs", "The Hub Rule number 1"]


def variants(targets: Sequence[str], asked: Sequence[str], records: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every call."""
    for one in targets:
        for budget in (64, 2_000, 16_000):
            yield from (("expand", {"target": one, "zoom": zoom, "budget": budget}) for zoom in ("L1", "L2", "L3"))
        for depth in (1, 8, 64):
            yield "impact", {"target": one, "depth": depth, "maybe": depth == 64}
        yield "impact", {"target": one, "tests": True}
        yield "why", {"target": one}
        yield "pin", {"target": one, "note": "hub " * 200}
        yield "remember", {"kind": "observation", "text": f"{one} is a hub " * 40, "about": [one]}
        yield "get_context_graph_scope", {"paths": [one, f"{one}/nowhere", "../../etc/passwd"], "query": one}
        yield "create_context", {"query": one, "pinned": [one]}
    for one in [*asked, *targets[:4], " ".join(asked)]:
        for budget in (64, 2_000, 16_000):
            yield from (("search_context", {"query": one, "budget": budget, "zoom": zoom}) for zoom in ("auto", "L0", "L1", "L3"))
        yield "get_context_graph_catalog", {"query": one}
        yield "recall", {"query": one}
        yield "mesh_ask", {"question": f"What does {one} hold?"}
        yield "mesh_find", {"query": one}
        yield "mesh_explain_as_of", {"question": f"What does the Hub Rule say of {one}?", "as_of": "2026-01-01"}
    yield from (("mesh_find", {"type": kind}) for kind in ("claim", "entity", "source", "task", "key"))
    for one in records:
        yield "mesh_get_node", {"node_id": one}
        yield "mesh_lineage", {"assumption_id": one}
        yield "mesh_blast_radius", {"assumption_id": one}
        yield "mesh_reconstruct_decision", {"decision_id": one}
        yield "mesh_submit_evidence", {"text": f"{one} was seen " * 30, "source_id": "said by person"}
    yield from ((name, {}) for name in ("verify", "recall", "mesh_health", "mesh_recheck", "mesh_resume"))


def measured(desk: Desk, calls: Iterator[tuple[str, dict[str, Any]]]) -> tuple[Sizes, int]:
    """(tokens, cap) of each answer and its next pages, by tool; how many were failures."""
    client = Client("fuzz 1", Options(sets=SETS, allow_writes=True), "fuzz", "--allow-writes")
    sizes: Sizes = defaultdict(list)
    failed = 0
    for name, given in calls:
        tool, page = BY_NAME[name], ""
        for _ in range(PAGES if "page" in tool.takes else 1):
            asked: Mapping[str, Any] = {**given, "page": page} if page else given
            sent = desk._answered(tool, asked, Ask(desk, client, asked), False)
            failed += sent.failed
            filled = {**{one: schema["default"] for one, schema in tool.takes.items() if "default" in schema}, **asked}
            sizes[name].append((tokens(_result(sent).model_dump_json(by_alias=True, exclude_none=True)), cap_of(tool, filled)))
            page = str(sent.data.get("next", ""))
            if not page or sent.failed:
                break
    return sizes, failed


def over(sizes: Sizes) -> int:
    """Answers larger than their cap."""
    return sum(size > cap for each in sizes.values() for size, cap in each)


def rows(sizes: Sizes) -> Iterator[Sequence[str]]:
    """One line a tool."""
    for name in BY_NAME:
        each = sizes.get(name, [])
        if each:
            worst = max(each, key=lambda one: one[0] / one[1])
            yield [name, str(len(each)), f"{max(size for size, _ in each):,}", f"{worst[0]:,} of {worst[1]:,}", str(over({name: each}))]


def main(argv: Sequence[str] | None = None) -> int:
    """Exit 1 when an answer passes its cap; ``--write`` puts the table into docs/results/mcp-caps.md."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.mcp_caps")
    reader.add_argument("--repo", type=Path)
    reader.add_argument("--hubs", type=int, default=24)
    reader.add_argument("--write", action="store_true")
    given = reader.parse_args(argv)
    with apart() as folder:
        root = copied(given.repo or corpora.repository(corpora.CORPORA["django"]), folder / "repo")
        targets = hubs(root, given.hubs)
        records = record(root, targets)
        desk = Desk(root, Options(sets=SETS, allow_writes=True))
        sizes, failed = measured(desk, variants(targets, questions(targets)[: given.hubs // 3], records))
        desk.close()
    table = report.table(("tool", "answers", "largest, tokens", "nearest to its cap", "over"), rows(sizes))
    text = f"{table}\n\n{sum(map(len, sizes.values())):,} answers, {failed} of them failures with a way out."
    print(text)
    if given.write:
        report.write("mcp-caps", f"# What answers cost\n\n`python -m benchmarks.mcp_caps`, on Django.\n\n{text}")
    return int(over(sizes) > 0)


if __name__ == "__main__":
    sys.exit(main())
