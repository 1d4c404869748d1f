"""What the panes about beliefs show, on the real engine, without a screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import reason_story as story

from mog.app.tui import plain
from mog.app.tui.panes.base import Prompt
from mog.app.tui.plain import Still
from mog.engine.model import Freshness
from mog.engine.reason import demo
from mog.engine.traffic import Call, Traffic
from mog.engine.workspace import Workspace
from mog.widgets.fit import plain as plain_line

WIDTHS = (24, 32, 60, 90, 160)
PANES = ("walk", "dead", "drift", "ledger", "health")


class Person(Still):
    """A host that answers prompts, remembers what was said, and has the cursor where it is told."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)  # type: ignore[arg-type]
        self.answers: list[str] = []
        self.prompts: list[str] = []
        self.said: list[str] = []
        self.focused = ""

    def prompt(self, prompt: Prompt) -> None:
        self.prompts.append(f"{prompt.label} {prompt.hint}")
        if self.answers:
            prompt.done(self.answers.pop(0))

    def say(self, text: str) -> None:
        self.said.append(text)

    def focus_on(self, target: str) -> None:
        self.focused = target

    def at(self, pane: str, words: str) -> Any:
        """Put the cursor on the first row of a pane that holds these words; the content."""
        content = self.content(pane)
        sheet = content.sheet(160, 40)
        for line in (sheet.lines.line(i) for i in range(len(sheet.lines))):
            if line[0].key and words in line[0].text:
                self.row, self.thing = line[0], sheet.things.get(line[0].key)
                return content
        raise AssertionError(f"no row of {pane} says {words!r}:\n{text(self, pane)}")


def text(host: Still, pane: str, width: int = 120, lines: int = 40) -> str:
    sheet = host.content(pane).sheet(width, lines)
    rows = (plain_line(sheet.lines.line(i), width) for i in range(min(len(sheet.lines), 500)))
    return "\n".join([f"{sheet.title_note} {sheet.title_right}", *rows])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "parcel-desk"


@pytest.fixture
def desk(root: Path) -> Iterator[Workspace]:
    with story.told(root) as workspace:
        yield workspace


@pytest.fixture
def host(desk: Workspace) -> Person:
    return Person(desk)


# -- walk --------------------------------------------------------------------------------------------------------------


def test_a_walk_shows_seed_hops_scores_answer_and_exact_counts(host: Person) -> None:
    host.content("walk").question(story.ANSWERED)
    walk, said = host.content("walk").told.walk, text(host, "walk")
    assert f"“{story.ANSWERED}”" in said and "answered, 1 hop" in said
    assert f"score {walk.score:.2f}" in said and f"seed   {walk.seeds[0].score:.2f}  (E) ● Refund Rule" in said
    assert f"hop 1  {walk.path[1].score:.2f}  ←── mentions (C) ● {demo.REFUND}" in said and "the answer" in said
    assert "derived_from (S) ● notes/refunds.md" in said
    assert f"{walk.expanded} of {walk.budget} expanded" in said
    left = walk.left
    assert f"not taken {left.unfit + left.open}: 1 do not answer, 2 not looked at" in said


def test_counts_of_what_was_left_are_of_nodes_that_were_met(desk: Workspace) -> None:
    beliefs = desk.beliefs
    refuted = beliefs.claim("The Refund Rule covers a lost umbrella.", source="notes/refunds.md").result
    mesh = beliefs.mesh
    entity = mesh.find("Refund Rule")
    mesh.apply("linked", lambda w: w.edge("mentions", refuted, entity))
    before = beliefs.ask(story.ANSWERED).left
    beliefs.retract(refuted, reason="nobody ever said so")
    after = beliefs.ask(story.ANSWERED).left
    assert (before.pruned, after.pruned) == (0, 1)
    assert before.unfit + before.second == after.unfit + after.second + 1


def test_a_walk_that_goes_elsewhere_since_says_so(host: Person, desk: Workspace) -> None:
    host.content("walk").question(story.ANSWERED)
    desk.beliefs.retract("notes/refunds.md", reason="a draft")
    host.content("walk").ask()
    assert "told another way when it was asked" in text(host, "walk")
    assert "notes/march-audit.md" in text(host, "walk")


def test_the_last_question_of_an_agent_is_shown_with_the_walk_it_takes_now(host: Person, desk: Workspace) -> None:
    record = Traffic(desk.mog_dir)
    walk = desk.beliefs.walker.look(story.ANSWERED)
    path = [step.node for step in (*walk.path, *walk.tail)]
    record.record(Call("2999-01-02T12:41:07+00:00", "claude", "s", "mesh_ask", {"question": story.ANSWERED}, path=path))
    record.record(Call("2999-01-02T12:42:07+00:00", "claude", "s", "mesh_health", {}))
    record.close()
    host.content("walk").ask()
    said = text(host, "walk")
    assert "agent claude 12:41" in said and demo.REFUND in said and "told another way" not in said


def test_asking_is_prompted_and_r_asks_again(host: Person, desk: Workspace) -> None:
    walk = host.content("walk")
    walk.ask()
    host.row, host.thing = None, None
    assert "Nobody has asked anything yet" in text(host, "walk")
    walk.act_redo()
    assert host.said[-1] == "r: no question was asked yet; a asks one"
    host.answers = [story.ANSWERED]
    walk.act_go_ahead()
    walk.act_redo()
    assert host.prompts[0].startswith("ask the mesh:") and desk.beliefs.telemetry.report().walks == 2
    host.answers = [" "]
    walk.act_go_ahead()
    assert desk.beliefs.telemetry.report().walks == 2 and "nothing was asked" in host.said[-1]


# -- why and inspect ---------------------------------------------------------------------------------------------------


def test_why_goes_deeper_with_enter_and_back_with_esc(host: Person, desk: Workspace) -> None:
    story.broken(desk)
    walk = host.content("walk")
    walk.why(demo.SPARE)
    assert "fallen: its ground does not hold" in text(host, "walk")
    host.at("walk", demo.PRINT)
    walk.opened(host.thing, host.row.key if host.row else "")
    host.at("walk", demo.WAIT)
    walk.opened(host.thing, host.row.key if host.row else "")
    said = text(host, "walk")
    assert "refuted by person" in said and story.MEASURED in said and "measured at the counter" in said
    assert walk.back() and demo.PRINT in text(host, "walk").splitlines()[1]
    assert walk.back() and demo.SPARE in text(host, "walk").splitlines()[1]
    assert walk.back() and not walk.back() and walk.page is None


def test_a_verdict_on_evidence_that_was_withdrawn_is_not_told_as_if_it_counted(host: Person, desk: Workspace) -> None:
    story.broken(desk)
    desk.beliefs.withdraw(story.MEASURED, reason="it was another carrier")
    host.content("walk").why(demo.WAIT)
    said = text(host, "walk")
    assert "refuted once, its evidence no longer counts; by person" in said and "● " + demo.WAIT in said


def test_why_of_code_shows_every_belief_about_it_and_a_place_leads_there(host: Person) -> None:
    host.content("walk").why(demo.PLACE)
    assert demo.LIMIT in text(host, "walk")
    walk = host.at("walk", demo.PLACE)
    walk.opened(host.thing, "")
    assert host.focused == demo.PLACE


def test_what_cannot_be_explained_is_said_and_the_pane_stays(host: Person) -> None:
    host.content("walk").question(story.ANSWERED)
    host.content("walk").why("nothing of this name")
    assert host.said[-1].startswith("w: nothing is called") and story.ANSWERED in text(host, "walk")


def test_inspect_shows_the_record_whole(host: Person, desk: Workspace) -> None:
    host.content("walk").why(demo.STAND, whole=True)
    said = text(host, "walk")
    node = desk.beliefs.mesh.graph.node(desk.beliefs.find(demo.STAND))
    assert node.id in said and "claim, statement" in said and f"event {node.at} ingested" in said
    assert "2 edges" in said and "mentions     ──→ (E) ● Label Printer" in said and "trust     not recorded" in said


# -- dead ends ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(host: Person, desk: Workspace) -> Person:
    for question in (story.NO_NAME, story.NO_EDGE, story.WRONG_TYPE):
        desk.beliefs.ask(question)
    story.broken(desk)
    desk.beliefs.ask(story.PRUNED)
    desk.beliefs.ask(story.PRUNED)
    desk.beliefs.ask(story.ANSWERED)
    host.content("dead").ask()
    return host


def test_dead_ends_stand_under_their_reasons_with_counts_and_why(asked: Person) -> None:
    said = text(asked, "dead")
    assert said.splitlines()[0].strip() == "no edge 1  no name 1  wrong type 1  pruned 2"
    heads = ["no typed edge  1", "entity unresolved  1", "wrong node type  1", "pruned too early  2"]
    questions = [story.NO_EDGE, story.NO_NAME, story.WRONG_TYPE, story.PRUNED]
    places = [said.index(words) for pair in zip(heads, questions, strict=True) for words in pair]
    assert places == sorted(places) and story.ANSWERED not in said
    assert "2 times" in said and "in the way (D) × Buy no spare machine" in said


def test_a_dead_end_that_has_an_answer_by_now_moves_down(asked: Person, desk: Workspace) -> None:
    desk.beliefs.withdraw(story.MEASURED, reason="it was another carrier")
    asked.content("dead").ask()
    said = text(asked, "dead")
    assert said.index("answered since") < said.index(story.PRUNED)


def test_words_of_the_person_mend_a_dead_end(asked: Person, desk: Workspace) -> None:
    dead = asked.at("dead", story.NO_EDGE)
    asked.answers = [""]
    dead.act_go_ahead()
    assert "nothing recorded" in asked.said[-1]
    asked.answers = ["The Harbour Crane is forty metres high."]
    dead.act_go_ahead()
    walk = asked.content("walk").told.walk
    assert walk.question == story.NO_EDGE and walk.answer == "The Harbour Crane is forty metres high."
    assert "takes it back" in asked.said[-1]
    event = desk.beliefs.log.head().seq
    desk.beliefs.undo(event, reason="guessed")
    assert desk.beliefs.ask(story.NO_EDGE).dead_end is not None


def test_a_near_name_is_proposed_as_an_alias_and_learned_when_the_person_says_so(host: Person, desk: Workspace) -> None:
    question = "What does the Carriers Servise refuse?"
    host.content("walk").question(question)
    told = host.content("walk").told
    assert [one.kind for one in told.mends] == ["alias", "answer"]
    walk = host.at("walk", "learn that")
    host.answers = ["no"]
    walk.act_go_ahead()
    assert not desk.beliefs.mesh.aliases
    host.answers = [""]
    walk.act_go_ahead()
    assert desk.beliefs.mesh.aliases and host.content("walk").told.walk.resolved


def test_r_asks_a_dead_end_again_and_enter_shows_its_walk_uncounted(asked: Person, desk: Workspace) -> None:
    before = desk.beliefs.telemetry.report().walks
    dead = asked.at("dead", story.NO_NAME)
    dead.opened(asked.thing, "")
    assert asked.content("walk").told.walk.question == story.NO_NAME and desk.beliefs.telemetry.report().walks == before
    dead.act_redo()
    assert desk.beliefs.telemetry.report().walks == before + 1


# -- drift -------------------------------------------------------------------------------------------------------------


def test_an_edit_shows_what_rests_on_the_code_and_a_revert_takes_it_away(
    host: Person, desk: Workspace, root: Path
) -> None:
    drift = host.content("drift")
    drift.ask()
    assert "(A) 1" in text(host, "drift") and drift.account.count(Freshness.fresh) == 1
    story.edit(root)
    drift.act_redo()
    said = text(host, "drift")
    assert said.startswith(" 1 of 1") and "± [f] give_up_after" in said and "(A) 1  drifted" in said and "open" in said
    assert "noticed" in said and "".join(c.text for c in drift.glance(0)).startswith("± 1 drifted")
    story.revert(root)
    drift.act_redo()
    assert "±" not in text(host, "drift") and drift.account.count(Freshness.fresh) == 1
    assert "withdrawn" in {one.how for one in desk.beliefs.mesh.tables.rows["retired"].values()}


def test_the_person_judges_a_drift_and_the_belief_falls_and_rises_again(
    host: Person, desk: Workspace, root: Path
) -> None:
    story.edit(root)
    drift = host.content("drift")
    drift.ask()
    host.at("drift", demo.LIMIT)
    host.answers = ["refuted"]
    drift.act_go_ahead()
    assert "left open" in host.said[-1] and "holds WHY" in host.prompts[-1]
    host.answers = ["refuted: it waits twenty seconds now"]
    drift.act_go_ahead()
    assert host.said[-1].startswith("refuted: × 1 falls  ▼ 0 weaken")
    said = text(host, "drift")
    assert f"(A) × {demo.LIMIT}" in said and "refuted by person" in said
    drift.act_go_ahead()
    assert "waits for a verdict" in host.said[-1]
    story.revert(root)
    drift.act_redo()
    assert f"(A) ● {demo.LIMIT}" in text(host, "drift")


def test_holds_keeps_the_belief_and_closes_the_question(host: Person, desk: Workspace, root: Path) -> None:
    story.edit(root)
    drift = host.content("drift")
    drift.ask()
    host.at("drift", "give_up_after")
    host.answers = ["holds the client is configured elsewhere"]
    drift.act_go_ahead()
    assert f"(A) ● {demo.LIMIT}" in text(host, "drift") and "held by person" in text(host, "drift")
    assert not desk.beliefs.bridge.pending()


def test_drift_says_since_which_commit(host: Person, root: Path) -> None:
    import subprocess

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=root, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "start")
    story.edit(root)
    host.content("drift").ask()
    assert "not committed" in text(host, "drift")
    git("commit", "-q", "-a", "-m", "wait longer")
    host.content("drift").ask()
    assert "“wait longer”" in text(host, "drift")


# -- ledger ------------------------------------------------------------------------------------------------------------


def test_the_ledger_lists_events_newest_first(host: Person, desk: Workspace) -> None:
    story.broken(desk)
    host.content("ledger").ask()
    said = text(host, "ledger")
    numbers = [int(line.split()[0]) for line in said.splitlines()[1:]]
    assert numbers == list(range(desk.beliefs.log.head().seq, 0, -1))
    judged = next(line for line in said.splitlines() if "judged" in line)
    assert f"× (A) {demo.WAIT}" in judged and "by person" in judged and "1 verdict" in judged


def test_one_event_is_shown_whole_with_its_hash_and_proof(host: Person, desk: Workspace) -> None:
    ledger = host.content("ledger")
    ledger.ask()
    ledger.narrow("2")
    ledger.opened(2, "event:2")
    event = next(desk.beliefs.log.events(1, 1))
    said = text(host, "ledger")
    assert event.digest in said and "proof     √ in the tree of 6 events" in said and demo.WAIT in said
    assert ledger.back() and ledger.one is None and not ledger.back()


def test_the_filter_goes_through_the_kinds_and_back_to_all(host: Person) -> None:
    ledger = host.content("ledger")
    ledger.ask()
    seen = []
    for _ in range(5):
        ledger.act_filter()
        seen.append((ledger.kind, text(host, "ledger").count("\n")))
    assert seen == [("assumed", 2), ("claimed", 1), ("decided", 2), ("ingested", 1), ("", 6)]


def test_verifying_says_what_holds_and_damage_is_named(host: Person, desk: Workspace) -> None:
    import apsw

    ledger = host.content("ledger")
    ledger.ask()
    ledger.act_redo()
    assert "√ chain whole, not signed, √ witness" in text(host, "ledger") and "replayed" in host.said[-1]
    desk.beliefs.assume("one more")
    ledger.ask()
    assert "chain whole to 6" in text(host, "ledger")
    desk.beliefs.close()
    db = apsw.Connection(str(desk.ledger_path))
    db.execute("UPDATE events SET recorded_at = '1999-01-01T00:00:00+00:00' WHERE seq = 2")
    db.close()
    ledger.act_redo()
    assert "× damaged at event 2" in text(host, "ledger")


def test_jumping_to_an_event_that_is_not_there_is_said(host: Person) -> None:
    ledger = host.content("ledger")
    ledger.ask()
    for words, answer in (("99", "no event 99; it has 6"), ("0", "no event 0")):
        assert ledger.narrow(words)
        assert answer in host.said[-1]
    assert not ledger.narrow("nine"), "a word is looked for in the rows instead"


# -- health ------------------------------------------------------------------------------------------------------------


def test_health_counts_what_is_believed_and_the_top_line_says_it(host: Person, desk: Workspace) -> None:
    health = host.content("health")
    health.ask()
    assert "".join(c.text for c in health.glance(1)) == "× 0 fallen  ≠ 0 contested  ? 0"
    desk.beliefs.evidence("Once it took nine seconds", contradicts=[demo.LIMIT])
    story.broken(desk)
    desk.beliefs.ask(story.ANSWERED)
    health.ask()
    assert "".join(c.text for c in health.glance(1)) == "× 3 fallen  ≠ 1 contested  ? 0"
    health.opened("signal:fallen", "signal:fallen")
    said = text(host, "health")
    assert f"(D) × {demo.SPARE}" in said and "1 of 1 answered" in said and "open contradictions" in said


# -- every pane --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pane", PANES)
def test_an_empty_clone_teaches_and_makes_no_file(pane: str, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    Workspace.init(tmp_path / "bare")
    with Workspace.open(tmp_path / "bare") as workspace:
        host = Person(workspace)
        host.content(pane).ask()
        said = text(host, pane)
        assert not workspace.ledger_path.exists()
    lessons = {"walk": "asks the mesh", "dead": "No dead ends", "drift": "p on a symbol", "ledger": "p on a symbol"}
    assert lessons.get(pane, "") in said


HOSTILE = (
    "\x1b[31mred\x1b[0m\x07\x00\x9b",
    "\u202etxt.exe\u2066\u2069 bidi",
    "x" * 10_000,
    "e" + "\u0301" * 3_000,
    "שלום עולם مرحبا",
    "宽字符 👩‍👩‍👧‍👦 zero\u200bwidth\u2060",
    "line\nbreak\ttab\r\n(A) ● fake row",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Each hostile text in every text field of a node of the reason layer."""
    root = tmp_path_factory.mktemp("hostile") / "clone"
    root.mkdir()
    (root / "a.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    Workspace.init(root)
    with story.apart(tmp_path_factory), Workspace.open(root) as workspace:
        for number, bad in enumerate(HOSTILE):
            _record(workspace, number, bad)
        (root / "a.py").write_text("def f():\n    return 2\n", encoding="utf-8")
        yield workspace


def _record(workspace: Workspace, number: int, bad: str) -> None:
    beliefs = workspace.beliefs
    told = f"{number} {bad}"
    source = beliefs.mesh.apply(
        "made", lambda w: w.source(f"S {told}", origin=bad, attrs={"weird": bad, bad[:200]: "key"})
    ).result
    assumption = beliefs.assume(f"A {told}", about=["sym:a.py::f"], by=bad[:60]).result
    claim = beliefs.claim(f"C Widget{number} {told}", source=source, rests_on=[[assumption]], by=bad[:60]).result
    entity = beliefs.mesh.apply("named", lambda w: w.entity(f"Widget{number} {bad[:100]}", aliases=[bad[:200]])).result
    beliefs.mesh.apply("linked", lambda w: w.edge("mentions", claim, entity))
    beliefs.ground(claim, [assumption], note=bad)
    beliefs.decide(f"D {told}", bad, rests_on=[assumption], by=bad[:60])
    beliefs.evidence(f"V {told}", contradicts=[assumption], by=bad[:60])
    beliefs.reject(claim, evidence=f"W {told}", reason=f"because {bad}", auditor="person")
    beliefs.ask(f"What about {bad[:2_000]}?")
    beliefs.ask(f"What is Widget{number} {bad[:100]}?")


def assert_safe(host: Still, pane: str, widths: Sequence[int] = WIDTHS, heights: Sequence[int] = (0, 8, 40)) -> None:
    for width in widths:
        for lines in heights:
            sheet = host.content(pane).sheet(width, lines)
            for index in range(min(len(sheet.lines), 400)):
                line = sheet.lines.line(index)
                row = plain_line(line, width)
                for said in (row, *(word for part in line for word in (*part.words, part.copy))):
                    assert said.isprintable() or not said, ascii(said)[:200]
                    assert not set(said) & set("\u202e\u2066\u2069\u200b\u2060"), ascii(said)[:200]
                assert _cells(row) <= width and len(row) <= 8 * width + 3_200
                assert all(len(word) <= 2_000 for part in line for word in part.words)


def _cells(said: str) -> int:
    from rich.cells import cell_len

    return cell_len(said)


@pytest.mark.parametrize("pane", PANES)
def test_hostile_text_is_safe_and_fits_in_every_pane(pane: str, hostile: Workspace) -> None:
    host = Person(hostile)
    host.content(pane).ask()
    assert_safe(host, pane)


def test_hostile_records_are_safe_in_why_inspect_and_one_event(hostile: Workspace) -> None:
    host = Person(hostile)
    walk, ledger = host.content("walk"), host.content("ledger")
    ledger.ask()
    for node in list(hostile.beliefs.mesh.graph.nodes()):
        for whole in (False, True):
            walk.why(node.id, whole=whole)
            assert walk.page is not None and walk.page.target == node.id
            assert_safe(host, "walk", (32, 90), (40,))
            walk.page, walk.found, walk._pages = None, None, []
    for seq in range(1, hostile.beliefs.log.head().seq + 1):
        ledger.opened(seq, f"event:{seq}")
        assert_safe(host, "ledger", (32, 90), (40,))
        ledger.back()


def test_plain_twins_of_the_panes_fit_and_hold_no_escape(hostile: Workspace) -> None:
    for pane in ("walk", "dead", "drift", "ledger", "2", "3", "4", "7"):
        said = plain.report(hostile, pane, 100)  # type: ignore[arg-type]
        assert "\x1b" not in said and all(_cells(line) <= 100 for line in said.splitlines())


def test_rows_about_beliefs_load_no_mesh() -> None:
    """They are imported on the screen's thread, when the first pane is drawn."""
    import subprocess

    names = (
        "drift_rows health_rows walk_rows dead_rows ledger_rows why_rows panes.walk panes.dead panes.ledger panes.drift"
    )
    code = (
        f"import importlib, sys\nfor name in {names.split()!r}: importlib.import_module('mog.app.tui.' + name)\n"
        "print([m for m in sys.modules if m in ('mog.engine.reason.mesh', 'mog.engine.ledgers.events', 'textual')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"
