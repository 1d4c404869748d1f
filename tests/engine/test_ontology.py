"""The packaged GRAPH.md: its rows, the seed's rows in it, the checks it makes, and what a project may add to it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mog.engine.errors import OntologyError
from mog.engine.ontology import MAX_EDGE_TYPES, MAX_FILE_BYTES, load, load_project, packaged_path

SEED_PAIRS = {
    "mentions": ("source→entity, claim→entity", "none"),
    "derived_from": ("claim→source, decision→claim, entity→source", "backward"),
    "cites": ("decision→source, claim→claim", "none"),
    "contradicts": ("claim→claim, evidence→claim, evidence→assumption", "none"),
    "supports": ("evidence→claim, claim→decision, evidence→decision", "none"),
    "depends_on": ("decision→assumption, decision→decision, claim→assumption", "backward"),
    "produces": ("decision→entity, decision→source", "forward"),
    "supersedes": ("decision→decision, assumption→assumption, claim→claim", "none"),
    "justified_by": ("decision→evidence, claim→evidence, assumption→evidence", "none"),
    "resolves_to": ("entity→entity", "none"),
}
SEED_CARRIES = {
    "entity": {"canonical", "aliases"},
    "claim": {"provenance"},
    "source": {"origin", "retrieved_at"},
    "decision": {"rationale", "provenance"},
    "assumption": {"status", "version"},
    "evidence": {"kind"},
}
SEED_FILE = """# An ontology of the earlier format

## Node types

| Type | Symbol | Means | Must carry |
|---|---|---|---|
| Entity | `entity` | A thing. | `canonical`, `aliases` |
| Claim | `claim` | A statement. | `provenance` |
| Evidence | `evidence` | An observation. | `kind` |

## Edge types

| Edge | Legal pairs | Invalidation | Means |
|---|---|---|---|
| `mentions` | claim->entity | none | Refers to. |
| `justified_by` | claim→evidence | backward | Why. |
"""


@pytest.fixture(scope="module")
def ours():
    return load()


def project(tmp_path: Path, text: str | bytes) -> Path:
    folder = tmp_path / ".mog"
    folder.mkdir(exist_ok=True)
    (folder / "GRAPH.md").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def refused(tmp_path: Path, text: str | bytes) -> OntologyError:
    with pytest.raises(OntologyError) as caught:
        load_project(project(tmp_path, text))
    assert caught.value.way_out
    return caught.value


def edges(*rows: str, header: str = "| Edge | Legal pairs | Invalidation | Weight |") -> str:
    return "\n".join(["## Edge types", header, "|---|---|---|---|", *rows]) + "\n"


def nodes(*rows: str, header: str = "| Type | Symbol | Must carry | Kinds |") -> str:
    return "\n".join(["## Node types", header, "|---|---|---|---|", *rows]) + "\n"


# -- the packaged file


def test_ten_node_types_and_twenty_three_edge_types(ours):
    assert len(ours.node_types) == 10
    assert len(ours.edge_types) == 23


def test_codes_are_positions_and_lead_back(ours):
    for rows, at in ((ours.node_types, ours.node_at), (ours.edge_types, ours.edge_at)):
        assert [row.code for row in rows.values()] == list(range(len(rows)))
        assert all(at(row.code) is row for row in rows.values())


def test_the_seed_rows_are_kept_word_for_word(ours):
    for kind, (pairs, direction) in SEED_PAIRS.items():
        row = ours.edge(kind)
        assert row.pairs == {tuple(p.split("→")) for p in pairs.split(", ")}, kind
        assert row.invalidation == direction
    for symbol, carries in SEED_CARRIES.items():
        assert set(ours.node(symbol).must_carry) == carries


def test_only_the_seeds_three_edges_propagate(ours):
    assert set(ours.propagating) == {"depends_on", "derived_from", "produces"}


def test_letters_are_one_character_and_differ(ours):
    letters = [row.letter for row in ours.node_types.values()]
    assert all(len(letter) == 1 for letter in letters)
    assert len(set(letters)) == len(letters)


def test_every_edge_says_impact_weight_and_layer(ours):
    for kind in ours.edge_types:
        assert 0 <= ours.weight(kind) <= 1
        assert ours.impact(kind) in ("forward", "reverse", "both", "none")
        assert ours.layer(kind) in ("reason", "code", "bridge")
    assert ours.impact("calls") == "reverse"
    assert ours.impact("tested_by") == "forward"
    assert ours.layer("about") == "bridge"


def test_the_numbered_rules_are_there_without_gaps():
    text = packaged_path().read_text(encoding="utf-8")
    rules = text.split("## Rules", 1)[1].split("\n## ", 1)[0]
    numbers = [int(line.split(".")[0]) for line in rules.splitlines() if line[:1].isdigit()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 9


def test_loading_imports_neither_networkx_nor_a_markdown_library():
    code = (
        "import sys; from mog.engine.ontology import load; load(); "
        "print([m for m in ('networkx', 'numpy', 'markdown', 'difflib', 'json', 'apsw') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert out.stdout.decode().strip() == "[]", out.stderr.decode()


# -- checks of writes


def test_a_legal_edge_passes_and_its_mirror_does_not(ours):
    assert ours.check_edge("calls", "symbol", "symbol").symbol == "calls"
    assert ours.legal("imports", "file", "unresolved")
    with pytest.raises(OntologyError, match="not a legal pair") as caught:
        ours.check_edge("imports", "unresolved", "file")
    assert "file→unresolved" in caught.value.way_out
    assert caught.value.where.startswith("GRAPH.md:")


@pytest.mark.parametrize(
    ("check", "near"),
    [
        (lambda o: o.check_edge("call", "symbol", "symbol"), "calls"),
        (lambda o: o.check_edge("calls", "symbl", "symbol"), "symbol"),
        (lambda o: o.check_node("symbl", "function", ()), "symbol"),
        (lambda o: o.check_node("symbol", "functoin", ("locator", "span_hash")), "function"),
        (lambda o: o.impact("import"), "imports"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(ours, check, near):
    with pytest.raises(OntologyError) as caught:
        check(ours)
    assert repr(near) in caught.value.way_out


def test_must_carry_is_presence(ours):
    assert ours.check_node("symbol", "method", {"locator": None, "span_hash": None}).code == ours.node("symbol").code
    with pytest.raises(OntologyError, match="span_hash"):
        ours.check_node("symbol", "method", {"locator": "x"})


def test_kind_itself_can_be_carried(ours):
    ours.check_node("evidence", "drift", ())
    with pytest.raises(OntologyError):
        ours.check_node("evidence", "", ("kind",))


def test_an_unknown_code_is_refused(ours):
    with pytest.raises(OntologyError, match="code 63"):
        ours.edge_at(63)


# -- the earlier format


def test_a_file_with_fewer_columns_loads(tmp_path):
    path = tmp_path / "GRAPH.md"
    path.write_text(SEED_FILE, encoding="utf-8")
    seed = load([path])
    assert list(seed.node_types) == ["entity", "claim", "evidence"]
    assert seed.edge("justified_by").pairs == {("claim", "evidence")}
    assert seed.propagating == ("justified_by",)
    seed.check_node("evidence", "whatever it says", ())
    with pytest.raises(OntologyError, match="kind"):
        seed.check_node("evidence", "", ())


def test_columns_may_stand_in_any_order(tmp_path):
    path = tmp_path / "GRAPH.md"
    path.write_text(
        "## node TYPES\n| Kinds | Symbol | Extra | Type |\n|:-:|---|---|--:|\n| a, b | `thing` | x | Thing |\n"
        "# Edge types ##\n| Invalidation | Edge | Legal pairs |\n|---|---|---|\n| forward | `makes` | thing -> thing |",
        encoding="utf-8",
    )
    got = load([path])
    assert got.node("thing").kinds == ("a", "b")
    assert got.invalidation("makes") == "forward"


# -- a project's own rows


def test_a_project_without_a_file_has_the_packaged_ontology(tmp_path, ours):
    assert load_project(tmp_path / ".mog").digest == ours.digest
    assert load_project(None).digest == ours.digest


def test_a_project_adds_types_kinds_edges_and_pairs(tmp_path, ours):
    mine = load_project(
        project(
            tmp_path,
            nodes("| Trust Zone | `trust_zone` | `owner` | inner, outer |", "| Claim | `claim` | | rumour |")
            + edges("| `runs_in` | decision→trust_zone | backward | 0.25 |", "| `calls` | entity→entity | | |"),
        )
    )
    assert mine.node_at(10).symbol == "trust_zone"
    assert mine.edge_at(23).symbol == "runs_in"
    assert mine.node("claim").kinds == (*ours.node("claim").kinds, "rumour")
    assert mine.edge("calls").pairs == ours.edge("calls").pairs | {("entity", "entity")}
    assert (mine.weight("runs_in"), mine.impact("runs_in"), mine.layer("runs_in")) == (0.25, "none", "reason")
    assert "runs_in" in mine.propagating
    assert mine.node("trust_zone").letter not in {n.letter for n in ours.node_types.values()}
    assert mine.digest != ours.digest
    mine.check_node("trust_zone", "inner", {"owner": "me"})
    mine.check_edge("runs_in", "decision", "trust_zone")


def test_our_codes_do_not_move_when_a_project_adds_rows(tmp_path, ours):
    mine = load_project(project(tmp_path, edges("| `aaa` | claim→claim | none | 0 |")))
    assert [e.symbol for e in mine.edge_types.values()][:-1] == list(ours.edge_types)


def test_prose_and_layout_do_not_change_the_digest(tmp_path, ours):
    text = packaged_path().read_text(encoding="utf-8").replace("A statement lifted from a source.", "Other words.")
    path = tmp_path / "GRAPH.md"
    path.write_text(text.replace("\n## Rules", "\n\nMore prose.\n\n## Rules"), encoding="utf-8", newline="\r\n")
    assert load([path]).digest == ours.digest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("`span_hash` | code", "`span_hash`, `kind` | code"),
        ("| imports | file", "| imports | file"),
        ("none | 0.5 | reason", "none | 0.6 | reason"),
        ("Invokes. | reverse", "Invokes. | both"),
        ("backward | This exists", "forward | This exists"),
        ("entity→entity | none | An alias", "entity→entity, claim→claim | none | An alias"),
        ("statement, convention", "convention, statement"),
    ],
)
def test_whatever_a_check_reads_changes_the_digest(tmp_path, ours, before, after):
    text = packaged_path().read_text(encoding="utf-8")
    path = tmp_path / "GRAPH.md"
    path.write_text(text.replace(before, after), encoding="utf-8")
    assert (load([path]).digest == ours.digest) is (before == after)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        (nodes("| Zone | `zon` | | |"), 4, 3, "differ"),
        (nodes("| Zone | | | |"), 4, None, "Symbol"),
        (nodes("| Zone | `zone` | a b | |"), 4, 19, "'a b'"),
        (nodes("| Zone | `zone` | | Inner |"), 4, 21, "'Inner'"),
        (nodes("| Zone | `zone` | | |", "| Zone | `zone` | | |"), 5, 1, "second row"),
        (nodes("| Zone | `zone` | | | | x |"), 4, None, "more cells"),
        (nodes("| Claim | `claim` | `mood` | |"), 4, 21, "mood"),
        (edges("| `uses` | claim→zone | none | |"), 4, 12, "'zone'"),
        (edges("| `uses` | claim=zone | none | |"), 4, 12, "not a pair"),
        (edges("| `uses` | claim→claim; claim→source | none | |"), 4, 12, "not a pair"),
        (edges("| `uses` | | none | |"), 4, None, "not a pair"),
        (edges("| `uses` | claim→claim | sideways | |"), 4, 26, "'sideways'"),
        (edges("| `uses` | claim→claim | | |"), 4, None, "Invalidation"),
        (edges("| `uses` | claim→claim | none | 1.5 |"), 4, 33, "'1.5'"),
        (edges("| `Uses` | claim→claim | none | |"), 4, 3, "'Uses'"),
        (edges("| `calls` | claim→claim | backward | |"), 4, 27, "invalidation of calls"),
        (edges("| `calls` | claim→claim | | 0.1 |"), 4, 29, "weight of calls"),
        (edges("| `x` | claim→claim | none | |", header="| Edge | Legal pair | Invalidation | |"), 2, 10, "Legal"),
        (edges("| `x` | claim→claim | none | |", header="| Edge | Pairs | Invalidation | |"), 2, 1, "legal pairs"),
        ("## Edge types\n| `uses` | claim→claim | none |\n", 2, None, "column"),
        ("## Node types\n\nfine\x1b[2J\n", 3, 5, "U+001B"),
        ("## Node types\n\nfine \u202e gone\n", 3, 6, "U+202E"),
        (b"## Node types\n\nna\xefve\n", 3, 3, "UTF-8"),
        ("text".encode("utf-16"), 1, 1, "UTF-8"),
    ],
)
def test_an_error_names_file_line_and_column(tmp_path, text, line, column, says):
    error = refused(tmp_path, text)
    assert says in error.what, error.what
    path, found_line, found_column = error.where.rsplit(":", 2)
    assert path.endswith("GRAPH.md")
    assert int(found_line) == line
    assert column is None or int(found_column) == column


def test_the_letter_of_another_type_is_refused(tmp_path):
    text = nodes("| Zone | `zone` | | E |", header="| Type | Symbol | Must carry | Letter |")
    assert "taken by entity" in refused(tmp_path, text).what


def test_fenced_and_commented_rows_do_not_count(tmp_path, ours):
    text = "## Node types\n```\n| Zone | zone |\n```\n<!--\n| Type | Symbol |\n|---|---|\n| Zone | `zone` |\n-->\n"
    assert load_project(project(tmp_path, text)).digest == ours.digest


def test_a_pipe_can_be_escaped(tmp_path):
    text = nodes("| Zone | `zone` | in \\| out | |", header="| Type | Symbol | Means | Kinds |")
    assert load_project(project(tmp_path, text)).node("zone").means == "in | out"


def test_there_is_room_for_sixty_four_edge_types(tmp_path, ours):
    free = MAX_EDGE_TYPES - len(ours.edge_types)
    rows = [f"| `own_{i}` | claim→claim | none | |" for i in range(free + 1)]
    assert load_project(project(tmp_path, edges(*rows[:-1]))).edge_at(63).symbol == f"own_{free - 1}"
    assert "more than 64" in refused(tmp_path, edges(*rows)).what


def test_a_byte_order_mark_is_no_error(tmp_path):
    assert load_project(project(tmp_path, b"\xef\xbb\xbf" + nodes("| Zone | `zone` | | |").encode())).node("zone")


def test_a_huge_file_is_refused(tmp_path):
    assert "larger" in refused(tmp_path, "x" * (MAX_FILE_BYTES + 1)).what


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_place_of_the_file_is_refused_and_not_waited_for(tmp_path):
    (tmp_path / ".mog").mkdir()
    os.mkfifo(tmp_path / ".mog" / "GRAPH.md")
    with pytest.raises(OntologyError, match="not a regular file"):
        load_project(tmp_path / ".mog")


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_link_out_of_the_project_is_refused(tmp_path):
    (tmp_path / ".mog").mkdir()
    (tmp_path / "outside.md").write_text(nodes("| Zone | `zone` | | |"))
    (tmp_path / ".mog" / "GRAPH.md").symlink_to(tmp_path / "outside.md")
    with pytest.raises(OntologyError, match="link"):
        load_project(tmp_path / ".mog")


def test_a_missing_file_and_an_empty_one_say_so(tmp_path):
    with pytest.raises(OntologyError, match="cannot be read"):
        load([tmp_path / "none.md"])
    (tmp_path / "GRAPH.md").write_text("# nothing\n")
    with pytest.raises(OntologyError, match="no node types"):
        load([tmp_path / "GRAPH.md"])
