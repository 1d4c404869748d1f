"""Which frameworks the manifests of a repository name, and which of its files explain it best, so that they are read first.

Called by the indexer before a full run and by ``answer``. What may not come in: an index, facts.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mog.engine.contracts.collect import Paths
from mog.engine.contracts.pack import Packs

MANIFEST_BYTES = 500_000
#: Files at the root or one folder below it that name what a project depends on.
MANIFESTS = frozenset(
    "pyproject.toml setup.py setup.cfg requirements.txt requirements-dev.txt Pipfile package.json go.mod Gemfile composer.json"
    " pom.xml build.gradle build.gradle.kts".split()
)


def named(packs: Packs, root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Pack → the first manifest among ``paths`` that names its framework as a dependency."""
    found: dict[str, str] = {}
    for path in paths:
        if path.rpartition("/")[2] in MANIFESTS and path.count("/") <= 1:
            words = _words(root / path)
            for pack in packs.packs.values():
                if pack.name not in found and not words.isdisjoint(pack.manifests):
                    found[pack.name] = path
    return found


def _words(path: Path) -> set[str]:
    """Names in a manifest that could be dependencies, in small letters; a link or what cannot be read names none."""
    try:
        if path.is_symlink():
            return set()
        with path.open("rb") as file:
            text = file.read(MANIFEST_BYTES).decode("utf-8", "replace").lower()
    except OSError:
        return set()
    table = str.maketrans(dict.fromkeys("\"'=<>~!;,[](){}:^|", " "))
    return set(text.translate(table).split())


def leading(packs: Packs, root: Path, paths: list[str]) -> set[str]:
    """Those of ``paths`` that the packs of the named frameworks want read first (urls, models, routes, pages, …)."""
    wanted = named(packs, root, paths)
    patterns = Paths((pattern, name) for name in wanted for pattern in packs.packs[name].first)
    return {path for path in paths if next(patterns.match(path), None)} if wanted else set()
