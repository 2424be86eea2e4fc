"""One-coin Dawid-Skene: one accuracy per worker, estimated by EM."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from plurivox.aggregate._contract import EMAggregator, accelerate_option, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.mace_and_one_coin_em import OwnLabelEM, own_label_kernel_calls
from plurivox.aggregate._shared.tasks_without_gold import log_label_prior
from plurivox.aggregate._shared.worker_accuracy_intervals import accuracy_interval_when_read
from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.em import EMResult, run_em
from plurivox.engine.kernels.confusion_m_step import TINY
from plurivox.engine.second_compiler import KernelCall

MAX_LOGIT = 40.0  # bound of logits and log priors in SQUAREM steps


@dataclass(frozen=True)
class OneCoin(EMAggregator):
    """Estimate one accuracy per worker: a vote is right with probability a, otherwise each wrong label is equally probable.

    p(task has k) is proportional to prior_k * product over its votes of (a_worker if it said k, else
    (1 - a_worker) / (K - 1)) ^ weight; a is the expected share of a worker's votes that are right, with `smooth`
    right and wrong votes added. Estimated by EM from vote shares. Ability is a; its 95% interval is that of a
    hierarchical model with unknown labels (see `Fit`).

    Dawid & Skene's model with one parameter per matrix; analysed by Ghosh, Kale & McAfee (2011),
    https://doi.org/10.1145/1993574.1993599

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> OneCoin().fit(votes).ability.round(2)
    array([1.  , 1.  , 0.33])
    """

    smooth: float = option(0.01, "pseudo-count of right votes, and of wrong votes, per worker", low=0)
    prior: str = prior_option()
    max_iter: int = max_iter_option()
    tol: float = tol_option()
    accelerate: bool = accelerate_option()

    estimates: ClassVar[Estimand] = "truth"

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        return own_label_kernel_calls(votes)

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        em = OwnLabelEM(votes, gold, votes.worker, votes.n_workers)
        model = _Model(em, self.fixed_prior(votes.labels), self.smooth)
        result = run_em(model.em_pass, model.initial_params(start), **self.run_em_arguments(votes, progress, model))
        return model.fit_from_em_result(self.spec, result)


class _Params(NamedTuple):
    """Parameters of the one-coin model: log prior of the labels and worker accuracies."""

    log_prior: Floats  # (n_labels,)
    ability: Floats  # (n_workers,) probability that a vote is right


@dataclass
class _Model:
    """One-coin model of given votes: initial parameters, EM passes, and the conversion of the result to a `Fit`."""

    em: OwnLabelEM
    fixed: Floats | None  # (n_labels,) the prior, if it is not learnt
    smooth: float
    n_right: Floats | None = None  # (n_workers,) expected right votes in the latest pass

    def initial_params(self, earlier_fit: Fit | None) -> _Params:
        """Return initial label prior and worker accuracies, from vote shares or from an earlier fit."""
        em, posterior = self.em, self.em.initial_posterior(earlier_fit)
        right = em.expected_right_votes_per_key(em.is_open, posterior) + em.known_right
        params = self.m_step(posterior.sum(0) + em.known_true, right)
        if (
            earlier_fit is not None
            and earlier_fit.ability is not None
            and earlier_fit.made_by.startswith(OneCoin.name())
        ):
            place = positions(earlier_fit.workers, em.votes.workers)
            ability = np.where(place >= 0, earlier_fit.ability[place], params.ability)
            params = params._replace(ability=0.01 / max(em.n_labels, 2) + 0.99 * ability)
        return params

    def em_pass(self, params: _Params) -> tuple[_Params, float]:
        """Run one EM pass: return (updated prior and accuracies, objective at `params`); keep the right votes in `n_right`."""
        hit, miss = self.log_probs_of_right_and_wrong_vote(params.ability)
        n_true, self.n_right, value = self.em.expected_counts_and_log_likelihood(params.log_prior, miss, hit - miss)
        return self.m_step(n_true, self.n_right), value + self.smooth * float(hit.sum() + miss.sum())

    def log_probs_of_right_and_wrong_vote(self, accuracy: Floats) -> tuple[Floats, Floats]:
        """(hit, miss), each (n_workers,): log probability of a vote for the true label, and for one particular wrong label."""
        hit, miss = np.maximum(accuracy, TINY), np.maximum((1 - accuracy) / max(self.em.n_labels - 1, 1), TINY)
        return np.log(hit), np.log(miss)

    def m_step(self, tasks_per_label: Floats, right_votes: Floats) -> _Params:
        """Return the label prior and worker accuracies, from expected tasks per label and expected right votes per worker."""
        right_votes, load = right_votes + self.smooth, self.em.votes.n_answers_per_worker + 2 * self.smooth
        ability = np.divide(right_votes, load, out=np.full(len(load), 1 / self.em.n_labels), where=load > 0)
        return _Params(log_label_prior(tasks_per_label, self.fixed), ability)

    # ---- SQUAREM extrapolates log prior and logits

    def params_to_squarem_vector(self, params: _Params) -> Floats:
        logit = np.log(np.maximum(params.ability, TINY)) - np.log(np.maximum(1 - params.ability, TINY))
        return np.clip(np.concatenate([params.log_prior, logit]), -MAX_LOGIT, MAX_LOGIT)

    def params_from_squarem_vector(self, vector: Floats, _: _Params) -> _Params:
        prior, logit = np.split(vector, [self.em.n_labels])
        return _Params(prior - np.logaddexp.reduce(prior), 1 / (1 + np.exp(-np.clip(logit, -700, 700))))

    def fit_from_em_result(self, made_by: str, result: EMResult[_Params]) -> Fit:
        """Return the result of the one-coin EM as a `Fit`, with worker accuracies and their 95% intervals."""
        assert self.n_right is not None
        (log_labels, ability), votes = result.params, self.em.votes
        hit, miss = self.log_probs_of_right_and_wrong_vote(ability)
        soft, left_out = self.em.soft_labels_and_worker_agreement(log_labels, hit - miss)
        low, high = accuracy_interval_when_read(votes, self.em.gold, self.fixed)
        return Fit(
            soft,
            votes.workers,
            made_by,
            prior=np.exp(log_labels),
            ability=ability,
            ability_low=low,
            ability_high=high,
            trace=result.trace,
            converged=result.converged,
            found={"passes": result.passes, "left_out": left_out},
        )
