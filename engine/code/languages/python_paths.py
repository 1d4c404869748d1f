"""What a Python file's path says about it. Called by the extractor and the linker. What may not come in: content, the disk."""

from __future__ import annotations


def is_test_path(path: str) -> bool:
    """Whether a path is that of a test file by the usual names; the package ``x/test/`` inside a package is not one."""
    folders, _, name = path.replace("\\", "/").rpartition("/")
    if name.startswith("test_") or name.endswith("_test.py") or name in ("conftest.py", "tests.py"):
        return True
    parts = folders.split("/") if folders else []
    return "tests" in parts or parts[:1] == ["test"]
