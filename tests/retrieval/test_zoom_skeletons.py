"""L1: whole signatures with decorators, overloads and documentation, in every language that has symbols."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from context_kit import repository

from mog.engine.retrieval.model import Zoom
from mog.engine.workspace import Workspace


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with repository(tmp_path_factory.mktemp("skeletons")) as workspace:
        yield workspace


def skeleton(workspace: Workspace, target: str) -> str:
    made = workspace.context.expand(target, zoom=Zoom.L1)
    return made.items[0].text


def test_python_class(shop: Workspace) -> None:
    assert skeleton(shop, "TokenStore") == (
        "class TokenStore:\n"
        '    """Keeps refresh tokens and says whether they are valid."""\n'
        "    lifetime: int = 3600\n"
        "    @overload\n"
        "    def validate(self, token: int) -> bool:\n"
        "    @overload\n"
        "    def validate(self, token: str) -> bool:\n"
        "    @functools.lru_cache(\n"
        "        maxsize=None\n"
        "    )\n"
        "    def validate(self, token, strict=False):\n"
        '        """Whether a refresh token is valid. …\n'
        '        """\n'
        "    def known(self, token):\n"
        "    @property\n"
        "    def size(self) -> int:\n"
        "    @size.setter\n"
        "    def size(self, value: int) -> None:"
    )


def test_a_signature_over_several_lines_is_whole(shop: Workspace) -> None:
    assert skeleton(shop, "round_cents") == (
        "def round_cents(\n    amount: int,\n    *,\n    places: int = 2,\n) -> int:\n"
        '    """Round an amount to cents, half to even."""'
    )


def test_typescript_class(shop: Workspace) -> None:
    text = skeleton(shop, "CartView")
    wanted = [
        "/** Draws the cart. */", "export abstract class CartView<T> extends Base implements Drawable {",
        'private readonly title?: string = "x";', "constructor(private store: Store, name?: string)",
        "draw(a: number): void;", "draw(a: string): void;", "draw(a: any): void",
        "abstract paint(a: any): void;",
        "get total(): number", "arrow = async (q: number): Promise<void> =>;",
    ]  # fmt: skip
    lines = [line.strip() for line in text.splitlines()]
    assert [one for one in wanted if one not in lines] == []
    assert "this.paint" not in text and "await q" not in text


def test_typescript_overloads_and_interfaces(shop: Workspace) -> None:
    assert (
        skeleton(shop, "open")
        == "export function open(a: number): void;\nexport function open(\n  a: any,\n  b?: string,\n): void"
    )
    assert skeleton(shop, "Drawable") == "export interface Drawable { width: number; draw(a: string): void; }"


def test_a_file_at_l1_is_what_stands_at_module_level(shop: Workspace) -> None:
    text = skeleton(shop, "file:shop/tokens.py")
    assert text.startswith("class TokenStore:") and "def rotate(store: TokenStore, token: str) -> str:" in text
    assert "raise ValueError" not in text
