"""Clones that declare auditors, and what the tests of trust and of the bridge need around them.

Who calls: tests/policy/, tests/reason/test_auditors*.py, test_bridge*.py. What may not come in: assertions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mog.engine.policy.trust import Command, TrustStore
from mog.engine.reason.auditors import FILE, Auditor, AuditRequest, load

KEY = bytes(range(32))


def store(root: Path, folder: Path, key: bytes = KEY, common: Path | None = None) -> TrustStore:
    """Trust of the clone at ``root``, recorded in ``folder``."""
    return TrustStore(root, common or root / ".git", lambda: key, folder)


def write_auditors(root: Path, auditors: Sequence[Mapping[str, Any]]) -> None:
    """Write ``.mog/plans/auditors.yaml``; JSON is YAML too."""
    path = root / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "auditors": list(auditors)}), encoding="utf-8")


def declared(name: str = "hashing", argv: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """One declaration; by default it runs ``tools/audit.py`` and judges every anchor."""
    words = list(argv) or [sys.executable, "tools/audit.py"]
    return {"name": name, "argv": words, "judges": {"locators": ["*"]}, **more}


def script(root: Path, body: str, name: str = "tools/audit.py") -> Path:
    """Write a Python script of the repository."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body, encoding="utf-8")
    return path


def only(root: Path) -> Auditor:
    """The one auditor a repository declares."""
    (auditor,) = load(root)
    return auditor


def command_of(root: Path) -> Command:
    """The command of the one auditor a repository declares."""
    command = only(root).command
    assert command is not None
    return command


def request(**target: Any) -> AuditRequest:
    """A request about a drifted anchor."""
    belief = {"id": "a1", "type": "assumption", "kind": "ground", "label": "argon2 is safe", "attrs": {}, **target}
    evidence = {"id": "e1", "type": "evidence", "kind": "drift", "label": "span changed", "attrs": {}}
    anchor = {"locator": "sym:src/auth.py::hash", "path": "src/auth.py", "old": "0" * 32, "new": "1" * 32}
    return AuditRequest(belief, evidence, anchor, "main")


ANSWER = "import json, sys\nask = json.load(sys.stdin)\nprint(json.dumps({'verdict': %r, 'reason': %r}))\n"


def answering(verdict: str, reason: str = "looked at it") -> str:
    """A script that reads the request and answers."""
    return ANSWER % (verdict, reason)
