"""The mapped layout holds together: what pyproject.toml lists is what is there, in the wheel and once installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
import tree

ROOT = tree.ROOT
DATA = {"*.css", "*.html", "*.js", "*.json", "*.scm", "*.tcss", "*.yaml"}
TOP = ("app", "engine", "widgets", "styles")


def folders_with_code() -> set[str]:
    """Import names of all real folders that hold Python files."""
    names = set()
    for name, folder in tree.package_dirs().items():
        for path in (ROOT / folder).rglob("*.py"):
            names.add(".".join([name, *path.parent.relative_to(ROOT / folder).parts]))
    return names


def test_listed_packages_are_the_folders() -> None:
    listed = tree.setuptools_table()["packages"]
    assert isinstance(listed, list)
    assert sorted(listed) == sorted(folders_with_code())


def test_every_package_folder_has_an_init() -> None:
    missing = [
        str(path.parent.relative_to(ROOT))
        for folder in tree.package_dirs().values()
        for path in (ROOT / folder).rglob("*.py")
        if not (path.parent / "__init__.py").exists()
    ]
    assert missing == []


def test_every_mapped_folder_has_a_link_for_type_checkers() -> None:
    links = ROOT / "typecheck" / "mog"
    for folder in TOP:
        assert (links / folder).resolve() == ROOT / folder
    # pyright takes the first mog that has an __init__; without this link it stops at the root and resolves nothing
    for name in ("__init__.py", "__main__.py", "py.typed"):
        assert (links / name).resolve() == ROOT / "mog" / name


def test_no_dependency_is_left_without_bounds() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert [line for line in project["dependencies"] if ">=" not in line] == []


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the tree, without isolation and without the network."""
    source = tree.copy_source(tmp_path_factory.mktemp("source"))
    out = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        str(out),
    ]
    done = subprocess.run([*command, str(source)], stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    (built,) = out.glob("*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_holds_every_module_and_every_data_file(wheel: Path) -> None:
    expected = set()
    for name, folder in tree.package_dirs().items():
        for pattern in {"*.py", "py.typed"} | DATA:
            for path in (ROOT / folder).rglob(pattern):
                expected.add("/".join([*name.split("."), *path.relative_to(ROOT / folder).parts]))
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert inside == expected | {"mog/GRAPH.md"}


@pytest.mark.slow
def test_the_wheel_carries_the_root_ontology_and_the_licence(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    assert archive.read("mog/GRAPH.md") == (ROOT / "GRAPH.md").read_bytes()
    assert any(name.endswith("/LICENSE") for name in archive.namelist())


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of a fresh environment with the wheel; dependencies are borrowed from the one that runs the tests."""
    home = tmp_path_factory.mktemp("fresh") / "env"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(home)], stdin=subprocess.DEVNULL, check=True, timeout=300
    )
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    subprocess.run(
        [*pip, "install", "-q", "--no-deps", "--no-index", str(wheel)],
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=300,
    )
    where = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    # a plain path line: start-up files of the borrowed folder (the editable install among them) are not run
    (Path(where.stdout.decode().strip()) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def ask(python: Path, code: str, cwd: Path) -> str:
    """Output of a line of Python in the fresh environment."""
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), "-c", code], cwd=cwd, env=bare, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout.decode().strip()


@pytest.mark.slow
def test_nothing_but_mog_is_importable_after_installation(installed: Path, tmp_path: Path) -> None:
    code = f"import importlib.util as u; print([n for n in {TOP!r} if u.find_spec(n)], u.find_spec('mog').origin)"
    found, origin = ask(installed, code, tmp_path).rsplit(" ", 1)
    assert found == "[]"
    assert Path(origin).is_relative_to(installed.parent.parent), "the editable install must not answer"


@pytest.mark.slow
def test_the_installed_package_reads_its_own_ontology(installed: Path, tmp_path: Path) -> None:
    code = "from importlib.resources import files; print(len((files('mog') / 'GRAPH.md').read_bytes()))"
    assert ask(installed, code, tmp_path) == str((ROOT / "GRAPH.md").stat().st_size)


@pytest.mark.slow
def test_the_installed_command_does_the_main_job_from_another_folder(installed: Path, make_repo) -> None:  # type: ignore[no-untyped-def]
    root = make_repo(
        {"shop/cart.py": "def total(lines):\n    return sum(lines)\n", "app.ts": "export function go() {}\n"}
    )
    mog = installed.parent / ("mog.exe" if os.name == "nt" else "mog")

    def run(*arguments: str) -> bytes:
        done = subprocess.run(
            [str(mog), *arguments], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
        )
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        return done.stdout

    assert b'"symbols": 2' in run("index", "--json")
    assert b"shop/cart.py" in run("search", "total")
    assert b"2 files, 2 symbols" in run()
