"""Sort the rows of Votes, and check the rows that belong to one soft answer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Floats, Ints, smallest_unsigned_dtype
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_rows_dense_sparse import SUM_TOLERANCE


def sort_vote_columns_by_task_and_answer(
    task: Ints,
    worker: Ints,
    label: Ints,
    other_columns: dict[str, NDArray[Any]],
    n_tasks_workers_labels: tuple[int, int, int],
) -> dict[str, NDArray[Any]]:
    """Return the columns of votes, rows sorted by task, answer, worker, label, weight and times.

    `other_columns` are the optional columns by name; `n_tasks_workers_labels` is (n_tasks, n_workers, n_labels).
    """
    n_tasks, n_workers, n_labels = n_tasks_workers_labels
    if (
        not other_columns and n_tasks * (n_workers + 1) * n_labels < 2**63
    ):  # pack each row into one integer and sort those
        key = task.astype(np.int64)
        key *= n_workers + 1
        key += worker
        key += 1
        key *= n_labels
        key += label
        if (key[1:] < key[:-1]).any():
            key.sort()
        rest = key // max(n_labels, 1)
        key -= rest * n_labels
        label = key.astype(smallest_unsigned_dtype(n_labels))
        task = (rest // (n_workers + 1)).astype(np.int32)
        rest -= task.astype(np.int64) * (n_workers + 1)
        return {"task": task, "worker": (rest - 1).astype(np.int32), "label": label}
    keys = [other_columns[name] for name in ("seconds", "when", "weight") if name in other_columns]
    keys += [label, worker, *([other_columns["answer"]] if "answer" in other_columns else []), task]
    order = np.lexsort(keys)
    columns = {"task": task, "worker": worker, "label": label, **other_columns}
    return {name: column[order] for name, column in columns.items()}


def check_soft_answers(answer: Ints, task: Ints, worker: Ints, weight: Floats) -> None:
    """Raise InputError if the rows of one soft answer differ in task or worker, or their weights do not sum to one.

    A single row without a worker is a count, whose weight may be any number.
    """
    begins = np.ones(len(answer), bool)  # whether a row starts a run of rows with the same answer number
    begins[1:] = answer[1:] != answer[:-1]
    first = np.flatnonzero(begins)
    numbers = np.sort(answer[first])
    if (numbers[1:] == numbers[:-1]).any():  # rows of one answer are not adjacent
        order = np.argsort(answer, kind="stable")
        answer, task, worker, weight = answer[order], task[order], worker[order], weight[order]
        begins[1:] = answer[1:] != answer[:-1]
        first = np.flatnonzero(begins)
    mixed = ~begins[1:] & ((task[1:] != task[:-1]) | (worker[1:] != worker[:-1]))
    if mixed.any():
        named = first_few(np.unique(answer[1:][mixed]))
        raise InputError(
            f"all rows of an answer must have the same task and the same worker; check the answers {named}"
        )
    total = np.add.reduceat(weight, first) if len(first) else np.zeros(0)
    wrong = np.flatnonzero(np.abs(total - 1) > SUM_TOLERANCE)
    size = np.diff(first, append=len(answer))[wrong] if len(wrong) else wrong
    wrong = wrong[(size > 1) | (worker[first[wrong]] >= 0)]
    if len(wrong):
        named = first_few(np.sort(answer[first[wrong]]))
        raise InputError(f"the weights of one answer must sum to one; check the answers {named}")
