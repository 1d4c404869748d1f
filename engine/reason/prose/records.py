"""Decisions out of architecture decision records. Called by ``link.py``, after the claims of all documents are there.

What may not come in: parsing (``adr.py`` does it). A decision is an event and is never changed: other words under the same
record are another decision, which supersedes the first; a record that names its successor supersedes likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from mog.engine.ids import digest
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.prose.analysis import Reading, Said
from mog.engine.reason.prose.documents import Document
from mog.engine.reason.prose.extract import Statement
from mog.engine.reason.prose.known import Known
from mog.engine.reason.prose.report import IngestReport
from mog.engine.reason.records import GraphNode
from mog.engine.reason.writer import Writer

_PERSON = b"mog.adr.1"
REPLACED = "replaced by "
DEPRECATED = "the record says deprecated"


class Records:
    """The decisions of one ingest."""

    def __init__(self, mesh: Mesh, writer: Writer, state: Known, report: IngestReport) -> None:
        self._mesh, self._writer, self._state, self._report = mesh, writer, state, report
        self._tables = mesh.tables

    def run(
        self, readings: Sequence[Reading], changed: set[str],
        claim_id: Callable[[Document, Statement], str], mentioned: Callable[[Said], Mapping[str, str]],
    ) -> None:  # fmt: skip
        """Write the decisions of every record that changed, then what supersedes what."""
        touched = [r for r in readings if r.record and r.document.key in changed]
        for reading in touched:
            self._state_of(reading)
            self._decide(reading, claim_id, mentioned)
        self._replace({reading.document.key.rpartition("/")[0] for reading in touched})

    def _state_of(self, reading: Reading) -> None:
        """What the record says of itself goes on the source, so that a record ingested later finds it."""
        record = reading.record
        assert record is not None
        said = {
            "number": record.number, "status": record.status,
            "replaced_by": list(record.replaced_by), "replaces": list(record.replaces),
        }  # fmt: skip
        self._writer.attrs(self._state.source_id(reading.document.key), said)

    def _decide(
        self,
        reading: Reading,
        claim_id: Callable[[Document, Statement], str],
        mentioned: Callable[[Said], Mapping[str, str]],
    ) -> None:
        record, document = reading.record, reading.document
        assert record is not None
        earlier = self._live(document.key)
        if not record.made:
            for node in earlier:
                self._writer.retire(
                    node.id, "retracted", reason=f"the record says {record.status or 'nothing decided'}"
                )
            return
        key = f"{document.key}@{digest(_PERSON, record.title, record.decision).hex()}"
        if any(node.attrs.get("key") == key for node in earlier):
            return
        said = {name: self._claims(reading, name, claim_id) for name in ("decision", "context")}
        attrs = {
            name: value
            for name, value in (("record", document.key), ("number", record.number), ("date", record.date))
            if value
        }
        id = self._writer.decide(
            record.title,
            record.decision,
            source=self._state.source_id(document.key),
            key=key,
            claims=said["decision"][:1],
            attrs=attrs,
        )
        for claim in (*said["decision"][1:], *said["context"]):
            self._writer.edge("supports", claim, id)
        self._about(id, reading, mentioned)
        self._report.decisions["new"] += 1
        for node in earlier:
            self._supersede(node.id, id)

    def _claims(self, reading: Reading, section: str, claim_id: Callable[[Document, Statement], str]) -> list[str]:
        found = (claim_id(reading.document, said.statement) for said in reading.said if said.section == section)
        return [id for id in dict.fromkeys(found) if not self._state.retired(id)]

    def _about(self, id: str, reading: Reading, mentioned: Callable[[Said], Mapping[str, str]]) -> None:
        entities = {entity for said in reading.said if said.section == "decision" for entity in mentioned(said)}
        for entity in sorted(entities):
            self._writer.edge("about", id, entity)

    def _live(self, record: str) -> list[GraphNode]:
        """Decisions of a record that were not replaced or taken back, in order of ids."""
        found = self._tables.into.get(self._state.source_id(record), ())
        nodes = (self._tables.nodes[edge.src] for edge in found if edge.kind == "cites")
        ours = {
            node.id: node for node in nodes if node.attrs.get("record") == record and not self._state.retired(node.id)
        }
        return [ours[id] for id in sorted(ours)]

    def _replace(self, folders: Collection[str]) -> None:
        """Carry out what records say of each other. Numbers name records of the same folder, ingested now or before."""
        for folder in sorted(folders):
            listed = self._records_of(folder)
            numbered = {node.attrs["number"]: node for node in listed if node.attrs["number"]}
            for node in listed:
                for number in node.attrs["replaced_by"]:
                    self._pair(node, numbered.get(number))
                for number in node.attrs["replaces"]:
                    self._pair(numbered.get(number), node)
                if str(node.attrs["status"]).startswith("deprecated"):
                    for decision in self._live(str(node.attrs["key"])):
                        self._writer.retire(decision.id, "retracted", reason=DEPRECATED)

    def _records_of(self, folder: str) -> list[GraphNode]:
        """Sources that are records of a folder, in order of keys."""
        found = {}
        for node in self._tables.nodes.values():
            key = node.attrs.get("key") if node.type == "source" and "replaced_by" in node.attrs else None
            if isinstance(key, str) and key.rpartition("/")[0] == folder and not self._state.retired(node.id):
                found[key] = node
        return [found[key] for key in sorted(found)]

    def _pair(self, old: GraphNode | None, new: GraphNode | None) -> None:
        if old is None or new is None or old.id == new.id:
            return
        for successor in self._live(str(new.attrs["key"])):
            for decision in self._live(str(old.attrs["key"])):
                self._supersede(decision.id, successor.id)

    def _supersede(self, old: str, new: str) -> None:
        self._writer.supersede(old, new, reason=f"{REPLACED}{self._tables.nodes[new].label}")
        self._report.decisions["superseded"] += 1
