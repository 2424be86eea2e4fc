"""Calibration measures equal scikit-learn, torchmetrics, plain loops and values computed by hand."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import aurra, brier, classwise_ece, ece, nll, reliability, rms_calibration

RNG = np.random.default_rng(2)
Q, TRUE = RNG.dirichlet(np.ones(3), 80), RNG.integers(0, 3, 80)
PREDICTION, TRUTH = SoftLabels.of(Q, range(80), range(3)), SoftLabels.gold(range(80), TRUE, labels=range(3))


def test_nll_and_brier_equal_scikit_learn() -> None:
    assert nll(PREDICTION, TRUTH) == pytest.approx(log_loss(TRUE, Q, labels=[0, 1, 2]))
    assert brier(PREDICTION, TRUTH) == pytest.approx(brier_score_loss(TRUE, Q, labels=[0, 1, 2], scale_by_half=False))


def test_nll_of_a_certain_wrong_prediction_is_clipped() -> None:
    sure = SoftLabels.one_hot((TRUE + 1) % 3, range(80), range(3))
    assert nll(sure, TRUTH) == pytest.approx(-np.log(1e-6)) and brier(sure, TRUTH) == 2
    stranger = SoftLabels.gold(range(80), ["other"] * 80, labels=["other", "x"])
    assert nll(SoftLabels.of(Q, range(80), list("xyz")), stranger) == pytest.approx(-np.log(1e-6))


def test_ece_equals_values_computed_by_hand() -> None:
    """Confidence .5 is right in 1 of 2 tasks, .9 in 3 of 4; .6 is a bin edge and belongs to the lower bin."""
    first = [0.5, 0.5, 0.9, 0.9, 0.9, 0.9, 0.6]
    right = [1, 0, 1, 1, 1, 0, 1]
    prediction = SoftLabels.of([[p, 1 - p] for p in first], range(7), ["x", "y"])
    truth = SoftLabels.gold(range(7), ["x" if hit else "y" for hit in right])
    assert ece(prediction, truth) == pytest.approx((2 * 0 + 4 * abs(0.75 - 0.9) + 0.4) / 7)
    assert ece(prediction, truth, bins=1) == pytest.approx(abs(np.mean(right) - np.mean(first)))


def test_ece_equals_a_loop_over_bins() -> None:
    hit, sure, total = Q.argmax(1) == TRUE, Q.max(1), 0.0
    for b in range(15):
        inside = (sure > b / 15) & (sure <= (b + 1) / 15)
        if inside.any():
            total += inside.mean() * abs(hit[inside].mean() - sure[inside].mean())
    assert ece(PREDICTION, TRUTH) == pytest.approx(total)


def test_ece_equals_torchmetrics() -> None:
    # both packages are installed by the extra dev
    torch, functional = (pytest.importorskip(name) for name in ("torch", "torchmetrics.functional"))
    theirs = functional.classification.multiclass_calibration_error(torch.tensor(Q), torch.tensor(TRUE), 3, n_bins=15)
    assert ece(PREDICTION, TRUTH) == pytest.approx(float(theirs), abs=1e-6)


def test_classwise_ece_equals_a_loop_over_bins() -> None:
    total = 0.0
    for k in range(3):
        for b in range(15):
            inside = (Q[:, k] > b / 15) & (Q[:, k] <= (b + 1) / 15)
            total += abs((TRUE[inside] == k).sum() - Q[inside, k].sum()) / 80 / 3
    assert classwise_ece(PREDICTION, TRUTH) == pytest.approx(total)


def pixmix(confidence: np.ndarray, correct: np.ndarray, size: int, last: bool) -> float:
    """Return the RMS calibration error of PixMix; the last bin takes the remainder, and the released code omits it."""
    order, n = np.argsort(confidence), len(confidence)
    starts = [i * size for i in range(n // size)]
    ends = [*starts[1:], n]
    pairs = list(zip(starts, ends, strict=True))[: None if last else -1]
    gaps = [(b - a, confidence[order[a:b]].mean() - correct[order[a:b]].mean()) for a, b in pairs]
    return float(np.sqrt(sum(size / n * gap**2 for size, gap in gaps)))


@pytest.mark.parametrize("size", [7, 10, 40, 60])
def test_rms_calibration_equals_a_plain_loop_with_and_without_the_last_bin(size: int) -> None:
    hit, sure = Q.argmax(1) == TRUE, Q.max(1)
    assert rms_calibration(PREDICTION, TRUTH, size=size) == pytest.approx(pixmix(sure, hit, size, last=True))
    assert rms_calibration(PREDICTION, TRUTH, size=size, compat=True) == pytest.approx(
        pixmix(sure, hit, size, last=False)
    )


def test_rms_calibration_of_few_tasks_uses_one_bin_or_raises() -> None:
    assert rms_calibration(PREDICTION, TRUTH) == pytest.approx(abs((Q.argmax(1) == TRUE).mean() - Q.max(1).mean()))
    assert rms_calibration(PREDICTION, TRUTH, size=60, compat=True) == 0
    with pytest.raises(InputError, match="there are 80 tasks: reduce size"):
        rms_calibration(PREDICTION, TRUTH, compat=True)


def test_task_order_does_not_matter_for_equal_confidences() -> None:
    prediction = SoftLabels.of([[0.8, 0.2]] * 40, range(40), "xy")
    truth = SoftLabels.gold(range(40), ["x"] * 20 + ["y"] * 20)
    back = prediction.on(range(39, -1, -1))
    for measure in (rms_calibration, aurra):
        assert measure(prediction, truth) == measure(back, truth)
    assert rms_calibration(prediction, truth, size=10) == pytest.approx(0.3)


def test_aurra_equals_a_value_computed_by_hand() -> None:
    prediction = SoftLabels.of([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], "abc", "xy")
    assert aurra(prediction, SoftLabels.gold("abc", "xyx")) == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)


def test_ece_and_rms_calibration_can_be_computed_from_reliability() -> None:
    drawn = reliability(PREDICTION, TRUTH)
    seen = drawn.n > 0
    gap = np.abs(drawn.accuracy - drawn.confidence)[seen]
    assert (drawn.n[seen] * gap).sum() / 80 == pytest.approx(ece(PREDICTION, TRUTH)) and drawn.n.sum() == 80
    inside = (drawn.low[seen] < drawn.confidence[seen]) & (drawn.confidence[seen] <= drawn.high[seen])
    assert inside.all() and np.isnan(drawn.accuracy[~seen]).all()
    filled = reliability(PREDICTION, TRUTH, size=10)
    squares = filled.n / 80 * (filled.accuracy - filled.confidence) ** 2
    assert filled.n.tolist() == [10] * 8 and np.sqrt(squares.sum()) == pytest.approx(
        rms_calibration(PREDICTION, TRUTH, size=10)
    )
    assert list(filled.columns()) == ["low", "high", "n", "confidence", "accuracy"]
