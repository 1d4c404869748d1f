"""Links of Go and Rust after any sequence of edits equal those of a fresh index: whose reads changed is linked again."""

from __future__ import annotations

from functools import cache, partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from link_kit import Index, follow

from mog.engine.code import extract
from mog.engine.code.facts import Facts
from mog.engine.code.languages_map import language_of

World = dict[str, list[str]]

GO: World = {
    "main.go": [
        'package main\nimport "e.com/a/shop"\nfunc main() { c := shop.New(); c.Sum(); shop.Default.Sum(); step() }\n',
        'package main\n'
        'import ("e.com/lib"; "e.com/a/shop")\n'
        'func main() { lib.Go(); _, c := shop.Two(); c.Sum(); shop.Go() }\n',
        'package main\nimport . "e.com/a/shop"\nfunc run(s Store) { s.Sum(); New().Base() }\n',
    ],
    "go.mod": ["module e.com/a\n", "module e.com/b\n", "module e.com/a\nreplace e.com/lib => ./forks/lib\n"],
    "step.go": [
        "package main\n"
        "func step() {}\n"
        "", "package main\n"
        "var step = func() {}\n"
        "", "package other\n"
        "func step() {}\n",
    ],
    "shop/a.go": [
        "package shop\n"
        "type Cart struct{ Model }\n"
        "func New() *Cart { return nil }\n"
        "func Two() (int, *Cart) { return 0, nil }\n",
        "package shop\ntype Cart struct{}\nfunc (c Cart) Sum() {}\nfunc New() Store { return nil }\n",
        "package market\nfunc New() int { return 1 }\n",
    ],
    "shop/b.go": [
        "package shop\nfunc (c *Cart) Sum() { c.each() }\nfunc (c *Cart) each() {}\n",
        "package shop\ntype Model struct{}\nfunc (m Model) Base() {}\nfunc (m Model) Sum() {}\n",
        "package shop_test\nfunc New() {}\n",
    ],
    "shop/c.go": [
        "package shop\nvar Default = New()\ntype Store interface{ Sum() }\n",
        "package shop\nvar Default Store\ntype Store interface{ Sum(); each() }\n",
        "package shop\nimport \"e.com/lib\"\nvar Default = lib.New()\nfunc Go() {}\n",
    ],
    "shop/c_test.go": [
        'package shop_test\nimport "e.com/a/shop"\nfunc TestX() { shop.New().Sum(); helper() }\n',
        "package shop\nfunc helper() { New() }\n",
    ],
    "shop/go.mod": ["module e.com/a/shop\n", "module e.com/lib\n"],
    "forks/lib/l.go": ["package lib\nfunc Go() {}\ntype L struct{}\nfunc (L) Sum() {}\nfunc New() L { return L{} }\n"],
    "lib/go.mod": ["module e.com/lib\n"],
    "lib/l.go": ["package lib\nfunc Go() {}\n"],
    "vendor/e.com/lib/l.go": ["package lib\nfunc Go() {}\n"],
}  # fmt: skip
RUST: World = {
    "src/lib.rs": [
        "mod cart;\n"
        "pub mod util;\n"
        "use cart::*;\n"
        "pub fn run(c: &Cart) { c.sum(); c.shown(); util::go(); crate::util::deep::low(); }\n",
        "mod cart;\n"
        "mod util;\n"
        "pub use util::deep::{low as high, Deep};\n"
        "fn f(c: cart::Cart) { high(); Deep::new().go(); c.inner.go(); }\n",
        "#[path = \"odd/util.rs\"]\n"
        "mod util;\n"
        "mod cart { pub struct Cart; impl Cart { pub fn sum(&self) {} } }\n"
        "fn g(c: &cart::Cart) { c.sum(); util::go(); }\n",
        "pub mod util;\nmod traits;\nfn h<T: traits::Shown>(x: T) { x.shown(); lib_two::start(); }\n",
    ],
    "src/cart.rs": [
        "use crate::traits::Shown;\n"
        "pub struct Cart { pub inner: crate::util::deep::Deep }\n"
        "impl Shown for Cart { fn shown(&self) { self.also(); } }\n",
        "pub struct Cart;\n"
        "impl Cart { pub fn sum(&self) -> crate::util::deep::Deep { todo!() } }\n"
        "pub enum Kind { One(Cart), Two }\n",
        "use super::util::*;\npub type Cart = deep::Deep;\nfn x() { go(); }\n",
    ],
    "src/sums.rs": ["use crate::cart::Cart;\nimpl Cart { pub fn sum(&self) { self.shown() } }\n"],
    "src/traits.rs": [
        "pub trait Shown { fn shown(&self); fn also(&self) { self.shown() } }\n",
        "pub trait Shown: Sized { fn shown(&self) {} }\npub trait Other: Shown {}\n",
    ],
    "src/util.rs": [
        "pub mod deep;\npub fn go() { deep::low() }\n",
        "pub mod deep;\npub use self::deep::low as go;\npub use super::*;\n",
        "pub mod deep { pub fn low() {} pub struct Deep; impl Deep { pub fn new() -> Self { Deep } pub fn go(&self) {} } }\n"
        "macro_rules! go { () => {} }\n",
    ],
    "src/util/deep.rs": [
        "pub fn low() { super::go(); }\n"
        "pub struct Deep;\n"
        "impl Deep { pub fn new() -> Deep { Deep } pub fn go(&self) {} }\n",
        "pub use super::super::cart::Cart as Deep;\npub fn low() { go!(); Deep::new(); }\n",
    ],
    "src/util/mod.rs": ["pub fn go() {}\n"],
    "src/odd/util.rs": ["pub fn go() { super::g(); }\n"],
    "Cargo.toml": ['[package]\nname = "shop"\n', '[package]\nname = "x"\n[dependencies]\nlib_two = {package = "two"}\n'],
    "two/Cargo.toml": ['[package]\nname = "lib-two"\n', '[package]\nname = "two"\n[lib]\npath = "main.rs"\n'],
    "two/src/lib.rs": ["pub fn start() {}\n"],
    "two/main.rs": ["pub fn start() {}\n"],
    "tests/it.rs": ["#[test]\nfn works() { shop::run(); shop::util::go(); x::util::go(); }\n"],
}  # fmt: skip
WORLDS: dict[str, tuple[World, tuple[str, ...]]] = {
    "go": (GO, ("shop/go.mod", "vendor/e.com/lib/l.go")),
    "rust": (RUST, ("src/util/mod.rs",)),
}
"""Language → variants of its files, and those that stand in the way of others."""


@cache
def facts_of(lang: str, path: str, at: int) -> Facts:
    return extract.extract(language_of(path), WORLDS[lang][0][path][at].encode(), path)


def start(lang: str) -> dict[str, int]:
    world, shadows = WORLDS[lang]
    return {path: 0 for path in world if path not in shadows}


def choices(lang: str) -> list[tuple[str, int]]:
    return [(path, at) for path, held in WORLDS[lang][0].items() for at in range(-1, len(held))]


@pytest.mark.parametrize("lang", WORLDS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_edit_by_edit_equals_a_fresh_index(lang: str, data: st.DataObject) -> None:
    follow(
        partial(facts_of, lang),
        start(lang),
        data.draw(st.lists(st.sampled_from(choices(lang)), min_size=1, max_size=8)),
    )


@pytest.mark.parametrize(("lang", "path", "at"), [
    (lang, path, at) for lang, (world, _) in WORLDS.items() for path in list(world)[:1] for at in range(len(world[path]))
])  # fmt: skip
def test_every_file_can_come_go_and_change(lang: str, path: str, at: int) -> None:
    for other, held in WORLDS[lang][0].items():
        tour = [which for one in range(len(held)) for which in (one, -1, one)]
        follow(partial(facts_of, lang), start(lang), [(path, at), *((other, which) for which in tour)])


@pytest.mark.parametrize("lang", WORLDS)
def test_every_variant_links_to_something_somewhere(lang: str) -> None:
    """The variants are about names of one another, so that an edit has something to change."""
    index = Index(partial(facts_of, lang), start(lang))
    assert sum(1 for held in index.edges.values() for edge in held if edge[1]) >= 8
