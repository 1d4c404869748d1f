"""What a question asks for and how a text is built: which of several texts about one thing answers."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mesh_stub import StubMesh

from mog.engine.reason import terms, wording
from mog.engine.reason.walker import Walker


def said(mesh: StubMesh, *claims: tuple[str, str], name: str = "Parcel Shelf") -> StubMesh:
    """Claims of one source that mention one entity, each with the role of its edge."""
    source, entity = mesh.source("Handbook"), mesh.entity(name)
    for label, role in claims:
        mesh.graph.add_edge("mentions", mesh.claim(label, source), entity, role=role)
    return mesh


def answer(mesh: StubMesh, question: str) -> str:
    return Walker(mesh).ask(question).answer


DEFINED = "It holds what nobody fetched."


@pytest.mark.parametrize(
    "question", ["What is a Parcel Shelf?", "What does the Parcel Shelf do?", "What is the parcel shelf"]
)
def test_what_defines_a_name_wins_when_nothing_else_is_asked(question: str) -> None:
    mesh = said(
        StubMesh(), ("Parcel Shelf, ground floor.", ""), ("Dust gathers on top.", "topic"), (DEFINED, "defines"),
        ("The Parcel Shelf was painted.", ""),
    )  # fmt: skip
    assert answer(mesh, question) == DEFINED


def test_a_definition_does_not_answer_another_question() -> None:
    mesh = said(StubMesh(), (DEFINED, "defines"), ("The Parcel Shelf was painted green.", ""))
    assert answer(mesh, "Who painted the Parcel Shelf green?") == "The Parcel Shelf was painted green."


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("What is a Parcel Shelf?", "A Parcel Shelf is a rack by the door.", "A Parcel Shelf was mounted by Ann."),
        ("What does the Parcel Shelf do?", "The Parcel Shelf keeps parcels dry.", "Near the Parcel Shelf parcels dry."),
        ("How long may parcels stay on the Parcel Shelf?", "Parcels stay there for 14 days.", "Parcels stay there untouched."),
        ("Why do parcels stay on the Parcel Shelf?", "Parcels stay because clerks sleep.", "Parcels stay beside sleepy clerks."),
        ("Which rooms hold parcels of the Parcel Shelf?", "Parcels: hall, attic, and barn rooms.", "Parcels have many rooms."),
        ("Where do parcels wait?", "Parcels wait for collection.", "For more information about parcels, see waiting."),
        ("Where do parcels wait?", "Clerks let parcels wait.", "These let parcels wait."),
    ],
)  # fmt: skip
def test_the_text_that_has_what_is_asked_for_wins(question: str, right: str, wrong: str) -> None:
    for order in ((right, wrong), (wrong, right)):
        mesh = said(StubMesh(), *((label, "") for label in order))
        assert answer(mesh, question) == right


def test_words_of_the_heading_count_but_less_than_those_of_the_text() -> None:
    mesh = StubMesh()
    source, entity = mesh.source("Handbook"), mesh.entity("Parcel Shelf")
    claims = [mesh.claim(label, source, entity) for label in ("Tenants open it twice.", "Clerks open it once.")]
    for claim, heading in zip(claims, ("Handbook › Sundays", "Handbook › Weekdays"), strict=True):
        mesh.graph.add_edge("derived_from", claim, source, role="said", attrs={"heading": heading})
    assert answer(mesh, "Who may open the Parcel Shelf on sundays?") == "Tenants open it twice."
    mesh.claim("Guards open it on Sundays.", source, entity)
    assert answer(mesh, "Who may open the Parcel Shelf on sundays?") == "Guards open it on Sundays."


def test_a_title_is_not_the_answer_when_only_its_reasons_speak_of_it() -> None:
    mesh = StubMesh()
    source, entity = mesh.source("Minutes"), mesh.entity("Parcel Shelf")
    decision = mesh.decision("Buy oak", "Mould spoiled letters on the Parcel Shelf.", source)
    mesh.edge("about", decision, entity)
    claim = mesh.claim("Mould spoiled most letters there last winter.", source, entity)
    walker = Walker(mesh)
    assert walker.ask("Did mould spoil letters on the Parcel Shelf?").answer_id == claim
    assert walker.ask("Why does mould spoil letters on the Parcel Shelf?").answer_id == decision


def test_a_plain_word_is_not_bound_to_a_name_that_is_written_otherwise() -> None:
    mesh = said(StubMesh(), ("Ports of the Parcel Shelf: two.", ""), ("Holds hooks.", "topic"))
    setting = mesh.entity("PORTS")
    other = mesh.claim("The Parcel Shelf ignores it.", mesh.source("Manual"))
    mesh.graph.add_edge("mentions", other, setting, role="topic")
    assert answer(mesh, "Which ports has the Parcel Shelf?") == "Ports of the Parcel Shelf: two."


@pytest.mark.parametrize(
    "pointer",
    [
        "See the handbook for details.", "For more information, read the manual.", "Shelves are described in the manual.",
        "To learn more, visit the library.", "Please refer to the shelf guide.",
    ],
)  # fmt: skip
def test_pointers_are_known(pointer: str) -> None:
    assert wording.shape(pointer) == -wording.POINTER


@pytest.mark.parametrize(
    "plain", ["Shelves hold parcels.", "Seekers find more.", "The guide describes shelves.", "Add a shelf (#12)"]
)
def test_plain_statements_lose_nothing(plain: str) -> None:
    assert wording.shape(plain) == 0.0


@given(st.text(max_size=300), st.text(max_size=60))
def test_marks_stay_within_their_bounds(label: str, question: str) -> None:
    asked = wording.asked(question)
    up = wording.suits(asked, label) + wording.speaks_of(asked, label, ("a", question[:9]))
    assert -wording.POINTER <= wording.shape(label) <= 0.0 and -wording.FIELD <= up <= wording.MOST


@given(
    st.text(alphabet=st.sampled_from("abvV.,12'’s-_()& \n\t`é①ｖ２\u3000「中文ーかй\u0301™ß株式会社GmbH"), max_size=40)
)
def test_tokens_of_pieces_are_those_of_the_whole(text: str) -> None:
    """The quick way by pieces gives what the rules give on the whole text."""
    whole = unicodedata.normalize("NFKC", text)
    assert terms.tokens(text) == terms._tokens(whole)


def test_forms_of_a_verb_with_two_l_are_one() -> None:
    for forms in ("call called calls calling", "install installed installing", "travel travelled traveled"):
        assert len({terms.tokens(word) for word in forms.split()}) == 1


def test_the_answer_does_not_depend_on_the_order_of_recording() -> None:
    labels = [f"A Parcel Shelf is a {wood} rack." for wood in ("oak", "fir", "ash", "elm")]
    answers = set()
    for seed in range(4):
        random.Random(seed).shuffle(labels)
        answers.add(answer(said(StubMesh(), *((label, "defines") for label in labels)), "What is a Parcel Shelf?"))
    assert len(answers) == 1
