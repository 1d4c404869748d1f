"""Vue and Svelte components: scripts at their places, the component itself, what markup uses, imports between them."""

from __future__ import annotations

import pytest
from conform import anchor, defined, facts, links, row, span

from mog.engine.code import facts as schema

FOO = "<script setup>\n</script>\n<template><i/></template>\n"
API = "export function save() {}\nexport function load() {}\n"
VUE = {
    "setup": ("<script setup>\nfunction f() {}\n</script>\n", "f C"),
    "setup in TypeScript": ('<script setup lang="ts">\nconst f = (x: number): void => {}\n</script>\n', "f C"),
    "tsx": ("<script lang='tsx'>\nexport function f() { return <b/> }\n</script>\n", "f C"),
    "attribute with a bracket": (
        '<script setup lang="ts" generic="T extends A<string>">\nfunction f(x: T) {}\n</script>\n',
        "f C",
    ),
    "two scripts": (
        '<script lang="ts">\nexport const a = () => 1\n</script>\n<script setup lang="ts">\nfunction f() {}\n</script>\n',
        "a f C",
    ),
    "script below the template": ("<template><p/></template>\n<script setup>\nfunction f() {}\n</script>\n", "f C"),
    "options": (
        "<script>\nexport default { methods: { go() {} } }\n</script>\n",
        "default default.methods default.methods.go",
    ),
    "template alone": ("<template><p/></template>\n", "C"),
    "script in a comment": (
        "<!-- <script>\nfunction no() {}\n</script> -->\n<script setup>\nfunction f() {}\n</script>\n",
        "f C",
    ),
    "style is no script": ("<style>\nfunction no() {}\n</style>\n", "C"),
    "bracket in a string": ("<script setup>\nconst a = () => '<template>'\nfunction f() {}\n</script>\n", "a f C"),
    "upper case tag": ("<SCRIPT setup>\nfunction f() {}\n</SCRIPT>\n", "f C"),
    "never closed": ("<script setup>\nfunction f() {}\n", "f C"),
    "class": ('<script lang="ts">\nexport class A { m() {} }\n</script>\n', "A A.m C"),
    "define": ("<script>\nexport default defineComponent({ setup() {} })\n</script>\n", "C"),
    "empty": ("", "C"),
}
SVELTE = {
    "script": ("<script>\nfunction f() {}\n</script>\n<p/>\n", "f C"),
    "module script": (
        '<script context="module">\nexport function a() {}\n</script>\n<script>\nfunction f() {}\n</script>\n',
        "a f C",
    ),
    "TypeScript": ('<script lang="ts">\nfunction f(x: number) {}\n</script>\n', "f C"),
    "markup alone": ("<p>x</p>\n", "C"),
    "reactive": ("<script>\nlet a = 1\n$: b = a * 2\nfunction f() {}\n</script>\n", "f C"),
}
SETUP = "<script setup>\nimport Foo from './Foo.vue'\nimport {{ save, load }} from './api'\n{0}\n</script>\n<template>{1}</template>\n"
USES = {
    "tag": ("", "<Foo/>", {"C references Foo.vue:Foo"}),
    "tag with dashes": ("import UserCard from './Foo.vue'", "<user-card />", {"C references Foo.vue:Foo"}),
    "handler": ("", "<p @click='save'/>", {"C references api.js:save"}),
    "handler of the long form": ("", '<p v-on:click="save"/>', {"C references api.js:save"}),
    "handler that calls": ("", '<p @click="save(1)"/>', {"C references api.js:save"}),
    "arrow": ("", '<p @click="() => save(1)"/>', {"C references api.js:save"}),
    "bound attribute": ("", '<p :x="load()"/>', {"C references api.js:load"}),
    "condition with a bracket": ("", '<p v-if="1 > load()"/>', {"C references api.js:load"}),
    "interpolation": ("", "<p>{{ load(1) }}</p>", {"C references api.js:load"}),
    "function of the script": ("function f() {}", "<p @click='f'/>", {"C references f"}),
    "member of something else": ("", "<p :x='a.load'/>", set()),
    "key of an object": ("", '<p :x="{ load: 1 }"/>', set()),
    "text in a string": ("", "<p :x=\"'load'\"/>", set()),
    "plain text": ("", "<p>load</p>", set()),
    "plain attribute": ("", "<p class='load'/>", set()),
    "bound by a loop": ("", '<p v-for="load in xs">{{ load }}</p>', set()),
    "looped over": ("", '<p v-for="x in load()"/>', {"C references api.js:load"}),
    "bound by a slot": ("", '<p #default="{ load }">{{ load }}</p>', set()),
    "bound by an arrow": ("", '<p @x="(load) => load()"/>', set()),
    "comment": ("", "<!-- <Foo @click='save'/> -->", set()),
    "nested templates": (
        "",
        "<template v-if='a'><Foo/></template><p @click='save'/>",
        {"C references Foo.vue:Foo", "C references api.js:save"},
    ),
}
IN_SVELTE = {
    "tag": ("<Foo/>", {"C references Foo.svelte:Foo"}),
    "lower case is an element": ("<foo/>", set()),
    "handler": ("<p on:click={save}/>", {"C references api.js:save"}),
    "handler that calls": ("<p onclick={() => { save() }}/>", {"C references api.js:save"}),
    "expression": ("{load(1)}", {"C references api.js:load"}),
    "condition": ("{#if load()}x{/if}", {"C references api.js:load"}),
    "looped over": ("{#each load() as x}{x}{/each}", {"C references api.js:load"}),
    "bound by a loop": ("{#each xs as load}{load}{/each}", set()),
    "bound by let": ("<p let:load>{load}</p>", set()),
    "member of something else": ("{a.load}", set()),
}
OPTIONS = "<script>\nimport Foo from './Foo.vue'\nexport default {{ components: {{ Foo }}, methods: {{ go() {{}} }}, computed: {{ total() {{}} }} }}\nfunction no() {{}}\n</script>\n<template>{0}</template>\n"
FILES = {"Foo.vue": FOO, "Foo.svelte": "<p/>\n", "api.js": API}


@pytest.mark.parametrize(("source", "expected"), VUE.values(), ids=VUE)
def test_definitions_of_vue_are_symbols(source: str, expected: str) -> None:
    assert defined("src/C.vue", source, "function", "class", "method", "const") == expected


@pytest.mark.parametrize(("source", "expected"), SVELTE.values(), ids=SVELTE)
def test_definitions_of_svelte_are_symbols(source: str, expected: str) -> None:
    assert defined("src/C.svelte", source, "function", "class") == expected


@pytest.mark.parametrize(("script", "markup", "expected"), USES.values(), ids=USES)
def test_a_template_uses_what_its_setup_sees(script: str, markup: str, expected: set[str]) -> None:
    files = FILES | {"C.vue": SETUP.format(script, markup)}
    assert {edge for edge in links(files, "C.vue", "references") if edge.startswith("C ")} == expected


@pytest.mark.parametrize(("markup", "expected"), IN_SVELTE.values(), ids=IN_SVELTE)
def test_markup_of_svelte_uses_what_its_script_sees(markup: str, expected: set[str]) -> None:
    script = "<script>\nimport Foo from './Foo.svelte'\nimport { save, load } from './api'\n</script>\n"
    found = links(FILES | {"C.svelte": script + markup + "\n"}, "C.svelte", "references")
    assert {edge for edge in found if edge.startswith("C ")} == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [("<p @click='go'/>", {"default references default.methods.go"}), ("{{ total }}", {"default references default.computed.total"}),
     ("<Foo/>", {"default references Foo.vue:Foo"}), ("<p @click='no'/>", set())],
)  # fmt: skip
def test_with_options_a_template_sees_their_methods(markup: str, expected: set[str]) -> None:
    found = links(FILES | {"C.vue": OPTIONS.format(markup)}, "C.vue", "references")
    assert {edge for edge in found if edge.startswith("default ")} == expected


def test_calls_and_imports_of_the_script_are_linked_as_in_a_module() -> None:
    files = FILES | {"C.vue": SETUP.format("function f() { return load() }\nf()", "")}
    assert links(files, "C.vue", "calls", "imports") == {
        "- imports Foo.vue", "- imports api.js", "f calls api.js:load", "- calls f"}  # fmt: skip


def test_a_script_imports_a_component() -> None:
    files = FILES | {"main.ts": "import Foo from './Foo.vue'\nexport const make = () => mount(Foo)\n"}
    assert links(files, "main.ts", "imports", "references") == {"- imports Foo.vue", "make references Foo.vue:Foo"}


def test_a_script_elsewhere_is_imported() -> None:
    assert "- imports api.js" in links(FILES | {"C.vue": "<script src='./api.js'></script>\n"}, "C.vue")


def test_a_template_in_another_language_says_nothing() -> None:
    pug = SETUP.format("", "Foo(@click='save')").replace("<template>", "<template lang='pug'>")
    assert not [edge for edge in links(FILES | {"C.vue": pug}, "C.vue", "references") if edge.startswith("C ")]


def test_a_component_called_index_goes_by_its_folder() -> None:
    assert defined("src/UserList/index.vue", FOO) == "UserList"


def test_lines_and_bytes_are_those_of_the_file() -> None:
    source = "<template>\n  <p>ü</p>\n</template>\n\n<script setup>\nfunction f() {\n  return 1\n}\n</script>\n"
    held = row(facts("C.vue", source), "f")
    assert (held[schema.LINE], held[schema.END]) == (6, 8)
    assert span("C.vue", source, "f") == "function f() {\n  return 1\n}"
    assert span("C.vue", source, "C") == "<template>\n  <p>ü</p>\n</template>"


def test_markup_moves_the_anchor_of_the_component_and_of_nothing_else() -> None:
    before = "<script setup>\nfunction f() {}\n</script>\n<template><p>a</p></template>\n"
    after = before.replace(">a<", ">b<")
    assert anchor("C.vue", before, "f") == anchor("C.vue", after, "f")
    assert anchor("C.vue", before, "C") != anchor("C.vue", after, "C")


def test_layout_and_comments_of_markup_move_no_anchor() -> None:
    before = "<script setup>\n</script>\n<template>\n<p>a b</p>\n</template>\n"
    after = "<script setup>\nconst x = 1\n</script>\n<template>\n  <!-- why -->\n  <p>a\n b</p>\n</template>\n"
    assert anchor("C.vue", before, "C") == anchor("C.vue", after, "C")


@pytest.mark.parametrize("path", ["C.vue", "C.svelte"])
@pytest.mark.parametrize(
    "data",
    [b"<script " * 20_000, b"<template>" * 20_000, b"<script>" + b"(" * 20_000, b"<p " + b"a='" * 30_000, b"{{" * 50_000, b"{#each " * 20_000,
     b"\xff<script>\xc3(</script>", b"<script>a\x00b</script>", b"<!--" * 30_000, b"<template><p @a=\"" + b"x=>" * 20_000, b"<a-" * 30_000],
    ids=lambda data: str(data[:14]),
)  # fmt: skip
def test_hostile_input_is_survived(path: str, data: bytes) -> None:
    assert facts(path, data)["syms"]
