"""Small questions that the rules of Java and C# share: which of several definitions is nearest, what a chain begins with. Called by
``link_java.py`` and ``link_csharp.py``. What may not come in: lookups, the rules of one language.
"""

from __future__ import annotations

from mog.engine.code.link_view import File, Sym


def head_of(chain: str) -> str:
    """The first name of a chain, without what stands behind it."""
    head = chain.partition("|")[0].partition(".")[0].partition("^")[0]
    return head.rstrip("()[]{}*")


def nearest(found: list[Sym], file: File) -> Sym:
    """Of several definitions of one full name the one whose path shares the most with that of the file that asks."""
    if len(found) == 1:
        return found[0]
    own = file.path.split("/")

    def shared(sym: Sym) -> tuple[int, str]:
        count = 0
        for mine, other in zip(own, sym.file.path.split("/"), strict=False):
            if mine != other:
                break
            count += 1
        return -count, sym.file.path

    return min(found, key=shared)
