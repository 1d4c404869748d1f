"""What the linker sees of a project: files with their symbols, and four lookups by name. Called by ``link*.py`` and indexer.

What may not come in: inference, SQL, the disk. A full index uses :class:`MemoryView`; a cold process that relinks one file
gives the linker a view of its own that answers the same questions from the database.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Protocol

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts, chains, digest, portable
from mog.engine.code.languages.javascript_config import is_config

CONSTANTS = ("const", "field")
_READ = frozenset(("object", "accessor"))  # flags of constants and fields that are looked up like members
_PLACED = frozenset(("ns", "of", "n", "t"))  # of a symbol: where it belongs and what it takes, in declared languages
MANIFESTS = frozenset(("go.mod", "composer.json", "Cargo.toml"))
#: What a file with mounts (see ``contracts/collect.py``) is found by among the heirs; no class can be called this.
MOUNTS = "\0mounts"


def is_named(kind: str, path: str) -> bool:
    """Whether a symbol of this kind in this file is among the definitions of its name: constants are not, and of keys in settings
    only the names of packages are (thousands of files have a key called ``name``).
    """
    if kind == "config_key":
        return is_config(path) or path.rpartition("/")[2] in MANIFESTS
    return kind not in CONSTANTS


def is_plain(row: list[Any]) -> bool:
    """Whether a symbol is a constant or field without members of its own (object literals of scripts have them)."""
    return row[schema.KIND] in CONSTANTS and not _READ.intersection(row[schema.META].get("x", ()))


def member_names(row: list[Any]) -> tuple[str, ...]:
    """The names under which a class has a member: ``::name`` where the class itself has it, both where its instances do too."""
    flags = row[schema.META].get("x")
    if flags and "singleton" in flags:
        return (f"::{row[schema.NAME]}",)
    return (row[schema.NAME], f"::{row[schema.NAME]}") if flags and "both" in flags else (row[schema.NAME],)


class Sym:
    """One symbol of a file, made when it is first asked for."""

    __slots__ = ("file", "idx", "name", "qual", "kind", "meta", "flags", "mro", "memo", "_attr_key")

    def __init__(self, file: File, idx: int) -> None:
        row = file.facts["syms"][idx]
        self.file = file
        self.idx = idx
        self.name: str = row[schema.NAME]
        self.qual: str = row[schema.QUAL]
        self.kind: str = row[schema.KIND]
        self.meta: dict[str, Any] = row[schema.META]
        self.flags: tuple[str, ...] = tuple(self.meta["x"]) if "x" in self.meta else ()
        self.mro: Any = None
        self.memo: dict[Any, Any] = {}
        self._attr_key = -1

    @property
    def parent(self) -> Sym | None:
        """The symbol this one is defined in."""
        above = self.file.facts["syms"][self.idx][schema.PARENT]
        return self.file.sym(above) if above >= 0 else None

    def member(self, name: str) -> list[int] | None:
        """Indices of the functions and classes called ``name`` directly inside, in order."""
        inside = self.file.members.get(self.idx)
        return inside.get(name) if inside is not None else None

    def attr_key(self, name: str) -> int:
        """Read key of one attribute of this class: ``read_key("a:path:qual:name")``, from a prefix computed once."""
        if self._attr_key < 0:
            self._attr_key = read_key(f"a:{self.file.path}:{self.qual}:")
        return zlib.crc32(name.encode("utf-8", "surrogatepass"), self._attr_key)


class File:
    """One file's facts with module-level tables, and the caches of the one linker that built it."""

    __slots__ = ("path", "lang", "facts", "_syms", "top", "_members", "imports", "stars", "binds", "memo", "modules",
                 "ctxs", "_name_key")  # fmt: skip

    def __init__(self, path: str, facts: Facts) -> None:
        self.path = path
        self.facts = facts
        self.lang: str = facts["lang"]
        self._syms: dict[int, Sym] = {}
        self._members: dict[int, dict[str, list[int]]] | None = None
        self.top: dict[str, list[int]] = {}
        for idx, row in enumerate(facts["syms"]):
            if row[schema.PARENT] < 0 and not is_plain(row):
                self.top.setdefault(row[schema.NAME], []).append(idx)
        self.imports: dict[str, list[int]] = {}
        self.stars: list[int] = []
        for at, entry in enumerate(facts["imports"]):
            if entry[0] < 0:
                if entry[1] == "*":
                    self.stars.append(at)
                else:
                    self.imports.setdefault(entry[1], []).append(at)
        self.binds: Mapping[str, str] = facts["binds"]
        self.memo: dict[Any, Any] = {}
        self.modules: dict[str, Any] = {}
        self.ctxs: dict[int, Any] = {}
        self._name_key = read_key(f"m:{path}:")

    def sym(self, idx: int) -> Sym:
        """Symbol number ``idx``; always the same object for the same number."""
        found = self._syms.get(idx)
        if found is None:
            found = self._syms[idx] = Sym(self, idx)
        return found

    def close(self) -> None:
        """Let go of symbols and everything worked out about them."""
        for sym in self._syms.values():
            sym.memo.clear()
            sym.mro = None
        for held in (self._syms, self.memo, self.modules, self.ctxs):
            held.clear()

    def made(self) -> Iterable[Sym]:
        """The symbols that were asked for so far."""
        return self._syms.values()

    @property
    def members(self) -> dict[int, dict[str, list[int]]]:
        """Symbol index → name → indices of what is defined directly inside it (constants and fields left out)."""
        if self._members is None:
            self._members = {}
            for idx, row in enumerate(self.facts["syms"]):
                if row[schema.PARENT] >= 0 and not is_plain(row):
                    held = self._members.setdefault(row[schema.PARENT], {})
                    for name in member_names(row):
                        held.setdefault(name, []).append(idx)
        return self._members

    def name_key(self, name: str) -> int:
        """Read key of a module-level name: ``read_key("m:path:name")``."""
        return zlib.crc32(name.encode("utf-8", "surrogatepass"), self._name_key)


class FactsView(Protocol):
    """The questions a linker asks. Each must be answerable for one file in a cold process without reading all facts."""

    def facts(self, path: str) -> Facts | None:
        """The file's facts, decoded, or None when it is not indexed or has none."""
        ...

    def has(self, path: str) -> bool:
        """Whether an indexed source file has this path."""
        ...

    def paths(self) -> Iterable[str]:
        """All paths of indexed files; asked at most once, and only when an import is not found near the importer."""
        ...

    def defs(self, name: str) -> list[tuple[str, int]]:
        """(path, symbol index) of every class, function, method or test called ``name``, sorted."""
        ...

    def heirs(self, name: str) -> list[tuple[str, int]]:
        """(path, symbol index) of every class that names ``name`` among its bases (see :func:`base_names`), sorted."""
        ...


class MemoryView:
    """A view over facts held in memory. ``put`` and ``drop`` keep it current; not thread-safe."""

    def __init__(self, facts: Mapping[str, Facts] | None = None) -> None:
        self._files: dict[str, Facts] = {}
        self._defs: dict[str, set[tuple[str, int]]] = {}
        self._heirs: dict[str, set[tuple[str, int]]] = {}
        self._sorted: dict[str, list[tuple[str, int]]] = {}
        for path, found in (facts or {}).items():
            self.put(path, found)

    def put(self, path: str, facts: Facts) -> None:
        """Add a file, or replace what was known of it."""
        self.drop(path)
        self._files[path] = facts
        for idx, row in enumerate(facts["syms"]):
            if is_named(row[schema.KIND], path):
                self._defs.setdefault(row[schema.NAME], set()).add((path, idx))
        for name, idx in base_names(facts):
            self._heirs.setdefault(name, set()).add((path, idx))
            self._sorted.pop(name, None)

    def drop(self, path: str) -> None:
        """Forget a file; unknown paths are ignored."""
        old = self._files.pop(path, None)
        if old is None:
            return
        for row_index, row in enumerate(old["syms"]):
            if is_named(row[schema.KIND], path):
                self._defs[row[schema.NAME]].discard((path, row_index))
        for name, idx in base_names(old):
            self._heirs[name].discard((path, idx))
            self._sorted.pop(name, None)

    def facts(self, path: str) -> Facts | None:
        return self._files.get(path)

    def has(self, path: str) -> bool:
        return path in self._files

    def paths(self) -> Iterable[str]:
        return self._files

    def defs(self, name: str) -> list[tuple[str, int]]:
        return sorted(self._defs.get(name, ()))

    def heirs(self, name: str) -> list[tuple[str, int]]:
        found = self._sorted.get(name)
        if found is None:
            found = self._sorted[name] = sorted(self._heirs.get(name, ()))
        return found


def base_names(facts: Facts) -> list[tuple[str, int]]:
    """(name, symbol index) for every base a class of this file names: the last name of the chain, and where that is an
    import under another name, the original one."""
    renamed: dict[str, set[str]] = {}
    for entry in facts["imports"]:
        if entry[3] and entry[3] != entry[1]:
            renamed.setdefault(entry[1], set()).add(entry[3])
    found = []
    for idx, row in enumerate(facts["syms"]):
        for chain in chains(row[schema.META].get("b")):
            last = portable(facts, chain).rpartition("\x1f")[2].rpartition(".")[2].lstrip("@%")
            names = {last} | renamed.get(last, set())
            found += [(name, idx) for name in sorted(names)]
    if facts.get("mounts"):
        found.append((MOUNTS, 0))
    return found


@lru_cache(maxsize=1 << 18)
def read_key(text: str) -> int:
    """A read key as the 32-bit number that is stored; a collision costs one needless relink, never a missed one."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def surface(facts: Facts, path: str) -> dict[int, str]:
    """What other files can read of this one: {read key: digest}.

    Keys: p: path exists, t: a folder or stem of that name exists, i: packages changed, m: module-level name, c: bases and
    kind of a class, a: one attribute of a class, f: what a function gives back, n: definitions of a name, s: classes naming
    a base, v: variables of a name in packages of several files, k: what the packs say of the file. A key that appears, changes or
    disappears between two versions of a file is dirty. (z: what a SCIP index says of a file; ``publish`` finds those.)
    """
    found: dict[str, list[Any]] = {}

    def say(key: str, *value: Any) -> None:
        found.setdefault(key, []).append(value)

    _say_path(path, say)
    _say_module(facts, path, say)
    _say_symbols(facts, path, say)
    merged: dict[int, list[Any]] = {}
    for key, values in sorted(found.items()):
        merged.setdefault(read_key(key), []).append((key, values))
    return {key: digest(values) for key, values in merged.items()}


def _say_path(path: str, say: Any) -> None:
    say(f"p:{path}")
    parts = path.split("/")
    for part in parts[:-1]:
        say(f"t:{part}")
    say(f"t:{parts[-1].rpartition('.')[0]}")
    if parts[-1] == "__init__.py":
        say("i:", path)


def _say_module(facts: Facts, path: str, say: Any) -> None:
    say(f"m:{path}:__all__", facts["all"])
    if "space" in facts:
        say(f"m:{path}:__space__", facts["space"])
    for entry in facts["imports"]:
        if entry[0] < 0:
            say(f"m:{path}:{entry[1]}", "import", entry[2:])
            if entry[4] == "#":
                say(f"m:{path}:#", entry[2])
    for name, bound in facts["binds"].items():
        said = portable(facts, " ".join(chains(bound)))
        say(f"m:{path}:{name}", "bind", said)
        if "space" in facts:
            say(f"v:{name}", facts["space"], said)
    for name, chain in facts["exports"].items():
        say(f"m:{path}:export {name}", portable(facts, str(chain)))


def _say_symbols(facts: Facts, path: str, say: Any) -> None:
    rows = facts["syms"]
    for row in rows:
        name, qual, kind, meta = row[schema.NAME], row[schema.QUAL], row[schema.KIND], row[schema.META]
        flags = meta.get("x", ())
        if not is_named(kind, path) and "accessor" not in flags:
            continue
        said = (qual, kind, flags)
        if "space" in facts or meta.keys() & _PLACED:
            said = (*said, facts.get("space"), *(meta.get(key) for key in sorted(_PLACED)))
        if row[schema.PARENT] < 0:
            say(f"m:{path}:{name}", "def", said)
        else:
            above = rows[row[schema.PARENT]]
            for member in member_names(row):
                say(f"a:{path}:{above[schema.QUAL]}:{member}", "def", said)
            if "interface" in above[schema.META].get("x", ()):  # who fits it depends on all that it asks
                say(f"c:{path}:{above[schema.QUAL]}", "member", name)
        say(f"n:{name}", said)
        if kind == "class":
            say(f"c:{path}:{qual}", [portable(facts, " ".join(chains(meta.get(k)))) for k in ("b", "m")], flags)
            for attr, held in meta.get("a", {}).items():
                say(f"a:{path}:{qual}:{attr}", "attr", portable(facts, " ".join(chains(held))))
        else:
            say(f"f:{path}:{qual}", [portable(facts, " ".join(chains(meta.get(k)))) for k in ("r", "y")], flags,
                [_locals(facts, row)], _callbacks(facts, meta))  # fmt: skip
    for name, idx in base_names(facts):
        say(f"s:{name}", rows[idx][schema.QUAL] if name != MOUNTS else (path, facts["mounts"]))
    if facts.get("contracts"):
        say(f"k:{path}", facts["contracts"])


def _locals(facts: Facts, row: list[Any]) -> list[tuple[str, str]]:
    """Local bindings that return values may go through (languages that leave locals to the linker)."""
    held = row[schema.META].get("l")
    return [(name, portable(facts, " ".join(chains(bound)))) for name, bound in sorted(held.items())] if held else []


def _callbacks(facts: Facts, meta: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Declared parameters of the functions that a function takes (scripts with types)."""
    return [(at, [portable(facts, text) for text in held]) for at, held in sorted(meta.get("cb", {}).items())]
