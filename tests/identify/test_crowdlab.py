"""CROWDLAB compared with its authors' implementation, cleanlab 2.9.0 (get_label_quality_multiannotator)."""

from collections.abc import Sequence

import numpy as np
import pytest

from cleanlab_figures import QUALITY, ROWS, predicted, votes
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.identify import Crowdlab, Evidence

MAJORITY = [*QUALITY[:7], 0.216280843, *QUALITY[8:]]  # on task 7, the majority label differs from the best label


def evidence(rows: Sequence[str] = ROWS, labels: str = "abc") -> Evidence:
    """Return votes and the classifier's probabilities, with tasks in reverse order and labels in the given order."""
    order, ten = ["abc".index(one) for one in labels], predicted()
    return Evidence(votes=votes(rows), prediction=SoftLabels.of(ten.prob[::-1, order], range(9, -1, -1), list(labels)))


@pytest.mark.parametrize("labels", ["abc", "cab"])
@pytest.mark.parametrize(("consensus", "published"), [("best", QUALITY), ("majority", MAJORITY)])
def test_scores_equal_those_of_cleanlab(consensus: str, published: list[float], labels: str) -> None:
    scores = Crowdlab(consensus=consensus).score(evidence(labels=labels))
    np.testing.assert_allclose(scores.raw, published, atol=1e-9)
    np.testing.assert_allclose(scores.raw, np.array(published), atol=1e-9)


def test_scores_do_not_depend_on_the_batch_size(monkeypatch: pytest.MonkeyPatch) -> None:
    import plurivox.engine.crowdlab as file

    monkeypatch.setattr(file, "BATCH_TASKS", 3)
    np.testing.assert_allclose(Crowdlab().score(evidence()).raw, QUALITY, atol=1e-9)


def test_a_worker_without_shared_tasks_gets_a_finite_score() -> None:
    lonely = [row[:3] + "." for row in ROWS]
    lonely[7] = "...c"
    assert np.isfinite(Crowdlab().score(evidence(lonely)).raw).all()


def test_missing_tasks_labels_or_votes_raise_clear_errors() -> None:
    whole = evidence()
    assert whole.votes is not None and whole.prediction is not None
    few = Evidence(votes=whole.votes, prediction=whole.prediction.on(range(8)))
    with pytest.raises(InputError, match="has no prediction for 2 tasks with votes, such as 8, 9"):
        Crowdlab().score(few)
    other = SoftLabels.of([[0.5, 0.5]] * 10, range(10), ["a", "b"])
    with pytest.raises(InputError, match="does not have the labels 'c', which have votes"):
        Crowdlab().score(Evidence(votes=whole.votes, prediction=other))
    with pytest.raises(
        InputError, match="needs tasks with two votes or more to estimate worker weights; there are none"
    ):
        Crowdlab().score(evidence(["a..."] * 10))
