"""What the history says of a file or symbol: how often it changed, when, by how many, and what changed along with it.

Who calls: ``workspace.past`` and ``workspace.map``. What may not come in: names of people, contents of commits, guesses. Of a file
the mined commits are counted. Of a symbol no commit says that it was touched, so only what still stands is said: the commits that
wrote the lines it has now (``git blame``), and the symbols of partner files that have lines of the same commits. What was written
over since is not seen, and the answer says how many commits of the file that leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mog.engine.code.history import Churn, History
from mog.engine.errors import GitRefused
from mog.engine.model import Along, Node, Past
from mog.engine.retrieval.blame import Line, lines

#: Partner files that are looked into, and symbols shown.
PARTNERS, SHOWN = 6, 12

# path → [(first line, last line, qualified name)] of its symbols as they are on disk
Spans = Callable[[str], Sequence[tuple[int, int, str]]]


def of_file(path: str, history: History) -> Past:
    """What the mined commits say of a file."""
    if history.coverage.why_not:
        return Past(path, said=f"history is not known: {history.coverage.why_not}")
    return _past(path, history.churn(path), f"history from {history.coverage}")


def of_symbol(root: Path, node: Node, history: History, spans: Spans, least: int) -> Past:
    """The same for the file of a symbol, and what its own lines say."""
    past = of_file(node.path, history)
    place = next((span for span in spans(node.path) if span[2] == node.qual), None)
    if history.coverage.why_not or place is None:
        return past
    try:
        held = lines(root, node.path, history.salt.encode())
    except GitRefused as error:
        return past.noting(f"lines are not known: {error.what}")
    own = [line for line in held[place[0] - 1 : place[1]] if line.commit]
    commits = {line.commit for line in own}
    known = commits & history.ids
    note = f"by lines that still stand: {len(commits)} of the {past.commits} commits of the file" if past.commits else ""
    along = _along(root, node, history, spans, known, held, least) if known else ()
    return past.with_lines(
        len(commits), len({line.author for line in own}), _day(max((line.when for line in own), default=0)), along, note
    )


def _past(path: str, churn: Churn, said: str) -> Past:
    return Past(path, churn.commits, churn.authors, _day(churn.first), _day(churn.last), churn.lately, said)


def _along(
    root: Path, node: Node, history: History, spans: Spans, commits: set[str], own: Sequence[Line], least: int
) -> tuple[Along, ...]:
    """Symbols that have lines of the same commits, most of them first."""
    found: list[Along] = []
    partners = [one.path for one in history.partners(node.path, least)[:PARTNERS]]
    for path in (node.path, *partners):
        try:
            held = own if path == node.path else lines(root, path, history.salt.encode())
        except GitRefused:
            continue  # gone since, or not tracked: it has no lines to compare
        for qual, shared in _shared(spans(path), held, commits).items():
            if not (path == node.path and _related(qual, node.qual)):
                found.append(Along(path, qual, shared, len(commits)))
    found.sort(key=lambda one: (-one.together, one.path, one.qual))
    return tuple(found[:SHOWN])


def _related(qual: str, other: str) -> bool:
    return qual == other or qual.startswith(f"{other}.") or other.startswith(f"{qual}.")


def _shared(spans: Sequence[tuple[int, int, str]], held: Sequence[Line], commits: set[str]) -> dict[str, int]:
    """Innermost symbol → how many of the commits wrote lines of it."""
    owner: dict[int, str] = {}
    for first, last, qual in sorted(spans, key=lambda span: span[0] - span[1]):  # the widest first, so the innermost stays
        owner.update(dict.fromkeys(range(first, last + 1), qual))
    met = {(owner[number], line.commit) for number, line in enumerate(held, 1) if line.commit in commits and number in owner}
    return dict(Counter(qual for qual, _ in met))


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d") if seconds > 0 else ""
