"""What every simulated crowd promises."""

import numpy as np
import pytest

from plurivox import simulate
from plurivox.core.errors import OptionError
from plurivox.core.labels import SoftLabels
from plurivox.simulate import HARD

every = pytest.mark.parametrize("name", simulate.methods)


@every
def test_the_crowd_has_the_sizes_asked_for(name: str) -> None:
    crowd = simulate.methods.make(name, n_tasks=40, n_workers=9, n_labels=4, feedback=6, seed=3).draw()
    votes = crowd.votes
    assert (votes.n_tasks, votes.n_workers, votes.n_labels, len(votes)) == (40, 9, 4, 240)
    assert votes.support.tolist() == [6] * 40 and votes.n_repeats == 0
    np.testing.assert_allclose(crowd.confusion.dense().sum(2), 1)
    assert crowd.truth.tasks.tolist() == votes.tasks.tolist()


@every
def test_same_seed_same_crowd(name: str) -> None:
    a, b, c = (simulate.methods.make(name, seed=seed).draw().votes for seed in (1, 1, 2))
    assert a.label.tolist() == b.label.tolist() != c.label.tolist()


@every
def test_truth_can_be_given(name: str) -> None:
    truth = SoftLabels.gold(["a", "b", "c"], ["yes", "no", "no"])
    crowd = simulate.methods.make(name).draw(truth)
    assert crowd.votes.tasks.tolist() == ["a", "b", "c"] and crowd.truth.hard().tolist() == ["yes", "no", "no"]


@every
def test_votes_follow_the_matrices(name: str) -> None:
    crowd = simulate.methods.make(name, n_tasks=4000, n_workers=4, n_labels=3, feedback=4, seed=5).draw()
    votes, true = crowd.votes, crowd.truth.codes()
    told = np.ones(4000, bool) if crowd.level is None else crowd.level == HARD
    for worker in range(4):
        mine = (votes.worker == worker) & told[votes.task]
        said = np.zeros((3, 3))
        np.add.at(said, (true[votes.task[mine]], votes.label[mine]), 1)
        np.testing.assert_allclose(said / said.sum(1, keepdims=True), crowd.confusion.dense()[worker], atol=0.06)


@every
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feedback": 31}, "feedback of 31 needs as many workers; there are 30"),
        ({"n_labels": 1}, "n-labels must be at least 2"),
        ({"n_tasks": 0}, "n-tasks must be at least 1"),
    ],
)
def test_impossible_sizes_are_refused_before_anything_is_drawn(name: str, options: dict, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        simulate.methods.make(name, **options)
