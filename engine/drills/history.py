"""``drills.jsonl``: which drills were played and how. Telemetry of the person who played; nothing that is believed.

Who calls: ``room``. What may not come in: the ledger, what would fall, text for people. One line of JSON a drill, oldest
first. The file is only its owner's to read, no link is followed, it is written whole or not at all. A line that cannot be read is
counted and stays as it is; beyond the bound the oldest readable ones go.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from mog.engine.drills.records import Answered, History, Outcome, Played
from mog.engine.errors import StoreDamaged
from mog.engine.ledgers import small_files
from mog.engine.store.lock import WriterLock, in_turn

NAME = "drills.jsonl"
VERSION = 1
MAX_BYTES = 512 * 1024
MAX_ROWS = 64
MAX_TEXT = 160
WAIT_SECONDS = 5.0
_WAY_OUT = "move it away; a new history begins, and nothing that is believed is lost"


class HistoryFile:
    """The history of one clone. Safe from any thread and beside other processes."""

    def __init__(self, folder: Path) -> None:
        """``folder``: the ``.mog`` of the clone. Nothing is made before the first drill was played."""
        self.path = folder / NAME

    def load(self) -> History:
        """Every drill that can be read.

        Raises:
            StoreDamaged: a link or something else in its place, more in it than we write, or it cannot be read.
        """
        found = [_parsed(line) for line in _lines(small_files.read(self.path) or b"")]
        played = tuple(one for one in found if one is not None)
        return History(played, len(found) - len(played))

    def add(self, played: Played) -> None:
        """Keep one drill.

        Raises:
            StoreDamaged: a link or something else in its place, more in it than we write, or it cannot be written. Then it is
                left as it is. HeldByOther: another process writes it all the time.
        """
        with in_turn(WriterLock(self.path.with_suffix(".lock"), "keeping a drill"), WAIT_SECONDS):
            lines = [*_lines(small_files.read(self.path) or b""), _line(played)]
            small_files.replace(self.path, b"".join(line + b"\n" for line in self._bounded(lines)))

    def _bounded(self, lines: list[bytes]) -> list[bytes]:
        over = sum(len(line) + 1 for line in lines) - MAX_BYTES
        if over <= 0:
            return lines
        kept = []
        for at, line in enumerate(lines):
            if over > 0 and at < len(lines) - 1 and _parsed(line) is not None:
                over -= len(line) + 1
            else:
                kept.append(line)
        if over > 0:
            raise StoreDamaged("full of lines that cannot be read", where=str(self.path), way_out=_WAY_OUT)
        return kept


# -- lines


def _lines(raw: bytes) -> list[bytes]:
    return [line for line in raw.split(b"\n") if line.strip()]


def _line(played: Played) -> bytes:
    rows = [
        [
            one.id,
            one.type,
            one.text[:MAX_TEXT],
            one.truth.value,
            one.said.value if one.said else "",
            one.peeked,
            one.hop,
        ]
        for one in played.rows[:MAX_ROWS]
    ]
    document = {
        "v": VERSION, "at": played.at, "id": played.id, "text": played.text[:MAX_TEXT], "head": played.head,
        "seed": played.seed[:MAX_TEXT], "dependants": played.dependants, "score": round(played.score, 2), "rows": rows,
    }  # fmt: skip
    return json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _parsed(line: bytes) -> Played | None:
    """The drill of a line, None when it is of no form that this mog writes."""
    try:
        found = json.loads(line)
        if found["v"] != VERSION or len(found["rows"]) > MAX_ROWS:
            return None
        score = found["score"]
        if type(score) not in (int, float) or not math.isfinite(score) or not 0 <= score <= 100:
            return None
        return Played(
            _text(found["at"]), _text(found["id"]), _text(found["text"]), _whole(found["head"]), _text(found["seed"]),
            _whole(found["dependants"]), float(score), tuple(_answered(row) for row in found["rows"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _answered(row: Any) -> Answered:
    id, type_, text, truth, said, peeked, hop = row
    if not isinstance(peeked, bool):
        raise ValueError("no yes or no")
    return Answered(
        _text(id), _text(type_), _text(text), Outcome(truth), Outcome(said) if said else None, peeked, _whole(hop)
    )  # fmt: skip


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return value


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise ValueError("no count")
    return value
