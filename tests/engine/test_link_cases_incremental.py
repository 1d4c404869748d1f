"""Relinking only what recorded reads ask for equals linking anew, for languages whose conformance cases serve as the pool of files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mog.engine.code.extract import extract, supported
from mog.engine.code.facts import QUAL
from mog.engine.code.languages_map import language_of
from mog.engine.code.link import Linker, Links, MemoryView, surface

CASES = Path(__file__).parents[1] / "conformance"
PLACES = {
    "php": ["a.php", "b.php", "src/User.php", "src/One.php", "tests/CartTest.php", "composer.json"],
    "ruby": ["a.rb", "b.rb", "lib/shop.rb", "lib/shop/cart.rb", "app/models/user.rb", "spec/cart_spec.rb"],
}
COMPOSER = ('{"autoload": {"psr-4": {"App\\\\": "src/"}}}', '{"autoload": {"psr-4": {"App\\\\": "lib"}}}', "{")


@cache
def pool(lang: str) -> list[str]:
    """Every file of the language's cases."""
    text = (CASES / f"{lang}.cases").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in text.replace("\n=== ", "\n--- expected\n").split("\n--- ")[1:]]
    found = [body for title, _, body in parts if title.strip() != "expected" and not title.strip().endswith(".json")]
    assert len(found) > 60
    return found


def facts_of(path: str, text: str) -> Any:
    return extract(language_of(path), text.encode(), path)


def spelled(links: Links, facts: dict[str, Any], path: str) -> tuple[set[Any], tuple[int, ...]]:
    def name(at: str, idx: int | str) -> int | str:
        return facts[at]["syms"][idx][QUAL] if at and isinstance(idx, int) and idx >= 0 else idx

    return {(name(path, s), to, name(to, i), *rest) for s, to, i, *rest in links.edges}, links.reads


def linked(facts: dict[str, Any]) -> dict[str, Any]:
    linker = Linker(MemoryView(facts))
    return {path: spelled(linker.link_file(path), facts, path) for path in sorted(facts)}


def drawn(data: st.DataObject, lang: str, path: str) -> str:
    return data.draw(st.sampled_from(COMPOSER if path.endswith(".json") else pool(lang)), label=path)


@pytest.mark.parametrize("lang", sorted(PLACES))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_edits_end_where_a_fresh_index_begins(lang: str, data: st.DataObject) -> None:
    assert supported(lang)
    paths = data.draw(st.lists(st.sampled_from(PLACES[lang]), min_size=2, unique=True))
    facts = {path: facts_of(path, drawn(data, lang, path)) for path in paths}
    links = linked(facts)
    view = MemoryView(facts)
    for path in data.draw(st.lists(st.sampled_from(PLACES[lang]), min_size=1, max_size=4)):
        before = surface(facts[path], path) if path in facts else {}
        if path in facts and data.draw(st.booleans(), label=f"drop {path}"):
            view.drop(path)
            links.pop(path)
            del facts[path]
            after: dict[int, str] = {}
        else:
            facts[path] = facts_of(path, drawn(data, lang, path))
            view.put(path, facts[path])
            after = surface(facts[path], path)
        dirty = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        again = {at for at, (_, reads) in links.items() if dirty & set(reads)} | {path}
        linker = Linker(view)
        for at in sorted(again & facts.keys()):
            links[at] = spelled(linker.link_file(at), facts, at)
        fresh = linked(facts)
        assert {at: held[0] for at, held in links.items()} == {at: held[0] for at, held in fresh.items()}


@pytest.mark.parametrize("lang", sorted(PLACES))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_no_order_of_files_changes_an_answer(lang: str, data: st.DataObject) -> None:
    paths = data.draw(st.lists(st.sampled_from(PLACES[lang]), min_size=2, unique=True))
    facts = {path: facts_of(path, drawn(data, lang, path)) for path in paths}
    linker = Linker(MemoryView(facts))
    order = data.draw(st.permutations(sorted(facts)))
    found = {path: spelled(linker.link_file(path), facts, path) for path in order}
    alone = {path: spelled(Linker(MemoryView(facts)).link_file(path), facts, path) for path in facts}
    assert {path: held[0] for path, held in found.items()} == {path: held[0] for path, held in alone.items()}


@pytest.mark.parametrize("lang", sorted(PLACES))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_cut_and_doubled_text_gives_facts_and_no_error(lang: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(pool(lang)))
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    path = PLACES[lang][0]
    facts = facts_of(path, text[:start] + text[stop:] + text[start:stop] * 2)
    assert all(row[3] < at for at, row in enumerate(facts["syms"]))
    Linker(MemoryView({path: facts})).link_file(path)
