"""What the verbs that answer with packs share: options, the account of who was served, the way out.

Who calls: ``search``, ``expand``, ``context load``. What may not come in: other questions to the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from mog.app.cli import output
from mog.app.cli.options import Common
from mog.engine.errors import UsageError

if TYPE_CHECKING:
    from mog.engine.memory.set_records import Turned
    from mog.engine.retrieval.model import Pack, Zoom
    from mog.engine.workspace import Workspace

DEFAULT_BUDGET = 4_000

Budget = Annotated[
    int,
    Parameter(
        validator=validators.Number(gte=64, lte=100_000), help="Tokens at most, by the estimator that the answer names."
    ),
]
ZoomName = Annotated[str, Parameter(help="auto, or L0 names, L1 signatures, L2 bodies, L3 whole files with blame.")]


Session = Annotated[
    str, Parameter(name=["--session", "-s"], show_default=False, help="Account for what is shown in the working set of this session.")
]


def served(workspace: Workspace, made: Pack, session: str) -> Turned | None:
    """Put what will be shown into a session's working set; None without a session."""
    return workspace.working_set(session).serve(made.items) if session else None


def zoom_of(name: str) -> Zoom | None:
    """A zoom by its name; None for ``auto``. Raises UsageError."""
    from mog.engine.retrieval.model import Zoom

    if name.lower() == "auto":
        return None
    try:
        return Zoom[name.upper()]
    except KeyError as error:
        raise UsageError(f"there is no zoom {name!r:.20}", way_out="auto, L0, L1, L2 or L3") from error


def show(made: Pack, common: Common, *, explain: bool = False, turned: Turned | None = None) -> None:
    """A pack on stdout, and what serving it did to the working set: stubs of what left."""
    from mog.app import plain_context, plain_ws, present_context, present_ws

    if common.json:
        account = {"served": present_ws.turned(turned)} if turned else {}
        output.document({**present_context.pack(made), **account})
        return
    output.lines(plain_context.pack(made, output.glyphs(), explain=explain), common)
    if turned:
        output.lines(plain_ws.turned(turned), common)
