"""Front matter of a Markdown file: a small YAML mapping between two lines of dashes. Called by ``readers.py``.

What may not come in: other tags than YAML's own plain ones, aliases (refused while composing, before they multiply), prose.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mog.engine.errors import UsageError

MAX_BYTES = 64_000
_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")


@dataclass(frozen=True, slots=True)
class Front:
    """Fields of the front matter, names in small letters, and the offset at which prose begins."""

    fields: Mapping[str, Any]
    start: int


def parse(text: str, where: str) -> Front:
    """The front matter of a text; no fields and offset 0 when it has none.

    Raises:
        UsageError: it is too large, no YAML, uses aliases, or is no mapping; ``where`` and the line are named.
    """
    found = _FRONT.match(text[: MAX_BYTES + 200])
    if not found:
        return Front({}, 0)
    if len(found[1]) > MAX_BYTES:
        raise UsageError("the front matter is too large", where=where, way_out=f"keep it below {MAX_BYTES} characters")
    value = _loaded(found[1], where)
    if not isinstance(value, dict):
        if value is None or isinstance(value, str):  # a rule above a paragraph, no front matter
            return Front({}, 0)
        raise UsageError("the front matter is no mapping", where=where, way_out="write `name: value` lines")
    return Front({str(name).lower().replace("_", "-"): field for name, field in value.items()}, found.end())


def _loaded(text: str, where: str) -> Any:
    import yaml  # not at import: most texts have no front matter

    class Plain(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                line = self.peek_event().start_mark.line + 2  # type: ignore[no-untyped-call]
                raise UsageError("aliases are not accepted", where=f"{where}:{line}", way_out="write the value out")
            return super().compose_node(parent, index)

    try:
        return yaml.load(text, Plain)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = f"{where}:{mark.line + 2}" if mark else where
        raise UsageError("the front matter is no YAML", where=at, way_out="repair it, or take it out") from error
    except (ValueError, RecursionError) as error:  # a date such as 2024-13-45, nesting without end
        raise UsageError("a value of the front matter cannot be read", where=where, way_out="quote it") from error


def date_of(value: object, where: str, name: str) -> str | None:
    """A field as YYYY-MM-DD, None when it is empty.

    Raises:
        UsageError: it is no date; ``where`` and the field are named.
    """
    if value is None or value == "":
        return None
    if isinstance(value, datetime.datetime):
        return value.date().isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    found = _ISO.match(value.strip()) if isinstance(value, str) else None
    try:
        if found:
            return datetime.date(*map(int, found.groups())).isoformat()
    except ValueError:
        pass
    raise UsageError(f"{value!r:.40} is not a date", where=f"{where}: {name}", way_out="write YYYY-MM-DD")


def names_of(value: object, where: str, name: str) -> tuple[str, ...]:
    """A field that lists names: a list of texts, or one text with commas.

    Raises:
        UsageError: it is neither; ``where`` and the field are named.
    """
    if value is None:
        return ()
    listed = value.split(",") if isinstance(value, str) else value
    if (
        not isinstance(listed, list)
        or not all(isinstance(each, str | int | float) for each in listed)
        or len(listed) > 1_000
    ):
        raise UsageError("a list of names expected", where=f"{where}: {name}", way_out="write [Name, Other name]")
    return tuple(dict.fromkeys(str(each).strip() for each in listed if str(each).strip()))
