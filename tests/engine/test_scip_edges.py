"""An index of a repository is read, and what it knows outranks our own links; what it does not know, or knows of other bytes, does
not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from scip_maker import UTF8, UTF16, UTF32, Doc, index, settle, symbol, touch_after, write
from scip_proto import scip_pb2

from mog.engine.config import EngineConfig
from mog.engine.model import IndexReport, ScipHealth, Tier
from mog.engine.workspace import Workspace

MakeRepo = Callable[[Mapping[str, str | bytes]], Path]

LIB = "class A:\n    def run(self):\n        pass\n\n\nclass B:\n    def run(self):\n        pass\n"
APP = "def main(thing):\n    thing.run()\n"
A, A_RUN = symbol("lib/A#"), symbol("lib/A#run().")
B, B_RUN = symbol("lib/B#"), symbol("lib/B#run().")
MAIN = symbol("app/main().")


def lib(text: str = LIB) -> Doc:
    return Doc("lib.py", text).define("A", A).define("run", A_RUN, 0).define("B", B).define("run", B_RUN, 1)


def app(target: str, text: str = APP) -> Doc:
    return Doc("app.py", text).define("main", MAIN).refer("run", target)


def indexed(root: Path, **settings: object) -> tuple[IndexReport, dict[str, set[tuple[str, str, str]]], list[tuple[str, str]]]:
    """The report, edges by kind as (from, to, tier), and (kind, to) of those an index told."""
    with Workspace.open(root, config=EngineConfig(**settings)) as workspace:  # type: ignore[arg-type]
        report = workspace.index(workers=1)
        found: dict[str, set[tuple[str, str, str]]] = {}
        told = []
        for kind in ("calls", "references", "inherits"):
            rows = list(workspace.export_edges(kind))
            found[kind] = {(row["caller"], row["callee"], row["tier"]) for row in rows}
            told += [(kind, row["callee"]) for row in rows if row.get("known_by") == "scip"]
    return report, found, sorted(told)


def health(report: IndexReport) -> ScipHealth:
    assert report.health.scip is not None
    return report.health.scip


class TestItsEdgesWin:
    def test_a_call_we_could_only_guess_becomes_certain_and_the_guesses_go(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        _, ours, _ = indexed(root)
        assert ours["calls"] == {("app.py:1", "lib.py:2", "candidate"), ("app.py:1", "lib.py:7", "candidate")}
        write(root, [lib(), app(B_RUN)])
        report, found, told = indexed(root)
        assert found["calls"] == {("app.py:1", "lib.py:7", "certain")}
        assert told == [("calls", "lib.py:7")]
        assert (health(report).documents, health(report).edges, health(report).dropped) == ({"used": 2}, 1, 1)
        assert health(report).indexes == ("index.scip (test-indexer 1)",)

    def test_a_certain_edge_of_ours_that_it_contradicts_goes(self, make_repo: MakeRepo) -> None:
        text = "from lib import A\n\n\ndef main():\n    A().run()\n"
        root = make_repo({"lib.py": LIB, "app.py": text})
        assert ("app.py:4", "lib.py:2", "certain") in indexed(root)[1]["calls"]
        write(root, [lib(), app(B_RUN, text).refer("A", A, 1)])
        assert indexed(root)[1]["calls"] == {("app.py:4", "lib.py:1", "certain"), ("app.py:4", "lib.py:7", "certain")}

    def test_what_it_does_not_speak_of_stays_ours(self, make_repo: MakeRepo) -> None:
        text = "from lib import A\n\n\ndef main(other):\n    A().run()\n    other.run()\n"
        root = make_repo({"lib.py": LIB, "app.py": text})
        _, ours, _ = indexed(root)
        write(root, [lib(), app(B_RUN, text)])  # of two calls of that name it knows the first
        _, found, _ = indexed(root)
        guess, fact = ("app.py:4", "lib.py:7", "candidate"), ("app.py:4", "lib.py:7", "certain")
        assert guess in ours["calls"]
        assert found["calls"] == ours["calls"] - {guess} | {fact}
        assert ("app.py:4", "lib.py:2", "certain") in found["calls"]

    def test_overrides_stay_beside_the_method_it_names(self, make_repo: MakeRepo) -> None:
        text = (
            "class A:\n    def run(self):\n        pass\n\n\nclass B(A):\n    def run(self):\n        pass\n\n\n"
            "def main(a: A):\n    a.run()\n"
        )
        root = make_repo({"lib.py": text})
        before = indexed(root)[1]["calls"]
        assert ("lib.py:11", "lib.py:7", "hierarchy") in before
        doc = Doc("lib.py", text).define("A", A).define("run", A_RUN, 0).define("B", B, above=[A]).define("run", B_RUN, 1)
        write(root, [doc.refer("A", A, 1).refer("run", A_RUN, 2)])
        _, found, told = indexed(root)
        assert found["calls"] == before
        assert ("calls", "lib.py:2") in told
        assert ("inherits", "lib.py:1") in told

    def test_a_method_that_is_only_declared_leads_to_what_implements_it(self, make_repo: MakeRepo) -> None:
        text = (
            "class A:\n    def run(self):\n        raise NotImplementedError\n\n    def go(self):\n        self.run()\n\n\n"
            "class B(A):\n    def run(self):\n        pass\n"
        )
        root = make_repo({"lib.py": text})
        before = indexed(root)[1]["calls"]
        assert {tier for _, to, tier in before if to == "lib.py:10"} >= {"certain"}
        doc = Doc("lib.py", text).define("A", A).define("run", A_RUN, 0).define("B", B).define("run", B_RUN, 2)
        write(root, [doc.define("go", symbol("lib/A#go().")).refer("run", A_RUN, 1)])
        _, found, told = indexed(root)
        assert found["calls"] == before | {("lib.py:5", "lib.py:2", "hierarchy")}
        assert told == [("calls", "lib.py:2")]

    def test_calling_a_class_runs_its_constructor(self, make_repo: MakeRepo) -> None:
        text = "class A:\n    def __init__(self):\n        pass\n\n\ndef main(make):\n    make()\n"
        root = make_repo({"lib.py": text})
        doc = Doc("lib.py", text).define("A", A).define("__init__", symbol("lib/A#__init__().")).refer("make", A, 1)
        write(root, [doc])
        assert indexed(root)[1]["calls"] == {("lib.py:6", "lib.py:1", "certain"), ("lib.py:6", "lib.py:2", "certain")}

    def test_references_and_inheritance(self, make_repo: MakeRepo) -> None:
        text = "import lib\n\n\nclass C(lib.A):\n    pass\n\n\ndef use(x):\n    x.handler = lib.B\n"
        root = make_repo({"lib.py": LIB, "app.py": text})
        above = [A, symbol("other/Base#", "elsewhere")]
        doc = Doc("app.py", text).define("C", symbol("app/C#"), above=above).refer("A", A)
        write(root, [lib(), doc.define("use", symbol("app/use().")).refer("B", B)])
        _, found, told = indexed(root)
        assert ("app.py:8", "lib.py:6", "certain") in found["references"]
        assert told == [("inherits", "lib.py:1"), ("references", "lib.py:1"), ("references", "lib.py:6")]

    def test_what_is_defined_nowhere_here_is_external(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        write(root, [lib(), app("test pip requests 2.0 requests/sessions/Session#run().")])
        with Workspace.open(root) as workspace:
            workspace.index(workers=1)
            out = workspace.neighbors("app.py::main", direction="out").edges_out
        (edge,) = [one for one in out if one.kind == "calls"]
        assert (edge.other.type, edge.other.kind, edge.other.name) == ("unresolved", "external", "requests.sessions.Session.run")
        assert (edge.tier, edge.known_by) == (Tier.unknown, "scip")

    def test_packages_of_npm_are_named_as_they_are_imported(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        for package, name in (("react", "react"), ("@types/react", "react"), ("@types/a__b", "@a/b")):
            write(root, [lib(), app(f"scip-typescript npm {package} 1.0 `index.d.ts`/use/run().")])
            with Workspace.open(root) as workspace:
                workspace.index(workers=1)
                out = workspace.neighbors("app.py::main", direction="out").edges_out
            assert [one.other.name for one in out if one.kind == "calls"] == [f"{name}.run"]

    def test_several_indexes_are_one(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        write(root, [lib()], "lib.scip")
        write(root, [app(A_RUN)], ".mog/scip/app.scip")
        report, found, _ = indexed(root)
        assert found["calls"] == {("app.py:1", "lib.py:2", "certain")}
        assert len(health(report).indexes) == 2

    def test_an_overload_is_what_the_name_reads(self, make_repo: MakeRepo) -> None:
        text = (
            "from typing import overload\n\n\n@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\n"
            "def f(x):\n    return x\n\n\ndef main():\n    f(1)\n"
        )
        root = make_repo({"lib.py": text})
        f = symbol("lib/f().")
        write(root, [Doc("lib.py", text).define("f", f, 0).refer("f", f, 3)])
        assert indexed(root)[1]["calls"] == {("lib.py:12", "lib.py:8", "certain")}

    def test_one_symbol_for_two_things_is_not_believed(self, make_repo: MakeRepo) -> None:
        text = "def a():\n    def inner():\n        pass\n    inner()\n\n\ndef b():\n    def inner():\n        pass\n    inner()\n"
        root = make_repo({"lib.py": text})
        before = indexed(root)[1]["calls"]
        same = symbol("lib/inner().")
        doc = Doc("lib.py", text).define("inner", same, 0).define("inner", same, 2).refer("inner", same, 1)
        write(root, [doc.refer("inner", same, 3)])
        assert indexed(root)[1]["calls"] == before


class TestPlaces:
    @pytest.mark.parametrize("encoding", [UTF8, UTF16, UTF32, 0])
    @pytest.mark.parametrize("ending", ["\n", "\r\n"])
    def test_encodings(self, make_repo: MakeRepo, encoding: int, ending: str) -> None:
        text = f'def main(thing):{ending}    "é𝔘🚀"; thing.run(); thing.run(){ending}'
        root = make_repo({"lib.py": LIB, "app.py": text})
        doc = Doc("app.py", text, encoding=encoding).define("main", MAIN).refer("run", A_RUN, 0).refer("run", A_RUN, 1)
        write(root, [lib(), doc])
        assert indexed(root)[1]["calls"] == {("app.py:1", "lib.py:2", "certain")}

    def test_a_place_inside_a_character_means_other_bytes(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": "# é\n" + APP})
        doc = app(A_RUN, "# é\n" + APP)
        doc.message.occurrences.add(range=[0, 3, 4], symbol=A)
        write(root, [lib(), doc])
        assert health(indexed(root)[0]).examples == {"other_bytes": ("app.py",)}

    def test_an_index_of_a_folder_counts_from_there(self, make_repo: MakeRepo) -> None:
        root = make_repo({"sub/lib.py": LIB, "sub/app.py": APP})
        write(root, [lib(), app(A_RUN)], "sub.scip", root=(root / "sub").resolve().as_uri())
        assert indexed(root)[1]["calls"] == {("sub/app.py:1", "sub/lib.py:2", "certain")}

    def test_a_named_index_in_a_folder_counts_from_that_folder(self, make_repo: MakeRepo) -> None:
        root = make_repo({"sub/lib.py": LIB, "sub/app.py": APP})
        write(root, [lib(), app(A_RUN)], "sub/index.scip")
        assert indexed(root)[0].health.scip is None
        report, found, _ = indexed(root, scip=("sub/index.scip", "gone.scip"))
        assert found["calls"] == {("sub/app.py:1", "sub/lib.py:2", "certain")}
        assert health(report).problems == {"gone.scip: index: missing": 1}


class TestStale:
    def test_a_file_written_after_the_index_is_not_spoken_for(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        before = indexed(root)[1]["calls"]
        path = write(root, [lib(), app(B_RUN)])
        touch_after(root / "app.py", path)
        report, found, _ = indexed(root)
        assert found["calls"] == before
        assert health(report).documents == {"used": 1, "written_later": 1}
        assert health(report).examples == {"written_later": ("app.py",)}

    def test_nor_are_calls_into_a_file_written_after_it(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        before = indexed(root)[1]["calls"]
        path = write(root, [lib(), app(B_RUN)])
        assert indexed(root)[1]["calls"] != before
        touch_after(root / "lib.py", path)
        report, found, _ = indexed(root)
        assert found["calls"] == before
        assert health(report).unplaced == 1

    def test_other_bytes_of_an_older_date_are_noticed(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        path = write(root, [lib(), app(B_RUN)])
        (root / "app.py").write_text("import os\n" + APP)
        settle(root, path)
        report, found, _ = indexed(root)
        assert health(report).examples == {"other_bytes": ("app.py",)}
        assert ("app.py:2", "lib.py:7", "candidate") in found["calls"]

    def test_a_text_in_the_index_decides_whatever_the_dates(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        docs = [Doc("app.py", APP, with_text=True).define("main", MAIN).refer("run", B_RUN), lib()]
        path = write(root, docs)
        touch_after(root / "app.py", path)
        assert health(indexed(root)[0]).documents == {"used": 2}
        (root / "app.py").write_text(APP.replace("thing", "thong"))  # every range still fits
        settle(root, path)
        assert health(indexed(root)[0]).examples == {"other_bytes": ("app.py",)}

    def test_a_document_of_no_file_here_is_counted(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "notes.md": "x\n"})
        write(root, [lib(), Doc("gone.py", APP), Doc("notes.md", "x\n")])
        assert health(indexed(root)[0]).documents == {"not_indexed": 2, "used": 1}

    def test_when_the_index_goes_so_do_its_edges(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        first = indexed(root)[0].facts_hash
        write(root, [lib(), app(B_RUN)])
        second = indexed(root)[0]
        assert second.facts_hash != first
        (root / "index.scip").unlink()
        third = indexed(root)[0]
        assert (third.facts_hash, third.health.scip) == (first, None)

    def test_a_run_without_changes_changes_nothing(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        write(root, [lib(), app(B_RUN)])
        first = indexed(root)[0]
        again = indexed(root)[0]
        assert (again.changed, again.generation) == (False, first.generation)


class TestHostile:
    @pytest.mark.parametrize("path", ["../out.py", "/etc/passwd", "a//b.py", "a\\b.py", "./app.py", ""])
    def test_paths_that_lead_elsewhere_are_refused_and_counted(self, make_repo: MakeRepo, path: str) -> None:
        root = make_repo({"app.py": APP})
        write(root, [Doc(path, APP)])
        report = indexed(root)[0]
        assert health(report).problems == {"index.scip: documents.relative_path: not_a_relative_path": 1}

    def test_damage_keeps_what_came_before_and_names_the_field(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        data = index([lib(), app(B_RUN), Doc("late.py", APP).refer("run", A_RUN)])
        (root / "index.scip").write_bytes(data[:-3])
        settle(root, root / "index.scip")
        report, found, _ = indexed(root)
        assert found["calls"] == {("app.py:1", "lib.py:7", "certain")}
        assert health(report).problems == {"index.scip: documents: truncated": 1}

    def test_what_is_no_index_is_said_to_be_none(self, make_repo: MakeRepo) -> None:
        root = make_repo({"app.py": APP})
        (root / "index.scip").write_text("{}\n")
        assert sum(health(indexed(root)[0]).problems.values()) == 1

    @pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
    def test_a_link_is_not_followed(self, make_repo: MakeRepo, tmp_path: Path) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        write(tmp_path, [lib(), app(B_RUN)], "outside.scip")
        (root / "index.scip").symlink_to(tmp_path / "outside.scip")
        assert indexed(root)[0].health.scip is None
        report, _, told = indexed(root, scip=("index.scip",))
        assert (told, health(report).problems) == ([], {"index.scip: index: missing": 1})

    def test_an_index_that_mog_wrote_tells_nothing(self, make_repo: MakeRepo) -> None:
        root = make_repo({"lib.py": LIB, "app.py": APP})
        write(root, [lib(), app(B_RUN)], tool="mog")
        report, _, told = indexed(root)
        assert told == []
        assert health(report).documents == {}
        assert len(health(report).problems) == 1

    def test_names_of_strangers_reach_no_terminal_raw(self, make_repo: MakeRepo) -> None:
        from mog.app.plain import as_lines

        root = make_repo({"app.py": APP})
        write(root, [Doc("app\x1b[31m.py", APP)], tool="evil\x1b]0;x\x07")
        report = indexed(root)[0]
        shown = "".join(text for line in as_lines(report) for text, _ in line)
        assert "evil" in shown
        assert "\x1b" not in shown

    def test_many_definitions_of_one_symbol(self, make_repo: MakeRepo) -> None:
        files = {f"m{at}.py": "def run():\n    pass\n" for at in range(12)}
        root = make_repo({**files, "app.py": APP})
        before = indexed(root)[1]["calls"]
        docs = [Doc(path, text).define("run", A_RUN) for path, text in files.items()]
        write(root, [*docs, app(A_RUN)])
        assert indexed(root)[1]["calls"] == before

    def test_a_gated_file_gives_nothing(self, make_repo: MakeRepo) -> None:
        secret = "TOKEN = '" + "ghp_" + "FAKE" * 9 + "'\n" + APP
        root = make_repo({"lib.py": LIB, "app.py": secret})
        write(root, [lib(), app(B_RUN, secret)])
        report, found, told = indexed(root)
        assert (report.health.gated, found["calls"], told) == (1, set(), [])
        assert health(report).documents == {"not_indexed": 1, "used": 1}


def test_the_runtime_agrees_that_the_helper_writes_scip() -> None:
    whole = scip_pb2().Index.FromString(index([lib(), app(A_RUN)]))
    assert [document.relative_path for document in whole.documents] == ["lib.py", "app.py"]
