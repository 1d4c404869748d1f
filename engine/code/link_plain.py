"""Links of languages that need no inference: shell, SQL, Dockerfiles, and what a ``pyproject.toml`` starts. Called by ``link.py``.

What may not come in: types, storage, the disk. Rules of such a language draw the links of a file themselves, by ``links(types,
file) -> (edges, reads)``; nothing else of the linker asks them. Certain is what the language's own scoping says, and in SQL a
name that the repository defines once; a name with up to ``CAP`` definitions is a candidate each. What cannot be found is
unresolved, except commands of a shell, which are programs, and functions of SQL, which the database has.
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.facts import KIND, NAME, PARENT, QUAL
from mog.engine.code.link_calls import CANDIDATE, CAP, CERTAIN, UNRESOLVED
from mog.engine.code.link_names import HOPS, UNKNOWN, Value
from mog.engine.code.link_paths import joined
from mog.engine.code.link_rules import Rules
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

Edges = set[tuple[int, str, int | str, str, int, str]]
Drawn = tuple[Edges, set[int]]
MOST_SOURCED = 64


class PlainRules(Rules):
    """What every language here shares: no definition of it is guessed at from another family, none is a test."""

    constructors: tuple[str, ...] = ()
    collection = "L"

    def __init__(self, family: str) -> None:
        self.family = family

    def guessable(self, sym: Sym) -> bool:
        """Never: such a definition has no receiver."""
        return False

    def is_test(self, path: str) -> bool:
        return False

    def is_builtin(self, name: str) -> bool:
        return False

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """Nothing: no such file imports another as a module."""
        return UNKNOWN, ()

    def submodule(self, types: Types, file: File, name: str) -> tuple[File | None, tuple[int, ...]]:
        """Nothing: what a script imports from settings has no definition that could be called."""
        return None, ()


class BashRules(PlainRules):
    """Functions by name, in the script and in what it sources."""

    def links(self, types: Types, file: File) -> Drawn:
        edges: Edges = set()
        reads: set[int] = set()
        tables = [
            (file, functions(file)),
            *((other, functions(other)) for other in self.sourced(types, file, edges, reads)),
        ]
        for scope, held in file.facts["calls"]:
            for name in held.split():
                if name.startswith("?"):
                    edges.add((scope, "", f"receiver:{name[1:]}", "calls", UNRESOLVED, name[1:]))
                    continue
                reads.update(read_key(f"m:{other.path}:{name}") for other, _ in tables)
                found = next(((other, table[name]) for other, table in tables if name in table), None)
                if found is not None:
                    edges.add((scope, found[0].path, found[1], "calls", CERTAIN, name))
        return edges, reads

    def sourced(self, types: Types, file: File, edges: Edges, reads: set[int]) -> list[File]:
        """Everything a script sources, what that sources too, the latest first; its own imports become edges."""
        found: dict[str, File] = {}
        work = [(file, 0)]
        while work and len(found) < MOST_SOURCED:
            at, hops = work.pop(0)
            reads.add(read_key(f"m:{at.path}:*"))
            for entry in at.facts["imports"]:
                other = self.resolve(types, file.path, at.path, entry[2], reads)
                if at is file and other is None:
                    edges.add((-1, "", f"external:{entry[2]}", "imports", UNRESOLVED, entry[2]))
                if other is None or other is file:
                    continue
                if at is file:
                    edges.add((-1, other.path, -1, "imports", CERTAIN, entry[2]))
                if other.path not in found and hops < HOPS:
                    found[other.path] = other
                    work.append((other, hops + 1))
        return list(reversed(found.values()))

    def resolve(self, types: Types, script: str, path: str, module: str, reads: set[int]) -> File | None:
        """The script a ``source`` means: beside the one that says so, beside the one that runs, else from a folder above."""
        if module.startswith("/"):
            return None
        rest = module.removeprefix("?/")
        folders = [path.rpartition("/")[0], script.rpartition("/")[0]]
        while folders[-1]:
            folders.append(folders[-1].rpartition("/")[0])
        for folder in dict.fromkeys(folders):
            place = joined(folder, rest)
            if place is None:
                continue
            reads.add(read_key(f"p:{place}"))
            if types.view.has(place):
                other = types.file(place)
                return other if other is not None and other.lang == "bash" else None
        return None


def functions(file: File) -> dict[str, int]:
    """Name → the last definition of every function of a script; nested ones count once what holds them ran."""
    rows = file.facts["syms"]
    nested = {row[NAME]: at for at, row in enumerate(rows) if row[KIND] == "function" and row[PARENT] >= 0}
    return nested | {row[NAME]: at for at, row in enumerate(rows) if row[KIND] == "function" and row[PARENT] < 0}


class SqlRules(PlainRules):
    """Tables, views and routines by name, over all SQL of the repository: a database has one name for all its scripts."""

    def links(self, types: Types, file: File) -> Drawn:
        edges: Edges = set()
        reads: set[int] = set()
        for kind, wanted in (("references", "class"), ("calls", "function")):
            for scope, held in file.facts["refs" if kind == "references" else "calls"]:
                for name in held.split():
                    self.draw(types, file, scope, name, kind, wanted, edges, reads)
        return edges, reads

    def draw(
        self, types: Types, file: File, scope: int, name: str, kind: str, wanted: str, edges: Edges, reads: set[int]
    ) -> None:
        found = self.found(types, file, name, wanted, reads)
        own = [at for at in found if at[0] == file.path]
        found = own[-1:] or found
        tier = CERTAIN if len(found) == 1 else CANDIDATE
        for path, idx in found if len(found) <= CAP else ():
            if (path, idx) != (file.path, scope):
                edges.add((scope, path, idx, kind, tier, name))
        if len(found) > CAP:
            edges.add((scope, "", f"capped:{name}", kind, UNRESOLVED, name))
        elif not found and kind == "references":
            edges.add((scope, "", f"external:{name}", kind, UNRESOLVED, name))

    def found(self, types: Types, file: File, name: str, wanted: str, reads: set[int]) -> list[tuple[str, int]]:
        """Definitions a name may mean: of its kind, in its schema where both say one, in whatever case."""
        space, _, last = name.rpartition(".")
        places: list[tuple[str, int]] = []
        for spelled in dict.fromkeys((last, last.lower(), last.upper(), last.capitalize())):
            reads.add(read_key(f"n:{spelled}"))
            for path, idx in types.view.defs(spelled):
                other = types.file(path)
                if other is None or other.lang != "sql":
                    continue
                row = other.facts["syms"][idx]
                theirs = row[QUAL].partition("#")[0].rpartition(".")[0]
                if row[KIND] == wanted and (not space or not theirs or space.lower() == theirs.lower()):
                    places.append((path, idx))
        return sorted(places)


class DockerRules(PlainRules):
    """Stages of one file, and the images it begins with."""

    def links(self, types: Types, file: File) -> Drawn:
        edges: Edges = set()
        for scope, _, target, _, _ in file.facts["imports"]:
            self.draw(file, scope, target, "inherits", edges)
        for scope, target in file.facts["refs"]:
            self.draw(file, scope, target, "references", edges)
        return edges, set()

    def draw(self, file: File, scope: int, target: str, kind: str, edges: Edges) -> None:
        if target.startswith("@"):
            at = int(target[1:])
            edges.add((scope, file.path, at, kind, CERTAIN, file.sym(at).name))
        else:
            edges.add((scope, "", f"external:{target}", kind, UNRESOLVED, target))


class TomlRules(PlainRules):
    """Scripts and entry points of a ``pyproject.toml``: which function a command starts."""

    def links(self, types: Types, file: File) -> Drawn:
        edges: Edges = set()
        reads: set[int] = set()
        for scope, target in file.facts["refs"]:
            module, _, name = target.partition(":")
            value, more = types.rules["python"].module(types, file, module)
            reads.update(more)
            if value[0] == "M" and name:
                self.attribute(types, value, name.partition(".")[0], scope, target, edges, reads)
        return edges, reads

    def attribute(
        self, types: Types, value: Any, name: str, scope: int, target: str, edges: Edges, reads: set[int]
    ) -> None:
        values, more, _ = types.member(value, name, value[1], HOPS)
        reads.update(more)
        for tag, what in values[:1]:
            if tag in "FC":
                edges.add((scope, what.file.path, what.idx, "configures", CERTAIN, target))


def rules() -> dict[str, Any]:
    """Rules by language name."""
    made = {
        "bash": BashRules("bash"),
        "sql": SqlRules("sql"),
        "dockerfile": DockerRules("dockerfile"),
        "toml": TomlRules("toml"),
    }
    return dict(made)
