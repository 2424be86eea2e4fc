"""CrowdClassifier as a scikit-learn estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.train import CrowdClassifier, Plan, fit
from toy_training import toy_data

X, GOLD, VOTES = toy_data()
FAST = Plan(epochs=40, batch=32, lr=0.05, device="cpu")
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "batches are random: a duplicated row is not a row of weight two",
}


@pytest.mark.slow
def test_the_checks_of_scikit_learn_pass() -> None:
    found = check_estimator(
        CrowdClassifier(net="linear", plan=FAST, random_state=0),
        expected_failed_checks=EXPECTED,
        on_skip=None,
        on_fail=None,
    )
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert not failed, failed


def test_labels_distributions_and_votes() -> None:
    for y in (GOLD.hard(), GOLD.prob, VOTES):
        model = CrowdClassifier(net="linear", plan=FAST, random_state=1).fit(
            X, np.array(y.tolist()) if y is not VOTES else y
        )
        right = model.classes_[GOLD.most_probable_label_codes()]
        assert (model.predict(X) == right).mean() > 0.8 and model.predict_proba(X).shape == (60, 3)
    named = CrowdClassifier(net="linear", plan=FAST, labels=["x", "y", "z"]).fit(X, GOLD.prob)
    assert named.classes_.tolist() == ["x", "y", "z"] and set(named.predict(X)) <= set("xyz")
    drawn = CrowdClassifier(net="linear", plan=FAST, target="de-aggregated", random_state=0).fit(X, VOTES)
    assert drawn.trained_.made_by["target"] == "de-aggregated"
    with pytest.raises(InputError, match="59 rows of X for 60 tasks"):
        clone(named).fit(X[:59], VOTES)


def test_it_can_be_cross_validated() -> None:
    y = np.array(GOLD.hard().tolist())
    assert cross_val_score(CrowdClassifier(net="linear", plan=FAST, random_state=0), X, y, cv=3).mean() > 0.8


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
def test_inputs_become_the_same_tensors_as_in_fit(kind: type) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (40, 3)).astype(kind)
    truth = SoftLabels.one_hot((pixels[:, 0] > 127).astype(int), range(40), range(2))
    plan = Plan(epochs=3, batch=8, lr=0.01, device="cpu")
    ours = fit(pixels, truth, net="linear", plan=plan).predict(pixels).prob
    found = CrowdClassifier(net="linear", plan=plan).fit(pixels, truth.prob).predict_proba(pixels)
    np.testing.assert_array_equal(found, ours)
