"""Routes of the code graph: one question in, one answer out. Called by ``server``, behind its guard.

What may not come in: rules of the graph, paths of a client that are more than compared, work on the event loop. Every string of an
answer is cleaned; every refusal is an object ``error`` with what, where and the way out, and a status by its sort.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import IO, Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from mog.app.http.bodies import Refused, fields, raw
from mog.app.present import clean_tree
from mog.app.present_context import record
from mog.engine import errors as e
from mog.engine.memory.limits import AGENT
from mog.engine.workspace import Workspace

T = TypeVar("T")
AT_WORK = 4  # questions that are computed at once
WORK = 600.0  # seconds that a client waits at most
CHUNK = 256 * 1024
PREFIXES = ("/api/apps", "/api/studio/apps")
_STATUS: tuple[tuple[type[e.MogError], int], ...] = (
    (e.SnapshotMoved, 409), (e.IndexMissing, 409), (e.HeldByOther, 409), (e.NotFound, 404), (e.PolicyDenied, 403),
    (e.ConfigError, 422), (e.ProviderError, 503), (e.StoreDamaged, 500), (e.GitRefused, 500), (e.MogError, 400),
)  # fmt: skip
_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def application(served: Mapping[str, Workspace]) -> Starlette:
    """The application for graphs by name."""
    graph = _Graphs(served)
    routes = [
        Route(f"{prefix}{path}", handler, methods=[method])
        for prefix in PREFIXES
        for path, method, handler in (
            ("", "GET", graph.apps),
            ("/{app_id}/context/workspace-snapshot", "POST", graph.snapshot),
            ("/{app_id}/context/impact", "POST", graph.impact),
            ("/{app_id}/context/annotations/request", "POST", graph.request),
            ("/{app_id}/context/annotations/apply", "POST", graph.apply),
            ("/{app_id}/context/annotations", "GET", graph.annotations),
            ("/{app_id}/context/health", "GET", graph.health),
            ("/{app_id}/context/versions", "GET", graph.versions),
        )
    ]
    handlers: dict[Any, Any] = {Refused: _refused, e.MogError: _failed, HTTPException: _not_there, Exception: _fault}
    return Starlette(routes=routes, exception_handlers=handlers)


class _Graphs:
    """The handlers. A handler reads the request on the loop and asks the engine on a thread."""

    def __init__(self, served: Mapping[str, Workspace]) -> None:
        self._served = served
        self._room = asyncio.Semaphore(AT_WORK)
        self._crew = ThreadPoolExecutor(2 * AT_WORK, "graph")
        self._turns = {name: asyncio.Lock() for name in served}  # snapshots of one graph, one after the other

    async def apps(self, request: Request) -> Response:
        """Names of the graphs that are served."""
        return _answer({"apps": [{"app_id": name} for name in self._served]})

    async def snapshot(self, request: Request) -> Response:
        """Register the graph as it is; with ``document`` the whole of it is the answer."""
        workspace = self._named(request)
        given = await fields(request, workspace_root=str, index=bool, document=bool)
        _check_root(workspace, given.get("workspace_root"))
        index = given.get("index", True)
        async with self._turns[request.path_params["app_id"]]:
            if given.get("document"):
                return await self._document(workspace, index)
            made = await self._ask(partial(workspace.context_graph.snapshot, index=index))
        return _answer(_snapshot(made), 200)

    async def _document(self, workspace: Workspace, index: bool) -> Response:
        """The document from a file without a name: it is gone with the last byte, or with the client."""

        def make() -> IO[bytes]:
            out = tempfile.TemporaryFile(dir=workspace.mog_dir / "run")  # noqa: SIM115 - closed by who streams it
            try:
                made = workspace.context_graph.snapshot(out, index=index)
            except BaseException:
                out.close()
                raise
            out.seek(0)
            digests.append(made.identity.identity_digest)
            return out

        digests: list[str] = []
        out = await self._ask(make)
        headers = {**_HEADERS, "mog-snapshot": digests[0], "content-length": str(os.fstat(out.fileno()).st_size)}
        return StreamingResponse(_pieces(out), media_type="application/json", headers=headers)

    async def impact(self, request: Request) -> Response:
        """Answer an impact query: the body is the query."""
        workspace, query = self._named(request), await raw(request)
        return _answer(record(await self._ask(partial(workspace.context_graph.impact, query))))

    async def request(self, request: Request) -> Response:
        """What to have described."""
        workspace = self._named(request)
        given = await fields(request, targets=list, query=str, limit=int, again=bool)
        targets = given.pop("targets", [])
        if not all(isinstance(one, str) for one in targets):
            raise Refused(400, "wrong_type", "'targets' has to be a list of strings")
        return _answer(record(await self._ask(partial(workspace.context_graph.annotation_request, targets, **given))))

    async def apply(self, request: Request) -> Response:
        """Record what came back: the body is the file. A program speaks here, never the person."""
        workspace, data = self._named(request), await raw(request)
        return _answer(record(await self._ask(partial(workspace.context_graph.apply_annotations, data, origin=AGENT))))

    async def annotations(self, request: Request) -> Response:
        """What was said of symbols, as it is now."""
        found = await self._ask(self._named(request).context_graph.annotations)
        return _answer({"annotations": [record(one) for one in found]})

    async def health(self, request: Request) -> Response:
        """The verdict, and whether the graph is current."""
        graph = self._named(request).context_graph

        def ask() -> dict[str, Any]:
            return {"health_report": record(graph.health()), "stale": record(graph.stale(checks=True))}

        return _answer(await self._ask(ask))

    async def versions(self, request: Request) -> Response:
        """Recorded versions; with ``before`` (and ``after``) what differs between two."""
        graph, before = self._named(request).context_graph, request.query_params.get("before", "")
        if before:
            after = request.query_params.get("after", "latest")
            return _answer(record(await self._ask(partial(graph.compare, before, after))))
        return _answer({"versions": [record(one) for one in await self._ask(graph.versions)]})

    def _named(self, request: Request) -> Workspace:
        found = self._served.get(request.path_params["app_id"])
        if found is None:
            raise Refused(404, "no_such_app", "no graph of that name is served", "GET /api/apps lists them")
        return found

    async def _ask(self, work: Callable[[], T]) -> T:
        """The answer of the engine, from a thread. Raises Refused: it takes too long."""
        async with self._room:
            try:
                return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(self._crew, work), WORK)
            except TimeoutError as error:
                raise Refused(504, "too_long", f"there is no answer within {WORK:g} seconds") from error


def _check_root(workspace: Workspace, root: str | None) -> None:
    """A root that a client names has to be the one that this graph was started for; it is compared, and never opened."""
    if root is None:
        return
    if "\0" in root or not os.path.isabs(root) or ".." in root.replace("\\", "/").split("/"):
        raise Refused(400, "bad_root", "a workspace root is an absolute path without `..`")
    if os.path.normcase(os.path.normpath(root)) not in {
        os.path.normcase(str(workspace.root)),
        os.path.realpath(workspace.root),
    }:
        raise Refused(
            403, "root_not_served", "this root is not served under that name", "start the server for it: --root PATH"
        )


def _pieces(out: IO[bytes]) -> Iterator[bytes]:
    with closing(out):
        while piece := out.read(CHUNK):
            yield piece


def _snapshot(made: Any) -> dict[str, Any]:
    """A snapshot under the names that the Mozaiks studio knows, beside our own."""
    found = record(made)
    digest = made.identity.identity_digest
    names = {"artifact_version_id": f"app_context_graph:{digest}", "indexed_file_count": made.files}
    return {**found, **names, "health_report": found["health"], "stale_status": made.stale.status}


# answers


def _answer(value: Mapping[str, Any], status: int = 200) -> Response:
    return JSONResponse(clean_tree(value), status_code=status, headers=_HEADERS)


def refusal(code: str, what: str, where: str = "", way_out: str = "") -> bytes:
    """The body of a refusal."""
    return json.dumps(clean_tree({"error": {"code": code, "what": what, "where": where, "way_out": way_out}})).encode()


def _told(status: int, code: str, what: str, where: str = "", way_out: str = "", **headers: str) -> Response:
    body = refusal(code, what, where, way_out)
    return Response(body, status_code=status, media_type="application/json", headers={**_HEADERS, **headers})


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    closing_ = {"connection": "close"} if error.status in (408, 413) else {}  # the rest of the body is not read
    return _told(error.status, error.code, error.what, "", error.way_out, **closing_)


async def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, e.MogError)
    status = next(status for sort, status in _STATUS if isinstance(error, sort))
    return _told(status, _code(error), error.what, error.where, error.way_out)


async def _not_there(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = "no_such_route" if error.status_code == 404 else "not_served"
    return _told(error.status_code, code, error.detail, **(error.headers or {}))


async def _fault(_: Request, error: Exception) -> Response:
    return _told(500, "fault", f"a fault in mog itself: {type(error).__name__}")


def _code(error: e.MogError) -> str:
    """``SnapshotMoved`` as ``snapshot_moved``."""
    name = type(error).__name__
    return "".join(f"_{char.lower()}" if char.isupper() and at else char.lower() for at, char in enumerate(name))
