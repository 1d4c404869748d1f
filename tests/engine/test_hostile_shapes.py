"""Sources of a hostile shape cost about what others of their size cost, in every language: depth and width never enter squared."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from mog.engine.code.extract import LANGUAGES, extract
from mog.engine.code.link import Linker
from mog.engine.code.link_view import MemoryView

SIZE = 24_000
TIMES = 15
PATHS = {
    "python": "a.py", "javascript": "a.js", "typescript": "a.ts", "tsx": "a.tsx", "go": "a.go", "rust": "a.rs", "java": "a.java",
    "c": "a.c",
    "cpp": "a.cc", "csharp": "a.cs", "ruby": "a.rb", "php": "a.php", "sql": "a.sql", "dockerfile": "Dockerfile", "yaml": "a.yml",
    "toml": "a.toml", "json": "a.json", "vue": "a.vue", "svelte": "a.svelte", "notebook": "a.ipynb", "bash": "a.sh",
}  # fmt: skip
HEADS = {
    "php": "<?php\n", "vue": '<script lang="ts">\n', "svelte": "<script>\n", "go": "package a\nfunc f() {\n", "rust": "fn f() {\n",
    "java": "class Q { void f() {\n", "csharp": "class Q { void F() {\n", "c": "void f() {\n", "cpp": "void f() {\n",
}  # fmt: skip
PLAIN = {
    "python": "def f(a):\n    return g(a.b)\n",
    "yaml": "a:\n  - b: c\n",
    "json": '{"a": [1, 2]},\n',
    "toml": "a = [1, 2]\n",
}
OWN_PARSER = {("bash", "chain"), ("bash", "tags")}
"""Shapes whose time is the grammar's own; a limit of CPU seconds ends these."""


def shapes(lang: str) -> Iterator[tuple[str, str]]:
    half, third = SIZE // 2, SIZE // 3
    yield "parentheses", "(" * half + "x" + ")" * half
    yield "braces", "{" * half + "}" * half
    yield "brackets", "[" * half + "]" * half
    yield "operators", "x = " + "a + " * (SIZE // 4) + "b;"
    yield "signs", "&" * SIZE
    yield "chain", "a" + ".b()" * (SIZE // 4) + ";"
    yield "paths", "a::" * third + "b();"
    yield "tags", "<div>" * (SIZE // 5)
    yield "ifs", "if (x) " * (SIZE // 7) + "y();"
    if lang != "ruby":
        yield "classes", "class A { " * (SIZE // 11) + "}" * (SIZE // 11)


def seconds(lang: str, path: str, text: str) -> float:
    """CPU time of reading and linking one file."""
    start = time.process_time()
    found = extract(lang, text.encode(), path)
    Linker(MemoryView({path: found})).link_file(path)
    return time.process_time() - start


def test_every_language_is_here() -> None:
    no_code = {"jsconfig", "gomod", "composer", "cargo"}
    assert PATHS.keys() == LANGUAGES.keys() - no_code


@pytest.mark.parametrize("lang", PATHS)
def test_hostile_shapes_cost_what_others_cost(lang: str) -> None:
    path, head = PATHS[lang], HEADS.get(lang, "")
    plain = PLAIN.get(lang, "f(a, b);\n")
    seconds(lang, path, head + plain)  # grammar and queries are loaded
    usual = seconds(lang, path, head + plain * (SIZE // len(plain)))
    dear = {}
    for name, text in shapes(lang):
        took = seconds(lang, path, head + text + "\n")
        if took > TIMES * max(usual, 0.03) and (lang, name) not in OWN_PARSER:
            dear[name] = round(took / max(usual, 0.03), 1)
    assert dear == {}
