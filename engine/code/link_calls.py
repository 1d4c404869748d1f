"""What one call site or reference of a file means, in tiers. Called by ``link.py``; what it answers holds for every place of the
file where the same names mean the same things.

What may not come in: storage, other files' calls, a language's own rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mog.engine.code.facts import chains
from mog.engine.code.link_names import HOPS, Ctx, Value, symbol, takes
from mog.engine.code.link_overloads import namesakes, overloads
from mog.engine.code.link_types import FUEL, own_name
from mog.engine.code.link_view import File, Sym

if TYPE_CHECKING:
    from mog.engine.code.link import Linker

CAP = 8
SURE = 2
CERTAIN, HIERARCHY, CANDIDATE, UNRESOLVED = range(4)

# target path or "", symbol index or "kind:name", tier, name as written
Target = tuple[str, int | str, int, str]


class Calls:
    """Call sites and references of one file; collects targets in ``out`` and read keys in ``reads``."""

    def __init__(self, linker: Linker, file: File, reads: set[int]) -> None:
        self.linker = linker
        self.types = linker.types
        self.file = file
        self.rules = linker.types.rules[file.lang]
        self.is_test: bool = self.rules.is_test(file.path)
        self.owned: frozenset[str] = self.rules.owned_in(file)
        self.reads = reads
        self.out: list[Target] = []
        self.heads = 0
        self.count = -1  # of the arguments of the site, in languages with overloads
        self.given = ""  # their types, where known
        self.made = False  # whether a class is named that is made, in languages that say so
        self._asked: dict[str, set[str]] | None = None
        self._below: set[Sym] = set()
        self._plans: dict[tuple[Ctx, str], tuple[Target, ...]] = {}
        self._answers: dict[tuple[Sym, str], bool] = {}

    # ── call sites ────────────────────────────────────────────────────────────────────────────────────────────────────

    def call(self, ctx: Ctx, written: str) -> tuple[Target, ...]:
        """Targets of one call site (all its alternatives)."""
        plan = self._plans.get((ctx, written))
        if plan is None:
            self.out, self.heads = [], 0
            self._call(ctx, written)
            plan = self._plans[(ctx, written)] = tuple(
                self.out if self.heads <= SURE else map(_one_of_several, self.out)
            )
        return plan

    def _call(self, ctx: Ctx, written: str) -> None:
        self.count, self.given, self.made = -1, "", False
        if self.rules.overloads:
            before, caret, count = written.rpartition("^")
            if caret:
                count, _, self.given = count.partition(":")
                written, self.count = before, int(count)
        name, equals, text = written.partition("=")
        self.made = bool(equals)
        if not equals:
            text = written
        several = text.split("|") if "|" in text else [text]
        if not equals:
            name = spelled(self.file, last_name(several[0]))
        drawn = unknown = False
        for chain in several:
            if chain[-1] in ")]}*":
                unknown = True
                continue
            before, dot, attr = chain.rpartition(".")
            if not dot and self.rules.implicit and self.of_class(ctx, chain):
                before, dot, attr = "self", ".", chain
            done = self.method(ctx, before, attr, name) if dot else self.plain(ctx, chain, name)
            drawn = drawn or done is True
            unknown = unknown or (done is None and bool(dot))
        if unknown and not drawn:
            self.guess(ctx, name, text)

    def of_class(self, ctx: Ctx, name: str) -> bool:
        """Whether a bare name is a method, or a class, of the class around it."""
        if ctx.cls is None or name[0] in "@%#?" or name == "self":
            return False
        _, sym, _, _, reads = self.types.find(ctx.cls, self.counted(name))
        self.reads.update(reads)
        return sym is not None and (sym.kind != "class" or not self.rules.apart) and "constructor" not in sym.flags

    def counted(self, name: str) -> str:
        """A name with the number of arguments of the site behind it, in languages with overloads."""
        return f"{name}^{self.count}" if self.count >= 0 else name

    def plain(self, ctx: Ctx, chain: str, name: str) -> bool | None:
        """A call of a bare name. True: drawn; False: it leaves the project; None: unknown."""
        if chain[0] == "?":
            self.unresolved("receiver", name, name)
            return False
        if self.rules.direct is not None and chain.isidentifier():
            return self.meant(chain, name)
        values, reads, _ = self.types.ev(ctx, self.counted(chain), FUEL)
        self.reads.update(reads)
        drawn = False
        for value in values:
            drawn = self.target(value, name) or drawn
            if value[0] == "X" and not self.rules.is_builtin(value[1]):
                self.unresolved("external", value[1], name)
            elif value[0] == "P":
                outside = self.rules.outside(value[1][1]) if self.made else ""
                self.unresolved("external" if outside else "receiver", outside or name, name)
        if not drawn and self.rules.beside is not None and all(value[0] == "?" for value in values):
            self.unresolved("receiver", name, name)
        return drawn

    def meant(self, chain: str, name: str) -> bool:
        """A call of a bare name in a language where files do not say whose it is."""
        syms, tier, reads = self.rules.direct(self.types, self.file, chain, self.count)
        self.reads.update(reads)
        if not syms:
            self.unresolved("external" if tier == UNRESOLVED else "capped", chain, name)
        for sym in syms:
            self.target(symbol(sym), name, tier)
        return bool(syms)

    def method(self, ctx: Ctx, before: str, attr: str, name: str) -> bool | None:
        """A call of an attribute. True: drawn; False: it leaves the project; None: the receiver is unknown."""
        values, reads, _ = self.types.ev(ctx, before, FUEL)
        self.reads.update(reads)
        drawn, outside = False, False
        for value in values:
            tag = value[0]
            if self.rules.extended and tag in "IKEGP" and self.extension(value, attr, name):
                drawn = True
            elif tag in "KELV":
                outside = True
            elif tag != "?":
                own = tag == "C" and self.rules.reopens
                done = self.received(value, own_name(attr) if own else attr, name)
                drawn = drawn or done is True
                outside = outside or done is False
        if not drawn and not outside and self.rules.reopens and before in ("self", "cls"):
            return self.method(ctx, "~" if before == "self" else "~~", attr, name)
        return True if drawn else False if outside else None

    def received(self, value: Value, attr: str, name: str) -> bool | None:
        """A call of an attribute of one known value; the answer as of :meth:`method`."""
        tag, what = value
        drawn, outside, missing = False, False, True
        found, more, _ = self.types.attribute(value, self.counted(attr), FUEL)
        self.reads.update(more)
        read = self.property_read(value, attr) if tag in "IS" else None
        if read is not None:
            self.to(read, CERTAIN, name)
            drawn = True
        for one in found:
            kind = one[0]
            missing = missing and kind == "?"
            if read is not None:
                self.target(one, name, HIERARCHY)
            elif kind == "B" and tag in "IC" and "abstract" in one[1][0].flags:
                self.abstract(what, one[1][0], attr, name)
                drawn = True
            elif self.target(one, name):
                drawn = True
            elif kind == "X":
                outside = True
                if not self.rules.is_builtin(one[1]):
                    self.unresolved("external", one[1], name)
            elif kind == "P" and (space := self.rules.outside(one[1][1])):
                outside = True
                self.unresolved("external", space, name)
            elif kind in "EKLVA" or (kind == "I" and self.rules.variants):
                outside = True
        if tag == "S":
            outside = outside or not self.rules.mixed
            drawn = drawn or self.mixed_in(what[1], attr, name, what[1])
        elif (tag == "I" or tag == "C") and self.rules.structural:
            drawn = self.fitting(what, attr, name) or drawn
        elif tag == "I" or tag == "C":
            if not drawn and missing and not self.rules.declares:
                drawn = self.mixed_in(what, attr, name, None)
            if tag == "I" or not self.rules.exact:
                drawn = self.overrides(what, attr, name) or drawn
        return True if drawn else False if outside else None

    def extension(self, value: Value, attr: str, name: str) -> bool:
        """A method that is defined outside of the class it is called on; one of the class itself comes first."""
        if value[0] == "I":
            owner, _, _, _, reads = self.types.find(value[1], self.counted(attr))
            self.reads.update(reads)
            if owner is not None:
                return False
        found, reads = self.rules.extensions(self.types, self.file, value, attr, self.count)
        self.reads.update(reads)
        found = [sym for sym in found if sym.meta.get("n", (0, -1))[1] >= 0] or found
        if value[0] in "EGP" and (attr in self.owned or len(found) != 1):
            return False
        for sym in found[:CAP]:
            self.out.append((sym.file.path, sym.idx, CERTAIN if len(found) == 1 else HIERARCHY, name))
        self.heads += len(found) == 1
        return bool(found)

    def property_read(self, value: Value, attr: str) -> Sym | None:
        """The getter that reading an attribute runs, if it is a property; what that hands back is called next."""
        tag, what = value
        cls, after = what if tag == "S" else (what, None)
        _, sym, _, _, _ = self.types.find(cls, attr, after)
        return sym if sym is not None and "property" in sym.flags else None

    def target(self, value: Value, name: str, tier: int = CERTAIN) -> bool:
        """Draw what is called; False when the value is nothing of the project's that can be called."""
        tag, what = value
        if tag == "F":
            self.to(what, tier, name)
        elif tag == "B":
            self.to(what[0], tier, name)
        elif tag == "C" and self.rules.converts:
            return True
        elif tag == "C":
            own = self.types.find(what, "::new") if self.rules.reopens else None
            if own is not None and own[1] is not None:
                self.reads.update(own[4])
                self.to(own[1], tier, name)
                return True
            self.to(what, tier, name)
            for method in self.rules.constructors:
                owner, sym, _, _, reads = self.types.find(what, method or self.counted(what.name))
                self.reads.update(reads)
                if sym is not None and (method or owner is what or self.is_part(owner, what)):
                    self.to(sym, tier, name, head=False)
        elif tag == "I":
            _, sym, _, _, reads = self.types.find(what, self.types.rules[what.file.lang].invoke)
            self.reads.update(reads)
            if sym is None:
                return False
            self.to(sym, tier, name)
        else:
            return False
        return True

    def to(self, sym: Sym, tier: int, name: str, head: bool = True) -> None:
        """Add a target; ``head`` is False for what comes with another one (the constructor of a class)."""
        meant = overloads(sym, self.count, self.given, self.kin) if self.count >= 0 else (sym,)
        if len(meant) > CAP:
            self.unresolved("capped", name, name)
            return
        for one in meant:
            target = (one.file.path, one.idx, tier if len(meant) == 1 else max(tier, HIERARCHY), name)
            if not self.out or not self.is_out(target):
                self.out.append(target)
                self.heads += head and target[2] == CERTAIN

    def kin(self, place: Sym | None, name: str, other: Sym, base: str) -> bool | None:
        """Whether a type that a definition (None: this file) names is, or inherits from, one that another definition names."""
        mine, reads, _ = self.types.lookup(place.file if place is not None else self.file, name, HOPS)
        its, more, _ = self.types.lookup(other.file, base, HOPS)
        self.reads.update(reads)
        self.reads.update(more)
        if mine and its and mine[0][0] == "X" and its[0][0] == "C":
            return False  # a library knows nothing of the project's classes
        if not mine or not its or mine[0][0] != "C":
            return None
        line, known, reads, _ = self.types.mro(mine[0][1])
        self.reads.update(reads)
        if its[0][0] == "C" and its[0][1] in line:
            return True
        return False if known or its[0][0] == "C" else None

    def is_part(self, cls: Sym | None, other: Sym) -> bool:
        """Whether two definitions are parts of one class."""
        return cls is not None and "partial" in other.flags and "partial" in cls.flags and cls.name == other.name

    def is_out(self, target: Target) -> bool:
        """Whether a definition is a target already, in this tier or a surer one."""
        path, idx, tier, _ = target
        return any(held[0] == path and held[1] == idx and held[2] <= tier for held in self.out)

    def unresolved(self, kind: str, what: str, name: str) -> None:
        self.out.append(("", f"{kind}:{what}", UNRESOLVED, name))

    # ── hierarchies ───────────────────────────────────────────────────────────────────────────────────────────────────

    def heirs_with(self, cls: Sym, attr: str) -> tuple[tuple[Sym, ...], bool]:
        """What subclasses define under a name, and whether all subclasses were seen."""
        heirs, whole, reads = self.linker.below(cls, self.is_test)
        if cls not in self._below:
            self._below.add(cls)
            self.reads.update(reads)
        if not heirs:
            return (), whole
        found, asked = self.linker.overriding(cls, attr, self.is_test)
        self.reads.update(asked)
        if self.count >= 0:
            found = tuple(sym for sym in found if any(takes(one, self.count) for one in namesakes(sym)))
        return found, whole

    def abstract(self, cls: Sym, sym: Sym, attr: str, name: str) -> None:
        """A call that finds a method which only says that it is not implemented arrives at an override: the only one for
        certain, one of several as hierarchy."""
        if self.rules.declares:
            self.to(sym, CERTAIN, name)
            return
        found, whole = self.heirs_with(cls, attr)
        real = [heir for heir in found if "abstract" not in heir.flags]
        if not real and whole:
            self.to(sym, CERTAIN, name)
        elif len(real) == 1 and whole:
            self.to(real[0], CERTAIN, name)
        else:
            self.to(sym, HIERARCHY, name)

    def mixed_in(self, cls: Sym, attr: str, name: str, after: Sym | None) -> bool:
        """A method that a class does not have itself, but the classes it is mixed into do."""
        if not self.rules.mixed:
            return False
        heirs, whole, reads = self.linker.below(cls, self.is_test)
        self.reads.update(reads)
        if not whole:
            return False
        found: dict[Sym, None] = {}
        for heir in heirs:
            _, sym, _, _, more = self.types.find(heir, attr, after)
            self.reads.update(more)
            if sym is not None:
                found[sym] = None
        if not found or len(found) > CAP:
            return False
        for sym in found:
            self.to(sym, CERTAIN if len(found) == 1 else HIERARCHY, name)
        return True

    def overrides(self, cls: Sym, attr: str, name: str) -> bool:
        """Hierarchy targets: what subclasses make of a method."""
        found, whole = self.heirs_with(cls, attr)
        if not found:
            return False
        if len(found) > CAP or not whole:
            self.unresolved("capped", name, name)
            return False
        for sym in found:
            if (sym.file.path, sym.idx, CERTAIN, name) not in self.out:
                self.to(sym, HIERARCHY, name)
        return True

    def fitting(self, cls: Sym, attr: str, name: str) -> bool:
        """Hierarchy targets of a call on an interface: the methods of the types that fit it."""
        if "interface" not in cls.flags:
            return False
        found, reads = self.rules.implementers(self.types, cls, attr, self.is_test)
        self.reads.update(reads)
        if found is None or len(found) > CAP:
            self.unresolved("capped", name, name)
            return False
        for sym in found:
            self.to(sym, HIERARCHY, name)
        return bool(found)

    # ── unknown receivers ─────────────────────────────────────────────────────────────────────────────────────────────

    def guess(self, ctx: Ctx, name: str, text: str) -> None:
        """A call whose receiver is unknown: by its name, and by what else is asked of that receiver in this file."""
        found, reads = self.linker.named(name, self.rules, self.is_test)
        self.reads.update(reads)
        if found is None:
            self.unresolved("capped", name, name)
            return
        if self.rules.beside is not None:
            found = [sym for sym in found if self.rules.reachable(self.file, sym)]
        if self.count >= 0:
            found = [sym for sym in found if "extension" in sym.flags or takes(sym, self.count)]
        if not found:
            self.unresolved("receiver", name, name)
            return
        sure = self.rules.sure(text)
        if len(found) == 1 and sure and name not in self.owned and not name.startswith("__"):
            self.to(found[0], CERTAIN, name)
            return
        best = self.duck(found, ctx, name, text) if sure and len(found) <= 4 * CAP and "." in text else None
        if best is not None:
            self.to(best, CERTAIN, name)
            found = [sym for sym in found if sym is not best]
        if len(found) <= CAP:
            for sym in found:
                self.to(sym, CANDIDATE, name)
        elif best is None:
            self.unresolved("capped", name, name)

    def duck(self, found: list[Sym], ctx: Ctx, name: str, text: str) -> Sym | None:
        """The one definition whose class answers to everything this file asks of a receiver of that name.

        It must be told apart by a name that no builtin owns, neither override another definition nor be overridden, and not
        belong to the class that asks (what a wrapper wraps has the same methods).
        """
        receiver = _receiver(text)
        asked = self.asked().get(receiver, set())
        if receiver in ("self", "cls", "super()") or len(asked) < 2 or asked <= self.owned:
            return None
        parents = [(sym, sym.parent) for sym in found]
        fits = [(sym, cls) for sym, cls in parents if cls is not None and cls.kind == "class"]
        for attr in sorted(asked):
            if attr != name:
                fits = [(sym, cls) for sym, cls in fits if self.answers(cls, attr)]
        if len(fits) != 1:
            return None
        best, own = fits[0]
        line = self.types.mro(own)[0]
        if any(cls in line for sym, cls in parents if sym is not best):
            return None
        if ctx.cls is not None and (ctx.cls in line or own in self.types.mro(ctx.cls)[0]):
            return None
        overriding, whole = self.heirs_with(own, name)
        return best if whole and not overriding else None

    def answers(self, cls: Sym, attr: str) -> bool:
        known = self._answers.get((cls, attr))
        if known is None:
            owner, _, _, _, reads = self.types.find(cls, attr)
            self.reads.update(reads)
            known = self._answers[cls, attr] = owner is not None
        return known

    def asked(self) -> dict[str, set[str]]:
        """Receiver name → names called on it anywhere in this file."""
        if self._asked is None:
            asked: dict[str, set[str]] = {}
            for _, held in self.file.facts["calls"]:
                for written in chains(held):
                    if "." in written:
                        text = written.rpartition("^")[0] if self.rules.overloads else written
                        for chain in text.partition("=")[2].split("|") if "=" in text else text.split("|"):
                            before, _, attr = chain.rpartition(".")
                            asked.setdefault(before.rpartition(".")[2].lstrip("?"), set()).add(attr)
            self._asked = asked
        return self._asked

    # ── references ────────────────────────────────────────────────────────────────────────────────────────────────────

    def reference(self, ctx: Ctx, chain: str) -> list[tuple[Sym, str]]:
        """The functions and classes a name used as a value stands for."""
        if self.rules.direct is not None and chain.isidentifier():
            syms, tier, reads = self.rules.direct(self.types, self.file, chain, -1)
            self.reads.update(reads)
            return [(sym, chain) for sym in syms[:1] if tier == CERTAIN]
        values, reads, _ = self.types.ev(ctx, chain, FUEL)
        self.reads.update(reads)
        found = []
        for tag, what in values:
            sym = what[0] if tag == "B" else what if tag == "C" or tag == "F" else None
            if sym is not None:
                found.append((sym, spelled(self.file, last_name(chain))))
        return found


def _one_of_several(target: Target) -> Target:
    """A target of a site where more than two things are possible."""
    path, idx, tier, name = target
    return path, idx, HIERARCHY if tier == CERTAIN else tier, name


def spelled(file: File, head: str) -> str:
    """The name behind a pointer."""
    if head[:1] == "@" and head[1:].isdigit():
        return file.sym(int(head[1:])).name
    if head[:1] == "%" and head[1:].isdigit():
        return str(file.facts["imports"][int(head[1:])][1])
    return head


def last_name(chain: str) -> str:
    """The last name of a chain, as it was written."""
    if chain[-1] in ")]}*":
        chain = chain.rstrip("()[]{}*")
    return chain.rpartition(".")[2].lstrip("?").partition("^")[0]


def _receiver(text: str) -> str:
    """The last name of what a method is called on: ``self.a.b.run`` gives ``b``."""
    return text.partition("|")[0].rpartition(".")[0].rpartition(".")[2].lstrip("?")
