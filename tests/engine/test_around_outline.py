"""What lies around a node, and the repository as a tree, on a real index."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mog.engine import model as m
from mog.engine.errors import NotFound, UsageError
from mog.engine.workspace import Workspace

SHOP = {
    "shop/__init__.py": "",
    "shop/money.py": "def cents(amount):\n    return amount.rounded()\n",
    "shop/cart.py": (
        "from shop.money import cents\n\n\nclass Cart:\n    def total(self):\n        return cents(self.net())\n\n"
        "    def net(self):\n        return 1\n\n\ndef price(cart: Cart):\n    return cart.total()\n"
    ),
    "shop/order.py": "from shop.cart import price\n\n\ndef bill(cart):\n    return price(cart)\n",
    "shop-old/a.py": "X = 1\n",
    "tests/test_cart.py": "from shop.cart import price\n\n\ndef test_price():\n    assert price(None)\n",
    "readme.md": "# shop\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("shop")
    for name, text in SHOP.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True, stdin=subprocess.DEVNULL)
    workspace = Workspace.open(root)
    workspace.index(workers=1)
    return workspace


def hops(workspace: Workspace, target: str, depth: int, limit: int = 50) -> dict[str, int]:
    return {one.node.qual or one.node.path: one.hop for one in workspace.around(target, depth=depth, limit=limit).near}


def test_callers_of_callers_stand_before_and_callees_after(shop: Workspace) -> None:
    """The two cones are followed apart: a caller of a callee is in neither."""
    assert hops(shop, "Cart.total", 1) == {"price": -1, "Cart.net": 1, "cents": 1}
    found = hops(shop, "Cart.total", 2)
    assert found["bill"] == found["test_price"] == -2 and found["price"] == -1
    assert hops(shop, "cents", 1) == {"Cart.total": -1}


def test_totals_are_exact_when_the_answer_is_cut(shop: Workspace) -> None:
    """Per hop and side, whatever the limit."""
    whole, cut = (shop.around("Cart.total", depth=2, limit=limit) for limit in (50, 2))
    assert (cut.before.per_hop, cut.after.per_hop) == (whole.before.per_hop, whole.after.per_hop) == ((1, 2), (2,))
    assert len(cut.near) == 2 and {one.hop for one in cut.near} == {-1, 1}
    assert cut.boundary.omitted == whole.before.total + whole.after.total - 2


def test_ties_join_what_is_named_and_members_speak_for_their_class(shop: Workspace) -> None:
    """Links of a method are links of the class that was asked about."""
    found = shop.around("Cart", depth=1, limit=50)
    ids = {one.node.id: one.node.qual for one in found.near} | {found.center.id: "Cart"}
    assert found.members == 2 and found.unbound == 0 and shop.around("cents", depth=1).unbound == 1
    assert {(ids[tie.tail], tie.kind, ids[tie.head]) for tie in found.ties if tie.kind == "calls"} == {
        ("price", "calls", "Cart"), ("Cart", "calls", "cents"),
    }  # fmt: skip
    assert all(isinstance(tie.tier, m.Tier) for tie in found.ties)


def test_surroundings_of_everything_or_of_no_depth_are_refused(shop: Workspace) -> None:
    """A question without an answer says the way out."""
    for target, depth in ((".", 2), ("Cart", 0)):
        with pytest.raises((UsageError, NotFound)) as caught:
            shop.around(target, depth=depth)
        assert caught.value.way_out


def names(workspace: Workspace, target: str = "", **page: int) -> list[str]:
    return [branch.name for branch in workspace.outline(target, **page).branches]


def test_folders_stand_before_files_and_a_name_that_begins_alike_is_another_folder(shop: Workspace) -> None:
    """``shop-old`` sorts between ``shop`` and ``shop/…`` as bytes, and is neither lost nor counted twice."""
    assert names(shop) == ["shop", "shop-old", "tests", "readme.md"]
    assert [branch.inside for branch in shop.outline().branches] == [4, 1, 1, 0]
    assert names(shop, "shop/") == ["__init__.py", "cart.py", "money.py", "order.py"]


def test_a_file_unfolds_to_classes_and_these_to_methods_with_callers(shop: Workspace) -> None:
    """In the order of the file, with the number of those that use each."""
    assert names(shop, "file:shop/cart.py") == ["Cart", "price"]
    cart = shop.outline("file:shop/cart.py").branches[0]
    assert cart.inside == 2 and names(shop, cart.id) == ["total", "net"]
    price = shop.outline("file:shop/cart.py").branches[1]
    assert price.callers == 2 and price.freshness is m.Freshness.fresh
    assert {b.name: b.callers for b in shop.outline("shop/").branches}["cart.py"] == 2


def test_pages_of_an_outline_join_without_a_gap(shop: Workspace) -> None:
    """``next`` leads on and ends."""
    seen, after = [], 0
    while True:
        answer = shop.outline("shop/", after=after, limit=3)
        seen += [branch.name for branch in answer.branches]
        assert answer.total == 4
        if not answer.next:
            break
        after = answer.next
    assert seen == names(shop, "shop/")


def test_a_folder_that_is_not_there_is_said_so(shop: Workspace) -> None:
    """A prefix of a name is no folder."""
    for target in ("sho/", "shop/cart.py/"):
        with pytest.raises(NotFound):
            shop.outline(target)
    with pytest.raises(UsageError):
        shop.outline(limit=0)


def test_beliefs_about_a_function_and_its_file_come_with_the_state_of_their_anchor(tmp_path: Path) -> None:
    """A change of the function drifts the one, not the other; what was superseded is told apart."""
    (tmp_path / "cart.py").write_text("def total(a):\n    return a\n\n\ndef other(b):\n    return b + 1\n")
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)
    workspace = Workspace.open(tmp_path)
    workspace.index(workers=1)
    assert workspace.believed("total") == () and workspace.believed_counts() == {}
    first = workspace.beliefs.assume("rounds once", about=["total"])
    workspace.beliefs.assume("the file is pure", about=["file:cart.py"])
    workspace.beliefs.supersede(str(first.result), "rounds twice", everything="move", reason="seen")
    workspace.pin("total", "look here")
    (tmp_path / "cart.py").write_text("def total(a):\n    return a + 1\n\n\ndef other(b):\n    return b + 1\n")
    workspace.index(workers=1)
    found = {one.node.label: one for one in workspace.believed("total")}
    assert found["the file is pure"].whole and found["rounds once"].retired is not None
    assert found["rounds once"].freshness is m.Freshness.drifted and found["rounds once"].reason
    assert [one.node.label for one in workspace.believed("other")] == ["the file is pure"]
    counts = workspace.believed_counts()
    assert counts["file:cart.py"] >= 1 and counts["sym:cart.py::total"] >= 1


def test_what_stands_around_a_belief_is_counted_by_hop(tmp_path: Path) -> None:
    """A limit cuts what is named, not what is counted; code it is about is part of it."""
    (tmp_path / "cart.py").write_text("def total(a):\n    return a\n")
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)
    workspace = Workspace.open(tmp_path)
    workspace.index(workers=1)
    known = workspace.beliefs
    base = str(known.assume("prices are cents", about=["total"]).result)
    for i in range(5):
        known.decide(f"store {i}", "because", rests_on=[base])
    whole, cut = known.around(base, depth=1), known.around(base, depth=1, limit=2)
    assert whole.per_hop == cut.per_hop == (6,) and whole.hidden == 0 and cut.hidden == 4
    assert {met.node.type for met in whole.nodes} == {"assumption", "decision", "symbol"}
    assert {(edge.kind) for edge in whole.edges} == {"depends_on", "about"}
    assert [met.label for met in whole.nodes if met.node.type == "symbol"] == [None]
    with pytest.raises(UsageError):
        known.around(base, depth=-1)
