"""Configuration as one typed record with the origin of every value; the only reader of mog.yaml and MOG_* variables.

Who calls: ``app/cli/door.py`` when it opens a workspace, ``mog doctor`` to show origins.
What may not come in: defaults (they live in ``engine/config.py``), PyYAML at import (only when a file exists).

Order, later wins: built-in, ``mog.yaml``, ``mog.local.yaml``, ``MOG_*``, flags. A list replaces the list below it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.engine.config import EngineConfig
from mog.engine.errors import ConfigError

if TYPE_CHECKING:
    import yaml

FILES = ("mog.yaml", "mog.local.yaml")
MAX_FILE_BYTES = 256_000
NO_BOUND = 10**12


@dataclass(frozen=True, slots=True)
class Key:
    """One setting that has an effect.

    Attributes:
        name: dotted name in mog.yaml.
        field: field of ``EngineConfig`` it fills, or of ``TuiConfig`` for a key of the section ``tui``.
        kind: ``text``, ``patterns``, ``paths``, ``names``, ``count``, ``seconds``, ``choice``, ``keys`` or ``themes``.
        choices: legal values of a ``choice``, or of each of ``names`` (empty: any).
        least, most: bounds of a ``count``.
        doc: one sentence for the manual.
    """

    name: str
    field: str
    kind: str
    doc: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = NO_BOUND

    @property
    def variable(self) -> str:
        """Environment variable of the key: ``index.max_file_bytes`` → ``MOG_INDEX_MAX_FILE_BYTES``."""
        return "MOG_" + self.name.upper().replace(".", "_")

    @property
    def of_tui(self) -> bool:
        """Whether it is a setting of the workbench, of which the engine knows nothing."""
        return self.name.startswith("tui.")


@dataclass(frozen=True, slots=True)
class TuiConfig:
    """Settings of the workbench, as they were written; the workbench checks what only it can know.

    Attributes:
        theme: name of a theme, "" chooses one for the terminal. themes: name → role → colour, of themes of the person's own.
        keys: name of an action → its keys instead. motion: ``on`` or ``off``: whether what changed is bold for a moment.
        mouse: ``on`` or ``off``. glyphs: ``auto``, ``ascii`` or ``unicode``. tour: ``on`` or ``off``: whether a first start shows it.
    """

    theme: str = ""
    themes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    keys: Mapping[str, str | list[str]] = field(default_factory=dict)
    motion: str = "on"
    mouse: str = "on"
    glyphs: str = "auto"
    tour: str = "on"


_NEVER_EVICTED = (
    "pinned", "active_task", "correction", "constraint", "convention", "decision", "failure", "risk", "observation", "fact",
    "task",
)  # fmt: skip
KEYS = (
    Key("project", "project", "text", "Name of the repository in node ids."),
    Key("index.include", "include", "patterns", "Only files that match one of these patterns are listed."),
    Key("index.exclude", "exclude", "patterns", "Files left out, in addition to .gitignore and .mogignore."),
    Key("index.max_file_bytes", "max_file_bytes", "count", "Larger files keep a row and a reason, nothing else."),
    Key("index.allow_secret_content", "allow_secret_content", "patterns", "Files a person declared free of secrets."),
    Key("index.scip", "scip", "paths", "SCIP indexes to read instead of those that lie at the top and in .mog/scip."),
    Key("index.workers", "workers", "count", "Extraction processes; 0 chooses by the number of cores."),
    Key("index.git_history.co_change_window", "co_change_window", "count",
        "Commits looked at for what changes together; 0 switches it off.", most=100_000),
    Key("index.git_history.min_co_change", "min_co_change", "count", "Commits that two files need to share.", least=1),
    Key("watch.mode", "watch", "choice", "How the workbench sees saved files.", ("auto", "poll", "off")),
    Key("watch.poll_seconds", "poll_seconds", "seconds", "Pause between two looks when polling."),
    Key("executor.registries", "registries", "names", "Entry points of installed packages that bring workers and auditors."),
    Key("beliefs.recheck", "recheck", "choice", "When auditors that may run judge drift.", ("manual", "at_once")),
    Key("working_set.window", "ws_window", "count", "Context window, in tokens, of clients that do not say theirs.",
        least=1_000),
    Key("working_set.budget_pct", "ws_budget_pct", "count", "Share of the window that what a session was served may take.",
        least=1, most=100),
    Key("working_set.evict_to_pct", "ws_evict_to_pct", "count", "Share of the window that eviction goes down to.",
        least=1, most=99),
    Key("working_set.recency_halflife", "ws_recency_halflife", "count",
        "Turns in which the recency of a served thing falls to half.", least=1),
    Key("working_set.never_evict", "ws_never_evict", "names", "What is never evicted: classes and kinds of notes.",
        _NEVER_EVICTED),
    Key("working_set.stub_tokens", "ws_stub_tokens", "count", "What the line that stands for an evicted thing may cost.",
        least=32, most=200),
    Key("embeddings.tie_breaker", "embeddings", "choice", "Static embeddings break ties of a search; needs the extra [embed].",
        ("off", "on")),
    Key("memory.agents", "agent_memory", "choice", "Whether agents and tools may remember.", ("allow", "refuse")),
    Key("tui.theme", "theme", "text", "Theme of the workbench."),
    Key("tui.themes", "themes", "themes", "Themes of your own."),
    Key("tui.keys", "keys", "keys", "Other keys for actions of the workbench."),
    Key("tui.motion", "motion", "choice", "Whether what changed is bold for a moment.", ("on", "off")),
    Key("tui.mouse", "mouse", "choice", "Whether the workbench listens to the mouse.", ("on", "off")),
    Key("tui.glyphs", "glyphs", "choice", "What marks and lines are drawn with.", ("auto", "ascii", "unicode")),
    Key("tui.tour", "tour", "choice", "Whether the first start shows the five lines of the tour.", ("on", "off")),
)
RESERVED = (
    "index.languages",
    "retrieval",
    "memory.auto_capture",
    "memory.retention",
    "policy",
    "secrets",
    "serve",
)
TEMPLATE = """\
# Settings of mog; docs/configuration.md lists them all. mog.local.yaml, MOG_ variables and flags override this file.
version: 1
# project: name-in-node-ids
# index:
#   exclude: ["vendor/", "*.min.js"]   # besides .gitignore and .mogignore
#   max_file_bytes: 2000000
# watch:
#   mode: auto                         # auto, poll or off
"""
# folders outside of any repository; and glyphs, which programs without a workspace need to know as well
_OTHER_VARIABLES = ("MOG_TRUST_DIR", "MOG_KEYS_DIR", "MOG_WITNESS_DIR", "MOG_GLYPHS")
_BY_NAME = {key.name: key for key in KEYS}
_SECTIONS = {name.rpartition(".")[0] for name in (*_BY_NAME, *RESERVED)} - {""}


@dataclass(frozen=True, slots=True)
class Setting:
    """One value and who set it: ``built-in``, ``mog.yaml:4``, ``MOG_INDEX_WORKERS`` or ``--workers``."""

    name: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Config:
    """What applies to one workspace: the records of engine and workbench, every setting with its origin, sentences about the rest."""

    engine: EngineConfig
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]
    tui: TuiConfig = TuiConfig()

    def origin(self, name: str) -> str:
        """Who set a setting: ``built-in``, ``mog.yaml:4``, a variable, a flag."""
        return next(setting.origin for setting in self.settings if setting.name == name)


def load(root: Path, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Config:
    """Merge all sources for the workspace at ``root``.

    Args:
        root: folder that may hold mog.yaml and mog.local.yaml.
        environ: environment to read ``MOG_*`` from.
        flags: dotted name → value, only for flags that were really typed.

    Raises:
        ConfigError: with file, line, key and the nearest legal name.
    """
    notes: list[str] = []
    found: dict[str, Setting] = {}
    for name in FILES:
        found.update(_from_file(root / name, notes))
    found.update(_from_environment(environ, notes))
    for name, value in (flags or {}).items():
        found[name] = Setting(name, _checked(_BY_NAME[name], value, _flag(name)), _flag(name))
    engine, tui = EngineConfig(**_fields(found, False)), TuiConfig(**_fields(found, True))  # type: ignore[arg-type]
    values = {key.name: getattr(tui if key.of_tui else engine, key.field) for key in KEYS}
    settings = tuple(found.get(name) or Setting(name, value, "built-in") for name, value in values.items())
    _check_marks({setting.name: setting for setting in settings})
    return Config(engine, settings, tuple(notes), tui)


def _fields(found: Mapping[str, Setting], of_tui: bool) -> dict[str, object]:
    return {_BY_NAME[name].field: setting.value for name, setting in found.items() if _BY_NAME[name].of_tui == of_tui}


def _check_marks(settings: Mapping[str, Setting]) -> None:
    low, high = settings["working_set.evict_to_pct"], settings["working_set.budget_pct"]
    if int(str(low.value)) >= int(str(high.value)):
        what = f"{low.name} ({low.value}) has to be below {high.name} ({high.value})"
        where = low.origin if low.origin != "built-in" else high.origin
        raise ConfigError(what, where=where, way_out="leave a gap between the two")


def write_template(root: Path) -> list[str]:
    """Write a first mog.yaml where there is none (a link counts as one); the names of the files written."""
    try:
        with (root / FILES[0]).open("x", encoding="utf-8", newline="\n") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        return []
    return [FILES[0]]


def _flag(name: str) -> str:
    return "--" + name.rpartition(".")[2].replace("_", "-")


def _from_environment(environ: Mapping[str, str], notes: list[str]) -> dict[str, Setting]:
    known = {key.variable: key for key in KEYS}
    found = {}
    for variable in sorted(name for name in environ if name.startswith("MOG_")):
        key = known.get(variable)
        if variable in _OTHER_VARIABLES:
            continue
        if key is None:
            notes.append(f"the variable {variable} has no meaning here{_nearest(variable, known)}")
            continue
        found[key.name] = Setting(key.name, _checked(key, _typed(key, environ[variable]), variable), variable)
    return found


def _typed(key: Key, text: str) -> object:
    """A variable's text in the type of its key; a text that does not convert is left for ``_checked`` to refuse."""
    if key.kind in ("patterns", "paths", "names"):
        return [part for part in (piece.strip() for piece in text.split(",")) if part]
    if key.kind == "keys":
        pairs = (part.strip().partition("=") for part in text.split(",") if part.strip())
        return {name: value for name, _, value in pairs}
    try:
        if key.kind == "count":
            return int(text)
        if key.kind == "seconds":
            return float(text)
    except ValueError:
        return text
    return text


def _checked(key: Key, value: object, where: str) -> object:
    """The value in the form ``EngineConfig`` wants.

    Raises:
        ConfigError: the value is of another kind or out of range.
    """
    if key.kind == "choice" and isinstance(value, bool) and "on" in key.choices:
        return "on" if value else "off"  # YAML reads both words as truth values
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if key.kind == "text" and isinstance(value, str):
        return value
    if key.kind == "choice" and value in key.choices:
        return value
    if key.kind == "count" and number and isinstance(value, int) and key.least <= value <= key.most:
        return value
    if key.kind == "seconds" and number and 0.05 <= float(str(value)) <= 3600:
        return float(str(value))
    if key.kind in ("patterns", "paths", "names") and isinstance(value, (list, tuple)) and all(_listed(key, item) for item in value):
        return tuple(value)
    if key.kind in ("keys", "themes") and isinstance(value, Mapping) and all(_told(key, *item) for item in value.items()):
        return value
    raise ConfigError(f"{key.name} cannot be {value!r}", where=where, way_out=f"it takes {_wanted(key)}")


def _listed(key: Key, item: object) -> bool:
    if key.kind == "paths" and not (isinstance(item, str) and _inside(item)):
        return False
    return isinstance(item, str) and (not key.choices or item in key.choices)


def _inside(path: str) -> bool:
    """Whether a path names something below the root, in the one spelling that is compared with paths of the index."""
    return bool(path) and not {"", ".", ".."} & set(path.split("/")) and not any(sign in path for sign in "\\\0:")


def _told(key: Key, name: object, item: object) -> bool:
    """Whether one entry of a mapping has the shape its key wants; what it means is judged where it is used."""
    if key.kind == "keys":
        return isinstance(name, str) and (isinstance(item, str) or _texts(item))
    return isinstance(name, str) and isinstance(item, Mapping) and _texts([*item, *item.values()])


def _texts(items: object) -> bool:
    return isinstance(items, list) and all(isinstance(item, str) for item in items)


def _wanted(key: Key) -> str:
    return {
        "text": "a text",
        "choice": "one of " + ", ".join(key.choices),
        "count": f"a whole number, {key.least} " + (f"to {key.most}" if key.most < NO_BOUND else "or more"),
        "seconds": "seconds between 0.05 and 3600",
        "keys": "a mapping from actions to keys, both in quotes where they are no letters: `search: \"/\"`",
        "themes": "a mapping from a name to a mapping from roles to colours in quotes: `bg: \"#101010\"`",
        "patterns": "a list of gitignore-style patterns",
        "paths": "a list of paths below the root, like `build/index.scip`, with / between folders",
        "names": "a list of names" + (" among " + ", ".join(key.choices) if key.choices else ""),
    }[key.kind]


def _nearest(name: str, candidates: object) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)  # type: ignore[call-overload]
    return f"; the nearest is {close[0]}" if close else ""


def _from_file(path: Path, notes: list[str]) -> dict[str, Setting]:
    text = _read(path)
    if text is None:
        return {}
    found: dict[str, Setting] = {}
    for name, node, line in _entries(_compose(text, path), path, ""):
        where = f"{path.name}:{line}"
        if name == "version":
            _check_version(node, where)
        elif _is_reserved(name):
            notes.append(f"{where}: {name} belongs to a later version and has no effect yet")
        else:
            key = _BY_NAME[name]
            found[name] = Setting(name, _checked(key, _construct(node, where), where), where)
    return found


def _is_reserved(name: str) -> bool:
    return any(name == word or name.startswith(word + ".") for word in RESERVED)


def _check_version(node: yaml.Node, where: str) -> None:
    value = _construct(node, where)
    if value != 1 or isinstance(value, bool):
        raise ConfigError(f"version {value!r} is not known", where=where, way_out="this mog reads version: 1")


def _read(path: Path) -> str | None:
    """Text of a configuration file, or None where there is none. Only a regular file inside the workspace is opened."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError("is not a regular file", where=path.name, way_out="put a plain file in its place")
    if status.st_size > MAX_FILE_BYTES:
        raise ConfigError(f"is larger than {MAX_FILE_BYTES} bytes", where=path.name, way_out="settings fit in far less")
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return file.read(MAX_FILE_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8", where=path.name, way_out="save the file as UTF-8") from error
    except OSError as error:
        what = error.strerror or "cannot be read"
        raise ConfigError(what, where=path.name, way_out="check its permissions") from error


def _compose(text: str, path: Path) -> yaml.Node | None:
    """The document as YAML nodes (they know their lines). Aliases are refused while composing, before they multiply."""
    import yaml

    class Plain(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
                where = f"{path.name}:{line}"
                raise ConfigError("aliases are not accepted", where=where, way_out="write the value out")
            return super().compose_node(parent, index)

    loader = Plain(text)
    try:
        return loader.get_single_node()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path.name}:{mark.line + 1}" if mark else path.name
        what = getattr(error, "problem", None) or "is not YAML"
        raise ConfigError(str(what), where=where, way_out="correct the YAML") from error
    except RecursionError as error:
        raise ConfigError("is nested too deep", where=path.name, way_out="settings are two levels deep") from error
    finally:
        loader.dispose()


def _construct(node: yaml.Node, where: str) -> Any:
    import yaml

    try:
        return yaml.SafeLoader("").construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigError("the value is not plain YAML", where=where, way_out="write a text, number or list") from error


def _entries(node: yaml.Node | None, path: Path, prefix: str) -> Iterator[tuple[str, yaml.Node, int]]:
    """Yield (dotted name, value node, line) for every leaf that is a legal or reserved key; refuse the others."""
    import yaml

    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        return
    if not isinstance(node, yaml.MappingNode):
        where = f"{path.name}:{node.start_mark.line + 1}"
        raise ConfigError(f"{prefix or 'the file'} is not a mapping", where=where, way_out="write `key: value` lines")
    seen: set[str] = set()
    for key_node, value in node.value:
        line = key_node.start_mark.line + 1
        name = f"{prefix}.{key_node.value}" if prefix else str(key_node.value)
        if name in seen:
            raise ConfigError(f"{name} is set twice", where=f"{path.name}:{line}", way_out="keep one of the two lines")
        seen.add(name)
        if name == "version" or name in _BY_NAME or _is_reserved(name):
            yield name, value, line
        elif name in _SECTIONS:
            yield from _entries(value, path, name)
        else:
            _refuse(name, f"{path.name}:{line}")


def _refuse(name: str, where: str) -> None:
    nearest = _nearest(name, ["version", *_BY_NAME, *RESERVED, *_SECTIONS])
    raise ConfigError(f"unknown key {name}{nearest}", where=where, way_out="docs/configuration.md lists the keys")
