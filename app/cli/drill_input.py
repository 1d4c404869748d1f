"""Where the answers of ``mog drill play`` come from: a person at a terminal, a file, or whatever is piped in.

Who calls: ``drill.py``. What may not come in: scoring, printing results. Questions go to stderr, so stdout holds results only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mog.app import plain, plain_drills
from mog.app.cli.output import glyphs
from mog.engine.drills.records import Outcome
from mog.engine.errors import Cancelled, NotFound, UsageError

if TYPE_CHECKING:
    from mog.engine.drills.play import Game

WORDS = {
    "falls": Outcome.falls, "fall": Outcome.falls, "f": Outcome.falls, "h": Outcome.falls,
    "weakens": Outcome.weakens, "weaken": Outcome.weakens, "w": Outcome.weakens,
    "survives": Outcome.survives, "survive": Outcome.survives, "s": Outcome.survives, "l": Outcome.survives,
}  # fmt: skip
BLANK, PEEK, BACK, QUIT = ("-", "_", ""), "?", ("k", "back"), ("q", "quit")
PROMPT = "f falls, w weakens, s survives, ? its grounds, k back, enter leaves it blank, q stops: "
MAX_BYTES = 1 << 20


class Source:
    """Answers, one a question. ``over``: there are none left, or the person stopped."""

    interactive = False

    def __init__(self, words: Iterable[str], where: str) -> None:
        self._words, self._where = list(words), where
        self._at = 0

    @property
    def over(self) -> bool:
        """Whether nothing is left to be answered with."""
        return self._at >= len(self._words)

    def told(self, rows: Iterable[plain.Line]) -> None:
        """Show something to whoever answers; to a file nothing is shown."""

    def read(self) -> str:
        """The next answer; a blank when there are no more."""
        word = self._words[self._at] if not self.over else ""
        self._at += 1
        return word

    def finish(self) -> None:
        """After the last drill. Raises UsageError: more answers than questions, so they belong to other questions."""
        left = len(self._words) - self._at
        if left > 0:
            way_out = "give one word a question: falls, weakens, survives, or - for a blank"
            raise UsageError(f"{left} answers more than questions", where=self._where, way_out=way_out)


class Person(Source):
    """Somebody at a terminal."""

    interactive = True

    def __init__(self, stdin: TextIO, stderr: TextIO) -> None:
        super().__init__((), "stdin")
        self._stdin, self._stderr, self._over = stdin, stderr, False

    @property
    def over(self) -> bool:
        return self._over

    def told(self, rows: Iterable[plain.Line]) -> None:
        self._stderr.write("".join(plain.text_of(plain.safe(row)) + "\n" for row in rows))
        self._stderr.flush()

    def read(self) -> str:
        self._stderr.write(PROMPT)
        self._stderr.flush()
        line = self._stdin.readline()
        word = line.strip().lower()
        self._over = not line or word in QUIT
        return "" if self._over else word

    def finish(self) -> None:
        """Nothing to check."""


def of(answers: Path | None) -> Source:
    """Where answers come from: the file, else the terminal, else what is piped in.

    Raises:
        NotFound: no such file. UsageError: it cannot be read as text, or holds no answer.
    """
    if answers is None and sys.stdin is not None and sys.stdin.isatty():
        return Person(sys.stdin, sys.stderr)
    if answers is None or str(answers) == "-":
        return _file(sys.stdin.read(MAX_BYTES) if sys.stdin is not None else "", "stdin")
    try:
        with answers.open("rb") as file:
            return _file(file.read(MAX_BYTES).decode("utf-8"), str(answers))
    except FileNotFoundError as error:
        raise NotFound("no such file of answers", where=str(answers), way_out="name a file, or - for stdin") from error
    except (OSError, UnicodeDecodeError) as error:
        what = f"answers that cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})"
        raise UsageError(what, where=str(answers), way_out="give a text file with one word a question") from error


def _file(text: str, where: str) -> Source:
    """Words of all lines; what follows # in a line is a remark."""
    words = [word for line in text.splitlines() for word in line.partition("#")[0].split()]
    if not words:
        raise UsageError("no answers", where=where, way_out="play at a terminal, or give --answers FILE")
    return Source(words, where)


def ask(game: Game, source: Source, place: str = "") -> None:
    """Have every question answered.

    Raises:
        UsageError: an answer that is none. Cancelled: the person stopped.
    """
    source.told(plain_drills.asked(game.drill, glyphs(sys.stderr), place))
    at = 0
    while at < len(game.drill.questions):
        source.told(plain_drills.question(at, game.drill, game.drill.questions[at]))
        at = max(0, at + _answer(game, source, at))
        if source.over and source.interactive:
            break
    if at < len(game.drill.questions):
        raise Cancelled("stopped; this drill is not counted", way_out="play again: `mog drill play`")


def _answer(game: Game, source: Source, at: int) -> int:
    """Take one answer; how many questions to go on."""
    word = source.read()
    if source.interactive and source.over:
        return 0
    if source.interactive and word in BACK:
        return -1
    while word.startswith(PEEK):
        game.peek(at)
        source.told(plain_drills.grounds(game.drill.questions[at]))
        word = word[1:] or (source.read() if source.interactive else "")
    if word in WORDS:
        game.answer(at, WORDS[word])
        return 1
    if word in BLANK:
        game.answer(at, None)
        return 1
    if not source.interactive:
        way_out = "falls, weakens, survives, - for a blank; ?falls looks at the grounds first"
        raise UsageError(f"{word!r:.40} is no answer", where=f"answer {at + 1}", way_out=way_out)
    source.told([((f"{word!r:.40} is no answer", "attn"),)])
    return 0
