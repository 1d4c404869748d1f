"""A request goes out, an answer comes back, and advice is what it is: tied to code, replaced, stale and fresh again, never a fact."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from snapshot_kit import FILES, HUNTER, TASKS, answered, file_of, opened

from mog.engine.config import EngineConfig
from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.model import Freshness
from mog.engine.workspace import Workspace

PLACE = "sym:app/services/tasks.py::Tasks.complete"
FAKE = "ghp_" + "FAKE" * 9


@pytest.fixture
def shop(make_repo: Any) -> Iterator[Workspace]:
    with opened(make_repo(FILES)) as workspace:
        yield workspace


def edit(workspace: Workspace, old: str, new: str, path: str = "app/services/tasks.py") -> None:
    file = workspace.root / path
    file.write_text(file.read_text().replace(old, new))


# the request


def test_a_request_holds_what_the_graph_knows_and_no_body(shop: Workspace) -> None:
    request = shop.context_graph.annotation_request()
    text = json.dumps(asdict(request), default=str)
    assert "return save(task_id)" not in text and "bool(row)" not in text
    item = next(one for one in request.items if one.locator == PLACE)
    assert (item.contract_layer, item.kind, item.signature) == (
        "service",
        "method",
        "def complete(self, task_id: int) -> bool",
    )
    assert {(one.edge_type, one.locator.rpartition("::")[2]) for one in item.inbound} >= {
        ("calls", "archive"),
        ("calls", "Tasks.close"),
    }
    assert [one.locator for one in item.outbound if one.edge_type == "calls"] == ["sym:app/db.py::save"]
    assert request.graph_hash == shop.status().facts_hash and request.stale_status == "current"


def test_what_a_surface_makes_of_its_symbol_is_in_the_request(make_repo: Any) -> None:
    """Roles come from the rule packs that found the surfaces; who is behind a route is described before anybody else."""
    files = {
        "zoo/pages.py": "from flask import Flask, render_template\n\napp = Flask(__name__)\n\n\n"
        "@app.route('/animals', methods=['POST'])\ndef animals():\n    return render_template('animals.html')\n",
        "app/services/a.py": "def before():\n    return 1\n",
    }
    with opened(make_repo(files)) as workspace:
        first, *rest = workspace.context_graph.annotation_request(["/"], again=True).items
    assert (first.locator, first.contract_role, first.action_id) == ("sym:zoo/pages.py::animals", "route", "POST /animals")
    assert first.side_effect_surface == "template animals.html" and first.page_id == ""
    assert all(one.contract_role == "" for one in rest)


def test_services_and_handlers_come_before_the_rest_and_tests_last(shop: Workspace) -> None:
    order = [one.path for one in shop.context_graph.annotation_request(["/"], again=True).items]
    assert order.index("app/views.py") < order.index("app/services/tasks.py") < order.index("app/db.py")
    assert "tests/test_tasks.py" not in order  # tests are no described kind unless one is named


@pytest.mark.parametrize(("limit", "shown"), [(1, 1), (3, 3), (40, 6)])
def test_a_request_is_bounded_and_says_what_it_left_out(shop: Workspace, limit: int, shown: int) -> None:
    request = shop.context_graph.annotation_request(limit=limit)
    assert len(request.items) == shown and request.omitted.get("limit", 0) == 6 - shown


@pytest.mark.parametrize("limit", [0, 41, -1])
def test_a_limit_out_of_bounds_is_refused(shop: Workspace, limit: int) -> None:
    with pytest.raises(UsageError):
        shop.context_graph.annotation_request(limit=limit)


def test_targets_may_be_a_symbol_a_file_or_a_folder(shop: Workspace) -> None:
    def quals(*targets: str) -> set[str]:
        return {one.qualified_name for one in shop.context_graph.annotation_request(targets).items}

    assert quals("Tasks.complete") == {"Tasks.complete"}
    assert (
        quals("app/services/tasks.py")
        == quals("app/services/")
        == {"Tasks", "Tasks.complete", "Tasks.close", "archive"}
    )
    with pytest.raises(NotFound):
        quals("nowhere/")


def test_the_same_graph_gives_the_same_request(shop: Workspace, tmp_path: Path) -> None:
    first = shop.context_graph.annotation_request()
    edit(shop, "save(task_id)", "save(task_id, 1)")
    shop.index(workers=1)
    edit(shop, "save(task_id, 1)", "save(task_id)")
    shop.index(workers=1)
    again = shop.context_graph.annotation_request()
    assert again.items == first.items and again.graph_hash == first.graph_hash and again.generation != first.generation


def test_gated_symbols_are_never_sent_nor_annotated(make_repo: Any) -> None:
    secret = f'class Keys:\n    password = "{HUNTER}"\n\n\ndef other():\n    return 1\n'
    with opened(make_repo({"app/keys.py": secret})) as workspace:
        gated = workspace.find("Keys")
        assert gated.gated
        request = workspace.context_graph.annotation_request(["app/keys.py"])
        assert [one.qualified_name for one in request.items] == ["other"] and request.omitted == {"gated": 1}
        done = workspace.context_graph.apply_annotations(
            file_of({"node_id": gated.id, "purpose": "x"}, graph_hash=request.graph_hash)
        )
        assert done.ignored == {"gated": 1} and workspace.context_graph.annotations() == ()


def test_code_that_changed_since_the_index_saw_it_is_not_sent(shop: Workspace) -> None:
    edit(shop, "save(task_id)", "not save(task_id)")
    request = shop.context_graph.annotation_request(["app/services/tasks.py"])
    assert request.items == () and request.omitted == {"changed": 4} and request.stale_status == "partially_stale"


def test_what_is_described_already_is_not_asked_again(shop: Workspace) -> None:
    graph = shop.context_graph
    graph.apply_annotations(answered(graph.annotation_request(["Tasks.complete"])))
    assert graph.annotation_request(["app/services/"]).omitted == {"annotated": 1}
    assert len(graph.annotation_request(["app/services/"], again=True).items) == 4
    edit(shop, "save(task_id)", "not save(task_id)")
    shop.index(workers=1)
    assert len(graph.annotation_request(["app/services/"]).items) == 4  # its advice is stale now


# applying


def test_unknown_ids_files_and_repeated_items_are_counted_and_left_out(shop: Workspace) -> None:
    graph = shop.context_graph
    request = graph.annotation_request(["Tasks.complete"])
    item, file = request.items[0], shop.find("app/db.py")
    good = {"node_id": item.node_id, "span_hash": item.span_hash, "purpose": "Completes."}
    rows = (
        {"node_id": "0" * 32, "purpose": "x"},
        {"node_id": file.id, "purpose": "x"},
        good,
        {**good, "purpose": "Again."},
        {"purpose": "y"},
    )
    done = graph.apply_annotations(file_of(*rows, graph_hash=request.graph_hash, generation=request.generation))
    assert done.applied == (PLACE,) and done.ignored == {
        "unknown_node": 1,
        "no_symbol": 1,
        "repeated": 1,
        "no_node_id": 1,
    }
    assert [one.purpose for one in graph.annotations()] == ["Completes."]


def test_the_same_file_twice_records_nothing_new(shop: Workspace) -> None:
    graph = shop.context_graph
    data = answered(graph.annotation_request())
    first = graph.apply_annotations(data)
    again = graph.apply_annotations(data)
    assert len(first.applied) == 6 and first.events
    assert again.applied == () and again.events == () and len(again.unchanged) == 6
    assert again.advisory_hash == first.advisory_hash != ""


def test_other_words_replace_what_was_said_and_the_old_words_come_back(shop: Workspace) -> None:
    graph = shop.context_graph
    request = graph.annotation_request(["Tasks.complete"])
    one, two = (answered(request, lambda _, text=text: {"purpose": text}) for text in ("One.", "Two."))  # type: ignore[misc]
    for data, replaced, said in ((one, 0, "One."), (two, 1, "Two."), (one, 1, "One.")):
        assert graph.apply_annotations(data).replaced == replaced
        assert [found.purpose for found in graph.annotations()] == [said]


def test_an_answer_for_code_that_changed_is_left_out_and_the_rest_is_kept(shop: Workspace) -> None:
    graph = shop.context_graph
    data = answered(graph.annotation_request())
    edit(shop, "save(task_id)", "not save(task_id)")
    shop.index(workers=1)
    done = graph.apply_annotations(data)
    assert done.ignored == {"changed": 2}  # the method, and the class around it
    assert PLACE not in done.applied and "sym:app/db.py::save" in done.applied
    assert done.request_generation < done.generation and any("generation 1" in warning for warning in done.warnings)


def test_without_a_span_hash_only_the_very_graph_it_was_made_for_counts(shop: Workspace) -> None:
    graph, node = shop.context_graph, shop.find("archive")
    row = {"node_id": node.id, "purpose": "Archives."}
    assert graph.apply_annotations(file_of(row)).ignored == {"unknown_code": 1}
    assert graph.apply_annotations(file_of(row, graph_hash="f" * 64)).ignored == {"unknown_code": 1}
    assert graph.apply_annotations(file_of(row, graph_hash=shop.status().facts_hash)).applied == (node.locator,)


def test_a_credential_in_advice_is_left_out_and_the_rest_is_kept(shop: Workspace) -> None:
    graph = shop.context_graph
    data = answered(
        graph.annotation_request(["archive", "save"]),
        lambda name: {"invariants": [f"uses {FAKE}"]} if name == "save" else {},
    )
    done = graph.apply_annotations(data)
    assert done.ignored == {"credential": 1} and done.applied == ("sym:app/services/tasks.py::archive",)
    assert FAKE.encode() not in shop.ledger_path.read_bytes()


def test_programs_are_refused_where_the_configuration_says_so(make_repo: Any) -> None:
    with opened(make_repo(FILES), agent_memory="refuse") as workspace:
        data = answered(workspace.context_graph.annotation_request())
        with pytest.raises(PolicyDenied):
            workspace.context_graph.apply_annotations(data, origin="agent")
        assert workspace.context_graph.apply_annotations(data).applied


# what it is


def test_advice_goes_stale_with_the_code_and_is_fresh_again_after_a_revert(shop: Workspace) -> None:
    graph = shop.context_graph
    graph.apply_annotations(answered(graph.annotation_request(["Tasks.complete"])))

    def state() -> Freshness:
        (found,) = graph.annotations(PLACE)
        return found.freshness

    assert state() is Freshness.fresh
    edit(shop, "# nothing", "# nothing")
    edit(shop, '"""Tasks."""', '"""Tasks."""\n# a comment above\n')
    assert state() is Freshness.fresh  # moved down, and the same
    edit(shop, "save(task_id)", "not save(task_id)")
    assert state() is Freshness.drifted
    (shop.root / "app/services/tasks.py").write_text(TASKS)
    assert state() is Freshness.fresh
    (shop.root / "app/services/tasks.py").unlink()
    assert state() is Freshness.missing


def test_drift_of_advice_is_nobodys_evidence(shop: Workspace) -> None:
    graph = shop.context_graph
    graph.apply_annotations(answered(graph.annotation_request()))
    shop.beliefs.assume("Completing saves.", about=["Tasks.complete"])
    edit(shop, "save(task_id)", "not save(task_id)")
    found = shop.beliefs.bridge.observe()
    assert len(found) == 1  # of the assumption alone


def test_advice_is_in_no_digest_of_facts(shop: Workspace) -> None:
    graph = shop.context_graph
    before, facts = graph.identity(), shop.status().facts_hash
    graph.apply_annotations(answered(graph.annotation_request()))
    after = graph.identity()
    assert after.identity_digest == before.identity_digest and after.facts_hash == facts
    assert (before.advisory_hash, len(after.advisory_hash)) == ("", 64)
    shop.index(workers=1, full=True)
    assert shop.status().facts_hash == facts and graph.identity().advisory_hash == after.advisory_hash


def test_no_walk_answers_with_advice(shop: Workspace) -> None:
    graph = shop.context_graph
    said = "Frobnicates the quux before breakfast."
    graph.apply_annotations(answered(graph.annotation_request(["archive"]), lambda _: {"purpose": said}))
    walk = shop.beliefs.ask("What frobnicates the quux before breakfast?")
    assert walk.answer_id is None
    shop.beliefs.claim(said)
    assert shop.beliefs.ask("What frobnicates the quux before breakfast?").answer_id is not None


def test_retracting_the_source_takes_all_that_it_said(shop: Workspace) -> None:
    graph = shop.context_graph
    graph.apply_annotations(answered(graph.annotation_request()))
    assert len(graph.annotations()) == 6
    shop.beliefs.retract("semantic annotations by model-1", reason="it made things up")
    assert graph.annotations() == () and graph.identity().advisory_hash == ""


def test_packs_show_advice_as_advice(shop: Workspace) -> None:
    graph = shop.context_graph
    graph.apply_annotations(answered(graph.annotation_request(["Tasks.complete"])))
    for made in (
        shop.context.catalog("complete task"),
        shop.context.prompt_pack("complete task"),
        shop.context.scope(["app/services/tasks.py"]),
    ):
        (advice,) = made.semantic_annotations
        assert (advice.locator, advice.trust, advice.stale_status, advice.purpose) == (
            PLACE,
            "advisory",
            "current",
            "Does Tasks.complete.",
        )
    edit(shop, "save(task_id)", "not save(task_id)")
    assert [one.stale_status for one in shop.context.prompt_pack("complete task").semantic_annotations] == ["stale"]
    item = next(one for one in shop.context.expand(PLACE).items if one.kind == "annotation")
    assert item.label == "advisory" and item.freshness is Freshness.drifted
    assert item.text.splitlines()[0].startswith("[annotation · advisory, not verified · by model-1 · stale: ")
    assert all(line.startswith("> ") for line in item.text.splitlines()[2:])


def test_a_served_annotation_is_held_against_what_it_is_now(shop: Workspace) -> None:
    graph = shop.context_graph
    graph.apply_annotations(answered(graph.annotation_request(["Tasks.complete"])))
    (one,) = graph.annotations()
    found = graph.judged(f"annotation:{one.record}")
    assert found is not None and not found.stale
    assert graph.judged("annotation:" + "0" * 32) is None


def test_a_ledger_is_read_in_another_process_as_it_was_written(shop: Workspace) -> None:
    shop.context_graph.apply_annotations(answered(shop.context_graph.annotation_request()))
    told = shop.context_graph.annotations()
    with Workspace.open(shop.root, config=EngineConfig(project="shop")) as other:
        assert other.context_graph.annotations() == told
        assert {one.node_id for one in told} == {other.find(one.locator).id for one in told}


def test_where_nothing_was_annotated_no_mesh_is_loaded(shop: Workspace) -> None:
    shop.pin("archive", "a note, so that there is a ledger")
    assert shop.context_graph.annotations(PLACE) == ()
    assert "mesh" not in shop.beliefs.__dict__
