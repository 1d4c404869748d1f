"""Links of scripts after any sequence of edits equal those of a fresh index: every file whose reads changed is linked again."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mog.engine.code import extract
from mog.engine.code.facts import Facts
from mog.engine.code.languages import javascript_config
from mog.engine.code.link import Linker, Links, MemoryView, surface

VARIANTS: dict[str, list[str]] = {
    "src/a.ts": [
        "import { f, K } from './m';\nimport d from '@/d';\n"
        "export function go(k: K) { f(); d(); k.run(); k.base(); new K().late(); }\n",
        "import * as m from './m';\nimport { p } from '@o/p';\n"
        "export const go = () => { m.f(); p(); m.each((it) => it.run()); };\n",
        "export function go(x) { x.run(); x.special(); }\n",
    ],
    "src/m.ts": [
        "export * from './n';\nexport function f() {}\n",
        "export { g as f, K } from './n';\nexport function each(cb: (it: K) => void) {}\nimport { K } from './n';\n",
        "export class K { run() {} }\nexport const f = () => 1;\n",
    ],
    "src/m/index.ts": ["export function f() {}\nexport class K { special() {} }\n"],
    "src/m.d.ts": ["export declare function f(): void;\n"],
    "src/n.ts": [
        "import { B } from './b';\nexport class K extends B { run() {} }\nexport function g() {}\nexport function f() { g(); }\n",
        "export class K { late() { this.run(); } run() {} }\nexport function g() {}\n",
    ],
    "src/b.ts": [
        "export class B { base() {} }\n",
        "export abstract class B { abstract base(): void }\n",
        "export const B = 1;\n",
    ],
    "src/d.ts": [
        "export default function () {}\n",
        "export default class { special() {} }\n",
        "function d() {}\nexport = d;\n",
    ],
    "src/d.js": ["module.exports = function () {};\n", "exports.special = () => 1;\n"],
    "tsconfig.json": [
        '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
        '{"compilerOptions": {"paths": {"@/*": ["./lib/*"]}}}',
        '{"extends": "./base.json"}',
    ],
    "base.json": [],
    "tsconfig.base.json": ['{"compilerOptions": {"baseUrl": "src", "paths": {"@/*": ["*"]}}}'],
    "src/tsconfig.json": ['{"extends": "../tsconfig.base"}', "{"],
    "lib/d.ts": ["export default () => 2;\n"],
    "packages/p/package.json": [
        '{"name": "@o/p", "main": "dist/index.js"}',
        '{"name": "@o/q"}',
        '{"name": "@o/p", "main": "x.ts"}',
    ],
    "packages/p/src/index.ts": ["export function p() {}\n"],
    "packages/p/x.ts": ["export const p = () => 1;\n"],
}
# these stand in the way of others
SHADOWS = ("src/m/index.ts", "src/m.d.ts", "src/tsconfig.json")
START = {path: 0 for path, held in VARIANTS.items() if held and path not in SHADOWS}
CHOICES = [(path, at) for path, held in VARIANTS.items() for at in range(-1, len(held))]


@cache
def facts_of(path: str, at: int) -> Facts:
    source = VARIANTS[path][at].encode()
    if path.endswith(".json"):
        return javascript_config.extract_tsconfig(source, path)
    return extract.extract("typescript" if path.endswith(".ts") else "javascript", source, path)


def edges(view: MemoryView, links: Links) -> set[tuple[object, ...]]:
    """Edges with the qualified name of what they point to: an index keeps a symbol's number while it keeps its name."""

    def qual(path: str, at: int | str) -> object:
        found = view.facts(path)
        return found["syms"][at][1] if found is not None and isinstance(at, int) and at >= 0 else at

    return {(source, path, qual(path, at), *rest) for source, path, at, *rest in links.edges}


class Index:
    """An index kept up to date edit by edit."""

    def __init__(self, held: dict[str, int]) -> None:
        self.held = dict(held)
        self.view = MemoryView({path: facts_of(path, at) for path, at in held.items()})
        linker = Linker(self.view)
        self.links: dict[str, Links] = {path: linker.link_file(path) for path in held}
        self.edges = {path: edges(self.view, links) for path, links in self.links.items()}

    def edit(self, path: str, at: int) -> None:
        """Put variant ``at`` of a file, or delete it (-1); then link again what the change can have touched."""
        before = surface(facts_of(path, self.held[path]), path) if path in self.held else {}
        after = surface(facts_of(path, at), path) if at >= 0 else {}
        if at >= 0:
            self.held[path] = at
            self.view.put(path, facts_of(path, at))
        else:
            self.held.pop(path, None)
            self.view.drop(path)
            self.links.pop(path, None)
            self.edges.pop(path, None)
        dirty = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        linker = Linker(self.view)
        for other in sorted(self.held):
            if other == path or other not in self.links or not dirty.isdisjoint(self.links[other].reads):
                self.links[other] = linker.link_file(other)
                self.edges[other] = edges(self.view, self.links[other])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits=st.lists(st.sampled_from(CHOICES), min_size=1, max_size=8))
def test_edit_by_edit_equals_a_fresh_index(edits: list[tuple[str, int]]) -> None:
    follow(edits)


@pytest.mark.parametrize("caller", range(len(VARIANTS["src/a.ts"])))
def test_every_file_can_come_go_and_change(caller: int) -> None:
    for path, held in VARIANTS.items():
        tour = [at for which in range(len(held)) for at in (which, -1, which, (which + 1) % len(held))]
        follow([("src/a.ts", caller), *((path, at) for at in tour)])


def follow(edits: list[tuple[str, int]]) -> None:
    """Make edits one by one and compare with a fresh index after each."""
    index = Index(START)
    for path, at in edits:
        index.edit(path, at)
        view = MemoryView({held: facts_of(held, which) for held, which in index.held.items()})
        fresh = Linker(view)
        assert index.edges == {held: edges(view, fresh.link_file(held)) for held in index.held}


def test_every_variant_links_to_something_somewhere() -> None:
    """The files above exercise what they are meant to: aliases, packages, barrels, hierarchies."""
    index = Index(START)
    targets = {
        (path, name) for _, path, _, kind, tier, name in index.links["src/a.ts"].edges if kind == "calls" and tier == 0
    }
    assert targets == {
        ("src/m.ts", "f"),
        ("src/d.ts", "d"),
        ("src/n.ts", "run"),
        ("src/b.ts", "base"),
        ("src/n.ts", "K"),
    }
    index.edit("src/a.ts", 1)
    index.edit("src/m.ts", 1)
    targets = {
        (path, name) for _, path, _, kind, tier, name in index.links["src/a.ts"].edges if kind == "calls" and tier == 0
    }
    assert targets == {("src/n.ts", "f"), ("packages/p/src/index.ts", "p"), ("src/m.ts", "each"), ("src/n.ts", "run")}
