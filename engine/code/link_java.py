"""Java's rules for the linker: packages by declaration, the order of imports, what the platform's collections hand out. Called by
``link*.py``.

What may not come in: inference, edges. The interface is that of ``link_declared.py``; the order in which a simple type name is looked
for is that of JLS 6.4.1: member classes, single imports, the same package, imports on demand, ``java.lang``.
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.facts import META, chains
from mog.engine.code.link_declared import FILES, DeclaredRules
from mog.engine.code.link_java_names import LANG, OWNED
from mog.engine.code.link_names import EXTERNAL, HOPS, NO_READS, Answer, Value, merge, symbol
from mog.engine.code.link_nearest import head_of, nearest
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym

# methods of a platform type that holds things (tag G): what hands out one of them, what a holder of the same
_ITEM = frozenset(
    "get getFirst getLast getValue getOrDefault orElse orElseGet orElseThrow next previous nextElement poll pop element first last"
    " pollFirst pollLast peekFirst peekLast removeFirst removeLast take join resultNow call firstElement lastElement elementAt"
    " set put putIfAbsent computeIfAbsent compute computeIfPresent getAndSet getPlain getAcquire higher lower ceiling floor apply"
    " getNow".split()
)
_SAME = frozenset(
    "iterator listIterator spliterator stream parallelStream parallel sequential filter sorted distinct limit skip subList values"
    " elements descendingIterator descendingSet reversed headSet tailSet subSet headMap tailMap subMap descendingMap findFirst findAny"
    " min max takeWhile dropWhile toList toArray unmodifiableList or onClose unordered clone".split()
)
_ENTRIES = frozenset(
    "entrySet firstEntry lastEntry floorEntry ceilingEntry lowerEntry higherEntry pollFirstEntry".split()
)
_OBJECT = frozenset("equals hashCode toString getClass notify notifyAll wait clone finalize".split())
_ENUM = frozenset("name ordinal compareTo getDeclaringClass describeConstable".split())


class JavaRules(DeclaredRules):
    """A package is what files declare, wherever they stand."""

    family = "java"
    langs = frozenset(("java",))
    constructors = ("",)
    collection = "G"
    implicit = overloads = apart = True
    mixed = False
    iterates, subscripted = "iterator^0", "get^1"
    owned = OWNED

    def __init__(self) -> None:
        self._named: dict[str, frozenset[str]] = {}

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def visible(self, file: File, idx: int, asking: File) -> bool:
        return not self.is_test(file.path) or self.is_test(asking.path)

    def beside(self, types: Types, file: File, name: str, hops: int) -> Answer:
        space = str(file.facts.get("space") or "")
        found, reads = self.named_in(types, space, name, file)
        if found:
            return (symbol(nearest(found, file)),), reads, 0
        values, more = self._on_demand(types, file, name)
        reads = merge(reads, more)
        if values:
            return values, reads, 0
        if name in LANG:
            return (("X", f"java.lang.{name}"),), reads, 0
        if name[:1].isupper():
            outside = {file.facts["imports"][at][2] for at in file.stars if "s" not in file.facts["imports"][at][4]}
            whole = (
                f"{outside.pop()}.{name}" if len(outside) == 1 else name if outside or not space else f"{space}.{name}"
            )
            return (("X", whole),), reads, 0
        return (("P", ("java", name)),), reads, 0

    def _on_demand(self, types: Types, file: File, name: str) -> tuple[tuple[Value, ...], tuple[int, ...]]:
        """A name that an import with a star brings: a type of a package or of a class, or a static member."""
        reads: tuple[int, ...] = (file.name_key("*"),)
        for at in file.stars:
            _, _, module, _, flags = file.facts["imports"][at]
            if module.startswith("java."):
                continue
            if "s" in flags or module.rpartition(".")[2][:1].isupper():
                values, more = self._path(types, module)
                reads = merge(reads, more)
                for tag, what in values[:1]:
                    found, more = self._of_class(types, what, name) if tag == "C" else ((), NO_READS)
                    reads = merge(reads, more)
                    if found:
                        return found, reads
                continue
            syms, more = self.named_in(types, module, name, file)
            reads = merge(reads, more)
            if syms:
                return (symbol(nearest(syms, file)),), reads
        return (), reads

    def _of_class(self, types: Types, cls: Sym, name: str) -> tuple[tuple[Value, ...], tuple[int, ...]]:
        """A member of a class that is named through it: a class, a method, or what a field holds."""
        owner, _, _, _, reads = types.find(cls, name)
        if owner is None:
            return (), reads
        values, more, _ = types.owned(cls, name, None, True, 1)
        return tuple(value for value in values if value[0] != "?"), merge(reads, more)

    def _path(self, types: Types, name: str) -> tuple[tuple[Value, ...], tuple[int, ...]]:
        """The class of a full name: a package, then classes in each other."""
        space, _, last = name.rpartition(".")
        reads: tuple[int, ...] = NO_READS
        rest: list[str] = []
        while last:
            found, more = self.named_in(types, space, last)
            reads = merge(reads, more)
            if found:
                value: Value = symbol(found[0])
                for part in reversed(rest):
                    inner, more = self._of_class(types, value[1], part) if value[0] == "C" else ((), NO_READS)
                    reads = merge(reads, more)
                    if not inner:
                        return (), reads
                    value = inner[0]
                return (value,), reads
            rest.append(last)
            space, _, last = space.rpartition(".")
            if not last[:1].isupper():
                break
        return (), reads

    def inside(self, types: Types, space: str, name: str, hops: int) -> Answer:
        found, reads = self.named_in(types, space, name)
        if found:
            return (symbol(min(found, key=lambda sym: self.is_test(sym.file.path))),), reads, 0
        whole = f"{space}.{name}"
        if space.rpartition(".")[2][:1].isupper():
            values, more = self._path(types, whole)
            return values or (("X", whole),), merge(reads, more), 0
        if name[:1].isupper():
            return (("X", whole),), reads, 0
        return (("P", ("java", whole)),), reads, 0

    # ── imports ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def imported_files(self, types: Types, file: File, at: int) -> tuple[list[File], tuple[int, ...]]:
        """The file of what an import names; of one with a star, files of the types that the file names."""
        _, local, module, _, flags = file.facts["imports"][at]
        if local != "*":
            values, reads, _ = types.imported(file, at, HOPS)
        elif "s" in flags or module.rpartition(".")[2][:1].isupper():
            values, reads = self._path(types, module)
        else:
            return self._used(types, file, module)
        files = [found for value in values if (found := file_of(value)) is not None]
        if not files and "s" in flags and local != "*":
            values, more = self._path(types, module)
            files, reads = [found for value in values if (found := file_of(value)) is not None], merge(reads, more)
        return files, reads

    def _used(self, types: Types, file: File, space: str) -> tuple[list[File], tuple[int, ...]]:
        found: dict[str, File] = {}
        reads: tuple[int, ...] = NO_READS
        for name in sorted(self.names_of(file)) if not space.startswith("java.") else ():
            syms, more = self.named_in(types, space, name, file)
            reads = merge(reads, more)
            if syms and len(found) < 8 * FILES:
                one = nearest(syms, file).file
                found[one.path] = one
        return list(found.values()), reads

    def names_of(self, file: File) -> frozenset[str]:
        """Types that a file names without saying where they are."""
        known = self._named.get(file.path)
        if known is None:
            heads: set[str] = set()
            facts = file.facts
            for _, held in (*facts["calls"], *facts["refs"]):
                heads.update(head_of(chain) for chain in chains(held))
            for row in facts["syms"]:
                for key in ("b", "r"):
                    heads.update(head_of(chain) for chain in chains(row[META].get(key)))
                for held in row[META].get("a", {}).values():
                    heads.update(head_of(chain) for chain in chains(held))
            known = self._named[file.path] = frozenset(
                name for name in heads if name[:1].isupper() and name not in file.imports
            )
        return known

    # ── what everything has ───────────────────────────────────────────────────────────────────────────────────────────

    def universal(self, cls: Sym, name: str) -> Value | None:
        name = name.partition("^")[0]
        if name in _OBJECT:
            return EXTERNAL
        if "enum" in cls.flags:
            one: Value = ("I", cls)
            if name == "values":
                return "V", (("G", ("java", (one,))),)
            return ("V", (one,)) if name == "valueOf" else EXTERNAL if name in _ENUM else None
        return None

    def of_collection(self, value: Value, name: str) -> tuple[Value, ...]:
        name, _, count = name.partition("^")
        lang, held = value[1]
        if name in _ITEM or (name in ("peek", "remove") and count == ("0" if name == "peek" else count)):
            return (("V", held),)
        if name in _ENTRIES:
            return (("V", (("G", (lang, (value,))),) if name == "entrySet" else (value,)),)
        return (("V", (value,)),) if name in _SAME or name == "peek" else (EXTERNAL,)


def file_of(value: Value) -> File | None:
    """The file of what a value stands for."""
    tag, what = value
    if tag in "CF":
        return what.file  # type: ignore[no-any-return]
    return what[0].file if tag == "B" else None


def rules() -> dict[str, Any]:
    """The rules of Java by language name."""
    return {"java": JavaRules()}
