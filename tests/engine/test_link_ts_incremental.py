"""Links of scripts after any sequence of edits equal those of a fresh index: every file whose reads changed is linked again."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from link_kit import Index, follow

from mog.engine.code import extract
from mog.engine.code.facts import Facts
from mog.engine.code.languages import javascript_config

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


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits=st.lists(st.sampled_from(CHOICES), min_size=1, max_size=8))
def test_edit_by_edit_equals_a_fresh_index(edits: list[tuple[str, int]]) -> None:
    follow(facts_of, START, edits)


@pytest.mark.parametrize("caller", range(len(VARIANTS["src/a.ts"])))
def test_every_file_can_come_go_and_change(caller: int) -> None:
    for path, held in VARIANTS.items():
        tour = [at for which in range(len(held)) for at in (which, -1, which, (which + 1) % len(held))]
        follow(facts_of, START, [("src/a.ts", caller), *((path, at) for at in tour)])


def test_every_variant_links_to_something_somewhere() -> None:
    """The files above exercise what they are meant to: aliases, packages, barrels, hierarchies."""
    index = Index(facts_of, START)
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
