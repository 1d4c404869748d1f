"""Which dependants are asked about, and in which order: the same for the same seed, whatever the order of the store.

Called by ``play``. What may not come in: the mesh, ``random``, clocks. Chance is a digest of seed, assumption and dependant.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import TypeVar

from mog.engine.drills.records import Outcome

K = TypeVar("K")
FAR = 3  # steps; from here on distances are one stratum


def number(seed: str, *parts: str) -> int:
    """64 bits that follow from the texts alone."""
    text = "".join(f"{len(part)}:{part}" for part in (seed, *parts))
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def chance(seed: str, *parts: str) -> float:
    """The same, as a number above 0 and at most 1."""
    return (number(seed, *parts) + 1) / 2**64


def shares(counts: Mapping[K, int], most: int) -> dict[K, int]:
    """``most`` places dealt one by one to everyone who has something left, in the order given."""
    dealt = dict.fromkeys(counts, 0)
    while sum(dealt.values()) < most:
        open_ = [key for key, count in counts.items() if dealt[key] < count]
        if not open_:
            break
        for key in open_[: most - sum(dealt.values())]:
            dealt[key] += 1
    return dealt


def pick(
    root: str,
    dependants: Iterable[str],
    outcome: Callable[[str], Outcome],
    hop: Callable[[str], int],
    most: int,
    seed: str,
) -> tuple[str, ...]:
    """At most ``most`` dependants in the order of asking: each outcome alike, and within it each distance alike."""
    strata: dict[Outcome, dict[int, list[str]]] = {one: {} for one in Outcome}
    for id in dependants:
        strata[outcome(id)].setdefault(min(hop(id), FAR), []).append(id)
    sizes = {one: sum(map(len, strata[one].values())) for one in Outcome}
    chosen: list[str] = []
    for one, room in shares(sizes, most).items():
        hops = dict(sorted(strata[one].items()))
        for at, places in shares({at: len(ids) for at, ids in hops.items()}, room).items():
            chosen += heapq.nsmallest(places, hops[at], key=lambda id: (number(seed, "pick", root, id), id))
    return tuple(sorted(chosen, key=lambda id: (number(seed, "order", root, id), id)))


def draw(weights: Mapping[str, float], most: int, seed: str) -> tuple[str, ...]:
    """At most ``most`` keys, heavier ones likelier and earlier; without a seed the heaviest, in order.

    Weighted sampling without replacement (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
    """
    if not seed:
        return tuple(sorted(weights, key=lambda key: (-weights[key], key))[:most])
    keys = {key: math.log(chance(seed, "draw", key)) / weight for key, weight in weights.items() if weight > 0}
    return tuple(sorted(keys, key=lambda key: (-keys[key], key))[:most])
