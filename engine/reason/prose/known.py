"""What the mesh already knows of documents: sources by key, entities by name, decisions by number. Read by the pipeline.

What may not come in: writes, texts. Built once for an ingest, under the mesh's lock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from mog.engine import ids
from mog.engine.reason import terms
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.prose import lexicon
from mog.engine.reason.records import GraphNode


class Known:
    """A view of the mesh for one ingest.

    Attributes:
        collection: name of the set of documents that is being ingested.
        sources: key → source node, of every source that an ingest made.
    """

    def __init__(self, mesh: Mesh, collection: str) -> None:
        self.collection = collection
        self._mesh = mesh
        self._tables = mesh.tables
        self.sources: dict[str, GraphNode] = {}
        self._named: dict[str, str] = {}
        self._entities: list[GraphNode] = []
        for id in sorted(self._tables.nodes):
            node = self._tables.nodes[id]
            if node.type == "source" and isinstance(node.attrs.get("key"), str):
                self.sources[node.attrs["key"]] = node
            elif node.type == "entity":
                self._entities.append(node)
        self._splits = mesh.splits
        self._name_entities()

    def _name_entities(self) -> None:
        """Names by the resolver's key → entity: its own name first, then other spellings, then what was learned."""
        for node in self._entities:
            self._named.setdefault(lexicon.key(node.label), node.id)
        for node in self._entities:
            for alias in node.attrs.get("aliases", ()):
                self._named.setdefault(lexicon.key(alias), node.id)
        for normal, id in sorted(self._mesh.aliases.items()):
            self._named[lexicon.key(normal)] = id

    def source_id(self, key: str) -> str:
        """The id of the source with this key, whether it is there or not."""
        return ids.node_uid(self._mesh.repo, "source", "", "document", key).hex()

    def digest(self, key: str) -> str:
        """What the source remembers of its text; "" when there is none, or it was withdrawn."""
        node = self.sources.get(key)
        if node is None or self.retired(node.id) == "withdrawn":
            return ""
        found = node.attrs.get("digest")
        return found if isinstance(found, str) else ""

    def changed(self, given: Mapping[str, str]) -> set[str]:
        """Keys whose text is new or another than the source remembers."""
        return {key for key, digest in given.items() if self.digest(key) != digest}

    def missing(self, given: Mapping[str, str]) -> list[str]:
        """Keys of sources of the collection that are not among the given ones and were not withdrawn."""
        return [
            key for key, node in sorted(self.sources.items())
            if node.attrs.get("collection") == self.collection and key not in given and not self.retired(node.id)
        ]  # fmt: skip

    def retired(self, id: str) -> str:
        """How a node was retired, "" when it was not."""
        found = self._tables.rows["retired"].get(id)
        return found.how if found else ""

    def entities(self) -> Iterator[lexicon.Entity]:
        """The entities of the mesh as a lexicon has them; a name that was split off an entity is none of its names."""
        for node in self._entities:
            names = [node.label, *node.attrs.get("aliases", ())]
            kept = [name for name in names if (terms.normal(name), node.id) not in self._splits]
            if kept:
                form = node.attrs.get("form")
                form = form if form in ("code", "name", "cjk", "term") else "term"
                yield lexicon.Entity(lexicon.key(kept[0]), kept[0], tuple(kept[1:]), form, 0, sure=True, fixed=True)

    def entity(self, name: str) -> str:
        """Id of the entity with this name, the one it was folded into when it was; "" when there is none."""
        id = self._named.get(lexicon.key(name), "")
        if not id or (terms.normal(name), id) in self._splits:
            return ""
        for _ in range(8):
            folded = [edge.dst for edge in self._tables.out.get(id, ()) if edge.kind == "resolves_to"]
            if not folded:
                break
            id = min(folded)
        return id

    def learn(self, name: str, aliases: Collection[str], id: str) -> None:
        """Remember an entity that this ingest made."""
        for each in (name, *aliases):
            self._named.setdefault(lexicon.key(each), id)
