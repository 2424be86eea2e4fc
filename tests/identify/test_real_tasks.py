"""Rankings of the tasks of real data sets, as reported by Lefort et al. (2024), sections 5.1.1 and 5.1.2."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import plurivox as pv


def test_on_labelme_entropy_has_four_values_and_glad_more_than_500(data_set: Callable[[str], Path]) -> None:
    data = pv.read(data_set("labelme"))
    table = pv.rank(data, ["entropy", "glad-difficulty"])
    assert len(np.unique(table.raw[:, 0].round(9))) == 4 and len(np.unique(table.raw[:, 1].round(9))) > 500
    assert data.gold is not None
    kind = data.gold.on(table.names).hard()
    mean = {str(one): table.raw[kind == one, 1].mean() for one in np.unique(kind)}
    assert set(sorted(mean, key=mean.__getitem__)[-3:]) == {
        "insidecity",
        "street",
        "opencountry",
    }


def test_on_cifar10h_entropy_and_glad_rank_mostly_the_same_tasks_worst(data_set: Callable[[str], Path]) -> None:
    data = pv.read(data_set("cifar10h"))
    table = pv.rank(data.votes, ["entropy", "glad-difficulty"])
    assert len(table.names) == 500
    one, other = (set(np.argsort(table.rank[:, k], kind="stable")[:20].tolist()) for k in (0, 1))
    assert len(one & other) >= 15 and table.rank_correlations()[0, 1] > 0.8
    assert pv.score(data.counts, "entropy").raw.mean().round(4) == 0.1545
