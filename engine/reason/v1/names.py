"""Taking ``contextmesh.resolver v1`` into a mesh as aliases, and giving it out again.

Called by the command line and by tests. Names go to the mesh's aliases in its own normal form; what the format knows
besides (its own spelling of each alias, its blocks, its threshold, its log) is kept with the entities and in one pruned
source, so that it comes out byte for byte. What may not come in: resolving.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mog.engine.errors import UsageError
from mog.engine.reason import terms
from mog.engine.reason.records import GraphNode, thaw
from mog.engine.reason.v1.packing import EXTRAS, extras_of
from mog.engine.reason.v1.records import RESOLVER_SCHEMA, ResolutionV1, ResolverV1
from mog.engine.reason.v1.resolver import read_resolver, write_resolver
from mog.engine.reason.v1.state import HOLDERS, extras

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.writer import Writer

HOLDER = HOLDERS[1]
MAX_ROWS = 20_000
MAX_LOG_BYTES = 384 * 1024
THRESHOLD = 0.62
_BLOCK = 4
_NOISE = re.compile("[^a-z0-9 ]+")
_DROPPED = frozenset("inc llc ltd corp corporation co gmbh plc the a an our their its".split())


@dataclass(frozen=True, slots=True)
class ResolverImport:
    """What an import did.

    Attributes:
        entities: names of entities. aliases: learned here.
        taken: aliases not learned, because the name means another entity here.
        rows: lines of the log kept. dropped: oldest lines left away, because the log here is bounded.
    """

    entities: int
    aliases: int
    taken: int
    rows: int
    dropped: int


@dataclass(frozen=True, slots=True)
class ResolverExport:
    """A file, and reason → how many names of the mesh it has no place for."""

    data: bytes
    left_out: Mapping[str, int]


def normal_v1(text: str) -> str:
    """The format's own normal form: ASCII letters and digits in small letters, without articles and legal forms."""
    return " ".join(w for w in _NOISE.sub(" ", text.lower()).split() if w not in _DROPPED)


def blocks_v1(name: str) -> tuple[str, ...]:
    """Keys under which the format looks a name up: beginnings of its first and last word, its initials, its letters."""
    words = normal_v1(name).split()
    if not words:
        return ()
    found = {words[0][:_BLOCK], words[-1][:_BLOCK], "".join(words)[:_BLOCK] if len(" ".join(words)) >= _BLOCK else words[0]}
    if len(words) > 1:
        found.add("".join(w[0] for w in words)[:_BLOCK])
    return tuple(sorted(found))


# -- into the mesh


def import_resolver(mesh: Mesh, data: bytes, where: str = "resolver") -> ResolverImport:
    """Take a file in, after the graph it belongs to; ``where`` is its name for errors. The same file again changes nothing.

    Raises:
        UsageError: another format, or an entity that is not in the mesh under that label.
        StoreDamaged: the file breaks its format.
    """
    resolver = read_resolver(data, where)
    with mesh.writing("imported", format=f"{RESOLVER_SCHEMA} v1", file=where) as writer:
        for id, label in resolver.canonical.items():
            _check_entity(mesh, id, label, where)
        learned, taken = _learn(writer, resolver.aliases)
        _keep_names(writer, resolver, taken)
        rows = _keep_rest(writer, resolver)
    return ResolverImport(len(resolver.canonical), learned, len(taken), rows, len(resolver.log) - rows)


def _check_entity(mesh: Mesh, id: str, label: str, where: str) -> None:
    node = mesh.tables.nodes.get(id)
    if node is None or node.type != "entity" or _label(node) != label:
        what = f"names {id!r} as {label!r:.80}, which is no entity of this graph"
        raise UsageError(what, where=where, way_out="import the graph it belongs to first")


def _label(node: GraphNode) -> str:
    whole = extras_of(node.attrs).get("label", node.label)
    return str(whole)


def _keep_names(writer: Writer, resolver: ResolverV1, taken: frozenset[str]) -> None:
    said: dict[str, dict[str, list[str]]] = {id: {"aliases": [], "blocks": [], "taken": []} for id in resolver.canonical}
    for alias, id in resolver.aliases.items():
        said[id]["aliases"].append(alias)
        if alias in taken:
            said[id]["taken"].append(alias)
    for block, ids in resolver.blocks.items():
        for id in ids:
            said[id]["blocks"].append(block)
    for id, names in said.items():
        names = {what: sorted(found) for what, found in names.items() if found}
        writer.attrs(id, {EXTRAS: {**extras(writer.mesh, id), "resolver": names}})


def _learn(writer: Writer, aliases: Mapping[str, str]) -> tuple[int, frozenset[str]]:
    nodes, known = writer.mesh.tables.nodes, writer.mesh.tables.rows["alias"]
    learned, taken = 0, []
    for alias, id in sorted(aliases.items()):
        name = terms.normal(alias)
        if not name or name == terms.normal(nodes[id].label) or known.get(name) == id:
            continue
        if name in known:
            taken.append(alias)
        else:
            writer.alias(name, id)
            learned += 1
    return learned, frozenset(taken)


def _keep_rest(writer: Writer, resolver: ResolverV1) -> int:
    rows, texts = _packed(resolver.log)
    empty = sorted(block for block, ids in resolver.blocks.items() if not ids)
    held = {"threshold": repr(resolver.threshold), "empty": empty, "log": rows, "texts": texts}
    attrs = {"origin": f"{RESOLVER_SCHEMA} v1", "retrieved_at": None, EXTRAS: held}
    writer.node("source", "What the imported resolver says besides", kind="ref", id=HOLDER, attrs=attrs)
    if writer.mesh.retired(HOLDER) is None:
        writer.retire(HOLDER, "pruned", reason="no part of what is believed")
    return len(rows)


def _packed(log: tuple[ResolutionV1, ...]) -> tuple[list[int], list[list[Any]]]:
    """The newest lines that fit: each different one once, and the order in which they stand."""
    places: dict[tuple[Any, ...], int] = {}
    order: list[int] = []
    room = MAX_LOG_BYTES
    for row in reversed(log[-MAX_ROWS:]):
        said = (row.mention, row.canonical_id, repr(row.score), row.reason)
        room -= 6 if said in places else 6 + len(json.dumps(said))
        if room < 0:
            break
        order.append(places.setdefault(said, len(places)))
    return order[::-1], [list(said) for said in places]


# -- out of the mesh


def export_resolver(mesh: Mesh) -> ResolverExport:
    """The names of the mesh as a ``contextmesh.resolver v1`` file."""
    with mesh.locked():
        held = extras(mesh, HOLDER)
        out = _Export(mesh, bool(held))
        for node in sorted(mesh.tables.nodes.values(), key=lambda n: n.id):
            if node.type == "entity":
                out.entity(node)
        out.learned()
    log = _unpacked(held, out.canonical)
    blocks = {block: tuple(sorted(ids)) for block, ids in out.blocks.items()}
    blocks |= {block: () for block in held.get("empty", ()) if block not in blocks}
    threshold = float(held.get("threshold", THRESHOLD))
    data = write_resolver(ResolverV1(threshold, out.canonical, out.aliases, blocks, log))
    return ResolverExport(data, {reason: n for reason, n in sorted(out.left_out.items()) if n})


class _Export:
    def __init__(self, mesh: Mesh, imported: bool) -> None:
        self.mesh, self.imported = mesh, imported
        self.canonical: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.blocks: dict[str, set[str]] = {}
        self.covered: set[tuple[str, str]] = set()
        self.left_out: Counter[str] = Counter()

    def entity(self, node: GraphNode) -> None:
        more = extras_of(node.attrs)
        names = more.get("resolver")
        if names is not None:
            self._imported(node, names)
            return
        if self.imported and "at" in more:
            return  # the graph came with a resolver that did not know it
        retired = self.mesh.retired(node.id)
        if retired is not None and retired.how != "pruned":
            self.left_out["name of a retired entity"] += 1
            return
        self.canonical[node.id] = _label(node)
        spelled = thaw(node.attrs.get("aliases") or ())
        for name in (_label(node), *(spelled if isinstance(spelled, list) else ())):
            self._name(str(name), node.id)

    def _imported(self, node: GraphNode, names: Mapping[str, list[str]]) -> None:
        self.canonical[node.id] = _label(node)
        own = terms.normal(node.label)
        known = self.mesh.tables.rows["alias"]
        for alias in names.get("aliases", ()):
            name = terms.normal(alias)
            self.covered.add((name, node.id))
            if not name or name == own or known.get(name) == node.id or alias in names.get("taken", ()):
                self.aliases[alias] = node.id
            else:
                self.left_out["alias forgotten since the import"] += 1
        for block in names.get("blocks", ()):
            self.blocks.setdefault(block, set()).add(node.id)

    def learned(self) -> None:
        for name, id in sorted(self.mesh.tables.rows["alias"].items()):
            if id in self.canonical and (name, id) not in self.covered:
                self._name(name, id)
        self.left_out["split"] += len(self.mesh.tables.rows["split"])

    def _name(self, text: str, id: str) -> None:
        key = normal_v1(text)
        if not key:
            self.left_out["name without an ASCII letter or digit"] += 1
        elif self.aliases.setdefault(key, id) != id:
            self.left_out["name that means two entities there"] += 1
        for block in blocks_v1(text):
            self.blocks.setdefault(block, set()).add(id)


def _unpacked(held: Mapping[str, Any], canonical: Mapping[str, str]) -> tuple[ResolutionV1, ...]:
    texts = held.get("texts", ())
    rows: Iterable[tuple[str, str | None, str, str]] = (texts[i] for i in held.get("log", ()))
    return tuple(
        ResolutionV1(mention, id, canonical[id] if id else None, float(score), reason)
        for mention, id, score, reason in rows
        if id is None or id in canonical
    )
