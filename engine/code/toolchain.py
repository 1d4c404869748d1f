"""What decides facts and links besides the files: versions of mog's extractors and of the grammars. Called by ``indexer``.

A cheap mark answers "is it the same as at the last index?" without loading a grammar; the exact versions go into ``facts_hash``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from functools import lru_cache

import mog
from mog.engine.code.wheels import WHEELS


@lru_cache(maxsize=1)
def mark() -> str:
    """Digest of mog's version, and of size and time of the grammar packages as they lie on disk."""
    parts = [mog.__version__]
    for _, module, _ in sorted(set(WHEELS.values())):
        spec = importlib.util.find_spec(module)
        parts.append(f"{module}:{_stamp(spec.origin) if spec and spec.origin else ''}")
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _stamp(origin: str) -> str:
    info = os.stat(os.path.dirname(origin))
    return f"{info.st_mtime_ns}"


def versions(languages: list[str]) -> dict[str, str]:
    """Language → exact version of everything that extracts it, for the languages that have facts."""
    from mog.engine.code import extract

    return {lang: extract.extractor_version(lang) for lang in sorted(languages) if lang in extract.LANGUAGES}
