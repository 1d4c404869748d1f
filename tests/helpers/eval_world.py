"""A small repository with history and tasks about it, for tests of the localisation suite."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

SOURCES = {
    "shop/__init__.py": "",
    "shop/cart.py": '''"""Carts of customers."""


class Cart:
    """What a customer is about to buy."""

    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add_item(self, item, quantity=1):
        """Put an item into the cart."""
        self.items.append((item, quantity))

    def total_price(self, discount=None):
        """Sum of all prices, less the discount."""

        def of(item, quantity):
            return item.price * quantity

        return sum(of(item, quantity) for item, quantity in self.items)
''',
    "shop/voucher.py": '''"""Vouchers."""


def parse_voucher(text):
    """Read a voucher code."""
    if not text.startswith("V-"):
        raise ValueError("voucher codes start with V-")
    return text[2:]


def redeem_voucher(cart, text):
    """Apply a voucher to a cart."""
    code = parse_voucher(text)
    cart.discount = code
    return cart
''',
    "shop/mail.py": "\n\n".join(
        f'def send_{kind}(address, body):\n    """Send a {kind} by mail."""\n    return ({kind!r}, address, body)'
        for kind in ("receipt", "reminder", "newsletter", "invoice", "warning", "apology")
    )
    + "\n",
    "tests/test_cart.py": "def test_total_price():\n    assert parse_voucher('V-1')\n",
}
QUERIES = (
    ("price", "total_price ignores the discount\n\n`Cart.total_price` returns the sum without the discount.",
     ["shop/cart.py"], ["shop/cart.py:Cart.total_price"]),
    ("voucher", "Lower case voucher codes are refused\n\nValueError: voucher codes start with V-\n",
     ["shop/voucher.py"], ["shop/voucher.py:parse_voucher"]),
    ("owner", "Cart() without an owner fails\n\n```\nCart()\nTypeError: __init__() missing owner\n```\n",
     ["shop/cart.py"], ["shop/cart.py:Cart"]),
)  # fmt: skip


def clone(folder: Path, repo: str = "acme/shop") -> str:
    """A clone named owner+name/repo below ``folder`` with one commit of ``SOURCES``; the commit."""
    root = folder / repo.replace("/", "+") / "repo"
    for path, text in SOURCES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", *command], cwd=root, check=True, stdin=subprocess.DEVNULL, timeout=60)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return head.stdout.decode().strip()


def tasks(path: Path, commit: str, repo: str = "acme/shop") -> Path:
    """Write the tasks of ``QUERIES``, and one without a gold function, as JSON Lines."""
    rows = [
        {"id": name, "repo": repo, "base_commit": commit, "query": text, "files": files, "functions": functions}
        for name, text, files, functions in (*QUERIES, ("docs", "Typo", ["shop/mail.py"], []))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
