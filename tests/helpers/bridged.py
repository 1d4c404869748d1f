"""A clone with beliefs and a bridge, for tests of what drift and auditors do to them.

Who calls: tests/reason/test_bridge*.py. What may not come in: assertions.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from auditing import KEY, store

from mog.engine import ontology
from mog.engine.code import git, secrets
from mog.engine.code.freshness import Disk
from mog.engine.config import EngineConfig
from mog.engine.ledgers.events import EventLog
from mog.engine.policy.trust import TrustStore
from mog.engine.reason.auditors import AuditorRegistry, AuditVerdict
from mog.engine.reason.bridge import Bridge
from mog.engine.reason.drift import worktree_name
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import Judgement

CODE = {"src/auth.py": "def hash_it(word):\n    return argon2(word)\n\n\ndef other():\n    return 1\n"}
PLACE = "sym:src/auth.py::hash_it"


def run_git(root: Path, *words: str) -> None:
    """One git command in a clone."""
    subprocess.run(["git", *words], cwd=root, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


class Clone:
    """One worktree of a clone: its mesh, its bridge, and words to edit and ask."""

    def __init__(self, root: Path, ledger: Path | None = None, registry: AuditorRegistry | None = None) -> None:
        self.root = root
        repo = git.open_repo(root)
        assert repo is not None
        self.git_dir = repo.git_dir
        self.words = root.parent / "words"
        ledger = ledger or root / ".mog" / "ledger.db"
        ledger.parent.mkdir(parents=True, exist_ok=True)
        self.log = EventLog(ledger)
        worktree = worktree_name(repo.git_dir, repo.common_dir)
        self.mesh = Mesh(
            self.log,
            ontology.load_project(root / ".mog"),
            "repo",
            worktree=worktree,
            clock=lambda: "2026-01-01T00:00:00Z",
            looks_secret=lambda text: secrets.contains_secret(text) is not None,
        )
        self.disk = Disk(root, lambda: KEY, EngineConfig())
        self.trust: TrustStore = store(root, self.words, common=repo.common_dir)
        self.registry = registry or AuditorRegistry()
        self.bridge = Bridge(self.mesh, self.disk, self.files, self.trust, self.registry)

    def close(self) -> None:
        """Let go of ledger and folders."""
        self.disk.close()
        self.log.close()

    def files(self) -> list[str]:
        """Source files of the worktree."""
        found = (path for path in self.root.rglob("*.py") if ".git" not in path.parts)
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def edit(self, text: str, name: str = "src/auth.py") -> None:
        """Write a file so that its times tell."""
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        stamp = path.stat().st_mtime_ns + 1_000_000_000
        os.utime(path, ns=(stamp, stamp))

    def belief(self, statement: str = "argon2 is safe", place: str = PLACE) -> str:
        """An assumption anchored to code."""
        with self.mesh.writing("assumed") as writer:
            id = writer.assume(statement)
        self.bridge.anchor(id, place)
        return id

    def decision(self, title: str, *grounds: str) -> str:
        """A decision that rests on assumptions or decisions."""
        kinds = {id: self.mesh.graph.node(id).type for id in grounds}
        with self.mesh.writing("decided") as writer:
            said = writer.source("said by person", origin="said:person", kind="episode")
            return writer.decide(
                title, "because", source=said,
                assumptions=[g for g in grounds if kinds[g] == "assumption"],
                decisions=[g for g in grounds if kinds[g] == "decision"],
            )  # fmt: skip

    def judged(self, target: str) -> list[Judgement]:
        """Judgements about a belief whose evidence stands here."""
        return [j for j in self.mesh.judgements(target) if self.mesh.stands(j.evidence)]

    def says(self, verdict: str, name: str = "auditor", reason: str = "looked") -> list[str]:
        """Register a function that always answers so; the list grows with every question it is asked."""
        asked: list[str] = []

        def function(request: object) -> AuditVerdict:
            asked.append(str(request))
            return AuditVerdict(verdict, reason)

        self.registry.register(name, function)
        return asked
