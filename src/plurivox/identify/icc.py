"""Intraclass correlation: agreement of a crowd on labels that are numbers."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.votes import Votes
from plurivox.engine.answer_pair_agreement import has_two_or_more_answers, task_sums_of_within_answer_disagreement
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement_coefficients import (
    REPEATED_HELP,
    score_from_sums_of_terms,
    votes_of_different_people,
)
from plurivox.identify._shared.group_sums import divide_or_nan
from plurivox.identify._shared.score_intervals import RESAMPLES_HELP


@dataclass(frozen=True)
class Icc(Identifier):
    """Intraclass correlation (ICC): the share of the variance of numeric labels that is between tasks, not within them.

    With MS the mean squares of an analysis of variance, n tasks and k votes on each:

        one-way      ICC(1)     = (MS_task - MS_within) / (MS_task + (k - 1) MS_within)
        agreement    ICC(A,1)   = (MS_task - MS_error) / (MS_task + (k - 1) MS_error + k (MS_worker - MS_error) / n)
        consistency  ICC(C,1)   = (MS_task - MS_error) / (MS_task + (k - 1) MS_error)

    They are ICC(1,1), ICC(2,1) and ICC(3,1) of Shrout & Fleiss. one-way: different workers may answer different tasks, and
    numbers of votes may differ (k is then k_0 = (N - sum_t k_t^2 / N) / (n - 1)); tasks with one vote are left out.
    agreement and consistency need a complete table, all workers on all tasks, and always use a worker's first answer to a
    task: consistency ignores that a worker's labels are all higher or lower than the others', agreement does not. `unit` =
    average is the reliability of the mean of k votes: ICC(1,k), ICC(A,k), ICC(C,k). Labels are at their positions on the
    scale, a soft answer at its mean. `raw` is the ICC, badness = 1 - ICC.

    Shrout & Fleiss (1979), https://doi.org/10.1037/0033-2909.86.2.420; McGraw & Wong (1996),
    https://doi.org/10.1037/1082-989X.1.1.30

    >>> votes = Votes.of(task=list("aabbcc"), worker=["ann", "bo"] * 3, label=[1, 2, 2, 3, 4, 5], ordered=True)
    >>> for model in ("one-way", "agreement", "consistency"):
    ...     print(Icc(model=model, resamples=0).score(Evidence(votes=votes)).raw.round(3))
    [0.806]
    [0.824]
    [1.]
    """

    model: Literal["one-way", "agreement", "consistency"] = option(
        "one-way", "one-way: ICC(1); two-way, for complete tables: agreement, ICC(A,1), or consistency, ICC(C,1)"
    )
    unit: Literal["single", "average"] = option(
        "single", "reliability of a single vote, or of the mean of all votes on a task"
    )
    incomplete: Literal["error", "left-out"] = option(
        "error", "two-way models: a task that not all workers answered is an error, or is left out"
    )
    repeated: Literal["first", "all"] = option("first", REPEATED_HELP)
    resamples: int = option(1000, RESAMPLES_HELP, low=0)
    seed: int = option(0, "seed of the bootstrap; the same seed gives the same interval", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "crowd"

    def uses_order(self) -> bool:
        return True

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        assert evidence.votes is not None
        votes = votes_of_different_people(evidence.votes, self.repeated if self.model == "one-way" else "first")
        if votes.scale is None:
            raise InputError(f"{self.name()} needs labels that are numbers or ordered; declare an order (ordered)")
        if not has_two_or_more_answers(votes.support).any():
            raise InputError(f"{self.name()} needs a task with two votes or more; no task has two")
        terms = self._one_way_terms(votes) if self.model == "one-way" else self._two_way_terms(votes)
        return score_from_sums_of_terms(
            self,
            terms,
            np.ones(len(terms), np.int64),
            self._one_way_icc if self.model == "one-way" else self._two_way_icc,
            float(len(terms)),
            (self.resamples, self.seed),
            progress,
        )

    def _one_way_terms(self, votes: Votes) -> Floats:
        """Return (n_tasks, 6) of the tasks with two votes or more: 1, k, k^2, sum of values, of squares, sum^2 / k."""
        at = _centred_positions(votes)
        k = votes.support
        total = np.bincount(votes.task, votes.weights * at[votes.label], minlength=votes.n_tasks)
        squares = np.bincount(votes.task, votes.weights * at[votes.label] ** 2, minlength=votes.n_tasks)
        within = task_sums_of_within_answer_disagreement(votes, at) / 2  # a soft answer is at its mean
        several = has_two_or_more_answers(k)
        columns = [np.ones(len(k)), k, k**2, total, squares - within, total**2 / np.maximum(k, 1)]
        return np.column_stack(columns)[several]

    def _one_way_icc(self, term_sums: Floats) -> Floats:
        """Return (n,) ICC(1) or ICC(1,k) from sums of the terms of `_one_way_terms` over tasks."""
        n, votes, squared_votes, total, squares, between = term_sums.T
        mean_votes = divide_or_nan(votes - squared_votes / votes, n - 1)
        task = divide_or_nan(between - total**2 / votes, n - 1)
        within = divide_or_nan(squares - between, votes - n)
        return self._icc_of_mean_squares(task, within, np.zeros(len(n)), mean_votes)

    def _two_way_terms(self, votes: Votes) -> Floats:
        """Return (n_tasks, 3 + n_workers) of the tasks answered by all: 1, sum^2 / k, sum of squares, each worker's value."""
        name = f"{self.name()} with the model {self.model}"
        votes.require_worker_names(name)
        active = np.unique(votes.worker)
        self._raise_if_table_is_too_sparse(votes, len(active), name)
        values = np.full((votes.n_tasks, votes.n_workers), np.nan)
        values[votes.task, votes.worker] = 0
        np.add.at(values, (votes.task, votes.worker), votes.weights * _centred_positions(votes)[votes.label])
        values = values[votes.support > 0][:, active]
        full = ~np.isnan(values).any(1)
        if (self.incomplete == "error" and not full.all()) or full.sum() < 2 or len(active) < 2:
            raise InputError(
                f"{name} needs a complete table: {int(full.sum()):,} of {len(full):,} tasks were answered by all "
                f"{len(active):,} workers; use model=one-way, incomplete=left-out, or only the workers who answered all"
            )
        values = values[full]
        sums = [np.ones(len(values)), values.sum(1) ** 2 / values.shape[1], (values**2).sum(1)]
        return np.column_stack([*sums, values])

    def _raise_if_table_is_too_sparse(self, votes: Votes, n_active_workers: int, name: str) -> None:
        """Raise InputError, before a table of tasks and workers is made, if it cannot be complete."""
        n_tasks = int((votes.support > 0).sum())
        n_cells = len(np.unique(votes.task.astype(np.int64) * votes.n_workers + votes.worker))
        if self.incomplete == "error" and n_cells < n_tasks * n_active_workers:
            raise InputError(
                f"{name} needs a complete table: {n_cells:,} of {n_tasks * n_active_workers:,} answers of {n_active_workers:,} "
                f"workers to {n_tasks:,} tasks are there; use model=one-way, incomplete=left-out, or only the workers who "
                "answered all"
            )

    def _two_way_icc(self, term_sums: Floats) -> Floats:
        """Return (n,) ICC(A,1), ICC(C,1) or their k-forms from sums of the terms of `_two_way_terms` over tasks."""
        n, between, squares, by_worker = term_sums[:, 0], term_sums[:, 1], term_sums[:, 2], term_sums[:, 3:]
        k = by_worker.shape[1]
        correction = by_worker.sum(1) ** 2 / (n * k)
        of_tasks, of_workers = between - correction, (by_worker**2).sum(1) / n - correction
        task, worker = of_tasks / (n - 1), of_workers / (k - 1)
        error = (squares - correction - of_tasks - of_workers) / ((n - 1) * (k - 1))
        bias = (worker - error) / n if self.model == "agreement" else np.zeros(len(n))
        return self._icc_of_mean_squares(task, error, bias, np.full(len(n), float(k)))

    def _icc_of_mean_squares(self, task: Any, error: Any, bias: Any, k: Any) -> Floats:
        """Return the ICC of a single vote, or of the mean of k, from mean squares; `bias` is (MS_worker - MS_error) / n."""
        if self.unit == "single":
            return divide_or_nan(task - error, task + (k - 1) * error + k * bias)
        return divide_or_nan(task - error, task + bias)


def _centred_positions(votes: Votes) -> Floats:
    """Return (n_labels,) the positions of the labels on their scale, minus the mean position of the votes."""
    assert votes.scale is not None
    mean = np.average(votes.scale[votes.label], weights=votes.weights) if votes.weights.any() else 0.0
    return np.asarray(votes.scale - mean)
