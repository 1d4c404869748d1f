"""The executor: work that stands on assumptions, run again exactly where they fell. Called by embedders and by the surfaces.

What lives here: plans of tasks, the runner, recorded reads, the run ledger. What may not come in: rules of belief (they
are ``reason``'s), surfaces, a way from a stored text to code: a key is looked up in a registry and never imported.
"""

from mog.engine.executor.model import Event, Task, TaskState, Verdict
from mog.engine.executor.receipts import RunLedger
from mog.engine.executor.registry import TaskRegistry, discover
from mog.engine.executor.runner import Runner

__all__ = ["Event", "RunLedger", "Runner", "Task", "TaskRegistry", "TaskState", "Verdict", "discover"]
