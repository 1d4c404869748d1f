"""Relinking only the files whose recorded reads are dirty gives what linking everything from scratch gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mog.engine.code.extract import extract
from mog.engine.code.facts import QUAL
from mog.engine.code.link import Linker, Links, MemoryView, read_key, surface

PATHS = ("a.py", "b.py", "p/__init__.py", "p/c.py", "p/d.py", "p/q/__init__.py", "s/e.py", "tests/test_a.py", "datetime.py")
MODULES = ("a", "b", "p", "p.c", "p.d", "p.q", "e", "s.e", ".", ".c", ".d", "..", "datetime", "missing")
FUNCTIONS, CLASSES, METHODS, FIELDS = ("f", "g"), ("A", "B", "C"), ("m", "n", "get"), ("x", "y")
names = st.sampled_from(FUNCTIONS + CLASSES)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """A value: names, calls, attributes of self, chains of them."""
    base = draw(st.sampled_from([*FUNCTIONS, *CLASSES, "self", "self", "super()", "x", "c", "d", "p", "unknown"]))
    for _ in range(draw(st.integers(0, depth))):
        step = draw(st.sampled_from(["()", *(f".{m}()" for m in METHODS), *(f".{f}" for f in FIELDS), ".A()", ".f()", ".c"]))
        base += step
    return base


@st.composite
def bodies(draw: st.DrawFn) -> list[str]:
    lines = draw(st.lists(st.one_of(
        expressions().map(lambda e: f"{e}.m()"),
        expressions().map(lambda e: f"x = {e}"),
        expressions().map(lambda e: f"self.x = {e}"),
        expressions().map(lambda e: f"return {e}"),
        names.map(lambda n: f"run({n})"),
        st.just("raise NotImplementedError"),
    ), min_size=1, max_size=3))  # fmt: skip
    return lines


@st.composite
def functions(draw: st.DrawFn, of: tuple[str, ...], parameter: str) -> list[str]:
    mark = draw(st.sampled_from(["", "", "@property", "@staticmethod"])) if parameter else ""
    head = f"def {draw(st.sampled_from(of))}({parameter}):"
    return ([mark] if mark else []) + [head, *(f"    {line}" for line in draw(bodies()))]


@st.composite
def classes(draw: st.DrawFn) -> list[str]:
    bases = draw(st.lists(st.sampled_from([*CLASSES, "c.A", "p.B", "dict", "missing.X"]), max_size=2, unique=True))
    lines = [f"class {draw(st.sampled_from(CLASSES))}({', '.join(bases)}):", "    y = 1"]
    if draw(st.booleans()):
        lines.append(f"    x = {draw(expressions(1))}")
    for part in draw(st.lists(functions(METHODS, "self"), max_size=3)):
        lines += [f"    {line}" for line in part]
    return lines


imports = st.one_of(
    st.builds(lambda m, n: [f"from {m} import {n}"], st.sampled_from(MODULES), names),
    st.builds(lambda m, n, a: [f"from {m} import {n} as {a}"], st.sampled_from(MODULES), names, names),
    st.builds(lambda m: [f"from {m} import *"], st.sampled_from(MODULES)),
    st.builds(lambda m, n: [f"from {m} import {n}"], st.sampled_from((".", "..", "p")), st.sampled_from(("c", "d", "q"))),
    st.builds(lambda m: [f"import {m}"], st.sampled_from([m for m in MODULES if m[0] != "."])),
)
blocks = st.one_of(imports, imports, functions(FUNCTIONS, ""), classes(), classes(),
                   st.builds(lambda n, e: [f"{n} = {e}"], names, expressions()),
                   st.builds(lambda n: [f"__all__ = ['{n}']"], names))  # fmt: skip
sources = st.lists(blocks, max_size=6).map(lambda parts: "\n".join(line for part in parts for line in part) + "\n")
projects = st.dictionaries(st.sampled_from(PATHS), sources, min_size=2, max_size=7)
edits = st.lists(st.tuples(st.sampled_from(PATHS), st.one_of(st.none(), sources)), min_size=1, max_size=4)


class Project:
    """Files with their facts and links, kept up to date edit by edit the way an index does it."""

    def __init__(self, sources: dict[str, str]) -> None:
        self.facts = {path: extract("python", text.encode(), path) for path, text in sources.items()}
        self.view = MemoryView(self.facts)
        self.links = link_all(self.facts)

    def edit(self, path: str, text: str | None) -> int:
        """Apply one edit; the number of files linked again."""
        old = surface(self.facts[path], path) if path in self.facts else {}
        if text is None:
            self.facts.pop(path, None)
            self.view.drop(path)
            new: dict[int, str] = {}
        else:
            self.facts[path] = extract("python", text.encode(), path)
            self.view.put(path, self.facts[path])
            new = surface(self.facts[path], path)
        dirty = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
        again = {p for p, (_, reads) in self.links.items() if dirty & set(reads)} | {path}
        self.links.pop(path, None)
        linker = Linker(self.view)
        for each in sorted(again & self.facts.keys()):
            self.links[each] = spelled(linker.link_file(each), self.facts, each)
        return len(again)


def spelled(links: Links, facts: dict[str, Any], path: str) -> tuple[set[Any], tuple[int, ...]]:
    """Edges with qualified names for symbol numbers, which is what an index stores."""
    def name(at: str, idx: int | str) -> int | str:
        return facts[at]["syms"][idx][QUAL] if at and isinstance(idx, int) and idx >= 0 else idx

    return {(name(path, s), to, name(to, i), *rest) for s, to, i, *rest in links.edges}, links.reads


def link_all(facts: dict[str, Any]) -> dict[str, tuple[set[Any], tuple[int, ...]]]:
    linker = Linker(MemoryView(facts))
    return {path: spelled(linker.link_file(path), facts, path) for path in sorted(facts)}


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(projects, edits)
@example({"a.py": "from b import f\nf()\n", "b.py": "def f(): pass\n"}, [("b.py", "def g(): pass\ndef f(): pass\n")])
@example({"a.py": "import datetime\ndatetime.f()\n"}, [("datetime.py", "def f(): pass\n")])
def test_incremental_equals_full(sources: dict[str, str], changes: list[tuple[str, str | None]]) -> None:
    """After every edit, edges and reads of every file equal those of a fresh link."""
    project = Project(sources)
    for path, text in changes:
        project.edit(path, text)
        assert project.links == link_all(project.facts)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(projects, st.randoms(use_true_random=False))
def test_links_do_not_depend_on_the_order_of_files(sources: dict[str, str], random: Any) -> None:
    """One linker over all files in any order, and a fresh linker per file, give the same links."""
    facts = {path: extract("python", text.encode(), path) for path, text in sources.items()}
    whole = link_all(facts)
    order = list(facts)
    random.shuffle(order)
    linker = Linker(MemoryView(facts))
    assert {path: spelled(linker.link_file(path), facts, path) for path in order} == whole
    assert {path: spelled(Linker(MemoryView(facts)).link_file(path), facts, path) for path in facts} == whole


def test_an_edit_relinks_only_those_who_read_it() -> None:
    """A new method on a class leaves alone the files that never asked for that name."""
    project = Project({
        "a.py": "class A:\n    def m(self): pass\n",
        "b.py": "from a import A\nA().m()\n",
        "c.py": "from a import A\nA().n()\n",
    })  # fmt: skip
    assert project.edit("a.py", "class A:\n    def m(self): return 1\n") == 1
    assert project.edit("a.py", "class A:\n    def m(self): return 1\n    def n(self): pass\n") == 2
    assert ("calls", "A.n") in {(edge[3], edge[2]) for edge in project.links["c.py"][0]}


CLASS = "class A:\n    x = 1\n    def m(self):\n        return B()\n    def n(self): pass\ndef f():\n    return A()\n"


@pytest.mark.parametrize(("edited", "keys"), [
    ("# note\n\n" + CLASS, set()),
    (CLASS.replace("pass", "run(1)"), set()),
    (CLASS.replace("return B()", "return C()"), {"f:a.py:A.m"}),
    (CLASS.replace("x = 1", "x = B()"), {"a:a.py:A:x"}),
    (CLASS.replace("class A:", "class A(B):"), {"c:a.py:A", "s:B"}),
    (CLASS.replace("def n", "@property\n    def n"), {"a:a.py:A:n", "f:a.py:A.n", "n:n"}),
    (CLASS + "y = f\n", {"m:a.py:y"}),
    (CLASS + "from b import *\n", {"m:a.py:*"}),
])  # fmt: skip
def test_a_surface_moves_only_where_others_can_see_it(edited: str, keys: set[str]) -> None:
    """Lines, comments and bodies are nobody's business; every other edit moves the keys it concerns and no others."""
    old, new = (surface(extract("python", text.encode(), "a.py"), "a.py") for text in (CLASS, edited))
    moved = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    assert moved == {read_key(key) for key in keys}


def test_pointers_in_a_surface_are_names() -> None:
    """A function inserted above shifts every number of a file and moves nothing."""
    text = "class A:\n    def m(self): pass\n    alias = m\ndef f():\n    from b import g\n    return g()\n"
    old, new = (surface(extract("python", t.encode(), "a.py"), "a.py") for t in (text, "import b\ndef z(): pass\n" + text))
    assert {k for k in old if old[k] != new[k]} == set()
