"""Hard measures equal scikit-learn, and values computed by hand for ties and for different label sets."""

import numpy as np
import pytest
from sklearn import metrics

from plurivox.core.errors import InputError, OptionError, PlurivoxError
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import accuracy, balanced_accuracy, confusion_counts, f1, precision, recall, top_k_accuracy
from plurivox.evaluate.measures.hard_label_measures import Average


def prediction_and_truth(n: int = 200, k: int = 4, seed: int = 0) -> tuple[SoftLabels, SoftLabels]:
    rng = np.random.default_rng(seed)
    prob, true = rng.dirichlet(np.ones(k), n), rng.choice(k, n, p=[0.7, 0.1, 0.1, 0.1])
    return SoftLabels.of(prob, range(n), range(k)), SoftLabels.gold(rng.permutation(n), true, labels=range(k))


def test_accuracy_and_balanced_accuracy_equal_scikit_learn() -> None:
    prediction, truth = prediction_and_truth()
    said, true = prediction.hard(), truth.on(prediction.tasks).hard()
    assert accuracy(prediction, truth) == pytest.approx(metrics.accuracy_score(true, said))
    assert balanced_accuracy(prediction, truth) == pytest.approx(metrics.balanced_accuracy_score(true, said))
    assert accuracy(prediction, truth, ties="share") == accuracy(prediction, truth)


def test_accuracy_of_ties_by_first_label_or_by_shares() -> None:
    prediction = SoftLabels.of([[1 / 3, 1 / 3, 1 / 3], [0.5, 0, 0.5], [0, 1, 0]], "abc", "xyz")
    truth = SoftLabels.gold("abc", "zxy")
    assert accuracy(prediction, truth) == pytest.approx(2 / 3)
    assert accuracy(prediction, truth, ties="share") == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert balanced_accuracy(prediction, truth, ties="share") == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)


def test_tasks_and_labels_are_matched_by_name() -> None:
    """Only tasks b and c are shared; the truth has another order of labels, and one label more."""
    prediction = SoftLabels.of([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], "abc", ["no", "yes"])
    truth = SoftLabels.gold(["c", "b", "x"], ["maybe", "yes", "no"], labels=["yes", "maybe", "no"])
    assert accuracy(prediction, truth) == 0.5
    sparse = SoftLabels.gold(["b", "c"], ["yes", "no"])
    assert accuracy(sparse, truth) == 0.5
    with pytest.raises(InputError, match="have no task in common"):
        accuracy(prediction, SoftLabels.gold(["z"], ["yes"]))


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_precision_recall_and_f1_equal_scikit_learn(average: Average) -> None:
    prediction, truth = prediction_and_truth(40, seed=3)
    said, true = prediction.hard(), truth.on(prediction.tasks).hard()
    theirs = metrics.precision_recall_fscore_support(true, said, average=average, zero_division=0)[:3]
    ours = [measure(prediction, truth, average=average) for measure in (precision, recall, f1)]
    assert ours == pytest.approx(list(theirs))
    assert f1(prediction, truth, average=average, ties="share") == pytest.approx(ours[2])


def test_labels_only_in_prediction_or_truth_count_as_zero() -> None:
    """Label x is never predicted, z is never true, q is neither predicted nor true."""
    prediction, truth = SoftLabels.gold("abc", "yyz", labels="qxyz"), SoftLabels.gold("abc", "xyy", labels="qxyz")
    assert f1(prediction, truth) == pytest.approx((0 + 2 / 4 + 0) / 3)
    assert recall(prediction, truth) == pytest.approx((0 + 1 / 2 + 0) / 3)
    assert balanced_accuracy(prediction, truth) == pytest.approx((0 + 1 / 2) / 2)
    with pytest.raises(PlurivoxError, match="did you mean 'macro'"):
        f1(prediction, truth, average="macros")  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
def test_top_k_accuracy_equals_scikit_learn(k: int) -> None:
    prediction, truth = prediction_and_truth()
    true = truth.on(prediction.tasks).most_probable_label_codes()
    theirs = metrics.top_k_accuracy_score(true, prediction.prob, k=k, labels=range(4)) if k < 4 else 1.0
    assert top_k_accuracy(prediction, truth, k=k) == pytest.approx(theirs)
    by_label = [top_k_accuracy(prediction, truth.on(prediction.tasks[true == one]), k=k) for one in range(4)]
    assert top_k_accuracy(prediction, truth, k=k, average="macro") == pytest.approx(np.mean(by_label))


def test_top_k_accuracy_with_ties() -> None:
    """With four equal labels and k=2, the top two are the first two labels, or each label with weight one half."""
    prediction, truth = SoftLabels.of(np.full((4, 4), 0.25), "abcd", "wxyz"), SoftLabels.gold("abcd", "wxyz")
    assert top_k_accuracy(prediction, truth, k=2) == 0.5 == top_k_accuracy(prediction, truth, k=2, ties="share")
    last = SoftLabels.gold("a", "z")
    assert top_k_accuracy(prediction, last, k=2) == 0 and top_k_accuracy(prediction, last, k=2, ties="share") == 0.5
    assert top_k_accuracy(prediction, truth, k=1, ties="share") == accuracy(prediction, truth, ties="share")
    with pytest.raises(OptionError, match="k must be 1 or more"):
        top_k_accuracy(prediction, truth, k=0)


def test_confusion_counts_equal_scikit_learn() -> None:
    prediction, truth = prediction_and_truth()
    table, labels = confusion_counts(prediction, truth)
    np.testing.assert_array_equal(table, metrics.confusion_matrix(truth.on(prediction.tasks).hard(), prediction.hard()))
    assert labels.tolist() == [0, 1, 2, 3]
    shared, names = confusion_counts(SoftLabels.of([[0.5, 0.5]], "a", [1, 2]), SoftLabels.gold("a", "z"), ties="share")
    assert names.tolist() == ["1", "2", "z"] and shared[2].tolist() == [0.5, 0.5, 0]
