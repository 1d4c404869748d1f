"""What one call site or reference of a file means, in tiers. Called by ``link.py``; what it answers holds for every place of the
file where the same names mean the same things.

What may not come in: storage, other files' calls, a language's own rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mog.engine.code.facts import chains
from mog.engine.code.link_names import Ctx, Value
from mog.engine.code.link_types import FUEL
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
            plan = self._plans[(ctx, written)] = tuple(self.out if self.heads <= SURE else map(_one_of_several, self.out))
        return plan

    def _call(self, ctx: Ctx, written: str) -> None:
        name, equals, text = written.partition("=")
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
            done = self.method(ctx, before, attr, name) if dot else self.plain(ctx, chain, name)
            drawn = drawn or done is True
            unknown = unknown or (done is None and bool(dot))
        if unknown and not drawn:
            self.guess(ctx, name, text)

    def plain(self, ctx: Ctx, chain: str, name: str) -> bool | None:
        """A call of a bare name. True: drawn; False: it leaves the project; None: unknown."""
        if chain[0] == "?":
            self.unresolved("receiver", name, name)
            return False
        values, reads, _ = self.types.ev(ctx, chain, FUEL)
        self.reads.update(reads)
        drawn = False
        for value in values:
            drawn = self.target(value, name) or drawn
            if value[0] == "X" and not self.rules.is_builtin(value[1]):
                self.unresolved("external", value[1], name)
        return drawn

    def method(self, ctx: Ctx, before: str, attr: str, name: str) -> bool | None:
        """A call of an attribute. True: drawn; False: it leaves the project; None: the receiver is unknown."""
        values, reads, _ = self.types.ev(ctx, before, FUEL)
        self.reads.update(reads)
        drawn, outside = False, False
        for value in values:
            tag = value[0]
            if tag in "KELV":
                outside = True
            elif tag != "?":
                done = self.received(value, attr, name)
                drawn = drawn or done is True
                outside = outside or done is False
        return True if drawn else False if outside else None

    def received(self, value: Value, attr: str, name: str) -> bool | None:
        """A call of an attribute of one known value; the answer as of :meth:`method`."""
        tag, what = value
        drawn, outside, missing = False, False, True
        found, more, _ = self.types.attribute(value, attr, FUEL)
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
                self.unresolved("external", one[1], name)
            elif kind in "EKLV":
                outside = True
        if tag == "S":
            drawn = drawn or self.mixed_in(what[1], attr, name, what[1])
        elif tag == "I" or tag == "C":
            if not drawn and missing:
                drawn = self.mixed_in(what, attr, name, None)
            drawn = self.overrides(what, attr, name) or drawn
        return True if drawn else False if outside else None

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
        elif tag == "C":
            self.to(what, tier, name)
            for method in self.rules.constructors:
                _, sym, _, _, reads = self.types.find(what, method)
                self.reads.update(reads)
                if sym is not None:
                    self.to(sym, tier, name, head=False)
        elif tag == "I":
            _, sym, _, _, reads = self.types.find(what, "__call__")
            self.reads.update(reads)
            if sym is None:
                return False
            self.to(sym, tier, name)
        else:
            return False
        return True

    def to(self, sym: Sym, tier: int, name: str, head: bool = True) -> None:
        """Add a target; ``head`` is False for what comes with another one (the constructor of a class)."""
        target = (sym.file.path, sym.idx, tier, name)
        if target not in self.out:
            self.out.append(target)
            self.heads += head and tier == CERTAIN

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
        return found, whole

    def abstract(self, cls: Sym, sym: Sym, attr: str, name: str) -> None:
        """A call that finds a method which only says that it is not implemented arrives at an override: the only one for
        certain, one of several as hierarchy."""
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
            self.to(sym, HIERARCHY, name)
        return True

    # ── unknown receivers ─────────────────────────────────────────────────────────────────────────────────────────────

    def guess(self, ctx: Ctx, name: str, text: str) -> None:
        """A call whose receiver is unknown: by its name, and by what else is asked of that receiver in this file."""
        found, reads = self.linker.named(name, self.rules, self.is_test)
        self.reads.update(reads)
        if found is None:
            self.unresolved("capped", name, name)
            return
        if not found:
            self.unresolved("receiver", name, name)
            return
        if len(found) == 1 and name not in self.owned and not name.startswith("__"):
            self.to(found[0], CERTAIN, name)
            return
        best = self.duck(found, ctx, name, text) if len(found) <= 4 * CAP and "." in text else None
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
                        for chain in written.partition("=")[2].split("|") if "=" in written else written.split("|"):
                            before, _, attr = chain.rpartition(".")
                            asked.setdefault(before.rpartition(".")[2].lstrip("?"), set()).add(attr)
            self._asked = asked
        return self._asked

    # ── references ────────────────────────────────────────────────────────────────────────────────────────────────────

    def reference(self, ctx: Ctx, chain: str) -> list[tuple[Sym, str]]:
        """The functions and classes a name used as a value stands for."""
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
    return chain.rpartition(".")[2].lstrip("?")


def _receiver(text: str) -> str:
    """The last name of what a method is called on: ``self.a.b.run`` gives ``b``."""
    return text.partition("|")[0].rpartition(".")[0].rpartition(".")[2].lstrip("?")
