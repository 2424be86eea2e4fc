"""What people say: whole columns at once, or vote by vote in peerannot's order of draws."""

import numpy as np

from plurivox.core.types import Floats, Ints
from plurivox.simulate._shared.worker_assignment import PIECE, VoteDesign, in_pieces, next_workers
from plurivox.simulate._shared.worker_sequences import EASY, HARD, Turns

FEW = 16  # labels: with more, a search is faster than to look at all of them


def say(matrices: Floats, turns: Turns, rng: np.random.Generator) -> Ints:
    """(n_turns,) the label of every turn, by the rows of [worker, true, said]."""
    n_labels = matrices.shape[1]
    label = by_rows(matrices, turns, rng)
    if turns.sure is not None:
        label = np.where(turns.sure, turns.here(), label)
    if turns.guess is not None:
        label[turns.guess] = rng.integers(0, n_labels, int(turns.guess.sum()))
    return label if turns.source is None else label[turns.source]


def by_rows(matrices: Floats, turns: Turns, rng: np.random.Generator) -> Ints:
    """(n_turns,) a label from the row of the model's matrix for the true label."""
    n_workers, n_labels, _ = matrices.shape
    steps = np.cumsum(matrices, axis=2).reshape(n_workers * n_labels, n_labels)
    steps[:, -1] = 1.0  # whatever rounding made of it
    columns = np.ascontiguousarray(steps.T)  # (n_labels, n_workers * n_labels)
    ladder = None if n_labels <= FEW else (steps + np.arange(len(steps))[:, None]).ravel()
    said = np.empty(len(turns), np.min_scalar_type(n_labels - 1))

    def some_turns(part: slice, own: np.random.Generator) -> None:
        row = turns.model[part].astype(np.int64)
        row *= n_labels
        row += turns.here(part)
        point = own.random(len(row))
        if ladder is not None:
            said[part] = np.searchsorted(ladder, row + point, side="right") - row * n_labels
            return
        label = np.zeros(len(row), said.dtype)
        for column in columns[:-1]:
            label += point >= column.take(row, mode="clip")
        said[part] = label

    in_pieces(len(turns), PIECE, some_turns, rng)
    return said


def one_by_one(
    asked: VoteDesign, matrices: Floats, true: Ints, level: Ints | None, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """(task, worker, label) drawn vote by vote as peerannot 0.0.1 does: the same seed gives the crowd of its paper."""
    load, n_labels = np.zeros(asked.n_workers, np.int64), matrices.shape[1]
    votes: list[tuple[int, int, int]] = []
    for task in range(asked.n_tasks):
        for worker in next_workers(asked, load, rng).tolist():
            if level is None or level[task] == HARD:
                label = int(rng.choice(n_labels, p=matrices[worker, true[task]]))
            else:
                label = int(true[task]) if level[task] == EASY else int(rng.choice(n_labels))
            votes.append((task, worker, label))
    rows = np.array(votes)
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    return rows[:, 0], rows[:, 1], rows[:, 2]
