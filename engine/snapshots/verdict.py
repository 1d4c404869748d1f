"""The health of an index as a verdict: ``healthy``, ``warning`` or ``blocked``, with reasons that name a way out.

Who calls: ``room``. What may not come in: the disk, repairs, standing of beliefs. The question is whether a planner may rely on the
graph: what it lost to a limit or a missing grammar counts by what that is worth, not by being there at all. One shell script
without a grammar among 1,500 Python files is a note; a tenth of the program is a warning; a core that was cut is a blocker.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mog.engine.code.languages_map import CODE
from mog.engine.code.view import CodeView
from mog.engine.model import ScanHealth
from mog.engine.retrieval.shapes import priority
from mog.engine.snapshots.model import BLOCKED, HEALTHY, WARNING, HealthReport, Reason

#: Reasons for which a file has no row, or no symbols, because a limit of ours ended the work on it.
LIMITS = frozenset({"too_large", "parse_timeout"})
NO_GRAMMAR = "unsupported_grammar"
NO_EXTRACTOR = "no_extractor"
#: Share of core program files from which a loss is worth a warning, and from which a cut core is no core.
WORTH, CUT = 0.02, 0.05
#: Share of program files whose parse was partial, from which that is worth a warning.
PARTIAL = 0.05
_CORE_BEFORE = 70  # path priority: prose, tests and scripts come after
_ASIDE = frozenset("bench benchmark benchmarks demo demos example examples fixtures samples third_party vendor".split())


@dataclass
class _Tally:
    """Program files: how many, how large, and what became of them; of the core and of all."""

    core: int = 0
    core_bytes: int = 0
    core_lost: int = 0
    core_bytes_lost: int = 0
    code: int = 0
    lost: int = 0
    partial: int = 0
    core_gated: int = 0
    examples: list[str] = field(default_factory=list)
    without: dict[str, Counter[str]] = field(default_factory=dict)
    core_without: Counter[str] = field(default_factory=Counter)


def is_core(path: str, language: str) -> bool:
    """Whether a file is part of the program itself: source code that is neither test, script, prose nor example."""
    if language not in CODE or priority(path) >= _CORE_BEFORE:
        return False
    return _ASIDE.isdisjoint(part.lower() for part in path.split("/")[:-1])


def verdict(view: CodeView, scan: ScanHealth) -> HealthReport:
    """The report of one generation; ``scan`` is its account of the scan."""
    rows = view.db.rows("SELECT path, lang, status, reason, size FROM files ORDER BY path")
    tally = _tallied(
        (os.fsdecode(path), lang or "", status, reason or "", size or 0) for path, lang, status, reason, size in rows
    )
    symbols = int(view.db.rows("SELECT count(*) FROM nodes WHERE ord >= 0")[0][0])
    blockers = tuple(_blockers(tally, scan, symbols))
    warnings = tuple(_warnings(tally, scan, bool(blockers)))
    status = BLOCKED if blockers else WARNING if warnings else HEALTHY
    coverage: dict[str, object] = {
        "indexed_files": scan.indexed, "symbols": symbols, "program_files": tally.code, "core_files": tally.core,
        "core_files_cut": tally.core_lost, "core_bytes_cut": tally.core_bytes_lost, "partial_files": tally.partial,
        "gated_files": scan.gated, "gated_symbols": scan.gated_symbols,
    }  # fmt: skip
    return HealthReport(status, blockers, warnings, tuple(_notes(tally, scan)), coverage)


def _tallied(rows: Iterable[tuple[str, str, str, str, int]]) -> _Tally:
    tally = _Tally()
    for path, language, status, reason, size in rows:
        if language not in CODE:
            continue
        core, lost = is_core(path, language), reason in LIMITS
        tally.code += 1
        tally.lost += lost
        tally.partial += bool(reason) and not lost and status == "source"
        if reason in (NO_GRAMMAR, NO_EXTRACTOR):
            tally.without.setdefault(reason, Counter())[language] += 1
            tally.core_without[language] += core
        if core:
            tally.core += 1
            tally.core_bytes += size
            tally.core_gated += status == "gated"
            tally.core_lost += lost
            tally.core_bytes_lost += size if lost else 0
            if lost and len(tally.examples) < 5:
                tally.examples.append(path)
    return tally


def _is_cut(tally: _Tally) -> bool:
    by_count = tally.core_lost / tally.core if tally.core else 0.0
    by_bytes = tally.core_bytes_lost / tally.core_bytes if tally.core_bytes else 0.0
    return max(by_count, by_bytes) >= CUT


def _blockers(tally: _Tally, scan: ScanHealth, symbols: int) -> Iterator[Reason]:
    if not scan.indexed:
        way_out = "check index.include, index.exclude and .mogignore; `mog status` counts what was skipped"
        yield Reason("context_graph_no_indexed_files", "no file was indexed", 0, way_out)
    elif tally.code and not symbols:
        way_out = "`mog grammars` says which are missing; `mog grammars add LANG` fetches one"
        yield Reason("context_graph_no_symbols", f"{tally.code} program files and no symbol", tally.code, way_out)
    if _is_cut(tally):
        share = tally.core_bytes_lost / max(1, tally.core_bytes)
        files = f"{tally.core_lost} of {tally.core} core files"
        detail = f"a limit kept {files} out ({share:.0%} of their bytes): {', '.join(tally.examples)}"
        way_out = "raise index.max_file_bytes in mog.yaml, or exclude what is no core, then `mog index`"
        yield Reason("context_graph_limit_reached_before_core_code", detail, tally.core_lost, way_out)


def _warnings(tally: _Tally, scan: ScanHealth, blocked: bool) -> Iterator[Reason]:
    for reason, language, count in _missing(tally, worth=True):
        if reason == NO_GRAMMAR:
            detail = f"{count} {language} files have no symbols: there is no grammar"
            yield Reason(f"context_graph_grammar_missing:{language}", detail, count, f"mog grammars add {language}")
        else:
            detail = f"{count} {language} files have no symbols: there is no extractor for them"
            yield Reason(f"context_graph_no_extractor:{language}", detail, count, "they are searched as text")
    if tally.lost and not (blocked and tally.lost == tally.core_lost and _is_cut(tally)):
        detail = f"a limit kept {tally.lost} program files out"
        yield Reason("context_graph_limit_reached", detail, tally.lost, "raise index.max_file_bytes in mog.yaml")
    if tally.code and tally.partial / tally.code >= PARTIAL:
        detail = f"{tally.partial} of {tally.code} program files were parsed in part"
        yield Reason("context_graph_partial_parses", detail, tally.partial, "`mog status` names them")
    if tally.core and tally.core_gated / tally.core >= CUT:
        detail = f"{tally.core_gated} of {tally.core} core files are withheld as secrets"
        yield Reason(
            "context_graph_sensitive_paths_skipped",
            detail,
            tally.core_gated,
            "index.allow_secret_content names files that are none",
        )
    if scan.indexed and not tally.code:
        yield Reason(
            "context_graph_no_core_surfaces_indexed",
            "no program file is indexed",
            0,
            "check index.include and index.exclude",
        )


def _notes(tally: _Tally, scan: ScanHealth) -> Iterator[Reason]:
    for reason, language, count in _missing(tally, worth=False):
        yield Reason(f"context_graph_{reason}:{language}", f"{count} {language} files have no symbols", count)
    yield from (
        Reason(f"context_graph_skipped_{reason}", f"{count} files", count)
        for reason, count in sorted(scan.skipped.items())
        if count
    )
    if scan.gated or scan.gated_symbols:
        detail = f"{scan.gated} files and {scan.gated_symbols} symbols are withheld as secrets"
        yield Reason("context_graph_sensitive_content_gated", detail, scan.gated + scan.gated_symbols)
    if tally.partial and tally.partial / tally.code < PARTIAL:
        yield Reason(
            "context_graph_partial_parses", f"{tally.partial} program files were parsed in part", tally.partial
        )
    if not scan.git:
        yield Reason("context_graph_walked", "no git here: the folder was walked")


def _missing(tally: _Tally, *, worth: bool) -> Iterator[tuple[str, str, int]]:
    """Reason, language and files of those without symbols that are worth a warning, or of those that are not."""
    for reason, languages in sorted(tally.without.items()):
        for language, count in sorted(languages.items()):
            if (
                tally.core_without[language] >= WORTH * max(1, tally.core) and tally.core_without[language] > 0
            ) is worth:
                yield reason, language, count
