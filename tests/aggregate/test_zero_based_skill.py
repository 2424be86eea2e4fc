"""zero-based-skill against crowd-kit 1.4.2 and iwmv."""

import numpy as np
import pytest

from crowds import crowd, soft_crowd
from plurivox.aggregate import IWMV, ZeroBasedSkill
from plurivox.core.votes import Votes


def test_results_equal_crowd_kit() -> None:
    """Options of crowd-kit: n_iter=7, lr_init=.3, lr_steps_to_reduce=3."""
    votes = Votes.of(task=[1, 1, 1, 2, 2, 2, 3, 3, 3], worker=[1, 2, 3] * 3, label=list("ababbaabc"))
    fit = ZeroBasedSkill(max_iter=7, rate=0.3, steps=3).fit(votes)
    a, b = 0.7770364010246505, 0.2229635989753496
    np.testing.assert_allclose(fit.soft.prob, [[a, b, 0], [b, a, 0], [0.5540728020493009, b, b]])
    np.testing.assert_allclose(fit.ability, [0.8283520784032786, 0.3333359080907786, 0.3333359080907786])
    assert fit.converged is False and fit.found == {"ties": 1, "rounds": 7}


@pytest.mark.parametrize("votes", [Votes.of(**crowd(seed=5, n_labels=5)), soft_crowd()])
def test_with_rate_1_it_equals_iwmv(votes: Votes) -> None:
    fit, other = ZeroBasedSkill().fit(votes), IWMV(max_iter=100).fit(votes)
    assert fit.converged and other.converged
    np.testing.assert_allclose(fit.soft.prob, other.soft.prob, atol=1e-9)
