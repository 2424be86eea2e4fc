"""Several answers of a worker to one task: which of them count, and which one an answer repeats."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.types import Bools, Ints, Names


def settle_repeats(
    columns: dict[str, Any], names: Mapping[str, Names], rule: Literal["first", "last", "error"]
) -> tuple[dict[str, Any], list[str]]:
    """The columns with one answer of a worker to a task, the first or the last, and notes on what was dropped.

    Raises where the rule is `error` and an answer is repeated.
    """
    pair = _pairs(columns, len(names["worker"]))
    later = _later(pair, columns, last=rule == "last")
    n_later = int(later.sum()) if "answer" not in columns else len(np.unique(columns["answer"][later]))
    if not n_later:
        return columns, []
    if rule == "error":
        at = np.flatnonzero(later)
        who = [(names["worker"][columns["worker"][i]], names["task"][columns["task"][i]]) for i in at[:3]]
        told = ", ".join(f"{w} on {t}" for w, t in who)
        raise InputError(f"{n_later:,} answers repeat a worker's answer to the same task ({told}); choose repeats")
    note = f"{n_later:,} repeated answers of a worker to the same task dropped; the {rule} one is kept"
    return {name: column[~later] for name, column in columns.items()}, [note]


def _pairs(columns: dict[str, Any], n_workers: int) -> Ints:
    """(n_rows,) one number for every (task, worker); unnamed votes all differ."""
    pair = columns["task"].astype(np.int64) * max(n_workers, 1) + columns["worker"]
    unnamed = columns["worker"] < 0
    if unnamed.any():
        pair[unnamed] = -1 - np.arange(int(unnamed.sum()))
    return pair


def _later(pair: Ints, columns: dict[str, Any], *, last: bool) -> Bools:
    """(n_rows,) rows that belong to a pair's answers beyond the first (or before the last), by time where it is known."""
    n = len(pair)
    answer = columns.get("answer", np.arange(n))
    time = np.nan_to_num(columns["when"], nan=np.inf) if "when" in columns else np.zeros(n)
    came = np.arange(n)
    order = np.lexsort((-came if last else came, -time if last else time, pair))
    new_pair = np.append(True, np.diff(pair[order]) != 0)
    chosen = answer[order][np.maximum.accumulate(np.where(new_pair, np.arange(n), 0))]
    out = np.zeros(n, bool)
    out[order] = answer[order] != chosen
    return out


def earlier_answers(worker: Ints, task: Ints, sitting: Ints, time: Ints) -> Ints:
    """(n_answers,) the worker's latest earlier answer to the same task in the same sitting; -1 where there is none."""
    order, begins = _grouped(worker, task, sitting, _copies(worker, sitting, time), then=time)
    earlier = np.full(len(time), -1)
    earlier[order[1:][~begins[1:]]] = order[:-1][~begins[1:]]
    return earlier


def _copies(worker: Ints, sitting: Ints, time: Ints) -> Ints:
    """(n_answers,) 0, but 1 for the second answer at one place of one sitting, and so on: a sitting stored twice."""
    order, begins = _grouped(worker, sitting, time, then=np.arange(len(time)))
    place = np.arange(len(order))
    copy = np.empty(len(order), np.int64)
    copy[order] = place - np.maximum.accumulate(np.where(begins, place, 0))
    return copy


def _grouped(*keys: Ints, then: Ints) -> tuple[Ints, Bools]:
    """The order by these keys, then by the last, then as they came; and which rows begin a group of equal keys."""
    order = np.lexsort((np.arange(len(then)), then, *reversed(keys)))
    begins = np.ones(len(then), bool)
    begins[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    return order, begins
