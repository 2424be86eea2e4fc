"""Answers as columns in memory, each row read once, by increasing id; and the answers that count as `Answers`."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from plurivox.core.answers import KINDS, Answers
from plurivox.core.encoding import encode, encode_into
from plurivox.core.types import TEXT, Bools, Floats, Ints, Names
from plurivox.web.store.collect.submissions import Mark, parse_all_marks
from plurivox.web.store.database import batched
from plurivox.web.store.report.row_cache import Columns, RowCache
from plurivox.web.store.report.snapshots import count_erasures
from plurivox.web.store.schema import answers, exclusions, sittings, slots, tasks, workers

FIRST_PICK = re.compile(r'"ms": ([0-9.eE+-]+), "kind": "pick"')
NUMBER_COLUMNS: dict[str, tuple[Any, Any]] = {  # name: (column of the query, type)
    "id": (answers.c.id, np.int64),
    "slot": (answers.c.slot_id, np.int64),
    "task": (answers.c.task_id, np.int64),  # names are looked up once, not with every answer
    "worker": (answers.c.worker_id, np.int64),
    "sitting": (slots.c.sitting_id, np.int64),
    "repeat_of": (func.coalesce(slots.c.repeat_of, 0), np.int64),
    "position": (slots.c.position, np.int32),
    "at": (answers.c.received, np.float64),
    "submitted": (answers.c.submitted_ms, np.float64),
    "hidden": (answers.c.hidden_ms, np.float64),
    "first_input": (answers.c.first_input_ms, np.float64),
    "abstain": (answers.c.abstain, np.bool_),
    "none_of_these": (answers.c.none_of_these, np.bool_),
    "extra": (answers.c.extra, np.bool_),
    "is_task": (slots.c.kind == "task", np.bool_),
    "is_practice": (slots.c.kind == "practice", np.bool_),
    "is_latest": (slots.c.answer_id == answers.c.id, np.bool_),
}
TEXT_COLUMNS = {
    "form": np.int32,
    "picked": np.float64,
    "unseen": np.bool_,
    "top": np.int32,
    "n_marks": np.int32,
}  # as numbers
ANSWER_ROWS = select(
    *(column for column, _ in NUMBER_COLUMNS.values()), answers.c.form, answers.c.marks, answers.c.events
).join(slots, slots.c.id == answers.c.slot_id)


@dataclass(frozen=True)
class CollectedAnswers:
    """The last answer of every slot, without practice and excluded workers, and what `Answers` has no column for."""

    answers: Answers
    ids: Ints  # (n,) in the store
    task_ids: Ints  # (n,)
    worker_ids: Ints  # (n,)
    extra: Bools  # (n,) came after its lease, when the task was full
    first_input: Floats  # (n,) seconds after it was shown, nan where unknown
    top_label: Floats  # (n,) seconds until the first label was picked
    hidden: Floats  # (n,) seconds in which the page was not seen
    unseen: Bools  # (n,) its picture did not load

    @cached_property
    def id_of_task(self) -> Ints:
        """(n_tasks,) the id in the store of each task of `answers`."""
        ids = np.zeros(len(self.answers.tasks), np.int64)
        ids[self.answers.task] = self.task_ids
        return ids

    @cached_property
    def id_of_worker(self) -> Ints:
        """(n_workers,) the id in the store of each worker of `answers`."""
        ids = np.zeros(len(self.answers.workers), np.int64)
        ids[self.answers.worker] = self.worker_ids
        return ids

    @cached_property
    def is_first(self) -> Bools:
        """(n,) which are no repeats: a person says one thing about a task."""
        found = self.answers.repeat_of
        return np.ones(len(self.answers), bool) if found is None else found < 0

    @cached_property
    def n_first(self) -> Ints:
        """(n_tasks,) answers to each task, repeats left out."""
        return np.bincount(self.answers.task[self.is_first], minlength=len(self.answers.tasks))


def collect_answers(
    connection: Connection, labels: Sequence[str], cell: Callable[[str], str] = str
) -> CollectedAnswers:
    """All answers that count, in a study with these labels; `cell` is how names are written."""
    log = AnswerCache()
    log.read_new(connection)
    return log.collected(connection, labels, cell)


class AnswerCache(RowCache):
    """All answers, replaced ones and practice too, and the workers who are excluded.

    Several jobs share one log, so that each answer is read once. `count_erasures` tells them that it has begun anew.
    """

    def __init__(self) -> None:
        self.erased = 0  # the study's count of erasures, as of which this was read
        self.excluded: dict[int, str] = {}  # worker: the rule
        super().__init__(ANSWER_ROWS, {name: kind for name, (_, kind) in NUMBER_COLUMNS.items()})

    def clear(self) -> None:
        super().clear()
        self.columns |= {name: np.zeros(0, kind) for name, kind in TEXT_COLUMNS.items()}
        self.columns["marks"] = np.zeros((0, 3), np.int32)  # (n_marks, 3): kind, label, typed
        self._codes: dict[str, dict[str, int]] = {"form": {}, "label": {}, "typed": {}}
        self._names: dict[Any, dict[int, str]] = {}
        self._sorted: dict[Any, tuple[Ints, Ints, Names]] = {}  # ids, their codes, names

    def read_new(self, connection: Connection) -> int:
        """Append the answers that are not here yet, in place, or all where some were erased; how many."""
        if (now_erased := count_erasures(connection)) != self.erased:
            self.clear()
            self.erased = now_erased
        n_before = len(self)
        n_new = super().read_new(connection)
        if n_new:  # an answer that one of the new ones replaces is no longer the latest of its slot
            slot, is_latest = self.columns["slot"], self.columns["is_latest"]
            is_latest[:n_before] &= ~np.isin(slot[:n_before], slot[n_before:][is_latest[n_before:]])
        left_out = select(exclusions.c.worker_id, exclusions.c.rule).where(exclusions.c.lifted.is_(None))
        self.excluded = {row.worker_id: row.rule for row in connection.execute(left_out)}
        return n_new

    def of_workers(self, ids: Sequence[int]) -> Bools:
        """(n_rows,) the answers of these workers."""
        return np.isin(self.columns["worker"], np.array(sorted(ids), np.int64))

    def _parse(self, columns: Sequence[Sequence[Any]]) -> Columns:
        """Columns of the query as arrays; texts become numbers, since there are few different ones."""
        *numbers, forms, marks, events = columns
        made = super()._parse(numbers)
        made["form"] = np.array([self._code("form", one) for one in forms], np.int32)
        made["picked"] = np.array([_first_pick_seconds(one) for one in events], np.float64)
        made["unseen"] = np.array([_is_image_unseen(one) for one in events], bool)
        said = parse_all_marks(marks)
        made["top"] = np.array([self._code("label", top) if (top := _top_label(one)) else -1 for one in said], np.int32)
        made["n_marks"] = np.array([len(one) for one in said], np.int32)
        codes = [
            (KINDS[kind], self._code("label", label) if label else -1, self._code("typed", typed))
            for one in said
            for kind, label, typed in one
        ]
        made["marks"] = np.array(codes, np.int32).reshape(-1, 3)
        return made

    def _code(self, of: str, text: str) -> int:
        known = self._codes[of]
        return known.setdefault(text, len(known))

    def _texts(self, of: str) -> list[str]:
        return list(self._codes[of])

    def collected(
        self, connection: Connection, labels: Sequence[str], cell: Callable[[str], str] = str
    ) -> CollectedAnswers:
        """The answers that count, in a study with these labels; labels that are gone since come after them."""
        held = self._counted()
        task, task_names = self._named(connection, tasks.c.id, tasks.c.name, held["task"], cell)
        worker, worker_names = self._named(connection, workers.c.id, workers.c.pseudonym, held["worker"], str)
        sitting, sitting_names = self._named(connection, sittings.c.id, sittings.c.number, held["sitting"], str)
        mark_label = held["marks"][:, 1].astype(np.int64)  # -1: something was typed where no label was chosen
        used, marked = np.unique(mark_label[mark_label >= 0], return_inverse=True)
        texts = [cell(self._texts("label")[code]) for code in used.tolist()]
        all_labels = dict.fromkeys([*map(cell, labels), *texts])
        label, label_names = encode_into(texts, list(all_labels), "labels")
        mark_label[mark_label >= 0] = label[marked]
        who = worker_names[worker].astype(TEXT)
        given = Answers(
            task=task,
            worker=worker,
            tasks=task_names,
            workers=worker_names,
            labels=label_names,
            mark_start=np.concatenate([[0], np.cumsum(held["n_marks"], dtype=np.int64)]),
            mark_kind=held["marks"][:, 0],
            mark_label=mark_label,
            mark_typed=np.array(self._texts("typed") or [""], dtype=TEXT)[held["marks"][:, 2]],
            form=np.array(self._texts("form") or [""], dtype=TEXT)[held["form"]],
            abstain=held["abstain"],
            none_of_these=held["none_of_these"],
            when=held["at"],
            seconds=np.maximum(0.0, held["submitted"] - held["hidden"]) / 1000,
            position=held["position"].astype(np.int64),
            sitting=np.strings.add(np.strings.add(who, "-"), sitting_names.astype(TEXT)[sitting]),
            repeat_of=_repeated_positions(held["slot"], held["repeat_of"]),
        )
        return CollectedAnswers(
            given,
            ids=held["id"],
            task_ids=held["task"],
            worker_ids=held["worker"],
            extra=held["extra"],
            first_input=held["first_input"] / 1000,
            top_label=held["picked"],
            hidden=held["hidden"] / 1000,
            unseen=held["unseen"],
        )

    def _counted(self) -> Columns:
        """The rows that count, with their marks."""
        held = self.columns
        keep = held["is_latest"] & ~held["is_practice"] & ~self.of_workers([*self.excluded])
        marks = held["marks"][np.repeat(keep, held["n_marks"])]
        return {name: column[keep] for name, column in held.items() if name != "marks"} | {"marks": marks}

    def _named(
        self, connection: Connection, key: Any, name: Any, ids: Ints, cell: Callable[[str], str]
    ) -> tuple[Ints, Names]:
        """Codes into sorted names; a name is read once, and names are sorted when there are new ones."""
        there, place = np.unique(ids, return_inverse=True)
        if key in self._sorted and np.array_equal(self._sorted[key][0], there):
            return self._sorted[key][1][place], self._sorted[key][2]
        known = self._names.setdefault(key, {})
        for part in batched([one for one in there.tolist() if one not in known], 500):
            for found, text in connection.execute(select(key, name).where(key.in_(part))):
                known[found] = str(text)
        codes, names = encode([cell(known[one]) for one in there.tolist()], key.table.name)
        self._sorted[key] = there, codes, names
        return codes[place], names


def _repeated_positions(slot: Ints, repeat_of: Ints) -> Ints:
    """(n,) the place of the answer that each one repeats; -1 where there is none."""
    order = np.argsort(slot)
    at = np.searchsorted(slot, repeat_of, sorter=order)
    found = order[np.minimum(at, len(slot) - 1)] if len(slot) else np.zeros(0, np.int64)
    return np.where((repeat_of != 0) & (slot[found] == repeat_of), found, -1)


def _top_label(marks: Sequence[Mark]) -> str:
    """The label that was named first; empty where none was."""
    return next((mark.label for mark in marks if mark.kind == "named"), "")


def _is_image_unseen(events: str) -> bool:
    """Whether the picture had not come when the answer was given."""
    if '"unseen"' not in events:
        return False
    return [one["kind"] for one in json.loads(events) if one["kind"] in ("seen", "unseen")][-1:] == ["unseen"]


def _first_pick_seconds(events: str) -> float:
    """Seconds until the first label was picked; found without reading the rest, where it is written as we write it."""
    if found := FIRST_PICK.search(events):
        return float(found[1]) / 1000
    if '"pick"' not in events:
        return float("nan")
    return next((one["ms"] / 1000 for one in json.loads(events) if one["kind"] == "pick"), float("nan"))
