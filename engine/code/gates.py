"""Which files and values are gated in this workspace: the rules of ``secrets``, less what a person declared free of secrets.

Called by ``ingest`` and ``freshness``. What may not come in: rules of what a secret looks like, reading of files.
"""

from __future__ import annotations

from collections.abc import Sequence

from mog.engine.code import secrets
from mog.engine.code.ignore import Rules

SETTING = "index.allow_secret_content"


class Gates:
    """Answers ``classify`` under one configuration.

    Args:
        allowed: gitignore-style patterns of files whose content is not looked at. Raises ConfigError for what is no pattern.
    """

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = Rules()
        self._allowed.add(allowed, SETTING, where="mog.yaml")

    def classify(self, path: str, data: bytes) -> secrets.Gate:
        """Gate of one file: all of it, some values, or nothing."""
        if self._allowed and self._allowed.match(path):
            return secrets.OPEN
        return secrets.classify(path, data)
