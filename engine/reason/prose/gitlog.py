"""Commit messages as documents: subject, body and date; never who wrote them. Called by callers of the pipeline.

What may not come in: authors, committers, e-mail addresses, diffs, any git command that writes. Messages come in batches,
so that a long history takes no more memory than a short one. git is asked through ``code/git.py`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mog.engine.code import git
from mog.engine.errors import UsageError
from mog.engine.reason.prose import plain
from mog.engine.reason.prose.documents import Document, Skipped
from mog.engine.reason.prose.marked import GONE, Block, Prose

MAX_MESSAGE = 64_000
BATCH = 400
_HASH = re.compile(rb"[0-9a-f]{40,64}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MERGE = re.compile(r"^Merged? ")
_PERSON = re.compile(
    r"^[ \t]*(?:[A-Z][A-Za-z]*-)*(?:[Bb]y|[Cc][Cc]|[Ff]rom|[Aa]uthor):[^\n]*$"
    r"|^[ \t]*git-svn-id:[^\n]*$|^\(cherry picked from [^\n]*$|^[ \t]*Change-Id:[^\n]*$"
    r"|^[ \t]*(?:[Tt]hanks\b|[Tt]hank you\b|[Rr]eported by\b|[Pp]atch(?:es)? by\b|[Ss]uggested by\b|[Rr]eviewed by\b"
    r"|[Bb]ased on (?:a |the |an )?(?:\w+ )?patch)"
    r"[^\n]*(?:\n[^\n]+)*",
    re.MULTILINE,
)
ADDRESS = re.compile(
    r"<?[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}>?|(?<![\w`@/])@[A-Za-z0-9][A-Za-z0-9-]{0,38}(?![\w`])"
)
_CREDIT = re.compile(r"(?:,? ?(?:[Tt]hanks(?: to)?|[Rr]eported by|[Pp]atch by|[Ss]uggested by) [^.;\n]*[.;]?)")


def commits(folder: Path, *, limit: int = 1_000, since: str = "HEAD") -> Iterator[Document | Skipped]:
    """The last ``limit`` commits that ``since`` leads to, newest first; merges without a text of their own are skipped.

    Raises:
        GitRefused: git is missing or refuses. UsageError: ``since`` is no revision but an option.
    """
    if since.startswith("-") or not since.strip():
        raise UsageError("not a revision", where=since, way_out="name a branch, a tag or a commit")
    listed = git.run(folder, "rev-list", f"--max-count={max(limit, 0)}", "--end-of-options", since, "--")
    hashes = [line for line in listed.split(b"\n") if _HASH.fullmatch(line)]
    for at in range(0, len(hashes), BATCH):
        yield from _batch(folder, hashes[at : at + BATCH])


def _batch(folder: Path, hashes: list[bytes]) -> Iterator[Document | Skipped]:
    asked = (
        "log",
        "--no-walk=unsorted",
        "--stdin",
        "-z",
        "--encoding=UTF-8",
        "--no-show-signature",
        "--no-notes",
        "--format=%H%n%cs%n%B",
    )
    settings = {"log.showSignature": "false", "log.mailmap": "false"}
    for record in git.run(folder, *asked, stdin=b"\n".join(hashes) + b"\n", settings=settings).split(b"\0"):
        if record.strip():
            yield _commit(record)


def _commit(record: bytes) -> Document | Skipped:
    head, _, message = record.partition(b"\n")
    date, _, body = message.partition(b"\n")
    where = f"commit:{head.strip().decode('ascii', 'replace')[:12]}"
    if len(body) > MAX_MESSAGE:
        return Skipped(where, f"a message longer than {MAX_MESSAGE} bytes")
    try:
        text = body.decode("utf-8").strip("\n")
    except UnicodeDecodeError:
        return Skipped(where, "a message that is not Unicode")
    subject = text.partition("\n")[0].strip()
    if not subject or "\0" in text:
        return Skipped(where, "no message")
    if _MERGE.match(subject):
        return Skipped(where, "a merge")
    day = date.decode("ascii", "replace").strip()
    known = day if _DATE.fullmatch(day) else None
    facts = {"date": known} if known else {}
    return Document(
        where, subject[:300], text, origin=where, retrieved_at=known, kind="commit", form="commit", facts=facts
    )


def read(text: str) -> Prose:
    """The prose of a message: the subject is a block of its own; trailers, credits and addresses are hidden."""
    found = plain.read(_blotted(text))
    first = text.find("\n") if "\n" in text else len(text)
    subject = Block(0, first, "subject")
    rest = tuple(block for block in found.blocks if block.start > first)
    return Prose(text, found.shown, (subject, *rest), found.marks, title=text[:first].strip())


def _blotted(text: str) -> str:
    """``text`` with what names a person overwritten, line breaks kept, same length."""
    for rule in (_PERSON, _CREDIT, ADDRESS):
        text = rule.sub(lambda match: re.sub(r"[^\n]", GONE, match[0]), text)
    return text
