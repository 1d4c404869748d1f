"""The arguments of a call held against the schema of its tool, before anything is asked of the engine.

Who calls: ``desk``. What may not come in: meaning of an argument. Only what ``table`` uses of JSON Schema is known here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mog.app.mcp.table import Tool
from mog.engine.errors import UsageError

LONGEST_TEXT, LONGEST_LIST, LONGEST_OBJECT = 65_536, 1_000, 65_536
_KINDS = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}


def checked(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with their defaults filled in.

    Raises:
        UsageError: one is missing, unknown, of another type, out of range, too long, or no Unicode.
    """
    unknown = sorted(set(given) - set(tool.takes))
    if unknown:
        way_out = f"{tool.name} takes {', '.join(tool.takes) or 'no arguments'}"
        raise UsageError(
            f"there is no argument {unknown[0]!r:.60}{_nearest(unknown[0], tool)}", where=tool.name, way_out=way_out
        )
    missing = [name for name in tool.needs if given.get(name) in (None, "")]
    if missing:
        raise UsageError(f"{missing[0]} is missing", where=tool.name, way_out=f"give {' and '.join(missing)}")
    found = {name: _checked(tool, name, value) for name, value in given.items() if value is not None}
    return {**{name: schema["default"] for name, schema in tool.takes.items() if "default" in schema}, **found}


def _checked(tool: Tool, name: str, value: Any) -> Any:
    schema, where = tool.takes[name], f"{tool.name}: {name}"
    if schema["type"] == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    wanted = _KINDS[schema["type"]]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise UsageError(
            f"{json.dumps(value, default=str)[:60]} is no {schema['type']}", where=where, way_out="see the schema"
        )
    if "enum" in schema and value not in schema["enum"]:
        raise UsageError(f"{value!r:.40} is none of them", where=where, way_out="one of " + ", ".join(schema["enum"]))
    if wanted is int and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        way_out = f"{schema['minimum']} to {schema['maximum']}"
        raise UsageError(f"{value} is out of range", where=where, way_out=way_out)
    _sized(value, where)
    return value


def _sized(value: Any, where: str) -> None:
    texts = value if isinstance(value, list) else [value]
    if isinstance(value, list) and (len(value) > LONGEST_LIST or not all(isinstance(one, str) for one in value)):
        raise UsageError(f"it takes up to {LONGEST_LIST} texts", where=where, way_out="give fewer, each a text")
    for text in texts:
        if isinstance(text, str) and (len(text) > LONGEST_TEXT or not _is_unicode(text)):
            raise UsageError(f"a text of up to {LONGEST_TEXT} characters is wanted", where=where, way_out="shorten it")
    if isinstance(value, dict) and not _is_small(value):
        raise UsageError(f"up to {LONGEST_OBJECT} bytes of plain JSON are wanted", where=where, way_out="give less")


def _is_small(value: dict[str, Any]) -> bool:
    try:
        return len(json.dumps(value, allow_nan=False).encode("utf-8")) <= LONGEST_OBJECT
    except (ValueError, TypeError, RecursionError):
        return False


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _nearest(name: str, tool: Tool) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(tool.takes), n=1, cutoff=0.6)
    return f"; the nearest is {close[0]}" if close else ""
