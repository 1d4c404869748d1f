"""The corpus: the same answers whatever the segments, saved and read back, and never believed when it is damaged."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_kit import corpus_of, packed

from mog.engine.errors import StoreDamaged
from mog.engine.retrieval import scoring, terms, words
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.rank import Ranker

PATHS = ("a.py", "pkg/b.py", "pkg/deep/c.py", "notes.md")
WORDS = ("parcel", "shelf", "token", "put_parcel", "Refresh")
_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)


def source(path: str, said: list[str]) -> str:
    if not path.endswith(".py"):
        return " ".join(said)
    methods = (f"    def m{at}(self):\n        return {word}\n" for at, word in enumerate(said))
    return f"class {said[0].title()}:\n" + "".join(methods)


Edit = tuple[str, list[str] | None]
_edits = st.lists(st.tuples(st.sampled_from(PATHS), st.none() | _words), max_size=6)


def answers(corpus: Corpus, query: str) -> list[tuple[str, int, float]]:
    ranked = Ranker(corpus).rank(query, limit=30)
    return [(corpus.paths[corpus.file_of[one.doc]], int(corpus.ord_of[one.doc]), round(one.score, 3)) for one in ranked]


@settings(max_examples=60, deadline=None)
@given(edits=_edits, query=_words)
def test_changes_laid_over_answer_as_a_corpus_made_anew(edits: list[Edit], query: list[str]) -> None:
    texts: dict[str, str] = {"a.py": source("a.py", ["parcel", "shelf"]), "z.py": source("z.py", ["token"])}
    corpus = corpus_of(texts)
    for path, said in edits:
        if said is None:
            texts.pop(path, None)
            corpus = corpus.with_changes([path], [])
        else:
            texts[path] = source(path, said)
            corpus = corpus.with_changes([], [(path, packed(path, texts[path]))])
    expected = answers(corpus_of(texts), " ".join(query))
    assert answers(corpus, " ".join(query)) == expected
    assert answers(corpus.compact(), " ".join(query)) == expected


def test_many_small_changes_end_in_few_segments() -> None:
    corpus = corpus_of({"a.py": source("a.py", ["parcel"])})
    for letter in "abcdefghijklmnopqrstuvwxyz":
        corpus = corpus.with_changes([], [("b.py", packed("b.py", source("b.py", [f"thing{letter * 3}"])))])
    assert len(corpus.segments) < 12
    assert [one[0] for one in answers(corpus, "thingzzz")] == ["b.py", "b.py", "b.py"]
    assert answers(corpus, "thingyyy") == []


def test_documents_that_were_replaced_are_gone_from_every_answer() -> None:
    corpus = corpus_of({"a.py": "def old_name():\n    pass\n", "b.py": "def other():\n    pass\n"})
    changed = corpus.with_changes([], [("a.py", packed("a.py", "def new_name():\n    pass\n"))])
    assert len(corpus.named(words.exact("old_name"))) == 1
    assert len(changed.named(words.exact("old_name"))) == 0
    assert changed.files_ending("a.py") == [2]
    assert changed.compact().files_ending("a.py") == [0]


FILES: Mapping[str, str] = {
    "pkg/b.py": "class A:\n    def m(self):\n        return 1\n", "a.py": "x = 1\n", "pkg/notes.md": "words here",
}  # fmt: skip


def test_files_are_found_by_the_end_of_their_path_and_by_folder() -> None:
    corpus = corpus_of({**FILES, "other/pkg/b.py": "y = 1\n"})
    paths = [corpus.paths[file] for file in corpus.files_ending("pkg/b.py")]
    assert paths == ["other/pkg/b.py", "pkg/b.py"]
    assert corpus.files_ending("kg/b.py") == []
    assert [corpus.paths[file] for file in corpus.files_below("pkg")] == ["other/pkg/b.py", "pkg/b.py", "pkg/notes.md"]


def test_a_saved_corpus_reads_back_the_same(tmp_path: Path) -> None:
    corpus = corpus_of(FILES).with_changes(["a.py"], [("c.py", packed("c.py", "def late():\n    pass\n"))])
    corpus.save(tmp_path / "corpus.bin", {"note": 1})
    loaded, notes = Corpus.load(tmp_path / "corpus.bin")
    assert notes == {"note": 1}
    assert loaded.paths == ("c.py", "pkg/b.py", "pkg/notes.md")
    for query in ("late", "words", "m"):
        assert answers(loaded, query) == answers(corpus, query)
    whole = corpus.compact()
    for name in ("parents", "flags", "lines", "kinds", "lengths"):
        assert np.array_equal(getattr(loaded, name), getattr(whole, name))


def test_equal_corpora_are_equal_files_readable_by_their_owner_only(tmp_path: Path) -> None:
    corpus_of(FILES).save(tmp_path / "one")
    corpus_of(dict(reversed(FILES.items()))).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


@pytest.mark.parametrize("cut", [0, 5, 40, -1, -200])
def test_a_file_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    corpus_of(FILES).save(tmp_path / "corpus.bin")
    (tmp_path / "corpus.bin").write_bytes((tmp_path / "corpus.bin").read_bytes()[:cut])
    with pytest.raises(StoreDamaged) as raised:
        Corpus.load(tmp_path / "corpus.bin")
    assert raised.value.way_out


@settings(max_examples=60, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), value=st.integers(0, 255))
def test_a_flipped_byte_is_refused_or_still_answers(tmp_path_factory: pytest.TempPathFactory, place: float, value: int) -> None:
    path = tmp_path_factory.mktemp("flip") / "corpus.bin"
    corpus_of(FILES).save(path)
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] = value
    path.write_bytes(data)
    try:
        corpus, _ = Corpus.load(path)
    except StoreDamaged:
        return
    Ranker(corpus).rank("A m words a.py", limit=5)


@pytest.mark.skipif(os.name != "posix", reason="links need a right on Windows")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    corpus_of(FILES).save(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(StoreDamaged):
        Corpus.load(tmp_path / "link")


def test_an_empty_corpus_answers_nothing() -> None:
    corpus = Corpus.build(())
    ranker = Ranker(corpus)
    assert ranker.rank("anything at_all a.py") == []
    assert ranker.files("anything") == []
    assert ranker.features("anything")[1].shape[0] == 0
    grown = corpus.with_changes([], [("a.py", packed("a.py", "def f():\n    pass\n"))])
    assert [path for path, *_ in answers(grown, "f")] == ["a.py"]


def test_a_term_is_worth_the_same_in_a_document_read_in_two_ways() -> None:
    corpus = corpus_of({path: source(path, list(WORDS)) for path in PATHS})
    ranker = Ranker(corpus)
    asked = ranker.scorer.asked(dict.fromkeys(scoring.PARTS, "refresh parcel"))
    own, files = ranker.scorer.sums(asked, np.ones(len(asked.numbers)))
    every = np.arange(corpus.size)
    assert np.allclose(own, ranker.scorer.at(asked, every).sum(axis=0), atol=1e-4)
    assert np.allclose(files, ranker.scorer.at_files(asked, np.arange(len(corpus.paths))).sum(axis=0), atol=1e-4)
    assert (ranker.scorer.in_field(asked, terms.BODY, every) > 0).any()
