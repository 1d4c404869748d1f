"""Configuration: precedence with origins, refusals with file, line and nearest name, hostile files."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mog.app import config
from mog.engine.config import EngineConfig
from mog.engine.errors import ConfigError


def write(root: Path, text: str, name: str = "mog.yaml") -> Path:
    """A configuration file in ``root``."""
    (root / name).write_text(text, encoding="utf-8")
    return root


def origin(loaded: config.Config, name: str) -> str:
    """Who set ``name``."""
    return next(setting.origin for setting in loaded.settings if setting.name == name)


def refusal(root: Path, environ: dict[str, str] | None = None) -> str:
    """The message of the error that loading raises."""
    with pytest.raises(ConfigError) as caught:
        config.load(root, environ or {})
    return str(caught.value)


def test_without_a_file_everything_is_built_in(tmp_path: Path) -> None:
    loaded = config.load(tmp_path, {})
    assert loaded.engine == EngineConfig()
    assert {setting.origin for setting in loaded.settings} == {"built-in"}


@pytest.mark.parametrize(("record", "of_tui"), [(EngineConfig, False), (config.TuiConfig, True)])
def test_every_field_has_exactly_one_key(record: type, of_tui: bool) -> None:
    fields = sorted(field.name for field in dataclasses.fields(record))
    assert sorted(key.field for key in config.KEYS if key.of_tui == of_tui) == fields


def test_the_section_of_the_workbench_arrives_as_it_was_written(tmp_path: Path) -> None:
    lines = ["tui:", "  theme: light", "  motion: off", "  keys:", "    why: W", "    search: [ctrl+f, '/']", "  themes:"]
    write(tmp_path, "\n".join([*lines, "    mine: {base: dark, bg: '#101010'}"]))
    loaded = config.load(tmp_path, {"MOG_TUI_MOUSE": "off"})
    wanted = config.TuiConfig(
        theme="light",
        themes={"mine": {"base": "dark", "bg": "#101010"}},
        keys={"why": "W", "search": ["ctrl+f", "/"]},
        motion="off",
        mouse="off",
    )
    assert loaded.tui == wanted and loaded.origin("tui.keys") == "mog.yaml:4"
    keys = config.load(tmp_path, {"MOG_TUI_KEYS": "why=Q, inspect=I"})
    assert keys.tui.keys == {"why": "Q", "inspect": "I"} and keys.origin("tui.keys") == "MOG_TUI_KEYS"


def test_on_and_off_are_words_of_a_choice_although_yaml_reads_truth_values(tmp_path: Path) -> None:
    assert config.load(write(tmp_path, "embeddings:\n  tie_breaker: on\n"), {}).engine.embeddings == "on"


def test_later_sources_win_and_say_who_they_are(tmp_path: Path) -> None:
    write(tmp_path, "version: 1\nproject: shop\nindex:\n  workers: 2\n  max_file_bytes: 10\n  exclude: [a/, b/]\n")
    write(tmp_path, "index:\n  workers: 3\n  exclude: [c/]\n", "mog.local.yaml")
    environ = {"MOG_INDEX_WORKERS": "4", "MOG_WATCH_POLL_SECONDS": "0.5", "MOG_INDEX_INCLUDE": "src/, lib/"}
    loaded = config.load(tmp_path, environ, {"index.workers": 5})
    assert loaded.engine.workers == 5
    assert loaded.engine.max_file_bytes == 10
    assert loaded.engine.exclude == ("c/",)
    assert loaded.engine.include == ("src/", "lib/")
    assert loaded.engine.poll_seconds == 0.5
    assert origin(loaded, "index.workers") == "--workers"
    assert origin(loaded, "index.exclude") == "mog.local.yaml:3"
    assert origin(loaded, "index.include") == "MOG_INDEX_INCLUDE"
    assert origin(loaded, "project") == "mog.yaml:2"
    assert config.load(tmp_path, environ).engine.workers == 4


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ("indx:\n  workers: 1\n", "mog.yaml:1", "nearest is index"),
        ("index:\n  worker: 1\n", "mog.yaml:2", "nearest is index.workers"),
        ("index:\n  workers: many\n", "mog.yaml:2", "a whole number"),
        ("index:\n  workers: true\n", "mog.yaml:2", "a whole number"),
        ("index:\n  workers: -1\n", "mog.yaml:2", "0 or more"),
        ("index:\n  workers: 1\n  workers: 2\n", "mog.yaml:3", "set twice"),
        ("index:\n  exclude: src/\n", "mog.yaml:2", "a list of gitignore-style patterns"),
        ("index: 3\n", "mog.yaml:1", "not a mapping"),
        ("watch:\n  mode: sometimes\n", "mog.yaml:2", "auto, poll, off"),
        ("tui:\n  keys: [why]\n", "mog.yaml:2", "a mapping from actions to keys"),
        ("tui:\n  keys: {why: [[W]]}\n", "mog.yaml:2", "a mapping from actions to keys"),
        ("tui:\n  themes: {mine: dark}\n", "mog.yaml:2", "a mapping from a name"),
        ("tui:\n  key: {}\n", "mog.yaml:2", "nearest is tui.keys"),
        ("watch:\n  poll_seconds: 0\n", "mog.yaml:2", "between 0.05"),
        ("version: 2\n", "mog.yaml:1", "version: 1"),
        ("version: true\n", "mog.yaml:1", "version: 1"),
        ("project: !!python/object/apply:os.system ['true']\n", "mog.yaml:1", "not plain YAML"),
        ("a: &x [1]\nproject: *x\n", "mog.yaml:2", "aliases are not accepted"),
        ("project: [\n", "mog.yaml:2", "correct the YAML"),
        ("- a\n", "mog.yaml:1", "not a mapping"),
        ("project: 2020-13-45\n", "mog.yaml:1", "not plain YAML"),
    ],
)
def test_a_refusal_names_file_line_and_what_would_be_right(tmp_path: Path, text: str, where: str, says: str) -> None:
    message = refusal(write(tmp_path, text))
    assert where in message
    assert says in message


def test_a_bad_variable_is_refused_by_its_name(tmp_path: Path) -> None:
    assert "MOG_INDEX_WORKERS" in refusal(tmp_path, {"MOG_INDEX_WORKERS": "lots"})


def test_an_unknown_variable_is_said_not_refused(tmp_path: Path) -> None:
    loaded = config.load(tmp_path, {"MOG_INDEX_WORKER": "3"})
    assert loaded.notes == ("the variable MOG_INDEX_WORKER has no meaning here; the nearest is MOG_INDEX_WORKERS",)


def test_sections_of_later_versions_are_accepted_and_said(tmp_path: Path) -> None:
    loaded = config.load(write(tmp_path, "retrieval:\n  seeds: 8\nindex:\n  languages: [python]\n"), {})
    assert [note.split(":")[1] for note in loaded.notes] == ["1", "4"]
    assert loaded.engine == EngineConfig()


def test_an_empty_file_and_empty_sections_are_fine(tmp_path: Path) -> None:
    assert config.load(write(tmp_path, "# nothing\n"), {}).engine == EngineConfig()
    assert config.load(write(tmp_path, "index:\n"), {}).engine == EngineConfig()


def test_a_deeply_nested_file_is_refused(tmp_path: Path) -> None:
    assert "mog.yaml" in refusal(write(tmp_path, "[" * 50_000))


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    assert "is larger than" in refusal(write(tmp_path, "# " + "x" * config.MAX_FILE_BYTES))


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mog.yaml").write_bytes(b"project: \xff\xfe\n")
    assert "not UTF-8" in refusal(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="links and fifos need rights there")
def test_links_and_fifos_are_not_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text("project: stolen\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "mog.yaml").symlink_to(outside)
    message = refusal(root)
    assert "not a regular file" in message
    assert "stolen" not in message
    (root / "mog.yaml").unlink()
    os.mkfifo(root / "mog.yaml")
    assert "not a regular file" in refusal(root)


def test_yaml_is_not_imported_without_a_file(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from mog.app.config import load; load(Path(sys.argv[1]), {});"
        "sys.exit('yaml' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=tmp_path, timeout=60)
    assert done.returncode == 0
