"""Agreement coefficients of a whole crowd: terms per task are summed, and the coefficient is computed from the sums."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy import sparse

from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError, warn_user
from plurivox.core.method import option
from plurivox.core.name_encoding import as_names
from plurivox.core.one_answer_per_worker import one_answer_per_task_and_worker
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.votes import Votes
from plurivox.engine.answer_pair_agreement import (
    agreeing_pair_share_from_sums,
    has_two_or_more_answers,
    task_sums_of_within_answer_disagreement,
)
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.label_distances import WEIGHTS_HELP, Weights, label_distances_or_none
from plurivox.identify._shared.score_intervals import (
    RESAMPLES_HELP,
    bootstrap_blocks_of_pattern_counts,
    percentile_interval_95,
)

REPEATED_HELP = "a worker's repeated answers to a task: use the first, or count all as if different workers gave them"
MAX_DENSE_CELLS = 2**27  # larger tables of counts are sparse
MAX_KEY_BITS = 62  # a row of counts that fits into this many bits is encoded as one integer


class CountPatterns(NamedTuple):
    """The distinct rows of the task-by-label table of vote counts, and how many tasks have each; tasks with votes only."""

    counts: Any  # sparse (n_patterns, n_labels) the votes for each label
    n: Floats  # (n_patterns,) all votes of a task
    within: Floats  # (n_patterns,) result of `task_sums_of_within_answer_disagreement`
    n_tasks: Ints  # (n_patterns,) the number of tasks with this pattern
    scale: Floats | None = None  # (n_labels,) positions of the labels, whose squared differences are the distances
    distance: Floats | None = None  # (n_labels, n_labels) distances of labels; None, and no scale: equal (0) or not (1)

    @property
    def has_two_or_more_votes_per_pattern(self) -> Any:
        """(n_patterns,) whether a task with these vote counts has at least two votes."""
        return has_two_or_more_answers(self.n)

    @property
    def agreeing_pair_share_per_pattern(self) -> Floats:
        """(n_patterns,) the share of pairs of votes on a task that agree; for soft answers, the probability that they do.

        With label distances from 0 to 1: one minus the mean distance of the pairs.
        """
        if self.distance is not None:
            pairs = np.where(self.has_two_or_more_votes_per_pattern, self.n * (self.n - 1), 1)
            return np.where(self.has_two_or_more_votes_per_pattern, 1 - self.disagreeing_pairs_per_pattern / pairs, 0.0)
        return agreeing_pair_share_from_sums(self.n, row_sums_of_squares(self.counts), self.within)

    @property
    def disagreeing_pairs_per_pattern(self) -> Floats:
        """(n_patterns,) the sum of the label distances over ordered pairs of votes on a task."""
        if self.distance is not None:
            apart = np.asarray(self.counts.multiply(self.counts @ self.distance).sum(1)).ravel()
        else:
            apart = self.n**2 - row_sums_of_squares(self.counts)
        return np.asarray(apart - self.within)

    @property
    def label_shares_per_pattern(self) -> Any:
        """Sparse (n_patterns, n_labels) the share of a task's votes for each label."""
        return sparse.csr_array(self.counts.multiply(1 / self.n[:, None]))


def vote_count_patterns_with_frequencies(
    votes: Votes, label_positions: Floats | None = None, label_distances: Floats | None = None
) -> CountPatterns:
    """Return the distinct rows of the task-by-label table of vote counts, and how many tasks have each."""
    within = task_sums_of_within_answer_disagreement(votes, label_positions, label_distances)
    single, distances = np.ones(votes.n_tasks, np.int64), (label_positions, label_distances)
    if votes.n_tasks * votes.n_labels > MAX_DENSE_CELLS or votes.n_labels > MAX_KEY_BITS:
        tally = votes.sparse_vote_counts()
        counts = sparse.csr_array(
            (tally.mass, tally.label.astype(np.int64), tally.start), (votes.n_tasks, votes.n_labels)
        )
        return _drop_patterns_without_votes(counts, votes.support, within, single, *distances)
    table = votes.counts()
    base = float(table.max(initial=0)) + 1
    if within.any() or votes.n_labels * np.log2(base) >= MAX_KEY_BITS or (table % 1).any():
        return _drop_patterns_without_votes(table, votes.support, within, single, *distances)
    key = table.astype(np.int64) @ (int(base) ** np.arange(votes.n_labels, dtype=np.int64))  # one integer per row
    _, first, n_tasks = np.unique(key, return_index=True, return_counts=True)
    return _drop_patterns_without_votes(table[first], votes.support[first], within[first], n_tasks, *distances)


def _drop_patterns_without_votes(
    counts: Any, n_votes: Floats, within_answers: Floats, n_tasks: Ints, *distances: Floats | None
) -> CountPatterns:
    """Return the patterns of vote counts that have at least one vote, as `CountPatterns`; the others are dropped."""
    voted = n_votes > 0
    return CountPatterns(
        sparse.csr_array(counts[voted]), n_votes[voted], within_answers[voted], n_tasks[voted], *distances
    )


@dataclass(frozen=True)
class AgreementCoefficient(Identifier):
    """An agreement coefficient of a crowd: `raw` is the coefficient with a bootstrap interval over tasks, badness = 1 - raw."""

    repeated: Literal["first", "all"] = option("first", REPEATED_HELP)
    resamples: int = option(1000, RESAMPLES_HELP, low=0)
    seed: int = option(0, "seed of the bootstrap; the same seed gives the same interval", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "crowd"

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        assert evidence.votes is not None
        tasks = self._distinct_vote_count_patterns(votes_of_different_people(evidence.votes, self.repeated))
        if not tasks.has_two_or_more_votes_per_pattern.any():
            raise InputError(f"{self.name()} needs a task with two votes or more; no task has two")
        terms = sparse.csr_array(self._coefficient_terms_per_vote_count_pattern(tasks))
        return score_from_sums_of_terms(
            self,
            terms,
            tasks.n_tasks,
            lambda term_sums: self._coefficient_per_row_of_term_sums(term_sums, tasks),
            float(tasks.n_tasks[tasks.has_two_or_more_votes_per_pattern].sum()),
            (self.resamples, self.seed),
            progress,
        )

    def _distinct_vote_count_patterns(self, votes: Votes) -> CountPatterns:
        """Return the distinct rows of the task-by-label table of vote counts, from which the coefficient is computed."""
        return vote_count_patterns_with_frequencies(votes)

    @abstractmethod
    def _coefficient_terms_per_vote_count_pattern(self, vote_count_patterns: CountPatterns) -> Any:
        """Return (n_patterns, n_terms) the terms of each pattern of vote counts, which are then summed over tasks."""

    @abstractmethod
    def _coefficient_per_row_of_term_sums(self, term_sums: Floats, vote_count_patterns: CountPatterns) -> Floats:
        """Return (n,) the agreement coefficient from sums of terms over tasks (n, n_terms); nan where it is undefined.

        `vote_count_patterns` are given for the distances of the labels.
        """


@dataclass(frozen=True)
class WeightedAgreementCoefficient(AgreementCoefficient):
    """An agreement coefficient whose disagreements can be weighted by the distance of the labels (option `weights`)."""

    weights: Weights = option("none", WEIGHTS_HELP)

    def uses_order(self) -> bool:
        return self.weights != "none"

    def _distinct_vote_count_patterns(self, votes: Votes) -> CountPatterns:
        distances = label_distances_or_none(votes, self.weights, self.name())
        return vote_count_patterns_with_frequencies(votes, label_distances=distances)


def votes_of_different_people(votes: Votes, repeated: str) -> Votes:
    """Return the votes with one answer of each worker to each task (`repeated` = first), or all of them (all)."""
    return one_answer_per_task_and_worker(votes).votes if repeated == "first" else votes


def score_from_sums_of_terms(
    method: Identifier,
    terms: Any,
    tasks_per_row: Ints,
    coefficient_of_sums: Callable[[Floats], Floats],
    n_observations: float,
    resamples_and_seed: tuple[int, int],
    progress: Progress,
) -> Scores:
    """Return the score of a crowd whose coefficient is a function of sums of terms over tasks, with a bootstrap interval.

    `terms` (n_rows, n_terms) are those of a task, or of several equal tasks: `tasks_per_row` (n_rows,) is their number.
    `coefficient_of_sums` maps (n, n_terms) sums to (n,) coefficients.
    """
    raw = coefficient_of_sums((tasks_per_row.astype(np.float64) @ terms)[None])
    blocks = bootstrap_blocks_of_pattern_counts(tasks_per_row, *resamples_and_seed, progress)
    resampled = [coefficient_of_sums(counts @ terms) for counts in blocks]
    return make_crowd_scores(method, float(raw[0]), resampled, n_observations)


def make_crowd_scores(
    method: Identifier, raw_coefficient: float, resampled_blocks: list[Floats], n_observations: float
) -> Scores:
    """Return the one score of a crowd: `raw_coefficient`, with the bootstrap interval of the resampled coefficients.

    Its badness is 1 - `raw_coefficient`. Warn if the coefficient is nan.
    """
    if np.isnan(raw_coefficient):
        warn_user(
            f"{method.name()} is undefined for these votes: they do not vary, for example if all are for one label"
        )
    low, high = percentile_interval_95(np.concatenate(resampled_blocks)[:, None]) if resampled_blocks else (None, None)
    names, raw = as_names(["crowd"]), np.array([raw_coefficient])
    return Scores("crowd", names, raw, 1 - raw, method.spec, low=low, high=high, n=np.array([n_observations]))


def mean_label_distance_by_chance(label_shares: Floats, label_distances: Floats | None) -> Floats:
    """Return (n,) the mean distance of two labels drawn from each row of shares (n, n_labels); None: equal (0) or not (1)."""
    if label_distances is None:
        return 1 - (label_shares**2).sum(1)
    return np.asarray(((label_shares @ label_distances) * label_shares).sum(1))


def mean_label_agreement(label_distances: Floats | None, n_labels: int) -> float:
    """Return the mean of 1 - distance over all (n_labels, n_labels) pairs of labels; 1 / n_labels without distances."""
    return 1 / max(n_labels, 1) if label_distances is None else float(1 - label_distances.mean())


def agreement_beyond_chance(agreement: Floats, chance_agreement: Floats) -> Floats:
    """Return (agreement - chance) / (1 - chance), the agreement beyond chance; nan where chance agreement is 1."""
    possible = 1 - chance_agreement
    return np.divide(agreement - chance_agreement, possible, out=np.full(len(possible), np.nan), where=possible > 1e-12)


def agreement_and_label_share_columns(vote_count_patterns: CountPatterns) -> Any:
    """Return sparse columns, one row per pattern of vote counts: agreement, whether it has pairs, 1, and label shares."""
    front = np.column_stack(
        [
            vote_count_patterns.agreeing_pair_share_per_pattern,
            vote_count_patterns.has_two_or_more_votes_per_pattern,
            np.ones(len(vote_count_patterns.n)),
        ]
    )
    return sparse.hstack([sparse.csr_array(front), vote_count_patterns.label_shares_per_pattern])


def row_sums_of_squares(sparse_counts: Any) -> Floats:
    """Return (n_rows,) the sum of the squared counts in each row of a sparse table."""
    return np.asarray(sparse_counts.multiply(sparse_counts).sum(1)).ravel()
