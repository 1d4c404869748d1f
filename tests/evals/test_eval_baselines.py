"""The baselines do what a person with ripgrep, or a chunk index, would get."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.engine.evals import baselines, lexical

TEXTS = {
    "a.py": b"def load_user(name):\n    return name\n\n# load_user is old, Load_User too\n",
    "b.py": b"x = 1\nusername = 2\n",
    "c.py": b"def load(user):\n    return user  # load_users\n",
}


def files() -> baselines.Files:
    return baselines.Files(tuple(TEXTS), tuple(lexical.unpack(lexical.pack(text)) for text in TEXTS.values()))


def test_names_of_code_are_searched_for_and_words_only_when_there_are_none() -> None:
    text = "Crash in load_user when `name` is None, see parseCookie and run()"
    assert baselines.keywords(text) == ["load_user", "name", "parsecookie", "run"]
    assert baselines.keywords("please remove stale sessions") == ["remove", "stale", "sessions"]
    assert baselines.keywords("") == []


def test_keyword_search_counts_whole_words_whatever_their_case() -> None:
    assert baselines.by_keyword(files(), "load_user fails") == [0]
    counted = lexical.unpack(lexical.pack(TEXTS["a.py"]))
    at = list(counted.hashes).index(lexical.hashed("load_user"))
    assert counted.counts[at] == 3


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
def test_words_are_counted_as_ripgrep_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(TEXTS["a.py"])
    vector = ["rg", "--word-regexp", "--ignore-case", "--count-matches", "--no-filename", "load_user", str(path)]
    assert int(subprocess.run(vector, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout) == 3


def test_chunk_search_splits_names_and_finds_the_chunk() -> None:
    postings = baselines.Postings(files(), "load user")
    assert {chunk.file for chunk in postings.ranked()} == {0, 2}
    assert postings.files()[0] == 2


def test_nothing_that_matches_is_no_answer() -> None:
    assert baselines.by_keyword(files(), "zzz_zzz") == []
    assert baselines.Postings(files(), "zzz_zzz").ranked() == []
    assert baselines.Postings(baselines.Files((), ()), "load").files() == []


@given(st.binary(max_size=9_000) | st.text(max_size=3_000).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_chunks_cover_a_file_without_gaps_and_keep_their_size(data: bytes) -> None:
    bounds = list(lexical.bounds_of(data))
    assert b"".join(data[a:b] for a, b in bounds) == data
    assert all(0 < b - a <= lexical.CHUNK_BYTES for a, b in bounds)
    packed = lexical.unpack(lexical.pack(data))
    assert packed.starts.tolist() == [*(a for a, _ in bounds), len(data)]
    assert len(packed.at) == len(bounds) + 1
    assert packed.at[-1] == len(packed.terms) == len(packed.freqs)


def test_chunks_by_vector_come_by_cosine_and_then_by_place() -> None:
    chunks = [baselines.Chunk(0, n, n + 1) for n in range(3)]
    assert baselines.by_vector(chunks, np.array([0.1, 0.9, 0.1], np.float32)) == [chunks[1], chunks[0], chunks[2]]
