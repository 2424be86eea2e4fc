"""What people enter in each form of question, from the beliefs they state."""

from typing import NamedTuple

import numpy as np

from plurivox.core.answers import NAMED, NEVER, POSSIBLE
from plurivox.core.types import TEXT, Bools, Floats, Ints, Names
from plurivox.simulate._shared.typed_percents import FAULTS, NOTHING, ON_TOP, TEXTS, draw_faults, draw_steps, type_two

RULED_OUT = 0.02  # labels held less likely are "definitely not"
HELD_POSSIBLE = 0.05  # labels held at least so likely are "also possible"
TICKED = 0.93  # chance that a label to be ruled out is ticked: 7.3 of ten labels in Collins et al.


class Marks(NamedTuple):
    """The marks of n answers, in order within each, and the fault in each answer."""

    start: Ints  # (n + 1,)
    kind: Ints  # (n_marks,)
    label: Ints  # (n_marks,)
    typed: Names  # (n_marks,)
    fault: Ints  # (n,) place among FAULTS, -1: none


class Slots(NamedTuple):
    """Room for every mark an answer may have, each (n, n_slots); `present` says which are there."""

    label: Ints
    kind: Ints
    typed: Ints  # place in TEXTS
    present: Bools


def enter(form: str, stated: Floats, faults: float, rng: np.random.Generator) -> Marks:
    """The marks of answers in this form; `stated` (n, n_labels)."""
    words = {"top-two": tuple(FAULTS), "top-one": ON_TOP, "also-possible": ON_TOP}.get(form, ())
    fault = draw_faults(len(stated), words, faults, rng)
    slots = FORMS[form](stated, fault, rng)
    size, codes = slots.present.sum(1), slots.typed[slots.present]
    typed = np.zeros(len(codes), TEXT)  # nothing beside most of them
    typed[codes != NOTHING] = TEXTS[codes[codes != NOTHING]]
    return Marks(
        np.concatenate([[0], np.cumsum(size)]),
        np.broadcast_to(slots.kind, slots.present.shape)[slots.present],
        slots.label[slots.present],
        typed,
        fault,
    )


def _top_two(stated: Floats, fault: Ints, rng: np.random.Generator) -> Slots:
    n, k = stated.shape
    rows, said = np.arange(n), type_two(stated, fault, rng)
    never = (stated < RULED_OUT) & (rng.random((n, k)) < TICKED)
    never[rows, said.top] = False
    never[rows[said.named], said.second[said.named]] = False
    astray = rows[fault == list(FAULTS).index("contradiction")]
    which = said.named[astray] & (rng.random(len(astray)) < 0.5)
    never[astray, np.where(which, said.second[astray], said.top[astray])] = True
    return _joined([(said.top, said.top_typed), (said.second, said.second_typed)], [said.named], never, NEVER)


def _top_one(stated: Floats, fault: Ints, rng: np.random.Generator) -> Slots:
    said = type_two(stated, fault, rng)
    return _joined([(said.top, said.top_typed)], [], np.zeros((len(stated), 0), bool), NEVER)


def _one_label(stated: Floats, fault: Ints, rng: np.random.Generator) -> Slots:
    del fault, rng
    top = stated.argmax(1)
    return _joined([(top, np.full(len(top), NOTHING))], [], np.zeros((len(top), 0), bool), NEVER)


def _also_possible(stated: Floats, fault: Ints, rng: np.random.Generator) -> Slots:
    said = type_two(stated, fault, rng)
    possible = stated >= HELD_POSSIBLE
    possible[np.arange(len(stated)), said.top] = False
    return _joined([(said.top, said.top_typed)], [], possible, POSSIBLE)


def _ranking(stated: Floats, fault: Ints, rng: np.random.Generator) -> Slots:
    """The labels that are not ruled out, likeliest first."""
    del fault, rng
    order = np.argsort(-stated, axis=1, kind="stable")
    present = np.take_along_axis(stated, order, 1) >= RULED_OUT
    present[:, 0] = True
    return Slots(order, np.array(NAMED), np.full(order.shape, NOTHING), present)


def _histogram(stated: Floats, fault: Ints, rng: np.random.Generator) -> Slots:
    """A percent for every label that gets one, likeliest first; bars always sum to 100."""
    del fault
    order = np.argsort(-stated, axis=1, kind="stable")
    step = draw_steps(len(stated), rng)[:, None]
    bars = np.rint(100 * np.take_along_axis(stated, order, 1) / step).astype(np.int64) * step
    room = 100 - np.concatenate([np.zeros((len(bars), 1), np.int64), np.cumsum(bars, 1)[:, :-1]], 1)
    bars = np.clip(bars, 0, np.maximum(room, 0))
    bars[:, 0] += 100 - bars.sum(1)
    return Slots(order, np.array(NAMED), bars, bars > 0)


def _joined(named: list[tuple[Ints, Ints]], further: list[Bools], ticked: Bools, kind: int) -> Slots:
    """Named labels, of which those after the first are there where `further` says so, then ticked ones."""
    n, n_ticks = ticked.shape
    label = np.column_stack([*(one for one, _ in named), np.tile(np.arange(n_ticks), (n, 1))])
    typed = np.column_stack([*(text for _, text in named), np.full((n, n_ticks), NOTHING)])
    present = np.column_stack([np.ones(n, bool), *further, ticked])
    return Slots(label, np.array([NAMED] * len(named) + [kind] * n_ticks), typed, present)


FORMS = {
    "top-two": _top_two,
    "top-one": _top_one,
    "one-label": _one_label,
    "histogram": _histogram,
    "ranking": _ranking,
    "also-possible": _also_possible,
}
