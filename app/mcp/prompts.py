"""Prompts: the three drills that a client can offer. Texts of ours with arguments put in as quoted data.

Who calls: ``server``. What may not come in: the engine, the protocol's types.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from mog.app.present import clean


@dataclass(frozen=True, slots=True)
class Drill:
    """One prompt: its arguments (all needed), and the text they go into."""

    name: str
    help: str
    takes: Mapping[str, str]
    text: str


DRILLS = (
    Drill(
        "break", "Predict what falls with an assumption, then look.", {"assumption": "id or words of an assumption"},
        "Take the assumption {assumption}. First say, without looking, which decisions, claims and artefacts you expect to"
        " fall, to weaken, and to survive, and why. Then call mesh_blast_radius and compare: name each surprise and the ground"
        " behind it. Change nothing.",
    ),
    Drill(
        "impact", "Predict what deserves a look when code changes, then look.", {"target": "symbol, file or path::name"},
        "Take {target}. First say, without looking, which files and tests you expect a change of it to reach. Then call impact"
        " and compare: name what you missed, what you guessed wrongly, and what the answer itself says it does not know.",
    ),
    Drill(
        "drift", "Find what is remembered and no longer true.", {"area": "part of the repository, in words"},
        "Look at what is remembered about {area}. Call verify and recall, and say for each note whether the code still bears it"
        " out: read the code with expand where it drifted. Propose what to remember instead; call nothing that writes.",
    ),
)  # fmt: skip
MOST = 500


def filled(name: str, given: Mapping[str, object]) -> tuple[str, str]:
    """The text of a drill and its description. Raises MCPError: no such drill, or an argument is missing or too long."""
    drill = next((one for one in DRILLS if one.name == name), None)
    if drill is None:
        raise MCPError(
            INVALID_PARAMS,
            f"there is no prompt {clean(name)[:60]!r}; there are {', '.join(one.name for one in DRILLS)}",
        )
    values = {}
    for wanted in drill.takes:
        text = given.get(wanted)
        if not isinstance(text, str) or not text.strip() or len(text) > MOST:
            raise MCPError(INVALID_PARAMS, f"{wanted} is wanted, up to {MOST} characters")
        values[wanted] = json.dumps(clean(text), ensure_ascii=False)
    return drill.text.format_map(values), drill.help
