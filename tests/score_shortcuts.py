"""Helpers that compute scores in one call."""

from typing import Any

import numpy as np

from plurivox import identify
from plurivox.core.results import Scores
from plurivox.core.votes import Votes
from plurivox.identify import Evidence


def score(name: str, **evidence: Any) -> Scores:
    return identify.methods.make(name).score(Evidence(**evidence))


def crowd_score(name: str, votes: Votes) -> float:
    """Return a crowd coefficient as its paper defines it, computed without an interval."""
    made = identify.methods.make(name, resamples=0).score(Evidence(votes=votes))
    assert made.names.tolist() == ["crowd"] and made.low is None
    np.testing.assert_allclose(made.badness, 1 - made.raw)
    return float(made.raw[0])
