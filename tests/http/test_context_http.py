"""The code graph over HTTP, by real requests to a real process: what is served, and who is turned away before anything is looked at."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from snapshot_kit import FILES

WAIT = 60.0
_TOLD = re.compile(r"http://127\.0\.0\.1:(\d+)/api/apps, its token is in (.+)")
SHOT = "/api/apps/shop/context/workspace-snapshot"


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass
class Site:
    port: int
    token: Path
    root: Path
    process: subprocess.Popen[bytes]

    def send(
        self, method: str, path: str, body: bytes | None = None, head: Mapping[str, str] | None = None, **more: str
    ) -> Reply:
        """One request with an honest client's headers, or with exactly ``head``."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        honest = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token.read_text()}",
            "Content-Type": "application/json",
        }
        given = dict(head) if head is not None else honest
        given |= {name.replace("_", "-"): value for name, value in more.items()}
        with contextlib.closing(link):
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in ({"Content-Length": str(len(body or b""))} | given).items():
                link.putheader(name, value)
            link.endheaders(body or b"")
            answer = link.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())

    def post(self, path: str, value: object, **more: str) -> Reply:
        return self.send("POST", path, json.dumps(value).encode(), **more)


def repository(root: Path, name: str) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "mog.yaml").write_text(f"version: 1\nproject: {name}\n")
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True, timeout=60)
    return root


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    base = tmp_path_factory.mktemp("site")
    root, other = repository(base / "shop", "shop"), repository(base / "other", "other")
    env = {**os.environ, **{f"MOG_{name}_DIR": str(base / name) for name in ("KEYS", "WITNESS", "TRUST")}}
    vector = [sys.executable, "-m", "mog", "serve", "--http", "--repo", str(root), "--root", str(other)]
    process = subprocess.Popen(
        vector, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    )
    try:
        assert process.stderr is not None
        told = _TOLD.search(process.stderr.readline().decode())
        assert told
        yield Site(int(told[1]), Path(told[2].strip()), root, process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=15)


# who is turned away


def test_the_token_is_in_a_private_file_and_nothing_but_loopback_is_listened_on(site: Site) -> None:
    assert stat.S_IMODE(site.token.stat().st_mode) == 0o600 and len(site.token.read_text()) == 64
    assert stat.S_IMODE(site.token.parent.stat().st_mode) == 0o700
    listening = Path("/proc/net/tcp").read_text() if sys.platform == "linux" else ""
    rows = [row.split()[1] for row in listening.splitlines()[1:] if row.split()[1].endswith(f":{site.port:04X}")]
    assert all(row.startswith("0100007F:") for row in rows)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ({"Host": "example.invalid"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "localhost.example.invalid:{port}"}, 421),
        ({"Host": "127.0.0.1:{port}"}, 401),
        ({"Host": "127.0.0.1:{port}", "Authorization": "Bearer " + "0" * 64}, 401),
        ({"Host": "127.0.0.1:{port}", "Authorization": "Basic {token}"}, 401),
        ({"Host": "127.0.0.1:{port}", "Authorization": "Bearer {token}", "Origin": "http://example.invalid"}, 403),
        ({"Host": "127.0.0.1:{port}", "Authorization": "Bearer {token}", "Origin": "null"}, 403),
        ({"Host": "127.0.0.1:{port}", "Origin": "http://localhost:{port}"}, 401),
    ],
)
def test_who_is_not_let_in_learns_nothing(site: Site, head: dict[str, str], status: int) -> None:
    given = {name: value.format(port=site.port, token=site.token.read_text()) for name, value in head.items()}
    for method, path in (("POST", SHOT), ("GET", "/api/apps"), ("GET", "/no/such/thing")):
        reply = site.send(method, path, b"{}", {**given, "Content-Type": "application/json"})
        assert reply.status == status and "shop" not in reply.body.decode()
        assert reply.json["error"]["code"] == "refused"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", SHOT, 405), ("PUT", SHOT, 405), ("POST", "/api/apps", 405), ("GET", "/", 404)],
)
def test_another_method_or_path_is_refused(site: Site, method: str, path: str, status: int) -> None:
    assert site.send(method, path).status == status


@pytest.mark.parametrize(
    ("body", "head", "status"),
    [
        (b"x" * (1024 * 1024 + 1), {}, 413),
        (b"", {"Content-Length": "2000000000"}, 413),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b'{"index": "yes"}', {}, 400),
        (b'{"what": 1}', {}, 400),
    ],
)
def test_a_body_that_cannot_be_meant_is_refused(site: Site, body: bytes, head: dict[str, str], status: int) -> None:
    try:
        reply = site.send("POST", SHOT, body, **{name.replace("-", "_"): value for name, value in head.items()})
    except (BrokenPipeError, ConnectionResetError):  # hung up on while still sending: refused all the same
        assert status == 413
        return
    assert reply.status == status and reply.json["error"]["what"]


def test_a_body_in_pieces_without_a_length_is_bounded_too(site: Site) -> None:
    head = f"POST {SHOT} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nAuthorization: Bearer {site.token.read_text()}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", site.port), timeout=WAIT) as link:
        link.sendall(head.encode())
        with contextlib.suppress(ConnectionError):
            for _ in range(40):
                link.sendall(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        with contextlib.suppress(ConnectionError):
            assert link.recv(64).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    ("root", "status"),
    [
        ("{root}/../other", 400),
        ("../shop", 400),
        ("/", 403),
        ("{root}/app", 403),
        ("{other}", 403),
        ("{root}\0", 400),
        ("", 400),
        ("{root}", 200),
        ("{root}/", 200),
    ],
)
def test_only_the_root_it_was_started_for_is_served(site: Site, root: str, status: int) -> None:
    asked = root.format(root=site.root, other=site.root.parent / "other")
    assert site.post(SHOT, {"workspace_root": asked}).status == status


@pytest.mark.parametrize("name", ["nobody", "..", "%2e%2e%2fshop", "shop%2f..%2fother", "shop%00"])
def test_a_name_that_is_not_served_is_not_found(site: Site, name: str) -> None:
    assert site.post(f"/api/apps/{name}/context/workspace-snapshot", {}).status == 404


# what is served


def test_each_graph_is_served_under_its_name(site: Site) -> None:
    assert site.send("GET", "/api/apps").json == {"apps": [{"app_id": "shop"}, {"app_id": "other"}]}
    reply = site.post("/api/studio/apps/other/context/workspace-snapshot", {})
    assert reply.status == 200 and reply.json["app_id"] == "other"


def test_a_snapshot_is_registered_and_answered(site: Site) -> None:
    reply = site.post(SHOT, {})
    found = reply.json
    assert reply.status == 200 and reply.headers["cache-control"] == "no-store"
    assert found["health_report"]["status"] == "healthy" and found["stale_status"] == "current"
    assert (
        found["artifact_version_id"].endswith(found["identity"]["identity_digest"]) and found["indexed_file_count"] >= 6
    )
    known = site.send("GET", "/api/apps/shop/context/versions").json["versions"]
    assert known[-1]["facts_hash"] == found["identity"]["facts_hash"]
    assert site.send("GET", "/api/apps/shop/context/health").json["stale"]["status"] == "current"


def test_the_whole_document_can_be_the_answer(site: Site) -> None:
    reply = site.post(SHOT, {"document": True})
    document = reply.json
    assert reply.status == 200 and int(reply.headers["content-length"]) == len(reply.body)
    assert document["totals"]["nodes"] == len(document["nodes"])
    assert reply.headers["mog-snapshot"] == document["identity"]["identity_digest"]
    assert not list((site.root / ".mog" / "run").glob("tmp*"))


def test_an_impact_query_is_answered_or_refused_by_its_sort(site: Site) -> None:
    path = "/api/apps/shop/context/impact"
    query = {
        "snapshot_digest": site.post(SHOT, {}).json["identity"]["identity_digest"],
        "seeds": ["archive"],
        "allowed_edge_types": ["calls"],
    }
    found = site.post(path, query)
    assert found.status == 200 and [one["locator"] for one in found.json["affected"]] == ["sym:app/views.py::page"]
    for change, status, code in (
        ({"snapshot_digest": "0" * 64}, 409, "snapshot_moved"),
        ({"seeds": ["nobody"]}, 404, "not_found"),
        ({"seeds": []}, 400, "usage_error"),
        ({"max_depth": 9}, 400, "usage_error"),
    ):
        refused = site.post(path, {**query, **change})
        assert (refused.status, refused.json["error"]["code"]) == (status, code) and refused.json["error"]["way_out"]


def test_a_request_goes_out_and_advice_comes_back(site: Site) -> None:
    base = "/api/apps/shop/context/annotations"
    asked = site.post(f"{base}/request", {"targets": ["archive"], "limit": 1}).json
    (item,) = asked["items"]
    said = {"node_id": item["node_id"], "span_hash": item["span_hash"], "purpose": "Archives.\u202e"}
    done = site.post(f"{base}/apply", {**asked["answer"], "annotator": "model-1", "annotations": [said]})
    assert done.status == 200 and done.json["applied"] == [item["locator"]]
    (found,) = site.send("GET", base).json["annotations"]
    assert (found["purpose"], found["trust"], found["freshness"]) == ("Archives.", "advisory", "fresh")
    assert site.post(f"{base}/request", {"limit": 41}).status == 400
    assert site.post(f"{base}/request", {"targets": [1]}).status == 400


def test_it_ends_when_it_is_told_to(site: Site) -> None:
    site.process.send_signal(signal.SIGTERM)
    assert site.process.wait(20) == 128 + signal.SIGTERM
