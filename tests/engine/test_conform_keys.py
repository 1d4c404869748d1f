"""YAML, TOML and JSON: which keys are symbols, where they end, what moves their anchors. Expected by the rules of each language."""

from __future__ import annotations

import pytest
from conform import anchor, defined, facts, links, span

from mog.engine.code.languages.keys import MOST

YAML = {
    "one": ("a: 1\n", "a"),
    "nested": ("a:\n  b:\n    c: 1\n", "a a.b a.b.c"),
    "no fourth level": ("a:\n  b:\n    c:\n      d: 1\n  e: 2\n", "a a.b a.b.c a.e"),
    "siblings after nesting": ("a:\n  b: 1\nc: 2\n", "a a.b c"),
    "quoted keys": ("\"a b\": 1\n'c': 2\n", "a b c"),
    "no value": ("a:\nb:\n", "a b"),
    "comments": ("# a: 1\na: 1 # b: 2\n  # c: 3\n", "a"),
    "literal block": ("a: |\n  b: 1\n  c: 2\nd: 1\n", "a d"),
    "folded block with indicators": ("a: >-2\n    b: 1\nd: 1\n", "a d"),
    "block with a blank line": ("a: |\n  b: 1\n\n  c: 2\nd: 1\n", "a d"),
    "double-quoted over lines": ('a: "x\n  b: 1"\nd: 1\n', "a d"),
    "single-quoted over lines": ("a: 'it''s\n  b: 1'\nd: 1\n", "a d"),
    "flow mapping in one line": ("a: {b: 1, c: 2}\nd: 1\n", "a d"),
    "list of mappings": ("a:\n  - b: 1\n    c: 2\nd: 1\n", "a d"),
    "list at the indentation of its key": ("a:\n- b: 1\n  c: 2\nd: 1\n", "a d"),
    "documents": ("a: 1\n---\na: 2\nb: 1\n", "a a#2 b"),
    "end of a document": ("a:\n  b: 1\n...\nc: 1\n", "a a.b c"),
    "anchor and alias": ("a: &x\n  b: 1\nc: *x\n", "a a.b c"),
    "merge key": ("a:\n  <<: *x\n  b: 1\n", "a a.b"),
    "url is no key": ("a: http://x\n- http://y\n", "a"),
    "colon needs a blank": ("a:b\nc: 1\n", "c"),
    "key with dots and slashes": ("app.kubernetes.io/name: x\n", "app.kubernetes.io/name"),
    "key with a blank": ("some key: 1\n", "some key"),
    "windows line ends": ("a:\r\n  b: 1\r\nc: 2\r\n", "a a.b c"),
    "template lines": ("a:\n{{- if .x }}\n  b: 1\n{{- end }}\nc: 1\n", "a a.b c"),
    "tagged block": ("a: !!str |\n  b: 1\nc: 1\n", "a c"),
    "four blanks": ("a:\n    b:\n        c: 1\n", "a a.b a.b.c"),
    "top-level list": ("- a: 1\n  b: 2\n", ""),
    "letters of any script": ("größe: 1\n", "größe"),
    "empty": ("", ""),
}
TOML = {
    "one": ("a = 1\n", "a"),
    "table": ("[a]\nb = 1\n", "a a.b"),
    "dotted table": ("[a.b]\nc = 1\n", "a.b a.b.c"),
    "dotted key": ("[a]\nb.c = 1\n", "a a.b.c"),
    "quoted key": ('"a b" = 1\n', "a b"),
    "literal key": ("'a' = 1\n", "a"),
    "blanks around dots": ("[ a . b ]\nc = 1\n", "a.b a.b.c"),
    "array of tables": ("[[a]]\nb = 1\n[[a]]\nb = 2\n", "a a.b a#2 a#2.b"),
    "inline table": ("a = {b = 1, c = 2}\n", "a"),
    "multi-line string": ('a = """\nb = 1\n"""\nc = 1\n', "a c"),
    "literal multi-line string": ("a = '''\n[b]\n'''\nc = 1\n", "a c"),
    "array over lines": ("a = [\n 1,\n 2,\n]\nb = 1\n", "a b"),
    "comment": ("# a = 1\nb = 1 # c = 2\n", "b"),
    "empty table": ("[a]\n[b]\nc = 1\n", "a b b.c"),
    "keys before tables": ("z = 1\n[a]\nb = 1\n", "z a a.b"),
    "bare digits": ("1234 = 1\n", "1234"),
    "dates": ("a = 1979-05-27T07:32:00Z\n", "a"),
    "sub-table after its table": ("[a]\nx = 1\n[a.b]\ny = 2\n", "a a.x a.b a.b.y"),
    "windows line ends": ("[a]\r\nb = 1\r\n", "a a.b"),
    "no last line end": ("[a]\nb = 1", "a a.b"),
    "empty": ("", ""),
}
JSON = {
    "one": ('{"a": 1}', "a"),
    "nested": ('{"a": {"b": {"c": 1}}}', "a a.b a.b.c"),
    "no fourth level": ('{"a": {"b": {"c": {"d": 1}, "e": 1}}}', "a a.b a.b.c a.b.e"),
    "siblings": ('{"a": {"b": 1}, "c": 2}', "a a.b c"),
    "array of objects": ('{"a": [{"b": 1}], "c": 1}', "a c"),
    "object in an array in an object": ('{"a": {"x": [{"b": 1}], "y": 1}}', "a a.x a.y"),
    "root array": ('[{"a": 1}]', ""),
    "line comment": ('{// "x": 1\n"a": 1}', "a"),
    "block comment": ('{/* "x": 1 */"a": 1}', "a"),
    "trailing comma": ('{"a": 1, "b": {"c": 1,},}', "a b b.c"),
    "escaped quote in a key": ('{"a\\"b": 1}', 'a\\"b'),
    "string that looks like a key": ('{"a": "b", "c": "\\"d\\": 1"}', "a c"),
    "colon on the next line": ('{"a"\n: 1}', "a"),
    "brackets in strings": ('{"a": "}{][", "b": 1}', "a b"),
    "repeated key": ('{"a": 1, "a": 2}', "a a#2"),
    "empty key": ('{"": 1, "a": 1}', "a"),
    "empty object": ('{"a": {}, "b": []}', "a b"),
    "json lines": ('{"a": 1}\n{"b": 1}\n', "a"),
    "null and numbers": ('{"a": null, "b": -1.5e3, "c": true}', "a b c"),
    "unfinished": ('{"a": {"b": 1', "a a.b"),
    "scalar": ("1", ""),
    "empty": ("", ""),
}
CASES = [
    (f"a.{lang}", *case) for lang, cases in (("yaml", YAML), ("toml", TOML), ("json", JSON)) for case in cases.values()
]
NAMES = [f"{lang}: {name}" for lang, cases in (("yaml", YAML), ("toml", TOML), ("json", JSON)) for name in cases]


@pytest.mark.parametrize(("path", "source", "expected"), CASES, ids=NAMES)
def test_keys_are_symbols(path: str, source: str, expected: str) -> None:
    assert defined(path, source, "config_key") == expected


@pytest.mark.parametrize(
    ("path", "source", "qual", "expected"),
    [
        ("a.yaml", "a:\n  b: 1\n\n# c\nd: 1\n", "a", "a:\n  b: 1"),
        ("a.yaml", "a: |\n  x\n  y\nd: 1\n", "a", "a: |\n  x\n  y"),
        ("a.yaml", "a:\n- b\n- c\nd: 1\n", "a", "a:\n- b\n- c"),
        ("a.toml", "[a]\nb = 1\n\n# of c\n[c]\nd = 1\n", "a", "[a]\nb = 1"),
        ("a.json", '{"a": [1, 2], "b": 1}', "a", '"a": [1, 2]'),
        ("a.json", '{"a": {"b": 1}\n , "c": 1\n}', "a", '"a": {"b": 1}'),
    ],
)
def test_a_key_ends_where_its_value_does(path: str, source: str, qual: str, expected: str) -> None:
    assert span(path, source, qual) == expected


SAME = [
    ("a.yaml", "a:\n  b: 1\n  c:\n    - x\n", "a:\n    b: 1   # why\n\n    # what\n    c:\n        - x\n"),
    ("a.yaml", "a: |\n  # kept\n  x\n", "a: |\n    # kept\n    x\n"),
    ("a.yaml", "z: 1\na:\n  b: 1\n", "a:\n  b: 1\nz: 2\n"),
    ("a.toml", "[a]\nb = 1\nc = [1, 2]\n", "[a]\n# what\nb   =   1 # why\nc = [ 1,\n 2 ]\n"),
    ("a.json", '{"a": {"b": [1, 2]}}', '{\n // why\n "a" : {\n  "b": [\n 1,\n 2,\n ],\n }\n}'),
]
OTHER = [
    ("a.yaml", "a:\n  b: 1\n", "a:\n  b: 2\n"),
    ("a.yaml", "a:\n  b:\n    c: 1\n", "a:\n  b:\n  c: 1\n"),
    ("a.yaml", "a: |\n  x\n  y\n", "a: |\n  x\n   y\n"),
    ("a.yaml", "a: |\n  # x\n", "a: |\n  # y\n"),
    ("a.yaml", "a: 'x # 1'\n", "a: 'x # 2'\n"),
    ("a.yaml", "a:\n- x\n- y\n", "a:\n- y\n- x\n"),
    ("a.yaml", "a:\n{{ if x }}\n  b: 1\n", "a:\n{{ if x }}\n  b: 2\n"),
    ("a.toml", "a = 1\n", "a = '1'\n"),
    ("a.json", '{"a": "1 "}', '{"a": "1"}'),
    ("a.json", '{"a": "// x"}', '{"a": "// y"}'),
    ("a.json", '{"a": [1, [2]]}', '{"a": [1, 2]}'),
]


@pytest.mark.parametrize(("path", "before", "after"), SAME)
def test_layout_and_comments_move_no_anchor(path: str, before: str, after: str) -> None:
    assert anchor(path, before, "a") == anchor(path, after, "a")


@pytest.mark.parametrize(("path", "before", "after"), OTHER)
def test_every_other_edit_moves_the_anchor(path: str, before: str, after: str) -> None:
    assert anchor(path, before, "a") != anchor(path, after, "a")


def test_a_file_with_many_keys_is_known_by_its_upper_levels() -> None:
    many = "\n".join(f"a{n}:\n  b:\n    c: 1" for n in range(40))
    assert {qual.count(".") for qual in defined("a.yaml", many).split()} == {0}
    few = "\n".join(f"a{n}:\n  b:\n    c: 1" for n in range(5))
    assert {qual.count(".") for qual in defined("a.yaml", few).split()} == {0, 1, 2}


def test_keys_beyond_the_limit_are_left_out_and_that_is_said() -> None:
    found = facts("a.json", "{" + ",".join(f'"k{n}": {n}' for n in range(MOST + 5)) + "}")
    assert len(found["syms"]) == MOST
    assert [reason for reason, _ in found["problems"]] == ["keys_capped"]


def test_no_value_stands_in_the_facts() -> None:
    for path, source in (("a.yaml", "a: hidden\n"), ("a.toml", "a = 'hidden'\n"), ("a.json", '{"a": "hidden"}')):
        assert "hidden" not in repr(facts(path, source))


@pytest.mark.parametrize("path", ["a.yaml", "a.toml", "a.json"])
@pytest.mark.parametrize(
    "data",
    [b"{" * 100_000, b'{"a":' * 50_000, b"[" * 100_000, b"a:\n" + b" " * 100_000 + b"b: 1", b"\xff\xfe: 1\n\xc3(: 2", b"a\x00b: 1",
     b'"' * 99_999, b"a: '" * 20_000, b"a: |\n" * 20_000, b"- " * 50_000, b"a." * 50_000 + b" = 1"],
    ids=str,
)  # fmt: skip
def test_hostile_input_is_survived(path: str, data: bytes) -> None:
    assert len(facts(path, data[:250_000])["syms"]) <= MOST


STARTED = {
    "pkg/__init__.py": "from pkg.cli import run\n",
    "pkg/cli.py": "def main(): ...\ndef run(): ...\nclass App: ...\n",
}


class TestPyproject:
    """What a ``pyproject.toml`` starts is linked to the code it starts."""

    @pytest.mark.parametrize(
        ("table", "target", "expected"),
        [
            ("project.scripts", "pkg.cli:main", "pkg/cli.py:main"),
            ("project.gui-scripts", "pkg.cli:App", "pkg/cli.py:App"),
            ("project.entry-points.x", "pkg.cli:App", "pkg/cli.py:App"),
            ("tool.poetry.scripts", "pkg.cli:main", "pkg/cli.py:main"),
            ("project.scripts", "pkg:run", "pkg/cli.py:run"),
            ("project.scripts", "pkg.cli:main [extra]", "pkg/cli.py:main"),
        ],
    )
    def test_of_the_repository(self, table: str, target: str, expected: str) -> None:
        files = STARTED | {"pyproject.toml": f'[{table}]\ncmd = "{target}"\n'}
        assert links(files, "pyproject.toml") == {f"{table}.cmd configures {expected}"}

    @pytest.mark.parametrize("target", ["elsewhere.cli:main", "pkg.cli:gone", "pkg.cli", "not a target"])
    def test_nothing_else(self, target: str) -> None:
        assert (
            links(STARTED | {"pyproject.toml": f'[project.scripts]\ncmd = "{target}"\n'}, "pyproject.toml") == set()
        )

    def test_only_there(self) -> None:
        assert links(STARTED | {"other.toml": '[project.scripts]\ncmd = "pkg.cli:main"\n'}, "other.toml") == set()
