"""Strict reading of YAML files that declare commands: bounded, no aliases, every mistake named with file and field.

Who calls: ``reason/auditors.py``; plans and packs later. What may not come in: what the fields mean, running, files outside the
root. PyYAML is imported when a file is there.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.engine.code.content import Reader
from mog.engine.errors import ConfigError

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 256_000
MAX_DEPTH = 12
MAX_ITEMS = 1_000


def read(root: Path, path: str) -> Any:
    """The value of a YAML file below ``root``; None when there is no file.

    Raises:
        ConfigError: it is a link or no plain file, larger than 256,000 bytes, not UTF-8, not YAML, nested deeper than 12
            levels, has an alias, a key twice, or a tag of its own.
    """
    with Reader(root, max_bytes=MAX_BYTES) as reader:
        content = reader.read(path)
    if content.data is None:
        if content.reason == "vanished":
            return None
        raise ConfigError(f"cannot be used: {content.reason}", where=path, way_out="put a plain text file in its place")
    try:
        text = content.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8", where=path, way_out="save the file as UTF-8") from error
    return _load(text, path)


def _load(text: str, path: str) -> Any:
    import yaml

    loader = _loader_type()(text, path)
    try:
        return loader.get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else path
        raise ConfigError(
            getattr(error, "problem", "") or "is not YAML", where=where, way_out="correct the YAML"
        ) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise ConfigError("a value is not plain YAML", where=path, way_out="write texts, numbers and lists") from error
    finally:
        loader.dispose()


def _loader_type() -> Callable[[str, str], yaml.SafeLoader]:
    import yaml

    class Strict(yaml.SafeLoader):
        def __init__(self, text: str, path: str) -> None:
            super().__init__(text)
            self._path = path
            self._depth = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            where = f"{self._path}:{self.peek_event().start_mark.line + 1}"  # type: ignore[no-untyped-call]
            if self.check_event(yaml.AliasEvent):
                raise ConfigError("aliases are not accepted", where=where, way_out="write the value out")
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise ConfigError("is nested too deep", where=where, way_out="the manual shows the form")
            node = super().compose_node(parent, index)
            self._depth -= 1
            if isinstance(node, yaml.MappingNode):
                _refuse_twins(node, where)
            return node

    return Strict


def _refuse_twins(node: yaml.MappingNode, where: str) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if str(key.value) in seen:
            raise ConfigError(f"{key.value} is set twice", where=where, way_out="keep one of the two lines")
        seen.add(str(key.value))


class Fields:
    """One mapping of a file, its fields taken by name and type.

    Raises ConfigError, here and from every method: no mapping, an unknown field (with the nearest known), a wrong type.
    """

    def __init__(self, value: object, file: str, where: str, known: Collection[str]) -> None:
        self._file, self._where = file, where
        if not isinstance(value, dict):
            raise self.error("", "is no mapping", "write `name: value` lines")
        self._value: dict[str, Any] = value
        for name in value:
            if name not in known:
                near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
                hint = f"; the nearest is {near[0]}" if near else ""
                raise self.error(str(name), f"unknown field{hint}", "it takes " + ", ".join(known))

    def error(self, name: str, what: str, way_out: str) -> ConfigError:
        """An error about one field, naming file and field."""
        field = self.where(name)
        return ConfigError(what, where=f"{self._file}: {field}" if field else self._file, way_out=way_out)

    def where(self, name: str) -> str:
        """Where a field stands in the file, as ``auditors[0].argv``."""
        return ".".join(part for part in (self._where, name) if part)

    def raw(self, name: str) -> Any:
        """The value as it stands, None when the field is absent."""
        return self._value.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """A text; required without a default."""
        value = self._value.get(name, default)
        if not isinstance(value, str) or not _sound(value):
            raise self.error(name, "is no text", "write a text without control characters")
        return value

    def texts(self, name: str, least: int = 0) -> tuple[str, ...]:
        """A list of texts, at least ``least`` of them."""
        value = self._value.get(name, [])
        sound = isinstance(value, list) and all(isinstance(item, str) and _sound(item) for item in value)
        if not sound or not least <= len(value) <= MAX_ITEMS:
            raise self.error(name, "is no list of texts", f"write a list with {least or 'any number of'} or more texts")
        return tuple(value)

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A number between two limits."""
        value = self._value.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.error(name, f"cannot be {value!r}", f"it takes a number from {low:g} to {high:g}")
        return float(value)

    def choice(self, name: str, choices: Collection[str]) -> str:
        """One of ``choices``, the first by default."""
        value = self._value.get(name, next(iter(choices)))
        if value not in choices:
            raise self.error(name, f"cannot be {value!r}", "it takes " + " or ".join(choices))
        return str(value)

    def items(self, name: str) -> Iterator[tuple[str, Any]]:
        """Each item of a list with where it stands."""
        value = self._value.get(name, [])
        if not isinstance(value, list) or len(value) > MAX_ITEMS:
            raise self.error(name, "is no list", f"write a list of at most {MAX_ITEMS} items")
        yield from ((f"{name}[{at}]", item) for at, item in enumerate(value))


def _sound(text: str) -> bool:
    """Text that every system can pass on: no NUL or other control character but line breaks and tabs, no lone surrogate."""
    return (
        not any((c < " " and c not in "\n\t") or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in text)
        and len(text) <= 8_000
    )
