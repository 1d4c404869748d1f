"""Files and folders as documents: Markdown, reStructuredText, plain text, ADR collections. Called by ``pipeline`` callers.

What may not come in: writes, network, following links, anything a file could ask us to run. A file that cannot be read is
a ``Skipped`` with its reason; it never ends the reading of the others. Credentials are gated as in the code layer: a file
that is one is skipped, a value that is one is overwritten before the text goes anywhere.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from mog.engine import ids
from mog.engine.code import secrets
from mog.engine.code.ignore import Rules
from mog.engine.errors import NotFound, UsageError
from mog.engine.reason.prose import front, markdown, plain, rest
from mog.engine.reason.prose.documents import MAX_DOCUMENT, Document, Skipped
from mog.engine.reason.prose.marked import Prose

MARKDOWN = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
REST = (".rst", ".rest")
TEXT = (".txt", ".text", ".adoc", ".org", "")
DEFAULT_GLOBS = ("*.md", "*.markdown", "*.mdx", "*.rst", "*.txt")
MAX_FILES = 50_000
_ENCODINGS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", "venv", "site-packages", "_build"))
_ADR_FOLDERS = frozenset(
    ("adr", "adrs", "decisions", "decision-records", "architecture-decisions", "architecture_decisions")
)
_ADR_NAME = re.compile(r"^(?:adr[-_ ]?)?\d{1,5}[-_ .].+", re.IGNORECASE)
_LOOKS_REST = re.compile(r"^\.\. [a-z:-]+::|^[=\-~]{4,}\r?$\n(?!\s*\n)|:[a-z]+:`[^`\n]+`|``[^`\n]+``", re.MULTILINE)
_ADR_SECTION = re.compile(
    r"^(?:#+[ \t]*\d*\.?[ \t]*|\*\*)(?:decision|decision outcome)\b", re.IGNORECASE | re.MULTILINE
)


def folder(root: Path, *, globs: Sequence[str] = DEFAULT_GLOBS, prefix: str = "") -> Iterator[Document | Skipped]:
    """Every text file below ``root`` that a glob names (gitignore patterns), in order of paths.

    Args:
        prefix: goes before the path in keys, so that two folders do not share keys.

    Raises:
        NotFound: no such folder. ConfigError: a glob is no pattern.
    """
    if not root.is_dir():
        raise NotFound("no such folder", where=os.fspath(root), way_out="name a folder of texts")
    wanted = Rules()
    wanted.add(globs, "glob", where="globs")
    for number, path in enumerate(_walk(root, wanted)):
        if number >= MAX_FILES:
            yield Skipped(os.fspath(root), f"more than {MAX_FILES} files; the rest was not read")
            return
        yield file(root / path, key=prefix + ids.escape(path))


def _walk(root: Path, wanted: Rules) -> Iterator[str]:
    """Paths relative to ``root`` with ``/``; hidden folders, links and folders of machines' making are left out."""
    for here, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED_FOLDERS
            and not os.path.islink(os.path.join(here, name))
        )
        below = PurePosixPath(Path(here).relative_to(root).as_posix())
        for name in sorted(names):
            path = (below / name).as_posix()
            if wanted.match(path):
                yield path


def file(path: Path, *, key: str = "", form: str = "") -> Document | Skipped:
    """One file as a document; ``form`` is told by its name and text when it is not given."""
    key = key or ids.escape(path.as_posix())
    data = _bytes(path)
    return Skipped(key, data) if isinstance(data, str) else from_bytes(key, data, form=form)


def _bytes(path: Path) -> bytes | str:
    """Content of a regular file, or why it is not read. Links and pipes are never opened."""
    try:
        info = path.lstat()
        if not stat.S_ISREG(info.st_mode):
            return "a link" if stat.S_ISLNK(info.st_mode) else "no regular file"
        if info.st_size > MAX_DOCUMENT:
            return f"larger than {MAX_DOCUMENT} bytes"
        with path.open("rb") as stream:
            return stream.read(MAX_DOCUMENT + 1)
    except OSError as error:
        return f"cannot be read: {error.strerror or type(error).__name__}"


def from_bytes(key: str, data: bytes, *, form: str = "") -> Document | Skipped:
    """A document of a file's bytes; ``Skipped`` when they are no text, a credential, or the front matter is broken."""
    gate = secrets.classify(key, data)
    if gate.file:
        return Skipped(key, f"gated: {gate.rule}")
    text = _text(secrets.redact(data, gate.spans) if gate.spans else data)
    if text is None:
        return Skipped(key, "no text: binary, or in an encoding that is not Unicode")
    try:
        return _document(key, text, form or _form(key, text))
    except UsageError as error:
        return Skipped(key, f"{error.what} ({error.where})")


def _text(data: bytes) -> str | None:
    encoding = next((name for mark, name in _ENCODINGS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _form(key: str, text: str) -> str:
    path = PurePosixPath(key)
    ending = path.suffix.lower()
    if ending in REST:
        return "rest"
    marked = ending in MARKDOWN
    if marked and (_ADR_NAME.match(path.name) or not _ADR_FOLDERS.isdisjoint(path.parts)) and _ADR_SECTION.search(text):
        return "adr"
    if marked:
        return "markdown"
    return "rest" if len(_LOOKS_REST.findall(text[:20_000])) >= 2 else "text"


def _document(key: str, text: str, form: str) -> Document:
    if len(text) > MAX_DOCUMENT:
        raise UsageError(f"longer than {MAX_DOCUMENT} characters", where=key, way_out="split it")
    matter = front.parse(text, key) if form in ("markdown", "adr") else front.Front({}, 0)
    fields = matter.fields
    draft = Document(key, key, text, form=form, start=matter.start)
    stated = fields.get("title")
    title = stated if isinstance(stated, str) and stated.strip() else prose(draft).title
    dates = {
        name: front.date_of(fields.get(name), key, name)
        for name in ("date", "retrieved-at", "updated")
        if name in fields
    }
    facts = {
        name: value for name, value in (("date", dates.get("date")), ("status", _word(fields.get("status")))) if value
    }
    return Document(
        key,
        title[:300] or key,
        text,
        retrieved_at=dates.get("retrieved-at") or dates.get("updated") or dates.get("date"),
        form=form,
        start=matter.start,
        entities=front.names_of(fields.get("entities"), key, "entities"),
        facts=facts,
    )


def _word(value: object) -> str:
    return value.strip()[:200] if isinstance(value, str) else ""


def prose(document: Document) -> Prose:
    """The prose of a document, by its form."""
    from mog.engine.reason.prose import gitlog, issues_export  # they read documents of their own making

    readers = {"rest": rest.read, "text": plain.read, "commit": gitlog.read, "issue": issues_export.read}
    found = readers.get(document.form)
    return found(document.text) if found else markdown.read(document.text, document.start)
