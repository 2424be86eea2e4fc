"""Fleiss' kappa: agreement of a crowd beyond chance."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.identify._contract import Evidence  # noqa: F401, for the example
from plurivox.identify._shared.crowd_agreement_coefficients import (
    CountPatterns,
    WeightedAgreementCoefficient,
    agreement_and_label_share_columns,
    agreement_beyond_chance,
    mean_label_distance_by_chance,
)


@dataclass(frozen=True)
class FleissKappa(WeightedAgreementCoefficient):
    """Fleiss' kappa: agreement of any number of workers beyond chance; votes need no worker names.

    kappa = (A - E) / (1 - E). A is the share of pairs of votes on a task that agree, averaged over tasks with two votes or
    more; E = sum_k p_k^2 with p_k the share of label k in a task's votes, averaged over tasks. With unequal numbers of votes
    every task still counts once (Gwet 2014). With `weights`, A and E are the mean of 1 - the distance of two labels, which is
    scaled to 0 to 1. Two workers with complete votes: equal to Scott's pi. Undefined (nan, and a warning) if all votes are
    for one label. `raw` is kappa, badness = 1 - kappa.

    Fleiss (1971), https://doi.org/10.1037/h0031619

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aabb"), worker=[1, 2, 1, 2], label=list("xxxy"))
    >>> FleissKappa(resamples=0).score(Evidence(votes=votes)).raw.round(3)
    array([-0.333])
    """

    def _coefficient_terms_per_vote_count_pattern(self, vote_count_patterns: CountPatterns) -> Any:
        return agreement_and_label_share_columns(vote_count_patterns)

    def _coefficient_per_row_of_term_sums(self, term_sums: Floats, vote_count_patterns: CountPatterns) -> Floats:
        agreement = term_sums[:, 0] / np.maximum(term_sums[:, 1], 1)
        share = term_sums[:, 3:] / term_sums[:, 2:3]
        apart_by_chance = mean_label_distance_by_chance(share, vote_count_patterns.distance)
        kappa = agreement_beyond_chance(agreement, 1 - apart_by_chance)
        return np.where(term_sums[:, 1] > 0, kappa, np.nan)
