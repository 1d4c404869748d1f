"""``TaskRegistry``: the one place where the name of a worker or auditor becomes code. Brought by whoever deploys.

What lives here: names and callables, the digest of an implementation, registries of installed packages that a
configuration names. What may not come in: an import of a name that a plan or a ledger says, guesses, plans.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from mog.engine.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from mog.engine.executor.context import AuditContext, RunContext
    from mog.engine.executor.model import Verdict

GROUP = "mog.registries"
MAX_KEY = 256

Worker = Callable[["RunContext"], Any]
Auditor = Callable[["AuditContext"], "Verdict | bool"]


@dataclass(frozen=True, slots=True)
class Implementation:
    """Code behind a key. ``digest`` says which code it is: the declared version, or a digest of the function."""

    function: Callable[[Any], Any]
    pure: bool = False
    digest: str = ""


class TaskRegistry:
    """Workers and auditors by name. Two namespaces: only an auditor may find a ground false. A name is registered once."""

    def __init__(self) -> None:
        self._workers: dict[str, Implementation] = {}
        self._auditors: dict[str, Implementation] = {}

    def register_worker(self, key: str, function: Worker, *, pure: bool = False, version: str = "") -> None:
        """Register a worker.

        Args:
            pure: its result follows from what it reads through its context, and it does nothing else that matters. Only
                such work is spared when what it read is the same.
            version: tells implementations of the same name apart, so that work done by another is done again; without
                it a digest of the function's code does.

        Raises:
            UsageError: a key that is empty, not printable, has white space or is taken; no function.
        """
        _add(self._workers, "worker", key, function, pure, version)

    def register_auditor(self, key: str, function: Auditor, *, version: str = "") -> None:
        """Register an auditor. Raises as ``register_worker``."""
        _add(self._auditors, "auditor", key, function, False, version)

    def worker(self, key: str) -> Implementation:
        """The worker of that name. Raises ConfigError when nobody brought it."""
        return _find(self._workers, "worker", key)

    def auditor(self, key: str) -> Implementation:
        """The auditor of that name. Raises ConfigError when nobody brought it."""
        return _find(self._auditors, "auditor", key)

    def has_worker(self, key: str) -> bool:
        """Whether there is a worker of that name."""
        return key in self._workers

    def has_auditor(self, key: str) -> bool:
        """Whether there is an auditor of that name."""
        return key in self._auditors

    def describe(self) -> dict[str, list[str]]:
        """Names only, sorted."""
        return {"workers": sorted(self._workers), "auditors": sorted(self._auditors)}

    def joined(self, others: Iterable[TaskRegistry]) -> TaskRegistry:
        """A registry of everything here and in ``others``. Raises ConfigError when two of them have the same name."""
        made = TaskRegistry()
        for one in (self, *others):
            for kind, mine, theirs in (
                ("worker", made._workers, one._workers),
                ("auditor", made._auditors, one._auditors),
            ):
                for key, found in theirs.items():
                    if key in mine and mine[key] is not found:
                        raise ConfigError(f"two registries bring the {kind} {key!r}", way_out="name only one of them")
                    mine[key] = found
        return made


def _add(table: dict[str, Implementation], kind: str, key: str, function: Any, pure: bool, version: str) -> None:
    if not sound_key(key):
        way_out = f"1 to {MAX_KEY} printable characters without white space"
        raise UsageError(f"{key!r} cannot name a {kind}"[:200], way_out=way_out)
    if key in table:
        raise UsageError(f"the {kind} {key!r} is registered already", way_out="give other code another key")
    if not callable(function):
        raise UsageError(f"the {kind} {key!r} is not callable", way_out="pass a function of one context")
    table[key] = Implementation(function, pure, _tag("version", version) if version else code_digest(function))


def _find(table: dict[str, Implementation], kind: str, key: str) -> Implementation:
    found = table.get(key)
    if found is None:
        way_out = "start with the registry that brings it; a key is never imported"
        raise ConfigError(f"no {kind} {key!r} is registered here", way_out=way_out)
    return found


def sound_key(key: object) -> bool:
    """May this name a worker or auditor? It survives a log line, a shell word and a diff as it is."""
    sound = isinstance(key, str) and 0 < len(key) <= MAX_KEY and key.isprintable()
    return sound and not any(c.isspace() for c in str(key))


# -- which code


def code_digest(function: object) -> str:
    """Which code a callable is: its byte code with constants, defaults and the plain values it closes over.

    Another version of Python compiles to other byte code, so it counts as other code; what a function calls does not.
    A callable without code of its own has the digest of its type's name.
    """
    said: list[str] = []
    _describe(function, said, 8)
    return _tag("code", *said)


def _describe(value: object, said: list[str], depth: int) -> None:
    target = getattr(value, "__func__", value)
    if isinstance(value, types.CodeType):
        said += ["code", value.co_code.hex(), *value.co_names, *value.co_varnames]
        for constant in value.co_consts:
            _describe(constant, said, depth - 1)
    elif depth > 0 and isinstance(target, types.FunctionType):
        cells = [cell.cell_contents for cell in target.__closure__ or () if _filled(cell)]
        for part in (target.__code__, target.__defaults__, _sorted(target.__kwdefaults__), *cells):
            _describe(part, said, depth - 1)
    elif depth > 0 and isinstance(value, list | tuple):
        said.append(f"{type(value).__name__} {len(value)}")
        for one in value:
            _describe(one, said, depth - 1)
    elif depth > 0 and isinstance(value, frozenset | set):
        said += [f"set {len(value)}", *sorted(repr(one) for one in value)]
    elif depth > 0 and isinstance(value, dict):
        _describe(_sorted(value), said, depth - 1)
    elif value is None or isinstance(value, str | bytes | int | float | complex | bool):
        said.append(repr(value))
    else:
        _describe_other(value, said, depth)


def _describe_other(value: object, said: list[str], depth: int) -> None:
    said.append(f"{type(value).__module__}.{type(value).__qualname__}")
    call = getattr(type(value), "__call__", None)  # noqa: B004  its code is wanted, not whether it has any
    if depth > 0 and isinstance(call, types.FunctionType):
        _describe(call, said, depth - 1)


def _sorted(table: dict[Any, Any] | None) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(((repr(k), v) for k, v in (table or {}).items()), key=lambda pair: pair[0]))


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # not bound yet
        return False


def _tag(kind: str, *parts: str) -> str:
    text = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return f"{kind}:{hashlib.sha256(text).hexdigest()[:32]}"


# -- registries of installed packages


def discover(names: Collection[str]) -> TaskRegistry:
    """The registries of installed packages that a configuration names, joined. Nothing else is loaded.

    Args:
        names: names of entry points of the group ``mog.registries``. Each is a ``TaskRegistry``, or a function without
            arguments that returns one.

    Raises:
        ConfigError: one is not installed, cannot be loaded, is no registry, or two bring the same name.
    """
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return TaskRegistry()
    installed = {point.name: point for point in metadata.entry_points(group=GROUP)}
    return TaskRegistry().joined(_load(name, installed) for name in wanted)


def _load(name: str, installed: dict[str, metadata.EntryPoint]) -> TaskRegistry:
    point = installed.get(name)
    if point is None:
        known = ", ".join(sorted(installed)) or "none"
        raise ConfigError(f"no installed package brings the registry {name!r:.80}", way_out=f"installed: {known}"[:200])
    try:
        found = point.load()
        found = found if isinstance(found, TaskRegistry) else found()
    except Exception as error:  # a stranger's package
        what = f"the registry {name!r} cannot be loaded: {type(error).__name__}: {error}"[:400]
        raise ConfigError(what, way_out="repair the package, or take it out of the configuration") from error
    if not isinstance(found, TaskRegistry):
        raise ConfigError(f"{name!r} is no registry", way_out="its entry point gives a TaskRegistry")
    return found
