"""A small repository of Python, TypeScript, prose and a planted secret, indexed, for tests of what agents are given.

Who calls: tests/retrieval, tests/app. What may not come in: assertions.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from mog.engine.config import EngineConfig
from mog.engine.workspace import Workspace

SECRET = "ghp_" + "FAKE" * 9
HUNTER = "hunter" + "2" * 3 + "Fake"
FILES: dict[str, str] = {
    "shop/__init__.py": "",
    "shop/money.py": '''"""Money."""

ROUNDING = "half even"


def round_cents(
    amount: int,
    *,
    places: int = 2,
) -> int:
    """Round an amount to cents, half to even."""
    return round(amount, places)
''',
    "shop/tokens.py": '''"""Refresh tokens."""

import functools
from typing import overload

from shop.money import round_cents


class TokenStore:
    """Keeps refresh tokens and says whether they are valid."""

    lifetime: int = 3600

    @overload
    def validate(self, token: int) -> bool: ...
    @overload
    def validate(self, token: str) -> bool: ...
    @functools.lru_cache(
        maxsize=None
    )
    def validate(self, token, strict=False):
        """Whether a refresh token is valid.

        Longer words that do not belong to the summary.
        """
        return self.known(token) and round_cents(1)

    def known(self, token):
        return token in self.all()

    @property
    def size(self) -> int:
        return 1

    @size.setter
    def size(self, value: int) -> None:
        pass


def rotate(store: TokenStore, token: str) -> str:
    """Give a new token for an old one."""
    if not store.validate(token):
        raise ValueError(token)
    return token + "x"
''',
    "shop/keys.py": f'class Keys:\n    password = "{HUNTER}"\n\n\nPASSWORD = "{HUNTER}"\n\n\ndef plain():\n    return 1\n',
    "tests/test_tokens.py": "from shop.tokens import TokenStore, rotate\n\n\n"
    "def test_rotate():\n    assert rotate(TokenStore(), 'a')\n",
    "web/view.ts": '''/** Draws the cart. */
export abstract class CartView<T> extends Base implements Drawable {
  private readonly title?: string = "x";
  constructor(private store: Store, name?: string) { super(); }
  draw(a: number): void;
  draw(a: string): void;
  /** Draw it. */
  draw(a: any): void { this.paint(a); }
  abstract paint(a: any): void;
  get total(): number { return 1; }
  arrow = async (q: number): Promise<void> => { await q; };
}
export interface Drawable { width: number; draw(a: string): void; }
export function open(a: number): void;
export function open(
  a: any,
  b?: string,
): void { return; }
''',
    "docs/tokens.md": "# Refresh tokens\n\nA refresh token is validated by the token store.\n",
    ".env": f"TOKEN={SECRET}\n",
}  # fmt: skip


def repository(
    folder: Path, files: Mapping[str, str] = FILES, *, index: bool = True, config: EngineConfig | None = None
) -> Workspace:
    """A git repository with these files, committed; its workspace, indexed unless told otherwise."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    git(folder, "init", "-q", ".")
    git(folder, "add", "-A", "-f")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "first")
    workspace = Workspace.open(folder, config=config)
    if index:
        workspace.index(workers=1)
    return workspace


def git(folder: Path, *arguments: str) -> None:
    """One git command in the folder."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)
