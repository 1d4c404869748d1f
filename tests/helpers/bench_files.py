"""Modules of ``benchmarks`` loaded by file, so that tests do not depend on the folder pytest was started in."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def load(name: str) -> ModuleType:
    """The module ``benchmarks/name.py``; it may import mog and the standard library only."""
    alias = f"bench_file_{name}"
    if alias not in sys.modules:
        spec = importlib.util.spec_from_file_location(alias, FOLDER / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[alias] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[alias]
