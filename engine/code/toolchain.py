"""What decides facts and links besides the files: mog's own extractors and the grammars. Called by ``indexer`` and ``publish``.

A cheap mark answers "is it the same as at the last index?" without loading a grammar; the exact versions go into
``facts_hash``. What may not come in: parsing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import mog
from mog.engine.code.wheels import WHEELS

_BINARIES = (".so", ".pyd", ".dylib")
_SOURCES = (".py", ".scm")


@lru_cache(maxsize=1)
def mark() -> str:
    """Digest of mog's version, and of names and sizes of its extractors and of the grammars' libraries as they lie on disk.

    Times are left out: a byte-compiler or a second installation of the same version changes nothing.
    """
    here = Path(__file__).parent
    contracts = here.parent / "contracts"
    parts = [mog.__version__, *(size for folder in ("", "languages", "scip") for size in _sizes(here / folder, _SOURCES))]
    parts += [*_sizes(contracts, _SOURCES), *_sizes(contracts / "packs", (".yaml",))]
    for module in sorted({module for _, module, _ in WHEELS.values()}):
        spec = importlib.util.find_spec(module)
        parts += _sizes(Path(spec.origin).parent, _BINARIES) if spec and spec.origin else [f"{module} is missing"]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _sizes(folder: Path, endings: tuple[str, ...]) -> Iterator[str]:
    with os.scandir(folder) as found:
        entries = sorted((entry.name, entry.stat().st_size) for entry in found if entry.name.endswith(endings))
    return (f"{name}:{size}" for name, size in entries)


def versions(languages: list[str]) -> dict[str, str]:
    """Language → exact version of everything that extracts it, for the languages that have facts."""
    from mog.engine.code import extract

    return {lang: extract.extractor_version(lang) for lang in sorted(languages) if lang in extract.LANGUAGES}
