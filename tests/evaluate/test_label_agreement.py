"""Agreement per label."""

import numpy as np
import pytest

from plurivox.core.votes import Votes
from plurivox.evaluate import agreement_per_label


def test_soft_answers_without_worker_names_are_answers_not_counts() -> None:
    rng = np.random.default_rng(0)
    percent, task = rng.uniform(0.1, 0.9, 40), np.repeat(np.arange(10), 4)
    rows = {
        "task": np.repeat(task, 2),
        "label": np.tile(["no", "yes"], 40),
        "weight": np.column_stack([percent, 1 - percent]).ravel(),
        "answer": np.repeat(np.arange(40), 2),
    }
    named, unnamed = (
        agreement_per_label(Votes.of(worker=worker, **rows), resamples=0)
        for worker in (np.repeat(np.arange(40), 2), None)
    )
    np.testing.assert_allclose(unnamed.alpha, named.alpha)
    assert unnamed.alpha[0] == pytest.approx(unnamed.alpha[1])  # with two labels both are the alpha of the crowd
