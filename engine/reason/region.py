"""What one node rests on, taken out of the groundwork and solved apart, so that "what if" costs no label a change.

Who calls: ``minimal``. What may not come in: changes; graphs, records, storage.

A world is the region with some nodes lost. ``solve`` answers one world and says in which round each node came to
stand; ``worlds`` answers many at once, one bit each, with the same rules on whole integers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from mog.engine.errors import MogError
from mog.engine.reason.groundwork import HIDDEN, OUT
from mog.engine.reason.standing import Standing

ABSENT = -1


class TooMuch(MogError):
    """The work allowed for one question is used up; caught by ``minimal``, which says so in its answer."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One ground with nodes as numbers of the region; alternatives of a node are in order of their id."""

    id: str
    all_of: tuple[int, ...]
    none_of: tuple[int, ...]


class Region:
    """A node and everything its standing can depend on. Numbers follow the order of ids, so the least is the first by id.

    Attributes:
        names: ids.
        target: number of the node asked about.
        losable: numbers of what may be lost.
        steps: work left; each answer costs as much as the region is large.
    """

    def __init__(self, standing: Standing, node: str, also: Callable[[str], bool], steps: int) -> None:
        self.steps = steps
        slots = self._reach(standing, standing.find(node))
        number = {n: at for at, n in enumerate(slots)}
        self.names = [standing.name[n] for n in slots]
        self.target = number[standing.slot[node]]
        self.out = {at for at, n in enumerate(slots) if standing.flags[n] & OUT}
        self.level = [standing.level[n] for n in slots]
        self.rules = [self._rules(standing, n, number) for n in slots]
        self.foes = [sorted(number[by] for by in standing.foes.get(n, ())) for n in slots]
        shown = (at for at, n in enumerate(slots) if not standing.flags[n] & HIDDEN)
        losable = (at for at in shown if not self.rules[at] or (at != self.target and also(self.names[at])))
        self.losable = frozenset(losable)
        self.users: list[list[tuple[int, int]]] = [[] for _ in slots]
        for head, rules in enumerate(self.rules):
            for at, rule in enumerate(rules):
                for premise in rule.all_of:
                    self.users[premise].append((head, at))
        self.size = len(slots) + sum(len(rule.all_of) + len(rule.none_of) for rules in self.rules for rule in rules)

    def _reach(self, standing: Standing, target: int) -> list[int]:
        seen, stack = {target}, [target]
        while stack:
            n = stack.pop()
            self.spend(1)
            before = {standing.cell_node[c] for g in standing.grounds_of(n) for c in standing.cells(g)}
            fresh = before.union(standing.foes.get(n, ())) - seen
            seen |= fresh
            stack += fresh
        return sorted(seen, key=standing.name.__getitem__)

    def _rules(self, standing: Standing, n: int, number: dict[int, int]) -> list[Rule]:
        rules = []
        for g in standing.grounds_of(n):
            wanted, barred = (
                tuple(sorted(number[standing.cell_node[c]] for c in cells))
                for cells in (standing.premises(g), standing.barriers(g))
            )
            rules.append(Rule(standing.ground_name[g], wanted, barred))
        return sorted(rules, key=lambda rule: rule.id)

    def spend(self, steps: int) -> None:
        """Count work. Raises TooMuch when none is left."""
        self.steps -= steps
        if self.steps < 0:
            raise TooMuch("the work allowed is used up", way_out="allow more steps")

    def strata(self) -> Iterable[list[int]]:
        """Nodes by level, lowest first."""
        by_level: dict[int, list[int]] = {}
        for n, level in enumerate(self.level):
            by_level.setdefault(level, []).append(n)
        return (by_level[level] for level in sorted(by_level))

    def solve(self, lost: Collection[int] = ()) -> list[int]:
        """The round within its stratum in which each node came to stand; ABSENT when it does not."""
        self.spend(self.size)
        round_of = [ABSENT] * len(self.names)
        missing = [[len(rule.all_of) for rule in rules] for rules in self.rules]
        for stratum in self.strata():
            free = {n for n in stratum if n not in self.out and n not in lost and self._unhindered(n, round_of)}
            layer = [n for n in free if not self.rules[n] or self._some_met(n, missing[n], round_of)]
            number = 0
            while layer:
                for n in layer:
                    round_of[n] = number
                layer = self._next(layer, free, missing, round_of)
                number += 1
        return round_of

    def _unhindered(self, n: int, round_of: Sequence[int]) -> bool:
        return all(round_of[by] == ABSENT for by in self.foes[n])

    def _some_met(self, n: int, missing: Sequence[int], round_of: Sequence[int]) -> bool:
        return any(
            not lacking and self.open(rule, round_of) for lacking, rule in zip(missing, self.rules[n], strict=True)
        )

    @staticmethod
    def open(rule: Rule, round_of: Sequence[int]) -> bool:
        """Whether nothing that bars the rule stands."""
        return all(round_of[barred] == ABSENT for barred in rule.none_of)

    def _next(
        self, layer: Sequence[int], free: Collection[int], missing: list[list[int]], round_of: Sequence[int]
    ) -> list[int]:
        """What the nodes of one round carry anew."""
        fresh = set()
        for premise in layer:
            for head, at in self.users[premise]:
                missing[head][at] -= 1
                met = not missing[head][at] and round_of[head] == ABSENT and head in free
                if met and self.open(self.rules[head][at], round_of):
                    fresh.add(head)
        return list(fresh)

    def before(self, premise: int, n: int, round_of: Sequence[int]) -> bool:
        """Whether a standing premise came to stand earlier than a node, so that it does not rest on it."""
        return (self.level[premise], round_of[premise]) < (self.level[n], round_of[n])

    def worlds(
        self,
        bits: Sequence[int],
        lost: Collection[int] = (),
        frozen: Sequence[int] | None = None,
        all_but: bool = False,
    ) -> int:
        """For each of ``bits``, does the target stand when that node is lost besides ``lost``? One bit each, in their order.

        Args:
            bits: nodes, each lost in one world.
            lost: nodes lost in every world.
            frozen: rounds of a solved world: whatever bars or defeats does so as it did there.
            all_but: given nodes that are not among ``bits`` are lost in every world.
        """
        everywhere = (1 << len(bits)) - 1
        mask = dict.fromkeys(lost, 0) | {n: everywhere ^ (1 << at) for at, n in enumerate(bits)}
        state = [0] * len(self.names)
        limit = [0] * len(self.names)
        against = state if frozen is None else [0 if r == ABSENT else everywhere for r in frozen]
        for stratum in self.strata():
            for n in stratum:
                given_up = n in self.out or (all_but and not self.rules[n] and n not in mask)
                limit[n] = 0 if given_up else mask.get(n, everywhere)
                for by in self.foes[n]:
                    limit[n] &= ~against[by]
            self._grow(stratum, state, limit, against, everywhere)
        return state[self.target]

    def _grow(
        self, stratum: Sequence[int], state: list[int], limit: Sequence[int], against: Sequence[int], everywhere: int
    ) -> None:
        """The least states of one stratum, by a list of what may have grown."""
        queue, waiting, level = list(stratum), set(stratum), self.level
        for n in queue:
            waiting.discard(n)
            self.spend(1)
            now = limit[n] if not self.rules[n] else limit[n] & self._carried(n, state, against, everywhere)
            if now != state[n]:
                state[n] = now
                fresh = {head for head, _ in self.users[n] if level[head] == level[n]} - waiting
                waiting |= fresh
                queue += sorted(fresh)

    def _carried(self, n: int, state: Sequence[int], against: Sequence[int], everywhere: int) -> int:
        carried = 0
        for rule in self.rules[n]:
            held = everywhere
            for premise in rule.all_of:
                held &= state[premise]
            for barred in rule.none_of:
                held &= ~against[barred]
            carried |= held
            self.spend(len(rule.all_of) + len(rule.none_of))
        return carried
