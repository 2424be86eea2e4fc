"""`AnswerRows`: answers or votes as columns with one row per answer, the common input of cleaning rules."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.name_encoding import encode, positions
from plurivox.core.parse_typed_percents import Percents, parse_percents
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

# codes in `truth`: no known label; a known label that is not among the labels of the answers
UNKNOWN, UNLISTED = (
    -1,
    -2,
)


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Answers or votes as columns with one row per answer; the votes rows of one soft answer become one row."""

    task: Ints  # (n,) code into `tasks`
    worker: Ints  # (n,) code into `workers`; -1: no worker is named
    top: Ints  # (n,) code of the label named first, or with the most weight; -1: none, can't tell, none of these
    tasks: Names
    workers: Names
    labels: Names
    answer_of_row: Ints  # (n_rows,) the answer that each row of the source belongs to
    source_row: Ints  # (n,) the first row of each answer in the original source, before any rule removed rows
    seconds: Floats | None = None  # (n,)
    when: Floats | None = None  # (n,)
    answers: Answers | None = None  # the source with all its marks; None if the source is votes
    votes: Votes | None = None
    truth: Ints | None = None  # (n_tasks,) code of the known label, UNKNOWN or UNLISTED; None: no gold was given

    @classmethod
    def from_answers_or_votes(
        cls, answers_or_votes: Answers | Votes, gold: SoftLabels | None = None, source_row: Ints | None = None
    ) -> Self:
        """Return answers or votes as rows, one per answer, with the known labels of their tasks if `gold` is given.

        `source_row` (n_rows,) is the number of each row in the original source, before other rules removed rows.
        """
        answer_of_row, first = (
            (np.arange(len(answers_or_votes)),) * 2
            if isinstance(answers_or_votes, Answers)
            else _answer_of_each_row_and_first_rows(answers_or_votes)
        )
        times = {
            name: None if (c := getattr(answers_or_votes, name)) is None else c[first] for name in ("seconds", "when")
        }
        return cls(
            task=answers_or_votes.task[first],
            worker=answers_or_votes.worker[first],
            top=_first_named_label_per_answer(answers_or_votes)
            if isinstance(answers_or_votes, Answers)
            else _heaviest_label_per_answer(answers_or_votes, answer_of_row, first),
            tasks=answers_or_votes.tasks,
            workers=answers_or_votes.workers,
            labels=answers_or_votes.labels,
            answer_of_row=answer_of_row,
            source_row=first if source_row is None else source_row[first],
            seconds=times["seconds"],
            when=times["when"],
            answers=answers_or_votes if isinstance(answers_or_votes, Answers) else None,
            votes=answers_or_votes if isinstance(answers_or_votes, Votes) else None,
            truth=None if gold is None else _gold_label_code_per_task(answers_or_votes, gold),
        )

    def __len__(self) -> int:
        return len(self.task)

    @property
    def n_workers(self) -> int:
        return len(self.workers)

    @cached_property
    def parsed_percents_of_marks(self) -> Percents:
        """(n_marks,) the text typed beside each label that an answer marks, parsed as percents; not for votes."""
        assert self.answers is not None
        return parse_percents(self.answers.mark_typed)

    def count_answers_by_worker(self, answer_mask: Bools | None = None) -> Ints:
        """(n_workers,) the number of answers of each worker; only those in `answer_mask` (n_answers,) if it is given."""
        mine = self.worker >= 0 if answer_mask is None else answer_mask & (self.worker >= 0)
        return np.bincount(self.worker[mine], minlength=self.n_workers)

    # ---- order and repeats

    @property
    def is_answer_order_known(self) -> bool:
        """Whether it is known which answer came first: always for an answers table, for votes only if all have a time."""
        return self.answers is not None or (self.when is not None and bool(np.isfinite(self.when).all()))

    @cached_property
    def order_by_worker_task_and_time(self) -> Ints:
        """(n_answers,) indices that sort the answers by worker, then task, then the order in which they were given.

        That order is by time if every time is known; else by sitting and position if they are known; else by row.
        """
        keys: list[Ints | Floats] = [np.arange(len(self))]
        if self.answers is not None and self.answers.position is not None:
            keys.append(self.answers.position)
            if self.answers.sitting is not None:
                _, begins, code = np.unique(self.answers.sitting, return_index=True, return_inverse=True)
                keys.append(begins[code])  # sittings in the order of their first rows
        if self.when is not None and np.isfinite(self.when).all():
            keys.append(self.when)
        return np.lexsort([*keys, self.task, self.worker])

    def previous_answers_to_same_task(self, answer_mask: Bools | None = None) -> Ints:
        """(n_answers,) index of the worker's previous answer to the task, -1 if none; only among those in `answer_mask`."""
        order = (
            self.order_by_worker_task_and_time
            if answer_mask is None
            else self.order_by_worker_task_and_time[answer_mask[self.order_by_worker_task_and_time]]
        )
        a, b = order[:-1], order[1:]
        same = (self.worker[a] == self.worker[b]) & (self.task[a] == self.task[b]) & (self.worker[a] >= 0)
        out = np.full(len(self), -1)
        out[b[same]] = a[same]
        return out

    @property
    def mask_of_marked_repeats(self) -> Bools:
        """(n_answers,) whether the column `repeat_of` marks the answer as a repeat of an earlier one; all False for votes."""
        if self.answers is None or self.answers.repeat_of is None:
            return np.zeros(len(self), bool)
        return np.asarray(self.answers.repeat_of >= 0)

    @cached_property
    def later_and_earlier_repeat_indices(self) -> tuple[Ints, Ints]:
        """(later, earlier): indices of repeated answers and of those they repeat; if none are marked, of successive answers."""
        if self.answers is not None and self.answers.repeat_of is not None:
            later = np.flatnonzero(self.mask_of_marked_repeats)
            return later, self.answers.repeat_of[later]
        earlier = self.previous_answers_to_same_task()
        later = np.flatnonzero(earlier >= 0)
        return later, earlier[later]

    def codes_of_equal_content(self, answer_mask: Bools) -> Ints:
        """Return a code for the content (labels, percents) of each answer in `answer_mask`; equal content has equal codes."""
        if self.answers is None:
            assert self.votes is not None
            rows = np.flatnonzero(answer_mask[self.answer_of_row])
            answer_of_row = (np.cumsum(answer_mask) - 1)[self.answer_of_row[rows]]
            order = np.lexsort((self.votes.label[rows], answer_of_row))
            start = np.searchsorted(answer_of_row[order], np.arange(int(answer_mask.sum()) + 1))
            codes = codes_of_equal_rows(self.votes.label[rows], self.votes.weights[rows])
            return _codes_of_equal_lists(codes[order], start)
        a = self.answers.where(answer_mask)
        marks = _codes_of_equal_lists(codes_of_equal_rows(a.mark_kind, a.mark_label, a.mark_typed), a.mark_start)
        return codes_of_equal_rows(marks, *(c for c in (a.form, a.abstain, a.none_of_these) if c is not None))

    # ---- known labels

    @cached_property
    def correctness_of_each_answer(self) -> Floats:
        """(n_answers,) 1 if the top label is the task's known label, 0 if not; nan if none is known, or for "can't tell"."""
        assert self.truth is not None
        true = self.truth[self.task]
        known = true != UNKNOWN
        if self.answers is not None and self.answers.abstain is not None:
            known &= ~self.answers.abstain
        return np.where(known, (self.top == true).astype(np.float64), np.nan)

    def accuracy_and_known_answer_count_per_worker(self) -> tuple[Floats, Ints]:
        """Return (share of correct answers, number of answers) on tasks with known labels, each (n_workers,)."""
        known = ~np.isnan(self.correctness_of_each_answer)
        n, hits = (
            self.count_answers_by_worker(known),
            self.count_answers_by_worker(known & (self.correctness_of_each_answer == 1)),
        )
        return np.where(n > 0, hits / np.maximum(n, 1), np.nan), n


def _answer_of_each_row_and_first_rows(votes: Votes) -> tuple[Ints, Ints]:
    """Return (answer number of each votes row, first votes row of each answer), answers numbered by first appearance."""
    if votes.answer is None:
        return np.arange(len(votes)), np.arange(len(votes))
    _, first, code = np.unique(votes.answer, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return rank[code], first[order]


def _first_named_label_per_answer(answers: Answers) -> Ints:
    """(n_answers,) the code of the label named first; -1 for "can't tell" and "none of these", even if labels are marked."""
    top = answers.label_codes_at_rank(0)
    for no_label in (answers.abstain, answers.none_of_these):
        if no_label is not None:
            top[no_label] = -1
    return top


def _heaviest_label_per_answer(votes: Votes, answer_of_row: Ints, first_rows: Ints) -> Ints:
    """(n_answers,) the code of the label with the largest weight in each soft answer; ties go to the earlier label."""
    if len(first_rows) == len(votes):
        return votes.label.astype(np.int64)
    order = np.lexsort((votes.label, -votes.weights, answer_of_row))
    return votes.label[order][np.searchsorted(answer_of_row[order], np.arange(len(first_rows)))].astype(np.int64)


def _gold_label_code_per_task(answers_or_votes: Answers | Votes, gold: SoftLabels) -> Ints:
    """(n_tasks,) the most probable gold label of each task as a code into `answers_or_votes.labels`, or UNKNOWN or UNLISTED."""
    gold_row = positions(gold.tasks, answers_or_votes.tasks)
    code = positions(answers_or_votes.labels, gold.hard())
    return np.where(gold_row < 0, UNKNOWN, np.where(code < 0, UNLISTED, code)[gold_row])


def codes_of_equal_rows(*columns: NDArray[Any]) -> Ints:
    """(n_rows,) an integer code for each row of several columns; rows that are equal in every column have the same code.

    >>> codes_of_equal_rows(np.array([5, 5, 7]), np.array([0.5, 0.5, 0.5])).tolist()
    [0, 0, 1]
    """
    code: Ints = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        is_text = column.dtype.kind == "T"  # np.unique can crash on text: see `sorted_names`
        place, values = encode(column) if is_text else np.unique(column, return_inverse=True)[::-1]
        code = np.unique(code * max(len(values), 1) + place, return_inverse=True)[1]
    return code


def _codes_of_equal_lists(items: Ints, list_start: Ints) -> Ints:
    """(n_lists,) an integer code for each list items[list_start[i]:list_start[i + 1]]; equal lists have the same code."""
    size = np.diff(list_start)
    code = codes_of_equal_rows(size)
    for place in range(int(size.max(initial=0))):
        long = np.flatnonzero(size > place)
        item = np.zeros(len(size), np.int64)
        item[long] = items[list_start[long] + place] + 1
        code = codes_of_equal_rows(code, item)
    return code
