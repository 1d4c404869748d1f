"""Whether a person approved a controlled write: by the server's flag, or asked through the client, in both eras of the protocol.

Who calls: ``server``, before the desk. What may not come in: the write itself. Who approved is recorded with the event.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError, NoBackChannelError

from mog.app.mcp import arguments as schemas
from mog.app.mcp.answers import brief
from mog.app.mcp.options import Options
from mog.app.mcp.table import Tool
from mog.app.present import clean
from mog.engine.errors import UsageError

BY_FLAG, BY_PERSON = "--allow-writes", "person, asked by the client"
SECONDS = 300.0  # for a person to answer
SHOWN = 400  # characters of one argument
_NAME = "approve"
_FORM: dict[str, Any] = {
    "type": "object", "properties": {_NAME: {"type": "boolean", "title": "Record it"}}, "required": [_NAME],
}  # fmt: skip


async def of(
    tool: Tool, arguments: Mapping[str, Any], options: Options, context: Context[Any, Any] | None
) -> str | types.InputRequiredResult:
    """How it was approved, "" when it was not, or the question to put to the person first."""
    if options.allow_writes:
        return BY_FLAG
    if context is None or not _can_ask(context) or not _well_formed(tool, arguments):
        return ""
    if context.protocol_version is not None and context.protocol_version >= "2026":
        return _by_rounds(tool, arguments, context)
    return await _by_request(tool, arguments, context)


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


async def _by_request(tool: Tool, arguments: Mapping[str, Any], context: Context[Any, Any]) -> str:
    try:
        async with asyncio.timeout(SECONDS):
            answer = await context.session.elicit_form(question(tool, arguments), _FORM, context.request_id)
    except (TimeoutError, MCPError, NoBackChannelError):
        return ""
    return BY_PERSON if _accepted(answer) else ""


def _by_rounds(tool: Tool, arguments: Mapping[str, Any], context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """The later era: the question is the result, the call comes again with the answer and the sealed state."""
    text = json.dumps([tool.name, dict(arguments)], sort_keys=True, default=str)
    about = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    answers = context.input_responses or {}
    if _NAME in answers and context.request_state == about:
        return BY_PERSON if _accepted(answers[_NAME]) else ""
    params = types.ElicitRequestFormParams(message=question(tool, arguments), requested_schema=_FORM)
    return types.InputRequiredResult(input_requests={_NAME: types.ElicitRequest(params=params)}, request_state=about)


def _accepted(answer: Any) -> bool:
    content = getattr(answer, "content", None)
    return getattr(answer, "action", "") == "accept" and isinstance(content, Mapping) and content.get(_NAME) is True
