"""Bodies of requests: read within bounds of size and time, and only if they say that they are JSON.

Who calls: ``routes``. What may not come in: what a body means.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import ClientDisconnect, Request

LARGEST = 1024 * 1024
TO_SEND = 10.0  # seconds for a whole body


class Refused(Exception):
    """A request that is turned away: status, code, words."""

    def __init__(self, status: int, code: str, what: str, way_out: str = "") -> None:
        super().__init__(what)
        self.status, self.code, self.what, self.way_out = status, code, what, way_out


async def raw(request: Request) -> bytes:
    """The bytes of a body that says it is JSON.

    Raises:
        Refused: 413 too large, 415 not JSON by its own word, 408 too slow, 400 gone.
    """
    _check_head(request)
    try:
        return await asyncio.wait_for(_read(request), TO_SEND)
    except TimeoutError as error:
        raise Refused(408, "too_slow", f"the body did not come within {TO_SEND:g} seconds") from error
    except ClientDisconnect as error:
        raise Refused(400, "gone", "the body ended early") from error


def _check_head(request: Request) -> None:
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or int(told[:20]) > LARGEST:
        raise _too_large()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "not_json", "a body is JSON and says so", "send Content-Type: application/json")


async def _read(request: Request) -> bytes:
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > LARGEST:
            raise _too_large()
    return bytes(found)


def _too_large() -> Refused:
    return Refused(413, "too_large", f"a body has at most {LARGEST:,} bytes")


async def fields(request: Request, **known: type) -> dict[str, Any]:
    """The object in a body, "" counting as an empty one; each field of a known name and type.

    Raises:
        Refused: as ``raw``; 400 not an object, an unknown field, another type.
    """
    data = await raw(request)
    try:
        value = json.loads(data) if data.strip() else {}
    except (ValueError, RecursionError) as error:
        raise Refused(400, "not_json", "the body is not JSON, or nested too deep") from error
    if not isinstance(value, dict):
        raise Refused(400, "not_an_object", "the body is no JSON object")
    for name, one in value.items():
        if name not in known:
            raise Refused(
                400, "unknown_field", f"{name[:60]!r} means nothing here", f"known are {', '.join(sorted(known))}"
            )
        if not isinstance(one, known[name]) or (isinstance(one, bool) and known[name] is not bool):
            raise Refused(400, "wrong_type", f"{name!r} has to be a {known[name].__name__}")
    return value
