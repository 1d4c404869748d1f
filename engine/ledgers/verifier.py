"""The stand-alone verifier as a text, for ``mog ledger verifier``. What may not come in: any use of it by mog itself."""

from __future__ import annotations

from pathlib import Path


def path() -> Path:
    """Where ``verify_ledger.py`` stands in this installation."""
    return Path(__file__).with_name("verify_ledger.py")


def text() -> str:
    """The script: one file that needs nothing but Python's standard library."""
    return path().read_text(encoding="utf-8")
