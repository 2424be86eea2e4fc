"""The Wasserstein distance equals scipy's, for labels on a line and for a matrix of distances."""

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import total_variation, wasserstein

RNG = np.random.default_rng(4)
P, Q = RNG.dirichlet(np.ones(4), (2, 30))
SCALE = [3.0, 1.0, 7.0, 2.0]
PREDICTION, TRUTH = (SoftLabels.of(prob, range(30), list("abcd")) for prob in (Q, P))


def test_wasserstein_on_a_line_equals_scipy() -> None:
    expected = np.mean([wasserstein_distance(SCALE, SCALE, p, q) for p, q in zip(P, Q, strict=True)])
    assert wasserstein(PREDICTION, TRUTH, scale=SCALE) == pytest.approx(expected)
    line = np.abs(np.subtract.outer(SCALE, SCALE))
    assert wasserstein(PREDICTION, TRUTH, distance=line) == pytest.approx(expected)


def test_equal_distances_give_total_variation() -> None:
    assert wasserstein(PREDICTION, TRUTH, distance=1 - np.eye(4)) == pytest.approx(total_variation(PREDICTION, TRUTH))


def test_ordered_labels_provide_the_scale() -> None:
    ordered = SoftLabels.of(P, range(30), list("abcd"), scale=np.array(SCALE))
    assert wasserstein(PREDICTION, ordered) == pytest.approx(wasserstein(PREDICTION, TRUTH, scale=SCALE))
    assert wasserstein(ordered, ordered) == 0


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "have no common order"),
        ({"scale": [1, 2]}, "one finite number for each of the labels"),
        ({"scale": [1, 2, 3, np.nan]}, "one finite number for each of the labels"),
        ({"distance": np.ones((2, 2))}, "need a square"),
        ({"distance": np.ones((4, 4))}, "0 on the diagonal"),
        ({"distance": [[0, 1, 9, 1], [1, 0, 1, 1], [9, 1, 0, 1], [1, 1, 1, 0]]}, "triangle inequality"),
    ],
)
def test_invalid_scales_and_distances_raise_input_error(how: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        wasserstein(PREDICTION, TRUTH, **how)  # type: ignore[arg-type]
