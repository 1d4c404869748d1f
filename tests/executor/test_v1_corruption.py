"""A session folder that was corrupted is refused with a typed error that names the file and the record; nothing loads almost."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from session_kit import earlier_sessions, lay, rechained, small_texts, small_world

from mog.engine.errors import MogError, StoreDamaged, UsageError
from mog.engine.executor.v1.session_dir import read_session
from mog.engine.executor.v1.session_write import Contents, write_session

GRAPH, RESOLVER, PLAN, RUNS, MANIFEST = (
    f"{stem}-000001.json" for stem in ("graph", "resolver", "execution", "runledger", "session")
)
DROP, ADD = object(), object()
Path_ = tuple[Any, ...]


def parsed() -> dict[str, Any]:
    return {name: json.loads(data) for name, data in small_texts().items()}


def at(value: Any, path: Path_) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(name: str, path: Path_, new: Any) -> Any:
    """The JSON of a file with what stands at a path replaced, dropped, or, with ``ADD``, given one more field."""
    top = copy.deepcopy(parsed()[name])
    holder = at(top, path[:-1])
    if new is DROP:
        del holder[path[-1]]
    elif new is ADD:
        at(top, path)["unheard_of"] = 1
    else:
        holder[path[-1]] = new
    return top


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def folder(tmp_path: Path, **files: bytes | None) -> Path:
    """The small session with some files replaced, or with None left out; the pointer says what the manifest says."""
    given = {name: files.get(name, data) for name, data in small_texts().items()}
    if MANIFEST in files:
        given["session.json"] = files[MANIFEST]
    return lay(tmp_path / "s", {name: data for name, data in given.items() if data is not None})


# -- every field of every record


def _records() -> list[tuple[str, Path_]]:
    """One record of every kind: file and path."""
    graph = parsed()[GRAPH]
    lifted = next(i for i, node in enumerate(graph["nodes"]) if node["provenance"])
    return [
        (MANIFEST, ()), (MANIFEST, ("walker",)), (PLAN, ()), (PLAN, ("tasks", 0)), (PLAN, ("tasks", 3)), (RUNS, ()),
        (RUNS, ("entries", 0)), (RUNS, ("entries", 12)), (RESOLVER, ()), (RESOLVER, ("log", 0)), (GRAPH, ()),
        (GRAPH, ("nodes", lifted)), (GRAPH, ("nodes", lifted, "provenance")), (GRAPH, ("edges", 1)), (GRAPH, ("assumptions", 0)),
    ]  # fmt: skip


def _other_type(value: Any) -> Any:
    return True if value is None else 7 if isinstance(value, dict | list | str) else "7"


def _every_field() -> list[tuple[str, Path_, Any]]:
    found: list[tuple[str, Path_, Any]] = []
    for name, path in _records():
        found.append((name, path, ADD))
        for key, value in at(parsed()[name], path).items():
            found += [(name, (*path, key), DROP), (name, (*path, key), _other_type(value))]
    return found


def _named(case: tuple[str, Path_, Any]) -> str:
    name, path, new = case
    how = {id(DROP): "missing", id(ADD): "unknown"}.get(id(new), "type")
    return f"{name[:5]}:{'.'.join(map(str, path))}:{how}"


@pytest.mark.parametrize("case", _every_field(), ids=_named)
def test_a_field_that_is_missing_unknown_or_of_another_type(case: tuple[str, Path_, Any], tmp_path: Path) -> None:
    name, path, new = case
    with pytest.raises(MogError) as caught:
        read_session(folder(tmp_path, **{name: dumped(changed(name, path, new))}))
    record = "".join(f"[{step}]" if isinstance(step, int) else f": {step}" for step in path[:2])
    where = caught.value.where
    assert where.startswith(name)
    if len(path) > 1 and isinstance(path[1], int):
        assert record in where, where


# -- what a well-formed file may not say


def _task(i: int, **over: Any) -> Any:
    return [(("tasks", i, key), value) for key, value in over.items()]


def _first(name: str, list_name: str, **like: Any) -> int:
    rows = parsed()[name][list_name]
    return next(i for i, row in enumerate(rows) if all(row[key] == value for key, value in like.items()))


def _fallen() -> str:
    return next(n["id"] for n in parsed()[GRAPH]["nodes"] if n["type"] == "decision" and n["invalidated"])


def _id_of(type: str) -> str:
    return next(n["id"] for n in parsed()[GRAPH]["nodes"] if n["type"] == type)


def _rejected() -> dict[str, Any]:
    found: dict[str, Any] = next(a for a in parsed()[GRAPH]["assumptions"] if a["status"] == "rejected")
    return found


DEEP: Any = []
for _ in range(80):
    DEEP = [DEEP]

PLANS: dict[str, tuple[Callable[[], Any], str]] = {
    "an empty plan name": (lambda: [(("plan",), "")], "plan"),
    "a plan of another name": (lambda: [(("plan",), "small plan 2")], "plan"),
    "a version from the future": (lambda: [(("version",), 2)], ""),
    "a version that is a flag": (lambda: [(("version",), True)], ""),
    "another schema": (lambda: [(("schema",), "contextmesh.graph")], ""),
    "a round below zero": (lambda: [(("round",), -1)], "round"),
    "a round that is a flag": (lambda: [(("round",), True)], "round"),
    "a round that is no whole number": (lambda: [(("round",), 1.5)], "round"),
    "an empty name": (lambda: _task(0, name=""), "tasks[0].name"),
    "a name twice": (lambda: _task(1, name="schema"), "tasks[1].name"),
    "a state that is none": (lambda: _task(0, state="blocked"), "tasks[0].state"),
    "a state in capitals": (lambda: _task(0, state="Done"), "tasks[0].state"),
    "attempts below zero": (lambda: _task(0, attempt=-1), "tasks[0].attempt"),
    "attempts that are a flag": (lambda: _task(0, attempt=True), "tasks[0].attempt"),
    "done without an attempt": (lambda: _task(0, attempt=0), "tasks[0].attempt"),
    "done without a decision": (lambda: _task(0, node_id=None), "tasks[0].node_id"),
    "done on a decision that fell": (lambda: _task(0, node_id=_fallen()), "tasks[0].state"),
    "done on rejected ground": (
        lambda: _task(0, assumption_id=_rejected()["id"], assumes=_rejected()["statement"]), "tasks[0].state",
    ),
    "no worker": (lambda: _task(0, worker_key=None), "tasks[0].worker_key"),
    "an empty worker": (lambda: _task(0, worker_key=""), "tasks[0].worker_key"),
    "a worker with a space": (lambda: _task(0, worker_key="a b"), "tasks[0].worker_key"),
    "a worker with a line end": (lambda: _task(0, worker_key="a\n"), "tasks[0].worker_key"),
    "a worker with a control character": (lambda: _task(0, worker_key="a\x07"), "tasks[0].worker_key"),
    "an empty auditor": (lambda: _task(0, auditor_key=""), "tasks[0].auditor_key"),
    "an auditor with a no-break space": (lambda: _task(0, auditor_key="a\xa0b"), "tasks[0].auditor_key"),
    "no ground": (lambda: _task(0, assumption_id=None), "tasks[0].assumption_id"),
    "an empty ground": (lambda: _task(0, assumption_id=""), "tasks[0].assumption_id"),
    "ground that is not there": (lambda: _task(3, assumption_id="assumption:x"), "tasks[3].assumption_id"),
    "ground that is an entity": (lambda: _task(3, assumption_id=_id_of("entity")), "tasks[3].assumption_id"),
    "ground that says something else": (lambda: _task(3, assumes="clocks differ"), "tasks[3].assumes"),
    "an empty decision": (lambda: _task(0, node_id=""), "tasks[0].node_id"),
    "a decision that is not there": (lambda: _task(1, node_id="decision:x"), "tasks[1].node_id"),
    "a decision that is an entity": (lambda: _task(1, node_id=_id_of("entity")), "tasks[1].node_id"),
    "an artefact that is not there": (lambda: _task(0, artefacts=["entity:x"]), "tasks[0].artefacts[0]"),
    "an artefact that is a decision": (lambda: _task(0, artefacts=[_id_of("decision")]), "tasks[0].artefacts[0]"),
    "an artefact that is no text": (lambda: _task(0, artefacts=[1]), "tasks[0].artefacts[0]"),
    "needs what is not there": (lambda: _task(0, needs=["nobody"]), "tasks[0].needs[0]"),
    "needs itself": (lambda: _task(0, needs=["schema"]), "tasks[0].needs[0]"),
    "needs that are no text": (lambda: _task(0, needs=[None]), "tasks[0].needs[0]"),
    "two that wait for each other": (lambda: _task(0, needs=["limits"]), "tasks[0].needs"),
    "three that wait for each other": (lambda: _task(1, needs=["docs"]), "tasks[1].needs"),
    "products that are no texts": (lambda: _task(0, produces=[["Schema"]]), "tasks[0].produces[0]"),
    "an output that is a list": (lambda: _task(0, output=[]), "tasks[0].output"),
    "an output too deep": (lambda: _task(0, output={"deep": DEEP}), "tasks[0].output"),
    "a lone surrogate in an output": (lambda: _task(0, output={"text": "\ud800"}), "tasks[0].output"),
    "a lone surrogate in a key": (lambda: _task(0, output={"\udfff": 1}), "tasks[0].output"),
    "a lone surrogate in a title": (lambda: _task(0, title="\udc00"), "tasks[0].title"),
}  # fmt: skip


@pytest.mark.parametrize("what", PLANS)
def test_a_plan_that_does_not_hold(what: str, tmp_path: Path) -> None:
    top = parsed()[PLAN]
    for path, new in PLANS[what][0]():
        at(top, path[:-1])[path[-1]] = new
    with pytest.raises(MogError) as caught:
        read_session(folder(tmp_path, **{PLAN: dumped(top)}))
    assert caught.value.where.startswith(PLAN) and PLANS[what][1] in caught.value.where, caught.value


ENTRY = ("entries", 4)
RUN_CASES: dict[str, tuple[list[tuple[Path_, Any]], bool, str]] = {
    # what is changed, whether the chain is made anew, the place named
    "an entry edited": ([((*ENTRY, "detail"), "holds")], False, "entries[4].digest"),
    "a round edited": ([((*ENTRY, "round"), 2)], False, "entries[4].digest"),
    "an event edited": ([((*ENTRY, "event"), "failed")], False, "entries[4].digest"),
    "a task edited": ([((*ENTRY, "task"), "hash")], False, "entries[4].digest"),
    "data edited": ([(("entries", 12, "data", "reason"), "so")], False, "entries[12].digest"),
    "data added to": ([((*ENTRY, "data", "more"), 1)], False, "entries[4].digest"),
    "a digest edited": ([((*ENTRY, "digest"), "0" * 64)], False, "entries[4].digest"),
    "a digest in capitals": ([((*ENTRY, "digest"), "A" * 64)], False, "entries[4].digest"),
    "a digest cut short": ([((*ENTRY, "digest"), "0" * 63)], False, "entries[4].digest"),
    "a digest with a line end": ([((*ENTRY, "digest"), "0" * 64 + "\n")], False, "entries[4].digest"),
    "a head edited": ([(("head",), "1" * 64)], False, "head"),
    "a head that is no digest": ([(("head",), "none")], False, "head"),
    "an entry dropped": ([(ENTRY, DROP)], False, "entries[4]"),
    "the last entry dropped": ([(("entries", 18), DROP)], False, "head"),
    "an entry that is a list": ([(ENTRY, [])], False, "entries[4]"),
    "another number": ([((*ENTRY, "seq"), 6)], True, "entries[4].seq"),
    "a number that is a flag": ([(("entries", 0, "seq"), True)], True, "entries[0].seq"),
    "a round below zero": ([((*ENTRY, "round"), -1)], True, "entries[4].round"),
    "a round the plan has not reached": ([((*ENTRY, "round"), 3)], True, "entries[4].round"),
    "an event that is none": ([((*ENTRY, "event"), "done")], True, "entries[4].event"),
    "a task that is not in the plan": ([((*ENTRY, "task"), "nobody")], True, "entries[4].task"),
    "a node that is not there": ([((*ENTRY, "node_id"), "decision:x")], True, "entries[4].node_id"),
    "an assumption that is not there": ([((*ENTRY, "assumption_id"), "a")], True, "entries[4].assumption_id"),
    "an assumption that is an entity": ([((*ENTRY, "assumption_id"), "entity")], True, "entries[4].assumption_id"),
    "data too deep": ([((*ENTRY, "data"), {"deep": DEEP})], True, "entries[4].data"),
    "a history made anew": ([((*ENTRY, "detail"), "holds")], True, "head"),
    "an empty history": ([(("entries",), [])], True, "head"),
    "a version from the future": ([(("version",), 2)], False, ""),
    "another schema": ([(("schema",), "contextmesh.ledger")], False, ""),
}  # fmt: skip


@pytest.mark.parametrize("what", RUN_CASES)
def test_a_run_ledger_that_does_not_hold(what: str, tmp_path: Path) -> None:
    edits, anew, where = RUN_CASES[what]
    top = parsed()[RUNS]
    for path, new in edits:
        if new is DROP:
            del at(top, path[:-1])[path[-1]]
        else:
            at(top, path[:-1])[path[-1]] = _id_of("entity") if new == "entity" else new
    manifest = parsed()[MANIFEST]
    if anew:
        top = rechained(top)
        if where != "head":  # a forger who also writes the manifest
            manifest["ledger_head"] = top["head"]
    with pytest.raises(MogError) as caught:
        read_session(folder(tmp_path, **{RUNS: dumped(top), MANIFEST: dumped(manifest)}))
    assert caught.value.where.startswith(RUNS) and where in caught.value.where, caught.value


def test_two_entries_that_changed_places(tmp_path: Path) -> None:
    top = parsed()[RUNS]
    rows = top["entries"]
    rows[3], rows[4] = rows[4], rows[3]
    with pytest.raises(StoreDamaged, match=r"entries\[3\]"):
        read_session(folder(tmp_path, **{RUNS: dumped(top)}))


MANIFESTS: dict[str, tuple[dict[str, Any], str]] = {
    "another schema": ({"schema": "contextmesh.graph"}, "schema"),
    "a version from the future": ({"version": 3}, ""),
    "a version that is a flag": ({"version": True}, "version"),
    "a version of zero": ({"version": 0}, "version"),
    "version 1 with the fields of 2": ({"version": 1}, ""),
    "generation zero": ({"generation": 0}, "generation"),
    "a generation that is a flag": ({"generation": True}, "generation"),
    "another generation": ({"generation": 2}, ""),
    "rounds below zero": ({"rounds": -1}, "rounds"),
    "rounds that are a flag": ({"rounds": False}, "rounds"),
    "no graph": ({"graph": None}, "graph"),
    "no resolver": ({"resolver": None}, "resolver"),
    "a plan without a ledger": ({"ledger": None, "ledger_head": None}, "ledger"),
    "a ledger without a plan": ({"execution": None}, "execution"),
    "a plan without a head": ({"ledger_head": None}, "ledger_head"),
    "a head without a plan": ({"execution": None, "ledger": None}, "execution"),
    "a head that is no digest": ({"ledger_head": "abc"}, "ledger_head"),
    "a head in capitals": ({"ledger_head": "A" * 64}, "ledger_head"),
    "another head": ({"ledger_head": "0" * 64}, "head"),
    "a graph elsewhere": ({"graph": "../graph-000001.json"}, "graph"),
    "a graph by its whole path": ({"graph": "/etc/passwd"}, "graph"),
    "a graph with the path of a twin": ({"graph": "./graph-000001.json"}, "graph"),
    "a graph of another generation": ({"graph": "graph-000002.json"}, "graph"),
    "a graph without zeroes": ({"graph": "graph-1.json"}, "graph"),
    "an empty name": ({"resolver": ""}, "resolver"),
    "a name that is the folder": ({"resolver": "."}, "resolver"),
    "a name with a NUL": ({"resolver": "resolver-000001.json\0"}, "resolver"),
    "a ledger in the place of the plan": ({"execution": "runledger-000001.json"}, "execution"),
    "a policy that is no list": ({"walker": {"policy": "mentions"}}, "walker"),
    "a policy with a type twice": ({"walker": {"policy": ["cites", "cites"]}}, "walker"),
    "a policy with no such type": ({"walker": {"policy": ["leads_to"]}}, "walker"),
    "a policy of numbers": ({"walker": {"policy": [1]}}, "walker"),
    "no hops": ({"walker": {"hop_budget": 0}}, "walker"),
    "hops that are a flag": ({"walker": {"hop_budget": True}}, "walker"),
    "no baseline": ({"walker": {"flat_k": 0}}, "walker"),
    "nothing looked at": ({"walker": {"max_expand": -5}}, "walker"),
    "half a number of hops": ({"walker": {"hop_budget": 2.5}}, "walker"),
    "an unknown setting": ({"walker": {"depth": 2}}, "walker"),
}


@pytest.mark.parametrize("what", MANIFESTS)
def test_a_manifest_that_does_not_hold(what: str, tmp_path: Path) -> None:
    over, where = MANIFESTS[what]
    top = parsed()[MANIFEST]
    for key, value in over.items():
        top[key] = {**top[key], **value} if key == "walker" else value
    with pytest.raises(MogError) as caught:
        read_session(folder(tmp_path, **{MANIFEST: dumped(top)}))
    assert where in caught.value.where and caught.value.way_out, caught.value


# -- what only holds between files


def test_a_name_that_the_graph_does_not_have_is_refused(tmp_path: Path) -> None:
    top = parsed()[RESOLVER]
    top["canonical"]["entity:x"] = "X"
    with pytest.raises(StoreDamaged, match=r"canonical.*entity:x"):
        read_session(folder(tmp_path, **{RESOLVER: dumped(top)}))


@pytest.mark.parametrize("label", ["HASHER", "Hasher "])
def test_a_name_that_the_graph_spells_otherwise_is_refused(label: str, tmp_path: Path) -> None:
    top = parsed()[RESOLVER]
    id = next(id for id, name in top["canonical"].items() if name == "Hasher")
    top["canonical"][id] = label
    top["log"] = []
    with pytest.raises(StoreDamaged, match="canonical"):
        read_session(folder(tmp_path, **{RESOLVER: dumped(top)}))


def test_a_name_that_is_no_entity_is_refused(tmp_path: Path) -> None:
    top = parsed()[RESOLVER]
    node = next(n for n in parsed()[GRAPH]["nodes"] if n["type"] == "decision")
    top["canonical"][node["id"]] = node["label"]
    with pytest.raises(StoreDamaged, match=r"canonical.*decision"):
        read_session(folder(tmp_path, **{RESOLVER: dumped(top)}))


def test_a_decision_that_does_not_cite_its_plan_is_refused(tmp_path: Path) -> None:
    top = parsed()[GRAPH]
    task = parsed()[PLAN]["tasks"][0]
    top["edges"] = [e for e in top["edges"] if not (e["src"] == task["node_id"] and e["type"] == "cites")]
    with pytest.raises(MogError) as caught:
        read_session(folder(tmp_path, **{GRAPH: dumped(top)}))
    assert caught.value.where.startswith((GRAPH, PLAN))


def test_a_plan_whose_source_is_of_another_type_is_refused(tmp_path: Path) -> None:
    from mog.engine.executor.v1.execution import check_execution, read_execution
    from mog.engine.reason.v1.graph import read_graph

    execution, graph = read_execution(small_texts()[PLAN]), parsed()[GRAPH]
    graph["nodes"] = [n for n in graph["nodes"] if n["type"] in ("assumption", "evidence", "entity")]
    kept = {n["id"] for n in graph["nodes"]}
    graph["edges"] = [e for e in graph["edges"] if e["src"] in kept and e["dst"] in kept]
    with pytest.raises(StoreDamaged, match="no node of the graph"):
        check_execution(execution, read_graph(dumped(graph)))


# -- bytes that are no JSON of ours


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data.rstrip()[:-1],
    "doubled": lambda data: data + data,
    "with a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "in UTF-16": lambda data: data.decode().encode("utf-16"),
    "with a byte that is no UTF-8": lambda data: data.replace(b"e", b"\xff", 1),
    "with an overlong slash": lambda data: data.replace(b"e", b"\xc0\xaf", 1),
    "with NaN": lambda data: data.replace(b'"version": ', b'"x": NaN, "version": ', 1),
    "with infinity": lambda data: data.replace(b'"version": ', b'"x": -Infinity, "version": ', 1),
    "with a number beyond a double": lambda data: data.replace(b'"version": ', b'"x": 1e999, "version": ', 1),
    "with a number of 5,000 digits": lambda data: data.replace(b'"version": ', b'"x": ' + b"9" * 5000 + b', "version": ', 1),
    "with a key twice": lambda data: data.replace(b'"version": ', b'"version": 1, "version": ', 1),
    "with a comma at the end": lambda data: data.rstrip()[:-1] + b",}",
    "with a comment": lambda data: b"// of the run\n" + data,
    "with single quotes": lambda data: data.replace(b'"schema"', b"'schema'", 1),
    "with a NUL": lambda data: data + b"\0",
    "with 100,000 brackets": lambda data: b"[" * 100_000,
    "with 100,000 objects": lambda data: b'{"a":' * 100_000,
    "a list": lambda data: b"[]",
    "a text": lambda data: b'"contextmesh"',
    "null": lambda data: b"null",
}


@pytest.mark.parametrize("name", [MANIFEST, PLAN, RUNS, RESOLVER, GRAPH])
@pytest.mark.parametrize("what", BYTES)
def test_bytes_that_are_no_file_of_ours(what: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(MogError) as caught:
        read_session(folder(tmp_path, **{name: BYTES[what](small_texts()[name])}))
    assert caught.value.where.startswith(name) and caught.value.way_out


# -- the folder itself


@pytest.mark.parametrize("name", [PLAN, RUNS, RESOLVER, GRAPH])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(StoreDamaged) as caught:
        read_session(folder(tmp_path, **{name: None}))
    assert caught.value.where.endswith(name)


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
@pytest.mark.parametrize("name", [MANIFEST, PLAN, RUNS, RESOLVER, GRAPH])
@pytest.mark.parametrize("kind", ["link", "link to nothing", "pipe", "folder"])
def test_something_else_in_the_place_of_a_file(kind: str, name: str, tmp_path: Path) -> None:
    where = folder(tmp_path)
    outside = tmp_path / "outside.json"
    (where / name).replace(outside)
    if kind == "link":
        (where / name).symlink_to(outside)
    elif kind == "link to nothing":
        (where / name).symlink_to(tmp_path / "nothing")
    elif kind == "pipe":
        os.mkfifo(where / name)
    else:
        (where / name).mkdir()
    with pytest.raises(UsageError) as caught:
        read_session(where)
    assert caught.value.where.endswith(name) and "link" in caught.value.way_out


def test_no_folder_and_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        read_session(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no session"):
        read_session(tmp_path)


# -- single bits, where the digests stand beside the files


def _written(tmp_path: Path) -> Path:
    session = read_session(folder(tmp_path))
    texts = [session.texts[name] for name in session.manifest.names]
    assert session.ledger is not None
    where = tmp_path / "ours"
    write_session(where, Contents(session.manifest.rounds, session.manifest.walker, *texts, session.ledger.head))
    return where


def test_every_single_bit_that_flips_in_what_we_wrote_is_noticed(tmp_path: Path) -> None:
    where, rng = _written(tmp_path), random.Random(7)
    (where / "session.json").unlink()
    for name in (MANIFEST, PLAN, RUNS, RESOLVER, GRAPH):
        data = (where / name).read_bytes()
        for _ in range(40):
            place, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
            (where / name).write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
            with pytest.raises(MogError):
                read_session(where)
        (where / name).write_bytes(data)
    assert read_session(where).summed


def test_the_corruptions_are_many_and_the_earlier_package_reads_the_sound_folder(tmp_path: Path) -> None:
    bytes_, rest = len(BYTES) * 5, len(PLANS) + len(RUN_CASES) + len(MANIFESTS)
    assert len({_named(case) for case in _every_field()}) + bytes_ + rest >= 150
    from session_kit import WORKERS

    where = folder(tmp_path)
    em, world = earlier_sessions(), small_world()[0]
    assert em.Session.load(where, registry=world.fill(em.Registry())).runner["schema"].worker_key == WORKERS[0]
    assert read_session(where).fell_back == ""
