"""Serves the code graph of named folders over HTTP, on loopback alone and behind a token. ``mog serve --http``.

Who calls: ``app/cli/serve``. What may not come in: routes (``routes``), any address but loopback, a root that was not named when it
was started. The token lies in ``.mog/run/context.token`` (0600) of the first root, and stays the same from start to start.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

from mog.app import asgi
from mog.app import config as configuration
from mog.app.asgi import Doorkeeper, Send
from mog.app.http.routes import application, refusal
from mog.app.loopback import HOST, listening
from mog.app.present import clean
from mog.app.told import leave, until_told
from mog.engine.errors import UsageError
from mog.engine.store.private import private_folder
from mog.engine.workspace import Workspace

TOKEN = "context.token"


def serve(starts: Sequence[Path], port: int) -> NoReturn:
    """Serve until a signal comes, then end the process with 128 and its number.

    It ends at once: what is still computed for somebody keeps nobody waiting, and every store can stand a process that is gone.

    Args:
        starts: folders whose workspaces are served, each under the name of its graph. port: 0 lets the system choose.

    Raises:
        NoWorkspace, ConfigError: a folder. UsageError: two graphs have one name, or the port cannot be had.
    """
    with ExitStack() as held:
        served = _opened(starts, held)
        first = next(iter(served.values()))
        token = asgi.token_of(_run_folder(first) / TOKEN)
        bound = listening(port, asgi.AT_ONCE)
        held.callback(bound.close)
        for workspace in served.values():
            _run_folder(workspace)
        _tell(bound.getsockname()[1], served, _run_folder(first) / TOKEN)
        leave(asyncio.run(until_told(_serve(served, bound, token))))


async def _serve(served: dict[str, Workspace], bound: Any, token: str) -> None:
    app = Guard(application(served), Doorkeeper(bound.getsockname()[1], token, f".mog/run/{TOKEN}"))
    await asgi.running(asgi.Quiet(asgi.configured(app, lifespan="off")), bound)


class Guard:
    """What stands before the routes: nothing of a request is looked at before its Host, Origin and token are."""

    def __init__(self, app: Any, door: Doorkeeper) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        """Turn a request away, or hand it on."""
        if scope["type"] != "http":
            return
        refused = self._door.refused(scope["headers"])
        if refused:
            await asgi.answer(send, refused[0], refusal("refused", refused[1]), b"application/json")
            return
        await self._app(scope, receive, send)


def _opened(starts: Sequence[Path], held: ExitStack) -> dict[str, Workspace]:
    served: dict[str, Workspace] = {}
    for start in starts:
        workspace = Workspace.open(start, configure=lambda root: configuration.load(root, os.environ, None).engine)
        held.callback(workspace.close)
        name = workspace.context_graph.app_id
        known = served.get(name)
        if known is not None and known.root != workspace.root:
            way_out = "give one of them another `project` in its mog.yaml"
            raise UsageError(f"two graphs are called {name!r}", where=str(workspace.root), way_out=way_out)
        served.setdefault(name, workspace)
    return served


def _run_folder(workspace: Workspace) -> Path:
    private_folder(workspace.mog_dir)
    return private_folder(workspace.mog_dir / "run", tighten=True)


def _tell(port: int, served: dict[str, Workspace], token: Path) -> None:
    """Where it listens and for what, for the person who started it."""
    sys.stderr.write(f"mog: http://{HOST}:{port}/api/apps, its token is in {clean(str(token))}\n")
    sys.stderr.writelines(f"  {clean(name)}  {clean(str(workspace.root))}\n" for name, workspace in served.items())
    sys.stderr.flush()
