"""average: the mean of several methods."""

import numpy as np
import pytest

from crowds import crowd
from plurivox import aggregate
from plurivox.aggregate import Average
from plurivox.aggregate.average import DEFAULT_PARTS
from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

SOME = "vote-shares,wawa,iwmv[weights=li-yu,max-iter=3]"


def test_average_is_the_mean_of_its_parts() -> None:
    votes = Votes.of(**crowd(), tasks=range(31))
    fit = Average(parts=SOME).fit(votes)
    parts = [aggregate.methods.make(word).fit(votes).soft.prob for word in split_at_commas_outside_brackets(SOME)]
    np.testing.assert_allclose(fit.soft.prob, np.mean(parts, 0))
    assert fit.made_by == f"average[parts=[{SOME}]]" and aggregate.methods.make(fit.made_by) == Average(parts=SOME)
    assert fit.converged and fit.found["parts"] == 3


def test_there_are_ten_default_parts() -> None:
    words = split_at_commas_outside_brackets(DEFAULT_PARTS)
    assert len(words) == 10 and Average().spec == "average"


def test_gold_labels_are_kept() -> None:
    votes = Votes.of(**crowd())
    gold = SoftLabels.gold([3, 99], [2, 0], labels=range(3))
    prob = Average(parts=SOME).fit(votes, gold=gold).soft.prob
    np.testing.assert_array_equal(prob[3], [0, 0, 1])
    np.testing.assert_array_equal(np.delete(prob, 3, 0), np.delete(Average(parts=SOME).fit(votes).soft.prob, 3, 0))


def test_invalid_parts_raise_clear_errors() -> None:
    counts = Votes.from_counts(np.array([[3, 1]]), ["a"], ["x", "y"])
    with pytest.raises(InputError, match="average needs worker names"):
        Average(parts=SOME).fit(counts)
    with pytest.raises(OptionError, match="parts is empty"):
        Average(parts=" ").fit(counts)
    np.testing.assert_allclose(Average(parts="vote-shares,two-third").fit(counts).soft.prob, [[0.875, 0.125]])


def test_progress_is_reported_and_can_stop_the_fit() -> None:
    seen: list[tuple[int, int]] = []

    def progress(step: int, total: int, value: float | None = None) -> None:
        seen.append((step, total))
        if step == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Average(parts=SOME).fit(Votes.of(**crowd()), progress=progress)
    assert seen == [(0, 3), (1, 3)]
