"""Links of one file: which definition each call, reference, base and import means, in tiers, with recorded reads.

Called by the indexer for every file that is new, changed, or has a recorded read among the dirty keys. What may not come in:
storage, the order in which files are linked, and any language's rules (those are registered, see ``link_python.py``).

Tiers: ``certain`` (scopes, import chains, the MRO, inferred types, unique names that no builtin owns), ``hierarchy``
(overrides below the receiver's class), ``candidate`` (at most eight definitions of that name); what is left is ``unknown``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

from mog.engine.code.facts import KIND, META, PARENT, chains
from mog.engine.code.link_calls import CERTAIN, UNRESOLVED, Calls, spelled
from mog.engine.code.link_names import DEEP, HOPS, Value
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import FactsView, File, MemoryView, Sym, base_names, read_key, surface
from mog.engine.contracts.link import SurfaceEdge, Surfaces
from mog.engine.contracts.pack import Packs, load

__all__ = [
    "VERSION",
    "FactsView",
    "LinkEdge",
    "Linker",
    "Links",
    "MemoryView",
    "base_names",
    "read_key",
    "register",
    "surface",
]

VERSION = 4
HEIRS = 200
MANY = 128

# (source symbol or -1 for the file, target path or "", target symbol or -1 for the file or the unresolved name,
#  edge type, tier, name as written)
LinkEdge = tuple[int, str, int | str, str, int, str]

_RULES: dict[str, str] = {
    lang: f"mog.engine.code.link_{module}"
    for module, langs in {
        "python": "python",
        "ts": "javascript typescript tsx",
        "go": "go",
        "c": "c",
        "php": "php",
        "java": "java",
        "plain": "bash sql dockerfile toml",  # no inference: these rules draw a file's links themselves
        "rust": "rust",
        "csharp": "csharp",
        "cpp": "cpp",
        "ruby": "ruby",
    }.items()
    for lang in langs.split()
}


def register(lang: str, module: str) -> None:
    """Name the module whose ``rules()`` knows a language (see ``link_python.py`` for the interface)."""
    _RULES[lang] = module


@dataclass(frozen=True, slots=True)
class Links:
    """Edges out of one file, and the read keys (``read_key`` numbers, sorted) they rest on.

    An edge with target path "" goes to an unresolved node; its tier is 3 and its target is ``kind:name`` with kind
    ``external``, ``receiver`` or ``capped``. ``surfaces`` go from any symbol or file to a surface (see ``contracts/link.py``).
    """

    edges: Set[LinkEdge]
    reads: tuple[int, ...]
    surfaces: Set[SurfaceEdge] = frozenset()


class _Rules(dict[str, Any]):
    """Rules by language, loaded when the first file of that language is met; one table per linker. What is no program (settings
    that a script imports) has rules that know nothing."""

    def __missing__(self, lang: str) -> Any:
        if lang not in _RULES:
            self[lang] = importlib.import_module("mog.engine.code.link_plain").PlainRules(lang)
            return self[lang]
        loaded = importlib.import_module(_RULES[lang]).rules()
        self.update(loaded)
        return self[lang]


class Linker:
    """Links files of one state of a view. What was inferred is kept between files; make a new one after a change."""

    def __init__(self, view: FactsView, packs: Callable[[], Packs] = load) -> None:
        self.types = Types(view, _Rules())
        self.view = view
        self.surfaces = Surfaces(view, self.types, packs, _RULES.keys())
        self._found: dict[tuple[str, str, bool], tuple[list[Sym] | None, tuple[int, ...]]] = {}
        self._below: dict[tuple[Sym, bool], tuple[tuple[Sym, ...], bool, tuple[int, ...]]] = {}
        self._overriding: dict[tuple[Sym, str, bool], tuple[tuple[Sym, ...], tuple[int, ...]]] = {}

    def close(self) -> None:
        """Let go of everything that was worked out; it refers to itself, so only the cycle collector would find it."""
        self._found, self._below, self._overriding = {}, {}, {}
        self.surfaces.close()
        self.types.close()

    def link_file(self, path: str) -> Links:
        """Edges and reads of one file; a file that is not there, or whose language has no rules, has none."""
        file = self.types.file(path)
        if file is None:
            return Links(frozenset(), ())
        reads: set[int] = set()
        surfaces = self.surfaces.link(file, reads)
        if file.lang not in _RULES:
            return Links(frozenset(), tuple(sorted(reads)), surfaces)
        drawn_by = getattr(self.types.rules[file.lang], "links", None)
        if drawn_by is not None:
            edges, read = drawn_by(self.types, file)
            return Links(edges, tuple(sorted(reads | set(read))), surfaces)
        work = _FileLinks(self, file)
        work.run()
        work.reads |= reads
        if work.calls.is_test:
            # nobody else asks what a test's classes are; a repository's tests are most of its classes
            self.types.forget(file)
        return Links(work.edges, tuple(sorted(work.reads)), surfaces)

    def named(self, name: str, rules: Any, tests: bool) -> tuple[list[Sym] | None, tuple[int, ...]]:
        """Definitions of a name below module level in languages of one family, with reads; None when they are too many to see.

        Args:
            rules: rules of the language that asks.
            tests: also those in test files (code that is no test knows nothing of them).
        """
        key = (name, rules.family, tests)
        found = self._found.get(key)
        if found is None:
            places = [at for at in self.view.defs(name) if tests or not rules.is_test(at[0])]
            syms = (
                None if len(places) > MANY else [sym for at in places if (sym := self._member(at, rules.family, tests))]
            )
            found = self._found[key] = (syms, (read_key(f"n:{name}"),))
        return found

    def _member(self, at: tuple[str, int], family: str, tests: bool) -> Sym | None:
        path, idx = at
        file = self.types.file(path)
        if file is None or file.lang not in _RULES:
            return None
        row = file.facts["syms"][idx]
        if row[PARENT] < 0 and "of" not in row[META]:
            return None
        rules, sym = self.types.rules[file.lang], file.sym(idx)
        fits = rules.family == family and (tests or not rules.is_test(path)) and rules.guessable(sym)
        return sym if fits else None

    def below(self, cls: Sym, tests: bool) -> tuple[tuple[Sym, ...], bool, tuple[int, ...]]:
        """Subclasses of a class, nearest first, whether all were visited, with reads.

        Args:
            tests: also those in test files (code that is no test knows nothing of them).
        """
        key = (cls, tests)
        found = self._below.get(key)
        if found is not None:
            return found
        if not self.view.heirs(cls.name):
            found = self._below[key] = ((), True, (read_key(f"s:{cls.name}"),))
            return found
        seen: dict[Sym, None] = {}
        reads: set[int] = set()
        queue, whole = [cls], True
        while queue:
            at = queue.pop(0)
            reads.add(read_key(f"s:{at.name}"))
            heirs = self.view.heirs(at.name)
            if len(heirs) > HEIRS or len(seen) > HEIRS:
                whole = False
                continue
            for path, idx in heirs:
                file = self.types.file(path)
                if file is None or (not tests and self.types.rules[file.lang].is_test(path)):
                    continue
                heir = file.sym(idx)
                if self.types.rules[file.lang].reopens:
                    heir, _, more = self.types.rules[file.lang].whole(self.types, heir)
                    reads.update(more)
                line, _, more, _ = self.types.mro(heir)
                reads.update(more)
                if at in line and heir is not at and heir not in seen:
                    seen[heir] = None
                    queue.append(heir)
        found = self._below[key] = (tuple(seen), whole, tuple(reads))
        return found

    def overriding(self, cls: Sym, name: str, tests: bool) -> tuple[tuple[Sym, ...], tuple[int, ...]]:
        """What subclasses of a class define under a name, with the reads of asking each (those of finding them left out)."""
        key = (cls, name, tests)
        found = self._overriding.get(key)
        if found is None:
            heirs = self.below(cls, tests)[0]
            if self.types.rules[cls.file.lang].mixes:
                found = self._overriding[key] = self._mixed(cls, heirs, name)
                return found
            held = [(heir, heir.member(name)) for heir in heirs]
            syms = tuple(heir.file.sym(at[-1]) for heir, at in held if at)
            found = self._overriding[key] = (syms, tuple(heir.attr_key(name) for heir in heirs))
        return found

    def _mixed(self, cls: Sym, heirs: tuple[Sym, ...], name: str) -> tuple[tuple[Sym, ...], tuple[int, ...]]:
        """The same where a subclass may get a method from something that is no subclass itself (a trait, a second parent)."""
        plain = name.removeprefix("::")
        reads = {read_key(f"n:{plain}")}
        if not heirs or len(self.view.defs(plain)) < 2:  # nobody else has such a method
            return (), tuple(reads)
        own = self.types.find(cls, name)[1]
        syms: dict[Sym, None] = {}
        for heir in heirs:
            _, sym, _, _, more = self.types.find(heir, name)
            reads.update(more)
            if sym is not None and sym is not own:
                syms[sym] = None
        return tuple(syms), tuple(reads)


class _FileLinks:
    """The links of one file in the making."""

    def __init__(self, linker: Linker, file: File) -> None:
        self.types = linker.types
        self.file = file
        self.rules = linker.types.rules[file.lang]
        self.edges: set[LinkEdge] = set()
        self.reads: set[int] = set()
        self.calls = Calls(linker, file, self.reads)

    def run(self) -> None:
        self.imports()
        self.bases()
        add = self.edges.add
        for scope, held in self.file.facts["calls"]:
            ctx = self.types.ctx_of(self.file, scope)
            self.reads.update(ctx.reads)
            for written in chains(held):
                for path, idx, tier, name in self.calls.call(ctx, written):
                    add((scope, path, idx, "calls", tier, name))
        for scope, held in self.file.facts["refs"]:
            ctx = self.types.ctx_of(self.file, scope)
            for chain in chains(held):
                for sym, name in self.calls.reference(ctx, chain):
                    add((scope, sym.file.path, sym.idx, "references", CERTAIN, name))

    def imports(self) -> None:
        """Edges from the file to the modules it imports; a name that is a submodule counts as that module."""
        for at, entry in enumerate(self.file.facts["imports"]):
            module, attr = entry[2], entry[3]
            target, reads = self.types.module(self.file, module)
            self.reads.update(reads)
            if attr and attr != "*" and target[0] in "MN":
                values, more, _ = self.types.imported(self.file, at, HOPS)
                self.reads.update(more)
                below = [value for value in values if value[0] == "M" and value[1] is not self.file]
                if below and self.is_submodule(target, attr, below[0][1]):
                    target = below[0]
            name = entry[1] if attr != "*" else module
            if target[0] == "P":
                files, more = self.rules.imported_files(self.types, self.file, at)
                self.reads.update(more)
                self.edges |= {(-1, file.path, -1, "imports", CERTAIN, name) for file in files if file is not self.file}
                if not files:
                    whole = f"{module}.{attr}" if attr and attr != "*" else module
                    self.edges.add((-1, "", f"external:{whole}", "imports", UNRESOLVED, name))
            elif target[0] == "M":
                if target[1] is not self.file:
                    self.edges.add((-1, target[1].path, -1, "imports", CERTAIN, name))
            elif target[0] in "X?":
                self.edges.add((-1, "", f"external:{module}", "imports", UNRESOLVED, name))

    def is_submodule(self, target: Value, attr: str, below: File) -> bool:
        """Whether ``from target import attr`` means the module ``below`` itself (not a name that holds some module)."""
        if target[0] == "N":
            return True
        found, reads = self.rules.submodule(self.types, target[1], attr)
        self.reads.update(reads)
        return found is below

    def bases(self) -> None:
        for idx, row in enumerate(self.file.facts["syms"]):
            for chain in chains(row[META].get("b")) if row[KIND] == "class" else ():
                values, reads, _ = self.types.static(self.file.sym(idx), chain, DEEP)
                self.reads.update(reads)
                name = spelled(self.file, chain.rpartition(".")[2])
                for tag, what in values[:1] if "alias" not in row[META].get("x", ()) else ():
                    if tag == "C" and (what.file is not self.file or what.idx != idx):
                        self.edges.add((idx, what.file.path, what.idx, "inherits", CERTAIN, name))
                    elif tag == "X" or (tag == "P" and (what := self.rules.outside(what[1]))):
                        self.edges.add((idx, "", f"external:{what}", "inherits", UNRESOLVED, name))
