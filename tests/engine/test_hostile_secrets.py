"""Planted credentials: gated at ingest, and never seen again in a store, an answer or a log."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import hostile_tree
import mog_process
import pytest

from mog.engine.errors import MogError, PolicyDenied
from mog.engine.model import IndexReport
from mog.engine.workspace import Workspace

PLANTED = hostile_tree.planted()
INNOCENT = {
    "app/forms.py": (
        "class LoginForm:\n"
        "    password = ReadOnlyPasswordHashField()\n"
        "    token = None\n\n"
        "    def clean_password(self):\n"
        "        return self.cleaned_data['password']\n"
    ),
    "app/settings.py": "SECRET_KEY = os.environ['SECRET_KEY']\nPASSWORD_MIN_LENGTH = 12\n",
    "docs/id_rsa.md": "How to make an ssh key: run ssh-keygen.\n",
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, IndexReport]]:
    """A repository with every planted kind, indexed, searched, pinned and edited once."""
    patch = pytest.MonkeyPatch()
    for role in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{role}_NAME", "A Person")
        patch.setenv(f"GIT_{role}_EMAIL", "person@example.invalid")
    files: dict[str, str | bytes] = {plant.path: plant.text for plant in PLANTED}
    root = hostile_tree.new_repo(tmp_path_factory.mktemp("secrets") / "r", files | INNOCENT)
    with Workspace.open(root) as workspace:
        report = workspace.index()
        for plant in PLANTED:
            with (root / plant.path).open("a", encoding="utf-8") as handle:
                handle.write("\n# edited\n" if plant.path.endswith(".py") else "\n")
        workspace.index()
        for plant in PLANTED:
            workspace.search(plant.value)
            try:
                workspace.pin(plant.path, "note on a gated file")
            except MogError:
                continue
    yield root, report
    patch.undo()


def stored(root: Path) -> dict[str, bytes]:
    """Bytes of every file under ``.mog``, and every compressed blob in its databases unpacked."""
    found = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in (root / ".mog").rglob("*") if path.is_file()
    }
    for database in (root / ".mog").glob("*.db"):
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            for row in connection.execute("SELECT blob FROM facts" if database.name == "index.db" else "SELECT 1"):
                found[f"{database.name} facts {len(found)}"] = _unpacked(row[0])
    return found


def _unpacked(blob: object) -> bytes:
    try:
        return zlib.decompress(blob) if isinstance(blob, bytes) else b""
    except zlib.error:
        return bytes(blob) if isinstance(blob, bytes) else b""


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.kind)
def test_no_store_holds_it(planted: tuple[Path, IndexReport], plant: hostile_tree.Planted) -> None:
    leaks = [
        (name, needle)
        for name, data in stored(planted[0]).items()
        for needle in hostile_tree.needles(plant.value)
        if needle in data
    ]
    assert leaks == []


@pytest.fixture(scope="module")
def told(planted: tuple[Path, IndexReport]) -> dict[str, list[bytes]]:
    """Kind → what the verbs say of the file it is planted in."""
    verbs = ("show", "search", "neighbors")
    commands = [
        [verb, plant.path.rpartition("/")[2] if verb == "search" else plant.path, "--json"] for plant in PLANTED for verb in verbs
    ]
    said = mog_process.run_many(planted[0], commands)
    return {plant.kind: said[at * len(verbs) : (at + 1) * len(verbs)] for at, plant in enumerate(PLANTED)}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.kind)
def test_no_answer_shows_it(told: dict[str, list[bytes]], plant: hostile_tree.Planted) -> None:
    said = b"".join(told[plant.kind])
    assert plant.path.rpartition("/")[2].encode() in said
    assert [needle for needle in hostile_tree.needles(plant.value) if needle in said] == []


def test_no_report_shows_any(planted: tuple[Path, IndexReport]) -> None:
    root, _ = planted
    verbs = (
        ("status",),
        ("map",),
        ("verify",),
        ("doctor",),
        ("index", "--full"),
        ("export", "edges", "--kind", "defines"),
    )
    said = b"".join(done.stdout + done.stderr for verb in verbs for done in [mog_process.run(root, *verb)])
    assert [
        plant.kind for plant in PLANTED if any(needle in said for needle in hostile_tree.needles(plant.value))
    ] == []


def test_every_kind_is_counted_as_gated(planted: tuple[Path, IndexReport]) -> None:
    health = planted[1].health
    assert health.gated + health.gated_symbols >= len(PLANTED)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.kind)
def test_gated_file_or_symbol_gives_no_source(planted: tuple[Path, IndexReport], plant: hostile_tree.Planted) -> None:
    with Workspace.open(planted[0]) as workspace:
        targets = [
            plant.path,
            *(hit.node.id for hit in workspace.search(plant.path).hits if hit.node.path == plant.path),
        ]
        for target in targets:
            try:
                text, _ = workspace.source(target)
            except PolicyDenied:
                continue
            assert plant.value not in text


@pytest.mark.parametrize("path", INNOCENT)
def test_innocent_file_is_not_lost(planted: tuple[Path, IndexReport], path: str) -> None:
    with Workspace.open(planted[0]) as workspace:
        node = workspace.find(path)
    assert not node.gated


def test_symbols_of_a_form_with_a_password_field_stay(planted: tuple[Path, IndexReport]) -> None:
    with Workspace.open(planted[0]) as workspace:
        assert workspace.find("LoginForm.clean_password").signature
