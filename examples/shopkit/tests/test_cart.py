"""The cart adds up."""

from decimal import Decimal

from shop.cart import Cart, Line


def test_total_rounds_once() -> None:
    cart = Cart()
    cart.add(Line(Decimal("0.005"), 3))
    assert cart.total() == 2
