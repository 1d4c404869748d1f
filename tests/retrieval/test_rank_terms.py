"""What a file can be found by: words, whose they are, what a gate leaves out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_kit import facts_of, packed

from mog.engine.code import facts as schema
from mog.engine.retrieval import terms, words

CODE = '''"""Keeps parcels."""

LIMIT = 7


class Shelf(Rack):
    """Where parcels wait."""

    width = 3

    def put_parcel(self, parcel):
        """Store one parcel."""
        def inner():
            return quixotic(parcel)
        return inner()


loose_statement()
'''
HUNTER = "hunter" + "2" * 3 + "Fake"


def found(path: str, code: str) -> dict[str, dict[str, set[str]]]:
    """Document (qualified name, "" for the file) → field → which of the words asked for stand in it."""
    made = terms.unpack(packed(path, code))
    quals = ["", *(sym[schema.QUAL] for sym in facts_of(path, code)["syms"])] if path.endswith(".py") else [""]
    rows: dict[str, dict[str, set[str]]] = {qual: {} for qual in quals}
    known = {words.number(term): term for term in words.tokens(f"{path} {code}")}
    for row in made.postings:
        term = known.get(int(row["key"]) & ~terms.FIELD_MASK)
        if term is not None:
            rows[quals[int(row["doc"])]].setdefault(terms.FIELDS[int(row["key"]) & terms.FIELD_MASK], set()).add(term)
    return rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserIds", ["getuserid", "user", "id"]), ("verify_token", ["verifytoken", "verifi", "token"]),
        ("HTTPServer", ["httpserv", "http", "serv"]), ("the and of", []), ("Tokens validated", ["token", "valid"]),
        ("__init__", ["init"]), ("prüfeToken", ["prüfetoken", "prüfe", "token"]), ("проверка токенов", ["проверк", "токен"]),
        ("認証トークン", ["認証", "証ト", "トー", "ーク", "クン"]), ("ｆｕｌｌ", ["full"]), ("x", []),
    ],
)  # fmt: skip
def test_terms_are_the_identifier_its_parts_and_stems(text: str, expected: list[str]) -> None:
    assert words.tokens(text) == expected


@given(st.text(max_size=300))
def test_the_fast_way_over_bytes_gives_the_same_terms_as_the_plain_one(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    numbers = np.frombuffer(words.packed(text), "<u8").tolist()
    kept = [word for word in words.WORD.findall(clean) if set(word) != {"x"}]
    assert numbers == [words.number(term) for word in kept for term in words.terms_of(word)]


def test_a_word_belongs_to_the_innermost_symbol_and_to_the_function_around_a_closure() -> None:
    rows = found("shop/shelf.py", CODE)
    assert "quixotic" in rows["Shelf.put_parcel.inner"]["body"]
    assert "quixotic" in rows["Shelf.put_parcel"]["body"]
    assert "quixotic" not in rows["Shelf"].get("body", set())
    assert "quixotic" not in rows[""].get("body", set())
    assert "loosest" in rows[""]["body"]
    assert "width" in rows["Shelf"]["body"]  # a field counts for its class


def test_fields_hold_what_they_are_called_after() -> None:
    rows = found("shop/shelf.py", CODE)
    method = rows["Shelf.put_parcel"]
    assert method["name"] == {"putparcel", "put", "parcel"}
    assert method["owner"] == {"shelf"}
    assert {"stor", "parcel"} <= method["doc"]
    assert "parcel" in method["sig"]
    assert rows[""]["path"] == {"shop", "shelf"}


def test_a_symbol_is_found_by_every_tail_of_its_qualified_name_in_its_case() -> None:
    keys = set(terms.unpack(packed("a.py", CODE)).postings["key"].tolist())
    for name in ("put_parcel", "Shelf.put_parcel", "inner", "Shelf.put_parcel.inner", "put_parcel.inner", "a.py"):
        assert words.exact(name) | terms.EXACT in keys
    assert words.exact("shelf") | terms.EXACT not in keys


def test_documents_know_kind_parent_lines_and_flags() -> None:
    code = "class A:\n    def _m(self):\n        '''Does it.'''\n        return 1\n\n\ndef test_b():\n    pass\n"
    made = terms.unpack(packed("tests/test_a.py", code))
    syms = facts_of("tests/test_a.py", code)["syms"]
    at = {sym[schema.QUAL]: doc for doc, sym in enumerate(syms, 1)}
    assert made.parents[0] == -1
    assert made.parents[at["A"]] == 0
    assert made.parents[at["A._m"]] == at["A"]
    assert made.lines[at["A._m"]].tolist() == [2, 4]
    assert made.flags[at["A._m"]] & terms.IS_PRIVATE
    assert made.flags[at["A._m"]] & terms.IS_DOCUMENTED
    assert made.flags[at["test_b"]] & terms.IS_TEST
    assert made.kinds[at["A"]] == terms.CLASS


def test_a_gated_symbol_gives_its_name_and_nothing_else() -> None:
    code = f'def plain():\n    return ordinary\n\n\nclass Vault:\n    weather = sunny\n    password = "{HUNTER}"\n'
    rows = found("vault.py", code)
    gated = [sym[schema.QUAL] for sym in facts_of("vault.py", code)["syms"] if sym[schema.META].get("g")]
    assert "Vault" in gated
    assert all(set(rows[qual]) <= {"name", "owner"} for qual in gated)
    everything = {term for fields in rows.values() for terms_found in fields.values() for term in terms_found}
    assert not everything & set(words.tokens(HUNTER))
    assert "ordinari" in rows["plain"]["body"]


def test_a_gated_file_is_found_by_its_path_only() -> None:
    made = terms.unpack(terms.file_terms("secrets/prod.env", None, b"", text=True))
    fields = {int(key) & terms.FIELD_MASK for key in made.postings["key"]}
    assert fields == {terms.EXACT, terms.PATH}


def test_what_a_gate_blanked_is_no_word() -> None:
    assert words.packed("x" * 40) == b""
    assert words.packed_code(b"key = '" + b"x" * 16 + b"'") == words.packed("key")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.text(max_size=30))
def test_packing_is_a_function_of_its_arguments_and_reads_back(text: str, path: str) -> None:
    data = terms.file_terms(path, None, text.encode(), text=True)
    assert data == terms.file_terms(path, None, text.encode(), text=True)
    made = terms.unpack(data)
    assert len(made.kinds) == len(made.flags) == len(made.parents) == len(made.lines) == len(made.lengths) == 1
    keys = made.postings["key"].tolist()
    assert keys == sorted(set(keys))


def test_bytes_that_are_no_terms_are_refused() -> None:
    with pytest.raises(ValueError):
        terms.unpack(packed("a.py", CODE)[:-3])
