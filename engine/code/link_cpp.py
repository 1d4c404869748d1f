"""C++'s rules for the linker: namespaces, types by name, members that stand apart from their class. Called by ``link*.py``.

What may not come in: inference, edges, argument-dependent lookup. Includes and the names of functions are C's (``link_c.py``), of
which C++ chooses by namespace and by how many arguments are passed. A name with ``::`` behind it is a type or a namespace.
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.facts import META, PARENT
from mog.engine.code.link_c import CAP, CERTAIN, HIERARCHY, MANY, UNRESOLVED, CRules, Meant
from mog.engine.code.link_declared import DeclaredRules
from mog.engine.code.link_names import NO_READS, UNKNOWN, Answer, symbol, takes
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

LANG = "cpp"
STANDARD = frozenset(("std", "boost", "absl", "testing", "chrono", "filesystem"))
#: What ``using namespace std`` and argument-dependent lookup bring in everywhere.
STD_NAMES = frozenset(
    """
    accumulate advance all_of any_of begin bind cbegin cend copy copy_if copy_n count count_if data declval distance emplace end
    equal exchange fill fill_n find find_if for_each forward function get get_if holds_alternative inserter is_sorted iota
    lexicographical_compare lower_bound make_pair make_shared make_tuple make_unique max max_element min min_element minmax move next
    nth_element ostringstream pair partial_sort prev rbegin ref remove_if rend replace reverse rotate size sort stable_sort stoi stol
    string stringstream swap thread tie to_string transform tuple unique upper_bound vector visit
    """.split()
)
OWNED = frozenset(
    """
    append assign at back begin c_str capacity cbegin cend clear close compare contains count data detach emplace emplace_back empty end
    erase exchange fail fetch_add find first flush front get good has_value insert is_open join joinable length load lock max min
    native_handle notify_all notify_one open operator= operator[] owns_lock pop pop_back pop_front push push_back push_front rbegin read
    release rend replace reserve reset resize rfind second seekg seekp size start stop store str substr swap tellg test top try_lock
    unlock use_count value value_or wait what write
    """.split()
)


class CppRules(CRules):
    """Rules of C++."""

    constructors = ("",)
    implicit = True
    overloads = True
    owned = OWNED

    def __init__(self) -> None:
        super().__init__()
        self._typed: dict[str, list[Sym] | None] = {}

    def guessable(self, sym: Sym) -> bool:
        """A method; a constructor is called by its class's name only."""
        return sym.kind == "method" and (sym.parent is None or sym.parent.name != sym.name)

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def may_be(self, sym: Sym) -> bool:
        """A function, macro or class of a file or namespace; what stands apart from its class is no name of its own."""
        called = sym.kind in ("function", "test", "class")
        return called and sym.parent is None and "of" not in sym.meta and not {"made", "declared"} & set(sym.flags)

    def direct(self, types: Types, file: File, name: str, count: int = -1) -> Meant:
        """What a bare name means, chosen by namespace and by the number of arguments."""
        if name in STD_NAMES and not any(self.may_be(file.sym(idx)) for idx in file.top.get(name, ())):
            return (), UNRESOLVED, (file.name_key(name),)
        bound = file.binds.get(name)
        if bound and name not in file.top:
            return self.used(types, file, name, bound)
        meant, tier, reads = super().direct(types, file, name, count)
        if len(meant) < 2:
            return meant, tier, reads
        kept = [sym for sym in meant if sym.kind == "class" or takes(sym, count)] if count >= 0 else list(meant)
        kept = self.of_space(file, kept or list(meant))
        if len({(sym.file.path, sym.meta.get("ns")) for sym in kept}) == 1 and self.alike(kept):
            # overloads of one place: the count of arguments chooses where they are drawn
            return tuple(kept[:1]), CERTAIN, reads
        return tuple(kept), CERTAIN if len(kept) == 1 else tier or HIERARCHY, reads

    def alike(self, syms: list[Sym]) -> bool:
        """Whether all are functions, told apart by what they take, or there is one only."""
        return len(syms) == 1 or all(sym.kind != "class" and "macro" not in sym.flags for sym in syms)

    def used(self, types: Types, file: File, name: str, bound: Any) -> Meant:
        """``using a::f``: what that names; a variable that is called is not known."""
        values, reads, _ = types.lookup(file, name, 4)
        found: list[Sym] = []
        for tag, what in values:
            if tag == ">" and not what[1].endswith(("()", "*", "?")) and what[1][0] not in "?#":
                more, more_reads, _ = types.ev(types.ctx(file, None, None), what[1], 3)
                reads = (*reads, *more_reads)
                found += [held for kind, held in more if kind in "CF"]
        return tuple(found[:CAP]), CERTAIN if len(found) == 1 else HIERARCHY if found else UNRESOLVED, reads

    def spaces(self, file: File) -> dict[str, None]:
        """Namespaces a file is in, or uses, with those around them."""
        held = file.memo.get("\0spaces")
        if held is None:
            names = {str(row[META]["ns"]) for row in file.facts["syms"] if "ns" in row[META]}
            names |= {entry[2] for entry in file.facts["imports"] if entry[4] == "u"}
            held = {"": None}
            for name in sorted(names):
                while name:
                    held[name] = None
                    name = name.rpartition(".")[0]
            file.memo["\0spaces"] = held
        return held

    def of_space(self, file: File, syms: list[Sym]) -> list[Sym]:
        """Those in namespaces that a file is in or uses; all where there is none."""
        spaces = self.spaces(file)
        inner = [sym for sym in syms if sym.meta.get("ns", "") in spaces]
        return inner or syms

    # ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def types_named(self, types: Types, name: str) -> list[Sym] | None:
        """Classes of files and namespaces that have a name; None for too many."""
        if name not in self._typed:
            places = types.view.defs(name)
            found: list[Sym] | None = [] if len(places) <= MANY else None
            for path, idx in places if found is not None else ():
                file = types.file(path)
                if file is None or file.lang not in self.langs or file.facts["syms"][idx][PARENT] >= 0:
                    continue
                sym = file.sym(idx)
                if sym.kind == "class" and "of" not in sym.meta and found is not None:
                    found.append(sym)
            self._typed[name] = found
        return self._typed[name]

    def named_type(self, types: Types, file: File, name: str) -> tuple[Sym | None, tuple[int, ...]]:
        """The class a name means in a file: the only one; else of those in its namespaces the one it includes."""
        reads: tuple[int, ...] = (read_key(f"n:{name}"),)
        found = self.types_named(types, name)
        tests = self.is_test(file.path)
        found = [sym for sym in found or () if tests or not self.is_test(sym.file.path)]
        if len(found) > 1:
            found = self.of_space(file, found)
        if len(found) > 1:
            real = [sym for sym in found if "alias" not in sym.flags]
            found = real or found
        if len(found) > 1:
            paths, more = self.near(types, file)
            reads = (*reads, *more)
            found = [sym for sym in found if sym.file.path in paths]
        return (found[0] if len(found) == 1 else None), reads

    def beside(self, types: Types, file: File, name: str, hops: int) -> Answer:
        """A name the file does not say: a class of another file; before ``::`` also a namespace."""
        plain = name.removesuffix("::")
        space = plain != name
        if space and plain in file.top:
            own = [file.sym(idx) for idx in file.top[plain] if file.sym(idx).kind == "class"]
            if own:
                return (symbol(own[0]),), (file.name_key(plain),), 0
        if plain in STANDARD:
            return (("X", plain),), NO_READS, 0
        sym, reads = self.named_type(types, file, plain)
        if sym is not None:
            return (symbol(sym),), reads, 0
        return ((("P", (LANG, plain)),) if space else ()), reads, 0

    def inside(self, types: Types, space: str, name: str, hops: int) -> Answer:
        """A name of a namespace: what is defined in it, or in one whose name ends so; else the namespace below."""
        reads = (read_key(f"n:{name}"),)
        found: list[Sym] = []
        places = types.view.defs(name)
        for path, idx in places if len(places) <= MANY else ():
            file = types.file(path)
            if file is not None and file.lang in self.langs and self.may_be(sym := file.sym(idx)):
                own = str(sym.meta.get("ns", ""))
                if own == space or own.endswith(f".{space}") or own.startswith(f"{space}."):
                    found.append(sym)
        exact = [sym for sym in found if sym.meta.get("ns") == space]
        found = exact or found
        if found and len({(sym.file.path, sym.meta.get("ns")) for sym in found}) == 1:
            return (symbol(found[0]),), reads, 0
        if found:
            return (UNKNOWN,), reads, 0
        if space.partition(".")[0] in STANDARD:
            return (("X", f"{space}.{name}"),), reads, 0
        return (("P", (LANG, f"{space}.{name}")),), reads, 0

    def elsewhere(self, types: Types, cls: Sym, name: str) -> tuple[Sym | None, tuple[int, ...]]:
        """The definition of a member that stands apart from its class; macros may hide that the class declares it."""
        return DeclaredRules.elsewhere(self, types, cls, name)


def rules() -> dict[str, Any]:
    """The rules of C++ by language name."""
    return {"cpp": CppRules()}
