"""Compare methods over data sets in one measure: ranks, tests and intervals that account for the number of comparisons."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Floats, Ints
from plurivox.evaluate.intervals_and_tests import Interval, t_interval
from plurivox.evaluate.rank_tests import (
    MIN_DATASETS,
    MIN_METHODS,
    N_DIGITS,
    FriedmanTest,
    friedman,
    holm,
    wilcoxon_signed_rank,
)

FAMILY_LEVEL = 0.95  # probability that all intervals of a measure contain their true differences


@dataclass(frozen=True, eq=False)
class MethodsOverDatasets:
    """One measure of several methods over data sets, each method compared with a reference method.

    Methods with the same values on all data sets count as one method in ranks, tests and the number of comparisons. Ranks and
    Friedman's test use the data sets on which every method has a value; the comparisons with the reference those on which both
    have one. Intervals are Student's t intervals at level 1 - .05 / m for m comparisons (Bonferroni), so that with normally
    distributed differences all m hold together with a probability of at least .95.

    Demsar (2006), https://jmlr.org/papers/v7/demsar06a.html; Dunn (1961), https://doi.org/10.1080/01621459.1961.10482090

    >>> values = np.array([[0.9, 0.8, 0.8], [0.7, 0.6, 0.6], [0.8, 0.5, 0.5], [0.9, 0.7, 0.7]])
    >>> found = MethodsOverDatasets(values, reference=0, higher_is_better=True)
    >>> found.first_with_same_values.tolist(), found.mean_ranks.tolist(), found.n_comparisons
    ([0, 1, 1], [1.0, 2.0, 2.0], 1)
    >>> found.wins_ties_losses[1].tolist(), float(found.holm_p_values[1]), str(found.differences[1])
    ([0, 0, 4], 0.125, '-0.1750 [-0.3273, -0.0227]')
    """

    values: Floats  # (n_datasets, n_methods) NaN: no result
    reference: int  # column of the reference method
    higher_is_better: bool

    @cached_property
    def first_with_same_values(self) -> Ints:
        """(n_methods,) the first method with the same values on all data sets, itself if there is no earlier one."""
        columns = [tuple(np.nan_to_num(column, nan=np.inf)) for column in self.values.T.round(N_DIGITS)]
        return np.array([columns.index(column) for column in columns])

    @cached_property
    def distinct_methods(self) -> Ints:
        """(n_distinct,) methods that have a value and are the first with their values."""
        has_value = np.isfinite(self.values).any(0)
        first = self.first_with_same_values == np.arange(self.values.shape[1])
        return np.flatnonzero(has_value & first)

    @cached_property
    def ranked_datasets(self) -> Ints:
        """(n_ranked,) data sets on which every method that has a value at all has one."""
        return np.flatnonzero(np.isfinite(self.values[:, self.distinct_methods]).all(1))

    @cached_property
    def mean_ranks(self) -> Floats:
        """(n_methods,) mean rank among distinct methods over the ranked data sets, 1 is best; ties share ranks. Else NaN."""
        from scipy.stats import rankdata  # imported here because it is slow

        ranks = np.full(self.values.shape[1], np.nan)
        table = self.values[np.ix_(self.ranked_datasets, self.distinct_methods)].round(N_DIGITS)
        if len(table):
            ranks[self.distinct_methods] = rankdata(-table if self.higher_is_better else table, axis=1).mean(0)
        return ranks[self.first_with_same_values]

    @cached_property
    def friedman(self) -> FriedmanTest | None:
        """Friedman's test over the distinct methods; None with fewer than three of them or than three ranked data sets."""
        if len(self.distinct_methods) < MIN_METHODS or len(self.ranked_datasets) < MIN_DATASETS:
            return None
        return friedman(self.values[np.ix_(self.ranked_datasets, self.distinct_methods)])

    # ---- each method against the reference

    @cached_property
    def n_both(self) -> Ints:
        """(n_methods,) the number of data sets on which the method and the reference have values."""
        return np.isfinite(self._differences_by_dataset).sum(0)

    @property
    def _differences_by_dataset(self) -> Floats:
        """(n_datasets, n_methods) value minus value of the reference."""
        return self.values - self.values[:, [self.reference]]

    @cached_property
    def compared_methods(self) -> Ints:
        """(n_comparisons,) distinct methods that are tested against the reference: other values, three data sets or more."""
        other = self.distinct_methods[self.distinct_methods != self.first_with_same_values[self.reference]]
        return other[self.n_both[other] >= MIN_DATASETS]

    @property
    def n_comparisons(self) -> int:
        """The number of comparisons with the reference that the intervals and p-values are corrected for."""
        return len(self.compared_methods)

    @cached_property
    def wins_ties_losses(self) -> Ints:
        """(n_methods, 3) the number of data sets on which a method is better than, as good as, worse than the reference."""
        gain = self._differences_by_dataset.round(N_DIGITS) * (1 if self.higher_is_better else -1)
        return np.stack([(gain > 0).sum(0), (gain == 0).sum(0), (gain < 0).sum(0)], axis=1)

    @cached_property
    def signed_rank_sums(self) -> Floats:
        """(n_methods,) the signed-rank sum of the differences to the reference; positive if the method tends to be better."""
        from scipy.stats import rankdata  # imported here because it is slow

        gain = self._differences_by_dataset.round(N_DIGITS) * (1 if self.higher_is_better else -1)
        columns = [column[np.isfinite(column) & (column != 0)] for column in gain.T]
        return np.array([(np.sign(column) * rankdata(np.abs(column))).sum() for column in columns])

    @cached_property
    def holm_p_values(self) -> Floats:
        """(n_methods,) Wilcoxon signed-rank p-values against the reference after Holm's correction; NaN if not tested."""
        p = np.full(self.values.shape[1], np.nan)
        for method in self.compared_methods:
            pair = self.values[:, [method, self.reference]]
            p[method] = wilcoxon_signed_rank(*pair[np.isfinite(pair).all(1)].T)
        return holm(p)[self.first_with_same_values]

    @cached_property
    def differences(self) -> list[Interval]:
        """(n_methods) mean difference to the reference with its simultaneous interval; without interval if not compared."""
        level = 1 - (1 - FAMILY_LEVEL) / max(self.n_comparisons, 1)
        made = []
        for column, first in zip(self._differences_by_dataset.T, self.first_with_same_values, strict=True):
            known = column[np.isfinite(column)]
            mean = float(known.mean()) if len(known) else np.nan
            compared = first in self.compared_methods
            made.append(t_interval(known, level=level) if compared else Interval(mean, np.nan, np.nan))
        return made

    @property
    def smallest_possible_p(self) -> float:
        """The corrected p-value of a method that is better than the reference on every data set; NaN without comparisons."""
        if not self.n_comparisons:
            return np.nan
        return min(self.n_comparisons * 2.0 ** (1 - int(self.n_both[self.compared_methods].max())), 1.0)

    # ---- how much hangs on one data set

    @cached_property
    def medians(self) -> Floats:
        """(n_methods,) the median over data sets with a value; NaN if there is none."""
        known = [column[np.isfinite(column)] for column in self.values.T]
        return np.array([np.median(column) if len(column) else np.nan for column in known])

    @cached_property
    def shares_of_mean(self) -> Floats:
        """(n_datasets, n_methods) the share of each data set in the sum over data sets; NaN without a value or with sum 0."""
        total = np.nansum(self.values, 0)
        return np.divide(self.values, total, out=np.full(self.values.shape, np.nan), where=total != 0)

    @cached_property
    def dataset_with_largest_share(self) -> Ints:
        """(n_methods,) the data set with the largest share of the mean of each method; -1 if no share is defined."""
        shares = np.nan_to_num(self.shares_of_mean, nan=-1.0)
        return np.where(np.isfinite(self.shares_of_mean).any(0), shares.argmax(0), -1)

    @cached_property
    def largest_share(self) -> Floats:
        """(n_methods,) the largest share that one data set has in the mean of each method; NaN if no share is defined."""
        at = self.dataset_with_largest_share
        return np.where(at >= 0, self.shares_of_mean[at, np.arange(len(at))], np.nan)

    @cached_property
    def means_without_largest_share(self) -> Floats:
        """(n_methods,) the mean over the other data sets; NaN if there is none."""
        rest: NDArray[np.bool_] = np.isfinite(self.values)
        at = self.dataset_with_largest_share
        rest[at[at >= 0], np.flatnonzero(at >= 0)] = False
        n = rest.sum(0)
        return np.where(n > 0, np.where(rest, self.values, 0).sum(0) / np.maximum(n, 1), np.nan)
