"""The suites from clone and tasks to tables: real git, the product's ranker, and results that are saved and rendered."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from eval_world import clone, tasks

from mog.app.cli.run import run as mog
from mog.engine.errors import NotFound, StoreDamaged, UsageError
from mog.engine.evals import cards, field, gold, localization, report, repos, suites, tokens
from mog.engine.evals.suites import Options


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Options:
    folder = tmp_path_factory.mktemp("world")
    commit = clone(folder / "clones")
    listed = tasks(folder / "tasks.jsonl", commit)
    baselines = ("b0", "bm25", "b1")
    return Options(folder / "clones", listed, folder / "cache", baselines, workers=1, rerank=False, extra={"features": "yes"})


@pytest.fixture(scope="module")
def outcomes(options: Options) -> list[field.Outcome]:
    judged, setting = localization.prepared(options)
    return field.work(judged, setting, 1)


def test_tasks_without_a_gold_function_are_left_out_and_the_rest_keeps_its_order(outcomes: list[field.Outcome]) -> None:
    assert [one.task for one in outcomes] == ["price", "voucher", "owner"]


def test_mog_finds_the_functions_of_a_small_repository(outcomes: list[field.Outcome]) -> None:
    for one in outcomes:
        score = one.scores[field.HAND]
        assert gold.hit(score.files, 1), one.task
        assert gold.hit(score.functions, 3), one.task
        assert score.tokens["whole"] < one.scores["b0"].tokens["whole"], one.task


def test_tests_are_no_candidates_and_inner_functions_are_no_names_of_their_own(outcomes: list[field.Outcome]) -> None:
    assert {one.files for one in outcomes} == {4}
    assert {one.functions for one in outcomes} == {3 + 1 + 2 + 6}


def test_the_features_of_a_task_know_which_candidates_are_gold(options: Options, outcomes: list[field.Outcome]) -> None:
    read = np.load(field.feature_file((options.cache or Path()) / "features", "price"))
    assert read["matrix"].shape == (len(read["label"]), len(read["features"]))
    assert np.isfinite(read["matrix"]).all()
    assert sorted(set(read["label"].tolist())) == [0, 1]
    assert read["in_gold_file"][read["label"] == 1].all()


def test_what_is_known_of_a_file_is_not_made_again(options: Options, outcomes: list[field.Outcome]) -> None:
    history = repos.History(repos.locate(options.repos or Path(), "acme/shop"))
    with cards.Cards(options.cache or Path(), 1) as known, history:
        entries = field.candidates(history, gold.load(options.tasks or Path())[0].base_commit)
        assert known.fill(history, entries) == 0
        renamed = [entries[1]._replace(path="shop/other.py")]
        assert known.fill(history, renamed) == 1
        with pytest.raises(KeyError):
            known.card(entries[1]._replace(path="shop/third.py"))


def test_two_processes_find_what_one_finds(options: Options, outcomes: list[field.Outcome], tmp_path: Path) -> None:
    judged, setting = localization.prepared(replace(options, cache=tmp_path, extra={}))
    batches = list(field._batches(judged, setting.repos)) * 2
    field._fill(batches, setting, 1, None)
    doubled = [one for found in field._spread(batches, setting, 2) for one in found]
    assert sorted(one.task for one in doubled) == sorted([one.task for one in outcomes] * 2)
    assert {one.task: one.scores[field.HAND] for one in doubled} == {one.task: one.scores[field.HAND] for one in outcomes}


def test_results_say_what_was_measured_and_survive_saving(options: Options, outcomes: list[field.Outcome], tmp_path: Path) -> None:
    judged = gold.judged(gold.load(options.tasks or Path()))
    for result in (localization.result(judged, outcomes, options), tokens.result(outcomes, options)):
        assert result.tables[0].title.endswith("n = 3")
        saved = report.load(report.save(result, tmp_path))
        assert report.markdown(saved) == report.markdown(result)
        assert report.as_json(saved) == report.as_json(result)
    assert [one.suite for one in report.saved(tmp_path)] == ["localization", "tokens"]


def test_a_cost_that_is_never_reached_reads_never() -> None:
    column = suites.Column("median", "median", "tokens", 0)
    assert report.shown(suites.Measure(math.inf, 1200.0, math.inf), column) == "never [1,200, never]"


def test_bars_that_are_missed_are_printed_as_short() -> None:
    gates = (suites.Gate("a", "≥ 2", "1", False), suites.Gate("b", "≥ 2", "3", True), suites.Gate("c", "≥ 2", "-", None))
    page = report.markdown(suites.SuiteResult("x", "X", "About.", gates=gates))
    assert page.count("**short**") == 1
    assert "not measured here" in page


def test_a_folder_without_results_and_a_spoilt_result_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no suite was run"):
        report.saved(tmp_path)
    (tmp_path / "x.json").write_text('{"format": "other"}', encoding="utf-8")
    with pytest.raises(StoreDamaged, match="no result of a suite"):
        report.saved(tmp_path)


@pytest.mark.parametrize("missing", ["repos", "tasks"])
def test_without_clones_or_tasks_the_way_out_is_named(options: Options, missing: str) -> None:
    with pytest.raises(UsageError) as refused:
        localization.run(replace(options, **{missing: None}))
    assert f"--{missing}" in refused.value.way_out


def test_a_clone_a_commit_and_a_suite_that_are_not_there_are_named(options: Options, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no clone of other/repo"):
        repos.locate(options.repos or Path(), "other/repo")
    with repos.History(repos.locate(options.repos or Path(), "acme/shop")) as history:
        with pytest.raises(UsageError, match="git cannot answer"):
            history.tree("0" * 40)
        with pytest.raises(UsageError, match="no object id"):
            history.tree("--output=x")
        with pytest.raises(UsageError, match="cannot be read"):
            list(history.read(["0" * 40]))
    with pytest.raises(UsageError, match="no suite 'speed'"):
        suites.run("speed", options)


def test_clones_answer_to_every_spelling_and_forks_stand_in(tmp_path: Path) -> None:
    for place in ("a+one/repo", "a+two", "a__three", "four", "apprent1c3+django/repo"):
        (tmp_path / place / "objects").mkdir(parents=True)
        (tmp_path / place / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    for repo in ("a/one", "a/two", "a/three", "a/four", "django/django"):
        assert repos.locate(tmp_path, repo).is_relative_to(tmp_path)


def test_the_verb_runs_saves_and_renders(options: Options, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "run", "localization", "--repos", str(options.repos), "--tasks", str(options.tasks)]
    words += ["--cache", str(options.cache), "--baseline", "b0", "--no-rerank", "--jobs", "1", "--out", str(tmp_path)]
    assert mog([*words, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in shown["tables"][0]["rows"]] == ["B0 keyword search", "mog, hand-set weights"]
    assert mog(["eval", "report", "--results", str(tmp_path)]) == 0
    assert "| B0 keyword search" in capsys.readouterr().out
    assert mog(["eval", "report", "--results", str(tmp_path), "--write", str(tmp_path)]) == 0
    assert (tmp_path / "localization.md").read_text(encoding="utf-8").startswith("# Localisation")
    assert mog(["eval", "report", "tokens", "--results", str(tmp_path)]) == 1
    assert mog(["eval"]) == 0
    assert "staleness" in capsys.readouterr().out
    assert mog(["eval", "run", "localization", "--set", "x"]) == 2
