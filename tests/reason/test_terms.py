"""Normal forms, keys and tokens of names; what a question mentions."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.reason import terms
from mog.engine.stems import singular, stem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Payment Gateway, Inc.", "payment gateway"),
        ("PaymentGateway", "payment gateway"),
        ("payment_gateway()", "payment gateway"),
        ("HTTPServer2Go", "http server2 go"),
        ("src/auth/mw.py", "src auth mw py"),
        ("UserService.get_user", "user service get user"),
        ("__init__", "__init__"),
        ("APIs", "apis"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("issue #12", "issue 12"),
        ("Python v3.11", "python 3.11"),
        ("Python3.11", "python 3.11"),
        ("1,000 users", "1000 users"),
        ("Müller GmbH", "müller"),
        ("ООО Ромашка", "ромашка"),
        ("株式会社トヨタ", "トヨタ"),
        ("支払い・ｹﾞｰﾄｳｪｲ", "支払い ゲートウェイ"),
        ("Pythonの設計", "python の設計"),
        ("हिन्दी", "हिन्दी"),
        ("Team A", "team a"),
        ("O'Brien’s", "obrien"),
        ("The", "the"),
        ("🚀", "🚀"),
        (" \t", ""),
    ],
)
def test_normal_forms(text: str, expected: str) -> None:
    assert terms.normal(text) == expected


@settings(max_examples=300)
@given(st.text(max_size=40))
def test_a_text_that_is_not_blank_has_a_normal_form(text: str) -> None:
    found = terms.normal(text)
    assert bool(found) == bool(unicodedata.normalize("NFKC", text).split())
    assert not any("A" <= char <= "Z" for char in found)
    assert " ".join(found.split()) == found


@settings(max_examples=200)
@given(st.lists(st.text("bdgkmnraeioбдгкмна", min_size=3, max_size=8), min_size=1, max_size=4))
def test_case_and_separators_do_not_change_the_key(words: list[str]) -> None:
    plain = terms.name(" ".join(words))
    assert terms.name("-".join(words)).squeezed == plain.squeezed
    assert terms.name("_".join(words)).squeezed == plain.squeezed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gateways", "gateway"), ("queries", "query"), ("caches", "cache"), ("classes", "class"), ("statuses", "status"),
        ("aliases", "alias"), ("indices", "index"), ("colour", "color"), ("optimise", "optimize"), ("centre", "center"),
        ("licence", "license"), ("modelling", "modeling"), ("movies", "movie"), ("шлюза", "шлюз"), ("サーバー", "サーバ"),
    ],
)  # fmt: skip
def test_forms_of_one_noun_share_a_key(one: str, other: str) -> None:
    assert singular(one) == singular(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("plane", "plan"), ("news", "new"), ("aws", "aw"), ("builder", "building"), ("limiter", "limiting"),
        ("python3", "python2"), ("adoption", "adaption"), ("synchronous", "asynchronous"), ("東京", "京都"),
    ],
)  # fmt: skip
def test_other_words_keep_apart(one: str, other: str) -> None:
    assert terms.key_of(one) != terms.key_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caching", "cache"),
        ("rotated", "rotation"),
        ("ran", "run"),
        ("failures", "failure"),
        ("validates", "validation"),
    ],
)
def test_forms_of_one_verb_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_tokens_leave_out_what_only_asks() -> None:
    assert terms.tokens("Why did the Payment Gateway time out?") == terms.tokens("payment gateway time")
    assert terms.tokens("なぜ失敗したか") == ("失敗",)
    assert "почему" not in terms.tokens("Почему упал шлюз?")


def test_a_text_spells_an_acronym_out_letter_by_letter() -> None:
    text = "The Payment Gateway (PG) and the System of Records (SOR), but Some Thing (XY) and Gateway (PG2)."
    assert terms.spelled_out(text) == (("Payment Gateway", "PG"), ("System of Records", "SOR"))


NAMES = ("Payment Gateway", "HNSW index", "支払いゲートウェイ", "sharding rule", "Платёжный шлюз")
KNOWN = {terms.name(text).squeezed for text in NAMES}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Why did the Payment Gateway time out?", ("Payment Gateway",)),
        ("What do the Payment Gateway Tests cover?", ("Payment Gateway Tests",)),
        ("Compare Payment Gateway and the HNSW index", ("Payment Gateway", "HNSW index")),
        ("why do payment gateways fail", ("payment gateways",)),
        ("What made the sharding rule wrong?", ("sharding rule",)),
        ("Does verify_token() call `get user`?", ("verify_token()", "get user")),
        ("Is “Night Watch” about UserService.get_user?", ("Night Watch", "UserService.get_user")),
        ("Since Python 3.11. Bank of Utopia agreed", ("Python 3.11", "Bank of Utopia")),
        ("支払いゲートウェイはなぜ失敗したか", ("支払いゲートウェイ",)),
        ("Почему упал платежный шлюз?", ("платежный шлюз",)),
        ("Explain refunds.", ()),
        ("", ()),
    ],
)
def test_mentions(question: str, expected: tuple[str, ...]) -> None:
    assert terms.mentions(question, KNOWN.__contains__) == expected


@settings(max_examples=200)
@given(st.text(max_size=200))
def test_mentions_of_any_text_are_few_and_none_is_blank(question: str) -> None:
    found = terms.mentions(question, KNOWN.__contains__)
    assert len(found) <= terms.MAX_MENTIONS
    assert all(terms.normal(mention) for mention in found)
