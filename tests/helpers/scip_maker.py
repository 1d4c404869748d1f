"""Small SCIP indexes for tests, written by google's runtime from the published schema (``scip_proto``), never by mog's own writer.

A place is named by its word: ``("run", 2)`` is the third whole word ``run`` of the text. What may not come in: mog.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scip_proto import scip_pb2

UTF8, UTF16, UTF32 = 1, 2, 3
_UNITS = {UTF8: "utf-8", UTF16: "utf-16-le", UTF32: "utf-32-le"}
_WIDTH = {UTF8: 1, UTF16: 2, UTF32: 4}


def symbol(descriptors: str, package: str = "pkg") -> str:
    """A global symbol of the test scheme."""
    return f"test pip {package} 1.0 {descriptors}"


class Doc:
    """One document over the text that a file has, or had when it was indexed."""

    def __init__(self, path: str, text: str, *, encoding: int = UTF8, with_text: bool = False) -> None:
        self.text = text
        self.encoding = encoding
        self.message = scip_pb2().Document(relative_path=path, language="Python", position_encoding=encoding)
        if with_text:
            self.message.text = text

    def at(self, word: str, nth: int = 0) -> list[int]:
        """The range of the nth whole word, in the units of the document's encoding."""
        match = list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", self.text))[nth]
        before = self.text[: match.start()]
        line = before.count("\n")
        start = self._units(before.rpartition("\n")[2])
        return [line, start, start + self._units(word)]

    def _units(self, text: str) -> int:
        encoding = self.encoding or UTF16
        return len(text.encode(_UNITS[encoding])) // _WIDTH[encoding]

    def define(self, word: str, name: str, nth: int = 0, above: Iterable[str] = ()) -> Doc:
        """A definition, and what it implements."""
        self.message.occurrences.add(range=self.at(word, nth), symbol=name, symbol_roles=1)
        info = self.message.symbols.add(symbol=name)
        for base in above:
            info.relationships.add(symbol=base, is_implementation=True)
        return self

    def refer(self, word: str, name: str, nth: int = 0) -> Doc:
        """A reference."""
        self.message.occurrences.add(range=self.at(word, nth), symbol=name, symbol_roles=8)
        return self


def index(docs: Iterable[Doc], *, tool: str = "test-indexer", root: str = "file:///elsewhere") -> bytes:
    """The bytes of an index."""
    whole = scip_pb2().Index()
    whole.metadata.tool_info.name = tool
    whole.metadata.tool_info.version = "1"
    whole.metadata.project_root = root
    whole.documents.extend(doc.message for doc in docs)
    return bytes(whole.SerializeToString())


def write(folder: Path, docs: Iterable[Doc], name: str = "index.scip", **options: Any) -> Path:
    """An index in a worktree, one second younger than every file there."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(index(docs, **options))
    return settle(folder, path)


def settle(root: Path, path: Path) -> Path:
    """Make a file younger than everything around it, whatever the clock's tick."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(root) if ".git" not in folder for name in names]
    latest = max((os.lstat(file).st_mtime_ns for file in files), default=0)
    os.utime(path, ns=(latest + 1_000_000_000, latest + 1_000_000_000))
    return path


def touch_after(file: Path, index_file: Path) -> None:
    """Make a file younger than an index."""
    later = os.lstat(index_file).st_mtime_ns + 1_000_000_000
    os.utime(file, ns=(later, later))


def guessed(files: Mapping[str, str]) -> list[Doc]:
    """Documents of several texts by an indexer that goes by names alone: every ``def`` and ``class`` defines, every other word of
    that name refers to the first definition of it. Not right, but a function of the texts, and complete."""
    definition = re.compile(r"(?:def|class|function) (\w+)")
    owners: dict[str, str] = {}
    for path in sorted(files):
        for match in definition.finditer(files[path]):
            owners.setdefault(match.group(1), symbol(f"`{path}`/{match.group(1)}()."))
    docs = []
    for path, text in sorted(files.items()):
        doc = Doc(path, text)
        defined: set[str] = set()
        for name, owner in sorted(owners.items()):
            own = symbol(f"`{path}`/{name}().")
            for nth, match in enumerate(re.finditer(rf"(?<!\w){name}(?!\w)", text)):
                head = text[: match.start()].rpartition("\n")[2]
                if re.search(r"(?:def|class|function) \Z", head):
                    doc.define(name, own, nth) if name not in defined else doc.refer(name, own, nth)
                    defined.add(name)
                else:
                    doc.refer(name, owner, nth)
        docs.append(doc)
    return docs
