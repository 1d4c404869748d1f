"""The floor: parse the same files with tree-sitter and do nothing else, in one process. A child of ``benchmarks.index``.

Usage: ``python -m benchmarks.floor FOLDER SUFFIX…``; prints one JSON object. What may not come in: mog.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import tree_sitter
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript

PYTHON = tree_sitter.Language(tree_sitter_python.language())
JAVASCRIPT = tree_sitter.Language(tree_sitter_javascript.language())
GRAMMARS = {
    ".py": PYTHON,
    ".ts": tree_sitter.Language(tree_sitter_typescript.language_typescript()),
    ".tsx": tree_sitter.Language(tree_sitter_typescript.language_tsx()),
    ".js": JAVASCRIPT,
    ".jsx": JAVASCRIPT,
    ".mjs": JAVASCRIPT,
    ".cjs": JAVASCRIPT,
}


def tracked(root: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Tracked files with one of the suffixes, as git lists them."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, stdin=subprocess.DEVNULL
    )
    names = listing.stdout.decode(errors="surrogateescape").split("\0")
    return [root / name for name in names if name.endswith(suffixes)]


def main(root: Path, suffixes: tuple[str, ...]) -> None:
    """Print files, bytes and processor seconds of reading and of parsing."""
    parsers = {suffix: tree_sitter.Parser(GRAMMARS[suffix]) for suffix in suffixes}
    began = time.process_time()
    sources = [(path.suffix, path.read_bytes()) for path in tracked(root, suffixes)]
    read = time.process_time()
    for suffix, data in sources:
        parsers[suffix].parse(data)
    figures = {
        "files": len(sources),
        "bytes": sum(len(data) for _, data in sources),
        "read": read - began,
        "parse": time.process_time() - read,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(sys.argv[2:]))
