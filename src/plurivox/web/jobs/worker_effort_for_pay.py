"""Summarize the work of each worker for the pay: answers, time, and how often the answer matches the majority."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.web.store.collect.workers import STAGES
from plurivox.web.store.report import stored_pay_sheet
from plurivox.web.store.report.answer_cache import AnswerCache
from plurivox.web.store.report.answer_times import (
    ActiveTimes,
    active_times_of_answers,
    active_times_of_visits,
    milliseconds_covered_by_group,
)
from plurivox.web.store.report.row_cache import Columns, RowCache
from plurivox.web.store.report.stored_pay_sheet import Person


@dataclass(frozen=True)
class WorkSummary:
    """Answers, time and majority matches of one worker, from which the pay is computed."""

    pseudonym: str
    born: float  # when the worker entered
    excluded: str = ""  # the rule; empty if not excluded
    n_answers: int = 0  # including repeats
    active_ms: float = 0.0
    last: float = 0.0  # time of the last answer or visit; after the tasks, at most the paid time of a page counts
    matched: int = 0  # answers that match the majority of the others
    compared: int = 0  # answers to tasks that others have answered
    claimed_ms: float = 0.0  # active time as the client claims it
    impossible: int = 0  # answers with an impossible time, see `answer_times`
    impossible_pages: int = 0  # visits to other pages, likewise
    impossible_claimed_ms: float = 0.0  # time claimed for these
    impossible_counted_ms: float = 0.0  # time counted for these
    page_ms: float = 0.0  # active time on pages besides the tasks
    page_excess_ms: float = 0.0  # time on such pages not counted, because one page took longer than is paid
    late_ms: float = 0.0  # time not counted, because an answer was changed after the tasks
    after_tasks_ms: float = 0.0  # from `last` to the last answer or visit of all
    overlap_ms: float = 0.0  # time not counted, because it was claimed for several tasks at once

    @property
    def ms_from_entry_to_last_activity(self) -> float:
        """Milliseconds from a worker's entry into the study to the last answer or visit, including pauses."""
        return max(0.0, self.last - self.born) * 1000


@dataclass
class WorkCache:
    """In-memory cache of the data that pay is computed from: all answers, visits to stages, and workers."""

    answers: AnswerCache = field(default_factory=AnswerCache)
    visits: RowCache = field(default_factory=stored_pay_sheet.create_empty_cache_of_stage_visits)
    people: dict[int, Person] = field(default_factory=dict)

    def append_new_work_from_database(self, connection: Connection) -> None:
        """Read new answers, stage visits and workers from the database and append them to the cache, in place."""
        self.answers.append_new_rows_and_return_count(connection)
        self.visits.append_new_rows_and_return_count(connection)
        new = {*np.unique(self.answers.columns["worker"]).tolist()} - self.people.keys()
        self.people |= stored_pay_sheet.pseudonym_and_entry_time_by_worker_id(connection, new)


def sum_answers_time_and_matches_by_worker(cache: WorkCache, longest_page_ms: float = np.inf) -> dict[int, WorkSummary]:
    """Return worker id -> answers, time and majority matches, for every worker with an answer besides practice.

    At most `longest_page_ms` of each page besides the tasks count.
    """
    given, visited, excluded = cache.answers.columns, cache.visits.columns, cache.answers.excluded
    counts = given["is_latest"] & ~given["is_practice"]
    ids, worker_of = np.unique(given["worker"], return_inverse=True)
    n = len(ids)
    known = np.isin(visited["worker"], ids)
    visitor = np.searchsorted(ids, visited["worker"][known])
    born = np.array([cache.people[one].born if one in cache.people else np.nan for one in ids.tolist()])
    visits = {name: column[known] for name, column in visited.items()}
    times = _paid_times_by_worker((worker_of, given), (visitor, visits), born, longest_page_ms)
    rows = _rows_of_latest_answer_per_worker_and_task(worker_of, given, counts & given["is_task"])
    is_excluded = np.isin(ids, np.fromiter(excluded, np.int64, len(excluded)))
    matched, compared = matches_others_majority_and_has_others(
        given["task"][rows], given["top"][rows], is_excluded[worker_of[rows]]
    )
    same, others = (np.bincount(worker_of[rows], one, n) for one in (matched, compared))
    n_answers = np.bincount(worker_of, counts, n)
    return {
        worker: WorkSummary(
            cache.people[worker].pseudonym,
            cache.people[worker].born,
            excluded.get(worker, ""),
            n_answers=int(n_answers[code]),
            matched=int(same[code]),
            compared=int(others[code]),
            **{name: one[code].item() for name, one in times.items()},
        )
        for code, worker in enumerate(ids.tolist())
        if n_answers[code] and worker in cache.people
    }


def _paid_times_by_worker(
    answers: tuple[Ints, Columns], visits: tuple[Ints, Columns], born: Floats, longest_page_ms: float
) -> dict[str, Any]:
    """Return the times of each worker that are paid and what is left out, as name of a field of WorkSummary -> (n_workers,).

    `answers` and `visits` are worker codes and cached columns.
    """
    (worker_of, given), (visitor, visited), n = answers, visits, len(born)
    left_tasks = np.full(n, -np.inf)
    ends = visited["stage"] == STAGES.index("tasks")
    np.maximum.at(left_tasks, visitor[ends], visited["at"][ends])
    left_tasks[np.isinf(left_tasks)] = np.inf  # not yet
    answer_times = active_times_of_answers(given)
    page_times = active_times_of_visits(visitor, visited["ms"], visited["at"], born[visitor])
    paid_answer_times = _without_time_after(answer_times, left_tasks[worker_of])
    paid_page_times = _limited_per_page(page_times, visitor * len(STAGES) + visited["stage"], longest_page_ms)
    times = _active_times_by_worker(n, (worker_of, paid_answer_times), (visitor, paid_page_times))
    times["page_ms"] = np.bincount(visitor, np.nan_to_num(paid_page_times.counted_ms), n)
    times["page_excess_ms"] = _sum_of_differences(visitor, page_times, paid_page_times, n)
    times["late_ms"] = _sum_of_differences(worker_of, answer_times, paid_answer_times, n)
    last, last_of_all = np.zeros(n), np.zeros(n)
    for worker, at, end in (
        (worker_of, given["at"], left_tasks[worker_of]),
        (visitor, visited["at"], left_tasks[visitor] + longest_page_ms / 1000),
    ):
        np.maximum.at(last, worker, np.minimum(at, end))
        np.maximum.at(last_of_all, worker, at)
    return times | {"last": last, "after_tasks_ms": 1000 * (last_of_all - last)}


def _limited_per_page(times: ActiveTimes, page: Ints, longest_ms: float) -> ActiveTimes:
    """Return the times of visits so that those of one worker to one page (`page`, a number for each) count up to a limit."""
    if np.isinf(longest_ms):
        return times
    order = np.argsort(page, kind="stable")
    counted = np.nan_to_num(times.counted_ms)[order]
    until = np.cumsum(counted)
    before = until - counted
    first = np.append(True, np.diff(page[order]) != 0)[: len(order)]
    before -= before[first][np.cumsum(first) - 1]  # on the same page
    limited = np.empty_like(counted)
    limited[order] = np.clip(longest_ms - before, 0, counted)
    return replace(times, counted_ms=np.where(np.isnan(times.counted_ms), np.nan, limited))


def _without_time_after(times: ActiveTimes, left_tasks: Floats) -> ActiveTimes:
    """Return the times of answers without what comes after their worker has left the tasks (inf: not yet).

    An answer can still be changed then, but the time until someone does so is not work.
    """
    end = np.minimum(times.end, left_tasks)
    seen_ms = np.where(np.isnan(times.start), np.inf, 1000 * np.maximum(0.0, end - times.start))
    return replace(times, end=end, counted_ms=np.minimum(times.counted_ms, seen_ms))


def _sum_of_differences(worker: Ints, times: ActiveTimes, paid_times: ActiveTimes, n_workers: int) -> Floats:
    """Return (n_workers,) the milliseconds that count in `times` and not in `paid_times`, which have the same rows."""
    left_out = np.nan_to_num(times.counted_ms - paid_times.counted_ms)
    return np.bincount(worker, left_out, n_workers).astype(np.float64)


def _active_times_by_worker(
    n_workers: int, answers: tuple[Ints, ActiveTimes], visits: tuple[Ints, ActiveTimes]
) -> dict[str, Any]:
    """Return the sums of the times of each worker, as name of a field of WorkSummary -> (n_workers,) array.

    `answers` and `visits` are worker codes and times. What a worker claims for several tasks at once counts once: the sum is
    at most the length of the union of the server's intervals.
    """
    worker = np.concatenate([answers[0], visits[0]])
    parts = {
        name: np.concatenate([getattr(answers[1], name), getattr(visits[1], name)])
        for name in ("claimed_ms", "counted_ms", "impossible", "start", "end")
    }
    claimed, counted = np.nan_to_num(parts["claimed_ms"]), np.nan_to_num(parts["counted_ms"])
    on_clock = ~np.isnan(parts["start"])  # the others are imported
    used = on_clock & (counted > 0)
    covered = milliseconds_covered_by_group(worker[used], n_workers, parts["start"][used], parts["end"][used])
    seen = np.bincount(worker, counted * on_clock, n_workers)
    overlap = np.maximum(0.0, seen - covered)
    return {
        "active_ms": np.bincount(worker, counted, n_workers) - overlap,
        "claimed_ms": np.bincount(worker, claimed, n_workers),
        "impossible": np.bincount(answers[0][answers[1].impossible], minlength=n_workers),
        "impossible_pages": np.bincount(visits[0][visits[1].impossible], minlength=n_workers),
        "impossible_claimed_ms": np.bincount(worker, claimed * parts["impossible"], n_workers),
        "impossible_counted_ms": np.bincount(worker, counted * parts["impossible"], n_workers),
        "overlap_ms": overlap,
    }


def _rows_of_latest_answer_per_worker_and_task(worker_codes: Ints, answer_columns: Columns, is_counted: Bools) -> Ints:
    """Return the row numbers of each worker's latest answer to each task, among the answers with `is_counted`."""
    rows = np.flatnonzero(is_counted)
    order = rows[np.lexsort((answer_columns["id"][rows], answer_columns["task"][rows], worker_codes[rows]))]
    task, person = answer_columns["task"][order], worker_codes[order]
    is_last = np.ones(len(order), bool)
    is_last[:-1] = (task[1:] != task[:-1]) | (person[1:] != person[:-1])
    return np.asarray(order[is_last])


def matches_others_majority_and_has_others(
    task_of_answer: Ints, label_of_answer: Ints, is_by_excluded_worker: Bools
) -> tuple[Bools, Bools]:
    """Return (n_answers,) whether each answer matches the majority of the others, and (n_answers,) whether others answered.

    A row is one worker's answer to one task: the label named first, -1 if none. An answer matches if no other label was named
    first by more of the other workers; excluded workers are not counted among the others.

    >>> task, label = np.array([7, 7, 7, 8, 8]), np.array([0, 0, 1, 0, 1])
    >>> matches_others_majority_and_has_others(task, label, np.zeros(5, bool))[0].tolist()  # a tie without the own vote
    [True, True, False, False, False]
    """
    n_labels = int(label_of_answer.max(initial=0)) + 1
    _, place = np.unique(task_of_answer, return_inverse=True)
    counted = ~is_by_excluded_worker & (label_of_answer >= 0)
    n_tasks = int(place.max(initial=-1)) + 1
    pair = place * n_labels + np.maximum(label_of_answer, 0)
    pairs, votes = np.unique(pair[counted], return_counts=True)
    order = np.lexsort((votes, pairs // n_labels))  # by task, the most frequent label last
    sorted_pairs, sorted_votes = pairs[order], votes[order]
    of = sorted_pairs // n_labels
    first, second, best = (np.zeros(n_tasks, np.int64) for _ in range(3))
    last = np.append(of[1:] != of[:-1], True) if len(of) else np.zeros(0, bool)
    first[of[last]], best[of[last]] = sorted_votes[last], sorted_pairs[last] % n_labels
    before = np.flatnonzero(~last & np.append(last[1:], False))  # the second most frequent
    second[of[before]] = sorted_votes[before]
    at = np.minimum(np.searchsorted(pairs, pair), max(len(pairs) - 1, 0))
    with_own = np.where(pairs[at] == pair, votes[at], 0) if len(pairs) else np.zeros(len(pair), np.int64)
    same = np.where(label_of_answer >= 0, with_own - counted, 0)  # others with the same label
    rest = np.where((label_of_answer == best[place]) & (label_of_answer >= 0), second[place], first[place])
    most = np.maximum(rest, same)
    return (label_of_answer >= 0) & (most > 0) & (same == most), most > 0
