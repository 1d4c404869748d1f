"""Requests that wait for a person: answered once, never after they were given up, and nothing believed that others could write."""

from __future__ import annotations

import json
import os
import stat
import threading
from dataclasses import asdict
from pathlib import Path

import pytest

from mog.engine.approvals import LOST, MAX_BYTES, MOST, Approvals, Said, made
from mog.engine.errors import HeldByOther, MogError, NotFound

YES = Said(True, "person, at the workbench")


class Clock:
    """Wall time that stands still until told."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(tmp_path: Path, clock: Clock) -> Approvals:
    """The requests of a worktree where a workbench is open."""
    (tmp_path / ".mog").mkdir()
    queue = Approvals(tmp_path / ".mog", clock)
    queue.beat("1.a")
    return queue


def asked(queue: Approvals, **arguments: object) -> str:
    """A request in the queue; its id."""
    request = made("agent 1", "talk", "mesh_resume", "Run what is stale.", arguments)
    queue.ask(request)
    return request.id


def test_a_workbench_is_there_while_it_says_so(queue: Approvals, clock: Clock) -> None:
    assert queue.present()
    clock.now += LOST + 1
    assert not queue.present()
    queue.beat("1.a")
    assert queue.present()
    queue.leave("1.a")
    assert not queue.present()


def test_an_answer_reaches_who_asked_and_nothing_stays(queue: Approvals) -> None:
    id = asked(queue, text="words")
    (request,) = queue.waiting()
    assert (request.id, request.client, request.arguments) == (id, "agent 1", {"text": "words"})
    assert queue.said(id) is None
    queue.answer(id, Said(False, "person, at the workbench", "not now"))
    assert queue.said(id) == Said(False, "person, at the workbench", "not now")
    assert queue.waiting() == () and not queue.withdraw(id)
    queue.forget(id)
    assert [path.name for path in queue.folder.iterdir()] == ["workbench.1.a"]


def test_what_was_given_up_cannot_be_allowed(queue: Approvals) -> None:
    id = asked(queue)
    assert queue.withdraw(id) and queue.waiting() == ()
    with pytest.raises(NotFound, match="waits no longer"):
        queue.answer(id, YES)
    assert queue.said(id) is None


def test_a_request_whose_server_fell_silent_waits_no_longer(queue: Approvals, clock: Clock) -> None:
    id = asked(queue)
    clock.now += LOST + 1
    assert queue.waiting() == ()
    with pytest.raises(NotFound):
        queue.answer(id, YES)
    queue.keep(id)
    assert len(queue.waiting()) == 1


def test_of_many_who_settle_a_request_at_once_exactly_one_does(queue: Approvals) -> None:
    for _ in range(20):
        id, start, won = asked(queue), threading.Barrier(8), []

        def settle(at: int, id: str = id, start: threading.Barrier = start, won: list[int] = won) -> None:
            start.wait()
            try:
                if at % 2:
                    queue.answer(id, YES)
                elif not queue.withdraw(id):
                    return
                won.append(at)
            except NotFound:
                pass

        threads = [threading.Thread(target=settle, args=(at,)) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1 and (queue.said(id) is not None) == bool(won[0] % 2)


def test_a_queue_is_bounded_and_so_is_each_request(queue: Approvals) -> None:
    id = asked(queue, text="\U0001f600" * 100_000, more="\x00" * 100_000, list=["x" * 50_000])
    (request,) = queue.waiting()
    assert all(request.left_out[name] > 10_000 for name in ("text", "more", "list"))
    assert (queue.folder / f"{id}.ask").stat().st_size < MAX_BYTES
    for _ in range(MOST - 1):
        asked(queue)
    with pytest.raises(HeldByOther, match="wait already"):
        asked(queue)


def test_nothing_is_believed_that_others_could_have_written(queue: Approvals, tmp_path: Path) -> None:
    mine = asked(queue)
    theirs = made("evil", "", "mesh_resume", "", {})
    text = json.dumps(asdict(theirs))
    path = queue.folder / f"{theirs.id}.ask"
    path.write_text(text)
    path.chmod(0o644)  # as a checkout makes it
    assert [one.id for one in queue.waiting()] == [mine]
    path.unlink()
    (tmp_path / "elsewhere").write_text(text)
    path.symlink_to(tmp_path / "elsewhere")
    assert [one.id for one in queue.waiting()] == [mine]
    path.unlink()
    os.link(queue.folder / f"{mine}.ask", path)
    assert queue.waiting() == ()  # two names, or the name of another
    path.unlink()
    answer = queue.folder / f"{mine}.said"
    answer.write_text(json.dumps(asdict(YES)))
    answer.chmod(0o666)
    assert queue.said(mine) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", "no json", "[" * 50_000, '{"id": 1}', "x" * 100_000])
def test_a_request_that_nobody_here_wrote_is_passed_over(queue: Approvals, text: str) -> None:
    path = queue.folder / ("a" * 32 + ".ask")
    path.write_text(text)
    path.chmod(0o600)
    os.utime(path, (Clock.now, Clock.now))
    assert queue.waiting() == ()


def test_everything_is_for_this_person_alone(queue: Approvals) -> None:
    id = asked(queue)
    queue.answer(id, YES)
    assert stat.S_IMODE(queue.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in queue.folder.iterdir()} == {0o600}


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".mog" / "run").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".mog" / "run" / "asking").symlink_to(tmp_path / "elsewhere")
    queue = Approvals(tmp_path / ".mog")
    for call in (lambda: queue.beat("1.a"), lambda: asked(queue)):
        with pytest.raises(MogError):
            call()
    assert not queue.present() and queue.waiting() == () and list((tmp_path / "elsewhere").iterdir()) == []


def test_an_id_is_no_path(queue: Approvals) -> None:
    for id in ("../../x", "", "a" * 31, "A" * 32):
        with pytest.raises(NotFound):
            queue.answer(id, YES)


def test_what_was_left_behind_is_swept_away(queue: Approvals, clock: Clock) -> None:
    asked(queue)
    clock.now += 10_000
    queue.beat("2.b")
    assert [path.name for path in queue.folder.iterdir()] == ["workbench.2.b"]
