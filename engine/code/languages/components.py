"""Vue and Svelte single-file components: their scripts as JavaScript or TypeScript, and what their markup uses.

Called by ``extract.py``.

What may not come in: other files, a parser of HTML, recursion. Everything but the scripts is blanked, so bytes and lines stay
where they are and one reading gives facts and anchors. The component is a symbol of its own (kind ``class``, exported as
``default``) unless its script names one; what the markup uses is said in its name. Markup is read by bounded scanners in
``markup.py``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.markup import Block, Uses, blocks, svelte_uses, vue_uses

VERSION = 1
Read = Callable[[str, bytes], Facts]

_BLANK = bytes(byte if byte in b"\r\n" else 32 for byte in range(256))
_LANGUAGES = {"ts": "typescript", "typescript": "typescript", "tsx": "tsx"}
_NO_NAME = re.compile(r"[^\w$]+")
_COMMENT = re.compile(rb"<!--(?:[^-]|-(?!->))*+(?:-->)?")
#: Objects of a component's options whose members the markup sees.
_SEEN = ("default.methods.", "default.computed.", "default.setup.")


def host_facts(lang: str, data: bytes, path: str, read: Read) -> Facts:
    """Facts of one component; ``read`` gives those of its scripts, at their places in the file."""
    found_blocks = blocks(data)
    scripts = [block for block in found_blocks if block.name == "script"]
    inner = inner_language(data, scripts)
    found = read(inner, scripts_only(data, scripts))
    for block in scripts:
        if block.source:
            found["imports"].append([-1, "*", block.source, "*", ""])
    options = next((at for at, row in enumerate(found["syms"]) if row[schema.QUAL] == "default"), -1)
    owner = options if options >= 0 else _add_component(found, data, path, _span(lang, data, found_blocks))
    uses = svelte_uses(data, found_blocks) if lang == "svelte" else vue_uses(data, found_blocks)
    held = _references(found, uses, by_options=lang == "vue" and options >= 0)
    if held:
        found["refs"].append([owner, " ".join(held)])
    return found


def scripts_only(data: bytes, scripts: list[Block]) -> bytes:
    """``data`` with everything outside of its scripts blanked: same length, same lines."""
    out = bytearray(data.translate(_BLANK))
    for block in scripts:
        out[block.start : block.stop] = data[block.start : block.stop]
    return bytes(out)


def inner_language(data: bytes, scripts: list[Block] | None = None) -> str:
    """Language of the scripts of a component: the richest that one of them names."""
    scripts = [block for block in blocks(data) if block.name == "script"] if scripts is None else scripts
    named = {_LANGUAGES.get(block.lang, "javascript") for block in scripts}
    return next((lang for lang in ("tsx", "typescript") if lang in named), "javascript")


def component_name(path: str) -> str:
    """The name a component goes by: that of its file, of its folder where that is called ``index``."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    if stem == "index" and folder:
        stem = folder.rpartition("/")[2]
    return _NO_NAME.sub("_", stem).strip("_") or "component"


def _span(lang: str, data: bytes, found: list[Block]) -> tuple[int, int]:
    """What a component is, in bytes: its template, or the whole file where markup and scripts stand side by side."""
    template = next((block for block in found if block.name == "template"), None)
    if lang == "vue" and template is not None:
        return template.full, template.end
    return 0, len(data.rstrip())


def _add_component(found: Facts, data: bytes, path: str, span: tuple[int, int]) -> int:
    name, (start, stop) = component_name(path), span
    line, end = data.count(b"\n", 0, start) + 1, data.count(b"\n", 0, stop) + 1
    row: list[Any] = [
        name,
        name,
        "class",
        -1,
        line,
        end,
        start,
        stop,
        start,
        "",
        "",
        f"component {name}",
        "",
        {"x": ["component"]},
    ]
    found["syms"].append(row)
    schema.unique_quals(found["syms"])
    index = len(found["syms"]) - 1
    found["binds"]["default"] = found["exports"]["default"] = f"@{index}"
    return index


def hash_rows(data: bytes, rows: list[list[Any]]) -> None:
    """Fill the hashes of a component's own row in place: its span with blanks made one and comments left out."""
    for row in rows:
        if "component" in row[schema.META].get("x", ()):
            text = b" ".join(_COMMENT.sub(b" ", data[row[schema.FULL] : row[schema.STOP]]).split())
            row[schema.SPAN] = row[schema.BODY] = hashlib.blake2b(
                text, digest_size=16, person=b"mog.component"
            ).hexdigest()


def _references(found: Facts, uses: Uses, *, by_options: bool) -> list[str]:
    """Chains of what the markup uses, as far as the scripts define or import it."""
    imported = {row[1] for row in found["imports"] if row[0] < 0}
    if by_options:
        members = _members(found)
        seen = {
            **dict.fromkeys(uses.tags & imported),
            **{members[name]: None for name in sorted(uses.names) if name in members},
        }
        return sorted(seen)
    top = {
        row[schema.NAME]
        for row in found["syms"]
        if row[schema.PARENT] < 0 and row[schema.KIND] in ("function", "class")
    }
    return sorted((uses.tags | uses.names) & (imported | top))


def _members(found: Facts) -> dict[str, str]:
    """Name → pointer of every method the options of a component define once."""
    held: dict[str, list[int]] = {}
    for at, row in enumerate(found["syms"]):
        if row[schema.QUAL].startswith(_SEEN) and row[schema.QUAL].count(".") == 2 and row[schema.KIND] == "method":
            held.setdefault(row[schema.NAME], []).append(at)
    return {name: f"@{places[0]}" for name, places in held.items() if len(places) == 1}
