"""What a JavaScript or TypeScript file's path says about it. Called by extractor and linker.

What may not come in: content, the disk.
"""

from __future__ import annotations

_FOLDERS = frozenset(("__tests__", "test", "tests", "spec", "specs", "e2e", "cypress", "spec-dtslint"))
_MARKS = (".test.", ".spec.", "-test.", "-spec.", "_test.", "_spec.", ".e2e.", ".cy.")


def is_test_path(path: str) -> bool:
    """Whether a path is that of a test file by the usual names (Jest, Vitest, Mocha, Jasmine, Cypress)."""
    folders, _, name = path.replace("\\", "/").rpartition("/")
    if any(mark in name for mark in _MARKS) or name.startswith(("test.", "test-", "test_")):
        return True
    return not _FOLDERS.isdisjoint(folders.split("/"))
