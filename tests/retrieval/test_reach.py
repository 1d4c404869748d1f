"""Impact: exact closures with pages, tests, importers, uses by name, co-change, and what git says is changed now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest
from context_kit import git, repository

from mog.engine.errors import NotFound, UsageError
from mog.engine.model import Tier
from mog.engine.workspace import Workspace

FILES = {
    "shop/__init__.py": "",
    "shop/money.py": "LIMIT = 3\n\n\ndef round_cents(amount):\n    return round(amount)\n",
    "shop/cart.py": (
        "from shop.money import LIMIT, round_cents\n\n\nclass Cart:\n    currency = 'EUR'\n\n    def total(self, lines):\n"
        "        return round_cents(sum(lines))\n\n    def all(self):\n        return self.total([LIMIT])\n"
    ),
    "shop/order.py": "from shop.cart import Cart\n\n\ndef bill(cart: Cart):\n    return cart.total([1]), cart.currency\n",
    "shop/loose.py": "def guess(thing):\n    return thing.total([1])\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total([1]) == 1\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with repository(tmp_path_factory.mktemp("reach"), FILES) as workspace:
        yield workspace


def names(answer: object) -> list[str]:
    return [one.node.qual or one.node.path for one in answer.reached]  # type: ignore[attr-defined]


def test_it_is_the_closure_over_certain_links(shop: Workspace) -> None:
    """Held against networkx on the frozen view: calls backwards, tests forwards."""
    seed = shop.find("round_cents")
    calls = shop.view(kinds=("calls",), tiers=(Tier.certain,))
    wanted = {shop.find(name).key for name in ("Cart.total", "Cart.all", "bill", "test_total")}
    assert nx.ancestors(calls, seed.key) & wanted == wanted
    found = shop.impact("round_cents")
    assert {one.node.key for one in found.reached} >= wanted
    assert found.total == len(found.reached) == sum(found.per_depth)
    assert [node.qual for node in found.tests] == ["test_total"] and found.test_files == ("tests/test_cart.py",)


OVERLOADED = {
    "box.py": (
        "from typing import overload\n\n\nclass Box:\n    @overload\n    def put(self, thing: int) -> int: ...\n\n    @overload\n"
        "    def put(self, thing: str) -> str: ...\n\n    def put(self, thing):\n        return thing\n\n    def twice(self):\n"
        "        return self.put(self.put(1))\n\n\nif True:\n\n    def get():\n        return 1\nelse:\n\n    def get():\n"
        "        return 2\n\n\ndef use():\n    return get()\n"
    ),
}


@pytest.mark.parametrize("target", ["Box.put", "put", "box.py::Box.put", "sym:box.py::Box.put", "box.py:6", "Box.put#2"])
def test_a_change_of_one_overload_reaches_who_calls_the_name(tmp_path: Path, target: str) -> None:
    with repository(tmp_path, OVERLOADED) as workspace:
        assert names(workspace.impact(target)) == ["Box.twice"]


def test_a_plain_name_means_the_definition_that_is_read(tmp_path: Path) -> None:
    """As links have it; a locator, a line and an ordinal mean what they say."""
    with repository(tmp_path, OVERLOADED) as workspace:
        found = {target: workspace.find(target).qual for target in ("Box.put", "put", "box.py::Box.put", "get", "box.py::get")}
        wanted = dict.fromkeys(("Box.put", "put", "box.py::Box.put"), "Box.put#3")
        assert found == wanted | dict.fromkeys(("get", "box.py::get"), "get#2")
        for exact in ("sym:box.py::Box.put", "box.py:6"):
            assert workspace.find(exact).qual == "Box.put"
        assert workspace.find("Box.put#2").qual == "Box.put#2"


def test_pages_are_one_list_cut(shop: Workspace) -> None:
    whole = shop.impact("round_cents")
    seen, after = [], 0
    while True:
        page = shop.impact("round_cents", limit=2, after=after)
        assert page.total == whole.total and page.per_depth == whole.per_depth
        seen += names(page)
        if not page.next:
            break
        after = page.next
    assert seen == names(whole) and len(seen) > 3


def test_only_tests_and_depth_zero(shop: Workspace) -> None:
    assert names(shop.impact("round_cents", tests=True)) == ["test_total"]
    beside = shop.impact("round_cents", depth=0)
    assert beside.total == 0 and [node.path for node in beside.importers] == ["shop/cart.py"]


def test_importers_are_told_and_those_through_others_counted(shop: Workspace) -> None:
    found = shop.impact("file:shop/money.py")
    assert [node.path for node in found.importers] == ["shop/cart.py"]
    assert (found.importers_total, found.importers_all) == (1, 3)
    assert "Cart.total" in names(found) and "round_cents" not in names(found)  # what is inside changes with it


def test_a_field_is_never_silent(shop: Workspace) -> None:
    found = shop.impact("Cart.currency")
    assert [(use.node.qual, use.count) for use in found.named] == [("bill", 1)]
    assert found.named_total == 1 and found.boundary.unknown >= 1
    assert any("not linked" in note for note in found.boundary.notes)


def test_what_is_not_certain_is_counted_and_followed_on_demand(shop: Workspace) -> None:
    found = shop.impact("Cart.total")
    assert "guess" not in names(found)
    assert found.maybe_total or found.boundary.unknown
    assert shop.impact("Cart.total", maybe=True).total >= found.total


def test_several_change_together(shop: Workspace) -> None:
    both = shop.impact("round_cents", "bill")
    assert {node.qual for node in both.seeds} == {"round_cents", "bill"}
    assert "bill" not in names(both)
    with pytest.raises(UsageError):
        shop.impact()
    with pytest.raises(NotFound):
        shop.impact("round_cents", "nobody_is_called_so")


def test_before_a_commit_git_says_what_changes(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as workspace:
        with pytest.raises(NotFound, match="nothing is changed"):
            workspace.impact(changed="lines")
        path = tmp_path / "shop/money.py"
        path.write_text(path.read_text().replace("round(amount)", "round(amount, 2)"))
        workspace.index(workers=1)
        by_line = workspace.impact(changed="lines")
        assert [node.qual for node in by_line.seeds] == ["round_cents"]
        by_file = workspace.impact(changed="files")
        assert [node.path for node in by_file.seeds] == ["shop/money.py"] and by_file.seeds[0].type == "file"
        path.write_text(path.read_text() + "\n\ndef later():\n    return 1\n")
        unseen = workspace.impact(changed="lines")
        assert unseen.seeds[0].type == "file" and any("not as the index has them" in note for note in unseen.boundary.notes)
        with pytest.raises(UsageError):
            workspace.impact(changed="words")


def test_co_change_is_told_with_how_far_it_reaches(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as workspace:
        for number in range(3):
            (tmp_path / "shop/money.py").write_text(FILES["shop/money.py"] + f"# {number}\n")
            (tmp_path / "shop/loose.py").write_text(FILES["shop/loose.py"] + f"# {number}\n")
            git(tmp_path, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qam", "both")
        workspace.index(workers=1)
        found = workspace.impact("round_cents", history=True)
        assert [(one.path, one.together, one.commits) for one in found.co_changed] == [("shop/loose.py", 3, 3)]
        assert "3 commits" in found.history
        assert workspace.impact("round_cents").history == ""
        hood = workspace.neighbors("round_cents", history=True)
        assert hood.co_changed == found.co_changed
