"""Where grammars come from: wheels first, a pack only where its files are, nothing by itself from the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from mog.engine.code import grammars
from mog.engine.errors import ProviderError


@pytest.fixture(autouse=True)
def no_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose pack has an empty cache."""
    monkeypatch.setenv("TREE_SITTER_LANGUAGE_PACK_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("TREE_SITTER_LANGUAGE_PACK_LIBS_DIR", raising=False)
    caches = (grammars.language, grammars.query, grammars.info)
    for cached in caches:
        cached.cache_clear()
    return tmp_path


def test_wheels_load_and_say_what_they_are() -> None:
    """The core languages load without a pack, each with version and digest of its library."""
    for lang in ("python", "javascript", "typescript", "tsx"):
        info = grammars.info(lang)
        assert (info.provider, info.loads) == ("wheel", True) and info.version and len(info.digest) == 16
    assert grammars.info("typescript").digest == grammars.info("tsx").digest
    assert grammars.parser_digest("typescript") != grammars.parser_digest("tsx")


def test_a_language_without_files_is_not_had() -> None:
    """The pack says it has it; we look for the library."""
    assert grammars.language("haskell") is None and grammars.parser("haskell") is None
    assert grammars.query("haskell") is None
    assert (grammars.info("haskell").provider, grammars.info("haskell").loads) == ("none", False)


def test_a_damaged_library_is_not_had(no_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the right name that is no library does not raise."""
    (no_pack / "libtree_sitter_haskell.so").write_bytes(b"not a library")
    monkeypatch.setenv("TREE_SITTER_LANGUAGE_PACK_LIBS_DIR", str(no_pack))
    assert grammars.language("haskell") is None


def test_add_says_how_to_go_on_when_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A download that fails is a typed error with a way out."""
    class Pack:
        @staticmethod
        def download(languages: list[str]) -> None:
            raise OSError("no network")

    monkeypatch.setattr(grammars.importlib, "import_module", lambda name: Pack)
    with pytest.raises(ProviderError) as failed:
        grammars.add("haskell")
    assert "no network" in failed.value.what and "tree-sitter-haskell" in failed.value.way_out


def test_a_parse_that_takes_too_long_is_given_up() -> None:
    """None, and the parser works again for the next file."""
    parser = grammars.parser("python")
    assert parser is not None
    assert grammars.parse(parser, b"x = (1 + 2) * [3, 4][0]\n" * 40_000, seconds=0.0) is None
    tree = grammars.parse(parser, b"x = 1\n")
    assert tree is not None and not tree.root_node.has_error
    large = grammars.parse(parser, b"x = 1\n" * 60_000)
    assert large is not None and large.root_node.child_count == 60_000
