"""Every exit code of ``mog`` in one place; docs/exit-codes.md is tested against this table.

Who calls: verbs (OK, NOTHING, STALE, DAMAGED) and ``run.py``; errors carry their own code (``engine/errors.py``).
What may not come in: a second table.
"""

OK = 0
NOTHING = 1
USAGE = 2
CONFIG = 3
STALE = 4
PROVIDER = 5
POLICY = 6
BUDGET = 7
HELD = 8
DAMAGED = 9
FAULT = 70
CANCELLED = 130

MEANINGS = {
    OK: "done",
    NOTHING: "nothing found, or work that is not complete",
    USAGE: "usage: a command, option, target or folder that cannot be meant",
    CONFIG: "configuration: mog.yaml, a MOG_ variable or GRAPH.md",
    STALE: "stale or missing index; drift under --strict",
    PROVIDER: "provider: a grammar could not be had",
    POLICY: "policy: the content is gated or the command is not trusted",
    BUDGET: "budget exceeded",
    HELD: "held by another writer",
    DAMAGED: "damaged store",
    FAULT: "a fault in mog itself; the traceback is on stderr",
    CANCELLED: "cancelled",
}
