"""C#'s rules for the linker: namespaces, usings, partial types, extension methods, what the library's collections hand out. Called by
``link*.py``.

What may not come in: inference, edges. The interface is that of ``link_declared.py``. A namespace that is named within another may be
any of several, so the value of one is ``("P", (language, names))`` with the possible names in order, ``|`` between them (C# 7.8).
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.facts import META, PARENT, chains
from mog.engine.code.link_csharp_names import OWNED, SYSTEM
from mog.engine.code.link_declared import FILES, MANY, DeclaredRules
from mog.engine.code.link_names import EXTERNAL, HOPS, NO_READS, Answer, Value, merge, symbol
from mog.engine.code.link_nearest import head_of, nearest
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

GLOBAL = "-"
_ITEM = frozenset(
    "First FirstOrDefault Last LastOrDefault Single SingleOrDefault ElementAt ElementAtOrDefault Find FindLast Peek Pop Dequeue"
    " GetValueOrDefault GetResult GetOrAdd AddOrUpdate Min Max MinBy MaxBy Aggregate Get".split()
)
_SAME = frozenset(
    "Where OrderBy OrderByDescending ThenBy ThenByDescending Skip Take SkipWhile TakeWhile Distinct DistinctBy Reverse Concat Union"
    " Except Intersect ToList ToArray ToHashSet AsEnumerable AsQueryable AsReadOnly GetEnumerator ConfigureAwait GetAwaiter AsTask"
    " FindAll GetRange DefaultIfEmpty Append Prepend AsSpan ToImmutableArray ToImmutableList Slice AsParallel Chunk".split()
)
_HELD = frozenset("Result Value Current Target".split())
_SAME_HELD = frozenset("Values Task Span Memory".split())
_OBJECT = frozenset("ToString Equals GetHashCode GetType MemberwiseClone Finalize ReferenceEquals".split())
_ENUM = frozenset("HasFlag CompareTo".split())
_FRAMEWORK = frozenset("System Microsoft Windows Xunit NUnit Moq Mono".split())
_GLOBALS = ("usings.cs", "globalusing.cs", "imports.cs", "global.cs")


class CSharpRules(DeclaredRules):
    """Namespaces are what files declare, wherever they stand."""

    family = "csharp"
    langs = frozenset(("csharp",))
    constructors = ("",)
    collection = "G"
    implicit = overloads = extended = True
    mixed = False
    iterates, subscripted = "GetEnumerator^0", "this"
    owned = OWNED

    def __init__(self) -> None:
        self._named: dict[str, frozenset[str]] = {}
        self._global: list[str] | None = None
        self._opened: dict[str, tuple[list[tuple[str, str]], tuple[int, ...]]] = {}

    def space_of(self, file: File, idx: int) -> str:
        space = super().space_of(file, idx)
        return "" if space == GLOBAL else space

    def visible(self, file: File, idx: int, asking: File) -> bool:
        return not self.is_test(file.path) or self.is_test(asking.path)

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def places(self, types: Types, name: str, asking: File | None) -> tuple[dict[str, list[Sym]], tuple[int, ...]]:
        """Namespace → types of a name in it; behind the name may stand a number of type parameters."""
        plain, _, arity = name.partition("`")
        found: dict[str, list[Sym]] = {}
        held = types.view.defs(plain)
        for path, idx in held if len(held) <= MANY else ():
            file = types.file(path)
            if file is None or file.lang not in self.langs or file.facts["syms"][idx][PARENT] >= 0:
                continue
            sym = file.sym(idx)
            if sym.kind != "class" or (int(arity) if arity else 0) != sym.meta.get("n", (0,))[0]:
                continue
            if asking is None or self.visible(file, idx, asking):
                parts = found.setdefault(self.space_of(file, idx), [])
                parts.insert(0 if stem(path) == plain else len(parts), sym)
        return found, (read_key(f"n:{plain}"),)

    def beside(self, types: Types, file: File, name: str, hops: int) -> Answer:
        found, reads = self.places(types, name, file)
        own = str(file.facts.get("space") or "")
        for space in around(own) if found else ():
            if space in found:
                return (symbol(self.one(found[space], file)),), reads, 0
        opened, more = self.opened(types, file)
        reads = merge(reads, more)
        for module, flags in opened:
            if "s" in flags:
                values, more = self._static_member(types, module, name)
                reads = merge(reads, more)
                if values:
                    return values, reads, 0
                continue
            for space in (module, f"{own}.{module}") if found else ():
                if space in found:
                    return (symbol(self.one(found[space], file)),), reads, 0
        if not name[:1].isupper():
            return (), reads, 0
        plain = name.partition("`")[0]
        if plain in SYSTEM:
            return (("X", f"System.{plain}"),), reads, 0
        return (("P", ("csharp", "|".join(f"{space}.{plain}" if space else plain for space in around(own)))),), reads, 0

    def one(self, found: list[Sym], file: File) -> Sym:
        """Of several definitions of a full name the nearest; of the parts of a partial type the first (its own file's)."""
        return found[0] if "partial" in found[0].flags else nearest(found, file)

    def opened(self, types: Types, file: File) -> tuple[list[tuple[str, str]], tuple[int, ...]]:
        """Namespaces and types (flag ``s``) whose names a file may use: by its own usings and the project's global ones."""
        known = self._opened.get(file.path)
        if known is None:
            stars = [(entry[2], entry[4]) for entry in file.facts["imports"] if entry[1] == "*"]
            reads: tuple[int, ...] = (file.name_key("*"),)
            for path in self.globals(types):
                folder = path.rpartition("/")[0]
                home = folder.removesuffix("Properties").rstrip("/")
                other = types.file(path) if file.path.startswith(f"{home}/" if home else "") else None
                if other is not None and other is not file:
                    stars += [
                        (entry[2], entry[4]) for entry in other.facts["imports"] if entry[1] == "*" and "g" in entry[4]
                    ]
                    reads = merge(reads, (other.name_key("*"),))
            known = self._opened[file.path] = (
                list(dict.fromkeys(stars)),
                (*reads, read_key("t:GlobalUsings"), read_key("t:Usings")),
            )
        return known

    def globals(self, types: Types) -> list[str]:
        """Files that are named like those that hold a project's global usings."""
        if self._global is None:
            self._global = sorted(path for path in types.view.paths() if path.lower().endswith(_GLOBALS))
        return self._global

    def _static_member(self, types: Types, module: str, name: str) -> tuple[tuple[Value, ...], tuple[int, ...]]:
        """A member of a type whose static members are opened."""
        values, reads = self._path(types, module)
        for tag, cls in values[:1]:
            if tag == "C":
                owner, _, _, _, more = types.find(cls, name)
                reads = merge(reads, more)
                if owner is not None:
                    found, more, _ = types.owned(cls, name, None, True, 1)
                    return found, merge(reads, more)
        return (), reads

    def _path(self, types: Types, name: str) -> tuple[tuple[Value, ...], tuple[int, ...]]:
        space, _, last = name.rpartition(".")
        values, reads, _ = self.inside(types, space, last, HOPS)
        return (values if values[0][0] == "C" else ()), reads

    def inside(self, types: Types, space: str, name: str, hops: int) -> Answer:
        found, reads = self.places(types, name, None)
        several = space.split("|")
        for one in several if found else ():
            if one in found:
                return (symbol(min(found[one], key=lambda sym: self.is_test(sym.file.path))),), reads, 0
        for one in several:  # a type in a type, which is named like a namespace
            above, _, last = one.rpartition(".")
            outer, more = self.places(types, last, None)
            reads = merge(reads, more)
            for cls in outer.get(above, ()):
                owner, _, _, _, more = types.find(cls, name)
                reads = merge(reads, more)
                if owner is not None:
                    values, more, _ = types.owned(cls, name, None, True, 1)
                    return values, merge(reads, more), 0
        plain = name.partition("`")[0]
        return (("P", ("csharp", "|".join(f"{one}.{plain}" if one else plain for one in several))),), reads, 0

    def outside(self, space: str) -> str:
        """The full name of what no file declares: as it was written."""
        return space.rpartition("|")[2]

    # ── imports ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def imported_files(self, types: Types, file: File, at: int) -> tuple[list[File], tuple[int, ...]]:
        """Of a namespace the files with types that the file names; of a type or an alias its file."""
        _, local, module, attr, flags = file.facts["imports"][at]
        if local == "*" and "s" not in flags:
            return self._used(types, file, module)
        whole = module if local == "*" else f"{module}.{attr}" if module else attr
        values, reads = self._path(types, whole)
        files = [value[1].file for value in values]
        if not files and local != "*":
            found, more = self._used(types, file, whole)
            return found, merge(reads, more)
        return files, reads

    def _used(self, types: Types, file: File, space: str) -> tuple[list[File], tuple[int, ...]]:
        found: dict[str, File] = {}
        reads: tuple[int, ...] = NO_READS
        for name in sorted(self.names_of(file)) if space.partition(".")[0] not in _FRAMEWORK else ():
            held, more = self.places(types, name, file)
            reads = merge(reads, more)
            if space in held and len(found) < 8 * FILES:
                one = self.one(held[space], file).file
                found[one.path] = one
        if not found and space.partition(".")[0] == str(file.facts.get("space") or "").partition(".")[0]:
            found[file.path] = file  # a namespace of the project that nothing is named of
        return list(found.values()), reads

    def names_of(self, file: File) -> frozenset[str]:
        """Names that may be those of types, without what stands behind them."""
        known = self._named.get(file.path)
        if known is None:
            heads: set[str] = set()
            facts = file.facts
            for _, held in (*facts["calls"], *facts["refs"]):
                heads.update(
                    part
                    for chain in chains(held)
                    for part in (head_of(chain), *chain.partition("^")[0].split(".")[1:2])
                )
            for row in facts["syms"]:
                for key in ("b", "r"):
                    heads.update(head_of(chain) for chain in chains(row[META].get(key)))
                for held in row[META].get("a", {}).values():
                    heads.update(head_of(chain) for chain in chains(held))
            known = self._named[file.path] = frozenset(name for name in heads if name[:1].isupper())
        return known

    # ── types in several files, methods from outside ──────────────────────────────────────────────────────────────────

    def parts(self, types: Types, cls: Sym) -> tuple[tuple[Sym, ...], tuple[int, ...]]:
        """The other parts of a partial type."""
        if "partial" not in cls.flags:
            return (), NO_READS
        found: list[Sym] = []
        own, qual = self.space_of(cls.file, top_of(cls)), cls.qual
        places = types.view.defs(cls.name)
        for path, idx in places if len(places) <= MANY else ():
            file = types.file(path)
            if file is None or file.lang not in self.langs:
                continue
            sym = file.sym(idx)
            if sym is cls or "partial" not in sym.flags or sym.meta.get("n") != cls.meta.get("n"):
                continue
            if plain_qual(sym.qual) == plain_qual(qual) and self.space_of(file, top_of(sym)) == own:
                found.append(sym)
        return tuple(found), (read_key(f"n:{cls.name}"),)

    def elsewhere(self, types: Types, cls: Sym, name: str) -> tuple[Sym | None, tuple[int, ...]]:
        return None, NO_READS

    def extensions(
        self, types: Types, file: File, value: Value, name: str, count: int
    ) -> tuple[list[Sym], tuple[int, ...]]:
        """Extension methods of a name that a value can be called with: those of namespaces that the file may use, whose first
        parameter is of the value's type or one it inherits from."""
        places = types.view.defs(name)
        reads: tuple[int, ...] = (read_key(f"n:{name}"),)
        found = []
        for path, idx in places if len(places) <= MANY else ():
            other = types.file(path)
            if other is None or other.lang not in self.langs or (self.is_test(path) and not self.is_test(file.path)):
                continue
            sym = other.sym(idx)
            least, most = sym.meta.get("n", (0, -1))
            if "extension" not in sym.flags or not (least <= count + 1 and (most < 0 or count < most)):
                continue
            opened, more = self.opened(types, file)
            reads = merge(reads, more)
            space = self.space_of(other, top_of(sym))
            if space not in around(str(file.facts.get("space") or "")) and all(module != space for module, _ in opened):
                continue
            kinds, more = kinds_of(types, value)
            reads = merge(reads, more)
            wanted = sym.meta.get("t", "").partition(",")[0]
            if kinds is None or not wanted or wanted in kinds:
                found.append(sym)
        return found, reads

    # ── what everything has ───────────────────────────────────────────────────────────────────────────────────────────

    def universal(self, cls: Sym, name: str) -> Value | None:
        name = name.partition("^")[0]
        return EXTERNAL if name in _OBJECT or ("enum" in cls.flags and name in _ENUM) else None

    def of_collection(self, value: Value, name: str) -> tuple[Value, ...]:
        name, called, _ = name.partition("^")
        held = value[1][1]
        if not called:
            return held if name in _HELD else (value,) if name in _SAME_HELD else (EXTERNAL,)
        return (("V", held),) if name in _ITEM else (("V", (value,)),) if name in _SAME else (EXTERNAL,)


def stem(path: str) -> str:
    """The name of a file without its ending."""
    return path.rpartition("/")[2].removesuffix(".cs")


def around(space: str) -> list[str]:
    """A namespace and those around it, from the inside out."""
    found = [space]
    while space:
        space = space.rpartition(".")[0]
        found.append(space)
    return found


def top_of(sym: Sym) -> int:
    """The module-level symbol that a symbol stands in."""
    rows, idx = sym.file.facts["syms"], sym.idx
    while rows[idx][PARENT] >= 0:
        idx = rows[idx][PARENT]
    return idx


def plain_qual(qual: str) -> str:
    """A qualified name without the numbers that tell namesakes apart."""
    return ".".join(part.partition("#")[0] for part in qual.split("."))


def kinds_of(types: Types, value: Value) -> tuple[set[str] | None, tuple[int, ...]]:
    """Names of the types a value has, as parameters spell them; None where nothing is known."""
    tag, what = value
    if tag == "K":
        return {f"#{what}", "#object"}, NO_READS
    if tag == "I":
        line, _, reads, _ = types.mro(what)
        names = {sym.name for sym in line} | {"#object"}
        for sym in line:
            names.update(chain.rpartition(".")[2].partition("`")[0] for chain in chains(sym.meta.get("b")))
        return names, reads
    return None, NO_READS


def rules() -> dict[str, Any]:
    """The rules of C# by language name."""
    return {"csharp": CSharpRules()}
