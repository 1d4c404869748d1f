"""``Cargo.toml`` as facts, so that paths are resolved by it like by any other file. Called by ``extract.py`` for language ``cargo``.

What may not come in: resolution, the disk. The name by which a package's library is used (``-`` is ``_`` there) is a symbol of kind
``config_key``, found by name like every definition. In ``imports`` stand ``[-1, "lib", path, "", ""]`` where the library is not at
``src/lib.rs``, ``[-1, "bin", path, "", ""]`` for targets with a path, and ``[-1, "dep", name in the code, name of the package, ""]``.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts

VERSION = 1
LANGUAGE = "cargo"
ROWS = 2000

_NAME = re.compile(r"^\s*name\s*=", re.M)
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


def facts_of(lang: str, tree: object, data: bytes, path: str) -> Facts:
    """Facts of one ``Cargo.toml``; a file that is not TOML says nothing but that."""
    found = schema.empty(lang)
    text = data.decode("utf-8-sig", "replace")
    try:
        held = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        found["problems"].append(["syntax_error", 0])
        return found
    package, lib = _table(held, "package"), _table(held, "lib")
    name = _text(lib.get("name")) or _text(package.get("name"))
    if name:
        used = name.replace("-", "_")
        at = _NAME.search(text)
        line = text.count("\n", 0, at.end()) + 1 if at else 1
        found["syms"].append([used, used, "config_key", -1, line, line, 0, 0, 0, "", "", name, "", {}])
    rows = [[-1, "lib", _text(lib.get("path")), "", ""]] if _text(lib.get("path")) else []
    for kind in ("bin", "test", "example", "bench"):
        targets = held.get(kind)
        for target in targets if isinstance(targets, list) else ():
            where = _text(target.get("path")) if isinstance(target, dict) else ""
            rows += [[-1, "bin", where, "", ""]] if where else []
    found["imports"] = (rows + _dependencies(held))[:ROWS]
    return found


def _dependencies(held: dict[str, Any]) -> list[list[Any]]:
    """What a package depends on, also for one platform only or for the whole workspace."""
    places = [held, _table(held, "workspace")]
    places += [part for part in _table(held, "target").values() if isinstance(part, dict)]
    found: dict[str, str] = {}
    for place in places:
        for table in _TABLES:
            for name, value in _table(place, table).items():
                package = _text(value.get("package")) if isinstance(value, dict) else ""
                found.setdefault(name.replace("-", "_"), (package or name).replace("-", "_"))
    return [[-1, "dep", name, package, ""] for name, package in found.items()]


def _table(held: dict[str, Any], name: str) -> dict[str, Any]:
    value = held.get(name)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
