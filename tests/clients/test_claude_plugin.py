"""The plugin folder and the pre-commit hook name programs, tools and files that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tree
import yaml
from client_world import World

from mog import __version__
from mog.app.cli.commands import VERBS
from mog.app.cli.run import run
from mog.app.clients.known import CLIENTS

PLUGIN = tree.ROOT / "examples" / "claude-code-plugin"
VERB_NAMES = {verb.name for verb in VERBS}


def texts() -> list[Path]:
    return sorted(PLUGIN.rglob("*.md"))


def loaded(name: str) -> dict:
    return json.loads((PLUGIN / name).read_text(encoding="utf-8"))


def test_the_manifest_has_a_name_and_the_version_of_this_mog() -> None:
    manifest = loaded(".claude-plugin/plugin.json")
    assert re.fullmatch(r"[a-z][a-z0-9-]*", manifest["name"])
    assert manifest["version"] == __version__
    assert [one.name for one in (PLUGIN / ".claude-plugin").iterdir()] == ["plugin.json"]


def test_the_server_of_the_plugin_is_what_install_writes() -> None:
    expected = next(one for one in CLIENTS if one.name == "claude").entry("mog", ("serve", "--mcp"), "project")
    assert loaded(".mcp.json") == {"mcpServers": {"mog": expected}}


def test_the_hook_of_the_plugin_runs_after_every_beginning_and_answers(world: World) -> None:
    (entry,) = loaded("hooks/hooks.json")["hooks"]["SessionStart"]
    assert set(entry["matcher"].split("|")) == {"startup", "resume", "clear", "compact"}
    (command,) = [one["command"] for one in entry["hooks"]]
    program, *arguments = command.split()
    assert program == "mog"
    assert run(arguments) == 0


@pytest.mark.parametrize("path", texts(), ids=lambda path: path.stem)
def test_every_command_and_skill_has_a_head_and_names_what_is_there(path: Path) -> None:
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    fields = yaml.safe_load(head)
    assert fields["description"]
    assert len(fields["description"]) < 300
    spoken = set(re.findall(r"`mog ([a-z]+)", body))
    assert spoken <= VERB_NAMES
    tools = set(re.findall(r"`([a-z_]+)`", body))
    table = (tree.ROOT / "app" / "mcp" / "table.py").read_text(encoding="utf-8")
    assert tools
    assert [name for name in tools if f'"{name}"' not in table] == []


def test_a_skill_is_short() -> None:
    assert len((PLUGIN / "skills/mog/SKILL.md").read_bytes()) // 4 < 600


def test_the_pre_commit_hook_is_complete_and_its_command_runs(make_repo, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    (hook,) = yaml.safe_load((tree.ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language"} <= hook.keys()
    program, *arguments = hook["entry"].split()
    assert (program, hook["language"], hook["pass_filenames"]) == ("mog", "system", False)
    root = make_repo({"a.py": "def f():\n    return 1\n"})
    monkeypatch.chdir(root)
    run(["index", "-q"])
    run(["pin", "f", "--note", "one", "-q"])
    assert run(arguments) == 0
    (root / "a.py").write_text("def f():\n    return 2\n")
    assert run(arguments) == 4
