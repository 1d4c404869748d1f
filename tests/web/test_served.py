"""The workbench in a browser, as its server: who is turned away, what a page gets, and that no child outlives its page."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
from reading_page import Read
from serving_site import WAIT, Site, running, serving, until

from mog.app import loopback
from mog.app.cli.run import run as mog
from mog.app.web import server, session
from mog.engine.errors import UsageError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@pytest.fixture(scope="module")
def repo(lived_in: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(lived_in, tmp_path_factory.mktemp("served") / "shopkit", symlinks=True))


@pytest.fixture(scope="module")
def site(repo: Path) -> Iterator[Site]:
    with serving(repo) as found:
        yield found


async def opened(client: aiohttp.ClientSession, site: Site, **head: str) -> aiohttp.ClientWebSocketResponse:
    return await client.ws_connect(site.socket(), headers={"Origin": site.origin} | head)


async def drawn(link: aiohttp.ClientWebSocketResponse, words: str) -> str:
    """What was drawn until these words were."""
    seen = ""
    while words not in seen:
        message = await asyncio.wait_for(link.receive(), WAIT)
        assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), (message, seen[-500:])
        seen += message.data.decode(errors="replace") if isinstance(message.data, bytes) else message.data
    return seen


async def still(link: aiohttp.ClientWebSocketResponse, seconds: float = 0.5) -> None:
    """Take what was drawn until nothing came for a while: what comes next answers the next key."""
    with contextlib.suppress(TimeoutError):
        while True:
            await link.receive(timeout=seconds)


# -- who may come in


@pytest.mark.parametrize(
    ("path", "head", "status"),
    [
        ("/", {}, 401),
        ("/?token=", {}, 401),
        ("/?token=wrong", {}, 401),
        ("/?token=%00%ff", {}, 401),
        ("/?token=TOKEN&token=x", {}, 200),
        ("/?token=TOKENx", {}, 401),
        ("/?token=TOKEN", {}, 200),
        ("/?token=TOKEN", {"Host": "rebound.example.com"}, 421),
        ("/?token=TOKEN", {"Host": "127.0.0.1"}, 421),
        ("/?token=TOKEN", {"Host": "localhost:PORT"}, 200),
        ("/?token=TOKEN", {"Origin": "http://evil.example.com"}, 403),
        ("/?token=TOKEN", {"Origin": "null"}, 403),
        ("/?token=TOKEN", {"Origin": "http://127.0.0.1:1"}, 403),
        ("/static/textual.js", {}, 200),
        ("/static/textual.js", {"Host": "rebound.example.com"}, 421),
        ("/static/", {}, 404),
        ("/static/../server.py", {}, 404),
        ("/static/%2e%2e/server.py", {}, 404),
        ("/download/x", {}, 404),
        ("/ws/wrong/dark", {"Origin": "ORIGIN"}, 401),
        ("/ws/TOKEN/dark", {}, 403),
        ("/ws/TOKEN/dark", {"Origin": "http://evil.example.com"}, 403),
        ("/ws/TOKEN/dark", {"Origin": "ORIGIN", "Host": "rebound.example.com"}, 421),
        ("/ws/TOKEN/purple", {"Origin": "ORIGIN"}, 404),
    ],
)
def test_who_has_no_business_is_turned_away(site: Site, path: str, head: dict[str, str], status: int) -> None:
    known = {"TOKEN": site.token, "ORIGIN": site.origin, "PORT": str(site.port)}

    def meant(text: str) -> str:
        for name, value in known.items():
            text = text.replace(name, value)
        return text

    found, headers, body = site.send(meant(path), {name: meant(value) for name, value in head.items()})
    assert found == status, body
    assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
    if status != 200:
        assert site.token not in body and "set-cookie" not in headers
    assert not site.children(), "nothing was started for them"


def test_only_loopback_is_listened_on(site: Site) -> None:
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        own = next(
            (
                found[4][0]
                for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
                if not found[4][0].startswith("127.")
            ),
            "",
        )
    with socket.socket() as link:
        link.settimeout(5)
        assert not own or link.connect_ex((own, site.port)) != 0
    assert loopback.HOST == "127.0.0.1"


def test_a_secret_is_compared_as_a_whole() -> None:
    assert loopback.same("abc", "abc")
    assert not any(loopback.same(given, "abc") for given in ("", "ab", "abcd", "ABC", "äbc", "\udcff"))


def test_two_servers_have_two_tokens_and_a_port_that_is_taken_is_said(
    site: Site, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mog(["tui", "--serve", "--port", str(site.port), "--repo", str(repo)]) == 2
    said = capsys.readouterr().err
    assert f"port {site.port} cannot be had" in said and "--port" in said
    with serving(repo) as other:
        assert other.token != site.token
        assert other.send(f"/?token={site.token}")[0] == 401


@pytest.mark.parametrize("words", [["--serve", "--plain", "graph"], ["--port", "0"]])
def test_what_cannot_be_meant_is_said(repo: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert mog(["tui", *words, "--repo", str(repo)]) == 2
    assert "--serve" in capsys.readouterr().err


def test_the_address_is_all_of_stdout(repo: Path) -> None:
    vector = [sys.executable, "-P", "-m", "mog", "tui", "--serve", "--json", "--repo", str(repo)]
    process = subprocess.Popen(
        vector, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    rest, told = process.communicate(timeout=WAIT)
    assert json.loads("".join(lines))["address"].startswith("http://127.0.0.1:") and rest == ""
    assert process.returncode == 130 and "Traceback" not in told


# -- what a page is


def test_the_page_is_ours_and_asks_for_nothing_outside(site: Site) -> None:
    status, headers, body = site.send(f"/?token={site.token}")
    page = Read(body)
    assert status == 200 and page.depth == [] and "shopkit" in body
    assert all(address.startswith(("/static/", "data:image/svg+xml,")) for address in page.addresses)
    assert page.script == "" and page.style == "" and "fonts.googleapis" not in body
    rules = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
    assert rules["default-src"] == "'none'" and rules["script-src"] == "'self'" and rules["frame-ancestors"] == "'none'"
    assert rules["connect-src"] == f"'self' ws://127.0.0.1:{site.port}"
    for address in page.addresses:
        if address.startswith("/static/"):
            found, _, text = site.send(address)
            assert found == 200 and text
            if address.endswith(".css"):
                assert "@import" not in text and "url(http" not in text.replace('"', "")


def test_the_name_of_the_folder_is_shown_not_obeyed(tmp_path: Path) -> None:
    from mog.engine.workspace import Workspace

    root = tmp_path / "<script>alert(1)<x> $socket \u202e"
    root.mkdir()
    Workspace.init(root)
    with serving(root) as site:
        body = site.send(f"/?token={site.token}")[2]
    page = Read(body)
    assert page.tags.count("script") == 2 and page.script == "" and "\u202e" not in body
    assert "<script>alert(1)<x> $socket \\u202e" in page.text[""]


# -- one page, one child


async def test_a_page_is_the_workbench_and_its_keys_work(site: Site) -> None:
    async with aiohttp.ClientSession() as client:
        link = await opened(client, site)
        await drawn(link, "Graph")
        (child,) = site.children()
        for junk in (
            "no json",
            "[]",
            "{}",
            "7",
            '["resize",{"width":"x"}]',
            '["stdin"]',
            '["stdin",null,1]',
            '["x"]',
            "[" * 2_000,
        ):
            await link.send_str(junk)
        await link.send_bytes(b"\x00" * 100)
        await link.send_json(["resize", {"width": 10**9, "height": -5}])
        await link.send_json(["resize", {"width": 120, "height": 40}])
        await link.send_json(["ping", "x"])
        await drawn(link, '["pong", "x"]')
        await link.send_json(["stdin", "?"])
        await drawn(link, "Keys in")
        await still(link)
        await link.send_json(["stdin", "\x1b"])
        await drawn(link, "1 Graph")
        await still(link)  # esc and a letter right behind it are one key to a terminal
        await link.send_json(["stdin", "q"])
        while not link.closed:
            await asyncio.wait_for(link.receive(), WAIT)
    until(lambda: not running(child), "the child ends with its own key")


async def test_a_page_that_is_closed_takes_its_child_along(site: Site) -> None:
    async with aiohttp.ClientSession() as client:
        link = await opened(client, site)
        await drawn(link, "Graph")
        (child,) = site.children()
        await link.close()
    until(lambda: not running(child) and not site.children(), "the child ends with its page")


async def test_a_few_pages_at_once_and_no_more(repo: Path) -> None:
    with serving(repo) as site:
        async with aiohttp.ClientSession() as client:
            links = [await opened(client, site) for _ in range(server.AT_ONCE)]
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await opened(client, site)
            assert refused.value.status == 503
            await drawn(links[0], "Graph")
            children = site.children()
            assert len(children) == server.AT_ONCE
            site.process.send_signal(signal.SIGTERM)
            assert site.process.wait(WAIT) == 128 + signal.SIGTERM
        assert [pid for pid in children if running(pid)] == [], "no child outlives its server"


async def test_a_server_that_is_killed_leaves_no_child(repo: Path) -> None:
    with serving(repo) as site:
        async with aiohttp.ClientSession() as client:
            link = await opened(client, site)
            await drawn(link, "Graph")
            (child,) = site.children()
            site.process.kill()
            site.process.wait(WAIT)
            until(lambda: not running(child), "it sees the end of its input")


async def test_what_stands_in_the_folder_is_no_program_of_ours(tmp_path: Path, lived_in: Path) -> None:
    root = Path(shutil.copytree(lived_in, tmp_path / "shopkit", symlinks=True))
    (root / "mog").mkdir()
    planted = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).write_text('x')\n"
    for name in ("mog/__init__.py", "mog/__main__.py", "textual.py", "aiohttp.py"):
        (root / name).write_text(planted)
    with serving(root, cwd=root) as site:
        async with aiohttp.ClientSession() as client:
            await drawn(await opened(client, site), "Graph")
    assert not (tmp_path / "ran").exists()


# -- children that do not behave


class Browser:
    """What a session talks to."""

    def __init__(self) -> None:
        self.got = b""
        self.closed = asyncio.Event()

    async def write(self, data: bytes) -> None:
        self.got += data

    async def tell(self, data: str) -> None:
        self.got += data.encode()

    async def close(self) -> None:
        self.closed.set()


def a_session(code: str, browser: Browser) -> session.Session:
    from textual_serve.download_manager import DownloadManager

    return session.Session(
        [sys.executable, "-c", code], "15;0", DownloadManager(), browser.write, browser.tell, browser.close
    )


PRELUDE = "import os, sys, signal, time\nout = os.fdopen(1, 'wb', 0)\nout.write(b'__GANGLION__\\n')\n"


async def test_a_child_that_will_not_leave_is_put_out_with_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "TO_LEAVE", 0.3)
    browser = Browser()
    stubborn = a_session(
        PRELUDE + "for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\n"
        "pid = os.fork()\nout.write(b'D' + (8).to_bytes(4, 'big') + b'%08d' % (pid or os.getpid()))\ntime.sleep(600)\n",
        browser,
    )
    await stubborn.start(80, 24)
    end = asyncio.get_running_loop().time() + WAIT
    while len(browser.got) < 16 and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.02)
    pids = {int(browser.got[:8]), int(browser.got[8:16])}
    await stubborn.stop()
    assert stubborn.code == -signal.SIGKILL
    until(lambda: not any(map(running, pids)), "nothing of it is left")


@pytest.mark.parametrize(
    ("rest", "code"),
    [
        ("out.write(b'Xoh no')", 0),
        ("out.write(b'D\\xff\\xff\\xff\\xff')", 0),
        ("out.write(b'M' + (4).to_bytes(4, 'big') + b'oops')", 0),
        ("sys.stderr.write('\\x1b[2Jbroken'); sys.exit(9)", 9),
        ("out.close(); sys.exit(0)", 0),
    ],
)
async def test_a_child_that_speaks_no_sense_ends_its_page_alone(rest: str, code: int) -> None:
    browser = Browser()
    odd = a_session(PRELUDE + rest, browser)
    await odd.start(80, 24)
    await asyncio.wait_for(browser.closed.wait(), WAIT)
    await odd.stop()
    assert odd.code == code and (b"broken" in odd.said) == (code == 9)


def test_how_a_page_ended_is_said_without_what_steers_a_terminal() -> None:
    told: list[str] = []
    served = server.Served(["x"], "name", told.append)
    ended = a_session("", Browser())
    ended.code, ended.said = 9, "first\n\x1b[2J\u202elast".encode()
    served._account(ended)
    assert told == ["a page ended with 9: \\x1b[2J\\u202elast"]


def test_a_taken_port_is_a_typed_error() -> None:
    held = loopback.listening(0, 1)
    with held, pytest.raises(UsageError) as error:
        loopback.listening(held.getsockname()[1], 1)
    assert error.value.way_out
