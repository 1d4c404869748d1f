"""An impact query is answered along the edges it allows, with evidence, the same each time; or refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from snapshot_kit import FILES, opened

from mog.engine.errors import NotFound, SnapshotMoved, UsageError
from mog.engine.model import Tier
from mog.engine.snapshots import impact as search
from mog.engine.snapshots.model import ImpactQuery, ImpactReport
from mog.engine.workspace import Workspace

MORE = {
    **FILES,
    "app/base.py": "class Base:\n    def run(self):\n        return 1\n\n\nclass Child(Base):\n    def run(self):\n        return 2\n",
    "app/use.py": "from app.base import Base\n\n\ndef go(b: Base):\n    return b.run()\n\n\ndef maybe(x):\n    return x.run()\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("impact")
    for name, text in MORE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / ".mog").mkdir()
    with opened(root) as workspace:
        yield workspace


def query(workspace: Workspace, *seeds: str, **more: Any) -> ImpactQuery:
    digest = workspace.context_graph.identity().identity_digest
    return ImpactQuery(digest, seeds, **{"allowed_edge_types": ("calls",), **more})


def ask(workspace: Workspace, *seeds: str, **more: Any) -> ImpactReport:
    return workspace.context_graph.impact(query(workspace, *seeds, **more))


def reached(report: ImpactReport) -> dict[str, int]:
    return {one.locator.rpartition("::")[2]: one.distance for one in report.affected}


def test_who_leans_on_a_seed_is_found_with_the_way_that_leads_there(shop: Workspace) -> None:
    report = ask(shop, "app/db.py::save", max_depth=3)
    assert reached(report) == {
        "Tasks.complete": 1, "Tasks.close": 2, "archive": 2, "test_complete": 2, "page": 3,
    }  # fmt: skip
    page = next(one for one in report.affected if one.locator.endswith("page"))
    assert [place.rpartition("::")[2] for place in page.path] == ["save", "Tasks.complete", "archive", "page"]
    assert page.relationship_types == ("calls",) * 3 and (page.authority, page.degradation_reason) == ("exact", "")
    assert page.seed == "sym:app/db.py::save"


@pytest.mark.parametrize(("depth", "names"), [(0, 0), (1, 1)])
def test_depth_is_kept(shop: Workspace, depth: int, names: int) -> None:
    assert len(ask(shop, "app/db.py::save", max_depth=depth).affected) == names


def test_outbound_asks_what_a_seed_leans_on(shop: Workspace) -> None:
    found = reached(ask(shop, "page", direction="outbound", max_depth=8))
    assert found["archive"] == 1 and found["Tasks.complete"] == 2 and found["save"] == 3


def test_only_allowed_edges_are_followed(shop: Workspace) -> None:
    report = ask(shop, "app/base.py::Base", allowed_edge_types=("inherits",))
    assert reached(report) == {"Child": 1}
    assert all(set(one.relationship_types) == {"inherits"} for one in report.affected)


def test_authority_is_that_of_the_least_sure_step(shop: Workspace) -> None:
    report = ask(shop, "app/base.py::Base.run", max_depth=2)
    authority = {one.locator.rpartition("::")[2]: one.authority for one in report.affected}
    assert authority == {"go": "exact", "maybe": "heuristic"} and report.ambiguity == 1
    (maybe,) = (one for one in report.affected if one.locator.endswith("maybe"))
    assert "candidates" in maybe.degradation_reason and maybe.distance == 1


def test_kinds_filter_what_is_reported_and_not_what_is_walked(shop: Workspace) -> None:
    report = ask(shop, "app/db.py::save", max_depth=3, allowed_node_kinds=("test",))
    assert reached(report) == {"test_complete": 2} and report.total == 1


def test_a_scope_keeps_the_walk_inside(shop: Workspace) -> None:
    found = reached(ask(shop, "Tasks.complete", max_depth=8, scope_path="app/services"))
    assert found == {"Tasks.close": 1, "archive": 1}
    with pytest.raises(UsageError):
        ask(shop, "app/db.py::save", scope_path="app/services")


def test_a_node_is_credited_to_its_nearest_seed(shop: Workspace) -> None:
    report = ask(shop, "app/db.py::save", "archive", max_depth=3)
    page = next(one for one in report.affected if one.locator.endswith("page"))
    assert (page.seed.rpartition("::")[2], page.distance) == ("archive", 1)
    assert "archive" not in reached(report)  # a seed is not affected by itself


def test_results_are_cut_and_counted(shop: Workspace) -> None:
    whole, cut = ask(shop, "app/db.py::save", max_depth=8), ask(shop, "app/db.py::save", max_depth=8, max_results=2)
    assert cut.affected == whole.affected[:2] and cut.total == whole.total and cut.truncated and not whole.truncated


def test_a_search_that_ends_at_its_bound_says_so(shop: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "VISITED", 3)
    report = ask(shop, "app/db.py::save", max_depth=8)
    assert report.capped and report.truncated and report.total == 2


def test_the_same_question_has_the_same_digest_and_another_has_another(shop: Workspace) -> None:
    one = ask(shop, "app/db.py::save", "archive")
    assert ask(shop, "archive", "app/db.py::save").affected == one.affected
    assert ask(shop, "app/db.py::save", "archive").report_digest == one.report_digest
    assert ask(shop, "app/db.py::save", "archive", max_depth=3).report_digest != one.report_digest


def test_every_way_is_a_way_of_the_graph_and_none_is_shorter(shop: Workspace) -> None:
    """Against a plain search over the same edges, for every symbol as a seed and each direction."""
    with shop._reading() as view:
        nodes = {row.key: view._node(row) for row in view.db.node_rows()}
        edges = {
            (nodes[key].locator, kind, nodes[other].locator, tier)
            for key in nodes
            for other, kind, tier in view.graph.out(key)
        }
    kinds = ("calls", "inherits", "defines")
    for seed in [node.locator for node in nodes.values() if node.type == "symbol"]:
        for direction in ("inbound", "outbound", "both"):
            report = ask(shop, seed, direction=direction, max_depth=4, max_results=500, allowed_edge_types=kinds)
            near = {seed: (0, Tier.certain)}
            for depth in range(1, 5):
                level: dict[str, Tier] = {}
                for src, kind, dst, tier in edges:
                    for here, there in ((dst, src), (src, dst)):
                        way = "inbound" if here == dst else "outbound"
                        if (
                            kind in kinds
                            and direction in (way, "both")
                            and near.get(here, (-1,))[0] == depth - 1
                            and there not in near
                        ):
                            level[there] = min(level.get(there, Tier.unknown), max(near[here][1], tier))
                near |= {place: (depth, tier) for place, tier in level.items()}
            wanted = {place: (depth, search.AUTHORITY[tier]) for place, (depth, tier) in near.items() if depth}
            assert {one.locator: (one.distance, one.authority) for one in report.affected} == wanted
            for one in report.affected:
                steps = zip(one.path, one.relationship_types, one.path[1:], strict=False)
                joined = {(src, kind, dst) for src, kind, dst, _ in edges}
                assert all((a, kind, b) in joined or (b, kind, a) in joined for a, kind, b in steps)


def test_a_query_for_another_snapshot_is_refused(make_repo: Any) -> None:
    with opened(make_repo(FILES)) as workspace:
        asked = query(workspace, "archive")
        workspace.context_graph.impact(asked)
        (workspace.root / "app/db.py").write_text("def save(row):\n    return 3\n")
        assert workspace.context_graph.impact(asked).stale_status == "partially_stale"
        workspace.index(workers=1)
        with pytest.raises(SnapshotMoved) as refused:
            workspace.context_graph.impact(asked)
        assert refused.value.exit_code == 4 and refused.value.way_out


@pytest.mark.parametrize(
    "wrong",
    [
        {"snapshot_digest": ""}, {"seeds": ()}, {"seeds": tuple(f"s{n}" for n in range(65))}, {"allowed_edge_types": ()},
        {"allowed_edge_types": ("eats",)}, {"allowed_edge_types": ("supports",)}, {"direction": "up"},
        {"max_depth": 9}, {"max_depth": -1},
        {"max_results": 0}, {"max_results": 501}, {"allowed_node_kinds": ("monster",)}, {"scope_path": "../x"}, {"scope_path": "/etc"},
    ],
)  # fmt: skip
def test_a_query_out_of_bounds_is_refused(shop: Workspace, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refused:
        shop.context_graph.impact(replace(query(shop, "archive"), **wrong))
    assert refused.value.way_out and refused.value.where


def test_an_unknown_seed_is_not_found(shop: Workspace) -> None:
    with pytest.raises(NotFound):
        ask(shop, "nobody_at_all")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"seeds": "x"}', '{"seeds": [1]}', '{"what": 1}', '{"schema": "other"}', '{"max_depth": "2"}',
     '{"max_depth": true}',
     "[" * 100_000, '{"seeds": ["a"], "seeds": ["b"]}', " " * 256_001],
)  # fmt: skip
def test_a_document_that_is_no_query_is_refused(shop: Workspace, text: str) -> None:
    with pytest.raises(UsageError):
        shop.context_graph.impact(text.encode())


def test_a_document_and_a_record_ask_the_same(shop: Workspace, tmp_path: Path) -> None:
    asked = query(shop, "archive")
    document = {"snapshot_digest": asked.snapshot_digest, "seeds": ["archive"], "allowed_edge_types": ["calls"]}
    report = shop.context_graph.impact(json.dumps(document).encode())
    assert report == shop.context_graph.impact(document) == shop.context_graph.impact(asked)
