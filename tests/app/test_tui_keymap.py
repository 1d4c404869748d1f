"""Keys that a person moves: what is refused and with which words, how the moved ones are written, and the page about them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mog_process import run
from textual.keys import _character_to_key
from tree import ROOT

from mog.app.tui import cheatsheet, keys
from mog.app.tui.keymap import FORBIDDEN, PLAIN, keymap, normal, without_command, written
from mog.app.tui.screens.home import Home
from mog.engine.errors import ConfigError

METHODS = [name.removeprefix("action_") for name in dir(Home) if name.startswith("action_")] + ["act"]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"wy": "W"}, "tui.keys.wy: there is no such action; the nearest is why"),
        ({"pane.drifts": "W"}, "the nearest is pane.drift"),
        ({"why": ""}, "tui.keys.why: no key is given"),
        ({"why": []}, "no key is given"),
        ({"why": "alt+w"}, "alt reaches a program as esc"),
        ({"why": "foo"}, "'foo' is no key"),
        ({"why": "ctrl+é"}, "is no key"),
        ({"why": "shift+w"}, "is no key"),
        ({"why": "\x1b"}, "is no key"),
        ({"why": "j"}, "tui.keys.why: j already is down"),
        ({"why": "f9", "pin": "f9"}, "f9 already is"),
        ({"why": ["f9", "?"]}, "? already is help"),
        *(({"why": written(key)}, why) for key, why in FORBIDDEN.items()),
    ],
)
def test_what_cannot_be_is_refused_with_file_field_and_a_way_out(wanted: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        keymap(wanted, "mog.yaml:4")
    assert says in str(caught.value)
    assert caught.value.where == "mog.yaml:4" and caught.value.way_out
    assert "\x1b" not in str(caught.value)


def test_two_actions_may_change_places() -> None:
    made = keymap({"why": "i", "inspect": "w"}, "mog.local.yaml:2")
    assert (made.shown("why"), made.shown("inspect")) == ("i", "w")
    assert made.sentence("w: nothing rests on it") == "i: nothing rests on it"
    assert made.sentence("p: nothing pinned") == "p: nothing pinned"
    assert made.spelled("j k") == "j k" and made.spelled("w") == "i"


def test_a_key_is_named_as_the_toolkit_names_it() -> None:
    for code in range(33, 127):
        assert normal(chr(code)) == _character_to_key(chr(code))
        assert written(normal(chr(code))) == chr(code)
    assert [normal(word) for word in ("PgDn", "esc", "ctrl+P", "ctrl++", "F2", "↓")] == [
        "pagedown", "escape", "ctrl+p", "ctrl+plus", "f2", "down",
    ]  # fmt: skip


def test_the_keys_of_the_table_are_keys_a_person_may_take() -> None:
    for key in keys.KEYS:
        names = [written(one) for one in key.keys.split(",")]
        assert keymap({key.name: names}, "").shown(key.name if key.id.startswith("act.") else key.action) == names[0]


def test_names_of_actions_are_all_different() -> None:
    assert len({key.name for key in keys.KEYS}) == len(keys.KEYS)


def test_an_action_without_a_command_is_found() -> None:
    assert without_command(keys.KEYS, METHODS) == ()
    lost = (replace(keys.KEYS[0], action="vanish"), replace(keys.KEYS[0], action="act('vanish')"))
    assert without_command(lost, METHODS) == ("vanish", "vanish")


def test_the_page_of_keys_is_current() -> None:
    assert (ROOT / "docs" / "keys.md").read_text(encoding="utf-8") == cheatsheet.markdown()


def test_the_sheet_lists_every_action_with_the_keys_as_they_are() -> None:
    text = cheatsheet.text(keymap({"why": "W"}, "mog.yaml:2"))
    assert all(key.name in text for key in keys.KEYS)
    assert "  W " in text and "1 moved by mog.yaml:2" in text
    assert "moved" not in cheatsheet.text(PLAIN)


def test_mog_tui_keys_prints_them_and_a_bad_key_is_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "mog.yaml").write_text("tui:\n  keys: {why: W}\n", encoding="utf-8")
    done = run(tmp_path, "tui", "--keys")
    assert done.returncode == 0 and "why does it stand" in done.stdout.decode()
    (tmp_path / "mog.yaml").write_text("tui:\n  keys: {why: ctrl+i}\n", encoding="utf-8")
    done = run(tmp_path, "tui", "--keys")
    assert done.returncode == 3 and "tui.keys.why: ctrl+i is tab" in done.stderr.decode()
    assert "mog.yaml:2" in done.stderr.decode()


def test_neither_table_nor_keymap_load_the_toolkit() -> None:
    code = "import sys, mog.app.tui.options, mog.app.tui.cheatsheet; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, timeout=60).returncode == 0
