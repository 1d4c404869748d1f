"""The command line over a real repository in which something is believed, for tests of the verbs about beliefs.

Who calls: tests/app/test_cli_beliefs*.py. What may not come in: assertions about answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mog.app.cli.main import main
from mog.engine.ledgers.events import EventLog

PRICES = "Prices arrive in minor units"
CENTS = "Store cents as integers"
COLUMN = "Keep no cents column"
GATEWAY = "The payment gateway never sees fractions."
AUDIT = "The yearly audit counts whole cents."

FILES: Mapping[str, str] = {
    "shop/cart.py": 'def total(lines):\n    """Sum in cents."""\n    return sum(lines)\n',
    "notes/gateway.md": f"# Payment gateway\n\n{GATEWAY}\nThe payment gateway answers in four seconds.\n",
    "notes/audit.md": f"# Audit\n\n{GATEWAY}\n{AUDIT}\n",
}


class Said:
    """One run of the command line in this process: exit code and both streams."""

    def __init__(self, capture: Any, *arguments: str) -> None:
        capture.readouterr()
        self.code = main(list(arguments))
        self.out, self.err = capture.readouterr()

    @property
    def text(self) -> str:
        """Stdout as text."""
        return self.out.decode()

    @property
    def json(self) -> Any:
        """Stdout as one JSON document."""
        return json.loads(self.out)


def believe(capture: Any) -> dict[str, str]:
    """Record a small story in the current repository; words → id.

    An assumption, a decision on it, a decision on that one, and a claim of a note that has a second reason.
    """
    made = {}
    for words, arguments in {
        PRICES: ["assume", PRICES],
        CENTS: ["decide", CENTS, "--because", "floats lose cents", "--rests-on", PRICES],
        COLUMN: ["decide", COLUMN, "--because", "one form is enough", "--rests-on", CENTS],
    }.items():
        made[words] = Said(capture, *arguments, "--json").json["result"]["id"]
    Said(capture, "ingest", "notes", "-q")
    made[GATEWAY] = Said(capture, "claim", GATEWAY, "--rests-on", CENTS, "--json").json["result"]["id"]
    return made


def head(root: Path) -> tuple[int, str]:
    """Number and digest of the last event of a repository's ledger."""
    with EventLog(root / ".mog" / "ledger.db") as log:
        found = log.head()
    return found.seq, found.digest
