"""The manual against the code: commands, codes, keys, words, links, and the two commands of the README."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import tree

from mog.app import config
from mog.app.cli import exit_codes
from mog.app.cli.commands import VERBS
from mog.engine.config import EngineConfig

ROOT = tree.ROOT
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "tests" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FIRST_SCREEN = 40


def page(name: str) -> str:
    """Text of a page below docs/."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """Cells of all table rows of a page, without head and rule."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def commands_of_the_readme() -> list[str]:
    """The ``sh`` blocks of the README."""
    return re.findall(r"^```sh\n(.*?)\n```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)


def test_the_first_screen_has_exactly_two_commands_of_one_line() -> None:
    head = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:FIRST_SCREEN])
    blocks = commands_of_the_readme()
    assert len(blocks) == 2
    assert all("\n" not in block and f"```sh\n{block}\n```" in head for block in blocks)


def test_the_first_command_runs_the_main_job_and_the_second_the_tests() -> None:
    main_job, suite = commands_of_the_readme()
    assert main_job.endswith("/mog")
    assert "[dev]" in suite
    assert "pytest" in suite.split(" && ")[-1]


def test_ci_runs_the_command_of_the_readme_to_the_letter() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    body = script[script.index("readme_command() {") : script.index("# What git would commit")]
    shown = subprocess.run(
        ["bash", "-c", f'root="$1"; {body}\nreadme_command 2', "bash", str(ROOT)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert shown.stdout.strip() == commands_of_the_readme()[1]
    assert 'eval "$(readme_command 2)"' in script


def test_every_exit_code_is_documented_as_the_table_says() -> None:
    documented = {int(row[0]): row[1] for row in rows(page("exit-codes.md")) if row[0].isdigit()}
    assert documented == exit_codes.MEANINGS


def test_every_command_is_in_the_guide_and_in_no_other_spelling() -> None:
    known = {verb.name for verb in VERBS}
    text = page("guide.md")
    assert [name for name in sorted(known) if f"`mog {name}" not in text] == []
    spoken = {word for path in PAGES for word in re.findall(r"`mog ([a-z]+)", path.read_text(encoding="utf-8"))}
    assert spoken - known == set()


def test_every_option_of_the_manual_exists() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "app" / "cli").glob("*.py"))
    quoted = [
        span for path in PAGES for span in re.findall(r"`((?:mog |--)[^`\n]+)`", path.read_text(encoding="utf-8"))
    ]
    spoken = {option for span in quoted for option in re.findall(r"--[a-z][a-z-]+", span)}
    own = {
        name for name in spoken if f'"{name}"' in sources or re.search(rf"\b{name[2:].replace('-', '_')}: ", sources)
    }
    assert len(spoken) > 8
    assert spoken - own - {"--version"} == set()


def test_every_setting_is_documented_with_variable_and_default() -> None:
    documented = {row[0].strip("`"): row for row in rows(page("configuration.md")) if row[0].startswith("`")}
    assert documented.keys() == {"version"} | {key.name for key in config.KEYS}
    for key in config.KEYS:
        default = getattr(config.TuiConfig() if key.of_tui else EngineConfig(), key.field)
        assert documented[key.name][1] == f"`{key.variable}`"
        if isinstance(default, (int, float)):
            assert documented[key.name][2] == str(default)
        if key.kind != "choice":
            assert documented[key.name][3].replace("`", "") == key.doc


def test_reserved_sections_are_documented() -> None:
    text = page("configuration.md")
    assert [name for name in config.RESERVED if f"`{name}`" not in text] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (path.parent / target).exists()] == []


def test_every_decision_is_listed_and_has_all_its_parts() -> None:
    listed = page("adr/README.md")
    for path in sorted((ROOT / "docs" / "adr").glob("0*.md")):
        text = path.read_text(encoding="utf-8")
        assert f"]({path.name})" in listed
        title = text.splitlines()[0].removeprefix(f"# {path.name[:4]} ")
        assert f"| {title} |" in listed
        assert [
            part
            for part in ("Context", "Decision", "Cost", "Rejected", "Would reopen it")
            if f"**{part}.**" not in text
        ] == []


def test_every_folder_of_the_architecture_exists_and_every_room_has_an_invariant() -> None:
    named = {row[0].strip("`").rstrip("/") for row in rows(page("architecture.md")) if row[0].startswith("`")}
    named = {part.strip("` ") for name in named for part in name.split(", ")}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    rooms = [f"engine/{path.name}" for path in (ROOT / "engine").iterdir() if (path / "__init__.py").exists()]
    rooms += [f"app/{path.name}" for path in (ROOT / "app").iterdir() if (path / "__init__.py").exists()]
    assert [room for room in sorted(rooms) if room not in named] == []


def test_the_glossary_is_sorted_and_knows_the_words_of_the_records() -> None:
    words = [row[0] for row in rows(page("glossary.md"))][1:]
    assert words == sorted(words)
    assert {"anchor", "boundary", "drift", "freshness", "impact", "pin", "tier", "locator", "generation"} <= set(words)


def test_every_earlier_fault_has_a_test_that_is_there() -> None:
    named = re.findall(r"`(test_[a-z0-9_]+)`", page("results/earlier-faults.md"))
    files = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) >= 39
    assert [name for name in named if f"def {name}(" not in files] == []
