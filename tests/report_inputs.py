"""Data of report tests: a crowd with guessers, a worker against the others, repeats, a single vote, hostile names and texts."""

import io

import numpy as np
from PIL import Image

import plurivox as pv
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

HOSTILE = "<script>alert(1)</script>"
GUESSERS = ("guesser-1", "guesser-2", "against")
N_TASKS, N_WORKERS = 80, 9


def doubtful_crowd(seed: int = 0) -> tuple[Votes, SoftLabels]:
    """Return votes of six careful workers, two who guess and one who gives wrong labels, and the gold labels of the tasks."""
    rng = np.random.default_rng(seed)
    labels = ["yes", HOSTILE, "no"]
    workers = [*(f"careful-{i}" for i in range(N_WORKERS - 4)), HOSTILE, *GUESSERS]
    truth = rng.integers(3, size=N_TASKS)
    task, worker = (grid.ravel() for grid in np.indices((N_TASKS, N_WORKERS)))
    right = rng.random(len(task)) < 0.85
    label = np.where(right, truth[task], rng.integers(3, size=len(task)))
    guesses = (worker >= N_WORKERS - 3) & (worker < N_WORKERS - 1)
    label = np.where(guesses, rng.integers(3, size=len(task)), label)
    label = np.where(worker == N_WORKERS - 1, (truth[task] + 1) % 3, label)
    kept = rng.random(len(task)) < 0.7
    kept[(task == 0) & (worker > 0)] = False
    kept[0] = True
    again = np.flatnonzero(kept)[:5]
    rows = np.concatenate([np.flatnonzero(kept), again])
    names = [f"task-{i:02d}" for i in range(N_TASKS)]
    votes = Votes.of(
        [names[i] for i in task[rows]],
        [workers[i] for i in worker[rows]],
        [labels[i] for i in label[rows]],
        labels=labels,
    )
    return votes, SoftLabels.gold(names, [labels[k] for k in truth], labels)


def doubtful_dataset(seed: int = 0) -> pv.Dataset:
    """Return these votes and gold labels as a data set."""
    votes, gold = doubtful_crowd(seed)
    return pv.Dataset("crowd", votes=votes, gold=gold)


def small_images() -> dict[str, bytes]:
    """Return a PNG file of 8 x 8 pixels for every task, one of them damaged."""
    found = {}
    for i in range(N_TASKS):
        buffer = io.BytesIO()
        Image.new("RGB", (8, 8), (3 * i, 90, 160)).save(buffer, "PNG")
        found[f"task-{i:02d}"] = buffer.getvalue()
    return found | {"task-01": b"not an image"}
