"""The import budget as facts of ``sys.modules`` in fresh processes; milliseconds belong to the benchmarks.

A static contract cannot see what an import drags along, and a deferred import must really be deferred.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("app", "engine", "widgets", "styles", "mog")
HEAVY = {"textual", "textual_serve", "aiohttp", "rich", "mcp", "starlette", "uvicorn", "networkx", "numpy"}
# a backend of networkx is imported by networkx, so it may import networkx
PLUGINS = {"mog.engine.store.nx_backend"}


def module_names(folder: str) -> list[str]:
    """Import names of all modules below a folder."""
    names = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = ([] if folder == "mog" else [folder]) + list(path.relative_to(ROOT / folder).with_suffix("").parts)
        names.append(".".join(["mog", *parts]).removesuffix(".__init__"))
    return names


def loaded_after(code: str, cwd: Path) -> set[str]:
    """Top-level modules in a fresh interpreter after ``code`` ran there."""
    code += "\nimport sys, json; sys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True
    )
    return {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        (["--version"], HEAVY | {"cyclopts", "dataclasses", "yaml", "apsw"}),
        (["--help"], HEAVY - {"rich"} | {"apsw", "yaml"}),
        (["completion", "bash"], HEAVY - {"rich"} | {"apsw", "yaml"}),
        (["search"], HEAVY | {"apsw", "yaml"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_verb_loads_only_what_it_needs(tmp_path: Path, arguments: list[str], forbidden: set[str]) -> None:
    loaded = loaded_after(f"from mog.app.cli.main import main; main({arguments!r})", tmp_path)
    assert loaded & forbidden == set()


@pytest.mark.parametrize(
    "verb", [["index"], ["search", "f"], ["status"], ["show", "f"], ["verify"]], ids=lambda v: v[0]
)
def test_a_verb_on_an_indexed_repository_pays_for_no_screen_and_no_arrays(make_repo, verb: list[str]) -> None:  # type: ignore[no-untyped-def]
    root = make_repo({"a.py": "def f():\n    return g()\n\n\ndef g():\n    return 1\n"})
    run = "from mog.app.cli.main import main\nassert main(['index', '-q']) == 0"
    subprocess.run([sys.executable, "-c", run], cwd=root, stdin=subprocess.DEVNULL, timeout=120, check=True)
    loaded = loaded_after(f"from mog.app.cli.main import main; assert main({verb!r}) == 0", root)
    ranks = {"numpy"} if verb[0] == "search" else set()
    assert loaded & HEAVY - ranks == set()


FIRST_PICTURE = """
import asyncio, json, sys
from pathlib import Path
from mog.app.tui import asks
from mog.app.tui.asks import Asks
from mog.app.tui.workbench import Workbench
from mog.engine.workspace import Workspace

there = []

def painted(home):
    if not there:
        there.append((sorted(sys.modules), home.content("graph").hood.node.name, home.opening))
    home.app.exit()

Asks._ask_later = painted
asks.OPENING_SECONDS = asks.LATER_SECONDS = 60  # a slow machine would begin with the rest

async def run():
    with Workspace.open(Path.cwd()) as workspace:
        async with Workbench(workspace).run_test(size=(160, 45)) as pilot:
            while not there:
                await pilot.pause(0.02)

asyncio.run(run())
print(json.dumps([there[0][0], there[0][1], sorted(there[0][2])]))
"""
LATER = (
    "engine.reason", "engine.ledgers", "engine.beliefs", "engine.memory", "engine.executor", "engine.drills",
    "engine.code.indexer", "engine.code.secrets", "engine.code.extract", "app.mcp", "app.web", "app.present_beliefs",
    "app.tui.panes.work", "app.tui.panes.dead", "app.tui.panes.blast", "app.tui.panes.ledger", "app.tui.panes.drill",
    "widgets.layers", "widgets.canvas",
)  # fmt: skip
"""What costs a part of a second to load and is not in the first picture of a repository without beliefs."""


def test_the_first_picture_of_the_workbench_is_drawn_before_the_rest_is_loaded(make_repo) -> None:  # type: ignore[no-untyped-def]
    root = make_repo({"a.py": "def f():\n    return g()\n\n\ndef g():\n    return 1\n"})
    run = "from mog.app.cli.main import main\nassert main(['index', '-q']) == 0"
    subprocess.run([sys.executable, "-c", run], cwd=root, stdin=subprocess.DEVNULL, timeout=120, check=True)
    vector = [sys.executable, "-c", FIRST_PICTURE]
    done = subprocess.run(vector, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    loaded, focus, opening = json.loads(done.stdout.splitlines()[-1])
    assert focus in ("f", "g") and opening == []
    assert [name for name in loaded for part in LATER if f"{name}.".startswith(f"mog.{part}.")] == []
    assert {name.partition(".")[0] for name in loaded} & HEAVY == {"textual", "rich"}


def test_no_engine_module_imports_a_surface_or_a_graph_library(tmp_path: Path) -> None:
    names = [name for name in module_names("engine") if name not in PLUGINS]
    forbidden = sorted(HEAVY - {"numpy"} | {"cyclopts"})
    code = f"""
import importlib, json, sys
found = {{}}
for name in {names!r}:
    importlib.import_module(name)
    found.update({{heavy: name for heavy in {forbidden!r} if heavy in sys.modules and heavy not in found}})
print(json.dumps(found))
"""
    vector = [sys.executable, "-c", code]
    done = subprocess.run(vector, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert json.loads(done.stdout) == {}


def test_every_module_says_what_lives_in_it() -> None:
    silent = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))):
                silent.append(str(path.relative_to(ROOT)))
    assert silent == []


def test_no_module_reaches_around_the_import_root() -> None:
    """From the root, ``import engine`` works by accident; no installation has that name."""
    wrong = []
    for path in [
        path for folder in (*FOLDERS, "tests", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))
    ]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            wrong += [f"{path.relative_to(ROOT)}: {name}" for name in names if name.partition(".")[0] in FOLDERS[:4]]
    assert wrong == []
