"""Rules of JavaScript and TypeScript for the linker: where a module is, which names the platform owns. Called by ``link*.py``.

What may not come in: inference, edges, the disk. Modules are found as TypeScript's ``bundler`` resolution finds them (relative
paths with guessed endings, ``paths`` and ``baseUrl`` of the nearest ``tsconfig.json`` with what it extends, packages of the same
repository by name with ``exports`` and ``main``), but sources are preferred where a path leads to build output that is not there.
The interface is that of ``link_python.py``.
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.languages.javascript_paths import is_test_path
from mog.engine.code.link_names import EXTERNAL, UNKNOWN, Value
from mog.engine.code.link_paths import joined
from mog.engine.code.link_rules import Rules
from mog.engine.code.link_ts_builtins import GLOBALS, NODE_MODULES, OWNED
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

# a declaration file beside its implementation comes last: calls mean the implementation
ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts", ".vue", ".svelte")
# what is written → what may lie there, in order
WRITTEN = {
    ".js": (".ts", ".tsx", ".js", ".jsx", ".d.ts"),
    ".jsx": (".tsx", ".jsx", ".js"),
    ".mjs": (".mts", ".mjs", ".d.mts"),
    ".cjs": (".cts", ".cjs", ".d.cts"),
}
BUILT = ("dist", "lib", "build", "out", "es", "esm", "cjs", "umd", "types", "typings")
CONFIGS = ("tsconfig.json", "jsconfig.json")
HOPS = 8

Reads = list[int]
_NOWHERE: tuple[Value, tuple[int, ...]] = (UNKNOWN, ())


class Config:
    """Path settings in force for a folder: ``base`` ("" when none was set) and (pattern, folder, target) of every alias."""

    __slots__ = ("base", "paths", "reads")

    def __init__(self) -> None:
        self.base: str | None = None
        self.paths: list[tuple[str, str, str]] = []
        self.reads: Reads = []


class ScriptRules(Rules):
    """Import and naming rules shared by JavaScript, TypeScript and TSX. Keeps the settings of the folders it met."""

    family = "javascript"
    constructors = ("constructor",)
    collection = "A"

    def __init__(self) -> None:
        self._configs: dict[str, Config] = {}

    def is_builtin(self, name: str) -> bool:
        return name in GLOBALS

    def guessable(self, sym: Sym) -> bool:
        """Whether a call on an unknown receiver may mean this definition: a member of a class or of an object literal."""
        return sym.parent is not None and (sym.parent.kind == "class" or "object" in sym.parent.flags)

    def builtin_base(self, name: str) -> Value:
        """A class of the platform among the bases: what it answers to is outside."""
        return "X", name

    def owned_in(self, file: File) -> frozenset[str]:
        """Names of methods that the platform and common tools own."""
        return OWNED

    def is_test(self, path: str) -> bool:
        return is_test_path(path)

    def external_call(self, name: str) -> tuple[Value, ...]:
        """What calling an external name hands back: something of the platform or of a package."""
        return (EXTERNAL,)

    # ── modules ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """The module a file means by ``name``."""
        reads: Reads = []
        folder = file.path.rpartition("/")[0]
        name = name.partition("?")[0] if "?" in name else name
        if name.startswith("node:") or not name:
            return ("X", name), ()
        if name[0] == ".":
            base = joined(folder, name)
            found = self._at(types, base, reads) if base is not None else None
            return (("M", found) if found is not None else UNKNOWN), tuple(reads)
        found = self._aliased(types, folder, name, reads)
        if found is None and name.partition("/")[0] not in NODE_MODULES:
            found = self._packaged(types, folder, name, reads)
        return (("M", found) if found is not None else ("X", name)), tuple(reads)

    def submodule(self, types: Types, file: File, name: str) -> tuple[File | None, tuple[int, ...]]:
        """A CommonJS module is its own default export where it names none."""
        return (file if name in ("=", "default") else None), ()

    def _at(self, types: Types, base: str, reads: Reads) -> File | None:
        """The file a path without (or with the wrong) ending means."""
        has = types.view.has
        last = base.rpartition("/")[2]
        stem, dot, ending = last.rpartition(".")
        for label in {last, last + ".d", stem if dot and stem else last}:
            reads.append(read_key(f"t:{label}"))
        written = "." + ending if dot else ""
        if written in WRITTEN:
            for other in WRITTEN[written]:
                if has(found := base[: -len(written)] + other):
                    return self._file(types, found, reads)
        if last and has(base):
            return self._file(types, base, reads)
        for other in ENDINGS:
            if last and has(found := base + other):
                return self._file(types, found, reads)
        return self._index(types, base, reads)

    def _file(self, types: Types, path: str, reads: Reads) -> File | None:
        reads.append(read_key(f"p:{path}"))
        return types.file(path)

    def _index(self, types: Types, folder: str, reads: Reads) -> File | None:
        """The file that a folder stands for: what its ``package.json`` says, else its index."""
        manifest = f"{folder}/package.json" if folder else "package.json"
        reads.append(read_key(f"p:{manifest}"))
        if types.view.has(manifest) and (found := self._entry(types, manifest, ".", reads)) is not None:
            return found
        for ending in ENDINGS:
            path = f"{folder}/index{ending}" if folder else f"index{ending}"
            reads.append(read_key(f"p:{path}"))
            if types.view.has(path):
                return types.file(path)
        return None

    # ── path aliases ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _aliased(self, types: Types, folder: str, name: str, reads: Reads) -> File | None:
        config = self._config(types, folder)
        reads += config.reads
        best: list[tuple[int, str, str, str]] = []
        for pattern, at, target in config.paths:
            star = matched(pattern, name)
            if star is not None:
                best.append((-len(pattern.partition("*")[0]) - (0 if "*" in pattern else 1000), at, target, star))
        top = min((rank for rank, *_ in best), default=0)
        for rank, at, target, star in best:
            if rank == top:
                base = joined(at, target.replace("*", star, 1))
                found = self._at(types, base, reads) if base is not None else None
                if found is not None:
                    return found
        if config.base is None:
            return None
        base = joined(config.base, name)
        return self._at(types, base, reads) if base is not None else None

    def _config(self, types: Types, folder: str) -> Config:
        """Settings of the nearest configuration above a folder; the same object for every folder it rules."""
        found = self._configs.get(folder)
        if found is None:
            found = self._configs[folder] = self._read_config(types, folder)
        return found

    def _read_config(self, types: Types, folder: str) -> Config:
        reads: Reads = []
        for name in CONFIGS:
            path = f"{folder}/{name}" if folder else name
            reads.append(read_key(f"p:{path}"))
            if types.view.has(path):
                config = Config()
                config.reads = reads
                self._load(types, path, config)
                return config
        above = self._config(types, folder.rpartition("/")[0]) if folder else Config()
        config = Config()
        config.base, config.paths, config.reads = above.base, above.paths, reads + above.reads
        return config

    def _load(self, types: Types, path: str, config: Config) -> None:
        """Read a configuration, what it extends, and (where it sets no paths itself) what it refers to."""
        work = [path]
        seen: set[str] = set()
        while work and len(seen) < HOPS:
            at = work.pop(0)
            if at in seen:
                continue
            seen.add(at)
            rows = settings(types, at, ("baseUrl", "paths", "extends", "references"), config.reads)
            folder = at.rpartition("/")[0]
            base = next((row[2] for row in rows if row[1] == "baseUrl"), None)
            if base is not None and config.base is None:
                config.base = joined(folder, base)
            if not config.paths:
                config.paths = [(row[2], folder, row[3]) for row in rows if row[1] == "paths"]
            for row in rows:
                if row[1] in ("extends", "references") and (row[1] == "extends" or not config.paths):
                    work += self._other(types, folder, row[2], config.reads)

        if config.base is not None:
            config.paths = [(pattern, config.base, target) for pattern, _, target in config.paths]

    def _other(self, types: Types, folder: str, name: str, reads: Reads) -> list[str]:
        """Path of a configuration that another one names."""
        base = joined(folder, name) if name.startswith(".") else None
        if base is None:
            package, _, rest = split_package(name)
            home = self._home(types, package, reads)
            if home is None:
                return []
            base = joined(home, rest or "tsconfig.json")
        for path in (base, f"{base}.json", f"{base}/tsconfig.json") if base is not None else ():
            reads.append(read_key(f"p:{path}"))
            if types.view.has(path):
                return [path]
        return []

    # ── packages of the repository ────────────────────────────────────────────────────────────────────────────────────

    def _packaged(self, types: Types, folder: str, name: str, reads: Reads) -> File | None:
        if name[0] == "#":
            return self._private(types, folder, name, reads)
        package, subpath, _ = split_package(name)
        home = self._home(types, package, reads)
        if home is None:
            return None
        manifest = f"{home}/package.json" if home else "package.json"
        found = self._entry(types, manifest, subpath, reads)
        if found is not None or subpath == ".":
            return found or self._sources(types, home, "index", reads)
        return self._sources(types, home, subpath[2:], reads)

    def _home(self, types: Types, package: str, reads: Reads) -> str | None:
        """Folder of the package of that name in this repository."""
        reads.append(read_key(f"n:{package}"))
        paths = [path for path, _ in types.view.defs(package) if path.rpartition("/")[2] == "package.json"]
        return min(paths, key=lambda path: (path.count("/"), path)).rpartition("/")[0] if paths else None

    def _private(self, types: Types, folder: str, name: str, reads: Reads) -> File | None:
        """``#name`` by the ``imports`` of the nearest package."""
        while True:
            manifest = f"{folder}/package.json" if folder else "package.json"
            reads.append(read_key(f"p:{manifest}"))
            if types.view.has(manifest):
                return self._entry(types, manifest, name, reads, "imports")
            if not folder:
                return None
            folder = folder.rpartition("/")[0]

    def _entry(self, types: Types, manifest: str, subpath: str, reads: Reads, setting: str = "exports") -> File | None:
        """The file a package gives for a subpath, its sources where the build output is not there."""
        home = manifest.rpartition("/")[0]
        rows = settings(types, manifest, (setting, "source", "main", "module", "types", "typings", "browser"), reads)
        targets = [
            row[3].replace("*", star)
            for row in rows
            if row[1] == setting and (star := matched(row[2], subpath)) is not None
        ]
        if subpath == ".":
            targets += [
                row[2]
                for want in ("source", "types", "typings", "module", "main", "browser")
                for row in rows
                if row[1] == want
            ]
        for target in sorted(targets, key=lambda one: one.endswith((".d.ts", ".d.mts", ".d.cts"))):
            base = joined(home, target)
            found = self._at_target(types, home, base, reads) if base is not None and base != home else None
            if found is not None:
                return found
        return None

    def _at_target(self, types: Types, home: str, base: str, reads: Reads) -> File | None:
        if types.view.has(base) or not base.startswith(f"{home}/" if home else ""):
            return self._at(types, base, reads)
        parts = base[len(home) + 1 if home else 0 :].split("/")
        while parts and parts[0] in BUILT:
            parts.pop(0)
        rest = "/".join(parts)
        for ending in (".d.ts", ".d.mts", ".d.cts"):
            rest = rest.removesuffix(ending)
        return self._at(types, base, reads) or (self._sources(types, home, rest, reads) if rest else None)

    def _sources(self, types: Types, home: str, rest: str, reads: Reads) -> File | None:
        for folder in ("src", "lib", "source", ""):
            base = "/".join(part for part in (home, folder, rest) if part)
            found = self._at(types, base, reads)
            if found is not None:
                return found
        return None


def settings(types: Types, path: str, names: tuple[str, ...], reads: Reads) -> list[list[Any]]:
    """Rows of a configuration file (``languages/javascript_config.py``) for some settings, in the order of the file."""
    reads += [read_key(f"m:{path}:{name}") for name in names]
    reads.append(read_key(f"p:{path}"))
    facts = types.view.facts(path)
    return [row for row in facts["imports"] if row[1] in names] if facts is not None else []


def matched(pattern: str, name: str) -> str | None:
    """What the star of a pattern stands for in ``name`` ("" for an exact match), or None."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == name else None
    if name.startswith(before) and name.endswith(after) and len(name) >= len(before) + len(after):
        return name[len(before) : len(name) - len(after)]
    return None


def split_package(name: str) -> tuple[str, str, str]:
    """``@scope/pkg/sub/x`` → (``@scope/pkg``, ``./sub/x``, ``sub/x``); the subpath of the package itself is ``.``."""
    parts = name.split("/")
    count = 2 if name[0] == "@" else 1
    package, rest = "/".join(parts[:count]), "/".join(parts[count:])
    return package, f"./{rest}" if rest else ".", rest


def rules() -> dict[str, Any]:
    """The rules by language name; one object, so that settings are read once."""
    shared = ScriptRules()
    return {"javascript": shared, "typescript": shared, "tsx": shared}
