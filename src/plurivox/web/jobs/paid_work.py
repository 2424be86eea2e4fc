"""The work of each person, of which pay is computed: answers, time, and how often they said what most others say."""

from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection

from plurivox.core.types import Bools, Ints
from plurivox.web.store.report import pay_sheet
from plurivox.web.store.report.answer_cache import AnswerCache
from plurivox.web.store.report.pay_sheet import Person
from plurivox.web.store.report.row_cache import Columns, RowCache


@dataclass(frozen=True)
class WorkSummary:
    """What one person did."""

    pseudonym: str
    born: float
    excluded: str = ""  # why
    n_answers: int = 0  # repeats too
    active_ms: float = 0.0
    last: float = 0.0
    matched: int = 0  # answers that match others
    compared: int = 0  # answers to tasks that others have answered

    @property
    def total_ms(self) -> float:
        """From the first page to the last, pauses too."""
        return max(0.0, self.last - self.born) * 1000


@dataclass
class WorkCache:
    """What pay is computed from: all answers and visits to pages, and who gave them. `answers` may be shared."""

    answers: AnswerCache = field(default_factory=AnswerCache)
    visits: RowCache = field(default_factory=pay_sheet.visit_cache)
    people: dict[int, Person] = field(default_factory=dict)

    def read_new(self, connection: Connection) -> None:
        """Append what is not here yet, in place."""
        self.answers.read_new(connection)
        self.visits.read_new(connection)
        new = {*np.unique(self.answers.columns["worker"]).tolist()} - self.people.keys()
        self.people |= pay_sheet.find_people(connection, new)


def summarize_work(log: WorkCache) -> dict[int, WorkSummary]:
    """worker -> what they did, of everybody who has answered something but practice."""
    given, visited, excluded = log.answers.columns, log.visits.columns, log.answers.excluded
    counts = given["is_latest"] & ~given["is_practice"]
    ids, who = np.unique(given["worker"], return_inverse=True)
    n = len(ids)
    came = np.isin(visited["worker"], ids)
    guest = np.searchsorted(ids, visited["worker"][came])
    spent = np.maximum(0.0, np.nan_to_num(given["submitted"] - given["hidden"]))  # milliseconds; 0 where unknown
    active = np.bincount(who, spent, n) + np.bincount(guest, np.nan_to_num(visited["ms"][came]), n)
    last = np.zeros(n)
    np.maximum.at(last, who, given["at"])
    np.maximum.at(last, guest, visited["at"][came])
    said = _latest_answers(who, given, counts & given["is_task"])
    aside = np.isin(ids, np.fromiter(excluded, np.int64, len(excluded)))
    matched, compared = majority_matches(given["task"][said], given["top"][said], aside[who[said]])
    same, others = (np.bincount(who[said], one, n) for one in (matched, compared))
    sums = (np.bincount(who, counts, n), last, active, same, others)  # (n_workers,) each
    found = {}
    for worker, answers, at, ms, equal, held in zip(ids.tolist(), *(one.tolist() for one in sums), strict=True):
        if answers and worker in log.people:
            one, why = log.people[worker], excluded.get(worker, "")
            found[worker] = WorkSummary(one.pseudonym, one.born, why, int(answers), ms, at, int(equal), int(held))
    return found


def _latest_answers(who: Ints, given: Columns, counts: Bools) -> Ints:
    """The places of what each person last said of each task, among the answers that count."""
    first = np.flatnonzero(counts)
    order = first[np.lexsort((given["id"][first], given["task"][first], who[first]))]
    task, person = given["task"][order], who[order]
    is_last = np.ones(len(order), bool)
    is_last[:-1] = (task[1:] != task[:-1]) | (person[1:] != person[:-1])
    return np.asarray(order[is_last])


def majority_matches(task: Ints, label: Ints, aside: Bools) -> tuple[Bools, Bools]:
    """(n,) which answers match others, and (n,) which are to tasks that others have answered.

    A row is what one person says of one task: the label named first, -1 where none was. An answer matches if no label was
    named first by more of the others; those `aside` are nobody's others.

    >>> task, label = np.array([7, 7, 7, 8, 8]), np.array([0, 0, 1, 0, 1])
    >>> matches(task, label, np.zeros(5, bool))[0].tolist()  # without me, one of the first two and the third tie
    [True, True, False, False, False]
    """
    n_labels = int(label.max(initial=0)) + 1
    _, place = np.unique(task, return_inverse=True)
    counted = ~aside & (label >= 0)
    n_tasks = int(place.max(initial=-1)) + 1
    pair = place * n_labels + np.maximum(label, 0)
    there, times = np.unique(pair[counted], return_counts=True)
    order = np.lexsort((times, there // n_labels))  # by task, the most frequent label last
    held, often = there[order], times[order]
    of = held // n_labels
    first, second, best = (np.zeros(n_tasks, np.int64) for _ in range(3))
    last = np.append(of[1:] != of[:-1], True) if len(of) else np.zeros(0, bool)
    first[of[last]], best[of[last]] = often[last], held[last] % n_labels
    before = np.flatnonzero(~last & np.append(last[1:], False))  # the second most frequent
    second[of[before]] = often[before]
    at = np.minimum(np.searchsorted(there, pair), max(len(there) - 1, 0))
    own = np.where(there[at] == pair, times[at], 0) if len(there) else np.zeros(len(pair), np.int64)
    mine = np.where(label >= 0, own - counted, 0)  # how many others said the same
    rest = np.where((label == best[place]) & (label >= 0), second[place], first[place])
    most = np.maximum(rest, mine)
    return (label >= 0) & (most > 0) & (mine == most), most > 0
