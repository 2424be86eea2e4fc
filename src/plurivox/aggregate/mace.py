"""MACE: who knows, and who only guesses."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import betaincinv

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._latent import first_guess, fixed_prior, held_tasks, weight_of
from plurivox.aggregate._starts import best_of
from plurivox.core.labels import SoftLabels
from plurivox.core.method import option
from plurivox.core.names import Floats, frozen, positions
from plurivox.core.results import Confusion, Fit
from plurivox.core.rows import DENSE_CELLS
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch
from plurivox.engine.blocks import Blocks
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.em import Climb, climb
from plurivox.engine.kernels import mace

State = tuple[Floats, Floats]  # known votes (n_workers, n_labels said), prior (n_labels,)


@dataclass(frozen=True)
class Mace(Aggregator):
    """Each worker knows the true label with an own chance, and else guesses by an own habit.

    p(said l | true k) = theta [l = k] + (1 - theta) xi_l, with the competence theta and the guessing habit xi of a
    worker. `vb` gives both Dirichlet priors and keeps their whole posterior (variational Bayes; the objective is the
    bound on the evidence); `em` seeks the best single values, counts made smoother by a little. Several random starts,
    the best kept. The ability of a worker is theta.

    Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), Learning whom to trust with MACE, https://aclanthology.org/N13-1132

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyyxxy"))
    >>> fit = Mace(starts=2).fit(votes)
    >>> fit.soft.hard().tolist(), bool(fit.ability[2] < fit.ability[0])
    (['x', 'y', 'x'], True)
    """

    how: Literal["vb", "em"] = option("vb", "variational Bayes with priors, or plain EM")
    starts: int = option(5, "how many random starts; the best is kept", low=1)
    seed: int = option(0, "of the random starts", low=0)
    knows: float = option(0.5, "vb: answers a worker is taken to have known before any is seen", low=1e-6)
    guesses: float = option(0.5, "vb: answers a worker is taken to have guessed before any is seen", low=1e-6)
    habit: float = option(10.0, "vb: guesses of each label before any is seen", low=1e-6)
    smooth: float | None = option(None, "em: what is added to every count; none: .01 / number of labels", low=1e-9)
    prior: str = option("uniform", "how frequent labels are: uniform, learnt, or a share for each, such as .2,.8")
    max_iter: int = option(200, "most passes over the votes for each start", low=1)
    tol: float = option(1e-7, "stop when a pass gains less than this a vote", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        crowd = _Crowd(self, votes, gold)
        first = None if start is None else crowd.known_before(start)
        chance = np.random.default_rng(self.seed)
        prior = crowd.prior if start is None or start.prior is None else start.prior

        def attempt(_: int, watch: Watch) -> Climb[State]:
            known = crowd.some_known(chance) if first is None else first
            tol = self.tol * max(votes.n_answers, 1)
            return climb(crowd.sweep, (known, prior), max_iter=self.max_iter, tol=tol, watch=watch, space=crowd)

        top, kept = best_of(self.starts if first is None else 1, self.max_iter, attempt, watch)
        crowd.sweep(top.state)
        return crowd.told(top, kept)


class _Crowd:
    """The votes and what MACE knows of them while it climbs."""

    def __init__(self, method: Mace, votes: Votes, gold: SoftLabels | None) -> None:
        self.method, self.votes = method, votes
        self.shape = votes.n_workers, votes.n_labels
        cells = votes.n_workers * votes.n_labels
        self.blocks = Blocks(votes.start, cells=cells)
        cell = votes.worker * np.int64(votes.n_labels) + votes.label
        self.rows = frozen(votes.start), frozen(cell.astype(np.uint32)), votes.label, votes.weight
        self.total = np.bincount(cell, votes.weight, minlength=cells).reshape(self.shape).astype(np.float64)
        self.smooth = 0.01 / votes.n_labels if method.smooth is None else method.smooth
        self.fixed = fixed_prior(method.prior, votes)
        self.prior = np.full(votes.n_labels, 1 / votes.n_labels) if self.fixed is None else self.fixed
        self.held, known = held_tasks(votes, gold)
        self.posterior = first_guess(votes, None)
        if len(self.held):
            self.posterior[self.held] = known

    def some_known(self, chance: np.random.Generator) -> Floats:
        """A random share of about half of the votes of each worker and label."""
        share = 1 + 0.5 * chance.random((2, *self.shape))
        return self.total * share[0] / share.sum(0)

    def known_before(self, start: Fit) -> Floats | None:
        """How many votes an earlier fit would say were known; None where it has no confusion matrices."""
        if start.confusion is None:
            return None
        place = positions(start.workers, self.votes.workers)
        known = 0.5 * self.total
        for w in np.flatnonzero(place >= 0).tolist():
            matrix = start.confusion.matrices[place[w]]
            del matrix
        return known

    def sweep(self, state: State) -> tuple[State, float]:
        """One pass over the votes."""
        known, prior = state
        log_know, log_guess, value = self._parameters(known)
        gain = np.logaddexp(0, log_know - log_guess)
        value += float((self.total * log_guess).sum())
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)

        def work(first: int, last: int, right: Floats, labels: Floats) -> float:
            return mace.sweep(first, last, *self.rows, log_prior, gain.ravel(), self.posterior, labels, right)

        seen, (right, labels) = self.blocks.gather(work, gain.size, len(prior))
        if self.fixed is None and labels.sum() > 0:
            prior = labels / labels.sum()
        return (right.reshape(self.shape) * -np.expm1(-gain), prior), value + seen

    def _parameters(self, known: Floats) -> tuple[Floats, Floats, float]:
        """log theta (n_workers, 1), log of (1 - theta) xi (n_workers, n_labels), and what the priors say of them."""
        guessed = self.total - known
        coin = np.stack([known.sum(1), guessed.sum(1)], 1)[:, :, None]
        if self.method.how == "vb":
            habit = np.full((self.shape[1], 1), self.method.habit)
            log_coin, first = expected_logs(coin.ravel(), np.array([[self.method.knows], [self.method.guesses]]), len(coin))
            log_habit, second = expected_logs(guessed.ravel(), habit, len(coin))
            log_coin, log_habit = log_coin.reshape(-1, 2, 1), log_habit.reshape(*self.shape, 1)
            return log_coin[:, 0], log_coin[:, 1] + log_habit[:, :, 0], first + second
        log_coin = np.log(_shares(coin[:, :, 0] + self.smooth))
        log_habit = np.log(_shares(guessed + self.smooth))
        value = self.smooth * float(log_coin.sum() + log_habit.sum())
        return log_coin[:, :1], log_coin[:, 1:] + log_habit, value

    def told(self, top: Climb[State], kept: int) -> Fit:
        """The answer at the top."""
        votes, method = self.votes, self.method
        known, prior = top.state
        coin = np.stack([known.sum(1), (self.total - known).sum(1)], 1)
        vb = method.how == "vb"
        coin += [method.knows, method.guesses] if vb else self.smooth
        habit = _shares(self.total - known + (method.habit if vb else self.smooth))
        ability = coin[:, 0] / coin.sum(1)
        soft = SoftLabels.of(self.posterior, votes.tasks, votes.labels, support=votes.support, scale=votes.scale)
        confusion = None
        if habit.size * votes.n_labels <= DENSE_CELLS:
            matrices = np.repeat(((1 - ability)[:, None] * habit)[:, None, :], votes.n_labels, 1)
            matrices[:, np.arange(votes.n_labels), np.arange(votes.n_labels)] += ability[:, None]
            confusion = Confusion(matrices, votes.workers, votes.labels)
        return Fit(
            soft,
            votes.workers,
            method.word,
            prior=prior,
            confusion=confusion,
            ability=ability,
            ability_low=betaincinv(coin[:, 0], coin[:, 1], 0.025) if vb else None,
            ability_high=betaincinv(coin[:, 0], coin[:, 1], 0.975) if vb else None,
            trace=top.trace,
            converged=top.converged,
            found={"start kept": kept},
        )

    def flat(self, state: State) -> Floats:
        known, prior = state
        return np.concatenate([known.ravel(), [] if self.fixed is not None else np.log(np.maximum(prior, 1e-300))])

    def state(self, flat: Floats) -> State:
        known = np.clip(flat[: self.total.size].reshape(self.shape), 0, self.total)
        if self.fixed is not None:
            return known, self.fixed
        return known, _shares(np.exp(flat[self.total.size :] - flat[self.total.size :].max())[None])[0]


def _shares(counts: Floats) -> Floats:
    """Rows divided by their sums."""
    return counts / counts.sum(1, keepdims=True)
