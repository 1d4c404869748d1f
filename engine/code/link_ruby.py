"""Ruby's rules for the linker: constants by nesting, classes opened in several files, load paths. Called by ``link*.py``.

What may not come in: inference, edges. The interface is that of ``link_declared.py``. A class is everything that is opened under its
full path; one of its openings stands for it (the one where its path has it by the conventions of Zeitwerk, else the first), the others
come next in its line of ancestors. Methods of a class itself are kept under ``::name``, and those of a module that extends it are
looked at last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mog.engine.code.languages.ruby_macros import snake
from mog.engine.code.link_declared import MANY, DeclaredRules
from mog.engine.code.link_names import DEEP, EXTERNAL, NO_READS, UNKNOWN, Answer, Value, merge, symbol
from mog.engine.code.link_paths import joined
from mog.engine.code.link_ruby_builtins import CLASSES, CONSTANTS, EVERYWHERE, OWNED, WORDS
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

OPENINGS = 40

Whole = tuple[Sym, tuple[Sym, ...], tuple[int, ...]]


class RubyRules(DeclaredRules):
    """Names of Ruby. Keeps the classes it put together and the load paths of the repository."""

    family = "ruby"
    langs = frozenset(("ruby",))
    constructors = ("initialize",)
    invoke = "call"
    sealed = True
    mixes = True
    reopens = True
    owned = OWNED
    elsewhere = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self._wholes: dict[str, Whole | None] = {}
        self._libs: list[str] | None = None

    def sure(self, text: str) -> bool:
        """No: anything may answer to a name."""
        return False

    def is_builtin(self, name: str) -> bool:
        """Whether the core has a constant of that name."""
        return name.partition("::")[0].partition(".")[0] in CONSTANTS

    # ── constants ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def beside(self, types: Types, file: File, name: str, hops: int) -> Answer:
        """The nesting at the head of a constant's chain, or the script at that of a bare call."""
        if name[0] == "~" or name.startswith("::"):
            return (("P", ("ruby", f"{name}|{file.path}")),), NO_READS, 0
        return (), NO_READS, 0

    def inside(self, types: Types, space: str, name: str, hops: int) -> Answer:
        """A constant seen from its nesting, from the inside out, then through the ancestors; or a function of a script."""
        space, _, path = space.partition("|")
        if space[0] == "~":
            return self._function(types, path, name, EVERYWHERE if space == "~" else EVERYWHERE | CLASSES)
        nesting, _, prefix = space[2:].rpartition(":")
        base, nesting = nesting[:1] == "!", nesting.removeprefix("!")
        around = [one for one in nesting.split(">") if one]
        reads: tuple[int, ...] = (read_key(f"n:{name}"),)
        for outer in (*around, ""):
            whole = "/".join(part for part in (outer, prefix, name) if part)
            found = self.whole_of(types, whole)
            if found is not None:
                return (("C", found[0]),), merge(reads, found[2]), 0
        holders = ["/".join(part for part in (outer, prefix) if part) for outer in (*around, "")]
        for holder in holders if not base else ():
            values, more = self._held(types, holder, name) if holder else self._top(types, path, name)
            reads = merge(reads, more)
            if values:
                return values, reads, 0
        return (("X", f"{prefix}/{name}".replace("/", "::") if prefix else name),), reads, 0

    def _top(self, types: Types, path: str, name: str) -> tuple[tuple[Value, ...], tuple[int, ...]]:
        """A constant that the file itself sets outside of classes."""
        file = types.file(path)
        if file is None or name not in file.binds:
            return (), NO_READS
        return tuple(_bound(file, file.binds[name])), (file.name_key(name),)

    def _held(self, types: Types, holder: str, name: str) -> tuple[tuple[Value, ...], tuple[int, ...]]:
        """A constant of a class that holds a value, or one of its ancestors."""
        found = self.whole_of(types, holder)
        if found is None:
            return (), (read_key(f"n:{holder.rpartition('/')[2]}"),)
        line, _, reads, _ = types.mro(found[0], DEEP)
        for above in line[1:]:
            there = self.whole_of(types, f"{path_of(above)}/{name}")
            if there is not None:
                return (("C", there[0]),), merge(reads, there[2])
        owner, sym, text, _, more = types.find(found[0], f"::{name}")
        values = tuple(_bound(owner.file, text)) if owner is not None and sym is None else ()
        return values, merge(reads, merge(found[2], more))

    def _function(self, types: Types, path: str, name: str, core: frozenset[str]) -> Answer:
        """A method defined outside of classes: of the script itself, else the only one there is."""
        reads: tuple[int, ...] = (read_key(f"n:{name}"),)
        found = [sym for sym in self._named(types, name) if sym.parent is None and sym.kind == "function"]
        own = [sym for sym in found if sym.file.path == path]
        if not own and found:
            loaded, more = self._loaded(types, path)
            reads = merge(reads, more)
            own = [sym for sym in found if sym.file.path in loaded]
        if own:
            return (symbol(own[-1]),), reads, 0
        return ((EXTERNAL if name in core or name in WORDS else UNKNOWN),), reads, 0

    def _named(self, types: Types, name: str) -> Iterator[Sym]:
        """Definitions of a name in Ruby; none where they are too many to look at."""
        places = types.view.defs(name)
        for path, idx in places if len(places) <= MANY else ():
            file = types.file(path)
            if file is not None and file.lang in self.langs:
                yield file.sym(idx)

    def _loaded(self, types: Types, path: str) -> tuple[set[str], tuple[int, ...]]:
        """Files that a file requires, and those that these require."""
        found: set[str] = set()
        reads: tuple[int, ...] = NO_READS
        work = [path]
        for _ in range(2):
            level: list[str] = []
            for at in work:
                file = types.file(at)
                if file is None:
                    continue
                for entry in file.facts["imports"]:
                    value, more = types.module(file, entry[2])
                    reads = merge(reads, (*more, file.name_key(entry[1])))
                    if value[0] == "M":
                        level.append(value[1].path)
            found.update(level)
            work = level
        return found, reads

    # ── classes ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def whole(self, types: Types, cls: Sym) -> Whole:
        """A class put together: the opening that stands for it, the others, and the reads that took."""
        found = self.whole_of(types, path_of(cls)) if cls.kind == "class" else None
        return found if found is not None else (cls, (), NO_READS)

    def whole_of(self, types: Types, path: str) -> Whole | None:
        """The class of a full path (``A/B``), None when nobody opens it."""
        if path in self._wholes:
            return self._wholes[path]
        name, dotted = path.rpartition("/")[2], path.replace("/", ".")
        found = [sym for sym in self._named(types, name) if sym.kind == "class" and plain(sym.qual) == dotted]
        reads = (read_key(f"n:{name}"),)
        self._wholes[path] = whole = self._chosen(found, path, reads) if found else None
        return whole

    def _chosen(self, found: list[Sym], path: str, reads: tuple[int, ...]) -> Whole:
        """The opening where the class is loaded from; those of tests count only where it is one."""
        ending = f"/{snake(path)}.rb"

        def rank(sym: Sym) -> tuple[Any, ...]:
            return (
                not f"/{sym.file.path}".endswith(ending),
                self.is_test(sym.file.path),
                "b" not in sym.meta,
                sym.file.path,
                sym.idx,
            )

        found = sorted(found, key=rank)
        first = found[0]
        own = [sym for sym in found[1:] if self.is_test(first.file.path) or not self.is_test(sym.file.path)]
        others = tuple(sym for sym in own if says_something(sym))[:OPENINGS]
        return first, others, reads

    def extensions(self, types: Types, cls: Sym) -> tuple[list[Sym], tuple[int, ...]]:
        """Modules whose methods a class itself has: those it is extended with, and ``ClassMethods`` of what it includes."""
        line, _, reads, _ = types.mro(cls)
        found: list[Sym] = []
        for owner in line:
            for chain in (owner.meta.get("m") or "").split():
                values, more, _ = types.static(owner, chain, DEEP)
                reads = merge(reads, more)
                found += [value[1] for value in values if value[0] == "C"]
            if owner is not cls and (held := owner.member("ClassMethods")):
                found.append(owner.file.sym(held[-1]))
        return found, reads

    # ── requires ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """The file a feature is: from the file's own folder, else below the load paths, the nearest first."""
        reads: list[int] = []
        folder = file.path.rpartition("/")[0]
        if name.startswith("."):
            places = [joined(folder, name) or ""]
        else:
            libs = sorted(self._load_paths(types), key=lambda lib: (-_shared(lib, folder), lib))
            places = [f"{lib}/{name}" if lib else name for lib in libs]
            reads.append(read_key(f"t:{name.rpartition('/')[2].removesuffix('.rb')}"))
        for place in places:
            path = place if place.endswith(".rb") else f"{place}.rb"
            if place and types.view.has(path) and (found := types.file(path)) is not None:
                return ("M", found), (*reads, read_key(f"p:{path}"))
        reads += [read_key(f"p:{place if place.endswith('.rb') else f'{place}.rb'}") for place in places[:1] if place]
        return ("X", name), tuple(reads)

    def _load_paths(self, types: Types) -> list[str]:
        """Folders that features count from: every ``lib``, ``app/*``, ``test`` and ``spec``, and the root."""
        if self._libs is None:
            found: set[str] = {""}
            seen: set[str] = set()
            for path in types.view.paths():
                folder = path.rpartition("/")[0]
                if not path.endswith(".rb") or folder in seen:
                    continue
                seen.add(folder)
                parts = folder.split("/")
                for at, part in enumerate(parts):
                    if part in ("lib", "test", "spec"):
                        found.add("/".join(parts[: at + 1]))
                    elif part == "app" and at + 1 < len(parts):
                        found.add("/".join(parts[: at + 2]))
            self._libs = sorted(found)
        return self._libs


def _bound(file: File, text: str) -> list[Value]:
    """What a constant is set to, evaluated by who asks."""
    return [(">", (file, chain)) if chain not in ("?", "#None") else UNKNOWN for chain in text.split(" ")]


def plain(qual: str) -> str:
    """A qualified name without the numbers that tell several openings of one file apart."""
    return ".".join(part.partition("#")[0] for part in qual.split(".")) if "#" in qual else qual


def path_of(cls: Sym) -> str:
    """The full path of a class, ``A/B``."""
    return plain(cls.qual).replace(".", "/")


def says_something(sym: Sym) -> bool:
    """Whether an opening gives its class anything but classes of its own."""
    if sym.meta.keys() & {"a", "b", "m"}:
        return True
    inside = sym.file.members.get(sym.idx) or {}
    return any(sym.file.facts["syms"][idx][2] != "class" for held in inside.values() for idx in held)


def _shared(lib: str, folder: str) -> int:
    """How many folders two paths have in common at their beginning."""
    count = 0
    for one, other in zip(lib.split("/"), folder.split("/"), strict=False):
        if one != other:
            break
        count += 1
    return count


def rules() -> dict[str, Any]:
    """The rules of Ruby by language name."""
    return {"ruby": RubyRules()}
