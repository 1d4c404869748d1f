"""``mog mcp`` on files as people have them: what is not ours stays byte for byte, and an uninstall gives the file back."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from client_world import World, everything_below, is_insertion, put

from mog.app.cli.run import run
from mog.app.clients import disk, jsonc
from mog.app.clients.known import CLIENTS

FAKE_KEY = "ghp_" + "FAKE" * 9

CLAUDE = """{
  "mcpServers": {
    "tickets": {
      "type": "http",
      "url": "https://tickets.example.invalid/mcp",
      "headers": { "Authorization": "Bearer ${TICKETS_TOKEN}" }
    },
    "browser": { "command": "npx", "args": ["-y", "browser-mcp@latest", "--headless"], "env": {} }
  }
}
"""
CLAUDE_USER = json.dumps(
    {
        "numStartups": 214, "theme": "dark", "tipsHistory": {"shift-enter": 3},
        "projects": {"/srv/shop": {"allowedTools": [], "history": [{"display": "fix the \u201crounding\u201d \U0001f9ee"}],
                     "mcpServers": {"mog": {"command": "elsewhere"}}}},
        "mcpServers": {}, "oauthAccount": {"emailAddress": "person@example.invalid"}, "fallbackAvailableWarningThreshold": 0.5,
    },
    indent=2, ensure_ascii=False,
)  # fmt: skip
CODEX = """# personal defaults
model = "o-large"
model_reasoning_effort = "high"   # slow, worth it
notify = [
  "notify-send",  # desktop
  "Codex",
]

[projects."/srv/shop"]
trust_level = "trusted"

[mcp_servers.docs] # reads the wiki
command = "docs-mcp"
args = ["--root", 'C:\\wiki']
env = { "LANG" = "C" }

[mcp_servers.docs.tools.search]
approval_mode = "approve"

[tui]
notifications = true
banner = \"\"\"
[mcp_servers.mog]
not a table\"\"\"
"""
CURSOR = '{\n\t"mcpServers": {\n\t\t"figma": {\n\t\t\t"url": "http://127.0.0.1:3845/mcp"\n\t\t}\n\t}\n}'
VSCODE = """{
    // shared with the team, see CONTRIBUTING
    "inputs": [
        { "type": "promptString", "id": "key", "description": "API key, \\"quoted\\" // not a comment", "password": true },
    ],
    "servers": {
        "search": {
            "type": "stdio",
            "command": "uvx", /* pinned below */
            "args": ["search-mcp==2.1.0"],
            "env": { "API_KEY": "${input:key}" },
        }, // the only one so far
        // "old": { "command": "gone" },
    },
}
"""
ZED = """// Zed settings
//
// For information on how to configure Zed, see the documentation.
{
  "theme": { "mode": "system", "light": "One Light", "dark": "One Dark" },
  "buffer_font_size": 15.0,
  "languages": {
    "Python": { "language_servers": ["pyright", "!ruff", "..."], },
  },
  "agent": { "default_model": { "provider": "x", "model": "y" } }, // mine
}
"""
GEMINI = '{"security":{"auth":{"selectedType":"api-key"}},"mcp":{"allowed":["a","mog"]},"ui":{"theme":"GitHub"}}'
FILES = {"claude": CLAUDE, "codex": CODEX, "cursor": CURSOR, "vscode": VSCODE, "zed": ZED, "gemini": GEMINI}
EDITIONS = {
    "as it is": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "with a mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "no end of line": lambda text: text.rstrip("\n").encode(),
}


def file_of(world: World, client: str) -> Path:
    """The project's file of a client."""
    return world.project / next(one.project for one in CLIENTS if one.name == client)


def parsed(client: str, data: bytes) -> dict:
    text = data.decode("utf-8-sig")
    return tomllib.loads(text) if client == "codex" else jsonc.read(text, "test")


def holder(client: str) -> str:
    return next(one.holder for one in CLIENTS if one.name == client)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("client", FILES)
def test_install_adds_one_entry_and_uninstall_gives_the_bytes_back(world: World, client: str, edition: str) -> None:
    before = EDITIONS[edition](FILES[client])
    path = put(file_of(world, client), before)
    assert run(["mcp", "install", "-c", client, "-q"]) == 0
    after = path.read_bytes()
    entry = parsed(client, after)[holder(client)]["mog"]
    assert (entry["command"], entry["args"][:2]) == ("mog", ["serve", "--mcp"])
    assert without_mog(client, after) == without_mog(client, before)
    assert is_insertion(before, after)
    assert edition != "crlf" or after.count(b"\n") == after.count(b"\r\n")
    assert run(["mcp", "uninstall", "-c", client, "-q"]) == 0
    assert path.read_bytes() == before
    assert everything_below(path.parent) == [path.name]


def without_mog(client: str, data: bytes) -> dict:
    found = parsed(client, data)
    rest = {key: value for key, value in found.pop(holder(client), {}).items() if key != "mog"}
    return {**found, "rest": list(rest.items())}


@pytest.mark.parametrize("client", FILES)
def test_a_file_that_was_not_there_is_made_and_taken_away_again(world: World, client: str) -> None:
    assert run(["mcp", "install", "-c", client, "-q"]) == 0
    path = file_of(world, client)
    assert list(parsed(client, path.read_bytes())[holder(client)]) == ["mog"]
    assert run(["mcp", "uninstall", "-c", client, "-q"]) == 0
    assert list(world.project.iterdir()) == [world.project / ".git"]


def test_the_users_files_are_where_each_client_looks_for_them(world: World) -> None:
    assert run(["mcp", "install", "-c", "all", "--scope", "user", "-q"]) == 0
    assert everything_below(world.home) == [
        ".claude.json", ".codex/config.toml", ".config/Code/User/mcp.json", ".config/zed/settings.json", ".cursor/mcp.json",
        ".gemini/settings.json",
    ]  # fmt: skip
    entry = json.loads((world.home / ".claude.json").read_text())["mcpServers"]["mog"]
    assert entry["command"] == str(world.programs / "mog")
    assert stat.S_IMODE((world.home / ".claude.json").stat().st_mode) == 0o600


def test_the_users_claude_file_keeps_its_other_mog_its_mode_and_its_characters(world: World) -> None:
    path = put(world.home / ".claude.json", CLAUDE_USER.encode())
    path.chmod(0o640)
    assert run(["mcp", "install", "-c", "claude", "--scope", "user", "-q"]) == 0
    found = json.loads(path.read_text())
    assert found["projects"]["/srv/shop"]["mcpServers"] == {"mog": {"command": "elsewhere"}}
    assert "\U0001f9ee" in path.read_text()
    backup = path.with_name(".claude.json.mog-backup")
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, backup)] == [0o640, 0o640]
    assert backup.read_text() == CLAUDE_USER
    assert run(["mcp", "uninstall", "-c", "claude", "--scope", "user", "-q"]) == 0
    assert path.read_text() == CLAUDE_USER


def test_variables_that_move_a_clients_folder_are_obeyed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(world.project.parent / name))
    assert run(["mcp", "install", "-c", "codex,claude,zed", "--scope", "user", "-q"]) == 0
    assert everything_below(world.home) == []
    for name in ("CODEX_HOME/config.toml", "CLAUDE_CONFIG_DIR/.claude.json", "XDG_CONFIG_HOME/zed/settings.json"):
        assert (world.project.parent / name).is_file()


def test_a_second_install_writes_nothing_and_another_one_changes_only_its_own_fields(world: World) -> None:
    path = put(world.project / ".vscode/mcp.json", VSCODE.encode())
    assert run(["mcp", "install", "-c", "vscode", "-q"]) == 0
    first = path.read_bytes()
    assert run(["mcp", "install", "-c", "vscode", "-q"]) == 0
    assert path.read_bytes() == first
    edited = first.replace(b'"--mcp",', b'"--mcp", // as at home\n')
    path.write_bytes(edited.replace(b'"command": "mog"', b'"dev": {}, "command": "/old/mog"'))
    assert run(["mcp", "install", "-c", "vscode", "--tools", "core,mesh", "-q"]) == 0
    entry = parsed("vscode", path.read_bytes())["servers"]["mog"]
    assert entry["dev"] == {}
    assert entry["command"] == "mog"
    assert entry["args"] == ["serve", "--mcp", "--tools", "core,mesh", "--repo", "${workspaceFolder}"]
    assert run(["mcp", "uninstall", "-c", "vscode", "-q"]) == 0
    assert path.read_bytes() == VSCODE.encode()


def test_a_table_of_codex_is_brought_up_to_date_in_place(world: World) -> None:
    text = '[mcp_servers.mog] # mine\ncommand = "old"  # why\nenabled = true\n\n[mcp_servers.mog.env]\nA = "1"\n'
    text += "\n# last\n[tui]\nx = 1\n"
    path = put(world.project / ".codex/config.toml", text.encode())
    assert run(["mcp", "install", "-c", "codex", "-q"]) == 0
    assert path.read_text() == text.replace('"old"', '"mog"').replace("# mine\n", '# mine\nargs = ["serve", "--mcp"]\n')
    assert run(["mcp", "uninstall", "-c", "codex", "-q"]) == 0
    assert tomllib.loads(path.read_text()) == {"tui": {"x": 1}}
    assert "# last\n[tui]" in path.read_text()


def test_what_was_edited_since_survives_an_uninstall(world: World) -> None:
    path = put(world.project / ".zed/settings.json", ZED.encode())
    assert run(["mcp", "install", "-c", "zed", "-q"]) == 0
    path.write_text(path.read_text().replace('"buffer_font_size": 15.0', '"buffer_font_size": 17'))
    assert run(["mcp", "uninstall", "-c", "zed", "-q"]) == 0
    assert path.read_text() == ZED.replace('"buffer_font_size": 15.0', '"buffer_font_size": 17')


def test_an_empty_object_of_the_user_is_not_taken_away(world: World) -> None:
    path = put(world.project / ".mcp.json", b'{"mcpServers": {}, "x": 1}\n')
    assert run(["mcp", "install", "-c", "claude", "-q"]) == 0
    path.write_bytes(path.read_bytes().replace(b'"x": 1', b'"x": 2'))
    assert run(["mcp", "uninstall", "-c", "claude", "-q"]) == 0
    assert path.read_bytes() == b'{"mcpServers": {}, "x": 2}\n'


def test_a_dry_run_prints_the_difference_and_writes_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    for client, text in FILES.items():
        put(file_of(world, client), text.encode())
    before = {name: (world.project / name).read_bytes() for name in everything_below(world.project)}
    assert run(["mcp", "install", "-c", "all", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "+[mcp_servers.mog]" in shown
    assert '+    "mog": {' in shown
    assert "not_shown" not in shown
    assert {name: (world.project / name).read_bytes() for name in everything_below(world.project)} == before


def test_a_dry_run_shows_no_credential(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    put(
        world.project / ".mcp.json",
        f'{{\n  "mcpServers": {{\n    "a": {{"env": {{"T": "{FAKE_KEY}"}}}}\n  }}\n}}\n'.encode(),
    )
    assert run(["mcp", "install", "-c", "claude", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert FAKE_KEY not in shown
    assert '"mog"' in shown


DAMAGED = {
    "claude": ('{\n  "mcpServers": {\n    "a": {"command": }\n  }\n}\n', 3),
    "cursor": ('{\n  "mcpServers": {}\n', 3),
    "vscode": ('{\n  "servers": {},\n  "servers": {}\n}\n', 3),
    "zed": ('{\n  "theme": "x",\n  "context_servers": ["mog"]\n}\n', 3),
    "gemini": ("{'mcpServers': {}}\n", 1),
    "codex": ('model = "o"\n[mcp_servers\ncommand = "x"\n', 2),
}


@pytest.mark.parametrize("client", DAMAGED)
def test_a_damaged_file_is_named_with_its_line_and_no_file_is_written(
    world: World, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, line = DAMAGED[client]
    path = put(file_of(world, client), text.encode())
    for verb in ("install", "uninstall"):
        assert run(["mcp", verb, "-c", "all"]) == 3
        said = capsys.readouterr().err
        assert f"where: {path}" in said
        assert f"{path}:{line}" in said
    assert everything_below(world.project) == [str(path.relative_to(world.project))]
    assert path.read_text() == text
    assert run(["mcp", "status", "--json"]) == 3
    states = {one["client"]: one for one in json.loads(capsys.readouterr().out)["clients"] if one["scope"] == "project"}
    assert states.pop(client)["state"] == "damaged"
    assert {one["state"] for one in states.values()} == {"no file"}


@pytest.mark.parametrize(
    "data",
    [b'{"a": "\xff"}', '{"a": 1}'.encode("utf-16"), b'{"a": NaN}', b"[]", b'{"a": 1,,}', b"{,}", b"[" * 99_999, b'{"a": "\x01"}'],
    ids=["latin", "utf-16", "nan", "list", "commas", "comma", "deep", "control"],
)  # fmt: skip
def test_bytes_that_no_client_reads_are_damage(world: World, data: bytes) -> None:
    path = put(world.project / ".mcp.json", data)
    assert run(["mcp", "install", "-c", "claude"]) == 3
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { a = { command = 'x' } }\n",
        "[[mcp_servers]]\na = 1\n",
        "mcp_servers = 3\n",
        "mcp_servers.mog.command = 'x'\n",
    ],
    ids=["inline", "list", "number", "dotted"],
)
def test_toml_that_cannot_be_edited_in_place_is_refused(world: World, text: str) -> None:
    path = put(world.project / ".codex/config.toml", text.encode())
    assert run(["mcp", "install", "-c", "codex"]) == 3
    assert path.read_text() == text


def test_status_tells_the_states_apart(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    def states() -> dict[str, tuple[str, bool]]:
        capsys.readouterr()
        run(["mcp", "status", "--scope", "project", "--json"])
        rows = json.loads(capsys.readouterr().out)["clients"]
        return {row["client"]: (row["state"], row["command_found"]) for row in rows}

    assert run(["mcp", "status"]) == 1
    put(world.project / ".mcp.json", CLAUDE.encode())
    put(world.project / ".cursor/mcp.json", b'{"mcpServers": {"mog": {"command": "other", "args": []}}}')
    put(
        world.project / ".gemini/settings.json",
        b'{"mcpServers": {"mog": {"command": "/gone/mog", "args": ["serve", "--mcp"]}}}',
    )
    run(["mcp", "install", "-c", "zed", "-q"])
    assert states() == {
        "claude": ("not installed", False), "codex": ("no file", False), "cursor": ("another command", False),
        "vscode": ("no file", False), "zed": ("installed", True), "gemini": ("installed", False),
    }  # fmt: skip
    assert run(["mcp", "status"]) == 0
    shown = capsys.readouterr().out
    assert "not there" in shown
    assert "the program is not there" in shown


def test_detected_means_traces_of_the_client_and_none_is_said(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "install"]) == 1
    assert "name one: claude" in capsys.readouterr().err
    (world.project / ".vscode").mkdir()
    (world.home / ".codex").mkdir()
    (world.programs / "gemini").write_text("#!/bin/sh\n")
    (world.programs / "gemini").chmod(0o755)
    assert run(["mcp", "install", "-q"]) == 0
    assert everything_below(world.project) == [".codex/config.toml", ".gemini/settings.json", ".vscode/mcp.json"]


def test_an_unknown_client_is_answered_with_the_nearest(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "install", "-c", "cursr"]) == 2
    assert "cursor" in capsys.readouterr().err
    assert run(["mcp", "install", "-c", ","]) == 2


def test_outside_of_a_project_only_the_users_files_are_there(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.home)
    assert run(["mcp", "install", "-c", "claude"]) == 2
    assert run(["mcp", "install", "-c", "claude", "--scope", "user", "-q"]) == 0
    assert run(["mcp", "status", "-c", "claude"]) == 0


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize("what", ["file", "folder", "nothing"])
def test_a_link_is_written_through_inside_and_refused_outside(
    world: World, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for base, code in ((world.project / "dotfiles", 0), (world.home / "elsewhere", 6)):
        base.mkdir()
        target = base / "mcp.json"
        if what != "nothing":
            put(target, CURSOR.encode())
        path = world.project / ".cursor" / "mcp.json"
        if what == "folder":
            path.parent.symlink_to(base)
        else:
            path.parent.mkdir()
            path.symlink_to(target)
        link = path.parent if what == "folder" else path
        assert run(["mcp", "install", "-c", "cursor", "-q"]) == code
        assert link.is_symlink()
        assert (target.is_file() and b'"mog"' in target.read_bytes()) is (code == 0)
        if code:
            assert "leads to" in capsys.readouterr().err
        assert run(["mcp", "uninstall", "-c", "cursor", "-q"]) == code
        assert (target.read_bytes() if target.exists() else None) == (CURSOR.encode() if what != "nothing" else None)
        link.unlink()
        if what != "folder":
            path.parent.rmdir()


def test_a_file_written_in_between_is_left_alone(world: World) -> None:
    from mog.app.clients import entries
    from mog.app.clients.known import Place
    from mog.engine.errors import HeldByOther

    path = put(world.project / ".mcp.json", CLAUDE.encode())
    client = CLIENTS[0]
    change = entries.install(client, Place(world.home, world.project), "project", "mog", ("serve", "--mcp"))
    path.write_text("{}")
    with pytest.raises(HeldByOther):
        entries.apply(change)
    assert path.read_text() == "{}"


def test_what_was_written_before_a_failure_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace = os.replace

    def only_claude(source: Path, target: Path) -> None:
        if ".cursor" in str(target):
            raise OSError(28, "No space left on device", str(target))
        replace(source, target)

    monkeypatch.setattr(disk.os, "replace", only_claude)
    assert run(["mcp", "install", "-c", "claude,cursor", "--json"]) == 2
    shown = json.loads(capsys.readouterr().out)["clients"]
    assert [(one["client"], one["written"]) for one in shown] == [("claude", True)]


def test_a_folder_that_is_a_file_stops_all_before_a_write(world: World) -> None:
    put(world.project / ".cursor", b"no folder")
    assert run(["mcp", "install", "-c", "claude,cursor", "-q"]) == 2
    assert everything_below(world.project) == [".cursor"]


def test_a_write_that_fails_leaves_the_file_and_no_trace(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(world.project / ".mcp.json", CLAUDE.encode())

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(disk.os, "replace", refuse)
    assert run(["mcp", "install", "-c", "claude"]) == 2
    assert path.read_bytes() == CLAUDE.encode()
    assert everything_below(world.project) == [".mcp.json", ".mcp.json.mog-backup"]


def test_backups_are_not_overwritten_and_not_made_twice(world: World) -> None:
    path = put(world.project / ".mcp.json", CLAUDE.encode())
    for number in (1, 2):
        assert run(["mcp", "install", "-c", "claude", "-q"]) == 0
        path.write_text(path.read_text().replace('"browser"', f'"browser{number}"'))
        assert run(["mcp", "uninstall", "-c", "claude", "-q"]) == 0
    kept = [one.read_text() for one in disk.backups(path)]
    assert len(kept) == len(set(kept))
    assert CLAUDE in kept
    assert "browser" in path.read_text()
