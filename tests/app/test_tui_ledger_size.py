"""A ledger of 100,000 events costs what one screen of it costs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_workspace import FakeWorkspace
from reason_story import apart
from test_tui_home import foot, opened, press, settle

from mog.app.tui import ledger_asks
from mog.app.tui.ledger_asks import Entry
from mog.app.tui.panes.ledger import PAGE
from mog.app.tui.plain import Still
from mog.engine.ledgers import chain, schema
from mog.engine.ledgers.events import EventLog
from mog.engine.workspace import Workspace
from mog.widgets.fit import plain as plain_line

MANY = 100_000
WHEN = "2026-03-02T12:41:07+00:00"
LINES = 40


def filled(root: Path, count: int) -> Workspace:
    """A ledger whose chain of events is sound; its tree is not, which nobody needs to list events."""
    root.mkdir()
    Workspace.init(root)
    workspace = Workspace.open(root)
    workspace.beliefs.log.append("noted", {"note": "note 1"}, when=WHEN)
    workspace.beliefs.close()
    db = apsw.Connection(str(workspace.ledger_path))
    with db:
        digest = db.execute("SELECT digest FROM events").get
        rows = []
        for seq in range(2, count + 1):
            text = chain.text_of("noted", {"note": f"note {seq}", "by": "person"})
            digest = chain.event_digest(digest, seq, text)
            rows.append((seq, chain.stored(text), digest, WHEN, chain.seal_of(digest, WHEN, schema.VERSION)))
        db.executemany("INSERT INTO events VALUES(?, ?, ?, ?, ?)", rows)
        root = db.execute("SELECT state FROM head").get
        db.executemany("INSERT INTO states VALUES(?, ?)", [(row[0], root) for row in rows])
        db.execute("UPDATE head SET seq = ?, digest = ?", (count, digest))
    db.close()
    return workspace


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with apart(tmp_path_factory), filled(tmp_path_factory.mktemp("big") / "clone", MANY) as workspace:
        yield workspace


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the events that were read from the file."""
    numbers: list[int] = []
    events = EventLog.events

    def counted(self: EventLog, after: int = 0, limit: int = 0) -> Iterator[Any]:
        for event in events(self, after, limit):
            numbers.append(event.seq)
            yield event

    monkeypatch.setattr(EventLog, "events", counted)
    return numbers


def drawn(host: Still, top: int = 0) -> list[str]:
    """One screen of the pane, from a line on."""
    sheet = host.content("ledger").sheet(100, LINES)
    return [plain_line(sheet.lines.line(i), 100) for i in range(top, min(top + LINES, len(sheet.lines)))]


def test_opening_and_jumping_read_a_page_and_not_the_ledger(big: Workspace, read: list[int]) -> None:
    host = Still(big)  # type: ignore[arg-type]
    ledger = host.content("ledger")
    ledger.ask()
    rows = drawn(host)
    assert "100,000" in rows[0] and "note 100000" in rows[0] and "…" not in rows[0]
    assert len(set(read)) <= 2 * PAGE
    at = ledger.sheet(100, LINES).lines.find("event:9214")
    assert at == (MANY - 9_214, 0)
    assert "note 9214" in drawn(host, at[0])[0]
    assert len(set(read)) <= 4 * PAGE


def test_a_screen_costs_the_same_however_long_the_ledger_is(big: Workspace, tmp_path: Path) -> None:
    with filled(tmp_path / "small", 1_000) as small:
        costs = [_cost(workspace) for workspace in (small, big)]
    assert costs[1] < 5 * costs[0] + 0.002, costs


def _cost(workspace: Workspace) -> float:
    host = Still(workspace)  # type: ignore[arg-type]
    host.content("ledger").ask()
    drawn(host)
    best = 1.0
    for _ in range(7):
        began = time.perf_counter()
        drawn(host)
        best = min(best, time.perf_counter() - began)
    return best


def test_the_plain_twin_counts_what_it_leaves_out(big: Workspace) -> None:
    host = Still(big)  # type: ignore[arg-type]
    host.content("ledger").ask()
    sheet = host.content("ledger").sheet(100, 0)
    assert len(sheet.lines) == 501 and "+99,500 hidden" in plain_line(sheet.lines.line(500), 100)


async def test_keys_on_a_long_ledger_ask_for_pages_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def entries(_: object, seqs: Iterable[int]) -> tuple[Entry, ...]:
        asked.extend(seqs)
        return tuple(Entry(seq, WHEN, "noted", None, f"note {seq}", "", "", "") for seq in sorted(seqs))

    monkeypatch.setattr(ledger_asks, "head", lambda _: MANY)
    monkeypatch.setattr(ledger_asks, "entries", entries)
    async with opened(FakeWorkspace()) as (pilot, home, _):
        await press(pilot, "7")
        assert "note 100000" in home.pane("ledger").source.line(0)[0].text
        await press(pilot, "G")
        await settle(pilot)
        assert home.here.cursor == "event:1" and home.here.row is not None and "note 1" in home.here.row.text
        await press(pilot, "colon", *"ledger 9,214", "enter")
        await settle(pilot)
        assert home.current == "ledger" and home.here.cursor == "event:9214"
        assert home.here.row is not None and "note 9214" in home.here.row.text
        await press(pilot, "j", "pagedown", "k")
        assert "…" not in (home.here.row.text if home.here.row else "…")
        await press(pilot, "colon", *"ledger 200000", "enter")
        assert "no event 200,000; it has 100,000" in foot(home)
        assert len(set(asked)) < 16 * PAGE
