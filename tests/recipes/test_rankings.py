"""The recipe rankings: spammers rank worst, and errors."""

from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox import recipes, simulate
from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset

CROWD = simulate.methods.make("hammer-spammer", n_tasks=100, n_workers=12, feedback=6, ratio=0.4, seed=1).draw()


def test_spammers_are_ranked_worst() -> None:
    data = Dataset("made", votes=CROWD.votes, gold=CROWD.truth)
    made = recipes.Rankings(datasets="made", n=4).run(read=lambda name: data)
    worst = made["made, workers: the 4 worst"].cells["worker"]
    assert {CROWD.confusion.of(name)[0, 0] for name in worst.tolist()} == {0.2}
    likeness = made["made, tasks: rank correlations"].cells
    assert likeness["entropy"][0] == pytest.approx(1) and likeness["score"].tolist()[-1] == "wrong-votes"


def test_a_worker_wrong_on_every_vote_is_at_the_bottom_by_the_papers_trace() -> None:
    """Sixty workers are right nine times out of ten; one gives a wrong label to one task of every label."""
    rng, n_labels = np.random.default_rng(0), 10
    true = np.arange(300) % n_labels
    task, worker = np.repeat(np.arange(300), 4), rng.permuted(np.tile(np.arange(60), (300, 1)), axis=1)[:, :4].ravel()
    said = np.where(rng.random(1200) < 0.9, true[task], rng.integers(0, n_labels, 1200))
    votes = Votes.of(
        np.concatenate([task, np.arange(n_labels)]),
        np.concatenate([[f"w{i:02}" for i in worker], ["wrong"] * n_labels]),
        np.concatenate([said, (true[:n_labels] + 1) % n_labels]),
    )
    data = Dataset("made", votes=votes, gold=SoftLabels.gold(np.arange(300), true, labels=range(n_labels)))
    made = recipes.Rankings(datasets="made", n=61, task_scores="entropy").run(read=lambda name: data)
    table = made["made, workers: the 61 worst"]
    at = table.cells["worker"].tolist().index("wrong")
    trace, pooled = table.cells["trace"], table.cells["trace-pooled"]
    assert trace[at] == min(trace) < 0.5 and pooled[at] > 5  # the pooled one is far from it
    scores = pv.score(votes, "trace")
    assert trace.tolist() == scores.raw[[scores.names.tolist().index(one) for one in table.cells["worker"]]].tolist()
    assert any("trace-pooled, spam-score-pooled: of a fit by dawid-skene[pool=4]" in note for note in table.notes)


def test_counts_without_workers_are_an_error() -> None:
    data = Dataset("made", counts=CROWD.votes)
    with pytest.raises(InputError, match="no votes of named workers"):
        recipes.Rankings(datasets="made").run(read=lambda name: data)


def test_the_five_always_wrong_workers_of_cifar10h_are_found(data_set) -> None:
    folder: Path = data_set("cifar10h")
    made = recipes.Rankings(datasets=str(folder)).run()
    wrong = made["cifar10h, workers: the 10 worst"].cells["wrong-votes"]
    assert (wrong == 1).sum() == 5 and np.all(wrong >= 0.8)
    workers = made["cifar10h, workers: the 10 worst"].cells
    never = workers["worker"].tolist().index("w2561")  # wrong on all 15 votes
    assert workers["trace"][never] == pytest.approx(0.252, abs=5e-4)
    assert workers["trace-pooled"][never] == pytest.approx(7.105, abs=5e-4)
    likeness = made["cifar10h, workers: rank correlations"].cells
    near = dict(zip(likeness["score"].tolist(), likeness["wrong-votes"].tolist(), strict=True))
    assert [round(near[name], 2) for name in ("spam-score", "spam-score-pooled")] == [0.1, 0.77]
    assert [round(near[name], 2) for name in ("trace", "trace-pooled")] == [0.27, 0.76]


def test_a_score_of_the_wrong_kind_is_an_error_before_reading() -> None:
    with pytest.raises(OptionError, match="worker-scores must be scores of workers; 'entropy' is not"):
        recipes.Rankings(worker_scores="trace,entropy")
