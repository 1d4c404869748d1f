"""What a server of the protocol is asked for: tool sets, rights, transport. One frozen record, its flags, its JSON.

Who calls: ``mog serve``, ``main`` for programs that embed mog, and the owner, which reads the JSON a bridge sends. What may not
come in: the protocol's package, the engine, the environment.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mog.engine.errors import UsageError

SETS = ("core", "mesh", "context", "write")
CHECKPOINTS = ("every-ask", "on-exit", "never")
TRANSPORTS = ("stdio", "http")


@dataclass(frozen=True, slots=True)
class Options:
    """One server as its command line asked for it.

    Attributes:
        repo: folder to start from, None for the current one.
        sets: names of ``SETS``, in that order, each once. allow_writes: the controlled writes need no approval.
        checkpoint: when counts of walks are written; ``never`` writes nothing at all and serves no write.
        demo: serve a made-up graph in a temporary folder. transport, port: ``http`` listens on loopback; port 0 lets the system
            choose.
    """

    repo: Path | None = None
    sets: tuple[str, ...] = ("core",)
    allow_writes: bool = False
    checkpoint: str = "every-ask"
    demo: bool = False
    transport: str = "stdio"
    port: int = 0

    @property
    def read_only(self) -> bool:
        """Nothing may be written for this client."""
        return self.checkpoint == "never"

    def said(self) -> dict[str, Any]:
        """What the owner has to know of a client, as JSON."""
        return {"sets": list(self.sets), "allow_writes": self.allow_writes, "checkpoint": self.checkpoint}


def heard(said: Mapping[str, Any], own: Options) -> Options:
    """The options of a client that bridges to a server with ``own``. Raises UsageError for what is no JSON of ``said``."""
    sets, checkpoint = said.get("sets"), said.get("checkpoint")
    if not isinstance(sets, list) or not all(isinstance(one, str) for one in sets):
        raise UsageError(
            "a client names its tool sets as a list", where="sets", way_out="update the older of the two mogs"
        )
    return Options(
        own.repo,
        chosen(sets),
        bool(said.get("allow_writes")),
        _one_of(str(checkpoint), CHECKPOINTS, "checkpoint"),
        own.demo,
    )


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Tool sets by name, in the order of ``SETS``. Raises UsageError for none, or one that is not there."""
    wanted = {part.strip() for name in names for part in name.split(",")} - {""}
    for name in sorted(wanted):
        _one_of(name, SETS, "tools")
    if not wanted:
        raise UsageError("no tool set is named", where="--tools", way_out="name some of " + ", ".join(SETS))
    return tuple(name for name in SETS if name in wanted)


def parse(argv: Sequence[str]) -> Options:
    """Options of a command line without the program's name. Raises UsageError."""
    reader = argparse.ArgumentParser(prog="mog serve --mcp", add_help=False, exit_on_error=False)
    reader.add_argument("--mcp", action="store_true")
    reader.add_argument("--repo", type=Path)
    reader.add_argument("--tools", default="core")
    reader.add_argument("--allow-writes", action="store_true")
    reader.add_argument("--checkpoint", default="every-ask")
    reader.add_argument("--demo", action="store_true")
    reader.add_argument("--transport", default="stdio")
    reader.add_argument("--port", type=int, default=0)
    try:
        found, rest = reader.parse_known_args(list(argv))
    except argparse.ArgumentError as error:
        raise UsageError(str(error), way_out="the options are those of `mog serve --mcp`") from error
    if rest:
        raise UsageError(f"there is no option {rest[0]}", way_out="the options are those of `mog serve --mcp`")
    return made(
        repo=found.repo, tools=found.tools, allow_writes=found.allow_writes, checkpoint=found.checkpoint, demo=found.demo,
        transport=found.transport, port=found.port,
    )  # fmt: skip


def made(
    *, repo: Path | None = None, tools: str = "core", allow_writes: bool = False, checkpoint: str = "every-ask",
    demo: bool = False, transport: str = "stdio", port: int = 0,
) -> Options:  # fmt: skip
    """Options from the words of a command line. Raises UsageError."""
    if not 0 <= port <= 65535:
        raise UsageError(f"{port} is no port", where="--port", way_out="0 to 65535; 0 lets the system choose")
    if port and transport != "http":
        raise UsageError("only http has a port", where="--port", way_out="add --transport http")
    _one_of(checkpoint, CHECKPOINTS, "checkpoint")
    return Options(
        repo, chosen([tools]), allow_writes, checkpoint, demo, _one_of(transport, TRANSPORTS, "transport"), port
    )


def _one_of(value: str, legal: Sequence[str], name: str) -> str:
    if value not in legal:
        raise UsageError(f"--{name} cannot be {value!r:.40}", where=f"--{name}", way_out="one of " + ", ".join(legal))
    return value
