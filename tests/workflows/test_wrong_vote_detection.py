"""How well a score finds tasks with wrong votes, and the intervals of it."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from plurivox.workflows.wrong_vote_detection import WrongVoteDetection, detection_interval_table

RNG = np.random.default_rng(5)
ERROR = RNG.integers(0, 4, 300) / 3
MISS = ERROR > 0.5


def detection(noise: float, runs: int = 3) -> WrongVoteDetection:
    return WrongVoteDetection(ERROR + noise * RNG.normal(size=(runs, 300)), ERROR, MISS)


def test_spearman_and_auc_equal_those_of_scipy_and_scikit_learn() -> None:
    found = detection(0.5, runs=1)
    measures = found.measures_of_run(0)
    assert measures["Spearman"] == pytest.approx(spearmanr(found.badness[0], ERROR).statistic)
    assert measures["AUC, wrong majority"] == pytest.approx(roc_auc_score(MISS, found.badness[0]))


def test_the_interval_covers_other_tasks_too() -> None:
    # runs that agree perfectly have a standard deviation of 0 over runs; other tasks still give other correlations
    same = WrongVoteDetection(np.repeat(detection(0.5, runs=1).badness, 3, 0), ERROR, MISS)
    drawn = same.mean_measures_of_resamples(200, seed=0)
    assert drawn.std(0).min() > 0.005
    table = detection_interval_table(same, "score", same, "same", repeats=50, seed=0).columns()
    assert table["Spearman"][2] == "+0.0000 [+0.0000, +0.0000]"  # the same tasks are drawn for both
