"""Several predictions on the same tasks: agree with the comparison of two, correct for several, sort by the first measure."""

import numpy as np
import pytest

from plurivox.core.errors import InputError, UnknownName
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import compare_predictions, compare_several_predictions

rng = np.random.default_rng(5)
TASKS = [f"t{i}" for i in range(60)]
TRUE = rng.integers(0, 2, 60)
TRUTH = SoftLabels.gold(TASKS, ["no" if k == 0 else "yes" for k in TRUE], labels=["no", "yes"])


def classifier(accuracy: float) -> SoftLabels:
    """Return soft labels of which about this share have the true label as the most probable one."""
    right = rng.random(60) < accuracy
    p = np.where(right, 0.8, 0.3)
    prob = np.stack([np.where(TRUE == 0, p, 1 - p), np.where(TRUE == 1, p, 1 - p)], 1)
    return SoftLabels.of(prob, TASKS, ["no", "yes"])


GOOD, FAIR, BAD = classifier(0.95), classifier(0.8), classifier(0.4)


def test_two_predictions_as_by_compare_predictions() -> None:
    found = compare_several_predictions({"good": GOOD, "bad": BAD}, TRUTH, measures=["accuracy", "nll"], repeats=2000)
    pair = compare_predictions(BAD, GOOD, TRUTH, measures=["accuracy", "nll"], repeats=2000)
    assert found.prediction.tolist() == ["good", "bad"] * 2
    np.testing.assert_allclose(found.value, [pair.two[0], pair.one[0], pair.two[1], pair.one[1]])
    np.testing.assert_allclose(found.difference[1::2], [pair.gain[0], -pair.gain[1]])
    np.testing.assert_allclose(found.low[1], pair.low[0])
    assert (found.p_value[1::2] < 0.001).all() and np.isnan(found.p_value[::2]).all()


def test_p_values_of_several_predictions_are_corrected() -> None:
    alone = compare_several_predictions({"good": GOOD, "fair": FAIR}, TRUTH, measures=["accuracy"])
    three = compare_several_predictions({"good": GOOD, "fair": FAIR, "bad": BAD}, TRUTH, measures=["accuracy"])
    p = dict(zip(three.prediction.tolist(), three.p_value.tolist(), strict=True))
    assert alone.p_value[1] <= p["fair"] <= 2 * alone.p_value[1] and p["bad"] <= p["fair"]
    assert "after Holm's correction over 2 differences" in three.sentence() and "Holm" not in alone.sentence()


def test_the_lowest_is_first_where_lower_is_better() -> None:
    found = compare_several_predictions(
        {"bad": BAD, "good": GOOD}, TRUTH, measures=["nll"], reference="good", repeats=10
    )
    assert found.prediction.tolist() == ["good", "bad"] and found.difference[1] > 0


def test_what_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="two predictions or more"):
        compare_several_predictions({"good": GOOD}, TRUTH)
    with pytest.raises(UnknownName, match="no prediction 'goo'"):
        compare_several_predictions({"good": GOOD, "bad": BAD}, TRUTH, reference="goo")
    with pytest.raises(InputError, match="no task in common"):
        compare_several_predictions({"good": GOOD, "bad": BAD}, SoftLabels.gold(["x"], ["no"]))
