"""The record that readers hand to the pipeline, and the turned-away file beside it. Shared by every module of this room.

What may not come in: reading, the graph, names or addresses of persons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mog.engine.errors import UsageError

FORMS = ("markdown", "rest", "text", "adr", "commit", "issue")
MAX_DOCUMENT = 4_000_000
"""Longest text of one document, in characters."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text to ingest.

    Attributes:
        key: what the source is known by: a path, ``commit:…``, ``issue:…``. Another title under the same key is an update.
        title: what people call it. origin: where a person finds it; "" takes the key.
        text: the whole text; spans count in it, in characters.
        retrieved_at: YYYY-MM-DD, or None when nobody knows.
        kind: kind of source in GRAPH.md. form: one of ``FORMS``, how the text is marked up.
        start: where prose begins (after front matter).
        entities: names declared for this document.
        facts: plain JSON about it (status, date, number, state, labels), kept as attributes of the source.
    """

    key: str
    title: str
    text: str
    origin: str = ""
    retrieved_at: str | None = None
    kind: str = "document"
    form: str = "markdown"
    start: int = 0
    entities: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.key.strip() or self.form not in FORMS:
            raise UsageError(
                "a document needs a key and a known form", where=self.key, way_out=f"one of {', '.join(FORMS)}"
            )


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was not read, and why; ``where`` is a path, a line of an export or a commit."""

    where: str
    reason: str
