"""What the verbs that answer with packs share: options and the way out. What may not come in: questions to the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from mog.app.cli import output
from mog.app.cli.options import Common
from mog.engine.errors import UsageError

if TYPE_CHECKING:
    from mog.engine.retrieval.model import Pack, Zoom

DEFAULT_BUDGET = 4_000

Budget = Annotated[
    int,
    Parameter(
        validator=validators.Number(gte=64, lte=100_000), help="Tokens at most, by the estimator that the answer names."
    ),
]
ZoomName = Annotated[str, Parameter(help="auto, or L0 names, L1 signatures, L2 bodies, L3 whole files with blame.")]


def zoom_of(name: str) -> Zoom | None:
    """A zoom by its name; None for ``auto``. Raises UsageError."""
    from mog.engine.retrieval.model import Zoom

    if name.lower() == "auto":
        return None
    try:
        return Zoom[name.upper()]
    except KeyError as error:
        raise UsageError(f"there is no zoom {name!r:.20}", way_out="auto, L0, L1, L2 or L3") from error


def show(made: Pack, common: Common, *, explain: bool = False) -> None:
    """A pack on stdout."""
    from mog.app import plain_context, present_context

    if common.json:
        output.document(present_context.pack(made))
    else:
        output.lines(plain_context.pack(made, output.glyphs(), explain=explain), common)
