"""Records and their root beside a dictionary: what was put is what is read, and the root depends on nothing else."""

from __future__ import annotations

import hashlib
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from ledger_kit import WHEN, changed, fold, state_of, step

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.ledgers import state_root
from mog.engine.ledgers.events import EventLog, Put, Step

tables = st.sampled_from(("node", "edge", "a"))
keys = st.integers(0, 120).map(str) | st.text(max_size=3) | st.integers(0, 40).map(lambda n: f"{n:032x}")
puts = st.lists(st.tuples(tables, keys, st.none() | st.text(max_size=20)), max_size=60)


@pytest.fixture
def log(tmp_path):
    with EventLog(tmp_path / "ledger.db") as made:
        yield made


def after(state: dict[tuple[str, str], bytes], made: Step) -> None:
    for put in made.puts:
        state.pop((put.table, put.key), None)
        if put.body is not None:
            state[put.table, put.key] = put.body


class BesideADictionary(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.log = EventLog(Path(self.folder.name) / "ledger.db")
        self.model: dict[tuple[str, str], bytes] = {}
        self.states = [state_of({})]

    def teardown(self) -> None:
        if hasattr(self, "log"):
            assert self.log.verify(fold()).ok
            self.log.close()
            self.folder.cleanup()

    @rule(steps=st.lists(puts, min_size=1, max_size=3))
    def commit(self, steps: list[list[tuple[str, str, str | None]]]) -> None:
        made = [step(*each) for each in steps]
        self.log.commit(made, when=WHEN, expected=self.log.head())
        for each in made:
            after(self.model, each)
            self.states.append(state_of(self.model))

    @rule()
    def take_nearly_everything_away(self) -> None:
        made = step(*[(table, key, None) for table, key in sorted(self.model)[3:]])
        self.log.commit([made], when=WHEN)
        after(self.model, made)
        self.states.append(state_of(self.model))

    @rule()
    def rebuild(self) -> None:
        before = self.log.head()
        after = self.log.rebuild(fold())
        assert (after, after.root, after.state) == (before, before.root, before.state)

    @rule()
    def reopen(self) -> None:
        self.log.close()

    @invariant()
    def is_the_model(self) -> None:
        if hasattr(self, "log"):
            head, rows = self.log.load()
            assert {(table, key): body for table, key, body in rows} == self.model
            assert head.state == self.states[-1] and head.seq == len(self.states) - 1
            for table, key in list(self.model)[:2]:
                assert self.log.get(table, key) == self.model[table, key]
            assert self.log.get("node", "no such key") is None and self.log.get("nothing", "x") is None


TestBesideADictionary = BesideADictionary.TestCase
TestBesideADictionary.settings = settings(max_examples=15, stateful_step_count=10, deadline=None)


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.tuples(tables, keys), st.binary(max_size=9), max_size=150), st.randoms())
def test_the_root_does_not_depend_on_order_or_on_what_was_there_before(records, chance):
    with tempfile.TemporaryDirectory() as folder:
        states = []
        for name in ("a", "b"):
            order = list(records.items())
            chance.shuffle(order)
            detour = [Put(table, key, b"old") for (table, key), _ in order[::2]] + [Put("node", f"x{i}", b"") for i in range(40)]
            way_back = [Put("node", f"x{i}", None) for i in range(40)]
            steps = [detour, [Put(*at, body) for at, body in order[:70]], [Put(*at, body) for at, body in order[70:]], way_back]
            with EventLog(Path(folder) / name / "ledger.db") as log:
                for each in steps if name == "a" else [steps[1] + steps[2]]:
                    log.commit([Step("a.b", {}, tuple(each))], when=WHEN)
                states.append(log.head().state)
        assert states[0] == states[1] == state_of(records)


def test_the_root_is_the_documented_formula():
    body = {b"k": b"body", b"j": b""}
    text = b"\0\x01\0\0\0\0j" + b"\0\x01\0\0\0\x04kbody"
    root = hashlib.sha256(b"mog.bucket.1node\0" + text).digest()
    assert state_root.root_of("node", body) == root
    state = hashlib.sha256(b"mog.state.1" + b"node\0" + (2).to_bytes(8, "big") + root).digest()
    assert state_root.state_of([("node", 2, root), ("edge", 0, bytes(32))]) == state
    many = {b"%d" % i: b"" for i in range(33)}
    children = b""
    for digit in "0123456789abcdef":
        part = {key: b"" for key in many if hashlib.sha256(b"mog.path.1" + key).hexdigest()[0] == digit}
        children += hashlib.sha256(b"mog.bucket.1t\0" + state_root.bucket_text(part)).digest() if part else bytes(32)
    assert state_root.root_of("t", many) == hashlib.sha256(b"mog.node.1" + (33).to_bytes(8, "big") + children).digest()


def test_every_event_of_a_commit_gets_its_own_state_root(log):
    log.commit([step(("node", "a", "1")), step(("node", "a", "2")), step(("node", "a", None))], when=WHEN)
    states = [row[0].hex() for row in changed(log, "SELECT root FROM states ORDER BY seq")]
    assert states == [state_of({("node", "a"): b"1"}), state_of({("node", "a"): b"2"}), state_of({})]


def test_a_commit_touches_few_rows_however_many_there_are(log):
    log.commit([Step("a.b", {}, tuple(Put("node", str(i), b"x" * 50) for i in range(20_000)))], when=WHEN)
    before = dict(changed(log, "SELECT id, data FROM nodes"))
    log.commit([Step("a.b", {}, (Put("node", "77", b"y"),))], when=WHEN)
    rows = dict(changed(log, "SELECT id, data FROM nodes"))
    assert sum(rows[at] != before.get(at) for at in rows) <= 6


def test_the_last_of_several_puts_of_one_key_counts(log):
    log.commit([Step("a.b", {}, (Put("t", "k", b"1"), Put("t", "k", None), Put("t", "k", b"3")))], when=WHEN)
    assert log.get("t", "k") == b"3"
    log.commit([Step("a.b", {}, (Put("t", "k", None), Put("t", "no", None)))], when=WHEN)
    assert log.get("t", "k") is None and log.head().state == state_of({})


@pytest.mark.parametrize(
    "put",
    [
        Put("Bad", "k", b""), Put("", "k", b""), Put("t" * 33, "k", b""), Put("t", "\ud800", b""),
        Put("t", "k" * 2049, b""), Put("t", "k", b"x" * (1 << 20) + b"x"),
    ],
)  # fmt: skip
def test_what_cannot_be_stored_is_refused_before_the_file_is_touched(log, put):
    with pytest.raises(UsageError) as caught:
        log.commit([Step("a.b", {}, (put,))], when=WHEN)
    assert caught.value.way_out and not log.path.exists()


def test_large_and_strange_records_come_back(log):
    noise = random.Random(1).randbytes(1 << 18)
    made = {("t", f"big {i}"): noise for i in range(18)} | {("t", "\0"): b"", ("t", ""): b"\xff", ("t", "é" * 1024): b"x"}
    log.commit([Step("a.b", {}, tuple(Put(*at, body) for at, body in made.items()))], when=WHEN)
    assert {(table, key): body for table, key, body in log.load()[1]} == made and log.verify().ok


def test_keys_that_share_the_beginning_of_their_paths_share_a_bucket(monkeypatch, log):
    monkeypatch.setattr(state_root, "path_of", lambda key: "ab" + "0" * 10 if key[:1] == b"s" else "f" * 12)
    made = {("t", f"s{i}"): b"x" for i in range(40)} | {("t", "other"): b"y"}
    log.commit([Step("a.b", {}, tuple(Put(*at, body) for at, body in made.items()))], when=WHEN)
    assert {(table, key): body for table, key, body in log.load()[1]} == made
    log.commit([Step("a.b", {}, tuple(Put("t", f"s{i}", None) for i in range(39)))], when=WHEN)
    assert log.get("t", "s39") == b"x" and log.verify().ok


def test_a_record_is_never_given_out_changed(log):
    log.commit([Step("a.b", {}, tuple(Put("node", str(i), b"body %d" % i) for i in range(300)))], when=WHEN)
    at, count, data = changed(log, "SELECT id, count, data FROM nodes WHERE count < 17 LIMIT 1")[0]
    for bad in (data[:-1] + bytes([data[-1] ^ 1]), b"\0", b"", data[:20]):
        changed(log, "UPDATE nodes SET data = ? WHERE id = ?", bad, at)
        with pytest.raises(StoreDamaged) as caught:
            list(log.load()[1])
        assert "node" in caught.value.what and "doctor" in caught.value.way_out
    changed(log, "UPDATE nodes SET data = ?, count = ? WHERE id = ?", data, count + 1, at)
    with pytest.raises(StoreDamaged):
        list(log.load()[1])
    changed(log, "DELETE FROM nodes WHERE id = ?", at)
    with pytest.raises(StoreDamaged):
        list(log.load()[1])


def test_what_is_loaded_is_one_committed_state_while_commits_go_on(log):
    log.commit([step(*[("t", str(i), "old") for i in range(100)])], when=WHEN)
    head, rows = log.load()
    first = next(rows)
    log.commit([step(*[("t", str(i), "new") for i in range(100)])], when=WHEN)
    assert {body for _, _, body in [first, *rows]} == {b"old"} and head.seq == 1
    assert {body for _, _, body in log.load()[1]} == {b"new"}
