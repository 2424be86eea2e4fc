"""One-coin Dawid-Skene: one accuracy a worker."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import betaincinv

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.em_options import PRIOR_HELP, TOL_HELP, fixed_prior, log_prior, soft_labels
from plurivox.aggregate._shared.unlabelled_tasks import OpenTasks
from plurivox.core.encoding import positions
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.em import Climb, climb
from plurivox.engine.kernels import own_label
from plurivox.engine.threads import Blocks

TINY = 1e-300
FARTHEST = 40.0  # logits and logs beyond it are all the same to a long step


@dataclass(frozen=True)
class OneCoin(Aggregator):
    """One accuracy a worker: right with chance a, else any wrong label alike.

    p(task has k) is proportional to prior_k * product over its votes of (a_worker if it said k, else
    (1 - a_worker) / (K - 1)) ^ weight; a is the expected share of a worker's votes that are right, `smooth` right and
    wrong ones added. Found by EM from vote shares. Ability is a, with the 95% interval of its Beta posterior.

    Dawid & Skene's model with its matrices tied; analysed by Ghosh, Kale & McAfee (2011),
    https://doi.org/10.1145/1993574.1993599

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> OneCoin().fit(votes).ability.round(2)
    array([1.  , 1.  , 0.33])
    """

    smooth: float = option(0.01, "right and wrong votes added to everybody's", low=0)
    prior: str = option("learnt", PRIOR_HELP)
    max_iter: int = option(100, "most passes over the votes", low=1)
    tol: float = option(1e-6, TOL_HELP, low=0)
    accelerate: bool = option(True, "try longer steps, and take back those that do not pay")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        coins = _Coins(votes, gold, fixed_prior(self.prior, votes.labels), self.smooth)
        end = climb(
            coins.sweep,
            coins.begin(start),
            max_iter=self.max_iter,
            tol=self.tol * votes.n_answers,
            watch=watch,
            space=coins if self.accelerate else None,
        )
        return coins.answer(self.word, end)


class _Params(NamedTuple):
    log_prior: Floats  # (n_labels,)
    ability: Floats  # (n_workers,) the chance of being right


class _Coins(OpenTasks):
    """The model on some votes."""

    def __init__(self, votes: Votes, gold: SoftLabels | None, fixed: Floats | None, smooth: float) -> None:
        super().__init__(votes, gold)
        self.fixed, self.smooth = fixed, smooth
        rows = self.rows(self.is_open)
        self.worker, self.said = votes.worker[rows], votes.label[rows].astype(np.int32)
        self.open_weight = self.weight(rows)
        self.blocks = Blocks(self.start, cells=self.n_workers)
        truth = np.zeros((0, self.n_labels)) if self.gold is None else self.gold.prob
        self.known_true: Floats = truth.sum(0)  # (n_labels,) how many known tasks have each label
        self.known_right = self._right(self.is_known, truth)  # (n_workers,) votes on them that are right,
        self.known_wrong = self._right(self.is_known, 1 - truth)  # and wrong

    def _right(self, tasks: np.ndarray, prob: Floats) -> Floats:
        """(n_workers,) how much of each one's votes on some tasks is right, given (n, n_labels) what is true."""
        rows, votes = self.rows(tasks), self.votes
        place = (np.cumsum(tasks) - 1)[votes.task[rows]]
        right = votes.weights[rows] * prob[place, votes.label[rows]]
        return np.bincount(votes.worker[rows], right, minlength=self.n_workers).astype(np.float64)

    def begin(self, start: Fit | None) -> _Params:
        """Parameters of vote shares, or of what an earlier fit believed and found its workers able to do."""
        guess = self.first_guess(start)
        params = self._maximise(guess.sum(0), self._right(self.is_open, guess))
        if start is not None and start.ability is not None and start.made_by.startswith(OneCoin.name()):
            place = positions(start.workers, self.votes.workers)
            ability = np.where(place >= 0, start.ability[place], params.ability)
            params = params._replace(ability=0.01 / max(self.n_labels, 2) + 0.99 * ability)
        return params

    def _maximise(self, n_true: Floats, right: Floats) -> _Params:
        right, load = right + self.known_right + self.smooth, self.votes.workload + 2 * self.smooth
        ability = np.divide(right, load, out=np.full(self.n_workers, 1 / self.n_labels), where=load > 0)
        return _Params(log_prior(n_true + self.known_true, self.fixed), ability)

    def _logs(self, ability: Floats) -> tuple[Floats, Floats]:
        """(hit, miss): the log chance of the true label, and of each other one."""
        hit, miss = np.maximum(ability, TINY), np.maximum((1 - ability) / max(self.n_labels - 1, 1), TINY)
        return np.log(hit), np.log(miss)

    def sweep(self, params: _Params) -> tuple[_Params, float]:
        hit, miss = self._logs(params.ability)

        def work(first: int, last: int, n_true: Floats, right: Floats) -> float:
            votes = self.start, self.worker, self.said, self.open_weight
            return own_label.one_coin_sweep(first, last, *votes, params.log_prior, hit, miss, n_true, right)

        value, (n_true, self.right) = self.blocks.gather(work, self.n_labels, self.n_workers)
        value += float(self.known_true @ params.log_prior + self.known_right @ hit + self.known_wrong @ miss)
        value += self.smooth * float(hit.sum() + miss.sum())
        return self._maximise(n_true, self.right), value

    # ---- long steps go along log prior and logits

    def flat(self, state: _Params) -> Floats:
        logit = np.log(np.maximum(state.ability, TINY)) - np.log(np.maximum(1 - state.ability, TINY))
        return np.clip(np.concatenate([state.log_prior, logit]), -FARTHEST, FARTHEST)

    def state(self, flat: Floats) -> _Params:
        prior, logit = flat[: self.n_labels], flat[self.n_labels :]
        return _Params(prior - np.logaddexp.reduce(prior), 1 / (1 + np.exp(-np.clip(logit, -700, 700))))

    def answer(self, word: str, end: Climb[_Params]) -> Fit:
        hit, miss = self._logs(end.state.ability)
        posterior = np.empty(len(self.open) * self.n_labels)

        def work(first: int, last: int, agree: Floats) -> float:
            votes = self.start, self.worker, self.said, self.open_weight
            return own_label.one_coin_believe(first, last, *votes, end.state.log_prior, hit, miss, posterior, agree)

        _, (agree,) = self.blocks.gather(work, self.n_workers)
        prior, votes = np.exp(end.state.log_prior), self.votes
        right = self.right + self.known_right + self.smooth + 0.5
        wrong = votes.workload + 2 * self.smooth + 1 - right
        ability = end.state.ability
        return Fit(
            soft_labels(votes, self.whole(posterior.reshape(-1, self.n_labels), prior)),
            votes.workers,
            word,
            prior=prior,
            ability=ability,
            ability_low=np.minimum(betaincinv(right, wrong, 0.025), ability),
            ability_high=np.maximum(betaincinv(right, wrong, 0.975), ability),
            trace=end.trace,
            converged=end.converged,
            found={"passes": end.passes, "left_out": self.shared_with(agree + self.known_right)},
        )
