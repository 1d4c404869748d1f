"""The workspace as networkx and as a reason graph, and which index it believes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import networkx as nx
import pytest

from mog.engine.errors import IndexMissing
from mog.engine.model import Freshness
from mog.engine.workspace import Workspace

SHOP = {
    "shop/__init__.py": "",
    "shop/money.py": "def round_cents(amount):\n    return round(amount)\n",
    "shop/cart.py": "from shop.money import round_cents\n\n\ndef total(lines):\n    return round_cents(sum(lines))\n",
    "shop/order.py": "from shop.cart import total\n\n\ndef bill(lines):\n    return total(lines)\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    for name, text in SHOP.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)
    workspace = Workspace.open(tmp_path)
    workspace.index(workers=1)
    return workspace


def test_view_answers_networkx_questions_on_the_arrays(shop: Workspace) -> None:
    """Ancestors over certain calls are the callers, however far."""
    view = shop.view(kinds=("calls",))
    callers = nx.ancestors(view, shop.find("round_cents").key)
    assert callers == {shop.find("total").key, shop.find("bill").key}


def test_subgraph_is_a_real_and_bounded_networkx_graph(shop: Workspace) -> None:
    """Depth and limit hold, and every node says what it is."""
    graph = shop.subgraph("total", depth=1)
    locators = {data["locator"] for _, data in graph.nodes(data=True)}
    assert isinstance(graph, nx.MultiDiGraph)
    assert "sym:shop/money.py::round_cents" in locators and "sym:shop/order.py::bill" in locators
    assert len(shop.subgraph("total", depth=3, limit=3)) == 3


def test_pins_are_observations_about_the_code_they_stand_on(shop: Workspace) -> None:
    """A note follows its function into another file, and the reason graph with it."""
    shop.pin("round_cents", "rounds half to even")
    shop.pin("file:shop/order.py", "billing starts here")
    (shop.root / "shop/money.py").rename(shop.root / "shop/coins.py")
    shop.index(workers=1)
    graph = shop.reasons()
    about = {(graph.node(edge.src).label, graph.node(edge.dst).label) for edge in graph.edges("about")}
    assert about == {("rounds half to even", "round_cents"), ("billing starts here", "order.py")}
    assert graph.untyped_edges == 0


def test_an_index_that_came_with_a_copy_is_not_believed(shop: Workspace, tmp_path: Path) -> None:
    """A planted index answers nothing; `mog index` makes one of the folder's own."""
    copy = tmp_path.parent / "copy"
    shutil.copytree(shop.root, copy)
    with Workspace.open(copy) as other:
        with pytest.raises(IndexMissing, match="another folder"):
            other.search("total")
        assert not other.has_index()
        assert other.index(workers=1).parsed == len(SHOP)
        assert other.find("total").name == "total"


def test_source_is_the_disk_and_says_whether_the_index_agrees(shop: Workspace) -> None:
    """The text keeps the margin of its first line; an edit shows in the text and in the label."""
    (shop.root / "shop/cart.py").write_text("class Cart:\n    def total(self):\n        return 1\n")
    shop.index(workers=1)
    assert shop.source("Cart.total") == ("    def total(self):\n        return 1", Freshness.fresh)
    (shop.root / "shop/cart.py").write_text("class Cart:\n    def total(self):\n        return 22\n")
    assert shop.source("Cart.total") == ("    def total(self):\n        return 22", Freshness.drifted)


def test_a_question_writes_nothing(shop: Workspace) -> None:
    """On a full disk or a read-only folder questions are answered; the key of the clone is made when it is needed."""
    shop.search("total")
    shop.neighbors("total")
    shop.source("total")
    shop.verify()
    made = {path.name for path in shop.mog_dir.iterdir()}
    assert not {"key", "ledger.db"} & made


def test_a_key_that_a_full_disk_left_empty_is_made_anew(shop: Workspace) -> None:
    """Nothing was ever keyed with it, so nothing is lost."""
    (shop.mog_dir / "key").touch(mode=0o600)
    (shop.root / ".env").write_text("A=1\n")
    shop.index(workers=1)
    assert shop.pin("file:.env", "settings of the shop").freshness is Freshness.fresh
    assert (shop.mog_dir / "key").stat().st_size == 32


def test_a_name_is_found_where_it_is_defined_before_the_tests_that_bear_it(tmp_path: Path) -> None:
    """However many tests have helpers of that name; a search for tests asks for them."""
    helpers = "".join(f"def test_{n}():\n    def echo():\n        pass\n\n" for n in range(60))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(helpers + "def test_echo():\n    pass\n")
    (tmp_path / "zlib.py").write_text(f'def echo(message, file=None, nl=True, err=False):\n    """{"Print. " * 60}"""\n')
    Workspace.init(tmp_path)
    with Workspace.open(tmp_path) as workspace:
        workspace.index(workers=1)
        found = workspace.search("echo", limit=30)
        assert found.hits[0].node.locator == "sym:zlib.py::echo"
        assert len(found.hits) == 30 and found.total == len(found.hits) + found.boundary.omitted > 60
        assert workspace.search("test_echo").hits[0].node.name == "test_echo"
