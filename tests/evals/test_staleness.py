"""The staleness and memory suites: their oracle sees what it should, and mog agrees with it on a project made up."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from mog.engine.errors import UsageError
from mog.engine.evals import memory, mutations, staleness
from mog.engine.evals.mutations import Place
from mog.engine.evals.suites import Options, SuiteResult

CODE = b'@cache\ndef f(a):\n    """Doc."""\n    return a\n\n\nclass C:\n    def m(self):\n        return 1\n'


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> mutations.Project:
    return mutations.made(tmp_path_factory.mktemp("made") / "tree", Random(3))


def test_the_oracle_sees_every_edit_and_no_comment() -> None:
    for place, same, other in [
        (Place("a.py", "f"), CODE.replace(b"return a", b"return (  # why\n        a)"), CODE.replace(b"@cache\n", b"")),
        (Place("a.py", "C.m"), b"# top\n" + CODE, CODE.replace(b"return 1", b"return 2")),
        (Place("a.py"), CODE.replace(b"\n", b"\r\n"), CODE + b"\n"),
    ]:
        assert mutations.version(place, same) == mutations.version(place, CODE) != mutations.version(place, other)
    assert mutations.version(Place("a.py", "g"), CODE) is None
    assert mutations.version(Place("a.py", "f"), None) is None


@pytest.mark.parametrize("name", mutations.STEPS)
def test_every_step_does_what_its_name_says(project: mutations.Project, name: str) -> None:
    place, act = Place("pkg/part1.py", "load_1"), mutations.STEPS[name]
    project.git("checkout", "-q", "--force", "HEAD")
    project.git("clean", "-q", "-d", "--force", "--force")
    project.before.append({})
    if name == "undo":
        assert mutations.edit(project, place)
        project.before.append({})
    before = mutations.version(place, project.read(place.path))
    assert act(project, place)
    after = mutations.version(place, project.read(place.path))
    gone = {"rename", "delete", "carry", "move file", "delete file"}
    assert (after is None) == (name in gone)
    if name not in gone:
        assert (after == before) == (name in {"cosmetic", "copy", "edit beside"})


@pytest.fixture(scope="module")
def result() -> SuiteResult:
    return staleness.run(Options(limit=14, seed=11, extra={"notes": "14"}))


def test_mog_agrees_with_the_oracle_on_a_project_made_up(result: SuiteResult) -> None:
    assert [(gate.value, gate.met) for gate in result.gates] == [("0", True)] * 3
    judged, changed = (result.tables[0].rows[0].measures[key].value for key in ("judged", "changed"))
    assert judged > changed > 0
    assert result.tables[1].rows[0].measures["named"].value > 0


def test_a_rule_that_is_wrong_is_counted_as_wrong(result: SuiteResult) -> None:
    by_file = result.tables[0].rows[2]
    assert by_file.name.endswith("hash of the file")
    assert by_file.measures["false_stale"].value > 0


def test_a_project_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none of the projects"):
        staleness.run(Options(repos=tmp_path))


def test_recall_is_measured_on_a_set_made_up_and_says_so() -> None:
    result = memory.run(Options(limit=1))
    assert "made-up" in result.about
    assert result.gates[0].met
    near, alone = result.tables[0].rows
    assert near.measures["50"].value > alone.measures["50"].value


def test_a_file_of_locomo_is_read(tmp_path: Path) -> None:
    turn = {"speaker": "A", "dia_id": "D1:1", "text": "the red kite"}
    row = {
        "conversation": {"speaker_a": "A", "session_1": [turn], "session_1_date_time": "x"},
        "qa": [{"question": "which kite?", "evidence": ["D1:1"]}, {"question": "lost", "evidence": ["D9:9"]}],
    }
    path = tmp_path / "made.json"
    path.write_text(json.dumps([row]))
    (found,) = memory.read(path)
    assert found.turns == (("D1:1", "session_1", "A: the red kite"),)
    assert found.questions == (("which kite?", frozenset({"D1:1"})),)
    assert list(memory.recalls(found, memory.NOTES)) == [(1.0, 1.0, 1.0, 1.0)]


@pytest.mark.parametrize("text", ["{", "[1]", '[{"conversation": {}}]', "null"])
def test_another_file_is_a_typed_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "made.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        list(memory.read(path))
