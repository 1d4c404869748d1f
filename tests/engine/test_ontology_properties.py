"""Random project ontologies: what was written is what is checked, and no text makes the reader fail untyped."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mog.engine.errors import OntologyError
from mog.engine.ontology import load, load_project, packaged_path

OURS = load()
PACKAGED = packaged_path().read_text(encoding="utf-8")
names = st.from_regex(r"own_[a-z0-9_]{1,12}", fullmatch=True)
old_types = st.sampled_from(sorted(OURS.node_types))


@st.composite
def projects(draw):
    """(new types → kinds, new edges → (pairs, invalidation), new pairs of known edges)"""
    types = draw(st.dictionaries(names, st.lists(names, unique=True, max_size=4), max_size=4))
    ends = old_types if not types else old_types | st.sampled_from(sorted(types))
    pairs = st.sets(st.tuples(ends, ends), min_size=1, max_size=5)
    fresh = st.dictionaries(names, st.tuples(pairs, st.sampled_from(("backward", "forward", "none"))), max_size=5)
    known = st.dictionaries(st.sampled_from(sorted(OURS.edge_types)), pairs, max_size=3)
    return types, draw(fresh), draw(known)


def _cell(pairs) -> str:
    return ", ".join(f"{a} → {b}" if (a, b) < (b, a) else f"`{a}->{b}`" for a, b in sorted(pairs))


def _markdown(types, fresh, known) -> str:
    lines = ["## Node types", "| Symbol | Kinds | Type |", "|---|---|---|"]
    lines += [f"| `{t}` | {', '.join(kinds)} | {t.capitalize()} |" for t, kinds in types.items()]
    lines += ["", "## Edge types", "| Legal pairs | Edge | Invalidation |", "|---|---|---|"]
    lines += [f"| {_cell(pairs)} | `{e}` | {way} |" for e, (pairs, way) in fresh.items()]
    lines += [f"| {_cell(pairs)} | `{e}` | |" for e, pairs in known.items()]
    return "\n".join(lines)


def _load(text: str):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "GRAPH.md").write_text(text, encoding="utf-8", newline="")
        return load_project(Path(folder))


@settings(max_examples=60, deadline=None)
@given(projects())
def test_a_project_gets_exactly_what_it_wrote(project):
    types, fresh, known = project
    got = _load(_markdown(*project))
    assert list(got.node_types) == [*OURS.node_types, *types]
    assert list(got.edge_types) == [*OURS.edge_types, *fresh]
    expected = {e: row.pairs | known.get(e, set()) for e, row in OURS.edge_types.items()}
    expected |= {e: pairs for e, (pairs, _) in fresh.items()}
    for edge, pairs in expected.items():
        legal = {(a, b) for a in got.node_types for b in got.node_types if got.legal(edge, a, b)}
        assert legal == pairs
    assert set(got.propagating) == {*OURS.propagating, *(e for e, (_, way) in fresh.items() if way != "none")}
    assert all(got.node(t).kinds == tuple(kinds) for t, kinds in types.items())
    letters = [n.letter for n in got.node_types.values()]
    assert len(set(letters)) == len(letters)
    assert got.digest == _load(_markdown(*project) + "\nProse.\n").digest
    changed = any(types) or any(fresh) or any(pairs - OURS.edge(e).pairs for e, pairs in known.items())
    assert (got.digest != OURS.digest) is changed


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("|`→->,:# \n\\abc_09.EdgeTyps") | st.characters(), max_size=300))
@example("|")
@example("| A")
def test_any_text_loads_or_is_refused_with_a_place(text):
    text = "## Node types\n| Type | Symbol |\n|---|---|\n" + text
    try:
        _load(text)
    except OntologyError as error:
        assert error.what and error.where and error.way_out
    except UnicodeEncodeError:
        pass  # the text could not even be written to a file


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(PACKAGED) - 1), st.characters(codec="utf-8"))
def test_one_changed_character_of_our_own_file_never_breaks_the_reader(at, char):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "GRAPH.md"
        path.write_text(PACKAGED[:at] + char + PACKAGED[at + 1 :], encoding="utf-8", newline="")
        try:
            got = load([path])
        except OntologyError as error:
            assert error.what and error.where and error.way_out
        else:
            assert len(got.edge_types) <= 23 and got.digest
