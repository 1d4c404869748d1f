"""Links of one file with what a SCIP index knows laid over them: its edges are certain and outrank ours. Called by ``publish``.

What may not come in: reading of index files (``loaded``), storage. A call site is known here as the text that is called inside a
symbol. Where an index tells what *every* site of such a group means, our edges of the group go, except overrides of what the index
names, which stay as ``hierarchy``; where it tells some, its edges are added and ours stay. What an index does not know (locals,
parameters, attributes that hold a function) leaves our edges as they were.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from mog.engine.code import facts as schema
from mog.engine.code.facts import chains
from mog.engine.code.link import LinkEdge, Linker, Links
from mog.engine.code.link_calls import CERTAIN, HIERARCHY, UNRESOLVED, last_name, spelled
from mog.engine.code.link_view import FactsView, File, Sym, is_plain, read_key
from mog.engine.code.scip.loaded import Library, Loaded, Place
from mog.engine.code.scip.places import Places, Site
from mog.engine.code.scip.schema import DEFINITION
from mog.engine.code.scip.sources import Source
from mog.engine.code.scip.symbols import NAMESPACE, dotted, is_local, may_be_ours, parse
from mog.engine.code.scip.table import symbol_hash
from mog.engine.store.blobs import FROM_SCIP
from mog.engine.store.index_db import IndexDB

KNOWN = CERTAIN | FROM_SCIP
BY_BASE = HIERARCHY | FROM_SCIP
OUTSIDE = UNRESOLVED | FROM_SCIP
MANY = 8  # definitions of one symbol in several files, at most
_HELD = 100_000
# packages whose symbols are part of the language: like our own linker, nothing is drawn to them
_PLATFORM = {("scip-python", "python-stdlib", "builtins"), ("scip-typescript", "typescript", "lib")}

Group = tuple[int, str]  # symbol that calls (-1: the file), name as written
Target = tuple[str, int]


class Meaning(NamedTuple):
    """What a symbol means: symbols of ours, something outside by name, or neither (``targets`` and ``outside`` empty).

    Attributes:
        reads: keys of the files that were asked. platform: it is part of the language.
    """

    targets: tuple[Target, ...]
    outside: str
    platform: bool
    reads: tuple[int, ...]


@dataclass(slots=True)
class Account:
    """What became of one file: edges read from an index, edges of ours they replaced, occurrences that lead to no node."""

    edges: int = 0
    dropped: int = 0
    unplaced: int = 0


@dataclass(slots=True)
class _Group:
    """Call sites of one name in one symbol."""

    sites: int = 0
    told: int = 0
    targets: set[Target] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)


class Overlay:
    """What the indexes of a worktree say, file by file, in one publication."""

    def __init__(self, db: IndexDB, root: Path, sources: list[Source], max_bytes: int, view: FactsView) -> None:
        self._db = db
        self._library = Library(db, root, sources, max_bytes, view.facts)
        self._meanings: dict[str, Meaning] = {}
        self.states: list[tuple[str, int, int, int, int]] = []

    def close(self) -> None:
        """Store what came of each document that was asked, and close the indexes. Inside ``transaction()``."""
        self._db.scip_states_put(self.states)
        self._library.close()

    def over(self, path: str, links: Links, linker: Linker) -> Links:
        """The links of a file with the index laid over them; the same links where no index speaks of it."""
        loaded = self._library.loaded(path)
        if loaded is None:
            return links
        account = Account()
        if loaded.used:
            links = _Over(self, loaded, links, linker, account).links()
        for number, state in loaded.states.items():
            self.states.append((state, account.edges, account.dropped, account.unplaced, number))
            account = Account()  # told once, with the first document of the file
        return links

    def definitions(self, path: str) -> dict[str, tuple[int, ...]]:
        """Global symbol → positions of our symbols that it defines in a file."""
        return self._library.definitions(path)

    def meanings(self, symbols: Iterable[str]) -> dict[str, Meaning]:
        """What global symbols mean. Symbols are looked up together."""
        wanted = set(symbols)
        if len(self._meanings) > _HELD:
            self._meanings.clear()
        new = {symbol: symbol_hash(symbol) for symbol in wanted if symbol not in self._meanings}
        places = self._db.scip_defining(new.values()) if new else {}
        for symbol, number in new.items():
            self._meanings[symbol] = self._meaning(symbol, places.get(number, []))
        return {symbol: self._meanings[symbol] for symbol in wanted}

    def _meaning(self, symbol: str, paths: list[str]) -> Meaning:
        reads = tuple(file_key(path) for path in paths[:MANY])
        if not paths:
            return _outside(symbol)
        found = [(path, ord) for path in paths[:MANY] for ord in self._library.definitions(path).get(symbol, ())]
        return Meaning(tuple(found) if len(paths) <= MANY else (), "", False, reads)


def file_key(path: str) -> int:
    """Read key of what an index says about a file: dirty when the file or its documents change."""
    return read_key(f"z:{path}")


def _outside(symbol: str) -> Meaning:
    parts = parse(symbol)
    if parts is None:
        return Meaning((), "", False, ())
    top = parts.descriptors[0].name
    platform = (parts.scheme, parts.package, top) in _PLATFORM
    name = dotted(parts)
    if parts.manager == "npm":
        # a module is one file of its package, which nobody imports by that name; types of ``x`` lie in ``@types/x``
        inner = tuple(step for step in parts.descriptors if step.suffix != NAMESPACE)
        package = parts.package.removeprefix("@types/")
        package = "@" + package.replace("__", "/", 1) if "__" in package else package
        name = f"{package}.{dotted(parts._replace(descriptors=inner, package=''))}".strip(".")
    return Meaning((), name, platform, ())


class _Over:
    """One file in the making."""

    def __init__(self, overlay: Overlay, loaded: Loaded, links: Links, linker: Linker, account: Account) -> None:
        file = linker.types.file(loaded.path)
        assert file is not None  # it has facts, or no document of it would be used
        self.overlay, self.loaded, self.linker, self.account = overlay, loaded, linker, account
        self.file: File = file
        self.syms = loaded.facts["syms"]
        self.ours = links.edges
        self.reads = set(links.reads)
        self.found: set[LinkEdge] = set()
        self.places = Places(file.lang, loaded.data, self.syms)
        self.called = _called_names(file)
        self.package = self._packages()
        self._spans: set[tuple[int, int]] | None = None
        self._declared: dict[Sym, bool] = {}

    def links(self) -> Links:
        """All edges of the file."""
        references = [one for one in self.loaded.places if not one.roles & DEFINITION and may_be_ours(one.symbol)]
        implemented = [above for several in self.loaded.implements.values() for above in several]
        symbols = {one.symbol for one in references} | {one for one in implemented if may_be_ours(one)}
        self.meanings = self.overlay.meanings(symbols)
        for symbol in sorted(symbols):
            self.reads.update(self.meanings[symbol].reads)
        groups = self._groups(references)
        kept = self._kept(groups)
        self._inherit(kept)
        self.account.edges = len(self.found)
        # an edge that both know is the index's
        known = {(*one[:4], one[5]) for one in self.found if one[4] & FROM_SCIP}
        kept = {one for one in kept if (*one[:4], one[5]) not in known}
        return Links(frozenset(kept | self.found), tuple(sorted(self.reads)))

    def _packages(self) -> frozenset[tuple[str, str, str]]:
        """Packages this file defines something of: their symbols are never called external."""
        defined = {one.symbol for one in self.loaded.places if one.roles & DEFINITION and not is_local(one.symbol)}
        parts = (symbol.split(" ", 4) for symbol in defined)
        return frozenset((part[0], part[1], part[2]) for part in parts if len(part) == 5)

    # ── calls and references ──────────────────────────────────────────────────────────────────────────────────────────

    def _groups(self, references: list[Place]) -> dict[Group, _Group]:
        """Call sites by group, with what the index says of each; everything else it names becomes a reference."""
        sites = {(one.start, one.stop): one for one in self.places.sites}
        groups: dict[Group, _Group] = defaultdict(_Group)
        of_site = {span: self._group_of(site) for span, site in sites.items()}
        for group in of_site.values():
            groups[group].sites += 1
        told: set[tuple[int, int]] = set()
        for one in references:
            span = (one.start, one.stop)
            if span in sites and self._call(groups[of_site[span]], one.symbol):
                told.add(span)
            elif span not in told:
                self._reference(one)
        for span in told:
            groups[of_site[span]].told += 1
        for (scope, name), told_of in groups.items():
            self._draw(scope, name, told_of)
        return groups

    def _group_of(self, site: Site) -> Group:
        """The symbol a call belongs to: of those around it the first whose facts hold a call under that name."""
        name = self._text(site.start, site.stop)
        return next((scope for scope in site.scopes if (scope, name) in self.called), site.scopes[0]), name

    def _text(self, start: int, stop: int) -> str:
        return self.loaded.data[start:stop].decode("utf-8", "replace")

    def _call(self, group: _Group, symbol: str) -> bool:
        """Note what a call site means; False when the index does not know what is run there."""
        meaning = self.meanings[symbol]
        targets = [one for one in meaning.targets if self._runs(one)]
        group.targets.update(targets)
        if targets:
            return True
        if meaning.targets or not meaning.outside or self._own(symbol):
            return False
        if not meaning.platform:
            group.outside.add(meaning.outside)
        return True

    def _own(self, symbol: str) -> bool:
        parts = symbol.split(" ", 4)
        return len(parts) == 5 and (parts[0], parts[1], parts[2]) in self.package

    def _sym(self, target: Target) -> Sym:
        file = self.linker.types.file(target[0])
        assert file is not None  # what defines a symbol has facts
        return file.sym(target[1])

    def _runs(self, target: Target) -> bool:
        """Whether a symbol is something that can be called itself (a field may hold anything)."""
        sym = self._sym(target)
        return not is_plain(sym.file.facts["syms"][sym.idx])

    def _draw(self, scope: int, name: str, group: _Group) -> None:
        """The edges of a group that the index knows; calling a class runs its constructor, which our rules find."""
        for path, ord in sorted(group.targets):
            sym = self._sym((path, ord))
            self.found.add((scope, path, ord, "calls", BY_BASE if self._only_declared(sym) else KNOWN, name))
            for method in self._constructors(sym):
                _, made, _, _, reads = self.linker.types.find(sym, method)
                self.reads.update(reads)
                if made is not None:
                    self.found.add((scope, made.file.path, made.idx, "calls", CERTAIN, name))
        for outside in sorted(group.outside):
            self.found.add((scope, "", f"external:{outside}", "calls", OUTSIDE, name))

    def _only_declared(self, sym: Sym) -> bool:
        """Whether a method only says that it is not implemented, and subclasses implement it: the index names the declaration, and
        by the rule of our own links (``Calls.abstract``) what runs is an override."""
        known = self._declared.get(sym)
        if known is None:
            known = self._declared[sym] = self._is_only_declared(sym)
        return known

    def _is_only_declared(self, sym: Sym) -> bool:
        cls, rules = sym.parent, _rules(self.linker, sym.file.lang)
        if "abstract" not in sym.flags or cls is None or cls.kind != "class" or rules is None:
            return False
        tests = rules.is_test(self.loaded.path)
        self.reads.update(self.linker.below(cls, tests)[2])
        overrides, asked = self.linker.overriding(cls, sym.name, tests)
        self.reads.update(asked)
        return any("abstract" not in one.flags for one in overrides)

    def _constructors(self, sym: Sym) -> tuple[str, ...]:
        """Names of the methods that calling a class runs."""
        rules = _rules(self.linker, sym.file.lang) if sym.kind == "class" else None
        return tuple(rules.constructors) if rules is not None else ()

    def _reference(self, one: Place) -> None:
        meaning = self.meanings[one.symbol]
        if not meaning.targets:
            self.account.unplaced += not meaning.outside or self._own(one.symbol)
            return
        if self.places.in_import(one.start) or one.stop <= one.start:
            return
        scope = self.places.scopes(one.start, one.stop)[0]
        for path, ord in meaning.targets:
            if (path, ord) != (self.loaded.path, scope):
                self.found.add((scope, path, ord, "references", KNOWN, self._text(one.start, one.stop)))

    # ── our edges ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _kept(self, groups: dict[Group, _Group]) -> set[LinkEdge]:
        """Our edges that stay, some of them lower."""
        whole = {key: group for key, group in groups.items() if group.sites and group.told == group.sites}
        referred: dict[Group, set[Target]] = defaultdict(set)
        for scope, path, ord, kind, _, name in self.found:
            if kind == "references":
                referred[scope, name].add((path, int(ord)))
        kept: set[LinkEdge] = set()
        for edge in self.ours:
            scope, _, _, kind, _, name = edge
            group = whole.get((scope, name)) if kind == "calls" else None
            if group is not None:
                lower = self._beside(edge, group)
                kept.update(lower)
                self.account.dropped += not lower and not self._same(edge, group)
            elif kind == "references" and self._contradicted(edge, referred):
                self.account.dropped += 1
            else:
                kept.add(edge)
        return kept

    def _contradicted(self, edge: LinkEdge, referred: dict[Group, set[Target]]) -> bool:
        """Whether the index says of every place of a name in a symbol what it is, and never what our reference says."""
        scope, path, target, _, _, name = edge
        told = referred.get((scope, name))
        return told is not None and (path, target) not in told and self._all_told(scope, name)

    def _all_told(self, scope: int, name: str) -> bool:
        """Whether every place of a word in a symbol is in the index (in comments and strings too, which errs on our side)."""
        word = re.compile(rb"(?<![\w$\x80-\xff])" + re.escape(name.encode()) + rb"(?![\w$\x80-\xff])")
        if self._spans is None:
            self._spans = {(one.start, one.stop) for one in self.loaded.places}
        spans, scopes = self._spans, self.places.scopes
        return all(m.span() in spans for m in word.finditer(self.loaded.data) if scopes(*m.span())[0] == scope)

    def _same(self, edge: LinkEdge, group: _Group) -> bool:
        """Whether the index draws the same edge."""
        drawn = (edge[1], edge[2]) in group.targets if edge[1] else str(edge[2]).partition(":")[2] in group.outside
        return drawn or (*edge[:4], CERTAIN, edge[5]) in self.found

    def _beside(self, edge: LinkEdge, group: _Group) -> tuple[LinkEdge, ...]:
        """What stays of an edge of ours beside what the index says of all its sites: overrides, and that they are too many."""
        scope, path, target, kind, tier, name = edge
        if not path:
            stays = str(target).startswith("capped:") and any(self._sym(one).kind == "method" for one in group.targets)
            return (edge,) if stays else ()
        if tier > HIERARCHY or (path, target) in group.targets or not isinstance(target, int):
            return ()
        above = [one for one in group.targets if self._overrides((path, target), one)]
        if not above:
            return ()
        stays = all(self._only_declared(self._sym(one)) for one in above)
        return ((scope, path, target, kind, tier if stays else HIERARCHY, name),)

    def _overrides(self, target: Target, above: Target) -> bool:
        ours, theirs = self._sym(target), self._sym(above)
        mine, other = ours.parent, theirs.parent
        if ours.name != theirs.name or mine is None or other is None or mine is other or mine.kind != "class":
            return False
        if _rules(self.linker, mine.file.lang) is None:
            return False
        line, _, reads, _ = self.linker.types.mro(mine)
        self.reads.update(reads)
        return other in line

    # ── inheritance ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _inherit(self, kept: set[LinkEdge]) -> None:
        """``is_implementation`` between classes; between methods it only repeats that, and nothing is drawn."""
        own = self.overlay.definitions(self.loaded.path)
        for symbol, above in sorted(self.loaded.implements.items()):
            for ord in own.get(symbol, ()):
                if self.syms[ord][schema.KIND] == "class":
                    self._bases(ord, self._direct(ord, above), kept)

    def _direct(self, ord: int, above: list[str]) -> list[str]:
        """Of what a class implements what its head names, where it names any (some indexers list every ancestor)."""
        row = self.syms[ord]
        stop = self.places.body(ord)
        head = {
            one.symbol
            for one in self.loaded.places
            if row[schema.FULL] <= one.start < stop and not one.roles & DEFINITION
        }
        named = [symbol for symbol in above if symbol in head]
        return named or above

    def _bases(self, ord: int, above: list[str], kept: set[LinkEdge]) -> None:
        told: set[Target] = set()
        for symbol in above:
            meaning = self.meanings.get(symbol)
            if meaning is None:
                continue
            name = parse(symbol)
            said = name.descriptors[-1].name if name is not None else ""
            for path, target in meaning.targets:
                if self._sym((path, target)).kind == "class" and (path, target) != (self.loaded.path, ord):
                    told.add((path, target))
                    self.found.add((ord, path, target, "inherits", KNOWN, said))
            if meaning.outside and not meaning.platform and not self._own(symbol):
                self.found.add((ord, "", f"external:{meaning.outside}", "inherits", OUTSIDE, said))
        if told and len(above) >= len(chains(self.syms[ord][schema.META].get("b"))):
            wrong = {
                one
                for one in kept
                if one[0] == ord and one[3] == "inherits" and one[1] and (one[1], one[2]) not in told
            }
            self.account.dropped += len(wrong)
            kept -= wrong


def _called_names(file: File) -> frozenset[Group]:
    """(symbol, name as written) of the calls in a file's facts, as the linker names them."""
    found = set()
    for scope, held in file.facts["calls"]:
        for written in chains(held):
            name, equals, _ = written.partition("=")
            found.add((scope, name if equals else spelled(file, last_name(written.split("|")[0]))))
    return frozenset(found)


def _rules(linker: Linker, lang: str) -> Any:
    """The rules of a language, None for one that our linker does not know."""
    try:
        return linker.types.rules[lang]
    except KeyError:
        return None
