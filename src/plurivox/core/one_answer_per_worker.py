"""Votes with one answer per task and worker: repeated answers of one person are not answers of several people."""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Ints
from plurivox.core.votes import Votes


class OneAnswerEach(NamedTuple):
    """Votes with one answer of each worker to each task, and what was left out or merged to get there."""

    votes: Votes
    n_left_out: int  # answers that are not the first of their worker to the task
    n_shared: (
        int  # (task, worker) pairs whose different labels share one vote, since none of them is known to be the first
    )


def one_answer_per_task_and_worker(votes: Votes, *, as_sets: bool = False) -> OneAnswerEach:
    """Return the votes with one answer of each worker to each task: the first, by time or else by answer number.

    Rows of votes without an answer number that have the same time, or no time, may be a set of labels (multi-label) or
    repeats in an unknown order: their labels share one vote in proportion to their weights, as a soft answer. A label that
    is only said again counts once. `as_sets`: all labels of a worker for a task are one set, also those of later answers.
    Votes without a worker are unchanged.

    >>> votes = Votes.of(list("aaab"), ["ann", "ann", "bo", "ann"], ["x", "y", "x", "y"], when=[2, 1, 1, 1])
    >>> first = one_answer_per_task_and_worker(votes)
    >>> first.votes.labels[first.votes.label].tolist(), first.n_left_out
    (['y', 'x', 'y'], 1)
    >>> shared = one_answer_per_task_and_worker(Votes.of(list("aaab"), ["ann", "ann", "bo", "ann"], ["x", "y", "x", "y"]))
    >>> shared.votes.weights.tolist(), shared.n_shared
    ([0.5, 0.5, 1.0, 1.0], 1)
    """
    if not votes.n_repeats:
        return OneAnswerEach(votes, 0, 0)
    known = _computed.setdefault(votes, {})
    if as_sets not in known:
        known[as_sets] = _one_answer_each(votes, as_sets)
    return known[as_sets]


_computed: WeakKeyDictionary[Votes, dict[bool, OneAnswerEach]] = WeakKeyDictionary()  # kept as long as the votes are


def _one_answer_each(votes: Votes, as_sets: bool) -> OneAnswerEach:
    """Return what `one_answer_per_task_and_worker` does for votes with repeated answers."""
    if votes.answer is not None and not as_sets:
        kept = votes.where(_is_in_first_answer(votes))
        return OneAnswerEach(kept, round(votes.n_answers - kept.n_answers), 0)
    kept = votes if as_sets or votes.when is None else votes.where(_has_earliest_time_of_task_and_worker(votes))
    merged, n_shared = _rows_of_each_task_and_worker_as_one_answer(kept)
    return OneAnswerEach(merged, len(votes) - len(kept), n_shared)


def is_first_answer_of_worker_to_task(answers: Answers) -> Bools:
    """Return (n_answers,) whether an answer is its worker's first to the task: not marked as a repeat, and none is earlier.

    Answers without a time are in the order of their rows. An answer without a worker is a first answer.

    >>> marks = [[("named", "x", "")]] * 3
    >>> is_first_answer_of_worker_to_task(Answers.of(list("aba"), ["ann"] * 3, marks, when=np.array([2.0, 1, 1])))
    array([False,  True,  True])
    """
    repeat = np.zeros(len(answers), bool) if answers.repeat_of is None else answers.repeat_of >= 0
    time = np.zeros(len(answers)) if answers.when is None else np.nan_to_num(answers.when, nan=np.inf, posinf=np.inf)
    pair = answers.task.astype(np.int64) * max(len(answers.workers), 1) + answers.worker
    order = np.lexsort((np.arange(len(answers)), time, repeat, pair))
    later = np.append(False, np.diff(pair[order]) == 0)[: len(order)]
    first = np.ones(len(answers), bool)
    first[order[later]] = False
    return (first & ~repeat) | (answers.worker < 0)


def _numbers_of_task_and_worker(votes: Votes) -> Ints:
    """Return (n_rows,) a number that rows share if they have the same task and named worker; unnamed rows all differ."""
    pair = votes.task.astype(np.int64) * max(votes.n_workers, 1) + votes.worker
    unnamed = votes.worker < 0
    pair[unnamed] = -1 - np.arange(int(unnamed.sum()))
    return np.unique(pair, return_inverse=True)[1].astype(np.int64)


def _is_in_first_answer(votes: Votes) -> Bools:
    """Return (n_rows,) whether a row is in the first answer of its worker to its task, by time, then by answer number."""
    assert votes.answer is not None
    pair = _numbers_of_task_and_worker(votes)
    time = np.zeros(len(votes)) if votes.when is None else np.nan_to_num(votes.when, nan=np.inf, posinf=np.inf)
    order = np.lexsort((votes.answer, time, pair))
    first = np.searchsorted(pair[order], np.arange(int(pair.max(initial=-1)) + 1))
    return np.asarray(votes.answer == votes.answer[order][first][pair])


def _has_earliest_time_of_task_and_worker(votes: Votes) -> Bools:
    """Return (n_rows,) whether no row of the same task and worker is earlier; unknown times come last."""
    assert votes.when is not None
    pair = _numbers_of_task_and_worker(votes)
    time = np.nan_to_num(votes.when, nan=np.inf, posinf=np.inf)
    earliest = np.full(int(pair.max(initial=-1)) + 1, np.inf)
    np.minimum.at(earliest, pair, time)
    return np.asarray(time == earliest[pair])


def _rows_of_each_task_and_worker_as_one_answer(votes: Votes) -> tuple[Votes, int]:
    """Return the votes with the rows of each task and worker as one answer, and how many of these have several labels.

    Their weights are divided by their sum, except of a single row. The result has no answer numbers if every answer is one
    row.
    """
    pair = _numbers_of_task_and_worker(votes)
    cell, row, back = np.unique(pair * max(votes.n_labels, 1) + votes.label, return_index=True, return_inverse=True)
    pair_of_cell = cell // max(votes.n_labels, 1)
    weight = np.bincount(back, votes.weights, minlength=len(cell)).astype(np.float64)
    n_rows = np.bincount(pair)
    total = np.where(n_rows > 1, np.bincount(pair_of_cell, weight), 1.0)
    weight /= np.where(total > 0, total, 1.0)[pair_of_cell]
    several = np.bincount(pair_of_cell) > 1
    soft = bool(several.any())
    columns = {name: getattr(votes, name)[row] for name in ("task", "worker", "label")}
    columns |= {name: column[row] for name in ("when", "seconds") if (column := getattr(votes, name)) is not None}
    return (
        Votes.coded(
            **columns,
            weight=weight if soft or votes.weight is not None else None,
            answer=pair_of_cell if soft else None,
            tasks=votes.tasks,
            workers=votes.workers,
            labels=votes.labels,
            scale=votes.scale,
            notes=votes.notes,
            missing=votes.missing,
        ),
        int(several.sum()),
    )
