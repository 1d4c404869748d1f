"""``go.mod`` as facts, so that imports are resolved by it like by any other file. Called by ``extract.py`` for language ``gomod``.

What may not come in: resolution, the disk. The module's path is a symbol of kind ``config_key``, found by name like every
definition. A replacement by a folder stands in ``imports`` as ``[-1, "replace", module path, folder, ""]`` (Go Modules Reference,
"replace directive": a path that begins with ``./`` or ``../``), the module itself as ``[-1, "module", module path, "", ""]``.
"""

from __future__ import annotations

import re

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts

VERSION = 1
LANGUAGE = "gomod"
ROWS = 1000
LINE = 2000

_WORDS = re.compile(r'"([^"\n]*)"|`([^`\n]*)`|([^\s()"`]+)|([()])')


def facts_of(lang: str, tree: object, data: bytes, path: str) -> Facts:
    """Facts of one ``go.mod``; a line that is no directive says nothing."""
    found = schema.empty(lang)
    block = ""
    for number, line in enumerate(data.decode("utf-8-sig", "replace").split("\n"), 1):
        words = _words(line)
        if not words:
            continue
        if block and words == [")"]:
            block = ""
        elif len(words) == 2 and words[1] == "(":
            block = words[0]
        else:
            _directive([block, *words] if block else words, line, number, found)
    return found


def _words(line: str) -> list[str]:
    """The words of a line without its comment."""
    return ["".join(parts) for parts in _WORDS.findall(line[:LINE].partition("//")[0])]


def _directive(words: list[str], line: str, number: int, found: Facts) -> None:
    if words[0] == "module" and len(words) == 2 and not found["syms"]:
        found["syms"].append([words[1], words[1], "config_key", -1, number, number, 0, 0, 0, "", "", line.strip()[:LINE], "", {}])
        found["imports"].append([-1, "module", words[1], "", ""])
    elif words[0] == "replace" and "=>" in words[:-1] and len(found["imports"]) < ROWS:
        target = words[words.index("=>") + 1]
        if target.startswith(("./", "../")) or target in (".", ".."):
            found["imports"].append([-1, "replace", words[1], target, ""])
