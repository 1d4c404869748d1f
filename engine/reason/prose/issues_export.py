"""A JSON Lines export of issues as documents, one issue a line. Called by callers of the pipeline.

What may not come in: names of people, network, a line that ends the reading of the others.

Fields, under the names of GitHub's API and of its command line:

    number | id          required, what the issue is known by           title          required
    body                 text, may be missing or null                    state          open, closed, merged, …
    created_at | createdAt, updated_at | updatedAt, closed_at | closedAt      dates, ISO 8601
    html_url | url       where people find it                            labels         texts, or objects with a name
    comments             a list of texts, or of objects with body        repository     text, goes into the key

Other fields, and above all those that name people, are not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mog.engine.code import secrets
from mog.engine.errors import NotFound, UsageError
from mog.engine.reason.prose import front, markdown
from mog.engine.reason.prose.documents import Document, Skipped
from mog.engine.reason.prose.gitlog import ADDRESS
from mog.engine.reason.prose.marked import GONE, Block, Prose

MAX_LINE = 4_000_000
MAX_ISSUES = 200_000
MAX_COMMENTS = 500
_DATES = {
    "created": ("created_at", "createdAt"),
    "updated": ("updated_at", "updatedAt"),
    "closed": ("closed_at", "closedAt"),
}


def issues(path: Path) -> Iterator[Document | Skipped]:
    """The issues of an export, in the order of its lines.

    Raises:
        NotFound: there is no such file.
    """
    if not path.is_file():
        raise NotFound("no such export", where=str(path), way_out="name a file with one JSON object a line")
    with path.open("rb") as stream:
        for number in range(1, MAX_ISSUES + 1):
            line = stream.readline(MAX_LINE + 1)
            if not line:
                return
            yield from _line(stream, line, f"{path.name}:{number}")
    yield Skipped(path.name, f"more than {MAX_ISSUES} lines; the rest was not read")


def _line(stream: Any, line: bytes, where: str) -> Iterator[Document | Skipped]:
    if len(line) > MAX_LINE:
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE)
        yield Skipped(where, f"a line longer than {MAX_LINE} bytes")
    elif line.strip():
        try:
            yield issue(_object(line, where), where)
        except UsageError as error:
            yield Skipped(where, f"{error.what} ({error.where})")


def _object(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError("not JSON", where=where, way_out="write one object a line") from error
    if not isinstance(value, dict):
        raise UsageError("not a JSON object", where=where, way_out="write one object a line")
    return value


def issue(data: Mapping[str, Any], where: str = "issue") -> Document:
    """One issue as a document.

    Raises:
        UsageError: a field is missing or of the wrong type; ``where`` and the field are named.
    """
    number = data.get("number", data.get("id"))
    if not isinstance(number, int | str) or isinstance(number, bool) or not str(number).strip():
        raise _wrong(where, "number", "a number or text")
    title = _text(data, where, "title").strip()
    if not title:
        raise _wrong(where, "title", "text")
    repository = data.get("repository")
    key = f"issue:{repository + '#' if isinstance(repository, str) else ''}{number}"
    text = _redacted("\n\n".join([" ".join(title.split()), _text(data, where, "body"), *_comments(data, where)]))
    facts: dict[str, Any] = {
        "number": str(number),
        "labels": list(_labels(data, where)),
        "state": _text(data, where, "state").lower(),
    }
    for name, fields in _DATES.items():
        facts[name] = next((front.date_of(data[f], where, f) for f in fields if data.get(f)), None)
    origin = data.get("html_url") or data.get("url")
    return Document(
        key, title[:300], text, origin=origin if isinstance(origin, str) else key, form="issue",
        retrieved_at=facts["updated"] or facts["created"], facts={name: value for name, value in facts.items() if value},
    )  # fmt: skip


def _text(data: Mapping[str, Any], where: str, name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(where, name, "text")
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", " ").replace("\r\n", "\n")


def _labels(data: Mapping[str, Any], where: str) -> Iterator[str]:
    found = data.get("labels") or []
    if not isinstance(found, list):
        raise _wrong(where, "labels", "a list")
    for label in found[:100]:
        name = label.get("name") if isinstance(label, dict) else label
        if isinstance(name, str) and name.strip():
            yield name.strip()[:100]


def _comments(data: Mapping[str, Any], where: str) -> Iterator[str]:
    found = data.get("comments")
    if not isinstance(found, list):  # GitHub's API gives their number here
        return
    for comment in found[:MAX_COMMENTS]:
        if isinstance(comment, dict):
            yield _text(comment, f"{where}: comments", "body")
        elif isinstance(comment, str):
            yield comment
        else:
            raise _wrong(where, "comments", "texts or objects with a body")


def _redacted(text: str) -> str:
    data = text.encode("utf-8")
    gate = secrets.classify("issue.md", data)
    if gate.file:
        raise UsageError(f"gated: {gate.rule}", where="body", way_out="take the credential out")
    return secrets.redact(data, gate.spans).decode("utf-8") if gate.spans else text


def _wrong(where: str, name: str, wanted: str) -> UsageError:
    return UsageError(f"{wanted} expected", where=f"{where}: {name}", way_out="see the fields of the export")


def read(text: str) -> Prose:
    """The prose of an issue: its title is a block of its own, the rest is Markdown; addresses and @names are hidden."""
    first = text.find("\n") if "\n" in text else len(text)
    found = markdown.read(text, first)
    shown = list(text[:first] + found.shown[first:])
    for match in ADDRESS.finditer("".join(shown)):
        shown[match.start() : match.end()] = GONE * (match.end() - match.start())
    return Prose(
        text, "".join(shown), (Block(0, first, "subject"), *found.blocks), found.marks, title=text[:first].strip()
    )
