"""Kappa of two workers, or its mean over all pairs of workers: what Cohen's kappa and Scott's pi have in common."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError, OptionError, unknown_name_error
from plurivox.core.method import option
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.votes import Votes
from plurivox.engine.parallel_task_blocks import parallel_map
from plurivox.engine.worker_pair_agreement import make_pair_kappa_sum_function
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement_coefficients import (
    REPEATED_HELP,
    make_crowd_scores,
    votes_of_different_people,
)
from plurivox.identify._shared.group_sums import divide_or_nan
from plurivox.identify._shared.label_distances import WEIGHTS_HELP, Weights, label_positions_or_error
from plurivox.identify._shared.score_intervals import RESAMPLES_HELP, bootstrap_blocks_of_pattern_counts
from plurivox.identify._shared.workers_gold_times_from_evidence import require_some_worker_names


@dataclass(frozen=True)
class MeanKappaOfWorkerPairs(Identifier):
    """Kappa of two workers, or its mean over pairs of workers; `pooled` labels by chance (Scott) or each worker's (Cohen)."""

    first: str | None = option(None, "name of the first worker of a pair; none: all pairs of workers")
    second: str | None = option(None, "name of the second worker of the pair")
    weights: Weights = option("none", WEIGHTS_HELP)
    least: int = option(5, "smallest number of shared tasks for two workers to count as a pair", low=1)
    average: Literal["pairs", "tasks"] = option("pairs", "weight every pair equally, or by its shared tasks")
    repeated: Literal["first", "all"] = option("first", REPEATED_HELP)
    resamples: int = option(1000, RESAMPLES_HELP, low=0)
    seed: int = option(0, "seed of the bootstrap; the same seed gives the same interval", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "crowd"
    pooled: ClassVar[bool] = False

    def uses_order(self) -> bool:
        return self.weights != "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.first is None) != (self.second is None) or (self.first is not None and self.first == self.second):
            raise OptionError(f"{self.name()}: name two different workers, first and second, or none")

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        assert evidence.votes is not None
        votes = votes_of_different_people(self._require_votes_of_named_workers(evidence.votes), self.repeated)
        votes = self._votes_of_chosen_or_all_workers(votes)
        shared = np.bincount(votes.task[votes.worker >= 0], minlength=votes.n_tasks) > 1  # tasks with two rows or more
        kappa_sums = make_pair_kappa_sum_function(
            votes,
            self._label_positions(votes),
            self.weights,
            pooled=self.pooled,
            min_shared_tasks=self.least,
            weight_by_tasks=self.average == "tasks",
        )
        sums = kappa_sums(shared.astype(np.float64), True)
        if not sums[2] and not sums[3]:
            raise self._make_no_pair_error()
        kappa, resampled = divide_or_nan(sums[:1], sums[1:2]), []
        for block in bootstrap_blocks_of_pattern_counts(
            np.ones(int(shared.sum()), np.int64), self.resamples, self.seed, progress
        ):
            counts = np.zeros((len(block), votes.n_tasks))
            counts[:, shared] = block
            drawn = np.array(parallel_map(lambda i, counts=counts: kappa_sums(counts[i], False), len(block)))  # type: ignore[misc]
            resampled.append(divide_or_nan(drawn[:, 0], drawn[:, 1]))
        return make_crowd_scores(self, float(kappa[0]), _shift_resamples_to_mean(resampled, kappa), float(sums[2]))

    def _require_votes_of_named_workers(self, votes: Votes) -> Votes:
        """Return the votes unchanged; raise InputError if a vote weighs more or less than 1, or no vote has a worker name."""
        if votes.answer is None and votes.weight is not None and bool((votes.weight[votes.worker >= 0] != 1).any()):
            raise InputError(
                f"{self.name()} takes plain votes or soft answers; some votes have a weight other than 1 without an answer "
                "number"
            )
        return require_some_worker_names(votes, self.name())

    def _votes_of_chosen_or_all_workers(self, votes: Votes) -> Votes:
        """Return the votes of the workers `first` and `second` if they are set, else all votes."""
        if self.first is None or self.second is None:
            return votes
        place = positions(votes.workers, as_names([self.first, self.second]))
        for name, code in zip((self.first, self.second), place.tolist(), strict=True):
            if code < 0:
                raise unknown_name_error("worker", name, map(str, votes.workers.tolist()))
        return votes.where(np.isin(votes.worker, place))

    def _label_positions(self, votes: Votes) -> Floats:
        """Return (n_labels,) the position (or rank) of each label on the ordered scale; zeros if weights=none."""
        if self.weights == "none":
            return np.zeros(votes.n_labels)
        return label_positions_or_error(votes, self.weights, self.name())

    def _make_no_pair_error(self) -> InputError:
        """Return (do not raise) the InputError for votes in which no pair of workers shares enough tasks."""
        pair = "no two workers" if self.first is None else f"{self.first} and {self.second} do not"
        shared = "" if self.least == 1 else f"{self.least} tasks; lower least, or use fleiss-kappa"
        return InputError(f"{self.name()}: {pair} share {shared or 'a task; use fleiss-kappa'}")


def _shift_resamples_to_mean(resampled: list[Floats], target_mean: Floats) -> list[Floats]:
    """Return the blocks of bootstrap values, all shifted by the same amount so that their mean is `target_mean` (1,).

    If a task is drawn twice, a pair shares fewer different tasks, which biases its kappa.
    """
    known = np.concatenate([*resampled, target_mean])
    known = known[~np.isnan(known)]
    return [block - known.mean() + target_mean for block in resampled] if len(known) else resampled
