"""The 2 x 2 table of tasks that two models predict right or wrong equals a plain loop and scipy."""

import numpy as np
import pytest
from scipy import stats

from plurivox import aggregate
from plurivox.core.errors import PlurivoxError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import correctness_table
from plurivox.evaluate.two_model_correctness import row_excess_kurtosis

RNG = np.random.default_rng(6)
TRUE, ONE, TWO = RNG.integers(0, 4, (3, 300))
PROB = RNG.dirichlet(np.ones(4), 300)
SOFT = SoftLabels.of(PROB, range(300), range(4))


def hard(codes: np.ndarray) -> SoftLabels:
    return SoftLabels.one_hot(codes, range(300), range(4))


def test_the_table_equals_a_loop_and_scipy() -> None:
    found = correctness_table(hard(ONE), hard(TWO), hard(TRUE), SOFT)
    value, a, b = stats.kurtosis(PROB, axis=1), ONE == TRUE, TWO == TRUE
    cells = [a & b, a & ~b, ~a & b, ~a & ~b]
    np.testing.assert_allclose(found.mean, [value[cell].mean() for cell in cells])
    assert found.n.tolist() == [cell.sum() for cell in cells]
    test = stats.mannwhitneyu(value[cells[1]], value[cells[2]])
    assert (found.u, found.p_value) == pytest.approx((test.statistic, test.pvalue))
    entropy = correctness_table(hard(ONE), hard(TWO), hard(TRUE), SOFT, look="entropy")
    assert entropy.mean[0] == pytest.approx(stats.entropy(PROB[cells[0]].T).mean())


def test_kurtosis_of_twelve_and_of_two_labels() -> None:
    assert row_excess_kurtosis(np.eye(12))[0] == pytest.approx(7.09, abs=0.005)
    two = SoftLabels.of(PROB[:, :2] / PROB[:, :2].sum(1, keepdims=True), range(300), range(2))
    found = correctness_table(hard(ONE % 2), hard(TWO % 2), hard(TRUE % 2), two)
    assert found.mean == pytest.approx(-2) and "always -2" in found.notes[0]


@pytest.mark.parametrize("look", ["kurtosis", "entropy", "confidence"])
def test_equal_count_rows_in_another_label_order_are_ties_in_the_rank_test(look: str) -> None:
    rng = np.random.default_rng(3)
    kinds = np.array(
        [[5, 0, 0, 0, 0, 0], [4, 1, 0, 0, 0, 0], [3, 1, 1, 0, 0, 0], [2, 2, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]]
    )
    kind = rng.integers(0, 5, 600)
    votes = Votes.from_counts(rng.permuted(kinds[kind], axis=1), [f"{i:03}" for i in range(600)], range(6))
    soft = aggregate.methods.make("softmax-shares").fit(votes).soft
    right = rng.integers(0, 2, (2, 600))
    models = [SoftLabels.one_hot(codes, votes.tasks, range(6)) for codes in (*right, np.ones(600, int))]
    found = correctness_table(*models, soft, look=look)  # type: ignore[arg-type]
    by_kind = {
        "kurtosis": row_excess_kurtosis,
        "entropy": lambda p: stats.entropy(p.T),
        "confidence": lambda p: p.max(1),
    }
    value = by_kind[look](np.exp(kinds) / np.exp(kinds).sum(1, keepdims=True))[kind]
    test = stats.mannwhitneyu(value[right[0] > right[1]], value[right[0] < right[1]])
    assert (found.u, found.p_value) == pytest.approx((test.statistic, test.pvalue), rel=1e-9)


def test_uniform_labels_and_empty_cells() -> None:
    even = SoftLabels.of(np.full((300, 4), 0.25), range(300), range(4))
    found = correctness_table(hard(TRUE), hard(TRUE), hard(TRUE), even)
    assert np.isnan(found.mean).all() and np.isnan(found.p_value) and "300 uniform labels" in found.notes[0]
    with pytest.raises(PlurivoxError, match="did you mean 'kurtosis'"):
        correctness_table(hard(ONE), hard(TWO), hard(TRUE), SOFT, look="kurtosi")  # type: ignore[arg-type]
    with pytest.raises(PlurivoxError, match="have no task in common"):
        correctness_table(hard(ONE), hard(TWO), SoftLabels.gold(["z"], [0]), SOFT)
