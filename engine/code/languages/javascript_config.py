"""``tsconfig.json``, ``jsconfig.json`` and ``package.json`` as facts, so that module resolution reads them like any other file.

Called by ``extract.py`` for files of the language ``jsconfig``. What may not come in: resolution, the disk. What a setting says
stands in ``imports`` as ``[-1, setting, value, second value, ""]``: ``baseUrl dir``, ``paths pattern target`` (one row a target),
``extends module``, ``references path``, ``main``/``module``/``types``/``source path``, ``exports subpath path``,
``imports pattern path``, ``workspaces glob``. A package's name is a symbol of kind ``config_key``, found by name
like every definition.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts

VERSION = 1
LANGUAGE = "jsconfig"
DEEP = 12
ROWS = 4000

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?://[^\n]*\s*|/\*.*?\*/\s*)*[}\]])', re.S)
_NAME = re.compile(r'"name"\s*:')
_ENTRY = ("main", "module", "types", "typings", "source", "browser")


def is_config(path: str) -> bool:
    """Whether a file by that name steers how modules are found."""
    name = path.rpartition("/")[2]
    return name == "package.json" or (name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json"))


def facts_of(lang: str, tree: object, data: bytes, path: str) -> Facts:
    """Facts of one configuration file; a file that is not JSON (with comments and commas allowed) says nothing but that."""
    found = schema.empty(lang)
    try:
        held = json.loads(_TOKEN.sub(_plain, data.decode("utf-8-sig", "replace")))
    except (ValueError, RecursionError):
        found["problems"].append(["syntax_error", 0])
        return found
    if isinstance(held, dict):
        rows = _package(held, data, found) if path.rpartition("/")[2] == "package.json" else _compiler(held)
        found["imports"] = rows[:ROWS]
    return found


def extract_tsconfig(data: bytes, path: str = "tsconfig.json") -> Facts:
    """Facts of a configuration file by its bytes alone."""
    return facts_of(LANGUAGE, None, data, path)


def _plain(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == '"' else " "


def _row(setting: str, value: Any, second: Any = "") -> list[list[Any]]:
    return [[-1, setting, value, second, ""]] if isinstance(value, str) and isinstance(second, str) else []


def _compiler(held: dict[str, Any]) -> list[list[Any]]:
    options = held.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    rows = _row("baseUrl", options.get("baseUrl"))
    paths = options.get("paths")
    for pattern, targets in paths.items() if isinstance(paths, dict) else ():
        for target in targets if isinstance(targets, list) else ():
            rows += _row("paths", pattern, target)
    above = held.get("extends")
    for module in above if isinstance(above, list) else [above]:
        rows += _row("extends", module)
    references = held.get("references")
    for reference in references if isinstance(references, list) else ():
        rows += _row("references", reference.get("path") if isinstance(reference, dict) else None)
    return rows


def _package(held: dict[str, Any], data: bytes, found: Facts) -> list[list[Any]]:
    rows = [row for setting in _ENTRY for row in _row(setting, held.get(setting))]
    for setting in ("exports", "imports"):
        rows += _conditions(setting, held.get(setting))
    spaces = held.get("workspaces")
    spaces = spaces.get("packages") if isinstance(spaces, dict) else spaces
    for glob in spaces if isinstance(spaces, list) else ():
        rows += _row("workspaces", glob)
    name = held.get("name")
    if isinstance(name, str) and name:
        at = _NAME.search(data.decode("utf-8-sig", "replace"))
        line = data.count(b"\n", 0, at.start()) + 1 if at else 1
        found["syms"].append([name, name, "config_key", -1, line, line, 0, 0, 0, "", "", name, "", {}])
    return rows


def _conditions(setting: str, value: Any) -> list[list[Any]]:
    """Every path an ``exports`` or ``imports`` field can lead to, by subpath, in the order written."""
    rows: list[list[Any]] = []
    work: list[tuple[str, Any, int]] = [(".", value, 0)]
    while work and len(rows) < ROWS:
        subpath, held, deep = work.pop()
        if isinstance(held, str):
            rows += _row(setting, subpath, held)
        elif isinstance(held, list) and deep < DEEP:
            work += [(subpath, part, deep + 1) for part in reversed(held)]
        elif isinstance(held, dict) and deep < DEEP:
            work += [
                (key if key[:1] in (".", "#") else subpath, part, deep + 1) for key, part in reversed(held.items())
            ]
    return rows
