"""The index we write, read back by google's runtime from the published schema, and by our own reader under another tool's name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from scip_maker import settle
from scip_proto import scip_pb2

from mog.app.cli.main import main
from mog.engine.code.scip.symbols import parse
from mog.engine.model import ScipExport
from mog.engine.workspace import Workspace

MakeRepo = Callable[[Mapping[str, str | bytes]], Path]

FILES = {
    "pkg/lib.py": (
        "class Base:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        '''Takes a step.'''\n\n\n"
        "class Sub(Base):\n    @property\n    def name(self):\n        return 'é𝔘'\n\n    @name.setter\n    def name(self, value):\n"
        "        pass\n\n\ndef make():\n    'é𝔘'; return Sub()\n"
    ),
    "app.py": (
        "from pkg.lib import Sub, make\n\n\ndef main(a, b):\n    make().run()\n    a.run(); b.run()\n    return Sub\n\n\n"
        "def test_it():\n    main(make, make)\n"
    ),
    "web/shape.ts": (
        "export class Shape { area() { return this.side(); } side() { return 1; } }\n"
        "export const draw = () => new Shape().area();\n"
    ),
    "web/odd name.js": "export function go() { return 1; }\n",
}


def exported(root: Path) -> tuple[Any, ScipExport]:
    """The index of a repository as google's runtime reads it."""
    made = ScipExport()
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        data = b"".join(workspace.export_scip(made))
    return scip_pb2().Index.FromString(data), made


def text_at(root: Path, document: Any, place: Any) -> str:
    line, first, *rest = place
    raw = (root / document.relative_path).read_bytes().split(b"\n")[line]
    assert len(rest) == 1
    return raw[first : rest[0]].decode()


def occurrences(root: Path, index: Any) -> set[tuple[str, str, str, bool]]:
    """(path, text, last two descriptors, defines) of every occurrence."""
    found = set()
    for document in index.documents:
        for one in document.occurrences:
            parts = parse(one.symbol)
            assert parts is not None
            name = ".".join(step.name for step in parts.descriptors[-2:])
            found.add((document.relative_path, text_at(root, document, one.range), name, bool(one.symbol_roles & 1)))
    return found


def test_what_is_in_it(make_repo: MakeRepo) -> None:
    root = make_repo(FILES)
    index, made = exported(root)
    assert (index.metadata.tool_info.name, index.metadata.text_document_encoding) == ("mog", 1)
    assert {(one.relative_path, one.language, one.position_encoding) for one in index.documents} == {
        ("app.py", "Python", 1), ("pkg/lib.py", "Python", 1), ("web/shape.ts", "TypeScript", 1), ("web/odd name.js", "JavaScript", 1),
    }  # fmt: skip
    found = occurrences(root, index)
    assert {
        ("pkg/lib.py", "Base", "lib.py.Base", True),
        ("pkg/lib.py", "step", "Base.step", True),
        ("pkg/lib.py", "step", "Base.step", False),
        ("pkg/lib.py", "Sub", "lib.py.Sub", False),  # behind characters of two and four bytes
        ("app.py", "make", "lib.py.make", False),
        ("web/shape.ts", "draw", "shape.ts.draw", True),
        ("web/shape.ts", "side", "Shape.side", False),
        ("web/shape.ts", "area", "Shape.area", False),
        ("web/odd name.js", "go", "odd name.js.go", True),
    } <= found
    assert (made.documents, made.changed) == (4, 0)
    assert made.definitions == made.symbols


def test_every_symbol_is_told_once_and_every_occurrence_has_one(make_repo: MakeRepo) -> None:
    """What `scip lint` asks: symbols by the grammar, unique, known wherever they occur or are related, no occurrence twice."""
    index, _ = exported(make_repo(FILES))
    told = [info.symbol for document in index.documents for info in document.symbols]
    assert len(told) == len(set(told))
    for document in index.documents:
        places = [(*one.range, one.symbol, one.symbol_roles) for one in document.occurrences]
        assert len(places) == len(set(places))
        assert {one.symbol for one in document.occurrences} <= set(told)
        for info in document.symbols:
            assert {one.symbol for one in info.relationships} <= set(told)
    assert all(symbol.startswith("mog . repo . ") and parse(symbol) is not None for symbol in told)


def test_inheritance_signatures_and_documentation(make_repo: MakeRepo) -> None:
    index, _ = exported(make_repo(FILES))
    infos = {info.symbol.rpartition("/")[2]: info for document in index.documents for info in document.symbols}
    (above,) = infos["Sub#"].relationships
    assert above.is_implementation
    assert above.symbol.endswith("`lib.py`/Base#")
    assert list(infos["Base#step()."].documentation) == ["Takes a step."]
    assert infos["Base#step()."].signature_documentation.text == "def step(self)"
    assert {"Sub#name().", "Sub#name(+setter)."} <= infos.keys()


def test_what_may_stand_in_several_places_is_left_out_and_counted(make_repo: MakeRepo) -> None:
    text = "class A:\n    def go(self): pass\n\n\ndef f(x):\n    a = A()\n    a.go()\n    x.others.go()\n    a.go()\n"
    root = make_repo({"m.py": text})
    index, made = exported(root)
    assert ("m.py", "go", "A.go", False) not in occurrences(root, index)
    assert made.unplaced == 3
    (root / "m.py").write_text(text.replace("    x.others.go()\n", ""))
    index, made = exported(root)
    assert ("m.py", "go", "A.go", False) in occurrences(root, index)
    assert made.unplaced == 0


def test_a_file_that_changed_since_keeps_its_symbols_and_loses_its_places(make_repo: MakeRepo) -> None:
    root = make_repo(FILES)
    made = ScipExport()
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        (root / "app.py").write_text("\n\n" + FILES["app.py"])
        index = scip_pb2().Index.FromString(b"".join(workspace.export_scip(made)))
    (document,) = [one for one in index.documents if one.relative_path == "app.py"]
    assert (made.changed, len(document.occurrences), len(document.symbols)) == (1, 0, 2)


def test_gated_symbols_keep_their_name_alone(make_repo: MakeRepo) -> None:
    secret = "def connect():\n    password = 'hunter2-" + "x7Qz" * 6 + "'\n    return password\n\n\ndef other():\n    connect()\n"
    index, _ = exported(make_repo({"m.py": secret}))
    assert "x7Qz" not in str(index)


def test_ours_read_back_by_our_reader_gives_the_same_calls(make_repo: MakeRepo) -> None:
    """Under another tool's name: what mog wrote itself is not believed."""
    root = make_repo(FILES)
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        before = {tuple(sorted(row.items())) for row in workspace.export_edges("calls")}
        index = scip_pb2().Index.FromString(b"".join(workspace.export_scip(ScipExport())))
        index.metadata.tool_info.name = "other"
        (root / "index.scip").write_bytes(index.SerializeToString())
        settle(root, root / "index.scip")
        report = workspace.index(workers=1)
        rows = list(workspace.export_edges("calls"))
    assert report.health.scip is not None
    assert report.health.scip.documents == {"used": 4}
    assert sum(row.get("known_by") == "scip" for row in rows) >= 6
    assert {tuple(sorted((key, value) for key, value in row.items() if key != "known_by")) for row in rows} == before


def test_the_command(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_repo(FILES)
    monkeypatch.chdir(root)
    assert main(["index"]) == 0
    capsys.readouterr()
    assert main(["export", "scip", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["path"] == "mog.scip"
    assert said["documents"] == 4
    assert main(["export", "scip"]) == 0, "one of our own may be replaced"
    (root / "index.scip").write_bytes(b"\x0a\x06\x12\x04\x0a\x02xy")
    capsys.readouterr()
    assert main(["export", "scip", "--out", "index.scip"]) == 2, "that of another tool may not"
    assert "no SCIP index of mog" in capsys.readouterr().err
