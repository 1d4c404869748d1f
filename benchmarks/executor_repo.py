"""``python -m benchmarks.executor_repo``: a real repository whose plan is its own test modules; what one edit runs again.

The corpus is boltons 25.0.0, fetched by name. Each source file is edited in turn, and which tests run again is compared with
which really load that file: every test module is run once with a hook that lists what it loaded. Times beside running
everything. Prints the tables and writes docs/results/executor-repo.md.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import corpora, report
from benchmarks.measure import run
from benchmarks.mog import mog_json

CORPUS = corpora.Corpus(
    "boltons", "pip", "boltons", "25.0.0", "boltons-25.0.0.tar.gz", "boltons-25.0.0", "boltons/mathutils.py",
    "boltons/typeutils.py", "", (".py",),
)  # fmt: skip
PACKAGE = "boltons"
TIMED = ("boltons/jsonutils.py", "boltons/cacheutils.py", "boltons/typeutils.py")
PYTEST = ["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
HOOK = """\
import json, sys
def pytest_sessionfinish(session, exitstatus):
    files = sorted(f for m in list(sys.modules.values()) if (f := getattr(m, "__file__", None)))
    open("loaded.json", "w").write(json.dumps(files))
"""


@dataclass(slots=True)
class Figures:
    """What was found.

    Attributes:
        loads: test module → files of the package that running it loads. selected: file → test modules that an edit runs.
        chains: reason chains looked at, and those with a step that is no import. times: what was timed, in seconds.
    """

    loads: dict[str, frozenset[str]] = field(default_factory=dict)
    selected: dict[str, frozenset[str]] = field(default_factory=dict)
    chains: list[int] = field(default_factory=lambda: [0, 0])
    times: list[tuple[str, int, float]] = field(default_factory=list)

    def users(self, path: str) -> frozenset[str]:
        """Test modules that load a file."""
        return frozenset(test for test, files in self.loads.items() if path in files)


def prepared(folder: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the corpus with a plan of its test modules, and an environment whose words of trust lie beside it."""
    root = folder / "repo"
    shutil.copytree(corpora.repository(CORPUS), root)
    corpora.pristine(root)
    tasks = [
        {
            "name": path.stem, "argv": ["python3", *PYTEST, f"tests/{path.name}"],
            "inputs": {"files": ["tox.ini"], "uses": [f"tests/{path.name}"]}, "assumes": ["the suite runs on this Python"],
        }
        for path in sorted((root / "tests").glob("test_*.py"))
    ]  # fmt: skip
    (root / "plan.yaml").write_text(json.dumps({"version": 1, "plan": "tests", "tasks": tasks}), encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    names = {name: str(folder / name.lower()) for name in ("MOG_TRUST_DIR", "MOG_KEYS_DIR", "MOG_WITNESS_DIR")}
    return root, {"PATH": path, **names}


def loaded(root: Path) -> dict[str, frozenset[str]]:
    """Test module → files of the package that are loaded once its tests have run."""
    (root / "listing_hook.py").write_text(HOOK, encoding="utf-8")
    found = {}
    for path in sorted((root / "tests").glob("test_*.py")):
        report.say(f"what {path.stem} loads")
        env = {"PYTHONPATH": "."}
        run([sys.executable, *PYTEST, "-p", "listing_hook", f"tests/{path.name}"], cwd=root, env=env)
        names = [Path(name).resolve() for name in json.loads((root / "loaded.json").read_text(encoding="utf-8"))]
        inside = [name.relative_to(root.resolve()).as_posix() for name in names if name.is_relative_to(root.resolve())]
        found[path.stem] = frozenset(name for name in inside if name.startswith(f"{PACKAGE}/"))
    for name in ("listing_hook.py", "loaded.json"):
        (root / name).unlink()
    return found


def rounds(root: Path, env: Mapping[str, str], figures: Figures) -> None:
    """Run everything, then after each of a few edits; how many tasks ran and how long it took."""
    start = time.perf_counter()
    run([sys.executable, *PYTEST, "tests"], cwd=root)
    figures.times.append(("`pytest tests`, one process", len(figures.loads), time.perf_counter() - start))
    figures.times.append(("`mog plan run`, first", *_round(root, env)))
    figures.times.append(("`mog plan run`, nothing changed", *_round(root, env)))
    for path in TIMED:
        report.say(f"a run after an edit of {path}")
        with (root / path).open("a", encoding="utf-8") as file:
            file.write("\n# edited\n")
        figures.times.append((f"`mog plan run`, {path} edited", *_round(root, env)))


def _round(root: Path, env: Mapping[str, str]) -> tuple[int, float]:
    start = time.perf_counter()
    _, done = mog_json(root, "plan", "run", env=env)
    return len(done["executed"]), time.perf_counter() - start


def edits(root: Path, env: Mapping[str, str], figures: Figures) -> None:
    """Edit each source file in turn, ask what would run, take the edit back."""
    for path in sorted((root / PACKAGE).glob("*.py")):
        name = path.relative_to(root).as_posix()
        before = path.read_bytes()
        path.write_bytes(before + b"\n# edited again\n")
        _, view = mog_json(root, "plan", "run", "--dry-run", env=env)
        path.write_bytes(before)
        runs = [task for task in view["tasks"] if task["action"] in ("run", "check")]
        figures.selected[name] = frozenset(task["name"] for task in runs)
        report.say(f"{name}: {len(runs)} of {len(view['tasks'])}")
        for task in runs:
            chain = next(one["chain"] for one in task["because"] if one["key"] == [name])
            figures.chains[0] += 1
            figures.chains[1] += not _holds(root, task["name"], chain, name)


def _holds(root: Path, test: str, chain: Sequence[str], path: str) -> bool:
    """Whether a reason leads from the test to the file over imports that are there."""
    ends = bool(chain) and chain[0] == f"tests/{test}.py" and chain[-1] == path
    return ends and all(_imports(root / one, other) for one, other in pairwise(chain))


def _imports(path: Path, other: str) -> bool:
    """Whether a file imports another one, or lies in the package of which the other is the beginning."""
    if other.endswith(("__init__.py", "conftest.py")):
        return True
    name = Path(other).stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) and any(alias.name.rpartition(".")[2] == name for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom):
            words = {(node.module or "").rpartition(".")[2], *(alias.name for alias in node.names)}
            if name in words:
                return True
    return False


def document(figures: Figures, host: str) -> str:
    """The page."""
    tests = len(figures.loads)
    missed = {path: sorted(figures.users(path) - runs) for path, runs in figures.selected.items()}
    extra = {path: sorted(runs - figures.users(path)) for path, runs in figures.selected.items()}
    share = sum(len(runs) for runs in figures.selected.values()) / (tests * len(figures.selected))
    rows = [
        [path, str(len(runs)), str(len(figures.users(path))), ", ".join(missed[path]) or "–", ", ".join(extra[path]) or "–"]
        for path, runs in sorted(figures.selected.items(), key=lambda item: (len(item[1]), item[0]))
    ]
    whole = next(seconds for name, _, seconds in figures.times if "first" in name)
    times = [[name, str(count), f"{seconds:.1f}", f"{seconds / whole:.2f}"] for name, count, seconds in figures.times]
    return "\n".join(
        [
            "# A plan of a real repository's tests", "", f"Machine: {host}.", "",
            f"boltons 25.0.0: {tests} test modules, each a task that reads `uses: its own file`; {len(figures.selected)}",
            "source files, each edited in turn. *Loads* is how many test modules have loaded the file once their tests have",
            "run. A missed one would be a test that should have run and did not.", "",
            report.table(
                ["figure", "measured", "goal"],
                [
                    ["test modules run again after one edit, of all", f"{share:.0%}", "< 100%"],
                    ["affected tests missed, over all edits", str(sum(map(len, missed.values()))), "0"],
                    ["tests run that do not load the file", str(sum(map(len, extra.values()))), ""],
                    ["reasons with a step that is no import", f"{figures.chains[1]} of {figures.chains[0]}", "0"],
                ],
            ),
            "", "## By edited file", "", report.table(["file", "run again", "loads", "missed", "besides"], rows), "",
            "## Time", "", report.table(["", "tests run", "seconds", "of the first run"], times), "",
            "Every task starts a Python and a pytest of its own, which is most of the time of a first run; one process for",
            "all of them saves that, and cannot leave any out.",
        ]
    )  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 when nothing was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.executor_repo", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args(argv)
    figures, host = Figures(), report.machine()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root, env = prepared(Path(folder).resolve())
        figures.loads = loaded(root)
        mog_json(root, "allow", "--all", env=env)
        rounds(root, env, figures)
        edits(root, env, figures)
    text = document(figures, host)
    print(text)
    if not options.no_write:
        report.write("executor-repo", text)
    wrong: Any = [path for path, runs in figures.selected.items() if figures.users(path) - runs]
    report.say("every target is met" if not wrong and not figures.chains[1] else f"missed: {wrong}")
    return int(bool(wrong or figures.chains[1]))


if __name__ == "__main__":
    raise SystemExit(main())
