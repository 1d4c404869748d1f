"""Cases of a language in two lines: what its files define, and what they link to. Called by the conformance tests.

What may not come in: expectations.
"""

from __future__ import annotations

from collections.abc import Mapping

from mog.engine.code import extract
from mog.engine.code import facts as schema
from mog.engine.code.languages_map import language_of
from mog.engine.code.link import Linker, MemoryView

TIERS = ("", "~", "?", "!")


def facts(path: str, source: str | bytes) -> schema.Facts:
    data = source if isinstance(source, bytes) else source.encode()
    return extract.extract(language_of(path, data[:200]), data, path)


def defined(path: str, source: str | bytes, *kinds: str) -> str:
    """Qualified names of the symbols, in order, blank separated; only of some kinds if these are named."""
    return " ".join(row[schema.QUAL] for row in facts(path, source)["syms"] if not kinds or row[schema.KIND] in kinds)


def row(found: schema.Facts, qual: str) -> list[object]:
    (held,) = [one for one in found["syms"] if one[schema.QUAL] == qual]
    return list(held)


def span(path: str, source: str, qual: str) -> str:
    """The text of a symbol."""
    held = row(facts(path, source), qual)
    return source.encode()[int(str(held[schema.FULL])) : int(str(held[schema.STOP]))].decode()


def anchor(path: str, source: str, qual: str) -> str:
    return str(row(facts(path, source), qual)[schema.SPAN])


def links(files: Mapping[str, str], path: str, *kinds: str) -> set[str]:
    """``source kind target`` of one file's edges; the module is ``-``, a lower tier is marked ``~`` (hierarchy), ``?`` (candidate)
    or ``!`` (unresolved).
    """
    view = MemoryView({name: facts(name, source) for name, source in files.items()})

    def label(where: str, at: int | str) -> str:
        if not where:
            return str(at)
        held = view.facts(where)
        assert held is not None
        name = str(held["syms"][int(at)][schema.QUAL]) if int(at) >= 0 else "-"
        return name if where == path else where if name == "-" else f"{where}:{name}"

    return {
        f"{label(path, source)} {kind} {TIERS[tier]}{label(where, target)}"
        for source, where, target, kind, tier, _ in Linker(view).link_file(path).edges
        if not kinds or kind in kinds
    }
