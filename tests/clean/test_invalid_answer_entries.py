"""The rules percent-out-of-range, contradiction, missing-percent and errors-and-low-accuracy."""

from typing import Any

import numpy as np
import pytest

from clean.faulty_answers import GOLD, TASKS, answers_of, faulty, row, sitting
from plurivox.clean import ErrorsAndLowAccuracy, clean
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, OptionError
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def typed(*texts: str, **rest: Any) -> Answers:
    """Return one answer per text, each of another worker."""
    n = len(texts)
    marks = [[("named", "cat", text)] for text in texts]
    return Answers.of(["a"] * n, [f"w{i}" for i in range(n)], marks, **rest)


def rows_out(answers: Answers, rule: str) -> list[int]:
    """Return the rows that a rule removes or flags."""
    return clean(answers, [rule]).audit.row.tolist()


@pytest.mark.parametrize("text", ["70", "70%", " 80", "8p", "0", "100", "", "lots", "100.0"])
def test_percents_within_range_or_unreadable_are_not_out_of_range(text: str) -> None:
    assert rows_out(typed(text), "percent-out-of-range") == []


@pytest.mark.parametrize("text", ["101", "-1", "1000", "100.5", "-0,5 %", " 200 "])
def test_percents_below_0_or_above_100_are_out_of_range(text: str) -> None:
    audit = clean(typed("50", text), ["percent-out-of-range"]).audit
    assert audit.row.tolist() == [1] and repr(text) in audit.reason[0]


def test_runner_ups_are_checked_for_range_and_contradiction() -> None:
    marks = [[("named", "cat", "70"), ("named", "dog", "170"), ("never", "dog", "")]]
    for rule in ("percent-out-of-range", "contradiction"):
        assert "'dog'" in clean(Answers.of(["a"], ["w"], marks), [rule]).audit.reason[0]


@pytest.mark.parametrize(("text", "missing"), [("", True), ("  ", True), ("lots", True), ("8p", False), ("0", False)])
def test_an_unreadable_percent_counts_as_missing(text: str, missing: bool) -> None:
    assert rows_out(typed(text), "missing-percent") == [0] * missing


def test_zero_for_the_top_label_counts_as_missing_on_request() -> None:
    assert rows_out(typed("0", "1"), "missing-percent[zero=yes]") == [0]


def test_forms_without_percents_and_abstentions_miss_no_percent() -> None:
    forms = as_names(["one-label", "ranking", "top-two", "top-two"])
    abstain = np.array([False, False, False, True])
    assert rows_out(typed("", "", "", "", form=forms, abstain=abstain), "missing-percent") == [2]


def test_workers_with_too_many_errors_are_removed_and_kept_answers_are_flagged() -> None:
    audit = clean(faulty(), ["percent-out-of-range[at-most=2,answers=no]"]).audit
    assert audit.worker.tolist() == ["beyond"] and audit.answers.tolist() == [14]
    assert audit.reason[0] == "3 answers with a percent outside 0 to 100; at most 2 allowed"
    kept = clean(faulty(), ["percent-out-of-range[at-most=3,answers=no]"])
    assert kept.audit.did.tolist() == ["flagged"] * 3 and len(kept.answers) == len(faulty())


def test_faulty_answers_of_kept_workers_are_removed() -> None:
    audit = clean(faulty(), ["percent-out-of-range[at-most=3]"]).audit
    assert audit.what.tolist() == ["answer"] * 3


def test_low_accuracy_removes_only_workers_with_errors() -> None:
    assert clean(faulty(), ["errors-and-low-accuracy"], GOLD).audit.worker.tolist() == ["torn"]
    everybody = clean(faulty(), ["errors-and-low-accuracy[fewest=0]"], GOLD).audit.worker.tolist()
    assert everybody == ["still", "torn"]
    assert clean(faulty(), ["errors-and-low-accuracy[fewest=2]"], GOLD).audit.worker.tolist() == []


def test_workers_without_a_task_with_a_known_label_are_kept() -> None:
    alone = answers_of([*sitting("careful"), row("stranger", TASKS[0], 0, top="dog", percent="")])
    only = GOLD.on(TASKS[1:3])
    assert clean(alone, ["errors-and-low-accuracy"], only).audit.worker.tolist() == []


def test_errors_and_low_accuracy_refuses_votes_and_contradictory_options() -> None:
    votes = Votes.of([TASKS[0]], ["w"], ["dog"])
    with pytest.raises(InputError, match=r"check all workers \(fewest=0\)"):
        clean(votes, ["errors-and-low-accuracy"], GOLD)
    with pytest.raises(OptionError, match=r"most must be at least fewest \(2\)"):
        ErrorsAndLowAccuracy(fewest=2, most=1)


def test_known_labels_of_other_tasks_only_raise_an_error() -> None:
    with pytest.raises(InputError, match="none of those given is for one of these tasks: 'a'"):
        clean(typed("50"), ["errors-and-low-accuracy"], GOLD)


def test_a_percent_without_a_label_is_not_an_error() -> None:
    marks = [[("named", "dog", "90"), ("never", "cat", "")], [("named", "cat", "80"), ("named", None, "999")]]
    answers = Answers.of(["a", "b"], ["ann", "ann"], marks)
    for rule in ("percent-out-of-range", "contradiction", "missing-percent"):
        assert rows_out(answers, rule) == []


def test_cannot_tell_is_not_counted_and_none_of_these_counts_as_wrong() -> None:
    marks = [[("named", "cat", "50")], [("named", "dog", "50")], []]
    answers = Answers.of(list("abc"), ["ann"] * 3, marks, labels=["cat", "dog"], abstain=np.array([False, True, False]))
    gold = SoftLabels.gold(list("abc"), ["cat"] * 3)
    assert "50% of 2 known tasks" in clean(answers, ["errors-and-low-accuracy[fewest=0]"], gold).audit.reason[0]
    assert clean(answers, ["attention-checks"], gold).audit.reason.tolist() == [
        "failed 1 of 2 checks; at most 0 allowed"
    ]
