"""A repository that has everything the exported page shows: code, beliefs, walks, drift, a ledger, agents' calls.

Who calls: tests/web/. What may not come in: assertions.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from mog.engine.traffic import Call, Traffic
from mog.engine.workspace import Workspace

CODE = {
    "shop/__init__.py": "",
    "shop/money.py": (
        "def round_cents(amount):\n    return round(amount)\n\n\n"
        "def split(amount, parts):\n    return round_cents(amount / parts)\n"
    ),
    "shop/tax.py": (
        "from shop.money import round_cents\n\nVAT_STEPS = (7, 19)\n\n\n"
        "def vat(amount):\n    return round_cents(amount * VAT_STEPS[1] / 100)\n"
    ),
    "shop/cart.py": (
        "from shop.money import round_cents\nfrom shop.tax import vat\n\n\n"
        "class Cart:\n    def __init__(self):\n        self.lines = []\n\n"
        "    def total(self):\n        return round_cents(sum(self.lines)) + vat(sum(self.lines))\n"
    ),
    "api/orders.py": (
        "from shop.cart import Cart\n\n\n"
        "def create_order(lines):\n    cart = Cart()\n    cart.lines = lines\n    return cart.total()\n"
    ),
    "api/invoice.py": (
        "from shop.cart import Cart\nfrom shop.tax import vat\n\n\n"
        "def bill_month(carts):\n    return [vat(c.total()) for c in carts]\n"
    ),
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 0\n",
    "docs/vat-notes.md": (
        "# VAT notes\n\nThe VAT table changes once a year. The tax office publishes the VAT table in December.\n"
    ),
    "docs/postmortem.md": (
        "# Postmortem 233\n\nThe Index Builder ran out of memory during the nightly rebuild."
        " The Payment Gateway rejects fractions of a cent. The Cart rounds totals once at the end.\n"
    ),
}
QUESTIONS = (
    "Why did the Index Builder run out of memory?",
    "what does the Payment Gateway reject",
    "when does the VAT table change",
    "what is the refund policy for annual plans",
    "how are totals of the Cart rounded",
    "who approved the gift card rule",
)


def repository(root: Path, files: Mapping[str, str | bytes] = CODE) -> Path:
    """A git repository with these files, indexed."""
    root.mkdir(parents=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", *command], cwd=root, check=True, stdin=subprocess.DEVNULL, timeout=60)
    return root


def lived_in(root: Path) -> Path:
    """The repository after a day's work."""
    repository(root)
    with Workspace.open(root) as workspace:
        workspace.index()
        _believed(workspace)
        for question in QUESTIONS:
            for _ in range(3):
                workspace.beliefs.ask(question)
        workspace.pin("shop/cart.py::Cart.total", "totals are rounded once, last")
        workspace.pin("shop/money.py::split", "parts add up")
        workspace.pin("shop/tax.py", "rates of this year")
        (root / "shop/cart.py").write_text(CODE["shop/cart.py"].replace("+ vat(", "+ 2 * vat("), encoding="utf-8")
        money = CODE["shop/money.py"].partition("\n\n\ndef split")[0] + "\n"
        (root / "shop/money.py").write_text(money, encoding="utf-8")
        workspace.index()
        workspace.beliefs.recheck()
        _asked(workspace)
    return root


def _believed(workspace: Workspace) -> None:
    beliefs = workspace.beliefs
    beliefs.ingest([workspace.root / "docs"])
    cents = beliefs.assume("prices are in minor units", about=["shop/money.py::round_cents"]).result
    once = beliefs.assume("totals are rounded once, last", about=["shop/cart.py::Cart.total"]).result
    march = beliefs.evidence("the March audit found no difference of a cent").result
    invoice = beliefs.claim("the invoice equals the cart", rests_on=[[once]]).result
    beliefs.ground(invoice, [march], note="an audit")
    beliefs.claim("the VAT report is exact", rests_on=[[once, cents]])
    beliefs.decide(
        "store cents as integers", "floats lose cents", rests_on=[cents], about=["shop/money.py::round_cents"]
    )
    beliefs.decide("drop rounding per line", "it is done once", rests_on=[once])
    wrong = beliefs.claim("gift cards are taxed", rests_on=[[cents]]).result
    beliefs.evidence("gift cards came back untaxed in May", contradicts=[wrong])
    beliefs.reject(once, evidence="an order was rounded per line in April", reason="seen in order 4411")


def _asked(workspace: Workspace) -> None:
    traffic = Traffic(workspace.mog_dir)
    for number, (tool, asked) in enumerate(
        [
            ("search_context", "where is the cart total rounded"),
            ("why", "VAT_STEPS"),
            ("impact", "round_cents"),
            ("remember", "x"),
        ]
        * 4
    ):
        outcome = "ok" if tool != "remember" else "PolicyDenied"
        at = f"2026-03-01T12:{number:02}:00.000+00:00"
        traffic.record(
            Call(at, "pane 2/1.0", "s1", tool, {"query": asked}, outcome, 120 + 31 * number, 4.0 + number, generation=1)
        )
    traffic.close()
