"""What a path says about a file, whatever its language. Called outside of extraction. What may not come in: content, the disk."""

from __future__ import annotations

from mog.engine.code.languages import javascript_paths, python_paths
from mog.engine.code.languages.declared_paths import TESTS

_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


def is_test_path(path: str) -> bool:
    """Whether a path is that of a test file by the usual names of its language."""
    rules = TESTS.get(path.rpartition(".")[2])
    if rules is not None:
        return rules.match(path)
    by_name = javascript_paths if path.endswith(_JAVASCRIPT) else python_paths
    return bool(by_name.is_test_path(path))
