"""The exported page: what it says is what the engine says, and nothing that stands in a repository can make it do anything."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import page_world
import pytest
import tree
from page_poison import EVIL, WHEN, poisoned
from reading_page import Read

from mog.app.cli.run import run as mog
from mog.app.page import draw, facts, graphs, markup, render
from mog.app.page.draw import Column, Dot, Line
from mog.app.page.panels import panels
from mog.engine.model import Boundary, MapAnswer, MapRow
from mog.engine.reason.dead_ends import Reason
from mog.engine.reason.survey import Spot, Tie
from mog.engine.workspace import Workspace

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
TOKEN = "ghp_" + "FAKE" * 9


def gathered(root: Path) -> facts.Facts:
    with Workspace.open(root) as workspace:
        return facts.gather(workspace, WHEN)


@pytest.fixture(scope="module")
def found(lived_in: Path) -> facts.Facts:
    return gathered(lived_in)


# -- what it says


def test_every_panel_of_the_page_is_there_and_says_something(written: str) -> None:
    page = Read(written)
    names = [id for id, *_ in panels()]
    assert names == [
        "build",
        "graph",
        "hops",
        "cost",
        "dead-ends",
        "edges",
        "traversals",
        "drift",
        "standing",
        "ledger",
        "health",
        "agents",
    ]
    assert all(len(page.text[name]) > 60 for name in names)
    assert page.depth == [], "every element is closed"
    ids = page.attributes["id"]
    assert len(ids) == len(set(ids))
    assert {f"#{name}" for name in names} <= set(page.addresses), "the contents lead to each of them"


def test_the_manual_says_of_every_panel_where_it_comes_from() -> None:
    text = (tree.ROOT / "docs" / "page.md").read_text(encoding="utf-8")
    documented = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")]
    assert documented == ["Panel", "head", *(title for _, title, *_ in panels())]
    for _, title, _, _, command, _ in panels():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {title} |")]
        assert [one for one in command.split("; ") if f"`{one}`" not in row] == []


def test_the_numbers_are_those_of_the_engine(lived_in: Path, written: str) -> None:
    page = Read(written)
    with Workspace.open(lived_in) as workspace:
        status, walks, health = workspace.status(), workspace.beliefs.telemetry.report(), workspace.beliefs.health()
        head, off = workspace.beliefs.log.head(), sum(state.freshness != "fresh" for state in workspace.pins())
        off += sum(one.freshness != "fresh" for one in workspace.beliefs.bridge.look())
    top = re.sub(r"\s+", " ", page.text[""])
    for name, count in (
        ("files", status.files), ("symbols", status.symbols), ("code links", sum(status.edges.values())),
        ("beliefs", health.nodes_live), ("belief links", health.edges_live), ("walks", walks.walks), ("drifted", off),
        ("events", head.seq), ("agent calls", 16),
    ):  # fmt: skip
        assert f"{name}{count:,}" in top, name
    assert off >= 2 and f"generation {status.index.generation} of main" in top and "Written 2026-03-01 12:00 UTC" in top
    assert f"{walks.tokens_walked:,}" in page.text["cost"] and f"{walks.tokens_read:,}" in page.text["cost"]
    assert f"{walks.resolved:,} of {walks.walks:,} walks found an answer" in page.text["hops"]
    for kind, count in walks.traversals.items():
        assert re.search(rf"{kind}\w*\D+\d+{count}", page.text["edges"].replace("\n", "")), kind
    assert all(reason.replace("_", " ") in page.text["dead-ends"] for reason in Reason), "all four, always"
    assert head.digest[:16] in page.text["ledger"] and head.root[:16] in page.text["ledger"]


def test_what_fell_and_what_drifted_can_be_read(written: str) -> None:
    page = Read(written)
    assert (
        "totals are rounded once, last" in page.text["drift"]
        and "drifted" in page.text["drift"]
        and "missing" in page.text["drift"]
    )
    assert re.search(r"assumption\D*1\D*0\D*0\D*0\D*1\D*0", page.text["standing"]), "one stands, one has fallen"
    assert "what is the refund policy for annual plans" in page.text["dead-ends"]
    assert "search_context" in page.text["agents"] and "PolicyDenied" in page.text["agents"]


def test_the_graph_draws_every_belief_there_is_room_for(found: facts.Facts, written: str) -> None:
    page = Read(written)
    for spot in found.survey.spots:
        assert markup.plain(spot.label) in page.text["graph"]
    beliefs = len(found.survey.spots)
    assert found.map is not None
    assert len(page.attributes["data-n"]) == beliefs + len(found.map.rows)
    assert len(page.attributes["data-a"]) == len(found.survey.ties) + len(found.imports) and found.imports
    assert "imports" in page.attributes["data-k"]


def test_an_empty_folder_gives_a_page_that_teaches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Workspace.init(tmp_path)
    target = tmp_path / "out.html"
    assert mog(["export", "html", "--repo", str(tmp_path), "--out", str(target)]) == 0
    page = Read(target.read_text(encoding="utf-8"))
    assert (
        "mog index" in page.text["graph"]
        and "mog ask" in page.text["hops"]
        and "mog mcp install" in page.text["agents"]
    )
    assert "files?" in page.text[""], "not known is not none"
    assert not (tmp_path / ".mog" / "ledger.db").exists(), "a page records nothing"


def test_the_same_facts_give_the_same_bytes_whatever_the_hash_seed(lived_in: Path, written: str) -> None:
    code = (
        "import sys, hashlib\nfrom pathlib import Path\nfrom mog.app.page import facts, render\n"
        "from mog.engine.workspace import Workspace\n"
        f"with Workspace.open(Path(sys.argv[1])) as w:\n    page = render.page(facts.gather(w, {WHEN!r}))\n"
        "print(hashlib.sha256(page.encode()).hexdigest())"
    )
    wanted = hashlib.sha256(written.encode()).hexdigest()
    for seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code, str(lived_in)], env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.stdout.strip() == wanted, done.stderr[-2000:]


# -- what it can do


def digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_the_policy_names_this_style_and_this_script_and_nothing_else(written: str) -> None:
    page = Read(written)
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules == {
        "default-src": "'none'", "style-src": digest(page.style), "script-src": digest(page.script), "img-src": "data:",
        "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip
    assert page.tags.count("script") == 1 and page.tags.count("style") == 1
    before = written.partition("http-equiv")[0]
    assert "<style" not in before and "<script" not in before, "the policy stands before what it binds"


def test_nothing_on_the_page_has_an_address_outside_of_it(written: str) -> None:
    page = Read(written)
    assert page.addresses and all(address.startswith(("#", "data:image/svg+xml,")) for address in page.addresses)
    assert (
        re.findall(
            r"url\(|@import|\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(|eval\(|innerHTML|localStorage",
            page.style + page.script,
        )
        == []
    )
    assert set(re.findall(r"(?:https?|wss?|ftp)://[^'\"\s)<]+", written)) == {"http://www.w3.org/2000/svg"}, (
        "the name of a name space"
    )
    assert not {"style", "srcdoc"} & set(page.attributes) and not [
        name for name in page.attributes if name.startswith("on")
    ]
    assert not {"iframe", "object", "embed", "img", "base", "audio", "video", "frame"} & set(page.tags)


def test_texts_from_outside_are_shown_and_obeyed_by_nobody(found: facts.Facts, written: str) -> None:
    clean = Read(written)
    for turned in range(0, len(EVIL), 3):
        words = EVIL[turned:] + EVIL[:turned]
        body = render.page(poisoned(found, words))
        page = Read(body)
        assert page.depth == [] and set(page.tags) <= set(clean.tags) | {"p", "li", "i"}, "no element but ours"
        assert set(page.attributes) <= set(clean.attributes), "no attribute but ours"
        assert page.script == clean.script and page.style == clean.style and page.tags.count("script") == 1
        assert STEERS.search(body) is None, "nothing that steers, not even escaped for HTML"
        assert "&#0" not in body and not any(0xD800 <= ord(char) <= 0xDFFF for char in body)
        assert max(len(run) for run in re.findall(r"x+", body)) <= 600
        body.encode("utf-8")


def test_names_in_a_repository_reach_the_page_escaped(tmp_path: Path) -> None:
    """The same from the disk on: files, symbols, notes and questions with such names."""
    files = {
        f"src/{name}.py": "def f():\n    return 1\n"
        for name in ("<img src=x onerror=alert(1)>", 'a"onload="x', "\u202egnp", "ok")
    }
    files["src/use.py"] = "from src.ok import f\n"
    root = page_world.repository(tmp_path / "<b>bold", files)
    with Workspace.open(root) as workspace:
        workspace.index()
        workspace.pin("src/ok.py::f", "<script>alert(1)</script> \x1b[31m red")
        workspace.beliefs.assume("<svg/onload=alert(1)> holds")
        workspace.beliefs.ask("</script><script>alert(1)</script> \u202e why")
    page = render.page(gathered(root))
    read = Read(page)
    assert (
        read.tags.count("script") == 1 and "img" not in read.tags and "b" in read.tags and STEERS.search(page) is None
    )
    assert "<b>bold" in read.text[""] and "<svg/onload=alert(1)> holds" in read.text["graph"]
    assert "\\u202e why" in read.text["dead-ends"]


def test_what_is_gated_and_what_is_shaped_like_a_credential_never_stands_on_it(tmp_path: Path) -> None:
    hunter = "".join(("correct-horse-", *["FAKE"] * 4))
    files = {
        ".env": f"API_KEY={hunter}\n",
        "app.py": f'KEY = "{TOKEN}"\n\n\ndef f():\n    return KEY\n',
        "keys/id_rsa": "-----BEGIN " + "PRIVATE KEY-----\nFAKE\n",
    }
    root = page_world.repository(tmp_path / "repo", files)
    with Workspace.open(root) as workspace:
        workspace.index()
        status = workspace.status()
        workspace.beliefs.assume("the key is rotated")
        workspace.beliefs.ask(f"why does {TOKEN} not work")
    page = render.page(gathered(root))
    assert status.health.gated >= 1 and TOKEN not in page and hunter not in page and "FAKEFAKE" not in page
    assert markup.WITHHELD in Read(page).text["dead-ends"]
    assert markup.plain("x" * 150 + " " + TOKEN) == markup.WITHHELD, "also where only its beginning would be seen"


# -- how large it gets


def test_the_largest_page_there_can_be_stays_below_two_megabytes(found: facts.Facts) -> None:
    wide = 'あ<&"' * 4_000
    spots = tuple(
        Spot(f"{type}{number}", type, wide, wide, "standing" if type != "file" else "", "", 10**6, 10**6)
        for type in ("entity", "source", "claim", "decision", "assumption", "evidence", "file", "symbol") for number in range(24)
    )  # fmt: skip
    ties = tuple(
        Tie("depends_on", spots[n % len(spots)].id, spots[(7 * n + 1) % len(spots)].id, 9, True) for n in range(600)
    )
    grid = tuple(Tie("derived_from", spots[n % len(spots)].id, spots[0].id, 99, True) for n in range(1_008))
    survey = replace(
        found.survey,
        spots=spots,
        hidden={"claim": 999_976, "symbol": 10},
        ties=ties,
        ties_hidden=12_345,
        grid=grid,
        grid_hidden=98_992,
    )
    rows = tuple(MapRow(f"{wide}/{number}", wide, 10, 1e6, ()) for number in range(facts.FILES))
    assert found.map is not None
    walks = replace(
        found.walks, recent=tuple((wide + str(n), "no_typed_edge", 1) for n in range(64)), costs=((10**9, 10**9),) * 64
    )
    pins = tuple(replace(found.pins[n % 3], pin=replace(found.pins[0].pin, note=wide)) for n in range(50_000))
    huge = replace(
        poisoned(found, [wide]), survey=survey, walks=walks, pins=pins, imports=tuple((n % 96, (n // 7) % 96) for n in range(2_000)),
        map=replace(found.map, rows=rows, boundary=Boundary(omitted=1_000_000)), totals=found.totals * 100,
    )  # fmt: skip
    body = render.page(huge)
    assert len(body.encode()) <= 2_000_000
    page = Read(body)
    for count in ("+999,986 nodes hidden", "+12,345 edges hidden", "+98,992 edges hidden", "+1,000,000 files hidden"):
        assert count in body, count
    off = sum(one.freshness != "fresh" for one in (*pins, *found.drifts))
    assert (
        f"+{off - 12:,} hidden" in page.text["drift"]
        and f"+{100 * len(found.totals) - 12:,} hidden" in page.text["agents"]
    )


def test_a_clone_with_many_beliefs_is_counted_exactly_and_drawn_in_part(tmp_path: Path) -> None:
    root = page_world.repository(tmp_path / "many", {"a.py": "x = 1\n"})
    with Workspace.open(root) as workspace:
        mesh = workspace.beliefs.mesh
        with mesh.writing("test") as writer:
            bases = [
                writer.node("assumption", f"ground {n}", attrs={"status": "active", "version": 1}) for n in range(30)
            ]
            for number in range(1_500):
                made = writer.node("evidence", f"seen {number}", attrs={"kind": "observation"})
                writer.edge("contradicts", made, bases[number % 30])
        survey = workspace.beliefs.survey()
    assert survey.hidden == {"assumption": 6, "evidence": 1_476} and len(survey.spots) == 48
    assert (
        survey.edges == {"contradicts": 1_500}
        and len(survey.grid) + survey.grid_hidden == 1_500
        and len(survey.grid) == 1_008
    )
    assert survey.nodes["evidence"] == {"standing": 1_500} and survey.nodes["assumption"] == {"contested": 30}


# -- where things stand


def dots(*names: str) -> tuple[Dot, ...]:
    return tuple(Dot(name, "●", "standing", "claim", name, "claim") for name in names)


def test_no_two_nodes_share_a_place_and_edges_join_those_that_are_shown() -> None:
    columns = [Column("a", dots("a1", "a2", "a3")), Column("b", dots("b1")), Column("c", dots("c1", "c2"))]
    lines = [
        Line("a3", "c1", "k"),
        Line("a1", "c2", "k"),
        Line("c1", "c2", "k"),
        Line("a1", "gone", "k"),
        Line("b1", "a2", "k"),
    ]
    read = Read(draw.graph(columns, lines, "test"))
    places = [
        (x, y) for x, y, kind in zip(read.attributes["x"], read.attributes["y"], ["?"] * 99, strict=False) if kind
    ]
    assert len(places) == len(set(places))
    assert len(read.attributes["data-n"]) == 6 and len(read.attributes["data-a"]) == 4


def test_neighbours_are_brought_beside_each_other() -> None:
    columns = [Column("a", dots("a1", "a2", "a3")), Column("b", dots("b1", "b2", "b3"))]
    lines = [Line("a1", "b3", "k"), Line("a2", "b2", "k"), Line("a3", "b1", "k")]
    left, right = (tuple(dot.key[1:] for dot in column.dots) for column in draw.ordered(columns, lines))
    assert left == tuple(reversed(right)), "no two edges cross"


@pytest.mark.parametrize(
    ("count", "needs", "wanted"),
    [
        (3, [(0, 1), (1, 2)], [2, 1, 0]),
        (4, [(0, 1), (0, 2), (1, 3), (2, 3)], [2, 1, 1, 0]),
        (2, [], [0, 0]),
    ],
)
def test_a_file_stands_as_deep_as_its_longest_chain_of_imports(
    count: int, needs: list[tuple[int, int]], wanted: list[int]
) -> None:
    assert graphs.depths(count, needs) == wanted


def test_imports_in_a_ring_and_very_long_ones_end() -> None:
    assert sorted(graphs.depths(3, [(0, 1), (1, 2), (2, 0)])) == [0, 1, 2]
    assert graphs.depths(5_000, [(n, n + 1) for n in range(4_999)])[0] == 4_999


def test_a_layer_that_is_too_long_takes_free_columns_and_counts_the_rest(found: facts.Facts) -> None:
    rows = tuple(MapRow(f"f{number}.py", "python", 1, 1.0, ()) for number in range(200))
    many = replace(found, map=MapAnswer(rows, Boundary(omitted=3), found.status.index), imports=((0, 1),))
    text = Read(graphs.code(many)).text[""]
    assert "+79 hidden" in text and "+3 files hidden" in text, "199 need nothing, in five columns of 24"


# -- the file


def test_the_file_is_private_and_an_earlier_page_is_replaced(
    lived_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "page.html"
    for _ in range(2):
        assert mog(["export", "html", "--repo", str(lived_in), "--out", str(target), "--json"]) == 0
    told = json.loads(capsys.readouterr().out.partition("}\n{")[2].join("{ ") or "{}")
    assert told["bytes"] == target.stat().st_size and told["path"] == str(target) and told["generation"] >= 1
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("there", ["link", "folder", "foreign", "no folder", "dangling"])
def test_a_page_is_not_written_over_what_is_none(
    lived_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], there: str
) -> None:
    target, other = tmp_path / "page.html", tmp_path / "other"
    other.write_text("precious")
    if there == "link":
        target.symlink_to(other)
    elif there == "dangling":
        target.symlink_to(tmp_path / "nowhere")
    elif there == "folder":
        target.mkdir()
    elif there == "foreign":
        target.write_text("<html>precious</html>")
    else:
        target = tmp_path / "absent" / "page.html"
    before = sorted(path.name for path in tmp_path.iterdir())
    assert mog(["export", "html", "--repo", str(lived_in), "--out", str(target)]) == 2
    said = capsys.readouterr().err
    assert "page.html" in said and "--out" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == before and other.read_text() == "precious"
    if there == "foreign":
        assert target.read_text() == "<html>precious</html>"


def test_edges_and_the_page_do_not_mix(lived_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mog(["export", "edges", "--repo", str(lived_in), "--out", str(tmp_path / "x")]) == 2
    assert "--out" in capsys.readouterr().err
