"""Serving a connection with the protocol's package: lines of a link become messages of a server, and back.

Who calls: ``station``. What may not come in: tools, sockets. Loading this module loads the protocol's package, which a bridge to a
living owner never needs.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

import anyio
import mcp_types as types
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

from mog.app.mcp.desk import Desk
from mog.app.mcp.links import Link
from mog.app.mcp.options import Options, heard
from mog.app.mcp.server import Server


async def serve(desk: Desk, own: Options, link: Link, said: dict[str, Any]) -> None:
    """Answer on a link until it ends. ``said``: what its client asked for when it connected."""
    server = Server(desk, heard(said, own), str(said.get("session", ""))[:64])
    into, read = create_context_streams[SessionMessage | Exception](0)
    write, out_of = create_context_streams[SessionMessage](0)
    server.start_news()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_incoming, link, into)
            group.start_soon(_outgoing, out_of, link)
            await server.low.run(read, write, server.opening())
            group.cancel_scope.cancel()
    finally:
        server.stop_news()


async def _incoming(link: Link, into: Any) -> None:
    async with into:
        while (line := await link.line()) is not None:
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                await link.send(_refused(line))
                continue
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await into.send(SessionMessage(message))


def _refused(line: bytes) -> bytes:
    """The answer to what is no message of the protocol, or holds a text that is no Unicode: who asked waits for one."""
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(line)
        id = found.get("id") if isinstance(found, dict) else None
        what = "this is no request, or a text in it is no Unicode"
        return json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": what}}).encode()
    return b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON"}}'


async def _outgoing(out_of: Any, link: Link) -> None:
    async with out_of:
        async for message in out_of:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            if not await link.send(line.encode("utf-8")):
                return
