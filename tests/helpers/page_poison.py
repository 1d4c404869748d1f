"""Texts that would like to be more than texts, and facts of a page with every text from outside replaced by them.

Who calls: tests/web/. What may not come in: assertions.
"""

from __future__ import annotations

from dataclasses import replace

from mog.app.page import facts
from mog.engine.reason.dead_ends import Reason

WHEN = "2026-03-01T12:00:00+00:00"
EVIL = [
    "</script><script>window.pwned=1</script>",
    "</title></svg></style><img src=x onerror=window.pwned=1>",
    "\" onmouseover=\"window.pwned=1\" x=\"' onfocus='window.pwned=1",
    "<!--<script>", "]]>", "&lt;b&gt; &#x3c;i&#x3e;", "${page} $style {{x}}", "javascript:window.pwned=1",
    "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe\u2066", "a\u0000b\u200bc\ufeff", "\ud800 half", "e\u0301" * 50, "x" * 10_000,
    "עברית " * 40, "🜁👩‍👩‍👧‍👦" * 90, "\n\n\r\t line", "`code` <code>",
]  # fmt: skip


def poisoned(found: facts.Facts, words: list[str]) -> facts.Facts:
    """The same facts with every text from outside replaced."""
    turn = iter(range(10_000_000))

    def evil() -> str:
        return words[next(turn) % len(words)]

    survey = found.survey
    spots = tuple(replace(spot, label=evil(), kind=evil()) for spot in survey.spots)
    grid = tuple(replace(tie, kind=evil()) for tie in survey.grid)
    ties = tuple(replace(tie, kind=evil()) for tie in survey.ties)
    assert found.map is not None
    rows = tuple(replace(row, path=f"{evil()}/{number}", language=evil()) for number, row in enumerate(found.map.rows))
    walks = replace(found.walks, recent=tuple((evil(), Reason.no_typed_edge, 1) for _ in range(64)))
    pins = tuple(replace(one, pin=replace(one.pin, note=evil()), reason=evil(), now_at=evil()) for one in found.pins)
    health = replace(found.status.health, warnings=tuple(evil() for _ in words))
    index = replace(found.status.index, ref=evil())
    calls = tuple(
        replace(one, tool=evil(), arguments={"q": evil()}, outcome=evil(), client=evil(), at=evil())
        for one in found.calls
    )
    totals = tuple(replace(one, tool=evil(), client=evil()) for one in found.totals)
    assert found.ledger is not None
    ledger = replace(found.ledger, witness=evil(), problems=(evil(), evil()))
    return replace(
        found, name=evil(), map=replace(found.map, rows=rows), pins=pins, calls=calls, totals=totals, walks=walks,
        survey=replace(survey, spots=spots, grid=grid, ties=ties), names={id: evil() for id in found.names},
        status=replace(found.status, health=health, index=index), ledger=ledger,
    )  # fmt: skip
