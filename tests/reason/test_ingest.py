"""Ingest: the same text changes no byte, a changed paragraph touches only what came from it, names are found."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from prose_kit import claims, doc, entities, mentioned, mesh_at, said, sources, take

from mog.engine.errors import UsageError
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.prose import pipeline
from mog.engine.reason.prose.documents import Skipped

GATEWAY = doc(
    "pay.md",
    "# Payments\n\nThe Payment Gateway retries a charge three times. The Payment Gateway Tests run every night.\n\n"
    "Refunds go through `RefundService.refund()` and are written to the ledger.\n",
)
STORE = doc("store.md", "# Storage\n\nOrders live in PostgreSQL. The Payment Gateway reads orders from PostgreSQL.\n")


@pytest.fixture
def mesh(tmp_path: Path) -> Mesh:
    return mesh_at(tmp_path)


def test_claims_have_source_span_and_heading(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE)
    found = claims(mesh)
    id = found["Orders live in PostgreSQL."]
    (edge,) = mesh.graph.out_edges(id, ("derived_from",))
    start, end = edge.attrs["span"]
    assert STORE.text[start:end] == "Orders live in PostgreSQL." and edge.attrs["heading"] == "Storage"
    assert edge.dst == sources(mesh)["store.md"]
    node = mesh.graph.node(id)
    assert node.provenance is not None and node.provenance.extractor == pipeline.VERSION
    assert all(mesh.graph.out_edges(claim, ("derived_from",)) for claim in found.values())


def test_entities_are_found_and_not_merged(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE)
    assert {"Payment Gateway", "Payment Gateway Tests", "PostgreSQL", "RefundService.refund"} <= set(entities(mesh))
    assert mentioned(mesh, "The Payment Gateway Tests run every night.") == {"Payment Gateway Tests"}
    assert mentioned(mesh, "The Payment Gateway reads orders from PostgreSQL.") == {"Payment Gateway", "PostgreSQL"}


def test_an_entity_is_derived_from_every_source_that_names_it(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE)
    gateway = entities(mesh)["Payment Gateway"]
    assert {edge.dst for edge in mesh.graph.out_edges(gateway, ("derived_from",))} == set(sources(mesh).values())
    mesh_sources = sources(mesh)
    with mesh.writing("test") as writer:
        writer.retire(mesh_sources["pay.md"], "retracted")
    assert mesh.stands(gateway)
    with mesh.writing("test") as writer:
        writer.retire(mesh_sources["store.md"], "retracted")
    assert not mesh.stands(gateway)


def test_the_same_text_again_writes_no_event(mesh: Mesh) -> None:
    first = take(mesh, GATEWAY, STORE, collection="docs", complete=True)
    head = mesh.head
    again = take(mesh, STORE, GATEWAY, collection="docs", complete=True)
    assert mesh.head == head and first.changed and not again.changed
    assert again.documents["unchanged"] == 2


def test_a_document_that_was_analysed_again_adds_nothing_by_itself(mesh: Mesh) -> None:
    """One document changes, so all are read again: the others are compared, and nothing of them is written."""
    take(mesh, GATEWAY, STORE)
    before = mesh.tables.rows["edge"].copy()
    take(mesh, GATEWAY, doc("store.md", STORE.text + "\nBackups run at night.\n"))
    added = set(mesh.tables.rows["edge"]) - set(before)
    gone = set(before) - set(mesh.tables.rows["edge"])
    assert not gone and {mesh.tables.edges[id].kind for id in added} == {"derived_from"}


def test_a_close_variant_in_the_same_section_supersedes(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE)
    old = claims(mesh)["The Payment Gateway retries a charge three times."]
    others = {label: id for label, id in claims(mesh).items() if id != old}
    report = take(mesh, doc("pay.md", GATEWAY.text.replace("three", "five")))
    new = claims(mesh)["The Payment Gateway retries a charge five times."]
    retired = mesh.retired(old)
    assert retired is not None and retired.how == "superseded" and retired.by == new
    assert [edge.dst for edge in mesh.graph.out_edges(new, ("supersedes",))] == [old]
    assert report.claims["superseded"] == 1 and not report.claims["withdrawn"]
    assert {label: id for label, id in claims(mesh).items() if id != new} == others


def test_going_back_to_the_old_text_restores_the_old_standing(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE)
    standing = claims(mesh), entities(mesh)
    take(mesh, doc("pay.md", GATEWAY.text.replace("three", "five").replace("Refunds go", "Money goes")))
    assert claims(mesh) != standing[0]
    take(mesh, GATEWAY)
    assert (claims(mesh), entities(mesh)) == standing
    assert not mesh.graph.edges("supersedes") or all(mesh.retired(e.dst) for e in mesh.graph.edges("supersedes"))


def test_a_sentence_that_is_gone_is_withdrawn_unless_another_source_says_it(mesh: Mesh) -> None:
    both = "Sessions are kept in the Redis cluster for two weeks."
    take(mesh, doc("a.md", f"{both}\n\nLogs are rotated by the night job."), doc("b.md", both))
    id = claims(mesh)[both]
    assert len(mesh.graph.out_edges(id, ("derived_from",))) == 2
    report = take(mesh, doc("a.md", "Metrics are sampled once a minute."))
    assert mesh.stands(id) and len(mesh.graph.out_edges(id, ("derived_from",))) == 1
    assert "Logs are rotated by the night job." not in claims(mesh) and report.claims["withdrawn"] == 1
    take(mesh, doc("b.md", "Metrics are sampled once a minute."))
    assert not mesh.stands(id)


def test_a_claim_that_a_person_gave_a_ground_outlives_its_text(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE)
    id = claims(mesh)["Orders live in PostgreSQL."]
    with mesh.writing("test") as writer:
        writer.ground(id, [writer.assume("The schema is as it was")])
    take(mesh, doc("store.md", "Everything was rewritten from the start."))
    assert mesh.stands(id)


def test_what_a_person_retracted_does_not_come_back(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE)
    id, gateway = claims(mesh)["Orders live in PostgreSQL."], entities(mesh)["Payment Gateway"]
    with mesh.writing("test") as writer:
        writer.retire(id, "retracted", reason="wrong")
        writer.retire(gateway, "retracted", reason="no such thing")
    take(mesh, GATEWAY, doc("store.md", STORE.text + "\nThe Payment Gateway also writes orders.\n"))
    assert not mesh.stands(id) and not mesh.stands(gateway)
    assert "Payment Gateway" not in entities(mesh)


def test_a_removed_document_withdraws_its_source_and_comes_back_with_it(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE, collection="docs", complete=True)
    standing = claims(mesh)
    report = take(mesh, GATEWAY, collection="docs", complete=True)
    retired = mesh.retired(sources(mesh)["store.md"])
    assert report.documents["removed"] == 1 and retired is not None and retired.how == "withdrawn"
    assert "Orders live in PostgreSQL." not in claims(mesh) and "Payment Gateway" in entities(mesh)
    take(mesh, GATEWAY, STORE, collection="docs", complete=True)
    assert claims(mesh) == standing
    with pytest.raises(UsageError, match="collection"):
        take(mesh, GATEWAY, complete=True)


def test_another_collection_is_left_alone(mesh: Mesh) -> None:
    take(mesh, STORE, collection="one", complete=True)
    take(mesh, GATEWAY, collection="two", complete=True)
    assert "Orders live in PostgreSQL." in claims(mesh)


def test_a_new_title_is_an_update(mesh: Mesh) -> None:
    take(mesh, doc("pay.md", GATEWAY.text, title="Old"))
    take(mesh, doc("pay.md", GATEWAY.text, title="New"))
    (source,) = mesh.graph.nodes("source")
    assert source.attrs["title"] == "New" and source.label == "pay.md"


def test_an_entity_pruned_earlier_returns_when_something_links_it(mesh: Mesh) -> None:
    take(mesh, GATEWAY, STORE)
    gateway = entities(mesh)["Payment Gateway"]
    with mesh.writing("test") as writer:
        writer.retire(gateway, "pruned")
    assert not mesh.walkable(gateway)
    take(mesh, doc("more.md", "The Payment Gateway has a timeout of nine seconds."))
    assert mesh.walkable(gateway)
    assert mentioned(mesh, "The Payment Gateway has a timeout of nine seconds.") == {"Payment Gateway"}


def test_an_entity_that_no_text_names_any_more_falls_and_comes_back(mesh: Mesh) -> None:
    take(mesh, GATEWAY)
    refund = entities(mesh)["RefundService.refund"]
    take(mesh, doc("pay.md", "Nothing is left of the old text here."))
    assert not mesh.stands(refund)
    take(mesh, GATEWAY)
    assert mesh.walkable(refund)


def test_an_entity_without_any_edge_is_pruned(mesh: Mesh) -> None:
    take(mesh, GATEWAY)
    refund = entities(mesh)["RefundService.refund"]
    with mesh.writing("test") as writer:
        for edge in (*mesh.graph.out_edges(refund), *mesh.graph.in_edges(refund)):
            writer.drop_edge(edge.kind, edge.src, edge.dst, edge.role)
    report = take(mesh, doc("pay.md", "Nothing is left of the old text here."))
    retired = mesh.retired(refund)
    assert report.entities["pruned"] == 1 and retired is not None and retired.how == "pruned"


def test_unwalked_nodes_are_pruned_on_request_only(mesh: Mesh) -> None:
    from mog.engine.reason.prose import prune

    take(mesh, GATEWAY, STORE)
    with mesh.writing("test") as writer:
        by_hand = writer.entity("Left alone")
        seen = writer.evidence("It was seen.")
    id = claims(mesh)["Orders live in PostgreSQL."]
    kept = claims(mesh)["The Payment Gateway Tests run every night."]
    assert prune.prune(mesh, {}, 10, window=200) == ()
    with pytest.raises(UsageError):
        prune.prune(mesh, {}, 10, window=2)
    gone = prune.prune(
        mesh, {kept: 3}, 200, window=200, pinned=[claims(mesh)["The Payment Gateway retries a charge three times."]]
    )
    assert id in gone and kept not in gone and by_hand not in gone and seen not in gone
    assert not mesh.walkable(id) and mesh.stands(id)
    assert "The Payment Gateway retries a charge three times." in {
        mesh.graph.node(i).label for i in claims(mesh).values() if mesh.walkable(i)
    }
    assert prune.prune(mesh, {kept: 3}, 200, window=200) != gone


def test_a_name_that_was_split_off_is_another_entity(mesh: Mesh) -> None:
    from mog.engine.reason import terms

    with mesh.writing("test") as writer:
        old = writer.entity("Orders Service", aliases=["Atlas"])
        writer.split(terms.normal("Atlas"), old)
    take(mesh, doc("a.md", "We moved Atlas to another region last week."))
    found = entities(mesh)["Atlas"]
    assert found != old and mentioned(mesh, "We moved Atlas to another region last week.") == {"Atlas"}


def test_an_alias_leads_to_the_entity_that_is_there(mesh: Mesh) -> None:
    with mesh.writing("test") as writer:
        old = writer.entity("Orders Service", aliases=["Atlas"])
    take(mesh, doc("a.md", "We moved Atlas to another region last week."))
    assert mentioned(mesh, "We moved Atlas to another region last week.") == {"Orders Service"}
    assert entities(mesh) == {"Orders Service": old}


def test_declared_entities_are_found_wherever_they_stand(mesh: Mesh) -> None:
    text = "---\nentities: [night job]\n---\nEvery log is rotated by the night job.\n"
    from mog.engine.reason.prose import readers
    from mog.engine.reason.prose.documents import Document

    document = readers.from_bytes("a.md", text.encode())
    assert isinstance(document, Document)
    take(mesh, document)
    assert mentioned(mesh, "Every log is rotated by the night job.") == {"night job"}
    take(mesh, doc("b.md", "A ticket is filed by the on-call person."), entities=["on-call person"])
    assert "on-call person" in entities(mesh)


def test_names_of_other_scripts_and_code(mesh: Mesh) -> None:
    take(
        mesh,
        doc("ru.md", "Сервер Ромашка хранит все заказы в базе. Вчера сервер Ромашка был обновлён."),
        doc("ja.md", "認証サービスはトークンを発行します。利用者は認証サービスに接続します。"),
        doc(
            "code.md",
            "Call `app.views.OrderView` for it. The setting `MAX_RETRIES` limits it. It reads src/orders/db.py at start.",
        ),
    )
    names = set(entities(mesh))
    assert {"Ромашка", "認証サービス", "app.views.OrderView", "MAX_RETRIES", "src/orders/db.py"} <= names
    assert "認証サービス" in mentioned(mesh, "認証サービスはトークンを発行します。")


def test_junk_is_no_entity(mesh: Mesh) -> None:
    take(
        mesh,
        doc(
            "a.md",
            "# Overview\n\nNote that it works. This is so in March. However, the value is large. "
            "When Redis fails, we wait. On Monday the job runs.\n",
        ),
    )
    assert set(entities(mesh)) == {"Redis"}


def test_a_qualified_name_and_the_short_one_are_one_entity(mesh: Mesh) -> None:
    take(mesh, doc("a.md", "Call `app.views.OrderView` for it. The `OrderView` is slow. An `OrderView` has a cart."))
    assert set(entities(mesh)) == {"OrderView"}
    assert mentioned(mesh, "Call `app.views.OrderView` for it.") == {"OrderView"}
    take(
        mesh,
        doc(
            "b.md",
            "Call `lib.json.loads` first. Then call `lib.pickle.loads` after it. The `loads` functions are slow. `loads` it is.",
        ),
    )
    assert {"lib.json.loads", "lib.pickle.loads"} <= set(entities(mesh))


def test_a_text_that_is_as_it_was_gains_only_what_became_an_entity(mesh: Mesh) -> None:
    """One occurrence of a plain word of code is too few; with the second document there are two."""
    first = doc("a.md", "The worker reads `inbox` at night. The Payment Gateway is asked by it.")
    take(mesh, first)
    assert "inbox" not in entities(mesh)
    before = set(mesh.tables.edges)
    take(
        mesh, first, doc("b.md", "A second worker empties `inbox` in the morning. The Payment Gateway is asked again.")
    )
    assert mentioned(mesh, "The worker reads `inbox` at night.") == {"inbox"}
    source, inbox = sources(mesh)["a.md"], entities(mesh)["inbox"]
    fresh = {edge.id for edge in mesh.graph.edges() if edge.id not in before and source in (edge.src, edge.dst)}
    assert fresh == {edge.id for edge in mesh.graph.edges() if {edge.src, edge.dst} == {source, inbox}}


def test_an_acronym_that_the_text_spells_out_is_one_entity(mesh: Mesh) -> None:
    take(
        mesh,
        doc("a.md", "The Order Routing Service (ORS) picks a store. Later the ORS is asked again. The ORS is fast."),
    )
    (name,) = entities(mesh)
    assert name == "ORS" and "Order Routing Service" in mesh.graph.node(entities(mesh)[name]).attrs["aliases"]


def test_what_cannot_be_read_is_counted_and_never_fatal(mesh: Mesh) -> None:
    report = take(
        mesh, Skipped("x.bin", "no text"), doc("bad.md", "It is \ud800 broken."), doc("a.md", "It was the first text of all."),
        doc("a.md", "It was the second text of all."),
    )  # fmt: skip
    assert [(each.where, each.reason.split(" ")[0]) for each in report.skipped] == [
        ("a.md", "another"),
        ("bad.md", "text"),
        ("x.bin", "no"),
    ]
    assert report.documents["skipped"] == 3 and list(claims(mesh)) == ["It was the first text of all."]
    assert any("documents:" in line for line in report.lines())


WORDS = st.sampled_from(
    [
        *"The Payment Gateway cache stores `order_id` values in Redis. It is fast! Use X for Y; наш сервер хранит".split(),
        *("日本語。", "-", "a\n\n#", "H\n\n"),
    ]
)
TEXTS = st.lists(st.lists(WORDS, max_size=25).map(" ".join), min_size=1, max_size=3)


@given(texts=TEXTS, later=TEXTS)
@example(texts=["", "", "Payment stores The"], later=["", "Payment stores The", "Payment stores The"])  # one line in two places
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ingest_is_idempotent_and_ends_where_the_last_text_says(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], later: list[str]
) -> None:
    mesh = mesh_at(tmp_path_factory.mktemp("m"))
    take(mesh, *(doc(f"{n}.md", text) for n, text in enumerate(texts)), collection="c", complete=True)
    last = [doc(f"{n}.md", text) for n, text in enumerate(later)]
    take(mesh, *last, collection="c", complete=True)
    head = mesh.head
    assert not take(mesh, *last, collection="c", complete=True).changed and mesh.head == head
    fresh = mesh_at(tmp_path_factory.mktemp("f"))
    take(fresh, *last, collection="c", complete=True)
    assert said(mesh) == said(fresh)
    for id in said(mesh):
        places = {(e.dst, e.attrs["span"]) for e in mesh.graph.out_edges(id, ("derived_from",)) if mesh.stands(e.dst)}
        assert places == {(e.dst, e.attrs["span"]) for e in fresh.graph.out_edges(id, ("derived_from",))}
    mesh.log.close()
    fresh.log.close()


def test_the_order_of_documents_does_not_matter(tmp_path: Path) -> None:
    given_ = [GATEWAY, STORE, doc("c.md", "PostgreSQL keeps a write-ahead log."), doc("d.md", STORE.text)]
    roots = set()
    for number, order in enumerate(itertools.permutations(given_)):
        mesh = mesh_at(tmp_path / str(number))
        take(mesh, *order)
        roots.add((mesh.head.state, mesh.head.digest))
        mesh.log.close()
    assert len(roots) == 1
