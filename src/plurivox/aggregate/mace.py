"""MACE: who knows, and who only guesses."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import betaincinv

from plurivox.aggregate._confusion import (
    PRIOR_HELP,
    TOL_HELP,
    earlier_params,
    first_sums,
    fixed_prior,
    log_prior,
    soft_labels,
)
from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._crowd import Crowd
from plurivox.aggregate._starts import best_of
from plurivox.core.labels import SoftLabels
from plurivox.core.method import option
from plurivox.core.names import Floats
from plurivox.core.results import Confusion, Fit
from plurivox.core.rows import DENSE_CELLS
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch
from plurivox.engine.blocks import Blocks
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.em import Climb, climb
from plurivox.engine.kernels import mace
from plurivox.engine.kernels.confusion import TINY
from plurivox.engine.kernels.rows import PAD

NOISE = 0.5  # how much the random starts differ, as in the authors' code


class State(NamedTuple):
    """What was counted: it says all about the parameters."""

    log_prior: Floats  # (n_labels,)
    known: Floats  # (n_workers, n_labels) votes for each label that came from knowing


@dataclass(frozen=True)
class Mace(Aggregator):
    """Each worker knows the true label with an own chance, and else guesses by an own habit.

    p(said l | true k) = theta [l = k] + (1 - theta) xi_l, with the competence theta and the guessing habit xi of a worker.
    `vb` gives theta a Beta prior and xi a Dirichlet prior and finds their distributions (variational Bayes; the objective
    is the bound on the evidence); `em` finds the best single values, a little added to every count. Several random starts,
    the best kept. Ability is theta, with its 95% credible interval for `vb`; `found["left_out"]` is the share of a
    worker's answers that the rest agrees with, its own left out.

    Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), Learning whom to trust with MACE, https://aclanthology.org/N13-1132

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyyxxy"))
    >>> fit = Mace().fit(votes)
    >>> fit.soft.hard().tolist(), fit.ability.round(2)
    (['x', 'y', 'x'], array([0.76, 0.76, 0.2 ]))
    """

    how: Literal["vb", "em"] = option("vb", "variational Bayes with priors, or plain EM")
    starts: int = option(5, "how many random starts; the best is kept", low=1)
    seed: int = option(0, "of the random starts", low=0)
    knows: float = option(0.5, "vb: answers a worker is taken to have known before any is seen", low=1e-6)
    guesses: float = option(0.5, "vb: answers a worker is taken to have guessed before any is seen", low=1e-6)
    habit: float = option(10.0, "vb: guesses of each label before any is seen", low=1e-6)
    smooth: float | None = option(None, "em: what is added to every count; none: .01 / number of labels", low=1e-9)
    prior: str = option("even", PRIOR_HELP)
    max_iter: int = option(100, "most passes over the votes for each start", low=1)
    tol: float = option(1e-6, TOL_HELP, low=0)
    accelerate: bool = option(True, "try longer steps, and take back those that do not pay")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        model = _Model(self, Crowd(votes, gold))
        chance = np.random.default_rng(self.seed)

        def attempt(_: int, watch: Watch) -> Climb[State]:
            return climb(
                model.sweep,
                model.some(chance) if start is None else model.earlier(start),
                max_iter=self.max_iter,
                tol=self.tol * votes.n_answers,
                watch=watch,
                space=model if self.accelerate else None,
            )

        end, kept = best_of(self.starts if start is None else 1, self.max_iter, attempt, watch)
        return model.answer(end, kept)


class _Model:
    """The model on some votes."""

    def __init__(self, method: Mace, crowd: Crowd) -> None:
        self.method, self.crowd, votes = method, crowd, crowd.votes
        self.shape = crowd.n_workers, crowd.n_labels
        self.fixed = fixed_prior(method.prior, votes.labels)
        said = (crowd.key % np.uint32(crowd.n_labels)).astype(votes.label.dtype)
        self.rows = crowd.start, crowd.key, said, crowd.weight
        n_cells = crowd.n_workers * crowd.n_labels
        self.blocks = Blocks(crowd.start, cells=n_cells)
        key = votes.worker * np.int64(crowd.n_labels) + votes.label
        self.total = np.bincount(key, votes.weight, minlength=n_cells).reshape(self.shape).astype(np.float64)
        self.right_known = np.zeros(self.shape)  # votes that hit a label known for sure
        if crowd.known is not None:
            self.right_known += np.einsum("wkk->wk", crowd.tensor(crowd.known.counts))
        smooth = 0.01 / crowd.n_labels if method.smooth is None else method.smooth
        vb = method.knows, method.guesses, method.habit
        self.knows, self.guesses, self.habit = vb if method.how == "vb" else (smooth, smooth, smooth)

    # ---- where to begin

    def some(self, chance: np.random.Generator) -> State:
        """About half of the votes of each worker and label are known."""
        share = 1 + NOISE * chance.random((2, *self.shape))
        return State(log_prior(np.ones(self.shape[1]), self.fixed), self.total * share[0] / share.sum(0))

    def earlier(self, start: Fit) -> State:
        """The counts that would lead to an earlier fit's matrices; or that follow from what it believed."""
        params, n = earlier_params(self.crowd, start), self.total.sum(1)
        log_labels = log_prior(np.ones(self.shape[1]), self.fixed)
        if params is None:
            right = np.einsum("wkk->wk", self.crowd.tensor(first_sums(self.crowd, start).counts))
            return State(log_labels, right * self.shape[1] / (self.shape[1] + 1))  # an even guess by half of the votes
        said = np.exp(self.crowd.tensor(params.table))  # (n_workers, said, true)
        guess = (said.sum(2) - np.einsum("wkk->wk", said)) / max(self.shape[1] - 1, 1)  # where another label is true
        n_known = (1 - guess.sum(1)) * (self.knows + self.guesses + n) - self.knows
        guessed = (n - np.clip(n_known, 0, n))[:, None] + self.habit * self.shape[1]
        guessed = _shares(guess + TINY) * guessed - self.habit
        return State(
            params.log_prior if self.fixed is None else log_labels, self.total - np.clip(guessed, 0, self.total)
        )

    # ---- passes

    def sweep(self, state: State) -> tuple[State, float]:
        """One pass: better counts, and the objective of those given."""
        log_know, log_guess, value = self.parameters(state.known)
        gain = np.logaddexp(0, log_know - log_guess)
        width = 4 * len(self.crowd.quads)
        begin = np.full(-(-self.shape[1] // width) * width, -np.inf)
        begin[: self.shape[1]] = state.log_prior
        flat = gain.ravel()

        def work(first: int, last: int, n_true: Floats, right: Floats) -> float:
            return mace.sweep(first, last, *self.rows, begin, flat, self.crowd.quads, n_true, right)

        seen, (n_true, hits) = self.blocks.gather(work, self.shape[1] + PAD, gain.size)
        right, n_true = hits.reshape(self.shape) + self.right_known, n_true[: self.shape[1]]
        value += seen + float((self.total * log_guess).sum()) + float((self.right_known * gain).sum())
        if self.crowd.known is not None:
            value += float(self.crowd.known.n_true @ state.log_prior)
            n_true = n_true + self.crowd.known.n_true
        return State(log_prior(n_true, self.fixed), right * -np.expm1(-gain)), value

    def parameters(self, known: Floats) -> tuple[Floats, Floats, float]:
        """log theta (n_workers, 1), log of (1 - theta) xi (n_workers, n_labels), and what the priors say of them."""
        guessed = self.total - known
        coin = np.stack([known.sum(1), guessed.sum(1)], 1)
        pseudo = np.array([self.knows, self.guesses]), np.full(self.shape[1], self.habit)
        if self.method.how == "vb":
            log_coin, first = expected_logs(coin.ravel(), pseudo[0][:, None], len(coin))
            log_habit, second = expected_logs(guessed.ravel(), pseudo[1][:, None], len(coin))
            log_coin, log_habit = log_coin.reshape(coin.shape), log_habit.reshape(self.shape)
            return log_coin[:, :1], log_coin[:, 1:] + log_habit, first + second
        log_coin, log_habit = np.log(_shares(coin + pseudo[0])), np.log(_shares(guessed + pseudo[1]))
        value = float((pseudo[0] * log_coin).sum() + (pseudo[1] * log_habit).sum())
        return log_coin[:, :1], log_coin[:, 1:] + log_habit, value

    def believe(self, state: State) -> tuple[Floats, Floats]:
        """(posterior of every task, for each worker the share of its answers that the rest agrees with)."""
        log_know, log_guess, _ = self.parameters(state.known)
        gain = np.logaddexp(0, log_know - log_guess).ravel()
        posterior = np.empty((len(self.crowd.open), self.shape[1]))

        def work(first: int, last: int, agree: Floats) -> float:
            return mace.believe(first, last, *self.rows, state.log_prior, gain, posterior, agree)

        agree = self.blocks.gather(work, self.shape[0])[1][0] + self.right_known.sum(1)
        return self.crowd.whole(posterior, np.exp(state.log_prior)), self.crowd.share(agree)

    # ---- the answer

    def answer(self, end: Climb[State], kept: int) -> Fit:
        """What a climb ended with, as a fit."""
        crowd, known, vb = self.crowd, end.state.known, self.method.how == "vb"
        knows, guesses = known.sum(1) + self.knows, (self.total - known).sum(1) + self.guesses
        ability = knows / (knows + guesses)
        posterior, left_out = self.believe(end.state)
        return Fit(
            soft_labels(crowd, posterior),
            crowd.votes.workers,
            self.method.word,
            prior=np.exp(end.state.log_prior),
            confusion=self._confusion(ability, _shares(self.total - known + self.habit)),
            ability=ability,
            ability_low=betaincinv(knows, guesses, 0.025) if vb else None,
            ability_high=betaincinv(knows, guesses, 0.975) if vb else None,
            trace=end.trace,
            converged=end.converged,
            found={"passes": end.passes, "start kept": kept, "left_out": left_out},
        )

    def _confusion(self, ability: Floats, habit: Floats) -> Confusion | None:
        """Everybody's matrix, unless the labels are so many that matrices are out of the question."""
        if habit.size * self.shape[1] > 4 * DENSE_CELLS:
            return None
        matrices = np.repeat(((1 - ability)[:, None] * habit)[:, None], self.shape[1], 1)  # (n_workers, true, said)
        np.einsum("wkk->wk", matrices)[:] += ability[:, None]
        return Confusion(matrices, self.crowd.votes.workers, self.crowd.votes.labels)

    # ---- the state as one row of numbers, for long steps

    def flat(self, state: State) -> Floats:
        return np.concatenate([state.log_prior, state.known.ravel()])

    def state(self, flat: Floats) -> State:
        logs, known = np.split(flat, [self.shape[1]])
        return State(logs - np.logaddexp.reduce(logs), np.clip(known.reshape(self.shape), 0, self.total))


def _shares(counts: Floats) -> Floats:
    """Rows divided by their sums."""
    return counts / counts.sum(1, keepdims=True)
