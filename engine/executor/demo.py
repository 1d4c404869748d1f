"""The story that ``mog demo execute`` plays: an advisory against argon2 appears, and only what stood on argon2 runs again.

Who calls: ``app/cli/demo.py``, which writes the files into a folder of its own and runs the commands there as they stand.
What may not come in: code that decides anything. Every command is one that a person could type; every answer is real.
"""

from __future__ import annotations

from dataclasses import dataclass

PROJECT = "login-service"
ARGON2 = "argon2-cffi has no open advisory"
BCRYPT = "bcrypt has no open advisory"
QUIET = "nothing open\n"
CVE = "argon2-cffi: CVE-2026-9999, memory-hard parameters silently downgraded\n"
FEED = "advisories.txt"
MARK = "build/bcrypt-begun"

BUILD = '''\
"""Writes build/NAME.txt: what was built, and out of which files."""
import sys
from pathlib import Path

name, *parts = sys.argv[1:]
lines = [f"{part}: {Path('build', part + '.txt').read_text().splitlines()[0]}" for part in parts]
Path("build").mkdir(exist_ok=True)
Path("build", name + ".txt").write_text("\\n".join([f"{name} is built", *lines]) + "\\n")
'''
HASH = '''\
"""Writes build/hashing.txt for one library. With bcrypt the first try hangs, as things do."""
import sys
import time
from pathlib import Path

library = sys.argv[1]
mark = Path("build", library + "-begun")
Path("build").mkdir(exist_ok=True)
if library == "bcrypt" and not mark.exists():
    mark.touch()
    time.sleep(300)
Path("build/hashing.txt").write_text(f"passwords are hashed with {library}\\n")
'''
AUDIT = '''\
"""Does the feed know of an advisory for the library? Exit code 0: it holds; 1: the ground is false."""
import sys
from pathlib import Path

found = [line for line in Path("advisories.txt").read_text().splitlines() if line.startswith(sys.argv[1])]
print(found[0] if found else "no advisory")
sys.exit(1 if found else 0)
'''


def plan(python: str, library: str, package: str, ground: str, product: str) -> str:
    """The plan of the service with one library."""
    return f"""\
version: 1
plan: service
tasks:
  - name: schema
    argv: [{python}, tools/build.py, schema]
    outputs: [build/schema.txt]
    assumes: [users have one password]
  - name: hashing
    argv: [{python}, tools/hash.py, {library}]
    outputs: [build/hashing.txt]
    assumes: [{ground}]
    produces: [{product}]
    auditors:
      - {{name: advisories, argv: [{python}, tools/audit.py, {package}], verdict: exit}}
  - name: tokens
    argv: [{python}, tools/build.py, tokens]
    outputs: [build/tokens.txt]
    assumes: [tokens live an hour]
  - name: routes
    argv: [{python}, tools/build.py, routes, schema, hashing, tokens]
    inputs: {{tasks: [schema, hashing, tokens]}}
    outputs: [build/routes.txt]
    assumes: [one process serves all]
  - name: rate_limit
    argv: [{python}, tools/build.py, rate_limit, routes]
    inputs: {{tasks: [routes]}}
    outputs: [build/rate_limit.txt]
    assumes: [one process serves all]
"""


def first(python: str) -> str:
    """The plan file at the beginning."""
    return plan(python, "argon2", "argon2-cffi", ARGON2, "argon2 parameters")


def second(python: str) -> str:
    """The plan file after the change of the library."""
    return plan(python, "bcrypt", "bcrypt", BCRYPT, "bcrypt cost")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens.

    Attributes:
        text: what a person is told before it. title: heading of the chapter that begins here, "" inside of one.
        command: words after ``mog``. exit: exit code that the command has to answer with.
        writes: (path, text) of files that are written before; ``first`` and ``second`` stand for the two plan files.
        killed: path of a file; as soon as it is there, the command is killed.
    """

    text: str
    command: tuple[str, ...]
    title: str = ""
    exit: int = 0
    writes: tuple[tuple[str, str], ...] = ()
    killed: str = ""


FILES = (
    ("tools/build.py", BUILD), ("tools/hash.py", HASH), ("tools/audit.py", AUDIT), (FEED, QUIET), ("plan.yaml", "first"),
)  # fmt: skip
STEPS = (
    Step("A service is built in five tasks. Each says what it stands on.", ("plan", "graph"), "Declare", writes=FILES),
    Step("Opening a repository runs nothing of it. Its commands wait for a word.", ("plan", "run", "-q"), exit=6),
    Step("The word is given for the commands as they are now.", ("allow", "--all")),
    Step("Every task runs once, and an auditor looks at the hashing.", ("plan", "run"), "Run"),
    Step("Again: nothing changed, so nothing runs.", ("plan", "run")),
    Step(
        "An advisory appears in a feed. Nobody tells mog. A recheck asks the auditors again and runs no task: the ground is "
        "found false, what stood on it goes stale, the rest is not touched.",
        ("recheck",),
        "The ground moves",
        writes=((FEED, CVE),),
    ),
    Step("A stale task does not run on dead ground.", ("plan", "run"), exit=1),
    Step(
        "The task is given other ground. What else rests on the old one stays as it is.",
        ("repair", "hashing", "--assumes", BCRYPT, "--produces", "bcrypt cost", "--because", "argon2-cffi has an advisory"),
        "Repair",
    ),
    Step(
        "The command changes too: the plan file names bcrypt, and its commands wait for a new word.",
        ("allow", "--all"),
        writes=(("plan.yaml", "second"),),
    ),
    Step("The run begins, hangs in the new hashing, and is killed.", ("resume",), "Killed", killed=MARK),
    Step("The store says what it said before: three tasks are stale, two are done.", ("plan", "show")),
    Step("Another process goes on. Three tasks run; schema and tokens are as they were.", ("resume",), "Resume"),
    Step("What argon2 left behind stays fallen: nothing makes it any more.", ("explain", "argon2 parameters")),
    Step("The run ledger has all of it, in a chain.", ("plan", "log", "--limit", "60"), "The ledger"),
    Step("The events are replayed, and the records are what they give.", ("ledger", "verify")),
)
"""The steps in order."""
