"""The workbench in a real terminal: keys, bytes, signals, colours, sizes, and no terminal at all.

Latencies are printed, not judged: they depend on the machine. Bytes do not, so they are.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

if os.name == "nt":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)
sys.path.insert(0, str(Path(__file__).parent))

from pty_terminal import HOST, environment, workbench

pytestmark = pytest.mark.pty

CURSOR_BYTES, FOCUS_BYTES, KEY_BYTES = 2_200, 8_000, 8_000
"""A move costs two rows and its words, about 600 bytes; what would fall with the row follows, often in the same write."""
RESTORED = ("\x1b[?1049l", "\x1b[?25h", "\x1b[?1000l")


def p95(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def test_bytes_per_key_in_the_graph_pane(capsys: pytest.CaptureFixture[str]) -> None:
    with workbench(size=(160, 45)) as terminal:
        moves = [sample for key in "jjkklh" for sample in terminal.latencies(key, 1)]
        jumps = [sample for key in ("l\r", ",", ".", "\t", "t") for sample in terminal.latencies(key, 1)]
    assert max(size for _, size in moves) <= CURSOR_BYTES
    assert all(0 < size <= KEY_BYTES for _, size in jumps)
    with capsys.disabled():
        slow, wide = p95([ms for ms, _ in moves]), max(size for _, size in moves + jumps)
        print(f"\n  key to last byte, graph 160x45: p95 {slow:.0f} ms, at most {wide} bytes")


def test_a_million_rows_are_ready_at_once_and_page_cheaply(capsys: pytest.CaptureFixture[str]) -> None:
    with workbench("--rows", "1000000", size=(160, 45), wait="event of row 0") as terminal:
        pages = terminal.latencies("\x1b[6~", 5) + terminal.latencies("G", 1) + terminal.latencies("g", 1)
        assert "999,999" not in terminal.screen()
        with capsys.disabled():
            print(f"\n  page of 1,000,000 rows, 160x45: p95 {p95([ms for ms, _ in pages]):.0f} ms")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_leave_the_terminal_as_it_was(number: signal.Signals, code: int) -> None:
    with workbench() as terminal:
        os.kill(terminal.process.pid, number)
        assert terminal.end() == code
        text = terminal.raw.decode("utf-8", "replace")
    for sequence in RESTORED:
        assert text.rfind(sequence) > text.rfind("\x1b[?1049h"), sequence


def test_a_terminal_that_goes_away_without_a_signal_ends_it() -> None:
    with workbench() as terminal:
        os.close(terminal.master)  # this child has it for its input and not for its session: no signal comes
        assert terminal.process.wait(20) == 129
        terminal.master = os.open(os.devnull, os.O_RDWR)


def test_a_signal_during_an_index_ends_it_too() -> None:
    with workbench("--index", "--slow", "0.3", wait="index") as terminal:
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.end() == 143


def test_an_index_built_by_worker_processes_fills_the_screen() -> None:
    with workbench("--index", wait="") as terminal:
        shown = terminal.wait_until(lambda shown: "Cart.total" in shown and "indexed 412 files" in shown, 40.0)
        assert "failed" not in shown


def test_quit_ends_with_zero_and_ctrl_c_twice_with_130() -> None:
    with workbench() as terminal:
        terminal.send("q")
        assert terminal.end() == 0
    with workbench() as terminal:
        terminal.send("\x03")
        terminal.wait_for("once more quits")
        terminal.send("\x03")
        assert terminal.end() == 130


def test_no_color_sends_no_colour() -> None:
    with workbench(env=environment(NO_COLOR="1")) as terminal:
        terminal.send("j/tot")
        terminal.wait_for("4 of 4")
        codes = re.findall(r"\x1b\[([0-9;]*)m", terminal.raw.decode("utf-8", "replace"))
    parts = {part for code in codes for part in code.split(";")}
    assert parts <= {"", "0", "1", "7", "39", "49"}, parts


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
def test_ansi_themes_send_no_colour_of_their_own(theme: str) -> None:
    with workbench("--theme", theme) as terminal:
        assert not re.search(r"[34]8;[25]", terminal.raw.decode("utf-8", "replace"))


@pytest.mark.parametrize("variant", [{"TERM": "dumb"}, {"TERM": ""}])
def test_a_terminal_that_cannot_place_a_cursor_gets_the_plain_report(variant: dict[str, str]) -> None:
    with workbench(env=environment(**variant), wait="") as terminal:
        assert terminal.end() == 0
        text = terminal.raw.decode("utf-8", "replace")
    assert "\x1b" not in text and "believed about it" in text and "skipped" in text


def test_without_a_terminal_the_plain_report_is_printed_and_the_toolkit_not_imported() -> None:
    code = f"import sys, runpy; sys.argv = ['host']; runpy.run_path({str(HOST)!r}, run_name='host_module')['main']()"
    code += "\nassert 'textual' not in sys.modules, 'textual'"
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, env=environment()
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"\x1b" not in done.stdout + done.stderr and b"Cart.total" in done.stdout


def test_resizing_keeps_the_screen_whole() -> None:
    with workbench(size=(120, 36)) as terminal:
        before = terminal.screen()
        for width, height, there in ((60, 15, "1»Graph"), (30, 8, "mog needs"), (120, 36, "9,741 of 9,800")):
            terminal.resize(width, height)
            terminal.wait_for(there)
        terminal.read(quiet=0.5)
        assert terminal.screen() == before


def test_ascii_glyphs_where_the_locale_has_no_others() -> None:
    with workbench(env=environment(MOG_GLYPHS="ascii")) as terminal:
        assert terminal.screen().isascii()


def test_keys_typed_one_by_one_find_and_open_a_symbol() -> None:
    with workbench() as terminal:
        for key in "/round_c\r":
            terminal.send(key)
            terminal.read(quiet=0.05)
        terminal.wait_until(lambda shown: "[f] round_cents  " in shown and "in 3" in shown)


def test_mouse_mode_and_focus_reports_are_taken_back() -> None:
    with workbench() as terminal:
        terminal.send("q")
        terminal.end()
        text = terminal.raw.decode("utf-8", "replace")
    for mode in re.findall(r"\x1b\[\?(\d+)h", text):
        assert f"\x1b[?{mode}l" in text or mode == "25", mode
