"""An index of components, notebooks, scripts and settings reached by edits is the one built at once; it survives what is imported."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from context_kit import HUNTER

from mog.engine.model import IndexReport
from mog.engine.workspace import Workspace

MakeRepo = Callable[[Mapping[str, str]], Path]
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": ["from util import load\n", "def run():\n", "    load()\n"],
        }
    ]
}
FILES = {
    "package.json": '{"name": "x", "version": "1"}',
    "data.json": '{"a": {"b": 1}}',
    "main.ts": "import { version } from './package.json'\nimport data from './data.json'\nimport App from './App.vue'\nexport const f = () => data.a\n",
    "App.vue": "<script setup>\nimport Foo from './Foo.vue'\nimport { save } from './api'\n</script>\n<template><Foo @x='save'/></template>\n",
    "Foo.vue": "<template><i/></template>\n",
    "api.js": "export function save() {}\n",
    "n.ipynb": json.dumps(NOTEBOOK, indent=1),
    "util.py": "def load(): ...\n",
    "run.sh": ". ./lib.sh\nhelp\n",
    "lib.sh": "help() { :; }\n",
    "schema.sql": "CREATE TABLE t (a int);\n",
    "query.sql": "CREATE VIEW v AS SELECT * FROM t;\n",
    "Dockerfile": "FROM a AS b\nFROM b AS c\n",
    "pyproject.toml": '[project.scripts]\nx = "util:load"\n',
    "conf.yaml": "load: 1\nsave:\n  a: 1\n",
}
EDITS: dict[str, dict[str, str | None]] = {
    "a table is renamed": {"schema.sql": "CREATE TABLE u (a int);\n"},
    "a second definition": {"more.sql": "CREATE TABLE t (b int);\n"},
    "a library goes": {"lib.sh": None},
    "a function of a library goes": {"lib.sh": "other() { :; }\n"},
    "a component goes": {"Foo.vue": None},
    "a handler is renamed": {"api.js": "export function store() {}\n"},
    "what a notebook calls is renamed": {"util.py": "def fetch(): ...\n"},
    "settings that a script imports go": {"data.json": None, "package.json": None},
    "keys change": {"conf.yaml": "load:\n  b: 1\n", "data.json": '{"a": 1, "c": 2}'},
    "a stage is renamed": {"Dockerfile": "FROM a AS d\nFROM d AS c\n"},
    "a script is another's": {"pyproject.toml": '[project.scripts]\nx = "util:gone"\n'},
    "outputs of a notebook": {"n.ipynb": json.dumps(NOTEBOOK | {"metadata": {}}, indent=1)},
}


def edges(workspace: Workspace, report: IndexReport) -> tuple[str, Counter[tuple[object, ...]]]:
    found = Counter((kind, *sorted(one.items())) for kind in report.edges for one in workspace.export_edges(kind))
    return report.facts_hash, found


def write(root: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        (root / name).unlink() if text is None else (root / name).write_text(text)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_edits_and_their_undoing_lead_where_a_rebuild_does(make_repo: MakeRepo, edit: dict[str, str | None]) -> None:
    root = make_repo(FILES)
    back = {name: FILES.get(name) for name in edit}
    seen = []
    with Workspace.open(root) as workspace:
        first = edges(workspace, workspace.index(workers=1))
        for step in (edit, back):
            write(root, step)
            seen.append(edges(workspace, workspace.index(workers=1)))
    assert seen[1] == first
    write(root, edit)
    shutil.rmtree(root / ".mog")
    with Workspace.open(root) as workspace:
        assert edges(workspace, workspace.index(workers=1)) == seen[0]


def test_every_kind_of_file_gives_what_the_guide_says(make_repo: MakeRepo) -> None:
    with Workspace.open(make_repo(FILES)) as workspace:
        report = workspace.index(workers=1)
        found = {
            f"{one['caller']} {kind} {one['callee']}"
            for kind in ("imports", "calls", "references", "inherits", "configures")
            for one in workspace.export_edges(kind)
        }
    assert report.health.problem_count == 0
    assert {
        "App.vue:5 references Foo.vue:1", "App.vue:5 references api.js:1", "main.ts:0 imports data.json:0", "n.ipynb:9 calls util.py:1",
        "run.sh:0 calls lib.sh:1", "query.sql:1 references schema.sql:1", "Dockerfile:2 inherits Dockerfile:1",
        "pyproject.toml:2 configures util.py:1",
    } <= found  # fmt: skip


def test_a_gated_value_keeps_its_key(make_repo: MakeRepo) -> None:
    secret = "ghp_" + "FAKE" * 9
    root = make_repo(
        {
            "conf.yaml": f"a: 1\ndatabase:\n  password: '{HUNTER}'\n  host: x\n",
            "a.py": "x = 1\n",
            "b.toml": f"t = '{secret}'\n",
        }
    )
    with Workspace.open(root) as workspace:
        report = workspace.index(workers=1)
        assert report.health.gated == 1
        gated = {
            node.qual
            for node in (workspace.find(f"sym:conf.yaml::{q}") for q in ("database.password", "database.host"))
            if node.gated
        }
    assert gated == {"database.password"}
