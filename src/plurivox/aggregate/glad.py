"""GLAD: worker abilities and task difficulties, estimated by EM."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from plurivox.aggregate._contract import EMAggregator, accelerate_option, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.tasks_without_gold import (
    ClampedTasks,
    log_label_prior,
    posterior_to_soft_labels,
)
from plurivox.core.array_types import Bools, Floats, Names
from plurivox.core.errors import OptionError
from plurivox.core.method import option
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import KeyedVotes
from plurivox.engine.em import EMResult, run_em
from plurivox.engine.kernels import glad
from plurivox.engine.parallel_task_blocks import Blocks
from plurivox.engine.second_compiler import KernelCall

MAX_LOG_EASE = 20.0  # larger values make no difference: every vote on such a task is right


class Params(NamedTuple):
    """Parameters of the GLAD model: log prior of the labels, worker abilities and log eases of the tasks."""

    log_prior: Floats  # (n_labels,)
    ability: Floats  # (n_workers,)
    log_ease: Floats  # (n_open,)


@dataclass(frozen=True)
class Glad(EMAggregator):
    """Model the probability that a vote is right by the worker's ability and the task's difficulty.

    With x = ability * ease of the task, a vote is right with probability 1 / (1 + exp(-x)); otherwise all other labels are
    equally probable. Difficulty is 1 / ease. Abilities and log eases have normal priors with standard deviation 1. The
    objective is the log of likelihood and priors, with labels summed out. A pass moves the log ease of each task by a Newton
    step and each ability to the maximum of a quadratic lower bound of the objective (Jaakkola & Jordan 2000,
    https://doi.org/10.1023/A:1008932416310), so that the objective never decreases. `found["ability_sd"]` is the standard
    deviation of each ability that follows from its curvature if all other parameters are known. Abilities have no 95%
    interval: those from this curvature cover about 75% of simulated abilities. `found["left_out"]` is the leave-one-out
    agreement: the share of a worker's votes that agree with the other votes. `published` runs the EM of the paper, with at
    most 25 conjugate gradient iterations per M-step; it stops when the relative gain of Q is at most 1e-5.

    Whitehill, Ruvolo, Wu, Bergsma & Movellan (2009), Whose vote should count more, NeurIPS 22.

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxy"))
    >>> fit = Glad().fit(votes)
    >>> fit.soft.hard().tolist(), fit.ability.round(2)
    (['x', 'y', 'x'], array([ 1.14,  1.14, -0.49]))
    """

    prior: str = prior_option("even")
    ability_mean: float = option(
        1.0, "prior mean of the abilities; a worker with a negative ability is more often wrong than right"
    )
    ease_mean: float = option(1.0, "prior mean of the log eases")
    max_iter: int = max_iter_option()
    tol: float = tol_option()
    accelerate: bool = accelerate_option()
    published: bool = option(False, "EM with conjugate gradients and the stopping rule of the published code")

    estimates: ClassVar[Estimand] = "truth"

    def accepted_inputs(self) -> frozenset[str]:
        return self.takes - {"gold", "start"} if self.published else self.takes

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        start, _, weight, worker, said = KeyedVotes.without_rows(votes)
        vector, matrix = np.empty(0), np.empty((0, 0))
        columns = (0, 0, start, worker, said, weight, np.empty(0, bool), vector, vector, vector)
        return [
            (glad.glad_em_pass_return_objective, (*columns, 0.0, matrix, vector, vector, vector, vector)),
            (glad.fill_glad_posterior_add_worker_sums, (*columns, matrix, vector, vector)),
        ]

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        model = _Model(self, ClampedTasks(votes, gold, start))
        if self.published:
            return model.fit_from_em_result(model.run_glad_em_as_published(progress))
        result = run_em(model.em_pass, model.initial_params(start), **self.run_em_arguments(votes, progress, model))
        return model.fit_from_em_result(result)


class _Model:
    """GLAD model of given votes: initial parameters, EM passes, and the conversion of the result to a `Fit`."""

    def __init__(self, method: Glad, tasks: ClampedTasks) -> None:
        self.method, self.tasks, votes = method, tasks, tasks.votes
        self.fixed = method.fixed_prior(votes.labels)
        self.rows = tasks.start, tasks.worker, tasks.said, tasks.weight
        self.blocks = Blocks(tasks.start, n_sums=2 * votes.n_workers, sums_per_vote=2)

    def initial_params(self, earlier_fit: Fit | None) -> Params:
        """Return initial abilities and eases: prior means, or those of an earlier fit, or estimated from its posterior."""
        votes, open_tasks = self.tasks.votes, self.tasks.votes.tasks[self.tasks.open]
        params = Params(
            log_label_prior(np.ones(votes.n_labels), self.fixed),
            np.full(votes.n_workers, self.method.ability_mean),
            np.full(len(open_tasks), self.method.ease_mean),
        )
        if earlier_fit is None:
            return params
        if earlier_fit.difficulty is None or earlier_fit.ability is None:
            return self._em_pass_with_clamped(params, np.ones(len(open_tasks), bool))[0]
        _copy_values_by_name(earlier_fit.workers, earlier_fit.ability, votes.workers, params.ability)
        _copy_values_by_name(earlier_fit.soft.tasks, -np.log(earlier_fit.difficulty), open_tasks, params.log_ease)
        return params

    def em_pass(self, params: Params) -> tuple[Params, float]:
        """Run one EM pass: return (updated GLAD parameters, objective at `params`); updates `tasks.posterior`."""
        return self._em_pass_with_clamped(params, self.tasks.clamped)

    def _em_pass_with_clamped(self, params: Params, is_clamped: Bools) -> tuple[Params, float]:
        """Run one EM pass that updates the posterior only of tasks outside `is_clamped`; return (new parameters, objective)."""
        method, ease = self.method, np.empty_like(params.log_ease)

        def glad_em_pass_over_block(
            first_task: int,
            end_task: int,
            tasks_per_label: Floats,
            ability_numerator: Floats,
            ability_denominator: Floats,
        ) -> float:
            given = (*self.rows, is_clamped, *params, method.ease_mean, self.tasks.posterior)
            return glad.glad_em_pass_return_objective(
                first_task, end_task, *given, ease, tasks_per_label, ability_numerator, ability_denominator
            )

        sizes = len(params.log_prior), len(params.ability), len(params.ability)
        value, (tasks_per_label, ability_numerator, ability_denominator) = self.blocks.map_over_task_blocks_and_sum(
            glad_em_pass_over_block, *sizes
        )
        tasks_per_label += self.tasks.n_unvoted
        value += float(self.tasks.n_unvoted @ params.log_prior) - 0.5 * float(
            ((params.ability - method.ability_mean) ** 2).sum()
        )
        ability = (method.ability_mean + ability_numerator) / (1 + ability_denominator)
        return Params(log_label_prior(tasks_per_label, self.fixed), ability, ease), value

    def run_glad_em_as_published(self, progress: Progress) -> EMResult[Params]:
        """Run GLAD's EM of Whitehill et al. with its stopping rule; raise OptionError if the label prior is to be learnt."""
        tasks, first = self.tasks, self.initial_params(None)
        task = np.repeat(np.arange(len(tasks.open)), np.diff(tasks.start))
        rows = task, tasks.votes.worker, tasks.votes.label.astype(np.int64), tasks.votes.weights
        if self.fixed is None:
            raise OptionError("glad: with published the prior cannot be learnt; use prior=even, or leave out published")
        from plurivox.aggregate._shared.glad_published_em import PublishedEM  # imported here because scipy is slow

        em = PublishedEM(*rows, first.log_prior, tasks.n_workers, np.concatenate(first[1:]))
        result = em.run_glad_em_until_q_converges(progress)
        params = Params(first.log_prior, *np.split(result.params, [tasks.n_workers]))
        return EMResult(params, result.trace, result.converged, result.passes)

    def fit_from_em_result(self, result: EMResult[Params]) -> Fit:
        """Return the result of GLAD's EM as a `Fit`, with abilities and difficulties; updates `tasks.posterior`."""
        params, tasks, votes = result.params, self.tasks, self.tasks.votes

        def fill_posterior_and_agreement_of_block(
            first_task: int, end_task: int, agreeing_weight: Floats, ability_curvature: Floats
        ) -> float:
            given = (*self.rows, tasks.clamped, *params, tasks.posterior)
            return glad.fill_glad_posterior_add_worker_sums(
                first_task, end_task, *given, agreeing_weight, ability_curvature
            )

        _, (agreeing_weight, ability_curvature) = self.blocks.map_over_task_blocks_and_sum(
            fill_posterior_and_agreement_of_block, votes.n_workers, votes.n_workers
        )
        ability_sd = 1 / np.sqrt(np.maximum(1 + ability_curvature, 1.0))  # never above that of the prior
        difficulty = np.full(votes.n_tasks, np.exp(-self.method.ease_mean))
        difficulty[tasks.open] = np.exp(-params.log_ease)
        prior = np.exp(params.log_prior)
        return Fit(
            posterior_to_soft_labels(votes, tasks.posterior_of_all_tasks(prior)),
            votes.workers,
            self.method.spec,
            prior=prior,
            ability=params.ability,
            difficulty=difficulty,
            trace=result.trace,
            converged=result.converged,
            found={
                "passes": result.passes,
                "left_out": tasks.agreeing_share_per_worker(agreeing_weight),
                "ability_sd": ability_sd,
            },
        )

    # ---- SQUAREM extrapolates all parameters as they are

    def params_to_squarem_vector(self, params: Params) -> Floats:
        return np.concatenate(params)

    def params_from_squarem_vector(self, vector: Floats, _: Params) -> Params:
        n_labels, n_workers = self.tasks.n_labels, self.tasks.n_workers
        logs, ability, log_ease = np.split(vector, [n_labels, n_labels + n_workers])
        return Params(logs - np.logaddexp.reduce(logs), ability, np.clip(log_ease, -MAX_LOG_EASE, MAX_LOG_EASE))


def _copy_values_by_name(
    source_names: Names, source_values: Floats, target_names: Names, target_values: Floats
) -> None:
    """Copy values into `target_values`, in place, wherever a name in `target_names` also occurs in `source_names`."""
    place = positions(source_names, target_names)
    target_values[place >= 0] = source_values[place[place >= 0]]
