"""Rule that removes exact copies of answers that were stored twice."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows, codes_of_equal_rows
from plurivox.core.array_types import Bools, Ints


@dataclass(frozen=True)
class StoredTwice(Rule):
    """Remove exact copies: answers of the same worker to the same task that are identical in all marks and times.

    Copies occur if a session was saved twice. A repeated answer that took another time is not removed, nor is an answer
    whose time is unknown. The first row stays.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("aab"), ["ann"] * 3, ["x", "x", "x"], seconds=[31.958, 31.958, 31.958])
    >>> clean(votes, ["stored-twice"]).audit.reason.tolist()
    ['identical to row 0']
    """

    needs: ClassVar[tuple[str, ...]] = ("times",)

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        candidates = _indices_sharing_worker_task_and_time(answer_rows)
        mask = np.zeros(len(answer_rows), bool)
        mask[candidates] = True
        codes = codes_of_equal_rows(
            _codes_of_equal_worker_task_and_time(answer_rows, candidates), answer_rows.codes_of_equal_content(mask)
        )
        _, first, same = np.unique(codes, return_index=True, return_inverse=True)
        original = candidates[first][same]  # the first of all identical answers
        is_copy = original != candidates
        copies, duplicate_of = candidates[is_copy], original[is_copy]
        reasons = [f"identical to row {row}" for row in answer_rows.source_row[duplicate_of].tolist()]
        return (Findings("answer", copies, np.full(len(copies), np.nan), reasons, duplicate_of=duplicate_of),)


def _indices_sharing_worker_task_and_time(answer_rows: AnswerRows) -> Ints:
    """Return the indices of answers that share worker, task, times and position with another answer; their time is known."""
    timed = np.zeros(len(answer_rows), bool)
    for times in (answer_rows.seconds, answer_rows.when):
        timed |= np.isfinite(times) if times is not None else False
    mine = np.flatnonzero(timed & (answer_rows.worker >= 0))
    pair = answer_rows.task[mine].astype(np.int64) * answer_rows.n_workers + answer_rows.worker[mine]
    # few workers give two answers to one task: only these need the slower comparison
    mine = mine[_occurs_more_than_once(pair)]
    return mine[_occurs_more_than_once(_codes_of_equal_worker_task_and_time(answer_rows, mine))]


def _occurs_more_than_once(codes: Ints) -> Bools:
    """(n,) whether each code occurs more than once among `codes`."""
    ordered = np.sort(codes)
    return np.isin(codes, ordered[1:][ordered[1:] == ordered[:-1]])


def _codes_of_equal_worker_task_and_time(answer_rows: AnswerRows, answer_indices: Ints) -> Ints:
    """(n,) an integer code for worker, task, times and position of each answer at `answer_indices`; equal if all are equal."""
    known = [answer_rows.worker, answer_rows.task]
    known += [np.nan_to_num(times, nan=-1) for times in (answer_rows.seconds, answer_rows.when) if times is not None]
    if answer_rows.answers is not None:
        places = (answer_rows.answers.position, answer_rows.answers.slot, answer_rows.answers.sitting)
        known += [column for column in places if column is not None]
    return codes_of_equal_rows(*(column[answer_indices] for column in known))
