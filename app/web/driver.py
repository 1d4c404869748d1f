"""Draws the workbench into a pipe to the server that started this process, and ends with it.

Who calls: the toolkit, by the name in ``TEXTUAL_DRIVER``, which ``session.py`` sets. What may not come in: anything of the
workbench.
"""

from __future__ import annotations

import asyncio

from textual.drivers.web_driver import WebDriver
from textual.messages import ExitApp


class PipeDriver(WebDriver):
    """The toolkit's own driver for pipes. When the pipe ends, whoever served is gone, killed perhaps: then this ends too."""

    def start_application_mode(self) -> None:
        """Begin to draw."""
        self._screen_loop = asyncio.get_running_loop()
        super().start_application_mode()

    def run_input_thread(self) -> None:
        """Read keys until there are no more."""
        super().run_input_thread()
        if not self.exit_event.is_set() and not self._screen_loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._app._post_message(ExitApp()), loop=self._screen_loop)
