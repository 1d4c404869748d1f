"""The command as a process: signals, pipes, locales, terminals, what it writes where."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mog.app.cli import exit_codes
from mog.app.cli.diagnostics import ProgressBar
from mog.engine.model import Progress

HELPERS = Path(__file__).resolve().parent.parent / "helpers"
DRIVER = """
import sys, time
sys.path.insert(0, sys.argv[1])
import hostile_answers
sys.modules["mog.engine.workspace"] = hostile_answers
class Slow(hostile_answers.Workspace):
    def index(self, **kw):
        print("ready", file=sys.stderr, flush=True)
        time.sleep(60)
if sys.argv[2] == "slow":
    hostile_answers.Workspace = Slow
if sys.argv[2] == "long":
    hostile_answers.Workspace.behaviour["export_edges"] = hostile_answers.ROWS * 100_000
from mog.app.cli.main import main
raise SystemExit(main(sys.argv[3:]))
"""


def command(*arguments: str, mode: str = "") -> list[str]:
    """Argument vector of ``mog ARGUMENTS`` over the fake workspace."""
    return [sys.executable, "-c", DRIVER, str(HELPERS), mode, *arguments]


def run(cwd: Path, *arguments: str, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run to the end without a terminal."""
    environ = {**os.environ, **(environ or {})}
    vector = command(*arguments)
    return subprocess.run(vector, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, env=environ)


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version_is_one_line(tmp_path: Path, flag: str) -> None:
    import mog

    assert run(tmp_path, flag).stdout.decode().split() == ["mog", mog.__version__]


def test_data_and_narration_do_not_mix(tmp_path: Path) -> None:
    done = run(tmp_path, "show", "nobody")
    assert (done.stdout, done.returncode) == (b"", exit_codes.NOTHING)
    done = run(tmp_path, "index", "--json")
    assert done.stderr == b""


@pytest.mark.parametrize(
    "environ", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}]
)
def test_any_locale_is_enough(tmp_path: Path, environ: dict[str, str]) -> None:
    done = run(tmp_path, "show", "total", environ=environ)
    assert done.returncode == exit_codes.OK
    assert done.stdout.isascii() or environ.get("PYTHONIOENCODING") == "cp1252"
    assert b"\x1b" not in done.stdout


def test_json_is_ascii_in_every_locale(tmp_path: Path) -> None:
    assert run(tmp_path, "show", "total", "--json", environ={"LC_ALL": "C.UTF-8"}).stdout.isascii()


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to a child there")
def test_an_interrupt_ends_the_process_with_130(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("index", mode="slow"),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == exit_codes.CANCELLED
    assert (out, err) == (b"", b"mog: cancelled\n")


def test_a_reader_that_leaves_early_is_no_failure(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("export", "edges", mode="long"),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(timeout=30) == exit_codes.OK
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("status"), cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.returncode == exit_codes.USAGE
    assert b"No space left" in done.stderr


class Terminal:
    """A stream that says it is a terminal and keeps what is written."""

    encoding = "utf-8"

    def __init__(self, tty: bool = True) -> None:
        self.tty = tty
        self.text = ""

    def isatty(self) -> bool:
        return self.tty

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        return None


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the progress bar sees; set item 0."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_progress_is_silent_in_the_first_second_and_cleared_after(clock: list[float]) -> None:
    stream = Terminal()
    with ProgressBar(stream=stream) as bar:  # type: ignore[arg-type]
        bar(Progress("parse", 1, 10))
        assert stream.text == ""
        clock[0] = 1.5
        bar(Progress("parse", 5, 10))
        assert "50%  5 of 10" in stream.text
        drawn = stream.text
        bar(Progress("parse", 6, 10))
        assert stream.text == drawn, "ten times a second at most"
    assert stream.text.endswith("\r\x1b[K")


@pytest.mark.parametrize(("tty", "quiet"), [(False, False), (True, True)])
def test_progress_is_for_a_terminal_that_did_not_ask_for_quiet(clock: list[float], tty: bool, quiet: bool) -> None:
    stream = Terminal(tty)
    with ProgressBar(quiet=quiet, stream=stream) as bar:  # type: ignore[arg-type]
        clock[0] = 5.0
        bar(Progress("parse", 5, 10))
    assert stream.text == ""


@pytest.mark.pty
@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
@pytest.mark.parametrize(
    ("environ", "flags", "colored"),
    [
        ({"TERM": "xterm"}, [], True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, [], False),
        ({"TERM": "dumb"}, [], False),
        ({"TERM": "xterm"}, ["--no-color"], False),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    tmp_path: Path, environ: dict[str, str], flags: list[str], colored: bool
) -> None:
    import pty

    ours, theirs = pty.openpty()
    environ = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, **environ}
    vector = command("map", *flags)
    done = subprocess.run(
        vector, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, timeout=60, env=environ
    )
    os.close(theirs)
    text = os.read(ours, 65536)
    os.close(ours)
    assert done.returncode == exit_codes.OK
    assert (b"\x1b[" in text) is colored
