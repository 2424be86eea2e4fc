"""Out of range, contradiction, missing percent, and accuracy of those who erred."""

from typing import Any

import numpy as np
import pytest

from clean.faulty_answers import GOLD, TASKS, answers_of, faulty, row, sitting
from plurivox.clean import KnownAccuracy, clean
from plurivox.core.answers import Answers
from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def typed(*texts: str, **rest: Any) -> Answers:
    """One answer a text, each of another person."""
    n = len(texts)
    marks = [[("named", "cat", text)] for text in texts]
    return Answers.of(["a"] * n, [f"w{i}" for i in range(n)], marks, **rest)


def rows_out(answers: Answers, rule: str) -> list[int]:
    return clean(answers, [rule]).audit.row.tolist()


@pytest.mark.parametrize("text", ["70", "70%", " 80", "8p", "0", "100", "", "lots", "100.0"])
def test_these_are_not_out_of_range(text: str) -> None:
    assert rows_out(typed(text), "out-of-range") == []


@pytest.mark.parametrize("text", ["101", "-1", "1000", "100.5", "-0,5 %", " 200 "])
def test_these_are_out_of_range(text: str) -> None:
    audit = clean(typed("50", text), ["out-of-range"]).audit
    assert audit.row.tolist() == [1] and repr(text) in audit.reason[0]


def test_a_runner_up_can_be_out_of_range_and_contradicted() -> None:
    marks = [[("named", "cat", "70"), ("named", "dog", "170"), ("never", "dog", "")]]
    for rule in ("out-of-range", "contradiction"):
        assert "'dog'" in clean(Answers.of(["a"], ["w"], marks), [rule]).audit.reason[0]


@pytest.mark.parametrize(("text", "missing"), [("", True), ("  ", True), ("lots", True), ("8p", False), ("0", False)])
def test_a_percent_is_missing_where_none_can_be_read(text: str, missing: bool) -> None:
    assert rows_out(typed(text), "missing-percent") == [0] * missing


def test_zero_for_the_top_label_may_count_as_missing() -> None:
    assert rows_out(typed("0", "1"), "missing-percent[zero=yes]") == [0]


def test_nobody_misses_a_percent_that_was_not_asked_for() -> None:
    forms = as_names(["one-label", "ranking", "top-two", "top-two"])
    abstain = np.array([False, False, False, True])
    assert rows_out(typed("", "", "", "", form=forms, abstain=abstain), "missing-percent") == [2]


def test_people_may_go_and_faulty_answers_stay_with_a_flag() -> None:
    audit = clean(faulty(), ["out-of-range[at-most=2,answers=no]"]).audit
    assert audit.worker.tolist() == ["beyond"] and audit.answers.tolist() == [14]
    assert audit.reason[0] == "3 answers with a percent outside 0 to 100; at most 2 allowed"
    kept = clean(faulty(), ["out-of-range[at-most=3,answers=no]"])
    assert kept.audit.did.tolist() == ["flagged"] * 3 and len(kept.answers) == len(faulty())


def test_people_who_may_err_still_lose_the_faulty_answers() -> None:
    audit = clean(faulty(), ["out-of-range[at-most=3]"]).audit
    assert audit.what.tolist() == ["answer"] * 3


def test_accuracy_matters_only_for_those_who_erred() -> None:
    assert clean(faulty(), ["known-accuracy"], GOLD).audit.worker.tolist() == ["torn"]
    everybody = clean(faulty(), ["known-accuracy[fewest=0]"], GOLD).audit.worker.tolist()
    assert everybody == ["still", "torn"]
    assert clean(faulty(), ["known-accuracy[fewest=2]"], GOLD).audit.worker.tolist() == []


def test_people_without_a_known_task_stay() -> None:
    alone = answers_of([*sitting("careful"), row("stranger", TASKS[0], 0, top="dog", percent="")])
    only = GOLD.on(TASKS[1:3])
    assert clean(alone, ["known-accuracy"], only).audit.worker.tolist() == []


def test_votes_show_no_errors_and_options_must_agree() -> None:
    votes = Votes.of([TASKS[0]], ["w"], ["dog"])
    with pytest.raises(InputError, match=r"check all workers \(fewest=0\)"):
        clean(votes, ["known-accuracy"], GOLD)
    with pytest.raises(OptionError, match=r"most must be at least fewest \(2\)"):
        KnownAccuracy(fewest=2, most=1)


def test_known_labels_of_other_tasks_are_said() -> None:
    with pytest.raises(InputError, match="none of those given is for one of these tasks: 'a'"):
        clean(typed("50"), ["known-accuracy"], GOLD)


def test_a_percent_of_no_label_is_no_error_of_any_kind() -> None:
    marks = [[("named", "dog", "90"), ("never", "cat", "")], [("named", "cat", "80"), ("named", None, "999")]]
    answers = Answers.of(["a", "b"], ["ann", "ann"], marks)
    for rule in ("out-of-range", "contradiction", "missing-percent"):
        assert rows_out(answers, rule) == []


def test_cannot_tell_is_neither_right_nor_wrong_and_none_of_these_is_wrong() -> None:
    marks = [[("named", "cat", "50")], [("named", "dog", "50")], []]
    answers = Answers.of(list("abc"), ["ann"] * 3, marks, labels=["cat", "dog"], abstain=np.array([False, True, False]))
    gold = SoftLabels.gold(list("abc"), ["cat"] * 3)
    assert "50% of 2 known tasks" in clean(answers, ["known-accuracy[fewest=0]"], gold).audit.reason[0]
    assert clean(answers, ["attention-checks"], gold).audit.reason.tolist() == [
        "failed 1 of 2 checks; at most 0 allowed"
    ]
