"""L0 to L3 of a real repository: what each shows, what the disk changes, what stays hidden, and that git runs nothing for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from context_kit import FILES, HUNTER, git, repository

from mog.engine.errors import GitRefused
from mog.engine.model import Freshness
from mog.engine.retrieval.blame import blame
from mog.engine.retrieval.model import Zoom
from mog.engine.workspace import Workspace


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with repository(tmp_path_factory.mktemp("levels")) as workspace:
        yield workspace


def text(workspace: Workspace, target: str, zoom: Zoom) -> str:
    return workspace.context.text(target, zoom).text


def test_l0_is_a_path_and_names(shop: Workspace) -> None:
    assert text(shop, "file:shop/tokens.py", Zoom.L0) == "shop/tokens.py: TokenStore, rotate"
    assert text(shop, "TokenStore", Zoom.L0) == "shop/tokens.py: TokenStore: lifetime, validate, known, size"
    assert text(shop, "rotate", Zoom.L0) == "shop/tokens.py: rotate"


def test_l2_is_the_body_as_it_is_written_with_its_neighbours(shop: Workspace) -> None:
    made = text(shop, "TokenStore.validate#3", Zoom.L2)
    source = FILES["shop/tokens.py"]
    start, end = source.index("    @functools"), source.index("    def known")
    assert made.startswith(source[start:end].rstrip() + "\n# called by:")
    assert "    shop/tokens.py::rotate  def rotate(store: TokenStore, token: str) -> str" in made


def test_neighbours_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    callers = {f"c{n}.py": f"from base import f\n\n\ndef g{n}():\n    f()\n    f()\n" for n in range(12)}
    with repository(tmp_path, {"base.py": "def f():\n    return 1\n", **callers}) as workspace:
        made = text(workspace, "base.py::f", Zoom.L2)
    assert made.count("::g") == 8 and "(4 more)" in made


def test_a_neighbour_whose_file_changed_says_so(tmp_path: Path) -> None:
    with repository(tmp_path) as workspace:
        path = tmp_path / "shop/money.py"
        path.write_text(path.read_text().replace("amount: int", "sum_: int"))
        made = workspace.context.text("TokenStore.validate#3", Zoom.L2)
        assert made.freshness is Freshness.fresh
        assert "def round_cents(amount: int, *, places: int = 2) -> int  (drifted)" in made.text
        drifted = workspace.context.text("round_cents", Zoom.L1)
        assert drifted.freshness is Freshness.drifted and "sum_: int" in drifted.text and drifted.warnings


def test_what_is_gone_has_no_text_and_says_so(tmp_path: Path) -> None:
    with repository(tmp_path) as workspace:
        (tmp_path / "shop/money.py").write_text("x = 1\n")
        (tmp_path / "web/view.ts").unlink()
        for target in ("round_cents", "CartView"):
            made = workspace.context.text(target, Zoom.L2)
            assert (made.text, made.freshness) == ("", Freshness.missing) and made.warnings


@pytest.mark.parametrize("zoom", [Zoom.L1, Zoom.L2, Zoom.L3])
def test_a_class_that_holds_a_gated_value_gives_its_name_alone(shop: Workspace, zoom: Zoom) -> None:
    symbol = shop.context.text("shop/keys.py::Keys", zoom)
    assert symbol.gated and symbol.text == "" and "gated" in symbol.warnings[0]
    assert text(shop, "shop/keys.py::Keys", Zoom.L0) == "shop/keys.py: Keys"
    whole = shop.context.text("file:shop/keys.py", zoom)
    assert HUNTER not in whole.text and "plain" in whole.text
    assert ("Keys  (gated)" in whole.text) is (zoom is not Zoom.L3)
    assert ("2 gated values are blanked" in whole.warnings) is (zoom is Zoom.L3)


def test_a_secret_written_after_indexing_is_hidden_at_once(tmp_path: Path) -> None:
    with repository(tmp_path) as workspace:
        path = tmp_path / "shop/money.py"
        path.write_text(path.read_text() + f'\n\nclass Till:\n    password = "{HUNTER}"\n')
        for target in ("file:shop/money.py", "round_cents"):
            for zoom in Zoom:
                assert HUNTER not in text(workspace, target, zoom)
        path.write_text(path.read_text().replace("return round(", f'password = "{HUNTER}"\n    return round('))
        assert workspace.context.text("round_cents", Zoom.L2).gated


def test_l3_marks_every_line_with_commit_and_day_and_what_is_not_committed_with_dots(tmp_path: Path) -> None:
    with repository(tmp_path) as workspace:
        path = tmp_path / "shop/money.py"
        path.write_text(path.read_text() + "\n\nNEW = 1\n")
        lines = text(workspace, "file:shop/money.py", Zoom.L3).splitlines()
    assert lines[0][8] == " " and lines[0][9:13].isdecimal() and lines[0][20:] == '"""Money."""'
    assert lines[-1] == "." * 19 + " NEW = 1"
    assert [line[20:] for line in lines] == path.read_text().splitlines()


def test_l3_of_a_file_that_git_does_not_know_is_the_text_and_the_reason(tmp_path: Path) -> None:
    with repository(tmp_path) as workspace:
        (tmp_path / "later.py").write_text("def later():\n    return 1\n")
        workspace.index(workers=1)
        made = workspace.context.text("file:later.py", Zoom.L3)
    assert made.text.startswith("def later():\n") and made.warnings[0].startswith("without blame")


def test_blame_runs_no_program_that_the_repository_names(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "filter.sh"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o700)
    root = tmp_path / "repo"
    root.mkdir()
    repository(root, {**FILES, ".gitattributes": "*.py filter=evil diff=evil\n"}, index=False).close()
    for key in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor"):
        git(root, "config", key, str(program))
    (root / "shop/money.py").write_text("changed = 1\n")
    assert blame(root, "shop/money.py") == ["." * 19]
    assert not ran.exists()
    with pytest.raises(GitRefused):
        blame(root, "nothing.py")


def test_a_commit_may_claim_any_time(tmp_path: Path) -> None:
    from mog.engine.retrieval.blame import _marks

    out = b"a" * 40 + b" 1 1 1\ncommitter-time 99999999999999\n\tx\n" + b"a" * 40 + b" 2 2\n\ty\n" + b"0" * 40 + b" 3 3 1\n\tz\n"
    assert _marks(out) == ["aaaaaaaa 9999-12-31", "aaaaaaaa 9999-12-31", "." * 19]
