"""Draws of the labels that workers give: all votes together, or vote by vote in peerannot's order of random draws."""

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.simulate._shared.fatigue_drift_copying import EASY, HARD, Assignments
from plurivox.simulate._shared.worker_assignment import (
    CHUNK_VOTES,
    VoteDesign,
    choose_next_task_workers_below_workload,
    process_chunks_on_threads_with_own_rng,
)

MAX_SCAN_LABELS = 16  # with more labels, binary search is faster than a scan over all of them


def draw_labels_with_guesses_and_copies(matrices: Floats, assignments: Assignments, rng: np.random.Generator) -> Ints:
    """Return (n_assignments,) random labels from the workers' confusion matrices, overridden by easy tasks, guesses, copies."""
    n_labels = matrices.shape[1]
    label = draw_labels_from_matrices(matrices, assignments, rng)
    if assignments.always_right is not None:
        label = np.where(assignments.always_right, assignments.true_label_per_assignment(), label)
    if assignments.is_guess is not None:
        label[assignments.is_guess] = rng.integers(0, n_labels, int(assignments.is_guess.sum()))
    return label if assignments.copied_row is None else label[assignments.copied_row]


def draw_labels_from_matrices(matrices: Floats, assignments: Assignments, rng: np.random.Generator) -> Ints:
    """Return (n_assignments,) random labels, each from a worker's confusion matrix in the row of the task's true label."""
    n_workers, n_labels, _ = matrices.shape
    cumulative = np.cumsum(matrices, axis=2).reshape(n_workers * n_labels, n_labels)
    cumulative[:, -1] = 1.0  # without rounding error
    columns = np.ascontiguousarray(cumulative.T)  # (n_labels, n_workers * n_labels)
    # one sorted array of all rows, row i in i..i+1, for binary search
    stacked = None if n_labels <= MAX_SCAN_LABELS else (cumulative + np.arange(len(cumulative))[:, None]).ravel()
    labels = np.empty(len(assignments), np.min_scalar_type(n_labels - 1))

    def write_drawn_labels_of_rows(rows: slice, chunk_rng: np.random.Generator) -> None:
        """Write a random label for each assignment in `rows` to `labels`."""
        matrix_row = assignments.matrix_worker[rows].astype(np.int64)
        matrix_row *= n_labels
        matrix_row += assignments.true_label_per_assignment(rows)
        point = chunk_rng.random(len(matrix_row))
        if stacked is not None:
            labels[rows] = np.searchsorted(stacked, matrix_row + point, side="right") - matrix_row * n_labels
            return
        label = np.zeros(len(matrix_row), labels.dtype)
        for column in columns[:-1]:
            label += point >= column.take(matrix_row, mode="clip")
        labels[rows] = label

    process_chunks_on_threads_with_own_rng(len(assignments), CHUNK_VOTES, write_drawn_labels_of_rows, rng)
    return labels


def draw_votes_like_peerannot(
    design: VoteDesign, matrices: Floats, true_label: Ints, level: Ints | None, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Return (task, worker, label) drawn vote by vote as in peerannot 0.0.1: the same seed gives the crowd of its paper."""
    load, n_labels = np.zeros(design.n_workers, np.int64), matrices.shape[1]
    votes: list[tuple[int, int, int]] = []
    for task in range(design.n_tasks):
        for worker in choose_next_task_workers_below_workload(design, load, rng).tolist():
            if level is None or level[task] == HARD:
                label = int(rng.choice(n_labels, p=matrices[worker, true_label[task]]))
            else:
                label = int(true_label[task]) if level[task] == EASY else int(rng.choice(n_labels))
            votes.append((task, worker, label))
    rows = np.array(votes)
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    return rows[:, 0], rows[:, 1], rows[:, 2]
