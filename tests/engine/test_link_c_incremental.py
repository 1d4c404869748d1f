"""Links of C and C++ after any sequence of edits equal those of a fresh index: every file whose reads changed is linked again."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from link_kit import Index, follow

from mog.engine.code.extract import extract
from mog.engine.code.facts import Facts
from mog.engine.code.languages_map import language_of

VARIANTS: dict[str, list[str]] = {
    "src/main.c": [
        '#include "util.h"\nint main(void) { return twice(1) + CLAMP(2) + memcmp(0, 0, 0) + hidden(); }\n',
        "#include <util.h>\n#include <string.h>\nint main(void) { return twice(1) + memcmp(0, 0, 0); }\n",
        '#include "part.c"\nint (*all[])(void) = { hidden, twice };\nint main(void) { return hidden(); }\n',
    ],
    "src/util.h": [
        "int twice(int);\n#define CLAMP(x) twice(x)\n",
        "#include <stdio.h>\nstatic inline int twice(int x) { return x; }\n",
        '#include "deep.h"\n',
    ],
    "src/deep.h": ["static inline int twice(int x) { return 0; }\n#include <stdio.h>\n", "#define CLAMP(x) x\n"],
    "src/util.c": ["int twice(int x) { return 2 * x; }\n", "static int twice(int x) { return x; }\n"],
    "lib/util.c": ["int twice(int x) { return x + x; }\nint memcmp(void *a, void *b, int n) { return 0; }\n"],
    "lib/include/util.h": ["#define CLAMP(x) (x)\n"],
    "src/part.c": ["static int hidden(void) { return twice(3); }\n", "int hidden(void) { return 1; }\n"],
    "cpp/a.h": [
        "namespace shop { class Cart { public: int total(); int fee(int a = 1); virtual int tax() = 0; }; }\n",
        "class Cart { public: int total() { return 1; } struct Rep; };\n",
        "namespace shop { class Base { public: int fee(int a) { return a; } };\nclass Cart : public Base { public: int total(); }; }\n",
    ],
    "cpp/a.cc": [
        '#include "a.h"\nnamespace shop { int Cart::total() { return fee(1) + tax(); } int Cart::fee(int a) { return a; } }\n',
        '#include "a.h"\nint shop::Cart::total() { return fee(2); }\n',
        '#include "a.h"\nstruct Cart::Rep { int total() { return 3; } };\n',
    ],
    "cpp/b.cc": [
        '#include "a.h"\nusing namespace shop;\nint run(Cart* c) { return c->total() + c->tax() + twice(1); }\n',
        '#include "a.h"\nint run(shop::Cart& c) { auto d = shop::make(); return c.fee() + d->total(); }\n',
        "using shop::make;\nint run() { return make()->total(); }\n",
        "int run() { Cart::Rep r; return r.total() + local(1) + local(1, 2); }\n",
    ],
    "cpp/c.cc": [
        '#include "a.h"\nnamespace shop { Cart* make() { return new Cart(); } }\nint local(int a) { return a; }\n',
        "class Sub : public shop::Cart { int tax() override { return 2; } };\nint local(int a, int b = 2) { return a; }\n",
        "namespace bank { class Cart { public: int total() { return 7; } }; }\n",
    ],
}
# these stand in the way of others
SHADOWS = ("lib/include/util.h", "lib/util.c")
START = {path: 0 for path in VARIANTS if path not in SHADOWS}
CHOICES = [(path, at) for path, held in VARIANTS.items() for at in range(-1, len(held))]


@cache
def facts_of(path: str, at: int) -> Facts:
    return extract(language_of(path), VARIANTS[path][at].encode(), path)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits=st.lists(st.sampled_from(CHOICES), min_size=1, max_size=8))
def test_edit_by_edit_equals_a_fresh_index(edits: list[tuple[str, int]]) -> None:
    follow(facts_of, START, edits)


@pytest.mark.parametrize("caller", [(path, at) for path in ("src/main.c", "cpp/b.cc") for at in range(3)])
def test_every_file_can_come_go_and_change(caller: tuple[str, int]) -> None:
    for path, held in VARIANTS.items():
        tour = [at for which in range(len(held)) for at in (which, -1, which, (which + 1) % len(held))]
        follow(facts_of, START, [caller, *((path, at) for at in tour)])


def test_the_files_above_link_to_something() -> None:
    index = Index(facts_of, START)
    found = {
        (path, name, tier)
        for held in index.links.values()
        for _, path, _, kind, tier, name in held.edges
        if kind == "calls"
    }
    assert {
        ("src/util.c", "twice", 0),
        ("src/util.h", "CLAMP", 0),
        ("cpp/a.cc", "total", 0),
        ("cpp/a.cc", "fee", 0),
    } <= found
