"""MACE: who knows, and who only guesses."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import betaincinv

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.confusion_model import earlier_params
from plurivox.aggregate._shared.em_options import PRIOR_HELP, TOL_HELP, check_room, fixed_prior, log_prior, soft_labels
from plurivox.aggregate._shared.keyed_votes import Crowd
from plurivox.aggregate._shared.unlabelled_tasks import OpenTasks
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import DENSE_CELLS
from plurivox.core.types import Bools, Floats
from plurivox.core.votes import Votes
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.em import Climb, best_of, climb
from plurivox.engine.kernels import own_label
from plurivox.engine.kernels.confusion_tables import TINY
from plurivox.engine.kernels.simd import PAD, quads_of
from plurivox.engine.threads import Blocks

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
    (['x', 'y', 'x'], array([0.85, 0.85, 0.16]))
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
        check_room(votes, self.name(), votes.n_workers * votes.n_labels)
        model = _Model(self, votes, gold)
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


class _Model(OpenTasks):
    """The model on some votes."""

    def __init__(self, method: Mace, votes: Votes, gold: SoftLabels | None) -> None:
        super().__init__(votes, gold)
        self.method, self.shape = method, (votes.n_workers, votes.n_labels)
        self.fixed = fixed_prior(method.prior, votes.labels)
        smooth = 0.01 / votes.n_labels if method.smooth is None else method.smooth
        pseudo = (method.knows, method.guesses, method.habit) if method.how == "vb" else (smooth, smooth, smooth)
        self.knows, self.guesses, self.habit = pseudo
        rows = self.rows(self.is_open)
        key = votes.worker.astype(np.uint32) * np.uint32(votes.n_labels) + votes.label
        self.open_rows = self.start, key[rows], votes.label[rows].astype(np.int32), self.weight(rows)
        self.quads = quads_of(votes.n_labels)
        self.blocks = Blocks(self.start, cells=votes.n_workers * votes.n_labels, width=4)
        self.total = self._by_key(votes.weights, slice(None))
        truth = np.zeros((0, self.n_labels)) if self.gold is None else self.gold.prob
        self.known_true: Floats = truth.sum(0)  # (n_labels,) how many known tasks have each label
        self.known_right = self._right(self.is_known, truth)

    def _by_key(self, weight: Floats, rows: Bools | slice) -> Floats:
        """(n_workers, n_labels) the sums of weights of some rows by who said what."""
        key = self.votes.worker[rows] * np.int64(self.n_labels) + self.votes.label[rows]
        return np.bincount(key, weight, minlength=self.shape[0] * self.n_labels).reshape(self.shape).astype(np.float64)

    def _right(self, tasks: Bools, prob: Floats) -> Floats:
        """(n_workers, n_labels) votes on some tasks that are right, given (n, n_labels) what is true."""
        rows = self.rows(tasks)
        place = (np.cumsum(tasks) - 1)[self.votes.task[rows]]
        return self._by_key(self.votes.weights[rows] * prob[place, self.votes.label[rows]], rows)

    # ---- where to begin

    def some(self, chance: np.random.Generator) -> State:
        """About half of the votes of each worker and label are known."""
        share = 1 + NOISE * chance.random((2, *self.shape))
        return State(log_prior(np.ones(self.n_labels), self.fixed), self.total * share[0] / share.sum(0))

    def earlier(self, start: Fit) -> State:
        """The counts that would lead to an earlier fit's matrices; or that follow from what it believed."""
        crowd, n, log_labels = Crowd(self.votes), self.total.sum(1), log_prior(np.ones(self.n_labels), self.fixed)
        params = earlier_params(crowd, start)
        if params is None:
            right = self._right(self.is_open, self.first_guess(start)) + self.known_right
            return State(log_labels, right * self.n_labels / (self.n_labels + 1))  # half are known, guesses even
        said = np.exp(crowd.tensor(params.table))  # (n_workers, said, true)
        guess = (said.sum(2) - np.einsum("wkk->wk", said)) / max(self.n_labels - 1, 1)  # where another label is true
        n_known = (1 - guess.sum(1)) * (self.knows + self.guesses + n) - self.knows
        n_guessed = (n - np.clip(n_known, 0, n))[:, None] + self.habit * self.n_labels
        guessed = np.clip(_shares(guess + TINY) * n_guessed - self.habit, 0, self.total)
        return State(params.log_prior if self.fixed is None else log_labels, self.total - guessed)

    # ---- passes

    def sweep(self, state: State) -> tuple[State, float]:
        """One pass: better counts, and the objective of those given."""
        log_know, log_guess, value = self.parameters(state.known)
        gain = np.logaddexp(0, log_know - log_guess)
        width = 4 * len(self.quads)
        begin = np.full(-(-self.n_labels // width) * width, -np.inf)
        begin[: self.n_labels] = state.log_prior
        flat = gain.ravel()

        def work(first: int, last: int, n_true: Floats, right: Floats) -> float:
            return own_label.mace_sweep(first, last, *self.open_rows, begin, flat, self.quads, n_true, right)

        seen, (n_true, hits) = self.blocks.gather(work, self.n_labels + PAD, gain.size)
        right, n_true = hits.reshape(self.shape) + self.known_right, n_true[: self.n_labels]
        value += seen + float((self.total * log_guess).sum())
        value += float((self.known_right * gain).sum()) + float(self.known_true @ state.log_prior)
        return State(log_prior(n_true + self.known_true, self.fixed), right * -np.expm1(-gain)), value

    def parameters(self, known: Floats) -> tuple[Floats, Floats, float]:
        """log theta (n_workers, 1), log of (1 - theta) xi (n_workers, n_labels), and what the priors say of them."""
        guessed = self.total - known
        coin = np.stack([known.sum(1), guessed.sum(1)], 1)
        pseudo = np.array([self.knows, self.guesses]), np.full(self.n_labels, self.habit)
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
        posterior = np.empty((len(self.open), self.n_labels))

        def work(first: int, last: int, agree: Floats) -> float:
            return own_label.mace_believe(first, last, *self.open_rows, state.log_prior, gain, posterior, agree)

        agree = self.blocks.gather(work, self.shape[0])[1][0] + self.known_right.sum(1)
        return self.whole(posterior, np.exp(state.log_prior)), self.shared_with(agree)

    # ---- the answer

    def answer(self, end: Climb[State], kept: int) -> Fit:
        """What a climb ended with, as a fit."""
        votes, known, vb = self.votes, end.state.known, self.method.how == "vb"
        knows, guesses = known.sum(1) + self.knows, (self.total - known).sum(1) + self.guesses
        ability = knows / (knows + guesses)
        posterior, left_out = self.believe(end.state)
        return Fit(
            soft_labels(votes, posterior),
            votes.workers,
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
        if habit.size * self.n_labels > 4 * DENSE_CELLS:
            return None
        matrices = np.repeat(((1 - ability)[:, None] * habit)[:, None], self.n_labels, 1)  # (n_workers, true, said)
        np.einsum("wkk->wk", matrices)[:] += ability[:, None]
        return Confusion(matrices, self.votes.workers, self.votes.labels)

    # ---- the state as one row of numbers, for long steps

    def flat(self, state: State) -> Floats:
        return np.concatenate([state.log_prior, state.known.ravel()])

    def state(self, flat: Floats) -> State:
        logs, known = np.split(flat, [self.n_labels])
        return State(logs - np.logaddexp.reduce(logs), np.clip(known.reshape(self.shape), 0, self.total))


def _shares(counts: Floats) -> Floats:
    """Rows divided by their sums."""
    return counts / counts.sum(1, keepdims=True)
