"""Calibrated shares: what people say about a task, predicted from few votes or soft answers."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.optimize import minimize_scalar

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.careless_workers import careless_workers, learn_concentration
from plurivox.aggregate._shared.recalibrated_pool import is_soft, learn_pool, read_answers, top_label_weights
from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS, Candidates, Dense
from plurivox.core.votes import Votes
from plurivox.engine.dirichlet_mixture import (
    FIT_CELLS,
    FIT_TASKS,
    MAX_MIXTURE_LABELS,
    DirichletMixture,
    MixtureFit,
    evenly_spaced,
    expected_absolute_errors,
    fit_dirichlet_mixture,
    start_mixture,
    tasks_that_teach,
)

POOL_ANSWERS = 20_000  # at most about so many answers teach the pool
POWER_TASKS = 1_000  # at most so many tasks choose the power
MIN_FURTHER = 10  # votes beyond the first of each task, per label; with fewer, it is not learnt how much people differ
ADDED = 0.5  # concentration of the single Dirichlet then
MIN_VOTES = 2  # with fewer votes per task on average, nothing is said about how certain the shares are
PER_TASK = "concentration per task"
HIGHEST_POWER = 3.0
TV_WEIGHT = 1.5  # total variation against cross-entropy in the loss both
Loss = Literal["both", "cross-entropy", "manhattan"]


@dataclass(frozen=True)
class CalibratedShares(Aggregator):
    """Predict the shares of labels that the whole crowd would give, from the few votes or soft answers that there are.

    Shares of three votes are too extreme; with pseudo-votes added to every task they are too flat where people agree. Here the
    distribution of label shares over tasks is learnt from all tasks: a mixture of Dirichlet distributions, two per label (for
    tasks on which people agree, and for tasks with a rival label) and a flat one, fitted by maximum marginal likelihood
    (empirical Bayes). With r_c the posterior probability of component c, n_k the votes for label k and n their sum,

        q(k | task) = sum_c r_c (n_k + alpha_ck) / (n + A_c),    p(k | task) proportional to q(k | task)^power.

    The power minimises the expected cross-entropy plus 1.5 times the total variation under the mixture: the mean q is best in
    cross-entropy and a little too flat in total variation. For soft answers q is a recalibrated linear pool, whose powers and
    concentration best predict the top label of every answer from the other answers. Workers whose votes are more probable if
    they do not depend on the task are not used as evidence of what others say. Nothing is chosen with known labels.

    `found["concentration per task"]` is how certain the shares of each task are: with c of a task, the distribution
    Beta(c p, c (1 - p)) of a label's share gives its interval; for the top label it has the variance of the posterior. It is
    there if tasks have two votes or more on average: one vote per task does not tell how much people differ. With fewer
    than ten further votes per label, beyond the first of each task, the mixture is the one from which EM starts.

    With more than 64 labels there is one Dirichlet, with learnt concentration, no power, and no search for careless workers.

    Minka (2000), Estimating a Dirichlet distribution; Ranjan and Gneiting (2010),
    https://doi.org/10.1111/j.1467-9868.2009.00726.x

    >>> votes = Votes.of([*range(8)] * 3, np.repeat([1, 2, 3], 8), [*"aaaabbbb", *"aaaabbbb", *"aaababbb"])
    >>> fit = CalibratedShares().fit(votes)
    >>> fit.soft.prob[[0, 3]].round(2)  # three votes for a, and two
    array([[0.96, 0.04],
           [0.7 , 0.3 ]])
    """

    loss: Loss = option(
        "both",
        "what the power minimises: both (cross-entropy plus 1.5 times total variation), cross-entropy (power 1) or manhattan",
    )
    careless: Literal["discount", "leave-out", "keep"] = option(
        "discount",
        "workers whose votes do not depend on the task: discount (not used as evidence; they stay a part of the crowd, with "
        "their overall label shares), leave-out (predict the others only) or keep (as all others)",
    )

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    estimates: ClassVar[Estimand] = "people"

    def estimated_peak_floats(self, votes: Votes) -> int:
        """Return the estimate of counts and soft labels as tables, or as a few numbers per vote if there are many labels."""
        cells = votes.n_tasks * votes.n_labels
        if votes.n_labels > MAX_MIXTURE_LABELS:
            return 4 * (cells if cells <= DENSE_CELLS else 0) + 12 * (len(votes) + votes.n_workers + votes.n_tasks)
        fit_cells = min(min(votes.n_tasks, FIT_TASKS) * (2 * votes.n_labels + 1), FIT_CELLS)
        return 3 * cells + 12 * len(votes) + 6 * fit_cells

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start
        if votes.n_labels > MAX_MIXTURE_LABELS:
            return replace(_fit_one_dirichlet(votes), made_by=self.spec)
        enough = bool(votes.support.sum() >= MIN_VOTES * np.count_nonzero(votes.support))
        if self.careless == "keep" or not votes.n_workers:
            return self._fit_mixture(votes, enough, progress)
        top = top_label_weights(votes)
        out = careless_workers(votes, top, _crowd_shares(votes, top))
        row = (votes.worker >= 0) & out[votes.worker]
        if not out.any() or row.all():
            fit = self._fit_mixture(votes, enough, progress)
            return replace(fit, found={"careless workers": 0, **fit.found})
        fit = self._fit_mixture(votes.where(~row), enough, progress)
        share = float(top[row].sum() / top.sum())
        soft = replace(fit.soft, support=votes.support)
        if share and self.careless == "discount":
            said = np.bincount(votes.label[row], top[row], minlength=votes.n_labels)
            soft = replace(soft, body=Dense((1 - share) * soft.prob + share * said / said.sum()))
        return replace(fit, soft=soft, found={"careless workers": int(out.sum()), **fit.found})

    def _fit_mixture(self, votes: Votes, tell_certainty: bool, progress: Progress) -> Fit:
        """Return the fit of few labels: the mixture, the pool if there are soft answers, and the power."""
        top = top_label_weights(votes)
        counts = _table(votes, top)
        crowd = _crowd_shares(votes, top)
        voted = np.flatnonzero(counts.sum(1) > 0)
        first = start_mixture(crowd)
        sample = tasks_that_teach(voted, first)
        fitted = MixtureFit(first, (), converged=True)
        if _n_further_votes(votes.support[sample]) >= MIN_FURTHER * votes.n_labels:
            fitted = fit_dirichlet_mixture(counts[sample], first, progress=progress)
        mixture = fitted.mixture
        prob, found = mixture.posterior_means(counts), dict[str, Any]()
        power = best_power(mixture, counts[evenly_spaced(voted, POWER_TASKS)], self.loss)
        if is_soft(votes):
            prob, found = _pool_answers(votes, top, counts, prob, mixture, crowd)
        if power != 1:
            np.power(prob, power, out=prob)
            prob /= prob.sum(1, keepdims=True)
        prior = mixture.weight @ (mixture.alpha / mixture.alpha.sum(1, keepdims=True))
        prob[votes.support == 0] = prior
        soft = SoftLabels(Dense(prob), votes.tasks, votes.labels, votes.support, votes.scale)
        found["power"] = round(power, 3)
        if tell_certainty:
            found[PER_TASK] = mixture.posterior_concentrations(counts)
        return Fit(
            soft, votes.workers, self.spec, prior=prior, trace=fitted.trace, converged=fitted.converged, found=found
        )


def best_power(mixture: DirichletMixture, counts: Floats, loss: Loss) -> float:
    """Return the power of the posterior means that minimises the expected loss of tasks with these counts under the mixture."""
    if loss == "cross-entropy" or not len(counts):
        return 1.0
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    mean = mixture.posterior_means(patterns)

    def expected_loss(power: float) -> float:
        raised = np.maximum(mean, 1e-300) ** power
        raised /= raised.sum(1, keepdims=True)
        value = TV_WEIGHT * expected_absolute_errors(mixture, patterns, raised) / 2
        if loss == "both":
            value = value - (mean * np.log(np.maximum(raised, 1e-300))).sum(1)
        return float(times @ value) / len(counts)

    return float(minimize_scalar(expected_loss, bounds=(1.0, HIGHEST_POWER), method="bounded").x)


def _pool_answers(
    votes: Votes, top: Floats, counts: Floats, from_top: Floats, mixture: DirichletMixture, crowd: Floats
) -> tuple[Floats, dict[str, Any]]:
    """Return the recalibrated pool of the soft answers of each task, and what was learnt for it."""
    per_task = max(votes.n_answers / votes.n_tasks, 1)
    learn_from = np.zeros(votes.n_tasks, bool)
    learn_from[evenly_spaced(np.flatnonzero(votes.support > 0), max(1, int(POOL_ANSWERS / per_task)))] = True
    rows = learn_from[votes.task]
    answers = read_answers(votes.where(rows), top[rows])
    sums = votes.counts()
    from_others = mixture.posterior_means(np.maximum(counts[answers.task] - answers.top, 0))
    pool = learn_pool(answers, sums, from_others, crowd)
    found = {
        "concentration": round(pool.concentration, 3),
        "power of the pool": round(pool.power, 3),
        "power of the top labels": round(pool.top_power, 3),
    }
    return pool.pooled(sums, from_top, crowd), found


def _fit_one_dirichlet(votes: Votes) -> Fit:
    """Return the fit of many labels: votes plus A m, m the smoothed shares of the crowd, A of maximum marginal likelihood."""
    tally = votes.sparse_vote_counts()
    crowd = _crowd_shares(votes, votes.weights)
    added = ADDED
    if _n_further_votes(votes.support) >= MIN_FURTHER:
        added = learn_concentration(tally.label, tally.mass, votes.support, crowd)
    total = votes.support + added
    row = tally.row_of_each_candidate
    if votes.n_tasks * votes.n_labels <= DENSE_CELLS:
        prob = np.repeat(added * crowd[None], votes.n_tasks, 0)
        prob[row, tally.label] += tally.mass
        prob /= total[:, None]
        body: Dense | Candidates = Dense(prob)
    else:  # what labels without votes get is spread evenly over them
        mass = (tally.mass + added * crowd[tally.label]) / total[row]
        body = replace(tally, mass=mass, rest=np.maximum(1 - np.bincount(row, mass, minlength=votes.n_tasks), 0.0))
    soft = SoftLabels(body, votes.tasks, votes.labels, votes.support, votes.scale)
    found: dict[str, Any] = {"concentration": round(added, 3)}
    if votes.support.sum() >= MIN_VOTES * np.count_nonzero(votes.support):
        found[PER_TASK] = total
    return Fit(soft, votes.workers, "", prior=crowd, found=found)


def _n_further_votes(support: Floats) -> float:
    """Return the number of votes beyond the first of each task: only they tell how much people differ."""
    return float(np.maximum(support - 1, 0).sum())


def _crowd_shares(votes: Votes, weight: Floats) -> Floats:
    """(n_labels,) the shares of the labels among all votes, with half a vote added to each."""
    total = np.bincount(votes.label, weight, minlength=votes.n_labels) + 0.5
    return np.asarray(total / total.sum())


def _table(votes: Votes, weight: Floats) -> Floats:
    """(n_tasks, n_labels) the sum of a weight of the rows of votes."""
    if weight is votes.weights:
        return votes.counts()
    return _sum_per_cell(votes, weight)


def _sum_per_cell(votes: Votes, weight: Floats) -> Floats:
    """(n_tasks, n_labels) the sum of `weight` over the rows of votes, added in order of size: the same for any row order."""
    order = np.argsort(weight, kind="stable")
    cell = votes.task.astype(np.int64) * votes.n_labels + votes.label
    flat = np.bincount(cell[order], weight[order], minlength=votes.n_tasks * votes.n_labels)
    return flat.reshape(votes.n_tasks, votes.n_labels).astype(np.float64, copy=False)
