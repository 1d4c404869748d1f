"""A real browser opens the exported page and the served workbench: keys work, nothing complains, nothing leaves this machine."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from browsing import CHROMIUM, WHY_NOT, Page, browser
from page_poison import EVIL, WHEN, poisoned
from serving_site import running, serving, until

from mog.app.page import facts, render
from mog.engine.workspace import Workspace

pytestmark = [
    pytest.mark.long,
    pytest.mark.client,
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM or os.name != "posix", reason=WHY_NOT),
]
FOCUS = "document.getElementById('focus').textContent"
SHOWN = "document.querySelectorAll('.view:not([hidden]) .node:not(.off)').length"


@pytest_asyncio.fixture
async def tab(tmp_path: Path) -> AsyncIterator[Page]:
    async with browser(tmp_path) as new:
        yield await new()


@pytest.fixture
def saved(written: str, tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    path.write_text(written, encoding="utf-8")
    return path.as_uri()


async def test_the_page_is_worked_with_keys_alone(tab: Page, saved: str) -> None:
    await tab.size(1280, 900)
    await tab.prefers(prefers_color_scheme="dark")
    await tab.open(saved)
    everything = await tab.js(SHOWN)
    await tab.press("g")
    await tab.until("document.activeElement.matches('.node')")
    first = await tab.js("document.activeElement.dataset.n")
    await tab.press("l")
    assert await tab.js("document.activeElement.dataset.n") != first
    await tab.press("Enter")
    assert "tied to" in await tab.js(FOCUS)
    assert await tab.js("document.querySelectorAll('.edge.on').length") > 0
    before = await tab.js(FOCUS)
    await tab.press("ArrowDown")
    assert await tab.js(FOCUS) != before, "what is followed moves along"
    await tab.press("Escape")
    assert "Pick a node" in await tab.js(FOCUS)
    await tab.press("/")
    await tab.type("cart")
    assert 0 < await tab.js(SHOWN) < everything
    assert "of" in await tab.js("document.getElementById('found').textContent")
    await tab.press("Enter")
    assert await tab.js("document.activeElement.matches('.node:not(.off)')")
    await tab.press("Escape")
    assert await tab.js(SHOWN) == everything
    await tab.press("w")
    assert 0 < await tab.js(SHOWN) < everything
    await tab.press("w")
    await tab.press("v")
    assert await tab.js("document.getElementById('view-beliefs').hidden") is True
    assert await tab.js(SHOWN) == 7, "the files"
    await tab.press("v")
    await tab.press("n")
    assert await tab.js("document.activeElement.id") == "hops", "the panel after the graph"
    await tab.press("p")
    assert await tab.js("document.activeElement.id") == "graph"
    ground = await tab.js("getComputedStyle(document.body).backgroundColor")
    await tab.press("t")
    await tab.press("t")
    assert await tab.js("document.documentElement.dataset.theme") == "light"
    assert await tab.js("getComputedStyle(document.body).backgroundColor") != ground
    await tab.press("?")
    assert await tab.js("document.getElementById('help').open") is True
    await tab.press("Escape")
    await tab.until("!document.getElementById('help').open")
    assert tab.complaints == [] and tab.strangers() == [] and set(tab.requests) == {saved}


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["dark", "light"])
async def test_the_page_fits_and_can_be_read(tab: Page, saved: str, width: int, scheme: str) -> None:
    await tab.size(width, 844)
    await tab.prefers(prefers_color_scheme=scheme)
    await tab.open(saved)
    assert await tab.js("document.documentElement.scrollWidth") <= width, "nothing sticks out sideways"
    cut = """[...document.querySelectorAll('.counts b, h2, .path strong, .state')].filter(e => e.scrollWidth > e.clientWidth + 1
             && getComputedStyle(e).display !== 'inline').map(e => e.textContent)"""
    assert await tab.js(cut) == []
    low = await tab.js(CONTRAST)
    assert low == [], "4.5 : 1"
    assert tab.complaints == []


# WCAG 2: every text against the first ground below it that is not clear
CONTRAST = """(() => {
  const rgb = (text) => { const c = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    c.fillStyle = text; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c[3] === 255) return c; } return [255, 255, 255]; };
  const out = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || e.closest('script, style, title, dialog, option, .skip, .unseen')) continue;
    const style = getComputedStyle(e), ink = e.ownerSVGElement ? style.fill : style.color;
    const [a, b] = [light(rgb(ink)), light(ground(e))].sort((p, q) => q - p);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) out.add(`${e.tagName}.${e.getAttribute('class')} ${ink} ${ratio.toFixed(2)}`);
  }
  return [...out];
})()"""


async def test_a_page_of_hostile_names_runs_nothing(tab: Page, tmp_path: Path, lived_in: Path) -> None:
    with Workspace.open(lived_in) as workspace:
        body = render.page(poisoned(facts.gather(workspace, WHEN), EVIL))
    path = tmp_path / "evil.html"
    path.write_text(body, encoding="utf-8")
    await tab.open(path.as_uri())
    await tab.press("g")
    for key in ("Enter", "j", "l", "Enter"):
        await tab.press(key)
    await tab.js(
        "document.querySelectorAll('.node, li').forEach(e => e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})))"
    )
    assert await tab.js("window.pwned === undefined && document.images.length === 0")
    assert tab.complaints == [] and tab.strangers() == [] and set(tab.requests) == {path.as_uri()}


async def test_even_markup_that_got_in_would_run_nothing(tab: Page, tmp_path: Path, written: str) -> None:
    """The policy is a second wall: here the first is torn down on purpose."""
    evil = (
        "<script>window.pwned=1</script><img src=x onerror='window.pwned=2'><img src='http://127.0.0.1:9/x'>"
        "<style>body{display:none}</style><iframe src='javascript:parent.pwned=3'></iframe><link rel=stylesheet href='http://127.0.0.1:9/y'>"
    )
    path = tmp_path / "torn.html"
    path.write_text(written.replace('<main id="main">', f'<main id="main">{evil}'), encoding="utf-8")
    await tab.open(path.as_uri())
    await tab.press("g")
    assert await tab.js("window.pwned === undefined")
    assert await tab.js("getComputedStyle(document.body).display") == "block"
    assert len(tab.complaints) >= 3, "the browser says what it refused"


async def test_the_workbench_in_a_browser_answers_keys(tab: Page, tmp_path: Path, lived_in: Path) -> None:
    root = Path(shutil.copytree(lived_in, tmp_path / "shopkit", symlinks=True))
    drawn: list[str] = []
    note = tab._note

    def listen(what: str, told: dict) -> None:  # type: ignore[type-arg]
        if what == "Network.webSocketFrameReceived":
            data = told["response"]["payloadData"]
            drawn.append(base64.b64decode(data).decode(errors="replace") if told["response"]["opcode"] == 2 else data)
        note(what, told)

    tab._note = listen  # type: ignore[method-assign]

    async def until_drawn(words: str, since: int = 0) -> None:
        async def there() -> bool:
            return words in "".join(drawn[since:])

        await tab.until_so(there, words)

    with serving(root) as site:
        await tab.size(1280, 800)
        await tab.open(site.address)
        await tab.until("document.body.classList.contains('-first-byte')")
        await tab.until("document.activeElement.matches('.xterm-helper-textarea')")
        await until_drawn("Map")
        assert await tab.js("document.fonts.check('15px \"Roboto Mono\"')"), "the font of the package"
        (child,) = site.children()
        at = len(drawn)
        await tab.press("?")
        await until_drawn("Keys in", at)
        at = len(drawn)
        await tab.press("Escape")
        await until_drawn("1 Graph", at)
        await tab.press("q")
        await tab.until("document.body.classList.contains('-closed')")
        until(lambda: not running(child), "the child ends with its own key")
        assert await tab.js("document.activeElement.id") == "again"
        assert tab.complaints == [] and tab.strangers() == []
        assert all(f"127.0.0.1:{site.port}" in url or url.startswith("data:") for url in tab.requests)
        await tab.press("Enter")
        await tab.until(
            "document.body.classList.contains('-first-byte') && !document.body.classList.contains('-closed')"
        )


async def test_the_workbench_has_room_in_a_narrow_window(tab: Page, lived_in: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(lived_in, tmp_path / "shopkit", symlinks=True))
    with serving(root) as site:
        await tab.size(390, 844)
        await tab.open(site.address)
        await tab.until("document.body.classList.contains('-first-byte')")
        (socket,) = [url for url in tab.requests if url.startswith("ws:")]
        assert int(socket.partition("width=")[2].partition("&")[0]) >= 50
        assert tab.complaints == []
