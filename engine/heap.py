"""The collector of cycles, switched off while much is made and nothing thrown away. Called by the indexer and the mesh.

What may not come in: anything else about memory.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the cycle collector: it would walk millions of live records again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
