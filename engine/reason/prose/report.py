"""What an ingest did, counted, for people and for ``--json``. Made by ``pipeline.py``.

What may not come in: texts of documents, clocks. A count that is not known is not given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from mog.engine.reason.prose.documents import Skipped

STAGES = {
    "chunk": "texts into sentences",
    "extract": "sentences that state something",
    "resolve": "names into entities",
    "link": "claims, sources and entities tied together",
    "embed": "words into the inverted index",
    "prune": "what nothing links",
}


@dataclass(slots=True)
class Stage:
    """One stage: how many things it let through and turned away, and why."""

    name: str
    admitted: int = 0
    dropped: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def caption(self) -> str:
        """What the stage does, in a few words."""
        return STAGES[self.name]


@dataclass(slots=True)
class IngestReport:
    """The account of one ingest.

    Attributes:
        stages: in the order of ``STAGES``.
        documents: new, changed, unchanged, removed, skipped.
        claims: new, kept, superseded, withdrawn, restored. entities: new, known, restored, pruned.
        decisions: new, superseded. edges: new, dropped.
        skipped: what was not read, with reasons, in order.
    """

    stages: dict[str, Stage] = field(default_factory=lambda: {name: Stage(name) for name in STAGES})
    documents: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    entities: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)
    edges: Counter[str] = field(default_factory=Counter)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Was anything written?"""
        counts = (self.documents, self.claims, self.entities, self.decisions, self.edges)
        return any(
            count
            for each in counts
            for name, count in each.items()
            if name not in ("unchanged", "kept", "known", "skipped")
        )

    def add(self, other: IngestReport) -> None:
        """Count in what another ingest did."""
        for name, stage in other.stages.items():
            mine = self.stages[name]
            mine.admitted += stage.admitted
            mine.dropped += stage.dropped
            mine.notes += stage.notes
        for name in ("documents", "claims", "entities", "decisions", "edges"):
            getattr(self, name).update(getattr(other, name))
        self.skipped += other.skipped

    def lines(self) -> Iterator[str]:
        """The account in lines of text."""
        for stage in self.stages.values():
            notes = f"  ({'; '.join(stage.notes)})" if stage.notes else ""
            yield f"{stage.name:<8} {stage.admitted:>8} in {stage.dropped:>8} out  {stage.caption}{notes}"
        for name in ("documents", "claims", "entities", "decisions", "edges"):
            counts: Counter[str] = getattr(self, name)
            if counts:
                yield f"{name}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count)
