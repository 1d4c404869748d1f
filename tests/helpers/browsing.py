"""A headless Chromium driven over its debugging protocol: opens pages, types, looks, and remembers every request and complaint.

Who calls: tests/web/. What may not come in: assertions about one page.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
WHY_NOT = "no chromium is installed here; .ci/run installs it where it can"
WAIT = 60.0
_KEYS = {
    "Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowDown": (40, ""), "ArrowUp": (38, ""),
    "ArrowLeft": (37, ""), "ArrowRight": (39, ""),
}  # fmt: skip


class Page:
    """One tab. ``requests`` holds every address it asked for, ``complaints`` every error of its console."""

    def __init__(self, link: aiohttp.ClientWebSocketResponse) -> None:
        self._link = link
        self._last = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        async for message in self._link:
            said = message.json()
            waiting = self._waiting.pop(said.get("id", 0), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(said)
            self._note(said.get("method", ""), said.get("params", {}))

    def _note(self, what: str, told: dict[str, Any]) -> None:
        if what == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif what == "Network.webSocketCreated":
            self.requests.append(told["url"])
        elif what == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"])[:500])
        elif what == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.complaints.append(str(told["args"])[:500])
        elif what == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.complaints.append(f"{told['entry']['text']} {told['entry'].get('url', '')}"[:500])

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol. Raises AssertionError when it is refused."""
        self._last += 1
        waiting = self._waiting[self._last] = asyncio.get_running_loop().create_future()
        await self._link.send_json({"id": self._last, "method": method, "params": params})
        said = await asyncio.wait_for(waiting, WAIT)
        assert "error" not in said, (method, said["error"])
        found: dict[str, Any] = said["result"]
        return found

    async def begin(self) -> None:
        """Listen from now on."""
        for domain in ("Page", "Runtime", "Network", "Log"):
            await self.call(f"{domain}.enable")

    async def size(self, width: int, height: int) -> None:
        """The window, in CSS pixels."""
        phone = width < 500
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone
        )

    async def prefers(self, **features: str) -> None:
        """Media features by name, ``_`` for ``-``."""
        wanted = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        await self.call("Emulation.setEmulatedMedia", features=wanted)

    async def open(self, address: str) -> None:
        """Go there, and wait until it is loaded."""
        await self.call("Page.navigate", url=address)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def js(self, expression: str) -> Any:
        """The value of an expression in the page, as JSON. Raises AssertionError when it throws."""
        said = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until it is true."""
        await self.until_so(lambda: self.js(expression), expression)

    async def until_so(self, ask: Callable[[], Awaitable[Any]], what: str) -> None:
        """Wait until what is asked is true."""
        loop = asyncio.get_running_loop()
        end = loop.time() + WAIT
        while True:
            with contextlib.suppress(AssertionError):  # between two pages there is nobody to ask
                if await ask():
                    return
            assert loop.time() < end, f"never: {what}"
            await asyncio.sleep(0.05)

    async def press(self, key: str) -> None:
        """One key, by the name the browser has for it, or a character."""
        code, text = _KEYS.get(key, (ord(key.upper()) if len(key) == 1 else 0, key if len(key) == 1 else ""))
        shown: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code}
        if text:
            shown |= {"text": text, "unmodifiedText": text}
        await self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **shown)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **shown)

    async def type(self, text: str) -> None:
        """Characters, one key each."""
        for char in text:
            await self.press(char)

    async def picture(self, path: Path | None = None, *, whole: bool = False) -> bytes:
        """A PNG of the window, or of the whole page."""
        clip: dict[str, Any] = {}
        if whole:
            size = (await self.call("Page.getLayoutMetrics"))["cssContentSize"]
            clip = {"captureBeyondViewport": True, "clip": {**size, "x": 0, "y": 0, "scale": 1}}
        png = base64.b64decode((await self.call("Page.captureScreenshot", format="png", **clip))["data"])
        if path is not None:
            path.write_bytes(png)
        return png

    def strangers(self) -> list[str]:
        """Requests that would leave this machine."""
        near = {"127.0.0.1", "localhost", None}
        return [
            url for url in self.requests if urlsplit(url).scheme not in _LOCAL and urlsplit(url).hostname not in near
        ]


_LOCAL = ("data", "blob", "file", "about", "chrome")


@contextlib.asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Callable[[], Awaitable[Page]]]:
    """A Chromium with a profile in ``folder``; gives a function that opens a tab. No name is resolved but loopback."""
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={folder / 'profile'}", *root,
        "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "about:blank",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        port = await _port(folder / "profile" / "DevToolsActivePort", process)
        async with aiohttp.ClientSession() as client:
            pages: list[Page] = []

            async def tab() -> Page:
                async with client.put(f"http://127.0.0.1:{port}/json/new?about:blank") as answer:
                    address = (await answer.json())["webSocketDebuggerUrl"]
                page = Page(await client.ws_connect(address, max_msg_size=0))
                pages.append(page)
                await page.begin()
                return page

            try:
                yield tab
            finally:
                for page in pages:
                    await page._link.close()
                    page._reading.cancel()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        await process.wait()


async def _port(path: Path, process: asyncio.subprocess.Process) -> int:
    loop = asyncio.get_running_loop()
    end = loop.time() + WAIT
    while loop.time() < end:
        with contextlib.suppress(OSError, ValueError):
            port, _ = path.read_text().split()  # both lines, or it is being written
            return int(port)
        assert process.returncode is None, f"chromium ended with {process.returncode}"
        await asyncio.sleep(0.05)
    raise AssertionError("chromium does not say where it listens")
