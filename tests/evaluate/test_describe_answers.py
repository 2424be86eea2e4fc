"""Statistics of answers equal values computed by hand."""

import numpy as np
import pytest

from plurivox.core.answers import Answers
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import describe_answers


def entered() -> Answers:
    """Return six answers of two workers to three tasks: one marked repeat, one unmarked, one abstention, one empty."""
    cat, dog = ("named", "cat", "70"), ("named", "dog", "20")
    return Answers.of(
        task=["a", "a", "a", "b", "b", "c"],
        worker=["v", "w", "v", "v", "v", "w"],
        marks=[[cat, dog, ("never", "ship", "")], [("named", "cat", "")], [dog], [dog], [], []],
        form=np.array(["top-two"] * 4 + ["one-label"] * 2, dtype=np.dtypes.StringDType()),
        repeat_of=np.array([-1, -1, 0, -1, -1, -1]),
        abstain=np.array([False] * 5 + [True]),
        seconds=np.array([1, 2, 3, 4, 5, np.nan]),
        when=np.array([86400.0, 0, np.nan, np.nan, 60, 120]),
    )


def test_statistics_of_answers_equal_values_computed_by_hand() -> None:
    about = describe_answers(entered(), SoftLabels.gold(["a", "z"], ["cat", "dog"]))
    assert (about.n_answers, about.n_tasks, about.n_workers, about.n_labels) == (6, 3, 2, 3)
    assert about.forms == {"one-label": 2, "top-two": 4} and about.answers_per_task == (2, 1, 3)
    assert (about.n_asked_again, about.n_further, about.n_abstained, about.n_empty) == (1, 1, 1, 1)
    assert about.share_second == about.share_never == pytest.approx(1 / 6) and about.share_possible == 0
    # task a: cat (v), cat (w), and v's repeat, which is not another person's; the other tasks have one label at most
    assert about.top_agreement == 1
    assert about.seconds is not None and about.seconds[0] == 3 and (about.first, about.last) == (0, 86400)
    assert about.n_gold == 3 and about.top_accuracy == pytest.approx(2 / 3)


def test_statistics_that_cannot_be_computed_are_not_shown() -> None:
    shown = dict(describe_answers(entered()).rows())
    assert shown["forms"] == "one-label 2, top-two 4" and shown["last answer"] == "1970-01-02 00:00 UTC"
    assert "label named first is right" not in shown and "mark further labels as possible" not in shown
    bare = dict(describe_answers(Answers.of(task=["a"], worker=["v"], marks=[[("named", "x", "")]])).rows())
    assert bare["forms"].startswith("unknown") and not {"seconds per answer", "first answer"} & set(bare)


def test_empty_answers_can_be_described() -> None:
    about = describe_answers(entered().where(np.zeros(6, bool)), SoftLabels.gold(["a"], ["cat"]))
    assert about.n_answers == 0 and about.n_tasks_without_answers == 3 and about.top_agreement is None and about.rows()
