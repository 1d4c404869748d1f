"""Work that runs until it ends or a signal says so. Called by whatever serves: ``mcp/serving``,
``web/server``, ``http/server``.

What may not come in: what is served.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from typing import Any, NoReturn

SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")


async def until_told(work: Coroutine[Any, Any, object]) -> int:
    """Run to the end, or until a signal; then the work is cancelled and may tidy up. 0, or 128 and the number of the signal."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    told: list[int] = []

    def stop(number: int) -> None:
        told.append(number)
        task.cancel()

    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and threading.current_thread() is threading.main_thread():
            try:
                loop.add_signal_handler(number, stop, number)
            except NotImplementedError:  # no such thing on Windows
                signal.signal(number, lambda got, _: loop.call_soon_threadsafe(stop, got))
    try:
        await task
    except asyncio.CancelledError:
        if not told:
            raise
    return 128 + told[0] if told else 0


def leave(code: int) -> NoReturn:
    """End the process at once, with its children: neither work in progress nor the interpreter's own end keeps a client waiting."""
    if "multiprocessing" in sys.modules:
        for child in sys.modules["multiprocessing"].active_children():
            child.terminate()
    sys.stderr.flush()
    os._exit(code)
