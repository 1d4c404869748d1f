"""Shell scripts: functions, settings, calls, sourced files, anchors. Expected by the rules of POSIX sh and bash."""

from __future__ import annotations

import pytest
from conform import anchor, defined, facts, links, row

from mog.engine.code import facts as schema

DEFINED = {
    "posix": ("f() { :; }\n", "f"),
    "keyword": ("function f { :; }\n", "f"),
    "keyword with brackets": ("function f() { :; }\n", "f"),
    "subshell body": ("f() ( cd x )\n", "f"),
    "body on the next line": ("f()\n{\n  :\n}\n", "f"),
    "dashes and dots": ("my-fn.x() { :; }\n", "my-fn.x"),
    "namespaced": ("ns::f() { :; }\n", "ns::f"),
    "nested": ("f() { g() { :; }; }\n", "f f.g"),
    "twice": ("f() { :; }\nf() { :; }\n", "f f#2"),
    "in a condition": ("if true; then f() { :; }; fi\n", "f"),
    "exported": ("export A=1\n", "A"),
    "exported twice": ("export A=1\nexport A=2\n", "A"),
    "several exported": ("export A=1 B=2\n", "A B"),
    "read only": ("readonly A=1\n", "A"),
    "declared": ("declare -x A=1\n", "A"),
    "plain variable": ("A=1\n", ""),
    "exported in a function": ("f() { export A=1; }\n", "f"),
    "local": ("f() { local a=1; }\n", "f"),
    "in a string": ("echo 'f() { :; }'\n", ""),
    "in a comment": ("# f() { :; }\n", ""),
    "in a here document": ("cat <<EOF\nf() { :; }\nEOF\n", ""),
    "empty": ("", ""),
}
LINKS = {
    "call": ({"a.sh": "f() { :; }\nf\n"}, {"- calls f"}),
    "call before the definition": ({"a.sh": "main() { f; }\nf() { :; }\nmain\n"}, {"main calls f", "- calls main"}),
    "recursion": ({"a.sh": "f() { f; }\n"}, {"f calls f"}),
    "last definition": ({"a.sh": "f() { :; }\nf() { :; }\nf\n"}, {"- calls f#2"}),
    "in a pipe": ({"a.sh": "f() { :; }\ng() { :; }\nf | g\n"}, {"- calls f", "- calls g"}),
    "in a substitution": ({"a.sh": "f() { :; }\nx=$(f 1)\ny=`f`\n"}, {"- calls f"}),
    "in a condition": ({"a.sh": "f() { :; }\nif f; then :; fi\n"}, {"- calls f"}),
    "by trap": ({"a.sh": "f() { :; }\ntrap f EXIT\n"}, {"- calls f"}),
    "as an argument is no call": ({"a.sh": "f() { :; }\necho f\n"}, set()),
    "program": ({"a.sh": "git status\n"}, set()),
    "builtin": ({"a.sh": "cd() { :; }\ncd x\n"}, set()),
    "dynamic": ({"a.sh": "$CMD x\n\"$RUN\" y\n"}, {"- calls !receiver:$CMD", "- calls !receiver:$RUN"}),
    "sourced": (
        {"a.sh": ". ./lib.sh\nf\n", "lib.sh": "f() { :; }\n"}, {"- imports lib.sh", "- calls lib.sh:f"}),
    "sourced by name": (
        {"a.sh": "source lib.sh\n_f\n", "lib.sh": "_f() { :; }\n"}, {"- imports lib.sh", "- calls lib.sh:_f"}),
    "sourced from the folder of the script": (
        {"bin/a.sh": 'source "$(dirname "$0")/lib.sh"\nf\n', "bin/lib.sh": "f() { :; }\n"}, {"- imports bin/lib.sh", "- calls bin/lib.sh:f"}),
    "sourced by a variable": (
        {"bin/a.sh": '. "${HERE}/../lib/l.sh"\nf\n', "lib/l.sh": "f() { :; }\n"}, {"- imports lib/l.sh", "- calls lib/l.sh:f"}),
    "sourced from the root": (
        {"x/y/a.sh": "source lib/l.sh\nf\n", "lib/l.sh": "f() { :; }\n"}, {"- imports lib/l.sh", "- calls lib/l.sh:f"}),
    "sourced by what is sourced": (
        {"a.sh": ". ./b.sh\nf\n", "b.sh": ". ./c.sh\n", "c.sh": "f() { :; }\n"}, {"- imports b.sh", "- calls c.sh:f"}),
    "sources each other": (
        {"a.sh": ". ./b.sh\nf\n", "b.sh": ". ./a.sh\nf() { :; }\n"}, {"- imports b.sh", "- calls b.sh:f"}),
    "own before sourced": (
        {"a.sh": ". ./b.sh\nf() { :; }\nf\n", "b.sh": "f() { :; }\n"}, {"- imports b.sh", "- calls f"}),
    "sourced from outside": ({"a.sh": ". /etc/profile\n"}, {"- imports !external:/etc/profile"}),
    "sourced, nobody knows what": ({"a.sh": '. "$X"\n'}, set()),
    "not sourced": ({"a.sh": "f\n", "b.sh": "f() { :; }\n"}, set()),
    "no script": ({"a.sh": ". ./b.py\n", "b.py": "def f(): ...\n"}, {"- imports !external:./b.py"}),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), DEFINED.values(), ids=DEFINED)
def test_functions_and_settings_are_symbols(source: str, expected: str) -> None:
    assert defined("a.sh", source) == expected


@pytest.mark.parametrize(("files", "expected"), LINKS.values(), ids=LINKS)
def test_links(files: dict[str, str], expected: set[str]) -> None:
    assert links(files, next(iter(files)), "calls", "imports") == expected


def test_a_script_without_an_extension_is_known_by_its_first_line() -> None:
    assert defined("bin/tool", "#!/usr/bin/env bash\nf() { :; }\n") == "f"


def test_the_comment_above_a_function_says_what_it_does() -> None:
    found = facts("a.sh", "#!/bin/sh\n# Says hello.\n# To all.\nf() { :; }\n\n# apart\n\ng() { :; }\n")
    assert [row(found, name)[schema.DOC] for name in ("f", "g")] == ["Says hello.", ""]


@pytest.mark.parametrize(
    ("before", "after"),
    [("f() { a; b; }\n", "f() {\n  # why\n  a\n  b\n}\n"), ("f() {\n  a\n}\n", "x=1\nf() {\n\ta\n}\n")],
)
def test_layout_and_comments_move_no_anchor(before: str, after: str) -> None:
    assert anchor("a.sh", before, "f") == anchor("a.sh", after, "f")


@pytest.mark.parametrize(
    ("before", "after"),
    [("f() { a 1; }", "f() { a 2; }"), ("f() { a 'x y'; }", "f() { a 'x  y'; }"), ("f() { a && b; }", "f() { a || b; }"),
     ('f() { a "$x"; }', "f() { a $x; }")],
)  # fmt: skip
def test_every_other_edit_moves_the_anchor(before: str, after: str) -> None:
    assert anchor("a.sh", before, "f") != anchor("a.sh", after, "f")


@pytest.mark.parametrize(
    "data",
    [b"f() { " * 20_000, b"$(" * 6_000, b"'" * 99_999, b"\xff\xfe() { :; }\n" * 1000, b"a\x00b() { :; }\n", b"source $" * 20_000,
     b"cat <<EOF\n" * 10_000, b"f() { :; }\n" * 3_000, b"if " * 6_000],
    ids=lambda data: str(data[:14]),
)  # fmt: skip
def test_hostile_input_is_survived(data: bytes) -> None:
    assert facts("a.sh", data)["lang"] == "bash"
