"""Gwet's AC1: agreement of a crowd beyond chance, for skewed labels."""

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
    mean_label_agreement,
)


@dataclass(frozen=True)
class GwetAc1(WeightedAgreementCoefficient):
    """Gwet's AC1: agreement of a crowd beyond chance that does not decrease if one label is very frequent.

    AC1 = (A - E) / (1 - E). A is the share of pairs of votes on a task that agree, averaged over tasks with two votes or
    more; E = sum_k p_k (1 - p_k) / (n_labels - 1) with p_k the share of label k in a task's votes, averaged over tasks.
    n_labels includes labels without votes. With `weights` it is Gwet's AC2: A is the mean of 1 - the distance of two labels
    (scaled to 0 to 1), and E = T sum_k p_k (1 - p_k) / (n_labels (n_labels - 1)) with T the sum of 1 - distance over all
    pairs of labels. `raw` is AC1, badness = 1 - AC1.

    Gwet (2008), https://doi.org/10.1348/000711006X126600; AC2: Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aabb"), worker=[1, 2, 1, 2], label=list("xxxy"))
    >>> GwetAc1(resamples=0).score(Evidence(votes=votes)).raw.round(3)
    array([0.2])
    """

    def _coefficient_terms_per_vote_count_pattern(self, vote_count_patterns: CountPatterns) -> Any:
        return agreement_and_label_share_columns(vote_count_patterns)

    def _coefficient_per_row_of_term_sums(self, term_sums: Floats, vote_count_patterns: CountPatterns) -> Floats:
        agreement = term_sums[:, 0] / np.maximum(term_sums[:, 1], 1)
        share, n_labels = term_sums[:, 3:] / term_sums[:, 2:3], term_sums.shape[1] - 3
        alike = n_labels * mean_label_agreement(vote_count_patterns.distance, n_labels)  # 1 without weights
        chance = alike * (share * (1 - share)).sum(1) / (n_labels - 1) if n_labels > 1 else np.ones(len(term_sums))
        return np.where(term_sums[:, 1] > 0, agreement_beyond_chance(agreement, chance), np.nan)
