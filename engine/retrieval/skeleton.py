"""One file as symbols over its bytes: bodies, and skeletons of whole signatures with documentation.

Who calls: ``zoom``. What may not come in: budgets, ranking, other files, rules of one language: what is left out is decided in
``cuts`` by the grammar's own field ``body``, so a language added by a query file has skeletons too.
"""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mog.engine.code import extract, grammars, ingest, secrets
from mog.engine.code import facts as schema
from mog.engine.code.freshness import Disk
from mog.engine.code.languages_map import language_of
from mog.engine.code.view import CodeView
from mog.engine.model import Freshness
from mog.engine.retrieval import cuts
from mog.engine.retrieval.cuts import CLASSES, RUNS, Cut, Shown

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

_KEPT_FILES, _KEPT_BYTES = 400, 24_000_000
GATED = "gated: its name and place are all that is shown"


class Outline:
    """Symbols of one file as it is on disk.

    Attributes:
        clean: its bytes, gated spans blanked. syms: rows of its facts (``facts.py``) that fit these bytes.
        gated: the whole file is withheld; then ``clean`` is empty. blanked: how many values are blanked.
        padded: its lines were filled up with blanks to keep their places (code of a notebook).
    """

    def __init__(
        self, path: str, language: str, clean: bytes, syms: Sequence[Sequence[Any]], freshness: Freshness, *,
        gated: bool = False, blanked: int = 0, padded: bool = False,
    ) -> None:  # fmt: skip
        self.path = path
        self.padded = padded
        self.language = language
        self.clean = clean
        self.syms = syms
        self.freshness = freshness
        self.gated = gated
        self.blanked = blanked
        self._by_qual = {sym[schema.QUAL]: ord_ for ord_, sym in enumerate(syms)}
        self._members: dict[int, list[int]] = {}
        for ord_, sym in enumerate(syms):
            self._members.setdefault(sym[schema.PARENT], []).append(ord_)
        self._skeletons: dict[int, str] = {}

    def find(self, qual: str) -> int | None:
        """Number of the symbol of that qualified name."""
        return self._by_qual.get(qual)

    def withheld(self, ord_: int) -> bool:
        """Whether a symbol keeps only its name: it, or something in it, is gated."""
        return bool(self.syms[ord_][schema.META].get("g"))

    def members(self, ord_: int) -> list[int]:
        """Symbols right inside another, or at module level (-1), in order."""
        return self._members.get(ord_, [])

    def names(self, ord_: int) -> list[str]:
        """Names of the members, each once."""
        return list(dict.fromkeys(str(self.syms[member][schema.NAME]) for member in self.members(ord_)))

    def body(self, ord_: int) -> str:
        """The whole text of a symbol, decorators included, as it is written: an agent edits by it."""
        sym = self.syms[ord_]
        text = _text(self.clean[self._line_start(sym[schema.FULL]) : sym[schema.STOP]])
        return "\n".join(map(str.rstrip, text.split("\n"))) if self.padded else text

    def skeleton(self, ord_: int) -> str:
        """Decorators, whole signature and documentation; of what holds definitions also those of everything in it.

        Documentation is whole where it is short, else its first paragraph; of members always the first paragraph.
        """
        if ord_ not in self._skeletons:
            self._skeletons[ord_] = self._skeleton(ord_, None, cuts.DOC_BYTES)
        return self._skeletons[ord_]

    def contents(self) -> str:
        """Skeletons of what stands at module level."""
        if -1 not in self._skeletons:
            whole = self._parsed(0, len(self.clean))
            self._skeletons[-1] = "\n".join(self._skeleton(ord_, whole, 0) for ord_ in self.members(-1))
        return self._skeletons[-1]

    def least(self, ord_: int) -> int:
        """Bytes that ``skeleton``, or ``contents`` for -1, has at least: signatures are never cut, but for white space and commas."""
        if ord_ < 0:
            return sum(map(self.least, self.members(-1)))
        every = [ord_, *self._shown(ord_)]
        if any(map(self.withheld, every)):
            return 0
        runs = (self.syms[one][schema.SIG] for one in every if self.syms[one][schema.KIND] in RUNS)
        return sum(len("".join(sig.replace(",", "").split())) for sig in runs)

    def _skeleton(self, ord_: int, tree: tuple[Syntax, int] | None, whole: int) -> str:
        sym = self.syms[ord_]
        shown = list(self._shown(ord_))
        if any(self.withheld(one) for one in (ord_, *shown)):
            return f"{sym[schema.NAME]}  (gated)"
        before = self._doc_before(ord_)
        start = self._line_start(before[0] if before else sym[schema.FULL])
        docs = [*cuts.doc_cuts(self.clean, before, whole)] if before else []
        if sym[schema.KIND] in RUNS:
            left_out = self._run_cuts(ord_, tree, whole)
        elif sym[schema.KIND] in CLASSES or shown:
            left_out = self._class_cuts(ord_, shown, tree, whole)
        else:
            left_out = list(cuts.value_cut(self.clean, sym))
        text = _laid_out(cuts.without(self.clean, start, sym[schema.STOP], [*docs, *left_out]))
        elsewhere = [one for one in self.members(ord_) if self._outside(one, sym) and not self.withheld(one)]
        return "\n".join([text, *(textwrap.indent(self._skeleton(one, tree, 0), "    ") for one in elsewhere)])

    def _outside(self, member: int, owner: Sequence[Any]) -> bool:
        """Whether a member is written outside of its owner, as ``Owner.prototype.name = …`` is."""
        full = self.syms[member][schema.FULL]
        return bool(full >= owner[schema.STOP] or full < owner[schema.FULL])

    def _shown(self, ord_: int) -> Iterator[int]:
        """Members, and members of those that are no functions: what a skeleton names."""
        waiting = list(reversed(self.members(ord_))) if self.syms[ord_][schema.KIND] not in RUNS else []
        while waiting:
            one = waiting.pop()
            if not self._outside(one, self.syms[ord_]) or self.withheld(one):
                yield one
                waiting += reversed(self.members(one)) if self.syms[one][schema.KIND] not in RUNS else []

    def _run_cuts(self, ord_: int, tree: tuple[Syntax, int] | None, whole: int) -> list[Cut]:
        sym = self.syms[ord_]
        head = cuts.head_end(self.clean, sym)
        if head is None:
            root, base = tree or self._tree_of(sym)
            start, stop = sym[schema.START] - base, sym[schema.STOP] - base
            node = root.descendant_for_byte_range(start, max(start, stop - 1)) if root is not None else None
            found = cuts.body_start(node, start, stop)
            head = sym[schema.STOP] if found is None else found + base
        return list(cuts.run_cuts(self.clean, sym, head, sym[schema.STOP], whole))

    def _class_cuts(self, ord_: int, inside: Sequence[int], tree: tuple[Syntax, int] | None, whole: int) -> list[Cut]:
        sym = self.syms[ord_]
        rows = [sym, *(self.syms[one] for one in inside)]
        shown = Shown(rows)
        docs = [doc for doc in map(self._doc_before, inside) if doc]
        left_out = [cut for doc in docs for cut in cuts.doc_cuts(self.clean, doc, 0)]
        holders = {row[schema.PARENT] for row in rows}
        values = [one for one in inside if one not in holders and self.syms[one][schema.KIND] not in RUNS | CLASSES]
        left_out += [cut for one in values for cut in cuts.value_cut(self.clean, self.syms[one])]
        for one in (ord_, *inside):
            own = self._doc_after(one) if self.syms[one][schema.KIND] in CLASSES else None
            left_out += cuts.doc_cuts(self.clean, own, whole if one == ord_ else 0) if own else ()
        root, base = tree or self._tree_of(sym)
        if root is not None:
            left_out += cuts.class_cuts(root, base, self.clean, shown, (sym[schema.FULL], sym[schema.STOP]), docs)
        return left_out

    def _doc_after(self, ord_: int) -> tuple[int, int] | None:
        sym = self.syms[ord_]
        head = cuts.head_end(self.clean, sym) if sym[schema.DOC] else None
        return cuts.doc_after(self.clean, head, sym[schema.STOP]) if head is not None else None

    def _doc_before(self, ord_: int) -> tuple[int, int] | None:
        sym = self.syms[ord_]
        if not sym[schema.DOC] or self._doc_after(ord_):
            return None
        return cuts.doc_before(self.clean, sym[schema.FULL])

    def _line_start(self, at: int) -> int:
        """Where the line of an offset begins, if only blanks stand before it."""
        start = self.clean.rfind(b"\n", 0, at) + 1
        return start if not self.clean[start:at].strip() else at

    def _tree_of(self, sym: Sequence[Any]) -> tuple[Syntax | None, int]:
        """A tree of the definition alone where it can be read so, else of the file; and the offset of its first byte."""
        root, base = self._parsed(sym[schema.START], sym[schema.STOP]) or (None, 0)
        if root is None or not root.has_error:
            return root, base
        return self._parsed(0, len(self.clean)) or (root, base)

    def _parsed(self, start: int, stop: int) -> tuple[Syntax, int] | None:
        parser = grammars.parser(self.language) if self.language in extract.LANGUAGES else None
        tree = grammars.parse(parser, self.clean[start:stop]) if parser is not None else None
        return (tree.root_node, start) if tree is not None else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def _laid_out(data: bytes) -> str:
    """Text at the left margin, without empty lines and blanks at the ends of lines."""
    return textwrap.dedent("\n".join(line.rstrip() for line in _text(data).split("\n") if line.strip()))


class Outlines:
    """Outlines of files, kept while size and times of the file stay the same. Safe from any thread."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self._kept: dict[str, tuple[Any, Outline]] = {}
        self._bytes = 0
        self._lock = threading.RLock()

    def of(self, view: CodeView, path: str) -> Outline | None:
        """The outline of a file of the index as it is on disk; None when it cannot be read."""
        with self._lock:
            row = view.file_at(path)
            key = (self.disk.marks(path), row)
            held = self._kept.get(path)
            if held is not None and held[0] == key and self.disk.reliable(path):
                self._kept[path] = self._kept.pop(path)
                return held[1]
            self._forget(path)
            made = self._made(view, row, path)
            if made is not None:
                self._keep(path, key, made)
            return made

    def _keep(self, path: str, key: Any, made: Outline) -> None:
        self._kept[path] = (key, made)
        self._bytes += len(made.clean)
        while len(self._kept) > _KEPT_FILES or (self._bytes > _KEPT_BYTES and len(self._kept) > 1):
            self._forget(next(iter(self._kept)))

    def _forget(self, path: str) -> None:
        held = self._kept.pop(path, None)
        self._bytes -= len(held[1].clean) if held is not None else 0

    def _made(self, view: CodeView, row: Any, path: str) -> Outline | None:
        fresh = self.disk.file_freshness(row)
        loaded = self.disk.load(path) if fresh is not Freshness.gated else (b"", secrets.Gate(file=True))
        if loaded is None:
            return None
        data, gate = loaded
        if gate.file:
            return Outline(path, "", b"", (), Freshness.gated, gated=True)
        clean = secrets.redact(data, gate.spans) if gate.spans else data
        syms = self._syms(view, row, fresh, clean, path, gate)
        language, text = extract.shown(language_of(path, data[:200]), clean)
        return Outline(path, language, text, syms, fresh, blanked=len(gate.spans), padded=text is not clean)

    @staticmethod
    def _syms(
        view: CodeView, row: Any, fresh: Freshness, clean: bytes, path: str, gate: secrets.Gate
    ) -> Sequence[Sequence[Any]]:
        """Symbols that fit the bytes: those of the index while the file is as it was, else extracted now."""
        if row is not None and row.facts and fresh is Freshness.fresh:
            return list(view.db.facts_get(row.facts)["syms"])
        language = language_of(path, clean[:200])
        if language not in extract.LANGUAGES:
            return ()
        return list(ingest.facts_of(language, clean, path, gate.spans, anchored=False)["syms"])
