"""A ground falls, and only the work that stood on it runs again: the executor of mog as a library.

    python argon2_to_bcrypt.py
"""

import tempfile
from pathlib import Path

from mog.engine.executor import Runner, TaskRegistry
from mog.engine.workspace import Workspace

ADVISORIES: list[str] = []  # the world outside; nobody tells mog when it changes

registry = TaskRegistry()
registry.register_worker("schema.v1", lambda ctx: {"table": "users"})
registry.register_worker("hash.argon2.v1", lambda ctx: {"hasher": "argon2"})
registry.register_worker("hash.bcrypt.v1", lambda ctx: {"hasher": "bcrypt"})
registry.register_worker("routes.v1", lambda ctx: {"login": f"checks {ctx.inputs['hashing']['hasher']}"})


def advisories(ctx):
    """An auditor looks outside: is there an advisory against what the task used?"""
    found = [line for line in ADVISORIES if ctx.output["hasher"] in line]
    return ctx.disproved(found[0]) if found else ctx.ok("no advisory")


registry.register_auditor("advisories.v1", advisories)


def opened(root: Path) -> tuple[Workspace, Runner]:
    """The plan as the store has it: each call could be another process."""
    workspace = Workspace.open(root)
    return workspace, Runner(workspace.beliefs.mesh, registry, "login")


with tempfile.TemporaryDirectory() as folder:
    Workspace.init(Path(folder))

    workspace, runner = opened(Path(folder))
    with workspace, runner.declaring():
        runner.task("schema", worker_key="schema.v1", assumes="users have one password")
        runner.task(
            "hashing", worker_key="hash.argon2.v1", auditor_key="advisories.v1", assumes="argon2 has no open advisory"
        )
        runner.task("routes", worker_key="routes.v1", needs=["schema", "hashing"], assumes="one process serves all")

    workspace, runner = opened(Path(folder))
    with workspace:
        print("first run   ", runner.run().executed)
        ADVISORIES.append("CVE-2026-9999: argon2 parameters silently downgraded")
        print("recheck     ", runner.recheck().stale)
        runner.repair("hashing", worker_key="hash.bcrypt.v1", assumes="bcrypt has no open advisory")

    workspace, runner = opened(Path(folder))  # here a process could have died
    with workspace:
        report = runner.resume()
        print("second run  ", report.executed, "kept", report.cached)
        print("routes      ", dict(runner.output("routes")))
        print("run ledger  ", runner.ledger.verify(), "entries, head", runner.ledger.head[:12])
