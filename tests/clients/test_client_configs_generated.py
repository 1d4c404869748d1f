"""Rules of entering and taking away, over generated files: the bytes come back, nothing foreign changes, edits in between survive."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from client_world import is_insertion
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mog.app.clients import entries, jsonc, tomltext
from mog.app.clients.known import CLIENTS, Place
from mog.engine.errors import ConfigError

SOME = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ARGUMENTS = ("serve", "--mcp")
_COMMENTS = {
    "json": re.compile(rb'"(?:\\.|[^"\\])*"|(//[^\r\n]*|/\*.*?\*/)', re.S),
    "toml": re.compile(rb"# [a-z][^\r\n]*"),
}
BY_NAME = {client.name: client for client in CLIENTS}
GAPS = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\n\t", "\n\n    ", " /* x */ ", ' // it\'s "here"\n', "\n// mog, {\n  "]
)
KEYS = st.sampled_from(["a", "b", "command", "x y", "käse", 'q"', "//", "/*", "mog2", "mcpServers2", ""])
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9),
    st.sampled_from([0.5, "// no", "/* no */", '"', "\\", "\u2028", "🧮", "a,]", "{}", "mog"]),
)  # fmt: skip


@st.composite
def json_text(draw: st.DrawFn, value: Any) -> str:
    """One value written with white space, comments and trailing commas of the strategy's choice."""

    def gap() -> str:
        return draw(GAPS)

    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    if isinstance(value, dict):
        parts = [
            f"{gap()}{json.dumps(key)}{gap()}:{gap()}{draw(json_text(item))}{gap()}" for key, item in value.items()
        ]
    else:
        parts = [f"{gap()}{draw(json_text(item))}{gap()}" for item in value]
    last = "," + gap() if parts and draw(st.booleans()) else ""
    ends = "{}" if isinstance(value, dict) else "[]"
    return ends[0] + (",".join(parts) + last or gap()) + ends[1]


VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


@st.composite
def json_files(draw: st.DrawFn, holder: str) -> bytes:
    """A configuration file, with or without the object that holds servers, in any place."""
    data = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    if draw(st.booleans()):
        items = [*data.items()]
        items.insert(draw(st.integers(0, len(items))), (holder, draw(st.dictionaries(KEYS, VALUES, max_size=3))))
        data = dict(items)
    text = draw(GAPS) + draw(json_text(data)) + draw(GAPS)
    text = draw(st.sampled_from([text, text, "", "\n", "// nothing yet\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text.encode()


LINES = st.sampled_from(
    [
        "", "# a comment", "  # [mcp_servers.mog]", "[tui]", "[mcp_servers]", "[mcp_servers.docs] # c", "[mcp_servers.docs.env]",
        '[mcp_servers."a.b"]', "[[profiles]]", 'command = "x"', "args = [\n  'a', # one\n  \"b\",\n]", "x = 1979-05-27T07:32:00Z",
        'text = """\n[mcp_servers.mog]\n"""', "lit = '''\n[mcp_servers.mog]'''", "n = nan", "t = { a = 1, b = [ 1, { c = 2 } ] }",
        "docs.command = 'y'", "mcp_servers.other.command = 'z'", 'quoted = "[mcp_servers.mog]"', '"odd key" = true',
    ]
)  # fmt: skip


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@st.composite
def toml_files(draw: st.DrawFn) -> bytes:
    text = ""
    for line in draw(st.lists(LINES, max_size=14)):
        text = longer if is_toml(longer := f"{text}{line}\n") else text
    text = text.removesuffix("\n") + draw(st.sampled_from(["\n", "\n\n", ""]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text.encode()


def files_of(name: str) -> st.SearchStrategy[bytes]:
    client = BY_NAME[name]
    return toml_files() if client.form == "toml" else json_files(client.holder)


def data_of(name: str, data: bytes) -> dict[str, Any]:
    client, text = BY_NAME[name], data.decode("utf-8-sig")
    return jsonc.read(text, "f") if client.form == "json" else tomltext.read(text, "f")


def foreign(name: str, data: bytes) -> tuple[dict[str, Any], list[str]]:
    """All that is not ours, with the order of keys, and the comments."""
    found = data_of(name, data)
    rest = {key: value for key, value in found.pop(BY_NAME[name].holder, {}).items() if key != "mog"}
    notes = _COMMENTS[BY_NAME[name].form].findall(data)
    return {**found, "": json.dumps(rest, default=str)}, [note.rstrip() for note in notes if note]


class Disk:
    """One file of one client in a folder of its own."""

    def __init__(self, name: str, data: bytes | None, folder: str) -> None:
        self.client = BY_NAME[name]
        self.place = Place(Path(folder), Path(folder))
        self.path = Path(folder) / self.client.project
        if data is not None:
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_bytes(data)

    def install(self, command: str = "mog") -> bytes:
        entries.apply(entries.install(self.client, self.place, "project", command, ARGUMENTS))
        return self.path.read_bytes()

    def uninstall(self) -> bytes:
        entries.apply(entries.uninstall(self.client, self.place, "project"))
        return self.path.read_bytes()


@pytest.mark.parametrize("name", ["vscode", "codex"])
@given(st.data())
@SOME
def test_install_and_uninstall_give_the_bytes_back(name: str, data: st.DataObject) -> None:
    before = data.draw(files_of(name))
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk(name, before, folder)
        after = disk.install()
        assert data_of(name, after)[BY_NAME[name].holder]["mog"]["command"] == "mog"
        assert foreign(name, after) == foreign(name, before)
        assert is_insertion(before, after)
        assert disk.install() == after
        assert disk.uninstall() == before
        assert [one.name for one in disk.path.parent.iterdir()] == [disk.path.name]


def with_servers(holder: str) -> st.SearchStrategy[str]:
    """Of an empty object the white space inside is not remembered, so there is one server at least."""
    servers = st.dictionaries(KEYS, VALUES, min_size=1, max_size=3)
    whole = st.tuples(st.dictionaries(KEYS, VALUES, max_size=3), servers, st.dictionaries(KEYS, VALUES, max_size=1))
    return whole.map(lambda parts: {**parts[0], holder: parts[1], **parts[2]}).flatmap(json_text)


@pytest.mark.parametrize("name", ["gemini", "codex"])
@given(st.data())
@SOME
def test_a_cut_is_the_inverse_of_an_entry_without_any_backup(name: str, data: st.DataObject) -> None:
    client = BY_NAME[name]
    room, path = (jsonc if client.form == "json" else tomltext), (client.holder, "mog")
    if client.form == "json":
        text = data.draw(with_servers(client.holder))
    else:
        text = data.draw(toml_files()).decode("utf-8-sig").rstrip("\r\n") + "\n"
    assert room.drop(room.put(text, path, {"command": "mog", "args": ["serve"]}, "f"), path, "f") == text


@given(
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.sampled_from([None, 2, "\t"]),
)
@SOME
def test_strict_json_stays_strict_json(outer: dict[str, Any], servers: dict[str, Any], indent: Any) -> None:
    """Claude Code and Cursor take no trailing comma; none may be left behind by what was written or cut."""
    text = json.dumps({**outer, "mcpServers": servers, "last": 1}, indent=indent)
    entered = jsonc.put(text, ("mcpServers", "mog"), {"command": "mog", "args": ["serve"]}, "f")
    assert json.loads(entered)["mcpServers"]["mog"]["command"] == "mog"
    for keep in (True, False):
        left = json.loads(jsonc.drop(entered, ("mcpServers", "mog"), "f", keep=keep))
        assert {"mcpServers": {}, **left} == json.loads(text)


@pytest.mark.parametrize("name", ["zed", "codex"])
@given(st.data())
@SOME
def test_what_somebody_adds_in_between_stays_and_ours_goes(name: str, data: st.DataObject) -> None:
    before = data.draw(files_of(name))
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk(name, before, folder)
        text = disk.install().decode("utf-8-sig")
        room = jsonc if disk.client.form == "json" else tomltext
        path = (disk.client.holder, "later")
        try:
            edited = room.put(text, path, {"command": "theirs", "args": ["1"]}, "f").encode()
        except ConfigError:
            assume(False)
        disk.path.write_bytes(edited)
        gone = disk.uninstall()
        found, expected = data_of(name, gone), data_of(name, edited)
        del expected[disk.client.holder]["mog"]
        assert json.dumps(found, default=str) == json.dumps(expected, default=str)
        assert foreign(name, gone)[1] == foreign(name, edited)[1]


@pytest.mark.parametrize("name", ["cursor", "codex"])
@given(st.data(), st.sampled_from(["mog", "two words/mog", 'C:\\tools\\"mog".exe', "mög\u007f"]))
@SOME
def test_another_command_changes_the_entry_and_nothing_else(name: str, data: st.DataObject, command: str) -> None:
    before = data.draw(files_of(name))
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk(name, before, folder)
        disk.install("first")
        after = disk.install(command)
        assert data_of(name, after)[BY_NAME[name].holder]["mog"]["command"] == command
        assert foreign(name, after) == foreign(name, before)
        assert disk.uninstall() == before


@given(json_files("servers"), st.data())
@SOME
def test_any_cut_of_a_file_is_refused_or_still_read_rightly(text: bytes, data: st.DataObject) -> None:
    """A half-written file never becomes something else: either it is damaged, or what there is stays."""
    cut = text[: data.draw(st.integers(0, len(text)))]
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk("vscode", cut, folder)
        try:
            after = disk.install()
        except ConfigError:
            assert disk.path.read_bytes() == cut
        else:
            assert foreign("vscode", after)[0] == foreign("vscode", cut)[0]
