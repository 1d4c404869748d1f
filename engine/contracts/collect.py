"""Bytes and facts of one file → what the packs say about it, as entries of its facts. Called in the worker processes of an index.

What may not come in: other files, the disk. An entry depends on bytes, path and packs only; what needs other files (base classes,
who handles a route, prefixes of mounts) is worked out by ``link``.

    facts["contracts"] = [[rule key, symbol or -1, line, name, target, receiver], ...]
    facts["mounts"]    = [[rule key, line, prefix, target, receiver], ...]

``name`` is "" where it is no literal (counted, never guessed) and holds ``\\0`` where the prefix of mounts goes. Text that the secret
gate holds was blanked out before it came here, and a literal that touches such a span counts as no literal.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.paths import is_test_path
from mog.engine.contracts.pack import Pack, Packs, Rule
from mog.engine.contracts.patterns import Lookup, PathPattern, allowed, glob
from mog.engine.contracts.reader import Arg, Site, Text
from mog.engine.contracts.said import Entry, Said

MOUNT = "\0"
INSTEAD = "\1"
MAX_ENTRIES = 5_000
DOCUMENTS = frozenset(("yaml", "json", "toml"))
_CHAIN_STEPS = 8
_FOLLOWS = re.compile(rb"\s*(?:\.|->|\?\.)\s*([A-Za-z_]\w*)\(")
_DECLARED = re.compile(
    rb"\b(?:class|interface|record|enum|def|func|function)\s+(?:\([^()\n]{0,80}\)\s*)?(\w+)|(\w+)\s*\("
)
MAX_CONSTANTS = 100
_UNMARKED = str.maketrans("", "", MOUNT + INSTEAD)  # a source may hold our marks, as escapes in its texts
_LONG_CONSTANT = 400  # bytes of a definition
_CONSTANT = re.compile(rb"=\s*([\"'])([^\"'\\\n]{1,200})\1\s*;?\s*\Z")
_CLASS = re.compile(rb"\b(?:class|interface|record|enum)\s+\w+")


class Found(NamedTuple):
    """Entries for the facts of a file, see the module's text."""

    contracts: list[Entry]
    mounts: list[Entry]


class Paths:
    """Rules by a name that each path they match has to hold: most files are asked about none."""

    def __init__(self, patterns: Iterable[tuple[PathPattern, Any]]) -> None:
        self._by_key: dict[str, list[tuple[PathPattern, Any]]] = {}
        for pattern, what in patterns:
            self._by_key.setdefault(pattern.key, []).append((pattern, what))

    def match(self, path: str) -> Iterator[tuple[Any, dict[str, str]]]:
        """What belongs to patterns that match, each with the captures of the first."""
        parts = path.split("/")
        keys = {*parts, "." + parts[-1].rpartition(".")[2], ""}
        seen: set[int] = set()
        for key in sorted(keys & self._by_key.keys()):
            for pattern, what in self._by_key[key]:
                if id(what) not in seen and (captures := pattern.match(path)) is not None:
                    seen.add(id(what))
                    yield what, captures


class Plan:
    """The packs arranged for looking at one file after the other."""

    def __init__(self, packs: Packs) -> None:
        every = [rule for pack in packs.packs.values() for rule in pack.rules]
        self.of_tests = frozenset(pack.name for pack in packs.packs.values() if pack.tests)
        self.by_language: dict[str, list[Pack]] = {}
        for pack in packs.packs.values():
            for language in pack.languages:
                self.by_language.setdefault(language, []).append(pack)
        self.paths = Paths(
            (pattern, rule) for rule in every if rule.on in ("path", "key", "line") for pattern in rule.glob
        )
        self.chosen = Paths((pattern, pack) for pack in packs.packs.values() for pattern in pack.paths)

    def packs_of(self, language: str, data: bytes, path: str) -> list[Pack]:
        """Packs whose rules of code are tried on a file: one of their markers stands in it, or its path is one of theirs."""
        several = self.by_language.get(language)
        if not several:
            return []
        chosen = {pack.name for pack, _ in self.chosen.match(path)}
        return [pack for pack in several if pack.name in chosen or any(marker in data for marker in pack.markers)]


@lru_cache(maxsize=2)
def _plan(digest: str, packs: _Hashed) -> Plan:
    return Plan(packs.packs)


class _Hashed:
    """Packs as a key of a cache."""

    def __init__(self, packs: Packs) -> None:
        self.packs = packs

    def __hash__(self) -> int:
        return hash(self.packs.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and other.packs.digest == self.packs.digest


def plan_of(packs: Packs) -> Plan:
    """The plan of some packs, made once per process."""
    return _plan(packs.digest, _Hashed(packs))


def collect(
    packs: Packs, language: str, data: bytes, path: str, facts: Facts | None, gated: Sequence[tuple[int, int]]
) -> Found:
    """Everything the packs say about one file. Never raises for what a file holds."""
    plan = plan_of(packs)
    by_path = list(plan.paths.match(path))
    active = plan.packs_of(language, data, path)
    if (by_path or active) and is_test_path(path):  # a test's models and routes are nothing that the code offers
        by_path = [(rule, captures) for rule, captures in by_path if rule.pack in plan.of_tests]
        active = [pack for pack in active if pack.name in plan.of_tests]
    if not by_path and not active:
        return Found([], [])
    return _File(language, data, path, facts, gated).run(by_path, active)


class _File(Said):
    """One file with the calls and decorators in it."""

    def __init__(
        self, language: str, data: bytes, path: str, facts: Facts | None, gated: Sequence[tuple[int, int]]
    ) -> None:
        super().__init__(language, data, path, facts["syms"] if facts else [])
        self.gated = gated
        self.mounts: list[Entry] = []
        self.groups: list[tuple[Site, str]] = []
        self._starts = list(accumulate((row[schema.START] for row in self.rows), max))  # gated ones have no place

    def run(self, by_path: Sequence[tuple[Rule, dict[str, str]]], active: Sequence[Pack]) -> Found:
        lines = [rule for rule, _ in by_path if rule.on == "line"]
        keys = [(rule, captures) for rule, captures in by_path if rule.on == "key"]
        for rule, captures in by_path:
            if rule.on == "path":
                self._by_path(rule, captures)
        if lines:
            self._lines(lines)
        if keys:
            self._keys(keys)
        rules = [rule for pack in active for rule in pack.rules]
        if rules:
            self._code(rules)
        self.contracts.sort(key=lambda entry: (entry[2], entry[0], entry[3]))
        return Found(self.contracts[:MAX_ENTRIES], self.mounts[:MAX_ENTRIES])

    # -- code

    def _code(self, rules: Sequence[Rule]) -> None:
        by_way: dict[str, list[Rule]] = {}
        for rule in rules:
            by_way.setdefault(rule.on, []).append(rule)
        called = [*by_way.get("call", ()), *by_way.get("mount", ()), *by_way.get("group", ())]
        decorated = [*by_way.get("decorator", ()), *by_way.get("group", ())]
        sites = list(self._sites(called, decorated))
        matched = [(site, rule) for site in sites for rule in self._rules_for(site, called, decorated)]
        for site, rule in matched:
            if rule.on == "group":
                self._group(site, rule)
        for site, rule in matched:
            if rule.on in ("call", "decorator"):
                self._match(site, rule)
            elif rule.on == "mount":
                self._mount(site, rule)
        for rule in by_way.get("symbol", ()):
            self._symbols(rule)
        for rule in by_way.get("param", ()):
            self._params(rule)

    def _sites(self, called: Sequence[Rule], decorated: Sequence[Rule]) -> Iterator[Site]:
        bare = {name.rpartition(".")[2] for rule in called if rule.bare for name in rule.names}
        names = {name.rpartition(".")[2] for rule in called if not rule.bare for name in rule.names}
        yield from self.text.calls(names)
        if bare:
            yield from self.text.bare(bare)
        if decorated and (b"@" in self.text.data or b"#[" in self.text.data):
            patterns = {name for rule in decorated for name in rule.names}
            yield from self.text.decorators(lambda written: any(glob(one, written) for one in patterns))

    @staticmethod
    def _rules_for(site: Site, called: Sequence[Rule], decorated: Sequence[Rule]) -> Iterator[Rule]:
        chain = f"~.{site.chain}" if site.owner else site.chain
        for rule in decorated if site.decorator else called:
            if any(glob(name, chain) for name in rule.names):
                yield rule

    def _group(self, site: Site, rule: Rule) -> None:
        if not self._fits(site, rule):
            return
        prefix = next(iter(rule.name.fill(self._values(site))), "") if rule.name else ""
        end = site.end
        if site.decorator:
            scope = self._decorated(site)
            if scope < 0 and not _CLASS.search(self._head(site)):
                return
            end = self._body_end(site.end) if scope < 0 else self.rows[scope][schema.STOP]
        elif not site.given:
            end = self._chain_end(site.end)
        self.groups.append((replace(site, end=end), prefix))

    def _head(self, site: Site) -> bytes:
        """What is declared behind an annotation, up to its body."""
        start = self.text.data.find(b"\n", site.start)
        brace = self.text.data.find(b"{", start)
        return self.text.data[site.start : brace if 0 <= brace < start + 600 else start + 200]

    def _body_end(self, at: int) -> int:
        """Where the body in curly brackets that follows a place ends."""
        depth = 0
        for match in re.finditer(rb"[{}]", self.text.data[at:]):
            if self.text.quiet(at + match.start()):
                continue
            depth += 1 if match.group() == b"{" else -1
            if depth <= 0:
                return at + match.end()
        return len(self.text.data)

    def _chain_end(self, at: int) -> int:
        """End of the calls that are chained to one that ends here."""
        for _ in range(_CHAIN_STEPS):
            follows = _FOLLOWS.match(self.text.data, at)
            if follows is None:
                break
            _, end = self.text.arguments(follows.end())
            if end <= follows.end():
                break
            at = end
        return at

    def _prefix(self, site: Site) -> str:
        """The prefix of a place: of what it is called on, between two ``MOUNT``, and of the blocks and class around it."""
        around = [
            (other, prefix)
            for other, prefix in self.groups
            if other.start != site.start and other.start <= site.start < other.end and (other.given == "" or other.decorator)
        ]
        around.sort(key=lambda pair: pair[0].start)
        own = self._given(site.receiver, set())
        return own + MOUNT + "".join(prefix.replace(MOUNT, "") for _, prefix in around)

    def _given(self, name: str, seen: set[str]) -> str:
        if not name or name in seen:
            return ""
        seen.add(name)
        return next(
            (
                prefix.replace(MOUNT, "")
                for site, prefix in self.groups
                if site.given and site.given == name.rpartition(".")[2]
            ),
            "",
        )

    def _values(self, site: Site) -> Lookup:
        place = self._place({})

        def lookup(ref: str) -> list[str]:
            kind = ref.partition(".")[0]
            if kind in ("arg", "kw"):
                return [text.translate(_UNMARKED) for text in self._texts(site, ref)]
            if kind == "prefix":
                return [MOUNT + self._prefix(site)]
            plain = {"method": site.last, "callee": site.chain, "receiver": site.receiver}.get(kind)
            if plain is not None:
                return [plain] if plain else []
            if kind in ("symbol", "scope", "owner"):
                return self._named(kind, site)
            return place(ref)

        return lookup

    def _named(self, kind: str, site: Site) -> list[str]:
        at = self._decorated(site) if site.decorator else self._around(site.start)
        if at < 0:
            return [self._declared(site)] if site.decorator and kind == "symbol" and self._declared(site) else []
        if kind == "owner":
            at = self.rows[at][schema.PARENT]
        return [self.rows[at][schema.QUAL if kind == "scope" else schema.NAME]] if at >= 0 else []

    def _declared(self, site: Site) -> str:
        """Name of what an annotation stands before, where the file has no symbols."""
        at = site.end
        while (more := re.compile(rb"\s*@[\w.]+(\()?").match(self.text.data, at)) is not None:
            at = self.text.arguments(more.end())[1] if more.group(1) else more.end()
        found = _DECLARED.search(self.text.data, at, at + 400)
        return (found.group(1) or found.group(2)).decode("utf-8", "replace") if found else ""

    def argument(self, site: Site, ref: str) -> Arg | None:
        """The argument that ``arg.0``, ``arg.1.0`` or ``kw.name`` means, the latter also as an entry of an object."""
        kind, *steps = ref.split(".")
        items: Sequence[Arg] = site.args
        if kind == "kw":
            every = [*items, *(entry for arg in items if arg.kind == "o" for entry in arg.items)]
            return next((arg for arg in every if steps and arg.name == steps[0]), None)
        found: Arg | None = None
        for step in steps:
            plain = [arg for arg in items if not arg.name or found is not None]
            found = (
                plain[int(step)]
                if step.isdigit() and int(step) < len(plain)
                else next((a for a in items if a.name == step), None)
            )
            if found is None:
                return None
            items = found.items
        return found

    def _texts(self, site: Site, ref: str) -> list[str]:
        named = ref.endswith(".chain")
        arg = self.argument(site, ref.removesuffix(".chain"))
        if arg is None or self._held(site):
            return []
        if named:
            return [arg.text] if arg.kind in "nc" and arg.text else []
        if arg.kind == "n":
            return [self._constants[arg.text]] if arg.text in self._constants else []
        if arg.kind == "s":
            return [arg.text]
        return [one.text for one in arg.items if one.kind == "s"] if arg.kind == "l" else []

    @cached_property
    def _constants(self) -> dict[str, str]:
        """Names that this file gives to a literal text at its top, and to nothing else anywhere in it."""
        data = self.text.data
        found: dict[str, str] = {}
        for row in self.rows:
            start, stop = row[schema.START], row[schema.STOP]
            if row[schema.KIND] != "const" or row[schema.PARENT] >= 0 or stop - start > _LONG_CONSTANT:
                continue
            literal = _CONSTANT.search(data, start, stop)
            held = any(start < end and begin < stop for begin, end in self.gated)
            # a name that begins small may be a parameter's or a loop's somewhere
            if literal is None or held or not row[schema.NAME][:1].isupper() or len(found) >= MAX_CONSTANTS:
                continue
            again = re.findall(rb"\b%b\b\s*(?::[^=\n]{0,80})?[-+*/%%|&]?=(?![=>])" % re.escape(row[schema.NAME].encode()), data)
            if len(again) == 1:
                found[row[schema.NAME]] = literal[2].decode("utf-8", "replace")
        return found

    def _held(self, site: Site) -> bool:
        return any(site.start < end and start < site.end for start, end in self.gated)

    def _fits(self, site: Site, rule: Rule) -> bool:
        for ref, globs in rule.where:
            if ref.partition(".")[0] in ("arg", "kw"):
                held = self._written(self.argument(site, ref))
            else:
                held = next(iter(self._values(site)(ref)), "").replace(MOUNT, "")
            if not allowed(globs, held):
                return False
        return True

    def _written(self, arg: Arg | None) -> str:
        """What ``where`` is held against: a text, a name, ``name()`` of a call, ``<l>`` of a list; "" for none."""
        if arg is None:
            return ""
        if arg.kind == "n":
            return self._constants.get(arg.text, arg.text)
        return {"c": f"{arg.text}()", "s": arg.text}.get(arg.kind, f"<{arg.kind}>")

    def _match(self, site: Site, rule: Rule) -> None:
        if not self._fits(site, rule) or rule.name is None:
            return
        values = self._values(site)
        scope = self._decorated(site) if site.decorator else self._around(site.start)
        if site.decorator and rule.kinds and (scope < 0 or self.rows[scope][schema.KIND] not in rule.kinds):
            return
        target = self._target(site, rule, values)
        for template in self._templates(site, rule):
            self.say(rule, scope, site.line, template.fill(values), target, site.receiver)

    def _templates(self, site: Site, rule: Rule) -> list[Any]:
        """The rule's own name, or those it expands to, less what ``only`` and ``except`` leave out."""
        if not rule.expand:
            return [rule.name]
        only, left = self._texts(site, "kw.only"), self._texts(site, "kw.except")
        return [template for name, template in rule.expand if (not only or name in only) and name not in left]

    def _target(self, site: Site, rule: Rule, values: Lookup) -> str:
        if rule.at is not None:
            return self._at(rule, values)
        last = rule.target == "arg.last"
        plain = [arg for arg in site.args if not arg.name]
        arg = (plain[-1] if plain else None) if last else self.argument(site, rule.target) if rule.target else None
        if arg is None or arg.kind not in "ncl":
            return ""
        if arg.kind == "l":  # [Controller::class, 'method']
            named = [one.text.removesuffix(".class") for one in arg.items if one.kind in "ns"]
            return ".".join(named) if len(named) == 2 and arg.items[0].kind == "n" else ""
        return arg.text.removesuffix(".as_view").removesuffix(".asView") if arg.kind == "c" else arg.text

    def _mount(self, site: Site, rule: Rule) -> None:
        if not self._fits(site, rule):
            return
        arg = self.argument(site, rule.target)
        if arg is not None and arg.kind == "c" and arg.text == "require" and arg.items:
            arg = arg.items[0]
        if arg is None or arg.kind not in "sn" or rule.name is None:
            return
        prefix = next(iter(rule.name.fill(self._values(site))), "")
        if prefix and rule.instead:
            prefix = INSTEAD + prefix
        self.mounts.append(
            [rule.key, site.line, prefix, f"={arg.text}" if arg.kind == "s" else arg.text, site.receiver]
        )

    # -- symbols

    def _symbols(self, rule: Rule) -> None:
        for at, row in enumerate(self.rows):
            if (
                row[schema.PARENT] < 0
                and row[schema.KIND] in rule.kinds
                and any(glob(one, row[schema.NAME]) for one in rule.names)
            ):
                self.say(rule, at, row[schema.LINE], [row[schema.NAME]])

    def _params(self, rule: Rule) -> None:
        """Parameters of tests, and of what is a surface of that role itself."""
        of_role = {entry[1] for entry in self.contracts if entry[0].startswith(rule.pack + "/")}
        for at, row in enumerate(self.rows):
            if row[schema.KIND] != "test" and at not in of_role:
                continue
            for name in _parameters(row[schema.SIG]):
                if name not in ("self", "cls", "request") and row[schema.KIND] != "class":
                    self.say(rule, at, row[schema.LINE], [name])

    def _decorated(self, site: Site) -> int:
        """The symbol that a decorator stands on, -1 for none."""
        after = bisect_right(self._starts, site.start)
        found = next(
            (
                at
                for at in range(after, len(self.rows))
                if self.rows[at][schema.FULL] <= site.start < self.rows[at][schema.START]
            ),
            -1,
        )
        if found >= 0:
            return found
        name = self._declared(site) if self.rows else ""
        around = self._around(site.start)  # in many languages an annotation is a part of what it stands on
        near = (around, *range(after, min(after + 3, len(self.rows))))
        return next((at for at in near if at >= 0 and name and self.rows[at][schema.NAME] == name), -1)

    def _around(self, at: int) -> int:
        """The innermost symbol around a byte, -1 for none."""
        found = bisect_right(self._starts, at) - 1
        while found >= 0 and not self.rows[found][schema.START] <= at < self.rows[found][schema.STOP]:
            found = self.rows[found][schema.PARENT]
        return found


def _parameters(signature: str) -> list[str]:
    """Names of the parameters of a signature."""
    text = Text(signature.encode("utf-8", "replace"), "python")
    opening = signature.find("(")
    args = text.arguments(opening + 1)[0] if opening >= 0 else ()
    return [name for arg in args if (name := arg.name or (arg.text if arg.kind == "n" else ""))]
