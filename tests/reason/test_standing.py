"""Standing, behaviour by behaviour: alternatives, loops, defeaters, retiring, watching, writing in bulk."""

from __future__ import annotations

import random
import tracemalloc

import pytest
import standing_twin
from standing_twin import Twin

from mog.engine.errors import NotFound, UsageError
from mog.engine.reason.standing import DefeatLoop, GroundView, Standing


def build(nodes: str, *grounds: tuple[str, str, str, str]) -> Standing:
    """Nodes are letters; a ground is (id, conclusion, letters of all_of, letters of none_of)."""
    standing = Standing()
    for node in nodes:
        standing.add(node)
    for gid, head, all_of, none_of in grounds:
        standing.ground(gid, head, all_of, none_of)
    return standing


def up(standing: Standing, nodes: str) -> str:
    """Those of the letters that stand."""
    return "".join(node for node in nodes if standing.stands(node))


# labels


def test_a_node_without_grounds_is_given() -> None:
    assert build("a").stands("a")


def test_a_decision_on_a_or_b_stands_while_one_of_them_does() -> None:
    standing = build("abd", ("g1", "d", "a", ""), ("g2", "d", "b", ""))
    standing.force_out("a", True)
    assert standing.stands("d")
    assert standing.unmet("d")
    assert not standing.met("g1")
    standing.force_out("b", True)
    assert not standing.stands("d")


def test_a_ground_needs_all_its_premises() -> None:
    standing = build("abd", ("g1", "d", "ab", ""))
    standing.force_out("b", True)
    assert up(standing, "abd") == "a"


def test_an_entity_of_two_producers_survives_one() -> None:
    standing = build("pqe", ("by-p", "e", "p", ""), ("by-q", "e", "q", ""))
    standing.force_out("p", True)
    assert up(standing, "pqe") == "qe"


def test_two_nodes_that_only_rest_on_each_other_fall() -> None:
    standing = build("ab", ("g1", "a", "b", ""), ("g2", "b", "a", ""))
    assert up(standing, "ab") == ""


def test_a_loop_with_a_way_in_stands_and_falls_with_it() -> None:
    standing = build("rab", ("g1", "a", "b", ""), ("g2", "b", "a", ""), ("g3", "a", "r", ""))
    assert up(standing, "rab") == "rab"
    standing.force_out("r", True)
    assert up(standing, "rab") == ""
    standing.force_out("r", False)
    assert up(standing, "rab") == "rab"


def test_a_barrier_keeps_a_ground_from_being_met() -> None:
    standing = build("abd", ("g1", "d", "a", "b"))
    assert not standing.stands("d")
    standing.force_out("b", True)
    assert standing.stands("d")


def test_a_ground_without_premises_is_met_unless_barred() -> None:
    standing = build("bd", ("g1", "d", "", "b"))
    assert not standing.stands("d")
    standing.force_out("b", True)
    assert standing.stands("d")


def test_a_ground_that_wants_and_bars_the_same_node_is_never_met() -> None:
    standing = build("ad", ("g1", "d", "a", "a"))
    assert not standing.stands("d")
    standing.force_out("a", True)
    assert not standing.stands("d")


def test_withdrawing_a_defeater_gives_back_what_would_have_been() -> None:
    standing = build("eacd", ("g1", "c", "a", ""), ("g2", "d", "c", ""))
    standing.defeat("a", "e")
    assert up(standing, "eacd") == "e"
    standing.undefeat("a", "e")
    assert up(standing, "eacd") == "eacd"


def test_a_defeater_that_is_itself_defeated_does_nothing() -> None:
    standing = build("xea")
    standing.defeat("a", "e")
    standing.defeat("e", "x")
    assert up(standing, "xea") == "xa"


def test_a_defeat_said_twice_must_be_taken_back_twice() -> None:
    standing = build("ea")
    standing.defeat("a", "e")
    standing.defeat("a", "e")
    standing.undefeat("a", "e")
    assert not standing.stands("a")
    standing.undefeat("a", "e")
    assert standing.stands("a")


def test_what_is_retired_stays_down_whatever_is_written() -> None:
    standing = build("ad")
    standing.force_out("d", True)
    standing.ground("g1", "d", "a")
    assert not standing.stands("d")
    assert standing.forced_out("d")
    standing.force_out("d", False)
    assert standing.stands("d")


def test_the_last_ground_dropped_leaves_a_given_node() -> None:
    standing = build("ad", ("g1", "d", "a", ""))
    standing.force_out("a", True)
    standing.unground("g1")
    assert standing.stands("d")


def test_a_dropped_ground_takes_what_rested_on_it() -> None:
    standing = build("abcd", ("g1", "c", "a", ""), ("g2", "c", "b", ""), ("g3", "d", "c", ""))
    standing.force_out("b", True)
    standing.unground("g1")
    assert up(standing, "abcd") == "a"


def test_a_loop_does_not_outlive_the_ground_that_carried_it() -> None:
    standing = build("rab", ("g1", "a", "r", ""), ("g2", "a", "b", ""), ("g3", "b", "a", ""))
    standing.unground("g1")
    assert up(standing, "rab") == "r"


def test_an_alternative_below_is_taken_without_lowering_anything() -> None:
    standing = build("abcd", ("g1", "c", "a", ""), ("g2", "c", "b", ""), ("g3", "d", "c", ""))
    standing.begin()
    standing.force_out("a", True)
    standing.force_out("b", False)
    assert standing.changed() == {"a"}
    assert up(standing, "abcd") == "bcd"


# what is refused, and that a refusal changes nothing


def state(standing: Standing) -> tuple[object, ...]:
    return tuple(
        (node, standing.stands(node), standing.grounds(node), standing.defeaters(node)) for node in standing.slot
    )


def test_a_ground_barred_by_what_rests_on_it_is_refused_and_names_the_loop() -> None:
    standing = build("abc", ("g1", "b", "a", ""), ("g2", "c", "b", ""))
    before = state(standing)
    with pytest.raises(DefeatLoop) as refusal:
        standing.ground("g3", "a", "", "c")
    assert refusal.value.loop == ("a", "b", "c")
    assert refusal.value.defeats == (False, False, True)
    assert "a carries b, b carries c, c defeats a" in str(refusal.value)
    assert state(standing) == before


def test_a_defeater_resting_on_its_victim_is_refused() -> None:
    standing = build("ae", ("g1", "e", "a", ""))
    before = state(standing)
    with pytest.raises(DefeatLoop, match="a carries e, e defeats a"):
        standing.defeat("a", "e")
    assert state(standing) == before


def test_a_premise_that_closes_the_loop_is_refused_too() -> None:
    standing = build("abe", ("g1", "b", "a", ""))
    standing.defeat("a", "e")
    with pytest.raises(DefeatLoop) as refusal:
        standing.ground("g2", "e", "b")
    assert refusal.value.loop == ("e", "a", "b")
    assert refusal.value.defeats == (True, False, False)


@pytest.mark.parametrize("write", [lambda s: s.defeat("a", "a"), lambda s: s.ground("g", "a", (), ("a",))])
def test_nothing_defeats_itself(write: object) -> None:
    standing = build("a")
    with pytest.raises(DefeatLoop, match="a defeats a"):
        write(standing)  # type: ignore[operator]


def test_of_several_loops_the_shortest_is_named_and_of_these_the_first_by_id() -> None:
    standing = build("acbxy", ("g1", "c", "a", ""), ("g2", "b", "a", ""), ("g3", "x", "bc", ""), ("g4", "y", "x", ""))
    with pytest.raises(DefeatLoop) as refusal:
        standing.ground("g5", "a", "", "xy")
    assert refusal.value.loop == ("a", "b", "x")


def test_loops_without_a_defeater_are_let_in_below_and_above_one() -> None:
    standing = build("abcde", ("g1", "a", "b", ""), ("g2", "b", "a", ""))
    standing.defeat("c", "b")
    standing.ground("g3", "c", "d")
    standing.ground("g4", "d", "c")
    assert up(standing, "abcde") == "e"


def test_strata_give_way_again_when_the_links_between_them_go() -> None:
    standing = build("ab")
    standing.defeat("a", "b")
    with pytest.raises(DefeatLoop):
        standing.defeat("b", "a")
    standing.undefeat("a", "b")
    standing.defeat("b", "a")
    assert up(standing, "ab") == "a"


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (lambda s: s.add("a"), UsageError),
        (lambda s: s.ground("g1", "a", ()), UsageError),
        (lambda s: s.ground("g2", "a", ("nobody",)), NotFound),
        (lambda s: s.ground("g2", "nobody", ("a",)), NotFound),
        (lambda s: s.ground("g2", "a", (), ("nobody",)), NotFound),
        (lambda s: s.unground("g2"), NotFound),
        (lambda s: s.undefeat("a", "b"), UsageError),
        (lambda s: s.defeat("a", "nobody"), NotFound),
        (lambda s: s.force_out("nobody", True), NotFound),
        (lambda s: s.remove("a"), UsageError),
        (lambda s: s.remove("b"), UsageError),
        (lambda s: s.stands("nobody"), NotFound),
        (lambda s: s.changed(), UsageError),
    ],
)
def test_what_cannot_be_meant_is_refused_and_changes_nothing(write: object, error: type[Exception]) -> None:
    standing = build("ab", ("g1", "b", "a", ""))
    before = state(standing)
    with pytest.raises(error) as refusal:
        write(standing)  # type: ignore[operator]
    assert refusal.value.way_out  # type: ignore[attr-defined]
    assert state(standing) == before


# views


def test_grounds_are_shown_in_order_with_each_premise_once() -> None:
    standing = build("abcd")
    standing.ground("g2", "d", ["b", "a", "b"], ["c", "c"])
    standing.ground("g1", "d", ["a"])
    assert standing.grounds("d") == [
        GroundView("g1", "d", ("a",), (), True),
        GroundView("g2", "d", ("a", "b"), ("c",), False),
    ]
    assert standing.grounds("a") == []


def test_auxiliary_nodes_count_in_no_answer() -> None:
    standing = build("ab")
    standing.add("aux", hidden=True)
    standing.ground("g1", "aux", "a")
    assert standing.shown() == 2
    standing.begin()
    standing.force_out("a", True)
    assert standing.shown() == 1
    assert standing.changed() == {"a"}
    assert not standing.stands("aux")


def test_what_would_fall_is_answered_without_touching_a_label() -> None:
    standing = build("abcd", ("g1", "c", "a", ""), ("g2", "d", "c", ""), ("g3", "d", "b", ""))
    standing.force_out("b", True)
    before = state(standing)
    assert standing.would_fall(["a"]) == {"a", "c", "d"}
    assert standing.would_fall(["b"]) == set()
    with pytest.raises(NotFound):
        standing.would_fall(["a", "nobody"])
    assert state(standing) == before


# watching


def test_a_watch_sees_net_changes_only() -> None:
    standing = build("abc", ("g1", "b", "a", ""))
    standing.begin()
    standing.force_out("a", True)
    assert standing.changed() == {"a", "b"}
    standing.force_out("a", False)
    assert standing.changed() == set()
    standing.add("d")
    assert standing.changed() == {"d"}
    standing.remove("d")
    assert standing.changed() == set()
    standing.end()


def test_watches_nest_and_the_outer_one_sees_what_the_inner_saw() -> None:
    standing = build("abc", ("g1", "b", "a", ""), ("g2", "c", "b", ""))
    standing.begin()
    standing.force_out("c", True)
    standing.begin()
    standing.force_out("a", True)
    assert standing.changed() == {"a", "b"}
    standing.end()
    assert standing.changed() == {"a", "b", "c"}
    standing.force_out("a", False)
    assert standing.changed() == {"c"}


def test_a_node_taken_out_and_put_back_under_a_watch_did_not_change() -> None:
    standing = build("ab")
    standing.begin()
    standing.remove("a")
    assert standing.changed() == {"a"}
    standing.add("x")
    standing.add("a")
    assert standing.changed() == {"x"}
    standing.end()
    standing.ground("g1", "a", "x")
    standing.force_out("x", True)
    assert up(standing, "abx") == "b"


# a function of the structure alone


def random_twin(seed: int, changes: int, nodes: int = 12) -> Twin:
    rng = random.Random(seed)
    twin = Twin(f"n{at:02}" for at in range(nodes))
    for _ in range(changes):
        for op in twin.random_change(rng):
            twin.attempt(op)
    return twin


@pytest.mark.parametrize("seed", range(8))
def test_labels_do_not_depend_on_how_the_structure_came_about(seed: int) -> None:
    twin = random_twin(seed, 150)
    for bulk in (False, True):
        again = standing_twin.rebuilt(twin.model, bulk=bulk)
        assert {node for node in twin.model.nodes if again.stands(node)} == twin.labels()
        assert {gid for gid in twin.model.grounds if again.met(gid)} == {
            gid for gid in twin.model.grounds if twin.standing.met(gid)
        }


@pytest.mark.parametrize("seed", range(8))
def test_taking_everything_back_is_the_identity_at_every_step(seed: int) -> None:
    twin, rng = random_twin(seed, 60), random.Random(seed)
    trail = []
    for _ in range(60):
        for op in twin.random_change(rng):
            before = (twin.labels(), state(twin.standing))
            inverse = twin.attempt(op)
            if inverse is not None:
                trail.append((inverse, before))
    for inverse, (labels, shape) in reversed(trail):
        twin.apply(inverse)
        assert twin.labels() == labels
        if inverse[0] != "add":
            assert state(twin.standing) == shape


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_independent_writes_does_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    model = random_twin(seed, 120).model
    ops = [("ground", gid, *ground) for gid, ground in sorted(model.grounds.items())]
    ops += [("defeat", *pair) for pair, times in sorted(model.defeats.items()) for _ in range(times)]
    ops += [("out", node, True) for node in sorted(model.out)]
    want = state(standing_twin.rebuilt(model, ops))
    for _ in range(4):
        rng.shuffle(ops)
        assert state(standing_twin.rebuilt(model, ops)) == want


def test_nothing_with_a_met_ground_falls_and_nothing_without_one_stands() -> None:
    twin, rng = random_twin(5, 40), random.Random(5)
    for _ in range(300):
        for op in twin.random_change(rng):
            twin.attempt(op)
        for node in twin.model.nodes:
            grounds = twin.standing.grounds(node)
            kept_down = twin.standing.forced_out(node) or any(map(twin.standing.stands, twin.standing.defeaters(node)))
            held_up = not grounds or any(ground.met for ground in grounds)
            assert twin.standing.stands(node) == (held_up and not kept_down)


def test_incremental_equals_full_on_a_graph_too_large_for_the_solver() -> None:
    rng = random.Random(11)
    names = [f"n{at:04}" for at in range(1500)]
    standing = Standing()
    for node in names:
        standing.add(node)
    for at in range(100, 1500):
        for turn in range(rng.choice((1, 1, 2))):
            near = names[max(0, at - 200) : at + 5]
            standing.ground(f"g{at}.{turn}", names[at], rng.choices(near, k=rng.choice((1, 2, 3))))
    for victim, by in zip(rng.choices(names[700:], k=40), rng.choices(names[:100], k=40), strict=True):
        try:
            standing.defeat(victim, by)
        except DefeatLoop:
            continue
    for step in range(300):
        node = rng.choice(names[:300])
        standing.force_out(node, not standing.forced_out(node))
        if step % 20 == 0:
            before = [standing.stands(node) for node in names]
            standing.relabel()
            assert [standing.stands(node) for node in names] == before


def test_bulk_writes_are_seen_by_a_watch_and_loops_are_still_refused() -> None:
    standing = build("abc")
    standing.begin()
    with pytest.raises(DefeatLoop), standing.bulk():
        standing.ground("g1", "b", "a")
        standing.force_out("a", True)
        standing.defeat("a", "b")
    assert up(standing, "abc") == "c"
    assert standing.changed() == {"a", "b"}


def test_a_node_with_four_premises_takes_at_most_350_bytes() -> None:
    count, rng = 3_000, random.Random(1)
    names = [f"{at:032x}" for at in range(count)]
    gids = [f"g{at:031x}" for at in range(count)]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        standing = Standing()
        for at, node in enumerate(names):
            standing.add(node)
            if at >= 100:
                standing.ground(gids[at], node, rng.sample(names[max(0, at - 2000) : at], 4))
        used = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert used / count <= 350
