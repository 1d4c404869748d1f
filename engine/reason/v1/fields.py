"""Strict reading and exact writing of the JSON that the v1 formats are made of. Called by ``graph`` and ``resolver``.

Nothing is coerced and nothing has a default: a field that is missing, unknown, or of another type is damage, and the error
names the file and the field. What may not come in: the meaning of a field.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.values import MAX_DEPTH, MAX_INT

_WAY_OUT = "take the file from a backup, or write it again with the program that made it"
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_DIGITS = 400  # more than a double can hold; int() of a longer text is slow or refused


def damaged(what: str, where: str) -> StoreDamaged:
    """The error for content that cannot be believed; ``where`` is file and field."""
    return StoreDamaged(what, where=where, way_out=_WAY_OUT)


def load(data: bytes, where: str) -> Any:
    """The value of a JSON text (RFC 8259), read strictly.

    Raises:
        StoreDamaged: not UTF-8, not JSON, a key twice, NaN or Infinity, a number beyond a double, nested too deep.
    """
    try:
        text = data.decode("utf-8")
        return json.loads(text, object_pairs_hook=_no_twins, parse_int=_int, parse_float=_float, parse_constant=_float)
    except UnicodeDecodeError as error:
        raise damaged(f"byte {error.start} is not UTF-8", where) from error
    except RecursionError as error:
        raise damaged("nested too deep", where) from error
    except ValueError as error:
        raise damaged(f"not JSON: {error}", where) from error


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        twin = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise ValueError(f"the key {twin!r:.80} stands twice in one object")
    return out


def _int(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that JSON has")
    return number


def record(value: Any, keys: Sequence[str], where: str) -> dict[str, Any]:
    """``value`` as an object with exactly ``keys``."""
    if not isinstance(value, dict):
        raise _other(value, "an object", where)
    if len(value) != len(keys) or any(key not in value for key in keys):
        for key in keys:
            if key not in value:
                raise damaged(f"the field {key!r} is missing", where)
        raise damaged(f"an unknown field {min(set(value) - set(keys))!r}", where)
    return value


def schema(value: Any, name: str, keys: Sequence[str], where: str) -> dict[str, Any]:
    """``value`` as a file of the schema ``name``, version 1, with exactly ``keys`` besides.

    Raises:
        UsageError: another schema or version. StoreDamaged: missing or unknown fields.
    """
    if not isinstance(value, dict) or value.get("schema") != name:
        raise UsageError(f"this is no {name} file", where=where, way_out="name the file that `export` wrote")
    version = value.get("version")
    if type(version) is not int or version != 1:
        raise UsageError(f"version {version!r} of {name} is not known here", where=where, way_out="export it as version 1")
    return record(value, ("schema", "version", *keys), where)


def text(value: Any, where: str) -> str:
    """A text of valid Unicode."""
    if not isinstance(value, str):
        raise _other(value, "text", where)
    if _SURROGATE.search(value):
        raise damaged("text that is not valid Unicode (a lone surrogate)", where)
    return value


def maybe_text(value: Any, where: str) -> str | None:
    """A text or null."""
    return None if value is None else text(value, where)


def flag(value: Any, where: str) -> bool:
    """True or false, and no number that looks like it."""
    if not isinstance(value, bool):
        raise _other(value, "true or false", where)
    return value


def count(value: Any, where: str, least: int = 0) -> int:
    """A whole number from ``least`` to 2^53 - 1, and no flag."""
    if type(value) is not int:
        raise _other(value, "a whole number", where)
    if not least <= value <= MAX_INT:
        raise damaged(f"a number from {least} to 2^53 - 1, not {str(value)[:40]}", where)
    return value


def number(value: Any, where: str) -> float:
    """A finite number; a whole one becomes a float, as the format writes it."""
    if type(value) is float:
        return value
    if type(value) is not int:
        raise _other(value, "a number", where)
    try:
        return float(value)
    except OverflowError as error:
        raise damaged("a number beyond what a double holds", where) from error


def rows(value: Any, where: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise _other(value, "a list", where)
    return value


def texts(value: Any, where: str) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(text(item, f"{where}[{i}]") for i, item in enumerate(rows(value, where)))


def span(value: Any, where: str) -> tuple[int, int] | None:
    """Null, or a start and an end in characters that is not before it."""
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise _other(value, "null or a pair of whole numbers", where)
    start, end = count(value[0], f"{where}[0]"), count(value[1], f"{where}[1]")
    if end < start:
        raise damaged(f"a span that ends at {end}, before it starts at {start}", where)
    return start, end


def vector(value: Any, where: str) -> tuple[float, ...] | None:
    """Null or a list of finite numbers."""
    if value is None:
        return None
    if set(map(type, rows(value, where))) <= {float}:
        return tuple(value)
    return tuple(number(item, f"{where}[{i}]") for i, item in enumerate(value))


def free(value: Any, where: str) -> dict[str, Any]:
    """An object of any JSON, of valid Unicode and at most 64 levels."""
    if not isinstance(value, dict):
        raise _other(value, "an object", where)
    _look(value, where, MAX_DEPTH - 8)  # room for what it is stored in
    return value


def _look(value: Any, where: str, depth: int) -> None:
    if depth == 0:
        raise damaged("nested too deep", where[:200])
    if isinstance(value, str):
        text(value, where)
    elif isinstance(value, dict):
        for key, item in value.items():
            _look(item, f"{where}.{text(key, where)}", depth - 1)
    elif isinstance(value, list):
        for item in value:
            _look(item, where, depth - 1)


def _other(value: Any, wanted: str, where: str) -> StoreDamaged:
    names = {dict: "an object", list: "a list", str: "text", bool: "a flag", int: "a whole number", float: "a number"}
    return damaged(f"expected {wanted}, found {names.get(type(value), 'null')}", where)


# -- writing


def pretty(value: object) -> bytes:
    """The byte form of both formats: sorted keys, two spaces a level, text as it is, a line end at the end.

    Raises:
        ValueError: NaN or an infinity, which no value read here holds.
    """
    return (_pretty(value, "\n") + "\n").encode("utf-8")


def _pretty(value: object, line: str) -> str:
    # The standard encoder writes indented text through a slow path; these few lines write the same bytes.
    inner = line + "  "
    if isinstance(value, Mapping):
        items = [f"{_scalar(key)}: {_pretty(value[key], inner)}" for key in sorted(value)]
        return "{" + inner + ("," + inner).join(items) + line + "}" if items else "{}"
    if isinstance(value, list | tuple):
        if value and set(map(type, value)) == {float}:
            items = [float.__repr__(item) if math.isfinite(item) else _scalar(item) for item in value]
        else:
            items = [_pretty(item, inner) for item in value]
        return "[" + inner + ("," + inner).join(items) + line + "]" if items else "[]"
    return _scalar(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def _scalar(value: object) -> str:
    return _ENCODER.encode(value)


# -- values that one canonical JSON text cannot hold apart


def exact(value: Any) -> bool:
    """True when RFC 8785 keeps the value as it is: no 1.0 (which becomes 1), no -0.0, no integer beyond 2^53."""
    if isinstance(value, dict):
        return all(map(exact, value.values()))
    if isinstance(value, list | tuple):
        return all(map(exact, value))
    if isinstance(value, float):
        return not value.is_integer()
    return isinstance(value, bool) or not isinstance(value, int) or abs(value) <= MAX_INT
