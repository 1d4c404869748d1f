"""PHP's rules for the linker: namespaces, PSR-4, what the language owns. Called by ``link*.py``.

What may not come in: inference, edges. The interface is that of ``link_declared.py``. The extractor settles names as PHP does at
compile time, so a chain begins with a namespace: ``\\App\\Model`` holds classes and functions, ``~App\\Model`` is that namespace
asked for a function, which falls back to the global space. Of several definitions under one full name the one counts that lies
where ``composer.json`` has it (PSR-4, PSR-0).
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.link_declared import DeclaredRules
from mog.engine.code.link_names import NO_READS, Answer, Value, merge, symbol
from mog.engine.code.link_paths import joined
from mog.engine.code.link_php_builtins import CLASSES, FAMILIES, FUNCTIONS, OWNED
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

Defined = tuple[list[Sym], tuple[int, ...]]

_SCRIPTS = (".php", ".inc", ".phtml", ".php5", ".module", ".install")


class PhpRules(DeclaredRules):
    """Names of PHP. Keeps what it found and the autoload settings of the folders it met."""

    family = "php"
    langs = frozenset(("php",))
    constructors = ("__construct",)
    invoke = "__invoke"
    exact = True
    sealed = True
    mixes = True
    owned = OWNED
    elsewhere = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self._defined: dict[tuple[str, str], Defined] = {}
        self._prefixes: dict[str, tuple[list[tuple[str, str, str]], tuple[int, ...]]] = {}

    def guessable(self, sym: Sym) -> bool:
        """Whether a call on an unknown receiver may mean this: a method of a class that another file can reach."""
        return sym.parent is not None and sym.parent.kind == "class" and "private" not in sym.flags

    def is_builtin(self, name: str) -> bool:
        """Whether PHP has a class or function of that name in the global space (``DateTime``, ``DateTime.format``)."""
        first = name.partition(".")[0]
        return first in CLASSES or first.lower() in FUNCTIONS or first.lower().startswith(FAMILIES)

    def sure(self, text: str) -> bool:
        """A variable without a type is one thing; what comes out of arrays and of calls that nobody knows may be anything."""
        return text[0] == "?" and "(" not in text

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def beside(self, types: Types, file: File, name: str, hops: int) -> Answer:
        """The namespace at the head of a chain; variables are nobody's."""
        return (((("P", ("php", name.removeprefix("\\"))),) if name[0] in "\\~" else ()), NO_READS, 0)

    def inside(self, types: Types, space: str, name: str, hops: int) -> Answer:
        """A class or function of a namespace; a function of the global space where the namespace has none."""
        falls = space[:1] == "~"
        space = space.removeprefix("~")
        found, reads = self.defined(types, space, name)
        if not found and falls:
            found, more = self.defined(types, "", name)
            reads = merge(reads, more)
        if found:
            return tuple(symbol(sym) for sym in found[:1]), reads, 0
        return (("X", f"{space}\\{name}" if space and not falls else name),), reads, 0

    def defined(self, types: Types, space: str, name: str) -> Defined:
        """Definitions under a full name, the one that is loaded first."""
        key = (space, name)
        known = self._defined.get(key)
        if known is None:
            found, reads = self.named_in(types, space, name)
            if len(found) > 1:
                full = f"{space}\\{name}" if space else name
                ranks = [self._rank(types, full, sym.file.path) for sym in found]
                reads = (*reads, *(key for _, more in ranks for key in more))
                order = sorted(
                    range(len(found)),
                    key=lambda at: (-ranks[at][0], self.is_test(found[at].file.path), found[at].file.path),
                )
                found = [found[at] for at in order]
            known = self._defined[key] = (found, reads)
        return known

    # ── autoload ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _rank(self, types: Types, full: str, path: str) -> tuple[int, tuple[int, ...]]:
        """How long the prefix is under which a class is loaded from a path; 0 where it is not."""
        prefixes, reads = self._autoload(types, path.rpartition("/")[0])
        best = 0
        for kind, prefix, folder in prefixes:
            if full.startswith(prefix):
                rest = full if kind == "psr-0" else full[len(prefix) :]
                place = "/".join(part for part in (folder, rest.replace("\\", "/") + ".php") if part)
                best = max(best, len(prefix) + 1 if place == path else 0)
        return best, reads

    def _autoload(self, types: Types, folder: str) -> tuple[list[tuple[str, str, str]], tuple[int, ...]]:
        """(kind, prefix, folder) of the nearest ``composer.json`` above a folder."""
        known = self._prefixes.get(folder)
        if known is None:
            path = f"{folder}/composer.json" if folder else "composer.json"
            reads: tuple[int, ...] = (read_key(f"p:{path}"),)
            facts = types.view.facts(path) if types.view.has(path) else None
            if facts is not None:
                reads = (*reads, read_key(f"m:{path}:psr-4"), read_key(f"m:{path}:psr-0"))
                rows = [row for row in facts["imports"] if row[1] in ("psr-4", "psr-0")]
                places = [(row[1], row[2], "/".join(part for part in (folder, row[3]) if part)) for row in rows]
                known = places, reads
            elif folder:
                places, more = self._autoload(types, folder.rpartition("/")[0])
                known = places, (*reads, *more)
            else:
                known = [], reads
            self._prefixes[folder] = known
        return known

    # ── imports ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """The file an import leads to: that of a class or function, or the one under a path."""
        kind, sign, rest = name.partition(" ")
        if sign and kind == "const":
            return ("N", (rest, file)), NO_READS
        if "/" in name or name.endswith(_SCRIPTS):
            return self._required(types, file, name)
        space, _, last = (rest if sign else name).rpartition("\\")
        found, reads = self.defined(types, space, last)
        if found:
            return ("M", found[0].file), reads
        if sign:
            return ("N", (rest, file)), reads
        return ("X", name), reads

    def _required(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """The file under a path: from the folder of the file, else from the root."""
        reads: list[int] = []
        for folder in (file.path.rpartition("/")[0], ""):
            place = joined(folder, name) or ""
            if place:
                reads.append(read_key(f"p:{place}"))
                found = types.file(place) if types.view.has(place) else None
                if found is not None:
                    return ("M", found), tuple(reads)
            if name.startswith("."):
                break
        return ("X", name), tuple(reads)


def rules() -> dict[str, Any]:
    """The rules of PHP by language name."""
    return {"php": PhpRules()}
