"""Assigned votes before their labels are drawn, with the effects of task level, fatigue, drift and copying on each."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints

LEVELS = ("easy", "hard", "random")
EASY, HARD, RANDOM = range(3)


@dataclass(frozen=True)
class Assignments:
    """One row per (task, worker) pair whose label is to be drawn, sorted by task, then worker."""

    task: Ints  # (n,)
    worker: Ints  # (n,)
    true: Ints  # (n_tasks,) the true label of every task
    matrix_worker: Ints  # (n,) the worker whose confusion matrix is used: the row's own, a drift target or a leader
    n_before: Ints | None = None  # (n,) tasks that the worker answered before this one; None: the order is not used
    always_right: Bools | None = None  # (n,) rows whose label is the true one, whoever answers
    is_guess: Bools | None = None  # (n,) rows whose label is uniformly random, whoever answers
    copied_row: Ints | None = None  # (n,) the row whose label is used: the row itself, or one that it copies

    def __len__(self) -> int:
        return len(self.task)

    def true_label_per_assignment(self, rows: slice = slice(None)) -> Ints:
        """Return (n_rows,) the true label of the task of each assignment in `rows`."""
        return self.true[self.task[rows]]


@dataclass(frozen=True)
class AnswerEffects:
    """The rates of fatigue, drift and copying of simulated workers, and the workers that they drift towards or copy."""

    tire: float = 0.0  # probability that a worker's last answer is a guess
    drift: float = 0.0  # probability that a worker's last answer uses the drift target's matrix
    drift_target: Ints | None = None  # (n_workers,) the worker whose matrix each drifts towards
    copy_rate: float = 0.0  # probability that a copier copies an answer
    leader: Ints | None = None  # (n_workers,) the worker that each copies, a leader's own code; -1: none
    needs_order: bool = False  # draw each worker's task order even without fatigue and drift


def make_assignments_with_drawn_effects(
    task: Ints, worker: Ints, true_label: Ints, level: Ints | None, effects: AnswerEffects, rng: np.random.Generator
) -> Assignments:
    """Return (task, worker) pairs as `Assignments`, with random guesses by tired workers, drift and copies of other workers.

    `true_label` and `level` are (n_tasks,).
    """
    always_right = is_guess = n_before = copied_row = None
    matrix_worker = worker
    if level is not None:
        always_right, is_guess = (level == EASY)[task], (level == RANDOM)[task]
    if effects.needs_order or effects.tire or effects.drift:
        n_before, progress = draw_rank_and_scaled_rank_within_worker(worker, rng)
        if effects.tire:
            tired = rng.random(len(task)) < effects.tire * progress
            is_guess = tired if is_guess is None else is_guess | tired
        if effects.drift and effects.drift_target is not None:
            drifts = rng.random(len(task)) < effects.drift * progress
            matrix_worker = np.where(drifts, effects.drift_target[worker], matrix_worker)
    if effects.leader is not None:
        copied_row = _draw_row_copied_by_each_row(task, worker, effects.leader, effects.copy_rate, rng)
        leads = effects.leader[worker] == worker
        of_group = np.where(leads, matrix_worker, effects.leader[worker])
        matrix_worker = np.where(copied_row >= 0, of_group, matrix_worker)
        copied_row = np.where(copied_row >= 0, copied_row, np.arange(len(task)))
    return Assignments(task, worker, true_label, matrix_worker, n_before, always_right, is_guess, copied_row)


def draw_rank_and_scaled_rank_within_worker(worker_of_row: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return the rank of each row (n,) in a random order of its worker's tasks: from 0, and scaled to 0..1."""
    key = worker_of_row.astype(np.int64) << 32 | rng.integers(0, 2**32, len(worker_of_row), dtype=np.uint32)
    order = np.argsort(key, kind="stable")
    count = np.bincount(worker_of_row)
    n_before = np.empty(len(worker_of_row), np.int64)
    n_before[order] = np.arange(len(worker_of_row)) - np.repeat(np.cumsum(count) - count, count)
    return n_before, n_before / np.maximum(count - 1, 1)[worker_of_row]


def _draw_row_copied_by_each_row(
    task: Ints, worker: Ints, leader: Ints, copy_rate: float, rng: np.random.Generator
) -> Ints:
    """Return (n,) for each (task, worker) row the row whose label it copies; -1 if the worker answers independently.

    All who copy one leader on a task give the same label: the leader's or, if the leader does not answer the task, the label
    that the first of them draws from the leader's matrix.
    """
    copied_row = np.full(len(task), -1)
    copies = (leader[worker] == worker) | ((leader[worker] >= 0) & (rng.random(len(task)) < copy_rate))
    rows = np.flatnonzero(copies)
    leader_of_row = leader[worker[rows]]
    key = task[rows].astype(np.int64) * len(leader) + leader_of_row
    order = np.lexsort((leader_of_row != worker[rows], key))  # the leader's own row first
    _, first, group = np.unique(key[order], return_index=True, return_inverse=True)
    copied_row[rows[order]] = rows[order[first]][group]
    return copied_row
