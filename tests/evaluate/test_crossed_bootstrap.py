"""Models trained several times are compared over test tasks and over runs at once."""

import numpy as np
import pytest

from plurivox.core.errors import InputError, OptionError
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import compare_predictions, compare_runs, holm

N, RUNS = 200, 8
TRUTH = SoftLabels.gold(range(N), ["x"] * N, ["x", "y"])


def runs(accuracies: list[float], seed: int = 0) -> list[SoftLabels]:
    """Return one prediction per accuracy; each task is right at random, with that probability."""
    rng = np.random.default_rng(seed)
    right = [rng.random(N) < accuracy for accuracy in accuracies]
    return [SoftLabels.one_hot(np.where(one, 0, 1), range(N), ["x", "y"]) for one in right]


def test_the_gain_is_the_mean_over_pairs_of_runs() -> None:
    one, two = runs([0.9] * RUNS), runs([0.7] * RUNS, seed=1)
    found = compare_runs(one, two, TRUTH, measures=["accuracy", "nll"], repeats=500)
    each = [
        compare_predictions(a, b, TRUTH, measures=["accuracy", "nll"], repeats=1) for a, b in zip(one, two, strict=True)
    ]
    np.testing.assert_allclose(found.gain, np.mean([pair.gain for pair in each], 0))
    assert found.low[0] < found.gain[0] < found.high[0] and found.p_value[0] < 0.01


def test_runs_that_scatter_widen_the_interval() -> None:
    steady, scattered = runs([0.8] * RUNS), runs([0.6, 1.0] * (RUNS // 2))
    reference = runs([0.75] * RUNS, seed=1)
    narrow, wide = (compare_runs(one, reference, TRUTH, measures=["accuracy"]) for one in (steady, scattered))
    assert wide.high[0] - wide.low[0] > 2 * (narrow.high[0] - narrow.low[0])


def test_standard_errors_add_over_tasks_and_runs() -> None:
    # every run has its own accuracy on all tasks alike, and tasks differ in difficulty: the two variances add up
    rng = np.random.default_rng(2)
    hard = rng.random(N)
    one = [
        SoftLabels.one_hot((hard > skill).astype(int), range(N), ["x", "y"]) for skill in rng.uniform(0.5, 0.9, RUNS)
    ]
    two = [SoftLabels.one_hot(np.ones(N, int), range(N), ["x", "y"])] * RUNS
    found = compare_runs(one, two, TRUTH, measures=["accuracy"], repeats=4000)
    hits = np.array([run.prob[:, 0] for run in one])
    variance = hits.mean(0).var() / N + hits.mean(1).var() / RUNS
    assert found.high[0] - found.low[0] == pytest.approx(2 * 1.96 * variance**0.5, rel=0.1)


def test_groups_are_drawn_whole() -> None:
    # all tasks of a group are right or wrong together: there are only as many independent tasks as groups
    group = np.arange(N) // 20
    right = np.random.default_rng(3).random(N // 20)[group] < 0.6
    one = [SoftLabels.one_hot(np.where(right, 0, 1), range(N), ["x", "y"])] * 3
    two = [SoftLabels.one_hot(np.ones(N, int), range(N), ["x", "y"])] * 3
    alone, grouped = (compare_runs(one, two, TRUTH, measures=["accuracy"], groups=g) for g in (None, group))
    assert (grouped.high[0] - grouped.low[0]) == pytest.approx(20**0.5 * (alone.high[0] - alone.low[0]), rel=0.15)


def test_equal_models_have_p_1_and_bad_input_is_refused() -> None:
    one = runs([0.8] * 3)
    assert compare_runs(one, one, TRUTH, measures=["accuracy"]).p_value[0] == 1
    with pytest.raises(InputError, match="in pairs; got 3 and 2 runs"):
        compare_runs(one, one[:2], TRUTH)
    with pytest.raises(InputError, match="no prediction for 1 of 200"):
        compare_runs([one[0].on(TRUTH.tasks[1:])], one[:1], TRUTH)
    with pytest.raises(InputError, match="one group per task"):
        compare_runs(one, one, TRUTH, groups=[1, 2])
    with pytest.raises(OptionError, match="repeats"):
        compare_runs(one, one, TRUTH, repeats=0)


def test_holm_equals_its_definition_and_ignores_nan() -> None:
    p = np.random.default_rng(4).random(12) ** 3
    smallest_first = np.sort(p)
    by_hand = [min(1, max(smallest_first[j] * (12 - j) for j in range(i + 1))) for i in range(12)]
    np.testing.assert_allclose(np.sort(holm(p)), by_hand)
    assert holm([np.nan, 0.02, 0.03]).tolist()[1:] == [0.04, 0.04]


def test_groups_may_be_names_in_any_order() -> None:
    one, two = runs([0.9] * 2), runs([0.8] * 2, seed=1)
    names = [f"tweet {i // 2}" for i in range(N)]
    codes = [i // 2 for i in range(N)]
    by_name, by_code = (
        compare_runs(one, two, TRUTH, measures=["accuracy"], groups=g) for g in (as_names(names), codes)
    )
    assert by_name.gain[0] == by_code.gain[0] and by_name.low[0] == pytest.approx(by_code.low[0], abs=0.02)
