"""What a question mentions by name, found in the corpus: names, dotted names, paths, places, steps of a traceback.

Who calls: ``rank``. What may not come in: weights, scores by words. Every strength lies between 0 and 1; a name is the stronger
the fewer things are called so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mog.engine.retrieval import words
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.query import Frame, Query

Array = NDArray[Any]
#: Kinds of mention: a name of the title, of the text and of its code; ``Owner.name`` and ``package.module.name``; a file by its
#: path and by its module; a line of a file; a step of a traceback; a question that is nothing but the name.
KINDS = ("title_name", "name", "code_name", "dotted", "path", "module", "place", "frame", "whole")
#: Kinds that speak of all of a file.
OF_FILES = ("path", "module")
#: A name that more documents have than this says nothing.
_MOST_NAMESAKES = 2_000
_LINES_OFF = 40


class Mentions:
    """Kind → strength by document, for one question."""

    def __init__(self, corpus: Corpus, asked: Query) -> None:
        self.corpus = corpus
        self._found: dict[str, Array] = {}
        self._alive = max(2, int(corpus.alive.sum()))
        self._rarities: dict[str, tuple[Array, float]] = {}
        spelled = {*asked.names, *asked.ticked, *asked.called}
        self._names("title_name", [name for name in asked.title_names if name in spelled], 1.0)
        self._names("title_name", [name for name in asked.title_names if name not in spelled], 0.4)
        self._names("name", [*asked.ticked, *asked.called, *asked.names], 1.0)
        self._names("code_name", asked.code_names, 1.0)
        for name in asked.dotted:
            self._dotted(name)
        for path in asked.paths:
            self._files("path", self.by_suffix(path), 1.0)
        for path, line in asked.places:
            self._place(path, line)
        for frame in asked.frames:
            self._frame(frame)
        if asked.plain:
            self._whole(asked.plain)

    def kinds(self) -> list[str]:
        """Kinds that are there, in the order of ``KINDS``."""
        return [kind for kind in KINDS if kind in self._found]

    def of(self, kind: str) -> Array:
        """Strength of a kind by document."""
        return self._found[kind] if kind in self._found else np.zeros(self.corpus.size, np.float32)

    def at(self, kind: str, docs: Array) -> Array:
        """Strength of a kind for some documents."""
        return self._found[kind][docs] if kind in self._found else np.zeros(len(docs), np.float32)

    # kinds

    def _raise(self, kind: str, docs: Array, strength: float) -> None:
        if len(docs):
            values = self._found.setdefault(kind, np.zeros(self.corpus.size, np.float32))
            values[docs] = np.maximum(values[docs], strength)

    def _called(self, name: str) -> tuple[Array, float]:
        """Documents called exactly so, and how much that says."""
        if name not in self._rarities:
            docs = self.corpus.named(words.exact(name))
            rarity = float(np.log1p(self._alive / max(1, len(docs))) / np.log1p(self._alive))
            self._rarities[name] = (docs if len(docs) <= _MOST_NAMESAKES else docs[:0], rarity)
        return self._rarities[name]

    def _names(self, kind: str, names: Iterable[str], share: float) -> None:
        for name in names:
            docs, rarity = self._called(name)
            self._raise(kind, docs, share * rarity)

    def _files(self, kind: str, files: Sequence[int], strength: float) -> None:
        for file in files:
            self._raise(kind, np.arange(self.corpus.first[file], self.corpus.first[file + 1]), strength / len(files))

    def _dotted(self, name: str) -> None:
        """``Owner.name`` by its tails; ``package.module`` and ``package.module.name`` by the path."""
        parts = name.replace("::", ".").replace("#", ".").split(".")
        for at in range(len(parts) - 1):
            docs, rarity = self._called(".".join(parts[at:]))
            if len(docs):
                self._raise("dotted", docs, rarity)
                break
        for stop in range(len(parts), 1, -1):
            if self._module(parts[:stop], parts[stop:]):
                return

    def _module(self, module: Sequence[str], rest: Sequence[str]) -> bool:
        """A module by its path, and what is named in it or below it; whether there is such a module."""
        place = "/".join(module)
        files = [file for end in (".py", "/__init__.py") for file in self.corpus.files_ending(place + end)]
        if not files:
            return False
        self._files("module", files, 1.0)
        if rest:
            docs, _ = self._called(".".join(rest[:2]))
            docs = docs if len(docs) or len(rest) < 2 else self._called(rest[0])[0]
            inside = docs[np.isin(self.corpus.file_of[docs], files)]
            below = docs[np.isin(self.corpus.file_of[docs], self.corpus.files_below(place))] if not len(inside) else inside
            self._raise("dotted", below, 1.0)
        return True

    def by_suffix(self, path: str) -> list[int]:
        """Files that a path of another machine means: those that share its longest tail, of two parts at least or alone."""
        parts = path.replace("\\", "/").strip("/").split("/")
        for at in range(max(0, len(parts) - 12), len(parts)):
            found = self.corpus.files_ending("/".join(parts[at:]))
            if found:
                return found if len(found) <= 4 and (at < len(parts) - 1 or len(parts) == 1 or len(found) == 1) else []
        return []

    def _place(self, path: str, line: int) -> None:
        """The innermost symbol that covers a line; the file may have moved on by some lines."""
        for file in self.by_suffix(path):
            rows = np.arange(self.corpus.first[file] + 1, self.corpus.first[file + 1])
            lines = self.corpus.lines[rows]
            covers = rows[(lines[:, 0] <= line) & (line <= lines[:, 1])]
            if len(covers):
                spans = self.corpus.lines[covers]
                self._raise("place", covers, 0.3)
                self._raise("place", covers[np.argsort(spans[:, 1] - spans[:, 0], kind="stable")[:1]], 1.0)
            elif len(rows):
                far = np.abs(lines[:, 0] - line)
                self._raise("place", rows[far <= min(_LINES_OFF, int(far.min()))], 0.5)

    def _frame(self, frame: Frame) -> None:
        files = self.by_suffix(frame.path)
        docs, _ = self._called(frame.function.rpartition(".")[2])
        docs = docs[np.isin(self.corpus.file_of[docs], files)]
        lines = self.corpus.lines[docs]
        exact = docs[(lines[:, 0] <= frame.line) & (frame.line <= lines[:, 1])] if len(docs) > 1 else docs
        self._raise("frame", exact if len(exact) else docs, 1 / (1 + 0.3 * frame.depth))

    def _whole(self, name: str) -> None:
        """The question is one name: what is called so, symbols before files."""
        place, _, qual = name.rpartition("::")
        wanted = (qual or name).removesuffix("()")
        for written in dict.fromkeys((wanted, wanted.replace("::", ".").replace("/", "."))):
            docs, _ = self._called(written)
            if place and len(docs):
                docs = docs[np.isin(self.corpus.file_of[docs], self.corpus.files_ending(place))]
            self._raise("whole", docs, 1.0)
        self._raise("whole", self.corpus.first[self.corpus.files_ending(name)], 1.0)
