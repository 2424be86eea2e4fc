"""Summarize the work of each worker for the pay: answers, time, and how often the answer matches the majority."""

from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection

from plurivox.core.array_types import Bools, Ints
from plurivox.web.store.report import stored_pay_sheet
from plurivox.web.store.report.answer_cache import AnswerCache
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
    last: float = 0.0  # time of the last answer or visit
    matched: int = 0  # answers that match the majority of the others
    compared: int = 0  # answers to tasks that others have answered

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


def sum_answers_time_and_matches_by_worker(cache: WorkCache) -> dict[int, WorkSummary]:
    """Return worker id -> answers, time and majority matches, for every worker with an answer besides practice."""
    given, visited, excluded = cache.answers.columns, cache.visits.columns, cache.answers.excluded
    counts = given["is_latest"] & ~given["is_practice"]
    ids, worker_of = np.unique(given["worker"], return_inverse=True)
    n = len(ids)
    known = np.isin(visited["worker"], ids)
    visitor = np.searchsorted(ids, visited["worker"][known])
    spent = np.maximum(0.0, np.nan_to_num(given["submitted"] - given["hidden"]))  # milliseconds; 0 if unknown
    active = np.bincount(worker_of, spent, n) + np.bincount(visitor, np.nan_to_num(visited["ms"][known]), n)
    last = np.zeros(n)
    np.maximum.at(last, worker_of, given["at"])
    np.maximum.at(last, visitor, visited["at"][known])
    rows = _rows_of_latest_answer_per_worker_and_task(worker_of, given, counts & given["is_task"])
    is_excluded = np.isin(ids, np.fromiter(excluded, np.int64, len(excluded)))
    matched, compared = matches_others_majority_and_has_others(
        given["task"][rows], given["top"][rows], is_excluded[worker_of[rows]]
    )
    same, others = (np.bincount(worker_of[rows], one, n) for one in (matched, compared))
    sums = (np.bincount(worker_of, counts, n), last, active, same, others)  # (n_workers,) each
    found = {}
    for worker, answers, at, ms, equal, held in zip(ids.tolist(), *(one.tolist() for one in sums), strict=True):
        if answers and worker in cache.people:
            one, why = cache.people[worker], excluded.get(worker, "")
            found[worker] = WorkSummary(one.pseudonym, one.born, why, int(answers), ms, at, int(equal), int(held))
    return found


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
