"""CROWDLAB as a fit: figures of cleanlab 2.9.0 (get_label_quality_multiannotator, return_weights=True), its authors' own."""

import subprocess
import sys

import numpy as np
import pytest

from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import crowdlab

SAID = [
    "aab.",
    "bbbb",
    "c.cb",
    "aaac",
    ".ccc",
    "b..a",
    "ab.a",
    "..c.",
    "ccb.",
    "aaaa",
]  # a row a task, a column a worker
GUESS = [[6, 2, 2], [1, 7, 2], [2, 2, 6], [7, 1, 2], [1, 3, 6], [4, 5, 1], [5, 3, 2], [1, 8, 1], [2, 3, 5], [8, 1, 1]]
QUALITY = [0.589922991, 0.731196713, 0.609582706, 0.687573429, 0.663518907]
QUALITY += [0.510983901, 0.494188460, 0.680981242, 0.531552601, 0.785666375]
WEIGHT = [0.4, 0.470588235, 0.364705882, 0.2125]


def seen() -> tuple[Votes, SoftLabels]:
    cells = [(t, w, one) for t, row in enumerate(SAID) for w, one in enumerate(row) if one != "."]
    votes = Votes.of(*zip(*cells, strict=True))
    return votes, SoftLabels.of(np.array(GUESS) / 10, range(10), list("abc"))


@pytest.mark.parametrize(("consensus", "label"), [("best", "abcacbabca"), ("majority", "abcacbacca")])
def test_cleanlab_says_the_same(consensus: str, label: str) -> None:
    fit = crowdlab(*seen(), consensus)  # type: ignore[arg-type]
    assert "".join(fit.found["label"].tolist()) == label
    np.testing.assert_allclose(fit.soft.prob.max(1), QUALITY, atol=1e-9)  # the best q here is that of the label
    np.testing.assert_allclose(fit.ability, WEIGHT, atol=1e-9)
    assert fit.found["model_weight"] == pytest.approx(1.7320508075688772)


def test_a_task_without_votes_gets_the_classifiers_word() -> None:
    votes, guess = seen()
    more = Votes(votes.task, votes.worker, votes.label, np.arange(11), votes.workers, votes.labels)
    silent = SoftLabels.of(np.vstack([guess.prob, [0.2, 0.3, 0.5]]), range(11), list("abc"))
    np.testing.assert_allclose(crowdlab(more, silent).soft.prob[10], [0.2, 0.3, 0.5])


def test_mistakes_are_told() -> None:
    votes, guess = seen()
    with pytest.raises(OptionError, match="consensus is one of 'best', 'majority'; got 'mean'"):
        crowdlab(votes, guess, "mean")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="crowdlab: the classifier says nothing of 2 tasks with votes"):
        crowdlab(votes, guess.on(range(8)))


def test_it_needs_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; from plurivox.train import crowdlab, raykar_em"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
