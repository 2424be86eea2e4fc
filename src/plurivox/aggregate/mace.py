"""MACE: how often each worker knows the true label, and how they guess otherwise, estimated by EM."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from plurivox.aggregate._contract import EMAggregator, accelerate_option, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.mace_and_one_coin_em import OwnLabelEM, own_label_kernel_calls
from plurivox.aggregate._shared.tasks_without_gold import log_label_prior
from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import vote_keys
from plurivox.engine.dirichlet_expected_logs import dirichlet_expected_logs_and_minus_kl, dirichlet_kernel_calls
from plurivox.engine.em import EMResult, run_all_starts_return_best_and_index, run_em
from plurivox.engine.kernels.confusion_m_step import TINY
from plurivox.engine.second_compiler import KernelCall

NOISE = 0.5  # size of the random differences between starts, as in the authors' code


class Params(NamedTuple):
    """Parameters of MACE: log label prior, and the expected number of votes per worker and label that were not guesses."""

    log_prior: Floats  # (n_labels,)
    n_not_guessed: Floats  # (n_workers, n_labels) expected number of votes for each label that were not guesses


@dataclass(frozen=True)
class Mace(EMAggregator):
    """Model each worker as knowing the true label with some probability and otherwise guessing by a personal distribution.

    p(said l | true k) = theta [l = k] + (1 - theta) xi_l, with the competence theta and the guessing distribution xi of a
    worker. `vb` gives theta a Beta prior and xi a Dirichlet prior and estimates their posterior (variational Bayes; the
    objective is the lower bound on the evidence); `em` estimates single values with pseudo-counts. EM runs from several
    random starts; the result with the highest objective is kept. Ability is theta; it has no interval, as that of the
    variational posterior covers far less than 95% if tasks have few votes.
    `found["left_out"]` is the leave-one-out agreement: the share of a worker's votes that agree with the other votes.

    Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), Learning whom to trust with MACE, https://aclanthology.org/N13-1132

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyyxxy"))
    >>> fit = Mace().fit(votes)
    >>> fit.soft.hard().tolist(), fit.ability.round(2)
    (['x', 'y', 'x'], array([0.85, 0.85, 0.16]))
    """

    how: Literal["vb", "em"] = option("vb", "vb: variational Bayes with priors, em: EM with pseudo-counts")
    starts: int = option(5, "number of random starts; the result with the highest objective is kept", low=1)
    seed: int = option(0, "random seed of the starts", low=0)
    knows: float = option(0.5, "vb: pseudo-count of known answers, in the Beta prior of the competence", low=1e-6)
    guesses: float = option(0.5, "vb: pseudo-count of guessed answers, in the Beta prior of the competence", low=1e-6)
    habit: float = option(10.0, "vb: pseudo-count per label, in the Dirichlet prior of the guesses", low=1e-6)
    smooth: float | None = option(
        None, "em: pseudo-count of known answers, guesses and votes per label; none: .01 / number of labels", low=1e-9
    )
    prior: str = prior_option("even")
    max_iter: int = max_iter_option(100, " per start")
    tol: float = tol_option()
    accelerate: bool = accelerate_option()

    estimates: ClassVar[Estimand] = "truth"
    numbers_workers_and_labels: ClassVar[bool] = True

    def estimated_worker_table_floats(self, votes: Votes) -> int:
        return 2 * min(votes.n_workers * votes.n_labels**2, 4 * DENSE_CELLS) + 20 * votes.n_workers * votes.n_labels

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        return [*dirichlet_kernel_calls(), *own_label_kernel_calls(votes)]

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        model = _Model(self, votes, gold)
        rng = np.random.default_rng(self.seed)

        def run_em_from_one_start(_: int, progress: Progress) -> EMResult[Params]:
            first = model.random_initial_params(rng) if start is None else model.warm_start_params(start)
            return run_em(model.em_pass, first, **self.run_em_arguments(votes, progress, model))

        return model.fit_from_em_result(
            *run_all_starts_return_best_and_index(
                self.starts if start is None else 1, self.max_iter, run_em_from_one_start, progress
            )
        )


class _Model:
    """MACE model of given votes: initial parameters, EM passes, and the conversion of the result to a `Fit`."""

    def __init__(self, method: Mace, votes: Votes, gold: SoftLabels | None) -> None:
        self.method, self.shape, self.n_labels = method, (votes.n_workers, votes.n_labels), votes.n_labels
        self.fixed = method.fixed_prior(votes.labels)
        smooth = 0.01 / votes.n_labels if method.smooth is None else method.smooth
        pseudo = (method.knows, method.guesses, method.habit) if method.how == "vb" else (smooth, smooth, smooth)
        self.knows, self.guesses, self.habit = pseudo
        key = vote_keys(votes.worker, votes.label, votes.n_labels)
        self.em = OwnLabelEM(votes, gold, key, votes.n_workers * votes.n_labels)
        self.total = self.em.total.reshape(self.shape)  # (n_workers, n_labels) votes of each worker for each label

    # ---- initial values

    def random_initial_params(self, rng: np.random.Generator) -> Params:
        """Return random initial parameters in which about half of each worker's votes for each label are not guesses."""
        share = 1 + NOISE * rng.random((2, *self.shape))
        return Params(log_label_prior(np.ones(self.n_labels), self.fixed), self.total * share[0] / share.sum(0))

    def warm_start_params(self, earlier_fit: Fit) -> Params:
        """Return initial parameters that reproduce the matrices of the earlier fit, or are estimated from its posterior."""
        em, n, even = self.em, self.total.sum(1), log_label_prior(np.ones(self.n_labels), self.fixed)
        found = em.log_prior_and_matrices_of_fit_or_none(earlier_fit)
        if found is None:
            right = em.expected_right_votes_per_key(em.is_open, em.initial_posterior(earlier_fit)) + em.known_right
            # competence 1/2, uniform guesses
            n_not_guessed = right.reshape(self.shape) * self.n_labels / (self.n_labels + 1)
            return Params(even, n_not_guessed)
        earlier_prior, matrices = found  # (n_workers, true, said)
        wrong = matrices.sum(1) - np.einsum("wkk->wk", matrices)  # (n_workers, said)
        guess = wrong / max(self.n_labels - 1, 1)  # mean probability of a vote for a label if another one is true
        n_known = (1 - guess.sum(1)) * (self.knows + self.guesses + n) - self.knows
        n_guessed = (n - np.clip(n_known, 0, n))[:, None] + self.habit * self.n_labels
        guessed = np.clip(_divide_rows_by_sums(guess + TINY) * n_guessed - self.habit, 0, self.total)
        return Params(earlier_prior if self.fixed is None else even, self.total - guessed)

    # ---- E-step and M-step

    def em_pass(self, params: Params) -> tuple[Params, float]:
        """Run one EM pass of MACE: return (updated parameters, objective at `params`)."""
        log_guess, gain, prior_value = self.guess_log_probs_gains_and_prior_term(params.n_not_guessed)
        n_true, right, value = self.em.expected_counts_and_log_likelihood(
            params.log_prior, log_guess.ravel(), gain.ravel()
        )
        n_not_guessed = right.reshape(self.shape) * -np.expm1(-gain)
        return Params(log_label_prior(n_true, self.fixed), n_not_guessed), prior_value + value

    def guess_log_probs_gains_and_prior_term(self, not_guessed_counts: Floats) -> tuple[Floats, Floats, float]:
        """Return (log probability of a guessed vote, log gain if its label is true, term of the priors in MACE's objective).

        The first two are (n_workers, n_labels): log of (1 - theta) xi, and log(1 + theta / ((1 - theta) xi)).
        """
        guessed = self.total - not_guessed_counts
        coin = np.stack([not_guessed_counts.sum(1), guessed.sum(1)], 1)
        pseudo = np.array([self.knows, self.guesses]), np.full(self.n_labels, self.habit)
        if self.method.how == "vb":
            log_coin, first = dirichlet_expected_logs_and_minus_kl(coin.ravel(), pseudo[0][:, None], len(coin))
            log_habit, second = dirichlet_expected_logs_and_minus_kl(guessed.ravel(), pseudo[1][:, None], len(coin))
            log_coin, log_habit = log_coin.reshape(coin.shape), log_habit.reshape(self.shape)
            value = first + second
        else:
            log_coin, log_habit = (
                np.log(_divide_rows_by_sums(coin + pseudo[0])),
                np.log(_divide_rows_by_sums(guessed + pseudo[1])),
            )
            value = float((pseudo[0] * log_coin).sum() + (pseudo[1] * log_habit).sum())
        log_guess = log_coin[:, 1:] + log_habit
        return log_guess, np.logaddexp(0, log_coin[:, :1] - log_guess), value

    # ---- result

    def fit_from_em_result(self, result: EMResult[Params], best_start: int) -> Fit:
        """Return the best run of MACE's EM as a `Fit`; `best_start` is the number of the random start it came from."""
        (log_labels, n_not_guessed), votes = result.params, self.em.votes
        knows, guesses = n_not_guessed.sum(1) + self.knows, (self.total - n_not_guessed).sum(1) + self.guesses
        ability = knows / (knows + guesses)
        soft, left_out = self.em.soft_labels_and_worker_agreement(
            log_labels, self.guess_log_probs_gains_and_prior_term(n_not_guessed)[1].ravel()
        )
        return Fit(
            soft,
            votes.workers,
            self.method.spec,
            prior=np.exp(log_labels),
            confusion=self._confusion_matrices_or_none(
                ability, _divide_rows_by_sums(self.total - n_not_guessed + self.habit)
            ),
            ability=ability,
            trace=result.trace,
            converged=result.converged,
            found={"passes": result.passes, "start kept": best_start, "left_out": left_out},
        )

    def _confusion_matrices_or_none(self, competence: Floats, guess_distribution: Floats) -> Confusion | None:
        """Return each worker's confusion matrix, from competence and guess distribution; None if they need too much memory."""
        if guess_distribution.size * self.n_labels > 4 * DENSE_CELLS:
            return None
        # (n_workers, true, said)
        matrices = np.repeat(((1 - competence)[:, None] * guess_distribution)[:, None], self.n_labels, 1)
        np.einsum("wkk->wk", matrices)[:] += competence[:, None]
        return Confusion(matrices, self.em.votes.workers, self.em.votes.labels)

    # ---- SQUAREM extrapolates log prior and counts

    def params_to_squarem_vector(self, params: Params) -> Floats:
        return np.concatenate([params.log_prior, params.n_not_guessed.ravel()])

    def params_from_squarem_vector(self, vector: Floats, _: Params) -> Params:
        logs, n_not_guessed = np.split(vector, [self.n_labels])
        return Params(logs - np.logaddexp.reduce(logs), np.clip(n_not_guessed.reshape(self.shape), 0, self.total))


def _divide_rows_by_sums(counts: Floats) -> Floats:
    """Return a table with each row divided by its sum."""
    return counts / counts.sum(1, keepdims=True)
