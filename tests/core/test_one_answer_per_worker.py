"""One answer per task and worker: which of several counts, and what is shared."""

import numpy as np

from plurivox.core.one_answer_per_worker import one_answer_per_task_and_worker
from plurivox.core.votes import Votes


def said(votes: Votes) -> list[tuple[str, str, str, float]]:
    rows = zip(
        votes.tasks[votes.task],
        [str(votes.workers[w]) if w >= 0 else "" for w in votes.worker],
        votes.labels[votes.label],
        votes.weights,
        strict=True,
    )
    return [(str(t), w, str(k), round(float(p), 3)) for t, w, k, p in rows]


def test_votes_without_repeats_are_unchanged() -> None:
    votes = Votes.of(list("aab"), ["ann", "bo", "ann"], list("xyx"))
    assert one_answer_per_task_and_worker(votes).votes is votes


def test_the_earliest_vote_counts_and_unknown_times_come_last() -> None:
    votes = Votes.of(list("aaab"), ["ann", "ann", "ann", "bo"], list("xyzx"), when=[np.nan, 3, 5, np.nan])
    made = one_answer_per_task_and_worker(votes)
    assert said(made.votes) == [("a", "ann", "y", 1), ("b", "bo", "x", 1)]
    assert (made.n_left_out, made.n_shared) == (2, 0) and made.votes.answer is None


def test_of_soft_answers_the_first_counts_whole() -> None:
    columns = {"task": list("aaaaa"), "worker": ["ann"] * 4 + ["bo"], "label": list("xyxyx")}
    votes = Votes.of(**columns, weight=[0.7, 0.3, 0.1, 0.9, 1], answer=[4, 4, 5, 5, 6])
    assert said(one_answer_per_task_and_worker(votes).votes) == [
        ("a", "ann", "x", 0.7),
        ("a", "ann", "y", 0.3),
        ("a", "bo", "x", 1),
    ]
    later = Votes.of(**columns, weight=[0.7, 0.3, 0.1, 0.9, 1], answer=[4, 4, 5, 5, 6], when=[9, 9, 2, 2, 1])
    made = one_answer_per_task_and_worker(later)
    assert said(made.votes)[:2] == [("a", "ann", "x", 0.1), ("a", "ann", "y", 0.9)] and made.n_left_out == 1


def test_labels_of_unknown_order_share_one_vote_and_equal_ones_count_once() -> None:
    votes = Votes.of(list("aaaabb"), ["ann", "ann", "bo", "bo", "ann", "bo"], list("xyxxyy"))
    made = one_answer_per_task_and_worker(votes)
    assert said(made.votes) == [
        ("a", "ann", "x", 0.5),
        ("a", "ann", "y", 0.5),
        ("a", "bo", "x", 1),
        ("b", "ann", "y", 1),
        ("b", "bo", "y", 1),
    ]
    assert made.n_shared == 1 and made.votes.support.tolist() == [2, 2]
    only_said_again = Votes.of(list("aaa"), ["ann", "ann", "bo"], list("xxy"))
    plain = one_answer_per_task_and_worker(only_said_again).votes
    assert plain.weight is None and plain.answer is None and len(plain) == 2


def test_counts_without_names_are_never_repeats() -> None:
    votes = Votes.coded(
        task=np.array([0, 0, 0, 0]),
        worker=np.array([-1, -1, 0, 0]),
        label=np.array([0, 1, 0, 1]),
        weight=np.array([3.0, 2.0, 1.0, 1.0]),
        tasks=np.array(["a"]),
        workers=np.array(["ann"]),
        labels=np.array(["x", "y"]),
    )
    made = one_answer_per_task_and_worker(votes).votes
    assert made.support.tolist() == [6] and made.counts().tolist() == [[3.5, 2.5]]
