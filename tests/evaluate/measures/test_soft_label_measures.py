"""Measures between distributions equal scikit-learn and scipy."""

import numpy as np
import pytest
from scipy.spatial.distance import cityblock, cosine, jensenshannon
from scipy.stats import entropy, pearsonr, wasserstein_distance
from sklearn.metrics import log_loss

from plurivox import evaluate
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import cross_entropy, total_variation

RNG = np.random.default_rng(1)
P, Q = RNG.dirichlet(np.ones(5), (2, 60))
P[:20, :2] = 0  # zeros, as for labels without votes
P /= P.sum(1, keepdims=True)
TRUTH, PREDICTION = (SoftLabels.of(prob, range(60), range(5)) for prob in (P, Q))
PAIRS = list(zip(P, Q, strict=True))


def test_cross_entropy_equals_scipy_and_scikit_learn() -> None:
    expected = np.mean([entropy(p) + entropy(p, q) for p, q in PAIRS])
    assert cross_entropy(PREDICTION, TRUTH) == pytest.approx(expected)
    gold = SoftLabels.one_hot(P.argmax(1), range(60), range(5))
    assert cross_entropy(PREDICTION, gold) == pytest.approx(log_loss(P.argmax(1), Q, labels=range(5)))


def test_a_prediction_of_zero_is_clipped() -> None:
    sure, truth = SoftLabels.of([[1, 0]], "a", "xy"), SoftLabels.of([[0.5, 0.5]], "a", "xy")
    assert cross_entropy(sure, truth) == pytest.approx(-np.log(1e-12) / 2)
    assert evaluate.kl_divergence(sure, truth) == pytest.approx(-np.log(1e-12) / 2 + np.log(0.5))
    assert evaluate.inverse_kl_divergence(truth, sure) == evaluate.kl_divergence(sure, truth)


def test_kl_divergence_in_both_directions_equals_scipy() -> None:
    full = SoftLabels.of(P[20:], range(20, 60), range(5))
    assert evaluate.kl_divergence(PREDICTION, TRUTH) == pytest.approx(np.mean([entropy(p, q) for p, q in PAIRS]))
    assert evaluate.inverse_kl_divergence(PREDICTION, full) == pytest.approx(
        np.mean([entropy(q, p) for p, q in PAIRS[20:]])
    )


@pytest.mark.parametrize("base", [np.e, 2])
def test_jensen_shannon_equals_scipy(base: float) -> None:
    distance = np.array([jensenshannon(p, q, base) for p, q in PAIRS])
    assert evaluate.jensen_shannon_distance(PREDICTION, TRUTH, base=base) == pytest.approx(distance.mean())
    assert evaluate.jensen_shannon_divergence(PREDICTION, TRUTH, base=base) == pytest.approx((distance**2).mean())
    assert evaluate.jensen_shannon_distance(PREDICTION, PREDICTION) == 0


def test_total_variation_soft_accuracy_and_soft_micro_f1_agree() -> None:
    expected = np.mean([cityblock(p, q) / 2 for p, q in PAIRS])
    assert total_variation(PREDICTION, TRUTH) == pytest.approx(expected)
    assert (
        total_variation(TRUTH, PREDICTION) == total_variation(PREDICTION, TRUTH)
        and total_variation(PREDICTION, PREDICTION) == 0
    )
    for same in (evaluate.soft_accuracy, evaluate.soft_micro_f1):
        assert same(PREDICTION, TRUTH) == pytest.approx(1 - expected)


def test_soft_macro_f1_equals_values_computed_by_hand() -> None:
    """For one-hot rows it equals the macro F1; a label without any probability is left out."""
    prediction, truth = SoftLabels.gold("abcd", "xxyy", labels="xyz"), SoftLabels.gold("abcd", "xyyy", labels="xyz")
    assert evaluate.soft_macro_f1(prediction, truth) == pytest.approx((2 / 3 + 4 / 5) / 2)
    by_label = [2 * np.minimum(P, Q)[:, k].sum() / (P + Q)[:, k].sum() for k in range(5)]
    assert evaluate.soft_macro_f1(PREDICTION, TRUTH) == pytest.approx(np.mean(by_label))


def test_entropy_correlation_and_similarity_equal_scipy() -> None:
    x, y = entropy(Q.T) / np.log(5), entropy(P.T) / np.log(5)
    assert evaluate.entropy_correlation(PREDICTION, TRUTH) == pytest.approx(pearsonr(x, y).statistic)
    assert evaluate.entropy_similarity(PREDICTION, TRUTH) == pytest.approx(1 - cosine(x, y))
    gold = SoftLabels.one_hot(P.argmax(1), range(60), range(5))
    assert np.isnan(evaluate.entropy_correlation(PREDICTION, gold)) and np.isnan(
        evaluate.entropy_similarity(PREDICTION, gold)
    )
    even = SoftLabels.of(np.full((60, 5), 0.2), range(60), range(5))
    assert np.isnan(evaluate.entropy_correlation(even, TRUTH))
    assert np.isnan(evaluate.entropy_correlation(*[SoftLabels.gold("ab", "xx")] * 2))


def test_sorted_wasserstein_equals_scipy_with_probabilities_as_samples() -> None:
    expected = np.mean([wasserstein_distance(p, q) for p, q in PAIRS])
    assert evaluate.sorted_wasserstein(PREDICTION, TRUTH) == pytest.approx(expected)
    turned = SoftLabels.of(np.roll(Q, 1, axis=1), range(60), range(5))
    assert evaluate.sorted_wasserstein(turned, PREDICTION) == 0 and total_variation(turned, PREDICTION) > 0.3


def test_single_precision_is_computed_in_double() -> None:
    single = SoftLabels.of(Q.astype(np.float32), range(60), range(5))
    assert evaluate.jensen_shannon_distance(single, TRUTH) == pytest.approx(
        evaluate.jensen_shannon_distance(PREDICTION, TRUTH), abs=1e-6
    )
