"""Which entity a name means: merges, refusals to merge, ambiguity, learning, following the mesh."""

from __future__ import annotations

import pytest
from bench_files import load
from hypothesis import given, settings
from hypothesis import strategies as st
from mesh_stub import StubMesh

from mog.engine.reason import resolver as room
from mog.engine.reason import terms
from mog.engine.reason.index import Postings
from mog.engine.reason.resolver import ACCEPT, LOG_SIZE, Resolver, likeness

merges = load("merges")


@pytest.fixture
def mesh() -> StubMesh:
    return StubMesh()


def test_labelled_merges_are_precise_and_few_are_missed(mesh: StubMesh) -> None:
    for name in merges.NAMES:
        mesh.entity(name)
    resolver = Resolver(mesh)
    found = merges.judge(lambda mention: resolver.resolve(mention).label)
    assert found.precision >= 0.95, found.wrong
    assert found.recall >= 0.95, found.missed
    assert not {mention for mention, _, _ in found.wrong} & {mention for mention, _ in merges.TRAPS}


def test_the_merge_set_is_large_and_mixed() -> None:
    assert len(merges.PAIRS) >= 120
    assert len({mention for mention, _ in merges.PAIRS}) == len(merges.PAIRS)
    assert {meant for _, meant in merges.PAIRS} - {""} <= set(merges.NAMES)


@pytest.mark.parametrize(
    "mention",
    ["Payment Gateway Tests", "payment gateway timeout bug 4411", "PG", "UserService.get_user", "authentication tests"],
)
def test_b2_10_containment_and_initials_do_not_merge(mesh: StubMesh, mention: str) -> None:
    for name in ("Payment Gateway", "UserService", "authentication"):
        mesh.entity(name)
    found = Resolver(mesh).resolve(mention)
    assert found.entity is None
    assert found.near and found.near[0].score < ACCEPT and found.near[0].reason


def test_b2_10_a_declared_longer_name_is_an_entity_of_its_own(mesh: StubMesh) -> None:
    short, long = mesh.entity("Payment Gateway"), mesh.entity("Payment Gateway Tests")
    resolver = Resolver(mesh)
    assert resolver.resolve("payment gateway").entity == short
    assert resolver.resolve("payment-gateway tests").entity == long


def test_b2_9_names_outside_ascii_resolve(mesh: StubMesh) -> None:
    names = ["日本語", "Платёжный шлюз", "Zürich", "Αθήνα", "हिन्दी", "القاهرة"]
    ids = [mesh.entity(name) for name in names]
    resolver = Resolver(mesh)
    assert [resolver.resolve(name).entity for name in names] == ids
    assert resolver.resolve("платежного шлюза").entity == ids[1]
    assert resolver.resolve("Zuerich").entity == resolver.resolve("zurich").entity == ids[2]


def test_b2_10_one_name_of_two_entities_is_ambiguous_and_stolen_by_neither(mesh: StubMesh) -> None:
    one, two = mesh.entity("Mercury", id="a" * 32), mesh.entity("mercury", id="b" * 32)
    resolver = Resolver(mesh)
    found = resolver.resolve("MERCURY")
    assert found.ambiguous and found.entity is None
    assert {near.entity for near in found.near} == {one, two}
    assert resolver.resolve("Mercury").entity == one
    assert resolver.resolve("mercury").entity == two


def test_a_split_settles_who_is_meant(mesh: StubMesh) -> None:
    mesh.entity("Mercury", id="a" * 32)
    other = mesh.entity("mercury", id="b" * 32)
    mesh.split("mercury", "a" * 32)
    assert Resolver(mesh).resolve("MERCURY").entity == other


def test_a_split_wins_over_the_very_name(mesh: StubMesh) -> None:
    gateway = mesh.entity("Payment Gateway")
    mesh.split("payment gateway", gateway)
    found = Resolver(mesh).resolve("Payment Gateway")
    assert found.entity is None
    assert found.near[0].reason == "said not to be the same"


def test_of_two_the_one_that_may_be_walked_is_meant(mesh: StubMesh) -> None:
    mesh.retire(mesh.entity("Mercury", id="a" * 32), "withdrawn")
    alive = mesh.entity("Mercury", id="b" * 32)
    assert Resolver(mesh).resolve("mercury").entity == alive


def test_learned_and_declared_aliases_resolve_in_full(mesh: StubMesh) -> None:
    gateway = mesh.entity("Payment Gateway", "Cash Door")
    resolver = Resolver(mesh)
    assert resolver.resolve("PG").entity is None
    mesh.alias("pg", gateway)
    assert (resolver.resolve("PG").entity, resolver.resolve("PG").score) == (gateway, 1.0)
    assert resolver.resolve("cash-doors").entity == gateway
    del mesh.aliases["pg"]
    mesh.revision += 1
    assert resolver.resolve("PG").entity is None


def test_a_folded_entity_is_followed_to_where_it_went(mesh: StubMesh) -> None:
    old, new, last = mesh.entity("Cash Door"), mesh.entity("Payment Gateway"), mesh.entity("Till")
    mesh.edge("resolves_to", old, new)
    mesh.edge("resolves_to", new, last)
    mesh.edge("resolves_to", last, old)
    assert Resolver(mesh).resolve("Cash Door").entity == last


def test_resolving_writes_nothing_and_proposes_what_is_worth_learning(mesh: StubMesh) -> None:
    gateway = mesh.entity("Payment Gateway")
    resolver, revision = Resolver(mesh), mesh.revision
    found = resolver.resolve("payment-gateways")
    assert [(p.normal, p.entity) for p in resolver.learn(found)] == [("payment gateways", gateway)]
    assert resolver.learn(resolver.resolve("Payment Gateway")) == ()
    assert resolver.learn(resolver.resolve("nothing of the kind")) == ()
    assert (mesh.revision, mesh.aliases) == (revision, {})


def test_an_acronym_needs_a_text_that_spells_it_out(mesh: StubMesh) -> None:
    gateway, pages = mesh.entity("Payment Gateway"), mesh.entity("Page Generator")
    resolver = Resolver(mesh)
    assert [(p.normal, p.entity) for p in resolver.learn_from("The Payment Gateway (PG) failed.")] == [("pg", gateway)]
    assert resolver.learn_from("PG failed.") == ()
    assert resolver.learn_from("Payment Gateway (PG) or Page Generator (PG)") == ()
    mesh.alias("pg", pages)
    assert resolver.learn_from("The Payment Gateway (PG) failed.") == ()


def test_near_misses_are_bounded_and_say_why(mesh: StubMesh) -> None:
    mesh.entity("Payment Gateway")
    resolver = Resolver(mesh)
    for number in range(LOG_SIZE + 9):
        resolver.resolve(f"Payment Gateway draft{number}")
    resolver.resolve("zebra")
    log = resolver.near_misses
    assert len(log) == LOG_SIZE
    assert log[-1].mention == f"Payment Gateway draft{LOG_SIZE + 8}"
    assert "draft" in log[-1].reason


def test_the_index_follows_new_renamed_and_forgotten_names(mesh: StubMesh) -> None:
    resolver = Resolver(mesh)
    assert len(resolver) == 0
    gateway = mesh.entity("Payment Gateway", "Cash Door")
    assert resolver.resolve("cash door").entity == gateway
    assert len(resolver) == 2
    mesh.graph.add_node("entity", "Payment Gateway", attrs={"canonical": "Payment Gateway", "aliases": ["Till"]})
    mesh._changed(gateway)
    assert resolver.resolve("cash door").entity is None
    assert resolver.resolve("till").entity == gateway


NAMES = st.text(st.sampled_from("abAB12 ._-äé漢字カナшл"), min_size=1, max_size=12)


@settings(max_examples=300)
@given(NAMES, NAMES)
def test_likeness_is_symmetric_bounded_and_whole_for_itself(a: str, b: str) -> None:
    one, two = terms.name(a), terms.name(b)
    assert likeness(one, two)[0] == likeness(two, one)[0]
    assert 0.0 <= likeness(one, two)[0] <= 1.0
    assert likeness(one, one)[0] == 1.0


@settings(max_examples=100)
@given(st.lists(NAMES, min_size=1, max_size=8, unique=True), NAMES)
def test_what_the_index_finds_is_what_comparing_with_every_name_finds(names: list[str], mention: str) -> None:
    mesh = StubMesh()
    labels = {mesh.entity(name): name for name in names}
    found = Resolver(mesh).resolve(mention)
    scores = {id: likeness(terms.name(mention), terms.name(name))[0] for id, name in labels.items()}
    best = max(scores.values())
    if not terms.normal(mention) or best < ACCEPT:
        assert found.entity is None and not found.ambiguous
    else:
        top = {id for id, score in scores.items() if score == best}
        assert found.score == best
        assert found.entity in top or (found.ambiguous and len(top) > 1)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.lists(st.sampled_from("xyzuvw"), max_size=5)), max_size=30))
def test_postings_equal_a_dictionary_of_texts(steps: list[tuple[str, list[str]]]) -> None:
    postings, texts = Postings(), {}
    for key, tokens in steps:
        if tokens:
            postings.add(key, tokens)
            texts[key] = tokens
        else:
            postings.discard(key)
            texts.pop(key, None)
    masks = {postings.key(place): mask for place, mask in postings.masks(["x", "y"]).items()}
    masks.pop(None, None)
    expected = {key: ("x" in tokens) + 2 * ("y" in tokens) for key, tokens in texts.items()}
    assert masks == {key: mask for key, mask in expected.items() if mask}
    assert len(postings) == len(texts)


def test_the_threshold_lies_between_spellings_and_overlaps() -> None:
    assert room.OVERLAP_MOST < ACCEPT <= room.ORDER
