"""What a customer wants to buy."""

from decimal import Decimal

from shop.money import round_cents


class Line:
    """One article and how many of it."""

    def __init__(self, price: Decimal, count: int) -> None:
        self.price = price
        self.count = count

    def net(self) -> Decimal:
        """Price times count."""
        return self.price * self.count


class Cart:
    """Lines and what they cost together."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def add(self, line: Line) -> None:
        """Put a line in."""
        self.lines.append(line)

    def total(self) -> int:
        """Sum of all lines in cents, rounded once, at the end."""
        amount = Decimal(0)
        for line in self.lines:
            amount += line.net()
        return round_cents(amount)
