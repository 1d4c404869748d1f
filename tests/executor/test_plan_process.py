"""One command under its guard: nothing it does outlives it, floods, hangs or fills the disk, and its end is told truly."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import planning
import pytest

from mog.engine.errors import PolicyDenied
from mog.engine.executor.plan_process import KEEP, Ended, Limits, run

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there a guard takes in what left its group")


NOTE = "import os, signal, time; open('pid', 'w').write(str(os.getpid()))\n"


def python(root: Path, code: str, *, timeout: float = 30, largest: int = 10_000_000, **more: object) -> Ended:
    """Run a snippet under guard in ``root``."""
    limits = Limits(timeout, largest, int(more.pop("flood", 64_000_000)))  # type: ignore[call-overload]
    return run([sys.executable, "-c", code], root=root, limits=limits, **more)  # type: ignore[arg-type]


def pid_in(path: Path) -> int:
    """The process id that a snippet wrote down."""
    until = time.monotonic() + 20
    while not (path.exists() and path.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.02)
    return int(path.read_text())


def test_exit_code_and_the_ends_of_both_outputs(tmp_path: Path) -> None:
    done = python(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert done == Ended(3, b"out\n", b"err\n")


def test_nothing_goes_through_a_shell(tmp_path: Path) -> None:
    words = ["; touch owned", "$(touch owned)", "`touch owned`", "| touch owned", "&& touch owned", "*", "$HOME", "a\nb", "-c"]
    code = "import sys, json; print(json.dumps(sys.argv[1:]))"
    done = run([sys.executable, "-c", code, *words], root=tmp_path, limits=Limits(30, 1_000_000))
    import json

    assert json.loads(done.out) == words
    assert list(tmp_path.iterdir()) == []


def test_only_named_variables_are_seen_and_stdin_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_ONE", "x")
    monkeypatch.setenv("WANTED", "y")
    done = python(
        tmp_path, "import os, sys; print(os.environ.get('SECRET_ONE'), os.environ['WANTED'], sys.stdin.read())", names=["WANTED"]
    )
    assert done.out.split() == [b"None", b"y"]


@LINUX
def test_a_daemon_that_left_its_group_is_ended_and_counted(tmp_path: Path) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open('pid', 'w').write(str(os.getpid()))
        os.close(1); os.close(2)
        time.sleep(300)
    os._exit(0)
while not os.path.exists('pid'): time.sleep(0.01)
"""
    done = python(tmp_path, code)
    assert (done.code, done.trouble) == (0, "")
    assert done.left >= 1
    assert not planning.alive(pid_in(tmp_path / "pid"))


@LINUX
def test_forks_without_end_end_with_the_time(tmp_path: Path) -> None:
    code = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        if os.fork() == 0: os.setsid()
        open('pids', 'a').write(f'{os.getpid()}\\n')
        time.sleep(300)
time.sleep(300)
"""
    done = python(tmp_path, code, timeout=3)
    assert "longer than 3 seconds" in done.trouble
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) > 40
    assert [pid for pid in pids if not planning.gone(pid)] == []


def test_one_that_ignores_signals_ends_with_the_time(tmp_path: Path) -> None:
    deaf = "for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\n"
    code = NOTE + deaf + "time.sleep(300)"
    done = python(tmp_path, code, timeout=2)
    assert (done.code, "longer than 2 seconds" in done.trouble) == (None, True)
    assert not planning.alive(pid_in(tmp_path / "pid"))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_is_stopped_and_only_its_end_is_kept(tmp_path: Path, stream: str) -> None:
    done = python(tmp_path, f"import sys\nwhile True: sys.{stream}.write('x' * 9999 + '\\n')", flood=2_000_000)
    assert "more than 2,000,000 bytes" in done.trouble
    assert len(done.out) + len(done.err) == KEEP


def test_a_long_output_within_the_limit_is_no_trouble(tmp_path: Path) -> None:
    done = python(tmp_path, "print('x' * 500_000); print('the end')")
    assert (done.code, done.trouble, len(done.out)) == (0, "", KEEP)
    assert done.out.endswith(b"the end\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_file_of_a_gigabyte_stops_at_the_limit(tmp_path: Path) -> None:
    code = "with open('big', 'wb', buffering=0) as f:\n    for _ in range(1000): f.write(b'x' * 1_000_000)"
    done = python(tmp_path, code, largest=3_000_000)
    assert done.code == 1
    assert b"File too large" in done.err
    assert (tmp_path / "big").stat().st_size <= 3_000_000
    again = run(["dd", "if=/dev/zero", "of=big2", "bs=1M", "count=1000"], root=tmp_path, limits=Limits(60, 3_000_000))
    assert again.code == -signal.SIGXFSZ
    assert (tmp_path / "big2").stat().st_size <= 3_000_000


def test_it_stops_when_nobody_waits(tmp_path: Path) -> None:
    begun = tmp_path / "pid"
    code = NOTE + "time.sleep(300)"
    done = python(tmp_path, code, timeout=200, stopping=begun.exists)
    assert done.trouble == "it was stopped"
    assert not planning.alive(pid_in(begun))


@pytest.mark.skipif(sys.platform == "win32", reason="no kill of that kind there")
def test_when_its_guard_is_killed_it_is_ended_and_that_is_told(tmp_path: Path) -> None:
    code = NOTE + "os.kill(os.getppid(), signal.SIGKILL); time.sleep(300)"
    done = python(tmp_path, code)
    assert (done.code, "guard" in done.trouble) == (None, True)
    assert planning.gone(pid_in(tmp_path / "pid"))


@pytest.mark.skipif(sys.platform == "win32", reason="no kill of that kind there")
def test_when_the_one_who_started_it_is_killed_nothing_goes_on(tmp_path: Path) -> None:
    starter = (
        "import sys\nfrom pathlib import Path\nfrom mog.engine.executor.plan_process import Limits, run\n"
        "code = \"import os, time; open('pid','w').write(str(os.getpid())); time.sleep(300)\"\n"
        "run([sys.executable, '-c', code], root=Path(sys.argv[1]), limits=Limits(200, 1_000_000))\n"
    )
    with subprocess.Popen([sys.executable, "-c", starter, str(tmp_path)], stdin=subprocess.DEVNULL) as process:
        pid = pid_in(tmp_path / "pid")
        process.kill()
    assert planning.gone(pid)


def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    limits = Limits(5, 1_000_000)
    (tmp_path / "text").write_text("no program")
    assert "no program" in run(["nowhere-to-be-found"], root=tmp_path, limits=limits).trouble
    assert "no program" in run(["./missing"], root=tmp_path, limits=limits).trouble
    assert "could not be started" in run(["./text"], root=tmp_path, limits=limits).trouble


def test_a_folder_that_leads_out_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    with pytest.raises(PolicyDenied, match="outside"):
        run([sys.executable, "-c", ""], root=root, cwd="out", limits=Limits(5, 1_000_000))
