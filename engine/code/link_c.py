"""C's rules for the linker: what an include means, and which definition a bare name has. Called by ``link*.py``; C++ builds on them.

What may not come in: inference, edges. A name means what its own file defines; else what one file of the repository defines for
others (a function that is not static, a macro or static function of a header). Several definitions (one an architecture, one a
program, alternatives of ``#if``) are drawn as possible, never one of them as certain. The interface is that of ``link_declared.py``.
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.link_c_names import ANYWHERE, LIBRARY
from mog.engine.code.link_declared import DeclaredRules
from mog.engine.code.link_names import Value
from mog.engine.code.link_paths import joined
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

CERTAIN, HIERARCHY, CANDIDATE, UNRESOLVED = range(4)
CAP = 8
MANY = 128
NEAR = 60
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".inc", ".cuh", ".def")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu")

Meant = tuple[tuple[Sym, ...], int, tuple[int, ...]]


class CRules(DeclaredRules):
    """Rules of C. Keeps the table of paths by their last name, and the definitions of names, of one view."""

    family = "c"
    langs = frozenset(("c", "cpp"))
    beside: Any = None
    elsewhere: Any = None

    def __init__(self) -> None:
        self._paths: dict[str, list[str]] | None = None
        self._named: dict[str, tuple[list[Sym], list[Sym]] | None] = {}
        self._near: tuple[File | None, dict[str, None], tuple[int, ...]] = (None, {}, ())

    def guessable(self, sym: Sym) -> bool:
        return sym.kind == "method"

    # ── includes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """The file an include means: beside the including one, else the one file of the repository whose path ends so; of several
        the one whose include folder belongs to a folder above the including file."""
        angled = name[:1] == "<"
        wanted = name.strip("<>")
        folder = file.path.rpartition("/")[0]
        reads: list[int] = []
        if not angled:
            path = joined(folder, wanted) or ""
            reads.append(read_key(f"p:{path}"))
            found = types.file(path) if path and types.view.has(path) else None
            if found is not None:
                return ("M", found), tuple(reads)
        wanted = wanted.replace("/./", "/").removeprefix("./")
        while wanted.startswith("../"):
            wanted = wanted[3:]
        last = wanted.rpartition("/")[2]
        reads.append(read_key(f"t:{last.rpartition('.')[0]}"))
        path = nearest(self.ending(types, wanted, last), len(wanted), folder, angled)
        found = types.file(path) if path else None
        return (("M", found) if found is not None else ("X", name)), tuple(reads)

    def ending(self, types: Types, wanted: str, last: str) -> list[str]:
        """Paths of the family's files that end in what an include names."""
        if self._paths is None:
            self._paths = {}
            for path in types.view.paths():
                if path.endswith(HEADERS) or path.endswith(_SOURCES):
                    self._paths.setdefault(path.rpartition("/")[2], []).append(path)
        return [path for path in self._paths.get(last, ()) if path == wanted or path.endswith(f"/{wanted}")]

    def included(self, types: Types, file: File) -> tuple[list[File], bool, tuple[int, ...]]:
        """Files of the repository that a file includes, whether it includes others, with reads."""
        found, outside, reads = [], False, [read_key(f"m:{file.path}:#")]
        for entry in file.facts["imports"]:
            if entry[4] == "#":
                target, more = types.module(file, entry[2])
                reads += more
                if target[0] == "M":
                    found.append(target[1])
                elif entry[2][:1] == "<":
                    outside = True
        return found, outside, tuple(reads)

    def near(self, types: Types, file: File) -> tuple[dict[str, None], tuple[int, ...]]:
        """Paths that a file includes, and those that these include; "<" with them where something is not of the repository."""
        if self._near[0] is file:
            return self._near[1:]
        direct, outside, reads = self.included(types, file)
        paths = {one.path: None for one in direct}
        for one in direct[:NEAR]:
            below, more_outside, more = self.included(types, one)
            paths.update({other.path: None for other in below})
            outside = outside or more_outside
            reads += more
        if outside:
            paths["<"] = None
        self._near = (file, paths, tuple(dict.fromkeys(reads)))
        return self._near[1:]

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def direct(self, types: Types, file: File, name: str, count: int = -1) -> Meant:
        """What a bare name means that is called or used as a value: definitions, how certain, reads. No definitions: the name is
        not of the repository (UNRESOLVED), or they are too many to say (CANDIDATE)."""
        reads: tuple[int, ...] = (file.name_key(name),)
        own = tuple(sym for idx in file.top.get(name, ()) if self.may_be(sym := file.sym(idx)))
        if own:
            return own[:CAP], CERTAIN if len(own) == 1 else HIERARCHY, reads
        if name in ANYWHERE:
            return (), UNRESOLVED, reads
        if name in LIBRARY:
            paths, more = self.near(types, file)
            reads = (*reads, *more)
            if "<" in paths:
                return (), UNRESOLVED, reads
        reads = (*reads, read_key(f"n:{name}"))
        found = self.named(types, name)
        if found is None:
            return (), CANDIDATE, reads
        tests = self.is_test(file.path)
        open_, held = ([sym for sym in some if tests or not self.is_test(sym.file.path)] for some in found)
        if not open_ and not held:
            return self.pasted(types, file, name, reads)
        if len(open_) + len(held) == 1:
            return (*open_, *held), CERTAIN, reads
        return self.chosen(types, file, open_, held, reads)

    def pasted(self, types: Types, file: File, name: str, reads: tuple[int, ...]) -> Meant:
        """A static function of a source file that this one includes."""
        found: list[Sym] = []
        if any(entry[2].endswith(_SOURCES) for entry in file.facts["imports"]):
            direct, _, more = self.included(types, file)
            for other in direct:
                more += (other.name_key(name),)
                found += [sym for idx in other.top.get(name, ()) if self.may_be(sym := other.sym(idx))]
            reads = (*reads, *more)
        return tuple(found[:CAP]), (UNRESOLVED, CERTAIN, HIERARCHY)[min(len(found), 2)], reads

    def chosen(self, types: Types, file: File, open_: list[Sym], held: list[Sym], reads: tuple[int, ...]) -> Meant:
        """Of several definitions those whose headers a file includes."""
        paths, more = self.near(types, file)
        reads = (*reads, *more)
        seen = [sym for sym in held if sym.file.path in paths]
        stems = {path.rpartition(".")[0] for path in paths}
        paired = [sym for sym in open_ if sym.file.path.rpartition(".")[0] in stems]
        several = len({sym.file.path for sym in seen + paired})
        if several == 1 and len(seen) + len(paired) == 1 and not (seen and open_):
            return (*seen, *paired), CERTAIN, reads
        if seen or paired:
            meant = seen + (paired or open_)
            return (tuple(meant) if len(meant) <= CAP else ()), HIERARCHY if len(meant) <= CAP else CANDIDATE, reads
        meant = open_ + held
        return (tuple(meant) if len(meant) <= CAP else ()), CANDIDATE, reads

    def named(self, types: Types, name: str) -> tuple[list[Sym], list[Sym]] | None:
        """Definitions of a name that other files can mean: those linked by name, and those seen where their header is included;
        None when they are too many to look at."""
        if name in self._named:
            return self._named[name]
        places = types.view.defs(name)
        open_: list[Sym] = []
        held: list[Sym] = []
        for path, idx in places if len(places) <= MANY else ():
            file = types.file(path)
            if file is None or file.lang not in self.langs or not self.may_be(sym := file.sym(idx)):
                continue
            if "static" not in sym.flags and "macro" not in sym.flags:
                open_.append(sym)
            elif path.endswith(HEADERS):
                held.append(sym)
        answer = self._named[name] = (open_, held) if len(places) <= MANY else None
        return answer

    def may_be(self, sym: Sym) -> bool:
        """Whether a call, or a name used as a value, can mean a symbol: functions and macros, not what a macro made."""
        return sym.parent is None and sym.kind in ("function", "test") and "made" not in sym.flags


def nearest(paths: list[str], length: int, folder: str, angled: bool) -> str:
    """Of paths that end in an include's ``length`` characters the only one; else the one whose include folder, or the folder that
    holds it, is the nearest above a folder; "" where that does not tell them apart."""
    if len(paths) == 1:
        return paths[0]
    ranked: list[tuple[int, str]] = []
    for path in paths:
        root = path[: len(path) - length].rstrip("/")
        above = root.rpartition("/")[0]
        if is_above(root, folder):
            ranked.append((2 * root.count("/") + 2 * bool(root) + 1, path))
        elif root.rpartition("/")[2] in ("include", "inc", "includes", "src", "lib") and is_above(above, folder):
            ranked.append((2 * above.count("/") + 2 * bool(above), path))
    ranked.sort(reverse=True)
    return ranked[0][1] if ranked and (len(ranked) == 1 or ranked[0][0] > ranked[1][0]) else ""


def is_above(root: str, folder: str) -> bool:
    """Whether a folder is another one or stands somewhere below it."""
    return not root or folder == root or folder.startswith(f"{root}/")


def rules() -> dict[str, Any]:
    """The rules of C by language name."""
    return {"c": CRules()}
