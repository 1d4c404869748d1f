"""Copies of the source tree for tests that must plant a fault or build without littering.

Who calls: packaging tests.
What may not come in: the list of folders (it is read from pyproject.toml).
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SKIP = shutil.ignore_patterns("__pycache__", "*.egg-info")


def setuptools_table() -> dict[str, object]:
    """``[tool.setuptools]`` of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return dict(tomllib.load(file)["tool"]["setuptools"])


def package_dirs() -> dict[str, str]:
    """Import name → folder, for the mapped roots."""
    return dict(setuptools_table()["package-dir"])  # type: ignore[call-overload]


def copy_source(destination: Path) -> Path:
    """The tree as it stands in the repository: enough to build from and to type-check."""
    for folder in package_dirs().values():
        shutil.copytree(ROOT / folder, destination / folder, ignore=SKIP)
    shutil.copytree(ROOT / "typecheck", destination / "typecheck", symlinks=True)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "GRAPH.md", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, destination / name)
    return destination
