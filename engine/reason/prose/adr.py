"""Architecture decision records: title, number, status, date, and what is context and what is the decision.

Called by ``pipeline.py``. What may not come in: the graph, files. Read are the forms of Nygard (sections Status, Context,
Decision, Consequences), of MADR (front matter or bullets, Decision Outcome) and records whose sections are bold words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mog.engine.reason.prose.documents import Document
from mog.engine.reason.prose.marked import Block, Prose, tidy

MAX_RATIONALE = 4_000
MADE = ("accepted", "approved", "implemented", "done", "adopted", "active", "")
"""Statuses under which the decision was made; "" is a record that states none."""
OPEN = ("proposed", "draft", "rejected", "pending", "on hold", "wip", "in review", "declined", "withdrawn")

_BOLD = re.compile(r"\*\*\s*(\w[\w ]{0,40}?)\s*[.:]?\s*\*\*\s*[.:]?")
_LINE = re.compile(r"^(status|date)\s*[:：]\s*(.*)$", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"^(?:adr[-_ ]*)?0*(\d{1,5})(?=[-_ .:]|$)", re.IGNORECASE)
_TITLE_NUMBER = re.compile(r"^(?:adr[-_ ]*)?(\d{1,5})(?:[.:–—-]\s*|\s+)(?=\S)", re.IGNORECASE)
_REPLACED = re.compile(r"(?:superseded|replaced|obsoleted)\s+(?:by|with)\b[^\d\n]{0,60}?0*(\d{1,5})", re.IGNORECASE)
_REPLACES = re.compile(r"(?:supersedes|replaces|obsoletes)\b[^\d\n]{0,60}?0*(\d{1,5})", re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_SECTIONS = {
    "context": "context", "context and problem statement": "context", "problem": "context", "background": "context",
    "decision": "decision", "decision outcome": "decision", "outcome": "decision",
    "status": "status", "date": "date", "consequences": "consequences", "rationale": "rationale",
    "considered options": "options", "options": "options", "options considered": "options", "alternatives": "options",
    "alternatives considered": "options", "links": "links", "references": "links", "related decisions": "links",
    "technical story": "links", "deciders": "links", "rejected": "options",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Record:
    """One ADR.

    Attributes:
        number: "" when neither name nor title has one. status: first word(s), small letters. date: YYYY-MM-DD or "".
        decision: the text of the decision, one line; "" when the record has no such section.
        sections: section of every block of the prose, by its start.
        replaced_by, replaces: numbers of other records, in order of appearance.
    """

    title: str
    number: str
    status: str
    date: str
    decision: str
    sections: dict[int, str]
    replaced_by: tuple[str, ...]
    replaces: tuple[str, ...]

    @property
    def made(self) -> bool:
        """Was a decision made and not only proposed or rejected?"""
        return bool(self.decision) and not self.status.startswith(OPEN) and "{" not in self.decision[:200]


def read(document: Document, prose: Prose) -> Record:
    """The record in a document of form ``adr``."""
    sections = _sections(prose)
    said = {name: _said(prose, sections, name) for name in ("status", "date", "decision", "rationale")}
    lines = _lines(prose, sections)
    status = str(document.facts.get("status") or said["status"] or lines.get("status", ""))
    date = str(document.facts.get("date") or lines.get("date", "") or said["date"])
    found = _ISO.search(date)
    links = f"{status}\n{said['status']}\n{_said(prose, sections, 'links')}"
    name = _NUMBER.match(document.key.rpartition("/")[2])
    titled = _TITLE_NUMBER.match(document.title)
    return Record(
        title=_TITLE_NUMBER.sub("", document.title) or document.title,
        number=name[1] if name else titled[1] if titled else "",
        status=_status(status),
        date=found[0] if found else "",
        decision=(said["decision"] or said["rationale"])[:MAX_RATIONALE],
        sections=sections,
        replaced_by=tuple(dict.fromkeys(_REPLACED.findall(links))),
        replaces=tuple(dict.fromkeys(_REPLACES.findall(links))),
    )


def _status(text: str) -> str:
    found = re.search(r"[A-Za-z][A-Za-z ]*", text)
    word = found[0].lower().strip() if found else ""
    return next(
        (known for known in (*MADE[:-1], *OPEN, "superseded", "deprecated", "replaced") if word.startswith(known)),
        word[:30],
    )


def _sections(prose: Prose) -> dict[int, str]:
    """Section of every block: by the innermost heading with a known name, or by a bold word at the start of a paragraph."""
    out: dict[int, str] = {}
    bold = ""
    heading: tuple[str, ...] = ()
    for block in prose.blocks:
        if block.heading != heading:
            bold, heading = "", block.heading
        lead = _BOLD.match(prose.text[block.start : block.end]) if block.role == "paragraph" else None
        if lead and lead[1].lower() in _SECTIONS:
            bold = _SECTIONS[lead[1].lower()]
        elif lead and lead[0].rstrip("* ").endswith((".", ":")):
            bold = "other"
        out[block.start] = bold or next(
            (s for title in reversed(block.heading) if (s := _SECTIONS.get(_plain(title)))), ""
        )
    return out


def _plain(title: str) -> str:
    return re.sub(r"^[\d.\s]+|[^\w\s]", "", title).strip().lower()


def _said(prose: Prose, sections: dict[int, str], section: str) -> str:
    found = (
        _shown(prose, block) for block in prose.blocks if block.role != "heading" and sections[block.start] == section
    )
    return " ".join(text for text in found if text)


def _shown(prose: Prose, block: Block) -> str:
    """What a block shows, the bold word that opens a section taken off."""
    lead = _BOLD.match(prose.text[block.start : block.end]) if block.role == "paragraph" else None
    start = block.start + lead.end() if lead and lead[1].lower() in _SECTIONS else block.start
    return tidy(prose.shown[start : block.end])


def _lines(prose: Prose, sections: dict[int, str]) -> dict[str, str]:
    """``Status: …`` and ``Date: …`` lines before the first section, bulleted or not."""
    out: dict[str, str] = {}
    for block in prose.blocks:
        if block.role != "heading" and sections[block.start] not in ("context", "decision", "consequences", "options"):
            for line in prose.shown[block.start : block.end].split("\n"):
                if match := _LINE.match(tidy(line)):
                    out.setdefault(match[1].lower(), match[2].strip())
    return out
