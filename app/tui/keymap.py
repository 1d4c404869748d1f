"""Keys that a person moved: what ``tui.keys`` of mog.yaml says, checked against the table, and how a key is then written.

Who calls: the door of the workbench before the toolkit is loaded, ``mog tui --keys``; the screens ask it how a key is written.
What may not come in: the toolkit, actions. A key another program needs, or one with two meanings, is refused with its place.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mog.app.present import clean
from mog.app.tui.keys import KEYS, WHY_NOT, Key
from mog.app.tui.panes import ELSEWHERE
from mog.engine.errors import ConfigError

FIELD = "tui.keys"
_CONTROL = "ctrl+"
_ANOTHER = {
    "left_square_bracket": "is esc", "i": "is tab", "m": "is enter", "at": "is a zero byte", "h": "is backspace", "j": "is enter",
    "a": "belongs to screen and tmux", "b": "belongs to tmux", "s": "stops the terminal", "q": "starts the terminal again",
    "backslash": "ends the program", "space": "is a zero byte",
}  # fmt: skip
FORBIDDEN: Mapping[str, str] = {f"{_CONTROL}{key}": why for key, why in _ANOTHER.items()}
"""Keys that are another key's byte, or belong to terminals and multiplexers, and why."""

_WRITTEN = {
    "↓": "down", "↑": "up", "←": "left", "→": "right", "esc": "escape", "pgdn": "pagedown", "pgup": "pageup", "return": "enter",
    "del": "delete", "ins": "insert",
}  # fmt: skip
_PRINTED = {"down": "↓", "up": "↑", "left": "←", "right": "→", "escape": "esc", "pagedown": "pgdn", "pageup": "pgup"}
_RENAMED = {
    "solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at", "hyphen_minus": "minus", "plus_sign": "plus",
    "low_line": "underscore",
}  # fmt: skip
_NAMED = frozenset(
    "escape enter tab space backspace delete insert up down left right home end pageup pagedown".split()
) | {f"f{number}" for number in range(1, 25)}


@dataclass(frozen=True, slots=True)
class Keymap:
    """The table of keys as a person has it.

    Attributes:
        table: every action with its keys, in the order of ``KEYS``.
        moved: binding id → keys, for the toolkit.
        origin: who moved them: ``mog.yaml:4``, ``MOG_TUI_KEYS``; "" when nobody did.
    """

    table: tuple[Key, ...] = KEYS
    moved: Mapping[str, str] = ()  # type: ignore[assignment]
    origin: str = ""

    def shown(self, action: str) -> str:
        """How a person writes the first key of ``<action>`` or of ``act('<action>')``."""
        wanted = (action, f"act('{action}')")
        return next((key.shown.split()[0] for key in self.table if key.action in wanted), action)

    def spelled(self, written: str) -> str:
        """A key as the table has it, as this person has it: ``w`` → ``W``; words that are no key stay."""
        if not self.moved:
            return written
        return " ".join(self._now(part) for part in written.split(" "))

    def _now(self, written: str) -> str:
        for old, new in zip(KEYS, self.table, strict=True):
            if old is not new and written in old.shown.split():
                return new.shown.split()[0]
        return written

    def sentence(self, text: str) -> str:
        """A sentence of a key that cannot act (``w: nothing rests on it``) with the key as this person has it."""
        written, colon, rest = text.partition(": ")
        return f"{self.spelled(written)}{colon}{rest}" if colon and self.moved and " " not in written else text


PLAIN = Keymap(KEYS, {})
"""Nothing is moved."""


def keymap(wanted: Mapping[str, str | Sequence[str]], origin: str = "") -> Keymap:
    """The table with some keys moved.

    Args:
        wanted: name of an action (``why``, ``pane.drift``) → its keys instead, as a person writes them.
        origin: file and line, or variable, for errors.

    Raises:
        ConfigError: an action nobody knows, a key that cannot be used, a key with two meanings.
    """
    if not wanted:
        return PLAIN
    by_name = {key.name: key for key in KEYS}
    moved: dict[str, tuple[str, ...]] = {}
    for name, keys in wanted.items():
        if name not in by_name:
            raise _unknown(name, by_name, origin)
        moved[by_name[name].id] = _keys_of(name, keys, origin)
    table = tuple(_with_keys(key, moved[key.id]) if key.id in moved else key for key in KEYS)
    _refuse_two_meanings(table, frozenset(moved), origin)
    return Keymap(table, {ident: ",".join(keys) for ident, keys in moved.items()}, origin)


def _with_keys(key: Key, keys: Sequence[str]) -> Key:
    return replace(key, keys=",".join(keys), shown=" ".join(map(written, keys)))


def _unknown(name: str, by_name: Mapping[str, Key], origin: str) -> ConfigError:
    close = difflib.get_close_matches(name, by_name, n=1, cutoff=0.5)
    nearest = f"; the nearest is {close[0]}" if close else ""
    return ConfigError(
        f"{FIELD}.{clean(name)}: there is no such action{nearest}",
        where=origin,
        way_out="mog tui --keys lists the actions",
    )


def _keys_of(name: str, keys: str | Sequence[str], origin: str) -> tuple[str, ...]:
    words = keys.split() if isinstance(keys, str) else list(keys)
    field = f"{FIELD}.{name}"
    if not words:
        raise ConfigError(f"{field}: no key is given", where=origin, way_out="name one; every action keeps a key")
    return tuple(dict.fromkeys(_key_of(word, field, origin) for word in words))


def _key_of(word: str, field: str, origin: str) -> str:
    """The toolkit's name of a key. Raises ConfigError where there is none, or where it may not be used."""
    key = normal(word)
    if "alt+" in word.lower() or "meta+" in word.lower():
        raise ConfigError(
            f"{field}: {clean(word)}: alt reaches a program as esc", where=origin, way_out="take another key"
        )
    if key in FORBIDDEN:
        raise ConfigError(f"{field}: {clean(word)} {FORBIDDEN[key]}", where=origin, way_out="take another key")
    if not _is_key(key):
        way_out = "write one character, ctrl+letter, f1 to f24, or a name: enter tab space up down home end pgup pgdn"
        raise ConfigError(f"{field}: {clean(word)!r} is no key", where=origin, way_out=way_out)
    return key


def normal(word: str) -> str:
    """The toolkit's name of a key as a person writes it: ``?`` → ``question_mark``, ``ctrl+[`` → ``ctrl+left_square_bracket``."""
    head, plus, last = word.rpartition("+") if len(word) > 1 and word[-1] != "+" else ("", "", word)
    if word.endswith("++"):
        head, plus, last = word[:-2], "+", "+"
    if len(last) == 1:
        last = _WRITTEN.get(last) or _character(last)
        return f"{head.lower()}{plus}{last.lower() if head else last}"
    lower = last.lower()
    return f"{head.lower()}{plus}{_WRITTEN.get(lower, lower)}"


def _character(char: str) -> str:
    if char.isalnum():
        return char
    name = unicodedata.name(char, char).lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name)


def _is_key(key: str) -> bool:
    head, _, last = key.rpartition("+")
    if head not in ("", "ctrl", "shift", "ctrl+shift"):
        return False
    if last in _NAMED:
        return True
    one = len(last) == 1 or any(_character(char) == last for char in map(chr, range(33, 127)))
    if head == "ctrl":
        return one and ((last.isalpha() and last.isascii() and len(last) == 1) or last.isdigit() or len(last) > 1)
    return one and not head and (len(last) > 1 or last.isprintable())


def written(key: str) -> str:
    """How a person writes a key of the toolkit: ``question_mark`` → ``?``."""
    head, plus, last = key.rpartition("+")
    if last in _PRINTED:
        return f"{head}{plus}{_PRINTED[last]}"
    char = next(
        (chr(code) for code in range(33, 127) if not chr(code).isalnum() and _character(chr(code)) == last), last
    )
    return f"{head}{plus}{char}"


def _refuse_two_meanings(table: Iterable[Key], moved: frozenset[str], origin: str) -> None:
    holders: dict[str, Key] = {}
    for key in table:
        for one in key.keys.split(","):
            other = holders.setdefault(one, key)
            if other is key:
                continue
            mine, theirs = (key, other) if key.id in moved else (other, key)
            what = f"{FIELD}.{mine.name}: {written(one)} already is {theirs.name} ({theirs.says})"
            raise ConfigError(what, where=origin, way_out=f"move {theirs.name} as well, or take another key")


def without_command(table: Sequence[Key], has: Iterable[str]) -> tuple[str, ...]:
    """Names of actions that nothing would answer: neither a method of the screen (``has``) nor a meaning that panes share."""
    methods, shared = set(has), {*WHY_NOT, *ELSEWHERE, "pin"}
    alone = (
        key.name not in shared if key.id.startswith("act.") else key.id.partition(".")[0] not in methods
        for key in table
    )
    return tuple(key.name for key, lost in zip(table, alone, strict=True) if lost)
