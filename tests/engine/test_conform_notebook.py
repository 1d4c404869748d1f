"""Notebooks: code cells as one module at the lines of the file, magics, anchors that outputs cannot move."""

from __future__ import annotations

import json

import pytest
from conform import anchor, defined, facts, links, row

from mog.engine.code import extract
from mog.engine.code import facts as schema


def cell(source: str, outputs: object = None, kind: str = "code", count: int | None = None) -> dict[str, object]:
    made: dict[str, object] = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    return made | {"execution_count": count, "outputs": outputs or []} if kind == "code" else made


def book(*cells: dict[str, object] | str, language: str = "python", indent: int | None = 1) -> str:
    held = [cell(one) if isinstance(one, str) else one for one in cells]
    meta = {"kernelspec": {"language": language}, "language_info": {"name": language}}
    return json.dumps({"cells": held, "metadata": meta, "nbformat": 4, "nbformat_minor": 5}, indent=indent) + "\n"


F = "def f(x):\n    return x\n"
DEFINED = {
    "function": ((F,), "f"),
    "two cells": ((F, "class A:\n    def m(self): ...\n"), "f A A.m"),
    "markdown between": ((F, cell("# def no(): ...\n", kind="markdown"), "g = 1\n"), "f g"),
    "raw cell": ((cell("def no(): ...\n", kind="raw"), F), "f"),
    "line magic": (("%matplotlib inline\n" + F,), "f"),
    "shell line": (("!pip install x\n" + F,), "f"),
    "help": (("f?\n??g\n" + F,), "f"),
    "magic in a block": (("def f(x):\n    %time g(x)\n    !ls\n    return x\n",), "f"),
    "assigned from the shell": (("x = !ls -la 'it'\n",), "x"),
    "assigned from a magic": (("x = %sql SELECT 1\n",), "x"),
    "modulo goes on": (("x = (1\n  % 2)\n" + F,), "x f"),
    "template in a string": (("s = '''\n%d is\n! no\n'''\n" + F,), "s f"),
    "cell in another language": (("%%bash\ndef no(): {\n", F), "f"),
    "cell of HTML": (("%%html\n<b>\n", F), "f"),
    "timed cell": (("%%time\n" + F,), "f"),
    "captured cell": (("%%capture out\n" + F,), "f"),
    "blank before the magic": (("\n%%bash\nls\n", F), "f"),
    "redefined": ((F, F), "f f#2"),
    "top-level await": (("x = await g()\n",), "x"),
    "letters of any script": (("größe = 'ü'\n",), "größe"),
    "quotes and backslashes": (('s = "a\\"\\n"\n' + F,), "s f"),
    "empty cell": (("", F), "f"),
    "outputs are no code": ((cell(F, [{"text": ["def no(): ...\n"], "data": {"source": ["def no2(): ...\n"]}}]),), "f"),
    "no cells": ((), ""),
}  # fmt: skip


@pytest.mark.parametrize(("cells", "expected"), DEFINED.values(), ids=DEFINED)
def test_code_cells_are_one_module(cells: tuple[dict[str, object] | str, ...], expected: str) -> None:
    source = book(*cells)
    assert defined("n.ipynb", source) == expected
    assert [reason for reason, _ in facts("n.ipynb", source)["problems"]] == ([] if cells else ["no_cells"])


def test_a_symbol_stands_at_its_line_of_the_file_and_says_its_cell() -> None:
    source = book(cell("# text\n", kind="markdown"), "import os\n\ndef f(x):\n    '''What it does.'''\n    return x\n")
    held = row(facts("n.ipynb", source), "f")
    lines = source.splitlines()
    assert "def f(x)" in lines[held[schema.LINE] - 1]  # type: ignore[operator]
    assert "return x" in lines[held[schema.END] - 1]  # type: ignore[operator]
    assert held[schema.DOC] == "[cell 2] What it does."


def test_spans_are_whole_lines_of_the_file_and_are_shown_as_code() -> None:
    source = book("x = 1\n", 'def f(x):\n    return "ü"\n').encode()
    held = row(facts("n.ipynb", source), "f")
    language, shown = extract.shown("notebook", source)
    assert (language, len(shown), shown.count(b"\n")) == ("python", len(source), source.count(b"\n"))
    text = shown[held[schema.FULL] : held[schema.STOP]].decode()  # type: ignore[misc]
    assert [line.rstrip() for line in text.split("\n")] == ["def f(x):", '    return "ü"']


def test_calls_and_imports_are_linked_as_in_a_module() -> None:
    files = {
        "nb/n.ipynb": book("from util import load\n", "def f():\n    return load(1)\n", "f()\n"),
        "nb/util.py": "def load(x): ...\n",
    }
    assert links(files, "nb/n.ipynb", "calls", "imports") == {
        "- imports nb/util.py", "f calls nb/util.py:load", "- calls f"}  # fmt: skip


def test_a_timed_expression_is_still_a_call() -> None:
    assert links({"n.ipynb": book(F, "%timeit f(1)\n%time f(2)\n")}, "n.ipynb", "calls") == {"- calls f"}


@pytest.mark.parametrize(
    "after",
    [
        book(cell(F, [{"text": ["1\n"], "output_type": "stream"}], count=7)),
        book(F, indent=2),
        book(F, "x = 1\n"),
        book(cell("words\n", kind="markdown"), F),
    ],
    ids=["outputs and counters", "layout of the JSON", "a cell below", "a cell above"],
)
def test_what_is_no_code_moves_no_anchor(after: str) -> None:
    assert anchor("n.ipynb", book(F), "f") == anchor("n.ipynb", after, "f")


@pytest.mark.parametrize(
    ("before", "after"),
    [(F, "def f(x):\n    return x + 1\n"), ("def f():\n    %time g(1)\n", "def f():\n    %time g(2)\n"),
     ("def f():\n    !ls\n", "def f():\n    !ls -l\n"), ("def f():\n    s = '''\n%a\n'''\n", "def f():\n    s = '''\n%b\n'''\n")],
)  # fmt: skip
def test_every_edit_of_the_code_moves_the_anchor(before: str, after: str) -> None:
    assert anchor("n.ipynb", book(before), "f") != anchor("n.ipynb", book(after), "f")


def test_a_cell_whose_lines_share_a_line_is_left_out_and_said() -> None:
    one = {"cell_type": "code", "source": F}
    found = facts("n.ipynb", book(one, "x = 1\n"))
    assert [held[schema.QUAL] for held in found["syms"]] == ["x"]
    assert [reason for reason, _ in found["problems"]] == ["cell_in_one_line"]


def test_a_notebook_of_another_language_says_so() -> None:
    assert [reason for reason, _ in facts("n.ipynb", book("f <- function(x) x\n", language="R"))["problems"]] == [
        "kernel_of_another_language: r"
    ]


def test_it_is_found_by_its_cells_and_not_by_what_they_printed() -> None:
    source = book(cell("prose here\n", kind="markdown"), cell(F, [{"text": ["printed\n"]}]))
    words = extract.words_of("notebook", source.encode()).decode()
    assert "prose here" in words and "def f" in words and "printed" not in words


@pytest.mark.parametrize(
    "data",
    [b"{" * 100_000, b'{"cells": [' + b'{"source": ["' * 20_000, b'"' * 99_999, b'{"cells": [{"source": [1, {"a": ["x"]}]}]}', b"\xff\xfe\x00",
     b'{"cells": [{"cell_type": "code", "source": ["\\ud800 \xff\\u0000\\n"]}]}', b'{"cells":' * 20_000, b"]" * 50_000, b"not json"],
    ids=lambda data: str(data[:14]),
)  # fmt: skip
def test_hostile_input_is_survived(data: bytes) -> None:
    assert facts("n.ipynb", data)["lang"] == "python"
    assert len(extract.shown("notebook", data)[1]) == len(data)
