"""The corpus on disk: brought up by digest, rebuilt when it is gone or damaged, and never holding what is gated."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from mog.engine.errors import StoreDamaged
from mog.engine.retrieval import shelf as shelves
from mog.engine.retrieval import words
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.rank import Ranker
from mog.engine.retrieval.shelf import Shelf
from mog.engine.workspace import Workspace

MakeRepo = Callable[[Mapping[str, str]], Path]
TOKEN = "ghp_" + "FAKE" * 9
HUNTER = "hunter" + "2" * 3 + "Fake"
FILES = {
    "shop/parcel.py": "def put_parcel(parcel):\n    return wrap(parcel)\n",
    "shop/keys.py": f'class Keys:\n    password = "{HUNTER}"\n\n\ndef plain_thing():\n    return 1\n',
    "notes.md": "Parcels wait in the hall.\n",
    ".env": f"TOKEN={TOKEN}\n",
    "deploy.txt": f"use {TOKEN} for it\n",
}
pytestmark = pytest.mark.usefixtures("counted")
_read: list[str] = []


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Paths that the shelf tokenises are written down in ``_read``."""
    _read.clear()
    made = shelves._made

    def counting(reader: object, gates: object, job: shelves.Job) -> shelves.Made:
        _read.append(os.fsdecode(job.row.path))
        return made(reader, gates, job)  # type: ignore[arg-type]

    monkeypatch.setattr(shelves, "_made", counting)
    yield


@pytest.fixture
def shop(make_repo: MakeRepo) -> Workspace:
    workspace = Workspace.open(make_repo(FILES))
    workspace.index()
    return workspace


def corpus_of(workspace: Workspace, shelf: Shelf | None = None) -> Corpus:
    shelf = shelf or Shelf(workspace.root / ".mog", workspace.config)
    with workspace._reading() as view:
        return shelf.corpus(view)


def first(corpus: Corpus, query: str) -> tuple[str, int]:
    doc = Ranker(corpus).rank(query, limit=1)[0].doc
    return corpus.paths[corpus.file_of[doc]], int(corpus.ord_of[doc])


def test_every_file_of_the_index_is_there_once(shop: Workspace) -> None:
    assert sorted(corpus_of(shop).paths) == sorted(FILES)
    assert sorted(_read) == sorted(FILES)


def test_the_next_process_reads_nothing_again(shop: Workspace) -> None:
    before = corpus_of(shop)
    _read.clear()
    after = corpus_of(shop)
    assert _read == []
    assert after.paths == before.paths
    assert first(after, "put_parcel") == ("shop/parcel.py", 0)


def test_an_edit_reads_that_file_alone(shop: Workspace) -> None:
    shelf = Shelf(shop.root / ".mog", shop.config)
    corpus_of(shop, shelf)
    _read.clear()
    (shop.root / "shop/parcel.py").write_text("def send_parcel(parcel):\n    return gone\n")
    (shop.root / "notes.md").unlink()
    shop.index()
    corpus = corpus_of(shop, shelf)
    assert _read == ["shop/parcel.py"]
    assert first(corpus, "send_parcel") == ("shop/parcel.py", 0)
    assert len(corpus.named(words.exact("put_parcel"))) == 0
    assert "notes.md" not in {corpus.paths[file] for file in corpus.file_of[corpus.alive]}


def test_a_file_that_drifted_is_read_as_it_is_and_again_next_time(shop: Workspace) -> None:
    path = shop.root / "shop/parcel.py"
    shelf = Shelf(shop.root / ".mog", shop.config)
    original = path.read_text()
    path.write_text("import os\n\n\ndef put_parcel(parcel):\n    return zanzibar(parcel)\n")
    corpus = corpus_of(shop, shelf)
    assert first(corpus, "zanzibar") == ("shop/parcel.py", 0)
    assert not Ranker(corpus).rank("wrap")
    path.write_text(original)
    (shop.root / "notes.md").write_text("Other words.\n")
    shop.index()
    _read.clear()
    assert first(corpus_of(shop, shelf), "wrap") == ("shop/parcel.py", 0)
    assert sorted(_read) == ["notes.md", "shop/parcel.py"]


@pytest.mark.parametrize("damage", [b"", b"mogTERM1", b"garbage" * 99])
def test_a_damaged_or_missing_file_is_made_anew(shop: Workspace, damage: bytes) -> None:
    corpus_of(shop)
    stored = shop.root / ".mog/terms/corpus.bin"
    stored.write_bytes(damage)
    assert first(corpus_of(shop), "put_parcel") == ("shop/parcel.py", 0)
    stored.unlink()
    assert first(corpus_of(shop), "put_parcel") == ("shop/parcel.py", 0)
    assert stored.exists()


def test_no_planted_secret_is_in_any_file_of_the_terms(shop: Workspace) -> None:
    corpus = corpus_of(shop)
    stored = b"".join(path.read_bytes() for path in (shop.root / ".mog/terms").rglob("*") if path.is_file())
    assert stored
    for secret in (TOKEN, HUNTER):
        assert secret.encode() not in stored
        for term in words.tokens(secret):
            assert words.number(term).to_bytes(8, "little")[1:] not in stored
        assert not [one for one in Ranker(corpus).rank(secret) if set(one.parts) & {"words", "whole", "name"}]


def test_gated_things_are_found_by_name_and_path(shop: Workspace) -> None:
    corpus = corpus_of(shop)
    assert first(corpus, ".env") == (".env", -1)
    assert first(corpus, "Keys")[0] == "shop/keys.py"
    assert first(corpus, "Keys.password")[0] == "shop/keys.py"


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_only_the_owner_can_read_it(shop: Workspace) -> None:
    corpus_of(shop)
    folder = shop.root / ".mog/terms"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]


@pytest.mark.skipif(os.name != "posix", reason="links need a right on Windows")
def test_links_are_refused_or_replaced_never_followed(shop: Workspace, tmp_path: Path) -> None:
    corpus_of(shop)
    stored, elsewhere = shop.root / ".mog/terms/corpus.bin", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "corpus.bin").write_bytes(b"precious")
    stored.unlink()
    stored.symlink_to(elsewhere / "corpus.bin")
    assert first(corpus_of(shop), "put_parcel") == ("shop/parcel.py", 0)
    assert (elsewhere / "corpus.bin").read_bytes() == b"precious"
    stored.unlink()
    stored.parent.rmdir()
    stored.parent.symlink_to(elsewhere)
    with pytest.raises(StoreDamaged):
        corpus_of(shop)
    assert (elsewhere / "corpus.bin").read_bytes() == b"precious"


def test_two_worktrees_of_equal_bytes_have_equal_terms(make_repo: MakeRepo, tmp_path: Path) -> None:
    root = make_repo(FILES)
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(root), str(other)], check=True, stdin=subprocess.DEVNULL, timeout=60)
    stored = []
    for folder in (root, other):
        workspace = Workspace.open(folder)
        workspace.index()
        corpus_of(workspace)
        stored.append((folder / ".mog/terms/corpus.bin").read_bytes())
    assert stored[0] == stored[1]
