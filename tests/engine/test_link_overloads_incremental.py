"""Links of Java and C# after any sequence of edits equal those of a fresh index: every file whose reads changed is linked again."""

from __future__ import annotations

from functools import cache, partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from link_kit import follow

from mog.engine.code import extract
from mog.engine.code.facts import Facts

JAVA: dict[str, list[str]] = {
    "shop/Cart.java": [
        "package shop;\nimport util.Text;\nimport static util.Text.run;\nclass Cart extends Base {\n"
        "  Item held;\n  void go() { run(1); Text.run(); held.price(); log(); new Item(1); held.price().twice(); }\n}\n",
        "package shop;\nimport util.*;\nclass Cart {\n  void go(Item item) { Text.run(1); item.price(2); item.left.price(); }\n}\n",
        "package shop;\nimport static util.Text.*;\nclass Cart {\n  void go(Item.Part p) { run(1); p.price(); new Item(); }\n}\n",
    ],
    "shop/Item.java": [
        "package shop;\nclass Item {\n  Item(int a) { }\n  Item price() { return this; }\n  Item price(int a) { return this; }\n"
        "  void twice() { }\n}\n",
        "package shop;\nclass Item extends Base {\n  Item left;\n  void price() { }\n  class Part extends Item { }\n}\n",
        "package util;\npublic class Item { Item() { } void price() { } }\n",
        "package shop;\ninterface Item { void price(); }\nclass Gift implements Item { public void price() { } }\n",
    ],
    "shop/Base.java": [
        "package shop;\nclass Base { void log() { } void price(int a) { } void price(String a) { } }\n",
        "package shop;\nabstract class Base { abstract void log(); Item held; }\n",
    ],
    "util/Text.java": [
        "package util;\npublic class Text { public static void run() { } public static void run(int a) { } }\n",
        "package util.deep;\npublic class Text { public static void run(int a) { } }\n",
        "package util;\npublic class Text extends More { }\nclass More { static void run(int a) { } }\n",
    ],
    "util/More.java": ["package util;\npublic class More { static void run(int... a) { } }\n"],
    "shop/Text.java": ["package shop;\nclass Text { static void run() { } }\n"],
    "src/test/java/shop/Fake.java": ["package shop;\nclass Fake extends Base { void log() { } }\n"],
}
CSHARP: dict[str, list[str]] = {
    "Shop/Cart.cs": [
        "using Util;\nnamespace Shop;\npartial class Cart : Base { Item held; void Go() { Text.Run(1); held.Price(); Log(); More();"
        " held.Pay(); new Item(1); } }\n",
        "namespace Shop { partial class Cart { void Go(Item item) { item.Left.Price(); this.Pay(); Text.Run(); More(); } } }\n",
        "using T = Util.Text;\nusing static Util.Text;\nnamespace Shop;\nclass Cart { void Go(Box<int> b)"
        " { T.Run(1); Run(); b.Open(); } }\n",
    ],
    "Shop/CartMore.cs": [
        "namespace Shop;\npartial class Cart { void More() { Log(); Go(); } }\n",
        "namespace Shop;\npartial class Cart : Item { Item other; void More() { other.Price(); } }\n",
        "namespace Other;\npartial class Cart { void More() { } }\n",
    ],
    "Shop/Item.cs": [
        "namespace Shop;\nclass Item { public Item(int a) { } public Item Left => this; public void Price() { } }\n",
        "namespace Shop;\nclass Item : Base { public Item Left { get; } public void Price(int a = 1) { } }\n"
        "class Box<T> { public void Open() { } }\n",
        "namespace Util;\npublic class Item { public void Price() { } }\nclass Box { public void Open() { } }\n",
    ],
    "Shop/Base.cs": [
        "namespace Shop;\nclass Base { protected void Log() { } }\n",
        "namespace Shop;\nabstract class Base { protected abstract void Log(); }\n",
    ],
    "Util/Text.cs": [
        "namespace Util;\npublic static class Text { public static void Run() { } public static void Run(int a) { }"
        " public static void Pay(this Shop.Item item) { } }\n",
        "namespace Util.Deep;\npublic static class Text { public static void Run(int a) { }"
        " public static void Pay(this Shop.Cart c) { } }\n",
    ],
    "Shop/GlobalUsings.cs": ["global using Util;\n", "global using Util.Deep;\n"],
    "Shop.Tests/Fake.cs": ["namespace Shop;\nclass Fake : Base { protected override void Log() { } }\n"],
}
SETS = {"java": JAVA, "csharp": CSHARP}


@cache
def facts_of(lang: str, path: str, at: int) -> Facts:
    return extract.extract(lang, SETS[lang][path][at].encode(), path)


def choices(lang: str) -> list[tuple[str, int]]:
    return [(path, at) for path, held in SETS[lang].items() for at in range(-1, len(held))]


@pytest.mark.parametrize("lang", sorted(SETS))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_edit_by_edit_equals_a_fresh_index_in_languages_with_overloads(lang: str, data: st.DataObject) -> None:
    follow(
        partial(facts_of, lang),
        dict.fromkeys(SETS[lang], 0),
        data.draw(st.lists(st.sampled_from(choices(lang)), min_size=1, max_size=8)),
    )


@pytest.mark.parametrize("lang", sorted(SETS))
@pytest.mark.parametrize("caller", range(3))
def test_every_file_with_overloads_can_come_go_and_change(lang: str, caller: int) -> None:
    first = next(iter(SETS[lang]))
    for path, held in SETS[lang].items():
        tour = [at for which in range(len(held)) for at in (which, -1, which, (which + 1) % len(held))]
        follow(partial(facts_of, lang), dict.fromkeys(SETS[lang], 0), [(first, caller), *((path, at) for at in tour)])
