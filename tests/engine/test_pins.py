"""Pins are events: they come back as they were made, follow what was asked, and outlive everything but the ledger."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mog.engine import ids
from mog.engine.errors import HeldByOther, NotFound, PolicyDenied, StoreDamaged, UsageError
from mog.engine.ledgers.events import EventLog
from mog.engine.model import Anchor
from mog.engine.pins import MAX_NOTE_BYTES, PinStore

WHEN = "2026-01-31T12:00:00Z"
HERE = Anchor("sym:src/a.py::f", "function", "1" * 32, "2" * 32, "python 0.25", ("rare", "w\udcffrd"), ("sym:b.py::g",))
THERE = Anchor("file:b.txt", "source", "3" * 64, "", "")


@pytest.fixture
def log(tmp_path):
    with EventLog(tmp_path / ".mog" / "ledger.db") as made:
        yield made


@pytest.fixture
def pins(log):
    return PinStore(log)


def test_no_ledger_means_no_pins_and_stays_so(pins, log):
    assert pins.all() == ()
    assert not log.path.parent.exists()


def test_a_pin_comes_back_as_it_was_made(pins, log):
    pin = pins.add("checks the token\nsee ADR 3", HERE, WHEN)
    assert re.fullmatch(r"pin_[0-9a-f]{12}", pin.id)
    assert (pin.note, pin.anchor, pin.seq, pin.recorded_at) == ("checks the token\nsee ADR 3", HERE, 1, WHEN)
    with EventLog(log.path) as again:
        assert PinStore(again).all() == (pin,)
        assert PinStore(again).get(pin.id) == pin


def test_the_id_follows_from_the_event(pins, log):
    pin = pins.add("x", HERE, WHEN)
    assert pin.id == f"pin_{next(log.events()).digest[:12]}"


def test_the_same_note_twice_is_two_pins(pins):
    assert pins.add("x", HERE, WHEN).id != pins.add("x", HERE, WHEN).id
    assert len(pins.all()) == 2


def test_pins_stand_in_the_order_they_were_made(pins):
    made = [pins.add(note, HERE, WHEN) for note in "cab"]
    pins.move(made[0].id, THERE, WHEN)
    assert [p.note for p in pins.all()] == ["c", "a", "b"]
    pins.remove(made[1].id, WHEN)
    assert [p.note for p in pins.all()] == ["c", "b"]


def test_a_removed_pin_is_gone_but_its_events_stay(pins, log):
    pin = pins.add("x", HERE, WHEN)
    assert pins.remove(pin.id, WHEN) == pin
    assert pins.all() == ()
    assert [e.type for e in log.events()] == ["pin.added", "pin.removed"]
    for ask in (pins.get, pins.remove):
        with pytest.raises(NotFound) as caught:
            ask(pin.id)
        assert caught.value.way_out


def test_a_moved_pin_keeps_its_id_note_and_time(pins):
    pin = pins.add("x", HERE, WHEN)
    moved = pins.move(pin.id, THERE, "2027-01-01T00:00:00Z")
    assert moved.anchor == THERE
    assert (moved.id, moved.note, moved.seq, moved.recorded_at) == (pin.id, pin.note, pin.seq, pin.recorded_at)
    assert pins.at(HERE.locator) == () and pins.at(THERE.locator) == (moved,)


def test_moving_to_the_same_anchor_records_nothing(pins, log):
    pin = pins.add("x", HERE, WHEN)
    assert pins.move(pin.id, HERE, WHEN) == pin
    assert log.head().seq == 1


def test_an_odd_path_comes_back(pins, log):
    anchor = Anchor(ids.locator("symbol", "odd::n\udcff%80.py", "f"), "function", "1", "2", "g")
    pins.add("x", anchor, WHEN)
    with EventLog(log.path) as again:
        assert PinStore(again).all()[0].anchor == anchor


@pytest.mark.parametrize("note", ["", " \n\t", "x" * (MAX_NOTE_BYTES + 1), "é" * 8001, "bad \udcff"])
def test_a_note_that_cannot_be_kept_is_refused(pins, log, note):
    with pytest.raises(UsageError) as caught:
        pins.add(note, HERE, WHEN)
    assert caught.value.way_out
    assert log.head().seq == 0


def test_a_note_of_exactly_the_limit_is_kept(pins):
    assert pins.add("é" * 8000, HERE, WHEN).note == "é" * 8000


def test_a_note_shaped_like_a_credential_is_refused_and_not_repeated(log):
    secret = "ghp_" + "FAKE" * 9
    pins = PinStore(log, looks_secret=lambda text: "ghp_" in text)
    with pytest.raises(PolicyDenied) as caught:
        pins.add(f"the token is {secret}", HERE, WHEN)
    assert secret not in str(caught.value)
    assert not log.path.exists()
    assert pins.add("where the token is checked", HERE, WHEN)


def test_an_open_store_sees_the_pins_of_another_process(pins, log):
    mine = pins.add("mine", HERE, WHEN)
    with EventLog(log.path) as other_log:
        other = PinStore(other_log)
        theirs = other.add("theirs", HERE, WHEN)
        assert pins.all() == (mine, theirs)
        other.remove(mine.id, WHEN)
        with pytest.raises(NotFound):
            pins.move(mine.id, THERE, WHEN)
        assert pins.all() == (theirs,)


def test_a_write_between_read_and_write_is_noticed(pins, log, monkeypatch):
    pin = pins.add("x", HERE, WHEN)
    append = log.append

    def late(*args, **kwargs):
        with EventLog(log.path) as other:
            PinStore(other).remove(pin.id, WHEN)
        return append(*args, **kwargs)

    monkeypatch.setattr(log, "append", late)
    with pytest.raises(HeldByOther):
        pins.move(pin.id, THERE, WHEN)
    assert pins.all() == ()


def test_events_of_others_are_passed_over(pins, log):
    log.append("assumption.made", {"anything": 1}, when=WHEN)
    pin = pins.add("x", HERE, WHEN)
    log.append("assumption.made", {"anything": 2}, when=WHEN)
    assert pins.all() == (pin,)


@pytest.mark.parametrize(
    ("type", "data"),
    [
        ("pin.added", {"note": 3, "anchor": {}}),
        ("pin.added", {"note": "x"}),
        ("pin.added", {"note": "x", "anchor": {"locator": "a"}}),
        ("pin.removed", {"pin": "pin_000000000000"}),
        ("pin.removed", {"pin": ["a"]}),
        ("pin.painted", {}),
    ],
)
def test_a_pin_event_of_no_known_form_is_a_typed_error(pins, log, type, data):
    log.append(type, data, when=WHEN)
    with pytest.raises(StoreDamaged, match=f"event 1 \\({type}\\)") as caught:
        pins.all()
    assert caught.value.way_out


def test_another_ledger_in_its_place_means_other_pins(pins, log, tmp_path):
    pins.add("old", HERE, WHEN)
    pins.add("older", HERE, WHEN)
    log.close()
    log.path.unlink()
    assert pins.all() == ()
    with EventLog(tmp_path / "x" / "ledger.db") as other:
        for note in "abc":
            PinStore(other).add(note, THERE, WHEN)
    other.path.replace(log.path)
    assert [p.note for p in pins.all()] == ["a", "b", "c"]


notes = st.text(min_size=1, max_size=20).filter(lambda s: s.strip())
anchors = st.builds(
    Anchor,
    st.builds(ids.locator, st.just("symbol"), st.sampled_from(("a.py", "b::c.py", "\udcff")), st.sampled_from("fg")),
    st.just("function"), st.text("0123456789abcdef", max_size=4), st.just("b"), st.just("g"),
    st.lists(st.sampled_from(("t", "\udc80%41")), max_size=2).map(tuple),
)  # fmt: skip


class BesideADict(RuleBasedStateMachine):
    """Two stores on one file do whatever a dict does; a third that replays from nothing always agrees."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "ledger.db"
        self.logs = [EventLog(path), EventLog(path)]
        self.stores = [PinStore(log) for log in self.logs]
        self.model: dict[str, tuple[str, Anchor]] = {}

    def teardown(self) -> None:
        if hasattr(self, "logs"):
            for log in self.logs:
                log.close()
            self.folder.cleanup()

    @rule(which=st.integers(0, 1), note=notes, anchor=anchors)
    def add(self, which: int, note: str, anchor: Anchor) -> None:
        pin = self.stores[which].add(note, anchor, WHEN)
        assert pin.id not in self.model
        self.model[pin.id] = (note, anchor)

    @rule(which=st.integers(0, 1), pick=st.integers(0, 20), anchor=anchors)
    def move(self, which: int, pick: int, anchor: Anchor) -> None:
        if self.model:
            pin_id = list(self.model)[pick % len(self.model)]
            self.stores[which].move(pin_id, anchor, WHEN)
            self.model[pin_id] = (self.model[pin_id][0], anchor)

    @rule(which=st.integers(0, 1), pick=st.integers(0, 20))
    def remove(self, which: int, pick: int) -> None:
        if self.model:
            pin_id = list(self.model)[pick % len(self.model)]
            self.stores[which].remove(pin_id, WHEN)
            del self.model[pin_id]

    @invariant()
    def all_agree(self) -> None:
        for store in [*getattr(self, "stores", ()), *(PinStore(log) for log in getattr(self, "logs", ())[:1])]:
            assert {p.id: (p.note, p.anchor) for p in store.all()} == self.model
            assert [p.id for p in store.all()] == list(self.model)


TestBesideADict = BesideADict.TestCase
TestBesideADict.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)


def test_reading_pins_costs_no_heavy_import(log):
    PinStore(log).add("x", HERE, WHEN)
    code = (
        "import sys; from pathlib import Path; from mog.engine.ledgers.events import EventLog; "
        "from mog.engine.pins import PinStore; assert len(PinStore(EventLog(Path(sys.argv[1]))).all()) == 1; "
        "print([m for m in ('rfc8785', 'networkx', 'numpy', 'asyncio', 'logging') if m in sys.modules])"
    )
    args = [sys.executable, "-c", code, str(log.path)]
    out = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert out.stdout.strip() == b"[]", out.stderr
