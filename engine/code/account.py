"""What a listing says, as it is kept with the index. Called by ``indexer`` and ``publish``; a no-change run needs nothing more.

What may not come in: rows of files, anything that loads a parser.
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.scan import ScanResult


def scan_record(listing: ScanResult) -> dict[str, Any]:
    """What a listing says, as it is kept with the index."""
    return {
        "ref": listing.ref,
        "dirty": listing.dirty,
        "scan_state": listing.state.hex(),
        "scan": {
            "seen": listing.seen,
            "skipped": dict(listing.skipped),
            "examples": {reason: [_printable(path) for path in paths] for reason, paths in listing.examples.items()},
            "warnings": [_printable(text) for text in listing.warnings],
            "git": listing.git,
        },
    }


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
