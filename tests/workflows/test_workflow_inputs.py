"""Workflows accept data types, data sets, paths and DataFrames; and which part of a data set they use."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import plurivox as pv
from plurivox.core.errors import InputError, PlurivoxError, PlurivoxWarning
from plurivox.io.dataset_reader import as_dataset
from plurivox.workflows.fit_votes import WHAT_IT_IS

COLUMNS = {"task": list("aaabbbcc"), "worker": list("vwxvwxvw"), "label": list("nnyynyny")}
VOTES = pv.votes(COLUMNS)
GOLD = pv.SoftLabels.gold(list("abc"), list("nyn"))
COUNTS = pv.counts({"task": list("abcd"), "n": [3, 0, 1, 1], "y": [0, 4, 2, 1]})
BOTH = pv.Dataset("both", votes=VOTES, counts=COUNTS, gold=GOLD)


@pytest.fixture(params=["votes", "data set", "mapping", "pandas", "polars", "path"])
def given(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return the same votes in each type of input that workflows accept."""
    pl.DataFrame(COLUMNS).write_csv(tmp_path / "votes.csv")
    return {
        "votes": VOTES,
        "data set": pv.Dataset("made", votes=VOTES),
        "mapping": COLUMNS,
        "pandas": pd.DataFrame(COLUMNS),
        "polars": pl.DataFrame(COLUMNS),
        "path": tmp_path / "votes.csv",
    }[request.param]


ASKED: dict[str, Callable[[Any], Any]] = {
    "fit": lambda votes: pv.fit(votes, "dawid-skene").soft.prob,
    "score": lambda votes: pv.score(votes, "disagreement").raw,
    "rank": lambda votes: pv.rank(votes, "trace-pooled,agreement-with-rest").rank,
    "compare": lambda votes: pv.compare(votes, "vote-shares", gold=GOLD).accuracy,
    "describe": lambda votes: pv.describe(votes, GOLD).summary_values()["n_votes"],
    "evaluate_labels": lambda votes: pv.evaluate_labels(votes, GOLD, measures="accuracy", repeats=0).value,
    "propose": lambda votes: pv.propose(votes).gain,
}


@pytest.mark.parametrize("name", ASKED)
def test_every_form_of_input_gives_the_same_result(name: str, given: Any) -> None:
    np.testing.assert_array_equal(ASKED[name](given), ASKED[name](VOTES))


def test_input_that_is_not_a_table_is_an_error() -> None:
    with pytest.raises(InputError, match=r"there is no file or folder nosuch\.csv"):
        pv.fit("nosuch.csv")
    with pytest.raises(InputError, match="int is not a table; give a pandas, polars or Arrow frame"):
        pv.fit(3)
    with pytest.raises(InputError, match="missing column"):
        pv.fit({"task": [1]})


def test_counts_that_cover_more_tasks_are_used_with_a_warning() -> None:
    with pytest.warns(PlurivoxWarning, match="both: counts cover 4 tasks, votes 3; the counts are used"):
        assert len(pv.fit(BOTH, "vote-shares").soft) == 4
    assert len(pv.fit(BOTH, "vote-shares", part="votes").soft) == 3
    assert len(pv.fit(BOTH, "vote-shares", part="counts").soft) == 4


def test_counts_are_an_error_if_worker_names_are_needed() -> None:
    for ask in (
        lambda: pv.fit(BOTH, "glad"),
        lambda: pv.score(BOTH, "agreement-with-rest"),
        lambda: pv.rank(BOTH, "posterior-entropy", by="glad"),
    ):
        with pytest.raises(InputError, match=r"needs worker names; .* Use its votes \(3 tasks\): part='votes'"):
            ask()


def test_counts_can_be_used_with_a_given_fit() -> None:
    fit = pv.fit(VOTES, "glad")
    with pytest.warns(PlurivoxWarning, match="the counts are used"):
        made = pv.score(BOTH, "posterior-entropy", fit=fit)
    np.testing.assert_array_equal(made.raw, pv.score(VOTES, "posterior-entropy", fit=fit).raw)


def test_gold_may_be_that_of_the_data_set_or_a_file(tmp_path: Path) -> None:
    told = pv.fit(BOTH, "dawid-skene", gold=True, part="votes").soft.prob
    np.testing.assert_array_equal(told, pv.fit(VOTES, "dawid-skene", gold=GOLD).soft.prob)
    pv.write_soft(GOLD, tmp_path / "gold.csv")
    np.testing.assert_array_equal(told, pv.fit(VOTES, "dawid-skene", gold=tmp_path / "gold.csv").soft.prob)
    with pytest.raises(InputError, match="the table of votes has no gold labels"):
        pv.fit(VOTES, "dawid-skene", gold=True)


def test_answers_are_described_and_elicited_from_a_data_set() -> None:
    marks = [[("named", "cat", "70")], [("named", "dog", "130")]]
    data = as_dataset(pv.Answers.of(task=["a", "b"], worker=["v", "w"], marks=marks))
    assert pv.describe(data).summary_values()["odd"] and pv.elicit_votes(data, "top-one").votes.n_tasks == 2
    with pytest.raises(InputError, match="contains votes, which need no elicitation"):
        pv.elicit_votes(BOTH)


def test_labels_that_differ_only_by_case_are_warned_about() -> None:
    with pytest.warns(PlurivoxWarning, match="differ only by case or blanks"):
        pv.describe({"task": ["a", "a"], "worker": ["v", "w"], "label": ["Cat", "cat"]})


@pytest.fixture
def ordered_folder(tmp_path: Path) -> Path:
    """Return a data set folder whose dataset.toml declares that the labels are ordered."""
    pl.DataFrame(COLUMNS).write_csv(tmp_path / "votes.csv")
    pl.DataFrame({"task": list("abc"), "label": list("nyn")}).write_csv(tmp_path / "gold.csv")
    (tmp_path / "dataset.toml").write_text("ordered = true\n")
    return tmp_path


IGNORES_ORDER: dict[str, Callable[[Any], Any]] = {
    "average does not use": lambda data: pv.fit(data, "average"),
    "wawa, glad do not use": lambda data: pv.compare(data, "wawa,glad", gold=GOLD),
    "entropy does not use": lambda data: pv.score(data, "entropy"),
    "entropy, disagreement do not use": lambda data: pv.rank(data, "entropy,disagreement"),
    "ibcc does not use": lambda data: pv.propose(data, "next-best"),
}


@pytest.mark.parametrize("text", IGNORES_ORDER)
def test_an_order_that_the_caller_declares_and_no_method_uses_is_a_warning(text: str, ordered_folder: Path) -> None:
    table = ordered_folder / "votes.csv"
    scores = "entropy" in text  # ordered Votes are made once and scored many times, also by scores that use the order
    for data in (pv.read(table, ordered=True), *([] if scores else [pv.votes(COLUMNS, ordered=True)])):
        with pytest.warns(PlurivoxWarning, match=f"^{text} the order of the labels") as said:
            IGNORES_ORDER[text](data)
        assert len(said) == 1
    for data in (pv.votes(COLUMNS), pv.read(table), pv.read(ordered_folder), ordered_folder):
        IGNORES_ORDER[text](data)  # warnings are errors: a data set that declares its order needs no word each time


def test_scores_that_use_the_order_do_not_warn(ordered_folder: Path) -> None:
    data = pv.read(ordered_folder / "votes.csv", ordered=True)
    pv.score(data, "krippendorff-alpha", level="ordinal", resamples=0)
    pv.score(data, "cohen-kappa", weights="linear", resamples=0, least=1)
    with pytest.warns(PlurivoxWarning, match="krippendorff-alpha does not use the order"):
        pv.score(data, "krippendorff-alpha", resamples=0)


def test_fit_without_a_method_uses_the_default_for_the_question_and_says_so() -> None:
    votes = pv.votes(task=list("aabb"), worker=[1, 2, 1, 2], label=list("xyxx"))
    for for_, used in (("truth", "log-pool"), ("people", "calibrated-shares")):
        fit = pv.fit(votes, for_=for_)
        assert fit.made_by == used and fit.soft.estimates == for_
        assert fit.soft.notes == (f"no method was given: used {used}, the default for {for_} ({WHAT_IT_IS[for_]})",)
    assert pv.fit(votes).made_by == "log-pool" and pv.fit(votes, "log-pool").soft.notes == ()
    with pytest.raises(PlurivoxError, match="vote-shares estimates the share of people who would give a label, not"):
        pv.fit(votes, "vote-shares", for_="truth")
    with pytest.raises(PlurivoxError, match="must be truth or people"):
        pv.fit(votes, for_="gold")
