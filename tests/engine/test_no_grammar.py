"""An installation without grammars tells the truth: text where a language has none, an error where nothing would be left."""

from __future__ import annotations

from pathlib import Path

import pytest

from mog.engine.code import extract, grammars
from mog.engine.errors import ProviderError
from mog.engine.workspace import Workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".mog").mkdir(mode=0o700)
    (tmp_path / "app.py").write_text("def hello():\n    return 'world'\n")
    return tmp_path


def test_a_language_without_a_grammar_is_text_and_says_why(folder: Path) -> None:
    """Its words are found, it has no symbols, and the account gives the reason."""
    (folder / "main.zig").write_text("pub fn greetings() void {}\n")
    with Workspace.open(folder) as workspace:
        health = workspace.index(workers=1).health
        assert health.no_symbols == {"unsupported_grammar": 1}
        assert [hit.node.path for hit in workspace.search("greetings").hits] == ["main.zig"]


def test_an_index_that_would_lose_every_symbol_is_not_published(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No grammar at all is an error with a way out, and what was indexed before goes on serving."""
    with Workspace.open(folder) as workspace:
        workspace.index(workers=1)
        monkeypatch.setattr(extract, "supported", lambda _: False)
        with pytest.raises(ProviderError, match="no grammar loads") as error:
            workspace.index(full=True, workers=1)
        assert "mog grammars add" in error.value.way_out
        assert workspace.find("hello").line == 1


def test_adding_a_grammar_without_network_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one call that may download maps whatever the pack raises."""
    pack = pytest.importorskip("tree_sitter_language_pack")

    def refuse(*_: object) -> None:
        raise OSError("network is unreachable")

    monkeypatch.setattr(pack, "download", refuse)
    with pytest.raises(ProviderError) as error:
        grammars.add("zig")
    assert error.value.way_out
