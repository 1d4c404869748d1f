"""What a chain evaluates to: attributes, calls, items, on top of the names of ``link_names.py``. Called by ``link.py``.

What may not come in: edges, tiers, SQL, unbounded recursion. Every step that goes from one entity to what it yields (a
binding, a return value, an attribute's value) spends one unit of fuel, so cycles end, and the answer of a question depends on
the question and its fuel only, never on the order of questions (the incremental result equals the full one).
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.facts import chains
from mog.engine.code.link_names import (
    DEEP,
    DONT_KNOW,
    EXTERNAL,
    HOPS,
    MORE,
    NO_READS,
    SPENT,
    UNKNOWN,
    Answer,
    Ctx,
    Names,
    Value,
    merge,
    symbol,
)
from mog.engine.code.link_view import Sym, read_key

FUEL = 5
WIDE = 6
# methods of an array (tag A) that give one of its items, or a collection of the same items
# of arrays and, in the second lines, of slices and iterators of Rust
ITEM_OF = frozenset(
    "pop shift find findLast at get"
    " first last next next_back nth peek first_mut last_mut pop_front pop_back front back get_mut min_by max_by min_by_key max_by_key"
    " remove swap_remove iter_next recv try_recv entry or_insert or_insert_with or_default".split()
)
SAME_AS = frozenset(
    "filter slice concat reverse sort splice values flat toSorted toReversed toSpliced with"
    " iter iter_mut into_iter rev skip take step_by take_while skip_while chain peekable enumerate inspect cycle fuse collect clone"
    " cloned copied by_ref drain values_mut into_values as_slice as_mut_slice to_vec as_ref as_mut unwrap expect lock read write borrow"
    " borrow_mut to_owned windows chunks unwrap_or_default unwrap_or into as_deref ok into_boxed_slice range".split()
)


class Types(Names):
    """Evaluation over one state of a view; build a new one after the view changed."""

    # ── chains ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def ev(self, ctx: Ctx, chain: str, fuel: int) -> Answer:
        """The values of a chain in a context."""
        memo = ctx.memo
        hit = memo.get(chain)
        if hit is not None and hit[2] <= fuel:
            return hit
        hit = memo.get((chain, fuel))
        if hit is not None:
            return hit
        answer = self._ev(ctx, chain, fuel)
        memo[chain if answer[2] <= fuel else (chain, fuel)] = answer
        return answer

    def _ev(self, ctx: Ctx, chain: str, fuel: int) -> Answer:
        last = chain[-1]
        if last == ")":
            if chain == "super()":
                return self._super(ctx)
            base = self.ev(ctx, chain[:-2], fuel)
            if self.rules[ctx.file.lang].sealed and all(value[0] in "EX" for value in base[0]):
                return (EXTERNAL,), base[1], base[2]
            return self._each(base, self._stepped(ctx, self.called), fuel)
        if last == "}":
            return self._each(self.ev(ctx, chain[:-2], fuel), self._stepped(ctx, self.item), fuel)
        if last == "]":
            return self._each(self.ev(ctx, chain[:-2], fuel), self._stepped(ctx, self.subscript), fuel)
        if last == "*":
            rules = self.rules[ctx.file.lang]
            # in declared languages each star is one level, a mapping's too
            held = chain.rstrip("*") if rules.beside is None else chain[:-1]
            values, reads, need = self.ev(ctx, held, fuel)
            return ((rules.collection, values if rules.collection != "G" else (ctx.file.lang, values)),), reads, need
        before, dot, name = chain.rpartition(".")
        if dot:
            values, reads, need = self.ev(ctx, before, fuel)
            if ctx.apart and "^" not in name:
                name = f".{name}"
            return self._attributes(values, reads, need, name, fuel)
        return self.head(ctx, chain, fuel)

    def _stepped(self, ctx: Ctx, step: Any) -> Any:
        """A step that stays outside with what is outside, in languages whose values have types."""
        if self.rules[ctx.file.lang].beside is None:
            return step
        return lambda value, fuel: ((value,), NO_READS, 0) if value[0] == "E" else step(value, fuel)

    def _each(self, base: Answer, step: Any, fuel: int) -> Answer:
        values, reads, need = base
        if len(values) == 1:
            more, more_reads, used = step(values[0], fuel)
            return more, merge(reads, more_reads), used if used > need else need
        found: dict[Value, None] = {}
        for value in values:
            more, more_reads, used = step(value, fuel)
            found.update(dict.fromkeys(more))
            reads = merge(reads, more_reads)
            need = max(need, used)
        return _narrow(found), reads, need

    def _attributes(self, values: tuple[Value, ...], reads: tuple[int, ...], need: int, name: str, fuel: int) -> Answer:
        if len(values) == 1:
            more, more_reads, used = self.attribute(values[0], name, fuel)
            return more, merge(reads, more_reads), used if used > need else need
        found: dict[Value, None] = {}
        for value in values:
            more, more_reads, used = self.attribute(value, name, fuel)
            found.update(dict.fromkeys(more))
            reads = merge(reads, more_reads)
            need = max(need, used)
        return _narrow(found), reads, need

    def head(self, ctx: Ctx, head: str, fuel: int) -> Answer:
        """The values of a chain's first name."""
        first, own, asked = head[0], NO_READS, head
        if "^" in head:
            head = head.partition("^")[0]
        elif ctx.apart and first not in "@%#?":
            asked = f".{head}"
        if first == "@":
            return (symbol(ctx.file.sym(int(head[1:]))),), NO_READS, 0
        if first == "%":
            values, reads, _ = self.imported(ctx.file, int(head[1:]), HOPS)
            return self._settled(values, reads, fuel)
        if first == "#":
            return (("K", head[1:]),), NO_READS, 0
        if first == "?":
            return DONT_KNOW
        if head == "self":
            return ((("I", ctx.cls),), NO_READS, 0) if ctx.cls is not None else DONT_KNOW
        if head == "cls":
            return ((("C", ctx.cls),), NO_READS, 0) if ctx.cls is not None else DONT_KNOW
        if ctx.scope is not None:
            local = self._local(ctx, head, fuel)
            if local is not None:
                return local
        if ctx.cls is not None and self.rules[ctx.file.lang].implicit:
            answer = self._member(ctx, asked.partition("`")[0], fuel)
            if answer[0]:
                return answer
            own = answer[1]
        values, reads, _ = self.lookup(ctx.file, head, HOPS)
        reads = merge(own, reads)
        if not values:
            if self.rules[ctx.file.lang].is_builtin(head):
                return (("X", head),), reads, 0
            return (UNKNOWN,), reads, 0
        return self._settled(values, reads, fuel)

    def _local(self, ctx: Ctx, head: str, fuel: int) -> Answer | None:
        """A local name of the enclosing functions, in languages whose facts leave locals to the linker."""
        scope = ctx.scope
        while scope is not None and scope.kind != "class":
            held = scope.meta.get("l")
            if held and head in held:
                known = [c for c in chains(held[head]) if c != "?"]
                if not known:
                    return DONT_KNOW
                if fuel <= 0:
                    return SPENT
                return self.all(ctx, known, fuel - 1)
            nested = scope.member(head)
            if nested:
                return (symbol(scope.file.sym(nested[-1])),), NO_READS, 0
            scope = scope.parent
        return None

    def _member(self, ctx: Ctx, name: str, fuel: int) -> Answer:
        """A bare name as a member of the classes around it, the innermost first; no values where none has it."""
        reads = ctx.reads
        cls, around = ctx.cls, ctx.definer or ctx.cls
        while cls is not None:
            if cls.kind == "class":
                owner, sym, _, _, more = self.find(cls, name)
                reads = merge(reads, more)
                if owner is not None and not (sym is not None and "constructor" in sym.flags):
                    values, more, need = self.owned(cls, name, None, False, fuel)
                    return values, merge(reads, more), need
            cls = around = around.parent if around is not None else None
        return (), reads, 0

    def _settled(self, values: tuple[Value, ...], reads: tuple[int, ...], fuel: int) -> Answer:
        """Values with bindings evaluated."""
        for value in values:
            if value[0] == ">":
                break
        else:
            return values, reads, 0
        if fuel <= 0:
            return (UNKNOWN,), reads, MORE
        found: dict[Value, None] = {}
        need = 0
        for value in values:
            if value[0] != ">":
                found[value] = None
                continue
            file, chain = value[1]
            more, more_reads, used = self.ev(self.ctx(file, None, None), chain, fuel - 1)
            found.update(dict.fromkeys(more))
            reads = merge(reads, more_reads)
            need = max(need, used + 1)
        return _narrow(found), reads, min(need, MORE)

    def all(self, ctx: Ctx, several: list[str], fuel: int) -> Answer:
        """The union of several chains; the caller has paid the fuel, so ``need`` counts one more."""
        found: dict[Value, None] = {}
        reads: tuple[int, ...] = NO_READS
        need = 0
        for chain in several:
            more, more_reads, used = self.ev(ctx, chain, fuel)
            found.update(dict.fromkeys(more))
            reads = merge(reads, more_reads)
            need = max(need, used)
        return _narrow(found), reads, min(need + 1, MORE)

    def _super(self, ctx: Ctx) -> Answer:
        if ctx.definer is None or ctx.cls is None:
            return DONT_KNOW
        return (("S", (ctx.cls, ctx.definer)),), NO_READS, 0

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def attribute(self, value: Value, name: str, fuel: int) -> Answer:
        """What ``value.name`` is."""
        tag, what = value
        if tag == "I":
            if name == "__class__":
                return (("C", what),), NO_READS, 0
            return self.owned(what, name, None, False, fuel)
        if tag == "C":
            if name == "__class__":
                return DONT_KNOW
            if name[0] == "$" and name[1:2].isdigit():
                _, held, _, _, reads = self.find(what, "constructor")
                found, more, need = self._callback(held, what, name, fuel) if held else DONT_KNOW
                return found, merge(reads, more), need
            if self.rules[what.file.lang].reopens:
                name = own_name(name)
            return self.owned(what, name, None, True, fuel)
        if tag == "S":
            return self.owned(what[0], name, what[1], False, fuel)
        if tag == "X" and name[0] == "$":
            return (EXTERNAL,), NO_READS, 0
        if tag in "MNP" or tag == "X":
            name = name.lstrip(".").partition("^")[0]
            values, reads, need = self.member(value, name, what if tag == "M" else None, HOPS)  # type: ignore[arg-type]
            if tag in "MP":
                return self._settled(values, reads, fuel)
            return values, reads, need
        if tag == "K" or tag == "E":
            return (EXTERNAL,), NO_READS, 0
        if tag == "G":
            return self.rules[what[0]].of_collection(value, name.lstrip(".")), NO_READS, 0
        if tag == "L":
            return (("V", what if name != "values" else (("L", what),)),), NO_READS, 0
        if tag == "A":
            bare = name.partition("^")[0]
            return (("V", what) if bare in ITEM_OF else ("V", (value,)) if bare in SAME_AS else EXTERNAL,), NO_READS, 0
        if name[0] == "$" and tag in "FB":
            return self._callback(what if tag == "F" else what[0], what[1] if tag == "B" else None, name, fuel)
        return DONT_KNOW

    def _callback(self, sym: Sym, cls: Sym | None, name: str, fuel: int) -> Answer:
        """``f.$1$0``: what the first parameter of a function passed to ``f`` as its second argument is declared to be."""
        reads = (read_key(f"f:{sym.file.path}:{sym.qual}"),)
        argument, _, parameter = name[1:].partition("$")
        declared = sym.meta.get("cb", {}).get(argument, ())
        if not parameter.isdigit() or int(parameter) >= len(declared):
            return (UNKNOWN,), reads, 0
        if fuel <= 0:
            return (UNKNOWN,), reads, MORE
        known = [c for c in chains(declared[int(parameter)]) if c != "#None"]
        values, more, used = self.all(self._inside(sym, cls), known, fuel - 1)
        return values, merge(reads, more), used

    def owned(self, cls: Sym, name: str, after: Sym | None, of_class: bool, fuel: int) -> Answer:
        """An attribute of a class or its instances, through the MRO."""
        owner, sym, text, known, reads = self.find(cls, name, after)
        if owner is None:
            return self._not_found(cls, name, of_class, known, reads, fuel)
        if sym is not None:
            if sym.kind == "class":
                return (("C", sym),), reads, 0
            if "property" in sym.flags and not of_class:
                if fuel <= 0:
                    return (UNKNOWN,), reads, MORE
                more, more_reads, used = self.returned(sym, cls, fuel - 1)
                return more, merge(reads, more_reads), min(used + 1, MORE)
            return (("B", (sym, cls)),), reads, 0
        if text in ("?", "#None"):
            return (UNKNOWN,), reads, 0
        if fuel <= 0:
            return (UNKNOWN,), reads, MORE
        more, more_reads, used = self.all(self.ctx(owner.file, owner, cls), text.split(" "), fuel - 1)
        return more, merge(reads, more_reads), used

    def _not_found(self, cls: Sym, name: str, of_class: bool, known: bool, reads: tuple[int, ...], fuel: int) -> Answer:
        rules = self.rules[cls.file.lang]
        if rules.reopens and name[:2] == "::":
            modules, more = rules.extensions(self, cls)
            reads = merge(reads, more)
            for module in modules:
                found, more, used = self.owned(module, name[2:], None, False, fuel)
                reads = merge(reads, more)
                if found[0][0] not in "?E":
                    return found, reads, used
            return ((EXTERNAL,) if not known else (UNKNOWN,)), reads, 0
        bare = name.partition("^")[0]
        if bare in rules.transparent:
            return (("V", (("I", cls),)),), reads, 0
        if rules.transparent and bare in rules.owned:  # asked of the pointer or option around it
            return (EXTERNAL,), reads, 0
        if of_class:
            meta, more = self.metaclass(cls)
            reads = merge(reads, more)
            if meta is not None:
                found, more, used = self.owned(meta, name, None, False, fuel)
                return found, merge(reads, more), used
        if known and "^" in name and (universal := rules.universal(cls, name)) is not None:
            return (universal,), reads, 0
        return ((EXTERNAL,) if not known else (UNKNOWN,)), reads, 0

    def metaclass(self, cls: Sym) -> tuple[Sym | None, tuple[int, ...]]:
        """The project's metaclass of a class, from its MRO, with reads."""
        line, _, reads, _ = self.mro(cls)
        for owner in line:
            for chain in chains(owner.meta.get("m")):
                values, more, _ = self.static(owner, chain, DEEP)
                reads = merge(reads, more)
                for value in values:
                    if value[0] == "C":
                        return value[1], reads
        return None, reads

    def called(self, value: Value, fuel: int) -> Answer:
        """What calling a value hands back."""
        tag, what = value
        if tag == "C":
            return (("I", what),), NO_READS, 0
        if tag == "B" or tag == "F":
            if fuel <= 0:
                return SPENT
            sym, cls = what if tag == "B" else (what, None)
            more, reads, used = self.returned(sym, cls, fuel - 1)
            return more, reads, min(used + 1, MORE)
        if tag == "I":
            _, sym, _, _, reads = self.find(what, self.rules[what.file.lang].invoke)
            if sym is None:
                return ((value,) if self.rules[what.file.lang].variants else (UNKNOWN,)), reads, 0
            more, more_reads, used = self.called(("B", (sym, what)), fuel)
            return more, merge(reads, more_reads), used
        if tag == "X":
            return self.rules["python"].external_call(what), NO_READS, 0
        if tag == "V":
            return what, NO_READS, 0
        if tag == "P":
            return (EXTERNAL,), NO_READS, 0
        return DONT_KNOW

    def returned(self, sym: Sym, cls: Sym | None, fuel: int) -> Answer:
        """What a function gives back when its ``self`` is an instance of ``cls``."""
        meta = sym.meta
        written = meta.get("r")
        yielded = meta.get("y")
        ctx = self._inside(sym, cls)
        reads = (read_key(f"f:{sym.file.path}:{sym.qual}"), *ctx.reads)
        if yielded and (not written or "#" in written or written == "?"):
            values, more, used = self.all(ctx, chains(yielded), fuel)
            tag: Value = ("V", values) if "context" in sym.flags else ("L", values)
            return (tag,), merge(reads, more), used - 1 if used < MORE else used
        known = [c for c in chains(written) if c != "#None"] if written else []
        if not known:
            return (UNKNOWN,), reads, 0
        values, more, used = self.all(ctx, known, fuel)
        return values, merge(reads, more), used - 1 if used < MORE else used

    def _inside(self, sym: Sym, cls: Sym | None) -> Ctx:
        return self.ctx_of(sym.file, sym.idx, cls)

    def item(self, value: Value, fuel: int) -> Answer:
        """One item of an iteration over a value."""
        if value[0] in "LA":
            return value[1], NO_READS, 0
        if value[0] == "G":
            return value[1][1], NO_READS, 0
        if value[0] == "I":
            found, reads, need = self.attribute(value, self.rules[value[1].file.lang].iterates, fuel)
            if found and found[0][0] == "B":
                answer = self.called(found[0], fuel)
                items = [v for one in answer[0] if one[0] in "LG" for v in (one[1] if one[0] == "L" else one[1][1])]
                return tuple(items) or (UNKNOWN,), merge(reads, answer[1]), max(need, answer[2])
            return _items(found), reads, need
        return DONT_KNOW

    def subscript(self, value: Value, fuel: int) -> Answer:
        """What ``value[…]`` is."""
        if value[0] in "LA":
            return value[1], NO_READS, 0
        if value[0] == "G":
            return value[1][1], NO_READS, 0
        if value[0] == "I":
            found, reads, need = self.attribute(value, self.rules[value[1].file.lang].subscripted, fuel)
            if found and found[0][0] == "B":
                answer = self.called(found[0], fuel)
                return answer[0], merge(reads, answer[1]), max(need, answer[2])
            return _items(found), reads, need
        if value[0] == "C":
            return (value,), NO_READS, 0
        return DONT_KNOW


def _items(found: tuple[Value, ...]) -> tuple[Value, ...]:
    """Items of a class that is said to be a collection (its attribute holds one, a method would make one)."""
    return found[0][1] if found and found[0][0] in "LA" else (UNKNOWN,)


def own_name(name: str) -> str:
    """The name under which a class that may be opened in several files has something itself."""
    return name if name[:2] == "::" else f"::{name}"


def _narrow(found: dict[Value, None]) -> tuple[Value, ...]:
    """At most a handful of values; too many is the same as unknown."""
    if len(found) > 1:
        found.pop(("K", "None"), None)
    return tuple(found) if 0 < len(found) <= WIDE else (UNKNOWN,)


