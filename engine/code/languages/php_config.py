"""``composer.json`` as facts, so that where a class is looked for is read like any other file. Called by ``extract.py``.

What may not come in: resolution, the disk. What it says stands in ``imports`` as ``[-1, "psr-4", prefix, folder, ""]``, one row a
folder, of ``autoload`` and ``autoload-dev``; PSR-0 prefixes stand as ``psr-0``. The package's name is a symbol of kind
``config_key``, found by name like every definition.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts

VERSION = 1
ROWS = 2000

_NAME = re.compile(r'"name"\s*:')


def facts_of(lang: str, tree: object, data: bytes, path: str) -> Facts:
    """Facts of one ``composer.json``; a file that is not JSON says nothing but that."""
    found = schema.empty(lang)
    try:
        held = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        found["problems"].append(["syntax_error", 0])
        return found
    if isinstance(held, dict):
        found["imports"] = _rows(held)[:ROWS]
        _named(held.get("name"), data, found)
    return found


def _rows(held: dict[str, Any]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for section in ("autoload", "autoload-dev"):
        loaded = held.get(section)
        for kind in ("psr-4", "psr-0"):
            prefixes = loaded.get(kind) if isinstance(loaded, dict) else None
            for prefix, folders in prefixes.items() if isinstance(prefixes, dict) else ():
                for folder in folders if isinstance(folders, list) else [folders]:
                    if isinstance(folder, str):
                        rows.append([-1, kind, prefix, folder.strip("/"), ""])
    return rows


def _named(name: Any, data: bytes, found: Facts) -> None:
    if isinstance(name, str) and name:
        text = data.decode("utf-8-sig", "replace")
        at = _NAME.search(text)
        line = text.count("\n", 0, at.start()) + 1 if at else 1
        found["syms"].append([name, name, "config_key", -1, line, line, 0, 0, 0, "", "", name, "", {}])
