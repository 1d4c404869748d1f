"""Rust's rules for the linker: modules are files below a crate's root, crates are found by ``Cargo.toml``. Called by ``link*.py``.

What may not come in: inference, edges, the disk. The interface is that of ``link_declared.py``. A module is the file it stands in
(``("M", file)``), one inside a file a class of it. Paths are followed through declarations, ``use`` and globs (Rust Reference,
"Paths" and "Name resolution"), each step counted down, so that circles of re-exports end.
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.languages.declared_paths import TESTS
from mog.engine.code.languages.rust_tokens import EXPRESSIONS
from mog.engine.code.link_declared import DeclaredRules
from mog.engine.code.link_names import UNKNOWN, Answer, Value, symbol
from mog.engine.code.link_paths import folder_of, joined
from mog.engine.code.link_rust_names import OWNED, PRELUDE, TRANSPARENT
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

STEPS = 8
UP = 32
NEAR = 64
STANDARD = frozenset(("std", "core", "alloc", "proc_macro", "test"))
_TARGETS = frozenset(("bin", "tests", "examples", "benches"))
_ROOTS = ("mod.rs", "lib.rs", "main.rs")

Reads = list[int]


class RustRules(DeclaredRules):
    """Crates, modules and names of Rust. Keeps the folders of one view and the paths it has followed."""

    family = "rust"
    langs = frozenset(("rust",))
    collection = "A"
    overloads = True
    declares = True
    converts = True
    variants = True
    transparent = TRANSPARENT
    owned = OWNED
    builtins = PRELUDE | frozenset(f"{name}!" for name in EXPRESSIONS)

    def __init__(self) -> None:
        self._files: dict[str, list[str]] | None = None
        self._parents: dict[str, tuple[File | None, tuple[int, ...]]] = {}
        self._steps: dict[tuple[str, str, int], tuple[Value, tuple[int, ...]]] = {}

    def is_test(self, path: str) -> bool:
        return TESTS["rs"].match(path)

    def guessable(self, sym: Sym) -> bool:
        """A method: what stands in a module is called by its path."""
        return sym.kind == "method"

    # ── crates and files ──────────────────────────────────────────────────────────────────────────────────────────────

    def near(self, types: Types, folder: str) -> list[str]:
        """Rust files of a folder."""
        if self._files is None:
            self._files = {}
            for path in sorted(types.view.paths()):
                if path.endswith(".rs"):
                    self._files.setdefault(folder_of(path), []).append(path)
        return self._files.get(folder, [])

    def child(self, types: Types, file: File, name: str, where: str, reads: Reads) -> File | None:
        """The file of a module that a file declares: beside a root or ``mod.rs``, else in the folder of the file's own name."""
        folder, _, own = file.path.rpartition("/")
        stem = own.removesuffix(".rs")
        if where:
            places = [joined(folder, where)]
        else:
            homes = [folder] if own in _ROOTS else [f"{folder}/{stem}" if folder else stem, folder]
            places = [f"{home}/{rest}" if home else rest for home in homes for rest in (f"{name}.rs", f"{name}/mod.rs")]
        for place in places:
            if place is not None:
                reads.append(read_key(f"p:{place}"))
                if types.view.has(place) and place != file.path:
                    return types.file(place)
        return None

    def parent(self, types: Types, file: File) -> tuple[File | None, tuple[int, ...]]:
        """The file that declares a file's module, None for a crate's root, with reads."""
        found = self._parents.get(file.path)
        if found is None:
            reads: Reads = []
            found = self._parents[file.path] = self._parent(types, file, reads), tuple(reads)
        return found

    def _parent(self, types: Types, file: File, reads: Reads) -> File | None:
        folder, _, own = file.path.rpartition("/")
        if own in ("lib.rs", "main.rs", "build.rs"):
            return None
        stem = own.removesuffix(".rs")
        if own == "mod.rs":
            folder, _, stem = folder.rpartition("/")
        above = [f"{folder}/{name}" if folder else name for name in _ROOTS]
        above += [f"{folder}.rs"] if folder else []
        seen = set(above)
        near = [path for path in self.near(types, folder) if path not in seen]
        reads.append(read_key(f"t:{folder.rpartition('/')[2] or stem}"))
        over = folder_of(folder)
        wide = [path for path in self.near(types, over) if path not in seen] if own != "mod.rs" else []
        for path in [*above, *near[:NEAR], *wide[:NEAR]]:
            if path != file.path and self._declares(types, path, stem, file, reads):
                return types.file(path)
        if folder.rpartition("/")[2] in _TARGETS:
            return None
        # a declaration that a macro makes: by the place alone
        return next((types.file(path) for path in above if path != file.path and types.view.has(path)), None)

    def _declares(self, types: Types, path: str, stem: str, file: File, reads: Reads) -> bool:
        """Whether a file has a module whose file this is."""
        if not types.view.has(path):
            reads.append(read_key(f"p:{path}"))
            return False
        other = types.file(path)
        if other is None or other.lang != "rust":
            return False
        reads += [other.name_key(stem), other.name_key("mod ")]
        for entry in other.facts["imports"]:
            if entry[2].startswith("mod "):
                name, _, where = entry[2][4:].partition("|")
                if (where or name == stem) and self.child(types, other, name, where, reads) is file:
                    return True
        return False

    def root(self, types: Types, file: File, reads: Reads) -> File:
        """The root of the crate a file is of."""
        for _ in range(UP):
            above, more = self.parent(types, file)
            reads += more
            if above is None:
                return file
            file = above
        return file

    def manifest(self, types: Types, path: str, reads: Reads) -> list[list[Any]]:
        """Settings of the nearest ``Cargo.toml``."""
        folder = folder_of(path)
        while True:
            place = f"{folder}/Cargo.toml" if folder else "Cargo.toml"
            reads.append(read_key(f"p:{place}"))
            facts = types.view.facts(place) if types.view.has(place) else None
            if facts is not None or not folder:
                return list(facts["imports"]) if facts is not None else []
            folder = folder_of(folder)

    def crate(self, types: Types, file: File, name: str, reads: Reads) -> Value:
        """A crate by the name it has in a file: the library of a package of the repository, else outside."""
        if name in STANDARD:
            return "X", name
        rows = self.manifest(types, file.path, reads)
        reads += [read_key(f"m:{path}:dep") for path in self._manifests(file.path)]
        meant = next((row[3] for row in rows if row[1] == "dep" and row[2] == name), name)
        reads.append(read_key(f"n:{meant}"))
        places = [path for path, _ in types.view.defs(meant) if path.rpartition("/")[2] == "Cargo.toml"]
        for place in sorted(places, key=lambda path: (path.count("/"), path)):
            facts = types.view.facts(place)
            where = next((row[2] for row in facts["imports"] if row[1] == "lib"), "src/lib.rs") if facts is not None else ""
            path = joined(folder_of(place), where)
            reads += [read_key(f"p:{path}"), read_key(f"m:{place}:lib")]
            if path is not None and types.view.has(path) and (found := types.file(path)) is not None:
                return "M", found
        return ("X", name) if meant != name or any(row[1] == "dep" and row[2] == name for row in rows) else UNKNOWN

    def _manifests(self, path: str) -> list[str]:
        folder, found = folder_of(path), []
        while True:
            found.append(f"{folder}/Cargo.toml" if folder else "Cargo.toml")
            if not folder:
                return found
            folder = folder_of(folder)

    # ── paths ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        reads: Reads = []
        if name.startswith("mod "):
            label, _, where = name[4:].partition("|")
            found = self.child(types, file, label, where, reads)
            return (("M", found) if found is not None else UNKNOWN), tuple(reads)
        value = self.resolved(types, file, name.split("."), STEPS, reads)
        return value, tuple(reads)

    def resolved(self, types: Types, file: File, names: list[str], deep: int, reads: Reads) -> Value:
        """What a path means from a file's module."""
        value = self.first(types, file, names[0], deep, reads)
        for name in names[1:]:
            value = self.stepped(types, value, name, deep, reads)
        return value

    def first(self, types: Types, file: File, name: str, deep: int, reads: Reads) -> Value:
        value = self.stepped(types, ("M", file), name, deep, reads)
        return value if value[0] != "?" else self.crate(types, file, name, reads)

    def stepped(self, types: Types, value: Value, name: str, deep: int, reads: Reads) -> Value:
        """A name of a module, of a type, or of something outside."""
        tag, what = value
        if tag == "X":
            return "X", f"{what}.{name}"
        if tag == "C":
            return self._inside(types, what, name, deep, reads)
        if tag != "M" or what.lang != "rust":
            return UNKNOWN
        key = (what.path, name, deep)
        found = self._steps.get(key)
        if found is None:
            more: Reads = []
            found = self._steps[key] = self._named(types, what, name, deep, more), tuple(more)
        reads += found[1]
        return found[0]

    def _named(self, types: Types, file: File, name: str, deep: int, reads: Reads) -> Value:
        if name == "crate":
            return "M", self.root(types, file, reads)
        if name == "$self":
            return "M", file
        if name == "$super":
            above, more = self.parent(types, file)
            reads += more
            return ("M", above) if above is not None else UNKNOWN
        reads.append(file.name_key(name))
        # types and modules have a name space of their own, which is that of a path's parts
        held = [symbol(file.sym(at)) for at in file.top.get(name, ())]
        for value in held:
            if value[0] == "C":
                return value
        for at in file.imports.get(name, ()):
            value = self._brought(types, file, at, deep, reads)
            if value[0] != "?":
                return value
        return held[-1] if held else self._by_glob(types, file, name, deep, reads)

    def _brought(self, types: Types, file: File, at: int, deep: int, reads: Reads) -> Value:
        """What an import binds, by its path."""
        module, attr = file.facts["imports"][at][2:4]
        if module.startswith("mod "):
            label, _, where = module[4:].partition("|")
            found = self.child(types, file, label, where, reads)
            return ("M", found) if found is not None else UNKNOWN
        if deep <= 0:
            return UNKNOWN
        names = [*module.split("."), *([attr] if attr else [])]
        if names == [file.facts["imports"][at][1]]:  # ``use serde;``: the crate of that name
            return self.crate(types, file, names[0], reads)
        return self.resolved(types, file, names, deep - 1, reads)

    def _by_glob(self, types: Types, file: File, name: str, deep: int, reads: Reads) -> Value:
        reads.append(file.name_key("*"))
        for at in file.stars if deep > 0 else ():
            target = self.resolved(types, file, file.facts["imports"][at][2].split("."), deep - 1, reads)
            if target[0] in "MC" and target[1] is not file:
                value = self.stepped(types, target, name, deep - 1, reads)
                if value[0] != "?":
                    return value
        return UNKNOWN

    def _inside(self, types: Types, cls: Sym, name: str, deep: int, reads: Reads) -> Value:
        """A name of a module that stands in a file, or of a type."""
        if "module" in cls.flags:
            for at, entry in enumerate(cls.file.facts["imports"]):
                if entry[0] == cls.idx and entry[1] == name:
                    reads.append(read_key(f"c:{cls.file.path}:{cls.qual}"))
                    return self._brought(types, cls.file, at, deep, reads)
        reads.append(cls.attr_key(name))
        held = cls.member(name)
        if held:
            return symbol(cls.file.sym(held[-1]))
        return ("I", cls) if cls.meta.get("a", {}).get(name) == "cls()" else UNKNOWN

    def submodule(self, types: Types, file: File, name: str) -> tuple[File | None, tuple[int, ...]]:
        """A module below a file that it declares."""
        reads: Reads = [file.name_key(name)]
        for at in file.imports.get(name, ()):
            module = file.facts["imports"][at][2]
            if module.startswith("mod "):
                label, _, where = module[4:].partition("|")
                return self.child(types, file, label, where, reads), tuple(reads)
        return None, tuple(reads)

    def beside(self, types: Types, file: File, name: str, hops: int) -> Answer:
        """Heads of paths, names that a glob brings from a type, crates, macros of the crate."""
        reads: Reads = []
        if name.endswith("!"):
            return self._macro(types, file, name)
        value = self.first(types, file, name, STEPS, reads)
        if value[0] == "?" or (value[0] == "X" and value[1] == name and name in self.builtins):
            return (), tuple(reads), 0
        return (value,), tuple(reads), 0

    def _macro(self, types: Types, file: File, name: str) -> Answer:
        """A macro that another file of the repository defines, where there is one of that name."""
        found = []
        for path, idx in types.view.defs(name):
            other = types.file(path)
            if other is not None and other.lang == "rust" and (self.is_test(file.path) or not self.is_test(path)):
                found.append(other.sym(idx))
        return (tuple(("F", sym) for sym in found) if len(found) == 1 else ()), (read_key(f"n:{name}"),), 0


def rules() -> dict[str, Any]:
    """The rules of Rust by language name."""
    return {"rust": RustRules()}

