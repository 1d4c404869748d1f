"""The checkers check: each is shown a planted fault, through the same configuration, and has to find it.

Links of folders are skipped by some tools, which then report that all is well.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tree

PLANTED = '"""Planted."""\n\nBAD: int = "not a number"\n'
USES = '"""Planted."""\n\nfrom mog.engine.planted import BAD\n\nTEXT: str = BAD\n'


def run(cwd: Path, *command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A checker over ``cwd``; output as text."""
    return subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environ},
    )


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A copy of the tree with a type error in the engine and its consequence in the app."""
    source = tree.copy_source(tmp_path / "source")
    (source / "engine" / "planted.py").write_text(PLANTED)
    (source / "app" / "planted.py").write_text(USES)
    return source


@pytest.mark.slow
def test_mypy_finds_a_planted_bug_through_the_links(planted: Path) -> None:
    done = run(planted, sys.executable, "-m", "mypy", "--no-incremental", "-m", "mog.app.planted")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "engine/planted.py:3: error: Incompatible types in assignment" in done.stdout
    assert "app/planted.py:5: error: Incompatible types in assignment" in done.stdout


LINKED = ("typecheck/mog/app/planted.py", "typecheck/mog/engine/planted.py")


@pytest.mark.slow
@pytest.mark.client
def test_pyright_finds_a_planted_bug_through_the_links(planted: Path) -> None:
    if run(planted, sys.executable, "-m", "pyright", "--version").returncode:
        pytest.skip("pyright needs a node.js; the types stage of .ci/run does not skip this")
    done = run(planted, sys.executable, "-m", "pyright", *LINKED)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "engine/planted.py:3:" in done.stdout
    assert "app/planted.py:5:" in done.stdout
    assert "2 errors" in done.stdout


LINTER = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]


def contracts(source: Path) -> subprocess.CompletedProcess[str]:
    """import-linter with the committed contracts, through the links."""
    return run(source / "typecheck", *LINTER, "../pyproject.toml", "--no-cache", "--no-logo")


@pytest.mark.slow
def test_import_contracts_hold(tmp_path: Path) -> None:
    done = contracts(tree.copy_source(tmp_path / "source"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "line", "contract"),
    [
        ("engine/planted.py", "from mog.app import present", "never the other way round"),
        ("widgets/planted.py", "from mog.engine import model", "never the other way round"),
        ("engine/planted.py", "def late():\n    import textual", "not even late"),
        ("widgets/planted.py", "import networkx", "no graph library"),
        ("app/cli/planted.py", "import textual", "only through the workbench"),
        ("app/planted.py", "X = 1", "Inside app"),
    ],
)
def test_import_contracts_find_a_planted_violation(tmp_path: Path, place: str, line: str, contract: str) -> None:
    source = tree.copy_source(tmp_path / "source")
    (source / place).write_text(f'"""Planted."""\n\n{line}\n')
    done = contracts(source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert contract in done.stdout
    assert "BROKEN" in done.stdout or "planted" in done.stdout + done.stderr


@pytest.mark.slow
def test_ruff_refuses_an_import_that_works_only_from_the_root(planted: Path) -> None:
    (planted / "app" / "planted.py").write_text('"""Planted."""\n\nimport engine.errors\n\nX = engine.errors\n')
    done = run(planted, sys.executable, "-m", "ruff", "check", "--no-cache", "app/planted.py")
    assert done.returncode == 1
    assert "TID251" in done.stdout
