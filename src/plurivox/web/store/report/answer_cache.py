"""In-memory columns of all answers, read incrementally; select those that count and return them as `Answers`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from plurivox.core.answers import MARK_KINDS, Answers
from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names
from plurivox.core.name_encoding import encode, encode_with_names
from plurivox.web.store.collect.submissions import Mark, label_marks_of_each_answer_from_json
from plurivox.web.store.database import batched
from plurivox.web.store.report.answer_times import (
    HANDED_OUT,
    active_times_of_answers,
    seconds_until_first_label_pick_or_nan,
)
from plurivox.web.store.report.result_snapshots import count_erasures_plus_imports
from plurivox.web.store.report.row_cache import Columns, RowCache
from plurivox.web.store.schema import answers, exclusions, sittings, slots, tasks, workers

NUMBER_COLUMNS: dict[str, tuple[Any, Any]] = {  # name -> (column of the query, type)
    "id": (answers.c.id, np.int64),
    "slot": (answers.c.slot_id, np.int64),
    "task": (answers.c.task_id, np.int64),  # ids; names are read once per task
    "worker": (answers.c.worker_id, np.int64),
    "sitting": (slots.c.sitting_id, np.int64),
    "repeat_of": (func.coalesce(slots.c.repeat_of, 0), np.int64),
    "position": (slots.c.position, np.int32),
    "at": (answers.c.received, np.float64),
    "submitted": (answers.c.submitted_ms, np.float64),
    "hidden": (answers.c.hidden_ms, np.float64),
    "first_input": (answers.c.first_input_ms, np.float64),
    "began": (HANDED_OUT, np.float64),
    "abstain": (answers.c.abstain, np.bool_),
    "none_of_these": (answers.c.none_of_these, np.bool_),
    "beyond_quota": (slots.c.state == "extra", np.bool_),  # when it was read; see `_slots_of_reinstated`
    "is_task": (slots.c.kind == "task", np.bool_),
    "is_practice": (slots.c.kind == "practice", np.bool_),
    "is_latest": (slots.c.answer_id == answers.c.id, np.bool_),
}
# encoded as numbers
TEXT_COLUMNS = {
    "form": np.int32,
    "picked": np.float64,
    "unseen": np.bool_,
    "top": np.int32,
    "n_marks": np.int32,
}
ANSWER_ROWS = (
    select(*(column for column, _ in NUMBER_COLUMNS.values()), answers.c.form, answers.c.marks, answers.c.events)
    .join(slots, slots.c.id == answers.c.slot_id)
    .join(sittings, sittings.c.id == slots.c.sitting_id)
)


@dataclass(frozen=True)
class CollectedAnswers:
    """The latest answer of every slot, without practice and excluded workers, with columns that `Answers` does not have."""

    answers: Answers
    ids: Ints  # (n_answers,) ids in the database
    task_ids: Ints  # (n_answers,)
    worker_ids: Ints  # (n_answers,)
    is_repeat: Bools  # (n_answers,) whether its task was shown again, also if the answer that it repeats is missing
    late: Bools  # (n_answers,) whether it is beyond the quota, see `answer_kinds`
    first_input: Floats  # (n_answers,) seconds from shown to first input, nan if unknown or impossible
    top_label: Floats  # (n_answers,) seconds until the first label was picked, nan if unknown or impossible
    hidden: Floats  # (n_answers,) seconds in which the page was in the background, nan if impossible
    unseen: Bools  # (n_answers,) whether its image did not load
    impossible_time: Bools  # (n_answers,) whether its time is impossible, see `answer_times`
    # (n_answers,) active seconds, with what the server saw where the client's time is impossible or missing
    seconds_at_most: Floats

    @cached_property
    def database_id_of_each_task(self) -> Ints:
        """(n_tasks,) the database id of each task of `answers`."""
        ids = np.zeros(len(self.answers.tasks), np.int64)
        ids[self.answers.task] = self.task_ids
        return ids

    @cached_property
    def database_id_of_each_worker(self) -> Ints:
        """(n_workers,) the database id of each worker of `answers`."""
        ids = np.zeros(len(self.answers.workers), np.int64)
        ids[self.answers.worker] = self.worker_ids
        return ids

    @cached_property
    def non_repeat_answer_mask(self) -> Bools:
        """(n_answers,) whether each answer is the worker's first answer to its task, that is, not a repeat."""
        return ~self.is_repeat

    @cached_property
    def comparable_repeats(self) -> tuple[Ints, Ints]:
        """(n,) rows of repeats and (n,) of the answers that they repeat, where both name a label."""
        top = self.answers.label_codes_at_rank(0)
        assert self.answers.repeat_of is not None
        again = np.flatnonzero((self.answers.repeat_of >= 0) & (top >= 0))
        before = self.answers.repeat_of[again]
        return again[top[before] >= 0], before[top[before] >= 0]

    @cached_property
    def n_answers_of_each_task_without_repeats(self) -> Ints:
        """(n_tasks,) the number of answers to each task, without repeated ones by the same worker."""
        return np.bincount(self.answers.task[self.non_repeat_answer_mask], minlength=len(self.answers.tasks))


def read_answers_that_count_latest_per_slot(
    connection: Connection, labels: Sequence[str], format_task_or_label_name: Callable[[str], str] = str
) -> CollectedAnswers:
    """Read from the database the latest answer of every slot, without practice and excluded workers, into memory."""
    cache = AnswerCache()
    cache.append_new_rows_and_return_count(connection)
    return cache.select_answers_that_count_from_cache(connection, labels, format_task_or_label_name)


class AnswerCache(RowCache):
    """In-memory columns of all answers, including replaced ones and practice, and the excluded workers.

    Several jobs share one cache, so that each answer is read once. `erasures` changes when it was cleared and read again.
    """

    def __init__(self) -> None:
        self.erasures = 0  # the study's number of erasures when this was read
        self.excluded: dict[int, str] = {}  # worker id -> the rule
        self._slots_of_reinstated = np.zeros(
            0, np.int64
        )  # slots that were given to others while their worker was excluded
        super().__init__(ANSWER_ROWS, {name: kind for name, (_, kind) in NUMBER_COLUMNS.items()})

    def clear_cache(self) -> None:
        """Empty the in-memory cache of answers, in place: rows, codes of texts and names."""
        super().clear_cache()
        self.columns |= {name: np.zeros(0, kind) for name, kind in TEXT_COLUMNS.items()}
        self.columns["marks"] = np.zeros((0, 3), np.int32)  # (n_marks, 3): kind, label, typed
        self._codes: dict[str, dict[str, int]] = {"form": {}, "label": {}, "typed": {}}
        self._names: dict[Any, dict[int, str]] = {}
        self._sorted: dict[Any, tuple[Ints, Ints, Names]] = {}  # ids, their codes, names

    def append_new_rows_and_return_count(self, connection: Connection) -> int:
        """Append answers that are new in the database, or read all again if some were erased; return how many were read."""
        if (now_erased := count_erasures_plus_imports(connection)) != self.erasures:
            self.clear_cache()
            self.erasures = now_erased
        n_before = len(self)
        n_new = super().append_new_rows_and_return_count(connection)
        if n_new:  # an answer that one of the new ones replaces is no longer the latest of its slot
            slot, is_latest = self.columns["slot"], self.columns["is_latest"]
            is_latest[:n_before] &= ~np.isin(slot[:n_before], slot[n_before:][is_latest[n_before:]])
        not_lifted = select(exclusions.c.worker_id, exclusions.c.rule).where(exclusions.c.lifted.is_(None))
        self.excluded = {row.worker_id: row.rule for row in connection.execute(not_lifted)}
        lifted = select(exclusions.c.worker_id).where(exclusions.c.lifted.is_not(None))
        beyond_quota = select(slots.c.id).where(slots.c.worker_id.in_(lifted), slots.c.state == "extra")
        self._slots_of_reinstated = np.array(connection.execute(beyond_quota).scalars().all(), np.int64)
        return n_new

    def mask_of_answers_by_workers(self, worker_ids: Sequence[int]) -> Bools:
        """(n_rows,) whether each cached answer is by one of these workers, given by database id."""
        return np.isin(self.columns["worker"], np.array(sorted(worker_ids), np.int64))

    def _convert_query_columns_to_arrays(self, query_columns: Sequence[Sequence[Any]]) -> Columns:
        """Return columns of answers from a query as arrays, with forms, labels and typed texts encoded as integer codes."""
        *numbers, forms, marks, events = query_columns
        parsed = super()._convert_query_columns_to_arrays(numbers)
        parsed["form"] = np.array([self._get_or_assign_integer_code_of_text("form", one) for one in forms], np.int32)
        parsed["picked"] = np.array([seconds_until_first_label_pick_or_nan(one) for one in events], np.float64)
        parsed["unseen"] = np.array([_was_image_unloaded_at_submission(one) for one in events], bool)
        answer_marks = label_marks_of_each_answer_from_json(marks)
        top_labels = map(_first_named_label_or_empty, answer_marks)
        parsed["top"] = np.array(
            [self._get_or_assign_integer_code_of_text("label", top) if top else -1 for top in top_labels], np.int32
        )
        parsed["n_marks"] = np.array([len(one) for one in answer_marks], np.int32)
        codes = [
            (
                MARK_KINDS[kind],
                self._get_or_assign_integer_code_of_text("label", label) if label else -1,
                self._get_or_assign_integer_code_of_text("typed", typed),
            )
            for one in answer_marks
            for kind, label, typed in one
        ]
        parsed["marks"] = np.array(codes, np.int32).reshape(-1, 3)
        return parsed

    def _get_or_assign_integer_code_of_text(self, text_kind: str, text: str) -> int:
        """Return the integer code of a form name, label or typed percent (`text_kind`); a new text gets the next code."""
        codes = self._codes[text_kind]
        return codes.setdefault(text, len(codes))

    def _texts_in_code_order(self, text_kind: str) -> list[str]:
        """Return all form names, labels or typed percents (`text_kind`) seen so far, in the order of their integer codes."""
        return list(self._codes[text_kind])

    def select_answers_that_count_from_cache(
        self,
        connection_for_names: Connection,
        labels: Sequence[str],
        format_task_or_label_name: Callable[[str], str] = str,
    ) -> CollectedAnswers:
        """Return the cached answers that count: the latest of each slot, without practice and excluded workers."""
        columns = self._select_latest_nonpractice_nonexcluded()
        task, task_names = self._encode_ids_as_codes_into_sorted_names(
            connection_for_names, tasks.c.id, tasks.c.name, columns["task"], format_task_or_label_name
        )
        worker, worker_names = self._encode_ids_as_codes_into_sorted_names(
            connection_for_names, workers.c.id, workers.c.pseudonym, columns["worker"], str
        )
        sitting, sitting_names = self._encode_ids_as_codes_into_sorted_names(
            connection_for_names, sittings.c.id, sittings.c.number, columns["sitting"], str
        )
        mark_label = columns["marks"][:, 1].astype(np.int64)  # -1: a percent was typed without a label
        used, marked = np.unique(mark_label[mark_label >= 0], return_inverse=True)
        texts = [format_task_or_label_name(self._texts_in_code_order("label")[code]) for code in used.tolist()]
        all_labels = dict.fromkeys([*map(format_task_or_label_name, labels), *texts])
        label, label_names = encode_with_names(texts, list(all_labels), "labels")
        mark_label[mark_label >= 0] = label[marked]
        times = active_times_of_answers(columns)
        who = worker_names[worker].astype(TEXT)
        collected = Answers(
            task=task,
            worker=worker,
            tasks=task_names,
            workers=worker_names,
            labels=label_names,
            mark_start=np.concatenate([[0], np.cumsum(columns["n_marks"], dtype=np.int64)]),
            mark_kind=columns["marks"][:, 0],
            mark_label=mark_label,
            mark_typed=np.array(self._texts_in_code_order("typed") or [""], dtype=TEXT)[columns["marks"][:, 2]],
            form=np.array(self._texts_in_code_order("form") or [""], dtype=TEXT)[columns["form"]],
            abstain=columns["abstain"],
            none_of_these=columns["none_of_these"],
            when=columns["at"],
            seconds=times.believable_seconds,
            position=columns["position"].astype(np.int64),
            sitting=np.strings.add(np.strings.add(who, "-"), sitting_names.astype(TEXT)[sitting]),
            repeat_of=_row_of_repeated_answer_or_minus_one(columns["slot"], columns["repeat_of"]),
        )
        return CollectedAnswers(
            collected,
            ids=columns["id"],
            task_ids=columns["task"],
            worker_ids=columns["worker"],
            is_repeat=~columns["is_task"],
            late=columns["is_task"] & (columns["beyond_quota"] | np.isin(columns["slot"], self._slots_of_reinstated)),
            first_input=np.where(times.impossible, np.nan, columns["first_input"] / 1000),
            top_label=np.where(times.impossible, np.nan, columns["picked"]),
            hidden=np.where(times.impossible, np.nan, columns["hidden"] / 1000),
            unseen=columns["unseen"],
            impossible_time=times.impossible,
            seconds_at_most=times.seconds_at_most,
        )

    def _select_latest_nonpractice_nonexcluded(self) -> Columns:
        """Return the cached columns of the answers that count: the latest of each slot, no practice, no excluded workers."""
        columns = self.columns
        keep = columns["is_latest"] & ~columns["is_practice"] & ~self.mask_of_answers_by_workers([*self.excluded])
        marks = columns["marks"][np.repeat(keep, columns["n_marks"])]
        return {name: column[keep] for name, column in columns.items() if name != "marks"} | {"marks": marks}

    def _encode_ids_as_codes_into_sorted_names(
        self, connection: Connection, id_column: Any, name_column: Any, ids: Ints, format_name: Callable[[str], str]
    ) -> tuple[Ints, Names]:
        """Return the (n_answers,) code of each database id and the sorted names it indexes; names are read once and cached."""
        unique_ids, place = np.unique(ids, return_inverse=True)
        if id_column in self._sorted and np.array_equal(self._sorted[id_column][0], unique_ids):
            return self._sorted[id_column][1][place], self._sorted[id_column][2]
        known = self._names.setdefault(id_column, {})
        for part in batched([one for one in unique_ids.tolist() if one not in known], 500):
            for found, text in connection.execute(select(id_column, name_column).where(id_column.in_(part))):
                known[found] = str(text)
        codes, names = encode([format_name(known[one]) for one in unique_ids.tolist()], id_column.table.name)
        self._sorted[id_column] = unique_ids, codes, names
        return codes[place], names


def _row_of_repeated_answer_or_minus_one(slot_ids: Ints, repeated_slot_ids: Ints) -> Ints:
    """Return (n_answers,) the row of the earlier answer that each answer repeats, found by slot id; -1 if there is none."""
    order = np.argsort(slot_ids)
    at = np.searchsorted(slot_ids, repeated_slot_ids, sorter=order)
    found = order[np.minimum(at, len(slot_ids) - 1)] if len(slot_ids) else np.zeros(0, np.int64)
    return np.where((repeated_slot_ids != 0) & (slot_ids[found] == repeated_slot_ids), found, -1)


def _first_named_label_or_empty(marks: Sequence[Mark]) -> str:
    """Return the label that an answer names first (its top label); "" if it names none."""
    return next((mark.label for mark in marks if mark.kind == "named"), "")


def _was_image_unloaded_at_submission(events_json: str) -> bool:
    """Return whether the task's image had not loaded when the answer was submitted, from the page's event log in JSON."""
    if '"unseen"' not in events_json:
        return False
    return [one["kind"] for one in json.loads(events_json) if one["kind"] in ("seen", "unseen")][-1:] == ["unseen"]
