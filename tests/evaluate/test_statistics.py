"""The bootstrap against scipy."""

import numpy as np
import pytest
from scipy import stats

from plurivox.core.errors import InputError
from plurivox.evaluate import bootstrap, paired_bootstrap

CHANCE = np.random.default_rng(3)
LEFT, RIGHT = CHANCE.normal(0.3, 1, 40), CHANCE.normal(0, 1, 40)


def test_as_scipy() -> None:
    theirs = stats.bootstrap((LEFT,), np.mean, n_resamples=20_000, method="percentile", rng=1).confidence_interval
    ours = bootstrap(LEFT, repeats=20_000)
    assert ours.mean == pytest.approx(LEFT.mean())
    np.testing.assert_allclose([ours.low, ours.high], theirs, atol=0.02)


def test_pairs_are_drawn_whole() -> None:
    """Both rise and fall together, so the difference is far surer than either."""
    shift = paired_bootstrap(LEFT + 0.1, LEFT)
    assert shift.low == pytest.approx(0.1) and shift.high == pytest.approx(0.1) and shift.clear
    assert paired_bootstrap(LEFT, RIGHT) == bootstrap(LEFT - RIGHT)


def test_the_seed_decides_and_blocks_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    once = bootstrap(LEFT, seed=5)
    assert bootstrap(LEFT, seed=5) == once != bootstrap(LEFT, seed=6)
    monkeypatch.setattr("plurivox.evaluate.statistics.CELLS", 100)
    again = bootstrap(LEFT, seed=5)
    np.testing.assert_allclose([again.low, again.high], [once.low, once.high])


def test_too_little_to_tell() -> None:
    one = bootstrap([0.5])
    assert one.mean == 0.5 and np.isnan(one.low) and not one.clear and str(one) == "+0.5000"
    with pytest.raises(InputError, match="finite values"):
        bootstrap([])
    with pytest.raises(InputError, match="needs pairs; got 2 and 1"):
        paired_bootstrap([1, 2], [1])
