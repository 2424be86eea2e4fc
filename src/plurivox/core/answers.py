"""Answers: what people entered, untouched.

Whatever the form, an answer is a list of marks: the labels a person *named*, in order, each with what was typed beside
it ("70", "8p", nothing); the labels ruled out (*never*); the labels held *possible*. A plain vote is one mark, a
top-two answer two and some "never", a ranking or a histogram many. `elicit` turns marks into weights.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.errors import InputError, some
from plurivox.core.names import (
    TEXT,
    Bools,
    Floats,
    Ints,
    Names,
    as_names,
    by_value,
    encode,
    frozen,
    positions,
    smallest_ints,
)
from plurivox.core.noun import Noun
from plurivox.core.votes import scale_of

NAMED, NEVER, POSSIBLE = 0, 1, 2
KINDS = {"named": NAMED, "never": NEVER, "possible": POSSIBLE}

Mark = tuple[str, object, str]  # kind, label, what was typed beside it


@dataclass(frozen=True, eq=False, repr=False)
class Answers(Noun):
    """One row = one answer of one person to one task, in the order they came.

    >>> answers = Answers.of(
    ...     task=["img1", "img1"], worker=["ann", "bo"],
    ...     marks=[[("named", "cat", "70"), ("named", "dog", "20"), ("never", "ship", "")], [("named", "dog", "")]])
    >>> answers
    <Answers: 2 answers, 1 tasks, 2 workers, 3 labels>
    >>> answers.labels[answers.named(0)].tolist(), answers.typed(0).tolist()
    (['cat', 'dog'], ['70', ''])
    """

    task: Ints  # (n_answers,) code into `tasks`
    worker: Ints  # (n_answers,) code into `workers`; -1 where nobody is named
    tasks: Names
    workers: Names
    labels: Names
    mark_start: Ints  # (n_answers + 1,) the marks of answer i are mark_start[i]:mark_start[i + 1]
    mark_kind: Ints  # (n_marks,) 0 named, 1 never, 2 possible
    mark_label: Ints  # (n_marks,) code into `labels`
    mark_typed: Names  # (n_marks,) text as typed, "" where nothing was
    form: Names | None = None  # (n_answers,) the question asked, such as "top-two"
    abstain: Bools | None = None  # (n_answers,) "can't tell"
    none_of_these: Bools | None = None  # (n_answers,)
    when: Floats | None = None  # (n_answers,) seconds since 1970, nan where unknown
    seconds: Floats | None = None  # (n_answers,) how long it took, nan where unknown
    position: Ints | None = None  # (n_answers,) place in the sitting
    sitting: Names | None = None  # (n_answers,) batch or session
    repeat_of: Ints | None = None  # (n_answers,) the earlier answer that this one repeats on purpose; -1: none
    scale: Floats | None = None  # (n_labels,) where each label stands; None: labels have no order
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("tasks", "workers", "labels"):
            object.__setattr__(self, name, as_names(getattr(self, name), name))
        object.__setattr__(self, "mark_label", np.asarray(self.mark_label).astype(smallest_ints(len(self.labels))))
        object.__setattr__(self, "mark_kind", np.asarray(self.mark_kind).astype(np.uint8))
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, frozen(value))
        self._check()

    def _check(self) -> None:
        n = len(self.task)
        per_answer = (
            "worker",
            "form",
            "abstain",
            "none_of_these",
            "when",
            "seconds",
            "position",
            "sitting",
            "repeat_of",
        )
        for name in per_answer:
            if (column := getattr(self, name)) is not None and len(column) != n:
                raise InputError(f"{name} has {len(column)} values for {n} answers")
        n_marks = len(self.mark_label)
        if len(self.mark_start) != n + 1 or self.mark_start[-1] != n_marks or len(self.mark_kind) != n_marks:
            raise InputError("the starts of the marks do not fit their number")
        if len(self.mark_typed) != n_marks:
            raise InputError(f"{len(self.mark_typed)} typed values for {n_marks} marks")
        for name, names, low in (("task", self.tasks, 0), ("worker", self.workers, -1), ("mark_label", self.labels, 0)):
            codes = getattr(self, name)
            if len(codes) and (codes.min() < low or codes.max() >= len(names)):
                raise InputError(f"{name} codes run from {codes.min()} to {codes.max()}; there are {len(names)} names")

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
        """Answers of names and marks: each mark is (kind, label, typed), kind named, never or possible."""
        flat = [mark for answer in marks for mark in answer]
        strange = [kind for kind, _, _ in flat if kind not in KINDS]
        if strange:
            raise InputError(f"marks are named, never or possible, not {some(strange)}")
        return cls.of_marks(
            task,
            worker,
            answer=np.repeat(np.arange(len(marks)), [len(answer) for answer in marks]),
            kind=np.array([KINDS[kind] for kind, _, _ in flat], np.uint8),
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
        """Answers of whole columns: `answer` (n_marks,) says which answer a mark belongs to, in order within it."""
        task_codes, tasks = encode(task, "tasks")
        worker_codes, workers = encode(worker, "workers")
        codes, found = encode(label, "labels")
        names = by_value(found) if labels is None else as_names(labels, "labels")
        place = positions(names, found)
        if len(strangers := found[place < 0]):
            raise InputError(f"labels outside the given list: {some(strangers)}; the list has {some(names, 6)}")
        order = np.argsort(answer, kind="stable")
        return cls(
            task=task_codes,
            worker=worker_codes,
            tasks=tasks,
            workers=workers,
            labels=names,
            mark_start=np.searchsorted(np.asarray(answer)[order], np.arange(len(task_codes) + 1)),
            mark_kind=np.asarray(kind)[order],
            mark_label=(place[codes] if len(codes) else codes)[order],
            mark_typed=as_names(typed, "typed values").astype(TEXT)[order],
            scale=scale_of(names, ordered),
            **rest,
        )

    # ---- what is inside

    def __len__(self) -> int:
        return len(self.task)

    @cached_property
    def mark_answer(self) -> Ints:
        """(n_marks,) the answer of each mark."""
        return np.repeat(np.arange(len(self)), np.diff(self.mark_start))

    @cached_property
    def _places(self) -> Ints:
        """(n_marks,) how many named marks stand before this one in its answer."""
        named = self.mark_kind == NAMED
        before = np.cumsum(named) - named
        return before - before[self.mark_start[self.mark_answer]]

    def named(self, place: int) -> Ints:
        """(n_answers,) the code of the label named first (place 0), second (1), ...; -1 where there is none."""
        out = np.full(len(self), -1)
        here = (self.mark_kind == NAMED) & (self._places == place)
        out[self.mark_answer[here]] = self.mark_label[here]
        return out

    def typed(self, place: int) -> Names:
        """(n_answers,) what was typed beside the label at that place; "" where nothing was."""
        out = np.zeros(len(self), dtype=TEXT)
        here = (self.mark_kind == NAMED) & (self._places == place)
        out[self.mark_answer[here]] = self.mark_typed[here]
        return out

    def marked(self, kind: str) -> Bools:
        """(n_answers, n_labels) which labels carry a mark of this kind."""
        out = np.zeros((len(self), len(self.labels)), bool)
        here = self.mark_kind == KINDS[kind]
        out[self.mark_answer[here], self.mark_label[here]] = True
        return out

    def where(self, keep: Bools, note: str = "") -> Self:
        """Some of the answers; names stay as they are. `repeat_of` is carried over where its target is kept."""
        rows = np.flatnonzero(np.asarray(keep, bool))
        marks = np.isin(self.mark_answer, rows)
        fields = {name: getattr(self, name) for name in ("tasks", "workers", "labels", "scale")}
        for name in ("task", "worker", "form", "abstain", "none_of_these", "when", "seconds", "position", "sitting"):
            column = getattr(self, name)
            fields[name] = None if column is None else column[rows]
        if self.repeat_of is not None:
            back = np.full(len(self) + 1, -1)  # the last one stands for "none" and for what was left out
            back[rows] = np.arange(len(rows))
            fields["repeat_of"] = back[self.repeat_of[rows]]
        for name in ("mark_kind", "mark_label", "mark_typed"):
            fields[name] = getattr(self, name)[marks]
        fields["mark_start"] = np.concatenate([[0], np.cumsum(np.diff(self.mark_start)[rows])])
        return type(self)(**fields, notes=self.notes + ((note,) if note else ()))

    # ---- faces

    def columns(self) -> dict[str, NDArray[Any]]:
        """task, worker, the first two named labels with what was typed, never and possible joined with |."""
        table: dict[str, NDArray[Any]] = {"task": self.tasks[self.task], "worker": self._worker_names()}
        for name in ("form", "sitting", "position", "when", "seconds", "abstain", "none_of_these", "repeat_of"):
            if (column := getattr(self, name)) is not None:
                table[name] = column
        text = np.concatenate(
            [np.array([str(label) for label in self.labels.tolist()], dtype=TEXT), np.array([""], dtype=TEXT)]
        )
        places = int(self._places[self.mark_kind == NAMED].max(initial=0)) + 1
        for place in range(max(places, 1)):
            prefix = ("top", "second")[place] if place < 2 else f"named{place + 1}"
            table[prefix], table[f"{prefix}_percent"] = text[self.named(place)], self.typed(place)
        for kind in ("never", "possible"):
            if (self.mark_kind == KINDS[kind]).any():
                table[kind] = self._joined(kind)
        return table

    def _worker_names(self) -> Names:
        if not len(self.workers):
            return np.full(len(self), None, object)
        named = self.workers[np.maximum(self.worker, 0)]
        if (self.worker < 0).any():
            named = named.astype(object)
            named[self.worker < 0] = None
        return named

    def _joined(self, kind: str) -> Names:
        lists: list[list[str]] = [[] for _ in range(len(self))]
        here = self.mark_kind == KINDS[kind]
        for answer, label in zip(
            self.mark_answer[here].tolist(), self.labels[self.mark_label[here]].tolist(), strict=True
        ):
            lists[answer].append(str(label))
        return np.array(["|".join(one) for one in lists], dtype=TEXT)

    def facts(self) -> dict[str, object]:
        forms: Mapping[str, int] = {} if self.form is None else _count(self.form)
        return {
            "answers": len(self),
            "tasks": len(self.tasks),
            "workers": len(self.workers),
            "labels": len(self.labels),
            "forms": ", ".join(forms) or None,
        }


def _count(names: Names) -> dict[str, int]:
    values, counts = np.unique(names, return_counts=True)
    return {str(value): int(count) for value, count in zip(values.tolist(), counts.tolist(), strict=True)}
