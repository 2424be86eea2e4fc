"""Answers: the raw input of annotators, one row per answer.

For every form, an answer is a list of marks: the labels that the worker *named*, in order, each with the text typed next to
it ("70", "8p", nothing); the labels ruled out (*never*); the labels considered *possible*. A plain vote is one mark, a
top-two answer is two and some "never", a ranking or a histogram is many. `elicit` turns marks into weights.

A percent typed without choosing a label ("no alternative", yet 30) is a named mark without a label, so that no input is
lost and the marks after it keep their rank.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names, as_readonly_array, smallest_signed_dtype
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import (
    as_names,
    check_codes,
    decode,
    encode,
    encode_with_names,
    label_positions_on_scale_or_none,
    readonly_names,
)

NAMED, NEVER, POSSIBLE = 0, 1, 2
MARK_KINDS = {"named": NAMED, "never": NEVER, "possible": POSSIBLE}

LABEL_SEPARATOR = "|"  # between the labels of one table cell
ANSWER_COLUMNS = (
    "worker",
    "form",
    "abstain",
    "none_of_these",
    "when",
    "seconds",
    "position",
    "slot",
    "sitting",
    "repeat_of",
)

Mark = tuple[str, object, str]  # kind, label (None: none was chosen), typed text


@dataclass(frozen=True, eq=False, repr=False)
class Answers(DataType):
    """Raw answers, one row per answer of one person to one task, in the order received.

    >>> answers = Answers.of(
    ...     task=["img1", "img1"], worker=["ann", "bo"],
    ...     marks=[[("named", "cat", "70"), ("named", "dog", "20"), ("never", "ship", "")], [("named", "dog", "")]])
    >>> answers
    <Answers: 2 answers, 1 task, 2 workers, 3 labels>
    >>> answers.labels[answers.label_codes_at_rank(0)].tolist(), answers.typed_texts_at_rank(0).tolist()
    (['cat', 'dog'], ['70', ''])
    """

    version: ClassVar[int] = 3  # 2: with `slot`; 3: with named marks that have no label

    task: Ints  # (n_answers,) code into `tasks`
    worker: Ints  # (n_answers,) code into `workers`; -1 if unknown
    tasks: Names
    workers: Names
    labels: Names
    mark_start: Ints  # (n_answers + 1,) the marks of answer i are mark_start[i]:mark_start[i + 1]
    mark_kind: Ints  # (n_marks,) 0 named, 1 never, 2 possible
    mark_label: Ints  # (n_marks,) code into `labels`; -1 if text was typed and no label named
    mark_typed: Names  # (n_marks,) text as typed; "" if none
    form: Names | None = None  # (n_answers,) the question form, such as "top-two"
    abstain: Bools | None = None  # (n_answers,) "can't tell"
    none_of_these: Bools | None = None  # (n_answers,)
    when: Floats | None = None  # (n_answers,) seconds since 1970; nan if unknown
    seconds: Floats | None = None  # (n_answers,) response time; nan if unknown
    position: Ints | None = None  # (n_answers,) place in the session
    slot: Ints | None = None  # (n_answers,) place of the first named label in the list on screen; -1: unknown
    sitting: Names | None = None  # (n_answers,) batch or session
    repeat_of: Ints | None = None  # (n_answers,) the earlier answer that this one repeats on purpose; -1: none
    scale: Floats | None = None  # (n_labels,) position of each label on a scale; None: labels have no order
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("tasks", "workers", "labels"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        for name in ("form", "sitting"):
            if (column := getattr(self, name)) is not None:
                object.__setattr__(self, name, readonly_names(column, name))
        self._check_codes_in_range()
        object.__setattr__(
            self, "mark_label", as_readonly_array(self.mark_label, smallest_signed_dtype(len(self.labels)))
        )
        object.__setattr__(self, "mark_kind", as_readonly_array(self.mark_kind, np.uint8))
        for name in ("task", "mark_start", "mark_typed", "scale", *ANSWER_COLUMNS):
            if (column := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_readonly_array(column))
        self._check_column_lengths_and_offsets()

    def _check_codes_in_range(self) -> None:
        """Raise InputError if a task, worker, label or mark code is out of range; call it before codes are cast to
        small dtypes.
        """
        check_codes(np.asarray(self.task), 0, len(self.tasks), "task")
        check_codes(np.asarray(self.worker), -1, len(self.workers), "worker")
        check_codes(np.asarray(self.mark_label), -1, len(self.labels), "label")
        check_codes(np.asarray(self.mark_kind), 0, len(MARK_KINDS), "kind")
        if ((np.asarray(self.mark_label) < 0) & (np.asarray(self.mark_kind) != NAMED)).any():
            raise InputError("a never or possible mark has no label; give it one, or leave the mark out")
        if self.repeat_of is not None:
            check_codes(np.asarray(self.repeat_of), -1, len(self.task), "repeated answer")

    def _check_column_lengths_and_offsets(self) -> None:
        """Raise InputError if columns of answers or marks differ in length, or `mark_start` is not
        valid CSR offsets of the marks.
        """
        n, n_marks = len(self.task), len(self.mark_label)
        for name in ANSWER_COLUMNS:
            if (column := getattr(self, name)) is not None and column.shape != (n,):
                raise InputError(f"{name} has {len(column)} values for {n} answers")
        start = self.mark_start
        if len(start) != n + 1 or start[0] != 0 or start[-1] != n_marks or (np.diff(start) < 0).any():
            raise InputError(f"mark_start must rise from 0 to the number of marks, {n_marks}, with {n + 1} values")
        for name in ("mark_kind", "mark_typed"):
            if len(getattr(self, name)) != n_marks:
                raise InputError(f"{name} has {len(getattr(self, name))} values for {n_marks} marks")
        if self.scale is not None and self.scale.shape != self.labels.shape:
            raise InputError(f"the scale has {len(self.scale)} values for {len(self.labels)} labels")

    @classmethod
    def of(
        cls,
        task: Iterable[object],
        worker: Iterable[object],
        marks: Sequence[Sequence[Mark]],
        *,
        labels: Iterable[object] | None = None,
        ordered: bool | Iterable[float] = False,
        **rest: Any,
    ) -> Self:
        """Create Answers from task and worker names and, per answer, a list of marks (kind, label, typed text).

        The kind is named, never or possible. The label is None if text was typed and no label chosen.
        """
        task = as_names(task, "tasks")
        if len(marks) != len(task):
            raise InputError(f"there are {len(marks)} lists of marks for {len(task)} answers; give one list per answer")
        flat = [mark for answer in marks for mark in answer]
        if odd := [mark for mark in flat if isinstance(mark, str) or len(mark) != 3]:
            raise InputError(f"a mark is (kind, label, typed text), not {first_few(odd)}")
        unknown = [kind for kind, _, _ in flat if kind not in MARK_KINDS]
        if unknown:
            raise InputError(f"the kind of a mark is named, never or possible, not {first_few(unknown)}")
        return cls.of_marks(
            task,
            worker,
            answer=np.repeat(np.arange(len(marks)), [len(answer) for answer in marks]),
            kind=np.array([MARK_KINDS[kind] for kind, _, _ in flat], np.uint8),
            label=[label for _, label, _ in flat],
            typed=[typed for _, _, typed in flat],
            labels=labels,
            ordered=ordered,
            **rest,
        )

    @classmethod
    def of_marks(
        cls,
        task: Iterable[object],
        worker: Iterable[object],
        *,
        answer: Ints,
        kind: Ints,
        label: Iterable[object],
        typed: Iterable[str],
        labels: Iterable[object] | None = None,
        ordered: bool | Iterable[float] = False,
        **rest: Any,
    ) -> Self:
        """Create Answers from task and worker names per answer and columns over marks; `answer` (n_marks,) is each
        mark's answer row.
        """
        task_codes, tasks = encode(task, "tasks")
        worker_codes, workers = encode(worker, "workers")
        codes, names = _encode_labels_of_marks(list(label), labels)
        texts = as_names(typed, "typed values").astype(TEXT)
        if len({len(column) for column in (answer, kind, codes, texts)}) > 1:
            raise InputError(
                f"columns of marks (answer, kind, label, typed) differ in length; there are {len(codes)} labels"
            )
        order = np.argsort(answer, kind="stable")
        return cls(
            task=task_codes,
            worker=worker_codes,
            tasks=tasks,
            workers=workers,
            labels=names,
            mark_start=np.searchsorted(np.asarray(answer)[order], np.arange(len(task_codes) + 1)),
            mark_kind=np.asarray(kind)[order],
            mark_label=codes[order],
            mark_typed=texts[order],
            scale=label_positions_on_scale_or_none(names, ordered),
            **rest,
        )

    # ---- derived columns

    def __len__(self) -> int:
        return len(self.task)

    @cached_property
    def answer_of_mark(self) -> Ints:
        """(n_marks,) the row of the answer that each mark belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.mark_start))

    @cached_property
    def _n_named_marks_before_in_same_answer(self) -> Ints:
        """(n_marks,) the number of "named" marks that come before each mark in the same answer."""
        named = self.mark_kind == NAMED
        before = np.cumsum(named) - named
        return before - before[self.mark_start[self.answer_of_mark]]

    def label_codes_at_rank(self, rank_in_answer: int) -> Ints:
        """(n_answers,) the code of the label that each answer names first (rank 0), second (1), ...; -1 if there is none.

        A mark with typed text and without a label counts as a place.
        """
        out = np.full(len(self), -1)
        here = (self.mark_kind == NAMED) & (self._n_named_marks_before_in_same_answer == rank_in_answer)
        out[self.answer_of_mark[here]] = self.mark_label[here]
        return out

    def typed_texts_at_rank(self, rank_in_answer: int) -> Names:
        """(n_answers,) the text typed next to the label that each answer names first (rank 0), second (1), ...; "" if none."""
        out = np.zeros(len(self), dtype=TEXT)
        here = (self.mark_kind == NAMED) & (self._n_named_marks_before_in_same_answer == rank_in_answer)
        out[self.answer_of_mark[here]] = self.mark_typed[here]
        return out

    def mask_marked_labels_per_answer(self, mark_kind: str) -> Bools:
        """(n_answers, n_labels) whether each answer has a mark of one kind (named, never or possible) on each label."""
        out = np.zeros((len(self), len(self.labels)), bool)
        here = (self.mark_kind == MARK_KINDS[mark_kind]) & (self.mark_label >= 0)
        out[self.answer_of_mark[here], self.mark_label[here]] = True
        return out

    def where(self, keep: Bools, note: str = "") -> Self:
        """Return the answers where `keep` (n_answers,) is true; task, worker and label names stay, and `note` is added
        to the notes.

        A `repeat_of` whose target is removed becomes -1.
        """
        mask = np.asarray(keep)
        if mask.shape != self.task.shape or (mask.size and mask.dtype != bool):
            raise InputError(
                f"where() needs one bool for each of {len(self)} answers; got shape {mask.shape} of {mask.dtype}"
            )
        rows = np.flatnonzero(mask)
        marks = np.repeat(mask.astype(bool), np.diff(self.mark_start))
        fields = {name: getattr(self, name) for name in ("tasks", "workers", "labels", "scale")}
        for name in ("task", *ANSWER_COLUMNS):
            column = getattr(self, name)
            fields[name] = None if column is None else column[rows]
        if self.repeat_of is not None:
            back = np.full(len(self) + 1, -1)  # index -1 of `repeat_of` reads the last entry, which stays -1
            back[rows] = np.arange(len(rows))
            fields["repeat_of"] = back[self.repeat_of[rows]]
        for name in ("mark_kind", "mark_label", "mark_typed"):
            fields[name] = getattr(self, name)[marks]
        fields["mark_start"] = np.concatenate([[0], np.cumsum(np.diff(self.mark_start)[rows])])
        return type(self)(**fields, notes=self.notes + ((note,) if note else ()))

    # ---- table form and repr

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return a table of answers: task, worker, named labels with typed texts, and the never and possible labels
        joined with |.

        A list of labels that contain | is written as JSON.
        """
        table: dict[str, NDArray[Any]] = {"task": self.tasks[self.task], "worker": decode(self.workers, self.worker)}
        for name in ("form", "sitting", "position", "slot", "when", "seconds", "abstain", "none_of_these", "repeat_of"):
            if (column := getattr(self, name)) is not None:
                table[name] = column
        text = np.array([*map(str, self.labels.tolist()), ""], dtype=TEXT)
        places = int(self._n_named_marks_before_in_same_answer[self.mark_kind == NAMED].max(initial=0)) + 1
        for place in range(max(places, 1)):
            prefix = ("top", "second")[place] if place < 2 else f"named{place + 1}"
            table[prefix], table[f"{prefix}_percent"] = (
                text[self.label_codes_at_rank(place)],
                self.typed_texts_at_rank(place),
            )
        for kind in ("never", "possible"):
            if (self.mark_kind == MARK_KINDS[kind]).any():
                table[kind] = self._join_marked_labels_per_answer(kind)
        return table

    def _table_of_first_rows(self, n: int) -> dict[str, NDArray[Any]]:
        few: dict[str, Any] = {
            name: None if (column := getattr(self, name)) is None else column[:n] for name in ("task", *ANSWER_COLUMNS)
        }
        marks = slice(self.mark_start[: n + 1][-1])
        few |= {name: getattr(self, name)[marks] for name in ("mark_kind", "mark_label", "mark_typed")}
        repeat_of = few.pop("repeat_of")
        head = replace(self, **few, mark_start=self.mark_start[: n + 1], repeat_of=None).columns()
        return head if repeat_of is None else head | {"repeat_of": repeat_of}

    def _join_marked_labels_per_answer(self, mark_kind: str) -> Names:
        """(n_answers,) the labels of each answer that have a mark of one kind (never or possible), joined into one text."""
        lists: list[list[str]] = [[] for _ in range(len(self))]
        here = self.mark_kind == MARK_KINDS[mark_kind]
        for answer, label in zip(
            self.answer_of_mark[here].tolist(), self.labels[self.mark_label[here]].tolist(), strict=True
        ):
            lists[answer].append(str(label))
        return np.array([_join_labels_or_json_list(one) for one in lists], dtype=TEXT)

    def summary_values(self) -> dict[str, object]:
        forms: Mapping[str, int] = {} if self.form is None else _count_occurrences_by_name(self.form)
        return {
            "answers": len(self),
            "tasks": len(self.tasks),
            "workers": len(self.workers),
            "labels": len(self.labels),
            "forms": ", ".join(forms) or None,
        }


def _encode_labels_of_marks(label_of_mark: list[object], label_names: Iterable[object] | None) -> tuple[Ints, Names]:
    """Return ((n_marks,) the label code of each mark, names of the labels); code -1 for a mark without a label (None)."""
    there = np.array([one is not None for one in label_of_mark], bool)
    codes = np.full(len(label_of_mark), -1, np.int64)
    codes[there], names = encode_with_names([one for one in label_of_mark if one is not None], label_names, "labels")
    return codes, names


def _count_occurrences_by_name(names: Names) -> dict[str, int]:
    """Return the number of occurrences of each name in an array, by name."""
    codes, values = encode(names)
    return dict(zip(map(str, values.tolist()), np.bincount(codes).tolist(), strict=True))


def _join_labels_or_json_list(labels: list[str]) -> str:
    """Return several labels as the text of one table cell: joined with |, or a JSON list if | would not separate them."""
    joined = LABEL_SEPARATOR.join(labels)
    if joined.startswith("[") or any(LABEL_SEPARATOR in label or label != label.strip() for label in labels):
        return json.dumps(labels, ensure_ascii=False)
    return joined
