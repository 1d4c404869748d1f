"""Plain JSON values: checked, copied, frozen, written in one canonical form. Called by the graph and the ledgers.

What may not come in: files, records of ours, values that JSON cannot hold (sets, bytes, NaN, lone surrogates, integers
that a double would round). What passes ``plain`` has exactly one canonical text (RFC 8785), so a digest over it means
something.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mog.engine.errors import StoreDamaged, UsageError

MAX_DEPTH = 64
MAX_INT = 2**53 - 1
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(value: object, where: str = "") -> Any:
    """Deep copy of ``value`` made of dict, list, str, int, float, bool and None.

    Raises:
        UsageError: a value that has no single JSON form, or nesting beyond 64 levels; ``where`` names the spot.
    """
    return _plain(value, where, MAX_DEPTH)


def _plain(value: object, where: str, depth: int) -> Any:
    if depth == 0:
        raise _refused(f"nested deeper than {MAX_DEPTH} levels", where)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, int | float):
        return _number(value, where)
    if isinstance(value, Mapping):
        return {_key(k, where): _plain(v, f"{where}.{k}" if where else str(k), depth - 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v, f"{where}[{i}]", depth - 1) for i, v in enumerate(value)]
    raise _refused(f"a {type(value).__name__} has no JSON form", where)


def _text(value: str, where: str) -> str:
    if _SURROGATE.search(value):
        raise _refused("text that is not valid Unicode (a lone surrogate)", where)
    return str(value)


def _key(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _refused(f"a key must be text, not {type(value).__name__}", where)
    return _text(value, where)


def _number(value: float, where: str) -> int | float:
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        raise _refused(f"{value} is not a number that JSON has", where)
    if abs(value) > MAX_INT:
        raise _refused("an integer beyond 2^53 would be rounded by other readers", where)
    return int(value)


def _refused(what: str, where: str) -> UsageError:
    return UsageError(what, where=where, way_out="store it as text, or as smaller plain values")


def settled(value: object, where: str = "") -> Any:
    """``plain``, with each number as it comes back from its canonical text: 1.0 and 1 have the same, so they are one value.

    Raises UsageError as ``plain`` does.
    """
    return _settled(plain(value, where))


def _settled(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= MAX_INT else value
    if isinstance(value, dict):
        return {k: _settled(v) for k, v in value.items()}
    return [_settled(v) for v in value] if isinstance(value, list) else value


def freeze(value: Any) -> Any:
    """A plain value made read-only: mappings become proxies, lists become tuples."""
    if isinstance(value, dict):
        return MappingProxyType({k: freeze(v) for k, v in value.items()})
    return tuple(freeze(v) for v in value) if isinstance(value, list) else value


def canonical(value: object) -> bytes:
    """The one canonical JSON text of ``value`` (RFC 8785), as UTF-8. Raises UsageError as ``plain`` does."""
    import rfc8785  # not at import: starting the command line does not need it

    return rfc8785.dumps(plain(value))


def parse(data: bytes, where: str = "") -> Any:
    """The value of a JSON text that was stored as canonical.

    Raises:
        StoreDamaged: not UTF-8, not JSON, a key twice, nested too deep, or a number JSON does not have.
    """
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_no_twins, **_NUMBERS)
    except (ValueError, RecursionError) as error:
        what = "nested too deep" if isinstance(error, RecursionError) else "not canonical JSON"
        raise StoreDamaged(f"a stored record is {what}", where=where, way_out="run `mog doctor`") from error


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands twice")
    return out


def _integer(text: str) -> int | float:
    # The canonical text of a large whole double has no point (RFC 8785 3.2.2.3), and no more than 21 digits.
    number = int(text[:24])
    return number if abs(number) <= MAX_INT else _finite(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that JSON has")
    return number


_NUMBERS: dict[str, Any] = {"parse_int": _integer, "parse_float": _finite, "parse_constant": _finite}
