"""Repeated answers of a worker to the same task: drop all but the first or last, or find which answer is repeated."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from plurivox.core.array_types import Bools, Ints, Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError


def drop_repeats_and_return_notes(
    vote_columns: dict[str, Any], names_by_role: Mapping[str, Names], rule: Literal["first", "last", "error"]
) -> tuple[dict[str, Any], list[str]]:
    """Return the columns with only the first (or last) answer of a worker to a task, and notes on what was dropped.

    Raise InputError if the rule is `error` and an answer is repeated.
    """
    pair = _task_worker_pair_numbers(vote_columns, len(names_by_role["worker"]))
    repeated = _is_outside_first_or_last_answer(pair, vote_columns, last=rule == "last")
    n_repeated = (
        int(repeated.sum()) if "answer" not in vote_columns else len(np.unique(vote_columns["answer"][repeated]))
    )
    if not n_repeated:
        return vote_columns, []
    if rule == "error":
        rows = np.flatnonzero(repeated)
        pairs = [
            (names_by_role["worker"][vote_columns["worker"][i]], names_by_role["task"][vote_columns["task"][i]])
            for i in rows[:3]
        ]
        examples = ", ".join(f"{w} on {t}" for w, t in pairs)
        raise InputError(
            f"{count_text(n_repeated, 'answer repeats', 'answers repeat')} a worker's answer to the same task ({examples}); "
            "drop these rows, or set repeats to keep, first or last"
        )
    note = f"{count_text(n_repeated, 'repeated answer')} of a worker to the same task dropped; the {rule} one is kept"
    return {name: column[~repeated] for name, column in vote_columns.items()}, [note]


def _task_worker_pair_numbers(columns: dict[str, Any], n_workers: int) -> Ints:
    """Return (n_rows,) a number that identifies the (task, worker) of each row; unnamed votes all differ."""
    pair = columns["task"].astype(np.int64) * max(n_workers, 1) + columns["worker"]
    unnamed = columns["worker"] < 0
    if unnamed.any():
        pair[unnamed] = -1 - np.arange(int(unnamed.sum()))
    return pair


def _is_outside_first_or_last_answer(task_worker_pair: Ints, vote_columns: dict[str, Any], *, last: bool) -> Bools:
    """Return (n_rows,) whether a row is not in the first (or last) answer of its (task, worker), by time if known."""
    n = len(task_worker_pair)
    answer = vote_columns.get("answer", np.arange(n))
    time = np.nan_to_num(vote_columns["when"], nan=np.inf) if "when" in vote_columns else np.zeros(n)
    came = np.arange(n)
    order = np.lexsort((-came if last else came, -time if last else time, task_worker_pair))
    new_pair = np.append(True, np.diff(task_worker_pair[order]) != 0)
    chosen = answer[order][np.maximum.accumulate(np.where(new_pair, np.arange(n), 0))]
    out = np.zeros(n, bool)
    out[order] = answer[order] != chosen
    return out


def find_previous_answer_in_same_sitting(worker: Ints, task: Ints, sitting: Ints, time: Ints) -> Ints:
    """Return (n_answers,) the row of the worker's previous answer to the task in the same sitting (session); -1 if none."""
    order, begins = _row_order_and_first_of_group(
        worker, task, sitting, _count_earlier_rows_with_same_time(worker, sitting, time), then=time
    )
    earlier = np.full(len(time), -1)
    earlier[order[1:][~begins[1:]]] = order[:-1][~begins[1:]]
    return earlier


def _count_earlier_rows_with_same_time(worker: Ints, sitting: Ints, time: Ints) -> Ints:
    """Return (n_answers,) 0 for an answer, 1 for its second copy, ..., if a sitting (session) is stored several times."""
    order, begins = _row_order_and_first_of_group(worker, sitting, time, then=np.arange(len(time)))
    place = np.arange(len(order))
    copy = np.empty(len(order), np.int64)
    copy[order] = place - np.maximum.accumulate(np.where(begins, place, 0))
    return copy


def _row_order_and_first_of_group(*keys: Ints, then: Ints) -> tuple[Ints, Bools]:
    """Return the row order by `keys`, then by `then`; and whether each row in that order is the first with its keys."""
    order = np.lexsort((np.arange(len(then)), then, *reversed(keys)))
    begins = np.ones(len(then), bool)
    begins[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    return order, begins
