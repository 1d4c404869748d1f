"""Worker processes: how a pool of them is made, and what it raises where there is no room for any.

Who calls: what reads many files (``code/ingest``, ``retrieval/shelf``), which goes on in its own process when the pool fails. It is
imported where a pool is wanted, since the modules below are slow to load. What may not come in: what the workers do.
"""

from __future__ import annotations

import atexit
import gc
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

#: A worker died or none starts, there is no room for processes, or there are no semaphores.
FAILURES = (BrokenProcessPool, OSError, NotImplementedError, ImportError)


def pool(workers: int) -> ProcessPoolExecutor:
    """A pool of new interpreters. Raises one of ``FAILURES``, now or when it is used."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    """Workers read and are gone: nothing they make goes in circles, and an interpreter that takes down all it holds takes a while."""
    gc.disable()
    atexit.register(os._exit, 0)
