"""Whether a person approved a controlled write: by the server's flag, asked through the client in both eras of the protocol, or asked
at the workbench, where one is open and the client cannot ask.

Who calls: ``server``, before the desk. What may not come in: the write itself. Who approved is recorded with the event.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError, NoBackChannelError

from mog.app.mcp import arguments as schemas
from mog.app.mcp.answers import brief
from mog.app.mcp.desk import Client, Desk
from mog.app.mcp.table import Tool
from mog.app.present import clean
from mog.engine import approvals
from mog.engine.approvals import Approvals, Request, Said
from mog.engine.errors import MogError, UsageError

BY_FLAG, BY_PERSON = "--allow-writes", "person, asked by the client"
SECONDS = 300.0  # for a person to answer
LOOK, TELL = 0.15, 4.0  # seconds between two looks for the answer, and between two words to the client that we go on
SETTLE = 2.0  # seconds in which an answer that was begun is written
SHOWN = 400  # characters of one argument
_NAME = "approve"
_FORM: dict[str, Any] = {
    "type": "object", "properties": {_NAME: {"type": "boolean", "title": "Record it"}}, "required": [_NAME],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Word:
    """How a write was approved, "" when it was not; or why a person refused it."""

    approved: str = ""
    refused: str = ""


async def of(
    tool: Tool, arguments: Mapping[str, Any], desk: Desk, client: Client, context: Context[Any, Any] | None
) -> Word | types.InputRequiredResult:
    """The word of whoever may give one, or the question to put to the person first."""
    if client.options.allow_writes:
        return Word(BY_FLAG)
    if context is None or not _well_formed(tool, arguments):
        return Word()
    if not _can_ask(context):
        return await _at_workbench(tool, arguments, desk, client, context)
    if context.protocol_version is not None and context.protocol_version >= "2026":
        return _by_rounds(tool, arguments, context)
    try:
        return await _by_request(tool, arguments, context)
    except NoBackChannelError:
        return await _at_workbench(tool, arguments, desk, client, context)


def question(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """What the person is asked, one line for each argument; what is not shown of it is counted."""
    told = [f"{name}: {_shown(value)}" for name, value in arguments.items()]
    return "\n".join([f"An agent wants to run {tool.name}: {tool.help}", *told])


def _shown(value: Any) -> str:
    text = clean(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= SHOWN else f"{brief(text, SHOWN)} (the beginning of {len(text):,} characters)"


def _well_formed(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Nobody is asked about a call that is refused anyway; the desk says why."""
    try:
        schemas.checked(tool, arguments)
    except UsageError:
        return False
    return True


def _can_ask(context: Context[Any, Any]) -> bool:
    found = context.client_capabilities
    elicitation = found.elicitation if found is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


async def _by_request(tool: Tool, arguments: Mapping[str, Any], context: Context[Any, Any]) -> Word:
    try:
        async with asyncio.timeout(SECONDS):
            answer = await context.session.elicit_form(question(tool, arguments), _FORM, context.request_id)
    except NoBackChannelError:
        raise
    except (TimeoutError, MCPError):
        return Word()
    return Word(BY_PERSON if _accepted(answer) else "")


def _by_rounds(
    tool: Tool, arguments: Mapping[str, Any], context: Context[Any, Any]
) -> Word | types.InputRequiredResult:
    """The later era: the question is the result, the call comes again with the answer and the sealed state."""
    text = json.dumps([tool.name, dict(arguments)], sort_keys=True, default=str)
    about = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    answers = context.input_responses or {}
    if _NAME in answers and context.request_state == about:
        return Word(BY_PERSON if _accepted(answers[_NAME]) else "")
    params = types.ElicitRequestFormParams(message=question(tool, arguments), requested_schema=_FORM)
    return types.InputRequiredResult(input_requests={_NAME: types.ElicitRequest(params=params)}, request_state=about)


def _accepted(answer: Any) -> bool:
    content = getattr(answer, "content", None)
    return getattr(answer, "action", "") == "accept" and isinstance(content, Mapping) and content.get(_NAME) is True


# at the workbench


async def _at_workbench(
    tool: Tool, arguments: Mapping[str, Any], desk: Desk, client: Client, context: Context[Any, Any]
) -> Word:
    """Wait for the person at the workbench, as long as there is one; nothing stays in the queue, however this ends."""
    queue = Approvals(desk.root / ".mog")
    if not queue.present():
        return Word()
    request = approvals.made(client.name, client.session, tool.name, tool.help, arguments)
    try:
        queue.ask(request)
        return await _answer(queue, request, context)
    except (MogError, OSError) as error:
        return Word(refused=f"the workbench cannot be asked: {error}")
    finally:
        queue.withdraw(request.id)
        queue.forget(request.id)


async def _answer(queue: Approvals, request: Request, context: Context[Any, Any]) -> Word:
    loop = asyncio.get_running_loop()
    began = kept = told = loop.time()
    why = f"nobody answered at the workbench within {SECONDS:.0f} seconds"
    while (now := loop.time()) < began + SECONDS:
        if (said := queue.said(request.id)) is not None:
            return _word(said)
        if now - kept > approvals.BEAT:
            kept = now
            queue.keep(request.id)
            if not queue.present():
                why = "the workbench was left before anybody answered"
                break
        if now - told > TELL:
            told = now
            await _going_on(context, now - began)
        await asyncio.sleep(LOOK)
    if queue.withdraw(request.id):
        return Word(refused=why)
    return await _at_last(queue, request, why)


async def _at_last(queue: Approvals, request: Request, why: str) -> Word:
    """Somebody took the request in the moment it was given up: what they say counts."""
    until = asyncio.get_running_loop().time() + SETTLE
    while asyncio.get_running_loop().time() < until:
        if (said := queue.said(request.id)) is not None:
            return _word(said)
        await asyncio.sleep(LOOK)
    return Word(refused=why)


def _word(said: Said) -> Word:
    if said.allowed:
        return Word(said.by)
    return Word(refused=f"refused by the {said.by}" + (f": {said.why}" if said.why else ""))


async def _going_on(context: Context[Any, Any], seconds: float) -> None:
    """A client that shows progress, or takes it for a sign of life, hears that a person is being asked."""
    meta = context.request_context.meta
    if isinstance(meta, dict) and "progress_token" in meta:
        with contextlib.suppress(MCPError):
            await context.report_progress(seconds, SECONDS, "waiting for the person at the workbench")
