"""What the paths of declared languages say: which are those of tests. A table; called by ``paths.py``.

What may not come in: content, the disk.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TestPaths:
    """How the test files of one language are called.

    Attributes:
        starts, ends: beginnings and ends of the file's name, its extension included in the ends.
        folders: names of folders in which everything is a test.
        under: the same for paths that begin with this, or have it behind a slash. roots: the same for the first folder of a path.
        folder_ends: the same for folders whose name ends with this.
    """

    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()
    under: tuple[str, ...] = ()
    roots: frozenset[str] = frozenset()
    folder_ends: tuple[str, ...] = ()

    def match(self, path: str) -> bool:
        """Whether this is the path of a test file."""
        whole = path.replace("\\", "/")
        folders, _, name = whole.rpartition("/")
        by_name = (bool(self.starts) and name.startswith(self.starts)) or (bool(self.ends) and name.endswith(self.ends))
        if by_name or any(f"/{one}" in f"/{whole}" for one in self.under):
            return True
        parts = folders.split("/")
        if self.folder_ends and any(part.endswith(self.folder_ends) for part in parts):
            return True
        return parts[0] in self.roots or not self.folders.isdisjoint(parts)


_C_TESTS = ("_test", "-test", "_tests", "-tests", "_unittest", "-unittest")
_C_FOLDERS = frozenset(("test", "tests", "unittest", "unittests", "unit-tests", "unit_tests", "selftests"))

_LANGUAGES = {
    "go": TestPaths(ends=("_test.go",)),
    "cc cpp cxx c++ hh hpp hxx cu inl": TestPaths(
        ("test_", "test-", "unit-"), tuple(f"{word}.{end}" for word in _C_TESTS for end in "cc cpp cxx hh hpp".split()), _C_FOLDERS
    ),
    "c h": TestPaths(("test_", "test-"), tuple(f"{word}.{end}" for word in _C_TESTS for end in "ch"), _C_FOLDERS),
    "rb rake": TestPaths(starts=("test_",), ends=("_spec.rb", "_test.rb"), folders=frozenset(("spec", "test", "tests"))),
    "php phtml inc": TestPaths(
        ends=("Test.php", "TestCase.php", "Spec.php"), folders=frozenset(("tests", "test", "Tests", "spec"))
    ),
    "java": TestPaths(ends=("Test.java", "Tests.java", "IT.java", "TestCase.java"), roots=frozenset(("test", "tests")),
                      under=("src/test/", "src/testFixtures/", "src/integrationTest/", "src/it/")),
    "rs": TestPaths(starts=("tests.rs", "test.rs", "test_"), ends=("_test.rs", "_tests.rs"), folders=frozenset(("tests",))),
    "cs csx": TestPaths(ends=("Test.cs", "Tests.cs", "TestFixture.cs", "Fixtures.cs"), roots=frozenset(("test", "tests", "Tests")),
                        folder_ends=(".Tests", ".Test", "UnitTests", "IntegrationTests", ".Specs", ".FunctionalTests")),
}

TESTS: dict[str, TestPaths] = {extension: rules for extensions, rules in _LANGUAGES.items() for extension in extensions.split()}
"""Extension → how test files with it are called."""
