"""Why a survivor survives: a met ground that does not rest, by way of a loop, on the survivor itself.

Who calls: ``radius``. What may not come in: changes; everything is read as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from mog.engine.reason.groundwork import NONE
from mog.engine.reason.standing import Standing

# A search for a loop looks at this many nodes on either side, then counts the ground as resting on the survivor.
SEARCH_LIMIT = 2000


def reason(work: Standing, n: int) -> str:
    """The first met ground by id that holds without the node itself; "" for a given node."""
    met = [g for g in work.grounds_of(n) if not work.lack[g]]
    if len(met) > 1:
        met.sort(key=work.ground_name.__getitem__)
        met = [next((g for g in met if work.below(g, n) or _apart(work, n, g)), met[0])]
    return work.ground_name[met[0]] if met else ""


def _apart(work: Standing, n: int, g: int) -> bool:
    """Whether a met ground of a standing node can be derived without that node; False when the search grows too large.

    Looks forward from the node and backward from the ground by turns: the smaller side decides.
    """
    node = work.cell_node
    wanted = {node[cell] for cell in work.premises(g)}
    if n in wanted:
        return False
    forward, backward = _after(work, n), _before(work, wanted, n)
    ahead: set[int] = set()
    behind = set(wanted)
    for _ in range(SEARCH_LIMIT):
        step, back = next(forward, NONE), next(backward, NONE)
        if step == NONE or back == NONE:
            complete = ahead if step == NONE else behind
            touches = not wanted.isdisjoint(ahead) if step == NONE else n in complete
            return not touches or _derivable(work, n, wanted)
        ahead.add(step)
        behind.add(back)
    return False


def _after(work: Standing, n: int) -> Iterator[int]:
    """Every node that rests on this one by a met ground, each once."""
    seen, stack = {n}, [n]
    while stack:
        for cell in work.cells_from(work.uses[stack.pop()]):
            after = work.head[work.cell_ground[cell]]
            if not work.lack[work.cell_ground[cell]] and after not in seen:
                seen.add(after)
                stack.append(after)
                yield after


def _before(work: Standing, wanted: set[int], n: int) -> Iterator[int]:
    """Every node that these rest on by met grounds, each once; the search does not go past ``n``."""
    seen, stack = set(wanted), sorted(wanted)
    while stack:
        here = stack.pop()
        for g in work.grounds_of(here) if here != n else ():
            for before in (
                islice(work.cell_node, work.start[g], work.start[g] + work.positive[g]) if not work.lack[g] else ()
            ):
                if before not in seen:
                    seen.add(before)
                    stack.append(before)
                    yield before


def _derivable(work: Standing, n: int, wanted: set[int]) -> bool:
    """Whether all of ``wanted`` can be derived from given nodes by met grounds, the node itself left out."""
    region = set(islice(_before(work, wanted, n), SEARCH_LIMIT)) | wanted
    region.discard(n)
    held = {here for here in region if work.own[here] == NONE}
    growing = True
    while growing and not wanted <= held:
        fresh = {here for here in region - held if _carried(work, here, held)}
        held |= fresh
        growing = bool(fresh)
    return wanted <= held


def _carried(work: Standing, n: int, held: set[int]) -> bool:
    grounds = (g for g in work.grounds_of(n) if not work.lack[g])
    return any(all(work.cell_node[cell] in held for cell in work.premises(g)) for g in grounds)
