"""Full text search over nodes: how names are split, how a query becomes FTS5 expressions, how hits are weighed.

Who calls: ``index_db`` (rows in, ``search``), the indexer (``FtsRow``, ``split_identifier``).
What may not come in: freshness, snippets, gated text (the indexer passes none).

Ranking is BM25 with column weights (sqlite.org/fts5.html, 5.1) and a bonus for exact names. BM25 costs a microsecond or
two a hit, so at most ``RANKED`` hits are ranked; of words more common than that, the nodes whose *name* holds them go
first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from mog.engine.store import schema

PUT = "INSERT OR REPLACE INTO fts(rowid, name, parts, path, sig, doc, body) VALUES(?, ?, ?, ?, ?, ?, ?)"
DELETE = "DELETE FROM fts WHERE rowid = ?"

#: Weight of each column in the order of the table; the one place where they are set.
WEIGHTS = (10.0, 6.0, 3.0, 3.0, 2.0, 1.0)
#: Bonus of a node whose name is the query, as written and in other case.
EXACT, EXACT_NOCASE = 40.0, 30.0
#: Weight of hits that only a completed last word, or only some of the words, brought in.
PREFIX, PARTIAL = 0.6, 0.3
#: Hits ranked for one expression.
RANKED = 2_000

_MAX_CHARS, _MAX_WORDS, _SHORTEST_PREFIX = 400, 12, 3
_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_RUN = re.compile(r"[^\W\d_]+|\d+")
_RANK = f"bm25({', '.join(map(str, WEIGHTS))})"


class Index(Protocol):
    """What a search needs of ``IndexDB``."""

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[Any]:
        """All rows of one query."""
        ...

    def codes(self, space: int) -> dict[int, str]:
        """number → word of one code space."""
        ...


class FtsRow(NamedTuple):
    """One search row: node key and the text of each column.

    ``parts`` holds further words to find the node by (its owner's name); the parts of ``name`` are added here.
    """

    key: int
    name: str
    parts: str = ""
    path: str = ""
    sig: str = ""
    doc: str = ""
    body: str = ""


def split_identifier(name: str) -> list[str]:
    """Words of an identifier, lower case: ``HTTPServer2_run`` → ``http server 2 run``."""
    return [part.lower() for part in _parts(name)]


def _parts(name: str) -> list[str]:
    if name.isascii():
        return _ASCII_PART.findall(name)
    return [part for run in _RUN.findall(name) for part in _humps(run)]


def _humps(run: str) -> list[str]:
    """A run of letters of any script, cut before a capital that follows a small letter or begins a word."""
    starts = [0]
    for at in range(1, len(run)):
        begins = run[at - 1].islower() or (run[at - 1].isupper() and run[at + 1 : at + 2].islower())
        if run[at].isupper() and begins:
            starts.append(at)
    return [run[start:stop] for start, stop in zip(starts, [*starts[1:], len(run)], strict=True)]


def prepared(row: FtsRow | tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of one row as they are stored."""
    key, name, parts, *texts = row
    words = "" if name.islower() else " ".join(_parts(name))
    extra = f"{words} {parts} {' '.join(_parts(parts))}" if parts else words
    return (key, schema.text(name), schema.text(extra), *map(schema.text, texts))


def search(db: Index, query: str, limit: int, kinds: Collection[str] = ()) -> list[tuple[int, float]]:
    """Best nodes for a query, whatever characters it holds.

    All words must match; when that yields fewer than ``limit``, the last word may be a beginning (three letters at
    least), then any of the rarer words will do.

    Args:
        kinds: node kinds to keep; empty keeps all. Words the index does not know keep nothing.

    Returns:
        ``(node key, score)``, best first, ties by key; higher is better.
    """
    words = _words(query)
    if not words or limit <= 0:
        return []
    finder = _Finder(db, limit, kinds)
    finder.add_exact(query.strip())
    finder.add(" AND ".join(map(_expression, words)), 1.0)
    if finder.wanting and len(words[-1]) >= _SHORTEST_PREFIX:
        finder.add(" AND ".join([*map(_expression, words[:-1]), _quoted(words[-1]) + "*"]), PREFIX)
    if finder.wanting and len(words) > 1:
        finder.add(finder.rarer(words), PARTIAL)
    return finder.best()


def total(db: Index, query: str, kinds: Collection[str] = ()) -> int:
    """How many nodes of these kinds (empty: of all) hold all words of the query (last word whole)."""
    words = _words(query)
    if not words:
        return 0
    expression = " AND ".join(map(_expression, words))
    if not kinds:
        return _count(db, expression)
    numbers = [number for number, word in db.codes(schema.SPACE_KIND).items() if word in kinds]
    marks = ", ".join(map(str, numbers))
    sql = f"SELECT count(*) FROM fts JOIN nodes n ON n.id = fts.rowid WHERE fts MATCH ? AND n.kind IN ({marks})"
    return int(db.rows(sql, (expression,))[0][0])


class _Finder:
    """Collects the best score of each node over several expressions."""

    def __init__(self, db: Index, limit: int, kinds: Collection[str]) -> None:
        self._db = db
        self._limit = limit
        known = db.codes(schema.SPACE_KIND)
        self._kinds = [number for number, word in known.items() if word in kinds]
        self._filter = f" AND n.kind IN ({', '.join(map(str, self._kinds))})" if kinds else ""
        self._scores: dict[int, float] = {}

    @property
    def wanting(self) -> bool:
        return len(self._scores) < self._limit

    def best(self) -> list[tuple[int, float]]:
        ordered = sorted(self._scores.items(), key=lambda item: (-item[1], item[0]))
        return ordered[: self._limit]

    def add_exact(self, name: str) -> None:
        """Nodes whose name is the whole query; of a dotted or ``::`` query, its last part counts."""
        last = re.split(r"[.:/]+", name)[-1]
        if not last or len(name) > _MAX_CHARS or re.search(r"\s", name):
            return
        sql = (
            "SELECT n.id, t.text FROM names t JOIN nodes n ON n.name = t.id WHERE t.text = ?1 COLLATE NOCASE"
            f"{self._filter} ORDER BY t.text <> ?1, n.id LIMIT ?2"
        )
        for key, text in self._db.rows(sql, (schema.text(last), self._limit * 4)):
            self._scores[key] = EXACT if text == last else EXACT_NOCASE

    def add(self, expression: str, weight: float) -> None:
        """Rank the hits of one expression: all, or, of too many, those in names; the rest follows as it comes."""
        if not expression:
            return
        named = "{name parts} : (" + expression + ")"
        if _count(self._db, expression) <= RANKED:
            self._rank(expression, weight)
            return
        if _count(self._db, named) <= RANKED:
            self._rank(named, weight)
        elif self.wanting:
            self._sample(named, weight)
        if self.wanting:
            self._sample(expression, weight / 2)

    def rarer(self, words: list[str]) -> str:
        """The words joined by OR, rarest first, as far as their hits together stay within ``RANKED``."""
        counted = sorted((_count(self._db, _expression(word)), word) for word in set(words))
        kept, sum_of_hits = [], 0
        for hits, word in counted:
            sum_of_hits += hits
            if hits and sum_of_hits <= RANKED:
                kept.append(_expression(word))
        return " OR ".join(kept)

    def _rank(self, expression: str, weight: float) -> None:
        sql = (
            f"SELECT fts.rowid, fts.rank FROM fts{self._join()} WHERE fts MATCH ? AND fts.rank MATCH ?{self._filter}"
            " ORDER BY fts.rank LIMIT ?"
        )
        self._take(self._db.rows(sql, (expression, _RANK, self._limit * 2)), weight)

    def _sample(self, expression: str, weight: float) -> None:
        """Some hits of words so common that their rank says nothing: every one scores under any that was ranked."""
        sql = f"SELECT fts.rowid, -0.001 FROM fts{self._join()} WHERE fts MATCH ?{self._filter} LIMIT ?"
        self._take(self._db.rows(sql, (expression, self._limit * 2)), weight)

    def _join(self) -> str:
        return " JOIN nodes n ON n.id = fts.rowid" if self._filter else ""

    def _take(self, rows: Iterable[tuple[int, float]], weight: float) -> None:
        scores = self._scores
        for key, rank in rows:
            before = scores.get(key, 0.0)
            after = -rank * weight
            scores[key] = before + after if EXACT_NOCASE <= before <= EXACT else max(before, after)


def _count(db: Index, expression: str) -> int:
    return int(db.rows("SELECT count(*) FROM fts WHERE fts MATCH ?", (expression,))[0][0])


def _words(query: str) -> list[str]:
    """Runs of letters, digits and underscores that hold a letter or digit, at most twelve."""
    clean = schema.text(query[:_MAX_CHARS].replace("\x00", " "))
    return [word for word in re.findall(r"\w+", clean) if any(map(str.isalnum, word))][:_MAX_WORDS]


def _expression(word: str) -> str:
    parts = split_identifier(word)
    if len(parts) < 2 or ("_" in word and word.islower()):
        return _quoted(word)
    return f"({_quoted(word)} OR ({' AND '.join(map(_quoted, parts))}))"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
