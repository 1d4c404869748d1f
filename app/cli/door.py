"""Where the command line meets the engine: opens the workspace with its configuration, closes it after the verb.

Who calls: every verb, in a ``with``. What may not come in: rendering. The engine is imported here and only when asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from mog.app import config as configuration
from mog.engine.config import EngineConfig
from mog.engine.errors import UsageError

if TYPE_CHECKING:
    from mog.app.cli.options import Common
    from mog.engine.executor.registry import TaskRegistry
    from mog.engine.workspace import Workspace


_EMBEDDED: ContextVar[TaskRegistry | None] = ContextVar("registry", default=None)


@contextmanager
def embedding(registry: TaskRegistry) -> Iterator[None]:
    """Workspaces opened inside have the workers and auditors of the program that embeds the command line."""
    token = _EMBEDDED.set(registry)
    try:
        yield
    finally:
        _EMBEDDED.reset(token)


def embedded() -> TaskRegistry | None:
    """The workers and auditors of the program that embeds the command line, None when nobody does."""
    return _EMBEDDED.get()


def start_of(common: Common) -> Path:
    """The folder a command starts from.

    Raises:
        UsageError: ``--repo`` names no folder.
    """
    start = common.repo if common.repo is not None else Path.cwd()
    if not start.is_dir():
        raise UsageError("--repo names no folder", where=str(start), way_out="give an existing folder")
    return start


@contextmanager
def opened(common: Common, flags: Mapping[str, object] | None = None) -> Iterator[Workspace]:
    """The workspace at or above ``--repo``, configured by files, environment and the flags really typed.

    Raises:
        NoWorkspace, GitRefused, ConfigError, UsageError.
    """
    with opened_with_config(common, flags) as (workspace, _):
        yield workspace


@contextmanager
def opened_with_config(
    common: Common, flags: Mapping[str, object] | None = None
) -> Iterator[tuple[Workspace, configuration.Config]]:
    """Like ``opened``, with the configuration and the origin of each of its values."""
    from mog.engine.workspace import Workspace

    loaded: list[configuration.Config] = []

    def configure(root: Path) -> EngineConfig:
        loaded.append(configuration.load(root, os.environ, flags))
        return loaded[-1].engine

    workspace = Workspace.open(start_of(common), configure=configure, registry=_EMBEDDED.get())
    try:
        yield workspace, loaded[-1]
    finally:
        workspace.close()
