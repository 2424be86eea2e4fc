"""Cohen's kappa of two workers, or its mean over pairs of workers."""

from collections.abc import Callable
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
from plurivox.engine.kernels.group_by import row_order_and_offsets_by_group
from plurivox.engine.kernels.kappa_and_vote_agreement import add_kappas_of_worker_pairs, pack_worker_label_and_task_end
from plurivox.engine.parallel_task_blocks import parallel_map
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement_coefficients import make_crowd_scores
from plurivox.identify._shared.group_sums import divide_or_nan
from plurivox.identify._shared.score_intervals import RESAMPLES_HELP, bootstrap_blocks_of_pattern_counts
from plurivox.identify._shared.workers_gold_times_from_evidence import require_some_worker_names

POWERS = {"none": 0, "linear": 1, "quadratic": 2}  # option `weights` -> power of the distance between two labels
N_CHUNKS = 64  # fixed chunks of workers, so that the sums have the same bits for any number of threads


@dataclass(frozen=True)
class CohenKappa(Identifier):
    """Cohen's kappa of two workers, or its mean over all pairs of workers who share tasks (Light's kappa).

    kappa = 1 - D_observed / D_chance over the tasks that both answered: the mean distance between their labels, over the
    mean distance between a label drawn from all of one worker's and a label drawn from all of the other's. Two different
    labels have distance 1 (none), their distance on the scale (linear), or its square (quadratic). A pair counts if it
    shares at least `least` tasks, and is left out if both always give the same single label; `n` is the number of pairs that
    count. `raw` is kappa, badness = 1 - kappa. The kappas of pairs that share few tasks are biased downwards and vary much, and
    the interval (from resamples, shifted to be centred at kappa) is rough for these. Every resample computes all pairs:
    with millions of votes, set resamples to 0.

    Cohen (1960), https://doi.org/10.1177/001316446002000104; weights: Cohen (1968), https://doi.org/10.1037/h0026256;
    pairs: Light (1971), https://doi.org/10.1037/h0031643

    >>> votes = Votes.of(task=list("aabbccdd"), worker=["ann", "bo"] * 4, label=list("xxxyyyyy"))
    >>> CohenKappa(least=4, resamples=0).score(Evidence(votes=votes)).raw
    array([0.5])
    """

    first: str | None = option(None, "name of the first worker of a pair; none: all pairs of workers")
    second: str | None = option(None, "name of the second worker of the pair")
    weights: Literal["none", "linear", "quadratic"] = option(
        "none", "weight of a disagreement: 1, or the distance or squared distance between the labels"
    )
    least: int = option(5, "smallest number of shared tasks for two workers to count as a pair", low=1)
    average: Literal["pairs", "tasks"] = option("pairs", "weight every pair equally, or by its shared tasks")
    resamples: int = option(1000, RESAMPLES_HELP, low=0)
    seed: int = option(0, "seed of the bootstrap; the same seed gives the same interval", low=0)

    of: ClassVar[ScoreTarget] = "crowd"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.first is None) != (self.second is None) or (self.first is not None and self.first == self.second):
            raise OptionError(f"{self.name()}: name two different workers, first and second, or none")

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        assert evidence.votes is not None
        votes = self._votes_of_chosen_or_all_workers(self._require_unweighted_votes_with_workers(evidence.votes))
        shared = np.bincount(votes.task[votes.worker >= 0], minlength=votes.n_tasks) > 1  # tasks with two votes or more
        power, by_tasks = POWERS[self.weights], self.average == "tasks"
        kappa_sums = _make_pair_kappa_sum_function(
            votes, self._label_positions_on_scale(votes), power, self.least, by_tasks
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

    def _require_unweighted_votes_with_workers(self, votes: Votes) -> Votes:
        """Return the votes unchanged; raise InputError if a vote has a weight other than 1, or no vote has a worker name."""
        if votes.weight is not None and bool((votes.weight != 1).any()):
            raise InputError(f"{self.name()} takes plain votes only; some of these have a weight other than 1")
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

    def _label_positions_on_scale(self, votes: Votes) -> Floats:
        """Return (n_labels,) the position of each label on the ordered scale; zeros if weights=none."""
        if self.weights == "none":
            return np.zeros(votes.n_labels)
        if votes.scale is None:
            raise InputError(
                f"{self.name()}: labels have no order, so weights cannot be {self.weights}; declare an order "
                "(ordered), or use weights=none"
            )
        return votes.scale

    def _make_no_pair_error(self) -> InputError:
        """Return (do not raise) the InputError for votes in which no pair of workers shares enough tasks."""
        pair = "no two workers" if self.first is None else f"{self.first} and {self.second} do not"
        shared = "" if self.least == 1 else f"{self.least} tasks; lower least, or use fleiss-kappa"
        return InputError(f"{self.name()}: {pair} share {shared or 'a task; use fleiss-kappa'}")


def _make_pair_kappa_sum_function(
    votes: Votes, label_positions: Floats, distance_power: int, min_shared_tasks: int, weight_by_tasks: bool
) -> Callable[[Floats, bool], Floats]:
    """Return a function (task weights, whether to use threads) -> sums over pairs: kappa, weight, pairs, undefined pairs."""
    order, begin = row_order_and_offsets_by_group(votes.worker, votes.n_workers)
    rows, n = (
        (order, begin, pack_worker_label_and_task_end(votes.task, votes.worker, votes.label), votes.task[order]),
        votes.n_workers,
    )

    def kappa_and_weight_sums_of_worker_range(task_weights: Floats, first_worker: int, end_worker: int) -> Floats:
        """Return sums over pairs with a worker in first_worker:end_worker: kappa, weight, pairs, undefined pairs."""
        sums = np.zeros(4)
        add_kappas_of_worker_pairs(
            first_worker,
            end_worker,
            *rows,
            task_weights,
            label_positions,
            distance_power,
            min_shared_tasks,
            weight_by_tasks,
            sums,
        )
        return sums

    def kappa_and_weight_sums_over_all_pairs(task_weights: Floats, threaded: bool) -> Floats:
        """Return sums over all pairs of workers: kappa, weight, pairs, undefined pairs."""
        if not threaded:  # resamples run in parallel instead
            return kappa_and_weight_sums_of_worker_range(task_weights, 0, n)
        cut = np.unique(np.searchsorted(begin, np.linspace(0, begin[-1], min(N_CHUNKS, n) + 1)[1:-1]))
        edges = [0, *cut.tolist(), n]
        return np.sum(
            parallel_map(
                lambda i: kappa_and_weight_sums_of_worker_range(task_weights, edges[i], edges[i + 1]),
                len(edges) - 1,
            ),
            axis=0,
        )

    return kappa_and_weight_sums_over_all_pairs


def _shift_resamples_to_mean(resampled: list[Floats], target_mean: Floats) -> list[Floats]:
    """Return the blocks of bootstrap values, all shifted by the same amount so that their mean is `target_mean` (1,).

    If a task is drawn twice, a pair shares fewer different tasks, which biases its kappa.
    """
    known = np.concatenate([*resampled, target_mean])
    known = known[~np.isnan(known)]
    return [block - known.mean() + target_mean for block in resampled] if len(known) else resampled
