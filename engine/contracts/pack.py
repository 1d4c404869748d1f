"""Rule packs as data: read, checked against the schema below, compiled. Shipped ones: ``packs/``, a project's: ``.mog/contracts/``.

Called by ``collect`` (worker processes), ``link``, ``answer`` and the indexer. What may not come in: matching, facts, SQL, code
from a pack. A pack is YAML; every complaint names file, line and field.

    pack: flask                 a word; a project's pack of a shipped name takes that one's place
    title: Flask
    languages: [python]         languages whose files the rules of code are tried on
    when: {markers: [flask], paths: [...]}   a file is looked at if it holds one of these texts, or has such a path
    manifests: [flask]          dependency names that say the framework is used at all
    first: ["**/routes/**"]     paths that explain the project and are indexed first
    rules: [...]                see ``Rule``
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from mog.engine.contracts.patterns import MAX_PATTERN, BadPattern, LinePattern, PathPattern, Template
from mog.engine.errors import ConfigError

VERSION = 1
MAX_PACKS, MAX_RULES, MAX_BYTES = 64, 120, 100_000
WAYS = ("decorator", "call", "class", "symbol", "path", "line", "key", "group", "mount", "use", "param")
EDGES = ("implements", "declares", "touches", "configures")
OPS = ("read", "write", "emit", "consume", "render")
_WORD = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_HERE = Path(__file__).parent / "packs"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a pack, compiled.

    Attributes:
        key: ``pack/id``. role: what the surface is (route, model, job, …). on: what the rule is tried on, one of ``WAYS``:

            decorator, call   names: globs on what is decorated with or called, as written
            class             bases: full names of base classes outside the project, however far up; written: globs on a base as
                              it is written
            symbol            names: globs on names; kinds: kinds of symbols
            path              glob: a path pattern
            line              line: a line pattern; inside: id of the line rule whose block it must stand in
            key               glob: which documents; select: keys down to what is named
            group             names: what gives a prefix to what is declared on it, in it or in its class; name: the prefix
            mount             names: what puts another file's or object's routes under a prefix; target, name: the prefix;
                              instead: it stands for the prefix of the object's own, too
            use               of: a role; a call on one of those: via and the method's name say the op
            param             of: a role; parameters that bear the name of one
        where: (reference, globs): what arguments must look like. name: the surface's name. edge, op: how the code relates to it.
        target: reference to the argument that is the code behind it, or ``path::name`` as a template for what conventions say.
        receivers: full names of what a decorator or call has to belong to, where that can be told.
    """

    key: str
    pack: str
    role: str
    on: str
    names: tuple[str, ...] = ()
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    name: Template | None = None
    edge: str = "implements"
    op: str = ""
    target: str = ""
    at: tuple[Template, Template] | None = None
    receivers: frozenset[str] = frozenset()
    bases: frozenset[str] = frozenset()
    written: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    glob: tuple[PathPattern, ...] = ()
    line: LinePattern | None = None
    inside: str = ""
    select: tuple[str, ...] = ()
    expand: tuple[tuple[str, Template], ...] = ()
    of: str = ""
    via: str = ""
    ops: Mapping[str, str] = field(default_factory=dict)
    bare: bool = False
    instead: bool = False


@dataclass(frozen=True, slots=True)
class Pack:
    """A framework's rules, see the module's text. ``markers`` are bytes, ``paths`` and ``first`` path patterns; ``tests``: they are
    tried on test files too."""

    name: str
    title: str
    languages: frozenset[str]
    markers: tuple[bytes, ...]
    paths: tuple[PathPattern, ...]
    manifests: frozenset[str]
    first: tuple[PathPattern, ...]
    rules: tuple[Rule, ...]
    file: str
    tests: bool = False


@dataclass(frozen=True)
class Packs:
    """All packs in force, by name; ``digest`` is over their bytes."""

    packs: Mapping[str, Pack]
    digest: str

    @property
    def rules(self) -> dict[str, Rule]:
        """Rules by key."""
        return _rules(self)


_TABLES: dict[str, dict[str, Rule]] = {}


def _rules(packs: Packs) -> dict[str, Rule]:
    if packs.digest not in _TABLES:
        _TABLES[packs.digest] = {rule.key: rule for pack in packs.packs.values() for rule in pack.rules}
    return _TABLES[packs.digest]


def load(folder: str = "") -> Packs:
    """The packs that mog ships and those of ``folder`` (``.mog/contracts``; "" or absent: none), compiled once per content.

    Raises:
        ConfigError: a pack that cannot be read, naming file, line and field.
    """
    return _load(tuple(_texts(folder)), True)


def load_readable(folder: str = "") -> Packs:
    """As :func:`load`, without the packs that cannot be read: a clone's broken pack keeps nobody from indexing it."""
    return _load((*_shipped(), *_own_readable(folder)), False)


def own_digest(folder: str) -> str:
    """Digest of a project's own packs, "" where it has none; the shipped ones are part of the tools (``toolchain.mark``)."""
    return _digest(_own_readable(folder)) if folder and Path(folder).is_dir() else ""


def _digest(texts: Iterable[tuple[str, str]]) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for name, text in texts:
        whole.update(f"{name}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


@lru_cache(maxsize=4)
def _load(texts: tuple[tuple[str, str], ...], strict: bool) -> Packs:
    found: dict[str, Pack] = {}
    for file, text in texts:
        try:
            pack = _Reader(file, text).pack()
        except ConfigError:
            if strict:
                raise
            continue
        found[pack.name] = pack
    return Packs(found, _digest(texts))


@cache
def _shipped() -> tuple[tuple[str, str], ...]:
    return tuple((path.name, path.read_text("utf-8")) for path in sorted(_HERE.glob("*.yaml")))


def _texts(folder: str) -> Iterator[tuple[str, str]]:
    """(name of the file, text) of every pack, shipped ones first."""
    yield from _shipped()
    yield from _own(folder)


def _own_readable(folder: str) -> tuple[tuple[str, str], ...]:
    try:
        return tuple(_own(folder))
    except ConfigError:
        return ()


def _own(folder: str) -> Iterator[tuple[str, str]]:
    own = sorted(Path(folder).glob("*.yaml")) if folder and Path(folder).is_dir() else []
    if len(own) > MAX_PACKS:
        raise _wrong(folder, 0, "", f"more than {MAX_PACKS} packs")
    for path in own:
        shown = f".mog/contracts/{path.name}"
        try:
            if path.is_symlink() or path.stat().st_size > MAX_BYTES:
                raise _wrong(shown, 0, "", f"a link, or more than {MAX_BYTES:,} bytes")
            yield shown, path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _wrong(shown, 0, "", f"cannot be read as text: {error}") from error


def _wrong(file: str, line: int, field: str, what: str) -> ConfigError:
    place = f"{file}:{line}" if line else file
    return ConfigError(what, where=f"{place} {field}".strip(), way_out="docs/contracts.md has the schema of a pack")


_PACK_FIELDS = {"pack", "title", "languages", "when", "manifests", "first", "tests", "rules"}
_RULE_FIELDS = {
    "id", "role", "on", "names", "where", "name", "edge", "op", "target", "receivers", "bases", "written", "kinds", "glob",
    "line", "inside", "select", "expand", "of", "via", "ops", "bare", "instead",
}  # fmt: skip
_NEEDS = {
    "decorator": ("names", "name"), "call": ("names", "name"), "class": ("name",), "symbol": ("names", "name"),
    "path": ("glob", "name"), "line": ("line",), "key": ("glob", "select", "name"), "group": ("names", "name"),
    "mount": ("names", "target", "name"), "use": ("of", "ops"), "param": ("of",),
}  # fmt: skip


class _Reader:
    """One pack file in the making; keeps the place of each field for complaints."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.lines: dict[int, dict[str, int]] = {}
        self.data = self._parsed(text)

    def _parsed(self, text: str) -> dict[str, Any]:
        import yaml

        try:
            node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            data = self._plain(node, 0) if node is not None else None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = getattr(error, "problem", None) or str(error)
            raise _wrong(self.file, mark.line + 1 if mark else 0, "", f"not YAML: {problem}") from error
        if not isinstance(data, dict):
            raise _wrong(self.file, 1, "", "a pack is a table of fields")
        return data

    def _plain(self, node: Any, depth: int) -> Any:
        """A YAML node as plain values; anchors and tags are not taken, so nothing multiplies and nothing is built."""
        line = node.start_mark.line + 1
        if depth > 8:
            raise _wrong(self.file, line, "", "nested deeper than a pack can be")
        if node.id == "mapping":
            held = {}
            for key, value in node.value:
                name = str(key.value)
                if name in held:
                    raise _wrong(self.file, key.start_mark.line + 1, name, "stands here twice")
                held[name] = self._plain(value, depth + 1)
            self.lines[id(held)] = {str(key.value): key.start_mark.line + 1 for key, _ in node.value} | {"": line}
            return held
        if node.id == "sequence":
            return [self._plain(one, depth + 1) for one in node.value]
        return node.value == "true" if node.tag.endswith(":bool") else node.value

    def fail(self, table: Mapping[str, Any], field: str, what: str) -> ConfigError:
        places = self.lines.get(id(table), {})
        return _wrong(self.file, places.get(field, places.get("", 0)), field, what)

    def known(self, table: Mapping[str, Any], fields: set[str]) -> None:
        for name in table:
            if name not in fields:
                raise self.fail(table, name, f"no such field: {', '.join(sorted(fields))}")

    def word(self, table: Mapping[str, Any], field: str) -> str:
        value = table.get(field)
        if not isinstance(value, str) or not _WORD.fullmatch(value):
            raise self.fail(table, field, "a word of small letters, digits, - and _ has to stand here")
        return value

    def texts(self, table: Mapping[str, Any], field: str, *, empty: bool = False) -> tuple[str, ...]:
        value = table.get(field, [])
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(
            isinstance(one, str) and (one or empty) and len(one) <= MAX_PATTERN for one in found
        ):
            raise self.fail(
                table, field, f"a text or a list of texts of at most {MAX_PATTERN} characters has to stand here"
            )
        return tuple(found)

    def one(self, table: Mapping[str, Any], field: str, among: Iterable[str], default: str) -> str:
        value = table.get(field, default)
        if value not in among:
            raise self.fail(table, field, f"one of {', '.join(filter(None, among))} has to stand here")
        return str(value)

    def made(self, table: Mapping[str, Any], field: str, make: Any, text: str) -> Any:
        try:
            return make(text)
        except BadPattern as error:
            raise self.fail(table, field, str(error)) from error

    def table(self, table: Mapping[str, Any], field: str) -> dict[str, Any]:
        value = table.get(field, {})
        if not isinstance(value, dict):
            raise self.fail(table, field, "a table of fields has to stand here")
        return value

    def pack(self) -> Pack:
        data = self.data
        self.known(data, _PACK_FIELDS)
        name, when = self.word(data, "pack"), self.table(data, "when")
        if when:
            self.known(when, {"markers", "paths"})
        rules = data.get("rules")
        if (
            not isinstance(rules, list)
            or not rules
            or len(rules) > MAX_RULES
            or not all(isinstance(r, dict) for r in rules)
        ):
            raise self.fail(data, "rules", f"a list of 1 to {MAX_RULES} rules has to stand here")
        made = [self.rule(name, rule) for rule in rules]
        twice = next((key for key in [rule.key for rule in made] if sum(rule.key == key for rule in made) > 1), "")
        if twice:
            raise self.fail(data, "rules", f"two rules have the id {twice}")
        return Pack(
            name, str(data.get("title", name))[:60], frozenset(self.texts(data, "languages")),
            tuple(text.encode() for text in self.texts(when, "markers")), self.paths(when, "paths"),
            frozenset(self.texts(data, "manifests")), self.paths(data, "first"), tuple(made), self.file,
            data.get("tests") is True,
        )  # fmt: skip

    def paths(self, table: Mapping[str, Any], field: str) -> tuple[PathPattern, ...]:
        return tuple(self.made(table, field, PathPattern, text) for text in self.texts(table, field))

    def rule(self, pack: str, table: dict[str, Any]) -> Rule:
        self.known(table, _RULE_FIELDS)
        id, on = self.word(table, "id"), self.one(table, "on", WAYS, "")
        for needed in _NEEDS[on]:
            if needed not in table:
                raise self.fail(table, needed, f"a rule on {on} needs {needed}")
        role = self.word(table, "role") if on not in ("group", "mount") and "role" in table else ""
        if not role and on not in ("group", "mount", "use", "param") and not (on == "line" and "name" not in table):
            raise self.fail(table, "role", f"a rule on {on} needs a role")
        target, at = self.target(table)
        text = table.get("name", "")
        return Rule(
            f"{pack}/{id}", pack, role, on, self.texts(table, "names"), self.where(table),
            self.made(table, "name", Template, text) if isinstance(text, str) and text else None,
            self.one(table, "edge", EDGES, "implements"), self.one(table, "op", ("", *OPS), ""), target, at,
            frozenset(self.texts(table, "receivers")), frozenset(self.texts(table, "bases")), self.texts(table, "written"),
            self.texts(table, "kinds"), self.paths(table, "glob"),
            self.made(table, "line", LinePattern, str(table["line"])) if "line" in table else None,
            str(table.get("inside", "")), self.selected(table), self.expanded(table), str(table.get("of", "")),
            str(table.get("via", "")), self.ops(table), table.get("bare") is True, table.get("instead") is True,
        )  # fmt: skip

    def target(self, table: Mapping[str, Any]) -> tuple[str, tuple[Template, Template] | None]:
        text = table.get("target", "")
        if not isinstance(text, str) or len(text) > MAX_PATTERN:
            raise self.fail(table, "target", "a reference such as arg.1, or path::name, has to stand here")
        path, parted, name = text.partition("::")
        if not parted:
            return text, None
        return "", (self.made(table, "target", Template, path), self.made(table, "target", Template, name))

    def where(self, table: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        held = self.table(table, "where")
        return tuple((ref, self.texts(held, ref, empty=True)) for ref in held)

    def selected(self, table: Mapping[str, Any]) -> tuple[str, ...]:
        text = str(table.get("select", ""))
        steps = tuple(step for step in text.split(".") if step)
        if len(steps) > 8:
            raise self.fail(table, "select", "more than 8 steps")
        return steps

    def expanded(self, table: Mapping[str, Any]) -> tuple[tuple[str, Template], ...]:
        held = self.table(table, "expand")
        return tuple((name, self.made(held, name, Template, str(text))) for name, text in held.items())

    def ops(self, table: Mapping[str, Any]) -> dict[str, str]:
        held = self.table(table, "ops")
        if not set(held) <= set(OPS):
            raise self.fail(table, "ops", f"ops are {', '.join(OPS)}")
        return {name: op for op in held for name in self.texts(held, op)}
