"""The workbench in terminals of many kinds: few colours, no locale, a slow line, a multiplexer; hostile text and what is kept."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

if os.name == "nt":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)
sys.path.insert(0, str(Path(__file__).parent))

from pty_terminal import HOST, Terminal, environment, workbench

pytestmark = pytest.mark.pty

_SEQUENCE = re.compile(
    r"\x1b\[[0-9;?<>=$ ]*[@-~]|\x1b\](?:0|2|8|10|11|22|52);[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[=>78(][B0]?"
)


@pytest.mark.parametrize(
    ("more", "wanted", "refused"),
    [
        ({"COLORTERM": ""}, r"[34]8;5;", r"[34]8;2;"),
        ({"COLORTERM": "", "TERM": "xterm"}, r"\[[0-9;]*9[1-6]", r"[34]8;[25]"),
        ({"COLORTERM": "", "TERM": "linux"}, r"\[[0-9;]*9[1-6]", r"[34]8;[25]"),
    ],
    ids=["256", "16", "console"],
)
def test_a_terminal_gets_no_more_colours_than_it_has(more: dict[str, str], wanted: str, refused: str) -> None:
    with workbench(env=environment(**more)) as terminal:
        text = terminal.raw.decode("utf-8", "replace")
    assert re.search(wanted, text) and not re.search(refused, text)


def test_the_c_locale_gets_ascii_alone() -> None:
    env = {key: value for key, value in environment(LC_ALL="C").items() if key != "LANG"}
    with workbench(env=env) as terminal:
        terminal.send("4j?")
        terminal.wait_for("Keys in Drift")
        terminal.send("\x1b")
        terminal.wait_for("j k move")
        terminal.send("\x10")
        terminal.wait_for("Commands")
        assert terminal.screen().isascii()


def test_no_color_holds_in_palette_help_labels_and_jump_line() -> None:
    with workbench(env=environment(NO_COLOR="1")) as terminal:
        for keys, there in (("\x10", "Commands"), ("\x1b", "j k move"), ("f", "letters"), ("\x1b", "j k move"), (":dr", "drift")):
            terminal.send(keys)
            terminal.wait_for(there)
        codes = re.findall(r"\x1b\[([0-9;]*)m", terminal.raw.decode("utf-8", "replace"))
    parts = {part for code in codes for part in code.split(";")}
    assert parts <= {"", "0", "1", "7", "39", "49"}, parts


def test_hostile_text_sends_no_byte_that_we_did_not_mean() -> None:
    with workbench("--hostile", size=(100, 30), wait="j k move") as terminal:
        for keys in ("j", "4", "j", "8", "/total", "\x1b", "?", "\x1b"):
            terminal.send(keys)
            terminal.read(quiet=0.15)
        text = terminal.raw.decode("utf-8", "strict")
        terminal.send("q")
        terminal.end()
    rest = _SEQUENCE.sub("", text)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rest), rest[:200]
    assert "owned" not in "".join(re.findall(r"\x1b\][^\x07\x1b]*", text))


def test_a_slow_line_loses_no_key_and_ends_when_told() -> None:
    with workbench(size=(120, 36)) as terminal:
        for _ in range(12):
            terminal.send("jk")
            os.read(terminal.master, 64)
            time.sleep(0.02)
        terminal.send("4")
        terminal.wait_for("» 4 Drift")
        terminal.send("q")
        assert terminal.end() == 0


def test_a_line_that_is_cut_ends_the_program() -> None:
    with workbench() as terminal:
        os.kill(terminal.process.pid, signal.SIGHUP)
        assert terminal.end() == 129


def test_where_one_was_is_kept_through_a_signal(tmp_path: Path) -> None:
    kept = tmp_path / ".mog" / "run" / "workbench.json"
    with workbench("--kept", str(kept)) as terminal:
        terminal.send("4")
        terminal.wait_for("» 4 Drift")
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.end() == 143
    assert kept.stat().st_mode & 0o077 == 0
    with workbench("--kept", str(kept), wait="» 4 Drift") as terminal:
        assert "Cart.total" in terminal.screen()


@pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")
def test_a_multiplexer_may_leave_come_back_and_change_the_size(tmp_path: Path) -> None:
    tmux = ["tmux", "-S", str(tmp_path / "s"), "-f", os.devnull]
    env = environment()
    start = [*tmux, "new-session", "-d", "-x", "120", "-y", "36", sys.executable, str(HOST)]
    subprocess.run(start, env=env, stdin=subprocess.DEVNULL, check=True, timeout=30)
    try:
        for size, there in (((120, 36), "1 Graph"), ((60, 15), "1»Graph"), ((30, 8), "mog needs"), ((120, 36), "1 Graph")):
            client = Terminal([*tmux, "attach"], size, env)
            try:
                client.wait_for(there, 30.0)
                assert "Traceback" not in client.screen()
            finally:
                subprocess.run([*tmux, "detach-client", "-a"], env=env, stdin=subprocess.DEVNULL, timeout=30, check=False)
                client.process.kill()
                client.process.wait()
                os.close(client.master)
        subprocess.run([*tmux, "send-keys", "q"], env=env, stdin=subprocess.DEVNULL, check=True, timeout=30)
        began = time.monotonic()
        while subprocess.run([*tmux, "has-session"], env=env, capture_output=True, check=False).returncode == 0:
            assert time.monotonic() - began < 20, "q ends the program, and with it the session"
            time.sleep(0.1)
    finally:
        subprocess.run([*tmux, "kill-server"], env=env, capture_output=True, check=False)
