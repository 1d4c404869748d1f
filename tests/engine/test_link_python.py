"""Links of small Python projects: which definition a call, reference, base or import means, and how sure that is."""

from __future__ import annotations

import pytest

from mog.engine.code.extract import extract
from mog.engine.code.facts import QUAL
from mog.engine.code.link import Linker, MemoryView

TIERS = ("certain", "hierarchy", "candidate", "unknown")


class Linked:
    """A project given as {path: source}, linked whole."""

    def __init__(self, files: dict[str, str]) -> None:
        self.facts = {path: extract("python", text.encode(), path) for path, text in files.items()}
        linker = Linker(MemoryView(self.facts))
        self.edges = {path: linker.link_file(path).edges for path in files}

    def out(self, path: str, kind: str = "calls", qual: str | None = None) -> set[tuple[str, str]]:
        """(target, tier) of a file's edges of one kind, of one symbol if asked for; a target reads ``path::qual``."""
        found = set()
        for scope, to, at, edge_kind, tier, _ in self.edges[path]:
            name = self.facts[path]["syms"][scope][QUAL] if scope >= 0 else ""
            if edge_kind == kind and qual in (None, name):
                target = f"{to}::{self.facts[to]['syms'][at][QUAL]}" if to and isinstance(at, int) and at >= 0 else to or str(at)
                found.add((target, TIERS[tier]))
        return found


def certain(files: dict[str, str], path: str, kind: str = "calls", qual: str | None = None) -> set[str]:
    return {target for target, tier in Linked(files).out(path, kind, qual) if tier == "certain"}


# ── modules ───────────────────────────────────────────────────────────────────────────────────────────────────────────

F = "def f(): pass\n"


@pytest.mark.parametrize(("line", "target"), [
    ("from pkg.a import f\nf()", "pkg/a.py::f"),
    ("from .a import f as g\ng()", "pkg/a.py::f"),
    ("from . import a\na.f()", "pkg/a.py::f"),
    ("import pkg.a\npkg.a.f()", "pkg/a.py::f"),
    ("import pkg.a as x\nx.f()", "pkg/a.py::f"),
    ("from pkg import f\nf()", "pkg/a.py::f"),
    ("from pkg import *\nf()", "pkg/a.py::f"),
    ("from other.tool import f\nf()", "src/other/tool.py::f"),
    ("from space.inner import f\nf()", "space/inner.py::f"),
    ("import space.inner\nspace.inner.f()", "space/inner.py::f"),
    ("try:\n    from missing import f\nexcept ImportError:\n    from .a import f\nf()", "pkg/a.py::f"),
    ("def g():\n    from .a import f\n    f()", "pkg/a.py::f"),
])  # fmt: skip
def test_import_chains(line: str, target: str) -> None:
    """Packages, submodules, re-exports, stars, src layout, namespace packages, conditional and local imports."""
    files = {
        "pkg/__init__.py": "from .a import f\n__all__ = ['f']\n", "pkg/a.py": F, "src/other/__init__.py": "",
        "src/other/tool.py": F, "space/inner.py": F, "pkg/user.py": line + "\n",
    }  # fmt: skip
    assert certain(files, "pkg/user.py") == {target}


@pytest.mark.parametrize("line", ["from . import a", "from pkg import a", "from pkg import a, b", "from . import a as a"])
def test_a_package_that_imports_from_itself_means_the_modules_below_it(line: str) -> None:
    files = {"pkg/__init__.py": f"{line}\na.f()\n", "pkg/a.py": F, "pkg/b.py": "", "user.py": "import pkg\npkg.a.f()\n"}
    assert certain(files, "pkg/__init__.py") == certain(files, "user.py") == {"pkg/a.py::f"}


def test_what_a_package_defines_hides_a_module_of_that_name() -> None:
    files = {"pkg/__init__.py": "class a:\n    def f(): pass\nfrom . import a\na.f()\n", "pkg/a.py": F}
    assert certain(files, "pkg/__init__.py") == {"pkg/__init__.py::a.f"}


def test_standard_modules_are_not_project_files() -> None:
    """``import datetime`` is the standard module though a file of that name lies inside a package."""
    files = {"pkg/__init__.py": "", "pkg/datetime.py": F, "pkg/a.py": "import datetime\ndatetime.f()\n"}
    assert Linked(files).out("pkg/a.py") == {("external:datetime.f", "unknown")}
    assert certain({"datetime.py": F, "a.py": "import datetime\ndatetime.f()\n"}, "a.py") == {"datetime.py::f"}


def test_import_edges() -> None:
    """A file imports the module, or the submodule, that a name is; what is outside is one unresolved node a module."""
    files = {
        "pkg/__init__.py": "x = 1\n", "pkg/a.py": "",
        "pkg/b.py": "from . import a\nfrom pkg import x\nimport os.path\nimport pkg.a\n",
    }  # fmt: skip
    assert Linked(files).out("pkg/b.py", "imports") == {
        ("pkg/a.py", "certain"), ("pkg/__init__.py", "certain"), ("external:os.path", "unknown"),
    }  # fmt: skip


# ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_locals_shadow_and_builtins_are_not_project_functions() -> None:
    """A parameter called like a function is not that function; ``min`` is the builtin though somebody defines one."""
    files = {"a.py": "def f(): pass\ndef g(f): f()\ndef h(): min(1)\n", "b.py": "def min(): pass\n"}
    linked = Linked(files)
    assert linked.out("a.py", qual="g") == {("receiver:f", "unknown")}
    assert linked.out("a.py", qual="h") == set()


def test_nested_functions_and_conditional_definitions() -> None:
    """Inner functions are found where they are; of repeated definitions the last one is meant."""
    files = {"a.py": "def f():\n    def inner(): pass\n    inner()\nif c:\n    def g(): pass\nelse:\n    def g(): pass\ng()\n"}
    assert certain(files, "a.py") == {"a.py::f.inner", "a.py::g#2"}


def test_constructors() -> None:
    """Calling a class means the class and the constructor it finds."""
    files = {"a.py": "class A:\n    def __init__(self): pass\nclass B(A): pass\nB()\n"}
    assert certain(files, "a.py") == {"a.py::B", "a.py::A.__init__"}


def test_decorators_and_callbacks_are_references() -> None:
    """A decorator is referred to by what it decorates, a function passed on by who passes it."""
    files = {"a.py": "def deco(f): pass\ndef make(x): pass\n@deco\n@make(1)\ndef g(): pass\ndef h(): run(g)\n"}
    linked = Linked(files)
    assert linked.out("a.py", "references", "g") == {("a.py::deco", "certain"), ("a.py::make", "certain")}
    assert linked.out("a.py", "references", "h") == {("a.py::g", "certain")}
    assert ("a.py::make", "certain") in linked.out("a.py", qual="")


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

TYPES = """
from dataclasses import dataclass
class Base:
    def m(self): return self
    def n(self): pass
    @classmethod
    def make(cls): return cls()
    @property
    def other(self): return Other()
class Foo(Base):
    part = None
    def __init__(self):
        self.part = Other()
        self.parts = [Other()]
    def __enter__(self): return self
    def __iter__(self):
        yield Other()
class Other:
    def run(self): pass
@dataclass
class Data:
    other: Other
def give() -> "Foo": ...
def pick(x):
    if x: return Foo()
    return None
"""


@pytest.mark.parametrize(("body", "target"), [
    ("Foo().m()", "Base.m"),
    ("x = Foo()\n    x.m()", "Base.m"),
    ("Foo().m().n()", "Base.n"),
    ("Foo.make().n()", "Base.n"),
    ("give().part.run()", "Other.run"),
    ("pick(1).part.run()", "Other.run"),
    ("Foo().other.run()", "Other.run"),
    ("Data().other.run()", "Other.run"),
    ("with Foo() as x:\n        x.n()", "Base.n"),
    ("for x in Foo():\n        x.run()", "Other.run"),
    ("for x in Foo().parts:\n        x.run()", "Other.run"),
    ("[x.run() for x in Foo().parts]", "Other.run"),
    ("if isinstance(a, Other):\n        a.run()", "Other.run"),
])  # fmt: skip
def test_receivers(body: str, target: str) -> None:
    """Constructors, returned self, class methods, annotations, properties, fields, contexts, iteration, narrowing."""
    twins = "class Twin:\n    def run(self): pass\n    def m(self): pass\n    def n(self): pass\n"
    files = {"t.py": TYPES, "twin.py": twins, "a.py": f"from t import *\ndef g(a):\n    {body}\n"}
    assert f"t.py::{target}" in certain(files, "a.py")
    assert not any(found.startswith("twin") for found, _ in Linked(files).out("a.py"))


def test_super_and_self_follow_the_mro() -> None:
    """C3 order; ``super()`` starts behind the class it is written in."""
    files = {"a.py": (
        "class A:\n    def m(self): pass\nclass B(A):\n    def m(self): super().m()\n"
        "class C(A):\n    def m(self): pass\n"
        "class D(B, C):\n    def m(self):\n        super().m()\n        self.n()\n    def n(self): pass\n"
    )}  # fmt: skip
    assert certain(files, "a.py", qual="D.m") == {"a.py::B.m", "a.py::D.n"}
    assert certain(files, "a.py", qual="B.m") == {"a.py::A.m"}


def test_overrides_are_hierarchy() -> None:
    """What subclasses make of a method is drawn below certain, and not at all beyond eight."""
    base = "class A:\n    def m(self): pass\n    def run(self): self.m()\n"
    few = {"a.py": base + "class B(A):\n    def m(self): pass\n"}
    assert Linked(few).out("a.py", qual="A.run") == {("a.py::A.m", "certain"), ("a.py::B.m", "hierarchy")}
    many = {"a.py": base + "".join(f"class B{i}(A):\n    def m(self): pass\n" for i in range(9))}
    assert Linked(many).out("a.py", qual="A.run") == {("a.py::A.m", "certain"), ("capped:m", "unknown")}


def test_a_call_does_not_arrive_at_a_method_that_is_not_implemented() -> None:
    """It arrives at the only override for certain, at one of several as hierarchy."""
    base = "class A:\n    def m(self):\n        raise NotImplementedError\n    def run(self): self.m()\n"
    one = base + "class B(A):\n    def m(self): pass\n"
    assert Linked({"a.py": base}).out("a.py", qual="A.run") == {("a.py::A.m", "certain")}
    assert Linked({"a.py": one}).out("a.py", qual="A.run") == {("a.py::B.m", "certain")}
    two = one + "class C(A):\n    def m(self): pass\n"
    assert {tier for _, tier in Linked({"a.py": two}).out("a.py", qual="A.run")} == {"hierarchy"}


def test_mixins_find_what_they_are_mixed_into() -> None:
    """``super()`` and ``self`` of a mixin reach the other bases of the classes that use it."""
    files = {"a.py": (
        "class Mixin:\n    def m(self):\n        super().m()\n        self.save()\n"
        "class Base:\n    def m(self): pass\n    def save(self): pass\nclass Both(Mixin, Base): pass\n"
    )}  # fmt: skip
    assert certain(files, "a.py", qual="Mixin.m") == {"a.py::Base.m", "a.py::Base.save"}


def test_definitions_for_type_checkers_are_not_called() -> None:
    """A stub under TYPE_CHECKING gives way to the method that runs."""
    files = {"a.py": (
        "class A:\n    def m(self): pass\nclass B(A):\n    if TYPE_CHECKING:\n        def m(self) -> 'B': ...\nB().m()\n"
    )}  # fmt: skip
    assert "a.py::A.m" in certain(files, "a.py") and "a.py::B.m" not in certain(files, "a.py")


# ── unknown receivers ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_unique_names_are_certain_unless_builtins_own_them() -> None:
    """``x.frobnicate()`` can only mean the one method of that name; ``x.append()`` means nothing."""
    files = {
        "t.py": "class A:\n    def frobnicate(self): pass\n    def append(self): pass\n",
        "a.py": "def f(x, y):\n    x.frobnicate()\n    y.append()\n",
    }
    assert Linked(files).out("a.py") == {("t.py::A.frobnicate", "certain"), ("t.py::A.append", "candidate")}


def test_candidates_are_capped_and_tests_do_not_answer_for_code() -> None:
    """At most eight definitions of a name are candidates; those in test files only for test files."""
    many = "".join(f"class A{i}:\n    def frob(self): pass\n" for i in range(9))
    call = "def f(x): x.frob()\n"
    assert Linked({"t.py": many, "a.py": call}).out("a.py") == {("capped:frob", "unknown")}
    files = {"tests/test_t.py": many, "t.py": "class B:\n    def frob(self): pass\n", "a.py": call}
    assert Linked(files).out("a.py") == {("t.py::B.frob", "certain")}
    assert Linked({"a.py": call}).out("a.py") == {("receiver:frob", "unknown")}


def test_what_else_is_asked_of_a_receiver_tells_it_apart() -> None:
    """Of two classes with ``get_field`` the one that also has what the file asks of ``opts`` is meant."""
    files = {
        "t.py": (
            "class Options:\n    def get_field(self): pass\n    def label(self): pass\n"
            "class State:\n    def get_field(self): pass\n"
        ),
        "a.py": "def f(opts): opts.get_field()\ndef g(opts): opts.nobody_has(), opts.label()\n",
        "b.py": "def f(opts): opts.get_field()\ndef g(opts): opts.label()\n",
    }
    both = {"t.py::Options.get_field", "t.py::State.get_field"}
    assert ("t.py::Options.get_field", "certain") in Linked(files).out("b.py", qual="f")
    assert Linked(files).out("a.py", qual="f") == {(target, "candidate") for target in both}


def test_inheritance_edges() -> None:
    """Bases through imports and aliases; outside ones are unresolved; a cycle ends."""
    files = {
        "t.py": "class A: pass\nAlias = A\n",
        "a.py": (
            "import unittest\nfrom t import A, Alias\nclass B(A): pass\nclass C(Alias): pass\n"
            "class T(unittest.TestCase): pass\nclass X(X): pass\n"
        ),
    }
    assert Linked(files).out("a.py", "inherits") == {("t.py::A", "certain"), ("external:unittest.TestCase", "unknown")}
