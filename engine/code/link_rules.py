"""What a language's rules say where a language has nothing to say: the defaults of every ``link_<lang>.py``. No code but these.

``link_python.py`` and ``link_declared.py`` name what the linker asks of rules.
"""

from __future__ import annotations

from typing import Any


class Rules:
    """Attributes: see ``link_declared.py``; as they stand, names are found in files and by imports alone."""

    implicit = False
    overloads = False
    structural = False
    converts = False
    exact = False
    sealed = False
    mixes = False
    reopens = False
    declares = False
    variants = False
    transparent: frozenset[str] = frozenset()
    apart = False
    extended = False
    mixed = True
    invoke, iterates, subscripted = "__call__", "__iter__", "__getitem__"
    beside: Any = None
    elsewhere: Any = None
    direct: Any = None

    def sure(self, text: str) -> bool:
        """Whether a name that only one definition has is certain on an unknown receiver written like this."""
        return True
