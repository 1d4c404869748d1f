"""Results of suites as JSON on disk and as Markdown for docs/results/.

Who calls: ``mog eval run`` saves, ``mog eval report`` renders. What may not come in: measuring, a second reading of a figure: the
Markdown says what the saved JSON says, losses included.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mog.engine.errors import NotFound, StoreDamaged
from mog.engine.evals.suites import Column, Gate, Measure, Row, SuiteResult, Table

FORMAT = "mog.eval"
VERSION = 1


def save(result: SuiteResult, folder: Path) -> Path:
    """Write ``folder``/``suite``.json, replacing what was there; the path written."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.suite}.json"
    fresh = path.with_suffix(".part")
    fresh.write_text(as_json(result), encoding="utf-8")
    fresh.replace(path)
    return path


def as_json(result: SuiteResult) -> str:
    """A result as text: keys in the order of the records; a figure that is infinite is the word ``inf``."""
    body = {"format": FORMAT, "version": VERSION, **asdict(result)}
    return json.dumps(_without_infinities(body), indent=1, ensure_ascii=False) + "\n"


def _without_infinities(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {key: _without_infinities(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_infinities(inner) for inner in value]
    return value


def saved(folder: Path) -> list[SuiteResult]:
    """Every result in a folder, by name of suite.

    Raises:
        NotFound: there is none. StoreDamaged: a file is not what ``save`` writes.
    """
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not paths:
        raise NotFound("no suite was run yet", where=str(folder), way_out="mog eval run SUITE")
    return [load(path) for path in paths]


def load(path: Path) -> SuiteResult:
    """One saved result. Raises StoreDamaged when the file is not what ``save`` writes."""
    try:
        return _result(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreDamaged(f"no result of a suite: {error}", where=str(path), way_out="run the suite again") from error


def _result(read: Mapping[str, Any]) -> SuiteResult:
    if read["format"] != FORMAT or read["version"] != VERSION:
        raise ValueError(f"format {read['format']} {read['version']}")
    tables = tuple(_table(one) for one in read["tables"])
    gates = tuple(Gate(**one) for one in read["gates"])
    return SuiteResult(read["suite"], read["title"], read["about"], tables, gates, tuple(read["notes"]), dict(read["setup"]))


def _table(read: Mapping[str, Any]) -> Table:
    rows = tuple(Row(one["name"], {key: _measure(m) for key, m in one["measures"].items()}, one["note"]) for one in read["rows"])
    return Table(read["title"], tuple(Column(**one) for one in read["columns"]), rows, read["note"])


def _measure(read: Mapping[str, Any]) -> Measure:
    low, high = (None if read[side] is None else float(read[side]) for side in ("low", "high"))
    return Measure(float(read["value"]), low, high, read["n"])


def shown(measure: Measure, column: Column) -> str:
    """A figure as it is read: ``57.7 [51.8, 63.5]``; its unit stands in the head of the column."""
    value = number(measure.value, column.digits)
    if measure.low is None or measure.high is None:
        return value
    return f"{value} [{number(measure.low, column.digits)}, {number(measure.high, column.digits)}]"


def number(value: float, digits: int) -> str:
    """``1,234.5``; ``never`` for what is infinite."""
    return f"{value:,.{digits}f}" if math.isfinite(value) else "never"


def markdown(result: SuiteResult) -> str:
    """One page: what was asked, the bars, the figures, the remarks, and how to run it again."""
    parts = [f"# {result.title}", result.about]
    if result.gates:
        parts += ["## Bars", _grid(("what", "bar", "measured", ""), map(_gate, result.gates))]
    for table in result.tables:
        parts += [f"## {table.title}", *([table.note] if table.note else []), _figures(table)]
    if result.notes:
        parts += ["## Remarks", "\n".join(f"- {note}" for note in result.notes)]
    parts += ["## Setup", "\n".join(f"- {key}: {value}" for key, value in result.setup.items())] if result.setup else []
    return "\n\n".join(parts) + "\n"


def _gate(gate: Gate) -> tuple[str, str, str, str]:
    verdict = {True: "met", False: "**short**", None: "not measured here"}[gate.met]
    return gate.name, gate.target, gate.value, verdict


def head(column: Column) -> str:
    """Title of a column with its unit."""
    return f"{column.title}, {column.unit}" if column.unit else column.title


def _figures(table: Table) -> str:
    noted = any(row.note for row in table.rows)
    heads = ["", *map(head, table.columns), *([""] if noted else [])]
    return _grid(heads, ([row.name, *cells(row, table.columns), *([row.note] if noted else [])] for row in table.rows))


def cells(row: Row, columns: Sequence[Column]) -> list[str]:
    """Figures of a row in the order of the columns; "" where it has none."""
    return [shown(row.measures[c.key], c) if c.key in row.measures else "" for c in columns]


def _grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose columns are aligned, so that it reads in a terminal too."""
    lines = [list(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    widths = [max(3, *(len(line[at]) for line in lines)) for at in range(len(heads))]
    drawn = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines]
    return "\n".join([drawn[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *drawn[1:]])
