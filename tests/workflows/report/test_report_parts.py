"""Parts of a report: effect of dropping workers, tasks with a clear label against gold, leaks, trainings, cited papers."""

import re
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox import aggregate, identify
from plurivox.core.progress_callbacks import no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.workflows.report import report_results
from plurivox.workflows.report.bibliography import ENTRIES, KEYS_OF_METHODS, bibtex
from plurivox.workflows.report.dropped_workers import effect_of_dropping
from plurivox.workflows.report.hard_tasks import HardTasks
from plurivox.workflows.report.leaks import find_leaks_of_dataset
from plurivox.workflows.report.method_differences import method_differences
from plurivox.workflows.report.report_inputs import read_report_inputs
from plurivox.workflows.report.trained_runs import read_trained_runs
from plurivox.workflows.report.worker_trust import DROPPED, worker_trust
from report_inputs import doubtful_crowd


def test_the_effect_of_dropping_is_that_of_a_fit_without_these_workers() -> None:
    votes, gold = doubtful_crowd()
    method, trust = aggregate.methods.make("vote-shares"), worker_trust(votes, None)
    fit = method.fit(votes)
    found = effect_of_dropping(votes, fit, method, trust, gold, no_progress)
    dropped = set(trust.names(*DROPPED))
    rest = votes.where(np.array([str(votes.workers[w]) not in dropped for w in votes.worker]))
    other = pv.fit(rest, "vote-shares").soft
    kept = rest.support > 0
    assert found is not None and found.n_workers == len(dropped)
    assert found.n_changed == int((other.hard() != fit.soft.hard())[kept].sum())
    assert found.accuracy_without == pytest.approx(float((other.hard() == gold.on(votes.tasks).hard())[kept].mean()))
    assert found.accuracy_without > found.accuracy


def test_tied_labels_do_not_count_as_different() -> None:
    votes = pv.votes(task=["a", "a", "b"], worker=["w", "v", "w"], label=["x", "y", "x"])
    fits = {name: pv.fit(votes, name) for name in ("vote-shares", "majority-vote")}
    assert not method_differences(fits, "vote-shares").other_top.any()


def test_tasks_with_a_clear_label_against_gold_are_listed_the_clearest_first() -> None:
    votes = pv.votes(task=list("aaabbbc"), worker=list("uvwuvwu"), label=list("xxxyyxx"))
    gold = SoftLabels.gold(list("abc"), list("yxz"))
    fit = pv.fit(votes, "vote-shares")
    hard = HardTasks(votes, fit, {"vote-shares": fit}, gold)
    assert votes.tasks[hard.against_gold].tolist() == ["a", "c"]
    assert votes.tasks[hard.order].tolist() == ["b", "a", "c"]
    assert hard.reason(1) == "2 of 3 votes are for y, the first label."
    assert hard.reason(2) == "One vote only: nobody checked it."


def test_copies_between_the_parts_of_the_data_are_leaks() -> None:
    import polars as pl

    votes = pv.votes(task=["a", "b"], worker=["w", "w"], label=["x", "y"])
    items = pl.DataFrame({"task": ["a", "b"], "text": ["the same", "the same"], "split": ["train", "test"]})
    found = find_leaks_of_dataset(read_report_inputs(pv.Dataset("pair", votes=votes, items=items)))
    assert len(found) == 1 and found[0].n == 1


def test_measures_of_a_training_are_means_over_its_runs(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("run,seed,test accuracy,test nll\n0,0,0.8,\n1,1,0.9,0.5\n")
    found = read_trained_runs(tmp_path)
    assert found.n_runs == 2 and found.mean("test accuracy") == pytest.approx(0.85)
    assert found.standard_deviation("test accuracy") == pytest.approx(0.1 / 2**0.5)
    assert found.mean("test nll") == 0.5 and np.isnan(found.mean("dev accuracy"))


def test_every_method_of_the_usual_report_is_cited_or_known_to_be_our_own() -> None:
    usual = {*report_results.METHODS, *report_results.TASK_SCORES, *report_results.WORKER_SCORES}
    without_paper = {"aggregator-disagreement", "gold-accuracy", "repeat-consistency", "drift", "speed"}
    assert usual - without_paper <= KEYS_OF_METHODS.keys()
    assert {key for keys in KEYS_OF_METHODS.values() for key in keys} <= ENTRIES.keys()
    known = {*aggregate.methods, *identify.methods, "wilson-interval", "ece"}
    assert KEYS_OF_METHODS.keys() <= known


def test_bibtex_has_each_entry_once_with_balanced_braces() -> None:
    text = bibtex(["dawid-skene", "dawid-skene[pool=4]", "glad", *KEYS_OF_METHODS], "1.2")
    keys = re.findall(r"@\w+\{(\w+),", text)
    assert len(keys) == len(set(keys)) and "version = {1.2}" in text
    for entry in text.split("\n\n"):
        assert entry.count("{") == entry.count("}") and entry.startswith("@") and entry.endswith("}")
