"""A lived-in repository, made once, and its page.

Who calls: pytest. What may not come in: browsers, servers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import page_world
import pytest

from mog.engine.workspace import Workspace


@pytest.fixture(scope="session")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Root of a repository after a day's work; tests that write take a copy."""
    base = tmp_path_factory.mktemp("page")
    home = tmp_path_factory.getbasetemp()  # as for each test, tests/conftest.py
    names = {f"MOG_{name}_DIR": str(home / f"mog-{name.lower()}") for name in ("KEYS", "WITNESS", "TRUST")}
    names |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": str(home / "no-gitconfig")}
    names |= {
        f"GIT_{role}_{part}": "person@example.invalid" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
    }
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield page_world.lived_in(base / "shopkit")
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="session")
def written(lived_in: Path) -> str:
    """Its page."""
    from mog.app.page import facts, render

    with Workspace.open(lived_in) as workspace:
        return render.page(facts.gather(workspace, "2026-03-01T12:00:00+00:00"))
