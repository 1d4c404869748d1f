"""Which of several definitions of one name a call means, by the number and the known types of its arguments. Called by
``link_calls.py`` for languages with overloads.

What may not come in: other names, the types of expressions (the extractor says what it knows of arguments). Types are written as
``Item``, ``#int`` (builtin), with a ``*`` behind them for a collection; "" is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from mog.engine.code.link_names import takes
from mog.engine.code.link_view import Sym

Kin = Callable[[Sym | None, str, Sym, str], bool | None]

_TEXT = frozenset(("#str", "#object", "CharSequence", "Comparable", "Serializable", "Object", "String"))
_WIDER = {
    "#byte": ("#short", "#int", "#long", "#float", "#double"), "#short": ("#int", "#long", "#float", "#double"),
    "#char": ("#int", "#long", "#float", "#double"), "#int": ("#long", "#float", "#double", "#decimal"),
    "#long": ("#float", "#double", "#decimal"), "#float": ("#double",), "#double": (), "#bool": (), "#decimal": (),
}  # fmt: skip
_BOXES = {"#byte": "Byte", "#short": "Short", "#char": "Character", "#int": "Integer", "#long": "Long", "#float": "Float",
          "#double": "Double", "#bool": "Boolean"}  # fmt: skip
_UNBOXED = {boxed: plain for plain, boxed in _BOXES.items()}
MOST = 8
_ANYTHING = frozenset(("", "#object", "Object"))


def namesakes(sym: Sym) -> list[Sym]:
    """The definitions that share a symbol's name and place: those of one class or namespace."""
    parent = sym.parent
    held = (parent.member(sym.name) if parent is not None else sym.file.top.get(sym.name)) or [sym.idx]
    if len(held) == 1:
        return [sym]
    place = _place(sym)
    return [one for one in map(sym.file.sym, held) if _place(one) == place]


def _place(sym: Sym) -> tuple[str, str]:
    return sym.meta.get("of", ""), sym.meta.get("ns", "")


def overloads(sym: Sym, count: int, given: str, kin: Kin) -> tuple[Sym, ...]:
    """Of a symbol and its namesakes those that a call may mean, one with a body before those that are only declared. Where none takes
    so many arguments the symbol itself; all of them where they stand apart from the class that says what they take.

    Args:
        given: the types of the arguments, separated by commas; "" when nothing is known of any.
        kin: whether a type that the asking file (None) or that of a definition names is one that a definition names; None: unknown.
    """
    held = namesakes(sym)
    if len(held) == 1:
        return (sym,)
    fits = [one for one in held if takes(one, count)]
    exact = [one for one in fits if one.meta.get("n", (0, -1))[1] >= 0 or _as_array(one, count, given)]
    fits = exact or fits
    fits = [one for one in fits if "declared" not in one.flags] or fits
    if not fits and sym.meta.get("of"):
        return tuple(held[:MOST])
    if len(fits) > 1 and given:
        fits = _by_types(fits, given.split(","), kin)
    return tuple(fits) or (sym,)


def _as_array(sym: Sym, count: int, given: str) -> bool:
    """Whether a method that takes any number of arguments may be handed an array of them."""
    return given.endswith("*") and count == len(sym.meta.get("t", "").split(","))


def _by_types(fits: list[Sym], given: list[str], kin: Kin) -> list[Sym]:
    """Those whose parameters may take the arguments; where all types are known the one that is the closest to them."""
    text = ",".join(given)
    held = [(one, _wanted(one, len(given), _as_array(one, len(given), text))) for one in fits]
    able = [
        (one, wanted)
        for one, wanted in held
        if all(_may_be(*pair, one, kin) for pair in zip(given, wanted, strict=True))
    ]
    if len(able) > 1 and all(given):
        same = [one for one, wanted in able if wanted == given]
        if len(same) == 1:
            return same
        near = [one for one, wanted in able if all(map(_without_boxing, given, wanted))]
        if len(near) == 1 and not any("" in wanted for _, wanted in able):
            return near
        best = [
            one
            for one, wanted in able
            if all(other is one or _closer(one, wanted, other, than, kin) for other, than in able)
        ]
        if len(best) == 1:
            return best
    return [one for one, _ in able] or fits


def _closer(one: Sym, wanted: list[str], other: Sym, than: list[str], kin: Kin) -> bool:
    """Whether whatever one definition takes, another takes too, and not the other way round."""
    if wanted == than:
        return False
    return all(
        mine == its or its in _ANYTHING or (_is_class(mine) and _is_class(its) and kin(one, mine, other, its) is True)
        for mine, its in zip(wanted, than, strict=True)
    )


def _is_class(kind: str) -> bool:
    return kind.isidentifier()


def _wanted(sym: Sym, count: int, as_array: bool) -> list[str]:
    """Types of the parameters for so many arguments; the last one of a method that takes any number stands for all others."""
    kinds = sym.meta.get("t", "").split(",")
    if sym.meta.get("n", (0, 0))[1] < 0:
        if as_array:
            kinds[-1] += "*" * bool(kinds[-1])
        kinds += [kinds[-1]] * (count - len(kinds))
    return [*kinds, *[""] * (count - len(kinds))][:count]


def _may_be(given: str, wanted: str, sym: Sym, kin: Kin) -> bool:
    """Whether an argument of one type can be handed to a parameter of another; True where too little is known."""
    if given == wanted or not given or wanted in _ANYTHING:
        return True
    if given.endswith("*") or wanted.endswith("*"):
        return given.endswith("*") and wanted.endswith("*") and not (given[0] == "#" or wanted[0] == "#")
    if given == "#None":
        return wanted not in _WIDER
    if wanted.endswith("?"):
        return _may_be(given.rstrip("?"), wanted[:-1], sym, kin)
    if given.endswith("?"):
        return wanted not in _WIDER and wanted != "#str"
    if given == "#str":
        return wanted in _TEXT
    if given in _UNBOXED and (wanted == _UNBOXED[given] or wanted in _WIDER[_UNBOXED[given]]):
        return True
    if given in _WIDER:
        return (
            wanted in _WIDER[given] or wanted == _BOXES.get(given) or wanted in ("Number", "Comparable", "Serializable")
        )
    if wanted in _WIDER or wanted in ("#str", "#class"):
        return False
    return not (_is_class(given) and _is_class(wanted)) or kin(None, given, sym, wanted) is not False


def _without_boxing(given: str, wanted: str) -> bool:
    return given == wanted or wanted in _WIDER.get(given, ())
