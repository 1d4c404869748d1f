"""What a thing takes at least, asked before it is rendered: never more than it takes, and no pack is another for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from context_kit import FILES, repository

from mog.engine.model import IndexStamp
from mog.engine.retrieval import estimator, pack
from mog.engine.retrieval.model import Found, Zoom
from mog.engine.retrieval.zoom import Zoomer
from mog.engine.workspace import Workspace

WIDE = "".join(
    f"    def method_{n}(self, first: int, second: str = 'x', *rest: object) -> dict[str, int]:\n"
    f'        """Says {n}."""\n        return {{"n": {n}}}\n\n'
    for n in range(40)
)
MORE = {
    "wide.py": f"class Wide(object):\n    limit = 3\n\n{WIDE}\n\nclass Small(Wide):\n    def one(self): return 1\n",
    "flat.py": "\n\n".join(f"def f{n}(a,\n       b, c,):\n    return a + {n}" for n in range(60)) + "\n",
    "shapes.ts": "export class Shape {\n  area(a: number, b?: string,): number { return a }\n  private name = 'x'\n}\n"
    + "\n".join(f"export function g{n}(x: number): number {{ return x + {n} }}" for n in range(50)) + "\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with repository(tmp_path_factory.mktemp("least"), {**FILES, **MORE}) as workspace:
        yield workspace


def test_nothing_takes_less_than_was_said(shop: Workspace) -> None:
    said = 0
    with shop._reading() as view:
        zoomer = shop.context._zoomer(view)
        for path in view.paths():
            for node in view.nodes_in(path).values():
                for zoom in (Zoom.L0, Zoom.L1, Zoom.L2):
                    least = zoomer.least(node, zoom)
                    text = zoomer.render(node, zoom).text.rstrip("\n")
                    assert least <= estimator.size(text), (node.locator, zoom, least, text)
                    said += least > 0
    assert said > 200


@pytest.mark.parametrize("budget", [64, 400, 2_000, 8_000])
@pytest.mark.parametrize("zoom", [None, Zoom.L0, Zoom.L1, Zoom.L2])
def test_a_pack_is_the_same_with_and_without_it(shop: Workspace, budget: int, zoom: Zoom | None) -> None:
    with shop._reading() as view:
        nodes = [node for path in sorted(view.paths()) for node in view.nodes_in(path).values()]
        orders = (nodes, nodes[::-1], sorted(nodes, key=lambda node: node.id))
        for order in orders:
            found = [Found(node, 10.0 - at / 100) for at, node in enumerate(order[:120])]
            made = []
            for least in (None, Zoomer(view, shop.context._outlines, shop.root).least):
                render = Zoomer(view, shop.context._outlines, shop.root).render
                made.append(pack.fill("q", found, render, budget, IndexStamp(1, "", False), zoom=zoom, least=least))
            assert made[0] == made[1]
