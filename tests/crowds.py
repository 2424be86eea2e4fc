"""Test data: hypothesis strategies, and small crowds of votes and answers."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from plurivox.core.answers import Answers
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
NAMES = st.sampled_from(["text", "int", "float", "bool"]).flatmap(
    lambda kind: {
        "text": st.lists(TEXTS, min_size=1, max_size=5, unique=True),
        "int": st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5, unique=True),
        "float": st.lists(st.floats(-1e9, 1e9, width=32), min_size=1, max_size=5, unique=True),
        "bool": st.permutations([False, True]),
    }[kind]
)


@st.composite
def vote_columns(draw: Any) -> dict[str, list[Any]]:
    """Draw columns of plain votes with any type of names; a worker may answer the same task repeatedly."""
    tasks, workers, labels = draw(NAMES), draw(NAMES), draw(NAMES)
    rows = draw(st.integers(1, 12))
    pick = lambda names: draw(st.lists(st.sampled_from(names), min_size=rows, max_size=rows))  # noqa: E731
    return {"task": pick(tasks), "worker": pick(workers), "label": pick(labels)}


@st.composite
def distributions(draw: Any, max_rows: int = 6, max_labels: int = 5) -> np.ndarray:
    """Draw (n_rows, n_labels) probabilities with rows that sum to one, some of them zero."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(1, max_labels))
    cells = draw(st.lists(st.integers(0, 9), min_size=n * k, max_size=n * k))
    table = np.array(cells, float).reshape(n, k)
    table[table.sum(1) == 0] = 1
    return table / table.sum(1, keepdims=True)


def crowd(
    n_tasks: int = 30, n_workers: int = 6, n_labels: int = 3, feedback: int = 5, seed: int = 0
) -> dict[str, np.ndarray]:
    """Return columns of plain votes of workers who are right about 4 times in 5."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, n_labels, n_tasks)
    task = np.repeat(np.arange(n_tasks), feedback)
    worker = np.concatenate([rng.permutation(n_workers)[:feedback] for _ in range(n_tasks)])
    label = np.where(rng.random(len(task)) < 0.7, true[task], rng.integers(0, n_labels, len(task)))
    return {"task": task, "worker": worker, "label": label}


def soft_crowd(seed: int = 0, n_tasks: int = 20, n_workers: int = 5, n_labels: int = 3) -> Votes:
    """Return soft answers: every worker distributes one vote over the labels of every task."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(n_labels), n_tasks * n_workers)
    answer = np.repeat(np.arange(n_tasks * n_workers), n_labels)
    return Votes.of(
        task=answer // n_labels if n_labels == n_workers else answer // n_workers,
        worker=answer % n_workers,
        label=np.tile(np.arange(n_labels), n_tasks * n_workers),
        weight=share.ravel(),
        answer=answer,
    )


def some_answers() -> Answers:
    """Return three answers: top two with a ruled-out label, one without a percent, one "can't tell"."""
    return Answers.of(
        task=["a", "a", "b"],
        worker=["ann", "bo", "ann"],
        marks=[
            [("named", "cat", "70"), ("named", "dog", "8p"), ("never", "ship", "")],
            [("named", "dog", "")],
            [],
        ],
        form=np.array(["top-two", "one-label", "top-two"], dtype=np.dtypes.StringDType()),
        abstain=np.array([False, False, True]),
        seconds=np.array([31.0, 2.5, np.nan]),
        position=np.array([0, 0, 1]),
        repeat_of=np.array([-1, -1, -1]),
    )


def some_soft() -> SoftLabels:
    """Return soft labels of two tasks, one without answers."""
    return SoftLabels.of(
        [[0.7, 0.2, 0.1], [0, 0.5, 0.5]], tasks=["a", "b"], labels=["x", "y", "z"], support=np.array([3, 0])
    )
