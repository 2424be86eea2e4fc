"""The worker scores from a fit: trace, spam-score, glad-ability."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import plurivox as pv
from crowds import crowd
from plurivox import simulate
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from score_shortcuts import score


def fit_with(matrices: np.ndarray, which: np.ndarray | None = None) -> Fit:
    """Return a fit with these confusion matrices."""
    n, k = len(matrices) if which is None else len(which), matrices.shape[1]
    workers, labels = as_names([f"w{i}" for i in range(n)]), as_names(list("abcdefgh"[:k]))
    soft = SoftLabels.of(np.full((1, k), 1 / k), ["t"], labels)
    return Fit(soft, workers, "made", confusion=Confusion(matrices, workers, labels, which))


def test_trace_equals_values_computed_by_hand() -> None:
    scores = score("trace", fit=fit_with(np.array([np.eye(3), np.full((3, 3), 1 / 3), np.roll(np.eye(3), 1, 0)])))
    np.testing.assert_allclose(scores.raw, [3, 1, 0], atol=1e-12)
    np.testing.assert_allclose(scores.badness, [0, 2 / 3, 1], atol=1e-12)


def test_the_spam_score_sums_over_unordered_pairs_of_rows() -> None:
    pi = np.random.default_rng(0).dirichlet(np.ones(4), (5, 4))
    by_hand = [sum(((m[k] - m[j]) ** 2).sum() for k, j in itertools.combinations(range(4), 2)) / (4 * 3) for m in pi]
    scores = score("spam-score", fit=fit_with(pi))
    np.testing.assert_allclose(scores.raw, by_hand)
    np.testing.assert_allclose(scores.badness, 1 - scores.raw)


def test_the_spam_score_is_0_for_spammers_1_for_experts_and_the_papers_for_two_labels() -> None:
    always_second = np.eye(3)[[1, 1, 1]]
    scores = score("spam-score", fit=fit_with(np.array([np.full((3, 3), 1 / 3), always_second, np.eye(3)])))
    np.testing.assert_allclose(scores.raw, [0, 0, 1], atol=1e-12)
    sensitivity, specificity = 0.8, 0.7
    two = np.array([[[specificity, 1 - specificity], [1 - sensitivity, sensitivity]]])
    np.testing.assert_allclose(score("spam-score", fit=fit_with(two)).raw, (sensitivity + specificity - 1) ** 2)


@pytest.mark.parametrize("name", ["trace", "spam-score"])
def test_workers_may_share_a_matrix(name: str) -> None:
    both = np.array([np.eye(2), np.full((2, 2), 0.5)])
    assert score(name, fit=fit_with(both, np.array([1, 0, 1]))).worst(2).tolist() == ["w0", "w2"]


def test_the_spam_score_separates_simulated_spammers() -> None:
    found = []
    for seed in range(10):
        made = simulate.methods.make("hammer-spammer", ratio=0.5, seed=seed).draw()  # 200 tasks, 30 workers, 5 labels
        assert (made.votes.n_tasks, made.votes.n_workers, made.votes.n_labels) == (200, 30, 5) and len(
            made.votes
        ) == 2000
        scores = score("spam-score", fit=pv.fit(made.votes, "dawid-skene"), votes=made.votes)
        spammer = np.einsum("wkk->w", made.confusion.dense()) < 2
        assert spammer.sum() == 15 and scores.n is not None and scores.n.sum() == 2000
        found.append(roc_auc_score(spammer, scores.badness))
    assert np.mean(found) >= 0.99


def test_glad_ability_is_that_of_the_fit_without_an_interval() -> None:
    votes = Votes.of(**crowd())
    fit = pv.fit(votes, "glad")
    scores = score("glad-ability", fit=fit)
    np.testing.assert_array_equal(scores.raw, fit.ability)
    assert scores.low is None and scores.high is None


@pytest.mark.parametrize("name", ["trace", "spam-score", "glad-ability"])
def test_a_fit_without_the_needed_field_raises_an_error(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} needs the .* of a fit, and vote-shares estimates none; use a fit by"):
        score(name, fit=pv.fit(Votes.of(**crowd()), "vote-shares"))
    with pytest.raises(InputError, match=f"{name} needs fit"):
        score(name)


@pytest.mark.parametrize("name", ["trace", "spam-score"])
def test_confusion_scores_need_two_labels(name: str) -> None:
    with pytest.raises(InputError, match="needs two labels or more"):
        score(name, fit=fit_with(np.ones((2, 1, 1))))


@pytest.mark.parametrize("name", ["trace", "spam-score"])
def test_the_default_fit_is_the_papers_and_the_pooled_score_has_its_own_name(name: str) -> None:
    votes = Votes.of(**crowd(40, 8, 4))
    np.testing.assert_array_equal(pv.score(votes, name).raw, pv.score(votes, name, by="dawid-skene").raw)
    pooled = pv.score(votes, f"{name}-pooled")
    np.testing.assert_array_equal(pooled.raw, pv.score(votes, name, by="dawid-skene[pool=4]").raw)
    assert (pooled.raw != pv.score(votes, name).raw).all()
    with pytest.raises(
        InputError, match=f"{name}-pooled needs a fit with pooled confusion .*for that fit, use {name}$"
    ):
        pv.score(votes, f"{name}-pooled", by="dawid-skene")
    both = pv.rank(votes, [name, f"{name}-pooled"], by="dawid-skene")  # the pooled score makes its own fit
    np.testing.assert_array_equal(both.raw[:, 1], pooled.raw)
