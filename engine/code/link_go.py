"""Go's rules for the linker: packages are folders, found by the module path of the nearest ``go.mod``. Called by ``link*.py``.

What may not come in: inference, edges, the disk. The interface is that of ``link_declared.py``. A package is written
``folder|import path``, with ``|test`` behind it for the test package beside it, which also sees what in-package tests declare. Paths
are resolved as the ``go`` command does it (Go Modules Reference): own module, replacements by folders, ``vendor``, and modules of the
same repository by their path, as in a workspace.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from mog.engine.code.facts import KIND, META, NAME, PARENT, chains
from mog.engine.code.languages.declared_paths import TESTS
from mog.engine.code.link_declared import DeclaredRules
from mog.engine.code.link_go_names import OWNED
from mog.engine.code.link_names import NO_READS, UNKNOWN, Answer, Value, symbol
from mog.engine.code.link_paths import folder_of, joined
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

FILES = 8
SAME = 4
MANY = 64
_ANSWERS = 128

Reads = list[int]


@dataclass(slots=True)
class Package:
    """What the files of one folder that say the same ``package`` declare: name → places (symbol -1: a variable), and
    (type, method) → places."""

    names: dict[str, list[tuple[File, int]]] = field(default_factory=dict)
    methods: dict[tuple[str, str], list[tuple[File, int]]] = field(default_factory=dict)


class GoRules(DeclaredRules):
    """A package is all files of a folder that declare its name; what begins with a small letter is seen in it only."""

    family = "go"
    langs = frozenset(("go",))
    structural = True
    declares = True
    converts = True
    builtins = frozenset(
        "append cap clear close complex copy delete imag len make max min new panic print println real recover true false nil iota"
        " string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune bool float32 float64 complex64"
        " complex128 error any comparable".split()
    )
    owned = OWNED

    def __init__(self) -> None:
        self._folders: dict[str, list[str]] | None = None
        self._packages: dict[str, dict[str, Package]] = {}
        self._modules: dict[str, tuple[str | None, tuple[int, ...]]] = {}
        self._meant: dict[tuple[str, str], tuple[Value, tuple[int, ...]]] = {}

    def is_test(self, path: str) -> bool:
        return TESTS["go"].match(path)

    def guessable(self, sym: Sym) -> bool:
        return "of" in sym.meta or (sym.parent is not None and sym.parent.kind == "class")

    def reachable(self, file: File, sym: Sym) -> bool:
        """Names with a small letter are seen in their own folder only."""
        return sym.name[:1].isupper() or folder_of(sym.file.path) == folder_of(file.path)

    # ── packages ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def folders(self, types: Types) -> dict[str, list[str]]:
        """Folder → its Go files."""
        if self._folders is None:
            self._folders = {}
            for path in sorted(types.view.paths()):
                if path.endswith(".go"):
                    self._folders.setdefault(folder_of(path), []).append(path)
        return self._folders

    def packages(self, types: Types, folder: str) -> dict[str, Package]:
        """The packages of a folder by the names that its files give them."""
        found = self._packages.get(folder)
        if found is None:
            found = self._packages[folder] = {}
            for path in self.folders(types).get(folder, ()):
                file = types.file(path)
                if file is not None:
                    _fill(found.setdefault(str(file.facts.get("space") or ""), Package()), file)
        return found

    def importable(self, types: Types, folder: str) -> str:
        """Name of the package that an import of a folder means: what most of its files say that are no tests."""
        files = [types.file(path) for path in self.folders(types).get(folder, ()) if not self.is_test(path)]
        said = Counter(str(file.facts.get("space") or "") for file in files if file is not None)
        fits = {name: count for name, count in said.items() if not name.endswith(" ignored")} or said
        return min(fits, key=lambda name: (name == "main", -fits[name], name), default="")

    def space_of(self, file: File, idx: int) -> str:
        return folder_of(file.path)

    def beside(self, types: Types, file: File, name: str, hops: int) -> Answer:
        reads: Reads = [read_key(f"n:{name}"), read_key(f"v:{name}")]
        package = self._own(types, file)
        places = package.names.get(name, ()) if package is not None else ()
        tests = self.is_test(file.path)
        found = _values([at for at in places if at[0] is not file and (tests or not self.is_test(at[0].path))], name)
        if not found and name not in self.builtins:
            found = self._by_clause(types, file, name, reads)
        return found, tuple(reads), 0

    def _own(self, types: Types, file: File) -> Package | None:
        space = str(file.facts.get("space") or "")
        return None if space.endswith(" ignored") else self.packages(types, folder_of(file.path)).get(space)

    def _by_clause(self, types: Types, file: File, name: str, reads: Reads) -> tuple[Value, ...]:
        """A package that is called otherwise than the path it is imported by."""
        for entry in file.facts["imports"]:
            if entry[4] == "g" and entry[1] != name:
                value, more = types.module(file, entry[2])
                reads += more
                if value[0] == "P":
                    folder = value[1][1].partition("|")[0]
                    reads += [read_key(f"m:{path}:__space__") for path in self.folders(types).get(folder, ())[:1]]
                    if self.importable(types, folder) == name:
                        return (value,)
        return ()

    def inside(self, types: Types, space: str, name: str, hops: int) -> Answer:
        """An exported name of a package; what it does not have is outside (generated, or written for C)."""
        folder, path, *test = space.split("|")
        reads = (read_key(f"n:{name}"), read_key(f"v:{name}"))
        package = self.packages(types, folder).get(self.importable(types, folder))
        places = package.names.get(name, ()) if package is not None and name[:1].isupper() else ()
        found = _values([at for at in places if test or not self.is_test(at[0].path)], name)
        return found or (("X", f"{path}.{name}"),), reads, 0

    def elsewhere(self, types: Types, cls: Sym, name: str) -> tuple[Sym | None, tuple[int, ...]]:
        """A method that another file of the package gives a type; one that only tests give it comes last."""
        if cls.file.facts["syms"][cls.idx][PARENT] >= 0 or "interface" in cls.flags:
            return None, NO_READS
        package = self._own(types, cls.file)
        places = package.methods.get((cls.name, name), ()) if package is not None else ()
        held = min(places, key=lambda at: (self.is_test(at[0].path), at[0].path), default=None)
        return (held[0].sym(held[1]) if held is not None else None), (read_key(f"n:{name}"),)

    def type_of(self, types: Types, method: Sym) -> Sym | None:
        """The type a method belongs to."""
        of = method.meta.get("of")
        if not of:
            return method.parent
        package = self._own(types, method.file)
        held = [at for at in (package.names.get(of, ()) if package is not None else ()) if at[1] >= 0]
        return held[0][0].sym(held[0][1]) if held else None

    # ── modules ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        folder = folder_of(file.path)
        root, near = self._root(types, folder)
        key = (folder if name.startswith(".") else root or "", name)
        found = self._meant.get(key)
        if found is None:
            reads: Reads = []
            at = self._folder(types, folder, root, name, reads)
            reads.append(read_key(f"t:{(at if at is not None else name).rpartition('/')[2]}"))
            found = self._meant[key] = (("X", name) if at is None else ("P", ("go", f"{at}|{name}"))), tuple(reads)
        value, reads_of = found
        if value[0] == "P" and self.is_test(file.path) and value[1][1].partition("|")[0] == folder:
            value = "P", ("go", f"{value[1][1]}|test")
        return value, (*near, *reads_of)

    def _root(self, types: Types, folder: str) -> tuple[str | None, tuple[int, ...]]:
        """The folder of the nearest ``go.mod`` at or above a folder, None for none, with reads."""
        found = self._modules.get(folder)
        if found is None:
            path = f"{folder}/go.mod" if folder else "go.mod"
            above, reads = (None, NO_READS)
            if types.view.has(path):
                above = folder
            elif folder:
                above, reads = self._root(types, folder.rpartition("/")[0])
            found = self._modules[folder] = above, (read_key(f"p:{path}"), *reads)
        return found

    def _folder(self, types: Types, folder: str, root: str | None, name: str, reads: Reads) -> str | None:
        """The folder an import path means; None for what is not in the repository."""
        if name.startswith(("./", "../")):
            return self._there(types, joined(folder, name))
        if root is None:
            return None
        rows = self._settings(types, root, reads)
        for path in (row[2] for row in rows if row[1] == "module"):
            rest = below(path, name) if path != "std" else name
            if rest is not None:
                at = self._there(types, joined(root, rest))
                return at if at is not None and self._is_of(types, at, root, reads) else None
        for row in sorted((row for row in rows if row[1] == "replace"), key=lambda row: -len(row[2])):
            rest, home = below(row[2], name), joined(root, row[3])
            if rest is not None and home is not None:
                return self._there(types, joined(home, rest))
        vendored = self._there(types, joined(root, f"vendor/{name}"))
        if vendored is not None:
            return vendored
        return self._of_repository(types, name, reads) if "." in name.partition("/")[0] else None

    def _settings(self, types: Types, root: str, reads: Reads) -> list[list[Any]]:
        path = f"{root}/go.mod" if root else "go.mod"
        reads += [read_key(f"p:{path}"), read_key(f"m:{path}:module"), read_key(f"m:{path}:replace")]
        facts = types.view.facts(path)
        return list(facts["imports"]) if facts is not None else []

    def _there(self, types: Types, folder: str | None) -> str | None:
        return folder if folder is not None and folder in self.folders(types) else None

    def _is_of(self, types: Types, folder: str, root: str, reads: Reads) -> bool:
        """Whether a folder belongs to the module at ``root`` (and to none below it)."""
        found, more = self._root(types, folder)
        reads += more
        return found == root

    def _of_repository(self, types: Types, name: str, reads: Reads) -> str | None:
        """A folder of another module of this repository, the one with the longest path that fits."""
        parts = name.split("/")
        for count in range(len(parts), 0, -1):
            path = "/".join(parts[:count])
            reads.append(read_key(f"n:{path}"))
            for place, _ in types.view.defs(path):
                if place.rpartition("/")[2] == "go.mod":
                    return self._there(types, joined(folder_of(place), "/".join(parts[count:])))
        return None

    # ── imports and interfaces ────────────────────────────────────────────────────────────────────────────────────────

    def imported_files(self, types: Types, file: File, at: int) -> tuple[list[File], tuple[int, ...]]:
        """The files that define what is used of an imported package; where nothing is, its files, at most ``FILES``."""
        entry = file.facts["imports"][at]
        value, reads = types.module(file, entry[2])
        folder = value[1][1].partition("|")[0]
        package = self.packages(types, folder).get(self.importable(types, folder))
        names = _used(file, {entry[1], self.importable(types, folder)} if entry[4] == "g" else {entry[1]})
        reads += tuple(read_key(f"{sign}:{name}") for name in names for sign in "nv")
        held = {at[0].path: at[0] for name in names for at in (package.names.get(name, ()) if package is not None else ())}
        found = [one for path, one in sorted(held.items()) if not self.is_test(path)]
        if not found:
            paths = [path for path in self.folders(types).get(folder, ()) if not self.is_test(path)]
            found = [one for path in paths[:FILES] if (one := types.file(path)) is not None]
        return found, reads

    def implementers(self, types: Types, cls: Sym, name: str, tests: bool) -> tuple[list[Sym] | None, tuple[int, ...]]:
        """Methods of that name whose types have all methods of an interface, with reads; None when there are too many to ask."""
        line, _, reads, _ = types.mro(cls)
        keys: Reads = [*reads, read_key(f"n:{name}")]
        wanted = {one for owner in line for one in owner.file.members.get(owner.idx, ())}
        places = [at for at in types.view.defs(name) if tests or not self.is_test(at[0])]
        if len(places) > MANY:
            return None, tuple(keys)
        found = []
        for path, idx in places:
            file = types.file(path)
            if file is None or file.lang != "go":
                continue
            sym = file.sym(idx)
            if "abstract" in sym.flags or not self.guessable(sym) or not self.reachable(cls.file, sym):
                continue
            owner = self.type_of(types, sym)
            if owner is not None and owner is not cls and _has(types, owner, wanted, keys):
                found.append(sym)
        return found, tuple(keys)


def _has(types: Types, cls: Sym, wanted: set[str], reads: Reads) -> bool:
    """Whether a type has methods of all these names."""
    for name in sorted(wanted):
        _, sym, _, _, more = types.find(cls, name)
        reads += more
        if sym is None:
            return False
    return True


def _fill(package: Package, file: File) -> None:
    """Add what a file declares."""
    for idx, row in enumerate(file.facts["syms"]):
        of = row[META].get("of")
        above = row[PARENT]
        if of:
            package.methods.setdefault((of, row[NAME]), []).append((file, idx))
        elif above < 0:
            package.names.setdefault(row[NAME], []).append((file, -1 if row[KIND] in ("const", "field") else idx))


def _values(places: list[tuple[File, int]], name: str) -> tuple[Value, ...]:
    """What a name stands for: one definition, or those that files for several systems give it."""
    found: dict[Value, None] = {}
    for file, idx in places[:SAME]:
        if idx >= 0:
            found[symbol(file.sym(idx))] = None
            continue
        for chain in chains(file.binds.get(name)):
            found[UNKNOWN if chain in ("?", "#None") else (">", (file, chain))] = None
    if len(found) > 1:
        found.pop(UNKNOWN, None)
    return tuple(found)


def _used(file: File, names: set[str]) -> list[str]:
    """Names that a file uses of a package, which it knows by one of these names."""
    key = ("used",)
    used = file.memo.get(key)
    if used is None:
        used = {}
        for kind in ("calls", "refs"):
            for _, held in file.facts[kind]:
                for chain in chains(held.replace("|", " ")):
                    head, dot, rest = chain.partition(".")
                    if dot:
                        used.setdefault(head, {})[_first_name(rest)] = None
        file.memo[key] = used
    return [one for name in sorted(names) for one in used.get(name, ())]


def _first_name(text: str) -> str:
    for at, char in enumerate(text):
        if not (char.isalnum() or char == "_"):
            return text[:at]
    return text


def below(path: str, name: str) -> str | None:
    """What is left of an import path below a module's path; None when it is of another module."""
    return "" if name == path else name[len(path) + 1 :] if name.startswith(f"{path}/") else None


def rules() -> dict[str, Any]:
    """The rules of Go by language name."""
    return {"go": GoRules()}
