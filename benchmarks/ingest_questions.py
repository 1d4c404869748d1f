"""Questions a person asks of documentation, decision records and a history, and how a right answer is known.

Called by ``benchmarks/ingest.py``. What may not come in: sentences of the corpora. ``wants`` lists words; a right answer has
all words of one of its groups. ``told`` is the right answer in our words. ``QUESTIONS`` were looked at while rules were
tuned; ``HELD_OUT`` were written before that and asked once it was done.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One question to one corpus."""

    corpus: str
    text: str
    wants: tuple[tuple[str, ...], ...]
    told: str

    def is_right(self, answer: str) -> bool:
        """Has the answer all words of one group?"""
        lower = answer.lower()
        return any(all(word in lower for word in group) for group in self.wants)


QUESTIONS = (
    Question(
        "django",
        "Which databases support select_for_update?",
        (("postgresql", "oracle", "mysql"),),
        "PostgreSQL, Oracle and MySQL.",
    ),
    Question(
        "django",
        "What happens to savepoints in autocommit mode?",
        (("nothing", "autocommit"),),
        "The functions for them do nothing.",
    ),
    Question("django", "Which Python versions does Django 5.2 support?", (("3.10", "3.13"),), "3.10 to 3.14."),
    Question(
        "django",
        "What SQL behaviour does on_delete CASCADE emulate?",
        (("emulates", "on delete cascade"),),
        "ON DELETE CASCADE.",
    ),
    Question(
        "django",
        "Why can a failed migration on MySQL not be rolled back?",
        (("mysql", "transactions", "schema"),),
        "MySQL has no transactions around schema changes.",
    ),
    Question(
        "django",
        "Does bulk_create call the save method of a model?",
        (("save()", "not be called"),),
        "No, and its signals are not sent.",
    ),
    Question(
        "django",
        "What does prefetch_related do?",
        (("separate lookup",), ("single batch",), ("joining", "python")),
        "One more query per relationship, joined in Python.",
    ),
    Question(
        "django",
        "What is a fixture?",
        (("fixture", "collection of files"), ("fixture", "collection of data")),
        "Files with serialised contents of the database.",
    ),
    Question(
        "django",
        "How long does a CSRF cookie live?",
        (("year",), ("31449600",)),
        "About a year.",
    ),
    Question(
        "django",
        "What does collectstatic do?",
        (("collects", "static_root"),),
        "Collects static files into STATIC_ROOT.",
    ),
    Question(
        "django",
        "Is ATOMIC_REQUESTS good for performance?",
        (("inefficient",), ("performance", "transaction"), ("overhead",)),
        "No, a transaction per view has overhead.",
    ),
    Question("django", "Where does Django store sessions by default?", (("sessions", "database"),), "In the database."),
    Question(
        "records",
        "Where does mog pin store what a person noted?",
        (("mog pin", "ledger.db"),),
        "As an event in ledger.db.",
    ),
    Question(
        "records",
        "What is the exit code when the index is missing?",
        (("no index", "4"), ("index", "missing", "4")),
        "4.",
    ),
    Question(
        "records",
        "Why was a generic tool like typer rejected for the command line?",
        (("typer", "imports"),),
        "It imports rich and click eagerly.",
    ),
    Question(
        "records",
        "What does an anchor see as drifted?",
        (("changed literal",), ("drifted", "literal")),
        "What changes meaning: a literal, a decorator, a statement moved out of an if.",
    ),
    Question("history", "Does edit accept a pathlib.Path?", (("pathlib.path", "edit"),), "Yes, support was added."),
    Question(
        "history",
        "What was written about UnicodeEncodeError on Windows?",
        (("unicodeencodeerror", "windows"),),
        "An entry of the FAQ.",
    ),
    Question(
        "history",
        "What did CliRunner gain for exceptions?",
        (("catch_exceptions",),),
        "A default for catch_exceptions.",
    ),
    Question(
        "history",
        "Which shells got completion fixes?",
        (("completion", "zsh"), ("completion", "bash"), ("completion", "fish"), ("completion", "powershell")),
        "bash, zsh or fish.",
    ),
)

HELD_OUT = (
    Question(
        "django",
        "What is clickjacking?",
        (("tricks", "click"), ("type of attack", "frame")),
        "An attack: a page in a hidden frame tricks a user into clicking it.",
    ),
    Question(
        "django", "What is a slug?", (("short label",),), "A short label of letters, numbers, hyphens, underscores."
    ),
    Question(
        "django",
        "What is ALLOWED_HOSTS?",
        (("list of strings", "host"), ("host", "domain names", "serve")),
        "The host and domain names that a site serves.",
    ),
    Question(
        "django",
        "What is the age of session cookies by default?",
        (("two weeks",), ("2 weeks",), ("1209600",)),
        "Two weeks.",
    ),
    Question("django", "What does refresh_from_db do?", (("reload",),), "Reloads the values of a model."),
    Question(
        "django",
        "Why is GZipMiddleware a security risk?",
        (("breach",), ("compression", "attack"), ("vulnerable to attacks", "tls")),
        "Compressed answers can be attacked in spite of TLS.",
    ),
    Question(
        "django",
        "What happens with an uploaded file smaller than 2.5 megabytes?",
        (("2.5 megabytes", "memory"), ("small files", "memory")),
        "It is held in memory.",
    ),
    Question(
        "django",
        "What is SQL injection?",
        (("malicious user", "execute"),),
        "An attack in which a user gets SQL of his own executed.",
    ),
    Question(
        "django",
        "When is a proxy model used?",
        (("proxy", "behavior"), ("proxy", "only", "python"), ("proxy", "same fields")),
        "To change behaviour in Python and nothing else.",
    ),
    Question(
        "django",
        "Does iterator cache its results?",
        (("without", "cach"), ("iterator", "not cache"), ("iterator", "no caching")),
        "No.",
    ),
    Question("django", "What does squashmigrations do?", (("squashes",),), "Squashes migrations into fewer."),
    Question(
        "django",
        "Which databases does Django officially support?",
        (("postgresql", "mariadb", "oracle"),),
        "PostgreSQL, MariaDB, MySQL, Oracle and SQLite.",
    ),
    Question(
        "records",
        "What is a ground?",
        (("holds", "conclusion", "up"), ("holds", "premises", "stand")),
        "What holds a conclusion up.",
    ),
    Question(
        "records",
        "Why was a graph database rejected?",
        (("graph database", "server"), ("graph database", "second store")),
        "It is a server, or a second store to keep in step.",
    ),
    Question(
        "records",
        "Why was one confidence number rejected?",
        (("confidence", "nobody can act"),),
        "Nobody can act on it.",
    ),
    Question("records", "What does mog doctor do with --repair?", (("rebuild",),), "Rebuilds what can be rebuilt."),
    Question(
        "history",
        "Which Python versions were dropped?",
        (("drop", "end of life"), ("drop", "3.7"), ("drop", "3.8"), ("drop", "3.9")),
        "Those at the end of their life.",
    ),
    Question("history", "What happened to colorama?", (("remov", "colorama"),), "It was removed."),
    Question(
        "history",
        "Why was the last use of shell=True removed?",
        (("defense-in-depth",),),
        "For defence in depth.",
    ),
    Question(
        "history",
        "What was deprecated about isolated_filesystem?",
        (("deprecat", "isolated_filesystem"),),
        "isolated_filesystem itself.",
    ),
)
