"""Krippendorff's alpha: agreement of a crowd beyond chance, also for ordered labels and sets of labels."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.votes import Votes
from plurivox.identify._contract import Evidence  # noqa: F401, for the example
from plurivox.identify._shared.crowd_agreement_coefficients import (
    AgreementCoefficient,
    CountPatterns,
    vote_count_patterns_with_frequencies,
)
from plurivox.identify._shared.label_distances import set_distances, votes_for_label_sets


@dataclass(frozen=True)
class KrippendorffAlpha(AgreementCoefficient):
    """Krippendorff's alpha: one minus the observed disagreement over the disagreement expected by chance.

    alpha = 1 - D_observed / D_chance: the mean difference of two votes on one task, over that of two votes on any tasks;
    tasks with one vote are left out, and a task is weighted by its votes. Two labels differ by 1 (nominal), by their squared
    distance on the scale (interval), or by the squared number of votes between them (ordinal; every resample uses the ranks
    of the whole crowd). For sets of labels (multi-label answers) two sets differ by their Jaccard or MASI distance, which is
    smaller the more labels they share; the set of an answer is its labels with a weight above 0. Undefined
    (nan, and a warning) if all votes are for one label. `raw` is alpha, badness = 1 - alpha.

    Krippendorff (2011), Computing Krippendorff's alpha-reliability; Hayes & Krippendorff (2007),
    https://doi.org/10.1080/19312450709336664; sets: Passonneau (2006), Measuring agreement on set-valued items (MASI) for
    semantic and pragmatic annotation, LREC, https://aclanthology.org/L06-1392/

    >>> votes = Votes.of(task=list("aabbcc"), worker=[1, 2] * 3, label=[1, 1, 2, 3, 3, 3], ordered=True)
    >>> for level in ("nominal", "ordinal", "interval"):
    ...     print(KrippendorffAlpha(level=level, resamples=0).score(Evidence(votes=votes)).raw.round(3))
    [0.545]
    [0.778]
    [0.828]
    """

    level: Literal["nominal", "ordinal", "interval", "jaccard", "masi"] = option(
        "nominal",
        "level of measurement of the labels, or distance of sets of labels: the difference between two answers",
    )

    def uses_order(self) -> bool:
        return self.level in ("ordinal", "interval")

    def _distinct_vote_count_patterns(self, votes: Votes) -> CountPatterns:
        if self.level in ("jaccard", "masi"):
            of_sets, in_set = votes_for_label_sets(votes, self.name())
            distances = set_distances(in_set, self.level)
            return vote_count_patterns_with_frequencies(of_sets, label_distances=distances)
        return vote_count_patterns_with_frequencies(votes, self._label_positions_on_scale_or_none(votes))

    def _label_positions_on_scale_or_none(self, votes: Votes) -> Floats | None:
        """Return (n_labels,) the position of each label on a scale, with mean 0 over the votes; None if nominal."""
        if self.level == "nominal":
            return None
        if votes.scale is None:
            raise InputError(
                f"{self.name()}: labels have no order, so the level cannot be {self.level}; declare an order "
                "(ordered), or use level=nominal"
            )
        has_pairs = votes.support[votes.task] > 1.5
        n = np.bincount(votes.label[has_pairs], votes.weights[has_pairs], minlength=votes.n_labels)
        position = votes.scale
        if self.level == "ordinal":
            order = np.argsort(votes.scale, kind="stable")
            position = np.empty(votes.n_labels)
            position[order] = np.cumsum(n[order]) - n[order] / 2  # the mid-rank: votes below the label
        return (position - position @ n / max(n.sum(), 1)) / max(float(np.ptp(position)), 1e-300)

    def _coefficient_terms_per_vote_count_pattern(self, vote_count_patterns: CountPatterns) -> Any:
        """Return (n_patterns, n_terms) terms of observed, then of chance disagreement, for each pattern of vote counts."""
        n, has_pairs = vote_count_patterns.n, vote_count_patterns.has_two_or_more_votes_per_pattern
        if vote_count_patterns.scale is None:
            rest = vote_count_patterns.counts
            apart = vote_count_patterns.disagreeing_pairs_per_pattern
        else:
            sums = np.column_stack(
                [
                    vote_count_patterns.counts @ vote_count_patterns.scale,
                    vote_count_patterns.counts @ vote_count_patterns.scale**2,
                ]
            )
            rest = sparse.csr_array(sums)
            apart = 2 * (n * sums[:, 1] - sums[:, 0] ** 2) - vote_count_patterns.within
        front = np.column_stack([apart / np.where(has_pairs, n - 1, 1), n, vote_count_patterns.within])
        return sparse.hstack([sparse.csr_array(front), rest]).multiply(has_pairs[:, None])

    def _coefficient_per_row_of_term_sums(self, term_sums: Floats, vote_count_patterns: CountPatterns) -> Floats:
        observed, n, within, rest = term_sums[:, 0], term_sums[:, 1], term_sums[:, 2], term_sums[:, 3:]
        if vote_count_patterns.distance is not None:
            by_chance = ((rest @ vote_count_patterns.distance) * rest).sum(1) - within
        elif vote_count_patterns.scale is None:
            by_chance = n**2 - (rest**2).sum(1) - within
        else:
            by_chance = 2 * (n * rest[:, 1] - rest[:, 0] ** 2) - within
        known = by_chance > 1e-12 * n**2
        return 1 - np.divide((n - 1) * observed, by_chance, out=np.full(len(n), np.nan), where=known)
