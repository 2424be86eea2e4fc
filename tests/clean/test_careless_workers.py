"""The rules too-fast, straight-lining and attention-checks."""

import numpy as np
import pytest

from clean.faulty_answers import GOLD, LABELS, TASKS, faulty
from plurivox.clean import clean
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def timed(*seconds: float) -> Votes:
    """Return votes of one worker with these durations."""
    n = len(seconds)
    return Votes.of([f"t{i}" for i in range(n)], ["ann"] * n, ["x"] * n, seconds=seconds)


def test_mostly_fast_workers_are_removed_and_others_lose_their_fast_answers() -> None:
    audit = clean(faulty(), ["too-fast"]).audit
    assert audit.worker.tolist() == ["hasty"] and audit.answers.tolist() == [14]
    assert clean(faulty(), ["too-fast[share=0.9]"]).audit.what.tolist() == ["answer"] * 11
    assert clean(faulty(), ["too-fast[share=none]"]).audit.what.tolist() == ["answer"] * 11


def test_answers_at_the_limit_or_of_unknown_time_are_kept() -> None:
    assert clean(timed(1, 2, np.nan, 3, 4), ["too-fast"]).audit.row.tolist() == []


def test_the_limit_may_be_a_share_of_the_median() -> None:
    assert clean(timed(2, 10, 10, 10), ["too-fast[of-median=0.3]"]).audit.reason.tolist() == [
        "took 2 seconds, less than 3"
    ]


def test_too_fast_needs_times() -> None:
    with pytest.raises(InputError, match=r"too-fast needs the duration of each answer: give a column 'seconds'"):
        clean(Votes.of(["a"], ["w"], ["x"]), ["too-fast"])


def test_workers_with_always_the_same_label_or_position_are_removed() -> None:
    answers = faulty()
    others = [
        answers.label_codes_at_rank(0)[j] == LABELS.index("cat")
        for i in np.flatnonzero(answers.workers[answers.worker] == "still")
        for j in np.flatnonzero((answers.task == answers.task[i]) & (answers.worker != answers.worker[i]))
    ]
    audit = clean(answers, ["straight-lining"]).audit
    assert dict(zip(audit.worker.tolist(), audit.reason.tolist(), strict=True)) == {
        "still": f"'cat' in 100% of 14 answers; others gave it to the same tasks in {100 * np.mean(others):.1f}%",
        "placed": "position 2 of the list in 100% of 14 answers",
    }


def test_a_label_that_all_workers_give_is_not_straight_lining() -> None:
    tasks = [f"t{i}" for i in range(12)]
    votes = Votes.of(tasks * 2, ["ann"] * 12 + ["bo"] * 12, ["no"] * 12 + ["no"] * 11 + ["yes"])
    assert len(clean(votes, ["straight-lining"]).audit) == 0
    assert clean(votes, ["straight-lining[others=0.95]"]).audit.worker.tolist() == ["ann"]
    alone = clean(Votes.of(tasks, ["ann"] * 12, ["no"] * 12, labels=["no", "yes"]), ["straight-lining"]).audit
    assert alone.reason.tolist() == ["'no' in 100% of 12 answers; nobody else answered these tasks"]


def test_workers_with_few_answers_and_votes_without_workers_are_kept() -> None:
    assert len(clean(timed(*[5.0] * 9), ["straight-lining"]).audit) == 0
    unnamed = Votes.from_counts(np.array([[9, 0]] * 12), range(12), ["x", "y"])
    assert len(clean(unnamed, ["straight-lining"]).audit) == 0


def test_workers_who_fail_attention_checks_are_removed() -> None:
    checks = SoftLabels.gold(TASKS[:3], ["bird", "cat", "deer"])
    audit = clean(faulty(), ["attention-checks"], checks).audit
    failed = dict(zip(audit.worker.tolist(), audit.value.tolist(), strict=True))
    assert failed == {"fickle": 2.0, "still": 3.0, "torn": 5.0}
    lenient = clean(faulty(), ["attention-checks[at-most=2,share=0.5]"], checks).audit
    assert lenient.worker.tolist() == ["still", "torn"]
    assert lenient.reason[0] == "failed 3 of 5 checks; at most 2 allowed"
    every = clean(faulty(), ["attention-checks"], GOLD).audit
    assert every.worker.tolist() == ["double", "fickle", "still", "torn"]


def test_all_workers_fail_a_check_whose_label_is_not_offered() -> None:
    votes = Votes.of(["a", "a"], ["ann", "bo"], ["x", "y"])
    assert len(clean(votes, ["attention-checks"], SoftLabels.gold(["a"], ["z"])).audit) == 2
