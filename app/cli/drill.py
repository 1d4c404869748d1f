"""``mog drill``: predict what falls with an assumption, see what does, and where predictions go wrong. Writes no fact."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter, validators

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.options import COMMON, Common, Limit
from mog.app.present import meant

if TYPE_CHECKING:
    from mog.app.cli.drill_input import Source
    from mog.engine.drills.play import Game, Series
    from mog.engine.drills.room import Drills

HELP = "Predict what falls, on a copy of what is believed: list drills, play them, see scores and weak spots."
drill = App(name="drill", help=HELP, result_action="return_value")

Which = Annotated[str, Parameter(show_default=False, help="id, beginning of an id, or the words of a record.")]
Seed = Annotated[str, Parameter(show_default=False, help="Any text: the same one gives the same drills and questions.")]
Questions = Annotated[
    int,
    Parameter(
        validator=validators.Number(gte=1, lte=60),
        help="Questions of one drill at most; further dependants are sampled.",
    ),
]
Many = Annotated[int, Parameter(name="--drills", validator=validators.Number(gte=1, lte=1_000), help="Drills at most.")]


@drill.default
def listed(*, limit: Limit = 20, common: Common = COMMON) -> int:
    """List the assumptions that can be drilled, riskiest first, with the reasons."""
    from mog.app import plain_drills, present_drills

    with _room(common) as room:
        found = room.choices(limit)
    beliefs.document(present_drills.choices(found), plain_drills.choices(found, output.glyphs()), common)
    return exit_codes.OK if found.items else exit_codes.NOTHING


drill.command(listed, name="list")


@drill.command
def play(
    assumption: Which = "",
    /,
    *,
    answers: Annotated[
        Path | None,
        Parameter(
            show_default=False,
            allow_leading_hyphen=True,
            help="File with an answer for each question (- for stdin) instead of asking.",
        ),
    ] = None,
    seed: Seed = "",
    drills: Many = 1,
    questions: Questions = 12,
    keep: Annotated[bool, Parameter(negative="--forget", help="Keep the score in the history.")] = True,
    common: Common = COMMON,
) -> int:
    """Play: answer falls, weakens or survives for each dependant, then see what is so and why."""
    from mog.app.cli import drill_input

    source = drill_input.of(answers)
    with _room(common) as room:
        series = _series(room, assumption, seed, drills, questions, keep)
        documents = []
        game: Game | None = series.game
        while game is not None and not source.over:
            documents.append(_played(series, game, source, common))
            game = series.next()
    if common.json:
        mean = series.score
        output.document({"drills": documents, "score": None if mean is None else round(mean, 2)})
    elif len(documents) > 1:
        output.lines([((f"{len(documents)} drills, mean score {series.score or 0:.0f}", "name"),)], common)
    return exit_codes.OK


@drill.command
def history(*, limit: Limit = 20, common: Common = COMMON) -> int:
    """List the drills that were played, newest first, with their scores."""
    from mog.app import plain_drills, present_drills

    with _room(common) as room:
        found = room.history()
    beliefs.document(present_drills.history(found, limit), plain_drills.history(found, limit), common)
    return exit_codes.OK if found.played else exit_codes.NOTHING


@drill.command
def weak(*, limit: Limit = 20, common: Common = COMMON) -> int:
    """List the records that you misjudge, worst first, and habits of misjudging."""
    from mog.app import plain_drills, present_drills

    with _room(common) as room:
        found = room.weak(limit)
    beliefs.document(present_drills.weak(found), plain_drills.weak(found), common)
    return exit_codes.OK if found.items else exit_codes.NOTHING


@drill.command
def export(
    assumption: Which = "",
    /,
    *,
    form: Annotated[
        Literal["jsonl", "markdown"], Parameter(name="--format", help="JSON Lines, or cards in Markdown.")
    ] = "jsonl",
    solved: Annotated[bool, Parameter(negative="", show_default=False, help="With what is so, and why.")] = False,
    played: Annotated[
        bool, Parameter(negative="", show_default=False, help="The drills of the history instead, with your answers.")
    ] = False,
    seed: Seed = "",
    drills: Many = 10,
    questions: Questions = 12,
    common: Common = COMMON,
) -> int:
    """Write drills for a script, a note or a colleague: one JSON object or one Markdown card for each."""
    with _room(common) as room:
        rows, cards = (
            _history_rows(room)
            if played
            else _drill_rows(_series(room, assumption, seed, drills, questions, False), solved)
        )
    if common.json:
        output.document({"items": rows})
    elif form == "jsonl":
        output.json_lines(rows)
    else:
        output.lines((((line, ""),) for line in cards), Common(no_color=True))
    return exit_codes.OK if rows else exit_codes.NOTHING


# -- inside


@contextmanager
def _room(common: Common) -> Iterator[Drills]:
    with door.opened(common) as workspace:
        yield workspace.drills


def _series(room: Drills, target: str, seed: str, drills: int, questions: int, keep: bool) -> Series:
    def ask(words: str) -> Series:
        return room.series(words, seed=seed, drills=drills, questions=questions, keep=keep)

    return meant(ask, target) if target else ask("")


def _played(series: Series, game: Game, source: Source, common: Common) -> dict[str, object]:
    """One drill: asked, answered, revealed and printed; its JSON."""
    from mog.app import plain_drills, present_drills
    from mog.app.cli import drill_input

    drill_input.ask(game, source, f"{series.place} of {len(series)}" if len(series) > 1 else "")
    if series.place == len(series):
        source.finish()  # before anything is kept
    done = game.reveal()
    best = game.suggest()
    if not common.json:
        beliefs.folded(plain_drills.revealed(done, output.glyphs(), best, game.unkept), common)
    return present_drills.revealed(done, best, game.unkept)


def _drill_rows(series: Series, solved: bool) -> tuple[list[dict[str, object]], list[str]]:
    from mog.app import plain_cards, present_drills

    rows: list[dict[str, object]] = []
    cards: list[str] = []
    game: Game | None = series.game
    while game is not None:
        rows.append(present_drills.answered(game.drill) if solved else present_drills.asked(game.drill))
        cards += plain_cards.card(game.drill, answers=solved)
        game = series.next()
    return rows, cards


def _history_rows(room: Drills) -> tuple[list[dict[str, object]], list[str]]:
    from mog.app import plain_cards, present_drills

    found = room.history()
    cards = [line for one in reversed(found.played) for line in plain_cards.played_card(one)]
    return list(present_drills.history(found)["items"]), cards
