"""In which order files are indexed: what explains a project first, what supports it last.

Who calls: ``scan.py``. What may not come in: reading of files, git. The buckets follow the earlier scan policy
(manifests, source roots, others, docs, tests, scripts), with the roots found from the tree instead of being named by
it.
"""

from __future__ import annotations

from collections.abc import Iterable

from mog.engine.code.languages_map import CODE, words

MANIFEST, SOURCE, OTHER, DATA, DOCS, TESTS, SCRIPTS = 0, 20, 50, 60, 70, 80, 90

_MANIFESTS = words(
    "pyproject.toml setup.py setup.cfg requirements.txt pipfile package.json tsconfig.json jsconfig.json deno.json"
    " go.mod go.work cargo.toml pom.xml build.gradle build.gradle.kts settings.gradle gemfile composer.json"
    " cmakelists.txt makefile dockerfile pnpm-workspace.yaml lerna.json nx.json mix.exs pubspec.yaml build.sbt"
    " readme.md readme.rst graph.md agents.md"
)
_ROOTS = words(
    "src lib app apps packages pkg cmd internal core server client services modules crates engine source sources"
)
_DOCS = words("docs doc documentation example examples samples demo demos locale locales i18n po translations")
_TESTS = words("test tests testing spec specs __tests__ __mocks__ testdata fixtures e2e")
_SCRIPTS = words(
    "scripts script tools tool hack ci .ci .github .gitlab .circleci bin benchmarks bench contrib extras misc"
    " release .vscode"
)
_TEST_SUFFIXES = ("_test.py", "_test.go", "_spec.rb", "_test.rb", "tests.py", "test.java", "tests.cs")


def source_roots(paths: Iterable[str]) -> frozenset[str]:
    """Top folders that are Python packages; they count as source roots beside the usual names."""
    return (
        frozenset(path[:-12] for path in paths if path.endswith("/__init__.py") and path.count("/") == 1)
        - _TESTS
        - _DOCS
        - _SCRIPTS
    )


class Order:
    """Answers the bucket of a path; remembers folders, so most answers cost two dictionary look-ups."""

    def __init__(self, roots: Iterable[str] = ()) -> None:
        self.roots = frozenset(roots)
        self._folders: dict[str, int] = {}

    def priority(self, path: str, language: str) -> int:
        """Bucket 0..90 of a path, lower first."""
        folder, _, name = path.rpartition("/")
        lower = name.lower()
        if lower in _MANIFESTS and folder.count("/") < 3 and folder.partition("/")[0] not in _TESTS:
            return MANIFEST
        bucket = self._folders.get(folder)
        if bucket is None:
            bucket = self._folders[folder] = self._of_folder(folder)
        if bucket < DOCS and language in CODE:
            return TESTS if _is_test_name(lower) else bucket
        return DATA if bucket < DOCS else bucket

    def _of_folder(self, folder: str) -> int:
        parts = folder.lower().split("/")
        if not _SCRIPTS.isdisjoint(parts[:1]):
            return SCRIPTS
        if not _TESTS.isdisjoint(parts):
            return TESTS
        if not _DOCS.isdisjoint(parts):
            return DOCS
        if not _ROOTS.isdisjoint(parts) or folder.partition("/")[0] in self.roots:
            return SOURCE
        return OTHER


def _is_test_name(lower: str) -> bool:
    return (
        lower.startswith("test_")
        or lower == "conftest.py"
        or ".test." in lower
        or ".spec." in lower
        or lower.endswith(_TEST_SUFFIXES)
    )


def sort_key(path: str, priority: int) -> tuple[int, int, str]:
    """Order of indexing: bucket, depth, path."""
    return priority, path.count("/"), path
