"""Soft labels for both questions from the same votes."""

import numpy as np
import pytest

import plurivox as pv
from plurivox.aggregate import DEFAULT_METHODS
from plurivox.core.errors import InputError, OptionError
from plurivox.workflows import TRUTH_AND_PEOPLE


def test_both_questions_are_answered_by_their_default_methods() -> None:
    votes = pv.read("toy").votes
    both = pv.fit_both(votes)
    for quantity, fit in (("truth", both.truth), ("people", both.people)):
        assert fit.soft.estimates == quantity
        np.testing.assert_array_equal(fit.soft.prob, pv.fit(votes, DEFAULT_METHODS[quantity]).soft.prob)
    assert TRUTH_AND_PEOPLE in both.text() and f"of {votes.n_tasks} tasks" in both.text()
    assert sum(both.label_shares()["people"]) == pytest.approx(1)


def test_the_table_says_where_the_most_probable_labels_differ() -> None:
    """A reliable minority is right about `a` although most would say x; on `b` people are equally divided."""
    good = {f"t{i}": "xy"[i % 2] for i in range(40)}
    rows = [(task, worker, label) for task, label in good.items() for worker in ("ann", "bo")]
    rows += [(task, worker, "x") for task in good for worker in ("cy", "di", "ed")]
    rows += [("a", "ann", "y"), ("a", "bo", "y"), ("a", "cy", "x"), ("a", "di", "x"), ("a", "ed", "x")]
    rows += [("b", "ann", "y"), ("b", "cy", "x")]
    table = dict(zip(("task", "worker", "label"), zip(*rows, strict=True), strict=True))
    found = pv.fit_both(table, truth="dawid-skene", people="vote-shares").to_pandas().set_index("task")
    assert found.loc["a", ["truth", "people", "votes", "share", "differ"]].tolist() == ["y", "x", 5, 0.6, True]
    assert found.loc["b", ["truth", "people", "share", "differ"]].tolist() == ["y", "y", 0.5, False]


def test_a_method_for_the_other_question_and_gold_for_people_are_refused() -> None:
    with pytest.raises(OptionError, match="truth='vote-shares' estimates people"):
        pv.fit_both("toy", truth="vote-shares")
    with pytest.raises(InputError, match="cannot use known labels"):
        pv.fit_both("toy", truth="wawa", gold=pv.read("toy").gold)
    gold = pv.read("toy").gold
    one, other = pv.fit_both("toy", truth="dawid-skene"), pv.fit_both("toy", truth="dawid-skene", gold=gold)
    assert (one.truth.soft.prob != other.truth.soft.prob).any()
    np.testing.assert_array_equal(one.people.soft.prob, other.people.soft.prob)


def test_both_fits_are_saved(tmp_path) -> None:  # type: ignore[no-untyped-def]
    both = pv.fit_both("toy", truth="wawa")
    both.save(tmp_path / "both.npz")
    assert pv.load(tmp_path / "both.npz").text() == both.text()
