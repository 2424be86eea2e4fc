"""CROWDLAB as a fit equals cleanlab 2.9.0 (get_label_quality_multiannotator, return_weights=True)."""

import subprocess
import sys

import numpy as np
import pytest

from cleanlab_figures import QUALITY, predicted, votes
from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import crowdlab

WEIGHT = [0.4, 0.470588235, 0.364705882, 0.2125]


@pytest.mark.parametrize(("consensus", "label"), [("best", "abcacbabca"), ("majority", "abcacbacca")])
def test_labels_quality_and_weights_equal_cleanlab(consensus: str, label: str) -> None:
    fit = crowdlab(votes(), predicted(), consensus)  # type: ignore[arg-type]
    assert "".join(fit.found["label"].tolist()) == label
    np.testing.assert_allclose(fit.soft.prob.max(1), QUALITY, atol=1e-9)  # equal for these votes
    np.testing.assert_allclose(fit.ability, WEIGHT, atol=1e-9)
    assert fit.found["model_weight"] == pytest.approx(1.7320508075688772)


def test_a_task_without_votes_gets_the_classifiers_probabilities() -> None:
    ten = votes()
    more = Votes(ten.task, ten.worker, ten.label, np.arange(11), ten.workers, ten.labels)
    silent = SoftLabels.of(np.vstack([predicted().prob, [0.2, 0.3, 0.5]]), range(11), list("abc"))
    np.testing.assert_allclose(crowdlab(more, silent).soft.prob[10], [0.2, 0.3, 0.5])


def test_wrong_arguments_raise_errors() -> None:
    with pytest.raises(OptionError, match="consensus is one of 'best', 'majority'; got 'mean'"):
        crowdlab(votes(), predicted(), "mean")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="crowdlab: the classifier has no prediction for 2 tasks with votes"):
        crowdlab(votes(), predicted().on(range(8)))


def test_crowdlab_can_be_imported_without_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; from plurivox.train import crowdlab, raykar_em"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
