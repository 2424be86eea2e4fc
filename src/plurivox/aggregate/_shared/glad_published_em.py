"""EM of GLAD as published: each M-step runs at most 25 conjugate gradient iterations, and EM stops early."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

from plurivox.core.array_types import Floats, Ints
from plurivox.core.progress_callbacks import AtMost, Progress
from plurivox.engine.em import EMResult

MAX_ITER = 51
Q_TOL = 1e-5  # EM stops when the relative gain of Q is at most this
M_STEP_OPTIONS = {"method": "CG", "tol": 0.01, "options": {"maxiter": 25}}


@dataclass(frozen=True)
class PublishedEM:
    """GLAD's EM as published; its M-step maximises Q, the expected log of likelihood and priors under the label posterior.

    A point is one vector: the abilities of the workers, then the log eases of the tasks.
    """

    task: Ints  # (n_rows,) like worker, said and weight: one row per vote
    worker: Ints
    said: Ints
    weight: Floats
    log_prior: Floats  # (n_labels,)
    n_workers: int
    mean: Floats  # (n_workers + n_tasks,) of the normal priors

    def run_glad_em_until_q_converges(self, progress: Progress) -> EMResult[Floats]:
        """Run GLAD's EM from the prior means until Q hardly improves; return abilities and log eases as one vector."""
        here, trace, before = self.mean, list[float](), np.nan
        for step in range(MAX_ITER):
            score = self.log_joint_by_task_and_label(here)
            whole = logsumexp(score, 1, keepdims=True)
            trace.append(float(whole.sum() - 0.5 * ((here - self.mean) ** 2).sum()))
            progress(step, AtMost(MAX_ITER), trace[-1])
            right = np.exp(score - whole)[self.task, self.said]
            if step == 0:
                before = -self.minus_q_and_gradient(here, right)[0]
            found = minimize(self.minus_q_and_gradient, here, args=(right,), jac=True, **M_STEP_OPTIONS)
            there, gain, before = found.x, abs((-found.fun - before) / before), -found.fun
            if gain <= Q_TOL or step == MAX_ITER - 1:
                break
            here = there
        return EMResult(here, tuple(trace), bool(gain <= Q_TOL), len(trace))

    def log_joint_by_task_and_label(self, abilities_and_log_eases: Floats) -> Floats:
        """(n_tasks, n_labels) log p(label, votes) of each task, given worker abilities and log eases of tasks in one vector."""
        n_labels, n_tasks = len(self.log_prior), len(self.mean) - self.n_workers
        x, log_others = self._ability_times_ease_per_vote(abilities_and_log_eases), self._log_n_wrong_labels()
        own = np.bincount(self.task * n_labels + self.said, self.weight * (x + log_others), n_tasks * n_labels)
        every = np.bincount(self.task, self.weight * (np.logaddexp(0, x) + log_others), n_tasks)
        return self.log_prior + own.reshape(n_tasks, n_labels) - every[:, None]

    def minus_q_and_gradient(self, abilities_and_log_eases: Floats, prob_right: Floats) -> tuple[float, Floats]:
        """Return (-Q, its gradient); `prob_right` (n_rows,) is the posterior probability that each vote is right."""
        x, n_tasks = self._ability_times_ease_per_vote(abilities_and_log_eases), len(self.mean) - self.n_workers
        away, slope = abilities_and_log_eases - self.mean, self.weight * (prob_right - expit(x))
        value = (
            self.weight * (prob_right * log_expit(x) + (1 - prob_right) * (log_expit(-x) - self._log_n_wrong_labels()))
        ).sum()
        value -= (
            0.5 * (away**2).sum()
            + 0.5 * len(abilities_and_log_eases) * np.log(2 * np.pi)
            + n_tasks * np.log(len(self.log_prior))
        )
        by_worker = np.bincount(
            self.worker, slope * np.exp(abilities_and_log_eases[self.n_workers + self.task]), self.n_workers
        )
        by_task = np.bincount(self.task, slope * x, n_tasks)
        return -float(value), away - np.concatenate([by_worker, by_task])

    def _ability_times_ease_per_vote(self, abilities_and_log_eases: Floats) -> Floats:
        """(n_rows,) for each vote, the ability of its worker times the ease of its task."""
        return abilities_and_log_eases[self.worker] * np.exp(abilities_and_log_eases[self.n_workers + self.task])

    def _log_n_wrong_labels(self) -> float:
        """Return log(K - 1), the log of the number of wrong labels among K labels; 0 if there is only one label."""
        return float(np.log(max(len(self.log_prior) - 1, 1)))
