"""Results of suites as plain lines.

Who calls: ``app/cli/eval.py``. What may not come in: running a suite, widths of a terminal. Lines are cleaned by whoever prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mog.app.plain import Line

if TYPE_CHECKING:
    from mog.engine.evals.suites import Gate, Suite, SuiteResult, Table

_MET = {True: ("met", ""), False: ("short", "attn"), None: ("not measured here", "muted")}


def suites(found: Iterable[Suite]) -> Iterator[Line]:
    """The suites there are, one a line."""
    for one in found:
        yield (one.name.ljust(14), "name"), (one.about, "")


def result(found: SuiteResult) -> Iterator[Line]:
    """One result: bars, tables, remarks."""
    yield ((found.title, "name"),)
    yield ((found.about, "muted"),)
    for gate in found.gates:
        yield _gate(gate)
    for table in found.tables:
        yield ()
        yield from _table(table)
    for remark in found.notes:
        yield (("· ", "muted"), (remark, ""))


def _gate(found: Gate) -> Line:
    word, role = _MET[found.met]
    return (f"{word}: ", role), (f"{found.name}: {found.value}", ""), (f" (bar {found.target})", "muted")


def _table(found: Table) -> Iterator[Line]:
    from mog.engine.evals.report import cells, head

    yield ((found.title, "name"),)
    heads = ["", *map(head, found.columns)]
    rows = [[row.name, *cells(row, found.columns)] for row in found.rows]
    widths = [max(len(line[at]) for line in (heads, *rows)) for at in range(len(heads))]
    yield (("  ".join(text.ljust(width) for text, width in zip(heads, widths, strict=True)), "muted"),)
    for row, (name, *figures) in zip(found.rows, rows, strict=True):
        rest = "".join("  " + text.ljust(width) for text, width in zip(figures, widths[1:], strict=True))
        yield (name.ljust(widths[0]), ""), (rest, ""), ("  " + row.note if row.note else "", "muted")


def page(markdown: str) -> Iterator[Line]:
    """A rendered report, line by line."""
    return (((line, ""),) for line in markdown.splitlines())
