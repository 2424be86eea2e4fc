"""Marks that workers enter in each form of question, drawn from their stated beliefs."""

from typing import NamedTuple

import numpy as np

from plurivox.core.answers import NAMED, NEVER, POSSIBLE
from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names
from plurivox.simulate._shared.draw_typed_percents import (
    EMPTY,
    FAULTS,
    TOP_PERCENT_FAULTS,
    TYPED_TEXTS,
    draw_fault_code_per_answer,
    draw_rounding_steps_of_5_or_1,
    draw_top_two_labels_and_typed_percents,
)

RULED_OUT_BELOW = 0.02  # labels of lower probability are "definitely not"
POSSIBLE_FROM = 0.05  # labels of at least this probability are "also possible"
TICK_RATE = 0.93  # probability that a label to be ruled out is ticked: 7.3 of ten labels in Collins et al.


class Marks(NamedTuple):
    """The marks of n simulated answers (kind, label, typed text), and the entry fault simulated in each answer."""

    start: Ints  # (n + 1,) the marks of answer i are start[i]:start[i + 1]
    kind: Ints  # (n_marks,)
    label: Ints  # (n_marks,)
    typed: Names  # (n_marks,)
    fault: Ints  # (n,) position in FAULTS, -1: none


class MarkSlots(NamedTuple):
    """All marks that n answers may have, as arrays (n, n_slots); `present` is true for the marks that they do have."""

    label: Ints
    kind: Ints
    typed: Ints  # position in TYPED_TEXTS
    present: Bools


def draw_answer_marks(form: str, stated_beliefs: Floats, fault_rate_factor: float, rng: np.random.Generator) -> Marks:
    """Return the marks (labels, percents, labels ruled out) of n answers in a form of question, from beliefs (n, n_labels).

    `fault_rate_factor` multiplies the rates of faults in the released answers of Collins et al.
    """
    fault_names = {"top-two": tuple(FAULTS), "top-one": TOP_PERCENT_FAULTS, "also-possible": TOP_PERCENT_FAULTS}.get(
        form, ()
    )
    fault = draw_fault_code_per_answer(len(stated_beliefs), fault_names, fault_rate_factor, rng)
    slots = DRAW_MARKS[form](stated_beliefs, fault, rng)
    size, codes = slots.present.sum(1), slots.typed[slots.present]
    typed = np.zeros(len(codes), TEXT)  # most marks have no text
    typed[codes != EMPTY] = TYPED_TEXTS[codes[codes != EMPTY]]
    return Marks(
        np.concatenate([[0], np.cumsum(size)]),
        np.broadcast_to(slots.kind, slots.present.shape)[slots.present],
        slots.label[slots.present],
        typed,
        fault,
    )


def _draw_top_two_marks(stated_beliefs: Floats, fault: Ints, rng: np.random.Generator) -> MarkSlots:
    """Return random marks of top-two answers: the top label and perhaps a runner-up with percents, and labels ruled out."""
    n, k = stated_beliefs.shape
    rows, typed = np.arange(n), draw_top_two_labels_and_typed_percents(stated_beliefs, fault, rng)
    never = (stated_beliefs < RULED_OUT_BELOW) & (rng.random((n, k)) < TICK_RATE)
    never[rows, typed.top] = False
    never[rows[typed.named], typed.second[typed.named]] = False
    faulty = rows[fault == list(FAULTS).index("contradiction")]
    on_second = typed.named[faulty] & (rng.random(len(faulty)) < 0.5)
    never[faulty, np.where(on_second, typed.second[faulty], typed.top[faulty])] = True
    return _make_named_then_ticked_marks(
        [(typed.top, typed.top_typed), (typed.second, typed.second_typed)], [typed.named], never, NEVER
    )


def _draw_top_one_marks(stated_beliefs: Floats, fault: Ints, rng: np.random.Generator) -> MarkSlots:
    """Return random marks of top-one answers: the top label with its percent."""
    typed = draw_top_two_labels_and_typed_percents(stated_beliefs, fault, rng)
    return _make_named_then_ticked_marks(
        [(typed.top, typed.top_typed)], [], np.zeros((len(stated_beliefs), 0), bool), NEVER
    )


def _make_top_label_marks(stated_beliefs: Floats, unused_fault: Ints, unused_rng: np.random.Generator) -> MarkSlots:
    """Return the marks of one-label answers: the top label without a percent."""
    del unused_fault, unused_rng
    top = stated_beliefs.argmax(1)
    return _make_named_then_ticked_marks([(top, np.full(len(top), EMPTY))], [], np.zeros((len(top), 0), bool), NEVER)


def _draw_also_possible_marks(stated_beliefs: Floats, fault: Ints, rng: np.random.Generator) -> MarkSlots:
    """Return random marks of also-possible answers: the top label with its percent, and the labels that are also possible."""
    typed = draw_top_two_labels_and_typed_percents(stated_beliefs, fault, rng)
    possible = stated_beliefs >= POSSIBLE_FROM
    possible[np.arange(len(stated_beliefs)), typed.top] = False
    return _make_named_then_ticked_marks([(typed.top, typed.top_typed)], [], possible, POSSIBLE)


def _make_ranking_marks(stated_beliefs: Floats, unused_fault: Ints, unused_rng: np.random.Generator) -> MarkSlots:
    """Return the marks of ranking answers: the labels that are not ruled out, most probable first."""
    del unused_fault, unused_rng
    order = np.argsort(-stated_beliefs, axis=1, kind="stable")
    present = np.take_along_axis(stated_beliefs, order, 1) >= RULED_OUT_BELOW
    present[:, 0] = True
    return MarkSlots(order, np.array(NAMED), np.full(order.shape, EMPTY), present)


def _draw_histogram_marks(stated_beliefs: Floats, unused_fault: Ints, rng: np.random.Generator) -> MarkSlots:
    """Return random marks of histogram answers: labels with percents above 0 that sum to 100, most probable first."""
    del unused_fault
    order = np.argsort(-stated_beliefs, axis=1, kind="stable")
    step = draw_rounding_steps_of_5_or_1(len(stated_beliefs), rng)[:, None]
    bars = np.rint(100 * np.take_along_axis(stated_beliefs, order, 1) / step).astype(np.int64) * step
    remaining = 100 - np.concatenate([np.zeros((len(bars), 1), np.int64), np.cumsum(bars, 1)[:, :-1]], 1)
    bars = np.clip(bars, 0, np.maximum(remaining, 0))
    bars[:, 0] += 100 - bars.sum(1)
    return MarkSlots(order, np.array(NAMED), bars, bars > 0)


def _make_named_then_ticked_marks(
    named_label_and_text_columns: list[tuple[Ints, Ints]],
    has_label_after_first: list[Bools],
    is_ticked: Bools,
    ticked_kind: int,
) -> MarkSlots:
    """Return the marks that answers may have: named labels with typed texts first, then ticked labels of one kind.

    `named_label_and_text_columns` are (label, typed) columns, each (n,); `has_label_after_first` has a mask (n,) for each
    named label after the first; `is_ticked` is (n, n_labels).
    """
    n, n_ticks = is_ticked.shape
    label = np.column_stack(
        [*(column for column, _ in named_label_and_text_columns), np.tile(np.arange(n_ticks), (n, 1))]
    )
    typed = np.column_stack([*(text for _, text in named_label_and_text_columns), np.full((n, n_ticks), EMPTY)])
    present = np.column_stack([np.ones(n, bool), *has_label_after_first, is_ticked])
    return MarkSlots(
        label, np.array([NAMED] * len(named_label_and_text_columns) + [ticked_kind] * n_ticks), typed, present
    )


DRAW_MARKS = {
    "top-two": _draw_top_two_marks,
    "top-one": _draw_top_one_marks,
    "one-label": _make_top_label_marks,
    "histogram": _draw_histogram_marks,
    "ranking": _make_ranking_marks,
    "also-possible": _draw_also_possible_marks,
}
