"""CROWDLAB: figures of cleanlab 2.9.0 (get_label_quality_multiannotator), its authors' own."""

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, LabelQuality

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
BEST = [
    0.589922991,
    0.731196713,
    0.609582706,
    0.687573429,
    0.663518907,
    0.510983901,
    0.49418846,
    0.680981242,
    0.531552601,
    0.785666375,
]
MAJORITY = [
    0.589922991,
    0.731196713,
    0.609582706,
    0.687573429,
    0.663518907,
    0.510983901,
    0.49418846,
    0.216280843,
    0.531552601,
    0.785666375,
]


def seen(said: list[str] = SAID, labels: str = "abc") -> Evidence:
    cells = [(t, w, one) for t, row in enumerate(said) for w, one in enumerate(row) if one != "."]
    task, worker, label = zip(*cells, strict=True)
    votes = Votes.of(task, worker, label, tasks=range(len(SAID)), workers=range(4))
    order = ["abc".index(one) for one in labels]
    guess = SoftLabels.of(np.array(GUESS)[::-1, order] / 10, range(9, -1, -1), list(labels))
    return Evidence(votes=votes, guess=guess)


@pytest.mark.parametrize("labels", ["abc", "cab"])
@pytest.mark.parametrize(("consensus", "published"), [("best", BEST), ("majority", MAJORITY)])
def test_cleanlab_says_the_same(consensus: str, published: list[float], labels: str) -> None:
    scores = LabelQuality(consensus=consensus).score(seen(labels=labels))
    np.testing.assert_allclose(scores.raw, published, atol=1e-9)
    np.testing.assert_allclose(scores.value, 1 - np.array(published), atol=1e-9)


def test_it_works_block_by_block_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import plurivox.engine.crowdlab as file

    monkeypatch.setattr(file, "AT_ONCE", 3)
    np.testing.assert_allclose(LabelQuality().score(seen()).raw, BEST, atol=1e-9)


def test_somebody_whom_nobody_met_gets_the_mean_trust() -> None:
    lonely = [row[:3] + "." for row in SAID]
    lonely[7] = "...c"
    assert np.isfinite(LabelQuality().score(seen(lonely)).value).all()


def test_what_the_classifier_does_not_know_is_told() -> None:
    whole = seen()
    assert whole.votes is not None and whole.guess is not None
    few = Evidence(votes=whole.votes, guess=whole.guess.on(range(8)))
    with pytest.raises(InputError, match="says nothing of 2 tasks with votes, such as 8, 9"):
        LabelQuality().score(few)
    other = SoftLabels.of([[0.5, 0.5]] * 10, range(10), ["a", "b"])
    with pytest.raises(InputError, match="does not know labels 'c', which have votes"):
        LabelQuality().score(Evidence(votes=whole.votes, guess=other))
    with pytest.raises(InputError, match="learns whom to trust from tasks with two votes or more; there are none"):
        LabelQuality().score(seen(["a..."] * 10))
