"""fast-dawid-skene against a plain loop."""

import numpy as np
import pytest

from aggregate.plain_dawid_skene import matrices_of
from crowds import crowd, soft_crowd
from plurivox.aggregate import FastDawidSkene
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def plain_fast(votes: Votes, passes: int, smooth: float) -> np.ndarray:
    """Return (n_tasks,) label codes, computed task by task."""
    best = votes.counts() >= votes.counts().max(1, keepdims=True) - 1e-9
    belief = best / best.sum(1, keepdims=True)
    for _ in range(passes):
        prior, matrices = matrices_of(votes, belief, np.full((votes.n_labels, votes.n_labels), smooth))
        label = []
        for task in range(votes.n_tasks):
            mine = votes.task == task
            says = np.log(matrices[votes.worker[mine], :, votes.label[mine]])
            label.append((np.log(np.maximum(prior, 1e-300)) + votes.weights[mine] @ says).argmax())
        belief = np.eye(votes.n_labels)[label]
    return np.array(label)


@pytest.mark.parametrize("votes", [Votes.of(**crowd(n_labels=4, seed=2)), soft_crowd(seed=5)], ids=["plain", "soft"])
def test_labels_equal_a_plain_loop(votes: Votes) -> None:
    fit = FastDawidSkene(max_iter=6, tol=0.0).fit(votes)
    np.testing.assert_array_equal(fit.soft.most_probable_label_codes(), plain_fast(votes, len(fit.trace), 0.01))
    assert set(np.unique(fit.soft.prob)) == {0.0, 1.0} and (np.diff(fit.trace) >= 0).all()


def test_it_stops_when_no_label_changes() -> None:
    votes = Votes.of(**crowd(n_tasks=200, n_workers=20, seed=1))
    fit = FastDawidSkene().fit(votes)
    assert fit.converged and fit.found["passes"] < 20
    np.testing.assert_array_equal(
        fit.soft.most_probable_label_codes(), FastDawidSkene(tol=0.0).fit(votes).soft.most_probable_label_codes()
    )


def test_answer_posterior_returns_the_posterior() -> None:
    votes = Votes.of(**crowd())
    firm, soft = FastDawidSkene().fit(votes), FastDawidSkene(answer="posterior").fit(votes)
    np.testing.assert_array_equal(firm.soft.most_probable_label_codes(), soft.soft.most_probable_label_codes())
    assert soft.soft.confidence.min() < 1 == firm.soft.confidence.min()


def test_soft_gold_labels_and_tasks_without_votes_stay_soft() -> None:
    votes = Votes.of(**crowd(), tasks=range(31))
    gold = SoftLabels.of([[0.5, 0.25, 0.25]], tasks=[4], labels=[0, 1, 2])
    fit = FastDawidSkene().fit(votes, gold=gold)
    assert fit.soft.prob[4].tolist() == [0.5, 0.25, 0.25]
    np.testing.assert_allclose(fit.soft.prob[30], fit.prior)
