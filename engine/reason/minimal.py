"""How firmly a node stands: the smallest losses that fell it, and one smallest set that holds it up.

Who calls: the mesh, for "why does it stand" and "what would it take". What may not come in: made-up probabilities;
a number here counts grounds or nodes.

A loss is a given node (one without grounds) or another that the caller says can be lost, an assumption for instance.
Losses are answered exactly, defeaters included: a loss that frees a defeater fells too, one that frees a second
ground does not. The search rests on explanations: as long as none of the nodes that explain why something stands is
lost, it stands; so a single loss that fells lies among them, and of a pair one does, and the other lies in the
explanation that is left without it (the hitting-set tree of Reiter, "A theory of diagnosis from first principles",
1987, cut off at two).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mog.engine.reason.region import ABSENT, Region, TooMuch
from mog.engine.reason.standing import Standing

STEPS = 1_000_000
PAIRS = 200


@dataclass(frozen=True, slots=True)
class Strength:
    """What it would take to fell a node.

    Attributes:
        node: the node asked about.
        stands: whether it stands; when not, nothing else but the two counts is filled in.
        met, recorded: number of met grounds, and of all of them.
        ones: nodes that fell it when lost alone, in order.
        pairs: pairs that fell it when lost together and not alone, in order.
        losable: whether it rests on anything that can be lost.
        support: a smallest set of given nodes that hold it up, in order; no one of them can be left out.
        unless: nodes that would break that support by standing, in order.
        truncated: the work allowed ran out, or there are more pairs than listed; what is listed is right all the same.
    """

    node: str
    stands: bool
    met: int
    recorded: int
    ones: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    losable: bool = True
    support: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    truncated: bool = False

    @property
    def needs(self) -> int | None:
        """How many losses it takes: 1, 2, 3 for "more than two", 0 when nothing fells it, None when not known."""
        if not self.stands or (self.truncated and not self.ones and not self.pairs):
            return None
        return 1 if self.ones else 2 if self.pairs else 3 if self.losable else 0

    def said(self, name: Callable[[str], str] = str) -> str:
        """One line for people; ``name`` turns an id into what they call it."""
        if not self.stands:
            return "does not stand"
        if self.ones:
            return f"falls with {' or '.join(map(name, self.ones))}"
        if self.pairs:
            return f"needs two: {' or '.join(f'{name(a)} and {name(b)}' for a, b in self.pairs)}"
        if self.truncated:
            return "not known: too much rests here to search through"
        return "needs more than two" if self.losable else "rests on nothing that can be lost"


def _nothing_more(_node: str) -> bool:
    return False


def strength(
    standing: Standing,
    node: str,
    *,
    also: Callable[[str], bool] = _nothing_more,
    steps: int = STEPS,
    pairs: int = PAIRS,
) -> Strength:
    """Smallest losses and one smallest support of a node. Deterministic; no label changes.

    Args:
        node: its id. NotFound when there is none.
        also: which nodes can be lost although they have grounds.
        steps: work allowed, in premises looked at; about a microsecond each.
        pairs: how many pairs to list at most.
    """
    n = standing.find(node)
    counts = (node, standing.stands(node), standing.met_count[n], standing.ground_count[n])
    if not standing.stands(node):
        return Strength(*counts)
    try:
        region = Region(standing, node, also, steps)
    except TooMuch:
        return Strength(*counts, truncated=True)
    return _Search(region, pairs).answer(counts)


class _Search:
    def __init__(self, region: Region, pairs: int) -> None:
        self.region, self.pairs_wanted = region, pairs
        self.ones: list[int] = []
        self.pairs: set[tuple[int, int]] = set()
        self.support: list[int] = []
        self.unless: list[int] = []
        self.losable = True

    def answer(self, counts: tuple[str, bool, int, int]) -> Strength:
        """Everything that the work allowed is enough for."""
        try:
            base = self.region.solve()
            first = explain(self.region, base)
            self.losable = bool(first)
            self._find_support(base)
            self._find_ones(first)
            truncated = self._find_pairs(first)
        except TooMuch:
            truncated = True
        name = self.region.names.__getitem__
        return Strength(
            *counts,
            ones=tuple(map(name, self.ones)),
            pairs=tuple((name(a), name(b)) for a, b in sorted(self.pairs)),
            losable=self.losable,
            support=tuple(map(name, self.support)),
            unless=tuple(map(name, self.unless)),
            truncated=truncated,
        )

    def _find_ones(self, first: Sequence[int]) -> None:
        self.ones = _felled(self.region.worlds(first), first)

    def _find_pairs(self, first: Sequence[int]) -> bool:
        """Fill in the pairs; whether there are more than wanted."""
        alone = set(self.ones)
        for one in (n for n in first if n not in alone):
            left = explain(self.region, self.region.solve((one,)))
            others = [n for n in left if n not in alone and n != one]
            for other in _felled(self.region.worlds(others, (one,)), others):
                pair = (min(one, other), max(one, other))
                if pair not in self.pairs and len(self.pairs) == self.pairs_wanted:
                    return True
                self.pairs.add(pair)
        return False

    def _find_support(self, base: Sequence[int]) -> None:
        """Leave given nodes out of one derivation, last by id first, until none can be."""
        region = self.region
        nodes = list(derivation(region, base))
        given = sorted(n for n in nodes if not region.rules[n])
        barred = {b for n in nodes for b in (*chosen(region, n, base)[1], *region.foes[n])}
        self.support, self.unless = given, sorted(barred)
        while idle := _felled(~region.worlds(given, frozen=base, all_but=True), given):
            given = [n for n in given if n != idle[-1]]
        self.support = given


def _felled(states: int, worlds: Sequence[int]) -> list[int]:
    """The nodes in whose world the target does not stand."""
    return [n for at, n in enumerate(worlds) if not states >> at & 1]


def chosen(region: Region, n: int, round_of: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """(premises, barriers) of the first ground by id that carries a standing node without resting on it."""
    for rule in region.rules[n]:
        stand = all(round_of[p] != ABSENT and region.before(p, n, round_of) for p in rule.all_of)
        if stand and region.open(rule, round_of):
            return rule.all_of, rule.none_of
    return (), ()


def derivation(region: Region, round_of: Sequence[int]) -> Iterator[int]:
    """The nodes of one derivation of the target, each once."""
    seen, stack = {region.target}, [region.target]
    while stack:
        n = stack.pop()
        yield n
        fresh = [p for p in chosen(region, n, round_of)[0] if p not in seen]
        seen.update(fresh)
        stack += fresh


def explain(region: Region, round_of: Sequence[int]) -> list[int]:
    """Nodes that can be lost and explain the target: while none of them is lost besides, it stands. In order."""
    if round_of[region.target] == ABSENT:
        return []
    seen = {region.target}
    stack, found = [region.target], set()
    while stack:
        n = stack.pop()
        region.spend(1)
        if round_of[n] == ABSENT:
            reasons = _absence(region, n, round_of)
        else:
            wanted, barred = chosen(region, n, round_of)
            reasons = [*wanted, *barred, *region.foes[n]]
            if n in region.losable:
                found.add(n)
        fresh = set(reasons) - seen
        seen |= fresh
        stack += sorted(fresh)
    return sorted(found)


def _absence(region: Region, n: int, round_of: Sequence[int]) -> list[int]:
    """For an absent node: one reason for each ground why it is not met, or one for all."""
    standing = [by for by in region.foes[n] if round_of[by] != ABSENT]
    if n in region.out or not region.rules[n]:
        return [] if n in region.out else standing[:1]
    if standing:
        return standing[:1]
    reasons = []
    for rule in region.rules[n]:
        absent = [p for p in rule.all_of if round_of[p] == ABSENT]
        barring = [b for b in rule.none_of if round_of[b] != ABSENT]
        reasons += absent[:1] or barring[:1]
    return reasons
