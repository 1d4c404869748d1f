"""Pane 6 on the real engine: what would fall, and the five steps of a break, in a repository of its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_breaks import CODE, ROUNDS, believed
from fake_workspace import FakeWorkspace
from test_tui_home import foot, opened, press, settle

from mog.app.tui import blast_rows
from mog.app.tui.panes.blast import Blast
from mog.app.tui.plain import Still, report
from mog.app.tui.previews import look, same
from mog.app.tui.rows import Reason
from mog.engine.breaks import Preview, Verdict
from mog.engine.config import EngineConfig
from mog.engine.errors import UsageError
from mog.engine.executor.fallout import Cost
from mog.engine.reason.outlook import outlook
from mog.engine.reason.radius import Radius, radius
from mog.engine.reason.records import GraphNode
from mog.engine.reason.standing import Standing
from mog.engine.workspace import Workspace
from mog.widgets.fit import plain

EDIT = "class Cart:\n    def total(self):\n        return sum(round_cents(x) for x in self.lines)\n"
HOSTILE = "x\x1b[2J\x1b]0;owned\x07 \u202eecno\u202c\u200b \N{FAMILY} e\u0301" + "long " * 2000


class Shop:
    """A repository in which the story of the drawings is believed; ``ids``: words → id."""

    def __init__(self, root: Path, workspace: Workspace) -> None:
        self.root, self.workspace = root, workspace
        self.ids = believed(workspace)
        self.still = Still(workspace)
        self.said: list[str] = []
        self.still.say = self.said.append  # type: ignore[method-assign]
        self.pane: Blast = self.still.content("blast")

    def thing(self, words: str) -> Reason:
        """What a row about a record stands for."""
        node = self.workspace.beliefs.mesh.graph.node(self.ids[words])
        return Reason(node.id, node.type, node.label)

    def at(self, words: str) -> None:
        """Put the cursor of another pane on a record."""
        if self.pane.followed(self.thing(words), self.ids[words]):
            self.pane.ask()

    def begin(self, words: str = ROUNDS) -> None:
        """``b`` on it."""
        self.pane.elsewhere("break_it", self.thing(words), self.ids[words])

    def text(self, width: int = 80, lines: int = 24) -> list[str]:
        """The pane as text."""
        source = self.pane.sheet(width, lines).lines
        return [plain(source.line(at), width) for at in range(len(source))]

    def ledger(self) -> Mapping[str, bytes]:
        """Every byte of the ledger; what readers share to find their place in it is no part of it."""
        return {
            path.name: path.read_bytes()
            for path in sorted((self.root / ".mog").glob("ledger.db*"))
            if path.suffix != ".db-shm"
        }

    def labels(self) -> Mapping[str, str]:
        """How everything in the story stands."""
        return self.workspace.breaks.labels(tuple(self.ids.values()))

    def edit(self) -> None:
        """The code under the assumption changes."""
        (self.root / "shop/cart.py").write_text(EDIT, encoding="utf-8")


@pytest.fixture
def shop(make_repo: Callable[..., Path]) -> Iterator[Shop]:
    root = make_repo({**CODE, "mog.yaml": ""})
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        workspace.index(workers=1)
        yield Shop(root, workspace)


# -- looking


def test_it_follows_the_cursor_and_says_who_falls_weakens_and_survives_because_of_what(shop: Shop) -> None:
    shop.at(ROUNDS)
    text = shop.text()
    assert text[0].startswith("■ (A) ● totals round once, last")
    assert "× 4 fall   ▼ 1 weakens   ● 3 survive   ? 0 unverified" in text[1] and text[1].endswith("of 8 dependants")
    assert "hop 1  ××▼" in text[2] and "hop 2  ××●●" in text[2] and "hop 3  ●" in text[2]
    rows = "\n".join(text)
    assert "(A) was its only ground" in rows
    assert "rests on (D) drop line rounding" in rows and "rests on (C) invoice equals cart" in rows
    assert "1 of 2 grounds left: (V) March audit" in rows
    assert "held by (C) VAT steps are yearly" in rows


def test_what_carries_a_survivor_is_read_while_the_belief_is_broken(shop: Shop) -> None:
    shop.at(ROUNDS)
    told = shop.pane.told
    assert told is not None
    steps = next(row for row in told.outlook.survives if row.id == shop.ids["VAT steps are yearly"])
    assert {told.outlook.nodes[one].label for one in steps.held} <= {"refunds match receipts", "vat-notes.md"}


def test_looking_writes_nothing(shop: Shop) -> None:
    before = shop.ledger()
    for words in shop.ids:
        shop.at(words)
    shop.edit()
    shop.begin()
    shop.pane.act_go_ahead()
    shop.pane.opened(None, "offer:0")
    shop.text()
    assert shop.pane.breaking is not None and shop.pane.breaking.step == "verdict"
    assert shop.ledger() == before


def test_an_answer_to_an_older_question_is_dropped_and_its_numbers_stay_marked(shop: Shop) -> None:
    shop.at(ROUNDS)
    told = shop.pane.told
    assert shop.pane.followed(shop.thing("prices in minor units"), shop.ids["prices in minor units"])
    sheet = shop.pane.sheet(80, 24)
    assert sheet.title_right == "…" and "× 4 fall" in plain(sheet.lines.line(1), 80)
    late = look(shop.workspace, blast_rows.Aim(shop.ids["freeze-vat"], reason=shop.thing("freeze-vat")))
    shop.pane.got(shop.ids["freeze-vat"], late)
    assert shop.pane.told is told
    shop.pane.ask()
    assert "× 1 falls" in shop.text()[1] and shop.pane.sheet(80, 24).title_right != "…"


def test_from_code_it_says_what_is_believed_there_and_what_would_fall_if_it_changed(shop: Shop) -> None:
    node = shop.workspace.find("shop/cart.py::Cart.total")
    assert shop.pane.followed(node, node.locator)
    shop.pane.ask()
    text = shop.text()
    assert "Cart.total" in text[0] and text[0].endswith("if it changed")
    assert "believed about it 1" in text[1] and ROUNDS in text[2] and "× 4 fall" in text[3]
    other = shop.workspace.find("shop/money.py::round_cents")
    assert shop.pane.followed(other, other.locator)
    shop.pane.ask()
    assert any("nothing is believed about it" in line for line in shop.text())


def test_a_class_and_a_file_answer_for_what_lies_inside(shop: Shop) -> None:
    for target in ("shop/cart.py::Cart", "shop/cart.py"):
        assert shop.workspace.breaks.about(shop.workspace.find(target)) == (shop.ids[ROUNDS],)


def test_in_the_stack_it_is_a_glance_and_in_a_wide_pane_the_chain_stands_beside(shop: Shop) -> None:
    shop.at(ROUNDS)
    text = shop.text(32, 14)
    assert shop.pane.title == "Would fall" and all(len(line) <= 32 for line in text)
    assert text[1].split() == ["×", "falls", "4", "████"] and text[2].split() == ["▼", "weakens", "1", "▒"]
    assert "b opens the preview" in text[-1]
    assert "× 4 ████" in shop.text(32, 8)[1]
    shop.pane.moved(None, f"falls:{shop.ids['no cents column']}")
    beside = [line.partition("│")[2] for line in shop.text(120, 30)]
    chain = [line for line in beside if line.strip()]
    assert "by this way" in chain[1] and ROUNDS in chain[2]
    assert "invoice equals cart" in chain[3] and "no cents column" in chain[4]


def test_esc_steps_back_through_what_was_looked_at(shop: Shop) -> None:
    shop.begin()
    shop.pane.opened(shop.thing("drop line rounding"), f"falls:{shop.ids['drop line rounding']}")
    assert shop.text()[2].startswith("■ (D)") or any(line.startswith("■ (D)") for line in shop.text())
    assert shop.pane.back() and any(line.startswith("■ (A)") for line in shop.text())
    assert not shop.pane.back() and not shop.pane.held


# -- breaking


def test_evidence_is_offered_by_the_disk_before_it_is_recorded(shop: Shop) -> None:
    shop.begin()
    shop.pane.act_go_ahead()
    assert not any("drift" in line for line in shop.text())
    shop.edit()
    shop.pane.back()
    shop.pane.act_go_ahead()
    row = next(line for line in shop.text() if "drift" in line)
    assert "± Cart.total" in row and "offered by the index" in row
    assert any("new      write an observation" in line for line in shop.text())


def test_every_number_of_the_preview_is_the_effect(shop: Shop) -> None:
    for words in (ROUNDS, "prices in minor units", "invoice equals cart", "drop line rounding"):
        told = look(shop.workspace, blast_rows.Aim(shop.ids[words], reason=shop.thing(words)))
        before = shop.labels()
        done = shop.workspace.breaks.apply(Verdict(shop.ids[words], words=f"seen against {words}", reason="I looked"))
        after = shop.labels()
        fell = {id for id in before if before[id] != "fallen" and after.get(id) == "fallen"}
        assert same(told, done)
        assert fell == {*(move.id for move in told.outlook.falls), shop.ids[words]}
        assert all(after[id] == "weakened" for id in told.outlook.weaker)
        assert all(after[row.id] not in ("fallen",) for row in told.outlook.survives)
        shop.workspace.breaks.undo(done)
        assert shop.labels() == before


def test_a_verdict_is_recorded_undone_exactly_and_said_again(shop: Shop) -> None:
    before = shop.labels()
    shop.edit()
    shop.begin()
    shop.pane.act_go_ahead()
    shop.pane.opened(None, "offer:0")
    shop.pane._because("rounds per line since the edit")
    shop.pane.opened(None, "verdict:contradicts")
    done = shop.pane.breaking.done if shop.pane.breaking else None
    assert done is not None and (done.verdict, done.auditor) == ("contradicts", "person")
    text = "\n".join(shop.text())
    assert f"event {done.events[0]:,}, receipt {done.receipt[:8]}, 0 tasks stale" in text
    assert "× 4 fell  ▼ 1 weakened  as the preview said" in text and "rounds per line since the edit" in text
    fallen = shop.labels()
    shop.pane.act_undo()
    assert shop.labels() == before and any("taken back by event" in line for line in shop.text())
    shop.pane.act_undo()
    assert "taken back already" in shop.said[-1]
    shop.pane.act_undo_undo()
    assert shop.labels() == fallen
    shop.pane.act_undo()
    assert shop.labels() == before


def test_the_verdict_holds_ends_it_and_keeps_the_evidence(shop: Shop) -> None:
    before = shop.labels()
    shop.begin()
    shop.pane.act_go_ahead()
    shop.pane._write("I looked at three invoices")
    shop.pane.opened(None, "verdict:holds")
    assert shop.labels() == before
    assert any("nothing fell: the evidence is kept" in line for line in shop.text())
    seen = [
        node
        for node in shop.workspace.beliefs.mesh.graph.nodes("evidence")
        if node.label == "I looked at three invoices"
    ]
    (judged,) = shop.workspace.beliefs.mesh.judgements(shop.ids[ROUNDS])
    assert (judged.verdict, judged.evidence) == ("dismissed", seen[0].id)


def test_an_auditor_judges_when_it_was_allowed(shop: Shop, tmp_path: Path) -> None:
    script = shop.root / "audit.py"
    script.write_text('import json\nprint(json.dumps({"verdict": "contradicts", "reason": "I compiled it"}))\n')
    plans = shop.root / ".mog" / "plans"
    plans.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "audit.py"]
    judges = {"targets": [ROUNDS]}
    import yaml

    spec = {"version": 1, "auditors": [{"name": "rounding", "argv": argv, "judges": judges}]}
    (plans / "auditors.yaml").write_text(yaml.safe_dump(spec))
    shop.begin()
    shop.pane.act_go_ahead()
    shop.pane._write("an observation of mine")
    assert any("waits for mog allow" in line for line in shop.text())
    before = shop.ledger()
    shop.pane.opened(None, "verdict:auditors")
    assert "waits for your word: mog allow rounding" in shop.said[-1] and shop.ledger() == before
    for one in shop.workspace.beliefs.waiting():
        shop.workspace.beliefs.allow(one.name, one.digest)
    shop.pane.back()
    shop.pane.back()
    shop.pane.act_go_ahead()
    shop.pane._write("an observation of mine")
    shop.pane.opened(None, "verdict:auditors")
    done = shop.pane.breaking.done if shop.pane.breaking else None
    assert done is not None and (done.auditor, done.verdict, done.reason) == (
        "rounding",
        "contradicts",
        "I compiled it",
    )
    assert shop.labels()[shop.ids["no cents column"]] == "fallen"
    shop.pane.act_undo()
    assert shop.labels()[shop.ids["no cents column"]] == "standing"


def test_two_breaks_are_compared(shop: Shop) -> None:
    shop.begin()
    shop.pane.act_compare()
    other = "prices in minor units"
    shop.pane.elsewhere("compare", shop.thing(other), shop.ids[other])
    text = "\n".join(shop.text())
    assert "A  (A) totals round once, last" in text and "B  (A) prices in minor units" in text
    assert "falls only with A 4   with both 0   only with B 1" in text and "only B (D) keep Decimal out of API" in text
    assert shop.pane.back() and not any("compare" in line for line in shop.text())


def test_keys_that_cannot_act_say_why(shop: Shop) -> None:
    pane = shop.pane
    pane.act_go_ahead()
    pane.act_undo()
    pane.elsewhere("compare", shop.thing(ROUNDS), shop.ids[ROUNDS])
    assert not pane.elsewhere("break_it", None, ""), "the words of the key say why"
    shop.begin("March audit")
    pane.act_go_ahead()
    shop.begin()
    pane.act_go_ahead()
    pane._write("  ")
    wanted = ("nothing is picked", "nothing to take back", "no break to compare")
    wanted += ("is taken back by its id", "no evidence")
    assert len(shop.said) == len(wanted)
    assert all(words in said for words, said in zip(wanted, shop.said, strict=True)), shop.said


def test_a_fallen_belief_is_not_broken_again(shop: Shop) -> None:
    shop.workspace.breaks.apply(Verdict(shop.ids[ROUNDS], words="seen", reason="I looked"))
    shop.begin()
    assert any("it has fallen already" in line for line in shop.text())
    shop.pane.act_go_ahead()
    assert "it has fallen already" in shop.said[-1]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ({"words": " "}, "no evidence"),
        ({"words": "seen", "verdict": "perhaps"}, "no verdict"),
        ({"words": "seen", "by": "robot"}, "no verdict"),
        ({"words": "seen"}, "without a reason"),
    ],
)
def test_a_verdict_that_is_not_whole_is_refused(shop: Shop, verdict: dict[str, Any], words: str) -> None:
    before = shop.ledger()
    with pytest.raises(UsageError, match=words) as caught:
        shop.workspace.breaks.apply(Verdict(shop.ids[ROUNDS], **verdict))
    assert caught.value.way_out and shop.ledger() == before


def test_hostile_words_are_shown_safe_and_in_their_cells(shop: Shop) -> None:
    from rich.cells import cell_len

    b = shop.workspace.beliefs
    bad = str(b.assume("bad " + HOSTILE).result)
    b.claim("worse " + HOSTILE, rests_on=[[bad]])
    shop.ids["bad"] = bad
    shop.begin("bad")
    shop.pane.act_go_ahead()
    shop.pane._write(HOSTILE)
    for width in (32, 60, 80, 120):
        for line in shop.text(width, 24):
            assert cell_len(line) <= width
            assert not any(char in line for char in "\x1b\x07\u202e\u202c\u200b")


# -- size


class Loose:
    """A mesh that is its labels alone: enough for a preview, and quick to make large. Breaking is forcing out."""

    def __init__(self) -> None:
        self._standing = Standing()
        self.tables = SimpleNamespace(nodes={})

    def add(self, id: str, *grounds: str) -> str:
        self._standing.add(id)
        self.tables.nodes[id] = GraphNode(id, "assumption" if not grounds else "claim", "statement", id)
        if grounds:
            self._standing.ground(f"{id}=", id, grounds)
        return id

    def bulk(self) -> Any:
        return self._standing.bulk()

    def stands(self, id: str) -> bool:
        return self._standing.stands(id)

    def locked(self) -> Any:
        return nullcontext()

    def preview(self, change: object, look: Callable[..., None]) -> Radius:
        watch = self._standing.begin()
        self._standing.force_out(self.target, True)
        found = radius(self._standing, watch)
        look(SimpleNamespace(standing=self._standing, unverified=frozenset, resolved=str), found)
        self._standing.force_out(self.target, False)
        self._standing.end()
        return found

    def told(self, target: str) -> blast_rows.Told:
        self.target = target
        aim = blast_rows.Aim(target, reason=Reason(target, "assumption", target))
        return blast_rows.Told(aim, Preview(outlook(self, [target]), Cost()), (), {target: "standing"})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def big() -> Loose:
    """One assumption under 50,000 claims, one at the head of a chain of 4,000, one under a single claim."""
    mesh = Loose()
    with mesh.bulk():
        for name in ("wide", "deep", "small"):
            mesh.add(name)
        for number in range(50_000):
            mesh.add(f"claim {number}", "wide")
        last = "deep"
        for number in range(4_000):
            last = mesh.add(f"link {number}", last)
        mesh.add("only", "small")
    return mesh


def test_50_000_dependants_and_a_chain_of_4_000_are_drawn_as_fast_as_one(big: Loose) -> None:
    told = {id: big.told(id) for id in ("wide", "deep", "small")}
    assert told["wide"].outlook.falling == 50_000 and told["deep"].outlook.falling == 4_000
    assert len(told["deep"].outlook.hops) == 4_000

    def drawn(id: str, cursor: str) -> tuple[float, list[str]]:
        took = []
        for _ in range(5):
            began = time.perf_counter()
            source = blast_rows.radius_source(told[id], blast_rows.View(120, 30, ("falls",), cursor))
            found = [plain(source.line(at), 120) for at in range(min(30, len(source)))]
            took.append((time.perf_counter() - began) / len(found))
        return min(took), found

    base, _ = drawn("small", "falls:only")
    for id in ("wide", "deep"):
        took, text = drawn(id, f"falls:{told[id].lists['falls'][-1]}")
        # as many lines as there are, whatever the radius; the cursor's place is one look into an index
        assert took < 20 * base, (id, took, base)
        assert any("hidden" in line or "hops" in line or "×50,000" in line for line in text[:6])
    source = blast_rows.radius_source(told["wide"], blast_rows.View(80, 30, ("falls",)))
    assert len(source) > 50_000
    last = told["wide"].lists["falls"][-1]
    found = source.find(f"falls:{last}")
    assert found is not None and source.line(found[0])[0].key == f"falls:{last}"
    closed = blast_rows.radius_source(told["wide"], blast_rows.View(80, 30))
    assert len(closed) < 120 and closed.line(len(closed) - 1)[0].text.strip() == "+49,900 hidden"


def test_a_deep_chain_is_told_by_its_ends(big: Loose) -> None:
    told = big.told("deep")
    last = told.outlook.falls[-1]
    assert last.hop == 4_000
    chain = told.chain(last.id, 6)
    assert chain[0] == "deep" and chain[1] == "" and chain[-1] == last.id and len(chain) <= 7


# -- plain twins and the screen


def test_the_plain_twin_teaches_and_takes_its_digit() -> None:
    text = report(FakeWorkspace(), "6", 80)
    assert text.startswith("  6 Blast radius") and "press b" in text
    assert report(FakeWorkspace(), "blast", 60).count("\n") < 12


async def test_a_break_end_to_end_with_keys(make_repo: Callable[..., Path]) -> None:
    root = make_repo({**CODE, "mog.yaml": ""})
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        workspace.index(workers=1)
        shop = Shop(root, workspace)
        before, bytes_before = shop.labels(), shop.ledger()
        shop.edit()
        async with opened(workspace, size=(100, 30)) as (pilot, home, _):  # type: ignore[arg-type]
            home.focus_on("sym:shop/cart.py::Cart.total")
            await settle(pilot)
            assert "× 4" in home.pane("blast").text()
            await press(pilot, "b")
            assert home.centre == "blast" and "if it changed" in home.here.text()
            await press(pilot, "a")
            assert "(A)" in home.here.text(), "the one belief about the code is picked, and its evidence asked for"
            assert "3 EVIDENCE" in home.here.text() and home.here.cursor == "offer:0"
            await press(pilot, "enter")
            assert "4 VERDICT" in home.here.text() and home.here.cursor == "verdict:contradicts"
            await press(pilot, "e", *"it rounds each line", "enter")
            assert shop.labels() == before and shop.ledger() == bytes_before
            await press(pilot, "enter")
            assert "5 DONE" in home.here.text() and "it rounds each line" in home.here.text()
            assert shop.labels()[shop.ids["no cents column"]] == "fallen"
            await press(pilot, "u")
            assert "taken back by event" in home.here.text() and shop.labels() == before
            await press(pilot, "U")
            assert shop.labels()[shop.ids["no cents column"]] == "fallen"
            await press(pilot, "u", "escape", "escape")
            assert home.centre == "graph" and shop.labels() == before
            await press(pilot, "u")
            assert "u:" in foot(home)


async def test_the_stack_follows_the_cursor_of_the_pane_in_use() -> None:
    async with opened(size=(120, 36)) as (pilot, home, _):
        assert "Cart.total" in home.pane("blast").text() and "× 4 ████" in home.pane("blast").text()
        await press(pilot, "l")
        assert "Line.net" in home.pane("blast").text() and "nothing is believed" in home.pane("blast").text()
        await press(pilot, "b")
        assert home.centre == "blast" and home.content("blast").held
        await press(pilot, "1", "j", "j")
        assert "Line.net" in home.pane("blast").text()
