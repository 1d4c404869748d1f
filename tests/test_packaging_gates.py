"""The gates of .ci/run over planted repositories: they find what they are for, and not themselves."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import tree

CI = tree.ROOT / ".ci"
MakeRepo = Callable[[Mapping[str, str | bytes]], Path]


def gate(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """Run one gate; output as text."""
    vector = [sys.executable, str(CI / script), *map(str, arguments)]
    return subprocess.run(vector, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("see https://py" + "pi.org/simple/x", "registry host"),
        ("index = files.python" + "hosted.org", "registry host"),
        ("//registry.npm" + "js.org/", "registry host"),
        ('PATH = "/ro' + 'ot/.cache"', "machine path"),
        ("cd /wo" + "rk/main", "machine path"),
        ("open('/ho" + "me/ann/x')", "machine path"),
        ("by ann" + "@corp.com", "e-mail address"),
        ("host 10.1" + ".2.3", "IP address"),
    ],
)
def test_a_planted_leak_is_found_in_a_file_and_in_a_message(make_repo: MakeRepo, text: str, kind: str) -> None:
    root = make_repo({"a.txt": f"one\n{text}\n"})
    done = gate("leaks.py", root)
    assert done.returncode == 1
    assert f"a.txt:2: {kind}: " in done.stdout
    message = ["commit", "-q", "--allow-empty", "-m", text]
    subprocess.run(["git", *message], cwd=root, check=True, stdin=subprocess.DEVNULL, timeout=60)
    assert f": {kind}: " in "".join(
        line for line in gate("leaks.py", root).stdout.splitlines() if line.startswith("commit ")
    )


def test_an_author_with_a_real_address_is_found(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "ann" + "@corp.com")
    assert "e-mail address: ann@" in gate("leaks.py", make_repo({"a.txt": "x"})).stdout


def test_a_clean_repository_passes_both_gates(make_repo: MakeRepo) -> None:
    root = make_repo({"a.py": "def f():\n    return '127.0.0.1'\n", "b.bin": b"\0/ro" + b"ot/x"})
    assert gate("leaks.py", root).returncode == 0
    assert gate("secret_gate.py", root).returncode == 0


def test_the_gates_do_not_find_themselves(make_repo: MakeRepo) -> None:
    files = {path.name: path.read_bytes() for path in CI.iterdir() if path.is_file()}
    files[Path(__file__).name] = Path(__file__).read_bytes()
    root = make_repo({name: content for name, content in files.items() if name != "accepted.txt"})
    assert gate("leaks.py", root).stdout == "no leaks in tracked files and commits\n"
    assert gate("secret_gate.py", root).returncode == 0


def test_this_repository_passes_both_gates() -> None:
    """What a gate would refuse is seen where it is written, not first by the run that was to publish it."""
    if not (tree.ROOT / ".git").exists():
        pytest.skip("an unpacked archive has no list of its files")
    for script in ("leaks.py", "secret_gate.py"):
        done = gate(script, tree.ROOT)
        assert done.returncode == 0, done.stdout


def test_a_file_that_is_not_added_yet_is_looked_at(make_repo: MakeRepo) -> None:
    root = make_repo({"a.txt": "x\n", ".gitignore": "local.txt\n"})
    for name in ("new.txt", "local.txt"):
        (root / name).write_text("by ann" + "@corp.com\n", encoding="utf-8")
    assert gate("leaks.py", root).stdout.splitlines() == ["new.txt:1: e-mail address: ann" + "@corp.com"]


def test_a_planted_credential_is_found_and_not_printed(make_repo: MakeRepo) -> None:
    token = "ghp_" + "FAKE" * 9
    done = gate("secret_gate.py", make_repo({"conf.py": f"x = 1\nTOKEN = '{token}'\n"}))
    assert done.returncode == 1
    assert done.stdout.startswith("conf.py:")
    assert token not in done.stdout


def test_a_wheel_that_claims_a_common_name_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("engine/__init__.py", "")
    done = gate("archives.py", wheel)
    assert done.returncode == 1
    assert "installs engine" in done.stdout
    assert "lacks mog/GRAPH.md" in done.stdout


def test_an_unknown_stage_fails(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", str(CI / "run"), "nonsense"], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, cwd=tmp_path
    )
    assert done.returncode != 0
