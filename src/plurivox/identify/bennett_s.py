"""Bennett's S: agreement of a crowd beyond that of uniformly random labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.identify._contract import Evidence  # noqa: F401, for the example
from plurivox.identify._shared.crowd_agreement_coefficients import (
    CountPatterns,
    WeightedAgreementCoefficient,
    agreement_beyond_chance,
    mean_label_agreement,
)


@dataclass(frozen=True)
class BennettS(WeightedAgreementCoefficient):
    """Bennett's S (Brennan & Prediger's kappa): agreement of a crowd beyond that of uniformly random labels.

    S = (A - E) / (1 - E). A is the share of pairs of votes on a task that agree, averaged over tasks with two votes or more;
    E = 1 / n_labels, whatever labels the workers prefer. n_labels includes labels without votes, so adding a label that
    nobody uses raises S. With `weights`, A and E are the means of 1 - the distance of two labels, scaled to 0 to 1. `raw` is
    S, badness = 1 - S.

    Bennett, Alpert & Goldstein (1954), https://doi.org/10.1086/266520; more than two workers and weights: Brennan & Prediger
    (1981), https://doi.org/10.1177/001316448104100307

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aabbccdd"), worker=[1, 2] * 4, label=list("xxxxxyyy"))
    >>> BennettS(resamples=0).score(Evidence(votes=votes)).raw
    array([0.5])
    """

    def _coefficient_terms_per_vote_count_pattern(self, vote_count_patterns: CountPatterns) -> Any:
        return np.column_stack(
            [vote_count_patterns.agreeing_pair_share_per_pattern, vote_count_patterns.has_two_or_more_votes_per_pattern]
        )

    def _coefficient_per_row_of_term_sums(self, term_sums: Floats, vote_count_patterns: CountPatterns) -> Floats:
        n_labels = vote_count_patterns.counts.shape[1]
        chance = np.full(len(term_sums), mean_label_agreement(vote_count_patterns.distance, n_labels))
        agreement = term_sums[:, 0] / np.maximum(term_sums[:, 1], 1)
        return np.where(term_sums[:, 1] > 0, agreement_beyond_chance(agreement, chance), np.nan)
