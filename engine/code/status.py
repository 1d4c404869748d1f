"""Accounts of the whole: status of a workspace, grammars. Called by ``workspace``.

Reads only; what may not come in: text for people, checks (``doctor``).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mog.engine.code import extract
from mog.engine.code import grammars as providers
from mog.engine.code.indexer import Indexer
from mog.engine.code.view import CodeView
from mog.engine.code.wheels import WHEELS
from mog.engine.model import GrammarInfo, IndexStamp, ScanHealth, Status


def describe(root: Path, mog_dir: Path, view: CodeView | None, indexer: Indexer, pins: int, watcher: str) -> Status:
    """What is indexed, what is pending, what it weighs."""
    weight = sum(path.stat().st_size for path in mog_dir.rglob("*") if path.is_file() and not path.is_symlink())
    if view is None:
        nothing = IndexStamp(0, "", False)
        return Status(str(root), False, 0, 0, {}, {}, 0, pins, weight, 0.0, "", ScanHealth(), watcher, nothing)
    report = view.report()
    report.pop("generation")
    age = max(0.0, time.time() - float(view.meta.get("published_at", 0.0)))
    return Status(
        root=str(root), indexed=True, pending=indexer.pending(view.db), pins=pins, bytes_on_disk=weight, age_seconds=age,
        watcher=watcher, index=view.stamp, **report,
    )  # fmt: skip


def grammars(files: Mapping[str, int]) -> tuple[GrammarInfo, ...]:
    """Languages of the index and the core set, with where their grammar comes from; ``symbols`` says if an extractor exists."""
    rows = []
    for language in sorted({*files, *WHEELS}):
        found = _reader(language)
        has_symbols = language in extract.LANGUAGES and found.loads
        rows.append(
            GrammarInfo(language, found.provider, found.version, found.digest, found.loads, has_symbols, files.get(language, 0))
        )
    return tuple(rows)


def _reader(language: str) -> providers.Grammar:
    """What reads a language: its grammar, that of the code its files hold, or mog's own scanner."""
    if language in extract.HOSTS:
        return replace(providers.info(extract.HOSTS[language][0]), language=language)
    if language in extract.WITHOUT_GRAMMAR:
        return providers.Grammar(language, "scanner", extract.extractor_version(language).split(".")[1], "", True)
    return providers.info(language)
