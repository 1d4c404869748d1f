"""What a path says about a file, whatever its language. Called outside of extraction. What may not come in: content, the disk."""

from __future__ import annotations

from mog.engine.code.languages import javascript_paths, python_paths

_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


def is_test_path(path: str) -> bool:
    """Whether a path is that of a test file by the usual names of its language."""
    rules = javascript_paths if path.endswith(_JAVASCRIPT) else python_paths
    return bool(rules.is_test_path(path))
