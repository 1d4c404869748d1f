# ruff: noqa: E501
"""Surfaces reached by edits are those of a full index; a project's own packs count, are checked, and cannot make anything slow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import surface_kit
from context_kit import HUNTER

from mog.engine.contracts import pack
from mog.engine.contracts.first import leading
from mog.engine.contracts.patterns import FILTERS, BadPattern, LinePattern, PathPattern, Template, wild
from mog.engine.contracts.reader import Text
from mog.engine.errors import ConfigError, NotFound
from mog.engine.workspace import Workspace

MakeRepo = Callable[[Mapping[str, str | bytes]], Path]

FILES = {
    "app/__init__.py": "",
    "app/main.py": "from fastapi import FastAPI\nfrom app import users\n\napp = FastAPI()\napp.include_router(users.router, prefix='/v1')\n",
    "app/users.py": "from fastapi import APIRouter\nfrom app.views import read\nrouter = APIRouter(prefix='/users')\nrouter.add_api_route('/list', read)\n\n"
    "@router.get('/{id}')\ndef one(id): ...\n",
    "app/views.py": "from app.models import Order\n\ndef read():\n    return Order.objects.all()\n",
    "app/models.py": "from app.base import Base\n\nclass Order(Base): ...\n",
    "app/base.py": "from django.db import models\n\nclass Base(models.Model): ...\n",
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef db(): ...\n",
    "tests/test_x.py": "def test_x(db): ...\n",
    "openapi.yaml": "paths:\n  /users:\n    get: {}\n",
}
EDITS: list[tuple[str, str | None]] = [
    ("app/main.py", FILES["app/main.py"].replace("/v1", "/v2")),  # a mount moves routes of a file that did not change
    ("app/base.py", "class Base: ...\n"),  # a model is none any more, two files away
    ("app/base.py", FILES["app/base.py"]),
    ("app/users.py", FILES["app/users.py"].replace("read)", "missing)")),
    ("app/users.py", FILES["app/users.py"]),
    ("app/views.py", "def other(): ...\n"),  # who is behind a route goes
    ("app/views.py", FILES["app/views.py"]),
    ("tests/conftest.py", "def db(): ...\n"),
    ("tests/conftest.py", FILES["tests/conftest.py"]),
    ("openapi.yaml", "paths:\n  /users/{id}:\n    put: {}\n"),
    ("openapi.yaml", None),
    ("app/main.py", None),
    ("app/main.py", FILES["app/main.py"]),
    ("app/models.py", None),
    ("app/models.py", FILES["app/models.py"]),
    ("openapi.yaml", FILES["openapi.yaml"]),
]


def _write(root: Path, path: str, text: str | None) -> None:
    if text is None:
        (root / path).unlink()
    else:
        (root / path).write_text(text)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True, timeout=60, stdin=subprocess.DEVNULL)


def test_edits_give_what_a_full_index_gives(make_repo: MakeRepo) -> None:
    root = make_repo(FILES)
    first = surface_kit.picture(root)
    names = {str(row[1]) for row in first["rows"]}  # type: ignore[attr-defined]
    assert {"GET /v1/users/{id}", "GET /v1/users/list", "app.Order", "db", "GET /users"} <= names
    for path, text in EDITS:
        _write(root, path, text)
        edited = surface_kit.picture(root)
        assert edited == surface_kit.picture(root, full=True), path
    assert edited["hash"] == first["hash"] and edited["rows"] == first["rows"]


def test_a_mount_that_changes_renames_the_routes_of_another_file(make_repo: MakeRepo) -> None:
    root = make_repo(FILES)
    assert surface_kit.surfaces(root, "route")["route GET /v1/users/{id}"] == "one"
    _write(root, *EDITS[0])
    found = surface_kit.surfaces(root, "route")
    assert found["route GET /v2/users/{id}"] == "one" and "route GET /v1/users/{id}" not in found


def test_a_pack_of_the_project_adds_and_replaces(make_repo: MakeRepo) -> None:
    root = make_repo({
        "a.py": "from bus import on\n\n@on('order.paid')\ndef paid(): ...\n",
        ".mog/contracts/bus.yaml": "pack: bus\nlanguages: [python]\nwhen: {markers: [bus]}\nrules:\n"
        "  - {id: event, on: decorator, role: event, names: ['on'], name: '{arg.0}'}\n",
    })  # fmt: skip
    assert surface_kit.surfaces(root) == {"event order.paid": "paid"}
    own = root / ".mog/contracts/bus.yaml"
    own.write_text(own.read_text().replace("role: event", "role: topic"))
    assert surface_kit.surfaces(root) == {"topic order.paid": "paid"}  # a changed pack is a changed index
    own.unlink()
    assert surface_kit.surfaces(root) == {}


@pytest.mark.parametrize("name", [
    "{prefix}{arg.0}", "{prefix}{prefix}{arg.0}", "{arg.0}{prefix}", *(f"{{prefix:{one}}}{{arg.0}}" for one in sorted(FILTERS)),
])  # fmt: skip
def test_no_name_of_a_pack_and_no_text_of_a_source_shows_our_marks(make_repo: MakeRepo, name: str) -> None:
    """A project's own pack may cut a prefix in pieces or ask for it twice, and a source may hold any character as an escape."""
    root = make_repo({
        "a.py": '''
import bus
b = bus.Bus(base="/a.b#c")
@b.on("/x")
def f(): ...
@b.on("/y\\x00\\x01z")
def g(): ...
''',
        ".mog/contracts/bus.yaml": "pack: bus\nlanguages: [python]\nwhen: {markers: [bus]}\nrules:\n"
        "  - {id: base, on: group, names: ['*.Bus'], name: '{kw.base}'}\n"
        f"  - {{id: route, on: decorator, role: route, names: ['*.on'], name: '{name}'}}\n",
    })  # fmt: skip
    found = surface_kit.surfaces(root)
    assert len(found) == 2 and all(text.isprintable() for text in found), found


BAD = {
    "unknown field": (
        "pack: x\nrules:\n  - {id: a, on: call, role: route, names: [f], name: '{arg.0}', regex: '(a+)+'}\n",
        ":3 regex",
    ),
    "unknown way": ("pack: x\nrules:\n  - id: a\n    on: magic\n", ":4 on"),
    "needs": ("pack: x\nrules:\n  - {id: a, on: call, role: route, names: [f]}\n", ":3 name"),
    "reference": (
        "pack: x\nrules:\n  - id: a\n    on: call\n    role: route\n    names: [f]\n    name: '{system.0}'\n",
        ":7 name",
    ),
    "stars": ("pack: x\nrules:\n  - {id: a, on: path, role: page, glob: ['**/**/**/**/x'], name: y}\n", ":3 glob"),
    "segment": (
        "pack: x\nrules:\n  - {id: a, on: path, role: page, glob: ['*a*a*a*a*a*a*a*a*'], name: y}\n",
        ":3 glob",
    ),
    "word": ("pack: Not A Word\nrules: []\n", ":1 pack"),
    "no rules": ("pack: x\nrules: []\n", ":2 rules"),
    "twice": ("pack: x\npack: y\n", ":2 pack"),
    "yaml": ("pack: [x\n", ":2"),
    "tag": ("pack: !!python/object/apply:os.system [id]\nrules: []\n", ":1 pack"),
    "line kind": (
        "pack: x\nrules:\n  - {id: a, on: line, role: page, glob: ['*.x'], line: 'a {b:regex}'}\n",
        ":3 line",
    ),
    "deep": ("pack: x\nrules: [[[[[[[[[[[[1]]]]]]]]]]]]\n", ":2"),
    "list": ("- a\n- b\n", ":1"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_pack_that_cannot_be_meant_is_refused_with_its_place(case: str, tmp_path: Path) -> None:
    text, place = BAD[case]
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        pack.load(os.fspath(tmp_path))
    assert f".mog/contracts/x.yaml{place}" in str(caught.value)
    assert caught.value.way_out


def test_a_link_is_no_pack(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("pack: x\nrules: []\n")
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "x.yaml").symlink_to(tmp_path / "secret")
    with pytest.raises(ConfigError, match="a link"):
        pack.load(os.fspath(folder))


def test_patterns_stay_linear() -> None:
    """The worst patterns that the language allows on the worst texts: bounded steps, where a backtracking engine would not end."""
    begin = time.process_time()
    assert wild("*a*a*a*a*a*b", "a" * 2_000) is None
    assert PathPattern("**/a/**/a/*.x").match("/".join(["a"] * 400)) is None
    assert LinePattern("a {b:word} {c:word} {d:word} (").match("a " + "b " * 900) is None
    assert time.process_time() - begin < 5


def test_path_patterns_capture() -> None:
    assert PathPattern("pages/{route:**}/{base}.{ext:js,ts}").match("src/pages/a/b/c.ts") == {
        "**": "src", "route": "a/b", "base": "c", "ext": "ts"}  # fmt: skip
    assert PathPattern("pages/{route:**}/{base}.{ext:js,ts}").match("pages/c.css") is None
    assert PathPattern("/pages/*.js").match("src/pages/a.js") is None
    with pytest.raises(BadPattern):
        Template("{arg.0:shell}")


def test_a_credential_is_never_a_name(make_repo: MakeRepo) -> None:
    root = make_repo({
        "a.py": f"import flask\napp = flask.Flask('x')\n\n@app.route('/in', defaults=dict(password='{HUNTER}'))\ndef a(): ...\n\n"
        f"@app.route('/ok')\ndef b(): ...\n\nclass C:\n    password = '{HUNTER}'\n\n@app.route('/x', password='{HUNTER}')\ndef c(): ...\n",
    })  # fmt: skip
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        answer = workspace.contracts()
        raw = (root / ".mog/index.db").read_bytes()
    assert "GET /ok" in {row.node.name for row in answer.rows}
    assert HUNTER.encode() not in raw
    assert HUNTER not in repr(answer)


HOSTILE = {
    "open.py": "import flask\n" + "@app.route(" * 3_000,
    "deep.py": "import flask\n@app.route(" + "[" * 50_000 + "\ndef f(): ...\n",
    "quotes.js": "const express = require('express')\n" + "app.get('/a" * 3_000,
    "long.py": "import flask\n@app.route('/" + "a" * 200_000 + "')\ndef f(): ...\n",
    "escape.py": "import flask\n@app.route('/\\x1b]0;title\\x07')\ndef f(): ...\n\n@app.route('/\x1b[31mred')\ndef g(): ...\n",
    "bomb/openapi.yaml": "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\npaths: *c\n",
    "loop/openapi.yaml": "paths: &p\n  /a: *p\n",
    "deep/openapi.json": "[" * 100_000,
    "broken/openapi.yaml": "paths: [\n",
    "bytes/openapi.yaml": b"\xff\xfe\x00paths",
    "routes/config/routes.rb": "Rails.application.routes.draw do\n" + "namespace :a do\n" * 3_000,
}


def test_hostile_files_cost_themselves_only(make_repo: MakeRepo) -> None:
    root = make_repo({**HOSTILE, "good.py": "import flask\n\n@app.route('/good')\ndef good(): ...\n"})
    begin = time.process_time()
    found = surface_kit.surfaces(root)
    assert found["route GET /good"] == "good"
    assert time.process_time() - begin < 60
    with Workspace.open(root) as workspace:
        problems = workspace.status().health.problems
    assert not {path: why for path, why in problems.items() if "failed" in why}


def test_the_command_lists_and_says_why(make_repo: MakeRepo) -> None:
    root = make_repo(
        {**FILES, "requirements.txt": "celery>=5\nfastapi\n", "x.py": "import flask\n\n@app.route(P)\ndef f(): ...\n"}
    )
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        answer = workspace.contracts(role="route")
        with pytest.raises(NotFound, match="has the role"):
            workspace.contracts(role="nothing")
        assert workspace.find("entity:route:GET /users").name == "GET /users"
        assert workspace.find("GET /v1/users/{id}").signature == "route"
    packs = {state.name: state for state in answer.packs}
    assert packs["fastapi"].manifest == "requirements.txt" and packs["fastapi"].files == 2
    assert packs["flask"].unread == 1 and any("run time" in note for note in answer.boundary.notes)
    assert packs["celery"].found == 0 and any("Celery" in note for note in answer.boundary.notes)
    run = [sys.executable, "-m", "mog"]
    done = subprocess.run(
        [*run, "contracts", "--role", "route", "--json"], cwd=root, capture_output=True, timeout=120, check=True
    )
    document = json.loads(done.stdout)
    assert {item["name"]: item["role"] for item in document["items"]}["GET /v1/users/{id}"] == "route"
    shown = subprocess.run(
        [*run, "search", "users", "--kind", "surface"], cwd=root, capture_output=True, timeout=120, check=True
    )
    assert b"GET /v1/users/{id}" in shown.stdout


def test_calls_in_strings_and_comments_are_none() -> None:
    code = b"# path('a')\nx = \"path('b')\"\n'''\npath('c')\n'''\npath('d')\n"
    assert [site.args[0].text for site in Text(code, "python").calls(["path"])] == ["d"]


def test_what_explains_a_framework_is_read_first(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("Django>=5\n")
    paths = ["a.py", "requirements.txt", "shop/urls.py", "shop/other.py", "web/routes/x.ts"]
    assert leading(pack.load(), tmp_path, paths) == {"shop/urls.py"}  # no Express is named, so its routes wait
    (tmp_path / "requirements.txt").write_text("flask-login\n")
    assert leading(pack.load(), tmp_path, paths) == set()
