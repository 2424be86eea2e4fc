"""The recipe rankings: spammers rank worst, and errors."""

from pathlib import Path

import numpy as np
import pytest

from plurivox import recipes, simulate
from plurivox.core.errors import InputError, OptionError
from plurivox.io import Dataset

CROWD = simulate.methods.make("hammer-spammer", n_tasks=100, n_workers=12, feedback=6, ratio=0.4, seed=1).draw()


def test_spammers_are_ranked_worst() -> None:
    data = Dataset("made", votes=CROWD.votes, gold=CROWD.truth)
    made = recipes.Rankings(datasets="made", n=4).run(read=lambda name: data)
    worst = made["made, workers: the 4 worst"].cells["worker"]
    assert {CROWD.confusion.of(name)[0, 0] for name in worst.tolist()} == {0.2}
    likeness = made["made, tasks: rank correlations"].cells
    assert likeness["entropy"][0] == pytest.approx(1) and likeness["score"].tolist()[-1] == "wrong-votes"


def test_counts_without_workers_are_an_error() -> None:
    data = Dataset("made", counts=CROWD.votes)
    with pytest.raises(InputError, match="no votes of named workers"):
        recipes.Rankings(datasets="made").run(read=lambda name: data)


def test_the_five_always_wrong_workers_of_cifar10h_are_found(data_set) -> None:
    folder: Path = data_set("cifar10h")
    made = recipes.Rankings(datasets=str(folder)).run()
    wrong = made["cifar10h, workers: the 10 worst"].cells["wrong-votes"]
    assert (wrong == 1).sum() == 5 and np.all(wrong >= 0.8)


def test_a_score_of_the_wrong_kind_is_an_error_before_reading() -> None:
    with pytest.raises(OptionError, match="worker-scores must be scores of workers; 'entropy' is not"):
        recipes.Rankings(worker_scores="trace,entropy")
