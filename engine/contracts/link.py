"""Entries of the packs → edges to surfaces, with what other files know: base classes, handlers, prefixes of mounts, fixtures.

Called by the linker for each file it links, so that recorded reads keep the result equal to a rebuild. What may not come in:
storage, bytes of files, a framework's own rules (those are data). An edge is never guessed: a handler that cannot be told apart
leaves the file's declaration alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mog.engine.code import facts as schema
from mog.engine.code.facts import chains
from mog.engine.code.link_names import DEEP, HOPS, Value
from mog.engine.code.link_types import FUEL, Types
from mog.engine.code.link_view import MOUNTS, FactsView, File, Sym, read_key
from mog.engine.contracts.collect import INSTEAD, MOUNT
from mog.engine.contracts.pack import Packs, Rule
from mog.engine.contracts.patterns import glob

if TYPE_CHECKING:
    from mog.engine.code.facts import Facts

MAX_PREFIXES = 16
MAX_MOUNT_DEPTH = 8
MAX_SAME_NAME = 64
_SLASHES = re.compile(r"(?<!:)//+")

# path of the source, symbol or -1, role, name, edge type, op
SurfaceEdge = tuple[str, int, str, str, str, str]
Named = tuple[Rule, str]


class _Mount(NamedTuple):
    """One mount: prefix, and where it stands (file, what it is called on)."""

    prefix: str
    path: str
    receiver: str


class Surfaces:
    """Edges to surfaces over one state of a view; shares the linker's types and caches what it works out.

    Args:
        types: the linker's evaluation. packs: rules in force. known: languages whose names it can evaluate.
    """

    def __init__(self, view: FactsView, types: Types, packs: Callable[[], Packs], known: Collection[str]) -> None:
        self.view = view
        self.types = types
        self._load = packs
        self.known = known
        self._held: _Tables | None = None
        self._outside: dict[Sym, tuple[frozenset[str], tuple[int, ...]]] = {}
        self._mounted: tuple[dict[tuple[str, str], list[_Mount]], set[int]] | None = None

    @property
    def tables(self) -> _Tables:
        """The rules by what they are tried on."""
        if self._held is None:
            self._held = _Tables(self._load())
        return self._held

    def close(self) -> None:
        """Let go of what was worked out."""
        self._outside, self._mounted = {}, None

    def link(self, file: File, reads: set[int]) -> set[SurfaceEdge]:
        """Edges that one file's bytes give rise to; what they rest on is added to ``reads``."""
        facts = file.facts
        entries = facts.get("contracts", ())
        knows = file.lang in self.known
        offers = knows and not self.types.rules[file.lang].is_test(file.path)
        classes = (
            [row for row in facts["syms"] if row[schema.KIND] == "class" and (row[schema.META].get("b"))]
            if offers
            else ()
        )
        uses = offers and self._may_use(facts)
        if not entries and not classes and not uses:
            return set()
        return _FileSurfaces(self, file, reads, knows).run(entries, bool(classes), uses)

    def _may_use(self, facts: Facts) -> bool:
        return (
            False
            if not facts["calls"]
            else any(word in held for _, held in facts["calls"] for word in self.tables.words)
        )

    # -- classes

    def outside(self, cls: Sym) -> tuple[frozenset[str], tuple[int, ...]]:
        """Full names of the classes outside the project that a class descends from, with reads."""
        held = self._outside.get(cls)
        if held is None:
            line, _, reads, _ = self.types.mro(cls)
            names, more = set[str](), set(reads)
            for owner in line:
                for chain in chains(owner.meta.get("b")):
                    values, used, _ = self.types.static(owner, chain, DEEP)
                    more.update(used)
                    names.update(str(what) for tag, what in values[:2] if tag == "X")
            held = self._outside[cls] = frozenset(names), tuple(more)
        return held

    def of_class(self, cls: Sym, reads: set[int]) -> list[Named]:
        """What a class stands behind by its base classes."""
        tables = self.tables
        written = [_spelled(cls.file, chain) for chain in chains(cls.meta.get("b"))]
        if not written:
            return []
        names, more = self.outside(cls)
        reads.update(more)
        found: list[Named] = []
        for at in sorted(tables.candidates(names, written)):
            rule = tables.classes[at]
            like = [text for text in written if at in tables.written(text)]
            fits = not names.isdisjoint(rule.bases) or any(self._made(rule, cls.file, text, reads) for text in like)
            if fits and rule.pack not in {one.pack for one, _ in found}:
                found += [(rule, name) for name in _class_name(rule, cls)]
        return found

    def _made(self, rule: Rule, file: File, text: str, reads: set[int]) -> bool:
        """Whether a base was made by one of the rule's receivers, where it has some."""
        made = self.makers(file, text.partition(".")[0], reads) if rule.receivers else set()
        return not rule.receivers or any(glob(one, name) for one in rule.receivers for name in made)

    def makers(self, file: File, head: str, reads: set[int]) -> set[str]:
        """Full names of what a module-level name was made by: external ones, or those its class descends from."""
        values, more, _ = self.types.lookup(file, head, HOPS)
        reads.update(more)
        names: set[str] = set()
        for tag, what in values:
            names |= self._made_by(what[0], what[1], reads) if tag == ">" else {str(what)} if tag == "X" else set()
        return names

    def _made_by(self, file: File, chain: str, reads: set[int]) -> set[str]:
        if not chain.endswith("()") or file.lang not in self.known:
            return set()
        values, more, _ = self.types.ev(self.types.ctx_of(file, -1), chain[:-2], FUEL)
        reads.update(more)
        names: set[str] = set()
        for tag, what in values:
            if tag == "X":
                names.add(str(what))
            elif tag == "C":
                above, more = self.outside(what)
                reads.update(more)
                names |= above
        return names

    # -- what a symbol stands behind

    def of_symbol(self, sym: Sym, role: str, reads: set[int]) -> list[Named]:
        """Surfaces of one role that a class or function is the code of, as its own file says."""
        if sym.kind == "class":
            return [one for one in self.of_class(sym, reads) if one[0].role == role]
        reads.add(read_key(f"k:{sym.file.path}"))
        rules = self.tables.rules
        entries = sym.file.facts.get("contracts", ())
        return [
            (rule, entry[3])
            for entry in entries
            if entry[1] == sym.idx and (rule := rules.get(entry[0])) and _announces(rule, role) and entry[3]
        ]

    # -- mounts

    def prefixes(self, path: str, receiver: str, reads: set[int], depth: int = MAX_MOUNT_DEPTH) -> list[str]:
        """Every prefix under which what is declared on ``receiver`` in a file can be reached; [""] where nothing mounts it.

        One that begins with ``INSTEAD`` stands for the receiver's own, too.
        """
        table, more = self._mounts()
        reads.update(more)
        name = receiver.rpartition(".")[2]
        found: dict[str, None] = {}
        for mount in {*table.get((path, name), ()), *table.get((path, ""), ())} if depth else ():
            for above in self.prefixes(mount.path, mount.receiver, reads, depth - 1):
                whole = above.removeprefix(INSTEAD) + mount.prefix.removeprefix(INSTEAD)
                found[INSTEAD + whole if mount.prefix[:1] == INSTEAD else whole] = None
        return sorted(found)[:MAX_PREFIXES] or [""]

    def _mounts(self) -> tuple[dict[tuple[str, str], list[_Mount]], set[int]]:
        if self._mounted is None:
            table: dict[tuple[str, str], list[_Mount]] = {}
            reads = {read_key(f"s:{MOUNTS}")}
            for path in sorted({path for path, _ in self.view.heirs(MOUNTS)}):
                file = self.types.file(path)
                if file is None:
                    continue
                for _, _, prefix, target, receiver in file.facts.get("mounts", ()):
                    for place in self._mount_target(file, target, reads):
                        if place[0] != path or place[1]:
                            table.setdefault(place, []).append(_Mount(prefix.replace(MOUNT, ""), path, receiver))
            self._mounted = table, reads
        return self._mounted

    def _mount_target(self, file: File, target: str, reads: set[int]) -> Iterator[tuple[str, str]]:
        """(file, name in it or "") of what is mounted."""
        types = self.types
        if file.lang not in self.known:
            return
        if target.startswith("="):
            found, more = types.module(file, target[1:])
            reads.update(more)
            if found[0] == "M":
                yield found[1].path, ""
            return
        before, _, name = target.rpartition(".")
        if before:
            values, more, _ = types.ev(types.ctx_of(file, -1), before, FUEL)
            reads.update(more)
            yield from ((value[1].path, name) for value in values if value[0] == "M")
            return
        reads.add(file.name_key(name))
        if name in file.binds or name in file.top:
            yield file.path, name
        for at in file.imports.get(name, ()):
            yield from self._imported(file, at, reads)

    def _imported(self, file: File, at: int, reads: set[int]) -> Iterator[tuple[str, str]]:
        """Where an import leads: through packages that pass a name on, to the file that binds it."""
        for _ in range(HOPS):
            entry = file.facts["imports"][at]
            found, more = self.types.module(file, entry[2])
            reads.update(more)
            if found[0] == "N" and entry[3]:
                found, more = self.types.module_at(found[1], entry[3])
                reads.update(more)
                entry = [*entry[:3], "", entry[4]]
            if found[0] != "M":
                return
            other: File = found[1]
            attr = "" if entry[3] in ("", "default", "=", None) else entry[3]
            reads.add(other.name_key(attr))
            onward = other.imports.get(attr, ()) if attr and other is not file else ()
            below, more = (
                self.types.rules[other.lang].submodule(self.types, other, attr)
                if attr and attr not in other.binds and not onward
                else (None, ())
            )
            reads.update(more)
            if not onward:
                yield (below.path, "") if below is not None else (other.path, attr)
                return
            file, at = other, onward[-1]


class _Tables:
    """Rules of the packs by what they are tried on."""

    def __init__(self, packs: Packs) -> None:
        self.rules = packs.rules
        self.classes = [rule for rule in self.rules.values() if rule.on == "class"]
        self.uses = [rule for rule in self.rules.values() if rule.on == "use"]
        self.hints = [(rule, [f".{rule.via}."] if rule.via else [f".{name}" for name in rule.ops]) for rule in self.uses]
        self.words = [word for _, words in self.hints for word in words]
        self.bases: dict[str, list[int]] = {}
        for at, rule in enumerate(self.classes):
            for base in rule.bases:
                self.bases.setdefault(base, []).append(at)
        self._written: dict[str, frozenset[int]] = {}

    def candidates(self, names: Collection[str], written: Iterable[str]) -> set[int]:
        """Numbers of the class rules that some of these full names, or some of these bases as they are written, are of."""
        found = {at for text in written for at in self.written(text)}
        return found.union(*(self.bases[name] for name in names if name in self.bases))

    def written(self, text: str) -> frozenset[int]:
        """Numbers of the class rules one of whose bases is written so."""
        found = self._written.get(text)
        if found is None:
            fits = (at for at, rule in enumerate(self.classes) if any(glob(one, text) for one in rule.written))
            found = self._written[text] = frozenset(fits)
        return found


class _FileSurfaces:
    """The surface edges of one file in the making."""

    def __init__(self, owner: Surfaces, file: File, reads: set[int], knows: bool) -> None:
        self.owner = owner
        self.types = owner.types
        self.file = file
        self.reads = reads
        self.knows = knows
        self.edges: set[SurfaceEdge] = set()

    def run(self, entries: Iterable[Sequence[Any]], classes: bool, uses: bool) -> set[SurfaceEdge]:
        rules = self.owner.tables.rules
        for key, scope, _, name, target, receiver in entries:
            rule = rules.get(str(key))
            if rule is None or not name:
                continue
            if rule.on == "param":
                self.param(rule, int(scope), str(name))
            elif not rule.receivers or self.received(rule, int(scope), str(receiver)):
                for full in self.named(str(name), str(receiver)):
                    self.draw(rule, int(scope), full, str(target))
        for at, row in enumerate(self.file.facts["syms"]) if classes else ():
            if row[schema.KIND] == "class" and row[schema.META].get("b"):
                for rule, name in self.owner.of_class(self.file.sym(at), self.reads):
                    self.draw(rule, at, name, "")
        if uses:
            self.uses()
        return self.edges

    def add(self, path: str, idx: int, rule: Rule, name: str, kind: str, op: str = "") -> None:
        if idx < 0 and kind == "touches":
            kind, op = "references", ""
        self.edges.add((path, idx, rule.role, name, kind, op))

    def draw(self, rule: Rule, scope: int, name: str, target: str) -> None:
        """The edges of one entry: the file announces it, what is behind it implements it."""
        path = self.file.path
        if rule.edge != "implements":
            self.add(path, -1 if rule.edge in ("declares", "configures") else scope, rule, name, rule.edge, rule.op)
            return
        self.add(path, -1, rule, name, "declares")
        found = self.behind(scope, target) if target else []
        for sym in found:
            self.add(sym.file.path, sym.idx, rule, name, "implements")
        if not found and rule.on in ("decorator", "class", "symbol", "path") and not target:
            self.add(path, scope, rule, name, "implements")

    def named(self, name: str, receiver: str) -> list[str]:
        """A name with the prefixes of mounts in it."""
        if MOUNT not in name:
            return [name]
        several = self.owner.prefixes(self.file.path, receiver, self.reads)
        before, _, rest = name.partition(MOUNT)
        own, _, after = rest.partition(MOUNT)  # a filter may have cut the second mark off, a name may ask for the prefix twice
        after = after.replace(MOUNT, "")
        whole = [prefix[1:] + after if prefix[:1] == INSTEAD else prefix + own + after for prefix in several]
        last = before[-1:].strip()
        return [before + (_SLASHES.sub("/", last + prefix) or "/")[len(last) :] for prefix in whole]

    # -- who is behind it

    def behind(self, scope: int, target: str) -> list[Sym]:
        if "::" in target:
            path, _, name = target.partition("::")
            return self.at(path, name)
        if ":" in target:
            module, _, name = target.partition(":")
            stem = module.replace(".", "/")
            places = (f"{stem}.py", f"src/{stem}.py", f"{stem}/__init__.py", f"src/{stem}/__init__.py")
            return next((found for path in places if (found := self.at(path, name.partition("[")[0].strip()))), [])
        if not self.knows:
            return self.in_file(target)
        return self.valued(scope, target) or self.handed_on(scope, target)

    def valued(self, scope: int, chain: str) -> list[Sym]:
        """What a chain means at a place."""
        values, more, _ = self.types.ev(self.types.ctx_of(self.file, scope), chain, FUEL)
        self.reads.update(more)
        return [sym for value in values if (sym := _sym(value)) is not None][:4]

    def handed_on(self, scope: int, target: str) -> list[Sym]:
        """What a handler written with names of its function means: the only value of that last name that is handed on there, with
        its local names followed by the extractor; or by what its first name imports."""
        head, dot, rest = target.partition(".")
        last = target.rpartition(".")[2]
        refs = {chain for at, held in self.file.facts["refs"] if at == scope for chain in chains(held)}
        same = [chain for chain in refs if chain.rpartition(".")[2] == last]
        imported = [f"%{at}{dot}{rest}" for at in self.file.imports.get(head, ())]
        return next((found for one in (same, imported) if len(one) == 1 and (found := self.valued(scope, one[0]))), [])

    def in_file(self, target: str) -> list[Sym]:
        """What a language without rules of its own can mean: a symbol of the same file."""
        last = target.rpartition(".")[2]
        found = [at for at, row in enumerate(self.file.facts["syms"]) if row[schema.NAME] == last]
        return [self.file.sym(found[0])] if len(found) == 1 else []

    def at(self, path: str, name: str) -> list[Sym]:
        """A symbol by file and qualified name."""
        head, _, attr = name.partition(".")
        self.reads.update(map(read_key, (f"p:{path}", f"m:{path}:{head}", f"a:{path}:{head}:{attr}")))
        file = self.types.file(path)
        rows = file.facts["syms"] if file is not None else ()
        found = next((at for at, row in enumerate(rows) if row[schema.QUAL] == name), -1)
        if found < 0 and file is not None and file.lang in self.owner.known and not attr:
            values, more, _ = self.types.lookup(file, head, HOPS)
            self.reads.update(more)
            return [sym for value in values if (sym := _sym(value)) is not None][:1]
        return [file.sym(found)] if file is not None and found >= 0 else []

    def received(self, rule: Rule, scope: int, receiver: str) -> bool:
        """Whether what an entry is called on can be one of the rule's receivers; what nobody knows can be."""
        head = receiver.partition(".")[0]
        if not self.knows or not head:
            return True
        names = self.owner.makers(self.file, head, self.reads)
        return not names or any(glob(one, name) for one in rule.receivers for name in names)

    # -- who uses it

    def param(self, rule: Rule, scope: int, name: str) -> None:
        """A parameter that bears the name of a surface: of this file, or of a ``conftest.py`` above it."""
        places = self.owner.view.defs(name)
        self.reads.add(read_key(f"n:{name}"))
        for path, idx in places if len(places) <= MAX_SAME_NAME else ():
            folder = path.removesuffix("conftest.py")
            if path != self.file.path and not (path.endswith("conftest.py") and self.file.path.startswith(folder)):
                continue
            file = self.types.file(path)
            if file is None:
                continue
            for found, surface in self.owner.of_symbol(file.sym(idx), rule.of, self.reads):
                self.add(self.file.path, scope, found, surface, "touches", "read")

    def uses(self) -> None:
        """Calls on what is a surface: ``Order.objects.filter`` reads the model, ``send.delay`` emits the job."""
        for scope, held in self.file.facts["calls"]:
            rules = [rule for rule, words in self.owner.tables.hints if any(word in held for word in words)]
            if not rules:
                continue
            ctx = self.types.ctx_of(self.file, scope)
            for written in chains(held):
                text = written.partition("=")[2] or written
                for rule in rules:
                    self.use(rule, ctx, scope, text.partition("|")[0])

    def use(self, rule: Rule, ctx: object, scope: int, chain: str) -> None:
        if rule.via:
            before, parted, after = chain.partition(f".{rule.via}.")
            method = re.split(r"[.(\[{*]", after, maxsplit=1)[0] if parted else ""
        else:
            before, _, method = chain.rpartition(".")
        op = rule.ops.get(method, "")
        if not op or not before:
            return
        values, more, _ = self.types.ev(ctx, before, FUEL)  # type: ignore[arg-type]
        self.reads.update(more)
        for value in values:
            sym = _sym(value)
            for found, surface in self.owner.of_symbol(sym, rule.of, self.reads) if sym is not None else ():
                self.add(self.file.path, scope, found, surface, "touches", op)


def _sym(value: Value) -> Sym | None:
    tag, what = value
    return what if tag in "CIF" else what[0] if tag == "B" else None


def _spelled(file: File, chain: str) -> str:
    """A base as it is written, pointers to imports replaced by the names they bind."""
    return re.sub(r"%(\d+)", lambda found: str(file.facts["imports"][int(found.group(1))][1]), chain)


def _class_name(rule: Rule, cls: Sym) -> list[str]:
    path = cls.file.path
    captures = next(
        (held for pattern in rule.glob if (held := pattern.match(path)) is not None), None if rule.glob else {}
    )
    if captures is None or rule.name is None:
        return []
    folder, _, base = path.rpartition("/")
    known = {
        "path.stem": base.partition(".")[0],
        "path.folder": folder.rpartition("/")[2],
        "path.dir": folder,
        "symbol": cls.name,
        "scope": cls.qual,
    }
    known |= {f"path.{name}": text for name, text in captures.items()}
    return rule.name.fill(lambda ref: [known[ref]] if known.get(ref) else [])


def _announces(rule: Rule, role: str) -> bool:
    """Whether an entry of a rule makes its symbol a surface of a role, not a user of one."""
    return rule.role == role and rule.edge == "implements" and rule.on != "param"
