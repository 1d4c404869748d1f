"""Small Python and TypeScript projects whose files lean on each other, and edits of them, for property tests.

Who calls: tests/engine/test_incremental*.py. What may not come in: mog, assertions.
Every file has several versions; the versions change what others can see of it: names, bases, returns, re-exports.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

VERSIONS: dict[str, tuple[str, ...]] = {
    "pkg/__init__.py": (
        "",
        "from .base import Base\nfrom .util import helper\n",
        "from .util import *\n",
        "from .sub import Sub\n",
    ),
    "pkg/base.py": (
        "class Base:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        return 1\n",
        "class Base:\n    def run(self):\n        return 2\n",
        "class Root:\n    def step(self):\n        return 0\n\n\n"
        "class Base(Root):\n    def run(self):\n        return self.step()\n",
        "from .util import make\n\n\nclass Base:\n    helper = make()\n\n"
        "    def run(self):\n        return self.helper.step()\n",
    ),
    "pkg/sub.py": (
        "from .base import Base\n\n\nclass Sub(Base):\n    def step(self):\n        return super().step()\n",
        "from pkg import Base\n\n\nclass Sub(Base):\n    def run(self):\n        return super().run()\n",
        "import pkg.base as b\n\n\nclass Sub(b.Base):\n    pass\n",
        "class Sub:\n    def step(self):\n        return unknown.step()\n",
    ),
    "pkg/util.py": (
        "from .sub import Sub\n\n\ndef make():\n    return Sub()\n\n\ndef helper(x):\n    return make().run()\n",
        "def make():\n    return None\n\n\ndef helper(x: 'Sub'):\n    return x.step()\n",
        "def helper(x):\n    return x.step()\n\n\nstep = helper\n",
        "def helper(x):\n    return x.run()\n\n\ndef only_here():\n    return helper(only_here)\n",
    ),
    "app.py": (
        "from pkg import Base, helper\n\n\ndef main():\n    helper(Base())\n    return Base().run()\n",
        "from pkg.util import make, helper\n\n\n"
        "def main():\n    thing = make()\n    thing.step()\n    return helper(thing)\n",
        "import pkg\n\n\ndef main():\n    return pkg.helper(pkg.util.make())\n",
        "from pkg.sub import Sub as S\n\n\ndef main(s: S):\n    s.run()\n    return only_here()\n",
    ),
    "tests/test_app.py": (
        "from app import main\n\n\ndef test_main():\n    assert main()\n",
        "from pkg.sub import Sub\n\n\ndef test_sub():\n    assert Sub().run()\n",
        "def test_nothing():\n    pass\n",
    ),
    "web/base.ts": (
        "export class Shape {\n  area() { return this.side(); }\n  side() { return 1; }\n}\n",
        "export default class Shape {\n  area() { return 2; }\n}\n",
        "export interface Shape { area(): number }\nexport function area(s: Shape) { return s.area(); }\n",
    ),
    "web/index.ts": (
        "export * from './base';\nexport { draw } from './draw';\n",
        "export { Shape as Form } from './base';\n",
        "import { draw } from './draw';\nexport const paint = draw;\n",
    ),
    "web/draw.ts": (
        "import { Shape } from './base';\nexport class Square extends Shape { side() { return 2; } }\n"
        "export function draw() { return new Square().area(); }\n",
        "import Shape from './base';\nexport const draw = () => new Shape().area();\n",
        "import { area } from './index';\nexport function draw(s: any) { return area(s); }\n",
    ),
    "web/view.tsx": (
        "import { draw } from './index';\nexport function View() { return <div>{draw()}</div>; }\n",
        "import { paint, Form } from '.';\n"
        "export const View = () => { new Form().area(); return <p>{paint()}</p>; };\n",
    ),
    "notes.md": ("# Notes\nhelper and Shape\n", "# Notes\nnothing\n"),
}
PLACES = (*VERSIONS, "pkg/extra.py", "pkg/inner/__init__.py", "lib/util.py", "web/lib/base.ts")
BRANCHES = ("main", "side")


@dataclass(frozen=True, slots=True)
class Op:
    """One step: put a version of a file (maybe at another place), delete, rename, revert, switch branches, commit."""

    what: str
    path: str = ""
    version: int = 0
    other: str = ""


paths = st.sampled_from(sorted(VERSIONS))
places = st.sampled_from(PLACES)
ops = st.one_of(
    st.builds(Op, st.just("put"), paths, st.integers(0, 3), st.just("")),
    st.builds(Op, st.just("put"), paths, st.integers(0, 3), places),
    st.builds(Op, st.just("delete"), places),
    st.builds(Op, st.just("rename"), places, st.just(0), places),
    st.builds(Op, st.just("revert"), places),
    st.builds(Op, st.just("switch"), st.sampled_from(BRANCHES)),
    st.builds(Op, st.just("commit")),
    st.builds(Op, st.just("rename_folder"), st.sampled_from(("pkg", "web", "lib")), st.just(0), st.just("moved")),
)
sequences = st.lists(ops, min_size=1, max_size=8)
beginnings = st.dictionaries(paths, st.integers(0, 3), min_size=2)


def git(root: Path, *args: str, check: bool = True) -> None:
    """Run git in ``root``."""
    command = ["git", "-c", "commit.gpgsign=false", "-c", "gc.auto=0", *args]
    subprocess.run(command, cwd=root, check=check, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def text_of(path: str, version: int) -> str:
    """The given version of a file, counted round."""
    return VERSIONS[path][version % len(VERSIONS[path])]


def begin(root: Path, chosen: dict[str, int]) -> None:
    """A repository with the chosen files, committed, and a second branch that differs."""
    root.mkdir(parents=True)
    for path, version in chosen.items():
        put(root, path, text_of(path, version))
    git(root, "init", "-q", "-b", "main")
    _commit(root)
    git(root, "checkout", "-q", "-b", "side")
    for path, version in chosen.items():
        put(root, path, text_of(path, version + 1))
    _commit(root)
    git(root, "checkout", "-q", "main")


def put(root: Path, path: str, text: str) -> None:
    """Write a file, folders made as needed."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def apply(root: Path, op: Op) -> None:
    """Do one step; steps that make no sense now do nothing."""
    here, there = root / op.path, root / op.other
    if op.what == "put" and not _blocked(root, op.other or op.path):
        put(root, op.other or op.path, text_of(op.path, op.version))
    elif op.what == "delete" and here.is_file():
        here.unlink()
    elif op.what == "rename" and here.is_file() and not there.exists() and not _blocked(root, op.other):
        there.parent.mkdir(parents=True, exist_ok=True)
        here.rename(there)
    elif op.what == "rename_folder" and here.is_dir() and not there.exists():
        here.rename(there)
    elif op.what == "revert":
        git(root, "checkout", "-q", "--", op.path, check=False)
    elif op.what == "switch":
        git(root, "checkout", "-q", "-f", op.path)
    elif op.what == "commit":
        _commit(root)


def _blocked(root: Path, path: str) -> bool:
    """Whether a file stands where a folder of ``path`` would have to be."""
    return any((root / part).is_file() for part in Path(path).parents)


def _commit(root: Path) -> None:
    git(root, "add", "-A", "--", ".", ":!.mog")
    git(root, "commit", "-q", "--allow-empty", "-m", "step")
