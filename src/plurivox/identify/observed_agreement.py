"""Share of pairs of votes on a task that agree, averaged over tasks."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.identify._contract import Evidence  # noqa: F401, for the example
from plurivox.identify._shared.crowd_agreement_coefficients import CountPatterns, WeightedAgreementCoefficient
from plurivox.identify._shared.group_sums import divide_or_nan


@dataclass(frozen=True)
class ObservedAgreement(WeightedAgreementCoefficient):
    """Share of pairs of votes on a task that agree, averaged over tasks; not corrected for chance.

    A task with one vote has no pair. By default it is left out, as in plurivox describe; some published tables count it as
    agreeing (`single = agrees`), which is higher: .732 instead of .721 on LabelMe
    (`plurivox identify observed-agreement labelme --single agrees`). For soft answers it is the probability that labels drawn
    from two of them agree. With `weights`: the mean of 1 - the distance of two labels, scaled to 0 to 1. `raw` is the share,
    badness = 1 - raw; `n` is the number of tasks with two votes or more.

    Uma et al. (2020), Table 1, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aabbc"), worker=[1, 2, 1, 2, 1], label=list("xxxyx"))
    >>> ObservedAgreement(resamples=0).score(Evidence(votes=votes)).raw
    array([0.5])
    >>> ObservedAgreement(single="agrees", resamples=0).score(Evidence(votes=votes)).raw.round(3)
    array([0.667])
    """

    single: Literal["left-out", "agrees"] = option(
        "left-out", "a task with one vote is left out, or counts as agreeing"
    )

    def _coefficient_terms_per_vote_count_pattern(self, vote_count_patterns: CountPatterns) -> Any:
        if self.single == "agrees":
            return np.column_stack(
                [
                    np.where(
                        vote_count_patterns.has_two_or_more_votes_per_pattern,
                        vote_count_patterns.agreeing_pair_share_per_pattern,
                        1.0,
                    ),
                    np.ones(len(vote_count_patterns.n)),
                ]
            )
        return np.column_stack(
            [vote_count_patterns.agreeing_pair_share_per_pattern, vote_count_patterns.has_two_or_more_votes_per_pattern]
        )

    def _coefficient_per_row_of_term_sums(self, term_sums: Floats, vote_count_patterns: CountPatterns) -> Floats:
        del vote_count_patterns
        return divide_or_nan(term_sums[:, 0], term_sums[:, 1])
