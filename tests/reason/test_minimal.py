"""Smallest losses and smallest supports: named cases, and brute force with an answer-set solver."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import clingo_oracle
import pytest
from clingo_oracle import Model
from standing_twin import Twin

from mog.engine.errors import NotFound
from mog.engine.reason.minimal import Strength, strength
from mog.engine.reason.standing import Standing


def build(nodes: str, *grounds: tuple[str, str, str, str]) -> Standing:
    """Nodes are letters; a ground is (id, conclusion, letters of all_of, letters of none_of)."""
    standing = Standing()
    for node in nodes:
        standing.add(node)
    for gid, head, all_of, none_of in grounds:
        standing.ground(gid, head, all_of, none_of)
    return standing


def test_a_conclusion_of_one_conjunction_falls_with_any_premise() -> None:
    found = strength(build("abd", ("g1", "d", "ab", "")), "d")
    assert (found.ones, found.pairs, found.support, found.needs) == (("a", "b"), (), ("a", "b"), 1)
    assert found.said() == "falls with a or b"
    assert found.said(str.upper) == "falls with A or B"


def test_two_independent_grounds_need_two_losses() -> None:
    found = strength(build("abd", ("g1", "d", "a", ""), ("g2", "d", "b", "")), "d")
    assert (found.met, found.recorded, found.ones, found.pairs, found.needs) == (2, 2, (), (("a", "b"),), 2)
    assert found.said() == "needs two: a and b"
    assert found.support == ("a",)


def test_three_independent_grounds_need_more_than_two() -> None:
    found = strength(build("abcd", ("g1", "d", "a", ""), ("g2", "d", "b", ""), ("g3", "d", "c", "")), "d")
    assert (found.ones, found.pairs, found.needs) == ((), (), 3)
    assert found.said() == "needs more than two"


def test_singles_and_pairs_are_told_apart() -> None:
    found = strength(build("abcd", ("g1", "d", "ab", ""), ("g2", "d", "ac", "")), "d")
    assert (found.ones, found.pairs) == (("a",), (("b", "c"),))


def test_a_premise_shared_far_below_is_found() -> None:
    standing = build("saxyd", ("g1", "x", "s", ""), ("g2", "y", "s", ""), ("g3", "d", "x", ""), ("g4", "d", "y", ""))
    assert strength(standing, "d").ones == ("s",)


def test_a_given_node_falls_with_itself() -> None:
    found = strength(build("a"), "a")
    assert (found.ones, found.support, found.met, found.recorded) == (("a",), ("a",), 0, 0)


def test_an_assumption_with_grounds_counts_when_asked() -> None:
    standing = build("said", ("g1", "a", "s", ""), ("g2", "a", "i", ""), ("g3", "d", "a", ""))
    assert strength(standing, "d").ones == ()
    assert strength(standing, "d", also=lambda node: node == "a").ones == ("a",)
    assert strength(standing, "d", also=lambda node: node in "ad").pairs == (("i", "s"),)


def test_what_has_fallen_has_no_strength() -> None:
    standing = build("ad", ("g1", "d", "a", ""))
    standing.force_out("a", True)
    found = strength(standing, "d")
    assert found == Strength("d", False, 0, 1)
    assert (found.needs, found.said()) == (None, "does not stand")


def test_a_ground_without_premises_cannot_be_lost() -> None:
    found = strength(build("d", ("g1", "d", "", "")), "d")
    assert (found.needs, found.said(), found.support) == (0, "rests on nothing that can be lost", ())


def test_a_loop_adds_no_strength() -> None:
    standing = build("rab", ("g1", "a", "r", ""), ("g2", "a", "b", ""), ("g3", "b", "a", ""))
    assert strength(standing, "a").ones == ("r",)
    assert strength(standing, "b").support == ("r",)


def test_a_loss_that_frees_a_defeater_fells() -> None:
    standing = build("xead")
    standing.defeat("a", "e")
    standing.defeat("e", "x")
    standing.ground("g1", "d", "a")
    found = strength(standing, "d")
    assert found.ones == ("a", "x")
    assert (found.support, found.unless) == (("a",), ("e",))


def test_a_loss_that_opens_another_ground_does_not_fell() -> None:
    standing = build("abd", ("g1", "d", "a", ""), ("g2", "d", "b", "a"))
    found = strength(standing, "d")
    assert (found.ones, found.pairs) == ((), (("a", "b"),))


def test_a_loss_that_bars_and_one_that_carries_make_a_pair() -> None:
    standing = build("abxd", ("g1", "x", "", "a"), ("g2", "d", "b", ""), ("g3", "d", "a", "x"))
    found = strength(standing, "d")
    assert (found.ones, found.pairs) == ((), (("a", "b"),))


def test_the_support_has_no_idle_member() -> None:
    grounds = [("g1", "x", "a", ""), ("g0", "y", "b", ""), ("g3", "y", "x", ""), ("g4", "d", "xy", "")]
    found = strength(build("abxyd", *grounds), "d")
    assert found.support == ("a",)
    assert found.ones == ("a",)


def test_a_hub_of_many_sources_is_answered_with_little_work() -> None:
    standing = Standing()
    standing.add("hub")
    for at in range(3000):
        standing.add(f"s{at}")
        standing.ground(f"g{at}", "hub", [f"s{at}"])
    found = strength(standing, "hub", steps=60_000)
    assert (found.needs, found.met, found.truncated) == (3, 3000, False)
    assert found.support == ("s0",)


def test_a_wide_conjunction_is_answered_with_little_work() -> None:
    standing = build("d")
    names = [f"p{at:03}" for at in range(400)]
    for name in names:
        standing.add(name)
    standing.ground("g", "d", names)
    found = strength(standing, "d", steps=6_000)
    assert (found.ones, found.truncated) == (tuple(names), False)


def test_work_that_runs_out_is_said() -> None:
    standing = build("abcd", ("g1", "d", "ab", ""), ("g2", "d", "c", ""))
    answers = [strength(standing, "d", steps=steps) for steps in range(120)]
    assert answers[0].truncated
    assert answers[0].said() == "not known: too much rests here to search through"
    assert answers[0].needs is None
    assert answers[-1] == strength(standing, "d")
    assert not answers[-1].truncated
    for cut in answers:
        assert set(cut.pairs) <= {("a", "c"), ("b", "c")}
        assert cut.truncated or cut == answers[-1]


def test_more_pairs_than_wanted_is_said() -> None:
    standing = build("abcwxyd", ("g1", "d", "abc", ""), ("g2", "d", "wxy", ""))
    assert len(strength(standing, "d").pairs) == 9
    found = strength(standing, "d", pairs=4)
    assert (len(found.pairs), found.truncated, found.needs) == (4, True, 2)
    assert not strength(standing, "d", pairs=9).truncated


def test_an_unknown_node_is_refused() -> None:
    with pytest.raises(NotFound):
        strength(build("a"), "b")


# brute force


def lost(model: Model, nodes: Iterable[str]) -> set[str]:
    """What stands once these are lost besides."""
    return clingo_oracle.standing(Model(model.nodes, model.grounds, model.defeats, model.out | set(nodes)))


def felling(model: Model, node: str, losable: list[str], size: int) -> set[tuple[str, ...]]:
    return {some for some in itertools.combinations(losable, size) if node not in lost(model, some)}


@pytest.mark.parametrize("seed", range(5))
def test_singles_and_pairs_equal_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    seen = {1: 0, 2: 0, 3: 0, 0: 0}
    for _ in range(18):
        twin = grown(rng)
        for node in sorted(twin.labels() & {head for head, _, _ in twin.model.grounds.values()}):
            derived = {head for head, _, _ in twin.model.grounds.values()}
            kinds = set(rng.sample(twin.model.nodes, 3))
            losable = [n for n in twin.model.nodes if n not in derived or (n in kinds and n != node)]
            found = strength(twin.standing, node, also=kinds.__contains__)
            ones = felling(twin.model, node, losable, 1)
            pairs = {pair for pair in felling(twin.model, node, losable, 2) if not {(one,) for one in pair} & ones}
            assert {(one,) for one in found.ones} == ones
            assert set(found.pairs) == pairs
            assert not found.truncated
            assert found.needs in ((1,) if ones else (2,) if pairs else (0, 3))
            seen[found.needs or 0] += 1
            assert_support(twin.model, node, found)
            assert twin.labels() == clingo_oracle.standing(twin.model)
    assert seen[1] and seen[2]


def grown(rng: random.Random) -> Twin:
    """A small structure in which most things stand."""
    twin = Twin(f"n{at:02}" for at in range(10))
    while len(twin.model.grounds) < 12:
        verb, gid, head, all_of, none_of = twin.random_ground(rng)
        if all_of and head > "n05" and (rng.random() < 0.3 or head not in all_of):
            twin.attempt((verb, gid, head, all_of, none_of))
    for _ in range(rng.choice((0, 1, 2))):
        twin.attempt(("defeat", *rng.sample(twin.model.nodes, 2)))
    return twin


def assert_support(model: Model, node: str, found: Strength) -> None:
    """With what bars held as it is, the support carries the node, and no smaller part of it does."""
    stands = clingo_oracle.standing(model)
    grounds = {g: (head, pos, ()) for g, (head, pos, neg) in model.grounds.items() if stands.isdisjoint(neg)}
    dead = {n for (n, by), times in model.defeats.items() if times and by in stands}
    given = set(model.nodes) - {head for head, _, _ in model.grounds.values()}
    shut = {n for n in model.nodes if n not in given and n not in {head for head, _, _ in grounds.values()}}

    def carries(support: Iterable[str]) -> bool:
        out = model.out | dead | shut | (given - set(support))
        return node in clingo_oracle.standing(Model(model.nodes, grounds, {}, out))

    assert set(found.support) <= given & stands
    assert stands.isdisjoint(found.unless)
    assert carries(found.support)
    for one in found.support:
        assert not carries(set(found.support) - {one})
