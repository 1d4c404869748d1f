"""``served.db``: private, bounded, each text once, shared by processes, and never believed when it should not be."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from set_kit import config, item, one_set, sized

from mog.engine.errors import NotFound, StoreDamaged
from mog.engine.memory import served
from mog.engine.memory.set_records import Place
from mog.engine.memory.working_set import WorkingSet, WorkingSets
from mog.engine.retrieval.model import Zoom


@pytest.fixture
def mog(tmp_path: Path) -> Path:
    return tmp_path / ".mog"


def rows(mog: Path, table: str) -> int:
    db = sqlite3.connect(mog / "served.db")
    try:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        db.close()


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_the_file_is_for_its_owner_alone(mog: Path) -> None:
    one_set(mog).serve([item()])
    assert stat.S_IMODE(mog.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in mog.iterdir()} == {0o600}


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
@pytest.mark.parametrize("name", ["served.db", "served.db-wal", "served.db-shm"])
def test_a_link_in_its_place_is_refused_and_not_followed(mog: Path, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"")
    mog.mkdir()
    (mog / name).symlink_to(elsewhere)
    with pytest.raises(StoreDamaged, match="link"):
        one_set(mog).serve([item()])
    with pytest.raises(StoreDamaged, match="link"):
        one_set(mog).state()
    assert elsewhere.read_bytes() == b""


@pytest.mark.parametrize(
    "spoil",
    [
        "CREATE TABLE more(x)",
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM texts; END",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 7",
        "UPDATE entries SET freshness = 'superb'",
        "UPDATE entries SET zoom = 9",
        "UPDATE entries SET tokens = -1",
        "UPDATE sessions SET totals = '[]'",
        "UPDATE sessions SET totals = '{\"taken\":-1}'",
        "UPDATE sessions SET turn = -5",
        "UPDATE texts SET body = x'00'",
        "UPDATE texts SET body = (SELECT body FROM texts ORDER BY size DESC LIMIT 1)",
    ],
)
def test_what_cannot_be_believed_is_refused_with_the_way_out(mog: Path, spoil: str) -> None:
    sets = WorkingSets(mog, config())
    refs = sets.session("agent").serve([item("a", "short"), item("b", "longer than the other")]).refs
    sets.close()
    db = sqlite3.connect(mog / "served.db")
    db.execute(spoil)
    db.commit()
    db.close()
    with pytest.raises(StoreDamaged) as caught:
        sets.session("agent").recall(refs[0])
        sets.session("agent").serve([item("c")])
    assert "delete .mog/served.db" in caught.value.way_out


@settings(max_examples=30, deadline=None)
@given(st.binary(min_size=1, max_size=300), st.integers(0, 8_000))
def test_damage_is_an_error_of_ours_or_harmless(tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int) -> None:
    mog = tmp_path_factory.mktemp("w") / ".mog"
    sets = WorkingSets(mog, config())
    ref = sets.session("agent").serve([item("a", "text of a")]).refs[0]
    sets.close()
    raw = bytearray((mog / "served.db").read_bytes())
    raw[at : at + len(noise)] = noise
    (mog / "served.db").write_bytes(raw)
    try:
        assert sets.session("agent").recall(ref).item.text == "text of a"
        sets.session("agent").state()
    except (StoreDamaged, NotFound):
        pass
    finally:
        sets.close()


def test_a_deleted_file_is_made_anew_also_while_it_is_open(mog: Path) -> None:
    agent = one_set(mog)
    agent.serve([item("a")])
    (mog / "served.db").unlink()
    assert agent.state().used == 0
    agent.serve([item("b")])
    assert [row.entry.id for row in agent.state().items] == ["b"]
    assert agent.state().turn == 1


def test_a_log_left_from_a_deleted_file_is_not_read_into_the_new_one(mog: Path, tmp_path: Path) -> None:
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent.parent / "helpers")!r})
from pathlib import Path
from set_kit import item, one_set
left_open = one_set(Path({str(mog)!r}))
left_open.serve([item("old")])
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=tmp_path)
    assert (mog / "served.db-wal").stat().st_size > 0
    (mog / "served.db").unlink()
    agent = one_set(mog)
    agent.serve([item("new")])
    assert [row.entry.id for row in agent.state().items] == ["new"]


def test_processes_that_write_at_once_lose_nothing(mog: Path, tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent / "helpers")!r})
from pathlib import Path
from set_kit import one_set, sized
who = sys.argv[1]
for at in range(15):
    one = one_set(Path({str(mog)!r}), window=1_000_000)
    one.serve([sized(f"{{who}}-{{at}}", 10)])
"""
    running = [subprocess.Popen([sys.executable, "-c", code, str(who)], cwd=tmp_path) for who in range(3)]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    state = one_set(mog, window=1_000_000).state()
    assert (state.turn, state.used, len(state.items)) == (45, 450, 45)
    assert state.totals.taken == 450 and len({row.entry.last for row in state.items}) == 45


def test_the_same_text_is_kept_once_and_goes_with_its_last_session(mog: Path) -> None:
    sets = WorkingSets(mog, config())
    for name in ("one", "two"):
        sets.session(name).serve([item("a"), item("b")])
    sets.close()
    assert (rows(mog, "entries"), rows(mog, "texts")) == (4, 1)
    sets.clear("one")
    sets.close()
    assert rows(mog, "texts") == 1
    sets.clear("two")
    sets.close()
    assert rows(mog, "texts") == 0


def test_bytes_that_were_cleared_are_nowhere_on_the_disk(mog: Path) -> None:
    sets = WorkingSets(mog, config())
    ref = sets.session("agent").serve([item("needle-in-the-file", "x")]).refs[0]
    assert any(b"needle-in-the-file" in path.read_bytes() for path in mog.iterdir())
    sets.clear("agent")
    assert not any(word in path.read_bytes() for path in mog.iterdir() for word in (b"needle-in-the-file", ref.encode()))


def test_the_longest_unused_sessions_give_way(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "MAX_SESSIONS", 3)
    sets = WorkingSets(mog, config())
    for name in ("a", "b", "c"):
        sets.session(name).serve([item()])
    sets.session("a").name_again(())
    sets.session("d").serve([item()])
    assert [row.name for row in sets.sessions()] == ["d", "a", "c"]


def noise(at: int) -> str:
    """A text that does not compress."""
    return "".join(f"{(at * 7919 + step * 104729) ** 3 % 16**15:x}" for step in range(60))


def filled(agent: WorkingSet, count: int) -> list[str]:
    return [agent.serve([item(f"a{at}", noise(at), zoom=Zoom.L2)]).refs[0] for at in range(count)]


def test_the_file_stays_within_its_bytes_and_what_is_held_is_kept(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "MAX_BYTES", 100_000)
    sets = WorkingSets(mog, config(2_000))
    sets.session("other").serve([item("other", noise(5))])
    agent = sets.session("agent")
    refs = filled(agent, 200)
    state = agent.state()
    assert [row.name for row in sets.sessions()] == ["agent"]
    assert all(agent.recall(row.entry.ref).item.text for row in state.items)
    lost = [stub for stub in state.stubs if not stub.whole]
    assert lost and len(state.stubs) + len(state.items) == 200
    with pytest.raises(NotFound, match="given up"):
        agent.recall(lost[-1].ref)
    assert agent.recall(refs[-20]).item.text == noise(180)
    assert (mog / "served.db").stat().st_size < 150_000


def test_entries_of_a_session_are_bounded(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "MAX_ENTRIES", 5)
    agent = one_set(mog)
    filled(agent, 30)
    with agent._store.reading() as book:
        assert book is not None
        session = book.session("agent")
        assert session is not None
        assert len(book.entries(session.row, (Place.evicted, Place.replaced))) <= 5


def test_a_ref_that_another_thing_has_becomes_longer(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "_DIGITS", (1, 32))
    agent = one_set(mog)
    refs = [agent.serve([sized(f"a{at}", 3)]).refs[0] for at in range(40)]
    assert len(set(refs)) == 40 and {len(ref) for ref in refs} == {4, 35}
    assert agent.serve([sized("a3", 3)]).refs[0] == refs[3]
    assert [agent.recall(ref).item.id for ref in refs[:5]] == ["a0", "a1", "a2", "a3", "a4"]
