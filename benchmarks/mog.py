"""The ``mog`` command as the benchmarks run it: a child process, like anyone's.

Who calls: the benchmarks. What may not come in: imports of mog.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import Cost, run


def command() -> list[str]:
    """The installed ``mog`` beside this Python, or the module where scripts are not installed."""
    script = Path(sys.executable).with_name("mog")
    return [str(script)] if script.exists() else [sys.executable, "-m", "mog"]


def mog(root: Path, *args: str, env: Mapping[str, str] | None = None) -> Cost:
    """Run one verb in ``root``. Raises CommandFailed."""
    return run([*command(), *args], cwd=root, env=env)


def mog_json(root: Path, *args: str, env: Mapping[str, str] | None = None) -> tuple[Cost, dict[str, Any]]:
    """Run one verb with ``--json`` and decode its document."""
    cost = mog(root, *args, "--json", env=env)
    document: dict[str, Any] = json.loads(cost.out)
    return cost, document
