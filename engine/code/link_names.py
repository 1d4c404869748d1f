"""What names stand for across files: module-level bindings, imports, base classes, attributes through the MRO.

Called by ``link_types.py``, which evaluates whole chains on top of it, and by ``link.py``; asks a language's rules for modules.
What may not come in: inference, edges, tiers, unbounded recursion. Every step that goes from one file or class to the next is
counted down, so cycles end and an answer depends on its question only, never on the order of questions.

An answer is ``(values, reads, need)``: possible values, the read keys it rests on, and how much of what is counted down it
needed (``MORE`` when that ran out). A value is a pair of a tag and what it tags:

    C class    I instance    B (function, receiver class)    F function    S (class, after) super()
    M file     N (module name, path) package without a file    P (language, name) package of a declared language
    X external name    E attribute or result of something external
    P (language, name) package or namespace of a declared language
    K name of a builtin type (instance)    L values of a collection    A the same, an array of JavaScript
    G (language, values) a collection or wrapper of a language's library, whose rules know what comes out of it
    V values it hands out when called      > (file, chain) a binding not yet evaluated             ? unknown
"""

from __future__ import annotations

from typing import Any

from mog.engine.code.facts import KIND, META, PARENT, STUBS, chains, read_of
from mog.engine.code.link_view import CONSTANTS, FactsView, File, Sym, is_plain, read_key

HOPS = 12
_SIGNS = str.maketrans("$\\~`:/>!", "________")  # of names: variables, namespaces of PHP, counts of type parameters, constants of Ruby
DEEP = 20
MORE = 1 << 20
SHORT = 12

Value = tuple[str, Any]
Answer = tuple[tuple[Value, ...], tuple[int, ...], int]
Found = tuple[Sym | None, Sym | None, str, bool, tuple[int, ...]]

UNKNOWN: Value = ("?", "")
NO_READS: tuple[int, ...] = ()
DONT_KNOW: Answer = ((UNKNOWN,), NO_READS, 0)
NOTHING: Answer = ((), NO_READS, 0)
SPENT: Answer = ((UNKNOWN,), NO_READS, MORE)
EXTERNAL: Value = ("E", "")
class Ctx:
    """Where a chain is evaluated: file, class whose body it stands in, class of ``self``, scope symbol (for locals); and the reads
    that finding the class took."""

    __slots__ = ("file", "definer", "cls", "scope", "memo", "reads", "apart")

    def __init__(self, file: File, definer: Sym | None, cls: Sym | None, scope: Sym | None) -> None:
        self.file = file
        self.definer = definer
        self.cls = cls
        self.scope = scope
        self.memo: dict[Any, Answer] = {}
        self.reads: tuple[int, ...] = NO_READS
        self.apart = False  # whether fields and methods of one name are two things here


def merge(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """Union of two sets of read keys; a short one may hold a key twice, which costs less than looking for it."""
    if not first or first is second:
        return second
    if not second:
        return first
    if len(first) + len(second) <= SHORT:
        return first + second
    return tuple({*first, *second})


class Names:
    """Evaluation over one state of a view. It builds and caches the files it meets; build a new one after the view changed."""

    def __init__(self, view: FactsView, rules: dict[str, Any]) -> None:
        self.view = view
        self.rules = rules
        self._files: dict[str, File | None] = {}
        self._ctxs: dict[tuple[Any, ...], Ctx] = {}

    def file(self, path: str) -> File | None:
        """The file with its tables, or None when it is not indexed."""
        if path in self._files:
            return self._files[path]
        facts = self.view.facts(path)
        found = self._files[path] = File(path, facts) if facts is not None else None
        return found

    def forget(self, file: File) -> None:
        """Drop what was worked out inside a file; asked again, it is worked out again."""
        for ctx in file.ctxs.values():
            ctx.memo.clear()
        for sym in file.made():
            sym.memo.clear()

    def close(self) -> None:
        """Break the circles between files, symbols and contexts."""
        for file in filter(None, self._files.values()):
            file.close()
        for ctx in self._ctxs.values():
            ctx.memo.clear()
        self._files, self._ctxs = {}, {}

    # ── contexts ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def ctx(self, file: File, definer: Sym | None, cls: Sym | None, scope: Sym | None = None) -> Ctx:
        """The context of a place; shared by all places where the same names mean the same things."""
        key = (file.path, definer, cls, scope)
        found = self._ctxs.get(key)
        if found is None:
            found = self._ctxs[key] = Ctx(file, definer, cls, scope)
            found.apart = self.rules[file.lang].apart
        return found

    def ctx_of(self, file: File, idx: int, cls: Sym | None = None) -> Ctx:
        """The context of code inside symbol ``idx`` (-1: module level)."""
        rows, scope = file.facts["syms"], -1
        while idx >= 0:
            row = rows[idx]
            if row[KIND] == "class" or (not is_plain(row) and row[KIND] in CONSTANTS):
                break
            if scope < 0 and "l" in row[META]:
                scope = idx
            if "of" in row[META]:
                return self._apart(file, idx, cls)
            idx = row[PARENT]
        if idx >= 0 and cls is None and self.rules[file.lang].reopens:
            return self._opened(file, file.sym(idx))
        if cls is not None or scope >= 0:
            definer = file.sym(idx) if idx >= 0 else None
            return self.ctx(file, definer, cls or definer, file.sym(scope) if scope >= 0 else None)
        found = file.ctxs.get(idx)
        if found is None:
            definer = file.sym(idx) if idx >= 0 else None
            found = file.ctxs[idx] = self.ctx(file, definer, definer)
        return found

    def _opened(self, file: File, definer: Sym) -> Ctx:
        """The context of one of several openings of a class: ``self`` is of the whole."""
        whole, _, reads = self.rules[file.lang].whole(self, definer)
        made = self.ctx(file, definer, whole)
        made.reads = merge(made.reads, reads) if not made.reads else made.reads
        return made

    def _apart(self, file: File, idx: int, cls: Sym | None) -> Ctx:
        """The context of a method that stands apart from its class."""
        values, reads, _ = self.static(Module(file), file.facts["syms"][idx][META]["of"], DEEP)  # type: ignore[arg-type]
        definer = values[0][1] if values and values[0][0] == "C" else None
        made = self.ctx(file, definer, cls or definer)
        made.reads = merge(made.reads, reads)
        return made

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def lookup(self, file: File, name: str, hops: int) -> Answer:
        """What a module-level name of a file stands for; values may be ``(">", (file, chain))``, a binding not yet evaluated.

        Empty values: the module does not say. Builtins are the caller's business.
        """
        memo = file.memo
        hit = memo.get(name)
        if hit is not None and hit[2] <= hops:
            return hit  # type: ignore[no-any-return]
        hit = memo.get((name, hops))
        if hit is not None:
            return hit  # type: ignore[no-any-return]
        answer = self._lookup(file, name, hops)
        memo[name if answer[2] <= hops else (name, hops)] = answer
        return answer

    def _lookup(self, file: File, name: str, hops: int) -> Answer:
        reads: tuple[int, ...] = (file.name_key(name),)
        values: list[Value] = []
        need = 0
        held = file.top.get(name)
        if held:
            values.append(symbol(file.sym(_getter(file, held))))
        for at in file.imports.get(name, ()):
            more, more_reads, more_need = self.imported(file, at, hops)
            values += [v for v in more if v not in values]
            reads = merge(reads, more_reads)
            need = max(need, more_need)
        bound = file.binds.get(name)
        if bound:
            known = [c for c in chains(bound) if c not in ("?", "#None")]
            if known:
                values += [(">", (file, chain)) for chain in known]
            elif not values:
                values.append(UNKNOWN)
        if values:
            return tuple(values), reads, need
        beside = self.rules[file.lang].beside
        if beside is not None:
            found, more_reads, need = beside(self, file, name, hops)
            reads = merge(reads, more_reads)
            if found:
                return found, reads, need
        return self._starred(file, name, hops, merge(reads, (file.name_key("*"),)))

    def _starred(self, file: File, name: str, hops: int, reads: tuple[int, ...]) -> Answer:
        """A name that only a star import can have brought."""
        if hops <= 0 and file.stars:
            return (), reads, MORE
        need = 0
        outside = False
        for at in reversed(file.stars):
            target, target_reads = self.module(file, file.facts["imports"][at][2])
            reads = merge(reads, target_reads)
            if target[0] == "P":
                values, more_reads, _ = self.member(target, name, file, hops)
                reads = merge(reads, more_reads)
                if values and values[0][0] not in "XP":
                    return values, reads, need
                outside = True
                continue
            if target[0] != "M":
                outside = outside or target[0] == "X"
                continue
            other: File = target[1]
            reads = merge(reads, (other.name_key("__all__"),))
            listed = other.facts["all"]
            if (listed is not None and name not in listed) or (listed is None and name.startswith("_")):
                continue
            values, more_reads, more_need = self.lookup(other, name, hops - 1)
            reads = merge(reads, more_reads)
            need = max(need, more_need + 1)
            if values:
                return values, reads, need
        return ((("X", name),) if outside and not self.rules[file.lang].is_builtin(name) else ()), reads, need

    def imported(self, file: File, at: int, hops: int) -> Answer:
        """What import number ``at`` of a file binds."""
        entry = file.facts["imports"][at]
        module, attr, flags = entry[2], entry[3], entry[4]
        if "f" in flags:
            target, reads = self.module(file, module.partition(".")[0])
            return (target,), reads, 0
        target, reads = self.module(file, module)
        if not attr:
            return (target,), reads, 0
        if target == ("M", file) and attr not in file.top:  # a package that imports from itself means a module below it
            below, more = self.rules[file.lang].submodule(self, file, attr)
            reads = merge(reads, (file.name_key(attr), *more))
            if below is not None:
                return (("M", below),), reads, 0
        if hops <= 0:
            return (UNKNOWN,), reads, MORE
        values, more, need = self.member(target, attr, file, hops - 1)
        return values, merge(reads, more), need + 1 if need < MORE else need

    def member(self, module: Value, attr: str, file: File, hops: int) -> Answer:
        """An attribute of a module value: its own name, else its submodule."""
        tag, what = module
        if tag == "X":
            return (("X", f"{what}.{attr}"),), NO_READS, 0
        if tag == "N":
            target, reads = self.module_at(what, attr)
            return (target,), reads, 0
        if tag == "C":
            return self._of_class(what, attr)
        if tag == "P":
            return self.rules[what[0]].inside(self, what[1], attr, hops)  # type: ignore[no-any-return]
        if tag != "M":
            return DONT_KNOW
        values, reads, need = self.lookup(what, attr, hops)
        if not values:
            below, more = self.rules[what.lang].submodule(self, what, attr)
            reads = merge(reads, more)
            if below is not None:
                return (("M", below),), reads, need
            return (UNKNOWN,), reads, need
        return values, reads, need

    def module(self, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """The module a file means by ``name``: ("M", file), ("N", …), ("X", name) or unknown, with its reads."""
        found = file.modules.get(name)
        if found is None:
            found = file.modules[name] = self.rules[file.lang].module(self, file, name)
        return found  # type: ignore[no-any-return]

    def module_at(self, space: tuple[str, File], attr: str) -> tuple[Value, tuple[int, ...]]:
        """A module below a package that has no file of its own."""
        name, file = space
        return self.module(file, f"{name}.{attr}")

    # ── classes ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def mro(self, cls: Sym, deep: int = DEEP) -> tuple[tuple[Sym, ...], bool, tuple[int, ...], int]:
        """Linearised ancestors (C3, the order of first mention where C3 has none), whether all bases are known, reads, need."""
        held = cls.mro
        if held is not None and held[3] <= deep:
            return held  # type: ignore[no-any-return]
        hit = cls.memo.get(("mro", deep))
        if hit is not None:
            return hit  # type: ignore[no-any-return]
        answer = self._mro(cls, deep)
        if answer[3] <= deep:
            cls.mro = answer
        else:
            cls.memo[("mro", deep)] = answer
        return answer

    def _mro(self, cls: Sym, deep: int) -> tuple[tuple[Sym, ...], bool, tuple[int, ...], int]:
        reads: tuple[int, ...] = (read_key(f"c:{cls.file.path}:{cls.qual}"),)
        known, need = True, 0
        lines: list[tuple[Sym, ...]] = []
        bases: list[Sym] = []
        written = [(cls, chain) for chain in chains(cls.meta.get("b"))]
        rules = self.rules[cls.file.lang]
        parts: tuple[Sym, ...] = ()
        if "partial" in cls.flags:
            parts, more = rules.parts(self, cls)
            reads = merge(reads, (*more, *(read_key(f"c:{part.file.path}:{part.qual}") for part in parts)))
            written += [(part, chain) for part in parts for chain in chains(part.meta.get("b"))]
        others: tuple[Sym, ...] = ()
        if rules.reopens:
            whole, held, more = rules.whole(self, cls)
            reads = merge(reads, more)
            others = held if whole is cls else ()
        if (written or others) and deep <= 0:
            return (cls,), False, reads, MORE
        for other in others:
            line, all_known, more, used = self.mro(other, deep - 1)
            reads, need, known = merge(reads, more), max(need, used + 1), known and all_known
            lines.append(line)
            bases.append(other)
        for holder, chain in written:
            values, more, used = self.static(holder, chain, deep - 1)
            reads = merge(reads, more)
            need = max(need, used + 1)
            classes = [v[1] for v in values if v[0] == "C"]
            if not classes and not (values and values[0] == ("K", "object")):
                known = False
            for base in classes[:1]:
                line, all_known, more, used = self.mro(base, deep - 1)
                reads = merge(reads, more)
                need = max(need, used + 1)
                known = known and all_known
                if base is not cls and base not in bases:
                    lines.append(line)
                    bases.append(base)
        merged = _c3(cls, lines, bases)
        if parts:
            merged = (cls, *parts, *(one for one in merged[1:] if one not in parts))
        return merged, known, reads, min(need, MORE)

    def static(self, cls: Sym, chain: str, deep: int) -> Answer:
        """What a base-class expression names, without inference: names, modules, nested classes, plain aliases."""
        names = chain.split(".")
        file = cls.file
        values, reads, need = self._static_around(cls, names[0], deep)
        if not values:
            values, head_reads, used = self._static_head(file, names[0])
            reads, need = merge(reads, head_reads), max(need, used)
        for name in names[1:]:
            found: list[Value] = []
            for value in values:
                if value[0] in "MNPX":
                    more, more_reads, used = self.member(value, name, file, HOPS)
                elif value[0] == "C" and deep > 0:
                    more, more_reads, used = self._nested(value[1], name, deep - 1)
                    used += 1
                else:
                    more, more_reads, used = (UNKNOWN,), NO_READS, 0 if value[0] != "C" else MORE
                found += more
                reads = merge(reads, more_reads)
                need = max(need, used)
            values = tuple(found)
        if any(value[0] == ">" for value in values):
            return self._aliases(values, reads, need, deep)
        return values, reads, need

    def _static_around(self, cls: Sym, head: str, deep: int) -> Answer:
        """A base-class name as a member class of the classes around, in languages that look there first."""
        if not self.rules[cls.file.lang].implicit or head[0] in "@%" or not isinstance(cls, Sym):
            return NOTHING
        around, reads, need = cls.parent, NO_READS, 0
        while around is not None:
            if around.kind == "class":
                if deep <= 0:
                    return (), reads, MORE
                values, more, used = self._nested(around, head, deep - 1)
                reads, need = merge(reads, more), max(need, used + 1)
                if values[0][0] == "C":
                    return values, reads, need
            around = around.parent
        return (), reads, need

    def _static_head(self, file: File, head: str) -> Answer:
        if head[0] == "@":
            return (symbol(file.sym(int(head[1:]))),) if head[1:].isdigit() else (UNKNOWN,), NO_READS, 0
        if head[0] == "%":
            return self.imported(file, int(head[1:]), HOPS) if head[1:].isdigit() else DONT_KNOW
        if not head.removesuffix("::").translate(_SIGNS).isidentifier():
            return DONT_KNOW
        values, reads, need = self.lookup(file, head, HOPS)
        if not values and self.rules[file.lang].is_builtin(head):
            return (self.rules[file.lang].builtin_base(head),), reads, need
        return values, reads, 0 if need < MORE else need

    def _aliases(self, values: tuple[Value, ...], reads: tuple[int, ...], need: int, deep: int) -> Answer:
        found: list[Value] = []
        for value in values:
            if value[0] != ">":
                found.append(value)
                continue
            file, chain = value[1]
            if deep <= 0:
                return (UNKNOWN,), reads, MORE
            more, more_reads, used = self.static(Module(file), chain, deep - 1)  # type: ignore[arg-type]
            found += more
            reads = merge(reads, more_reads)
            need = max(need, used + 1)
        return tuple(found), reads, min(need, MORE)

    def _of_class(self, cls: Sym, name: str) -> Answer:
        """A name that an import takes out of a class: what is defined in it, else a value it holds."""
        owner, sym, text, _, reads = self.find(cls, name)
        if sym is not None:
            return (symbol(sym),), reads, 0
        if owner is None or text in ("?", "#None"):
            return (UNKNOWN,), reads, 0
        held = chains(text)
        return tuple(("I", owner) if chain == "cls()" else (">", (owner.file, chain)) for chain in held), reads, 0

    def _nested(self, cls: Sym, name: str, deep: int) -> Answer:
        line, _, reads, need = self.mro(cls, deep)
        for owner in line:
            reads = merge(reads, (owner.attr_key(name),))
            held = owner.member(name)
            if held:
                return (symbol(owner.file.sym(held[-1])),), reads, need
        return (UNKNOWN,), reads, need

    def find(self, cls: Sym, name: str, after: Sym | None = None) -> Found:
        """First class of the MRO that has ``name``: (owner, its last definition, its value chains, all bases known, reads).

        Args:
            name: with ``^2`` behind it one that takes two arguments, where there is one; with a dot before it a field, where
                fields and methods are apart.
            after: look only behind this class of the MRO (``super()``).
        """
        key = name if after is None else (name, after)
        hit = cls.memo.get(key)
        if hit is None:
            hit = cls.memo[key] = self._find(cls, name, after)
        return hit

    def _find(self, cls: Sym, name: str, after: Sym | None) -> Found:
        line, known, reads, _ = self.mro(cls)
        if after is not None:
            line = line[line.index(after) + 1 :] if after in line else ()
            if "partial" in after.flags:
                line = tuple(one for one in line if one.qual != after.qual or "partial" not in one.flags)
        if name[0] == ".":
            return self._field(cls, line, name[1:], known, reads, after)
        keys = list(reads)
        asked, (name, _, count) = name, name.partition("^")
        vague: Sym | None = None
        stub: tuple[Sym, Sym] | None = None
        own = name[:2] == "::"  # what a class itself has: modules do not hand theirs on
        for at, owner in enumerate(line):
            if own and at and "module" in owner.flags and owner.name != cls.name:
                continue
            alone = at == 1 and not (own and "module" in owner.flags)
            if alone and after is None and vague is None and stub is None and self.mro(owner)[0] == line[1:]:
                # one line of single inheritance: what the base answers, its heirs answer
                found, sym, text, _, more = self.find(owner, asked)
                return found, sym, text, known, (*keys, *more)
            keys.append(owner.attr_key(name))
            held = owner.member(name)
            if held and count and not any(takes(one, int(count)) or one.kind == "class" for one in map(owner.file.sym, held)):
                continue  # none of them can be meant
            if held:
                sym = owner.file.sym(_getter(owner.file, held) if not count else _taking(owner.file, held, int(count)))
                if not STUBS.intersection(sym.flags):  # what never runs says something only where nothing else does
                    return owner, sym, "", known, tuple(keys)
            elsewhere = self.rules[owner.file.lang].elsewhere
            if elsewhere is not None:
                apart, more = elsewhere(self, owner, name)
                keys += more
                if apart is not None:
                    return owner, apart, "", known, tuple(keys)
            if held:
                stub = stub or (owner, owner.file.sym(_getter(owner.file, held)))
                continue
            attrs = owner.meta.get("a")
            value = attrs.get(name) if attrs else None
            if value and not (count and self.rules[owner.file.lang].apart):
                text = " ".join(chains(value))
                if text != "?" and text != "#None":
                    return owner, None, text, known, tuple(keys)
                vague = vague or owner
        if stub is not None:
            return *stub, "", known, tuple(keys)
        return vague, None, "?" if vague is not None else "", known, tuple(keys)


    def _field(self, cls: Sym, line: tuple[Sym, ...], name: str, known: bool, reads: tuple[int, ...], after: Sym | None) -> Found:
        """A field where fields and methods are apart: the first class that has one; where none has, whatever has that name."""
        keys = list(reads)
        for owner in line:
            keys.append(owner.attr_key(name))
            attrs = owner.meta.get("a")
            if attrs and name in attrs:
                return owner, None, " ".join(chains(attrs[name])), known, tuple(keys)
        owner, sym, text, known, more = self.find(cls, name, after)  # type: ignore[assignment]
        return owner, sym, text, known, (*keys, *more)


def takes(sym: Sym, count: int) -> bool:
    """Whether a definition takes so many arguments."""
    least, most = sym.meta.get("n", (0, -1))
    return bool(least <= count and (most < 0 or count <= most)) and sym.kind != "class"


def _taking(file: File, held: list[int], count: int) -> int:
    """The first of several definitions that takes so many arguments; of those that take any number only where no other does."""
    fits = [idx for idx in held if takes(file.sym(idx), count)] or held
    return next((idx for idx in fits if file.sym(idx).meta.get("n", (0, -1))[1] >= 0), fits[0])


class Module:
    """A stand-in for a class where an alias is read at module level."""

    __slots__ = ("file", "meta")

    def __init__(self, file: File) -> None:
        self.file = file
        self.meta: dict[str, Any] = {}


def _getter(file: File, held: list[int]) -> int:
    """Of several definitions of one attribute the one that is read."""
    if len(held) == 1:
        return held[0]
    return held[read_of([file.facts["syms"][idx][META].get("x", ()) for idx in held])]


def symbol(sym: Sym) -> Value:
    """The value a definition's name stands for."""
    return ("C" if _holds_members(sym) else "F"), sym


def _holds_members(sym: Sym) -> bool:
    """Whether a symbol is a class, or an object literal whose members are called like a class's."""
    return sym.kind == "class" or "object" in sym.flags


def _c3(cls: Sym, lines: list[tuple[Sym, ...]], bases: list[Sym]) -> tuple[Sym, ...]:
    """C3 merge (Barrett et al. 1996); falls back to first mention where the hierarchy has no consistent order."""
    merged = [cls]
    rest = [list(line) for line in lines] + [list(bases)]
    while rest := [line for line in rest if line]:
        for line in rest:
            head = line[0]
            if head is not cls and not any(head in other[1:] for other in rest):
                break
        else:
            return tuple(dict.fromkeys([cls, *(sym for line in lines for sym in line)]))
        merged.append(head)
        rest = [[sym for sym in line if sym is not head] if head in line else line for line in rest]
    return tuple(merged)
