"""Money in minor units."""

from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")


def round_cents(amount: Decimal) -> int:
    """An amount as whole cents, half to even."""
    return int(amount.quantize(CENT, rounding=ROUND_HALF_EVEN) * 100)
