"""The blast radius: named shapes, and what must hold for any change."""

from __future__ import annotations

import copy
import random
import tracemalloc
from collections.abc import Callable

import clingo_oracle
import pytest
import standing_twin
from clingo_oracle import Model
from standing_twin import Twin

from mog.engine.errors import NotFound
from mog.engine.reason.radius import Move, Radius, Weakening, radius
from mog.engine.reason.standing import Standing


def build(nodes: str, *grounds: tuple[str, str, str, str]) -> Standing:
    """Nodes are letters; a ground is (id, conclusion, letters of all_of, letters of none_of)."""
    standing = Standing()
    for node in nodes:
        standing.add(node)
    for gid, head, all_of, none_of in grounds:
        standing.ground(gid, head, all_of, none_of)
    return standing


def effect(standing: Standing, change: Callable[[], object]) -> Radius:
    watch = standing.begin()
    change()
    found = radius(standing, watch)
    standing.end()
    return found


def retiring(standing: Standing, node: str) -> Radius:
    return effect(standing, lambda: standing.force_out(node, True))


# named shapes


def test_a_chain_falls_hop_by_hop_and_each_row_names_parent_and_ground() -> None:
    standing = build("abc", ("g1", "b", "a", ""), ("g2", "c", "b", ""))
    found = retiring(standing, "a")
    assert list(found.falls) == [Move("a", 0, "", ""), Move("b", 1, "a", "g1"), Move("c", 2, "b", "g2")]
    assert found.roots == ("a",)
    assert found.counts == ((0, 1), (1, 1), (2, 1))
    assert [move.id for move in found.chain("c")] == ["a", "b", "c"]
    assert (found.preserved_count, found.preserved()) == (0, ())


def test_the_parent_is_the_nearest_and_of_the_nearest_the_first_by_id() -> None:
    standing = build("rqpd", ("g1", "p", "r", ""), ("g2", "q", "r", ""), ("g3", "d", "q", ""), ("g4", "d", "p", ""))
    assert retiring(standing, "r").falls.find("d") == Move("d", 2, "p", "g4")
    standing.force_out("r", False)
    standing.ground("g5", "d", "r")
    assert retiring(standing, "r").falls.find("d") == Move("d", 1, "r", "g5")


def test_of_two_grounds_through_one_parent_the_first_by_id_is_named() -> None:
    standing = build("abd", ("g2", "d", "ab", ""), ("g1", "d", "a", ""), ("g0", "d", "b", ""))
    standing.force_out("b", True)
    assert retiring(standing, "a").falls.find("d") == Move("d", 1, "a", "g1")


def test_a_claim_of_two_sources_weakens_and_says_which_one_saved_it() -> None:
    standing = build("stcd", ("by-s", "c", "s", ""), ("by-t", "c", "t", ""), ("g3", "d", "c", ""))
    found = retiring(standing, "s")
    assert found.weakens == (Weakening("c", "by-s", "by-t"),)
    assert list(found.falls.ids()) == ["s"]
    assert found.preserved_count == 3
    assert found.preserved() == ("c", "d", "t")


def test_no_reason_is_given_that_rests_on_the_survivor_itself() -> None:
    standing = build(
        "abcx", ("lost", "c", "a", ""), ("kept", "c", "b", ""), ("echo", "x", "c", ""), ("again", "c", "x", "")
    )
    assert retiring(standing, "a").weakens == (Weakening("c", "lost", "kept"),)


def test_a_reason_may_come_from_far_behind_the_survivor() -> None:
    far = [(f"h{at}", b, a, "") for at, (a, b) in enumerate(zip("mnopq", "nopqr", strict=True))]
    standing = build("abcmnopqr", ("lost", "c", "a", ""), ("z", "c", "b", ""), *far, ("h9", "c", "r", ""))
    assert retiring(standing, "a").weakens == (Weakening("c", "lost", "h9"),)


def test_a_contradicted_assumption_is_the_root_and_names_its_defeater() -> None:
    standing = build("ead", ("g1", "d", "a", ""))
    found = effect(standing, lambda: standing.defeat("a", "e"))
    assert list(found.falls) == [Move("a", 0, "e", ""), Move("d", 1, "a", "g1")]
    assert [move.id for move in found.chain("d")] == ["a", "d"]
    back = effect(standing, lambda: standing.undefeat("a", "e"))
    assert list(back.rises) == [Move("a", 0, "e", ""), Move("d", 1, "a", "g1")]
    assert not back.falls


def test_withdrawn_evidence_lets_its_victim_rise_one_hop_on() -> None:
    standing = build("ead", ("g1", "d", "a", ""))
    standing.defeat("a", "e")
    found = retiring(standing, "e")
    assert list(found.falls) == [Move("e", 0, "", "")]
    assert list(found.rises) == [Move("a", 1, "e", ""), Move("d", 2, "a", "g1")]
    assert found.preserved_count == 0


def test_evidence_made_in_the_same_change_is_new_not_risen() -> None:
    standing = build("ad", ("g1", "d", "a", ""))

    def reject() -> None:
        standing.add("e")
        standing.defeat("a", "e")

    found = effect(standing, reject)
    assert list(found.added.ids()) == ["e"]
    assert list(found.falls) == [Move("a", 0, "e", ""), Move("d", 1, "a", "g1")]
    assert not found.rises
    assert found.roots == ("a",)


def test_what_a_barrier_held_down_rises_when_the_barrier_falls() -> None:
    standing = build("abd", ("g1", "d", "a", "b"))
    found = retiring(standing, "b")
    assert list(found.rises) == [Move("d", 1, "b", "g1")]
    back = effect(standing, lambda: standing.force_out("b", False))
    assert list(back.falls) == [Move("d", 1, "b", "g1")]


def test_a_dropped_ground_is_the_root_itself() -> None:
    standing = build("abd", ("g1", "b", "a", ""), ("g2", "d", "b", ""))
    standing.force_out("a", True)
    standing.ground("g3", "b", "")
    found = effect(standing, lambda: standing.unground("g3"))
    assert list(found.falls) == [Move("b", 0, "", "g3"), Move("d", 1, "b", "g2")]


def test_a_dropped_ground_weakens_what_has_another() -> None:
    standing = build("abd", ("g1", "d", "a", ""), ("g2", "d", "b", ""))
    assert effect(standing, lambda: standing.unground("g1")).weakens == (Weakening("d", "g1", "g2"),)
    assert effect(standing, lambda: standing.unground("g2")).weakens == (Weakening("d", "g2", ""),)


def test_a_ground_rewritten_as_it_was_hides_no_cause() -> None:
    standing = build("abd", ("g1", "d", "a", ""))

    def supersede() -> None:
        standing.unground("g1")
        standing.force_out("a", True)
        standing.ground("g1", "d", "a")

    assert effect(standing, supersede).falls.find("d") == Move("d", 1, "a", "g1")


def test_a_moved_ground_lets_nothing_fall() -> None:
    standing = build("abd", ("g1", "d", "a", ""))

    def move() -> None:
        standing.force_out("a", True)
        standing.unground("g1")
        standing.ground("g1", "d", "b")

    found = effect(standing, move)
    assert list(found.falls.ids()) == ["a"]
    assert found.weakens == ()


def test_a_ground_on_what_has_fallen_makes_a_given_node_fall() -> None:
    standing = build("ad")
    standing.force_out("a", True)
    assert list(effect(standing, lambda: standing.ground("g1", "d", "a")).falls) == [Move("d", 0, "", "g1")]


def test_auxiliary_nodes_are_passed_through_unseen() -> None:
    standing = build("xad", ("g0", "a", "x", ""))
    for aux in ("_1", "_2"):
        standing.add(aux, hidden=True)
    standing.ground("h1", "_1", "a")
    standing.ground("h2", "_2", ["_1"])
    standing.ground("h3", "d", ["_2"])
    found = retiring(standing, "x")
    assert list(found.falls) == [Move("x", 0, "", ""), Move("a", 1, "x", "g0"), Move("d", 2, "a", "h3")]
    standing.force_out("x", False)
    assert list(effect(standing, lambda: standing.unground("h1")).falls) == []
    standing.ground("h1", "_1", ["x"])
    found = effect(standing, lambda: (standing.unground("h1"), standing.ground("h1", "_1", (), ("x",))))
    assert list(found.falls) == [Move("d", 0, "", "h3")]


def test_a_removed_node_is_among_the_falls_of_an_undo() -> None:
    standing = build("ab")
    assert list(effect(standing, lambda: standing.remove("b")).falls) == [Move("b", 0, "", "")]


def test_a_change_that_moves_nothing_has_an_empty_radius() -> None:
    standing = build("abc", ("g1", "c", "a", ""), ("g2", "c", "b", ""))
    found = effect(standing, lambda: standing.ground("g3", "c", "ab"))
    assert not found.falls and not found.rises and not found.weakens and not found.roots
    assert found.preserved_count == 3


def test_who_did_not_move_has_no_chain() -> None:
    with pytest.raises(NotFound) as refusal:
        retiring(build("ab"), "a").chain("b")
    assert refusal.value.way_out


def test_rows_can_be_sliced_and_counted() -> None:
    standing = build("abcd", ("g1", "b", "a", ""), ("g2", "c", "a", ""))
    falls = retiring(standing, "a").falls
    assert len(falls) == 3
    assert [move.id for move in falls[1:]] == ["b", "c"]
    assert falls[-1] == Move("c", 1, "a", "g2")
    assert falls.find("d") is None
    assert "Move(id='a'" in repr(falls)


def test_preserved_is_paged() -> None:
    standing = build("abcdefg", ("g1", "b", "a", ""))
    found = retiring(standing, "a")
    first = found.preserved(limit=2)
    assert first == ("c", "d")
    assert found.preserved(first[-1], 2) == ("e", "f")
    assert found.preserved("f", 2) == ("g",)
    assert found.preserved_count == 5


# any change


def watched(
    twin: Twin, changes: int, rng: random.Random
) -> tuple[Model, list[standing_twin.Op], list[standing_twin.Op], Radius]:
    """Several random changes under one watch, which stays open: structure before, operations, the way back, radius."""
    old = copy.deepcopy(twin.model)
    ops, back = [], []
    watch = twin.standing.begin()
    for _ in range(changes):
        for op in twin.random_change(rng):
            ops.append(op)
            inverse = twin.attempt(op)
            if inverse is not None:
                back.insert(0, inverse)
    return old, ops, back, radius(twin.standing, watch)


def was_met(model: Model, gid: str, stands: set[str]) -> bool:
    if gid not in model.grounds:
        return False
    _, all_of, none_of = model.grounds[gid]
    return stands.issuperset(all_of) and stands.isdisjoint(none_of)


def assert_row_is_true(move: Move, old: Model, new: Model, stood: set[str], stands: set[str]) -> None:
    """Each parent really is a premise, barrier or defeater that turned, and the ground was lost (or won) through it."""
    turned = stood ^ stands
    if move.via == "":
        pair = (move.id, move.parent)
        assert old.defeats.get(pair) or new.defeats.get(pair)
        assert (move.parent in stands) == (move.id not in stands)
        return
    lost = move.id not in stands
    model, met, other = (old, stood, stands) if lost else (new, stands, stood)
    head, all_of, none_of = model.grounds[move.via]
    assert head == move.id
    assert was_met(model, move.via, met)
    assert move.parent in turned
    assert move.parent in (set(all_of) & met - other | set(none_of) & other - met)


def assert_weakenings(found: Radius, old: Model, new: Model, stood: set[str], stands: set[str]) -> None:
    want = {}
    for node in stood & stands:
        lost = [g for g, row in old.grounds.items() if row[0] == node and was_met(old, g, stood)]
        lost = [g for g in lost if new.grounds.get(g, ("",))[0] != node or not was_met(new, g, stands)]
        rewritten = [g for g in lost if old.grounds[g] != new.grounds.get(g)]
        gained = [g for g, row in new.grounds.items() if row[0] == node and old.grounds.get(g) != row and was_met(new, g, stands)]
        gained = [g for g in gained if old.grounds.get(g, ("",))[0] != node or not was_met(old, g, stood)]
        if len(rewritten) <= len(gained):  # a ground rewritten is none lost
            lost = [g for g in lost if g not in rewritten]
        if lost:
            want[node] = min(lost)
    assert {row.id: row.lost for row in found.weakens} == want
    assert list(want) == [] or [row.id for row in found.weakens] == sorted(want)
    for row in found.weakens:
        grounds = sorted(g for g, ground in new.grounds.items() if ground[0] == row.id)
        without = clingo_oracle.standing(Model(new.nodes, new.grounds, new.defeats, new.out | {row.id}))
        own = [g for g in grounds if was_met(new, g, without)]
        assert row.because == (own[0] if grounds else "")


@pytest.mark.parametrize("seed", range(6))
def test_every_radius_is_the_difference_with_true_parents(seed: int) -> None:
    rng = random.Random(seed)
    twin = Twin(f"n{at:02}" for at in range(rng.choice((6, 12, 20))))
    moves = weak = 0
    for _ in range(500):
        stood, names = twin.labels(), set(twin.model.nodes)
        old, _, _, found = watched(twin, rng.choice((1, 1, 2, 4)), rng)
        twin.standing.end()
        stands = twin.labels()
        fresh = set(twin.model.nodes) - names
        assert set(found.falls.ids()) == stood - stands
        assert set(found.rises.ids()) == stands - stood - fresh
        assert set(found.added.ids()) == stands & fresh
        assert found.preserved_count == len(stood & stands)
        assert found.preserved(limit=999) == tuple(sorted(stood & stands))
        assert_weakenings(found, old, twin.model, stood, stands)
        weak += len(found.weakens)
        for rows in (found.falls, found.rises, found.added):
            assert list(rows) == sorted(rows, key=lambda move: (move.hop, move.id))
            for move in rows:
                moves += 1
                if move.hop:
                    assert found.find(move.parent).hop == move.hop - 1  # type: ignore[union-attr]
                    assert_row_is_true(move, old, twin.model, stood, stands)
                chain = found.chain(move.id)
                assert chain[0].hop == 0
                assert chain[-1] == move
    assert moves > 200
    assert weak > 30


@pytest.mark.parametrize("seed", range(6))
def test_preview_equals_effect_and_leaves_no_trace(seed: int) -> None:
    rng = random.Random(seed)
    twin = Twin(f"n{at:02}" for at in range(14))
    for _ in range(120):
        stood = twin.labels()
        _, ops, back, preview = watched(twin, rng.choice((1, 2)), rng)
        stands = twin.labels()
        for op in back:
            twin.apply(op)
        twin.standing.end()
        assert twin.labels() == stood
        assert preview.preserved(limit=999) == tuple(sorted(stood & stands))
        watch = twin.standing.begin()
        for op in ops:
            twin.attempt(op)
        assert radius(twin.standing, watch) == preview
        twin.standing.end()


@pytest.mark.parametrize("seed", range(4))
def test_hops_are_shortest(seed: int) -> None:
    rng = random.Random(seed)
    twin = Twin(f"n{at:02}" for at in range(20))
    for at in range(4, 20):
        for turn in range(2):
            premises = rng.sample(twin.model.nodes[:at], k=rng.choice((1, 2)))
            twin.apply(("ground", f"g{at}.{turn}", f"n{at:02}", tuple(premises), ()))
    found = effect(twin.standing, lambda: [twin.apply(("out", f"n{at:02}", True)) for at in range(3)])
    fallen = set(found.falls.ids())
    hops = dict.fromkeys(found.roots, 0)
    for hop in range(20):
        for head, all_of, _ in twin.model.grounds.values():
            if head in fallen and any(hops.get(premise) == hop for premise in all_of):
                hops.setdefault(head, hop + 1)
    assert {move.id: move.hop for move in found.falls} == hops


def test_the_radius_does_not_depend_on_history_or_the_order_of_writes() -> None:
    rng = random.Random(3)
    for seed in range(12):
        twin = Twin(f"n{at:02}" for at in range(14))
        run = random.Random(seed)
        for _ in range(80):
            for op in twin.random_change(run):
                twin.attempt(op)
        again = standing_twin.rebuilt(twin.model, bulk=True)
        node = rng.choice(sorted(twin.labels()) or twin.model.nodes)
        assert retiring(again, node) == retiring(twin.standing, node)


def test_a_chain_of_4000_takes_less_than_5_megabytes() -> None:
    standing = Standing()
    standing.add("0")
    for at in range(1, 4001):
        standing.add(str(at))
        standing.ground(f"g{at}", str(at), [str(at - 1)])
    tracemalloc.start()
    try:
        found = retiring(standing, "0")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.falls) == 4001
    assert len(found.chain("4000")) == 4001
    assert peak < 5_000_000
