"""What the rules of declared languages have in common: packages that are no file, members in several files.

Called by ``link_<lang>.py``.
What may not come in: inference, edges, a rule of one language. A package is the value ``("P", (language, name))``; it exists as far
as somebody declares things in it. On top of the interface in ``link_python.py`` the linker asks these rules:

    beside(types, file, name, hops)     -> Answer          a name the file does not say: same package, global scope
    inside(types, space, name, hops)    -> Answer          a name of a package
    elsewhere(types, cls, name)         -> (Sym | None, reads)  a member that another file gives a class
    imported_files(types, file, at)     -> (files, reads)  what an import of a package leads to
    reachable(file, sym)                -> bool            whether a file can mean a definition found by name only
    implementers(types, cls, name, tests) -> (syms | None, reads)  where types are ``structural``: methods of what fits an interface
    structural  a type is what has an interface's methods; nothing overrides a method of what embeds it
    declares    a call of a method without a body arrives at it, and at what implements it by way of hierarchy
    variants    what is made by calling a variant of a type is one of that type
    transparent names of methods that hand on what a pointer, option or iterator holds
    converts    what looks like a call of a class converts a value, which calls nothing
    direct(types, file, name, count)    -> (syms, tier, reads)  what a bare name means where that is not one thing of one file (C);
                                        no symbols: not of the project (UNRESOLVED) or too many (CANDIDATE)
    implicit    a bare name may be a member of the enclosing class
    overloads   definitions of one name are told apart by how many arguments they take
    exact       a call on a class by its name is never one of its subclasses'
    sealed      what something external hands back is external too
    reopens     a class may be opened in several files (``whole(types, cls)`` puts it together), and what it has itself is kept apart
                from what its instances have (under ``::name``; ``extensions(types, cls)`` are modules that add to the former)
    mixes       a subclass may get a method from a trait or mixin, which counts as an override
    sure(text)  may a name that one definition has be certain on a receiver that is unknown and written like this
    invoke      the method that calling an instance runs
    apart       fields and methods of one name are two things
    extended    methods may be defined outside of the class they are called on: extensions(types, file, value, name, count)
    universal(cls, name^n)              -> value | None    what every class has, where it does not define it itself
    of_collection(value, name)          -> values          an attribute of a collection of the library (tag ``G``); with overloads
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.facts import META, PARENT
from mog.engine.code.link_names import (
    DEEP,
    EXTERNAL,
    HOPS,
    NO_READS,
    UNKNOWN,
    Answer,
    Module,
    Value,
    merge,
    symbol,
)
from mog.engine.code.link_rules import Rules
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

MANY = 400
FILES = 8


class DeclaredRules(Rules):
    """Rules that a language's own build upon; as they stand, packages are what files declare (``facts["space"]``).

    Attributes:
        family, langs: name of the family, and the languages in it. builtins: names that are always there. owned: names of methods
        that the standard library owns. standard: first parts of packages that are never the repository's.
    """

    family = ""
    langs: frozenset[str] = frozenset()
    constructors: tuple[str, ...] = ()
    collection = "L"
    builtins: frozenset[str] = frozenset()
    owned: frozenset[str] = frozenset()
    standard: frozenset[str] = frozenset()

    # ── what every language's rules answer ────────────────────────────────────────────────────────────────────────────

    def is_builtin(self, name: str) -> bool:
        return name in self.builtins

    def builtin_base(self, name: str) -> Value:
        return "X", name

    def guessable(self, sym: Sym) -> bool:
        """Whether a call on an unknown receiver may mean this definition: a member of a class."""
        return "of" in sym.meta or (sym.parent is not None and sym.parent.kind == "class")

    def reachable(self, file: File, sym: Sym) -> bool:
        return True

    def implementers(self, types: Types, cls: Sym, name: str, tests: bool) -> tuple[list[Sym] | None, tuple[int, ...]]:
        return [], NO_READS

    def owned_in(self, file: File) -> frozenset[str]:
        return self.owned

    def is_test(self, path: str) -> bool:
        from mog.engine.code.languages.paths import is_test_path

        return is_test_path(path)

    def external_call(self, name: str) -> tuple[Value, ...]:
        return (EXTERNAL,)

    def outside(self, space: str) -> str:
        """The full name of a package that is called like something; "" where that is no sign of a library."""
        return ""

    def universal(self, cls: Sym, name: str) -> Value | None:
        return None

    def of_collection(self, value: Value, name: str) -> tuple[Value, ...]:
        return (EXTERNAL,)

    def submodule(self, types: Types, file: File, name: str) -> tuple[File | None, tuple[int, ...]]:
        return None, ()

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """The package of that name; what it holds is asked when somebody needs it."""
        return ("P", (file.lang, name)), NO_READS

    # ── packages ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def space_of(self, file: File, idx: int) -> str:
        """The package or namespace a module-level symbol belongs to."""
        return str(file.facts["syms"][idx][META].get("ns") or file.facts.get("space") or "")

    def visible(self, file: File, idx: int, asking: File) -> bool:
        """Whether a symbol can be meant from another file."""
        return True

    def named_in(self, types: Types, space: str, name: str, asking: File | None = None) -> tuple[list[Sym], tuple[int, ...]]:
        """Module-level definitions of a name in a package, in the order of their paths."""
        places = types.view.defs(name)
        found = []
        for path, idx in places if len(places) <= MANY else ():
            file = types.file(path)
            if file is None or file.lang not in self.langs or file.facts["syms"][idx][PARENT] >= 0:
                continue
            if "of" in file.facts["syms"][idx][META] or self.space_of(file, idx) != space:
                continue
            if asking is None or (file is not asking and self.visible(file, idx, asking)):
                found.append(file.sym(idx))
        return found, (read_key(f"n:{name}"),)

    def beside(self, types: Types, file: File, name: str, hops: int) -> Answer:
        """A name of the package the file is of."""
        found, reads = self.named_in(types, str(file.facts.get("space") or ""), name, file)
        return tuple(symbol(sym) for sym in found[:1]), reads, 0

    def inside(self, types: Types, space: str, name: str, hops: int) -> Answer:
        """A name of a package: what is defined in it, else the package of that name below it."""
        found, reads = self.named_in(types, space, name)
        if found:
            return tuple(symbol(sym) for sym in found[:1]), reads, 0
        below = f"{space}.{name}" if space else name
        if name[:1].isupper():
            return (("X", below),), reads, 0
        return (("P", (min(self.langs), below)),), reads, 0

    def imported_files(self, types: Types, file: File, at: int) -> tuple[list[File], tuple[int, ...]]:
        """Files that define what an import names."""
        values, reads, _ = types.imported(file, at, HOPS)
        return [value[1].file for value in values if value[0] in "CF"], reads

    # ── members in several files ──────────────────────────────────────────────────────────────────────────────────────

    def elsewhere(self, types: Types, cls: Sym, name: str) -> tuple[Sym | None, tuple[int, ...]]:
        """A member that stands apart from its class (``of`` in its meta)."""
        reads: tuple[int, ...] = (read_key(f"n:{name}"),)
        places = types.view.defs(name)
        for path, idx in places if len(places) <= MANY else ():
            file = types.file(path)
            if file is None or file.lang not in self.langs:
                continue
            row = file.facts["syms"][idx]
            of = row[META].get("of", "")
            if not of or row[PARENT] >= 0 or not self._may_be(file, of, cls):
                continue
            values, more, _ = types.static(Module(file), of, DEEP)  # type: ignore[arg-type]
            reads = merge(reads, more)
            if ("C", cls) in values:
                return file.sym(idx), reads
        return None, reads

    def _may_be(self, file: File, of: str, cls: Sym) -> bool:
        """Whether the last name of a chain can be that of the class; renamed imports are looked at, all else is told by it."""
        last = of.rpartition(".")[2]
        return last == cls.name or last[:1] in "@%" or last in file.imports


def unknown_package(name: str) -> Answer:
    """The answer for a package that is not of the repository."""
    return (("X", name),) if name else (UNKNOWN,), NO_READS, 0


def first(values: Any, tag: str) -> Any:
    """What the first value of a tag stands for, None for none."""
    return next((what for kind, what in values if kind == tag), None)
