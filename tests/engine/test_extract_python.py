"""Facts of Python files: symbols, imports, chains of calls and references, flow of local names, odd input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mog.engine.code import facts as schema
from mog.engine.code.extract import extract, extractor_version, supported


def facts(text: str | bytes, path: str = "pkg/mod.py") -> dict[str, Any]:
    return extract("python", text.encode() if isinstance(text, str) else text, path)


def syms(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row[schema.QUAL], row[schema.KIND]) for row in found["syms"]]


def calls(found: dict[str, Any]) -> dict[str, list[str]]:
    """Qualified name of the scope → chains called there."""
    rows = found["syms"]
    return {rows[at][schema.QUAL] if at >= 0 else "": held.split(" ") for at, held in found["calls"]}


def meta(found: dict[str, Any], qual: str) -> dict[str, Any]:
    return next(row[schema.META] for row in found["syms"] if row[schema.QUAL] == qual)


def in_f(body: str, parameters: str = "") -> list[str]:
    """Chains called in a function with that body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return calls(facts(f"def f({parameters}):\n{lines}")).get("f", [])


# ── symbols ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_symbols_in_source_order_parents_first() -> None:
    """Classes, methods, nested functions, constants and fields, each with its parent before it."""
    found = facts("LIMIT = 1\nclass A(B):\n    x: int = 2\n    def m(self):\n        def inner(): pass\nasync def g(): pass\n")
    assert syms(found) == [
        ("LIMIT", "const"), ("A", "class"), ("A.x", "field"), ("A.m", "method"), ("A.m.inner", "function"), ("g", "function"),
    ]  # fmt: skip
    assert [row[schema.PARENT] for row in found["syms"]] == [-1, -1, 1, 1, 3, -1]


def test_lines_are_of_the_def_and_the_full_span_starts_at_the_decorator() -> None:
    """``line`` is the ``def`` line; the full span takes the decorators in."""
    found = facts("\n@deco\n@more(1)\ndef f(a,\n      b):\n    return 1\n")
    row = found["syms"][0]
    assert (row[schema.LINE], row[schema.END], row[schema.FULL], row[schema.START]) == (4, 6, 1, 16)
    assert meta(found, "f")["d"] == "deco more()"


def test_signature_and_documentation_are_one_line() -> None:
    """The whole signature with its comments gone, and the first paragraph of the docstring."""
    found = facts('def f(a,  # first\n      b=1) -> int:\n    """Sum\n    of two.\n\n    More.\n    """\n')
    assert found["syms"][0][schema.SIG] == "def f(a, b=1) -> int"
    assert found["syms"][0][schema.DOC] == "Sum of two."


def test_quals_are_unique() -> None:
    """A property's parts get roles, other repetitions ordinals, and what is inside follows."""
    found = facts(
        "class A:\n    @property\n    def x(self): pass\n    @x.setter\n    def x(self, v): pass\n"
        "if c:\n    def f(): pass\nelse:\n    def f():\n        def g(): pass\n"
    )
    assert [qual for qual, _ in syms(found)] == ["A", "A.x", "A.x@setter", "f", "f#2", "f#2.g"]


def test_tests_are_those_of_test_files() -> None:
    """``test_*`` is a test in a test file, a function elsewhere."""
    text = "def test_a(): pass\nclass T:\n    def test_b(self): pass\n    def helper(self): pass\n"
    assert [kind for _, kind in syms(facts(text, "tests/test_x.py"))] == ["test", "class", "test", "method"]
    assert [kind for _, kind in syms(facts(text, "pkg/test/client.py"))] == ["function", "class", "method", "method"]


def test_flags() -> None:
    """Flags come from decorators and bodies."""
    found = facts(
        "class A:\n    @staticmethod\n    def s(): pass\n    @classmethod\n    def c(cls): pass\n"
        "    @cached_property\n    def p(self): pass\n    def n(self):\n        'Doc.'\n        raise NotImplementedError('no')\n"
        "    if TYPE_CHECKING:\n        def t(self): pass\n"
    )
    assert [meta(found, f"A.{n}")["x"] for n in "scpnt"] == [["static"], ["class"], ["property"], ["abstract"], ["typing"]]


def test_gated_symbols_keep_their_name_only() -> None:
    """A symbol that touches a gated span loses signature, doc, offsets and hashes; its neighbour keeps them."""
    data = b"def a(x='k'):\n    'doc'\ndef b(): pass\n"
    found = extract("python", data, "a.py", [(8, 11)])
    gated, free = found["syms"]
    assert gated[schema.NAME] == "a" and gated[schema.META]["g"] == 1
    assert (gated[schema.SIG], gated[schema.DOC], gated[schema.SPAN], gated[schema.STOP]) == ("", "", "", 0)
    assert free[schema.SIG] == "def b()" and len(free[schema.SPAN]) == 32


def test_trim_leaves_what_links_need() -> None:
    """Text and hashes go, names and meta stay."""
    found = facts("def f(a):\n    'Doc.'\n    return A()\n")
    schema.trim(found)
    row = found["syms"][0]
    assert (row[schema.SIG], row[schema.DOC], row[schema.SPAN]) == ("", "", "")
    assert (row[schema.QUAL], row[schema.META]["r"]) == ("f", "A()")


# ── imports ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("text", "entry"), [
    ("import a.b.c", ["a", "a.b.c", "", "f"]),
    ("import a.b as x", ["x", "a.b", "", ""]),
    ("from .m import f as g", ["g", ".m", "f", ""]),
    ("from . import (  # why\n    c,\n)", ["c", ".", "c", ""]),
    ("from x import *", ["*", "x", "*", "s"]),
    ("if TYPE_CHECKING:\n    from x import y", ["y", "x", "y", "t"]),
])  # fmt: skip
def test_imports(text: str, entry: list[str]) -> None:
    """Scope, local name, module, attribute, flags."""
    assert facts(text)["imports"] == [[-1, *entry]]


def test_all_is_kept_only_when_it_is_written_out() -> None:
    """A list that is computed says nothing certain about what is exported."""
    assert facts("__all__ = ['a',\n  # note\n  \"b\"]\n")["all"] == ["a", "b"]
    assert facts("__all__ = ['a'] + other.__all__\n")["all"] is None


# ── calls and local names ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("body", "chain"), [
    ("self.a.b(1)", ["self.a.b"]),
    ("Foo(x).save()", ["Foo().save", "Foo"]),
    ("''.join(x)", ["#str.join"]),
    ("await x.y()", ["x.y"]),
    ("a[0].run()", ["a[].run"]),
    ("(a or b).run()", ["a.run|b.run"]),
    ("(Foo() if c else Bar()).run()", ["Foo().run|Bar().run", "Foo", "Bar"]),
    ("super().__init__()", ["super().__init__", "super"]),
    ("type(self)(1)", ["self.__class__", "type"]),
    ("copy.copy(thing).run()", ["thing.run", "copy.copy"]),
    ("[p.run() for p in make()]", ["make", "make(){}.run"]),
    ("größe.ändern()", ["größe.ändern"]),
])  # fmt: skip
def test_chains(body: str, chain: list[str]) -> None:
    """How call sites are spelled; what is called first comes first."""
    assert sorted(calls(facts(body + "\n"))[""]) == sorted(chain)


def test_local_names_are_replaced_by_where_they_come_from() -> None:
    """A local is what it was assigned; a parameter without annotation is unknown and keeps its name."""
    assert in_f("x = Foo()\nx.save()") == ["Foo", "Foo().save"]
    assert in_f("a.save()\na()", "a") == ["?a.save", "?a"]
    assert in_f("a.save()", "a: Foo | None = None") == ["Foo().save"]
    assert in_f("a[0].save()", "a: list[Foo]") == ["Foo()*[].save"]
    assert in_f("g = Foo().run\ng()") == ["Foo", "g=Foo().run"]


def test_flow_joins_what_may_not_have_run() -> None:
    """Branches add alternatives; a branch that leaves does not; a later assignment replaces."""
    assert in_f("if c:\n    x = A()\nelse:\n    x = B()\nx.m()")[-1] == "A().m|B().m"
    assert in_f("x = A()\nif c:\n    x = B()\n    return\nx.m()")[-1] == "A().m"
    assert in_f("x = A()\nx = B()\nx.m()")[-1] == "B().m"
    assert in_f("with open() as h:\n    h.m()")[-1] == "open().__enter__().m"
    assert in_f("for x in ys:\n    x.m()") == ["ys{}.m"]
    assert in_f("if isinstance(a, (A, B)):\n    a.m()\na.n()", "a")[-2:] == ["A().m|B().m", "?a.n"]


def test_self_is_what_the_first_parameter_is_called() -> None:
    """However it is written, inside nested functions too, but not inside another class."""
    found = facts(
        "class A:\n    def m(this):\n        this.x()\n        def inner():\n            this.y()\n"
        "        class B:\n            def n(b):\n                this.z()\n    @classmethod\n    def c(k):\n        k.w()\n"
    )
    assert calls(found) == {"A.m": ["self.x"], "A.m.inner": ["self.y"], "A.m.B.n": ["?.z"], "A.c": ["cls.w"]}


def test_attribute_types_of_classes() -> None:
    """Class bodies and assignments to self, better answers before unknown ones."""
    found = facts(
        "class A:\n    x = None\n    def m(self, y: Y, z):\n"
        "        self.x = Foo()\n        self.y = y\n        self.z = z\n"
    )
    assert meta(found, "A")["a"] == {"x": "Foo()", "y": "Y()", "z": "?"}


def test_return_values() -> None:
    """An annotation stands for an instance; without one the returned chains; generators say what they yield."""
    found = facts("def a() -> 'Foo': pass\ndef b():\n    if c: return A()\n    return None\ndef g():\n    yield A()\n")
    assert [meta(found, n).get(k) for n, k in (("a", "r"), ("b", "r"), ("g", "y"))] == ["Foo()", "A()", "A()"]


def test_references_are_names_the_file_knows_used_as_values() -> None:
    """Call arguments, defaults, containers and decorators; names that are nothing of the file's are left out."""
    found = facts("from m import a, b\ndef c(x=a): pass\n@b\ndef d(p): run(c, p, unknown)\n[a, {1: b}]\n")
    rows = found["syms"]
    refs = {rows[at][schema.NAME] if at >= 0 else "": held.split(" ") for at, held in found["refs"]}
    assert (refs[""] == ["a", "b"] and "b" in refs["d"]) or refs["d"] == ["c"]
    assert sorted(chain for _, held in found["refs"] for chain in held.split(" ")) == ["a", "b", "b", "c"]


# ── odd input ─────────────────────────────────────────────────────────────────────────────────────────────────────────

ODD = {
    "5,000 nested brackets": b"x = " + b"[" * 5000 + b"1" + b"]" * 5000,
    "5,000 nested calls": b"f(" * 5000 + b")" * 5000,
    "3,000-term sum": b"x = " + b" + ".join(b"a%d" % i for i in range(3000)),
    "long method chain": b"x" + b".a()" * 5000,
    "nested functions": b"".join(b" " * i + b"def f%d():\n" % i for i in range(400)) + b" " * 400 + b"pass\n",
    "nested annotation": b"def f(a: " + b"list[" * 500 + b"int" + b"]" * 500 + b"): pass\n",
    "cut off": b"def f(:\n  class\n x = ((((\n",
    "no body": b"def f():",
    "not UTF-8": b"def f(\xe9): x.\xe9()\n'\xff'\n",
    "NUL": b"\x00def f(): pass\n",
    "byte order mark": b"\xef\xbb\xbfdef f(): pass\n",
    "carriage returns": b"def f():\r    g()\r",
    "Python 2": b"print 'a'\nexec 'x'\n",
    "empty": b"",
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD.keys())
def test_odd_input_gives_facts(data: bytes) -> None:
    """No exception, no recursion limit; facts are JSON and the same again."""
    found = facts(data)
    assert json.loads(json.dumps(found)) == found == facts(data)
    assert all(len(chain) <= 400 for _, held in found["calls"] for chain in held.split(" "))


def test_what_lies_too_deep_is_left_out_and_said() -> None:
    """Everything above is found, the file says that something is missing, and brackets without depth say nothing."""
    deep = facts(b"import a\nrun(a)\nx = " + b"[" * 2000 + b"f(a)" + b"]" * 2000 + b"\n")
    assert deep["problems"] == [["deep_nesting", 0]] and calls(deep)[""] == ["run"] and deep["refs"] == [[-1, "a"]]
    flat = facts("import a\nrun(a)\n" + "f(1)\n" * 5000)
    assert flat["refs"] == [[-1, "a"]] and not flat["problems"]


def test_broken_files_say_so() -> None:
    """A file that does not parse keeps what could be read and has a problem."""
    found = facts("def ok(): pass\ndef f(:\n")
    assert ("ok", "function") in syms(found) and found["problems"] == [["syntax_error", 0]]
    assert extract("klingon", b"", "a.kl")["problems"] == [["unsupported_grammar", 0]]


def test_the_version_names_extractor_and_grammar() -> None:
    """The key of facts changes with the grammar; a language without one is said not to be supported."""
    assert supported("python") and not supported("klingon")
    assert extractor_version("python").count(".") >= 2 and extractor_version("python") != extractor_version("tsx")


def test_a_wrapped_signature_reads_as_if_it_had_never_been_wrapped() -> None:
    """Parameters close up, the trailing comma goes, nothing else does."""
    wrapped = b"def save(\n    self,\n    *args,\n    using=(\n        1,\n    ),\n) -> None:\n    pass\n"
    assert extract("python", wrapped, "a.py")["syms"][0][11] == "def save(self, *args, using=(1,)) -> None"
